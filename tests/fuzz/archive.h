/*
 * Zip archives for fuzzers: written of parts, and mutated inside. A mutation of the archive's bytes
 * alone hardly ever changes the length of what is in it: five fields say it again.
 *
 * Checksums are 0: the reader leaves them out where it is built for a fuzzer.
 */
#ifndef MT_TESTS_FUZZ_ARCHIVE_H
#define MT_TESTS_FUZZ_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

struct archive_part {
    const char *name;
    const uint8_t *bytes;
    size_t length, unpacked_length;
    unsigned method;
};

/* How many bytes archive_write writes. */
size_t archive_length(const struct archive_part *parts, size_t n);
void archive_write(const struct archive_part *parts, size_t n, uint8_t *out);

/* A custom mutator (LLVMFuzzerCustomMutator): changes what is in an entry, be it an archive itself,
 * or its name, and writes the archive anew around it; every other time, and where the input is no
 * archive, its bytes. */
size_t archive_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#endif
