/*
 * A text on its way through the engine: cut into sentences (ICU), each tokenized; afterwards joined
 * again with exactly the blanks and line breaks that stood between them. A sentence too long for
 * the model is cut further at blanks, or between tokens where there are none, and that is reported;
 * nothing is dropped.
 *
 *   "Hello.  How are you?\n"  ->  sentence "Hello." + gap "  " + sentence "How are you?" + gap "\n"
 *
 * Thread-safety: one thread at a time; the model is shared.
 */
#ifndef MT_SERVER_TRANSLATION_H
#define MT_SERVER_TRANSLATION_H

#include "base/text.h"
#include "model/sentence.h"
#include "model/tokenizer.h"

struct mt_model;
struct mt_translation;

enum mt_split { MT_SPLIT_ON, MT_SPLIT_OFF, MT_SPLIT_NEWLINES };

struct mt_translation_options {
    struct mt_sentence_options decoding; /* for every sentence */
    enum mt_split split;
    const char *source_lang;        /* BCP 47, for the sentence rules; NULL: root rules */
    size_t max_sentences;           /* MT_LIMIT above; 0: 10,000 */
    const char *forced_target_text; /* teacher forcing: its translation; splitting is off then;
                                       NULL: none */
};

/* text is well-formed UTF-8 and copied. A blank text has no sentences and translates to itself. */
MT_MUST_CHECK enum mt_status mt_translation_create(const struct mt_model *model, const char *text,
                                                   size_t length,
                                                   const struct mt_translation_options *options,
                                                   struct mt_translation **out,
                                                   struct mt_error *err);

/* Takes NULL. Destroys the sentences too; none may be in the engine. */
void mt_translation_destroy(struct mt_translation *translation);

size_t mt_translation_n_sentences(const struct mt_translation *translation);

/* What one sentence is made of. Pointers are borrowed from the translation. */
struct mt_translation_part {
    struct mt_sentence *sentence;
    const struct mt_token_list *source_tokens; /* offsets relative to the sentence's text */
    size_t begin, end;                         /* bytes of the sentence in the text */
    bool was_cut; /* a piece of a sentence that was too long for the model */
};
struct mt_translation_part mt_translation_part(const struct mt_translation *translation,
                                               size_t index);
const char *mt_translation_text(const struct mt_translation *translation, size_t *length);

/* After the sentences ended: appends the translated text, built from hypothesis rank of each
 * sentence (the last one where a sentence has fewer). */
MT_MUST_CHECK enum mt_status mt_translation_render(const struct mt_translation *translation,
                                                   size_t rank, struct mt_text *out,
                                                   struct mt_error *err);

/* Distinct renderings that ranks 0.. can give: the largest number of hypotheses among the
 * sentences, at least 1. */
size_t mt_translation_n_ranks(const struct mt_translation *translation);

/* Mean log-probability over all tokens of rank's hypotheses. 0 without sentences. */
float mt_translation_score(const struct mt_translation *translation, size_t rank);

size_t mt_translation_n_source_tokens(const struct mt_translation *translation);
size_t mt_translation_n_target_tokens(const struct mt_translation *translation); /* of rank 0 */

#endif
