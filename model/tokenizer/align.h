/*
 * Alignment: which part of the original text each SentencePiece piece stands for.
 *
 * Normalising replaces, merges and drops characters, and its blanks come and go; but its other
 * bytes come out in order. So the pieces' bytes, blanks (U+2581) left aside, are matched one after
 * the other with those that the charsmap makes of the text:
 *
 *   text      |  (two blanks) | ½        | kg (one character, U+338F) | x |
 *   becomes   | (blank)       | 1 ⁄ 2    | k g                        | x |
 *   pieces    | ▁1: the ½     | ⁄: the ½ | 2k: ½ to U+338F            | gx: U+338F to x
 *
 * A piece's span runs from the first to behind the last character that any of its bytes came from,
 * without blanks at its ends. Begins and ends never decrease, and lie on character boundaries.
 * Neighbours overlap only in characters that were replaced together and cut apart again: those
 * belong to both. A piece that is all blank is empty and lies where the text goes on, unless it
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
    size_t next; /* where the unit behind the current one begins */
    /* The characters that are replaced together, and what of their replacement is still to match */
    size_t unit_begin;
    const char *rest;
    size_t rest_length;
    size_t last_begin, last_end; /* of the last span given out */
};

void mt_aligner_init(struct mt_aligner *aligner, const struct mt_charsmap *map, const char *text,
                     size_t length);

/* The span of the piece that follows the one of the last call. Where the piece's bytes are not what
 * the charsmap makes of the text (symbols that the model's owner defined are exempt from it),
 * libsentencepiece's own offsets are taken. */
void mt_align(struct mt_aligner *aligner, const struct mt_spm_piece *piece, size_t *begin,
              size_t *end);

#endif
