/*
 * Counters of the daemon in Prometheus' text format. Labels are routes, codes and reasons from
 * fixed tables, and the models: never addresses, keys or text. So there are never more series than
 * these tables have rows.
 *
 * Thread-safety: safe; counting takes no lock.
 */
#ifndef MT_SERVER_SERVICE_METRICS_H
#define MT_SERVER_SERVICE_METRICS_H

#include "base/text.h"

#include <stdbool.h>

#include <stdint.h>

struct mt_connection_counts;
struct mt_engine_stats;
struct mt_file_store_counts;
struct mt_catalog;
struct mt_snapshots_counts;
struct mt_metrics;
struct mt_model_host_counts;
struct mt_result_cache_counts;

/* The route of a request that no route answers. */
#define MT_NO_ROUTE SIZE_MAX

/* Why a request was not served. */
enum mt_rejection {
    MT_REJECTED_QUEUE_FULL,
    MT_REJECTED_CONNECTIONS, /* too many connections */
    MT_REJECTED_TIMEOUT,
    MT_REJECTED_CLIENT_GONE,
    MT_REJECTED_DRAINING,
    MT_REJECTED_TOO_LARGE,
    MT_REJECTED_MALFORMED, /* by the check of its head (http_gate) */
    MT_REJECTED_DAMAGED,   /* the model's files were changed while it was in memory */
    MT_REJECTED_KEY,       /* a wrong key, or no key where one is required */
    MT_REJECTED_RATE,      /* more requests or characters than the client may send */
    MT_REJECTED_BANNED,    /* banned for exceeding rates too often */
    MT_REJECTED_SHARE,     /* the client already has its share of the connections or of the queue */
    MT_REJECTED_MODEL,     /* the model could not be loaded */
    MT_REJECTED_DOCUMENTS, /* the most large files at a time are already being handled */
    MT_N_REJECTIONS
};

/* route_names are borrowed. */
MT_MUST_CHECK enum mt_status mt_metrics_create(const char *const *route_names, size_t n_routes,
                                               struct mt_metrics **out, struct mt_error *err);
void mt_metrics_destroy(struct mt_metrics *metrics);

void mt_metrics_request_begin(struct mt_metrics *metrics);
/* route: an index, or MT_NO_ROUTE. code: as sent, 499 where the client left before. */
void mt_metrics_request_end(struct mt_metrics *metrics, size_t route, unsigned code,
                            double seconds);
void mt_metrics_reject(struct mt_metrics *metrics, enum mt_rejection reason);

/* Counts a sentence that has a warning; kind: an enum mt_warning (quality_check.h). */
void mt_metrics_warn(struct mt_metrics *metrics, unsigned kind);

/* Values from the rest of the process at the time of the scrape. */
struct mt_metrics_sources {
    const char *version;
    const char *precision; /* "fp32" */
    bool is_ready;
    const struct mt_engine_stats *engine;
    const struct mt_connection_counts *connections;
    const struct mt_snapshots_counts *snapshots;
    const struct mt_file_store_counts *files;
    size_t n_document_jobs;
    const struct mt_result_cache_counts *results;
    const struct mt_catalog *catalog; /* its ids are suitable as labels */
    const struct mt_model_host_counts *models;
};
void mt_metrics_render(struct mt_metrics *metrics, const struct mt_metrics_sources *sources,
                       struct mt_text *out);

#endif
