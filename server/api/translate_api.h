/*
 * POST /translate: LibreTranslate's API, with our options under CTranslate2's names. Its fields are
 * in server/http/fields.json. The reply has these members, if requested:
 *
 *   "detectedLanguage"  with source "auto": {"confidence", "language"}, one per text. Where all texts
 *                       are certainly in languages that no model takes, the request is refused with
 *                       the languages' names
 *   "models", "via"     where the way from source to target takes more than one model (up to three):
 *                       their ids, and the languages between them, per text where q is an array.
 *                       Each model translates the reply of the previous one, as if a client had
 *                       passed it on
 *   "alignment"         of one model, per text, which words came from which:
 *                       [{"source": {"text", "begin", ...}, "target": {...}, "score"}]
 *   "terms"             with do_not_translate or glossary: a report on each term (glossary.h)
 *   "scores"            per text, best first, one per translation
 *   "sentences"         per text, the positions of its sentences in it and in its translation:
 *                       [{"source": {"text", "begin", ...}, "target": {...}}], and with alternatives
 *                       each with "alternatives" of its own; format "text" and one model
 *   "usage"             {"source_tokens", "target_tokens"}
 *
 * A stream sends data: {"index": of the text, "sentence": number in it, "text": what follows},
 * whose texts together are the translation, and then the reply as event "result". If it is streamed
 * by tokens, then a text grows by the prefix that all hypotheses of a beam have in common.
 *
 * Placeholders (placeholders.h) are copied. Those that were lost are listed in "placeholders_lost",
 * which is there only in this case. With alignment they are ordinary text.
 *
 * Sentences whose translation looks wrong are listed in "warnings" (warnings.h), which is also
 * there only in this case.
 *
 * num_hypotheses n is alternatives n - 1. Unknown fields are ignored.
 */
#ifndef MT_SERVER_API_TRANSLATE_API_H
#define MT_SERVER_API_TRANSLATE_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_translate_handler;

/*
 * The rest is for routes with other formats of the same work. Such a handler has
 * mt_translate_handler's begin and release. Its choose calls mt_translate_handler.choose, after it
 * has set the fields above in request->params the first time. Its finish takes the translations out
 * one by one.
 */
struct mt_json_writer;
struct mt_translated {
    const char *source_lang; /* normalised; as given, or as detected; borrowed */
    size_t n_chars;          /* characters of the text */
};
size_t mt_translate_n_texts(const struct mt_request *request);
/* Writes the member "warnings" of the reply of /translate, if there is one; once. */
MT_MUST_CHECK enum mt_status mt_translate_write_warnings(const struct mt_request *request,
                                                         struct mt_json_writer *writer,
                                                         struct mt_error *err);
/* Appends the best translation of a text. */
MT_MUST_CHECK enum mt_status mt_translate_take(const struct mt_request *request, size_t index,
                                               struct mt_translated *out,
                                               struct mt_text *translation, struct mt_error *err);

#endif
