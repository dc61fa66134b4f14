#include "server/inspection/inspection_translation.h"

#include "base/real.h"
#include "base/size.h"
#include "model/model.h"
#include "server/text/translation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mt_inspection_model mt_inspection_describe_model(const struct mt_model *model,
                                                        const char *id, const char *source_lang,
                                                        const char *target_lang)
{
    const struct mt_hparams *hparams = mt_model_hparams(model);
    return (struct mt_inspection_model){
        .id = id,
        .source_lang = source_lang,
        .target_lang = target_lang,
        .n_encoder_layers = hparams->n_encoder_layers,
        .n_decoder_layers = hparams->n_decoder_layers,
        .n_encoder_heads = hparams->n_encoder_heads,
        .n_decoder_heads = hparams->n_decoder_heads,
        .d_model = hparams->d_model,
        .d_ff_encoder = hparams->d_ff_encoder,
        .d_ff_decoder = hparams->d_ff_decoder,
        .n_vocabulary = hparams->n_target_vocab,
        .has_cell = hparams->decoder_cell != MT_CELL_ATTENTION,
        .normalizes_before = hparams->normalize_before,
        .normalizes_embedding = hparams->normalize_embedding,
    };
}

/* Returns what has to be traced. The entropy of the whole distribution needs all logits, because
 * the most probable tokens alone do not determine it. */
static unsigned traces_of(const struct mt_inspection_options *options)
{
    static const struct {
        enum mt_quantity quantity;
        enum mt_trace_quantity traced[2]; /* MT_TRACED_WEIGHTS: nothing else is traced */
        bool is_of_stream;
    } needs[] = {
        {MT_QUANTITY_QUERIES, {MT_TRACED_QUERIES}, false},
        {MT_QUANTITY_KEYS, {MT_TRACED_KEYS}, false},
        {MT_QUANTITY_SCORES, {MT_TRACED_QUERIES, MT_TRACED_KEYS}, false},
        {MT_QUANTITY_VALUES, {MT_TRACED_VALUES}, false},
        {MT_QUANTITY_HEAD_OUTPUTS, {MT_TRACED_OUTPUTS}, false},
        {MT_QUANTITY_VALUE_WEIGHTED, {MT_TRACED_VALUES}, false},
        {MT_QUANTITY_STATES, {MT_TRACED_STREAM}, true},
        {MT_QUANTITY_SUBLAYERS, {MT_TRACED_ADDED}, true},
        {MT_QUANTITY_RESIDUALS, {MT_TRACED_STREAM, MT_TRACED_ADDED}, true},
        {MT_QUANTITY_HIDDEN, {MT_TRACED_HIDDEN}, true},
    };
    unsigned kinds = options->kinds, traces = kinds | MT_TRACE_CROSS;
    unsigned streams = kinds & MT_TRACE_ENCODER;
    if (kinds & (MT_TRACE_DECODER | MT_TRACE_CROSS))
        streams |= MT_TRACE_DECODER;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        for (size_t j = 0; j < 2 && options->include & 1u << needs[i].quantity; j++)
            if (needs[i].traced[j])
                traces |= (needs[i].is_of_stream ? streams : kinds) << needs[i].traced[j];
    if (options->include & 1u << MT_QUANTITY_ROLLOUT)
        traces |= MT_TRACE_ENCODER | MT_TRACE_DECODER;
    if (options->has_lens)
        traces |= MT_TRACE_DECODER_STATES;
    if (options->n_top)
        traces |= MT_TRACE_LOGITS;
    return traces;
}

void mt_inspection_require(const struct mt_inspection_options *options,
                           struct mt_sentence_options *decoding)
{
    decoding->trace = traces_of(options);
    decoding->kept_heads = options->kept_heads;
    decoding->n_top = options->n_top;
    decoding->return_logprobs = true;
    decoding->trace_search = options->search;
    if (options->n_alternatives) /* hypotheses of different tokens often have the same text */
        decoding->num_hypotheses = decoding->beam_size;
    decoding->switched_off = options->switched_off;
    decoding->n_switched_off = options->n_switched_off;
}

/* Returns the expected number of target tokens. Translations more than twice as long as their
 * source are rare. */
static size_t usual_steps(size_t n_source)
{
    return 2 * n_source + 16;
}

static size_t expected_steps(const struct mt_sentence *sentence, size_t n_source, bool is_forced)
{
    size_t most = mt_sentence_max_target(sentence);
    return is_forced ? most : mt_size_min(most, usual_steps(n_source));
}

/* Counts the heads that MT_TRACE_CROSS is kept of. */
static uint64_t n_cross_heads(const struct mt_hparams *h, const struct mt_kept_heads *kept)
{
    return kept->n > 0 ? kept->n : (uint64_t)h->n_decoder_layers * h->n_decoder_heads;
}

uint64_t mt_inspection_estimate_cross(const struct mt_model *model,
                                      const struct mt_inspection_options *options, size_t n_source)
{
    return n_cross_heads(mt_model_hparams(model), &options->kept_heads) * n_source *
           usual_steps(n_source);
}

/* The log is allocated for every step at the beginning. */
static uint64_t search_log_values(const struct mt_sentence *sentence)
{
    return (uint64_t)mt_sentence_max_target(sentence) * mt_sentence_n_rows(sentence) * 2 *
           (sizeof(struct mt_search_candidate) / sizeof(float));
}

/* Counts numbers by the shapes in trace.h, for a sentence of s and t tokens. */
static uint64_t traced_numbers(const struct mt_hparams *h,
                               const struct mt_inspection_options *options, size_t s, size_t t)
{
    const uint64_t d = h->d_model, le = h->n_encoder_layers, ld = h->n_decoder_layers;
    const unsigned traces = traces_of(options);
    const struct {
        unsigned kinds; /* the kinds that it is traced for */
        uint64_t n;
    } sizes[] = {
        {MT_TRACE_ENCODER, le * h->n_encoder_heads * s * s},
        {MT_TRACE_DECODER, ld * h->n_decoder_heads * t * t},
        {MT_TRACE_CROSS, n_cross_heads(h, &options->kept_heads) * t * s},
        {MT_TRACE_DECODER_STATES, (ld + 1) * t * d},
        {MT_TRACE_LOGITS, (uint64_t)t * h->n_target_vocab},
        {MT_TRACE_ENCODER_QUERIES | MT_TRACE_ENCODER_KEYS | MT_TRACE_ENCODER_VALUES |
             MT_TRACE_ENCODER_OUTPUTS,
         le * s * d},
        {MT_TRACE_DECODER_QUERIES | MT_TRACE_DECODER_KEYS | MT_TRACE_DECODER_VALUES |
             MT_TRACE_DECODER_OUTPUTS | MT_TRACE_CROSS_QUERIES | MT_TRACE_CROSS_OUTPUTS,
         ld * t * d},
        {MT_TRACE_CROSS_KEYS | MT_TRACE_CROSS_VALUES, ld * s * d},
        {MT_TRACE_ENCODER_STREAM, 3 * le * s * d},
        {MT_TRACE_DECODER_STREAM, 4 * ld * t * d},
        {MT_TRACE_ENCODER_ADDED, 2 * le * s * d},
        {MT_TRACE_DECODER_ADDED, 3 * ld * t * d},
        {MT_TRACE_ENCODER_HIDDEN, le * s * h->d_ff_encoder},
        {MT_TRACE_DECODER_HIDDEN, ld * t * h->d_ff_decoder},
    };
    uint64_t n = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        n += (uint64_t)__builtin_popcount(traces & sizes[i].kinds) * sizes[i].n;
    return n;
}

uint64_t mt_inspection_estimate_part(const struct mt_model *model,
                                     const struct mt_translation_part *part,
                                     const struct mt_inspection_options *options, bool is_forced)
{
    size_t s = part->source_tokens->n, t = expected_steps(part->sentence, s, is_forced);
    uint64_t n = traced_numbers(mt_model_hparams(model), options, s, t);
    if (options->search)
        n += search_log_values(part->sentence);
    return n;
}

uint64_t mt_inspection_estimate_traced(const struct mt_model *model,
                                       const struct mt_translation *translation,
                                       const struct mt_inspection_options *options, bool is_forced)
{
    uint64_t total = 0;
    for (size_t i = 0; i < mt_translation_n_sentences(translation); i++) {
        const struct mt_translation_part part = mt_translation_part(translation, i);
        if (!mt_sentence_trace(part.sentence))
            continue;
        total += mt_inspection_estimate_part(model, &part, options, is_forced);
    }
    return total;
}

/* What one sentence needs in addition to the struct itself. */
struct borrowed {
    struct mt_token *tokens;
    const struct mt_top_token **top;
    float *entropy;
    struct mt_lens_opinion *opinions;
    struct mt_top_token *opinion_top;
    float *value_norms[3];        /* of encoder, decoder, cross */
    struct mt_alternative *texts; /* translations that the search found, best first */
    size_t n_texts;
};

struct reader {
    const struct mt_model *model;
    const struct mt_inspection_model *description;
    uint64_t n_values;
    const struct mt_tokenizer *tokenizer;
    const struct mt_hparams *hparams;
    const struct mt_inspection_options *options;
    struct mt_translation *translation;
    struct mt_inspection_part *parts;
    struct borrowed *borrowed;
    struct mt_range *ranges;
    size_t n, n_traced;
    struct mt_text text;    /* the whole translation */
    struct mt_text scratch; /* one sentence, for its spans */
};

static bool is_special(const struct mt_hparams *hparams, int32_t id)
{
    return id == hparams->eos_id || id == hparams->pad_id || id == hparams->start_id;
}

static struct mt_token target_token(const struct reader *reader, int32_t id, struct mt_span span)
{
    const char *piece = mt_tokenizer_target_piece(reader->tokenizer, id);
    return (struct mt_token){
        .id = id,
        .special = is_special(reader->hparams, id),
        .unknown = id == mt_tokenizer_unk_id(reader->tokenizer),
        .begin = span.begin,
        .end = span.end,
        .piece = piece ? piece : "",
    };
}

static enum mt_status read_output(struct reader *reader, const struct mt_hypothesis *best,
                                  struct borrowed *borrowed, struct mt_error *err)
{
    struct mt_span *spans = calloc(best->n_ids + 1, sizeof *spans);
    borrowed->tokens = calloc(best->n_ids + 1, sizeof *borrowed->tokens);
    if (!spans || !borrowed->tokens) {
        free(spans);
        return mt_fail_memory(err, best->n_ids * sizeof *borrowed->tokens, "output tokens");
    }
    reader->scratch.length = 0;
    enum mt_status status =
        mt_detokenize(reader->tokenizer, best->ids, best->n_ids, spans, &reader->scratch, err);
    for (size_t t = 0; t < best->n_ids && !status; t++)
        borrowed->tokens[t] = target_token(reader, best->ids[t], spans[t]);
    free(spans);
    return status;
}

static bool has_text(const struct borrowed *borrowed, const char *text)
{
    for (size_t i = 0; i < borrowed->n_texts; i++)
        if (strcmp(borrowed->texts[i].text, text) == 0)
            return true;
    return false;
}

static enum mt_status read_texts(const struct reader *reader, const struct mt_sentence *sentence,
                                 struct borrowed *borrowed, struct mt_error *err)
{
    const size_t n_wanted = reader->options->n_alternatives + 1;
    borrowed->texts = calloc(n_wanted, sizeof *borrowed->texts);
    if (!borrowed->texts)
        return mt_fail_memory(err, n_wanted * sizeof *borrowed->texts, "alternatives");
    size_t n = mt_sentence_n_hypotheses(sentence);
    for (size_t rank = 0; rank < n && borrowed->n_texts < n_wanted; rank++) {
        const struct mt_hypothesis found = mt_sentence_hypothesis(sentence, rank);
        struct mt_text written = {0};
        char *text;
        enum mt_status status =
            mt_detokenize(reader->tokenizer, found.ids, found.n_ids, NULL, &written, err);
        if (!status)
            status = mt_text_take(&written, "an alternative", &text, NULL, err);
        if (status) {
            mt_text_finish(&written);
            return status;
        }
        if (has_text(borrowed, text))
            free(text);
        else
            borrowed->texts[borrowed->n_texts++] = (struct mt_alternative){text, found.score};
    }
    return MT_OK;
}

/* Computes the entropy in nats. With Z the sum of e^x: H = log Z - sum(x e^x) / Z. */
static float entropy_of(const float *logits, size_t n)
{
    float most = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (logits[i] > most)
            most = logits[i];
    double sum = 0, weighted = 0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)(logits[i] - most), e = mt_real_exp(x);
        sum += e;
        weighted += e > 0 ? x * e : 0;
    }
    return (float)(mt_real_log(sum) - weighted / sum);
}

static enum mt_status read_next_tokens(const struct mt_sentence *sentence, size_t n_steps,
                                       struct borrowed *borrowed, struct mt_error *err)
{
    const struct mt_trace *trace = mt_sentence_trace(sentence);
    struct mt_trace_shape logits = mt_trace_shape(trace, MT_TRACE_LOGITS);
    borrowed->top = calloc(n_steps + 1, sizeof *borrowed->top);
    borrowed->entropy = calloc(n_steps + 1, sizeof *borrowed->entropy);
    if (!borrowed->top || !borrowed->entropy)
        return mt_fail_memory(err, n_steps * sizeof *borrowed->top, "next tokens");
    for (size_t t = 0; t < n_steps; t++) {
        borrowed->top[t] = mt_sentence_top(sentence, t);
        if (t < logits.n_rows)
            borrowed->entropy[t] =
                entropy_of(mt_trace_row(trace, MT_TRACE_LOGITS, 0, 0, t), logits.n_columns);
    }
    return MT_OK;
}

static enum mt_status read_opinions(const struct reader *reader, const struct mt_sentence *sentence,
                                    const struct mt_hypothesis *best, struct borrowed *borrowed,
                                    struct mt_error *err)
{
    size_t chosen[MT_MAX_INDICES], n_chosen = best->n_ids, n_top = reader->options->n_lens;
    const struct mt_index_list *list = &reader->options->steps;
    if (list->n)
        n_chosen = mt_inspection_choose_steps(list, best->n_ids, chosen);
    size_t n = n_chosen * (reader->hparams->n_decoder_layers + 1);
    struct mt_lens_step *steps = calloc(n_chosen + 1, sizeof *steps);
    borrowed->opinions = calloc(n + 1, sizeof *borrowed->opinions);
    borrowed->opinion_top = calloc(n * n_top + 1, sizeof *borrowed->opinion_top);
    enum mt_status status = MT_OK;
    if (!steps || !borrowed->opinions || !borrowed->opinion_top)
        status = mt_fail_memory(err, n * (n_top + 1) * sizeof(struct mt_top_token),
                                "opinions of layers");
    for (size_t i = 0; i < n_chosen && !status; i++) {
        steps[i].step = list->n ? chosen[i] : i;
        steps[i].id = best->ids[steps[i].step];
    }
    if (!status)
        status = mt_lens_run(reader->model, mt_sentence_trace(sentence), steps, n_chosen, n_top,
                             borrowed->opinions, borrowed->opinion_top, err);
    free(steps);
    return status;
}

/* Reads the lengths of the values for one kind of attention, in all layers. */
static enum mt_status read_value_norms(const struct reader *reader, const struct mt_trace *trace,
                                       enum mt_trace_kind kind, float **out, struct mt_error *err)
{
    const struct mt_trace_shape shape =
        mt_trace_shape(trace, (enum mt_trace_kind)((unsigned)kind << MT_TRACED_VALUES));
    size_t n = shape.n_heads * shape.n_rows;
    *out = calloc(shape.n_layers * n + 1, sizeof **out);
    if (!*out)
        return mt_fail_memory(err, shape.n_layers * n * sizeof **out, "lengths of values");
    enum mt_status status = MT_OK;
    for (size_t l = 0; l < shape.n_layers && !status; l++)
        status = mt_lens_value_norms(reader->model, trace, kind, l, *out + l * n, err);
    return status;
}

/* Computes what cannot just be read. This is only done after the limits were checked. */
static enum mt_status compute(struct reader *reader, const struct mt_translation_part *from,
                              const struct mt_hypothesis *best, struct borrowed *borrowed,
                              struct mt_error *err)
{
    const enum mt_trace_kind kinds[] = {MT_TRACE_ENCODER, MT_TRACE_DECODER, MT_TRACE_CROSS};
    const struct mt_inspection_options *options = reader->options;
    reader->n_values += mt_inspection_count_values(reader->description, options,
                                                   from->source_tokens->n, best->n_ids);
    enum mt_status status = mt_inspection_check_values(options, reader->n_values, err);
    if (!status && options->has_lens)
        status = read_opinions(reader, from->sentence, best, borrowed, err);
    bool is_weighted = options->include & 1u << MT_QUANTITY_VALUE_WEIGHTED;
    for (size_t i = 0; i < 3 && is_weighted && !status; i++)
        if (options->kinds & kinds[i])
            status = read_value_norms(reader, mt_sentence_trace(from->sentence), kinds[i],
                                      &borrowed->value_norms[i], err);
    return status;
}

static const struct mt_search_candidate *search_of(const void *context, size_t step, size_t *n)
{
    return mt_sentence_search(context, step, n);
}

/* Returns the number of steps up to the last one with continuations. */
static size_t count_search_steps(const struct mt_sentence *sentence)
{
    size_t n_steps = 0;
    for (size_t step = 0; step < mt_sentence_max_target(sentence); step++) {
        size_t n;
        mt_sentence_search(sentence, step, &n);
        if (n)
            n_steps = step + 1;
    }
    return n_steps;
}

static enum mt_status read_part(struct reader *reader, size_t index, struct mt_error *err)
{
    struct mt_translation_part from = mt_translation_part(reader->translation, index);
    if (!mt_sentence_trace(from.sentence))
        return MT_OK;
    struct mt_hypothesis best = mt_sentence_hypothesis(from.sentence, 0);
    struct borrowed *borrowed = &reader->borrowed[index];
    enum mt_status status = read_output(reader, &best, borrowed, err);
    if (!status && reader->options->n_alternatives)
        status = read_texts(reader, from.sentence, borrowed, err);
    if (!status && reader->options->n_top)
        status = read_next_tokens(from.sentence, best.n_ids, borrowed, err);
    if (!status)
        status = compute(reader, &from, &best, borrowed, err);
    reader->parts[reader->n_traced++] = (struct mt_inspection_part){
        .source_begin = from.begin,
        .source_end = from.end,
        .target_begin = reader->ranges[index].begin,
        .target_end = reader->ranges[index].end,
        .source_tokens = from.source_tokens->tokens,
        .n_source = from.source_tokens->n,
        .output_tokens = borrowed->tokens,
        .n_output = best.n_ids,
        .start = target_token(reader, reader->hparams->start_id, (struct mt_span){0}),
        .logprobs = best.token_logprobs,
        .top = borrowed->top,
        .entropy = borrowed->entropy,
        .search = search_of,
        .search_context = from.sentence,
        .n_search_steps = reader->options->search ? count_search_steps(from.sentence) : 0,
        .alternatives = borrowed->n_texts ? borrowed->texts + 1 : NULL,
        .n_alternatives = borrowed->n_texts ? borrowed->n_texts - 1 : 0,
        .opinions = borrowed->opinions,
        .opinion_top = borrowed->opinion_top,
        .value_norms = {borrowed->value_norms[0], borrowed->value_norms[1],
                        borrowed->value_norms[2]},
        .attention = mt_attention_of_trace(mt_sentence_trace(from.sentence)),
        .score = best.score,
        .has_eos = best.has_eos,
        .was_cut = from.was_cut,
    };
    return status;
}

static enum mt_status read_parts(struct reader *reader, struct mt_error *err)
{
    reader->parts = calloc(reader->n + 1, sizeof *reader->parts);
    reader->borrowed = calloc(reader->n + 1, sizeof *reader->borrowed);
    reader->ranges = calloc(reader->n + 1, sizeof *reader->ranges);
    if (!reader->parts || !reader->borrowed || !reader->ranges)
        return mt_fail_memory(err, reader->n * sizeof *reader->parts, "inspected sentences");
    enum mt_status status =
        mt_translation_render_ranges(reader->translation, 0, reader->ranges, &reader->text, err);
    for (size_t i = 0; i < reader->n && !status; i++)
        status = read_part(reader, i, err);
    return status;
}

static void finish_reader(struct reader *reader)
{
    for (size_t i = 0; i < reader->n && reader->borrowed; i++) {
        free(reader->borrowed[i].tokens);
        free(reader->borrowed[i].top);
        free(reader->borrowed[i].entropy);
        free(reader->borrowed[i].opinions);
        free(reader->borrowed[i].opinion_top);
        for (size_t k = 0; k < reader->borrowed[i].n_texts; k++)
            free((char *)reader->borrowed[i].texts[k].text);
        free(reader->borrowed[i].texts);
        for (size_t k = 0; k < 3; k++)
            free(reader->borrowed[i].value_norms[k]);
    }
    free(reader->borrowed);
    free(reader->parts);
    free(reader->ranges);
    mt_text_finish(&reader->text);
    mt_text_finish(&reader->scratch);
}

static const char *target_piece(const void *context, int32_t id)
{
    return mt_tokenizer_target_piece(context, id);
}

enum mt_status mt_inspection_of_translation(const struct mt_model *model,
                                            struct mt_translation *translation,
                                            const struct mt_inspection_model *description,
                                            const struct mt_inspection_options *options,
                                            bool is_forced, struct mt_inspection **out,
                                            struct mt_error *err)
{
    struct reader reader = {
        .model = model,
        .description = description,
        .tokenizer = mt_model_tokenizer(model),
        .hparams = mt_model_hparams(model),
        .options = options,
        .translation = translation,
        .n = mt_translation_n_sentences(translation),
    };
    struct mt_inspection_input input = {.model = *description,
                                        .is_forced = is_forced,
                                        .target_piece = target_piece,
                                        .context = reader.tokenizer};
    enum mt_status status = read_parts(&reader, err);
    if (!status) {
        input.source_text = mt_translation_text(translation, &input.source_length);
        input.target_text = reader.text.bytes;
        input.target_length = reader.text.length;
        input.parts = reader.parts;
        input.n_parts = reader.n_traced;
        status = mt_inspection_create(&input, options, out, err);
    }
    finish_reader(&reader);
    return status;
}
