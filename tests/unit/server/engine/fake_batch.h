/*
 * A batch that only pretends to decode, in the place of model/batch.c and model/sentence.c: what
 * the engine does with sentences can then be followed step by step, without a model.
 *
 * A sentence takes as many steps as it was made with and "generates" the ids n_source, n_source +
 * 1, ... The gate holds every batch before its next step, so that a test decides when time passes.
 * Misuse aborts: two threads in one batch, a sentence admitted twice or beyond the limits, a batch
 * destroyed or trimmed that is not empty.
 */
#ifndef MT_TESTS_FAKE_BATCH_H
#define MT_TESTS_FAKE_BATCH_H

#include "model/batch.h"
#include "model/sentence.h"

/* What a row that was ever in a batch keeps resident. */
#define FAKE_ROW_BYTES 4096

/* What mt_batch_rows_apart answers. */
#define FAKE_ROWS_APART 4

/* Destroy with mt_sentence_destroy. */
struct mt_sentence *fake_sentence(size_t n_source, size_t n_rows, size_t n_steps);

/* Whether it has been through a batch to its end, with all its ids. */
bool fake_is_decoded(const struct mt_sentence *sentence);
bool fake_was_admitted(const struct mt_sentence *sentence);
/* The model whose batch took it in; NULL before. */
const struct mt_model *fake_model_of(const struct mt_sentence *sentence);

/* How many steps it has had. */
size_t fake_n_steps(const struct mt_sentence *sentence);

/* How long a step takes from now on: fixed_ns, and row_ns for each row that it is for. */
void fake_take_time(int64_t fixed_ns, int64_t row_ns);

/* A closed gate lets n more steps through, of all batches together. Open at first. */
void fake_close_gate(void);
void fake_allow_steps(size_t n);
/* Lets every batch that stands before the closed gate do one step, and waits until each has begun
 * it. */
void fake_step_each(void);
void fake_open_gate(void);
/* Waits until n batches stand before the closed gate. */
void fake_wait_for_batches(size_t n);

/* Sentences in the order in which they were admitted to any batch. Returns how many there were
 * altogether. */
size_t fake_admitted(const struct mt_sentence **out, size_t capacity);

/* Threads that took part in the step that was begun last. */
size_t fake_last_width(void);

/* From now on the members of a batch's team take so long for each step, all but the caller; as if
 * another program had their processors. */
void fake_delay_members(int64_t ns);

/* Batches that were destroyed without being trimmed after their last step. */
size_t fake_left_touched(void);

/* Most sentences that any one batch ever took in. */
size_t fake_largest_share(void);

#endif
