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

/* From words, as on the command line and in the settings. name is for messages. NULL and "" leave
 * *out alone. */
MT_MUST_CHECK enum mt_status mt_index_list_parse(const char *name, const char *text,
                                                 struct mt_index_list *out, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_trace_kinds_parse(const char *name, const char *text, unsigned *out,
                                                  struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_reduce_parse(const char *name, const char *text,
                                             enum mt_reduce *out, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_alignment_mode_parse(const char *name, const char *text,
                                                     enum mt_alignment_mode *out,
                                                     struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_alignment_shift_parse(const char *name, const char *text,
                                                      enum mt_alignment_shift *out,
                                                      struct mt_error *err);

/* The choice that the settings make for this model. Empty settings leave *out alone. */
MT_MUST_CHECK enum mt_status mt_alignment_of_settings(const struct mt_settings *settings,
                                                      struct mt_alignment_choice *out,
                                                      struct mt_error *err);

/* Kinds for a request that names none: cross where other fields speak of tensors. */
void mt_inspection_default_kinds(struct mt_inspection_options *options);

#endif
