#include "server/pull/pull.h"

#include "base/file.h"
#include "server/models/model_card.h"
#include "server/pull/check.h"
#include "server/pull/choice.h"
#include "server/pull/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKAGE_ENDING ".argosmodel"
#define CARD "README.md"

/* The state of one pull. */
struct work {
    const struct mt_pull *pull;
    struct mt_pull_name name;
    struct mt_remote *remote;
    struct mt_choice choice;
    /* name of the directory, or of the file */
    char local[MT_PULL_LOCAL_BYTES + sizeof PACKAGE_ENDING];
    bool is_single_file;
    struct mt_staging *staging;
    struct mt_record record; /* of the model that is replaced */
    bool is_refused;         /* it was fetched, and cannot be used */
};

static void say(const struct work *work, const char *format, ...) MT_PRINTF(2, 3);

static void say(const struct work *work, const char *format, ...)
{
    char message[MT_ERROR_BYTES];
    va_list arguments;
    if (!work->pull->say)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    work->pull->say(work->pull->context, message);
}

/* --- Choosing files --- */

/* Chooses everything that the registry lists: Argos and Mozilla list only files that are needed. */
static enum mt_status choose_all(struct work *work, struct mt_error *err)
{
    const struct mt_remote *remote = work->remote;
    work->choice = (struct mt_choice){.remote = work->remote};
    if (remote->n_files == 0 || remote->n_files > MT_STAGING_MAX_FILES)
        return mt_fail(err, MT_FORMAT, "%s: the registry lists %zu files, expected 1 to %d",
                       remote->title, remote->n_files, MT_STAGING_MAX_FILES);
    memcpy(work->choice.files, remote->files, remote->n_files * sizeof *remote->files);
    work->choice.n = remote->n_files;
    return MT_OK;
}

static enum mt_status check_local_name(const char *given, struct mt_error *err)
{
    if (given && !mt_pull_is_local_name(given))
        return mt_fail(err, MT_INVALID,
                       "--name is \"%.80s\"; expected 1 to %d letters, digits, '-', '_' and '.', "
                       "which begin with a letter, a digit or '_'",
                       given, MT_PULL_LOCAL_BYTES - 1);
    return MT_OK;
}

static void choose_local_name(struct work *work)
{
    const char *given = work->pull->local_name;
    char local[MT_PULL_LOCAL_BYTES];
    if (given)
        snprintf(local, sizeof local, "%s", given);
    else if (work->is_single_file)
        mt_pull_local_of_url(work->remote->files[0].url, PACKAGE_ENDING, local);
    else
        mt_pull_name_local(&work->name, local);
    snprintf(work->local, sizeof work->local, "%s%s", local,
             work->is_single_file ? PACKAGE_ENDING : "");
}

static enum mt_status choose(struct work *work, struct mt_error *err)
{
    bool is_directory = work->name.registry == MT_REGISTRY_HUGGING_FACE ||
                        (work->name.registry == MT_REGISTRY_URL && !work->name.is_package);
    work->is_single_file = !is_directory && work->name.registry != MT_REGISTRY_FIREFOX;
    enum mt_status status =
        is_directory ? mt_choice_begin(work->remote, &work->choice, err) : choose_all(work, err);
    if (!status)
        choose_local_name(work);
    if (!status && work->is_single_file)
        work->choice.files[0].name = work->local;
    return status;
}

static enum mt_status accept_licence(const struct work *work, struct mt_error *err)
{
    const struct mt_pull *pull = work->pull;
    if (!mt_licence_is_non_commercial(work->remote->licence) || !pull->accept_licence ||
        pull->accept_licence(pull->context, work->remote))
        return MT_OK;
    return mt_fail(err, MT_FORBIDDEN,
                   "%s is under the licence %s, which forbids commercial use: nothing was "
                   "fetched. --accept-licence accepts it%s%s",
                   work->remote->title, work->remote->licence,
                   work->remote->page ? "; it is explained at " : "",
                   work->remote->page ? work->remote->page : "");
}

/* --- Fetching --- */

/* Links files that the model which is replaced has, too, into staging, so that they are not fetched
 * again. */
static enum mt_status reuse(const struct work *work, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < work->choice.n && !status; i++) {
        char *path;
        if (asprintf(&path, "%s/" MT_STAGING_FOLDER "/%s/%s", work->pull->root, work->local,
                     work->choice.files[i].name) < 0)
            status = mt_fail_memory(err, strlen(work->pull->root), "path");
        if (!status) {
            mt_record_reuse(&work->record, &work->choice.files[i], path);
            free(path);
        }
    }
    return status;
}

static enum mt_status fetch(struct work *work, size_t begin, size_t end, struct mt_error *err)
{
    const struct mt_pull *pull = work->pull;
    const struct mt_staged_file *files = work->choice.files + begin;
    struct mt_download_failure failure = {0};
    if (begin == end)
        return MT_OK;
    if (pull->on_files)
        pull->on_files(pull->context, files, end - begin);
    enum mt_status status = mt_staging_fetch(work->staging, pull->downloader, files, end - begin,
                                             pull->on_progress, pull->context, &failure, err);
    if (pull->on_files)
        pull->on_files(pull->context, NULL, 0);
    if (status == MT_FORBIDDEN && work->name.registry == MT_REGISTRY_HUGGING_FACE &&
        failure.trouble == MT_TROUBLE_STATUS)
        status = mt_look_up_refused(&pull->endpoints, work->remote, err);
    return status;
}

/* Fetches and reads the documents that determine the other files. If the model is refused, they are
 * deleted. */
static enum mt_status read_first(struct work *work, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < work->choice.n_first && !status; i++) {
        const char *name = work->choice.files[i].name;
        const char *path = mt_staging_path(work->staging, name);
        char *bytes = NULL;
        size_t length;
        status = path ? mt_file_read(path, MT_CHOICE_MAX_DOCUMENT_BYTES, &bytes, &length, err)
                      : mt_fail_memory(err, strlen(name), "path");
        if (!status)
            status = mt_choice_read(&work->choice, name, bytes, length, err);
        free(bytes);
    }
    if (status == MT_UNSUPPORTED || status == MT_NOT_FOUND || status == MT_FORMAT)
        mt_staging_discard(work->staging);
    return status;
}

/* If the registry names no licence, then the model's card may do so. */
static enum mt_status read_card(struct work *work, struct mt_error *err)
{
    size_t i = 0;
    char *bytes, licence[MT_LICENCE_BYTES];
    size_t length;
    while (i < work->choice.n && strcmp(work->choice.files[i].name, CARD) != 0)
        i++;
    if (i == work->choice.n || *work->remote->licence)
        return MT_OK;
    /* The card is fetched after the documents that determine others, and before those. */
    struct mt_choice *choice = &work->choice;
    const struct mt_staged_file card = choice->files[i];
    choice->files[i] = choice->files[choice->n_first];
    choice->files[choice->n_first] = card;
    enum mt_status status = fetch(work, choice->n_first, choice->n_first + 1, err);
    choice->n_first++;
    const char *path = status ? NULL : mt_staging_path(work->staging, CARD);
    if (status || !path || mt_file_read(path, MT_CHOICE_MAX_DOCUMENT_BYTES, &bytes, &length, NULL))
        return status;
    if (mt_model_card_find_licence(bytes, licence)) {
        snprintf(work->remote->licence, sizeof work->remote->licence, "%s", licence);
        status = accept_licence(work, err);
        if (status)
            mt_staging_discard(work->staging);
        else
            status = mt_staging_set_licence(work->staging, work->remote->licence, err);
    }
    free(bytes);
    return status;
}

static enum mt_status fetch_all(struct work *work, struct mt_error *err)
{
    enum mt_status status = reuse(work, err);
    if (!status)
        status = fetch(work, 0, work->choice.n_first, err);
    if (!status)
        status = read_first(work, err);
    if (!status)
        status = read_card(work, err);
    if (!status)
        status = reuse(work, err); /* for shards, which are known only now */
    if (!status)
        status = fetch(work, work->choice.n_first, work->choice.n, err);
    if (!status)
        status = mt_staging_commit(work->staging, err);
    if (work->is_refused) /* nobody will resume it */
        mt_staging_discard(work->staging);
    return status;
}

/* The status says that the model is wrong, not the command's arguments. Files are kept if more
 * memory or another disk may help. */
static enum mt_status check(void *context, const char *path, struct mt_error *err)
{
    struct work *work = context;
    char prefix[128 + sizeof work->local];
    enum mt_status status =
        mt_pull_check(path, work->local, work->pull->model, work->pull->is_cancelled, err);
    if (!status || status == MT_CANCELLED)
        return status;
    if (status == MT_INVALID)
        status = MT_FORMAT;
    work->is_refused = status == MT_FORMAT || status == MT_UNSUPPORTED || status == MT_NOT_FOUND;
    snprintf(prefix, sizeof prefix, "%s cannot be %s%s", work->local,
             status == MT_MEMORY || status == MT_IO ? "checked" : "served",
             work->record.json ? ", and the one that is there stays" : "");
    if (err)
        err->status = status;
    return mt_fail_in(err, status, prefix);
}

static void on_wait(void *context, const char *message)
{
    say(context, "%s", message);
}

static enum mt_status open_staging(struct work *work, struct mt_error *err)
{
    const struct mt_staging_request request = {
        .root = work->pull->root,
        .name = work->local,
        .from = work->remote->from,
        .licence = *work->remote->licence ? work->remote->licence : NULL,
        .is_single_file = work->is_single_file,
        .is_cancelled = work->pull->is_cancelled,
        .on_wait = on_wait,
        .check = check,
        .context = work,
    };
    return mt_staging_open(&request, &work->staging, err);
}

/* Whether the requested model is here already. A directory named by its URL has neither commit nor
 * version, so it is always fetched. */
static enum mt_status look(struct work *work, struct mt_pulled *out, struct mt_error *err)
{
    mt_record_finish(&work->record);
    enum mt_status status =
        mt_record_read(work->pull->root, work->local, work->is_single_file, &work->record, err);
    if (!status && work->name.registry != MT_REGISTRY_URL)
        out->was_there = mt_record_is_whole(&work->record, work->remote->from, &out->size);
    return status;
}

/* Computes the size. Registries do not know all sizes, but the record of the installed model
 * does. */
static enum mt_status measure(struct work *work, struct mt_pulled *out, struct mt_error *err)
{
    mt_record_finish(&work->record);
    enum mt_status status =
        mt_record_read(work->pull->root, work->local, work->is_single_file, &work->record, err);
    if (!status && !mt_record_is_whole(&work->record, work->remote->from, &out->size))
        status = mt_fail(err, MT_IO, "%s/%s: was fetched, and is not there any more",
                         work->pull->root, work->local);
    return status;
}

static enum mt_status run(struct work *work, struct mt_pulled *out, struct mt_error *err)
{
    const struct mt_pull *pull = work->pull;
    enum mt_status status = mt_pull_name_parse(pull->text, pull->endpoints.hub, &work->name, err);
    if (!status)
        status = check_local_name(pull->local_name, err);
    if (!status && work->name.is_assumed)
        say(work, "%s: %s is meant", pull->text, work->name.repository);
    if (!status)
        status = mt_look_up(pull->downloader, &pull->endpoints, &work->name, &work->remote, err);
    if (!status)
        status = choose(work, err);
    if (!status)
        status = look(work, out, err);
    if (status || out->was_there)
        return status;
    status = accept_licence(work, err);
    if (!status)
        status = open_staging(work, err);
    if (!status) /* another pull may have had the lock, and have installed it */
        status = look(work, out, err);
    if (status || out->was_there)
        return status;
    status = fetch_all(work, err);
    return status ? status : measure(work, out, err);
}

enum mt_status mt_pull_run(const struct mt_pull *pull, struct mt_pulled *out, struct mt_error *err)
{
    /* it has names of files, and is too large for a stack */
    struct work *work = calloc(1, sizeof *work);
    struct mt_pulled pulled = {0};
    if (!work)
        return mt_fail_memory(err, sizeof *work, "a pull");
    work->pull = pull;
    enum mt_status status = run(work, &pulled, err);
    if (!status)
        status = mt_path_join(pull->root, work->local, &pulled.path, err);
    pulled.remote = work->remote;
    mt_staging_close(work->staging);
    mt_record_finish(&work->record);
    if (status)
        mt_pulled_finish(&pulled);
    else
        *out = pulled;
    free(work);
    return status;
}

void mt_pulled_finish(struct mt_pulled *pulled)
{
    mt_remote_destroy(pulled->remote);
    free(pulled->path);
    *pulled = (struct mt_pulled){0};
}
