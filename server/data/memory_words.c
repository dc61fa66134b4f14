#include "server/data/memory_words.h"

#include "base/hash.h"
#include "base/size.h"
#include "base/text.h"
#include "server/text/codes/numbered.h"

#include <stdlib.h>

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

struct mt_word_reader {
    UBreakIterator *breaks;
    struct mt_text words; /* words of the last text, without codes */
};

/* A word with what determines its rank as a key. */
struct word {
    uint64_t hash;
    size_t n_chars;
};

/* All numbers have the hash of this. */
static const char number[] = "0";

static struct word read_word(const char *text, size_t begin, size_t end, bool is_number)
{
    struct word word = {.hash = MT_HASH_BEGIN};
    if (is_number)
        word.hash = mt_hash(word.hash, number, 1);
    for (size_t at = begin; at < end; at += mt_utf8_length((unsigned char)text[at])) {
        UChar32 c = u_foldCase((UChar32)mt_utf8_decode(text + at), U_FOLD_CASE_DEFAULT);
        if (!is_number)
            word.hash = mt_hash(word.hash, &c, sizeof c);
        word.n_chars++;
    }
    return word;
}

static int compare_rarity(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    if (x->n_chars != y->n_chars)
        return x->n_chars > y->n_chars ? -1 : 1;
    return x->hash == y->hash ? 0 : x->hash < y->hash ? -1 : 1;
}

/* Two similar texts may differ in a third of the words of either, so a third plus one is chosen. */
static void choose_keys(struct mt_memory_words *out, struct word *words)
{
    size_t n_wanted = mt_size_min(out->n / 3 + 1, MT_MAX_MEMORY_KEYS);
    qsort(words, out->n, sizeof *words, compare_rarity);
    out->n_keys = 0;
    for (size_t i = 0; i < out->n && i < n_wanted; i++)
        if (i == 0 || words[i].hash != words[i - 1].hash)
            out->keys[out->n_keys++] = words[i].hash;
}

enum mt_status mt_word_reader_create(struct mt_word_reader **out, struct mt_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    struct mt_word_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return mt_fail_memory(err, sizeof *reader, "words of a text");
    reader->breaks = ubrk_open(UBRK_WORD, "", NULL, 0, &code);
    if (U_FAILURE(code)) {
        mt_word_reader_destroy(reader);
        return mt_fail(err, MT_MEMORY, "words of a text: %s", u_errorName(code));
    }
    *out = reader;
    return MT_OK;
}

void mt_word_reader_destroy(struct mt_word_reader *reader)
{
    if (!reader)
        return;
    ubrk_close(reader->breaks);
    mt_text_finish(&reader->words);
    free(reader);
}

/* Lists the words of reader->words. */
static void list_words(struct mt_word_reader *reader, struct mt_memory_words *out)
{
    struct word words[MT_MAX_MEMORY_WORDS];
    int32_t begin = ubrk_first(reader->breaks), end;
    out->signature = 0;
    for (out->n = 0; out->n < MT_MAX_MEMORY_WORDS; begin = end) {
        end = ubrk_next(reader->breaks);
        if (end == UBRK_DONE)
            break;
        int32_t kind = ubrk_getRuleStatus(reader->breaks);
        if (kind < UBRK_WORD_NONE_LIMIT)
            continue; /* blanks and punctuation */
        words[out->n] = read_word(reader->words.bytes, (size_t)begin, (size_t)end,
                                  kind < UBRK_WORD_NUMBER_LIMIT);
        out->hashes[out->n] = words[out->n].hash;
        out->signature |= UINT64_C(1) << (words[out->n].hash >> 58);
        out->n++;
    }
    choose_keys(out, words);
}

enum mt_status mt_memory_words_read(struct mt_word_reader *reader, const char *text, size_t length,
                                    struct mt_memory_words *out, struct mt_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    reader->words.length = 0;
    mt_text_append(&reader->words, "", 0);
    mt_numbered_append_words(text, length, &reader->words);
    enum mt_status status = mt_text_check(&reader->words, "words of a text", err);
    if (status)
        return status;
    UText *given = utext_openUTF8(NULL, reader->words.bytes, (int64_t)reader->words.length, &code);
    ubrk_setUText(reader->breaks, given, &code);
    if (U_SUCCESS(code))
        list_words(reader, out);
    utext_close(given);
    return U_SUCCESS(code) ? MT_OK
                           : mt_fail(err, MT_MEMORY, "words of a text: %s", u_errorName(code));
}

/* Levenshtein's distance, computed row by row. */
static size_t distance(const struct mt_memory_words *a, const struct mt_memory_words *b)
{
    size_t row[MT_MAX_MEMORY_WORDS + 1];
    for (size_t k = 0; k <= b->n; k++)
        row[k] = k;
    for (size_t i = 0; i < a->n; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < b->n; k++) {
            size_t replaced = diagonal + (a->hashes[i] != b->hashes[k]);
            diagonal = row[k + 1];
            row[k + 1] = mt_size_min(replaced, mt_size_min(row[k], row[k + 1]) + 1);
        }
    }
    return row[b->n];
}

int mt_memory_words_similarity(const struct mt_memory_words *a, const struct mt_memory_words *b)
{
    size_t longest = mt_size_max(a->n, b->n);
    return longest == 0 ? 100 : (int)(100 * (longest - distance(a, b)) / longest);
}

/* Inserting, deleting or replacing a word changes at most two bits of the difference, one in each
 * signature. */
bool mt_memory_words_may_be_alike(const struct mt_memory_words *words, size_t n, uint64_t signature,
                                  int least)
{
    size_t longest = mt_size_max(words->n, n);
    int most = (int)(longest * (size_t)(100 - least) / 100);
    return __builtin_popcountll(words->signature & ~signature) <= most &&
           __builtin_popcountll(signature & ~words->signature) <= most;
}

struct mt_memory_word_range mt_memory_words_range(size_t n)
{
    return (struct mt_memory_word_range){.low = (n * MT_LEAST_SIMILARITY + 99) / 100,
                                         .high = n * 100 / MT_LEAST_SIMILARITY};
}
