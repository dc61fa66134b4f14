/*
 * Replaces a wrong number of a translation by the source's, in the target language's notation,
 * where the alignment shows its place:
 *
 *   There are 365 days.  ->  Es gibt 35 Tage.  ->  Es gibt 365 Tage.
 *
 * This is done only where it is certain: the number that is replaced has no counterpart in the
 * source, it came from the missing number more than from anything else, and afterwards the sentence
 * has that number and no fewer of the others. A number is never inserted where there was none.
 *
 * With the bundled model (int8, greedy), of the 200 sentences of tests/bench/quality/numbers.en-de
 * 27 keep every number without it and 106 with it; of NTREX-128's sentences with numbers it is 13
 * and 31 %. BLEU of both and of the development set grows.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PASSAGES_NUMBER_REPAIR_H
#define MT_SERVER_PASSAGES_NUMBER_REPAIR_H

#include "base/text.h"
#include "server/inspection/word_links.h"
#include "server/text/proofread.h"

/* Most repairs of one sentence; where more numbers are missing, nothing is repaired. */
#define MT_MAX_REPAIRS 16

struct mt_number_repair_input {
    const struct mt_proofreader *reader;
    const char *source, *target; /* well-formed UTF-8 */
    size_t target_length;
    const struct mt_range *source_sentences, *target_sentences; /* bytes of each, ascending */
    size_t n_sentences;
    const struct mt_range *ignored; /* ranges of the source whose numbers do not count */
    size_t n_ignored;
    const struct mt_word_links *links; /* between source and target */
};

/* A number that was put in: its sentence, and its bytes in the repaired text. */
struct mt_number_repair {
    size_t sentence;
    struct mt_range at;
};

/* Has to be zero-initialised. */
struct mt_number_repairs {
    struct mt_number_repair *items;
    size_t n, capacity;
};
void mt_number_repairs_finish(struct mt_number_repairs *repairs);

/* Replaces what *out held by the numbers and times of day that only one of the two has. MT_MEMORY.
 */
MT_MUST_CHECK enum mt_status mt_number_repair_compare(const struct mt_proofreader *reader,
                                                      const struct mt_proofread_pair *pair,
                                                      struct mt_numbers_difference *out,
                                                      struct mt_error *err);

/* Appends the repaired target to out, which is empty. map, an array of target_length + 1, gets the
 * new position of every byte of the target; a byte that is left out gets that of its successor.
 * MT_MEMORY. The caller finishes *repairs after a failure, too. */
MT_MUST_CHECK enum mt_status mt_number_repair(const struct mt_number_repair_input *input,
                                              size_t *map, struct mt_text *out,
                                              struct mt_number_repairs *repairs,
                                              struct mt_error *err);

#endif
