#include "server/text/brands.h"

#include "base/ascii.h"

#include <string.h>
#include <strings.h>

/* The word for "us", and what belongs behind it for "our" where the name stood before a noun without
 * it; and the particles that may follow either. */
static const struct pronoun {
    const char *language, *us, *of;
    const char *particles[12];
} pronouns[] = {
    {"ja", "私たち", "の", {"の", "に", "は", "が", "を", "と", "も", "で", "へ", "から"}},
};

static bool is_letter(const char *text, size_t length, size_t at)
{
    return at < length && mt_ascii_is_letter(text[at]);
}

static bool has_word(const char *text, size_t length, const char *word)
{
    size_t n = strlen(word);
    for (size_t at = 0; at + n <= length; at++)
        if (strncasecmp(text + at, word, n) == 0 && (at == 0 || !is_letter(text, length, at - 1)) &&
            !is_letter(text, length, at + n))
            return true;
    return false;
}

static const struct pronoun *pronoun_of(const char *language)
{
    for (size_t i = 0; language && i < sizeof pronouns / sizeof *pronouns; i++)
        if (strncmp(language, pronouns[i].language, 2) == 0 && !mt_ascii_is_letter(language[2]))
            return &pronouns[i];
    return NULL;
}

size_t mt_brand_write(const char *source, size_t n_source, const char *target, size_t n_target,
                      size_t at, const char *target_lang, struct mt_text *out)
{
    static const char name[] = "Mozilla";
    const size_t n = sizeof name - 1;
    if (n_target - at < n || memcmp(target + at, name, n) != 0)
        return 0;
    const struct pronoun *pronoun = pronoun_of(target_lang);
    bool is_of_us = has_word(source, n_source, "us") || has_word(source, n_source, "our");
    if (!pronoun || !is_of_us || has_word(source, n_source, name))
        return 0;
    const char *behind = target + at + n;
    bool has_particle = at + n == n_target;
    for (size_t i = 0; pronoun->particles[i]; i++) {
        size_t n_particle = strlen(pronoun->particles[i]);
        has_particle = has_particle || (n_target - at - n >= n_particle &&
                                        memcmp(behind, pronoun->particles[i], n_particle) == 0);
    }
    mt_text_append_string(out, pronoun->us);
    if (!has_particle)
        mt_text_append_string(out, pronoun->of);
    return n;
}
