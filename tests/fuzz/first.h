/*
 * Of fuzzers that feed several readers the first byte of an input says which. With --first=x on the
 * command line, which libFuzzer leaves to its programs, it is x for all: one reader gets all runs.
 */
#ifndef MT_TESTS_FUZZ_FIRST_H
#define MT_TESTS_FUZZ_FIRST_H

#include <stdint.h>
#include <string.h>

static unsigned char the_first; /* 0: each input has its own */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char flag[] = "--first=";
    for (int i = 1; i < *argc; i++)
        if (strncmp((*argv)[i], flag, sizeof flag - 1) == 0)
            the_first = (unsigned char)(*argv)[i][sizeof flag - 1];
    return 0;
}

static unsigned char first_of(const uint8_t *data)
{
    return the_first ? the_first : data[0];
}

#endif
