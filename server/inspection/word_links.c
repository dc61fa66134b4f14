#include "server/inspection/word_links.h"

#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/ubrk.h>
#include <unicode/utext.h>

/* Further source words are linked from this fraction of the best one's weight on. */
#define SHARE_OF_BEST 0.5

/* A word of a sentence, and the tokens [first, end) that touch it. */
struct word {
    struct mt_offsets at; /* in the whole text */
    size_t first_token, end_token;
};

struct words {
    struct word *items;
    size_t n, capacity;
};

struct finder {
    UBreakIterator *iterator;
    struct words source, target;
    double *weights; /* weights of one target word: [source.n] */
    struct mt_word_links *out;
};

static enum mt_status add_word(struct words *words, const struct mt_offsets *at,
                               struct mt_error *err)
{
    if (MT_ROOM(&words->items, &words->capacity, words->n + 1, "words", err))
        return MT_MEMORY;
    words->items[words->n++] = (struct word){.at = *at};
    return MT_OK;
}

/* Tokens are in order, so each word's tokens begin at or behind those of the previous word. */
static void find_tokens(struct words *words, const struct mt_inspected_token *tokens, size_t n)
{
    size_t first = 0;
    for (size_t w = 0; w < words->n; w++) {
        struct word *word = &words->items[w];
        while (first < n && tokens[first].at.end <= word->at.begin)
            first++;
        word->first_token = first;
        word->end_token = first;
        while (word->end_token < n && tokens[word->end_token].at.begin < word->at.end &&
               tokens[word->end_token].at.end > word->at.begin)
            word->end_token++;
    }
}

/* Returns the range from the end of `before` to `end`, in all units. */
static struct mt_offsets measure(const char *text, const struct mt_offsets *before, size_t end)
{
    size_t begin = before->end, length = end - begin;
    return (struct mt_offsets){
        .begin = begin,
        .end = end,
        .begin_char = before->end_char,
        .end_char = before->end_char + mt_utf8_count(text + begin, length),
        .begin_utf16 = before->end_utf16,
        .end_utf16 = before->end_utf16 + mt_utf8_count_utf16(text + begin, length),
    };
}

/* Each word is measured only once, from the previous one, because it may have many links. */
static enum mt_status cut_words(struct finder *finder, const char *text,
                                const struct mt_offsets *sentence, struct words *words,
                                struct mt_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    UText view = UTEXT_INITIALIZER;
    words->n = 0;
    utext_openUTF8(&view, text + sentence->begin, (int64_t)(sentence->end - sentence->begin),
                   &code);
    ubrk_setUText(finder->iterator, &view, &code);
    enum mt_status status = U_SUCCESS(code) ? MT_OK : mt_fail_memory(err, 0, "words of a text");
    struct mt_offsets at = {.end = sentence->begin,
                            .end_char = sentence->begin_char,
                            .end_utf16 = sentence->begin_utf16};
    int32_t end = status ? UBRK_DONE : ubrk_first(finder->iterator);
    while (!status && (end = ubrk_next(finder->iterator)) != UBRK_DONE) {
        at = measure(text, &at, sentence->begin + (size_t)end);
        if (ubrk_getRuleStatus(finder->iterator) >= UBRK_WORD_NONE_LIMIT || text[at.begin] == '&')
            status = add_word(words, &at, err);
    }
    utext_close(&view);
    return status;
}

/* Returns the mean, over the target word's tokens, of the weight on the source word's tokens. */
static double weight_of(const struct mt_inspected_sentence *sentence, const struct word *source,
                        const struct word *target)
{
    double sum = 0;
    for (size_t t = target->first_token; t < target->end_token; t++)
        for (size_t s = source->first_token; s < source->end_token; s++)
            sum += (double)sentence->alignment[t * sentence->n_source + s];
    return sum / (double)(target->end_token - target->first_token);
}

static enum mt_status add_link(struct mt_word_links *links, const struct mt_word_link *link,
                               struct mt_error *err)
{
    if (MT_ROOM(&links->items, &links->capacity, links->n + 1, "word links", err))
        return MT_MEMORY;
    links->items[links->n++] = *link;
    return MT_OK;
}

static enum mt_status link_word(struct finder *finder, const struct mt_inspected_sentence *sentence,
                                const struct word *target, struct mt_error *err)
{
    double most = 0;
    enum mt_status status = MT_OK;
    if (target->first_token == target->end_token)
        return MT_OK;
    for (size_t w = 0; w < finder->source.n; w++) {
        finder->weights[w] = weight_of(sentence, &finder->source.items[w], target);
        if (finder->weights[w] > most)
            most = finder->weights[w];
    }
    for (size_t w = 0; w < finder->source.n && most > 0 && !status; w++) {
        if (finder->weights[w] < SHARE_OF_BEST * most)
            continue;
        const struct mt_word_link link = {
            .source = finder->source.items[w].at,
            .target = target->at,
            .score = (float)finder->weights[w],
        };
        status = add_link(finder->out, &link, err);
    }
    return status;
}

static enum mt_status link_sentence(struct finder *finder, const struct mt_inspection *inspection,
                                    const struct mt_inspected_sentence *sentence,
                                    struct mt_error *err)
{
    enum mt_status status =
        cut_words(finder, inspection->source_text, &sentence->source, &finder->source, err);
    if (!status)
        status =
            cut_words(finder, inspection->target_text, &sentence->target, &finder->target, err);
    if (status)
        return status;
    find_tokens(&finder->source, sentence->source_tokens, sentence->n_source);
    find_tokens(&finder->target, sentence->output_tokens, sentence->n_steps);
    free(finder->weights);
    finder->weights = calloc(finder->source.n + 1, sizeof *finder->weights);
    if (!finder->weights)
        return mt_fail_memory(err, finder->source.n * sizeof *finder->weights, "word links");
    for (size_t w = 0; w < finder->target.n && !status; w++)
        status = link_word(finder, sentence, &finder->target.items[w], err);
    return status;
}

enum mt_status mt_word_links_find(const struct mt_inspection *inspection, struct mt_word_links *out,
                                  struct mt_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    struct finder finder = {.out = out, .iterator = ubrk_open(UBRK_WORD, "", NULL, 0, &code)};
    if (U_FAILURE(code))
        return mt_fail_memory(err, 0, "ICU's word rules");
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < inspection->n_sentences && !status; i++)
        status = link_sentence(&finder, inspection, &inspection->sentences[i], err);
    ubrk_close(finder.iterator);
    free(finder.source.items);
    free(finder.target.items);
    free(finder.weights);
    return status;
}

void mt_word_links_finish(struct mt_word_links *links)
{
    free(links->items);
    *links = (struct mt_word_links){0};
}
