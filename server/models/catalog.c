#include "server/models/catalog_state.h"

#include "base/nearest.h"
#include "base/size.h"
#include "server/models/model_host.h"

#include <stdlib.h>
#include <string.h>

enum mt_status mt_catalog_create(const struct mt_catalog_options *options, struct mt_catalog **out,
                                 struct mt_error *err)
{
    struct mt_catalog *catalog = calloc(1, sizeof *catalog);
    if (!catalog)
        return mt_fail_memory(err, sizeof *catalog, "a catalog");
    enum mt_status status = mt_catalog_scan(catalog, options, err);
    if (!status)
        status = mt_language_graph_build(catalog, err);
    if (status) {
        mt_catalog_destroy(catalog);
        return status;
    }
    *out = catalog;
    return MT_OK;
}

void mt_catalog_destroy(struct mt_catalog *catalog)
{
    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->n; i++)
        mt_served_model_drop(catalog->models[i]);
    mt_language_graph_finish(&catalog->graph);
    free(catalog->models);
    free(catalog->has_failed);
    free(catalog);
}

size_t mt_catalog_n(const struct mt_catalog *catalog)
{
    return catalog->n;
}

struct mt_served_model *mt_catalog_at(const struct mt_catalog *catalog, size_t i)
{
    return catalog->models[i];
}

struct mt_served_model *mt_catalog_find_id(const struct mt_catalog *catalog, const char *id)
{
    for (size_t i = 0; i < catalog->n; i++)
        if (strcmp(mt_served_model_info(catalog->models[i])->id, id) == 0)
            return catalog->models[i];
    return NULL;
}

struct mt_served_model *mt_catalog_find(const struct mt_catalog *catalog, const char *id_or_alias)
{
    struct mt_served_model *served = mt_catalog_find_id(catalog, id_or_alias);
    if (served)
        return served;
    for (size_t i = 0; i < catalog->n; i++) {
        const struct mt_model_defaults *defaults =
            mt_served_model_info(catalog->models[i])->defaults;
        for (size_t k = 0; k < defaults->n_aliases; k++)
            if (strcmp(defaults->aliases[k], id_or_alias) == 0)
                return catalog->models[i];
    }
    return NULL;
}

const char *mt_catalog_nearest(const struct mt_catalog *catalog, const char *id_or_alias)
{
    struct mt_nearest nearest;
    mt_nearest_begin(&nearest, id_or_alias);
    for (size_t i = 0; i < catalog->n; i++)
        mt_nearest_offer(&nearest, mt_served_model_info(catalog->models[i])->id);
    return nearest.best;
}

struct mt_served_model *mt_catalog_default(const struct mt_catalog *catalog)
{
    for (size_t i = 0; i < catalog->n; i++)
        if (!catalog->has_failed[i])
            return catalog->models[i];
    return NULL;
}

struct mt_longest_sentence mt_catalog_longest_sentence(const struct mt_catalog *catalog)
{
    struct mt_longest_sentence most = {0};
    for (size_t i = 0; i < catalog->n; i++) {
        const struct mt_served_model_info *info = mt_served_model_info(catalog->models[i]);
        most.n_positions = mt_size_max(most.n_positions, info->max_positions);
        most.n_beams = mt_size_max(most.n_beams, info->n_beams);
    }
    return most;
}

void mt_catalog_prefetch(const struct mt_catalog *catalog, const struct mt_catalog *former)
{
    for (size_t i = 0; i < catalog->n; i++) {
        struct mt_served_model *served = catalog->models[i], *before = NULL;
        const struct mt_served_model_info *info = mt_served_model_info(served);
        struct mt_served_model_status status = {.state = MT_SERVED_COLD};
        if (former)
            before = mt_catalog_find(former, info->id);
        if (before && before != served)
            mt_served_model_describe(before, &status);
        if (info->defaults->preload || status.state == MT_SERVED_READY)
            mt_served_model_prefetch(served);
    }
}
