/*
 * The files that a command is given, and those in directories that it is given: where each lies, and
 * where what becomes of it goes.
 *
 *   films/          ->  DIR/one.srt, DIR/old/two.srt
 *     one.srt
 *     old/two.srt
 *   letter.docx     ->  DIR/letter.docx
 *
 * In directories, however deep, those files are taken whose names are of a known format, in the order of
 * their names, but no links, nothing hidden, and nothing of the directory that is written to.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_COMMANDS_FILE_LIST_H
#define MT_SERVER_COMMANDS_FILE_LIST_H

#include "server/documents/document.h"

#include <sys/stat.h>

/* MT_LIMIT above. */
#define MT_FILE_LIST_MAX 1000000

struct mt_file_list_item {
    char *path;
    char *output;
    enum mt_document_format format;
};

/* Zero-initialise; set output_dir, and the caller finishes it on failure too. */
struct mt_file_list {
    const char *output_dir; /* borrowed */
    struct mt_file_list_item *items;
    size_t n, capacity;
    size_t n_passed_over; /* files in directories that are of no known format */
    struct stat output;   /* of output_dir, where it is there */
};

/* format: of a file, whatever its name is; NULL: its name says it. MT_INVALID: it does not, or a directory
 * has a format. MT_NOT_FOUND, MT_IO, MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_file_list_add(struct mt_file_list *list, const char *path,
                                              const enum mt_document_format *format,
                                              struct mt_error *err);

/* A file is not there, or, MT_INVALID, its name says no format. */
enum mt_status mt_file_list_fail_name(const char *path, struct mt_error *err);

/* MT_INVALID, naming both: two files would have the same output, or one would be its own. */
MT_MUST_CHECK enum mt_status mt_file_list_check(const struct mt_file_list *list,
                                                struct mt_error *err);

void mt_file_list_finish(struct mt_file_list *list);

#endif
