#include "server/api/memories_api.h"

#include "base/json.h"
#include "base/size.h"
#include "base/vector.h"
#include "config/settings.h"
#include "server/api/deepl_api.h"
#include "server/api/files_api.h"
#include "server/data/database.h"
#include "server/data/translation_memory.h"
#include "server/documents/tmx.h"
#include "server/http/fields.h"
#include "server/service/keys.h"
#include "server/text/codes/numbered.h"
#include "server/text/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "/v3/translation_memories"
/* Name of the memory that stores suggestions. */
#define SUGGESTIONS "suggestions"

enum part { LIST, MEMORY, TMX, NO_PART };

struct question {
    enum part part;
    char id[MT_MEMORY_ID_BYTES];
    char owner[MT_KEY_OWNER_BYTES];
    struct mt_fields fields;
    bool has_file;
    size_t n_left; /* units of the request's file that could not be stored */
};

/* ---- writing memories ---- */

struct answer {
    const struct question *question;
    struct mt_json_writer writer;
    size_t begin, end;             /* range of the page among all memories */
    size_t n;                      /* memories whose rows have come */
    char last[MT_MEMORY_ID_BYTES]; /* id of the last memory whose rows have come */
    bool is_open;                  /* the array of its languages has not been ended */
    size_t n_units;
    int64_t created_ms;
};

static void close_memory(struct answer *answer)
{
    const struct question *question = answer->question;
    struct mt_json_writer *writer = &answer->writer;
    if (!answer->is_open)
        return;
    mt_json_end_array(writer);
    mt_json_member_count(writer, "segment_count", answer->n_units);
    mt_json_key(writer, "creation_time");
    mt_json_time(writer, answer->created_ms);
    if (question->has_file)
        mt_json_member_count(writer, "left", question->n_left);
    mt_json_end_object(writer);
    answer->is_open = false;
}

static void open_memory(struct answer *answer, const struct mt_memory_row *row)
{
    struct mt_json_writer *writer = &answer->writer;
    mt_json_begin_object(writer);
    mt_json_member(writer, "translation_memory_id", row->id);
    mt_json_member(writer, "name", row->name);
    mt_json_member(writer, "source_language", row->source);
    mt_json_member_array(writer, "target_languages");
    answer->is_open = true;
    answer->created_ms = row->created_ms;
    answer->n_units = 0;
}

/* The rows of one memory come one after the other. */
static enum mt_status write_row(void *context, const struct mt_memory_row *row,
                                struct mt_error *err)
{
    struct answer *answer = context;
    if (strcmp(answer->last, row->id) != 0) {
        close_memory(answer);
        snprintf(answer->last, sizeof answer->last, "%s", row->id);
        size_t index = answer->n++;
        if (index >= answer->begin && index < answer->end)
            open_memory(answer, row);
    }
    if (answer->is_open && row->target)
        mt_json_string_z(&answer->writer, row->target);
    answer->n_units += row->n_units;
    return MT_OK;
}

/* ---- units of a file ---- */

/* The strings of all units are in bytes, one behind the other, each with its NUL. */
struct units {
    struct mt_text bytes;
    struct unit {
        size_t source, target, context, origin;
        int64_t changed_ms;
        char target_lang[MT_LANGUAGE_BYTES];
    } * items;
    size_t n, capacity, n_left;
    char source_lang[MT_LANGUAGE_BYTES];
};

static size_t add_string(struct units *units, const char *string, size_t most)
{
    size_t at = units->bytes.length, length = mt_size_min(strlen(string), most);
    mt_text_append(&units->bytes, string, mt_utf8_valid_prefix(string, length));
    mt_text_append(&units->bytes, "", 1);
    return at;
}

/* Takes a unit, or counts it if it cannot be stored. */
static enum mt_status take_unit(void *context, const struct mt_tmx_unit *unit, struct mt_error *err)
{
    struct units *units = context;
    if (MT_ROOM(&units->items, &units->capacity, units->n + 1, "units", err))
        return MT_MEMORY;
    struct unit *item = &units->items[units->n];
    bool is_good = mt_language_without_region(unit->target_lang, item->target_lang) &&
                   strcmp(item->target_lang, units->source_lang) != 0 &&
                   strlen(unit->source) <= MT_MAX_UNIT_BYTES &&
                   strlen(unit->target) <= MT_MAX_UNIT_BYTES;
    if (!is_good) {
        units->n_left++;
        return MT_OK;
    }
    bool has_context = strlen(unit->context) <= MT_MAX_UNIT_BYTES;
    item->source = add_string(units, unit->source, MT_MAX_UNIT_BYTES);
    item->target = add_string(units, unit->target, MT_MAX_UNIT_BYTES);
    item->context = add_string(units, has_context ? unit->context : "", MT_MAX_UNIT_BYTES);
    item->origin = add_string(units, unit->origin, MT_MAX_ORIGIN_BYTES);
    item->changed_ms = unit->changed_ms;
    units->n++;
    return mt_text_check(&units->bytes, "units", err);
}

/* Stores the units in the memory of the request, or in a new one, whose id becomes question->id. */
static enum mt_status put_units(struct mt_request *request, struct question *question,
                                const struct units *units, bool is_new, struct mt_error *err)
{
    struct mt_memories *memories = request->service->memories;
    struct mt_memory_unit *all = calloc(units->n + 1, sizeof *all);
    const char *bytes = units->bytes.bytes;
    if (!all)
        return mt_fail_memory(err, units->n * sizeof *all, "units");
    for (size_t i = 0; i < units->n; i++) {
        const struct unit *item = &units->items[i];
        all[i] = (struct mt_memory_unit){.source = bytes + item->source,
                                         .target = bytes + item->target,
                                         .target_lang = item->target_lang,
                                         .context = bytes + item->context,
                                         .origin = bytes + item->origin,
                                         .changed_ms = item->changed_ms};
    }
    enum mt_status status =
        is_new ? mt_memories_add(memories, question->owner, question->fields.name,
                                 units->source_lang, all, units->n, question->id, err)
               : mt_memories_put(memories, question->owner, question->id, all, units->n, err);
    free(all);
    question->n_left = units->n_left;
    return status;
}

static void finish_units(struct units *units)
{
    mt_text_finish(&units->bytes);
    free(units->items);
}

/* ---- the routes ---- */

/* id NULL: describes a page of all memories. */
static enum mt_status describe(struct mt_request *request, const struct question *question,
                               const char *id, struct mt_error *err)
{
    const struct mt_fields *fields = &question->fields;
    struct answer answer = {.question = question, .end = 1};
    mt_json_writer_init(&answer.writer, &request->reply.body);
    if (!id) {
        answer.begin = (size_t)fields->page * (size_t)fields->page_size;
        answer.end = answer.begin + (size_t)fields->page_size;
        mt_json_begin_object(&answer.writer);
        mt_json_member_array(&answer.writer, "translation_memories");
    }
    enum mt_status status =
        mt_memories_visit(request->service->memories, question->owner, id, write_row, &answer, err);
    if (status)
        return status;
    close_memory(&answer);
    if (!id) {
        mt_json_end_array(&answer.writer);
        mt_json_member_count(&answer.writer, "total_count", answer.n);
        mt_json_end_object(&answer.writer);
    }
    return mt_text_check(&request->reply.body, "the reply", err);
}

static enum mt_status list(struct mt_request *request, struct question *question,
                           struct mt_error *err)
{
    enum mt_status status = mt_fields_read(&request->params, MT_FIELDS_OF_MEMORIES,
                                           request->service->settings, &question->fields, err);
    return status ? status : describe(request, question, NULL, err);
}

static enum mt_status get(struct mt_request *request, struct question *question,
                          struct mt_error *err)
{
    return describe(request, question, question->id, err);
}

static enum mt_status read_file(const struct mt_request *request, struct units *units,
                                struct mt_error *err)
{
    const struct mt_params_file *file = NULL;
    size_t n_left = 0;
    enum mt_status status = mt_files_read_file(request, &file, err);
    if (!status)
        status = mt_tmx_read(file->bytes, file->length, units->source_lang, take_unit, units,
                             &n_left, err);
    units->n_left += n_left;
    if (!status && units->n == 0)
        status =
            mt_fail(err, MT_INVALID, "the file has no translation of a text in \"%s\"; units: %zu",
                    units->source_lang, units->n_left);
    return status;
}

static enum mt_status create(struct mt_request *request, struct question *question,
                             struct mt_error *err)
{
    const struct mt_fields *fields = &question->fields;
    struct units units = {.n = 0};
    enum mt_status status = mt_fields_read(&request->params, MT_FIELDS_OF_MEMORY,
                                           request->service->settings, &question->fields, err);
    if (!status && fields->name[strspn(fields->name, " ")] == '\0')
        status = mt_fail(err, MT_INVALID, "Parameter 'name' not specified.");
    if (!status && strlen(fields->name) > MT_MAX_MEMORY_NAME_BYTES)
        status = mt_fail(err, MT_INVALID, "name is %zu bytes, at most %d are allowed",
                         strlen(fields->name), MT_MAX_MEMORY_NAME_BYTES);
    if (!status && !mt_language_without_region(fields->source_lang, units.source_lang))
        status = mt_deepl_refuse_value("source_lang", err);
    question->has_file = mt_params_file(&request->params, "file") != NULL;
    if (!status && question->has_file)
        status = read_file(request, &units, err);
    if (!status)
        status = put_units(request, question, &units, true, err);
    finish_units(&units);
    request->reply.code = 201;
    return status ? status : get(request, question, err);
}

static enum mt_status take_language(void *context, const struct mt_memory_row *row,
                                    struct mt_error *err)
{
    snprintf(context, MT_LANGUAGE_BYTES, "%s", row->source);
    return MT_OK;
}

static enum mt_status add_file(struct mt_request *request, struct question *question,
                               struct mt_error *err)
{
    struct units units = {.n = 0};
    enum mt_status status = mt_memories_visit(request->service->memories, question->owner,
                                              question->id, take_language, units.source_lang, err);
    if (!status)
        status = read_file(request, &units, err);
    if (!status)
        status = put_units(request, question, &units, false, err);
    question->has_file = true;
    finish_units(&units);
    return status ? status : get(request, question, err);
}

struct export
{
    struct mt_text *out;
    const char *source_lang;
    size_t limit;
};

static enum mt_status write_unit(void *context, const struct mt_memory_unit *unit,
                                 struct mt_error *err)
{
    const struct export *export = context;
    const struct mt_tmx_unit row = {.source = unit->source,
                                    .target = unit->target,
                                    .source_lang = export->source_lang,
                                    .target_lang = unit->target_lang,
                                    .context = unit->context,
                                    .origin = unit->origin,
                                    .changed_ms = unit->changed_ms};
    mt_tmx_append(export->out, &row);
    if (export->out->length > export->limit)
        return mt_fail(err, MT_LIMIT,
                       "the memory as TMX is more than the %zu bytes of max_document_bytes",
                       export->limit);
    return mt_text_check(export->out, "a translation memory", err);
}

static enum mt_status get_file(struct mt_request *request, struct question *question,
                               struct mt_error *err)
{
    char source_lang[MT_LANGUAGE_BYTES] = "";
    struct export export = {
        .out = &request->reply.body,
        .source_lang = source_lang,
        .limit = (size_t)request->service->settings->max_document_bytes,
    };
    struct mt_memories *memories = request->service->memories;
    enum mt_status status =
        mt_memories_visit(memories, question->owner, question->id, take_language, source_lang, err);
    if (status)
        return status;
    mt_tmx_begin(export.out, source_lang);
    status =
        mt_memories_visit_units(memories, question->owner, question->id, write_unit, &export, err);
    mt_tmx_end(export.out);
    request->reply.content_type = "application/x-tmx+xml; charset=utf-8";
    if (status)
        export.out->length = 0;
    return status ? status : mt_text_check(export.out, "a translation memory", err);
}

static enum mt_status forget(struct mt_request *request, struct question *question,
                             struct mt_error *err)
{
    request->reply.code = 204;
    return mt_memories_remove(request->service->memories, question->owner, question->id, err);
}

static const struct action {
    const char *method;
    enum part part;
    enum mt_status (*run)(struct mt_request *request, struct question *question,
                          struct mt_error *err);
} actions[] = {
    {"GET", LIST, list},    {"POST", LIST, create},  {"GET", MEMORY, get},
    {"GET", TMX, get_file}, {"POST", TMX, add_file}, {"DELETE", MEMORY, forget},
};

static void read_path(const struct mt_request *request, struct question *out)
{
    const char *rest = request->path + strlen(FOLDER);
    out->part = rest[0] == '\0' ? LIST : NO_PART;
    if (rest[0] != '/')
        return;
    size_t length = strcspn(++rest, "/");
    if (rest[length] == '\0')
        out->part = MEMORY;
    else if (strcmp(rest + length, "/tmx") == 0)
        out->part = TMX;
    if (length > 0 && length < sizeof out->id)
        memcpy(out->id, rest, length);
    else
        out->id[0] = '?'; /* an id that no memory has */
}

static enum mt_status run(struct mt_request *request, struct question *question,
                          struct mt_error *err)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (actions[i].part == question->part && strcmp(actions[i].method, request->method) == 0)
            return actions[i].run(request, question, err);
    return mt_fail(err, MT_NOT_FOUND, "The requested URL was not found on the server.");
}

static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    struct question question = {.part = NO_PART};
    enum mt_status status =
        request->service->memories ? MT_OK : mt_database_fail_missing("translation memories", err);
    read_path(request, &question);
    mt_key_owner(request->access.key, question.owner);
    if (!status)
        status = run(request, &question, err);
    if (status)
        request->reply.code = 0;
    return status;
}

const struct mt_handler mt_memories_handler = {.finish = finish};

/* ---- POST /suggest ---- */

/* Reads the field without blanks at its ends. */
static enum mt_status read_words(const char *name, const char *text, struct mt_text *out,
                                 struct mt_error *err)
{
    struct mt_coded coded = {0};
    enum mt_status status = mt_read_plain(text, strlen(text), NULL, &coded, err);
    if (!status) {
        struct mt_numbered_stretch all = mt_numbered_whole(&coded, &coded.segments[0]);
        mt_numbered_trim(&all, &(struct mt_numbered_ends){0});
        bool is_good = mt_numbered_write(&all, NULL, out);
        status = mt_text_check(out, "a text", err);
        if (!status && (!is_good || out->length == 0 || out->length > MT_MAX_UNIT_BYTES))
            status =
                mt_fail(err, MT_INVALID, "Invalid request: %s: expected a text of 1 to %d bytes",
                        name, MT_MAX_UNIT_BYTES);
    }
    mt_coded_finish(&coded);
    return status;
}

static enum mt_status read_string(const struct mt_request *request, const char *name,
                                  struct mt_text *out, struct mt_error *err)
{
    const char *value = "";
    enum mt_status status = mt_params_string(&request->params, name, &value, NULL, err);
    if (!status && value[0] == '\0')
        status = mt_fail(err, MT_INVALID, "Invalid request: missing %s parameter", name);
    return status ? status : read_words(name, value, out, err);
}

static enum mt_status read_language(const char *name, const char *code, char out[MT_LANGUAGE_BYTES],
                                    struct mt_error *err)
{
    if (code[0] == '\0')
        return mt_fail(err, MT_INVALID, "Invalid request: missing %s parameter", name);
    return mt_language_without_region(code, out)
               ? MT_OK
               : mt_fail(err, MT_INVALID, "%.40s is not supported", code);
}

static enum mt_status suggest(struct mt_request *request, struct mt_text *source,
                              struct mt_text *target, struct mt_error *err)
{
    struct mt_memories *memories = request->service->memories;
    struct mt_fields fields;
    char from[MT_LANGUAGE_BYTES], to[MT_LANGUAGE_BYTES], id[MT_MEMORY_ID_BYTES];
    char owner[MT_KEY_OWNER_BYTES];
    enum mt_status status = mt_fields_read(&request->params, MT_FIELDS_OF_SUGGEST,
                                           request->service->settings, &fields, err);
    if (!status)
        status = read_string(request, "q", source, err);
    if (!status)
        status = read_string(request, "s", target, err);
    if (!status)
        status = read_language("source", fields.source, from, err);
    if (!status)
        status = read_language("target", fields.target, to, err);
    mt_key_owner(request->access.key, owner);
    if (!status)
        status = mt_memories_find_or_add(memories, owner, SUGGESTIONS, from, id, err);
    const struct mt_memory_unit unit = {.source = source->bytes,
                                        .target = target->bytes,
                                        .target_lang = to,
                                        .context = "",
                                        .origin = SUGGESTIONS};
    return status ? status : mt_memories_put(memories, owner, id, &unit, 1, err);
}

static enum mt_status finish_suggest(struct mt_request *request, struct mt_error *err)
{
    struct mt_text source = {0}, target = {0};
    if (!request->service->settings->suggestions || !request->service->memories) {
        mt_reply_error(&request->reply, 403, "Suggestions are disabled on this server.");
        return MT_OK;
    }
    enum mt_status status = suggest(request, &source, &target, err);
    mt_text_finish(&source);
    mt_text_finish(&target);
    mt_text_append_string(&request->reply.body, "{\"success\":true}");
    return status ? status : mt_text_check(&request->reply.body, "the reply", err);
}

const struct mt_handler mt_suggest_handler = {.finish = finish_suggest};
