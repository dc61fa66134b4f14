/*
 * Warnings about translations (guard.h) as a reply has them.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_API_WARNINGS_H
#define MT_SERVER_API_WARNINGS_H

#include "base/json.h"
#include "server/text/guard.h"

struct mt_metrics;
struct mt_passage;

/*
 * What a reply says about it, and counting it:
 *
 *   "warnings": [{"kind": "repetition", "sentence": 2, "text": 0}]
 *
 * Texts and sentences count from 0; the sentences are those of one model, which is named (member
 * "model") where several have translated the text one after the other. The member is there only
 * where there is something to say, and then unasked: who needs it most does not know of it, and
 * clients pass over keys that they do not know.
 *
 *   init -> add each text, as often as there are models on its way -> write -> finish
 */
struct mt_warnings {
    struct mt_guard_options options;
    struct mt_metrics *metrics;
    struct mt_text list; /* JSON; its status is the caller's to look at */
    struct mt_json_writer writer;
};
void mt_warnings_init(struct mt_warnings *warnings, const struct mt_guard_options *options,
                      struct mt_metrics *metrics);
/* model NULL: not named. */
void mt_warnings_add(struct mt_warnings *warnings, size_t text, const char *model,
                     const struct mt_passage *passage);
/* The member, if there is one. Once. */
void mt_warnings_write(struct mt_warnings *warnings, struct mt_json_writer *writer);
void mt_warnings_finish(struct mt_warnings *warnings);

#endif
