/*
 * attentiond bench: compares the engine with the machine's limits, both measured in the same run.
 */
#include "server/commands/commands.h"

#include "base/cores.h"
#include "base/size.h"
#include "base/team.h"
#include "model/batch.h"
#include "model/kernels/kernels.h"
#include "model/sentence.h"
#include "server/commands/bench_machine.h"
#include "server/commands/bench_usage.h"
#include "server/commands/cli.h"
#include "server/engine/engine.h"
#include "server/models/model_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 128
#define MAX_LENGTH 256

/* Fewest rounds, and least time, for each number of rows. */
#define MIN_ROUNDS 3
#define RUN_SECONDS 0.5

/* Fraction of the processors' time that others may use without a message. */
#define LITTLE 0.03

struct bench {
    struct mt_model *model;
    const struct mt_kernels *kernels;
    struct mt_team *team;
    size_t length;       /* tokens in each source and target */
    double stream, peak; /* bytes and multiply-adds per second */
};

/* Number of linear layers in a feed-forward block. */
static double n_linears(const struct mt_hparams *h)
{
    return h->feed_forward_kind == MT_FEED_FORWARD_GATED ? 3 : 2;
}

/* Weights that a decoder step reads: all of the decoder's layers and the projection, except those
 * for the cross-attention's keys and values, which are computed once per sentence. Each weight
 * takes one multiply-add per row. */
static double step_weights(const struct mt_hparams *h)
{
    double d = (double)h->d_model, f = (double)h->d_ff_decoder;
    double attention = (h->decoder_cell == MT_CELL_SSRU ? 4 : 6) * d * d;
    return (double)h->n_decoder_layers * (attention + n_linears(h) * d * f) +
           d * (double)h->n_target_vocab;
}

static double encoder_weights(const struct mt_hparams *h)
{
    double d = (double)h->d_model, f = (double)h->d_ff_encoder;
    return (double)h->n_encoder_layers * (4 * d * d + n_linears(h) * d * f) +
           (double)h->n_decoder_layers * 2 * d * d;
}

static double bytes_per_weight(const struct bench *b)
{
    return mt_model_precision(b->model) == MT_INT8 ? 1.0 : 4.0;
}

/* Makes a sentence of pseudo-random ids that is decoded greedily to exactly n_target tokens. */
static enum mt_status make_sentence(const struct bench *b, unsigned seed, size_t n_target,
                                    struct mt_sentence **out, struct mt_error *err)
{
    const struct mt_hparams *h = mt_model_hparams(b->model);
    int32_t ids[MAX_LENGTH];
    uint64_t state = seed * 2654435761u + 12345;
    for (size_t i = 0; i < b->length; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        ids[i] = (int32_t)((state >> 33) % h->n_source_vocab);
    }
    ids[b->length - 1] = h->eos_id;
    const struct mt_sentence_options options = {.beam_size = 1,
                                                .skip_scores = true,
                                                .min_decoding_length = n_target,
                                                .max_decoding_length = n_target};
    return mt_sentence_create(b->model, ids, b->length, &options, out, err);
}

/* Decodes n sentences together from their admission to their end. */
static enum mt_status run_round(const struct bench *b, struct mt_batch *batch, size_t n,
                                size_t n_target, struct mt_error *err)
{
    struct mt_sentence *sentences[MAX_ROWS] = {0};
    size_t n_admitted = 0;
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = make_sentence(b, (unsigned)i, n_target, &sentences[i], err);
    while (!status && n_admitted < n && mt_batch_admit(batch, sentences[n_admitted]))
        n_admitted++;
    if (!status && n_admitted < n)
        status = mt_fail(err, MT_LIMIT, "the batch has no room for sentence %zu of %zu",
                         n_admitted + 1, n);
    while (!status && mt_batch_n_sentences(batch)) {
        mt_batch_step(batch);
        while (mt_batch_take_finished(batch)) {
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (status && i < n_admitted)
            mt_batch_cancel(batch, sentences[i]);
        mt_sentence_destroy(sentences[i]);
    }
    return status;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Decodes n sentences together, repeatedly. *stats gets the times of the fastest passes, since the
 * limits are the machine's best, too. The first round only loads the memory. */
static enum mt_status run(const struct bench *b, size_t n, size_t n_target,
                          struct mt_batch_stats *stats, struct mt_error *err)
{
    struct mt_batch *batch;
    const struct mt_batch_options options = {.max_rows = n,
                                             .encode_tokens = n * b->length,
                                             .max_source_tokens = b->length,
                                             .team = b->team};
    enum mt_status status = mt_batch_create(b->model, &options, &batch, err);
    if (status)
        return status;
    double start = mt_bench_now();
    *stats = (struct mt_batch_stats){0};
    for (size_t round = 0; !status; round++) {
        if (round > MIN_ROUNDS && mt_bench_now() - start > RUN_SECONDS)
            break;
        struct mt_batch_stats before = mt_batch_stats(batch);
        status = run_round(b, batch, n, n_target, err);
        struct mt_batch_stats after = mt_batch_stats(batch);
        double encode = after.encode_seconds - before.encode_seconds,
               step = after.step_seconds - before.step_seconds;
        *stats = (struct mt_batch_stats){
            .n_steps = after.n_steps - before.n_steps,
            .n_step_rows = after.n_step_rows - before.n_step_rows,
            .n_source_tokens = after.n_source_tokens - before.n_source_tokens,
            .encode_seconds = round > 1 ? least(stats->encode_seconds, encode) : encode,
            .step_seconds = round > 1 ? least(stats->step_seconds, step) : step,
        };
    }
    mt_batch_destroy(batch);
    return status;
}

/* A fraction as text in percent, or "-" if its limit was not measured: plain C has no peak. */
struct share {
    char text[16];
};

static struct share share_of(double part, double whole)
{
    struct share share = {"-"};
    if (whole > 0)
        snprintf(share.text, sizeof share.text, "%.0f%%", 100 * part / whole);
    return share;
}

static void print_peak(const char *numbers, double rate)
{
    if (rate > 0)
        printf("  %s multiply-adds on registers      %8.1f G/s\n", numbers, rate / 1e9);
}

static enum mt_status print_machine(struct bench *b, struct mt_error *err)
{
    const struct mt_hparams *h = mt_model_hparams(b->model);
    size_t step_bytes = (size_t)(step_weights(h) * bytes_per_weight(b));
    const struct {
        const char *name;
        size_t bytes;
    } sizes[] = {{"256 KiB per thread", ((size_t)256 << 10) * mt_team_size(b->team)},
                 {"8 MiB", (size_t)8 << 20},
                 {"as much as a step's weights", mt_size_round_up(step_bytes, 4096)},
                 {"256 MiB", (size_t)256 << 20}};
    printf("Machine, %zu threads, kernels %s\n", mt_team_size(b->team), b->kernels->name);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double rate;
        enum mt_status status = mt_bench_stream(b->team, b->kernels, sizes[i].bytes, &rate, err);
        if (status)
            return status;
        printf("  reading %-28s %8.1f GB/s\n", sizes[i].name, rate / 1e9);
        if (i == 2)
            b->stream = rate;
    }
    double int8 = mt_bench_int8_peak(b->team, b->kernels),
           fp32 = mt_bench_fp32_peak(b->team, b->kernels);
    print_peak("int8", int8);
    print_peak("fp32", fp32);
    b->peak = mt_model_precision(b->model) == MT_INT8 ? int8 : fp32;
    return MT_OK;
}

static enum mt_status print_encoder(const struct bench *b, struct mt_error *err)
{
    printf("\nEncoder, sentences of %zu tokens\n  sentences  tokens/s  ms a pass   of int8/fp32 "
           "peak\n",
           b->length);
    for (size_t n = 1; n <= 16; n *= 4) {
        struct mt_batch_stats stats;
        enum mt_status status = run(b, n, 1, &stats, err);
        if (status)
            return status;
        double tokens = (double)stats.n_source_tokens,
               macs = tokens * encoder_weights(mt_model_hparams(b->model));
        printf("  %9zu  %8.0f  %9.3f   %17s\n", n, tokens / stats.encode_seconds,
               1e3 * stats.encode_seconds, share_of(macs / stats.encode_seconds, b->peak).text);
    }
    return MT_OK;
}

static enum mt_status print_decoder(const struct bench *b, struct mt_error *err)
{
    double weights = step_weights(mt_model_hparams(b->model));
    printf("\nDecoder, %zu tokens after sources of %zu; a step reads %.1f MB of weights\n"
           "  rows  ms a step  tokens/s      GB/s   of stream    GMAC/s   of peak\n",
           b->length, b->length, weights * bytes_per_weight(b) / 1e6);
    for (size_t m = 1; m <= MAX_ROWS; m *= 2) {
        struct mt_batch_stats stats;
        enum mt_status status = run(b, m, b->length, &stats, err);
        if (status)
            return status;
        double seconds = stats.step_seconds / (double)stats.n_steps;
        double bytes = weights * bytes_per_weight(b) / seconds,
               macs = weights * (double)m / seconds;
        printf("  %4zu  %9.3f  %8.0f  %8.1f  %10s  %8.1f  %8s\n", m, 1e3 * seconds,
               (double)m / seconds, bytes / 1e9, share_of(bytes, b->stream).text, macs / 1e9,
               share_of(macs, b->peak).text);
    }
    return MT_OK;
}

/* Measures the time from nothing to the first sentence: opens the model again, makes a batch, and
 * translates. */
static enum mt_status print_start(const struct bench *b, const char *directory,
                                  const struct mt_model_options *options, struct mt_error *err)
{
    double start = mt_bench_now();
    struct bench again = *b;
    enum mt_status status = mt_model_open(directory, options, &again.model, err);
    if (status)
        return status;
    double opened = mt_bench_now();
    struct mt_batch *batch = NULL;
    struct mt_sentence *sentence = NULL;
    const struct mt_batch_options batch_options = {.team = b->team};
    status = mt_batch_create(again.model, &batch_options, &batch, err);
    if (!status)
        status = make_sentence(&again, 1, 10, &sentence, err);
    if (!status && mt_batch_admit(batch, sentence)) {
        while (!mt_batch_take_finished(batch))
            mt_batch_step(batch);
        printf("\nStart, file cache warm: model open after %.1f ms, first sentence of 10 tokens "
               "after %.1f ms\n",
               1e3 * (opened - start), 1e3 * (mt_bench_now() - start));
        printf("The threads of a team take sentences of their own from %zu rows for each on\n",
               mt_batch_rows_apart(batch));
    }
    mt_sentence_destroy(sentence);
    mt_batch_destroy(batch);
    mt_model_close(again.model);
    return status;
}

static void warn_of_others(const struct mt_bench_usage *before)
{
    struct mt_bench_usage after;
    if (before->all <= 0.0 || !mt_bench_usage_now(&after))
        return;
    struct mt_bench_shares shares = mt_bench_shares(before, &after);
    if (shares.others + shares.host <= LITTLE)
        return;
    fflush(stdout); /* the table is to appear first */
    fprintf(stderr,
            "attentiond bench: other programs took %.0f %% of the processors' time meanwhile, and "
            "this virtual machine's host %.0f %%; the figures are too low\n",
            100 * shares.others, 100 * shares.host);
}

static enum mt_status bench(const struct mt_settings *settings, size_t length, struct mt_error *err)
{
    struct mt_model_options options = mt_model_options_of_settings(settings);
    mt_model_options_show_progress(&options);
    struct bench b = {.length = length};
    size_t n_workers, n_threads;
    mt_engine_default_threads(mt_cores_available(), &n_workers, &n_threads);
    if (settings->threads_per_worker)
        n_threads = (size_t)settings->threads_per_worker;
    enum mt_status status = mt_model_open(settings->model, &options, &b.model, err);
    if (!status)
        status = mt_kernels_find(mt_model_kernels_name(b.model), &b.kernels, err);
    if (!status)
        status = mt_team_create(n_threads, &b.team, err);
    struct mt_bench_usage before = {0};
    if (!status) {
        (void)!mt_bench_usage_now(&before);
        printf("Model: %s, %s, %.1f million parameters\n", settings->model, mt_model_note(b.model),
               (double)mt_model_n_parameters(b.model) / 1e6);
        status = print_machine(&b, err);
    }
    if (!status)
        status = print_encoder(&b, err);
    if (!status)
        status = print_decoder(&b, err);
    if (!status)
        status = print_start(&b, settings->model, &options, err);
    if (!status) {
        size_t own, mapped;
        mt_bench_resident(&own, &mapped);
        printf("Memory, resident: %.1f MB our own, %.1f MB mapped from files\n", (double)own / 1e6,
               (double)mapped / 1e6);
    }
    if (!status)
        status = mt_cli_flush(err);
    if (!status)
        warn_of_others(&before);
    mt_team_destroy(b.team);
    mt_model_close(b.model);
    return status;
}

int mt_cmd_bench(int argc, char **argv)
{
    int64_t length = 25;
    const struct mt_cli_option options[] = {
        {.name = "length",
         .value_name = "N",
         .doc = "tokens of each source and each target",
         .integer = &length,
         .low = 2,
         .high = MAX_LENGTH},
        {0},
    };
    const struct mt_cli_command command = {
        .name = "bench",
        .verb = MT_VERB_BENCH,
        .synopsis = "--model DIR [options]",
        .summary = "measure the machine's limits and the engine beside them",
        .options = options,
        .needs_model = true,
    };
    struct mt_cli cli;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    struct mt_error err;
    exit_code = MT_EXIT_OK;
    if (bench(&cli.settings, (size_t)length, &err))
        exit_code = mt_cli_fail(&command, &err);
    mt_cli_finish(&cli);
    return exit_code;
}
