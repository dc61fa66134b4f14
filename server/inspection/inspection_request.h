/*
 * The options of an inspection, read from the fields of a request to /attention. The command line
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
    size_t sentence; /* index, or MT_ALL_SENTENCES */
};

/* fields are those of params. If the request has no alignment or limit, then options->alignment and
 * max_values keep the caller's values; everything else is set. MT_INVALID names field, value and
 * expectation. */
MT_MUST_CHECK enum mt_status mt_inspection_request_read(const struct mt_params *params,
                                                        const struct mt_fields *fields,
                                                        struct mt_inspection_request *request,
                                                        struct mt_error *err);

/* Parse words, as on the command line. name is for messages. NULL and "" leave *out unchanged. */
MT_MUST_CHECK enum mt_status mt_index_list_parse(const char *name, const char *text,
                                                 struct mt_index_list *out, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_trace_kinds_parse(const char *name, const char *text, unsigned *out,
                                                  struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_reduce_parse(const char *name, const char *text,
                                             enum mt_reduce *out, struct mt_error *err);

/* The words that describe an alignment, in a model's attentiond.json or in flags. NULL and "": not
 * given. */
struct mt_alignment_words {
    const char *layers, *heads, *mode, *shift;
};
/* Parts that are not given keep their values in *out. */
MT_MUST_CHECK enum mt_status mt_alignment_parse(const struct mt_alignment_words *words,
                                                struct mt_alignment_choice *out,
                                                struct mt_error *err);

/* Sets the kinds for a request that names none: cross if other fields are about tensors. */
void mt_inspection_default_kinds(struct mt_inspection_options *options);

#endif
