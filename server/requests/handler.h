/*
 * What a route does with a request. The HTTP side (http.c) receives, checks and parses; a handler
 * says with which model which sentences have to be decoded, and afterwards writes the reply.
 * Handlers see neither sockets nor libmicrohttpd, and never block.
 *
 *   choose -> the model is loaded -> begin -> the sentences run in the engine -> choose -> finish
 *     ^                                                 |                          |
 *     |                            where it is streamed '-> advance, again ...     |
 *     '----------------------------- another round --------------------------------'
 *
 * All of them are called by text threads (text_threads.h), those of health and metrics
 * (is_vital in router.h) by the HTTP thread. Each runs to its end. A request has one model at a
 * time; one whose text goes through several, or whose texts are in several languages, has as many
 * rounds.
 *
 * One thread at a time touches a request, but not always the same one. Several requests are worked
 * on at the same time: all that they share is named in struct mt_service, and is thread-safe.
 */
#ifndef MT_SERVER_REQUESTS_HANDLER_H
#define MT_SERVER_REQUESTS_HANDLER_H

#include "server/requests/access.h"
#include "server/text/language.h"
#include "server/http/params.h"
#include "server/http/reply.h"
#include "server/service/service.h"

struct mt_loaded_model;
struct mt_sentence;
struct mt_served_model;
struct mt_translation_part;

/* Most sentences of one request; with one more it fails with MT_LIMIT. */
#define MT_MAX_REQUEST_SENTENCES 20000

struct mt_request {
    const struct mt_service *service;
    const char *method; /* "GET" for HEAD too, "POST", "PUT", "PATCH" or "DELETE" */
    const char
        *path; /* as routed, e.g. "/translate"; where the route is a folder, the whole path */
    struct mt_params params;
    bool is_ending; /* the server is about to stop */
    /* Who sent the request, and what this client is allowed. Settings that a key may override have
     * to be taken from access.limits. */
    struct mt_access access;

    /* The handler's own state, NULL at first. The handler's first function makes it, release frees
     * it. */
    void *state;
    /* The reply, which the handler fills; see reply.h. */
    struct mt_reply reply;
    /* May be set before the first round: the reply is then text/event-stream (events.h). It begins
     * at once with what advance appends; finish's body follows as the event "result", and then
     * [DONE]. A failure after begin becomes an event "error". */
    bool is_streamed;

    /* If choose sets this at its first call, then the reply is already complete. It is sent at
     * once, with 200, and the work goes on without the client for at most so many nanoseconds.
     * Anything written to reply after that is not sent, but release can read there how the work
     * ended. */
    int64_t outlives_ns;

    /* The model of this round, or NULL where there is none. The HTTP side holds it from begin to
     * the next choose and, where that names no other model, to release. */
    const struct mt_loaded_model *model;

    /* Filled by mt_request_add_sentence and read by the HTTP side. */
    struct mt_sentence **sentences;
    size_t n_sentences, sentence_capacity;
    size_t n_made, max_made; /* of this round; see mt_request_admit */
};

/* For mt_translation_options.admit, with the request as context. MT_LIMIT where more sentences are
 * made than twice what the queue can ever hold: twice, because some sentences are made again
 * without traces. The exact limit is checked after begin. */
MT_MUST_CHECK enum mt_status mt_request_admit(void *request, const struct mt_translation_part *part,
                                              struct mt_error *err);

/* Adds a sentence that the request has to decode. It stays the handler's, who destroys it when the
 * round has ended, or in release. May be called in begin only. */
MT_MUST_CHECK enum mt_status mt_request_add_sentence(struct mt_request *request,
                                                     struct mt_sentence *sentence,
                                                     struct mt_error *err);

/* Returns a header of the request, or NULL. It is borrowed, and valid while the handler's function
 * runs. */
const char *mt_request_header(const struct mt_request *request, const char *name);

/* Counts n_chars more against the client's characters per day, for texts that are not in the field
 * that access.h counts. They are given back where the request fails. May be called until finish.
 * MT_THROTTLED. */
MT_MUST_CHECK enum mt_status mt_request_take_chars(struct mt_request *request, uint64_t n_chars,
                                                   struct mt_error *err);

/* Returns how many characters the client has used of request->access.limits.rates[MT_RATE_CHARS],
 * where that limit is not 0. */
uint64_t mt_request_used_chars(const struct mt_request *request);

struct mt_handler {
    /*
     * Names the model of the next round, one of the snapshot's catalog; *out stays NULL where
     * nothing has to be decoded (any more). Called first, when it checks request->params and sets
     * up request->state, and again each time that all sentences of a round have ended well, with
     * request->model still there. Anything but MT_OK is answered as an error with err's message
     * (reply.h has the table), and so is a reply.code that choose sets itself; nothing but release
     * is called then. A model that cannot be loaded is answered so, too (503). NULL: the handler
     * uses no model.
     */
    enum mt_status (*choose)(struct mt_request *request, struct mt_served_model **out,
                             struct mt_error *err);

    /*
     * Adds the round's sentences. Without choose: checks request->params and sets up
     * request->state, at once. NULL: nothing to do. Errors as above. All sentences of a round are
     * one job: they are admitted to the queue together or not at all (503; 413 where the queue
     * never holds so many). While it is full, requests are refused before choose is called.
     */
    enum mt_status (*begin)(struct mt_request *request, struct mt_error *err);

    /*
     * Called when there is no further round. Appends the body to request->reply.body. Errors as
     * above. Not called for requests that were cancelled, expired or refused.
     */
    enum mt_status (*finish)(struct mt_request *request, struct mt_error *err);

    /*
     * For streamed requests: appends as events everything that has become certain since the last
     * call, if there is anything. It appends a few kilobytes at most, and is called again if there
     * is more. It is called while the sentences run, when it may only use mt_sentence_progress, and
     * after they have ended. Errors as above.
     */
    enum mt_status (*advance)(struct mt_request *request, struct mt_text *events,
                              struct mt_error *err);

    /* Frees request->state, which may be NULL or half-built. Called exactly once for every request
     * for which choose or begin was called, when no thread uses its sentences any more; by a
     * worker's or a loader's thread where the client of a streamed reply has left. NULL: nothing to
     * do. */
    void (*release)(struct mt_request *request);
};

#endif
