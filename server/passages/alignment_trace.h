/*
 * Word links in a reply of /translate: decoding is traced, and afterwards each translation's words
 * are linked and written.
 *
 *   begin -> reserve each translation -> (decoding) -> write each -> finish
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PASSAGES_ALIGNMENT_TRACE_H
#define MT_SERVER_PASSAGES_ALIGNMENT_TRACE_H

#include "server/service/service.h"
#include "server/inspection/inspection.h"

struct mt_json_writer;
struct mt_loaded_model;
struct mt_word_links;
struct mt_translation;
struct mt_translation_options;

/* Zero-initialise. */
struct mt_alignment_trace {
    const struct mt_service *service;
    const struct mt_loaded_model *model;
    struct mt_inspection_options options;
    uint64_t n_values; /* taken from the service's budget */
};

/* Sets what translations have to be created with. Of service, settings and attention_budget are
 * used; both are borrowed until finish. */
void mt_alignment_trace_begin(struct mt_alignment_trace *trace, const struct mt_service *service,
                              const struct mt_loaded_model *model,
                              struct mt_translation_options *options);

/* translation NULL: nothing to reserve. MT_LIMIT: all translations together need more than the setting max_attention_values. MT_BUSY:
 * other requests hold the memory. */
MT_MUST_CHECK enum mt_status mt_alignment_trace_reserve(struct mt_alignment_trace *trace,
                                                        const struct mt_translation *translation,
                                                        struct mt_error *err);

/* The same for one sentence of n_tokens that is still to be made: an mt_translation_trace.
 * *is_reserved is false where the request would need more than it may, or others hold the memory. */
MT_MUST_CHECK enum mt_status mt_alignment_trace_reserve_sentence(void *trace, size_t n_tokens,
                                                                 bool *is_reserved,
                                                                 struct mt_error *err);

/* An array of links; an empty one for NULL. */
MT_MUST_CHECK enum mt_status mt_alignment_trace_write(const struct mt_alignment_trace *trace,
                                                      struct mt_translation *translation,
                                                      struct mt_json_writer *writer,
                                                      struct mt_error *err);

/* The same links as they are, of the sentences that were reserved. MT_MEMORY. The caller finishes
 * *out on failure too. */
MT_MUST_CHECK enum mt_status mt_alignment_trace_find(const struct mt_alignment_trace *trace,
                                                     struct mt_translation *translation,
                                                     struct mt_word_links *out,
                                                     struct mt_error *err);

/* A member {"text", "begin", "end", ...}: a piece of a text and where it stands. */
void mt_span_write(struct mt_json_writer *writer, const char *key, const char *text,
                   const struct mt_offsets *at);

/* Gives the budget back; takes a zeroed one. */
void mt_alignment_trace_finish(struct mt_alignment_trace *trace);

#endif
