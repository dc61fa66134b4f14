#include "server/text/quality_check.h"

#include "base/real.h"
#include "base/size.h"
#include "base/text.h"
#include "server/text/tagged_text.h"
#include "server/text/translation.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

#define MIN_LOGPROB (-100.0)
/* How much the required probability grows for each further piece of a source word, up to a largest
 * number of pieces. */
#define SURER_PER_PIECE 0.15
#define MOST_PIECES 3

/* Target ids or source tokens. All that the vocabulary lacks has the same id, which is not a
 * repetition. */
struct sequence {
    const int32_t *ids;
    const struct mt_token *tokens; /* used where ids is NULL */
    size_t n;
    /* that made the ids; NULL: their pieces are not known */
    const struct mt_tokenizer *tokenizer;
    size_t max_run;
};

static const char *piece_at(const struct sequence *sequence, size_t i)
{
    if (!sequence->ids)
        return sequence->tokens[i].piece;
    return sequence->tokenizer ? mt_tokenizer_target_piece(sequence->tokenizer, sequence->ids[i])
                               : NULL;
}

/* Returns how often a piece has its only character, 3 for "ooo"; 0 where it has several characters
 * or is not known. */
static size_t count_only_character(const char *piece)
{
    size_t n = 0;
    for (const char *at = piece; at && *at != '\0'; at += mt_char_length(at)) {
        if (mt_utf8_decode(at) != mt_utf8_decode(piece))
            return 0;
        n++;
    }
    return n;
}

static bool is_equal(const struct sequence *sequence, size_t i, size_t j)
{
    if (sequence->ids)
        return sequence->ids[i] == sequence->ids[j];
    return sequence->tokens[i].id == sequence->tokens[j].id && !sequence->tokens[i].unknown;
}

/* Whether the character is one of a few equal characters in a row: "Grrr", "....". */
static bool is_in_run(const struct sequence *sequence, size_t i)
{
    size_t begin = i, end = i + 1;
    while (begin > 0 && i - begin <= sequence->max_run && is_equal(sequence, begin - 1, i))
        begin--;
    while (end < sequence->n && end - i <= sequence->max_run && is_equal(sequence, end, i))
        end++;
    size_t n_each = end - begin > 1 ? count_only_character(piece_at(sequence, i)) : 0;
    return n_each > 0 && (end - begin) * n_each <= sequence->max_run;
}

static bool is_same(const struct sequence *sequence, size_t i, size_t j)
{
    return is_equal(sequence, i, j) && !is_in_run(sequence, i);
}

static size_t count_repeats(const struct sequence *sequence)
{
    size_t most = 1;
    for (size_t period = 1; period <= MT_QUALITY_MAX_PERIOD && period * 2 <= sequence->n;
         period++) {
        size_t n_same = 0;
        for (size_t i = period; i < sequence->n; i++) {
            n_same = is_same(sequence, i, i - period) ? n_same + 1 : 0;
            most = mt_size_max(most, n_same / period + 1);
        }
    }
    return most;
}

size_t mt_quality_count_repeats(const int32_t *ids, size_t n)
{
    return count_repeats(&(struct sequence){.ids = ids, .n = n});
}

static size_t longest_run(const char *text, size_t length)
{
    size_t most = 0, n = 0;
    uint32_t last = 0;
    for (size_t at = 0; at < length; at += mt_char_length(text + at)) {
        uint32_t c = mt_utf8_decode(text + at);
        n = c == last ? n + 1 : 1;
        last = c;
        most = mt_size_max(most, n);
    }
    return most;
}

static bool repeats_itself(const struct mt_translation *translation,
                           const struct mt_translation_part *part, const struct mt_hypothesis *best,
                           size_t max_repeats)
{
    size_t length;
    const char *text = mt_translation_text(translation, &length) + part->begin;
    size_t run = mt_size_min(longest_run(text, part->end - part->begin), MT_QUALITY_MAX_PERIOD);
    size_t max_run = mt_size_max(run, MT_QUALITY_MAX_RUN);
    const struct sequence source = {
        .tokens = part->source_tokens->tokens, .n = part->source_tokens->n, .max_run = max_run};
    const struct sequence target = {.ids = best->ids,
                                    .n = best->n_ids,
                                    .tokenizer = mt_translation_tokenizer(translation),
                                    .max_run = max_run};
    size_t n_repeats = count_repeats(&target);
    return n_repeats > max_repeats && n_repeats > count_repeats(&source);
}

static bool is_much_longer(size_t a, size_t b, double ratio)
{
    return ratio > 0 && (double)a > ratio * (double)b + MT_QUALITY_SLACK;
}

/* ---- what the vocabulary lacks ---- */

/* Returns the byte that a piece such as "<0xE4>" stands for; -1 for other pieces. */
static int byte_of(const char *piece)
{
    char *end;
    if (!piece || strncmp(piece, "<0x", 3) != 0 || strlen(piece) != strlen("<0xE4>"))
        return -1;
    unsigned long byte = strtoul(piece + 3, &end, 16);
    return *end == '>' && byte <= 0xFF ? (int)byte : -1;
}

/* Whether the source has something unreadable that was not copied. A name with a rare letter is
 * copied byte by byte, correctly. */
static bool has_unreadable(const struct mt_token_list *source, const struct mt_hypothesis *best,
                           const struct mt_tokenizer *tokenizer)
{
    size_t counts[256] = {0}, n_left = 0;
    for (size_t i = 0; i < source->n; i++) {
        int byte = source->tokens[i].special ? -1 : byte_of(source->tokens[i].piece);
        if (source->tokens[i].unknown && !source->tokens[i].special)
            return true;
        n_left += byte >= 0;
        if (byte >= 0)
            counts[byte]++;
    }
    for (size_t i = 0; i < best->n_ids && n_left > 0; i++) {
        int byte = byte_of(mt_tokenizer_target_piece(tokenizer, best->ids[i]));
        if (byte >= 0 && counts[byte] > 0) {
            counts[byte]--;
            n_left--;
        }
    }
    return n_left > 0;
}

/* A probability of 0 would make all later sums infinite. */
static double clamp(float logprob)
{
    return logprob > MIN_LOGPROB ? (double)logprob : MIN_LOGPROB;
}

double mt_quality_least_probability(const float *logprobs, size_t n)
{
    double sum = 0, least = 0;
    for (size_t i = 0; i < n; i++) {
        sum += clamp(logprobs[i]);
        if (i >= MT_QUALITY_WINDOW)
            sum -= clamp(logprobs[i - MT_QUALITY_WINDOW]);
        least = sum < least ? sum : least;
    }
    return mt_real_exp(least / MT_QUALITY_WINDOW);
}

static bool is_of_letters(const char *piece)
{
    for (; *piece; piece += mt_char_length(piece)) {
        uint32_t c = mt_utf8_decode(piece);
        if (!u_isalpha((UChar32)c) || c >= MT_FIRST_IDEOGRAPH)
            return false;
    }
    return true;
}

size_t mt_quality_count_pieces(const struct mt_token_list *source)
{
    static const char blank[] = "\xE2\x96\x81";
    size_t most = 1, n = 0;
    bool is_first = true;
    for (size_t i = 0; i < source->n; i++) {
        const struct mt_token *token = &source->tokens[i];
        bool begins = strncmp(token->piece, blank, strlen(blank)) == 0;
        const char *piece = token->piece + (begins ? strlen(blank) : 0);
        if (token->special)
            continue;
        if (begins)
            n = is_first || !u_isupper((UChar32)mt_utf8_decode(piece));
        else if (n > 0 && *piece)
            n++;
        if (!is_of_letters(piece))
            n = 0;
        is_first = is_first && n == 0;
        most = mt_size_max(most, n);
    }
    return most;
}

static bool is_unsure(const struct mt_token_list *source, const struct mt_hypothesis *best,
                      double min_probability)
{
    size_t n_more = mt_size_min(mt_quality_count_pieces(source), MOST_PIECES) - 1;
    return mt_quality_least_probability(best->token_logprobs, best->n_ids) <
           min_probability * (1 + SURER_PER_PIECE * (double)n_more);
}

/* A model may be told to end with eos at its limit, so eos at the limit does not count as an
 * end. */
bool mt_quality_is_truncated(const struct mt_sentence *sentence, size_t rank)
{
    if (rank >= mt_sentence_n_hypotheses(sentence))
        return false;
    struct mt_hypothesis hypothesis = mt_sentence_hypothesis(sentence, rank);
    return !hypothesis.has_eos || hypothesis.n_ids >= mt_sentence_max_target(sentence);
}

unsigned mt_quality_check(const struct mt_translation *translation, size_t sentence,
                          const struct mt_quality_options *options)
{
    struct mt_translation_part part = mt_translation_part(translation, sentence);
    unsigned warnings = part.was_cut ? 1u << MT_WARNING_CUT : 0;
    if (mt_sentence_n_hypotheses(part.sentence) == 0)
        return warnings;
    struct mt_hypothesis best = mt_sentence_hypothesis(part.sentence, 0);
    size_t n_source = part.source_tokens->n;
    if (mt_quality_is_truncated(part.sentence, 0))
        warnings |= 1u << MT_WARNING_TRUNCATED;
    if (is_much_longer(best.n_ids, n_source, options->max_length_ratio) ||
        is_much_longer(n_source, best.n_ids, options->max_length_ratio))
        warnings |= 1u << MT_WARNING_LENGTH;
    if (options->max_repeats && repeats_itself(translation, &part, &best, options->max_repeats))
        warnings |= 1u << MT_WARNING_REPETITION;
    if (has_unreadable(part.source_tokens, &best, mt_translation_tokenizer(translation)))
        warnings |= 1u << MT_WARNING_UNREADABLE;
    if (best.token_logprobs && is_unsure(part.source_tokens, &best, options->min_probability))
        warnings |= 1u << MT_WARNING_UNSURE;
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
        [MT_WARNING_UNREADABLE] = "unreadable",
        [MT_WARNING_SOURCE_WORDS] = "source_words",
        [MT_WARNING_UNSURE] = "unsure",
    };
    return names[warning];
}
