#include "server/text/localise.h"

#include "base/ascii.h"
#include "server/text/numbers/number_notation.h"

#include <string.h>

#include <unicode/ulocdata.h>

#define MAX_QUOTE_UNITS 8

/* The digits and what is between them, in the target's notation; a sign or currency beside them stays. */
static enum mt_status write_number(const struct mt_localising *languages, const char *words,
                                   size_t length, struct mt_text *out, struct mt_error *err)
{
    size_t begin = 0, end = length;
    bool is_sure = false;
    while (begin < end && !mt_ascii_is_digit(words[begin]))
        begin++;
    while (end > begin && !mt_ascii_is_digit(words[end - 1]))
        end--;
    const struct mt_notation_input input = {
        .number = words + begin,
        .length = end - begin,
        .source_lang = languages->source_lang,
        .target_lang = languages->target_lang,
        .written = "", /* the target's own separators */
    };
    mt_text_append(out, words, begin);
    enum mt_status status = begin < end ? mt_number_write(&input, out, &is_sure, err) : MT_OK;
    if (!is_sure)
        mt_text_append(out, words + begin, end - begin);
    mt_text_append(out, words + end, length - end);
    return status;
}

/* French has a blank between its marks and the words. */
static bool has_blanks_within(const char *language)
{
    return strncmp(language, "fr", 2) == 0 && (language[2] == '\0' || language[2] == '-');
}

static void write_quote(const struct mt_localising *languages, enum mt_code_form form,
                        const char *words, size_t length, struct mt_text *out)
{
    static const char *const single[] = {
        "'", "\xE2\x80\x98", "\xE2\x80\x99", "\xE2\x80\xB9", "\xE2\x80\xBA", "\xE2\x80\x9A"};
    bool is_single = false, is_opening = form == MT_CODE_OPENING_QUOTE;
    UChar marks[MAX_QUOTE_UNITS];
    UErrorCode code = U_ZERO_ERROR;
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        is_single = is_single || (strlen(single[i]) == length && !memcmp(single[i], words, length));
    ULocaleData *data =
        languages->target_lang[0] ? ulocdata_open(languages->target_lang, &code) : NULL;
    ULocaleDataDelimiterType type =
        is_single ? (is_opening ? ULOCDATA_ALT_QUOTATION_START : ULOCDATA_ALT_QUOTATION_END)
                  : (is_opening ? ULOCDATA_QUOTATION_START : ULOCDATA_QUOTATION_END);
    int32_t n = data ? ulocdata_getDelimiter(data, type, marks, MAX_QUOTE_UNITS, &code) : 0;
    bool is_known = data && U_SUCCESS(code) && n == 1;
    ulocdata_close(data);
    if (!is_known) {
        mt_text_append(out, words, length);
        return;
    }
    bool is_guillemet = marks[0] == 0xAB || marks[0] == 0xBB;
    bool has_blank = is_guillemet && has_blanks_within(languages->target_lang);
    if (has_blank && !is_opening)
        mt_text_append_char(out, 0xA0);
    mt_text_append_char(out, marks[0]);
    if (has_blank && is_opening)
        mt_text_append_char(out, 0xA0);
}

enum mt_status mt_localise(const struct mt_localising *languages, enum mt_code_form form,
                           const char *words, size_t length, struct mt_text *out,
                           struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (form == MT_CODE_LOCAL_NUMBER)
        status = write_number(languages, words, length, out, err);
    else if (form == MT_CODE_OPENING_QUOTE || form == MT_CODE_CLOSING_QUOTE)
        write_quote(languages, form, words, length, out);
    else
        mt_text_append(out, words, length);
    return status ? status : mt_text_check(out, "a translation", err);
}
