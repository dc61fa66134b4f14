#include "server/text/proofread.h"

#include "base/text.h"
#include "server/text/detect.h"
#include "server/text/numbers/number_times.h"
#include "server/text/post_edit.h"

#include <string.h>

#include <unicode/uchar.h>
#include <unicode/uscript.h>

/* Fewest words in small letters of a sentence that must not be the same in both languages. Of
 * 133,716 English-German pairs of sentences and interface strings, 138 with two such words are the
 * same, most of them formats and commands; with one such word, 612 more are. */
#define MIN_SMALL_WORDS 2
#define MIN_SMALL_LETTERS 2
/* Fewest words from which on a certain answer of the detector is accepted; for fewer words its
 * confidence has to be this high (in percent). Of 60,000 English sentences of Tatoeba, 39 are said
 * to be in another language without this rule, and 8 with it; of 1,063 German sentences, 1,001 and
 * 970 are. */
#define MIN_WORDS 5
#define MIN_CONFIDENCE 90
/* Least number of letters of a script that the target language does not have. */
#define MIN_FOREIGN_LETTERS 2

enum mt_status mt_proofreader_init(struct mt_proofreader *reader, struct mt_number_words *words,
                                   const char *source_lang, const char *target_lang,
                                   struct mt_error *err)
{
    *reader = (struct mt_proofreader){.source_lang = ""};
    if (source_lang)
        (void)mt_language_normalise(source_lang, reader->source_lang);
    if (target_lang)
        (void)mt_language_normalise(target_lang, reader->target_lang);
    enum mt_status status =
        mt_number_words_get(words, reader->source_lang, &reader->source_words, err);
    if (!status && reader->target_lang[0] != '\0')
        status = mt_scripts_of_language(reader->target_lang, &reader->target_scripts, err);
    if (!status)
        status = mt_number_words_get(words, reader->target_lang, &reader->target_words, err);
    return status;
}

enum mt_status mt_proofread_numbers(const struct mt_proofreader *reader,
                                    const struct mt_proofread_pair *pair,
                                    struct mt_numbers_difference *out, struct mt_error *err)
{
    const struct mt_numbers_text source = {
        .bytes = pair->source, .length = pair->n_source, .language = reader->source_words};
    const struct mt_numbers_text target = {
        .bytes = pair->target, .length = pair->n_target, .language = reader->target_words};
    out->missing.n = out->added.n = 0;
    /* A model may end a sentence inside a character that it spells in bytes. */
    if (mt_utf8_valid_prefix(pair->target, pair->n_target) < pair->n_target)
        return MT_OK;
    if (!mt_has_digits(pair->source, pair->n_source) &&
        !mt_has_digits(pair->target, pair->n_target))
        return MT_OK; /* numbers in words only count where the other side has digits */
    return mt_numbers_compare(&source, &target, pair->ignored, pair->n_ignored, out, err);
}

enum mt_status mt_proofread_times(const struct mt_proofreader *reader,
                                  const struct mt_proofread_pair *pair,
                                  struct mt_numbers_difference *difference, struct mt_error *err)
{
    const struct mt_numbers_text source = {
        .bytes = pair->source, .length = pair->n_source, .language = reader->source_words};
    const struct mt_numbers_text target = {
        .bytes = pair->target, .length = pair->n_target, .language = reader->target_words};
    bool has_times = mt_has_digits(pair->source, pair->n_source) &&
                     mt_utf8_valid_prefix(pair->target, pair->n_target) == pair->n_target;
    return has_times ? mt_number_times_compare(&source, &target, difference, err) : MT_OK;
}

/* ---- longer or shorter ---- */

/* Returns how many letters of an alphabet say as much as one of these. Those of Japanese are
 * measured (the median of news, Tatoeba and interface strings is 1.11 times as many as in English);
 * Hebrew and Arabic do not write vowels. */
static double weight_of(uint32_t c)
{
    UErrorCode code = U_ZERO_ERROR;
    switch (uscript_getScript((UChar32)c, &code)) {
    case USCRIPT_HAN:
        return 3;
    case USCRIPT_HANGUL:
        return 2.2;
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
        return 1.8;
    case USCRIPT_ARABIC:
    case USCRIPT_HEBREW:
        return 1.3;
    default:
        return 1;
    }
}

static double count_letters(const char *text, size_t length)
{
    double n = 0;
    for (size_t at = 0; at < length; at += mt_char_length(text + at)) {
        uint32_t c = mt_utf8_decode(text + at);
        if (u_isalnum((UChar32)c))
            n += weight_of(c);
    }
    return n;
}

/* 16 of 8,000 references of the sets above are outside of this range. Short texts vary more, so
 * both sides get some letters more. */
#define MAX_LETTER_RATIO 2.0
#define MIN_LETTER_RATIO 0.65
#define MORE_LETTERS 10

bool mt_proofread_has_other_length(const struct mt_proofread_pair *pair)
{
    size_t n_target = mt_utf8_valid_prefix(pair->target, pair->n_target);
    double source = count_letters(pair->source, pair->n_source) + MORE_LETTERS,
           target = count_letters(pair->target, n_target) + MORE_LETTERS;
    return target > MAX_LETTER_RATIO * source || target < MIN_LETTER_RATIO * source;
}

/* ---- left as it was ---- */

static bool is_equal(const struct mt_proofread_pair *pair)
{
    struct mt_range source = mt_range_trim(pair->source, 0, pair->n_source);
    struct mt_range target = mt_range_trim(pair->target, 0, pair->n_target);
    size_t n = source.end - source.begin;
    return n > 0 && n == target.end - target.begin &&
           memcmp(pair->source + source.begin, pair->target + target.begin, n) == 0;
}

static bool is_script_of(uint32_t c, const struct mt_language_scripts *scripts)
{
    for (size_t i = 0; i < scripts->n; i++)
        if (uscript_hasScript((UChar32)c, scripts->items[i]))
            return true;
    return scripts->n == 0;
}

static size_t count_foreign_letters(const struct mt_proofread_pair *pair,
                                    const struct mt_language_scripts *scripts)
{
    size_t n = 0;
    for (size_t at = 0; at < pair->n_source; at += mt_char_length(pair->source + at)) {
        uint32_t c = mt_utf8_decode(pair->source + at);
        n += u_isalpha((UChar32)c) && !is_script_of(c, scripts);
    }
    return n;
}

static size_t count_small_words(const char *text, size_t length)
{
    size_t n = 0, n_letters = 0;
    bool is_small = true;
    for (size_t at = 0; at <= length;) {
        uint32_t c = at < length ? mt_utf8_decode(text + at) : ' ';
        if (u_isalpha((UChar32)c)) {
            is_small = n_letters == 0 ? u_islower((UChar32)c) : is_small;
            n_letters++;
        } else {
            n += is_small && n_letters >= MIN_SMALL_LETTERS;
            n_letters = 0;
        }
        at += at < length ? mt_char_length(text + at) : 1;
    }
    return n;
}

/* Whether the source has a letter of a script without small letters and mostly without blanks
 * between words. */
static bool has_bare_letters(const struct mt_proofread_pair *pair)
{
    bool has_bare = false;
    for (size_t at = 0; at < pair->n_source && !has_bare; at += mt_char_length(pair->source + at))
        has_bare = u_charType((UChar32)mt_utf8_decode(pair->source + at)) == U_OTHER_LETTER;
    return has_bare;
}

/* Whether the words are more than names: "Ludwig van Beethoven" is not Dutch. */
static bool is_sentence(const struct mt_proofread_pair *pair)
{
    return has_bare_letters(pair) ||
           count_small_words(pair->source, pair->n_source) >= MIN_SMALL_WORDS;
}

/* Whether the words are so few that one of another language counts for much, as in "Tom loves
 * spaghetti.". */
static bool has_few_words(const struct mt_proofread_pair *pair)
{
    size_t n = 0;
    bool is_blank = true;
    for (size_t at = 0; at < pair->n_source; at += mt_char_length(pair->source + at)) {
        bool was_blank = is_blank;
        is_blank = u_isUWhiteSpace((UChar32)mt_utf8_decode(pair->source + at));
        n += was_blank && !is_blank;
    }
    return n < MIN_WORDS && !has_bare_letters(pair);
}

static bool is_untranslated(const struct mt_proofreader *reader,
                            const struct mt_proofread_pair *pair)
{
    if (mt_has_lost_words(pair->source, pair->n_source, pair->target, pair->n_target))
        return true;
    if (!is_equal(pair))
        return false;
    return count_foreign_letters(pair, &reader->target_scripts) >= MIN_FOREIGN_LETTERS ||
           count_small_words(pair->source, pair->n_source) >= MIN_SMALL_WORDS;
}

enum mt_status mt_proofread_language(const struct mt_proofreader *reader,
                                     const struct mt_proofread_pair *pair, unsigned *warnings,
                                     struct mt_error *err)
{
    struct mt_detect_languages languages = {.codes = {reader->source_lang}, .n = 1};
    struct mt_detection detection;
    enum mt_status status = MT_OK;
    *warnings = is_untranslated(reader, pair) ? 1u << MT_WARNING_UNTRANSLATED : 0;
    if (reader->source_lang[0] == '\0' || pair->n_source < MT_DETECT_LONG_BYTES ||
        !is_sentence(pair))
        return MT_OK;
    status = mt_detect(pair->source, pair->n_source, false, &languages, &detection, err);
    if (!status && !detection.is_served && detection.is_certain &&
        (detection.confidence >= MIN_CONFIDENCE || !has_few_words(pair)))
        *warnings |= 1u << MT_WARNING_SOURCE_LANGUAGE;
    return status;
}

enum mt_status mt_proofread_is_target(const struct mt_proofreader *reader, const char *text,
                                      size_t length, bool *out, struct mt_error *err)
{
    const struct mt_proofread_pair pair = {.source = text, .n_source = length};
    struct mt_detect_languages languages = {.codes = {reader->source_lang, reader->target_lang},
                                            .n = 2};
    struct mt_detection detection;
    *out = false;
    if (reader->source_lang[0] == '\0' || reader->target_lang[0] == '\0' ||
        length < MT_DETECT_LONG_BYTES || !is_sentence(&pair))
        return MT_OK;
    enum mt_status status = mt_detect(text, length, false, &languages, &detection, err);
    if (!status)
        *out = detection.is_certain && detection.confidence >= MIN_CONFIDENCE &&
               mt_language_matches(detection.language, reader->target_lang) &&
               !mt_language_matches(detection.language, reader->source_lang);
    return status;
}
