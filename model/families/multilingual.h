/*
 * Hugging Face's models of many languages, in their original directories:
 *
 *   M2M100     config.json's model_type "m2m_100", with vocab.json; also WMT21's, by "language_codes"
 *   SMaLL-100  the same, with fewer decoder than encoder layers (its tokenizer_config.json says
 *              M2M100Tokenizer, too) or the tokenizer class SMALL100Tokenizer
 *   NLLB-200   model_type "m2m_100" without a vocab.json
 *   mBART-50   model_type "mbart", tokenizer class MBart50Tokenizer(Fast)
 *
 * All have sentencepiece.bpe.model, by which a directory is recognised, and their weights under
 * MarianMT's names. Special tokens tell the source and target language (tokenizer_config.h).
 * Sources: transformers 4.40, models/{m2m_100,nllb,mbart50}/tokenization_*.py and
 * configuration_*.py.
 *
 * Refused by name: mBART-25, whose decoder begins differently.
 */
#ifndef MT_MODEL_FAMILIES_MULTILINGUAL_H
#define MT_MODEL_FAMILIES_MULTILINGUAL_H

#include "model/families/foreign.h"

extern const struct mt_foreign mt_foreign_multilingual;

#endif
