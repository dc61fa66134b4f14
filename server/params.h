/*
 * The fields of a request, whatever encoding they came in: a JSON object, a urlencoded form or the
 * query string. All end up as one JSON object; in the textual encodings every value is a string,
 * and numbers and booleans are read out of it.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PARAMS_H
#define MT_SERVER_PARAMS_H

#include "base/json.h"

struct cJSON;

struct mt_params {
    struct cJSON *object; /* NULL: no fields */
    bool is_text;         /* every value is a string */
};

/* Most fields of a form or query string. */
#define MT_MAX_FORM_FIELDS 256

/* A decimal number ("0.5", "2e3"), whatever the process' locale; false for anything else,
 * infinities included. */
bool mt_parse_number(const char *text, double *out);

/* Takes zeroed or already finished params. */
void mt_params_finish(struct mt_params *params);

/* A JSON document whose top must be an object. MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_params_parse_json(struct mt_params *params, const char *bytes,
                                                  size_t length, struct mt_error *err);

/* application/x-www-form-urlencoded, which a query string is too. Of repeated names the first
 * counts. With is_form, line ends of values become LF and one final line end is dropped, as
 * browsers and LibreTranslate do. MT_FORMAT for malformed escapes or UTF-8. */
MT_MUST_CHECK enum mt_status mt_params_parse_form(struct mt_params *params, const char *bytes,
                                                  size_t length, bool is_form,
                                                  struct mt_error *err);

/* The value itself, or NULL where it is absent or null. Borrowed. */
const struct cJSON *mt_params_get(const struct mt_params *params, const char *name);

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
