#include "server/text/html/link_list.h"

#include <string.h>

bool mt_link_list_add(struct mt_link_list *list, struct mt_range link, bool is_behind_words)
{
    if (is_behind_words)
        list->n = 0;
    if (list->n == MT_MANY_LINKS)
        memmove(list->links, list->links + 1, --list->n * sizeof *list->links);
    list->links[list->n++] = link;
    return list->n == MT_MANY_LINKS;
}
