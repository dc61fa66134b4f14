/*
 * UTF-8 text: validation and counting, and a growable buffer with a limit.
 */
#ifndef MT_BASE_TEXT_H
#define MT_BASE_TEXT_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the length of the longest prefix of bytes[0, length) that is well-formed UTF-8 (no
 * overlong forms, no surrogates, nothing above U+10FFFF). Source: Unicode 15, table 3-7. */
size_t mt_utf8_valid_prefix(const char *bytes, size_t length);

/* Returns the length of the byte order mark at the text's beginning: 3 or 0. */
size_t mt_utf8_mark_length(const char *bytes, size_t length);

/* Returns the length of the character that begins with this byte: 1 to 4; 1 for a byte with which
 * none begins. */
size_t mt_utf8_length(unsigned char first_byte);
static inline size_t mt_char_length(const char *at)
{
    return mt_utf8_length((unsigned char)*at);
}

/* Returns the code point at text, which must be well-formed UTF-8. */
uint32_t mt_utf8_decode(const char *text);

/* Writes the code point, up to U+10FFFF, and returns how many bytes it took. */
size_t mt_utf8_encode(uint32_t code_point, char out[4]);

/* Return the number of code points, or of UTF-16 code units, in well-formed UTF-8. */
size_t mt_utf8_count(const char *bytes, size_t length);
size_t mt_utf8_count_utf16(const char *bytes, size_t length);

/* Returns the value of a hexadecimal digit in either case, or -1. */
int mt_hex_digit(char c);

/* Whether the character has Unicode's property White_Space, which is what "blank" means wherever
 * text is stripped or tested for emptiness. */
bool mt_is_space(uint32_t code_point);

/*
 * Growable bytes. Zero-initialise, and set limit_bytes for a limit. After the first failure the
 * buffer refuses everything and `status` keeps the reason, so that a writer may append freely and
 * check once at the end. NUL-terminated once something was appended. Thread-safety: one thread at a
 * time.
 */
struct mt_text {
    char *bytes;
    size_t length, capacity;
    size_t limit_bytes; /* 0: no limit */
    enum mt_status status;
};

void mt_text_finish(struct mt_text *text);
void mt_text_append(struct mt_text *text, const char *bytes, size_t length);
/* Appends a copy of its own bytes[from, from + length). */
void mt_text_append_own(struct mt_text *text, size_t from, size_t length);
void mt_text_append_char(struct mt_text *text, uint32_t code_point);
void mt_text_append_string(struct mt_text *text, const char *string);
void mt_text_appendf(struct mt_text *text, const char *format, ...) MT_PRINTF(2, 3);

/* Appends bytes as content of XML or HTML: & < > become entities. */
void mt_text_append_markup(struct mt_text *text, const char *bytes, size_t length);

/* Appends bytes in a form for lines of a log or a terminal. Control characters would break lines or
 * control the terminal, so C0, DEL and C1 (in UTF-8, U+0080 to U+009F) are escaped. So are
 * separators of lines and paragraphs, characters that reorder text, and invisible ones (U+200E,
 * U+2028, U+202E, U+FEFF, tags, ...), which make a text look like another one. Malformed bytes
 * become U+FFFD. */
void mt_text_append_printable(struct mt_text *text, const char *bytes, size_t length);

/* Appends well-formed JSON, in which unprintable characters become \uXXXX, which means the same in
 * JSON; line feeds stay. */
void mt_text_append_printable_json(struct mt_text *text, const char *json, size_t length);

/* Replaces every byte that belongs to no well-formed character by U+FFFD. MT_MEMORY, MT_LIMIT; what
 * names the text in messages. */
MT_MUST_CHECK enum mt_status mt_text_repair(struct mt_text *text, const char *what,
                                            struct mt_error *err);

/* Returns MT_OK, or the first failure with a message in err. */
MT_MUST_CHECK enum mt_status mt_text_check(const struct mt_text *text, const char *what,
                                           struct mt_error *err);

/* Gives the bytes (malloc'd, NUL-terminated, never NULL on MT_OK) to the caller and empties the
 * buffer. */
MT_MUST_CHECK enum mt_status mt_text_take(struct mt_text *text, const char *what, char **out,
                                          size_t *out_length, struct mt_error *err);

#endif
