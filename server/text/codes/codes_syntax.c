/* Finds what is recognised by its spelling anywhere in a text: placeholders, template languages,
 * code, escapes, mentions, emoji. */
#include "server/text/codes/codes_syntax.h"

#include "base/ascii.h"
#include "base/size.h"
#include "server/text/codes/reading.h"
#include "server/text/numbers/number_signs.h"
#include "server/text/placeholders.h"

#include <ctype.h>
#include <string.h>

#include <unicode/uchar.h>

#define MAX_CODE_BYTES 1024
/* Most bytes of a JSON object within a sentence. */
#define MAX_OBJECT_BYTES 400
#define MAX_SET_BYTES 40
#define MAX_INDEX_BYTES 6
#define MAX_SYMBOL_LETTERS 3
/* Most blanks of a line whose entities separate texts. */
#define MOST_TITLE_BLANKS 6
#define MAX_TITLE_BYTES 60
#define MAX_NUMBER_BYTES 16
#define MAX_WORD_BYTES 40
#define MAX_GENERIC_BYTES 80

size_t mt_syntax_closed_by(const struct mt_codes_finder *finder, size_t begin, const char *closing,
                           size_t most)
{
    size_t n = finder->length - begin < most ? finder->length - begin : most;
    const char *from = finder->text + begin, *feed = memchr(from, '\n', n);
    if (feed)
        n = (size_t)(feed - from);
    const char *end = memmem(from, n, closing, strlen(closing));
    return end ? (size_t)(end - from) + strlen(closing) : 0;
}

/* Matches \N, \h and \n of subtitles and catalogues, and \\n, which was escaped twice; but not \nu,
 * which formulas have. */
static struct mt_syntax match_escape(const struct mt_codes_finder *finder, size_t begin)
{
    if (finder->text[begin] != '\\' || mt_codes_before(finder, begin) == '\\')
        return mt_no_syntax;
    size_t at = begin + 1 + (mt_codes_char(finder, begin + 1) == '\\');
    char behind = mt_codes_char(finder, at + 1);
    bool is_small = mt_ascii_is_small(behind);
    bool is_command = is_small && begin > 0 && mt_codes_is_blank(mt_codes_before(finder, begin));
    bool is_blank =
        mt_codes_char(finder, at) == 'h' && mt_codes_is_letter(mt_codes_at(finder, at + 1));
    return (is_blank || mt_codes_is_one_of(mt_codes_char(finder, at), "Nntr")) && !is_command
               ? mt_syntax_edge(at + 1 - begin)
               : mt_no_syntax;
}

/* Matches \", a quotation mark within a string of source code. */
static struct mt_syntax match_escaped_quote(const struct mt_codes_finder *finder, size_t begin)
{
    return mt_syntax_starts(finder, begin, "\\\"")
               ? (struct mt_syntax){.n = 2, .kind = MT_CODE_POINT}
               : mt_no_syntax;
}

/* Matches a character as source code writes it: \\u20ac, \\x41. */
static struct mt_syntax match_escaped_char(const struct mt_codes_finder *finder, size_t begin)
{
    bool is_short = mt_syntax_starts(finder, begin, "\\x");
    size_t at = begin + 2, n_digits = is_short ? 2 : 4;
    if ((!is_short && !mt_syntax_starts(finder, begin, "\\u")) ||
        mt_syntax_is_word_before(finder, begin))
        return mt_no_syntax;
    while (at < begin + 2 + n_digits && isxdigit((unsigned char)mt_codes_char(finder, at)))
        at++;
    return at == begin + 2 + n_digits ? mt_syntax_word(at - begin) : mt_no_syntax;
}

/* Matches statements of template languages: {% if %} {%- endif -%} {# note #} {{#if x}} {{else}}
 * {{/if}} {/if} {if $x}. */
static struct mt_syntax match_statement(const struct mt_codes_finder *finder, size_t begin)
{
    static const struct {
        const char *open, *close;
    } brackets[] = {{"{%", "%}"},       {"{#", "#}"},  {"{{#", "}}"},     {"{{/", "}}"},
                    {"{{^", "}}"},      {"{{>", "}}"}, {"{{!", "}}"},     {"{{else", "}}"},
                    {"{/", "}"},        {"{if ", "}"}, {"{elseif ", "}"}, {"{else}", ""},
                    {"{foreach ", "}"}, {"<?", "?>"},  {"<#if ", ">"},    {"<#else", ">"},
                    {"<#list ", ">"},   {"</#", ">"},  {"<% ", "%>"}};
    if (!mt_codes_is_one_of(finder->text[begin], "{<"))
        return mt_no_syntax;
    for (size_t k = 0; k < sizeof brackets / sizeof *brackets; k++) {
        size_t n = strlen(brackets[k].open);
        if (!mt_syntax_starts(finder, begin, brackets[k].open))
            continue;
        size_t rest = *brackets[k].close ? mt_syntax_closed_by(finder, begin + n, brackets[k].close,
                                                               MT_MAX_SYNTAX_BYTES)
                                         : 0;
        if (rest || !*brackets[k].close)
            return mt_syntax_edge(n + rest);
    }
    return mt_no_syntax;
}

/* Matches <%= x %> {{{x}}} [%key:a::b%] [[x]]. */
static struct mt_syntax match_bracketed(const struct mt_codes_finder *finder, size_t begin)
{
    static const struct {
        const char *open, *close;
    } brackets[] = {{"<%", "%>"}, {"{{{", "}}}"}, {"[%", "%]"}};
    if (!mt_codes_is_one_of(finder->text[begin], "<{["))
        return mt_no_syntax;
    if (mt_syntax_starts(finder, begin, "[[")) {
        size_t at = begin + 2;
        while (mt_codes_is_name_char(mt_codes_char(finder, at)))
            at++;
        return at > begin + 2 && mt_syntax_starts(finder, at, "]]") ? mt_syntax_word(at + 2 - begin)
                                                                    : mt_no_syntax;
    }
    for (size_t k = 0; k < sizeof brackets / sizeof *brackets; k++) {
        size_t n = strlen(brackets[k].open);
        if (!mt_syntax_starts(finder, begin, brackets[k].open))
            continue;
        size_t rest =
            mt_syntax_closed_by(finder, begin + n, brackets[k].close, MT_MAX_SYNTAX_BYTES);
        if (rest)
            return mt_syntax_word(n + rest);
    }
    return mt_no_syntax;
}

/* Matches ICU's arguments without branches: {n, number} {d, date, short}. */
static struct mt_syntax match_argument(const struct mt_codes_finder *finder, size_t begin)
{
    static const char *const kinds[] = {"number",   "date",     "time",
                                        "spellout", "duration", "ordinal"};
    size_t at = begin + 1;
    if (finder->text[begin] != '{')
        return mt_no_syntax;
    while (mt_codes_is_one_of(mt_codes_char(finder, at), " ") && at < finder->length)
        at++;
    size_t name = at;
    while (mt_codes_is_name_char(mt_codes_char(finder, at)))
        at++;
    while (mt_codes_char(finder, at) == ' ')
        at++;
    if (at == name || mt_codes_char(finder, at) != ',')
        return mt_no_syntax;
    at++;
    while (mt_codes_char(finder, at) == ' ')
        at++;
    size_t n = mt_syntax_closed_by(finder, at, "}", MT_MAX_SYNTAX_BYTES);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && n; k++)
        if (mt_syntax_starts(finder, at, kinds[k]) &&
            !mt_codes_is_name_char(mt_codes_char(finder, at + strlen(kinds[k]))))
            return (struct mt_syntax){.n = at + n - begin,
                                      .kind = k == 0 ? MT_CODE_NUMBER : MT_CODE_WORD};
    return mt_no_syntax;
}

/* Matches placeholders with blanks in their braces, as Fluent has them: { $count }, { -brand }, {
 * name }. */
static struct mt_syntax match_spaced(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 1;
    if (finder->text[begin] != '{')
        return mt_no_syntax;
    while (mt_codes_char(finder, at) == ' ')
        at++;
    size_t name = at += mt_codes_is_one_of(mt_codes_char(finder, at), "$-");
    while (mt_codes_is_name_char(mt_codes_char(finder, at)) ||
           mt_codes_is_one_of(mt_codes_char(finder, at), ".-"))
        at++;
    size_t end = at;
    while (mt_codes_char(finder, at) == ' ')
        at++;
    bool is_one = end > name && mt_codes_char(finder, at) == '}' && name > begin + 1;
    bool is_count = mt_placeholder_names_count(finder->text + name, end - name);
    return is_one ? (struct mt_syntax){.n = at + 1 - begin,
                                       .kind = is_count ? MT_CODE_NUMBER : MT_CODE_WORD}
                  : mt_no_syntax;
}

/* Matches {a, b}, {first name}, {name | upper} and {$name|upper}, because text in braces is no sentence. */
static struct mt_syntax match_set(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 1;
    if (finder->text[begin] != '{')
        return mt_no_syntax;
    while (at - begin < MAX_SET_BYTES &&
           (mt_codes_is_name_char(mt_codes_char(finder, at)) ||
            mt_codes_is_one_of(mt_codes_char(finder, at), " ,.-+=:$|?!&<>*/%\"'()[]")))
        at++;
    bool has_sign = mt_codes_is_one_of(mt_codes_char(finder, begin + 1), "$!*");
    bool is_one = at > begin + 1 && mt_codes_char(finder, at) == '}' &&
                  !mt_codes_is_one_of(finder->text[begin + 1], " ,.") &&
                  (has_sign || memchr(finder->text + begin, ' ', at - begin));
    return is_one ? mt_syntax_word(at + 1 - begin) : mt_no_syntax;
}

/* Matches a regular expression that is a word and repeats a range of characters or a class, or
 * begins with ^: [A-Z]{2}\\d+, ^[a-z]+$. */
static struct mt_syntax match_expression(const struct mt_codes_finder *finder, size_t begin)
{
    const char *text = finder->text;
    size_t end = begin, n_classes = 0, n_repeated = 0;
    bool is_first = begin == 0 || mt_codes_is_one_of(text[begin - 1], " \n\t\"'`/");
    if (!is_first || !mt_codes_is_one_of(text[begin], "^[\\("))
        return mt_no_syntax;
    for (;
         end < finder->length && end - begin < MT_MAX_SYNTAX_BYTES && !mt_ascii_is_blank(text[end]);
         end++) {
        bool is_range = text[end] == '[' &&
                        mt_ascii_is_letter_or_digit(mt_codes_char(finder, end + 1)) &&
                        mt_codes_char(finder, end + 2) == '-' &&
                        mt_ascii_is_letter_or_digit(mt_codes_char(finder, end + 3));
        bool is_class =
            text[end] == '\\' && mt_codes_is_one_of(mt_codes_char(finder, end + 1), "dwsDWS");
        bool is_closed = text[end] == ']' || (is_class && end + 2 < finder->length);
        n_classes += is_range || is_class;
        n_repeated +=
            is_closed && mt_codes_is_one_of(text[end + 1 + is_class], "+*?{") && n_classes > 0;
    }
    while (end > begin && mt_codes_is_one_of(text[end - 1], ".,;:!\"'`/"))
        end--;
    bool is_one = end - begin < MT_MAX_SYNTAX_BYTES && n_classes > 0 &&
                  (n_repeated > 0 || text[begin] == '^');
    return is_one ? mt_syntax_word(end - begin) : mt_no_syntax;
}

/* Returns where the quoted string that begins at text[at] ends; 0: nowhere in this line. */
static size_t quoted_end(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    for (at++; at < end && finder->text[at] != '\n'; at++) {
        if (finder->text[at] == '\\')
            at++;
        else if (finder->text[at] == '"')
            return at + 1;
    }
    return 0;
}

/* Matches a JSON object in one line, which begins with a key: {"name": "Anna", "age": 30}. */
static struct mt_syntax match_object(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 1, depth = 1;
    if (finder->text[begin] != '{')
        return mt_no_syntax;
    while (mt_codes_char(finder, at) == ' ')
        at++;
    size_t end = mt_size_min(finder->length, begin + MAX_OBJECT_BYTES);
    size_t key = mt_codes_char(finder, at) == '"' ? quoted_end(finder, at, end) : 0;
    while (key && mt_codes_char(finder, key) == ' ')
        key++;
    if (!key || mt_codes_char(finder, key) != ':')
        return mt_no_syntax;
    for (at = key; at < end && depth && finder->text[at] != '\n';) {
        char c = finder->text[at];
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at = c == '"' ? quoted_end(finder, at, end) : at + 1;
        if (at == 0)
            return mt_no_syntax;
    }
    return depth == 0 ? mt_syntax_word(at - begin) : mt_no_syntax;
}

/* Matches `code` and ``co`de``, with the same number of backticks at both ends. */
static struct mt_syntax match_code(const struct mt_codes_finder *finder, size_t begin)
{
    size_t n = 0, at;
    if (finder->text[begin] != '`' || mt_codes_before(finder, begin) == '`')
        return mt_no_syntax;
    while (mt_codes_char(finder, begin + n) == '`')
        n++;
    size_t limit =
        begin + MAX_CODE_BYTES < finder->length ? begin + MAX_CODE_BYTES : finder->length;
    for (at = begin + n; at < limit && finder->text[at] != '\n'; at++) {
        size_t from = at;
        while (at < limit && finder->text[at] == '`')
            at++;
        if (at - from == n)
            return mt_syntax_word(at - begin);
    }
    return mt_no_syntax;
}

/* Matches a name between the same signs: %from%, %%name%%, ###T01###, @@x@@, __count__. */
static struct mt_syntax match_sentinel(const struct mt_codes_finder *finder, size_t begin)
{
    char c = finder->text[begin];
    size_t n = 0, least = c == '%' ? 1 : 2;
    if (!mt_codes_is_one_of(c, "%#@$_") || mt_codes_before(finder, begin) == (unsigned char)c ||
        mt_syntax_is_word_before(finder, begin))
        return mt_no_syntax;
    while (mt_codes_char(finder, begin + n) == c)
        n++;
    size_t name = begin + n, at = name, n_letters = 0;
    while (
        at < finder->length && at - begin < MT_MAX_SYNTAX_BYTES &&
        (mt_codes_is_name_char(finder->text[at]) || mt_codes_is_one_of(finder->text[at], ".-:")) &&
        !(c == '_' && mt_syntax_starts(finder, at, "__"))) {
        n_letters += mt_ascii_is_letter(finder->text[at]);
        at++;
    }
    size_t n_close = 0;
    while (mt_codes_char(finder, at + n_close) == c)
        n_close++;
    bool is_in_name = c == '_' && (mt_codes_before(finder, begin) == '.' ||
                                   (mt_codes_char(finder, at + n) == '.' &&
                                    mt_codes_is_name_char(mt_codes_char(finder, at + n + 1))));
    bool is_one =
        n >= least && n_close == n && at > name && (n_letters > 0 || c == '%') && !is_in_name;
    if (!is_one || mt_syntax_is_word_at(finder, at + n))
        return mt_no_syntax;
    size_t end = at + n; /* %APPDATA%\Roaming */
    while (c == '%' && mt_codes_is_one_of(mt_codes_char(finder, end), "\\/") &&
           mt_codes_is_name_char(mt_codes_char(finder, end + 1)))
        for (end++; mt_codes_is_name_char(mt_codes_char(finder, end)) ||
                    (mt_codes_is_one_of(mt_codes_char(finder, end), ".-") &&
                     mt_codes_is_name_char(mt_codes_char(finder, end + 1)));)
            end++;
    return mt_syntax_word(end - begin);
}

/* Matches :smile:. */
static struct mt_syntax match_shortcode(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 1, n_letters = 0;
    if (finder->text[begin] != ':' || mt_syntax_is_word_before(finder, begin))
        return mt_no_syntax;
    while (mt_codes_is_name_char(mt_codes_char(finder, at)) ||
           (mt_codes_char(finder, at) && mt_codes_is_one_of(finder->text[at], "+-"))) {
        n_letters += mt_ascii_is_small(finder->text[at]) ||
                     (at == begin + 1 && mt_codes_is_one_of(finder->text[at], "+-")); /* :+1: */
        if (mt_ascii_is_capital(finder->text[at]))
            return mt_no_syntax;
        at++;
    }
    bool is_one = n_letters > 0 && at - begin > 2 && mt_codes_char(finder, at) == ':' &&
                  !mt_syntax_is_word_at(finder, at + 1);
    return is_one ? (struct mt_syntax){.n = at + 1 - begin, .kind = MT_CODE_WORD, .is_loose = true}
                  : mt_no_syntax;
}

/* Matches emoticons such as :-) and <3, between blanks or before the sentence's end. */
static struct mt_syntax match_emoticon(const struct mt_codes_finder *finder, size_t begin)
{
    static const char *const faces[] = {
        ":-)", ":)",  ":-(",  ":(",  ":-D", ":D",
        ":-P", ":P",  ":-p",  ":p",  ":-O", ":O",
        ":-o", ":o",  ":-/",  ":/",  ":-|", ":|",
        ":-*", ":*",  ":'(",  ":')", ":3",  ";-)",
        ";)",  ";-P", ";P",   "=)",  "=(",  "=D",
        "8-)", "</3", "<3",   "xD",  "XD",  "^^",
        "^_^", "-_-", ">_<",  "o_O", "O_o", "O_O",
        "o_o", "T_T", "\\o/", ">:(", "(:",  ":]",
        ":[",  ":-]", ":-[",  ":$",  ":-$", "\xC2\xAF\\_(\xE3\x83\x84)_/\xC2\xAF"};
    uint32_t before = mt_codes_before(finder, begin);
    if (!mt_codes_is_blank(before))
        return mt_no_syntax;
    for (size_t k = 0; k < sizeof faces / sizeof *faces; k++) {
        if (faces[k][0] != finder->text[begin] || !mt_syntax_starts(finder, begin, faces[k]))
            continue;
        size_t end = begin + strlen(faces[k]);
        while (faces[k][0] == '<' && mt_codes_char(finder, end) == '3')
            end++;
        while (mt_syntax_starts(finder, end, faces[k])) /* <3<3 */
            end += strlen(faces[k]);
        uint32_t c = mt_codes_at(finder, end);
        size_t behind = end;
        while (behind < finder->length && behind < end + 4 &&
               mt_codes_is_one_of(finder->text[behind], ".,!?)"))
            behind++;
        bool ends = mt_codes_is_blank(c) ||
                    (behind > end && mt_codes_is_blank(mt_codes_at(finder, behind)));
        if (ends)
            return strchr(faces[k], '3')
                       ? mt_syntax_edge(end - begin)
                       : (struct mt_syntax){.n = end - begin, .kind = MT_CODE_POINT};
    }
    return mt_no_syntax;
}

/* Matches at least two keys, as in [Ctrl]+[Alt]+[F4] and <Ctrl> + <C>, which models would
 * separate. */
static struct mt_syntax match_keys(const struct mt_codes_finder *finder, size_t begin)
{
    char open = finder->text[begin], close = open == '[' ? ']' : '>';
    size_t at = begin, n_keys = 0;
    while (mt_codes_is_one_of(open, "[<") && mt_codes_char(finder, at) == open) {
        size_t end = at + 1;
        while (mt_codes_is_name_char(mt_codes_char(finder, end)))
            end++;
        if (end == at + 1 || mt_codes_char(finder, end) != close)
            break;
        at = end + 1;
        n_keys++;
        bool is_spaced = mt_syntax_starts(finder, at, " + ");
        char joint = mt_codes_char(finder, at + is_spaced);
        size_t next = at + (is_spaced ? 3 : 1);
        if (!mt_codes_is_one_of(joint, "+-") || mt_codes_char(finder, next) != open)
            break;
        at = next;
    }
    return n_keys > 1 && mt_codes_char(finder, at - 1) == close ? mt_syntax_word(at - begin)
                                                                : mt_no_syntax;
}

/* Returns the length of an element such as <sub>2</sub> or <sup>th</sup> at text[begin]; 0: there
 * is none. */
static size_t index_length(const struct mt_codes_finder *finder, size_t begin)
{
    static const char *const tags[][2] = {{"<sub>", "</sub>"}, {"<sup>", "</sup>"}};
    for (size_t k = 0; k < sizeof tags / sizeof *tags; k++) {
        size_t name = begin + strlen(tags[k][0]), at = name;
        if (!mt_syntax_starts(finder, begin, tags[k][0]))
            continue;
        while (at - name < MAX_INDEX_BYTES &&
               (mt_codes_is_digit(mt_codes_at(finder, at)) ||
                mt_codes_is_one_of(mt_codes_char(finder, at), "+-*[]()")))
            at++;
        if (at == name && finder->length - at > 2 && mt_is_ordinal_ending(finder->text + at, 2))
            at += 2;
        return at > name && mt_syntax_starts(finder, at, tags[k][1])
                   ? at + strlen(tags[k][1]) - begin
                   : 0;
    }
    return 0;
}

/* Matches a few letters with their index or exponent, and the number before them: H<sub>2</sub>O,
 * 25 m<sup>2</sup>, $19.<sup>99</sup>. The number of a note is not matched and stays behind its
 * word. */
static struct mt_syntax match_index(const struct mt_codes_finder *finder, size_t begin)
{
    bool has_sign = u_charType((UChar32)mt_codes_at(finder, begin)) == U_CURRENCY_SYMBOL;
    size_t from = has_sign ? mt_codes_next(finder, begin) : begin, at = from, n = 0;
    while (at - from < MAX_NUMBER_BYTES && (mt_codes_is_digit(mt_codes_at(finder, at)) ||
                                            mt_codes_is_one_of(mt_codes_char(finder, at), ".,")))
        at++;
    bool has_number = at > from, begins = !mt_syntax_is_word_before(finder, begin);
    if (has_sign && !has_number)
        return mt_no_syntax;
    at += has_number && mt_codes_char(finder, at) == ' ';
    size_t letters = at;
    while (at - letters < MAX_SYMBOL_LETTERS && mt_ascii_is_letter(mt_codes_char(finder, at)))
        at++;
    bool is_symbol = at > letters;
    if ((is_symbol || has_number) && !begins)
        return mt_no_syntax;
    for (size_t next; (next = index_length(finder, at)) > 0; n++) {
        at += next;
        while (is_symbol && mt_ascii_is_letter(mt_codes_char(finder, at)))
            at++;
    }
    if (n == 0)
        return mt_no_syntax;
    return (struct mt_syntax){.n = at - begin,
                              .kind = has_number  ? has_sign ? MT_CODE_WORD : MT_CODE_NUMBER
                                      : is_symbol ? MT_CODE_WORD
                                                  : MT_CODE_POINT};
}

/* Matches a footnote's number: [^1]. */
static struct mt_syntax match_footnote(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 2;
    if (!mt_syntax_starts(finder, begin, "[^"))
        return mt_no_syntax;
    while (mt_codes_is_name_char(mt_codes_char(finder, at)) || mt_codes_char(finder, at) == '-')
        at++;
    return at > begin + 2 && mt_codes_char(finder, at) == ']'
               ? (struct mt_syntax){.n = at + 1 - begin, .kind = MT_CODE_POINT}
               : mt_no_syntax;
}

/* Matches a tag that a page shows as text: &lt;br&gt;, &lt;a href=x&gt;. */
static struct mt_syntax match_shown_tag(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 4;
    if (!mt_syntax_starts(finder, begin, "&lt;"))
        return mt_no_syntax;
    at += mt_codes_char(finder, at) == '/';
    size_t name = at, n = mt_syntax_closed_by(finder, at, "&gt;", MT_MAX_SYNTAX_BYTES);
    while (mt_codes_is_name_char(mt_codes_char(finder, at)))
        at++;
    bool has_name = at > name && mt_ascii_is_letter(finder->text[name]);
    const char *rest = finder->text + at;
    bool is_tag = has_name && n > 0 &&
                  (n == at + 4 - name || mt_syntax_starts(finder, at, "/") ||
                   (*rest == ' ' && memchr(rest, '=', name + n - at)));
    n += name - begin;
    bool is_glued = is_tag && (mt_syntax_is_word_before(finder, begin) ||
                               mt_syntax_is_word_at(finder, begin + n));
    return is_tag ? (struct mt_syntax){.n = n, .kind = is_glued ? MT_CODE_POINT : MT_CODE_WORD}
                  : mt_no_syntax;
}

/* Whether the entity stands between blanks in a short line, where it separates texts. In a longer
 * one it is a word of the sentence. */
static bool separates(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    size_t n_blanks = 0, at = begin, limit = end + MAX_TITLE_BYTES;
    if (begin == 0 || finder->text[begin - 1] != ' ' || mt_codes_char(finder, end) != ' ')
        return false;
    while (at > 0 && begin - at < MAX_TITLE_BYTES && finder->text[at - 1] != '\n')
        n_blanks += finder->text[--at] == ' ';
    for (; end < finder->length && end < limit && finder->text[end] != '\n'; end++)
        n_blanks += finder->text[end] == ' ';
    return n_blanks <= MOST_TITLE_BLANKS;
}

/* Matches entities left in a text: &nbsp; &#39;. */
static struct mt_syntax match_entity(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 1;
    if (finder->text[begin] != '&')
        return mt_no_syntax;
    at += mt_codes_char(finder, at) == '#';
    size_t name = at;
    while (at - begin < 12 && mt_codes_is_name_char(mt_codes_char(finder, at)))
        at++;
    bool is_one = at - name >= 2 && mt_codes_char(finder, at) == ';';
    if (!is_one || mt_reading_of_entity(finder->text, begin, finder->length))
        return mt_no_syntax;
    size_t end = at + 1;
    static const char *const blanks[] = {"nbsp", "160", "ensp", "emsp", "thinsp", NULL};
    static const char *const points[] = {"quot",  "34",    "ldquo",  "rdquo", "laquo", "raquo",
                                         "lsquo", "rsquo", "hellip", "8230",  NULL};
    bool is_point = mt_codes_is_among(points, finder->text + name, at - name);
    bool is_blank = mt_codes_is_among(blanks, finder->text + name, at - name);
    bool is_between = mt_syntax_is_word_before(finder, begin) && mt_syntax_is_word_at(finder, end);
    return (struct mt_syntax){.n = end - begin,
                              .kind = is_blank && is_between          ? MT_CODE_GAP
                                      : is_point || is_blank          ? MT_CODE_POINT
                                      : separates(finder, begin, end) ? MT_CODE_EDGE
                                                                      : MT_CODE_WORD};
}

/* Matches a type with its parameters in brackets within brackets, of which the outer ones would be
 * taken for a tag: List<Map<String, Integer>>. */
static struct mt_syntax match_generic(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin, depth = 0, deepest = 0;
    if (!mt_ascii_is_capital(finder->text[begin]) || mt_syntax_is_word_before(finder, begin))
        return mt_no_syntax;
    while (mt_codes_is_name_char(mt_codes_char(finder, at)))
        at++;
    if (mt_codes_char(finder, at) != '<')
        return mt_no_syntax;
    for (; at - begin < MAX_GENERIC_BYTES &&
           (mt_codes_is_name_char(mt_codes_char(finder, at)) ||
            mt_codes_is_one_of(mt_codes_char(finder, at), "<>, .?[]&"));
         at++) {
        depth += finder->text[at] == '<';
        deepest = depth > deepest ? depth : deepest;
        if (finder->text[at] == '>' && --depth == 0)
            return deepest > 1 ? mt_syntax_word(at + 1 - begin) : mt_no_syntax;
    }
    return mt_no_syntax;
}

/* Matches a British postcode: SW1A 2AA. */
static struct mt_syntax match_postcode(const struct mt_codes_finder *finder, size_t begin)
{
    const char *text = finder->text;
    size_t at = begin, end = finder->length;
    while (at < end && at - begin < 2 && mt_ascii_is_capital(text[at]))
        at++;
    if (at == begin || mt_syntax_is_word_before(finder, begin) || !mt_codes_digit_at(finder, at))
        return mt_no_syntax;
    at++;
    if (at < end && (mt_ascii_is_digit(text[at]) || mt_ascii_is_capital(text[at])))
        at++;
    bool is_inward = end - at >= 4 && text[at] == ' ' && mt_ascii_is_digit(text[at + 1]) &&
                     mt_ascii_is_capital(text[at + 2]) && mt_ascii_is_capital(text[at + 3]);
    return is_inward && !mt_syntax_is_word_at(finder, at + 4) ? mt_syntax_word(at + 4 - begin)
                                                              : mt_no_syntax;
}

/* ---- placeholders ---- */

/* Returns the bytes of a dash at text[at] between two placeholders, as in {from}–{to}; 0: there is
 * none. */
static size_t joint_length(const struct mt_codes_finder *finder, size_t at)
{
    uint32_t c = mt_codes_at(finder, at);
    if (c != '-' && c != 0x2013)
        return 0;
    size_t next = mt_codes_next(finder, at);
    return mt_placeholder_at(finder->text, finder->length, next) ? next - at : 0;
}

/* Returns where placeholders end that begin before `end`, with what touches them and belongs to
 * them. */
static size_t placeholder_end(const struct mt_codes_finder *finder, size_t end)
{
    while (end < finder->length && finder->taken[end] == MT_FREE) {
        size_t n = mt_placeholder_at(finder->text, finder->length, end);
        n = n ? n : joint_length(finder, end);
        if (n == 0 && !mt_placeholder_may_touch(finder->text[end]))
            break;
        if (n == 0 && (match_escape(finder, end).n || match_escaped_quote(finder, end).n))
            break;
        end += n ? n : 1;
    }
    return end;
}

static bool is_heart(uint32_t c)
{
    return c == 0x2665 || c == 0x2764 || (c >= 0x1F493 && c <= 0x1F49F) || c == 0x1F9E1 ||
           c == 0x1F5A4 || c == 0x1F90D || c == 0x1F90E;
}

/* Returns where the name begins that text[at], the sign of a trade mark, belongs to, as in Foo™;
 * `at`: there is none. */
static size_t trademark_begin(const struct mt_codes_finder *finder, size_t at)
{
    uint32_t sign = mt_codes_at(finder, at);
    size_t begin = at;
    while (begin > 0 && at - begin < MAX_WORD_BYTES && mt_syntax_is_word_before(finder, begin) &&
           finder->taken[begin - 1] == MT_FREE)
        begin = mt_previous_char(finder->text, begin);
    bool is_one =
        (sign == 0x2122 || sign == 0xAE) && u_isupper((UChar32)mt_codes_at(finder, begin));
    return is_one ? begin : at;
}

/* Whether the sign behind a preposition stands for a noun: "made with ❤ in Berlin". */
static bool is_noun(const struct mt_codes_finder *finder, size_t at)
{
    static const char *const words[] = {" with ", " of ", " by ", " and ", NULL};
    for (size_t k = 0; words[k]; k++) {
        size_t n = strlen(words[k]);
        if (at >= n && memcmp(finder->text + at - n, words[k], n) == 0)
            return mt_codes_is_english(finder);
    }
    return false;
}

/* Claims what is a placeholder from one of the first tags in [begin, end) on, where these tags keep
 * the whole from being one, as in <a>doi</a>:<a>10.1000/182</a>. */
static void claim_between_tags(struct mt_codes_finder *finder, size_t begin, size_t end)
{
    const struct mt_coded_segment *segment = finder->segment;
    size_t i = mt_codes_first_own(segment, begin), stop = mt_size_min(i + 4, segment->n);
    for (; i < stop && segment->codes[i].at.begin < end; i++) {
        size_t at = segment->codes[i].at.end;
        size_t n = at < end ? mt_placeholder_at(finder->text, finder->length, at) : 0;
        if (n && mt_codes_claim(finder, MT_CODE_WORD, at, at + n) != MT_NO_MATE)
            return;
    }
}

/* Claims a placeholder and returns where it ends; 0: there is none. */
static size_t take_placeholder(struct mt_codes_finder *finder, size_t begin)
{
    size_t n = mt_placeholder_at(finder->text, finder->length, begin);
    if (n) {
        size_t from = begin, end = placeholder_end(finder, begin + n);
        while (from > 0 && finder->taken[from - 1] == MT_FREE &&
               mt_placeholder_may_touch(finder->text[from - 1]))
            from--;
        bool is_count = mt_placeholder_is_count(finder->text + from, end - from);
        if (mt_codes_claim(finder, is_count ? MT_CODE_NUMBER : MT_CODE_WORD, from, end) ==
            MT_NO_MATE)
            claim_between_tags(finder, from, end);
        return end;
    }
    n = mt_emoji_at(finder->text, finder->length, begin);
    size_t name = n ? trademark_begin(finder, begin) : begin;
    if (name < begin)
        mt_codes_claim(finder, MT_CODE_WORD, name, begin + n);
    else if (n) /* a heart separates "I" and "you", where models would misread "I you" */
        mt_codes_claim(finder,
                       !is_heart(mt_codes_at(finder, begin)) ? MT_CODE_POINT
                       : is_noun(finder, begin)              ? MT_CODE_WORD
                                                             : MT_CODE_EDGE,
                       begin, begin + n);
    return n ? begin + n : 0;
}

/* ---- all of it ---- */

static size_t take_syntax(struct mt_codes_finder *finder, size_t begin)
{
    static struct mt_syntax (*const matchers[])(const struct mt_codes_finder *finder,
                                                size_t begin) = {
        match_emoticon,     match_escaped_quote,
        match_escaped_char, match_keys,
        match_statement,    match_bracketed,
        match_argument,     match_object,
        match_spaced,       match_set,
        match_code,         match_sentinel,
        match_shortcode,    mt_syntax_match_symbol,
        match_footnote,     match_index,
        match_shown_tag,    match_entity,
        match_postcode,     match_generic,
        match_expression};
    for (size_t k = 0; k < sizeof matchers / sizeof *matchers; k++) {
        struct mt_syntax found = matchers[k](finder, begin);
        if (!found.n)
            continue;
        size_t code = mt_codes_claim(finder, found.kind, begin, begin + found.n);
        if (code == MT_NO_MATE)
            continue;
        if (found.is_loose)
            mt_codes_loosen(finder, code);
        return begin + found.n;
    }
    return 0;
}

/* Whether the letter at text[at] belongs to the word, as in "path\name": the vocabulary then spells
 * it with fewer pieces. */
static bool is_of_word(struct mt_codes_finder *finder, size_t at)
{
    const struct mt_tokenizer *tokenizer = finder->options->tokenizer;
    size_t end = at, with = 0, without = 0;
    while (end - at < MAX_WORD_BYTES && mt_ascii_is_letter(mt_codes_char(finder, end)))
        end++;
    if (!tokenizer || end - at < 2 || !u_islower((UChar32)finder->text[at + 1]))
        return false;
    const char *word = finder->text + at;
    finder->status = mt_reading_pieces(tokenizer, word, end - at, &with, finder->err);
    if (!finder->status)
        finder->status =
            mt_reading_pieces(tokenizer, word + 1, end - at - 1, &without, finder->err);
    return with < without;
}

/* Claims syntax that is searched only after placeholders, because "#{name}" is one of these, and
 * C:\new has no line end. */
static size_t take_rest(struct mt_codes_finder *finder, size_t begin)
{
    struct mt_syntax found = match_escape(finder, begin);
    if (found.n && mt_syntax_is_word_before(finder, begin) &&
        is_of_word(finder, begin + found.n - 1))
        return 0;
    if (!found.n)
        found = mt_syntax_match_mention(finder, begin);
    size_t code = found.n ? mt_codes_claim(finder, found.kind, begin, begin + found.n) : MT_NO_MATE;
    if (code != MT_NO_MATE && found.is_loose)
        mt_codes_loosen(finder, code);
    return code == MT_NO_MATE ? 0 : begin + found.n;
}

/* Whether a code may begin here: not in the middle of a word, nor at a blank. */
static bool may_begin(const struct mt_codes_finder *finder, size_t at)
{
    char c = finder->text[at];
    bool is_inner = mt_ascii_is_letter(c) && at > 0 && mt_ascii_is_letter(finder->text[at - 1]) &&
                    finder->taken[at - 1] == MT_FREE;
    return !is_inner && c != ' ' && c != ',' && c != '.' && c != '"' && c != '?';
}

void mt_codes_find_syntax(struct mt_codes_finder *finder)
{
    struct mt_open_tags tags = {.n = 0};
    for (size_t at = 0; at < finder->length && !finder->status;) {
        if (finder->text[at] == '\n')
            tags.n = 0;
        size_t end = 0;
        size_t n_quote = finder->text[at] == '\\' && finder->taken[at] == MT_FREE
                             ? mt_reading_of_entity(finder->text, at, finder->length)
                             : 0;
        if (n_quote > 0) { /* It\'s, of which the model is shown the apostrophe */
            memset(finder->taken + at, MT_TAKEN_BLANK, n_quote);
            end = at + n_quote;
        } else if (finder->taken[at] == MT_FREE && may_begin(finder, at)) {
            bool is_brace = finder->text[at] == '{'; /* {$START_LINK} is a tag, {$name} a word */
            end = is_brace ? mt_codes_take_tag(finder, &tags, at) : 0;
            if (!end)
                end = mt_codes_take_escaped_quotes(finder, at);
            if (!end)
                end = take_syntax(finder, at);
            if (!end && !is_brace)
                end = mt_codes_take_tag(finder, &tags, at);
            if (!end)
                end = take_placeholder(finder, at);
            if (!end)
                end = take_rest(finder, at);
        }
        at = end ? end : mt_codes_next(finder, at);
    }
}
