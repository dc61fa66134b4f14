/*
 * The terms of a request (terms.h): its fields for them, and the reply's report on each:
 *
 *   do_not_translate  ["Foo", ...], or one string
 *   glossary          {"train station": "Hauptbahnhof", ...}, or a list of {"source", "target"}
 *   glossary_id       of a glossary that is stored at the server (glossaries_api.h)
 *
 *   "terms": [{"source": "train station", "target": "Hauptbahnhof", "found": 2, "applied": 1,
 *              "reason": "..."},
 *             {"source": "station", "target": "Bahnhof|Bahnhofs|Bahnhöfe", "found": 1,
 *              "applied": 1, "written": 1}]
 *
 * There is one entry for each term that was found, in the request's order, do_not_translate first.
 * "reason" is there only where applied is less than found. "written", which tells how often the
 * model itself wrote one of several forms, is there only for terms with several forms. In forms and
 * query strings the fields are JSON in a string.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_API_GLOSSARY_H
#define MT_SERVER_API_GLOSSARY_H

#include "server/requests/handler.h"

struct mt_passage;
struct mt_terms;

/* Has to be zero-initialised. */
struct mt_glossary {
    struct mt_terms *terms; /* NULL: the request has none */
    size_t *n_found, *n_applied, *n_written;
};

/* MT_INVALID names field, value and expectation; MT_LIMIT: both fields together have more than
 * max_terms. The caller finishes *out after a failure, too. */
MT_MUST_CHECK enum mt_status mt_glossary_read(const struct mt_params *params, size_t max_terms,
                                              struct mt_glossary *out, struct mt_error *err);
void mt_glossary_finish(struct mt_glossary *glossary);

/* Adds the terms of the glossary glossary_id, for texts from source to target. The request's own
 * terms have priority. An id of "" adds nothing. MT_INVALID where source is "auto" or there are
 * several (NULL), MT_NOT_FOUND, MT_UNSUPPORTED, and errors of mt_glossaries_terms. */
MT_MUST_CHECK enum mt_status mt_glossary_add_stored(struct mt_glossary *glossary,
                                                    const struct mt_request *request,
                                                    const char *id, const char *source,
                                                    const char *target, struct mt_error *err);

/* Counts the terms of one passage, which has been decoded, and how many were applied. */
MT_MUST_CHECK enum mt_status mt_glossary_count(struct mt_glossary *glossary,
                                               struct mt_passage *passage, struct mt_error *err);

/* Makes the terms for a model that translates the output of another model: every translation of a
 * term is copied. from may have none. MT_MEMORY; the caller finishes *out after a failure, too. */
MT_MUST_CHECK enum mt_status mt_glossary_pass_on(const struct mt_glossary *from,
                                                 struct mt_glossary *out, struct mt_error *err);

/* Subtracts from glossary the terms that were counted as applied, but were lost when the passage
 * was translated by the next model, with passed_on's terms. */
MT_MUST_CHECK enum mt_status mt_glossary_count_lost(struct mt_glossary *glossary,
                                                    struct mt_glossary *passed_on,
                                                    struct mt_passage *passage,
                                                    struct mt_error *err);

/* Writes the array, with all terms that were counted. */
void mt_glossary_write(const struct mt_glossary *glossary, struct mt_json_writer *writer);

#endif
