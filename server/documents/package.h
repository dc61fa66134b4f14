/*
 * A zip of a document's parts (OOXML, ODF) that is read from memory, and written with some entries
 * replaced. Everything else is copied as it is: the order of entries, their compressed bytes,
 * times, comments. Only entries that are asked for are inflated, and the sizes in its directory are
 * not trusted.
 *
 * Refused, with the entry's name: entries that are encrypted, that are compressed by other means
 * than deflate, that together have more bytes than the file, or that occur twice (also in other
 * case), and names with "..", a backslash or a leading "/".
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DOCUMENTS_PACKAGE_H
#define MT_SERVER_DOCUMENTS_PACKAGE_H

#include "base/text.h"

/* Most entries of a package; MT_LIMIT above. */
#define MT_PACKAGE_MAX_ENTRIES 4096

struct mt_package;

/* Opens a package, of which bytes are copied. MT_FORMAT: it is not a zip, or is refused; MT_LIMIT,
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_package_open(const char *bytes, size_t length,
                                             struct mt_package **out, struct mt_error *err);
/* NULL is allowed. */
void mt_package_destroy(struct mt_package *package);

size_t mt_package_n_entries(const struct mt_package *package);
/* Borrowed until destroy. */
const char *mt_package_name(const struct mt_package *package, size_t index);
/* Appends an entry's bytes. MT_LIMIT: out would then have more than max_length bytes. MT_FORMAT:
 * the entry is damaged. */
MT_MUST_CHECK enum mt_status mt_package_read(struct mt_package *package, size_t index,
                                             size_t max_length, struct mt_text *out,
                                             struct mt_error *err);

/* Replaces an entry by bytes, which are borrowed until write. */
MT_MUST_CHECK enum mt_status mt_package_replace(struct mt_package *package, size_t index,
                                                const char *bytes, size_t length,
                                                struct mt_error *err);
/* Appends the zip. After this the package may only be destroyed. */
MT_MUST_CHECK enum mt_status mt_package_write(struct mt_package *package, struct mt_text *out,
                                              struct mt_error *err);

#endif
