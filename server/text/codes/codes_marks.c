/* Finds the marks of Markdown's dialects, reStructuredText and Textile at the beginning of lines:
 * what they say belongs to the program that reads them, and what follows are words. */
#include "server/text/codes/codes_state.h"

#include <string.h>

#define MAX_LABEL_BYTES 80

static bool starts(const struct mt_codes_finder *finder, const struct mt_range *line, size_t at,
                   const char *with)
{
    size_t n = strlen(with);
    return line->end >= at + n && memcmp(finder->text + at, with, n) == 0;
}

static size_t small_end(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    while (at < end && (mt_ascii_is_small(finder->text[at]) || finder->text[at] == '-'))
        at++;
    return at;
}

/* Returns the length of a callout's kind, [!NOTE]. */
static size_t match_callout(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    size_t at = line->begin + 2;
    if (!starts(finder, line, line->begin, "[!"))
        return 0;
    while (at < line->end && mt_ascii_is_letter(finder->text[at]))
        at++;
    bool is_one = at > line->begin + 2 && at < line->end && finder->text[at] == ']' &&
                  mt_codes_is_blank(mt_codes_at(finder, at + 1));
    return is_one ? at + 1 - line->begin : 0;
}

/* Returns the length of what begins a block and its kind: ::: warning, ???+ tip. */
static size_t match_block(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char *const marks[] = {":::", "!!!", "???"};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        size_t at = line->begin + strlen(marks[k]);
        if (!starts(finder, line, line->begin, marks[k]))
            continue;
        while (at < line->end && mt_codes_is_one_of(finder->text[at], ":+"))
            at++;
        if (at == line->end || finder->text[at] != ' ')
            continue;
        size_t kind = mt_codes_skip_blanks(finder, at, line->end);
        size_t end = small_end(finder, kind, line->end);
        return end > kind && mt_codes_is_blank(mt_codes_at(finder, end)) ? end - line->begin : 0;
    }
    return 0;
}

/* Returns the length of a directive of reStructuredText. Only some have words behind them:
 * .. note::, but not .. image:: and .. code-block:: */
static size_t match_directive(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char *const worded[] = {"note",       "warning",  "tip",    "important", "caution",
                                         "attention",  "danger",   "error",  "hint",      "seealso",
                                         "admonition", "topic",    "rubric", "sidebar",   "title",
                                         "todo",       "epigraph", NULL};
    size_t name = line->begin + 3, end = name;
    if (!starts(finder, line, line->begin, ".. "))
        return 0;
    end = small_end(finder, name, line->end);
    if (end == name || !starts(finder, line, end, "::"))
        return 0;
    return mt_codes_is_among(worded, finder->text + name, end - name) ? end + 2 - line->begin
                                                                      : line->end - line->begin;
}

/* Returns the length of Textile's and Jira's mark before a heading: h1. */
static size_t match_signature(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    const char *text = finder->text + line->begin;
    bool is_one = line->end - line->begin > 4 && text[0] == 'h' && text[1] >= '1' &&
                  text[1] <= '6' && text[2] == '.';
    return is_one ? mt_codes_before_blank(finder, line, 3) : 0;
}

/* Returns the length of an abbreviation that is explained: *[HTML]: */
static size_t match_abbreviation(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    const char *text = finder->text;
    if (!starts(finder, line, line->begin, "*["))
        return 0;
    const char *close = memchr(text + line->begin, ']', line->end - line->begin);
    size_t end = close ? (size_t)(close - text) + 1 : line->end;
    return end < line->end && text[end] == ':'
               ? mt_codes_before_blank(finder, line, end + 1 - line->begin)
               : 0;
}

size_t mt_codes_match_mark(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static size_t (*const matchers[])(const struct mt_codes_finder *finder,
                                      const struct mt_range *line) = {
        match_callout, match_block, match_directive, match_signature, match_abbreviation};
    size_t n = 0;
    for (size_t k = 0; k < sizeof matchers / sizeof *matchers && !n; k++)
        n = matchers[k](finder, line);
    return n;
}

/* Claims what surrounds the title that the line ends with, in quotation marks: everything before
 * it, and its own marks. */
static void take_title(struct mt_codes_finder *finder, const struct mt_range *line, size_t at)
{
    char open = mt_codes_char(finder, at), close = open == '(' ? ')' : open;
    bool is_title = at + 2 < line->end && mt_codes_is_one_of(open, "\"'(") &&
                    finder->text[line->end - 1] == close;
    mt_codes_claim(finder, MT_CODE_EDGE, line->begin, is_title ? at + 1 : line->end);
    if (is_title)
        mt_codes_claim(finder, MT_CODE_EDGE, line->end - 1, line->end);
}

bool mt_codes_take_definition(struct mt_codes_finder *finder, const struct mt_range *line)
{
    const char *text = finder->text;
    size_t block = match_block(finder, line), at = line->begin + block;
    if (block > 0) { /* !!! note "Title" */
        at = mt_codes_skip_blanks(finder, at, line->end);
        if (mt_codes_char(finder, at) == '"' && at < line->end)
            take_title(finder, line, at);
        return at < line->end && text[at] == '"';
    }
    if (text[at] != '[' || mt_codes_is_one_of(text[at + 1], "^]"))
        return false;
    const char *close = memchr(text + at, ']', line->end - at);
    at = close ? (size_t)(close - text) + 1 : line->end;
    if (line->end - at < 3 || text[at] != ':' || text[at + 1] != ' ' ||
        at - line->begin > MAX_LABEL_BYTES)
        return false;
    size_t address = at = mt_codes_skip_blanks(finder, at + 1, line->end);
    while (at < line->end && text[at] != ' ')
        at++;
    bool is_address = mt_codes_is_one_of(text[address], "/.#<") ||
                      memmem(text + address, at - address, "://", 3) ||
                      (memchr(text + address, '.', at - address) && text[at - 1] != '.');
    size_t title = mt_codes_skip_blanks(finder, at, line->end);
    bool is_last = title == line->end || mt_codes_is_one_of(text[title], "\"'(");
    if (is_address && is_last)
        take_title(finder, line, title);
    return is_address && is_last;
}

void mt_codes_take_closing(struct mt_codes_finder *finder, const struct mt_range *line)
{
    size_t at = line->end;
    while (at > line->begin && finder->text[at - 1] == '#')
        at--;
    if (at < line->end && at > line->begin && finder->text[at - 1] == ' ')
        mt_codes_claim(finder, MT_CODE_EDGE, at, line->end);
}

/* ---- front matter ---- */

static bool is_fence(const struct mt_codes_finder *finder, struct mt_range line)
{
    line = mt_range_trim(finder->text, line.begin, line.end);
    return line.end - line.begin == 3 && memcmp(finder->text + line.begin, "---", 3) == 0;
}

/* Returns the length of a key and its colon, title: of "title: My page"; 0: there is none. */
static size_t key_length(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    size_t at = line->begin;
    while (at < line->end && (mt_codes_is_name_char(finder->text[at]) || finder->text[at] == '-'))
        at++;
    bool is_key = at > line->begin && mt_codes_char(finder, at) == ':' &&
                  mt_codes_is_blank(mt_codes_at(finder, at + 1));
    return is_key ? at + 1 - line->begin : 0;
}

size_t mt_codes_front_matter_end(const struct mt_codes_finder *finder)
{
    size_t end = mt_codes_line_end(finder, 0);
    bool has_key = false;
    if (!is_fence(finder, (struct mt_range){0, end}))
        return 0;
    while (end < finder->length) {
        const struct mt_range line = {mt_codes_next(finder, end),
                                      mt_codes_line_end(finder, mt_codes_next(finder, end))};
        if (is_fence(finder, line))
            return has_key ? line.begin : 0;
        bool is_inner =
            line.begin < line.end && mt_codes_is_one_of(finder->text[line.begin], " -#");
        bool is_key = key_length(finder, &line) > 0;
        has_key = has_key || is_key;
        if (!is_key && !is_inner)
            return 0;
        end = line.end;
    }
    return 0;
}

void mt_codes_take_property(struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char *const worded[] = {
        "title:",   "subtitle:", "description:", "summary:", "excerpt:", "abstract:",
        "tagline:", "caption:",  "heading:",     "alt:",     NULL};
    size_t n = key_length(finder, line);
    bool has_words = mt_codes_is_among_any_case(worded, finder->text + line->begin, n);
    size_t value = mt_codes_skip_blanks(finder, line->begin + n, line->end);
    char quote = mt_codes_char(finder, value);
    bool is_quoted = has_words && value + 2 < line->end && mt_codes_is_one_of(quote, "\"'") &&
                     finder->text[line->end - 1] == quote;
    mt_codes_claim(finder, MT_CODE_EDGE, line->begin,
                   !has_words  ? line->end
                   : is_quoted ? value + 1
                               : line->begin + n);
    if (is_quoted)
        mt_codes_claim(finder, MT_CODE_EDGE, line->end - 1, line->end);
}
