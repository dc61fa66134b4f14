/*
 * Translation memories: people's translations, stored in the database (database.h) and used when
 * the same text comes again. A memory has a name, an owner, a source language, and units, each of
 * which is a text with its translation into one language. Two kinds of matches are found:
 *
 *   exact     a unit has the same words and codes, with any blanks between them; it is better if
 *             the text before it is the same, too
 *   similar   a unit has at least MT_LEAST_SIMILARITY percent of the words (memory_words.h)
 *
 * Only its owner can find a memory. Texts are numbered ones (numbered.h).
 *
 * Thread-safety: safe, except for create and destroy.
 */
#ifndef MT_SERVER_DATA_TRANSLATION_MEMORY_H
#define MT_SERVER_DATA_TRANSLATION_MEMORY_H

#include "base/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_database;
struct mt_memories;
struct mt_text;

/* A UUID, which identifies a memory. */
#define MT_MEMORY_ID_BYTES MT_UUID_BYTES
/* Most bytes of a name, of an origin, and of the text or translation of a unit. */
#define MT_MAX_MEMORY_NAME_BYTES 1024
#define MT_MAX_ORIGIN_BYTES 256
#define MT_MAX_UNIT_BYTES 65536

struct mt_memory_limits {
    size_t max_memories; /* for one owner */
    size_t max_units;    /* for one memory */
};

/* The database is borrowed. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_memories_create(struct mt_database *database,
                                                const struct mt_memory_limits *limits,
                                                struct mt_memories **out, struct mt_error *err);
/* NULL is allowed. */
void mt_memories_destroy(struct mt_memories *memories);

/* All functions below return MT_NOT_FOUND where the owner has no such memory, MT_LIMIT over the
 * limits, and errors of the database. Languages are codes from mt_language_without_region. */

struct mt_memory_unit {
    const char *source, *target;
    const char *target_lang;
    const char *context; /* the text before it; "": unknown */
    const char *origin;  /* author or source; "": unknown */
    int64_t changed_ms;  /* since 1970, UTC; 0: now */
};

/* Adds a memory with n units, perhaps 0. Its id is written to id. */
MT_MUST_CHECK enum mt_status mt_memories_add(struct mt_memories *memories, const char *owner,
                                             const char *name, const char *source,
                                             const struct mt_memory_unit *units, size_t n,
                                             char id[MT_MEMORY_ID_BYTES], struct mt_error *err);

/* Finds the owner's memory of that name for texts in a language, or creates it. */
MT_MUST_CHECK enum mt_status
mt_memories_find_or_add(struct mt_memories *memories, const char *owner, const char *name,
                        const char *source, char id[MT_MEMORY_ID_BYTES], struct mt_error *err);

MT_MUST_CHECK enum mt_status mt_memories_remove(struct mt_memories *memories, const char *owner,
                                                const char *id, struct mt_error *err);

/* Adds all of the units to a memory, or none. If a unit with the same context and translation
 * exists, then it only gets this one's time and origin. */
MT_MUST_CHECK enum mt_status mt_memories_put(struct mt_memories *memories, const char *owner,
                                             const char *id, const struct mt_memory_unit *units,
                                             size_t n, struct mt_error *err);

/* Borrowed until the function that gets it returns. */
struct mt_memory_row {
    const char *id, *name, *source;
    int64_t created_ms;
    const char *target; /* NULL: the memory is empty */
    size_t n_units;     /* units with this target language */
};

/* Visits memories in the order of their creation, with a row for each target language. id NULL: all
 * memories of the owner; otherwise there is at least one row, or MT_NOT_FOUND. */
typedef enum mt_status mt_memory_visit(void *context, const struct mt_memory_row *row,
                                       struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_memories_visit(struct mt_memories *memories, const char *owner,
                                               const char *id, mt_memory_visit *visit,
                                               void *context, struct mt_error *err);

/* Visits the units of a memory, in the order in which they were added. */
typedef enum mt_status mt_memory_unit_visit(void *context, const struct mt_memory_unit *unit,
                                            struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_memories_visit_units(struct mt_memories *memories,
                                                     const char *owner, const char *id,
                                                     mt_memory_unit_visit *visit, void *context,
                                                     struct mt_error *err);

/* ---- searching ---- */

struct mt_memory_question {
    const char *owner;
    const char *id; /* NULL: all memories of the owner */
    const char *source, *target;
};

/* Whether there are any units for the question. With an id, MT_NOT_FOUND where there is no such
 * memory. */
MT_MUST_CHECK enum mt_status mt_memories_have(struct mt_memories *memories,
                                              const struct mt_memory_question *question, bool *out,
                                              struct mt_error *err);

#define MT_CONTEXT_MATCH 101 /* the same text after the same text */
#define MT_EXACT_MATCH 100

struct mt_memory_match {
    int percent;
    const char *source, *target, *origin; /* borrowed during the call */
};
typedef enum mt_status mt_memory_take(void *context, const struct mt_memory_match *match,
                                      struct mt_error *err);

/* Calls take with the best exact match, the newest one of several, or not at all. context: the text
 * before it, or "". */
MT_MUST_CHECK enum mt_status mt_memories_find(struct mt_memories *memories,
                                              const struct mt_memory_question *question,
                                              const char *text, const char *context,
                                              mt_memory_take *take, void *take_context,
                                              struct mt_error *err);

/* Calls take with the n most similar units at most, the best first, which have a similarity of at
 * least `least` percent and are no exact matches. reader: memory_words.h. */
struct mt_word_reader;
MT_MUST_CHECK enum mt_status
mt_memories_find_similar(struct mt_memories *memories, const struct mt_memory_question *question,
                         struct mt_word_reader *reader, const char *text, int least, size_t n,
                         mt_memory_take *take, void *take_context, struct mt_error *err);

#endif
