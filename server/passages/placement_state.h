/*
 * What finding the places of marks shares among its files: placement.c has stand-ins, terms, points
 * and breaks, placement_spans.c the spans.
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
    float score;       /* how much of it did */
    bool is_taken;     /* by a span or stand-in of the parent at hand */
    size_t n_children; /* of that parent, once counted: the marks that the source word lies in */
};

/* A run of words [first, end) of the placer's, and what it counts. */
struct mt_placer_run {
    size_t first, end;
    double worth;
};

struct mt_placer {
    const struct mt_placement_input *input;
    struct mt_placer_word *units; /* by begin */
    size_t n;
    bool is_counted; /* n_children of the units */
    struct mt_placement *out;
};

/* Whether the word came from the source's [begin, end). */
bool mt_placer_came_from(const struct mt_placer_word *unit, size_t begin, size_t end);

/* Where a point belongs that stands at `source`, or, if it leads, belongs to the word behind it. */
size_t mt_placer_point_at(const struct mt_placer *placer, size_t source, bool leads);

/* Of all spans, once stand-ins and terms have their places. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_placer_place_spans(struct mt_placer *placer, struct mt_error *err);

#endif
