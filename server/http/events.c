#include "server/http/events.h"

void mt_event_begin(struct mt_text *out, const char *name)
{
    if (name)
        mt_text_appendf(out, "event: %s\n", name);
    mt_text_append_string(out, "data: ");
}

void mt_event_end(struct mt_text *out)
{
    mt_text_append_string(out, "\n\n");
}

void mt_event_comment(struct mt_text *out)
{
    mt_text_append_string(out, ":\n\n");
}
