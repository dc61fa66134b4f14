/*
 * Translation memories: what people have translated, kept in the database (database.h) until it is
 * to be translated again. A memory has a name, an owner, a source language, and units, each of them
 * a text and its translation into one language.
 *
 *   exact     a unit has the same words and codes, whatever blanks are between them; better where
 *             the text before it is the same, too
 *   similar   a unit has at least MT_LEAST_SIMILARITY percent of the words (memory_words.h)
 *
 * Nobody but its owner finds a memory. Texts are numbered ones (numbered.h).
 *
 * Thread-safety: safe, but for create and destroy.
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

/* A UUID: whoever owns a memory asks for it by this. */
#define MT_MEMORY_ID_BYTES MT_UUID_BYTES
/* Longest name, origin, and text or translation of a unit, in bytes. */
#define MT_MAX_MEMORY_NAME_BYTES 1024
#define MT_MAX_ORIGIN_BYTES 256
#define MT_MAX_UNIT_BYTES 65536

struct mt_memory_limits {
    size_t max_memories; /* of one owner */
    size_t max_units;    /* of one memory */
};

/* The database is borrowed. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_memories_create(struct mt_database *database,
                                                const struct mt_memory_limits *limits,
                                                struct mt_memories **out, struct mt_error *err);
/* Takes NULL. */
void mt_memories_destroy(struct mt_memories *memories);

/* All functions below return MT_NOT_FOUND where the owner has no such memory, MT_LIMIT over the
 * limits, and errors of the database. Languages are codes as mt_language_without_region makes them. */

struct mt_memory_unit {
    const char *source, *target;
    const char *target_lang;
    const char *context; /* the text before it; "": not known */
    const char *origin;  /* whose work it is, or from where; "" */
    int64_t changed_ms;  /* since 1970, UTC; 0: now */
};

/* A new memory with units, of which there may be none; id becomes its own. */
MT_MUST_CHECK enum mt_status mt_memories_add(struct mt_memories *memories, const char *owner,
                                             const char *name, const char *source,
                                             const struct mt_memory_unit *units, size_t n,
                                             char id[MT_MEMORY_ID_BYTES], struct mt_error *err);

/* The owner's memory of that name for texts in a language; it is made where there is none. */
MT_MUST_CHECK enum mt_status
mt_memories_find_or_add(struct mt_memories *memories, const char *owner, const char *name,
                        const char *source, char id[MT_MEMORY_ID_BYTES], struct mt_error *err);

MT_MUST_CHECK enum mt_status mt_memories_remove(struct mt_memories *memories, const char *owner,
                                                const char *id, struct mt_error *err);

/* Adds units to a memory, all or none. One that is there, with the same context and translation, is
 * there once, with the time and origin of this one. */
MT_MUST_CHECK enum mt_status mt_memories_put(struct mt_memories *memories, const char *owner,
                                             const char *id, const struct mt_memory_unit *units,
                                             size_t n, struct mt_error *err);

/* Borrowed, until the function it is given to returns. */
struct mt_memory_row {
    const char *id, *name, *source;
    int64_t created_ms;
    const char *target; /* NULL: the memory is empty */
    size_t n_units;     /* into this language */
};

/* Memories in the order they were made; of each a row for every target language. id NULL: all of the
 * owner's; else there is at least one row, or MT_NOT_FOUND. */
typedef enum mt_status mt_memory_visit(void *context, const struct mt_memory_row *row,
                                       struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_memories_visit(struct mt_memories *memories, const char *owner,
                                               const char *id, mt_memory_visit *visit,
                                               void *context, struct mt_error *err);

/* The units of a memory, in the order in which they came. */
typedef enum mt_status mt_memory_unit_visit(void *context, const struct mt_memory_unit *unit,
                                            struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_memories_visit_units(struct mt_memories *memories,
                                                     const char *owner, const char *id,
                                                     mt_memory_unit_visit *visit, void *context,
                                                     struct mt_error *err);

/* ---- what is known of a text ---- */

struct mt_memory_question {
    const char *owner;
    const char *id; /* NULL: all memories of the owner */
    const char *source, *target;
};

/* Whether there is any unit to be found. With an id, MT_NOT_FOUND where there is no such memory. */
MT_MUST_CHECK enum mt_status mt_memories_have(struct mt_memories *memories,
                                              const struct mt_memory_question *question, bool *out,
                                              struct mt_error *err);

#define MT_CONTEXT_MATCH 101 /* the same text, behind the same one */
#define MT_EXACT_MATCH 100

struct mt_memory_match {
    int percent;
    const char *source, *target, *origin; /* borrowed, as above */
};
typedef enum mt_status mt_memory_take(void *context, const struct mt_memory_match *match,
                                      struct mt_error *err);

/* Calls take for the best of those that match exactly, the newest one of several; or not at all.
 * context: the text before it, or "". */
MT_MUST_CHECK enum mt_status mt_memories_find(struct mt_memories *memories,
                                              const struct mt_memory_question *question,
                                              const char *text, const char *context,
                                              mt_memory_take *take, void *take_context,
                                              struct mt_error *err);

/* Calls take for those most alike, the best first: n at most, of least percent or more, none of
 * which matches exactly. reader: memory_words.h. */
struct mt_word_reader;
MT_MUST_CHECK enum mt_status
mt_memories_find_similar(struct mt_memories *memories, const struct mt_memory_question *question,
                         struct mt_word_reader *reader, const char *text, int least, size_t n,
                         mt_memory_take *take, void *take_context, struct mt_error *err);

#endif
