/*
 * Compares the numbers of a text with those of another, both ways, and writes what is missing in the
 * other's notation. The input is two texts with a line feed between them. A text has the same
 * numbers as itself, and what is named lies in its text.
 */
#include "server/text/numbers/number_notation.h"
#include "server/text/proofread.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct mt_number_words *words;

static void check_ranges(const struct mt_ranges *ranges, size_t length)
{
    size_t at = 0;
    for (size_t i = 0; i < ranges->n; i++) {
        assert(ranges->items[i].begin >= at && ranges->items[i].begin < ranges->items[i].end);
        at = ranges->items[i].end;
    }
    assert(at <= length);
}

static void write_missing(const struct mt_proofreader *reader, const struct mt_proofread_pair *pair,
                          const struct mt_ranges *missing)
{
    for (size_t i = 0; i < missing->n; i++) {
        struct mt_text out = {0};
        struct mt_range at = missing->items[i];
        bool is_sure;
        const struct mt_notation_input input = {.number = pair->source + at.begin,
                                                .length = at.end - at.begin,
                                                .source_lang = reader->source_lang,
                                                .target_lang = reader->target_lang,
                                                .written = pair->target,
                                                .n_written = 0};
        enum mt_status status = mt_number_write(&input, &out, &is_sure, NULL);
        assert(!status && (is_sure || out.length == 0));
        assert(mt_utf8_valid_prefix(out.bytes ? out.bytes : "", out.length) == out.length);
        mt_text_finish(&out);
    }
}

static void compare(const char *source_lang, const char *target_lang, const char *source,
                    size_t n_source, const char *target, size_t n_target)
{
    struct mt_proofreader reader;
    struct mt_numbers_difference difference = {0};
    unsigned warnings;
    enum mt_status status = mt_proofreader_init(&reader, words, source_lang, target_lang, NULL);
    assert(!status);
    struct mt_proofread_pair pair = {
        .source = source, .n_source = n_source, .target = target, .n_target = n_target};
    status = mt_proofread_numbers(&reader, &pair, &difference, NULL);
    assert(!status);
    check_ranges(&difference.missing, n_source);
    check_ranges(&difference.added, n_target);
    write_missing(&reader, &pair, &difference.missing);
    status = mt_proofread_language(&reader, &pair, &warnings, NULL);
    assert(!status);
    pair.target = source;
    pair.n_target = n_source;
    status = mt_proofread_numbers(&reader, &pair, &difference, NULL);
    assert(!status);
    if (strcmp(source_lang, target_lang) == 0)
        assert(difference.missing.n == 0 && difference.added.n == 0);
    mt_numbers_difference_finish(&difference);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return mt_number_words_create(&words, NULL) == MT_OK ? 0 : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    size_t length = mt_utf8_valid_prefix(text, size);
    const char *feed = memchr(text, '\n', length);
    size_t cut = feed ? (size_t)(feed - text) : length;
    size_t rest = feed ? cut + 1 : length;
    compare("en", "de", text, cut, text + rest, length - rest);
    compare("ja", "en", text, cut, text + rest, length - rest);
    compare("fr", "fr", text, cut, text + rest, length - rest);
    free(text);
    return 0;
}
