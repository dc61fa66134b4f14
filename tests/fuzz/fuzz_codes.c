/*
 * Feeds texts to the finder of codes, as plain text or (first byte odd) as HTML. What it finds is in
 * order, lies within the words at the boundaries of characters, overlaps only where one lies within the
 * other, and its pairs nest.
 */
#include "server/text/codes/codes_find.h"
#include "server/text/html/html_reader.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

static bool is_boundary(const struct mt_text *words, size_t at)
{
    return at == words->length || (words->bytes[at] & 0xC0) != 0x80;
}

static void check_codes(const struct mt_coded_segment *segment)
{
    size_t outer_end = 0, n_open = 0;
    size_t *open = calloc(segment->n + 1, sizeof *open);
    assert(open);
    for (size_t i = 0; i < segment->n; i++) {
        const struct mt_code *code = &segment->codes[i];
        assert(code->at.begin <= code->at.end && code->at.end <= segment->words.length);
        assert(is_boundary(&segment->words, code->at.begin));
        assert(is_boundary(&segment->words, code->at.end));
        assert(i == 0 || segment->codes[i - 1].at.begin <= code->at.begin);
        assert(code->at.begin >= outer_end || code->at.end <= outer_end);
        if (code->at.end > outer_end)
            outer_end = code->at.end;
        if (code->kind == MT_CODE_OPEN)
            open[n_open++] = i;
        else if (code->kind == MT_CODE_CLOSE)
            assert(n_open > 0 && open[--n_open] == code->mate);
    }
    assert(n_open == 0);
    free(open);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const struct mt_coded_options reading = {.max_tags = 1000};
    const struct mt_codes_options options = {.source_lang = "en", .finds_codes = true};
    struct mt_coded coded = {0};
    struct mt_error err;
    if (length == 0 || mt_utf8_valid_prefix((const char *)bytes + 1, length - 1) != length - 1)
        return 0;
    struct mt_text text = {0};
    mt_text_append(&text, "", 0);
    mt_text_append(&text, (const char *)bytes + 1, length - 1);
    mt_coded_reader *reader = bytes[0] % 2 ? mt_read_html : mt_read_plain;
    if (reader(text.bytes, text.length, &reading, &coded, &err) == MT_OK)
        for (size_t i = 0; i < coded.n; i++) {
            enum mt_status status = mt_codes_find(&coded.segments[i], &options, &err);
            assert(status == MT_OK);
            check_codes(&coded.segments[i]);
        }
    mt_coded_finish(&coded);
    mt_text_finish(&text);
    return 0;
}
