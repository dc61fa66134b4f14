#include "server/models/model_settings.h"

#include "config/settings.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct mt_model_options mt_model_options_of_settings(const struct mt_settings *settings)
{
    bool is_int8 = !strcmp(settings->precision, "int8");
    return (struct mt_model_options){
        .precision = is_int8 ? MT_INT8 : MT_FP32,
        .load_mode = strcmp(settings->load_mode, "copy") == 0 ? MT_LOAD_COPY : MT_LOAD_MMAP,
        .kernels = settings->kernels,
        .cache_directory = settings->cache_dir};
}

static void show_progress(void *context, size_t n_done, size_t n_total)
{
    (void)context;
    fprintf(stderr, "\rpacking to int8: %zu of %zu%s", n_done, n_total,
            n_done == n_total ? "\n" : "");
}

void mt_model_options_show_progress(struct mt_model_options *options)
{
    if (isatty(STDERR_FILENO))
        options->on_progress = show_progress;
}
