/*
 * A text on its way through the engine: it is cut into sentences (ICU), each of which is tokenized;
 * afterwards these are joined again with exactly the blanks and line breaks that were between them.
 * A sentence that is too long for the model is cut further at blanks or, in scripts without blanks,
 * between tokens, and that is reported; nothing is dropped. A single word that is too long for the
 * model belongs to no sentence and stays as it is.
 *
 *   "Hello.  How are you?\n"  ->  sentence "Hello." + gap "  " + sentence "How are you?" + gap "\n"
 *
 * There are three exceptions. Where a script without blanks (Chinese, Thai) has an empty gap and
 * the target language has blanks, the gap becomes one blank. Where the target language has nothing
 * between sentences (Chinese, Japanese), a gap of one blank is removed. A target language code at
 * the beginning that the model knows (">>fra<< Hello. Bye.") is valid for every sentence of the
 * text, and is not repeated in the translation.
 *
 * Thread-safety: one thread at a time; the model is shared.
 */
#ifndef MT_SERVER_TEXT_TRANSLATION_H
#define MT_SERVER_TEXT_TRANSLATION_H

#include "base/text.h"
#include "model/sentence.h"
#include "model/tokenizer/tokenizer.h"
#include "server/text/splitter.h"

struct mt_model;
struct mt_translation;

/* One sentence with its source. Pointers are borrowed from the translation. */
struct mt_translation_part {
    struct mt_sentence *sentence;
    const struct mt_token_list *source_tokens; /* offsets relative to the sentence's text */
    size_t begin, end;                         /* bytes of the sentence in the text */
    bool was_cut; /* it is a piece of a sentence that was too long for the model */
};

/* Called for each sentence when it is made, before the next one takes memory. If it fails, making
 * the translation fails. */
typedef enum mt_status mt_translation_admit(void *context, const struct mt_translation_part *part,
                                            struct mt_error *err);

/* Called before a sentence of n tokens is made, to decide whether its cross-attention is kept. */
typedef enum mt_status mt_translation_trace(void *context, size_t n_tokens, bool *is_traced,
                                            struct mt_error *err);

struct mt_translation_options {
    struct mt_sentence_options decoding; /* for every sentence */
    enum mt_split split;
    struct mt_splitter *splitter; /* borrowed until create returns; NULL: one made for
                                       this text alone, which costs 0.5 ms where the text has
                                       several sentences */
    const char *source_lang;      /* BCP 47, for the sentence rules; NULL: root rules */
    size_t max_sentences;         /* MT_LIMIT above; 0: 10,000 */
    bool eases_source;            /* the model sees A SENTENCE IN CAPITALS in small letters, and
                                       [a sentence in brackets] without them: post_edit.h */
    bool leaves_signs;            /* a sentence without a letter or digit stays as it is */
    const char *target_code;      /* ">>fra<<", before every sentence, unless the text brings its
                                       own; of a model of many languages its own code of the target
                                       ("fra_Latn"); NULL: none */
    const char *source_code;      /* of a model of many languages, which needs both */
    const char *target_lang;      /* BCP 47; NULL: what the model's files say */
    mt_translation_trace *trace_numbers; /* asked about each sentence that holds digits; NULL: none
                                            of them is traced for that */
    void *trace_context;
    const char *forced_target_text; /* teacher forcing: its translation; splitting is off then;
                                       NULL: none */
    mt_translation_admit *admit;    /* what it fails with, create fails with; NULL: nobody asks */
    void *admit_context;
};

/* text is well-formed UTF-8, and copied. A blank text has no sentences and is its own
 * translation. */
MT_MUST_CHECK enum mt_status mt_translation_create(const struct mt_model *model, const char *text,
                                                   size_t length,
                                                   const struct mt_translation_options *options,
                                                   struct mt_translation **out,
                                                   struct mt_error *err);

/* translation may be NULL. Destroys the sentences, too, none of which may be in the engine. */
void mt_translation_destroy(struct mt_translation *translation);

/* Whether the model sees nothing of the text because it is blank, and not because its words are too
 * long or it is signs that stay. */
bool mt_translation_is_blank(const struct mt_translation *translation);

size_t mt_translation_n_sentences(const struct mt_translation *translation);

struct mt_translation_part mt_translation_part(const struct mt_translation *translation,
                                               size_t index);
const char *mt_translation_text(const struct mt_translation *translation, size_t *length);
/* Returns the model's tokenizer. */
const struct mt_tokenizer *mt_translation_tokenizer(const struct mt_translation *translation);

/* Appends the translated text after the sentences have ended. It is made of the hypothesis of this
 * rank of each sentence, or of the last one where a sentence has fewer. */
MT_MUST_CHECK enum mt_status mt_translation_render(const struct mt_translation *translation,
                                                   size_t rank, struct mt_text *out,
                                                   struct mt_error *err);

/* Renders as mt_translation_render does, and sets ranges (an array of n_sentences, or NULL) to the
 * position of each sentence's translation in the text that was appended. */
MT_MUST_CHECK enum mt_status mt_translation_render_ranges(const struct mt_translation *translation,
                                                          size_t rank, struct mt_range *ranges,
                                                          struct mt_text *out,
                                                          struct mt_error *err);

/* How much of a translation has been given. {0} at first. */
struct mt_translation_cursor {
    size_t n_sentences; /* sentences given completely */
    size_t n_bytes;     /* bytes given of the next one's text */
    bool has_all;
};

/*
 * For use while the sentences are decoded, with options.decoding.publish: appends the next piece of
 * the text that mt_translation_render is going to make of rank 0, as far as it is certain. This is
 * the rest of a sentence that has ended or, with MT_PUBLISH_TOKENS, a part of one that has not, and
 * the gap before it. *moved: there was a piece, though it may be empty. All pieces together are the
 * text.
 */
MT_MUST_CHECK enum mt_status mt_translation_advance(const struct mt_translation *translation,
                                                    struct mt_translation_cursor *cursor,
                                                    struct mt_text *out, bool *moved,
                                                    struct mt_error *err);

/* Whether all sentences have ended. For use while they are decoded, too. */
bool mt_translation_has_ended(const struct mt_translation *translation);

/* Returns how many different renderings there are: the largest number of hypotheses of a sentence,
 * at least 1. */
size_t mt_translation_n_ranks(const struct mt_translation *translation);

/* Returns the mean log-probability of all tokens of the hypotheses of this rank; 0 without
 * sentences. */
float mt_translation_score(const struct mt_translation *translation, size_t rank);

size_t mt_translation_n_source_tokens(const struct mt_translation *translation);
size_t mt_translation_n_target_tokens(const struct mt_translation *translation); /* of rank 0 */

#endif
