#include "server/text/language.h"

#include "base/ascii.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <unicode/uloc.h>
#include <unicode/ustring.h>

static const char *const aliases[][2] = {
    {"pb", "pt-BR"},
    {"zh", "zh-Hans"},
    {"zt", "zh-Hant"},
};

static bool copy(const char *text, char out[MT_LANGUAGE_BYTES])
{
    size_t length = strlen(text);
    if (length >= MT_LANGUAGE_BYTES)
        return false;
    memcpy(out, text, length + 1);
    return true;
}

static const char *resolve_alias(const char *code)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcasecmp(code, aliases[i][0]) == 0)
            return aliases[i][1];
    return code;
}

static enum mt_status fail_tag(const char *tag, UErrorCode code, struct mt_error *err)
{
    if (code == U_MEMORY_ALLOCATION_ERROR)
        return mt_fail_memory(err, strlen(tag), "language tag");
    return mt_fail(err, MT_INVALID, "\"%.60s\" is no language code", tag);
}

/* ICU knows the form of a tag, where it has capitals, and that "eng" is "en". */
static enum mt_status canonicalise(const char *tag, char out[MT_LANGUAGE_BYTES],
                                   struct mt_error *err)
{
    char locale[ULOC_FULLNAME_CAPACITY];
    int32_t n_parsed = 0;
    UErrorCode code = U_ZERO_ERROR;
    uloc_forLanguageTag(tag, locale, sizeof locale, &n_parsed, &code);
    if (U_FAILURE(code) || (size_t)n_parsed != strlen(tag))
        return fail_tag(tag, code, err);
    int32_t length = uloc_toLanguageTag(locale, out, MT_LANGUAGE_BYTES, true, &code);
    bool is_whole = !U_FAILURE(code) && length > 0 && length < MT_LANGUAGE_BYTES;
    return is_whole ? MT_OK : fail_tag(tag, code, err);
}

/* Codes of two small letters that need no change. Nearly all codes are such, and every request has
 * some; ICU takes two microseconds to find that out. */
static atomic_bool are_canonical[26][26];

static atomic_bool *short_code(const char *code)
{
    bool is_short = mt_ascii_is_small(code[0]) && mt_ascii_is_small(code[1]) && code[2] == '\0';
    return is_short ? &are_canonical[code[0] - 'a'][code[1] - 'a'] : NULL;
}

enum mt_status mt_language_parse(const char *code, char out[MT_LANGUAGE_BYTES],
                                 struct mt_error *err)
{
    char tag[MT_LANGUAGE_BYTES];
    atomic_bool *is_canonical = short_code(code);
    out[0] = '\0';
    if (is_canonical && atomic_load_explicit(is_canonical, memory_order_relaxed)) {
        strcpy(out, code);
        return MT_OK;
    }
    if (code[0] == '\0' || !copy(code, tag))
        return fail_tag(code, U_ZERO_ERROR, err);
    for (char *c = tag; *c != '\0'; c++)
        if (*c == '_')
            *c = '-';
    enum mt_status status = canonicalise(resolve_alias(tag), out, err);
    if (status) {
        out[0] = '\0';
        return status;
    }
    /* ICU left "zho", which is "zh" now. */
    bool is_short = copy(resolve_alias(out), out);
    if (is_canonical && is_short && strcmp(code, out) == 0)
        atomic_store_explicit(is_canonical, true, memory_order_relaxed);
    return is_short ? MT_OK : fail_tag(code, U_ZERO_ERROR, err);
}

bool mt_language_normalise(const char *code, char out[MT_LANGUAGE_BYTES])
{
    return mt_language_parse(code, out, NULL) == MT_OK;
}

/* Languages of ISO 639-3 for which models have codes, and the macrolanguages that clients name
 * instead; and codes that only these models have. */
static const char *const of_models[][2] = {
    {"arb", "ar"},  {"pes", "fa"}, {"zsm", "ms"}, {"swh", "sw"}, {"lvs", "lv"},     {"khk", "mn"},
    {"npi", "ne"},  {"uzn", "uz"}, {"azj", "az"}, {"ydd", "yi"}, {"ory", "or"},     {"als", "sq"},
    {"plt", "mg"},  {"pbt", "ps"}, {"gaz", "om"}, {"quy", "qu"}, {"kmr", "ku"},     {"ayr", "ay"},
    {"dik", "din"}, {"fuv", "ff"}, {"no", "nb"},  {"ns", "nso"}, {"zh", "zh-Hans"},
};

/* Leaves out the script, if it is the usual one, and the region, except for Portuguese, because
 * mBART's is of Brazil. */
static bool drop_likely(const char *tag, char out[MT_LANGUAGE_BYTES])
{
    char own[ULOC_LANG_CAPACITY], script[ULOC_SCRIPT_CAPACITY], likely[ULOC_FULLNAME_CAPACITY],
        usual[ULOC_SCRIPT_CAPACITY];
    const char *language = own;
    UErrorCode code = U_ZERO_ERROR;
    uloc_getLanguage(tag, own, sizeof own, &code);
    uloc_getScript(tag, script, sizeof script, &code);
    for (size_t i = 0; i < sizeof of_models / sizeof of_models[0]; i++)
        if (strcmp(own, of_models[i][0]) == 0)
            language = of_models[i][1];
    uloc_addLikelySubtags(language, likely, sizeof likely, &code);
    uloc_getScript(likely, usual, sizeof usual, &code);
    if (U_FAILURE(code))
        return false;
    bool is_usual = script[0] == '\0' || strcmp(script, usual) == 0 ||
                    (strcmp(language, "ko") == 0 && strcmp(script, "Hang") == 0); /* ICU: Kore */
    if (usual[0] == '\0') /* unknown: most languages have Latin letters */
        is_usual = script[0] == '\0' || strcmp(script, "Latn") == 0;
    int n_language = (int)(is_usual ? strlen(language) : strcspn(language, "-"));
    int n = snprintf(out, MT_LANGUAGE_BYTES, "%.*s%s%s", n_language, language, is_usual ? "" : "-",
                     is_usual ? "" : script);
    return n > 0 && n < MT_LANGUAGE_BYTES;
}

bool mt_language_of_model(const char *code, char out[MT_LANGUAGE_BYTES])
{
    char tag[MT_LANGUAGE_BYTES];
    return mt_language_normalise(code, tag) && drop_likely(tag, out) &&
           mt_language_normalise(out, tag) && copy(tag, out);
}

/* Whether language and script are the same, after usual scripts are filled in, and at most one of
 * both names a region. This holds for zh-TW and zh-Hant, but not for pt-PT and pt-BR. */
static bool has_same_script(const char *a, const char *b)
{
    char full[2][ULOC_FULLNAME_CAPACITY], part[2][ULOC_FULLNAME_CAPACITY];
    UErrorCode code = U_ZERO_ERROR;
    if (uloc_getCountry(a, part[0], sizeof part[0], &code) > 0 &&
        uloc_getCountry(b, part[1], sizeof part[1], &code) > 0)
        return false;
    uloc_addLikelySubtags(a, full[0], sizeof full[0], &code);
    uloc_addLikelySubtags(b, full[1], sizeof full[1], &code);
    for (size_t i = 0; i < 2; i++) {
        int32_t n = uloc_getLanguage(full[i], part[i], sizeof part[i], &code);
        uloc_getScript(full[i], part[i] + n, (int32_t)sizeof part[i] - n, &code);
    }
    return !U_FAILURE(code) && strcmp(part[0], part[1]) == 0;
}

bool mt_language_matches(const char *asked, const char *offered)
{
    if (strcmp(asked, offered) == 0)
        return true;
    size_t n_asked = strcspn(asked, "-"), n_offered = strcspn(offered, "-");
    if (n_asked != n_offered || memcmp(asked, offered, n_asked) != 0)
        return false;
    bool is_one_bare = asked[n_asked] == '\0' || offered[n_offered] == '\0';
    return is_one_bare || has_same_script(asked, offered);
}

bool mt_language_written(const char *code, struct mt_written_language *out)
{
    char likely[ULOC_FULLNAME_CAPACITY], language[ULOC_LANG_CAPACITY];
    char script[ULOC_SCRIPT_CAPACITY], named[ULOC_SCRIPT_CAPACITY], region[ULOC_COUNTRY_CAPACITY];
    UErrorCode error = U_ZERO_ERROR;
    *out = (struct mt_written_language){0};
    uloc_addLikelySubtags(code, likely, sizeof likely, &error);
    uloc_getLanguage(likely, language, sizeof language, &error);
    uloc_getScript(likely, script, sizeof script, &error);
    uloc_getScript(code, named, sizeof named, &error);
    uloc_getCountry(likely, region, sizeof region, &error);
    if (U_FAILURE(error) || language[0] == '\0')
        return false;
    /* for Chinese the region says it */
    bool names_script = named[0] && strcmp(language, "zh") != 0;
    snprintf(out->tag, sizeof out->tag, "%s%s%s%s%s", language, names_script ? "-" : "",
             names_script ? named : "", region[0] ? "-" : "", region);
    out->is_rtl = uloc_isRightToLeft(likely);
    out->is_east_asian = strncmp(script, "Han", 3) == 0 || strcmp(script, "Jpan") == 0 ||
                         strcmp(script, "Kore") == 0;
    return true;
}

void mt_language_name(const char *code, char out[MT_LANGUAGE_NAME_BYTES])
{
    UChar name[MT_LANGUAGE_NAME_BYTES];
    int32_t n_bytes = 0;
    UErrorCode error = U_ZERO_ERROR;
    int32_t length = uloc_getDisplayName(code, "en", name, MT_LANGUAGE_NAME_BYTES, &error);
    u_strToUTF8(out, MT_LANGUAGE_NAME_BYTES, &n_bytes, name, length, &error);
    if (U_FAILURE(error) || n_bytes == 0 || n_bytes >= MT_LANGUAGE_NAME_BYTES)
        snprintf(out, MT_LANGUAGE_NAME_BYTES, "%s", code);
}

bool mt_language_without_region(const char *code, char out[MT_LANGUAGE_BYTES])
{
    char name[MT_LANGUAGE_NAME_BYTES];
    if (!mt_language_normalise(code, out))
        return false;
    mt_language_name(out, name);
    if (strcmp(name, out) == 0)
        return false;
    char *region = strrchr(out, '-');
    if (region && (strlen(region + 1) == 2 || mt_ascii_is_digit(region[1])))
        *region = '\0';
    return true;
}
