/*
 * LibreTranslate's POST /detect: the language of q, as a list with one entry (its clients take the
 * first, and some insist on a single one): [{"confidence": 90.0, "language": "en"}]. It may be a
 * language that no model translates.
 */
#ifndef MT_SERVER_API_DETECT_API_H
#define MT_SERVER_API_DETECT_API_H

#include "server/text/detect.h"
#include "server/requests/handler.h"

struct mt_json_writer;

extern const struct mt_handler mt_detect_handler;

/* Writes {"confidence", "language"}. */
void mt_detection_write(struct mt_json_writer *writer, const struct mt_detection *detection);

#endif
