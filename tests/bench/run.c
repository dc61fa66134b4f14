#include "tests/bench/run.h"

#include "tests/bench/client.h"
#include "tests/bench/machine.h"
#include "tests/bench/stalls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define MAX_WINDOW_SECONDS 3600
#define MAX_BACKLOG 65536
/* One of each connection, however long nobody looked. */
#define MAX_EVENTS LOAD_MAX_CLIENTS
/* Timeouts and rests are looked after at least so often. */
#define TICK_NS 10000000
/* A client whose request failed waits so long: errors come quickly,
 * and would crowd out the rest. */
#define REST_NS 10000000

struct work {
    const struct load_options *options;
    const struct load_requests *requests;
    struct load_result *result;
    struct sockaddr_storage address;
    socklen_t address_length;
    int epoll_fd;
    struct load_client *clients;
    size_t n_under_way;
    size_t next_message, next_client;
    int64_t next_round_ns; /* when all clients are looked after again */

    int64_t from_ns, until_ns;
    size_t n_issued; /* requests whose time was in the window */
    bool is_measuring, has_ended;
    int64_t began_ns; /* when the window was seen to begin */
    struct load_cpu cpu;

    /* Open loop: arrivals that wait for a connection, a ring. */
    int64_t *backlog_ns;
    size_t backlog_first, n_backlog;
    int64_t next_arrival_ns, next_burst_ns;
    uint64_t random;

    struct load_stalls *stalls; /* NULL: nobody watches */
    size_t sample_capacity;
    struct mt_error error; /* the first that ends the run */
};

const char *load_failure_name(enum load_failure failure)
{
    static const char *const names[LOAD_N_FAILURES] = {
        [LOAD_FAILED_CLOSED] = "connection_closed",
        [LOAD_FAILED_REPLY] = "malformed_reply",
        [LOAD_FAILED_TIMEOUT] = "timeout",
        [LOAD_FAILED_BACKLOG] = "backlog_full",
    };
    return names[failure];
}

static bool is_open_loop(const struct work *w)
{
    return w->result->run.rate > 0;
}

static bool is_in_window(const struct work *w, int64_t time_ns)
{
    return time_ns >= w->from_ns && time_ns < w->until_ns;
}

/* ---- what came of a request ---- */

static void remember_error(struct work *w, const char *what, const char *detail, size_t length)
{
    char *out = w->result->first_error;
    if (out[0] == '\0')
        snprintf(out, sizeof w->result->first_error, "%s%.*s", what, (int)length, detail);
}

static void count_failure(struct work *w, enum load_failure failure, int64_t intended_ns)
{
    remember_error(w, load_failure_name(failure), "", 0);
    if (!is_in_window(w, intended_ns))
        return;
    w->result->n_by_failure[failure]++;
    w->result->n_errors++;
}

static void count_refusal(struct work *w, const struct load_client *client,
                          const struct load_reply *reply)
{
    char status[16];
    snprintf(status, sizeof status, "%d: ", reply->status);
    remember_error(w, status, reply->body, reply->body_length);
    if (!is_in_window(w, client->intended_ns))
        return;
    w->result->n_by_status[reply->status]++;
    w->result->n_errors++;
    w->result->n_without_retry_after += !reply->has_retry_after;
    /* One that came before the request was out has kept nobody waiting. */
    bool was_early = client->sent_ns == 0;
    int64_t delay_ns = was_early ? 0 : client->replied_ns - client->sent_ns;
    load_delays_add(w->result->refusals, delay_ns);
    int64_t *slowest_ns = &w->result->slowest_own_refusal_ns;
    if (w->stalls && delay_ns > *slowest_ns) {
        delay_ns -= load_stalls_within(w->stalls, client->sent_ns, client->replied_ns);
        *slowest_ns = delay_ns > *slowest_ns ? delay_ns : *slowest_ns;
    }
}

static void remember_latency(struct work *w, int64_t latency_ns)
{
    struct load_result *r = w->result;
    if (r->n_latencies == LOAD_MAX_SAMPLES) {
        mt_fail(&w->error, MT_LIMIT, "more than %d answers in one run: choose a shorter --duration",
                LOAD_MAX_SAMPLES);
        return;
    }
    if (r->n_latencies == w->sample_capacity) {
        size_t capacity = w->sample_capacity ? 2 * w->sample_capacity : 4096;
        int64_t *grown = realloc(r->latencies_ns, capacity * sizeof *grown);
        if (!grown) {
            mt_fail_memory(&w->error, capacity * sizeof *grown, "latencies");
            return;
        }
        r->latencies_ns = grown;
        w->sample_capacity = capacity;
    }
    r->latencies_ns[r->n_latencies++] = latency_ns;
}

static void count_answer(struct work *w, struct load_client *client, const struct load_reply *reply,
                         int64_t now_ns)
{
    int64_t n_tokens = load_reply_target_tokens(reply);
    bool is_good = reply->status == 200 && n_tokens >= 0;
    if (!is_good)
        client->rests_until_ns = now_ns + REST_NS;
    if (reply->status != 200) {
        count_refusal(w, client, reply);
    } else if (!is_good) {
        remember_error(w, "no usage.target_tokens in ", reply->body, reply->body_length);
        count_failure(w, LOAD_FAILED_REPLY, client->intended_ns);
    } else {
        if (w->is_measuring && !w->has_ended) {
            w->result->n_answered++;
            w->result->n_target_tokens += (size_t)n_tokens;
        }
        if (is_in_window(w, client->intended_ns))
            remember_latency(w, now_ns - client->intended_ns);
    }
}

static void take_event(struct work *w, struct load_client *client, enum load_event event,
                       const struct load_reply *reply)
{
    if (event == LOAD_NOTHING)
        return;
    if (event == LOAD_NOT_CONNECTED) {
        mt_fail(&w->error, MT_IO, "cannot connect to %s, port %u: %s", w->options->host,
                (unsigned)w->options->port, strerror(client->connect_error));
        return;
    }
    int64_t now_ns = load_now_ns();
    w->n_under_way--;
    if (event == LOAD_ANSWERED) {
        count_answer(w, client, reply, now_ns);
        return;
    }
    client->rests_until_ns = now_ns + REST_NS;
    count_failure(w, event == LOAD_DISCONNECTED ? LOAD_FAILED_CLOSED : LOAD_FAILED_REPLY,
                  client->intended_ns);
}

/* ---- what is to be done ---- */

static bool may_issue(const struct work *w, int64_t time_ns)
{
    size_t n = w->options->n_requests;
    return time_ns < w->until_ns && !w->has_ended && (n == 0 || w->n_issued < n);
}

/* Exponential intervals make arrivals Poisson. splitmix64 (Steele et al. 2014). */
static int64_t next_interval_ns(struct work *w)
{
    uint64_t z = w->random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    double uniform = ((double)(z >> 11) + 0.5) * 0x1p-53;
    return (int64_t)(-log(uniform) / w->result->run.rate * LOAD_NS_PER_SECOND);
}

static void take_arrivals(struct work *w, int64_t now_ns)
{
    while (is_open_loop(w) && w->next_arrival_ns <= now_ns && may_issue(w, w->next_arrival_ns)) {
        int64_t intended_ns = w->next_arrival_ns;
        w->next_arrival_ns += next_interval_ns(w);
        w->n_issued += is_in_window(w, intended_ns);
        if (w->n_backlog == MAX_BACKLOG) {
            count_failure(w, LOAD_FAILED_BACKLOG, intended_ns);
            continue;
        }
        w->backlog_ns[(w->backlog_first + w->n_backlog++) % MAX_BACKLOG] = intended_ns;
    }
}

static int64_t pop_backlog(struct work *w)
{
    int64_t intended_ns = w->backlog_ns[w->backlog_first];
    w->backlog_first = (w->backlog_first + 1) % MAX_BACKLOG;
    w->n_backlog--;
    return intended_ns;
}

/* The next request for an idle client, if there is one. */
static bool take_request(struct work *w, int64_t now_ns, int64_t *intended_ns)
{
    if (is_open_loop(w)) {
        if (w->n_backlog == 0)
            return false;
        *intended_ns = pop_backlog(w);
        return true;
    }
    if (!may_issue(w, now_ns))
        return false;
    *intended_ns = now_ns;
    w->n_issued += is_in_window(w, now_ns);
    return true;
}

static bool is_late(const struct work *w, int64_t intended_ns, int64_t now_ns)
{
    return (double)(now_ns - intended_ns) > w->options->timeout * LOAD_NS_PER_SECOND;
}

static void tend(struct work *w, struct load_client *client, int64_t now_ns)
{
    int64_t intended_ns;
    switch (client->state) {
    case LOAD_CLOSED:
        if (now_ns >= client->rests_until_ns && (!w->has_ended || w->n_backlog > 0))
            take_event(w, client,
                       load_client_open(client, w->epoll_fd, (struct sockaddr *)&w->address,
                                        w->address_length),
                       NULL);
        break;
    case LOAD_CONNECTING:
        break;
    case LOAD_IDLE:
        if (now_ns < client->rests_until_ns || !take_request(w, now_ns, &intended_ns))
            break;
        w->n_under_way++;
        const struct mt_text *message = &w->requests->messages[w->next_message];
        w->next_message = (w->next_message + 1) % w->requests->n;
        take_event(w, client, load_client_send(client, message, intended_ns), NULL);
        break;
    case LOAD_SENDING:
    case LOAD_RECEIVING:
        if (!is_late(w, client->intended_ns, now_ns))
            break;
        load_client_close(client);
        w->n_under_way--;
        count_failure(w, LOAD_FAILED_TIMEOUT, client->intended_ns);
        break;
    }
}

static void tend_all(struct work *w, int64_t now_ns)
{
    while (w->n_backlog > 0 && is_late(w, w->backlog_ns[w->backlog_first], now_ns))
        count_failure(w, LOAD_FAILED_TIMEOUT, pop_backlog(w));
    /* Lost connections, rests and timeouts can wait for the tick where there are thousands of
     * clients, and arrivals by themselves. */
    bool is_round = !is_open_loop(w) || now_ns >= w->next_round_ns;
    if (is_round)
        w->next_round_ns = now_ns + TICK_NS;
    /* In turns: a connection that others are always preferred to would idle until the daemon ends
     * it, perhaps in the moment in which its first request is sent. */
    size_t n = w->result->run.n_clients, first = w->next_client;
    for (size_t i = 0; i < n && !w->error.status && (is_round || w->n_backlog > 0); i++) {
        size_t index = (first + i) % n, n_under_way = w->n_under_way;
        tend(w, &w->clients[index], now_ns);
        if (w->n_under_way > n_under_way)
            w->next_client = (index + 1) % n;
    }
}

/* ---- the window ---- */

static double difference(double after, double before)
{
    return after < 0 || before < 0 ? -1 : after - before;
}

static void end_window(struct work *w, int64_t now_ns)
{
    struct load_cpu cpu = load_cpu_now(w->options->pid);
    struct load_result *r = w->result;
    r->seconds = (double)(now_ns - w->began_ns) / LOAD_NS_PER_SECOND;
    r->daemon_seconds = difference(cpu.daemon, w->cpu.daemon);
    r->generator_seconds = difference(cpu.generator, w->cpu.generator);
    r->stolen_seconds = difference(cpu.stolen, w->cpu.stolen);
    r->daemon_anonymous_bytes = load_anonymous_bytes(w->options->pid);
    w->has_ended = true;
}

static void pass_boundaries(struct work *w, int64_t now_ns)
{
    if (!w->is_measuring && now_ns >= w->from_ns) {
        w->is_measuring = true;
        w->began_ns = now_ns;
        w->cpu = load_cpu_now(w->options->pid);
        w->result->daemon_anonymous_bytes_before = load_anonymous_bytes(w->options->pid);
    }
    size_t n = w->options->n_requests;
    bool is_done = n > 0 && w->n_issued >= n && w->n_under_way == 0 && w->n_backlog == 0;
    if (w->is_measuring && !w->has_ended && (is_done || now_ns >= w->until_ns))
        end_window(w, now_ns);
}

static bool is_over(const struct work *w)
{
    return w->error.status || (w->has_ended && w->n_under_way == 0 && w->n_backlog == 0);
}

/* ---- waiting ---- */

static int64_t earlier_of(int64_t due_ns, int64_t other_ns, int64_t now_ns)
{
    return other_ns > now_ns && other_ns < due_ns ? other_ns : due_ns;
}

/* Until something is due; now_ns is when it was last looked at what is. */
static struct timespec time_to_wait(const struct work *w, int64_t now_ns)
{
    int64_t due_ns = now_ns + TICK_NS;
    due_ns = earlier_of(due_ns, w->from_ns, now_ns);
    due_ns = earlier_of(due_ns, w->until_ns, now_ns);
    if (is_open_loop(w))
        due_ns = earlier_of(due_ns, w->next_arrival_ns, now_ns);
    int64_t left_ns = due_ns - load_now_ns(), wait_ns = left_ns > 0 ? left_ns : 0;
    return (struct timespec){.tv_sec = wait_ns / LOAD_NS_PER_SECOND,
                             .tv_nsec = wait_ns % LOAD_NS_PER_SECOND};
}

/* Whatever comes meanwhile: nothing wakes this program before. */
static void wait_for_burst(struct work *w)
{
    int64_t burst_ns = (int64_t)w->options->burst_ms * 1000000, now_ns = load_now_ns();
    w->next_burst_ns += burst_ns;
    if (w->next_burst_ns < now_ns)
        w->next_burst_ns = now_ns;
    const struct timespec until = {.tv_sec = w->next_burst_ns / LOAD_NS_PER_SECOND,
                                   .tv_nsec = w->next_burst_ns % LOAD_NS_PER_SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}

static void wait_for_events(struct work *w, int64_t now_ns)
{
    struct epoll_event events[MAX_EVENTS];
    struct timespec longest = {0};
    if (is_open_loop(w) && w->options->burst_ms > 0)
        wait_for_burst(w);
    else
        longest = time_to_wait(w, now_ns);
    int n = epoll_pwait2(w->epoll_fd, events, MAX_EVENTS, &longest, NULL);
    for (int i = 0; i < n && !w->error.status; i++) {
        struct load_client *client = events[i].data.ptr;
        struct load_reply reply;
        take_event(w, client, load_client_handle(client, events[i].events, &reply), &reply);
    }
    if (n < 0 && errno != EINTR)
        mt_fail(&w->error, MT_IO, "epoll: %s", strerror(errno));
}

/* ---- the run ---- */

static void set_address(struct work *w)
{
    uint16_t port = htons(w->options->port);
    if (strchr(w->options->host, ':')) {
        struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = port};
        address.sin6_addr = in6addr_loopback;
        memcpy(&w->address, &address, w->address_length = sizeof address);
    } else {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        memcpy(&w->address, &address, w->address_length = sizeof address);
    }
}

/* Where that is not allowed the run is worth as much as without. */
static enum mt_status watch_stalls(struct work *w, struct mt_error *err)
{
    enum mt_status status = load_stalls_start(&w->stalls, err);
    if (status == MT_UNSUPPORTED) {
        fprintf(stderr, "load: nobody watches for stalls: %s\n", err->message);
        *err = (struct mt_error){0};
        return MT_OK;
    }
    w->result->slowest_own_refusal_ns = 0;
    return status;
}

static enum mt_status prepare(struct work *w, struct mt_error *err)
{
    const struct load_options *o = w->options;
    size_t n = w->result->run.n_clients;
    w->clients = calloc(n, sizeof *w->clients);
    w->backlog_ns = calloc(MAX_BACKLOG, sizeof *w->backlog_ns);
    w->result->refusals = calloc(1, sizeof *w->result->refusals);
    if (!w->clients || !w->backlog_ns || !w->result->refusals)
        return mt_fail_memory(err, n * sizeof *w->clients, "clients");
    w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (w->epoll_fd < 0)
        return mt_fail(err, MT_IO, "epoll: %s", strerror(errno));
    set_address(w);
    double window = o->n_requests > 0 ? MAX_WINDOW_SECONDS : o->duration;
    w->next_arrival_ns = load_now_ns();
    w->from_ns = w->next_arrival_ns + (int64_t)(o->warm_up * LOAD_NS_PER_SECOND);
    w->until_ns = w->from_ns + (int64_t)(window * LOAD_NS_PER_SECOND);
    w->random = o->seed;
    return o->watches_stalls ? watch_stalls(w, err) : MT_OK;
}

static void release(struct work *w)
{
    if (w->stalls)
        w->result->longest_stall_ns = load_stalls_longest(w->stalls);
    load_stalls_stop(w->stalls);
    for (size_t i = 0; w->clients && i < w->result->run.n_clients; i++)
        load_client_finish(&w->clients[i]);
    free(w->clients);
    free(w->backlog_ns);
    if (w->epoll_fd >= 0)
        close(w->epoll_fd);
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum mt_status load_run(const struct load_options *options, const struct load_run *run,
                        const struct load_requests *requests, struct load_result *out,
                        struct mt_error *err)
{
    *out = (struct load_result){.run = *run, .slowest_own_refusal_ns = -1, .longest_stall_ns = -1};
    struct work w = {.options = options, .requests = requests, .result = out, .epoll_fd = -1};
    enum mt_status status = prepare(&w, &w.error);
    while (!status && !is_over(&w)) {
        int64_t now_ns = load_now_ns();
        take_arrivals(&w, now_ns);
        tend_all(&w, now_ns);
        pass_boundaries(&w, now_ns);
        if (is_over(&w))
            break;
        wait_for_events(&w, now_ns);
    }
    release(&w);
    if (w.error.status) {
        load_result_finish(out);
        return mt_fail(err, w.error.status, "%s", w.error.message);
    }
    if (out->n_latencies > 0)
        qsort(out->latencies_ns, out->n_latencies, sizeof *out->latencies_ns, compare_times);
    return MT_OK;
}

void load_result_finish(struct load_result *result)
{
    free(result->latencies_ns);
    free(result->refusals);
    result->latencies_ns = NULL;
    result->refusals = NULL;
    result->n_latencies = 0;
}

double load_percentile_ms(const struct load_result *result, double share)
{
    size_t n = result->n_latencies;
    if (n == 0)
        return NAN;
    size_t rank = (size_t)ceil(share * (double)n);
    return (double)result->latencies_ns[rank > 0 ? rank - 1 : 0] * 1e-6;
}
