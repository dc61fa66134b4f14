#include "tests/unit/model/tokenizer/spm_file.h"
#include "tests/unit/model/tokenizer/tokenizer_dir.h"

#define BLANK "\xE2\x96\x81"

static struct mt_token_list tokenize_side(const struct mt_tokenizer *tokenizer, const char *text,
                                          size_t length, unsigned flags)
{
    struct mt_token_list list;
    struct mt_error err = {0};
    if (mt_tokenize(tokenizer, text, length, flags, &list, &err))
        ck_abort_msg("\"%s\": %s", text, err.message);
    return list;
}

static struct mt_token_list tokenize(const struct mt_tokenizer *tokenizer, const char *text,
                                     size_t length)
{
    return tokenize_side(tokenizer, text, length, MT_TOKENIZE_SOURCE);
}

/* --- The part of the text that each token stands for --- */

/* "piece=part|piece=part", without eos. */
static const char *spans_of(const struct mt_tokenizer *tokenizer, const char *text, unsigned flags)
{
    static char out[8192];
    struct mt_token_list list = tokenize_side(tokenizer, text, strlen(text), flags);
    char *at = out;
    *at = '\0';
    for (size_t i = 0; i + 1 < list.n; i++) {
        const struct mt_token *token = &list.tokens[i];
        at += sprintf(at, "%s%s=%.*s", i ? "|" : "", token->piece, (int)(token->end - token->begin),
                      text + token->begin);
    }
    mt_token_list_finish(&list);
    return out;
}

static const struct {
    const char *text, *spans;
} span_cases[] = {
    {"Tom is", BLANK "Tom=Tom|" BLANK "is=is"},
    {"  Tom \t\n is  ", BLANK "Tom=Tom|" BLANK "is=is"},
    {"\xE3\x80\x80Tom\xC2\xA0is", BLANK "Tom=Tom|" BLANK "is=is"},     /* U+3000, U+00A0 */
    {"\xEF\xBB\xBFTom\xE2\x80\x8Bis", BLANK "Tom=Tom|" BLANK "is=is"}, /* U+FEFF, U+200B */
    {"Tom\x01 is\x01", BLANK "Tom=Tom|" BLANK "is=is"},                /* dropped */
    {"\xEF\xBC\xB4om", BLANK "Tom=\xEF\xBC\xB4om"},                    /* full-width T */
    {"\xC2\xBD", BLANK "1=\xC2\xBD|\xE2\x81\x84=\xC2\xBD|2=\xC2\xBD"}, /* one half */
    {"8\xC2\xBD"
     "7",
     BLANK "8=8|1=\xC2\xBD|\xE2\x81\x84=\xC2\xBD|2=\xC2\xBD|7=7"},
    {"!", BLANK "=|!=!"}, /* lone blank */
    {"Tom  !", BLANK "Tom=Tom|" BLANK "=|!=!"},
    {"\xE2\x96\x81Tom\xE2\x96\x81is", BLANK "Tom=Tom|" BLANK "is=is"}, /* U+2581 typed */
    {">>xx<<  Tom", ">>xx<<=>>xx<<|" BLANK "Tom=Tom"},
    {"\xF0\x9F\x98\x80\xF0\x9F\x91\x8D", BLANK "=|\xF0\x9F\x98\x80\xF0\x9F\x91\x8D="
                                               "\xF0\x9F\x98\x80\xF0\x9F\x91\x8D"}, /* one run */
};

START_TEST(tokens_point_at_their_part_of_the_text)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    for (size_t i = 0; i < sizeof span_cases / sizeof *span_cases; i++)
        for (unsigned flags = MT_TOKENIZE_SOURCE; flags <= MT_TOKENIZE_TARGET; flags++)
            ck_assert_str_eq(spans_of(tokenizer, span_cases[i].text, flags), span_cases[i].spans);
    mt_tokenizer_close(tokenizer);
}
END_TEST

/* A character that is replaced by several and cut between them belongs to all of its pieces; a
 * character made of several belongs to one. */
START_TEST(tokens_share_only_what_was_replaced_together)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    /* U+FDFA becomes 18 characters with blanks between them; U+FB03 becomes ffi */
    const char *text = "a\xEF\xB7\xBA"
                       "b o\xEF\xAC\x83"
                       "ce e\xCC\x81";
    struct mt_token_list list = tokenize(tokenizer, text, strlen(text));
    size_t n_shared = 0;
    for (size_t i = 0; i + 1 < list.n; i++) {
        const struct mt_token *token = &list.tokens[i];
        if (token->begin == 1 && token->end == 4)
            n_shared++;
        ck_assert_msg(token->end != 14, "U+0301 is cut off its e");
    }
    ck_assert_uint_gt(n_shared, 3);
    ck_assert_uint_eq(list.tokens[list.n - 2].end, strlen(text));
    mt_token_list_finish(&list);
    mt_tokenizer_close(tokenizer);
}
END_TEST

/* --- Properties --- */

static bool is_boundary(const char *text, size_t length, size_t at)
{
    return at == length || ((unsigned char)text[at] & 0xC0) != 0x80;
}

/* What no token stands for is nothing but blanks and characters that normalising drops: by itself
 * it has no tokens. */
static void check_gap(const struct mt_tokenizer *tokenizer, const char *text, size_t begin,
                      size_t end)
{
    if (begin >= end)
        return;
    struct mt_token_list list = tokenize(tokenizer, text + begin, end - begin);
    ck_assert_msg(list.n == 1, "\"%.*s\" in \"%s\" belongs to no token", (int)(end - begin),
                  text + begin, text);
    mt_token_list_finish(&list);
}

static void check_spans(const struct mt_tokenizer *tokenizer, const char *text, size_t length)
{
    struct mt_token_list list = tokenize(tokenizer, text, length);
    size_t covered = 0, begin = 0, end = 0;
    for (size_t i = 0; i < list.n; i++) {
        const struct mt_token *token = &list.tokens[i];
        ck_assert_uint_le(token->begin, token->end);
        ck_assert_uint_le(token->end, length);
        ck_assert_uint_ge(token->begin, begin);
        ck_assert_uint_ge(token->end, end);
        ck_assert(is_boundary(text, length, token->begin));
        ck_assert(is_boundary(text, length, token->end));
        ck_assert_uint_eq(token->begin_char, mt_utf8_count(text, token->begin));
        ck_assert_uint_eq(token->end_char, mt_utf8_count(text, token->end));
        ck_assert_uint_eq(mt_utf8_valid_prefix(token->piece, strlen(token->piece)),
                          strlen(token->piece));
        check_gap(tokenizer, text, covered, token->begin);
        covered = token->end > covered ? token->end : covered;
        begin = token->begin;
        end = token->end;
    }
    const struct mt_token *eos = &list.tokens[list.n - 1];
    ck_assert_int_eq(eos->id, mt_tokenizer_eos_id(tokenizer));
    ck_assert(eos->special && eos->begin == length && eos->end == length);
    mt_token_list_finish(&list);
}

static const char *const awkward[] = {
    "",
    " ",
    "\xE3\x80\x80",
    "a  b   c",
    "\t a \r\n b \f",
    "\xEF\xBC\xA6\xEF\xBD\x95\xEF\xBD\x8C\xEF\xBD\x8C\xE3\x80\x80\xEF\xBD\x81", /* full-width */
    "\xEF\xB7\xBA\xEF\xB7\xBA",                                                 /* U+FDFA twice */
    "\xEF\xAC\x83\xE2\x84\xA2\xC2\xBD\xE3\x8E\x8F",                             /* ffi TM 1/2 kg */
    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7", /* family: U+200D */
    "\xE2\x9D\xA4\xEF\xB8\x8F \xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD",                /* U+FE0F, skin */
    "Z\xCC\xB8\xCC\xA2\x61\xCC\xB6lgo\xCC\xB4",                                 /* combining */
    "\xCC\x81leading",
    "a\xCC\x88\xCC\x81 e\xCC\x81",
    "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8 \xEA\xB0\x81",     /* jamo that compose */
    "soft\xC2\xADhyphen\xE2\x81\xA0joiner\xE2\x80\x8Bspace", /* U+00AD U+2060 U+200B */
    "\xEF\xBB\xBF\xEF\xBB\xBFx\xEF\xBB\xBF",                 /* U+FEFF */
    "\xEF\xBF\xBD\xEF\xBF\xBE\xEF\xBF\xBF",                  /* U+FFFD U+FFFE U+FFFF */
    "\x01\x02 \x03x\x7F\xC2\x80\xC2\x9F",                    /* controls */
    "\xE2\x96\x81\xE2\x96\x81 \xE2\x96\x81",                 /* U+2581 */
    "\xEF\xBD\xB6\xEF\xBE\x9E\xEF\xBE\x8A\xEF\xBE\x9D",      /* half-width kana, voiced mark */
    "\xE0\xB8\xAA\xE0\xB8\xA7\xE0\xB8\xB1\xE0\xB8\xAA\xE0\xB8\x94\xE0\xB8\xB5",
    "\xF4\x8F\xBF\xBF\xF3\xA0\x81\x81", /* the last code point, a tag */
    ">>x<<\xC2\xBD",
    ">>x<<",
    "\xC2\xA0\xC2\xA0.\xC2\xA0",
    "\xC2\xB4\xC2\xA8", /* acute and diaeresis become a blank and a combining mark */
};

START_TEST(spans_are_ordered_and_on_characters)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    for (size_t i = 0; i < sizeof awkward / sizeof *awkward; i++)
        check_spans(tokenizer, awkward[i], strlen(awkward[i]));
    check_spans(tokenizer, "a\0b\0", 4);
    mt_tokenizer_close(tokenizer);
}
END_TEST

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void put_code_point(struct mt_text *text, uint32_t c)
{
    char bytes[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3F));
    bytes[0] = (char)(lead[n] | c);
    mt_text_append(text, bytes, n);
}

/* Characters that normalising treats specially come often, any others sometimes. */
static uint32_t random_code_point(uint32_t *state)
{
    static const uint32_t ranges[][2] = {
        {0x20, 0x7E},        {0x20, 0x20},     {0x61, 0x7A},       {0x00, 0x1F},
        {0x80, 0xFF},        {0x300, 0x36F},   {0x1100, 0x11FF},   {0x2000, 0x206F},
        {0x2100, 0x218F},    {0x2460, 0x24FF}, {0x2581, 0x2581},   {0x3000, 0x30FF},
        {0x3200, 0x33FF},    {0xAC00, 0xAC80}, {0xF900, 0xFB4F},   {0xFB50, 0xFDFF},
        {0xFE00, 0xFEFF},    {0xFF00, 0xFFEF}, {0x1D400, 0x1D7FF}, {0x1F300, 0x1F6FF},
        {0x10000, 0x10FFFF}, {0x100, 0xD7FF},
    };
    const uint32_t *range = ranges[next_random(state) % (sizeof ranges / sizeof *ranges)];
    return range[0] + next_random(state) % (range[1] - range[0] + 1);
}

START_TEST(spans_hold_for_random_text)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    uint32_t state = 20240517;
    for (size_t round = 0; round < 10000; round++) {
        struct mt_text text = {0};
        mt_text_append(&text, "", 0);
        for (size_t n = next_random(&state) % 24; n > 0; n--)
            put_code_point(&text, random_code_point(&state));
        ck_assert_uint_eq(mt_utf8_valid_prefix(text.bytes, text.length), text.length);
        check_spans(tokenizer, text.bytes, text.length);
        mt_text_finish(&text);
    }
    mt_tokenizer_close(tokenizer);
}
END_TEST

/* --- Other kinds of models --- */

/* A directory with one .spm for both sides. */
static struct mt_tokenizer *open_model(struct mt_text *spm, const char *vocab)
{
    struct dir dir = dir_create();
    dir_write(&dir, "source.spm", spm->bytes, spm->length);
    dir_write(&dir, "target.spm", spm->bytes, spm->length);
    dir_write_text(&dir, "vocab.json", vocab);
    struct mt_tokenizer *tokenizer = open_or_fail(dir.path);
    dir_remove(&dir);
    mt_text_finish(spm);
    return tokenizer;
}

static const struct spm_entry basic[] = {
    {"<unk>", SPM_UNK, 0},        {"</s>", SPM_CONTROL, 0}, {BLANK, SPM_NORMAL, -2},
    {"a", SPM_NORMAL, -3},        {"b", SPM_NORMAL, -3},    {"1", SPM_NORMAL, -3},
    {BLANK "ab", SPM_NORMAL, -1},
};

#define VOCAB "{\"</s>\": 0, \"<unk>\": 1, \"" BLANK "\": 2, \"a\": 3, \"b\": 4, \"1\": 5}"

/* A symbol that the model's owner defined is exempt from normalising, although the charsmap has a
 * rule for it. */
START_TEST(spans_hold_with_user_defined_symbols)
{
    static const struct rule rules[] = {{"\xC2\xBD", "1"}, {"\xE2\x85\xA3", "ab"}, {"\t", " "}};
    struct mt_text spm = {0}, map = map_of(rules, 3);
    put_pieces(&spm, basic, sizeof basic / sizeof *basic);
    put_piece(&spm, "\xE2\x85\xA3", 3, SPM_USER_DEFINED, 0); /* U+2163 */
    put_piece(&spm, "<x>", 3, SPM_USER_DEFINED, 0);
    put_trainer(&spm, 1, false);
    put_normalizer(&spm, &map);
    mt_text_finish(&map);
    struct mt_tokenizer *tokenizer = open_model(&spm, VOCAB);
    ck_assert_str_eq(spans_of(tokenizer,
                              "a\xE2\x85\xA3"
                              "b\xC2\xBD <x>\t\ta\xE2\x85\xA3",
                              0),
                     BLANK "=|a=a|\xE2\x85\xA3=\xE2\x85\xA3|b=b|1=\xC2\xBD|" BLANK
                           "=|<x>=<x>|" BLANK "=|a=a|\xE2\x85\xA3=\xE2\x85\xA3");
    mt_tokenizer_close(tokenizer);
}
END_TEST

/* All the bytes of a character that has no piece point at the whole character. */
START_TEST(spans_hold_with_byte_fallback)
{
    for (uint64_t model_type = 1; model_type <= 2; model_type++) {
        struct mt_text spm = {0};
        put_pieces(&spm, basic, sizeof basic / sizeof *basic);
        put_byte_pieces(&spm);
        put_trainer(&spm, model_type, true);
        put_normalizer(&spm, NULL);
        struct mt_tokenizer *tokenizer = open_model(&spm, VOCAB);
        ck_assert_str_eq(spans_of(tokenizer,
                                  "a\xC2\xBD"
                                  "b",
                                  0),
                         BLANK "=|a=a|<0xC2>=\xC2\xBD|<0xBD>=\xC2\xBD|b=b");
        mt_tokenizer_close(tokenizer);
    }
}
END_TEST

/* basic's VOCAB and the bytes. */
static struct mt_tokenizer *open_byte_model(void)
{
    struct mt_text spm = {0}, vocab = {0};
    put_pieces(&spm, basic, sizeof basic / sizeof *basic);
    put_byte_pieces(&spm);
    put_trainer(&spm, 1, true);
    put_normalizer(&spm, NULL);
    mt_text_append(&vocab, VOCAB, strlen(VOCAB) - 1);
    for (unsigned byte = 0; byte < 256; byte++) {
        char entry[32];
        mt_text_append(&vocab, entry, (size_t)sprintf(entry, ", \"<0x%02X>\": %u", byte, 6 + byte));
    }
    mt_text_append_string(&vocab, ", \"" BLANK "ab\": 262}");
    struct mt_tokenizer *tokenizer = open_model(&spm, vocab.bytes);
    mt_text_finish(&vocab);
    return tokenizer;
}

/* The reference writes U+FFFD for bytes that make no character. Nobody wants that in a translation,
 * so it is never written, not even where the model spells it as one. */
static struct mt_text without_replacements(const struct mt_text *text)
{
    struct mt_text out = {0};
    mt_text_append(&out, "", 0);
    for (size_t at = 0, n; at < text->length; at += n) {
        n = mt_utf8_length((unsigned char)text->bytes[at]);
        if (mt_utf8_decode(text->bytes + at) != 0xFFFD)
            mt_text_append(&out, text->bytes + at, n);
    }
    return out;
}

static void check_round_trip(const struct mt_tokenizer *tokenizer, const struct mt_text *text)
{
    struct mt_text expected = without_replacements(text);
    int32_t ids[512];
    struct mt_span spans[512];
    struct mt_token_list list = tokenize(tokenizer, text->bytes, text->length);
    ck_assert_uint_le(list.n, sizeof ids / sizeof *ids);
    for (size_t i = 0; i < list.n; i++) {
        ck_assert_msg(!list.tokens[i].unknown, "\"%s\" is unknown", list.tokens[i].piece);
        ids[i] = list.tokens[i].id;
    }
    struct mt_text out = {0};
    ck_assert_int_eq(mt_detokenize(tokenizer, ids, list.n, spans, &out, NULL), MT_OK);
    ck_assert_uint_eq(out.length, expected.length);
    ck_assert_mem_eq(out.bytes, expected.bytes, expected.length);
    for (size_t i = 0; i < list.n; i++) {
        ck_assert(is_boundary(out.bytes, out.length, spans[i].begin));
        ck_assert(is_boundary(out.bytes, out.length, spans[i].end));
    }
    mt_text_finish(&expected);
    mt_text_finish(&out);
    mt_token_list_finish(&list);
}

/* Whatever has no piece is spelled in bytes, and comes back: nothing is unknown. Blanks alone are
 * normalised, without a charsmap too. */
START_TEST(bytes_spell_every_text)
{
    static const char *const texts[] = {
        "a\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xEF\xB8\x8F b", /* a family: ZWJ, VS16 */
        "a \xE4\xB8\xAD\xE6\x96\x87 b",                                /* Chinese */
        "a\x01\x1B\x7F\xC2\x85 b",
        "<0x41> a",
        "a\xEF\xBF\xBD\xEF\xBF\xBD b", /* U+FFFD itself */
    };
    struct mt_tokenizer *tokenizer = open_byte_model();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct mt_text text = {0};
        mt_text_append_string(&text, texts[i]);
        check_round_trip(tokenizer, &text);
        mt_text_finish(&text);
    }
    uint32_t state = 20261123;
    for (size_t round = 0; round < 3000; round++) {
        struct mt_text text = {0};
        mt_text_append(&text, "a", 1); /* the ends are stripped of more than blanks */
        for (size_t n = next_random(&state) % 24; n > 0; n--) {
            uint32_t code = random_code_point(&state);
            if (code != ' ' && code != 0x2581)
                put_code_point(&text, code);
        }
        mt_text_append(&text, "b", 1);
        check_round_trip(tokenizer, &text);
        mt_text_finish(&text);
    }
    mt_tokenizer_close(tokenizer);
}
END_TEST

/* A reader of a stream sees no half of a character. */
START_TEST(half_a_character_waits_for_its_other_bytes)
{
    struct mt_tokenizer *tokenizer = open_byte_model();
    const char *text = "a\xF0\x9F\x98\x80";
    struct mt_token_list list = tokenize(tokenizer, text, strlen(text));
    ck_assert_uint_eq(list.n, 7); /* blank, a, four bytes, eos */
    int32_t ids[7];
    for (size_t i = 0; i < list.n; i++)
        ids[i] = list.tokens[i].id;
    for (size_t n = 2; n <= list.n; n++) {
        struct mt_text out = {0};
        ck_assert_int_eq(mt_detokenize_begin(tokenizer, ids, n, &out, NULL), MT_OK);
        ck_assert_str_eq(out.bytes, n < 6 ? "a" : text);
        mt_text_finish(&out);
    }
    mt_token_list_finish(&list);
    mt_tokenizer_close(tokenizer);
}
END_TEST

static int32_t byte_id(unsigned byte)
{
    return (int32_t)(6 + byte);
}

/* "ab", then bytes, then "b": those that make no character leave nothing behind, and the ranges of
 * the tokens fit what is written. */
START_TEST(bytes_that_make_no_character_are_dropped)
{
    static const struct {
        unsigned char bytes[6];
        size_t n;
        const char *expected;
    } cases[] = {
        {{0x80}, 1, "abb"},                   /* no first byte */
        {{0xC3, 0xC3, 0xA9}, 3, "ab\u00E9b"}, /* no second byte */
        {{0xF0, 0x9F, 0x98, 0x80, 0x9F}, 5, "ab\U0001F600b"},
        {{0xED, 0xA0, 0x80}, 3, "abb"}, /* a surrogate */
        {{0xEF, 0xBF, 0xBD}, 3, "abb"}, /* U+FFFD itself */
        {{0xFF, 0x20, 0xFF}, 3, "ab b"},
    };
    struct mt_tokenizer *tokenizer = open_byte_model();
    struct mt_token_list ab = tokenize(tokenizer, "ab", 2), b = tokenize(tokenizer, "b", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t ids[16];
        struct mt_span spans[16];
        struct mt_text out = {0};
        size_t n = 0;
        for (size_t k = 0; k < ab.n - 1; k++)
            ids[n++] = ab.tokens[k].id;
        for (size_t k = 0; k < cases[i].n; k++)
            ids[n++] = byte_id(cases[i].bytes[k]);
        ids[n++] = b.tokens[b.n - 2].id; /* the last is eos */
        ck_assert_int_eq(mt_detokenize(tokenizer, ids, n, spans, &out, NULL), MT_OK);
        ck_assert_str_eq(out.bytes, cases[i].expected);
        for (size_t k = 0; k < n; k++)
            ck_assert(spans[k].begin <= spans[k].end && spans[k].end <= out.length);
        ck_assert_uint_eq(spans[n - 1].end, out.length);
        ck_assert_uint_eq(spans[n - 1].begin + 1, out.length);
        mt_text_finish(&out);
    }
    mt_token_list_finish(&ab);
    mt_token_list_finish(&b);
    mt_tokenizer_close(tokenizer);
}
END_TEST

START_TEST(spans_hold_without_a_charsmap)
{
    for (uint64_t model_type = 1; model_type <= 4; model_type++) {
        struct mt_text spm = {0};
        put_pieces(&spm, basic, sizeof basic / sizeof *basic);
        put_trainer(&spm, model_type, false);
        put_normalizer(&spm, NULL);
        struct mt_tokenizer *tokenizer = open_model(&spm, VOCAB);
        for (size_t i = 0; i < sizeof awkward / sizeof *awkward; i++)
            check_spans(tokenizer, awkward[i], strlen(awkward[i]));
        mt_tokenizer_close(tokenizer);
    }
}
END_TEST

/* --- Target spans --- */

static const struct {
    const char *text; /* tokenized as a target, then detokenized */
    const char *spans;
} target_cases[] = {
    {"Tom ist da .", "Tom|ist|da||.|"},
    {"  Tom  ", "Tom|"},
    {"", ""},
};

START_TEST(target_spans_point_at_their_part)
{
    struct mt_tokenizer *tokenizer = open_or_fail(en_de());
    for (size_t i = 0; i < sizeof target_cases / sizeof *target_cases; i++) {
        struct mt_token_list list;
        ck_assert_int_eq(mt_tokenize(tokenizer, target_cases[i].text, strlen(target_cases[i].text),
                                     MT_TOKENIZE_TARGET, &list, NULL),
                         MT_OK);
        int32_t ids[64];
        struct mt_span spans[64];
        for (size_t k = 0; k < list.n; k++)
            ids[k] = list.tokens[k].id;
        struct mt_text out = {0};
        mt_text_append_string(&out, "before:");
        ck_assert_int_eq(mt_detokenize(tokenizer, ids, list.n, spans, &out, NULL), MT_OK);
        char joined[256] = "";
        for (size_t k = 0; k < list.n; k++)
            snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%.*s",
                     k ? "|" : "", (int)(spans[k].end - spans[k].begin),
                     out.bytes + 7 + spans[k].begin);
        ck_assert_str_eq(joined, target_cases[i].spans);
        mt_text_finish(&out);
        mt_token_list_finish(&list);
    }
    mt_tokenizer_close(tokenizer);
}
END_TEST

/* Random ids, with clean-up on and off: spans are ordered, inside, on characters, without blanks at
 * their ends, and cover everything but blanks. */
START_TEST(target_spans_hold_for_random_ids)
{
    struct dir dir = dir_like(en_de());
    const char *config = _i ? "{\"clean_up_tokenization_spaces\": true}" : "{}";
    dir_write_text(&dir, "tokenizer_config.json", config);
    struct mt_tokenizer *tokenizer = open_or_fail(dir.path);
    dir_remove(&dir);
    uint32_t state = 7, size = (uint32_t)mt_tokenizer_target_size(tokenizer);
    for (size_t round = 0; round < 3000; round++) {
        int32_t ids[40];
        struct mt_span spans[40];
        size_t n = next_random(&state) % 40, end = 0;
        for (size_t i = 0; i < n; i++) /* half of them frequent: punctuation, short words */
            ids[i] = (int32_t)(next_random(&state) % (next_random(&state) % 2 ? 60 : size));
        struct mt_text out = {0};
        ck_assert_int_eq(mt_detokenize(tokenizer, ids, n, spans, &out, NULL), MT_OK);
        ck_assert_uint_eq(mt_utf8_valid_prefix(out.bytes, out.length), out.length);
        for (size_t i = 0; i <= n; i++) {
            size_t begin = i < n ? spans[i].begin : out.length;
            ck_assert_uint_le(end, begin);
            for (size_t k = end; k < begin; k++)
                ck_assert_int_eq(out.bytes[k], ' ');
            if (i == n)
                break;
            ck_assert_uint_le(begin, spans[i].end);
            ck_assert_uint_le(spans[i].end, out.length);
            ck_assert(is_boundary(out.bytes, out.length, begin));
            ck_assert(is_boundary(out.bytes, out.length, spans[i].end));
            if (begin < spans[i].end) {
                ck_assert_int_ne(out.bytes[begin], ' ');
                ck_assert_int_ne(out.bytes[spans[i].end - 1], ' ');
            }
            end = spans[i].end;
        }
        mt_text_finish(&out);
    }
    mt_tokenizer_close(tokenizer);
}
END_TEST

Suite *suite_token_spans(void)
{
    Suite *suite = suite_create("token_spans");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 110);
    tcase_add_test(tcase, tokens_point_at_their_part_of_the_text);
    tcase_add_test(tcase, tokens_share_only_what_was_replaced_together);
    tcase_add_test(tcase, spans_are_ordered_and_on_characters);
    tcase_add_test(tcase, spans_hold_for_random_text);
    tcase_add_test(tcase, spans_hold_with_user_defined_symbols);
    tcase_add_test(tcase, spans_hold_with_byte_fallback);
    tcase_add_test(tcase, bytes_spell_every_text);
    tcase_add_test(tcase, half_a_character_waits_for_its_other_bytes);
    tcase_add_test(tcase, bytes_that_make_no_character_are_dropped);
    tcase_add_test(tcase, spans_hold_without_a_charsmap);
    tcase_add_test(tcase, target_spans_point_at_their_part);
    tcase_add_loop_test(tcase, target_spans_hold_for_random_ids, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}
