/*
 * What a caller wants to see, read from the fields of a request to /attention. The command line
 * fills in the same struct from its flags, with the same words.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_REQUEST_H
#define MT_SERVER_INSPECTION_INSPECTION_REQUEST_H

#include "server/inspection/inspection_formats.h"
#include "server/http/fields.h"

struct mt_settings;

struct mt_inspection_request {
    struct mt_inspection_options options;
    enum mt_inspection_format format;
    size_t sentence; /* or MT_ALL_SENTENCES */
};

/* fields are those that params have. options->alignment and max_values keep what the caller put there where the request is silent; all
 * else is set. MT_INVALID names field, value and expectation. */
MT_MUST_CHECK enum mt_status mt_inspection_request_read(const struct mt_params *params,
                                                        const struct mt_fields *fields,
                                                        struct mt_inspection_request *request,
                                                        struct mt_error *err);

/* From words, as on the command line. name is for messages. NULL and "" leave
 * *out alone. */
MT_MUST_CHECK enum mt_status mt_index_list_parse(const char *name, const char *text,
                                                 struct mt_index_list *out, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_trace_kinds_parse(const char *name, const char *text, unsigned *out,
                                                  struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_reduce_parse(const char *name, const char *text,
                                             enum mt_reduce *out, struct mt_error *err);

/* How an alignment is made, in words: a model's attentiond.json, flags. NULL and "": it says nothing
 * of that. */
struct mt_alignment_words {
    const char *layers, *heads, *mode, *shift;
};
/* What the words do not say stays in *out. */
MT_MUST_CHECK enum mt_status mt_alignment_parse(const struct mt_alignment_words *words,
                                                struct mt_alignment_choice *out,
                                                struct mt_error *err);

/* Kinds for a request that names none: cross where other fields speak of tensors. */
void mt_inspection_default_kinds(struct mt_inspection_options *options);

#endif
