/*
 * TMX, in which translators' tools exchange translation memories (TMX 1.4b, LISA OSCAR 2005):
 *
 *   <tu><prop type="x-context-pre">Hello!</prop>
 *     <tuv xml:lang="en" changedate="20261128T120000Z"><seg>Press <bpt i="1"/>OK<ept i="1"/>.</seg></tuv>
 *     <tuv xml:lang="de"><seg>Drücken Sie <bpt i="1"/>OK<ept i="1"/>.</seg></tuv></tu>
 *
 * (What is to be translated in such a file is another thing: document_units.c.) Codes are numbered
 * (numbered.h): what stands within bpt, ept, ph and the like is another program's.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_TMX_H
#define MT_SERVER_DOCUMENTS_TMX_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct mt_text;

/* A text and one translation of it. Borrowed until the function it is given to returns. */
struct mt_tmx_unit {
    const char *source, *target;           /* numbered */
    const char *source_lang, *target_lang; /* as the file writes them: "en-US" */
    const char *context;                   /* the text before it; "" */
    const char *origin;                    /* who wrote or changed it; "" */
    int64_t changed_ms;                    /* since 1970, UTC; 0: not known */
};

typedef enum mt_status mt_tmx_visit(void *context, const struct mt_tmx_unit *unit,
                                    struct mt_error *err);

/* Calls visit for every translation of texts in a language, whose region does not count: "" is the
 * file's own (srclang). *n_left becomes the number of units that have no such text, no other one, or
 * codes that cannot be numbered. MT_FORMAT: no TMX, with the line; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_tmx_read(const char *bytes, size_t length, const char *source_lang,
                                         mt_tmx_visit *visit, void *context, size_t *n_left,
                                         struct mt_error *err);

/* Appends a file: begin, a unit each, end. out tells of a failure. */
void mt_tmx_begin(struct mt_text *out, const char *source_lang);
void mt_tmx_append(struct mt_text *out, const struct mt_tmx_unit *unit);
void mt_tmx_end(struct mt_text *out);

#endif
