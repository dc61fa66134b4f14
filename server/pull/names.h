/*
 * The names that users type for models at registries:
 *
 *   Helsinki-NLP/opus-mt-en-fr           Hugging Face; also with hf: before and @REVISION behind it
 *   opus-mt-en-fr                        the same, of Helsinki-NLP
 *   https://huggingface.co/ORG/NAME      the same, as a browser shows it
 *   argos:en-fr                          the package index of Argos Translate; also with @VERSION
 *   firefox:en-fr                        Mozilla's model records; also with @VERSION
 *   https://HOST/PATH/x.argosmodel       one package
 *   https://HOST/PATH/                   a directory
 *
 * Thread-safety: functions are safe; a name is immutable once parsed.
 */
#ifndef MT_SERVER_PULL_NAMES_H
#define MT_SERVER_PULL_NAMES_H

#include "base/status.h"

#include <stdbool.h>

enum mt_registry {
    MT_REGISTRY_HUGGING_FACE,
    MT_REGISTRY_ARGOS,
    MT_REGISTRY_FIREFOX,
    MT_REGISTRY_URL, /* no registry: the URL of the files themselves */
};

/* Most bytes of a repository's name at huggingface.co: an organisation, a slash and a name. */
#define MT_PULL_REPOSITORY_BYTES 97
#define MT_PULL_REVISION_BYTES 201
#define MT_PULL_PAIR_BYTES 64
#define MT_PULL_URL_BYTES 2048
/* Most bytes of a name on this machine, which a directory has, and the model in requests. */
#define MT_PULL_LOCAL_BYTES 64

struct mt_pull_name {
    enum mt_registry registry;
    char repository[MT_PULL_REPOSITORY_BYTES]; /* "ORG/NAME" at Hugging Face, otherwise "" */
    /* A branch, tag or commit at Hugging Face, or a version at Argos or Mozilla; "": the newest
     * one, which at Hugging Face is "main". */
    char revision[MT_PULL_REVISION_BYTES];
    char pair[MT_PULL_PAIR_BYTES]; /* "en-fr" for Argos and Mozilla, otherwise "" */
    /* for MT_REGISTRY_URL, otherwise ""; a directory's ends in '/' */
    char url[MT_PULL_URL_BYTES];
    bool is_package; /* the URL names an .argosmodel file */
    bool is_assumed; /* the text has no organisation, and Helsinki-NLP is assumed */
};

/* hub is the address of Hugging Face, "https://huggingface.co", whose pages are accepted as names.
 * MT_INVALID tells what is accepted. */
MT_MUST_CHECK enum mt_status mt_pull_name_parse(const char *text, const char *hub,
                                                struct mt_pull_name *out, struct mt_error *err);

/* Whether text can be a name on this machine: 1 to 63 letters, digits, '-', '_' and '.', of which
 * the first is neither '.' nor '-'. */
bool mt_pull_is_local_name(const char *text);

/* Writes the model's default name on this machine: the last part of its name, where unsuitable
 * characters become '_'. For a package of Argos, whose file name is known only from the index, it
 * is "argos-en-fr". */
void mt_pull_name_local(const struct mt_pull_name *name, char out[MT_PULL_LOCAL_BYTES]);

/* Makes such a name of the last part of a URL's path, without its query and percent-decoded. The
 * ending is removed if it is there. */
void mt_pull_local_of_url(const char *url, const char *ending, char out[MT_PULL_LOCAL_BYTES]);

/* Whether a pair such as "en-fr" has the two languages of a registry's entry. '_' is read as '-',
 * and case is ignored. */
bool mt_pull_is_pair(const char *pair, const char *source, const char *target);

/* Return "Hugging Face", ..., and "huggingface", "argos", "firefox", which --registry takes. */
const char *mt_registry_title(enum mt_registry registry);
const char *mt_registry_word(enum mt_registry registry);
MT_MUST_CHECK enum mt_status mt_registry_parse(const char *text, enum mt_registry *out,
                                               struct mt_error *err);

#endif
