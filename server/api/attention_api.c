#include "server/api/attention_api.h"

#include "base/hash.h"
#include "base/size.h"
#include "config/settings.h"
#include "model/model.h"
#include "server/passages/budget.h"
#include "server/api/attention_fields.h"
#include "server/api/decoding_params.h"
#include "server/inspection/inspection_request.h"
#include "server/inspection/inspection_digest.h"
#include "server/inspection/inspection_translation.h"
#include "server/inspection/switch_names.h"
#include "server/api/languages_api.h"
#include "server/api/web.h"
#include "server/text/translation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* A translation whose traces are in memory, and its part of the budget. It outlives the request's
 * handler, because the reply is made of it while it is sent. */
struct traced {
    struct mt_translation *translation;
    struct mt_budget *budget;
    uint64_t n_values;
};

struct state {
    const char *text; /* belongs to the request */
    struct mt_fields fields;
    const char *target_text; /* NULL: none */
    struct mt_token_ids target, prefix;
    size_t n_alternatives;
    struct mt_head *switched_off;
    struct mt_language_pair languages;
    struct mt_inspection_model model;
    struct mt_inspection_request inspection;
    struct mt_translation_options options;
    struct traced *traced;
};

static void destroy_traced(void *owner)
{
    struct traced *traced = owner;
    if (!traced)
        return;
    mt_translation_destroy(traced->translation);
    mt_budget_give_back(traced->budget, traced->n_values);
    free(traced);
}

static enum mt_status read_text(struct state *state, struct mt_request *request,
                                struct mt_error *err)
{
    size_t limit = (size_t)request->access.limits.max_text_chars;
    const struct cJSON *q = mt_params_get(&request->params, "q");
    if (cJSON_IsArray(q))
        return mt_fail(err, MT_INVALID, "q: /attention takes one string, found an array");
    enum mt_status status = mt_params_string(&request->params, "q", &state->text, NULL, err);
    if (status)
        return status;
    if (!state->text || !state->text[0])
        return mt_fail(err, MT_INVALID, "Invalid request: missing q parameter");
    if (state->fields.target_text[0])
        state->target_text = state->fields.target_text;
    size_t n_chars = mt_utf8_count(state->text, strlen(state->text));
    size_t n_target_chars = 0;
    if (state->target_text)
        n_target_chars = mt_utf8_count(state->target_text, strlen(state->target_text));
    if (n_chars + n_target_chars > limit)
        return mt_fail(err, MT_INVALID, "Invalid request: request (%zu) exceeds text limit (%zu)",
                       n_chars + n_target_chars, limit);
    /* The characters of q have been counted. Forcing the decoder to write a text takes no less
     * time. */
    return mt_request_take_chars(request, n_target_chars, err);
}

static bool is_forced(const struct state *state)
{
    return state->target_text || state->target.ids;
}

/* Fills in the languages for the reply. */
static void describe_languages(struct state *state)
{
    const struct mt_model_route_step *step = &state->languages.route.steps[0];
    if (state->languages.source[0] == '\0' && step->source)
        memcpy(state->languages.source, step->source->code, sizeof state->languages.source);
    if (state->languages.target[0] == '\0' && step->target)
        memcpy(state->languages.target, step->target->code, sizeof state->languages.target);
}

static enum mt_status refuse_pivot(const struct mt_language_pair *pair, struct mt_error *err)
{
    const struct mt_model_route_step *first = &pair->route.steps[0];
    return mt_fail(err, MT_INVALID,
                   "attention is that of one model, but from %s to %s it takes %zu: ask for one "
                   "of them, from %s to %s with %s first",
                   pair->source, pair->target, pair->route.n, first->source->code,
                   first->target->code, mt_served_model_info(first->served)->id);
}

/* Reads the languages. Missing ones are the model's, or the default model's where none is named. */
static enum mt_status read_languages(struct state *state, const struct mt_request *request,
                                     struct mt_error *err)
{
    const struct mt_service *service = request->service;
    struct mt_served_model *only;
    const char *source = state->fields.source, *target = state->fields.target;
    enum mt_status status = mt_languages_read_model(request, &only, err);
    if (status)
        return status;
    if (!only && !source[0] && !target[0]) {
        only = mt_catalog_default(service->catalog);
        if (!only)
            return mt_languages_fail_empty(err);
    }
    if (!only && !source[0])
        source = mt_languages_source_of(mt_catalog_default(service->catalog));
    if (!only && !target[0])
        target = mt_languages_target_of(mt_catalog_default(service->catalog));
    status = mt_languages_check(service, only, source, target, &state->languages, err);
    if (!status && state->languages.is_identity)
        return mt_fail(err, MT_INVALID, "source and target are both %s: nothing is translated",
                       state->languages.source);
    if (!status && state->languages.route.n > 1)
        return refuse_pivot(&state->languages, err);
    if (!status)
        describe_languages(state);
    return status;
}

static enum mt_status read_beam(struct state *state, const struct mt_request *request,
                                struct mt_error *err)
{
    const struct mt_service *service = request->service;
    int64_t beam_size = 0, n_alternatives = 0;
    bool has_beam;
    enum mt_status status =
        mt_params_integer(&request->params, "beam_size", 1, service->settings->max_beam_size,
                          &beam_size, &has_beam, err);
    if (!status)
        status = mt_params_integer(&request->params, "alternatives", 0,
                                   service->settings->max_alternatives, &n_alternatives, NULL, err);
    if (!status && n_alternatives && is_forced(state))
        status = mt_fail(err, MT_INVALID,
                         "alternatives: %s is the one translation, expected one of the two fields",
                         state->target_text ? "target_text" : "target_ids");
    if (!status && has_beam && beam_size <= n_alternatives)
        status = mt_fail(
            err, MT_INVALID, "beam_size is %lld, expected at least %lld for %lld alternatives",
            (long long)beam_size, (long long)n_alternatives + 1, (long long)n_alternatives);
    size_t beam = mt_decoding_beam_size(service, request->model, (size_t)beam_size);
    if (beam == 0)
        beam = mt_model_hparams(request->model->model)->n_beams;
    state->options.decoding.beam_size = mt_size_max(beam, (size_t)n_alternatives + 1);
    state->n_alternatives = (size_t)n_alternatives;
    return status;
}

static enum mt_status read_inspection(struct state *state, const struct mt_request *request,
                                      struct mt_error *err)
{
    const struct mt_service *service = request->service;
    struct mt_inspection_options *options = &state->inspection.options;
    const struct mt_loaded_model *model = request->model;
    state->model = mt_inspection_describe_model(model->model, model->label, state->languages.source,
                                                state->languages.target);
    options->max_values = (uint64_t)service->settings->max_attention_values;
    options->alignment = model->alignment;
    enum mt_status status =
        mt_inspection_request_read(&request->params, &state->fields, &state->inspection, err);
    if (!status)
        status = mt_switches_read(&request->params, "switch_off", &state->model,
                                  &state->switched_off, &options->n_switched_off, err);
    options->switched_off = state->switched_off;
    options->n_alternatives = state->n_alternatives;
    if (!status)
        status =
            mt_inspection_format_prepare(state->inspection.format, &state->model, options, err);
    return status ? status : mt_inspection_check(&state->model, options, err);
}

static enum mt_status read_tokens(struct state *state, const struct mt_request *request,
                                  struct mt_error *err)
{
    const struct mt_hparams *hparams = mt_model_hparams(request->model->model);
    enum mt_status status =
        mt_token_ids_read(&request->params, "target_ids", hparams, true, &state->target, err);
    if (!status)
        status = mt_token_ids_read(&request->params, "target_prefix_ids", hparams, false,
                                   &state->prefix, err);
    if (!status && state->target_text && state->target.ids)
        status = mt_fail(err, MT_INVALID, "target_text and target_ids exclude each other");
    if (!status && state->prefix.n && is_forced(state))
        status = mt_fail(err, MT_INVALID,
                         "target_prefix_ids is how a translation begins, and %s is a whole one: "
                         "expected one of them",
                         state->target_text ? "target_text" : "target_ids");
    return status;
}

static enum mt_status read_options(struct state *state, const struct mt_request *request,
                                   struct mt_error *err)
{
    const struct mt_service *service = request->service;
    struct mt_sentence_options *decoding = &state->options.decoding;
    const struct mt_model_route_step *step = &state->languages.route.steps[0];
    enum mt_status status = read_tokens(state, request, err);
    if (!status)
        status = read_beam(state, request, err);
    if (!status)
        status = mt_decoding_params_read(request, &state->fields, decoding, err);
    if (!status)
        status = read_inspection(state, request, err);
    if (status)
        return status;
    mt_inspection_require(&state->inspection.options, decoding);
    (void)mt_split_parse(state->fields.split_sentences,
                         /* always succeeds, since the field's table has all names */
                         &state->options.split);
    state->options.splitter = service->splitter;
    state->options.source_lang = state->languages.source;
    if (state->languages.target[0] != '\0')
        state->options.target_lang = state->languages.target;
    state->options.target_code = step->target ? step->target->token : NULL;
    state->options.source_code = step->source ? step->source->token : NULL;
    state->options.forced_target_text = state->target_text;
    decoding->forced_target = state->target.ids;
    decoding->n_forced_target = state->target.n;
    decoding->target_prefix = state->prefix.ids;
    decoding->n_target_prefix = state->prefix.n;
    if (state->prefix.n) /* a prefix begins a single sentence, so the text is not split */
        state->options.split = MT_SPLIT_OFF;
    return MT_OK;
}

/* The sentences that have been made so far. */
struct measure {
    struct mt_request *request;
    uint64_t n_values;
};

/* Reserves what decoding will keep in memory, which does not depend on the layers that the caller
 * requests. Sentences reserve their parts as they are made, so the first one that is too much ends
 * the request; the need of the whole text is estimated from how far it was read. */
static enum mt_status admit(void *context, const struct mt_translation_part *part,
                            struct mt_error *err)
{
    struct measure *measure = context;
    const struct state *state = measure->request->state;
    const struct mt_inspection_options *options = &state->inspection.options;
    measure->n_values += mt_inspection_estimate_part(measure->request->model->model, part, options,
                                                     is_forced(state));
    if (measure->n_values <= options->max_values)
        return mt_request_admit(measure->request, part, err);
    double share = (double)part->end / (double)strlen(state->text);
    return mt_fail(err, MT_LIMIT,
                   "attention of this text: about %.0f numbers needed, %llu allowed; send fewer "
                   "sentences at a time%s",
                   (double)measure->n_values / share, (unsigned long long)options->max_values,
                   options->include ? ", or include less" : "");
}

static enum mt_status reserve(const struct state *state, uint64_t n_values, struct mt_error *err)
{
    if (!mt_budget_take(state->traced->budget, n_values))
        return mt_fail(err, MT_BUSY,
                       "attention: other requests hold the memory that this one needs: try again "
                       "later");
    state->traced->n_values = n_values;
    return MT_OK;
}

static enum mt_status choose(struct mt_request *request, struct mt_served_model **out,
                             struct mt_error *err)
{
    if (request->state) /* it has been decoded */
        return MT_OK;
    struct state *state = calloc(1, sizeof *state);
    struct traced *traced = calloc(1, sizeof *traced);
    if (!state || !traced) {
        free(state);
        free(traced);
        return mt_fail_memory(err, sizeof *state, "a request");
    }
    state->traced = traced;
    traced->budget = request->service->attention_budget;
    request->state = state;
    enum mt_status status =
        mt_fields_check_names(request->params.object, MT_FIELDS_OF_ATTENTION, "/attention", err);
    if (!status)
        status = mt_fields_read(&request->params, MT_FIELDS_OF_ATTENTION,
                                request->service->settings, &state->fields, err);
    if (!status)
        status = read_text(state, request, err);
    if (!status)
        status = read_languages(state, request, err);
    if (!status)
        *out = state->languages.route.steps[0].served;
    return status;
}

static enum mt_status begin(struct mt_request *request, struct mt_error *err)
{
    struct state *state = request->state;
    struct traced *traced = state->traced;
    struct measure measure = {.request = request};
    enum mt_status status = read_options(state, request, err);
    struct mt_translation_options options = state->options;
    options.admit = admit;
    options.admit_context = &measure;
    if (!status)
        status = mt_translation_create(request->model->model, state->text, strlen(state->text),
                                       &options, &traced->translation, err);
    if (!status)
        status = reserve(state, measure.n_values, err);
    if (status)
        return status;
    size_t n = mt_translation_n_sentences(traced->translation);
    for (size_t i = 0; i < n && !status; i++)
        status = mt_request_add_sentence(request,
                                         mt_translation_part(traced->translation, i).sentence, err);
    return status;
}

/* Adds the tag of the reply: a weak one, because the reply may be compressed. Returns true where
 * the client has this reply already. Another request for the same numbers has another tag. */
static bool is_known(struct mt_request *request, struct mt_inspection *inspection)
{
    const struct mt_inspection_request *asked = &((const struct state *)request->state)->inspection;
    char tag[32];
    uint64_t digest = mt_hash(MT_HASH_BEGIN, MT_VERSION, strlen(MT_VERSION));
    digest = mt_hash(digest, &asked->format, sizeof asked->format);
    digest = mt_hash(digest, &asked->sentence, sizeof asked->sentence);
    digest = mt_inspection_digest(inspection, digest);
    snprintf(tag, sizeof tag, "W/\"%016llx\"", (unsigned long long)digest);
    mt_reply_header(&request->reply, "ETag", tag);
    mt_reply_header(&request->reply, "Cache-Control", "private, no-cache");
    return mt_web_has_tag(mt_request_header(request, "If-None-Match"), tag + 2);
}

/* The inspection takes over the traces, and the stream the inspection. */
static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    struct state *state = request->state;
    const struct mt_inspection_request *asked = &state->inspection;
    const struct mt_inspection_format_info *info = mt_inspection_format_info(asked->format);
    struct mt_inspection *inspection;
    enum mt_status status = mt_inspection_of_translation(
        request->model->model, state->traced->translation, &state->model, &asked->options,
        is_forced(state), &inspection, err);
    if (status)
        return status;
    mt_inspection_keep(inspection, state->traced, destroy_traced);
    state->traced = NULL;
    if (strcmp(request->method, "GET") == 0 && is_known(request, inspection)) {
        mt_inspection_destroy(inspection);
        request->reply.code = 304;
        return MT_OK;
    }
    status = mt_inspection_render(inspection, asked->format, asked->sentence,
                                  &request->reply.stream, err);
    if (status)
        return status;
    request->reply.content_type = info->content_type;
    request->reply.no_compression = info->is_compressed;
    return MT_OK;
}

static void release(struct mt_request *request)
{
    struct state *state = request->state;
    if (!state)
        return;
    destroy_traced(state->traced);
    mt_token_ids_finish(&state->target);
    mt_token_ids_finish(&state->prefix);
    free(state->switched_off);
    free(state);
}

const struct mt_handler mt_attention_handler = {
    .choose = choose, .begin = begin, .finish = finish, .release = release};
