/*
 * Feeds bytes to the reader of a glossary's entries, as one kind of values or the other. What it
 * takes is written again and read again, and must be the same then.
 */
#include "base/text.h"
#include "server/data/glossary_entries.h"
#include "server/text/terms.h"

#include <stdlib.h>
#include <string.h>

static struct mt_terms *read(const char *text, size_t length, bool is_csv)
{
    const struct mt_entries entries = {
        .text = text, .length = length, .is_csv = is_csv, .source = "en", .target = "pt-BR"};
    struct mt_terms *terms = NULL;
    struct mt_error err;
    if (mt_terms_create(&terms, &err) != MT_OK)
        abort();
    if (mt_entries_read(&entries, terms, &err) == MT_OK)
        return terms;
    mt_terms_destroy(terms);
    return NULL;
}

static void check_same(const struct mt_terms *terms, const struct mt_terms *again)
{
    if (!again || mt_terms_count(again) != mt_terms_count(terms))
        abort();
    for (size_t i = 0; i < mt_terms_count(terms); i++) {
        const struct mt_term term = mt_terms_at(terms, i), other = mt_terms_at(again, i);
        if (strcmp(term.source, other.source) != 0 || strcmp(term.target, other.target) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size == 0 || memchr(data, 0, size) || mt_utf8_valid_prefix((const char *)data, size) < size)
        return 0; /* which JSON and forms refuse */
    char *text = malloc(size);
    memcpy(text, data + 1, size - 1);
    struct mt_terms *terms = read(text, size - 1, data[0] == 'c');
    free(text);
    if (!terms)
        return 0;
    struct mt_text written = {0};
    mt_entries_write(terms, &written);
    struct mt_terms *again = read(written.bytes, written.length, false);
    check_same(terms, again);
    mt_terms_destroy(again);
    mt_terms_destroy(terms);
    mt_text_finish(&written);
    return 0;
}
