/*
 * The glossaries that clients store in the server's database (database.h). Each has a name, an
 * owner and a dictionary for each pair of languages. Only its owner can find it.
 *
 * For translating, a dictionary's terms are prepared for searching. Those that were used last are
 * kept in memory, and prepared again if another process or replica has changed the dictionary.
 *
 * Thread-safety: safe, except for create and destroy.
 */
#ifndef MT_SERVER_DATA_GLOSSARIES_H
#define MT_SERVER_DATA_GLOSSARIES_H

#include "base/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_database;
struct mt_glossaries;
struct mt_terms;

/* A UUID, which identifies a glossary. */
#define MT_GLOSSARY_ID_BYTES MT_UUID_BYTES
/* Most bytes of a name. */
#define MT_MAX_GLOSSARY_NAME_BYTES 1024

/* Most memory of all prepared dictionaries: those that translations are using and, as far as there
 * is room, those that were used before. A dictionary of 10 MiB takes 20 to 150. */
#define MT_MAX_READY_BYTES ((size_t)256 << 20)

struct mt_glossary_limits {
    size_t max_glossaries; /* for one owner */
    size_t max_bytes;      /* for the entries of one glossary */
};

/* The database is borrowed. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_glossaries_create(struct mt_database *database,
                                                  const struct mt_glossary_limits *limits,
                                                  struct mt_glossaries **out, struct mt_error *err);
/* NULL is allowed. */
void mt_glossaries_destroy(struct mt_glossaries *glossaries);

/* All functions below return MT_NOT_FOUND where the owner has no such glossary or dictionary,
 * MT_LIMIT over the limits, and errors of the database. Languages are codes from
 * mt_language_normalise. */

struct mt_dictionary {
    const char *source, *target;
    const struct mt_terms *terms;
};

/* How mt_glossaries_change treats the given dictionaries. */
enum mt_dictionary_change {
    MT_DICTIONARY_MERGE,   /* entries are added, and replace those with the same source */
    MT_DICTIONARY_REPLACE, /* the dictionary is replaced by this one */
};

/* Adds a glossary, whose id is written to id. The second of two dictionaries for the same languages
 * is merged into the first. */
MT_MUST_CHECK enum mt_status mt_glossaries_add(struct mt_glossaries *glossaries, const char *owner,
                                               const char *name,
                                               const struct mt_dictionary *dictionaries, size_t n,
                                               char id[MT_GLOSSARY_ID_BYTES], struct mt_error *err);

/* name NULL: the name stays. */
MT_MUST_CHECK enum mt_status
mt_glossaries_change(struct mt_glossaries *glossaries, const char *owner, const char *id,
                     const char *name, const struct mt_dictionary *dictionaries, size_t n,
                     enum mt_dictionary_change change, struct mt_error *err);

/* Removes the glossary if source is NULL, otherwise its dictionary for these languages. */
MT_MUST_CHECK enum mt_status mt_glossaries_remove(struct mt_glossaries *glossaries,
                                                  const char *owner, const char *id,
                                                  const char *source, const char *target,
                                                  struct mt_error *err);

/* A dictionary of a glossary, or a glossary without one, where source and target are NULL. Borrowed
 * until the function that gets it returns. */
struct mt_glossary_row {
    const char *id, *name;
    int64_t created_ms; /* since 1970, UTC */
    const char *source, *target;
    size_t n_entries, n_bytes;
    const char *entries; /* tab-separated values; NULL where they were not requested */
};

struct mt_glossary_question {
    const char *owner;
    const char *id; /* NULL: all glossaries of the owner */
    /* NULL: all dictionaries; otherwise this one, which has to exist */
    const char *source, *target;
    bool wants_entries;
    bool has_one; /* only glossaries with a single dictionary are returned */
};

/* Visits glossaries in the order of their creation, and the dictionaries of each one after the
 * other. With an id there is at least one row, or MT_NOT_FOUND. */
typedef enum mt_status mt_glossary_visit(void *context, const struct mt_glossary_row *row,
                                         struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_glossaries_visit(struct mt_glossaries *glossaries,
                                                 const struct mt_glossary_question *question,
                                                 mt_glossary_visit *visit, void *context,
                                                 struct mt_error *err);

/* Returns the terms of a dictionary, which the caller destroys. MT_BUSY: the terms of current
 * translations leave no room. */
MT_MUST_CHECK enum mt_status mt_glossaries_terms(struct mt_glossaries *glossaries,
                                                 const char *owner, const char *id,
                                                 const char *source, const char *target,
                                                 struct mt_terms **out, struct mt_error *err);

#endif
