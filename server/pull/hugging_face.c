#include "server/pull/hugging_face.h"

#include "base/json.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#define COMMIT_DIGITS 40

static void append_origin(struct mt_text *out, const char *hub)
{
    size_t length = strlen(hub);
    while (length > 0 && hub[length - 1] == '/')
        length--;
    mt_text_append(out, hub, length);
}

void mt_hub_append_document_url(const char *hub, const struct mt_pull_name *name,
                                struct mt_text *out)
{
    append_origin(out, hub);
    mt_text_appendf(out, "/api/models/%s/revision/", name->repository);
    mt_remote_append_escaped(out, *name->revision ? name->revision : "main");
    mt_text_append_string(out, "?blobs=true");
}

/* --- A model --- */

static enum mt_status add_sibling(struct mt_remote *remote, const cJSON *sibling,
                                  struct mt_error *err)
{
    const char *name = mt_remote_string(sibling, "rfilename");
    const cJSON *lfs = cJSON_GetObjectItemCaseSensitive(sibling, "lfs");
    struct mt_staged_file file = {.name = name, .size = -1};
    enum mt_status status = mt_remote_note_unreadable(remote, name, err);
    if (status || !mt_remote_is_file_name(name))
        return status;
    char what[256];
    snprintf(what, sizeof what, "%.80s: %.100s", remote->title, name);
    status = mt_remote_size(sibling, "size", what, &file.size, err);
    if (!status && cJSON_IsObject(lfs)) {
        file.digest_kind = MT_DIGEST_SHA256;
        file.digest = mt_remote_string(lfs, "sha256");
        status = mt_remote_size(lfs, "size", what, &file.size, err);
    } else if (!status && *mt_remote_string(sibling, "blobId") && file.size >= 0) {
        file.digest_kind = MT_DIGEST_GIT_BLOB;
        file.digest = mt_remote_string(sibling, "blobId");
    }
    return status ? status : mt_remote_add(remote, &file, err);
}

static void append_word(char *out, size_t out_bytes, const char *separator, const char *word)
{
    size_t length = strlen(out), n = strlen(word);
    if (mt_utf8_valid_prefix(word, n) != n || length + strlen(separator) + n + 1 > out_bytes)
        return;
    snprintf(out + length, out_bytes - length, "%s%s", length ? separator : "", word);
}

/* The item is a string, or an array of strings. */
static void take_words(const cJSON *item, const char *separator, char *out, size_t out_bytes)
{
    if (cJSON_IsString(item))
        append_word(out, out_bytes, separator, item->valuestring);
    for (const cJSON *word = cJSON_IsArray(item) ? item->child : NULL; word; word = word->next)
        if (cJSON_IsString(word))
            append_word(out, out_bytes, separator, word->valuestring);
}

/* The licence "other" has its name in another member. */
static void take_licence(const cJSON *document, struct mt_remote *remote)
{
    const cJSON *card = cJSON_GetObjectItemCaseSensitive(document, "cardData");
    take_words(cJSON_GetObjectItemCaseSensitive(card, "license"), ", ", remote->licence,
               sizeof remote->licence);
    const char *name = mt_remote_string(card, "license_name");
    if (strcmp(remote->licence, "other") == 0 && *name) {
        remote->licence[0] = '\0';
        append_word(remote->licence, sizeof remote->licence, "", name);
    }
    static const char tag[] = "license:";
    const cJSON *tags = cJSON_GetObjectItemCaseSensitive(document, "tags");
    for (const cJSON *t = cJSON_IsArray(tags) ? tags->child : NULL; t; t = t->next)
        if (!*remote->licence && cJSON_IsString(t) &&
            strncmp(t->valuestring, tag, strlen(tag)) == 0)
            append_word(remote->licence, sizeof remote->licence, "", t->valuestring + strlen(tag));
}

/* Copies the last two parts of a name like "opus-mt-tc-big-en-fr". Returns false where it does not
 * end so. */
static bool languages_of(const char *repository, char source[24], char target[40])
{
    const char *slash = strchr(repository, '/'), *name = slash ? slash + 1 : repository;
    const char *last = strrchr(name, '-');
    if (!last || last == name || !last[1] || strlen(last + 1) >= 40)
        return false;
    const char *first = last;
    while (first > name && first[-1] != '-')
        first--;
    size_t length = (size_t)(last - first);
    if (first == name || length == 0 || length >= 24)
        return false;
    memcpy(source, first, length);
    source[length] = '\0';
    snprintf(target, 40, "%s", last + 1);
    return true;
}

static void take_languages(const cJSON *document, struct mt_remote *remote)
{
    char source[24], target[40];
    const char *title = remote->title;
    const cJSON *card = cJSON_GetObjectItemCaseSensitive(document, "cardData");
    const char *name = strchr(title, '/') ? strchr(title, '/') + 1 : title;
    if (strncmp(name, "opus-mt", strlen("opus-mt")) == 0 && languages_of(title, source, target))
        snprintf(remote->languages, sizeof remote->languages, "%s to %.32s", source, target);
    else
        take_words(cJSON_GetObjectItemCaseSensitive(card, "language"), ", ", remote->languages,
                   sizeof remote->languages);
}

static enum mt_status read_document(const cJSON *document, const char *hub,
                                    struct mt_remote *remote, struct mt_error *err)
{
    const char *sha = mt_remote_string(document, "sha");
    const cJSON *siblings = cJSON_GetObjectItemCaseSensitive(document, "siblings");
    const cJSON *gated = cJSON_GetObjectItemCaseSensitive(document, "gated");
    struct mt_text origin = {0};
    if (strlen(sha) != COMMIT_DIGITS || strspn(sha, "0123456789abcdef") != COMMIT_DIGITS)
        return mt_fail(err, MT_FORMAT,
                       "%s: the registry's document has the commit \"%.60s\", expected %d "
                       "hexadecimal digits",
                       remote->title, sha, COMMIT_DIGITS);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(document, "disabled")))
        return mt_fail(err, MT_FORBIDDEN, "%s: Hugging Face has disabled this model",
                       remote->title);
    if (!cJSON_IsArray(siblings))
        return mt_fail(err, MT_FORMAT,
                       "%s: the registry's document has no array \"siblings\", which lists the "
                       "files",
                       remote->title);
    append_origin(&origin, hub);
    enum mt_status status = mt_text_check(&origin, "address", err);
    if (!status)
        status = mt_remote_print(remote, &remote->page, err, "%s/%s", origin.bytes, remote->title);
    if (!status)
        status = mt_remote_print(remote, &remote->base, err, "%s/resolve/%s/", remote->page, sha);
    if (!status)
        status = mt_remote_print(remote, &remote->from, err, "hf:%s@%s", remote->title, sha);
    mt_text_finish(&origin);
    remote->is_gated = cJSON_IsString(gated) || cJSON_IsTrue(gated);
    remote->is_listed = true;
    take_licence(document, remote);
    take_languages(document, remote);
    for (const cJSON *s = siblings->child; s && !status; s = s->next)
        status = add_sibling(remote, s, err);
    return status;
}

enum mt_status mt_hub_read_model(const char *bytes, size_t length, const char *hub,
                                 const struct mt_pull_name *name, struct mt_remote **out,
                                 struct mt_error *err)
{
    cJSON *document;
    struct mt_remote *remote = NULL;
    enum mt_status status = mt_remote_parse(bytes, length, name->repository, &document, err);
    if (status)
        return status;
    status = mt_remote_create(name->repository, &remote, err);
    if (!status)
        status = read_document(document, hub, remote, err);
    cJSON_Delete(document);
    if (status)
        mt_remote_destroy(remote);
    else
        *out = remote;
    return status;
}

/* --- The search --- */

void mt_hub_append_search_url(const char *hub, struct mt_text *out)
{
    append_origin(out, hub);
    mt_text_appendf(out, "/api/models?author=" MT_HUB_AUTHOR "&search=opus-mt&limit=%d",
                    MT_HUB_PAGE_MODELS);
}

static enum mt_status add_offer(const cJSON *model, const char *language, struct mt_offers *offers,
                                struct mt_error *err)
{
    static const char tag[] = "license:";
    struct mt_offer offer = {.registry = MT_REGISTRY_HUGGING_FACE};
    const char *id = mt_remote_string(model, "id");
    struct mt_pull_name name;
    /* Models with other names could not be pulled, and might contain anything. */
    if (strlen(id) >= MT_PULL_REPOSITORY_BYTES || !strchr(id, '/') ||
        mt_pull_name_parse(id, MT_HUB, &name, NULL) || name.registry != MT_REGISTRY_HUGGING_FACE ||
        !languages_of(id, offer.source, offer.target) || strcmp(offer.source, language) != 0)
        return MT_OK;
    snprintf(offer.pull, sizeof offer.pull, "%s", id);
    const cJSON *tags = cJSON_GetObjectItemCaseSensitive(model, "tags");
    for (const cJSON *t = cJSON_IsArray(tags) ? tags->child : NULL; t; t = t->next)
        if (cJSON_IsString(t) && strncmp(t->valuestring, tag, strlen(tag)) == 0)
            append_word(offer.licence, sizeof offer.licence, ", ", t->valuestring + strlen(tag));
    return mt_offers_add(offers, &offer, err);
}

enum mt_status mt_hub_read_search(const char *bytes, size_t length, const char *language,
                                  struct mt_offers *offers, struct mt_error *err)
{
    cJSON *models;
    enum mt_status status = mt_remote_parse(bytes, length, "the list of models", &models, err);
    if (status)
        return status;
    if (!cJSON_IsArray(models))
        status = mt_fail(err, MT_FORMAT, "the list of models: expected an array");
    for (const cJSON *m = status ? NULL : models->child; m && !status; m = m->next)
        status = add_offer(m, language, offers, err);
    cJSON_Delete(models);
    return status;
}
