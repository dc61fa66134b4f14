/*
 * What the server would say of given translations: of references it should say nothing. Reads pairs
 * (a source, a tab, its translation, one a line) and prints every line that is flagged and why, and
 * how many.
 */
#include "server/text/proofread.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct pair_checker {
    struct mt_proofreader reader;
    size_t n_lines, n_with_numbers;
    size_t n_flagged[MT_N_WARNINGS];
};

static void print_ranges(const char *name, const char *text, const struct mt_ranges *ranges)
{
    printf(" %s", name);
    for (size_t i = 0; i < ranges->n; i++)
        printf(" [%.*s]", (int)(ranges->items[i].end - ranges->items[i].begin),
               text + ranges->items[i].begin);
}

static enum mt_status check_numbers(struct pair_checker *checker,
                                    const struct mt_proofread_pair *pair, struct mt_error *err)
{
    struct mt_numbers_difference difference = {0};
    enum mt_status status = mt_proofread_numbers(&checker->reader, pair, &difference, err);
    if (!status)
        status = mt_proofread_times(&checker->reader, pair, &difference, err);
    bool has_numbers =
        mt_has_digits(pair->source, pair->n_source) || mt_has_digits(pair->target, pair->n_target);
    checker->n_with_numbers += has_numbers;
    if (!status && difference.missing.n + difference.added.n > 0) {
        checker->n_flagged[MT_WARNING_NUMBERS]++;
        printf("line %zu: numbers:", checker->n_lines);
        print_ranges("missing", pair->source, &difference.missing);
        print_ranges("added", pair->target, &difference.added);
        printf("\n  %s\n  %s\n", pair->source, pair->target);
    }
    mt_numbers_difference_finish(&difference);
    return status;
}

static void check_length(struct pair_checker *checker, const struct mt_proofread_pair *pair)
{
    if (!mt_proofread_has_other_length(pair))
        return;
    checker->n_flagged[MT_WARNING_LENGTH]++;
    printf("line %zu: length\n  %s\n  %s\n", checker->n_lines, pair->source, pair->target);
}

static enum mt_status check_language(struct pair_checker *checker,
                                     const struct mt_proofread_pair *pair, struct mt_error *err)
{
    unsigned warnings = 0;
    enum mt_status status = mt_proofread_language(&checker->reader, pair, &warnings, err);
    for (unsigned kind = 0; kind < MT_N_WARNINGS; kind++)
        if (warnings & 1u << kind) {
            checker->n_flagged[kind]++;
            printf("line %zu: %s\n  %s\n", checker->n_lines, mt_warning_name((enum mt_warning)kind),
                   pair->source);
        }
    return status;
}

static enum mt_status check_line(struct pair_checker *checker, char *line, struct mt_error *err)
{
    line[strcspn(line, "\r\n")] = '\0';
    char *tab = strchr(line, '\t');
    checker->n_lines++;
    if (!tab)
        return mt_fail(err, MT_FORMAT, "line %zu: expected a tab", checker->n_lines);
    *tab = '\0';
    const struct mt_proofread_pair pair = {
        .source = line, .n_source = strlen(line), .target = tab + 1, .n_target = strlen(tab + 1)};
    enum mt_status status = check_numbers(checker, &pair, err);
    check_length(checker, &pair);
    return status ? status : check_language(checker, &pair, err);
}

static enum mt_status check_file(struct pair_checker *checker, FILE *file, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    char *line = NULL;
    size_t capacity = 0;
    while (!status && getline(&line, &capacity, file) > 0)
        status = check_line(checker, line, err);
    free(line);
    return status;
}

int main(int argc, char **argv)
{
    struct mt_error err = {.status = MT_OK};
    struct mt_number_words *words = NULL;
    struct pair_checker checker = {.n_lines = 0};
    if (argc != 3) {
        fprintf(stderr, "usage: proofread SOURCE_LANGUAGE TARGET_LANGUAGE < FILE.tsv\n");
        return EXIT_USAGE;
    }
    enum mt_status status = mt_number_words_create(&words, &err);
    if (!status)
        status = mt_proofreader_init(&checker.reader, words, argv[1], argv[2], &err);
    if (!status)
        status = check_file(&checker, stdin, &err);
    mt_number_words_destroy(words);
    if (status) {
        fprintf(stderr, "proofread: %s\n", err.message);
        return EXIT_FAILED;
    }
    printf("%zu lines, %zu with digits; flagged:", checker.n_lines, checker.n_with_numbers);
    static const enum mt_warning kinds[] = {MT_WARNING_LENGTH, MT_WARNING_NUMBERS,
                                            MT_WARNING_SOURCE_LANGUAGE, MT_WARNING_UNTRANSLATED};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        printf(" %s %zu", mt_warning_name(kinds[i]), checker.n_flagged[kinds[i]]);
    printf("\n");
    return EXIT_DONE;
}
