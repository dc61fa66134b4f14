/*
 * The table of the fields that requests may have: server/http/fields.json, a row for each. The
 * build (server/http/fields_table.py) makes three things from it: the rows below, with which
 * requests are read; the schemas of requests in the API's description; and the table in
 * docs/api.md.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_HTTP_FIELDS_H
#define MT_SERVER_HTTP_FIELDS_H

#include "server/http/params.h"

struct mt_settings;

/* Routes; several are or'ed. */
enum mt_fields_of {
    MT_FIELDS_OF_TRANSLATE = 1,
    MT_FIELDS_OF_ATTENTION = 2,
    MT_FIELDS_OF_FILE = 4,
    MT_FIELDS_OF_DETECT = 8,
    MT_FIELDS_OF_SUGGEST = 16,
    MT_FIELDS_OF_POSITIONS = 32,
    MT_FIELDS_OF_DEEPL = 64,
    MT_FIELDS_OF_DEEPL_LANGUAGES = 128,
    MT_FIELDS_OF_ALIGNMENT = 256, /* members of /attention's field "alignment" */
    MT_FIELDS_OF_DOCUMENT = 512,
    MT_FIELDS_OF_DOCUMENT_STATUS = 1024,
    MT_FIELDS_OF_GLOSSARY = 2048,     /* what a glossary of /v2/glossaries is made of */
    MT_FIELDS_OF_GLOSSARIES = 4096,   /* what a glossary of /v3/glossaries is made of */
    MT_FIELDS_OF_DICTIONARY = 8192,   /* what one of its dictionaries becomes */
    MT_FIELDS_OF_MEMORY = 16384,      /* what a memory of /v3/translation_memories is made of */
    MT_FIELDS_OF_MEMORIES = 32768,    /* how memories are listed */
    MT_FIELDS_OF_MEMORY_FILE = 65536, /* what is added to a memory */
};

/* The values of a request's fields by their names, except fields that other code reads
 * (MT_FIELD_OWN). Fields of other routes are zero. A field that is absent and has no default is ""
 * or -1. */
struct mt_fields {
    bool alignment, memory, outline_detection, post_edit, repair_numbers, return_scores,
        return_sentences, return_usage, retranslate, search, show_billed_characters, stream;
    int64_t logit_lens, n, next_tokens, page, page_size, precision, sentence,
        translation_memory_threshold;
    double length_penalty;
    const char *document_key, *encoding, *entries, *entries_format, *filename, *formality, *format,
        *glossary_id, *layout, *name, *output_format, *reduce, *shortlist, *source, *source_lang,
        *split_sentences, *stream_mode, *tag_handling, *target, *target_lang, *target_prefix,
        *target_text, *target_vocabulary, *translation_memory_id, *type;
};

enum mt_field_type {
    MT_FIELD_OWN, /* read by other code */
    MT_FIELD_BOOLEAN,
    MT_FIELD_INTEGER,
    MT_FIELD_NUMBER,
    MT_FIELD_STRING,
    MT_FIELD_CHOICE, /* a string, one of choices */
};

#define MT_FIELD_MAX_CHOICES 3

struct mt_field {
    const char *name;
    enum mt_field_type type;
    unsigned routes;                               /* enum mt_fields_of or'ed */
    bool repeats;                                  /* a form may have it several times */
    bool has_setting;                              /* where the field is absent, a setting counts */
    size_t setting;                                /* the setting's offset in struct mt_settings */
    size_t offset;                                 /* the value's offset in struct mt_fields */
    double low, high;                              /* INTEGER, NUMBER */
    const char *choices[MT_FIELD_MAX_CHOICES + 1]; /* CHOICE: ends with NULL */
    double default_number;                         /* BOOLEAN, INTEGER, NUMBER */
    const char *flag, *flag_value, *flag_doc; /* a verb's flag (server/commands/cli.h), or NULL */
    const char *default_string;               /* STRING, CHOICE */
};

extern const struct mt_field mt_field_rows[];
extern const size_t mt_n_field_rows;

/* Reads the fields that the table has for that route. Strings belong to the request or the
 * settings. MT_INVALID names field, value and expectation. */
MT_MUST_CHECK enum mt_status mt_fields_read(const struct mt_params *params, enum mt_fields_of route,
                                            const struct mt_settings *settings,
                                            struct mt_fields *out, struct mt_error *err);

/* MT_INVALID where object, which may be NULL, has a field that the route does not have; the message
 * calls the route by path, and suggests the name that was probably meant. */
MT_MUST_CHECK enum mt_status mt_fields_check_names(const struct cJSON *object,
                                                   enum mt_fields_of route, const char *path,
                                                   struct mt_error *err);

/* Returns the row of that name for that route; there must be one. */
const struct mt_field *mt_field_find(enum mt_fields_of route, const char *name);

/* Whether a form may have that field several times; in JSON such a field is an array. */
bool mt_field_may_repeat(const char *name);

#endif
