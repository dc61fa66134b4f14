/*
 * Models of CTranslate2 as a family of foreign files (foreign.h): a directory of
 *
 *   model.bin                                  the weights (weights/ctranslate2.h)
 *   config.json                                special tokens; from binary version 6 on
 *   shared_vocabulary.json (or .txt), or source_vocabulary and target_vocabulary
 *   source.spm and target.spm, or sentencepiece.model
 *   tokenizer_config.json                      may name the languages
 *
 * or a package of Argos Translate as LibreTranslate stores it: metadata.json, sentencepiece.model,
 * and the above in model/; or that package as it is downloaded (argos_archive.h). Other files of a
 * package are never opened; its tools for sentence boundaries are checkpoints that would have to be
 * executed.
 *
 * The search is CTranslate2's, with the defaults of its translate_batch, or those of Argos.
 */
#ifndef MT_MODEL_FAMILIES_CTRANSLATE2_H
#define MT_MODEL_FAMILIES_CTRANSLATE2_H

#include "model/families/foreign.h"

extern const struct mt_foreign mt_foreign_ctranslate2;

#endif
