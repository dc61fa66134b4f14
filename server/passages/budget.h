/*
 * A budget: how much of something all requests together may hold.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_PASSAGES_BUDGET_H
#define MT_SERVER_PASSAGES_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mt_budget {
    _Atomic uint64_t limit; /* may change at any time */
    _Atomic uint64_t used;
};

/* Returns false, and takes nothing, where less than amount is left. */
bool mt_budget_take(struct mt_budget *budget, uint64_t amount);
void mt_budget_give_back(struct mt_budget *budget, uint64_t amount);

#endif
