/*
 * What one request does with translation memories (server/data/translation_memory.h): texts that
 * they have are not translated, and the reply shows texts that are similar to others.
 *
 *   memory                         true: the owner's memories are looked into
 *   translation_memory_id          only this one is
 *   translation_memory_threshold   how similar a text must be to be shown, in percent
 *
 *   "memory": [{"match": 101, "origin": "Anna", "source": "...", "target": "...", "used": true}]
 *
 * A match of 100 is the same text, of 101 behind the same text, too. Where the database cannot be
 * used, texts are translated as if it were empty, unless the request names a memory.
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

/* Shows a match of the text that is being taken apart. is_used: it is in the translation. */
struct mt_memory_show {
    void *context;
    enum mt_status (*match)(
        void *context, const struct mt_memory_match *match, bool is_used,
        struct mt_error *err); /* NULL: matches are not shown, and similar texts not looked for */
};

/* Zero-initialise. */
struct mt_memory_use {
    struct mt_memories *memories; /* NULL: none are looked into */
    char owner[MT_KEY_OWNER_BYTES], id[MT_MEMORY_ID_BYTES];
    char source[MT_LANGUAGE_BYTES], target[MT_LANGUAGE_BYTES]; /* of the text */
    bool has_units;                                            /* for these languages */
    int least;                                                 /* percent of a similar text */
    struct mt_word_reader *reader;
    struct mt_text previous; /* the text before the next one; empty: it is not known */
    struct mt_memory_show show;
    struct mt_recall recall;
};

/* MT_UNSUPPORTED: a memory is named, and the server keeps none.
 * MT_NOT_FOUND: it cannot be an id. */
MT_MUST_CHECK enum mt_status mt_memory_use_begin(struct mt_memory_use *use,
                                                 const struct mt_request *request,
                                                 const struct mt_fields *fields,
                                                 struct mt_error *err);
void mt_memory_use_finish(struct mt_memory_use *use);

/* For a text from source to target; NULL where neither is known. *out is what its passage is made
 * with; NULL: there is nothing to be found. Matches are shown until the next one begins; show is
 * copied, and may be NULL. MT_NOT_FOUND: there is no such memory; errors of the database where one is
 * named; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_memory_use_text(struct mt_memory_use *use, const char *source,
                                                const char *target,
                                                const struct mt_memory_show *show,
                                                const struct mt_recall **out, struct mt_error *err);

/* Shows a match in the reply: appends it to the items of an array, a struct mt_text. */
MT_MUST_CHECK enum mt_status mt_memory_show_json(void *context, const struct mt_memory_match *match,
                                                 bool is_used, struct mt_error *err);
/* The array. */
void mt_memory_use_write(struct mt_json_writer *writer, const struct mt_text *shown);

#endif
