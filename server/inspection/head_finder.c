#include "server/inspection/head_finder.h"

#include "base/file.h"
#include "base/size.h"
#include "config/settings.h"
#include "model/model.h"
#include "server/inspection/alignment.h"
#include "server/engine/decode.h"
#include "server/inspection/inspection.h"
#include "server/text/direction.h"
#include "server/text/translation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

#define MAX_FILE_BYTES ((size_t)8 << 20)
#define PUNCTUATION_WEIGHT 0.1
#define DIAGONAL_WEIGHT 0.02
/* Half the width of the diagonal, as a share of the source. */
#define DIAGONAL_REACH 0.15
#define MAX_PAIRS 512

/* "Output token target comes from these sources": what a head can be right or wrong about. */
struct claim {
    size_t target;
    size_t *sources; /* ascending; NULL: those near the diagonal */
    size_t n_sources;
    double weight;
};

struct item {
    struct mt_translation *translation;
    const struct mt_sentence *sentence;
    const struct mt_trace *trace;
    const struct mt_token_list *source;
    size_t n_steps;
    struct claim *claims;
    size_t n_claims;
};

struct finder {
    const struct mt_model *model;
    const struct mt_settings *settings;
    const struct mt_hparams *hparams;
    struct item *items;
    size_t n, n_anchors, n_known;
};

/* A choice of heads, and how often it is right, from 0 to 1. */
struct choice {
    size_t n;
    size_t layers[MAX_PAIRS],
        heads[MAX_PAIRS]; /* pairs: all of some layers with all of some heads */
    enum mt_alignment_shift shift;
    double score;
};

/* The sample ----------------------------------------------------------------------------------- */

static void finish_item(struct item *item)
{
    for (size_t i = 0; i < item->n_claims; i++)
        free(item->claims[i].sources);
    free(item->claims);
    mt_translation_destroy(item->translation);
}

/* Cuts a line at its TABs; absent fields are NULL. */
static void cut_line(char *line, char *fields[3])
{
    for (size_t i = 0; i < 3; i++) {
        fields[i] = line;
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = '\0';
    }
}

static enum mt_status create_item(struct finder *finder, char *const fields[3], struct item *item,
                                  struct mt_error *err)
{
    const struct mt_settings *settings = finder->settings;
    struct mt_translation_options options = {
        .decoding = {.beam_size = (size_t)settings->beam_size, .trace = MT_TRACE_CROSS},
        .split = MT_SPLIT_OFF,
        .forced_target_text = fields[1] && fields[1][0] ? fields[1] : NULL,
    };
    struct mt_text_direction direction;
    enum mt_status status =
        mt_text_direction_choose(mt_model_tokenizer(finder->model), settings->source_lang,
                                 settings->target_lang, &direction, err);
    if (status)
        return status;
    mt_text_direction_set(&direction, &options);
    status = mt_translation_create(finder->model, fields[0], strlen(fields[0]), &options,
                                   &item->translation, err);
    if (status || mt_translation_n_sentences(item->translation) == 0)
        return status;
    struct mt_translation_part part = mt_translation_part(item->translation, 0);
    item->sentence = part.sentence;
    item->source = part.source_tokens;
    return MT_OK;
}

static enum mt_status decode_all(struct finder *finder, struct mt_error *err)
{
    struct mt_sentence **sentences = calloc(finder->n + 1, sizeof *sentences);
    size_t n = 0;
    if (!sentences)
        return mt_fail_memory(err, finder->n * sizeof *sentences, "sentences");
    for (size_t i = 0; i < finder->n; i++)
        if (finder->items[i].sentence)
            sentences[n++] = mt_translation_part(finder->items[i].translation, 0).sentence;
    enum mt_status status =
        mt_decode(finder->model, (size_t)finder->settings->threads_per_worker,
                  (size_t)finder->settings->max_batch_rows, sentences, n, NULL, NULL, err);
    free(sentences);
    for (size_t i = 0; i < finder->n && !status; i++) {
        struct item *item = &finder->items[i];
        if (!item->sentence)
            continue;
        item->trace = mt_sentence_trace(item->sentence);
        item->n_steps = mt_sentence_hypothesis(item->sentence, 0).n_ids;
    }
    return status;
}

/* Claims --------------------------------------------------------------------------------------- */

static enum mt_status add_claim(struct item *item, size_t target, const size_t *sources, size_t n,
                                double weight, struct mt_error *err)
{
    struct claim *claims = realloc(item->claims, (item->n_claims + 1) * sizeof *claims);
    if (!claims)
        return mt_fail_memory(err, (item->n_claims + 1) * sizeof *claims, "alignment claims");
    item->claims = claims;
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

static const char *target_piece(const struct finder *finder, const struct item *item, size_t t)
{
    int32_t id = mt_sentence_hypothesis(item->sentence, 0).ids[t];
    const char *piece = mt_tokenizer_target_piece(mt_model_tokenizer(finder->model), id);
    bool is_special = id == finder->hparams->eos_id || id == finder->hparams->pad_id;
    return piece && !is_special ? piece : NULL;
}

static size_t count_source(const struct item *item, const char *piece, size_t *where)
{
    size_t n = 0;
    for (size_t s = 0; s < item->source->n; s++) {
        const struct mt_token *token = &item->source->tokens[s];
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
    for (size_t t = 0; t < item->n_steps; t++) {
        const char *other = target_piece(finder, item, t);
        n += other && strcmp(other, piece) == 0;
    }
    return n;
}

/* Where a model looks for a full stop says little about its words. */
static double anchor_weight(const char *piece)
{
    for (const char *at = piece; *at; at += mt_utf8_length((unsigned char)*at))
        if (u_isalnum((UChar32)mt_utf8_decode(at)))
            return 1;
    return PUNCTUATION_WEIGHT;
}

/* Twins: pieces that occur once on both sides. The lone blank is none. */
static enum mt_status add_anchors(struct finder *finder, struct item *item, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t t = 0; t < item->n_steps && !status; t++) {
        const char *piece = target_piece(finder, item, t);
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
    for (size_t t = 0; t < item->n_steps && !status; t++)
        if (target_piece(finder, item, t))
            status = add_claim(item, t, NULL, 0, DIAGONAL_WEIGHT, err);
    return status;
}

/* The number of the word, counted by blanks, that begins at or before text[at]. */
static size_t word_at(const char *text, size_t at)
{
    size_t n = 0;
    bool in_word = false;
    for (size_t i = 0; i <= at && text[i]; i++) {
        bool is_blank = text[i] == ' ';
        n += !is_blank && !in_word;
        in_word = !is_blank;
    }
    return n ? n - 1 : 0;
}

struct known_links {
    size_t *sources, *targets;
    size_t n;
};

/* "0-0 1-2": malloc'd. */
static enum mt_status parse_links(const char *text, struct known_links *out, struct mt_error *err)
{
    size_t capacity = strlen(text) / 3 + 2;
    out->sources = calloc(capacity, sizeof *out->sources);
    out->targets = calloc(capacity, sizeof *out->targets);
    if (!out->sources || !out->targets)
        return mt_fail_memory(err, capacity * sizeof *out->sources, "alignment links");
    while (*text) {
        int length = 0;
        unsigned source, target;
        if (sscanf(text, " %5u-%5u%n", &source, &target, &length) != 2)
            return mt_fail(err, MT_INVALID, "alignment: found \"%.40s\", expected pairs like 0-0",
                           text);
        out->sources[out->n] = source;
        out->targets[out->n++] = target;
        text += length;
        text += strspn(text, " \r");
    }
    return MT_OK;
}

/* A claim for one output token: the pieces of all source words that its word is linked to. */
static enum mt_status add_known_token(struct finder *finder, struct item *item, const char *source,
                                      size_t t, size_t word, const struct known_links *links,
                                      size_t *scratch, struct mt_error *err)
{
    size_t n = 0;
    for (size_t s = 0; s < item->source->n; s++) {
        const struct mt_token *token = &item->source->tokens[s];
        bool is_linked = false;
        for (size_t i = 0; i < links->n && !token->special; i++)
            is_linked = is_linked || (links->targets[i] == word &&
                                      links->sources[i] == word_at(source, token->begin));
        if (is_linked)
            scratch[n++] = s;
    }
    if (!n)
        return MT_OK;
    finder->n_known++;
    return add_claim(item, t, scratch, n, 1, err);
}

static enum mt_status add_known(struct finder *finder, struct item *item, const char *source,
                                const struct known_links *links, struct mt_error *err)
{
    const struct mt_hypothesis best = mt_sentence_hypothesis(item->sentence, 0);
    struct mt_span *spans = calloc(best.n_ids + 1, sizeof *spans);
    size_t *scratch = calloc(item->source->n + 1, sizeof *scratch);
    struct mt_text text = {0};
    enum mt_status status = MT_OK;
    if (!spans || !scratch)
        status = mt_fail_memory(err, best.n_ids * sizeof *spans, "alignment claims");
    if (!status)
        status = mt_detokenize(mt_model_tokenizer(finder->model), best.ids, best.n_ids, spans,
                               &text, err);
    for (size_t t = 0; t < best.n_ids && !status; t++)
        if (target_piece(finder, item, t) && spans[t].end > spans[t].begin)
            status = add_known_token(finder, item, source, t, word_at(text.bytes, spans[t].begin),
                                     links, scratch, err);
    mt_text_finish(&text);
    free(scratch);
    free(spans);
    return status;
}

static enum mt_status add_claims(struct finder *finder, struct item *item, char *const fields[3],
                                 struct mt_error *err)
{
    struct known_links links = {0};
    enum mt_status status = MT_OK;
    if (!item->sentence)
        return MT_OK;
    if (fields[2] && fields[2][0]) {
        status = parse_links(fields[2], &links, err);
        if (!status)
            status = add_known(finder, item, fields[0], &links, err);
    } else {
        status = add_anchors(finder, item, err);
    }
    free(links.sources);
    free(links.targets);
    return status ? status : add_diagonal(finder, item, err);
}

/* Judging -------------------------------------------------------------------------------------- */

static bool is_claimed(const struct claim *claim, const struct item *item, size_t s)
{
    for (size_t i = 0; i < claim->n_sources; i++)
        if (claim->sources[i] == s)
            return true;
    if (claim->sources)
        return false;
    double expected =
        ((double)claim->target + 0.5) / (double)item->n_steps * (double)item->source->n;
    return fabs((double)s + 0.5 - expected) <= DIAGONAL_REACH * (double)item->source->n + 1;
}

/* The source token, special ones aside, with the largest mean weight over the chosen heads. */
static size_t favourite(const struct item *item, const struct choice *choice, size_t step)
{
    size_t best = SIZE_MAX;
    double most = -1;
    for (size_t s = 0; s < item->source->n; s++) {
        double sum = 0;
        if (item->source->tokens[s].special)
            continue;
        for (size_t i = 0; i < choice->n; i++)
            sum += (double)mt_trace_row(item->trace, MT_TRACE_CROSS, choice->layers[i],
                                        choice->heads[i], step)[s];
        if (sum > most) {
            most = sum;
            best = s;
        }
    }
    return best;
}

/* How often the choice's favourite is among the claimed sources, by weight of the claims. */
static double judge(const struct finder *finder, const struct choice *choice)
{
    double hits = 0, total = 0;
    for (size_t i = 0; i < finder->n; i++) {
        const struct item *item = &finder->items[i];
        for (size_t c = 0; c < item->n_claims; c++) {
            const struct claim *claim = &item->claims[c];
            size_t step = claim->target;
            if (choice->shift == MT_SHIFT_INPUT && step + 1 < item->n_steps)
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
    choice->score = judge(finder, choice);
    /* Of equals the one of more heads: a mean is steadier than a single head. */
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

/* The best heads of one layer: the best one, the best two, ... up to all. */
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
        scores[h] = judge(finder, &one);
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

/* All heads of neighbouring layers. */
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

/* The different values among n, ascending: "0,2,3". */
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

/* Reading -------------------------------------------------------------------------------------- */

static enum mt_status fail_in_line(struct mt_error *err, enum mt_status status, const char *path,
                                   size_t line)
{
    char context[256];
    snprintf(context, sizeof context, "%.200s, line %zu", path, line + 1);
    return mt_fail_in(err, status, context);
}

static size_t cut_file(char *bytes, char **lines)
{
    size_t n = 0;
    for (char *rest = NULL, *line = strtok_r(bytes, "\n", &rest); line && n < MT_HEAD_SAMPLE_LINES;
         line = strtok_r(NULL, "\n", &rest))
        lines[n++] = line;
    return n;
}

static enum mt_status run(struct finder *finder, const char *path, char *bytes, struct mt_text *out,
                          struct mt_error *err)
{
    char **lines = calloc(MT_HEAD_SAMPLE_LINES, sizeof *lines);
    char *(*fields)[3] = calloc(MT_HEAD_SAMPLE_LINES, sizeof *fields);
    finder->items = calloc(MT_HEAD_SAMPLE_LINES, sizeof *finder->items);
    enum mt_status status = MT_OK;
    if (!lines || !fields || !finder->items)
        status = mt_fail_memory(err, MT_HEAD_SAMPLE_LINES * sizeof *finder->items, "a sample");
    size_t n = status ? 0 : cut_file(bytes, lines);
    for (size_t i = 0; i < n && !status; i++) {
        cut_line(lines[i], fields[i]);
        finder->n++;
        status = create_item(finder, fields[i], &finder->items[i], err);
        if (status)
            status = fail_in_line(err, status, path, i);
    }
    if (!status)
        status = decode_all(finder, err);
    for (size_t i = 0; i < finder->n && !status; i++) {
        status = add_claims(finder, &finder->items[i], fields[i], err);
        if (status)
            status = fail_in_line(err, status, path, i);
    }
    if (!status && !finder->n)
        status = mt_fail(err, MT_INVALID, "%s has no sentences", path);
    if (!status)
        try_all(finder, out);
    for (size_t i = 0; i < finder->n; i++)
        finish_item(&finder->items[i]);
    free(finder->items);
    free(fields);
    free(lines);
    return status ? status : mt_text_check(out, "the report", err);
}

enum mt_status mt_find_alignment_heads(const struct mt_model *model,
                                       const struct mt_settings *settings, const char *path,
                                       struct mt_text *out, struct mt_error *err)
{
    struct finder finder = {
        .model = model, .settings = settings, .hparams = mt_model_hparams(model)};
    char *bytes;
    size_t length;
    enum mt_status status = mt_file_read(path, MAX_FILE_BYTES, &bytes, &length, err);
    if (status)
        return status;
    size_t valid = mt_utf8_valid_prefix(bytes, length);
    if (valid < length)
        status = mt_fail(err, MT_FORMAT, "%s is not UTF-8 at byte %zu", path, valid);
    else
        status = run(&finder, path, bytes, out, err);
    free(bytes);
    return status;
}
