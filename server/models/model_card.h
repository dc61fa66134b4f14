/*
 * What a model card says, as model hubs keep them: README.md with YAML between lines of "---" at
 * its beginning. Only the one member that is asked for is read.
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

/* Reads the licence in directory/README.md, such as "apache-2.0", or the first of a list. False,
 * and out is "", where it does not say one. */
bool mt_model_card_licence(const char *directory, char out[MT_LICENCE_BYTES]);

/* Finds the licence in the text of a card. */
bool mt_model_card_find_licence(const char *card, char out[MT_LICENCE_BYTES]);

#endif
