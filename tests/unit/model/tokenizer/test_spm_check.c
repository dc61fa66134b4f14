#include "model/tokenizer/spm.h"
#include "model/tokenizer/spm_check.h"
#include "tests/unit/model/tokenizer/spm_file.h"
#include "tests/unit/model/tokenizer/tokenizer_dir.h"

#define BLANK "\xE2\x96\x81"

static const struct spm_entry small[] = {
    {"<unk>", SPM_UNK, 0},        {"</s>", SPM_CONTROL, 0},     {BLANK, SPM_NORMAL, -2},
    {BLANK "ab", SPM_NORMAL, -1}, {"a", SPM_NORMAL, -3},        {"b", SPM_NORMAL, -3},
    {"1", SPM_NORMAL, -3},        {"<x>", SPM_USER_DEFINED, 0},
};
#define N_SMALL (sizeof small / sizeof *small)

static const struct rule small_rules[] = {{"\xC2\xBD", "1/2"}, {"\t", " "}, {"\x01", ""}};

static struct mt_text small_model(void)
{
    struct mt_text out = {0};
    struct mt_text map = map_of(small_rules, sizeof small_rules / sizeof *small_rules);
    put_pieces(&out, small, N_SMALL);
    put_trainer(&out, 1, false);
    put_normalizer(&out, &map);
    mt_text_finish(&map);
    return out;
}

static enum mt_status ignore(void *context, const struct mt_spm_piece *piece)
{
    size_t *n = context;
    *n += piece->length;
    return MT_OK;
}

static const char *const texts[] = {"ab",
                                    "\xC2\xBD",
                                    "a\tb \x01 <x>",
                                    "\xF0\x9F\x98\x80",
                                    "   ",
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

/* What the check accepts, libsentencepiece must survive: it may refuse, it must not crash. */
static void check_and_use(const char *bytes, size_t length)
{
    struct mt_spm_info info;
    struct mt_error err;
    struct mt_spm *spm;
    if (mt_spm_check(bytes, length, "test.spm", &info, &err) ||
        mt_spm_open(bytes, length, "test.spm", &spm, &err)) {
        ck_assert(strstr(err.message, "test.spm"));
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (mt_spm_encode(spm, texts[i], strlen(texts[i]), ignore, &n, &err))
            ck_assert_int_ne(err.status, MT_OK);
    mt_spm_close(spm);
}

START_TEST(accepts_the_default_model)
{
    char path[2048], *bytes;
    size_t length;
    snprintf(path, sizeof path, "%s/source.spm", en_de());
    ck_assert_int_eq(mt_file_read(path, MT_SPM_MAX_FILE_BYTES, &bytes, &length, NULL), MT_OK);
    struct mt_spm_info info;
    struct mt_error err = {0};
    if (mt_spm_check(bytes, length, path, &info, &err))
        ck_abort_msg("%s", err.message);
    ck_assert_uint_eq(info.n_pieces, 8000);
    ck_assert_uint_eq(info.model_type, 1);
    ck_assert_uint_eq(info.charsmap.n_units, 44288);
    free(bytes);
}
END_TEST

START_TEST(accepts_a_small_model_that_the_library_opens)
{
    struct mt_text model = small_model();
    struct mt_spm_info info;
    struct mt_error err = {0};
    struct mt_spm *spm;
    if (mt_spm_check(model.bytes, model.length, "test.spm", &info, &err) ||
        mt_spm_open(model.bytes, model.length, "test.spm", &spm, &err))
        ck_abort_msg("%s", err.message);
    ck_assert_uint_eq(info.n_pieces, N_SMALL);
    mt_spm_close(spm);
    mt_text_finish(&model);
}
END_TEST

START_TEST(charsmap_replaces_the_longest_key)
{
    static const struct rule rules[] = {{"a", "x"}, {"abc", ""}, {"\xC2\xBD", "1/2"}};
    static const struct {
        const char *text;
        size_t taken;
        const char *becomes;
    } cases[] = {{"abd", 1, "x"},         {"abcd", 3, ""},
                 {"\xC2\xBDz", 2, "1/2"}, {"\xC2\xBC", 2, "\xC2\xBC"},
                 {"b", 1, "b"},           {"\xE2\x82\xAC!", 3, "\xE2\x82\xAC"}};
    struct mt_text bytes = map_of(rules, 3);
    struct mt_charsmap map;
    struct mt_error err = {0};
    if (mt_charsmap_init(&map, bytes.bytes, bytes.length, "test.spm", &err))
        ck_abort_msg("%s", err.message);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *out;
        size_t length;
        ck_assert_uint_eq(
            mt_charsmap_next(&map, cases[i].text, strlen(cases[i].text), &out, &length),
            cases[i].taken);
        ck_assert_uint_eq(length, strlen(cases[i].becomes));
        ck_assert_int_eq(memcmp(out, cases[i].becomes, length), 0);
    }
    mt_text_finish(&bytes);
}
END_TEST

/* --- Broken charsmaps --- */

static uint32_t *units_of(struct mt_text *map)
{
    return (uint32_t *)(void *)(map->bytes + 4);
}

static void break_size(struct mt_text *map)
{
    map->bytes[0] = 2;
}

static void break_size_huge(struct mt_text *map)
{
    memset(map->bytes, 0xFC, 4);
}

static void break_size_zero(struct mt_text *map)
{
    memset(map->bytes, 0, 4);
}

static void break_cut(struct mt_text *map)
{
    map->length = 3;
}

static void break_root(struct mt_text *map)
{
    units_of(map)[0] = htole32(0xFFFFu << 10);
}

/* "\t" becomes a unit whose children lie outside. */
static void break_child(struct mt_text *map)
{
    units_of(map)[256 ^ '\t'] |= htole32(0x200);
}

/* The value of "\t" points behind the replacements. */
static void break_value(struct mt_text *map)
{
    uint32_t unit = le32toh(units_of(map)[256 ^ '\t']);
    units_of(map)[256 ^ '\t' ^ unit >> 10] = htole32(0x80000000u | 1000);
}

static void break_terminator(struct mt_text *map)
{
    map->bytes[map->length - 1] = 'x';
}

static void break_utf8(struct mt_text *map)
{
    map->bytes[map->length - 2] = (char)0xC3;
}

/* "\t" leads back to the root's children. */
static void break_circle(struct mt_text *map)
{
    units_of(map)[256 ^ '\t'] = htole32((uint32_t)'\t' << 10 | '\t');
}

static void break_long(struct mt_text *map)
{
    char x[300];
    memset(x, 'x', sizeof x);
    mt_text_append(map, x, sizeof x);
    mt_text_append(map, "", 1);
}

/* Values of 33 keys that are prefixes of one another. */
static void break_nested(struct mt_text *map)
{
    static struct map_builder builder;
    char key[40] = "";
    map_init(&builder);
    for (size_t i = 0; i < 33; i++) {
        key[i] = 'a';
        map_add(&builder, key, "x");
    }
    map->length = 0;
    map_write(&builder, map);
}

static void keep_nested(struct mt_text *map)
{
    static struct map_builder builder;
    char key[40] = "";
    map_init(&builder);
    for (size_t i = 0; i < 32; i++) {
        key[i] = 'a';
        map_add(&builder, key, "x");
    }
    map->length = 0;
    map_write(&builder, map);
}

/* n keys ba, baa, ... and one that shares their nodes: c, ca, caa, ... */
static void share_nested(struct mt_text *map, size_t n)
{
    static struct map_builder builder;
    char key[40] = "b";
    map_init(&builder);
    for (size_t i = 1; i <= n; i++) {
        key[i] = 'a';
        map_add(&builder, key, "x");
    }
    uint32_t b = 256 ^ 'b', c = 256 ^ 'c', shared = map_base(&builder, b);
    builder.units[c] = (c ^ shared) << 10 | 0x100 | 'c';
    builder.units[shared] = 0x80000000u;
    map->length = 0;
    map_write(&builder, map);
}

static void break_shared(struct mt_text *map)
{
    share_nested(map, 32);
}

static void keep_shared(struct mt_text *map)
{
    share_nested(map, 31);
}

static void keep(struct mt_text *map)
{
    (void)map;
}

static const struct {
    void (*change)(struct mt_text *map);
    const char *message; /* NULL: accepted */
} charsmap_cases[] = {
    {keep, NULL},
    {keep_nested, NULL},
    {keep_shared, NULL},
    {break_size, "expected a multiple of 4"},
    {break_size_huge, "expected a multiple of 4 that fits"},
    {break_size_zero, "trie of 0"},
    {break_cut, "trie of 0"},
    {break_root, "charsmap unit 0 leads to unit"},
    {break_child, "charsmap unit 265 leads to unit"},
    {break_value, "replacement at 1000, expected less than"},
    {break_terminator, "to end in NUL"},
    {break_utf8, "not UTF-8"},
    {break_circle, "leads back to itself"},
    {break_long, "300 bytes, expected at most 256"},
    {break_nested, "more than 32 keys are prefixes of one another"},
    {break_shared, "more than 32 keys are prefixes of one another"},
};

START_TEST(refuses_charsmaps_that_lead_outside)
{
    for (size_t i = 0; i < sizeof charsmap_cases / sizeof *charsmap_cases; i++) {
        struct mt_text map = map_of(small_rules, 2);
        charsmap_cases[i].change(&map);
        /* A copy of exact size, so that a read behind it is seen. */
        char *bytes = malloc(map.length);
        memcpy(bytes, map.bytes, map.length);
        struct mt_charsmap view;
        struct mt_error err = {0};
        enum mt_status status = mt_charsmap_init(&view, bytes, map.length, "test.spm", &err);
        if (!charsmap_cases[i].message) {
            ck_assert_msg(!status, "case %zu: %s", i, err.message);
        } else {
            ck_assert_msg(status == MT_FORMAT, "case %zu: status %d", i, (int)status);
            ck_assert_msg(strstr(err.message, charsmap_cases[i].message),
                          "case %zu: \"%s\" lacks \"%s\"", i, err.message,
                          charsmap_cases[i].message);
        }
        free(bytes);
        mt_text_finish(&map);
    }
}
END_TEST

/* --- Broken messages --- */

static void one_piece(struct mt_text *out, const char *text, size_t length)
{
    put_piece(out, text, length, SPM_NORMAL, 0);
}

static void make_empty(struct mt_text *out)
{
    put_trainer(out, 1, false);
}

static void make_cut_short(struct mt_text *out)
{
    one_piece(out, "a", 1);
    put_trainer(out, 1, false);
}

static void make_long_piece(struct mt_text *out)
{
    char text[1025];
    memset(text, 'a', sizeof text);
    one_piece(out, text, sizeof text);
}

static void make_nul_piece(struct mt_text *out)
{
    one_piece(out, "a\0b", 3);
}

static void make_malformed_piece(struct mt_text *out)
{
    one_piece(out, "\xC3", 1);
}

static void make_nameless_piece(struct mt_text *out)
{
    one_piece(out, "", 0);
}

static void make_odd_type(struct mt_text *out)
{
    put_piece(out, "a", 1, (enum spm_type)7, 0);
}

static void make_nan_score(struct mt_text *out)
{
    put_piece(out, "a", 1, SPM_NORMAL, strtof("nan", NULL));
}

static void make_model_type(struct mt_text *out)
{
    one_piece(out, "a", 1);
    put_trainer(out, 5, false);
}

static void make_two_normalizers(struct mt_text *out)
{
    one_piece(out, "a", 1);
    put_normalizer(out, NULL);
    put_normalizer(out, NULL);
}

static void make_two_charsmaps(struct mt_text *out)
{
    struct mt_text normalizer = {0};
    put_bytes(&normalizer, 2, "", 0);
    put_bytes(&normalizer, 2, "", 0);
    put_message(out, 3, &normalizer);
}

static void make_denormalizer(struct mt_text *out)
{
    struct mt_text denormalizer = {0};
    put_bytes(&denormalizer, 2, "abcd", 4);
    put_message(out, 5, &denormalizer);
}

static void make_self_test(struct mt_text *out)
{
    static char data[65537];
    put_bytes(out, 4, data, sizeof data);
}

static void make_nested_user_defined(struct mt_text *out)
{
    char text[65];
    memset(text, 'a', sizeof text);
    for (size_t n = 1; n <= sizeof text; n++)
        put_piece(out, text, n, SPM_USER_DEFINED, 0);
}

static void make_long_varint(struct mt_text *out)
{
    mt_text_append(out, "\x88\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 12);
}

static void make_field_zero(struct mt_text *out)
{
    put_number(out, 0, 1);
}

static void make_group(struct mt_text *out)
{
    put_varint(out, 9 << 3 | 3);
}

static void make_overrun(struct mt_text *out)
{
    put_varint(out, 1 << 3 | 2);
    put_varint(out, 100);
}

static void make_cut_number(struct mt_text *out)
{
    put_varint(out, 99 << 3 | 5);
    mt_text_append(out, "abc", 3);
}

static void make_wrong_wire(struct mt_text *out)
{
    put_number(out, 3, 1);
}

static const struct {
    void (*make)(struct mt_text *out);
    enum mt_status status;
    const char *message;
} model_cases[] = {
    {make_empty, MT_FORMAT, "no pieces"},
    {make_long_piece, MT_LIMIT, "1025 bytes, expected at most 1024"},
    {make_nul_piece, MT_FORMAT, "not UTF-8 without NUL"},
    {make_malformed_piece, MT_FORMAT, "not UTF-8 without NUL"},
    {make_nameless_piece, MT_FORMAT, "piece 0 has no text"},
    {make_odd_type, MT_FORMAT, "type 7, expected 1 to 6"},
    {make_nan_score, MT_FORMAT, "expected a finite number"},
    {make_cut_short, MT_FORMAT, "no normalizer_spec behind 1 pieces"},
    {make_model_type, MT_UNSUPPORTED, "model_type 5"},
    {make_two_normalizers, MT_FORMAT, "normalizer_spec occurs twice"},
    {make_two_charsmaps, MT_FORMAT, "precompiled_charsmap occurs twice"},
    {make_denormalizer, MT_UNSUPPORTED, "denormalizer_spec has a charsmap of 4 bytes"},
    {make_self_test, MT_LIMIT, "self_test_data has 65537 bytes"},
    {make_nested_user_defined, MT_FORMAT, "more than 64 user-defined pieces"},
    {make_long_varint, MT_FORMAT, "at most 10 bytes"},
    {make_field_zero, MT_FORMAT, "field number"},
    {make_group, MT_FORMAT, "wire type"},
    {make_overrun, MT_FORMAT, "longer than what follows"},
    {make_cut_number, MT_FORMAT, "ends inside a number"},
    {make_wrong_wire, MT_FORMAT, "normalizer_spec has wire type 0, expected 2"},
};

START_TEST(refuses_what_could_hurt)
{
    for (size_t i = 0; i < sizeof model_cases / sizeof *model_cases; i++) {
        struct mt_text model = {0};
        model_cases[i].make(&model);
        struct mt_spm_info info;
        struct mt_error err = {0};
        enum mt_status status = mt_spm_check(model.bytes, model.length, "test.spm", &info, &err);
        ck_assert_msg(status == model_cases[i].status, "case %zu: status %d, \"%s\"", i,
                      (int)status, err.message);
        ck_assert_msg(strstr(err.message, model_cases[i].message), "case %zu: \"%s\" lacks \"%s\"",
                      i, err.message, model_cases[i].message);
        mt_text_finish(&model);
    }
}
END_TEST

START_TEST(accepts_many_user_defined_pieces_that_are_not_nested)
{
    struct mt_text model = {0};
    for (int i = 0; i < 300; i++) {
        char text[8];
        put_piece(&model, text, (size_t)snprintf(text, sizeof text, "%d", i), SPM_USER_DEFINED, 0);
    }
    put_normalizer(&model, NULL);
    struct mt_spm_info info;
    struct mt_error err = {0};
    if (mt_spm_check(model.bytes, model.length, "test.spm", &info, &err))
        ck_abort_msg("%s", err.message);
    ck_assert_uint_eq(info.n_pieces, 300);
    mt_text_finish(&model);
}
END_TEST

START_TEST(refuses_a_file_over_the_limit)
{
    struct mt_spm_info info;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_spm_check("", MT_SPM_MAX_FILE_BYTES + 1, "test.spm", &info, &err),
                     MT_LIMIT);
}
END_TEST

START_TEST(survives_every_truncation_and_bit_flip)
{
    struct mt_text model = small_model();
    char *copy = malloc(model.length);
    for (size_t n = 0; n < model.length; n += n < 400 ? 1 : 97) {
        char *cut = malloc(n + 1);
        memcpy(cut, model.bytes, n);
        check_and_use(cut, n);
        free(cut);
    }
    for (size_t bit = 0; bit < 8 * model.length; bit += bit < 8 * 400 ? 1 : 31) {
        memcpy(copy, model.bytes, model.length);
        copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
        check_and_use(copy, model.length);
    }
    free(copy);
    mt_text_finish(&model);
}
END_TEST

START_TEST(library_errors_are_passed_on)
{
    static const struct spm_entry no_unk[] = {{"a", SPM_NORMAL, 0}};
    static const struct spm_entry twice[] = {
        {"<unk>", SPM_UNK, 0}, {"a", SPM_NORMAL, 0}, {"a", SPM_NORMAL, 0}};
    static const struct {
        const struct spm_entry *pieces;
        size_t n;
    } cases[] = {{no_unk, 1}, {twice, 3}};
    for (size_t i = 0; i < 2; i++) {
        struct mt_text model = {0};
        put_pieces(&model, cases[i].pieces, cases[i].n);
        put_normalizer(&model, NULL);
        struct mt_spm_info info;
        struct mt_error err = {0};
        struct mt_spm *spm;
        ck_assert_int_eq(mt_spm_check(model.bytes, model.length, "test.spm", &info, &err), MT_OK);
        ck_assert_int_eq(mt_spm_open(model.bytes, model.length, "test.spm", &spm, &err), MT_FORMAT);
        ck_assert_ptr_nonnull(strstr(err.message, "test.spm: libsentencepiece refuses it: "));
        mt_text_finish(&model);
    }
}
END_TEST

Suite *suite_spm_check(void)
{
    Suite *suite = suite_create("spm_check");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 110);
    tcase_add_test(tcase, accepts_the_default_model);
    tcase_add_test(tcase, accepts_a_small_model_that_the_library_opens);
    tcase_add_test(tcase, charsmap_replaces_the_longest_key);
    tcase_add_test(tcase, refuses_charsmaps_that_lead_outside);
    tcase_add_test(tcase, refuses_what_could_hurt);
    tcase_add_test(tcase, accepts_many_user_defined_pieces_that_are_not_nested);
    tcase_add_test(tcase, refuses_a_file_over_the_limit);
    tcase_add_test(tcase, survives_every_truncation_and_bit_flip);
    tcase_add_test(tcase, library_errors_are_passed_on);
    suite_add_tcase(suite, tcase);
    return suite;
}
