#include "model/families/argos_archive.h"

#include "weights/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define METADATA "metadata.json"

bool mt_argos_archive_is(const char *path)
{
    struct stat st;
    size_t length = strlen(path), n = strlen(MT_ARGOS_ENDING);
    return length > n && !strcmp(path + length - n, MT_ARGOS_ENDING) && !stat(path, &st) &&
           S_ISREG(st.st_mode);
}

/* Whether the name leads outside of the folder. Nothing is written under these names, but an
 * archive with one is not trustworthy. */
static bool leads_outside(const char *name)
{
    bool outside = *name == '/';
    for (const char *at = name; at && !outside; at = strchr(at, '/')) {
        at += *at == '/';
        outside = !strncmp(at, "..", 2) && (at[2] == '/' || at[2] == '\0');
    }
    return outside;
}

/* Finds the folder that everything is in, with its slash. */
static enum mt_status find_folder(const struct mt_zip *zip, const char *path, char *folder,
                                  size_t capacity, struct mt_error *err)
{
    bool found = false;
    for (size_t i = 0; i < mt_zip_count(zip); i++) {
        const char *name = mt_zip_at(zip, i)->name, *slash = strchr(name, '/');
        if (leads_outside(name))
            return mt_fail(err, MT_FORMAT, "%s: entry \"%s\" leads outside of the archive", path,
                           name);
        if (found || !slash || strcmp(slash + 1, METADATA) != 0)
            continue;
        found = true;
        snprintf(folder, capacity, "%.*s", (int)(slash + 1 - name), name);
    }
    if (!found)
        return mt_fail(err, MT_FORMAT,
                       "%s: expected a package of Argos Translate, a folder with " METADATA
                       ", found none",
                       path);
    return MT_OK;
}

static enum mt_status unpack_entry(const struct mt_zip *zip, const struct mt_zip_entry *entry,
                                   const char *name, struct mt_foreign_files *out,
                                   struct mt_error *err)
{
    struct mt_foreign_file file = {.name = strdup(name)};
    if (!file.name)
        return mt_fail_memory(err, strlen(name), "file name");
    enum mt_status status = mt_path_join(out->directory, name, &file.path, err);
    size_t length = entry->unpacked_length;
    if (!status && length) {
        /* The bytes are in a mapping, because foreign files are unmapped. */
        void *bytes =
            mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (bytes == MAP_FAILED) {
            status = mt_fail(err, MT_LIMIT, "%s: no memory for the %zu bytes that it unpacks to",
                             file.path, length);
        } else {
            file.mapping = (struct mt_mapping){.bytes = bytes, .length = length};
            status = mt_zip_unpack(zip, entry, bytes, err);
        }
    }
    out->list[out->n++] = file;
    return status;
}

enum mt_status mt_argos_archive_unpack(const struct mt_foreign_file *archive,
                                       const char *const *names, size_t n_names,
                                       struct mt_foreign_files *out, struct mt_error *err)
{
    struct mt_zip *zip = NULL;
    char folder[MT_ZIP_MAX_NAME_BYTES + 1], full[2 * MT_ZIP_MAX_NAME_BYTES];
    out->directory = archive->path;
    enum mt_status status = mt_zip_open_deflated(archive->mapping.bytes, archive->mapping.length,
                                                 archive->path, &zip, err);
    if (!status)
        status = find_folder(zip, archive->path, folder, sizeof folder, err);
    for (size_t i = 0; i < n_names && !status; i++) {
        snprintf(full, sizeof full, "%s%s", folder, names[i]);
        const struct mt_zip_entry *entry = mt_zip_find(zip, full);
        if (entry && out->n < MT_FOREIGN_MAX_FILES)
            status = unpack_entry(zip, entry, names[i], out, err);
    }
    mt_zip_close(zip);
    if (status)
        mt_foreign_files_finish(out);
    return status;
}
