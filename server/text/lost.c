#include "server/text/lost.h"

#include <stdlib.h>
#include <string.h>

/* An empty text may have bytes NULL. */
static size_t count(const char *text, size_t length, const char *bytes, size_t n)
{
    if (!text || !bytes || n == 0)
        return 0;
    size_t n_found = 0;
    const char *end = text + length, *at = text;
    while (at < end && (at = memmem(at, (size_t)(end - at), bytes, n))) {
        n_found++;
        at += n;
    }
    return n_found;
}

static bool is_placeholder(const struct mt_mark *mark)
{
    if (mark->is_gap)
        return false;
    return mark->kind == MT_MARK_STAND_IN || mark->kind == MT_MARK_POINT;
}

/* Counts in all marks, because one placeholder may be a part of another. */
static size_t count_wanted(const struct mt_marked *marked, const char *bytes, size_t n)
{
    size_t n_found = 0;
    for (size_t i = 0; i < marked->n; i++) {
        struct mt_range opening = marked->marks[i].opening, closing = marked->marks[i].closing;
        const char *strings = marked->strings.bytes;
        n_found += count(strings + opening.begin, opening.end - opening.begin, bytes, n);
        if (marked->marks[i].kind == MT_MARK_SPAN)
            n_found += count(strings + closing.begin, closing.end - closing.begin, bytes, n);
    }
    return n_found;
}

/* A placeholder of a part, and whether the translation lacks it. */
struct sought {
    const char *bytes;
    size_t n;
    size_t index; /* index in the part */
    bool is_lost;
};

static int compare_bytes(const struct sought *a, const struct sought *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return memcmp(a->bytes, b->bytes, a->n);
}

static int by_bytes(const void *a, const void *b)
{
    return compare_bytes(a, b);
}

static int by_index(const void *a, const void *b)
{
    const struct sought *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Returns how many placeholders there are. */
static size_t list_sought(const struct mt_marked *marked, struct sought *out)
{
    size_t n = 0;
    for (size_t i = 0; i < marked->n; i++) {
        struct mt_range opening = marked->marks[i].opening;
        if (!is_placeholder(&marked->marks[i]))
            continue;
        out[n] = (struct sought){.bytes = marked->strings.bytes + opening.begin,
                                 .n = opening.end - opening.begin,
                                 .index = n};
        n++;
    }
    return n;
}

/* Each placeholder is counted once, however often the text has it. */
static void find_lost_among(const struct mt_marked *marked, const struct mt_text *text,
                            struct sought *sought, size_t n)
{
    qsort(sought, n, sizeof *sought, by_bytes);
    for (size_t i = 0; i < n; i++) {
        struct sought *own = &sought[i];
        bool is_new = i == 0 || compare_bytes(own - 1, own) != 0;
        if (!is_new)
            own->is_lost = sought[i - 1].is_lost;
        else
            own->is_lost = count(text->bytes, text->length, own->bytes, own->n) !=
                           count_wanted(marked, own->bytes, own->n);
    }
    qsort(sought, n, sizeof *sought, by_index);
}

enum mt_status mt_lost_find(const struct mt_marked *marked, const struct mt_text *translation,
                            mt_lost_report *report, void *context, struct mt_error *err)
{
    struct sought *sought = calloc(marked->n + 1, sizeof *sought);
    if (!sought)
        return mt_fail_memory(err, marked->n * sizeof *sought, "placeholders");
    size_t n = list_sought(marked, sought);
    find_lost_among(marked, translation, sought, n);
    for (size_t i = 0; i < n; i++)
        if (sought[i].is_lost)
            report(context, sought[i].bytes, sought[i].n);
    free(sought);
    return MT_OK;
}
