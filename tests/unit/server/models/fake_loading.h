/*
 * Models that only pretend to be loaded, in the place of server/models/model_loading.c: what the
 * host does with them can then be followed without files.
 *
 * What one takes is its expected_bytes, or what fake_set_bytes says; one whose id begins with
 * "broken" fails. A gate holds every load before its end, another one every unload at its begin, so
 * that a test decides when time passes. Misuse aborts: a model loaded twice, or unloaded while
 * somebody holds it.
 */
#ifndef MT_TESTS_FAKE_LOADING_H
#define MT_TESTS_FAKE_LOADING_H

#include "server/models/model_host.h"

/* Of the next loads; 0: expected_bytes. */
void fake_set_bytes(size_t bytes);

/* Of every model's caches, from now on. */
void fake_set_cache_bytes(size_t bytes);

/* Whether all loads fail, from now on. */
void fake_set_broken(bool is_so);

/* Whether there is work for any model, from now on. */
void fake_set_busy(bool is_so);

/* Open at first. */
void fake_close_loading_gate(void);
void fake_open_loading_gate(void);
/* Waits until a load stands before the closed gate. */
void fake_wait_for_load(void);

/* The same for unloading, before anything is freed. */
void fake_close_unloading_gate(void);
void fake_open_unloading_gate(void);
void fake_wait_for_unload(void);

/* As if the files of one that is in memory had been changed under it. */
void fake_damage(struct mt_served_model *served);

/* Models that are in memory now; loads so far, failed ones too. */
size_t fake_n_loaded(void);
size_t fake_n_loads(void);
/* Models that were looked at without being loaded. */
size_t fake_n_checks(void);

#endif
