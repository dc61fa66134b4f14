#include "server/text/guard.h"

#include "base/size.h"
#include "server/text/translation.h"

/* Target ids, or source tokens: what the vocabulary does not know has one id for all of it, and is
 * no repetition. */
struct sequence {
    const int32_t *ids;
    const struct mt_token *tokens; /* where there are no ids */
    size_t n;
};

static bool is_same(const struct sequence *sequence, size_t i, size_t j)
{
    if (sequence->ids)
        return sequence->ids[i] == sequence->ids[j];
    return sequence->tokens[i].id == sequence->tokens[j].id && !sequence->tokens[i].unknown;
}

static size_t count_repeats(const struct sequence *sequence)
{
    size_t most = 1;
    for (size_t period = 1; period <= MT_GUARD_MAX_PERIOD && period * 2 <= sequence->n; period++) {
        size_t n_same = 0;
        for (size_t i = period; i < sequence->n; i++) {
            n_same = is_same(sequence, i, i - period) ? n_same + 1 : 0;
            most = mt_size_max(most, n_same / period + 1);
        }
    }
    return most;
}

size_t mt_guard_count_repeats(const int32_t *ids, size_t n)
{
    return count_repeats(&(struct sequence){.ids = ids, .n = n});
}

static bool is_much_longer(size_t a, size_t b, double ratio)
{
    return ratio > 0 && (double)a > ratio * (double)b + MT_GUARD_SLACK;
}

/* A model may be told to end with eos at its limit: then eos says nothing. */
bool mt_guard_is_truncated(const struct mt_sentence *sentence, size_t rank)
{
    if (rank >= mt_sentence_n_hypotheses(sentence))
        return false;
    struct mt_hypothesis hypothesis = mt_sentence_hypothesis(sentence, rank);
    return !hypothesis.has_eos || hypothesis.n_ids >= mt_sentence_max_target(sentence);
}

unsigned mt_guard_check(const struct mt_translation *translation, size_t sentence,
                        const struct mt_guard_options *options)
{
    struct mt_translation_part part = mt_translation_part(translation, sentence);
    unsigned warnings = part.was_cut ? 1u << MT_WARNING_CUT : 0;
    if (mt_sentence_n_hypotheses(part.sentence) == 0)
        return warnings;
    struct mt_hypothesis best = mt_sentence_hypothesis(part.sentence, 0);
    size_t n_source = part.source_tokens->n;
    const struct sequence source = {.tokens = part.source_tokens->tokens, .n = n_source};
    if (mt_guard_is_truncated(part.sentence, 0))
        warnings |= 1u << MT_WARNING_TRUNCATED;
    if (is_much_longer(best.n_ids, n_source, options->max_length_ratio) ||
        is_much_longer(n_source, best.n_ids, options->max_length_ratio))
        warnings |= 1u << MT_WARNING_LENGTH;
    size_t n_repeats = options->max_repeats ? mt_guard_count_repeats(best.ids, best.n_ids) : 0;
    if (n_repeats > options->max_repeats && n_repeats > count_repeats(&source))
        warnings |= 1u << MT_WARNING_REPETITION;
    return warnings;
}

const char *mt_warning_name(enum mt_warning warning)
{
    static const char *const names[MT_N_WARNINGS] = {
        [MT_WARNING_REPETITION] = "repetition",
        [MT_WARNING_LENGTH] = "length",
        [MT_WARNING_TRUNCATED] = "truncated",
        [MT_WARNING_CUT] = "cut",
        [MT_WARNING_UNALIGNED] = "unaligned",
        [MT_WARNING_NUMBERS] = "numbers",
        [MT_WARNING_SOURCE_LANGUAGE] = "source_language",
        [MT_WARNING_UNTRANSLATED] = "untranslated",
    };
    return names[warning];
}
