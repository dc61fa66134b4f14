/*
 * read_document FILE [TIMES]: how many bytes of a document's parts are read a second, in this process and by
 * its processor time, so that what else a machine does hardly counts. read_document.py makes a file for it.
 */
#include "base/clock.h"
#include "base/file.h"
#include "server/documents/document.h"
#include "server/documents/document_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void stop(const char *path, const char *message)
{
    fprintf(stderr, "%s: %s\n", path, message);
    exit(1);
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    struct mt_document_options options = {.target_lang = "de", .source_lang = "en"};
    struct mt_error err;
    char *file;
    size_t length, n_times = argc > 2 ? (size_t)atoi(argv[2]) : 5;
    double least = 0.0;
    if (argc < 2 || !mt_document_format_of_file(argv[1], &options.format))
        stop("read_document", "expected FILE [TIMES], a file with a name that says its format");
    if (mt_file_read(argv[1], (size_t)1 << 28, &file, &length, &err))
        stop(argv[1], err.message);
    for (size_t i = 0; i < n_times; i++) {
        struct mt_document *document;
        double begin = processor_seconds();
        if (mt_document_create(file, length, &options, &document, &err))
            stop(argv[1], err.message);
        double seconds = processor_seconds() - begin;
        least = i == 0 || seconds < least ? seconds : least;
        if (i + 1 == n_times)
            printf("%zu texts, %zu bytes of parts: %.1f MB/s\n", document->n, document->length,
                   (double)document->length / least / 1e6);
        mt_document_destroy(document);
    }
    free(file);
    return 0;
}
