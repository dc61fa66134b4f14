#include "server/text/placeholder_check.h"

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

static bool is_placeholder(const struct mt_tag *tag)
{
    if (tag->is_gap)
        return false;
    return tag->kind == MT_TAG_SUBSTITUTE || tag->kind == MT_TAG_POINT;
}

/* Counts in all tags, because one placeholder may be a part of another. */
static size_t count_wanted(const struct mt_tagged_text *tagged, const char *bytes, size_t n)
{
    size_t n_found = 0;
    for (size_t i = 0; i < tagged->n; i++) {
        struct mt_range opening = tagged->tags[i].opening, closing = tagged->tags[i].closing;
        const char *strings = tagged->strings.bytes;
        n_found += count(strings + opening.begin, opening.end - opening.begin, bytes, n);
        if (tagged->tags[i].kind == MT_TAG_SPAN)
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
static size_t list_sought(const struct mt_tagged_text *tagged, struct sought *out)
{
    size_t n = 0;
    for (size_t i = 0; i < tagged->n; i++) {
        struct mt_range opening = tagged->tags[i].opening;
        if (!is_placeholder(&tagged->tags[i]))
            continue;
        out[n] = (struct sought){.bytes = tagged->strings.bytes + opening.begin,
                                 .n = opening.end - opening.begin,
                                 .index = n};
        n++;
    }
    return n;
}

/* Each placeholder is counted once, however often the text has it. */
static void find_lost_among(const struct mt_tagged_text *tagged, const struct mt_text *text,
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
                           count_wanted(tagged, own->bytes, own->n);
    }
    qsort(sought, n, sizeof *sought, by_index);
}

enum mt_status mt_placeholder_check(const struct mt_tagged_text *tagged,
                                    const struct mt_text *translation,
                                    mt_placeholder_report *report, void *context,
                                    struct mt_error *err)
{
    struct sought *sought = calloc(tagged->n + 1, sizeof *sought);
    if (!sought)
        return mt_fail_memory(err, tagged->n * sizeof *sought, "placeholders");
    size_t n = list_sought(tagged, sought);
    find_lost_among(tagged, translation, sought, n);
    for (size_t i = 0; i < n; i++)
        if (sought[i].is_lost)
            report(context, sought[i].bytes, sought[i].n);
    free(sought);
    return MT_OK;
}
