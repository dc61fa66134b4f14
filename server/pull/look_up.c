#include "server/pull/look_up.h"

#include "base/json.h"
#include "base/nearest.h"
#include "server/pull/argos.h"
#include "server/pull/choice.h"
#include "server/pull/firefox.h"
#include "server/pull/hugging_face.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_TYPE "application/json"

static const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

void mt_endpoints_read(struct mt_endpoints *out)
{
    *out = (struct mt_endpoints){
        .hub = variable("HF_ENDPOINT", MT_HUB),
        .token = variable("HF_TOKEN", NULL),
        .argos = variable("ARGOS_PACKAGE_INDEX", MT_ARGOS_INDEX),
        .firefox = variable("FIREFOX_ENDPOINT", MT_FIREFOX_SERVER),
    };
}

/* Fetches a registry's document. url is freed in any case. */
static enum mt_status fetch(struct mt_downloader *downloader, struct mt_text *url, char **out,
                            size_t *out_length, struct mt_download_failure *failure,
                            struct mt_error *err)
{
    enum mt_status status = mt_text_check(url, "address", err);
    *failure = (struct mt_download_failure){0};
    if (!status)
        status = mt_download_document(downloader, url->bytes, JSON_TYPE,
                                      MT_REMOTE_MAX_DOCUMENT_BYTES, out, out_length, failure, err);
    mt_text_finish(url);
    return status;
}

/* --- Hugging Face --- */

/* Finds the model of the same organisation with the most similar name; "" where there is none, or
 * the search fails. */
static void find_nearest(struct mt_downloader *downloader, const struct mt_endpoints *endpoints,
                         const struct mt_pull_name *name, char out[MT_PULL_REPOSITORY_BYTES])
{
    struct mt_text url = {0};
    struct mt_download_failure failure;
    struct mt_nearest nearest;
    char *bytes;
    size_t length;
    cJSON *models;
    const char *slash = strchr(name->repository, '/'), *last = strrchr(name->repository, '-');
    out[0] = '\0';
    /* The whole name except its last language. */
    int n_common = (int)(last && last > slash ? last - slash - 1 : (long)strlen(slash + 1));
    size_t n_hub = strlen(endpoints->hub);
    mt_text_append(&url, endpoints->hub, n_hub - (endpoints->hub[n_hub - 1] == '/'));
    mt_text_appendf(&url, "/api/models?author=%.*s&search=%.*s&limit=%d",
                    (int)(slash - name->repository), name->repository, n_common, slash + 1,
                    MT_HUB_PAGE_MODELS);
    if (fetch(downloader, &url, &bytes, &length, &failure, NULL))
        return;
    if (!mt_remote_parse(bytes, length, "search", &models, NULL)) {
        mt_nearest_begin(&nearest, name->repository);
        for (const cJSON *m = cJSON_IsArray(models) ? models->child : NULL; m; m = m->next)
            if (strlen(mt_remote_string(m, "id")) < MT_PULL_REPOSITORY_BYTES)
                mt_nearest_offer(&nearest, mt_remote_string(m, "id"));
        if (nearest.best)
            snprintf(out, MT_PULL_REPOSITORY_BYTES, "%s", nearest.best);
        cJSON_Delete(models);
    }
    free(bytes);
}

static enum mt_status explain(struct mt_downloader *downloader,
                              const struct mt_endpoints *endpoints, const struct mt_pull_name *name,
                              const struct mt_download_failure *failure, enum mt_status status,
                              struct mt_error *err)
{
    int code = failure->trouble == MT_TROUBLE_STATUS ? failure->http_status : 0;
    char near[MT_PULL_REPOSITORY_BYTES] = "";
    if (code != 401 && code != 403 && code != 404)
        return status;
    if (code == 404 && *name->revision)
        return mt_fail(err, MT_NOT_FOUND,
                       "%s: Hugging Face has no revision \"%s\" of it, or no such model",
                       name->repository, name->revision);
    find_nearest(downloader, endpoints, name, near);
    /* Without a token Hugging Face answers alike for missing and private models. */
    return mt_fail(err, code == 404 ? MT_NOT_FOUND : MT_FORBIDDEN,
                   "%s: Hugging Face has no such model%s%s%s%s%s", name->repository,
                   code == 404 ? "" : ", or it is private",
                   code == 404        ? ""
                   : endpoints->token ? ", or HF_TOKEN is not right"
                                      : " (then set HF_TOKEN)",
                   *near ? "; did you mean " : "", near, *near ? "?" : "");
}

enum mt_status mt_look_up_refused(const struct mt_endpoints *endpoints,
                                  const struct mt_remote *remote, struct mt_error *err)
{
    return mt_fail(err, MT_FORBIDDEN,
                   "%s is gated: its files are for those alone whom its authors let in. Ask for "
                   "access at %s, %s",
                   remote->title, remote->page,
                   endpoints->token
                       ? "with the account whose token HF_TOKEN is, which has none yet"
                       : "make a token at https://huggingface.co/settings/tokens, and set "
                         "HF_TOKEN to it");
}

static enum mt_status look_up_hub(struct mt_downloader *downloader,
                                  const struct mt_endpoints *endpoints,
                                  const struct mt_pull_name *name, struct mt_remote **out,
                                  struct mt_error *err)
{
    struct mt_text url = {0};
    struct mt_download_failure failure;
    struct mt_remote *remote;
    char *bytes;
    size_t length;
    mt_hub_append_document_url(endpoints->hub, name, &url);
    enum mt_status status = fetch(downloader, &url, &bytes, &length, &failure, err);
    if (status)
        return explain(downloader, endpoints, name, &failure, status, err);
    status = mt_hub_read_model(bytes, length, endpoints->hub, name, &remote, err);
    free(bytes);
    if (!status && remote->is_gated && !endpoints->token) {
        status = mt_look_up_refused(endpoints, remote, err);
        mt_remote_destroy(remote);
    }
    if (!status)
        *out = remote;
    return status;
}

static enum mt_status offers_of_hub(struct mt_downloader *downloader,
                                    const struct mt_endpoints *endpoints, const char *language,
                                    struct mt_offers *offers, struct mt_error *err)
{
    struct mt_text url = {0};
    enum mt_status status = MT_OK;
    mt_hub_append_search_url(endpoints->hub, &url);
    for (size_t page = 0; page < MT_LOOK_UP_MAX_PAGES && url.length > 0 && !status; page++) {
        struct mt_download_failure failure;
        char *bytes;
        size_t length;
        status = fetch(downloader, &url, &bytes, &length, &failure, err);
        if (status)
            break;
        status = mt_hub_read_search(bytes, length, language, offers, err);
        free(bytes);
        mt_text_append_string(&url, mt_downloader_next_page(downloader));
    }
    mt_text_finish(&url);
    return status;
}

/* --- Argos, Mozilla --- */

static enum mt_status fetch_argos(struct mt_downloader *downloader,
                                  const struct mt_endpoints *endpoints, char **bytes,
                                  size_t *length, struct mt_error *err)
{
    struct mt_text url = {0};
    struct mt_download_failure failure;
    mt_argos_append_index_url(endpoints->argos, &url);
    return fetch(downloader, &url, bytes, length, &failure, err);
}

static enum mt_status fetch_records(struct mt_downloader *downloader,
                                    const struct mt_endpoints *endpoints, char **bytes,
                                    size_t *length, struct mt_error *err)
{
    struct mt_text url = {0};
    struct mt_download_failure failure;
    mt_firefox_append_records_url(endpoints->firefox, &url);
    return fetch(downloader, &url, bytes, length, &failure, err);
}

static enum mt_status look_up_argos(struct mt_downloader *downloader,
                                    const struct mt_endpoints *endpoints,
                                    const struct mt_pull_name *name, struct mt_remote **out,
                                    struct mt_error *err)
{
    char *bytes;
    size_t length;
    enum mt_status status = fetch_argos(downloader, endpoints, &bytes, &length, err);
    if (status)
        return status;
    status = mt_argos_read_package(bytes, length, name, out, err);
    free(bytes);
    return status;
}

static enum mt_status look_up_firefox(struct mt_downloader *downloader,
                                      const struct mt_endpoints *endpoints,
                                      const struct mt_pull_name *name, struct mt_remote **out,
                                      struct mt_error *err)
{
    struct mt_text url = {0}, base = {0};
    struct mt_download_failure failure;
    char *bytes;
    size_t length;
    mt_firefox_append_root_url(endpoints->firefox, &url);
    enum mt_status status = fetch(downloader, &url, &bytes, &length, &failure, err);
    if (status)
        return status;
    status = mt_firefox_read_root(bytes, length, &base, err);
    free(bytes);
    if (!status)
        status = fetch_records(downloader, endpoints, &bytes, &length, err);
    if (!status) {
        status = mt_firefox_read_model(bytes, length, base.bytes, name, out, err);
        free(bytes);
    }
    mt_text_finish(&base);
    return status;
}

/* --- An address --- */

static enum mt_status look_up_package(struct mt_remote *remote, const struct mt_pull_name *name,
                                      struct mt_error *err)
{
    char local[MT_PULL_LOCAL_BYTES], file[MT_PULL_LOCAL_BYTES + sizeof ".argosmodel"];
    mt_pull_local_of_url(name->url, ".argosmodel", local);
    snprintf(file, sizeof file, "%s.argosmodel", local);
    const struct mt_staged_file package = {.name = file, .url = name->url, .size = -1};
    remote->is_listed = true;
    return mt_remote_add(remote, &package, err);
}

/* Servers list directories in many forms, or not at all, but a model's files have known names. A
 * server that hides what does not exist replies 403 instead of 404. */
static enum mt_status look_up_directory(struct mt_downloader *downloader, struct mt_remote *remote,
                                        struct mt_error *err)
{
    enum mt_status status = MT_OK;
    bool is_forbidden = false;
    for (const char *const *known = mt_choice_known_names; *known && !status; known++) {
        struct mt_text url = {0};
        struct mt_download_failure failure = {0};
        struct mt_staged_file file = {.name = *known, .size = -1};
        mt_text_append_string(&url, remote->base);
        mt_remote_append_escaped(&url, *known);
        status = mt_text_check(&url, "address", err);
        if (!status)
            status = mt_download_probe(downloader, url.bytes, &file.size, &failure, err);
        mt_text_finish(&url);
        bool is_refused = failure.trouble == MT_TROUBLE_STATUS && failure.http_status == 403;
        is_forbidden = is_forbidden || is_refused;
        if (status == MT_NOT_FOUND || is_refused)
            status = MT_OK;
        else if (!status)
            status = mt_remote_add(remote, &file, err);
    }
    if (!status && remote->n_files == 0)
        status =
            mt_fail(err, is_forbidden ? MT_FORBIDDEN : MT_NOT_FOUND,
                    "%s: %s: neither config.json nor any other file of a model's", remote->title,
                    is_forbidden ? "the server shows nothing there" : "there is no model there");
    return status;
}

static enum mt_status look_up_address(struct mt_downloader *downloader,
                                      const struct mt_pull_name *name, struct mt_remote **out,
                                      struct mt_error *err)
{
    struct mt_remote *remote;
    enum mt_status status = mt_remote_create(name->url, &remote, err);
    if (status)
        return status;
    remote->base = remote->from = remote->title;
    status = name->is_package ? look_up_package(remote, name, err)
                              : look_up_directory(downloader, remote, err);
    if (status)
        mt_remote_destroy(remote);
    else
        *out = remote;
    return status;
}

/* --- All of them --- */

enum mt_status mt_look_up(struct mt_downloader *downloader, const struct mt_endpoints *endpoints,
                          const struct mt_pull_name *name, struct mt_remote **out,
                          struct mt_error *err)
{
    switch (name->registry) {
    case MT_REGISTRY_HUGGING_FACE:
        return look_up_hub(downloader, endpoints, name, out, err);
    case MT_REGISTRY_ARGOS:
        return look_up_argos(downloader, endpoints, name, out, err);
    case MT_REGISTRY_FIREFOX:
        return look_up_firefox(downloader, endpoints, name, out, err);
    case MT_REGISTRY_URL:
        break;
    }
    return look_up_address(downloader, name, out, err);
}

enum mt_status mt_look_up_offers(struct mt_downloader *downloader,
                                 const struct mt_endpoints *endpoints, enum mt_registry registry,
                                 const char *language, struct mt_offers *offers,
                                 struct mt_error *err)
{
    char *bytes;
    size_t length;
    if (registry == MT_REGISTRY_HUGGING_FACE)
        return offers_of_hub(downloader, endpoints, language, offers, err);
    bool is_argos = registry == MT_REGISTRY_ARGOS;
    enum mt_status status =
        (is_argos ? fetch_argos : fetch_records)(downloader, endpoints, &bytes, &length, err);
    if (status)
        return status;
    status = (is_argos ? mt_argos_read_index : mt_firefox_read_records)(bytes, length, language,
                                                                        offers, err);
    free(bytes);
    return status;
}
