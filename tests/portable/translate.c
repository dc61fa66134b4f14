/*
 * Translates lines greedily with model/ alone: for a machine on which the daemon cannot be built,
 * because a library is missing there. Writes every token, score and probability, to the last bit.
 *
 * Usage: translate MODEL_DIR < LINES
 */
#include "model/batch.h"
#include "model/model.h"
#include "model/sentence.h"
#include "model/tokenizer/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TOKENS = 128 };

static void must(enum mt_status status, const struct mt_error *err)
{
    if (!status)
        return;
    fprintf(stderr, "translate: %s\n", err->message);
    exit(EXIT_FAILURE);
}

static struct mt_sentence *read_sentence(const struct mt_model *model, const char *line)
{
    static const struct mt_sentence_options options = {.beam_size = 1,
                                                       .num_hypotheses = 1,
                                                       .return_logprobs = true,
                                                       .max_decoding_length = MAX_TOKENS};
    struct mt_error err = {0};
    struct mt_token_list tokens;
    struct mt_sentence *s;
    int32_t ids[MAX_TOKENS];
    must(mt_tokenize(mt_model_tokenizer(model), line, strlen(line), MT_TOKENIZE_SOURCE, &tokens,
                     &err),
         &err);
    size_t n = 0;
    for (; n < tokens.n && n < MAX_TOKENS; n++)
        ids[n] = tokens.tokens[n].id;
    must(mt_sentence_create(model, ids, n, &options, &s, &err), &err);
    mt_token_list_finish(&tokens);
    return s;
}

static void print_hypothesis(const struct mt_model *model, struct mt_hypothesis h)
{
    struct mt_error err = {0};
    struct mt_text text = {0};
    must(mt_detokenize(mt_model_tokenizer(model), h.ids, h.n_ids, NULL, &text, &err), &err);
    printf("%.*s\t%a", (int)text.length, text.bytes, (double)h.score);
    for (size_t i = 0; i < h.n_ids; i++)
        printf(" %d:%a", h.ids[i], (double)h.token_logprobs[i]);
    printf("\n");
    mt_text_finish(&text);
}

int main(int argc, char **argv)
{
    struct mt_error err = {0};
    struct mt_model *model;
    struct mt_batch *batch;
    char line[1000];
    const struct mt_model_options as_served = {.precision = MT_INT8};
    const struct mt_batch_options alone = {.max_rows = 1};
    if (argc != 2) {
        fprintf(stderr, "usage: translate MODEL_DIR < LINES\n");
        return 2;
    }
    must(mt_model_open(argv[1], &as_served, &model, &err), &err);
    must(mt_batch_create(model, &alone, &batch, &err), &err);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        struct mt_sentence *s = read_sentence(model, line);
        if (!mt_batch_admit(batch, s))
            return EXIT_FAILURE;
        while (!mt_batch_take_finished(batch))
            mt_batch_step(batch);
        for (size_t i = 0; i < mt_sentence_n_hypotheses(s); i++)
            print_hypothesis(model, mt_sentence_hypothesis(s, i));
        mt_sentence_destroy(s);
    }
    mt_batch_destroy(batch);
    mt_model_close(model);
    return EXIT_SUCCESS;
}
