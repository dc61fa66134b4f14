#include "tests/bench/lines.h"

#include "base/file.h"
#include "model/tokenizer/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)64 << 20)
#define MAX_LINES 100000

static enum mt_status tokenize(const struct mt_tokenizer *tokenizer, const char *text,
                               size_t length, struct bench_line *out, struct mt_error *err)
{
    struct mt_token_list list;
    enum mt_status status = mt_tokenize(tokenizer, text, length, MT_TOKENIZE_SOURCE, &list, err);
    if (status)
        return status;
    out->source = calloc(list.n, sizeof *out->source);
    if (!out->source)
        status = mt_fail_memory(err, list.n * sizeof *out->source, "a line");
    for (size_t i = 0; i < list.n && !status; i++)
        out->source[out->n_source++] = list.tokens[i].id;
    mt_token_list_finish(&list);
    return status;
}

static enum mt_status read_text(const char *text, size_t length,
                                const struct mt_tokenizer *tokenizer, struct bench_lines *out,
                                struct mt_error *err)
{
    out->lines = calloc(MAX_LINES, sizeof *out->lines);
    if (!out->lines)
        return mt_fail_memory(err, MAX_LINES * sizeof *out->lines, "lines");
    for (const char *line = text, *end = text + length; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t n = (size_t)((newline ? newline : end) - line);
        if (out->n == MAX_LINES)
            return mt_fail(err, MT_LIMIT, "more than %d lines", MAX_LINES);
        enum mt_status status = tokenize(tokenizer, line, n, &out->lines[out->n++], err);
        if (status) {
            char context[32];
            snprintf(context, sizeof context, "line %zu", out->n);
            return mt_fail_in(err, status, context);
        }
        line += n + 1;
    }
    return MT_OK;
}

enum mt_status bench_lines_read(const char *path, const struct mt_tokenizer *tokenizer,
                                struct bench_lines *out, struct mt_error *err)
{
    char *text;
    size_t length;
    *out = (struct bench_lines){0};
    enum mt_status status = mt_file_read(path, MAX_BYTES, &text, &length, err);
    if (status)
        return status;
    status = read_text(text, length, tokenizer, out, err);
    free(text);
    if (status) {
        bench_lines_finish(out);
        return mt_fail_in(err, status, path);
    }
    return MT_OK;
}

void bench_lines_finish(struct bench_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++) {
        free(lines->lines[i].source);
        free(lines->lines[i].target);
    }
    free(lines->lines);
    *lines = (struct bench_lines){0};
}
