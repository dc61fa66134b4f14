#include "server/commands/file_list.h"

#include "base/file.h"
#include "base/vector.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* name is relative to output_dir. */
static enum mt_status add(struct mt_file_list *list, const char *path, const char *name,
                          enum mt_document_format format, struct mt_error *err)
{
    if (list->n == MT_FILE_LIST_MAX)
        return mt_fail(err, MT_LIMIT, "more than %d files", MT_FILE_LIST_MAX);
    if (MT_ROOM(&list->items, &list->capacity, list->n + 1, "names of files", err))
        return MT_MEMORY;
    struct mt_file_list_item *item = &list->items[list->n];
    *item = (struct mt_file_list_item){.path = strdup(path), .format = format};
    if (!item->path)
        return mt_fail_memory(err, strlen(path), "a file's name");
    list->n++;
    return mt_path_join(list->output_dir, name, &item->output, err);
}

enum mt_status mt_file_list_fail_name(const char *path, struct mt_error *err)
{
    char known[MT_DOCUMENT_LIST_BYTES];
    if (strcmp(path, "-") != 0 && access(path, F_OK) != 0)
        return mt_fail_errno(err, path, "open");
    return mt_fail(err, MT_INVALID, "%.200s: expected a name that ends in %s, or --format", path,
                   mt_document_list_extensions(known));
}

static bool is_output(const struct mt_file_list *list, const struct stat *st)
{
    return S_ISDIR(list->output.st_mode) && st->st_dev == list->output.st_dev &&
           st->st_ino == list->output.st_ino;
}

static enum mt_status take_entry(struct mt_file_list *list, FTS *tree, FTSENT *entry,
                                 size_t root_length, struct mt_error *err)
{
    enum mt_document_format format;
    bool is_hidden = entry->fts_level > 0 && entry->fts_name[0] == '.';
    const char *name = entry->fts_path + root_length;
    switch (entry->fts_info) {
    case FTS_D:
        if (is_hidden || is_output(list, entry->fts_statp))
            (void)fts_set(tree, entry, FTS_SKIP);
        return MT_OK;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        errno = entry->fts_errno;
        return mt_fail_errno(err, entry->fts_path, "read");
    case FTS_F:
        if (is_hidden)
            return MT_OK;
        if (mt_document_format_of_file(entry->fts_name, &format))
            return add(list, entry->fts_path, name + strspn(name, "/"), format, err);
        list->n_passed_over++;
        return MT_OK;
    default:
        return MT_OK;
    }
}

static int compare_entries(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static enum mt_status add_directory(struct mt_file_list *list, const char *path,
                                    struct mt_error *err)
{
    enum mt_status status = MT_OK;
    char *own = strdup(path);
    if (!own)
        return mt_fail_memory(err, strlen(path), "a file's name");
    FTS *tree = fts_open((char *const[]){own, NULL}, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR,
                         compare_entries);
    if (!tree)
        status = mt_fail_errno(err, path, "read");
    while (!status && tree) {
        errno = 0;
        FTSENT *entry = fts_read(tree);
        if (!entry) {
            status = errno ? mt_fail_errno(err, path, "read") : MT_OK;
            break;
        }
        status = take_entry(list, tree, entry, strlen(path), err);
    }
    if (tree)
        (void)fts_close(tree);
    free(own);
    return status;
}

enum mt_status mt_file_list_add(struct mt_file_list *list, const char *path,
                                const enum mt_document_format *format, struct mt_error *err)
{
    struct stat st;
    enum mt_document_format own;
    if (!S_ISDIR(list->output.st_mode) && stat(list->output_dir, &list->output))
        list->output = (struct stat){0};
    bool is_there = stat(path, &st) == 0;
    if (is_there && S_ISDIR(st.st_mode) && format)
        return mt_fail(err, MT_INVALID, "%.200s: --format is for files, and this is a directory",
                       path);
    if (is_there && S_ISDIR(st.st_mode))
        return add_directory(list, path, err);
    if (!format && !mt_document_format_of_file(path, &own))
        return mt_file_list_fail_name(path, err);
    const char *slash = strrchr(path, '/');
    return add(list, path, slash ? slash + 1 : path, format ? *format : own, err);
}

static int compare_outputs(const void *a, const void *b)
{
    const struct mt_file_list_item *const *first = a, *const *second = b;
    return strcmp((*first)->output, (*second)->output);
}

static enum mt_status check_own(const struct mt_file_list_item *item, struct mt_error *err)
{
    struct stat in, out;
    bool is_same = stat(item->path, &in) == 0 && stat(item->output, &out) == 0 &&
                   in.st_dev == out.st_dev && in.st_ino == out.st_ino;
    if (!is_same)
        return MT_OK;
    return mt_fail(err, MT_INVALID,
                   "%.200s: its translation would take its place; expected another --output-dir",
                   item->path);
}

enum mt_status mt_file_list_check(const struct mt_file_list *list, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    const struct mt_file_list_item **sorted = calloc(list->n + 1, sizeof *sorted);
    if (!sorted)
        return mt_fail_memory(err, list->n * sizeof *sorted, "names of files");
    for (size_t i = 0; i < list->n && !status; i++) {
        sorted[i] = &list->items[i];
        status = check_own(sorted[i], err);
    }
    if (!status && list->n > 1)
        qsort(sorted, list->n, sizeof *sorted, compare_outputs);
    for (size_t i = 1; i < list->n && !status; i++)
        if (strcmp(sorted[i - 1]->output, sorted[i]->output) == 0)
            status = mt_fail(err, MT_INVALID, "%.150s and %.150s would both become %.150s",
                             sorted[i - 1]->path, sorted[i]->path, sorted[i]->output);
    free(sorted);
    return status;
}

void mt_file_list_finish(struct mt_file_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i].path);
        free(list->items[i].output);
    }
    free(list->items);
    *list = (struct mt_file_list){0};
}
