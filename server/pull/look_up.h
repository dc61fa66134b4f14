/*
 * Asks the registries which model a name means, and which models there are.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_PULL_LOOK_UP_H
#define MT_SERVER_PULL_LOOK_UP_H

#include "server/pull/remote.h"

/* Most pages of the search that are read; it has about two. */
#define MT_LOOK_UP_MAX_PAGES 20

/* The addresses of the registries, and the token for them. Strings are borrowed. */
struct mt_endpoints {
    const char *hub;     /* HF_ENDPOINT, or MT_HUB */
    const char *token;   /* HF_TOKEN; NULL: none */
    const char *argos;   /* ARGOS_PACKAGE_INDEX, or MT_ARGOS_INDEX */
    const char *firefox; /* FIREFOX_ENDPOINT, or MT_FIREFOX_SERVER */
};

/* Reads the environment; an empty variable counts as unset. */
void mt_endpoints_read(struct mt_endpoints *out);

/* Finds the model that the name means: asks its registry for the list of files or, without a
 * registry, the server for each file that a model may have. The caller owns *out. MT_NOT_FOUND,
 * with the most similar name; MT_FORBIDDEN: the model is gated or private, with instructions; other
 * statuses are those of mt_download_document. */
MT_MUST_CHECK enum mt_status mt_look_up(struct mt_downloader *downloader,
                                        const struct mt_endpoints *endpoints,
                                        const struct mt_pull_name *name, struct mt_remote **out,
                                        struct mt_error *err);

/* Returns the status and message for a file of a Hugging Face model that was refused with 401 or
 * 403. */
enum mt_status mt_look_up_refused(const struct mt_endpoints *endpoints,
                                  const struct mt_remote *remote, struct mt_error *err);

/* Adds the registry's models with this source language. */
MT_MUST_CHECK enum mt_status mt_look_up_offers(struct mt_downloader *downloader,
                                               const struct mt_endpoints *endpoints,
                                               enum mt_registry registry, const char *language,
                                               struct mt_offers *offers, struct mt_error *err);

#endif
