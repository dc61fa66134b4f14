/*
 * attentiond import --target-vocabulary: from texts in a language, the tokens that a model may write
 * in it (model/files/target_vocabulary.h).
 */
#ifndef MT_SERVER_COMMANDS_IMPORT_VOCABULARY_H
#define MT_SERVER_COMMANDS_IMPORT_VOCABULARY_H

#include "base/status.h"

struct mt_model;

/* texts: FILE, or for a model of many languages LANGUAGE=FILE; several with commas between them, of
 * which those of one language make one vocabulary. Writes the files beside the weights in the
 * directory of the model, and says what they hold. MT_INVALID, MT_NOT_FOUND, MT_IO. */
MT_MUST_CHECK enum mt_status mt_import_vocabularies(const struct mt_model *model,
                                                    const char *directory, const char *texts,
                                                    struct mt_error *err);

#endif
