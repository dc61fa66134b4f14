#include "server/text/left_words.h"

#include "base/real.h"
#include "base/size.h"
#include "base/text.h"
#include "model/sentence.h"
#include "model/tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>
#include <unicode/uscript.h>

/* Shorter words are often the same in two languages, or parts of names. */
#define MIN_LETTERS 4
/* Longer ones are not words. */
#define MAX_WORD_BYTES 64
/* Fewest pieces, and highest probability, of a word that counts as left. Of 1,965 translations of
 * the bundled models that are right or nearly right, 8 have such a word of the source, and three of
 * these words are mistakes. */
#define MIN_PIECES 2
#define MAX_PROBABILITY 0.25

struct search {
    const struct mt_tokenizer *tokenizer;
    const struct mt_hypothesis *hypothesis;
    const struct mt_proofread_pair *pair;
    struct mt_text target; /* what the hypothesis says, with its tokens' ranges */
    struct mt_span *spans;
};

static uint32_t char_before(const char *text, size_t at)
{
    return at > 0 ? mt_utf8_decode(text + mt_previous_char(text, at)) : ' ';
}

static uint32_t char_at(const char *text, size_t length, size_t at)
{
    return at < length ? mt_utf8_decode(text + at) : ' ';
}

/* Whether the neighbour is a letter of the same script: in Japanese, Latin words stand between
 * others without blanks. */
static bool goes_on(uint32_t letter, uint32_t neighbour)
{
    UErrorCode code = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript((UChar32)letter, &code);
    return u_isalpha((UChar32)neighbour) && uscript_hasScript((UChar32)neighbour, script);
}

/* Whether a word may end beside this character. Beside characters of paths, code and names with
 * signs it may not. */
static bool is_border(uint32_t c)
{
    switch (u_charType((UChar32)c)) {
    case U_DECIMAL_DIGIT_NUMBER:
    case U_CONNECTOR_PUNCTUATION:
    case U_MATH_SYMBOL:
    case U_CURRENCY_SYMBOL:
    case U_MODIFIER_SYMBOL:
        return false;
    default:
        return !(c < 0x80 && strchr("#%&*/:@\\{}", (int)c));
    }
}

static bool is_within_code(const struct mt_proofread_pair *pair, struct mt_range word)
{
    uint32_t before = char_before(pair->source, word.begin),
             behind = char_at(pair->source, pair->n_source, word.end);
    size_t next = word.end + (word.end < pair->n_source);
    bool is_joined = (behind == '.' || behind == ':') &&
                     !u_isUWhiteSpace((UChar32)char_at(pair->source, pair->n_source, next));
    return !is_border(before) || before == '.' || is_joined ||
           (behind != ':' && !is_border(behind));
}

static bool is_ignored(const struct mt_proofread_pair *pair, struct mt_range word)
{
    for (size_t i = 0; i < pair->n_ignored; i++)
        if (pair->ignored[i].begin < word.end && pair->ignored[i].end > word.begin)
            return true;
    return false;
}

/* Finds the next run of letters; false where there is none. *n_small: how many letters behind the
 * first one are small. */
static bool next_word(const struct mt_proofread_pair *pair, size_t at, struct mt_range *word,
                      size_t *n_letters, size_t *n_small)
{
    const char *text = pair->source;
    while (at < pair->n_source && !u_isalpha((UChar32)mt_utf8_decode(text + at)))
        at += mt_char_length(text + at);
    word->begin = at;
    *n_letters = *n_small = 0;
    while (at < pair->n_source && u_isalpha((UChar32)mt_utf8_decode(text + at))) {
        *n_small += *n_letters > 0 && u_islower((UChar32)mt_utf8_decode(text + at));
        ++*n_letters;
        at += mt_char_length(text + at);
    }
    word->end = at;
    return *n_letters > 0;
}

/* Makes search->target, when it is first needed. */
static bool has_target(struct search *search, struct mt_error *err, enum mt_status *status)
{
    const struct mt_hypothesis *h = search->hypothesis;
    if (search->spans)
        return true;
    search->spans = calloc(h->n_ids + 1, sizeof *search->spans);
    *status = search->spans ? mt_detokenize(search->tokenizer, h->ids, h->n_ids, search->spans,
                                            &search->target, err)
                            : mt_fail_memory(err, h->n_ids * sizeof *search->spans, "tokens");
    return *status == MT_OK && search->target.length == search->pair->n_target;
}

/* Whether the model was uncertain about the tokens that write target[word). */
static bool is_doubtful(const struct search *search, struct mt_range word)
{
    size_t n_pieces = 0;
    double sum = 0;
    for (size_t i = 0; i < search->hypothesis->n_ids; i++)
        if (search->spans[i].begin < word.end && search->spans[i].end > word.begin) {
            n_pieces++;
            sum += (double)search->hypothesis->token_logprobs[i];
        }
    return n_pieces >= MIN_PIECES && mt_real_exp(sum) < MAX_PROBABILITY;
}

/* Returns where the word first stands in the translation; SIZE_MAX where it does not. */
static size_t find(const struct mt_proofread_pair *pair, struct mt_range word)
{
    const char *bytes = pair->source + word.begin, *hit;
    size_t from = 0, n = word.end - word.begin;
    while ((hit = memmem(pair->target + from, pair->n_target - from, bytes, n))) {
        size_t at = (size_t)(hit - pair->target);
        bool is_whole =
            !goes_on(mt_utf8_decode(bytes), char_before(pair->target, at)) &&
            !goes_on(mt_utf8_decode(bytes), char_at(pair->target, pair->n_target, at + n));
        if (is_whole)
            return at;
        from = at + n;
    }
    return SIZE_MAX;
}

/* *out: the vocabulary has a word with a capital also in small letters, as one piece. */
static enum mt_status is_common(const struct search *search, struct mt_range word, bool *out,
                                struct mt_error *err)
{
    const char *bytes = search->pair->source + word.begin;
    size_t n = word.end - word.begin, n_first = mt_char_length(bytes);
    char small[MAX_WORD_BYTES + 4];
    size_t n_small = mt_utf8_encode((uint32_t)u_tolower((UChar32)mt_utf8_decode(bytes)), small);
    struct mt_token_list list;
    memcpy(small + n_small, bytes + n_first, n - n_first);
    enum mt_status status = mt_tokenize(search->tokenizer, small, n_small + n - n_first,
                                        MT_TOKENIZE_SOURCE, &list, err);
    if (status)
        return status;
    struct mt_tokens_added added = mt_tokenizer_source_adds(search->tokenizer);
    *out = list.n == added.before + 1 + added.behind && !list.tokens[added.before].unknown;
    mt_token_list_finish(&list);
    return MT_OK;
}

static enum mt_status look_at_word(struct search *search, struct mt_range word, bool is_capital,
                                   bool *found, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    size_t at = find(search->pair, word);
    if (at == SIZE_MAX || !has_target(search, err, &status))
        return status;
    *found = is_doubtful(search, (struct mt_range){at, at + word.end - word.begin});
    if (*found && is_capital)
        status = is_common(search, word, found, err);
    return status;
}

enum mt_status mt_left_words_find(const struct mt_tokenizer *tokenizer,
                                  const struct mt_hypothesis *hypothesis,
                                  const struct mt_proofread_pair *pair, bool *found,
                                  struct mt_error *err)
{
    struct search search = {.tokenizer = tokenizer, .hypothesis = hypothesis, .pair = pair};
    struct mt_range word = {0, 0};
    size_t n_letters, n_small;
    enum mt_status status = MT_OK;
    bool has_found = false,
         is_valid = mt_utf8_valid_prefix(pair->target, pair->n_target) == pair->n_target;
    for (bool is_first = true; hypothesis->token_logprobs && is_valid && !status && !has_found &&
                               next_word(pair, word.end, &word, &n_letters, &n_small);
         is_first = false) {
        bool is_capital = u_isupper((UChar32)mt_utf8_decode(pair->source + word.begin));
        bool is_small = u_islower((UChar32)mt_utf8_decode(pair->source + word.begin));
        if (n_letters >= MIN_LETTERS && word.end - word.begin <= MAX_WORD_BYTES &&
            n_small == n_letters - 1 && (is_small || (is_first && is_capital)) &&
            !is_within_code(pair, word) && !is_ignored(pair, word))
            status = look_at_word(&search, word, is_capital, &has_found, err);
    }
    mt_text_finish(&search.target);
    free(search.spans);
    if (!status)
        *found = has_found;
    return status;
}
