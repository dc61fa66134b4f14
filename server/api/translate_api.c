#include "server/api/translate_api.h"

#include "config/settings.h"
#include "server/passages/alignment_trace.h"
#include "server/api/detect_api.h"
#include "server/http/events.h"
#include "server/api/languages_api.h"
#include "server/api/outcome.h"
#include "server/passages/passage.h"
#include "server/models/served_model.h"
#include "server/api/translate_state.h"
#include "server/api/warnings.h"
#include "server/text/quality_check.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cjson/cJSON.h>

/* ---- reading the request ---- */

static enum mt_status missing(const char *name, struct mt_error *err)
{
    return mt_fail(err, MT_INVALID, "Invalid request: missing %s parameter", name);
}

static enum mt_status check_text(const struct cJSON *value, struct mt_error *err)
{
    return cJSON_IsString(value)
               ? MT_OK
               : mt_fail(err, MT_INVALID,
                         "Invalid request: q must be a string or an array of strings");
}

static enum mt_status check_texts(struct mt_translate_state *state,
                                  const struct mt_request *request, struct mt_error *err)
{
    const struct cJSON *q = mt_params_get(&request->params, "q");
    state->is_array = cJSON_IsArray(q);
    state->q = state->is_array ? q->child : q;
    state->n_given = state->is_array ? (size_t)cJSON_GetArraySize(q) : 1;
    if (!state->q || (cJSON_IsString(q) && q->valuestring[0] == '\0'))
        return missing("q", err);
    enum mt_status status = MT_OK;
    for (const struct cJSON *item = state->q; item && !status;
         item = state->is_array ? item->next : NULL)
        status = check_text(item, err);
    return status;
}

static enum mt_status too_large(enum mt_dialect dialect, size_t size, int64_t limit,
                                struct mt_error *err)
{
    return mt_fail(err, dialect == MT_DEEPL ? MT_LIMIT : MT_INVALID,
                   "Invalid request: request (%zu) exceeds text limit (%lld)", size,
                   (long long)limit);
}

/* If there are more texts than allowed, then none is copied, because a text takes more memory here
 * than in the body. */
static enum mt_status take_texts(struct mt_translate_state *state, const struct mt_request *request,
                                 struct mt_error *err)
{
    const struct mt_limits *limits = &request->access.limits;
    enum mt_dialect dialect = request->reply.dialect;
    if (state->n_given > (size_t)limits->max_batch_texts)
        return too_large(dialect, state->n_given, limits->max_batch_texts, err);
    state->texts = calloc(state->n_given, sizeof state->texts[0]);
    if (!state->texts)
        return mt_fail_memory(err, state->n_given * sizeof state->texts[0], "texts");
    for (const struct cJSON *item = state->q; state->n_texts < state->n_given; item = item->next) {
        const char *bytes = item->valuestring;
        struct mt_translate_text *text = &state->texts[state->n_texts++];
        *text = (struct mt_translate_text){.bytes = bytes, .length = strlen(bytes)};
        size_t n_chars = mt_utf8_count(text->bytes, text->length);
        if (n_chars > (size_t)limits->max_text_chars)
            return too_large(dialect, n_chars, limits->max_text_chars, err);
    }
    return MT_OK;
}

/* Checks the languages of a request with one for each text, in JSON. "auto" is possible only for
 * all of them together. */
static enum mt_status check_codes(const struct mt_translate_state *state, const struct cJSON *codes,
                                  const char *name, struct mt_error *err)
{
    size_t n = (size_t)cJSON_GetArraySize(codes);
    if (!state->is_array || n != state->n_given)
        return mt_fail(err, MT_INVALID,
                       "%s: expected one code, or as many as q has texts (%zu), "
                       "found an array of %zu",
                       name, state->n_given, n);
    for (const struct cJSON *code = codes->child; code; code = code->next)
        if (!cJSON_IsString(code) || !*code->valuestring ||
            strcasecmp(code->valuestring, "auto") == 0)
            return mt_fail(err, MT_INVALID, "%s: expected an array of codes of languages", name);
    return MT_OK;
}

/* Reads one code into *out, or an array into *codes. Both may be missing where the request names a
 * model with only one language on that side. */
static enum mt_status read_code(const struct mt_translate_state *state,
                                const struct mt_params *params, const char *name, const char **out,
                                const struct cJSON **codes, struct mt_error *err)
{
    const struct cJSON *value = mt_params_get(params, name);
    *out = "";
    if (cJSON_IsArray(value)) {
        *codes = value->child;
        return check_codes(state, value, name, err);
    }
    enum mt_status status = mt_params_string(params, name, out, NULL, err);
    if (!status && (*out)[0] == '\0' && !state->only)
        return missing(name, err);
    return status;
}

static enum mt_status read_pair(const struct mt_translate_state *state,
                                const struct mt_request *request, const char *source,
                                const char *target, struct mt_language_pair *out,
                                struct mt_error *err)
{
    const struct mt_service *service = request->service;
    if (state->is_auto)
        return mt_languages_check_target(service, state->only, target, out, err);
    return mt_languages_check(service, state->only, source, target, out, err);
}

static enum mt_status read_languages(struct mt_translate_state *state,
                                     const struct mt_request *request, const char *source,
                                     const char *target, struct mt_error *err)
{
    const struct cJSON *next_source = state->sources, *next_target = state->targets;
    bool is_one_pair = !next_source && !next_target;
    enum mt_status status = MT_OK;
    state->is_auto = strcasecmp(source, "auto") == 0;
    for (size_t i = 0; i < state->n_texts && !status; i++) {
        struct mt_translate_text *text = &state->texts[i];
        if (i > 0 && is_one_pair) {
            text->pair = state->texts[0].pair;
            continue;
        }
        status = read_pair(state, request, next_source ? next_source->valuestring : source,
                           next_target ? next_target->valuestring : target, &text->pair, err);
        next_source = next_source ? next_source->next : NULL;
        next_target = next_target ? next_target->next : NULL;
    }
    return status;
}

/* Reads the fields in the order in which LibreTranslate reports their errors. */
static enum mt_status read_request(struct mt_translate_state *state, struct mt_request *request,
                                   struct mt_error *err)
{
    const char *source, *target;
    enum mt_status status = check_texts(state, request, err);
    if (!status)
        status = mt_languages_read_model(request, &state->only, err);
    if (!status)
        status = read_code(state, &request->params, "source", &source, &state->sources, err);
    if (!status)
        status = read_code(state, &request->params, "target", &target, &state->targets, err);
    if (!status)
        status = mt_translate_params_read_beam(&state->params, request, err);
    if (!status)
        status = take_texts(state, request, err);
    if (!status)
        status = read_languages(state, request, source, target, err);
    if (!status)
        status = mt_translate_params_read(&state->params, request, state->is_array, err);
    request->is_streamed = state->params.fields.stream;
    return status;
}

/* ---- the way of each text ---- */

/* Detects the language of each text. If page, the language of the texts around these, is not NULL,
 * then only the uncertain ones are detected again. */
static enum mt_status detect_each(struct mt_translate_state *state,
                                  const struct mt_request *request, const char *page,
                                  struct mt_error *err)
{
    struct mt_detect_languages languages = {.n = 0};
    bool is_known = false;
    for (size_t i = 0; i < state->n_texts; i++) {
        struct mt_translate_text *text = &state->texts[i];
        if (i == 0 || state->targets) {
            mt_languages_to_detect(request->service, state->only, text->pair.target, &languages);
            is_known = page && languages.has_usual && strcmp(languages.codes[0], page) == 0;
            if (page)
                mt_detect_prefer(&languages, languages.n, page);
        }
        if (is_known || (page && text->detected.is_certain))
            continue;
        enum mt_status status = mt_detect(text->bytes, text->length, state->params.has_tags,
                                          &languages, &text->detected, err);
        if (status)
            return status;
    }
    return MT_OK;
}

/* The texts of a request often belong to one page: those whose language is uncertain are taken to
 * be in the page's. */
static enum mt_status detect(struct mt_translate_state *state, const struct mt_request *request,
                             struct mt_error *err)
{
    struct mt_detect_page page = {.n_bytes = 0};
    enum mt_status status = detect_each(state, request, NULL, err);
    for (size_t i = 0; i < state->n_texts && !status; i++)
        mt_detect_page_add(&page, &state->texts[i].detected, state->texts[i].length);
    if (page.language[0] != '\0' && state->n_texts > 1)
        status = detect_each(state, request, page.language, err);
    for (size_t i = 0; i < state->n_texts && !status; i++) {
        mt_detection_decide(&state->texts[i].detected);
        state->has_served = state->has_served || state->texts[i].detected.is_served;
    }
    return status;
}

/* A text in a language that no model takes does not cause other texts to be refused. It is
 * translated as if it were in the first language, and detectedLanguage has its real one. */
static enum mt_status resolve_source(const struct mt_translate_state *state,
                                     const struct mt_request *request,
                                     const struct mt_translate_text *text,
                                     struct mt_language_pair *pair, struct mt_error *err)
{
    struct mt_detection from = text->detected;
    if (!from.is_served && state->has_served) {
        from.is_certain = false;
        mt_detection_decide(&from);
    }
    return mt_languages_set_source(request->service, state->only, &from, pair, err);
}

/* An alignment is possible only with one model, which reports it for its own translation. */
static enum mt_status check_pivot(const struct mt_translate_state *state,
                                  const struct mt_translate_text *text, struct mt_error *err)
{
    if (text->pair.route.n == 1 || !state->params.fields.alignment)
        return MT_OK;
    return mt_fail(err, MT_INVALID,
                   "alignment is for a direct translation, but there is none from %s to %s",
                   text->pair.route.steps[0].source->code, text->pair.target);
}

static enum mt_status find_way(struct mt_translate_state *state, const struct mt_request *request,
                               struct mt_translate_text *text, struct mt_error *err)
{
    enum mt_status status =
        state->is_auto ? resolve_source(state, request, text, &text->pair, err) : MT_OK;
    if (status)
        return status;
    text->has_ended = text->pair.is_identity;
    if (text->has_ended)
        return mt_outcome_keep(&text->outcome, text->bytes, text->length, err);
    return check_pivot(state, text, err);
}

static enum mt_status find_ways(struct mt_translate_state *state, const struct mt_request *request,
                                struct mt_error *err)
{
    enum mt_status status = state->is_auto ? detect(state, request, err) : MT_OK;
    for (size_t i = 0; i < state->n_texts && !status; i++)
        status = find_way(state, request, &state->texts[i], err);
    return status;
}

static enum mt_status prepare(struct mt_request *request, struct mt_error *err)
{
    struct mt_translate_state *state = calloc(1, sizeof *state);
    if (!state)
        return mt_fail_memory(err, sizeof *state, "a request");
    request->state = state;
    const struct mt_settings *settings = request->service->settings;
    const struct mt_quality_options checks = mt_quality_options_of(settings);
    mt_json_writer_init(&state->lost_writer, &state->lost);
    mt_warnings_init(&state->warnings, &checks, request->service->metrics);
    enum mt_status status = read_request(state, request, err);
    if (!status)
        status = mt_memory_use_begin(&state->memory, request, &state->params.fields, err);
    if (!status)
        status = find_ways(state, request, err);
    if (!status && state->n_texts > 0)
        status = mt_glossary_add_stored(
            &state->params.glossary, request, state->params.fields.glossary_id,
            state->is_auto || state->sources || state->targets ? NULL : state->texts[0].pair.source,
            state->texts[0].pair.target, err);
    if (!status && mt_translate_is_pivoted(state))
        status = mt_glossary_pass_on(&state->params.glossary, &state->passed_on, err);
    return status;
}

/* ---- rounds ---- */

static bool is_at_last_step(const struct mt_translate_text *text)
{
    return text->n_steps + 1 == text->pair.route.n;
}

static bool is_of_round(const struct mt_translate_round *round,
                        const struct mt_translate_text *text)
{
    return !text->has_ended && text->pair.route.steps[text->n_steps].served == round->served &&
           is_at_last_step(text) == round->is_last;
}

/* Returns the model of the next round, which is the one that the first unfinished text needs. */
static struct mt_served_model *choose_round(struct mt_translate_state *state)
{
    for (size_t i = 0; i < state->n_texts; i++) {
        const struct mt_translate_text *text = &state->texts[i];
        if (text->has_ended)
            continue;
        state->round.served = text->pair.route.steps[text->n_steps].served;
        state->round.is_last = is_at_last_step(text);
        return state->round.served;
    }
    return NULL;
}

static enum mt_status begin_round(struct mt_translate_state *state, struct mt_request *request,
                                  struct mt_error *err)
{
    struct mt_translate_round *round = &state->round;
    struct mt_translation_options *plain = &round->decoding.options;
    enum mt_status status =
        mt_translate_decoding_init(&round->decoding, &state->params, request, round->is_last, err);
    plain->admit = mt_request_admit;
    plain->admit_context = request;
    if (!status && state->params.fields.alignment)
        mt_alignment_trace_begin(&round->alignment, request->service, request->model, plain);
    round->traced = *plain;
    if (!status)
        mt_alignment_trace_begin(&round->tags, request->service, request->model, &round->traced);
    return status;
}

static void finish_round(struct mt_translate_round *round)
{
    mt_alignment_trace_finish(&round->alignment);
    mt_alignment_trace_finish(&round->tags);
    mt_translate_decoding_finish(&round->decoding);
    *round = (struct mt_translate_round){0};
}

/* Returns the language whose rules split the text into sentences. */
static const char *source_language(const struct mt_translate_text *text)
{
    const struct mt_model_language *source = text->pair.route.steps[text->n_steps].source;
    if (text->n_steps > 0)
        return source ? source->code : NULL;
    return text->pair.source;
}

/* Returns NULL where it is unknown. */
static const char *target_language(const struct mt_translate_text *text)
{
    const struct mt_model_language *target = text->pair.route.steps[text->n_steps].target;
    if (is_at_last_step(text) && text->pair.target[0] != '\0')
        return text->pair.target;
    return target ? target->code : NULL;
}

static enum mt_status add_sentences(struct mt_request *request,
                                    const struct mt_translation *translation, struct mt_error *err)
{
    size_t n = mt_translation_n_sentences(translation);
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n && !status; i++)
        status =
            mt_request_add_sentence(request, mt_translation_part(translation, i).sentence, err);
    return status;
}

/* Whether translation memories are searched for the text. They hold translations from the first
 * language to the last, and no data of a model, such as scores. */
static bool has_memory(const struct mt_translate_state *state, const struct mt_translate_text *text)
{
    return text->pair.route.n == 1 && !state->params.fields.alignment &&
           state->params.fields.target_prefix[0] == '\0';
}

static enum mt_status begin_step(struct mt_request *request, struct mt_translate_state *state,
                                 struct mt_translate_text *text, struct mt_error *err)
{
    struct mt_translate_round *round = &state->round;
    struct mt_translation_options plain = round->decoding.options, traced = round->traced;
    const struct mt_translate_params *params = &state->params;
    const struct mt_model_route_step *step = &text->pair.route.steps[text->n_steps];
    const struct mt_glossary *glossary = text->n_steps > 0 ? &state->passed_on : &params->glossary;
    struct mt_passage_options options = {
        .plain = &plain,
        .traced = &traced,
        .trace = &round->tags,
        .finds_codes = !params->fields.alignment, /* an alignment shows what the model saw */
        .post_edits = params->fields.post_edit,
        .terms = glossary->terms,
        .reader = &text->reader,
        .repairs_numbers = params->fields.repair_numbers,
    };
    const struct mt_memory_show show = {&text->memory, mt_memory_show_json};
    const char *bytes = text->n_steps > 0 ? text->input.bytes : text->bytes;
    size_t length = text->n_steps > 0 ? text->input.length : text->length;
    plain.source_lang = traced.source_lang = source_language(text);
    plain.target_lang = traced.target_lang = target_language(text);
    plain.target_code = traced.target_code = step->target ? step->target->token : NULL;
    plain.source_code = traced.source_code = step->source ? step->source->token : NULL;
    enum mt_status status = mt_proofreader_init(&text->reader, request->service->number_words,
                                                source_language(text), target_language(text), err);
    struct mt_coded coded = {0};
    if (!status && has_memory(state, text))
        status = mt_memory_use_text(&state->memory, plain.source_lang, plain.target_lang,
                                    request->reply.dialect == MT_DEEPL ? NULL : &show,
                                    &options.recall, err);
    if (!status)
        status = mt_translate_params_read_text(params, request, bytes, length, &coded, err);
    if (!status)
        return mt_passage_create(request->model->model, &coded, &options, &text->passage, err);
    mt_coded_finish(&coded);
    return status;
}

static enum mt_status add_passage(struct mt_request *request, struct mt_translate_state *state,
                                  const struct mt_passage *passage, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    struct mt_translation *translation;
    size_t position = 0;
    if (state->params.fields.alignment)
        status = mt_alignment_trace_reserve(&state->round.alignment,
                                            mt_passage_next(passage, &(size_t){0}), err);
    while (!status && (translation = mt_passage_next(passage, &position)))
        status = add_sentences(request, translation, err);
    return status;
}

static enum mt_status begin(struct mt_request *request, struct mt_error *err)
{
    struct mt_translate_state *state = request->state;
    enum mt_status status = begin_round(state, request, err);
    for (size_t i = 0; i < state->n_texts && !status; i++) {
        struct mt_translate_text *text = &state->texts[i];
        if (!is_of_round(&state->round, text))
            continue;
        status = begin_step(request, state, text, err);
        if (!status)
            status = add_passage(request, state, text->passage, err);
    }
    return status;
}

static void write_lost_one(void *context, const char *bytes, size_t length)
{
    struct mt_translate_state *state = context;
    if (state->lost.length == 0)
        mt_json_begin_array(&state->lost_writer);
    mt_json_string(&state->lost_writer, bytes, length);
}

static enum mt_status count_terms(struct mt_translate_state *state, struct mt_translate_text *text,
                                  struct mt_error *err)
{
    struct mt_glossary *glossary = &state->params.glossary;
    if (!glossary->terms)
        return MT_OK;
    return text->n_steps > 0
               ? mt_glossary_count_lost(glossary, &state->passed_on, text->passage, err)
               : mt_glossary_count(glossary, text->passage, err);
}

/* The next model gets the same string that a client would get in a reply and pass on. */
static enum mt_status pass_on(struct mt_translate_text *text, struct mt_error *err)
{
    mt_text_finish(&text->input);
    text->input = text->outcome.translations[0];
    text->outcome.translations[0] = (struct mt_text){0};
    return mt_text_repair(&text->input, "a translation", err);
}

static enum mt_status add_warnings(struct mt_translate_state *state, struct mt_translate_text *text,
                                   struct mt_error *err)
{
    const struct mt_served_model_info *info = mt_served_model_info(state->round.served);
    return mt_warnings_add(&state->warnings, (size_t)(text - state->texts),
                           text->pair.route.n > 1 ? info->id : NULL, text->passage, err);
}

static enum mt_status take_outcome(const struct mt_translate_state *state,
                                   struct mt_translate_text *text, struct mt_error *err)
{
    const struct mt_translate_round *round = &state->round;
    text->outcome.keeps_sentences =
        state->params.fields.return_sentences && text->pair.route.n == 1;
    return mt_outcome_take(&text->outcome, text->passage,
                           round->is_last ? state->params.n_alternatives : 0,
                           state->params.fields.alignment ? &round->alignment : NULL, err);
}

static enum mt_status end_step(struct mt_translate_state *state, struct mt_translate_text *text,
                               struct mt_error *err)
{
    enum mt_status status = mt_passage_find_lost(text->passage, write_lost_one, state, err);
    if (!status)
        status = count_terms(state, text, err);
    if (!status)
        status = add_warnings(state, text, err);
    if (!status)
        status = take_outcome(state, text, err);
    if (status)
        return status;
    mt_passage_destroy(text->passage);
    text->passage = NULL;
    text->n_steps++;
    text->has_ended = state->round.is_last;
    return text->has_ended ? MT_OK : pass_on(text, err);
}

static enum mt_status end_round(struct mt_translate_state *state, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < state->n_texts && !status; i++)
        if (state->texts[i].passage)
            status = end_step(state, &state->texts[i], err);
    if (!status)
        finish_round(&state->round);
    return status;
}

static enum mt_status choose(struct mt_request *request, struct mt_served_model **out,
                             struct mt_error *err)
{
    enum mt_status status =
        !request->state ? prepare(request, err) : end_round(request->state, err);
    if (!status)
        *out = choose_round(request->state);
    return status;
}

/* ---- streaming the reply ---- */

/* Bytes after which advance stops, so that other requests have their turn. */
#define MAX_EVENTS_BYTES ((size_t)8 << 10)

static void write_piece(const struct mt_translate_state *state,
                        const struct mt_translate_text *text, size_t sentence,
                        const struct mt_text *piece, struct mt_text *events)
{
    struct mt_json_writer writer;
    mt_event_begin(events, NULL);
    mt_json_writer_init(&writer, events);
    mt_json_begin_object(&writer);
    mt_json_member_integer(&writer, "index", text - state->texts);
    mt_json_member_count(&writer, "sentence", sentence);
    mt_json_member_bytes(&writer, "text", piece->bytes, piece->length);
    mt_json_end_object(&writer);
    mt_event_end(events);
}

/* Appends the next piece of the translation. */
static enum mt_status advance_text(const struct mt_translate_state *state,
                                   struct mt_translate_text *text, struct mt_text *out, bool *moved,
                                   struct mt_error *err)
{
    bool is_running = text->passage && state->round.is_last;
    *moved = !text->given.has_all && (is_running || text->pair.is_identity);
    if (!*moved)
        return MT_OK;
    if (is_running && !mt_passage_is_blank(text->passage))
        return mt_passage_advance(text->passage, &text->given, out, moved, err);
    if (text->pair.is_identity)
        mt_text_append(out, text->bytes, text->length);
    text->given.has_all = true;
    return mt_text_check(out, "a translation", err);
}

static enum mt_status advance(struct mt_request *request, struct mt_text *events,
                              struct mt_error *err)
{
    struct mt_translate_state *state = request->state;
    struct mt_text piece = {0};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < state->n_texts && !status; i++) {
        struct mt_translate_text *text = &state->texts[i];
        for (bool moved = true; moved && !status && events->length < MAX_EVENTS_BYTES;) {
            size_t sentence = text->given.n_sentences;
            piece.length = 0;
            status = advance_text(state, text, &piece, &moved, err);
            if (!status && piece.length > 0)
                write_piece(state, text, sentence, &piece, events);
        }
    }
    mt_text_finish(&piece);
    return status;
}

static void release(struct mt_request *request)
{
    struct mt_translate_state *state = request->state;
    if (!state)
        return;
    for (size_t i = 0; i < state->n_texts; i++) {
        mt_passage_destroy(state->texts[i].passage);
        mt_outcome_finish(&state->texts[i].outcome);
        mt_text_finish(&state->texts[i].input);
        mt_text_finish(&state->texts[i].memory);
    }
    finish_round(&state->round);
    mt_translate_params_finish(&state->params);
    mt_glossary_finish(&state->passed_on);
    mt_memory_use_finish(&state->memory);
    mt_warnings_finish(&state->warnings);
    mt_text_finish(&state->lost);
    free(state->texts);
    free(state);
}

const struct mt_handler mt_translate_handler = {.choose = choose,
                                                .begin = begin,
                                                .finish = mt_translate_finish,
                                                .advance = advance,
                                                .release = release};
