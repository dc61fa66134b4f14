#include "model/kernels/kernels.h"

#include "model/kernels/reference.h"

#include <string.h>

/* Best first. What the CPU lacks is left out at run time. */
const struct mt_kernels *const *mt_kernels_available(size_t *n)
{
    static const struct mt_kernels *const tables[] = {&mt_kernels_reference};
    *n = sizeof tables / sizeof *tables;
    return tables;
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
    return mt_fail(err, MT_INVALID, "kernels \"%s\": expected \"auto\" or one that this CPU has",
                   name);
}
