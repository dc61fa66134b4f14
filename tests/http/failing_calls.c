/*
 * Preloaded into the daemon: the system calls that may end early do, as on a busy machine with
 * signals and slow disks.
 *
 *   FAILING_CALLS=1   every few calls EINTR; reads and writes of files and pipes move a part of
 *                     what was asked for
 *   SLOW_DISK=N       what is written is on the disk after N seconds
 *   SLOW_WATCH=N      a directory is watched after N seconds, which holds up the start
 *   LATE_ACCEPT=N     a connection that was accepted is known to the caller after N milliseconds
 *   LATE_EMPTY=N      likewise that there was none
 *   FULL_TABLE=N      after N connections there is no descriptor for the next one, once
 *   STEPPING_CLOCK=1  the time of day jumps by ten years, forwards and backwards, all the time
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP_SECONDS ((time_t)10 * 365 * 86400)

static bool fails, steps;
static unsigned sync_seconds, watch_seconds, accept_ms, empty_ms;
static atomic_int n_until_full = -1;

static unsigned number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? (unsigned)atoi(text) : 0;
}

__attribute__((constructor)) static void start(void)
{
    fails = getenv("FAILING_CALLS") != NULL;
    steps = getenv("STEPPING_CLOCK") != NULL;
    if (getenv("FULL_TABLE"))
        n_until_full = (int)number_of("FULL_TABLE");
    sync_seconds = number_of("SLOW_DISK");
    watch_seconds = number_of("SLOW_WATCH");
    accept_ms = number_of("LATE_ACCEPT");
    empty_ms = number_of("LATE_EMPTY");
}

/* The same numbers in every run, whichever thread gets them. */
static uint32_t next_number(void)
{
    static atomic_uint n;
    uint32_t x = atomic_fetch_add(&n, 1) * 0x9E3779B9u + 1;
    x = (x ^ x >> 15) * 0x85EBCA6Bu;
    return x ^ x >> 13;
}

static bool is_interrupted(void)
{
    if (!fails || next_number() % 4 != 0)
        return false;
    errno = EINTR;
    return true;
}

/* A call that does not wait is not interrupted. */
static bool is_interrupted_on(int fd)
{
    return (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0 && is_interrupted();
}

/* An eventfd, say, takes all of its eight bytes or none. A socket takes a part only when it is
 * full, and epoll then tells of new room (epoll(7)), which libmicrohttpd relies on. */
static bool may_take_a_part(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode));
}

static size_t part_of(int fd, size_t n)
{
    if (!fails || n < 2 || !may_take_a_part(fd))
        return n;
    uint32_t x = next_number();
    return n > 4096 ? n - n / (2 + x % 7) : 1 + x % n;
}

ssize_t read(int fd, void *bytes, size_t n)
{
    return is_interrupted_on(fd) ? -1 : syscall(SYS_read, fd, bytes, part_of(fd, n));
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    return is_interrupted_on(fd) ? -1 : syscall(SYS_write, fd, bytes, part_of(fd, n));
}

int fsync(int fd)
{
    sleep(sync_seconds);
    return (int)syscall(SYS_fsync, fd);
}

ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
    return is_interrupted_on(fd) ? -1 : syscall(SYS_recvfrom, fd, bytes, n, flags, NULL, NULL);
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    return is_interrupted_on(fd) ? -1 : syscall(SYS_sendto, fd, bytes, n, flags, NULL, 0);
}

ssize_t sendfile(int to, int from, off_t *at, size_t n)
{
    return is_interrupted_on(to) ? -1 : syscall(SYS_sendfile, to, from, at, part_of(from, n));
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    if (is_interrupted_on(fd))
        return -1;
    if (n_until_full == 0) {
        n_until_full = -1;
        errno = EMFILE;
        return -1;
    }
    int accepted = (int)syscall(SYS_accept4, fd, address, length, flags);
    int reason = errno;
    n_until_full -= accepted >= 0 && n_until_full > 0;
    usleep(1000 * (accepted >= 0 ? accept_ms : empty_ms));
    errno = reason;
    return accepted;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    return is_interrupted() ? -1 : (int)syscall(SYS_poll, fds, n, timeout);
}

/* In a signal handler's way, sleep ends early. */
int inotify_init1(int flags)
{
    for (unsigned left = watch_seconds; left > 0;)
        left = sleep(left);
    return (int)syscall(SYS_inotify_init1, flags);
}

int epoll_wait(int fd, struct epoll_event *events, int n, int timeout)
{
    return is_interrupted() ? -1 : (int)syscall(SYS_epoll_wait, fd, events, n, timeout);
}

ssize_t getrandom(void *bytes, size_t n, unsigned flags)
{
    return is_interrupted() ? -1 : syscall(SYS_getrandom, bytes, n, flags);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    return is_interrupted() ? -1 : (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

/* ---- the time of day ---- */

static time_t step(void)
{
    return steps ? ((time_t)(next_number() % 3) - 1) * STEP_SECONDS : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int code = (int)syscall(SYS_clock_gettime, clock, now);
    bool is_of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (code == 0 && is_of_day)
        now->tv_sec += step();
    return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    int code = (int)syscall(SYS_gettimeofday, now, zone);
    now->tv_sec += step();
    return code;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
