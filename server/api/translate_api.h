/*
 * POST /translate: LibreTranslate's contract, and our options under their CTranslate2 names.
 *
 *   q             string, or array of strings: one batch, one reply
 *   source        language code, or "auto": then each text's is detected, and the reply has
 *                 "detectedLanguage": {"confidence", "language"}, one per text. Where all texts are
 *                 certainly in languages that no model takes, the request is refused by their name
 *   target        language code
 *   model         id or alias: the one to translate with, which may be left to say its languages by
 *                 itself. Else the way from source to target that takes the fewest models (up to
 *                 three); where it takes more than one the reply has "models", their ids, and
 *                 "via", the languages between them, per text where q is an array. Each model is
 *                 given what a client would hand on: the reply of the one before
 *   format        "text", or "html" (coded.h): what is to be read is translated, markup stays
 *   alternatives  further translations wanted, default 0
 *   beam_size, num_hypotheses, length_penalty, min_decoding_length, max_decoding_length
 *   target_prefix text that the translation of a single q begins with; no splitting then
 *   split_sentences  "on", "off", "newlines"
 *   ignore_tags      html: names of elements that are left alone, as an array or "x,y"
 *   alignment        (of one model) true adds "alignment": per text, which words came from which:
 *                    [{"source": {"text", "begin", ...}, "target": {...}, "score"}]
 *   do_not_translate, glossary  terms that stay, and terms whose translation is given (glossary.h);
 *                    with either the reply has "terms", which says what became of them
 *   post_edit        false: translations as the model wrote them (post_edit.h); with alignment,
 *                    target_prefix or stream they always are
 *   repair_numbers   false: a number that the model got wrong stays (number_repair.h); with
 *                    alignment, target_prefix or stream they always do
 *   return_scores    adds "scores": per text, best first, one per translation
 *   return_sentences  adds "sentences": per text, where its sentences stand in it and in its
 *                    translation: [{"source": {"text", "begin", ...}, "target": {...}}], and with
 *                    alternatives each with "alternatives" of its own; format "text" and one model
 *   return_usage     adds "usage": {"source_tokens", "target_tokens"}
 *   stream           true: server-sent events while the texts are being translated,
 *                      data: {"index": of the text, "sentence": number in it, "text": what follows}
 *                    whose texts together are the translation, then the reply as event "result"
 *   stream_mode      "sentence": a text grows by whole sentences; "token": by what is certain. In
 *                    beam search that is what all hypotheses have in common
 *
 * Placeholders (protect.h) survive as they are; those that did not are in "placeholders_lost", a
 * list that is there only then. With alignment they are text like any other.
 *
 * Sentences whose translation looks wrong are in "warnings" (warnings.h), which is there only then,
 * too.
 *
 * num_hypotheses n is alternatives n - 1. Fields that we do not know are ignored.
 */
#ifndef MT_SERVER_API_TRANSLATE_API_H
#define MT_SERVER_API_TRANSLATE_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_translate_handler;

/*
 * For routes of other shapes over the same work: a handler whose choose, when it is called first,
 * gives request->params the fields above, and always calls mt_translate_handler.choose; whose begin
 * and release are mt_translate_handler's; and whose finish takes the translations out one by one.
 */
struct mt_json_writer;
struct mt_translated {
    const char *source_lang; /* normalised: as given, or as detected; borrowed */
    size_t n_chars;          /* of the text */
};
size_t mt_translate_n_texts(const struct mt_request *request);
/* The member "warnings" as in a reply of /translate, if there is one; once. */
MT_MUST_CHECK enum mt_status mt_translate_write_warnings(const struct mt_request *request,
                                                         struct mt_json_writer *writer,
                                                         struct mt_error *err);
/* Appends the best translation of a text. */
MT_MUST_CHECK enum mt_status mt_translate_take(const struct mt_request *request, size_t index,
                                               struct mt_translated *out,
                                               struct mt_text *translation, struct mt_error *err);

#endif
