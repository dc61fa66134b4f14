#include "server/generation.h"

#include "base/log.h"
#include "config/settings.h"
#include "model/model.h"
#include "model/tokenizer.h"
#include "server/cli.h"
#include "server/engine.h"
#include "server/files_api.h"
#include "server/handler.h"
#include "server/inspection_request.h"
#include "server/inspection_translation.h"
#include "server/keys.h"
#include "server/memory_plan.h"
#include "server/tls.h"
#include "server/translation.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LABEL_BYTES 64
#define CERTIFICATE_WARNING_DAYS 7

struct mt_generation {
    struct mt_settings settings;
    struct mt_model *model;
    struct mt_engine *engine;
    struct mt_lane *lane; /* the model's in the engine */
    struct mt_keys *keys; /* NULL: none are asked for */
    struct mt_tls *tls;   /* NULL: none */
    struct mt_service service;
    char model_label[LABEL_BYTES];
    uint64_t number;
    atomic_bool is_damaged;
};

/* The directory's own name, whatever way led there; odd characters become '_'. */
static void name_model(const char *directory, char out[LABEL_BYTES])
{
    char *resolved = realpath(directory, NULL);
    const char *path = resolved != NULL ? resolved : directory;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t n = 0;
    for (; name[n] != '\0' && n < LABEL_BYTES - 1; n++) {
        char c = name[n];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        out[n] = is_plain || strchr("-._", c) != NULL ? c : '_';
    }
    out[n] = '\0';
    free(resolved);
}

/* The setting, where it is there, overrides what the model says; nothing is "". */
static enum mt_status choose_language(const char *setting, const char *model, const char *key,
                                      char out[MT_LANGUAGE_BYTES], struct mt_error *err)
{
    bool is_known = mt_language_normalise(model != NULL ? model : "", out);
    if (setting[0] != '\0')
        is_known = mt_language_normalise(setting, out);
    if (setting[0] != '\0' && !is_known)
        return mt_fail(err, MT_INVALID, "%s is \"%s\", expected a language code", key, setting);
    return MT_OK;
}

static enum mt_status describe_service(struct mt_generation *g, const struct mt_service *common,
                                       struct mt_error *err)
{
    const struct mt_tokenizer *tokenizer = mt_model_tokenizer(g->model);
    struct mt_service *service = &g->service;
    *service = *common;
    service->settings = &g->settings;
    service->model = g->model;
    service->engine = g->engine;
    service->lane = g->lane;
    service->generation = g;
    service->keys = g->keys;
    service->tls = g->tls;
    service->model_label = g->model_label;
    enum mt_status status =
        choose_language(g->settings.source_lang, mt_tokenizer_source_lang(tokenizer), "source_lang",
                        service->source_lang, err);
    if (status != MT_OK)
        return status;
    return choose_language(g->settings.target_lang, mt_tokenizer_target_lang(tokenizer),
                           "target_lang", service->target_lang, err);
}

/* A wrong alignment setting is found at start, not by the first request. */
static enum mt_status check_alignment(const struct mt_generation *g, struct mt_error *err)
{
    struct mt_inspection_options options = {0};
    const struct mt_inspection_model model =
        mt_inspection_describe_model(g->model, NULL, NULL, NULL);
    enum mt_status status = mt_alignment_of_settings(&g->settings, &options.alignment, err);
    return status != MT_OK ? status : mt_inspection_check(&model, &options, err);
}

/* ---- the warm-up ---- */

/* Where no answer is expected of it. */
#define MAX_WARM_UP_TOKENS 8

struct warm_up {
    pthread_mutex_t mutex; /* guards the others */
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

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The sentence that the text is, here and now. */
static enum mt_status decode(struct mt_generation *g, struct mt_sentence *sentence,
                             struct mt_error *err)
{
    struct warm_up warm_up = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                              .ended = PTHREAD_COND_INITIALIZER};
    struct mt_job job = {
        .sentences = &sentence,
        .n_sentences = 1,
        .lane = g->lane,
        .deadline_ns = now_ns() + (int64_t)MT_WARM_UP_TIMEOUT_MS * 1000000,
        .on_done = end_warm_up,
        .user = &warm_up,
    };
    enum mt_status status = mt_engine_submit(g->engine, &job, err);
    if (status != MT_OK)
        return status;
    pthread_mutex_lock(&warm_up.mutex);
    while (!warm_up.has_ended)
        pthread_cond_wait(&warm_up.ended, &warm_up.mutex);
    pthread_mutex_unlock(&warm_up.mutex);
    if (warm_up.status != MT_OK)
        return mt_fail(err, warm_up.status, "the warm-up was not translated within %d s",
                       MT_WARM_UP_TIMEOUT_MS / 1000);
    return MT_OK;
}

/* Numbers that are not finite anywhere on the way end up in the score. */
static enum mt_status check_answer(const struct mt_generation *g,
                                   const struct mt_translation *translation, struct mt_error *err)
{
    const char *expected = g->settings.warm_up_answer;
    struct mt_text answer = {0};
    float score = mt_translation_score(translation, 0);
    if (!isfinite(score))
        return mt_fail(err, MT_INVALID, "%s: the warm-up's score is %g, expected a number",
                       g->settings.model, (double)score);
    enum mt_status status = mt_translation_render(translation, 0, &answer, err);
    if (status == MT_OK)
        status = mt_text_check(&answer, "the warm-up", err);
    const char *found = answer.bytes != NULL ? answer.bytes : "";
    if (status == MT_OK && expected[0] != '\0' && strcmp(found, expected) != 0)
        status = mt_fail(err, MT_INVALID,
                         "%s: the answer to the warm-up is \"%.100s\", expected \"%.100s\"",
                         g->settings.model, found, expected);
    mt_text_finish(&answer);
    return status;
}

static enum mt_status warm_up(struct mt_generation *g, struct mt_error *err)
{
    const char *text = g->settings.warm_up_text;
    struct mt_translation_options options = {.split = MT_SPLIT_OFF};
    struct mt_translation *translation;
    /* A model that never ends must not hold up the start; its weights have been touched by then. */
    if (g->settings.warm_up_answer[0] == '\0')
        options.decoding.max_decoding_length = MAX_WARM_UP_TOKENS;
    enum mt_status status =
        mt_translation_create(g->model, text, strlen(text), &options, &translation, err);
    if (status != MT_OK)
        return status;
    size_t n_sentences = mt_translation_n_sentences(translation);
    for (size_t i = 0; i < n_sentences && status == MT_OK; i++)
        status = decode(g, mt_translation_part(translation, i).sentence, err);
    if (status == MT_OK)
        status = check_answer(g, translation, err);
    mt_translation_destroy(translation);
    return status;
}

/* ---- all of it ---- */

static enum mt_status open_model(struct mt_generation *g, bool shows_progress, struct mt_error *err)
{
    const struct mt_settings *settings = &g->settings;
    struct mt_model_options options = mt_cli_model_options(settings);
    if (shows_progress)
        mt_cli_show_progress(&options);
    enum mt_status status = mt_model_open(settings->model, &options, &g->model, err);
    if (status == MT_OK)
        name_model(settings->model, g->model_label);
    return status;
}

static enum mt_status start_engine(struct mt_generation *g, struct mt_error *err)
{
    const struct mt_settings *settings = &g->settings;
    const struct mt_engine_options options = {
        .n_workers = (size_t)settings->workers,
        .threads_per_worker = (size_t)settings->threads_per_worker,
        .max_batch_rows = (size_t)settings->max_batch_rows,
        .encode_tokens = (size_t)settings->encode_tokens,
        .max_queued_sentences = (size_t)settings->max_queued_sentences,
    };
    enum mt_status status = mt_engine_create(&options, &g->engine, err);
    if (status == MT_OK)
        status = mt_engine_attach(g->engine, g->model, &g->lane, err);
    return status;
}

static enum mt_status plan_memory(const struct mt_generation *g, struct mt_error *err)
{
    struct mt_memory_plan plan;
    struct mt_text text = {0};
    enum mt_status status = mt_memory_plan_make(&g->settings, g->model, g->engine, &plan, err);
    if (status == MT_OK)
        status = mt_memory_plan_check(&plan, (uint64_t)g->settings.memory_limit, err);
    if (status != MT_OK)
        return status;
    mt_memory_plan_describe(&plan, &text);
    if (text.status == MT_OK)
        mt_log(MT_LOG_INFO, "memory at worst: %s, beside %llu MiB of mapped weights", text.bytes,
               (unsigned long long)(plan.mapped_bytes >> 20));
    mt_text_finish(&text);
    return MT_OK;
}

static enum mt_status open_keys(struct mt_generation *g, struct mt_error *err)
{
    enum mt_status status = mt_access_open_keys(&g->settings, &g->keys, err);
    if (status != MT_OK || g->keys == NULL)
        return status;
    mt_log(MT_LOG_INFO, "%s: %zu API keys", g->settings.api_keys_file, mt_keys_count(g->keys));
    if (mt_keys_file_is_public(g->keys))
        mt_log(MT_LOG_WARN, "%s can be read by everybody on this machine: chmod 600 mends that",
               g->settings.api_keys_file);
    return MT_OK;
}

static enum mt_status open_tls(struct mt_generation *g, struct mt_error *err)
{
    enum mt_status status = mt_tls_open(&g->settings, &g->tls, err);
    if (status != MT_OK || g->tls == NULL)
        return status;
    long days = mt_tls_days_left(g->tls);
    if (days < CERTIFICATE_WARNING_DAYS)
        mt_log(MT_LOG_WARN, "%s: the certificate %s", g->settings.tls_certificate,
               days < 0 ? "has expired" : "expires within a week");
    if (mt_tls_key_is_public(g->tls))
        mt_log(MT_LOG_WARN, "%s can be read by everybody on this machine: chmod 600 mends that",
               g->settings.tls_key);
    return MT_OK;
}

static enum mt_status build(struct mt_generation *g, const struct mt_generation_options *options,
                            struct mt_error *err)
{
    enum mt_status status = open_keys(g, err);
    if (status == MT_OK)
        status = open_tls(g, err);
    if (status == MT_OK)
        status = open_model(g, options->shows_progress, err);
    if (status == MT_OK)
        status = check_alignment(g, err);
    if (status == MT_OK)
        status = mt_files_check_settings(&g->settings, err);
    if (status == MT_OK)
        status = start_engine(g, err);
    if (status == MT_OK)
        status = plan_memory(g, err);
    if (status == MT_OK)
        status = describe_service(g, options->common, err);
    if (status == MT_OK)
        status = warm_up(g, err);
    if (status == MT_OK) /* the weights may have changed while we looked at them */
        status = mt_model_check(g->model, err);
    return status;
}

enum mt_status mt_generation_create(const struct mt_generation_options *options,
                                    struct mt_settings *settings, struct mt_generation **out,
                                    struct mt_error *err)
{
    struct mt_generation *g = calloc(1, sizeof *g);
    if (g == NULL) {
        mt_settings_finish(settings);
        return mt_fail_memory(err, sizeof *g, "a generation");
    }
    g->settings = *settings;
    *settings = (struct mt_settings){0};
    g->number = options->number;
    enum mt_status status = build(g, options, err);
    if (status != MT_OK) {
        mt_generation_destroy(g);
        return status;
    }
    *out = g;
    return MT_OK;
}

void mt_generation_destroy(struct mt_generation *g)
{
    if (g == NULL)
        return;
    mt_engine_destroy(g->engine);
    mt_model_close(g->model);
    mt_keys_destroy(g->keys);
    mt_tls_destroy(g->tls);
    mt_settings_finish(&g->settings);
    free(g);
}

const struct mt_service *mt_generation_service(const struct mt_generation *g)
{
    return &g->service;
}

uint64_t mt_generation_number(const struct mt_generation *g)
{
    return g->number;
}

enum mt_status mt_generation_check(struct mt_generation *g, struct mt_error *err)
{
    struct mt_error reason;
    if (!atomic_load(&g->is_damaged)) {
        if (mt_model_check(g->model, &reason) == MT_OK)
            return MT_OK;
        if (!atomic_exchange(&g->is_damaged, true))
            mt_log(MT_LOG_ERROR, "%s: refusing to translate until SIGHUP finds a sound model",
                   reason.message);
    }
    return mt_fail(err, MT_BUSY, "the model's files were damaged while it was in use");
}
