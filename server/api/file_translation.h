/*
 * The translation of a file that a request carries, for routes with different fields, of which one
 * keeps its client waiting: POST /translate_file (files_api.h) and DeepL's POST /v2/document
 * (document_api.h).
 *
 *   create -> step -> begin -> the sentences run -> step -> begin ... -> step: no more models
 *                                                                         '-> store -> write_report
 *
 * A handler (handler.h) calls create in its choose, step in its choose, and begin in its begin.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_API_FILE_TRANSLATION_H
#define MT_SERVER_API_FILE_TRANSLATION_H

#include "server/http/fields.h"
#include "server/requests/handler.h"
#include "server/text/translation.h"

struct mt_file_translation;
struct mt_json_writer;
struct mt_params_file;
struct mt_served_model;

/* What a route has read under its own names. Borrowed. */
struct mt_file_question {
    const struct mt_params_file *file;
    const char *file_name;        /* its extension determines the format */
    struct mt_served_model *only; /* the model that the request names; NULL: any */
    /* "auto" is allowed as a source; "" where the model has only one language */
    const char *source, *target;
    const struct mt_fields *fields; /* only those of MT_FIELDS_OF_FILE are used */
    enum mt_split split;            /* where sentences end */
    size_t chunk_sentences;         /* how many are decoded at a time; see begin */
};

/* Parses the file, counts its characters for the client's limits, finds the way from source to
 * target and reserves space for the result. If *out is not NULL after a failure, the caller
 * destroys it. Errors of the readers and limits have texts that LibreTranslate's clients know. */
MT_MUST_CHECK enum mt_status mt_file_translation_create(struct mt_request *request,
                                                        const struct mt_file_question *question,
                                                        struct mt_file_translation **out,
                                                        struct mt_error *err);
/* NULL is allowed. */
void mt_file_translation_destroy(struct mt_file_translation *translation);

/* Renders what has been decoded; is_first: nothing has been so far. *out is the model that decodes
 * the next sentences; NULL: everything is translated. */
MT_MUST_CHECK enum mt_status mt_file_translation_step(struct mt_file_translation *translation,
                                                      bool is_first, struct mt_served_model **out,
                                                      struct mt_error *err);

/* Adds the next sentences to the request: chunk_sentences or slightly more, but at most half of the
 * queue's capacity, so that there is room beside a long file. */
MT_MUST_CHECK enum mt_status mt_file_translation_begin(struct mt_file_translation *translation,
                                                       struct mt_request *request,
                                                       struct mt_error *err);

/* Writes the translated file into the space that was reserved (file_store.h). Errors of
 * mt_file_store_fill. */
MT_MUST_CHECK enum mt_status mt_file_translation_store(struct mt_file_translation *translation,
                                                       const struct mt_request *request,
                                                       struct mt_error *err);

/* Writes, once after store, the members that describe the result: encoding, left, message, models,
 * terms, texts, translated, translatedFileUrl (url, where that is not NULL), via and warnings. */
MT_MUST_CHECK enum mt_status
mt_file_translation_write_report(struct mt_file_translation *translation, const char *url,
                                 struct mt_json_writer *writer, struct mt_error *err);

struct mt_file_progress {
    size_t n_chars;       /* characters of all words */
    size_t n_done, n_all; /* texts, each counted once for every model on its way */
    /* source and target are the same language, so that nothing is translated */
    bool is_identity;
    const char *source; /* as given, or as detected; borrowed */
    const char *name;   /* name in the store; borrowed */
};
void mt_file_translation_look(const struct mt_file_translation *translation,
                              struct mt_file_progress *out);

#endif
