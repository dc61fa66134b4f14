#include "model/families/multilingual.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "model/families/multilingual_languages.h"
#include "model/tokenizer/spm_check.h"
#include "model/tokenizer/tokenizer_config.h"
#include "model/tokenizer/vocab.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG "config.json"
#define GENERATION "generation_config.json"
#define TOKENIZER "tokenizer_config.json"
#define SPECIALS "special_tokens_map.json"
#define ADDED "added_tokens.json"
#define SPM "sentencepiece.bpe.model"
#define VOCAB "vocab.json"

#define MAX_CONFIG_BYTES ((size_t)1 << 20)
#define MASK "<mask>"

enum kind { M2M100, NLLB, MBART50 };

/* fairseq's ids are one more than those of the .spm file, because <pad> is inserted. */
#define SPM_OFFSET 1
#define N_FIRST 4
static const char *const first_pieces[N_FIRST] = {"<s>", "<pad>", "</s>", "<unk>"};
/* The .spm file begins with these instead. */
static const char *const spm_pieces[] = {"<unk>", "<s>", "</s>"};

struct language {
    const char *code;
    char token[MT_LANGUAGE_TOKEN_BYTES];
    int64_t id;
};

struct description {
    const struct mt_foreign_files *files;
    struct mt_error *err;
    enum kind kind;
    cJSON *config, *tokenizer, *specials, *added; /* NULL: the file does not exist */
    char *codes;                                  /* codes of the languages, each with a NUL */
    struct language *languages;
    size_t n_languages;
    struct mt_text config_text, tokenizer_text, vocab;
    struct mt_json_writer vocab_writer;
    size_t n_pieces; /* of the .spm file */
};

static bool is_one(const char *directory)
{
    return mt_path_holds(directory, SPM) && mt_path_holds(directory, CONFIG);
}

static enum mt_status find(struct mt_foreign_files *files, struct mt_error *err)
{
    static const char *const names[] = {CONFIG, SPM, GENERATION, TOKENIZER, SPECIALS, ADDED, VOCAB};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && !status; i++)
        if (mt_path_holds(files->directory, names[i]))
            status = mt_foreign_add(files, names[i], err);
    return status;
}

/* --- The configurations --- */

static const char *path_of(const struct description *d, const char *name)
{
    const struct mt_foreign_file *file = mt_foreign_file(d->files, name);
    return file ? file->path : d->files->directory;
}

static enum mt_status parse(const struct description *d, const char *name, size_t max_bytes,
                            cJSON **out)
{
    static const struct mt_json_limits limits = {.max_values = MT_TOKENIZER_CONFIG_MAX_VALUES};
    const struct mt_foreign_file *file = mt_foreign_file(d->files, name);
    if (!file)
        return MT_OK;
    if (file->mapping.length > max_bytes)
        return mt_fail(d->err, MT_LIMIT, "%s: %zu bytes, expected at most %zu", file->path,
                       file->mapping.length, max_bytes);
    enum mt_status status = mt_json_parse((const char *)file->mapping.bytes, file->mapping.length,
                                          &limits, file->path, out, d->err);
    if (!status && !cJSON_IsObject(*out))
        return mt_fail(d->err, MT_FORMAT, "%s: expected an object", file->path);
    return status;
}

static enum mt_status parse_all(struct description *d)
{
    enum mt_status status = parse(d, CONFIG, MAX_CONFIG_BYTES, &d->config);
    if (!status)
        status = parse(d, TOKENIZER, MT_TOKENIZER_CONFIG_MAX_BYTES, &d->tokenizer);
    if (!status)
        status = parse(d, SPECIALS, MAX_CONFIG_BYTES, &d->specials);
    if (!status)
        status = parse(d, ADDED, MAX_CONFIG_BYTES, &d->added);
    return status;
}

static const char *text_of(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text ? text : "";
}

static const char *tokenizer_class(const struct description *d)
{
    const char *class = text_of(d->tokenizer, "tokenizer_class");
    return *class ? class : text_of(d->config, "tokenizer_class");
}

static enum mt_status find_kind(struct description *d)
{
    const char *type = text_of(d->config, "model_type"), *class = tokenizer_class(d);
    if (strcmp(type, "m2m_100") == 0) {
        d->kind = mt_foreign_file(d->files, VOCAB) ? M2M100 : NLLB;
        return MT_OK;
    }
    d->kind = MBART50;
    if (strcmp(type, "mbart") != 0)
        return mt_fail(d->err, MT_UNSUPPORTED,
                       "%s: model_type: expected \"m2m_100\" or \"mbart\", because " SPM
                       " lies beside it, found \"%s\"",
                       path_of(d, CONFIG), type);
    if (strcmp(class, "MBart50Tokenizer") != 0 && strcmp(class, "MBart50TokenizerFast") != 0)
        return mt_fail(d->err, MT_UNSUPPORTED,
                       "%s: tokenizer_class: expected MBart50Tokenizer (mBART-25 is not "
                       "implemented), found \"%s\"",
                       path_of(d, TOKENIZER), class);
    return MT_OK;
}

/* --- The pieces --- */

static enum mt_status check_first_piece(const struct description *d, const char *piece,
                                        size_t length)
{
    const char *expected = spm_pieces[d->n_pieces];
    if (length == strlen(expected) && memcmp(piece, expected, length) == 0)
        return MT_OK;
    return mt_fail(d->err, MT_FORMAT, "%s: expected \"%s\" as piece %zu, found \"%.*s\"",
                   path_of(d, SPM), expected, d->n_pieces, (int)(length < 40 ? length : 40), piece);
}

static enum mt_status add_piece(void *context, const char *piece, size_t length,
                                struct mt_error *err)
{
    struct description *d = context;
    char copy[MT_SPM_MAX_PIECE_BYTES + 1];
    if (length > MT_SPM_MAX_PIECE_BYTES || (length && memchr(piece, 0, length)))
        return mt_fail(err, MT_FORMAT, "%s: piece %zu has %zu bytes, or holds NUL", path_of(d, SPM),
                       d->n_pieces, length);
    if (d->n_pieces < sizeof spm_pieces / sizeof *spm_pieces) {
        enum mt_status status = check_first_piece(d, piece, length);
        d->n_pieces++;
        return status;
    }
    if (length)
        memcpy(copy, piece, length);
    copy[length] = '\0';
    mt_json_member_count(&d->vocab_writer, copy, d->n_pieces++ + SPM_OFFSET);
    return MT_OK;
}

/* Writes the .spm file's pieces with fairseq's ids; those that follow are added later. */
static enum mt_status begin_vocab(struct description *d)
{
    const struct mt_foreign_file *spm = mt_foreign_file(d->files, SPM);
    const char *bytes = (const char *)spm->mapping.bytes;
    struct mt_spm_info info;
    d->vocab.limit_bytes = MT_VOCAB_MAX_FILE_BYTES;
    mt_json_writer_init(&d->vocab_writer, &d->vocab);
    mt_json_begin_object(&d->vocab_writer);
    enum mt_status status = mt_spm_check(bytes, spm->mapping.length, spm->path, &info, d->err);
    for (size_t i = 0; i < N_FIRST && !status; i++)
        mt_json_member_count(&d->vocab_writer, first_pieces[i], i);
    if (!status)
        status = mt_spm_list_pieces(bytes, spm->mapping.length, spm->path, add_piece, d, d->err);
    if (!status && d->n_pieces < sizeof spm_pieces / sizeof *spm_pieces)
        status =
            mt_fail(d->err, MT_FORMAT, "%s: %zu pieces, expected more", spm->path, d->n_pieces);
    return status;
}

/* Copies vocab.json without its end. */
static enum mt_status copy_vocab(struct description *d)
{
    static const struct mt_json_limits limits = {.max_depth = 4,
                                                 .max_values = 2 * MT_VOCAB_MAX_PIECES + 2};
    const struct mt_foreign_file *file = mt_foreign_file(d->files, VOCAB);
    const char *bytes = (const char *)file->mapping.bytes;
    size_t length = file->mapping.length;
    struct mt_json_reader reader;
    d->vocab.limit_bytes = MT_VOCAB_MAX_FILE_BYTES;
    if (length > MT_VOCAB_MAX_FILE_BYTES)
        return mt_fail(d->err, MT_LIMIT, "%s: %zu bytes, expected at most %zu", file->path, length,
                       MT_VOCAB_MAX_FILE_BYTES);
    enum mt_status status = mt_json_check(bytes, length, &limits, file->path, d->err);
    if (status)
        return status;
    mt_json_reader_init(&reader, bytes, length);
    if (mt_json_reader_peek(&reader) != '{')
        return mt_fail(d->err, MT_FORMAT, "%s: expected an object {\"piece\": id, ...}",
                       file->path);
    for (mt_json_reader_enter(&reader); mt_json_reader_next(&reader); d->n_pieces++) {
        (void)mt_json_reader_string(&reader);
        mt_json_reader_skip(&reader);
    }
    while (bytes[length - 1] != '}')
        length--;
    mt_text_append(&d->vocab, bytes, length - 1);
    return mt_text_check(&d->vocab, file->path, d->err);
}

/* --- The languages --- */

/* Returns the id of an added token. Newer files have {"128004": {"content": "__af__"}, ...}, and
 * older ones {"__af__": 128004, ...}. -1: neither has it. */
static int64_t added_id(const struct description *d, const char *token)
{
    const cJSON *item, *number = cJSON_GetObjectItemCaseSensitive(d->added, token);
    if (cJSON_IsNumber(number))
        return (int64_t)number->valuedouble;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(d->tokenizer, "added_tokens_decoder"))
    {
        if (strcmp(text_of(item, "content"), token) == 0)
            return strtol(item->string, NULL, 10);
    }
    return -1;
}

/* Returns NLLB's list of languages, which may have been changed in training and is then in one of
 * these files. */
static const cJSON *listed_languages(const struct description *d)
{
    static const char key[] = "additional_special_tokens";
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(d->tokenizer, key);
    if (!cJSON_IsArray(list) || !list->child)
        list = cJSON_GetObjectItemCaseSensitive(d->specials, key);
    return cJSON_IsArray(list) && list->child ? list : NULL;
}

static enum mt_status copy_list(struct description *d, const cJSON *list, struct mt_text *out)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const char *token =
            cJSON_IsObject(item) ? text_of(item, "content") : cJSON_GetStringValue(item);
        if (!token || !*token || strchr(token, ' '))
            return mt_fail(d->err, MT_FORMAT,
                           "%s: additional_special_tokens: expected codes of languages",
                           path_of(d, TOKENIZER));
        mt_text_appendf(out, "%s%s", out->length ? " " : "", token);
    }
    return MT_OK;
}

static enum mt_status collect_codes(struct description *d)
{
    const cJSON *list = d->kind == NLLB ? listed_languages(d) : NULL;
    bool is_wmt21 = strcmp(text_of(d->tokenizer, "language_codes"), "wmt21") == 0;
    struct mt_text codes = {0};
    enum mt_status status = MT_OK;
    if (list)
        status = copy_list(d, list, &codes);
    else
        mt_text_append_string(&codes, d->kind == NLLB      ? mt_nllb_languages
                                      : d->kind == MBART50 ? mt_mbart50_languages
                                      : is_wmt21           ? mt_wmt21_languages
                                                           : mt_m2m100_languages);
    if (!status)
        status = mt_text_take(&codes, "codes of languages", &d->codes, NULL, d->err);
    mt_text_finish(&codes);
    return status;
}

static enum mt_status add_language(struct description *d, const char *code, int64_t next_id)
{
    struct language *language = &d->languages[d->n_languages];
    const char *format = d->kind == M2M100 ? "__%s__" : "%s";
    int n = snprintf(language->token, sizeof language->token, format, code);
    if (n < 0 || (size_t)n >= sizeof language->token)
        return mt_fail(d->err, MT_LIMIT, "%s: a code of a language has %zu bytes: \"%.60s\"",
                       path_of(d, TOKENIZER), strlen(code), code);
    int64_t id = added_id(d, language->token);
    language->code = code;
    language->id = id < 0 ? next_id : id;
    d->n_languages++;
    return MT_OK;
}

static enum mt_status find_languages(struct description *d)
{
    enum mt_status status = collect_codes(d);
    if (status)
        return status;
    int64_t next_id = (int64_t)d->n_pieces + (d->kind == M2M100 ? 0 : SPM_OFFSET);
    d->languages = calloc(MT_TOKENIZER_MAX_LANGUAGES, sizeof *d->languages);
    if (!d->languages)
        return mt_fail_memory(d->err, MT_TOKENIZER_MAX_LANGUAGES * sizeof *d->languages,
                              "languages");
    char *rest = d->codes, *code;
    while (!status && (code = strsep(&rest, " "))) {
        if (d->n_languages == MT_TOKENIZER_MAX_LANGUAGES)
            return mt_fail(d->err, MT_LIMIT, "%s: more than %d languages", path_of(d, TOKENIZER),
                           MT_TOKENIZER_MAX_LANGUAGES);
        status = add_language(d, code, next_id++);
    }
    return status;
}

/* Whether the vocabulary already has the token, as in some files. */
static bool vocab_has(const struct description *d, const char *token)
{
    char quoted[MT_LANGUAGE_TOKEN_BYTES + 3];
    int n = snprintf(quoted, sizeof quoted, "\"%s\"", token);
    return memmem(d->vocab.bytes, d->vocab.length, quoted, (size_t)n) != NULL;
}

static enum mt_status end_vocab(struct description *d)
{
    bool is_copy = d->kind == M2M100;
    for (size_t i = 0; i < d->n_languages; i++) {
        const struct language *language = &d->languages[i];
        if (!is_copy) {
            mt_json_member_integer(&d->vocab_writer, language->token, language->id);
        } else if (!vocab_has(d, language->token)) {
            mt_text_appendf(&d->vocab, ", \"%s\": %lld", language->token, (long long)language->id);
        }
    }
    if (is_copy) {
        mt_text_append_string(&d->vocab, "}");
    } else {
        int64_t id = added_id(d, MASK);
        mt_json_member_integer(&d->vocab_writer, MASK,
                               id < 0 ? (int64_t)(d->n_pieces + SPM_OFFSET + d->n_languages) : id);
        mt_json_end_object(&d->vocab_writer);
    }
    return mt_text_check(&d->vocab, "vocab.json", d->err);
}

/* --- config.json --- */

/* is_default: the value that configuration_*.py has if the file has none. */
struct member {
    const char *key;
    bool is_default;
    cJSON *value;
};

static enum mt_status put_members(cJSON *config, struct member *members, size_t n,
                                  struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n; i++) {
        struct member *m = &members[i];
        bool is_there = cJSON_GetObjectItemCaseSensitive(config, m->key) != NULL;
        if (!m->is_default)
            cJSON_DeleteItemFromObjectCaseSensitive(config, m->key);
        if (m->is_default && is_there)
            cJSON_Delete(m->value);
        else if (!m->value || !cJSON_AddItemToObject(config, m->key, m->value))
            status = mt_fail_memory(err, sizeof *m->value, CONFIG);
    }
    return status;
}

static enum mt_status write_config(struct description *d)
{
    cJSON *c = d->config;
    bool is_mbart = d->kind == MBART50;
    struct member members[] = {
        {"vocab_size", true, cJSON_CreateNumber(is_mbart ? 50265 : 128112)},
        {"max_position_embeddings", true, cJSON_CreateNumber(1024)},
        {"activation_function", true, cJSON_CreateString(is_mbart ? "gelu" : "relu")},
        {"scale_embedding", true, cJSON_CreateBool(!is_mbart)},
        {"pad_token_id", true, cJSON_CreateNumber(1)},
        {"eos_token_id", true, cJSON_CreateNumber(2)},
        {"decoder_start_token_id", true, cJSON_CreateNumber(2)},
        {"forced_eos_token_id", true, is_mbart ? cJSON_CreateNumber(2) : cJSON_CreateNull()},
        {"model_type", false, cJSON_CreateString(MT_OWN_MODEL_TYPE)},
        {"normalize_before", false, cJSON_CreateBool(true)},
        {"add_final_layer_norm", false, cJSON_CreateBool(true)},
        {"normalize_embedding", false, cJSON_CreateBool(is_mbart)},
        {"static_position_embeddings", false, cJSON_CreateBool(!is_mbart)},
        {"position_formula", false, cJSON_CreateString("tensor2tensor")},
        {"position_layout", false, cJSON_CreateString("concatenated")},
        {"first_position", false, cJSON_CreateNumber(2)},
        {"positions_skip_padding", false, cJSON_CreateBool(!is_mbart)},
    };
    enum mt_status status = put_members(c, members, sizeof members / sizeof *members, d->err);
    if (status)
        return status;
    char *text = cJSON_PrintUnformatted(c);
    if (!text)
        return mt_fail_memory(d->err, MAX_CONFIG_BYTES, CONFIG);
    mt_text_append_string(&d->config_text, text);
    cJSON_free(text);
    return mt_text_check(&d->config_text, CONFIG, d->err);
}

/* --- tokenizer_config.json --- */

static double layers_of(const struct description *d, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(d->config, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 12.0;
}

static const char *rule_of(const struct description *d)
{
    bool is_small = strcmp(tokenizer_class(d), "SMALL100Tokenizer") == 0 ||
                    layers_of(d, "decoder_layers") < layers_of(d, "encoder_layers");
    if (d->kind == M2M100 && is_small)
        return "target";
    bool is_legacy =
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(d->tokenizer, "legacy_behaviour"));
    return d->kind == NLLB && is_legacy ? "source_behind_and_target" : "source_and_target";
}

static enum mt_status write_tokenizer_config(struct description *d)
{
    const cJSON *clean_up =
        cJSON_GetObjectItemCaseSensitive(d->tokenizer, "clean_up_tokenization_spaces");
    struct mt_json_writer w;
    mt_json_writer_init(&w, &d->tokenizer_text);
    mt_json_begin_object(&w);
    mt_json_member(&w, "tokenizer_class", MT_OWN_TOKENIZER_CLASS);
    if (cJSON_IsBool(clean_up))
        mt_json_member_bool(&w, "clean_up_tokenization_spaces", cJSON_IsTrue(clean_up));
    mt_json_member(&w, "language_tokens", rule_of(d));
    mt_json_member_object(&w, "languages");
    for (size_t i = 0; i < d->n_languages; i++)
        mt_json_member(&w, d->languages[i].code, d->languages[i].token);
    mt_json_end_object(&w);
    mt_json_member_array(&w, "special_tokens");
    mt_json_string_z(&w, first_pieces[0]);
    mt_json_string_z(&w, MASK);
    mt_json_end_array(&w);
    mt_json_end_object(&w);
    return mt_text_check(&d->tokenizer_text, TOKENIZER, d->err);
}

/* --- Documents --- */

static struct mt_foreign_document document_of(const char *name, const struct mt_text *text)
{
    return (struct mt_foreign_document){name, text->bytes, text->length};
}

static struct mt_foreign_document copy_of(const char *name, const struct mt_foreign_file *file)
{
    return (struct mt_foreign_document){name, file->mapping.bytes, file->mapping.length};
}

static enum mt_status make_documents(struct description *d, struct mt_image **out)
{
    const struct mt_foreign_file *spm = mt_foreign_file(d->files, SPM);
    const struct mt_foreign_file *generation = mt_foreign_file(d->files, GENERATION);
    struct mt_foreign_document documents[6] = {
        document_of(CONFIG, &d->config_text), document_of(TOKENIZER, &d->tokenizer_text),
        document_of(VOCAB, &d->vocab),        copy_of("source.spm", spm),
        copy_of("target.spm", spm),
    };
    if (generation)
        documents[5] = copy_of(GENERATION, generation);
    return mt_foreign_documents(documents, generation ? 6 : 5, out, d->err);
}

static enum mt_status describe(const struct mt_foreign_files *files, struct mt_image **out,
                               struct mt_error *err)
{
    struct description d = {.files = files, .err = err};
    enum mt_status status = parse_all(&d);
    if (!status)
        status = find_kind(&d);
    if (!status)
        status = d.kind == M2M100 ? copy_vocab(&d) : begin_vocab(&d);
    if (!status)
        status = find_languages(&d);
    if (!status)
        status = end_vocab(&d);
    if (!status)
        status = write_tokenizer_config(&d);
    if (!status)
        status = write_config(&d);
    if (!status)
        status = make_documents(&d, out);
    mt_text_finish(&d.config_text);
    mt_text_finish(&d.tokenizer_text);
    mt_text_finish(&d.vocab);
    free(d.languages);
    free(d.codes);
    cJSON_Delete(d.config);
    cJSON_Delete(d.tokenizer);
    cJSON_Delete(d.specials);
    cJSON_Delete(d.added);
    return status;
}

const struct mt_foreign mt_foreign_multilingual = {
    .family = "Hugging Face's of many languages",
    .version = "2",
    .is_one = is_one,
    .find = find,
    .describe = describe,
};
