#include "model/families/ctranslate2.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "base/size.h"
#include "base/vector.h"
#include "model/families/argos_archive.h"
#include "model/families/ctranslate2_model.h"
#include "model/tokenizer/tokenizer_config.h"
#include "model/tokenizer/vocab.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHTS "model.bin"
#define CONFIG "config.json"
#define METADATA "metadata.json"
#define FOLDER "model/" /* of an Argos package */
#define BPE "bpe.model" /* of subword-nmt, in some Argos packages */
/* quickmt's, for each side or for both. */
#define QUICKMT_SOURCE "src.spm.model"
#define QUICKMT_TARGET "tgt.spm.model"
#define QUICKMT_BOTH "joint.spm.model"
#define VERSION_WITH_CONFIG 6
#define DEFAULT_NORM_EPS 1e-5
#define DEFAULT_RMS_NORM_EPS 1e-6
/* max_decoding_length of translate_batch, and the start token. */
#define MAX_LENGTH (256 + 1)
#define QUICKMT_MAX_LENGTH (512 + 1)

/* --- Files --- */

static bool is_one(const char *directory)
{
    return mt_argos_archive_is(directory) || mt_path_holds(directory, WEIGHTS) ||
           (mt_path_holds(directory, METADATA) && mt_path_holds(directory, FOLDER WEIGHTS));
}

/* The files in the folder of the weights, which for an Argos package is one level deeper. */
static const char *const in_package[] = {
    METADATA,
    "sentencepiece.model",
    BPE,
    FOLDER WEIGHTS,
    FOLDER CONFIG,
    FOLDER "shared_vocabulary.json",
    FOLDER "shared_vocabulary.txt",
    FOLDER "source_vocabulary.json",
    FOLDER "source_vocabulary.txt",
    FOLDER "target_vocabulary.json",
    FOLDER "target_vocabulary.txt",
    FOLDER "tokenizer_config.json",
    FOLDER "source.spm",
    FOLDER "target.spm",
    FOLDER "sentencepiece.model",
    FOLDER QUICKMT_SOURCE,
    FOLDER QUICKMT_TARGET,
    FOLDER QUICKMT_BOTH,
};
#define N_IN_PACKAGE (sizeof in_package / sizeof *in_package)

static enum mt_status find(struct mt_foreign_files *files, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (mt_argos_archive_is(files->directory))
        return mt_foreign_add(files, "", err);
    bool is_package = !mt_path_holds(files->directory, WEIGHTS);
    for (size_t i = 0; i < N_IN_PACKAGE && !status; i++) {
        const char *name = in_package[i];
        bool is_deeper = !strncmp(name, FOLDER, strlen(FOLDER));
        if (!is_package && is_deeper)
            name += strlen(FOLDER);
        if ((is_package || is_deeper) && mt_path_holds(files->directory, name))
            status = mt_foreign_add(files, name, err);
    }
    return status;
}

/* Returns the files to read: those of an archive are unpacked into *unpacked first. */
static enum mt_status look_into(const struct mt_foreign_files **files,
                                struct mt_foreign_files *unpacked, struct mt_error *err)
{
    const struct mt_foreign_file *archive = mt_foreign_file(*files, "");
    if (!archive)
        return MT_OK;
    enum mt_status status =
        mt_argos_archive_unpack(archive, in_package, N_IN_PACKAGE, unpacked, err);
    *files = unpacked;
    return status;
}

/* Returns the file beside the weights, or NULL. */
static const struct mt_foreign_file *beside(const struct mt_foreign_files *files, const char *name)
{
    char full[128];
    bool is_package = !mt_foreign_file(files, WEIGHTS);
    snprintf(full, sizeof full, "%s%s", is_package ? FOLDER : "", name);
    return mt_foreign_file(files, full);
}

static enum mt_status open_weights(const struct mt_foreign_files *files,
                                   struct mt_ctranslate2 **file, struct mt_ctranslate2_model *model,
                                   struct mt_error *err)
{
    const struct mt_foreign_file *weights = beside(files, WEIGHTS);
    struct mt_ctranslate2 *opened = NULL;
    if (!weights)
        return mt_fail(err, MT_NOT_FOUND, "%s: expected " FOLDER WEIGHTS ", found none",
                       files->directory);
    enum mt_status status = mt_ctranslate2_open(weights->mapping.bytes, weights->mapping.length,
                                                weights->path, &opened, err);
    if (!status)
        status = mt_ctranslate2_model_read(opened, model, err);
    if (status)
        mt_ctranslate2_close(opened);
    else
        *file = opened;
    return status;
}

static enum mt_status read_weights(const struct mt_foreign_files *files, struct mt_image **out,
                                   struct mt_error *err)
{
    struct mt_foreign_files unpacked = {0};
    struct mt_ctranslate2 *file = NULL;
    struct mt_ctranslate2_model model = {0};
    enum mt_status status = look_into(&files, &unpacked, err);
    if (!status)
        status = open_weights(files, &file, &model, err);
    if (!status)
        status = mt_ctranslate2_model_weights(&model, out, err);
    mt_ctranslate2_close(file);
    mt_foreign_files_finish(&unpacked);
    return status;
}

/* --- Special tokens and languages --- */

struct description {
    const struct mt_foreign_files *files;
    struct mt_ctranslate2 *file;
    struct mt_ctranslate2_model model;
    cJSON *config, *metadata, *tokenizer; /* objects, or NULL if the files do not exist */
    const char *unk, *bos, *eos, *start;  /* tokens */
    bool source_bos, source_eos;
    double norm_eps;
    const char *source_lang, *target_lang;
    const char *target_prefix; /* first token of every target, or NULL */
    struct mt_error *err;
};

/* *out stays NULL if there is no such file. */
static enum mt_status parse(const struct mt_foreign_file *file, cJSON **out, struct mt_error *err)
{
    if (!file)
        return MT_OK;
    enum mt_status status = mt_json_parse((const char *)file->mapping.bytes, file->mapping.length,
                                          NULL, file->path, out, err);
    if (!status && !cJSON_IsObject(*out))
        status = mt_fail(err, MT_FORMAT, "%s: expected an object", file->path);
    return status;
}

static enum mt_status read_config(struct description *d)
{
    const cJSON *config = d->config;
    bool has_start = false;
    double eps = d->norm_eps;
    bool has_few_keys = false;
    enum mt_status status = mt_json_get_string(config, "unk_token", &d->unk, NULL, d->err);
    if (!status)
        status = mt_json_get_string(config, "bos_token", &d->bos, NULL, d->err);
    if (!status)
        status = mt_json_get_string(config, "eos_token", &d->eos, NULL, d->err);
    d->start = d->bos;
    if (!status)
        status = mt_json_get_string(config, "decoder_start_token", &d->start, &has_start, d->err);
    if (!status && !has_start && cJSON_HasObjectItem(config, "decoder_start_token"))
        status = mt_fail(d->err, MT_UNSUPPORTED,
                         "decoder_start_token is null: each request would have to name its own, "
                         "which is not implemented");
    if (!status)
        status = mt_json_get_bool(config, "add_source_bos", &d->source_bos, NULL, d->err);
    if (!status)
        status = mt_json_get_bool(config, "add_source_eos", &d->source_eos, NULL, d->err);
    if (!status)
        status = mt_json_get_number(config, "layer_norm_epsilon", 1e-12, 1e-1, &eps, NULL, d->err);
    d->norm_eps = eps;
    if (!status)
        status = mt_json_get_bool(config, "multi_query_attention", &has_few_keys, NULL, d->err);
    if (!status && has_few_keys)
        status = mt_fail(d->err, MT_UNSUPPORTED,
                         "multi_query_attention: expected false, found true: keys and values of "
                         "fewer heads than queries are not implemented");
    return status ? mt_fail_in(d->err, status, beside(d->files, CONFIG)->path) : MT_OK;
}

static enum mt_status read_metadata(struct description *d)
{
    const char *type = "translate";
    enum mt_status status =
        mt_json_get_string(d->metadata, "from_code", &d->source_lang, NULL, d->err);
    if (!status)
        status = mt_json_get_string(d->metadata, "to_code", &d->target_lang, NULL, d->err);
    if (!status)
        status = mt_json_get_string(d->metadata, "target_prefix", &d->target_prefix, NULL, d->err);
    if (!status)
        status = mt_json_get_string(d->metadata, "type", &type, NULL, d->err);
    if (!status && strcmp(type, "translate") != 0)
        status =
            mt_fail(d->err, MT_UNSUPPORTED, "type: expected \"translate\", found \"%s\"", type);
    if (d->target_prefix && !*d->target_prefix)
        d->target_prefix = NULL;
    return status ? mt_fail_in(d->err, status, METADATA) : MT_OK;
}

static enum mt_status read_settings(struct description *d)
{
    enum mt_status status = parse(beside(d->files, CONFIG), &d->config, d->err);
    if (!status)
        status = parse(mt_foreign_file(d->files, METADATA), &d->metadata, d->err);
    if (!status)
        status = parse(beside(d->files, "tokenizer_config.json"), &d->tokenizer, d->err);
    if (status)
        return status;
    d->unk = "<unk>";
    d->bos = "<s>";
    d->eos = "</s>";
    d->norm_eps = d->model.has_rms_norms ? DEFAULT_RMS_NORM_EPS : DEFAULT_NORM_EPS;
    if (mt_ctranslate2_version(d->file) >= VERSION_WITH_CONFIG) {
        d->start = d->bos;
        if (d->config)
            status = read_config(d);
    } else {
        d->start = d->model.target_bos ? d->bos : d->eos;
        d->source_bos = d->model.source_bos;
        d->source_eos = d->model.source_eos;
    }
    if (!status && d->tokenizer) {
        status = mt_json_get_string(d->tokenizer, "source_lang", &d->source_lang, NULL, d->err);
        if (!status)
            status = mt_json_get_string(d->tokenizer, "target_lang", &d->target_lang, NULL, d->err);
    }
    if (!status && d->metadata)
        status = read_metadata(d);
    return status;
}

/* --- Vocabularies --- */

/* Pieces in the order of their ids, one behind the other in bytes, each with its NUL. */
struct vocabulary {
    const char *path;
    struct mt_text bytes;
    size_t *offsets;
    size_t n, capacity;
};

static void vocabulary_finish(struct vocabulary *v)
{
    mt_text_finish(&v->bytes);
    free(v->offsets);
}

static const char *piece_at(const struct vocabulary *v, size_t id)
{
    return v->bytes.bytes + v->offsets[id];
}

static int32_t id_of(const struct vocabulary *v, const char *piece)
{
    for (size_t i = 0; i < v->n; i++)
        if (!strcmp(piece_at(v, i), piece))
            return (int32_t)i;
    return -1;
}

static enum mt_status add_piece(struct vocabulary *v, const char *piece, size_t length,
                                struct mt_error *err)
{
    if (v->n == MT_VOCAB_MAX_PIECES)
        return mt_fail(err, MT_LIMIT, "%s: more than %zu pieces", v->path, MT_VOCAB_MAX_PIECES);
    if (length > MT_VOCAB_MAX_PIECE_BYTES)
        return mt_fail(err, MT_LIMIT, "%s: piece %zu has %zu bytes, expected at most %d", v->path,
                       v->n, length, MT_VOCAB_MAX_PIECE_BYTES);
    if (memchr(piece, '\0', length) || mt_utf8_valid_prefix(piece, length) != length)
        return mt_fail(err, MT_FORMAT, "%s: piece %zu is not text", v->path, v->n);
    if (MT_ROOM(&v->offsets, &v->capacity, v->n + 1, v->path, err))
        return MT_MEMORY;
    v->offsets[v->n++] = v->bytes.length;
    mt_text_append(&v->bytes, piece, length);
    mt_text_append(&v->bytes, "", 1);
    return mt_text_check(&v->bytes, v->path, err);
}

/* Reads one piece per line; lines may end as on Windows. */
static enum mt_status read_lines(struct vocabulary *v, const char *bytes, size_t length,
                                 struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t at = 0; at < length && !status;) {
        const char *end = memchr(bytes + at, '\n', length - at);
        size_t n = end ? (size_t)(end - bytes) - at : length - at;
        size_t n_text = n && bytes[at + n - 1] == '\r' ? n - 1 : n;
        status = add_piece(v, bytes + at, n_text, err);
        at += n + 1;
    }
    return status;
}

static enum mt_status read_json(struct vocabulary *v, const char *bytes, size_t length,
                                struct mt_error *err)
{
    static const struct mt_json_limits limits = {.max_values = MT_VOCAB_MAX_PIECES + 1};
    struct mt_json_reader reader;
    enum mt_status status = mt_json_check(bytes, length, &limits, v->path, err);
    if (status)
        return status;
    mt_json_reader_init(&reader, bytes, length);
    if (mt_json_reader_peek(&reader) != '[')
        return mt_fail(err, MT_FORMAT, "%s: expected a list of pieces", v->path);
    mt_json_reader_enter(&reader);
    while (!status && mt_json_reader_next(&reader)) {
        char piece[MT_VOCAB_MAX_PIECE_BYTES];
        if (mt_json_reader_peek(&reader) != '"')
            return mt_fail(err, MT_FORMAT, "%s: piece %zu is not a string", v->path, v->n);
        struct mt_json_span span = mt_json_reader_string(&reader);
        if (span.length > sizeof piece)
            return mt_fail(err, MT_LIMIT, "%s: piece %zu has %zu bytes, expected at most %zu",
                           v->path, v->n, span.length, sizeof piece);
        status = add_piece(v, piece, mt_json_span_unescape(span, piece), err);
    }
    return status;
}

static int compare_pieces(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum mt_status check_unique(const struct vocabulary *v, struct mt_error *err)
{
    const char **sorted = malloc((v->n ? v->n : 1) * sizeof *sorted);
    if (!sorted)
        return mt_fail_memory(err, v->n * sizeof *sorted, v->path);
    for (size_t i = 0; i < v->n; i++)
        sorted[i] = piece_at(v, i);
    qsort(sorted, v->n, sizeof *sorted, compare_pieces);
    enum mt_status status = MT_OK;
    for (size_t i = 1; i < v->n && !status; i++)
        if (!strcmp(sorted[i - 1], sorted[i]))
            status =
                mt_fail(err, MT_FORMAT, "%s: the piece \"%s\" is there twice", v->path, sorted[i]);
    free(sorted);
    return status;
}

/* Reads side_vocabulary.json or .txt. MT_NOT_FOUND, without a message, if neither exists. */
static enum mt_status read_vocabulary(const struct description *d, const char *side,
                                      struct vocabulary *v)
{
    char name[64];
    snprintf(name, sizeof name, "%s_vocabulary.json", side);
    const struct mt_foreign_file *file = beside(d->files, name);
    bool is_json = file != NULL;
    if (!file) {
        snprintf(name, sizeof name, "%s_vocabulary.txt", side);
        file = beside(d->files, name);
    }
    if (!file)
        return MT_NOT_FOUND;
    const char *bytes = (const char *)file->mapping.bytes;
    v->path = file->path;
    if (file->mapping.length > MT_VOCAB_MAX_FILE_BYTES)
        return mt_fail(d->err, MT_LIMIT, "%s: %zu bytes, expected at most %zu", file->path,
                       file->mapping.length, MT_VOCAB_MAX_FILE_BYTES);
    enum mt_status status = is_json ? read_json(v, bytes, file->mapping.length, d->err)
                                    : read_lines(v, bytes, file->mapping.length, d->err);
    /* A vocabulary without the unknown token gets one, as in CTranslate2. */
    if (!status && id_of(v, d->unk) < 0)
        status = add_piece(v, d->unk, strlen(d->unk), d->err);
    return status ? status : check_unique(v, d->err);
}

static void render_vocabulary(const struct vocabulary *v, struct mt_text *out)
{
    struct mt_json_writer w;
    mt_json_writer_init(&w, out);
    mt_json_begin_object(&w);
    for (size_t i = 0; i < v->n; i++)
        mt_json_member_count(&w, piece_at(v, i), i);
    mt_json_end_object(&w);
}

static enum mt_status need_token(const struct vocabulary *v, const char *key, const char *token,
                                 int32_t *out, struct mt_error *err)
{
    *out = id_of(v, token);
    if (*out < 0)
        return mt_fail(err, MT_FORMAT, "%s: expected %s \"%s\", found none", v->path, key, token);
    return MT_OK;
}

/* --- The documents of a MarianMT directory --- */

struct member {
    const char *key;
    size_t number;
};

static void put_numbers(struct mt_json_writer *w, const struct member *members, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mt_json_member_count(w, members[i].key, members[i].number);
}

static void put_architecture(struct mt_json_writer *w, const struct mt_ctranslate2_model *m)
{
    const struct member sizes[] = {
        {"d_model", m->d_model},
        {"encoder_layers", m->n_encoder_layers},
        {"decoder_layers", m->n_decoder_layers},
        {"encoder_attention_heads", m->n_encoder_heads},
        {"decoder_attention_heads", m->n_decoder_heads},
        {"encoder_ffn_dim", m->d_ff_encoder},
        {"decoder_ffn_dim", m->d_ff_decoder},
        {"vocab_size", m->n_source_vocab},
        {"decoder_vocab_size", m->n_target_vocab},
        {"max_position_embeddings", m->n_positions},
    };
    mt_json_member(w, "model_type", MT_OWN_MODEL_TYPE);
    put_numbers(w, sizes, sizeof sizes / sizeof *sizes);
    mt_json_member(w, "activation_function", mt_activation_name(m->activation));
    mt_json_member_bool(w, "scale_embedding", m->scale_embedding);
    mt_json_member_bool(w, "normalize_before", m->normalize_before);
    mt_json_member_bool(w, "normalize_embedding", m->normalize_embedding);
    mt_json_member_bool(w, "add_final_layer_norm", m->final_norm);
    mt_json_member_bool(w, "share_encoder_decoder_embeddings", m->shared_embeddings);
    mt_json_member_bool(w, "tie_word_embeddings", m->tied_output);
    mt_json_member_bool(w, "start_from_zero_embedding", m->start_from_zero_embedding);
    mt_json_member(w, "norm", m->has_rms_norms ? "rms" : "layer");
    mt_json_member(w, "feed_forward", m->is_gated ? "gated" : "plain");
    if (!m->has_positions) {
        mt_json_member(w, "position_formula", "tensor2tensor");
        put_numbers(w, &(struct member){"first_position", 1}, 1);
    }
}

static bool is_quickmt(const struct description *d)
{
    return !d->metadata && (beside(d->files, QUICKMT_BOTH) ||
                            (beside(d->files, QUICKMT_SOURCE) && beside(d->files, QUICKMT_TARGET)));
}

/* Writes the defaults of CTranslate2's translate_batch, or those with which Argos Translate and
 * quickmt call it. */
static void put_generation(struct mt_json_writer *w, const struct description *d, int32_t eos,
                           int32_t start, int32_t prefix)
{
    size_t max_length = is_quickmt(d) ? QUICKMT_MAX_LENGTH : MAX_LENGTH;
    const struct member members[] = {
        {"eos_token_id", (size_t)eos},
        {"decoder_start_token_id", (size_t)start},
        {"max_length", mt_size_min(max_length, d->model.n_positions)},
        {"num_beams", d->metadata     ? 4
                      : is_quickmt(d) ? 5
                                      : 2},
    };
    mt_json_member(w, "search", "ctranslate2");
    mt_json_member_bool(w, "renormalize_logits", true);
    put_numbers(w, members, sizeof members / sizeof *members);
    mt_json_member_number(w, "length_penalty", d->metadata ? 0.2 : 1, 6);
    mt_json_key(w, "pad_token_id");
    mt_json_null(w);
    mt_json_key(w, "forced_eos_token_id");
    mt_json_null(w);
    if (prefix >= 0)
        put_numbers(w, &(struct member){"forced_bos_token_id", (size_t)prefix}, 1);
}

static enum mt_status render_config(const struct description *d, const struct vocabulary *target,
                                    struct mt_text *out)
{
    int32_t eos = -1, start = -1, prefix = -1;
    enum mt_status status = need_token(target, "eos_token", d->eos, &eos, d->err);
    if (!status)
        status = need_token(target, "decoder_start_token", d->start, &start, d->err);
    if (!status && d->target_prefix)
        status = need_token(target, "target_prefix", d->target_prefix, &prefix, d->err);
    if (status)
        return status;
    struct mt_json_writer w;
    mt_json_writer_init(&w, out);
    mt_json_begin_object(&w);
    put_architecture(&w, &d->model);
    mt_json_member_number(&w, "layer_norm_eps", d->norm_eps, 9);
    put_generation(&w, d, eos, start, prefix);
    mt_json_end_object(&w);
    return MT_OK;
}

static void render_tokenizer(const struct description *d, bool separate, struct mt_text *out)
{
    struct mt_json_writer w;
    mt_json_writer_init(&w, out);
    mt_json_begin_object(&w);
    mt_json_member(&w, "tokenizer_class", MT_OWN_TOKENIZER_CLASS);
    mt_json_member(&w, "unk_token", d->unk);
    mt_json_member(&w, "eos_token", d->eos);
    /* The start token becomes pad, because no text contains it, as in MarianMT. */
    if (strcmp(d->start, d->eos) != 0)
        mt_json_member(&w, "pad_token", d->start);
    mt_json_member_bool(&w, "separate_vocabs", separate);
    mt_json_member_bool(&w, "add_source_eos", d->source_eos);
    if (d->source_bos)
        mt_json_member(&w, "source_bos_token", d->bos);
    if (d->target_prefix)
        mt_json_member(&w, "target_prefix_token", d->target_prefix);
    if (d->source_lang)
        mt_json_member(&w, "source_lang", d->source_lang);
    if (d->target_lang)
        mt_json_member(&w, "target_lang", d->target_lang);
    mt_json_end_object(&w);
}

/* Finds one for each side, or one for both. */
static enum mt_status find_processors(const struct description *d,
                                      const struct mt_foreign_file **source,
                                      const struct mt_foreign_file **target)
{
    static const char *const names[][2] = {{"source.spm", "target.spm"},
                                           {"sentencepiece.model", "sentencepiece.model"},
                                           {QUICKMT_BOTH, QUICKMT_BOTH},
                                           {QUICKMT_SOURCE, QUICKMT_TARGET}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *source = beside(d->files, names[i][0]);
        *target = beside(d->files, names[i][1]);
        if (*source && *target)
            return MT_OK;
    }
    *source = *target = mt_foreign_file(d->files, "sentencepiece.model");
    if (*source)
        return MT_OK;
    const struct mt_foreign_file *bpe = mt_foreign_file(d->files, BPE);
    if (bpe)
        return mt_fail(d->err, MT_UNSUPPORTED,
                       "%s: a package whose words are cut by subword-nmt, which is not read, "
                       "expected one with sentencepiece.model",
                       bpe->path);
    return mt_fail(d->err, MT_NOT_FOUND,
                   "%s: expected sentencepiece.model, or source.spm and target.spm, or quickmt's "
                   "joint.spm.model, or src.spm.model and tgt.spm.model, beside the model, found "
                   "none (other tokenizers are not implemented)",
                   d->files->directory);
}

enum { CONFIG_TEXT, TOKENIZER_TEXT, SOURCE_TEXT, TARGET_TEXT, N_TEXTS };

static enum mt_status make_documents(const struct description *d, const struct vocabulary *source,
                                     const struct vocabulary *target, struct mt_image **out)
{
    struct mt_text texts[N_TEXTS] = {0};
    const struct mt_foreign_file *source_spm = NULL, *target_spm = NULL;
    bool separate = target != source;
    enum mt_status status = find_processors(d, &source_spm, &target_spm);
    if (!status)
        status = render_config(d, target, &texts[CONFIG_TEXT]);
    if (!status) {
        render_tokenizer(d, separate, &texts[TOKENIZER_TEXT]);
        render_vocabulary(source, &texts[SOURCE_TEXT]);
        if (separate)
            render_vocabulary(target, &texts[TARGET_TEXT]);
    }
    for (size_t i = 0; i < N_TEXTS && !status; i++)
        status = mt_text_check(&texts[i], "description", d->err);
    if (!status) {
        const struct mt_foreign_document documents[] = {
            {CONFIG, texts[CONFIG_TEXT].bytes, texts[CONFIG_TEXT].length},
            {"tokenizer_config.json", texts[TOKENIZER_TEXT].bytes, texts[TOKENIZER_TEXT].length},
            {"vocab.json", texts[SOURCE_TEXT].bytes, texts[SOURCE_TEXT].length},
            {"source.spm", source_spm->mapping.bytes, source_spm->mapping.length},
            {"target.spm", target_spm->mapping.bytes, target_spm->mapping.length},
            {"target_vocab.json", texts[TARGET_TEXT].bytes, texts[TARGET_TEXT].length},
        };
        size_t n = sizeof documents / sizeof *documents;
        status = mt_foreign_documents(documents, separate ? n : n - 1, out, d->err);
    }
    for (size_t i = 0; i < N_TEXTS; i++)
        mt_text_finish(&texts[i]);
    return status;
}

static enum mt_status describe_vocabularies(const struct description *d, struct mt_image **out)
{
    struct vocabulary source = {0}, target = {0};
    enum mt_status status = read_vocabulary(d, "shared", &source);
    bool shared = status != MT_NOT_FOUND;
    if (!shared)
        status = read_vocabulary(d, "source", &source);
    if (!status && !shared)
        status = read_vocabulary(d, "target", &target);
    if (status == MT_NOT_FOUND)
        status = mt_fail(d->err, MT_NOT_FOUND,
                         "%s: expected shared_vocabulary.json (or .txt), or source_vocabulary and "
                         "target_vocabulary, beside " WEIGHTS,
                         d->files->directory);
    if (!status)
        status = make_documents(d, &source, shared ? &source : &target, out);
    vocabulary_finish(&source);
    vocabulary_finish(&target);
    return status;
}

static enum mt_status describe(const struct mt_foreign_files *files, struct mt_image **out,
                               struct mt_error *err)
{
    struct mt_foreign_files unpacked = {0};
    enum mt_status status = look_into(&files, &unpacked, err);
    struct description d = {.files = files, .err = err};
    if (!status)
        status = open_weights(files, &d.file, &d.model, err);
    if (!status)
        status = read_settings(&d);
    if (!status)
        status = describe_vocabularies(&d, out);
    cJSON_Delete(d.config);
    cJSON_Delete(d.metadata);
    cJSON_Delete(d.tokenizer);
    mt_ctranslate2_close(d.file);
    mt_foreign_files_finish(&unpacked);
    return status;
}

const struct mt_foreign mt_foreign_ctranslate2 = {
    .family = "CTranslate2",
    .version = "1",
    .is_one = is_one,
    .find = find,
    .describe = describe,
    .read = read_weights,
};
