/*
 * The files that are named on a command line, and those in directories that are named there, with
 * the paths of their outputs:
 *
 *   films/          ->  DIR/one.srt, DIR/old/two.srt
 *     one.srt
 *     old/two.srt
 *   letter.docx     ->  DIR/letter.docx
 *
 * Directories are searched at any depth for files of known formats, in the order of their names.
 * Links and hidden files are left out, and so is the output directory.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_COMMANDS_FILE_LIST_H
#define MT_SERVER_COMMANDS_FILE_LIST_H

#include "server/documents/document.h"

#include <sys/stat.h>

/* Most files; MT_LIMIT above. */
#define MT_FILE_LIST_MAX 1000000

struct mt_file_list_item {
    char *path;
    char *output;
    enum mt_document_format format;
};

/* Has to be zero-initialised, except for output_dir. The caller finishes it after a failure,
 * too. */
struct mt_file_list {
    const char *output_dir; /* borrowed */
    struct mt_file_list_item *items;
    size_t n, capacity;
    size_t n_passed_over; /* files in directories whose format is unknown */
    struct stat output;   /* of output_dir, if it exists */
};

/* format: the file's format regardless of its name; NULL: its name determines it. MT_INVALID: its
 * name does not, or a format is given for a directory. MT_NOT_FOUND, MT_IO, MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_file_list_add(struct mt_file_list *list, const char *path,
                                              const enum mt_document_format *format,
                                              struct mt_error *err);

/* Returns the error for a file whose format is unknown: MT_INVALID for an unknown extension, or the
 * system's error if the file does not exist. */
enum mt_status mt_file_list_fail_name(const char *path, struct mt_error *err);

/* MT_INVALID, with both names: two files would have the same output, or a file would be its own
 * output. */
MT_MUST_CHECK enum mt_status mt_file_list_check(const struct mt_file_list *list,
                                                struct mt_error *err);

void mt_file_list_finish(struct mt_file_list *list);

#endif
