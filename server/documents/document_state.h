/*
 * What the formats of document.h share. Only document*.c include this.
 */
#ifndef MT_SERVER_DOCUMENTS_DOCUMENT_STATE_H
#define MT_SERVER_DOCUMENTS_DOCUMENT_STATE_H

#include "base/flat.h"
#include "server/documents/document.h"
#include "server/documents/encoding.h"
#include "server/text/language.h"
#include "server/text/splitter.h"

/* Most bytes that an edit writes, including the NUL. */
#define MT_DOCUMENT_EDIT_BYTES 128

struct mt_document_piece {
    struct mt_text text;
    /* tells words from markup in the text, which is then in another format than the file, and no
     * message; NULL: the reader's read_text does */
    mt_coded_reader *read_text;
    /* why the text, which is then empty, is not translated; NULL: it is. Borrowed as long as the
     * document */
    const char *left;
    struct mt_range range;  /* bytes of the file that the translation replaces */
    size_t first, n;        /* used by the format */
    size_t line;            /* line where it begins */
    struct mt_text matches; /* in the file's form (write_match) */
    bool is_recalled;       /* its translation comes from a translation memory */
};

/* Restores the format's own data from what its pack wrote, for a document that has bytes, parts and
 * pieces. The data are checked, including numbers of pieces and indexes. MT_MEMORY; any other fault
 * marks flat as broken. */
typedef enum mt_status mt_document_unpack(struct mt_document *document, struct mt_flat *flat,
                                          struct mt_error *err);

/* A document while it is written. Texts may lie within the ranges of others; then the format that
 * writes the outer text calls mt_document_write_inner for the inner ones. */
struct mt_document_writing {
    const struct mt_document *document;
    const struct mt_text *translations;
    struct mt_document_report *report;
    size_t piece;     /* pieces before this one are not written */
    bool is_edited;   /* the document's edits are made */
    bool has_changed; /* a translation was put in */
    const char
        /* why write_around refused the last translation, static; NULL: the translation lost a
         * code */
        *refused;
};

/* Returns the index of the first text that begins at `at` or behind it; the number of texts where
 * none does. */
size_t mt_document_find_piece(const struct mt_document *document, size_t at);

/* Appends the document's bytes of that range; texts that begin in it are translated. */
void mt_document_write_inner(struct mt_document_writing *writing, struct mt_range range,
                             struct mt_text *out);

/* One format. */
struct mt_document_reader {
    mt_coded_reader *read_text; /* tells words from markup in a text */
    enum mt_status (*read)(struct mt_document *document, const struct mt_document_options *options,
                           struct mt_error *err);
    /* Appends what replaces the piece's range. Returns false where nothing was appended and the
     * file stays as it is. NULL: the translation itself replaces it. */
    bool (*write)(const struct mt_document *document, const struct mt_document_piece *piece,
                  const char *translation, size_t length, struct mt_text *out);
    /* Does what write does, but leaves the file's bytes as they are where a text equals its
     * translation. */
    bool (*write_around)(struct mt_document_writing *writing, const struct mt_document_piece *piece,
                         const char *translation, size_t length, struct mt_text *out);
    /* Appends a match of a piece in the file's form, for write to insert. NULL: the format has
     * none. */
    void (*write_match)(const struct mt_document *document, const struct mt_document_piece *piece,
                        const struct mt_document_match *match, struct mt_text *out);
    /* translations stand beside their texts, so that equal ones are written, too */
    bool stands_beside;
    /* Changes the whole file after its pieces were written, to insert translations that have no
     * place of their own. is_translated: at least one differs from its text. NULL: nothing has to
     * be inserted. */
    void (*join)(const struct mt_document *document, const struct mt_text *translations,
                 bool is_translated, struct mt_text *out);
    void (*finish)(void *own); /* NULL: nothing to free */
    /* Returns where the file names its encoding; an empty range: nowhere. NULL: files of this
     * format do not name it. bytes end in NUL. */
    struct mt_range (*find_charset)(const char *bytes, size_t length);
    /* Translations replace a program's messages. One that equals the message leaves the file's
     * bytes as they are, and one that mt_message_can_replace refuses is not used. */
    bool replaces_messages;
    /* The file is a package (package.h), and read makes its parts that hold words. It may be read
     * in another process (document_confined.h): then pack hands over the format's own data that
     * writing needs. NULL: it is read in this process. */
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
    char name[80];         /* the beginning of its name, for messages */
    char reason[200];      /* why it is not translated; or "" */
    struct mt_range range; /* in the document's bytes, which are all parts one behind the other */
};

/* Most different reasons that another process may return. */
#define MT_DOCUMENT_REASONS 8

/* Bytes that are replaced in a file as soon as it has a translation: the name of its language. They
 * are outside of the texts' ranges, or within one that is copied together with them. */
struct mt_document_edit {
    struct mt_range range;
    struct mt_range
        /* the edit is made if something in this range is translated; empty: anything in the file */
        scope;
    char text[MT_DOCUMENT_EDIT_BYTES];
};

struct mt_document {
    const struct mt_document_reader *reader;
    bool confines; /* packages are read and written in a separate process */
    struct mt_encoding encoding;
    char *bytes; /* the file in UTF-8, ending in NUL */
    size_t length;
    size_t begin; /* position behind the byte order mark */
    const char *line_end;
    struct mt_document_piece *pieces; /* ascending; disjoint or nested */
    size_t n, capacity;
    struct mt_document_edit *edits; /* ascending and disjoint */
    size_t n_edits, edits_capacity;
    size_t max_n;  /* MT_LIMIT above; 0: no limit */
    void *own;     /* the format's own data, which finish frees */
    char *package; /* the whole file, if it is a package; otherwise NULL */
    size_t package_length;
    struct mt_document_part *parts;
    size_t n_parts;
    struct mt_text reasons[MT_DOCUMENT_REASONS]; /* why pieces are not translated */
};

/* Whether an entry of a package holds words, which the package's table of contents tells. */
typedef bool mt_document_is_part(void *context, const char *name);

/* Divides a package: its entries with words become the document's bytes, the first entry first, the
 * others in their order. Errors of package.h; MT_FORMAT: an entry is not UTF-8. */
MT_MUST_CHECK enum mt_status mt_document_read_parts(struct mt_document *document,
                                                    mt_document_is_part *is_part, void *context,
                                                    struct mt_error *err);
/* Whether the package has the entry, for a document whose bytes are still the whole package. */
bool mt_document_has_entry(const struct mt_document *document, const char *name);
/* Appends an entry, found by its name in any case. MT_FORMAT: there is none. */
MT_MUST_CHECK enum mt_status mt_document_read_entry(const struct mt_document *document,
                                                    const char *name, struct mt_text *out,
                                                    struct mt_error *err);
/* Appends the package with parts[i] in the place of part i. A part whose bytes are NULL stays. */
MT_MUST_CHECK enum mt_status mt_document_write_parts(const struct mt_document *document,
                                                     const struct mt_text *parts,
                                                     struct mt_text *out, struct mt_error *err);

/* Calls the reader's read, and sorts the pieces and edits that it found. */
MT_MUST_CHECK enum mt_status mt_document_read(struct mt_document *document,
                                              const struct mt_document_options *options,
                                              struct mt_error *err);

/* Adds a piece with an empty text; *out is valid until the next one is added. MT_LIMIT,
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_document_add(struct mt_document *document, struct mt_range range,
                                             struct mt_document_piece **out, struct mt_error *err);

MT_MUST_CHECK enum mt_status mt_document_add_edit(struct mt_document *document,
                                                  struct mt_range range, const char *text,
                                                  struct mt_error *err);
/* Adds an edit that is made only if something in scope is translated. */
MT_MUST_CHECK enum mt_status mt_document_add_edit_within(struct mt_document *document,
                                                         struct mt_range range,
                                                         struct mt_range scope, const char *text,
                                                         struct mt_error *err);

/* Replaces bytes of the file by a text. There must be no pieces behind them yet. */
MT_MUST_CHECK enum mt_status mt_document_splice(struct mt_document *document, struct mt_range range,
                                                const char *text, struct mt_error *err);

/* Lines of a file, which end with CR LF, LF, CR, or CR CR LF, which results from writing CR LF in
 * text mode. Begin with {.next = document->begin}. */
struct mt_document_line {
    size_t begin, end; /* position of the line end */
    size_t next;       /* where the next line begins */
    size_t number;     /* counted from 1 */
};

/* Moves to the next line, and returns false at the end of the file. */
bool mt_document_next_line(const struct mt_document *document, struct mt_document_line *line);

/* Whether a line has only blanks. */
bool mt_document_is_blank(const struct mt_document *document, size_t begin, size_t end);

/* Returns MT_FORMAT with the message "line N: \"the line's beginning\" message". */
enum mt_status mt_document_fail(const struct mt_document *document,
                                const struct mt_document_line *line, struct mt_error *err,
                                const char *message);

/* Appends bytes of the document. */
static inline void mt_document_append(const struct mt_document *document, struct mt_range range,
                                      struct mt_text *out)
{
    mt_text_append(out, document->bytes + range.begin, range.end - range.begin);
}

#endif
