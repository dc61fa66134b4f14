#include "server/http/socket_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Called in the new process. A signal that a whole group of processes gets is meant for the daemon,
 * which ends this process itself. */
static void block_all(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Closes all descriptors but two: clients' sockets, the log and others were inherited and must not
 * stay open in this process. */
static void close_others(int first, int second)
{
    int low = first < second ? first : second, high = first < second ? second : first;
    if (low > 0)
        (void)!close_range(0, (unsigned)low - 1, 0);
    if (high > low + 1)
        (void)!close_range((unsigned)low + 1, (unsigned)high - 1, 0);
    (void)!close_range((unsigned)high + 1, ~0U, 0);
}

/* Whether the file at path is still ours: another daemon may have put its own there meanwhile.
 * While our file is open, no other file gets its inode number. */
static bool is_same(const char *path, int file_fd)
{
    struct stat ours, found;
    return fstat(file_fd, &ours) == 0 && lstat(path, &found) == 0 && ours.st_dev == found.st_dev &&
           ours.st_ino == found.st_ino;
}

static void wait_and_remove(const char *path, int file_fd, int end_fd)
{
    char byte;
    block_all();
    close_others(file_fd, end_fd);
    prctl(PR_SET_NAME, "socket-file");
    while (read(end_fd, &byte, 1) < 0 && errno == EINTR)
        ;
    if (is_same(path, file_fd))
        unlink(path);
    _exit(0);
}

enum mt_status mt_socket_file_watch(const char *path, struct mt_socket_file *out,
                                    struct mt_error *err)
{
    int ends[2];
    int file_fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (file_fd < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        enum mt_status status = mt_fail(err, MT_IO, "%s: %s", path, strerror(errno));
        if (file_fd >= 0)
            close(file_fd);
        return status;
    }
    pid_t pid = fork();
    if (pid == 0)
        wait_and_remove(path, file_fd, ends[0]);
    int reason = errno;
    close(file_fd);
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return mt_fail(err, MT_IO, "%s: no process: %s", path, strerror(reason));
    }
    *out = (struct mt_socket_file){.pid = pid, .fd = ends[1]};
    return MT_OK;
}

void mt_socket_file_remove(struct mt_socket_file *file)
{
    if (file->fd < 0)
        return;
    close(file->fd);
    while (waitpid(file->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    file->fd = -1;
}
