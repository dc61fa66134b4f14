#include "server/documents/cue_times.h"

#include "base/ascii.h"
#include "server/text/cue_tags.h"

#include <string.h>

static bool read_digits(const char **at, const char *end, size_t n_min, size_t n_max, int64_t *out)
{
    size_t n = 0;
    for (*out = 0; *at < end && mt_ascii_is_digit(**at) && n < n_max; n++)
        *out = *out * 10 + (*(*at)++ - '0');
    return n >= n_min;
}

static bool read_mark(const char **at, const char *end, const char *any_of)
{
    if (*at == end || !strchr(any_of, **at) || **at == '\0')
        return false;
    (*at)++;
    return true;
}

static void skip_blanks(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t'))
        (*at)++;
}

/* Reads 01:02:03,004; in WebVTT also 02:03.004. */
static bool read_time(const char **at, const char *end, bool needs_hours, int64_t *out_ms)
{
    int64_t parts[3], ms;
    size_t n = 0;
    do {
        if (!read_digits(at, end, 1, n == 0 ? 4 : 2, &parts[n]))
            return false;
        n++;
    } while (n < 3 && read_mark(at, end, ":"));
    if (n < (needs_hours ? 3u : 2u))
        return false;
    if (!read_mark(at, end, ",.") || !read_digits(at, end, 1, 3, &ms))
        return false;
    int64_t hours = n == 3 ? parts[0] : 0, minutes = parts[n - 2], seconds = parts[n - 1];
    if (minutes > 59 || seconds > 59)
        return false;
    *out_ms = ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
    return true;
}

bool mt_cue_read_times(const char **at, const char *end, bool needs_hours, int64_t *out_begin_ms,
                       int64_t *out_end_ms)
{
    skip_blanks(at, end);
    if (!read_time(at, end, needs_hours, out_begin_ms))
        return false;
    skip_blanks(at, end);
    if (end - *at < 3 || memcmp(*at, "-->", 3) != 0)
        return false;
    *at += 3;
    skip_blanks(at, end);
    return read_time(at, end, needs_hours, out_end_ms);
}

/* ---- captions that roll up ---- */

static bool is_time_tag(const char *tag, size_t n)
{
    return n > 4 && tag[0] == '<' && mt_ascii_is_digit(tag[1]) && memchr(tag, ':', n);
}

/* Returns the length of the tag that begins at text[at], or 0. It is limited, so that reading a
 * line takes time in proportion to its length. */
static size_t tag_length(const char *text, size_t end, size_t at)
{
    return mt_cue_tag_length(text, end, at, MT_CUES_VTT);
}

void mt_cue_append_words(const char *text, struct mt_range line, struct mt_text *out)
{
    for (size_t at = line.begin; at < line.end;) {
        size_t n = tag_length(text, line.end, at);
        if (!n)
            mt_text_append(out, text + at, 1);
        at += n ? n : 1;
    }
}

bool mt_cue_repeats(const char *text, struct mt_range before, struct mt_range line)
{
    before = mt_range_trim(text, before.begin, before.end);
    line = mt_range_trim(text, line.begin, line.end);
    size_t at = before.begin;
    if (line.begin == line.end)
        return false;
    while (line.begin < line.end && at < before.end) {
        size_t n = tag_length(text, before.end, at);
        if (!n && text[at] != text[line.begin++])
            return false;
        at += n ? n : 1;
    }
    while (at < before.end && tag_length(text, before.end, at))
        at += tag_length(text, before.end, at);
    return line.begin == line.end && at == before.end;
}

bool mt_cue_rolls_up(const char *text, size_t begin, size_t end)
{
    struct mt_range timed = {0};
    for (size_t at = begin, next; at < end; at = next) {
        const char *line_end = memchr(text + at, '\n', end - at);
        struct mt_range line = {at, line_end ? (size_t)(line_end - text) : end};
        next = line.end + 1;
        if (timed.end > 0 && mt_cue_repeats(text, timed, line))
            return true;
        for (size_t i = line.begin; i < line.end; i++)
            if (is_time_tag(text + i, tag_length(text, line.end, i))) {
                timed = line;
                break;
            }
    }
    return false;
}
