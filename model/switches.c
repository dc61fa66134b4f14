#include "model/switches.h"

#include "base/arena.h"
#include "model/files/hparams.h"

#include <string.h>

/* The heads are in the order encoder, decoder, cross. */
static size_t first_of(const struct mt_hparams *h, enum mt_trace_kind place)
{
    size_t n_encoder = h->n_encoder_layers * h->n_encoder_heads;
    size_t n_decoder = h->n_decoder_layers * h->n_decoder_heads;
    return place == MT_TRACE_ENCODER   ? 0
           : place == MT_TRACE_DECODER ? n_encoder
                                       : n_encoder + n_decoder;
}

static size_t n_heads_of(const struct mt_hparams *h, enum mt_trace_kind place)
{
    return place == MT_TRACE_ENCODER ? h->n_encoder_heads : h->n_decoder_heads;
}

static enum mt_status check(const struct mt_hparams *h, const struct mt_head *head,
                            struct mt_error *err)
{
    bool is_encoder = head->place == MT_TRACE_ENCODER;
    size_t n_layers = is_encoder ? h->n_encoder_layers : h->n_decoder_layers;
    if (head->place == MT_TRACE_DECODER && h->decoder_cell != MT_CELL_ATTENTION)
        return mt_fail(err, MT_INVALID, "switched_off: the decoder has no self-attention");
    if (head->layer >= n_layers ||
        (head->head != MT_ALL_HEADS && head->head >= n_heads_of(h, head->place)))
        return mt_fail(err, MT_INVALID,
                       "switched_off: found layer %zu, head %zu, expected below %zu and %zu",
                       head->layer, head->head, n_layers, n_heads_of(h, head->place));
    return MT_OK;
}

enum mt_status mt_switches_make(const struct mt_hparams *h, const struct mt_head *heads, size_t n,
                                struct mt_arena *arena, uint8_t **out, struct mt_error *err)
{
    void *memory;
    size_t n_all = first_of(h, MT_TRACE_CROSS) + h->n_decoder_layers * h->n_decoder_heads;
    *out = NULL;
    if (!n)
        return MT_OK;
    for (size_t i = 0; i < n; i++) {
        enum mt_status status = check(h, &heads[i], err);
        if (status)
            return status;
    }
    enum mt_status status = mt_arena_take(arena, n_all, 1, "switches", &memory, err);
    if (status)
        return status;
    *out = memory;
    for (size_t i = 0; i < n; i++) {
        size_t n_heads = n_heads_of(h, heads[i].place);
        uint8_t *layer = *out + first_of(h, heads[i].place) + heads[i].layer * n_heads;
        if (heads[i].head == MT_ALL_HEADS)
            memset(layer, 1, n_heads);
        else
            layer[heads[i].head] = 1;
    }
    return MT_OK;
}

const uint8_t *mt_switches_of(const uint8_t *switches, const struct mt_hparams *h,
                              enum mt_trace_kind place, size_t layer)
{
    return switches ? switches + first_of(h, place) + layer * n_heads_of(h, place) : NULL;
}
