#include "base/size.h"
#include "base/text.h"
#include "server/models/catalog_state.h"
#include "server/models/model_host.h"

#include <stdlib.h>
#include <string.h>

#define NO_MODEL SIZE_MAX

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

static const size_t *take_indices(const struct mt_language_graph *graph,
                                  const struct mt_model_language *languages, size_t n, size_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = index_of(graph, languages[i].code);
    return out;
}

static enum mt_status collect_models(struct mt_catalog *catalog, size_t n_mentions,
                                     struct mt_error *err)
{
    struct mt_language_graph *graph = &catalog->graph;
    graph->models = calloc(mt_size_max(catalog->n, 1), sizeof graph->models[0]);
    graph->indices = calloc(mt_size_max(n_mentions, 1), sizeof graph->indices[0]);
    if (!graph->models || !graph->indices)
        return mt_fail_memory(err, n_mentions * sizeof graph->indices[0], "languages of models");
    size_t *at = graph->indices;
    for (size_t i = 0; i < catalog->n; i++) {
        const struct mt_served_model_info *info = mt_served_model_info(catalog->models[i]);
        struct mt_graph_model *model = &graph->models[i];
        if (catalog->has_failed[i])
            continue;
        model->n_sources = info->n_sources;
        model->n_targets = info->n_targets;
        model->sources = take_indices(graph, info->sources, info->n_sources, at);
        at += info->n_sources;
        model->targets = take_indices(graph, info->targets, info->n_targets, at);
        at += info->n_targets;
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

/* Whether both are variants of one language, between which no ways through other languages are
 * searched. */
static bool is_detour(const struct mt_language_graph *graph, size_t from, size_t to)
{
    size_t n = graph->n_languages;
    return graph->serves[from * n + to] || graph->serves[to * n + from];
}

/* Marks the languages that the model number `level` of a way may read: `from` itself for the first,
 * then those that level - 1 models reach, with the languages that match them. */
static void open_languages(const struct mt_language_graph *graph, size_t from, unsigned char level,
                           unsigned char *is_open)
{
    size_t n = graph->n_languages;
    const unsigned char *hops = graph->hops + from * n;
    memset(is_open, 0, n);
    for (size_t via = 0; via < n; via++)
        if (level == 1 ? via == from : hops[via] == level - 1)
            for (size_t i = 0; i < n; i++)
                is_open[i] |= graph->serves[via * n + i];
}

static bool has_open_source(const struct mt_graph_model *model, const unsigned char *is_open)
{
    for (size_t i = 0; i < model->n_sources; i++)
        if (is_open[model->sources[i]])
            return true;
    return false;
}

static bool is_served_by(const struct mt_language_graph *graph, size_t asked,
                         const unsigned char *is_reached)
{
    size_t n = graph->n_languages;
    for (size_t i = 0; i < n; i++)
        if (is_reached[i] && graph->serves[asked * n + i])
            return true;
    return false;
}

/* Counts the models on the ways from one language to all others, breadth first. A language also
 * counts as reached if a language that serves it is reached. scratch has two rows of flags. */
static void count_hops(const struct mt_catalog *catalog, size_t from, unsigned char *scratch)
{
    const struct mt_language_graph *graph = &catalog->graph;
    size_t n = graph->n_languages, n_left = n;
    unsigned char *hops = graph->hops + from * n, *is_open = scratch, *is_reached = scratch + n;
    for (unsigned char level = 1; level <= MT_MAX_ROUTE && n_left > 0; level++) {
        open_languages(graph, from, level, is_open);
        memset(is_reached, 0, n);
        for (size_t m = 0; m < catalog->n; m++)
            if (has_open_source(&graph->models[m], is_open))
                for (size_t t = 0; t < graph->models[m].n_targets; t++)
                    is_reached[graph->models[m].targets[t]] = 1;
        for (size_t to = 0; to < n; to++)
            if (hops[to] == 0 && (level == 1 || !is_detour(graph, from, to)) &&
                is_served_by(graph, to, is_reached)) {
                hops[to] = level;
                n_left--;
            }
    }
}

static enum mt_status count_all_hops(const struct mt_catalog *catalog, struct mt_error *err)
{
    size_t n = catalog->graph.n_languages;
    unsigned char *scratch = malloc(2 * n + 1);
    if (!scratch)
        return mt_fail_memory(err, 2 * n, "languages");
    for (size_t i = 0; i < n; i++)
        count_hops(catalog, i, scratch);
    free(scratch);
    return MT_OK;
}

enum mt_status mt_language_graph_build(struct mt_catalog *catalog, struct mt_error *err)
{
    size_t n_mentions = 0;
    for (size_t i = 0; i < catalog->n; i++) {
        const struct mt_served_model_info *info = mt_served_model_info(catalog->models[i]);
        if (!catalog->has_failed[i])
            n_mentions += info->n_sources + info->n_targets;
    }
    enum mt_status status = collect_languages(catalog, n_mentions, err);
    if (!status)
        status = collect_models(catalog, n_mentions, err);
    if (!status)
        status = compare_languages(&catalog->graph, err);
    return status ? status : count_all_hops(catalog, err);
}

void mt_language_graph_finish(struct mt_language_graph *graph)
{
    free(graph->languages);
    free(graph->models);
    free(graph->indices);
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

/* The best way with a given number of models that ends with a certain model and one of its
 * pairs. */
struct way {
    unsigned exactness;    /* sum of how_served, at both ends and between models */
    double quality;        /* sum over its models */
    size_t model;          /* the last model; NO_MODEL: there is no way */
    size_t source, target; /* indexes in the model's languages */
    size_t before;         /* the language at which the way with one model less ends */
};

struct search {
    const struct mt_catalog *catalog;
    const char *source, *target;
    unsigned char *starts, *ends; /* [n_languages]: how well each serves source, and target */
    bool *is_usable;              /* [n models] */
    struct way *ways;             /* [MT_MAX_ROUTE, n_languages]: the best way to each language */
};

static bool is_better(const struct way *a, const struct way *b)
{
    if (a->model == NO_MODEL || b->model == NO_MODEL)
        return b->model == NO_MODEL && a->model != NO_MODEL;
    if (a->exactness != b->exactness)
        return a->exactness > b->exactness;
    if (a->quality != b->quality)
        return a->quality > b->quality;
    if (a->model != b->model)
        return a->model < b->model;
    return a->source != b->source ? a->source < b->source : a->target < b->target;
}

/* Returns the best way with one model less to a language from which the model leads on. */
static struct way best_before(const struct search *search, size_t from, size_t n_before)
{
    const struct mt_language_graph *graph = &search->catalog->graph;
    struct way best = {.model = NO_MODEL};
    for (size_t via = 0; via < graph->n_languages; via++) {
        struct way way = search->ways[(n_before - 1) * graph->n_languages + via];
        unsigned fit = graph->serves[via * graph->n_languages + from];
        way.exactness += fit;
        way.before = via;
        if (fit > 0 && is_better(&way, &best))
            best = way;
    }
    return best;
}

/* Returns the best way into a model, over all of its source languages. */
static struct way best_entry(const struct search *search, size_t m, size_t n_models)
{
    const struct mt_graph_model *model = &search->catalog->graph.models[m];
    struct way best = {.model = NO_MODEL};
    for (size_t i = 0; i < model->n_sources; i++) {
        unsigned start = search->starts[model->sources[i]];
        struct way way = {.exactness = start, .model = start > 0 ? m : NO_MODEL};
        if (n_models > 1)
            way = best_before(search, model->sources[i], n_models - 1);
        if (way.model == NO_MODEL)
            continue;
        way.model = m;
        way.source = i;
        if (is_better(&way, &best))
            best = way;
    }
    best.quality += mt_served_model_info(search->catalog->models[m])->defaults->quality;
    return best;
}

static void extend(struct search *search, size_t n_models)
{
    const struct mt_language_graph *graph = &search->catalog->graph;
    struct way *ways = search->ways + (n_models - 1) * graph->n_languages;
    for (size_t i = 0; i < graph->n_languages; i++)
        ways[i].model = NO_MODEL;
    for (size_t m = 0; m < search->catalog->n; m++) {
        const struct mt_graph_model *model = &graph->models[m];
        if (!search->is_usable[m])
            continue;
        struct way way = best_entry(search, m, n_models);
        for (size_t t = 0; t < model->n_targets && way.model != NO_MODEL; t++) {
            way.target = t;
            if (is_better(&way, &ways[model->targets[t]]))
                ways[model->targets[t]] = way;
        }
    }
}

/* Returns the language that serves the target and has the best way of n models, or NO_MODEL. */
static size_t best_end(const struct search *search, size_t n_models)
{
    const struct mt_language_graph *graph = &search->catalog->graph;
    struct way best = {.model = NO_MODEL};
    size_t end = NO_MODEL;
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
        struct mt_served_model *served = search->catalog->models[way->model];
        const struct mt_served_model_info *info = mt_served_model_info(served);
        out->steps[k] = (struct mt_model_route_step){
            .served = served,
            .source = &info->sources[way->source],
            .target = &info->targets[way->target],
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
    for (size_t m = 0; m < search->catalog->n; m++)
        has_source |= has_open_source(&graph->models[m], is_from);
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

/* Returns false where there is no way of at most so many models. */
static bool find_shortest(struct search *search, size_t n_most, struct mt_model_route *out)
{
    for (size_t n = 1; n <= n_most; n++) {
        extend(search, n);
        size_t end = best_end(search, n);
        if (end != NO_MODEL) {
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
    /* If there is only a way through a model that has failed, then that is returned, so that the
     * request gets the reason. */
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

/* Chooses the language of one side. *out stays NULL where the model does not name its languages. */
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
