#include "base/cores.h"

#include "base/size.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Most bytes that are read of a quota, or of a line of /proc/self/cgroup. */
#define MAX_LINE (PATH_MAX + 64)

static bool read_line(const char *directory, const char *name, char out[MAX_LINE])
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    bool is_read = fgets(out, MAX_LINE, file);
    fclose(file);
    return is_read;
}

/* Returns how many processors the group in this directory may use; INFINITY: no limit. */
typedef double quota_of(const char *directory);

/* Reads cpu.max: "QUOTA PERIOD" or "max PERIOD", in microseconds. */
static double quota_2(const char *directory)
{
    char line[MAX_LINE];
    double quota, period;
    if (!read_line(directory, "cpu.max", line) || sscanf(line, "%lf %lf", &quota, &period) != 2 ||
        quota <= 0 || period <= 0)
        return INFINITY;
    return quota / period;
}

/* A quota of -1 means no limit. */
static double quota_1(const char *directory)
{
    char quota[MAX_LINE], period[MAX_LINE];
    if (!read_line(directory, "cpu.cfs_quota_us", quota) ||
        !read_line(directory, "cpu.cfs_period_us", period) || atof(quota) <= 0 || atof(period) <= 0)
        return INFINITY;
    return atof(quota) / atof(period);
}

/* Returns the smallest quota of the group and its parents. In a container the path may be the
 * host's, of which only the mount's own directory exists. */
static double smallest(const char *mount, const char *group, quota_of *quota)
{
    char directory[PATH_MAX];
    double least = INFINITY;
    int length = snprintf(directory, sizeof directory, "%s%s", mount, group);
    if (length < 0 || (size_t)length >= sizeof directory)
        return quota(mount);
    for (;;) {
        least = fmin(least, quota(directory));
        char *slash = strrchr(directory + strlen(mount), '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

static bool has_controller(const char *controllers, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = controllers; (at = strstr(at, name)); at += length) {
        bool begins = at == controllers || at[-1] == ',';
        if (begins && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* Reads a line of /proc/self/cgroup, "NUMBER:CONTROLLERS:GROUP"; version 2 has no controllers. */
static double quota_of_line(const char *root, char *line)
{
    char mount[PATH_MAX];
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':'),
         *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return INFINITY;
    *group++ = '\0';
    controllers++;
    bool is_2 = *controllers == '\0';
    if (!is_2 && !has_controller(controllers, "cpu"))
        return INFINITY;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root, is_2 ? "" : "/cpu");
    return smallest(mount, group, is_2 ? quota_2 : quota_1);
}

size_t mt_cores_in_quota(const char *root)
{
    char path[PATH_MAX], line[MAX_LINE];
    double least = INFINITY;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        least = fmin(least, quota_of_line(root, line));
    if (file)
        fclose(file);
    return least < 65536 ? mt_size_max(1, (size_t)ceil(least)) : 0;
}

static size_t n_available;

static void look(void)
{
    cpu_set_t allowed;
    size_t quota = mt_cores_in_quota("");
    long n_online = sysconf(_SC_NPROCESSORS_ONLN);
    n_available = n_online > 0 ? (size_t)n_online : 1;
    /* this fails on machines with more than 1,024 processors */
    if (!sched_getaffinity(0, sizeof allowed, &allowed))
        n_available = mt_size_max(1, (size_t)CPU_COUNT(&allowed));
    if (quota)
        n_available = mt_size_min(n_available, quota);
}

size_t mt_cores_available(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look);
    return n_available;
}
