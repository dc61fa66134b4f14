#include "server/http/traceparent.h"

#include <stdio.h>
#include <string.h>

#define HEX "0123456789abcdef"

/* Where each part begins; a '-' stands before all but the first. */
enum { VERSION = 0, TRACE_ID = 3, PARENT_ID = 36, FLAGS = 53, LENGTH = 55 };

static bool is_hex(const char *value, size_t n)
{
    return strspn(value, HEX) >= n;
}

static bool is_id(const char *value, size_t n)
{
    return is_hex(value, n) && strspn(value, "0") < n;
}

bool mt_traceparent_parse(const char *value, struct mt_traceparent *out)
{
    *out = (struct mt_traceparent){.value = ""};
    if (strnlen(value, LENGTH) < LENGTH || !is_hex(value, 2) || strncmp(value, "ff", 2) == 0)
        return false;
    bool has_dashes =
        value[TRACE_ID - 1] == '-' && value[PARENT_ID - 1] == '-' && value[FLAGS - 1] == '-';
    bool is_first = strncmp(value, "00", 2) == 0;
    bool ends_well = value[LENGTH] == '\0' || (!is_first && value[LENGTH] == '-');
    if (!has_dashes || !ends_well || !is_id(value + TRACE_ID, MT_TRACE_ID_BYTES) ||
        !is_id(value + PARENT_ID, MT_PARENT_ID_BYTES) || !is_hex(value + FLAGS, 2))
        return false;
    memcpy(out->trace_id, value + TRACE_ID, MT_TRACE_ID_BYTES);
    memcpy(out->parent_id, value + PARENT_ID, MT_PARENT_ID_BYTES);
    /* "sampled" is the lowest bit of the last digit. */
    bool is_sampled = strchr("13579bdf", value[FLAGS + 1]) != NULL;
    if (is_first)
        memcpy(out->value, value, LENGTH);
    else
        snprintf(out->value, sizeof out->value, "00-%s-%s-%s", out->trace_id, out->parent_id,
                 is_sampled ? "01" : "00");
    return true;
}
