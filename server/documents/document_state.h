/*
 * What the formats of document.h share. Only document*.c use this.
 */
#ifndef MT_SERVER_DOCUMENTS_DOCUMENT_STATE_H
#define MT_SERVER_DOCUMENTS_DOCUMENT_STATE_H

#include "base/flat.h"
#include "server/documents/document.h"
#include "server/documents/encoding.h"
#include "server/text/language.h"
#include "server/text/splitter.h"

/* Most bytes that an edit writes, with the NUL. */
#define MT_DOCUMENT_EDIT_BYTES 128

struct mt_document_piece {
    struct mt_text text;
    const char *left; /* why it stays as it is, and its text is empty; NULL: it does not. Borrowed
                              as long as the document */
    struct mt_range range;  /* bytes of the file that its translation replaces */
    size_t first, n;        /* the format's own */
    size_t line;            /* where it begins */
    struct mt_text matches; /* as the file has them (write_match) */
    bool is_recalled;       /* its translation is a translation memory's */
};

/* Makes the format's own of what its pack has put, in a document that has bytes, parts and pieces. What
 * it says is checked: pieces and indices, too. MT_MEMORY; all else breaks flat. */
typedef enum mt_status mt_document_unpack(struct mt_document *document, struct mt_flat *flat,
                                          struct mt_error *err);

/* A document while it is written. Texts may lie within the ranges of others: what is around one of them
 * has the writing handed on for what is inside. */
struct mt_document_writing {
    const struct mt_document *document;
    const struct mt_text *translations;
    struct mt_document_report *report;
    size_t piece;     /* those before it are not to be written */
    bool is_edited;   /* with the document's edits */
    bool has_changed; /* a translation was put in */
    const char
        *refused; /* why the last one was not, by write_around; static. NULL: it lost a code */
};

/* Appends the document's bytes of that range; texts that begin in it are written translated. */
void mt_document_write_inner(struct mt_document_writing *writing, struct mt_range range,
                             struct mt_text *out);

/* One format. */
struct mt_document_reader {
    mt_coded_reader *read_text; /* what are words in a text and what is markup */
    enum mt_status (*read)(struct mt_document *document, const struct mt_document_options *options,
                           struct mt_error *err);
    /* Appends what takes the place of the piece's range. False: nothing was appended, and the file
     * keeps what it has. NULL: the translation as it is. */
    bool (*write)(const struct mt_document *document, const struct mt_document_piece *piece,
                  const char *translation, size_t length, struct mt_text *out);
    /* As write, but a text that is its own translation leaves the file's bytes as they are. */
    bool (*write_around)(struct mt_document_writing *writing, const struct mt_document_piece *piece,
                         const char *translation, size_t length, struct mt_text *out);
    /* Appends a match of a piece as the file has it, for write to put in. NULL: it has none. */
    void (*write_match)(const struct mt_document *document, const struct mt_document_piece *piece,
                        const struct mt_document_match *match, struct mt_text *out);
    bool stands_beside; /* with write_around: but for these, which are written beside their texts */
    /* Changes the whole file that was written of the pieces: those that stand nowhere by themselves are
     * put in. is_translated: one of them differs from its text. NULL: nothing is to be done. */
    void (*join)(const struct mt_document *document, const struct mt_text *translations,
                 bool is_translated, struct mt_text *out);
    void (*finish)(void *own); /* NULL: nothing to free */
    /* Where the file says in which encoding it is; an empty range: nowhere. NULL: files of this
     * format say nothing. bytes end in NUL. */
    struct mt_range (*find_charset)(const char *bytes, size_t length);
    /* A translation stands in the place of a program's message: one that is the message itself leaves
     * the file's bytes as they are, and one that mt_message_is_kept refuses leaves the message. */
    bool replaces_messages;
    /* A file is a package (package.h), of which read makes the parts that hold words. It may be read
     * in another process (document_confined.h): what writing needs of the format's own is handed over.
     * NULL: it is read here. */
    bool is_package;
    void (*pack)(const void *own, struct mt_text *out);
    mt_document_unpack *unpack;
};

extern const struct mt_document_reader mt_document_text_reader, mt_document_html_reader,
    mt_document_srt_reader, mt_document_vtt_reader, mt_document_po_reader, mt_document_json_reader,
    mt_document_arb_reader, mt_document_properties_reader, mt_document_strings_reader,
    mt_document_yaml_reader, mt_document_md_reader, mt_document_android_reader,
    mt_document_resx_reader, mt_document_xliff_reader, mt_document_tmx_reader,
    mt_document_ts_reader, mt_document_stringsdict_reader, mt_document_xcstrings_reader,
    mt_document_docx_reader, mt_document_pptx_reader, mt_document_xlsx_reader,
    mt_document_odt_reader, mt_document_odp_reader, mt_document_ods_reader, mt_document_epub_reader;

/* An entry of a package that holds words. */
struct mt_document_part {
    size_t entry;
    char name[80];         /* its beginning, for messages */
    char reason[200];      /* why it stays as it is; or "" */
    struct mt_range range; /* of the document's bytes, which are its parts, one behind the other */
};

/* Kinds of reasons that come from another process. */
#define MT_DOCUMENT_REASONS 8

/* What stands in the place of other bytes in a file into which a translation is put: the name of its
 * language. It lies outside of the texts' ranges, or within one that is copied with them. */
struct mt_document_edit {
    struct mt_range range;
    struct mt_range
        scope; /* something in here has to be translated; empty: something in the file */
    char text[MT_DOCUMENT_EDIT_BYTES];
};

struct mt_document {
    const struct mt_document_reader *reader;
    bool confines; /* packages are read and written in another process */
    struct mt_encoding encoding;
    char *bytes; /* the file in UTF-8, ending in NUL */
    size_t length;
    size_t begin; /* behind the byte order mark */
    const char *line_end;
    struct mt_document_piece *pieces; /* ascending; disjoint, or one within the other */
    size_t n, capacity;
    struct mt_document_edit *edits; /* ascending and disjoint */
    size_t n_edits, edits_capacity;
    size_t max_n;  /* MT_LIMIT above; 0: no limit */
    void *own;     /* the format's, for finish */
    char *package; /* the file, where that is one; else NULL */
    size_t package_length;
    struct mt_document_part *parts;
    size_t n_parts;
    struct mt_text reasons[MT_DOCUMENT_REASONS]; /* that pieces are left for */
};

/* Whether an entry of a package holds words, by the package's own table of contents. */
typedef bool mt_document_is_part(void *context, const char *name);

/* Takes the document's bytes, a package, apart: the entries that hold words are its bytes then, the
 * first one first, others in their order. Errors of package.h; MT_FORMAT: one is no UTF-8. */
MT_MUST_CHECK enum mt_status mt_document_read_parts(struct mt_document *document,
                                                    mt_document_is_part *is_part, void *context,
                                                    struct mt_error *err);
/* Whether the package has the entry, for a document whose bytes are still the package's. */
bool mt_document_has_entry(const struct mt_document *document, const char *name);
/* One entry by its name, in any case. MT_FORMAT: there is none. */
MT_MUST_CHECK enum mt_status mt_document_read_entry(const struct mt_document *document,
                                                    const char *name, struct mt_text *out,
                                                    struct mt_error *err);
/* Appends the package with parts[i] in the place of part i; NULL bytes: it stays. */
MT_MUST_CHECK enum mt_status mt_document_write_parts(const struct mt_document *document,
                                                     const struct mt_text *parts,
                                                     struct mt_text *out, struct mt_error *err);

/* Calls the reader's read, and sorts the pieces and edits that it found. */
MT_MUST_CHECK enum mt_status mt_document_read(struct mt_document *document,
                                              const struct mt_document_options *options,
                                              struct mt_error *err);

/* Adds a piece whose text is yet empty; *out is valid until the next one is added. MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_document_add(struct mt_document *document, struct mt_range range,
                                             struct mt_document_piece **out, struct mt_error *err);

MT_MUST_CHECK enum mt_status mt_document_add_edit(struct mt_document *document,
                                                  struct mt_range range, const char *text,
                                                  struct mt_error *err);
/* As mt_document_add_edit, but the edit is made only if something in scope is translated. */
MT_MUST_CHECK enum mt_status mt_document_add_edit_within(struct mt_document *document,
                                                         struct mt_range range,
                                                         struct mt_range scope, const char *text,
                                                         struct mt_error *err);

/* Puts a text in the place of bytes of the file. Pieces must not stand behind them yet. */
MT_MUST_CHECK enum mt_status mt_document_splice(struct mt_document *document, struct mt_range range,
                                                const char *text, struct mt_error *err);

/* Lines of a file, which end with CR LF, LF, CR, or CR CR LF, which is CR LF written as text by a
 * program that had it already. Begin with {.next = document->begin}. */
struct mt_document_line {
    size_t begin, end; /* without the line end */
    size_t next;       /* where the next one begins */
    size_t number;     /* from 1 */
};

/* False at the end of the file. */
bool mt_document_next_line(const struct mt_document *document, struct mt_document_line *line);

/* Whether a line holds nothing but blanks. */
bool mt_document_is_blank(const struct mt_document *document, size_t begin, size_t end);

/* MT_FORMAT: "line N: \"what stands there\" message". */
enum mt_status mt_document_fail(const struct mt_document *document,
                                const struct mt_document_line *line, struct mt_error *err,
                                const char *message);

/* Appends bytes of the document as they are. */
static inline void mt_document_append(const struct mt_document *document, struct mt_range range,
                                      struct mt_text *out)
{
    mt_text_append(out, document->bytes + range.begin, range.end - range.begin);
}

#endif
