/*
 * The entries of a glossary in the form of files: one per line, with tab-separated or
 * comma-separated values.
 *
 *   train station<TAB>Hauptbahnhof          "a ""big"" one","ein ""großes"", ja",en,de
 *
 * Comma-separated values may be quoted (RFC 4180), and may name the languages, which then have to
 * be the dictionary's. Blank lines are ignored.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_DATA_GLOSSARY_ENTRIES_H
#define MT_SERVER_DATA_GLOSSARY_ENTRIES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct mt_terms;
struct mt_text;

struct mt_entries {
    const char *text; /* UTF-8 without NUL */
    size_t length;
    bool is_csv;
    const char *source, *target; /* languages: "en", "DE", "pt-BR" */
};

/* Adds the entries. MT_INVALID names the line that is malformed, empty or too long
 * (MT_MAX_TERM_BYTES for source and target each), or whose source occurs twice; there must be at
 * least one line. MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_entries_read(const struct mt_entries *entries,
                                             struct mt_terms *terms, struct mt_error *err);

/* Appends the terms as tab-separated values; out tells of a failure. */
void mt_entries_write(const struct mt_terms *terms, struct mt_text *out);

#endif
