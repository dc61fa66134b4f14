#include "server/inspection/inspection_image.h"

#include "base/real.h"
#include "base/size.h"
#include "server/inspection/inspection_matrix.h"
#include "server/inspection/label.h"
#include "server/inspection/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROW_LABEL 18
#define MAX_COLUMN_LABEL 14
#define COLOR_CELL 2   /* columns for one weight */
#define PERCENT_CELL 4 /* columns for one weight, as in " 100" */

struct terminal {
    const struct mt_terminal *options;
    struct mt_text *out;
    size_t cell;
};

/* A label cut to its length, as characters that are written below each other. */
struct column_label {
    struct mt_text text;
    size_t n_characters;
};

static void append_blanks(struct mt_text *out, size_t n)
{
    for (; n > 0; n--)
        mt_text_append(out, " ", 1);
}

static size_t label_width(const struct mt_inspected_token *tokens, size_t n)
{
    size_t widest = 0;
    for (size_t i = 0; i < n; i++)
        widest = mt_size_max(widest, mt_label_columns(tokens[i].piece));
    return mt_size_min(widest, MAX_ROW_LABEL);
}

/* Appends one character of the label, in a field `cell` columns wide. */
static void append_character(struct terminal *terminal, const struct column_label *label,
                             size_t index)
{
    const char *at = label->text.bytes;
    for (; index > 0; index--)
        at += mt_utf8_length((unsigned char)*at);
    char character[5] = {0};
    memcpy(character, at, mt_utf8_length((unsigned char)*at));
    size_t width = mt_label_columns(character);
    append_blanks(terminal->out, terminal->cell - width);
    mt_text_append_string(terminal->out, character);
}

/* Draws the labels upright above their columns, ending directly above these. */
static void draw_column_labels(struct terminal *terminal, const struct mt_inspection_matrix *matrix,
                               size_t left, size_t begin, size_t end)
{
    struct column_label *labels = calloc(end - begin + 1, sizeof *labels);
    size_t height = 0;
    if (!labels) {
        terminal->out->status = MT_MEMORY;
        return;
    }
    for (size_t i = begin; i < end; i++) {
        struct column_label *label = &labels[i - begin];
        mt_label_append(&label->text, matrix->column_tokens[i].piece, MAX_COLUMN_LABEL);
        label->n_characters = mt_utf8_count(label->text.bytes, label->text.length);
        height = mt_size_max(height, label->n_characters);
    }
    for (size_t line = 0; line < height; line++) {
        append_blanks(terminal->out, left);
        for (size_t i = 0; i < end - begin; i++) {
            size_t missing = height - labels[i].n_characters;
            if (line < missing)
                append_blanks(terminal->out, terminal->cell);
            else
                append_character(terminal, &labels[i], line - missing);
        }
        mt_text_append(terminal->out, "\n", 1);
    }
    for (size_t i = 0; i < end - begin; i++)
        mt_text_finish(&labels[i].text);
    free(labels);
}

static void draw_cell(struct terminal *terminal, double value, double high)
{
    if (!terminal->options->has_color) {
        mt_text_appendf(terminal->out, "%4.0f", value * 100);
        return;
    }
    struct mt_color color = mt_color_dark(value, 0, high);
    mt_text_appendf(terminal->out, "\x1b[48;2;%u;%u;%um  ", color.red, color.green, color.blue);
}

static void draw_row(struct terminal *terminal, const struct mt_inspection_matrix *matrix,
                     size_t row, size_t width, size_t begin, size_t end, double high)
{
    struct mt_text label = {0};
    size_t n = mt_label_append(&label, matrix->row_tokens[row].piece, width);
    append_blanks(terminal->out, width - n);
    mt_text_append(terminal->out, label.bytes ? label.bytes : "", label.length);
    mt_text_append(terminal->out, " ", 1);
    mt_text_finish(&label);
    const float *values = mt_inspection_matrix_row(matrix, row);
    for (size_t i = begin; i < end; i++)
        draw_cell(terminal, (double)values[i], high);
    mt_text_append_string(terminal->out, terminal->options->has_color ? "\x1b[0m\n" : "\n");
}

static void draw_matrix(struct terminal *terminal, const struct mt_inspection_matrix *matrix)
{
    size_t width = label_width(matrix->row_tokens, matrix->n_rows), left = width + 1;
    double high = mt_inspection_matrix_largest(matrix);
    size_t n_block = matrix->n_columns;
    if (terminal->options->n_columns > left + terminal->cell)
        n_block = mt_size_min(n_block, (terminal->options->n_columns - left) / terminal->cell);
    mt_inspection_matrix_describe(matrix, terminal->out);
    mt_text_appendf(terminal->out,
                    terminal->options->has_color ? "; brightest %.2f\n" : "; percent\n", high);
    for (size_t begin = 0; begin < matrix->n_columns; begin += n_block) {
        size_t end = mt_size_min(begin + n_block, matrix->n_columns);
        draw_column_labels(terminal, matrix, left, begin, end);
        for (size_t row = 0; row < matrix->n_rows; row++)
            draw_row(terminal, matrix, row, width, begin, end, high);
        mt_text_append(terminal->out, "\n", 1);
    }
}

static void draw_texts(struct terminal *terminal, const struct mt_inspection *inspection,
                       const struct mt_inspected_sentence *sentence)
{
    const struct mt_offsets *source = &sentence->source, *target = &sentence->target;
    mt_text_append(terminal->out, inspection->source_text + source->begin,
                   source->end - source->begin);
    mt_text_append_string(terminal->out, "\n");
    mt_text_append(terminal->out, inspection->target_text + target->begin,
                   target->end - target->begin);
    mt_text_append_string(terminal->out, "\n\n");
}

/* Draws "wrote ▁Haus 51% ▁Haus 51%, ▁Gebäude 20%; entropy 1.32". */
static void draw_next_tokens(struct terminal *terminal, const struct mt_inspection *inspection,
                             const struct mt_inspected_sentence *sentence)
{
    size_t n_top = inspection->options.n_top;
    if (!sentence->top)
        return;
    size_t width = label_width(sentence->output_tokens, sentence->n_steps);
    mt_text_append_string(terminal->out, "most probable next tokens, and the entropy in nats\n");
    for (size_t t = 0; t < sentence->n_steps; t++) {
        size_t n = mt_label_append(terminal->out, sentence->output_tokens[t].piece, width);
        append_blanks(terminal->out, width - n);
        mt_text_appendf(terminal->out, "  %5.2f ",
                        sentence->entropy ? (double)sentence->entropy[t] : (double)NAN);
        for (size_t i = 0; i < n_top; i++) {
            const struct mt_inspected_candidate *candidate = &sentence->top[t * n_top + i];
            mt_text_append(terminal->out, " ", 1);
            mt_label_append(terminal->out, candidate->piece, MAX_ROW_LABEL);
            mt_text_appendf(terminal->out, " %.0f%%",
                            100 * mt_real_exp((double)candidate->logprob));
        }
        mt_text_append(terminal->out, "\n", 1);
    }
    mt_text_append(terminal->out, "\n", 1);
}

/* Draws a line for each continuation, best first: "3 0 > 1 ▁Haus -0.52 -1.83" is step 3, where beam
 * 0 was continued as beam 1. */
static void draw_search(struct terminal *terminal, const struct mt_inspected_sentence *sentence)
{
    if (!sentence->search)
        return;
    mt_text_append_string(terminal->out,
                          "search: step, beam > beam, token, its log-probability, their sum\n");
    for (size_t step = 0; step < sentence->n_search_steps; step++) {
        for (size_t i = 0; i < sentence->search[step].n; i++) {
            const struct mt_inspected_continuation *continuation =
                &sentence->search[step].continuations[i];
            const struct mt_search_candidate *is = &continuation->is;
            mt_text_appendf(terminal->out, "%3zu  %d ", step, (int)is->beam);
            if (is->fate == MT_SEARCH_KEPT)
                mt_text_appendf(terminal->out, "> %-2d ", (int)is->next);
            else
                mt_text_append_string(terminal->out,
                                      is->fate == MT_SEARCH_FINISHED ? "end  " : "     ");
            size_t n = mt_label_append(terminal->out, continuation->piece, MAX_ROW_LABEL);
            append_blanks(terminal->out, MAX_ROW_LABEL - n);
            mt_text_appendf(terminal->out, " %7.2f %7.2f\n", (double)is->logprob, (double)is->sum);
        }
    }
    mt_text_append(terminal->out, "\n", 1);
}

static enum mt_status draw_sentence(struct terminal *terminal, struct mt_inspection *inspection,
                                    size_t index, struct mt_error *err)
{
    const struct mt_inspection_cursor cursor = {
        .inspection = inspection, .sentence = index, .end_sentence = index + 1};
    const struct mt_inspected_sentence *sentence = &inspection->sentences[index];
    struct mt_inspection_matrix *matrices;
    size_t n;
    enum mt_status status = mt_inspection_matrices(&cursor, &matrices, &n, err);
    if (status)
        return status;
    draw_texts(terminal, inspection, sentence);
    for (size_t i = 0; i < n; i++)
        draw_matrix(terminal, &matrices[i]);
    draw_next_tokens(terminal, inspection, sentence);
    draw_search(terminal, sentence);
    free(matrices);
    return MT_OK;
}

enum mt_status mt_inspection_draw_terminal(struct mt_inspection *inspection,
                                           const struct mt_terminal *options, struct mt_text *out,
                                           struct mt_error *err)
{
    struct terminal terminal = {
        .options = options, .out = out, .cell = options->has_color ? COLOR_CELL : PERCENT_CELL};
    bool all = options->sentence == MT_ALL_SENTENCES;
    if (!all && options->sentence >= inspection->n_sentences)
        return mt_fail(err, MT_INVALID, "sentence: found %zu, but the text has %zu sentences",
                       options->sentence, inspection->n_sentences);
    size_t begin = all ? 0 : options->sentence;
    size_t end = all ? inspection->n_sentences : begin + 1;
    enum mt_status status = MT_OK;
    for (size_t i = begin; i < end && !status; i++)
        status = draw_sentence(&terminal, inspection, i, err);
    return status ? status : mt_text_check(out, "a heat map", err);
}
