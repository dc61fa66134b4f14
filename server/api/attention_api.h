/*
 * POST /attention: a translation, or one that the caller brings, with what the model looked at.
 *
 *   q, source, target, model
 *                as for /translate, but q is one string, all others may be left out, and the way
 *                must be that of one model
 *   target_text  the translation to look at, instead of one to be found (teacher forcing; the text
 *                is then not split)
 *   target_ids   the same as token ids, such as those of a reply's output_tokens: no text says
 *                exactly which tokens it was written with. The end may be left out; in textual
 *                encodings "790,36,335". Not together with target_text
 *   beam_size, length_penalty, min_decoding_length, max_decoding_length, split_sentences
 *                as for /translate
 *
 * and what inspection_request.h lists: kinds, layers, heads, reduce, alignment, precision,
 * next_tokens, format, sentence.
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
