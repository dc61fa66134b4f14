#include "server/api/file_translation.h"

#include "base/size.h"
#include "base/json.h"
#include "config/settings.h"
#include "base/sanitized.h"
#include "server/api/decoding_params.h"
#include "server/api/glossary.h"
#include "server/api/languages_api.h"
#include "server/api/memory_use.h"
#include "server/api/warnings.h"
#include "server/documents/document_translation.h"
#include "server/models/served_model.h"
#include "server/passages/passage.h"
#include "server/service/file_names.h"
#include "server/service/file_store.h"
#include "server/text/codes/numbered.h"
#include "server/text/detect.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct mt_file_translation {
    struct mt_file_question question;
    enum mt_document_format format;
    struct mt_language_pair languages; /* with the source language, even if that was detected */
    size_t n_chars;                    /* of all words */
    size_t n_steps;                    /* steps of languages.route that are complete */
    bool is_in_step, is_made;          /* the current step has begun; all its passages are made */
    /* texts of the current step whose terms are counted and warnings collected */
    size_t n_looked;
    /* the store in which name is reserved; NULL: it is not reserved */
    struct mt_file_store *files;
    char name[MT_STORED_NAME_BYTES]; /* of the translated file */
    struct mt_fields fields;
    struct mt_proofreader reader; /* for the current step */
    struct mt_warnings warnings;
    struct mt_memory_use memory;
    size_t n_recalled; /* texts whose translations come completely from the memory */
    struct mt_glossary glossary;
    struct mt_glossary passed_on; /* the terms for later steps */
    struct mt_document *document;
    struct mt_document_translation *passages; /* NULL: source and target are the same language */
    struct mt_document_report report;         /* after store */
};

/* ---- reading the request ---- */

static enum mt_status read_format(struct mt_file_translation *work, struct mt_error *err)
{
    const char *file_name = work->question.file_name;
    if (file_name[0] == '\0')
        return mt_fail(err, MT_INVALID, "Invalid request: empty file");
    if (mt_document_format_of_file(file_name, &work->format))
        return MT_OK;
    const struct mt_params_file *file = work->question.file;
    const char *dot = strrchr(file_name, '.');
    char known[MT_DOCUMENT_LIST_BYTES];
    enum mt_status status = mt_document_check_kind(file->bytes, file->length, err);
    if (status)
        return status;
    if (!dot)
        dot = "";
    return mt_fail(
        err, MT_INVALID, "Invalid request: file format not supported: \"%.*s\", expected %s",
        (int)mt_utf8_valid_prefix(dot, strnlen(dot, 20)), dot, mt_document_list_extensions(known));
}

static const char *extension_of(const struct mt_file_translation *work)
{
    return mt_document_extension_of_file(work->question.file_name, work->format);
}

/* Detects the language from the beginning of the texts. */
static enum mt_status detect_language(struct mt_file_translation *work,
                                      const struct mt_service *service, struct mt_error *err)
{
    struct mt_detect_languages languages;
    struct mt_detection detection;
    struct mt_text sample = {0};
    bool is_html = false;
    mt_text_append(&sample, "", 0);
    for (size_t i = 0; i < mt_document_n_texts(work->document); i++) {
        struct mt_document_text text = mt_document_text(work->document, i);
        is_html = text.read != mt_read_plain;
        mt_text_append(&sample, text.bytes, text.length);
        mt_text_append(&sample, "\n", 1);
        if (sample.length > MT_DETECT_MAX_BYTES)
            break;
    }
    mt_languages_to_detect(service, work->question.only, work->languages.target, &languages);
    enum mt_status status = mt_text_check(&sample, "a file's text", err);
    if (!status)
        status = mt_detect(sample.bytes, sample.length, is_html, &languages, &detection, err);
    mt_text_finish(&sample);
    if (status)
        return status;
    mt_detection_decide(&detection);
    return mt_languages_set_source(service, work->question.only, &detection, &work->languages, err);
}

static enum mt_status read_languages(struct mt_file_translation *work,
                                     const struct mt_service *service, const char *source,
                                     const char *target, struct mt_error *err)
{
    if (strcasecmp(source, "auto") != 0)
        return mt_languages_check(service, work->question.only, source, target, &work->languages,
                                  err);
    enum mt_status status =
        mt_languages_check_target(service, work->question.only, target, &work->languages, err);
    return status ? status : detect_language(work, service, err);
}

/* ---- the work ---- */

/* Adds a text that is similar to the current one to the document, beside the translation. */
static enum mt_status show_match(void *context, const struct mt_memory_match *match, bool is_used,
                                 struct mt_error *err)
{
    struct mt_file_translation *work = context;
    struct mt_text source = {0}, target = {0};
    if (is_used)
        return MT_OK;
    mt_numbered_append_words(match->source, strlen(match->source), &source);
    mt_numbered_append_words(match->target, strlen(match->target), &target);
    const struct mt_document_match shown = {
        .percent = match->percent, .origin = match->origin, .source = &source, .target = &target};
    enum mt_status status = mt_document_add_match(
        work->document, mt_document_translation_n_made(work->passages), &shown, err);
    mt_text_finish(&source);
    mt_text_finish(&target);
    return status;
}

/* All words of a file count as one text, of which the limits for the client are checked. */
static enum mt_status check_size(struct mt_request *request, struct mt_file_translation *work,
                                 struct mt_error *err)
{
    const struct mt_coded_options reading = {.max_tags =
                                                 (size_t)request->service->settings->max_html_tags};
    int64_t limit = request->access.limits.max_text_chars;
    enum mt_status status = mt_document_count_chars(work->document, &reading, &work->n_chars, err);
    if (status)
        return status;
    if (work->n_chars > (size_t)limit)
        return mt_fail(err, MT_INVALID, "Invalid request: request (%zu) exceeds text limit (%lld)",
                       work->n_chars, (long long)limit);
    return mt_request_take_chars(request, work->n_chars, err);
}

static enum mt_status add_sentence(void *context, struct mt_sentence *sentence,
                                   struct mt_error *err)
{
    return mt_request_add_sentence(context, sentence, err);
}

static enum mt_status describe_decoding(const struct mt_file_translation *work,
                                        struct mt_request *request,
                                        struct mt_translation_options *out, struct mt_error *err)
{
    const struct mt_model_route_step *step = &work->languages.route.steps[work->n_steps];
    *out = (struct mt_translation_options){
        .decoding = {.beam_size = mt_decoding_beam_size(request->service, request->model, 0),
                     .skip_scores = true},
        .split = work->question.split,
        .max_sentences = SIZE_MAX, /* the limit is the one for waiting sentences of a request */
        .eases_source = work->fields.post_edit,
        .splitter = request->service->splitter,
        .source_lang = work->languages.source,
        .target_lang = step->target ? step->target->code : NULL,
        .target_code = step->target ? step->target->token : NULL,
        .source_code = step->source ? step->source->token : NULL,
        .admit = mt_request_admit,
        .admit_context = request,
    };
    if (work->n_steps > 0)
        out->source_lang = step->source->code;
    return mt_decoding_params_read(request, &work->fields, &out->decoding, err);
}

static enum mt_status begin_step(struct mt_file_translation *work, struct mt_request *request,
                                 struct mt_error *err)
{
    struct mt_translation_options options;
    const struct mt_model_language *target = work->languages.route.steps[work->n_steps].target;
    bool is_last = work->n_steps + 1 == work->languages.route.n;
    const char *target_lang = target ? target->code : NULL;
    if (is_last && work->languages.target[0] != '\0')
        target_lang = work->languages.target;
    struct mt_document_step step = {
        .service = request->service,
        .model = request->model,
        .options = &options,
        .terms = work->n_steps > 0 ? work->passed_on.terms : work->glossary.terms,
        .reader = &work->reader,
        .repairs_numbers = work->fields.repair_numbers,
    };
    const struct mt_memory_show show = {work, show_match};
    enum mt_status status = describe_decoding(work, request, &options, err);
    if (!status)
        status = mt_proofreader_init(&work->reader, request->service->number_words,
                                     options.source_lang, target_lang, err);
    if (!status && work->languages.route.n == 1)
        status = mt_memory_use_text(&work->memory, options.source_lang, target_lang,
                                    mt_document_has_matches(work->document) ? &show : NULL,
                                    &step.recall, err);
    if (!status && !work->passages)
        status = mt_document_translation_create(work->document, &work->passages, err);
    if (!status)
        mt_document_translation_begin_step(work->passages, &step);
    work->is_in_step = !status;
    return status;
}

enum mt_status mt_file_translation_begin(struct mt_file_translation *work,
                                         struct mt_request *request, struct mt_error *err)
{
    size_t half_queue = (size_t)request->service->settings->max_queued_sentences / 2;
    size_t n_sentences = mt_size_min(work->question.chunk_sentences, mt_size_max(half_queue, 1));
    enum mt_status status = work->is_in_step ? MT_OK : begin_step(work, request, err);
    if (!status)
        status = mt_document_translation_make(work->passages, n_sentences, &work->is_made, err);
    if (!status)
        status = mt_document_translation_list(work->passages, add_sentence, request, err);
    return status;
}

/* A translation into another script has twice the bytes of its source, and a catalogue gets one in
 * addition to each text: at most BYTES_OF_A_CHAR more for each character of its words. */
#define BYTES_OF_A_CHAR 8
static enum mt_status reserve_room(const struct mt_request *request,
                                   struct mt_file_translation *work, struct mt_error *err)
{
    size_t length = work->question.file->length;
    size_t limit_bytes = (size_t)request->service->settings->max_files_bytes;
    size_t grown = length + mt_size_min(length, BYTES_OF_A_CHAR * work->n_chars);
    const struct mt_file_room room = {.client = request->access.client,
                                      .length =
                                          mt_size_max(length, mt_size_min(grown, limit_bytes)),
                                      .limit_bytes = limit_bytes,
                                      .extension = extension_of(work)};
    enum mt_status status = mt_file_store_reserve(request->service->files, &room, work->name, err);
    if (!status)
        work->files = request->service->files;
    return status;
}

static enum mt_status parse(struct mt_file_translation *work, const struct mt_request *request,
                            struct mt_error *err)
{
    const struct mt_file_question *question = &work->question;
    const bool is_known = strcasecmp(question->source, "auto") != 0;
    const struct mt_document_options options = {
        .format = work->format,
        .retranslate = work->fields.retranslate,
        .target_lang = question->target,
        .source_lang = is_known ? question->source : NULL,
        .encoding = work->fields.encoding,
        .max_texts = (size_t)request->access.limits.max_text_chars,
        .confines = !MT_IS_SANITIZED,
    };
    return mt_document_create(question->file->bytes, question->file->length, &options,
                              &work->document, err);
}

enum mt_status mt_file_translation_create(struct mt_request *request,
                                          const struct mt_file_question *question,
                                          struct mt_file_translation **out, struct mt_error *err)
{
    const struct mt_service *service = request->service;
    struct mt_file_translation *work = calloc(1, sizeof *work);
    if (!work)
        return mt_fail_memory(err, sizeof *work, "a file's translation");
    *out = work;
    work->question = *question;
    work->fields = *question->fields;
    const struct mt_quality_options checks = mt_quality_options_of(service->settings);
    mt_warnings_init(&work->warnings, &checks, service->metrics);
    enum mt_status status = read_format(work, err);
    if (!status)
        status = mt_glossary_read(&request->params, (size_t)service->settings->max_glossary_terms,
                                  &work->glossary, err);
    if (!status)
        status = parse(work, request, err);
    if (!status)
        status = check_size(request, work, err);
    if (!status)
        status = read_languages(work, service, question->source, question->target, err);
    if (!status)
        status = mt_glossary_add_stored(&work->glossary, request, work->fields.glossary_id,
                                        question->source, work->languages.target, err);
    if (!status)
        status = mt_memory_use_begin(&work->memory, request, &work->fields, err);
    if (!status && work->languages.route.n > 1)
        status = mt_glossary_pass_on(&work->glossary, &work->passed_on, err);
    if (!status)
        status = reserve_room(request, work, err);
    return status;
}

static enum mt_status count_terms(struct mt_file_translation *work, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    size_t n = work->glossary.terms ? mt_document_translation_n_made(work->passages) : 0;
    for (size_t i = work->n_looked; i < n && !status; i++) {
        struct mt_passage *passage = mt_document_translation_passage(work->passages, i);
        status = work->n_steps > 0
                     ? mt_glossary_count_lost(&work->glossary, &work->passed_on, passage, err)
                     : mt_glossary_count(&work->glossary, passage, err);
    }
    return status;
}

static enum mt_status add_warnings(struct mt_file_translation *work, struct mt_error *err)
{
    const struct mt_model_route *route = &work->languages.route;
    const char *model = mt_served_model_info(route->steps[work->n_steps].served)->id;
    size_t n = mt_document_translation_n_made(work->passages);
    enum mt_status status = MT_OK;
    for (size_t i = work->n_looked; i < n && !status; i++)
        status = mt_warnings_add(&work->warnings, i, route->n > 1 ? model : NULL,
                                 mt_document_translation_passage(work->passages, i), err);
    return status;
}

static void count_recalled(struct mt_file_translation *work)
{
    size_t n = mt_document_translation_n_made(work->passages);
    for (size_t i = work->n_looked; i < n; i++)
        if (mt_passage_is_recalled(mt_document_translation_passage(work->passages, i))) {
            mt_document_set_recalled(work->document, i);
            work->n_recalled++;
        }
}

/* Renders the passages whose sentences have ended. The step ends with the last ones. */
static enum mt_status end_chunk(struct mt_file_translation *work, struct mt_error *err)
{
    enum mt_status status = count_terms(work, err);
    if (!status)
        status = add_warnings(work, err);
    count_recalled(work);
    if (!status)
        status = mt_document_translation_render(work->passages, err);
    if (status)
        return status;
    work->n_looked = mt_document_translation_n_made(work->passages);
    mt_document_translation_forget(work->passages);
    if (!work->is_made)
        return MT_OK;
    work->is_in_step = false;
    work->n_looked = 0;
    if (++work->n_steps < work->languages.route.n)
        status = mt_document_translation_end_step(work->passages, err);
    return status;
}

enum mt_status mt_file_translation_step(struct mt_file_translation *work, bool is_first,
                                        struct mt_served_model **out, struct mt_error *err)
{
    enum mt_status status = is_first ? MT_OK : end_chunk(work, err);
    if (!status && work->n_steps < work->languages.route.n)
        *out = work->languages.route.steps[work->n_steps].served;
    return status;
}

/* ---- the result ---- */

static enum mt_status write(struct mt_file_translation *work, struct mt_text *out,
                            struct mt_error *err)
{
    if (work->passages)
        return mt_document_translation_write(work->passages, out, &work->report, err);
    enum mt_status status = mt_document_write(work->document, NULL, out, &work->report, err);
    if (status)
        return status;
    out->length = 0; /* nothing was translated, so that the result is the file itself */
    mt_text_append(out, work->question.file->bytes, work->question.file->length);
    return mt_text_check(out, "a translated file", err);
}

enum mt_status mt_file_translation_store(struct mt_file_translation *work,
                                         const struct mt_request *request, struct mt_error *err)
{
    const struct mt_settings *settings = request->service->settings;
    struct mt_text translated = {0};
    char file_name[MT_FILE_NAME_BYTES];
    enum mt_status status = write(work, &translated, err);
    mt_file_name_translated(work->question.file_name, work->languages.source,
                            work->languages.target, extension_of(work), file_name);
    const struct mt_stored_file file = {
        .bytes = translated.bytes, .length = translated.length, .file_name = file_name};
    if (!status)
        status = mt_file_store_fill(work->files, work->name, &file, settings->files_lifetime_ms,
                                    (size_t)settings->max_files_bytes, err);
    mt_text_finish(&translated);
    return status;
}

static void write_left(struct mt_json_writer *writer, const struct mt_document_report *report,
                       size_t n_recalled)
{
    mt_json_member(writer, "encoding", report->encoding);
    mt_json_member_count(writer, "from_memory", n_recalled);
    mt_json_member_array(writer, "left");
    for (size_t i = 0; i < mt_size_min(report->n_left, MT_DOCUMENT_LISTED); i++) {
        mt_json_begin_object(writer);
        mt_json_member(writer, "reason", report->left[i].reason);
        mt_json_member_count(writer, "text", report->left[i].text);
        mt_json_end_object(writer);
    }
    mt_json_end_array(writer);
    if (report->n_translated > 0)
        return;
    mt_json_member(writer, "message",
                   report->n_texts == 0 ? "Nothing was translated: the file has no text."
                                        : "Nothing was translated: left says why.");
}

enum mt_status mt_file_translation_write_report(struct mt_file_translation *work, const char *url,
                                                struct mt_json_writer *writer, struct mt_error *err)
{
    const struct mt_model_route *route = &work->languages.route;
    write_left(writer, &work->report, work->n_recalled);
    if (route->n > 1) {
        mt_json_key(writer, "models");
        mt_model_route_write_models(writer, route);
    }
    if (work->glossary.terms) {
        mt_json_key(writer, "terms");
        mt_glossary_write(&work->glossary, writer);
    }
    mt_json_member_count(writer, "texts", work->report.n_texts);
    mt_json_member_count(writer, "translated", work->report.n_translated);
    if (url)
        mt_json_member(writer, "translatedFileUrl", url);
    if (route->n > 1) {
        mt_json_key(writer, "via");
        mt_model_route_write_via(writer, route);
    }
    mt_warnings_write(&work->warnings, writer);
    return mt_text_check(&work->warnings.list, "the warnings", err);
}

void mt_file_translation_look(const struct mt_file_translation *work, struct mt_file_progress *out)
{
    size_t n_texts = mt_document_n_texts(work->document);
    *out = (struct mt_file_progress){
        .n_chars = work->n_chars,
        .n_done = n_texts * work->n_steps + work->n_looked,
        .n_all = n_texts * work->languages.route.n,
        .is_identity = work->languages.is_identity,
        .source = work->languages.source,
        .name = work->name,
    };
}

void mt_file_translation_destroy(struct mt_file_translation *work)
{
    if (!work)
        return;
    if (work->files)
        mt_file_store_cancel(work->files, work->name);
    mt_document_translation_destroy(work->passages);
    mt_document_destroy(work->document);
    mt_glossary_finish(&work->glossary);
    mt_glossary_finish(&work->passed_on);
    mt_memory_use_finish(&work->memory);
    mt_warnings_finish(&work->warnings);
    free(work);
}
