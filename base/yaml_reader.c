#include "base/yaml_reader.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
    yaml_parser_t parser;
    const char *what;
    struct mt_error *err;
    mt_yaml_emit *emit;
    void *context;
    char *key;
    size_t key_length;
};

static enum mt_status next(struct reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event))
        return MT_OK;
    if (r->parser.error == YAML_MEMORY_ERROR)
        return mt_fail_memory(r->err, 0, r->what);
    return mt_fail(r->err, MT_FORMAT, "%s: line %zu: %s", r->what, r->parser.problem_mark.line + 1,
                   r->parser.problem ? r->parser.problem : "not YAML");
}

static enum mt_status fail(const struct reader *r, const yaml_event_t *event, const char *why)
{
    return mt_fail(r->err, MT_FORMAT, "%s: line %zu: %s", r->what, event->start_mark.line + 1, why);
}

/* Refuses anchors, aliases and tags, even tags like "!!int" and "!", which only say what a reader
 * assumes anyway. */
static enum mt_status refuse_references(const struct reader *r, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (!anchor && !tag && event->type != YAML_ALIAS_EVENT)
        return MT_OK;
    return mt_fail(r->err, MT_UNSUPPORTED, "%s: line %zu: %s, which is not read", r->what,
                   event->start_mark.line + 1,
                   tag      ? "a tag"
                   : anchor ? "an anchor"
                            : "an alias");
}

static int depth_change(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return 1;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return -1;
    default:
        return 0;
    }
}

static enum mt_status take_key(struct reader *r, const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT)
        return fail(r, event, "a key is not plain");
    r->key_length = event->data.scalar.length;
    if (memchr(event->data.scalar.value, 0, r->key_length))
        return fail(r, event, "a key holds NUL");
    free(r->key);
    r->key = strdup((const char *)event->data.scalar.value);
    return r->key ? MT_OK : mt_fail_memory(r->err, r->key_length, r->what);
}

static enum mt_status emit_value(struct reader *r, const yaml_event_t *event, size_t index)
{
    const struct mt_yaml_value value = {
        .key = r->key,
        .key_length = r->key_length,
        .value = (const char *)event->data.scalar.value,
        .length = event->data.scalar.length,
        .index = index,
    };
    if (memchr(value.value, 0, value.length))
        return fail(r, event, "a value holds NUL");
    return r->emit(r->context, &value, r->err);
}

/* The position in the mapping: depth 1 has keys and plain values, depth 2 the values of a list. */
struct place {
    size_t depth, index;
    bool has_key, in_list, is_over;
};

static enum mt_status step(struct reader *r, struct place *p, const yaml_event_t *event)
{
    int change = depth_change(event);
    bool is_scalar = event->type == YAML_SCALAR_EVENT;
    enum mt_status status = MT_OK;
    if (p->depth == 1 && change < 0) {
        p->is_over = true;
    } else if (p->depth == 1 && !p->has_key) {
        status = take_key(r, event);
        p->has_key = true;
    } else if (p->depth == 1) {
        if (is_scalar)
            status = emit_value(r, event, MT_YAML_SCALAR);
        p->in_list = event->type == YAML_SEQUENCE_START_EVENT;
        p->index = 0;
        p->has_key = change > 0;
    } else if (p->depth == 2 && p->in_list && change >= 0) {
        if (is_scalar)
            status = emit_value(r, event, p->index);
        p->index++;
    }
    p->depth = change < 0 ? p->depth - 1 : p->depth + (size_t)change;
    if (p->depth == 1 && change < 0)
        p->has_key = false;
    if (!status && p->depth > MT_YAML_MAX_DEPTH)
        return mt_fail(r->err, MT_LIMIT, "%s: line %zu: nested more than %d deep", r->what,
                       event->start_mark.line + 1, MT_YAML_MAX_DEPTH);
    return status;
}

static enum mt_status read_mapping(struct reader *r)
{
    struct place place = {.depth = 1};
    while (!place.is_over) {
        yaml_event_t event;
        enum mt_status status = next(r, &event);
        if (status)
            return status;
        status = refuse_references(r, &event);
        if (!status)
            status = step(r, &place, &event);
        yaml_event_delete(&event);
        if (status)
            return status;
    }
    return MT_OK;
}

/* Checks that the next event has this type. */
static enum mt_status expect(struct reader *r, yaml_event_type_t type, const char *why)
{
    yaml_event_t event;
    enum mt_status status = next(r, &event);
    if (status)
        return status;
    status = refuse_references(r, &event);
    if (!status && event.type != type)
        status = fail(r, &event, why);
    yaml_event_delete(&event);
    return status;
}

enum mt_status mt_yaml_read(const char *bytes, size_t length, const char *what, mt_yaml_emit *emit,
                            void *context, struct mt_error *err)
{
    struct reader r = {.what = what, .err = err, .emit = emit, .context = context};
    if (!yaml_parser_initialize(&r.parser))
        return mt_fail_memory(err, sizeof r.parser, what);
    /* bytes is NULL where an empty file was mapped, and libyaml asserts that it is not. */
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)(bytes ? bytes : ""), length);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    enum mt_status status = expect(&r, YAML_STREAM_START_EVENT, "not YAML");
    if (!status)
        status = expect(&r, YAML_DOCUMENT_START_EVENT, "empty, expected a mapping");
    if (!status)
        status = expect(&r, YAML_MAPPING_START_EVENT, "expected a mapping");
    if (!status)
        status = read_mapping(&r);
    if (!status)
        status = expect(&r, YAML_DOCUMENT_END_EVENT, "expected one mapping alone");
    if (!status)
        status = expect(&r, YAML_STREAM_END_EVENT, "expected one document alone");
    free(r.key);
    yaml_parser_delete(&r.parser);
    return status;
}
