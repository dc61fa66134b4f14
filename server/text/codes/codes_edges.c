/* Finds what separates texts in a line: separators between the words of a path, signs at a text's
 * ends, leader dots, quotation marks around a word. */
#include "server/text/codes/codes_state.h"
#include "server/text/placeholders.h"

#include <unicode/uchar.h>

/* Fewest dots that are leaders instead of an ellipsis. */
#define LEAST_LEADERS 4
/* Words farther away belong to another sentence. */
#define MAX_LOOK_BYTES 1000
/* Most words of a text beside a separator; a longer one is a sentence and not an item of a menu. */
#define MOST_TITLE_WORDS 3
/* Most bytes of a preposition: by, to, with. */
#define MAX_GOVERNING_BYTES 4
/* Most quotation marks around each other. */
#define MOST_QUOTE_LEVELS 2

/* ---- what items are ---- */

static bool is_content(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    (void)finder;
    switch (item->taken) {
    case MT_FREE:
        return item->has_letter || item->has_digit;
    case MT_TAKEN_OWN:
    case MT_TAKEN_WORD:
    case MT_TAKEN_LOOSE:
        return true;
    default:
        return false;
    }
}

/* Whether the item is signs without a letter or digit, other than a sentence's punctuation and
 * dashes. */
static bool is_sign_run(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    bool has_sign = false;
    if (item->taken != MT_FREE || item->has_letter || item->has_digit)
        return false;
    for (size_t i = item->begin; i < item->end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        if (mt_is_word_char(c))
            return false;
        has_sign = has_sign || mt_codes_is_sign(c) || mt_codes_is_unread(finder, c);
    }
    return has_sign;
}

static bool is_one_character(const struct mt_codes_finder *finder, const struct mt_codes_item *item,
                             const uint32_t *characters)
{
    uint32_t c = mt_codes_at(finder, item->begin);
    for (; *characters; characters++)
        if (c == *characters && mt_codes_next(finder, item->begin) == item->end)
            return true;
    return false;
}

static bool is_text(const struct mt_codes_finder *finder, const struct mt_codes_item *item,
                    const char *text)
{
    return item->end - item->begin == strlen(text) &&
           memcmp(finder->text + item->begin, text, item->end - item->begin) == 0;
}

/* Whether the item has at least two letters, so that it is a word and not an operand. */
static bool is_word(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    size_t n = 0;
    if (item->taken != MT_FREE)
        return is_content(finder, item);
    for (size_t i = item->begin; i < item->end; i = mt_codes_next(finder, i))
        n += mt_codes_is_letter(mt_codes_at(finder, i));
    return n >= 2;
}

/* > » › → ▸ between words. */
static bool is_path_sign(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    static const uint32_t signs[] = {'>',    0xBB,   0x203A, 0x2192, 0x25B8, 0x25B6, 0x25BA,
                                     0x27A4, 0x279C, 0x2794, 0x21D2, 0x276F, 0x25B9, 0};
    return item->taken == MT_FREE && (is_one_character(finder, item, signs) ||
                                      is_text(finder, item, "->") || is_text(finder, item, "=>") ||
                                      is_text(finder, item, ">>") || is_text(finder, item, "-->"));
}

/* ---- titles: a few words without a sentence's end ---- */

static bool is_edge_item(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    return finder->taken[item->begin] == MT_TAKEN_EDGE;
}

static bool is_slash(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    return item->taken == MT_FREE && is_text(finder, item, "/");
}

/* Returns how many words there are on one side of a sign before the next edge or a sentence's end;
 * more than a title has where a sentence ends there. */
static size_t count_title(const struct mt_codes_finder *finder, size_t i, bool is_forward)
{
    size_t n = 0;
    for (size_t k = i; n <= MOST_TITLE_WORDS;) {
        if (is_forward ? ++k >= finder->n_items : k-- == 0)
            break;
        const struct mt_codes_item *item = &finder->items[k];
        if (is_edge_item(finder, item) || is_slash(finder, item) || is_sign_run(finder, item))
            break;
        bool ends_sentence = item->taken == MT_FREE && item->core_end < item->end &&
                             mt_codes_is_one_of(finder->text[item->end - 1], ".,;!?");
        n += ends_sentence ? MOST_TITLE_WORDS + 1 : is_content(finder, item);
    }
    return n;
}

static bool is_title(size_t n_words)
{
    return n_words > 0 && n_words <= MOST_TITLE_WORDS;
}

/* Whether the item is the dash of times such as 9 am - 5:30 pm, of which models lose one. */
static bool is_dash_of_times(const struct mt_codes_finder *finder, size_t i)
{
    static const char *const halves[] = {"am", "pm", "AM", "PM", "a.m.", "p.m."};
    const struct mt_codes_item *item = &finder->items[i];
    bool is_one = false;
    if (i == 0 || i + 1 >= finder->n_items || !(item[1].has_digit && mt_codes_is_english(finder)) ||
        !(is_text(finder, item, "-") || is_text(finder, item, "\xE2\x80\x93")))
        return false;
    for (size_t k = 0; k < sizeof halves / sizeof *halves; k++)
        is_one = is_one || is_text(finder, item - 1, halves[k]);
    return is_one;
}

/* "Yes / No / Cancel", "Title -- Subtitle": a slash or two hyphens between blanks, with a few words on
 * both sides. */
static bool parts_titles(const struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i];
    bool is_double = item->taken == MT_FREE && is_text(finder, item, "--");
    bool is_sign = is_slash(finder, item) || is_double || is_dash_of_times(finder, i);
    return is_sign && is_title(count_title(finder, i, false)) &&
           is_title(count_title(finder, i, true));
}

/* ---- separators ---- */

static bool is_letter_at(const struct mt_codes_finder *finder, size_t at)
{
    return mt_codes_is_letter(mt_codes_at(finder, at));
}

/* Whether a single letter is before `at`, so that it may be an operand, as in a|b. The text's
 * beginning counts as a letter. */
static bool is_short_before(const struct mt_codes_finder *finder, size_t at)
{
    return at == 0 ||
           !mt_codes_is_letter(mt_codes_before(finder, mt_previous_char(finder->text, at)));
}

static bool is_short_behind(const struct mt_codes_finder *finder, size_t at)
{
    return !is_letter_at(finder, mt_codes_next(finder, at));
}

/* Whether a word or a placeholder ends before text[at], or begins there. */
static bool is_word_end(const struct mt_codes_finder *finder, size_t at)
{
    return at > 0 &&
           (finder->taken[at - 1] == MT_TAKEN_WORD ||
            (mt_codes_is_letter(mt_codes_before(finder, at)) && !is_short_before(finder, at)));
}

static bool is_word_begin(const struct mt_codes_finder *finder, size_t at)
{
    return at < finder->length && (finder->taken[at] == MT_TAKEN_WORD ||
                                   (is_letter_at(finder, at) && !is_short_behind(finder, at)));
}

/* A bar separates texts where blanks are on both sides of it, or words without any. */
void mt_codes_take_bars(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i), before = mt_codes_before(finder, i);
        size_t next = mt_codes_next(finder, i);
        uint32_t behind = mt_codes_at(finder, next);
        if (finder->taken[i] != MT_FREE || (c != '|' && c != 0xFF5C && c != 0x2502))
            continue;
        bool is_alone = mt_codes_is_blank(before) && mt_codes_is_blank(behind);
        size_t stop = behind == c ? mt_codes_next(finder, next) : next; /* Hello||World */
        bool has_words =
            i > begin && stop < end && is_word_end(finder, i) && is_word_begin(finder, stop);
        if (is_alone || has_words)
            mt_codes_claim(finder, MT_CODE_EDGE, i, has_words ? stop : next);
    }
}

/* Whether a single letter is beside the comma. */
static bool is_cell_short(const struct mt_codes_finder *finder, size_t at)
{
    return (!mt_codes_digit_at(finder, at - 1) && is_short_before(finder, at)) ||
           (!mt_codes_digit_at(finder, at + 1) && is_short_behind(finder, at + 1));
}

/* Takes words with only commas or semicolons between them, such as red,green,blue. A single comma
 * is a mistake in a sentence. */
static bool take_listed(struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    size_t n_commas = 0, n_semicolons = 0, n_names = 0;
    if (item->taken != MT_FREE || !item->has_letter)
        return false;
    for (size_t i = item->core_begin; i < item->core_end; i = mt_codes_next(finder, i)) {
        bool is_mark = mt_codes_is_one_of(finder->text[i], ",;");
        /* a cell of digits, as in Tom,35,Berlin, or that ends with some, as in col1;col2 */
        if (!is_mark && mt_codes_digit_at(finder, i)) {
            size_t end = i;
            while (mt_codes_digit_at(finder, end))
                end++;
            bool is_cell = i > item->core_begin && mt_codes_is_one_of(finder->text[i - 1], ",;") &&
                           end < item->core_end && mt_codes_is_one_of(finder->text[end], ",;") &&
                           is_letter_at(finder, end + 1);
            bool is_end = i > item->core_begin + 1 &&
                          mt_codes_is_letter(mt_codes_before(finder, i)) &&
                          (end == item->core_end || mt_codes_is_one_of(finder->text[end], ",;"));
            if (!is_cell && !is_end)
                return false;
            i = end - 1;
            n_names += is_end;
            continue;
        }
        if (is_mark ? is_cell_short(finder, i) : !is_letter_at(finder, i))
            return false;
        n_commas += finder->text[i] == ',';
        n_semicolons += finder->text[i] == ';';
    }
    if (n_commas + 2 * n_semicolons < 2)
        return false;
    if (n_names == n_commas + n_semicolons + 1)
        return mt_codes_take(finder, MT_CODE_WORD, item->core_begin, item->core_end);
    for (size_t i = item->core_begin; i < item->core_end; i++)
        if (mt_codes_is_one_of(finder->text[i], ",;"))
            mt_codes_claim(finder, MT_CODE_EDGE, i, i + 1);
    return true;
}

/* Takes on/off or he/she, alone or behind a colon; not km/h or TCP/IP, nor and/or, which is one
 * word in some languages. */
static bool take_choice(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i];
    size_t n_slashes = 0, n_small = 0;
    bool is_alone = i == 0 || finder->text[item[-1].end - 1] == ':';
    if (!is_alone || i + 1 < finder->n_items || item->taken != MT_FREE ||
        is_text(finder, item, "and/or"))
        return false;
    for (size_t at = item->core_begin; at < item->core_end; at = mt_codes_next(finder, at)) {
        bool is_slash = finder->text[at] == '/';
        if (is_slash ? is_cell_short(finder, at) : !is_letter_at(finder, at))
            return false;
        n_slashes += is_slash;
        n_small += u_islower((UChar32)mt_codes_at(finder, at)) != 0;
    }
    for (size_t at = item->core_begin; at < item->core_end && n_slashes > 0 && n_small > 0; at++)
        if (finder->text[at] == '/')
            mt_codes_claim(finder, MT_CODE_EDGE, at, at + 1);
    return n_slashes > 0 && n_small > 0;
}

static bool take_lists(struct mt_codes_finder *finder)
{
    bool has_some = false;
    for (size_t i = 0; i < finder->n_items; i++)
        has_some |= take_listed(finder, &finder->items[i]);
    return has_some || (finder->n_items > 0 && take_choice(finder, finder->n_items - 1));
}

/* Counts the quotation marks that are open behind text[begin, end), because a mark that closes one
 * is not a sign of a path. */
static void count_quotes(const struct mt_codes_finder *finder, size_t begin, size_t end,
                         size_t *n_open)
{
    for (size_t i = begin; i < end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        *n_open += c == 0xAB || c == 0x2039;
        *n_open -= (c == 0xBB || c == 0x203A) && *n_open > 0;
    }
}

static bool is_strange(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    for (size_t i = item->begin; i < item->end; i = mt_codes_next(finder, i))
        if (mt_codes_is_strange(finder, mt_codes_at(finder, i)))
            return true;
    return false;
}

static void take_separators(struct mt_codes_finder *finder)
{
    size_t n_open = 0;
    for (size_t i = 0; i < finder->n_items; i++) {
        const struct mt_codes_item *item = &finder->items[i];
        bool is_in_quotes = n_open > 0;
        count_quotes(finder, item->begin, item->end, &n_open);
        if (i == 0 || i + 1 == finder->n_items || (is_in_quotes && n_open == 0) ||
            !(is_path_sign(finder, item) || parts_titles(finder, i)))
            continue;
        uint32_t sign = mt_codes_at(finder, item->begin);
        bool is_arrow = sign >= 0x2190 || sign == '-'; /* Step 1 → Step 2 */
        bool is_behind = is_word(finder, item - 1) || (is_arrow && (item - 1)->has_digit) ||
                         (is_sign_run(finder, item - 1) && is_strange(finder, item - 1));
        bool is_before = is_word(finder, item + 1) || is_dash_of_times(finder, i);
        if (is_behind && is_before && (item - 1)->end < item->begin &&
            item->end < (item + 1)->begin)
            mt_codes_claim(finder, MT_CODE_EDGE, item->begin, item->end);
    }
}

/* ---- signs that stand alone ---- */

/* && and || are of programs, and // parts texts. */
static bool is_operator(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    return is_text(finder, item, "&&") || is_text(finder, item, "||") ||
           is_text(finder, item, "//");
}

/* % & $ and # + stand for words. */
static bool stands_for_word(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    for (size_t i = item->begin; i < item->end && !is_operator(finder, item);
         i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        if (!mt_codes_is_unread(finder, c) &&
            (u_charType((UChar32)c) == U_CURRENCY_SYMBOL || (c < 0x80 && strchr("%&+#@", (int)c))))
            return true;
    }
    return false;
}

/* Whether the item separates texts where it is between blanks, however long they are. */
static bool is_bullet(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    static const uint32_t bullets[] = {0x2022, 0xB7,   0x25CF, 0x25AA, 0x25E6, 0x2023,
                                       0x2027, 0x2219, 0x25A0, 0x25C6, 0x2666, 0x203B,
                                       0xA6,   0x30FB, 0x2610, 0x2611, 0x2612, 0};
    return is_one_character(finder, item, bullets);
}

/* Whether the model can read the sign and it says something about a number: "~ 5 people", "1/2". */
static bool is_of_number(const struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i];
    uint32_t c = mt_codes_at(finder, item->begin);
    if (item->has_unread || !mt_codes_joins_numbers(c) || c == '=' ||
        item->end != mt_codes_next(finder, item->begin))
        return false;
    bool is_fraction = u_charType((UChar32)c) == U_OTHER_NUMBER;
    return is_fraction || (i + 1 < finder->n_items && finder->items[i + 1].has_digit) ||
           (i > 0 && finder->items[i - 1].has_digit);
}

/* Returns where the sign begins. Brackets around it do not belong to it, unless there is nothing
 * else, or it is a face: (o_o)/. */
static size_t sign_begin(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    bool is_face = item->core_begin > item->begin && finder->text[item->core_begin - 1] == '(' &&
                   memchr(finder->text + item->core_begin, ')', item->core_end - item->core_begin);
    return is_face                             ? item->core_begin - 1
           : item->core_begin < item->core_end ? item->core_begin
                                               : item->begin;
}

static void take_sign(struct mt_codes_finder *finder, enum mt_code_kind kind,
                      const struct mt_codes_item *item)
{
    mt_codes_claim(finder, kind, sign_begin(finder, item),
                   item->core_begin < item->core_end ? item->core_end : item->end);
}

/* Whether the item is a sign of mathematics that a sentence begins with: "∞ is infinity." */
static bool is_subject(const struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i];
    uint32_t c = mt_codes_at(finder, item->begin);
    return i + 1 < finder->n_items && u_charType((UChar32)c) == U_MATH_SYMBOL && c >= 0x2200 &&
           c <= 0x22FF && item->end == mt_codes_next(finder, item->begin) &&
           u_islower((UChar32)mt_codes_at(finder, finder->items[i + 1].begin)) &&
           is_word(finder, &finder->items[i + 1]);
}

/* Whether a short word before it shows that it is a part of the sentence: "fixed by @name". */
static bool is_governed(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    return item->taken == MT_FREE && item->has_letter && !item->is_name &&
           item->core_begin == item->begin && item->core_end == item->end &&
           item->end - item->begin <= MAX_GOVERNING_BYTES;
}

/* Whether it is a single sign that says nothing about the word beside it: "% Hello", "Hello @"; but
 * "5 %" and "share in %" do. */
static bool stands_alone(const struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i];
    const struct mt_codes_item *before = i > 0 ? item - 1 : NULL;
    const struct mt_codes_item *behind = i + 1 < finder->n_items ? item + 1 : NULL;
    return item->end == item->begin + 1 && !(before && is_governed(finder, before)) &&
           !(before && (before->has_digit || before->taken != MT_FREE)) &&
           !(behind && (behind->has_digit || behind->taken != MT_FREE));
}

static void take_signs(struct mt_codes_finder *finder)
{
    bool has_before = false;
    size_t n = finder->n_items, content_end = 0;
    for (size_t i = 0; i < n; i++) {
        const struct mt_codes_item *item = &finder->items[i];
        if (is_edge_item(finder, item)) {
            has_before = false;
            continue;
        }
        has_before = has_before || is_content(finder, item);
        if (!is_sign_run(finder, item) || !mt_codes_is_free(finder, item->begin, item->end))
            continue;
        if (content_end <= i) /* the beginning of the next words or the next edge */
            for (content_end = i + 1; content_end < n &&
                                      !is_content(finder, &finder->items[content_end]) &&
                                      !is_edge_item(finder, &finder->items[content_end]);)
                content_end++;
        bool has_behind = content_end < n && !is_edge_item(finder, &finder->items[content_end]);
        bool is_end = !has_before || !has_behind;
        bool is_lone = stands_alone(finder, i);
        bool parts = is_lone && !is_end && mt_codes_is_one_of(finder->text[item->begin], "#@%$~_");
        if ((stands_for_word(finder, item) && !(is_end && is_lone) && !parts) ||
            is_of_number(finder, i))
            continue;
        if ((is_end && !is_subject(finder, i)) || is_bullet(finder, item))
            take_sign(finder, MT_CODE_EDGE, item);
        else if (!is_strange(finder, item) && !parts && !is_operator(finder, item))
            continue;
        else if (is_title(count_title(finder, i, false)) && is_title(count_title(finder, i, true)))
            take_sign(finder, MT_CODE_EDGE, item);
        else if (!parts)
            take_sign(finder, MT_CODE_WORD, item);
        if (finder->taken[sign_begin(finder, item)] == MT_TAKEN_EDGE)
            has_before = false;
    }
}

/* Whether it is an emoji, a box or a circled number, and a text begins behind it. */
static bool is_marker(const struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i];
    uint32_t c = mt_codes_at(finder, item->begin);
    bool is_circled = (c >= 0x2460 && c <= 0x2473) || (c >= 0x2776 && c <= 0x2793) ||
                      (c >= 0x2610 && c <= 0x2612);
    return (is_circled
                ? mt_codes_next(finder, item->begin) - item->begin
                : mt_emoji_at(finder->text, item->end, item->begin)) == item->end - item->begin &&
           i + 1 < finder->n_items && finder->items[i + 1].is_name;
}

/* In a line that begins with such a sign, others begin further texts: "① First ② Second". */
static void take_markers(struct mt_codes_finder *finder)
{
    for (size_t i = 1; i < finder->n_items && is_marker(finder, 0); i++)
        if (is_marker(finder, i))
            mt_codes_claim_over(finder, MT_CODE_EDGE, finder->items[i].begin, finder->items[i].end);
}

/* ---- dots ---- */

/* Returns the end of a run of dots, which may have blanks between them, or of a line to write on,
 * of / or - and the like. */
static size_t run_end(const struct mt_codes_finder *finder, size_t at, size_t end, size_t *n)
{
    uint32_t c = mt_codes_at(finder, at);
    const char *joints = c == '.' ? " " : c == '_' ? "/-.:" : "";
    *n = 0;
    while (at < end && mt_codes_at(finder, at) == c && finder->taken[at] == MT_FREE) {
        size_t stop = mt_codes_next(finder, at);
        ++*n;
        at = stop + (mt_codes_is_one_of(mt_codes_char(finder, stop), joints) &&
                     mt_codes_at(finder, stop + 1) == c &&
                     mt_codes_is_free(finder, stop, stop + 2) && stop + 1 < end);
    }
    return at;
}

/* Whether text[at, end) has words close by, before the next edge. */
static bool has_words(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    for (size_t limit = at + MAX_LOOK_BYTES;
         at < end && at < limit && finder->taken[at] != MT_TAKEN_EDGE;
         at = mt_codes_next(finder, at)) {
        uint32_t c = mt_codes_at(finder, at);
        bool is_word = finder->taken[at] == MT_TAKEN_WORD || finder->taken[at] == MT_TAKEN_OWN ||
                       (finder->taken[at] == MT_FREE && mt_codes_is_letter(c));
        if (is_word)
            return true;
    }
    return false;
}

/* Whether one thought ends at the dots and another one begins: "Wait... what?", "yes...no". */
static bool breaks_off(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    uint32_t behind = mt_codes_at(finder, mt_codes_skip_blanks(finder, end, finder->length));
    if (!mt_codes_is_letter(mt_codes_before(finder, begin)) || finder->taken[begin - 1] != MT_FREE)
        return false;
    bool is_glued = end < finder->length && finder->taken[end] == MT_FREE &&
                    is_letter_at(finder, end) && !is_short_before(finder, begin) &&
                    !is_short_behind(finder, end);
    return is_glued || (mt_codes_char(finder, end) == ' ' && u_islower((UChar32)behind));
}

/* Whether a word ends at the marks, and nothing but a blank or a quotation mark follows. */
static bool ends_word(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    uint32_t behind = mt_codes_at(finder, end);
    return mt_codes_is_letter(mt_codes_before(finder, begin)) &&
           (mt_codes_is_blank(behind) || behind == '"' || behind == 0x201D);
}

/* Takes two dots, and more than one comma, semicolon or colon: "Wait.. what?", "Hello,,,", and the
 * folder in "Type cd .. first." */
static void take_doubled(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    uint32_t c = mt_codes_at(finder, begin), before = mt_codes_before(finder, begin);
    bool is_dots = c == '.';
    if (ends_word(finder, begin, end) || (is_dots && breaks_off(finder, begin, end)))
        mt_codes_claim(finder, MT_CODE_EDGE, begin, end);
    else if (is_dots && (mt_codes_is_blank(before) || before == '"') && !is_letter_at(finder, end))
        mt_codes_claim(finder, MT_CODE_WORD, begin, end);
}

/* Takes leader dots, and blanks to fill in. At a text's end they are an edge, else a word. */
static void take_leaders(struct mt_codes_finder *finder, size_t begin, size_t run_begin,
                         size_t run_stop, size_t end)
{
    bool is_glued = mt_codes_is_letter(mt_codes_before(finder, run_begin)) && run_begin > begin;
    bool is_within = mt_codes_is_addressed(finder, run_begin) ||
                     (has_words(finder, begin, run_begin) && has_words(finder, run_stop, end));
    bool is_dash = mt_codes_at(finder, run_begin) == '-';
    uint32_t next = mt_codes_at(finder, mt_codes_skip_blanks(finder, run_stop, end));
    bool is_form = u_isupper((UChar32)next); /* Name .... Date .... */
    mt_codes_claim(finder,
                   is_within && !is_glued && !is_dash && !is_form ? MT_CODE_WORD : MT_CODE_EDGE,
                   run_begin, run_stop);
}

/* Whether blanks are on both sides. */
static bool is_apart(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    return mt_codes_is_blank(mt_codes_before(finder, begin)) &&
           mt_codes_is_blank(mt_codes_at(finder, end));
}

/* Whether the dashes stand at an end of the text: "--- Page 1 ---". */
static bool is_rule(const struct mt_codes_finder *finder, size_t begin, size_t run_begin,
                    size_t run_stop, size_t end)
{
    return is_apart(finder, run_begin, run_stop) &&
           !(has_words(finder, begin, run_begin) && has_words(finder, run_stop, end));
}

/* Whether it is the dash of a sentence that breaks off: "I told you--". */
static bool is_cut_off(const struct mt_codes_finder *finder, size_t run_begin, size_t run_stop,
                       size_t end, size_t n)
{
    uint32_t c = mt_codes_at(finder, run_begin), before = mt_codes_before(finder, run_begin);
    return (c != '-' || n > 1) && mt_codes_skip_blanks(finder, run_stop, end) == end &&
           (mt_codes_is_letter(before) || before == ' ');
}

static void take_dots(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t from = begin;
    for (size_t at = begin, stop; at < end && !finder->status; at = stop) {
        uint32_t c = mt_codes_at(finder, at);
        stop = mt_codes_next(finder, at);
        if (finder->taken[at] == MT_TAKEN_EDGE)
            from = stop;
        bool is_dash = c == '-' || c == 0x2013 || c == 0x2014;
        bool is_leader = c == '.' || c == '_' || c == 0x2026 || c == 0xB7;
        bool is_mark = c == ',' || c == ';' || c == ':';
        if (finder->taken[at] != MT_FREE || !(is_leader || is_dash || is_mark))
            continue;
        size_t n;
        stop = run_end(finder, at, end, &n);
        bool is_ellipsis = (c == '.' && n == 3) || (c == 0x2026 && n == 1);
        if (is_ellipsis && mt_codes_take_omission(finder, at, stop, end))
            continue;
        if ((is_ellipsis && breaks_off(finder, at, stop)) ||
            (is_dash && is_cut_off(finder, at, stop, end, n)))
            mt_codes_claim(finder, MT_CODE_EDGE, at, stop);
        else if (is_mark ? n >= 2 : c == '.' && n == 2 && stop == at + n)
            take_doubled(finder, at, stop);
        else if ((n >= LEAST_LEADERS && !is_mark && (c < 0x2013 || is_apart(finder, at, stop))) ||
                 (c == '-' && n == 3 && is_apart(finder, at, stop)) ||
                 (c == '-' && n > 1 && is_rule(finder, from, at, stop, end)) ||
                 (c == '_' && n >= 2) || (c == 0x2026 && n >= 2))
            take_leaders(finder, from, at, stop, end);
        if (finder->taken[at] == MT_TAKEN_EDGE)
            from = stop;
    }
}

/* ---- mentions and tags at the ends of a text ---- */

/* Whether a verb of what is mentioned follows: "@name replied to you". */
static bool is_subject_of(const struct mt_codes_finder *finder, const struct mt_codes_item *next)
{
    static const char *const verbs[] = {"is", "was", "has", "will", "can", "wants", "says", NULL};
    size_t n = next->core_end - next->core_begin;
    return next->taken == MT_FREE && mt_codes_is_english(finder) &&
           (mt_codes_item_is(finder, next, verbs) ||
            (n > 4 && u_islower((UChar32)finder->text[next->core_begin]) &&
             memcmp(finder->text + next->core_end - 2, "ed", 2) == 0));
}

static void take_loose(struct mt_codes_finder *finder)
{
    size_t n = finder->n_items;
    for (size_t first = 0; first < n;) {
        size_t last = first; /* items[first, last) are one text */
        while (last < n && !is_edge_item(finder, &finder->items[last]))
            last++;
        size_t begin = first, end = last;
        while (begin < end && finder->items[begin].taken == MT_TAKEN_LOOSE &&
               !(begin + 1 < end && is_subject_of(finder, &finder->items[begin + 1]))) {
            mt_codes_claim_over(finder, MT_CODE_EDGE, finder->items[begin].begin,
                                finder->items[begin].end);
            begin++;
        }
        while (end > begin && finder->items[end - 1].taken == MT_TAKEN_LOOSE) {
            end--;
            if (end > begin && finder->text[finder->items[end].begin] == '@' &&
                is_governed(finder, &finder->items[end - 1]))
                break;
            mt_codes_claim_over(finder, MT_CODE_EDGE, finder->items[end].begin,
                                finder->items[end].end);
        }
        first = last + 1;
    }
}

/* ---- a word in quotation marks ---- */

struct marks {
    uint32_t open, close;
};
static const struct marks quotes[] = {{'"', '"'},       {'\'', '\''},     {0x201C, 0x201D},
                                      {0x201E, 0x201C}, {0x201E, 0x201D}, {0x2018, 0x2019},
                                      {0x201A, 0x2018}, {0xAB, 0xBB},     {0xBB, 0xAB},
                                      {0x2039, 0x203A}, {0xB4, 0xB4},     {'`', 0xB4}};

static bool is_arrow(uint32_t c)
{
    return c == 0xAB || c == 0xBB || c == 0x2039 || c == 0x203A;
}

static bool are_quotes(uint32_t open, uint32_t close)
{
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++)
        if (quotes[i].open == open && quotes[i].close == close)
            return true;
    return false;
}

/* Takes a word or two in quotation marks, which may have others in them, or brackets around
 * them. */
static void take_quoted(struct mt_codes_finder *finder, size_t begin, size_t end, unsigned n_levels)
{
    struct mt_range part = mt_range_trim(finder->text, begin, end);
    if (part.end - part.begin < 3)
        return;
    if (part.end - part.begin > 4 && finder->text[part.begin] == '(' &&
        finder->text[part.end - 1] == ')' &&
        are_quotes(mt_codes_at(finder, part.begin + 1), mt_codes_before(finder, part.end - 1)) &&
        n_levels < MOST_QUOTE_LEVELS) {
        size_t n_before = finder->n;
        take_quoted(finder, part.begin + 1, part.end - 1, n_levels + 1);
        if (finder->n > n_before) {
            mt_codes_claim(finder, MT_CODE_EDGE, part.begin, part.begin + 1);
            mt_codes_claim(finder, MT_CODE_EDGE, part.end - 1, part.end);
        }
        return;
    }
    size_t inner = mt_codes_next(finder, part.begin);
    size_t inner_end = mt_previous_char(finder->text, part.end);
    uint32_t open = mt_codes_at(finder, part.begin), close = mt_codes_at(finder, inner_end);
    if (inner >= inner_end || !are_quotes(open, close) || finder->taken[part.begin] != MT_FREE ||
        finder->taken[inner_end] != MT_FREE ||
        mt_codes_is_blank(mt_codes_before(finder, inner_end)))
        return;
    size_t n_words = 1, n_letters = 0;
    for (size_t i = inner; i < inner_end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        n_words += mt_codes_is_blank(c);
        n_letters += finder->taken[i] == MT_FREE && mt_codes_is_letter(c);
        bool is_final =
            (c == '!' || c == '?' || c == 0x2026) && mt_codes_next(finder, i) == inner_end;
        is_final = is_final || (c == '.' && inner_end - i <= 3 && inner_end - inner > 3 &&
                                memcmp(finder->text + inner_end - 3, "...", 3) == 0);
        if (c == open || c == close || n_words > 3 || (c == 0x2026 && !is_final) ||
            (c < 0x80 && strchr(".,;:!?", (int)c) && !is_final))
            return;
    }
    if (n_letters == 0)
        return;
    size_t first = mt_codes_claim(finder, MT_CODE_EDGE, part.begin, inner);
    size_t last = mt_codes_claim(finder, MT_CODE_EDGE, inner_end, part.end);
    if (first == MT_NO_MATE || last == MT_NO_MATE)
        return;
    finder->found[first].code.form = MT_CODE_OPENING_QUOTE;
    finder->found[last].code.form = MT_CODE_CLOSING_QUOTE;
    if (n_levels < MOST_QUOTE_LEVELS)
        take_quoted(finder, inner, inner_end, n_levels + 1);
}

/* Takes arrows. A single quotation mark is an arrow: "Read more »", "‹Back"; and so are two that
 * have blanks beside them and numbers between them: "« Previous 1 2 3 Next »". */
static void take_arrows(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    struct mt_range part = mt_range_trim(finder->text, begin, end);
    size_t n_arrows = 0;
    bool has_number = false;
    for (size_t i = part.begin; i < part.end; i = mt_codes_next(finder, i)) {
        n_arrows += is_arrow(mt_codes_at(finder, i));
        has_number = has_number || finder->taken[i] == MT_TAKEN_WORD;
    }
    if (n_arrows == 0 || n_arrows > 2)
        return;
    size_t first = mt_codes_next(finder, part.begin);
    size_t last = mt_previous_char(finder->text, part.end);
    bool is_alone = n_arrows == 1;
    if (is_arrow(mt_codes_at(finder, part.begin)) &&
        (is_alone || (has_number && mt_codes_is_blank(mt_codes_at(finder, first)))))
        mt_codes_claim(finder, MT_CODE_EDGE, part.begin, first);
    if (is_arrow(mt_codes_at(finder, last)) &&
        (is_alone || (has_number && mt_codes_is_blank(mt_codes_before(finder, last)))))
        mt_codes_claim(finder, MT_CODE_EDGE, last, part.end);
}

/* Takes the quotation marks of each text between edges. */
static void take_quotes(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t from = begin;
    for (size_t at = begin; at < end; at = mt_codes_next(finder, at))
        if (finder->taken[at] == MT_TAKEN_EDGE) {
            take_quoted(finder, from, at, 0);
            mt_codes_take_lone_quote(finder, from, at);
            take_arrows(finder, from, at);
            from = mt_codes_next(finder, at);
        }
    take_quoted(finder, from, end, 0);
    mt_codes_take_lone_quote(finder, from, end);
    take_arrows(finder, from, end);
}

/* Whether finder->items has something that is neither a word nor its punctuation. */
static bool is_special(const struct mt_codes_finder *finder)
{
    for (size_t i = 0; i < finder->n_items; i++) {
        const struct mt_codes_item *item = &finder->items[i];
        if (item->taken != MT_FREE || item->has_unread || (!item->has_letter && !item->has_digit))
            return true;
    }
    return false;
}

void mt_codes_find_edges(struct mt_codes_finder *finder)
{
    for (size_t begin = 0; begin < finder->length && !finder->status;) {
        size_t end = mt_codes_line_end(finder, begin);
        mt_codes_take_frame(finder, begin, end);
        mt_codes_take_quoted_cells(finder, begin, end);
        mt_codes_take_remark(finder, begin, end);
        take_dots(finder, begin, end);
        bool is_listed = mt_codes_list_items(finder, begin, end);
        if (is_listed && take_lists(finder))
            is_listed = mt_codes_list_items(finder, begin, end);
        if (is_listed && is_special(finder)) {
            take_markers(finder);
            take_separators(finder);
            if (mt_codes_list_items(finder, begin, end))
                take_signs(finder);
            if (mt_codes_list_items(finder, begin, end))
                take_loose(finder);
        }
        take_quotes(finder, begin, end);
        begin = end < finder->length ? mt_codes_next(finder, end) : end;
    }
}
