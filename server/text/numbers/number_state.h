/*
 * The inside of numbers.h, shared by number_reading.c (which finds the numbers of a text and how
 * they can be read) and numbers.c (which compares those of two texts).
 */
#ifndef MT_SERVER_TEXT_NUMBERS_NUMBER_STATE_H
#define MT_SERVER_TEXT_NUMBERS_NUMBER_STATE_H

#include "server/text/numbers/numbers.h"

/* Most values that one number may have: as a whole number, grouped, with a fraction, as its groups,
 * times a power of ten. */
#define MT_MAX_READINGS 8
/* In the place of an exponent: the value is several groups together. */
#define MT_NUMBER_GROUPS INT32_MIN

/* The significant digits and a power of ten, which 1,250.50 and 1250.5 have in common. */
struct mt_number_value {
    uint64_t digits; /* a hash of them */
    int32_t exponent;
};

struct mt_number_group {
    struct mt_range at;
    size_t number; /* index of the number that it is part of */
    size_t n_digits;
    uint32_t separator; /* the one before it; 0: it is the first group */
    struct mt_number_value value;
    int64_t exact; /* -1: too large */
    bool is_matched;
};

struct mt_number {
    struct mt_range at;
    size_t first, n; /* its groups */
    struct mt_number_value readings[MT_MAX_READINGS];
    size_t n_readings;
    size_t n_plain;  /* how many of these do not include the word behind it: 3 for "3 million" */
    bool is_scaled;  /* there is such a word */
    bool is_matched; /* the whole number is matched */
};

struct mt_number_side {
    const struct mt_numbers_text *text;
    struct mt_number *numbers;
    size_t n, capacity;
    struct mt_number_group *groups;
    size_t n_groups, group_capacity;
    bool has_words;               /* said and n_said are filled in */
    struct mt_number_value *said; /* the values that its words have */
    size_t n_said, said_capacity;
    bool has_afternoon;
};

/* Reads significant digits one by one. Zeros count only once another digit follows. */
struct mt_digit_reader {
    uint64_t hash;
    int32_t n_zeros;
    bool has_any;
};

struct mt_digit_reader mt_digit_reader(void);
/* Reads the digits of a range and skips everything else. */
void mt_digits_read(struct mt_digit_reader *reader, const struct mt_numbers_text *text,
                    struct mt_range range);
struct mt_number_value mt_digits_value(const struct mt_digit_reader *reader, int32_t exponent);
struct mt_number_value mt_number_value_of_integer(uint64_t integer);
bool mt_number_is_same(struct mt_number_value a, struct mt_number_value b);

const struct mt_number_group *mt_number_group(const struct mt_number_side *side,
                                              const struct mt_number *number, size_t i);
bool mt_number_is_zero(const struct mt_number_group *group);
bool mt_number_is_apostrophe(uint32_t c);
bool mt_number_is_decimal(uint32_t separator);
/* Whether the first n groups are one whole number: 1,250,000 or, in India, 12,50,000. */
bool mt_number_is_grouped(const struct mt_number_side *side, const struct mt_number *number,
                          size_t n);
/* Whether commas separate more than two groups: 2,1,3 is neither a version 2.1.3 nor a date. */
bool mt_number_is_list(const struct mt_number_side *side, const struct mt_number *number);

/* Returns the position behind the blanks and the hyphen that may follow a number. */
size_t mt_number_skip_joints(const struct mt_numbers_text *text, size_t at);
/* Returns the length of the word of that kind that begins at a position; 0: there is none. */
size_t mt_number_word_at(const struct mt_numbers_text *text, size_t at,
                         enum mt_number_word_kind kind, uint32_t *value);

void mt_number_side_finish(struct mt_number_side *side);

/* Fills in the numbers. Stops after one more than MT_MAX_NUMBERS. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_numbers_find(struct mt_number_side *side, struct mt_error *err);
/* Fills in the values of words, unless that has been done. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_numbers_read_words(struct mt_number_side *side,
                                                   struct mt_error *err);

#endif
