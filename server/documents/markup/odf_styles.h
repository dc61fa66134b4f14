/*
 * Facts about a part of OpenDocument that are needed before its texts are read: which character
 * styles look alike (programs create many equal ones while somebody types), where the part names
 * its language, and which cells formulas, filters and pivot tables refer to by their texts. Only
 * document_odf.c includes this.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DOCUMENTS_MARKUP_ODF_STYLES_H
#define MT_SERVER_DOCUMENTS_MARKUP_ODF_STYLES_H

#include "server/documents/markup/markup_reader.h"

/* Most character styles, and most of such texts, of a document; MT_LIMIT above. */
#define MT_ODF_MAX_NAMES 200000

struct mt_odf_style; /* odf_styles.c */

/* Has to be zero-initialised, except for the first three members. */
struct mt_odf {
    struct mt_document *document;
    const struct mt_markup *markup;
    const char *target;          /* normalised; NULL: unknown */
    struct mt_odf_style *styles; /* styles of the part, by their names */
    size_t n_styles, capacity;
    char **names; /* texts of the cells that formulas, filters and pivot tables refer to */
    size_t n_names, names_capacity;
    char **codes; /* styles of the part that a program derived from those for source code */
    size_t n_codes, codes_capacity;
    char language[MT_LANGUAGE_BYTES]; /* language that the document names */
    /* the properties that follow belong to a style; to a default style */
    bool is_in_style, is_in_default;
};

/* Reads these facts in a part, and adds the edits of its languages. */
MT_MUST_CHECK enum mt_status mt_odf_scan(struct mt_odf *odf, struct mt_range part,
                                         struct mt_error *err);

/* The look function of a mt_markup, whose context is the odf: it returns the same tag for all
 * styles of the same look, and an empty range for those that change nothing. */
struct mt_range mt_odf_look(void *context, const struct mt_markup_tag *tag);

/* Whether a style is meant for source code. Its name may be NULL. */
bool mt_odf_is_code(const struct mt_odf *odf, const char *style);

/* Whether a style makes superscripts or subscripts. Its name may be NULL. */
bool mt_odf_is_off_line(const struct mt_odf *odf, const char *style);

/* Marks the texts of cells that formulas, filters and pivot tables refer to as not to be
 * translated. */
void mt_odf_leave_names(struct mt_odf *odf);

/* The first frees the styles of a part, the second also the names of all parts. */
void mt_odf_finish_part(struct mt_odf *odf);
void mt_odf_finish(struct mt_odf *odf);

#endif
