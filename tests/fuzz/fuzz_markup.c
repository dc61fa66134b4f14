/*
 * Feeds HTML to the markup reader and puts it together again, as if each segment were translated
 * by itself. What comes out is well-formed UTF-8 that the reader takes again.
 */
#include "server/text/markup.h"
#include "server/passages/placement.h"
#include "server/text/protect.h"

#include <assert.h>
#include <string.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_TAGS 200

static enum mt_status parse(const char *html, size_t length, struct mt_markup **out)
{
    struct mt_stand_ins stand_ins;
    struct mt_error err;
    mt_stand_ins_init(&stand_ins, html, length);
    const struct mt_markup_options options = {
        .stand_ins = &stand_ins, .protects = true, .max_tags = MAX_TAGS};
    enum mt_status status = mt_markup_parse(html, length, &options, out, &err);
    assert(status == MT_OK || status == MT_LIMIT);
    return status;
}

/* The translation becomes another one, which shares its end with the first. */
static void transfer(struct mt_placement_input *input, struct mt_word_links *links,
                     struct mt_range *all)
{
    struct mt_error err;
    struct mt_word_links moved = {0};
    size_t cut = mt_utf8_valid_prefix(input->target, input->target_length / 2);
    const char *other = input->target + cut;
    size_t length = input->target_length - cut;
    enum mt_status status = mt_placement_transfer(links, input->target, input->target_length, other,
                                                  length, &moved, &err);
    assert(!status);
    for (size_t i = 0; i < moved.n; i++)
        assert(moved.items[i].target.begin < moved.items[i].target.end &&
               moved.items[i].target.end <= length);
    mt_word_links_finish(links);
    *links = moved;
    *all = (struct mt_range){0, length};
    input->target = other;
    input->target_length = length;
}

static void write_segment(const struct mt_markup *markup, size_t index, struct mt_text *out)
{
    struct mt_error err;
    const struct mt_marked *marked = mt_markup_segment(markup, index);
    const struct mt_range all = {0, marked->text.length};
    struct mt_range target = all;
    const struct mt_markup_text text = {.markup = markup, .segment = index};
    struct mt_word_links links = {0};
    struct mt_placement placement = {0};
    struct mt_placement_input input = {
        .marked = marked,
        .target = marked->text.bytes,
        .target_length = marked->text.length,
        .links = &links,
        .source_sentences = &all,
        .target_sentences = &target,
        .n_sentences = 1,
    };
    enum mt_status status = mt_placement_guess(&input, &links, &err);
    assert(!status);
    if (marked->text.length % 4 == 0) /* some, as it takes time */
        transfer(&input, &links, &target);
    status = mt_placement_find(&input, &placement, &err);
    assert(!status);
    status = mt_placement_render(&input, &placement, mt_markup_write_text, &text, out, &err);
    assert(!status);
    mt_placement_finish(&placement);
    mt_word_links_finish(&links);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_markup *markup, *again;
    char *html = malloc(size + 1);
    assert(html);
    memcpy(html, data, size);
    html[size] = '\0';
    size_t length = mt_utf8_valid_prefix(html, strlen(html));
    html[length] = '\0';
    if (parse(html, length, &markup) == MT_OK) {
        struct mt_text out = {0};
        size_t n = mt_markup_n_segments(markup);
        mt_text_append(&out, "", 0);
        for (size_t i = 0; i <= n; i++) {
            mt_markup_write_verbatim(markup, i, &out);
            if (i < n)
                write_segment(markup, i, &out);
        }
        assert(!out.status);
        assert(mt_utf8_valid_prefix(out.bytes, out.length) == out.length);
        if (parse(out.bytes, out.length, &again) == MT_OK)
            mt_markup_destroy(again);
        mt_text_finish(&out);
        mt_markup_destroy(markup);
    }
    free(html);
    return 0;
}
