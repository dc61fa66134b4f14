#include "server/text/codes/entities.h"

#include <stdlib.h>

/* Most characters of one segment that keep their entities. */
#define MAX_ENTITIES 32

struct entity {
    uint32_t code_point;
    struct mt_range name; /* bytes in the names */
};

/* What the source of one segment wrote as entities. */
struct entities {
    struct entity items[MAX_ENTITIES];
    size_t n;
    struct mt_text names;
};

void mt_entities_finish(void *own)
{
    struct entities *entities = own;
    mt_text_finish(&entities->names);
    free(entities);
}

static const struct entity *find_entity(const struct entities *entities, uint32_t code_point)
{
    for (size_t i = 0; entities && i < entities->n; i++)
        if (entities->items[i].code_point == code_point)
            return &entities->items[i];
    return NULL;
}

enum mt_status mt_entities_remember(struct mt_coded_segment *segment, uint32_t code_point,
                                    const char *name, size_t length, struct mt_error *err)
{
    struct entities *entities = segment->own;
    if (find_entity(entities, code_point))
        return MT_OK;
    if (!entities)
        segment->own = entities = calloc(1, sizeof *entities);
    if (!entities)
        return mt_fail_memory(err, sizeof *entities, "entities");
    if (entities->n == MAX_ENTITIES)
        return MT_OK;
    size_t begin = entities->names.length;
    mt_text_append(&entities->names, name, length);
    entities->items[entities->n++] = (struct entity){code_point, {begin, entities->names.length}};
    return mt_text_check(&entities->names, "entities", err);
}

void mt_entities_write(const struct mt_coded_segment *segment, const char *bytes, size_t length,
                       struct mt_text *out)
{
    const struct entities *entities = segment->own;
    for (size_t at = 0, n; at < length; at += n) {
        n = mt_char_length(bytes + at);
        const struct entity *entity = find_entity(entities, mt_utf8_decode(bytes + at));
        if (entity)
            mt_text_append(out, entities->names.bytes + entity->name.begin,
                           entity->name.end - entity->name.begin);
        else
            mt_text_append_markup(out, bytes + at, n);
    }
}
