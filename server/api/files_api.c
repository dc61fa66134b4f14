#include "server/api/files_api.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/sanitized.h"
#include "base/size.h"
#include "config/settings.h"
#include "server/api/decoding_params.h"
#include "server/text/detect.h"
#include "server/documents/document_translation.h"
#include "server/service/file_names.h"
#include "server/service/file_store.h"
#include "server/api/glossary.h"
#include "server/api/languages_api.h"
#include "server/api/warnings.h"
#include "server/models/served_model.h"
#include "server/passages/passage.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DOWNLOADS "/download_file/"
/* A file's sentences are decoded so many at a time: enough to keep a batch full, and few enough that
 * a long file does not fill the queue. */
#define CHUNK_SENTENCES 1024

struct state {
    const struct mt_params_file *file; /* the request's */
    enum mt_document_format format;
    struct mt_served_model *only;      /* the model that the request names; NULL: any */
    struct mt_language_pair languages; /* the source, where it was detected, too */
    size_t n_chars;                    /* of all words */
    size_t n_steps;                    /* of languages.route, that have been taken */
    bool is_in_step, is_made;          /* the one being taken has begun; nothing is left to make */
    size_t n_looked;                   /* texts of it that are counted and warned of */
    struct mt_text base_url;
    struct mt_file_store *files;     /* where name is reserved; NULL: it is not */
    char name[MT_STORED_NAME_BYTES]; /* of the translated file */
    struct mt_fields fields;
    enum mt_split split;
    struct mt_proofreader reader; /* of the step that is being taken */
    struct mt_warnings warnings;
    struct mt_glossary glossary;
    struct mt_glossary passed_on; /* its terms as later steps meet them */
    struct mt_document *document;
    struct mt_document_translation *translation; /* NULL: source and target are one language */
};

static enum mt_status refuse_disabled(struct mt_request *request)
{
    mt_reply_error(&request->reply, 403, "Files translation are disabled on this server.");
    return MT_OK;
}

/* ---- reading the request ---- */

/* A model that is named may say by itself what it translates. */
static enum mt_status read_code(const struct state *state, const struct mt_params *params,
                                const char *name, const char **out, struct mt_error *err)
{
    *out = "";
    enum mt_status status = mt_params_string(params, name, out, NULL, err);
    if (!status && (*out)[0] == '\0' && !state->only)
        return mt_fail(err, MT_INVALID, "Invalid request: missing %s parameter", name);
    return status;
}

static enum mt_status read_file(struct state *state, const struct mt_request *request,
                                struct mt_error *err)
{
    state->file = mt_params_file(&request->params, "file");
    if (!state->file)
        return mt_fail(err, MT_INVALID, "Invalid request: missing file parameter");
    size_t limit = (size_t)request->service->settings->max_document_bytes;
    if (state->file->length > limit)
        return mt_fail(err, MT_LIMIT, "the file has %zu bytes, at most %zu are allowed",
                       state->file->length, limit);
    return MT_OK;
}

static enum mt_status read_format(struct state *state, struct mt_error *err)
{
    const char *file_name = state->file->file_name;
    if (file_name[0] == '\0')
        return mt_fail(err, MT_INVALID, "Invalid request: empty file");
    if (mt_document_format_of_file(file_name, &state->format))
        return MT_OK;
    const char *dot = strrchr(file_name, '.');
    char known[MT_DOCUMENT_LIST_BYTES];
    if (!dot)
        dot = "";
    return mt_fail(
        err, MT_INVALID, "Invalid request: file format not supported: \"%.*s\", expected %s",
        (int)mt_utf8_valid_prefix(dot, strnlen(dot, 20)), dot, mt_document_list_extensions(known));
}

static const char *extension_of(const struct state *state)
{
    return mt_document_extension_of_file(state->file->file_name, state->format);
}

/* In the order in which LibreTranslate complains. */
static enum mt_status read_request(struct state *state, const struct mt_request *request,
                                   const char **source, const char **target,
                                   struct mt_document_options *document, struct mt_error *err)
{
    const struct mt_params *params = &request->params;
    enum mt_status status = read_file(state, request, err);
    if (!status)
        status = mt_languages_read_model(request, &state->only, err);
    if (!status)
        status = read_code(state, params, "source", source, err);
    if (!status)
        status = read_code(state, params, "target", target, err);
    if (!status)
        status = read_format(state, err);
    if (!status)
        status = mt_fields_read(params, MT_FIELDS_OF_FILE, request->service->settings,
                                &state->fields, err);
    if (!status)
        status = mt_glossary_read(params, (size_t)request->service->settings->max_glossary_terms,
                                  &state->glossary, err);
    if (!status)
        status = mt_files_base_url(
            request->service->settings->public_url, mt_request_header(request, "Host"),
            mt_request_header(request, "X-Forwarded-Proto"), &state->base_url, err);
    document->format = state->format;
    document->retranslate = state->fields.retranslate;
    document->encoding = state->fields.encoding;
    /* The table has all names. */
    if (!status)
        (void)mt_split_parse(state->fields.split_sentences, &state->split);
    return status;
}

/* By the beginning of all that is to be translated. */
static enum mt_status detect_language(struct state *state, const struct mt_service *service,
                                      struct mt_error *err)
{
    struct mt_detect_languages languages;
    struct mt_detection detection;
    struct mt_text sample = {0};
    bool is_html = false;
    mt_text_append(&sample, "", 0);
    for (size_t i = 0; i < mt_document_n_texts(state->document); i++) {
        struct mt_document_text text = mt_document_text(state->document, i);
        is_html = text.read != mt_read_plain;
        mt_text_append(&sample, text.bytes, text.length);
        mt_text_append(&sample, "\n", 1);
        if (sample.length > MT_DETECT_MAX_BYTES)
            break;
    }
    mt_languages_to_detect(service, state->only, state->languages.target, &languages);
    enum mt_status status = mt_text_check(&sample, "a file's text", err);
    if (!status)
        status = mt_detect(sample.bytes, sample.length, is_html, &languages, &detection, err);
    mt_text_finish(&sample);
    if (status)
        return status;
    mt_detection_settle(&detection);
    return mt_languages_settle_source(service, state->only, &detection, &state->languages, err);
}

static enum mt_status read_languages(struct state *state, const struct mt_service *service,
                                     const char *source, const char *target, struct mt_error *err)
{
    if (strcasecmp(source, "auto") != 0)
        return mt_languages_check(service, state->only, source, target, &state->languages, err);
    enum mt_status status =
        mt_languages_check_target(service, state->only, target, &state->languages, err);
    return status ? status : detect_language(state, service, err);
}

/* ---- the work ---- */

/* All words of a file count as one text. */
static enum mt_status check_size(struct mt_request *request, struct state *state,
                                 struct mt_error *err)
{
    const struct mt_coded_options reading = {.max_tags =
                                                 (size_t)request->service->settings->max_html_tags};
    int64_t limit = request->access.limits.max_text_chars;
    enum mt_status status =
        mt_document_count_chars(state->document, &reading, &state->n_chars, err);
    if (status)
        return status;
    if (state->n_chars > (size_t)limit)
        return mt_fail(err, MT_INVALID, "Invalid request: request (%zu) exceeds text limit (%lld)",
                       state->n_chars, (long long)limit);
    return mt_request_take_chars(request, state->n_chars, err);
}

static enum mt_status add_sentence(void *context, struct mt_sentence *sentence,
                                   struct mt_error *err)
{
    return mt_request_add_sentence(context, sentence, err);
}

static enum mt_status describe_decoding(struct mt_request *request,
                                        struct mt_translation_options *out, struct mt_error *err)
{
    const struct state *state = request->state;
    const struct mt_model_route_step *step = &state->languages.route.steps[state->n_steps];
    *out = (struct mt_translation_options){
        .decoding = {.beam_size = mt_decoding_beam_size(request->service, request->model, 0),
                     .skip_scores = true},
        .split = state->split,
        .max_sentences = SIZE_MAX, /* what a request may have waiting is the limit */
        .eases_source = state->fields.post_edit,
        .splitter = request->service->splitter,
        .source_lang = state->languages.source,
        .target_lang = step->target ? step->target->code : NULL,
        .target_code = step->target ? step->target->token : NULL,
        .source_code = step->source ? step->source->token : NULL,
        .admit = mt_request_admit,
        .admit_context = request,
    };
    if (state->n_steps > 0)
        out->source_lang = step->source->code;
    return mt_decoding_params_read(request, &state->fields, &out->decoding, err);
}

static enum mt_status begin_step(struct mt_request *request, struct mt_error *err)
{
    struct state *state = request->state;
    struct mt_translation_options options;
    const struct mt_model_language *target = state->languages.route.steps[state->n_steps].target;
    bool is_last = state->n_steps + 1 == state->languages.route.n;
    const char *target_lang = target ? target->code : NULL;
    if (is_last && state->languages.target[0] != '\0')
        target_lang = state->languages.target;
    const struct mt_document_step step = {
        .service = request->service,
        .model = request->model,
        .options = &options,
        .terms = state->n_steps > 0 ? state->passed_on.terms : state->glossary.terms,
        .reader = &state->reader,
        .repairs_numbers = state->fields.repair_numbers,
    };
    enum mt_status status = describe_decoding(request, &options, err);
    if (!status)
        status = mt_proofreader_init(&state->reader, request->service->number_words,
                                     options.source_lang, target_lang, err);
    if (!status && !state->translation)
        status = mt_document_translation_create(state->document, &state->translation, err);
    if (!status)
        status = mt_document_translation_begin_step(state->translation, &step, err);
    state->is_in_step = !status;
    return status;
}

/* The next sentences, for which the queue has room beside others. */
static enum mt_status begin(struct mt_request *request, struct mt_error *err)
{
    struct state *state = request->state;
    size_t half_queue = (size_t)request->service->settings->max_queued_sentences / 2;
    size_t n_sentences = mt_size_min(CHUNK_SENTENCES, mt_size_max(half_queue, 1));
    enum mt_status status = state->is_in_step ? MT_OK : begin_step(request, err);
    if (!status)
        status =
            mt_document_translation_make(state->translation, n_sentences, &state->is_made, err);
    if (!status)
        status = mt_document_translation_list(state->translation, add_sentence, request, err);
    return status;
}

/* A translation into another script has twice the bytes of its source, and a catalogue gets one
 * beside each text: at most BYTES_OF_A_CHAR more for each character of its words. */
#define BYTES_OF_A_CHAR 8
static enum mt_status reserve_room(const struct mt_request *request, struct state *state,
                                   struct mt_error *err)
{
    size_t length = state->file->length;
    size_t limit_bytes = (size_t)request->service->settings->max_files_bytes;
    size_t grown = length + mt_size_min(length, BYTES_OF_A_CHAR * state->n_chars);
    const struct mt_file_room room = {.client = request->access.client,
                                      .length =
                                          mt_size_max(length, mt_size_min(grown, limit_bytes)),
                                      .limit_bytes = limit_bytes,
                                      .extension = extension_of(state)};
    enum mt_status status = mt_file_store_reserve(request->service->files, &room, state->name, err);
    if (!status)
        state->files = request->service->files;
    return status;
}

static enum mt_status prepare(struct mt_request *request, struct mt_error *err)
{
    const struct mt_service *service = request->service;
    struct mt_document_options options = {
        .max_texts = (size_t)request->access.limits.max_text_chars,
        .confines = !MT_IS_SANITIZED,
    };
    const char *source, *target;
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return mt_fail_memory(err, sizeof *state, "a request");
    request->state = state;
    const struct mt_guard_options guards = mt_guard_options_of(service->settings);
    mt_warnings_init(&state->warnings, &guards, service->metrics);
    enum mt_status status = read_request(state, request, &source, &target, &options, err);
    if (!status) {
        options.target_lang = target;
        options.source_lang = strcasecmp(source, "auto") != 0 ? source : NULL;
    }
    if (!status)
        status = mt_document_create(state->file->bytes, state->file->length, &options,
                                    &state->document, err);
    if (!status)
        status = check_size(request, state, err);
    if (!status)
        status = read_languages(state, service, source, target, err);
    if (!status && state->languages.route.n > 1)
        status = mt_glossary_pass_on(&state->glossary, &state->passed_on, err);
    if (!status)
        status = reserve_room(request, state, err);
    return status;
}

static enum mt_status count_terms(struct state *state, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    size_t n = state->glossary.terms ? mt_document_translation_n_made(state->translation) : 0;
    for (size_t i = state->n_looked; i < n && !status; i++) {
        struct mt_passage *passage = mt_document_translation_passage(state->translation, i);
        status = state->n_steps > 0
                     ? mt_glossary_count_lost(&state->glossary, &state->passed_on, passage, err)
                     : mt_glossary_count(&state->glossary, passage, err);
    }
    return status;
}

static enum mt_status add_warnings(struct state *state, struct mt_error *err)
{
    const struct mt_model_route *route = &state->languages.route;
    const char *model = mt_served_model_info(route->steps[state->n_steps].served)->id;
    size_t n = mt_document_translation_n_made(state->translation);
    enum mt_status status = MT_OK;
    for (size_t i = state->n_looked; i < n && !status; i++)
        status = mt_warnings_add(&state->warnings, i, route->n > 1 ? model : NULL,
                                 mt_document_translation_passage(state->translation, i), err);
    return status;
}

/* Of sentences that have ended; the step ends with the last ones. */
static enum mt_status end_chunk(struct state *state, struct mt_error *err)
{
    enum mt_status status = count_terms(state, err);
    if (!status)
        status = add_warnings(state, err);
    if (!status)
        status = mt_document_translation_render(state->translation, err);
    if (status)
        return status;
    state->n_looked = mt_document_translation_n_made(state->translation);
    mt_document_translation_forget(state->translation);
    if (!state->is_made)
        return MT_OK;
    state->is_in_step = false;
    state->n_looked = 0;
    if (++state->n_steps < state->languages.route.n)
        status = mt_document_translation_end_step(state->translation, err);
    return status;
}

static enum mt_status choose(struct mt_request *request, struct mt_served_model **out,
                             struct mt_error *err)
{
    if (!request->service->settings->files_translation)
        return refuse_disabled(request);
    enum mt_status status =
        !request->state ? prepare(request, err) : end_chunk(request->state, err);
    const struct state *state = request->state;
    if (!status && state->n_steps < state->languages.route.n)
        *out = state->languages.route.steps[state->n_steps].served;
    return status;
}

/* ---- the reply ---- */

static enum mt_status store(const struct mt_request *request, const struct mt_text *translated,
                            struct mt_error *err)
{
    const struct mt_settings *settings = request->service->settings;
    const struct state *state = request->state;
    char file_name[MT_FILE_NAME_BYTES];
    mt_file_name_translated(state->file->file_name, state->languages.source,
                            state->languages.target, extension_of(state), file_name);
    const struct mt_stored_file file = {
        .bytes = translated->bytes, .length = translated->length, .file_name = file_name};
    return mt_file_store_fill(state->files, state->name, &file, settings->files_lifetime_ms,
                              (size_t)settings->max_files_bytes, err);
}

static void write_terms(struct mt_json_writer *writer, const struct state *state)
{
    mt_json_key(writer, "terms");
    mt_glossary_write(&state->glossary, writer);
}

static void write_count(struct mt_json_writer *writer, const char *key, size_t n)
{
    mt_json_key(writer, key);
    mt_json_integer(writer, (int64_t)n);
}

static void write_left(struct mt_json_writer *writer, const struct mt_document_report *report)
{
    mt_json_key(writer, "encoding");
    mt_json_string_z(writer, report->encoding);
    mt_json_key(writer, "left");
    mt_json_begin_array(writer);
    for (size_t i = 0; i < mt_size_min(report->n_left, MT_DOCUMENT_LISTED); i++) {
        mt_json_begin_object(writer);
        mt_json_key(writer, "reason");
        mt_json_string_z(writer, report->left[i].reason);
        write_count(writer, "text", report->left[i].text);
        mt_json_end_object(writer);
    }
    mt_json_end_array(writer);
    if (report->n_translated > 0)
        return;
    mt_json_key(writer, "message");
    mt_json_string_z(writer, report->n_texts == 0 ? "Nothing was translated: the file has no text."
                                                  : "Nothing was translated: left says why.");
}

static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    struct state *state = request->state;
    struct mt_text translated = {0};
    struct mt_document_report report;
    enum mt_status status =
        state->translation
            ? mt_document_translation_write(state->translation, &translated, &report, err)
            : mt_document_write(state->document, NULL, &translated, &report, err);
    if (!status && !state->translation) {
        translated.length = 0; /* nothing is to be done: the file itself is the answer */
        mt_text_append(&translated, state->file->bytes, state->file->length);
        status = mt_text_check(&translated, "a translated file", err);
    }
    if (!status)
        status = store(request, &translated, err);
    mt_text_finish(&translated);
    if (status)
        return status;
    mt_text_append_string(&state->base_url, DOWNLOADS);
    mt_text_append_string(&state->base_url, state->name);
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    write_left(&writer, &report);
    if (state->languages.route.n > 1) {
        mt_json_key(&writer, "models");
        mt_model_route_write_models(&writer, &state->languages.route);
    }
    if (state->glossary.terms)
        write_terms(&writer, state);
    write_count(&writer, "texts", report.n_texts);
    write_count(&writer, "translated", report.n_translated);
    mt_json_key(&writer, "translatedFileUrl");
    mt_json_string(&writer, state->base_url.bytes, state->base_url.length);
    if (state->languages.route.n > 1) {
        mt_json_key(&writer, "via");
        mt_model_route_write_via(&writer, &state->languages.route);
    }
    mt_warnings_write(&state->warnings, &writer);
    mt_json_end_object(&writer);
    status = mt_text_check(&state->base_url, "a link", err);
    if (!status)
        status = mt_text_check(&state->warnings.list, "the reply", err);
    return status ? status : mt_text_check(&request->reply.body, "the reply", err);
}

static void release(struct mt_request *request)
{
    struct state *state = request->state;
    if (!state)
        return;
    if (state->files)
        mt_file_store_cancel(state->files, state->name);
    mt_document_translation_destroy(state->translation);
    mt_document_destroy(state->document);
    mt_glossary_finish(&state->glossary);
    mt_glossary_finish(&state->passed_on);
    mt_warnings_finish(&state->warnings);
    mt_text_finish(&state->base_url);
    free(state);
}

const struct mt_handler mt_translate_file_handler = {
    .choose = choose, .begin = begin, .finish = finish, .release = release};

/* ---- fetching ---- */

/* Nobody's page: a browser saves it, and would run nothing in it. */
static void add_headers(struct mt_reply *reply, const struct mt_text *disposition)
{
    mt_reply_header(reply, "Content-Disposition", disposition->bytes);
    mt_reply_header(reply, "Content-Security-Policy", "default-src 'none'; sandbox");
    mt_reply_header(reply, "Cache-Control", "private, no-store");
}

static enum mt_status download(struct mt_request *request, struct mt_error *err)
{
    struct mt_text file_name = {0}, disposition = {0};
    if (!request->service->settings->files_translation)
        return refuse_disabled(request);
    const char *name = request->path + strlen(DOWNLOADS);
    enum mt_document_format format;
    enum mt_status status =
        mt_file_store_get(request->service->files, name, &request->reply.body, &file_name, err);
    if (!status) {
        const struct mt_text *body = &request->reply.body;
        bool is_known = mt_document_format_of_file(name, &format);
        const char *type = is_known ? mt_document_content_type(format) : "";
        bool is_utf8 = mt_utf8_valid_prefix(body->bytes, body->length) == body->length;
        bool is_as_said = is_known && (is_utf8 || !strstr(type, "charset="));
        request->reply.content_type = is_as_said ? type : "application/octet-stream";
        mt_file_write_disposition(file_name.bytes, &disposition);
        status = mt_text_check(&disposition, "a file's name", err);
    }
    if (!status)
        add_headers(&request->reply, &disposition);
    mt_text_finish(&file_name);
    mt_text_finish(&disposition);
    return status;
}

const struct mt_handler mt_download_file_handler = {.finish = download};

/* ---- settings ---- */

void mt_files_write_extensions(struct mt_json_writer *writer, const struct mt_settings *settings)
{
    mt_json_begin_array(writer);
    for (size_t i = 0; i < MT_N_DOCUMENT_FORMATS && settings->files_translation; i++)
        mt_json_string_z(writer, mt_document_extension((enum mt_document_format)i));
    mt_json_end_array(writer);
}
