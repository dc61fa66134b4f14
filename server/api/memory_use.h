/*
 * How one request uses translation memories (server/data/translation_memory.h): texts that they
 * contain are not translated, and the reply shows texts that are similar to others.
 *
 *   memory                         true: all memories of the owner are searched
 *   translation_memory_id          only this one is searched
 *   translation_memory_threshold   least similarity of a text that is shown, in percent
 *
 *   "memory": [{"match": 101, "origin": "Anna", "source": "...", "target": "...", "used": true}]
 *
 * A match of 100 is the same text, and 101 the same text after the same text. Where the database
 * cannot be used, texts are translated as if it were empty, unless the request names a memory.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_API_MEMORY_USE_H
#define MT_SERVER_API_MEMORY_USE_H

#include "server/data/translation_memory.h"
#include "server/passages/passage.h"
#include "server/requests/handler.h"
#include "server/service/keys.h"
#include "server/text/language.h"

struct mt_fields;
struct mt_word_reader;

/* Shows a match of the current text. is_used: the translation contains it. */
struct mt_memory_show {
    void *context;
    enum mt_status (*match)(
        void *context, const struct mt_memory_match *match, bool is_used,
        struct mt_error *err); /* NULL: matches are not shown, and similar texts are not searched */
};

/* Has to be zero-initialised. */
struct mt_memory_use {
    struct mt_memories *memories; /* NULL: none is searched */
    char owner[MT_KEY_OWNER_BYTES], id[MT_MEMORY_ID_BYTES];
    char source[MT_LANGUAGE_BYTES], target[MT_LANGUAGE_BYTES]; /* languages of the text */
    /* there are units for these languages */
    bool has_units;
    int least; /* least similarity in percent */
    struct mt_word_reader *reader;
    struct mt_text previous; /* the text before the next one; empty: unknown */
    struct mt_memory_show show;
    struct mt_recall recall;
};

/* MT_UNSUPPORTED: a memory is named, and the server stores none. MT_NOT_FOUND: the name is no
 * id. */
MT_MUST_CHECK enum mt_status mt_memory_use_begin(struct mt_memory_use *use,
                                                 const struct mt_request *request,
                                                 const struct mt_fields *fields,
                                                 struct mt_error *err);
void mt_memory_use_finish(struct mt_memory_use *use);

/* Begins a text from source to target, which are NULL where unknown. *out is the recall that its
 * passage is made with; NULL: nothing can be found. Matches are shown until the next text begins;
 * show is copied, and may be NULL. MT_NOT_FOUND: there is no such memory; errors of the database
 * where a memory is named; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_memory_use_text(struct mt_memory_use *use, const char *source,
                                                const char *target,
                                                const struct mt_memory_show *show,
                                                const struct mt_recall **out, struct mt_error *err);

/* A mt_memory_show's match that appends to the items of a JSON array; context is a struct
 * mt_text. */
MT_MUST_CHECK enum mt_status mt_memory_show_json(void *context, const struct mt_memory_match *match,
                                                 bool is_used, struct mt_error *err);
/* Writes the array. */
void mt_memory_use_write(struct mt_json_writer *writer, const struct mt_text *shown);

#endif
