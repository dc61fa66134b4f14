/*
 * Feeds multipart bodies to their reader and to the params made of them. The first line of the
 * input is the Content-Type, the rest the body. Parts lie in the body, one behind the other and
 * without a boundary in them; names are clean UTF-8; values are those of a form.
 */
#include "base/text.h"
#include "server/http/multipart.h"
#include "server/http/params.h"

#include <cjson/cJSON.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void check_name(const char *name)
{
    assert(strlen(name) < MT_MAX_PART_NAME_BYTES);
    assert(mt_utf8_valid_prefix(name, strlen(name)) == strlen(name));
    for (; *name; name++)
        assert((unsigned char)*name >= 0x20 && *name != 0x7F);
}

/* How many parts there are, or -1 where the body is refused. */
static int read_all(const char *type, const char *body, size_t length)
{
    struct mt_multipart reader;
    struct mt_part part;
    struct mt_error err;
    bool found = true;
    const char *at = body;
    int n = 0;
    if (mt_multipart_open(&reader, type, body, length, &err) != MT_OK)
        return -1;
    for (; found; n++) {
        if (mt_multipart_next(&reader, &part, &found, &err) != MT_OK)
            return -1;
        if (!found)
            break;
        assert(part.bytes >= at && part.bytes + part.length <= body + length);
        at = part.bytes + part.length;
        check_name(part.name);
        check_name(part.file_name);
        check_name(part.content_type);
        assert(part.is_file || !part.file_name[0]);
        assert(!memmem(part.bytes, part.length, reader.delimiter, reader.delimiter_length));
    }
    return n;
}

static void check_params(const char *type, const char *body, size_t length, int n_parts)
{
    struct mt_params params = {0};
    struct mt_error err;
    enum mt_status status = mt_params_parse_multipart(&params, type, body, length, &err);
    assert(n_parts >= 0 || status);
    if (status) {
        assert(!params.object && !params.files);
        return;
    }
    assert(cJSON_GetArraySize(params.object) + (int)params.n_files <= n_parts);
    for (const struct cJSON *item = params.object->child; item; item = item->next) {
        size_t n = strlen(item->valuestring);
        assert(mt_utf8_valid_prefix(item->valuestring, n) == n && !strchr(item->valuestring, '\r'));
    }
    for (size_t i = 0; i < params.n_files; i++)
        assert(params.files[i].bytes >= body &&
               params.files[i].bytes + params.files[i].length <= body + length);
    mt_params_finish(&params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line_end = size ? memchr(data, '\n', size) : NULL;
    size_t n_type = line_end ? (size_t)(line_end - data) : size;
    size_t length = line_end ? size - n_type - 1 : 0;
    char *type = malloc(n_type + 1), *body = malloc(length + !length);
    if (n_type)
        memcpy(type, data, n_type);
    type[n_type] = '\0';
    if (length)
        memcpy(body, line_end + 1, length);
    check_params(type, body, length, read_all(type, body, length));
    free(type);
    free(body);
    return 0;
}
