#include "server/bell.h"

enum { LISTENING, RUNG, RESTING, SILENCED };

void mt_bell_init(struct mt_bell *bell, void (*wake)(void *context), void *context)
{
    atomic_init(&bell->state, RUNG);
    bell->wake = wake;
    bell->context = context;
}

void mt_bell_ring(struct mt_bell *bell)
{
    int state = atomic_load(&bell->state);
    /* Also where it has rung already: the exchange is what makes our news visible. */
    while (state != SILENCED && !atomic_compare_exchange_weak(&bell->state, &state, RUNG))
        ;
    if (state == RESTING)
        bell->wake(bell->context);
}

void mt_bell_hear(struct mt_bell *bell)
{
    atomic_exchange(&bell->state, LISTENING);
}

bool mt_bell_rest(struct mt_bell *bell)
{
    int listening = LISTENING;
    return atomic_compare_exchange_strong(&bell->state, &listening, RESTING);
}

void mt_bell_silence(struct mt_bell *bell)
{
    atomic_store(&bell->state, SILENCED);
}
