#include "server/models/model_check.h"
#include "server/models/model_profile.h"
#include "server/models/served_model_state.h"
#include "server/models/warm_up.h"

#include <string.h>

static bool has_same(const struct mt_model_language *a, size_t n_a,
                     const struct mt_model_language *b, size_t n_b)
{
    bool is_same = n_a == n_b;
    for (size_t i = 0; i < n_a && is_same; i++)
        is_same = strcmp(a[i].code, b[i].code) == 0;
    return is_same;
}

/* Since the scan the directory may have got another model. One with the same languages is accepted,
 * another one is not what was requested. The languages of a pinned one are in the settings. */
static enum mt_status check_languages(const struct mt_served_model *served, struct mt_error *err)
{
    const struct mt_served_model_info *info = &served->info;
    struct mt_model_profile found;
    if (info->is_pinned)
        return MT_OK;
    enum mt_status status = mt_model_profile_read(info->directory, info->id, &found, err);
    if (status)
        return status;
    bool is_same = has_same(info->sources, info->n_sources, found.sources, found.n_sources) &&
                   has_same(info->targets, info->n_targets, found.targets, found.n_targets);
    mt_model_profile_finish(&found);
    if (!is_same)
        return mt_fail(err, MT_INVALID, "%s: its languages have changed since it was found",
                       info->directory);
    return MT_OK;
}

static enum mt_status begin(struct mt_served_model *served, struct mt_error *err)
{
    struct mt_loaded_model *loaded = &served->loaded;
    enum mt_status status =
        mt_model_open(served->info.directory, &served->options, &served->model, err);
    if (!status)
        status = check_languages(served, err);
    if (!status)
        status = mt_model_defaults_check(&served->defaults, served->model, &loaded->alignment, err);
    if (status)
        return status;
    loaded->model = served->model;
    loaded->engine = served->host->engine;
    status = mt_engine_attach(loaded->engine, served->model, &loaded->lane, err);
    if (!status)
        status = mt_warm_up(loaded,
                            &(struct mt_warm_up_options){.text = served->warm_up_text,
                                                         .answer = served->warm_up_answer,
                                                         .beam_size = served->warm_up_beam_size},
                            served->info.directory, err);
    if (!status) /* the weights may have been changed while they were read */
        status = mt_model_check(served->model, err);
    return status;
}

enum mt_status mt_model_loading_begin(struct mt_served_model *served, struct mt_model_size *out,
                                      struct mt_error *err)
{
    struct mt_text_warm_up texts = {.info = &served->info,
                                    .splitter = served->host->splitter,
                                    .number_words = served->host->number_words};
    mt_text_warm_up_begin(&texts);
    enum mt_status status = begin(served, err);
    mt_text_warm_up_end(&texts);
    if (status) {
        mt_model_loading_end(served);
        return status;
    }
    *out = (struct mt_model_size){
        .n_parameters = mt_model_n_parameters(served->model),
        .mapped_bytes = mt_model_mapped_bytes(served->model),
        .private_bytes = mt_model_private_bytes(served->model),
        .cache_bytes = mt_lane_cache_bytes(served->loaded.lane),
    };
    return MT_OK;
}

enum mt_status mt_model_loading_check(const struct mt_served_model *served, struct mt_error *err)
{
    return mt_model_files_check(served->info.directory, served->info.id, &served->options, err);
}

size_t mt_model_loading_cache_bytes(const struct mt_served_model *served)
{
    return mt_lane_cache_bytes(served->loaded.lane);
}

bool mt_model_loading_is_busy(const struct mt_served_model *served)
{
    return mt_lane_is_busy(served->loaded.lane);
}

void mt_model_loading_end(struct mt_served_model *served)
{
    mt_engine_detach(served->host->engine, served->loaded.lane);
    mt_model_close(served->model);
    served->loaded.lane = NULL;
    served->loaded.model = NULL;
    served->model = NULL;
}
