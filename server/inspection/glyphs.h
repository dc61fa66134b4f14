/*
 * Draws letters as grey dots with FreeType, for the labels of PNG pictures. Fonts are the
 * machine's; a letter is taken from the first font that has it. There is no shaping: scripts whose
 * letters join (Arabic, Devanagari) are drawn letter by letter.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_INSPECTION_GLYPHS_H
#define MT_SERVER_INSPECTION_GLYPHS_H

#include "base/status.h"

#include <stdbool.h>

struct mt_glyphs;

/* MT_UNSUPPORTED where there is no font, with the paths that were tried; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_glyphs_create(int font_pixels, struct mt_glyphs **out,
                                              struct mt_error *err);

/* NULL is allowed. */
void mt_glyphs_destroy(struct mt_glyphs *glyphs);

/* Returns the width of well-formed UTF-8 in pixels. */
int mt_glyphs_width(struct mt_glyphs *glyphs, const char *text);

/* Calls dots for each letter: rows of n_columns coverage values, 0 to 255, pitch bytes apart, with
 * the upper left corner at (x, y). The text's baseline begins at (x, y), and rises by 45 degrees if
 * is_tilted. */
typedef void mt_glyph_dots(void *context, int x, int y, int n_columns, int n_rows,
                           const unsigned char *dots, int pitch);
void mt_glyphs_draw(struct mt_glyphs *glyphs, int x, int y, bool is_tilted, const char *text,
                    mt_glyph_dots *dots, void *context);

/* Whether FreeType lacked memory, so that letters may be missing or look different. */
bool mt_glyphs_have_run_out(const struct mt_glyphs *glyphs);

#endif
