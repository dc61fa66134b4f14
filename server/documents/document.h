/*
 * A file to be translated, divided into texts and the bytes that stay:
 *
 *   1                                   verbatim
 *   00:00:01,000 --> 00:00:02,500
 *   <i>I think that                     text: "I think that we should go."
 *
 *   2                                   verbatim, within the text's range
 *   00:00:02,600 --> 00:00:04,000
 *   we should go.</i>
 *
 * Everything that is not text stays byte for byte: numbers, times, settings, comments, flags, blank
 * lines, line ends, a byte order mark. A text of several lines or cues is one text, and its
 * translation is laid out over the same ones. If every translation equals its text, then the
 * written file equals the one that was read (except po, xliff, tmx, ts and xcstrings, where a
 * translation stands beside its text).
 *
 * A file may be a package of several files, like Word's documents; those without words are copied.
 *
 * This module does not use models. Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DOCUMENTS_DOCUMENT_H
#define MT_SERVER_DOCUMENTS_DOCUMENT_H

#include "base/text.h"
#include "server/text/codes/coded.h"

enum mt_document_format {
    MT_DOCUMENT_TEXT, /* lines; wrapped paragraphs are wrapped again */
    MT_DOCUMENT_SRT,  /* SubRip */
    MT_DOCUMENT_VTT,  /* WebVTT (W3C) */
    MT_DOCUMENT_HTML,
    MT_DOCUMENT_PO,         /* gettext; missing translations are filled in */
    MT_DOCUMENT_JSON,       /* catalogues of i18next, vue-i18n, Chrome's extensions, ... */
    MT_DOCUMENT_ARB,        /* Flutter's catalogues */
    MT_DOCUMENT_PROPERTIES, /* Java's */
    MT_DOCUMENT_STRINGS,    /* Apple's */
    MT_DOCUMENT_YAML,       /* catalogues of Rails, Symfony, Hugo, ... */
    MT_DOCUMENT_MD,         /* Markdown */
    MT_DOCUMENT_ANDROID,    /* strings.xml */
    MT_DOCUMENT_RESX,       /* .NET's */
    MT_DOCUMENT_XLIFF,      /* versions 1.2 and 2.0 to 2.2 */
    MT_DOCUMENT_TMX,
    MT_DOCUMENT_TS,          /* Qt's */
    MT_DOCUMENT_STRINGSDICT, /* Apple's, of plurals */
    MT_DOCUMENT_XCSTRINGS,   /* Xcode's */
    MT_DOCUMENT_DOCX,        /* Word's */
    MT_DOCUMENT_PPTX,        /* PowerPoint's */
    MT_DOCUMENT_XLSX,        /* Excel's */
    MT_DOCUMENT_ODT,         /* OpenDocument's texts */
    MT_DOCUMENT_ODP,         /* OpenDocument's presentations */
    MT_DOCUMENT_ODS,         /* OpenDocument's spreadsheets */
    MT_DOCUMENT_EPUB,        /* electronic books */
    MT_N_DOCUMENT_FORMATS
};

/* Return "text", "srt", ...; ".txt", ".srt", ...; and "text/plain; charset=utf-8", ... */
const char *mt_document_format_name(enum mt_document_format format);
const char *mt_document_extension(enum mt_document_format format);
const char *mt_document_content_type(enum mt_document_format format);

/* Write every extension, or every name, for messages: ".txt, .srt, ... or .po". Both return out. */
#define MT_DOCUMENT_LIST_BYTES 512
const char *mt_document_list_extensions(char out[MT_DOCUMENT_LIST_BYTES]);
const char *mt_document_list_names(char out[MT_DOCUMENT_LIST_BYTES]);

/* Finds the format by the extension of a file's name, in any case; .htm is .html, and so on.
 * Returns false where it is none of them. */
bool mt_document_format_of_file(const char *file_name, enum mt_document_format *out);
/* Returns the extension of a translated file, which depends on the name and the format of its
 * source: ".docx", but ".docm" for a file with macros. */
const char *mt_document_extension_of_file(const char *file_name, enum mt_document_format format);
/* Finds the format by the name that mt_document_format_name returns. */
bool mt_document_format_of_name(const char *name, enum mt_document_format *out);

struct mt_document;

struct mt_document_options {
    enum mt_document_format format;
    /* po, xliff, ts: what already has a translation is translated again, except header and
     * comments */
    bool retranslate;
    const char *target_lang; /* for files that name it; NULL: unknown. Borrowed */
    const char *source_lang; /* like target_lang */
    /* encoding that the file is said to have; "" or NULL: encoding.h detects it */
    const char *encoding;
    size_t max_texts; /* MT_LIMIT above; 0: no limit */
    /* a package is read and later written in a separate process, so that nothing in it can harm
     * this one */
    bool confines;
};

/* Looks at the first bytes of a file whose name has no known extension. MT_FORMAT where it is a
 * PDF, an old Word document or the like, with a message that says as what to save it; MT_OK
 * otherwise. */
MT_MUST_CHECK enum mt_status mt_document_check_kind(const char *bytes, size_t length,
                                                    struct mt_error *err);

/* Reads a file; bytes are copied. MT_FORMAT: the file is not of the format, or its encoding cannot
 * be detected, with the number of the line; MT_INVALID: the encoding does not exist; MT_LIMIT,
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_document_create(const char *bytes, size_t length,
                                                const struct mt_document_options *options,
                                                struct mt_document **out, struct mt_error *err);
/* NULL is allowed. */
void mt_document_destroy(struct mt_document *document);

/* One text to be translated, in the file's order. It is borrowed, well-formed UTF-8, and ends in
 * NUL. */
struct mt_document_text {
    const char *bytes;
    size_t length;
    mt_coded_reader *read; /* tells words from markup */
};
size_t mt_document_n_texts(const struct mt_document *document);
struct mt_document_text mt_document_text(const struct mt_document *document, size_t index);

/* A similar text with its translation, from a translation memory. */
struct mt_document_match {
    int percent; /* how many of the words are the same */
    const char *origin;
    const struct mt_text *source, *target; /* plain text */
};
/* Whether files of this format can have translations of similar texts beside a text. */
bool mt_document_has_matches(const struct mt_document *document);
/* Adds the match to the file beside the text's translation, if the document has_matches.
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_document_add_match(struct mt_document *document, size_t text,
                                                   const struct mt_document_match *match,
                                                   struct mt_error *err);
/* Notes that the text's translation comes from a translation memory. The file says so where its
 * format can. */
void mt_document_set_recalled(struct mt_document *document, size_t text);

/* What was done with the texts and the file. */
#define MT_DOCUMENT_LISTED 100
struct mt_document_report {
    size_t n_texts, n_translated;
    size_t n_refused; /* translations that were not used, because of their placeholders */
    /* texts that were not translated, including the refused ones; left has the first of them */
    size_t n_left;
    struct mt_document_left {
        size_t text;
        const char *reason; /* belongs to the document */
    } left[MT_DOCUMENT_LISTED];
    const char *encoding; /* encoding of the written file; borrowed */
};

/*
 * Writes the file into out, which is empty, with translations[i] in the place of text i. It keeps
 * its encoding if that has every character; otherwise it becomes UTF-8. A translation whose bytes
 * are NULL leaves its text unchanged, and translations of NULL leave all texts. In a po file a
 * translation that lost a placeholder, or changed the order of placeholders, is not used, because
 * it would crash a program.
 */
MT_MUST_CHECK enum mt_status
mt_document_write(const struct mt_document *document, const struct mt_text *translations,
                  struct mt_text *out, struct mt_document_report *report, struct mt_error *err);

#endif
