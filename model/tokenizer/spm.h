/*
 * The shim over libsentencepiece, which is C++: no exception crosses it. Out of memory is MT_MEMORY
 * where libsentencepiece throws it, but its protobuf (0.1.97) does not survive every failed
 * allocation: limit what is tokenized at once, do not count on recovery.
 *
 * Thread-safety: a processor is immutable but for what its first encoding makes, once; any thread
 * may encode and decode.
 */
#ifndef MT_MODEL_TOKENIZER_SPM_H
#define MT_MODEL_TOKENIZER_SPM_H

#include "base/text.h"
#include "model/tokenizer/tokenizer.h"

struct mt_spm;

/* bytes: a file that mt_spm_check accepted; not needed any more afterwards. what names it in
 * messages. MT_FORMAT if libsentencepiece refuses it, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_spm_open(const char *bytes, size_t length, const char *what,
                                         struct mt_spm **out, struct mt_error *err);

/* Opens a file whose pieces are joined far more often than text is cut into them. What only cutting
 * needs, which is most of the work and of the memory, is made at the first mt_spm_encode. */
MT_MUST_CHECK enum mt_status mt_spm_open_for_decoding(const char *bytes, size_t length,
                                                      const char *what, struct mt_spm **out,
                                                      struct mt_error *err);
void mt_spm_close(struct mt_spm *spm);

/* One piece of a text: normalised, U+2581 for a blank; a run of unknown characters is one piece. It
 * may hold NUL. begin and end: the bytes of the original text that libsentencepiece gives it. */
struct mt_spm_piece {
    const char *bytes;
    size_t length;
    size_t begin, end;
    bool is_byte; /* "<0xE4>": one byte of a character that has no piece */
};

/* Cuts well-formed UTF-8 into pieces and hands them to emit in order; stops when emit returns
 * something else than MT_OK, and returns that. */
typedef enum mt_status mt_spm_emit(void *context, const struct mt_spm_piece *piece);
MT_MUST_CHECK enum mt_status mt_spm_encode(const struct mt_spm *spm, const char *text,
                                           size_t length, mt_spm_emit *emit, void *context,
                                           struct mt_error *err);

/* Joins pieces to text (U+2581 becomes a blank in those that the model knows, the others are
 * copied), appended to out; spans[i], relative to the first byte appended, is piece i's part. */
MT_MUST_CHECK enum mt_status mt_spm_decode(const struct mt_spm *spm, const char *const *pieces,
                                           size_t n, struct mt_span *spans, struct mt_text *out,
                                           struct mt_error *err);

#endif
