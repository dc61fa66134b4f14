#include "server/inspection/head_report.h"

#include "base/size.h"
#include "model/lens.h"
#include "model/model.h"
#include "server/inspection/alignment.h"
#include "server/inspection/head_sample.h"
#include "server/inspection/inspection.h"
#include "server/inspection/inspection_state.h"
#include "server/inspection/inspection_translation.h"
#include "server/text/translation.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

/* A head has a role if this fraction of its weight is at one kind of position. */
#define ROLE_SHARE 0.4

/* A sentence divided into words, and what has been computed for it. */
struct gold {
    const struct mt_head_item *item;
    struct mt_known_links links;
    size_t *source_words, *target_words; /* the word of each token; SIZE_MAX: none */
    size_t n_sources, n_targets;         /* numbers of words */
    float *rollout;                      /* [n_steps, n_tokens] */
    float *value_norms;                  /* [layers, heads, n_tokens] */
};

struct report {
    struct mt_head_sample sample;
    const struct mt_hparams *hparams;
    struct mt_inspection_model description;
    const struct mt_alignment_choice *alignment; /* in use */
    struct gold *golds;
    double *scratch; /* for one word's weights, and for one row's */
};

enum weighing { BY_WEIGHT, BY_VALUE, BY_ROLLOUT };

/* Heads that are combined: all of some layers with all of some heads. */
struct method {
    struct mt_selection heads;
    enum mt_alignment_mode mode;
    enum mt_alignment_shift shift;
    enum weighing weighing;
};

struct score {
    double error_rate, share; /* error rate of the links; weight on the right words */
};

/* Words ---------------------------------------------------------------------------------------- */

static size_t count_words(const char *text)
{
    size_t n = 0;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        at += strcspn(at, " ");
        n++;
    }
    return n;
}

static enum mt_status check_links(const struct gold *gold, struct mt_error *err)
{
    for (size_t i = 0; i < gold->links.n; i++) {
        size_t source = gold->links.sources[i], target = gold->links.targets[i];
        if (source >= gold->n_sources || target >= gold->n_targets)
            return mt_fail(err, MT_INVALID,
                           "alignment: found %zu-%zu, but there are %zu words in the source and "
                           "%zu in the translation, counted from 0",
                           source, target, gold->n_sources, gold->n_targets);
    }
    return MT_OK;
}

static enum mt_status compute_norms(struct report *report, struct gold *gold, struct mt_error *err)
{
    const struct mt_trace *trace = gold->item->trace;
    size_t n_layers = report->hparams->n_decoder_layers;
    size_t n = report->hparams->n_decoder_heads * gold->item->tokens->n;
    gold->value_norms = calloc(n_layers * n + 1, sizeof *gold->value_norms);
    if (!gold->value_norms)
        return mt_fail_memory(err, n_layers * n * sizeof *gold->value_norms, "lengths of values");
    enum mt_status status = MT_OK;
    for (size_t l = 0; l < n_layers && !status; l++)
        status = mt_lens_value_norms(report->sample.model, trace, MT_TRACE_CROSS, l,
                                     gold->value_norms + l * n, err);
    return status;
}

static enum mt_status compute_rollout(struct report *report, struct gold *gold,
                                      struct mt_error *err)
{
    size_t n_steps = gold->item->n_steps, n_source = gold->item->tokens->n;
    double *work = calloc(mt_rollout_work_size(n_steps, n_source), sizeof *work);
    gold->rollout = calloc(n_steps * n_source + 1, sizeof *gold->rollout);
    enum mt_status status = MT_OK;
    const struct mt_attention attention = mt_attention_of_trace(gold->item->trace);
    if (!work || !gold->rollout)
        status = mt_fail_memory(err, n_steps * n_source * sizeof *gold->rollout, "rollout");
    else
        mt_rollout_run(&report->description, &attention, n_steps, n_source, work, gold->rollout);
    free(work);
    return status;
}

static enum mt_status prepare(struct report *report, const struct mt_head_item *item,
                              struct gold *gold, struct mt_error *err)
{
    gold->item = item;
    if (!item->sentence || !item->target || !item->links)
        return mt_fail(err, MT_INVALID,
                       "expected a source, a TAB, its translation, a TAB and links like 0-0 1-2");
    gold->n_sources = count_words(item->source);
    gold->n_targets = count_words(item->target_words);
    enum mt_status status = mt_known_links_parse(item->links, &gold->links, err);
    if (!status)
        status = check_links(gold, err);
    if (status)
        return status;
    gold->source_words = calloc(item->tokens->n + 1, sizeof *gold->source_words);
    gold->target_words = calloc(item->n_steps + 1, sizeof *gold->target_words);
    if (!gold->source_words || !gold->target_words)
        return mt_fail_memory(err, item->n_steps * sizeof *gold->target_words, "words");
    for (size_t s = 0; s < item->tokens->n; s++)
        gold->source_words[s] = item->tokens->tokens[s].end > item->tokens->tokens[s].begin
                                    ? mt_head_item_source_word(item, s)
                                    : SIZE_MAX;
    status = mt_head_item_target_words(&report->sample, item, gold->target_words, err);
    if (!status)
        status = compute_norms(report, gold, err);
    return status ? status : compute_rollout(report, gold, err);
}

static void finish_gold(struct gold *gold)
{
    mt_known_links_finish(&gold->links);
    free(gold->source_words);
    free(gold->target_words);
    free(gold->rollout);
    free(gold->value_norms);
}

/* Error rates ---------------------------------------------------------------------------------- */

/* Returns the method's weight of source token s at a step. */
static double weight_at(const struct report *report, const struct gold *gold,
                        const struct method *method, size_t step, size_t s)
{
    size_t n_source = gold->item->tokens->n, n_heads = report->hparams->n_decoder_heads;
    double sum = 0;
    if (method->weighing == BY_ROLLOUT)
        return (double)gold->rollout[step * n_source + s];
    for (size_t i = 0; i < method->heads.n_layers; i++) {
        for (size_t k = 0; k < method->heads.n_heads; k++) {
            size_t layer = method->heads.layers[i], head = method->heads.heads[k];
            double weight =
                (double)mt_trace_row(gold->item->trace, MT_TRACE_CROSS, layer, head, step)[s];
            if (method->weighing == BY_VALUE)
                weight *= (double)gold->value_norms[(layer * n_heads + head) * n_source + s];
            if (method->mode == MT_ALIGNMENT_MAX)
                sum = weight > sum ? weight : sum;
            else
                sum += weight;
        }
    }
    return sum;
}

/* Adds a step's weights, normalised to 1, to those of the source's words. */
static void add_step(const struct report *report, const struct gold *gold,
                     const struct method *method, size_t step, double *words)
{
    double total = 0, *row = words + gold->n_sources;
    for (size_t s = 0; s < gold->item->tokens->n; s++)
        total += row[s] = weight_at(report, gold, method, step, s);
    for (size_t s = 0; s < gold->item->tokens->n && total > 0; s++)
        if (gold->source_words[s] < gold->n_sources)
            words[gold->source_words[s]] += row[s] / total;
}

static bool is_known(const struct gold *gold, size_t source, size_t target)
{
    for (size_t i = 0; i < gold->links.n; i++)
        if (gold->links.sources[i] == source && gold->links.targets[i] == target)
            return true;
    return false;
}

struct counts {
    size_t right, found, known, n_words;
    double share;
};

static void count_word(const struct report *report, const struct gold *gold,
                       const struct method *method, size_t word, struct counts *counts)
{
    double *words = report->scratch;
    size_t n_steps = 0, best = 0;
    memset(words, 0, gold->n_sources * sizeof *words);
    for (size_t t = 0; t < gold->item->n_steps; t++) {
        bool is_last = t + 1 == gold->item->n_steps;
        if (gold->target_words[t] != word)
            continue;
        add_step(report, gold, method, t + (method->shift == MT_SHIFT_INPUT && !is_last), words);
        n_steps++;
    }
    if (!n_steps)
        return;
    for (size_t w = 0; w < gold->n_sources; w++) {
        if (words[w] > words[best])
            best = w;
        if (is_known(gold, w, word))
            counts->share += words[w] / (double)n_steps;
    }
    counts->right += is_known(gold, best, word);
    counts->found++;
    counts->n_words++;
}

static struct score score_of(const struct report *report, const struct method *method)
{
    struct counts counts = {0};
    for (size_t i = 0; i < report->sample.n; i++) {
        const struct gold *gold = &report->golds[i];
        counts.known += gold->links.n;
        for (size_t word = 0; word < gold->n_targets; word++)
            count_word(report, gold, method, word, &counts);
    }
    size_t n = counts.found + counts.known;
    return (struct score){
        .error_rate = n ? 1 - 2 * (double)counts.right / (double)n : 1,
        .share = counts.n_words ? counts.share / (double)counts.n_words : 0,
    };
}

static struct method of_layers(const struct report *report, size_t first, size_t last)
{
    struct method method = {.shift = MT_SHIFT_OUTPUT};
    for (size_t l = first; l <= last && method.heads.n_layers < MT_MAX_INDICES; l++)
        method.heads.layers[method.heads.n_layers++] = l;
    for (size_t h = 0; h < report->hparams->n_decoder_heads && h < MT_MAX_INDICES; h++)
        method.heads.heads[method.heads.n_heads++] = h;
    return method;
}

static void report_method(const struct report *report, const char *name,
                          const struct method *method, struct mt_text *out)
{
    struct score score = score_of(report, method);
    mt_text_appendf(out, "%-42s %.3f  %3.0f %%\n", name, score.error_rate, 100 * score.share);
}

static const char *shift_name(enum mt_alignment_shift shift)
{
    return shift == MT_SHIFT_OUTPUT ? "output" : "input";
}

/* Whether a is better: it has fewer errors or, with as many, more weight on the right words. */
static bool is_better(const struct score *a, const struct score *b)
{
    return a->error_rate < b->error_rate || (a->error_rate == b->error_rate && a->share > b->share);
}

/* Reports each head of a layer, and its best heads together. *best gets these if they are
 * better. */
static void report_layer(const struct report *report, size_t layer, enum mt_alignment_shift shift,
                         struct method *best, struct score *best_score, struct mt_text *out)
{
    size_t n_heads = mt_size_min(report->hparams->n_decoder_heads, MT_MAX_INDICES);
    struct score scores[MT_MAX_INDICES];
    size_t order[MT_MAX_INDICES];
    mt_text_appendf(out, "layer %zu, shift %-6s ", layer, shift_name(shift));
    for (size_t h = 0; h < n_heads; h++) {
        struct method one = {.heads = {1, 1, {layer}, {h}}, .shift = shift};
        scores[h] = score_of(report, &one);
        mt_text_appendf(out, " %.3f", scores[h].error_rate);
        size_t at = h;
        for (; at > 0 && is_better(&scores[h], &scores[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = h;
    }
    struct method some = {.heads = {1, 0, {layer}, {0}}, .shift = shift};
    for (size_t k = 0; k < n_heads; k++) {
        some.heads.heads[some.heads.n_heads++] = order[k];
        struct score score = score_of(report, &some);
        if (is_better(&score, best_score)) {
            *best = some;
            *best_score = score;
        }
    }
    mt_text_append_string(out, "\n");
}

static void report_heads(const struct report *report, struct method *best, struct mt_text *out)
{
    struct score best_score = {.error_rate = 2};
    mt_text_appendf(out, "\nAER by head 0 to %zu\n", report->hparams->n_decoder_heads - 1);
    for (int shift = MT_SHIFT_OUTPUT; shift <= MT_SHIFT_INPUT; shift++)
        for (size_t layer = 0; layer < report->hparams->n_decoder_layers; layer++)
            report_layer(report, layer, (enum mt_alignment_shift)shift, best, &best_score, out);
}

/* Returns the heads that the model aligns with now. */
static enum mt_status own_method(const struct report *report, struct method *out,
                                 struct mt_error *err)
{
    struct mt_alignment_choice own = *report->alignment;
    if (!own.layers.n && !own.heads.n && report->description.has_cell)
        mt_alignment_guided(&own.layers, &own.heads);
    if (!own.layers.n)
        mt_alignment_default_layers(report->hparams->n_decoder_layers, &own.layers);
    *out = (struct method){.mode = own.mode, .shift = own.shift};
    return mt_inspection_select(&report->description, MT_TRACE_CROSS, &own.layers, &own.heads,
                                &out->heads, err);
}

static enum mt_status report_methods(const struct report *report, struct mt_text *out,
                                     struct mt_error *err)
{
    size_t last = report->hparams->n_decoder_layers - 1;
    struct method method;
    enum mt_status status = own_method(report, &method, err);
    if (status)
        return status;
    mt_text_appendf(out, "%zu sentences\n\n%-42s %s    %s\n", report->sample.n, "method", "AER",
                    "weight on the right words");
    report_method(report, "the model's alignment as it is set", &method, out);
    method = of_layers(report, report->hparams->n_decoder_layers / 2, last);
    report_method(report, "mean of the upper half", &method, out);
    method = of_layers(report, last, last);
    report_method(report, "mean of the last layer", &method, out);
    method.weighing = BY_VALUE;
    report_method(report, "mean of the last layer, value-weighted", &method, out);
    method.weighing = BY_ROLLOUT;
    if (!report->description.has_cell)
        report_method(report, "rollout", &method, out);
    return MT_OK;
}

/* Roles ---------------------------------------------------------------------------------------- */

enum role { PREVIOUS, NEXT, SAME, SEPARATOR, ALIGNMENT, N_ROLES };
static const char *const role_names[N_ROLES] = {
    [PREVIOUS] = "previous token", [NEXT] = "next token",     [SAME] = "diagonal",
    [SEPARATOR] = "separator",     [ALIGNMENT] = "alignment",
};

/* Whether the piece is an end of sentence, or punctuation. */
static bool is_separator(const char *piece)
{
    for (const char *at = piece; at && *at; at += mt_utf8_length((unsigned char)*at))
        if (u_isalnum((UChar32)mt_utf8_decode(at)))
            return false;
    return true;
}

/* Returns the piece of a column; NULL for a special one. */
static const char *column_piece(const struct report *report, const struct gold *gold,
                                enum mt_trace_kind kind, size_t column)
{
    if (kind == MT_TRACE_DECODER)
        return column ? mt_head_item_piece(&report->sample, gold->item, column - 1) : NULL;
    const struct mt_token *token = &gold->item->tokens->tokens[column];
    return token->special ? NULL : token->piece;
}

/* Adds a row's weights to the shares of the positions that they are at. For the cross-attention,
 * SAME is the source token at the same relative position as the row in the translation. */
static void add_row(const struct report *report, const struct gold *gold, enum mt_trace_kind kind,
                    const float *row, size_t at, const struct mt_trace_shape *shape, double *shares)
{
    size_t same = kind == MT_TRACE_CROSS ? at * shape->n_columns / shape->n_rows : at;
    for (size_t c = 0; c < shape->n_columns; c++) {
        double weight = (double)row[c] / (double)shape->n_rows;
        if (c == same)
            shares[SAME] += weight;
        else if (kind != MT_TRACE_CROSS && c + 1 == at)
            shares[PREVIOUS] += weight;
        else if (kind == MT_TRACE_ENCODER && c == at + 1)
            shares[NEXT] += weight;
        if (is_separator(column_piece(report, gold, kind, c)))
            shares[SEPARATOR] += weight;
    }
}

static void report_role(const struct report *report, enum mt_trace_kind kind, const char *name,
                        size_t layer, size_t head, struct mt_text *out)
{
    double shares[N_ROLES] = {0};
    for (size_t i = 0; i < report->sample.n; i++) {
        const struct mt_trace *trace = report->golds[i].item->trace;
        const struct mt_trace_shape shape = mt_trace_shape(trace, kind);
        for (size_t row = 0; row < shape.n_rows; row++)
            add_row(report, &report->golds[i], kind, mt_trace_row(trace, kind, layer, head, row),
                    row, &shape, shares);
    }
    for (size_t role = 0; role < N_ROLES; role++)
        shares[role] /= (double)report->sample.n;
    for (int shift = MT_SHIFT_OUTPUT; kind == MT_TRACE_CROSS && shift <= MT_SHIFT_INPUT; shift++) {
        struct method one = {.heads = {1, 1, {layer}, {head}},
                             .shift = (enum mt_alignment_shift)shift};
        double share = score_of(report, &one).share;
        if (share > shares[ALIGNMENT])
            shares[ALIGNMENT] = share;
    }
    size_t best = 0;
    for (size_t role = 1; role < N_ROLES; role++)
        if (shares[role] > shares[best])
            best = role;
    if (shares[best] >= ROLE_SHARE)
        mt_text_appendf(out, "%s.%zu.%zu  %-15s %3.0f %%\n", name, layer, head, role_names[best],
                        100 * shares[best]);
}

static void report_roles(const struct report *report, struct mt_text *out)
{
    const struct mt_hparams *h = report->hparams;
    const struct {
        enum mt_trace_kind kind;
        const char *name;
        size_t n_layers, n_heads;
    } kinds[] = {
        {MT_TRACE_ENCODER, "encoder", h->n_encoder_layers, h->n_encoder_heads},
        {MT_TRACE_DECODER, "decoder", report->description.has_cell ? 0 : h->n_decoder_layers,
         h->n_decoder_heads},
        {MT_TRACE_CROSS, "cross", h->n_decoder_layers, h->n_decoder_heads},
    };
    mt_text_appendf(out, "\nroles of heads, and the share of their weight; below %.0f %% none\n",
                    100 * ROLE_SHARE);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (size_t layer = 0; layer < kinds[k].n_layers; layer++)
            for (size_t head = 0; head < kinds[k].n_heads; head++)
                report_role(report, kinds[k].kind, kinds[k].name, layer, head, out);
}

/* The report ----------------------------------------------------------------------------------- */

/* Appends values in ascending order: "1,2,7". */
static void append_list(struct mt_text *out, const size_t *values, size_t n)
{
    bool is_first = true;
    for (size_t value = 0; value < MT_MAX_INDICES; value++)
        for (size_t i = 0; i < n; i++)
            if (values[i] == value) {
                mt_text_appendf(out, "%s%zu", is_first ? "" : ",", value);
                is_first = false;
            }
}

static void report_setting(const struct report *report, const struct method *best,
                           struct mt_text *out)
{
    struct score score = score_of(report, best);
    mt_text_appendf(out,
                    "\nfewest errors, AER %.3f with %.0f %% of the weight on the right words; for "
                    "attentiond.json:\n \"alignment_layers\": \"",
                    score.error_rate, 100 * score.share);
    append_list(out, best->heads.layers, best->heads.n_layers);
    mt_text_append_string(out, "\",\n \"alignment_heads\": \"");
    append_list(out, best->heads.heads, best->heads.n_heads);
    mt_text_appendf(out, "\",\n \"alignment_shift\": \"%s\"\n", shift_name(best->shift));
}

static enum mt_status prepare_all(struct report *report, struct mt_error *err)
{
    struct mt_head_sample *sample = &report->sample;
    size_t most = 0;
    report->golds = calloc(sample->n + 1, sizeof *report->golds);
    if (!report->golds)
        return mt_fail_memory(err, sample->n * sizeof *report->golds, "sentences");
    for (size_t i = 0; i < sample->n; i++) {
        struct gold *gold = &report->golds[i];
        enum mt_status status = prepare(report, &sample->items[i], gold, err);
        if (status)
            return mt_head_sample_fail(sample, i, status, err);
        most = mt_size_max(most, gold->n_sources + gold->item->tokens->n);
    }
    report->scratch = calloc(most + 1, sizeof *report->scratch);
    return report->scratch ? MT_OK : mt_fail_memory(err, most * sizeof *report->scratch, "weights");
}

static void finish(struct report *report)
{
    for (size_t i = 0; i < report->sample.n && report->golds; i++)
        finish_gold(&report->golds[i]);
    free(report->golds);
    free(report->scratch);
    mt_head_sample_finish(&report->sample);
}

enum mt_status mt_report_heads(const struct mt_model *model, const struct mt_settings *settings,
                               const struct mt_alignment_choice *alignment, const char *path,
                               struct mt_text *out, struct mt_error *err)
{
    struct report report = {.hparams = mt_model_hparams(model),
                            .alignment = alignment,
                            .description = mt_inspection_describe_model(model, NULL, NULL, NULL)};
    unsigned trace = MT_TRACE_ENCODER | MT_TRACE_DECODER | MT_TRACE_CROSS | MT_TRACE_CROSS_VALUES;
    struct method best;
    enum mt_status status = mt_head_sample_read(model, settings, path, trace, &report.sample, err);
    if (!status)
        status = prepare_all(&report, err);
    if (!status)
        status = report_methods(&report, out, err);
    if (!status) {
        report_heads(&report, &best, out);
        report_roles(&report, out);
        report_setting(&report, &best, out);
    }
    finish(&report);
    return status ? status : mt_text_check(out, "the report", err);
}
