/*
 * Reads a tokenizer's files, which are documents of a source.
 */
#ifndef MT_MODEL_FILES_TOKENIZER_FILES_H
#define MT_MODEL_FILES_TOKENIZER_FILES_H

#include "base/status.h"

struct mt_arena;
struct mt_source;
struct mt_tokenizer;
struct mt_tokenizer_config;

/* Reads tokenizer_config.json; if it does not exist, everything has its default. Strings are in the
 * arena. */
MT_MUST_CHECK enum mt_status mt_tokenizer_config_read(const struct mt_source *source,
                                                      struct mt_arena *arena,
                                                      struct mt_tokenizer_config *out,
                                                      struct mt_error *err);

/* Opens the tokenizer from the source's source.spm, target.spm, vocab.json (and target_vocab.json
 * if the vocabularies are separate) and tokenizer_config.json. Statuses of mt_tokenizer_open and
 * mt_source_read. */
MT_MUST_CHECK enum mt_status mt_tokenizer_read(const struct mt_source *source,
                                               struct mt_tokenizer **out, struct mt_error *err);

#endif
