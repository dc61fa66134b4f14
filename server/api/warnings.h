/*
 * Warnings about translations (guard.h, proofread.h) as a reply has them.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_API_WARNINGS_H
#define MT_SERVER_API_WARNINGS_H

#include "base/json.h"
#include "server/text/guard.h"

struct mt_metrics;
struct mt_passage;
struct mt_settings;

/*
 * What a reply says about it, and counting it:
 *
 *   "warnings": [{"kind": "repetition", "sentence": 2, "text": 0},
 *                {"added": ["35"], "kind": "numbers", "missing": ["365"], "repaired": ["365"],
 *                 "sentence": 3, "text": 0}]
 *
 * Numbers are as they stand in the source (missing) and as the model wrote them (added); repaired,
 * where a number was put in the place of another (number_repair.h), as they are in the reply.
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
    size_t n; /* in the list */
};

/* Most warnings that one reply lists, so that it stays about as long as its translations. The rest
 * are only counted. */
#define MT_MAX_WARNINGS 1000

struct mt_guard_options mt_guard_options_of(const struct mt_settings *settings);
/* metrics NULL: not counted. */
void mt_warnings_init(struct mt_warnings *warnings, const struct mt_guard_options *options,
                      struct mt_metrics *metrics);

/* In the place of a text's number: not named. */
#define MT_NO_TEXT SIZE_MAX
/* model NULL: not named. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_warnings_add(struct mt_warnings *warnings, size_t text,
                                             const char *model, struct mt_passage *passage,
                                             struct mt_error *err);
/* The member, if there is one. Once. */
void mt_warnings_write(struct mt_warnings *warnings, struct mt_json_writer *writer);
void mt_warnings_finish(struct mt_warnings *warnings);

#endif
