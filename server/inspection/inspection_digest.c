#include "server/inspection/inspection_digest.h"

#include "base/hash.h"
#include "server/inspection/switch_names.h"

#include <string.h>

static uint64_t of_string(uint64_t digest, const char *text)
{
    return mt_hash(digest, text, strlen(text) + 1);
}

static uint64_t of_selection(uint64_t digest, const struct mt_selection *selection)
{
    digest = mt_hash(digest, &selection->n_layers, sizeof selection->n_layers);
    digest = mt_hash(digest, selection->layers, selection->n_layers * sizeof *selection->layers);
    return mt_hash(digest, selection->heads, selection->n_heads * sizeof *selection->heads);
}

static uint64_t of_tokens(uint64_t digest, const struct mt_inspected_token *tokens, size_t n)
{
    digest = mt_hash(digest, &n, sizeof n);
    for (size_t i = 0; i < n; i++) {
        digest = mt_hash(digest, &tokens[i].id, sizeof tokens[i].id);
        digest = mt_hash(digest, &tokens[i].logprob, sizeof tokens[i].logprob);
        digest = of_string(digest, tokens[i].piece);
    }
    return digest;
}

static uint64_t of_top(uint64_t digest, const struct mt_inspected_candidate *top, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        digest = mt_hash(digest, &top[i].id, sizeof top[i].id);
        digest = mt_hash(digest, &top[i].logprob, sizeof top[i].logprob);
    }
    return digest;
}

static uint64_t of_options(uint64_t digest, const struct mt_inspection_options *options)
{
    const uint64_t numbers[] = {options->kinds,
                                options->include,
                                (uint64_t)options->reduce,
                                (uint64_t)options->decimals,
                                options->n_top,
                                options->search,
                                options->n_alternatives,
                                options->has_lens,
                                options->n_lens,
                                options->skips_weights,
                                (uint64_t)options->alignment.mode,
                                (uint64_t)options->alignment.shift};
    digest = mt_hash(digest, numbers, sizeof numbers);
    for (size_t i = 0; i < options->n_switched_off; i++) {
        char name[MT_SWITCH_NAME_BYTES];
        mt_switch_name(&options->switched_off[i], name);
        digest = of_string(digest, name);
    }
    return mt_hash(digest, options->steps.values, options->steps.n * sizeof *options->steps.values);
}

static uint64_t of_tensors(uint64_t digest, struct mt_inspection *inspection, size_t sentence)
{
    struct mt_attention_tensor tensors[MT_MAX_TENSORS];
    size_t n = mt_inspection_tensors(inspection, sentence, tensors);
    for (size_t i = 0; i < n; i++) {
        digest = of_string(digest, tensors[i].name);
        digest = of_selection(digest, &tensors[i].selection);
        for (size_t m = 0; m < tensors[i].n_matrices; m++)
            for (size_t r = 0; r < tensors[i].n_rows; r++)
                digest = mt_hash(digest, mt_attention_tensor_row(&tensors[i], m, r),
                                 tensors[i].n_columns * sizeof(float));
    }
    return digest;
}

static uint64_t of_sentence(uint64_t digest, struct mt_inspection *inspection, size_t index)
{
    const struct mt_inspected_sentence *s = &inspection->sentences[index];
    const struct mt_inspection_options *options = &inspection->options;
    digest = mt_hash(digest, &s->score, sizeof s->score);
    digest = of_tokens(digest, s->source_tokens, s->n_source);
    digest = of_tokens(digest, s->output_tokens, s->n_steps);
    digest = mt_hash(digest, s->alignment, s->n_steps * s->n_source * sizeof *s->alignment);
    for (size_t i = 0; i < s->n_alternatives; i++)
        digest = of_string(digest, s->alternatives[i].text);
    if (s->top)
        digest = of_top(digest, s->top, s->n_steps * options->n_top);
    size_t n_steps = s->chosen_steps ? s->n_chosen_steps : s->n_steps;
    for (size_t i = 0; s->opinions && i < n_steps * (inspection->model.n_decoder_layers + 1); i++) {
        digest = mt_hash(digest, &s->opinions[i].is.rank, sizeof s->opinions[i].is.rank);
        digest = of_top(digest, s->opinions[i].top, options->n_lens);
    }
    for (size_t i = 0; s->search && i < s->n_search_steps; i++)
        for (size_t j = 0; j < s->search[i].n; j++)
            digest = mt_hash(digest, &s->search[i].continuations[j].is.sum, sizeof(float));
    return of_tensors(digest, inspection, index);
}

uint64_t mt_inspection_digest(struct mt_inspection *inspection, uint64_t digest)
{
    digest = of_string(digest, inspection->model.id);
    digest = of_string(digest, inspection->model.source_lang);
    digest = of_string(digest, inspection->model.target_lang);
    digest = of_string(digest, inspection->source_text);
    digest = of_string(digest, inspection->target_text);
    digest = of_options(digest, &inspection->options);
    digest = of_selection(digest, &inspection->alignment_selection);
    for (size_t i = 0; i < inspection->n_sentences; i++)
        digest = of_sentence(digest, inspection, i);
    return digest;
}
