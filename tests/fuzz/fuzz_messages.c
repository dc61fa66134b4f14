/*
 * Feeds bytes to the readers of what the daemon and attentiond-database send each other: the first
 * byte is the message's kind. What they take has texts that end where they say.
 */
#include "server/data/messages.h"

#include <stdlib.h>
#include <string.h>

static void check(const struct mt_message_values *values)
{
    if (values->n > MT_DATABASE_MAX_VALUES)
        abort();
    for (size_t i = 0; i < values->n; i++)
        if (values->values[i].type != MT_VALUE_NULL &&
            strlen(values->values[i].text) != values->values[i].length)
            abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct mt_message_values values;
    struct mt_message_failure failure;
    const char *sql;
    size_t n;
    if (size == 0)
        return 0;
    struct mt_message message = {
        .kind = (enum mt_message_kind)(data[0] % MT_N_MESSAGE_KINDS),
        .bytes = malloc(size - 1),
        .length = size - 1,
    };
    memcpy(message.bytes, data + 1, size - 1);
    if (mt_message_read_run(&message, &sql, &values))
        check(&values);
    if (mt_message_read_row(&message, &values))
        check(&values);
    if (mt_message_read_failed(&message, &failure) && failure.status == MT_OK)
        abort();
    (void)mt_message_read_done(&message, &n);
    mt_message_finish(&message);
    return 0;
}
