#include "server/pull/check.h"

#include "base/log.h"
#include "server/models/model_check.h"
#include "server/service/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How often the end of the process, and a request to stop, are checked. */
#define POLL_MS 10

/* Memory that the two processes share. */
struct outcome {
    bool is_done;
    enum mt_status status;
    struct mt_error err;
};

/* Runs in the new process, without the old one's signal handlers. If the kernel does not support
 * some confinement, this is not logged, because the user cannot change it. */
static void look(const char *path, const char *name, const struct mt_model_options *options,
                 struct outcome *outcome)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    mt_log_set_level(MT_LOG_NONE);
    mt_sandbox_restrict_files(&(const struct mt_sandbox_files){0});
    mt_sandbox_restrict_calls(false);
    outcome->status = mt_model_files_check(path, name, options, &outcome->err);
    outcome->is_done = true;
    _exit(0);
}

static bool is_set(const atomic_bool *flag)
{
    return flag && atomic_load(flag);
}

static enum mt_status wait_for(pid_t pid, const struct outcome *outcome, const char *path,
                               const atomic_bool *is_cancelled, struct mt_error *err)
{
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && !is_set(is_cancelled))
        nanosleep(&pause, NULL);
    if (ended == 0) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    if (is_set(is_cancelled))
        return mt_fail(err, MT_CANCELLED, "stopped");
    if (outcome->is_done) {
        if (outcome->status && err)
            *err = outcome->err;
        return outcome->status;
    }
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == SIGKILL)
        return mt_fail(err, MT_MEMORY,
                       "%s: the process that checked it was killed: the machine may have no memory "
                       "left",
                       path);
    return mt_fail(err, MT_FORMAT, "%s: the process that checked it ended with signal %d (%s)",
                   path, number, number ? strsignal(number) : "no signal");
}

enum mt_status mt_pull_check(const char *path, const char *name,
                             const struct mt_model_options *options,
                             const atomic_bool *is_cancelled, struct mt_error *err)
{
    struct outcome *outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED)
        return mt_fail_memory(err, sizeof *outcome, path);
    enum mt_status status;
    pid_t pid = fork();
    if (pid == 0)
        look(path, name, options, outcome);
    if (pid < 0)
        status = mt_fail(err, MT_IO, "%s: no process to check it in: %s", path, strerror(errno));
    else
        status = wait_for(pid, outcome, path, is_cancelled, err);
    munmap(outcome, sizeof *outcome);
    return status;
}
