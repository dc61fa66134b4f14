/*
 * Target vocabularies: the tokens that a model may write in a language, in a file beside its
 * weights. A model of many languages has pieces for all of them, and each language needs only a
 * part, so the output layer computes only that part (candidates.h).
 *
 *   attentiond.target-vocabulary.fr.txt   of one target, by the model's own code, of a model of
 *                                         many languages (tokenizer.h)
 *   attentiond.target-vocabulary.txt      of every target, of another model
 *
 * The first line is "attentiond target vocabulary 1: N", where N is the size of the target's
 * vocabulary. A line for each id follows, ascending, including eos. `attentiond import` makes the
 * files from texts.
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_MODEL_FILES_TARGET_VOCABULARY_H
#define MT_MODEL_FILES_TARGET_VOCABULARY_H

#include "base/text.h"
#include "model/files/hparams.h"

struct mt_tokenizer;

#define MT_TARGET_VOCABULARY_PREFIX "attentiond.target-vocabulary."
#define MT_TARGET_VOCABULARY_NAME_BYTES 96
#define MT_TARGET_VOCABULARY_MAX_FILE_BYTES ((size_t)16 << 20)

/* language: the model's own code, or NULL. */
void mt_target_vocabulary_name(const char *language, char out[MT_TARGET_VOCABULARY_NAME_BYTES]);

/* ids has room for hparams->n_target_vocab; bytes are NUL-terminated. MT_FORMAT, MT_INVALID (it
 * belongs to another model). */
MT_MUST_CHECK enum mt_status mt_target_vocabulary_read(const char *bytes, size_t length,
                                                       const char *path,
                                                       const struct mt_hparams *hparams,
                                                       int32_t *ids, size_t *n,
                                                       struct mt_error *err);

/* --- Making a vocabulary: there is a mark for each id of the target's vocabulary --- */

/* Marks the tokens of a text in the language, except <unk>. */
MT_MUST_CHECK enum mt_status mt_target_vocabulary_add_text(const struct mt_tokenizer *tokenizer,
                                                           const char *text, size_t length,
                                                           const struct mt_hparams *hparams,
                                                           bool *marks, struct mt_error *err);

/* Marks the tokens that every language needs: eos, the first token of a target, digits and
 * punctuation, single Latin letters, bytes. */
void mt_target_vocabulary_add_common(const struct mt_tokenizer *tokenizer,
                                     const struct mt_hparams *hparams, bool *marks);

/* Appends the content of the file. */
MT_MUST_CHECK enum mt_status mt_target_vocabulary_write(const struct mt_hparams *hparams,
                                                        const bool *marks, struct mt_text *out,
                                                        struct mt_error *err);

#endif
