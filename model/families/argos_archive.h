/*
 * A package of Argos Translate as it is downloaded: NAME.argosmodel, a zip archive with one folder.
 * Only the files that are needed are unpacked, into memory and never onto a disk, because a package
 * also has tools that would have to be executed.
 */
#ifndef MT_MODEL_FAMILIES_ARGOS_ARCHIVE_H
#define MT_MODEL_FAMILIES_ARGOS_ARCHIVE_H

#include "model/families/foreign.h"

#define MT_ARGOS_ENDING ".argosmodel"

/* Whether the path is that of an archive, by its ending. */
bool mt_argos_archive_is(const char *path);

/* Unpacks the files with these names from the archive's folder into *out, which the caller finishes
 * with mt_foreign_files_finish. Files that are not there are left out. Statuses of mt_zip_open and
 * mt_zip_unpack; MT_FORMAT if it is not a package. Thread-safety: safe. */
MT_MUST_CHECK enum mt_status mt_argos_archive_unpack(const struct mt_foreign_file *archive,
                                                     const char *const *names, size_t n_names,
                                                     struct mt_foreign_files *out,
                                                     struct mt_error *err);

#endif
