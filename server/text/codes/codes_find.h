/*
 * Codes that stand in the words themselves (coded.h), so that the model sees only what it can read:
 *
 *   copied        placeholders, tags, code, addresses, hosts, files, identifiers, hashes, mentions,
 *                 expressions, names with signs; words and signs that the vocabulary cannot spell
 *   edges         what stands between texts, or at the end of one: tabs, " | ", " > " between words of
 *                 a path, bullets, speaker and note marks, leader dots, ICU messages' syntax, signs at a
 *                 text's ends, quotation marks around a word
 *   numbers       a text that is nothing but a number is written in the target's notation
 *   repeats       "no no no"
 *
 * Texts are well-formed UTF-8. Thread-safety: safe.
 */
#ifndef MT_SERVER_TEXT_CODES_CODES_FIND_H
#define MT_SERVER_TEXT_CODES_CODES_FIND_H

#include "server/text/codes/coded.h"

struct mt_terms;
struct mt_tokenizer;

struct mt_codes_options {
    const struct mt_tokenizer *tokenizer; /* what can be read (mt_tokenizer_reads); NULL: all can */
    const char *source_lang;              /* BCP 47; NULL: not known */
    bool finds_codes;                     /* false: terms alone are sought */
    struct mt_terms *terms;               /* NULL: none */
};

/* Adds the codes that it finds to the segment's. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_codes_find(struct mt_coded_segment *segment,
                                           const struct mt_codes_options *options,
                                           struct mt_error *err);

#endif
