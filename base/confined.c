#include "base/confined.h"

#include "base/sanitized.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long the first process may take to begin. After that a second one is started, which may take
 * twice as long, and so on, up to MAX_PROCESSES. */
#define BEGIN_MS 50
#define MAX_PROCESSES 50

/* Memory that both processes share. */
struct outcome {
    unsigned n_processes; /* that were to begin */
    bool has_begun, is_done;
    enum mt_status status;
    struct mt_error err;
};

static size_t address_space_bytes(void)
{
    unsigned long n_pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%lu", &n_pages) != 1)
        n_pages = 0;
    fclose(file);
    return n_pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit(int resource, rlim_t most)
{
    const struct rlimit limits = {.rlim_cur = most, .rlim_max = most};
    (void)!setrlimit((__rlimit_resource_t)resource, &limits);
}

/* Allows only a few system calls; any other one ends the process. */
static void forbid_system_calls(int fd)
{
    static const int allowed[] = {
        SCMP_SYS(brk),         SCMP_SYS(mmap),           SCMP_SYS(mremap),
        SCMP_SYS(munmap),      SCMP_SYS(madvise),        SCMP_SYS(mprotect),
        SCMP_SYS(futex),       SCMP_SYS(exit),           SCMP_SYS(exit_group),
        SCMP_SYS(getrandom),   SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
        SCMP_SYS(sched_yield), SCMP_SYS(clock_gettime),  SCMP_SYS(sysinfo), /* for qsort */
    };
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    bool is_complete = filter != NULL;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed && is_complete; i++)
        is_complete = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0) == 0;
    /* It may only write to its result, because the descriptors of clients are open, too. */
    is_complete = is_complete && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1,
                                                  SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)fd, 0)) == 0;
    /* malloc, in a thread's arena, reads /proc before it returns memory, and mktime reads the time
     * zone; both continue if that is refused. */
    static const int refused[] = {SCMP_SYS(openat), SCMP_SYS(newfstatat), SCMP_SYS(statx)};
    for (size_t i = 0; i < sizeof refused / sizeof *refused && is_complete; i++)
        is_complete = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), refused[i], 0) == 0;
    if (is_complete)
        (void)!seccomp_load(filter);
    seccomp_release(filter);
}

/* Ends the process by SIGALRM. alarm() is not used, because on some architectures it is a system
 * call that the daemon's own filter does not allow. */
static void end_after(unsigned ms)
{
    const struct itimerval timer = {
        .it_value = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000}};
    (void)!setitimer(ITIMER_REAL, &timer, NULL);
}

static void confine(const struct mt_confined *confined, size_t address_space, int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, confined->max_seconds);
    end_after(confined->max_elapsed_seconds * 1000);
    if (MT_IS_SANITIZED)
        return;
    limit(RLIMIT_NOFILE, 0);
    if (address_space)
        limit(RLIMIT_AS, address_space + confined->max_memory_bytes);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    forbid_system_calls(fd);
}

/* Waits for the C library's lock of the time zone, which a thread of the old process may have held
 * during the fork. Then it is held for ever in this process, and a call that needs the time, as
 * libzip makes for each entry, never returns. */
static void wait_for_time_zone(struct outcome *outcome)
{
    struct tm tm;
    end_after(BEGIN_MS * ++outcome->n_processes);
    (void)!gmtime_r(&(time_t){0}, &tm);
    end_after(0);
    outcome->has_begun = true;
}

/* Runs in the new process, without the old one's signal handlers. */
static void run_work(const struct mt_confined *confined, size_t address_space, int fd,
                     struct outcome *outcome)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGBUS, SIGSEGV, SIGALRM};
    sigset_t none;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    wait_for_time_zone(outcome);
    confine(confined, address_space, fd);
    outcome->status = confined->work(confined->context, fd, &outcome->err);
    outcome->is_done = true;
    _exit(0);
}

/* The message of the other process is not trusted to be well-formed. */
static enum mt_status take_error(const struct outcome *outcome, struct mt_error *err)
{
    enum mt_status status = outcome->status;
    const char *message = outcome->err.message;
    if ((unsigned)status > MT_MEMORY)
        status = MT_FORMAT;
    if (!status)
        return MT_OK;
    return mt_fail(err, status, "%.*s",
                   (int)mt_utf8_valid_prefix(message, strnlen(message, MT_ERROR_BYTES - 1)),
                   message);
}

static enum mt_status check_end(const struct mt_confined *confined, int wait_status,
                                const struct outcome *outcome, struct mt_error *err)
{
    if (outcome->is_done)
        return take_error(outcome, err);
    int number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    if (number == SIGALRM)
        return mt_fail(err, MT_LIMIT,
                       "%s: the process that read it was killed: it had not ended after %u seconds",
                       confined->what, confined->max_elapsed_seconds);
    if (number == SIGXCPU || number == SIGKILL)
        return mt_fail(
            err, MT_LIMIT,
            "%s: the process that read it was killed: it took more than %u seconds, or the "
            "machine has no memory left",
            confined->what, confined->max_seconds);
    return mt_fail(err, MT_FORMAT, "%s: the process that read it ended with signal %d (%s)",
                   confined->what, number, number ? strsignal(number) : "no signal");
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            break; /* there is no status if the process ignores SIGCHLD, but the outcome tells */
    return status;
}

static enum mt_status map_result(int fd, const char *what, struct mt_mapping *out,
                                 struct mt_error *err)
{
    struct stat st;
    if (fstat(fd, &st) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
        return mt_fail(err, MT_IO, "%s: cannot seal the result: %s", what, strerror(errno));
    *out = (struct mt_mapping){.length = (size_t)st.st_size};
    if (out->length == 0)
        return MT_OK;
    void *bytes = mmap(NULL, out->length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return mt_fail(err, MT_IO, "%s: cannot map the result: %s", what, strerror(errno));
    out->bytes = bytes;
    return MT_OK;
}

static enum mt_status run(const struct mt_confined *confined, struct outcome *outcome, int fd,
                          struct mt_error *err)
{
    size_t address_space = address_space_bytes();
    int wait_status = 0;
    for (int n = 0; n < MAX_PROCESSES && !outcome->has_begun; n++) {
        pid_t pid = fork();
        if (pid < 0)
            return mt_fail(err, MT_IO, "%s: no process to read it in: %s", confined->what,
                           strerror(errno));
        if (pid == 0)
            run_work(confined, address_space, fd, outcome);
        wait_status = wait_for(pid);
    }
    return check_end(confined, wait_status, outcome, err);
}

enum mt_status mt_confined_run(const struct mt_confined *confined, struct mt_mapping *out,
                               struct mt_error *err)
{
    struct outcome *outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED)
        return mt_fail_memory(err, sizeof *outcome, confined->what);
    enum mt_status status = MT_OK;
    int fd = memfd_create("result", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        status = mt_fail(err, MT_IO, "%s: no memory for the result: %s", confined->what,
                         strerror(errno));
    if (!status)
        status = run(confined, outcome, fd, err);
    if (!status)
        status = map_result(fd, confined->what, out, err);
    if (fd >= 0)
        close(fd);
    munmap(outcome, sizeof *outcome);
    return status;
}

enum mt_status mt_confined_write(int fd, const void *bytes, size_t length, struct mt_error *err)
{
    for (size_t at = 0; at < length;) {
        ssize_t n = write(fd, (const char *)bytes + at, length - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return mt_fail(err, MT_IO, "cannot write %zu bytes of the result: %s", length - at,
                           strerror(errno));
        at += (size_t)n;
    }
    return MT_OK;
}
