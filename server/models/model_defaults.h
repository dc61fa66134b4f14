/*
 * How a model wants to be used: the optional attentiond.json in its directory.
 *
 *   {"source_lang": "en", "target_lang": ["de", "nl"], "aliases": ["english-german"],
 *    "beam_size": 4, "length_penalty": 1.0, "max_decoding_length": 256,
 *    "max_length_factor": 2, "alignment_layers": "3", "alignment_heads": "0,1",
 *    "alignment_mode": "mean", "alignment_shift": "output", "preload": true, "quality": 2}
 *
 * Every member may be absent or null; a member whose name begins with "//" is a comment. For an
 * option that a request does not have, these values take precedence over the daemon's settings, and
 * those over the model's generation_config.json.
 *
 * All this holds for a file that the operator wrote. A file that came with the model
 * (mt_origin_brought) may only name languages and the defaults of decoding and alignment, and no
 * default may exceed the setting. The author of a model does not decide its other names, when it is
 * loaded and whether it is preferred, so aliases, preload and quality are ignored there.
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

/* Quality of a model for many languages, so that one for only two languages is preferred. */
#define MT_GENERAL_QUALITY (-1.0)

struct mt_model_defaults {
    const char *const *source_langs; /* normalised; empty: the directory's other files name them */
    const char *const *target_langs;
    const char *const *aliases;
    size_t n_source_langs, n_target_langs, n_aliases;
    size_t beam_size;           /* 0: not given */
    double length_penalty;      /* < 0: not given */
    size_t max_decoding_length; /* 0: not given */
    double max_length_factor;   /* < 0: not given */
    struct mt_alignment_words alignment;
    bool preload; /* the model is loaded before anybody requests it */
    /* the way with the highest sum is preferred; default 0, and MT_GENERAL_QUALITY for a model of
     * many languages */
    double quality;
    bool says_quality;
    bool is_brought;      /* the file came with the model */
    const char *left_out; /* members that were ignored, as in "aliases, quality"; NULL: none */
};

/* The defaults of a directory without the file. */
#define MT_NO_MODEL_DEFAULTS \
    ((struct mt_model_defaults){.length_penalty = -1, .max_length_factor = -1})

struct mt_settings;

/* Return the values for a request without these options, from the settings and these defaults. A
 * beam size or length of 0 means the model's own, and a factor below 0 that neither has one. */
size_t mt_model_defaults_beam_size(const struct mt_model_defaults *defaults,
                                   const struct mt_settings *settings);
size_t mt_model_defaults_max_length(const struct mt_model_defaults *defaults,
                                    const struct mt_settings *settings);
double mt_model_defaults_length_factor(const struct mt_model_defaults *defaults,
                                       const struct mt_settings *settings);

/* Reads directory/attentiond.json, which may be missing. Everything is allocated in the arena.
 * MT_INVALID names the member, its value and what was expected, or the most similar name for an
 * unknown member; MT_FORMAT, MT_IO, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_model_defaults_read(const char *directory, struct mt_arena *arena,
                                                    struct mt_model_defaults *out,
                                                    struct mt_error *err);

/* Removes the members that would be ignored from a copy of a file that came with a model, in
 * directory. MT_IO, MT_FORMAT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_model_defaults_strip(const char *directory, struct mt_error *err);

#endif
