#include "server/api/glossaries_api.h"

#include "base/json.h"
#include "base/vector.h"
#include "server/api/deepl_api.h"
#include "server/data/database.h"
#include "server/data/glossaries.h"
#include "server/data/glossary_entries.h"
#include "server/http/fields.h"
#include "server/models/catalog.h"
#include "server/service/keys.h"
#include "server/text/language.h"
#include "server/text/terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#define FOLDER "/v2/glossaries" /* or v3 */
/* Most dictionaries in one request. There are not more pairs of languages. */
#define MAX_DICTIONARIES 256

enum part { LIST, GLOSSARY, ENTRIES, DICTIONARIES, NO_PART };

struct dictionary {
    char source[MT_LANGUAGE_BYTES], target[MT_LANGUAGE_BYTES];
    struct mt_terms *terms;
};

struct question {
    bool is_v3;
    enum part part;
    char id[MT_GLOSSARY_ID_BYTES];
    char owner[MT_KEY_OWNER_BYTES];
    struct mt_fields fields;
    struct dictionary *dictionaries; /* dictionaries of the request */
    size_t n_dictionaries, capacity;
};

/* ---- in which languages ---- */

static enum mt_status read_pair(const char *source, const char *target, struct dictionary *out,
                                struct mt_error *err)
{
    if (!mt_language_without_region(source, out->source))
        return mt_deepl_refuse_value("source_lang", err);
    bool is_good =
        mt_language_without_region(target, out->target) && strcmp(out->source, out->target) != 0;
    return is_good ? MT_OK : mt_deepl_refuse_value("target_lang", err);
}

/* ---- reading the request ---- */

static enum mt_status add_dictionary(struct question *question, const char *source,
                                     const char *target, const char *entries, const char *format,
                                     struct mt_error *err)
{
    bool is_csv = format && strcmp(format, "csv") == 0;
    if (question->n_dictionaries == MAX_DICTIONARIES)
        return mt_fail(err, MT_LIMIT, "dictionaries: more than %d, which are allowed",
                       MAX_DICTIONARIES);
    if (MT_ROOM(&question->dictionaries, &question->capacity, question->n_dictionaries + 1,
                "dictionaries", err))
        return MT_MEMORY;
    if (format && format[0] != '\0' && !is_csv && strcmp(format, "tsv") != 0)
        return mt_deepl_refuse_value("entries_format", err);
    struct dictionary *dictionary = &question->dictionaries[question->n_dictionaries];
    *dictionary = (struct dictionary){0};
    enum mt_status status = read_pair(source ? source : "", target ? target : "", dictionary, err);
    if (!status)
        status = mt_terms_create(&dictionary->terms, err);
    if (status)
        return status;
    question->n_dictionaries++;
    const struct mt_entries all = {.text = entries ? entries : "",
                                   .length = entries ? strlen(entries) : 0,
                                   .is_csv = is_csv,
                                   .source = dictionary->source,
                                   .target = dictionary->target};
    return mt_entries_read(&all, dictionary->terms, err);
}

static enum mt_status add_own(struct question *question, struct mt_error *err)
{
    const struct mt_fields *fields = &question->fields;
    return add_dictionary(question, fields->source_lang, fields->target_lang, fields->entries,
                          fields->entries_format, err);
}

static enum mt_status add_object(struct question *question, const struct cJSON *object,
                                 struct mt_error *err)
{
    static const char *const names[] = {"source_lang", "target_lang", "entries", "entries_format"};
    const char *values[4];
    for (size_t i = 0; i < 4; i++) {
        const struct cJSON *value = cJSON_GetObjectItemCaseSensitive(object, names[i]);
        values[i] = cJSON_GetStringValue(value);
        if (value && !values[i])
            return mt_fail(err, MT_INVALID, "dictionaries: %s: expected a string", names[i]);
    }
    return add_dictionary(question, values[0], values[1], values[2], values[3], err);
}

static const char *form_value(const struct mt_params *params, size_t i, const char *name)
{
    char field[64];
    snprintf(field, sizeof field, "dictionaries[%zu].%s", i, name);
    return cJSON_GetStringValue(mt_params_get(params, field));
}

/* Reads the dictionaries of a JSON array, or the fields that forms have instead of it. */
static enum mt_status add_listed(struct question *question, const struct mt_params *params,
                                 struct mt_error *err)
{
    const struct cJSON *list = mt_params_get(params, "dictionaries");
    enum mt_status status = MT_OK;
    for (size_t i = 0; form_value(params, i, "source_lang") && !status; i++)
        status = add_dictionary(
            question, form_value(params, i, "source_lang"), form_value(params, i, "target_lang"),
            form_value(params, i, "entries"), form_value(params, i, "entries_format"), err);
    if (status || !list)
        return status;
    if (!cJSON_IsArray(list))
        return mt_fail(err, MT_INVALID, "dictionaries: expected an array of objects");
    for (const struct cJSON *item = list->child; item && !status; item = item->next)
        status = cJSON_IsObject(item)
                     ? add_object(question, item, err)
                     : mt_fail(err, MT_INVALID, "dictionaries: expected an array of objects");
    return status;
}

static enum mt_status check_name(const char *name, struct mt_error *err)
{
    if (name[strspn(name, " ")] == '\0')
        return mt_fail(err, MT_INVALID, "Parameter 'name' not specified.");
    if (strlen(name) > MT_MAX_GLOSSARY_NAME_BYTES)
        return mt_fail(err, MT_INVALID, "name is %zu bytes, at most %d are allowed", strlen(name),
                       MT_MAX_GLOSSARY_NAME_BYTES);
    return MT_OK;
}

/* Borrows the dictionaries in the form that the store takes. */
static enum mt_status borrow(const struct question *question, struct mt_dictionary **out,
                             struct mt_error *err)
{
    *out = calloc(question->n_dictionaries + 1, sizeof **out);
    if (!*out)
        return mt_fail_memory(err, question->n_dictionaries * sizeof **out, "dictionaries");
    for (size_t i = 0; i < question->n_dictionaries; i++)
        (*out)[i] = (struct mt_dictionary){.source = question->dictionaries[i].source,
                                           .target = question->dictionaries[i].target,
                                           .terms = question->dictionaries[i].terms};
    return MT_OK;
}

/* ---- writing glossaries ---- */

struct answer {
    struct mt_json_writer writer;
    char open[MT_GLOSSARY_ID_BYTES]; /* the glossary whose dictionaries are being written; or "" */
    int64_t created_ms;
};

static void write_dictionary(struct mt_json_writer *writer, const struct mt_glossary_row *row)
{
    mt_json_member(writer, "source_lang", row->source);
    mt_json_member(writer, "target_lang", row->target);
    if (row->entries) {
        mt_json_member(writer, "entries", row->entries);
        mt_json_member(writer, "entries_format", "tsv");
    } else {
        mt_json_member_count(writer, "entry_count", row->n_entries);
    }
}

static void close_glossary(struct answer *answer)
{
    if (answer->open[0] == '\0')
        return;
    mt_json_end_array(&answer->writer);
    mt_json_key(&answer->writer, "creation_time");
    mt_json_time(&answer->writer, answer->created_ms);
    mt_json_end_object(&answer->writer);
    answer->open[0] = '\0';
}

static enum mt_status write_v3(void *context, const struct mt_glossary_row *row,
                               struct mt_error *err)
{
    struct answer *answer = context;
    struct mt_json_writer *writer = &answer->writer;
    if (strcmp(answer->open, row->id) != 0) {
        close_glossary(answer);
        mt_json_begin_object(writer);
        mt_json_member(writer, "glossary_id", row->id);
        mt_json_member(writer, "name", row->name);
        mt_json_member_array(writer, "dictionaries");
        snprintf(answer->open, sizeof answer->open, "%s", row->id);
        answer->created_ms = row->created_ms;
    }
    if (row->source) {
        mt_json_begin_object(writer);
        write_dictionary(writer, row);
        mt_json_end_object(writer);
    }
    return MT_OK;
}

static enum mt_status write_v2(void *context, const struct mt_glossary_row *row,
                               struct mt_error *err)
{
    struct mt_json_writer *writer = &((struct answer *)context)->writer;
    mt_json_begin_object(writer);
    mt_json_member(writer, "glossary_id", row->id);
    mt_json_member_bool(writer, "ready", true);
    mt_json_member(writer, "name", row->name);
    write_dictionary(writer, row);
    mt_json_key(writer, "creation_time");
    mt_json_time(writer, row->created_ms);
    mt_json_end_object(writer);
    return MT_OK;
}

/* id NULL: describes all glossaries. */
static enum mt_status describe(struct mt_request *request, const struct question *question,
                               const char *id, struct mt_error *err)
{
    struct answer answer = {.open = ""};
    const struct mt_glossary_question asked = {
        .owner = question->owner, .id = id, .has_one = !question->is_v3};
    mt_json_writer_init(&answer.writer, &request->reply.body);
    if (!id) {
        mt_json_begin_object(&answer.writer);
        mt_json_member_array(&answer.writer, "glossaries");
    }
    enum mt_status status = mt_glossaries_visit(
        request->service->glossaries, &asked, question->is_v3 ? write_v3 : write_v2, &answer, err);
    if (status)
        return status;
    close_glossary(&answer);
    if (!id) {
        mt_json_end_array(&answer.writer);
        mt_json_end_object(&answer.writer);
    }
    return mt_text_check(&request->reply.body, "the reply", err);
}

static enum mt_status append_entries(void *context, const struct mt_glossary_row *row,
                                     struct mt_error *err)
{
    mt_text_append_string(context, row->entries);
    return MT_OK;
}

static enum mt_status write_entries(void *context, const struct mt_glossary_row *row,
                                    struct mt_error *err)
{
    struct mt_json_writer *writer = context;
    mt_json_begin_object(writer);
    write_dictionary(writer, row);
    mt_json_end_object(writer);
    return MT_OK;
}

/* ---- the routes ---- */

static enum mt_status list(struct mt_request *request, struct question *question,
                           struct mt_error *err)
{
    return describe(request, question, NULL, err);
}

static enum mt_status get(struct mt_request *request, struct question *question,
                          struct mt_error *err)
{
    return describe(request, question, question->id, err);
}

static enum mt_status create(struct mt_request *request, struct question *question,
                             struct mt_error *err)
{
    struct mt_dictionary *dictionaries = NULL;
    enum mt_status status = check_name(question->fields.name, err);
    if (!status)
        status =
            question->is_v3 ? add_listed(question, &request->params, err) : add_own(question, err);
    if (!status)
        status = borrow(question, &dictionaries, err);
    if (!status)
        status =
            mt_glossaries_add(request->service->glossaries, question->owner, question->fields.name,
                              dictionaries, question->n_dictionaries, question->id, err);
    free(dictionaries);
    request->reply.code = 201;
    return status ? status : get(request, question, err);
}

static enum mt_status get_entries(struct mt_request *request, struct question *question,
                                  struct mt_error *err)
{
    struct dictionary pair = {.source = ""};
    struct mt_glossary_question asked = {
        .owner = question->owner, .id = question->id, .wants_entries = true};
    struct mt_text *body = &request->reply.body;
    if (!question->is_v3) {
        asked.has_one = true;
        request->reply.content_type = "text/tab-separated-values; charset=utf-8";
        return mt_glossaries_visit(request->service->glossaries, &asked, append_entries, body, err);
    }
    enum mt_status status =
        read_pair(question->fields.source_lang, question->fields.target_lang, &pair, err);
    asked.source = pair.source;
    asked.target = pair.target;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, body);
    mt_json_begin_object(&writer);
    mt_json_member_array(&writer, "dictionaries");
    if (!status)
        status =
            mt_glossaries_visit(request->service->glossaries, &asked, write_entries, &writer, err);
    mt_json_end_array(&writer);
    mt_json_end_object(&writer);
    return status;
}

static enum mt_status change(struct mt_request *request, struct question *question,
                             enum mt_dictionary_change kind, struct mt_error *err)
{
    struct mt_dictionary *dictionaries = NULL;
    const char *name = mt_params_get(&request->params, "name") ? question->fields.name : NULL;
    enum mt_status status = borrow(question, &dictionaries, err);
    if (!status && name)
        status = check_name(name, err);
    if (!status)
        status = mt_glossaries_change(request->service->glossaries, question->owner, question->id,
                                      name, dictionaries, question->n_dictionaries, kind, err);
    free(dictionaries);
    return status;
}

static enum mt_status patch(struct mt_request *request, struct question *question,
                            struct mt_error *err)
{
    enum mt_status status = add_listed(question, &request->params, err);
    if (!status)
        status = change(request, question, MT_DICTIONARY_MERGE, err);
    return status ? status : get(request, question, err);
}

static enum mt_status put(struct mt_request *request, struct question *question,
                          struct mt_error *err)
{
    enum mt_status status = add_own(question, err);
    if (!status)
        status = change(request, question, MT_DICTIONARY_REPLACE, err);
    if (status)
        return status;
    const struct dictionary *dictionary = &question->dictionaries[0];
    const struct mt_glossary_row row = {.source = dictionary->source,
                                        .target = dictionary->target,
                                        .n_entries = mt_terms_count(dictionary->terms)};
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    write_dictionary(&writer, &row);
    mt_json_end_object(&writer);
    return MT_OK;
}

static enum mt_status forget(struct mt_request *request, struct question *question,
                             struct mt_error *err)
{
    request->reply.code = 204;
    return mt_glossaries_remove(request->service->glossaries, question->owner, question->id, NULL,
                                NULL, err);
}

static enum mt_status forget_dictionary(struct mt_request *request, struct question *question,
                                        struct mt_error *err)
{
    struct dictionary pair = {.source = ""};
    enum mt_status status =
        read_pair(question->fields.source_lang, question->fields.target_lang, &pair, err);
    request->reply.code = 204;
    return status ? status
                  : mt_glossaries_remove(request->service->glossaries, question->owner,
                                         question->id, pair.source, pair.target, err);
}

static const struct action {
    const char *method;
    enum part part;
    bool is_in_v2, is_in_v3;
    enum mt_status (*run)(struct mt_request *request, struct question *question,
                          struct mt_error *err);
} actions[] = {
    {"GET", LIST, true, true, list},
    {"POST", LIST, true, true, create},
    {"GET", GLOSSARY, true, true, get},
    {"PATCH", GLOSSARY, false, true, patch},
    {"DELETE", GLOSSARY, true, true, forget},
    {"GET", ENTRIES, true, true, get_entries},
    {"PUT", DICTIONARIES, false, true, put},
    {"DELETE", DICTIONARIES, false, true, forget_dictionary},
};

static void read_path(const struct mt_request *request, struct question *out)
{
    static const char *const parts[] = {
        [GLOSSARY] = "", [ENTRIES] = "/entries", [DICTIONARIES] = "/dictionaries"};
    const char *rest = request->path + strlen(FOLDER);
    out->is_v3 = strncmp(request->path, "/v3", 3) == 0;
    out->part = rest[0] == '\0' ? LIST : NO_PART;
    if (rest[0] != '/')
        return;
    size_t length = strcspn(++rest, "/");
    for (int i = GLOSSARY; i < NO_PART; i++)
        if (strcmp(rest + length, parts[i]) == 0)
            out->part = (enum part)i;
    if (length > 0 && length < sizeof out->id)
        memcpy(out->id, rest, length);
    else
        out->id[0] = '?'; /* an id that no glossary has */
}

static enum mt_status run(struct mt_request *request, struct question *question,
                          struct mt_error *err)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        const struct action *action = &actions[i];
        bool is_known = question->is_v3 ? action->is_in_v3 : action->is_in_v2;
        if (is_known && action->part == question->part &&
            strcmp(action->method, request->method) == 0)
            return action->run(request, question, err);
    }
    return mt_fail(err, MT_NOT_FOUND, "The requested URL was not found on the server.");
}

static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    struct question question = {.part = NO_PART};
    enum mt_status status =
        request->service->glossaries ? MT_OK : mt_database_fail_missing("glossaries", err);
    read_path(request, &question);
    mt_key_owner(request->access.key, question.owner);
    if (!status)
        status = mt_fields_read(&request->params, MT_FIELDS_OF_GLOSSARY, request->service->settings,
                                &question.fields, err);
    if (!status)
        status = run(request, &question, err);
    for (size_t i = 0; i < question.n_dictionaries; i++)
        mt_terms_destroy(question.dictionaries[i].terms);
    free(question.dictionaries);
    if (status)
        request->reply.code = 0;
    return status ? status : mt_text_check(&request->reply.body, "the reply", err);
}

/* ---- GET /v2/glossary-language-pairs ---- */

/* Clients ask before each translation whether there are any pairs. */
static enum mt_status finish_pairs(struct mt_request *request, struct mt_error *err)
{
    const struct mt_catalog *catalog = request->service->catalog;
    size_t n = request->service->glossaries ? mt_catalog_n_languages(catalog) : 0;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    mt_json_member_array(&writer, "supported_languages");
    for (size_t i = 0; i < n * n; i++) {
        size_t source = i / n, target = i % n;
        if (source == target || mt_catalog_hops(catalog, source, target) == 0)
            continue;
        mt_json_begin_object(&writer);
        mt_json_member(&writer, "source_lang", mt_catalog_language(catalog, source));
        mt_json_member(&writer, "target_lang", mt_catalog_language(catalog, target));
        mt_json_end_object(&writer);
    }
    mt_json_end_array(&writer);
    mt_json_end_object(&writer);
    return mt_text_check(&request->reply.body, "the pairs of glossaries", err);
}

const struct mt_handler mt_glossaries_handler = {.finish = finish};
const struct mt_handler mt_glossary_pairs_handler = {.finish = finish_pairs};
