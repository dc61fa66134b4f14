#include "server/desk.h"

#include "base/clock.h"

#include <assert.h>

/* What is done beside the desk may take half of the time, and this much at once: as long as a turn,
 * and so no more than doubles what others wait for. */
#define BESIDE_DIVISOR 2
#define MAX_BESIDE_NS INT64_C(10000000)
/* Short ones that go before a long one: some milliseconds each, where that takes up to a hundred.
 */
#define MAX_SHORT_IN_A_ROW 8

static void take_out(struct mt_desk *desk, struct mt_desk_place *place)
{
    struct mt_desk_place *previous = place->previous, *next = place->next;
    *(previous != NULL ? &previous->next : &desk->lines[place->line].first) = next;
    *(next != NULL ? &next->previous : &desk->lines[place->line].last) = previous;
    place->previous = place->next = NULL;
    place->is_in_line = false;
}

static struct mt_desk_place *find_next(const struct mt_desk *desk)
{
    struct mt_desk_place *ending = desk->lines[MT_DESK_ENDINGS].first;
    struct mt_desk_place *brief = desk->lines[MT_DESK_SHORT].first;
    struct mt_desk_place *lengthy = desk->lines[MT_DESK_LONG].first;
    if (ending != NULL)
        return ending;
    if (brief == NULL || (lengthy != NULL && desk->n_short_in_a_row >= MAX_SHORT_IN_A_ROW))
        return lengthy;
    return brief;
}

static void call_next(struct mt_desk *desk)
{
    desk->holder = find_next(desk);
    if (desk->holder == NULL)
        return;
    if (desk->holder->line == MT_DESK_SHORT)
        desk->n_short_in_a_row++;
    else if (desk->holder->line == MT_DESK_LONG)
        desk->n_short_in_a_row = 0;
    take_out(desk, desk->holder);
    desk->lines[desk->holder->line].round = desk->holder->round;
    desk->call(desk->holder);
}

/* They stay in line until they leave, which is quickly done. */
static void call_late(struct mt_desk *desk)
{
    int64_t now_ns = mt_now_ns();
    for (int line = 0; line < MT_N_DESK_LINES; line++) {
        struct mt_desk_place *place = desk->lines[line].first;
        for (; place != NULL; place = place->next) {
            if (place->deadline_ns > now_ns)
                continue;
            place->deadline_ns = INT64_MAX;
            desk->call(place);
        }
    }
}

/* Behind all of an earlier round or the same. */
static void put_in(struct mt_desk *desk, struct mt_desk_place *place)
{
    struct mt_desk_place *previous = desk->lines[place->line].last;
    while (previous != NULL && previous->round > place->round)
        previous = previous->previous;
    struct mt_desk_place **link =
        previous != NULL ? &previous->next : &desk->lines[place->line].first;
    struct mt_desk_place *next = *link;
    place->previous = previous;
    place->next = next;
    *link = place;
    *(next != NULL ? &next->previous : &desk->lines[place->line].last) = place;
    place->is_in_line = true;
}

/* A client's next request belongs to the round behind the one of its last, and behind the one that
 * goes on now: the client may have had its turn in that already. */
static uint64_t find_round(const struct mt_desk *desk, enum mt_desk_line line, uint64_t client)
{
    const struct mt_desk_place *place = desk->lines[line].last, *holder = desk->holder;
    while (place != NULL && place->client != client)
        place = place->previous;
    if (place == NULL && holder != NULL && holder->line == line && holder->client == client)
        place = holder;
    return (place != NULL ? place->round : desk->lines[line].round) + 1;
}

void mt_desk_join(struct mt_desk *desk, struct mt_desk_place *place, enum mt_desk_line line,
                  uint64_t client, int64_t deadline_ns)
{
    assert(!place->is_in_line && desk->holder != place);
    *place = (struct mt_desk_place){
        .line = line,
        .client = client,
        .round = find_round(desk, line, client),
        .deadline_ns = deadline_ns,
    };
    put_in(desk, place);
    if (desk->holder == NULL)
        call_next(desk);
}

void mt_desk_leave(struct mt_desk *desk, struct mt_desk_place *place)
{
    if (place->is_in_line) {
        take_out(desk, place);
    } else if (desk->holder == place) {
        desk->holder = NULL;
        call_late(desk);
        call_next(desk);
    }
}

bool mt_desk_has(const struct mt_desk *desk, const struct mt_desk_place *place)
{
    return desk->holder == place;
}

bool mt_desk_has_time_beside(struct mt_desk *desk, int64_t now_ns)
{
    desk->beside_ns -= (now_ns - desk->seen_ns) / BESIDE_DIVISOR;
    if (desk->beside_ns < 0)
        desk->beside_ns = 0;
    desk->seen_ns = now_ns;
    return desk->beside_ns < MAX_BESIDE_NS;
}

void mt_desk_count_beside(struct mt_desk *desk, int64_t n_ns)
{
    desk->beside_ns += n_ns;
}
