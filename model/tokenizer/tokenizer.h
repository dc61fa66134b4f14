/*
 * Text to ids and back, for one MarianMT directory: SentencePiece cuts the text into pieces
 * (source.spm, target.spm), and vocab.json gives each piece its id. The .spm files' own ids are
 * never used.
 *
 * Semantics: Hugging Face's tokenization_marian.py 4.x, but text is plain: "</s>" typed by a user
 * is five characters, unless MT_TOKENIZE_SPECIALS asks for the reference's way.
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
 * One token of a text. The offsets say which part of the *original* text it stands for, from its
 * first to behind its last character, without blanks at either end; a token that stands for no part
 * of it (eos; a lone U+2581) has begin == end, where the text goes on. Characters that the
 * normaliser drops, blanks among them, belong to no token.
 *
 * begin and end never decrease from one token to the next and lie on character boundaries.
 * Neighbours overlap only where one character (or several that compose) was replaced by several and
 * then cut: U+00BD becomes "1", U+2044, "2", and belongs to all three.
 */
struct mt_token {
    int32_t id;
    bool special;                /* eos, a language's token, or a special token's literal */
    bool unknown;                /* the piece is not in the vocabulary: id is that of <unk> */
    size_t begin, end;           /* bytes */
    size_t begin_char, end_char; /* code points */
    const char *piece; /* NUL-terminated, as the model writes it (U+2581 for a blank; U+FFFD for a
                          NUL in the text); borrowed from the list */
};

struct mt_token_list {
    size_t n;
    struct mt_token *tokens;
    void *storage; /* the pieces' bytes */
};

enum mt_tokenize_flags {
    MT_TOKENIZE_SOURCE = 0, /* source.spm and its vocabulary, a leading >>xx<< taken whole */
    MT_TOKENIZE_TARGET = 1, /* target.spm and its vocabulary */
    MT_TOKENIZE_SPECIALS =
        2, /* "</s>", "<unk>", "<pad>" in the text are the special tokens (the reference's way) */
};

/* Longest text in bytes that is tokenized. Longer ones are MT_LIMIT; callers split first. */
#define MT_TOKENIZER_MAX_BYTES ((size_t)1 << 20)

/* A file's bytes, and its path for messages. */
struct mt_tokenizer_file {
    const char *path, *bytes;
    size_t length;
};

struct mt_tokenizer_files {
    struct mt_tokenizer_file source_spm, target_spm;
    struct mt_tokenizer_file vocab;
    struct mt_tokenizer_file target_vocab; /* bytes NULL: vocab is that of both sides */
};

/* Nothing that is handed over is needed afterwards. A hostile .spm file (bad character map,
 * overlong pieces) is refused with MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_tokenizer_open(const struct mt_tokenizer_config *config,
                                               const struct mt_tokenizer_files *files,
                                               struct mt_tokenizer **out, struct mt_error *err);
/* Takes NULL. */
void mt_tokenizer_close(struct mt_tokenizer *tokenizer);

/* Tokenizes well-formed UTF-8 and appends eos: an empty or blank text gives [eos]. Sources of
 * models of other families may begin with bos, or go without eos; a blank one may then be no token
 * at all. flags: enum mt_tokenize_flags or'ed. *out is the caller's: mt_token_list_finish it.
 * MT_INVALID for malformed UTF-8, with the offset. */
MT_MUST_CHECK enum mt_status mt_tokenize(const struct mt_tokenizer *tokenizer, const char *text,
                                         size_t length, unsigned flags, struct mt_token_list *out,
                                         struct mt_error *err);
void mt_token_list_finish(struct mt_token_list *list);

/*
 * A model of many languages is told by tokens which language a text is in and which it is to become
 * (enum mt_language_rule): some stand in the source, and one may have to be what the target begins
 * with. Without them it gets a text of no language, whose translation is worth nothing.
 */
struct mt_direction {
    int32_t source, target; /* ids of the languages' tokens, of one vocabulary */
};

/* 0: the model has the languages that it has, and needs no direction. */
size_t mt_tokenizer_n_languages(const struct mt_tokenizer *tokenizer);
/* The model's own codes, "en" or "eng_Latn", in its own order. Borrowed. */
const char *mt_tokenizer_language(const struct mt_tokenizer *tokenizer, size_t i);
/* By their own codes. MT_INVALID for one that the model does not have, or NULL, and for a model of
 * no such languages. */
MT_MUST_CHECK enum mt_status mt_tokenizer_direction(const struct mt_tokenizer *tokenizer,
                                                    const char *source, const char *target,
                                                    struct mt_direction *out, struct mt_error *err);
/* mt_tokenize of a source, with the tokens of its direction. */
MT_MUST_CHECK enum mt_status mt_tokenize_towards(const struct mt_tokenizer *tokenizer,
                                                 const struct mt_direction *direction,
                                                 const char *text, size_t length, unsigned flags,
                                                 struct mt_token_list *out, struct mt_error *err);
/* What a target has to begin with (mt_sentence_options.first_target), or MT_NO_TOKEN. */
int32_t mt_tokenizer_first_target(const struct mt_tokenizer *tokenizer,
                                  const struct mt_direction *direction);
/* How many tokens stand before and behind those of the text. */
struct mt_tokens_added {
    size_t before, behind;
};
struct mt_tokens_added mt_tokenizer_source_adds(const struct mt_tokenizer *tokenizer);

/* Target ids to text: eos, pad (also the start token) and <unk> are dropped, U+2581 becomes a
 * blank, bytes that make no character are dropped, the ends are stripped; blanks before punctuation go where tokenizer_config.json says
 * clean_up_tokenization_spaces. With spans (array of n, may be NULL) spans[i] gets the part of *out
 * that ids[i] stands for, without blanks at its ends; empty for dropped ones. Appends to out, which
 * is always well-formed UTF-8. An id without a piece counts as <unk> and is dropped like it, as
 * embeddings are padded and vocabularies have holes. Negative ids are MT_INVALID. */
struct mt_span {
    size_t begin, end; /* bytes, relative to the first byte appended */
};
MT_MUST_CHECK enum mt_status mt_detokenize(const struct mt_tokenizer *tokenizer, const int32_t *ids,
                                           size_t n, struct mt_span *spans, struct mt_text *out,
                                           struct mt_error *err);

/* Appends what mt_detokenize makes of ids and of any ids behind them begins with: all but what a
 * next token may still change (the bytes of half a character; with
 * clean_up_tokenization_spaces, the last word). */
MT_MUST_CHECK enum mt_status mt_detokenize_begin(const struct mt_tokenizer *tokenizer,
                                                 const int32_t *ids, size_t n, struct mt_text *out,
                                                 struct mt_error *err);

/* The piece of an id on the source or target side, borrowed; NULL outside the vocabulary. */
const char *mt_tokenizer_source_piece(const struct mt_tokenizer *tokenizer, int32_t id);
const char *mt_tokenizer_target_piece(const struct mt_tokenizer *tokenizer, int32_t id);

/* The id of a target piece, or MT_NO_TOKEN (-1). */
int32_t mt_tokenizer_target_id(const struct mt_tokenizer *tokenizer, const char *piece);

/* The id in the target vocabulary. */
int32_t mt_tokenizer_eos_id(const struct mt_tokenizer *tokenizer);
/* The ids in the source vocabulary; the target's differ only where the vocabularies are
 * separate. */
int32_t mt_tokenizer_unk_id(const struct mt_tokenizer *tokenizer);
int32_t mt_tokenizer_pad_id(
    const struct mt_tokenizer *tokenizer); /* MT_NO_TOKEN (-1) where there is none */
size_t mt_tokenizer_source_size(const struct mt_tokenizer *tokenizer); /* highest id + 1 */
size_t mt_tokenizer_target_size(const struct mt_tokenizer *tokenizer);

/* Whether the source's vocabulary has a piece for the character, after normalisation: false where only
 * byte pieces or the unknown piece spell it. Combining marks count as read, since they compose with the
 * letter before them. Found out once for each character. */
bool mt_tokenizer_reads(const struct mt_tokenizer *tokenizer, uint32_t code_point);

/* From tokenizer_config.json, or NULL: "en", "de", ... */
const char *mt_tokenizer_source_lang(const struct mt_tokenizer *tokenizer);
const char *mt_tokenizer_target_lang(const struct mt_tokenizer *tokenizer);

#endif
