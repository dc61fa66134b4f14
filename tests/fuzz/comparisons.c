/*
 * libFuzzer notes what is compared, and puts it into inputs. Noting every comparison takes a third
 * of the time, and its notes hold only the last few: here the linker (--wrap) lets through a
 * sample.
 */
#include <stdbool.h>
#include <stdint.h>

/* A thousand in a row, as in an input one leads to the next; of eight thousand. */
static bool is_noted(void)
{
    static unsigned n;
    return (n++ >> 10) % 8 == 0;
}

/* The last call takes the place of its caller's: libFuzzer looks at where it returns to. */
#define SAMPLE(name, type)              \
    void __real_##name(type a, type b); \
    void __wrap_##name(type a, type b); \
    void __wrap_##name(type a, type b)  \
    {                                   \
        if (is_noted())                 \
            __real_##name(a, b);        \
    }

SAMPLE(__sanitizer_cov_trace_cmp1, uint8_t)
SAMPLE(__sanitizer_cov_trace_cmp2, uint16_t)
SAMPLE(__sanitizer_cov_trace_cmp4, uint32_t)
SAMPLE(__sanitizer_cov_trace_cmp8, uint64_t)
SAMPLE(__sanitizer_cov_trace_const_cmp1, uint8_t)
SAMPLE(__sanitizer_cov_trace_const_cmp2, uint16_t)
SAMPLE(__sanitizer_cov_trace_const_cmp4, uint32_t)
SAMPLE(__sanitizer_cov_trace_const_cmp8, uint64_t)
