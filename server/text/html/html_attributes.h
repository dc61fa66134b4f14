/*
 * Attributes of HTML whose values a reader meets as words, and those of <html> that say in which
 * language the page is.
 *
 *   title, aria-label         of any element
 *   alt                       of <img>, <area>, <input>
 *   placeholder               of <input>, <textarea>
 *   value                     of <input type="submit">, "button" and "reset"
 *   label                     of <option>, <optgroup>, <track>
 *   content                   of <meta name="description">, property="og:title", "og:description"
 *
 * What says translate="no" is passed over with all that is in it, and so is what is in scripts,
 * code and the like (html_reader.h).
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_HTML_ATTRIBUTES_H
#define MT_SERVER_TEXT_HTML_ATTRIBUTES_H

#include "server/text/splitter.h"

struct mt_html_attributes {
    struct mt_range *values; /* of the source, without their quotes; ascending */
    size_t n, capacity;
    struct mt_range lang, dir; /* the same, of <html>; empty: it has none, or an empty one */
    size_t lang_end;           /* behind lang and its quote */
};

/* Zero-initialise; the caller finishes it on failure too. MT_LIMIT: the limits of html_reader.h, or
 * more than max values; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_html_find_attributes(const char *source, size_t length, size_t max,
                                                     struct mt_html_attributes *out,
                                                     struct mt_error *err);
void mt_html_attributes_finish(struct mt_html_attributes *attributes);

#endif
