#include "server/pull/firefox.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#define RECORDS "Mozilla's model records"

static void append_server(const char *server, const char *path, struct mt_text *out)
{
    size_t length = strlen(server);
    while (length > 0 && server[length - 1] == '/')
        length--;
    mt_text_append(out, server, length);
    mt_text_append_string(out, path);
}

void mt_firefox_append_root_url(const char *server, struct mt_text *out)
{
    append_server(server, "/v1/", out);
}

void mt_firefox_append_records_url(const char *server, struct mt_text *out)
{
    append_server(server, "/v1/buckets/main/collections/translations-models/records", out);
}

enum mt_status mt_firefox_read_root(const char *bytes, size_t length, struct mt_text *out,
                                    struct mt_error *err)
{
    cJSON *root;
    enum mt_status status = mt_remote_parse(bytes, length, "the server of " RECORDS, &root, err);
    if (status)
        return status;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, "capabilities");
    item = cJSON_GetObjectItemCaseSensitive(item, "attachments");
    const char *url = mt_remote_string(item, "base_url");
    if (strncmp(url, "https://", 8) != 0 || strlen(url) >= MT_PULL_URL_BYTES)
        status = mt_fail(err, MT_FORMAT,
                         "the server of " RECORDS ": capabilities.attachments.base_url is "
                         "\"%.100s\", expected an https:// address",
                         url);
    else
        append_server(url, "/", out);
    cJSON_Delete(root);
    return status ? status : mt_text_check(out, "address", err);
}

/* --- Records --- */

static enum mt_status parse(const char *bytes, size_t length, cJSON **out, const cJSON **data,
                            struct mt_error *err)
{
    enum mt_status status = mt_remote_parse(bytes, length, RECORDS, out, err);
    if (status)
        return status;
    *data = cJSON_GetObjectItemCaseSensitive(*out, "data");
    if (cJSON_IsArray(*data))
        return MT_OK;
    cJSON_Delete(*out);
    return mt_fail(err, MT_FORMAT, RECORDS ": expected an array \"data\"");
}

static bool is_of(const cJSON *record, const struct mt_pull_name *name, const char *version)
{
    return mt_pull_is_pair(name->pair, mt_remote_string(record, "fromLang"),
                           mt_remote_string(record, "toLang")) &&
           (!version || strcmp(version, mt_remote_string(record, "version")) == 0);
}

/* Returns the version for the name, or NULL. */
static const char *find_version(const cJSON *data, const struct mt_pull_name *name)
{
    const char *best = NULL;
    for (const cJSON *r = data->child; r; r = r->next) {
        const char *version = mt_remote_string(r, "version");
        if (!is_of(r, name, *name->revision ? name->revision : NULL) ||
            strcmp(mt_remote_string(r, "fileType"), "model") != 0 ||
            (!*name->revision && !mt_version_is_release(version)))
            continue;
        if (!best || strverscmp(best, version) < 0)
            best = version;
    }
    return best;
}

static enum mt_status add_file(struct mt_remote *remote, const cJSON *record, const char *base,
                               struct mt_error *err)
{
    const cJSON *attachment = cJSON_GetObjectItemCaseSensitive(record, "attachment");
    const char *location = mt_remote_string(attachment, "location");
    struct mt_staged_file file = {
        .name = mt_remote_string(attachment, "filename"),
        .size = -1,
        .digest_kind = MT_DIGEST_SHA256,
        .digest = mt_remote_string(attachment, "hash"),
    };
    if (!mt_remote_is_file_name(file.name) || !*location || *location == '/' ||
        strstr(location, "..") || strpbrk(location, "\\?# \r\n"))
        return mt_fail(err, MT_FORMAT,
                       "%s: a record's attachment has the name \"%.80s\" and the location "
                       "\"%.80s\", expected those of a file",
                       remote->title, file.name, location);
    char what[256];
    snprintf(what, sizeof what, "%.80s: %.100s", remote->title, file.name);
    enum mt_status status = mt_remote_size(attachment, "size", what, &file.size, err);
    if (!status)
        status = mt_remote_print(remote, &file.url, err, "%s%s", base, location);
    return status ? status : mt_remote_add(remote, &file, err);
}

static enum mt_status fill(struct mt_remote *remote, const cJSON *data, const char *base,
                           const struct mt_pull_name *name, const char *version,
                           struct mt_error *err)
{
    enum mt_status status = MT_OK;
    snprintf(remote->licence, sizeof remote->licence, "%s", MT_FIREFOX_LICENCE);
    remote->is_listed = true;
    for (const cJSON *r = data->child; r && !status; r = r->next) {
        const char *from = mt_remote_string(r, "fromLang"), *to = mt_remote_string(r, "toLang");
        if (!is_of(r, name, version) ||
            strcmp(mt_remote_string(r, "fileType"), "qualityModel") == 0)
            continue;
        snprintf(remote->languages, sizeof remote->languages, "%.24s to %.24s", from, to);
        if (!remote->from)
            status =
                mt_remote_print(remote, &remote->from, err, "firefox:%s-%s@%s", from, to, version);
        if (!status)
            status = add_file(remote, r, base, err);
    }
    return status ? status : mt_remote_check_from(remote, err);
}

enum mt_status mt_firefox_read_model(const char *bytes, size_t length, const char *base,
                                     const struct mt_pull_name *name, struct mt_remote **out,
                                     struct mt_error *err)
{
    cJSON *document;
    const cJSON *data;
    char title[MT_PULL_PAIR_BYTES + sizeof "firefox:"];
    struct mt_remote *remote = NULL;
    enum mt_status status = parse(bytes, length, &document, &data, err);
    if (status)
        return status;
    const char *version = find_version(data, name);
    snprintf(title, sizeof title, "firefox:%s", name->pair);
    if (!version)
        status = mt_fail(err, MT_NOT_FOUND,
                         "Mozilla has no model %s%s%s; `attentiond list --remote %.*s --registry "
                         "firefox` shows those from that language",
                         name->pair, *name->revision ? " of version " : "", name->revision,
                         (int)strcspn(name->pair, "-_"), name->pair);
    if (!status)
        status = mt_remote_create(title, &remote, err);
    if (!status)
        status = fill(remote, data, base, name, version, err);
    cJSON_Delete(document);
    if (status)
        mt_remote_destroy(remote);
    else
        *out = remote;
    return status;
}

enum mt_status mt_firefox_read_records(const char *bytes, size_t length, const char *language,
                                       struct mt_offers *offers, struct mt_error *err)
{
    cJSON *document;
    const cJSON *data;
    enum mt_status status = parse(bytes, length, &document, &data, err);
    if (status)
        return status;
    for (const cJSON *r = data->child; r && !status; r = r->next) {
        struct mt_offer offer = {.registry = MT_REGISTRY_FIREFOX, .licence = MT_FIREFOX_LICENCE};
        struct mt_pull_name name;
        const char *to = mt_remote_string(r, "toLang"), *version = mt_remote_string(r, "version");
        if (strcmp(mt_remote_string(r, "fromLang"), language) != 0 ||
            strcmp(mt_remote_string(r, "fileType"), "model") != 0 ||
            !mt_version_is_release(version) || strlen(version) >= sizeof offer.version ||
            strlen(language) >= sizeof offer.source || strlen(to) >= sizeof offer.target)
            continue;
        snprintf(offer.source, sizeof offer.source, "%s", language);
        snprintf(offer.target, sizeof offer.target, "%s", to);
        snprintf(offer.version, sizeof offer.version, "%s", version);
        snprintf(offer.pull, sizeof offer.pull, "firefox:%s-%s", language, to);
        if (!mt_pull_name_parse(offer.pull, "", &name, NULL))
            status = mt_offers_add(offers, &offer, err);
    }
    cJSON_Delete(document);
    return status;
}
