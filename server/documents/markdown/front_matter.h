/*
 * Front matter at the beginning of a file in Markdown: YAML between two lines of "---", of which
 * the values of title, description, summary and the like are texts, or TOML between two of "+++",
 * which stays.
 *
 *   ---
 *   title: "A trip to the sea"        text
 *   date: 2024-05-01
 *   tags: [sea, sun]
 *   ---
 *
 * Only document_md.c includes this.
 */
#ifndef MT_SERVER_DOCUMENTS_MARKDOWN_FRONT_MATTER_H
#define MT_SERVER_DOCUMENTS_MARKDOWN_FRONT_MATTER_H

#include "server/documents/document_state.h"

/* Adds the texts, which mt_yaml_messages_write writes. *end is where the front matter ends, or the
 * file's beginning. What is no YAML has no texts. MT_LIMIT: max_texts; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_front_matter_read(struct mt_document *document, size_t *end,
                                                  struct mt_error *err);

#endif
