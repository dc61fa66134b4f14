/*
 * HTML, parsed as browsers do (gumbo, HTML5), taken apart into what is translated and what stays:
 *
 *   <p title="x">A <b>red</b> house</p><pre>code</pre>
 *   |-----------|                  |-----------------|
 *      verbatim    segment: marked       verbatim
 *
 * A segment is what a reader takes for one text: a block's run of words and inline elements, its
 * blanks collapsed as browsers do. Tags, attributes, comments, scripts, styles, <pre>, <code> and
 * the like, and what says translate="no", are written as they were. So are entities: a character
 * that its source wrote as one is written so in the translation too. Broken markup is repaired, in
 * memory that is limited: what is written is well-formed, and a fragment stays one.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_TEXT_MARKUP_H
#define MT_SERVER_TEXT_MARKUP_H

#include "server/text/html/html_reader.h"
#include "server/text/marked.h"

struct mt_markup;
struct mt_stand_ins;
struct mt_terms;

struct mt_markup_options {
    struct mt_stand_ins *stand_ins;  /* for <code> and placeholders; borrowed during parse */
    bool protects;                   /* placeholders too (protect.h) */
    struct mt_terms *terms;          /* and these; NULL: none; borrowed during parse */
    size_t max_tags;                 /* MT_LIMIT above */
    const char *const *ignored_tags; /* elements that are left alone besides; in any case */
    size_t n_ignored_tags;
};

/* html is well-formed UTF-8, ends in NUL and is not needed any more afterwards. MT_LIMIT,
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_markup_parse(const char *html, size_t length,
                                             const struct mt_markup_options *options,
                                             struct mt_markup **out, struct mt_error *err);
/* Takes NULL. */
void mt_markup_destroy(struct mt_markup *markup);

size_t mt_markup_n_segments(const struct mt_markup *markup);
/* Borrowed. Its strings are HTML. */
const struct mt_marked *mt_markup_segment(const struct mt_markup *markup, size_t index);

/* Appends what stands before a segment, or behind the last one (index n_segments). */
void mt_markup_write_verbatim(const struct mt_markup *markup, size_t index, struct mt_text *out);

/* How the text of a segment's translation is written: a mt_placement_write. */
struct mt_markup_text {
    const struct mt_markup *markup;
    size_t segment;
};
void mt_markup_write_text(const void *markup_text, const char *bytes, size_t length,
                          struct mt_text *out);

#endif
