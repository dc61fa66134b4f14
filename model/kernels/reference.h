/*
 * The tables behind mt_kernels_find, and what their files share.
 */
#ifndef MT_MODEL_KERNELS_REFERENCE_H
#define MT_MODEL_KERNELS_REFERENCE_H

#include "model/kernels/kernels.h"

#include <math.h>

extern const struct mt_kernels mt_kernels_reference;

/* On x86-64 only. */
extern const struct mt_kernels mt_kernels_sse41, mt_kernels_avx2, mt_kernels_avxvnni,
    mt_kernels_avx512vnni, mt_kernels_amx;

/* On 64-bit ARM only. */
extern const struct mt_kernels mt_kernels_neon, mt_kernels_dotprod, mt_kernels_i8mm;

/* Returns a table with OpenBLAS's linear layers and everything else from another table, for builds
 * with OpenBLAS. It is the same table each time. To be called by one thread. */
const struct mt_kernels *mt_kernels_openblas(const struct mt_kernels *others);
/* Ends OpenBLAS's own threads, because the teams divide the work. */
void mt_openblas_stay_alone(void);

/* Returns the part of a for a single query. */
struct mt_attend mt_attend_query(const struct mt_attend *a, size_t query);

/* Returns what a logit has to exceed to be among the best ones; last is the worst of these. */
static inline float mt_top_threshold(const struct mt_scored_token *last)
{
    return last->id < 0 ? -INFINITY : last->logit;
}

#endif
