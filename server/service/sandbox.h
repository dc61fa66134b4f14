/*
 * The rights that a daemon gives up after its start, so that an intruder who exploits a fault gains
 * little.
 *
 *   Landlock   the file system cannot be written, except three directories; no program can be run;
 *              no TCP port can be bound and no TCP connection be made. For root: only listed paths
 *              can be read
 *   seccomp    system calls that the daemon does not need do not exist (ENOSYS); those that an
 *              intruder would want are refused (EPERM): running programs, new processes, tracing,
 *              sockets, other users, executable memory
 *
 * Users other than root can read what their rights allow: a reload opens any directory that the
 * settings name then. Root's privileges are dropped, too, including those over files.
 *
 * If a kernel or a container does not support something, then this is logged, and the daemon runs
 * without it: a daemon that does not start protects nobody.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_SERVICE_SANDBOX_H
#define MT_SERVER_SERVICE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Removes root's privileges from the calling thread, and those that it starts from now on. The
 * modes of files then apply to it as to any user. */
void mt_sandbox_drop_privileges(void);

struct mt_sandbox_files {
    /* Directories of caches, of translated files and of data; NULL or empty: none. Missing ones are
     * created if possible. */
    const char *writable[3];
    /* Everything else that can be read: directories with all present and future content, and files.
     * NULL: everything. */
    char *const *readable;
    size_t n_readable;
    /* The TCP ports to which connections can be made, at any address. */
    const uint16_t *ports;
    size_t n_ports;
};

/* Applies Landlock to the calling thread and those that it starts from now on. Returns false where
 * it is not in force. */
bool mt_sandbox_restrict_files(const struct mt_sandbox_files *files);

/* Applies no_new_privs to the calling thread and those that it starts, and seccomp to all threads
 * of the process. may_connect, for programs other than the daemon: sockets can be made and
 * connected, and processes forked. Builds with a sanitizer, and valgrind, need the forbidden calls
 * and run without seccomp. Returns false where seccomp is not in force. */
bool mt_sandbox_restrict_calls(bool may_connect);

#endif
