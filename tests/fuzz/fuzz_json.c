/*
 * Feeds bytes to the JSON scanner. What it accepts cJSON must parse, the reader must see the same
 * in it as cJSON, and the writer must render it so that the scanner accepts it again.
 */
#include "base/json.h"
#include "base/json_reader.h"

#include <cjson/cJSON.h>
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a document holds, as far as both ways of reading it can tell. */
struct census {
    size_t n_objects, n_arrays, n_keys, n_strings, n_others;
    size_t string_bytes;
    uint64_t string_hash;
};

static void count_text(struct census *census, const char *bytes, size_t length)
{
    census->string_bytes += length;
    for (size_t i = 0; i < length; i++)
        census->string_hash = (census->string_hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
}

static void count_tree(struct census *census, const cJSON *item)
{
    if (cJSON_IsObject(item)) {
        census->n_objects++;
    } else if (cJSON_IsArray(item)) {
        census->n_arrays++;
    } else if (cJSON_IsString(item)) {
        census->n_strings++;
        count_text(census, item->valuestring, strlen(item->valuestring));
    } else {
        census->n_others++;
    }
    for (const cJSON *child = item->child; child; child = child->next) {
        if (cJSON_IsObject(item)) {
            census->n_keys++;
            count_text(census, child->string, strlen(child->string));
        }
        count_tree(census, child);
    }
}

static void count_span(struct census *census, struct mt_json_span span)
{
    char *text = malloc(span.length + 1);
    assert(text);
    size_t length = mt_json_span_unescape(span, text);
    assert(length <= span.length);
    text[length] = '\0';
    assert(mt_json_span_equals(span, text));
    count_text(census, text, length);
    free(text);
}

static void count_read(struct census *census, struct mt_json_reader *reader)
{
    uint64_t integer;
    struct mt_json_reader same = *reader;
    struct mt_json_span excerpt = mt_json_reader_excerpt(reader);
    assert(excerpt.length > 0);
    mt_json_reader_skip(&same);
    char first = mt_json_reader_peek(reader);
    if (first == '"') {
        census->n_strings++;
        count_span(census, mt_json_reader_string(reader));
    } else if (first == '{' || first == '[') {
        census->n_objects += first == '{';
        census->n_arrays += first == '[';
        mt_json_reader_enter(reader);
        while (mt_json_reader_next(reader)) {
            if (first == '{') {
                census->n_keys++;
                count_span(census, mt_json_reader_string(reader));
            }
            count_read(census, reader);
        }
    } else {
        census->n_others++;
        if (!mt_json_reader_u64(reader, &integer))
            mt_json_reader_skip(reader);
    }
    assert(reader->at == same.at); /* skipping and walking end at the same place */
}

static void render(struct mt_json_writer *writer, const cJSON *item);

static void render_children(struct mt_json_writer *writer, const cJSON *item)
{
    for (const cJSON *child = item->child; child; child = child->next) {
        if (cJSON_IsObject(item))
            mt_json_key(writer, child->string);
        render(writer, child);
    }
}

static void render(struct mt_json_writer *writer, const cJSON *item)
{
    if (cJSON_IsObject(item)) {
        mt_json_begin_object(writer);
        render_children(writer, item);
        mt_json_end_object(writer);
    } else if (cJSON_IsArray(item)) {
        mt_json_begin_array(writer);
        render_children(writer, item);
        mt_json_end_array(writer);
    } else if (cJSON_IsString(item)) {
        mt_json_string_z(writer, item->valuestring);
    } else if (cJSON_IsBool(item)) {
        mt_json_bool(writer, cJSON_IsTrue(item));
    } else if (cJSON_IsNumber(item)) {
        assert(isfinite(item->valuedouble));
        /* 9.99...e307 rounds to 1e308, which the scanner refuses. */
        mt_json_number(writer, fabs(item->valuedouble) < 9e307 ? item->valuedouble : 0, 15);
    } else {
        mt_json_null(writer);
    }
}

static void read_members(const cJSON *object)
{
    for (const cJSON *child = object->child; child && cJSON_IsObject(object); child = child->next) {
        const char *string;
        bool boolean, found;
        int64_t integer = 0;
        double number = 0;
        struct mt_error err;
        if (!mt_json_get_integer(object, child->string, -5, INT64_MAX, &integer, &found, &err))
            assert(!found || integer >= -5);
        if (!mt_json_get_number(object, child->string, 0, 1, &number, &found, &err))
            assert(!found || (number >= 0 && number <= 1));
        if (!mt_json_get_string(object, child->string, &string, &found, &err) && found)
            assert(string == child->valuestring);
        if (!mt_json_get_bool(object, child->string, &boolean, &found, &err) && found)
            assert(boolean == !!cJSON_IsTrue(child));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct mt_error err = {0};
    enum mt_status status = mt_json_check(bytes, size, NULL, "fuzz", &err);
    if (status) {
        assert(status == MT_FORMAT || status == MT_LIMIT);
        size_t length = strlen(err.message);
        assert(length > 0 && mt_utf8_valid_prefix(err.message, length) == length);
        return 0;
    }
    cJSON *tree;
    status = mt_json_parse(bytes, size, NULL, "fuzz", &tree, &err);
    assert(!status);
    read_members(tree);

    struct census by_tree = {0}, by_reader = {0};
    struct mt_json_reader reader;
    count_tree(&by_tree, tree);
    mt_json_reader_init(&reader, bytes, size);
    count_read(&by_reader, &reader);
    assert(mt_json_reader_peek(&reader) == '\0');
    assert(memcmp(&by_tree, &by_reader, sizeof by_tree) == 0);

    struct mt_text text = {0};
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &text);
    render(&writer, tree);
    assert(!text.status);
    status = mt_json_check(text.bytes, text.length, NULL, "rendered", &err);
    assert(!status);
    mt_text_finish(&text);
    cJSON_Delete(tree);
    return 0;
}
