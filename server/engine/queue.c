#include "server/engine/queue.h"

#include "base/list.h"
#include "base/size.h"
#include "model/sentence.h"
#include "server/engine/engine.h"

#include <assert.h>
#include <stdlib.h>

/* A client that has waiting sentences. There are never more clients, nor flows, than jobs, and
 * never more jobs than max_jobs: a new request is put only where no more than max_sentences wait,
 * including its own, and beyond that only jobs of accepted requests are put. */
struct client {
    uint64_t key;       /* the client, or the address of the only job where it is client 0 */
    bool is_nobody;     /* the client is 0 */
    size_t n_sentences; /* its waiting sentences in all lanes */
    struct mt_queue_flow *flows; /* linked by next */
    struct client *next;         /* in its bucket, or in the free list */
};

struct jobs {
    struct mt_job *first, *last;
};

struct mt_queue_flow {
    struct client *client;
    struct mt_queue_lane *lane;
    /* Ordered by finish; of equals, the oldest first. */
    struct jobs short_jobs, long_jobs;
    struct jobs late;      /* long jobs that have little time left, by deadline */
    uint64_t virtual_time; /* the finish of the job that a sentence was last taken from */
    uint64_t received;     /* virtual time: the cost of all that was taken from it in this lane */
    uint64_t since;    /* number of the last change of received: of equals the oldest goes first */
    bool is_served;    /* sentences were taken from it, and more wait */
    size_t heap_index; /* its index in the lane's heap */
    struct mt_queue_flow *next; /* in its client's list, or in the free list */
};

struct mt_queue_lane {
    struct mt_queue_flow **heap; /* [max_jobs]: the flows of this lane, least received first */
    size_t n_flows;
    /* Where a new flow starts: at what the flow served last had received. It never decreases, or
     * flows that started earlier would stand behind all that come later. Each lane has its own, so
     * that a new flow is level with the others of its lane, whatever other lanes have served. */
    uint64_t virtual_time;
    struct mt_queue_lane *next, *previous;
};

struct mt_queue {
    size_t n_sentences, max_sentences;
    size_t n_follow_up, max_follow_up; /* further jobs of accepted requests */
    size_t max_jobs;
    size_t n_wanted;        /* how much room the largest job refused lately would have needed */
    struct client *clients; /* [max_jobs] */
    struct client *free_clients;
    struct mt_queue_flow *flows; /* [max_jobs] */
    struct mt_queue_flow *free_flows;
    struct client **buckets; /* [n_buckets], a power of two */
    size_t n_buckets;
    struct {
        struct mt_queue_lane *first, *last;
    } lanes;
    uint64_t clock;
    /* waiting jobs that have a deadline, linked by sooner and later, soonest first */
    struct jobs deadlines;
    int64_t late_ns;
    /* this job and all with a sooner deadline are late; NULL: none is */
    struct mt_job *last_late;
};

static enum mt_status take_memory(struct mt_queue *queue, struct mt_error *err)
{
    size_t n = queue->max_jobs;
    queue->n_buckets = 16;
    while (queue->n_buckets < n)
        queue->n_buckets *= 2;
    queue->clients = calloc(n, sizeof *queue->clients);
    queue->flows = calloc(n, sizeof *queue->flows);
    queue->buckets = calloc(queue->n_buckets, sizeof *queue->buckets);
    if (!queue->clients || !queue->flows || !queue->buckets)
        return mt_fail_memory(err,
                              n * (sizeof *queue->clients + sizeof *queue->flows) +
                                  queue->n_buckets * sizeof *queue->buckets,
                              "the queue");
    return MT_OK;
}

enum mt_status mt_queue_create(size_t max_sentences, size_t max_follow_up, int64_t late_ns,
                               struct mt_queue **out, struct mt_error *err)
{
    if (max_sentences < 1 || max_sentences > SIZE_MAX / 256)
        return mt_fail(err, MT_INVALID, "a queue of %zu sentences: expected 1 to %zu",
                       max_sentences, SIZE_MAX / 256);
    if (max_follow_up > SIZE_MAX / 256)
        return mt_fail(err, MT_INVALID, "a queue of %zu more jobs: expected at most %zu",
                       max_follow_up, SIZE_MAX / 256);
    struct mt_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return mt_fail_memory(err, sizeof *queue, "the queue");
    queue->max_sentences = max_sentences;
    queue->max_follow_up = max_follow_up;
    queue->late_ns = late_ns;
    queue->max_jobs = max_sentences + max_follow_up;
    enum mt_status status = take_memory(queue, err);
    if (status) {
        mt_queue_destroy(queue);
        return status;
    }
    for (size_t i = 0; i < queue->max_jobs; i++) {
        queue->clients[i].next = queue->free_clients;
        queue->free_clients = &queue->clients[i];
        queue->flows[i].next = queue->free_flows;
        queue->free_flows = &queue->flows[i];
    }
    *out = queue;
    return MT_OK;
}

static void free_lane(struct mt_queue_lane *lane)
{
    free(lane->heap);
    free(lane);
}

void mt_queue_destroy(struct mt_queue *queue)
{
    if (!queue)
        return;
    for (struct mt_queue_lane *lane = queue->lanes.first, *next; lane; lane = next) {
        next = lane->next;
        free_lane(lane);
    }
    free(queue->clients);
    free(queue->flows);
    free(queue->buckets);
    free(queue);
}

enum mt_status mt_queue_add_lane(struct mt_queue *queue, struct mt_queue_lane **out,
                                 struct mt_error *err)
{
    struct mt_queue_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return mt_fail_memory(err, sizeof *lane, "a lane of the queue");
    lane->heap = calloc(queue->max_jobs, sizeof(struct mt_queue_flow *));
    if (!lane->heap) {
        free(lane);
        return mt_fail_memory(err, queue->max_jobs * sizeof(struct mt_queue_flow *),
                              "a lane of the queue");
    }
    MT_LIST_PREPEND(&queue->lanes, lane);
    *out = lane;
    return MT_OK;
}

void mt_queue_remove_lane(struct mt_queue *queue, struct mt_queue_lane *lane)
{
    if (!lane)
        return;
    assert(!lane->n_flows);
    MT_LIST_REMOVE(&queue->lanes, lane);
    free_lane(lane);
}

size_t mt_queue_n_sentences(const struct mt_queue *queue)
{
    return queue->n_sentences;
}

bool mt_queue_is_full(const struct mt_queue *queue)
{
    return queue->n_sentences + mt_size_max(queue->n_wanted, 1) > queue->max_sentences;
}

/* --- a lane's heap --- */

static bool comes_before(const struct mt_queue_flow *a, const struct mt_queue_flow *b)
{
    return a->received != b->received ? a->received < b->received : a->since < b->since;
}

static void put_in_heap(struct mt_queue_flow *flow, size_t heap_index)
{
    flow->lane->heap[heap_index] = flow;
    flow->heap_index = heap_index;
}

static void sift_up(struct mt_queue_flow *flow)
{
    struct mt_queue_flow **heap = flow->lane->heap;
    size_t heap_index = flow->heap_index;
    while (heap_index > 0 && comes_before(flow, heap[(heap_index - 1) / 2])) {
        put_in_heap(heap[(heap_index - 1) / 2], heap_index);
        heap_index = (heap_index - 1) / 2;
    }
    put_in_heap(flow, heap_index);
}

static void sift_down(struct mt_queue_flow *flow)
{
    const struct mt_queue_lane *lane = flow->lane;
    size_t heap_index = flow->heap_index;
    for (;;) {
        size_t child = 2 * heap_index + 1;
        if (child >= lane->n_flows)
            break;
        if (child + 1 < lane->n_flows && comes_before(lane->heap[child + 1], lane->heap[child]))
            child++;
        if (comes_before(flow, lane->heap[child]))
            break;
        put_in_heap(lane->heap[child], heap_index);
        heap_index = child;
    }
    put_in_heap(flow, heap_index);
}

/* --- the table of clients, and their flows --- */

static uint64_t key_of(const struct mt_job *job)
{
    return job->client ? job->client : (uint64_t)(uintptr_t)job;
}

static struct client **bucket(struct mt_queue *queue, uint64_t key)
{
    /* Fibonacci hashing, because clients may be small numbers, or addresses with zeros at the
     * end. */
    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15);
    return &queue->buckets[(hash >> 32) & (queue->n_buckets - 1)];
}

static struct client *find_client(struct mt_queue *queue, const struct mt_job *job)
{
    uint64_t key = key_of(job);
    struct client *client = *bucket(queue, key);
    while (client && (client->key != key || client->is_nobody != (job->client == 0)))
        client = client->next;
    return client;
}

static struct client *add_client(struct mt_queue *queue, const struct mt_job *job)
{
    struct client *client = queue->free_clients;
    assert(client);
    queue->free_clients = client->next;
    struct client **head = bucket(queue, key_of(job));
    *client = (struct client){.key = key_of(job), .is_nobody = job->client == 0, .next = *head};
    *head = client;
    return client;
}

static void remove_client(struct mt_queue *queue, struct client *client)
{
    struct client **link = bucket(queue, client->key);
    while (*link != client)
        link = &(*link)->next;
    *link = client->next;
    client->next = queue->free_clients;
    queue->free_clients = client;
}

static struct mt_queue_flow *find_flow(const struct client *client,
                                       const struct mt_queue_lane *lane)
{
    struct mt_queue_flow *flow = client->flows;
    while (flow && flow->lane != lane)
        flow = flow->next;
    return flow;
}

static struct mt_queue_flow *add_flow(struct mt_queue *queue, struct client *client,
                                      struct mt_queue_lane *lane)
{
    struct mt_queue_flow *flow = queue->free_flows;
    assert(flow);
    queue->free_flows = flow->next;
    *flow = (struct mt_queue_flow){
        .client = client,
        .lane = lane,
        .received = lane->virtual_time,
        .since = queue->clock++,
        .heap_index = lane->n_flows++,
        .next = client->flows,
    };
    client->flows = flow;
    sift_up(flow);
    return flow;
}

static void remove_flow(struct mt_queue *queue, struct mt_queue_flow *flow)
{
    struct mt_queue_lane *lane = flow->lane;
    struct mt_queue_flow *last = lane->heap[--lane->n_flows];
    if (last != flow) {
        last->heap_index = flow->heap_index;
        sift_up(last);
        sift_down(last);
    }
    struct client *client = flow->client;
    struct mt_queue_flow **link = &client->flows;
    while (*link != flow)
        link = &(*link)->next;
    *link = flow->next;
    flow->next = queue->free_flows;
    queue->free_flows = flow;
    if (!client->flows)
        remove_client(queue, client);
}

/* --- a flow's jobs --- */

uint64_t mt_queue_cost(const struct mt_sentence *sentence)
{
    return (uint64_t)(mt_sentence_n_source(sentence) * mt_sentence_n_rows(sentence));
}

static bool is_short(const struct mt_job *job)
{
    size_t n_tokens = 0;
    for (size_t i = 0; i < job->n_sentences && n_tokens <= MT_QUEUE_SHORT_TOKENS; i++)
        n_tokens += mt_sentence_n_source(job->sentences[i]);
    return n_tokens <= MT_QUEUE_SHORT_TOKENS;
}

static struct jobs *jobs_of(struct mt_queue_flow *flow, const struct mt_job *job)
{
    return job->is_short ? &flow->short_jobs : job->is_late ? &flow->late : &flow->long_jobs;
}

/* A new job mostly has a late finish, so its position is sought from the end. */
static void put_in(struct jobs *jobs, struct mt_job *job)
{
    struct mt_job *previous = jobs->last;
    while (previous && previous->finish > job->finish)
        previous = previous->previous;
    MT_LIST_INSERT(jobs, job, previous);
}

/*
 * Jobs of a flow are served by the virtual time at which their next sentence would be done, and
 * that time advances with what is taken (self-clocked fair queueing: Golestani 1994). So a new job
 * has its first sentence done before that of another one that costs more, and no job waits for
 * ever, because each new one starts later.
 */
static struct mt_job *next_job(const struct mt_queue_flow *flow)
{
    struct mt_job *short_job = flow->short_jobs.first, *long_job = flow->long_jobs.first;
    if (flow->late.first)
        return flow->late.first;
    if (!short_job || !long_job)
        return short_job ? short_job : long_job;
    return short_job->finish <= long_job->finish ? short_job : long_job;
}

static void add_job(struct mt_queue_flow *flow, struct mt_job *job)
{
    job->flow = flow;
    job->is_short = is_short(job);
    job->finish = flow->virtual_time + mt_queue_cost(job->sentences[0]);
    put_in(jobs_of(flow, job), job);
}

static void take_from_job(struct mt_queue_flow *flow, struct mt_job *job)
{
    struct jobs *jobs = jobs_of(flow, job);
    bool is_last = job->n_taken + 1 == job->n_sentences;
    if (flow->virtual_time < job->finish)
        flow->virtual_time = job->finish;
    if (!job->is_late || is_last)
        MT_LIST_REMOVE(jobs, job);
    if (is_last)
        return;
    job->finish += mt_queue_cost(job->sentences[job->n_taken + 1]);
    if (!job->is_late)
        put_in(jobs, job);
}

/* --- deadlines --- */

/* Short jobs have rows of their own and are not made late. */
static void make_late(struct mt_job *job)
{
    struct jobs *late = &job->flow->late;
    struct mt_job *previous = late->last;
    if (job->is_short)
        return;
    MT_LIST_REMOVE(&job->flow->long_jobs, job);
    job->is_late = true;
    while (previous && previous->deadline_ns > job->deadline_ns)
        previous = previous->previous;
    MT_LIST_INSERT(late, job, previous);
}

void mt_queue_promote_late(struct mt_queue *queue, int64_t now_ns)
{
    if (queue->late_ns == 0)
        return;
    struct mt_job *job = queue->last_late ? queue->last_late->later : queue->deadlines.first;
    for (; job && job->deadline_ns - queue->late_ns < now_ns; job = job->later) {
        make_late(job);
        queue->last_late = job;
    }
}

/* Most requests have the same timeout, so a new job mostly has the latest deadline. */
static void put_deadline(struct mt_queue *queue, struct mt_job *job)
{
    struct mt_job *sooner = queue->deadlines.last;
    if (!job->deadline_ns)
        return;
    while (sooner && sooner->deadline_ns > job->deadline_ns)
        sooner = sooner->sooner;
    MT_LIST_INSERT_BY(&queue->deadlines, job, sooner, later, sooner);
    if (queue->last_late && job->deadline_ns < queue->last_late->deadline_ns)
        make_late(job);
}

static void take_deadline(struct mt_queue *queue, struct mt_job *job)
{
    if (!job->deadline_ns)
        return;
    if (queue->last_late == job)
        queue->last_late = job->sooner;
    MT_LIST_REMOVE_BY(&queue->deadlines, job, later, sooner);
}

/* --- the queue --- */

/* A job that ends here is no longer in a list of its flow. */
static void count_out(struct mt_queue *queue, struct mt_queue_flow *flow, struct mt_job *job,
                      size_t n)
{
    queue->n_sentences -= n;
    if (queue->n_sentences <= queue->max_sentences / 2)
        queue->n_wanted = 0;
    flow->client->n_sentences -= n;
    job->n_taken += n;
    if (job->n_taken < job->n_sentences)
        return;
    queue->n_follow_up -= job->n_follow_up > 0;
    take_deadline(queue, job);
    if (!next_job(flow))
        remove_flow(queue, flow);
}

static enum mt_status refuse(struct mt_queue *queue, const struct mt_job *job, struct mt_error *err)
{
    size_t n_reserved = mt_size_min(job->n_sentences, queue->max_sentences / MT_QUEUE_RESERVED);
    queue->n_wanted = mt_size_max(queue->n_wanted, n_reserved);
    return mt_fail(err, MT_BUSY,
                   "the queue is full: %zu sentences wait, and %zu more would be "
                   "over the limit of %zu",
                   queue->n_sentences, job->n_sentences, queue->max_sentences);
}

static bool has_room(const struct mt_queue *queue, const struct mt_job *job)
{
    if (job->n_follow_up > 0 && queue->n_follow_up < queue->max_follow_up)
        return true;
    return queue->n_sentences <= queue->max_sentences &&
           job->n_sentences <= queue->max_sentences - queue->n_sentences;
}

static bool is_over_share(const struct client *client, const struct mt_job *job)
{
    return client && job->max_client_sentences && job->n_sentences > job->n_follow_up &&
           client->n_sentences + job->n_sentences > job->max_client_sentences;
}

enum mt_status mt_queue_put(struct mt_queue *queue, struct mt_queue_lane *lane, struct mt_job *job,
                            struct mt_error *err)
{
    if (!has_room(queue, job))
        return refuse(queue, job, err);
    struct client *client = find_client(queue, job);
    if (is_over_share(client, job))
        return mt_fail(err, MT_THROTTLED,
                       "this client has %zu sentences waiting, and %zu more would be over its "
                       "share of %zu",
                       client->n_sentences, job->n_sentences, job->max_client_sentences);
    if (!client)
        client = add_client(queue, job);
    struct mt_queue_flow *flow = find_flow(client, lane);
    if (!flow)
        flow = add_flow(queue, client, lane);
    add_job(flow, job);
    put_deadline(queue, job);
    client->n_sentences += job->n_sentences;
    queue->n_sentences += job->n_sentences;
    queue->n_follow_up += job->n_follow_up > 0;
    return MT_OK;
}

/* Returns the next short job of the client that has received least among those that have a short
 * job. */
static struct mt_job *next_short_job(const struct mt_queue_lane *lane)
{
    const struct mt_queue_flow *next = NULL;
    for (size_t i = 0; i < lane->n_flows; i++) {
        const struct mt_queue_flow *flow = lane->heap[i];
        if (flow->short_jobs.first && (!next || comes_before(flow, next)))
            next = flow;
    }
    return next ? next->short_jobs.first : NULL;
}

struct mt_sentence *mt_queue_peek(const struct mt_queue_lane *lane, bool is_short,
                                  struct mt_job **out_job)
{
    if (!lane->n_flows)
        return NULL;
    struct mt_job *job = is_short ? next_short_job(lane) : next_job(lane->heap[0]);
    *out_job = job;
    return job ? job->sentences[job->n_taken] : NULL;
}

/* What a client received is forgotten when it leaves. So clients that come again with each single
 * sentence would always go before a document. To prevent that, a client that leaves moves the start
 * of new flows up to what it received, but not beyond flows that were served and have more
 * waiting. */
static uint64_t start_behind(const struct mt_queue_lane *lane, uint64_t received)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < lane->n_flows; i++)
        if (lane->heap[i]->is_served && lane->heap[i]->received < least)
            least = lane->heap[i]->received;
    if (least == UINT64_MAX)
        return lane->virtual_time;
    least = least < received ? least : received;
    return least > lane->virtual_time ? least : lane->virtual_time;
}

void mt_queue_take(struct mt_queue *queue, struct mt_queue_lane *lane, struct mt_job *job)
{
    struct mt_queue_flow *flow = job->flow;
    if (lane->virtual_time < flow->received)
        lane->virtual_time = flow->received;
    flow->received += mt_queue_cost(job->sentences[job->n_taken]);
    flow->is_served = true;
    flow->since = queue->clock++;
    sift_down(flow);
    uint64_t received = flow->received;
    take_from_job(flow, job);
    bool is_leaving = !next_job(flow);
    count_out(queue, flow, job, 1);
    if (is_leaving)
        lane->virtual_time = start_behind(lane, received);
}

void mt_queue_remove(struct mt_queue *queue, struct mt_queue_lane *lane, struct mt_job *job)
{
    assert(job->n_taken < job->n_sentences);
    struct mt_queue_flow *flow = job->flow;
    MT_LIST_REMOVE(jobs_of(flow, job), job);
    count_out(queue, flow, job, job->n_sentences - job->n_taken);
}

struct mt_job *mt_queue_find_expired(const struct mt_queue *queue, int64_t now_ns)
{
    struct mt_job *job = queue->deadlines.first;
    return job && job->deadline_ns <= now_ns ? job : NULL;
}
