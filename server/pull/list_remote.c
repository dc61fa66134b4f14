#include "server/pull/list_remote.h"

#include "base/json.h"
#include "base/size.h"

#include <string.h>

#define MAX_COLUMN 48

/* Appends a licence or version as the registry writes it. */
static void append_word(struct mt_text *out, const char *before, const char *word)
{
    mt_text_append_string(out, before);
    mt_text_append_printable(out, word, strlen(word));
}

void mt_offers_append_table(const struct mt_offers *offers, struct mt_text *out)
{
    size_t width = 0;
    for (size_t i = 0; i < offers->n; i++)
        width = mt_size_max(width, strlen(offers->list[i].pull));
    width = mt_size_min(width, MAX_COLUMN);
    for (size_t i = 0; i < offers->n; i++) {
        const struct mt_offer *offer = &offers->list[i];
        if (i == 0 || offers->list[i - 1].registry != offer->registry)
            mt_text_appendf(out, "%s%s\n", i > 0 ? "\n" : "", mt_registry_title(offer->registry));
        mt_text_appendf(out, "  %-*s  ", (int)width, offer->pull);
        append_word(out, "", offer->source);
        append_word(out, " to ", offer->target);
        if (*offer->version)
            append_word(out, ", version ", offer->version);
        if (*offer->licence)
            append_word(out, ", ", offer->licence);
        mt_text_append_string(out, "\n");
    }
}

static void append_member(struct mt_json_writer *writer, const char *key, const char *value)
{
    mt_json_key(writer, key);
    if (*value)
        mt_json_string_z(writer, value);
    else
        mt_json_null(writer);
}

void mt_offers_append_json(const struct mt_offers *offers, struct mt_text *out)
{
    struct mt_text json = {0};
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &json);
    mt_json_begin_array(&writer);
    for (size_t i = 0; i < offers->n; i++) {
        const struct mt_offer *offer = &offers->list[i];
        mt_json_begin_object(&writer);
        append_member(&writer, "pull", offer->pull);
        append_member(&writer, "registry", mt_registry_word(offer->registry));
        append_member(&writer, "source", offer->source);
        append_member(&writer, "target", offer->target);
        append_member(&writer, "version", offer->version);
        append_member(&writer, "licence", offer->licence);
        mt_json_end_object(&writer);
    }
    mt_json_end_array(&writer);
    mt_text_append_printable_json(out, json.bytes ? json.bytes : "", json.length);
    mt_text_append_string(out, "\n");
    if (json.status)
        out->status = json.status;
    mt_text_finish(&json);
}
