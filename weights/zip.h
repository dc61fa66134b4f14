/*
 * Zip archives whose entries are stored without compression, which torch.save and numpy.savez
 * write; and archives made by people, whose entries may be deflated.
 *
 * The archive is in memory, and entries point into it. Nothing in it is trusted: sizes come from
 * the central directory and must agree with the entries' own headers if these have any, and no two
 * entries share a byte. Compression (unless it is allowed), encryption, several disks, and names
 * that occur twice are refused by name.
 *
 * Format: PKWARE's APPNOTE.TXT, sections 4.3 and 4.4. Thread-safety: immutable after open.
 */
#ifndef MT_WEIGHTS_ZIP_H
#define MT_WEIGHTS_ZIP_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define MT_ZIP_MAX_ENTRIES 65535
#define MT_ZIP_MAX_NAME_BYTES 512

struct mt_zip;

struct mt_zip_entry {
    const char *name; /* NUL-terminated, without NUL inside */
    const unsigned char *bytes;
    size_t length;
    uint32_t crc;
    bool is_deflated;       /* bytes are compressed */
    size_t unpacked_length; /* length after unpacking; length if the entry is stored */
};

/* bytes belong to the caller, and must outlive the archive. path is for messages. MT_FORMAT
 * (malformed), MT_UNSUPPORTED (a kind that we do not read), MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_zip_open(const unsigned char *bytes, size_t length,
                                         const char *path, struct mt_zip **out,
                                         struct mt_error *err);
/* Opens an archive whose entries may be deflated; mt_zip_unpack reads those. */
MT_MUST_CHECK enum mt_status mt_zip_open_deflated(const unsigned char *bytes, size_t length,
                                                  const char *path, struct mt_zip **out,
                                                  struct mt_error *err);
/* NULL is allowed. */
void mt_zip_close(struct mt_zip *zip);

/* Whether the file begins like an archive. */
bool mt_zip_is(const unsigned char *bytes, size_t length);

/* Entries in the order of their data. */
size_t mt_zip_count(const struct mt_zip *zip);
const struct mt_zip_entry *mt_zip_at(const struct mt_zip *zip, size_t index);
/* Returns NULL if there is none of that name. */
const struct mt_zip_entry *mt_zip_find(const struct mt_zip *zip, const char *name);

/* Unpacks an entry of either kind to out [unpacked_length], and checks its checksum. MT_FORMAT,
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_zip_unpack(const struct mt_zip *zip,
                                           const struct mt_zip_entry *entry, void *out,
                                           struct mt_error *err);

/* Whether a stored entry's bytes match its checksum. MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_zip_check(const struct mt_zip *zip,
                                          const struct mt_zip_entry *entry, struct mt_error *err);

#endif
