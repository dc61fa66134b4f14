/*
 * What the files share that find the places of tags: placement.c for stand-ins, terms, points and
 * breaks, placement_spans.c for spans.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PASSAGES_PLACEMENT_STATE_H
#define MT_SERVER_PASSAGES_PLACEMENT_STATE_H

#include "server/passages/placement.h"

/* A word of the target and the source word that it mostly came from. */
struct mt_placer_word {
    size_t begin, end;
    size_t source_begin, source_end;
    float score;   /* how much of it came from that word */
    bool is_taken; /* by a span or stand-in of the parent that is being worked on */
    /* children of that parent that hold the source word, once they are counted */
    size_t n_children;
};

/* A run of words [first, end) of the placer's, and what it is worth. */
struct mt_placer_run {
    size_t first, end;
    double worth;
};

struct mt_placer {
    const struct mt_placement_input *input;
    struct mt_placer_word *units; /* by begin */
    size_t n;
    bool is_counted; /* n_children of the units is set */
    struct mt_placement *out;
};

/* Whether the word came from the source's [begin, end). */
bool mt_placer_came_from(const struct mt_placer_word *unit, size_t begin, size_t end);

/* Returns where a point at `source` belongs. If it leads, it belongs to the word behind it. */
size_t mt_placer_point_at(const struct mt_placer *placer, size_t source, bool leads);

/* Places all spans, after stand-ins and terms. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_placer_place_spans(struct mt_placer *placer, struct mt_error *err);

#endif
