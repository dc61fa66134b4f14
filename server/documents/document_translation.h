/*
 * A document (document.h) on its way through the engine. Each of its texts becomes a passage
 * (passage.h), and the sentences of all passages are decoded together.
 *
 *   create -> begin_step -> make -> decode every sentence -> render -> write
 *                ^                                              |
 *                '------------------ end_step <-----------------'
 *
 * A text that goes through several models takes the way back.
 *
 * A long document need not be in memory as a whole: make may stop before all passages are made.
 * Those that were made can be decoded, rendered and forgotten before make goes on.
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

/* Counts the characters of all words together, without markup, for a limit of texts. Errors of the
 * texts' readers. */
MT_MUST_CHECK enum mt_status mt_document_count_chars(const struct mt_document *document,
                                                     const struct mt_coded_options *reading,
                                                     size_t *out, struct mt_error *err);

/* document is borrowed until destroy. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_document_translation_create(const struct mt_document *document,
                                                            struct mt_document_translation **out,
                                                            struct mt_error *err);

struct mt_document_step {
    /* only settings and attention budget are used, for alignments */
    const struct mt_service *service;
    /* shows where tags belong; service and model are borrowed until end_step or destroy */
    const struct mt_loaded_model *model;
    /* copied, but what they point to is borrowed. With eases_source translations are edited */
    const struct mt_translation_options *options;
    /* NULL: none; borrowed until everything is made */
    struct mt_terms *terms;
    /* passage.h; NULL: none; borrowed until everything is made */
    const struct mt_recall *recall;
    const struct mt_proofreader *reader; /* passage.h; borrowed as long as the model */
    bool repairs_numbers;
};

/* Begins the translation by one model: of the document's texts, or of what the previous step has
 * made of them. */
void mt_document_translation_begin_step(struct mt_document_translation *translation,
                                        const struct mt_document_step *step);

/* Makes passages until they have n_sentences more (SIZE_MAX: of all texts), or their traces half of
 * what the request may hold; one sentence at least. *is_made: all are made.
 * Errors of mt_passage_create. */
MT_MUST_CHECK enum mt_status
mt_document_translation_make(struct mt_document_translation *translation, size_t n_sentences,
                             bool *is_made, struct mt_error *err);

/* Renders the translations of all texts that are made, after their sentences ended. */
MT_MUST_CHECK enum mt_status
mt_document_translation_render(struct mt_document_translation *translation, struct mt_error *err);

/* Destroys the sentences of rendered texts, with their traces. None of them may be in the engine. */
void mt_document_translation_forget(struct mt_document_translation *translation);

/* Ends a step: the rendered translations become the texts of the next one. The passages and the
 * model are not used any more. */
MT_MUST_CHECK enum mt_status
mt_document_translation_end_step(struct mt_document_translation *translation, struct mt_error *err);

/* NULL is allowed. Destroys the sentences, too; none may be in the engine. */
void mt_document_translation_destroy(struct mt_document_translation *translation);

/* Returns how many texts, from the first on, are made. */
size_t mt_document_translation_n_made(const struct mt_document_translation *translation);

/* Returns the passage of a text that is made and not forgotten. It is borrowed. */
struct mt_passage *
mt_document_translation_passage(const struct mt_document_translation *translation, size_t index);

/* Calls add for every sentence of the texts that are made and not yet rendered, until it fails. The
 * sentences are borrowed. */
typedef enum mt_status mt_document_add_sentence(void *context, struct mt_sentence *sentence,
                                                struct mt_error *err);
MT_MUST_CHECK enum mt_status
mt_document_translation_list(const struct mt_document_translation *translation,
                             mt_document_add_sentence *add, void *context, struct mt_error *err);

/* Does what mt_document_write does, with the translations that have been rendered. */
MT_MUST_CHECK enum mt_status
mt_document_translation_write(const struct mt_document_translation *translation,
                              struct mt_text *out, struct mt_document_report *report,
                              struct mt_error *err);

#endif
