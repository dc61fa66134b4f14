/*
 * POST /translate: LibreTranslate's contract, and our options under their CTranslate2 names.
 *
 *   q             string, or array of strings: one batch, one reply
 *   source        language code, or "auto": then each text's is detected, and the reply has
 *                 "detectedLanguage": {"confidence", "language"}, one per text
 *   target        language code
 *   format        "text", or "html" (markup.h): what is to be read is translated, markup stays
 *   alternatives  further translations wanted, default 0
 *   beam_size, num_hypotheses, length_penalty, min_decoding_length, max_decoding_length
 *   target_prefix text that the translation of a single q begins with; no splitting then
 *   split_sentences  "on", "off", "newlines"
 *   alignment        true adds "alignment": per text, which words came from which:
 *                    [{"source": {"text", "begin", ...}, "target": {...}, "score"}]
 *   do_not_translate, glossary  terms that stay, and terms whose translation is given (glossary.h);
 *                    with either the reply has "terms", which says what became of them
 *   post_edit        false: translations as the model wrote them (post_edit.h); with alignment or
 *                    target_prefix they always are
 *   return_scores    adds "scores": per text, best first, one per translation
 *   return_usage     adds "usage": {"source_tokens", "target_tokens"}
 *
 * Placeholders (protect.h) survive as they are; those that did not are in "placeholders_lost", a
 * list that is there only then. With alignment they are text like any other.
 *
 * Sentences whose translation looks wrong are in "warnings" (guard.h), which is there only then,
 * too.
 *
 * num_hypotheses n is alternatives n - 1. Fields that we do not know are ignored.
 */
#ifndef MT_SERVER_TRANSLATE_API_H
#define MT_SERVER_TRANSLATE_API_H

#include "server/handler.h"

extern const struct mt_handler mt_translate_handler;

#endif
