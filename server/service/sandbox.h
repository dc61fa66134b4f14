/*
 * What a daemon gives up once it has started, so that whoever finds a hole in it finds little
 * behind it.
 *
 *   Landlock   the file system cannot be written, but for two directories; no program can be run;
 *              no TCP port be bound and no TCP connection be made
 *   seccomp    system calls that the daemon does not need do not exist (ENOSYS); those that an
 *              intruder would want are refused (EPERM): running programs, new processes, tracing,
 *              sockets, other users, executable memory
 *
 * Reading files stays possible: a reload opens whatever directory the settings then name. Root's
 * privileges go, too, but for those over files (models may be others').
 *
 * What a kernel or a container does not offer is noted in the log, and done without: a daemon that
 * does not start protects nobody.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_SERVICE_SANDBOX_H
#define MT_SERVER_SERVICE_SANDBOX_H

#include <stdbool.h>

/* For the calling thread and those that it starts from now on. Privileges first, then Landlock; the
 * directories of caches and of translated files (NULL or empty: none) may be written; they are made
 * where they are missing, if that is possible. False: Landlock is not in force. */
bool mt_sandbox_restrict_files(const char *cache_directory, const char *files_directory);

/* no_new_privs, for the calling thread and those that it starts, and seccomp, for all threads of
 * the process. Builds with a sanitizer, and valgrind, need the calls themselves and do without
 * seccomp. False: seccomp is not in force. */
bool mt_sandbox_restrict_calls(void);

#endif
