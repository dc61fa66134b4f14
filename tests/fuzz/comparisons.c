/*
 * libFuzzer notes what is compared, and puts it into inputs. Noting every comparison takes a third
 * of the time, and its notes hold only the last few: here the linker (--wrap) lets through a
 * sample.
 */
#include <stdbool.h>
#include <stdint.h>

void __real___sanitizer_cov_trace_cmp1(uint8_t a, uint8_t b);
void __wrap___sanitizer_cov_trace_cmp1(uint8_t a, uint8_t b);
void __real___sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b);
void __wrap___sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b);
void __real___sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b);
void __wrap___sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b);
void __real___sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b);
void __wrap___sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b);
void __real___sanitizer_cov_trace_const_cmp1(uint8_t a, uint8_t b);
void __wrap___sanitizer_cov_trace_const_cmp1(uint8_t a, uint8_t b);
void __real___sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b);
void __wrap___sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b);
void __real___sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b);
void __wrap___sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b);
void __real___sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b);
void __wrap___sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b);

/* A thousand in a row, as in an input one leads to the next; of eight thousand. */
static bool is_noted(void)
{
    static unsigned n;
    return (n++ >> 10) % 8 == 0;
}

/* The last call of each takes the place of its own: libFuzzer looks at where it returns to. */

void __wrap___sanitizer_cov_trace_cmp1(uint8_t a, uint8_t b)
{
    if (is_noted())
        __real___sanitizer_cov_trace_cmp1(a, b);
}

void __wrap___sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b)
{
    if (is_noted())
        __real___sanitizer_cov_trace_cmp2(a, b);
}

void __wrap___sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b)
{
    if (is_noted())
        __real___sanitizer_cov_trace_cmp4(a, b);
}

void __wrap___sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b)
{
    if (is_noted())
        __real___sanitizer_cov_trace_cmp8(a, b);
}

void __wrap___sanitizer_cov_trace_const_cmp1(uint8_t a, uint8_t b)
{
    if (is_noted())
        __real___sanitizer_cov_trace_const_cmp1(a, b);
}

void __wrap___sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b)
{
    if (is_noted())
        __real___sanitizer_cov_trace_const_cmp2(a, b);
}

void __wrap___sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b)
{
    if (is_noted())
        __real___sanitizer_cov_trace_const_cmp4(a, b);
}

void __wrap___sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b)
{
    if (is_noted())
        __real___sanitizer_cov_trace_const_cmp8(a, b);
}
