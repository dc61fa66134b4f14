#include "model/kernels/kernels.h"

#include "model/kernels/cpu.h"
#include "model/kernels/reference.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* All tables for any CPU, best first. */
static const char *const known[] = {"amx",  "avx512vnni", "avxvnni", "avx2",     "sse41",
                                    "i8mm", "dotprod",    "neon",    "openblas", "c"};
#define N_KNOWN (sizeof known / sizeof *known)

/* The tables for this CPU, best first; written only once. */
static struct {
    const struct mt_kernels *tables[N_KNOWN];
    size_t n;
} available;

static bool is_known(const char *name)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (strcmp(name, known[i]) == 0)
            return true;
    return false;
}

static void add(bool is_supported, const struct mt_kernels *table)
{
    assert(is_known(table->name));
    if (is_supported)
        available.tables[available.n++] = table;
}

/* Writes "auto", "avx2" or "c". */
struct list {
    char names[192];
    size_t length;
};

static void append(struct list *list, const char *name, bool is_last)
{
    const char *between = !list->length ? "" : is_last ? " or " : ", ";
    list->length += (size_t)snprintf(list->names + list->length, sizeof list->names - list->length,
                                     "%s\"%s\"", between, name);
    assert(list->length < sizeof list->names);
}

static enum mt_status fail_unknown(const char *name, struct mt_error *err)
{
    struct list list = {0};
    append(&list, "auto", false);
    for (size_t i = 0; i < N_KNOWN; i++)
        append(&list, known[i], i + 1 == N_KNOWN);
    return mt_fail(err, MT_INVALID, "kernels \"%s\": expected %s", name, list.names);
}

static enum mt_status fail_lacking(const char *name, struct mt_error *err)
{
    struct list list = {0};
    for (size_t i = 0; i < available.n; i++)
        append(&list, available.tables[i]->name, i + 1 == available.n);
    const char *who = strcmp(name, "openblas") == 0
                          ? "this program was built without OpenBLAS; on this CPU"
                          : "this CPU lacks them;";
    return mt_fail(err, MT_UNSUPPORTED, "kernels \"%s\": %s it has %s", name, who, list.names);
}

static void detect(void)
{
#if defined(__x86_64__)
    struct mt_cpu cpu = mt_cpu_detect();
    add(cpu.has_amx_int8, &mt_kernels_amx);
    add(cpu.has_avx512vnni, &mt_kernels_avx512vnni);
    add(cpu.has_avxvnni, &mt_kernels_avxvnni);
    add(cpu.has_avx2, &mt_kernels_avx2);
    add(cpu.has_sse41, &mt_kernels_sse41);
#elif defined(__aarch64__)
    struct mt_cpu cpu = mt_cpu_detect();
    add(cpu.has_i8mm, &mt_kernels_i8mm);
    add(cpu.has_dotprod, &mt_kernels_dotprod);
    add(cpu.has_neon, &mt_kernels_neon);
#endif
#if defined(MT_HAS_OPENBLAS)
    add(true, mt_kernels_openblas(available.n ? available.tables[0] : &mt_kernels_reference));
#endif
    add(true, &mt_kernels_reference);
}

void mt_kernels_end_foreign_threads(void)
{
#if defined(MT_HAS_OPENBLAS)
    mt_openblas_stay_alone();
#endif
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
    return is_known(name) ? fail_lacking(name, err) : fail_unknown(name, err);
}
