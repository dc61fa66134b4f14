/*
 * The glossaries that clients leave with the server, in its database (database.h). Each has a name,
 * an owner and a dictionary for each pair of languages; nobody but its owner finds it.
 *
 * What translates with a dictionary gets its terms ready to be searched: those of the last ones are
 * kept in memory, and made anew when another process or replica has changed them.
 *
 * Thread-safety: safe, but for create and destroy.
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

/* A UUID: whoever owns a glossary asks for it by this. */
#define MT_GLOSSARY_ID_BYTES MT_UUID_BYTES
/* Longest name, in bytes. */
#define MT_MAX_GLOSSARY_NAME_BYTES 1024

/* Memory of all dictionaries that are ready to be searched: those that are translated with, and, as
 * far as there is room, those that were. One of 10 MiB takes 20 to 150. */
#define MT_MAX_READY_BYTES ((size_t)256 << 20)

struct mt_glossary_limits {
    size_t max_glossaries; /* of one owner */
    size_t max_bytes;      /* of the entries of one glossary */
};

/* The database is borrowed. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_glossaries_create(struct mt_database *database,
                                                  const struct mt_glossary_limits *limits,
                                                  struct mt_glossaries **out, struct mt_error *err);
/* Takes NULL. */
void mt_glossaries_destroy(struct mt_glossaries *glossaries);

/* All functions below return MT_NOT_FOUND where the owner has no such glossary or dictionary,
 * MT_LIMIT over the limits, and errors of the database. Languages are codes as
 * mt_language_normalise makes them. */

struct mt_dictionary {
    const char *source, *target;
    const struct mt_terms *terms;
};

/* What to do with a glossary's dictionaries. */
enum mt_dictionary_change {
    MT_DICTIONARY_MERGE,   /* entries are added; one whose source is there takes its place */
    MT_DICTIONARY_REPLACE, /* the dictionary is this */
};

/* id becomes that of the new glossary. Of two dictionaries for the same languages the second is
 * merged into the first. */
MT_MUST_CHECK enum mt_status mt_glossaries_add(struct mt_glossaries *glossaries, const char *owner,
                                               const char *name,
                                               const struct mt_dictionary *dictionaries, size_t n,
                                               char id[MT_GLOSSARY_ID_BYTES], struct mt_error *err);

/* name NULL: stays. */
MT_MUST_CHECK enum mt_status
mt_glossaries_change(struct mt_glossaries *glossaries, const char *owner, const char *id,
                     const char *name, const struct mt_dictionary *dictionaries, size_t n,
                     enum mt_dictionary_change change, struct mt_error *err);

/* With source NULL the glossary, else its dictionary for these languages. */
MT_MUST_CHECK enum mt_status mt_glossaries_remove(struct mt_glossaries *glossaries,
                                                  const char *owner, const char *id,
                                                  const char *source, const char *target,
                                                  struct mt_error *err);

/* A dictionary of a glossary, or a glossary without one: source and target are NULL then. Borrowed,
 * until the function it is given to returns. */
struct mt_glossary_row {
    const char *id, *name;
    int64_t created_ms; /* since 1970, UTC */
    const char *source, *target;
    size_t n_entries, n_bytes;
    const char *entries; /* tab-separated values; NULL where they were not asked for */
};

struct mt_glossary_question {
    const char *owner;
    const char *id;              /* NULL: all of the owner's */
    const char *source, *target; /* NULL: all dictionaries; else there must be that one */
    bool wants_entries;
    bool has_one; /* only glossaries of one dictionary are looked for */
};

/* Glossaries in the order they were made, the dictionaries of one after the other. With an id there
 * is at least one row, or MT_NOT_FOUND. */
typedef enum mt_status mt_glossary_visit(void *context, const struct mt_glossary_row *row,
                                         struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_glossaries_visit(struct mt_glossaries *glossaries,
                                                 const struct mt_glossary_question *question,
                                                 mt_glossary_visit *visit, void *context,
                                                 struct mt_error *err);

/* The terms of a dictionary, for the caller to destroy. MT_BUSY: those that others translate with
 * leave no room. */
MT_MUST_CHECK enum mt_status mt_glossaries_terms(struct mt_glossaries *glossaries,
                                                 const char *owner, const char *id,
                                                 const char *source, const char *target,
                                                 struct mt_terms **out, struct mt_error *err);

#endif
