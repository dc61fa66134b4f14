/*
 * POST /translate: LibreTranslate's contract, and our options under their CTranslate2 names. Its
 * fields are in server/http/fields.json. The reply has, each where it is asked for:
 *
 *   "detectedLanguage"  with source "auto": {"confidence", "language"}, one per text. Where all texts
 *                       are certainly in languages that no model takes, the request is refused by
 *                       their name
 *   "models", "via"     where the way from source to target takes more than one model (up to three):
 *                       their ids, and the languages between them, per text where q is an array.
 *                       Each model is given what a client would hand on: the reply of the one before
 *   "alignment"         of one model, per text, which words came from which:
 *                       [{"source": {"text", "begin", ...}, "target": {...}, "score"}]
 *   "terms"             with do_not_translate or glossary: what became of them (glossary.h)
 *   "scores"            per text, best first, one per translation
 *   "sentences"         per text, where its sentences stand in it and in its translation:
 *                       [{"source": {"text", "begin", ...}, "target": {...}}], and with alternatives
 *                       each with "alternatives" of its own; format "text" and one model
 *   "usage"             {"source_tokens", "target_tokens"}
 *
 * A stream sends data: {"index": of the text, "sentence": number in it, "text": what follows}, whose
 * texts together are the translation, then the reply as event "result". By tokens a text grows by
 * what all hypotheses of a beam have in common.
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
