/*
 * What a translation takes over from the looks of its source, sentence by sentence:
 *
 *   final mark   "train station" has none, so neither has its translation; "Hello!" keeps it where
 *                the model wrote none. A mark of the model's own stays: "Do it." is "Tu es!"; but
 *                "Save as..." and "Name:" end so where the model wrote a full stop, because there
 *                they are no mere punctuation
 *   brackets     [A sentence] in brackets is shown to the model without them, and an ellipsis at
 *                its beginning is not shown either: models drop both, or write nonsense
 *   runs         of !!!! and ?! the model is shown one mark, of .......... three, because it
 *                miscounts; the translation ends in that mark, and the others stay where they are,
 *                behind it
 *   capitals     A SENTENCE IN CAPITALS is shown to the model in small letters, because models have
 *                hardly seen any other, and its translation is written in capitals
 *   first letter as in the source: a capital; or a small one in what is no sentence, if the
 *                vocabulary has the word so ("das Haus", but "Bahnhof")
 *   names        iPhone, macOS and YouTube keep the capitals that they have in the source, where
 *                the translation has them with others: models write IPhone
 *                Johnson & Johnson keeps its sign, where both names are left as they are
 *   repetition   a single word's translation that is one word over and over, or has one three times
 *                and more in a row: that word once. In sentences it is flagged (quality_check.h),
 *                not mended
 *   quotes       what "I will come," she said opens with is closed again where the model forgot it
 *   brands       a name that stands for "us" and is not the source's gives way to a pronoun (brands.h)
 *   no words     "May 2017" that became "2017", "Ecuador" that became "++": the source's words, and
 *                the check says that they are not translated (proofread.h)
 *
 * A sentence that looks as the model was trained on stays as the model wrote it: none of the
 * development set's is changed.
 *
 * On the 1,063 sentences of the development set, made to look so on both sides (BLEU without and
 * with, int8): no final mark 23.5 and 27.8; capitals 0.1 and 26.0; first letter small and no final
 * mark 19.2 and 21.2 (with the final mark's rule besides, more); as they are 29.5 and 29.5.
 * Writing all of a translation small where the source is was tried and left out: 19.6 became 10.5.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_POST_EDIT_H
#define MT_SERVER_TEXT_POST_EDIT_H

#include "base/text.h"
#include "server/text/splitter.h"

struct mt_tokenizer;

/* Returns the part of a sentence that the model is shown, without brackets around it, an ellipsis
 * before it, or all but the first of the marks that end it. Brackets may be around several
 * sentences: *closing, at first 0, is the bracket that closes them until it has come. */
struct mt_range mt_bare_sentence(const char *text, struct mt_range sentence, uint32_t *closing);

/* Whether a sentence had letters and its translation has none, and its numbers do not explain that
 * ("100" may be "a hundred", and "15:00" is "3 p.m."); or whether its translation ends in a colon
 * behind which the source goes on. */
bool mt_has_lost_words(const char *source, size_t n_source, const char *target, size_t n_target);

struct mt_post_edit_input {
    const struct mt_tokenizer *tokenizer;
    const char *target_lang;     /* BCP 47; NULL: unknown */
    const char *source, *target; /* well-formed UTF-8 */
    size_t target_length;
    const struct mt_range *source_sentences, *target_sentences;
    size_t n_sentences;
    /* For each sentence, whether it was cut off at its limit, so that it gets no final mark; or
     * NULL. */
    const bool *are_unfinished;
    /* The dash of the source between two words where the model was shown " - "; may be empty. */
    const char *dash;
    size_t n_dash;
};

/* Appends the edited target to out, which is empty. map, an array of target_length + 1, gets the
 * new position of every byte of the target; sentences, an array of n_sentences, where each one is
 * in out. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_post_edit(const struct mt_post_edit_input *input, size_t *map,
                                          struct mt_range *sentences, struct mt_text *out,
                                          struct mt_error *err);

#endif
