/* Finds signs and quotation marks around texts: what frames a line, cells in quotation marks, a
 * quotation mark without another one. */
#include "server/text/codes/codes_state.h"

#include "base/size.h"

#include <unicode/uchar.h>

/* Most words of a text at whose beginning, or at whose end, a quotation mark has no other one. Models
 * know how to open a quotation; they lose the mark that only closes one. */
#define MOST_OPENED_WORDS 3
#define MOST_CLOSED_WORDS 8
/* Words of a title, and of the remark in brackets beside it; fewest bytes of the latter. */
#define MOST_TITLE_WORDS 2
#define MOST_REMARK_WORDS 2
#define LEAST_REMARK_BYTES 3
/* Most bytes between \" and \". */
#define MAX_QUOTED_BYTES 200

/* ---- frames ---- */

static bool is_exclamation(uint32_t c)
{
    return c == '!' || c == '?';
}

/* Whether a line may be framed by at least two of these signs. Underscores and dots are blanks to
 * fill in, and leaders. */
static bool is_framing(uint32_t c)
{
    bool is_other = c < 0x80 ? strchr("\"'()[]{}.,_`$%0123456789", (int)c) != NULL
                             : (U_GET_GC_MASK((UChar32)c) &
                                (U_GC_PS_MASK | U_GC_PE_MASK | U_GC_PI_MASK | U_GC_PF_MASK)) != 0;
    return !is_other && !mt_codes_is_letter(c) && !mt_codes_is_blank(c);
}

static bool is_single_framing(uint32_t c)
{
    return c == 0x2013 || c == 0x2014 || c == 0xB7 || c == 0x2022 ||
           (c < 0x80 && c > ' ' && strchr("-#=~+^*", (int)c));
}

static size_t count_letters(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t n = 0;
    for (size_t i = begin; i < end; i = mt_codes_next(finder, i))
        n += mt_codes_is_letter(mt_codes_at(finder, i));
    return n;
}

void mt_codes_take_frame(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    const struct mt_range line = mt_range_trim(finder->text, begin, end);
    uint32_t c = mt_codes_at(finder, line.begin), close = c == '(' ? ')' : c;
    if (line.begin == line.end || mt_codes_before(finder, line.end) != close ||
        !(is_framing(c) || c == '('))
        return;
    size_t first = line.begin, last = line.end, n_first = 0, n_last = 0;
    for (; first < line.end && mt_codes_at(finder, first) == c; n_first++)
        first = mt_codes_next(finder, first);
    for (; last > first && mt_codes_before(finder, last) == close; n_last++)
        last = mt_previous_char(finder->text, last);
    bool is_spaced = mt_codes_is_blank(mt_codes_before(finder, last));
    bool is_one = n_first > 1 && n_last > 1
                      ? is_spaced || !is_exclamation(c)
                      : n_first == 1 && n_last == 1 && is_single_framing(c) &&
                            is_spaced == mt_codes_is_blank(mt_codes_at(finder, first));
    bool is_marked = finder->taken[line.begin] == MT_TAKEN_EDGE; /* a bullet or a heading's mark */
    if (!is_one || count_letters(finder, first, last) < 2 ||
        !mt_codes_is_free(finder, last, line.end) ||
        (!is_marked && !mt_codes_take(finder, MT_CODE_EDGE, line.begin, first)))
        return;
    mt_codes_claim(finder, MT_CODE_EDGE, last, line.end);
}

/* ---- brackets ---- */

bool mt_codes_take_omission(struct mt_codes_finder *finder, size_t begin, size_t stop, size_t end)
{
    uint32_t before = mt_codes_before(finder, begin);
    uint32_t behind = stop < end ? mt_codes_at(finder, stop) : '\n';
    bool is_bracketed = (before == '[' && behind == ']') || (before == '(' && behind == ')');
    if (is_bracketed)
        return mt_codes_take(finder, MT_CODE_POINT, begin - 1, stop + 1);
    size_t next = behind == '"' || behind == 0x201D ? mt_codes_next(finder, stop) : end;
    return next < end && mt_codes_char(finder, next) == ' ' &&
           u_islower((UChar32)mt_codes_at(finder, next + 1)) && mt_codes_is_letter(before) &&
           mt_codes_take(finder, MT_CODE_POINT, begin, stop);
}

/* Counts words of letters with single blanks between them; more than `most` where there is
 * something else. */
static size_t count_plain_words(const struct mt_codes_finder *finder, size_t begin, size_t end,
                                size_t most)
{
    size_t n = 0;
    for (size_t at = begin; at < end; at = mt_codes_next(finder, at)) {
        uint32_t c = mt_codes_at(finder, at);
        bool is_word = mt_codes_is_letter(c) && !mt_codes_is_unread(finder, c);
        bool is_begin = at == begin || finder->text[at - 1] == ' ';
        if (finder->taken[at] != MT_FREE || (!is_word && (c != ' ' || is_begin)))
            return most + 1;
        n += is_begin;
    }
    return n;
}

void mt_codes_take_remark(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    const struct mt_range line = mt_range_trim(finder->text, begin, end);
    size_t n_line = line.end - line.begin;
    const char *text = finder->text + line.begin, *open = memchr(text, '(', n_line),
               *close = memchr(text, ')', n_line);
    if (!open || !close || close < open)
        return;
    size_t from = (size_t)(open - finder->text), to = (size_t)(close - finder->text);
    bool is_first = from == line.begin && to + 2 < line.end && finder->text[to + 1] == ' ';
    bool is_last = to + 1 == line.end && from > line.begin + 1 && finder->text[from - 1] == ' ';
    struct mt_range title = is_first ? (struct mt_range){to + 2, line.end}
                                     : (struct mt_range){line.begin, from - is_last};
    size_t n = count_plain_words(finder, from + 1, to, MOST_REMARK_WORDS);
    size_t n_title = count_plain_words(finder, title.begin, title.end, MOST_TITLE_WORDS);
    if ((!is_first && !is_last) || n == 0 || n > MOST_REMARK_WORDS || n_title == 0 ||
        n_title > MOST_TITLE_WORDS || to - from <= LEAST_REMARK_BYTES)
        return;
    mt_codes_claim(finder, MT_CODE_EDGE, from, from + 1);
    mt_codes_claim(finder, MT_CODE_EDGE, to, to + 1);
}

/* ---- cells in quotation marks ---- */

/* Returns where the quoted cell that begins at text[at] ends; `at`: there is none. Two quotation
 * marks in a row are one within it. */
static size_t quoted_cell_end(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    if (at >= end || finder->text[at] != '"')
        return at;
    for (size_t i = at + 1; i < end; i++) {
        if (finder->text[i] != '"')
            continue;
        if (i + 1 == end || finder->text[i + 1] != '"')
            return i + 1;
        i++;
    }
    return at;
}

static void claim_quote(struct mt_codes_finder *finder, size_t at, enum mt_code_form form)
{
    size_t found = mt_codes_claim(finder, MT_CODE_EDGE, at, at + 1);
    if (found != MT_NO_MATE)
        finder->found[found].code.form = form;
}

/* Takes words in quotation marks with nothing but commas or blanks between them: "Yes", "No". */
static bool take_quoted_words(struct mt_codes_finder *finder, const struct mt_range *line,
                              bool is_search)
{
    size_t n = 0;
    for (size_t at = line->begin; at < line->end; n++) {
        size_t stop = quoted_cell_end(finder, at, line->end);
        if (stop < at + 4 || count_letters(finder, at, stop) < 2 ||
            !mt_codes_is_free(finder, at, stop) ||
            count_plain_words(finder, at + 1, stop - 1, MOST_TITLE_WORDS) > MOST_TITLE_WORDS)
            return false;
        size_t next = stop + (stop < line->end && mt_codes_is_one_of(finder->text[stop], ",;"));
        size_t from = mt_codes_skip_blanks(finder, next, line->end);
        if (from == next && next < line->end)
            return false;
        if (!is_search) {
            claim_quote(finder, at, MT_CODE_OPENING_QUOTE);
            claim_quote(finder, stop - 1, MT_CODE_CLOSING_QUOTE);
            if (next > stop)
                mt_codes_claim(finder, MT_CODE_EDGE, stop, next);
        }
        at = from;
    }
    return n > 1;
}

/* Takes rows such as "Save","Cancel" and 1,"Save all",5: at least two cells, without blanks between
 * them, of which one is quoted and has letters. */
static bool take_row(struct mt_codes_finder *finder, const struct mt_range *line, bool is_search)
{
    size_t n_cells = 0, n_quoted = 0;
    for (size_t at = line->begin; at <= line->end; n_cells++) {
        size_t stop = quoted_cell_end(finder, at, line->end);
        bool is_quoted = stop > at;
        while (stop < line->end && !is_quoted && !mt_codes_is_one_of(finder->text[stop], ",;\" "))
            stop++;
        if (stop < line->end && !mt_codes_is_one_of(finder->text[stop], ",;"))
            return false;
        n_quoted += is_quoted && count_letters(finder, at, stop) > 1;
        if (is_quoted && !is_search) {
            mt_codes_claim_over(finder, MT_CODE_EDGE, at, at + 1);
            mt_codes_claim_over(finder, MT_CODE_EDGE, stop - 1, stop);
        }
        if (stop < line->end && !is_search)
            mt_codes_claim_over(finder, MT_CODE_EDGE, stop, stop + 1);
        at = stop + 1;
    }
    return n_cells > 1 && n_quoted > 0;
}

/* Takes "title": "Hello", with a comma or without, as JSON has it. The key is a name of small
 * letters and is copied. */
static void take_member(struct mt_codes_finder *finder, const struct mt_range *line)
{
    const char *text = finder->text;
    size_t at = line->begin + 1, end = line->end;
    while (mt_codes_is_name_char(mt_codes_char(finder, at)) ||
           mt_codes_is_one_of(mt_codes_char(finder, at), ".-"))
        at++;
    bool is_key = at > line->begin + 1 && mt_ascii_is_small(text[line->begin + 1]) &&
                  mt_codes_char(finder, at) == '"';
    at = is_key ? mt_codes_skip_blanks(finder, at + 1, end) : end;
    if (at >= end || text[at] != ':')
        return;
    at = mt_codes_skip_blanks(finder, at + 1, end);
    end -= text[end - 1] == ',';
    if (at + 2 >= end || text[at] != '"' || text[end - 1] != '"' ||
        memchr(text + at + 1, '"', end - at - 2))
        return;
    mt_codes_claim_over(finder, MT_CODE_EDGE, line->begin, at + 1);
    mt_codes_claim_over(finder, MT_CODE_EDGE, end - 1, line->end);
}

void mt_codes_take_quoted_cells(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    const struct mt_range line = mt_range_trim(finder->text, begin, end);
    const char *quote = memchr(finder->text + line.begin, '"', line.end - line.begin);
    if (!quote)
        return;
    if (take_row(finder, &line, true))
        (void)take_row(finder, &line, false);
    else if (take_quoted_words(finder, &line, true))
        (void)take_quoted_words(finder, &line, false);
    else if (finder->text[line.begin] == '"' && finder->taken[line.begin] == MT_FREE)
        take_member(finder, &line);
}

/* ---- quotation marks as source code has them ---- */

size_t mt_codes_take_escaped_quotes(struct mt_codes_finder *finder, size_t begin)
{
    static const char mark[] = "\\\"";
    size_t inner = begin + 2, limit = mt_size_min(finder->length, inner + MAX_QUOTED_BYTES);
    if (finder->length - begin < 2 || memcmp(finder->text + begin, mark, 2) != 0 ||
        mt_codes_is_blank(mt_codes_at(finder, inner)))
        return 0;
    const char *found = memmem(finder->text + inner, limit - inner, mark, 2);
    size_t close = found ? (size_t)(found - finder->text) : inner;
    if (memchr(finder->text + inner, '\n', close - inner) ||
        count_letters(finder, inner, close) == 0)
        return 0;
    bool is_pair = mt_codes_claim_pair(finder, (struct mt_range){begin, inner},
                                       (struct mt_range){close, close + 2});
    return is_pair ? inner : 0;
}

/* ---- a quotation mark without another one ---- */

static bool is_double_quote(uint32_t c)
{
    return c == '"' || (c >= 0x201C && c <= 0x201F);
}

void mt_codes_take_lone_quote(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    const struct mt_range part = mt_range_trim(finder->text, begin, end);
    size_t n_quotes = 0, n_words = 1;
    if (part.end - part.begin < 3)
        return;
    size_t first = mt_codes_next(finder, part.begin);
    size_t last = mt_previous_char(finder->text, part.end);
    bool opens = is_double_quote(mt_codes_at(finder, part.begin));
    bool closes = is_double_quote(mt_codes_at(finder, last));
    if (opens == closes)
        return;
    for (size_t i = part.begin; i < part.end; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        n_quotes += is_double_quote(c);
        n_words += mt_codes_is_blank(c);
    }
    size_t most = opens ? MOST_OPENED_WORDS : MOST_CLOSED_WORDS;
    bool is_inch = closes && mt_codes_is_digit(mt_codes_before(finder, last));
    if (n_quotes != 1 || n_words > most || is_inch ||
        count_letters(finder, part.begin, part.end) < 2)
        return;
    size_t found = opens ? mt_codes_claim(finder, MT_CODE_EDGE, part.begin, first)
                         : mt_codes_claim(finder, MT_CODE_EDGE, last, part.end);
    if (found != MT_NO_MATE)
        finder->found[found].code.form = opens ? MT_CODE_OPENING_QUOTE : MT_CODE_CLOSING_QUOTE;
}
