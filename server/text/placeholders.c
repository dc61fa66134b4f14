#include "server/text/placeholders.h"

#include "base/ascii.h"
#include "base/text.h"
#include "server/text/splitter.h"
#include "server/text/tagged_text.h"

#include <string.h>
#include <strings.h>

#include <unicode/uchar.h>

/* Longest placeholder in bytes; URLs, keys and paths may be longer. */
#define MAX_PLACEHOLDER_BYTES 256
/* Shorter words are names and versions, which models copy: MP3, Python3, 1920x1080. */
#define LEAST_KEY_BYTES 16
#define LONGEST_FOLDER_BYTES 64
/* An IBAN has at most 34 characters. */
#define MAX_ACCOUNT_GROUPS 9

/* ---- classes of characters ---- */

static bool is_name_char(char c)
{
    return mt_ascii_is_letter_or_digit(c) || c == '_';
}

bool mt_placeholder_may_touch(char c)
{
    return is_name_char(c) || c == '/' || c == '\\' || c == '=' || c == '#' || c == '@' || c == '$';
}

static char at(const char *text, size_t length, size_t index)
{
    return index < length ? text[index] : '\0';
}

/* Whether the character is a letter, a digit or a mark that belongs to the word before it. */
static bool is_word_char(uint32_t c)
{
    if (c < 0x80)
        return is_name_char((char)c);
    return c < MT_FIRST_IDEOGRAPH &&
           (u_isalnum((UChar32)c) || u_charType((UChar32)c) == U_NON_SPACING_MARK);
}

static bool is_word_at(const char *text, size_t length, size_t index)
{
    return index < length && is_word_char(mt_utf8_decode(text + index));
}

static bool is_within_word(const char *text, size_t length, size_t index)
{
    return index > 0 && is_word_at(text, length, mt_previous_char(text, index));
}

static bool starts(const char *text, size_t length, size_t begin, const char *with)
{
    size_t n = strlen(with);
    return length - begin >= n && memcmp(text + begin, with, n) == 0;
}

/* ---- matchers: each returns the length of a placeholder that begins at text[begin], or 0 ---- */

/* Returns the end behind the closing string, or 0 where a line feed comes before it, or the
 * placeholder is empty or too long. */
static size_t match_closed(const char *text, size_t length, size_t begin, const char *closing)
{
    size_t limit = length - begin < MAX_PLACEHOLDER_BYTES ? length : begin + MAX_PLACEHOLDER_BYTES;
    const char *feed = memchr(text + begin, '\n', limit - begin);
    size_t n = feed ? (size_t)(feed - text) - begin : limit - begin;
    const char *end = memmem(text + begin, n, closing, strlen(closing));
    return end > text + begin ? (size_t)(end - text) - begin + strlen(closing) : 0;
}

/* A sign that vue-i18n would take for its own, {'|'} or {'@'}, and the host behind that one. */
static size_t match_literal(const char *text, size_t length, size_t begin)
{
    char sign = at(text, length, begin + 2);
    size_t end = begin + 5;
    if (!starts(text, length, begin, "{'") || sign <= ' ' || sign == '\'' || is_name_char(sign) ||
        end > length || !starts(text, length, begin + 3, "'}"))
        return 0;
    for (size_t i = end; sign == '@' && i < length && i - begin < MAX_PLACEHOLDER_BYTES &&
                         (is_name_char(text[i]) || text[i] == '.' || text[i] == '-');
         i++)
        end = is_name_char(text[i]) ? i + 1 : end;
    return end - begin;
}

/* {name}, {0}, {0:N2}, {user.name}: a name, and behind it anything but blanks. */
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

/* %s, %-5.2f, %1$s, %(name)s, %{name}, %lld, Apple's %#@name@ and %arg; and %% behind one of them
 * or behind a number, which printf writes as one sign. "50% discount" has none, because a blank is
 * not accepted as a flag here. */
static size_t match_percent(const char *text, size_t length, size_t begin)
{
    size_t i = begin + 1;
    if (at(text, length, begin) != '%')
        return 0;
    if (at(text, length, i) == '%') {
        bool is_one =
            begin > 0 && !strchr(" \t\r\n%", text[begin - 1]) && at(text, length, i + 1) != '%';
        return is_one && !is_name_char(at(text, length, i + 1)) ? 2 : 0;
    }
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
    if (at(text, length, i) == '@' && text[i - 1] == '#') {
        size_t name = ++i;
        while (is_name_char(at(text, length, i)))
            i++;
        return i > name && at(text, length, i) == '@' ? i + 1 - begin : 0;
    }
    if (length - i > 2 && memcmp(text + i, "arg", 3) == 0)
        i += 2;
    while (i < length && strchr("hlLqjzt", text[i]))
        i++;
    if (i >= length || !strchr("diouxXeEfFgGaAcspn@r", text[i]))
        return 0;
    return mt_ascii_is_letter(at(text, length, i + 1)) ? 0 : i + 1 - begin;
}

static bool is_url_char(char c)
{
    return (unsigned char)c > ' ' && c != 0x7F && !strchr("<>\"`{}|\\^", c);
}

/* Full stops, brackets and the like at the end of a URL belong to the sentence. */
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

static size_t end_of_url(const char *text, size_t length, size_t begin)
{
    size_t end = begin;
    while (end < length && is_url_char(text[end]))
        end += mt_char_length(text + end);
    return trim_url(text, begin, end);
}

static size_t match_url(const char *text, size_t length, size_t begin)
{
    static const char *const schemes[] = {"http://", "https://", "ftp://",      "ftps://",
                                          "mailto:", "www.",     "ssh://",      "git://",
                                          "file://", "tel:+",    "data:image/", "data:text/"};
    char first = (char)(at(text, length, begin) | 0x20); /* of a letter, the small one */
    if (begin > 0 && is_name_char(text[begin - 1]))
        return 0;
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        size_t n = strlen(schemes[k]);
        if (first != schemes[k][0] || length - begin <= n ||
            strncasecmp(text + begin, schemes[k], n) != 0)
            continue;
        size_t end = end_of_url(text, length, begin);
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
    while (i < length && i - begin < MAX_PLACEHOLDER_BYTES && is_mail_char(text[i]))
        i++;
    if (at(text, length, i) != '@' || i - begin >= MAX_PLACEHOLDER_BYTES)
        return 0;
    size_t domain = ++i;
    while (i < length && i - begin < MAX_PLACEHOLDER_BYTES &&
           (is_name_char(text[i]) || text[i] == '.' || text[i] == '-'))
        i++;
    while (i > domain && (text[i - 1] == '.' || text[i - 1] == '-'))
        i--;
    for (size_t k = domain; k < i; k++)
        if (text[k] == '.')
            last_dot = k;
    return last_dot > domain ? i - begin : 0;
}

static bool is_upper_hex(char c)
{
    return mt_ascii_is_digit(c) || (c >= 'A' && c <= 'F');
}

static bool is_group_char(char c, char mark)
{
    return mt_ascii_is_digit(c) ||
           (mark != '.' && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

/* Groups of digits separated by the same mark: decimal ones by full stops, hexadecimal ones by
 * colons and hyphens, and with at least one decimal digit. Three groups may be a date or a time;
 * four, or two with IPv6's double colon, are a placeholder. */
static size_t match_groups(const char *text, size_t length, size_t begin, char mark)
{
    size_t i = begin, n_groups = 0, n_digits = 0;
    bool has_double = false;
    while (i - begin < MAX_PLACEHOLDER_BYTES && is_group_char(at(text, length, i), mark)) {
        for (; is_group_char(at(text, length, i), mark); i++)
            n_digits += mt_ascii_is_digit(text[i]);
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

/* Whether the text is a number as German and Spanish write it, 1.234.567.890. In an IP address of
 * four such groups none would be above 255 or begin with 0. */
static bool is_thousands(const char *groups, size_t length)
{
    bool is_address = true;
    size_t n_groups = 0;
    for (size_t begin = 0, end; begin < length; begin = end + 1, n_groups++) {
        unsigned value = 0;
        for (end = begin; end < length && end - begin <= 3 && mt_ascii_is_digit(groups[end]); end++)
            value = 10 * value + (unsigned)(groups[end] - '0');
        size_t n = end - begin;
        if (n > 3 || (begin > 0 && n < 3))
            return false;
        is_address = is_address && value <= 255 && (n == 1 || groups[begin] != '0');
    }
    return !is_address || n_groups != 4;
}

/* 192.168.0.1:8080, version 1.2.3.4, v1.2.3.4. */
static size_t match_dotted(const char *text, size_t length, size_t begin)
{
    char before = begin > 0 ? text[begin - 1] : ' ';
    if (mt_ascii_is_digit(before) || (before && strchr(".:-", before)))
        return 0;
    size_t n = match_groups(text, length, begin, '.');
    if (!n || is_thousands(text + begin, n))
        return 0;
    size_t end = begin + n + (at(text, length, begin + n) == ':');
    while (mt_ascii_is_digit(at(text, length, end))) /* the port */
        end++;
    return text[end - 1] == ':' ? n : end - begin;
}

/* ---- matchers of whole words: text[begin] is not inside a word ---- */

/* 00:1a:2b:3c:4d:5e, 2001:db8::1, 978-3-16-148410-0. */
static size_t match_grouped(const char *text, size_t length, size_t begin)
{
    if (begin > 0 && strchr(".:-", text[begin - 1]))
        return 0;
    size_t n = match_groups(text, length, begin, ':');
    return n ? n : match_groups(text, length, begin, '-');
}

/* A word in which letters and digits alternate, such as a hash, a key or an account; and
 * sha256:9f86d081884c7d65. */
static size_t match_key(const char *text, size_t length, size_t begin)
{
    size_t i = begin, n_turns = 0;
    if (begin > 1 && text[begin - 1] == ':' && is_name_char(text[begin - 2]))
        return 0; /* it was matched together with what is before the colon */
    for (; is_name_char(at(text, length, i)) ||
           (i > begin && at(text, length, i) == ':' && is_name_char(at(text, length, i + 1)));
         i++)
        n_turns += i > begin && mt_ascii_is_digit(text[i]) && mt_ascii_is_letter(text[i - 1]);
    return n_turns >= 2 && i - begin >= LEAST_KEY_BYTES && !is_word_at(text, length, i) ? i - begin
                                                                                        : 0;
}

/* Returns where the name ends that a value of a query belongs to, or 0. */
static size_t end_of_query_name(const char *text, size_t length, size_t begin)
{
    size_t i = begin;
    while (i - begin < MAX_PLACEHOLDER_BYTES && is_mail_char(at(text, length, i)))
        i++;
    return i > begin && at(text, length, i) == '=' ? i : 0;
}

/* What addresses are made of: a query of two values or more, utm_source=mail&utm_medium=x, and a
 * word with an escaped byte, Hello%20World. */
static size_t match_encoded(const char *text, size_t length, size_t begin)
{
    if (begin > 0 && strchr("?&/#", text[begin - 1])) /* within an address */
        return 0;
    size_t name = end_of_query_name(text, length, begin), i = name ? name : begin, n = 0;
    bool is_encoded = false;
    for (; n < MAX_PLACEHOLDER_BYTES && i < length && is_url_char(text[i]) && !is_encoded;
         i++, n++) {
        bool is_escape = text[i] == '%' && i > begin && !mt_ascii_is_digit(text[i - 1]) &&
                         is_upper_hex(at(text, length, i + 1)) &&
                         is_upper_hex(at(text, length, i + 2)) &&
                         is_url_char(at(text, length, i + 3));
        is_encoded =
            is_escape || (name && text[i] == '&' && end_of_query_name(text, length, i + 1));
    }
    return is_encoded ? end_of_url(text, length, begin) - begin : 0;
}

static bool is_one_of(const char *word, size_t n, const char *const *list, size_t n_list)
{
    for (size_t k = 0; k < n_list; k++)
        if (strlen(list[k]) == n && memcmp(word, list[k], n) == 0)
            return true;
    return false;
}

static bool is_subtype_char(char c)
{
    return mt_ascii_is_letter_or_digit(c) || c == '.' || c == '+' || c == '-';
}

/* A media type, text/html. An "audio/video" is none, and so the subtypes of the types that are
 * words, too, have to be known or look like one: vnd.api+json. */
static size_t match_media_type(const char *text, size_t length, size_t begin)
{
    static const char *const types[] = {"application", "message", "multipart", "audio", "font",
                                        "image",       "model",   "text",      "video"};
    static const char *const subtypes[] = {
        "aac",  "avif", "bmp",  "calendar",  "css", "csv",  "gif",  "html", "javascript",
        "jpeg", "jpg",  "json", "markdown",  "mp4", "mpeg", "ogg",  "otf",  "plain",
        "png",  "svg",  "tiff", "quicktime", "wav", "webm", "webp", "woff", "xml",
    };
    size_t slash = begin;
    while (slash - begin < sizeof "application" && mt_ascii_is_small(at(text, length, slash)))
        slash++;
    if (at(text, length, slash) != '/' ||
        !is_one_of(text + begin, slash - begin, types, sizeof types / sizeof *types))
        return 0;
    size_t end = slash + 1;
    bool is_typical = is_one_of(text + begin, slash - begin, types, 3);
    for (; end - slash < MAX_PLACEHOLDER_BYTES && is_subtype_char(at(text, length, end)); end++)
        is_typical = is_typical || mt_ascii_is_digit(text[end]) || text[end] == '+' ||
                     (text[end] == '.' && mt_ascii_is_letter(at(text, length, end + 1)));
    while (text[end - 1] == '.' || text[end - 1] == '-')
        end--;
    is_typical = is_typical || is_one_of(text + slash + 1, end - slash - 1, subtypes,
                                         sizeof subtypes / sizeof *subtypes);
    return is_typical && end > slash + 1 ? end - begin : 0;
}

/* A digital object identifier, 10.1000/182, doi:10.1000/182. */
static size_t match_doi(const char *text, size_t length, size_t begin)
{
    size_t i =
        begin + 4 * (size_t)(length - begin > 4 && strncasecmp(text + begin, "doi:", 4) == 0);
    if (!starts(text, length, i, "10."))
        return 0;
    size_t registrant = i += 3;
    while (i - registrant < 9 && mt_ascii_is_digit(at(text, length, i)))
        i++;
    if (i - registrant < 4 || at(text, length, i) != '/')
        return 0;
    size_t end = end_of_url(text, length, begin);
    return end > i + 1 ? end - begin : 0;
}

/* A program and its version, Mozilla/5.0. */
static size_t match_product(const char *text, size_t length, size_t begin)
{
    size_t i = begin, n_points = 0;
    while (i - begin < MAX_PLACEHOLDER_BYTES && is_mail_char(at(text, length, i)))
        i++;
    if (!mt_ascii_is_letter(at(text, length, begin)) || at(text, length, i) != '/' ||
        !mt_ascii_is_digit(at(text, length, i + 1)))
        return 0;
    for (i++; i - begin < MAX_PLACEHOLDER_BYTES && is_mail_char(at(text, length, i)); i++)
        n_points += text[i] == '.' && mt_ascii_is_digit(at(text, length, i + 1));
    while (!is_name_char(text[i - 1]))
        i--;
    return n_points > 0 ? i - begin : 0;
}

/* Returns where a group of four digits ends, or 0. An IBAN's groups may have capitals, and its last
 * group may be shorter, but is not the word "I" that follows. */
static size_t end_of_group(const char *text, size_t length, size_t begin, bool is_iban)
{
    size_t end = begin, n_digits = 0;
    for (; end < begin + 4 && (mt_ascii_is_digit(at(text, length, end)) ||
                               (is_iban && mt_ascii_is_capital(at(text, length, end))));
         end++)
        n_digits += mt_ascii_is_digit(text[end]);
    bool is_whole = end == begin + 4 || (is_iban && n_digits > 0 && n_digits == end - begin);
    return is_whole && !is_word_at(text, length, end) ? end : 0;
}

/* DE89 3704 0044 0532 0130 00, 4111 1111 1111 1111: groups of four, like those of accounts and
 * cards. */
static size_t match_account(const char *text, size_t length, size_t begin)
{
    bool is_iban = mt_ascii_is_capital(at(text, length, begin)) &&
                   mt_ascii_is_capital(at(text, length, begin + 1)) &&
                   mt_ascii_is_digit(at(text, length, begin + 2)) &&
                   mt_ascii_is_digit(at(text, length, begin + 3));
    size_t end = end_of_group(text, length, begin, is_iban), n_groups = 1;
    if (end != begin + 4)
        return 0;
    for (size_t next = end; n_groups < MAX_ACCOUNT_GROUPS && next == begin + 5 * n_groups - 1;
         n_groups++) {
        next = at(text, length, end) == ' ' ? end_of_group(text, length, end + 1, is_iban) : 0;
        if (!next)
            break;
        end = next;
    }
    return n_groups >= 4 ? end - begin : 0;
}

/* 2024-11-08T12:30:00Z, as in ISO 8601 and RFC 3339. */
static size_t match_timestamp(const char *text, size_t length, size_t begin)
{
    static const char shape[] = "dddd-dd-ddTdd:dd";
    size_t end = begin + sizeof shape - 1;
    if (length - begin < sizeof shape - 1)
        return 0;
    for (size_t i = begin; i < end; i++)
        if (shape[i - begin] == 'd' ? !mt_ascii_is_digit(text[i]) : text[i] != shape[i - begin])
            return 0;
    while (at(text, length, end) && strchr("0123456789:.+-Z", text[end]))
        end++;
    return trim_url(text, begin, end) - begin;
}

/* Whether a file's name may have this character. Blanks are not accepted, and beyond ASCII only
 * letters are, because quotation marks end a path. */
static bool is_path_at(const char *text, size_t length, size_t index)
{
    char c = at(text, length, index);
    if ((unsigned char)c >= 0x80)
        return is_word_at(text, length, index);
    return c > ' ' && !strchr("<>\"|*?", c);
}

/* Whether the blank at text[begin] is inside a folder's name, as in C:\Program Files\: Files\
 * follows. */
static bool is_in_folder(const char *text, size_t length, size_t begin)
{
    size_t i = begin;
    while (at(text, length, i) && i - begin < LONGEST_FOLDER_BYTES &&
           (strchr(" ().-", text[i]) || is_word_at(text, length, i)))
        i += mt_char_length(text + i);
    return at(text, length, i) == '\\' && text[i - 1] != ' ';
}

/* C:\Users\Public, C:/Data, \\server\share. */
static size_t match_path(const char *text, size_t length, size_t begin)
{
    size_t end = begin;
    bool is_drive =
        mt_ascii_is_letter(at(text, length, begin)) &&
        (starts(text, length, begin + 1, ":\\") ||
         (starts(text, length, begin + 1, ":/") && is_name_char(at(text, length, begin + 3))));
    if (is_drive)
        end += 3;
    else if (starts(text, length, begin, "\\\\") && is_name_char(at(text, length, begin + 2)))
        end += 2;
    else
        return 0;
    while (is_path_at(text, length, end) ||
           (at(text, length, end) == ' ' && is_in_folder(text, length, end)))
        end += mt_char_length(text + end);
    return trim_url(text, begin, end) - begin;
}

typedef size_t matcher(const char *text, size_t length, size_t begin);

static size_t first_of(matcher *const matchers[], size_t n, const char *text, size_t length,
                       size_t begin)
{
    size_t n_bytes = 0;
    for (size_t k = 0; k < n && !n_bytes; k++)
        n_bytes = matchers[k](text, length, begin);
    return n_bytes;
}

size_t mt_placeholder_at(const char *text, size_t length, size_t begin)
{
    static matcher *const anywhere[] = {match_literal, match_brace, match_dollar, match_percent,
                                        match_url,     match_mail,  match_dotted};
    static matcher *const words[] = {
        match_timestamp, match_account,    match_grouped, match_key, match_path,
        match_encoded,   match_media_type, match_product, match_doi,
    };
    size_t n = first_of(anywhere, sizeof anywhere / sizeof *anywhere, text, length, begin);
    if (n || begin >= length || (!is_name_char(text[begin]) && text[begin] != '\\') ||
        is_within_word(text, length, begin))
        return n;
    return first_of(words, sizeof words / sizeof *words, text, length, begin);
}

/* Whether the character has the property Emoji_Presentation, or Emoji and is a symbol, unlike
 * digits. */
static bool is_emoji(uint32_t c)
{
    return c >= 0xA9 && u_hasBinaryProperty((UChar32)c, UCHAR_EMOJI);
}

/* Whether the character continues an emoji: joiner, variation selectors, skin colours, keycap,
 * tags. */
static bool continues_emoji(uint32_t c)
{
    return c == 0x200D || c == 0xFE0F || c == 0xFE0E || c == 0x20E3 ||
           (c >= 0x1F3FB && c <= 0x1F3FF) || (c >= 0xE0020 && c <= 0xE007F);
}

/* Returns the length of a run of adjacent emoji. */
size_t mt_emoji_at(const char *text, size_t length, size_t begin)
{
    size_t end = begin;
    char first = at(text, length, begin);
    bool is_keycap = (mt_ascii_is_digit(first) || first == '#' || first == '*') &&
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
        end += mt_char_length(text + end);
    }
    return end - begin;
}

bool mt_placeholder_names_count(const char *name, size_t length)
{
    static const char *const counts[] = {"n", "num", "count", "number"};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        if (length == strlen(counts[k]) && strncasecmp(name, counts[k], length) == 0)
            return true;
    return false;
}

/* Whether the text is only a name and its delimiters: {count}, {{ n }}, ${num}, %{number}. */
static bool is_name_of_count(const char *bytes, size_t length)
{
    size_t begin = 0;
    while (begin < length && strchr("%${ ", bytes[begin]))
        begin++;
    size_t end = begin;
    while (end < length && mt_ascii_is_letter(bytes[end]))
        end++;
    for (size_t i = end; i < length; i++)
        if (bytes[i] != '}' && bytes[i] != ' ')
            return false;
    return mt_placeholder_names_count(bytes + begin, end - begin);
}

bool mt_placeholder_is_count(const char *bytes, size_t length)
{
    if (length == 0)
        return false;
    if (length > 2 && memcmp(bytes + length - 2, "%%", 2) == 0)
        length -= 2; /* "%d%%" */
    bool is_percent = match_percent(bytes, length, 0) == length;
    bool is_arg = length >= 4 && memcmp(bytes, "%arg", 4) == 0;
    if (is_percent && (strchr("diun", bytes[length - 1]) || is_arg))
        return true;
    return mt_placeholder_at(bytes, length, 0) == length && is_name_of_count(bytes, length);
}

/* ---- in a text ---- */

/* Returns the end of the placeholder, with further placeholders and characters that adjoin it. */
static size_t extend(const char *text, size_t length, size_t end)
{
    while (end < length) {
        size_t n = mt_placeholder_at(text, length, end);
        if (n == 0 && !mt_placeholder_may_touch(text[end]))
            break;
        end += n ? n : 1;
    }
    return end;
}

struct mt_placeholder mt_placeholder_find(const char *text, size_t length, size_t from)
{
    for (size_t i = from; i < length; i += mt_char_length(text + i)) {
        size_t n = mt_placeholder_at(text, length, i);
        if (n) {
            size_t begin = i;
            while (begin > from && mt_placeholder_may_touch(text[begin - 1]))
                begin--;
            return (struct mt_placeholder){MT_PLACEHOLDER_WORD, begin, extend(text, length, i + n)};
        }
        n = mt_emoji_at(text, length, i);
        if (n)
            return (struct mt_placeholder){MT_PLACEHOLDER_EMOJI, i, i + n};
    }
    return (struct mt_placeholder){MT_NO_PLACEHOLDER, length, length};
}
