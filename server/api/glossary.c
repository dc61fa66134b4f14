#include "server/api/glossary.h"

#include "server/data/database.h"
#include "server/data/glossaries.h"
#include "server/service/keys.h"
#include "server/text/language.h"
#include "server/passages/passage.h"
#include "server/text/terms.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cjson/cJSON.h>

static const struct mt_json_limits field_limits = {.max_depth = 4, .max_values = 4096};

struct reader {
    struct mt_terms *terms;
    size_t max_terms;
};

/* ---- reading ---- */

static enum mt_status add(const struct reader *reader, const char *field, const char *source,
                          const char *target, struct mt_error *err)
{
    enum mt_status status = mt_terms_add(reader->terms, field, source, target, err);
    if (!status && mt_terms_count(reader->terms) > reader->max_terms)
        return mt_fail(err, MT_LIMIT, "%s: more than %zu terms, which are allowed in one request",
                       field, reader->max_terms);
    return status;
}

static enum mt_status read_do_not_translate(const struct reader *reader, const char *field,
                                            const struct cJSON *value, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (cJSON_IsString(value))
        return add(reader, field, value->valuestring, NULL, err);
    if (!cJSON_IsArray(value))
        return mt_fail(err, MT_INVALID, "%s: expected an array of strings", field);
    for (const struct cJSON *item = value->child; item && !status; item = item->next)
        status = cJSON_IsString(item)
                     ? add(reader, field, item->valuestring, NULL, err)
                     : mt_fail(err, MT_INVALID, "%s: expected an array of strings", field);
    return status;
}

static enum mt_status read_pair(const struct reader *reader, const char *field, const char *source,
                                const struct cJSON *target, struct mt_error *err)
{
    if (!source || !cJSON_IsString(target))
        return mt_fail(err, MT_INVALID,
                       "%s: expected {\"term\": \"translation\"} or [{\"source\": \"term\", "
                       "\"target\": \"translation\"}], all of them strings",
                       field);
    return add(reader, field, source, target->valuestring, err);
}

static enum mt_status read_pairs(const struct reader *reader, const char *field,
                                 const struct cJSON *value, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (!cJSON_IsObject(value) && !cJSON_IsArray(value))
        return read_pair(reader, field, NULL, NULL, err);
    for (const struct cJSON *item = value->child; item && !status; item = item->next) {
        if (cJSON_IsObject(value))
            status = read_pair(reader, field, item->string, item, err);
        else
            status =
                read_pair(reader, field,
                          cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "source")),
                          cJSON_GetObjectItemCaseSensitive(item, "target"), err);
    }
    return status;
}

typedef enum mt_status read_value(const struct reader *reader, const char *field,
                                  const struct cJSON *value, struct mt_error *err);

/* Forms and query strings only have strings; JSON in them begins with a bracket. */
static enum mt_status read_field(const struct reader *reader, const struct mt_params *params,
                                 const char *field, read_value *read, struct mt_error *err)
{
    const struct cJSON *value = mt_params_get(params, field);
    struct cJSON *parsed = NULL;
    enum mt_status status = MT_OK;
    if (!value || (params->is_text && value->valuestring[0] == '\0'))
        return MT_OK;
    if (params->is_text && strchr("[{", value->valuestring[0]))
        status = mt_json_parse(value->valuestring, strlen(value->valuestring), &field_limits, field,
                               &parsed, err);
    if (!status)
        status = read(reader, field, parsed ? parsed : value, err);
    cJSON_Delete(parsed);
    return status;
}

static enum mt_status reserve_counts(struct mt_glossary *glossary, struct mt_error *err)
{
    size_t n = mt_terms_count(glossary->terms);
    free(glossary->n_found);
    free(glossary->n_applied);
    free(glossary->n_written);
    glossary->n_found = calloc(n + 1, sizeof *glossary->n_found);
    glossary->n_applied = calloc(n + 1, sizeof *glossary->n_applied);
    glossary->n_written = calloc(n + 1, sizeof *glossary->n_written);
    if (!glossary->n_found || !glossary->n_applied || !glossary->n_written)
        return mt_fail_memory(err, n * sizeof *glossary->n_found, "terms");
    return MT_OK;
}

enum mt_status mt_glossary_read(const struct mt_params *params, size_t max_terms,
                                struct mt_glossary *out, struct mt_error *err)
{
    if (!mt_params_get(params, "do_not_translate") && !mt_params_get(params, "glossary"))
        return MT_OK;
    enum mt_status status = mt_terms_create(&out->terms, err);
    if (status)
        return status;
    const struct reader reader = {.terms = out->terms, .max_terms = max_terms};
    status = read_field(&reader, params, "do_not_translate", read_do_not_translate, err);
    if (!status)
        status = read_field(&reader, params, "glossary", read_pairs, err);
    return status ? status : reserve_counts(out, err);
}

static enum mt_status join(struct mt_glossary *glossary, struct mt_terms *stored,
                           struct mt_error *err)
{
    if (!glossary->terms) {
        glossary->terms = stored;
        return MT_OK;
    }
    enum mt_status status = mt_terms_add_others(glossary->terms, stored, err);
    mt_terms_destroy(stored);
    return status;
}

enum mt_status mt_glossary_add_stored(struct mt_glossary *glossary,
                                      const struct mt_request *request, const char *id,
                                      const char *source, const char *target, struct mt_error *err)
{
    char owner[MT_KEY_OWNER_BYTES], from[MT_LANGUAGE_BYTES], to[MT_LANGUAGE_BYTES];
    struct mt_terms *stored = NULL;
    if (id[0] == '\0')
        return MT_OK;
    enum mt_status status =
        request->service->glossaries ? MT_OK : mt_database_fail_missing("glossaries", err);
    if (status)
        return status;
    bool is_one = source && source[0] != '\0' && strcasecmp(source, "auto") != 0 && target;
    if (!is_one || !mt_language_without_region(source, from) ||
        !mt_language_without_region(target, to))
        return mt_fail(err, MT_INVALID,
                       "glossary_id is for texts of one language that is named, into one other");
    mt_key_owner(request->access.key, owner);
    status = mt_glossaries_terms(request->service->glossaries, owner, id, from, to, &stored, err);
    if (!status)
        status = join(glossary, stored, err);
    return status ? status : reserve_counts(glossary, err);
}

/* Adds each form of the term as its own translation, so that it is copied. */
static enum mt_status add_forms(struct mt_term term, struct mt_terms *out, struct mt_error *err)
{
    struct mt_range form;
    size_t length = strlen(term.target), at = 0;
    enum mt_status status = MT_OK;
    if (term.is_verbatim)
        return mt_terms_add(out, "glossary", term.target, NULL, err);
    while (!status && mt_term_next_form(term.target, length, &at, &form)) {
        struct mt_text text = {0};
        mt_text_append(&text, term.target + form.begin, form.end - form.begin);
        status = mt_text_check(&text, "a term", err);
        if (!status)
            status = mt_terms_add(out, "glossary", text.bytes, NULL, err);
        mt_text_finish(&text);
    }
    return status;
}

enum mt_status mt_glossary_pass_on(const struct mt_glossary *from, struct mt_glossary *out,
                                   struct mt_error *err)
{
    if (!from->terms)
        return MT_OK;
    enum mt_status status = mt_terms_create(&out->terms, err);
    for (size_t i = 0; i < mt_terms_count(from->terms) && !status; i++)
        status = add_forms(mt_terms_at(from->terms, i), out->terms, err);
    return status ? status : reserve_counts(out, err);
}

void mt_glossary_finish(struct mt_glossary *glossary)
{
    mt_terms_destroy(glossary->terms);
    free(glossary->n_found);
    free(glossary->n_applied);
    free(glossary->n_written);
    *glossary = (struct mt_glossary){0};
}

/* ---- counting and reporting ---- */

static void count_one(void *context, size_t term, enum mt_term_outcome outcome)
{
    struct mt_glossary *glossary = context;
    glossary->n_found[term]++;
    glossary->n_applied[term] += outcome != MT_TERM_LOST;
    glossary->n_written[term] += outcome == MT_TERM_WRITTEN;
}

enum mt_status mt_glossary_count(struct mt_glossary *glossary, struct mt_passage *passage,
                                 struct mt_error *err)
{
    return mt_passage_report_terms(passage, count_one, glossary, err);
}

struct loss {
    struct mt_glossary *glossary;
    const struct mt_terms *passed_on;
};

static bool has_form(struct mt_term term, const char *words)
{
    if (term.is_verbatim)
        return strcmp(term.target, words) == 0;
    return mt_term_has_form(term.target, strlen(term.target), words, strlen(words));
}

static void take_back_one(void *context, size_t term, enum mt_term_outcome outcome)
{
    const struct loss *loss = context;
    struct mt_glossary *glossary = loss->glossary;
    const char *target = mt_terms_at(loss->passed_on, term).source;
    for (size_t i = 0; i < mt_terms_count(glossary->terms) && outcome == MT_TERM_LOST; i++) {
        if (glossary->n_applied[i] == 0 || !has_form(mt_terms_at(glossary->terms, i), target))
            continue;
        glossary->n_applied[i]--;
        return;
    }
}

enum mt_status mt_glossary_count_lost(struct mt_glossary *glossary, struct mt_glossary *passed_on,
                                      struct mt_passage *passage, struct mt_error *err)
{
    struct loss loss = {.glossary = glossary, .passed_on = passed_on->terms};
    return mt_passage_report_terms(passage, take_back_one, &loss, err);
}

static bool has_several_forms(struct mt_term term)
{
    struct mt_range form;
    size_t at = 0;
    return !term.is_verbatim && mt_term_next_form(term.target, strlen(term.target), &at, &form) &&
           term.target[form.end] != '\0';
}

void mt_glossary_write(const struct mt_glossary *glossary, struct mt_json_writer *writer)
{
    mt_json_begin_array(writer);
    for (size_t i = 0; i < mt_terms_count(glossary->terms); i++) {
        struct mt_term term = mt_terms_at(glossary->terms, i);
        size_t n_found = glossary->n_found[i];
        if (n_found == 0)
            continue;
        mt_json_begin_object(writer);
        mt_json_member(writer, "source", term.source);
        mt_json_member(writer, "target", term.target);
        mt_json_member_count(writer, "found", n_found);
        mt_json_member_count(writer, "applied", glossary->n_applied[i]);
        if (has_several_forms(term))
            mt_json_member_count(writer, "written", glossary->n_written[i]);
        if (glossary->n_applied[i] < n_found)
            mt_json_member(writer, "reason", "no word of the translation came from it");
        mt_json_end_object(writer);
    }
    mt_json_end_array(writer);
}
