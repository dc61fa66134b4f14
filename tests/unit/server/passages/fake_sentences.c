#include "tests/unit/server/passages/fake_sentences.h"

#include "model/model.h"
#include "model/sentence.h"
#include "model/tokenizer/tokenizer.h"
#include "server/text/tagged_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/ubrk.h>
#include <unicode/utext.h>

struct mt_sentence {
    size_t n_source;
    int32_t *ids; /* of the answer, with eos */
    size_t n_ids;
    bool is_traced;
    void *user;
};

static enum fake_answer chosen;

void fake_answer_with(enum fake_answer answer)
{
    chosen = answer;
}

static void demand(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "fake sentences: %s\n", what);
    abort();
}

/* ICU does not count "_it_" with an invisible character behind it. */
static bool has_letter(const char *text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at += mt_utf8_length((unsigned char)text[at]))
        if (mt_is_word_char(mt_utf8_decode(text + at)))
            return true;
    return false;
}

/* Words as the projection of codes counts them, so that the words' order is the alignment. */
static void wrap_words(const struct mt_text *text, struct mt_text *out)
{
    UErrorCode code = U_ZERO_ERROR;
    UText view = UTEXT_INITIALIZER;
    utext_openUTF8(&view, text->bytes, (int64_t)text->length, &code);
    UBreakIterator *iterator = ubrk_open(UBRK_WORD, "", NULL, 0, &code);
    ubrk_setUText(iterator, &view, &code);
    demand(U_SUCCESS(code), "no words");
    mt_text_append(out, "", 0);
    int32_t begin = ubrk_first(iterator);
    for (int32_t end; (end = ubrk_next(iterator)) != UBRK_DONE; begin = end) {
        bool is_word = ubrk_getRuleStatus(iterator) >= UBRK_WORD_NONE_LIMIT ||
                       has_letter(text->bytes, (size_t)begin, (size_t)end);
        mt_text_append_string(out, is_word ? FAKE_OPENING : "");
        mt_text_append(out, text->bytes + begin, (size_t)(end - begin));
        mt_text_append_string(out, is_word ? FAKE_CLOSING : "");
    }
    ubrk_close(iterator);
    utext_close(&view);
}

static void answer_marked(const struct mt_tokenizer *tokenizer, struct mt_sentence *sentence)
{
    struct mt_text text = {0}, marked = {0};
    struct mt_token_list list;
    demand(!mt_detokenize(tokenizer, sentence->ids, sentence->n_ids, NULL, &text, NULL), "no text");
    wrap_words(&text, &marked);
    demand(!mt_tokenize(tokenizer, marked.bytes, marked.length, MT_TOKENIZE_TARGET, &list, NULL),
           "no tokens");
    free(sentence->ids);
    sentence->ids = calloc(list.n + 1, sizeof *sentence->ids);
    demand(sentence->ids, "out of memory");
    sentence->n_ids = list.n;
    for (size_t i = 0; i < list.n; i++)
        sentence->ids[i] = list.tokens[i].id;
    mt_token_list_finish(&list);
    mt_text_finish(&text);
    mt_text_finish(&marked);
}

enum mt_status mt_sentence_create(const struct mt_model *model, const int32_t *source_ids,
                                  size_t n_source, const struct mt_sentence_options *options,
                                  struct mt_sentence **out, struct mt_error *err)
{
    (void)err;
    struct mt_sentence *sentence = calloc(1, sizeof *sentence);
    demand(sentence, "out of memory");
    sentence->ids = calloc(n_source + 1, sizeof *sentence->ids);
    demand(sentence->ids, "out of memory");
    memcpy(sentence->ids, source_ids, n_source * sizeof *source_ids);
    sentence->n_source = sentence->n_ids = n_source;
    sentence->is_traced = options->trace != 0;
    if (chosen == FAKE_MARKING)
        answer_marked(mt_model_tokenizer(model), sentence);
    *out = sentence;
    return MT_OK;
}

void mt_sentence_destroy(struct mt_sentence *sentence)
{
    if (sentence)
        free(sentence->ids);
    free(sentence);
}

void mt_sentence_set_user(struct mt_sentence *sentence, void *user)
{
    sentence->user = user;
}

void *mt_sentence_user(const struct mt_sentence *sentence)
{
    return sentence->user;
}

size_t mt_sentence_n_source(const struct mt_sentence *sentence)
{
    return sentence->n_source;
}

size_t mt_sentence_n_rows(const struct mt_sentence *sentence)
{
    (void)sentence;
    return 1;
}

size_t mt_sentence_bytes(const struct mt_sentence *sentence)
{
    return sizeof *sentence + sentence->n_ids * sizeof *sentence->ids;
}

size_t mt_sentence_max_target(const struct mt_sentence *sentence)
{
    return sentence->n_ids + 1;
}

size_t mt_sentence_n_hypotheses(const struct mt_sentence *sentence)
{
    (void)sentence;
    return 1;
}

struct mt_hypothesis mt_sentence_hypothesis(const struct mt_sentence *sentence, size_t index)
{
    (void)index;
    return (struct mt_hypothesis){.ids = sentence->ids, .n_ids = sentence->n_ids, .has_eos = true};
}

const struct mt_top_token *mt_sentence_top(const struct mt_sentence *sentence, size_t step)
{
    (void)sentence;
    (void)step;
    return NULL;
}

struct mt_progress mt_sentence_progress(const struct mt_sentence *sentence)
{
    return (struct mt_progress){.ids = sentence->ids, .n_ids = sentence->n_ids, .has_ended = true};
}

const struct mt_search_candidate *mt_sentence_search(const struct mt_sentence *sentence,
                                                     size_t step, size_t *n)
{
    (void)sentence;
    (void)step;
    *n = 0;
    return NULL;
}

/* There is none to read: where one is asked for, the test allows no memory for it. */
const struct mt_trace *mt_sentence_trace(const struct mt_sentence *sentence)
{
    return sentence->is_traced ? (const void *)sentence : NULL;
}
