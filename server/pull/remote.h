/*
 * A model as a registry describes it: its files with sizes and digests, its commit or version, its
 * licence. Also lists of the models that registries offer.
 *
 * The registries' documents come from the network, and nothing in them is trusted. File names that
 * could lead out of the model's own directory are ignored, numbers out of range and malformed
 * digests are refused, and everything has limits.
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

/* Most bytes of a registry's document. Mozilla's collection has half a megabyte, and a page of a
 * thousand models at Hugging Face about one. */
#define MT_REMOTE_MAX_DOCUMENT_BYTES ((size_t)16 << 20)
#define MT_REMOTE_MAX_VALUES 500000
/* Most files in the top folder of a repository. */
#define MT_REMOTE_MAX_FILES 4096
/* Most models that are offered for one source language. */
#define MT_REMOTE_MAX_OFFERS 8192
#define MT_REMOTE_LICENCE_BYTES 64
#define MT_REMOTE_LANGUAGES_BYTES 64

struct mt_remote {
    struct mt_arena *arena; /* has all that follows */
    const char *title;      /* "Helsinki-NLP/opus-mt-en-fr": for messages */
    const char *from;       /* the name that pulls exactly this version: "hf:ORG/NAME@<commit>" */
    const char *page;       /* web page about the model; NULL: none */
    const char *base;       /* a file's URL is this and the file's name, percent-encoded */
    char licence[MT_REMOTE_LICENCE_BYTES];     /* the registry's name of the licence; "": unknown */
    char languages[MT_REMOTE_LANGUAGES_BYTES]; /* "en to fr"; "": unknown */
    bool is_gated;                             /* only users with permission get the files */
    bool is_listed; /* files has all files; otherwise there may be others */
    struct mt_staged_file *files;
    size_t n_files, capacity;
    /* A file with weights for another program, perhaps in a subfolder; NULL: there is none. */
    const char *unreadable, *unreadable_for;
};

MT_MUST_CHECK enum mt_status mt_remote_create(const char *title, struct mt_remote **out,
                                              struct mt_error *err);
/* NULL is allowed. */
void mt_remote_destroy(struct mt_remote *remote);

/* Formats a string into the remote's memory. */
MT_MUST_CHECK enum mt_status mt_remote_print(struct mt_remote *remote, const char **out,
                                             struct mt_error *err, const char *format, ...)
    MT_PRINTF(4, 5);

/* Whether `from` is a name that a user can type, because registries choose versions freely.
 * MT_FORMAT. */
MT_MUST_CHECK enum mt_status mt_remote_check_from(const struct mt_remote *remote,
                                                  struct mt_error *err);

/* Whether a file in a model's directory may have that name: 1 to MT_STAGING_MAX_NAME_BYTES of
 * well-formed UTF-8 without '/', '\\' and control characters, which does not begin with '.' and is
 * neither one of our own files nor a part of a download. */
bool mt_remote_is_file_name(const char *name);

/* Adds a file. Strings are copied, and url NULL is made of base and name. A file with a name that
 * is not allowed (see above) is ignored. Other faults are MT_FORMAT (a size below -1 or beyond
 * MT_DOWNLOAD_MAX_FILE_BYTES, a digest that is not lowercase hexadecimal of its length, a name that
 * occurs twice) or MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_remote_add(struct mt_remote *remote,
                                           const struct mt_staged_file *file, struct mt_error *err);

/* Returns NULL where there is no file of that name. */
const struct mt_staged_file *mt_remote_find(const struct mt_remote *remote, const char *name);

/* Notes the first name that belongs to weights which we do not read. */
MT_MUST_CHECK enum mt_status mt_remote_note_unreadable(struct mt_remote *remote, const char *name,
                                                       struct mt_error *err);

/* Appends text as a part of a URL's path: everything except letters, digits and "-._~" becomes
 * %XX. */
void mt_remote_append_escaped(struct mt_text *out, const char *text);

/* Parses a registry's document, which has to be well-formed and within the limits. */
MT_MUST_CHECK enum mt_status mt_remote_parse(const char *bytes, size_t length, const char *what,
                                             struct cJSON **out, struct mt_error *err);
/* Returns the value of a string member, or "". */
const char *mt_remote_string(const struct cJSON *object, const char *key);
/* Reads an integer member from 0 to MT_DOWNLOAD_MAX_FILE_BYTES; *out is -1 where it is missing.
 * `what` names the number's owner in messages. MT_FORMAT: it is something else. */
MT_MUST_CHECK enum mt_status mt_remote_size(const struct cJSON *object, const char *key,
                                            const char *what, int64_t *out, struct mt_error *err);

/* Whether the licence with this identifier of Hugging Face's forbids commercial use. */
bool mt_licence_is_non_commercial(const char *licence);

/* Whether a version consists only of numbers and points, without "a1" (alpha) or "b". */
bool mt_version_is_release(const char *version);

/* --- Models that can be pulled for a source language --- */

struct mt_offer {
    enum mt_registry registry;
    char pull[MT_PULL_REPOSITORY_BYTES + 8]; /* the name that `attentiond pull` takes */
    char source[24], target[40];
    char version[16]; /* "": none */
    char licence[48]; /* "": unknown */
};

struct mt_offers {
    struct mt_offer *list;
    size_t n, capacity;
};

/* Adds a copy. If the same model is there already, then the later version stays. MT_LIMIT,
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_offers_add(struct mt_offers *offers, const struct mt_offer *offer,
                                           struct mt_error *err);
/* Sorts by registry, then by name. */
void mt_offers_sort(struct mt_offers *offers);
/* A zeroed struct is allowed. */
void mt_offers_finish(struct mt_offers *offers);

#endif
