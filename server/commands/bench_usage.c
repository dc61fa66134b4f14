#include "server/commands/bench_usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The numbers in a line of /proc/stat that follow the processor's name. The time of guests is
 * contained in user and nice. */
enum { USER, NICE, SYSTEM, IDLE, IO_WAIT, IRQ, SOFT_IRQ, STOLEN, N_FIELDS };

bool mt_bench_usage_add(struct mt_bench_usage *usage, const char *line, const cpu_set_t *processors,
                        double ticks_per_second)
{
    unsigned processor;
    int length = 0;
    if (sscanf(line, "cpu%u %n", &processor, &length) != 1 || processor >= CPU_SETSIZE ||
        !CPU_ISSET(processor, processors))
        return true;
    double seconds[N_FIELDS];
    const char *at = line + length;
    for (int i = 0; i < N_FIELDS; i++) {
        char *end;
        seconds[i] = (double)strtoull(at, &end, 10) / ticks_per_second;
        if (end == at)
            return false;
        at = end;
    }
    double used =
        seconds[USER] + seconds[NICE] + seconds[SYSTEM] + seconds[IRQ] + seconds[SOFT_IRQ];
    usage->used += used;
    usage->stolen += seconds[STOLEN];
    usage->all += used + seconds[STOLEN] + seconds[IDLE] + seconds[IO_WAIT];
    return true;
}

bool mt_bench_usage_now(struct mt_bench_usage *usage)
{
    *usage = (struct mt_bench_usage){0};
    struct timespec own;
    cpu_set_t processors;
    long ticks_per_second = sysconf(_SC_CLK_TCK);
    if (ticks_per_second <= 0 || sched_getaffinity(0, sizeof processors, &processors) != 0 ||
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) != 0)
        return false;
    usage->own = (double)own.tv_sec + 1e-9 * (double)own.tv_nsec;
    FILE *file = fopen("/proc/stat", "re");
    char *line = NULL;
    size_t size = 0;
    bool is_told = file != NULL;
    while (is_told && getline(&line, &size, file) > 0)
        is_told = mt_bench_usage_add(usage, line, &processors, (double)ticks_per_second);
    free(line);
    if (file)
        fclose(file);
    return is_told && usage->all > 0.0;
}

static double share(double part, double all)
{
    return all > 0.0 && part > 0.0 ? part / all : 0.0;
}

struct mt_bench_shares mt_bench_shares(const struct mt_bench_usage *before,
                                       const struct mt_bench_usage *after)
{
    double all = after->all - before->all, used = after->used - before->used,
           own = after->own - before->own;
    return (struct mt_bench_shares){
        .others = share(used - own, all),
        .host = share(after->stolen - before->stolen, all),
    };
}
