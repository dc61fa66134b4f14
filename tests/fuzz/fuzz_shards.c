/* Feeds bytes to the reader of shards' indexes. Names that it gives stay in the directory. */
#include "weights/shards.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    if (!path[0]) {
        snprintf(path, sizeof path, "/tmp/fuzz-shards-%d.json", getpid());
    }
    struct mt_shard_list list = {0};
    struct mt_error err = {0};
    FILE *file = fopen(path, "w");
    assert(file && fwrite(data, 1, size, file) == size);
    fclose(file);
    if (mt_shards_list(path, &list, &err))
        assert(err.message[0]);
    for (size_t i = 0; i < list.n; i++) {
        assert(list.names[i][0] && list.names[i][0] != '.' && !strchr(list.names[i], '/'));
        assert(strlen(list.names[i]) <= MT_SHARDS_MAX_NAME_BYTES);
    }
    mt_shard_list_finish(&list);
    unlink(path);
    return 0;
}
