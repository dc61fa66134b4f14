#include "server/text/protect.h"

#include "base/size.h"

#include "server/text/terms.h"

#include <string.h>
#include <strings.h>

#include <unicode/uchar.h>

/* ---- ASCII classes; placeholders are made of nothing else ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

/* What may touch a placeholder and be part of it: "/{id}", "file_%d", "{n}px". */
static bool is_glue(char c)
{
    return is_name_char(c) || c == '/' || c == '\\' || c == '=' || c == '#' || c == '@' || c == '$';
}

static char at(const char *text, size_t length, size_t index)
{
    return index < length ? text[index] : '\0';
}

/* ---- matchers: bytes that are a placeholder from text[begin] on, or 0 ---- */

/* Ends behind the closing string, or is 0; no line feeds, not too long, not empty. */
static size_t match_closed(const char *text, size_t length, size_t begin, const char *closing)
{
    size_t limit =
        length - begin < MT_MAX_PLACEHOLDER_BYTES ? length : begin + MT_MAX_PLACEHOLDER_BYTES;
    const char *feed = memchr(text + begin, '\n', limit - begin);
    size_t n = feed ? (size_t)(feed - text) - begin : limit - begin;
    const char *end = memmem(text + begin, n, closing, strlen(closing));
    return end > text + begin ? (size_t)(end - text) - begin + strlen(closing) : 0;
}

/* {name}, {0}, {0:N2}, {user.name}: a name, and behind it anything without blanks. */
static size_t match_brace(const char *text, size_t length, size_t begin)
{
    if (at(text, length, begin) != '{')
        return 0;
    if (at(text, length, begin + 1) == '{') {
        size_t n = match_closed(text, length, begin + 2, "}}");
        return n ? n + 2 : 0;
    }
    size_t n = match_closed(text, length, begin + 1, "}");
    if (n == 0 || !is_name_char(text[begin + 1]))
        return 0;
    for (size_t i = begin + 1; i < begin + n; i++)
        if (text[i] == ' ' || text[i] == '{' || text[i] == '\t')
            return 0;
    return n + 1;
}

static size_t match_dollar(const char *text, size_t length, size_t begin)
{
    if (at(text, length, begin) != '$' || at(text, length, begin + 1) != '{')
        return 0;
    size_t n = match_closed(text, length, begin + 2, "}");
    return n ? n + 2 : 0;
}

/* %s, %-5.2f, %1$s, %(name)s, %{name}, %lld. Not "50% discount": a blank is no flag here. */
static size_t match_percent(const char *text, size_t length, size_t begin)
{
    size_t i = begin + 1;
    if (at(text, length, begin) != '%')
        return 0;
    if (at(text, length, i) == '{') {
        size_t n = match_brace(text, length, i);
        return n ? n + 1 : 0;
    }
    if (at(text, length, i) == '(') {
        size_t n = match_closed(text, length, i + 1, ")");
        if (!n)
            return 0;
        i += n + 1;
    }
    while (strchr("-+#0123456789.$*'", at(text, length, i)) && i < length)
        i++;
    while (i < length && strchr("hlLqjzt", text[i]))
        i++;
    if (i >= length || !strchr("diouxXeEfFgGaAcspn@r", text[i]))
        return 0;
    return is_letter(at(text, length, i + 1)) ? 0 : i + 1 - begin;
}

static bool is_url_char(char c)
{
    return (unsigned char)c > ' ' && c != 0x7F && !strchr("<>\"`{}|\\^", c);
}

/* Full stops, brackets and the like at the end are the sentence's. */
static size_t trim_url(const char *text, size_t begin, size_t end)
{
    const char *open = memchr(text + begin, '(', end - begin);
    while (end > begin) {
        char last = text[end - 1];
        bool is_balanced = last == ')' && open && open < text + end;
        if (is_balanced || !strchr(".,;:!?)'*]", last))
            break;
        end--;
    }
    return end;
}

static size_t match_url(const char *text, size_t length, size_t begin)
{
    static const char *const schemes[] = {"http://", "https://", "ftp://", "ftps://", "mailto:",
                                          "www.",    "ssh://",   "git://", "file://"};
    if (begin > 0 && is_name_char(text[begin - 1]))
        return 0;
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        size_t n = strlen(schemes[k]);
        if (length - begin <= n || strncasecmp(text + begin, schemes[k], n) != 0)
            continue;
        size_t end = begin + n;
        while (end < length && is_url_char(text[end]))
            end += mt_utf8_length((unsigned char)text[end]);
        end = trim_url(text, begin, end);
        return end > begin + n ? end - begin : 0;
    }
    return 0;
}

static bool is_mail_char(char c)
{
    return is_name_char(c) || c == '.' || c == '+' || c == '-';
}

static size_t match_mail(const char *text, size_t length, size_t begin)
{
    size_t i = begin, last_dot = 0;
    if (!is_name_char(at(text, length, begin)) || (begin > 0 && is_mail_char(text[begin - 1])))
        return 0;
    while (i < length && i - begin < MT_MAX_PLACEHOLDER_BYTES && is_mail_char(text[i]))
        i++;
    if (at(text, length, i) != '@' || i - begin >= MT_MAX_PLACEHOLDER_BYTES)
        return 0;
    size_t domain = ++i;
    while (i < length && i - begin < MT_MAX_PLACEHOLDER_BYTES &&
           (is_name_char(text[i]) || text[i] == '.' || text[i] == '-'))
        i++;
    while (i > domain && (text[i - 1] == '.' || text[i - 1] == '-'))
        i--;
    for (size_t k = domain; k < i; k++)
        if (text[k] == '.')
            last_dot = k;
    return last_dot > domain ? i - begin : 0;
}

static bool is_group_char(char c, char mark)
{
    return is_digit(c) || (mark != '.' && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

/* Groups of digits with the same mark between them: decimal ones at full stops, hexadecimal ones at
 * colons and hyphens, and one digit at least is decimal. Three may be a date or a time; four, or two
 * at IPv6's double colon, are a name. */
static size_t match_groups(const char *text, size_t length, size_t begin, char mark)
{
    size_t i = begin, n_groups = 0, n_digits = 0;
    bool has_double = false;
    while (i - begin < MT_MAX_PLACEHOLDER_BYTES && is_group_char(at(text, length, i), mark)) {
        for (; is_group_char(at(text, length, i), mark); i++)
            n_digits += is_digit(text[i]);
        n_groups++;
        if (at(text, length, i) != mark)
            break;
        if (mark == ':' && !has_double && at(text, length, i + 1) == ':') {
            has_double = true;
            i += 2;
        } else if (is_group_char(at(text, length, i + 1), mark)) {
            i++;
        }
    }
    bool is_name = n_groups >= 4 || (has_double && n_groups >= 2);
    return is_name && n_digits && !is_name_char(at(text, length, i)) ? i - begin : 0;
}

/* 1.234.567.890, as German and Spanish write it. Of an address of four such groups none is above 255 or
 * begins with 0. */
static bool is_thousands(const char *groups, size_t length)
{
    bool is_address = true;
    size_t n_groups = 0;
    for (size_t begin = 0, end; begin < length; begin = end + 1, n_groups++) {
        unsigned value = 0;
        for (end = begin; end < length && end - begin <= 3 && is_digit(groups[end]); end++)
            value = 10 * value + (unsigned)(groups[end] - '0');
        size_t n = end - begin;
        if (n > 3 || (begin > 0 && n < 3))
            return false;
        is_address = is_address && value <= 255 && (n == 1 || groups[begin] != '0');
    }
    return !is_address || n_groups != 4;
}

/* 192.168.0.1:8080, version 1.2.3.4, 00:1a:2b:3c:4d:5e, 2001:db8::1, 978-3-16-148410-0. */
static size_t match_address(const char *text, size_t length, size_t begin)
{
    char before = begin > 0 ? text[begin - 1] : ' ';
    if (is_digit(before) || (before && strchr(".:-", before)))
        return 0;
    size_t n = match_groups(text, length, begin, '.');
    if (n && is_thousands(text + begin, n))
        return 0;
    if (n) { /* and a port */
        size_t end = begin + n + (at(text, length, begin + n) == ':');
        while (is_digit(at(text, length, end)))
            end++;
        return text[end - 1] == ':' ? n : end - begin;
    }
    if (is_name_char(before))
        return 0;
    n = match_groups(text, length, begin, ':');
    return n ? n : match_groups(text, length, begin, '-');
}

static size_t match_word(const char *text, size_t length, size_t begin)
{
    static size_t (*const matchers[])(const char *, size_t, size_t) = {
        match_brace, match_dollar, match_percent, match_url, match_mail, match_address};
    for (size_t k = 0; k < sizeof matchers / sizeof *matchers; k++) {
        size_t n = matchers[k](text, length, begin);
        if (n)
            return n;
    }
    return 0;
}

/* Emoji_Presentation, or a symbol that is one (Unicode's property Emoji, digits and the like
 * apart). */
static bool is_emoji(uint32_t c)
{
    return c >= 0xA9 && u_hasBinaryProperty((UChar32)c, UCHAR_EMOJI);
}

/* What continues one: joiner, variation selectors, skin, keycap, tags. */
static bool continues_emoji(uint32_t c)
{
    return c == 0x200D || c == 0xFE0F || c == 0xFE0E || c == 0x20E3 ||
           (c >= 0x1F3FB && c <= 0x1F3FF) || (c >= 0xE0020 && c <= 0xE007F);
}

static bool starts(const char *text, size_t length, size_t begin, const char *with)
{
    size_t n = strlen(with);
    return length - begin >= n && memcmp(text + begin, with, n) == 0;
}

/* A run of emoji that touch. */
static size_t match_emoji(const char *text, size_t length, size_t begin)
{
    size_t end = begin;
    char first = at(text, length, begin);
    bool is_keycap = (is_digit(first) || first == '#' || first == '*') &&
                     (starts(text, length, begin + 1, "\xEF\xB8\x8F\xE2\x83\xA3") ||
                      starts(text, length, begin + 1, "\xE2\x83\xA3"));
    if (is_keycap)
        end++;
    else if ((unsigned char)first < 0x80)
        return 0;
    while (end < length) {
        uint32_t c = mt_utf8_decode(text + end);
        if (!is_emoji(c) && !(end > begin && continues_emoji(c)))
            break;
        end += mt_utf8_length((unsigned char)text[end]);
    }
    return end - begin;
}

/* ---- finding ---- */

/* Placeholders and glue that follow. */
static size_t extend(const char *text, size_t length, size_t end)
{
    while (end < length) {
        size_t n = match_word(text, length, end);
        if (n == 0 && !is_glue(text[end]))
            break;
        end += n ? n : 1;
    }
    return end;
}

struct mt_protected mt_protect_find(const char *text, size_t length, size_t from)
{
    for (size_t i = from; i < length; i += mt_utf8_length((unsigned char)text[i])) {
        size_t n = match_word(text, length, i);
        if (n) {
            size_t begin = i;
            while (begin > from && is_glue(text[begin - 1]))
                begin--;
            return (struct mt_protected){MT_PROTECTED_WORD, begin, extend(text, length, i + n),
                                         MT_NO_TERM};
        }
        n = match_emoji(text, length, i);
        if (n)
            return (struct mt_protected){MT_PROTECTED_EMOJI, i, i + n, MT_NO_TERM};
    }
    return (struct mt_protected){MT_PROTECTED_NOTHING, length, length, MT_NO_TERM};
}

bool mt_protect_is_all(const char *text, size_t length, enum mt_protected_kind *kind)
{
    struct mt_range inner = mt_range_trim(text, 0, length);
    struct mt_protected found = mt_protect_find(text, length, inner.begin);
    *kind = found.kind;
    return found.kind != MT_PROTECTED_NOTHING && found.begin == inner.begin &&
           found.end == inner.end;
}

/* ---- standing in ---- */

/* First those that small models copy too. */
static const char *const names[] = {"Tom",  "Maria",  "Boston", "Mary", "Paul",
                                    "Anna", "Peter",  "Laura",  "John", "Julia",
                                    "Max",  "Berlin", "London", "Ken",  "Bob"};
/* Without 12, 20 and the like, for which a translation may have a word: a dozen. */
static const char *const numbers[] = {"17", "34", "58", "26", "73", "41", "95", "62",
                                      "87", "39", "53", "78", "46", "91", "67"};

static void choose(struct mt_stand_in_words *chosen, const char *const *candidates, size_t n,
                   const char *text, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (chosen->n < MT_MAX_STAND_INS &&
            (length == 0 || !memmem(text, length, candidates[i], strlen(candidates[i]))))
            chosen->words[chosen->n++] = candidates[i];
    if (chosen->n == 0) /* a text with all of them has more than enough for the alignment */
        chosen->words[chosen->n++] = candidates[0];
}

void mt_stand_ins_init(struct mt_stand_ins *stand_ins, const char *text, size_t length)
{
    *stand_ins = (struct mt_stand_ins){0};
    choose(&stand_ins->names, names, sizeof names / sizeof *names, text, length);
    choose(&stand_ins->numbers, numbers, sizeof numbers / sizeof *numbers, text, length);
}

/* {count}, {{ n }}, ${num}, %{number}: nothing but the name and what marks it. */
static bool is_name_of_count(const char *bytes, size_t length)
{
    static const char *const counts[] = {"n", "num", "count", "number"};
    size_t begin = 0;
    while (begin < length && strchr("%${ ", bytes[begin]))
        begin++;
    size_t end = begin;
    while (end < length && is_letter(bytes[end]))
        end++;
    for (size_t i = end; i < length; i++)
        if (bytes[i] != '}' && bytes[i] != ' ')
            return false;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        if (end - begin == strlen(counts[k]) &&
            strncasecmp(bytes + begin, counts[k], end - begin) == 0)
            return true;
    return false;
}

/* Whether it will be a whole number: %d, %1$lu, %(files)i, Qt's %n; or is named so. */
static bool is_count(const char *bytes, size_t length)
{
    if (length == 0)
        return false;
    if (match_percent(bytes, length, 0) == length && strchr("diun", bytes[length - 1]))
        return true;
    return match_word(bytes, length, 0) == length && is_name_of_count(bytes, length);
}

const char *mt_stand_ins_next(struct mt_stand_ins *stand_ins, const char *bytes, size_t length)
{
    struct mt_stand_in_words *words =
        is_count(bytes, length) ? &stand_ins->numbers : &stand_ins->names;
    const char *word = words->words[words->next];
    words->next = (words->next + 1) % words->n;
    return word;
}

/* ---- in order ---- */

void mt_protect_scan_begin(struct mt_protect_scan *scan, const char *text, size_t length,
                           bool protects, struct mt_terms *terms, bool crosses_lines)
{
    *scan = (struct mt_protect_scan){
        .text = text, .length = length, .protects = protects, .terms = terms};
    if (terms)
        mt_terms_search(terms, text, length, crosses_lines);
}

static struct mt_protected nothing(const struct mt_protect_scan *scan)
{
    return (struct mt_protected){MT_PROTECTED_NOTHING, scan->length, scan->length, MT_NO_TERM};
}

static struct mt_protected find_term(const struct mt_protect_scan *scan, size_t from)
{
    struct mt_term_match match = mt_terms_find(scan->terms, from);
    if (match.term == MT_NO_TERM)
        return nothing(scan);
    return (struct mt_protected){MT_PROTECTED_TERM, match.begin, match.end, match.term};
}

/* What was found remains the next of its kind until `from` has passed it, so that a text is
 * searched once for each. */
struct mt_protected mt_protect_scan_next(struct mt_protect_scan *scan, size_t from)
{
    struct mt_protected *placeholder = &scan->placeholder, *term = &scan->term;
    if (!scan->has_found || placeholder->begin < from)
        *placeholder =
            scan->protects ? mt_protect_find(scan->text, scan->length, from) : nothing(scan);
    if (!scan->has_found || term->begin < from)
        *term = scan->terms ? find_term(scan, from) : nothing(scan);
    scan->has_found = true;
    if (term->begin != placeholder->begin)
        return term->begin < placeholder->begin ? *term : *placeholder;
    return term->end > placeholder->end ? *term : *placeholder;
}

static void append_found(struct mt_marked *marked, struct mt_stand_ins *stand_ins,
                         const struct mt_protect_scan *scan, const struct mt_protected *found)
{
    const char *bytes = scan->text + found->begin;
    size_t length = found->end - found->begin;
    if (found->kind == MT_PROTECTED_WORD) {
        mt_marked_stand_in(marked, mt_stand_ins_next(stand_ins, bytes, length), bytes, length);
    } else if (found->kind == MT_PROTECTED_EMOJI) {
        mt_marked_point(marked, bytes, length);
    } else if (found->kind == MT_PROTECTED_TERM) {
        struct mt_term term = mt_terms_at(scan->terms, found->term);
        const char *target = term.is_kept ? bytes : term.target;
        size_t n_target = term.is_kept ? length : strlen(term.target);
        const struct mt_marked_term mark = {
            .words = bytes,
            .n_words = length,
            .target = target,
            .n_target = n_target,
            .written = target,
            .n_written = n_target,
            .term = found->term,
            .is_kept = term.is_kept,
        };
        mt_marked_term(marked, &mark);
    }
}

size_t mt_protect_append(struct mt_marked *marked, struct mt_stand_ins *stand_ins,
                         struct mt_protect_scan *scan, size_t from, size_t end)
{
    while (from < end && marked->n < MT_MAX_MARKS) {
        struct mt_protected found = mt_protect_scan_next(scan, from);
        size_t begin = mt_size_min(found.begin, end);
        mt_marked_append(marked, scan->text + from, begin - from);
        if (begin == end)
            return end;
        append_found(marked, stand_ins, scan, &found);
        from = found.end;
    }
    return from;
}
