#include "server/inspection/head_finder.h"

#include "base/size.h"
#include "base/vector.h"
#include "model/model.h"
#include "server/inspection/head_sample.h"
#include "server/inspection/inspection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

#define PUNCTUATION_WEIGHT 0.1
#define DIAGONAL_WEIGHT 0.02
/* Half of the diagonal's width, as a fraction of the source. */
#define DIAGONAL_REACH 0.15
#define MAX_PAIRS 512

/* The assumption that an output token comes from certain sources, by which heads are measured. */
struct claim {
    size_t target;
    size_t *sources; /* ascending; NULL: those near the diagonal */
    size_t n_sources;
    double weight;
};

struct item {
    const struct mt_head_item *head;
    struct claim *claims;
    size_t n_claims, claims_capacity;
};

struct finder {
    struct mt_head_sample sample;
    const struct mt_hparams *hparams;
    struct item *items; /* one for each item of the sample */
    size_t n_anchors, n_known;
};

/* A choice of heads, and how often it is right, from 0 to 1. */
struct choice {
    size_t n;
    size_t layers[MAX_PAIRS],
        heads[MAX_PAIRS]; /* pairs: all of some layers with all of some heads */
    enum mt_alignment_shift shift;
    double score;
};

static void finish_item(struct item *item)
{
    for (size_t i = 0; i < item->n_claims; i++)
        free(item->claims[i].sources);
    free(item->claims);
}

/* Claims --------------------------------------------------------------------------------------- */

static enum mt_status add_claim(struct item *item, size_t target, const size_t *sources, size_t n,
                                double weight, struct mt_error *err)
{
    if (MT_ROOM(&item->claims, &item->claims_capacity, item->n_claims + 1, "alignment claims", err))
        return MT_MEMORY;
    struct claim claim = {.target = target, .n_sources = n, .weight = weight};
    if (n) {
        claim.sources = malloc(n * sizeof *sources);
        if (!claim.sources)
            return mt_fail_memory(err, n * sizeof *sources, "alignment claims");
        memcpy(claim.sources, sources, n * sizeof *sources);
    }
    item->claims[item->n_claims++] = claim;
    return MT_OK;
}

static size_t count_source(const struct item *item, const char *piece, size_t *where)
{
    size_t n = 0;
    for (size_t s = 0; s < item->head->tokens->n; s++) {
        const struct mt_token *token = &item->head->tokens->tokens[s];
        if (token->special || strcmp(token->piece, piece) != 0)
            continue;
        *where = s;
        n++;
    }
    return n;
}

static size_t count_target(const struct finder *finder, const struct item *item, const char *piece)
{
    size_t n = 0;
    for (size_t t = 0; t < item->head->n_steps; t++) {
        const char *other = mt_head_item_piece(&finder->sample, item->head, t);
        n += other && strcmp(other, piece) == 0;
    }
    return n;
}

/* A full stop gets a low weight, because where a model attends for it tells little about its
 * words. */
static double anchor_weight(const char *piece)
{
    for (const char *at = piece; *at; at += mt_utf8_length((unsigned char)*at))
        if (u_isalnum((UChar32)mt_utf8_decode(at)))
            return 1;
    return PUNCTUATION_WEIGHT;
}

/* Adds pieces that occur exactly once on both sides, except the piece that is only a blank. */
static enum mt_status add_anchors(struct finder *finder, struct item *item, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t t = 0; t < item->head->n_steps && !status; t++) {
        const char *piece = mt_head_item_piece(&finder->sample, item->head, t);
        size_t s;
        if (!piece || strcmp(piece, "\xE2\x96\x81") == 0 || count_source(item, piece, &s) != 1 ||
            count_target(finder, item, piece) != 1)
            continue;
        status = add_claim(item, t, &s, 1, anchor_weight(piece), err);
        finder->n_anchors++;
    }
    return status;
}

static enum mt_status add_diagonal(struct finder *finder, struct item *item, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t t = 0; t < item->head->n_steps && !status; t++)
        if (mt_head_item_piece(&finder->sample, item->head, t))
            status = add_claim(item, t, NULL, 0, DIAGONAL_WEIGHT, err);
    return status;
}

/* Adds a claim for one output token: the pieces of all source words that its word is linked to. */
static enum mt_status add_known_token(struct finder *finder, struct item *item, size_t t,
                                      size_t word, const struct mt_known_links *links,
                                      size_t *scratch, struct mt_error *err)
{
    size_t n = 0;
    for (size_t s = 0; s < item->head->tokens->n; s++) {
        bool is_linked = false;
        for (size_t i = 0; i < links->n; i++)
            is_linked = is_linked || (links->targets[i] == word &&
                                      links->sources[i] == mt_head_item_source_word(item->head, s));
        if (is_linked)
            scratch[n++] = s;
    }
    if (!n)
        return MT_OK;
    finder->n_known++;
    return add_claim(item, t, scratch, n, 1, err);
}

static enum mt_status add_known(struct finder *finder, struct item *item,
                                const struct mt_known_links *links, struct mt_error *err)
{
    size_t *words = calloc(item->head->n_steps + 1, sizeof *words);
    size_t *scratch = calloc(item->head->tokens->n + 1, sizeof *scratch);
    enum mt_status status = MT_OK;
    if (!words || !scratch)
        status = mt_fail_memory(err, item->head->n_steps * sizeof *words, "alignment claims");
    if (!status)
        status = mt_head_item_target_words(&finder->sample, item->head, words, err);
    for (size_t t = 0; t < item->head->n_steps && !status; t++)
        if (words[t] != SIZE_MAX)
            status = add_known_token(finder, item, t, words[t], links, scratch, err);
    free(scratch);
    free(words);
    return status;
}

static enum mt_status add_claims(struct finder *finder, struct item *item, struct mt_error *err)
{
    struct mt_known_links links = {0};
    enum mt_status status = MT_OK;
    if (!item->head->sentence)
        return MT_OK;
    if (item->head->links) {
        status = mt_known_links_parse(item->head->links, &links, err);
        if (!status)
            status = add_known(finder, item, &links, err);
    } else {
        status = add_anchors(finder, item, err);
    }
    mt_known_links_finish(&links);
    return status ? status : add_diagonal(finder, item, err);
}

/* Measuring ------------------------------------------------------------------------------------ */

static bool is_claimed(const struct claim *claim, const struct item *item, size_t s)
{
    for (size_t i = 0; i < claim->n_sources; i++)
        if (claim->sources[i] == s)
            return true;
    if (claim->sources)
        return false;
    double expected =
        ((double)claim->target + 0.5) / (double)item->head->n_steps * (double)item->head->tokens->n;
    return fabs((double)s + 0.5 - expected) <= DIAGONAL_REACH * (double)item->head->tokens->n + 1;
}

/* Returns the source token, except special ones, with the largest mean weight over the chosen
 * heads. */
static size_t favourite(const struct item *item, const struct choice *choice, size_t step)
{
    size_t best = SIZE_MAX;
    double most = -1;
    for (size_t s = 0; s < item->head->tokens->n; s++) {
        double sum = 0;
        if (item->head->tokens->tokens[s].special)
            continue;
        for (size_t i = 0; i < choice->n; i++)
            sum += (double)mt_trace_row(item->head->trace, MT_TRACE_CROSS, choice->layers[i],
                                        choice->heads[i], step)[s];
        if (sum > most) {
            most = sum;
            best = s;
        }
    }
    return best;
}

/* Returns how often the token with the largest weight is among the claimed sources, weighted by the
 * claims. */
static double measure_hits(const struct finder *finder, const struct choice *choice)
{
    double hits = 0, total = 0;
    for (size_t i = 0; i < finder->sample.n; i++) {
        const struct item *item = &finder->items[i];
        for (size_t c = 0; c < item->n_claims; c++) {
            const struct claim *claim = &item->claims[c];
            size_t step = claim->target;
            if (choice->shift == MT_SHIFT_INPUT && step + 1 < item->head->n_steps)
                step++;
            size_t s = favourite(item, choice, step);
            total += claim->weight;
            if (s != SIZE_MAX && is_claimed(claim, item, s))
                hits += claim->weight;
        }
    }
    return total > 0 ? hits / total : 0;
}

static void consider(const struct finder *finder, struct choice *choice, struct choice *best)
{
    choice->score = measure_hits(finder, choice);
    /* Of two choices with the same score the one with more heads is better, since a mean is more
     * robust than a single head. */
    if (choice->score > best->score || (choice->score == best->score && choice->n > best->n))
        *best = *choice;
}

static void rank_heads(size_t n_heads, const double *scores, size_t *order)
{
    for (size_t i = 0; i < n_heads; i++) {
        size_t at = i;
        for (; at > 0 && scores[order[at - 1]] < scores[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Tries the best heads of one layer: the best one, the best two, ... up to all. */
static void try_layer(const struct finder *finder, size_t layer, enum mt_alignment_shift shift,
                      struct choice *best, struct mt_text *out)
{
    size_t n_heads = mt_size_min(finder->hparams->n_decoder_heads, MT_MAX_INDICES);
    double scores[MT_MAX_INDICES];
    size_t order[MT_MAX_INDICES];
    mt_text_appendf(out, "layer %zu, shift %-6s ", layer,
                    shift == MT_SHIFT_OUTPUT ? "output" : "input");
    for (size_t h = 0; h < n_heads; h++) {
        struct choice one = {.n = 1, .layers = {layer}, .heads = {h}, .shift = shift};
        scores[h] = measure_hits(finder, &one);
        mt_text_appendf(out, " %4.0f", 100 * scores[h]);
    }
    rank_heads(n_heads, scores, order);
    struct choice some = {.shift = shift};
    for (size_t k = 0; k < n_heads; k++) {
        some.layers[k] = layer;
        some.heads[k] = order[k];
        some.n = k + 1;
        consider(finder, &some, best);
    }
    mt_text_appendf(out, "   all %4.0f\n", 100 * some.score);
}

/* Tries all heads of neighbouring layers. */
static void try_layers(const struct finder *finder, size_t first, size_t last,
                       enum mt_alignment_shift shift, struct choice *best)
{
    size_t n_heads = finder->hparams->n_decoder_heads;
    struct choice all = {.shift = shift};
    for (size_t layer = first; layer <= last; layer++) {
        for (size_t h = 0; h < n_heads && all.n < MAX_PAIRS; h++) {
            all.layers[all.n] = layer;
            all.heads[all.n++] = h;
        }
    }
    consider(finder, &all, best);
}

/* Appends the different values among n, ascending: "0,2,3". */
static void append_values(struct mt_text *out, const size_t *values, size_t n)
{
    bool is_first = true;
    for (size_t value = 0; value < MT_MAX_INDICES; value++) {
        bool is_there = false;
        for (size_t i = 0; i < n; i++)
            is_there = is_there || values[i] == value;
        if (!is_there)
            continue;
        mt_text_appendf(out, "%s%zu", is_first ? "" : ",", value);
        is_first = false;
    }
}

static void report_best(const struct finder *finder, const struct choice *best, struct mt_text *out)
{
    const char *shift = best->shift == MT_SHIFT_OUTPUT ? "output" : "input";
    mt_text_appendf(out,
                    "\nbest: right for %.1f%% of %zu known links, %zu anchors and the diagonal\n"
                    "--alignment-layers ",
                    100 * best->score, finder->n_known, finder->n_anchors);
    append_values(out, best->layers, best->n);
    mt_text_append_string(out, " --alignment-heads ");
    append_values(out, best->heads, best->n);
    mt_text_appendf(out, " --alignment-shift %s\n\"alignment\": {\"layers\": [", shift);
    append_values(out, best->layers, best->n);
    mt_text_append_string(out, "], \"heads\": [");
    append_values(out, best->heads, best->n);
    mt_text_appendf(out, "], \"shift\": \"%s\"}\n", shift);
}

static void try_all(const struct finder *finder, struct mt_text *out)
{
    struct choice best = {.score = -1};
    mt_text_appendf(out, "percent right, by head 0 to %zu, and their mean\n",
                    finder->hparams->n_decoder_heads - 1);
    for (int shift = MT_SHIFT_OUTPUT; shift <= MT_SHIFT_INPUT; shift++)
        for (size_t layer = 0; layer < finder->hparams->n_decoder_layers; layer++)
            try_layer(finder, layer, (enum mt_alignment_shift)shift, &best, out);
    for (int shift = MT_SHIFT_OUTPUT; shift <= MT_SHIFT_INPUT; shift++)
        for (size_t first = 0; first < finder->hparams->n_decoder_layers; first++)
            for (size_t last = first + 1; last < finder->hparams->n_decoder_layers; last++)
                try_layers(finder, first, last, (enum mt_alignment_shift)shift, &best);
    report_best(finder, &best, out);
}

static enum mt_status run(struct finder *finder, struct mt_text *out, struct mt_error *err)
{
    struct mt_head_sample *sample = &finder->sample;
    finder->items = calloc(sample->n + 1, sizeof *finder->items);
    if (!finder->items)
        return mt_fail_memory(err, sample->n * sizeof *finder->items, "a sample");
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sample->n && !status; i++) {
        finder->items[i].head = &sample->items[i];
        status = add_claims(finder, &finder->items[i], err);
        if (status)
            status = mt_head_sample_fail(sample, i, status, err);
    }
    if (!status)
        try_all(finder, out);
    for (size_t i = 0; i < sample->n; i++)
        finish_item(&finder->items[i]);
    free(finder->items);
    return status ? status : mt_text_check(out, "the report", err);
}

enum mt_status mt_find_alignment_heads(const struct mt_model *model,
                                       const struct mt_settings *settings, const char *path,
                                       struct mt_text *out, struct mt_error *err)
{
    struct finder finder = {.hparams = mt_model_hparams(model)};
    enum mt_status status =
        mt_head_sample_read(model, settings, path, MT_TRACE_CROSS, &finder.sample, err);
    if (!status)
        status = run(&finder, out, err);
    mt_head_sample_finish(&finder.sample);
    return status;
}
