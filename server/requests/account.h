/*
 * What a request was and where its time went: for the reply's header Server-Timing, and for its
 * line in the log (log_requests).
 *
 * The times are those of struct mt_job_account (engine.h), those of a request with several rounds
 * added up: queue, encoder and decoder of the sentence that each round waited for. What is left to
 * the total is parsing, tokenizing, loading a model, putting the reply together and sending it.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_REQUESTS_ACCOUNT_H
#define MT_SERVER_REQUESTS_ACCOUNT_H

#include "base/text.h"
#include "server/http/traceparent.h"

struct mt_job;

/* {0} is the account of a request that has had no round. */
struct mt_account {
    size_t n_rounds; /* rounds whose sentences have all ended */
    size_t n_sentences, n_source_tokens, n_target_tokens;
    int64_t queue_ns, encoder_ns, decoder_ns;
};

/* Adds a job that has ended. A failed job adds what it had decoded until then. */
void mt_account_add(struct mt_account *account, const struct mt_job *job);

/* The value of Server-Timing (https://www.w3.org/TR/server-timing/): "queue;dur=0.02,
 * encoder;dur=1.4, decoder;dur=18.9, total;dur=21.3", in milliseconds. */
#define MT_SERVER_TIMING_BYTES 256
void mt_account_write_timing(const struct mt_account *account, int64_t total_ns,
                             char out[MT_SERVER_TIMING_BYTES]);

/* What is logged of a request at its end. Members that are NULL or "" are left out. */
struct mt_request_end {
    const char *method; /* one that the daemon knows */
    const char *route;  /* the route's pattern */
    unsigned status;    /* 499 where the client left before the reply */
    uint64_t n_bytes;   /* of the reply's body */
    const char *key;    /* the key's name */
    const char *models; /* ids of the models, with commas between them */
    const char *request_id;
    const struct mt_traceparent *trace;
    const struct mt_account *account;
    int64_t total_ns;
};

/* One record "request", at level info. */
void mt_account_log(const struct mt_request_end *end);

#endif
