/*
 * The members of tokenizer_config.json in a MarianMT directory that the tokenizer uses.
 */
#ifndef MT_MODEL_TOKENIZER_TOKENIZER_CONFIG_H
#define MT_MODEL_TOKENIZER_TOKENIZER_CONFIG_H

#include "base/arena.h"

#include <stdbool.h>

#define MT_TOKENIZER_CONFIG_MAX_BYTES ((size_t)4 << 20)
#define MT_TOKENIZER_CONFIG_MAX_VALUES 262144 /* added_tokens_decoder may list thousands */
#define MT_TOKENIZER_MAX_SPECIALS 64

enum mt_tokenizer_switch { MT_SWITCH_UNSAID, MT_SWITCH_OFF, MT_SWITCH_ON };

/* The tokenizer_class in files that readers of other families make. In a file with any other class
 * our own keys are ignored, as transformers ignores unknown keys. */
#define MT_OWN_TOKENIZER_CLASS "attentiond"

/* Which tokens tell a model of many languages the source and the target language. X is the text. */
enum mt_language_rule {
    MT_LANGUAGES_UNSAID,          /* no tokens, or ">>xx<<" in the text itself */
    MT_LANGUAGES_SOURCE,          /* source: [source] X </s>, target: [target] Y </s> */
    MT_LANGUAGES_SOURCE_BEHIND,   /* source: X </s> [source], target: [target] Y </s> */
    MT_LANGUAGES_TARGET_IN_SOURCE /* source: [target] X </s>, target: Y </s> */
};

#define MT_TOKENIZER_MAX_LANGUAGES 1024
#define MT_LANGUAGE_TOKEN_BYTES 64

/* A language, such as "en" with "__en__", or "eng_Latn" with "eng_Latn". */
struct mt_tokenizer_language {
    const char *code, *token;
};

struct mt_tokenizer_config {
    const char *eos, *unk, *pad;           /* "</s>", "<unk>", "<pad>" if the file has none */
    const char *source_lang, *target_lang; /* or NULL */
    /* Our own members, for other families: the first token of a source and of every target, or
     * NULL; and whether a source ends with eos, as MarianMT's do. */
    const char *source_bos, *target_prefix;
    bool add_source_eos;
    enum mt_language_rule language_rule;           /* "language_tokens" */
    const struct mt_tokenizer_language *languages; /* "languages": {code: token} */
    size_t n_languages;
    const char *const *specials; /* "special_tokens": further tokens that are not text */
    size_t n_specials;
    bool clean_up; /* clean_up_tokenization_spaces; false if missing */
    enum mt_tokenizer_switch separate_vocabs;
};

/* bytes is the file's content, and path names it in messages; NULL: there is no file, and
 * everything has its default. Strings are in the arena. */
MT_MUST_CHECK enum mt_status mt_tokenizer_config_parse(const char *bytes, size_t length,
                                                       const char *path, struct mt_arena *arena,
                                                       struct mt_tokenizer_config *out,
                                                       struct mt_error *err);

/* Makes a copy whose strings are in the arena. */
MT_MUST_CHECK enum mt_status mt_tokenizer_config_copy(const struct mt_tokenizer_config *config,
                                                      struct mt_arena *arena,
                                                      struct mt_tokenizer_config *out,
                                                      struct mt_error *err);

#endif
