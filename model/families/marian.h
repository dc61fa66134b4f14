/*
 * Marian's models (marian-nmt/marian-dev), as OPUS-MT publishes them and as training leaves them: a
 * folder with decoder.yml (or one *.decoder.yml), the model and the vocabularies that it names,
 * looked for beside it: vocab.yml with source.spm and target.spm, or .spm files that are
 * vocabularies themselves. The model is an .npz or a binary file (weights/marian_bin.h).
 *
 * Without a decoder.yml, as Mozilla serves Firefox's models and browsermt Bergamot's: one model
 * (model.ende.intgemm.alphas.bin, .intgemm8.bin, ...), and one vocab*.spm, or srcvocab*.spm and
 * trgvocab*.spm. It is searched as Firefox does, greedily, and the names tell the languages.
 * A lex.*.bin is its shortlist.
 *
 * Refused by name: ensembles, factored vocabularies, average-attention decoders and recurrent ones
 * but SSRU, every setting of the architecture that we do not know, lexical shortlists
 * that are text, and sampling.
 */
#ifndef MT_MODEL_FAMILIES_MARIAN_H
#define MT_MODEL_FAMILIES_MARIAN_H

#include "model/families/foreign.h"

extern const struct mt_foreign mt_marian;

/* Its read step, in marian_read.c. */
MT_MUST_CHECK enum mt_status mt_marian_read(const struct mt_foreign_files *files,
                                            struct mt_image **out, struct mt_error *err);

#endif
