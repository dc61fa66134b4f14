#include "server/pull/choice.h"

#include "base/yaml_reader.h"
#include "weights/shards.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CONFIG "config.json"
#define INDEX "model.safetensors.index.json"
#define DECODER "decoder.yml"
#define CT2_WEIGHTS "model.bin"
/* Names of SentencePiece models in quickmt's repositories. */
#define QUICKMT_BOTH "joint.spm.model"
#define QUICKMT_SOURCE "src.spm.model"
#define QUICKMT_TARGET "tgt.spm.model"
#define SERVED                                                                               \
    "attentiond serves MarianMT and OPUS-MT (model_type \"marian\"), M2M100, NLLB and "      \
    "mBART-50 (\"m2m_100\" or \"mbart\", with sentencepiece.bpe.model), Marian's .npz with " \
    "its decoder.yml or HPLT's model.*.spm, CTranslate2's model.bin (quickmt's, too), and "  \
    "Argos Translate's packages"

/* In the order in which model/files/source.c looks for them. */
static const char *const marianmt_weights[] = {"model.safetensors", INDEX, "pytorch_model.bin",
                                               "attentiond.int8.safetensors", NULL};
/* Files without which no MarianMT model can be served. */
static const char *const marianmt_needs[] = {"vocab.json", "source.spm", "target.spm", NULL};
static const char *const marianmt_documents[] = {"generation_config.json",  "tokenizer_config.json",
                                                 "special_tokens_map.json", "target_vocab.json",
                                                 "attentiond.json",         NULL};
/* Models of many languages (model/families/multilingual.h). */
#define MULTILINGUAL_SPM "sentencepiece.bpe.model"
static const char *const multilingual_needs[] = {MULTILINGUAL_SPM, NULL};
static const char *const multilingual_documents[] = {"vocab.json", "added_tokens.json", NULL};
static const char *const ct2_documents[] = {CONFIG,
                                            "shared_vocabulary.json",
                                            "shared_vocabulary.txt",
                                            "source_vocabulary.json",
                                            "source_vocabulary.txt",
                                            "target_vocabulary.json",
                                            "target_vocabulary.txt",
                                            "tokenizer_config.json",
                                            "source.spm",
                                            "target.spm",
                                            "sentencepiece.model",
                                            QUICKMT_BOTH,
                                            QUICKMT_SOURCE,
                                            QUICKMT_TARGET,
                                            "bpe.model",
                                            "metadata.json",
                                            "attentiond.json",
                                            NULL};
static const char *const card[] = {"README.md", NULL};

/* All names in the tables above, and the names of licences. */
const char *const mt_choice_known_names[] = {
    CONFIG,
    DECODER,
    "model.safetensors",
    INDEX,
    "pytorch_model.bin",
    "attentiond.int8.safetensors",
    CT2_WEIGHTS,
    "vocab.json",
    "target_vocab.json",
    "source.spm",
    "target.spm",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    MULTILINGUAL_SPM,
    "added_tokens.json",
    "shared_vocabulary.json",
    "shared_vocabulary.txt",
    "source_vocabulary.json",
    "source_vocabulary.txt",
    "target_vocabulary.json",
    "target_vocabulary.txt",
    "sentencepiece.model",
    QUICKMT_BOTH,
    QUICKMT_SOURCE,
    QUICKMT_TARGET,
    "attentiond.json",
    "README.md",
    "LICENSE",
    "LICENSE.md",
    "LICENSE.txt",
    NULL,
};

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), n = strlen(ending);
    return length >= n && strcmp(name + length - n, ending) == 0;
}

static bool is_there(const struct mt_choice *choice, const char *name)
{
    return mt_remote_find(choice->remote, name) != NULL;
}

/* Adds a file of the remote, unless it was added before. */
static enum mt_status take(struct mt_choice *choice, const struct mt_staged_file *file,
                           struct mt_error *err)
{
    for (size_t i = 0; i < choice->n; i++)
        if (strcmp(choice->files[i].name, file->name) == 0)
            return MT_OK;
    if (choice->n == MT_STAGING_MAX_FILES)
        return mt_fail(err, MT_LIMIT, "%s: needs more than %d files", choice->remote->title,
                       MT_STAGING_MAX_FILES);
    choice->files[choice->n++] = *file;
    return MT_OK;
}

/* Adds those of the files that the remote has. */
static enum mt_status take_all(struct mt_choice *choice, const char *const *names,
                               struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (; *names && !status; names++) {
        const struct mt_staged_file *file = mt_remote_find(choice->remote, *names);
        if (file)
            status = take(choice, file, err);
    }
    return status;
}

/* Adds a file that a document names. If the server does not list its files, then it is assumed to
 * exist. */
static enum mt_status take_named(struct mt_choice *choice, const char *document, const char *name,
                                 struct mt_error *err)
{
    const struct mt_staged_file file = {.name = name, .size = -1};
    struct mt_remote *remote = choice->remote;
    if (!mt_remote_is_file_name(name))
        return mt_fail(err, MT_FORMAT, "%s: %s: \"%.100s\" is not the name of a file beside it",
                       remote->title, document, name);
    if (!mt_remote_find(remote, name)) {
        if (remote->is_listed)
            return mt_fail(err, MT_NOT_FOUND, "%s: %s names the file %s, which is not there",
                           remote->title, document, name);
        enum mt_status status = mt_remote_add(remote, &file, err);
        if (status)
            return status;
    }
    return take(choice, mt_remote_find(remote, name), err);
}

/* Adds the model's description: README.md, and licences under their usual names. */
static enum mt_status take_card(struct mt_choice *choice, struct mt_error *err)
{
    static const char *const beginnings[] = {"LICENSE", "LICENCE", "COPYING", "NOTICE"};
    const struct mt_remote *remote = choice->remote;
    enum mt_status status = take_all(choice, card, err);
    for (size_t i = 0; i < remote->n_files && !status; i++)
        for (size_t k = 0; k < sizeof beginnings / sizeof *beginnings && !status; k++)
            if (strncasecmp(remote->files[i].name, beginnings[k], strlen(beginnings[k])) == 0)
                status = take(choice, &remote->files[i], err);
    return status;
}

/* --- MarianMT --- */

static const char *first_there(const struct mt_choice *choice, const char *const *names)
{
    while (*names && !is_there(choice, *names))
        names++;
    return *names;
}

static bool is_multilingual(const struct mt_choice *choice)
{
    return is_there(choice, MULTILINGUAL_SPM);
}

/* This includes models of many languages, which have other documents for the same weights. */
static enum mt_status begin_marianmt(struct mt_choice *choice, const char *weights,
                                     struct mt_error *err)
{
    const char *const first[] = {CONFIG, weights && strcmp(weights, INDEX) == 0 ? INDEX : NULL,
                                 NULL};
    enum mt_status status = take_all(choice, first, err);
    choice->n_first = choice->n;
    choice->needs_weights = !weights;
    if (status || !weights)
        return status;
    bool is_multi = is_multilingual(choice);
    const char *const *needs = is_multi ? multilingual_needs : marianmt_needs;
    for (const char *const *need = needs; *need && !status; need++)
        if (!is_there(choice, *need))
            status = mt_fail(err, MT_NOT_FOUND,
                             "%s: has no %s, without which a MarianMT model cannot be served",
                             choice->remote->title, *need);
    const char *const only[] = {weights, NULL};
    if (!status)
        status = take_all(choice, needs, err);
    if (!status && is_multi)
        status = take_all(choice, multilingual_documents, err);
    if (!status)
        status = take_all(choice, marianmt_documents, err);
    return status ? status : take_all(choice, only, err);
}

/* --- The others --- */

static bool is_ctranslate2(const struct mt_choice *choice)
{
    /* Models for speech recognition and language models have a vocabulary of another name. */
    bool is_shared =
        is_there(choice, "shared_vocabulary.json") || is_there(choice, "shared_vocabulary.txt");
    bool has_source =
        is_there(choice, "source_vocabulary.json") || is_there(choice, "source_vocabulary.txt");
    bool has_target =
        is_there(choice, "target_vocabulary.json") || is_there(choice, "target_vocabulary.txt");
    return is_there(choice, CT2_WEIGHTS) && (is_shared || (has_source && has_target));
}

static enum mt_status begin_ctranslate2(struct mt_choice *choice, struct mt_error *err)
{
    static const char *const weights[] = {CT2_WEIGHTS, NULL};
    if (!is_there(choice, "sentencepiece.model") && !is_there(choice, QUICKMT_BOTH) &&
        !(is_there(choice, "source.spm") && is_there(choice, "target.spm")) &&
        !(is_there(choice, QUICKMT_SOURCE) && is_there(choice, QUICKMT_TARGET)))
        return mt_fail(
            err, MT_NOT_FOUND,
            "%s: has neither source.spm and target.spm nor sentencepiece.model (nor quickmt's "
            "joint.spm.model, or src.spm.model and tgt.spm.model) beside " CT2_WEIGHTS
            ", without which a model of CTranslate2 cannot be served",
            choice->remote->title);
    enum mt_status status = take_all(choice, ct2_documents, err);
    return status ? status : take_all(choice, weights, err);
}

/* Returns decoder.yml, or the only file with that ending; NULL: there are none, or several. */
static const char *decoder_of(const struct mt_choice *choice)
{
    const struct mt_remote *remote = choice->remote;
    const char *found = NULL;
    if (is_there(choice, DECODER))
        return mt_remote_find(remote, DECODER)->name;
    for (size_t i = 0; i < remote->n_files; i++) {
        if (!ends_with(remote->files[i].name, "." DECODER))
            continue;
        if (found)
            return NULL;
        found = remote->files[i].name;
    }
    return found;
}

static bool has_npz(const struct mt_choice *choice)
{
    bool found = !choice->remote->is_listed; /* decoder.yml will name the file */
    for (size_t i = 0; i < choice->remote->n_files && !found; i++)
        found = ends_with(choice->remote->files[i].name, ".npz");
    return found;
}

static enum mt_status begin_marian(struct mt_choice *choice, const char *decoder,
                                   struct mt_error *err)
{
    static const char *const documents[] = {"source.spm", "target.spm", "attentiond.json", NULL};
    enum mt_status status = take(choice, mt_remote_find(choice->remote, decoder), err);
    choice->n_first = choice->n;
    return status ? status : take_all(choice, documents, err);
}

/* Returns the only file whose name has this beginning and ending, or NULL. */
static const struct mt_staged_file *only_one(const struct mt_choice *choice, const char *beginning,
                                             const char *ending)
{
    const struct mt_staged_file *found = NULL;
    for (size_t i = 0; i < choice->remote->n_files; i++) {
        const struct mt_staged_file *file = &choice->remote->files[i];
        if (strncmp(file->name, beginning, strlen(beginning)) != 0 ||
            !ends_with(file->name, ending))
            continue;
        if (found)
            return NULL;
        found = file;
    }
    return found;
}

/* Whether the model is one of HPLT's: model.npz.best-chrf.npz and model.en-fi.spm, without a
 * decoder.yml. */
static bool is_hplt(const struct mt_choice *choice)
{
    return only_one(choice, "model.", ".npz") && only_one(choice, "", ".npz") &&
           only_one(choice, "model.", ".spm");
}

static enum mt_status begin_hplt(struct mt_choice *choice, struct mt_error *err)
{
    static const char *const documents[] = {"attentiond.json", NULL};
    enum mt_status status = take(choice, only_one(choice, "model.", ".spm"), err);
    if (!status)
        status = take_all(choice, documents, err);
    return status ? status : take(choice, only_one(choice, "model.", ".npz"), err);
}

/* --- Missing files --- */

static enum mt_status refuse_weights(const struct mt_choice *choice, struct mt_error *err)
{
    const struct mt_remote *remote = choice->remote;
    if (remote->unreadable)
        return mt_fail(err, MT_UNSUPPORTED,
                       "%s: its weights are for %s (%s), which attentiond does not read; expected "
                       "model.safetensors or pytorch_model.bin, CTranslate2's model.bin, or "
                       "Marian's .npz with its decoder.yml",
                       remote->title, remote->unreadable_for, remote->unreadable);
    if (is_there(choice, CT2_WEIGHTS))
        return mt_fail(err, MT_UNSUPPORTED,
                       "%s: its " CT2_WEIGHTS " has no shared_vocabulary.json (or .txt), nor "
                       "source_ and target_vocabulary, so it is no translation model of "
                       "CTranslate2's; " SERVED,
                       remote->title);
    for (size_t i = 0; i < remote->n_files; i++)
        if (ends_with(remote->files[i].name, ".npz"))
            return mt_fail(err, MT_UNSUPPORTED,
                           "%s: beside %s there is no decoder.yml (or several), which says how "
                           "it translates, nor one model.*.spm, as HPLT's models have",
                           remote->title, remote->files[i].name);
    return mt_fail(err, MT_NOT_FOUND,
                   "%s: has no weights; expected model.safetensors or pytorch_model.bin with "
                   "config.json, CTranslate2's model.bin, or Marian's .npz with its decoder.yml",
                   remote->title);
}

enum mt_status mt_choice_begin(struct mt_remote *remote, struct mt_choice *out,
                               struct mt_error *err)
{
    struct mt_choice *choice = out;
    *choice = (struct mt_choice){.remote = remote};
    const char *weights = first_there(choice, marianmt_weights), *decoder = decoder_of(choice);
    enum mt_status status;
    if (is_there(choice, CONFIG) && weights)
        status = begin_marianmt(choice, weights, err);
    else if (is_ctranslate2(choice))
        status = begin_ctranslate2(choice, err);
    else if (decoder && has_npz(choice))
        status = begin_marian(choice, decoder, err);
    else if (is_hplt(choice))
        status = begin_hplt(choice, err);
    else if (is_there(choice, CONFIG) && !is_there(choice, CT2_WEIGHTS))
        status = begin_marianmt(choice, NULL, err);
    else
        status = refuse_weights(choice, err);
    return status ? status : take_card(choice, err);
}

/* --- The documents that determine other files --- */

static enum mt_status read_config(struct mt_choice *choice, const char *bytes, size_t length,
                                  struct mt_error *err)
{
    cJSON *config;
    const char *title = choice->remote->title;
    char what[256];
    snprintf(what, sizeof what, "%.200s: " CONFIG, title);
    enum mt_status status = mt_remote_parse(bytes, length, what, &config, err);
    if (status)
        return status;
    const char *type = mt_remote_string(config, "model_type");
    if (!*type)
        status = mt_fail(err, MT_UNSUPPORTED, "%s has no model_type; " SERVED, what);
    else if (strcmp(type, "marian") != 0 && strcmp(type, "attentiond") != 0 &&
             !(is_multilingual(choice) &&
               (strcmp(type, "m2m_100") == 0 || strcmp(type, "mbart") == 0)))
        status = mt_fail(err, MT_UNSUPPORTED, "%s is a model of the kind \"%.40s\"; " SERVED, title,
                         type);
    cJSON_Delete(config);
    if (!status && choice->needs_weights)
        status = refuse_weights(choice, err);
    return status;
}

static enum mt_status read_index(struct mt_choice *choice, const char *bytes, size_t length,
                                 struct mt_error *err)
{
    struct mt_shard_list list;
    char what[256];
    snprintf(what, sizeof what, "%.200s: " INDEX, choice->remote->title);
    enum mt_status status = mt_shards_list_memory(bytes, length, what, &list, err);
    if (status)
        return status;
    for (size_t i = 0; i < list.n && !status; i++)
        status = take_named(choice, INDEX, list.names[i], err);
    mt_shard_list_finish(&list);
    return status;
}

struct decoder {
    struct mt_choice *choice;
    const char *name;
    size_t n_models;
};

/* Names may include folders of the machine where the model was trained; the files are expected
 * beside decoder.yml (model/families/marian_model.c). */
static enum mt_status take_setting(void *context, const struct mt_yaml_value *value,
                                   struct mt_error *err)
{
    struct decoder *decoder = context;
    bool is_model = strcmp(value->key, "models") == 0;
    if (!is_model && strcmp(value->key, "vocabs") != 0)
        return MT_OK;
    const char *slash = strrchr(value->value, '/');
    decoder->n_models += is_model;
    return take_named(decoder->choice, decoder->name, slash ? slash + 1 : value->value, err);
}

static enum mt_status read_decoder(struct mt_choice *choice, const char *name, const char *bytes,
                                   size_t length, struct mt_error *err)
{
    struct decoder decoder = {.choice = choice, .name = name};
    char what[256];
    snprintf(what, sizeof what, "%.120s: %.100s", choice->remote->title, name);
    enum mt_status status = mt_yaml_read(bytes, length, what, take_setting, &decoder, err);
    if (!status && decoder.n_models != 1)
        status = mt_fail(err, MT_UNSUPPORTED, "%s names %zu models, expected one", what,
                         decoder.n_models);
    return status;
}

enum mt_status mt_choice_read(struct mt_choice *choice, const char *name, const char *bytes,
                              size_t length, struct mt_error *err)
{
    if (strcmp(name, CONFIG) == 0)
        return read_config(choice, bytes, length, err);
    if (strcmp(name, INDEX) == 0)
        return read_index(choice, bytes, length, err);
    return read_decoder(choice, name, bytes, length, err);
}
