/*
 * Vocabulary: vocab.json of a MarianMT directory, one JSON object {"piece": id, ...}, for both
 * directions. Ids are unique but need not be dense. Thread-safety: immutable after open.
 */
#ifndef MT_MODEL_TOKENIZER_VOCAB_H
#define MT_MODEL_TOKENIZER_VOCAB_H

#include "base/status.h"

#include <stdint.h>

#define MT_VOCAB_MAX_FILE_BYTES ((size_t)64 << 20)
#define MT_VOCAB_MAX_PIECES ((size_t)1 << 20)
#define MT_VOCAB_MAX_PIECE_BYTES 1024
#define MT_VOCAB_MAX_ID ((1 << 21) - 1)

/* For a missing id, since ids of tokens are never negative. */
#define MT_NO_TOKEN (-1)

struct mt_vocab;

/* what names the document in messages; bytes are not needed afterwards. Errors name it and the
 * piece: MT_FORMAT for malformed JSON, values that are not whole numbers from 0 to MT_VOCAB_MAX_ID,
 * and ids or pieces that occur twice; MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_vocab_parse(const char *bytes, size_t length, const char *what,
                                            struct mt_vocab **out, struct mt_error *err);

/* NULL is allowed. */
void mt_vocab_close(struct mt_vocab *vocab);

/* Returns the id of a piece, or MT_NO_TOKEN, also for a piece with a NUL in it. */
int32_t mt_vocab_id(const struct mt_vocab *vocab, const char *piece, size_t length);

/* Returns the piece of an id, which is borrowed, or NULL. */
const char *mt_vocab_piece(const struct mt_vocab *vocab, int32_t id);

/* Returns the highest id + 1. */
size_t mt_vocab_size(const struct mt_vocab *vocab);

#endif
