/*
 * The options with which a model is opened, from the settings.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_MODELS_MODEL_SETTINGS_H
#define MT_SERVER_MODELS_MODEL_SETTINGS_H

#include "model/model.h"

struct mt_settings;

/* Strings in the options are borrowed from the settings. */
struct mt_model_options mt_model_options_of_settings(const struct mt_settings *settings);

/* Sets the options to show the progress of packing on standard error, if that is a terminal. */
void mt_model_options_show_progress(struct mt_model_options *options);

#endif
