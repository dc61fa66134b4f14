#include "model/tokenizer/rewrite.h"

#include "base/size.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum mt_status mt_rewrite_init(struct mt_rewrite *rewrite, const char *text, size_t length,
                               struct mt_error *err)
{
    size_t bytes;
    *rewrite = (struct mt_rewrite){.length = length, .original_length = length};
    if (!mt_size_mul(length + 1, sizeof *rewrite->moved, &bytes))
        return mt_fail_memory(err, SIZE_MAX, "text to rewrite");
    rewrite->text = malloc(length + 1);
    rewrite->moved = malloc(bytes);
    if (!rewrite->text || !rewrite->moved)
        return mt_fail_memory(err, bytes, "text to rewrite");
    if (length)
        memcpy(rewrite->text, text, length);
    rewrite->text[length] = '\0';
    for (size_t i = 0; i <= length; i++)
        rewrite->moved[i] = i;
    return MT_OK;
}

void mt_rewrite_finish(struct mt_rewrite *rewrite)
{
    free(rewrite->text);
    free(rewrite->moved);
    *rewrite = (struct mt_rewrite){0};
}

/* Subtracts `shift` from the positions of the original text's bytes from *i on that are now before
 * `until`. */
static void shift_until(struct mt_rewrite *rewrite, size_t *i, size_t until, size_t shift)
{
    for (; *i <= rewrite->original_length && rewrite->moved[*i] < until; ++*i)
        rewrite->moved[*i] -= shift;
}

static const char *find(const struct mt_rewrite *rewrite, size_t at, const char *from, size_t n)
{
    return memmem(rewrite->text + at, rewrite->length - at, from, n);
}

void mt_rewrite_replace(struct mt_rewrite *rewrite, const char *from, const char *to)
{
    size_t n_from = strlen(from), n_to = strlen(to);
    const char *inside = strstr(from, to);
    size_t lead = inside ? (size_t)(inside - from) : 0;
    size_t read = 0, written = 0, i = 0;
    const char *found;
    while ((found = find(rewrite, read, from, n_from))) {
        size_t at = (size_t)(found - rewrite->text);
        shift_until(rewrite, &i, at, read - written);
        memmove(rewrite->text + written, rewrite->text + read, at - read);
        written += at - read;
        for (; i <= rewrite->original_length && rewrite->moved[i] < at + n_from; i++) {
            size_t inner = rewrite->moved[i] - at;
            rewrite->moved[i] = written + mt_size_min(inner > lead ? inner - lead : 0, n_to);
        }
        memcpy(rewrite->text + written, to, n_to);
        written += n_to;
        read = at + n_from;
    }
    if (read == written)
        return;
    shift_until(rewrite, &i, SIZE_MAX, read - written);
    memmove(rewrite->text + written, rewrite->text + read, rewrite->length - read + 1);
    rewrite->length -= read - written;
}

static bool is_python_space(uint32_t c)
{
    return mt_is_space(c) || (c >= 0x1C && c <= 0x1F);
}

static size_t last_character(const char *text, size_t length)
{
    size_t at = length - 1;
    while (at > 0 && ((unsigned char)text[at] & 0xC0u) == 0x80u)
        at--;
    return at;
}

void mt_rewrite_strip(struct mt_rewrite *rewrite)
{
    size_t begin = 0, end = rewrite->length;
    while (begin < end && is_python_space(mt_utf8_decode(rewrite->text + begin)))
        begin += mt_utf8_length((unsigned char)rewrite->text[begin]);
    while (end > begin) {
        size_t last = last_character(rewrite->text, end);
        if (!is_python_space(mt_utf8_decode(rewrite->text + last)))
            break;
        end = last;
    }
    for (size_t i = 0; i <= rewrite->original_length; i++) {
        size_t at = mt_size_min(rewrite->moved[i], end);
        rewrite->moved[i] = at > begin ? at - begin : 0;
    }
    rewrite->length = end - begin;
    memmove(rewrite->text, rewrite->text + begin, rewrite->length);
    rewrite->text[rewrite->length] = '\0';
}

void mt_rewrite_clean_up(struct mt_rewrite *rewrite)
{
    static const char *const rules[][2] = {
        {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
        {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        mt_rewrite_replace(rewrite, rules[i][0], rules[i][1]);
}
