/*
 * A trained encoder-decoder Transformer, mapped from a MarianMT directory: config.json,
 * generation_config.json, model.safetensors, vocab.json, source.spm, target.spm; or read from the
 * files of another family (source.h).
 *
 * The architecture is that of Vaswani et al. 2017, "Attention Is All You Need"; names are the
 * paper's. Dimension letters used throughout model/: B sentences, M rows in a decoder step, S
 * source length, T target length so far, D d_model, H heads, K d_k = D/H, F d_ff, V vocabulary, L
 * layers. Matrices are row-major, written [T, D].
 *
 * Thread-safety: a model is immutable after open and shared by all threads; what changes while
 * decoding lives in struct mt_batch (batch.h).
 */
#ifndef MT_MODEL_MODEL_H
#define MT_MODEL_MODEL_H

#include "base/file.h"
#include "model/files/hparams.h"

struct mt_model;
struct mt_tokenizer;
struct mt_import_report;

enum mt_precision { MT_FP32, MT_INT8 };

/* {0} means the defaults. */
struct mt_model_options {
    enum mt_precision precision;
    enum mt_load_mode load_mode;
    const char *kernels; /* a table's name (kernels.h); "auto" or NULL: the fastest */
    /* Open checks everything as usual, including every number, but neither packs nor widens the
     * weights: the model can be described and closed, but not used. For a model of a family that is
     * converted, this takes the memory of the conversion (source.h). */
    bool checks_only;

    /*
     * int8: directory for the packed form of a plain model; NULL or not writable: the model is
     * packed in memory at every start. A file there that is outdated, incomplete, of another
     * version or of another owner is replaced and never used. The numbers in it are not checked,
     * because that would read all of them at each start. Files of models that no longer exist are
     * removed when another is written. A model with attentiond.int8.safetensors (what `import`
     * writes) needs no cache.
     */
    const char *cache_directory;
    /* Open does not wait until a newly packed form is in the cache: a thread writes it, or stops at
     * close, which does not wait either. The form stays in memory until close. on_cache_failure,
     * which may be NULL, is called by that thread or by open if it cannot be written. */
    bool writes_cache_later;
    void (*on_cache_failure)(const struct mt_error *err);
    void (*on_progress)(void *context, size_t n_done, size_t n_total); /* of packing; may be NULL */
    void *progress_context;
};

/* directory is borrowed only during the call. Every tensor is checked against the hyper-parameters;
 * messages say "expected ... found ...". A number among the weights that is infinite or NaN is
 * refused with the tensor's name. */
MT_MUST_CHECK enum mt_status mt_model_open(const char *directory,
                                           const struct mt_model_options *options,
                                           struct mt_model **out, struct mt_error *err);

/* Whether the weights are unchanged since open: MT_IO if their file was truncated or written to
 * (see mt_mapping_check in base/file.h). Everything that was decoded before an MT_OK is valid.
 * Thread-safety: safe. */
MT_MUST_CHECK enum mt_status mt_model_check(const struct mt_model *model, struct mt_error *err);

/* NULL is allowed. No batch may still use the model. */
void mt_model_close(struct mt_model *model);

struct mt_model_import {
    const char *from, *to;
    /* Its precision determines the weights: MT_INT8 the packed form, MT_FP32 model.safetensors with
     * the numbers as they are. */
    const struct mt_model_options *options;
    /* Checks the copy, in a directory of its own, and adds files to it; a failure prevents the
     * import. May be NULL. report is filled in before. */
    enum mt_status (*confirm)(void *context, const char *copy, struct mt_error *err);
    void *context;
};

/* Makes a directory of our own, `to`, which may exist, of the model in `from` (import.h).
 * MT_INVALID, as from mt_import_check, if the model does not open in MT_FP32, or if `to` contains
 * something else; failures of confirm. After any failure the previous content is still there,
 * except in the last step, which only renames. Thread-safety: safe on distinct directories. */
MT_MUST_CHECK enum mt_status mt_model_import(const struct mt_model_import *request,
                                             struct mt_import_report *report, struct mt_error *err);

const struct mt_hparams *mt_model_hparams(const struct mt_model *model);
const struct mt_tokenizer *mt_model_tokenizer(const struct mt_model *model);
enum mt_precision mt_model_precision(const struct mt_model *model);

/* Where the weights came from, as a phrase for the log: "packed form in /var/cache/...", ... */
const char *mt_model_note(const struct mt_model *model);

/* Whether the model has a lexical shortlist: for each sentence only the tokens in it are
 * considered, unless the sentence's options say otherwise. */
bool mt_model_has_shortlist(const struct mt_model *model);

/* Number of tokens in the target vocabulary of a language (model/files/target_vocabulary.h), which
 * is given by the model's own code, or NULL; 0: there is none, and any token may be written. */
size_t mt_model_target_vocabulary_size(const struct mt_model *model, const char *language);

/* The kernels in use: "avx2", ... */
const char *mt_model_kernels_name(const struct mt_model *model);

/* Numbers in the weights; bytes of the mapped file; and bytes of private memory besides it (widened
 * copies). */
size_t mt_model_n_parameters(const struct mt_model *model);
size_t mt_model_mapped_bytes(const struct mt_model *model);
size_t mt_model_private_bytes(const struct mt_model *model);

#endif
