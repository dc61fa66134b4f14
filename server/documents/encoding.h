/*
 * Detects the encoding of a file, and reads and writes it. UTF-8, which most files have, is not
 * converted. The encoding is the first of these that applies:
 *
 *   a byte order mark -> what was asked for -> what the file declares, unless that is wrong because
 *   the file is UTF-8 -> UTF-8, if it is valid -> UTF-16 without a mark, by its zeros -> what
 *   uchardet detects
 *
 * ICU's converters read and write one character for one character, so that unchanged text has the
 * same bytes again, except in encodings of East Asia that can write a character in two ways.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_ENCODING_H
#define MT_SERVER_DOCUMENTS_ENCODING_H

#include "base/text.h"

/* Most bytes of an encoding's name, with its NUL. */
#define MT_ENCODING_BYTES 48

struct mt_encoding {
    char name[MT_ENCODING_BYTES]; /* a name that ICU knows: "UTF-8", "windows-1252", ... */
    bool is_utf8;
    char mark[4];      /* the byte order mark at the file's beginning */
    size_t mark_bytes; /* length of the mark; 0: there is none */
};

struct mt_encoding_question {
    const char *bytes; /* the file */
    size_t length;
    const char *asked; /* encoding that the client named; "" or NULL: none */
    /* What the file declares. An unknown name, or one that cannot be right, is ignored. */
    const char *declared;
    size_t declared_length;
};

/* A file for which this returns UTF-8 is well-formed and has no NUL. MT_INVALID: the encoding that
 * the client named is unknown. MT_FORMAT: the file is not text, or its encoding cannot be detected;
 * the message names the line. */
MT_MUST_CHECK enum mt_status mt_encoding_find(const struct mt_encoding_question *question,
                                              struct mt_encoding *out, struct mt_error *err);

/* Whether the name means UTF-8. It need not end in NUL. */
bool mt_encoding_is_utf8(const char *name, size_t length);

/* Appends as UTF-8 what stands behind the byte order mark. MT_FORMAT, with the number of the line:
 * bytes that the encoding does not have, or a NUL. */
MT_MUST_CHECK enum mt_status mt_encoding_decode(const struct mt_encoding *encoding,
                                                const char *bytes, size_t length,
                                                struct mt_text *out, struct mt_error *err);

/* Appends UTF-8 text in the encoding. Returns false where the encoding lacks a character, or memory
 * is missing; then out has to be finished. */
bool mt_encoding_encode(const struct mt_encoding *encoding, const char *text, size_t length,
                        struct mt_text *out);

#endif
