/*
 * Whether this is a build with the address or the thread sanitizer. These reserve terabytes of
 * address space, make system calls of their own, and do not unlock their allocator in a forked
 * process.
 */
#ifndef MT_BASE_SANITIZED_H
#define MT_BASE_SANITIZED_H

#if defined(__has_feature)
#define MT_HAS_FEATURE(name) __has_feature(name)
#else
#define MT_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    MT_HAS_FEATURE(address_sanitizer) || MT_HAS_FEATURE(thread_sanitizer)
#define MT_IS_SANITIZED true
#else
#define MT_IS_SANITIZED false
#endif

#endif
