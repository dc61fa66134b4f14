#include "server/text/codes/coded.h"

#include "base/size.h"
#include "base/vector.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void mt_coded_write_markup(const struct mt_coded_segment *segment, const char *bytes, size_t length,
                           struct mt_text *out)
{
    (void)segment;
    mt_text_append_markup(out, bytes, length);
}

void mt_coded_finish(struct mt_coded *coded)
{
    for (size_t i = 0; i < coded->n; i++) {
        struct mt_coded_segment *segment = &coded->segments[i];
        mt_text_finish(&segment->words);
        free(segment->codes);
        if (segment->own && coded->finish_own)
            coded->finish_own(segment->own);
    }
    free(coded->segments);
    *coded = (struct mt_coded){0};
}

/* ---- reading ---- */

enum mt_status mt_coded_add_segment(struct mt_coded *coded, size_t begin,
                                    struct mt_coded_segment **out, struct mt_error *err)
{
    if (MT_ROOM(&coded->segments, &coded->capacity, coded->n + 1, "segments of a text", err))
        return MT_MEMORY;
    *out = &coded->segments[coded->n++];
    **out = (struct mt_coded_segment){.range = {begin, begin}};
    mt_text_append(&(*out)->words, "", 0);
    return MT_OK;
}

static enum mt_status reserve(struct mt_coded_segment *segment, size_t n, struct mt_error *err)
{
    return MT_ROOM(&segment->codes, &segment->capacity, n, "codes of a text", err);
}

enum mt_status mt_coded_add(struct mt_coded_segment *segment, const struct mt_code *code,
                            struct mt_error *err)
{
    assert(segment->n == 0 || segment->codes[segment->n - 1].at.begin <= code->at.begin);
    enum mt_status status = reserve(segment, segment->n + 1, err);
    if (!status)
        segment->codes[segment->n++] = *code;
    return status;
}

/* Whether the reader's code comes before one that was found: it does where it closes a pair, or is
 * at the beginning of the other; it does not where it is inside the other. */
static bool comes_first(const struct mt_code *own, const struct mt_code *found)
{
    return own->at.begin <= found->at.begin;
}

enum mt_status mt_coded_merge(struct mt_coded_segment *segment, const struct mt_code *found,
                              size_t n, struct mt_error *err)
{
    size_t n_own = segment->n, n_all = n_own + n;
    /* new index of each code: the reader's, then those found */
    size_t *moved = calloc(n_all + 1, sizeof *moved);
    struct mt_code *codes = calloc(n_all + 1, sizeof *codes);
    if (!moved || !codes) {
        free(moved);
        free(codes);
        return mt_fail_memory(err, n_all * sizeof *codes, "codes of a text");
    }
    for (size_t i = 0, own = 0, other = 0; i < n_all; i++) {
        bool is_own =
            other == n || (own < n_own && comes_first(&segment->codes[own], &found[other]));
        moved[is_own ? own : n_own + other] = i;
        codes[i] = is_own ? segment->codes[own++] : found[other++];
    }
    for (size_t i = 0; i < n_own; i++)
        if (segment->codes[i].mate != MT_NO_MATE)
            codes[moved[i]].mate = moved[segment->codes[i].mate];
    for (size_t i = 0; i < n; i++)
        if (found[i].mate != MT_NO_MATE)
            codes[moved[n_own + i]].mate = moved[n_own + found[i].mate];
    free(moved);
    free(segment->codes);
    segment->codes = codes;
    segment->n = n_all;
    segment->capacity = n_all + 1;
    return MT_OK;
}

static enum mt_status read_segment(const char *source, size_t length, struct mt_coded *out,
                                   struct mt_error *err)
{
    struct mt_coded_segment *segment;
    *out = (struct mt_coded){.source = source, .length = length};
    enum mt_status status = mt_coded_add_segment(out, 0, &segment, err);
    if (status)
        return status;
    segment->range.end = length;
    mt_text_append(&segment->words, source, length);
    return mt_text_check(&segment->words, "a text", err);
}

enum mt_status mt_read_plain(const char *source, size_t length,
                             const struct mt_coded_options *options, struct mt_coded *out,
                             struct mt_error *err)
{
    (void)options;
    return read_segment(source, length, out, err);
}

/* ---- writing ---- */

static void write_words(const struct mt_coded *coded, const struct mt_coded_segment *segment,
                        size_t begin, size_t end, struct mt_text *out)
{
    if (begin >= end)
        return;
    if (coded->write)
        coded->write(segment, segment->words.bytes + begin, end - begin, out);
    else
        mt_text_append(out, segment->words.bytes + begin, end - begin);
}

void mt_coded_write_code(const struct mt_coded *coded, const struct mt_coded_segment *segment,
                         size_t index, struct mt_text *out)
{
    const struct mt_code *code = &segment->codes[index];
    if (code->bytes.begin < code->bytes.end) {
        mt_text_append(out, coded->source + code->bytes.begin, code->bytes.end - code->bytes.begin);
        return;
    }
    size_t next = index + 1, at = code->at.begin;
    while (next < segment->n && segment->codes[next].at.begin < code->at.end) {
        const struct mt_code *inner = &segment->codes[next];
        write_words(coded, segment, at, inner->at.begin, out);
        at = mt_size_max(at, inner->at.end);
        mt_coded_write_code(coded, segment, next, out);
        next = mt_coded_behind(segment, next);
    }
    write_words(coded, segment, at, code->at.end, out);
}

size_t mt_coded_behind(const struct mt_coded_segment *segment, size_t index)
{
    size_t next = index + 1;
    while (next < segment->n && segment->codes[next].at.begin < segment->codes[index].at.end)
        next++;
    return next;
}

void mt_coded_write_range(const struct mt_coded *coded, const struct mt_coded_segment *segment,
                          struct mt_range range, size_t *code, struct mt_text *out)
{
    size_t at = range.begin;
    while (*code < segment->n) {
        const struct mt_code *next = &segment->codes[*code];
        if (next->at.begin > range.end || (next->at.begin == range.end && next->at.end > range.end))
            break;
        write_words(coded, segment, at, next->at.begin, out);
        at = mt_size_max(at, next->at.end);
        mt_coded_write_code(coded, segment, *code, out);
        *code = mt_coded_behind(segment, *code);
    }
    write_words(coded, segment, at, range.end, out);
}

enum mt_status mt_coded_restore(const struct mt_coded *coded,
                                const struct mt_coded_segment *segment, size_t from,
                                struct mt_text *out, struct mt_error *err)
{
    struct mt_text identity = {0};
    size_t code = 0;
    mt_coded_write_range(coded, segment, (struct mt_range){0, segment->words.length}, &code,
                         &identity);
    enum mt_status status = mt_text_check(&identity, "a text", err);
    bool is_unchanged = !status && out->length - from == identity.length &&
                        memcmp(out->bytes + from, identity.bytes, identity.length) == 0;
    if (is_unchanged) {
        out->length = from;
        mt_text_append(out, coded->source + segment->range.begin,
                       segment->range.end - segment->range.begin);
    }
    mt_text_finish(&identity);
    return status;
}
