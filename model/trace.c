#include "model/trace_state.h"

#include "base/size.h"

#include <assert.h>
#include <string.h>

#define SELF_ATTENTION                                                     \
    (MT_TRACE_DECODER | MT_TRACE_DECODER_QUERIES | MT_TRACE_DECODER_KEYS | \
     MT_TRACE_DECODER_VALUES | MT_TRACE_DECODER_OUTPUTS)

/* Kinds with a row for each step of the decoder. */
#define HAS_TARGET_ROWS                                                                  \
    (SELF_ATTENTION | MT_TRACE_CROSS | MT_TRACE_CROSS_QUERIES | MT_TRACE_CROSS_OUTPUTS | \
     MT_TRACE_DECODER_STATES | MT_TRACE_LOGITS | MT_TRACE_DECODER_STREAM |               \
     MT_TRACE_DECODER_ADDED | MT_TRACE_DECODER_HIDDEN)

/* The index of the lowest kind in the set. */
static size_t index_of(unsigned kinds)
{
    return (size_t)__builtin_ctz(kinds);
}

/* Makes the table of the kept heads' matrices. */
static enum mt_status choose_heads(struct mt_trace_block *block, struct mt_trace_shape shape,
                                   const struct mt_kept_heads *kept, struct mt_arena *arena,
                                   struct mt_error *err)
{
    size_t n = shape.n_layers * shape.n_heads;
    void *table;
    enum mt_status status = mt_arena_take(arena, n, sizeof(uint16_t), "trace", &table, err);
    if (status)
        return status;
    uint16_t *matrices = table;
    for (size_t i = 0; i < n; i++)
        matrices[i] = MT_NOT_KEPT;
    for (size_t i = 0; i < kept->n; i++) {
        assert(kept->items[i] < n);
        matrices[kept->items[i]] = (uint16_t)i;
    }
    block->matrices = matrices;
    block->n_matrices = kept->n;
    return MT_OK;
}

/* kept NULL: all heads. */
static enum mt_status block_init(struct mt_trace_block *block, struct mt_trace_shape capacity,
                                 const struct mt_kept_heads *kept, struct mt_arena *arena,
                                 struct mt_error *err)
{
    size_t n_rows;
    *block = (struct mt_trace_block){
        .row_capacity = capacity.n_rows, .column_capacity = capacity.n_columns, .shape = capacity};
    bool fits = mt_size_mul(capacity.n_layers, capacity.n_heads, &block->n_matrices);
    enum mt_status status = fits && kept ? choose_heads(block, capacity, kept, arena, err) : MT_OK;
    if (status)
        return status;
    if (!fits || !mt_size_mul(block->n_matrices, capacity.n_rows, &n_rows) ||
        !mt_size_mul(n_rows, capacity.n_columns, &n_rows))
        return mt_fail(err, MT_LIMIT,
                       "trace: %zu x %zu x %zu x %zu numbers overflow the address space",
                       capacity.n_layers, capacity.n_heads, capacity.n_rows, capacity.n_columns);
    void *numbers;
    status = mt_arena_take(arena, n_rows, sizeof(float), "trace", &numbers, err);
    if (!status)
        block->numbers = numbers;
    return status;
}

enum mt_status mt_trace_init(struct mt_trace *trace, const struct mt_hparams *h, unsigned kinds,
                             const struct mt_kept_heads *kept, size_t n_source, size_t max_target,
                             struct mt_arena *arena, struct mt_error *err)
{
    const size_t le = h->n_encoder_layers, he = h->n_encoder_heads, s = n_source;
    const size_t ld = h->n_decoder_layers, hd = h->n_decoder_heads, t = max_target;
    const size_t d = h->d_model;
    const struct mt_trace_shape of_encoder = {le, he, s, d / he}, of_decoder = {ld, hd, t, d / hd};
    const struct mt_trace_shape of_source = {ld, hd, s, d / hd};
    const struct mt_trace_shape capacities[MT_TRACE_KINDS] = {
        {le, he, s, s},
        {ld, hd, t, t},
        {ld, hd, t, s},
        {le + 1, 1, s, d},
        {ld + 1, 1, t, d},
        {1, 1, t, h->n_target_vocab},
        of_encoder,
        of_decoder,
        of_decoder, /* queries */
        of_encoder,
        of_decoder,
        of_source, /* keys */
        of_encoder,
        of_decoder,
        of_source, /* values */
        of_encoder,
        of_decoder,
        of_decoder, /* outputs */
        {le, 3, s, d},
        {ld, 4, t, d},
        {le, 2, s, d},
        {ld, 3, t, d},
        {le, 1, s, h->d_ff_encoder},
        {ld, 1, t, h->d_ff_decoder},
    };
    enum mt_status status = MT_OK;
    if (h->decoder_cell != MT_CELL_ATTENTION)
        kinds &= ~(unsigned)SELF_ATTENTION;
    *trace = (struct mt_trace){.kinds = kinds};
    for (size_t i = 0; i < MT_TRACE_KINDS && !status; i++)
        if (kinds & (1u << i))
            status = block_init(&trace->blocks[i], capacities[i],
                                1u << i == MT_TRACE_CROSS && kept->n > 0 ? kept : NULL, arena, err);
    return status;
}

void mt_trace_set_target_length(struct mt_trace *trace, size_t n_target)
{
    for (unsigned kinds = trace->kinds & HAS_TARGET_ROWS; kinds; kinds &= kinds - 1) {
        struct mt_trace_block *block = &trace->blocks[index_of(kinds)];
        assert(n_target <= block->row_capacity);
        block->shape.n_rows = n_target;
    }
    struct mt_trace_block *self = &trace->blocks[index_of(MT_TRACE_DECODER)];
    if (self->numbers)
        self->shape.n_columns = n_target;
}

static bool is_kept(const struct mt_trace_block *block, size_t layer, size_t head)
{
    return !block->matrices || block->matrices[layer * block->shape.n_heads + head] != MT_NOT_KEPT;
}

static float *row_at(const struct mt_trace_block *block, size_t layer, size_t head, size_t row)
{
    size_t matrix = layer * block->shape.n_heads + head;
    assert(is_kept(block, layer, head));
    if (block->matrices)
        matrix = block->matrices[matrix];
    return block->numbers + (row * block->n_matrices + matrix) * block->column_capacity;
}

/* Whether the kind was asked for; false for NULL. */
static bool wants(const struct mt_trace *trace, enum mt_trace_kind kind)
{
    return trace && trace->kinds & kind;
}

void mt_trace_write(struct mt_trace *trace, enum mt_trace_kind kind, size_t layer, size_t head,
                    size_t row, const float *numbers, size_t n)
{
    if (!wants(trace, kind))
        return;
    const struct mt_trace_block *block = &trace->blocks[index_of(kind)];
    assert(layer < block->shape.n_layers && head < block->shape.n_heads &&
           row < block->row_capacity && n <= block->column_capacity);
    if (!is_kept(block, layer, head))
        return;
    float *out = row_at(block, layer, head, row);
    memcpy(out, numbers, n * sizeof *out);
    memset(out + n, 0, (block->column_capacity - n) * sizeof *out);
}

void mt_trace_write_part(struct mt_trace *trace, enum mt_trace_kind kind, size_t row, size_t first,
                         const float *numbers, size_t n)
{
    if (!wants(trace, kind))
        return;
    const struct mt_trace_block *block = &trace->blocks[index_of(kind)];
    assert(row < block->row_capacity && first + n <= block->column_capacity);
    memcpy(row_at(block, 0, 0, row) + first, numbers, n * sizeof *numbers);
}

void mt_trace_fill(struct mt_trace *trace, enum mt_trace_kind kind, size_t row, float number)
{
    if (!wants(trace, kind))
        return;
    const struct mt_trace_block *block = &trace->blocks[index_of(kind)];
    assert(row < block->row_capacity);
    float *numbers = row_at(block, 0, 0, row);
    for (size_t i = 0; i < block->column_capacity; i++)
        numbers[i] = number;
}

float *mt_trace_at(struct mt_trace *trace, enum mt_trace_kind kind, size_t layer, size_t head,
                   size_t row)
{
    if (!wants(trace, kind))
        return NULL;
    const struct mt_trace_block *block = &trace->blocks[index_of(kind)];
    assert(layer < block->shape.n_layers && head < block->shape.n_heads &&
           row < block->row_capacity);
    return row_at(block, layer, head, row);
}

struct mt_trace_shape mt_trace_shape(const struct mt_trace *trace, enum mt_trace_kind kind)
{
    return trace ? trace->blocks[index_of(kind)].shape : (struct mt_trace_shape){0};
}

const float *mt_trace_row(const struct mt_trace *trace, enum mt_trace_kind kind, size_t layer,
                          size_t head, size_t row)
{
    const struct mt_trace_block *block = &trace->blocks[index_of(kind)];
    assert(layer < block->shape.n_layers && head < block->shape.n_heads &&
           row < block->shape.n_rows);
    return row_at(block, layer, head, row);
}
