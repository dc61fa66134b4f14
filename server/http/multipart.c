#include "server/http/multipart.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

/* A view of a header's text that is being read. */
struct cursor {
    const char *at, *end;
};

static enum mt_status malformed(const struct mt_multipart *reader, const char *what,
                                struct mt_error *err)
{
    return mt_fail(err, MT_FORMAT, "malformed multipart body: %s, byte %zu", what, reader->at);
}

/* ---- parameters of a header: name=token, name="quoted" ---- */

static void skip_blanks(struct cursor *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
        text->at++;
}

/* Browsers leave more than tokens unquoted, so only the characters end a value that end a
 * parameter. */
static bool ends_value(char c)
{
    return c == ';' || c == ' ' || c == '\t';
}

/* A backslash escapes a quote or another backslash; before other characters it stands for itself,
 * as in "C:\file". */
static bool read_quoted(struct cursor *text, char *out, size_t room)
{
    size_t n = 0;
    for (text->at++; text->at < text->end && *text->at != '"'; text->at++) {
        bool is_escape = *text->at == '\\' && text->end - text->at > 1 &&
                         (text->at[1] == '"' || text->at[1] == '\\');
        if (is_escape)
            text->at++;
        if (n + 1 == room)
            return false;
        out[n++] = *text->at;
    }
    out[n] = '\0';
    return text->at < text->end && *text->at++ == '"';
}

static bool read_bare(struct cursor *text, char *out, size_t room)
{
    size_t n = 0;
    for (; text->at < text->end && !ends_value(*text->at); text->at++) {
        if (*text->at == '"' || n + 1 == room)
            return false;
        out[n++] = *text->at;
    }
    out[n] = '\0';
    return n > 0;
}

/* Reads one "; name=value" of text. Returns false at the end of text, and where text is malformed;
 * text is not at its end then. */
static bool read_parameter(struct cursor *text, struct cursor *name, char *value, size_t room)
{
    skip_blanks(text);
    while (text->at < text->end && *text->at == ';') {
        text->at++;
        skip_blanks(text);
    }
    if (text->at == text->end)
        return false;
    const char *equals = memchr(text->at, '=', (size_t)(text->end - text->at));
    if (!equals)
        return false;
    *name = (struct cursor){.at = text->at, .end = equals};
    text->at = equals + 1;
    bool is_quoted = text->at < text->end && *text->at == '"';
    bool is_read = is_quoted ? read_quoted(text, value, room) : read_bare(text, value, room);
    skip_blanks(text);
    if (is_read && (text->at == text->end || *text->at == ';'))
        return true;
    text->at = equals; /* anywhere but at the end: text is malformed */
    return false;
}

static bool is_name(const struct cursor *text, const char *name)
{
    size_t length = (size_t)(text->end - text->at);
    return length == strlen(name) && strncasecmp(text->at, name, length) == 0;
}

/* Returns the first word of a header's value, and moves text on to its parameters. */
static struct cursor read_word(struct cursor *text)
{
    skip_blanks(text);
    struct cursor word = {.at = text->at, .end = text->at};
    while (text->at < text->end && !ends_value(*text->at))
        text->at++;
    word.end = text->at;
    return word;
}

/* ---- the boundary ---- */

/* RFC 2046's bchars; the last one must not be a blank. */
static bool is_boundary(const char *text)
{
    size_t length = strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "'()+_,-./:=? ");
    return length > 0 && text[length] == '\0' && text[length - 1] != ' ';
}

enum mt_status mt_multipart_open(struct mt_multipart *reader, const char *content_type,
                                 const char *bytes, size_t length, struct mt_error *err)
{
    char value[MT_MAX_PART_NAME_BYTES], boundary[MT_MAX_BOUNDARY_BYTES + 1] = "";
    struct cursor text = {.at = content_type, .end = content_type + strlen(content_type)}, name;
    read_word(&text);
    while (read_parameter(&text, &name, value, sizeof value))
        if (is_name(&name, "boundary") && boundary[0] == '\0' && strlen(value) < sizeof boundary)
            memcpy(boundary, value, strlen(value) + 1);
    if (text.at != text.end || !is_boundary(boundary))
        return mt_fail(
            err, MT_FORMAT,
            "Content-Type is \"%.120s\", expected multipart/form-data with a boundary of "
            "1 to %d characters",
            content_type, MT_MAX_BOUNDARY_BYTES);
    *reader = (struct mt_multipart){.bytes = bytes, .length = length};
    memcpy(reader->delimiter, "\r\n--", 4);
    memcpy(reader->delimiter + 4, boundary, strlen(boundary));
    reader->delimiter_length = 4 + strlen(boundary);
    return MT_OK;
}

/* ---- headers of a part ---- */

static bool is_clean(const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            return false;
    return mt_utf8_valid_prefix(text, strlen(text)) == strlen(text);
}

/* Decodes RFC 8187's UTF-8'language'percent-encoded in place. */
static bool decode_extended(char *text)
{
    const char *from = strchr(text, '\'');
    if (strncasecmp(text, "UTF-8'", 6) != 0 || !(from = strchr(from + 1, '\'')))
        return false;
    char *to = text;
    for (from++; *from != '\0'; from++, to++) {
        *to = *from;
        if (*from != '%')
            continue;
        int high = mt_hex_digit(from[1]), low = high < 0 ? -1 : mt_hex_digit(from[2]);
        if (low < 0 || high + low == 0)
            return false;
        *to = (char)(high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return true;
}

static enum mt_status read_disposition(const struct mt_multipart *reader, struct cursor text,
                                       struct mt_part *out, bool *has_name, struct mt_error *err)
{
    char value[MT_MAX_PART_NAME_BYTES];
    struct cursor word = read_word(&text), name;
    bool is_extended = false;
    if (*has_name)
        return malformed(reader, "a part with two Content-Disposition headers", err);
    if (!is_name(&word, "form-data"))
        return malformed(reader, "a part whose Content-Disposition is not form-data", err);
    while (read_parameter(&text, &name, value, sizeof value)) {
        if (is_name(&name, "name")) {
            memcpy(out->name, value, strlen(value) + 1);
            *has_name = true;
        } else if (is_name(&name, "filename") || (is_name(&name, "filename*") && !out->is_file)) {
            memcpy(out->file_name, value, strlen(value) + 1);
            is_extended = name.end[-1] == '*';
            out->is_file = true;
        }
    }
    bool is_sound = text.at == text.end && *has_name;
    if (!is_sound || (is_extended && !decode_extended(out->file_name)) || !is_clean(out->name) ||
        !is_clean(out->file_name))
        return malformed(reader,
                         "expected Content-Disposition: form-data; name=\"...\", with names of "
                         "at most 1023 bytes of UTF-8",
                         err);
    return MT_OK;
}

static enum mt_status read_header(const struct mt_multipart *reader, struct cursor line,
                                  struct mt_part *out, bool *has_name, struct mt_error *err)
{
    const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
    if (!colon || colon == line.at)
        return malformed(reader, "a part's header without a name and ':'", err);
    if (memchr(line.at, '\0', (size_t)(line.end - line.at))) /* a NUL would end a name early */
        return malformed(reader, "a part's header with a NUL byte", err);
    const struct cursor name = {.at = line.at, .end = colon};
    struct cursor value = {.at = colon + 1, .end = line.end};
    if (is_name(&name, "Content-Disposition"))
        return read_disposition(reader, value, out, has_name, err);
    skip_blanks(&value);
    size_t length = (size_t)(value.end - value.at);
    if (is_name(&name, "Content-Type")) {
        if (length >= sizeof out->content_type)
            return malformed(reader, "a part's Content-Type of more than 1023 bytes", err);
        memcpy(out->content_type, value.at, length);
        out->content_type[length] = '\0';
        if (!is_clean(out->content_type))
            return malformed(reader, "a part's Content-Type with control characters", err);
    }
    if (is_name(&name, "Content-Transfer-Encoding")) {
        struct cursor word = read_word(&value);
        if (!is_name(&word, "binary") && !is_name(&word, "8bit") && !is_name(&word, "7bit"))
            return mt_fail(err, MT_UNSUPPORTED,
                           "multipart body: Content-Transfer-Encoding \"%.*s\", expected binary, "
                           "8bit or 7bit",
                           (int)(length < 40 ? length : 40), word.at);
    }
    return MT_OK;
}

/* Returns the next line of the headers, without its end; its at is NULL where none ends within the
 * limit. */
static struct cursor read_line(struct mt_multipart *reader, size_t limit)
{
    const char *at = reader->bytes + reader->at;
    size_t n = reader->length < limit ? reader->length - reader->at : limit - reader->at;
    const char *end = memmem(at, n, "\r\n", 2);
    if (!end)
        return (struct cursor){0};
    reader->at += (size_t)(end - at) + 2;
    return (struct cursor){.at = at, .end = end};
}

static enum mt_status read_headers(struct mt_multipart *reader, struct mt_part *out,
                                   struct mt_error *err)
{
    bool has_name = false;
    size_t limit = reader->at + MT_MAX_PART_HEADER_BYTES;
    for (;;) {
        struct cursor line = read_line(reader, limit);
        if (!line.at)
            return malformed(reader, "a part's headers do not end within 8192 bytes", err);
        if (line.at == line.end)
            break;
        enum mt_status status = read_header(reader, line, out, &has_name, err);
        if (status)
            return status;
    }
    if (!has_name)
        return malformed(reader, "a part without Content-Disposition", err);
    return MT_OK;
}

/* ---- framing ---- */

/* Behind the last boundary stands "--", behind the others the end of the line. */
static enum mt_status end_delimiter(struct mt_multipart *reader, struct mt_error *err)
{
    const char *bytes = reader->bytes;
    size_t end = reader->length;
    if (end - reader->at >= 2 && memcmp(bytes + reader->at, "--", 2) == 0) {
        reader->is_closed = true;
        reader->at += 2;
        for (; reader->at < end; reader->at++)
            if (!strchr("\r\n \t", bytes[reader->at]) || bytes[reader->at] == '\0')
                return malformed(reader, "something behind the closing boundary", err);
        return MT_OK;
    }
    while (reader->at < end && (bytes[reader->at] == ' ' || bytes[reader->at] == '\t'))
        reader->at++;
    if (end - reader->at < 2 || memcmp(bytes + reader->at, "\r\n", 2) != 0)
        return malformed(reader, "expected CR LF or \"--\" behind the boundary", err);
    reader->at += 2;
    return MT_OK;
}

/* The first boundary need not have a line end before it, but may. */
static enum mt_status read_first_delimiter(struct mt_multipart *reader, struct mt_error *err)
{
    size_t n = reader->delimiter_length;
    reader->is_begun = true;
    if (reader->length >= 2 && memcmp(reader->bytes, "\r\n", 2) == 0)
        reader->at = 2;
    if (reader->length - reader->at < n - 2 ||
        memcmp(reader->bytes + reader->at, reader->delimiter + 2, n - 2) != 0)
        return malformed(reader, "it does not begin with the boundary of its Content-Type", err);
    reader->at += n - 2;
    return end_delimiter(reader, err);
}

enum mt_status mt_multipart_next(struct mt_multipart *reader, struct mt_part *out, bool *found,
                                 struct mt_error *err)
{
    enum mt_status status = reader->is_begun ? MT_OK : read_first_delimiter(reader, err);
    *found = !status && !reader->is_closed;
    if (!*found)
        return status;
    *out = (struct mt_part){0};
    status = read_headers(reader, out, err);
    if (status)
        return status;
    /* In a part without a body the blank line may also be the line end before the boundary. */
    const char *search = reader->bytes + reader->at - 2;
    const char *end = memmem(search, reader->length - reader->at + 2, reader->delimiter,
                             reader->delimiter_length);
    if (!end) {
        reader->at = reader->length;
        return malformed(reader, "it ends without the closing boundary", err);
    }
    out->bytes = search + 2;
    out->length = end == search ? 0 : (size_t)(end - out->bytes);
    reader->at = (size_t)(end - reader->bytes) + reader->delimiter_length;
    return end_delimiter(reader, err);
}
