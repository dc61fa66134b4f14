/*
 * Which models a command line means, where it says a name, or nothing: names become paths, and what
 * lies on this machine (server/store) is served where nothing is named. The rest of the program
 * knows paths alone.
 *
 * Thread-safety: safe while nobody changes the environment.
 */
#ifndef MT_SERVER_COMMANDS_MODEL_CHOICE_H
#define MT_SERVER_COMMANDS_MODEL_CHOICE_H

#include "base/status.h"

#include <stdbool.h>

struct mt_alignment_choice;
struct mt_alignment_words;
struct mt_model;
struct mt_settings;
struct mt_text_direction;

/* The path of the model that a text names: the text itself where there is such a path, or where it
 * could be nothing else; the caller frees *out. Otherwise statuses and messages of mt_store_find.
 * models_directory is the setting. */
MT_MUST_CHECK enum mt_status mt_model_choice_find(const char *models_directory, const char *text,
                                                  char **out, struct mt_error *err);

/* What a command does where no model is named. */
struct mt_model_choice {
    const char *command; /* for messages */
    /* Takes the directory with all its models, or else the one of them that a daemon would take for
     * its default. */
    bool serves_many;
    /* What to do where there is no model at all. needs_one: fail with MT_INVALID, and say how to get
     * one; takes_none: take the empty directory, since a model may come; neither: leave the settings as
     * they are. */
    bool needs_one, takes_none;
    bool creates_root; /* the directory of pulled models is made, so that it can be watched */
};

/*
 * Settings as they came from the command line: a name in settings->model becomes a path. Without
 * model and models_directory, models_directory becomes the places of models (places.h) that are
 * there, the hub left out. Or, for a command that takes one model, model becomes the first of them
 * that can be served, and which one is said on standard error where there are several.
 */
MT_MUST_CHECK enum mt_status mt_model_choice_make(const struct mt_model_choice *choice,
                                                  struct mt_settings *settings,
                                                  struct mt_error *err);

/* From which language into which a command with one model translates: as settings say, else as the
 * model's directory does (model_profile.h), where that names one. Statuses of both. */
MT_MUST_CHECK enum mt_status mt_model_choice_direction(const struct mt_settings *settings,
                                                       const struct mt_model *model,
                                                       struct mt_text_direction *out,
                                                       struct mt_error *err);

/* The alignment of a command with one model, as the words say; where they name neither layers nor
 * heads, of those that the model's attentiond.json names. Statuses of mt_model_profile_read and
 * mt_alignment_parse. */
MT_MUST_CHECK enum mt_status mt_model_choice_alignment(const struct mt_settings *settings,
                                                       const struct mt_alignment_words *words,
                                                       struct mt_alignment_choice *out,
                                                       struct mt_error *err);

#endif
