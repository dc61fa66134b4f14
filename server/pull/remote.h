/*
 * A model as a registry describes it: which files there are, of what size and digest, at which
 * commit or version, under which licence; and what registries have to offer.
 *
 * Registries' documents come from the network, and nothing in them is believed: names of files that
 * could lead anywhere but into the model's own directory are passed over, numbers out of range and
 * digests that are none are refused, and all of it has limits.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_REMOTE_H
#define MT_SERVER_PULL_REMOTE_H

#include "base/text.h"
#include "server/pull/names.h"
#include "server/pull/staging.h"

#include <stdint.h>

struct cJSON;
struct mt_arena;

/* Most bytes of a registry's document. Mozilla's collection has half a megabyte, a page of a
 * thousand of Hugging Face's models about one. */
#define MT_REMOTE_MAX_DOCUMENT_BYTES ((size_t)16 << 20)
#define MT_REMOTE_MAX_VALUES 500000
/* In a repository's own folder; those of its subfolders are not counted. */
#define MT_REMOTE_MAX_FILES 4096
/* What is offered from one language. */
#define MT_REMOTE_MAX_OFFERS 8192
#define MT_REMOTE_LICENCE_BYTES 64
#define MT_REMOTE_LANGUAGES_BYTES 64

struct mt_remote {
    struct mt_arena *arena; /* everything that follows lives in it */
    const char *title;      /* "Helsinki-NLP/opus-mt-en-fr": for messages */
    const char *from;       /* what a pull of the very same is: "hf:ORG/NAME@<commit>" */
    const char *page;       /* where people read about it; NULL: nowhere */
    const char *base;       /* a file's URL is this and its name, percent-encoded */
    char licence[MT_REMOTE_LICENCE_BYTES];     /* as the registry names it; "": it does not */
    char languages[MT_REMOTE_LANGUAGES_BYTES]; /* "en to fr"; "": it does not say */
    bool is_gated;                             /* files are given only to those who were let in */
    bool is_listed; /* files are all that there are; else others may be there, too */
    struct mt_staged_file *files;
    size_t n_files, capacity;
    /* A file of another program's weights that is there, also in a subfolder; NULL: none. */
    const char *unreadable, *unreadable_for;
};

MT_MUST_CHECK enum mt_status mt_remote_create(const char *title, struct mt_remote **out,
                                              struct mt_error *err);
/* Takes NULL. */
void mt_remote_destroy(struct mt_remote *remote);

/* printf into the remote's memory. */
MT_MUST_CHECK enum mt_status mt_remote_print(struct mt_remote *remote, const char **out,
                                             struct mt_error *err, const char *format, ...)
    MT_PRINTF(4, 5);

/* Whether from is a name that a user can type: versions are whatever a registry says. MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_remote_check_from(const struct mt_remote *remote,
                                                  struct mt_error *err);

/* Whether a file of that name may lie in a model's directory: 1 to MT_STAGING_MAX_NAME_BYTES of
 * well-formed UTF-8 without '/', '\\' and control characters, that neither begins with '.' nor is
 * one of ours or a part of a download. */
bool mt_remote_is_file_name(const char *name);

/* Adds a file; strings are copied, and url NULL is base and name. A name that may not be (see
 * above) is passed over, what else is wrong is MT_FORMAT (a size below -1 or beyond
 * MT_DOWNLOAD_MAX_FILE_BYTES, a digest that is no lowercase hexadecimal of its length, a name that
 * is there already) or MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_remote_add(struct mt_remote *remote,
                                           const struct mt_staged_file *file, struct mt_error *err);

/* NULL: there is none of that name. */
const struct mt_staged_file *mt_remote_find(const struct mt_remote *remote, const char *name);

/* Notes a name that is a file of weights which we do not read; of several, the first. */
MT_MUST_CHECK enum mt_status mt_remote_note_unreadable(struct mt_remote *remote, const char *name,
                                                       struct mt_error *err);

/* text as a part of a URL's path: everything but letters, digits and "-._~" becomes %XX. */
void mt_remote_append_escaped(struct mt_text *out, const char *text);

/* A registry's document: well-formed, within the limits. */
MT_MUST_CHECK enum mt_status mt_remote_parse(const char *bytes, size_t length, const char *what,
                                             struct cJSON **out, struct mt_error *err);
/* A member that is a string, else "". */
const char *mt_remote_string(const struct cJSON *object, const char *key);
/* A member that is an integer from 0 to MT_DOWNLOAD_MAX_FILE_BYTES; -1 where there is none. What
 * names the number's owner in messages. MT_FORMAT: something else. */
MT_MUST_CHECK enum mt_status mt_remote_size(const struct cJSON *object, const char *key,
                                            const char *what, int64_t *out, struct mt_error *err);

/* Whether a licence's identifier, as Hugging Face has them, forbids commercial use. */
bool mt_licence_is_non_commercial(const char *licence);

/* Whether a version is made of numbers and points alone: no "a1" (alpha), no "b". */
bool mt_version_is_release(const char *version);

/* --- What there is to pull from a language --- */

struct mt_offer {
    enum mt_registry registry;
    char pull[MT_PULL_REPOSITORY_BYTES + 8]; /* what `attentiond pull` takes */
    char source[24], target[40];
    char version[16]; /* "": none */
    char licence[48]; /* "": not known */
};

struct mt_offers {
    struct mt_offer *list;
    size_t n, capacity;
};

/* A copy, unless the same is there already: then the one with the later version stays. MT_LIMIT,
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_offers_add(struct mt_offers *offers, const struct mt_offer *offer,
                                           struct mt_error *err);
/* By registry, then by name. */
void mt_offers_sort(struct mt_offers *offers);
/* Takes a zeroed one. */
void mt_offers_finish(struct mt_offers *offers);

#endif
