#include "model/families/marian_model.h"

#include <stdio.h>
#include <string.h>

#define MODEL_YML "special:model.yml"

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), n = strlen(ending);
    return length >= n && strcmp(name + length - n, ending) == 0;
}

/* --- Files --- */

/* *out is NULL if there is none. */
static enum mt_status find_decoder_yml(const struct mt_foreign_files *files,
                                       const struct mt_foreign_file **out, struct mt_error *err)
{
    size_t n = 0;
    *out = mt_foreign_file(files, "decoder.yml");
    for (size_t i = 0; i < files->n && !*out; i++)
        n += ends_with(files->list[i].name, ".decoder.yml");
    for (size_t i = 0; i < files->n && n == 1 && !*out; i++)
        if (ends_with(files->list[i].name, ".decoder.yml"))
            *out = &files->list[i];
    return *out || !n
               ? MT_OK
               : mt_fail(err, MT_NOT_FOUND,
                         "%s: expected decoder.yml or one *.decoder.yml, found %zu of the latter",
                         files->directory, n);
}

/* Finds the file that a setting names. Its folder is that of the machine where the model was
 * trained, so the file is expected beside decoder.yml. */
static enum mt_status find_named(const struct mt_foreign_files *files,
                                 const struct mt_marian_settings *decoder, const char *key,
                                 size_t index, const struct mt_foreign_file **out,
                                 struct mt_error *err)
{
    const char *path = mt_marian_text(decoder, key, index);
    if (!path)
        return mt_fail(err, MT_FORMAT, "%s: decoder.yml: %s: expected a file name, found none",
                       files->directory, key);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    *out = mt_foreign_file(files, name);
    return *out ? MT_OK
                : mt_fail(err, MT_NOT_FOUND,
                          "%s: decoder.yml: %s: expected a file \"%.100s\" beside it, found none",
                          files->directory, key, name);
}

/* Refuses settings with which the translations would not come from a search over the model's whole
 * vocabulary. */
static enum mt_status refuse_in_decoder_yml(const char *path,
                                            const struct mt_marian_settings *decoder,
                                            struct mt_error *err)
{
    static const char *const keys[] = {"output-approx-knn", "output-sampling"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *found = mt_marian_text(decoder, keys[i], 0);
        if (found && strcmp(found, "false") != 0)
            return mt_fail(err, MT_UNSUPPORTED,
                           "%s: %s is set (\"%.60s\"), which is not implemented, expected none: "
                           "every token of the vocabulary is looked at, and the best are taken",
                           path, keys[i], found);
    }
    return MT_OK;
}

/* Finds the shortlist, which has to be binary. Text ones are indexed by pieces, and pruned by
 * numbers in decoder.yml. */
static enum mt_status find_shortlist(const struct mt_foreign_files *files, const char *path,
                                     struct mt_marian_model *m, struct mt_error *err)
{
    const char *name = mt_marian_text(m->decoder, "shortlist", 0);
    if (!name || strcmp(name, "false") == 0)
        return MT_OK;
    if (!ends_with(name, ".bin"))
        return mt_fail(err, MT_UNSUPPORTED,
                       "%s: shortlist is set (\"%.60s\"), which is not implemented, expected a "
                       "binary one (*.bin) or none",
                       path, name);
    return find_named(files, m->decoder, "shortlist", 0, &m->shortlist, err);
}

static enum mt_status read_decoder_yml(const struct mt_foreign_files *files,
                                       const struct mt_foreign_file *file,
                                       struct mt_marian_model *m, struct mt_error *err)
{
    enum mt_status status = mt_marian_settings_read(
        (const char *)file->mapping.bytes, file->mapping.length, file->path, &m->decoder, err);
    if (status)
        return status;
    status = refuse_in_decoder_yml(file->path, m->decoder, err);
    if (status)
        return status;
    if (mt_marian_text(m->decoder, "models", 1))
        return mt_fail(err, MT_UNSUPPORTED, "%s: models: expected one, found several (an ensemble)",
                       file->path);
    if (mt_marian_text(m->decoder, "vocabs", 2))
        return mt_fail(err, MT_UNSUPPORTED, "%s: vocabs: expected two, found more", file->path);
    status = find_shortlist(files, file->path, m, err);
    if (!status)
        status = find_named(files, m->decoder, "models", 0, &m->file, err);
    for (size_t i = 0; i < 2 && !status; i++)
        status = find_named(files, m->decoder, "vocabs", i, &m->vocabs[i], err);
    return status;
}

/* --- Files without a decoder.yml, by the names under which Firefox's and HPLT's models are
 * published --- */

/* The settings with which Firefox translates. */
static const char firefox_settings[] = "beam-size: 1\nnormalize: 1\nmax-length-factor: 2\n";
/* The settings with which HPLT's models were validated during training. */
static const char hplt_settings[] = "beam-size: 4\nnormalize: 1\n";

static bool is_model(const struct mt_foreign_file *file)
{
    return ends_with(file->name, ".npz") || ends_with(file->name, ".intgemm8.bin") ||
           ends_with(file->name, ".intgemm.alphas.bin") || mt_marian_is_bin(file);
}

static bool is_vocabulary(const struct mt_foreign_file *file, const char *beginning)
{
    return strncmp(file->name, beginning, strlen(beginning)) == 0 && ends_with(file->name, ".spm");
}

/* Returns the vocabulary of this kind, or NULL; *n gets their number. */
static const struct mt_foreign_file *find_vocabulary(const struct mt_foreign_files *files,
                                                     const char *beginning, size_t *n)
{
    const struct mt_foreign_file *found = NULL;
    *n = 0;
    for (size_t i = 0; i < files->n; i++)
        if (is_vocabulary(&files->list[i], beginning)) {
            found = &files->list[i];
            (*n)++;
        }
    return *n == 1 ? found : NULL;
}

/* Finds HPLT's model.en-fi.spm, which is for both sides and names the languages. */
static bool find_hplt_vocabulary(const struct mt_foreign_files *files, struct mt_marian_model *m)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    size_t n;
    const struct mt_foreign_file *file = find_vocabulary(files, "model.", &n);
    if (!file)
        return false;
    const char *source = file->name + strlen("model.");
    size_t n_source = strspn(source, letters);
    const char *target = source + n_source + 1;
    size_t n_target = source[n_source] == '-' ? strspn(target, letters) : 0;
    m->vocabs[0] = m->vocabs[1] = file;
    if (n_source && n_source < sizeof m->languages[0] && n_target &&
        n_target < sizeof m->languages[1] && strcmp(target + n_target, ".spm") == 0) {
        memcpy(m->languages[0], source, n_source);
        memcpy(m->languages[1], target, n_target);
    }
    return true;
}

static enum mt_status find_vocabularies(const struct mt_foreign_files *files,
                                        struct mt_marian_model *m, struct mt_error *err)
{
    size_t n_shared, n_source, n_target;
    const struct mt_foreign_file *shared = find_vocabulary(files, "vocab", &n_shared);
    m->vocabs[0] = find_vocabulary(files, "srcvocab", &n_source);
    m->vocabs[1] = find_vocabulary(files, "trgvocab", &n_target);
    if (shared && !n_source && !n_target)
        m->vocabs[0] = m->vocabs[1] = shared;
    if (m->vocabs[0] && m->vocabs[1] && (shared || !n_shared) && !(shared && n_source))
        return MT_OK;
    if (!n_shared && !n_source && !n_target && find_hplt_vocabulary(files, m)) {
        m->is_hplt = true;
        return MT_OK;
    }
    return mt_fail(err, MT_NOT_FOUND,
                   "%s: expected decoder.yml, or one vocab*.spm, or one srcvocab*.spm and one "
                   "trgvocab*.spm, or one model.*.spm, found none of the first and the last, and "
                   "%zu, %zu and %zu of the others",
                   files->directory, n_shared, n_source, n_target);
}

/* Finds lex.50.50.ende.s2t.bin; NULL if there is none. */
static enum mt_status find_lex(const struct mt_foreign_files *files, struct mt_marian_model *m,
                               struct mt_error *err)
{
    for (size_t i = 0; i < files->n; i++) {
        const struct mt_foreign_file *file = &files->list[i];
        bool is_lex = strncmp(file->name, "lex.", 4) == 0 && ends_with(file->name, ".bin");
        if (is_lex && m->shortlist)
            return mt_fail(err, MT_INVALID, "%s: expected one shortlist, found %s and %s",
                           files->directory, m->shortlist->name, file->name);
        m->shortlist = is_lex ? file : m->shortlist;
    }
    return MT_OK;
}

static enum mt_status find_by_names(const struct mt_foreign_files *files, struct mt_marian_model *m,
                                    struct mt_error *err)
{
    for (size_t i = 0; i < files->n; i++) {
        const struct mt_foreign_file *file = &files->list[i];
        if (is_model(file) && m->file)
            return mt_fail(err, MT_INVALID,
                           "%s: expected one model where there is no decoder.yml that names it, "
                           "found %s and %s",
                           files->directory, m->file->name, file->name);
        m->file = is_model(file) ? file : m->file;
    }
    if (!m->file)
        return mt_fail(err, MT_NOT_FOUND, "%s: expected an .npz or a binary model, found none",
                       files->directory);
    enum mt_status status = find_vocabularies(files, m, err);
    if (!status)
        status = find_lex(files, m, err);
    if (status)
        return status;
    return m->is_hplt ? mt_marian_settings_read(hplt_settings, sizeof hplt_settings - 1,
                                                "HPLT's settings", &m->decoder, err)
                      : mt_marian_settings_read(firefox_settings, sizeof firefox_settings - 1,
                                                "Firefox's settings", &m->decoder, err);
}

/* Finds the languages "ende", between the first two full stops of the model's and a vocabulary's
 * name, or "deueng". */
static void find_languages(struct mt_marian_model *m)
{
    const char *model = strchr(m->file->name, '.'), *vocab = strchr(m->vocabs[0]->name, '.');
    size_t n = model ? strspn(model + 1, "abcdefghijklmnopqrstuvwxyz") : 0, half = n / 2;
    if ((n != 4 && n != 6) || model[1 + n] != '.' || !vocab || strncmp(model, vocab, n + 2) != 0)
        return;
    memcpy(m->languages[0], model + 1, half);
    memcpy(m->languages[1], model + 1 + half, half);
}

static enum mt_status find_files(const struct mt_foreign_files *files, struct mt_marian_model *m,
                                 struct mt_error *err)
{
    const struct mt_foreign_file *decoder = NULL;
    enum mt_status status = find_decoder_yml(files, &decoder, err);
    if (!status)
        status = decoder ? read_decoder_yml(files, decoder, m, err) : find_by_names(files, m, err);
    if (!status && !*m->languages[0])
        find_languages(m);
    return status;
}

/* Reads the settings from a vector that has the text's bytes, padded with NUL. */
static enum mt_status read_model_yml(struct mt_marian_model *m, struct mt_error *err)
{
    const char *path = m->file->path;
    struct mt_marian_array array;
    bool is_there = mt_marian_arrays_find(&m->arrays, MODEL_YML, &array);
    if (!is_there || array.is.dtype != MT_I8)
        return mt_fail(err, MT_FORMAT, "%s: expected an array \"" MODEL_YML "\" of bytes, found %s",
                       path, is_there ? mt_dtype_name(array.is.dtype) : "none");
    enum mt_status status = mt_marian_array_check(&m->arrays, &array, err);
    if (status)
        return status;
    char what[512];
    snprintf(what, sizeof what, "%.400s: " MODEL_YML, path);
    const char *text = (const char *)array.is.data;
    return mt_marian_settings_read(text, strnlen(text, array.is.n_bytes), what, &m->model, err);
}

/* --- Architecture --- */

/* Values that a setting must have if it exists; with several values, any of them. */
static const struct {
    const char *key, *values[3];
} assumed[] = {
    {"type", {"transformer"}},
    {"transformer-decoder-autoreg", {"self-attention", "rnn"}},
    {"transformer-rnn-projection", {"false"}},
    {"transformer-ffn-depth", {"2"}},
    {"transformer-decoder-ffn-depth", {"2", "0"}}, /* 0: the same as in the encoder */
    {"transformer-no-projection", {"false"}},
    {"transformer-no-bias", {"false"}},
    {"transformer-no-affine", {"false"}},
    {"transformer-pool", {"false"}},
    {"transformer-tied-layers", {""}},
    {"transformer-disable-position-embeddings", {"false"}},
    {"transformer-alibi", {"false"}},
    {"layer-normalization", {"false"}},
    {"right-left", {"false"}},
    {"ulr", {"false"}},
    {"input-types", {"sequence"}},
    {"lemma-dim-emb", {"0"}},
    {"factors-dim-emb", {"0"}},
};

/* Settings that are read elsewhere, or have no effect on a model of this kind. */
static const char *const understood[] = {
    "transformer-heads",
    "transformer-dim-ffn",
    "transformer-decoder-dim-ffn",
    "transformer-ffn-activation",
    "transformer-preprocess",
    "transformer-postprocess",
    "transformer-postprocess-emb",
    "transformer-postprocess-top",
    "transformer-train-position-embeddings",
    "transformer-train-positions",
    "transformer-aan-activation",
    "transformer-aan-depth",
    "transformer-aan-nogate",
    "transformer-dim-aan",
    "transformer-guided-alignment-layer",
    "transformer-depth-scaling",
    "transformer-dropout",
    "transformer-dropout-attention",
    "transformer-dropout-ffn",
};

static enum mt_status check_assumed(const struct mt_marian_model *m, struct mt_error *err)
{
    for (size_t i = 0; i < sizeof assumed / sizeof *assumed; i++) {
        const char *found = mt_marian_text(m->model, assumed[i].key, 0);
        bool matches = !found;
        for (size_t k = 0; k < 3 && !matches && assumed[i].values[k]; k++)
            matches = strcmp(found, assumed[i].values[k]) == 0;
        if (!matches)
            return mt_fail(err, MT_UNSUPPORTED, "%s: %s: expected \"%s\", found \"%.60s\"",
                           m->file->path, assumed[i].key, assumed[i].values[0], found);
    }
    return MT_OK;
}

/* Refuses settings of the Transformer that did not exist when this was written, because they make
 * another model. */
static enum mt_status refuse_unknown(const struct mt_marian_model *m, struct mt_error *err)
{
    const char *key;
    for (size_t i = 0; (key = mt_marian_key(m->model, i)); i++) {
        bool is_known = strncmp(key, "transformer-", strlen("transformer-")) != 0;
        for (size_t k = 0; k < sizeof understood / sizeof *understood && !is_known; k++)
            is_known = strcmp(key, understood[k]) == 0;
        for (size_t k = 0; k < sizeof assumed / sizeof *assumed && !is_known; k++)
            is_known = strcmp(key, assumed[k].key) == 0;
        if (!is_known)
            return mt_fail(err, MT_UNSUPPORTED, "%s: %.60s is set, and is not known", m->file->path,
                           key);
    }
    return MT_OK;
}

static enum mt_status read_sizes(struct mt_marian_model *m, struct mt_error *err)
{
    const struct {
        const char *key;
        size_t index, *out;
    } sizes[] = {
        {"dim-emb", 0, &m->d_model},
        {"enc-depth", 0, &m->n_encoder_layers},
        {"dec-depth", 0, &m->n_decoder_layers},
        {"transformer-heads", 0, &m->n_heads},
        {"transformer-dim-ffn", 0, &m->d_ff_encoder},
        {"dim-vocabs", 0, &m->n_source_vocab},
        {"dim-vocabs", 1, &m->n_target_vocab},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        enum mt_status status =
            mt_marian_size(m->model, sizes[i].key, sizes[i].index, sizes[i].out, err);
        if (status)
            return status;
        if (!*sizes[i].out)
            return mt_fail(err, MT_FORMAT, "%s: %s: expected a size, found %s", m->file->path,
                           sizes[i].key,
                           mt_marian_text(m->model, sizes[i].key, sizes[i].index) ? "0" : "none");
    }
    size_t d_ff_decoder = 0; /* 0: the same as in the encoder */
    enum mt_status status =
        mt_marian_size(m->model, "transformer-decoder-dim-ffn", 0, &d_ff_decoder, err);
    m->d_ff_decoder = d_ff_decoder ? d_ff_decoder : m->d_ff_encoder;
    return status;
}

static enum mt_status read_activation(struct mt_marian_model *m, struct mt_error *err)
{
    const char *key = "transformer-ffn-activation", *found = mt_marian_text(m->model, key, 0);
    enum mt_status status =
        mt_activation_find(MT_NAMED_BY_MARIAN, key, found ? found : "swish", &m->activation, err);
    return status ? mt_fail_in(err, status, m->file->path) : MT_OK;
}

/* Reads the steps around a sublayer: d(ropout) is for training, a(dd) the residual, n(ormalise). */
static enum mt_status read_steps(const struct mt_marian_model *m, const char *key,
                                 const char *fallback, char out[8], struct mt_error *err)
{
    const char *found = mt_marian_text(m->model, key, 0);
    size_t n = 0;
    found = found ? found : fallback;
    for (const char *at = found; *at; at++) {
        if (*at == 'd')
            continue;
        if ((*at != 'a' && *at != 'n') || n == 7)
            return mt_fail(err, MT_UNSUPPORTED, "%s: %s: expected d, a and n, found \"%.60s\"",
                           m->file->path, key, found);
        out[n++] = *at;
    }
    out[n] = '\0';
    return MT_OK;
}

static enum mt_status read_norms(struct mt_marian_model *m, struct mt_error *err)
{
    char before[8], after[8], embedding[8], top[8];
    enum mt_status status = read_steps(m, "transformer-preprocess", "", before, err);
    if (!status)
        status = read_steps(m, "transformer-postprocess", "dan", after, err);
    if (!status)
        status = read_steps(m, "transformer-postprocess-emb", "d", embedding, err);
    if (!status)
        status = read_steps(m, "transformer-postprocess-top", "", top, err);
    if (status)
        return status;
    m->normalize_before = strcmp(before, "n") == 0 && strcmp(after, "a") == 0;
    bool is_known = m->normalize_before || (!*before && strcmp(after, "an") == 0);
    m->normalize_embedding = strcmp(embedding, "n") == 0;
    m->final_norm = strcmp(top, "n") == 0;
    if (!is_known || (*embedding && !m->normalize_embedding) || (*top && !m->final_norm))
        return mt_fail(
            err, MT_UNSUPPORTED,
            "%s: transformer-preprocess \"%s\", -postprocess \"%s\", -postprocess-emb "
            "\"%s\", -postprocess-top \"%s\": expected the paper's post-norm or pre-norm",
            m->file->path, before, after, embedding, top);
    return MT_OK;
}

const char *mt_marian_table_name(const struct mt_marian_model *model, bool is_target)
{
    return model->shared_embeddings ? "Wemb" : is_target ? "decoder_Wemb" : "encoder_Wemb";
}

static enum mt_status read_tables(struct mt_marian_model *m, struct mt_error *err)
{
    bool tied = false, tied_source = false, tied_all = false, learned = false;
    const struct {
        const char *key;
        bool *out;
    } flags[] = {{"tied-embeddings", &tied},
                 {"tied-embeddings-src", &tied_source},
                 {"tied-embeddings-all", &tied_all},
                 {"transformer-train-positions", &learned},
                 {"transformer-train-position-embeddings", &learned}};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof flags / sizeof *flags && !status; i++)
        status = mt_marian_bool(m->model, flags[i].key, flags[i].out, err);
    if (status)
        return status;
    m->shared_embeddings = tied_all || tied_source;
    m->tied_output = tied_all || tied;
    struct mt_marian_array array;
    m->has_output_bias = mt_marian_arrays_find(&m->arrays, "decoder_ff_logit_out_b", &array);
    if (m->shared_embeddings && m->n_source_vocab != m->n_target_vocab)
        return mt_fail(
            err, MT_INVALID,
            "%s: dim-vocabs: expected equal ones, because embeddings are tied, found %zu "
            "and %zu",
            m->file->path, m->n_source_vocab, m->n_target_vocab);
    bool has_positions = mt_marian_arrays_find(&m->arrays, "Wpos", &array);
    if (learned != (has_positions && array.is.rank == 2))
        return mt_fail(err, MT_FORMAT,
                       "%s: transformer-train-position-embeddings is %s, but a table \"Wpos\" is%s "
                       "there",
                       m->file->path, learned ? "true" : "false", has_positions ? "" : " not");
    m->n_positions = learned ? array.is.shape[0] : 0;
    return MT_OK;
}

/* Other settings of cells, such as dec-cell-base-depth, are for recurrent models. */
static enum mt_status read_cell(struct mt_marian_model *m, struct mt_error *err)
{
    const char *autoreg = mt_marian_text(m->model, "transformer-decoder-autoreg", 0);
    const char *cell = mt_marian_text(m->model, "dec-cell", 0);
    m->has_ssru = autoreg && strcmp(autoreg, "rnn") == 0;
    if (m->has_ssru && (!cell || strcmp(cell, "ssru") != 0))
        return mt_fail(err, MT_UNSUPPORTED,
                       "%s: dec-cell: expected \"ssru\", because transformer-decoder-autoreg is "
                       "\"rnn\", found %s%.60s",
                       m->file->path, cell ? "" : "none", cell ? cell : "");
    return MT_OK;
}

enum mt_status mt_marian_model_open(const struct mt_foreign_files *files,
                                    struct mt_marian_model *out, struct mt_error *err)
{
    struct mt_marian_model m = {0};
    enum mt_status status = find_files(files, &m, err);
    if (!status)
        status = mt_marian_arrays_open(m.file, &m.arrays, err);
    if (!status)
        status = read_model_yml(&m, err);
    if (!status)
        status = check_assumed(&m, err);
    if (!status)
        status = refuse_unknown(&m, err);
    if (!status)
        status = read_sizes(&m, err);
    if (!status)
        status = read_activation(&m, err);
    if (!status)
        status = read_norms(&m, err);
    if (!status)
        status = read_tables(&m, err);
    if (!status)
        status = read_cell(&m, err);
    if (status)
        mt_marian_model_finish(&m);
    *out = m;
    return status;
}

void mt_marian_model_finish(struct mt_marian_model *model)
{
    mt_marian_settings_free(model->decoder);
    mt_marian_settings_free(model->model);
    mt_marian_arrays_close(&model->arrays);
    *model = (struct mt_marian_model){0};
}
