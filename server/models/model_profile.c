#include "server/models/model_profile.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/size.h"
#include "model/files/hparams.h"
#include "model/files/source.h"
#include "model/tokenizer/tokenizer_config.h"
#include "model/files/tokenizer_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 4096
#define MAX_VOCABULARY_BYTES ((size_t)64 << 20)
#define MAX_TARGETS 1024
#define MAX_TOKEN_BYTES 32 /* most bytes of a code between >> and << */
#define MAX_NAME_BYTES 255

/* ---- files ---- */

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), end_length = strlen(end);
    return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

/* Temporary names, files for people and logs do not count. */
bool mt_model_profile_counts(const char *name)
{
    return name[0] != '.' && !ends_with(name, ".md") && !ends_with(name, ".log") &&
           strncmp(name, "LICENSE", 7) != 0;
}

static bool is_weights(const char *name)
{
    static const char *const endings[] = {".safetensors", ".bin",     ".npz",    ".bin.gz",
                                          ".npz.gz",      ".bin.zst", ".npz.zst"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(name, endings[i]))
            return true;
    return false;
}

static void add_file(struct mt_model_profile *profile, const char *name, const struct stat *st)
{
    const int64_t facts[] = {st->st_size,        st->st_mtim.tv_sec,  st->st_mtim.tv_nsec,
                             st->st_ctim.tv_sec, st->st_ctim.tv_nsec, (int64_t)st->st_ino,
                             (int64_t)st->st_dev};
    uint64_t hash = mt_hash(MT_HASH_BEGIN, name, strlen(name));
    profile->files_hash += mt_hash(hash, facts, sizeof facts);
    if ((uint64_t)st->st_size > profile->largest_file_bytes)
        profile->largest_file_bytes = (uint64_t)st->st_size;
}

/* The hashes of the files are added, so that their order does not matter. */
static enum mt_status look_at_files(const char *path, DIR *directory,
                                    struct mt_model_profile *profile, bool *has_weights,
                                    struct mt_error *err)
{
    const struct dirent *entry;
    size_t n = 0;
    while ((entry = readdir(directory))) {
        struct stat st;
        if (!mt_model_profile_counts(entry->d_name) ||
            fstatat(dirfd(directory), entry->d_name, &st, 0) != 0)
            continue;
        if (!S_ISREG(st.st_mode) && is_weights(entry->d_name))
            return mt_fail(err, MT_IO, "%s/%s: expected a regular file, found a %s", path,
                           entry->d_name, mt_file_kind(st.st_mode));
        if (!S_ISREG(st.st_mode))
            continue;
        *has_weights |= is_weights(entry->d_name);
        if (++n > MAX_FILES)
            return mt_fail(err, MT_LIMIT, "%s: more than %d files", path, MAX_FILES);
        add_file(profile, entry->d_name, &st);
    }
    return MT_OK;
}

static enum mt_status read_folder(const char *path, struct mt_model_profile *profile,
                                  bool *has_weights, struct mt_error *err)
{
    DIR *directory = opendir(path);
    if (!directory)
        return mt_fail_errno(err, path, "open the directory");
    enum mt_status status = look_at_files(path, directory, profile, has_weights, err);
    closedir(directory);
    return status;
}

/* A model is a folder, a package of Argos Translate with its weights one folder deeper, or such a
 * package in a single file. */
static enum mt_status read_files(const char *path, struct mt_model_profile *profile,
                                 struct mt_error *err)
{
    struct stat st;
    bool has_weights = false;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && mt_source_is_model(path)) {
        add_file(profile, "", &st);
        return MT_OK;
    }
    enum mt_status status = read_folder(path, profile, &has_weights, err);
    if (!status && !has_weights && mt_source_is_model(path) && mt_path_holds(path, "model")) {
        char *deeper;
        status = mt_path_join(path, "model", &deeper, err);
        if (status)
            return status;
        status = read_folder(deeper, profile, &has_weights, err);
        free(deeper);
    }
    if (!status && !has_weights)
        status = mt_fail(err, MT_NOT_FOUND,
                         "%s: expected weights (model.safetensors, pytorch_model.bin, Marian's "
                         "*.npz or CTranslate2's model.bin), found none",
                         path);
    return status;
}

/* ---- languages ---- */

struct side {
    struct mt_model_language *languages;
    size_t n, capacity;
};

static enum mt_status add_language(struct mt_arena *arena, struct side *side, const char *code,
                                   const char *token, struct mt_error *err)
{
    if (side->n == side->capacity) {
        size_t capacity = mt_size_max(2 * side->capacity, 4);
        void *memory;
        enum mt_status status =
            mt_arena_take(arena, capacity, sizeof side->languages[0], "languages", &memory, err);
        if (status)
            return status;
        if (side->n > 0)
            memcpy(memory, side->languages, side->n * sizeof side->languages[0]);
        side->languages = memory;
        side->capacity = capacity;
    }
    for (size_t i = 0; i < side->n; i++)
        if (strcmp(side->languages[i].code, code) == 0)
            return MT_OK;
    struct mt_model_language *language = &side->languages[side->n];
    memcpy(language->code, code, strlen(code) + 1);
    language->token = token;
    side->n++;
    return MT_OK;
}

static enum mt_status add_all(struct mt_arena *arena, struct side *side, const char *const *codes,
                              size_t n, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = add_language(arena, side, codes[i], NULL, err);
    return status;
}

/* Translates the codes that only OPUS uses. */
static bool normalise_token(const char *code, char out[MT_LANGUAGE_BYTES])
{
    static const char *const own[][2] = {{"pob", "pt-BR"}, {"cmn", "zh"}, {"jpn_Hani", "ja"}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(code, own[i][0]) == 0)
            code = own[i][1];
    return mt_language_normalise(code, out);
}

/* The targets are those pieces of the vocabulary that are ">>code<<". The file is fully checked
 * when the model is loaded; here it is only searched. */
static enum mt_status read_tokens(const char *bytes, size_t length, struct mt_arena *arena,
                                  struct side *targets, struct mt_error *err)
{
    const char *end = bytes + length;
    enum mt_status status = MT_OK;
    for (const char *at = bytes; !status && (at = memmem(at, (size_t)(end - at), "\">>", 3));
         at += 3) {
        char code[MAX_TOKEN_BYTES], normal[MT_LANGUAGE_BYTES];
        const char *token;
        const char *last =
            memmem(at + 3, mt_size_min((size_t)(end - at) - 3, MAX_TOKEN_BYTES), "<<\"", 3);
        if (!last)
            continue;
        memcpy(code, at + 3, (size_t)(last - at) - 3);
        code[last - at - 3] = '\0';
        if (!normalise_token(code, normal) || targets->n == MAX_TARGETS)
            continue;
        status = mt_arena_copy_string(arena, at + 1, (size_t)(last - at) + 1, &token, err);
        if (!status)
            status = add_language(arena, targets, normal, token, err);
    }
    return status;
}

static enum mt_status read_vocabulary(const struct mt_source *source, struct mt_arena *arena,
                                      struct side *targets, struct mt_error *err)
{
    struct mt_document file = {0};
    if (!mt_source_has(source, "vocab.json"))
        return MT_OK;
    enum mt_status status = mt_source_read(source, "vocab.json", MAX_VOCABULARY_BYTES, &file, err);
    if (!status)
        status = read_tokens(file.bytes, file.length, arena, targets, err);
    mt_document_finish(&file);
    return status;
}

/* Adds the languages of a model of many; those without a code of ours are left out. */
static enum mt_status add_own_languages(struct mt_arena *arena,
                                        const struct mt_tokenizer_config *config, struct side *out,
                                        struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < config->n_languages && !status; i++) {
        char normal[MT_LANGUAGE_BYTES];
        if (mt_language_of_model(config->languages[i].code, normal))
            status = add_language(arena, out, normal, config->languages[i].code, err);
    }
    return status;
}

/* Copies the tokens of the languages that attentiond.json names. */
static void give_tokens(struct side *side, const struct side *found)
{
    for (size_t i = 0; i < side->n; i++)
        for (size_t k = 0; k < found->n && !side->languages[i].token; k++)
            if (mt_language_matches(side->languages[i].code, found->languages[k].code))
                side->languages[i].token = found->languages[k].token;
}

static enum mt_status add_code(struct mt_arena *arena, struct side *side, const char *code,
                               struct mt_error *err)
{
    char normal[MT_LANGUAGE_BYTES];
    if (!code || !mt_language_normalise(code, normal))
        return MT_OK;
    return add_language(arena, side, normal, NULL, err);
}

/* ---- the directory's name ---- */

/* Whether the text is the code of a language that has a name; other words may look like codes. */
static bool is_language(const char *text, size_t length, char out[MT_LANGUAGE_BYTES])
{
    char tag[MT_LANGUAGE_BYTES], name[MT_LANGUAGE_NAME_BYTES];
    size_t n_letters = strcspn(text, "_-.");
    if (n_letters > length)
        n_letters = length;
    if (n_letters < 2 || n_letters > 3 || length >= sizeof tag)
        return false;
    memcpy(tag, text, length);
    tag[length] = '\0';
    if (!mt_language_normalise(tag, out))
        return false;
    mt_language_name(out, name);
    return strcmp(name, out) != 0;
}

struct name {
    char source[MT_LANGUAGE_BYTES], target[MT_LANGUAGE_BYTES];
};

/* Reads "en-de" or "pt_BR-en" at the end of a name, behind a '-' if anything comes before it. */
static bool read_pair(const char *name, size_t length, char separator, struct name *out)
{
    const char *middle = memrchr(name, separator, length);
    if (!middle)
        return false;
    const char *begin = memrchr(name, '-', (size_t)(middle - name));
    begin = begin ? begin + 1 : name;
    return is_language(begin, (size_t)(middle - begin), out->source) &&
           is_language(middle + 1, length - (size_t)(middle + 1 - name), out->target);
}

/* Returns the length without the version "-1_9" in names of Argos' packages. */
static size_t without_version(const char *name, size_t length)
{
    const char *dash = memrchr(name, '-', length);
    if (!dash || dash[1] < '0' || dash[1] > '9')
        return length;
    return (size_t)(dash - name);
}

static void read_name(const char *name, struct name *out)
{
    const char *dot = strrchr(name, '.');
    size_t length = without_version(name, strlen(name));
    if (dot && read_pair(dot + 1, strlen(dot + 1), '-', out))
        return;
    if (!read_pair(name, length, '-', out) && !read_pair(name, length, '_', out))
        *out = (struct name){0};
}

/* ---- all of it ---- */

static enum mt_status read_languages(const struct mt_source *source, const char *name,
                                     struct mt_model_profile *profile, struct mt_error *err)
{
    const struct mt_model_defaults *defaults = &profile->defaults;
    struct mt_arena *arena = profile->arena;
    struct side sources = {0}, targets = {0}, tokens = {0}, own = {0};
    struct mt_tokenizer_config config = {0};
    struct name said = {0};
    read_name(name, &said);
    enum mt_status status = mt_tokenizer_config_read(source, arena, &config, err);
    if (!status)
        status = add_own_languages(arena, &config, &own, err);
    if (!status && own.n == 0)
        status = read_vocabulary(source, arena, &tokens, err);
    if (own.n > 0)
        tokens = own;
    if (!status)
        status = add_all(arena, &sources, defaults->source_langs, defaults->n_source_langs, err);
    if (!status)
        status = add_all(arena, &targets, defaults->target_langs, defaults->n_target_langs, err);
    if (sources.n == 0)
        sources = own;
    if (!status && sources.n == 0)
        status = add_code(arena, &sources, config.source_lang, err);
    if (!status && sources.n == 0)
        status = add_code(arena, &sources, said.source, err);
    if (targets.n == 0 && tokens.n > 0)
        targets = tokens;
    if (!status && targets.n == 0)
        status = add_code(arena, &targets, config.target_lang, err);
    if (!status && targets.n == 0)
        status = add_code(arena, &targets, said.target, err);
    give_tokens(&targets, &tokens);
    give_tokens(&sources, &own);
    if (own.n > 0 && !defaults->says_quality)
        profile->defaults.quality = MT_GENERAL_QUALITY;
    profile->sources = sources.languages;
    profile->n_sources = sources.n;
    profile->targets = targets.languages;
    profile->n_targets = targets.n;
    return status;
}

static void describe_shape(const struct mt_hparams *hparams, struct mt_model_profile *profile)
{
    profile->max_positions = hparams->max_positions;
    profile->n_beams = hparams->n_beams;
    profile->shape = (struct mt_model_shape){
        .n_encoder_layers = hparams->n_encoder_layers,
        .n_decoder_layers = hparams->n_decoder_layers,
        .n_heads = hparams->n_encoder_heads,
        .d_model = hparams->d_model,
        .d_ff = hparams->d_ff_encoder,
        .n_source_vocab = hparams->n_source_vocab,
        .n_target_vocab = hparams->n_target_vocab,
        .has_ssru = hparams->decoder_cell == MT_CELL_SSRU,
    };
}

static enum mt_status read_documents(const char *directory, const char *name,
                                     struct mt_model_profile *profile, struct mt_error *err)
{
    struct mt_hparams hparams;
    struct mt_source *source;
    enum mt_status status = mt_source_open(directory, &source, err);
    if (status)
        return status;
    status = mt_hparams_read(source, &hparams, err);
    if (!status)
        status = read_languages(source, name, profile, err);
    if (!status)
        describe_shape(&hparams, profile);
    mt_source_close(source);
    return status;
}

static enum mt_status read_origin(const char *directory, struct mt_model_profile *profile,
                                  struct mt_error *err)
{
    struct mt_origin origin;
    enum mt_status status = mt_origin_read(directory, &origin, err);
    if (status)
        return status;
    memcpy(profile->from, origin.from, sizeof profile->from);
    memcpy(profile->licence, origin.licence, sizeof profile->licence);
    if (!profile->licence[0])
        (void)mt_model_card_licence(directory, profile->licence);
    return MT_OK;
}

enum mt_status mt_model_profile_read(const char *directory, const char *name,
                                     struct mt_model_profile *out, struct mt_error *err)
{
    struct mt_model_profile profile = {0};
    enum mt_status status = mt_arena_create(0, &profile.arena, err);
    if (status)
        return status;
    status = read_files(directory, &profile, err);
    if (!status)
        status = mt_model_defaults_read(directory, profile.arena, &profile.defaults, err);
    if (!status)
        status = read_documents(directory, name, &profile, err);
    if (!status)
        status = read_origin(directory, &profile, err);
    if (status) {
        mt_arena_destroy(profile.arena);
        return status;
    }
    *out = profile;
    return MT_OK;
}

void mt_model_profile_finish(struct mt_model_profile *profile)
{
    mt_arena_destroy(profile->arena);
    *profile = (struct mt_model_profile){0};
}

static const char *token_of(const struct mt_model_language *languages, size_t n, const char *code)
{
    for (size_t i = 0; i < n; i++)
        if (mt_language_matches(code, languages[i].code))
            return languages[i].token;
    return NULL;
}

enum mt_status mt_model_profile_set_language(struct mt_model_profile *profile, bool is_target,
                                             const char *code, struct mt_error *err)
{
    struct side only = {0};
    char normal[MT_LANGUAGE_BYTES];
    if (!mt_language_normalise(code, normal))
        return mt_fail(err, MT_INVALID, "%s is \"%s\", expected a language code",
                       is_target ? "target_lang" : "source_lang", code);
    const char *token = is_target ? token_of(profile->targets, profile->n_targets, normal)
                                  : token_of(profile->sources, profile->n_sources, normal);
    enum mt_status status = add_language(profile->arena, &only, normal, token, err);
    if (status)
        return status;
    *(is_target ? &profile->targets : &profile->sources) = only.languages;
    *(is_target ? &profile->n_targets : &profile->n_sources) = 1;
    return MT_OK;
}
