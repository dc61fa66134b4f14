/*
 * GET /health, /health/live, /health/ready, /metrics: for those who look after the server. They
 * never wait for a worker, and cost next to nothing.
 */
#ifndef MT_SERVER_API_HEALTH_API_H
#define MT_SERVER_API_HEALTH_API_H

#include "server/requests/handler.h"

/* {"status":"ok"}: the process answers. */
extern const struct mt_handler mt_health_handler;

/* As mt_health_handler, but 503 once the server drains, so that no more work is sent here. */
extern const struct mt_handler mt_ready_handler;

/* Prometheus' text format: metrics.h. */
extern const struct mt_handler mt_metrics_handler;

#endif
