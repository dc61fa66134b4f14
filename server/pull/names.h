/*
 * What a user types to name a model that is somewhere else:
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
    MT_REGISTRY_URL, /* none: the files themselves */
};

/* Most bytes of a repository's name at huggingface.co: an organisation, a slash and a name. */
#define MT_PULL_REPOSITORY_BYTES 97
#define MT_PULL_REVISION_BYTES 201
#define MT_PULL_PAIR_BYTES 64
#define MT_PULL_URL_BYTES 2048
/* A name on this machine: of a directory, and of a model in requests. */
#define MT_PULL_LOCAL_BYTES 64

struct mt_pull_name {
    enum mt_registry registry;
    char repository[MT_PULL_REPOSITORY_BYTES]; /* "ORG/NAME" of Hugging Face, else "" */
    /* A branch, tag or commit of Hugging Face, or a version of Argos' or Mozilla's; "": the newest,
     * which is "main" there. */
    char revision[MT_PULL_REVISION_BYTES];
    char pair[MT_PULL_PAIR_BYTES]; /* "en-fr" of Argos and Mozilla, else "" */
    char url[MT_PULL_URL_BYTES];   /* of MT_REGISTRY_URL; a directory's ends in '/'; else "" */
    bool is_package;               /* the URL is that of an .argosmodel file */
    bool is_assumed;               /* no organisation was given, and Helsinki-NLP is meant */
};

/* hub is where Hugging Face is, "https://huggingface.co": pages of it are models. MT_INVALID tells
 * what is accepted. */
MT_MUST_CHECK enum mt_status mt_pull_name_parse(const char *text, const char *hub,
                                                struct mt_pull_name *out, struct mt_error *err);

/* Whether text can be a name on this machine: 1 to 63 of letters, digits, '-', '_' and '.', the
 * first of them no '.' and no '-'. */
bool mt_pull_is_local_name(const char *text);

/* What the model is called on this machine unless the user says otherwise: the last part of its
 * name; what cannot be in one becomes '_'. Of Argos' packages, whose index tells more, it is
 * "argos-en-fr". */
void mt_pull_name_local(const struct mt_pull_name *name, char out[MT_PULL_LOCAL_BYTES]);

/* The last part of a URL's path, without its query, percent-decoded, as such a name; ending is cut
 * off where it is there. */
void mt_pull_local_of_url(const char *url, const char *ending, char out[MT_PULL_LOCAL_BYTES]);

/* Whether a pair such as "en-fr" means a registry's two languages. '_' is read as '-', and letters
 * may be large or small. */
bool mt_pull_is_pair(const char *pair, const char *source, const char *target);

/* "Hugging Face", ...; and "huggingface", "argos", "firefox" as --registry takes them. */
const char *mt_registry_title(enum mt_registry registry);
const char *mt_registry_word(enum mt_registry registry);
MT_MUST_CHECK enum mt_status mt_registry_parse(const char *text, enum mt_registry *out,
                                               struct mt_error *err);

#endif
