#include "model/files/target_vocabulary.h"

#include "model/tokenizer/tokenizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TITLE "attentiond target vocabulary 1: "
#define MAX_DIGITS 9

void mt_target_vocabulary_name(const char *language, char out[MT_TARGET_VOCABULARY_NAME_BYTES])
{
    snprintf(out, MT_TARGET_VOCABULARY_NAME_BYTES, MT_TARGET_VOCABULARY_PREFIX "%.48s%stxt",
             language ? language : "", language ? "." : "");
}

/* --- Reading --- */

/* Reads a number at the end of a line. Returns false for anything else. */
static bool read_number(const char **at, const char *end, size_t *out)
{
    const char *begin = *at;
    size_t n = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && *at - begin < MAX_DIGITS; (*at)++)
        n = n * 10 + (size_t)(**at - '0');
    if (*at == begin || *at == end || **at != '\n')
        return false;
    (*at)++;
    *out = n;
    return true;
}

enum mt_status mt_target_vocabulary_read(const char *bytes, size_t length, const char *path,
                                         const struct mt_hparams *hparams, int32_t *ids, size_t *n,
                                         struct mt_error *err)
{
    const char *at = bytes + strlen(TITLE), *end = bytes + length;
    size_t n_vocab = 0, id, n_ids = 0, line = 2;
    bool has_eos = false;
    if (length < strlen(TITLE) || memcmp(bytes, TITLE, strlen(TITLE)) != 0 ||
        !read_number(&at, end, &n_vocab))
        return mt_fail(err, MT_FORMAT, "%s: line 1: expected \"" TITLE "\" and a number", path);
    if (n_vocab != hparams->n_target_vocab)
        return mt_fail(err, MT_INVALID,
                       "%s: expected a vocabulary of %zu tokens, found one of %zu: it is another "
                       "model's",
                       path, hparams->n_target_vocab, n_vocab);
    for (; at < end; line++) {
        size_t least = n_ids ? (size_t)ids[n_ids - 1] + 1 : 0;
        if (!read_number(&at, end, &id) || id < least || id >= n_vocab)
            return mt_fail(err, MT_FORMAT,
                           "%s: line %zu: expected an id from %zu to %zu, and nothing behind it",
                           path, line, least, n_vocab - 1);
        ids[n_ids++] = (int32_t)id;
        has_eos |= (int32_t)id == hparams->eos_id;
    }
    if (!has_eos)
        return mt_fail(err, MT_FORMAT,
                       "%s: expected eos_token_id (%" PRId32 ") among its %zu ids, or no sentence "
                       "would end",
                       path, hparams->eos_id, n_ids);
    *n = n_ids;
    return MT_OK;
}

/* --- Making --- */

static void mark(const struct mt_hparams *hparams, int32_t id, bool *marks)
{
    if (id >= 0 && (size_t)id < hparams->n_target_vocab)
        marks[id] = true;
}

enum mt_status mt_target_vocabulary_add_text(const struct mt_tokenizer *tokenizer, const char *text,
                                             size_t length, const struct mt_hparams *hparams,
                                             bool *marks, struct mt_error *err)
{
    struct mt_token_list tokens = {0};
    enum mt_status status = mt_tokenize(tokenizer, text, length, MT_TOKENIZE_TARGET, &tokens, err);
    for (size_t i = 0; i < tokens.n && !status; i++)
        if (!tokens.tokens[i].unknown)
            mark(hparams, tokens.tokens[i].id, marks);
    mt_token_list_finish(&tokens);
    return status;
}

static bool is_ascii_letter(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether the character is a sign that any language may use: ASCII's, Latin-1's, general
 * punctuation, currencies; and the mark for a blank. */
static bool is_sign(uint32_t c)
{
    return c == 0x2581 || (c < 0x7f && !is_ascii_letter(c)) || (c >= 0xa0 && c <= 0xbf) ||
           (c >= 0x2010 && c <= 0x205e) || (c >= 0x20a0 && c <= 0x20c0);
}

/* Whether the piece is like "3", "_.", "_a" (where _ is a blank), "<0x0A>". */
static bool is_common(const char *piece)
{
    size_t n_letters = 0, n_others = 0;
    if (strncmp(piece, "<0x", 3) == 0 && strlen(piece) == 6)
        return true;
    for (const char *at = piece; *at; at += mt_utf8_length((unsigned char)*at)) {
        uint32_t c = mt_utf8_decode(at);
        n_letters += is_ascii_letter(c);
        n_others += !is_ascii_letter(c) && c != 0x2581;
        if (!is_ascii_letter(c) && !is_sign(c))
            return false;
    }
    return n_letters == 0 || (n_letters == 1 && n_others == 0);
}

void mt_target_vocabulary_add_common(const struct mt_tokenizer *tokenizer,
                                     const struct mt_hparams *hparams, bool *marks)
{
    size_t n = mt_tokenizer_target_size(tokenizer);
    for (size_t id = 0; id < n; id++) {
        const char *piece = mt_tokenizer_target_piece(tokenizer, (int32_t)id);
        if (piece && is_common(piece))
            mark(hparams, (int32_t)id, marks);
    }
    mark(hparams, hparams->eos_id, marks);
    mark(hparams, hparams->forced_bos_id, marks);
}

enum mt_status mt_target_vocabulary_write(const struct mt_hparams *hparams, const bool *marks,
                                          struct mt_text *out, struct mt_error *err)
{
    mt_text_appendf(out, TITLE "%zu\n", hparams->n_target_vocab);
    for (size_t id = 0; id < hparams->n_target_vocab; id++)
        if (marks[id])
            mt_text_appendf(out, "%zu\n", id);
    return mt_text_check(out, "target vocabulary", err);
}
