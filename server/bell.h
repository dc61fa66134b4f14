/*
 * A bell between threads that have news and the one that waits for them on a suspended connection.
 * It never blocks anybody, and of many rings the waiting thread is woken by one.
 *
 *                  ring                       rest (nothing rang)
 *        RUNG  <---------  LISTENING  --------------------------------->  RESTING
 *         |    --------->                                                    |
 *         |      hear                                                        |
 *         '------<--------------------------- ring: wake --------------------'
 *
 * The waiting thread hears, then looks whether there is news, and rests only where there is none.
 * What a thread wrote before it rang is seen after the hear that follows.
 *
 * Thread-safety: ring may be called by any thread; the others belong to the one that waits.
 */
#ifndef MT_SERVER_BELL_H
#define MT_SERVER_BELL_H

#include <stdatomic.h>
#include <stdbool.h>

struct mt_bell {
    atomic_int state;
    void (*wake)(void *context); /* ends a rest; called by the thread that rings */
    void *context;
};

void mt_bell_init(struct mt_bell *bell, void (*wake)(void *context), void *context);

/* There is news. Calls wake if, and only if, this ends a rest. */
void mt_bell_ring(struct mt_bell *bell);

/* Forgets rings until now: news that they announced is about to be looked at. Not while resting. */
void mt_bell_hear(struct mt_bell *bell);

/* Rests until the next ring's wake. False: it has rung since hear, and there is no rest. To be
 * called when everything is ready for wake, which may happen before this returns. */
bool mt_bell_rest(struct mt_bell *bell);

/* Nobody waits any more, and wake is never called again. Not while resting. */
void mt_bell_silence(struct mt_bell *bell);

#endif
