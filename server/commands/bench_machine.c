#include "server/commands/bench_machine.h"

#include "base/clock.h"
#include "base/size.h"
#include "model/kernels/kernels.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Each figure is the best of several rounds, because disturbances only make a round slower. */
#define ROUNDS 7
#define ROUND_SECONDS 0.02

double mt_bench_now(void)
{
    return 1e-9 * (double)mt_now_ns();
}

struct stream {
    const struct mt_kernels *kernels;
    const uint8_t *bytes;
    size_t n_bytes, n_passes;
    uint64_t sums[MT_TEAM_MAX_THREADS * 8]; /* one in each cache line */
};

static void stream_member(void *context, size_t member, size_t n_members)
{
    struct stream *s = context;
    size_t begin, end;
    mt_team_share(s->n_bytes, MT_STREAM_BYTES, member, n_members, &begin, &end);
    for (size_t pass = 0; pass < s->n_passes; pass++)
        s->sums[member * 8] += s->kernels->stream(s->bytes + begin, end - begin);
}

enum mt_status mt_bench_stream(struct mt_team *team, const struct mt_kernels *kernels,
                               size_t n_bytes, double *bytes_per_second, struct mt_error *err)
{
    n_bytes = mt_size_round_up(n_bytes, MT_STREAM_BYTES);
    uint8_t *bytes =
        mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return mt_fail_memory(err, n_bytes, "bandwidth measurement");
    memset(bytes, 1, n_bytes);
    struct stream *s = calloc(1, sizeof *s);
    if (!s) {
        munmap(bytes, n_bytes);
        return mt_fail_memory(err, sizeof *s, "bandwidth measurement");
    }
    s->kernels = kernels;
    s->bytes = bytes;
    s->n_bytes = n_bytes;
    s->n_passes = 1;
    double best = 0.0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = mt_bench_now();
        mt_team_run(team, stream_member, s);
        double seconds = mt_bench_now() - start;
        double rate = (double)n_bytes * (double)s->n_passes / seconds;
        best = rate > best ? rate : best;
        if (seconds < ROUND_SECONDS)
            s->n_passes = (size_t)((double)s->n_passes * ROUND_SECONDS / (seconds + 1e-9)) + 1;
    }
    *bytes_per_second = best;
    free(s);
    munmap(bytes, n_bytes);
    return MT_OK;
}

struct peak {
    uint64_t (*loop)(size_t n);
    size_t n;
    uint64_t done[MT_TEAM_MAX_THREADS * 8];
};

static void peak_member(void *context, size_t member, size_t n_members)
{
    (void)n_members;
    struct peak *p = context;
    p->done[member * 8] = p->loop(p->n);
}

static double measure_peak(struct mt_team *team, uint64_t (*loop)(size_t n))
{
    if (!loop)
        return 0.0;
    struct peak p = {.loop = loop, .n = 1000000};
    double best = 0.0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = mt_bench_now();
        mt_team_run(team, peak_member, &p);
        double seconds = mt_bench_now() - start, done = 0.0;
        for (size_t i = 0; i < mt_team_size(team); i++)
            done += (double)p.done[i * 8];
        best = done / seconds > best ? done / seconds : best;
    }
    return best;
}

double mt_bench_int8_peak(struct mt_team *team, const struct mt_kernels *kernels)
{
    return measure_peak(team, kernels->int8_peak);
}

double mt_bench_fp32_peak(struct mt_team *team, const struct mt_kernels *kernels)
{
    return measure_peak(team, kernels->fp32_peak);
}

void mt_bench_resident(size_t *own, size_t *mapped)
{
    char line[256];
    *own = *mapped = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file)) {
        size_t kilobytes;
        if (sscanf(line, "RssAnon: %zu", &kilobytes) == 1)
            *own = kilobytes * 1024;
        else if (sscanf(line, "RssFile: %zu", &kilobytes) == 1)
            *mapped = kilobytes * 1024;
    }
    if (file)
        fclose(file);
}
