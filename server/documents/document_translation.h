/*
 * A document (document.h) on its way through the engine: each of its texts is a passage
 * (passage.h), and all of their sentences are decoded together.
 *
 *   create -> begin_step -> make -> decode every sentence -> render -> write
 *                ^                                              |
 *                '------------------ end_step <-----------------'
 *
 * The way back is that of a text which goes through several models.
 *
 * A long document need not be in memory as a whole: make may be left before all is made, what is
 * made so far be decoded, rendered and forgotten, and then be gone on with.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DOCUMENTS_DOCUMENT_TRANSLATION_H
#define MT_SERVER_DOCUMENTS_DOCUMENT_TRANSLATION_H

#include "server/documents/document.h"
#include "server/text/translation.h"

struct mt_document_translation;
struct mt_loaded_model;
struct mt_passage;
struct mt_proofreader;
struct mt_service;
struct mt_terms;

/* The characters of all words together: what a limit on texts is about. Markup is none. Errors of
 * the texts' readers. */
MT_MUST_CHECK enum mt_status mt_document_count_chars(const struct mt_document *document,
                                                     const struct mt_coded_options *reading,
                                                     size_t *out, struct mt_error *err);

/* document is borrowed until destroy. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_document_translation_create(const struct mt_document *document,
                                                            struct mt_document_translation **out,
                                                            struct mt_error *err);

struct mt_document_step {
    const struct mt_service *service; /* settings and attention budget are used, for alignments: */
    const struct mt_loaded_model *model; /* where tags belong; both are borrowed until end_step or
                                             destroy */
    const struct mt_translation_options *options; /* copied; what they point to is borrowed. With
                                                     eases_source translations are edited */
    struct mt_terms *terms;                       /* NULL: none; borrowed until all is made */
    const struct mt_recall *recall;               /* passage.h; NULL: none; likewise */
    const struct mt_proofreader *reader;          /* passage.h; borrowed as the model is */
    bool repairs_numbers;
};

/* Begins with the document's texts, or what the last step has made of them, for one model. */
void mt_document_translation_begin_step(struct mt_document_translation *translation,
                                        const struct mt_document_step *step);

/* Takes texts apart until there are n_sentences more (SIZE_MAX: all), or *is_made: there is no
 * other. Errors of mt_passage_create. */
MT_MUST_CHECK enum mt_status
mt_document_translation_make(struct mt_document_translation *translation, size_t n_sentences,
                             bool *is_made, struct mt_error *err);

/* After the sentences ended: puts the translations of all texts that are made together. */
MT_MUST_CHECK enum mt_status
mt_document_translation_render(struct mt_document_translation *translation, struct mt_error *err);

/* Destroys the sentences of texts that are rendered; none may be in the engine. */
void mt_document_translation_forget(struct mt_document_translation *translation);

/* The translations, which have been rendered, become what is to be translated on. Neither the
 * passages nor the model are used any more. */
MT_MUST_CHECK enum mt_status
mt_document_translation_end_step(struct mt_document_translation *translation, struct mt_error *err);

/* Takes NULL. Destroys the sentences too; none may be in the engine. */
void mt_document_translation_destroy(struct mt_document_translation *translation);

/* Texts that are made, from the first on. */
size_t mt_document_translation_n_made(const struct mt_document_translation *translation);

/* The passage of a text that is made and not forgotten. Borrowed. */
struct mt_passage *
mt_document_translation_passage(const struct mt_document_translation *translation, size_t index);

/* Calls add for every sentence of the texts that are made and not yet rendered, until it fails.
 * Sentences are borrowed. */
typedef enum mt_status mt_document_add_sentence(void *context, struct mt_sentence *sentence,
                                                struct mt_error *err);
MT_MUST_CHECK enum mt_status
mt_document_translation_list(const struct mt_document_translation *translation,
                             mt_document_add_sentence *add, void *context, struct mt_error *err);

/* As mt_document_write, of the translations that have been rendered. */
MT_MUST_CHECK enum mt_status
mt_document_translation_write(const struct mt_document_translation *translation,
                              struct mt_text *out, struct mt_document_report *report,
                              struct mt_error *err);

#endif
