/*
 * Apple's .strings: the values of keys are messages.
 *
 *   / * comment * /
 *   "menu.open" = "Open \"this\" file";
 *   NSCameraUsageDescription = "Pictures of you.";
 *
 * A value without quotation marks is a name, and stays.
 */
#include "server/documents/message.h"

#include "base/ascii.h"

#include <stdlib.h>
#include <string.h>

/* The n of a piece whose value has unescaped line feeds. */
#define HAS_LINES 1u

struct reader {
    struct mt_document *document;
    const char *bytes;
    size_t at;
    struct mt_text text;
    struct mt_error *err;
};

static enum mt_status fail(struct reader *reader, size_t at, const char *message)
{
    return mt_message_fail(reader->document, at, reader->err, message);
}

static enum mt_status skip_blanks(struct reader *reader)
{
    for (;;) {
        const char *bytes = reader->bytes + reader->at;
        if (*bytes && strchr(" \t\r\n\f", *bytes)) {
            reader->at++;
        } else if (bytes[0] == '/' && bytes[1] == '/') {
            reader->at += strcspn(bytes, "\r\n");
        } else if (bytes[0] == '/' && bytes[1] == '*') {
            const char *end = strstr(bytes + 2, "*/");
            if (!end)
                return fail(reader, reader->at, "begins a comment that does not end: expected */");
            reader->at = (size_t)(end - reader->bytes) + 2;
        } else {
            return MT_OK;
        }
    }
}

/* Reads the escape at bytes[at] == '\\' and returns its length; 0: there is none. */
static size_t unescape(const char *bytes, size_t at, struct mt_text *out)
{
    static const char letters[] = "ntrabfv", meanings[] = "\n\t\r\a\b\f\v";
    char c = bytes[at + 1];
    const char *letter = c ? strchr(letters, c) : NULL;
    uint32_t value = 0;
    size_t n = 0;
    if (c == 'U' || c == 'u') {
        n = mt_message_read_unicode(bytes, at + 2, &value);
        if (n > 0)
            mt_text_append_char(out, value);
        return n > 0 ? n + 2 : 0;
    }
    while (n < 3 && bytes[at + 1 + n] >= '0' && bytes[at + 1 + n] <= '7')
        value = value * 8 + (uint32_t)(bytes[at + 1 + n++] - '0');
    if (n > 0 && value < 0x80)
        mt_text_append_char(out, value);
    if (n > 0) /* octal escapes use NeXTSTEP's encoding, which is obsolete */
        return value < 0x80 ? n + 1 : 0;
    if (letter)
        mt_text_append(out, &meanings[letter - letters], 1);
    else /* any other character stands for itself */
        mt_text_append(out, &bytes[at + 1], c != '\0');
    return c ? 2 : 0;
}

/* Reads a string between quotation marks of either kind, or a word without them. */
static enum mt_status read_string(struct reader *reader, struct mt_range *out, bool *is_quoted)
{
    static const char word_signs[] = "_-.$/:";
    const char *bytes = reader->bytes;
    size_t begin = reader->at, at = begin;
    char quote = bytes[at];
    *is_quoted = quote == '"' || quote == '\'';
    if (!*is_quoted) {
        while (bytes[at] && ((unsigned char)bytes[at] >= 0x80 || strchr(word_signs, bytes[at]) ||
                             mt_ascii_is_digit(bytes[at]) ||
                             ((bytes[at] | 0x20) >= 'a' && (bytes[at] | 0x20) <= 'z')))
            at++;
        *out = (struct mt_range){begin, at};
        reader->at = at;
        return at > begin ? MT_OK : fail(reader, begin, "has no string: expected \"...\"");
    }
    mt_text_append(&reader->text, "", 0);
    for (at++; bytes[at] && bytes[at] != quote;) {
        size_t n = 1;
        if (bytes[at] == '\\')
            n = unescape(bytes, at, &reader->text);
        else
            mt_text_append(&reader->text, bytes + at, 1);
        if (n == 0)
            return fail(reader, at,
                        "holds an escape that is none of \\n \\\" \\\\ \\UXXXX and the "
                        "like");
        at += n;
    }
    if (!bytes[at])
        return fail(reader, begin, "holds a string that does not end: expected \"");
    *out = (struct mt_range){begin + 1, at};
    reader->at = at + 1;
    return MT_OK;
}

static enum mt_status add_value(struct reader *reader, struct mt_range range)
{
    struct mt_document_piece *piece;
    enum mt_status status =
        mt_message_add(reader->document, range, &reader->text, &piece, reader->err);
    if (!status && piece && memchr(reader->bytes + range.begin, '\n', range.end - range.begin))
        piece->n = HAS_LINES;
    return status;
}

/* Reads key = value; */
static enum mt_status read_entry(struct reader *reader)
{
    struct mt_range range;
    bool is_quoted;
    size_t begin = reader->at;
    enum mt_status status = read_string(reader, &range, &is_quoted);
    reader->text.length = 0;
    if (!status)
        status = skip_blanks(reader);
    if (status)
        return status;
    if (reader->bytes[reader->at] == ';') { /* a key alone is its own value */
        reader->at++;
        return MT_OK;
    }
    if (reader->bytes[reader->at] != '=')
        return fail(reader, begin, "has no value: expected = behind the key");
    reader->at++;
    status = skip_blanks(reader);
    if (!status)
        status = read_string(reader, &range, &is_quoted);
    if (!status && is_quoted)
        status = add_value(reader, range);
    if (!status)
        status = skip_blanks(reader);
    if (status)
        return status;
    if (reader->bytes[reader->at] != ';')
        return fail(reader, range.begin, "does not end: expected ; behind the value");
    reader->at++;
    return MT_OK;
}

static enum mt_status read_strings(struct mt_document *document,
                                   const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    struct reader reader = {
        .document = document, .bytes = document->bytes, .at = document->begin, .err = err};
    enum mt_status status = skip_blanks(&reader);
    while (!status && reader.bytes[reader.at]) {
        status = read_entry(&reader);
        if (!status)
            status = skip_blanks(&reader);
    }
    mt_text_finish(&reader.text);
    return status;
}

static bool write_strings(const struct mt_document *document, const struct mt_document_piece *piece,
                          const char *translation, size_t length, struct mt_text *out)
{
    static const char letters[] = "\"\\'ntr", meanings[] = "\"\\'\n\t\r";
    char quote = document->bytes[piece->range.begin - 1];
    for (size_t i = 0; i < length; i++) {
        char c = translation[i];
        const char *meaning = c ? strchr(meanings, c) : NULL;
        bool is_other_quote = (c == '"' || c == '\'') && c != quote;
        bool stays = is_other_quote || (c == '\n' && piece->n == HAS_LINES);
        if (meaning && !stays)
            mt_text_appendf(out, "\\%c", letters[meaning - meanings]);
        else
            mt_text_append(out, &c, 1);
    }
    return true;
}

const struct mt_document_reader mt_document_strings_reader = {
    .read_text = mt_read_plain,
    .read = read_strings,
    .write = write_strings,
    .replaces_messages = true,
};
