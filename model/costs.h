/*
 * What a thread of this machine does in what time with a model's weights, measured when the model is
 * opened, in a few milliseconds: by this a team decides how it shares a pass (cut.h). What is decoded
 * is the same whatever they are.
 *
 * Thread-safety: safe.
 */
#ifndef MT_MODEL_COSTS_H
#define MT_MODEL_COSTS_H

#include "base/status.h"

struct mt_kernels;
struct mt_linear;

struct mt_costs {
    double read_ns;     /* to read a weight from where as many as a step reads lie */
    double multiply_ns; /* one row by a weight that is in a near cache */
};

/* output: the largest matrix of a step, which stands for all of them. What kernels have no means to
 * measure is what it was on a server of 2024. Fails for lack of memory alone. */
enum mt_status mt_costs_measure(const struct mt_kernels *kernels, const struct mt_linear *output,
                                struct mt_costs *costs, struct mt_error *err);

#endif
