/*
 * attentiond import --target-vocabulary: collects from texts in a language the tokens that a model
 * may write in it (model/files/target_vocabulary.h).
 */
#ifndef MT_SERVER_COMMANDS_IMPORT_VOCABULARY_H
#define MT_SERVER_COMMANDS_IMPORT_VOCABULARY_H

#include "base/status.h"

struct mt_model;

/* texts: FILE or, for a model of many languages, LANGUAGE=FILE. Several are separated by commas,
 * and all texts of one language make one vocabulary. The files are written beside the weights in
 * the directory of the model, and reported. MT_INVALID, MT_NOT_FOUND, MT_IO. */
MT_MUST_CHECK enum mt_status mt_import_vocabularies(const struct mt_model *model,
                                                    const char *directory, const char *texts,
                                                    struct mt_error *err);

#endif
