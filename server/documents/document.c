#include "server/documents/document.h"

#include "base/size.h"
#include "base/vector.h"
#include "server/documents/document_confined.h"
#include "server/documents/document_state.h"
#include "server/documents/message_check.h"
#include "server/text/language.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *extension, *content_type;
    const struct mt_document_reader *reader;
} formats[MT_N_DOCUMENT_FORMATS] = {
    [MT_DOCUMENT_TEXT] = {"text", ".txt", "text/plain; charset=utf-8", &mt_document_text_reader},
    [MT_DOCUMENT_SRT] = {"srt", ".srt", "application/x-subrip; charset=utf-8",
                         &mt_document_srt_reader},
    [MT_DOCUMENT_VTT] = {"vtt", ".vtt", "text/vtt; charset=utf-8", &mt_document_vtt_reader},
    [MT_DOCUMENT_HTML] = {"html", ".html", "text/html; charset=utf-8", &mt_document_html_reader},
    [MT_DOCUMENT_PO] = {"po", ".po", "text/x-gettext-translation; charset=utf-8",
                        &mt_document_po_reader},
    [MT_DOCUMENT_JSON] = {"json", ".json", "application/json", &mt_document_json_reader},
    [MT_DOCUMENT_ARB] = {"arb", ".arb", "application/json", &mt_document_arb_reader},
    [MT_DOCUMENT_PROPERTIES] = {"properties", ".properties", "text/plain; charset=utf-8",
                                &mt_document_properties_reader},
    [MT_DOCUMENT_STRINGS] = {"strings", ".strings", "text/plain; charset=utf-8",
                             &mt_document_strings_reader},
    [MT_DOCUMENT_YAML] = {"yaml", ".yml", "application/yaml", &mt_document_yaml_reader},
    [MT_DOCUMENT_MD] = {"markdown", ".md", "text/markdown; charset=utf-8", &mt_document_md_reader},
    [MT_DOCUMENT_ANDROID] = {"android", ".xml", "application/xml", &mt_document_android_reader},
    [MT_DOCUMENT_RESX] = {"resx", ".resx", "application/xml", &mt_document_resx_reader},
    [MT_DOCUMENT_XLIFF] = {"xliff", ".xliff", "application/xliff+xml", &mt_document_xliff_reader},
    [MT_DOCUMENT_TMX] = {"tmx", ".tmx", "application/x-tmx+xml", &mt_document_tmx_reader},
    [MT_DOCUMENT_TS] = {"ts", ".ts", "application/xml", &mt_document_ts_reader},
    [MT_DOCUMENT_STRINGSDICT] = {"stringsdict", ".stringsdict", "application/xml",
                                 &mt_document_stringsdict_reader},
    [MT_DOCUMENT_XCSTRINGS] = {"xcstrings", ".xcstrings", "application/json",
                               &mt_document_xcstrings_reader},
    [MT_DOCUMENT_DOCX] = {"docx", ".docx",
                          "application/"
                          "vnd.openxmlformats-officedocument.wordprocessingml.document",
                          &mt_document_docx_reader},
    [MT_DOCUMENT_PPTX] = {"pptx", ".pptx",
                          "application/"
                          "vnd.openxmlformats-officedocument.presentationml.presentation",
                          &mt_document_pptx_reader},
    [MT_DOCUMENT_XLSX] = {"xlsx", ".xlsx",
                          "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                          &mt_document_xlsx_reader},
    [MT_DOCUMENT_ODT] = {"odt", ".odt", "application/vnd.oasis.opendocument.text",
                         &mt_document_odt_reader},
    [MT_DOCUMENT_ODP] = {"odp", ".odp", "application/vnd.oasis.opendocument.presentation",
                         &mt_document_odp_reader},
    [MT_DOCUMENT_ODS] = {"ods", ".ods", "application/vnd.oasis.opendocument.spreadsheet",
                         &mt_document_ods_reader},
    [MT_DOCUMENT_EPUB] = {"epub", ".epub", "application/epub+zip", &mt_document_epub_reader},
};

/* Other extensions of the same formats. */
static const struct {
    const char *extension, *as;
    bool stays; /* programs do not open the file under the other name */
} aliases[] = {
    {".htm", ".html", false},    {".yaml", ".yml", false},      {".markdown", ".md", false},
    {".xlf", ".xliff", false},   {".xhtml", ".html", false},    {".xht", ".html", false},
    {".pot", ".po", false},      {".sdlxliff", ".xliff", true}, {".mqxliff", ".xliff", true},
    {".mxliff", ".xliff", true}, {".ott", ".odt", false},       {".otp", ".odp", false},
    {".ots", ".ods", false},     {".docm", ".docx", true},      {".dotx", ".docx", true},
    {".dotm", ".docx", true},    {".xlsm", ".xlsx", true},      {".xltx", ".xlsx", true},
    {".xltm", ".xlsx", true},    {".pptm", ".pptx", true},      {".potx", ".pptx", true},
    {".potm", ".pptx", true},    {".ppsx", ".pptx", true},      {".ppsm", ".pptx", true},
    {".resw", ".resx", true},
};
#define N_ALIASES (sizeof aliases / sizeof *aliases)

const char *mt_document_format_name(enum mt_document_format format)
{
    return formats[format].name;
}

const char *mt_document_extension(enum mt_document_format format)
{
    return formats[format].extension;
}

const char *mt_document_content_type(enum mt_document_format format)
{
    return formats[format].content_type;
}

/* Writes "a, b or c", where of_format returns the names. */
static const char *list(const char *of_format(enum mt_document_format),
                        char out[MT_DOCUMENT_LIST_BYTES])
{
    size_t length = 0;
    for (size_t i = 0; i < MT_N_DOCUMENT_FORMATS; i++) {
        const char *gap = i == 0 ? "" : i + 1 < MT_N_DOCUMENT_FORMATS ? ", " : " or ";
        int n = snprintf(out + length, MT_DOCUMENT_LIST_BYTES - length, "%s%s", gap,
                         of_format((enum mt_document_format)i));
        length += (size_t)n;
        assert(n >= 0 && length < MT_DOCUMENT_LIST_BYTES);
    }
    return out;
}

const char *mt_document_list_extensions(char out[MT_DOCUMENT_LIST_BYTES])
{
    return list(mt_document_extension, out);
}

const char *mt_document_list_names(char out[MT_DOCUMENT_LIST_BYTES])
{
    return list(mt_document_format_name, out);
}

bool mt_document_format_of_file(const char *file_name, enum mt_document_format *out)
{
    const char *dot = strrchr(file_name, '.');
    if (!dot)
        return false;
    for (size_t i = 0; i < N_ALIASES; i++)
        if (strcasecmp(dot, aliases[i].extension) == 0)
            dot = aliases[i].as;
    for (size_t i = 0; i < MT_N_DOCUMENT_FORMATS; i++)
        if (strcasecmp(dot, formats[i].extension) == 0) {
            *out = (enum mt_document_format)i;
            return true;
        }
    return false;
}

const char *mt_document_extension_of_file(const char *file_name, enum mt_document_format format)
{
    const char *dot = strrchr(file_name, '.');
    for (size_t i = 0; i < N_ALIASES && dot; i++)
        if (aliases[i].stays && strcasecmp(dot, aliases[i].extension) == 0)
            return aliases[i].extension;
    return formats[format].extension;
}

bool mt_document_format_of_name(const char *name, enum mt_document_format *out)
{
    for (size_t i = 0; i < MT_N_DOCUMENT_FORMATS; i++)
        if (strcmp(name, formats[i].name) == 0) {
            *out = (enum mt_document_format)i;
            return true;
        }
    return false;
}

/* ---- what the formats share ---- */

enum mt_status mt_document_add(struct mt_document *document, struct mt_range range,
                               struct mt_document_piece **out, struct mt_error *err)
{
    if (document->max_n > 0 && document->n == document->max_n)
        return mt_fail(
            err, MT_LIMIT,
            "the file has more than %zu texts, and so more characters than max_text_chars "
            "allows",
            document->max_n);
    if (MT_ROOM(&document->pieces, &document->capacity, document->n + 1, "parts of a file", err))
        return MT_MEMORY;
    *out = &document->pieces[document->n++];
    **out = (struct mt_document_piece){.range = range};
    mt_text_append(&(*out)->text, "", 0);
    return MT_OK;
}

enum mt_status mt_document_splice(struct mt_document *document, struct mt_range range,
                                  const char *text, struct mt_error *err)
{
    size_t n = strlen(text), length = document->length - (range.end - range.begin) + n;
    char *bytes = malloc(length + 1);
    if (!bytes)
        return mt_fail_memory(err, length + 1, "a file");
    memcpy(bytes, document->bytes, range.begin);
    memcpy(bytes + range.begin, text, n);
    memcpy(bytes + range.begin + n, document->bytes + range.end, document->length - range.end + 1);
    free(document->bytes);
    document->bytes = bytes;
    document->length = length;
    return MT_OK;
}

enum mt_status mt_document_add_edit_within(struct mt_document *document, struct mt_range range,
                                           struct mt_range scope, const char *text,
                                           struct mt_error *err)
{
    if (MT_ROOM(&document->edits, &document->edits_capacity, document->n_edits + 1,
                "parts of a file", err))
        return MT_MEMORY;
    document->edits[document->n_edits] = (struct mt_document_edit){.range = range, .scope = scope};
    strncpy(document->edits[document->n_edits++].text, text, sizeof document->edits->text - 1);
    return MT_OK;
}

enum mt_status mt_document_add_edit(struct mt_document *document, struct mt_range range,
                                    const char *text, struct mt_error *err)
{
    return mt_document_add_edit_within(document, range, (struct mt_range){0}, text, err);
}

bool mt_document_next_line(const struct mt_document *document, struct mt_document_line *line)
{
    const char *bytes = document->bytes;
    if (line->next >= document->length)
        return false;
    line->begin = line->next;
    line->end = line->begin;
    while (line->end < document->length && bytes[line->end] != '\n' && bytes[line->end] != '\r')
        line->end++;
    line->next = line->end + (line->end < document->length);
    if (bytes[line->end] == '\r' && bytes[line->next] == '\r' && bytes[line->next + 1] == '\n')
        line->next++;
    if (bytes[line->end] == '\r' && bytes[line->next] == '\n')
        line->next++;
    line->number++;
    return true;
}

bool mt_document_is_blank(const struct mt_document *document, size_t begin, size_t end)
{
    struct mt_range inner = mt_range_trim(document->bytes, begin, end);
    return inner.begin == inner.end;
}

enum mt_status mt_document_fail(const struct mt_document *document,
                                const struct mt_document_line *line, struct mt_error *err,
                                const char *message)
{
    size_t shown = mt_size_min(line->end - line->begin, 60);
    const char *bytes = document->bytes + line->begin;
    return mt_fail(err, MT_FORMAT, "line %zu: \"%.*s\" %s", line->number,
                   (int)mt_utf8_valid_prefix(bytes, shown), bytes, message);
}

/* ---- reading ---- */

/* Refuses files of Office before 2007, and encrypted ones, with a message for each. The names in
 * their directory show what they are. */
static enum mt_status refuse_compound(const char *bytes, size_t length, struct mt_error *err)
{
    static const struct {
        const char *name; /* the first letters of the name, in UTF-16 */
        const char *was, *save_as;
    } kinds[] = {
        {"W\0o\0r\0d\0D\0o\0c\0u\0m", "Word before 2007 (.doc)", ".docx"},
        {"W\0o\0r\0k\0b\0o\0o\0k\0\0", "Excel before 2007 (.xls)", ".xlsx"},
        {"P\0o\0w\0e\0r\0P\0o\0i\0n", "PowerPoint before 2007 (.ppt)", ".pptx"},
    };
    static const char encrypted[] = "E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k"; /* UTF-16 */
    if (memmem(bytes, length, encrypted, sizeof encrypted))
        return mt_fail(err, MT_FORMAT,
                       "the document has a password: save it without one and send that");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (memmem(bytes, length, kinds[i].name, 16))
            return mt_fail(err, MT_FORMAT, "the file is of %s: save it as %s and send that",
                           kinds[i].was, kinds[i].save_as);
    return mt_fail(err, MT_FORMAT,
                   "the file is of an Office before 2007 (.doc, .xls, .ppt): save it as .docx, "
                   ".xlsx or .pptx and send that");
}

/* Refuses files that are not text, which their first bytes show, and says what they are and how to
 * convert them. A package is allowed where one is expected. */
static enum mt_status check_kind(const char *bytes, size_t length, bool is_package,
                                 struct mt_error *err)
{
    static const char compound[] = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
    if (length >= 8 && memcmp(bytes, compound, 8) == 0)
        return refuse_compound(bytes, length, err);
    if (length >= 5 && memcmp(bytes, "%PDF-", 5) == 0)
        return mt_fail(
            err, MT_FORMAT,
            "the file is a PDF, which holds no paragraphs: send the document that it was "
            "made of, or save its text as .txt");
    if (length >= 5 && memcmp(bytes, "{\\rtf", 5) == 0)
        return mt_fail(err, MT_FORMAT, "the file is RTF: save it as .docx and send that");
    if (!is_package && length >= 4 && memcmp(bytes, "PK\3\4", 4) == 0)
        return mt_fail(err, MT_FORMAT,
                       "the file is a zip or an office document, expected a text: documents of "
                       "Office have names that end in .docx, .pptx or .xlsx, OpenDocument's in "
                       ".odt, .odp or .ods, books in .epub");
    return MT_OK;
}

enum mt_status mt_document_check_kind(const char *bytes, size_t length, struct mt_error *err)
{
    return check_kind(bytes, length, false, err);
}

/* Detects the encoding and converts the file to UTF-8, which is what the formats read. */
static enum mt_status read_encoding(struct mt_document *document, const char *asked,
                                    struct mt_error *err)
{
    static const char mark[] = "\xEF\xBB\xBF";
    struct mt_encoding *encoding = &document->encoding;
    struct mt_text text = {0};
    struct mt_range declared = {0};
    if (document->reader->find_charset)
        declared = document->reader->find_charset(document->bytes, document->length);
    const struct mt_encoding_question question = {
        .bytes = document->bytes,
        .length = document->length,
        .asked = asked,
        .declared = document->bytes + declared.begin,
        .declared_length = declared.end - declared.begin,
    };
    enum mt_status status = mt_encoding_find(&question, encoding, err);
    if (status)
        return status;
    if (encoding->mark_bytes > 0)
        document->begin = strlen(mark);
    if (encoding->is_utf8)
        return MT_OK;
    if (encoding->mark_bytes > 0)
        mt_text_append_string(&text, mark);
    status = mt_encoding_decode(encoding, document->bytes + encoding->mark_bytes,
                                document->length - encoding->mark_bytes, &text, err);
    if (status) {
        mt_text_finish(&text);
        return status;
    }
    free(document->bytes);
    document->bytes = NULL;
    document->length = 0;
    return mt_text_take(&text, "a file", &document->bytes, &document->length, err);
}

static const char *find_line_end(const char *bytes)
{
    const char *first = strpbrk(bytes, "\r\n");
    if (!first || *first == '\n')
        return "\n";
    if (strncmp(first, "\r\r\n", 3) == 0)
        return "\r\r\n";
    return first[1] == '\n' ? "\r\n" : "\r";
}

static int compare_ranges(struct mt_range a, struct mt_range b)
{
    return a.begin < b.begin ? -1 : a.begin > b.begin;
}

static int compare_pieces(const void *a, const void *b)
{
    const struct mt_document_piece *first = a, *second = b;
    return compare_ranges(first->range, second->range);
}

static int compare_edits(const void *a, const void *b)
{
    const struct mt_document_edit *first = a, *second = b;
    return compare_ranges(first->range, second->range);
}

/* Sorts pieces by their ends, so that inner texts come before those around them. */
static void sort(struct mt_document *document)
{
    if (document->n > 0)
        qsort(document->pieces, document->n, sizeof *document->pieces, compare_pieces);
    if (document->n_edits > 0)
        qsort(document->edits, document->n_edits, sizeof *document->edits, compare_edits);
}

enum mt_status mt_document_read(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    enum mt_status status = document->reader->read(document, options, err);
    if (!status && document->reader->write_around && !document->reader->stands_beside)
        sort(document);
    return status;
}

enum mt_status mt_document_create(const char *bytes, size_t length,
                                  const struct mt_document_options *options,
                                  struct mt_document **out, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    struct mt_document *document = calloc(1, sizeof *document);
    if (!document)
        return mt_fail_memory(err, sizeof *document, "a file");
    document->reader = formats[options->format].reader;
    document->max_n = options->max_texts;
    document->length = length;
    document->bytes = malloc(length + 1);
    if (!document->bytes) {
        status = mt_fail_memory(err, length + 1, "a file");
    } else {
        if (length)
            memcpy(document->bytes, bytes, length);
        document->bytes[length] = '\0';
        bool is_package = document->reader->is_package;
        status = check_kind(document->bytes, length, is_package, err);
        if (!status && !is_package)
            status = read_encoding(document, options->encoding, err);
        if (!status) {
            struct mt_document_options checked = *options;
            char target[MT_LANGUAGE_BYTES]; /* in the form that files use: "pb" is pt-BR */
            const char *code = options->target_lang ? options->target_lang : "";
            checked.target_lang = mt_language_normalise(code, target) ? target : NULL;
            document->line_end = find_line_end(document->bytes);
            document->confines = options->confines && is_package && document->reader->pack;
            status = document->confines ? mt_document_read_confined(document, &checked, err)
                                        : mt_document_read(document, &checked, err);
        }
    }
    for (size_t i = 0; i < document->n && !status; i++)
        status = mt_text_check(&document->pieces[i].text, "a text of a file", err);
    if (status) {
        mt_document_destroy(document);
        return status;
    }
    *out = document;
    return MT_OK;
}

void mt_document_destroy(struct mt_document *document)
{
    if (!document)
        return;
    for (size_t i = 0; i < document->n; i++) {
        mt_text_finish(&document->pieces[i].text);
        mt_text_finish(&document->pieces[i].matches);
    }
    free(document->pieces);
    if (document->reader->finish && document->own)
        document->reader->finish(document->own);
    free(document->bytes);
    for (size_t i = 0; i < MT_DOCUMENT_REASONS; i++)
        mt_text_finish(&document->reasons[i]);
    free(document->edits);
    free(document->package);
    free(document->parts);
    free(document);
}

size_t mt_document_n_texts(const struct mt_document *document)
{
    return document->n;
}

struct mt_document_text mt_document_text(const struct mt_document *document, size_t index)
{
    const struct mt_document_piece *piece = &document->pieces[index];
    return (struct mt_document_text){piece->text.bytes, piece->text.length,
                                     piece->read_text ? piece->read_text
                                                      : document->reader->read_text};
}

bool mt_document_has_matches(const struct mt_document *document)
{
    return document->reader->write_match != NULL;
}

enum mt_status mt_document_add_match(struct mt_document *document, size_t text,
                                     const struct mt_document_match *match, struct mt_error *err)
{
    struct mt_document_piece *piece = &document->pieces[text];
    document->reader->write_match(document, piece, match, &piece->matches);
    return mt_text_check(&piece->matches, "similar texts of a file", err);
}

void mt_document_set_recalled(struct mt_document *document, size_t text)
{
    document->pieces[text].is_recalled = true;
}

/* ---- writing ---- */

/* Whether a translation equals its text, so that the file's bytes stay as they are. */
static bool is_same(const struct mt_document_piece *piece, const struct mt_text *translation)
{
    return piece->text.length == translation->length &&
           memcmp(piece->text.bytes, translation->bytes, translation->length) == 0;
}

/* Appends what replaces a piece's range and returns NULL, or appends nothing and returns why. */
static const char *write_piece(struct mt_document_writing *writing,
                               const struct mt_document_piece *piece,
                               const struct mt_text *translation, struct mt_text *out)
{
    static const char lost[] = "its translation lacks a placeholder, or has them in another order";
    const struct mt_document *document = writing->document;
    const struct mt_document_reader *reader = document->reader;
    bool is_written = true;
    if (piece->left)
        return piece->left;
    if (!translation || !translation->bytes)
        return "it was not translated";
    bool stays = reader->replaces_messages || (reader->write_around && !reader->stands_beside);
    if (stays && is_same(piece, translation)) {
        mt_document_write_inner(writing, piece->range, out);
        return NULL;
    }
    if (reader->replaces_messages && !piece->read_text)
        is_written = mt_message_can_replace(piece->text.bytes, piece->text.length,
                                            translation->bytes, translation->length);
    writing->refused = NULL;
    if (is_written && reader->write_around)
        is_written =
            reader->write_around(writing, piece, translation->bytes, translation->length, out);
    else if (is_written && reader->write)
        is_written = reader->write(document, piece, translation->bytes, translation->length, out);
    else if (is_written)
        mt_text_append(out, translation->bytes, translation->length);
    writing->has_changed = writing->has_changed || is_written;
    return is_written ? NULL : writing->refused ? writing->refused : lost;
}

static void leave(struct mt_document_report *report, size_t text, const char *reason)
{
    if (report->n_left < MT_DOCUMENT_LISTED)
        report->left[report->n_left] = (struct mt_document_left){text, reason};
    report->n_left++;
}

/* Converts the text to the file's encoding where that has all characters. Otherwise it stays UTF-8,
 * and a declaration of the encoding is corrected. */
static void encode(const struct mt_document *document, struct mt_text *out,
                   struct mt_document_report *report)
{
    const struct mt_encoding *encoding = &document->encoding;
    struct mt_text other = {.limit_bytes = out->limit_bytes};
    report->encoding = encoding->name;
    if (encoding->is_utf8 || out->status)
        return;
    if (encoding->mark_bytes > 0)
        mt_text_append(&other, encoding->mark, encoding->mark_bytes);
    if (mt_encoding_encode(encoding, out->bytes + document->begin, out->length - document->begin,
                           &other)) {
        mt_text_finish(out);
        *out = other;
        return;
    }
    mt_text_finish(&other);
    report->encoding = "UTF-8";
    struct mt_range charset = {0};
    if (document->reader->find_charset)
        charset = document->reader->find_charset(out->bytes, out->length);
    if (charset.begin == charset.end ||
        mt_encoding_is_utf8(out->bytes + charset.begin, charset.end - charset.begin))
        return;
    mt_text_append(&other, out->bytes, charset.begin);
    mt_text_append_string(&other, report->encoding);
    mt_text_append(&other, out->bytes + charset.end, out->length - charset.end);
    mt_text_finish(out);
    *out = other;
}

size_t mt_document_find_piece(const struct mt_document *document, size_t at)
{
    size_t begin = 0, end = document->n;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (document->pieces[middle].range.begin < at)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static bool is_wanted(const struct mt_document_writing *writing,
                      const struct mt_document_edit *edit)
{
    const struct mt_document *document = writing->document;
    const struct mt_text *translations = writing->translations;
    if (edit->scope.begin == edit->scope.end)
        return true;
    for (size_t i = mt_document_find_piece(document, edit->scope.begin);
         translations && i < document->n && document->pieces[i].range.begin < edit->scope.end; i++)
        if (translations[i].bytes && !document->pieces[i].left &&
            !is_same(&document->pieces[i], &translations[i]))
            return true;
    return false;
}

/* Writes bytes of the file that hold no piece. Edits are made if the file is translated. */
static void write_between(const struct mt_document_writing *writing, size_t at, size_t end,
                          struct mt_text *out)
{
    const struct mt_document *document = writing->document;
    size_t first = 0, last = writing->is_edited ? document->n_edits : 0;
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        bool is_before = document->edits[middle].range.end <= at;
        first = is_before ? middle + 1 : first;
        last = is_before ? last : middle;
    }
    for (; writing->is_edited && first < document->n_edits; first++) {
        const struct mt_document_edit *edit = &document->edits[first];
        if (edit->range.end > end)
            break;
        if (!is_wanted(writing, edit))
            continue;
        mt_text_append(out, document->bytes + at, edit->range.begin - at);
        mt_text_append_string(out, edit->text);
        at = edit->range.end;
    }
    mt_text_append(out, document->bytes + at, end - at);
}

static void report_piece(struct mt_document_writing *writing, size_t index, const char *reason)
{
    struct mt_document_report *report = writing->report;
    const struct mt_document_piece *piece = &writing->document->pieces[index];
    const struct mt_text *translation =
        writing->translations ? &writing->translations[index] : NULL;
    report->n_refused += reason && !piece->left && translation && translation->bytes;
    if (!reason && is_same(piece, translation))
        reason = "its translation is the text itself";
    if (reason)
        leave(report, index, reason);
    else
        report->n_translated++;
}

void mt_document_write_inner(struct mt_document_writing *writing, struct mt_range range,
                             struct mt_text *out)
{
    const struct mt_document *document = writing->document;
    const size_t outer = writing->piece;
    size_t at = range.begin, i = mt_size_max(mt_document_find_piece(document, at), outer);
    mt_text_append(out, "", 0);
    while (i < document->n && document->pieces[i].range.begin < range.end) {
        const struct mt_document_piece *piece = &document->pieces[i];
        bool is_outer =
            i + 1 < document->n && document->pieces[i + 1].range.begin < piece->range.end;
        struct mt_document_report before;
        if (is_outer)
            before = *writing->report;
        write_between(writing, at, piece->range.begin, out);
        at = piece->range.begin;
        writing->piece = i + 1;
        const char *reason = write_piece(
            writing, piece, writing->translations ? &writing->translations[i] : NULL, out);
        if (reason && is_outer)
            *writing->report = before; /* the texts within this one are counted below */
        at = reason ? at : piece->range.end;
        report_piece(writing, i++, reason);
        while (!reason && i < document->n && document->pieces[i].range.begin < at)
            i++;
    }
    write_between(writing, at, mt_size_min(range.end, document->length), out);
    writing->piece = outer;
}

static enum mt_status write_package(struct mt_document_writing *writing, struct mt_text *out,
                                    struct mt_error *err)
{
    const struct mt_document *document = writing->document;
    struct mt_text *parts = calloc(document->n_parts + 1, sizeof *parts);
    enum mt_status status = MT_OK;
    if (!parts)
        return mt_fail_memory(err, document->n_parts * sizeof *parts, "a translated file");
    for (size_t k = 0; k < document->n_parts && !status; k++) {
        const struct mt_range range = document->parts[k].range;
        size_t n = range.end - range.begin;
        mt_document_write_inner(writing, range, &parts[k]);
        status = mt_text_check(&parts[k], "a translated file", err);
        if (!status && parts[k].length == n &&
            memcmp(parts[k].bytes, document->bytes + range.begin, n) == 0)
            mt_text_finish(&parts[k]);
    }
    if (!status)
        status = mt_document_write_parts(document, parts, out, err);
    for (size_t k = 0; k < document->n_parts; k++)
        mt_text_finish(&parts[k]);
    free(parts);
    return status;
}

static enum mt_status write_file(struct mt_document_writing *writing, struct mt_text *out,
                                 struct mt_error *err)
{
    const struct mt_document *document = writing->document;
    *writing->report = (struct mt_document_report){.n_texts = document->n, .encoding = "UTF-8"};
    if (document->package)
        return write_package(writing, out, err);
    mt_document_write_inner(writing, (struct mt_range){0, SIZE_MAX}, out);
    if (document->reader->join)
        document->reader->join(document, writing->translations, writing->report->n_translated > 0,
                               out);
    encode(document, out, writing->report);
    return MT_OK;
}

enum mt_status mt_document_write(const struct mt_document *document,
                                 const struct mt_text *translations, struct mt_text *out,
                                 struct mt_document_report *report, struct mt_error *err)
{
    struct mt_document_writing writing = {.document = document,
                                          .translations = translations,
                                          .report = report,
                                          .is_edited = document->n_edits > 0};
    enum mt_status status = write_file(&writing, out, err);
    if (!status && writing.is_edited && !writing.has_changed) {
        writing.is_edited = false;
        out->length = 0;
        status = write_file(&writing, out, err);
    }
    return status ? status : mt_text_check(out, "a translated file", err);
}
