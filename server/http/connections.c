#include "server/http/connections.h"

#include "base/clock.h"
#include "server/http/client.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sockios.h>

/* How often deadlines are checked, and so how late one may be noticed. */
#define TICK_MS 100
#define MAX_EVENTS 64
#define FRESH_GRACE_MS 1000
/* A connection that had a reply less than this long ago is not closed for idleness: a client that
 * asks again and again does so within a round trip, and its next request may be on its way. */
#define IDLE_GRACE_MS 100
/* How long an incomplete request may stand still after its client has finished sending. */
#define LOST_END_MS 200
/* A power of two. */
#define CLIENT_HASHES 4096
/* There is one slot per possible connection. Events carry slot and generation, because an event
 * that is on its way when its connection ends must not be taken for one of the next connection in
 * that slot. Descriptors of mt_connections_listen have generation 0. */
struct mt_connection {
    int fd; /* -1: the slot is free */
    struct mt_connections *owner;
    uint32_t index, generation;
    enum mt_phase phase;
    int64_t since_ns; /* when the phase began */
    struct mt_address address;
    void *work, *sleeper;
    enum mt_over_limit over_limit;
    uint64_t number; /* how many connections came before this one */
    bool is_counted; /* it counts among its client's connections */
    bool is_shut, is_watched;
    bool has_ended; /* the client sends no more */
    bool is_gone;   /* the client does not read either */
    bool is_asked;  /* during this work it was asked whether the client is still there */
    struct mt_connection *next_free;
};

struct mt_connections {
    struct mt_connections_options options;
    int epoll_fd;
    int64_t next_tick_ns;
    size_t n_slots, n_used; /* slots from n_used on were never used */
    struct mt_connection *free_slots;
    size_t n_staying[MT_N_OVER_LIMIT]; /* those neither shut nor removed */
    /* How many connections there are of clients with each hash. While this sum is below a client's
     * limit, so is each of those clients. */
    uint32_t n_by_hash[CLIENT_HASHES];
    bool refuses_sleep, wants_room;
    /* Other threads read these. */
    atomic_size_t n_open, n_active;
    atomic_uint_least64_t n_came, n_timed_out, n_left, n_evicted, n_refused_of_client;
    struct mt_connection slots[];
};

static bool is_active(enum mt_phase phase)
{
    return phase != MT_PHASE_FRESH && phase != MT_PHASE_IDLE;
}

/* ---- what one client has ---- */

static uint32_t *count_by_hash(struct mt_connections *connections, uint64_t client)
{
    /* Fibonacci hashing, because clients are addresses, whose last bits may all be the same. */
    uint64_t hash = client * UINT64_C(0x9E3779B97F4A7C15);
    return &connections->n_by_hash[(hash >> 32) % CLIENT_HASHES];
}

static bool is_limited(const struct mt_connections *connections, const struct mt_address *address)
{
    const struct mt_connections_options *options = &connections->options;
    static const struct mt_address nowhere;
    if (options->max_client_connections == 0 || memcmp(address, &nowhere, sizeof nowhere) == 0)
        return false;
    if (options->proxies && mt_proxies_have(options->proxies, address))
        return false;
    return options->limits_this_machine || !mt_address_is_loopback(address);
}

static size_t count_of_client(const struct mt_connections *connections, uint64_t client)
{
    size_t n = 0;
    for (size_t i = 0; i < connections->n_used; i++) {
        const struct mt_connection *connection = &connections->slots[i];
        n += connection->is_counted && mt_address_client(&connection->address) == client;
    }
    return n;
}

static bool has_its_share(struct mt_connections *connections, uint64_t client)
{
    size_t limit = connections->options.max_client_connections;
    return *count_by_hash(connections, client) >= limit &&
           count_of_client(connections, client) >= limit;
}

static void count_in(struct mt_connections *connections, struct mt_connection *connection)
{
    connection->is_counted = true;
    ++*count_by_hash(connections, mt_address_client(&connection->address));
}

/* Stops counting the connection as one that is open. */
static void count_out(struct mt_connections *connections, struct mt_connection *connection)
{
    if (connection->is_counted)
        --*count_by_hash(connections, mt_address_client(&connection->address));
    connections->n_staying[connection->over_limit] -= !connection->is_shut;
    connection->is_counted = false;
}

/* libmicrohttpd sees the end of the stream and closes the connection as if the client had. */
static void shut(struct mt_connections *connections, struct mt_connection *connection)
{
    if (connection->is_shut)
        return;
    count_out(connections, connection);
    connection->is_shut = true;
    shutdown(connection->fd, SHUT_RDWR);
}

static void set_phase(struct mt_connections *connections, struct mt_connection *connection,
                      enum mt_phase phase)
{
    bool was = is_active(connection->phase), is = is_active(phase);
    if (was != is)
        atomic_fetch_add(&connections->n_active, is ? 1 : SIZE_MAX);
    connection->phase = phase;
    connection->since_ns = mt_now_ns();
}

/* Watches the connection from add to remove. The watch is edge-triggered, because a level-triggered
 * one would report a FIN without end. Errors and resets are always reported. */
static void observe(struct mt_connections *connections, struct mt_connection *connection,
                    uint32_t events)
{
    struct epoll_event event = {
        .events = events | EPOLLRDHUP | EPOLLET,
        .data.u64 = (uint64_t)connection->generation << 32 | connection->index,
    };
    int operation = connection->is_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    /* Without memory for the watch, a client that leaves is noticed when its reply is sent. */
    connection->is_watched =
        epoll_ctl(connections->epoll_fd, operation, connection->fd, &event) == 0;
}

/* Sends a probe, but only where no bytes are on their way to the client: a part of the probe would
 * corrupt the stream, and those bytes show by themselves whether the client is there. */
static void probe(struct mt_connection *connection)
{
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    int n_unsent = 0;
    if (ioctl(connection->fd, SIOCOUTQ, &n_unsent) != 0 || n_unsent != 0)
        return;
    /* If this fails, the socket reports an error, which is what is waited for. */
    ssize_t ignored =
        send(connection->fd, interim, sizeof interim - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)ignored;
}

static void wake(struct mt_connections *connections, struct mt_connection *connection)
{
    void *sleeper = connection->sleeper;
    if (!sleeper)
        return;
    connection->sleeper = NULL;
    observe(connections, connection, 0);
    connections->options.wake(connections->options.context, sleeper);
}

static void ask(struct mt_connections *connections, struct mt_connection *connection)
{
    const struct mt_connections_options *options = &connections->options;
    enum mt_answer answer = options->ask(options->context, connection->work);
    if (answer == MT_PROBE)
        probe(connection);
    connection->is_asked = answer != MT_ASK_AGAIN;
}

/* Finds out whether the client has left. For connections whose work is watched. */
static void see_whether_it_left(struct mt_connections *connections,
                                struct mt_connection *connection)
{
    const struct mt_connections_options *options = &connections->options;
    if (!connection->work || !connection->has_ended)
        return;
    if (connection->is_gone || options->end_is_leaving) {
        void *work = connection->work;
        connection->work = NULL;
        atomic_fetch_add(&connections->n_left, 1);
        options->cancel(options->context, work, true);
    } else if (!connection->is_asked) {
        ask(connections, connection);
    }
}

static void handle_event(struct mt_connections *connections, const struct epoll_event *event)
{
    struct mt_connection *connection = &connections->slots[event->data.u64 & UINT32_MAX];
    if (connection->generation != event->data.u64 >> 32 || connection->fd < 0)
        return;
    bool is_gone = (event->events & (EPOLLHUP | EPOLLERR)) != 0;
    connection->is_gone = connection->is_gone || is_gone;
    connection->has_ended = connection->has_ended || is_gone || (event->events & EPOLLRDHUP) != 0;
    wake(connections, connection);
    see_whether_it_left(connections, connection);
}

/* Whether bytes have arrived that are not read yet: a request is about to begin. */
static bool has_input(const struct mt_connection *connection)
{
    int n_bytes = 0;
    return ioctl(connection->fd, FIONREAD, &n_bytes) == 0 && n_bytes > 0;
}

/* A client that has sent in time must not suffer from an HTTP thread that is late, so its time is
 * doubled. It is not unlimited, because a client may go on sending for ever. */
static bool has_taken_too_long(const struct mt_connections *connections,
                               const struct mt_connection *connection, int64_t age_ns)
{
    enum mt_phase phase = connection->phase;
    int64_t timeout_ns = connections->options.timeout_ms[phase] * 1000000;
    bool is_awaited = phase == MT_PHASE_FRESH || phase == MT_PHASE_HEADER || phase == MT_PHASE_IDLE;
    if (timeout_ns == 0 || age_ns < timeout_ns)
        return false;
    return !is_awaited || age_ns >= 2 * timeout_ns || !has_input(connection);
}

/* libmicrohttpd (0.9.75, 1.0.1) takes a short read for the last one, and so misses the end of a
 * stream that came together with the last bytes, because the edge that would report it has passed.
 * It would wait until a deadline for the rest of a request whose client has left, or for another
 * request where the client waits for the connection's end. */
static bool has_lost_end(const struct mt_connection *connection, int64_t age_ns)
{
    bool is_awaited = connection->phase <= MT_PHASE_BODY || connection->phase == MT_PHASE_IDLE;
    return connection->has_ended && is_awaited && age_ns >= LOST_END_MS * INT64_C(1000000) &&
           !has_input(connection);
}

static void look_after(struct mt_connections *connections, struct mt_connection *connection,
                       int64_t now)
{
    int64_t age_ns = now - connection->since_ns;
    bool is_overdue = has_taken_too_long(connections, connection, age_ns);
    if (is_overdue && !connection->is_shut)
        atomic_fetch_add(&connections->n_timed_out, 1);
    if (is_overdue || has_lost_end(connection, age_ns)) {
        shut(connections, connection);
        return;
    }
    see_whether_it_left(connections, connection);
    bool is_silent = connection->work && connection->phase == MT_PHASE_STREAM &&
                     age_ns >= connections->options.nudge_ms * 1000000;
    if (is_silent)
        ask(connections, connection);
}

static bool evict(struct mt_connections *connections, uint64_t client, uint64_t newcomer);

static void tick(struct mt_connections *connections)
{
    int64_t now = mt_now_ns();
    if (now < connections->next_tick_ns)
        return;
    for (size_t i = 0; i < connections->n_used; i++)
        if (connections->slots[i].fd >= 0)
            look_after(connections, &connections->slots[i], now);
    if (connections->wants_room)
        connections->wants_room = !evict(connections, 0, 0);
    connections->next_tick_ns = now + TICK_MS * 1000000;
}

unsigned mt_connections_wait(struct mt_connections *connections, int timeout_ms)
{
    struct epoll_event events[MAX_EVENTS];
    unsigned bits = 0;
    bool has_ticks = atomic_load(&connections->n_open) > 0;
    int n;
    if (has_ticks && (timeout_ms < 0 || timeout_ms > TICK_MS))
        timeout_ms = TICK_MS;
    do {
        n = epoll_wait(connections->epoll_fd, events, MAX_EVENTS, timeout_ms);
        for (int i = 0; i < n; i++) {
            if (events[i].data.u64 >> 32 == 0)
                bits |= (unsigned)events[i].data.u64;
            else
                handle_event(connections, &events[i]);
        }
        timeout_ms = 0; /* read all events: a client that comes again has left before */
    } while (n == MAX_EVENTS);
    if (has_ticks)
        tick(connections);
    return bits;
}

bool mt_connections_listen(struct mt_connections *connections, int fd, unsigned bit, bool is_on)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = bit};
    return epoll_ctl(connections->epoll_fd, is_on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &event) == 0;
}

enum mt_status mt_connections_create(const struct mt_connections_options *options,
                                     struct mt_connections **out, struct mt_error *err)
{
    size_t n_slots = options->max_connections + options->max_over_limit;
    assert(n_slots > 0 && n_slots < UINT32_MAX);
    struct mt_connections *connections =
        calloc(1, sizeof *connections + n_slots * sizeof connections->slots[0]);
    if (!connections)
        return mt_fail_memory(err, n_slots * sizeof connections->slots[0], "connections");
    connections->options = *options;
    connections->n_slots = n_slots;
    connections->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (connections->epoll_fd < 0) {
        free(connections);
        return mt_fail(err, MT_IO, "no descriptor for watching connections");
    }
    *out = connections;
    return MT_OK;
}

void mt_connections_destroy(struct mt_connections *connections)
{
    if (!connections)
        return;
    close(connections->epoll_fd);
    free(connections);
}

/* Whether the connection takes up a place, has no complete head of a request, and so may be closed
 * if nothing else speaks against it. client: only this client's connections; 0: anybody's. */
static bool may_go(const struct mt_connection *connection, uint64_t client)
{
    if (connection->fd < 0 || connection->is_shut || connection->over_limit != MT_OVER_NO_LIMIT ||
        (is_active(connection->phase) && connection->phase != MT_PHASE_HEADER))
        return false;
    return client == 0 ||
           (connection->is_counted && mt_address_client(&connection->address) == client);
}

/* Whether the connection has not yet had the time to send its request. A client that has more
 * connections than the newcomer's client is given less time. */
static bool is_young(const struct mt_connection *connection, bool is_of_more, int64_t now)
{
    bool is_short = connection->phase == MT_PHASE_IDLE || is_of_more;
    return now - connection->since_ns <=
           (is_short ? IDLE_GRACE_MS : FRESH_GRACE_MS) * INT64_C(1000000);
}

/* Finds the connection that has waited longest among those of the client that has most: a client
 * that takes up all connections loses its own. While a connection of the newcomer's own client
 * waits, none is taken from a client that has less than half as many, however old: many clients may
 * come within a moment. */
static struct mt_connection *find_oldest(struct mt_connections *connections, uint64_t client,
                                         uint64_t newcomer)
{
    int64_t now = mt_now_ns();
    struct mt_connection *oldest = NULL;
    size_t n_own = newcomer ? *count_by_hash(connections, newcomer) : SIZE_MAX, n_most = 0;
    bool own_waits = false;
    for (size_t i = 0; i < connections->n_used; i++) {
        struct mt_connection *connection = &connections->slots[i];
        if (!may_go(connection, client))
            continue;
        uint64_t owner = mt_address_client(&connection->address);
        size_t n = *count_by_hash(connections, owner);
        if (is_young(connection, n > n_own, now)) {
            own_waits = own_waits || (owner == newcomer && !has_input(connection));
            continue;
        }
        bool is_older =
            !oldest || n > n_most || (n == n_most && connection->since_ns < oldest->since_ns);
        if (!is_older ||
            has_input(connection)) /* has_input is asked last, because it is a system call */
            continue;
        oldest = connection;
        n_most = n;
    }
    return own_waits && n_own > 2 * n_most ? NULL : oldest;
}

/* Finds a connection whose client has left, although libmicrohttpd has not noticed yet: clients
 * that make a connection for each request come again before it does. */
static struct mt_connection *find_ended(struct mt_connections *connections, uint64_t client)
{
    for (size_t i = 0; i < connections->n_used; i++) {
        struct mt_connection *connection = &connections->slots[i];
        if (connection->has_ended && may_go(connection, client) &&
            (connections->options.end_is_leaving || !has_input(connection)))
            return connection;
    }
    return NULL;
}

/* Closes a connection to make room for a new one. client: only this client's connections; 0:
 * anybody's. newcomer: the new connection's client; 0: not known. Returns false where none may be
 * closed. */
static bool evict(struct mt_connections *connections, uint64_t client, uint64_t newcomer)
{
    struct mt_connection *connection = find_oldest(connections, client, newcomer);
    if (!connection)
        connection = find_ended(connections, client);
    if (!connection)
        return false;
    atomic_fetch_add(&connections->n_evicted, 1);
    shut(connections, connection);
    return true;
}

static struct mt_connection *take_slot(struct mt_connections *connections)
{
    struct mt_connection *connection = connections->free_slots;
    if (connection) {
        connections->free_slots = connection->next_free;
        return connection;
    }
    if (connections->n_used == connections->n_slots)
        return NULL;
    connection = &connections->slots[connections->n_used];
    connection->index = (uint32_t)connections->n_used++;
    return connection;
}

/* Whether the new connection is one too many. Where its own client has too many, one of that
 * client's connections is closed before anybody else loses one. */
static enum mt_over_limit find_place(struct mt_connections *connections, uint64_t client,
                                     bool counts)
{
    if (counts && has_its_share(connections, client) && !evict(connections, client, client))
        return MT_OVER_LIMIT_OF_CLIENT;
    bool is_full = connections->n_staying[MT_OVER_NO_LIMIT] >= connections->options.max_connections;
    return is_full && !evict(connections, 0, client) ? MT_OVER_LIMIT_OF_ALL : MT_OVER_NO_LIMIT;
}

/* Connections over the limit do no work, so the first one may be closed in any phase. */
static void shut_first(struct mt_connections *connections, enum mt_over_limit over_limit)
{
    struct mt_connection *first = NULL;
    for (size_t i = 0; i < connections->n_used; i++) {
        struct mt_connection *connection = &connections->slots[i];
        bool is_one =
            connection->fd >= 0 && !connection->is_shut && connection->over_limit == over_limit;
        if (is_one && (!first || connection->number < first->number))
            first = connection;
    }
    if (!first)
        return;
    atomic_fetch_add(&connections->n_evicted, 1);
    shut(connections, first);
}

static void admit(struct mt_connections *connections, struct mt_connection *connection)
{
    const size_t most_told[MT_N_OVER_LIMIT] = {
        [MT_OVER_LIMIT_OF_ALL] = (connections->options.max_over_limit + 1) / 2,
        [MT_OVER_LIMIT_OF_CLIENT] = MT_POLITE_OVER_LIMIT,
    };
    uint64_t client = mt_address_client(&connection->address);
    bool counts = is_limited(connections, &connection->address);
    enum mt_over_limit over_limit = find_place(connections, client, counts);
    if (over_limit != MT_OVER_NO_LIMIT &&
        connections->n_staying[over_limit] == most_told[over_limit])
        shut_first(connections, over_limit);
    connection->over_limit = over_limit;
    connections->n_staying[over_limit]++;
    if (over_limit == MT_OVER_LIMIT_OF_CLIENT)
        atomic_fetch_add(&connections->n_refused_of_client, 1);
    if (over_limit == MT_OVER_NO_LIMIT)
        count_in(connections, connection);
}

struct mt_connection *mt_connections_add(struct mt_connections *connections, int fd,
                                         const struct sockaddr *address)
{
    struct mt_connection *connection = take_slot(connections);
    if (connection) {
        *connection = (struct mt_connection){
            .fd = fd,
            .owner = connections,
            .index = connection->index,
            .generation = connection->generation + 1,
            .phase = MT_PHASE_FRESH,
            .since_ns = mt_now_ns(),
            .address = mt_address_of(address),
            .number = atomic_fetch_add(&connections->n_came, 1),
        };
        admit(connections, connection);
        observe(connections, connection, 0);
        atomic_fetch_add(&connections->n_open, 1);
    }
    return connection;
}

void mt_connections_remove(struct mt_connections *connections, struct mt_connection *connection)
{
    assert(!connection->work);
    if (connection->is_watched)
        epoll_ctl(connections->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
    set_phase(connections, connection, MT_PHASE_IDLE);
    atomic_fetch_sub(&connections->n_open, 1);
    connections->wants_room = false;
    count_out(connections, connection);
    connection->fd = -1;
    connection->next_free = connections->free_slots;
    connections->free_slots = connection;
}

void mt_connections_want_room(struct mt_connections *connections)
{
    connections->wants_room = true;
}

void mt_connections_enter(struct mt_connections *connections, struct mt_connection *connection,
                          enum mt_phase phase)
{
    set_phase(connections, connection, phase);
}

enum mt_over_limit mt_connection_over_limit(const struct mt_connection *connection)
{
    return connection->over_limit;
}

void *mt_connection_context(const struct mt_connection *connection)
{
    return connection->owner->options.context;
}

const struct mt_address *mt_connection_address(const struct mt_connection *connection)
{
    return &connection->address;
}

void mt_connections_watch(struct mt_connections *connections, struct mt_connection *connection,
                          void *work)
{
    (void)connections;
    connection->work = work;
    connection->is_asked = false;
}

void mt_connections_sleep(struct mt_connections *connections, struct mt_connection *connection,
                          void *sleeper)
{
    assert(!connection->sleeper);
    connection->sleeper = sleeper;
    observe(connections, connection, EPOLLIN);
    if (!connection->is_watched || connections->refuses_sleep)
        wake(connections, connection);
}

void mt_connections_wake_all(struct mt_connections *connections)
{
    connections->refuses_sleep = true;
    for (size_t i = 0; i < connections->n_used; i++)
        if (connections->slots[i].fd >= 0)
            wake(connections, &connections->slots[i]);
}

void mt_connections_cancel_all(struct mt_connections *connections)
{
    const struct mt_connections_options *options = &connections->options;
    for (size_t i = 0; i < connections->n_used; i++) {
        struct mt_connection *connection = &connections->slots[i];
        if (connection->fd >= 0 && connection->work)
            options->cancel(options->context, connection->work, false);
    }
}

void mt_connections_close_idle(struct mt_connections *connections, int64_t age_ms)
{
    int64_t latest_ns = mt_now_ns() - age_ms * 1000000;
    for (size_t i = 0; i < connections->n_used; i++) {
        struct mt_connection *connection = &connections->slots[i];
        if (connection->fd < 0 || is_active(connection->phase))
            continue;
        if (connection->since_ns <= latest_ns && !has_input(connection))
            shut(connections, connection);
    }
}

void mt_connections_count(const struct mt_connections *connections,
                          struct mt_connection_counts *out)
{
    *out = (struct mt_connection_counts){
        .n_open = atomic_load(&connections->n_open),
        .n_active = atomic_load(&connections->n_active),
        .n_came = atomic_load(&connections->n_came),
        .n_timed_out = atomic_load(&connections->n_timed_out),
        .n_left = atomic_load(&connections->n_left),
        .n_evicted = atomic_load(&connections->n_evicted),
        .n_refused_of_client = atomic_load(&connections->n_refused_of_client),
    };
}
