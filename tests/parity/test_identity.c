/*
 * int8's promise: a sentence's tokens, scores and log-probabilities are the same bytes alone and in
 * a full batch, in whatever order and at whatever step the others arrive, with one thread and with
 * two, and with every table of kernels that this CPU can run. All lines of the development set
 * (data/dev.txt: Tatoeba, CC BY 2.0 FR), with options that differ from line to line.
 *
 * The best table gets every line, the others, which take longer, one in five, and plain C, which takes
 * a hundred times as long, one in 31; with MT_TEST_FULL=1 all get every line.
 */
#include "base/file.h"
#include "base/team.h"
#include "model/batch.h"
#include "model/kernels/kernels.h"
#include "model/model.h"
#include "model/sentence.h"
#include "model/tokenizer/tokenizer.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES 2000
#define MAX_TOKENS 128
#define MAX_BEAMS 5
#define BATCH_ROWS 128
/* Lines whose numbers have a common divisor have the same options: prime, so that all turn up. */
#define STRIDE 5
#define STRIDE_IN_C 31

/* What a sentence came to, as far as it must not change. */
struct result {
    size_t n_hypotheses;
    struct {
        size_t n_ids;
        int32_t ids[MAX_TOKENS];
        float score, logprobs[MAX_TOKENS];
    } hypotheses[MAX_BEAMS];
};

static char *text;
static const char *lines[MAX_LINES];
static size_t n_lines;
static struct result *alone; /* [n_lines], by the best kernels, one sentence at a time */

static void must(enum mt_status status, const struct mt_error *err)
{
    ck_assert_msg(!status, "%s", err->message);
}

static const char *source_path(const char *relative, char *out, size_t capacity)
{
    const char *root = getenv("MT_SOURCE_DIR");
    snprintf(out, capacity, "%s/%s", root ? root : ".", relative);
    return out;
}

static struct mt_model *open_model(const char *kernels)
{
    char path[1024];
    struct mt_error err = {0};
    struct mt_model *model;
    const struct mt_model_options options = {.precision = MT_INT8, .kernels = kernels};
    must(
        mt_model_open(source_path("tests/models/en-de", path, sizeof path), &options, &model, &err),
        &err);
    return model;
}

static struct mt_batch *make_batch(const struct mt_model *model, size_t max_rows,
                                   struct mt_team *team)
{
    struct mt_error err = {0};
    struct mt_batch *batch;
    const struct mt_batch_options options = {.max_rows = max_rows, .team = team};
    must(mt_batch_create(model, &options, &batch, &err), &err);
    return batch;
}

/* Greedy, greedy without scores, and beams of 2 to 5 take turns. */
static struct mt_sentence *make_sentence(const struct mt_model *model, size_t line)
{
    struct mt_error err = {0};
    struct mt_token_list tokens;
    must(mt_tokenize(mt_model_tokenizer(model), lines[line], strlen(lines[line]),
                     MT_TOKENIZE_SOURCE, &tokens, &err),
         &err);
    ck_assert_uint_le(tokens.n, MAX_TOKENS);
    int32_t ids[MAX_TOKENS];
    for (size_t i = 0; i < tokens.n; i++)
        ids[i] = tokens.tokens[i].id;
    size_t n_beams = line % 6 ? line % 6 : 1;
    const struct mt_sentence_options options = {.beam_size = n_beams,
                                                .num_hypotheses = n_beams,
                                                .skip_scores = line % 6 == 0,
                                                .return_logprobs = line % 6 != 0,
                                                .max_decoding_length = MAX_TOKENS};
    struct mt_sentence *s;
    must(mt_sentence_create(model, ids, tokens.n, &options, &s, &err), &err);
    mt_token_list_finish(&tokens);
    return s;
}

static void take_result(const struct mt_sentence *s, struct result *out)
{
    memset(out, 0, sizeof *out);
    out->n_hypotheses = mt_sentence_n_hypotheses(s);
    ck_assert_uint_le(out->n_hypotheses, MAX_BEAMS);
    for (size_t i = 0; i < out->n_hypotheses; i++) {
        struct mt_hypothesis h = mt_sentence_hypothesis(s, i);
        out->hypotheses[i].n_ids = h.n_ids;
        out->hypotheses[i].score = h.score;
        memcpy(out->hypotheses[i].ids, h.ids, h.n_ids * sizeof *h.ids);
        if (h.token_logprobs)
            memcpy(out->hypotheses[i].logprobs, h.token_logprobs, h.n_ids * sizeof(float));
    }
}

static void expect_same(const struct mt_sentence *s, size_t line, const char *how)
{
    struct result found;
    take_result(s, &found);
    ck_assert_msg(memcmp(&found, &alone[line], sizeof found) == 0,
                  "%s: \"%s\" does not give what it gives alone", how, lines[line]);
}

static void read_lines(void)
{
    char path[1024];
    struct mt_error err = {0};
    size_t length;
    must(mt_file_read(source_path("tests/parity/data/dev.txt", path, sizeof path), 1 << 20, &text,
                      &length, &err),
         &err);
    for (char *at = text, *end; (end = memchr(at, '\n', length - (size_t)(at - text)));
         at = end + 1) {
        *end = '\0';
        ck_assert_uint_lt(n_lines, MAX_LINES);
        lines[n_lines++] = at;
    }
}

static void translate_alone(void)
{
    read_lines();
    struct mt_model *model = open_model(NULL);
    struct mt_batch *batch = make_batch(model, MAX_BEAMS, NULL);
    alone = calloc(n_lines, sizeof *alone);
    ck_assert_ptr_nonnull(alone);
    for (size_t line = 0; line < n_lines; line++) {
        struct mt_sentence *s = make_sentence(model, line);
        ck_assert(mt_batch_admit(batch, s));
        while (!mt_batch_take_finished(batch))
            mt_batch_step(batch);
        take_result(s, &alone[line]);
        mt_sentence_destroy(s);
    }
    mt_batch_destroy(batch);
    mt_model_close(model);
}

static void forget(void)
{
    free(alone);
    free(text);
}

/* Until a batch was full once. */
#define MAX_ROUNDS 32

static uint64_t dice = 1;
static size_t dice_below(size_t n)
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(dice >> 33) % n;
}

/* Every stride-th line in a new order; between two steps none to eleven arrive, as far as there is
 * room, which depends on how long steps take, and one in four is of a short job and has steps of its own.
 * Returns how many steps had a full batch. */
static size_t translate_together(const struct mt_model *model, struct mt_team *team, size_t stride,
                                 const char *how)
{
    size_t order[MAX_LINES], n = 0, n_arrived = 0, n_done = 0, n_full = 0;
    for (size_t line = 0; line < n_lines; line += stride) {
        size_t at = dice_below(n + 1);
        order[n++] = order[at];
        order[at] = line;
    }
    struct mt_sentence **sentences = calloc(n_lines, sizeof(struct mt_sentence *));
    ck_assert_ptr_nonnull(sentences);
    struct mt_batch *batch = make_batch(model, BATCH_ROWS, team);
    while (n_done < n) {
        for (size_t i = dice_below(12); i > 0 && n_arrived < n; i--) {
            size_t line = order[n_arrived];
            if (!sentences[line])
                sentences[line] = make_sentence(model, line);
            if (line % 4 == 0)
                mt_sentence_set_short(sentences[line]);
            if (!mt_batch_admit(batch, sentences[line]))
                break;
            mt_sentence_set_user(sentences[line], (void *)&lines[line]);
            n_arrived++;
        }
        mt_team_set_width(team, 1 + dice_below(mt_team_size(team)));
        for (size_t i = dice_below(3); i > 0; i--)
            mt_batch_step_short(batch);
        mt_batch_step(batch);
        n_full += mt_batch_n_rows(batch) >= BATCH_ROWS - MAX_BEAMS;
        for (struct mt_sentence *s; (s = mt_batch_take_finished(batch)); n_done++) {
            size_t line = (size_t)((const char **)mt_sentence_user(s) - lines);
            expect_same(s, line, how);
            mt_sentence_destroy(s);
        }
    }
    printf("%s: %zu lines as alone; the batch was full in %zu steps\n", how, n, n_full);
    mt_batch_destroy(batch);
    free(sentences);
    return n_full;
}

/* Of how many lines a table gets one; the best table is the first. */
static size_t stride_of(const struct mt_kernels *table, int i)
{
    if (i == 0 || getenv("MT_TEST_FULL"))
        return 1;
    return strcmp(table->name, "c") == 0 ? STRIDE_IN_C : STRIDE;
}

/* _i: the table of kernels */
START_TEST(a_full_batch_gives_what_each_gives_alone)
{
    size_t n_tables;
    const struct mt_kernels *table = mt_kernels_available(&n_tables)[_i];
    size_t stride = stride_of(table, _i);
    struct mt_model *model = open_model(table->name);
    ck_assert_str_eq(mt_model_kernels_name(model), table->name);
    for (size_t n_threads = 1; n_threads <= 3; n_threads += 2) {
        struct mt_error err = {0};
        struct mt_team *team;
        char how[64];
        snprintf(how, sizeof how, "%s, %zu thread%s", table->name, n_threads,
                 n_threads > 1 ? "s" : "");
        must(mt_team_create(n_threads, &team, &err), &err);
        size_t n_full = 0;
        for (int i = 0; i < (stride == STRIDE_IN_C ? 1 : MAX_ROUNDS) && n_full == 0; i++)
            n_full = translate_together(model, team, stride, how);
        ck_assert_msg(n_full > 0 || stride == STRIDE_IN_C,
                      "%s: the batch of %d rows was never full", how, BATCH_ROWS);
        mt_team_destroy(team);
    }
    mt_model_close(model);
}
END_TEST

int main(void)
{
    size_t n_tables;
    (void)mt_kernels_available(&n_tables);
    Suite *suite = suite_create("identity");
    TCase *tcase = tcase_create("int8");
    tcase_add_unchecked_fixture(tcase, translate_alone, forget);
    tcase_set_timeout(tcase, 1200);
    tcase_add_loop_test(tcase, a_full_batch_gives_what_each_gives_alone, 0, (int)n_tables);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
