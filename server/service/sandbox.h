/*
 * What a daemon gives up once it has started, so that whoever finds a hole in it finds little
 * behind it.
 *
 *   Landlock   the file system cannot be written, but for three directories; no program can be run;
 *              no TCP port be bound and no TCP connection be made. For root: nothing can be read but
 *              what is named
 *   seccomp    system calls that the daemon does not need do not exist (ENOSYS); those that an
 *              intruder would want are refused (EPERM): running programs, new processes, tracing,
 *              sockets, other users, executable memory
 *
 * Users other than root can read what their rights allow: a reload opens whatever directory the
 * settings then name. Root's privileges go, too, those over files among them.
 *
 * What a kernel or a container does not offer is noted in the log, and done without: a daemon that
 * does not start protects nobody.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_SERVER_SERVICE_SANDBOX_H
#define MT_SERVER_SERVICE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The calling thread, and those that it starts from now on, may no longer do what only root may.
 * Modes of files then hold for it as for anybody. */
void mt_sandbox_drop_privileges(void);

struct mt_sandbox_files {
    /* Directories of caches, of translated files and of data; NULL or empty: none. They are made where they
     * are missing, if that is possible. */
    const char *writable[3];
    /* All that can be read beside them: directories with what is in them, now and later, and files.
     * NULL: everything. */
    char *const *readable;
    size_t n_readable;
    /* The ports of TCP to which connections can be made, whatever the address. */
    const uint16_t *ports;
    size_t n_ports;
};

/* Landlock, for the calling thread and those that it starts from now on. False: it is not in
 * force. */
bool mt_sandbox_restrict_files(const struct mt_sandbox_files *files);

/* may_connect: sockets can be made and connected, and processes forked, for what is no daemon.
 * no_new_privs, for the calling thread and those that it starts, and seccomp, for all threads of
 * the process. Builds with a sanitizer, and valgrind, need the calls themselves and do without
 * seccomp. False: seccomp is not in force. */
bool mt_sandbox_restrict_calls(bool may_connect);

#endif
