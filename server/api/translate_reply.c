#include "server/api/translate_api.h"

#include "server/api/translate_state.h"

#include <string.h>

bool mt_translate_is_pivoted(const struct mt_translate_state *state)
{
    for (size_t i = 0; i < state->n_texts; i++)
        if (state->texts[i].pair.route.n > 1)
            return true;
    return false;
}

typedef void write_one(struct mt_json_writer *writer, const struct mt_translate_text *text);

/* Writes one member of the reply: an array with a value for each text where q was one, otherwise a
 * single value. */
static void write_member(struct mt_json_writer *writer, const struct mt_translate_state *state,
                         const char *key, write_one *write)
{
    mt_json_key(writer, key);
    if (state->is_array)
        mt_json_begin_array(writer);
    for (size_t i = 0; i < state->n_texts; i++)
        write(writer, &state->texts[i]);
    if (state->is_array)
        mt_json_end_array(writer);
}

static void write_alignment(struct mt_json_writer *writer, const struct mt_translate_text *text)
{
    mt_outcome_write_alignment(writer, &text->outcome);
}

static void write_alternatives(struct mt_json_writer *writer, const struct mt_translate_text *text)
{
    mt_outcome_write_alternatives(writer, &text->outcome);
}

static void write_detected(struct mt_json_writer *writer, const struct mt_translate_text *text)
{
    mt_detection_write(writer, &text->detected);
}

static void write_memory(struct mt_json_writer *writer, const struct mt_translate_text *text)
{
    mt_memory_use_write(writer, &text->memory);
}

static void write_models(struct mt_json_writer *writer, const struct mt_translate_text *text)
{
    mt_model_route_write_models(writer, &text->pair.route);
}

static void write_scores(struct mt_json_writer *writer, const struct mt_translate_text *text)
{
    mt_outcome_write_scores(writer, &text->outcome);
}

static void write_sentences(struct mt_json_writer *writer, const struct mt_translate_text *text)
{
    mt_outcome_write_sentences(writer, &text->outcome);
}

static void write_best(struct mt_json_writer *writer, const struct mt_translate_text *text)
{
    mt_outcome_write_best(writer, &text->outcome);
}

static void write_via(struct mt_json_writer *writer, const struct mt_translate_text *text)
{
    mt_model_route_write_via(writer, &text->pair.route);
}

static void write_usage(struct mt_json_writer *writer, const struct mt_translate_state *state)
{
    size_t n_source = 0, n_target = 0;
    for (size_t i = 0; i < state->n_texts; i++) {
        n_source += state->texts[i].outcome.n_source_tokens;
        n_target += state->texts[i].outcome.n_target_tokens;
    }
    mt_json_member_object(writer, "usage");
    mt_json_member_count(writer, "source_tokens", n_source);
    mt_json_member_count(writer, "target_tokens", n_target);
    mt_json_end_object(writer);
}

/* Writes all placeholders of all texts that were lost. */
static void write_lost(struct mt_json_writer *writer, struct mt_translate_state *state)
{
    if (state->lost.length == 0)
        return;
    mt_json_end_array(&state->lost_writer);
    mt_json_key(writer, "placeholders_lost");
    mt_json_raw(writer, state->lost.bytes, state->lost.length);
}

/* Keys are in alphabetical order, as in LibreTranslate's replies. */
enum mt_status mt_translate_finish(struct mt_request *request, struct mt_error *err)
{
    struct mt_translate_state *state = request->state;
    const struct mt_translate_params *params = &state->params;
    bool has_pivot = mt_translate_is_pivoted(state);
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    if (params->fields.alignment)
        write_member(&writer, state, "alignment", write_alignment);
    if (params->n_alternatives > 0)
        write_member(&writer, state, "alternatives", write_alternatives);
    if (state->is_auto)
        write_member(&writer, state, "detectedLanguage", write_detected);
    if (params->fields.memory || params->fields.translation_memory_id[0] != '\0')
        write_member(&writer, state, "memory", write_memory);
    if (has_pivot)
        write_member(&writer, state, "models", write_models);
    write_lost(&writer, state);
    if (params->fields.return_scores)
        write_member(&writer, state, "scores", write_scores);
    if (params->fields.return_sentences)
        write_member(&writer, state, "sentences", write_sentences);
    if (params->glossary.terms) {
        mt_json_key(&writer, "terms");
        mt_glossary_write(&params->glossary, &writer);
    }
    write_member(&writer, state, "translatedText", write_best);
    if (params->fields.return_usage)
        write_usage(&writer, state);
    if (has_pivot)
        write_member(&writer, state, "via", write_via);
    mt_warnings_write(&state->warnings, &writer);
    mt_json_end_object(&writer);
    enum mt_status status = mt_text_check(&state->lost, "the reply", err);
    if (!status)
        status = mt_text_check(&state->warnings.list, "the reply", err);
    return status ? status : mt_text_check(&request->reply.body, "the reply", err);
}

size_t mt_translate_n_texts(const struct mt_request *request)
{
    const struct mt_translate_state *state = request->state;
    return state->n_texts;
}

enum mt_status mt_translate_write_warnings(const struct mt_request *request,
                                           struct mt_json_writer *writer, struct mt_error *err)
{
    struct mt_translate_state *state = request->state;
    mt_warnings_write(&state->warnings, writer);
    return mt_text_check(&state->warnings.list, "the reply", err);
}

enum mt_status mt_translate_take(const struct mt_request *request, size_t index,
                                 struct mt_translated *out, struct mt_text *translation,
                                 struct mt_error *err)
{
    const struct mt_translate_state *state = request->state;
    const struct mt_translate_text *text = &state->texts[index];
    const struct mt_text *best = &text->outcome.translations[0];
    *out = (struct mt_translated){
        .source_lang = state->is_auto ? text->detected.language : text->pair.source,
        .n_chars = mt_utf8_count(text->bytes, text->length),
    };
    mt_text_append(translation, best->bytes ? best->bytes : "", best->length);
    return mt_text_check(translation, "a translation", err);
}
