#include "server/text/scripts.h"

#include "base/ascii.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <pthread.h>

#include <unicode/uchar.h>
#include <unicode/uloc.h>
#include <unicode/ulocdata.h>
#include <unicode/uset.h>

/* Most languages for which ICU's answers are kept. It takes a millisecond to make the alphabets of
 * Chinese and Japanese, and the scripts of a language are needed for every translation. */
#define MAX_KEPT 64

#define RIGHT_QUOTE 0x2019 /* an apostrophe, too */

/* ---- what counts ---- */

static bool begins(const char *text, size_t at, size_t length, const char *what)
{
    size_t n = strlen(what);
    return at + n <= length && strncasecmp(text + at, what, n) == 0;
}

static size_t find(const char *text, size_t at, size_t length, const char *what)
{
    while (at < length && !begins(text, at, length, what))
        at++;
    return at;
}

/* Returns the position behind the tag, comment, script or style that begins at a `<`, or `at` where
 * none does. */
static size_t skip_tag(const char *text, size_t at, size_t length)
{
    if (begins(text, at, length, "<!--"))
        return find(text, at, length, "-->");
    if (begins(text, at, length, "<script"))
        return find(text, at, length, "</script");
    if (begins(text, at, length, "<style"))
        return find(text, at, length, "</style");
    bool is_tag =
        at + 1 < length && (mt_ascii_is_letter(text[at + 1]) || strchr("/!?", text[at + 1]));
    return is_tag ? find(text, at, length, ">") : at;
}

static size_t skip_entity(const char *text, size_t at, size_t length)
{
    do
        at++;
    while (at < length && (text[at] == '#' || mt_ascii_is_letter(text[at])));
    return at;
}

static size_t skip_markup(const char *text, size_t at, size_t length)
{
    if (text[at] == '&')
        return skip_entity(text, at, length);
    return text[at] == '<' ? skip_tag(text, at, length) : at;
}

/* Adjacent letters of one script. */
struct run {
    UScriptCode script;
    uint32_t n_columns;
};

static void end_run(struct run *run, struct mt_scripts *out)
{
    if (run->n_columns > 1) {
        uint32_t *columns = &out->columns[run->script];
        *columns += run->n_columns;
        if (*columns > out->columns[out->most])
            out->most = run->script;
        out->n_columns += run->n_columns;
        out->n_words++;
    }
    run->n_columns = 0;
}

static void count_letter(uint32_t c, struct run *run, struct mt_scripts *out)
{
    UErrorCode code = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript((UChar32)c, &code);
    if (U_FAILURE(code) || script <= USCRIPT_INHERITED || script >= USCRIPT_CODE_LIMIT)
        return;
    bool is_wide = u_getIntPropertyValue((UChar32)c, UCHAR_EAST_ASIAN_WIDTH) == U_EA_WIDE;
    if (run->script != script)
        end_run(run, out);
    run->script = script;
    run->n_columns += is_wide ? 2 : 1;
}

static bool is_inside_word(uint32_t c)
{
    return c == '-' || c == '\'' || c == RIGHT_QUOTE ||
           (U_GET_GC_MASK((UChar32)c) & (U_GC_M_MASK | U_GC_CF_MASK));
}

void mt_scripts_count(const char *text, size_t length, bool is_html, struct mt_scripts *out)
{
    struct run run = {.n_columns = 0};
    *out = (struct mt_scripts){.n_columns = 0};
    for (size_t at = 0; at < length;) {
        size_t end = is_html ? skip_markup(text, at, length) : at;
        if (end > at) {
            end_run(&run, out);
            at = end;
            continue;
        }
        uint32_t c = mt_utf8_decode(text + at);
        if (u_isalpha((UChar32)c))
            count_letter(c, &run, out);
        else if (!is_inside_word(c))
            end_run(&run, out);
        at += mt_char_length(text + at);
    }
    end_run(&run, out);
}

/* ---- languages ---- */

/* Where ICU fails for another reason than memory, it does not know the language. */
static enum mt_status check_memory(UErrorCode code, const char *language, struct mt_error *err)
{
    return code == U_MEMORY_ALLOCATION_ERROR
               ? mt_fail_memory(err, strlen(language), "how a language is written")
               : MT_OK;
}

static enum mt_status find_scripts(const char *language, struct mt_language_scripts *out,
                                   struct mt_error *err)
{
    char likely[ULOC_FULLNAME_CAPACITY];
    UErrorCode code = U_ZERO_ERROR;
    /* For "yi" alone, uscript_getCode would return the script of that name. */
    uloc_addLikelySubtags(language, likely, sizeof likely, &code);
    int32_t n = uscript_getCode(likely, out->items, MT_SCRIPTS_OF_LANGUAGE, &code);
    out->n = U_SUCCESS(code) && n > 0 ? (size_t)n : 0;
    return check_memory(code, language, err);
}

/* ICU's answers about a language are kept from when they are first needed, and never change. Without
 * room for another language they are made anew each time. lock guards the list. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept {
    char language[MT_LANGUAGE_BYTES];
    struct mt_language_scripts scripts;
    bool has_alphabet;
    USet *alphabet; /* NULL: CLDR has none for it */
} kept[MAX_KEPT];
static size_t n_kept;

/* Called with the lock held. *out is NULL where there is no room for another language. */
static enum mt_status get_kept(const char *language, struct kept **out, struct mt_error *err)
{
    size_t i = 0;
    enum mt_status status = MT_OK;
    while (i < n_kept && strcmp(kept[i].language, language) != 0)
        i++;
    if (i == n_kept && i < MAX_KEPT && strlen(language) < MT_LANGUAGE_BYTES) {
        snprintf(kept[i].language, sizeof kept[i].language, "%s", language);
        status = find_scripts(language, &kept[i].scripts, err);
        n_kept += !status;
    }
    *out = i < n_kept ? &kept[i] : NULL;
    return status;
}

enum mt_status mt_scripts_of_language(const char *language, struct mt_language_scripts *out,
                                      struct mt_error *err)
{
    struct kept *found;
    pthread_mutex_lock(&lock);
    enum mt_status status = get_kept(language, &found, err);
    pthread_mutex_unlock(&lock);
    if (found)
        *out = found->scripts;
    return status || found ? status : find_scripts(language, out, err);
}

/* *out: how many columns are in scripts that the language is usually written in. */
static enum mt_status count_usual(const struct mt_scripts *scripts, const char *language,
                                  uint32_t *out, struct mt_error *err)
{
    struct mt_language_scripts own;
    enum mt_status status = mt_scripts_of_language(language, &own, err);
    *out = own.n > 0 ? 0 : scripts->n_columns;
    for (size_t i = 0; i < own.n; i++)
        *out += scripts->columns[own.items[i]];
    return status;
}

/* Whether the language is also written in a script that is not its usual one: ICU has a locale for
 * it then, such as sr_Latn. */
static bool is_variant(const char *language, UScriptCode script)
{
    char locale[ULOC_FULLNAME_CAPACITY];
    snprintf(locale, sizeof locale, "%s_%s", language, uscript_getShortName(script));
    for (int32_t i = 0; i < uloc_countAvailable(); i++)
        if (strcmp(uloc_getAvailable(i), locale) == 0)
            return true;
    return false;
}

enum mt_status mt_scripts_suit(const struct mt_scripts *scripts, const char *language, bool *out,
                               struct mt_error *err)
{
    uint32_t n_usual;
    double least = scripts->n_columns * MT_SCRIPTS_LEAST;
    enum mt_status status = count_usual(scripts, language, &n_usual, err);
    if (!status)
        *out = n_usual >= least ||
               (scripts->columns[scripts->most] >= least && is_variant(language, scripts->most));
    return status;
}

/* Writes "" where ICU knows none. */
static enum mt_status find_likely(UScriptCode script, char out[MT_LANGUAGE_BYTES],
                                  struct mt_error *err)
{
    char tag[16], likely[ULOC_FULLNAME_CAPACITY], language[ULOC_LANG_CAPACITY];
    UErrorCode code = U_ZERO_ERROR;
    snprintf(tag, sizeof tag, "und_%s", uscript_getShortName(script));
    uloc_addLikelySubtags(tag, likely, sizeof likely, &code);
    uloc_getLanguage(likely, language, sizeof language, &code);
    out[0] = '\0';
    if (U_SUCCESS(code) && mt_language_parse(language, out, NULL) == MT_MEMORY)
        code = U_MEMORY_ALLOCATION_ERROR;
    return check_memory(code, tag, err);
}

enum mt_status mt_scripts_language(const struct mt_scripts *scripts, char out[MT_LANGUAGE_BYTES],
                                   struct mt_error *err)
{
    char language[MT_LANGUAGE_BYTES];
    uint32_t n = 0, most = 0; /* of columns */
    enum mt_status status = MT_OK;
    out[0] = '\0';
    for (size_t i = 0; i < USCRIPT_CODE_LIMIT && !status; i++) {
        if (scripts->columns[i] == 0)
            continue;
        status = find_likely((UScriptCode)i, language, err);
        if (!status && language[0] != '\0')
            status = count_usual(scripts, language, &n, err);
        n = n > scripts->columns[i] ? n : scripts->columns[i];
        if (status || language[0] == '\0' || n <= most)
            continue;
        memcpy(out, language, sizeof language);
        most = n;
    }
    return status;
}

/* ---- alphabets ---- */

static enum mt_status make_alphabet(const char *language, USet **out, struct mt_error *err)
{
    USet *letters = NULL;
    UErrorCode code = U_ZERO_ERROR;
    ULocaleData *data = ulocdata_open(language, &code);
    if (U_SUCCESS(code) && code != U_USING_DEFAULT_WARNING)
        letters =
            ulocdata_getExemplarSet(data, NULL, USET_CASE_INSENSITIVE, ULOCDATA_ES_STANDARD, &code);
    ulocdata_close(data);
    if (U_FAILURE(code)) {
        uset_close(letters);
        letters = NULL;
    }
    if (letters)
        uset_freeze(letters);
    *out = letters;
    return check_memory(code, language, err);
}

/* *out is NULL where CLDR has none. *own is to be closed; it is NULL where *out is kept. */
static enum mt_status get_alphabet(const char *language, const USet **out, USet **own,
                                   struct mt_error *err)
{
    struct kept *found;
    *own = NULL;
    pthread_mutex_lock(&lock);
    enum mt_status status = get_kept(language, &found, err);
    if (found && !found->has_alphabet) {
        status = make_alphabet(language, &found->alphabet, err);
        found->has_alphabet = !status;
    }
    pthread_mutex_unlock(&lock);
    if (!status && !found)
        status = make_alphabet(language, own, err);
    *out = found ? found->alphabet : *own;
    return status;
}

enum mt_status mt_scripts_count_foreign(const char *text, size_t length, const char *language,
                                        size_t *out, struct mt_error *err)
{
    const USet *letters;
    USet *own;
    size_t n = 0;
    enum mt_status status = get_alphabet(language, &letters, &own, err);
    for (size_t at = 0; !status && letters && at < length; at += mt_char_length(text + at)) {
        UChar32 c = (UChar32)mt_utf8_decode(text + at);
        n += u_isalpha(c) && !uset_contains(letters, c);
    }
    uset_close(own);
    if (!status)
        *out = n;
    return status;
}

bool mt_script_is_unspaced(uint32_t c)
{
    UErrorCode status = U_ZERO_ERROR;
    switch (uscript_getScript((UChar32)c, &status)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
        return true;
    default:
        return false;
    }
}
