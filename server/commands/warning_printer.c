#include "server/commands/warning_printer.h"

#include "server/passages/passage.h"

#include <stdio.h>
#include <string.h>

static const char *words_of(enum mt_warning kind)
{
    static const char *const words[MT_N_WARNINGS] = {
        [MT_WARNING_REPETITION] = "says the same over and over",
        [MT_WARNING_LENGTH] = "is much longer or shorter than its source",
        [MT_WARNING_TRUNCATED] = "was cut off at its limit",
        [MT_WARNING_CUT] = "was made in pieces, because its source is too long for the model",
        [MT_WARNING_NUMBERS] = "has other numbers than its source",
        [MT_WARNING_SOURCE_LANGUAGE] = "has a source that seems to be in another language",
        [MT_WARNING_UNTRANSLATED] = "is the same as its source",
        [MT_WARNING_UNALIGNED] = "was made without an alignment, which had no room in memory",
        [MT_WARNING_UNREADABLE] = "has a source with characters that the model cannot read",
        [MT_WARNING_SOURCE_WORDS] = "seems to hold words of its source's language",
        [MT_WARNING_UNSURE] = "is one that the model is unsure of",
    };
    return words[kind];
}

static void append_numbers(const char *name, const struct mt_text *numbers, struct mt_text *out)
{
    for (size_t at = 0; at < numbers->length; at += strlen(numbers->bytes + at) + 1) {
        const char *number = numbers->bytes + at;
        mt_text_append_string(out, at == 0 ? name : ", ");
        mt_text_append_printable(out, number, strlen(number));
    }
}

static void print(void *context, const struct mt_finding *finding)
{
    struct mt_warning_printer *printer = context;
    struct mt_text line = {0};
    if (printer->n++ >= MT_MAX_PRINTED_WARNINGS)
        return;
    mt_text_appendf(&line, "attentiond translate: %s %zu: the translation of sentence %zu %s",
                    printer->unit, printer->number, finding->sentence + 1, words_of(finding->kind));
    append_numbers("; missing: ", &finding->missing, &line);
    append_numbers("; added: ", &finding->added, &line);
    append_numbers("; put in: ", &finding->repaired, &line);
    mt_text_append_string(&line, "\n");
    if (!line.status)
        fputs(line.bytes, stderr);
    mt_text_finish(&line);
}

enum mt_status mt_warning_printer_look(struct mt_warning_printer *printer, const char *unit,
                                       size_t number, struct mt_passage *passage,
                                       struct mt_error *err)
{
    printer->unit = unit;
    printer->number = number;
    return mt_passage_find_warnings(passage, &printer->checks, print, printer, err);
}

void mt_warning_printer_end(const struct mt_warning_printer *printer)
{
    if (printer->n > MT_MAX_PRINTED_WARNINGS)
        fprintf(stderr, "attentiond translate: %zu warnings more; --json lists them all\n",
                printer->n - MT_MAX_PRINTED_WARNINGS);
}
