/* Texts that are taken apart and put together: by several threads at the same time, piece by piece,
 * and refused half way. */
#include "base/file.h"
#include "config/settings.h"
#include "model/model.h"
#include "server/passages/budget.h"
#include "server/engine/decode.h"
#include "server/requests/handler.h"
#include "server/passages/passage.h"
#include "server/models/served_model.h"
#include "tests/unit/model/tokenizer/tokenizer_dir.h"

#include <pthread.h>

#define MAX_SENTENCES 512
#define N_WORKERS 3

static struct mt_model *model;
static struct mt_splitter *splitter;
static const struct mt_recall *recall;      /* NULL: nothing is known */
static const struct mt_proofreader *keeper; /* NULL: all is translated, whatever its language */

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

struct sample {
    const char *name, *text;
    mt_coded_reader *read;
    enum mt_split split;
};

#define FOUR(text) text text text text
#define SIXTEEN(text) FOUR(FOUR(text))

static const struct sample samples[] = {
    {"empty", "", mt_read_plain, MT_SPLIT_ON},
    {"blank", " \n ", mt_read_plain, MT_SPLIT_ON},
    {"a sentence", "The house is old.", mt_read_plain, MT_SPLIT_ON},
    {"sentences", SIXTEEN("The house is old. I like it. "), mt_read_plain, MT_SPLIT_ON},
    {"lines", SIXTEEN("The house is old.\n\n  I like it.\n"), mt_read_plain, MT_SPLIT_NEWLINES},
    {"a code", ">>fra<< The house is old. I like it.", mt_read_plain, MT_SPLIT_ON},
    {"placeholders", SIXTEEN("Page %d of %d.\nThe house is old. I like it.\n"), mt_read_plain,
     MT_SPLIT_ON},
    {"placeholders in a line", SIXTEEN("Page %d of %d. "), mt_read_plain, MT_SPLIT_OFF},
    {"emoji", SIXTEEN("😀 I like it 🎉. x😀 y! 😀😀 The house is old. 😀\n"), mt_read_plain, MT_SPLIT_ON},
    {"a placeholder in a word", SIXTEEN("The x%dy is old.%d I like {it}it. "), mt_read_plain,
     MT_SPLIT_ON},
    {"paragraphs", SIXTEEN("<p>The <b>old</b> house.</p><p>I like it. Do you?</p>"), mt_read_html,
     MT_SPLIT_ON},
    {"a subtitle", "The <i>old</i> house &amp; me.", mt_read_vtt, MT_SPLIT_OFF},
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
        .decoding = {.beam_size = 2,
                     .num_hypotheses = 2,
                     .max_decoding_length = 12,
                     .publish = MT_PUBLISH_END},
        .splitter = splitter,
        .split = sample->split,
        .source_lang = "en",
    };
    r->traced = r->plain;
    mt_alignment_trace_begin(&r->trace, &r->service, &r->loaded, &r->traced);
}

static void end_round(struct round *r)
{
    mt_passage_destroy(r->passage);
    mt_alignment_trace_finish(&r->trace);
    ck_assert_uint_eq(atomic_load(&r->budget.used), 0);
    mt_settings_finish(&r->settings);
}

static enum mt_status take_apart(struct round *r, const struct sample *sample, struct mt_error *err)
{
    const struct mt_passage_options options = {.plain = &r->plain,
                                               .traced = &r->traced,
                                               .trace = &r->trace,
                                               .finds_codes = true,
                                               .recall = recall,
                                               .reader = keeper,
                                               .keeps_target = keeper != NULL};
    const struct mt_coded_options reading = {.max_tags = 1000};
    struct mt_coded coded = {0};
    ck_assert_int_eq(sample->read(sample->text, strlen(sample->text), &reading, &coded, err),
                     MT_OK);
    enum mt_status status = mt_passage_create(model, &coded, &options, &r->passage, err);
    ck_assert_ptr_null(coded.segments); /* moved, on failure too */
    return status;
}

static void make(struct round *r, const struct sample *sample)
{
    struct mt_error err = {0};
    begin_round(r, sample);
    ck_assert_msg(!take_apart(r, sample, &err), "%s: %s", sample->name, err.message);
}

static size_t list(const struct mt_passage *passage, struct mt_translation_part parts[])
{
    struct mt_translation *translation;
    size_t n = 0, position = 0;
    while ((translation = mt_passage_next(passage, &position)))
        for (size_t i = 0; i < mt_translation_n_sentences(translation); i++) {
            ck_assert_uint_lt(n, MAX_SENTENCES);
            parts[n++] = mt_translation_part(translation, i);
        }
    return n;
}

static void decode(const struct mt_passage *passage)
{
    static _Thread_local struct mt_translation_part parts[MAX_SENTENCES];
    static _Thread_local struct mt_sentence *sentences[MAX_SENTENCES];
    struct mt_error err = {0};
    size_t n = list(passage, parts);
    for (size_t i = 0; i < n; i++)
        sentences[i] = parts[i].sentence;
    if (n > 0)
        ck_assert_msg(!mt_decode(model, 1, 32, sentences, n, NULL, NULL, &err), "%s", err.message);
}

static struct mt_text render(const struct round *r, size_t rank)
{
    struct mt_text out = {0};
    struct mt_error err = {0};
    ck_assert_msg(!mt_passage_render(r->passage, rank, &out, &err), "%s", err.message);
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

/* What one of several threads makes of a sample, all at the same time. */
struct worker {
    const struct sample *sample;
    struct round round;
    pthread_t thread;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    make(&worker->round, worker->sample);
    decode(worker->round.passage);
    return NULL;
}

/* They share the model, its tokenizer and the splitter. */
START_TEST(threads_make_no_difference)
{
    const struct sample *sample = &samples[_i];
    static struct worker workers[N_WORKERS];
    static struct round alone;
    for (size_t i = 0; i < N_WORKERS; i++) {
        workers[i].sample = sample;
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < N_WORKERS; i++)
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
    make(&alone, sample);
    decode(alone.passage);
    for (size_t i = 0; i < N_WORKERS; i++) {
        const struct round *round = &workers[i].round;
        expect_same_parts(sample, &alone, round);
        for (size_t rank = 0; rank < 2 && !mt_passage_is_blank(alone.passage); rank++)
            expect_same_text(sample, render(&alone, rank), render(round, rank));
        end_round(&workers[i].round);
    }
    end_round(&alone);
}
END_TEST

static struct mt_text give_pieces(const struct round *r)
{
    struct mt_passage_cursor cursor = {0};
    struct mt_text out = {0};
    struct mt_error err = {0};
    bool moved = true;
    while (moved)
        ck_assert_msg(!mt_passage_advance(r->passage, &cursor, &out, &moved, &err), "%s",
                      err.message);
    ck_assert(cursor.has_all);
    return out;
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
    if (sample->read != mt_read_plain)
        return;
    make(&r, sample);
    decode(r.passage);
    for (size_t rank = 0; rank < 2 && !mt_passage_is_blank(r.passage); rank++) {
        struct mt_text out = {0};
        struct mt_sentence_pairs pairs = {0};
        struct mt_error err = {0};
        size_t source_end = 0, target_end = 0;
        ck_assert_msg(!mt_passage_render_pairs(r.passage, rank, &pairs, &out, &err), "%s",
                      err.message);
        ck_assert_uint_eq(pairs.n, list(r.passage, parts));
        for (size_t i = 0; i < pairs.n; i++) {
            expect_range(sample->name, sample->text, strlen(sample->text), pairs.items[i].source,
                         &source_end);
            expect_range(sample->name, out.bytes, out.length, pairs.items[i].target, &target_end);
        }
        mt_sentence_pairs_finish(&pairs);
        expect_same_text(sample, render(&r, rank), out);
    }
    end_round(&r);
}
END_TEST

START_TEST(pieces_put_together_are_the_translation)
{
    const struct sample *sample = &samples[_i];
    static struct round round;
    make(&round, sample);
    decode(round.passage);
    if (!mt_passage_is_blank(round.passage))
        expect_same_text(sample, render(&round, 0), give_pieces(&round));
    end_round(&round);
}
END_TEST

static enum mt_status admit_some(void *context, const struct mt_translation_part *part,
                                 struct mt_error *err)
{
    size_t *n_left = context;
    (void)part;
    return (*n_left)-- > 0 ? MT_OK : mt_fail(err, MT_LIMIT, "too many");
}

/* A request that is refused at any sentence: the sanitizer sees leaks. */
START_TEST(nothing_is_left_of_one_that_is_refused)
{
    const struct sample *sample = &samples[_i];
    enum mt_status status = MT_LIMIT;
    for (size_t n_admitted = 0; status; n_admitted++) {
        static struct round r;
        size_t n_left = n_admitted;
        begin_round(&r, sample);
        r.plain.admit = r.traced.admit = admit_some;
        r.plain.admit_context = r.traced.admit_context = &n_left;
        status = take_apart(&r, sample, NULL);
        ck_assert(status == MT_OK || status == MT_LIMIT);
        end_round(&r);
    }
}
END_TEST

/* ---- what is known ---- */

#define OPEN(n) "\xEF\xB7\x90" n "\xEF\xB7\x93"
#define CLOSE(n) "\xEF\xB7\x91" n "\xEF\xB7\x93"

/* What a memory has, and a line for each text that it was asked for. */
struct known {
    const char *source, *target;
    char asked[400];
};

static enum mt_status find_known(void *context, const char *text, bool is_last, struct mt_text *out,
                                 struct mt_error *err)
{
    struct known *known = context;
    size_t length = strlen(known->asked);
    (void)err;
    snprintf(known->asked + length, sizeof known->asked - length, "%s%s\n", text,
             is_last ? "" : " ...");
    if (strcmp(text, known->source) == 0)
        mt_text_append_string(out, known->target);
    return MT_OK;
}

/* expected: with %s where the translations of its sentences by themselves stand. */
static const struct recalled {
    struct sample sample;
    const char *source, *target, *expected, *unknown, *asked;
} recalled[] = {
    {{"a text", "I like it.", mt_read_plain, MT_SPLIT_ON},
     "I like it.",
     "GERN.",
     "GERN.",
     NULL,
     "I like it.\n"},
    {{"all sentences", " I like it. The house is old.\n", mt_read_plain, MT_SPLIT_ON},
     "I like it. The house is old.",
     "GERN.",
     " GERN.\n",
     NULL,
     "I like it. The house is old. ...\n"},
    {{"one of two", "The house is old.  I like it.", mt_read_plain, MT_SPLIT_ON},
     "I like it.",
     "GERN.",
     "%s  GERN.",
     "The house is old.",
     "The house is old.  I like it. ...\nThe house is old.\nI like it.\n"},
    {{"the first of two", "I like it.\nThe house is old.", mt_read_plain, MT_SPLIT_ON},
     "I like it.",
     "GERN.",
     "GERN.\n%s",
     "The house is old.",
     "I like it.\nThe house is old. ...\nI like it.\nThe house is old.\n"},
    {{"not split", "The house is old. I like it.", mt_read_plain, MT_SPLIT_OFF},
     "I like it.",
     "GERN.",
     NULL,
     NULL,
     "The house is old. I like it.\n"},
    {{"codes", "<p>I <b>like</b> it, {x} &amp; you.</p>", mt_read_html, MT_SPLIT_ON},
     "I " OPEN("0") "like" CLOSE("0") " it, {x} & you.",
     "{x} & ich < du " OPEN("0") "gern" CLOSE("0") ".",
     "<p>{x} &amp; ich &lt; du <b>gern</b>.</p>",
     NULL,
     "I " OPEN("0") "like" CLOSE("0") " it, {x} & you.\n"},
    {{"other codes", "<p>I <b>like</b> it.</p>", mt_read_html, MT_SPLIT_ON},
     "I " OPEN("0") "like" CLOSE("0") " it.",
     "Ich mag es.",
     NULL,
     NULL,
     "I " OPEN("0") "like" CLOSE("0") " it.\n"},
    {{"within an element", "<p><b>I like it. The house is old.</b></p>", mt_read_html, MT_SPLIT_ON},
     "I like it.",
     "GERN.",
     "<p><b>GERN. %s</b></p>",
     "The house is old.",
     "I like it. The house is old. ...\nI like it.\nThe house is old.\n"},
    {{"an element ends behind it", "<p>The house is old. <b>I like it.</b></p>", mt_read_html,
      MT_SPLIT_ON},
     OPEN("0") "I like it." CLOSE("0"),
     OPEN("0") "GERN" CLOSE("0") "!",
     "<p>%s <b>GERN</b>!</p>",
     "The house is old.",
     "The house is old. " OPEN("0") "I like it." CLOSE("0") " ...\nThe house is old.\n" OPEN(
         "0") "I like it." CLOSE("0") "\n"},
    {{"a code counts for all", ">>fra<< The house is old. I like it.", mt_read_plain, MT_SPLIT_ON},
     "I like it.",
     "GERN.",
     NULL,
     NULL,
     ">>fra<< The house is old. I like it.\n"},
    {{"signs", "!!! 123", mt_read_plain, MT_SPLIT_ON}, "!!! 123", "NO", "!!! 123", NULL, ""},
};
#define N_RECALLED (sizeof recalled / sizeof recalled[0])

static struct mt_text translate_alone(const char *text, enum mt_split split)
{
    static struct round r;
    const struct sample sample = {"alone", text, mt_read_plain, split};
    make(&r, &sample);
    decode(r.passage);
    struct mt_text out = render(&r, 0);
    end_round(&r);
    return out;
}

START_TEST(what_is_known_is_not_translated)
{
    const struct recalled *test = &recalled[_i];
    static struct round r;
    struct known known = {.source = test->source, .target = test->target, .asked = ""};
    const struct mt_recall own = {.context = &known, .find = find_known};
    struct mt_text alone = {0}, expected = {0};
    if (test->unknown)
        alone = translate_alone(test->unknown, MT_SPLIT_ON);
    recall = &own;
    make(&r, &test->sample);
    recall = NULL;
    decode(r.passage);
    ck_assert_str_eq(known.asked, test->asked);
    ck_assert_uint_eq(mt_passage_n_recalled(r.passage), test->expected && test->asked[0] ? 1 : 0);
    ck_assert_int_eq(mt_passage_is_recalled(r.passage),
                     test->expected && test->asked[0] && !test->unknown);
    for (const char *at = test->expected; at && *at; at++) {
        bool is_place = strncmp(at, "%s", 2) == 0;
        mt_text_append(&expected, is_place ? alone.bytes : at, is_place ? alone.length : 1);
        at += is_place;
    }
    if (test->expected)
        expect_same_text(&test->sample, render(&r, 0), expected);
    mt_text_finish(&alone);
    end_round(&r);
}
END_TEST

START_TEST(what_is_known_has_its_pieces_and_sentences)
{
    static struct round r;
    const struct sample sample = {"pieces", "The house is old. I like it. Go.", mt_read_plain,
                                  MT_SPLIT_ON};
    struct known known = {.source = "I like it.", .target = "GERN.", .asked = ""};
    const struct mt_recall own = {.context = &known, .find = find_known};
    struct mt_sentence_pairs pairs = {0};
    struct mt_text out = {0};
    recall = &own;
    make(&r, &sample);
    recall = NULL;
    decode(r.passage);
    expect_same_text(&sample, render(&r, 0), give_pieces(&r));
    ck_assert_int_eq(mt_passage_render_pairs(r.passage, 0, &pairs, &out, NULL), MT_OK);
    ck_assert_uint_eq(pairs.n, 3);
    ck_assert_uint_eq(pairs.items[1].source.begin, 18);
    ck_assert_uint_eq(pairs.items[1].source.end, 28);
    ck_assert_int_eq(strncmp(out.bytes + pairs.items[1].target.begin, "GERN.", 5), 0);
    mt_sentence_pairs_finish(&pairs);
    mt_text_finish(&out);
    end_round(&r);
}
END_TEST

/* Codes stay in order, and no number is written in another way. expected: as above. */
static const struct {
    struct sample sample;
    const char *expected;
} in_target[] = {
    {{"a sentence", " Das Haus kostet 1.500,50 Euro, und niemand will es kaufen.\n", mt_read_plain,
      MT_SPLIT_ON},
     " Das Haus kostet 1.500,50 Euro, und niemand will es kaufen.\n"},
    {{"one of two", "Das Haus ist alt, und niemand wohnt darin. The house is old.", mt_read_plain,
      MT_SPLIT_ON},
     "Das Haus ist alt, und niemand wohnt darin. %s"},
    {{"codes", "<p>The house is old. Das <b>Haus</b> ist gr&uuml;n, {x} wohnt darin.</p>",
      mt_read_html, MT_SPLIT_ON},
     "<p>%s Das <b>Haus</b> ist gr&uuml;n, {x} wohnt darin.</p>"},
    {{"not split", "The house is old, and I like it. „Das Haus ist alt.“", mt_read_plain,
      MT_SPLIT_OFF},
     NULL},
};

START_TEST(what_is_in_the_targets_language_stays)
{
    const struct mt_proofreader german = {.source_lang = "en", .target_lang = "de"};
    const struct sample *sample = &in_target[_i].sample;
    static struct round r;
    struct mt_text alone = translate_alone("The house is old.", MT_SPLIT_ON), expected = {0};
    keeper = &german;
    make(&r, sample);
    keeper = NULL;
    decode(r.passage);
    ck_assert_uint_eq(mt_passage_n_recalled(r.passage), 0);
    const char *place = in_target[_i].expected ? strstr(in_target[_i].expected, "%s") : NULL;
    ck_assert_uint_eq(mt_passage_n_sentences(r.passage), place || !in_target[_i].expected);
    if (place) {
        mt_text_append(&expected, in_target[_i].expected, (size_t)(place - in_target[_i].expected));
        mt_text_append(&expected, alone.bytes, alone.length);
        mt_text_append_string(&expected, place + 2);
    } else if (in_target[_i].expected) {
        mt_text_append_string(&expected, in_target[_i].expected);
    }
    if (in_target[_i].expected)
        expect_same_text(sample, render(&r, 0), expected);
    mt_text_finish(&alone);
    end_round(&r);
}
END_TEST

Suite *suite_passage(void)
{
    Suite *suite = suite_create("passage");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 300);
    tcase_add_unchecked_fixture(all, open_all, close_all);
    tcase_add_loop_test(all, threads_make_no_difference, 0, N_SAMPLES);
    tcase_add_loop_test(all, sentences_are_found_again_in_text_and_translation, 0, N_SAMPLES);
    tcase_add_loop_test(all, pieces_put_together_are_the_translation, 0, N_SAMPLES);
    tcase_add_loop_test(all, nothing_is_left_of_one_that_is_refused, 0, N_SAMPLES);
    tcase_add_loop_test(all, what_is_known_is_not_translated, 0, N_RECALLED);
    tcase_add_test(all, what_is_known_has_its_pieces_and_sentences);
    tcase_add_loop_test(all, what_is_in_the_targets_language_stays, 0,
                        sizeof in_target / sizeof in_target[0]);
    suite_add_tcase(suite, all);
    return suite;
}
