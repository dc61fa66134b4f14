#include "server/documents/encoding.h"

#include "base/ascii.h"
#include "base/size.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <uchardet.h>
#include <unicode/ucnv.h>

/* Most bytes that uchardet gets: enough to detect an encoding, in little time compared to a
 * translation. */
#define DETECT_BYTES ((size_t)64 << 10)
/* Of these, most bytes before the first one that is not ASCII. */
#define DETECT_BEFORE ((size_t)4 << 10)
#define STEP_BYTES 16384

static const char utf8[] = "UTF-8", western[] = "windows-1252", mac[] = "macintosh";

/* ---- names ---- */

/* Files that declare the narrow encoding often have characters of the wide one at 0x80 to 0x9F,
 * where the narrow one has control characters that nobody uses. Files without a declaration usually
 * come from Windows. */
static const struct {
    const char *narrow, *wide;
    bool is_wide_if_detected;
} supersets[] = {
    {"ISO-8859-1", "windows-1252", true},  {"ISO-8859-9", "windows-1254", true},
    {"ISO-8859-7", "windows-1253", false}, /* the wide one has another code for U+0386 */
    {"ISO-8859-11", "windows-874", true},  {"TIS-620", "windows-874", true},
};

static bool has_high_controls(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)bytes[i] & 0xE0) == 0x80)
            return true;
    return false;
}

/* Whether text files may have the encoding: ASCII is the same in it, and it has no shift states. */
static bool is_fit(UConverter *converter)
{
    static const char probe[] = "Az09<>&\"=\r\n";
    UChar units[sizeof probe] = {0};
    UErrorCode code = U_ZERO_ERROR;
    switch (ucnv_getType(converter)) {
    case UCNV_UTF7:
    case UCNV_IMAP_MAILBOX:
    case UCNV_SCSU:
    case UCNV_BOCU1:
    case UCNV_CESU8:
    case UCNV_COMPOUND_TEXT:
        return false;
    default:
        break;
    }
    int32_t n = ucnv_toUChars(converter, units, (int32_t)sizeof probe, probe,
                              (int32_t)strlen(probe), &code);
    if (U_FAILURE(code) || n != (int32_t)strlen(probe))
        return false;
    for (size_t i = 0; i < strlen(probe); i++)
        if (units[i] != (UChar)probe[i])
            return false;
    return true;
}

static bool is_name(const char *name, size_t length)
{
    if (length == 0 || length >= MT_ENCODING_BYTES)
        return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] <= ' ' || name[i] > '~' || strchr(",=", name[i]))
            return false;
    return true;
}

static bool is_wide_unicode(const char *name)
{
    return strncasecmp(name, "UTF-16", 6) == 0 || strncasecmp(name, "UTF-32", 6) == 0;
}

/* Finds the usual name of an encoding. Returns false for those that a text file cannot have. */
static bool find_name(const char *name, size_t length, char out[MT_ENCODING_BYTES])
{
    char asked[MT_ENCODING_BYTES];
    UErrorCode code = U_ZERO_ERROR;
    if (!is_name(name, length))
        return false;
    memcpy(asked, name, length);
    asked[length] = '\0';
    UConverter *converter = ucnv_open(asked, &code);
    if (U_FAILURE(code))
        return false;
    const char *own = ucnv_getName(converter, &code), *usual = NULL;
    static const char *const standards[] = {"MIME", "IANA"};
    for (size_t i = 0; i < 2 && !usual; i++) {
        code = U_ZERO_ERROR;
        usual = ucnv_getStandardName(own, standards[i], &code);
    }
    if (!usual)
        usual = own;
    bool is_known = strlen(usual) < MT_ENCODING_BYTES &&
                    (is_wide_unicode(usual) || strcasecmp(usual, utf8) == 0 || is_fit(converter));
    if (is_known)
        strcpy(out, usual);
    ucnv_close(converter);
    return is_known;
}

bool mt_encoding_is_utf8(const char *name, size_t length)
{
    char usual[MT_ENCODING_BYTES];
    return find_name(name, length, usual) && strcmp(usual, utf8) == 0;
}

static void set(const struct mt_encoding_question *question, const char *name, bool is_detected,
                struct mt_encoding *out)
{
    *out = (struct mt_encoding){.is_utf8 = strcmp(name, utf8) == 0};
    for (size_t i = 0; i < sizeof supersets / sizeof *supersets; i++) {
        if (strcasecmp(name, supersets[i].narrow) != 0)
            continue;
        if ((is_detected && supersets[i].is_wide_if_detected) ||
            has_high_controls(question->bytes, question->length))
            name = supersets[i].wide;
        break;
    }
    strcpy(out->name, name);
}

/* ---- detecting ---- */

static size_t line_of(const char *bytes, size_t position)
{
    size_t number = 1;
    for (size_t i = 0; i < position; i++)
        number += bytes[i] == '\n';
    return number;
}

static bool find_mark(const struct mt_encoding_question *question, struct mt_encoding *out)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *name;
    } marks[] = {
        {"\xEF\xBB\xBF", 3, utf8},       {"\xFF\xFE\0\0", 4, "UTF-32LE"},
        {"\0\0\xFE\xFF", 4, "UTF-32BE"}, {"\xFF\xFE", 2, "UTF-16LE"},
        {"\xFE\xFF", 2, "UTF-16BE"},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (question->length >= marks[i].n &&
            memcmp(question->bytes, marks[i].bytes, marks[i].n) == 0) {
            set(question, marks[i].name, false, out);
            out->mark_bytes = marks[i].n;
            memcpy(out->mark, marks[i].bytes, marks[i].n);
            return true;
        }
    return false;
}

/* In UTF-16 every second byte of ASCII and Latin letters is zero, and none of the others. */
static const char *find_zeros(const char *bytes, size_t length)
{
    size_t n = mt_size_min(length, DETECT_BYTES), zeros[2] = {0};
    for (size_t i = 0; i < n; i++)
        zeros[i % 2] += bytes[i] == '\0';
    if (length % 2 != 0 || zeros[0] + zeros[1] < n / 16)
        return NULL;
    return zeros[0] == 0 ? "UTF-16LE" : zeros[1] == 0 ? "UTF-16BE" : NULL;
}

static bool detect(const char *bytes, size_t length, size_t first_bad, char out[MT_ENCODING_BYTES])
{
    size_t begin = first_bad > DETECT_BEFORE ? first_bad - DETECT_BEFORE : 0;
    uchardet_t detector = uchardet_new();
    if (!detector)
        return false;
    bool is_found = uchardet_handle_data(detector, bytes + begin,
                                         mt_size_min(length - begin, DETECT_BYTES)) == 0;
    uchardet_data_end(detector);
    const char *name = uchardet_get_charset(detector);
    is_found = is_found && find_name(name, strlen(name), out) && strcmp(out, utf8) != 0 &&
               strcmp(out, "US-ASCII") != 0;
    uchardet_delete(detector);
    return is_found;
}

/* Whether each byte above ASCII in the text is the same letter in both encodings. */
static bool reads_the_same(const struct mt_encoding_question *question, const char *a,
                           const char *b)
{
    const char *const names[] = {a, b};
    struct mt_text read[2] = {{0}};
    struct mt_error err;
    bool is_seen[256] = {false}, is_read = true;
    char high[128];
    size_t n = 0;
    for (size_t i = 0; i < question->length; i++) {
        unsigned char c = (unsigned char)question->bytes[i];
        if (c >= 0x80 && !is_seen[c])
            high[n++] = question->bytes[i];
        is_seen[c] = true;
    }
    for (size_t i = 0; i < 2 && is_read; i++) {
        struct mt_encoding encoding = {.is_utf8 = false};
        strcpy(encoding.name, names[i]);
        is_read = !mt_encoding_decode(&encoding, high, n, &read[i], &err);
    }
    bool is_same = is_read && read[0].length == read[1].length &&
                   memcmp(read[0].bytes, read[1].bytes, read[0].length) == 0;
    mt_text_finish(&read[0]);
    mt_text_finish(&read[1]);
    return is_same;
}

/* reason tells why no other encoding is tried. */
static enum mt_status check_utf8(const struct mt_encoding_question *question, const char *reason,
                                 struct mt_error *err)
{
    const char *bytes = question->bytes;
    size_t n_valid = mt_utf8_valid_prefix(bytes, question->length);
    const char *nul = memchr(bytes, '\0', n_valid);
    if (nul)
        return mt_fail(err, MT_FORMAT, "line %zu holds a NUL byte, so the file is no text",
                       line_of(bytes, (size_t)(nul - bytes)));
    if (n_valid < question->length)
        return mt_fail(err, MT_FORMAT,
                       "line %zu holds byte 0x%02X, which is no UTF-8, %s: expected its encoding "
                       "to be named (encoding)",
                       line_of(bytes, n_valid), (unsigned char)bytes[n_valid], reason);
    return MT_OK;
}

/* Whether a file comes from a Macintosh of the time before Unicode, whose lines ended with CR
 * alone. uchardet takes its letters for those of other Latin encodings, in which most letters are
 * at 0xE0 and behind, where this one has signs that do not stand within words. detected: what that
 * says; NULL: nothing. */
static bool is_of_mac(const struct mt_encoding_question *question, const char *detected)
{
    static const char *const latin[] = {
        "windows-1250", "windows-1252", "windows-1254", "windows-1257", "ISO-8859-1",
        "ISO-8859-2",   "ISO-8859-3",   "ISO-8859-4",   "ISO-8859-9",   "ISO-8859-15"};
    const char *bytes = question->bytes;
    size_t length = question->length;
    bool is_latin = !detected;
    for (size_t i = 0; i < sizeof latin / sizeof *latin && !is_latin; i++)
        is_latin = strcasecmp(detected, latin[i]) == 0;
    if (!is_latin || !memchr(bytes, '\r', length) || memchr(bytes, '\n', length))
        return false;
    for (size_t i = 1; i + 1 < length; i++)
        if ((unsigned char)bytes[i] >= 0xE0 && mt_ascii_is_letter(bytes[i - 1]) &&
            mt_ascii_is_letter(bytes[i + 1]))
            return false;
    return true;
}

/* Detects an encoding that is neither asked for nor declared correctly. */
static enum mt_status look(const struct mt_encoding_question *question, struct mt_encoding *out,
                           struct mt_error *err)
{
    size_t n_valid = mt_utf8_valid_prefix(question->bytes, question->length);
    char name[MT_ENCODING_BYTES];
    const char *wide = memchr(question->bytes, '\0', question->length)
                           ? find_zeros(question->bytes, question->length)
                           : NULL;
    if (wide) {
        set(question, wide, true, out);
        return MT_OK;
    }
    bool is_other = n_valid < question->length;
    bool is_found = is_other && detect(question->bytes, question->length, n_valid, name);
    if (is_other && is_of_mac(question, is_found ? name : NULL)) {
        set(question, mac, true, out);
        return MT_OK;
    }
    if (is_found) {
        /* One or two letters are the same in many encodings. The most common one has the letters
         * that a translation needs. */
        if (reads_the_same(question, name, western))
            strcpy(name, western);
        set(question, name, true, out);
        return MT_OK;
    }
    set(question, utf8, true, out);
    return check_utf8(question, "and what else it is cannot be told", err);
}

/* Whether a file is UTF-8 although it declares another encoding, as editors write it that leave the
 * declaration as it was. Text in an encoding of single bytes is hardly ever valid UTF-8 by chance;
 * that of other encodings may be, so those must not be able to read the file. */
static bool is_utf8_all_the_same(const struct mt_encoding_question *question, const char *declared)
{
    size_t n_ascii = 0, length = question->length;
    while (n_ascii < length && (unsigned char)question->bytes[n_ascii] < 0x80)
        n_ascii++;
    if (n_ascii == length || mt_utf8_valid_prefix(question->bytes, length) < length)
        return false;
    UErrorCode code = U_ZERO_ERROR;
    UConverter *converter = ucnv_open(declared, &code);
    bool has_single_bytes = U_SUCCESS(code) && ucnv_getMaxCharSize(converter) == 1;
    ucnv_close(converter);
    if (has_single_bytes)
        return true;
    struct mt_encoding encoding = {.is_utf8 = false};
    struct mt_text read = {0};
    struct mt_error err;
    strcpy(encoding.name, declared);
    enum mt_status status =
        mt_encoding_decode(&encoding, question->bytes, question->length, &read, &err);
    mt_text_finish(&read);
    return status == MT_FORMAT;
}

enum mt_status mt_encoding_find(const struct mt_encoding_question *question,
                                struct mt_encoding *out, struct mt_error *err)
{
    char name[MT_ENCODING_BYTES];
    const char *asked = question->asked ? question->asked : "";
    if (asked[0] != '\0' && (!find_name(asked, strlen(asked), name)))
        return mt_fail(err, MT_INVALID,
                       "encoding is \"%.*s\", expected the name of one, such as UTF-8, UTF-16 or "
                       "windows-1252",
                       (int)mt_utf8_valid_prefix(asked, strnlen(asked, 60)), asked);
    if (find_mark(question, out))
        return out->is_utf8 ? check_utf8(question, "although a byte order mark says so", err)
                            : MT_OK;
    if (asked[0] != '\0') {
        const char *found = find_zeros(question->bytes, question->length);
        if (strcmp(name, "UTF-16") == 0)
            strcpy(name, found ? found : "UTF-16LE");
        else if (strcmp(name, "UTF-32") == 0)
            strcpy(name, "UTF-32LE");
        set(question, name, false, out);
        return out->is_utf8 ? check_utf8(question, "although encoding says so", err) : MT_OK;
    }
    /* The declaration could be read as ASCII, so UTF-16 is wrong. A declaration of ASCII only tells
     * that there were no other characters when it was written. */
    bool is_said = find_name(question->declared, question->declared_length, name) &&
                   !is_wide_unicode(name) && strcmp(name, "US-ASCII") != 0;
    if (!is_said || (strcmp(name, utf8) != 0 && is_utf8_all_the_same(question, name)))
        return look(question, out, err);
    set(question, name, false, out);
    return out->is_utf8 ? check_utf8(question, "although the file says so", err) : MT_OK;
}

/* ---- converting ---- */

struct conversion {
    UConverter *from, *to;
    const char *source, *source_end;
    UErrorCode code;
};

static bool begin(struct conversion *conversion, const char *from, const char *to)
{
    UErrorCode *code = &conversion->code;
    conversion->from = ucnv_open(from, code);
    conversion->to = ucnv_open(to, code);
    if (U_SUCCESS(*code)) {
        ucnv_setToUCallBack(conversion->from, UCNV_TO_U_CALLBACK_STOP, NULL, NULL, NULL, code);
        ucnv_setFromUCallBack(conversion->to, UCNV_FROM_U_CALLBACK_STOP, NULL, NULL, NULL, code);
        ucnv_setFallback(conversion->to, false);
    }
    return U_SUCCESS(*code);
}

/* Returns false where the input is not valid in its encoding, the output's encoding lacks a
 * character, or out failed. */
static bool convert(struct conversion *conversion, struct mt_text *out)
{
    UChar pivot[2048], *pivot_source = pivot, *pivot_target = pivot;
    char step[STEP_BYTES];
    do {
        char *target = step;
        conversion->code = U_ZERO_ERROR;
        ucnv_convertEx(conversion->to, conversion->from, &target, step + sizeof step,
                       &conversion->source, conversion->source_end, pivot, &pivot_source,
                       &pivot_target, pivot + sizeof pivot / sizeof *pivot, false, true,
                       &conversion->code);
        mt_text_append(out, step, (size_t)(target - step));
    } while (conversion->code == U_BUFFER_OVERFLOW_ERROR && !out->status);
    return U_SUCCESS(conversion->code) && !out->status;
}

static void end(struct conversion *conversion)
{
    ucnv_close(conversion->from);
    ucnv_close(conversion->to);
}

enum mt_status mt_encoding_decode(const struct mt_encoding *encoding, const char *bytes,
                                  size_t length, struct mt_text *out, struct mt_error *err)
{
    struct conversion conversion = {.source = bytes, .source_end = bytes + length};
    mt_text_append(out, "", 0);
    size_t first = out->length;
    bool is_open = begin(&conversion, encoding->name, utf8);
    bool is_good = is_open && convert(&conversion, out);
    size_t at = (size_t)(conversion.source - bytes);
    UErrorCode code = conversion.code;
    end(&conversion);
    if (is_good && memchr(out->bytes + first, '\0', out->length - first))
        return mt_fail(err, MT_FORMAT, "the file holds a NUL character, so it is no text in %s",
                       encoding->name);
    if (is_good)
        return MT_OK;
    if (out->status)
        return mt_text_check(out, "a file", err);
    if (!is_open || code == U_MEMORY_ALLOCATION_ERROR)
        return mt_fail_memory(err, length, "a file's characters");
    return mt_fail(err, MT_FORMAT,
                   "line %zu holds bytes that are no characters of %s: expected its encoding to be "
                   "named (encoding)",
                   line_of(bytes, at), encoding->name);
}

bool mt_encoding_encode(const struct mt_encoding *encoding, const char *text, size_t length,
                        struct mt_text *out)
{
    struct conversion conversion = {.source = text, .source_end = text + length};
    mt_text_append(out, "", 0);
    bool is_good = begin(&conversion, utf8, encoding->name) && convert(&conversion, out);
    end(&conversion);
    return is_good;
}
