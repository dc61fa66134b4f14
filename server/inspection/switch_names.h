/*
 * Names of heads and layers, for requests, replies and addresses: "cross.1.6" is head 6 of layer 1,
 * "encoder.0" all heads of a layer.
 *
 * Thread-safety: safe.
 */
#ifndef MT_SERVER_INSPECTION_SWITCH_NAMES_H
#define MT_SERVER_INSPECTION_SWITCH_NAMES_H

#include "server/inspection/inspection.h"

struct mt_params;

#define MT_SWITCH_NAME_BYTES 64
void mt_switch_name(const struct mt_head *head, char out[MT_SWITCH_NAME_BYTES]);

/*
 * Reads the field: an array of names, or "cross.1.6,encoder.0". A missing or empty field has none,
 * and *out is NULL. Duplicates count once. The caller frees *out. MT_INVALID: a malformed name, or
 * one that the model does not have; the message tells what was expected.
 */
MT_MUST_CHECK enum mt_status mt_switches_read(const struct mt_params *params, const char *field,
                                              const struct mt_inspection_model *model,
                                              struct mt_head **out, size_t *n,
                                              struct mt_error *err);

#endif
