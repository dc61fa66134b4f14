/*
 * The activations between the two halves of a feed-forward layer. Their names in config.json are in
 * hparams.c.
 */
#ifndef MT_MODEL_KERNELS_ACTIVATION_H
#define MT_MODEL_KERNELS_ACTIVATION_H

/* gelu is x * Phi(x); gelu_tanh approximates Phi by 0.5 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))),
 * quick_gelu by sigmoid(1.702 x) (Hendrycks and Gimpel 2016, section 2). */
enum mt_activation { MT_RELU, MT_SILU, MT_GELU, MT_GELU_TANH, MT_QUICK_GELU };

#endif
