/*
 * A document (document.h) on its way through the engine: each of its texts is a passage
 * (passage.h), and all of their sentences are decoded together.
 *
 *   create -> make -> decode every sentence -> render -------------------> write
 *               ^                                     '-> end_step --.
 *               '------------------------------------- begin_step <--'
 *
 * The way back is that of a text which goes through several models. What takes long is done in
 * turns: make and render go on until until_ns (clock.h) has come, and are called until they say
 * that all is done.
 *
 * A long document need not be in memory as a whole: make may be left before all is made, what is
 * made so far be decoded, rendered and forgotten, and then be gone on with.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DOCUMENT_TRANSLATION_H
#define MT_SERVER_DOCUMENT_TRANSLATION_H

#include "server/document.h"
#include "server/translation.h"

struct mt_document_translation;
struct mt_loaded_model;
struct mt_passage;
struct mt_service;
struct mt_terms;

/* Of all texts together, in characters: what a limit on texts is about. */
size_t mt_document_n_chars(const struct mt_document *document);

/*
 * service: settings and attention budget are used (for marks: where a tag belongs in a
 * translation). document is borrowed until destroy, service and model until end_step or destroy,
 * terms (NULL: none) until it is made; options are copied, what they point to is borrowed. With
 * eases_source the translations are edited (post_edit.h).
 */
MT_MUST_CHECK enum mt_status mt_document_translation_create(
    const struct mt_service *service, const struct mt_loaded_model *model,
    const struct mt_document *document, const struct mt_translation_options *options,
    struct mt_terms *terms, struct mt_document_translation **out, struct mt_error *err);

/* Finds the sentences. Errors of mt_passage_make. */
MT_MUST_CHECK enum mt_status
mt_document_translation_make(struct mt_document_translation *translation, int64_t until_ns,
                             bool *is_made, struct mt_error *err);

/* After the sentences ended: of all texts that are made. */
MT_MUST_CHECK enum mt_status
mt_document_translation_render(struct mt_document_translation *translation, int64_t until_ns,
                               bool *is_rendered, struct mt_error *err);

/* Destroys the sentences of texts that are rendered; none may be in the engine. */
void mt_document_translation_forget(struct mt_document_translation *translation);

/* Takes NULL. Destroys the sentences too; none may be in the engine. */
void mt_document_translation_destroy(struct mt_document_translation *translation);

/* The translations, rendered or not yet, become what is to be translated on. Neither the passages
 * nor the model are used any more. */
MT_MUST_CHECK enum mt_status
mt_document_translation_end_step(struct mt_document_translation *translation, struct mt_error *err);
/* As create does with the document's texts. */
MT_MUST_CHECK enum mt_status mt_document_translation_begin_step(
    struct mt_document_translation *translation, const struct mt_service *service,
    const struct mt_loaded_model *model, const struct mt_translation_options *options,
    struct mt_terms *terms, struct mt_error *err);

/* Of text index. Borrowed. */
struct mt_passage *
mt_document_translation_passage(const struct mt_document_translation *translation, size_t index);

/* Calls add for every sentence of the texts that are made and not yet rendered, until it fails.
 * Sentences are borrowed. */
typedef enum mt_status mt_document_add_sentence(void *context, struct mt_sentence *sentence,
                                                struct mt_error *err);
MT_MUST_CHECK enum mt_status
mt_document_translation_list(const struct mt_document_translation *translation,
                             mt_document_add_sentence *add, void *context, struct mt_error *err);

/* As mt_document_write, of translations that are rendered or not yet. */
MT_MUST_CHECK enum mt_status
mt_document_translation_write(struct mt_document_translation *translation, struct mt_text *out,
                              size_t *n_left, struct mt_error *err);

#endif
