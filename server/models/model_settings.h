/*
 * How a model is opened, as the settings have it.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_MODELS_MODEL_SETTINGS_H
#define MT_SERVER_MODELS_MODEL_SETTINGS_H

#include "model/model.h"

struct mt_settings;

/* How the settings ask for the model to be opened. Strings are borrowed from the settings. */
struct mt_model_options mt_model_options_of_settings(const struct mt_settings *settings);

/* Shows the progress of packing on standard error, if that is a terminal. */
void mt_model_options_show_progress(struct mt_model_options *options);

#endif
