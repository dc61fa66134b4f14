#include "server/pull/argos.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#define ENDING ".argosmodel"

void mt_argos_append_index_url(const char *setting, struct mt_text *out)
{
    size_t length = strlen(setting);
    while (length > 0 && setting[length - 1] == '/')
        length--;
    mt_text_append(out, setting, length);
    if (length < 5 || strncmp(setting + length - 5, ".json", 5) != 0)
        mt_text_append_string(out, "/index.json");
}

static bool is_translation(const cJSON *package)
{
    const char *type = mt_remote_string(package, "type");
    return (!*type || strcmp(type, "translate") == 0) && *mt_remote_string(package, "from_code") &&
           *mt_remote_string(package, "to_code");
}

/* Returns the first link that we can fetch; others are for IPFS, or magnet links. */
static const char *link_of(const cJSON *package)
{
    const cJSON *links = cJSON_GetObjectItemCaseSensitive(package, "links");
    for (const cJSON *l = cJSON_IsArray(links) ? links->child : NULL; l; l = l->next)
        if (cJSON_IsString(l) && strncmp(l->valuestring, "https://", 8) == 0)
            return l->valuestring;
    return NULL;
}

static enum mt_status parse(const char *bytes, size_t length, cJSON **out, struct mt_error *err)
{
    cJSON *index;
    enum mt_status status =
        mt_remote_parse(bytes, length, "the package index of Argos Translate", &index, err);
    if (!status && !cJSON_IsArray(index)) {
        cJSON_Delete(index);
        status = mt_fail(err, MT_FORMAT, "the package index of Argos Translate: expected an array");
    }
    if (!status)
        *out = index;
    return status;
}

static const cJSON *find_package(const cJSON *index, const struct mt_pull_name *name)
{
    const cJSON *best = NULL;
    for (const cJSON *p = index->child; p; p = p->next) {
        const char *version = mt_remote_string(p, "package_version");
        if (!is_translation(p) || !link_of(p) ||
            !mt_pull_is_pair(name->pair, mt_remote_string(p, "from_code"),
                             mt_remote_string(p, "to_code")) ||
            (*name->revision && strcmp(name->revision, version) != 0))
            continue;
        if (!best || strverscmp(mt_remote_string(best, "package_version"), version) < 0)
            best = p;
    }
    return best;
}

static enum mt_status fill(struct mt_remote *remote, const cJSON *package, struct mt_error *err)
{
    const char *from = mt_remote_string(package, "from_code"), *url = link_of(package);
    const char *to = mt_remote_string(package, "to_code");
    char local[MT_PULL_LOCAL_BYTES], file[MT_PULL_LOCAL_BYTES + sizeof ENDING];
    mt_pull_local_of_url(url, ENDING, local);
    snprintf(file, sizeof file, "%s" ENDING, local);
    const struct mt_staged_file package_file = {.name = file, .url = url, .size = -1};
    snprintf(remote->languages, sizeof remote->languages, "%.24s to %.24s", from, to);
    remote->is_listed = true;
    enum mt_status status = mt_remote_print(remote, &remote->from, err, "argos:%s-%s@%s", from, to,
                                            mt_remote_string(package, "package_version"));
    if (!status)
        status = mt_remote_check_from(remote, err);
    return status ? status : mt_remote_add(remote, &package_file, err);
}

static enum mt_status refuse(const struct mt_pull_name *name, struct mt_error *err)
{
    return mt_fail(err, MT_NOT_FOUND,
                   "Argos Translate has no package %s%s%s; `attentiond list --remote %.*s "
                   "--registry argos` shows those from that language",
                   name->pair, *name->revision ? " of version " : "", name->revision,
                   (int)strcspn(name->pair, "-_"), name->pair);
}

enum mt_status mt_argos_read_package(const char *bytes, size_t length,
                                     const struct mt_pull_name *name, struct mt_remote **out,
                                     struct mt_error *err)
{
    cJSON *index;
    char title[MT_PULL_PAIR_BYTES + sizeof "argos:"];
    struct mt_remote *remote = NULL;
    enum mt_status status = parse(bytes, length, &index, err);
    if (status)
        return status;
    const cJSON *package = find_package(index, name);
    snprintf(title, sizeof title, "argos:%s", name->pair);
    if (!package)
        status = refuse(name, err);
    if (!status)
        status = mt_remote_create(title, &remote, err);
    if (!status)
        status = fill(remote, package, err);
    cJSON_Delete(index);
    if (status)
        mt_remote_destroy(remote);
    else
        *out = remote;
    return status;
}

enum mt_status mt_argos_read_index(const char *bytes, size_t length, const char *language,
                                   struct mt_offers *offers, struct mt_error *err)
{
    cJSON *index;
    enum mt_status status = parse(bytes, length, &index, err);
    if (status)
        return status;
    for (const cJSON *p = index->child; p && !status; p = p->next) {
        struct mt_offer offer = {.registry = MT_REGISTRY_ARGOS};
        struct mt_pull_name name;
        const char *to = mt_remote_string(p, "to_code");
        const char *version = mt_remote_string(p, "package_version");
        if (!is_translation(p) || !link_of(p) ||
            strcmp(mt_remote_string(p, "from_code"), language) != 0 ||
            strlen(language) >= sizeof offer.source || strlen(to) >= sizeof offer.target ||
            strlen(version) >= sizeof offer.version)
            continue;
        snprintf(offer.source, sizeof offer.source, "%s", language);
        snprintf(offer.target, sizeof offer.target, "%s", to);
        snprintf(offer.pull, sizeof offer.pull, "argos:%s-%s", language, to);
        snprintf(offer.version, sizeof offer.version, "%s",
                 version[strspn(version, "0123456789.")] ? "" : version);
        if (!mt_pull_name_parse(offer.pull, "", &name, NULL))
            status = mt_offers_add(offers, &offer, err);
    }
    cJSON_Delete(index);
    return status;
}
