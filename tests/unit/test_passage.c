/* A text that is taken apart, or put together, in the smallest turns is the same as one that is
 * done at a stretch. */
#include "base/file.h"
#include "config/settings.h"
#include "model/model.h"
#include "server/budget.h"
#include "server/decode.h"
#include "server/handler.h"
#include "server/passage.h"
#include "server/served_model.h"
#include "tests/unit/tokenizer_dir.h"

#define PAST_NS 0 /* each turn is over as soon as it has done something */
#define MAX_SENTENCES 512

static struct mt_model *model;
static struct mt_splitter *splitter;

static void open_all(void)
{
    struct mt_error err = {0};
    ck_assert_msg(
        !mt_model_open(en_de(), &(struct mt_model_options){.precision = MT_INT8}, &model, &err),
        "%s", err.message);
    ck_assert_int_eq(mt_splitter_create(&splitter, NULL), MT_OK);
}

static void close_all(void)
{
    mt_splitter_destroy(splitter);
    mt_model_close(model);
}

enum form { PLAIN, HTML, VTT };

struct sample {
    const char *name, *text;
    enum form form;
    enum mt_split split;
    size_t min_turns;
};

#define FOUR(text) text text text text
#define SIXTEEN(text) FOUR(FOUR(text))

static const struct sample samples[] = {
    {"empty", "", PLAIN, MT_SPLIT_ON, 1},
    {"blank", " \n ", PLAIN, MT_SPLIT_ON, 1},
    {"a sentence", "The house is old.", PLAIN, MT_SPLIT_ON, 2},
    {"sentences", SIXTEEN("The house is old. I like it. "), PLAIN, MT_SPLIT_ON, 30},
    {"lines", SIXTEEN("The house is old.\n\n  I like it.\n"), PLAIN, MT_SPLIT_NEWLINES, 30},
    {"a code", ">>fra<< The house is old. I like it.", PLAIN, MT_SPLIT_ON, 2},
    {"placeholders", SIXTEEN("Page %d of %d.\nThe house is old. I like it.\n"), PLAIN, MT_SPLIT_ON,
     40},
    {"placeholders in a line", SIXTEEN("Page %d of %d. "), PLAIN, MT_SPLIT_OFF, 1},
    {"emoji", SIXTEEN("😀 I like it 🎉. x😀 y! 😀😀 The house is old. 😀\n"), PLAIN, MT_SPLIT_ON, 30},
    {"a placeholder in a word", SIXTEEN("The x%dy is old.%d I like {it}it. "), PLAIN, MT_SPLIT_ON,
     1},
    {"paragraphs", SIXTEEN("<p>The <b>old</b> house.</p><p>I like it. Do you?</p>"), HTML,
     MT_SPLIT_ON, 32},
    {"a subtitle", "The <i>old</i> house &amp; me.", VTT, MT_SPLIT_OFF, 1},
};
#define N_SAMPLES (sizeof samples / sizeof samples[0])

/* All that a passage borrows. */
struct round {
    struct mt_settings settings;
    struct mt_budget budget;
    struct mt_service service;
    struct mt_model_defaults defaults;
    struct mt_loaded_model loaded;
    struct mt_translation_options plain, traced;
    struct mt_alignment_trace trace;
    struct mt_passage *passage;
};

static void begin_round(struct round *r, const struct sample *sample)
{
    *r = (struct round){.defaults = MT_NO_MODEL_DEFAULTS};
    ck_assert_int_eq(mt_settings_init(&r->settings, NULL), MT_OK);
    r->budget.limit = (uint64_t)r->settings.max_attention_values;
    r->service.settings = &r->settings;
    r->service.attention_budget = &r->budget;
    r->loaded = (struct mt_loaded_model){.model = model, .label = "", .defaults = &r->defaults};
    r->plain = (struct mt_translation_options){
        .decoding = {.beam_size = 2, .num_hypotheses = 2, .max_decoding_length = 12},
        .splitter = splitter,
        .split = sample->split,
        .source_lang = "en",
    };
    r->traced = r->plain;
    ck_assert_int_eq(mt_alignment_trace_begin(&r->trace, &r->service, &r->loaded, &r->traced, NULL),
                     MT_OK);
}

static void end_round(struct round *r)
{
    mt_passage_destroy(r->passage);
    mt_alignment_trace_finish(&r->trace);
    ck_assert_uint_eq(atomic_load(&r->budget.used), 0);
    mt_settings_finish(&r->settings);
}

static struct mt_passage_options options_of(struct round *r, const struct sample *sample)
{
    return (struct mt_passage_options){
        .plain = &r->plain,
        .traced = &r->traced,
        .trace = &r->trace,
        .is_html = sample->form == HTML,
        .cues = sample->form == VTT ? MT_CUES_VTT : MT_CUES_NONE,
        .protects = true,
        .max_html_tags = 1000,
    };
}

static void make_whole(struct round *r, const struct sample *sample)
{
    struct mt_error err = {0};
    struct mt_passage_options options = options_of(r, sample);
    bool is_made = false;
    begin_round(r, sample);
    ck_assert_msg(
        !mt_passage_begin(model, sample->text, strlen(sample->text), &options, &r->passage, &err) &&
            !mt_passage_make(r->passage, INT64_MAX, &is_made, &err),
        "%s: %s", sample->name, err.message);
    ck_assert(is_made);
}

static void make_in_turns(struct round *r, const struct sample *sample)
{
    struct mt_error err = {0};
    struct mt_passage_options options = options_of(r, sample);
    bool is_made = false;
    size_t n_turns = 0;
    begin_round(r, sample);
    ck_assert_msg(
        !mt_passage_begin(model, sample->text, strlen(sample->text), &options, &r->passage, &err),
        "%s: %s", sample->name, err.message);
    options = (struct mt_passage_options){.max_html_tags = 0}; /* they were copied */
    for (; !is_made; n_turns++) {
        ck_assert_msg(!mt_passage_make(r->passage, PAST_NS, &is_made, &err), "%s: %s", sample->name,
                      err.message);
        ck_assert_msg(n_turns < 1000, "%s: it does not end", sample->name);
    }
    ck_assert_msg(n_turns >= sample->min_turns, "%s: %zu turns", sample->name, n_turns);
}

static size_t list(const struct mt_passage *passage, struct mt_translation_part parts[])
{
    struct mt_translation *translation;
    size_t n = 0, position = 0;
    while ((translation = mt_passage_next(passage, &position)) != NULL)
        for (size_t i = 0; i < mt_translation_n_sentences(translation); i++) {
            ck_assert_uint_lt(n, MAX_SENTENCES);
            parts[n++] = mt_translation_part(translation, i);
        }
    return n;
}

static void decode(const struct mt_passage *passage)
{
    static struct mt_translation_part parts[MAX_SENTENCES];
    static struct mt_sentence *sentences[MAX_SENTENCES];
    struct mt_error err = {0};
    size_t n = list(passage, parts);
    for (size_t i = 0; i < n; i++)
        sentences[i] = parts[i].sentence;
    if (n > 0)
        ck_assert_msg(!mt_decode(model, 1, 32, sentences, n, NULL, &err), "%s", err.message);
}

static struct mt_text render_whole(const struct round *r, size_t rank)
{
    struct mt_text out = {0};
    struct mt_error err = {0};
    ck_assert_msg(!mt_passage_render(r->passage, rank, NULL, &out, &err), "%s", err.message);
    return out;
}

static struct mt_text render_in_turns(const struct round *r, size_t rank)
{
    struct mt_passage_turn turn = {.until_ns = PAST_NS};
    struct mt_text out = {0};
    struct mt_error err = {0};
    while (!turn.has_all)
        ck_assert_msg(!mt_passage_render(r->passage, rank, &turn, &out, &err), "%s", err.message);
    return out;
}

static void expect_same_text(const struct sample *sample, struct mt_text a, struct mt_text b)
{
    ck_assert_msg(a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0,
                  "%s: \"%.*s\" and \"%.*s\"", sample->name, (int)a.length, a.bytes, (int)b.length,
                  b.bytes);
    mt_text_finish(&a);
    mt_text_finish(&b);
}

static void expect_same_parts(const struct sample *sample, const struct round *a,
                              const struct round *b)
{
    static struct mt_translation_part of_a[MAX_SENTENCES], of_b[MAX_SENTENCES];
    size_t n = list(a->passage, of_a);
    ck_assert_msg(n == list(b->passage, of_b), "%s: not %zu sentences", sample->name, n);
    for (size_t i = 0; i < n; i++) {
        const struct mt_token_list *x = of_a[i].source_tokens, *y = of_b[i].source_tokens;
        ck_assert_uint_eq(of_a[i].begin, of_b[i].begin);
        ck_assert_uint_eq(of_a[i].end, of_b[i].end);
        ck_assert_uint_eq(x->n, y->n);
        for (size_t k = 0; k < x->n; k++)
            ck_assert_int_eq(x->tokens[k].id, y->tokens[k].id);
    }
    ck_assert_int_eq(mt_passage_is_blank(a->passage), mt_passage_is_blank(b->passage));
}

START_TEST(turns_make_no_difference)
{
    const struct sample *sample = &samples[_i];
    static struct round whole, turns;
    make_whole(&whole, sample);
    make_in_turns(&turns, sample);
    expect_same_parts(sample, &whole, &turns);
    decode(whole.passage);
    decode(turns.passage);
    if (!mt_passage_is_blank(whole.passage))
        for (size_t rank = 0; rank < 2; rank++)
            expect_same_text(sample, render_whole(&whole, rank), render_in_turns(&turns, rank));
    end_round(&whole);
    end_round(&turns);
}
END_TEST

/* Of a sample of plain text, rendered in the smallest turns. */
static struct mt_sentence_pairs pairs_of(const struct round *r, size_t rank, struct mt_text *out)
{
    struct mt_passage_turn turn = {.until_ns = PAST_NS};
    struct mt_sentence_pairs pairs = {0};
    struct mt_error err = {0};
    while (!turn.has_all)
        ck_assert_msg(!mt_passage_render_pairs(r->passage, rank, &turn, &pairs, out, &err), "%s",
                      err.message);
    return pairs;
}

static void expect_range(const char *name, const char *text, size_t length, struct mt_range range,
                         size_t *end)
{
    ck_assert_msg(*end <= range.begin && range.begin <= range.end && range.end <= length,
                  "%s: [%zu, %zu) behind %zu, of %zu", name, range.begin, range.end, *end, length);
    struct mt_range inner = mt_range_trim(text, range.begin, range.end);
    ck_assert_msg(inner.begin == range.begin && inner.end == range.end,
                  "%s: blanks around \"%.*s\"", name, (int)(range.end - range.begin),
                  text + range.begin);
    *end = range.end;
}

START_TEST(sentences_are_found_again_in_text_and_translation)
{
    static struct mt_translation_part parts[MAX_SENTENCES];
    static struct round r;
    const struct sample *sample = &samples[_i];
    if (sample->form != PLAIN)
        return;
    make_whole(&r, sample);
    decode(r.passage);
    for (size_t rank = 0; rank < 2 && !mt_passage_is_blank(r.passage); rank++) {
        struct mt_text out = {0};
        struct mt_sentence_pairs pairs = pairs_of(&r, rank, &out);
        size_t source_end = 0, target_end = 0;
        ck_assert_uint_eq(pairs.n, list(r.passage, parts));
        for (size_t i = 0; i < pairs.n; i++) {
            expect_range(sample->name, sample->text, strlen(sample->text), pairs.items[i].source,
                         &source_end);
            expect_range(sample->name, out.bytes, out.length, pairs.items[i].target, &target_end);
        }
        mt_sentence_pairs_finish(&pairs);
        expect_same_text(sample, render_whole(&r, rank), out);
    }
    end_round(&r);
}
END_TEST

/* A client that leaves, or a server that ends, between any two turns: the sanitizer sees leaks. */
START_TEST(half_made_ones_can_be_destroyed)
{
    const struct sample *sample = &samples[_i];
    bool is_made = false;
    for (size_t n_turns = 0; !is_made; n_turns++) {
        static struct round r;
        struct mt_passage_options options = options_of(&r, sample);
        begin_round(&r, sample);
        ck_assert_int_eq(
            mt_passage_begin(model, sample->text, strlen(sample->text), &options, &r.passage, NULL),
            MT_OK);
        is_made = false;
        for (size_t i = 0; i < n_turns && !is_made; i++)
            ck_assert_int_eq(mt_passage_make(r.passage, PAST_NS, &is_made, NULL), MT_OK);
        end_round(&r);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("passage");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 300);
    tcase_add_unchecked_fixture(all, open_all, close_all);
    tcase_add_loop_test(all, turns_make_no_difference, 0, N_SAMPLES);
    tcase_add_loop_test(all, sentences_are_found_again_in_text_and_translation, 0, N_SAMPLES);
    tcase_add_loop_test(all, half_made_ones_can_be_destroyed, 0, N_SAMPLES);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed > 0;
}
