/*
 * Feeds bytes to mt_spm_check; what it accepts goes on to libsentencepiece, tokenizes and aligns a
 * few texts, and joins the pieces again. The first is ours, the second what the check is there to
 * protect.
 */
#include "model/tokenizer/align.h"
#include "model/tokenizer/spm.h"
#include "model/tokenizer/spm_check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {
    "",
    " ab  ab ",
    "a\tb\x01 1",
    "\xC2\xBD\xC2\xBD",
    "<x>\xE2\x85\xA3\xEF\xB7\xBA",
    "\xF0\x9F\x98\x80\x65\xCC\x81",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};

struct use {
    struct mt_aligner aligner;
    size_t length, begin, end;
};

static enum mt_status look_at(void *context, const struct mt_spm_piece *piece)
{
    struct use *use = context;
    size_t begin, end;
    mt_align(&use->aligner, piece, &begin, &end);
    assert(begin <= end && end <= use->length && begin >= use->begin && end >= use->end);
    use->begin = begin;
    use->end = end;
    return MT_OK;
}

static void use(const struct mt_spm *spm, const struct mt_charsmap *map, const char *text)
{
    size_t length = strlen(text);
    struct use use = {.length = length};
    mt_aligner_init(&use.aligner, map, text, length);
    enum mt_status status = mt_spm_encode(spm, text, length, look_at, &use, NULL);
    assert(status == MT_OK || status == MT_FORMAT);

    const char *const pieces[] = {text,
                                  "\xE2\x96\x81"
                                  "a",
                                  "<0xC2>",
                                  "<0xBD>",
                                  "<unk>",
                                  "</s>"};
    struct mt_span spans[6];
    struct mt_text out = {0};
    status = mt_spm_decode(spm, pieces, 6, spans, &out, NULL);
    assert(status == MT_OK || status == MT_FORMAT);
    assert(out.length == 0 || mt_utf8_valid_prefix(out.bytes, out.length) == out.length);
    mt_text_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_spm_info info;
    struct mt_spm *spm;
    const char *bytes = (const char *)data;
    if (mt_spm_check(bytes, size, "fuzz.spm", &info, NULL) ||
        mt_spm_open(bytes, size, "fuzz.spm", &spm, NULL))
        return 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        use(spm, &info.charsmap, texts[i]);
    mt_spm_close(spm);
    return 0;
}
