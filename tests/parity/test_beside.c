/*
 * int8's promise with several models in one engine: a sentence's tokens, scores and
 * log-probabilities are the same bytes whether its model is alone there or others run beside it,
 * come and go. The bundled model, and a tiny one of quite other shapes (tests/fuzz/tiny_model.h);
 * beside them, for the noise, the bundled one in fp32.
 */
#include "base/file.h"
#include "model/model.h"
#include "model/sentence.h"
#include "model/tokenizer/tokenizer.h"
#include "server/engine/engine.h"
#include "tests/fuzz/tiny_model.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_LINES 120
#define N_TINY 400
#define N_NOISE 12
#define MAX_TOKENS 128
#define MAX_BEAMS 4

/* A sentence, and as what it came out of an engine that had its model alone. */
struct item {
    const struct mt_model *model;
    int32_t source[MAX_TOKENS];
    size_t n_source, n_beams;
    struct mt_sentence *sentence;
    struct mt_job job;
    struct {
        size_t n_ids;
        int32_t ids[MAX_TOKENS];
        float score, logprobs[MAX_TOKENS];
    } alone[MAX_BEAMS];
};

static struct mt_engine *engine;
static struct mt_model *bundled, *noisy;
static struct item lines[N_LINES], tiny[N_TINY], noise[N_NOISE];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static size_t n_running;

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

static struct mt_model *open_bundled(enum mt_precision precision)
{
    char path[1024];
    struct mt_error err = {0};
    struct mt_model *model;
    const struct mt_model_options options = {.precision = precision};
    must(
        mt_model_open(source_path("tests/models/en-de", path, sizeof path), &options, &model, &err),
        &err);
    return model;
}

static void fill_line(struct item *item, const struct mt_model *model, const char *text,
                      size_t length, size_t n_beams)
{
    struct mt_error err = {0};
    struct mt_token_list tokens;
    must(mt_tokenize(mt_model_tokenizer(model), text, length, MT_TOKENIZE_SOURCE, &tokens, &err),
         &err);
    ck_assert_uint_le(tokens.n, MAX_TOKENS);
    *item = (struct item){.model = model, .n_source = tokens.n, .n_beams = n_beams};
    for (size_t i = 0; i < tokens.n; i++)
        item->source[i] = tokens.tokens[i].id;
    mt_token_list_finish(&tokens);
}

static void read_lines(void)
{
    char path[1024], *text;
    struct mt_error err = {0};
    size_t length, n = 0;
    must(mt_file_read(source_path("tests/parity/data/dev.txt", path, sizeof path), 1 << 20, &text,
                      &length, &err),
         &err);
    for (char *at = text, *end;
         n < N_LINES && (end = memchr(at, '\n', (size_t)(text + length - at))); at = end + 1, n++) {
        fill_line(&lines[n], bundled, at, (size_t)(end - at), 1 + n % MAX_BEAMS);
        if (n < N_NOISE)
            fill_line(&noise[n], noisy, at, (size_t)(end - at), 1);
    }
    ck_assert_uint_eq(n, N_LINES);
    free(text);
}

static void make_tiny(void)
{
    uint64_t dice = 1;
    for (size_t i = 0; i < N_TINY; i++) {
        struct item *item = &tiny[i];
        *item = (struct item){.model = tiny_model(MT_INT8),
                              .n_source = 2 + i % (TINY_POSITIONS - 3),
                              .n_beams = 1 + i % MAX_BEAMS};
        for (size_t k = 0; k + 1 < item->n_source; k++) {
            dice = dice * 6364136223846793005u + 1442695040888963407u;
            item->source[k] = 1 + (int32_t)((dice >> 33) % (TINY_VOCAB - 2));
        }
        item->source[item->n_source - 1] = TINY_EOS;
    }
}

static void on_done(struct mt_job *job, enum mt_status status)
{
    const struct item *item = job->user;
    ck_assert(!status || (status == MT_CANCELLED && item->model == noisy));
    pthread_mutex_lock(&mutex);
    n_running--;
    pthread_cond_signal(&ended);
    pthread_mutex_unlock(&mutex);
}

static void submit(struct item *item, struct mt_lane *lane)
{
    struct mt_error err = {0};
    const struct mt_sentence_options options = {
        .beam_size = item->n_beams,
        .num_hypotheses = item->n_beams,
        .return_logprobs = true,
        .max_decoding_length = item->model == bundled ? MAX_TOKENS : TINY_POSITIONS - 1,
    };
    must(mt_sentence_create(item->model, item->source, item->n_source, &options, &item->sentence,
                            &err),
         &err);
    item->job = (struct mt_job){.sentences = &item->sentence,
                                .n_sentences = 1,
                                .lane = lane,
                                .on_done = on_done,
                                .user = item};
    pthread_mutex_lock(&mutex);
    n_running++;
    pthread_mutex_unlock(&mutex);
    must(mt_engine_submit(engine, &item->job, &err), &err);
}

static void wait_for_all(void)
{
    pthread_mutex_lock(&mutex);
    while (n_running)
        pthread_cond_wait(&ended, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void keep(struct item *item)
{
    for (size_t i = 0; i < item->n_beams; i++) {
        struct mt_hypothesis h = mt_sentence_hypothesis(item->sentence, i);
        item->alone[i].n_ids = h.n_ids;
        item->alone[i].score = h.score;
        memcpy(item->alone[i].ids, h.ids, h.n_ids * sizeof *h.ids);
        memcpy(item->alone[i].logprobs, h.token_logprobs, h.n_ids * sizeof(float));
    }
    mt_sentence_destroy(item->sentence);
}

static void expect_same(const struct item *item)
{
    for (size_t i = 0; i < item->n_beams; i++) {
        struct mt_hypothesis h = mt_sentence_hypothesis(item->sentence, i);
        ck_assert_uint_eq(h.n_ids, item->alone[i].n_ids);
        ck_assert_mem_eq(&h.score, &item->alone[i].score, sizeof(float));
        ck_assert_mem_eq(h.ids, item->alone[i].ids, h.n_ids * sizeof *h.ids);
        ck_assert_mem_eq(h.token_logprobs, item->alone[i].logprobs, h.n_ids * sizeof(float));
    }
    mt_sentence_destroy(item->sentence);
}

static struct mt_lane *attach(const struct mt_model *model)
{
    struct mt_error err = {0};
    struct mt_lane *lane;
    must(mt_engine_attach(engine, model, &lane, &err), &err);
    return lane;
}

static void start(size_t n_workers, size_t n_threads)
{
    struct mt_error err = {0};
    const struct mt_engine_options options = {
        .n_workers = n_workers, .threads_per_worker = n_threads, .max_batch_rows = 32};
    must(mt_engine_create(&options, &engine, &err), &err);
}

/* One model in the engine, one sentence at a time. */
static void translate_alone(struct item *items, size_t n)
{
    start(1, 1);
    struct mt_lane *lane = attach(items->model);
    for (size_t i = 0; i < n; i++) {
        submit(&items[i], lane);
        wait_for_all();
        keep(&items[i]);
    }
    mt_engine_detach(engine, lane);
    mt_engine_destroy(engine);
}

static void prepare(void)
{
    bundled = open_bundled(MT_INT8);
    noisy = open_bundled(MT_FP32);
    read_lines();
    make_tiny();
    translate_alone(lines, N_LINES);
    translate_alone(tiny, N_TINY);
}

static void finish(void)
{
    mt_model_close(bundled);
    mt_model_close(noisy);
}

/* All at once; the noise comes first, and its lane goes in the midst of the others' work, again and
 * again. */
static void translate_beside_each_other(size_t n_workers, size_t n_threads)
{
    start(n_workers, n_threads);
    struct mt_lane *of_tiny = attach(tiny->model), *of_lines = attach(bundled);
    size_t n_tiny = 0, n_noise = 0;
    for (size_t i = 0; i < N_LINES;) {
        struct mt_lane *of_noise = attach(noisy);
        size_t first_noise = n_noise;
        for (; n_noise < N_NOISE && n_noise < first_noise + N_NOISE / 3; n_noise++)
            submit(&noise[n_noise], of_noise);
        for (size_t end = i + N_LINES / 3; i < end; i++) {
            submit(&lines[i], of_lines);
            for (size_t k = 0; k < 4 && n_tiny < N_TINY; k++)
                submit(&tiny[n_tiny++], of_tiny);
        }
        mt_engine_detach(engine, of_noise);
        for (size_t k = first_noise; k < n_noise; k++)
            mt_sentence_destroy(noise[k].sentence);
    }
    wait_for_all();
    for (size_t i = 0; i < N_LINES; i++)
        expect_same(&lines[i]);
    for (size_t i = 0; i < n_tiny; i++)
        expect_same(&tiny[i]);
    ck_assert_uint_eq(n_tiny, N_TINY);
    mt_engine_destroy(engine);
}

START_TEST(with_one_thread)
{
    translate_beside_each_other(1, 1);
}
END_TEST

START_TEST(with_a_team)
{
    translate_beside_each_other(1, 2);
}
END_TEST

START_TEST(with_two_workers)
{
    translate_beside_each_other(2, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("beside");
    TCase *tcase = tcase_create("the same bytes as alone");
    tcase_set_timeout(tcase, 0);
    tcase_add_unchecked_fixture(tcase, prepare, finish);
    tcase_add_test(tcase, with_one_thread);
    tcase_add_test(tcase, with_a_team);
    tcase_add_test(tcase, with_two_workers);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
