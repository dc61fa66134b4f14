/*
 * Lays a translation out over the cues and lines of its source: a sentence that went on from one
 * cue to the next does so again.
 *
 *   source  I think that we  |  should go home / before it rains.
 *   target  Ich denke, wir   |  sollten nach Hause / gehen, bevor es regnet.
 *
 * Breaks are between words, where the share of the text before them is closest to the source's, and
 * preferably behind a comma. So every cue keeps its share of the time for reading. A text that
 * equals its source is broken where the source was.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_CUE_LAYOUT_H
#define MT_SERVER_DOCUMENTS_CUE_LAYOUT_H

#include "server/text/cue_tags.h"

/* Most characters of a line. Guides for subtitlers say 37 to 42. */
#define MT_CUE_LINE_CHARS 42

/* The part of one cue that a text takes. */
struct mt_cue_slot {
    const size_t *line_chars; /* characters of each source line, without tags */
    size_t n_lines;           /* at least 1 */
    /* other texts are in the same cue, so that there is no room for a further line */
    bool shares_cue;
};

struct mt_cue_layout {
    const char *text; /* the translation */
    size_t length;
    enum mt_cue_markup markup;
    const struct mt_cue_slot *slots;
    size_t n_slots; /* at least 1 */
    /* most characters of a line; a longer one becomes two, where a slot has only one */
    size_t max_chars;
};

/* Counts the visible characters of a text. */
size_t mt_cue_chars(const char *text, size_t length, enum mt_cue_markup markup);

/*
 * Calls write for every line of every slot, in order. A slot that gets no words has no lines. line
 * counts from 0. In bytes, tags that are open at the end of a slot are closed there, and opened
 * again in the next one. MT_MEMORY, or the text's status.
 */
typedef void mt_cue_layout_write(void *context, size_t slot, size_t line, const char *bytes,
                                 size_t length);
MT_MUST_CHECK enum mt_status mt_cue_layout(const struct mt_cue_layout *layout,
                                           mt_cue_layout_write *write, void *context,
                                           struct mt_error *err);

#endif
