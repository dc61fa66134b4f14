#include "server/service/memory_plan.h"

#include "base/size.h"
#include "config/settings.h"
#include "model/model.h"
#include "model/sentence.h"
#include "server/models/catalog.h"
#include "server/engine/engine.h"
#include "server/http/connections.h"
#include "server/data/database.h"
#include "server/data/glossaries.h"
#include "server/data/messages.h"
#include "server/service/meters.h"
#include "server/models/served_model.h"
#include "server/text/html/html_reader.h"
#include "server/text/text_threads.h"
#include "server/http/tls.h"

#include <stdlib.h>

/* A body's buffer grows by doubling; later the texts and the reply take its place. */
#define COPIES_OF_A_BODY 3
/* Memory for parsing a body, which a limited number of requests do at a time: 27 to 40 times its
 * bytes with cJSON, measured. */
#define PARSED_FACTOR 40
/* How often a file is in memory while it is translated: as received, as the document, its texts,
 * the words in them, their translations, and the written file. The tree of a page of HTML is
 * counted separately. */
#define COPIES_OF_A_DOCUMENT 6
/* Code, tables, ICU's rules, stacks and heaps: twice the 30 MiB that were measured. */
#define PROGRAM_BYTES (UINT64_C(64) << 20)

/* 24 bytes for each beam and position, as measured for a real sentence, and the rounding of
 * blocks. */
#define SENTENCE_BYTES 16384
#define POSITION_BYTES 16
#define BEAM_POSITION_BYTES 24

#define MIB (UINT64_C(1) << 20)

static const char *const names[MT_N_MEMORY_PARTS] = {
    [MT_MEMORY_WEIGHTS] = "weights",
    [MT_MEMORY_CACHES] = "caches and activations",
    [MT_MEMORY_MODELS] = "models",
    [MT_MEMORY_QUEUE] = "queue",
    [MT_MEMORY_CONNECTIONS] = "connections",
    [MT_MEMORY_BODIES] = "bodies",
    [MT_MEMORY_DOCUMENTS] = "documents",
    [MT_MEMORY_TRACES] = "attention traces",
    [MT_MEMORY_FILES] = "files",
    [MT_MEMORY_RESULTS] = "results",
    [MT_MEMORY_DATA] = "data",
    [MT_MEMORY_PROGRAM] = "program",
};

/* Saturates, because no machine has memory beyond 64 bits. */
static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Returns the widest beam that a request may ask for, directly or by its alternatives, or that it
 * gets by default: the settings' or the model's, to which limits of requests do not apply. */
static size_t widest_beam(const struct mt_settings *settings, size_t model_beams)
{
    size_t asked =
        mt_size_max((size_t)settings->max_beam_size, (size_t)settings->max_alternatives + 1);
    size_t unasked = settings->beam_size > 0 ? (size_t)settings->beam_size : model_beams;
    return mt_size_min(mt_size_max(asked, unasked), MT_MAX_BEAMS);
}

/* Makes the sentence that needs most memory, and measures it. */
static enum mt_status measure_sentence(const struct mt_settings *settings,
                                       const struct mt_model *model, uint64_t *out,
                                       struct mt_error *err)
{
    const struct mt_hparams *h = mt_model_hparams(model);
    size_t n_beams = widest_beam(settings, h->n_beams);
    const struct mt_sentence_options options = {
        .beam_size = n_beams,
        .num_hypotheses = n_beams,
        .max_decoding_length = h->max_positions - 1,
        .return_logprobs = true,
    };
    int32_t *ids = calloc(h->max_positions, sizeof *ids);
    struct mt_sentence *sentence = NULL;
    if (!ids)
        return mt_fail_memory(err, h->max_positions * sizeof *ids, "a sentence");
    enum mt_status status =
        mt_sentence_create(model, ids, h->max_positions, &options, &sentence, err);
    if (!status)
        *out = mt_sentence_bytes(sentence);
    mt_sentence_destroy(sentence);
    free(ids);
    return status;
}

/* Counts prepared glossaries, and the memory of a database. */
static uint64_t data(const struct mt_settings *settings)
{
    if (!mt_settings_keep_data(settings))
        return 0;
    return MT_MAX_READY_BYTES +
           (settings->database[0] != '\0' ? 2 * MT_MESSAGE_MAX_BYTES : MT_DATABASE_BYTES);
}

/* Estimates the bytes of a sentence for a model that is not in memory: ids, scores and tables of
 * each hypothesis, and the search. */
static uint64_t estimate_sentence(const struct mt_settings *settings,
                                  const struct mt_longest_sentence *longest)
{
    uint64_t n_beams = widest_beam(settings, longest->n_beams);
    if (longest->n_positions == 0)
        return 0;
    return SENTENCE_BYTES +
           times(longest->n_positions, POSITION_BYTES + n_beams * BEAM_POSITION_BYTES);
}

static uint64_t documents(const struct mt_settings *settings)
{
    uint64_t each =
        times(COPIES_OF_A_DOCUMENT, (uint64_t)settings->max_document_bytes) + MT_HTML_MAX_BYTES;
    uint64_t small = times(COPIES_OF_A_DOCUMENT, (uint64_t)settings->max_body_bytes);
    return settings->files_translation ? plus(times((uint64_t)settings->max_documents, each),
                                              times((uint64_t)settings->max_document_jobs, small))
                                       : 0;
}

/* Returns the memory for models of models_directory. */
static uint64_t share_of_models(const struct mt_settings *settings, uint64_t others)
{
    uint64_t limit = (uint64_t)settings->memory_limit;
    if (settings->models_directory[0] == '\0')
        return 0;
    if (settings->models_memory > 0)
        return (uint64_t)settings->models_memory;
    if (limit == 0)
        return 0;
    return limit > others ? limit - others : 1; /* 0 would mean no limit */
}

enum mt_status mt_memory_plan_make(const struct mt_settings *settings,
                                   const struct mt_loaded_model *pinned,
                                   const struct mt_longest_sentence *others,
                                   struct mt_memory_plan *out, struct mt_error *err)
{
    uint64_t sentence_bytes = 0, twice = MT_PINNED_AT_ONCE;
    uint64_t other_sentence_bytes = estimate_sentence(settings, others);
    uint64_t n_connections = (uint64_t)settings->max_connections;
    uint64_t connection_bytes =
        MT_CONNECTION_BYTES + (*settings->tls_certificate ? MT_TLS_CONNECTION_BYTES : 0);
    uint64_t body_bytes = (uint64_t)settings->max_body_bytes;
    uint64_t n_parsed = mt_text_threads_max_long((size_t)settings->text_threads);
    enum mt_status status = MT_OK;
    if (pinned)
        status = measure_sentence(settings, pinned->model, &sentence_bytes, err);
    if (status)
        return status;
    if (sentence_bytes < other_sentence_bytes)
        sentence_bytes = other_sentence_bytes;
    uint64_t queue_bytes = times((uint64_t)settings->max_queued_sentences, sentence_bytes);
    uint64_t n_values =
        times(MT_ATTENTION_REQUESTS_AT_ONCE, (uint64_t)settings->max_attention_values);
    struct mt_memory_plan plan = {
        .bytes =
            {
                [MT_MEMORY_WEIGHTS] =
                    times(twice, pinned ? mt_model_private_bytes(pinned->model) : 0),
                [MT_MEMORY_CACHES] =
                    times(twice, pinned ? mt_lane_reserved_bytes(pinned->lane) : 0),
                [MT_MEMORY_QUEUE] = times(twice, queue_bytes),
                [MT_MEMORY_CONNECTIONS] =
                    times(n_connections + MT_CONNECTIONS_OVER_LIMIT, connection_bytes),
                [MT_MEMORY_BODIES] =
                    times(COPIES_OF_A_BODY * n_connections + PARSED_FACTOR * n_parsed, body_bytes),
                [MT_MEMORY_DOCUMENTS] = documents(settings),
                [MT_MEMORY_TRACES] = times(n_values, sizeof(float)),
                [MT_MEMORY_FILES] =
                    settings->files_translation && settings->files_directory[0] == '\0'
                        ? (uint64_t)settings->max_files_bytes
                        : 0,
                [MT_MEMORY_RESULTS] = (uint64_t)settings->cache_bytes,
                [MT_MEMORY_DATA] = data(settings),
                [MT_MEMORY_PROGRAM] = PROGRAM_BYTES + mt_meters_bytes(MT_MAX_METERED_ADDRESSES),
            },
        .mapped_bytes = pinned ? mt_model_mapped_bytes(pinned->model) : 0,
    };
    for (size_t i = 0; i < MT_N_MEMORY_PARTS; i++)
        plan.total = plus(plan.total, plan.bytes[i]);
    plan.bytes[MT_MEMORY_MODELS] = share_of_models(settings, plan.total);
    plan.total = plus(plan.total, plan.bytes[MT_MEMORY_MODELS]);
    *out = plan;
    return MT_OK;
}

static unsigned long long mib(uint64_t bytes)
{
    return (unsigned long long)(bytes / MIB + (bytes % MIB != 0));
}

void mt_memory_plan_describe(const struct mt_memory_plan *plan, struct mt_text *out)
{
    mt_text_appendf(out, "%llu MiB (", mib(plan->total));
    for (size_t i = 0; i < MT_N_MEMORY_PARTS; i++)
        mt_text_appendf(out, "%s%s %llu", i > 0 ? ", " : "", names[i], mib(plan->bytes[i]));
    mt_text_append_string(out, ")");
}

enum mt_status mt_memory_plan_check(const struct mt_memory_plan *plan, uint64_t limit_bytes,
                                    struct mt_error *err)
{
    struct mt_text sum = {0};
    if (limit_bytes == 0 || plan->total <= limit_bytes)
        return MT_OK;
    mt_memory_plan_describe(plan, &sum);
    enum mt_status status = mt_text_check(&sum, "the memory plan", err);
    if (!status)
        status = mt_fail(err, MT_INVALID,
                         "memory_limit is %llu MiB, but these settings may come to need %s",
                         (unsigned long long)(limit_bytes / MIB), sum.bytes);
    mt_text_finish(&sum);
    return status;
}
