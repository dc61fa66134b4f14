#include "tests/bench/machine.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PROC_BYTES 4096

int64_t load_to_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * LOAD_NS_PER_SECOND + time.tv_nsec;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return load_to_ns(now);
}

int64_t load_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t load_real_time_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

/* The beginning of a file of /proc, NUL-terminated. */
static bool read_proc(const char *path, char out[PROC_BYTES])
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t n = fread(out, 1, PROC_BYTES - 1, file);
    fclose(file);
    out[n] = '\0';
    return n > 0;
}

static bool read_process_file(int pid, const char *name, char out[PROC_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return pid > 0 && read_proc(path, out);
}

static double ticks_to_seconds(uint64_t ticks)
{
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* proc(5): fields 14 and 15; the second, the program's name, may hold blanks and parentheses. */
static double process_seconds(int pid)
{
    char text[PROC_BYTES];
    uint64_t user, system;
    const char *rest = read_process_file(pid, "stat", text) ? strrchr(text, ')') : NULL;
    if (!rest ||
        sscanf(rest + 1, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64, &user,
               &system) != 2)
        return -1;
    return ticks_to_seconds(user + system);
}

static double stolen_seconds(void)
{
    char text[PROC_BYTES];
    uint64_t ticks;
    if (!read_proc("/proc/stat", text) ||
        sscanf(text, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &ticks) != 1)
        return -1;
    return ticks_to_seconds(ticks);
}

static double own_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

struct load_cpu load_cpu_now(int pid)
{
    return (struct load_cpu){
        .daemon = process_seconds(pid),
        .generator = own_seconds(),
        .stolen = stolen_seconds(),
    };
}

int64_t load_anonymous_bytes(int pid)
{
    char text[PROC_BYTES];
    int64_t kib;
    const char *line = read_process_file(pid, "status", text) ? strstr(text, "\nRssAnon:") : NULL;
    if (!line || sscanf(line, " RssAnon: %" SCNd64, &kib) != 1)
        return -1;
    return kib * 1024;
}

enum mt_status load_check_pid(int pid, struct mt_error *err)
{
    if (pid == 0 || process_seconds(pid) >= 0)
        return MT_OK;
    return mt_fail(err, MT_NOT_FOUND, "--pid %d: /proc/%d/stat cannot be read", pid, pid);
}
