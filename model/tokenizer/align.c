#include "model/tokenizer/align.h"

#include "base/size.h"

#include <stdlib.h>
#include <string.h>

#define BLANK "\xE2\x96\x81" /* U+2581 */
#define BLANK_BYTES 3

/* Skips blanks of a normalised text, in both spellings. */
static void skip_blanks(const char **bytes, size_t *length)
{
    while (*length) {
        size_t n = **bytes == ' ' ? 1 : 0;
        if (*length >= BLANK_BYTES && !memcmp(*bytes, BLANK, BLANK_BYTES))
            n = BLANK_BYTES;
        if (!n)
            break;
        *bytes += n;
        *length -= n;
    }
}

void mt_aligner_init(struct mt_aligner *aligner, const struct mt_charsmap *map, const char *text,
                     size_t length)
{
    *aligner = (struct mt_aligner){.map = map, .text = text, .length = length};
}

/* Moves to the next unit that becomes more than blanks, unless the current one is not finished.
 * Returns false at the end of the text. */
static bool find_unit(struct mt_aligner *aligner)
{
    while (!aligner->rest_length && aligner->next < aligner->length) {
        aligner->unit_begin = aligner->next;
        aligner->next += mt_charsmap_next(aligner->map, aligner->text + aligner->next,
                                          aligner->length - aligner->next, &aligner->rest,
                                          &aligner->rest_length);
        skip_blanks(&aligner->rest, &aligner->rest_length);
    }
    return aligner->rest_length > 0;
}

/* Removes the bytes that piece and unit have in common from both. Returns false if they differ. */
static bool match(struct mt_aligner *aligner, const char **bytes, size_t *length)
{
    size_t n = 0;
    while (n < *length && n < aligner->rest_length && (*bytes)[n] == aligner->rest[n])
        n++;
    *bytes += n;
    *length -= n;
    aligner->rest += n;
    aligner->rest_length -= n;
    skip_blanks(bytes, length);
    skip_blanks(&aligner->rest, &aligner->rest_length);
    return n > 0;
}

static size_t boundary_before(const struct mt_aligner *aligner, size_t at)
{
    at = mt_size_min(at, aligner->length);
    while (at > 0 && at < aligner->length && ((unsigned char)aligner->text[at] & 0xC0u) == 0x80u)
        at--;
    return at;
}

/* Takes libsentencepiece's offsets, but never before earlier ones. */
static void take_offsets(struct mt_aligner *aligner, const struct mt_spm_piece *piece,
                         size_t *begin, size_t *end)
{
    *begin = mt_size_max(aligner->last_begin, boundary_before(aligner, piece->begin));
    *end = mt_size_max(*begin, boundary_before(aligner, piece->end));
    *end = mt_size_max(*end, aligner->last_end);
    aligner->next = *end;
    aligner->rest_length = 0;
}

/* Returns false if the piece's bytes are not those that the charsmap makes of the text. */
static bool match_piece(struct mt_aligner *aligner, const char *bytes, size_t length, size_t *begin,
                        size_t *end)
{
    bool inside = aligner->rest_length > 0;
    bool found = find_unit(aligner);
    *begin = found ? aligner->unit_begin : aligner->length;
    *end = inside ? aligner->next : *begin;
    while (length) {
        if (!find_unit(aligner) || !match(aligner, &bytes, &length))
            return false;
        *end = aligner->next;
    }
    return true;
}

void mt_align(struct mt_aligner *aligner, const struct mt_spm_piece *piece, size_t *begin,
              size_t *end)
{
    char byte = piece->is_byte ? (char)strtoul(piece->bytes + 3, NULL, 16) : '\0';
    const char *bytes = piece->is_byte ? &byte : piece->bytes;
    size_t length = piece->is_byte ? 1 : piece->length;
    skip_blanks(&bytes, &length);
    if (!match_piece(aligner, bytes, length, begin, end))
        take_offsets(aligner, piece, begin, end);
    aligner->last_begin = *begin;
    aligner->last_end = *end;
}
