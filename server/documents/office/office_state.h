/*
 * What is known of a document's paragraphs (office_paragraph.h). Only office_*.c use this.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_STATE_H
#define MT_SERVER_DOCUMENTS_OFFICE_STATE_H

#include "server/documents/office/office_paragraph.h"

/* What writing needs of all these is what mt_office_pack hands over. */
struct look {
    struct mt_text properties;
    size_t n_bytes, text; /* of words that look so, in the text of that number */
};

struct code {
    struct mt_text open, close;               /* a look's: nothing */
    struct mt_range verbatim, verbatim_close; /* in their place: bytes of the file */
    size_t look;                              /* of a pair: how words within it look; of a point */
    bool is_look, is_link;                    /* a look may be lost with its words, a link not */
};

struct text {
    size_t first, n;               /* codes */
    size_t n_before, n_after;      /* those that stay before and behind it, behind these */
    struct mt_text prefix, suffix; /* what stays before and behind it */
    size_t look;
    char element_prefix[MT_OFFICE_MAX_PREFIX + 1];
    mt_office_write_run *write_run;
    bool ends_run;       /* begins in a run that is open */
    struct mt_range run; /* ends in such a run, which begins so; empty: it does not */
    bool is_attribute;
    size_t max_chars; /* 0: no limit */
};

struct mt_office {
    const struct mt_office_format *format;
    struct look *looks;
    size_t n_looks, looks_capacity;
    size_t *table; /* hashed: numbers of looks + 1 */
    size_t n_table;
    struct code *codes;
    size_t n_codes, codes_capacity;
    struct text *texts;
    size_t n_texts, texts_capacity;
    struct mt_written_language target;
    bool has_target, names_language;
};

#endif
