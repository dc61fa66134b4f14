/*
 * Turns at the HTTP thread for what keeps it long: a long text that has to be split and tokenized,
 * a long reply that has to be put together. One request has the desk at a time, and between two
 * turns all connections are looked at, so that who asks for little waits for one turn, and what is
 * done beside it, however many ask for much.
 *
 *   join -> (in line) -> call -> turn, turn, ... -> leave
 *
 * Others may work beside the desk while that takes no more than a share of the time.
 *
 * Thread-safety: one thread at a time; no locks, no allocations.
 */
#ifndef MT_SERVER_DESK_H
#define MT_SERVER_DESK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of their turns: what has ended holds memory until it leaves, and short ones keep
 * nobody waiting for long; but some of them let a long one go first. Within a line clients take
 * turns, so that many requests of one are no obstacle for another's first. */
enum mt_desk_line { MT_DESK_ENDINGS, MT_DESK_SHORT, MT_DESK_LONG, MT_N_DESK_LINES };

/* Of one request. {0}: neither in line nor at the desk. It must leave before it goes. */
struct mt_desk_place {
    struct mt_desk_place *previous, *next;
    enum mt_desk_line line;
    bool is_in_line;
    uint64_t client, round;
    int64_t deadline_ns; /* clock.h */
};

struct mt_desk {
    /* Whose turn it is, or (in line still) whose deadline has come. May be called within join and
     * leave; the work itself must not begin before those have returned. */
    void (*call)(struct mt_desk_place *place);

    /* Private. */
    struct {
        struct mt_desk_place *first, *last; /* by round */
        uint64_t round;                     /* of who was called last */
    } lines[MT_N_DESK_LINES];
    struct mt_desk_place *holder;
    unsigned n_short_in_a_row;
    int64_t beside_ns, seen_ns;
};

/* Gets in line; called at once if nobody has the desk. A place that is in line, or has the desk,
 * may not. client: client.h. deadline_ns: when waiting makes no sense any more; INT64_MAX: never.
 * Time: proportional to the line. */
void mt_desk_join(struct mt_desk *desk, struct mt_desk_place *place, enum mt_desk_line line,
                  uint64_t client, int64_t deadline_ns);

/* Leaves the line, or the desk, and then calls the next one and all whose deadline has come. Does
 * nothing where the place has neither. */
void mt_desk_leave(struct mt_desk *desk, struct mt_desk_place *place);

/* Whether it is the place's turn: it was called, or is about to be, and has not left. */
bool mt_desk_has(const struct mt_desk *desk, const struct mt_desk_place *place);

/* Work beside the desk: whether some may be done now, and how long it took. */
bool mt_desk_has_time_beside(struct mt_desk *desk, int64_t now_ns);
void mt_desk_count_beside(struct mt_desk *desk, int64_t n_ns);

#endif
