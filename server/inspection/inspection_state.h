/*
 * The inside of an inspection, shared by inspection.c, which makes it, and inspection_tensors.c,
 * which reads its numbers.
 */
#ifndef MT_SERVER_INSPECTION_INSPECTION_STATE_H
#define MT_SERVER_INSPECTION_INSPECTION_STATE_H

#include "server/inspection/inspection.h"

struct mt_arena;

struct mt_inspection_memory {
    struct mt_arena *arena;
    double *sums; /* scratch of one row, for averaging */
    float *row;   /* a row that was computed */
    void *owner;
    void (*destroy_owner)(void *);
};

/* Checks the requested layers and heads of a kind. MT_INVALID. */
MT_MUST_CHECK enum mt_status mt_inspection_select(const struct mt_inspection_model *model,
                                                  enum mt_trace_kind kind,
                                                  const struct mt_index_list *layers,
                                                  const struct mt_index_list *heads,
                                                  struct mt_selection *out, struct mt_error *err);

/* Computes attention rollout, [T, S]: how much of each source token reaches each step, where every
 * layer passes on half of its input unchanged and half through the mean of its heads. work has
 * mt_rollout_work_size numbers. */
void mt_rollout_run(const struct mt_inspection_model *model, const struct mt_attention *attention,
                    size_t n_steps, size_t n_source, double *work, float *out);
size_t mt_rollout_work_size(size_t n_steps, size_t n_source);

#endif
