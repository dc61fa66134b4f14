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

/* In builds with OpenBLAS: its linear layers, and everything else by another table. The same table
 * each time; for one thread. */
const struct mt_kernels *mt_kernels_openblas(const struct mt_kernels *others);
/* Ends OpenBLAS's own threads: the teams are ours. */
void mt_openblas_stay_alone(void);

/* The part of a that attends for one query alone. */
struct mt_attend mt_attend_query(const struct mt_attend *a, size_t query);

/* What a logit has to exceed to be among the best, of which last is the last. */
static inline float mt_top_threshold(const struct mt_scored_token *last)
{
    return last->id < 0 ? -INFINITY : last->logit;
}

/* Puts a token in its place among top[n_top], which is sorted by falling logit; the last one drops
 * out. The caller has checked that it belongs there; ids come in rising order. */
void mt_top_insert(struct mt_scored_token *top, size_t n_top, int32_t id, float logit);

#endif
