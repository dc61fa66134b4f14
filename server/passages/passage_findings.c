#include "server/passages/passage_state.h"

#include "base/ascii.h"
#include "base/size.h"
#include "server/text/left_words.h"
#include "server/text/tagged_text.h"

#include <string.h>

struct proofreading {
    const struct mt_quality_options *checks;
    mt_passage_finding *report;
    void *context;
    size_t n_before;   /* sentences of earlier parts */
    bool is_unaligned; /* a missing alignment was found, and reported */
};

/* What one part's sentences need. The final rendering shows which numbers were repaired. It is made
 * when the first sentence has other numbers than its source, which is rare. */
struct part_findings {
    struct mt_passage_part *part;
    struct mt_rendering as_written, rendering;
    bool is_rendered;
    struct mt_ranges all_ignored, ignored;
    struct mt_numbers_difference difference;
};

/* A sentence or its translation, and the numbers that the other one lacks. */
struct numbers {
    const char *text;
    size_t length;
    const struct mt_ranges *ranges;
};

/* Returns the end of the number with the word behind it, as in "1.5 million", or with one
 * character, as in 1.5万. */
static size_t end_with_word(const struct numbers *numbers, size_t end)
{
    size_t at = end < numbers->length && numbers->text[end] == ' ' ? end + 1 : end;
    bool is_word = true;
    for (; at < numbers->length && is_word; at += mt_char_length(numbers->text + at)) {
        uint32_t c = mt_utf8_decode(numbers->text + at);
        is_word = mt_is_word_char(c) && c < MT_FIRST_IDEOGRAPH;
        if (!is_word && (c < MT_FIRST_IDEOGRAPH || at > end))
            return at;
    }
    return at;
}

/* Whether both have the same digits, whatever is between these. */
static bool has_same_digits(const char *a, size_t n_a, const char *b, size_t n_b)
{
    for (size_t i = 0, k = 0;; i++, k++) {
        while (i < n_a && !mt_ascii_is_digit(a[i]))
            i++;
        while (k < n_b && !mt_ascii_is_digit(b[k]))
            k++;
        if (i == n_a || k == n_b)
            return i == n_a && k == n_b;
        if (a[i] != b[k])
            return false;
    }
}

static void list_numbers(const struct numbers *numbers, const struct numbers *others,
                         struct mt_text *out)
{
    for (size_t i = 0; i < numbers->ranges->n; i++) {
        struct mt_range at = numbers->ranges->items[i];
        bool is_there = false;
        for (size_t k = 0; k < others->ranges->n && !is_there; k++) {
            struct mt_range other = others->ranges->items[k];
            is_there = has_same_digits(numbers->text + at.begin, at.end - at.begin,
                                       others->text + other.begin, other.end - other.begin);
        }
        /* it is there, so the word makes it another number */
        size_t end = is_there ? end_with_word(numbers, at.end) : at.end;
        mt_text_append(out, numbers->text + at.begin, end - at.begin);
        mt_text_append(out, "", 1);
    }
}

static void list_repairs(const struct mt_rendering *rendering, size_t sentence, struct mt_text *out)
{
    for (size_t i = 0; i < rendering->repairs.n; i++) {
        const struct mt_number_repair *one = &rendering->repairs.items[i];
        if (one->sentence != sentence)
            continue;
        mt_text_append(out, rendering->repaired.bytes + one->at.begin, one->at.end - one->at.begin);
        mt_text_append(out, "", 1);
    }
}

/* Counts numbers that stand in for placeholders and that the model wrote in another way. */
static size_t count_garbled_substitutes(const struct mt_tagged_text *tagged,
                                        struct mt_range sentence,
                                        const struct mt_proofread_pair *pair)
{
    size_t n_garbled = 0;
    for (size_t i = 0; tagged && i < tagged->n; i++) {
        const struct mt_tag *tag = &tagged->tags[i];
        const char *word = tagged->text.bytes + tag->begin;
        if (tag->kind == MT_TAG_SUBSTITUTE && tag->begin >= sentence.begin &&
            tag->end <= sentence.end && mt_ascii_is_digit(*word))
            n_garbled += !memmem(pair->target, pair->n_target, word, tag->end - tag->begin);
    }
    return n_garbled;
}

/* A placeholder replaces its number even where the model garbled that, and nobody sees the garbled
 * number: it is not reported. */
static void leave_out_substitutes(struct part_findings *findings, size_t sentence,
                                  const struct mt_proofread_pair *pair)
{
    size_t n = count_garbled_substitutes(findings->part->tagged,
                                         findings->as_written.source_sentences[sentence], pair);
    findings->difference.added.n -= mt_size_min(n, findings->difference.added.n);
}

static enum mt_status report_numbers(const struct mt_passage *passage,
                                     struct part_findings *findings, size_t sentence,
                                     const struct mt_proofread_pair *pair,
                                     const struct proofreading *proofreading, struct mt_error *err)
{
    struct mt_finding finding = {.kind = MT_WARNING_NUMBERS,
                                 .sentence = proofreading->n_before + sentence};
    enum mt_status status = MT_OK;
    if (findings->difference.missing.n + findings->difference.added.n == 0)
        return MT_OK;
    if (!findings->is_rendered)
        status = mt_rendering_make(passage, findings->part, 0, &findings->rendering, err);
    findings->is_rendered = true; /* also where it failed halfway: it is not tried again */
    if (status)
        return status;
    const struct numbers missing = {pair->source, pair->n_source, &findings->difference.missing};
    const struct numbers added = {pair->target, pair->n_target, &findings->difference.added};
    list_numbers(&missing, &added, &finding.missing);
    list_numbers(&added, &missing, &finding.added);
    list_repairs(&findings->rendering, sentence, &finding.repaired);
    status = mt_text_check(&finding.missing, "numbers", err);
    if (!status)
        status = mt_text_check(&finding.added, "numbers", err);
    if (!status)
        status = mt_text_check(&finding.repaired, "numbers", err);
    if (!status)
        proofreading->report(proofreading->context, &finding);
    mt_text_finish(&finding.missing);
    mt_text_finish(&finding.added);
    mt_text_finish(&finding.repaired);
    return status;
}

static void report_kinds(const struct proofreading *proofreading, size_t sentence, unsigned kinds)
{
    for (unsigned kind = 0; kind < MT_N_WARNINGS; kind++) {
        const struct mt_finding finding = {.kind = (enum mt_warning)kind,
                                           .sentence = proofreading->n_before + sentence};
        if (kinds & 1u << kind)
            proofreading->report(proofreading->context, &finding);
    }
}

/* Reports this once for a text: in a long one most sentences may be concerned. */
static void report_unaligned(struct proofreading *proofreading, size_t sentence)
{
    if (!proofreading->is_unaligned)
        report_kinds(proofreading, sentence, 1u << MT_WARNING_UNALIGNED);
    proofreading->is_unaligned = true;
}

/* Whether numbers would have been repaired if there had been memory for the sentence's trace. */
static bool lacks_repair(const struct mt_passage *passage, const struct part_findings *findings,
                         size_t sentence, const struct mt_proofread_pair *pair)
{
    const struct mt_numbers_difference *difference = &findings->difference;
    return passage->repairs_numbers && difference->missing.n > 0 && difference->added.n > 0 &&
           mt_has_digits(pair->source, pair->n_source) &&
           !mt_sentence_trace(mt_translation_part(findings->part->translation, sentence).sentence);
}

/* Adds the kinds that the options switch on, and that the tokens alone do not show. */
static enum mt_status find_kinds(const struct mt_passage_part *part, size_t sentence,
                                 const struct mt_proofread_pair *pair,
                                 const struct mt_quality_options *checks, unsigned *found,
                                 struct mt_error *err)
{
    struct mt_sentence *decoded = mt_translation_part(part->translation, sentence).sentence;
    bool has_left = false;
    if (mt_sentence_n_hypotheses(decoded) == 0)
        return MT_OK;
    if (checks->max_length_ratio > 0 && mt_proofread_has_other_length(pair))
        *found |= 1u << MT_WARNING_LENGTH;
    if (checks->min_probability <= 0)
        return MT_OK;
    const struct mt_hypothesis best = mt_sentence_hypothesis(decoded, 0);
    enum mt_status status = mt_left_words_find(mt_translation_tokenizer(part->translation), &best,
                                               pair, &has_left, err);
    if (has_left)
        *found |= 1u << MT_WARNING_SOURCE_WORDS;
    return status;
}

static enum mt_status proofread_sentence(const struct mt_passage *passage,
                                         const struct mt_passage_part *part,
                                         struct part_findings *findings, size_t sentence,
                                         struct proofreading *proofreading, struct mt_error *err)
{
    struct mt_proofread_pair pair;
    unsigned found = mt_quality_check(part->translation, sentence, proofreading->checks);
    unsigned warnings = 0;
    enum mt_status status =
        mt_passage_describe_pair(part, &findings->as_written, sentence, &findings->all_ignored,
                                 &findings->ignored, &pair, err);
    if (!status && passage->reader)
        status = find_kinds(part, sentence, &pair, proofreading->checks, &found, err);
    if (status)
        return status;
    report_kinds(proofreading, sentence, found);
    if (!passage->reader)
        return MT_OK;
    status = mt_proofread_numbers(passage->reader, &pair, &findings->difference, err);
    if (status)
        return status;
    leave_out_substitutes(findings, sentence, &pair);
    status = mt_proofread_times(passage->reader, &pair, &findings->difference, err);
    if (!status)
        status = report_numbers(passage, findings, sentence, &pair, proofreading, err);
    if (status)
        return status;
    if (lacks_repair(passage, findings, sentence, &pair))
        report_unaligned(proofreading, sentence);
    status = mt_proofread_language(passage->reader, &pair, &warnings, err);
    if (!status)
        report_kinds(proofreading, sentence, warnings);
    return status;
}

static enum mt_status proofread_part(const struct mt_passage *passage, size_t index, void *context,
                                     struct mt_error *err)
{
    struct proofreading *proofreading = context;
    struct mt_passage_part *part = &passage->parts[index];
    struct part_findings findings = {.part = part};
    if (!part->translation)
        return MT_OK;
    const struct mt_passage unchanged = {.reader = passage->reader};
    size_t n = mt_translation_n_sentences(part->translation);
    if (part->is_unaligned)
        report_unaligned(proofreading, 0);
    enum mt_status status = mt_rendering_make(&unchanged, part, 0, &findings.as_written, err);
    if (!status)
        status = mt_passage_list_ignored(part, &findings.all_ignored, err);
    for (size_t i = 0; i < n && !status; i++)
        status = proofread_sentence(passage, part, &findings, i, proofreading, err);
    proofreading->n_before += n;
    mt_rendering_finish(&findings.as_written);
    mt_rendering_finish(&findings.rendering);
    mt_ranges_finish(&findings.all_ignored);
    mt_ranges_finish(&findings.ignored);
    mt_numbers_difference_finish(&findings.difference);
    return status;
}

enum mt_status mt_passage_find_warnings(struct mt_passage *passage,
                                        const struct mt_quality_options *checks,
                                        mt_passage_finding *report, void *context,
                                        struct mt_error *err)
{
    struct proofreading proofreading = {.checks = checks, .report = report, .context = context};
    return mt_passage_for_each(passage, proofread_part, &proofreading, err);
}
