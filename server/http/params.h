/*
 * The fields of a request, whatever encoding they came in: a JSON object, a urlencoded or multipart
 * form or the query string. All end up as one JSON object; in the textual encodings every value is
 * a string, and numbers and booleans are read out of it. Files stand beside it.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_HTTP_PARAMS_H
#define MT_SERVER_HTTP_PARAMS_H

#include "base/json.h"

struct cJSON;

/* A part of a multipart form with a file name. */
struct mt_params_file {
    char *name;         /* of the field */
    char *file_name;    /* UTF-8, perhaps ""; the client's word: not to be trusted as a path */
    char *content_type; /* "" where the client did not say */
    const char *bytes;  /* in the request's body, and valid as long as that is; any bytes */
    size_t length;
};

struct mt_params {
    struct cJSON *object; /* NULL: no fields */
    bool is_text;         /* every value is a string */
    struct mt_params_file *files;
    size_t n_files;
};

/* Most fields of a form or query string, most values of JSON, and most files of a form. There is room
 * for as many texts as max_batch_texts may be, and in JSON for a source and a target of each; the
 * body's length is what limits them sooner. */
#define MT_MAX_FORM_FIELDS (65536 + 256)
#define MT_MAX_JSON_VALUES (4 * 65536)
#define MT_MAX_FORM_FILES 16

/* A decimal number ("0.5", "2e3"), whatever the process' locale; false for anything else,
 * infinities included. */
bool mt_parse_number(const char *text, double *out);

/* Takes zeroed or already finished params. */
void mt_params_finish(struct mt_params *params);

/* A JSON document whose top must be an object. MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_params_parse_json(struct mt_params *params, const char *bytes,
                                                  size_t length, struct mt_error *err);

/*
 * The textual encodings add to what params hold already, and the first of a name counts: what a
 * query string says goes before the body. Within one of them a name that comes twice is MT_FORMAT,
 * as in JSON; but some are lists (mt_field_may_repeat), and mt_params_next finds the others. Line
 * ends of values become LF with is_form, and one at the end is dropped, as browsers and
 * LibreTranslate do. A failure leaves no params.
 */

/* application/x-www-form-urlencoded, which a query string is too. MT_FORMAT for malformed escapes
 * or UTF-8, too; MT_LIMIT for too many fields. */
MT_MUST_CHECK enum mt_status mt_params_parse_form(struct mt_params *params, const char *bytes,
                                                  size_t length, bool is_form,
                                                  struct mt_error *err);

/* multipart/form-data; always as a form. Files are views into bytes. content_type is the request's
 * header, with the boundary. Errors as those of multipart.h, and as above. */
MT_MUST_CHECK enum mt_status mt_params_parse_multipart(struct mt_params *params,
                                                       const char *content_type, const char *bytes,
                                                       size_t length, struct mt_error *err);

/* The first file of that field, or NULL. Borrowed; its bytes are there in begin, finish and
 * release of a handler. */
const struct mt_params_file *mt_params_file(const struct mt_params *params, const char *name);

/* The value itself, or NULL where it is absent or null. Borrowed. */
const struct cJSON *mt_params_get(const struct mt_params *params, const char *name);

/* The next value of the same name, of those that a form repeats, or NULL. */
const struct cJSON *mt_params_next(const struct cJSON *value);

/*
 * Typed access, as mt_json_get_* of base/json.h: absent or null leaves *out alone and is MT_OK;
 * another type or a value out of range is MT_INVALID with name, value and expectation. In textual
 * encodings "" is absent too, except for strings. found may be NULL.
 */
MT_MUST_CHECK enum mt_status mt_params_string(const struct mt_params *params, const char *name,
                                              const char **out, bool *found, struct mt_error *err);
/* Text: "true", "false", "1", "0". */
MT_MUST_CHECK enum mt_status mt_params_bool(const struct mt_params *params, const char *name,
                                            bool *out, bool *found, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_params_integer(const struct mt_params *params, const char *name,
                                               int64_t low, int64_t high, int64_t *out, bool *found,
                                               struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_params_number(const struct mt_params *params, const char *name,
                                              double low, double high, double *out, bool *found,
                                              struct mt_error *err);

#endif
