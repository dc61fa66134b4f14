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

/* Where an alignment is made of more heads than these, all are traced. */
#define MT_MAX_ALIGNMENT_HEADS 128

/* Has to be zero-initialised. It must stay in its place while it is used. */
struct mt_alignment_trace {
    const struct mt_service *service;
    const struct mt_loaded_model *model;
    struct mt_inspection_options options;
    uint16_t heads[MT_MAX_ALIGNMENT_HEADS]; /* options.kept_heads */
    uint64_t n_values;                      /* how much of the service's budget is taken */
};

/* Sets the options with which translations have to be created. Of service only settings and
 * attention_budget are used, which are borrowed until finish. */
void mt_alignment_trace_begin(struct mt_alignment_trace *trace, const struct mt_service *service,
                              const struct mt_loaded_model *model,
                              struct mt_translation_options *options);

/* Reserves memory for a translation's trace; NULL needs none. MT_LIMIT: all translations together
 * need more than the setting max_attention_values. MT_BUSY: other requests hold the memory. */
MT_MUST_CHECK enum mt_status mt_alignment_trace_reserve(struct mt_alignment_trace *trace,
                                                        const struct mt_translation *translation,
                                                        struct mt_error *err);

/* An mt_translation_trace: reserves memory for one sentence of n_tokens before it is made.
 * *is_reserved is false where the request would need more than it may, or others hold the
 * memory. */
MT_MUST_CHECK enum mt_status mt_alignment_trace_reserve_sentence(void *trace, size_t n_tokens,
                                                                 bool *is_reserved,
                                                                 struct mt_error *err);

/* Whether half of what the request may hold is left. A request that can be served in steps ends the
 * step where it is not, so that nothing has to do without an alignment. */
bool mt_alignment_trace_has_room(const struct mt_alignment_trace *trace);

/* Writes an array of links, which is empty where translation is NULL. */
MT_MUST_CHECK enum mt_status mt_alignment_trace_write(const struct mt_alignment_trace *trace,
                                                      struct mt_translation *translation,
                                                      struct mt_json_writer *writer,
                                                      struct mt_error *err);

/* Finds the same links without writing them, of the sentences that memory was reserved for.
 * MT_MEMORY. The caller finishes *out after a failure, too. */
MT_MUST_CHECK enum mt_status mt_alignment_trace_find(const struct mt_alignment_trace *trace,
                                                     struct mt_translation *translation,
                                                     struct mt_word_links *out,
                                                     struct mt_error *err);

/* Gives the budget back. A zeroed trace is allowed. */
void mt_alignment_trace_finish(struct mt_alignment_trace *trace);

#endif
