/*
 * The translation of a file that a request brings, whatever the request's fields are called and
 * whether its client waits: POST /translate_file (files_api.h) and DeepL's POST /v2/document
 * (document_api.h).
 *
 *   create -> step -> begin -> the sentences run -> step -> begin ... -> step: no further model
 *                                                                          '-> store -> write_report
 *
 * create, step and begin are to be called by choose, choose and begin of a handler (handler.h).
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

/* What a route has read by names of its own. Borrowed. */
struct mt_file_question {
    const struct mt_params_file *file;
    const char *file_name;          /* says the format, by its extension */
    struct mt_served_model *only;   /* the model that the request names; NULL: any */
    const char *source, *target;    /* "auto" is a source; "" where only says it */
    const struct mt_fields *fields; /* those of MT_FIELDS_OF_FILE count */
    enum mt_split split;            /* at which ends sentences are taken apart */
    size_t chunk_sentences;         /* so many are decoded at a time; see begin */
};

/* Parses the file, counts its characters against the client's, finds the way from source to target
 * and reserves room for what comes of it. The caller destroys *out on failure, too, where it is not
 * NULL. Errors of the readers and limits, with texts that LibreTranslate's clients know. */
MT_MUST_CHECK enum mt_status mt_file_translation_create(struct mt_request *request,
                                                        const struct mt_file_question *question,
                                                        struct mt_file_translation **out,
                                                        struct mt_error *err);
/* Takes NULL. */
void mt_file_translation_destroy(struct mt_file_translation *translation);

/* Puts together what has been decoded, which is nothing where is_first. *out is the model that
 * decodes the next sentences, or NULL where all is translated. */
MT_MUST_CHECK enum mt_status mt_file_translation_step(struct mt_file_translation *translation,
                                                      bool is_first, struct mt_served_model **out,
                                                      struct mt_error *err);

/* Adds the next sentences to the request: chunk_sentences or a few more, but no more than half of
 * what the queue holds, so that there is room beside a long file. */
MT_MUST_CHECK enum mt_status mt_file_translation_begin(struct mt_file_translation *translation,
                                                       struct mt_request *request,
                                                       struct mt_error *err);

/* Writes the translated file and puts it where room was reserved (file_store.h). Errors of
 * mt_file_store_fill. */
MT_MUST_CHECK enum mt_status mt_file_translation_store(struct mt_file_translation *translation,
                                                       const struct mt_request *request,
                                                       struct mt_error *err);

/* After store: the members that tell what became of the file: encoding, left, message, models,
 * terms, texts, translated, translatedFileUrl (url, where that is not NULL), via and warnings. Once. */
MT_MUST_CHECK enum mt_status
mt_file_translation_write_report(struct mt_file_translation *translation, const char *url,
                                 struct mt_json_writer *writer, struct mt_error *err);

struct mt_file_progress {
    size_t n_chars;       /* of all words */
    size_t n_done, n_all; /* texts, each as often as there are models on its way */
    bool is_identity;     /* source and target are one language: nothing is to be done */
    const char *source;   /* as given, or as detected; borrowed */
    const char *name;     /* in the store; borrowed */
};
void mt_file_translation_look(const struct mt_file_translation *translation,
                              struct mt_file_progress *out);

#endif
