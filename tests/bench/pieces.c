/*
 * pieces MODEL_DIR FILE: each line as the tokens that the model reads, eos included, separated by
 * blanks: what ct2-translator takes.
 */
#include "model/files/source.h"
#include "model/tokenizer/tokenizer.h"
#include "model/files/tokenizer_files.h"
#include "tests/bench/lines.h"

#include <stdio.h>

static void print(const struct mt_tokenizer *tokenizer, const struct bench_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++) {
        const struct bench_line *line = &lines->lines[i];
        for (size_t k = 0; k < line->n_source; k++)
            printf("%s%s", k > 0 ? " " : "", mt_tokenizer_source_piece(tokenizer, line->source[k]));
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: pieces MODEL_DIR FILE\n", stderr);
        return 2;
    }
    struct mt_tokenizer *tokenizer = NULL;
    struct bench_lines lines;
    struct mt_error err;
    struct mt_source *source = NULL;
    enum mt_status status = mt_source_open(argv[1], &source, &err);
    if (!status)
        status = mt_tokenizer_read(source, &tokenizer, &err);
    if (!status)
        status = bench_lines_read(argv[2], tokenizer, &lines, &err);
    if (status) {
        fprintf(stderr, "pieces: %s\n", err.message);
    } else {
        print(tokenizer, &lines);
        bench_lines_finish(&lines);
    }
    mt_tokenizer_close(tokenizer);
    mt_source_close(source);
    return status ? 1 : 0;
}
