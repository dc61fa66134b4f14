/*
 * Chooses the models of a command line: names become paths and, if none is named, the models of
 * this machine (server/store) are taken. The rest of the program knows only paths.
 *
 * Thread-safety: safe while nobody changes the environment.
 */
#ifndef MT_SERVER_COMMANDS_MODEL_CHOICE_H
#define MT_SERVER_COMMANDS_MODEL_CHOICE_H

#include "base/status.h"

#include <stdbool.h>

struct mt_alignment_choice;
struct mt_alignment_words;
struct mt_cli;
struct mt_model;
struct mt_sentence_options;
struct mt_settings;
struct mt_text_direction;

/* Returns the path of the model that a text names, which is the text itself if such a path exists,
 * or if the text can only be a path. The caller frees *out. Other statuses and messages are those
 * of mt_store_find. models_directory is the setting. */
MT_MUST_CHECK enum mt_status mt_model_choice_find(const char *models_directory, const char *text,
                                                  char **out, struct mt_error *err);

/* What a command does if no model is named. */
struct mt_model_choice {
    const char *command; /* for messages */
    /* All models are taken, instead of only the one that would be a daemon's default. */
    bool serves_many;
    /* If there are no models at all: needs_one fails with MT_INVALID and tells how to get one;
     * takes_none takes the empty directory, since a model may be added later; neither leaves the
     * settings as they are. */
    bool needs_one, takes_none;
    bool creates_root; /* the directory of pulled models is created, so that it can be watched */
};

/*
 * Changes settings that came from the command line. A name in settings->model becomes a path.
 * Without model and models_directory, models_directory becomes the list of existing places of
 * models (places.h), without the hub. For a command with one model instead, model becomes the first
 * of them that can be served, which is printed on standard error if there are several.
 */
MT_MUST_CHECK enum mt_status mt_model_choice_make(const struct mt_model_choice *choice,
                                                  struct mt_settings *settings,
                                                  struct mt_error *err);

/* Returns the languages for a command with one model: those of the settings, otherwise those that
 * the model's directory names (model_profile.h). Statuses of both. */
MT_MUST_CHECK enum mt_status mt_model_choice_direction(const struct mt_settings *settings,
                                                       const struct mt_model *model,
                                                       struct mt_text_direction *out,
                                                       struct mt_error *err);

/* Returns the alignment for a command with one model, as the words say. If they name neither layers
 * nor heads, then those of the model's attentiond.json are taken. Statuses of mt_model_profile_read
 * and mt_alignment_parse. */
MT_MUST_CHECK enum mt_status mt_model_choice_alignment(const struct mt_settings *settings,
                                                       const struct mt_alignment_words *words,
                                                       struct mt_alignment_choice *out,
                                                       struct mt_error *err);

/* Returns the options of decoding, and the alignment (NULL: not wanted). They have the daemon's
 * precedence, where flags are what a request's fields are: a flag is stronger than the model's
 * attentiond.json, and that is stronger than the configuration file and the environment. Unlike a
 * request's field, --max-decoding-length leaves max_length_factor as it is. Statuses of
 * mt_model_profile_read and mt_model_defaults_check. */
MT_MUST_CHECK enum mt_status mt_model_choice_defaults(const struct mt_cli *cli,
                                                      const struct mt_model *model,
                                                      struct mt_sentence_options *decoding,
                                                      struct mt_alignment_choice *alignment,
                                                      struct mt_error *err);

#endif
