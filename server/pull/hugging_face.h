/*
 * Hugging Face, with the same requests as its Python library (huggingface_hub): documents of models
 * and the search for models. This module makes no connections.
 *
 *   GET HUB/api/models/ORG/NAME/revision/REVISION?blobs=true
 *       {"sha", "gated": false | "auto" | "manual", "disabled", "cardData": {"license", "language"},
 *        "siblings": [{"rfilename", "size", "blobId", "lfs": {"sha256", "size"}}]}
 *   GET HUB/ORG/NAME/resolve/SHA/FILE
 *
 *   GET HUB/api/models?author=ORG&search=WORDS&limit=N
 *       [{"id", "tags": ["license:apache-2.0", ...]}]; the next page is in the header Link
 *
 * A file in LFS has the sha256 of its content, other files have the id of a git blob. Every file is
 * fetched at the commit that the document names, so that a push meanwhile does not mix versions.
 *
 * Thread-safety: functions are safe.
 */
#ifndef MT_SERVER_PULL_HUGGING_FACE_H
#define MT_SERVER_PULL_HUGGING_FACE_H

#include "server/pull/remote.h"

#define MT_HUB "https://huggingface.co" /* replaced by HF_ENDPOINT */
/* The organisation whose models are listed, since the hub has a million others. */
#define MT_HUB_AUTHOR "Helsinki-NLP"
#define MT_HUB_PAGE_MODELS 1000

/* Appends the URL of a model's document. */
void mt_hub_append_document_url(const char *hub, const struct mt_pull_name *name,
                                struct mt_text *out);

/* Reads such a document. The caller owns *out. MT_FORMAT names the member; MT_FORBIDDEN: the
 * repository is disabled. */
MT_MUST_CHECK enum mt_status mt_hub_read_model(const char *bytes, size_t length, const char *hub,
                                               const struct mt_pull_name *name,
                                               struct mt_remote **out, struct mt_error *err);

void mt_hub_append_search_url(const char *hub, struct mt_text *out);

/* Adds the models of one page with this source language, which their names tell:
 * opus-mt-SOURCE-TARGET and others with this ending. */
MT_MUST_CHECK enum mt_status mt_hub_read_search(const char *bytes, size_t length,
                                                const char *language, struct mt_offers *offers,
                                                struct mt_error *err);

#endif
