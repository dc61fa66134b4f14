/*
 * Asks the registries: what a name stands for, and what there is.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_LOOK_UP_H
#define MT_SERVER_PULL_LOOK_UP_H

#include "server/pull/remote.h"

/* Pages of the search, which has about two. */
#define MT_LOOK_UP_MAX_PAGES 20

/* Where the registries are, and who asks. Strings are borrowed. */
struct mt_endpoints {
    const char *hub;     /* HF_ENDPOINT, else MT_HUB */
    const char *token;   /* HF_TOKEN; NULL: none */
    const char *argos;   /* ARGOS_PACKAGE_INDEX, else MT_ARGOS_INDEX */
    const char *firefox; /* FIREFOX_ENDPOINT, else MT_FIREFOX_SERVER */
};

/* From the environment; an empty variable is none. */
void mt_endpoints_read(struct mt_endpoints *out);

/* Finds out what the name stands for: asks its registry for the list of files, or where there is no
 * registry, the server for each file that a model may have. *out is the caller's. MT_NOT_FOUND,
 * with the nearest name that there is; MT_FORBIDDEN: gated or private, with what to do;
 * otherwise statuses as of mt_download_document. */
MT_MUST_CHECK enum mt_status mt_look_up(struct mt_downloader *downloader,
                                        const struct mt_endpoints *endpoints,
                                        const struct mt_pull_name *name, struct mt_remote **out,
                                        struct mt_error *err);

/* The message where a file of a model of Hugging Face's was refused with 401 or 403. */
enum mt_status mt_look_up_refused(const struct mt_endpoints *endpoints,
                                  const struct mt_remote *remote, struct mt_error *err);

/* Adds what the registry has to translate from the language. */
MT_MUST_CHECK enum mt_status mt_look_up_offers(struct mt_downloader *downloader,
                                               const struct mt_endpoints *endpoints,
                                               enum mt_registry registry, const char *language,
                                               struct mt_offers *offers, struct mt_error *err);

#endif
