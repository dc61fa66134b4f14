#include "base/nearest.h"

#include "base/size.h"

#include <stdbool.h>
#include <string.h>

void mt_nearest_begin(struct mt_nearest *nearest, const char *word)
{
    *nearest = (struct mt_nearest){.word = word};
}

/* '-' and '_' are equal, because keys and flags differ only in these. */
static bool same(char a, char b)
{
    return a == b || (a == '-' && b == '_') || (a == '_' && b == '-');
}

static bool is_beginning(const char *word, const char *candidate)
{
    while (*word && same(*word, *candidate)) {
        word++;
        candidate++;
    }
    return !*word;
}

/* The optimal string alignment distance: insertions, deletions, substitutions, and swaps of
 * neighbours count one each. Three rows of the table are enough, as a swap looks two rows back. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][MT_NEAREST_MAX_BYTES + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = mt_size_min(above[j], row[j - 1]) + 1;
            best = mt_size_min(best, above[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                best = mt_size_min(best, rows[(i - 2) % 3][j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

void mt_nearest_offer(struct mt_nearest *nearest, const char *candidate)
{
    size_t word_length = strlen(nearest->word), length = strlen(candidate);
    if (word_length > MT_NEAREST_MAX_BYTES || length > MT_NEAREST_MAX_BYTES)
        return;
    size_t allowed = mt_size_max(1, word_length / 3);
    size_t d = distance(nearest->word, word_length, candidate, length);
    /* If the word is the beginning of the candidate, then its distance is at most the largest one
     * that is allowed. */
    if (word_length >= 3 && is_beginning(nearest->word, candidate))
        d = mt_size_min(d, allowed);
    if (d > allowed || d >= word_length || (nearest->best && d >= nearest->distance))
        return;
    nearest->best = candidate;
    nearest->distance = d;
}

bool mt_differs_in_one_byte(const char *a, const char *b)
{
    size_t n_different = 0;
    for (; *a && *b; a++, b++)
        n_different += *a != *b;
    return *a == *b && n_different == 1;
}
