#include "base/size.h"
#include "base/text.h"
#include "server/models/catalog_state.h"
#include "server/models/model_host.h"

#include <stdlib.h>
#include <string.h>

/* More pairs than that are of nobody's use; a model of 100 languages both ways has 9,900. */
#define MAX_EDGES ((size_t)1 << 20)
#define NO_EDGE SIZE_MAX

/* ---- building ---- */

static int compare_codes(const void *a, const void *b)
{
    return strcmp(a, b);
}

static size_t index_of(const struct mt_language_graph *graph, const char *code)
{
    const char(*found)[MT_LANGUAGE_BYTES] =
        bsearch(code, graph->languages, graph->n_languages, MT_LANGUAGE_BYTES, compare_codes);
    return (size_t)(found - graph->languages);
}

static enum mt_status collect_languages(struct mt_catalog *catalog, size_t n_mentions,
                                        struct mt_error *err)
{
    struct mt_language_graph *graph = &catalog->graph;
    graph->languages = calloc(mt_size_max(n_mentions, 1), MT_LANGUAGE_BYTES);
    if (!graph->languages)
        return mt_fail_memory(err, n_mentions * MT_LANGUAGE_BYTES, "languages");
    size_t n = 0, n_different = 0;
    for (size_t i = 0; i < catalog->n; i++) {
        const struct mt_served_model_info *info = mt_served_model_info(catalog->models[i]);
        for (size_t k = 0; k < info->n_sources && !catalog->has_failed[i]; k++)
            memcpy(graph->languages[n++], info->sources[k].code, MT_LANGUAGE_BYTES);
        for (size_t k = 0; k < info->n_targets && !catalog->has_failed[i]; k++)
            memcpy(graph->languages[n++], info->targets[k].code, MT_LANGUAGE_BYTES);
    }
    qsort(graph->languages, n, MT_LANGUAGE_BYTES, compare_codes);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(graph->languages[i], graph->languages[n_different - 1]) != 0)
            memmove(graph->languages[n_different++], graph->languages[i], MT_LANGUAGE_BYTES);
    graph->n_languages = n_different;
    if (n_different > MT_MAX_CATALOG_LANGUAGES)
        return mt_fail(err, MT_LIMIT, "the models have %zu languages, expected at most %d",
                       n_different, MT_MAX_CATALOG_LANGUAGES);
    return MT_OK;
}

static enum mt_status collect_edges(struct mt_catalog *catalog, size_t n_edges,
                                    struct mt_error *err)
{
    struct mt_language_graph *graph = &catalog->graph;
    graph->edges = calloc(mt_size_max(n_edges, 1), sizeof graph->edges[0]);
    if (!graph->edges)
        return mt_fail_memory(err, n_edges * sizeof graph->edges[0], "pairs of languages");
    for (size_t i = 0; i < catalog->n; i++) {
        const struct mt_served_model_info *info = mt_served_model_info(catalog->models[i]);
        if (catalog->has_failed[i])
            continue;
        for (size_t s = 0; s < info->n_sources; s++)
            for (size_t t = 0; t < info->n_targets; t++)
                graph->edges[graph->n_edges++] = (struct mt_catalog_edge){
                    .model = i,
                    .from = index_of(graph, info->sources[s].code),
                    .to = index_of(graph, info->targets[t].code),
                    .source = &info->sources[s],
                    .target = &info->targets[t],
                };
    }
    return MT_OK;
}

static unsigned char how_served(const char *asked, const char *offered)
{
    if (strcmp(asked, offered) == 0)
        return 2;
    return mt_language_matches(asked, offered);
}

static enum mt_status compare_languages(struct mt_language_graph *graph, struct mt_error *err)
{
    size_t n = graph->n_languages;
    graph->serves = calloc(mt_size_max(n * n, 1), 1);
    graph->hops = calloc(mt_size_max(n * n, 1), 1);
    if (!graph->serves || !graph->hops)
        return mt_fail_memory(err, 2 * n * n, "pairs of languages");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            graph->serves[i * n + j] = how_served(graph->languages[i], graph->languages[j]);
    return MT_OK;
}

/* Languages that say the same are not reached by a detour. */
static bool is_detour(const struct mt_language_graph *graph, size_t from, size_t to)
{
    size_t n = graph->n_languages;
    return graph->serves[from * n + to] || graph->serves[to * n + from];
}

/* All that is reached from one language, breadth first. A language that is asked for is also
 * reached where one that serves it is. */
static void count_hops(struct mt_language_graph *graph, size_t from)
{
    size_t n = graph->n_languages;
    unsigned char *hops = graph->hops + from * n;
    for (unsigned char level = 1; level <= MT_MAX_ROUTE; level++)
        for (size_t e = 0; e < graph->n_edges; e++) {
            const struct mt_catalog_edge *edge = &graph->edges[e];
            bool is_open = level == 1 && graph->serves[from * n + edge->from];
            for (size_t via = 0; via < n && !is_open && level > 1; via++)
                is_open = hops[via] == level - 1 && graph->serves[via * n + edge->from];
            for (size_t to = 0; to < n && is_open; to++)
                if (hops[to] == 0 && graph->serves[to * n + edge->to] &&
                    (level == 1 || !is_detour(graph, from, to)))
                    hops[to] = level;
        }
}

enum mt_status mt_language_graph_build(struct mt_catalog *catalog, struct mt_error *err)
{
    size_t n_mentions = 0, n_edges = 0;
    for (size_t i = 0; i < catalog->n; i++) {
        const struct mt_served_model_info *info = mt_served_model_info(catalog->models[i]);
        if (catalog->has_failed[i])
            continue;
        n_mentions += info->n_sources + info->n_targets;
        n_edges += info->n_sources * info->n_targets;
    }
    if (n_edges > MAX_EDGES)
        return mt_fail(err, MT_LIMIT,
                       "the models have %zu pairs of languages, expected at most %zu", n_edges,
                       MAX_EDGES);
    enum mt_status status = collect_languages(catalog, n_mentions, err);
    if (!status)
        status = collect_edges(catalog, n_edges, err);
    if (!status)
        status = compare_languages(&catalog->graph, err);
    for (size_t i = 0; i < catalog->graph.n_languages && !status; i++)
        count_hops(&catalog->graph, i);
    return status;
}

void mt_language_graph_finish(struct mt_language_graph *graph)
{
    free(graph->languages);
    free(graph->edges);
    free(graph->hops);
    free(graph->serves);
}

size_t mt_catalog_n_languages(const struct mt_catalog *catalog)
{
    return catalog->graph.n_languages;
}

const char *mt_catalog_language(const struct mt_catalog *catalog, size_t i)
{
    return catalog->graph.languages[i];
}

size_t mt_catalog_hops(const struct mt_catalog *catalog, size_t from, size_t to)
{
    return catalog->graph.hops[from * catalog->graph.n_languages + to];
}

/* ---- searching ---- */

/* The best way of a given number of models that ends with an edge. */
struct way {
    unsigned exactness; /* sum of how_served, at both ends and at the joints */
    double quality;     /* sum over its models */
    size_t last;        /* NO_EDGE: there is none */
    size_t before;      /* the language whose way of one model less this one continues */
};

struct search {
    const struct mt_catalog *catalog;
    const char *source, *target;
    unsigned char *starts, *ends; /* [n_languages]: how each serves source, and target */
    bool *is_usable;              /* [n models] */
    struct way *ways;             /* [MT_MAX_ROUTE, n_languages]: the best one to each language */
};

static bool is_better(const struct way *a, const struct way *b)
{
    if (a->last == NO_EDGE || b->last == NO_EDGE)
        return b->last == NO_EDGE && a->last != NO_EDGE;
    if (a->exactness != b->exactness)
        return a->exactness > b->exactness;
    if (a->quality != b->quality)
        return a->quality > b->quality;
    return a->last < b->last;
}

/* The best way of n_before models to where the edge begins. */
static struct way best_before(const struct search *search, const struct mt_catalog_edge *edge,
                              size_t n_before)
{
    const struct mt_language_graph *graph = &search->catalog->graph;
    struct way best = {.last = NO_EDGE};
    for (size_t via = 0; via < graph->n_languages; via++) {
        struct way way = search->ways[(n_before - 1) * graph->n_languages + via];
        unsigned fit = graph->serves[via * graph->n_languages + edge->from];
        way.exactness += fit;
        way.before = via;
        if (fit > 0 && is_better(&way, &best))
            best = way;
    }
    return best;
}

static void extend(struct search *search, size_t n_models)
{
    const struct mt_language_graph *graph = &search->catalog->graph;
    struct way *ways = search->ways + (n_models - 1) * graph->n_languages;
    for (size_t i = 0; i < graph->n_languages; i++)
        ways[i].last = NO_EDGE;
    for (size_t e = 0; e < graph->n_edges; e++) {
        const struct mt_catalog_edge *edge = &graph->edges[e];
        struct way way = {.exactness = search->starts[edge->from], .last = NO_EDGE};
        if (!search->is_usable[edge->model] || (n_models == 1 && way.exactness == 0))
            continue;
        if (n_models > 1) {
            way = best_before(search, edge, n_models - 1);
            if (way.last == NO_EDGE)
                continue;
        }
        way.quality +=
            mt_served_model_info(search->catalog->models[edge->model])->defaults->quality;
        way.last = e;
        if (is_better(&way, &ways[edge->to]))
            ways[edge->to] = way;
    }
}

/* The language with the best way of n models that serves the target; NO_EDGE: none. */
static size_t best_end(const struct search *search, size_t n_models)
{
    const struct mt_language_graph *graph = &search->catalog->graph;
    struct way best = {.last = NO_EDGE};
    size_t end = NO_EDGE;
    for (size_t i = 0; i < graph->n_languages; i++) {
        struct way way = search->ways[(n_models - 1) * graph->n_languages + i];
        way.exactness += search->ends[i];
        if (search->ends[i] > 0 && is_better(&way, &best)) {
            best = way;
            end = i;
        }
    }
    return end;
}

static void trace_back(const struct search *search, size_t end, size_t n_models,
                       struct mt_model_route *out)
{
    const struct mt_language_graph *graph = &search->catalog->graph;
    out->n = n_models;
    for (size_t k = n_models; k-- > 0;) {
        const struct way *way = &search->ways[k * graph->n_languages + end];
        const struct mt_catalog_edge *edge = &graph->edges[way->last];
        out->steps[k] = (struct mt_model_route_step){
            .served = search->catalog->models[edge->model],
            .source = edge->source,
            .target = edge->target,
        };
        end = way->before;
    }
}

static bool has_any(const unsigned char *flags, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (flags[i] != 0)
            return true;
    return false;
}

static enum mt_status refuse(const struct search *search, size_t n_models, struct mt_error *err)
{
    const struct mt_language_graph *graph = &search->catalog->graph;
    unsigned char *is_from = search->starts, *is_to = search->ends;
    bool has_source = false, has_target = has_any(is_to, graph->n_languages);
    for (size_t e = 0; e < graph->n_edges; e++)
        has_source |= is_from[graph->edges[e].from] != 0;
    if (!has_source)
        return mt_fail(err, MT_NOT_FOUND, "no model translates from %s", search->source);
    if (!has_target)
        return mt_fail(err, MT_NOT_FOUND, "no model translates into %s", search->target);
    if (n_models == 1)
        return mt_fail(err, MT_NOT_FOUND, "no model translates %s into %s", search->source,
                       search->target);
    return mt_fail(err, MT_NOT_FOUND, "no way leads from %s to %s in at most %zu models",
                   search->source, search->target, n_models);
}

/* False: there is no way of at most so many models. */
static bool find_shortest(struct search *search, size_t n_most, struct mt_model_route *out)
{
    for (size_t n = 1; n <= n_most; n++) {
        extend(search, n);
        size_t end = best_end(search, n);
        if (end != NO_EDGE) {
            trace_back(search, end, n, out);
            return true;
        }
    }
    return false;
}

static enum mt_status find(struct search *search, struct mt_model_route *out, struct mt_error *err)
{
    const struct mt_language_graph *graph = &search->catalog->graph;
    bool is_same = mt_language_matches(search->source, search->target) ||
                   mt_language_matches(search->target, search->source);
    size_t n_most = is_same ? 1 : MT_MAX_ROUTE, n_models = search->catalog->n;
    for (size_t i = 0; i < graph->n_languages; i++) {
        search->starts[i] = how_served(search->source, graph->languages[i]);
        search->ends[i] = how_served(search->target, graph->languages[i]);
    }
    for (size_t i = 0; i < n_models; i++)
        search->is_usable[i] = mt_served_model_is_usable(search->catalog->models[i]);
    if (find_shortest(search, n_most, out))
        return MT_OK;
    /* Whoever takes a way through one that has failed hears why: there is one, but not now. */
    memset(search->is_usable, true, n_models * sizeof search->is_usable[0]);
    return find_shortest(search, n_most, out) ? MT_OK : refuse(search, n_most, err);
}

enum mt_status mt_catalog_route(const struct mt_catalog *catalog, const char *source,
                                const char *target, struct mt_model_route *out,
                                struct mt_error *err)
{
    size_t n = catalog->graph.n_languages;
    struct search search = {
        .catalog = catalog,
        .source = source,
        .target = target,
        .starts = calloc(n + 1, 1),
        .ends = calloc(n + 1, 1),
        .is_usable = calloc(catalog->n + 1, sizeof(bool)),
        .ways = calloc(MT_MAX_ROUTE * n + 1, sizeof(struct way)),
    };
    bool has_memory = search.starts && search.ends && search.is_usable && search.ways;
    enum mt_status status =
        has_memory ? find(&search, out, err)
                   : mt_fail_memory(err, MT_MAX_ROUTE * n * sizeof(struct way), "a route");
    free(search.starts);
    free(search.ends);
    free(search.is_usable);
    free(search.ways);
    return status;
}

/* ---- one model ---- */

static const struct mt_model_language *match(const char *asked,
                                             const struct mt_model_language *offered, size_t n)
{
    const struct mt_model_language *best = NULL;
    unsigned char best_fit = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char fit = how_served(asked, offered[i].code);
        if (fit > best_fit) {
            best = &offered[i];
            best_fit = fit;
        }
    }
    return best;
}

#define MAX_LISTED 12

static void list(const struct mt_model_language *languages, size_t n, struct mt_text *out)
{
    for (size_t i = 0; i < n && i < MAX_LISTED; i++)
        mt_text_appendf(out, "%s%s", i > 0 ? ", " : "", languages[i].code);
    if (n > MAX_LISTED)
        mt_text_appendf(out, " and %zu more", n - MAX_LISTED);
}

/* One side: *out stays NULL where the model does not say what it has. */
static enum mt_status choose(const char *id, const char *verb, const char *asked,
                             const struct mt_model_language *offered, size_t n,
                             const struct mt_model_language **out, struct mt_error *err)
{
    struct mt_text listed = {0};
    if (n == 0)
        return MT_OK;
    *out = asked[0] == '\0' && n == 1 ? offered : match(asked, offered, n);
    if (*out)
        return MT_OK;
    list(offered, n, &listed);
    enum mt_status status = mt_text_check(&listed, "languages", err);
    if (!status && asked[0] == '\0')
        status = mt_fail(err, MT_INVALID, "the model %s translates %s %s: say which one", id, verb,
                         listed.bytes);
    else if (!status)
        status = mt_fail(err, MT_INVALID, "the model %s translates %s %s, not %s", id, verb,
                         listed.bytes, asked);
    mt_text_finish(&listed);
    return status;
}

enum mt_status mt_catalog_step(struct mt_served_model *served, const char *source,
                               const char *target, struct mt_model_route_step *out,
                               struct mt_error *err)
{
    const struct mt_served_model_info *info = mt_served_model_info(served);
    struct mt_model_route_step step = {.served = served};
    enum mt_status status =
        choose(info->id, "from", source, info->sources, info->n_sources, &step.source, err);
    if (!status)
        status =
            choose(info->id, "into", target, info->targets, info->n_targets, &step.target, err);
    if (!status)
        *out = step;
    return status;
}
