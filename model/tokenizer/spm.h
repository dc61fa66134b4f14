/*
 * A C interface to libsentencepiece, which is C++: no exception leaves it. Lack of memory is
 * MT_MEMORY if libsentencepiece throws it, but its protobuf (0.1.97) does not survive every failed
 * allocation, so limit the size of texts instead of relying on that.
 *
 * Thread-safety: a processor is immutable, except for data that its first encoding creates, once;
 * any thread may encode and decode.
 */
#ifndef MT_MODEL_TOKENIZER_SPM_H
#define MT_MODEL_TOKENIZER_SPM_H

#include "base/text.h"
#include "model/tokenizer/tokenizer.h"

struct mt_spm;

/* bytes: a file that mt_spm_check accepted, which is not needed afterwards. what names it in
 * messages. MT_FORMAT if libsentencepiece refuses it, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_spm_open(const char *bytes, size_t length, const char *what,
                                         struct mt_spm **out, struct mt_error *err);

/* Opens a file that is used for joining pieces far more often than for cutting text. The data for
 * cutting, which take most of the time and memory, are only created at the first mt_spm_encode. */
MT_MUST_CHECK enum mt_status mt_spm_open_for_decoding(const char *bytes, size_t length,
                                                      const char *what, struct mt_spm **out,
                                                      struct mt_error *err);
void mt_spm_close(struct mt_spm *spm);

/* One piece of a text: normalised, with U+2581 for a blank; a run of unknown characters is one
 * piece. It may contain NUL. begin and end: the bytes of the original text to which
 * libsentencepiece assigns it. */
struct mt_spm_piece {
    const char *bytes;
    size_t length;
    size_t begin, end;
    bool is_byte; /* "<0xE4>": one byte of a character that has no piece */
};

/* Cuts well-formed UTF-8 into pieces and calls emit with each in order. A status other than MT_OK
 * ends this and is returned. */
typedef enum mt_status mt_spm_emit(void *context, const struct mt_spm_piece *piece);
MT_MUST_CHECK enum mt_status mt_spm_encode(const struct mt_spm *spm, const char *text,
                                           size_t length, mt_spm_emit *emit, void *context,
                                           struct mt_error *err);

/* Joins pieces to text (U+2581 becomes a blank in known pieces; unknown ones are copied) and
 * appends it to out; spans[i], relative to the first byte appended, is piece i's part. */
MT_MUST_CHECK enum mt_status mt_spm_decode(const struct mt_spm *spm, const char *const *pieces,
                                           size_t n, struct mt_span *spans, struct mt_text *out,
                                           struct mt_error *err);

#endif
