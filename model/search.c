#include "model/search.h"

#include "base/real.h"
#include "base/size.h"

#include <assert.h>
#include <string.h>

/* A continuation of a beam by one token. */
struct candidate {
    float sum;
    float logprob; /* of the token, by the model */
    size_t beam;
    int32_t token;
};

#define MAX_CANDIDATES (2 * MT_MAX_BEAMS)

enum mt_status mt_search_init(struct mt_search *search, const struct mt_search_options *options,
                              struct mt_arena *arena, struct mt_error *err)
{
    size_t n_nodes;
    if (!mt_size_mul(options->max_length, options->n_beams, &n_nodes))
        return mt_fail(err, MT_LIMIT, "search: %zu x %zu nodes", options->max_length,
                       options->n_beams);
    void *nodes;
    enum mt_status status =
        mt_arena_take(arena, n_nodes, sizeof(struct mt_node), "search", &nodes, err);
    if (status)
        return status;
    *search = (struct mt_search){
        .options = *options, .n_live = 1, .width = options->n_beams, .nodes = nodes};
    /* At least one token has to come before eos. */
    if (options->rules == MT_SEARCH_CTRANSLATE2)
        search->options.min_length = mt_size_max(options->min_length, 2);
    return MT_OK;
}

enum mt_status mt_search_keep_log(struct mt_search *search, struct mt_arena *arena,
                                  struct mt_error *err)
{
    const struct mt_search_options *o = &search->options;
    void *log, *counts;
    enum mt_status status = mt_arena_take(arena, o->max_length * o->n_beams * 2,
                                          sizeof *search->log, "search log", &log, err);
    if (!status)
        status = mt_arena_take(arena, o->max_length, 1, "search log", &counts, err);
    if (status)
        return status;
    search->log = log;
    search->log_counts = counts;
    return MT_OK;
}

/* One more than the candidates is needed, because eos may have to be skipped. */
size_t mt_search_n_top(const struct mt_search *search)
{
    size_t n_beams = search->options.n_beams;
    return (n_beams == 1 ? 1 : 2 * n_beams) + 1;
}

static struct mt_node *node_at(const struct mt_search *search, size_t step, size_t beam)
{
    return &search->nodes[step * search->options.n_beams + beam];
}

void mt_search_force(struct mt_search *search, int32_t token, float logprob)
{
    assert(search->n_live == 1 && search->n_generated < search->options.max_length);
    int32_t parent = search->n_generated ? 0 : -1;
    *node_at(search, search->n_generated, 0) =
        (struct mt_node){.token = token, .parent = parent, .logprob = logprob};
    search->n_generated++;
    search->beams[0].sum += logprob;
    search->beams[0].parent = 0;
}

/* Ties are resolved by the lowest flat index beam * V + token, so that the order never depends on
 * how candidates were found. */
static bool ranks_before(const struct candidate *a, const struct candidate *b)
{
    if (a->sum != b->sum)
        return a->sum > b->sum;
    return a->beam != b->beam ? a->beam < b->beam : a->token < b->token;
}

static void candidate_insert(struct candidate *list, size_t *n, size_t capacity,
                             const struct candidate *c)
{
    if (*n == capacity && !ranks_before(c, &list[capacity - 1]))
        return;
    size_t at = *n < capacity ? (*n)++ : capacity - 1;
    while (at > 0 && ranks_before(c, &list[at - 1])) {
        list[at] = list[at - 1];
        at--;
    }
    list[at] = *c;
}

/* If eos is excluded from the distribution, then the other probabilities grow. If eos had nearly
 * all of it, then no digit of the difference is left, and the best of the others gets all of it,
 * but never more. */
static float mask_correction(const struct mt_search *search, const struct mt_row_output *output)
{
    size_t best = output->top[0].id == search->options.eos_id;
    if (!search->options.renormalize || output->top[best].id == MT_NO_TOKEN)
        return 0.0f;
    float correction =
        (float)-mt_real_log1p(-mt_real_exp((double)(output->eos_logit - output->log_sum_exp)));
    float most = output->log_sum_exp - output->top[best].logit;
    return correction < most ? correction : most;
}

/* Offers the continuations of one beam, best first, until they cannot enter the list of all beams'
 * best any more. */
static void offer_beam(const struct mt_search *search, size_t beam,
                       const struct mt_row_output *output, struct candidate *list, size_t *n,
                       size_t capacity)
{
    const struct mt_search_options *o = &search->options;
    float sum = search->beams[beam].sum;
    if (o->force_eos && search->n_generated + 1 == o->max_length) {
        const struct candidate end = {.sum = sum, .beam = beam, .token = o->eos_id};
        candidate_insert(list, n, capacity, &end);
        return;
    }
    bool eos_is_masked = search->n_generated + 1 < o->min_length;
    float correction = eos_is_masked ? mask_correction(search, output) : 0.0f;
    for (size_t i = 0; i < output->n_top && output->top[i].id != MT_NO_TOKEN; i++) {
        if (eos_is_masked && output->top[i].id == o->eos_id)
            continue;
        float logprob = output->top[i].logit - output->log_sum_exp;
        const struct candidate c = {.sum = sum + (logprob + correction),
                                    .logprob = logprob,
                                    .beam = beam,
                                    .token = output->top[i].id};
        candidate_insert(list, n, capacity, &c);
    }
}

static float normalized(const struct mt_search *search, float sum, size_t n_tokens)
{
    float n = (float)n_tokens;
    return (sum - n * search->options.word_penalty) /
           (float)mt_real_pow((double)n, (double)search->options.length_penalty);
}

/* The pool keeps its best n_beams; of equal ones the older. */
static void pool_insert(struct mt_search *search, const struct mt_finished *finished)
{
    size_t capacity = search->options.n_beams;
    if (search->n_finished == capacity && finished->score <= search->pool[capacity - 1].score)
        return;
    size_t at = search->n_finished < capacity ? search->n_finished++ : capacity - 1;
    while (at > 0 && search->pool[at - 1].score < finished->score) {
        search->pool[at] = search->pool[at - 1];
        at--;
    }
    search->pool[at] = *finished;
}

static void finish_candidate(struct mt_search *search, const struct candidate *c)
{
    size_t n_tokens = search->n_generated + 1;
    bool has_eos = c->token == search->options.eos_id;
    bool counts_eos = search->options.rules != MT_SEARCH_CTRANSLATE2 || n_tokens == 1;
    const struct mt_finished finished = {
        .score = normalized(search, c->sum, n_tokens - (has_eos && !counts_eos)),
        .n_tokens = n_tokens,
        .parent = n_tokens > 1 ? (int32_t)c->beam : -1,
        .token = c->token,
        .logprob = c->logprob,
        .has_eos = has_eos,
    };
    pool_insert(search, &finished);
}

static bool is_finished(const struct mt_search *search, const struct candidate *c)
{
    return c->token == search->options.eos_id ||
           search->n_generated + 1 >= search->options.max_length;
}

static void log_candidate(struct mt_search *search, const struct candidate *c,
                          enum mt_search_fate fate, size_t next)
{
    size_t step = search->n_generated;
    if (!search->log)
        return;
    search->log[step * search->options.n_beams * 2 + search->log_counts[step]++] =
        (struct mt_search_candidate){
            .beam = (int32_t)c->beam,
            .next = fate == MT_SEARCH_KEPT ? (int32_t)next : -1,
            .token = c->token,
            .logprob = c->logprob,
            .sum = c->sum,
            .fate = fate,
        };
}

/* Divides the candidates: the best that go on become the beams, and finished ones of rank < width
 * enter the pool. */
static void select_beams(struct mt_search *search, const struct candidate *list, size_t n)
{
    size_t width = search->width, n_live = 0;
    struct mt_beam next[MT_MAX_BEAMS];
    for (size_t rank = 0; rank < n; rank++) {
        const struct candidate *c = &list[rank];
        bool ends = is_finished(search, c);
        bool is_kept = !ends && n_live < width, is_pooled = ends && rank < width;
        search->best_has_ended = search->best_has_ended || (ends && rank == 0);
        log_candidate(search, c,
                      is_kept     ? MT_SEARCH_KEPT
                      : is_pooled ? MT_SEARCH_FINISHED
                                  : MT_SEARCH_DROPPED,
                      n_live);
        if (is_pooled) {
            finish_candidate(search, c);
        } else if (is_kept) {
            *node_at(search, search->n_generated, n_live) =
                (struct mt_node){.token = c->token,
                                 .parent = search->n_generated ? (int32_t)c->beam : -1,
                                 .logprob = c->logprob};
            next[n_live++] = (struct mt_beam){.sum = c->sum, .parent = c->beam};
        }
    }
    memcpy(search->beams, next, n_live * sizeof *next);
    search->n_live = n_live;
    if (search->options.rules == MT_SEARCH_MARIAN)
        search->width = n_live;
    search->n_generated++;
}

/* Whether no live beam can improve the pool any more, by the rules. */
static bool pool_is_final(const struct mt_search *search)
{
    const struct mt_search_options *o = &search->options;
    if (search->n_live == 0)
        return true;
    if (o->rules == MT_SEARCH_MARIAN)
        return false;
    if (o->rules == MT_SEARCH_CTRANSLATE2)
        return o->length_penalty == 0.0f
                   ? search->best_has_ended && search->n_finished >= o->n_wanted
                   : search->n_finished >= o->n_beams;
    if (search->n_finished < o->n_beams)
        return false;
    if (o->early_stopping == MT_STOP_AT_ONCE)
        return true;
    bool longest = o->early_stopping == MT_STOP_NEVER_EARLY && o->length_penalty > 0.0f;
    float best =
        normalized(search, search->beams[0].sum, longest ? o->max_length : search->n_generated);
    return best <= search->pool[o->n_beams - 1].score;
}

void mt_search_advance(struct mt_search *search, const struct mt_row_output *const *outputs)
{
    struct candidate list[MAX_CANDIDATES];
    bool has_spares = search->options.n_beams > 1 && search->options.rules != MT_SEARCH_MARIAN;
    size_t n = 0, capacity = has_spares ? 2 * search->width : search->width;
    for (size_t beam = 0; beam < search->n_live; beam++)
        offer_beam(search, beam, outputs[beam], list, &n, capacity);
    select_beams(search, list, n);
    search->is_done = pool_is_final(search);
}

int32_t mt_search_last_token(const struct mt_search *search, size_t beam)
{
    assert(search->n_generated > 0);
    return node_at(search, search->n_generated - 1, beam)->token;
}

/* A path through the tree: the node (step n - 1, beam) and all nodes before it. */
struct path {
    size_t n;
    int32_t beam;
};

static void shorten(const struct mt_search *search, struct path *path, size_t n)
{
    while (path->n > n) {
        path->n--;
        path->beam = node_at(search, path->n, (size_t)path->beam)->parent;
    }
}

/* Different nodes of a step are different token sequences, so the common part of two paths ends
 * where they meet. */
static void meet(const struct mt_search *search, struct path *path, struct path other)
{
    shorten(search, path, other.n);
    shorten(search, &other, path->n);
    while (path->n > 0 && path->beam != other.beam) {
        shorten(search, &other, path->n - 1);
        shorten(search, path, path->n - 1);
    }
}

size_t mt_search_common_prefix(const struct mt_search *search, int32_t *ids, size_t n_known)
{
    struct path common = {search->n_generated, 0};
    for (size_t beam = 1; beam < search->n_live; beam++)
        meet(search, &common, (struct path){search->n_generated, (int32_t)beam});
    for (size_t i = 0; i < search->n_finished; i++)
        meet(search, &common, (struct path){search->pool[i].n_tokens - 1, search->pool[i].parent});
    size_t n = common.n;
    while (common.n > n_known) {
        const struct mt_node *node = node_at(search, common.n - 1, (size_t)common.beam);
        ids[common.n - 1] = node->token;
        common = (struct path){common.n - 1, node->parent};
    }
    return mt_size_max(n, n_known);
}

void mt_search_path(const struct mt_search *search, const struct mt_finished *finished,
                    int32_t *ids, float *logprobs)
{
    size_t at = finished->n_tokens - 1;
    ids[at] = finished->token;
    logprobs[at] = finished->logprob;
    for (int32_t beam = finished->parent; at > 0;
         beam = node_at(search, at, (size_t)beam)->parent) {
        at--;
        const struct mt_node *node = node_at(search, at, (size_t)beam);
        ids[at] = node->token;
        logprobs[at] = node->logprob;
    }
}
