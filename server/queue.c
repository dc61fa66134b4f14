#include "server/queue.h"

#include "base/size.h"
#include "model/sentence.h"
#include "server/engine.h"

#include <assert.h>
#include <stdlib.h>

/* A client with waiting sentences. There are never more of them than sentences. */
struct flow {
    uint64_t key;   /* the client, or the address of the only job of nobody */
    bool is_nobody; /* client 0 */
    struct mt_job *first, *last;
    size_t n_sentences; /* waiting */
    uint64_t received;  /* virtual time: the cost of what it was served */
    uint64_t since;     /* when that changed, counted: breaks ties, longest ago first */
    size_t place;       /* in the heap */
    struct flow *next;  /* in its bucket, or in the free list */
};

struct mt_queue {
    size_t n_sentences, max_sentences;
    struct flow *flows; /* [max_sentences] */
    struct flow *free;
    struct flow **buckets; /* [n_buckets], a power of two */
    size_t n_buckets;
    struct flow **heap; /* the flows in use, least received first */
    size_t n_flows;
    uint64_t virtual_time; /* received, of the flow that was served last */
    uint64_t clock;
    int64_t earliest_deadline_ns; /* no waiting job's is before; INT64_MAX: none has one */
};

static enum mt_status take_memory(struct mt_queue *queue, struct mt_error *err)
{
    size_t n = queue->max_sentences;
    queue->n_buckets = 16;
    while (queue->n_buckets < n)
        queue->n_buckets *= 2;
    queue->flows = calloc(n, sizeof *queue->flows);
    queue->heap = calloc(n, sizeof *queue->heap);
    queue->buckets = calloc(queue->n_buckets, sizeof *queue->buckets);
    if (!queue->flows || !queue->heap || !queue->buckets)
        return mt_fail_memory(err, n * (sizeof *queue->flows + 2 * sizeof *queue->heap),
                              "the queue");
    return MT_OK;
}

enum mt_status mt_queue_create(size_t max_sentences, struct mt_queue **out, struct mt_error *err)
{
    if (max_sentences < 1 || max_sentences > SIZE_MAX / 256)
        return mt_fail(err, MT_INVALID, "a queue of %zu sentences: expected 1 to %zu",
                       max_sentences, SIZE_MAX / 256);
    struct mt_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return mt_fail_memory(err, sizeof *queue, "the queue");
    queue->max_sentences = max_sentences;
    queue->earliest_deadline_ns = INT64_MAX;
    enum mt_status status = take_memory(queue, err);
    if (status) {
        mt_queue_destroy(queue);
        return status;
    }
    for (size_t i = 0; i < max_sentences; i++) {
        queue->flows[i].next = queue->free;
        queue->free = &queue->flows[i];
    }
    *out = queue;
    return MT_OK;
}

void mt_queue_destroy(struct mt_queue *queue)
{
    if (!queue)
        return;
    free(queue->flows);
    free(queue->heap);
    free(queue->buckets);
    free(queue);
}

size_t mt_queue_n_sentences(const struct mt_queue *queue)
{
    return queue->n_sentences;
}

/* --- the heap --- */

static bool comes_before(const struct flow *a, const struct flow *b)
{
    return a->received != b->received ? a->received < b->received : a->since < b->since;
}

static void set_place(struct mt_queue *queue, struct flow *flow, size_t place)
{
    queue->heap[place] = flow;
    flow->place = place;
}

static void sift_up(struct mt_queue *queue, struct flow *flow)
{
    size_t place = flow->place;
    while (place > 0 && comes_before(flow, queue->heap[(place - 1) / 2])) {
        set_place(queue, queue->heap[(place - 1) / 2], place);
        place = (place - 1) / 2;
    }
    set_place(queue, flow, place);
}

static void sift_down(struct mt_queue *queue, struct flow *flow)
{
    size_t place = flow->place;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= queue->n_flows)
            break;
        if (child + 1 < queue->n_flows && comes_before(queue->heap[child + 1], queue->heap[child]))
            child++;
        if (comes_before(flow, queue->heap[child]))
            break;
        set_place(queue, queue->heap[child], place);
        place = child;
    }
    set_place(queue, flow, place);
}

/* --- the table of flows --- */

static uint64_t key_of(const struct mt_job *job)
{
    return job->client ? job->client : (uint64_t)(uintptr_t)job;
}

static struct flow **bucket(struct mt_queue *queue, uint64_t key)
{
    /* Fibonacci hashing: clients may be small numbers, or addresses with zeros at the end. */
    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15);
    return &queue->buckets[(hash >> 32) & (queue->n_buckets - 1)];
}

static struct flow *find_flow(struct mt_queue *queue, const struct mt_job *job)
{
    uint64_t key = key_of(job);
    struct flow *flow = *bucket(queue, key);
    while (flow && (flow->key != key || flow->is_nobody != (job->client == 0)))
        flow = flow->next;
    return flow;
}

static struct flow *add_flow(struct mt_queue *queue, const struct mt_job *job)
{
    struct flow *flow = queue->free;
    assert(flow);
    queue->free = flow->next;
    struct flow **head = bucket(queue, key_of(job));
    *flow = (struct flow){
        .key = key_of(job),
        .is_nobody = job->client == 0,
        .received = queue->virtual_time,
        .since = queue->clock++,
        .place = queue->n_flows++,
        .next = *head,
    };
    *head = flow;
    sift_up(queue, flow);
    return flow;
}

static void remove_flow(struct mt_queue *queue, struct flow *flow)
{
    struct flow *last = queue->heap[--queue->n_flows];
    if (last != flow) {
        last->place = flow->place;
        sift_up(queue, last);
        sift_down(queue, last);
    }
    struct flow **link = bucket(queue, flow->key);
    while (*link != flow)
        link = &(*link)->next;
    *link = flow->next;
    flow->next = queue->free;
    queue->free = flow;
}

static void append_job(struct flow *flow, struct mt_job *job)
{
    job->next = NULL;
    job->previous = flow->last;
    if (flow->last)
        flow->last->next = job;
    else
        flow->first = job;
    flow->last = job;
}

static void unlink_job(struct mt_queue *queue, struct flow *flow, struct mt_job *job)
{
    if (job->previous)
        job->previous->next = job->next;
    else
        flow->first = job->next;
    if (job->next)
        job->next->previous = job->previous;
    else
        flow->last = job->previous;
    job->next = job->previous = NULL;
    if (!flow->first)
        remove_flow(queue, flow);
}

/* --- the queue --- */

static uint64_t cost(const struct mt_sentence *sentence)
{
    return (uint64_t)(mt_sentence_n_source(sentence) * mt_sentence_n_rows(sentence));
}

enum mt_status mt_queue_put(struct mt_queue *queue, struct mt_job *job, struct mt_error *err)
{
    if (job->n_sentences > queue->max_sentences - queue->n_sentences)
        return mt_fail(err, MT_BUSY,
                       "the queue is full: %zu sentences wait, and %zu more would be "
                       "over the limit of %zu",
                       queue->n_sentences, job->n_sentences, queue->max_sentences);
    struct flow *flow = find_flow(queue, job);
    if (flow && job->max_client_sentences &&
        flow->n_sentences + job->n_sentences > job->max_client_sentences)
        return mt_fail(err, MT_THROTTLED,
                       "this client has %zu sentences waiting, and %zu more would be over its "
                       "share of %zu",
                       flow->n_sentences, job->n_sentences, job->max_client_sentences);
    if (!flow)
        flow = add_flow(queue, job);
    append_job(flow, job);
    flow->n_sentences += job->n_sentences;
    queue->n_sentences += job->n_sentences;
    if (job->deadline_ns && job->deadline_ns < queue->earliest_deadline_ns)
        queue->earliest_deadline_ns = job->deadline_ns;
    return MT_OK;
}

struct mt_sentence *mt_queue_peek(const struct mt_queue *queue, struct mt_job **out_job)
{
    if (!queue->n_flows)
        return NULL;
    struct mt_job *job = queue->heap[0]->first;
    *out_job = job;
    return job->sentences[job->n_taken];
}

void mt_queue_take(struct mt_queue *queue)
{
    assert(queue->n_flows);
    struct flow *flow = queue->heap[0];
    struct mt_job *job = flow->first;
    queue->virtual_time = flow->received;
    flow->received += cost(job->sentences[job->n_taken]);
    flow->since = queue->clock++;
    sift_down(queue, flow);

    queue->n_sentences--;
    flow->n_sentences--;
    job->n_taken++;
    if (job->n_taken == job->n_sentences)
        unlink_job(queue, flow, job);
}

void mt_queue_remove(struct mt_queue *queue, struct mt_job *job)
{
    assert(job->n_taken < job->n_sentences);
    struct flow *flow = find_flow(queue, job);
    assert(flow);
    queue->n_sentences -= job->n_sentences - job->n_taken;
    flow->n_sentences -= job->n_sentences - job->n_taken;
    job->n_taken = job->n_sentences;
    unlink_job(queue, flow, job);
}

struct mt_job *mt_queue_find_expired(struct mt_queue *queue, int64_t now_ns)
{
    if (now_ns < queue->earliest_deadline_ns)
        return NULL;
    int64_t earliest = INT64_MAX;
    for (size_t i = 0; i < queue->n_flows; i++) {
        for (struct mt_job *job = queue->heap[i]->first; job; job = job->next) {
            if (!job->deadline_ns)
                continue;
            if (job->deadline_ns <= now_ns)
                return job;
            if (job->deadline_ns < earliest)
                earliest = job->deadline_ns;
        }
    }
    queue->earliest_deadline_ns = earliest;
    return NULL;
}
