#include "server/text/post_edit.h"

#include "base/ascii.h"
#include "base/size.h"
#include "model/tokenizer/tokenizer.h"
#include "server/text/brands.h"
#include "server/text/capitals.h"
#include "server/text/numbers/number_signs.h"
#include "server/text/scripts.h"
#include "server/text/tagged_text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/ucasemap.h>
#include <unicode/uchar.h>

/* In a map: the byte is not written. */
#define DROPPED ((size_t)-1)

/* Longest word for "and", with blanks around it. */
#define MAX_AND_BYTES 8

/* Most bytes of a word that is changed to small letters, with its NUL. */
#define MAX_WORD_BYTES 64

/* The state while one sentence is edited. */
struct edit {
    const struct mt_tokenizer *tokenizer;
    const char *target_lang;
    const char *source, *target;
    size_t n_source, n_target;
    bool is_unfinished;
    bool goes_on;        /* an ellipsis is before the source */
    bool has_more_marks; /* the source ends with marks that the model was not shown */
    const char *dash;    /* what to write for " - " */
    size_t n_dash;
    size_t *map;
    struct mt_text *out;
};

static uint32_t to_small(uint32_t c)
{
    return (uint32_t)u_tolower((UChar32)c);
}

/* Returns the next word of text[at, length), or an empty range at the end. */
static struct mt_range next_word(const char *text, size_t length, size_t at)
{
    while (at < length && !mt_is_word_char(mt_utf8_decode(text + at)))
        at += mt_char_length(text + at);
    size_t end = at;
    while (end < length && mt_is_word_char(mt_utf8_decode(text + end)))
        end += mt_char_length(text + end);
    return (struct mt_range){at, end};
}

static size_t count_words(const char *text, size_t length)
{
    size_t n = 0;
    for (struct mt_range word = next_word(text, length, 0); word.begin < word.end;
         word = next_word(text, length, word.end))
        n++;
    return n;
}

/* ---- capitals ---- */

static enum mt_status append_large(struct edit *edit, const UCaseMap *rules, const char *bytes,
                                   size_t length, struct mt_error *err)
{
    char large[32]; /* one character becomes at most three */
    UErrorCode code = U_ZERO_ERROR;
    int32_t n = ucasemap_utf8ToUpper(rules, large, sizeof large, bytes, (int32_t)length, &code);
    if (U_FAILURE(code))
        return mt_fail_memory(err, length, "capitals");
    mt_text_append(edit->out, large, (size_t)n);
    return MT_OK;
}

/* ---- brackets and ellipses ---- */

/* Returns the length of the full stops and ellipses that a range begins with; a single full stop
 * does not count. */
static size_t leading_ellipsis(const char *text, struct mt_range range)
{
    size_t at = range.begin, n_dots = 0;
    for (; at < range.end; at += mt_char_length(text + at)) {
        uint32_t c = mt_utf8_decode(text + at);
        if (c != '.' && c != 0x2026)
            break;
        n_dots += c == '.' ? 1 : 2;
    }
    return n_dots > 1 ? at - range.begin : 0;
}

/* Returns the length of the full stops and ellipses at the end of the text. */
static size_t final_ellipsis(const char *text, size_t length)
{
    size_t begin = length, n_dots = 0;
    while (begin > 0) {
        size_t at = mt_previous_char(text, begin);
        uint32_t c = mt_utf8_decode(text + at);
        if (c != '.' && c != 0x2026)
            break;
        n_dots += c == '.' ? 1 : 2;
        begin = at;
    }
    return n_dots > 1 ? length - begin : 0;
}

/* Returns how many more brackets of this kind are opened than closed in the range; *lowest is the
 * least of this number before the last character. */
static int bracket_depth(const char *text, struct mt_range range, uint32_t closing, int *lowest)
{
    uint32_t opening = (uint32_t)u_getBidiPairedBracket((UChar32)closing);
    int depth = 0;
    *lowest = INT_MAX;
    for (size_t at = range.begin; at < range.end; at += mt_char_length(text + at)) {
        uint32_t c = mt_utf8_decode(text + at);
        if (at > range.begin && depth < *lowest)
            *lowest = depth;
        depth += (c == opening) - (c == closing);
    }
    return depth;
}

static bool is_run_mark(uint32_t c)
{
    return c == '!' || c == '?' || c == '.' || c == 0x2026 || c == 0x203C || c == 0x2047 ||
           c == 0x2048 || c == 0x2049 || c == 0xFF01 || c == 0xFF1F || c == 0x3002;
}

/* Returns where the marks begin that a range ends with. */
static size_t run_begin(const char *text, struct mt_range range)
{
    size_t begin = range.end;
    while (begin > range.begin && is_run_mark(mt_utf8_decode(text + mt_previous_char(text, begin))))
        begin = mt_previous_char(text, begin);
    return begin;
}

/* Returns how many bytes of the marks at the end are left out: all but the first mark, or but three
 * full stops, which are a mark of their own. */
static size_t marks_left_out(const char *text, struct mt_range range)
{
    size_t begin = run_begin(text, range);
    if (begin == range.begin || begin == range.end)
        return 0;
    size_t n_dots = strspn(text + begin, ".");
    size_t n_shown = n_dots > 2 ? 3 : mt_char_length(text + begin);
    return n_shown < range.end - begin ? range.end - begin - n_shown : 0;
}

static uint32_t closing_of(uint32_t c)
{
    bool opens = u_getIntPropertyValue((UChar32)c, UCHAR_BIDI_PAIRED_BRACKET_TYPE) == U_BPT_OPEN;
    return opens ? (uint32_t)u_getBidiPairedBracket((UChar32)c) : 0;
}

struct mt_range mt_bare_sentence(const char *text, struct mt_range sentence, uint32_t *closing)
{
    struct mt_range bare = sentence;
    if (sentence.begin == sentence.end)
        return sentence;
    size_t last = mt_previous_char(text, sentence.end);
    uint32_t partner = closing_of(mt_utf8_decode(text + sentence.begin));
    bool is_closed = false;
    int lowest = 0;
    if (partner != 0) {
        int depth = bracket_depth(text, sentence, partner, &lowest);
        bool is_around = depth == 0 && lowest > 0 && mt_utf8_decode(text + last) == partner;
        bool is_open = lowest > 0 && depth > 0;
        if (is_around || is_open)
            bare.begin += mt_char_length(text + bare.begin);
        if (is_around)
            bare.end = last;
        if (is_open)
            *closing = partner;
    } else if (*closing != 0 && mt_utf8_decode(text + last) == *closing) {
        is_closed = bracket_depth(text, sentence, *closing, &lowest) < 0;
        if (is_closed)
            bare.end = last;
    }
    bare = mt_range_trim(text, bare.begin, bare.end);
    bare.begin += leading_ellipsis(text, bare);
    bare = mt_range_trim(text, bare.begin, bare.end);
    bare.end -= marks_left_out(text, bare);
    if (is_closed)
        *closing = 0;
    return bare.begin < bare.end ? bare : sentence;
}

/* ---- repetition ---- */

static bool is_same_word(const char *text_a, struct mt_range a, const char *text_b,
                         struct mt_range b)
{
    size_t i = a.begin, k = b.begin;
    while (i < a.end && k < b.end) {
        uint32_t x = mt_utf8_decode(text_a + i), y = mt_utf8_decode(text_b + k);
        if (u_foldCase((UChar32)x, U_FOLD_CASE_DEFAULT) !=
            u_foldCase((UChar32)y, U_FOLD_CASE_DEFAULT))
            return false;
        i += mt_char_length(text_a + i);
        k += mt_char_length(text_b + k);
    }
    return i == a.end && k == b.end;
}

static bool has_letter(const char *text, struct mt_range word)
{
    for (size_t at = word.begin; at < word.end; at += mt_char_length(text + at))
        if (u_isalpha((UChar32)mt_utf8_decode(text + at)))
            return true;
    return false;
}

/* Returns how long the run of equal words is that begins with `first`, and its last one. Only a
 * blank, hyphen or comma may be between two of them. */
static size_t run_of(const char *text, size_t length, struct mt_range first, struct mt_range *last)
{
    size_t n = 1;
    *last = first;
    for (;;) {
        struct mt_range next = next_word(text, length, last->end);
        if (next.begin == next.end || next.begin - last->end > 2 ||
            strspn(text + last->end, " -,") < next.begin - last->end ||
            !is_same_word(text, first, text, next))
            return n;
        *last = next;
        n++;
    }
}

static void drop(struct edit *edit, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        edit->map[i] = DROPPED;
}

static void drop_repeats(struct edit *edit)
{
    size_t n_words = count_words(edit->target, edit->n_target);
    if (count_words(edit->source, edit->n_source) != 1)
        return;
    struct mt_range last, word = next_word(edit->target, edit->n_target, 0);
    for (; word.begin < word.end; word = next_word(edit->target, edit->n_target, last.end)) {
        size_t n = run_of(edit->target, edit->n_target, word, &last);
        bool is_all = n > 1 && n == n_words;
        if ((n > 2 || is_all) && has_letter(edit->target, word))
            drop(edit, word.end, last.end);
    }
}

/* Models write two blanks where a source has one, as in "Tom Inc.". */
static void drop_blanks(struct edit *edit)
{
    if (memmem(edit->source, edit->n_source, "  ", 2))
        return;
    for (size_t at = 1; at < edit->n_target; at++)
        if (edit->target[at] == ' ' && edit->target[at - 1] == ' ')
            drop(edit, at, at + 1);
}

/* ---- names ---- */

/* Whether a word has a capital inside: iPhone, macOS, YouTube. */
static bool is_camel_case(const char *text, struct mt_range word)
{
    bool has_inner_capital = false, has_small = false;
    for (size_t at = word.begin; at < word.end; at += mt_char_length(text + at)) {
        uint32_t c = mt_utf8_decode(text + at);
        has_inner_capital = has_inner_capital || (at > word.begin && mt_is_capital(c));
        has_small = has_small || u_islower((UChar32)c);
    }
    return has_inner_capital && has_small;
}

/* Returns such a word of the source that differs from the target's only in capitals, and has as
 * many bytes, so that nothing moves; an empty range where there is none. */
static struct mt_range find_name(const struct edit *edit, struct mt_range word)
{
    struct mt_range name = next_word(edit->source, edit->n_source, 0);
    while (name.begin < name.end &&
           (name.end - name.begin != word.end - word.begin || !is_camel_case(edit->source, name) ||
            !is_same_word(edit->source, name, edit->target, word)))
        name = next_word(edit->source, edit->n_source, name.end);
    return name;
}

static bool has_names(const struct edit *edit)
{
    struct mt_range word = next_word(edit->source, edit->n_source, 0);
    while (word.begin < word.end && !is_camel_case(edit->source, word))
        word = next_word(edit->source, edit->n_source, word.end);
    return word.begin < word.end;
}

/* *own: a copy of the target in which these names are spelled as in the source, which the caller
 * frees; NULL where there are none. */
static enum mt_status spell_names(struct edit *edit, char **own, struct mt_error *err)
{
    *own = NULL;
    if (!has_names(edit))
        return MT_OK;
    *own = malloc(edit->n_target + 1);
    if (!*own)
        return mt_fail_memory(err, edit->n_target + 1, "a translation");
    memcpy(*own, edit->target, edit->n_target);
    struct mt_range word = next_word(edit->target, edit->n_target, 0);
    for (; word.begin < word.end; word = next_word(edit->target, edit->n_target, word.end)) {
        struct mt_range name = find_name(edit, word);
        memcpy(*own + word.begin, edit->source + name.begin, name.end - name.begin);
    }
    edit->target = *own;
    return MT_OK;
}

/* Returns the length of the last word of one of both texts before text[end], if a word ends
 * there. */
static size_t word_before(const char *text, size_t end)
{
    size_t begin = end;
    while (begin > 0 && mt_is_word_char(mt_utf8_decode(text + mt_previous_char(text, begin))) &&
           mt_utf8_decode(text + mt_previous_char(text, begin)) < MT_FIRST_IDEOGRAPH)
        begin = mt_previous_char(text, begin);
    return end - begin;
}

/* Whether the text is a word between blanks, or a single character in a script without blanks. */
static bool is_and(const char *text, size_t length)
{
    struct mt_range word = next_word(text, length, 0);
    bool is_bare = mt_char_length(text) == length && mt_utf8_decode(text) >= MT_FIRST_IDEOGRAPH;
    return is_bare ||
           (word.begin == 1 && text[0] == ' ' && word.end == length - 1 && text[length - 1] == ' ');
}

/* Returns the length of the target's "et" at target[at] with its blanks, where the source has
 * "Procter & Gamble" and both names are unchanged beside it; 0 where that is not so. */
static size_t and_between_names(const struct edit *edit, size_t at)
{
    const char *source = edit->source, *target = edit->target;
    size_t n_left = word_before(target, at), from = 0;
    for (const char *sign;
         n_left > 0 && (sign = memmem(source + from, edit->n_source - from, " & ", 3));) {
        size_t end = (size_t)(sign - source);
        struct mt_range right = next_word(source, edit->n_source, from = end + 3);
        size_t n_right = right.end - right.begin,
               n_near = mt_size_min(MAX_AND_BYTES + n_right, edit->n_target - at);
        const char *found = memmem(target + at, n_near, source + right.begin, n_right);
        bool are_names = word_before(source, end) == n_left && right.begin == from &&
                         mt_is_capital(mt_utf8_decode(source + end - n_left)) &&
                         mt_is_capital(mt_utf8_decode(source + from)) &&
                         memcmp(source + end - n_left, target + at - n_left, n_left) == 0;
        if (found > target + at && are_names && is_and(target + at, (size_t)(found - target) - at))
            return (size_t)(found - target) - at;
    }
    return 0;
}

/* Writes the source's dash for " - ", or "us" for a name; returns the length of what it replaces. */
static size_t write_other(const struct edit *edit, size_t at)
{
    if (edit->n_dash == 0 || edit->n_target - at <= 3 || memcmp(edit->target + at, " - ", 3) != 0)
        return mt_brand_write(edit->source, edit->n_source, edit->target, edit->n_target, at,
                              edit->target_lang, edit->out);
    mt_text_append(edit->out, edit->dash, edit->n_dash);
    return 3;
}

/* ---- final mark ---- */

static uint32_t last_char(const char *text, size_t length, size_t *begin)
{
    *begin = length > 0 ? mt_previous_char(text, length) : 0;
    return length > 0 ? mt_utf8_decode(text + *begin) : 0;
}

/* Whether the character is a mark that the model puts behind everything that looks like a sentence.
 * A question mark is not: the model has understood a question. */
static bool is_full_stop(uint32_t c)
{
    return c == '.' || c == '!' || c == 0x3002 || c == 0xFF01;
}

static bool is_final_mark(uint32_t c)
{
    return c != 0 && c < 0x80 ? strchr(".!?:;,", (int)c) != NULL : c == 0x2026;
}

/* Whether a mark that ends a label has a meaning, such as that a dialogue or a value follows. */
static bool replaces_full_stop(uint32_t mark, bool is_ellipsis)
{
    return is_ellipsis || mark == ':' || mark == 0xFF1A;
}

/* Marks that the model was not shown are written behind the sentence as the source has them. So the
 * sentence ends in the source's own mark, too, and all of them have one width. */
static size_t match_final_run(struct edit *edit)
{
    const struct mt_range source = {0, edit->n_source}, target = {0, edit->n_target};
    size_t shown = run_begin(edit->source, source), written = run_begin(edit->target, target);
    size_t n_written = edit->n_target - written, last;
    if (shown == edit->n_source)
        return 0;
    bool is_one = n_written > 0 && n_written == mt_char_length(edit->target + written);
    bool is_kept =
        is_one && edit->n_source - shown == mt_char_length(edit->source + shown) &&
        mt_utf8_decode(edit->source + shown) == last_char(edit->target, edit->n_target, &last);
    if (is_kept)
        return 0;
    drop(edit, written, edit->n_target);
    return edit->n_source - shown;
}

/* Whether the full stop at target[at] belongs to an ordinal number, and the source ends with an
 * ordinal, too: "and 3rd", "und 3.". */
static bool is_ordinal(const struct edit *edit, size_t at)
{
    size_t end = edit->n_source;
    while (end > 0 && mt_ascii_is_small(edit->source[end - 1]))
        end--;
    return edit->n_source - end == 2 && end > 0 && mt_ascii_is_digit(edit->source[end - 1]) &&
           at > 0 && mt_ascii_is_digit(edit->target[at - 1]) && edit->target[at] == '.';
}

/* Whether the text is no sentence, and its full stop belongs to a.m. or p.m.: "9 a.m." */
static bool ends_in_half(const char *text, size_t length)
{
    return length > 4 && text[length - 5] == ' ' && !mt_is_capital(mt_utf8_decode(text)) &&
           (memcmp(text + length - 4, "a.m.", 4) == 0 || memcmp(text + length - 4, "p.m.", 4) == 0);
}

/* Writes the source's last n bytes, which are a mark that the target lacks. Behind Chinese and
 * Japanese letters a full stop is theirs. */
static void write_final_mark(struct edit *edit, size_t n)
{
    size_t at;
    uint32_t last = last_char(edit->target, edit->n_target, &at);
    const char *mark = edit->source + edit->n_source - n;
    bool is_stop =
        n == 1 && *mark == '.' && mt_script_is_unspaced(last) && last >= MT_FIRST_IDEOGRAPH;
    if (is_stop)
        mt_text_append_char(edit->out, 0x3002);
    else
        mt_text_append(edit->out, mark, n);
}

/* Returns how many bytes of the source's end have to be written behind the sentence. */
static size_t match_final_mark(struct edit *edit)
{
    if (edit->has_more_marks)
        return match_final_run(edit);
    size_t at, mark_begin;
    uint32_t wanted = last_char(edit->source, edit->n_source, &mark_begin);
    uint32_t found = last_char(edit->target, edit->n_target, &at);
    size_t n_ellipsis = final_ellipsis(edit->source, edit->n_source);
    size_t n_wanted = n_ellipsis > 0 ? n_ellipsis : edit->n_source - mark_begin;
    if (is_final_mark(wanted) && mt_is_word_char(found))
        return ends_in_half(edit->source, edit->n_source) ? 0 : n_wanted;
    size_t n_found = final_ellipsis(edit->target, edit->n_target);
    if (n_ellipsis > 0 && n_found > 0 && n_found != n_ellipsis) {
        drop(edit, edit->n_target - n_found, edit->n_target);
        return n_ellipsis;
    }
    bool is_stop = is_full_stop(found) && n_found == 0 && !is_ordinal(edit, at);
    bool is_replaced = replaces_full_stop(wanted, n_ellipsis > 0);
    if (is_stop && (mt_is_word_char(wanted) || is_replaced))
        drop(edit, at, edit->n_target);
    return is_stop && is_replaced ? n_wanted : 0;
}

/* ---- first letter ---- */

/* Whether the word is in the list, which has a blank on both sides of each, and the language is
 * German. */
static bool is_german(const char *language, const char *list, const char *word)
{
    char spaced[MAX_WORD_BYTES + 2];
    if (!language || strncmp(language, "de", 2) != 0)
        return false;
    snprintf(spaced, sizeof spaced, " %s ", word);
    return strstr(list, spaced) != NULL;
}

/* Polite pronouns, which have a capital anywhere, and words that are no nouns although they are
 * more frequent with a capital, because sentences begin with them. */
static const char polite[] = " Sie Ihr Ihre Ihrem Ihren Ihrer Ihres Ihnen ";
static const char beginnings[] = " Ja Nein Danke Bitte Vielleicht Okay Warum Wann Wer Was Wie Wo "
                                 "Ich Er Es Wir Man Diese Dieses Klicken Komm Geh Bist Kannst ";

/* Whether the vocabulary has the word in small letters as one piece. It does not have nouns and
 * names so. */
static bool is_known_small(const struct edit *edit, struct mt_range word)
{
    char small[MAX_WORD_BYTES], as_is[MAX_WORD_BYTES], letter[4];
    size_t length = word.end - word.begin;
    uint32_t first = mt_utf8_decode(edit->target + word.begin);
    struct mt_token_list tokens;
    struct mt_error err;
    if (length >= sizeof small || length <= mt_char_length(edit->target + word.begin))
        return false; /* "I" */
    memcpy(as_is, edit->target + word.begin, length);
    as_is[length] = '\0';
    memcpy(small, as_is, length + 1);
    if (mt_utf8_encode(to_small(first), letter) != mt_char_length(as_is))
        return false;
    memcpy(small, letter, mt_char_length(as_is));
    if (is_german(edit->target_lang, polite, as_is) ||
        mt_tokenize(edit->tokenizer, small, length, MT_TOKENIZE_TARGET, &tokens, &err))
        return false;
    bool is_known = tokens.n == 2 && !tokens.tokens[0].unknown; /* the other token is eos */
    int32_t id = is_known ? tokens.tokens[0].id : 0;
    mt_token_list_finish(&tokens);
    /* A vocabulary begins with what is frequent: a German noun is rarer in small letters. */
    bool may_be_noun = is_known && edit->target_lang && strncmp(edit->target_lang, "de", 2) == 0 &&
                       !is_german(edit->target_lang, beginnings, as_is);
    if (!may_be_noun ||
        mt_tokenize(edit->tokenizer, as_is, length, MT_TOKENIZE_TARGET, &tokens, &err))
        return is_known;
    bool is_noun = tokens.n == 2 && !tokens.tokens[0].unknown && tokens.tokens[0].id < id;
    mt_token_list_finish(&tokens);
    return !is_noun;
}

enum first_letter { FIRST_AS_IT_IS, FIRST_CAPITAL, FIRST_SMALL };

static enum first_letter find_first_letter(const struct edit *edit)
{
    if (edit->n_source == 0 || edit->n_target == 0)
        return FIRST_AS_IT_IS;
    size_t at;
    uint32_t wanted = mt_utf8_decode(edit->source), found = mt_utf8_decode(edit->target);
    struct mt_range word = next_word(edit->target, edit->n_target, 0);
    struct mt_range name = find_name(edit, word);
    if (name.begin < name.end)
        return FIRST_AS_IT_IS;
    if (mt_is_capital(wanted) && u_islower((UChar32)found))
        return FIRST_CAPITAL;
    bool is_fragment =
        edit->goes_on || mt_is_word_char(last_char(edit->source, edit->n_source, &at));
    bool is_acronym = word.end > mt_char_length(edit->target) &&
                      mt_is_capital(mt_utf8_decode(edit->target + mt_char_length(edit->target)));
    if (is_fragment && u_islower((UChar32)wanted) && mt_is_capital(found) && !is_acronym &&
        is_known_small(edit, word))
        return FIRST_SMALL;
    return FIRST_AS_IT_IS;
}

/* ---- no words ---- */

static size_t next_digit(const char *text, size_t length, size_t at)
{
    while (at < length && !mt_ascii_is_digit(text[at]))
        at++;
    return at;
}

/* Whether the text has a symbol that may stand for a word: "5 $", "5 %", "5 + 3". */
static bool has_symbol(const char *text, size_t length)
{
    for (size_t at = 0; at < length; at += mt_char_length(text + at)) {
        UChar32 c = (UChar32)mt_utf8_decode(text + at);
        if (c == '%' || (U_GET_GC_MASK(c) & U_GC_S_MASK))
            return true;
    }
    return false;
}

static bool ends_in_colon(const char *text, size_t length)
{
    struct mt_range range = mt_range_trim(text, 0, length);
    return range.begin < range.end && text[range.end - 1] == ':';
}

/* Other digits than the source's count as its translation, such as those of an hour or of a number
 * in words. */
bool mt_has_lost_words(const char *source, size_t n_source, const char *target, size_t n_target)
{
    if (ends_in_colon(target, n_target) && !ends_in_colon(source, n_source) &&
        memchr(source, ':', n_source)) /* "Wi-Fi: on" */
        return has_letter(source, (struct mt_range){0, n_source});
    if (!has_letter(source, (struct mt_range){0, n_source}) ||
        has_letter(target, (struct mt_range){0, n_target}))
        return false;
    size_t k = next_digit(target, n_target, 0), i = next_digit(source, n_source, 0);
    if (k == n_target)
        return true;
    while (i < n_source && k < n_target && source[i] == target[k]) {
        i = next_digit(source, n_source, i + 1);
        k = next_digit(target, n_target, k + 1);
    }
    return i == n_source && k == n_target && !has_symbol(target, n_target);
}

/* Writes the source instead of the target; positions of digits are mapped to those of the
 * target. */
static void write_source(struct edit *edit)
{
    size_t i = 0;
    for (size_t at = 0; at < edit->n_target; at++) {
        if (mt_ascii_is_digit(edit->target[at]))
            i = next_digit(edit->source, edit->n_source, i);
        edit->map[at] = edit->out->length + i;
        i += mt_ascii_is_digit(edit->target[at]);
    }
    mt_text_append(edit->out, edit->source, edit->n_source);
}

/* ---- quotation marks ---- */

/* Returns the character that closes what c opens in a translation; 0 where c opens nothing. */
static uint32_t closing_quote(uint32_t c)
{
    return c == 0xAB ? 0xBB : c == 0x201E ? 0x201C : c == 0x201C ? 0x201D : 0;
}

/* Finds the quotation mark at which a quotation ends before the sentence goes on, as in "Yes, I
 * will," she said, and returns how often the quotation has it: 2; or 0 where there is no such
 * mark. */
static size_t count_quoted(const struct edit *edit, char *mark)
{
    size_t n_marks = 0, n = 0, begin = 0;
    for (size_t at = 0; at < edit->n_source; at += mt_char_length(edit->source + at)) {
        uint32_t c = mt_utf8_decode(edit->source + at);
        if (c != '"' && c != 0x201C && c != 0x201D)
            continue;
        n_marks++;
        if (n_marks == 1)
            begin = at;
        *mark = n_marks == 2 && at + mt_char_length(edit->source + at) < edit->n_source
                    ? edit->source[at - 1]
                    : '\0';
        for (size_t i = begin; i < at && (*mark == ',' || *mark == '?' || *mark == '!'); i++)
            n += edit->source[i] == *mark;
    }
    return n_marks == 2 ? n : 0;
}

/* A quotation mark that the target lacks, as in "I will come," she said: it belongs before the
 * comma at `at`, or behind ? or !. */
struct lost_quote {
    size_t at;
    struct mt_range blank; /* what is between the other mark and the words */
    uint32_t closing;      /* the missing mark; 0: none is missing */
};

static struct lost_quote find_lost_quote(const struct edit *edit)
{
    struct lost_quote lost = {0};
    char mark = '\0';
    size_t n_wanted = count_quoted(edit, &mark), n = 0;
    for (size_t at = 0; at < edit->n_target && n_wanted > 0;
         at += mt_char_length(edit->target + at)) {
        uint32_t c = mt_utf8_decode(edit->target + at);
        if (lost.closing && (c == lost.closing || c == 0x201D || closing_quote(c)))
            return (struct lost_quote){0};
        if (closing_quote(c)) {
            size_t next = at + mt_char_length(edit->target + at);
            bool is_blank =
                next < edit->n_target && mt_is_space(mt_utf8_decode(edit->target + next));
            lost.closing = closing_quote(c);
            lost.blank =
                (struct mt_range){next, next + is_blank * mt_char_length(edit->target + next)};
        }
        if (lost.closing && c == (unsigned char)mark && n++ < n_wanted)
            lost.at = at + (mark != ',');
    }
    return n > 0 ? lost : (struct lost_quote){0};
}

static void write_lost_quote(const struct edit *edit, const struct lost_quote *lost)
{
    mt_text_append(edit->out, edit->target + lost->blank.begin,
                   lost->blank.end - lost->blank.begin);
    mt_text_append_char(edit->out, lost->closing);
}

/* ---- a sentence ---- */

static enum mt_status write_sentence(struct edit *edit, const UCaseMap *rules,
                                     enum first_letter first, struct mt_error *err)
{
    const struct mt_number_signs signs = {.source = edit->source,
                                          .target = edit->target,
                                          .n_source = edit->n_source,
                                          .n_target = edit->n_target,
                                          .target_lang = edit->target_lang};
    const struct lost_quote lost = find_lost_quote(edit);
    const bool has_and = memmem(edit->source, edit->n_source, " & ", 3);
    enum mt_status status = MT_OK;
    for (size_t at = 0, n; at < edit->n_target && !status; at += n) {
        if (lost.closing && at == lost.at)
            write_lost_quote(edit, &lost);
        bool is_dropped = edit->map[at] == DROPPED;
        size_t to = edit->out->length;
        size_t n_sign = is_dropped || !has_and ? 0 : and_between_names(edit, at);
        if (n_sign)
            mt_text_append_string(edit->out, " & ");
        else if (!is_dropped && (n_sign = write_other(edit, at)) == 0)
            n_sign = mt_number_sign_write(&signs, at, edit->out);
        n = n_sign ? n_sign : mt_char_length(edit->target + at);
        for (size_t i = at; i < at + n; i++)
            edit->map[i] = to;
        if (is_dropped || n_sign)
            continue;
        uint32_t c = mt_utf8_decode(edit->target + at);
        if (rules)
            status = append_large(edit, rules, edit->target + at, n, err);
        else if (at == 0 && first == FIRST_CAPITAL)
            mt_text_append_char(edit->out, (uint32_t)u_totitle((UChar32)c));
        else if (at == 0 && first == FIRST_SMALL)
            mt_text_append_char(edit->out, to_small(c));
        else
            mt_text_append(edit->out, edit->target + at, n);
    }
    return status;
}

static enum mt_status edit_sentence(struct edit *edit, struct mt_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    UCaseMap *rules = NULL;
    char *own;
    if (mt_has_lost_words(edit->source, edit->n_source, edit->target, edit->n_target)) {
        write_source(edit);
        return MT_OK;
    }
    enum mt_status status = spell_names(edit, &own, err);
    if (status)
        return status;
    memset(edit->map, 0, edit->n_target * sizeof *edit->map);
    drop_repeats(edit);
    drop_blanks(edit);
    size_t n_mark = edit->is_unfinished ? 0 : match_final_mark(edit);
    enum first_letter first = find_first_letter(edit);
    bool is_shown_small = false;
    status = mt_is_shown_small(edit->tokenizer, edit->source, edit->n_source, &is_shown_small, err);
    if (is_shown_small) {
        rules = ucasemap_open(edit->target_lang ? edit->target_lang : "", 0, &code);
        if (U_FAILURE(code))
            status = mt_fail_memory(err, 0, "ICU's case rules");
    }
    if (!status)
        status = write_sentence(edit, rules, first, err);
    write_final_mark(edit, n_mark);
    ucasemap_close(rules);
    free(own);
    return status;
}

static void copy_gap(const struct mt_post_edit_input *input, size_t begin, size_t end, size_t *map,
                     struct mt_text *out)
{
    for (size_t i = begin; i < end; i++)
        map[i] = out->length + i - begin;
    mt_text_append(out, input->target + begin, end - begin);
}

enum mt_status mt_post_edit(const struct mt_post_edit_input *input, size_t *map,
                            struct mt_range *sentences, struct mt_text *out, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    size_t at = 0;
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < input->n_sentences && !status; i++) {
        struct mt_range from = input->source_sentences[i], to = input->target_sentences[i];
        copy_gap(input, at, to.begin, map, out);
        sentences[i].begin = out->length;
        struct edit edit = {
            .tokenizer = input->tokenizer,
            .target_lang = input->target_lang,
            .source = input->source + from.begin,
            .target = input->target + to.begin,
            .n_source = from.end - from.begin,
            .n_target = to.end - to.begin,
            .is_unfinished = input->are_unfinished && input->are_unfinished[i],
            .goes_on =
                final_ellipsis(input->source, mt_range_trim(input->source, 0, from.begin).end) > 0,
            .has_more_marks =
                input->source[from.end] && is_run_mark(mt_utf8_decode(input->source + from.end)),
            .dash = input->dash,
            .n_dash = input->n_dash,
            .map = map + to.begin,
            .out = out,
        };
        status = edit_sentence(&edit, err);
        sentences[i].end = out->length;
        at = to.end;
    }
    if (status)
        return status;
    copy_gap(input, at, input->target_length, map, out);
    map[input->target_length] = out->length;
    return mt_text_check(out, "a translation", err);
}
