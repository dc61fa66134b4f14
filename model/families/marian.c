#include "model/families/marian.h"

#include "base/json.h"
#include "base/yaml_reader.h"
#include "model/families/compressed_files.h"
#include "model/families/marian_model.h"
#include "model/tokenizer/spm_check.h"
#include "model/tokenizer/vocab.h"

#include <stdlib.h>
#include <string.h>

#define EOS "</s>"
#define UNK "<unk>"
/* The padding token, which Marian's own vocabularies do not have. A vocabulary with it was
 * converted by Hugging Face's programs, and the token is never generated. */
#define PAD "<pad>"

/* Marian's defaults (src/common/config_parser.cpp). */
#define DEFAULT_BEAMS 12
#define DEFAULT_LENGTH_FACTOR 3
/* Computed positions are unlimited. This is the limit of Hugging Face's conversions; texts are
 * split into sentences long before. */
#define MAX_POSITIONS 512

/* Recognises a model by the names that users of marian-conv give their files, or by the file's
 * beginning, because other programs have files named model.bin, too. */
static bool is_one(const char *directory)
{
    return mt_compressed_any(directory, ".npz") ||
           mt_compressed_any(directory, ".intgemm.alphas.bin") ||
           mt_compressed_any(directory, ".intgemm8.bin") ||
           mt_foreign_any_begins(directory, ".bin", MT_MARIAN_BIN_MAGIC, MT_MARIAN_BIN_MAGIC_BYTES);
}

static enum mt_status find(struct mt_foreign_files *files, struct mt_error *err)
{
    static const char *const endings[] = {".npz", ".bin", ".yml", ".spm"};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && !status; i++)
        status = mt_compressed_add_all(files, endings[i], err);
    return status;
}

/* --- Vocabularies --- */

/* A vocabulary that becomes vocab.json. The reader of that checks the rest: duplicate ids and
 * pieces, lengths. */
struct vocab {
    const char *path;
    struct mt_text json;
    struct mt_json_writer writer;
    int64_t eos, unk, pad; /* or -1 */
    size_t n;
};

static void add_piece(struct vocab *v, const char *piece, int64_t id)
{
    const struct {
        const char *piece;
        int64_t *id;
    } specials[] = {{EOS, &v->eos}, {UNK, &v->unk}, {PAD, &v->pad}};
    for (size_t i = 0; i < 3; i++)
        if (strcmp(piece, specials[i].piece) == 0)
            *specials[i].id = id;
    mt_json_member_integer(&v->writer, piece, id);
    v->n++;
}

static enum mt_status add_yaml_piece(void *context, const struct mt_yaml_value *value,
                                     struct mt_error *err)
{
    struct vocab *v = context;
    size_t n_digits = strspn(value->value, "0123456789");
    if (value->index != MT_YAML_SCALAR || !n_digits || value->value[n_digits] || n_digits > 7)
        return mt_fail(err, MT_FORMAT,
                       "%s: \"%.60s\": expected an id from 0 to %d, found \"%.60s\"", v->path,
                       value->key, MT_VOCAB_MAX_ID, value->value);
    if (v->n == MT_VOCAB_MAX_PIECES)
        return mt_fail(err, MT_LIMIT, "%s: more than %zu pieces", v->path, MT_VOCAB_MAX_PIECES);
    add_piece(v, value->key, strtol(value->value, NULL, 10));
    return MT_OK;
}

static enum mt_status add_spm_piece(void *context, const char *piece, size_t length,
                                    struct mt_error *err)
{
    struct vocab *v = context;
    char copy[MT_SPM_MAX_PIECE_BYTES + 1];
    if (length > MT_SPM_MAX_PIECE_BYTES || (length && memchr(piece, 0, length)))
        return mt_fail(err, MT_FORMAT, "%s: piece %zu has %zu bytes, or holds NUL", v->path, v->n,
                       length);
    if (length)
        memcpy(copy, piece, length);
    copy[length] = '\0';
    add_piece(v, copy, (int64_t)v->n);
    return MT_OK;
}

static bool is_spm(const struct mt_foreign_file *file)
{
    size_t length = strlen(file->name);
    return length > 4 && strcmp(file->name + length - 4, ".spm") == 0;
}

static enum mt_status read_vocab(const struct mt_foreign_file *file, struct vocab *v,
                                 struct mt_error *err)
{
    const char *bytes = (const char *)file->mapping.bytes;
    size_t length = file->mapping.length;
    struct mt_spm_info info;
    enum mt_status status;
    *v = (struct vocab){.path = file->path, .eos = -1, .unk = -1, .pad = -1};
    v->json.limit_bytes = MT_VOCAB_MAX_FILE_BYTES;
    mt_json_writer_init(&v->writer, &v->json);
    mt_json_begin_object(&v->writer);
    if (is_spm(file)) {
        status = mt_spm_check(bytes, length, file->path, &info, err);
        if (!status)
            status = mt_spm_list_pieces(bytes, length, file->path, add_spm_piece, v, err);
    } else {
        status = mt_yaml_read(bytes, length, file->path, add_yaml_piece, v, err);
    }
    mt_json_end_object(&v->writer);
    if (!status)
        status = mt_text_check(&v->json, file->path, err);
    if (!status && (v->eos < 0 || v->unk < 0))
        status = mt_fail(err, MT_FORMAT, "%s: expected the piece \"%s\"", file->path,
                         v->eos < 0 ? EOS : UNK);
    return status;
}

/* --- config.json --- */

static void put_number(struct mt_json_writer *w, const char *key, double value)
{
    mt_json_member_number(w, key, value, 9);
}

static void put_id(struct mt_json_writer *w, const char *key, int64_t id)
{
    mt_json_key(w, key);
    if (id < 0)
        mt_json_null(w);
    else
        mt_json_integer(w, id);
}

static void put_architecture(struct mt_json_writer *w, const struct mt_marian_model *m)
{
    mt_json_member(w, "model_type", MT_OWN_MODEL_TYPE);
    mt_json_member_count(w, "d_model", m->d_model);
    mt_json_member_count(w, "encoder_layers", m->n_encoder_layers);
    mt_json_member_count(w, "decoder_layers", m->n_decoder_layers);
    mt_json_member_count(w, "encoder_attention_heads", m->n_heads);
    mt_json_member_count(w, "decoder_attention_heads", m->n_heads);
    mt_json_member_count(w, "encoder_ffn_dim", m->d_ff_encoder);
    mt_json_member_count(w, "decoder_ffn_dim", m->d_ff_decoder);
    mt_json_member_count(w, "vocab_size", m->n_source_vocab);
    mt_json_member_count(w, "decoder_vocab_size", m->n_target_vocab);
    mt_json_member(w, "activation_function", mt_activation_name(m->activation));
    mt_json_member_bool(w, "share_encoder_decoder_embeddings", m->shared_embeddings);
    mt_json_member_bool(w, "tie_word_embeddings", m->tied_output);
    mt_json_member_bool(w, "normalize_before", m->normalize_before);
    mt_json_member_bool(w, "normalize_embedding", m->normalize_embedding);
    mt_json_member_bool(w, "add_final_layer_norm", m->final_norm);
    mt_json_member_bool(w, "static_position_embeddings", !m->n_positions);
    mt_json_member_count(w, "max_position_embeddings",
                         m->n_positions ? m->n_positions : MAX_POSITIONS);
    /* Learned positions have the magnitude of embeddings, which computed ones do not have. */
    mt_json_member_bool(w, "scale_embedding", !m->n_positions);
    mt_json_member(w, "position_formula", "tensor2tensor");
    put_number(w, "layer_norm_eps", 1e-6);
    mt_json_member_bool(w, "start_from_zero_embedding", true);
    mt_json_member(w, "decoder_cell", m->has_ssru ? "ssru" : "attention");
}

static enum mt_status put_search(struct mt_json_writer *w, const struct mt_marian_model *m,
                                 const struct vocab *target, struct mt_error *err)
{
    const struct mt_marian_settings *d = m->decoder;
    double normalize = 0.0, word_penalty = 0.0, length_factor = DEFAULT_LENGTH_FACTOR;
    size_t n_beams = DEFAULT_BEAMS;
    bool allows_unk = false;
    enum mt_status status = mt_marian_size(d, "beam-size", 0, &n_beams, err);
    if (!status)
        status = mt_marian_number(d, "normalize", &normalize, err);
    if (!status)
        status = mt_marian_number(d, "word-penalty", &word_penalty, err);
    if (!status)
        status = mt_marian_number(d, "max-length-factor", &length_factor, err);
    if (!status)
        status = mt_marian_bool(d, "allow-unk", &allows_unk, err);
    mt_json_member(w, "search", "marian");
    mt_json_member_count(w, "num_beams", n_beams);
    put_number(w, "length_penalty", normalize);
    put_number(w, "word_penalty", word_penalty);
    put_number(w, "max_length_factor", length_factor);
    mt_json_member_count(w, "max_length", m->n_positions ? m->n_positions : MAX_POSITIONS);
    put_id(w, "eos_token_id", target->eos);
    put_id(w, "pad_token_id", target->pad);
    /* Any token could be used, since its embedding is zero. */
    put_id(w, "decoder_start_token_id", target->pad < 0 ? target->eos : target->pad);
    put_id(w, "forced_eos_token_id", -1);
    mt_json_member_array(w, "bad_words_ids");
    const int64_t never[] = {allows_unk ? -1 : target->unk, target->pad};
    for (size_t i = 0; i < 2; i++) {
        if (never[i] < 0)
            continue;
        mt_json_begin_array(w);
        mt_json_integer(w, never[i]);
        mt_json_end_array(w);
    }
    mt_json_end_array(w);
    return status;
}

static enum mt_status write_config(const struct mt_marian_model *m, const struct vocab *target,
                                   struct mt_text *out, struct mt_error *err)
{
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, out);
    mt_json_begin_object(&writer);
    put_architecture(&writer, m);
    enum mt_status status = put_search(&writer, m, target, err);
    mt_json_end_object(&writer);
    return status ? status : mt_text_check(out, "config.json", err);
}

/* --- Documents --- */

/* Finds the .spm files, which are the vocabularies or beside them. */
static enum mt_status find_spm(const struct mt_foreign_files *files,
                               const struct mt_marian_model *m, size_t side,
                               struct mt_foreign_document *out, struct mt_error *err)
{
    static const char *const names[] = {"source.spm", "target.spm"};
    const struct mt_foreign_file *file =
        is_spm(m->vocabs[side]) ? m->vocabs[side] : mt_foreign_file(files, names[side]);
    if (!file)
        return mt_fail(err, MT_NOT_FOUND, "%s: expected %s, or vocabularies that are .spm files",
                       files->directory, names[side]);
    *out = (struct mt_foreign_document){names[side], file->mapping.bytes, file->mapping.length};
    return MT_OK;
}

/* Writes the languages that the names of the files tell. */
static enum mt_status write_tokenizer_config(const struct mt_marian_model *m, struct mt_text *out,
                                             struct mt_error *err)
{
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, out);
    mt_json_begin_object(&writer);
    if (*m->languages[0]) {
        mt_json_member(&writer, "source_lang", m->languages[0]);
        mt_json_member(&writer, "target_lang", m->languages[1]);
    }
    mt_json_end_object(&writer);
    return mt_text_check(out, "tokenizer_config.json", err);
}

static struct mt_foreign_document document_of(const char *name, const struct mt_text *text)
{
    return (struct mt_foreign_document){name, text->bytes, text->length};
}

static enum mt_status make_documents(const struct mt_foreign_files *files,
                                     const struct mt_marian_model *m, struct mt_image **out,
                                     struct mt_error *err)
{
    struct vocab source = {0}, target = {0};
    struct mt_text config = {0}, tokenizer = {0};
    struct mt_foreign_document documents[7];
    size_t n = 0;
    bool is_separate = m->vocabs[0] != m->vocabs[1];
    enum mt_status status = read_vocab(m->vocabs[0], &source, err);
    if (!status && is_separate)
        status = read_vocab(m->vocabs[1], &target, err);
    if (!status)
        status = write_config(m, is_separate ? &target : &source, &config, err);
    if (!status)
        status = write_tokenizer_config(m, &tokenizer, err);
    for (size_t side = 0; side < 2 && !status; side++)
        status = find_spm(files, m, side, &documents[side], err);
    if (!status) {
        documents[2] = document_of("config.json", &config);
        documents[3] = document_of("tokenizer_config.json", &tokenizer);
        documents[4] = document_of("vocab.json", &source.json);
        n = 5;
        if (is_separate)
            documents[n++] = document_of("target_vocab.json", &target.json);
        if (m->shortlist)
            documents[n++] = (struct mt_foreign_document){
                "shortlist.bin", m->shortlist->mapping.bytes, m->shortlist->mapping.length};
        status = mt_foreign_documents(documents, n, out, err);
    }
    mt_text_finish(&source.json);
    mt_text_finish(&target.json);
    mt_text_finish(&config);
    mt_text_finish(&tokenizer);
    return status;
}

static enum mt_status describe(const struct mt_foreign_files *files, struct mt_image **out,
                               struct mt_error *err)
{
    struct mt_foreign_files plain = {0};
    struct mt_marian_model model = {0};
    enum mt_status status = mt_compressed_unpack(files, &plain, err);
    if (!status)
        status = mt_marian_model_open(&plain, &model, err);
    if (!status)
        status = make_documents(&plain, &model, out, err);
    mt_marian_model_finish(&model);
    mt_foreign_files_finish(&plain);
    return status;
}

static enum mt_status read_weights(const struct mt_foreign_files *files, struct mt_image **out,
                                   struct mt_error *err)
{
    struct mt_foreign_files plain = {0};
    enum mt_status status = mt_compressed_unpack(files, &plain, err);
    if (!status)
        status = mt_marian_read(&plain, out, err);
    mt_foreign_files_finish(&plain);
    return status;
}

const struct mt_foreign mt_marian = {
    .family = "Marian",
    .version = "1",
    .is_one = is_one,
    .find = find,
    .describe = describe,
    .read = read_weights,
};
