#include "server/api/document_api.h"

#include "base/json.h"
#include "config/settings.h"
#include "server/api/deepl_api.h"
#include "server/api/file_translation.h"
#include "server/api/files_api.h"
#include "server/api/languages_api.h"
#include "server/documents/document.h"
#include "server/service/document_jobs.h"
#include "server/service/file_store.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cjson/cJSON.h>

#define FOLDER "/v2/document/"
#define RESULT "/result"
/* Fewer sentences at a time than where a client waits, because the progress is updated, and a
 * deleted document stops, only between two of these chunks. */
#define CHUNK_SENTENCES 256

struct state {
    struct mt_document_jobs *jobs;
    struct mt_document_job *job; /* NULL: it does not exist, or not yet */
    struct mt_file_translation *work;
    int64_t lifetime_ms;
    bool is_stored;
};

/* ---- POST /v2/document ---- */

/* DeepL's clients look for these words in the message. */
static enum mt_status refuse_name(const char *name, const struct mt_params_file *file,
                                  struct mt_error *err)
{
    const char *dot = strrchr(name, '.');
    char known[MT_DOCUMENT_LIST_BYTES];
    enum mt_status status = mt_document_check_kind(file->bytes, file->length, err);
    if (status)
        return status;
    return mt_fail(err, MT_INVALID, "Invalid file extension: \"%.*s\", expected %s",
                   (int)mt_utf8_valid_prefix(dot ? dot : "", strnlen(dot ? dot : "", 20)),
                   dot ? dot : "", mt_document_list_extensions(known));
}

static enum mt_status read_name(const struct mt_fields *fields, struct mt_file_question *question,
                                struct mt_error *err)
{
    const char *name = fields->filename[0] != '\0' ? fields->filename : question->file->file_name;
    enum mt_document_format format;
    question->file_name = name;
    if (!mt_document_format_of_file(name, &format))
        return refuse_name(name, question->file, err);
    bool is_other = fields->output_format[0] != '\0' &&
                    strcasecmp(fields->output_format, mt_document_extension(format) + 1) != 0;
    return is_other ? mt_deepl_refuse_value("output_format", err) : MT_OK;
}

static enum mt_status read_question(const struct mt_request *request,
                                    struct mt_file_question *question, struct mt_fields *fields,
                                    struct mt_error *err)
{
    const struct mt_params *params = &request->params;
    enum mt_status status =
        mt_fields_read(params, MT_FIELDS_OF_DOCUMENT, request->service->settings, fields, err);
    if (!status)
        status = mt_deepl_refuse_unsupported(params, fields, err);
    if (!status)
        status = mt_files_read_file(request, &question->file, err);
    if (!status)
        status = mt_languages_read_model(request, &question->only, err);
    if (!status)
        status = read_name(fields, question, err);
    if (!status)
        status = mt_deepl_read_languages(request->service, fields, &question->source,
                                         &question->target, err);
    question->fields = fields;
    if (!status)
        /* always succeeds, since the field's table has all names */
        (void)mt_split_parse(fields->split_sentences, &question->split);
    return status;
}

static enum mt_status begin_job(struct mt_request *request, struct state *state,
                                struct mt_error *err)
{
    const struct mt_settings *settings = request->service->settings;
    struct mt_file_progress progress;
    mt_file_translation_look(state->work, &progress);
    if (progress.is_identity)
        return mt_fail(err, MT_INVALID, "Source and target language are equal.");
    return mt_document_jobs_begin(state->jobs, (size_t)settings->max_document_jobs,
                                  progress.n_chars, &state->job, err);
}

static enum mt_status answer(struct mt_request *request, const struct state *state,
                             struct mt_error *err)
{
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    mt_json_member(&writer, "document_id", mt_document_job_id(state->job));
    mt_json_member(&writer, "document_key", mt_document_job_key(state->job));
    mt_json_end_object(&writer);
    request->outlives_ns = request->service->settings->document_timeout_ms * INT64_C(1000000);
    return mt_text_check(&request->reply.body, "the reply", err);
}

static enum mt_status prepare(struct mt_request *request, struct mt_error *err)
{
    struct mt_file_question question = {.chunk_sentences = CHUNK_SENTENCES};
    struct mt_fields fields;
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return mt_fail_memory(err, sizeof *state, "a request");
    state->jobs = request->service->documents;
    state->lifetime_ms = request->service->settings->files_lifetime_ms;
    request->state = state;
    enum mt_status status = read_question(request, &question, &fields, err);
    if (!status)
        status = mt_file_translation_create(request, &question, &state->work, err);
    if (!status)
        status = begin_job(request, state, err);
    return status ? status : answer(request, state, err);
}

static enum mt_status advance(const struct state *state, struct mt_error *err)
{
    struct mt_file_progress progress;
    mt_file_translation_look(state->work, &progress);
    bool goes_on =
        mt_document_jobs_advance(state->jobs, state->job, progress.n_done, progress.n_all);
    return goes_on ? MT_OK : mt_fail(err, MT_CANCELLED, "the document was deleted");
}

static enum mt_status choose(struct mt_request *request, struct mt_served_model **out,
                             struct mt_error *err)
{
    bool is_first = !request->state;
    if (!request->service->settings->files_translation)
        return mt_files_refuse_disabled(request);
    enum mt_status status = is_first ? prepare(request, err) : MT_OK;
    const struct state *state = request->state;
    if (!status)
        status = mt_file_translation_step(state->work, is_first, out, err);
    return status || is_first ? status : advance(state, err);
}

static enum mt_status begin(struct mt_request *request, struct mt_error *err)
{
    const struct state *state = request->state;
    enum mt_status status = advance(state, err);
    return status ? status : mt_file_translation_begin(state->work, request, err);
}

/* Writes the report as the reply's body, from where release moves it into the job. */
static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    struct state *state = request->state;
    struct mt_json_writer writer;
    enum mt_status status = mt_file_translation_store(state->work, request, err);
    if (status)
        return status;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    status = mt_file_translation_write_report(state->work, NULL, &writer, err);
    mt_json_end_object(&writer);
    if (!status)
        status = mt_text_check(&request->reply.body, "the report", err);
    state->is_stored = !status;
    return status;
}

/* Ends the job with the report, or with the message of a reply that failed. */
static void end_job(struct state *state, struct mt_text *body)
{
    struct mt_file_progress progress;
    cJSON *reply = NULL;
    struct mt_document_job_end end = {.report = "", .lifetime_ms = state->lifetime_ms};
    mt_file_translation_look(state->work, &progress);
    end.file_name = progress.name;
    if (state->is_stored && body->length > 2) {
        body->bytes[body->length - 1] = '\0'; /* the closing brace of the report */
        end.report = body->bytes + 1;
    } else if (!state->is_stored) {
        reply = body->length > 0 ? cJSON_Parse(body->bytes) : NULL;
        const char *message = cJSON_GetStringValue(cJSON_GetObjectItem(reply, "message"));
        end.failure = message ? message : "out of memory";
    }
    mt_document_jobs_end(state->jobs, state->job, &end);
    cJSON_Delete(reply);
}

static void release(struct mt_request *request)
{
    struct state *state = request->state;
    if (!state)
        return;
    if (state->job)
        end_job(state, &request->reply.body);
    mt_file_translation_destroy(state->work);
    free(state);
}

const struct mt_handler mt_document_handler = {
    .choose = choose, .begin = begin, .finish = finish, .release = release};

/* ---- status, result and deletion ---- */

struct question {
    char id[MT_DOCUMENT_ID_BYTES];
    const char *key;
    bool is_result;
};

static enum mt_status read_id(const struct mt_request *request, struct question *out,
                              struct mt_error *err)
{
    const char *rest = request->path + strlen(FOLDER);
    size_t length = strcspn(rest, "/");
    struct mt_fields fields;
    out->is_result = strcmp(rest + length, RESULT) == 0;
    if (rest[length] != '\0' && !out->is_result)
        return mt_fail(err, MT_NOT_FOUND, "The requested URL was not found on the server.");
    out->id[0] = '\0'; /* an id that no document has */
    if (length < sizeof out->id) {
        memcpy(out->id, rest, length);
        out->id[length] = '\0';
    }
    enum mt_status status = mt_fields_read(&request->params, MT_FIELDS_OF_DOCUMENT_STATUS,
                                           request->service->settings, &fields, err);
    out->key = status ? "" : fields.document_key;
    return status;
}

static enum mt_status write_status(struct mt_request *request, const struct question *question,
                                   const struct mt_document_job_status *job, struct mt_error *err)
{
    static const char *const names[] = {[MT_DOCUMENT_QUEUED] = "queued",
                                        [MT_DOCUMENT_TRANSLATING] = "translating",
                                        [MT_DOCUMENT_DONE] = "done",
                                        [MT_DOCUMENT_FAILED] = "error"};
    const char *failure = job->failure.length > 0 ? job->failure.bytes : "out of memory";
    struct mt_text *body = &request->reply.body;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, body);
    mt_json_begin_object(&writer);
    if (job->state == MT_DOCUMENT_DONE)
        mt_json_member_count(&writer, "billed_characters", job->n_chars);
    mt_json_member(&writer, "document_id", question->id);
    if (job->state == MT_DOCUMENT_FAILED) {
        mt_json_member(&writer, "error_message", failure);
        /* older clients know the message by this name */
        mt_json_member(&writer, "message", failure);
    }
    if (job->state == MT_DOCUMENT_TRANSLATING)
        mt_json_member_number(&writer, "progress", job->progress, 4);
    if (job->seconds_remaining >= 0) {
        mt_json_member_integer(&writer, "seconds_remaining", job->seconds_remaining);
    }
    mt_json_member(&writer, "status", names[job->state]);
    if (job->report.length > 0)
        mt_text_appendf(body, ",%s", job->report.bytes);
    mt_json_end_object(&writer);
    return mt_text_check(body, "the reply", err);
}

static enum mt_status send_result(struct mt_request *request, const struct question *question,
                                  const struct mt_document_job_status *job, struct mt_error *err)
{
    if (job->state == MT_DOCUMENT_FAILED)
        return mt_fail(err, MT_INVALID, "%s", job->failure.length > 0 ? job->failure.bytes : "");
    if (job->state != MT_DOCUMENT_DONE)
        return mt_fail(err, MT_BUSY, "the document is not translated yet: try again later");
    bool is_once = strcmp(request->method, "POST") == 0;
    enum mt_status status = is_once ? mt_document_jobs_remove(request->service->documents,
                                                              question->id, question->key, err)
                                    : MT_OK;
    return status ? status : mt_files_send(request, job->file_name.bytes, err);
}

static enum mt_status forget(struct mt_request *request, const struct question *question,
                             struct mt_error *err)
{
    enum mt_status status =
        question->is_result
            ? mt_fail(err, MT_NOT_FOUND, "The requested URL was not found on the server.")
            : mt_document_jobs_remove(request->service->documents, question->id, question->key,
                                      err);
    mt_text_append_string(&request->reply.body, "{}");
    return status ? status : mt_text_check(&request->reply.body, "the reply", err);
}

static enum mt_status finish_status(struct mt_request *request, struct mt_error *err)
{
    struct question question;
    struct mt_document_job_status job = {0};
    enum mt_status status = read_id(request, &question, err);
    if (!status && strcmp(request->method, "DELETE") == 0)
        return forget(request, &question, err);
    if (!status)
        status = mt_document_jobs_find(request->service->documents, question.id, question.key, &job,
                                       err);
    if (!status)
        status = question.is_result ? send_result(request, &question, &job, err)
                                    : write_status(request, &question, &job, err);
    mt_text_finish(&job.failure);
    mt_text_finish(&job.file_name);
    mt_text_finish(&job.report);
    return status;
}

const struct mt_handler mt_document_status_handler = {.finish = finish_status};
