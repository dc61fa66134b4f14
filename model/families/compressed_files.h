/*
 * A model's files as they are published for download, compressed one by one: model.ende.bin.gz,
 * vocab.ende.spm.zst.
 */
#ifndef MT_MODEL_FAMILIES_COMPRESSED_FILES_H
#define MT_MODEL_FAMILIES_COMPRESSED_FILES_H

#include "model/families/foreign.h"

/* Most bytes of an unpacked file: the largest models of this kind have 60 MB. */
#define MT_COMPRESSED_MAX_BYTES ((size_t)512 << 20)

/* Whether the directory has a file whose name has this ending, plain or compressed. */
bool mt_compressed_any(const char *directory, const char *ending);

/* Adds all files whose names have this ending, plain and compressed. */
MT_MUST_CHECK enum mt_status mt_compressed_add_all(struct mt_foreign_files *files,
                                                   const char *ending, struct mt_error *err);

/* In the confined process: makes a list of the files under their unpacked names, with their bytes
 * in memory. If a file exists in both forms, the plain one is taken; its bytes are borrowed from
 * files. *out has to be zeroed before and finished with mt_foreign_files_finish, even after a
 * failure. Statuses of mt_decompress. */
MT_MUST_CHECK enum mt_status mt_compressed_unpack(const struct mt_foreign_files *files,
                                                  struct mt_foreign_files *out,
                                                  struct mt_error *err);

#endif
