/*
 * A model's files as they are served for download, compressed one by one: model.ende.bin.gz,
 * vocab.ende.spm.zst.
 */
#ifndef MT_MODEL_FAMILIES_COMPRESSED_FILES_H
#define MT_MODEL_FAMILIES_COMPRESSED_FILES_H

#include "model/families/foreign.h"

/* More than any such file has: the largest models of this kind are 60 MB. */
#define MT_COMPRESSED_MAX_BYTES ((size_t)512 << 20)

/* Whether the directory holds a file whose name ends so, plain or compressed. */
bool mt_compressed_any(const char *directory, const char *ending);

/* Adds all files whose names end so, plain and compressed. */
MT_MUST_CHECK enum mt_status mt_compressed_add_all(struct mt_foreign_files *files,
                                                   const char *ending, struct mt_error *err);

/* In the confined process: the files under the names that they have unpacked, their bytes in memory.
 * Where a file lies there in both forms, the plain one counts. Others' bytes are borrowed from files.
 * *out, zeroed or the caller's to finish where it fails, is mt_foreign_files_finish'ed. Statuses of
 * mt_decompress. */
MT_MUST_CHECK enum mt_status mt_compressed_unpack(const struct mt_foreign_files *files,
                                                  struct mt_foreign_files *out,
                                                  struct mt_error *err);

#endif
