/* Feeds bytes to the reader of shards' indexes. Names that it gives stay in the directory. */
#include "weights/shards.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mt_shard_list list = {0};
    struct mt_error err = {0};
    if (mt_shards_list_memory((const char *)data, size, "fuzz", &list, &err))
        assert(err.message[0]);
    for (size_t i = 0; i < list.n; i++) {
        assert(list.names[i][0] && list.names[i][0] != '.' && !strchr(list.names[i], '/'));
        assert(strlen(list.names[i]) <= MT_SHARDS_MAX_NAME_BYTES);
    }
    mt_shard_list_finish(&list);
    return 0;
}
