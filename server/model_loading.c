#include "server/served_model_state.h"
#include "server/warm_up.h"

static enum mt_status begin(struct mt_served_model *served, struct mt_error *err)
{
    struct mt_loaded_model *loaded = &served->loaded;
    enum mt_status status =
        mt_model_open(served->info.directory, &served->options, &served->model, err);
    if (status != MT_OK)
        return status;
    loaded->model = served->model;
    loaded->engine = served->host->engine;
    status = mt_engine_attach(loaded->engine, served->model, &loaded->lane, err);
    if (status == MT_OK)
        status = mt_warm_up(loaded, served->warm_up_text, served->warm_up_answer,
                            served->info.directory, err);
    if (status == MT_OK) /* the weights may have changed while we looked at them */
        status = mt_model_check(served->model, err);
    return status;
}

enum mt_status mt_model_loading_begin(struct mt_served_model *served, struct mt_error *err)
{
    enum mt_status status = begin(served, err);
    if (status != MT_OK)
        mt_model_loading_end(served);
    return status;
}

void mt_model_loading_end(struct mt_served_model *served)
{
    mt_engine_detach(served->host->engine, served->loaded.lane);
    mt_model_close(served->model);
    served->loaded.lane = NULL;
    served->loaded.model = NULL;
    served->model = NULL;
}
