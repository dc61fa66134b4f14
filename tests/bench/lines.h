/*
 * The lines of a file, tokenized: what agreement and pieces begin with.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_TESTS_BENCH_LINES_H
#define MT_TESTS_BENCH_LINES_H

#include "base/status.h"

#include <stdint.h>

struct mt_tokenizer;

struct bench_line {
    int32_t *source; /* ends in eos */
    size_t n_source;
    int32_t *target; /* NULL: the reader's to fill, malloc'd */
    size_t n_target;
};

struct bench_lines {
    struct bench_line *lines;
    size_t n;
};

/* Reads the file, at most 64 MiB and 100,000 lines of UTF-8. *out is the caller's:
 * bench_lines_finish it. */
MT_MUST_CHECK enum mt_status bench_lines_read(const char *path,
                                              const struct mt_tokenizer *tokenizer,
                                              struct bench_lines *out, struct mt_error *err);
void bench_lines_finish(struct bench_lines *lines);

#endif
