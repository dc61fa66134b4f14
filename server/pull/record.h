/*
 * What lies in a models directory from an earlier pull, as staging has written it down.
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_SERVER_PULL_RECORD_H
#define MT_SERVER_PULL_RECORD_H

#include "server/pull/staging.h"

/* A record of as many files as a model may have takes a tenth of it. */
#define MT_RECORD_MAX_BYTES ((size_t)1 << 20)

struct cJSON;

struct mt_record {
    struct cJSON *json; /* NULL: there is none that can be read */
    char *folder;       /* where its files lie */
};

/* Reads ROOT/NAME/attentiond-pull.json, or of a model that is one file ROOT/FILE.pull.json. One
 * that is missing or damaged is none. MT_MEMORY alone. */
MT_MUST_CHECK enum mt_status mt_record_read(const char *root, const char *name, bool is_single_file,
                                            struct mt_record *out, struct mt_error *err);
/* Takes a zeroed one. */
void mt_record_finish(struct mt_record *record);

/* Whether it is of this very commit or version, and every file that it names is there with its
 * size; *size is then that of all of them. attentiond.json is the operator's to change or remove. */
bool mt_record_is_whole(const struct mt_record *record, const char *from, int64_t *size);

/* Puts what the record has of a file under path, as a link or a copy, where its size and digest are
 * those of the file: the caller verifies it like any other that lies there. Failure is no error:
 * the file is fetched. */
void mt_record_reuse(const struct mt_record *record, const struct mt_staged_file *file,
                     const char *path);

#endif
