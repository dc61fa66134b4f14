#include "server/model_card.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The front matter of a card is at its beginning, and short. */
#define MAX_CARD_BYTES 16384

static const char blanks[] = " \t\r\"'";

/* The value that begins at text, without quotes and comment; false where there is none. */
static bool take_value(const char *text, char out[MT_LICENCE_BYTES])
{
    text += strspn(text, blanks);
    size_t length = strcspn(text, "\n#,]");
    while (length > 0 && strchr(blanks, text[length - 1]) != NULL)
        length--;
    if (length == 0 || length >= MT_LICENCE_BYTES)
        return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* "license: mit", "license: [mit, other]", or a list in the lines that follow:
 *   license:
 *     - mit
 */
static bool take_field(const char *text, char out[MT_LICENCE_BYTES])
{
    text += strspn(text, blanks);
    if (*text == '[')
        return take_value(text + 1, out);
    if (*text != '\n')
        return take_value(text, out);
    text += 1 + strspn(text + 1, " \t");
    return text[0] == '-' && text[1] == ' ' && take_value(text + 2, out);
}

bool mt_model_card_find_licence(const char *card, char out[MT_LICENCE_BYTES])
{
    static const char *const names[] = {"license:", "licence:"};
    out[0] = '\0';
    if (strncmp(card, "---", 3) != 0)
        return false;
    for (const char *line = strchr(card, '\n'); line != NULL; line = strchr(line, '\n')) {
        line++;
        if (strncmp(line, "---", 3) == 0)
            return false;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0)
                return take_field(line + strlen(names[i]), out);
    }
    return false;
}

bool mt_model_card_licence(const char *directory, char out[MT_LICENCE_BYTES])
{
    char path[PATH_MAX], card[MAX_CARD_BYTES + 1];
    out[0] = '\0';
    int length = snprintf(path, sizeof path, "%s/README.md", directory);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    /* A pipe of that name must not hold us up. */
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
