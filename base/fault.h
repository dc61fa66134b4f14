/*
 * Faults in mapped files. A file that is cut short while it is mapped makes the kernel raise SIGBUS
 * in whoever reads what is gone, and the process would end. Mappings that are registered here get
 * zeros instead, and are marked: what was computed from them must not leave the process.
 *
 * Mapping a zero page is a cure for the crash alone. Whoever uses a mapping asks mt_mapping_check
 * (file.h) before it gives away a result.
 *
 * Thread-safety: safe.
 */
#ifndef MT_BASE_FAULT_H
#define MT_BASE_FAULT_H

#include "base/status.h"

#include <signal.h>
#include <stdbool.h>

/* Mappings registered at once: a daemon serves up to 4096 models, and while it reloads each of them
 * may be there twice. */
#define MT_MAX_FAULT_RANGES 8192

/* Handles SIGBUS for the whole process from now on; faults outside of registered ranges end the
 * process as before. Call once, before threads start. */
MT_MUST_CHECK enum mt_status mt_fault_install(struct mt_error *err);

/* Blocks all signals in the calling thread and those that it starts, but those that a fault raises
 * where it happens: a blocked one of these ends the process.
 * *old is what pthread_sigmask restores. */
void mt_fault_block_others(sigset_t *old);

/* Registers memory that was mapped from a file; *out is its number. MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_fault_add(const void *bytes, size_t length, size_t *out,
                                          struct mt_error *err);
/* Before the memory is unmapped. */
void mt_fault_remove(size_t number);

/* Whether a fault has happened in it since it was registered. */
bool mt_fault_happened(size_t number);

#endif
