#include "server/passages/budget.h"

bool mt_budget_take(struct mt_budget *budget, uint64_t amount)
{
    uint64_t used = atomic_load(&budget->used);
    uint64_t limit = atomic_load(&budget->limit);
    do {
        if (amount > limit || used > limit - amount)
            return false;
    } while (!atomic_compare_exchange_weak(&budget->used, &used, used + amount));
    return true;
}

void mt_budget_give_back(struct mt_budget *budget, uint64_t amount)
{
    atomic_fetch_sub(&budget->used, amount);
}
