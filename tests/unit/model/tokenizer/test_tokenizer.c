#include "tests/unit/model/tokenizer/spm_file.h"
#include "tests/unit/model/tokenizer/tokenizer_dir.h"

#include <pthread.h>
#include <stdatomic.h>

#define BLANK "\xE2\x96\x81"

/* --- Vectors made by the reference tokenizer --- */

/* cJSON strings end at NUL: \u0000 is parsed as U+E0FF, which no vector has, and changed back where
 * its length is known. */
#define NUL_STAND_IN "\xEE\x83\xBF"

/* Copies in with every NUL_STAND_IN replaced. Returns the length. */
static size_t restore_nul(const char *in, const char *nul, size_t nul_length, char *out)
{
    size_t n = 0;
    while (*in) {
        if (strncmp(in, NUL_STAND_IN, 3)) {
            out[n++] = *in++;
            continue;
        }
        memcpy(out + n, nul, nul_length);
        n += nul_length;
        in += 3;
    }
    out[n] = '\0';
    return n;
}

static const cJSON *member(const cJSON *line, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, key);
    ck_assert_msg(item, "no \"%s\" in the vector", key);
    return item;
}

typedef void on_line(const struct mt_tokenizer *tokenizer, const cJSON *line, void *context);

/* Returns the number of lines. */
static size_t each_line(const char *path, const struct mt_tokenizer *tokenizer, on_line *call,
                        void *context)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file, "%s: cannot open", path);
    char *text = NULL;
    size_t capacity = 0, n = 0;
    while (getline(&text, &capacity, file) > 0) {
        for (char *nul = text; (nul = strstr(nul, "\\u0000"));)
            memcpy(nul, "\\ue0ff", 6);
        cJSON *line = cJSON_Parse(text);
        ck_assert_msg(line, "%s:%zu: not JSON", path, n + 1);
        call(tokenizer, line, context);
        cJSON_Delete(line);
        n++;
    }
    free(text);
    fclose(file);
    return n;
}

struct token_check {
    unsigned flags;
    size_t n_equal;
};

static bool is_expected_token(const struct mt_token *token, const cJSON *piece, const cJSON *id)
{
    if (token->id != (int32_t)id->valuedouble)
        return false;
    if (!piece) /* eos: the vectors list its id only */
        return token->special && !token->unknown && token->begin == token->end;
    char *expected = malloc(strlen(piece->valuestring) + 1);
    restore_nul(piece->valuestring, "\xEF\xBF\xBD", 3, expected);
    bool is_equal = strcmp(token->piece, expected) == 0;
    free(expected);
    return is_equal;
}

static void check_tokens(const struct mt_tokenizer *tokenizer, const cJSON *line, void *context)
{
    struct token_check *check = context;
    const char *stored = member(line, "text")->valuestring;
    char *text = malloc(strlen(stored) + 1);
    size_t length = restore_nul(stored, "", 1, text);
    struct mt_token_list list;
    struct mt_error err = {0};
    if (mt_tokenize(tokenizer, text, length, check->flags, &list, &err))
        ck_abort_msg("\"%s\": %s", stored, err.message);
    const cJSON *id = member(line, "input_ids")->child, *piece = member(line, "pieces")->child;
    for (size_t i = 0; i < list.n; i++, id = id->next, piece = piece ? piece->next : NULL)
        ck_assert_msg(id && is_expected_token(&list.tokens[i], piece, id),
                      "\"%s\": token %zu is \"%s\" (%d), expected \"%s\" (%d)", stored, i,
                      list.tokens[i].piece, (int)list.tokens[i].id,
                      piece ? piece->valuestring : "end", id ? id->valueint : -1);
    ck_assert_msg(!id && !piece, "\"%s\": %zu tokens are too few", stored, list.n);
    check->n_equal++;
    mt_token_list_finish(&list);
    free(text);
}

struct text_check {
    const char *ids_key, *text_key;
    size_t n_equal;
};

static void check_text(const struct mt_tokenizer *tokenizer, const cJSON *line, void *context)
{
    struct text_check *check = context;
    const cJSON *ids = member(line, check->ids_key), *item;
    size_t n = 0;
    int32_t *values = malloc(((size_t)cJSON_GetArraySize(ids) + 1) * sizeof *values);
    cJSON_ArrayForEach(item, ids) values[n++] = item->valueint;
    struct mt_text out = {0};
    struct mt_error err = {0};
    if (mt_detokenize(tokenizer, values, n, NULL, &out, &err))
        ck_abort_msg("%s", err.message);
    const char *expected = member(line, check->text_key)->valuestring;
    ck_assert_str_eq(out.bytes ? out.bytes : "", expected);
    check->n_equal++;
    mt_text_finish(&out);
    free(values);
}

static const char *committed_vectors(void)
{
    static char path[512];
    const char *root = getenv("MT_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/unit/data/tokens_en_de.jsonl", root ? root : ".");
    return path;
}

START_TEST(tokenizes_as_the_reference_does)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    struct token_check check = {.flags = MT_TOKENIZE_SOURCE | MT_TOKENIZE_SPECIALS};
    ck_assert_uint_gt(each_line(committed_vectors(), tokenizer, check_tokens, &check), 80);
    mt_tokenizer_close(tokenizer);
}
END_TEST

START_TEST(detokenizes_as_the_reference_does)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    struct text_check check = {"input_ids", "decode_roundtrip_raw", 0};
    ck_assert_uint_gt(each_line(committed_vectors(), tokenizer, check_text, &check), 80);
    mt_tokenizer_close(tokenizer);
}
END_TEST

/* The whole of the vectors, where they lie: $MT_SHARED_DIR/vectors and $MT_SHARED_DIR/opus. */
static const char *shared(const char *format, const char *model, const char *file)
{
    static char path[1024];
    int n = snprintf(path, sizeof path, "%s/", getenv("MT_SHARED_DIR"));
    snprintf(path + n, sizeof path - (size_t)n, format, model, file);
    return path;
}

static void check_shared_tokens(const struct mt_tokenizer *tokenizer, const char *format,
                                const char *model, const char *file, unsigned flags)
{
    struct token_check check = {.flags = flags | MT_TOKENIZE_SPECIALS};
    const char *path = shared(format, model, file);
    size_t n = each_line(path, tokenizer, check_tokens, &check);
    printf("%s %s: %zu of %zu lines tokenized alike\n", model, file, check.n_equal, n);
}

static void check_shared_text(const struct mt_tokenizer *tokenizer, const char *format,
                              const char *model, const char *file, const char *ids_key,
                              const char *text_key)
{
    struct text_check check = {ids_key, text_key, 0};
    size_t n = each_line(shared(format, model, file), tokenizer, check_text, &check);
    printf("%s %s: %zu of %zu lines detokenized alike (%s)\n", model, file, check.n_equal, n,
           text_key);
}

/* With the model's files, but clean-up as given. */
static struct mt_tokenizer *open_shared(const char *model, const char *config)
{
    char path[1024];
    const char *root = getenv("MT_SHARED_DIR");
    snprintf(path, sizeof path, "%s/%s%s", root, strcmp(model, "en-de") ? "opus/" : "", model);
    if (!config)
        return open_or_fail(path);
    struct dir dir = dir_like(path);
    dir_write_text(&dir, "tokenizer_config.json", config);
    struct mt_tokenizer *tokenizer = open_or_fail(dir.path);
    dir_remove(&dir);
    return tokenizer;
}

#define RAW "{\"clean_up_tokenization_spaces\": false}"

static void check_shared_model(const char *model, bool is_opus)
{
    const char *format = is_opus ? "vectors/tokenizers/%s/%s" : "vectors/%s/%s";
    struct mt_tokenizer *plain = open_shared(model, NULL);
    struct mt_tokenizer *raw = open_shared(model, RAW);
    check_shared_tokens(plain, format, model, "tokens.jsonl", MT_TOKENIZE_SOURCE);
    check_shared_text(raw, format, model, "tokens.jsonl", "input_ids", "decode_roundtrip_raw");
    check_shared_text(plain, format, model, "tokens.jsonl", "input_ids", "decode_roundtrip");
    check_shared_text(plain, format, model, "tokens.jsonl", "input_ids", "decode_as_target");
    if (is_opus) {
        check_shared_tokens(plain, format, model, "tokens_target.jsonl", MT_TOKENIZE_TARGET);
        check_shared_text(raw, format, model, "tokens_target.jsonl", "input_ids",
                          "decode_roundtrip_raw");
        check_shared_text(plain, format, model, "tokens_target.jsonl", "input_ids",
                          "decode_as_target");
        check_shared_text(raw, format, model, "decode.jsonl", "ids", "text_raw");
        check_shared_text(plain, format, model, "decode.jsonl", "ids", "text");
    }
    mt_tokenizer_close(plain);
    mt_tokenizer_close(raw);
}

START_TEST(agrees_with_all_shared_vectors)
{
    static const struct {
        const char *model;
        bool is_opus;
    } models[] = {{"en-de", false}, {"en-mg", true}, {"en-pt", true}};
    if (!getenv("MT_SHARED_DIR")) {
        printf("skipped: MT_SHARED_DIR is not set\n");
        return;
    }
    check_shared_model(models[_i].model, models[_i].is_opus);
}
END_TEST

/* --- Text is plain --- */

static struct mt_token_list tokenize(const struct mt_tokenizer *tokenizer, const char *text,
                                     unsigned flags)
{
    struct mt_token_list list;
    struct mt_error err = {0};
    if (mt_tokenize(tokenizer, text, strlen(text), flags, &list, &err))
        ck_abort_msg("%s: %s", text, err.message);
    return list;
}

/* The pieces joined by '|', "*" behind special ones, "?" behind unknown ones. */
static const char *pieces_of(const struct mt_tokenizer *tokenizer, const char *text, unsigned flags)
{
    static char out[4096];
    struct mt_token_list list = tokenize(tokenizer, text, flags);
    out[0] = '\0';
    for (size_t i = 0; i < list.n; i++) {
        if (i)
            strcat(out, "|");
        strcat(out, list.tokens[i].piece);
        strcat(out, list.tokens[i].special ? "*" : "");
        strcat(out, list.tokens[i].unknown ? "?" : "");
    }
    mt_token_list_finish(&list);
    return out;
}

static const struct {
    const char *text;
    unsigned flags;
    const char *pieces;
} plain_cases[] = {
    {"", 0, "</s>*"},
    {" \t\n\xE3\x80\x80", 0, "</s>*"},
    {"Tom", 0, BLANK "Tom|</s>*"},
    {"</s>", 0, BLANK "|<?|/|s|>?|</s>*"},
    {"</s>", MT_TOKENIZE_SPECIALS, "</s>*|</s>*"},
    {"<unk>", MT_TOKENIZE_SPECIALS, "<unk>*|</s>*"},
    {"<pad>", MT_TOKENIZE_SPECIALS, "<pad>*|</s>*"},
    {"Tom</s>Tom", MT_TOKENIZE_SPECIALS, BLANK "Tom|</s>*|" BLANK "Tom|</s>*"},
    {">>xx<< Tom", 0, ">>xx<<*?|" BLANK "Tom|</s>*"},
    {">>xx<<", 0, ">>xx<<*?|</s>*"},
    {">>a b<<Tom<<", 0, ">>a b<<*?|" BLANK "Tom|<<?|</s>*"},
    {">><<", 0, ">><<*?|</s>*"},
    {">>", 0, BLANK "|>>?|</s>*"},
    {">><", 0, BLANK "|>><?|</s>*"},
    {" >>xx<< Tom", 0, BLANK "|>>?|x|x|<<?|" BLANK "Tom|</s>*"},
    {"</s>>>xx<< Tom", MT_TOKENIZE_SPECIALS, "</s>*|>>xx<<*?|" BLANK "Tom|</s>*"},
    {">>xx<< Tom", MT_TOKENIZE_TARGET, ">>xx<<*?|" BLANK "Tom|</s>*"},
};

START_TEST(text_is_plain_unless_asked)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    for (size_t i = 0; i < sizeof plain_cases / sizeof *plain_cases; i++)
        ck_assert_str_eq(pieces_of(tokenizer, plain_cases[i].text, plain_cases[i].flags),
                         plain_cases[i].pieces);
    mt_tokenizer_close(tokenizer);
}
END_TEST

/* An .spm that knows none of these characters makes one unknown piece of them, which spells a
 * special token. */
START_TEST(unknown_characters_cannot_spell_a_special_token)
{
    static const struct spm_entry pieces[] = {{"<unk>", SPM_UNK, 0},
                                              {"</s>", SPM_CONTROL, 0},
                                              {BLANK, SPM_NORMAL, -2},
                                              {"a", SPM_NORMAL, -3}};
    struct mt_text spm = {0};
    put_pieces(&spm, pieces, sizeof pieces / sizeof *pieces);
    put_normalizer(&spm, NULL);
    struct dir dir = dir_create();
    dir_write(&dir, "source.spm", spm.bytes, spm.length);
    dir_write(&dir, "target.spm", spm.bytes, spm.length);
    dir_write_text(&dir, "vocab.json",
                   "{\"</s>\": 0, \"<unk>\": 1, \"<pad>\": 2, \"a\": 3, \"xyz\": 4, \">>q<<\": 5}");
    struct mt_tokenizer *tokenizer = open_or_fail(dir.path);
    ck_assert_str_eq(pieces_of(tokenizer, "</s>", 0), BLANK "?|</s>?|</s>*");
    ck_assert_str_eq(pieces_of(tokenizer, "<pad>", 0), BLANK "?|<p?|a|d>?|</s>*");
    ck_assert_str_eq(pieces_of(tokenizer, "<unk>", 0), BLANK "?|<unk>?|</s>*");
    ck_assert_str_eq(pieces_of(tokenizer, "xyz", 0), BLANK "?|xyz|</s>*");
    ck_assert_str_eq(pieces_of(tokenizer, ">>q<<a", 0), ">>q<<*|" BLANK "?|a|</s>*");
    mt_tokenizer_close(tokenizer);
    dir_remove(&dir);
    mt_text_finish(&spm);
}
END_TEST

START_TEST(nul_is_an_unknown_character)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    struct mt_token_list list;
    ck_assert_int_eq(mt_tokenize(tokenizer, "a\0a", 3, 0, &list, NULL), MT_OK);
    ck_assert_uint_eq(list.n, 4);
    ck_assert_str_eq(list.tokens[1].piece, "\xEF\xBF\xBD");
    ck_assert(list.tokens[1].unknown && list.tokens[1].begin == 1 && list.tokens[1].end == 2);
    mt_token_list_finish(&list);
    mt_tokenizer_close(tokenizer);
}
END_TEST

START_TEST(refuses_malformed_and_long_text)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    struct mt_token_list list;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_tokenize(tokenizer, "abc\xC3", 4, 0, &list, &err), MT_INVALID);
    ck_assert_str_eq(err.message, "text is not UTF-8 at byte 3 (0xC3)");
    char *text = malloc(MT_TOKENIZER_MAX_BYTES + 1);
    memset(text, 'a', MT_TOKENIZER_MAX_BYTES + 1);
    ck_assert_int_eq(mt_tokenize(tokenizer, text, MT_TOKENIZER_MAX_BYTES + 1, 0, &list, &err),
                     MT_LIMIT);
    ck_assert_int_eq(mt_tokenize(tokenizer, text, MT_TOKENIZER_MAX_BYTES, 0, &list, &err), MT_OK);
    ck_assert_uint_eq(list.tokens[list.n - 1].end, MT_TOKENIZER_MAX_BYTES);
    mt_token_list_finish(&list);
    free(text);
    mt_tokenizer_close(tokenizer);
}
END_TEST

/* --- Ids to text --- */

/* Returns the id of a target piece, or -1. */
static int32_t id_of(const struct mt_tokenizer *tokenizer, const char *piece)
{
    int32_t n = (int32_t)mt_tokenizer_target_size(tokenizer);
    for (int32_t id = 0; id < n; id++) {
        const char *other = mt_tokenizer_target_piece(tokenizer, id);
        if (other && strcmp(other, piece) == 0)
            return id;
    }
    return -1;
}

static const char *text_of(const struct mt_tokenizer *tokenizer, const char *const *pieces)
{
    static char text[512];
    int32_t ids[32];
    size_t n = 0;
    for (; pieces[n]; n++) {
        ids[n] = id_of(tokenizer, pieces[n]);
        ck_assert_msg(ids[n] >= 0, "\"%s\" is not in the vocabulary", pieces[n]);
    }
    struct mt_text out = {0};
    struct mt_error err = {0};
    if (mt_detokenize(tokenizer, ids, n, NULL, &out, &err))
        ck_abort_msg("%s", err.message);
    snprintf(text, sizeof text, "%s", out.bytes ? out.bytes : "");
    mt_text_finish(&out);
    return text;
}

START_TEST(special_ids_are_dropped)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    const char *const pieces[] = {"<pad>", BLANK "Ich", "<unk>", BLANK "ist", "</s>", NULL};
    ck_assert_str_eq(text_of(tokenizer, pieces), "Ich ist");
    const char *const nothing[] = {"<pad>", "</s>", NULL};
    ck_assert_str_eq(text_of(tokenizer, nothing), "");
    mt_tokenizer_close(tokenizer);
}
END_TEST

START_TEST(clean_up_follows_the_configuration)
{
    static const struct {
        const char *config, *text;
    } cases[] = {
        {"{}", "Ich ist ."},
        {"{\"clean_up_tokenization_spaces\": false}", "Ich ist ."},
        {"{\"clean_up_tokenization_spaces\": true}", "Ich ist."},
    };
    const char *const pieces[] = {BLANK "Ich", BLANK "ist", BLANK, ".", NULL};
    struct dir dir = dir_like(en_de());
    for (size_t i = 0; i < 3; i++) {
        dir_write_text(&dir, "tokenizer_config.json", cases[i].config);
        struct mt_tokenizer *tokenizer = open_or_fail(dir.path);
        ck_assert_str_eq(text_of(tokenizer, pieces), cases[i].text);
        mt_tokenizer_close(tokenizer);
    }
    dir_remove(&dir);
}
END_TEST

/* Whatever comes behind them. Pieces that clean-up joins, and halves of characters,
 * are frequent. */
START_TEST(a_text_begins_as_its_first_tokens_say)
{
    static const char *const frequent[] = {BLANK,     ".",  "'",       BLANK "'", "s",       "n",
                                           "t",       "re", BLANK "n", ",",       BLANK "I", "?",
                                           BLANK ".", "ve", "m",       "!"};
    struct dir dir = dir_like(en_de());
    for (int clean_up = 0; clean_up < 2; clean_up++) {
        dir_write_text(&dir, "tokenizer_config.json",
                       clean_up ? "{\"clean_up_tokenization_spaces\": true}" : "{}");
        struct mt_tokenizer *tokenizer = open_or_fail(dir.path);
        size_t n_vocab = mt_tokenizer_target_size(tokenizer), n_settled = 0;
        uint64_t state = 42;
        int32_t ids_of_frequent[16];
        for (size_t i = 0; i < 16; i++)
            ids_of_frequent[i] = id_of(tokenizer, frequent[i]);
        for (size_t round = 0; round < 2000; round++) {
            int32_t ids[24];
            struct mt_text whole = {0}, beginning = {0};
            for (size_t i = 0; i < 24; i++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                size_t number = (size_t)(state >> 33);
                ids[i] =
                    number % 3 ? ids_of_frequent[number / 3 % 16] : (int32_t)(number / 3 % n_vocab);
                if (ids[i] < 0 || !mt_tokenizer_target_piece(tokenizer, ids[i]))
                    ids[i] = 0;
            }
            ck_assert_int_eq(mt_detokenize(tokenizer, ids, 24, NULL, &whole, NULL), MT_OK);
            for (size_t n = 0; n <= 24; n++) {
                beginning.length = 0;
                mt_text_append(&beginning, "", 0);
                ck_assert_int_eq(mt_detokenize_begin(tokenizer, ids, n, &beginning, NULL), MT_OK);
                ck_assert_msg(beginning.length <= whole.length &&
                                  !memcmp(beginning.bytes, whole.bytes, beginning.length),
                              "%zu tokens: \"%s\" of \"%s\"", n, beginning.bytes, whole.bytes);
            }
            n_settled += beginning.length;
            mt_text_finish(&whole);
            mt_text_finish(&beginning);
        }
        ck_assert_uint_gt(n_settled, 2000 * 20);
        mt_tokenizer_close(tokenizer);
    }
    dir_remove(&dir);
}
END_TEST

/* Pieces of the vocabulary that target.spm does not know are copied. */
START_TEST(unknown_pieces_are_copied)
{
    struct dir dir = dir_like(en_de());
    dir_write_text(&dir, "vocab.json",
                   "{\"</s>\": 0, \"<unk>\": 1, \"" BLANK "Ich\": 2, \">>de<<\": 3, "
                   "\"" BLANK "\\u9f8d" BLANK "x\": 4}");
    struct mt_tokenizer *tokenizer = open_or_fail(dir.path);
    const char *const pieces[] = {">>de<<", BLANK "Ich", BLANK "\xE9\xBE\x8D" BLANK "x", NULL};
    ck_assert_str_eq(text_of(tokenizer, pieces), ">>de<< Ich \xE9\xBE\x8D x");
    mt_tokenizer_close(tokenizer);
    dir_remove(&dir);
}
END_TEST

/* Embeddings are padded, and vocabularies have holes: a model may write such an id. */
START_TEST(drops_ids_without_a_piece)
{
    struct dir dir = dir_like(en_de());
    dir_write_text(&dir, "vocab.json",
                   "{\"</s>\": 0, \"<unk>\": 1, \"" BLANK "Ich\": 2, \"" BLANK "bin\": 5}");
    struct mt_tokenizer *tokenizer = open_or_fail(dir.path);
    struct mt_text out = {0};
    struct mt_span spans[4];
    struct mt_error err = {0};
    ck_assert_int_eq(mt_detokenize(tokenizer, (int32_t[]){2, 3, 5, 8001}, 4, spans, &out, &err),
                     MT_OK);
    ck_assert_uint_eq(out.length, strlen("Ich bin"));
    ck_assert_mem_eq(out.bytes, "Ich bin", out.length);
    ck_assert_uint_eq(spans[1].begin, spans[1].end);
    ck_assert_uint_eq(spans[2].begin, 4);
    ck_assert_uint_eq(spans[3].begin, spans[3].end);
    mt_text_finish(&out);
    mt_tokenizer_close(tokenizer);
    dir_remove(&dir);
}
END_TEST

START_TEST(refuses_negative_ids)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    struct mt_text out = {0};
    struct mt_error err = {0};
    ck_assert_int_eq(mt_detokenize(tokenizer, (int32_t[]){2, -1}, 2, NULL, &out, &err), MT_INVALID);
    ck_assert_str_eq(err.message, "id -1 at position 1 is not in the vocabulary");
    mt_text_finish(&out);
    mt_tokenizer_close(tokenizer);
}
END_TEST

/* --- Directories --- */

START_TEST(answers_about_the_default_model)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    ck_assert_int_eq(mt_tokenizer_eos_id(tokenizer), 0);
    ck_assert_int_eq(mt_tokenizer_unk_id(tokenizer), 1);
    ck_assert_uint_eq(mt_tokenizer_source_size(tokenizer), 8001);
    ck_assert_uint_eq(mt_tokenizer_target_size(tokenizer), 8001);
    ck_assert_str_eq(mt_tokenizer_source_lang(tokenizer), "en");
    ck_assert_str_eq(mt_tokenizer_target_lang(tokenizer), "de");
    ck_assert_str_eq(mt_tokenizer_source_piece(tokenizer, 3), BLANK "Tom");
    ck_assert_ptr_null(mt_tokenizer_target_piece(tokenizer, 8001));
    mt_tokenizer_close(tokenizer);
}
END_TEST

START_TEST(separate_vocabularies_are_told_apart)
{
    static const char vocab[] = "{\"</s>\": 0, \"<unk>\": 1, \"" BLANK "Tom\": 2}";
    static const char target[] = "{\"</s>\": 5, \"<unk>\": 6, \"" BLANK "Tom\": 7, \"<pad>\": 9}";
    static const struct {
        const char *config;
        int32_t id, eos;
    } cases[] = {
        {"{}", 7, 5},
        {"{\"separate_vocabs\": true}", 7, 5},
        {"{\"separate_vocabs\": false}", 2, 0},
    };
    struct dir dir = dir_like(en_de());
    dir_write_text(&dir, "vocab.json", vocab);
    dir_write_text(&dir, "target_vocab.json", target);
    for (size_t i = 0; i < 3; i++) {
        dir_write_text(&dir, "tokenizer_config.json", cases[i].config);
        struct mt_tokenizer *tokenizer = open_or_fail(dir.path);
        struct mt_token_list list = tokenize(tokenizer, "Tom", MT_TOKENIZE_TARGET);
        ck_assert_uint_eq(list.n, 2);
        ck_assert_int_eq(list.tokens[0].id, cases[i].id);
        ck_assert_int_eq(list.tokens[1].id, cases[i].eos);
        mt_token_list_finish(&list);
        list = tokenize(tokenizer, "Tom", MT_TOKENIZE_SOURCE);
        ck_assert_int_eq(list.tokens[0].id, 2);
        ck_assert_int_eq(list.tokens[1].id, 0);
        mt_token_list_finish(&list);
        mt_tokenizer_close(tokenizer);
    }
    dir_remove(&dir);
}
END_TEST

START_TEST(token_names_come_from_the_configuration)
{
    struct dir dir = dir_like(en_de());
    dir_write_text(&dir, "vocab.json", "{\"<E>\": 3, \"<U>\": 4, \"<P>\": 5}");
    dir_write_text(&dir, "tokenizer_config.json",
                   "{\"eos_token\": {\"content\": \"<E>\", \"lstrip\": false}, "
                   "\"unk_token\": \"<U>\", \"pad_token\": \"<P>\"}");
    struct mt_tokenizer *tokenizer = open_or_fail(dir.path);
    ck_assert_int_eq(mt_tokenizer_eos_id(tokenizer), 3);
    ck_assert_int_eq(mt_tokenizer_unk_id(tokenizer), 4);
    ck_assert_ptr_null(mt_tokenizer_source_lang(tokenizer));
    mt_tokenizer_close(tokenizer);
    dir_remove(&dir);
}
END_TEST

static const struct {
    const char *file;
    const char *content; /* NULL: missing */
    enum mt_status status;
    const char *message;
} open_cases[] = {
    {"source.spm", NULL, MT_NOT_FOUND, "source.spm"},
    {"target.spm", NULL, MT_NOT_FOUND, "target.spm"},
    {"vocab.json", NULL, MT_NOT_FOUND, "vocab.json"},
    {"tokenizer_config.json", NULL, MT_OK, NULL},
    {"source.spm", "", MT_FORMAT, "source.spm: no pieces"},
    {"target.spm", "{}", MT_FORMAT, "target.spm: "},
    {"vocab.json", "{}", MT_FORMAT, "vocab.json: expected the piece \"</s>\""},
    {"vocab.json", "{\"</s>\": 0}", MT_FORMAT, "vocab.json: expected the piece \"<unk>\""},
    {"vocab.json", "[1]", MT_FORMAT, "vocab.json: expected an object"},
    {"tokenizer_config.json", "[]", MT_FORMAT, "tokenizer_config.json: expected an object"},
    {"tokenizer_config.json", "{", MT_FORMAT, "tokenizer_config.json"},
    {"tokenizer_config.json", "{\"eos_token\": 1}", MT_INVALID, "eos_token"},
    {"tokenizer_config.json", "{\"eos_token\": \"\"}", MT_INVALID, "eos_token"},
    {"tokenizer_config.json", "{\"unk_token\": {\"content\": 1}}", MT_INVALID, "content"},
    {"tokenizer_config.json", "{\"clean_up_tokenization_spaces\": \"yes\"}", MT_INVALID,
     "clean_up_tokenization_spaces"},
    {"tokenizer_config.json", "{\"separate_vocabs\": true}", MT_NOT_FOUND, "target_vocab.json"},
};

START_TEST(says_what_is_wrong_with_a_directory)
{
    for (size_t i = 0; i < sizeof open_cases / sizeof *open_cases; i++) {
        struct dir dir = dir_like(en_de());
        unlink(dir_path(&dir, open_cases[i].file));
        if (open_cases[i].content)
            dir_write_text(&dir, open_cases[i].file, open_cases[i].content);
        struct mt_tokenizer *tokenizer = NULL;
        struct mt_error err = {0};
        enum mt_status status = tokenizer_open_directory(dir.path, &tokenizer, &err);
        ck_assert_msg(status == open_cases[i].status, "case %zu: status %d: %s", i, (int)status,
                      err.message);
        if (status) {
            ck_assert_ptr_null(tokenizer);
            ck_assert_msg(strstr(err.message, open_cases[i].message),
                          "case %zu: \"%s\" lacks \"%s\"", i, err.message, open_cases[i].message);
        }
        mt_tokenizer_close(tokenizer);
        dir_remove(&dir);
    }
}
END_TEST

/* --- Threads --- */

struct job {
    const struct mt_tokenizer *tokenizer;
    atomic_size_t *n_wrong;
};

static void *tokenize_often(void *context)
{
    static const char *const texts[] = {"Tom ist da.", "\xC2\xBD \xF0\x9F\x98\x80 x", ">>a<< Ich"};
    struct job *job = context;
    for (size_t round = 0; round < 200; round++) {
        struct mt_token_list list;
        const char *text = texts[round % 3];
        if (mt_tokenize(job->tokenizer, text, strlen(text), 0, &list, NULL)) {
            ++*job->n_wrong;
            continue;
        }
        int32_t ids[32];
        struct mt_span spans[32];
        for (size_t i = 0; i < list.n; i++)
            ids[i] = list.tokens[i].id;
        struct mt_text out = {0};
        if (mt_detokenize(job->tokenizer, ids, list.n, spans, &out, NULL) ||
            (round % 3 == 0 && strcmp(out.bytes, text) != 0))
            ++*job->n_wrong;
        mt_text_finish(&out);
        mt_token_list_finish(&list);
    }
    return NULL;
}

START_TEST(serves_many_threads_at_once)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    atomic_size_t n_wrong = 0;
    struct job job = {tokenizer, &n_wrong};
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, tokenize_often, &job), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(n_wrong, 0);
    mt_tokenizer_close(tokenizer);
}
END_TEST

Suite *suite_tokenizer(void)
{
    Suite *suite = suite_create("tokenizer");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 110);
    tcase_add_test(tcase, tokenizes_as_the_reference_does);
    tcase_add_test(tcase, detokenizes_as_the_reference_does);
    tcase_add_loop_test(tcase, agrees_with_all_shared_vectors, 0, 3);
    tcase_add_test(tcase, text_is_plain_unless_asked);
    tcase_add_test(tcase, unknown_characters_cannot_spell_a_special_token);
    tcase_add_test(tcase, nul_is_an_unknown_character);
    tcase_add_test(tcase, refuses_malformed_and_long_text);
    tcase_add_test(tcase, special_ids_are_dropped);
    tcase_add_test(tcase, clean_up_follows_the_configuration);
    tcase_add_test(tcase, a_text_begins_as_its_first_tokens_say);
    tcase_add_test(tcase, unknown_pieces_are_copied);
    tcase_add_test(tcase, drops_ids_without_a_piece);
    tcase_add_test(tcase, refuses_negative_ids);
    tcase_add_test(tcase, answers_about_the_default_model);
    tcase_add_test(tcase, separate_vocabularies_are_told_apart);
    tcase_add_test(tcase, token_names_come_from_the_configuration);
    tcase_add_test(tcase, says_what_is_wrong_with_a_directory);
    tcase_add_test(tcase, serves_many_threads_at_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
