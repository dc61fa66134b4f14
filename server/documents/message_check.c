#include "server/documents/message_check.h"

#include "base/ascii.h"
#include "base/size.h"
#include "server/text/placeholders.h"
#include "server/text/splitter.h"

#include <string.h>

/* Most placeholders of a text that are compared. A text with more is not translated. */
#define MAX_PLACEHOLDERS 64
/* Most bytes of a tag, and of an argument in braces. */
#define MAX_TAG_BYTES 512

struct placeholders {
    struct mt_range items[MAX_PLACEHOLDERS];
    size_t n;
    bool is_complete;
};

static bool is_name_char(char c)
{
    return mt_ascii_is_letter_or_digit(c) || c == '_';
}

/* ---- placeholders ---- */

/* Returns the position behind <b>, </b>, <0> or <br/>, or 0. */
static size_t match_tag(const char *text, size_t length, size_t at)
{
    size_t limit = mt_size_min(length, at + MAX_TAG_BYTES), name = at + 1;
    name += name < limit && text[name] == '/';
    if (text[at] != '<' || name >= limit || !is_name_char(text[name]))
        return 0;
    for (size_t i = name; i < limit && text[i] != '<' && text[i] != '\n'; i++)
        if (text[i] == '>')
            return i + 1;
    return 0;
}

/* Returns the position behind $NAME$ of Chrome's messages, or 0. */
static size_t match_dollars(const char *text, size_t length, size_t at)
{
    size_t end = at + 1, n_letters = 0;
    for (; end < length && (is_name_char(text[end]) || text[end] == '@'); end++)
        n_letters += mt_ascii_is_letter(text[end]);
    return text[at] == '$' && n_letters > 0 && end < length && text[end] == '$' ? end + 1 : 0;
}

static void add(struct placeholders *out, size_t begin, size_t end)
{
    out->is_complete = out->is_complete && out->n < MAX_PLACEHOLDERS;
    if (out->is_complete)
        out->items[out->n++] = (struct mt_range){begin, end};
}

/* Takes escapes such as \n and \" off a placeholder that they adjoin. Where they are in the middle of
 * it, the rest is another placeholder. */
static void cut_escapes(const char *text, struct mt_placeholder *found)
{
    size_t begin = found->begin;
    for (size_t i = found->begin; i < found->end; i++) {
        if (text[i] != '\\' || text[i + 1] == '\0' || !strchr("\"'nrt", text[i + 1]))
            continue;
        bool is_behind =
            memchr(text + begin, '%', i - begin) || memchr(text + begin, '{', i - begin);
        if (is_behind) {
            found->end = i;
            break;
        }
        begin = i + 2;
    }
    if (begin < found->end)
        found->begin = begin;
}

static void find_placeholders(const char *text, size_t length, struct placeholders *out)
{
    struct mt_placeholder next = mt_placeholder_find(text, length, 0);
    cut_escapes(text, &next);
    *out = (struct placeholders){.is_complete = true};
    for (size_t at = 0; at < length && out->is_complete;) {
        size_t end = match_tag(text, length, at);
        if (end == 0)
            end = match_dollars(text, length, at);
        while (next.kind != MT_NO_PLACEHOLDER && next.begin < at) {
            next = mt_placeholder_find(text, length, mt_size_max(at, next.end));
            cut_escapes(text, &next);
        }
        bool is_next = end == 0 && next.kind != MT_NO_PLACEHOLDER && next.begin == at;
        if (is_next)
            end = next.end;
        if (end > 0 && (!is_next || next.kind == MT_PLACEHOLDER_WORD))
            add(out, at, end);
        at = end > 0 ? end : at + 1;
    }
}

/* Whether the placeholder has a number ("%1$s") or a name ("{x}", "%(x)s"), so that it may change
 * places; "%s" and "%d" may not. */
static bool has_place(const char *text, struct mt_range range)
{
    const char *at = text + range.begin;
    size_t n = range.end - range.begin;
    return at[0] == '%' && !memchr(at, '$', n) && !memchr(at, '(', n) && !memchr(at, '{', n);
}

static bool has_same_placeholders(const char *text, size_t length, const char *translation,
                                  size_t n_translation)
{
    struct placeholders ours, theirs;
    bool is_used[MAX_PLACEHOLDERS] = {false};
    find_placeholders(text, length, &ours);
    find_placeholders(translation, n_translation, &theirs);
    if (!ours.is_complete || !theirs.is_complete || ours.n != theirs.n)
        return false;
    for (size_t i = 0, first = 0; i < ours.n; i++) {
        struct mt_range range = ours.items[i];
        size_t n = range.end - range.begin, found = ours.n;
        bool is_placed = has_place(text, range);
        for (size_t k = is_placed ? first : 0; k < theirs.n && found == ours.n; k++) {
            struct mt_range other = theirs.items[k];
            bool is_same = !is_used[k] && other.end - other.begin == n &&
                           memcmp(text + range.begin, translation + other.begin, n) == 0;
            if (is_same)
                found = k;
            else if (is_placed && !is_used[k] && has_place(translation, other))
                break;
        }
        if (found == ours.n)
            return false;
        is_used[found] = true;
        if (is_placed)
            first = found + 1;
    }
    return true;
}

/* ---- ICU's messages ---- */

/*
 * A message as texts and the syntax around them, in turn:
 *
 *   You have {n, plural, one {# file} other {# files}}.
 *   text-----syntax----------------text--syntax-text---s-text
 */
struct walk {
    const char *text;
    size_t length, at;
    size_t depth; /* open braces of syntax; an odd number means within syntax */
};

static size_t skip_blanks(const struct walk *walk, size_t at)
{
    while (at < walk->length && strchr(" \t\r\n", walk->text[at]))
        at++;
    return at;
}

static size_t skip_name(const struct walk *walk, size_t at)
{
    while (at < walk->length && is_name_char(walk->text[at]))
        at++;
    return at;
}

/* Whether an argument with branches begins at text[at]: "{n, plural,". */
static bool begins_branches(const struct walk *walk, size_t at)
{
    static const char *const kinds[] = {"plural", "select", "selectordinal"};
    size_t name = skip_blanks(walk, at + 1), end = skip_name(walk, name);
    at = skip_blanks(walk, end);
    if (end == name || at >= walk->length || walk->text[at] != ',')
        return false;
    size_t kind = skip_blanks(walk, at + 1);
    end = skip_name(walk, kind);
    at = skip_blanks(walk, end);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (end - kind == strlen(kinds[i]) && memcmp(walk->text + kind, kinds[i], end - kind) == 0)
            return at < walk->length && walk->text[at] == ',';
    return false;
}

/* Returns the position behind the closing brace of the argument at text[at], or behind its opening
 * one where it is not closed. */
static size_t skip_argument(const struct walk *walk, size_t at)
{
    size_t n_open = 0, limit = mt_size_min(walk->length, at + MAX_TAG_BYTES);
    for (size_t i = at; i < limit; i++) {
        n_open += walk->text[i] == '{';
        n_open -= walk->text[i] == '}';
        if (n_open == 0)
            return i + 1;
    }
    return at + 1;
}

static struct mt_range next_text(struct walk *walk)
{
    size_t begin = walk->at;
    while (walk->at < walk->length) {
        char c = walk->text[walk->at];
        bool begins = c == '{' && begins_branches(walk, walk->at);
        if (begins || (c == '}' && walk->depth > 0)) {
            walk->depth = begins ? walk->depth + 1 : walk->depth - 1;
            break;
        }
        walk->at = c == '{' ? skip_argument(walk, walk->at) : walk->at + 1;
    }
    return (struct mt_range){begin, walk->at};
}

static struct mt_range next_syntax(struct walk *walk)
{
    size_t begin = walk->at++; /* the brace that ended the text */
    for (; walk->at < walk->length; walk->at++) {
        char c = walk->text[walk->at];
        if (c != '{' && c != '}')
            continue;
        walk->depth = c == '{' ? walk->depth + 1 : walk->depth - 1;
        walk->at++;
        break;
    }
    return (struct mt_range){begin, walk->at};
}

static size_t count_signs(const char *text, struct mt_range range)
{
    size_t n = 0;
    for (size_t i = range.begin; i < range.end; i++)
        n += text[i] == '#';
    return n;
}

bool mt_message_can_replace(const char *message, size_t length, const char *translation,
                            size_t n_translation)
{
    struct walk ours = {.text = message, .length = length};
    struct walk theirs = {.text = translation, .length = n_translation};
    for (;;) {
        bool is_branch = ours.depth > 0;
        struct mt_range a = next_text(&ours), b = next_text(&theirs);
        if (!has_same_placeholders(message + a.begin, a.end - a.begin, translation + b.begin,
                                   b.end - b.begin) ||
            (is_branch && count_signs(message, a) != count_signs(translation, b)))
            return false;
        if (ours.at == length || theirs.at == n_translation)
            return ours.at == length && theirs.at == n_translation && ours.depth == theirs.depth;
        a = next_syntax(&ours);
        b = next_syntax(&theirs);
        if (ours.depth != theirs.depth || a.end - a.begin != b.end - b.begin ||
            memcmp(message + a.begin, translation + b.begin, a.end - a.begin) != 0)
            return false;
    }
}
