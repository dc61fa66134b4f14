#include "server/models/model_card.h"

#include "base/yaml_reader.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Most bytes of a card that are read. Its front matter is short, and at the beginning. */
#define MAX_CARD_BYTES 16384

/* Takes the first licence that is found. */
static enum mt_status take_licence(void *context, const struct mt_yaml_value *value,
                                   struct mt_error *err)
{
    char *out = context;
    (void)err;
    bool is_licence = strcmp(value->key, "license") == 0 || strcmp(value->key, "licence") == 0;
    if (is_licence && out[0] == '\0' && value->length < MT_LICENCE_BYTES)
        memcpy(out, value->value, value->length + 1);
    return MT_OK;
}

bool mt_model_card_find_licence(const char *card, char out[MT_LICENCE_BYTES])
{
    static const char mark[] = "---";
    out[0] = '\0';
    const char *begin = strchr(card, '\n');
    if (strncmp(card, mark, strlen(mark)) != 0 || !begin)
        return false;
    const char *end = strstr(begin, "\n---");
    size_t length = end ? (size_t)(end + 1 - begin) : strlen(begin);
    /* If a card is malformed YAML from some line on, then what came before it counts. */
    (void)!mt_yaml_read(begin, length, "a model card", take_licence, out, NULL);
    return out[0] != '\0';
}

bool mt_model_card_licence(const char *directory, char out[MT_LICENCE_BYTES])
{
    char path[PATH_MAX], card[MAX_CARD_BYTES + 1];
    out[0] = '\0';
    int length = snprintf(path, sizeof path, "%s/README.md", directory);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    /* O_NONBLOCK, because the name may belong to a pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, card, MAX_CARD_BYTES);
    close(fd);
    if (n <= 0)
        return false;
    card[n] = '\0';
    return mt_model_card_find_licence(card, out);
}
