#include "server/pull/names.h"

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ASSUMED_ORGANISATION "Helsinki-NLP"
#define ASSUMED_PREFIX "opus-mt"
#define PACKAGE_ENDING ".argosmodel"
#define FORMS                                                                                \
    "expected ORG/NAME of Hugging Face (Helsinki-NLP/opus-mt-en-fr, or opus-mt-en-fr; with " \
    "@REVISION where you like), argos:en-fr, firefox:en-fr, or an https:// address of an "   \
    ".argosmodel file or of a directory"

static bool has_only(const char *text, size_t length, const char *others)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0' || (!mt_ascii_is_letter_or_digit(text[i]) && !strchr(others, text[i])))
            return false;
    return true;
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Copies length bytes of text into out. The caller has checked that there is room. */
static void copy(char *out, const char *text, size_t length)
{
    memcpy(out, text, length);
    out[length] = '\0';
}

static enum mt_status refuse(const char *text, const char *why, struct mt_error *err)
{
    struct mt_text shown = {0};
    mt_text_append_printable(&shown, text, strnlen(text, 100));
    enum mt_status status = mt_fail(err, MT_INVALID, "\"%s\"%s; " FORMS,
                                    shown.status || !shown.bytes ? "" : shown.bytes, why);
    mt_text_finish(&shown);
    return status;
}

/* --- Hugging Face --- */

static bool has_twice_running(const char *text, size_t length, char c)
{
    for (size_t i = 1; i < length; i++)
        if (text[i - 1] == c && text[i] == c)
            return true;
    return false;
}

/* Whether it can be one part of a repository's name, by the rules of Hugging Face. */
static bool is_part(const char *text, size_t length)
{
    return length > 0 && has_only(text, length, "-_.") && !strchr("-.", text[0]) &&
           !strchr("-.", text[length - 1]) && !has_twice_running(text, length, '.') &&
           !has_twice_running(text, length, '-');
}

static bool is_revision(const char *text, size_t length)
{
    return length > 0 && length < MT_PULL_REVISION_BYTES && has_only(text, length, "-_./+") &&
           !strchr("-./", text[0]) && text[length - 1] != '/' &&
           !has_twice_running(text, length, '.') && !has_twice_running(text, length, '/');
}

static enum mt_status parse_repository(const char *text, struct mt_pull_name *out,
                                       struct mt_error *err)
{
    const char *name = begins_with(text, "hf:") ? text + strlen("hf:") : text;
    size_t length = strcspn(name, "@");
    const char *slash = memchr(name, '/', length);
    size_t first = slash ? (size_t)(slash - name) : 0;
    const char *last = slash ? slash + 1 : name;
    size_t last_length = length - (size_t)(last - name);
    out->registry = MT_REGISTRY_HUGGING_FACE;
    if (name[length] == '@' && !is_revision(name + length + 1, strlen(name + length + 1)))
        return refuse(text, ": what stands behind the @ is no revision", err);
    if ((slash && !is_part(name, first)) || !is_part(last, last_length))
        return refuse(text, " is no name of a model", err);
    if (!slash && !begins_with(last, ASSUMED_PREFIX))
        return refuse(text, " has no organisation before it", err);
    const char *organisation = slash ? "" : ASSUMED_ORGANISATION "/";
    if (strlen(organisation) + length >= sizeof out->repository)
        return refuse(text, " is too long for a name of a model", err);
    snprintf(out->repository, sizeof out->repository, "%s%.*s", organisation, (int)length, name);
    out->is_assumed = !slash;
    if (name[length] == '@')
        copy(out->revision, name + length + 1, strlen(name + length + 1));
    return MT_OK;
}

/* Reads what follows the host in a page's address: ORG/NAME, and perhaps /tree/REVISION (or blob,
 * resolve, commit) and a file. Anything behind ? or # is ignored. */
static enum mt_status parse_page(const char *text, const char *path, struct mt_pull_name *out,
                                 struct mt_error *err)
{
    char name[MT_PULL_REPOSITORY_BYTES + MT_PULL_REVISION_BYTES + 1];
    size_t length = strcspn(path, "?#");
    size_t organisation = strcspn(path, "/?#");
    if (organisation >= length)
        return refuse(text, " is no model's page", err);
    size_t repository = organisation + 1 + strcspn(path + organisation + 1, "/?#");
    for (size_t i = 0; i < 2; i++) {
        static const char *const others[] = {"datasets", "spaces"};
        if (strlen(others[i]) == organisation && begins_with(path, others[i]))
            return refuse(text, i ? " is a space, not a model" : " is a data set, not a model",
                          err);
    }
    if (repository >= MT_PULL_REPOSITORY_BYTES)
        return refuse(text, " is too long for a name of a model", err);
    copy(name, path, repository);
    const char *rest = path + repository;
    static const char *const views[] = {"/tree/", "/blob/", "/resolve/", "/commit/"};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        if (!begins_with(rest, views[i]))
            continue;
        const char *revision = rest + strlen(views[i]);
        size_t n = strcspn(revision, "/?#");
        if (n >= MT_PULL_REVISION_BYTES)
            return refuse(text, " names a revision that is too long", err);
        name[repository] = '@';
        copy(name + repository + 1, revision, n);
    }
    return parse_repository(name, out, err);
}

/* --- The others --- */

static enum mt_status parse_pair(const char *text, enum mt_registry registry,
                                 struct mt_pull_name *out, struct mt_error *err)
{
    const char *pair = strchr(text, ':') + 1;
    size_t length = strcspn(pair, "@");
    const char *version = pair[length] == '@' ? pair + length + 1 : NULL;
    const char *middle = memchr(pair, '-', length);
    if (!middle)
        middle = memchr(pair, '_', length);
    if (length >= sizeof out->pair || !has_only(pair, length, "-_") || !middle || middle == pair ||
        strchr("-_", pair[length - 1]))
        return refuse(text, ": what follows the colon is not two languages, as in en-fr", err);
    if (version && !is_revision(version, strlen(version)))
        return refuse(text, ": what stands behind the @ is no version", err);
    out->registry = registry;
    copy(out->pair, pair, length);
    if (version)
        copy(out->revision, version, strlen(version));
    return MT_OK;
}

/* Returns the length of a URL without query and fragment. */
static size_t path_end(const char *url)
{
    return strcspn(url, "?#");
}

static enum mt_status parse_url(const char *text, struct mt_pull_name *out, struct mt_error *err)
{
    static const char unsafe[] = "\"<>\\^`{|}";
    size_t length = strlen(text), end = path_end(text);
    const char *host = text + strlen("https://");
    if (length + 1 >= sizeof out->url)
        return refuse(text, " is too long for an address", err);
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] == 0x7f || strchr(unsafe, text[i]))
            return refuse(text, " has a character that an address cannot have", err);
    size_t host_length = strcspn(host, "/?#");
    if (host_length == 0)
        return refuse(text, " names no host", err);
    if (memchr(host, '@', host_length))
        return refuse(text, " has a user or password, which belong into ~/.netrc", err);
    out->registry = MT_REGISTRY_URL;
    const size_t ending = strlen(PACKAGE_ENDING);
    out->is_package = end > ending && begins_with(text + end - ending, PACKAGE_ENDING);
    if (!out->is_package && text[end] != '\0')
        return refuse(text, " has a ? or #, which the address of a directory cannot have", err);
    copy(out->url, text, out->is_package ? strcspn(text, "#") : length);
    if (!out->is_package && text[length - 1] != '/')
        copy(out->url + length, "/", 1);
    return MT_OK;
}

/* Returns what follows the host of such a page, or NULL. */
static const char *hub_path(const char *text, const char *hub)
{
    const char *const hosts[] = {hub, "https://huggingface.co", "https://www.huggingface.co",
                                 "https://hf.co"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        size_t length = strlen(hosts[i]);
        while (length > 0 && hosts[i][length - 1] == '/')
            length--;
        if (length > 0 && strncasecmp(text, hosts[i], length) == 0 && text[length] == '/')
            return text + length + 1;
    }
    return NULL;
}

enum mt_status mt_pull_name_parse(const char *text, const char *hub, struct mt_pull_name *out,
                                  struct mt_error *err)
{
    struct mt_pull_name name = {0};
    enum mt_status status;
    const char *page = hub_path(text, hub);
    if (page)
        status = parse_page(text, page, &name, err);
    else if (begins_with(text, "argos:"))
        status = parse_pair(text, MT_REGISTRY_ARGOS, &name, err);
    else if (begins_with(text, "firefox:"))
        status = parse_pair(text, MT_REGISTRY_FIREFOX, &name, err);
    else if (begins_with(text, "https://"))
        status = parse_url(text, &name, err);
    else if (begins_with(text, "http://"))
        status = refuse(text, " is not encrypted, so anybody could change what comes", err);
    else if (strstr(text, "://"))
        status = refuse(text, " is an address of another kind", err);
    else
        status = parse_repository(text, &name, err);
    if (!status)
        *out = name;
    return status;
}

/* --- Names on this machine --- */

bool mt_pull_is_local_name(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length < MT_PULL_LOCAL_BYTES && has_only(text, length, "-_.") &&
           !strchr("-.", text[0]);
}

static void make_local(const char *text, size_t length, char out[MT_PULL_LOCAL_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; i < length && n < MT_PULL_LOCAL_BYTES - 1; i++) {
        bool is_good = has_only(text + i, 1, "-_.") && !(n == 0 && strchr("-.", text[i]));
        out[n++] = is_good ? text[i] : '_';
    }
    if (n == 0)
        out[n++] = '_';
    out[n] = '\0';
}

void mt_pull_local_of_url(const char *url, const char *ending, char out[MT_PULL_LOCAL_BYTES])
{
    size_t end = path_end(url), n = 0;
    char decoded[MT_PULL_URL_BYTES];
    while (end > 0 && url[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && url[begin - 1] != '/')
        begin--;
    for (size_t i = begin; i < end && n < sizeof decoded; i++) {
        int high = url[i] == '%' && i + 2 < end ? mt_hex_digit(url[i + 1]) : -1;
        int low = high >= 0 ? mt_hex_digit(url[i + 2]) : -1;
        decoded[n++] = low >= 0 ? (char)(high * 16 + low) : url[i];
        i += low >= 0 ? 2 : 0;
    }
    size_t cut = strlen(ending);
    if (n > cut && memcmp(decoded + n - cut, ending, cut) == 0)
        n -= cut;
    make_local(decoded, n, out);
}

void mt_pull_name_local(const struct mt_pull_name *name, char out[MT_PULL_LOCAL_BYTES])
{
    char text[MT_PULL_PAIR_BYTES + 16];
    switch (name->registry) {
    case MT_REGISTRY_HUGGING_FACE: {
        const char *last = strchr(name->repository, '/');
        last = last ? last + 1 : name->repository;
        make_local(last, strlen(last), out);
        return;
    }
    case MT_REGISTRY_ARGOS:
    case MT_REGISTRY_FIREFOX:
        snprintf(text, sizeof text, "%s-%s",
                 name->registry == MT_REGISTRY_ARGOS ? "argos" : "firefox", name->pair);
        make_local(text, strlen(text), out);
        return;
    case MT_REGISTRY_URL:
        break;
    }
    mt_pull_local_of_url(name->url, name->is_package ? PACKAGE_ENDING : "", out);
}

static char plain(char c)
{
    if (mt_ascii_is_capital(c))
        return (char)(c + ('a' - 'A'));
    return c == '_' ? '-' : c;
}

bool mt_pull_is_pair(const char *pair, const char *source, const char *target)
{
    size_t n = strlen(source), length = strlen(pair);
    if (n == 0 || length != n + 1 + strlen(target) || plain(pair[n]) != '-')
        return false;
    for (size_t i = 0; i < length; i++)
        if (i != n && plain(pair[i]) != plain(i < n ? source[i] : target[i - n - 1]))
            return false;
    return true;
}

/* --- Registries --- */

static const struct {
    const char *word, *title;
} registries[] = {
    [MT_REGISTRY_HUGGING_FACE] = {"huggingface", "Hugging Face"},
    [MT_REGISTRY_ARGOS] = {"argos", "Argos Translate"},
    [MT_REGISTRY_FIREFOX] = {"firefox", "Firefox"},
    [MT_REGISTRY_URL] = {"", "an address"},
};

const char *mt_registry_title(enum mt_registry registry)
{
    return registries[registry].title;
}

const char *mt_registry_word(enum mt_registry registry)
{
    return registries[registry].word;
}

enum mt_status mt_registry_parse(const char *text, enum mt_registry *out, struct mt_error *err)
{
    struct mt_nearest nearest;
    mt_nearest_begin(&nearest, text);
    for (enum mt_registry i = MT_REGISTRY_HUGGING_FACE; i < MT_REGISTRY_URL; i++) {
        if (strcmp(text, registries[i].word) == 0) {
            *out = i;
            return MT_OK;
        }
        mt_nearest_offer(&nearest, registries[i].word);
    }
    return mt_fail(err, MT_INVALID,
                   "--registry is \"%.60s\"; expected huggingface, argos or firefox%s%s%s", text,
                   nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "",
                   nearest.best ? "?" : "");
}
