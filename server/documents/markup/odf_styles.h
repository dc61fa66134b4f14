/*
 * What is to be known of a part of OpenDocument before its texts are read: which character styles look
 * alike, which a program makes anew whenever somebody types; where the part names its language; and by
 * which texts formulas, filters and pivot tables know cells. Only document_odf.c uses this.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DOCUMENTS_MARKUP_ODF_STYLES_H
#define MT_SERVER_DOCUMENTS_MARKUP_ODF_STYLES_H

#include "server/documents/markup/markup_reader.h"

/* Character styles, and such texts, of a document: MT_LIMIT above. */
#define MT_ODF_MAX_NAMES 200000

struct mt_odf_style; /* odf_styles.c */

/* Zero-initialise but for the first three. */
struct mt_odf {
    struct mt_document *document;
    const struct mt_markup *markup;
    const char *target;          /* normalised; NULL: not known */
    struct mt_odf_style *styles; /* of the part, by their names */
    size_t n_styles, capacity;
    char **names; /* of cells in formulas, filters and pivot tables, as texts have them */
    size_t n_names, names_capacity;
    char **codes; /* of the part: styles that a program made of those for code */
    size_t n_codes, codes_capacity;
    char language[MT_LANGUAGE_BYTES]; /* that the document says it is in */
    bool is_in_style, is_in_default;  /* properties that come are a style's */
};

/* Takes what the part says, and the edits of its languages. */
MT_MUST_CHECK enum mt_status mt_odf_scan(struct mt_odf *odf, struct mt_range part,
                                         struct mt_error *err);

/* The look of a mt_markup, whose context is the odf: the same tag for all styles of equal looks, and none
 * for those that change nothing. */
struct mt_range mt_odf_look(void *context, const struct mt_markup_tag *tag);

/* Whether a style, by its name (which may be NULL), is for code. */
bool mt_odf_is_code(const struct mt_odf *odf, const char *style);

/* Whether a style, by its name (which may be NULL), sets words above or below the line. */
bool mt_odf_is_off_line(const struct mt_odf *odf, const char *style);

/* Leaves the texts by which formulas, filters and pivot tables know cells. */
void mt_odf_leave_names(struct mt_odf *odf);

/* mt_odf_finish_part frees the styles of a part, mt_odf_finish the names of all parts, too. */
void mt_odf_finish_part(struct mt_odf *odf);
void mt_odf_finish(struct mt_odf *odf);

#endif
