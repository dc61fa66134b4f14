/* Finds tags and marks around words in plain text: HTML's and those of localisers (<b>, <0>, <x
 * id="1"/>), BBCode, subtitles' overrides, Angular's, Markdown. Both tags of a pair have to be in the same
 * line. */
#include "server/text/codes/codes_state.h"

#include <stdio.h>
#include <strings.h>

#include <unicode/uchar.h>

#define MAX_TAG_BYTES 512
#define MAX_OVERRIDE_BYTES 256
#define MAX_LINK_BYTES 1024
#define MAX_NAME_BYTES 32

/* Whether the tag's name is on the list, which ends in NULL. */
static bool is_named(const struct mt_codes_finder *finder, const struct mt_open_tag *tag,
                     const char *const *names)
{
    return mt_codes_is_among_any_case(names, finder->text + tag->name_begin,
                                      tag->name_end - tag->name_begin);
}

/* ---- open ones ---- */

static void push(struct mt_open_tags *tags, const struct mt_open_tag *tag)
{
    if (tags->n == MT_MAX_OPEN_TAGS) { /* the outermost one is the least likely to be closed */
        memmove(tags->items, tags->items + 1, (MT_MAX_OPEN_TAGS - 1) * sizeof *tags->items);
        tags->n--;
    }
    tags->items[tags->n++] = *tag;
}

static bool have_same_name(const struct mt_codes_finder *finder, const struct mt_open_tag *a,
                           const struct mt_open_tag *b)
{
    size_t n = a->name_end - a->name_begin;
    return a->family == b->family && n == b->name_end - b->name_begin &&
           strncasecmp(finder->text + a->name_begin, finder->text + b->name_begin, n) == 0;
}

/* Takes the innermost open tag that `closing` closes, and drops those within it. Returns false
 * where there is none. */
static bool pop(const struct mt_codes_finder *finder, struct mt_open_tags *tags,
                const struct mt_open_tag *closing, struct mt_open_tag *out)
{
    for (size_t i = tags->n; i-- > 0;) {
        if (!have_same_name(finder, &tags->items[i], closing))
            continue;
        *out = tags->items[i];
        tags->n = i;
        return true;
    }
    return false;
}

/* Makes the claimed codes a pair. */
static void mate(struct mt_codes_finder *finder, size_t open, size_t close)
{
    mt_codes_change(finder, open, MT_CODE_OPEN);
    mt_codes_change(finder, close, MT_CODE_CLOSE);
    finder->found[open].code.mate = close;
    finder->found[close].code.mate = open;
}

/* ---- tags of HTML and its kin ---- */

struct markup_tag {
    struct mt_open_tag tag;
    bool is_closing, is_empty, has_attributes, has_values;
};

/* Reads <name attributes>, </name> or <name/>. Returns false for anything else. */
static bool read_tag(const struct mt_codes_finder *finder, size_t begin, struct markup_tag *out)
{
    size_t limit = finder->length - begin < MAX_TAG_BYTES ? finder->length : begin + MAX_TAG_BYTES;
    size_t at = begin + 1;
    *out = (struct markup_tag){.tag = {.family = '<', .begin = begin, .found = MT_NO_MATE}};
    out->is_closing = mt_codes_char(finder, at) == '/';
    at += out->is_closing;
    out->tag.name_begin = at;
    while (at < limit &&
           (mt_codes_is_name_char(finder->text[at]) ||
            (at > out->tag.name_begin && mt_codes_is_one_of(finder->text[at], ":.-"))))
        at++;
    out->tag.name_end = at;
    const char *class = memchr(finder->text + out->tag.name_begin, '.', at - out->tag.name_begin);
    if (at == out->tag.name_begin || finder->text[out->tag.name_begin] == '_')
        return false;
    bool is_number = true;
    for (size_t i = out->tag.name_begin; i < at; i++)
        is_number = is_number && mt_codes_digit_at(finder, i);
    if (!is_number && !mt_ascii_is_letter(finder->text[out->tag.name_begin]))
        return false;
    char quote = '\0';
    for (; at < limit; at++) {
        char c = finder->text[at];
        if (c == '\n' || (!quote && c == '<'))
            return false;
        if (!quote && c == '>')
            break;
        if (quote ? c == quote : (out->has_values && (c == '"' || c == '\'')))
            quote = quote ? '\0' : c;
        out->has_values = out->has_values || c == '=';
        out->has_attributes = out->has_attributes || (c != ' ' && c != '/');
    }
    if (at >= limit)
        return false;
    out->tag.end = at + 1;
    out->is_empty = finder->text[at - 1] == '/';
    bool is_named = out->tag.name_end == at - out->is_empty ||
                    mt_codes_is_one_of(finder->text[out->tag.name_end], " /");
    size_t n_name = class ? (size_t)(class - finder->text) - out->tag.name_begin : 0;
    if (n_name == 1 && mt_codes_is_one_of(finder->text[out->tag.name_begin], "cvibu"))
        out->tag.name_end = out->tag.name_begin + n_name; /* <c.yellow> of WebVTT, closed by </c> */
    return is_named;
}

static const char *const blocks[] = {
    "address", "article", "aside",   "blockquote", "body",     "br",     "center", "dd",
    "details", "div",     "dl",      "dt",         "fieldset", "figure", "footer", "form",
    "h1",      "h2",      "h3",      "h4",         "h5",       "h6",     "head",   "header",
    "hr",      "html",    "li",      "main",       "nav",      "ol",     "option", "p",
    "pre",     "section", "summary", "select",     "table",    "tbody",  "td",     "tfoot",
    "th",      "thead",   "title",   "tr",         "ul",       NULL};
static const char *const inlines[] = {
    "a",     "abbr", "acronym", "b",    "bdi",    "bdo",   "big",   "bpt",      "button",
    "cite",  "code", "data",    "del",  "dfn",    "em",    "ept",   "font",     "g",
    "i",     "img",  "input",   "ins",  "it",     "kbd",   "label", "mark",     "nobr",
    "ph",    "q",    "s",       "samp", "script", "small", "span",  "strike",   "strong",
    "style", "sub",  "sup",     "time", "tt",     "u",     "var",   "wbr",      "x",
    "bx",    "ex",   "c",       "v",    "ruby",   "rt",    "rp",    "textarea", NULL};
/* Elements whose content is no text. */
static const char *const verbatim[] = {"code", "kbd", "samp", "script", "style", "tt", "var", NULL};

/* Whether the tag is only mentioned, as in "Use <b> for bold". */
static bool is_alone(const struct mt_codes_finder *finder, const struct markup_tag *read)
{
    return !read->has_attributes && mt_codes_is_blank(mt_codes_before(finder, read->tag.begin)) &&
           mt_codes_is_blank(mt_codes_at(finder, read->tag.end));
}

/* Whether the block's tag is a word of a sentence: The <title> tag is missing. */
static bool is_mention(const struct mt_codes_finder *finder, const struct markup_tag *read)
{
    static const char *const breaks[] = {"br", "hr", NULL};
    size_t begin = read->tag.begin, next = read->tag.end + 1;
    return is_alone(finder, read) && !is_named(finder, &read->tag, breaks) && begin > 1 &&
           mt_codes_is_letter(mt_codes_before(finder, begin - 1)) &&
           u_islower((UChar32)mt_codes_at(finder, next));
}

/* Whether an unclosed tag is a name for something, as in <Enter> and <your name>. HTML's tags and
 * numbered ones are not, unless they stand alone. */
static bool is_name(const struct mt_codes_finder *finder, const struct markup_tag *read)
{
    char first = finder->text[read->tag.name_begin];
    size_t n = read->tag.name_end - read->tag.name_begin;
    bool is_numbered = mt_codes_is_digit((unsigned char)first) ||
                       (n > 1 && n < 4 && mt_codes_digit_at(finder, read->tag.name_begin + 1));
    return !read->has_values && !read->is_empty && !read->is_closing && !is_numbered &&
           (is_alone(finder, read) || !is_named(finder, &read->tag, inlines));
}

static void close_tag(struct mt_codes_finder *finder, struct mt_open_tags *tags,
                      const struct mt_open_tag *closing)
{
    struct mt_open_tag open;
    if (!pop(finder, tags, closing, &open)) {
        mt_codes_claim(finder, MT_CODE_POINT, closing->begin, closing->end);
    } else if (closing->family == '<' && is_named(finder, closing, verbatim)) {
        mt_codes_claim_over(finder, MT_CODE_WORD, open.begin, closing->end);
    } else {
        size_t close = mt_codes_claim(finder, MT_CODE_POINT, closing->begin, closing->end);
        if (close != MT_NO_MATE)
            mate(finder, open.found, close);
    }
}

static size_t take_markup(struct mt_codes_finder *finder, struct mt_open_tags *tags, size_t begin)
{
    struct markup_tag read;
    if (!read_tag(finder, begin, &read))
        return 0;
    struct mt_open_tag *tag = &read.tag;
    static const char *const cues[] = {"v", "c", NULL}; /* of WebVTT: <v Anna> */
    bool is_prose = read.has_attributes && !read.has_values && is_named(finder, tag, inlines) &&
                    !is_named(finder, tag, cues);
    if (is_prose || !mt_codes_is_free(finder, tag->begin, tag->end))
        return 0; /* not a tag: a <b and c> d */
    bool is_block = is_named(finder, tag, blocks);
    if (is_block && is_mention(finder, &read)) {
        mt_codes_claim(finder, MT_CODE_WORD, tag->begin, tag->end);
    } else if (is_block) {
        mt_codes_claim(finder, MT_CODE_EDGE, tag->begin, tag->end);
    } else if (read.is_closing) {
        close_tag(finder, tags, tag);
    } else {
        bool is_word = is_name(finder, &read);
        size_t from = tag->begin; /* List<String> */
        while (is_word && from > 0 && finder->taken[from - 1] == MT_FREE &&
               mt_codes_is_name_char(finder->text[from - 1]))
            from--;
        tag->found = mt_codes_claim(finder, is_word ? MT_CODE_WORD : MT_CODE_POINT, from, tag->end);
        if (tag->found == MT_NO_MATE)
            return 0;
        if (!read.is_empty)
            push(tags, tag);
    }
    return tag->end;
}

/* Returns the length of a word's time in a subtitle or a song, <00:00:01.000>; 0: there is none. */
static size_t time_length(const struct mt_codes_finder *finder, size_t begin)
{
    size_t at = begin + 1, n_colons = 0;
    while (mt_codes_digit_at(finder, at) || mt_codes_is_one_of(mt_codes_char(finder, at), ":."))
        n_colons += finder->text[at++] == ':';
    return n_colons > 0 && mt_codes_digit_at(finder, begin + 1) && mt_codes_char(finder, at) == '>'
               ? at + 1 - begin
               : 0;
}

/* Claims <!-- -->, <https://example.com>, <name@example.com> and <00:01.5>. */
static size_t take_other_markup(struct mt_codes_finder *finder, size_t begin)
{
    size_t limit = finder->length - begin < MAX_TAG_BYTES ? finder->length : begin + MAX_TAG_BYTES;
    bool is_comment = limit - begin > 4 && finder->text[begin + 1] == '!';
    char first = mt_codes_char(finder, begin + 1); /* of <:name:1>, <a:name:1>, <t:1>, <#1> */
    bool is_address = false;
    size_t n_time = time_length(finder, begin);
    if (n_time > 0)
        return mt_codes_take(finder, MT_CODE_POINT, begin, begin + n_time) ? begin + n_time : 0;
    for (size_t i = begin + 1; i < limit && finder->text[i] != '\n'; i++) {
        char c = finder->text[i];
        if (!is_comment && (c == ' ' || c == '<'))
            break;
        is_address = is_address || c == '@' || (c == '#' && i == begin + 1) ||
                     (c == ':' && i <= begin + 2 && mt_codes_digit_at(finder, i + 1)) ||
                     (c == ':' && i > begin + 2 && mt_codes_is_one_of(first, ":a")) ||
                     (c == ':' && mt_codes_char(finder, i + 1) == '/');
        bool ends = c == '>' && (!is_comment || finder->text[begin + 2] != '-' ||
                                 (i - begin > 5 && finder->text[i - 1] == '-'));
        if (ends && (is_comment || is_address)) {
            size_t found =
                mt_codes_claim(finder, is_comment ? MT_CODE_POINT : MT_CODE_WORD, begin, i + 1);
            return found == MT_NO_MATE ? 0 : i + 1;
        }
    }
    return 0;
}

/* ---- BBCode ---- */

static const char *const bbcodes[] = {
    "b",       "i",    "u",      "s",     "url",   "img",    "quote",   "code",
    "color",   "size", "center", "left",  "right", "list",   "email",   "font",
    "spoiler", "sup",  "sub",    "table", "tr",    "td",     "th",      "align",
    "youtube", "h1",   "h2",     "h3",    "li",    "strike", "noparse", NULL};

static size_t take_bbcode(struct mt_codes_finder *finder, struct mt_open_tags *tags, size_t begin)
{
    struct mt_open_tag tag = {.family = '[', .begin = begin, .found = MT_NO_MATE};
    bool is_closing = mt_codes_char(finder, begin + 1) == '/';
    size_t at = tag.name_begin = begin + 1 + is_closing;
    while (mt_codes_is_name_char(mt_codes_char(finder, at)))
        at++;
    tag.name_end = at;
    while (!is_closing && at < finder->length && at - begin < MAX_TAG_BYTES &&
           finder->text[tag.name_end] == '=' && !mt_codes_is_one_of(finder->text[at], "][\n"))
        at++;
    tag.end = at + 1;
    if (mt_codes_char(finder, at) != ']' || !is_named(finder, &tag, bbcodes) ||
        !mt_codes_is_free(finder, tag.begin, tag.end) || mt_codes_char(finder, tag.end) == '(')
        return 0;
    struct mt_open_tag open;
    if (!is_closing) {
        push(tags, &tag);
        return tag.end;
    }
    bool has_mate = pop(finder, tags, &tag, &open);
    static const char *const kept[] = {"code", "img", "youtube", "noparse", NULL};
    if (has_mate && is_named(finder, &tag, kept))
        mt_codes_claim_over(finder, MT_CODE_WORD, open.begin, tag.end);
    else if (!has_mate || !mt_codes_claim_pair(finder, (struct mt_range){open.begin, open.end},
                                               (struct mt_range){tag.begin, tag.end}))
        mt_codes_claim(finder, MT_CODE_POINT, tag.begin, tag.end);
    return tag.end;
}

/* ---- LaTeX: \textbf{words}, \cite{name} ---- */

/* Claims a command with one argument, whose words are a text if it is for words. */
static size_t take_tex(struct mt_codes_finder *finder, size_t begin)
{
    static const char *const worded[] = {
        "textbf",   "textit",  "texttt",     "textsc",        "emph",      "underline",
        "section",  "chapter", "subsection", "subsubsection", "paragraph", "caption",
        "footnote", "title",   "mbox",       "text",          "part",      NULL};
    size_t at = begin + 1;
    while (mt_ascii_is_letter(mt_codes_char(finder, at)))
        at++;
    size_t n = at - begin - 1, open = at + (mt_codes_char(finder, at) == '*'), depth = 1, end;
    if (n < 3 || mt_codes_char(finder, open) != '{' || mt_codes_before(finder, begin) == '\\' ||
        mt_codes_is_letter(mt_codes_before(finder, begin)))
        return 0;
    for (end = open + 1; end < finder->length && end - open < MAX_TAG_BYTES && depth > 0; end++) {
        char c = finder->text[end];
        if (c == '\n')
            return 0;
        depth += c == '{';
        depth -= c == '}';
    }
    if (depth > 0)
        return 0;
    if (!mt_codes_is_among(worded, finder->text + begin + 1, n) || end == open + 2)
        return mt_codes_take(finder, MT_CODE_WORD, begin, end) ? end : 0;
    return mt_codes_claim_pair(finder, (struct mt_range){begin, open + 1},
                               (struct mt_range){end - 1, end})
               ? open + 1
               : 0;
}

/* ---- overrides of subtitles: {\i1}words{\i0}, {\pos(1,2)} ---- */

static size_t take_override(struct mt_codes_finder *finder, struct mt_open_tags *tags, size_t begin)
{
    size_t end = begin + 2;
    if (mt_codes_char(finder, begin + 1) != '\\')
        return 0;
    while (end < finder->length && end - begin < MAX_OVERRIDE_BYTES &&
           !mt_codes_is_one_of(finder->text[end], "{}\n"))
        end++;
    if (mt_codes_char(finder, end) != '}')
        return 0;
    end++;
    struct mt_open_tag tag = {
        .family = '{', .begin = begin, .end = end, .name_begin = begin + 2, .name_end = begin + 3};
    tag.found = mt_codes_claim(finder, MT_CODE_POINT, begin, end);
    bool is_switch = end - begin == 5 && mt_codes_is_one_of(finder->text[begin + 2], "ibus");
    struct mt_open_tag open;
    if (tag.found == MT_NO_MATE || !is_switch)
        return tag.found == MT_NO_MATE ? 0 : end;
    if (finder->text[begin + 3] != '0')
        push(tags, &tag);
    else if (pop(finder, tags, &tag, &open))
        mate(finder, open.found, tag.found);
    return end;
}

/* ---- tags of Angular's messages: {$START_LINK}words{$CLOSE_LINK} ---- */

/* Of two equal elements the second has a number behind its name, and its end has none. */
static size_t take_angular(struct mt_codes_finder *finder, struct mt_open_tags *tags, size_t begin)
{
    static const char start[] = "START_", close[] = "CLOSE_";
    size_t at = begin + 1 + (mt_codes_char(finder, begin + 1) == '$');
    size_t name = at + strlen(start), end = name;
    if (finder->length < name || (memcmp(finder->text + at, start, strlen(start)) != 0 &&
                                  memcmp(finder->text + at, close, strlen(close)) != 0))
        return 0;
    while (end < finder->length && end - begin < MAX_TAG_BYTES &&
           mt_codes_is_name_char(finder->text[end]))
        end++;
    struct mt_open_tag tag = {.family = '$', .begin = begin, .end = end + 1, .name_begin = name};
    if (end == name || mt_codes_char(finder, end) != '}' ||
        !mt_codes_is_free(finder, begin, tag.end))
        return 0;
    tag.name_end = end;
    while (tag.name_end > name && mt_codes_digit_at(finder, tag.name_end - 1))
        tag.name_end--;
    bool is_numbered = tag.name_end < end && finder->text[tag.name_end - 1] == '_';
    tag.name_end = is_numbered ? tag.name_end - 1 : end;
    if (finder->text[at] == *close) {
        close_tag(finder, tags, &tag);
        return tag.end;
    }
    tag.found = mt_codes_claim(finder, MT_CODE_POINT, begin, tag.end);
    if (tag.found != MT_NO_MATE)
        push(tags, &tag);
    return tag.found == MT_NO_MATE ? 0 : tag.end;
}

/* ---- {link}words{/link}, [link]words[/link], %1$swords%2$s ---- */

/* Returns where the closing one begins behind text[at], in the same line and not far away; 0: there
 * is none. */
static size_t find_closing(const struct mt_codes_finder *finder, size_t at, const char *closing)
{
    size_t n = finder->length - at < MAX_TAG_BYTES ? finder->length - at : MAX_TAG_BYTES;
    const char *from = finder->text + at, *feed = memchr(from, '\n', n);
    const char *found = memmem(from, feed ? (size_t)(feed - from) : n, closing, strlen(closing));
    return found ? (size_t)(found - finder->text) : 0;
}

/* Claims both where the second one closes what the first one opens: {link}, {{link}} or [link]. */
static size_t take_braced(struct mt_codes_finder *finder, size_t begin)
{
    char closing[MAX_NAME_BYTES + 6]; /* {{, /, the name, }}, NUL */
    char open = finder->text[begin], close = open == '{' ? '}' : ']';
    size_t n_braces = open == '{' && mt_codes_char(finder, begin + 1) == '{' ? 2 : 1;
    size_t at = begin + n_braces;
    while (mt_codes_is_name_char(mt_codes_char(finder, at)) && at - begin <= MAX_NAME_BYTES)
        at++;
    size_t n = at - begin - n_braces, end = at + n_braces;
    if (n == 0 || n > MAX_NAME_BYTES || mt_codes_char(finder, at) != close ||
        mt_codes_char(finder, end - 1) != close)
        return 0;
    snprintf(closing, sizeof closing, "%.*s/%.*s", (int)n_braces, finder->text + begin,
             (int)(n + n_braces), finder->text + begin + n_braces);
    size_t from = find_closing(finder, end, closing);
    return from > 0 && mt_codes_claim_pair(finder, (struct mt_range){begin, end},
                                           (struct mt_range){from, from + strlen(closing)})
               ? end
               : 0;
}

/* Claims a wiki's link, [[page|words]] and [[File:a.jpg|thumb|words]]; one without words of its own
 * is copied: [[Main page]]. */
static size_t take_wiki_link(struct mt_codes_finder *finder, size_t begin)
{
    size_t close = mt_codes_char(finder, begin + 1) == '[' ? find_closing(finder, begin, "]]") : 0;
    const char *text = finder->text;
    if (close <= begin + 2 || memchr(text + begin + 2, '[', close - begin - 2))
        return 0;
    const char *bar = memrchr(text + begin, '|', close - begin);
    size_t words = bar ? (size_t)(bar - text) + 1 : close;
    bool is_claimed = words < close ? mt_codes_claim_pair(finder, (struct mt_range){begin, words},
                                                          (struct mt_range){close, close + 2})
                                    : mt_codes_take(finder, MT_CODE_WORD, begin, close + 2);
    return is_claimed ? (words < close ? words : close + 2) : 0;
}

static size_t take_numbered(struct mt_codes_finder *finder, size_t begin)
{
    char closing[] = "%0$s";
    if (!mt_codes_digit_at(finder, begin + 1) || mt_codes_char(finder, begin + 2) != '$' ||
        mt_codes_char(finder, begin + 3) != 's' ||
        !mt_codes_is_letter(mt_codes_at(finder, begin + 4)) ||
        mt_codes_is_letter(mt_codes_before(finder, begin)))
        return 0;
    closing[1] = (char)(finder->text[begin + 1] + 1);
    size_t from = begin + 4, end = find_closing(finder, from, closing);
    return end > 0 && !mt_codes_is_blank(mt_codes_before(finder, end)) &&
                   !mt_codes_is_letter(mt_codes_at(finder, end + 4)) &&
                   mt_codes_claim_pair(finder, (struct mt_range){begin, from},
                                       (struct mt_range){end, end + 4})
               ? from
               : 0;
}

/* ---- Markdown ---- */

/* Returns where properties end that begin here, as some dialects have them behind a link:
 * {width=50%}, {:.wide}; `at`: there are none. */
static size_t skip_properties(const struct mt_codes_finder *finder, size_t at)
{
    size_t end = at + 1;
    if (mt_codes_char(finder, at) != '{')
        return at;
    while (end < finder->length && end - at < MAX_TAG_BYTES &&
           !mt_codes_is_one_of(finder->text[end], "{}\n"))
        end++;
    bool is_one = mt_codes_is_one_of(mt_codes_char(finder, at + 1), ":.#") ||
                  memchr(finder->text + at, '=', end - at);
    return is_one && mt_codes_char(finder, end) == '}' ? end + 1 : at;
}

/* Whether what is within the brackets is nothing but a picture, or is no words: those of a
 * picture, which are a text of their own, are a number between two control characters
 * (server/documents/markdown/md_inner.h). */
static bool is_picture(const struct mt_codes_finder *finder, const struct mt_open_tag *open,
                       struct mt_range inner)
{
    const char *text = finder->text;
    if (text[open->begin] == '!')
        return inner.begin == inner.end ||
               (text[inner.begin] == '\1' && text[inner.end - 1] == '\2');
    for (size_t i = inner.begin; i < inner.end; i++)
        if (finder->taken[i] != MT_TAKEN_SIGN)
            return false;
    return inner.begin < inner.end;
}

/* Whether only blanks stand between text[begin, end) and an end of its line. */
static bool is_at_end(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    while (begin > 0 && finder->text[begin - 1] == ' ')
        begin--;
    return begin == 0 || finder->text[begin - 1] == '\n' ||
           finder->taken[begin - 1] == MT_TAKEN_EDGE ||
           mt_codes_line_end(finder, end) == mt_codes_skip_blanks(finder, end, finder->length);
}

/* Claims the closing part of [words](address), ![words](address) or [words][name]. */
static size_t close_link(struct mt_codes_finder *finder, struct mt_open_tags *tags, size_t begin)
{
    char bracket = mt_codes_char(finder, begin + 1);
    struct mt_open_tag open, closing = {.family = '(', .begin = begin};
    if (!pop(finder, tags, &closing, &open) || (bracket != '(' && bracket != '['))
        return 0;
    size_t at = begin + 2, depth = 0;
    while (at < finder->length && at - begin < MAX_LINK_BYTES && finder->text[at] != '\n') {
        char c = finder->text[at];
        if (depth == 0 && c == (bracket == '(' ? ')' : ']'))
            break;
        depth += c == '(';
        depth -= c == ')' && depth > 0;
        at++;
    }
    bool is_closed = at < finder->length && finder->text[at] == (bracket == '(' ? ')' : ']');
    bool is_link =
        is_closed && (bracket == '[' || !memchr(finder->text + begin + 2, ' ', at - begin - 2) ||
                      memchr(finder->text + begin + 2, '"', at - begin - 2));
    if (!is_link)
        return 0;
    size_t end = skip_properties(finder, at + 1);
    const struct mt_range inner = {open.end, begin};
    bool is_point = is_picture(finder, &open, inner), has_words = inner.end > inner.begin;
    if (is_point || !has_words)
        return mt_codes_claim_over(finder, is_point ? MT_CODE_POINT : MT_CODE_WORD, open.begin,
                                   end) == MT_NO_MATE
                   ? 0
                   : end;
    if (finder->text[open.begin] == '!' && is_at_end(finder, open.begin, end))
        return mt_codes_take(finder, MT_CODE_EDGE, open.begin, open.end) &&
                       mt_codes_take(finder, MT_CODE_EDGE, begin, end)
                   ? end
                   : 0;
    return mt_codes_claim_pair(finder, (struct mt_range){open.begin, open.end},
                               (struct mt_range){begin, end})
               ? end
               : 0;
}

static size_t open_link(const struct mt_codes_finder *finder, struct mt_open_tags *tags,
                        size_t begin)
{
    size_t n = finder->text[begin] == '!' ? 2 : 1;
    if (n == 2 && mt_codes_char(finder, begin + 1) != '[')
        return 0;
    if (mt_codes_char(finder, begin + n) == '^') /* [^1] is a note */
        return 0;
    push(tags, &(struct mt_open_tag){
                   .family = '(', .begin = begin, .end = begin + n, .found = MT_NO_MATE});
    return begin + n;
}

/* Cuts "~~Old price~~ New price" in two: what is struck out, and what follows with a capital, are
 * separate texts. */
static bool take_struck(struct mt_codes_finder *finder, const struct mt_open_tag *open,
                        size_t begin, size_t end)
{
    uint32_t before = mt_codes_before(finder, open->begin);
    uint32_t behind = mt_codes_at(finder, mt_codes_skip_blanks(finder, end, finder->length));
    return finder->text[begin] == '~' && (open->begin == 0 || before == '\n') &&
           u_isupper((UChar32)behind) && mt_codes_is_blank(mt_codes_at(finder, end)) &&
           mt_codes_claim(finder, MT_CODE_EDGE, open->begin, open->end) != MT_NO_MATE &&
           mt_codes_claim(finder, MT_CODE_EDGE, begin, end) != MT_NO_MATE;
}

/* Claims the marks of **words**, *words*, __words__, ~~words~~, ==words== and ''words'', which touch their
 * words on one side and nothing on the other. */
static size_t take_emphasis(struct mt_codes_finder *finder, struct mt_open_tags *tags, size_t begin)
{
    char mark = finder->text[begin];
    size_t end = begin;
    if (mt_codes_before(finder, begin) == (unsigned char)mark)
        return 0;
    while (mt_codes_char(finder, end) == mark)
        end++;
    if (end - begin > 3 || ((mark == '~' || mark == '=') && end - begin != 2) ||
        (mark == '\'' && end - begin < 2))
        return 0;
    uint32_t before = mt_codes_before(finder, begin), behind = mt_codes_at(finder, end);
    bool touches_before = mt_codes_is_letter(before) || mt_codes_is_digit(before);
    bool touches_behind = mt_codes_is_letter(behind) || mt_codes_is_digit(behind);
    struct mt_open_tag tag = {.family = mark,
                              .begin = begin,
                              .end = end,
                              .name_begin = begin,
                              .name_end = end,
                              .found = MT_NO_MATE};
    struct mt_open_tag open;
    bool may_close = !touches_behind || mark == '*'; /* **bold**ly, but not snake_case */
    if (!mt_codes_is_blank(before) && may_close && pop(finder, tags, &tag, &open))
        return open.end < begin &&
                       (take_struck(finder, &open, begin, end) ||
                        mt_codes_claim_pair(finder, (struct mt_range){open.begin, open.end},
                                            (struct mt_range){begin, end}))
                   ? end
                   : 0;
    bool may_open = mark == '_' ? touches_behind : !mt_codes_is_blank(behind); /* not ___/___ */
    if (may_open && !touches_before && mt_codes_is_free(finder, begin, end))
        push(tags, &tag);
    return 0;
}

size_t mt_codes_take_tag(struct mt_codes_finder *finder, struct mt_open_tags *tags, size_t begin)
{
    size_t end = 0;
    switch (finder->text[begin]) {
    case '<':
        end = take_markup(finder, tags, begin);
        return end ? end : take_other_markup(finder, begin);
    case '{':
        end = take_override(finder, tags, begin);
        end = end ? end : take_angular(finder, tags, begin);
        return end ? end : take_braced(finder, begin);
    case '\\':
        return take_tex(finder, begin);
    case '%':
        return take_numbered(finder, begin);
    case '[':
        end = take_wiki_link(finder, begin);
        end = end ? end : take_bbcode(finder, tags, begin);
        end = end ? end : take_braced(finder, begin);
        return end ? end : open_link(finder, tags, begin);
    case '!':
        return open_link(finder, tags, begin);
    case ']':
        return close_link(finder, tags, begin);
    case '*':
    case '_':
    case '~':
    case '=':
    case '\'':
        return take_emphasis(finder, tags, begin);
    default:
        return 0;
    }
}
