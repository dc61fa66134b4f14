#include "model/cut.h"

#include "base/size.h"

/* Of a member's part. Measured with 8 and 72 million parameters: with fewer rows a member reads
 * weights for longer than it would wait at the barriers. */
#define MIN_ROWS 8

/* The largest part decides when the pass ends. */
#define MAX_SHARE_PERCENT 125

bool mt_cut_apart(const size_t *n_rows, size_t n_sentences, size_t n_members, struct mt_cut *cuts)
{
    size_t total = 0, row = 0, member = 1;
    for (size_t i = 0; i < n_sentences; i++)
        total += n_rows[i];
    if (n_members < 2 || total < MIN_ROWS * n_members)
        return false;
    cuts[0] = (struct mt_cut){0};
    for (size_t i = 0; i < n_sentences; i++) {
        /* The border nearest to where an even share would end. */
        while (member < n_members && total * member / n_members <= row + n_rows[i] / 2)
            cuts[member++] = (struct mt_cut){.sentence = i, .row = row};
        row += n_rows[i];
    }
    while (member <= n_members)
        cuts[member++] = (struct mt_cut){.sentence = n_sentences, .row = total};
    size_t largest = 0;
    for (size_t i = 0; i < n_members; i++)
        largest = mt_size_max(largest, cuts[i + 1].row - cuts[i].row);
    return largest * n_members * 100 <= total * MAX_SHARE_PERCENT;
}
