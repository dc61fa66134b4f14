/*
 * TMX, in which tools of translators exchange translation memories (TMX 1.4b, LISA OSCAR 2005):
 *
 *   <tu><prop type="x-context-pre">Hello!</prop>
 *     <tuv xml:lang="en" changedate="20261128T120000Z"><seg>Press <bpt i="1"/>OK<ept i="1"/>.</seg></tuv>
 *     <tuv xml:lang="de"><seg>Drücken Sie <bpt i="1"/>OK<ept i="1"/>.</seg></tuv></tu>
 *
 * Translating such a file is the task of document_units.c. Codes are numbered here (numbered.h),
 * because the content of bpt, ept, ph and the like belongs to another program.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_TMX_H
#define MT_SERVER_DOCUMENTS_TMX_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct mt_text;

/* A text and one translation of it. Borrowed until the function that gets it returns. */
struct mt_tmx_unit {
    const char *source, *target;           /* numbered.h */
    const char *source_lang, *target_lang; /* as the file writes them: "en-US" */
    const char *context;                   /* the text before it; "" */
    const char *origin;                    /* who wrote or changed it; "": unknown */
    int64_t changed_ms;                    /* since 1970, UTC; 0: unknown */
};

typedef enum mt_status mt_tmx_visit(void *context, const struct mt_tmx_unit *unit,
                                    struct mt_error *err);

/* Calls visit for every translation of texts in a language. Its region does not count, and ""
 * stands for the file's own language (srclang). *n_left gets the number of units without such a
 * text, without a translation, or with codes that cannot be numbered. MT_FORMAT, with the line: it
 * is not TMX; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_tmx_read(const char *bytes, size_t length, const char *source_lang,
                                         mt_tmx_visit *visit, void *context, size_t *n_left,
                                         struct mt_error *err);

/* Append a file: first begin, then append for each unit, then end. out tells of a failure. */
void mt_tmx_begin(struct mt_text *out, const char *source_lang);
void mt_tmx_append(struct mt_text *out, const struct mt_tmx_unit *unit);
void mt_tmx_end(struct mt_text *out);

#endif
