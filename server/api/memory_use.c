#include "server/api/memory_use.h"

#include "base/json.h"
#include "base/log.h"
#include "base/size.h"
#include "server/data/database.h"
#include "server/data/memory_words.h"
#include "server/http/fields.h"
#include "server/text/codes/numbered.h"

#include <stdio.h>
#include <string.h>

/* Most similar texts that are shown for a text. */
#define MAX_SHOWN 3

static struct mt_memory_question question_of(const struct mt_memory_use *use)
{
    return (struct mt_memory_question){.owner = use->owner,
                                       .id = use->id[0] != '\0' ? use->id : NULL,
                                       .source = use->source,
                                       .target = use->target};
}

/* If the database fails, then the following texts are translated without the memory, unless the
 * request named it. */
static enum mt_status go_on(struct mt_memory_use *use, enum mt_status status, struct mt_error *err)
{
    bool is_named = use->id[0] != '\0';
    if (!status || status == MT_MEMORY || is_named)
        return status;
    mt_log(MT_LOG_DEBUG, "a text is translated without the translation memory: %s",
           err ? err->message : "");
    use->has_units = false;
    return MT_OK;
}

/* ---- matches ---- */

static void write_words(struct mt_json_writer *writer, const char *key, const char *text)
{
    struct mt_text words = {0};
    mt_text_append(&words, "", 0);
    mt_numbered_append_words(text, strlen(text), &words);
    mt_json_member_bytes(writer, key, words.bytes ? words.bytes : "", words.length);
    mt_text_finish(&words);
}

enum mt_status mt_memory_show_json(void *context, const struct mt_memory_match *match, bool is_used,
                                   struct mt_error *err)
{
    struct mt_text *out = context;
    struct mt_json_writer writer;
    if (out->length > 0)
        mt_text_append(out, ",", 1);
    mt_json_writer_init(&writer, out);
    mt_json_begin_object(&writer);
    mt_json_member_integer(&writer, "match", match->percent);
    mt_json_member(&writer, "origin", match->origin);
    write_words(&writer, "source", match->source);
    write_words(&writer, "target", match->target);
    mt_json_member_bool(&writer, "used", is_used);
    mt_json_end_object(&writer);
    return mt_text_check(out, "matches of a text", err);
}

static enum mt_status show(struct mt_memory_use *use, const struct mt_memory_match *match,
                           bool is_used, struct mt_error *err)
{
    return use->show.match ? use->show.match(use->show.context, match, is_used, err) : MT_OK;
}

struct finding {
    struct mt_memory_use *use;
    struct mt_text *out;
    bool is_found;
};

static enum mt_status take_exact(void *context, const struct mt_memory_match *match,
                                 struct mt_error *err)
{
    struct finding *finding = context;
    finding->is_found = true;
    mt_text_append(finding->out, match->target, strlen(match->target));
    return show(finding->use, match, true, err);
}

static enum mt_status take_similar(void *context, const struct mt_memory_match *match,
                                   struct mt_error *err)
{
    return show(context, match, false, err);
}

static enum mt_status find_similar(struct mt_memory_use *use, const char *text,
                                   struct mt_error *err)
{
    const struct mt_memory_question question = question_of(use);
    enum mt_status status = use->reader ? MT_OK : mt_word_reader_create(&use->reader, err);
    return status ? status
                  : mt_memories_find_similar(use->memories, &question, use->reader, text,
                                             use->least, MAX_SHOWN, take_similar, use, err);
}

static enum mt_status find(void *context, const char *text, bool is_last, struct mt_text *out,
                           struct mt_error *err)
{
    struct mt_memory_use *use = context;
    struct finding finding = {.use = use, .out = out};
    const struct mt_memory_question question = question_of(use);
    if (!use->has_units)
        return MT_OK;
    enum mt_status status = mt_memories_find(use->memories, &question, text,
                                             use->previous.length > 0 ? use->previous.bytes : "",
                                             take_exact, &finding, err);
    if (!status && !finding.is_found && is_last && use->show.match)
        status = find_similar(use, text, err);
    if (finding.is_found || is_last) {
        use->previous.length = 0;
        mt_text_append(&use->previous, text, strlen(text));
        if (!status)
            status = mt_text_check(&use->previous, "a text", err);
    }
    if (!status)
        status = mt_text_check(out, "a translation", err);
    return go_on(use, status, err);
}

/* ---- a request ---- */

enum mt_status mt_memory_use_begin(struct mt_memory_use *use, const struct mt_request *request,
                                   const struct mt_fields *fields, struct mt_error *err)
{
    const char *id = fields->translation_memory_id;
    struct mt_memories *memories = request->service->memories;
    if (!fields->memory && id[0] == '\0')
        return MT_OK;
    if (id[0] != '\0' && !memories)
        return mt_database_fail_missing("translation memories", err);
    if (strlen(id) >= sizeof use->id)
        return mt_fail(err, MT_NOT_FOUND, "there is no such translation memory");
    use->memories = memories;
    snprintf(use->id, sizeof use->id, "%s", id);
    mt_key_owner(request->access.key, use->owner);
    use->least =
        (int)mt_size_max((size_t)fields->translation_memory_threshold, MT_LEAST_SIMILARITY);
    use->recall = (struct mt_recall){.context = use, .find = find};
    return MT_OK;
}

void mt_memory_use_finish(struct mt_memory_use *use)
{
    mt_word_reader_destroy(use->reader);
    mt_text_finish(&use->previous);
}

/* Queries the memory once for a series of texts with the same pair of languages. */
static enum mt_status look(struct mt_memory_use *use, const char *source, const char *target,
                           struct mt_error *err)
{
    char from[MT_LANGUAGE_BYTES], to[MT_LANGUAGE_BYTES];
    bool is_known = source && target && mt_language_without_region(source, from) &&
                    mt_language_without_region(target, to);
    if (!is_known) {
        use->source[0] = use->target[0] = '\0';
        use->has_units = false;
        return MT_OK;
    }
    if (strcmp(from, use->source) == 0 && strcmp(to, use->target) == 0)
        return MT_OK;
    snprintf(use->source, sizeof use->source, "%s", from);
    snprintf(use->target, sizeof use->target, "%s", to);
    const struct mt_memory_question question = question_of(use);
    use->has_units = false;
    return go_on(use, mt_memories_have(use->memories, &question, &use->has_units, err), err);
}

enum mt_status mt_memory_use_text(struct mt_memory_use *use, const char *source, const char *target,
                                  const struct mt_memory_show *show, const struct mt_recall **out,
                                  struct mt_error *err)
{
    *out = NULL;
    if (!use->memories)
        return MT_OK;
    enum mt_status status = look(use, source, target, err);
    use->show = show ? *show : (struct mt_memory_show){0};
    if (!status && use->has_units)
        *out = &use->recall;
    return status;
}

void mt_memory_use_write(struct mt_json_writer *writer, const struct mt_text *shown)
{
    mt_json_begin_array(writer);
    if (shown->length > 0)
        mt_json_raw(writer, shown->bytes, shown->length);
    mt_json_end_array(writer);
}
