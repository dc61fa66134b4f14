/*
 * Converts text to ids and back, for one MarianMT directory: SentencePiece cuts the text into
 * pieces (source.spm, target.spm), and vocab.json gives each piece its id. The ids in the .spm
 * files are never used.
 *
 * The behaviour is that of Hugging Face's tokenization_marian.py 4.x, but text is plain: a "</s>"
 * that a user typed is five characters, unless MT_TOKENIZE_SPECIALS asks for the reference's
 * behaviour.
 *
 * Thread-safety: immutable after open; every function may be called from any thread.
 */
#ifndef MT_MODEL_TOKENIZER_TOKENIZER_H
#define MT_MODEL_TOKENIZER_TOKENIZER_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_tokenizer;
struct mt_tokenizer_config;

/*
 * One token of a text. The offsets are the part of the *original* text that it stands for, from its
 * first to behind its last character, without blanks at either end. A token without such a part
 * (eos; a single U+2581) has begin == end, where the text continues. Characters that the normaliser
 * drops, including blanks, belong to no token.
 *
 * begin and end never decrease from one token to the next and are at character boundaries. Tokens
 * overlap only where one character (or several that compose) was replaced by several and then cut:
 * U+00BD becomes "1", U+2044, "2", and belongs to all three.
 */
struct mt_token {
    int32_t id;
    bool special;                /* eos, a language's token, or a special token's literal */
    bool unknown;                /* the piece is not in the vocabulary: id is that of <unk> */
    size_t begin, end;           /* bytes */
    size_t begin_char, end_char; /* code points */
    /* NUL-terminated, in the model's form (U+2581 for a blank; U+FFFD for a NUL in the text);
     * borrowed from the list */
    const char *piece;
};

struct mt_token_list {
    size_t n;
    struct mt_token *tokens;
    void *storage; /* the pieces' bytes */
};

enum mt_tokenize_flags {
    /* source.spm and its vocabulary; >>xx<< at the beginning is one token */
    MT_TOKENIZE_SOURCE = 0,
    MT_TOKENIZE_TARGET = 1, /* target.spm and its vocabulary */
    MT_TOKENIZE_SPECIALS =
        /* "</s>", "<unk>", "<pad>" in the text become the special tokens (the reference's
         * behaviour) */
    2,
};

/* Most bytes of a text. MT_LIMIT above; callers split before. */
#define MT_TOKENIZER_MAX_BYTES ((size_t)1 << 20)

/* A file's bytes, and its path for messages. */
struct mt_tokenizer_file {
    const char *path, *bytes;
    size_t length;
};

struct mt_tokenizer_files {
    struct mt_tokenizer_file source_spm, target_spm;
    struct mt_tokenizer_file vocab;
    struct mt_tokenizer_file target_vocab; /* bytes NULL: vocab is for both sides */
};

/* The files are not needed afterwards. A malicious .spm file (bad character map, overlong pieces)
 * is refused with MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_tokenizer_open(const struct mt_tokenizer_config *config,
                                               const struct mt_tokenizer_files *files,
                                               struct mt_tokenizer **out, struct mt_error *err);
/* NULL is allowed. */
void mt_tokenizer_close(struct mt_tokenizer *tokenizer);

/* Tokenizes well-formed UTF-8 and appends eos: an empty or blank text becomes [eos]. Sources for
 * models of other families may begin with bos, or lack eos; a blank one may then have no tokens at
 * all. flags is a combination of enum mt_tokenize_flags. The caller finishes *out with
 * mt_token_list_finish. MT_INVALID for malformed UTF-8, with the offset. */
MT_MUST_CHECK enum mt_status mt_tokenize(const struct mt_tokenizer *tokenizer, const char *text,
                                         size_t length, unsigned flags, struct mt_token_list *out,
                                         struct mt_error *err);
void mt_token_list_finish(struct mt_token_list *list);

/*
 * The languages for a model of many languages, which needs tokens for the source and target
 * language (enum mt_language_rule): some are in the source, and one may have to be the target's
 * first token. Without them the translation is useless.
 */
struct mt_direction {
    int32_t source, target; /* ids of the languages' tokens, in one vocabulary */
};

/* 0: the model has fixed languages, and needs no direction. */
size_t mt_tokenizer_n_languages(const struct mt_tokenizer *tokenizer);
/* Returns the model's own codes, "en" or "eng_Latn", in its own order. Borrowed. */
const char *mt_tokenizer_language(const struct mt_tokenizer *tokenizer, size_t i);
/* Finds the direction by these codes. MT_INVALID for a code that the model does not have, or NULL,
 * and for a model without such languages. */
MT_MUST_CHECK enum mt_status mt_tokenizer_direction(const struct mt_tokenizer *tokenizer,
                                                    const char *source, const char *target,
                                                    struct mt_direction *out, struct mt_error *err);
/* Does what mt_tokenize does for a source, and adds the tokens of its direction. */
MT_MUST_CHECK enum mt_status mt_tokenize_towards(const struct mt_tokenizer *tokenizer,
                                                 const struct mt_direction *direction,
                                                 const char *text, size_t length, unsigned flags,
                                                 struct mt_token_list *out, struct mt_error *err);
/* Returns the first token that a target needs (mt_sentence_options.first_target), or
 * MT_NO_TOKEN. */
int32_t mt_tokenizer_first_target(const struct mt_tokenizer *tokenizer,
                                  const struct mt_direction *direction);
/* Numbers of tokens that are added before and behind those of the text. */
struct mt_tokens_added {
    size_t before, behind;
};
struct mt_tokens_added mt_tokenizer_source_adds(const struct mt_tokenizer *tokenizer);

/* Converts target ids to text: eos, pad (also the start token) and <unk> are dropped, U+2581
 * becomes a blank, bytes that make no character are dropped, and blanks at the ends are removed;
 * blanks before punctuation are removed if tokenizer_config.json has clean_up_tokenization_spaces.
 * With spans (array of n, may be NULL) spans[i] gets the part of *out that ids[i] stands for,
 * without blanks at its ends; empty for dropped ones. Appends to out, which is always well-formed
 * UTF-8. An id without a piece is dropped like <unk>, because embeddings may be padded and
 * vocabularies may have holes. Negative ids are MT_INVALID. */
struct mt_span {
    size_t begin, end; /* bytes, relative to the first byte appended */
};
MT_MUST_CHECK enum mt_status mt_detokenize(const struct mt_tokenizer *tokenizer, const int32_t *ids,
                                           size_t n, struct mt_span *spans, struct mt_text *out,
                                           struct mt_error *err);

/* Appends the text with which mt_detokenize's result begins for these ids and any further ones:
 * everything except what a next token may change (the bytes of half a character; with
 * clean_up_tokenization_spaces, the last word). */
MT_MUST_CHECK enum mt_status mt_detokenize_begin(const struct mt_tokenizer *tokenizer,
                                                 const int32_t *ids, size_t n, struct mt_text *out,
                                                 struct mt_error *err);

/* Return the piece of an id on the source or target side, borrowed; NULL outside of the
 * vocabulary. */
const char *mt_tokenizer_source_piece(const struct mt_tokenizer *tokenizer, int32_t id);
const char *mt_tokenizer_target_piece(const struct mt_tokenizer *tokenizer, int32_t id);

/* Returns the id in the target vocabulary. */
int32_t mt_tokenizer_eos_id(const struct mt_tokenizer *tokenizer);
/* Return the ids in the source vocabulary; those of the target differ only if the vocabularies are
 * separate. */
int32_t mt_tokenizer_unk_id(const struct mt_tokenizer *tokenizer);
size_t mt_tokenizer_source_size(const struct mt_tokenizer *tokenizer); /* highest id + 1 */
size_t mt_tokenizer_target_size(const struct mt_tokenizer *tokenizer);

/* Whether the source's vocabulary has a piece for the character, after normalisation: false if only
 * byte pieces or the unknown piece spell it. Combining marks count as readable, since they compose
 * with the letter before them. The answer is computed once for each character. */
bool mt_tokenizer_reads(const struct mt_tokenizer *tokenizer, uint32_t code_point);

/* From tokenizer_config.json, or NULL: "en", "de", ... */
const char *mt_tokenizer_source_lang(const struct mt_tokenizer *tokenizer);
const char *mt_tokenizer_target_lang(const struct mt_tokenizer *tokenizer);

#endif
