/*
 * A zip of a document's parts (OOXML, ODF): read from memory and written with some of its entries
 * replaced. Everything else is copied as it is: entries in their order, their compressed bytes, times,
 * comments. Only entries that are asked for are inflated, and what a directory says of their sizes is
 * not believed.
 *
 * Refused by name: entries that are encrypted, that are compressed by other means than deflate, that
 * have more bytes together than the file, or are there twice (also in other case), and names with "..",
 * a backslash or a leading "/".
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DOCUMENTS_PACKAGE_H
#define MT_SERVER_DOCUMENTS_PACKAGE_H

#include "base/text.h"

/* MT_LIMIT above. */
#define MT_PACKAGE_MAX_ENTRIES 4096

struct mt_package;

/* bytes are copied. MT_FORMAT: no zip, or refused; MT_LIMIT, MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_package_open(const char *bytes, size_t length,
                                             struct mt_package **out, struct mt_error *err);
/* Takes NULL. */
void mt_package_destroy(struct mt_package *package);

size_t mt_package_n_entries(const struct mt_package *package);
/* Borrowed until destroy. */
const char *mt_package_name(const struct mt_package *package, size_t index);
/* Appends an entry's bytes. MT_LIMIT: out would have more than max_length bytes then. MT_FORMAT: it is
 * damaged. */
MT_MUST_CHECK enum mt_status mt_package_read(struct mt_package *package, size_t index,
                                             size_t max_length, struct mt_text *out,
                                             struct mt_error *err);

/* Puts bytes, which are borrowed until write, in the place of an entry's. */
MT_MUST_CHECK enum mt_status mt_package_replace(struct mt_package *package, size_t index,
                                                const char *bytes, size_t length,
                                                struct mt_error *err);
/* Appends the zip. Nothing else may be done with the package then but destroy. */
MT_MUST_CHECK enum mt_status mt_package_write(struct mt_package *package, struct mt_text *out,
                                              struct mt_error *err);

#endif
