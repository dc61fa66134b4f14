/*
 * The web pages (/ and /docs) and the description of the API: files that are part of the program.
 * web/embed.py makes web_files.c of the folder web/ during the build. Nothing is read at run time,
 * and the pages load nothing from other hosts.
 *
 * Thread-safety: immutable.
 */
#ifndef MT_SERVER_API_WEB_H
#define MT_SERVER_API_WEB_H

#include "server/requests/handler.h"

struct mt_web_file {
    const char *path; /* "/", "/web/style.css" */
    const char *content_type;
    const unsigned char *bytes;
    size_t length;
    const unsigned char *packed; /* the same bytes, compressed by gzip */
    size_t packed_length;
    /* Strong validators with their quotes, one for each form (RFC 9110, 8.8.3). */
    const char *etag, *packed_etag;
};

extern const struct mt_web_file mt_web_files[];
extern const size_t mt_n_web_files;

/* Returns NULL where there is no file of that path. */
const struct mt_web_file *mt_web_find(const char *path);

/* Whether an If-None-Match header has the tag, so that the reply is 304. The header may be NULL. */
bool mt_web_has_tag(const char *if_none_match, const char *etag);

/* GET of any of the files; 404 where the setting web_page is off. */
extern const struct mt_handler mt_web_handler;

/* GET of the description of the API, for any path. */
extern const struct mt_handler mt_description_handler;

#endif
