#include "model/kernels/kernels.h"

#include "model/kernels/cpu.h"
#include "model/kernels/reference.h"

#include <pthread.h>
#include <string.h>

/* Best first, for this CPU; written once. */
static struct {
    const struct mt_kernels *tables[5];
    size_t n;
} available;

static void add(bool is_supported, const struct mt_kernels *table)
{
    if (is_supported)
        available.tables[available.n++] = table;
}

static void detect(void)
{
#if defined(__x86_64__)
    struct mt_cpu cpu = mt_cpu_detect();
    add(cpu.has_amx_int8, &mt_kernels_amx);
    add(cpu.has_avx512vnni, &mt_kernels_avx512vnni);
    add(cpu.has_avxvnni, &mt_kernels_avxvnni);
    add(cpu.has_avx2, &mt_kernels_avx2);
#endif
    add(true, &mt_kernels_reference);
}

const struct mt_kernels *const *mt_kernels_available(size_t *n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, detect);
    *n = available.n;
    return available.tables;
}

enum mt_status mt_kernels_find(const char *name, const struct mt_kernels **out,
                               struct mt_error *err)
{
    static const char *const known[] = {"amx", "avx512vnni", "avxvnni", "avx2", "c"};
    size_t n;
    const struct mt_kernels *const *tables = mt_kernels_available(&n);
    if (strcmp(name, "auto") == 0) {
        *out = tables[0];
        return MT_OK;
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, tables[i]->name) == 0) {
            *out = tables[i];
            return MT_OK;
        }
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i]) == 0)
            return mt_fail(err, MT_UNSUPPORTED,
                           "kernels \"%s\": this CPU lacks them; best here: \"%s\"", name,
                           tables[0]->name);
    }
    return mt_fail(err, MT_INVALID,
                   "kernels \"%s\": expected \"auto\", \"amx\", \"avx512vnni\", "
                   "\"avxvnni\", \"avx2\" or \"c\"",
                   name);
}
