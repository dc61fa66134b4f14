/*
 * Tracing is a nullable output, not a second way through the code: on the lines of the development
 * set traced ids and scores are the untraced ones, in int8 and fp32, greedy and with a beam; and on
 * all of them attention rows sum to 1 and never look ahead. All 1,063 lines where MT_SHARED_DIR is
 * set, else 200 committed ones. Neither does it matter that others in the batch have heads switched
 * off.
 */
#include "model/batch.h"
#include "model/model.h"
#include "model/sentence.h"
#include "model/tokenizer/tokenizer.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Floats of a row of at most 256 weights: their sum is off by less. */
#define SUM_TOLERANCE 1e-5

/* Lines at once, each three times: plain, traced, and with heads that are off. */
#define CHUNK 16

#define MAX_LINES 2000

#define EVERYTHING ((1u << MT_TRACE_KINDS) - 1)

static const struct mt_head off[] = {{MT_TRACE_CROSS, 2, 7}, {MT_TRACE_ENCODER, 1, MT_ALL_HEADS}};
#define N_OFF (sizeof off / sizeof *off)

static struct mt_error err;
static char *lines[MAX_LINES];
static size_t n_lines;

static void make_path(char *out, size_t capacity, const char *relative)
{
    const char *root = getenv("MT_SOURCE_DIR");
    snprintf(out, capacity, "%s/%s", root ? root : ".", relative);
}

static void read_lines(void)
{
    char path[1024], line[4096];
    const char *shared = getenv("MT_SHARED_DIR");
    make_path(path, sizeof path, "tests/parity/data/dev.sources.txt");
    if (shared)
        snprintf(path, sizeof path, "%s/data/dev.en", shared);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file, "%s", path);
    while (n_lines < MAX_LINES && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        lines[n_lines++] = strdup(line);
    }
    fclose(file);
    ck_assert_uint_ge(n_lines, shared ? 1063 : 200);
}

static void free_lines(void)
{
    while (n_lines)
        free(lines[--n_lines]);
}

static struct mt_sentence *make_sentence(const struct mt_model *model, const char *line,
                                         size_t beam_size, unsigned trace, size_t n_off)
{
    struct mt_token_list tokens;
    struct mt_sentence *sentence;
    const struct mt_sentence_options options = {
        .beam_size = beam_size, .trace = trace, .switched_off = off, .n_switched_off = n_off};
    ck_assert_int_eq(mt_tokenize(mt_model_tokenizer(model), line, strlen(line), MT_TOKENIZE_SOURCE,
                                 &tokens, &err),
                     MT_OK);
    int32_t *ids = calloc(tokens.n, sizeof *ids);
    for (size_t i = 0; i < tokens.n; i++)
        ids[i] = tokens.tokens[i].id;
    ck_assert_int_eq(mt_sentence_create(model, ids, tokens.n, &options, &sentence, &err), MT_OK);
    free(ids);
    mt_token_list_finish(&tokens);
    return sentence;
}

static void run_all(struct mt_batch *batch, struct mt_sentence **sentences, size_t n)
{
    size_t admitted = 0, taken = 0;
    while (taken < n) {
        while (admitted < n && mt_batch_admit(batch, sentences[admitted]))
            admitted++;
        mt_batch_step(batch);
        while (mt_batch_take_finished(batch))
            taken++;
    }
}

/* Rows sum to 1; with is_causal what lies ahead is exactly 0. */
static void check_rows(const struct mt_trace *trace, enum mt_trace_kind kind, bool is_causal,
                       const char *line)
{
    struct mt_trace_shape shape = mt_trace_shape(trace, kind);
    ck_assert_uint_gt(shape.n_layers * shape.n_heads * shape.n_rows * shape.n_columns, 0);
    for (size_t l = 0; l < shape.n_layers; l++)
        for (size_t h = 0; h < shape.n_heads; h++)
            for (size_t r = 0; r < shape.n_rows; r++) {
                const float *row = mt_trace_row(trace, kind, l, h, r);
                double sum = 0;
                for (size_t c = 0; c < shape.n_columns; c++) {
                    sum += (double)row[c];
                    if (is_causal && c > r && row[c] != 0.0f)
                        ck_abort_msg("%s: row %zu looks ahead at %zu", line, r, c);
                }
                if (!(fabs(sum - 1) <= SUM_TOLERANCE))
                    ck_abort_msg("%s: kind %d, layer %zu, head %zu, row %zu: %.9g", line, (int)kind,
                                 l, h, r, sum);
            }
}

static void check_line(const struct mt_sentence *plain, const struct mt_sentence *traced,
                       const char *line)
{
    struct mt_hypothesis a = mt_sentence_hypothesis(plain, 0);
    struct mt_hypothesis b = mt_sentence_hypothesis(traced, 0);
    const struct mt_trace *trace = mt_sentence_trace(traced);
    ck_assert_ptr_null(mt_sentence_trace(plain));
    ck_assert_msg(a.n_ids == b.n_ids && memcmp(a.ids, b.ids, a.n_ids * sizeof *a.ids) == 0, "%s",
                  line);
    ck_assert_msg(memcmp(&a.score, &b.score, sizeof a.score) == 0, "%s: %.9g, %.9g", line,
                  (double)a.score, (double)b.score);
    ck_assert_uint_eq(mt_trace_shape(trace, MT_TRACE_CROSS).n_rows, a.n_ids);
    ck_assert_uint_eq(mt_trace_shape(trace, MT_TRACE_CROSS).n_columns, mt_sentence_n_source(plain));
    check_rows(trace, MT_TRACE_ENCODER, false, line);
    check_rows(trace, MT_TRACE_CROSS, false, line);
    check_rows(trace, MT_TRACE_DECODER, true, line);
}

static const size_t beam_sizes[] = {1, 4};

/* Both run in one batch, the traced ones among the others. */
START_TEST(traced_is_untraced_and_rows_are_attention)
{
    char path[1024];
    struct mt_model *model;
    struct mt_batch *batch;
    size_t beam_size = beam_sizes[_i], n_changed = 0;
    make_path(path, sizeof path, "tests/models/en-de");
    ck_assert_int_eq(
        mt_model_open(path, &(struct mt_model_options){.precision = MT_INT8}, &model, &err), MT_OK);
    ck_assert_int_eq(mt_batch_create(model,
                                     &(struct mt_batch_options){.max_rows = 3 * CHUNK * beam_size},
                                     &batch, &err),
                     MT_OK);
    for (size_t from = 0; from < n_lines; from += CHUNK) {
        struct mt_sentence *sentences[3 * CHUNK];
        size_t n = n_lines - from < CHUNK ? n_lines - from : CHUNK;
        for (size_t i = 0; i < n; i++) {
            sentences[3 * i] = make_sentence(model, lines[from + i], beam_size, 0, 0);
            sentences[3 * i + 1] = make_sentence(model, lines[from + i], beam_size, EVERYTHING, 0);
            sentences[3 * i + 2] = make_sentence(model, lines[from + i], beam_size, 0, N_OFF);
        }
        run_all(batch, sentences, 3 * n);
        for (size_t i = 0; i < n; i++) {
            check_line(sentences[3 * i], sentences[3 * i + 1], lines[from + i]);
            n_changed += mt_sentence_hypothesis(sentences[3 * i], 0).score !=
                         mt_sentence_hypothesis(sentences[3 * i + 2], 0).score;
        }
        for (size_t i = 0; i < 3 * n; i++)
            mt_sentence_destroy(sentences[i]);
    }
    ck_assert_uint_gt(n_changed, n_lines * 9 / 10);
    mt_batch_destroy(batch);
    mt_model_close(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("traced");
    TCase *tcase = tcase_create("traced");
    tcase_set_timeout(tcase, 0); /* meson's counts */
    tcase_add_unchecked_fixture(tcase, read_lines, free_lines);
    tcase_add_loop_test(tcase, traced_is_untraced_and_rows_are_attention, 0,
                        sizeof beam_sizes / sizeof beam_sizes[0]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
