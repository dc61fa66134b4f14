/*
 * The languages that a model translates between where no route says it (catalog.h), on the command
 * line.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_DIRECTION_H
#define MT_SERVER_TEXT_DIRECTION_H

#include "server/text/language.h"

struct mt_tokenizer;
struct mt_translation_options;

/* source_code and target_code are the tokenizer's codes for a model of many languages, and NULL for
 * others. A language is "" where neither the user nor the model's files name it. */
struct mt_text_direction {
    const char *source_code, *target_code;
    char source_lang[MT_LANGUAGE_BYTES], target_lang[MT_LANGUAGE_BYTES];
};

/* source and target are as users write them, or "", which means what the model's files say. A model
 * of many languages needs both. MT_INVALID names the languages that it has. */
MT_MUST_CHECK enum mt_status mt_text_direction_choose(const struct mt_tokenizer *tokenizer,
                                                      const char *source, const char *target,
                                                      struct mt_text_direction *out,
                                                      struct mt_error *err);

/* Sets the direction in the options, which borrow it. */
void mt_text_direction_set(const struct mt_text_direction *direction,
                           struct mt_translation_options *options);

/* Return the language, or NULL where it is not known. */
const char *mt_text_direction_source(const struct mt_text_direction *direction);
const char *mt_text_direction_target(const struct mt_text_direction *direction);

#endif
