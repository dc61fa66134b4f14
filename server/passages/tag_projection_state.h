/*
 * What the files share that find the places of tags: tag_projection.c for substitutes, terms,
 * points and breaks, tag_projection_spans.c for spans.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PASSAGES_TAG_PROJECTION_STATE_H
#define MT_SERVER_PASSAGES_TAG_PROJECTION_STATE_H

#include "server/passages/tag_projection.h"

/* A word of the target and the source word that it mostly came from. */
struct mt_linked_word {
    size_t begin, end;
    size_t source_begin, source_end;
    float score;   /* how much of it came from that word */
    bool is_taken; /* by a span or substitute of the parent that is being worked on */
    /* children of that parent that hold the source word, once they are counted */
    size_t n_children;
};

/* A run of words [first, end) of the projector's, and what it is worth. */
struct mt_word_run {
    size_t first, end;
    double worth;
};

struct mt_tag_projector {
    const struct mt_tag_projection_input *input;
    struct mt_linked_word *units; /* by begin */
    size_t n;
    bool is_counted; /* n_children of the units is set */
    struct mt_tag_projection *out;
};

/* Whether the word came from the source's [begin, end). */
bool mt_linked_word_came_from(const struct mt_linked_word *unit, size_t begin, size_t end);

/* Returns the sentence that holds a position of the source; for one between two sentences it is the
 * earlier. */
size_t mt_sentence_of(const struct mt_tag_projection_input *input, size_t at);

/* Returns where a point at `source` belongs. If it leads, it belongs to the word behind it. */
size_t mt_project_point(const struct mt_tag_projector *projector, size_t source, bool leads);

/* Places all spans, after substitutes and terms. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_project_spans(struct mt_tag_projector *projector,
                                              struct mt_error *err);

#endif
