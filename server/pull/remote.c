#include "server/pull/remote.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/vector.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), n = strlen(ending);
    return length >= n && strcmp(name + length - n, ending) == 0;
}

/* --- The model --- */

enum mt_status mt_remote_create(const char *title, struct mt_remote **out, struct mt_error *err)
{
    struct mt_arena *arena = NULL;
    struct mt_remote *remote = NULL;
    void *memory = NULL;
    enum mt_status status = mt_arena_create(4 * MT_REMOTE_MAX_DOCUMENT_BYTES, &arena, err);
    if (!status)
        status = mt_arena_take(arena, 1, sizeof *remote, "a model's description", &memory, err);
    remote = memory;
    if (!status)
        status = mt_arena_copy_string(arena, title, strlen(title), &remote->title, err);
    if (status) {
        mt_arena_destroy(arena);
        return status;
    }
    remote->arena = arena;
    *out = remote;
    return MT_OK;
}

void mt_remote_destroy(struct mt_remote *remote)
{
    if (!remote)
        return;
    free(remote->files);
    mt_arena_destroy(remote->arena);
}

enum mt_status mt_remote_print(struct mt_remote *remote, const char **out, struct mt_error *err,
                               const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return mt_fail_memory(err, strlen(format), "a model's description");
    enum mt_status status = mt_arena_copy_string(remote->arena, text, (size_t)length, out, err);
    free(text);
    return status;
}

enum mt_status mt_remote_check_from(const struct mt_remote *remote, struct mt_error *err)
{
    struct mt_pull_name name;
    if (mt_pull_name_parse(remote->from, "", &name, NULL))
        return mt_fail(err, MT_FORMAT,
                       "%s: the registry calls this version \"%.100s\", which is none",
                       remote->title, remote->from);
    return MT_OK;
}

bool mt_remote_is_file_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > MT_STAGING_MAX_NAME_BYTES || name[0] == '.' ||
        mt_utf8_valid_prefix(name, length) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f || strchr("/\\", name[i]) ||
            /* a control character of C1 */
            (name[i] == '\xc2' && (unsigned char)name[i + 1] < 0xa0))
            return false;
    return !ends_with(name, MT_PART_SUFFIX) && !ends_with(name, MT_PART_NOTE_SUFFIX) &&
           !ends_with(name, MT_STAGING_FILE_RECORD) && strcmp(name, MT_STAGING_RECORD) != 0;
}

static bool is_digest(const char *digest, size_t n_digits)
{
    return strlen(digest) == n_digits && strspn(digest, "0123456789abcdef") == n_digits;
}

static enum mt_status check(const struct mt_remote *remote, const struct mt_staged_file *file,
                            struct mt_error *err)
{
    static const size_t n_digits[] = {[MT_DIGEST_SHA256] = 64, [MT_DIGEST_GIT_BLOB] = 40};
    if (file->size < -1 || file->size > MT_DOWNLOAD_MAX_FILE_BYTES)
        return mt_fail(err, MT_FORMAT,
                       "%s: %s: the registry says that it has %lld bytes, expected 0 to %lld",
                       remote->title, file->name, (long long)file->size,
                       (long long)MT_DOWNLOAD_MAX_FILE_BYTES);
    if (file->digest_kind != MT_DIGEST_NONE &&
        (!file->digest || !is_digest(file->digest, n_digits[file->digest_kind])))
        return mt_fail(
            err, MT_FORMAT,
            "%s: %s: the registry's digest is \"%.80s\", expected %zu hexadecimal digits",
            remote->title, file->name, file->digest ? file->digest : "",
            n_digits[file->digest_kind]);
    if (mt_remote_find(remote, file->name))
        return mt_fail(err, MT_FORMAT, "%s: the registry lists the file %s twice", remote->title,
                       file->name);
    if (remote->n_files == MT_REMOTE_MAX_FILES)
        return mt_fail(err, MT_LIMIT, "%s: has more than %d files, which no model has",
                       remote->title, MT_REMOTE_MAX_FILES);
    return MT_OK;
}

static enum mt_status make_url(struct mt_remote *remote, const char *name, const char **out,
                               struct mt_error *err)
{
    struct mt_text url = {.limit_bytes = MT_DOWNLOAD_MAX_URL_BYTES};
    mt_text_append_string(&url, remote->base);
    mt_remote_append_escaped(&url, name);
    enum mt_status status = mt_text_check(&url, "the address of a file", err);
    if (!status)
        status = mt_arena_copy_string(remote->arena, url.bytes, url.length, out, err);
    mt_text_finish(&url);
    return status;
}

enum mt_status mt_remote_add(struct mt_remote *remote, const struct mt_staged_file *file,
                             struct mt_error *err)
{
    if (!mt_remote_is_file_name(file->name))
        return MT_OK;
    enum mt_status status = check(remote, file, err);
    if (status)
        return status;
    if (MT_ROOM(&remote->files, &remote->capacity, remote->n_files + 1, "names of files", err))
        return MT_MEMORY;
    struct mt_staged_file copy = *file;
    status = mt_arena_copy_string(remote->arena, file->name, strlen(file->name), &copy.name, err);
    if (!status && file->digest_kind != MT_DIGEST_NONE)
        status = mt_arena_copy_string(remote->arena, file->digest, strlen(file->digest),
                                      &copy.digest, err);
    if (!status && file->url)
        status = mt_arena_copy_string(remote->arena, file->url, strlen(file->url), &copy.url, err);
    else if (!status)
        status = make_url(remote, file->name, &copy.url, err);
    if (!status)
        remote->files[remote->n_files++] = copy;
    return status;
}

const struct mt_staged_file *mt_remote_find(const struct mt_remote *remote, const char *name)
{
    for (size_t i = 0; i < remote->n_files; i++)
        if (strcmp(remote->files[i].name, name) == 0)
            return &remote->files[i];
    return NULL;
}

/* --- Weights of other programs --- */

static const struct {
    const char *ending, *program;
} unreadable[] = {
    {".h5", "TensorFlow"},
    {".msgpack", "Flax"},
    {".ot", "Rust (rust-bert)"},
    {".onnx", "ONNX"},
    {".gguf", "llama.cpp"},
    {".tflite", "TensorFlow Lite"},
    {".intgemm.alphas.bin", "Bergamot"},
    {"adapter_model.safetensors", "PEFT (an adapter, not a model)"},
    {"adapter_model.bin", "PEFT (an adapter, not a model)"},
    {"pytorch_model.bin.index.json", "PyTorch, in several files"},
    {".ckpt", "another program of PyTorch's"},
    {".pth", "another program of PyTorch's"},
    {".pt", "another program of PyTorch's"},
    {".mlmodel", "Core ML"},
};

enum mt_status mt_remote_note_unreadable(struct mt_remote *remote, const char *name,
                                         struct mt_error *err)
{
    if (remote->unreadable || mt_utf8_valid_prefix(name, strlen(name)) != strlen(name))
        return MT_OK;
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++)
        if (ends_with(name, unreadable[i].ending)) {
            remote->unreadable_for = unreadable[i].program;
            return mt_arena_copy_string(remote->arena, name, strnlen(name, 120),
                                        &remote->unreadable, err);
        }
    return MT_OK;
}

/* --- Documents --- */

void mt_remote_append_escaped(struct mt_text *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x80 && (isalnum(c) || strchr("-._~", c)))
            mt_text_append(out, text, 1);
        else
            mt_text_appendf(out, "%%%02X", c);
    }
}

enum mt_status mt_remote_parse(const char *bytes, size_t length, const char *what,
                               struct cJSON **out, struct mt_error *err)
{
    /* A model's config.json may be nested deeper than the settings that we read. */
    static const struct mt_json_limits limits = {.max_depth = 32,
                                                 .max_values = MT_REMOTE_MAX_VALUES};
    return mt_json_parse(bytes, length, &limits, what, out, err);
}

const char *mt_remote_string(const struct cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

enum mt_status mt_remote_size(const struct cJSON *object, const char *key, const char *what,
                              int64_t *out, struct mt_error *err)
{
    int64_t size = -1;
    struct mt_error problem;
    if (mt_json_get_integer(object, key, 0, MT_DOWNLOAD_MAX_FILE_BYTES, &size, NULL, &problem))
        return mt_fail(err, MT_FORMAT, "%s: %s", what, problem.message);
    *out = size;
    return MT_OK;
}

/* --- Licences --- */

static bool is_one_of(const char *word, size_t length, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i]) == length && strncasecmp(word, words[i], length) == 0)
            return true;
    return false;
}

bool mt_licence_is_non_commercial(const char *licence)
{
    /* Identifiers that do not have a word for it. */
    static const char *const whole[] = {"apple-amlr", "intel-research", "h-research",
                                        "research-only"};
    static const char *const words[] = {"nc", "noncommercial", "research"};
    if (is_one_of(licence, strlen(licence), whole, sizeof whole / sizeof *whole) ||
        strcasestr(licence, "non-commercial") || strcasestr(licence, "noncommercial"))
        return true;
    for (const char *word = licence; *word;) {
        size_t length = strcspn(word, "-_ ,");
        if (is_one_of(word, length, words, sizeof words / sizeof *words))
            return true;
        word += length + (word[length] != '\0');
    }
    return false;
}

/* --- Versions --- */

bool mt_version_is_release(const char *version)
{
    return *version && version[strspn(version, "0123456789.")] == '\0';
}

/* --- Offers --- */

enum mt_status mt_offers_add(struct mt_offers *offers, const struct mt_offer *offer,
                             struct mt_error *err)
{
    for (size_t i = 0; i < offers->n; i++) {
        struct mt_offer *known = &offers->list[i];
        if (known->registry != offer->registry || strcmp(known->pull, offer->pull) != 0)
            continue;
        if (strverscmp(known->version, offer->version) < 0)
            *known = *offer;
        return MT_OK;
    }
    if (offers->n == MT_REMOTE_MAX_OFFERS)
        return mt_fail(err, MT_LIMIT, "%s offers more than %d models",
                       mt_registry_title(offer->registry), MT_REMOTE_MAX_OFFERS);
    if (MT_ROOM(&offers->list, &offers->capacity, offers->n + 1, "what is offered", err))
        return MT_MEMORY;
    offers->list[offers->n++] = *offer;
    return MT_OK;
}

static int by_registry_and_name(const void *a, const void *b)
{
    const struct mt_offer *left = a, *right = b;
    if (left->registry != right->registry)
        return left->registry < right->registry ? -1 : 1;
    return strcmp(left->pull, right->pull);
}

void mt_offers_sort(struct mt_offers *offers)
{
    if (offers->n > 0)
        qsort(offers->list, offers->n, sizeof *offers->list, by_registry_and_name);
}

void mt_offers_finish(struct mt_offers *offers)
{
    free(offers->list);
    *offers = (struct mt_offers){0};
}
