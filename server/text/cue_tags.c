#include "server/text/cue_tags.h"

#include "base/ascii.h"
#include "base/size.h"

#include <string.h>
#include <strings.h>

/* Returns where the tag ends, behind `closing`, or 0. A tag does not extend beyond the line or into
 * another tag: "a <b" has none. */
static size_t find_end(const char *text, size_t length, size_t at, char closing)
{
    size_t limit = mt_size_min(length, at + MT_MAX_CUE_TAG_BYTES);
    for (size_t i = at + 1; i < limit && !strchr("<{\r\n", text[i]); i++)
        if (text[i] == closing)
            return i + 1;
    return 0;
}

size_t mt_cue_tag_length(const char *text, size_t length, size_t at, enum mt_cue_markup markup)
{
    char first = at + 1 < length ? text[at + 1] : '\0';
    char second = at + 2 < length ? text[at + 2] : '\0';
    size_t end = 0;
    bool is_tag = mt_ascii_is_letter(first) || (first == '/' && mt_ascii_is_letter(second));
    bool is_time = mt_ascii_is_digit(first) && mt_ascii_is_digit(second) &&
                   (markup == MT_CUES_VTT || (at + 3 < length && text[at + 3] == ':'));
    bool is_brace = markup == MT_CUES_SRT &&
                    (first == '\\' || (first && strchr("yYcCfFsSpPoO", first) && second == ':'));
    if (at < length && text[at] == '<' && (is_tag || is_time))
        end = find_end(text, length, at, '>');
    else if (at < length && text[at] == '{' && is_brace)
        end = find_end(text, length, at, '}');
    return end ? end - at : 0;
}

/* Returns the length of a tag's name, which <b>, </b> and <c.loud> have; 0 for other tags. */
static size_t name_of(const char *text, const struct mt_cue_tag *tag, const char **out)
{
    size_t begin = tag->begin + 1 + tag->is_closing, end = begin;
    if (text[tag->begin] == '{')
        return 0;
    while (end < tag->end && mt_ascii_is_letter(text[end]))
        end++;
    *out = text + begin;
    return end - begin;
}

static bool have_same_name(const char *text, const struct mt_cue_tag *a, const struct mt_cue_tag *b)
{
    const char *a_name = NULL, *b_name = NULL;
    size_t a_length = name_of(text, a, &a_name), b_length = name_of(text, b, &b_name);
    return a_length == b_length && a_length > 0 && strncasecmp(a_name, b_name, a_length) == 0;
}

/* Whether the tag is a line break: <br>, <br/>. */
static bool is_break(const char *text, const struct mt_cue_tag *tag)
{
    const char *name = NULL;
    return !tag->is_closing && name_of(text, tag, &name) == 2 && strncasecmp(name, "br", 2) == 0;
}

/* Pairs every closing tag with the nearest open one of its name; tags opened in between have no
 * mate. */
static void pair(const char *text, struct mt_cue_tags *tags)
{
    size_t open[MT_MAX_CUE_TAGS], n_open = 0, n_named = 0, n_paired = 0;
    for (size_t i = 0; i < tags->n; i++) {
        struct mt_cue_tag *tag = &tags->items[i];
        const char *name;
        if (name_of(text, tag, &name) == 0 || is_break(text, tag))
            continue;
        n_named++;
        if (!tag->is_closing) {
            open[n_open++] = i;
            continue;
        }
        for (size_t k = n_open; k-- > 0;) {
            struct mt_cue_tag *opening = &tags->items[open[k]];
            if (!have_same_name(text, opening, tag))
                continue;
            opening->mate = i;
            tag->mate = open[k];
            n_open = k;
            n_paired += 2;
            break;
        }
    }
    tags->n_halves = n_named - n_paired;
}

bool mt_cue_tags_find(const char *text, size_t length, enum mt_cue_markup markup,
                      struct mt_cue_tags *out)
{
    bool is_complete = true;
    out->n = 0;
    for (size_t at = 0; at < length && is_complete;) {
        size_t n = mt_cue_tag_length(text, length, at, markup);
        is_complete = n == 0 || out->n < MT_MAX_CUE_TAGS;
        if (n > 0 && is_complete)
            out->items[out->n++] = (struct mt_cue_tag){
                .begin = at, .end = at + n, .is_closing = text[at + 1] == '/', .mate = MT_NO_MATE};
        at += n ? n : 1;
    }
    pair(text, out);
    return is_complete;
}

/* ---- entities ---- */

#define MAX_ENTITY_BYTES 12

static const struct {
    const char *name, *character;
} entities[] = {
    {"&amp;", "&"},
    {"&lt;", "<"},
    {"&gt;", ">"},
    {"&nbsp;", "\xC2\xA0"},
    {"&lrm;", "\xE2\x80\x8E"},
    {"&rlm;", "\xE2\x80\x8F"},
    {"&quot;", "\""},
    {"&apos;", "'"},
    {"&#39;", "'"},
};

/* Returns the length of the entity that bytes[0, length) begins with, and its character; 0 where
 * there is none. */
static size_t find_entity(const char *bytes, size_t length, const char **character)
{
    for (size_t k = 0; bytes[0] == '&' && k < sizeof entities / sizeof *entities; k++) {
        size_t n = strlen(entities[k].name);
        *character = entities[k].character;
        if (length >= n && memcmp(bytes, entities[k].name, n) == 0)
            return n;
    }
    return 0;
}

/* Returns the length of an entity of HTML that subtitles do not have, &rarr; or &#8594;; 0: there is
 * none. */
static size_t find_other_entity(const char *bytes, size_t length)
{
    size_t at = length > 1 && bytes[1] == '#' ? 2 : 1, name = at;
    while (at < length && at < MAX_ENTITY_BYTES && mt_ascii_is_letter_or_digit(bytes[at]))
        at++;
    return bytes[0] == '&' && at > name + 1 && at < length && bytes[at] == ';' ? at + 1 : 0;
}

/* Appends source[begin, end) with the characters of its entities; others become codes. */
static enum mt_status decode(const char *source, size_t begin, size_t end,
                             struct mt_coded_segment *segment, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t at = begin, n; at < end && !status; at += n) {
        const char *character;
        n = find_entity(source + at, end - at, &character);
        if (n > 0) {
            mt_text_append_string(&segment->words, character);
            continue;
        }
        size_t words = segment->words.length, n_other = find_other_entity(source + at, end - at);
        mt_text_append(&segment->words, source + at, n = n_other ? n_other : 1);
        if (n_other)
            status = mt_coded_add(segment,
                                  &(struct mt_code){.kind = MT_CODE_WORD,
                                                    .at = {words, words + n},
                                                    .bytes = {at, at + n},
                                                    .mate = MT_NO_MATE},
                                  err);
    }
    return status;
}

/* ---- words and codes ---- */

static enum mt_status read_cue(const char *source, size_t length, enum mt_cue_markup markup,
                               struct mt_coded *out, struct mt_error *err)
{
    struct mt_cue_tags tags;
    struct mt_coded_segment *segment;
    *out = (struct mt_coded){.source = source, .length = length};
    if (markup == MT_CUES_VTT)
        out->write = mt_coded_write_markup;
    if (!mt_cue_tags_find(source, length, markup, &tags))
        return mt_fail(err, MT_LIMIT, "a subtitle has more than %d tags", MT_MAX_CUE_TAGS);
    enum mt_status status = mt_coded_add_segment(out, 0, &segment, err);
    size_t at = 0, codes[MT_MAX_CUE_TAGS]; /* codes: index of each tag's code */
    for (size_t i = 0; i <= tags.n && !status; i++) {
        const struct mt_cue_tag *tag = i < tags.n ? &tags.items[i] : NULL;
        size_t end = tag ? tag->begin : length;
        if (markup == MT_CUES_VTT)
            status = decode(source, at, end, segment, err);
        else
            mt_text_append(&segment->words, source + at, end - at);
        if (!tag || status)
            break;
        bool is_pair = tag->mate != MT_NO_MATE;
        size_t begin = segment->words.length;
        bool is_gap = is_break(source, tag) && begin > 0 && segment->words.bytes[begin - 1] != ' ';
        if (is_gap)
            mt_text_append(&segment->words, " ", 1);
        const struct mt_code code = {
            .kind = is_gap            ? MT_CODE_GAP
                    : !is_pair        ? MT_CODE_POINT
                    : tag->is_closing ? MT_CODE_CLOSE
                                      : MT_CODE_OPEN,
            .at = {begin, segment->words.length},
            .bytes = {tag->begin, tag->end},
            .mate = tag->mate,
        };
        codes[i] = segment->n;
        status = mt_coded_add(segment, &code, err);
        at = tag->end;
    }
    if (status)
        return status;
    for (size_t i = 0; i < tags.n; i++)
        if (tags.items[i].mate != MT_NO_MATE)
            segment->codes[codes[i]].mate = codes[tags.items[i].mate];
    segment->range.end = length;
    return mt_text_check(&segment->words, "a subtitle", err);
}

enum mt_status mt_read_srt(const char *source, size_t length,
                           const struct mt_coded_options *options, struct mt_coded *out,
                           struct mt_error *err)
{
    (void)options;
    return read_cue(source, length, MT_CUES_SRT, out, err);
}

enum mt_status mt_read_vtt(const char *source, size_t length,
                           const struct mt_coded_options *options, struct mt_coded *out,
                           struct mt_error *err)
{
    (void)options;
    return read_cue(source, length, MT_CUES_VTT, out, err);
}

/* ---- what stands around words ---- */

static size_t match_any(const char *text, size_t length, const char *const *strings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t n_bytes = strlen(strings[i]);
        if (length >= n_bytes && memcmp(text, strings[i], n_bytes) == 0)
            return n_bytes;
    }
    return 0;
}

size_t mt_cue_dash_length(const char *text, size_t length)
{
    static const char *const dashes[] = {"-", "\xE2\x80\x93", "\xE2\x80\x94", "\xE2\x80\x90"};
    return match_any(text, length, dashes, sizeof dashes / sizeof *dashes);
}

size_t mt_cue_ornament_length(const char *text, size_t length)
{
    static const char *const ornaments[] = {
        " ",  "\t",   "\xC2\xA0",     "\xE2\x99\xAA", "\xE2\x99\xAB",
        ">>", "&gt;", "\xE2\x80\x8E", "\xE2\x80\x8F", "\n",
        "\r"};
    return match_any(text, length, ornaments, sizeof ornaments / sizeof *ornaments);
}
