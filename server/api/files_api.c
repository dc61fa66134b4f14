#include "server/api/files_api.h"

#include "base/json.h"
#include "base/text.h"
#include "config/settings.h"
#include "server/api/file_translation.h"
#include "server/api/languages_api.h"
#include "server/documents/document.h"
#include "server/service/file_names.h"
#include "server/service/file_store.h"

#include <stdlib.h>
#include <string.h>

#define DOWNLOADS "/download_file/"
/* Number of a file's sentences that are decoded at a time: enough to keep a batch full, and few
 * enough that a long file does not fill the queue. */
#define CHUNK_SENTENCES 1024

struct state {
    struct mt_text base_url;
    struct mt_file_translation *work;
};

enum mt_status mt_files_refuse_disabled(struct mt_request *request)
{
    mt_reply_error(&request->reply, 403, "Files translation are disabled on this server.");
    return MT_OK;
}

/* ---- translating ---- */

/* A language may be missing where the request names a model with only one on that side. */
static enum mt_status read_code(const struct mt_params *params, const char *name,
                                const struct mt_served_model *only, const char **out,
                                struct mt_error *err)
{
    *out = "";
    enum mt_status status = mt_params_string(params, name, out, NULL, err);
    if (!status && (*out)[0] == '\0' && !only)
        return mt_fail(err, MT_INVALID, "Invalid request: missing %s parameter", name);
    return status;
}

enum mt_status mt_files_read_file(const struct mt_request *request,
                                  const struct mt_params_file **out, struct mt_error *err)
{
    size_t limit = (size_t)request->service->settings->max_document_bytes;
    *out = mt_params_file(&request->params, "file");
    if (!*out)
        return mt_fail(err, MT_INVALID, "Invalid request: missing file parameter");
    if ((*out)->length > limit)
        return mt_fail(err, MT_LIMIT, "the file has %zu bytes, at most %zu are allowed",
                       (*out)->length, limit);
    return MT_OK;
}

/* Reads the fields in the order in which LibreTranslate reports their errors. */
static enum mt_status read_question(const struct mt_request *request,
                                    struct mt_file_question *question, struct mt_fields *fields,
                                    struct mt_error *err)
{
    const struct mt_params *params = &request->params;
    enum mt_status status = mt_files_read_file(request, &question->file, err);
    if (!status)
        status = mt_languages_read_model(request, &question->only, err);
    if (!status)
        status = read_code(params, "source", question->only, &question->source, err);
    if (!status)
        status = read_code(params, "target", question->only, &question->target, err);
    if (!status)
        status = mt_fields_read(params, MT_FIELDS_OF_FILE, request->service->settings, fields, err);
    if (status)
        return status;
    question->file_name = question->file->file_name;
    question->fields = fields;
    /* always succeeds, since the field's table has all names */
    (void)mt_split_parse(fields->split_sentences, &question->split);
    return MT_OK;
}

static enum mt_status prepare(struct mt_request *request, struct mt_error *err)
{
    struct mt_file_question question = {.chunk_sentences = CHUNK_SENTENCES};
    struct mt_fields fields;
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return mt_fail_memory(err, sizeof *state, "a request");
    request->state = state;
    enum mt_status status = read_question(request, &question, &fields, err);
    if (!status)
        status = mt_files_base_url(
            request->service->settings->public_url, mt_request_header(request, "Host"),
            mt_request_header(request, "X-Forwarded-Proto"), &state->base_url, err);
    return status ? status : mt_file_translation_create(request, &question, &state->work, err);
}

static enum mt_status choose(struct mt_request *request, struct mt_served_model **out,
                             struct mt_error *err)
{
    bool is_first = !request->state;
    if (!request->service->settings->files_translation)
        return mt_files_refuse_disabled(request);
    enum mt_status status = is_first ? prepare(request, err) : MT_OK;
    const struct state *state = request->state;
    return status ? status : mt_file_translation_step(state->work, is_first, out, err);
}

static enum mt_status begin(struct mt_request *request, struct mt_error *err)
{
    const struct state *state = request->state;
    return mt_file_translation_begin(state->work, request, err);
}

static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    struct state *state = request->state;
    struct mt_file_progress progress;
    enum mt_status status = mt_file_translation_store(state->work, request, err);
    if (status)
        return status;
    mt_file_translation_look(state->work, &progress);
    mt_text_append_string(&state->base_url, DOWNLOADS);
    mt_text_append_string(&state->base_url, progress.name);
    status = mt_text_check(&state->base_url, "a link", err);
    if (status)
        return status;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    status = mt_file_translation_write_report(state->work, state->base_url.bytes, &writer, err);
    mt_json_end_object(&writer);
    return status ? status : mt_text_check(&request->reply.body, "the reply", err);
}

static void release(struct mt_request *request)
{
    struct state *state = request->state;
    if (!state)
        return;
    mt_file_translation_destroy(state->work);
    mt_text_finish(&state->base_url);
    free(state);
}

const struct mt_handler mt_translate_file_handler = {
    .choose = choose, .begin = begin, .finish = finish, .release = release};

/* ---- downloading ---- */

/* The headers make browsers save the file, and run no scripts in it, because anybody may have
 * written it. */
static void add_headers(struct mt_reply *reply, const struct mt_text *disposition)
{
    mt_reply_header(reply, "Content-Disposition", disposition->bytes);
    mt_reply_header(reply, "Content-Security-Policy", "default-src 'none'; sandbox");
    mt_reply_header(reply, "Cache-Control", "private, no-store");
}

enum mt_status mt_files_send(struct mt_request *request, const char *name, struct mt_error *err)
{
    struct mt_text file_name = {0}, disposition = {0};
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

static enum mt_status download(struct mt_request *request, struct mt_error *err)
{
    if (!request->service->settings->files_translation)
        return mt_files_refuse_disabled(request);
    return mt_files_send(request, request->path + strlen(DOWNLOADS), err);
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
