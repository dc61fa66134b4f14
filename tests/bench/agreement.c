/*
 * Teacher-forced agreement: fp32 translates each line greedily, then the other precision reads its
 * tokens one by one and says at every position which it would have written. The share of positions
 * where it is the same tells what the precision costs, undisturbed by what an early difference
 * does to all that follows it. With --precision fp32 it must be all of them: the tool's own proof.
 */
#include "base/team.h"
#include "model/batch.h"
#include "model/model.h"
#include "model/sentence.h"
#include "tests/bench/lines.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ROWS 64

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char help[] =
    "usage: agreement --model DIR --input FILE [options]\n"
    "\n"
    "How often a precision would write the token that fp32 wrote, read behind fp32's own words.\n"
    "\n"
    "  --precision int8|fp32    (default int8)\n"
    "  --kernels NAME           (default auto)\n"
    "  --threads N              (default: all cores, at most 4)\n"
    "  --json                   one JSON object instead of a sentence\n";

struct options {
    const char *model, *input, *kernels;
    enum mt_precision precision;
    size_t n_threads;
    bool as_json;
};

struct agreement {
    size_t n_lines, n_positions;
    size_t n_same_lines, n_same_positions;
};

/* What is done with a line that has come out of the batch. */
typedef enum mt_status take_line(struct bench_line *line, const struct mt_sentence *sentence,
                                 struct agreement *out, struct mt_error *err);

/* ---- decoding ---- */

static struct mt_sentence_options greedy(const struct bench_line *line)
{
    return (struct mt_sentence_options){.beam_size = 1, .skip_scores = true};
}

static enum mt_status keep_target(struct bench_line *line, const struct mt_sentence *sentence,
                                  struct agreement *out, struct mt_error *err)
{
    struct mt_hypothesis best = mt_sentence_hypothesis(sentence, 0);
    size_t n_bytes = best.n_ids * sizeof *line->target;
    line->target = malloc(n_bytes + 1);
    if (!line->target)
        return mt_fail_memory(err, n_bytes, "a translation");
    memcpy(line->target, best.ids, n_bytes);
    /* At its limit a sentence ends because it must: that eos is nobody's choice. */
    bool is_cut = best.n_ids == mt_sentence_max_target(sentence);
    line->n_target = best.n_ids - is_cut;
    return MT_OK;
}

static struct mt_sentence_options forced(const struct bench_line *line)
{
    return (struct mt_sentence_options){
        .beam_size = 1,
        .forced_target = line->target,
        .n_forced_target = line->n_target,
        .n_top = 1,
    };
}

static enum mt_status compare(struct bench_line *line, const struct mt_sentence *sentence,
                              struct agreement *out, struct mt_error *err)
{
    size_t n_same = 0;
    for (size_t i = 0; i < line->n_target; i++)
        n_same += mt_sentence_top(sentence, i)->id == line->target[i];
    out->n_lines++;
    out->n_positions += line->n_target;
    out->n_same_positions += n_same;
    out->n_same_lines += n_same == line->n_target;
    return MT_OK;
}

/* Takes in lines from *next on, as many as the batch has room for. */
static enum mt_status admit(const struct mt_model *model, struct mt_batch *batch,
                            struct bench_lines *lines, size_t *next,
                            struct mt_sentence_options (*options_of)(const struct bench_line *),
                            struct mt_error *err)
{
    while (*next < lines->n && mt_batch_n_rows(batch) < MAX_ROWS) {
        struct bench_line *line = &lines->lines[*next];
        const struct mt_sentence_options options = options_of(line);
        struct mt_sentence *sentence;
        enum mt_status status =
            mt_sentence_create(model, line->source, line->n_source, &options, &sentence, err);
        if (status)
            return status;
        status = mt_batch_check(batch, sentence, err);
        mt_sentence_set_user(sentence, line);
        if (status || !mt_batch_admit(batch, sentence)) {
            mt_sentence_destroy(sentence);
            return status;
        }
        ++*next;
    }
    return MT_OK;
}

static enum mt_status decode(const struct mt_model *model, struct mt_batch *batch,
                             struct bench_lines *lines,
                             struct mt_sentence_options (*options_of)(const struct bench_line *),
                             take_line *take, struct agreement *out, struct mt_error *err)
{
    size_t next = 0;
    do {
        enum mt_status status = admit(model, batch, lines, &next, options_of, err);
        mt_batch_step(batch);
        struct mt_sentence *sentence;
        while (!status && (sentence = mt_batch_take_finished(batch))) {
            status = take(mt_sentence_user(sentence), sentence, out, err);
            mt_sentence_destroy(sentence);
        }
        if (status)
            return status;
    } while (next < lines->n || mt_batch_n_sentences(batch) > 0);
    return MT_OK;
}

/* One pass over all lines with a model of its own. The first pass also reads them. */
static enum mt_status pass(const struct options *o, enum mt_precision precision,
                           struct mt_team *team, struct bench_lines *lines, struct agreement *out,
                           struct mt_error *err)
{
    const struct mt_model_options model_options = {.precision = precision, .kernels = o->kernels};
    const struct mt_batch_options batch_options = {.max_rows = MAX_ROWS, .team = team};
    struct mt_model *model = NULL;
    struct mt_batch *batch = NULL;
    bool is_first = !lines->lines;
    enum mt_status status = mt_model_open(o->model, &model_options, &model, err);
    if (!status && is_first)
        status = bench_lines_read(o->input, mt_model_tokenizer(model), lines, err);
    if (!status)
        status = mt_batch_create(model, &batch_options, &batch, err);
    if (!status)
        status = decode(model, batch, lines, is_first ? greedy : forced,
                        is_first ? keep_target : compare, out, err);
    mt_batch_destroy(batch);
    mt_model_close(model);
    return status;
}

static enum mt_status run(const struct options *o, struct agreement *out, struct mt_error *err)
{
    struct mt_team *team = NULL;
    struct bench_lines lines = {0};
    enum mt_status status = mt_team_create(o->n_threads, &team, err);
    if (!status)
        status = pass(o, MT_FP32, team, &lines, out, err);
    if (!status)
        status = pass(o, o->precision, team, &lines, out, err);
    bench_lines_finish(&lines);
    mt_team_destroy(team);
    return status;
}

/* ---- the command ---- */

static size_t default_threads(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 4 ? 4 : (size_t)n;
}

static enum mt_status parse_precision(struct options *o, const char *text, struct mt_error *err)
{
    if (strcmp(text, "fp32") != 0 && strcmp(text, "int8") != 0)
        return mt_fail(err, MT_INVALID, "--precision is \"%.40s\", expected int8 or fp32", text);
    o->precision = strcmp(text, "int8") == 0 ? MT_INT8 : MT_FP32;
    return MT_OK;
}

static enum mt_status parse_threads(struct options *o, const char *text, struct mt_error *err)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end != '\0' || n < 1 || n > MT_TEAM_MAX_THREADS)
        return mt_fail(err, MT_INVALID, "--threads is \"%.40s\", expected 1 to %d", text,
                       MT_TEAM_MAX_THREADS);
    o->n_threads = (size_t)n;
    return MT_OK;
}

static enum mt_status parse_flag(struct options *o, int flag, const char *wrong,
                                 struct mt_error *err)
{
    switch (flag) {
    case 'h':
        fputs(help, stdout);
        return MT_CANCELLED;
    case 'm':
        o->model = optarg;
        return MT_OK;
    case 'i':
        o->input = optarg;
        return MT_OK;
    case 'k':
        o->kernels = optarg;
        return MT_OK;
    case 'j':
        o->as_json = true;
        return MT_OK;
    case 'p':
        return parse_precision(o, optarg, err);
    case 't':
        return parse_threads(o, optarg, err);
    default:
        return mt_fail(err, MT_INVALID, "%.80s: no such flag, or without its value", wrong);
    }
}

static enum mt_status parse(int argc, char **argv, struct options *o, struct mt_error *err)
{
    static const struct option flags[] = {
        {"help", no_argument, NULL, 'h'},          {"model", required_argument, NULL, 'm'},
        {"input", required_argument, NULL, 'i'},   {"precision", required_argument, NULL, 'p'},
        {"kernels", required_argument, NULL, 'k'}, {"threads", required_argument, NULL, 't'},
        {"json", no_argument, NULL, 'j'},          {0},
    };
    *o = (struct options){.precision = MT_INT8, .n_threads = default_threads()};
    opterr = 0;
    for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        enum mt_status status = parse_flag(o, flag, argv[optind - 1], err);
        if (status)
            return status;
    }
    if (!o->model || !o->input || optind < argc)
        return mt_fail(err, MT_INVALID, "expected --model DIR --input FILE; --help says more");
    return MT_OK;
}

static double percent(size_t part, size_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void print(const struct options *o, const struct agreement *a)
{
    const char *name = o->precision == MT_INT8 ? "int8" : "fp32";
    double same = percent(a->n_same_positions, a->n_positions);
    if (o->as_json)
        printf("{\"precision\":\"%s\",\"lines\":%zu,\"positions\":%zu,\"same_positions\":%zu,"
               "\"percent\":%.3f,\"same_lines\":%zu}\n",
               name, a->n_lines, a->n_positions, a->n_same_positions, same, a->n_same_lines);
    else
        printf("%s behind fp32's words: %zu lines, %zu of %zu positions (%.3f %%) are what fp32 "
               "wrote, all of them in %zu lines\n",
               name, a->n_lines, a->n_same_positions, a->n_positions, same, a->n_same_lines);
}

int main(int argc, char **argv)
{
    struct options options;
    struct agreement agreement = {0};
    struct mt_error err = {0};
    enum mt_status status = parse(argc, argv, &options, &err);
    if (status == MT_CANCELLED)
        return EXIT_DONE;
    bool is_usage = status != MT_OK;
    if (!status)
        status = run(&options, &agreement, &err);
    if (status) {
        fprintf(stderr, "agreement: %s\n", err.message);
        return is_usage ? EXIT_USAGE : EXIT_FAILED;
    }
    print(&options, &agreement);
    return EXIT_DONE;
}
