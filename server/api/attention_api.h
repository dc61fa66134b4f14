/*
 * POST and GET /attention: a translation, or one that the caller brings, with what the model looked
 * at.
 *
 *   q, source, target, model
 *                as for /translate, but q is one string, all others may be left out, and the way
 *                must be that of one model
 *   target_text  the translation to look at, instead of one to be found (teacher forcing; the text
 *                is then not split)
 *   target_ids   the same as token ids, such as those of a reply's output_tokens: no text says
 *                exactly which tokens it was written with. The end may be left out; in textual
 *                encodings "790,36,335". Not together with target_text
 *   target_prefix_ids
 *                how the translation begins, as token ids without an end: the model goes on from
 *                there, and the text is not split. Neither together with target_text nor target_ids
 *   switch_off   ["cross.1.6", "encoder.0"]: heads and layers that add nothing (switch_names.h)
 *   beam_size, length_penalty, min_decoding_length, max_decoding_length, split_sentences
 *                as for /translate
 *
 * and what inspection_request.h lists: kinds, layers, heads, reduce, include, steps, logit_lens,
 * alignment, precision, next_tokens, format, sentence. Other fields are refused, unlike on
 * LibreTranslate's routes (attention_fields.h). GET takes them in its query string; its reply has an
 * ETag, which is made of all that it shows.
 *
 * The reply is small unless tensors are asked for: the tokens and one alignment matrix. More
 * numbers than the setting max_attention_values are refused with 413, before decoding where that is
 * known, and after it else.
 */
#ifndef MT_SERVER_API_ATTENTION_API_H
#define MT_SERVER_API_ATTENTION_API_H

#include "server/requests/handler.h"

extern const struct mt_handler mt_attention_handler;

#endif
