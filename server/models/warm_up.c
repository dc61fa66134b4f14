#include "server/models/warm_up.h"

#include "base/clock.h"
#include "base/sanitized.h"
#include "model/model.h"
#include "server/engine/engine.h"
#include "server/models/served_model.h"
#include "server/text/detect.h"
#include "server/text/numbers/number_words.h"
#include "server/text/splitter.h"
#include "server/text/translation.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* Most tokens of the warm-up if no answer is expected. */
#define MAX_WARM_UP_TOKENS 8

/* How often a full queue is tried again. On a busy server a place is free only for a moment. */
#define FULL_QUEUE_WAIT_NS 1000000

struct warm_up {
    pthread_mutex_t mutex; /* guards the other members */
    pthread_cond_t ended;
    bool has_ended;
    enum mt_status status;
};

static void end_warm_up(struct mt_job *job, enum mt_status status)
{
    struct warm_up *warm_up = job->user;
    pthread_mutex_lock(&warm_up->mutex);
    warm_up->has_ended = true;
    warm_up->status = status;
    pthread_cond_signal(&warm_up->ended);
    pthread_mutex_unlock(&warm_up->mutex);
}

/* If requests for other models fill the queue, then this waits for the next free place. An engine
 * that ends returns a status that says so. */
static enum mt_status submit(struct mt_engine *engine, struct mt_job *job, struct mt_error *err)
{
    for (;;) {
        bool is_late = mt_now_ns() >= job->deadline_ns;
        if (is_late || mt_engine_has_room(engine)) {
            enum mt_status status = mt_engine_submit(engine, job, err);
            if (status != MT_BUSY || is_late)
                return status;
        }
        nanosleep(&(struct timespec){.tv_nsec = FULL_QUEUE_WAIT_NS}, NULL);
    }
}

/* Decodes the text, which is one sentence, and waits for the end. */
static enum mt_status decode(const struct mt_loaded_model *loaded, struct mt_sentence *sentence,
                             struct mt_error *err)
{
    struct warm_up warm_up = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                              .ended = PTHREAD_COND_INITIALIZER};
    struct mt_job job = {
        .sentences = &sentence,
        .n_sentences = 1,
        .lane = loaded->lane,
        .deadline_ns = mt_now_ns() + (int64_t)MT_WARM_UP_TIMEOUT_MS * 1000000,
        .on_done = end_warm_up,
        .user = &warm_up,
    };
    enum mt_status status = submit(loaded->engine, &job, err);
    if (status)
        return status;
    pthread_mutex_lock(&warm_up.mutex);
    while (!warm_up.has_ended)
        pthread_cond_wait(&warm_up.ended, &warm_up.mutex);
    pthread_mutex_unlock(&warm_up.mutex);
    if (warm_up.status)
        return mt_fail(err, warm_up.status, "the warm-up was not translated within %d s",
                       MT_WARM_UP_TIMEOUT_MS / 1000);
    return MT_OK;
}

/* Numbers that become infinite or NaN anywhere in the computation make the score so, too. */
static enum mt_status check_answer(const struct mt_translation *translation, const char *expected,
                                   const char *name, struct mt_error *err)
{
    struct mt_text answer = {0};
    float score = mt_translation_score(translation, 0);
    if (!isfinite(score))
        return mt_fail(err, MT_INVALID, "%s: the warm-up's score is %g, expected a number", name,
                       (double)score);
    enum mt_status status = mt_translation_render(translation, 0, &answer, err);
    if (!status)
        status = mt_text_check(&answer, "the warm-up", err);
    const char *found = answer.bytes ? answer.bytes : "";
    if (!status && expected[0] != '\0' && strcmp(found, expected) != 0)
        status = mt_fail(err, MT_INVALID,
                         "%s: the answer to the warm-up is \"%.100s\", expected \"%.100s\"", name,
                         found, expected);
    mt_text_finish(&answer);
    return status;
}

enum mt_status mt_warm_up(const struct mt_loaded_model *loaded,
                          const struct mt_warm_up_options *warm_up, const char *name,
                          struct mt_error *err)
{
    struct mt_translation_options options = {.split = MT_SPLIT_OFF,
                                             .decoding = {.beam_size = warm_up->beam_size}};
    struct mt_translation *translation;
    const struct mt_tokenizer *tokenizer = mt_model_tokenizer(loaded->model);
    size_t n_languages = mt_tokenizer_n_languages(tokenizer);
    if (n_languages > 0) { /* any of the languages is suitable */
        options.source_code = mt_tokenizer_language(tokenizer, 0);
        options.target_code = mt_tokenizer_language(tokenizer, n_languages - 1);
    }
    /* A model that never ends a sentence must not block the start. After these tokens all weights
     * have been read. */
    if (warm_up->answer[0] == '\0')
        options.decoding.max_decoding_length = MAX_WARM_UP_TOKENS;
    enum mt_status status = mt_translation_create(
        loaded->model, warm_up->text, strlen(warm_up->text), &options, &translation, err);
    if (status)
        return status;
    size_t n_sentences = mt_translation_n_sentences(translation);
    for (size_t i = 0; i < n_sentences && !status; i++)
        status = decode(loaded, mt_translation_part(translation, i).sentence, err);
    if (!status)
        status = check_answer(translation, warm_up->answer, name, err);
    mt_translation_destroy(translation);
    return status;
}

/* ---- texts ---- */

/* The sample has two sentences, so that the rules for sentences are used. It is the same for all
 * languages, because only the tables have to be loaded. */
static const char sample[] = "She has 2 cats. He has 1,000 dogs.";

static void warm_language(const struct mt_text_warm_up *warm_up,
                          const struct mt_model_language *language)
{
    const struct mt_number_language *words;
    struct mt_ranges sentences = {0};
    if (warm_up->number_words)
        (void)!mt_number_words_get(warm_up->number_words, language->code, &words, NULL);
    if (warm_up->splitter)
        (void)!mt_splitter_split(warm_up->splitter, sample, strlen(sample), MT_SPLIT_ON,
                                 language->code, 0, &sentences, NULL);
    mt_ranges_finish(&sentences);
}

static void *warm_texts(void *argument)
{
    const struct mt_text_warm_up *warm_up = argument;
    const struct mt_served_model_info *info = warm_up->info;
    const struct mt_detect_languages any = {.n = 0};
    struct mt_detection detection;
    if (warm_up->is_apart)
        prctl(PR_SET_NAME, "text-warm-up");
    for (size_t i = 0; i < info->n_sources; i++)
        warm_language(warm_up, &info->sources[i]);
    for (size_t i = 0; i < info->n_targets; i++)
        warm_language(warm_up, &info->targets[i]);
    (void)!mt_detect(sample, strlen(sample), false, &any, &detection, NULL);
    return NULL;
}

void mt_text_warm_up_begin(struct mt_text_warm_up *warm_up)
{
    warm_up->is_apart = false;
    if (warm_up->info->n_sources + warm_up->info->n_targets > MT_MAX_WARM_LANGUAGES)
        return;
    /* Loading may fork, and a sanitizer's allocator must not be in use by another thread then. */
    warm_up->is_apart = !MT_IS_SANITIZED;
    if (!warm_up->is_apart || pthread_create(&warm_up->thread, NULL, warm_texts, warm_up) != 0) {
        warm_up->is_apart = false;
        warm_texts(warm_up);
    }
}

void mt_text_warm_up_end(struct mt_text_warm_up *warm_up)
{
    if (warm_up->is_apart)
        pthread_join(warm_up->thread, NULL);
    warm_up->is_apart = false;
}
