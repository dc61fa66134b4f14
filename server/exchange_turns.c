#include "server/exchange_state.h"

#include "base/clock.h"
#include "server/connections.h"

#include <stddef.h>
#include <string.h>

/* How long who has the desk goes on before others have their turn, and an ending beside it. A
 * beginning beside it goes on to its end: of those who wait in line, one alone has sentences. */
#define TURN_NS INT64_C(10000000)
#define TURN_BESIDE_NS INT64_C(2000000)

/* Bytes of a request that take some milliseconds to split and tokenize; longer ones take the desk.
 */
#define MAX_BYTES_BESIDE ((size_t)4096)

void mt_exchange_measure(struct mt_exchange *exchange)
{
    size_t n_bytes = exchange->body.length + strlen(exchange->query);
    exchange->is_long = n_bytes > MAX_BYTES_BESIDE;
}

bool mt_exchange_may_wait(const struct mt_exchange *exchange)
{
    return exchange->is_long || exchange->route->handler->choose != NULL;
}

enum MHD_Result mt_exchange_stop_reading(struct mt_exchange *exchange, mt_exchange_step *step)
{
    exchange->stage = STAGE_TURN;
    exchange->step = step;
    return MHD_YES;
}

static bool has_desk(const struct mt_exchange *exchange)
{
    return mt_desk_has(&exchange->http->desk, &exchange->place);
}

int64_t mt_exchange_begin_until(const struct mt_exchange *exchange)
{
    return has_desk(exchange) ? mt_now_ns() + TURN_NS : INT64_MAX;
}

int64_t mt_exchange_end_until(const struct mt_exchange *exchange)
{
    if (exchange->is_hurried)
        return INT64_MAX;
    return mt_now_ns() + (has_desk(exchange) ? TURN_NS : TURN_BESIDE_NS);
}

void mt_exchange_call(struct mt_desk_place *place)
{
    struct mt_exchange *exchange =
        (struct mt_exchange *)((char *)place - offsetof(struct mt_exchange, place));
    mt_connections_leave_work(exchange->http->connections, exchange->slot, exchange);
    if (exchange->was_called) /* by cancel, before leave_work; or because it is late */
        return;
    exchange->was_called = true;
    MHD_resume_connection(exchange->connection);
}

void mt_exchange_stop_waiting_for_turn(struct mt_exchange *exchange)
{
    if (exchange->was_called)
        return;
    exchange->was_called = exchange->was_cancelled = true;
    MHD_resume_connection(exchange->connection);
}

static enum MHD_Result hurry(struct mt_exchange *exchange, mt_exchange_step *step)
{
    exchange->is_hurried = true;
    return step(exchange);
}

/* Suspends first: it may be called at once. */
static enum MHD_Result wait_for_turn(struct mt_exchange *exchange, enum mt_desk_line line,
                                     mt_exchange_step *step)
{
    struct mt_connections *connections = exchange->http->connections;
    if (!mt_connections_begin_work(connections, exchange->slot, exchange))
        return line == MT_DESK_ENDINGS ? hurry(exchange, step) : mt_exchange_refuse_work(exchange);
    exchange->stage = STAGE_TURN;
    exchange->is_in_line = true;
    exchange->was_called = exchange->was_cancelled = false;
    exchange->step = step;
    MHD_suspend_connection(exchange->connection);
    mt_connections_watch_work(connections, exchange->slot, exchange->is_http_1_1);
    mt_desk_join(&exchange->http->desk, &exchange->place, line, exchange->address,
                 line == MT_DESK_ENDINGS ? INT64_MAX : exchange->deadline_ns);
    return MHD_YES;
}

static enum MHD_Result take_step(struct mt_exchange *exchange, enum mt_desk_line line,
                                 mt_exchange_step *step)
{
    struct mt_desk *desk = &exchange->http->desk;
    int64_t begin_ns = mt_now_ns();
    if (exchange->is_long || !mt_desk_has_time_beside(desk, begin_ns))
        return wait_for_turn(exchange, line, step);
    enum MHD_Result result = step(exchange);
    mt_desk_count_beside(desk, mt_now_ns() - begin_ns);
    return result;
}

enum MHD_Result mt_exchange_begin(struct mt_exchange *exchange, mt_exchange_step *step)
{
    return take_step(exchange, exchange->is_long ? MT_DESK_LONG : MT_DESK_SHORT, step);
}

enum MHD_Result mt_exchange_end(struct mt_exchange *exchange, mt_exchange_step *step)
{
    return take_step(exchange, MT_DESK_ENDINGS, step);
}

/* Whoever began, or goes on beginning, has the desk. */
enum MHD_Result mt_exchange_go_on(struct mt_exchange *exchange, mt_exchange_step *step)
{
    if (!has_desk(exchange))
        return wait_for_turn(exchange, MT_DESK_ENDINGS, step);
    /* libmicrohttpd looks after the other connections first. */
    exchange->stage = STAGE_TURN;
    exchange->step = step;
    MHD_suspend_connection(exchange->connection);
    MHD_resume_connection(exchange->connection);
    return MHD_YES;
}

void mt_exchange_leave_line(struct mt_exchange *exchange)
{
    struct mt_connections *connections = exchange->http->connections;
    if (!exchange->is_in_line)
        return;
    mt_connections_leave_work(connections, exchange->slot, exchange);
    exchange->is_in_line = false; /* behind leave_work: cancel looks at it */
    mt_connections_forget_work(connections, exchange->slot);
    mt_connections_count_done(connections);
}

static enum MHD_Result end_line(struct mt_exchange *exchange)
{
    struct mt_error err;
    bool is_ending = exchange->place.line == MT_DESK_ENDINGS;
    mt_exchange_leave_line(exchange);
    if (is_ending && exchange->was_cancelled && !exchange->has_left)
        return hurry(exchange, exchange->step);
    if (exchange->was_cancelled)
        mt_fail(&err, MT_CANCELLED, "nobody waits for it");
    else if (!is_ending && mt_now_ns() >= exchange->deadline_ns)
        mt_fail(&err, MT_TIMEOUT, "its turn did not come in time");
    else
        return exchange->step(exchange);
    mt_exchange_fail_wait(exchange, &err);
    return mt_exchange_send(exchange);
}

enum MHD_Result mt_exchange_take_turn(struct mt_exchange *exchange)
{
    return exchange->is_in_line ? end_line(exchange) : exchange->step(exchange);
}

void mt_exchange_leave_desk(struct mt_exchange *exchange)
{
    mt_desk_leave(&exchange->http->desk, &exchange->place);
}
