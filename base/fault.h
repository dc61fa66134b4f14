/*
 * Faults in mapped files. If a file is truncated while it is mapped, the kernel raises SIGBUS when
 * the missing part is read, which normally ends the process. Mappings that are registered here are
 * filled with zeros instead and marked, because results that were computed from them must not be
 * used.
 *
 * The zeros only prevent the crash. Before a result is given away, mt_mapping_check (file.h) has to
 * be called for the mapping.
 *
 * Thread-safety: safe.
 */
#ifndef MT_BASE_FAULT_H
#define MT_BASE_FAULT_H

#include "base/status.h"

#include <signal.h>
#include <stdbool.h>

/* Most registered mappings: a daemon serves up to 4096 models, and during a reload each of them may
 * exist twice. */
#define MT_MAX_FAULT_RANGES 8192

/* Handles SIGBUS for the whole process from now on; faults outside of registered ranges end the
 * process as before. To be called once, before threads start. */
MT_MUST_CHECK enum mt_status mt_fault_install(struct mt_error *err);

/* Blocks all signals in the calling thread and those that it starts, except those that a fault
 * raises, because such a signal would end the process if it were blocked. *old is for
 * pthread_sigmask, to restore the mask. */
void mt_fault_block_others(sigset_t *old);

/* Registers memory that was mapped from a file; *out gets its number. MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_fault_add(const void *bytes, size_t length, size_t *out,
                                          struct mt_error *err);
/* To be called before the memory is unmapped. */
void mt_fault_remove(size_t number);

/* Whether a fault has happened in the mapping since it was registered. */
bool mt_fault_happened(size_t number);

#endif
