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
 * is written as it was read (po, xliff, tmx, ts and xcstrings apart, where a translation stands
 * beside its text).
 * A file may be a package of several, as Word's documents are: what holds no words is copied.
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
    MT_DOCUMENT_PO,         /* gettext; what is untranslated is filled in */
    MT_DOCUMENT_JSON,       /* catalogues of i18next, vue-i18n, Chrome's extensions, ... */
    MT_DOCUMENT_ARB,        /* Flutter's catalogues */
    MT_DOCUMENT_PROPERTIES, /* Java's */
    MT_DOCUMENT_STRINGS,    /* Apple's */
    MT_DOCUMENT_YAML,       /* catalogues of Rails, Symfony, Hugo, ... */
    MT_DOCUMENT_MD,         /* Markdown */
    MT_DOCUMENT_ANDROID,    /* strings.xml */
    MT_DOCUMENT_RESX,       /* .NET's */
    MT_DOCUMENT_XLIFF,      /* 1.2, 2.0 to 2.2 */
    MT_DOCUMENT_TMX,
    MT_DOCUMENT_TS,          /* Qt's */
    MT_DOCUMENT_STRINGSDICT, /* Apple's, of plurals */
    MT_DOCUMENT_XCSTRINGS,   /* Xcode's */
    MT_DOCUMENT_DOCX,        /* Word's */
    MT_DOCUMENT_PPTX,        /* PowerPoint's */
    MT_DOCUMENT_XLSX,        /* Excel's */
    MT_DOCUMENT_ODT,         /* OpenDocument's texts, */
    MT_DOCUMENT_ODP,         /* presentations */
    MT_DOCUMENT_ODS,         /* and spreadsheets */
    MT_DOCUMENT_EPUB,        /* books */
    MT_N_DOCUMENT_FORMATS
};

/* "text", "srt", ...; ".txt", ".srt", ...; "text/plain; charset=utf-8", ... */
const char *mt_document_format_name(enum mt_document_format format);
const char *mt_document_extension(enum mt_document_format format);
const char *mt_document_content_type(enum mt_document_format format);

/* Every extension, or every name, for messages: ".txt, .srt, ... or .po". Returns out. */
#define MT_DOCUMENT_LIST_BYTES 512
const char *mt_document_list_extensions(char out[MT_DOCUMENT_LIST_BYTES]);
const char *mt_document_list_names(char out[MT_DOCUMENT_LIST_BYTES]);

/* By the extension of a file's name, in any case; .htm is .html, and so on. False: none of them. */
bool mt_document_format_of_file(const char *file_name, enum mt_document_format *out);
/* The extension of a translated file, by the name and the format of its source: ".docx", but
 * ".docm" for one with macros. */
const char *mt_document_extension_of_file(const char *file_name, enum mt_document_format format);
/* By mt_document_format_name. */
bool mt_document_format_of_name(const char *name, enum mt_document_format *out);

struct mt_document;

struct mt_document_options {
    enum mt_document_format format;
    bool retranslate; /* po, xliff, ts: what has a translation, too; header and comments stay */
    const char *target_lang; /* for files that say it; NULL, or none: not known. Borrowed */
    const char *source_lang; /* the same */
    const char *encoding;    /* what the file is said to be in; "" or NULL: encoding.h finds out */
    size_t max_texts;        /* MT_LIMIT above; 0: no limit */
    bool confines; /* a package is read, and written later, in a process of its own: nothing that is
                      in it can harm this one */
};

/* Looks at the first bytes of a file whose name says no format. MT_FORMAT where they are a PDF's,
 * an old Word's or the like, with a message that says what to save it as. MT_OK where they are not
 * known. */
MT_MUST_CHECK enum mt_status mt_document_check_kind(const char *bytes, size_t length,
                                                    struct mt_error *err);

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

/* A text like one of the document's, and its translation: a translation memory's. */
struct mt_document_match {
    int percent; /* of the words are the same */
    const char *origin;
    const struct mt_text *source, *target; /* plain text */
};
/* Whether translations stand beside similar ones in files of this format. */
bool mt_document_has_matches(const struct mt_document *document);
/* The file has the match beside the text's translation, for a document that has_matches. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_document_add_match(struct mt_document *document, size_t text,
                                                   const struct mt_document_match *match,
                                                   struct mt_error *err);
/* The text's translation is a translation memory's, which the file says where its format can. */
void mt_document_set_recalled(struct mt_document *document, size_t text);

/* What has become of the texts, and of the file. */
#define MT_DOCUMENT_LISTED 100
struct mt_document_report {
    size_t n_texts, n_translated;
    size_t n_refused; /* translations that are not used, for their placeholders */
    size_t n_left;    /* texts that are not translated, these among them; the first of them: */
    struct mt_document_left {
        size_t text;
        const char *reason; /* the document's */
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
