/*
 * The fields of a request, whatever encoding they came in: a JSON object, a urlencoded or multipart
 * form, or the query string. All of them become one JSON object. In the textual encodings every
 * value is a string, from which numbers and booleans are parsed. Files are kept beside the object.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_HTTP_PARAMS_H
#define MT_SERVER_HTTP_PARAMS_H

#include "base/json.h"

struct cJSON;

/* A part of a multipart form with a file name. */
struct mt_params_file {
    char *name;         /* the field's name */
    char *file_name;    /* UTF-8, may be ""; the client's choice: not to be trusted as a path */
    char *content_type; /* "" where the client did not say */
    const char *bytes;  /* any bytes; a view into the request's body, valid as long as that */
    size_t length;
};

struct mt_params {
    struct cJSON *object; /* NULL: no fields */
    bool is_text;         /* every value is a string */
    struct mt_params_file *files;
    size_t n_files;
};

/* Most fields of a form or query string, most values of JSON, and most files of a form. They allow
 * for as many texts as max_batch_texts may be, and in JSON for a source and a target of each;
 * usually the limit of the body's length is reached first. */
#define MT_MAX_FORM_FIELDS (65536 + 256)
#define MT_MAX_JSON_VALUES (4 * 65536)
#define MT_MAX_FORM_FILES 16

/* Parses a decimal number ("0.5", "2e3"), whatever the process' locale. Returns false for anything
 * else, infinities included. */
bool mt_parse_number(const char *text, double *out);

/* params are zeroed, or may be finished already. */
void mt_params_finish(struct mt_params *params);

/* Parses a JSON document, whose top must be an object. MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_params_parse_json(struct mt_params *params, const char *bytes,
                                                  size_t length, struct mt_error *err);

/*
 * The textual encodings add to the fields that params already has, and the first of several with
 * one name counts: those of a query string go before those of the body. Within one encoding a name
 * that comes twice is MT_FORMAT, as in JSON, except for fields that are lists
 * (mt_field_may_repeat), whose other values mt_params_next finds. With is_form, line ends of values
 * become LF and one at the end is dropped, as browsers and LibreTranslate do. After a failure
 * params are empty.
 */

/* Parses application/x-www-form-urlencoded or a query string, which is written the same way.
 * MT_FORMAT also for malformed escapes or UTF-8; MT_LIMIT for too many fields. */
MT_MUST_CHECK enum mt_status mt_params_parse_form(struct mt_params *params, const char *bytes,
                                                  size_t length, bool is_form,
                                                  struct mt_error *err);

/* Parses multipart/form-data, always with is_form. Files are views into bytes. content_type is the
 * request's header, with the boundary. Errors are those of multipart.h, and those above. */
MT_MUST_CHECK enum mt_status mt_params_parse_multipart(struct mt_params *params,
                                                       const char *content_type, const char *bytes,
                                                       size_t length, struct mt_error *err);

/* Returns the first file of that field, or NULL. It is borrowed; its bytes are valid in begin,
 * finish and release of a handler. */
const struct mt_params_file *mt_params_file(const struct mt_params *params, const char *name);

/* Returns the value itself, or NULL where it is absent or null. It is borrowed. */
const struct cJSON *mt_params_get(const struct mt_params *params, const char *name);

/* Returns the next value with the same name, where a form repeats it, or NULL. */
const struct cJSON *mt_params_next(const struct cJSON *value);

/*
 * Typed access, like mt_json_get_* of base/json.h: where the value is absent or null, *out is left
 * alone and the status is MT_OK. Another type, or a value out of range, is MT_INVALID with name,
 * value and expectation. In textual encodings "" counts as absent, too, except for strings. found
 * may be NULL.
 */
MT_MUST_CHECK enum mt_status mt_params_string(const struct mt_params *params, const char *name,
                                              const char **out, bool *found, struct mt_error *err);
/* In the textual encodings "true", "false", "1" and "0" are allowed. */
MT_MUST_CHECK enum mt_status mt_params_bool(const struct mt_params *params, const char *name,
                                            bool *out, bool *found, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_params_integer(const struct mt_params *params, const char *name,
                                               int64_t low, int64_t high, int64_t *out, bool *found,
                                               struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_params_number(const struct mt_params *params, const char *name,
                                              double low, double high, double *out, bool *found,
                                              struct mt_error *err);

#endif
