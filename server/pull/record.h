/*
 * The record of an earlier pull in a models directory, which staging has written.
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_SERVER_PULL_RECORD_H
#define MT_SERVER_PULL_RECORD_H

#include "server/pull/staging.h"

/* Most bytes of a record. One with as many files as a model may have takes a tenth of it. */
#define MT_RECORD_MAX_BYTES ((size_t)1 << 20)

struct cJSON;

struct mt_record {
    struct cJSON *json; /* NULL: there is no readable record */
    char *folder;       /* the directory of the files */
};

/* Reads ROOT/NAME/attentiond-pull.json or, for a model that is one file, ROOT/FILE.pull.json. A
 * missing or damaged record is treated as none. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_record_read(const char *root, const char *name, bool is_single_file,
                                            struct mt_record *out, struct mt_error *err);
/* A zeroed record is allowed. */
void mt_record_finish(struct mt_record *record);

/* Whether the record is of this commit or version, and all of its files are there with their sizes;
 * *size gets the sum. attentiond.json may be missing or changed, since it belongs to the
 * operator. */
bool mt_record_is_whole(const struct mt_record *record, const char *from, int64_t *size);

/* Creates path as a link to the record's file, or a copy of it, if size and digest match those of
 * `file`. The caller verifies it like any file that is there. A failure is not reported, because
 * then the file is fetched. */
void mt_record_reuse(const struct mt_record *record, const struct mt_staged_file *file,
                     const char *path);

#endif
