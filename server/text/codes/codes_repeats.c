/* Finds words that are repeated: "no no no", "very very good". */
#include "server/text/codes/codes_state.h"

#include <strings.h>

#include <unicode/uchar.h>

#define MAX_WORD_BYTES 64

/* Words that are repeated for emphasis. Other words may stand twice because of grammar: "had had",
 * "people, people with guns". */
static const char *const emphatic[] = {
    "again", "ah",     "bad",      "big",   "blah",    "bye",   "dear",   "deep", "far",
    "fine",  "go",     "good",     "great", "ha",      "haha",  "hello",  "help", "here",
    "hey",   "hi",     "horrible", "huge",  "hurry",   "knock", "little", "long", "look",
    "many",  "more",   "much",     "never", "nice",    "no",    "now",    "oh",   "ok",
    "okay",  "old",    "please",   "quick", "quickly", "quite", "really", "run",  "sad",
    "slow",  "slowly", "small",    "so",    "sorry",   "stop",  "thanks", "too",  "truly",
    "uh",    "um",     "very",     "wait",  "well",    "wow",   "wrong",  "yeah", "yes",
    "young", NULL};

static bool is_word_char(uint32_t c)
{
    return mt_codes_is_letter(c) || mt_codes_is_digit(c) || c == '_';
}

/* Whether the character belongs to a word where a letter follows, as in "e.g.no", or is
 * invisible. */
static bool may_join(const struct mt_codes_finder *finder, size_t at)
{
    uint32_t c = mt_codes_at(finder, at);
    return (c < 0x80 && strchr("'.:,-_@#&+=/", (int)c)) || c == 0x2019 || c == 0x202F ||
           u_hasBinaryProperty((UChar32)c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) ||
           (u_charType((UChar32)c) == U_CONTROL_CHAR && !mt_codes_is_blank(c));
}

/* Whether there is a code, as in "no</b>no". The words beside it become neighbours when it is taken
 * out. */
static bool is_code(const struct mt_codes_finder *finder, size_t at)
{
    return finder->taken[at] != MT_FREE;
}

/* Whether the model may see the word as a part of a longer one. */
static bool is_joined(const struct mt_codes_finder *finder, struct mt_range word)
{
    const char *text = finder->text;
    size_t before = word.begin, behind = word.end;
    while (before > 0 && may_join(finder, mt_previous_char(text, before)))
        before = mt_previous_char(text, before);
    while (behind < finder->length && may_join(finder, behind))
        behind = mt_codes_next(finder, behind);
    return (before > 0 && is_code(finder, mt_previous_char(text, before))) ||
           (behind < finder->length && is_code(finder, behind)) ||
           is_word_char(mt_codes_before(finder, before)) ||
           is_word_char(mt_codes_at(finder, behind));
}

static struct mt_range next_word(const struct mt_codes_finder *finder, size_t at, bool *is_word)
{
    while (at < finder->length && !is_word_char(mt_codes_at(finder, at)))
        at = mt_codes_next(finder, at);
    struct mt_range word = {at, at};
    *is_word = true;
    while (at < finder->length && is_word_char(mt_codes_at(finder, at))) {
        *is_word = *is_word && mt_codes_is_letter(mt_codes_at(finder, at)) &&
                   !mt_codes_is_unread(finder, mt_codes_at(finder, at)) &&
                   finder->taken[at] == MT_FREE;
        at = mt_codes_next(finder, at);
    }
    word.end = at;
    *is_word = *is_word && word.begin < word.end && word.end - word.begin <= MAX_WORD_BYTES &&
               !is_joined(finder, word);
    return word;
}

static bool is_same(const struct mt_codes_finder *finder, struct mt_range a, struct mt_range b)
{
    size_t i = a.begin, k = b.begin;
    while (i < a.end && k < b.end) {
        UChar32 one = (UChar32)mt_codes_at(finder, i), other = (UChar32)mt_codes_at(finder, k);
        if (u_foldCase(one, U_FOLD_CASE_DEFAULT) != u_foldCase(other, U_FOLD_CASE_DEFAULT))
            return false;
        i = mt_codes_next(finder, i);
        k = mt_codes_next(finder, k);
    }
    return i == a.end && k == b.end;
}

/* Whether the bytes are one blank, or a comma and a blank, and none of them is the reader's. */
static bool is_separator(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    bool is_one = (end - begin == 1 && finder->text[begin] == ' ') ||
                  (end - begin == 2 && memcmp(finder->text + begin, ", ", 2) == 0);
    return is_one && mt_codes_is_free(finder, begin, end);
}

static bool is_emphatic(const struct mt_codes_finder *finder, struct mt_range word)
{
    return mt_codes_is_english(finder) &&
           mt_codes_is_among_any_case(emphatic, finder->text + word.begin, word.end - word.begin);
}

static bool has_own(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t first = mt_codes_first_own(finder->segment, begin);
    return first < finder->segment->n && finder->segment->codes[first].at.begin < end;
}

/* Ends a run in which the first word is repeated: it is there n times. */
static void end_run(struct mt_codes_finder *finder, struct mt_range first, size_t last_end,
                    size_t n)
{
    if (n < 2 || (n == 2 && !is_emphatic(finder, first)) || has_own(finder, first.begin, last_end))
        return;
    for (size_t at = first.end; at < last_end;) {
        bool is_word;
        struct mt_range word = next_word(finder, at, &is_word);
        mt_codes_claim(finder, MT_CODE_REPEAT, at, word.end);
        at = word.end;
    }
}

void mt_codes_find_repeats(struct mt_codes_finder *finder)
{
    struct mt_range first = {0, 0}, last = {0, 0};
    size_t n = 0;
    for (size_t at = 0; at < finder->length && !finder->status;) {
        bool is_word;
        struct mt_range word = next_word(finder, at, &is_word);
        if (word.begin == word.end)
            break;
        bool goes_on = n > 0 && is_word && is_separator(finder, last.end, word.begin) &&
                       is_same(finder, last, word);
        if (!goes_on) {
            end_run(finder, first, last.end, n);
            first = word;
            n = 0;
        }
        n += is_word;
        last = word;
        at = word.end;
    }
    end_run(finder, first, last.end, n);
}
