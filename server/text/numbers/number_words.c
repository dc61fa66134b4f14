#include "server/text/numbers/number_words.h"

#include "base/size.h"
#include "base/text.h"
#include "base/vector.h"
#include "server/text/language.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>
#include <unicode/udat.h>
#include <unicode/unum.h>
#include <unicode/unumberformatter.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>

/* Most words of one number, as in "two hundred and fifty one". */
#define MAX_WORDS 6
/* Most characters of a number in words, in a script without blanks. */
#define MAX_BARE_CHARS 8
/* Most UTF-16 units of a number in words. */
#define MAX_UNITS 256
#define MAX_PATTERN 8
#define MS_PER_HOUR 3600000.0
/* Numbers below this one are spelled out as cardinals. */
#define N_CARDINALS 1000
/* Numbers below this one are spelled out as ordinals. */
#define N_ORDINALS 101
#define MAX_ROMAN 3999

struct entry {
    uint64_t hash; /* of the folded letters */
    enum mt_number_word_kind kind;
    uint32_t value;
};

struct mt_number_language {
    char code[MT_LANGUAGE_BYTES];
    struct entry *entries; /* ascending, without duplicates */
    size_t n, capacity;
};

/* A language that was asked for. */
struct place {
    char code[MT_LANGUAGE_BYTES];
    struct mt_number_language *language; /* NULL: it is being made */
};

struct mt_number_words {
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t made;   /* a language was made, or could not be */
    struct place places[MT_MAX_NUMBER_LANGUAGES];
    size_t n;
};

static const struct mt_number_language no_language = {.code = ""};

/* ---- folding: case, blanks, hyphens and full stops do not count ---- */

#define FNV_OFFSET UINT64_C(14695981039346656037)
#define FNV_PRIME UINT64_C(1099511628211)

static bool is_joint(uint32_t c)
{
    return c == '-' || c == '.' || c == 0xAD || (c >= 0x2010 && c <= 0x2011) || c == 0x200B ||
           c == 0x200C || mt_is_space(c);
}

static bool is_letter(uint32_t c)
{
    return u_isalpha((UChar32)c) || u_charType((UChar32)c) == U_NON_SPACING_MARK ||
           u_charType((UChar32)c) == U_COMBINING_SPACING_MARK;
}

static uint64_t hash_char(uint64_t hash, uint32_t c)
{
    uint32_t folded = (uint32_t)u_foldCase((UChar32)c, U_FOLD_CASE_DEFAULT);
    for (int shift = 0; shift < 24; shift += 8)
        hash = (hash ^ ((folded >> shift) & 0xFF)) * FNV_PRIME;
    return hash;
}

/* ---- a language's words ---- */

/* Collects the words and keeps the first failure. */
struct maker {
    struct mt_number_language *language;
    enum mt_status status;
};

static void add_entry(struct maker *maker, uint64_t hash, enum mt_number_word_kind kind,
                      uint32_t value)
{
    struct mt_number_language *language = maker->language;
    if (MT_ROOM(&language->entries, &language->capacity, language->n + 1, "number words", NULL)) {
        maker->status = MT_MEMORY;
        return;
    }
    language->entries[language->n++] = (struct entry){.hash = hash, .kind = kind, .value = value};
}

static void note(struct maker *maker, UErrorCode code)
{
    if (code == U_MEMORY_ALLOCATION_ERROR)
        maker->status = MT_MEMORY;
}

/* Adds a word that has letters; digits are numbers by themselves. */
static void add_word(struct maker *maker, const UChar *units, int32_t n,
                     enum mt_number_word_kind kind, uint32_t value)
{
    char text[3 * MAX_UNITS + 1];
    int32_t length = 0;
    UErrorCode code = U_ZERO_ERROR;
    uint64_t hash = FNV_OFFSET;
    bool has_letters = false;
    u_strToUTF8(text, sizeof text, &length, units, n, &code);
    note(maker, code);
    if (U_FAILURE(code))
        return;
    for (int32_t at = 0; at < length; at += (int32_t)mt_char_length(text + at)) {
        uint32_t c = mt_utf8_decode(text + at);
        if (u_charDigitValue((UChar32)c) >= 0)
            return;
        if (is_joint(c))
            continue;
        has_letters = has_letters || is_letter(c) || u_getNumericValue((UChar32)c) >= 0;
        hash = hash_char(hash, c);
    }
    if (has_letters)
        add_entry(maker, hash, kind, value);
}

static void spell(struct maker *maker, const UNumberFormat *format, uint32_t end)
{
    UChar units[MAX_UNITS];
    for (uint32_t value = 0; value < end && !maker->status; value++) {
        UErrorCode code = U_ZERO_ERROR;
        int32_t n = unum_format(format, (int32_t)value, units, MAX_UNITS, NULL, &code);
        note(maker, code);
        if (U_SUCCESS(code) && n <= MAX_UNITS)
            add_word(maker, units, n, MT_NUMBER_VALUE, value);
    }
}

/* Adds the word for a power of ten that is left of a number: "zweihundert" is "zwei" and a word
 * that multiplies by a hundred. Alone it means the power itself. */
static void spell_scale(struct maker *maker, const UNumberFormat *format, uint32_t power,
                        int32_t value)
{
    UChar two[MAX_UNITS], units[MAX_UNITS];
    UErrorCode code = U_ZERO_ERROR;
    int32_t n_two = unum_format(format, 2, two, MAX_UNITS, NULL, &code);
    int32_t n = unum_format(format, 2 * value, units, MAX_UNITS, NULL, &code);
    note(maker, code);
    if (U_SUCCESS(code) && n_two < n && n <= MAX_UNITS && u_memcmp(two, units, n_two) == 0)
        add_word(maker, units + n_two, n - n_two, MT_NUMBER_SCALE, power);
}

static bool has_prefix(const UChar *units, int32_t n, const char *prefix)
{
    int32_t i = 0;
    for (; prefix[i]; i++)
        if (i >= n || units[i] != (UChar)prefix[i])
            return false;
    return true;
}

/* Reads the names of rule sets for spelling numbers out, such as "%spellout-ordinal-feminine". ICU
 * gives them in one string, each ending with ";". */
static void spell_with(struct maker *maker, UNumberFormat *format, const UChar *name, int32_t n)
{
    UErrorCode code = U_ZERO_ERROR;
    bool is_ordinal = has_prefix(name, n, "%spellout-ordinal");
    bool is_year = has_prefix(name, n, "%spellout-numbering-year");
    if (is_year || !has_prefix(name, n, "%spellout"))
        return;
    unum_setTextAttribute(format, UNUM_DEFAULT_RULESET, name, n, &code);
    note(maker, code);
    if (U_FAILURE(code))
        return;
    spell(maker, format, is_ordinal ? N_ORDINALS : N_CARDINALS);
    spell_scale(maker, format, 2, 100);
    spell_scale(maker, format, 3, 1000);
}

static void add_spelled(struct maker *maker)
{
    enum { MAX_NAMES = 4096 };
    UErrorCode code = U_ZERO_ERROR;
    UNumberFormat *format = unum_open(UNUM_SPELLOUT, NULL, 0, maker->language->code, NULL, &code);
    UChar *names = malloc(MAX_NAMES * sizeof *names);
    int32_t n = 0;
    if (!names)
        maker->status = MT_MEMORY;
    else if (U_SUCCESS(code))
        n = unum_getTextAttribute(format, UNUM_PUBLIC_RULESETS, names, MAX_NAMES, &code);
    note(maker, code);
    if (U_FAILURE(code) || n > MAX_NAMES)
        n = 0;
    for (int32_t begin = 0, end; begin < n && !maker->status; begin = end + 1) {
        for (end = begin; end < n && names[end] != ';';)
            end++;
        spell_with(maker, format, names + begin, end - begin);
    }
    free(names);
    if (format)
        unum_close(format);
}

/* Adds the word of a power of ten, which remains of "2 Millionen" without digits and blanks. */
static void add_scale(struct maker *maker, const UNumberFormat *format, uint32_t power,
                      int64_t value)
{
    UChar units[MAX_UNITS];
    UErrorCode code = U_ZERO_ERROR;
    int32_t n = unum_formatInt64(format, value, units, MAX_UNITS, NULL, &code), begin = 0;
    uint32_t shown = 0;
    note(maker, code);
    if (U_FAILURE(code) || n > MAX_UNITS)
        return;
    for (; begin < n && (u_charDigitValue(units[begin]) >= 0 || is_joint(units[begin])); begin++)
        if (u_charDigitValue(units[begin]) >= 0)
            shown = shown * 10 + (uint32_t)u_charDigitValue(units[begin]);
    /* Where 1,000,000 is written as 100 of a unit, that unit is a smaller power. */
    while (shown >= 10 && shown % 10 == 0 && power > 0) {
        shown /= 10;
        power--;
    }
    if (shown > 0 && shown < 10 && power > 0)
        add_word(maker, units + begin, n - begin, MT_NUMBER_SCALE, power);
}

static void add_scales(struct maker *maker, UNumberFormatStyle style)
{
    UErrorCode code = U_ZERO_ERROR;
    UNumberFormat *format = unum_open(style, NULL, 0, maker->language->code, NULL, &code);
    int64_t power = 1;
    note(maker, code);
    for (uint32_t n_zeros = 0; n_zeros <= 14 && U_SUCCESS(code) && !maker->status; n_zeros++) {
        add_scale(maker, format, n_zeros, power);
        add_scale(maker, format, n_zeros, 2 * power);
        add_scale(maker, format, n_zeros, 5 * power);
        power *= 10;
    }
    if (format)
        unum_close(format);
}

/* The factors of CLDR's common/supplemental/units.xml. Speeds count as lengths, since all of them
 * are "per hour". */
static const struct mt_number_unit units_of_measurement[] = {
    {"inch", MT_LENGTH, 0.0254, 0},
    {"foot", MT_LENGTH, 0.3048, 0},
    {"yard", MT_LENGTH, 0.9144, 0},
    {"mile", MT_LENGTH, 1609.344, 0},
    {"mile-per-hour", MT_LENGTH, 1609.344, 0},
    {"millimeter", MT_LENGTH, 0.001, 0},
    {"centimeter", MT_LENGTH, 0.01, 0},
    {"meter", MT_LENGTH, 1, 0},
    {"kilometer", MT_LENGTH, 1000, 0},
    {"kilometer-per-hour", MT_LENGTH, 1000, 0},
    {"ounce", MT_MASS, 0.028349523125, 0},
    {"pound", MT_MASS, 0.45359237, 0},
    {"gram", MT_MASS, 0.001, 0},
    {"kilogram", MT_MASS, 1, 0},
    {"metric-ton", MT_MASS, 1000, 0},
    {"gallon", MT_VOLUME, 3.785411784, 0},
    {"pint", MT_VOLUME, 0.473176473, 0},
    {"liter", MT_VOLUME, 1, 0},
    {"fahrenheit", MT_TEMPERATURE, 5.0 / 9.0, 32},
    {"degree", MT_TEMPERATURE, 5.0 / 9.0, 32}, /* of Fahrenheit, when a text converts it */
    {"celsius", MT_TEMPERATURE, 1, 0},
};
#define N_UNITS (sizeof units_of_measurement / sizeof units_of_measurement[0])

struct mt_number_unit mt_number_unit(uint32_t value)
{
    return units_of_measurement[value];
}

/* Adds the unit's name, which remains of "5 miles" without the number. */
static void add_unit_of(struct maker *maker, const UNumberFormatter *format, uint32_t unit,
                        int64_t value)
{
    UChar units[MAX_UNITS];
    UErrorCode code = U_ZERO_ERROR;
    UFormattedNumber *result = unumf_openResult(&code);
    if (U_SUCCESS(code))
        unumf_formatInt(format, value, result, &code);
    int32_t n = U_SUCCESS(code) ? unumf_resultToString(result, units, MAX_UNITS, &code) : 0;
    int32_t begin = 0;
    note(maker, code);
    while (begin < n && (u_charDigitValue(units[begin]) >= 0 || is_joint(units[begin])))
        begin++;
    if (U_SUCCESS(code) && n <= MAX_UNITS)
        add_word(maker, units + begin, n - begin, MT_NUMBER_UNIT, unit);
    unumf_closeResult(result);
}

static void add_unit(struct maker *maker, uint32_t unit, const char *width)
{
    char skeleton[96];
    UChar units[96];
    UErrorCode code = U_ZERO_ERROR;
    int n = snprintf(skeleton, sizeof skeleton, "unit/%s unit-width-%s",
                     units_of_measurement[unit].name, width);
    u_charsToUChars(skeleton, units, n);
    UNumberFormatter *format =
        unumf_openForSkeletonAndLocale(units, n, maker->language->code, &code);
    note(maker, code);
    for (int64_t value = 1; value <= 5 && U_SUCCESS(code) && !maker->status; value++)
        add_unit_of(maker, format, unit, value);
    unumf_close(format);
}

static void add_units(struct maker *maker)
{
    for (uint32_t unit = 0; unit < N_UNITS && !maker->status; unit++) {
        add_unit(maker, unit, "full-name");
        add_unit(maker, unit, "short");
    }
}

static void add_symbols(struct maker *maker, const UDateFormat *format, UDateFormatSymbolType type,
                        enum mt_number_word_kind kind)
{
    UErrorCode code = U_ZERO_ERROR;
    int32_t n_symbols = udat_countSymbols(format, type);
    for (int32_t i = 0; i < n_symbols && !maker->status; i++) {
        UChar units[MAX_UNITS];
        int32_t n = udat_getSymbols(format, type, i, units, MAX_UNITS, &code);
        note(maker, code);
        if (U_FAILURE(code) || n > MAX_UNITS)
            return;
        if (kind == MT_NUMBER_VALUE)
            add_word(maker, units, n, kind, (uint32_t)i + 1);
        else
            add_word(maker, units, n, i == 1 ? MT_NUMBER_AFTERNOON : MT_NUMBER_MORNING, 0);
    }
}

/* Writes what the part of the day with this hour is called, and returns its length in units; 0:
 * unknown. */
static int32_t name_of_hour(struct maker *maker, const UDateFormat *format, int hour,
                            UChar units[MAX_UNITS])
{
    UErrorCode code = U_ZERO_ERROR;
    int32_t n = udat_format(format, hour * MS_PER_HOUR, units, MAX_UNITS, NULL, &code);
    note(maker, code);
    return U_SUCCESS(code) && n <= MAX_UNITS ? n : 0;
}

/* Adds the parts of the day, such as "nachmittags" and "du soir". Noon is an hour of its own, and
 * night belongs to both halves of the day. */
static void add_parts_of_day(struct maker *maker, const char *pattern)
{
    enum { FIRST_HOUR = 4, NOON = 12, LAST_HOUR = 18, NIGHT = 23 };
    static const UChar utc[] = {'U', 'T', 'C', 0};
    UChar units[MAX_UNITS], last[MAX_UNITS], night[MAX_UNITS], letters[MAX_PATTERN];
    UErrorCode code = U_ZERO_ERROR;
    int32_t n_letters = (int32_t)strlen(pattern);
    u_charsToUChars(pattern, letters, n_letters);
    UDateFormat *format = udat_open(UDAT_PATTERN, UDAT_PATTERN, maker->language->code, utc, -1,
                                    letters, n_letters, &code);
    note(maker, code);
    int32_t n_night = U_SUCCESS(code) ? name_of_hour(maker, format, 0, night) : 0;
    int32_t n_last = U_SUCCESS(code) ? name_of_hour(maker, format, LAST_HOUR, last) : 0;
    for (int hour = FIRST_HOUR; hour <= NIGHT && U_SUCCESS(code) && !maker->status; hour++) {
        int32_t n = name_of_hour(maker, format, hour, units);
        bool is_night = n == n_night && u_memcmp(units, night, n) == 0;
        bool is_last = n == n_last && u_memcmp(units, last, n) == 0;
        enum mt_number_word_kind kind = hour < NOON         ? MT_NUMBER_MORNING
                                        : hour <= LAST_HOUR ? MT_NUMBER_AFTERNOON
                                                            : MT_NUMBER_NIGHT;
        if (n > 0 && hour != NOON && (hour > LAST_HOUR ? !is_last : !is_night))
            add_word(maker, units, n, kind, 0);
    }
    if (n_night > 0 && U_SUCCESS(code) && !maker->status)
        add_word(maker, night, n_night, MT_NUMBER_NIGHT, 0);
    if (format)
        udat_close(format);
}

static void add_dates(struct maker *maker)
{
    static const UDateFormatSymbolType months[] = {
        UDAT_MONTHS, UDAT_SHORT_MONTHS, UDAT_STANDALONE_MONTHS, UDAT_STANDALONE_SHORT_MONTHS};
    UErrorCode code = U_ZERO_ERROR;
    UDateFormat *format =
        udat_open(UDAT_LONG, UDAT_LONG, maker->language->code, NULL, 0, NULL, 0, &code);
    note(maker, code);
    for (size_t i = 0; i < sizeof months / sizeof months[0] && U_SUCCESS(code); i++)
        add_symbols(maker, format, months[i], MT_NUMBER_VALUE);
    if (U_SUCCESS(code))
        add_symbols(maker, format, UDAT_AM_PMS, MT_NUMBER_AFTERNOON);
    if (format)
        udat_close(format);
    add_parts_of_day(maker, "B");
    add_parts_of_day(maker, "BBBB");
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static void sort_entries(struct mt_number_language *language)
{
    size_t n = 0;
    if (language->n > 0)
        qsort(language->entries, language->n, sizeof language->entries[0], compare_entries);
    for (size_t i = 0; i < language->n; i++)
        if (n == 0 || compare_entries(&language->entries[n - 1], &language->entries[i]) != 0)
            language->entries[n++] = language->entries[i];
    language->n = n;
    struct entry *fitting = realloc(language->entries, mt_size_max(n, 1) * sizeof *fitting);
    if (fitting)
        language->entries = fitting;
}

static void destroy_language(struct mt_number_language *language)
{
    if (language)
        free(language->entries);
    free(language);
}

static enum mt_status make_language(const char *code, struct mt_number_language **out,
                                    struct mt_error *err)
{
    struct mt_number_language *language = calloc(1, sizeof *language);
    if (!language)
        return mt_fail_memory(err, sizeof *language, "the number words of a language");
    strcpy(language->code, code);
    struct maker maker = {.language = language};
    add_spelled(&maker);
    add_scales(&maker, UNUM_DECIMAL_COMPACT_LONG);
    add_scales(&maker, UNUM_DECIMAL_COMPACT_SHORT);
    add_dates(&maker);
    add_units(&maker);
    if (maker.status) {
        destroy_language(language);
        return mt_fail_memory(err, 0, "the number words of a language");
    }
    sort_entries(language);
    *out = language;
    return MT_OK;
}

/* ---- all languages ---- */

enum mt_status mt_number_words_create(struct mt_number_words **out, struct mt_error *err)
{
    struct mt_number_words *words = calloc(1, sizeof *words);
    if (!words)
        return mt_fail_memory(err, sizeof *words, "the words of numbers");
    pthread_mutex_init(&words->mutex, NULL);
    pthread_cond_init(&words->made, NULL);
    *out = words;
    return MT_OK;
}

void mt_number_words_destroy(struct mt_number_words *words)
{
    if (!words)
        return;
    for (size_t i = 0; i < words->n; i++)
        destroy_language(words->places[i].language);
    pthread_cond_destroy(&words->made);
    pthread_mutex_destroy(&words->mutex);
    free(words);
}

/* The caller of these holds the mutex. */

static struct place *find_place(struct mt_number_words *words, const char *code)
{
    for (size_t i = 0; i < words->n; i++)
        if (strcmp(words->places[i].code, code) == 0)
            return &words->places[i];
    return NULL;
}

/* Releases the mutex meanwhile, so that those who need another language do not wait for this
 * one. */
static enum mt_status make(struct mt_number_words *words, const char *code, struct mt_error *err)
{
    struct mt_number_language *language = NULL;
    struct place *place = &words->places[words->n++];
    place->language = NULL; /* still the language that was there before */
    strcpy(place->code, code);
    pthread_mutex_unlock(&words->mutex);
    enum mt_status status = make_language(code, &language, err);
    pthread_mutex_lock(&words->mutex);
    place = find_place(words, code); /* it may have moved when another was removed */
    if (status)
        *place = words->places[--words->n];
    else
        place->language = language;
    pthread_cond_broadcast(&words->made);
    return status;
}

static enum mt_status get(struct mt_number_words *words, const char *code,
                          const struct mt_number_language **out, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    const struct place *place;
    while ((place = find_place(words, code)) && !place->language)
        pthread_cond_wait(&words->made, &words->mutex);
    if (!place && words->n < MT_MAX_NUMBER_LANGUAGES) {
        status = make(words, code, err);
        place = find_place(words, code);
    }
    if (place)
        *out = place->language;
    return status;
}

enum mt_status mt_number_words_get(struct mt_number_words *words, const char *language,
                                   const struct mt_number_language **out, struct mt_error *err)
{
    char code[MT_LANGUAGE_BYTES];
    *out = &no_language;
    if (!language || !mt_language_normalise(language, code))
        return MT_OK;
    pthread_mutex_lock(&words->mutex);
    enum mt_status status = get(words, code, out, err);
    pthread_mutex_unlock(&words->mutex);
    return status;
}

/* ---- looking up ---- */

/* Whether the character's script puts blanks between words, so that words begin and end at
 * letters. */
static bool is_bare(uint32_t c)
{
    UErrorCode code = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript((UChar32)c, &code);
    return U_SUCCESS(code) && uscript_breaksBetweenLetters(script);
}

static size_t find(const struct mt_number_language *language, uint64_t hash, size_t n_bytes,
                   struct mt_number_word out[MT_MAX_NUMBER_WORDS])
{
    size_t low = 0, high = language->n, n = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (language->entries[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < language->n && language->entries[low].hash == hash && n < MT_MAX_NUMBER_WORDS;
         low++)
        out[n++] = (struct mt_number_word){.kind = language->entries[low].kind,
                                           .value = language->entries[low].value,
                                           .length = n_bytes};
    return n;
}

static size_t find_bare(const struct mt_number_language *language, const char *text, size_t length,
                        size_t at, struct mt_number_word out[MT_MAX_NUMBER_WORDS])
{
    uint64_t hash = FNV_OFFSET;
    size_t n_found = 0;
    struct mt_number_word found[MT_MAX_NUMBER_WORDS];
    for (size_t end = at, n_chars = 0; end < length && n_chars < MAX_BARE_CHARS; n_chars++) {
        hash = hash_char(hash, mt_utf8_decode(text + end));
        end += mt_char_length(text + end);
        size_t n = find(language, hash, end - at, found);
        if (n == 0)
            continue;
        n_found = n;
        memcpy(out, found, sizeof found);
    }
    return n_found;
}

/* Fewest characters of a number's word that may begin a longer one, such as a compound or an
 * inflected form: "zweimonatig", "Sechziger". */
#define MIN_PREFIX_CHARS 4

static size_t find_spaced(const struct mt_number_language *language, const char *text,
                          size_t length, size_t at, struct mt_number_word out[MT_MAX_NUMBER_WORDS])
{
    uint64_t hash = FNV_OFFSET;
    size_t n_found = 0, n_chars = 0, end = at;
    bool is_whole = false;
    struct mt_number_word found[MT_MAX_NUMBER_WORDS];
    for (size_t n_words = 0; n_words < MAX_WORDS && end < length; n_words++) {
        size_t begin = end;
        while (end < length && is_letter(mt_utf8_decode(text + end))) {
            hash = hash_char(hash, mt_utf8_decode(text + end));
            end += mt_char_length(text + end);
            n_chars++;
            bool is_end = end == length || !is_letter(mt_utf8_decode(text + end));
            size_t n = is_end || (!is_whole && n_chars >= MIN_PREFIX_CHARS)
                           ? find(language, hash, end - at, found)
                           : 0;
            if (n == 0)
                continue;
            n_found = n;
            is_whole = is_whole || is_end;
            memcpy(out, found, sizeof found);
        }
        if (end == begin)
            break;
        size_t joint = end;
        while (end < length && end - joint < 8 && is_joint(mt_utf8_decode(text + end)))
            end += mt_char_length(text + end);
        if (end == joint)
            break;
    }
    return n_found;
}

/* ---- Roman numerals ---- */

static uint32_t roman_digit(char c)
{
    switch (c) {
    case 'I':
        return 1;
    case 'V':
        return 5;
    case 'X':
        return 10;
    case 'L':
        return 50;
    case 'C':
        return 100;
    case 'D':
        return 500;
    case 'M':
        return 1000;
    default:
        return 0;
    }
}

/* Finds a Roman numeral, which may have an ending of at most three small letters: "XXe", "XIXème",
 * of which è has two bytes. */
static size_t find_roman(const char *text, size_t length, size_t at,
                         struct mt_number_word out[MT_MAX_NUMBER_WORDS])
{
    enum { MAX_ENDING_BYTES = 4, MAX_LETTERS = 15 };
    uint32_t value = 0;
    size_t end = at;
    for (; end < length && end - at < MAX_LETTERS && roman_digit(text[end]); end++) {
        uint32_t digit = roman_digit(text[end]);
        uint32_t next = end + 1 < length ? roman_digit(text[end + 1]) : 0;
        value = digit < next ? value - digit : value + digit;
    }
    size_t letters = end;
    while (end < length && end - letters < MAX_ENDING_BYTES &&
           u_islower((UChar32)mt_utf8_decode(text + end)))
        end += mt_char_length(text + end);
    bool is_whole = end == length || !is_letter(mt_utf8_decode(text + end));
    if (letters == at || !is_whole || value > MAX_ROMAN)
        return 0;
    out[0] = (struct mt_number_word){.kind = MT_NUMBER_VALUE, .value = value, .length = end - at};
    return 1;
}

size_t mt_number_words_at(const struct mt_number_language *language, const char *text,
                          size_t length, size_t at, struct mt_number_word out[MT_MAX_NUMBER_WORDS])
{
    if (at >= length)
        return 0;
    uint32_t c = mt_utf8_decode(text + at);
    if (is_bare(c))
        return find_bare(language, text, length, at, out);
    size_t n = find_spaced(language, text, length, at, out);
    return n > 0 ? n : find_roman(text, length, at, out);
}
