/*
 * Reader: walks a JSON document that mt_json_check has accepted, from left to right, without
 * building a tree: for large documents, and for integers that a double cannot hold.
 *
 *   mt_json_reader_enter(&reader);
 *   while (mt_json_reader_next(&reader)) {
 *       struct mt_json_span key = mt_json_reader_string(&reader);
 *       if (mt_json_span_equals(key, "size") && mt_json_reader_u64(&reader, &size)) ...
 *       else mt_json_reader_skip(&reader);
 *   }
 *
 * It trusts the check: on bytes that were not checked its behaviour is undefined. Nothing is
 * allocated; spans point into the document. Thread-safety: one thread at a time.
 */
#ifndef MT_BASE_JSON_READER_H
#define MT_BASE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_json_reader {
    const char *at, *end;
};

/* The bytes between the quotes of a string, still escaped. */
struct mt_json_span {
    const char *bytes;
    size_t length;
};

void mt_json_reader_init(struct mt_json_reader *reader, const char *bytes, size_t length);

/* Returns the byte that tells what comes next: one of { [ " t f n - 0..9, after a key that of the
 * value; 0 at the end of the document. */
char mt_json_reader_peek(struct mt_json_reader *reader);

/* Enters the next object or array. */
void mt_json_reader_enter(struct mt_json_reader *reader);

/* Whether the object has another key, or the array another element. After the last one this leaves
 * it and returns false. */
bool mt_json_reader_next(struct mt_json_reader *reader);

/* Reads the next string or key. */
struct mt_json_span mt_json_reader_string(struct mt_json_reader *reader);

/* Skips the next value of any kind. */
void mt_json_reader_skip(struct mt_json_reader *reader);

/* Reads the next value if it is an integer from 0 to 2^64 - 1, written with digits only. Otherwise
 * returns false without reading it. */
bool mt_json_reader_u64(struct mt_json_reader *reader, uint64_t *out);

/* Returns the beginning of the next value's text for messages: at most 40 bytes, cut at a character
 * boundary. */
struct mt_json_span mt_json_reader_excerpt(struct mt_json_reader *reader);

/* Decodes the character or escape sequence at *at and moves *at behind it. */
uint32_t mt_json_next_code_point(const char **at);

/* Whether the span, unescaped, is text. */
bool mt_json_span_equals(struct mt_json_span span, const char *text);

/* Unescapes into out, which has room for span.length bytes; returns how many it took. No NUL. */
size_t mt_json_span_unescape(struct mt_json_span span, char *out);

#endif
