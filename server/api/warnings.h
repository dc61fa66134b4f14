/*
 * The warnings about translations (quality_check.h, proofread.h) in a reply.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_API_WARNINGS_H
#define MT_SERVER_API_WARNINGS_H

#include "base/json.h"
#include "server/text/quality_check.h"

struct mt_metrics;
struct mt_passage;
struct mt_settings;

/*
 * Collects the warnings of a reply, and counts them for the metrics:
 *
 *   "warnings": [{"kind": "repetition", "sentence": 2, "text": 0},
 *                {"added": ["35"], "kind": "numbers", "missing": ["365"], "repaired": ["365"],
 *                 "sentence": 3, "text": 0}]
 *
 * Numbers are written as in the source (missing) and as the model wrote them (added). Those that
 * replaced another number (number_repair.h) are "repaired", written as in the reply. Texts and
 * sentences count from 0. Sentences are those of one model; if several models have translated the
 * text one after the other, then the member "model" names it. The member "warnings" is written only
 * if there are any, and then without being requested, because those who need it most do not know of
 * it, and clients ignore unknown keys.
 *
 *   init -> add each text, once for every model on its way -> write -> finish
 */
struct mt_warnings {
    struct mt_quality_options options;
    struct mt_metrics *metrics;
    struct mt_text list; /* JSON; the caller checks its status */
    struct mt_json_writer writer;
    size_t n; /* entries of the list */
};

/* Most warnings that one reply lists, so that it stays about as long as its translations. The rest
 * are only counted. */
#define MT_MAX_WARNINGS 1000

struct mt_quality_options mt_quality_options_of(const struct mt_settings *settings);
/* metrics NULL: they are not counted. */
void mt_warnings_init(struct mt_warnings *warnings, const struct mt_quality_options *options,
                      struct mt_metrics *metrics);

/* In the place of a text's number: none is written. */
#define MT_NO_TEXT SIZE_MAX
/* model NULL: none is named. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_warnings_add(struct mt_warnings *warnings, size_t text,
                                             const char *model, struct mt_passage *passage,
                                             struct mt_error *err);
/* Writes the member, if there are warnings; once. */
void mt_warnings_write(struct mt_warnings *warnings, struct mt_json_writer *writer);
void mt_warnings_finish(struct mt_warnings *warnings);

#endif
