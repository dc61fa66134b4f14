/*
 * Marian's models (marian-nmt/marian-dev), as OPUS-MT publishes them and as training leaves them: a
 * folder with decoder.yml (or one *.decoder.yml), the .npz and the vocabularies that it names,
 * looked for beside it: vocab.yml with source.spm and target.spm, or .spm files that are
 * vocabularies themselves.
 *
 * Refused by name: ensembles, factored vocabularies, recurrent and average-attention decoders,
 * every setting of the architecture that we do not know, lexical shortlists, sampling, and
 * Bergamot's models.
 */
#ifndef MT_MODEL_FAMILIES_MARIAN_H
#define MT_MODEL_FAMILIES_MARIAN_H

#include "model/families/foreign.h"

extern const struct mt_foreign mt_marian;

/* Its read step, in marian_read.c. */
MT_MUST_CHECK enum mt_status mt_marian_read(const struct mt_foreign_files *files,
                                            struct mt_image **out, struct mt_error *err);

#endif
