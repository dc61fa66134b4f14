/*
 * Feeds bodies to the readers of forms and JSON. Every value that comes out is well-formed UTF-8,
 * and the typed getters give values of their range or refuse.
 */
#include "server/http/params.h"

#include <cjson/cJSON.h>
#include <assert.h>
#include <math.h>
#include <string.h>

static void check_texts(const struct cJSON *item)
{
    for (; item; item = item->next) {
        if (item->string)
            assert(mt_utf8_valid_prefix(item->string, strlen(item->string)) ==
                   strlen(item->string));
        if (item->valuestring)
            assert(mt_utf8_valid_prefix(item->valuestring, strlen(item->valuestring)) ==
                   strlen(item->valuestring));
        check_texts(item->child);
    }
}

static void check_field(const struct mt_params *params, const char *name)
{
    struct mt_error err;
    const char *text = NULL;
    bool found = false, flag = false;
    int64_t integer = 0;
    double number = 0;
    if (mt_params_string(params, name, &text, &found, &err) == MT_OK)
        assert(found == (text != NULL));
    if (mt_params_integer(params, name, -5, 5, &integer, NULL, &err) == MT_OK)
        assert(integer >= -5 && integer <= 5);
    if (mt_params_number(params, name, -0.5, 1e6, &number, NULL, &err) == MT_OK)
        assert(isfinite(number) && number >= -0.5 && number <= 1e6);
    enum mt_status status = mt_params_bool(params, name, &flag, NULL, &err);
    assert(status == MT_OK || status == MT_INVALID);
}

static void check(struct mt_params *params, enum mt_status status)
{
    if (status) {
        assert(!params->object);
        return;
    }
    assert(cJSON_IsObject(params->object));
    check_texts(params->object);
    size_t n = 0;
    for (const struct cJSON *item = params->object->child; item && n < 4; item = item->next, n++)
        check_field(params, item->string);
    check_field(params, "nowhere");
    mt_params_finish(params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_params params = {0};
    struct mt_error err;
    check(&params, mt_params_parse_form(&params, (const char *)data, size, true, &err));
    check(&params, mt_params_parse_form(&params, (const char *)data, size, false, &err));
    check(&params, mt_params_parse_json(&params, (const char *)data, size, &err));
    return 0;
}
