#include "server/engine/decode.h"

#include "base/cores.h"
#include "base/size.h"
#include "base/team.h"
#include "model/batch.h"
#include "model/files/hparams.h"
#include "model/model.h"

#define MAX_DEFAULT_THREADS 4

static size_t default_threads(void)
{
    return mt_size_min(mt_cores_available(), MAX_DEFAULT_THREADS);
}

static enum mt_status run(struct mt_batch *batch, struct mt_sentence *const *sentences, size_t n,
                          mt_decode_progress *progress, void *context, struct mt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        enum mt_status status = mt_batch_check(batch, sentences[i], err);
        if (status)
            return status;
    }
    size_t n_admitted = 0, n_done = 0;
    while (n_done < n) {
        while (n_admitted < n && mt_batch_admit(batch, sentences[n_admitted]))
            n_admitted++;
        mt_batch_step(batch);
        while (mt_batch_take_finished(batch))
            n_done++;
        if (progress)
            progress(context, n_done, n);
    }
    return MT_OK;
}

enum mt_status mt_decode(const struct mt_model *model, size_t n_threads, size_t max_rows,
                         struct mt_sentence *const *sentences, size_t n,
                         mt_decode_progress *progress, void *context, struct mt_error *err)
{
    struct mt_team *team = NULL;
    struct mt_batch *batch = NULL;
    enum mt_status status = mt_team_create(n_threads ? n_threads : default_threads(), &team, err);
    const struct mt_batch_options options = {.max_rows = mt_size_max(max_rows, MT_MAX_BEAMS),
                                             .team = team};
    if (!status)
        status = mt_batch_create(model, &options, &batch, err);
    if (!status)
        status = run(batch, sentences, n, progress, context, err);
    if (!status) /* a file that was cut short meanwhile reads as zeros */
        status = mt_model_check(model, err);
    mt_batch_destroy(batch);
    mt_team_destroy(team);
    return status;
}
