/*
 * How the characters of a file are written, found out, read and written again. What is UTF-8, which
 * most files are, is passed over: nobody converts it.
 *
 *   a byte order mark -> what was asked for -> what the file declares -> UTF-8, if it is valid
 *   -> UTF-16 without a mark, by its zeros -> what uchardet takes it for
 *
 * ICU's converters read and write; a character is a character in both, so that what is read and
 * written unchanged has the same bytes, but for those that an encoding of East Asia can write in two
 * ways.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_DOCUMENTS_ENCODING_H
#define MT_SERVER_DOCUMENTS_ENCODING_H

#include "base/text.h"

/* Names of encodings, with their NUL. */
#define MT_ENCODING_BYTES 48

struct mt_encoding {
    char name[MT_ENCODING_BYTES]; /* "UTF-8", "windows-1252", ...: one that ICU knows */
    bool is_utf8;
    char mark[4];      /* the byte order mark that the file begins with, */
    size_t mark_bytes; /* and its length; 0: there is none */
};

struct mt_encoding_question {
    const char *bytes; /* the file */
    size_t length;
    const char *asked; /* what a person says that it is; "" or NULL: nothing */
    /* What the file says; a name that is not known, or cannot be right, counts for nothing. */
    const char *declared;
    size_t declared_length;
};

/* A file that this calls UTF-8 is well-formed and has no NUL. MT_INVALID: the encoding that the
 * client named is not known. MT_FORMAT: the file is no text, or its encoding cannot be found out;
 * the message names the line. */
MT_MUST_CHECK enum mt_status mt_encoding_find(const struct mt_encoding_question *question,
                                              struct mt_encoding *out, struct mt_error *err);

/* Whether it is one of UTF-8's names. It need not end in NUL. */
bool mt_encoding_is_utf8(const char *name, size_t length);

/* Appends what stands behind the byte order mark as UTF-8. MT_FORMAT: bytes that the encoding does
 * not have, with the number of the line; a NUL. */
MT_MUST_CHECK enum mt_status mt_encoding_decode(const struct mt_encoding *encoding,
                                                const char *bytes, size_t length,
                                                struct mt_text *out, struct mt_error *err);

/* Appends UTF-8 in the encoding. False: it lacks one of the characters, or there is no memory; out
 * is to be finished then. */
bool mt_encoding_encode(const struct mt_encoding *encoding, const char *text, size_t length,
                        struct mt_text *out);

#endif
