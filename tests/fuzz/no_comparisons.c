/*
 * For fuzzers whose input is not what the program compares (calls, places to patch): libFuzzer's
 * hooks before comparisons, which take half of the time there, do nothing. The linker puts these in
 * their place (--wrap).
 */
#include <stdint.h>

void __wrap___sanitizer_cov_trace_cmp1(uint8_t a, uint8_t b);
void __wrap___sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b);
void __wrap___sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b);
void __wrap___sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b);
void __wrap___sanitizer_cov_trace_const_cmp1(uint8_t a, uint8_t b);
void __wrap___sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b);
void __wrap___sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b);
void __wrap___sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b);

void __wrap___sanitizer_cov_trace_cmp1(uint8_t a, uint8_t b)
{
    (void)a, (void)b;
}

void __wrap___sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b)
{
    (void)a, (void)b;
}

void __wrap___sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b)
{
    (void)a, (void)b;
}

void __wrap___sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b)
{
    (void)a, (void)b;
}

void __wrap___sanitizer_cov_trace_const_cmp1(uint8_t a, uint8_t b)
{
    (void)a, (void)b;
}

void __wrap___sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b)
{
    (void)a, (void)b;
}

void __wrap___sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b)
{
    (void)a, (void)b;
}

void __wrap___sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b)
{
    (void)a, (void)b;
}
