/* Finds names that a sign in front of them marks: variables, symbols, mentions, tags. */
#include "server/text/codes/codes_syntax.h"

#include "server/text/placeholders.h"

#include <unicode/uchar.h>

/* Matches a name behind a colon, which templates replace: :attribute, :max_size. */
static struct mt_syntax match_symbol(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 1;
    uint32_t before = mt_codes_before(finder, begin);
    if (finder->text[begin] != ':' ||
        !(mt_codes_is_blank(before) || before == '(' || before == '"' || before == '\'' ||
          before == '/' || before == '|'))
        return mt_no_syntax;
    while (mt_ascii_is_small(mt_codes_char(finder, at)) || mt_codes_char(finder, at) == '_')
        at++;
    bool is_one =
        at - begin > 2 && !mt_syntax_is_word_at(finder, at) && mt_codes_char(finder, at) != ':';
    bool is_count = mt_placeholder_names_count(finder->text + begin + 1, at - begin - 1);
    return is_one ? (struct mt_syntax){.n = at - begin,
                                       .kind = is_count ? MT_CODE_NUMBER : MT_CODE_WORD}
                  : mt_no_syntax;
}

/* Returns where the members behind a variable's name end: ->name, ::name, .name, [key]. */
static size_t members_end(const struct mt_codes_finder *finder, size_t at)
{
    for (;;) {
        size_t n = mt_syntax_starts(finder, at, "[")
                       ? mt_syntax_closed_by(finder, at, "]", MT_MAX_SYNTAX_BYTES)
                       : 0;
        bool has_arrow = mt_syntax_starts(finder, at, "->") || mt_syntax_starts(finder, at, "::");
        if (has_arrow && mt_codes_is_name_char(mt_codes_char(finder, at + 2)))
            for (n = 2; mt_codes_is_name_char(mt_codes_char(finder, at + n));)
                n++;
        if (mt_codes_char(finder, at) == '.' && mt_ascii_is_small(mt_codes_char(finder, at + 1)))
            for (n = 1; mt_codes_is_name_char(mt_codes_char(finder, at + n));)
                n++;
        if (n == 0)
            return at;
        at += n;
    }
}

/* Matches the name of another message: @:menu.file.save, @:lower:name. */
static struct mt_syntax match_linked(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 2, end = at;
    if (!mt_syntax_starts(finder, begin, "@:"))
        return mt_no_syntax;
    for (; mt_codes_is_name_char(mt_codes_char(finder, at)) ||
           mt_codes_is_one_of(mt_codes_char(finder, at), ".:");
         at++)
        end = mt_codes_is_name_char(finder->text[at]) ? at + 1 : end;
    return end > begin + 2 ? mt_syntax_word(end - begin) : mt_no_syntax;
}

/* Matches variables of at least two letters: $HOME, $name, $user->name, $t(key); but not US$, $1,
 * $A5. */
static struct mt_syntax match_variable(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 1;
    if (finder->text[begin] != '$' || mt_syntax_is_word_before(finder, begin) ||
        mt_codes_is_digit(mt_codes_at(finder, at)) || mt_codes_before(finder, begin) == '$')
        return mt_no_syntax;
    while (mt_codes_is_name_char(mt_codes_char(finder, at)))
        at++;
    if (mt_syntax_is_word_at(finder, at))
        return mt_no_syntax;
    if (at > begin + 1)
        at = members_end(finder, at);
    if (at > begin + 1 && mt_codes_char(finder, at) == '(') {
        size_t n = mt_syntax_closed_by(finder, at, ")", MT_MAX_SYNTAX_BYTES);
        return n ? mt_syntax_word(at + n - begin) : mt_no_syntax;
    }
    return at - begin > 2 ? mt_syntax_word(at - begin) : mt_no_syntax;
}

/* Matches the number of a colour or an order, #000000, which has more digits than those that models
 * copy. */
static struct mt_syntax match_number_sign(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 1;
    if (finder->text[begin] != '#' || mt_syntax_is_word_before(finder, begin) ||
        mt_codes_before(finder, begin) == '#')
        return mt_no_syntax;
    while (mt_codes_digit_at(finder, at))
        at++;
    return at - begin > 4 && !mt_syntax_is_word_at(finder, at) ? mt_syntax_word(at - begin)
                                                               : mt_no_syntax;
}

/* Matches names that begin with colons, such as ::1 and ::before, and the !name of a placeholder or
 * command. */
static struct mt_syntax match_signed(const struct mt_codes_finder *finder, size_t begin)
{
    bool is_colon = mt_syntax_starts(finder, begin, "::");
    size_t at = begin + (is_colon ? 2 : 1), name = at;
    uint32_t before = mt_codes_before(finder, begin);
    if ((!is_colon && finder->text[begin] != '!') ||
        !(mt_codes_is_blank(before) || before == '(' || before == '"' || before == '\'') ||
        !(is_colon ? mt_codes_is_name_char(mt_codes_char(finder, at))
                   : mt_ascii_is_small(mt_codes_char(finder, at)) && mt_codes_is_english(finder)))
        return mt_no_syntax;
    while (mt_codes_is_name_char(mt_codes_char(finder, at)) ||
           (mt_codes_is_one_of(mt_codes_char(finder, at), ":-.") &&
            mt_codes_is_name_char(mt_codes_char(finder, at + 1))))
        at++;
    bool is_one = (is_colon || at - name > 1) && !mt_syntax_is_word_at(finder, at);
    return is_one ? mt_syntax_word(at - begin) : mt_no_syntax;
}

/* Matches a formula of TeX: $$x^2$$, $x_1$, \(x\), \[x\]; but not $5 and $6. */
static struct mt_syntax match_math(const struct mt_codes_finder *finder, size_t begin)
{
    static const char *const marks[][2] = {
        {"$$", "$$"}, {"\\(", "\\)"}, {"\\[", "\\]"}, {"$", "$"}};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        size_t open = strlen(marks[k][0]), from = begin + open;
        if (!mt_syntax_starts(finder, begin, marks[k][0]))
            continue;
        size_t n = mt_syntax_closed_by(finder, from, marks[k][1], MT_MAX_SYNTAX_BYTES);
        size_t inner = n > strlen(marks[k][1]) ? n - strlen(marks[k][1]) : 0;
        bool has_sign = false;
        for (size_t i = from; i < from + inner; i++)
            has_sign = has_sign || mt_codes_is_one_of(finder->text[i], "\\^_=");
        bool is_tight = inner > 0 && !mt_codes_is_blank(mt_codes_at(finder, from)) &&
                        !mt_codes_is_blank(mt_codes_before(finder, from + inner));
        bool is_one = open > 1 ? inner > 0 : is_tight && has_sign;
        return is_one && !mt_syntax_is_word_before(finder, begin) &&
                       !mt_syntax_is_word_at(finder, from + n)
                   ? mt_syntax_word(open + n)
                   : mt_no_syntax;
    }
    return mt_no_syntax;
}

/* Matches a formula of a spreadsheet: =SUM(A1:B2), =A1+B1. */
static struct mt_syntax match_formula(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 1, depth = 0, n_digits = 0;
    uint32_t before = mt_codes_before(finder, begin);
    if (finder->text[begin] != '=' || !(mt_codes_is_blank(before) || before == '"') ||
        !(mt_ascii_is_capital(mt_codes_char(finder, at)) || mt_codes_char(finder, at) == '$'))
        return mt_no_syntax;
    bool is_quoted = false;
    for (; at < finder->length && at - begin < MT_MAX_SYNTAX_BYTES; at++) {
        char c = finder->text[at];
        bool is_inner = c != '\n' && (depth > 0 || is_quoted);
        if (!is_inner && !mt_ascii_is_capital(c) && !mt_ascii_is_digit(c) &&
            !mt_codes_is_one_of(c, "$:+-*/^.!(_"))
            break;
        is_quoted = is_quoted != (c == '"');
        depth += c == '(' && !is_quoted;
        depth -= c == ')' && !is_quoted && depth > 0;
        n_digits += mt_ascii_is_digit(c);
    }
    bool is_one = depth == 0 && !is_quoted && at > begin + 2 && !mt_syntax_is_word_at(finder, at) &&
                  (n_digits > 0 || finder->text[at - 1] == ')');
    at -= is_one && finder->text[at - 1] == '.';
    return is_one ? mt_syntax_word(at - begin) : mt_no_syntax;
}

/* Matches the stars that stand for all media types, and for all files. */
static struct mt_syntax match_stars(const struct mt_codes_finder *finder, size_t begin)
{
    bool is_one = mt_syntax_starts(finder, begin, "*/*") &&
                  mt_codes_is_blank(mt_codes_before(finder, begin)) &&
                  !mt_syntax_is_word_at(finder, begin + 3);
    return is_one ? mt_syntax_word(3) : mt_no_syntax;
}

/* Matches the colours of Minecraft's texts, §a and §l, and its plugins' &a before a capital. */
static struct mt_syntax match_colour(const struct mt_codes_finder *finder, size_t begin)
{
    bool is_section = mt_syntax_starts(finder, begin, "\xC2\xA7");
    size_t at = begin + (is_section ? 2 : 1);
    if ((!is_section && finder->text[begin] != '&') ||
        !mt_codes_is_one_of(mt_codes_char(finder, at), "0123456789abcdefklmnor") ||
        mt_syntax_is_word_before(finder, begin))
        return mt_no_syntax;
    uint32_t behind = mt_codes_at(finder, at + 1);
    bool is_one = is_section ? mt_codes_is_letter(behind) || behind == 0xA7
                             : u_isupper((UChar32)behind) && !mt_codes_is_digit(behind);
    return is_one ? (struct mt_syntax){.n = at + 1 - begin, .kind = MT_CODE_POINT} : mt_no_syntax;
}

/* Whether a tag of the reader's stands at text[at], as in <a>Anna</a><a>@anna</a>. */
static bool is_tag_at(const struct mt_codes_finder *finder, size_t at)
{
    size_t i = mt_codes_first_own(finder->segment, at);
    return i > 0 && finder->segment->codes[i - 1].at.begin == at;
}

/* Matches @name, @name@host and #tag, which have letters and do not begin within a word, and
 * @call("x"). */
struct mt_syntax mt_syntax_match_mention(const struct mt_codes_finder *finder, size_t begin)
{
    char c = finder->text[begin];
    size_t at = begin + 1, end = at;
    if ((c != '@' && c != '#') ||
        (mt_syntax_is_word_before(finder, begin) && !is_tag_at(finder, begin)) ||
        mt_codes_before(finder, begin) == (unsigned char)c ||
        !mt_codes_is_letter(mt_codes_at(finder, at)))
        return mt_no_syntax;
    bool is_ideograph = mt_codes_at(finder, at) >= MT_FIRST_IDEOGRAPH;
    while (at < finder->length && at - begin < MT_MAX_SYNTAX_BYTES &&
           (mt_codes_at(finder, at) >= MT_FIRST_IDEOGRAPH) == is_ideograph) {
        if (mt_syntax_is_word_at(finder, at) || finder->text[at] == '_')
            end = at = mt_codes_next(finder, at);
        else if (c == '@' && mt_codes_is_one_of(finder->text[at], ".-@/"))
            at++;
        else
            break;
    }
    size_t n_call = c == '@' && mt_codes_char(finder, end) == '('
                        ? mt_syntax_closed_by(finder, end, ")", MT_MAX_SYNTAX_BYTES)
                        : 0;
    if (n_call > 0 && end - begin > 2)
        return mt_syntax_word(end + n_call - begin);
    bool is_one = end - begin > 2 && mt_codes_char(finder, end) != '(';
    return is_one ? (struct mt_syntax){.n = end - begin, .kind = MT_CODE_WORD, .is_loose = true}
                  : mt_no_syntax;
}

struct mt_syntax mt_syntax_match_symbol(const struct mt_codes_finder *finder, size_t begin)
{
    static struct mt_syntax (*const matchers[])(const struct mt_codes_finder *finder,
                                                size_t begin) = {
        match_math,   match_symbol, match_linked, match_variable, match_number_sign,
        match_signed, match_stars,  match_colour, match_formula};
    for (size_t k = 0; k < sizeof matchers / sizeof *matchers; k++) {
        struct mt_syntax found = matchers[k](finder, begin);
        if (found.n)
            return found;
    }
    return mt_no_syntax;
}
