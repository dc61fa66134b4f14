/*
 * The words of a language that stand for numbers: "zwei", "twenty-one", "third", "May" (the month
 * 5), "million" (a factor of ten to the power of 6), "pm", "miles". All of them come from ICU: its
 * spelled-out numbers in every gender and case (cardinals to 999, ordinals to 100), its names of
 * months, its short and long forms of large numbers, its names of the halves of a day and of units.
 * Roman numerals are words of every language.
 *
 * Making the words of a language takes 5 to 50 ms and 100 KB. It is done once, by the first who
 * asks for the language; others who ask meanwhile wait. Loading a model makes the words of its
 * languages (warm_up.h of models/), so that the first request does not have to.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_NUMBERS_NUMBER_WORDS_H
#define MT_SERVER_TEXT_NUMBERS_NUMBER_WORDS_H

#include "base/status.h"

#include <stdint.h>

struct mt_number_words;    /* the words of all languages that were asked for */
struct mt_number_language; /* immutable */

/* Most languages whose words are made; further ones have none. */
#define MT_MAX_NUMBER_LANGUAGES 64

MT_MUST_CHECK enum mt_status mt_number_words_create(struct mt_number_words **out,
                                                    struct mt_error *err);
/* NULL is allowed. */
void mt_number_words_destroy(struct mt_number_words *words);

/* language: BCP 47; NULL, or one that ICU does not know, has only Roman numerals. *out is borrowed
 * from words. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_number_words_get(struct mt_number_words *words,
                                                 const char *language,
                                                 const struct mt_number_language **out,
                                                 struct mt_error *err);

enum mt_number_word_kind {
    MT_NUMBER_VALUE,     /* the value itself; a month's is 1 to 12 */
    MT_NUMBER_SCALE,     /* 10 to the power of the value */
    MT_NUMBER_AFTERNOON, /* the hour beside it is in the second half of the day */
    MT_NUMBER_MORNING,   /* in the first half */
    MT_NUMBER_NIGHT,     /* in either half */
    MT_NUMBER_UNIT,      /* a unit of measurement; the value is its number */
};

/* Units that translators convert. A quantity is (value - zero) * factor in the base unit of its
 * dimension: metres, kilograms, litres or degrees Celsius. */
enum mt_dimension { MT_LENGTH, MT_MASS, MT_VOLUME, MT_TEMPERATURE };
struct mt_number_unit {
    const char *name; /* CLDR's name */
    enum mt_dimension dimension;
    double factor, zero;
};
struct mt_number_unit mt_number_unit(uint32_t value);

struct mt_number_word {
    enum mt_number_word_kind kind;
    uint32_t value;
    size_t length; /* bytes */
};

/* Most meanings of the words at one position: "second" is 2, "sept" is 7 and the month 9. */
#define MT_MAX_NUMBER_WORDS 8

/* Returns how many meanings the longest word has that text[at, length), well-formed UTF-8, begins
 * with; 0: there is no such word. `at` is the beginning of a word, or any position in scripts
 * without blanks between words. */
size_t mt_number_words_at(const struct mt_number_language *language, const char *text,
                          size_t length, size_t at, struct mt_number_word out[MT_MAX_NUMBER_WORDS]);

#endif
