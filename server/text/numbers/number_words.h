/*
 * The words of a language that stand for numbers: "zwei", "twenty-one", "third", "May" (the month
 * 5), "million" (a factor of ten to the power of 6), "pm", "miles". All of them are ICU's: its
 * spelled-out numbers in every gender and case (cardinals to 999, ordinals to 100), its names of
 * months, its short and long forms of large numbers, its names of the halves of a day and of units.
 * Roman numerals are words of every language.
 *
 * A language takes ICU 5 to 50 ms and 100 KB, once: its first user makes it, and all others share
 * it, but who needs it meanwhile waits. Loading a model makes its languages' (warm_up.h of models/),
 * so that the first request does not.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_NUMBERS_NUMBER_WORDS_H
#define MT_SERVER_TEXT_NUMBERS_NUMBER_WORDS_H

#include "base/status.h"

#include <stdint.h>

struct mt_number_words;    /* of all languages that were asked for */
struct mt_number_language; /* immutable */

/* Languages that are kept; others beyond them have no words. */
#define MT_MAX_NUMBER_LANGUAGES 64

MT_MUST_CHECK enum mt_status mt_number_words_create(struct mt_number_words **out,
                                                    struct mt_error *err);
/* Takes NULL. */
void mt_number_words_destroy(struct mt_number_words *words);

/* language: BCP 47; NULL, or one that ICU does not know: Roman numerals alone. *out is borrowed
 * from words. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_number_words_get(struct mt_number_words *words,
                                                 const char *language,
                                                 const struct mt_number_language **out,
                                                 struct mt_error *err);

enum mt_number_word_kind {
    MT_NUMBER_VALUE,     /* the value itself; a month's is 1 to 12 */
    MT_NUMBER_SCALE,     /* 10 to the power of the value */
    MT_NUMBER_AFTERNOON, /* the hour beside it is one of the day's second half */
    MT_NUMBER_MORNING,   /* or of its first */
    MT_NUMBER_NIGHT,     /* or of either */
    MT_NUMBER_UNIT,      /* of measurement: the value is its number */
};

/* Units that translators convert: a quantity in one is (value - zero) * factor in its dimension's
 * own, metres, kilograms, litres or degrees Celsius. */
enum mt_dimension { MT_LENGTH, MT_MASS, MT_VOLUME, MT_TEMPERATURE };
struct mt_number_unit {
    const char *name; /* CLDR's */
    enum mt_dimension dimension;
    double factor, zero;
};
struct mt_number_unit mt_number_unit(uint32_t value);

struct mt_number_word {
    enum mt_number_word_kind kind;
    uint32_t value;
    size_t length; /* bytes */
};

/* Most words that one place is looked up as: "second" is 2, "sept" is 7 and the month 9. */
#define MT_MAX_NUMBER_WORDS 8

/* What text[at, length), well-formed UTF-8, begins with; the longest, in all its meanings. 0: no
 * such word. at is where a word begins, or anywhere in scripts that put no blanks between words. */
size_t mt_number_words_at(const struct mt_number_language *language, const char *text,
                          size_t length, size_t at, struct mt_number_word out[MT_MAX_NUMBER_WORDS]);

#endif
