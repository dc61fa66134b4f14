#include "model/tokenizer/alphabet.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#define LAST_CODE_POINT 0x10FFFFu

enum { IS_KNOWN = 1, IS_READ = 2 };

/* Two bits for each code point, so four code points in a byte. */
struct mt_alphabet {
    _Atomic unsigned char bits[LAST_CODE_POINT / 4 + 1];
};

enum mt_status mt_alphabet_create(struct mt_alphabet **out, struct mt_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? MT_OK : mt_fail_memory(err, sizeof **out, "an alphabet");
}

void mt_alphabet_destroy(struct mt_alphabet *alphabet)
{
    free(alphabet);
}

bool mt_alphabet_knows(const struct mt_alphabet *alphabet, uint32_t code_point, bool *is_read)
{
    assert(code_point <= LAST_CODE_POINT);
    unsigned four = atomic_load_explicit(&alphabet->bits[code_point / 4], memory_order_relaxed);
    unsigned bits = four >> code_point % 4 * 2;
    *is_read = bits & IS_READ;
    return bits & IS_KNOWN;
}

void mt_alphabet_learn(struct mt_alphabet *alphabet, uint32_t code_point, bool is_read)
{
    assert(code_point <= LAST_CODE_POINT);
    unsigned bits = IS_KNOWN | (is_read ? IS_READ : 0);
    atomic_fetch_or_explicit(&alphabet->bits[code_point / 4],
                             (unsigned char)(bits << code_point % 4 * 2), memory_order_relaxed);
}
