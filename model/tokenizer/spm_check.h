/*
 * Checks a SentencePiece file before libsentencepiece reads it.
 *
 * libsentencepiece trusts its files: it walks the charsmap's trie without limits, collects nested
 * matches in arrays of fixed size on the stack, and builds tries recursively, one call per byte of
 * a piece. This check reads the protobuf message (sentencepiece_model.proto: ModelProto) itself and
 * refuses everything harmful. A file that passes may still be refused by libsentencepiece, with an
 * error.
 */
#ifndef MT_MODEL_TOKENIZER_SPM_CHECK_H
#define MT_MODEL_TOKENIZER_SPM_CHECK_H

#include "base/status.h"
#include "model/tokenizer/charsmap.h"

#include <stdbool.h>
#include <stdint.h>

#define MT_SPM_MAX_FILE_BYTES ((size_t)32 << 20)
#define MT_SPM_MAX_PIECES ((size_t)1 << 20)
#define MT_SPM_MAX_PIECE_BYTES 1024
#define MT_SPM_MAX_USER_DEFINED 65536
#define MT_SPM_MAX_NESTED_USER_DEFINED 64 /* libsentencepiece collects them in an array of 64 */
#define MT_SPM_MAX_SELF_TEST_BYTES 65536  /* the file's test samples are tokenized while loading */

struct mt_spm_info {
    size_t n_pieces;
    uint64_t model_type;         /* 1 unigram, 2 bpe, 3 word, 4 char */
    struct mt_charsmap charsmap; /* points into the file's bytes */
};

/* MT_OK if bytes[0, length) is a SentencePiece model that is safe to load. what names the file in
 * messages. MT_FORMAT, MT_LIMIT, or MT_UNSUPPORTED for a denormaliser (whose output could not be
 * assigned to pieces) and for unknown model types. *out is written only on success. */
MT_MUST_CHECK enum mt_status mt_spm_check(const char *bytes, size_t length, const char *what,
                                          struct mt_spm_info *out, struct mt_error *err);

/* Calls emit with the pieces, by ascending id. A status other than MT_OK ends this and is returned.
 * bytes: a file that mt_spm_check accepted. */
typedef enum mt_status mt_spm_emit_piece(void *context, const char *piece, size_t length,
                                         struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_spm_list_pieces(const char *bytes, size_t length, const char *what,
                                                mt_spm_emit_piece *emit, void *context,
                                                struct mt_error *err);

#endif
