/*
 * Attributes of HTML whose values are words for a reader of the page, and those of <html> that tell
 * the page's language.
 *
 *   title, aria-label         of any element; aria-label of SVG's and MathML's, too
 *   alt                       of <img>, <area>, <input>
 *   placeholder               of <input>, <textarea>
 *   value                     of <input type="submit">, "button" and "reset"
 *   label                     of <option>, <optgroup>, <track>
 *   content                   of <meta> whose name or property is "description", "og:title",
 *                             "twitter:description" and the like
 *
 * Elements with translate="no" are left out with everything in them, and so are scripts, code and
 * other elements that are left alone (html_reader.h).
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_HTML_ATTRIBUTES_H
#define MT_SERVER_TEXT_HTML_ATTRIBUTES_H

#include "server/text/splitter.h"

struct mt_html_attributes {
    struct mt_range *values; /* positions in the source, without the quotes, ascending */
    size_t n, capacity;
    struct mt_range lang, dir; /* the same for <html>; empty: it has none, or an empty one */
    size_t lang_end;           /* position behind lang and its quote */
};

/* *out has to be zero-initialised; the caller finishes it after a failure, too. MT_LIMIT: the
 * limits of html_reader.h, or more than max values; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_html_find_attributes(const char *source, size_t length, size_t max,
                                                     struct mt_html_attributes *out,
                                                     struct mt_error *err);
void mt_html_attributes_finish(struct mt_html_attributes *attributes);

#endif
