#include "tests/kernels/guarded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *guarded_take(struct guarded *g, size_t count, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = count * size;
    size_t body = (bytes + page - 1) / page * page;
    unsigned char *base =
        mmap(NULL, body + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->n == sizeof g->maps / sizeof *g->maps || base == MAP_FAILED ||
        mprotect(base + body, page, PROT_NONE) != 0) {
        perror("guarded_take");
        exit(2);
    }
    g->maps[g->n++] = (struct guarded_map){.base = base, .bytes = body + page};
    memset(base, 0xA5, body);
    return base + body - bytes;
}

void guarded_free(struct guarded *g)
{
    for (size_t i = 0; i < g->n; i++)
        munmap(g->maps[i].base, g->maps[i].bytes);
    g->n = 0;
}

/* splitmix64: Steele, Lea and Flood 2014. */
uint64_t dice_bits(struct dice *d)
{
    uint64_t z = d->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

size_t dice_below(struct dice *d, size_t n)
{
    return (size_t)(dice_bits(d) % n);
}

float dice_float(struct dice *d)
{
    return (float)(int32_t)(dice_bits(d) >> 32) * 0x1p-31f;
}

static float number(struct dice *d, enum numbers kind)
{
    switch (kind) {
    case NUMBERS_WIDE:
        return ldexpf(dice_float(d), (int)dice_below(d, 81) - 40);
    case NUMBERS_ZERO:
        return dice_below(d, 2) ? 0.0f : -0.0f;
    case NUMBERS_TINY:
        return dice_float(d) * 1e-39f;
    case NUMBERS_INFINITE:
        return dice_below(d, 16) ? dice_float(d) : dice_below(d, 2) ? INFINITY : -INFINITY;
    case NUMBERS_NAN:
        return dice_below(d, 16) ? dice_float(d) : NAN;
    default:
        return dice_float(d);
    }
}

void dice_floats(struct dice *d, enum numbers kind, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = kind == NUMBERS_EQUAL && i ? x[0] : number(d, kind);
}
