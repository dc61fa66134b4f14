#include "server/passages/tag_projection.h"

#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/ubrk.h>
#include <unicode/utext.h>

/* Most pairs of words of both translations that are compared; longer translations get no links. */
#define MAX_COMPARED ((size_t)1 << 22)

struct words {
    struct mt_ranges ranges;
    const char *text;
};

/* Cuts a text into words as word_links.h counts them. */
static enum mt_status cut_words(const char *text, size_t length, struct words *out,
                                struct mt_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    UText view = UTEXT_INITIALIZER;
    out->text = text;
    utext_openUTF8(&view, text, (int64_t)length, &code);
    UBreakIterator *iterator = ubrk_open(UBRK_WORD, "", NULL, 0, &code);
    if (U_SUCCESS(code))
        ubrk_setUText(iterator, &view, &code);
    enum mt_status status =
        U_SUCCESS(code) ? MT_OK : mt_fail_memory(err, length, "words of a translation");
    int32_t begin = status ? UBRK_DONE : ubrk_first(iterator);
    for (int32_t end; !status && (end = ubrk_next(iterator)) != UBRK_DONE; begin = end)
        if (ubrk_getRuleStatus(iterator) >= UBRK_WORD_NONE_LIMIT || text[begin] == '&')
            status = mt_ranges_append(&out->ranges, (size_t)begin, (size_t)end, err);
    ubrk_close(iterator);
    utext_close(&view);
    return status;
}

static bool is_same_word(const struct words *a, size_t i, const struct words *b, size_t j)
{
    struct mt_range x = a->ranges.items[i], y = b->ranges.items[j];
    return x.end - x.begin == y.end - y.begin &&
           memcmp(a->text + x.begin, b->text + y.begin, x.end - x.begin) == 0;
}

/* Fills in the length of the longest common subsequence of a from word i on and b from word j
 * on. */
static void fill_table(const struct words *a, const struct words *b, unsigned *table)
{
    size_t width = b->ranges.n + 1;
    for (size_t i = a->ranges.n; i-- > 0;)
        for (size_t j = b->ranges.n; j-- > 0;) {
            unsigned skip = table[(i + 1) * width + j], other = table[i * width + j + 1];
            table[i * width + j] = is_same_word(a, i, b, j) ? table[(i + 1) * width + j + 1] + 1
                                   : skip > other           ? skip
                                                            : other;
        }
}

static enum mt_status add_link(struct mt_word_links *out, struct mt_offsets source,
                               struct mt_range target, float score, struct mt_error *err)
{
    if (MT_ROOM(&out->items, &out->capacity, out->n + 1, "word links", err))
        return MT_MEMORY;
    out->items[out->n++] = (struct mt_word_link){
        .source = source, .target = {.begin = target.begin, .end = target.end}, .score = score};
    return MT_OK;
}

static enum mt_status add_links_of(const struct mt_word_links *links, struct mt_range from,
                                   struct mt_range to, struct mt_word_links *out,
                                   struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < links->n && !status; i++)
        if (links->items[i].target.begin == from.begin)
            status = add_link(out, links->items[i].source, to, links->items[i].score, err);
    return status;
}

/* Shared words get their links. Between two of them, other words are paired where both translations
 * have as many. */
static enum mt_status transfer(const struct mt_word_links *links, const struct words *a,
                               const struct words *b, const unsigned *table,
                               struct mt_word_links *out, struct mt_error *err)
{
    size_t width = b->ranges.n + 1, i = 0, j = 0;
    enum mt_status status = MT_OK;
    while (i < a->ranges.n && j < b->ranges.n && !status) {
        const unsigned *row = table + i * width + j, *below = row + width;
        bool is_pair = is_same_word(a, i, b, j) || row[0] == below[1];
        if (is_pair)
            status = add_links_of(links, a->ranges.items[i], b->ranges.items[j], out, err);
        bool skips_first = !is_pair && row[0] == below[0];
        i += is_pair || skips_first;
        j += !skips_first;
    }
    return status;
}

enum mt_status mt_tag_projection_transfer(const struct mt_word_links *links, const char *first,
                                          size_t first_length, const char *other,
                                          size_t other_length, struct mt_word_links *out,
                                          struct mt_error *err)
{
    struct words a = {0}, b = {0};
    unsigned *table = NULL;
    enum mt_status status = cut_words(first, first_length, &a, err);
    if (!status)
        status = cut_words(other, other_length, &b, err);
    size_t n = (a.ranges.n + 1) * (b.ranges.n + 1);
    if (!status && n <= MAX_COMPARED) {
        table = calloc(n, sizeof *table);
        if (!table)
            status = mt_fail_memory(err, n * sizeof *table, "shared words");
    }
    if (!status && table) {
        fill_table(&a, &b, table);
        status = transfer(links, &a, &b, table, out, err);
    }
    free(table);
    mt_ranges_finish(&a.ranges);
    mt_ranges_finish(&b.ranges);
    return status;
}

static enum mt_status guess_sentence(const struct mt_tag_projection_input *input, size_t index,
                                     struct mt_word_links *out, struct mt_error *err)
{
    struct mt_range from = input->source_sentences[index], to = input->target_sentences[index];
    struct words a = {0}, b = {0};
    enum mt_status status =
        cut_words(input->tagged->text.bytes + from.begin, from.end - from.begin, &a, err);
    if (!status)
        status = cut_words(input->target + to.begin, to.end - to.begin, &b, err);
    for (size_t j = 0; j < b.ranges.n && a.ranges.n > 0 && !status; j++) {
        struct mt_range source = a.ranges.items[j * a.ranges.n / b.ranges.n];
        struct mt_range target = b.ranges.items[j];
        status = add_link(
            out,
            (struct mt_offsets){.begin = from.begin + source.begin, .end = from.begin + source.end},
            (struct mt_range){to.begin + target.begin, to.begin + target.end}, 1, err);
    }
    mt_ranges_finish(&a.ranges);
    mt_ranges_finish(&b.ranges);
    return status;
}

enum mt_status mt_tag_projection_guess(const struct mt_tag_projection_input *input,
                                       struct mt_word_links *out, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < input->n_sentences && !status; i++)
        status = guess_sentence(input, i, out, err);
    return status;
}
