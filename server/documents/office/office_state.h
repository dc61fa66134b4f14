/*
 * What an office knows of a document's paragraphs (office_paragraph.h). Only office_*.c include
 * this.
 */
#ifndef MT_SERVER_DOCUMENTS_OFFICE_STATE_H
#define MT_SERVER_DOCUMENTS_OFFICE_STATE_H

#include "server/documents/office/office_paragraph.h"

/* mt_office_pack hands over the members of these structs that writing needs. */
struct look {
    struct mt_text properties;
    size_t n_bytes, text; /* how many bytes of words have this look in the text of that number */
};

struct code {
    struct mt_text open, close;               /* empty for a look */
    struct mt_range verbatim, verbatim_close; /* bytes of the file that are written instead */
    /* of a pair: the look of words within it; of a point: its own */
    size_t look;
    /* of an element, where tags make a look: the look around it, whose tags are around its own */
    bool has_outer;
    size_t outer;
    /* a look may be lost together with its words, a link may not */
    bool is_look, is_link;
};

struct text {
    size_t first, n; /* range of codes */
    /* further codes that stay before and behind the text; they follow the first n */
    size_t n_before, n_after;
    struct mt_text prefix, suffix; /* what is written before and behind it */
    size_t look;
    char element_prefix[MT_OFFICE_MAX_PREFIX + 1];
    mt_office_write_run *write_run;
    bool ends_run; /* begins in a run that is open, which is ended first */
    /* the beginning of the run in which the text ends, and which is opened again; empty: none */
    struct mt_range run;
    bool is_attribute;
    size_t max_chars;     /* 0: no limit */
    struct mt_range drop; /* of the first token (office_paragraph.h) */
    size_t drop_look;
};

struct mt_office {
    const struct mt_office_format *format;
    struct look *looks;
    size_t n_looks, looks_capacity;
    size_t *table; /* hash table of numbers of looks + 1 */
    size_t n_table;
    struct code *codes;
    size_t n_codes, codes_capacity;
    struct text *texts;
    size_t n_texts, texts_capacity;
    struct mt_written_language target;
    bool has_target, names_language;
};

/* Returns how many bytes the whole tags have with which both begin. */
size_t mt_office_common_tags(const char *a, size_t n_a, const char *b, size_t n_b);

#endif
