/*
 * JSON: strict parsing into cJSON trees, typed access with messages, and a writer that streams.
 *
 * cJSON accepts much that RFC 8259 does not (invalid UTF-8, trailing bytes, duplicate keys, NUL
 * escapes that cut strings short, numbers out of range), so every document first passes a scanner
 * of ours that accepts exactly RFC 8259 within limits. Numbers never depend on the locale.
 * Thread-safety: functions are safe; a tree or a writer belongs to one thread at a time.
 */
#ifndef MT_BASE_JSON_H
#define MT_BASE_JSON_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct cJSON;

/* Upper limit of max_depth, because the scanner and cJSON recurse. */
#define MT_JSON_MAX_DEPTH 128

/* Limits of a document. NULL or {0} means the defaults. */
struct mt_json_limits {
    size_t max_depth;  /* nesting of arrays and objects; default 16, at most MT_JSON_MAX_DEPTH */
    size_t max_values; /* strings, numbers, literals, arrays, objects and keys; default 4096 */
};

/* Accepts bytes[0, length) if it is one well-formed JSON document: grammar, UTF-8, depth, number of
 * values, no duplicate keys in one object (compared unescaped), no lone surrogate escapes, no
 * \u0000, nothing behind it, no number of 10^308 or more. A byte order mark before it is passed
 * over, as RFC 8259 (8.1) allows: editors and clients of Windows write it. what names the document
 * in messages ("config.json", "request body"); messages give line and column (in characters).
 * MT_FORMAT, MT_LIMIT (depth, number of values) or MT_MEMORY. Allocates nothing that grows with the
 * input but the key table of the open objects; time n log n. */
MT_MUST_CHECK enum mt_status mt_json_check(const char *bytes, size_t length,
                                           const struct mt_json_limits *limits, const char *what,
                                           struct mt_error *err);

/* Checks the document as mt_json_check does, then parses it. The caller frees *out with
 * cJSON_Delete. */
MT_MUST_CHECK enum mt_status mt_json_parse(const char *bytes, size_t length,
                                           const struct mt_json_limits *limits, const char *what,
                                           struct cJSON **out, struct mt_error *err);

/* Reads and parses a file of at most limit_bytes. */
MT_MUST_CHECK enum mt_status mt_json_read_file(const char *path, size_t limit_bytes,
                                               const struct mt_json_limits *limits,
                                               struct cJSON **out, struct mt_error *err);

/*
 * Typed access to a member of an object. An absent member, or one that is null, leaves *out
 * unchanged and is MT_OK, so that the caller sets the default before; *found (may be NULL) tells
 * whether it was there. A member of another type or out of range is MT_INVALID with key, value and
 * expectation.
 */
MT_MUST_CHECK enum mt_status mt_json_get_string(const struct cJSON *object, const char *key,
                                                const char **out, bool *found,
                                                struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_json_get_bool(const struct cJSON *object, const char *key,
                                              bool *out, bool *found, struct mt_error *err);
/* Reads an integer: 5 and 5.0 are integers, 5.5 is not. Range [low, high], both within +-2^53. */
MT_MUST_CHECK enum mt_status mt_json_get_integer(const struct cJSON *object, const char *key,
                                                 int64_t low, int64_t high, int64_t *out,
                                                 bool *found, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_json_get_number(const struct cJSON *object, const char *key,
                                                double low, double high, double *out, bool *found,
                                                struct mt_error *err);

/*
 * A writer appends compact JSON to a text buffer that it borrows, and inserts the commas. Failures
 * (memory, the buffer's limit) stay in the buffer's status. Wrong nesting is asserted, because it
 * is a bug of ours.
 */
#define MT_JSON_WRITER_DEPTH 32
struct mt_json_writer {
    struct mt_text *out;
    size_t depth;
    bool is_object[MT_JSON_WRITER_DEPTH];
    bool has_member[MT_JSON_WRITER_DEPTH];
    bool after_key;
};

void mt_json_writer_init(struct mt_json_writer *writer, struct mt_text *out);
void mt_json_begin_object(struct mt_json_writer *writer);
void mt_json_end_object(struct mt_json_writer *writer);
void mt_json_begin_array(struct mt_json_writer *writer);
void mt_json_end_array(struct mt_json_writer *writer);
void mt_json_key(struct mt_json_writer *writer, const char *key);
/* Well-formed UTF-8 is written unchanged, except that '"', '\\' and control characters are escaped;
 * a malformed byte becomes U+FFFD. */
void mt_json_string(struct mt_json_writer *writer, const char *bytes, size_t length);
void mt_json_string_z(struct mt_json_writer *writer, const char *string);
void mt_json_bool(struct mt_json_writer *writer, bool value);
void mt_json_null(struct mt_json_writer *writer);
void mt_json_integer(struct mt_json_writer *writer, int64_t value);
/* Writes milliseconds since 1970 as "2026-11-28T12:00:00.000Z". */
void mt_json_time(struct mt_json_writer *writer, int64_t unix_ms);
/* Writes a value that already is JSON. */
void mt_json_raw(struct mt_json_writer *writer, const char *json, size_t length);
/* Writes at most digits (1 to 17) significant digits, without trailing zeros; NaN and infinities
 * become null. */
void mt_json_number(struct mt_json_writer *writer, double value, int digits);
/* Writes a number with fixed decimals (0 to 9) behind the point, without trailing zeros: for arrays
 * of probabilities. Otherwise like mt_json_number. */
void mt_json_fixed(struct mt_json_writer *writer, double value, int decimals);

/* Writes as mt_json_fixed does, but always with a point, for readers that distinguish 90.0 from
 * 90. */
void mt_json_float(struct mt_json_writer *writer, double value, int decimals);

/* Write a member of an object: its key, and its value as the function without "member" writes it.
 * The last two only begin the array or object that is the value. */
void mt_json_member(struct mt_json_writer *writer, const char *key, const char *string);
void mt_json_member_bytes(struct mt_json_writer *writer, const char *key, const char *bytes,
                          size_t length);
void mt_json_member_bool(struct mt_json_writer *writer, const char *key, bool value);
void mt_json_member_integer(struct mt_json_writer *writer, const char *key, int64_t value);
void mt_json_member_count(struct mt_json_writer *writer, const char *key, uint64_t value);
void mt_json_member_number(struct mt_json_writer *writer, const char *key, double value,
                           int digits);
void mt_json_member_array(struct mt_json_writer *writer, const char *key);
void mt_json_member_object(struct mt_json_writer *writer, const char *key);

/* Writes the same as mt_json_number, NUL-terminated, into out, for text that is not JSON. Returns
 * its length. */
#define MT_JSON_NUMBER_BYTES 40
size_t mt_json_format_number(double value, int digits, char out[MT_JSON_NUMBER_BYTES]);
/* The same for nanoseconds (0 or more), which are written as milliseconds, down to a microsecond:
 * 12.345. */
size_t mt_json_format_ms(int64_t ns, char out[MT_JSON_NUMBER_BYTES]);

#endif
