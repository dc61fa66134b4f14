/*
 * The activation functions of the feed-forward layers (Vaswani et al. 2017, section 3.3), and their
 * names in each family of models. The table of names is in activation.c; `activate` in reference.c
 * computes them. HACKING.md tells how to add one.
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_MODEL_KERNELS_ACTIVATION_H
#define MT_MODEL_KERNELS_ACTIVATION_H

#include "base/status.h"

/* gelu is x * Phi(x); gelu_tanh approximates Phi by 0.5 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))),
 * quick_gelu by sigmoid(1.702 x) (Hendrycks and Gimpel 2016, section 2). */
enum mt_activation { MT_RELU, MT_SILU, MT_GELU, MT_GELU_TANH, MT_QUICK_GELU };
#define MT_ACTIVATIONS (MT_QUICK_GELU + 1)

/* Where the names occur: "activation_function" of a config.json, "transformer-ffn-activation" of
 * Marian's settings, or the number "activation" in a model.bin of CTranslate2's. */
enum mt_activation_names {
    MT_NAMED_BY_CONFIG,
    MT_NAMED_BY_MARIAN,
    MT_NAMED_BY_CTRANSLATE2,
    MT_ACTIVATION_NAMES
};

/* Returns config.json's name: "relu", "swish", ... */
const char *mt_activation_name(enum mt_activation activation);

/* Finds the activation of that name. MT_UNSUPPORTED where there is none, with a message that begins
 * with the key: "transformer-ffn-activation: expected relu, swish or gelu (quick_gelu), found
 * "mish"". */
MT_MUST_CHECK enum mt_status mt_activation_find(enum mt_activation_names names, const char *key,
                                                const char *name, enum mt_activation *out,
                                                struct mt_error *err);

#endif
