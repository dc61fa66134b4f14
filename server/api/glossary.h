/*
 * A request's own terms (terms.h), as its fields give them and as the reply tells what became of
 * them:
 *
 *   do_not_translate  ["Foo", ...], or one string
 *   glossary          {"train station": "Hauptbahnhof", ...}, or a list of {"source", "target"}
 *   glossary_id       of a glossary that was left with the server (glossaries_api.h)
 *
 *   "terms": [{"source": "train station", "target": "Hauptbahnhof", "found": 2, "applied": 1,
 *              "reason": "..."},
 *             {"source": "station", "target": "Bahnhof|Bahnhofs|Bahnhöfe", "found": 1,
 *              "applied": 1, "written": 1}]
 *
 * One entry per term that was found, in the request's order, do_not_translate first; reason only
 * where applied is less than found; written, how often the model wrote one of several forms itself,
 * only where there are several. In textual encodings the fields are JSON in a string.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_API_GLOSSARY_H
#define MT_SERVER_API_GLOSSARY_H

#include "server/requests/handler.h"

struct mt_passage;
struct mt_terms;

/* Zero-initialise. */
struct mt_glossary {
    struct mt_terms *terms; /* NULL: the request has none */
    size_t *n_found, *n_applied, *n_written;
};

/* MT_INVALID names field, value and expectation; more than max_terms in both fields are MT_LIMIT.
 * The caller finishes *out on failure too. */
MT_MUST_CHECK enum mt_status mt_glossary_read(const struct mt_params *params, size_t max_terms,
                                              struct mt_glossary *out, struct mt_error *err);
void mt_glossary_finish(struct mt_glossary *glossary);

/* Adds the terms of the glossary that glossary_id names, for texts from source to target; the
 * request's own go first. Nothing where id is "". MT_INVALID where source is "auto" or one of many
 * (NULL), MT_NOT_FOUND, MT_UNSUPPORTED, and errors of mt_glossaries_terms. */
MT_MUST_CHECK enum mt_status mt_glossary_add_stored(struct mt_glossary *glossary,
                                                    const struct mt_request *request,
                                                    const char *id, const char *source,
                                                    const char *target, struct mt_error *err);

/* Counts what became of the terms of one passage, which has been decoded. */
MT_MUST_CHECK enum mt_status mt_glossary_count(struct mt_glossary *glossary,
                                               struct mt_passage *passage, struct mt_error *err);

/* Makes the terms for a model that translates what another model wrote: every translation of a term
 * stays as it is. from may have none. MT_MEMORY; the caller finishes *out on failure too. */
MT_MUST_CHECK enum mt_status mt_glossary_pass_on(const struct mt_glossary *from,
                                                 struct mt_glossary *out, struct mt_error *err);

/* Takes back from glossary what was counted as applied and is lost in a passage that was translated
 * on, with passed_on's terms. */
MT_MUST_CHECK enum mt_status mt_glossary_count_lost(struct mt_glossary *glossary,
                                                    struct mt_glossary *passed_on,
                                                    struct mt_passage *passage,
                                                    struct mt_error *err);

/* The array, of all that were counted. */
void mt_glossary_write(const struct mt_glossary *glossary, struct mt_json_writer *writer);

#endif
