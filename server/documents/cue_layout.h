/*
 * Lays a translation out over the cues and lines that its source had: a sentence that went on from
 * one cue to the next does so again.
 *
 *   source  I think that we  |  should go home / before it rains.
 *   target  Ich denke, wir   |  sollten nach Hause / gehen, bevor es regnet.
 *
 * Breaks are between words, where the share of the text before them is closest to the source's, and
 * rather behind a comma; so every cue keeps its share of the reader's time. What is the source
 * itself is broken where the source was.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_CUE_LAYOUT_H
#define MT_SERVER_DOCUMENTS_CUE_LAYOUT_H

#include "server/text/cue_tags.h"

/* What the screen has room for; subtitlers' guides say 37 to 42. */
#define MT_CUE_LINE_CHARS 42

/* The place of a text in one cue. */
struct mt_cue_slot {
    const size_t *line_chars; /* characters of the source's lines, tags not counted */
    size_t n_lines;           /* at least 1 */
    bool shares_cue;          /* with other texts: their lines leave no room for a further one */
};

struct mt_cue_layout {
    const char *text; /* the translation */
    size_t length;
    enum mt_cue_markup markup;
    const struct mt_cue_slot *slots;
    size_t n_slots;   /* at least 1 */
    size_t max_chars; /* of a line: a longer one becomes two, where a slot had but one */
};

/* Characters of a text that are seen. */
size_t mt_cue_chars(const char *text, size_t length, enum mt_cue_markup markup);

/*
 * Calls write for every line of every slot, in order; a slot that no word was left for gets none.
 * line counts from 0. bytes has tags that are open at the end of a slot closed there, and opened
 * again in the next. MT_MEMORY, or the text's status.
 */
typedef void mt_cue_layout_write(void *context, size_t slot, size_t line, const char *bytes,
                                 size_t length);
MT_MUST_CHECK enum mt_status mt_cue_layout(const struct mt_cue_layout *layout,
                                           mt_cue_layout_write *write, void *context,
                                           struct mt_error *err);

#endif
