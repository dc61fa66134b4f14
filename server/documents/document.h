/*
 * A file that is to be translated, taken apart into texts and what stays:
 *
 *   1                                   verbatim
 *   00:00:01,000 --> 00:00:02,500
 *   <i>I think that                     text: "I think that we should go."
 *
 *   2                                   verbatim, within the text's range
 *   00:00:02,600 --> 00:00:04,000
 *   we should go.</i>
 *
 * Whatever is not text comes out byte for byte: numbers, times, settings, comments, flags, blank
 * lines, line ends, a byte order mark. A text of several lines or cues is one text, and its
 * translation is laid out over the same ones. A file in which every translation is the text itself
 * is written as it was read (po apart, where a translation stands beside its text).
 *
 * Nothing here knows of models. Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DOCUMENTS_DOCUMENT_H
#define MT_SERVER_DOCUMENTS_DOCUMENT_H

#include "base/text.h"
#include "server/text/codes/coded.h"

enum mt_document_format {
    MT_DOCUMENT_TEXT, /* lines; paragraphs that were wrapped are wrapped again */
    MT_DOCUMENT_SRT,  /* SubRip */
    MT_DOCUMENT_VTT,  /* WebVTT (W3C) */
    MT_DOCUMENT_HTML,
    MT_DOCUMENT_PO, /* gettext; what is untranslated is filled in */
    MT_N_DOCUMENT_FORMATS
};

/* "text", "srt", ...; ".txt", ".srt", ...; "text/plain; charset=utf-8", ... */
const char *mt_document_format_name(enum mt_document_format format);
const char *mt_document_extension(enum mt_document_format format);
const char *mt_document_content_type(enum mt_document_format format);

/* Every extension, for messages: ".txt, .srt, .vtt, .html or .po". */
#define MT_DOCUMENT_EXTENSIONS ".txt, .srt, .vtt, .html or .po"

/* By the extension of a file's name, in any case; .htm is .html. False: none of them. */
bool mt_document_format_of_file(const char *file_name, enum mt_document_format *out);
/* By mt_document_format_name. */
bool mt_document_format_of_name(const char *name, enum mt_document_format *out);

struct mt_document;

struct mt_document_options {
    enum mt_document_format format;
    bool retranslate;     /* po: entries that have a translation, too; header and comments stay */
    const char *encoding; /* what the file is said to be in; "" or NULL: encoding.h finds out */
};

/* bytes are copied. MT_FORMAT: not the format, or its characters are not to be told, with the number
 * of the line; MT_INVALID: no such encoding; MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_document_create(const char *bytes, size_t length,
                                                const struct mt_document_options *options,
                                                struct mt_document **out, struct mt_error *err);
/* Takes NULL. */
void mt_document_destroy(struct mt_document *document);

/* What is to be translated, in the file's order. Borrowed; well-formed UTF-8 that ends in NUL. */
struct mt_document_text {
    const char *bytes;
    size_t length;
    mt_coded_reader *read; /* what are words in it and what is markup */
};
size_t mt_document_n_texts(const struct mt_document *document);
struct mt_document_text mt_document_text(const struct mt_document *document, size_t index);

/* What has become of the texts, and of the file. */
#define MT_DOCUMENT_LISTED 100
struct mt_document_report {
    size_t n_texts, n_translated;
    size_t n_refused; /* translations that are not used, for their placeholders */
    size_t n_left;    /* texts that are not translated, these among them; the first of them: */
    struct mt_document_left {
        size_t text;
        const char *reason; /* static */
    } left[MT_DOCUMENT_LISTED];
    const char *encoding; /* of the written file; borrowed */
};

/*
 * Puts the file into an empty out, with translations[i] in the place of text i, in its own encoding
 * if that has every character, else in UTF-8. A translation whose bytes are NULL leaves its text as
 * it was, and translations of NULL leave all; so does, in a po file, one that has lost a placeholder or put them in another order: a
 * program would crash over it.
 */
MT_MUST_CHECK enum mt_status
mt_document_write(const struct mt_document *document, const struct mt_text *translations,
                  struct mt_text *out, struct mt_document_report *report, struct mt_error *err);

#endif
