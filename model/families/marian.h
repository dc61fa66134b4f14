/*
 * Marian's models (marian-nmt/marian-dev), as OPUS-MT publishes them and as training leaves them: a
 * folder with decoder.yml (or one *.decoder.yml), and beside it the model and the vocabularies that
 * it names: vocab.yml with source.spm and target.spm, or .spm files that are also vocabularies. The
 * model is an .npz or a binary file (weights/marian_bin.h).
 *
 * A model may lack a decoder.yml, as Mozilla publishes Firefox's models and browsermt Bergamot's:
 * one model (model.ende.intgemm.alphas.bin, .intgemm8.bin, ...), and one vocab*.spm, or
 * srcvocab*.spm and trgvocab*.spm. Such a model is searched greedily, as by Firefox, and the names
 * tell the languages. A lex.*.bin is its shortlist.
 *
 * Refused by name: ensembles, factored vocabularies, average-attention decoders and recurrent ones
 * except SSRU, every unknown setting of the architecture, lexical shortlists in text form, and
 * sampling.
 */
#ifndef MT_MODEL_FAMILIES_MARIAN_H
#define MT_MODEL_FAMILIES_MARIAN_H

#include "model/families/foreign.h"

extern const struct mt_foreign mt_marian;

/* The read step, in marian_read.c. */
MT_MUST_CHECK enum mt_status mt_marian_read(const struct mt_foreign_files *files,
                                            struct mt_image **out, struct mt_error *err);

#endif
