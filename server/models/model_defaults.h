/*
 * What a model directory says about how it wants to be used, in its optional attentiond.json:
 *
 *   {"source_lang": "en", "target_lang": ["de", "nl"], "aliases": ["english-german"],
 *    "beam_size": 4, "length_penalty": 1.0, "max_decoding_length": 256,
 *    "max_length_factor": 2, "alignment_layers": "3", "alignment_heads": "0,1",
 *    "alignment_mode": "mean", "alignment_shift": "output", "preload": true, "quality": 2}
 *
 * Every member may be absent or null; a member whose name begins with "//" is a comment. Where a
 * request says nothing, these come before the daemon's settings, and those before what the model's
 * generation_config.json says.
 *
 * That is the operator's word. A file that came with the model (mt_origin_brought) is somebody
 * else's: of it languages and defaults of decoding and alignment are taken, and no default goes
 * beyond one of the settings'. What the model is called besides, when it is loaded and whether it
 * goes before others is not for its author to say: aliases, preload and quality are left out.
 *
 * Thread-safety: immutable after it was read.
 */
#ifndef MT_SERVER_MODELS_MODEL_DEFAULTS_H
#define MT_SERVER_MODELS_MODEL_DEFAULTS_H

#include "base/arena.h"
#include "server/inspection/inspection_request.h"
#include "server/text/language.h"

#include <stdbool.h>

#define MT_MODEL_DEFAULTS_FILE "attentiond.json"
#define MT_MODEL_DEFAULTS_MAX_BYTES ((size_t)64 << 10)
#define MT_MODEL_MAX_ALIASES 32

/* A model that was made for two languages goes before one that was made for a hundred. */
#define MT_GENERAL_QUALITY (-1.0)

struct mt_model_defaults {
    const char *const *source_langs; /* normalised; none: the directory's other files say it */
    const char *const *target_langs;
    const char *const *aliases;
    size_t n_source_langs, n_target_langs, n_aliases;
    size_t beam_size;           /* 0: not said */
    double length_penalty;      /* < 0: not said */
    size_t max_decoding_length; /* 0: not said */
    double max_length_factor;   /* < 0: not said */
    struct mt_alignment_words alignment;
    bool preload;   /* load it before anybody asks */
    double quality; /* of two ways to translate, the one with the higher sum is taken; 0, and
                       MT_GENERAL_QUALITY for a model of many languages */
    bool says_quality;
    bool is_brought;      /* the file came with the model */
    const char *left_out; /* "aliases, quality": members of it that were not taken; NULL: none */
};

/* The defaults of a directory without the file, which says nothing. */
#define MT_NO_MODEL_DEFAULTS \
    ((struct mt_model_defaults){.length_penalty = -1, .max_length_factor = -1})

struct mt_settings;

/* What decodes a request that asks for nothing else, of the settings and these. beam_size: 0: the
 * model's. max_decoding_length: 0 likewise. max_length_factor: < 0: nobody says one here. */
size_t mt_model_defaults_beam_size(const struct mt_model_defaults *defaults,
                                   const struct mt_settings *settings);
size_t mt_model_defaults_max_length(const struct mt_model_defaults *defaults,
                                    const struct mt_settings *settings);
double mt_model_defaults_length_factor(const struct mt_model_defaults *defaults,
                                       const struct mt_settings *settings);

/* Reads directory/attentiond.json; a directory without one says nothing. Everything lives in the
 * arena. MT_INVALID names the member, its value and what was expected, or the nearest name of a
 * member that does not exist; MT_FORMAT, MT_IO, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_model_defaults_read(const char *directory, struct mt_arena *arena,
                                                    struct mt_model_defaults *out,
                                                    struct mt_error *err);

/* Takes out of a copy of a file that came with a model, in directory, what is left out of it. MT_IO,
 * MT_FORMAT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_model_defaults_strip(const char *directory, struct mt_error *err);

#endif
