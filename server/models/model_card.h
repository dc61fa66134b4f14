/*
 * Reads model cards as model hubs have them: a README.md that begins with YAML between lines of
 * "---". Only the member that is needed is read.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_MODELS_MODEL_CARD_H
#define MT_SERVER_MODELS_MODEL_CARD_H

#include "base/status.h"
#include "server/store/origin.h"

#include <stdbool.h>
#include <stddef.h>

#define MT_LICENCE_BYTES MT_ORIGIN_LICENCE_BYTES

/* Reads the licence in directory/README.md, such as "apache-2.0", or the first of a list. Returns
 * false, with out "", where there is none. */
bool mt_model_card_licence(const char *directory, char out[MT_LICENCE_BYTES]);

/* Finds the licence in the text of a card. */
bool mt_model_card_find_licence(const char *card, char out[MT_LICENCE_BYTES]);

#endif
