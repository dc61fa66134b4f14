/*
 * Alignment: which part of the original text each SentencePiece piece stands for.
 *
 * Normalising replaces, merges and drops characters, and adds and removes blanks, but the other
 * bytes come out in order. So the pieces' bytes, without blanks (U+2581), are matched one after the
 * other with the bytes that the charsmap makes of the text:
 *
 *   text      |  (two blanks) | ½        | kg (one character, U+338F) | x |
 *   becomes   | (blank)       | 1 ⁄ 2    | k g                        | x |
 *   pieces    | ▁1: the ½     | ⁄: the ½ | 2k: ½ to U+338F            | gx: U+338F to x
 *
 * A piece's span reaches from the first character that any of its bytes came from to behind the
 * last one, without blanks at its ends. Begins and ends never decrease, and are at character
 * boundaries. Spans overlap only in characters that were replaced together and cut apart again,
 * which belong to both. A piece of blanks has an empty span where the text continues, unless it
 * came from inside such a character.
 */
#ifndef MT_MODEL_TOKENIZER_ALIGN_H
#define MT_MODEL_TOKENIZER_ALIGN_H

#include "model/tokenizer/charsmap.h"
#include "model/tokenizer/spm.h"

struct mt_aligner {
    const struct mt_charsmap *map;
    const char *text;
    size_t length;
    size_t next; /* position behind the current unit */
    /* Characters that are replaced together, and the part of the replacement that is not matched
     * yet */
    size_t unit_begin;
    const char *rest;
    size_t rest_length;
    size_t last_begin, last_end; /* of the last span given out */
};

void mt_aligner_init(struct mt_aligner *aligner, const struct mt_charsmap *map, const char *text,
                     size_t length);

/* Finds the span of the next piece. If the piece's bytes are not those that the charsmap makes of
 * the text (symbols that the model's author defined are not normalised), then libsentencepiece's
 * own offsets are taken. */
void mt_align(struct mt_aligner *aligner, const struct mt_spm_piece *piece, size_t *begin,
              size_t *end);

#endif
