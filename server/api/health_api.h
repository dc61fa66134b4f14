/*
 * GET /health, /health/live, /health/ready, /metrics: for those who operate the server. They never
 * wait for a worker, and take almost no time.
 */
#ifndef MT_SERVER_API_HEALTH_API_H
#define MT_SERVER_API_HEALTH_API_H

#include "server/requests/handler.h"

/* Replies {"status":"ok"}: the process is alive. */
extern const struct mt_handler mt_health_handler;

/* Replies {"status":"ok"}, but 503 once the server drains, so that no more work is sent to it. */
extern const struct mt_handler mt_ready_handler;

/* Replies in Prometheus' text format: metrics.h. */
extern const struct mt_handler mt_metrics_handler;

#endif
