/*
 * Finds the packed form of a model: in its directory, in a cache, or by packing it now.
 */
#ifndef MT_MODEL_FILES_PACK_CACHE_H
#define MT_MODEL_FILES_PACK_CACHE_H

#include "base/file.h"
#include "model/files/packed.h"

struct mt_bind_report;
struct mt_pack_writer;

/* The members of struct mt_model_options that packing needs; model.h explains them. {0} means the
 * defaults. */
struct mt_pack_options {
    enum mt_load_mode load_mode;
    const char *cache_directory; /* NULL or "": none */
    bool writes_cache_later;
    void (*on_cache_failure)(const struct mt_error *err); /* may be NULL */
    mt_packed_progress *on_progress;                      /* may be NULL */
    void *progress_context;
};

/* The packed form: `file` reads the mapped file or, if image is not NULL, the image's memory. The
 * caller owns both, except for an image whose `writer` is not NULL, which owns it. */
struct mt_packed_source {
    struct mt_safetensors *file;
    struct mt_image *image;
    struct mt_pack_writer *writer;
    char note[512];
};

MT_MUST_CHECK enum mt_status mt_pack_cache_open(const struct mt_source *source,
                                                const struct mt_hparams *hparams,
                                                const struct mt_pack_options *options,
                                                struct mt_packed_source *out, struct mt_error *err);

/* Packs the source's weights in memory. report may be NULL. */
MT_MUST_CHECK enum mt_status mt_pack_source(const struct mt_source *source,
                                            const struct mt_hparams *hparams,
                                            const struct mt_pack_options *options,
                                            struct mt_bind_report *report, struct mt_image **out,
                                            struct mt_error *err);

#endif
