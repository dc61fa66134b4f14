/*
 * gettext's message catalogues. Entries without a translation get one. Everything else stays as it
 * is: header, comments, flags, contexts, obsolete entries, the wrapping of lines. Only the header's
 * charset becomes UTF-8, which the file is: a file with a header that says ASCII had no
 * translations so far, and msgfmt believes the header.
 *
 *   #, c-format                          msgid "%d file"           -> msgstr[0]
 *   msgid "%d file"                      msgid_plural "%d files"   -> msgstr[1], msgstr[2], ...
 *   msgid_plural "%d files"
 *   msgstr[0] ""
 *   msgstr[1] ""
 *
 * libgettextpo is not used, because it writes files anew, with its own wrapping of lines and order
 * of comments; it reports errors through global callbacks that must not return; and its licence
 * would apply to the whole program.
 */
#include "base/ascii.h"
#include "base/size.h"
#include "server/text/accelerator.h"
#include "server/documents/document_state.h"
#include "server/documents/message_check.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Most columns of a line, as msgcat writes them. */
#define MAX_COLUMNS 79
/* Most plural forms, which is more than any language has. */
#define MAX_FORMS 16

enum key { KEY_CONTEXT, KEY_ID, KEY_PLURAL, KEY_STRING, KEY_DOMAIN };

/* A translation in the file: its keyword, and its strings up to the last quotation mark. */
struct form {
    struct mt_range range; /* in which the strings are */
    bool is_empty;
};

struct entry {
    struct mt_text id, plural;
    bool has_id, has_plural, has_context;
    bool is_wrapped; /* the message has several lines */
    struct form forms[MAX_FORMS];
    size_t n_forms;
    size_t line;
};

struct po {
    bool has_long_lines; /* the file is not wrapped */
};

struct reader {
    struct mt_document *document;
    const struct mt_document_options *options;
    struct po *po;
    struct entry entry;
    enum key key; /* what a string without a keyword belongs to */
    bool has_key;
    struct mt_text scratch; /* for an unescaped translation */
    struct mt_document_line line;
    struct mt_error *err;
};

/* ---- strings ---- */

static enum mt_status fail(struct reader *reader, const char *message)
{
    return mt_document_fail(reader->document, &reader->line, reader->err, message);
}

static int octal(const char *at, size_t n_max, size_t *n)
{
    int value = 0;
    for (*n = 0; *n < n_max && at[*n] >= '0' && at[*n] <= '7'; ++*n)
        value = value * 8 + (at[*n] - '0');
    return value;
}

static int hexadecimal(const char *at, size_t n_max, size_t *n)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    int value = 0;
    for (*n = 0; *n < n_max && at[*n] && strchr(digits, at[*n]); ++*n) {
        int digit = (int)(strchr(digits, at[*n]) - digits);
        value = value * 16 + (digit > 15 ? digit - 6 : digit);
    }
    return value;
}

/* Reads one escape at text[at] == '\\' and returns its length; 0: it is not an escape. */
static size_t unescape(const char *text, size_t at, struct mt_text *out)
{
    static const char letters[] = "ntrabfv\\\"'?", values[] = "\n\t\r\a\b\f\v\\\"'?";
    const char *letter = text[at + 1] ? strchr(letters, text[at + 1]) : NULL;
    size_t n;
    if (letter) {
        mt_text_append(out, &values[letter - letters], 1);
        return 2;
    }
    bool is_hex = text[at + 1] == 'x';
    int value = is_hex ? hexadecimal(text + at + 2, 2, &n) : octal(text + at + 1, 3, &n);
    if (n == 0 || value == 0 || value > 255)
        return 0;
    char c = (char)value;
    mt_text_append(out, &c, 1);
    return n + 1 + is_hex;
}

/* Unescapes the strings of a line from `at` on into out. *end gets the position behind the last
 * quotation mark. */
static enum mt_status read_strings(struct reader *reader, size_t at, struct mt_text *out,
                                   size_t *end)
{
    const char *bytes = reader->document->bytes;
    bool has_any = false;
    for (;;) {
        while (at < reader->line.end && (bytes[at] == ' ' || bytes[at] == '\t'))
            at++;
        if (at == reader->line.end)
            return has_any ? MT_OK : fail(reader, "has no string: expected \"...\"");
        if (bytes[at] != '"')
            return fail(reader, "has more than strings: expected \"...\"");
        for (at++; at < reader->line.end && bytes[at] != '"';) {
            size_t n = 1;
            if (bytes[at] == '\\')
                n = unescape(bytes, at, out);
            else
                mt_text_append(out, bytes + at, 1);
            if (n == 0)
                return fail(reader,
                            "holds an escape that is none of \\n \\t \\\" \\\\ and the like");
            at += n;
        }
        if (at >= reader->line.end)
            return fail(reader, "holds a string that does not end: expected \"");
        *end = ++at;
        has_any = true;
    }
}

/* ---- entries ---- */

static void reset(struct entry *entry)
{
    mt_text_finish(&entry->id);
    mt_text_finish(&entry->plural);
    *entry = (struct entry){0};
}

static enum mt_status check_utf8(struct reader *reader, const struct mt_text *text)
{
    if (mt_utf8_valid_prefix(text->bytes, text->length) == text->length)
        return mt_text_check(text, "a message", reader->err);
    return mt_fail(reader->err, MT_FORMAT, "line %zu: the message's escapes are no UTF-8",
                   reader->entry.line);
}

static enum mt_status add_form(struct reader *reader, const struct form *form,
                               const struct mt_text *source)
{
    struct mt_document_piece *piece;
    enum mt_status status = mt_document_add(reader->document, form->range, &piece, reader->err);
    if (status)
        return status;
    struct mt_accelerator accelerator = mt_accelerator_find(source->bytes, source->length);
    size_t n_mark = accelerator.mark != '\0', behind = accelerator.at + n_mark;
    mt_text_append(&piece->text, source->bytes, accelerator.at);
    mt_text_append(&piece->text, source->bytes + behind, source->length - behind);
    piece->first = accelerator.at;
    piece->n = (size_t)(unsigned char)accelerator.mark << 1 | reader->entry.is_wrapped;
    piece->line = reader->entry.line;
    return MT_OK;
}

static const char charset_key[] = "charset=", utf8[] = "UTF-8";
static const char content_type[] = "\"Content-Type: text/plain; charset=UTF-8\\n\"";

/* Finds the charset in a header or before it; the range is empty, at the end, where none is
 * named. */
static struct mt_range find_charset(const char *bytes, size_t length)
{
    const char *key = memmem(bytes, length, charset_key, strlen(charset_key));
    size_t at = key ? (size_t)(key - bytes) + strlen(charset_key) : length;
    return (struct mt_range){at, at + strcspn(bytes + at, " \t\r\n\\\";")};
}

/* Adds a line with the charset to a header that does not name one. */
static enum mt_status add_charset(struct mt_document *document, const struct form *header,
                                  struct mt_error *err)
{
    size_t end = header->range.end;
    bool is_ended = header->is_empty || memcmp(document->bytes + end - 3, "\\n\"", 3) == 0;
    struct mt_text line = {0};
    mt_text_append_string(&line, document->line_end);
    if (!is_ended)
        mt_text_appendf(&line, "\"\\n\"%s", document->line_end);
    mt_text_append_string(&line, content_type);
    enum mt_status status = mt_text_check(&line, "a header", err);
    if (!status)
        status = mt_document_splice(document, (struct mt_range){end, end}, line.bytes, err);
    mt_text_finish(&line);
    return status;
}

/* Finds the charset in the file's header, which is the first entry and has an empty message, or
 * before it. */
static struct mt_range find_header_charset(const char *bytes, size_t length)
{
    static const char message[] = "msgid \"\"", entry[] = "\nmsgid";
    const char *header = memmem(bytes, length, message, strlen(message));
    const char *first = memmem(bytes, length, "msgid", strlen("msgid"));
    if (!header || header != first)
        return (struct mt_range){0};
    size_t at = (size_t)(header - bytes);
    const char *next = memmem(header, length - at, entry, strlen(entry));
    return find_charset(bytes, next ? (size_t)(next - bytes) : length);
}

/* Changes the charset once the header is complete, which moves the bytes behind it. A file in
 * another encoding already names that, and is written in it. */
static enum mt_status declare_utf8(struct reader *reader, const struct form *header)
{
    struct mt_document *document = reader->document;
    if (!document->encoding.is_utf8)
        return MT_OK;
    size_t begin = header->range.begin, old_length = document->length;
    struct mt_range charset = find_charset(document->bytes + begin, header->range.end - begin);
    charset = (struct mt_range){charset.begin + begin, charset.end + begin};
    enum mt_status status = MT_OK;
    if (charset.begin == header->range.end)
        status = add_charset(document, header, reader->err);
    else if (charset.end - charset.begin != strlen(utf8) ||
             strncasecmp(document->bytes + charset.begin, utf8, strlen(utf8)) != 0)
        status = mt_document_splice(document, charset, utf8, reader->err);
    if (status)
        return status;
    size_t moved =
        /* wraps around where the header becomes shorter, as the sums do */
        document->length - old_length;
    reader->line.begin += moved;
    reader->line.end += moved;
    reader->line.next += moved;
    return MT_OK;
}

/* Whether the message is GNOME's place for the names of translators, which a program does not show
 * while it has no translation. */
static bool is_credits(const struct mt_text *id)
{
    return id->length > 0 && (strcmp(id->bytes, "translator-credits") == 0 ||
                              strcmp(id->bytes, "translator_credits") == 0);
}

/* Ends an entry: decides which of its forms are translated, and from which text. */
static enum mt_status end_entry(struct reader *reader)
{
    struct entry *entry = &reader->entry;
    enum mt_status status = MT_OK;
    bool is_header = entry->id.length == 0 && !entry->has_context;
    if (!entry->has_id && !entry->has_context)
        return MT_OK;
    if (!entry->has_id || entry->n_forms == 0)
        return mt_fail(reader->err, MT_FORMAT, "line %zu: the entry has no %s", entry->line,
                       entry->has_id ? "msgstr" : "msgid");
    status = check_utf8(reader, &entry->id);
    if (!status && entry->has_plural)
        status = check_utf8(reader, &entry->plural);
    if (!status && is_header)
        status = declare_utf8(reader, &entry->forms[0]);
    for (size_t i = 0; i < entry->n_forms && !status; i++) {
        const struct form *form = &entry->forms[i];
        bool is_singular = !entry->has_plural || (i == 0 && entry->n_forms > 1);
        const struct mt_text *source = is_singular ? &entry->id : &entry->plural;
        bool is_wanted = !is_header && !is_credits(&entry->id) &&
                         (form->is_empty || reader->options->retranslate);
        if (is_wanted && source->length > 0)
            status = add_form(reader, form, source);
    }
    reset(entry);
    reader->has_key = false;
    return status;
}

/* ---- lines ---- */

static bool is_keyword(const struct reader *reader, const char *word, size_t *length)
{
    const char *at = reader->document->bytes + reader->line.begin;
    size_t n = strlen(word);
    if (reader->line.end - reader->line.begin <= n || memcmp(at, word, n) != 0)
        return false;
    *length = n;
    return strchr(" \t\"[", at[n]) != NULL;
}

/* Reads "[2]" behind msgstr. The forms have to be in order. */
static enum mt_status read_index(struct reader *reader, size_t *length)
{
    const char *at = reader->document->bytes + reader->line.begin + *length;
    bool is_plural = *at == '[';
    size_t n = 0, index = 0;
    if (is_plural) {
        for (n = 1; mt_ascii_is_digit(at[n]) && n < 4; n++)
            index = index * 10 + (size_t)(at[n] - '0');
        if (n == 1 || at[n] != ']')
            return fail(reader, "has no index: expected msgstr[0], msgstr[1], ...");
        n++;
    }
    *length += n;
    if (is_plural != reader->entry.has_plural)
        return fail(reader, is_plural ? "has an index, but the entry no msgid_plural"
                                      : "has no index, but the entry a msgid_plural");
    if (index != reader->entry.n_forms)
        return fail(reader, is_plural ? "comes out of order: expected msgstr[0], msgstr[1], ..."
                                      : "is the entry's second msgstr");
    if (index >= MAX_FORMS)
        return fail(reader, "is one form too many");
    return MT_OK;
}

/* Reads a string whose keyword is in the same line or an earlier one. */
static enum mt_status read_value(struct reader *reader, size_t at, bool is_first)
{
    struct entry *entry = &reader->entry;
    struct mt_text *out = &reader->scratch;
    size_t end = at;
    if (reader->key == KEY_ID)
        out = &entry->id;
    else if (reader->key == KEY_PLURAL)
        out = &entry->plural;
    reader->scratch.length = 0;
    mt_text_append(out, "", 0);
    enum mt_status status = read_strings(reader, at, out, &end);
    if (!is_first && reader->key == KEY_ID)
        entry->is_wrapped = true;
    if (status || reader->key != KEY_STRING)
        return status;
    struct form *form = &entry->forms[entry->n_forms - 1];
    while (is_first && at < end && reader->document->bytes[at] != '"')
        at++;
    if (is_first)
        *form = (struct form){.range = {at, end}, .is_empty = true};
    form->range.end = end;
    form->is_empty = form->is_empty && reader->scratch.length == 0;
    return MT_OK;
}

/* Checks whether a keyword may stand here, and begins a new entry where it does so. */
static enum mt_status enter_key(struct reader *reader, enum key key)
{
    struct entry *entry = &reader->entry;
    enum mt_status status = MT_OK;
    bool begins = key == KEY_CONTEXT || key == KEY_DOMAIN || (key == KEY_ID && entry->has_id) ||
                  (key == KEY_ID && entry->n_forms > 0);
    if (begins)
        status = end_entry(reader);
    if (status)
        return status;
    if (!entry->has_id && !entry->has_context)
        entry->line = reader->line.number;
    if (key == KEY_PLURAL && (!entry->has_id || entry->has_plural || entry->n_forms > 0))
        return fail(reader, "stands alone: expected msgid before msgid_plural");
    if (key == KEY_STRING && !entry->has_id)
        return fail(reader, "stands alone: expected msgid before msgstr");
    entry->has_context = entry->has_context || key == KEY_CONTEXT;
    entry->has_id = entry->has_id || key == KEY_ID;
    entry->has_plural = entry->has_plural || key == KEY_PLURAL;
    reader->key = key;
    reader->has_key = true;
    return MT_OK;
}

static enum mt_status read_keyword(struct reader *reader)
{
    static const struct {
        const char *word;
        enum key key;
    } keywords[] = {{"msgctxt", KEY_CONTEXT},
                    {"msgid_plural", KEY_PLURAL},
                    {"msgid", KEY_ID},
                    {"msgstr", KEY_STRING},
                    {"domain", KEY_DOMAIN}};
    size_t length = 0;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (!is_keyword(reader, keywords[i].word, &length))
            continue;
        enum mt_status status = enter_key(reader, keywords[i].key);
        if (!status && keywords[i].key == KEY_STRING)
            status = read_index(reader, &length);
        if (status)
            return status;
        reader->entry.n_forms += keywords[i].key == KEY_STRING;
        return read_value(reader, reader->line.begin + length, true);
    }
    return fail(reader, "is no line of a PO file: expected msgid, msgstr, a string or a comment");
}

static enum mt_status read_line(struct reader *reader)
{
    const char *bytes = reader->document->bytes;
    struct mt_document_line *line = &reader->line;
    while (line->begin < line->end && (bytes[line->begin] == ' ' || bytes[line->begin] == '\t'))
        line->begin++;
    if (line->begin == line->end)
        return MT_OK;
    if (bytes[line->begin] == '#') /* a comment after a translation belongs to the next entry */
        return reader->has_key && reader->key == KEY_STRING ? end_entry(reader) : MT_OK;
    if (bytes[line->begin] != '"')
        return read_keyword(reader);
    if (!reader->has_key)
        return fail(reader, "is a string that belongs to nothing");
    return read_value(reader, line->begin, false);
}

static enum mt_status read_lines(struct reader *reader)
{
    enum mt_status status = MT_OK;
    while (!status && mt_document_next_line(reader->document, &reader->line)) {
        size_t n_bytes = reader->line.end - reader->line.begin;
        bool is_comment = reader->document->bytes[reader->line.begin] == '#';
        if (!is_comment &&
            mt_utf8_count(reader->document->bytes + reader->line.begin, n_bytes) > MAX_COLUMNS + 1)
            reader->po->has_long_lines = true;
        status = read_line(reader);
    }
    return status ? status : end_entry(reader);
}

static enum mt_status read_po(struct mt_document *document,
                              const struct mt_document_options *options, struct mt_error *err)
{
    struct reader reader = {
        .document = document, .options = options, .line = {.next = document->begin}, .err = err};
    reader.po = calloc(1, sizeof *reader.po);
    if (!reader.po)
        return mt_fail_memory(err, sizeof *reader.po, "a file");
    document->own = reader.po;
    enum mt_status status = read_lines(&reader);
    reset(&reader.entry);
    mt_text_finish(&reader.scratch);
    return status;
}

/* ---- writing ---- */

static void append_escaped(const char *bytes, size_t length, struct mt_text *out)
{
    static const char values[] = "\n\t\r\a\b\f\v\\\"", letters[] = "ntrabfv\\\"";
    for (size_t i = 0; i < length; i++) {
        const char *value = bytes[i] ? strchr(values, bytes[i]) : NULL;
        if (value)
            mt_text_appendf(out, "\\%c", letters[value - values]);
        else if ((unsigned char)bytes[i] < 0x20)
            mt_text_appendf(out, "\\%03o", (unsigned)(unsigned char)bytes[i]);
        else
            mt_text_append(out, bytes + i, 1);
    }
}

/* Counts the columns of the escaped text. */
static size_t n_columns(const char *bytes, size_t length)
{
    size_t n = mt_utf8_count(bytes, length);
    for (size_t i = 0; i < length; i++)
        n += strchr("\n\t\r\a\b\f\v\\\"", bytes[i]) != NULL;
    return n;
}

/* Returns how much of the text fits into the next line: up to a line feed, or as many words as
 * there is room for. */
static size_t next_line(const char *text, size_t length, bool wraps)
{
    const char *feed = memchr(text, '\n', length);
    size_t end = feed ? (size_t)(feed - text) + 1 : length, fits = 0;
    bool may_fit = end <= (size_t)4 * MAX_COLUMNS;
    if (!wraps || (may_fit && n_columns(text, end) + 2 <= MAX_COLUMNS))
        return end;
    for (size_t at = 0; at < end; at++) {
        if (text[at] != ' ')
            continue;
        if (fits && n_columns(text, at + 1) + 2 > MAX_COLUMNS)
            break;
        fits = at + 1;
    }
    return fits ? fits : end;
}

static void write_strings(const struct mt_document *document, bool is_wrapped, const char *text,
                          size_t length, struct mt_text *out)
{
    bool wraps = !((const struct po *)document->own)->has_long_lines;
    const char *feed = memchr(text, '\n', length);
    bool has_lines = feed && feed + 1 < text + length;
    bool is_long = wraps && n_columns(text, length) + strlen("msgstr[0] \"\"") > MAX_COLUMNS;
    bool is_split = is_wrapped || has_lines || is_long;
    if (is_split)
        mt_text_append_string(out, "\"\"");
    for (size_t at = 0; at < length;) {
        size_t n = is_split ? next_line(text + at, length - at, wraps) : length;
        if (is_split)
            mt_text_append_string(out, document->line_end);
        mt_text_append(out, "\"", 1);
        append_escaped(text + at, n, out);
        mt_text_append(out, "\"", 1);
        at += n;
    }
}

static bool has_same_ends(const struct mt_text *text, const char *translation, size_t length)
{
    return length > 0 && (text->bytes[0] == '\n') == (translation[0] == '\n') &&
           (text->bytes[text->length - 1] == '\n') == (translation[length - 1] == '\n');
}

/* The format keeps in first the place of a piece's accelerator, and in n its mark, above a bit
 * which tells whether the message has several lines. */
static bool is_wrapped(const struct mt_document_piece *piece)
{
    return piece->n & 1;
}

static char accelerator_mark(const struct mt_document_piece *piece)
{
    return (char)(piece->n >> 1);
}

/* msgfmt refuses translations that differ in these, and programs crash because of them. */
static bool write_po(const struct mt_document *document, const struct mt_document_piece *piece,
                     const char *translation, size_t length, struct mt_text *out)
{
    if (!has_same_ends(&piece->text, translation, length) ||
        !mt_message_can_replace(piece->text.bytes, piece->text.length, translation, length))
        return false;
    char mark = accelerator_mark(piece);
    if (mark == '\0') {
        write_strings(document, is_wrapped(piece), translation, length, out);
        return true;
    }
    struct mt_text label = {0};
    mt_accelerator_place(mark, mt_utf8_decode(piece->text.bytes + piece->first), translation,
                         length, &label);
    if (!label.status)
        write_strings(document, is_wrapped(piece), label.bytes, label.length, out);
    else
        out->status = label.status;
    mt_text_finish(&label);
    return true;
}

static void finish_po(void *own)
{
    free(own);
}

const struct mt_document_reader mt_document_po_reader = {
    .read_text = mt_read_plain,
    .read = read_po,
    .write = write_po,
    .finish = finish_po,
    .find_charset = find_header_charset,
};
