#include "server/text/html/html_text.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

/* Entities that need no semicolon, as in "&copy 2020" (HTML, "named character references"). */
static const char short_names[] =
    " AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil ETH Eacute Ecirc Egrave Euml GT"
    " Iacute Icirc Igrave Iuml LT Ntilde Oacute Ocirc Ograve Oslash Otilde Ouml QUOT REG THORN"
    " Uacute Ucirc Ugrave Uuml Yacute aacute acirc acute aelig agrave amp aring atilde auml brvbar"
    " ccedil cedil cent copy curren deg divide eacute ecirc egrave eth euml frac12 frac14 frac34 gt"
    " iacute icirc iexcl igrave iquest iuml laquo lt macr micro middot nbsp not ntilde oacute ocirc"
    " ograve ordf ordm oslash otilde ouml para plusmn pound quot raquo reg sect shy sup1 sup2 sup3"
    " szlig thorn times uacute ucirc ugrave uml uuml yacute yen yuml ";

enum { MAX_SHORT_NAME = 6 };

static bool is_short_name(const char *name, size_t length)
{
    char spaced[MAX_SHORT_NAME + 3];
    if (length < 2 || length > MAX_SHORT_NAME)
        return false;
    spaced[0] = ' ';
    memcpy(spaced + 1, name, length);
    memcpy(spaced + 1 + length, " ", 2);
    return strstr(short_names, spaced) != NULL;
}

static size_t digits_length(const char *source, size_t at, size_t end, bool is_hex)
{
    size_t next = at;
    while (next < end &&
           (is_hex ? isxdigit((unsigned char)source[next]) : isdigit((unsigned char)source[next])))
        next++;
    return next - at;
}

/* Returns the length of a possible entity at source[at], which is '&'. It lacks a semicolon only
 * where HTML allows that. 0: there is none. */
static size_t entity_length(const char *source, size_t at, size_t end, bool with_semicolon)
{
    size_t next = at + 1;
    bool is_number = next < end && source[next] == '#';
    if (is_number) {
        bool is_hex = next + 1 < end && (source[next + 1] == 'x' || source[next + 1] == 'X');
        next += is_hex ? 2 : 1;
        size_t n = digits_length(source, next, end, is_hex);
        next = n ? next + n : at;
    } else {
        while (next < end && isalnum((unsigned char)source[next]))
            next++;
        if (!with_semicolon)
            while (next > at + 1 && !is_short_name(source + at + 1, next - at - 1))
                next = next - at - 1 > MAX_SHORT_NAME ? at + 1 + MAX_SHORT_NAME : next - 1;
    }
    if (next <= at + 1)
        return 0;
    if (!with_semicolon)
        return next - at;
    return next < end && source[next] == ';' ? next + 1 - at : 0;
}

/* Whether both texts can go on from here. Behind the last letter there may be tags that the parser
 * ignored. */
static bool is_in_step(const struct mt_html_walk *walk, size_t at, const char *decoded)
{
    if (at >= walk->end || decoded > walk->decoded_end)
        return at == walk->end && decoded == walk->decoded_end;
    char c = walk->source[at];
    if (decoded == walk->decoded_end)
        return c == '<';
    return c == '&' || c == '<' || c == *decoded || (c == '\r' && *decoded == '\n');
}

static bool take_entity(struct mt_html_walk *walk, size_t length, struct mt_html_char *out)
{
    size_t n_bytes = mt_char_length(walk->decoded);
    size_t at = walk->at + length;
    if (!is_in_step(walk, at, walk->decoded + n_bytes) &&
        walk->decoded + n_bytes < walk->decoded_end)
        n_bytes += mt_char_length(walk->decoded + n_bytes);
    if (!is_in_step(walk, at, walk->decoded + n_bytes))
        return false;
    *out = (struct mt_html_char){
        .source = {walk->at, at}, .bytes = walk->decoded, .n_bytes = n_bytes, .is_entity = true};
    return true;
}

/* Whether '&' stands for itself, as in "&foo;" and not in "&amp;". */
static bool is_literal(const struct mt_html_walk *walk, size_t length)
{
    const char *source = walk->source + walk->at;
    return *walk->decoded == '&' && strncasecmp(source, "&amp", 4) != 0 &&
           strncmp(source, walk->decoded, length) == 0;
}

static bool find_entity(struct mt_html_walk *walk, struct mt_html_char *out)
{
    for (int with_semicolon = 1; with_semicolon >= 0; with_semicolon--) {
        size_t length = entity_length(walk->source, walk->at, walk->end, with_semicolon);
        if (length > 0 && !is_literal(walk, length) && take_entity(walk, length, out))
            return true;
    }
    return false;
}

bool mt_html_next_char(struct mt_html_walk *walk, struct mt_html_char *out)
{
    const char *source = walk->source + walk->at;
    if (walk->at >= walk->end || walk->decoded >= walk->decoded_end)
        return false;
    bool is_found = *source == '&' && find_entity(walk, out);
    if (!is_found) {
        bool is_line_end = *source == '\r' && *walk->decoded == '\n';
        size_t n = is_line_end && source[1] == '\n' && walk->at + 1 < walk->end
                       ? 2
                       : mt_char_length(source);
        if (!is_line_end && (n > walk->end - walk->at || strncmp(source, walk->decoded, n) != 0))
            return false;
        *out = (struct mt_html_char){.source = {walk->at, walk->at + n},
                                     .bytes = walk->decoded,
                                     .n_bytes = is_line_end ? 1 : n};
    }
    walk->at = out->source.end;
    walk->decoded += out->n_bytes;
    return true;
}

bool mt_html_is_at_end(const struct mt_html_walk *walk)
{
    return walk->at == walk->end && walk->decoded == walk->decoded_end;
}

size_t mt_html_tag(const char *source, size_t at, size_t end)
{
    size_t name = at + 1 + (source[at + 1] == '/'), i = name;
    char quote = '\0';
    bool is_value = false; /* an attribute's value may begin here */
    if (source[at] != '<' || name >= end)
        return 0;
    if (source[name] == '>' && name > at + 1)
        return 3; /* browsers ignore </> */
    if (!isalpha((unsigned char)source[name]))
        return 0;
    for (; i < end && (quote || source[i] != '>'); i++) {
        char c = source[i];
        if (quote)
            quote = c == quote ? '\0' : quote;
        else if ((c == '"' || c == '\'') && is_value)
            quote = c;
        if (!isspace((unsigned char)c))
            is_value = c == '=' && !is_value;
    }
    return (i < end ? i + 1 : end) - at;
}

bool mt_html_is_blank(char c)
{
    return c != '\0' && strchr(" \t\n\f\r", c) != NULL;
}
