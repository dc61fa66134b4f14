/*
 * What the fuzzers of markup share: bytes are fed to its reader. Codes are in order and hold bytes of their segment; where nothing is
 * translated, the source comes back to the byte; where each text is doubled, what comes out is
 * well-formed UTF-8 that the reader takes again.
 */
#ifndef MT_TESTS_FUZZ_MARKUP_H
#define MT_TESTS_FUZZ_MARKUP_H

#include "server/text/codes/coded.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TAGS 200

static enum mt_status read_markup(mt_coded_reader *read, const char *markup, size_t length,
                                  struct mt_coded *out)
{
    static const char *const ignored[] = {"x", "em"};
    const struct mt_coded_options options = {
        .max_tags = MAX_TAGS, .ignored_tags = ignored, .n_ignored_tags = 2};
    struct mt_error err;
    *out = (struct mt_coded){0};
    enum mt_status status = read(markup, length, &options, out, &err);
    assert(status == MT_OK || status == MT_LIMIT || status == MT_FORMAT);
    return status;
}

static void check_codes(const struct mt_coded_segment *segment)
{
    size_t n_open = 0;
    for (size_t i = 0; i < segment->n; i++) {
        const struct mt_code *code = &segment->codes[i], *last = i > 0 ? code - 1 : NULL;
        assert(code->at.begin <= code->at.end && code->at.end <= segment->words.length);
        assert(code->bytes.begin < code->bytes.end);
        assert(code->bytes.begin >= segment->range.begin && code->bytes.end <= segment->range.end);
        assert(!last || (last->at.end <= code->at.begin && last->bytes.end <= code->bytes.begin));
        assert(code->mate == MT_NO_MATE || segment->codes[code->mate].mate == i);
        n_open += code->kind == MT_CODE_OPEN;
        assert(code->kind != MT_CODE_CLOSE || (n_open-- > 0 && code->mate < i));
    }
    assert(n_open == 0);
    assert(mt_utf8_valid_prefix(segment->words.bytes, segment->words.length) ==
           segment->words.length);
}

/* n_times: how often the words of each segment are written. */
static void write_markup(const struct mt_coded *coded, size_t n_times, struct mt_text *out)
{
    struct mt_error err;
    size_t at = 0;
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < coded->n; i++) {
        const struct mt_coded_segment *segment = &coded->segments[i];
        const struct mt_range all = {0, segment->words.length};
        assert(segment->range.begin >= at && segment->range.end <= coded->length);
        check_codes(segment);
        mt_text_append(out, coded->source + at, segment->range.begin - at);
        size_t from = out->length;
        for (size_t k = 0; k < n_times; k++) {
            size_t code = 0;
            mt_coded_write_range(coded, segment, all, &code, out);
            assert(code == segment->n);
        }
        enum mt_status status = mt_coded_restore(coded, segment, from, out, &err);
        assert(!status);
        at = segment->range.end;
    }
    mt_text_append(out, coded->source + at, coded->length - at);
    assert(!out->status);
}

/* is_formal: what is not well-formed is refused. */
static void check_markup(mt_coded_reader *read, bool is_formal, const uint8_t *data, size_t size)
{
    struct mt_coded coded, again;
    struct mt_text same = {0}, other = {0};
    char *markup = malloc(size + 1);
    assert(markup);
    memcpy(markup, data, size);
    markup[size] = '\0';
    size_t length = mt_utf8_valid_prefix(markup, strlen(markup));
    markup[length] = '\0';
    enum mt_status status = read_markup(read, markup, length, &coded);
    assert(is_formal || status != MT_FORMAT);
    if (status == MT_OK) {
        write_markup(&coded, 1, &same);
        assert(same.length == length && memcmp(same.bytes, markup, length) == 0);
        write_markup(&coded, 2, &other);
        assert(mt_utf8_valid_prefix(other.bytes, other.length) == other.length);
        status = read_markup(read, other.bytes, other.length, &again);
        assert(status != MT_FORMAT);
        mt_coded_finish(&again);
    }
    mt_coded_finish(&coded);
    mt_text_finish(&same);
    mt_text_finish(&other);
    free(markup);
}

#endif
