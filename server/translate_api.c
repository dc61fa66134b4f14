#include "server/translate_api.h"

#include "config/settings.h"
#include "model/model.h"
#include "model/sentence.h"
#include "model/tokenizer.h"
#include "server/alignment_trace.h"
#include "server/decoding_params.h"
#include "server/detect_api.h"
#include "server/events.h"
#include "server/glossary.h"
#include "server/guard.h"
#include "server/languages_api.h"
#include "server/passage.h"
#include "server/tag_names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cjson/cJSON.h>

/* One element of q. */
struct text {
    const char *bytes; /* the request's */
    size_t length;
    bool is_identity;             /* in the target language already */
    struct mt_detection detected; /* where the source is "auto" */
    struct mt_passage *passage;   /* NULL: not to be translated */
    struct mt_passage_cursor given;
};

struct state {
    struct text *texts;
    size_t n_texts;
    bool is_array;
    bool is_auto; /* each text's language is detected; languages.source is "" then */
    struct mt_language_pair languages;
    bool is_html;
    struct mt_translation_options options;
    struct mt_translation_options traced_options; /* for what has marks to be put back */
    struct mt_alignment_trace marks;
    size_t n_alternatives;
    bool returns_scores, returns_usage, returns_alignment, post_edits;
    struct mt_alignment_trace alignment;
    struct mt_glossary glossary;
    struct mt_tag_names ignored_tags;
    struct mt_token_list prefix;
    int32_t *prefix_ids;
};

/* ---- reading the request ---- */

static enum mt_status missing(const char *name, struct mt_error *err)
{
    return mt_fail(err, MT_INVALID, "Invalid request: missing %s parameter", name);
}

static enum mt_status add_text(struct state *state, const struct cJSON *value, struct mt_error *err)
{
    if (!cJSON_IsString(value))
        return mt_fail(err, MT_INVALID,
                       "Invalid request: q must be a string or an array of strings");
    const char *bytes = value->valuestring;
    state->texts[state->n_texts++] = (struct text){.bytes = bytes, .length = strlen(bytes)};
    return MT_OK;
}

static enum mt_status read_texts(struct state *state, const struct mt_request *request,
                                 struct mt_error *err)
{
    const struct cJSON *q = mt_params_get(&request->params, "q");
    state->is_array = cJSON_IsArray(q);
    size_t n = state->is_array ? (size_t)cJSON_GetArraySize(q) : 1;
    bool is_empty = q == NULL || n == 0 || (cJSON_IsString(q) && q->valuestring[0] == '\0');
    if (is_empty)
        return missing("q", err);
    state->texts = calloc(n, sizeof state->texts[0]);
    if (state->texts == NULL)
        return mt_fail_memory(err, n * sizeof state->texts[0], "texts");
    if (!state->is_array)
        return add_text(state, q, err);
    enum mt_status status = MT_OK;
    for (const struct cJSON *item = q->child; item != NULL && status == MT_OK; item = item->next)
        status = add_text(state, item, err);
    return status;
}

static enum mt_status too_large(enum mt_dialect dialect, size_t size, int64_t limit,
                                struct mt_error *err)
{
    return mt_fail(err, dialect == MT_DEEPL ? MT_LIMIT : MT_INVALID,
                   "Invalid request: request (%zu) exceeds text limit (%lld)", size,
                   (long long)limit);
}

static enum mt_status check_sizes(const struct state *state, const struct mt_request *request,
                                  struct mt_error *err)
{
    const struct mt_limits *limits = &request->access.limits;
    enum mt_dialect dialect = request->reply.dialect;
    if (state->n_texts > (size_t)limits->max_batch_texts)
        return too_large(dialect, state->n_texts, limits->max_batch_texts, err);
    for (size_t i = 0; i < state->n_texts; i++) {
        size_t n_chars = mt_utf8_count(state->texts[i].bytes, state->texts[i].length);
        if (n_chars > (size_t)limits->max_text_chars)
            return too_large(dialect, n_chars, limits->max_text_chars, err);
    }
    return MT_OK;
}

static enum mt_status read_required(const struct mt_params *params, const char *name,
                                    const char **out, struct mt_error *err)
{
    *out = "";
    enum mt_status status = mt_params_string(params, name, out, NULL, err);
    if (status == MT_OK && (*out)[0] == '\0')
        return missing(name, err);
    return status;
}

/* A number, or a string that is one; clients send both. */
static enum mt_status read_alternatives(const struct mt_params *params, int64_t limit, size_t *out,
                                        bool *found, struct mt_error *err)
{
    const struct cJSON *value = mt_params_get(params, "alternatives");
    double number = 0;
    *found = value != NULL;
    if (cJSON_IsNumber(value))
        number = value->valuedouble;
    else if (cJSON_IsString(value) && value->valuestring[0] == '\0')
        *found = false;
    else if (value != NULL &&
             (!cJSON_IsString(value) || !mt_parse_number(value->valuestring, &number)))
        return mt_fail(err, MT_INVALID, "Invalid request: alternatives parameter is not a number");
    if (number < 0)
        return mt_fail(err, MT_INVALID, "Invalid request: alternatives parameter must be >= 0");
    if (number > (double)limit)
        return mt_fail(err, MT_INVALID, "Invalid request: alternatives parameter must be <= %lld",
                       (long long)limit);
    *out = (size_t)number;
    return MT_OK;
}

static enum mt_status read_format(struct state *state, const struct mt_params *params,
                                  struct mt_error *err)
{
    const char *format = "text";
    enum mt_status status = mt_params_string(params, "format", &format, NULL, err);
    state->is_html = strcmp(format, "html") == 0;
    if (status == MT_OK && format[0] != '\0' && !state->is_html && strcmp(format, "text") != 0)
        return mt_fail(err, MT_INVALID, "%.60s format is not supported", format);
    return status;
}

/* What is about the text as a whole, and cannot be said of the pieces of a page; and an alignment
 * shows what the model wrote, where terms do not stand. */
static enum mt_status check_together(const struct state *state, struct mt_error *err)
{
    if (state->glossary.terms != NULL && state->returns_alignment)
        return mt_fail(err, MT_INVALID,
                       "alignment cannot be had together with glossary or do_not_translate");
    if (state->is_html && state->returns_alignment)
        return mt_fail(err, MT_INVALID, "alignment is for format text, but format is html");
    if (state->is_html && state->prefix_ids != NULL)
        return mt_fail(err, MT_INVALID, "target_prefix is for format text, but format is html");
    return MT_OK;
}

/* num_hypotheses counts the best one too. Where the request does not say how wide the beam is, it
 * is as wide as they need. */
static enum mt_status read_beam(struct state *state, const struct mt_request *request,
                                struct mt_error *err)
{
    const struct mt_settings *settings = request->service->settings;
    const struct mt_params *params = &request->params;
    int64_t beam_size = settings->beam_size, n_hypotheses = 1;
    bool has_alternatives, has_hypotheses, has_beam;
    enum mt_status status = read_alternatives(params, settings->max_alternatives,
                                              &state->n_alternatives, &has_alternatives, err);
    if (status == MT_OK)
        status = mt_params_integer(params, "num_hypotheses", 1, settings->max_alternatives + 1,
                                   &n_hypotheses, &has_hypotheses, err);
    if (status == MT_OK)
        status = mt_params_integer(params, "beam_size", 1, settings->max_beam_size, &beam_size,
                                   &has_beam, err);
    if (status != MT_OK)
        return status;
    if (has_hypotheses && has_alternatives && (size_t)n_hypotheses != state->n_alternatives + 1)
        return mt_fail(err, MT_INVALID,
                       "num_hypotheses is %lld and alternatives is %zu: give one of them",
                       (long long)n_hypotheses, state->n_alternatives);
    if (has_hypotheses)
        state->n_alternatives = (size_t)n_hypotheses - 1;
    n_hypotheses = (int64_t)state->n_alternatives + 1;
    if (beam_size == 0)
        beam_size = (int64_t)mt_model_hparams(request->service->model)->n_beams;
    if (beam_size < n_hypotheses && has_beam)
        return mt_fail(err, MT_INVALID,
                       "beam_size is %lld, expected at least %lld for %zu "
                       "alternatives",
                       (long long)beam_size, (long long)n_hypotheses, state->n_alternatives);
    struct mt_sentence_options *decoding = &state->options.decoding;
    decoding->beam_size = (size_t)(beam_size > n_hypotheses ? beam_size : n_hypotheses);
    /* Hypotheses of different tokens are often one and the same text, so all of them are looked at
     * for that many different texts. */
    decoding->num_hypotheses = state->n_alternatives > 0 ? decoding->beam_size : 1;
    return MT_OK;
}

/* What the translation begins with, as target tokens. */
static enum mt_status read_prefix(struct state *state, const struct mt_request *request,
                                  struct mt_error *err)
{
    const struct mt_tokenizer *tokenizer = mt_model_tokenizer(request->service->model);
    const char *prefix = "";
    enum mt_status status = mt_params_string(&request->params, "target_prefix", &prefix, NULL, err);
    if (status != MT_OK || prefix[0] == '\0')
        return status;
    if (state->is_array)
        return mt_fail(err, MT_INVALID, "target_prefix is for a single text, but q is an array");
    status =
        mt_tokenize(tokenizer, prefix, strlen(prefix), MT_TOKENIZE_TARGET, &state->prefix, err);
    if (status != MT_OK)
        return status;
    size_t n = state->prefix.n - 1; /* without eos */
    state->prefix_ids = calloc(n + 1, sizeof state->prefix_ids[0]);
    if (state->prefix_ids == NULL)
        return mt_fail_memory(err, (n + 1) * sizeof state->prefix_ids[0], "target prefix");
    for (size_t i = 0; i < n; i++)
        state->prefix_ids[i] = state->prefix.tokens[i].id;
    state->options.decoding.target_prefix = state->prefix_ids;
    state->options.decoding.n_target_prefix = n;
    state->options.split = MT_SPLIT_OFF;
    return MT_OK;
}

static enum mt_status read_options(struct state *state, const struct mt_request *request,
                                   struct mt_error *err)
{
    const struct mt_params *params = &request->params;
    const struct mt_service *service = request->service;
    enum mt_status status = mt_decoding_params_split(service, params, &state->options.split, err);
    if (status == MT_OK)
        status = mt_decoding_params_lengths(service, params, &state->options.decoding, err);
    if (status == MT_OK)
        status = mt_params_bool(params, "return_scores", &state->returns_scores, NULL, err);
    if (status == MT_OK)
        status = mt_params_bool(params, "return_usage", &state->returns_usage, NULL, err);
    if (status == MT_OK)
        status = mt_params_bool(params, "alignment", &state->returns_alignment, NULL, err);
    state->post_edits = service->settings->post_edit;
    if (status == MT_OK)
        status = mt_params_bool(params, "post_edit", &state->post_edits, NULL, err);
    state->options.decoding.skip_scores = !state->returns_scores;
    if (status == MT_OK)
        status = read_prefix(state, request, err);
    /* Who asks for an alignment or gives the first words wants what the model writes. */
    if (state->returns_alignment || state->prefix_ids != NULL)
        state->post_edits = false;
    state->options.lowers_capitals = state->post_edits;
    return status;
}

/* Under the name that stands for it everywhere. */
static enum mt_status read_stream(struct state *state, struct mt_request *request,
                                  struct mt_error *err)
{
    const char *mode = "sentence";
    enum mt_status status =
        mt_params_bool(&request->params, "stream", &request->is_streamed, NULL, err);
    if (status == MT_OK)
        status = mt_params_string(&request->params, "stream_mode", &mode, NULL, err);
    bool is_by_token = strcmp(mode, "token") == 0;
    if (status == MT_OK && !is_by_token && strcmp(mode, "sentence") != 0)
        return mt_fail(err, MT_INVALID,
                       "stream_mode is \"%.40s\", expected \"sentence\" or \"token\"", mode);
    if (!request->is_streamed)
        return status;
    state->options.decoding.publish = is_by_token ? MT_PUBLISH_TOKENS : MT_PUBLISH_END;
    /* What was sent stays sent, and the pieces are the whole. */
    state->post_edits = state->options.lowers_capitals = false;
    return status;
}

static enum mt_status read_languages(struct state *state, const struct mt_service *service,
                                     const char *source, const char *target, struct mt_error *err)
{
    state->is_auto = strcasecmp(source, "auto") == 0;
    if (state->is_auto)
        return mt_languages_check_target(service, target, &state->languages, err);
    return mt_languages_check(service, source, target, &state->languages, err);
}

/* In the order in which LibreTranslate complains. */
static enum mt_status read_request(struct state *state, struct mt_request *request,
                                   struct mt_error *err)
{
    const struct mt_service *service = request->service;
    const char *source, *target;
    enum mt_status status = read_texts(state, request, err);
    if (status == MT_OK)
        status = read_required(&request->params, "source", &source, err);
    if (status == MT_OK)
        status = read_required(&request->params, "target", &target, err);
    if (status == MT_OK)
        status = read_beam(state, request, err);
    if (status == MT_OK)
        status = check_sizes(state, request, err);
    if (status == MT_OK)
        status = read_languages(state, service, source, target, err);
    if (status == MT_OK)
        status = read_format(state, &request->params, err);
    if (status == MT_OK)
        status = read_options(state, request, err);
    if (status == MT_OK)
        status = read_stream(state, request, err);
    if (status == MT_OK)
        status = mt_glossary_read(&request->params, (size_t)service->settings->max_glossary_terms,
                                  &state->glossary, err);
    if (status == MT_OK)
        status = mt_tag_names_read(&request->params, "ignore_tags", &state->ignored_tags, err);
    if (status == MT_OK)
        status = check_together(state, err);
    return status;
}

/* ---- the work ---- */

/* Sets text->is_identity, and the rules by which its sentences are found. */
static enum mt_status settle_language(const struct mt_request *request, struct state *state,
                                      struct text *text, struct mt_error *err)
{
    struct mt_detect_languages languages;
    text->is_identity = state->languages.is_identity;
    state->options.source_lang = state->languages.source;
    if (!state->is_auto)
        return MT_OK;
    mt_languages_to_detect(request->service, state->languages.target, &languages);
    enum mt_status status =
        mt_detect(text->bytes, text->length, state->is_html, &languages, &text->detected, err);
    text->is_identity = mt_language_matches(state->languages.target, text->detected.language);
    state->options.source_lang = text->detected.language;
    return status;
}

static enum mt_status add_sentences(struct mt_request *request,
                                    const struct mt_translation *translation, struct mt_error *err)
{
    size_t n = mt_translation_n_sentences(translation);
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n && status == MT_OK; i++)
        status =
            mt_request_add_sentence(request, mt_translation_part(translation, i).sentence, err);
    return status;
}

static enum mt_status add_translation(struct mt_request *request, struct state *state,
                                      struct text *text, struct mt_error *err)
{
    enum mt_status status = settle_language(request, state, text, err);
    if (status != MT_OK || text->is_identity)
        return status;
    state->traced_options.source_lang = state->options.source_lang;
    const struct mt_passage_options options = {
        .plain = &state->options,
        .traced = &state->traced_options,
        .trace = &state->marks,
        .is_html = state->is_html,
        .protects = !state->returns_alignment, /* it shows what the model saw */
        .post_edits = state->post_edits,
        .terms = state->glossary.terms,
        .max_html_tags = (size_t)request->service->settings->max_html_tags,
        .ignored_tags = state->ignored_tags.items,
        .n_ignored_tags = state->ignored_tags.n,
    };
    status = mt_passage_create(request->service->model, text->bytes, text->length, &options,
                               &text->passage, err);
    if (status == MT_OK && state->returns_alignment)
        status = mt_alignment_trace_reserve(&state->alignment,
                                            mt_passage_translation(text->passage, 0), err);
    size_t n = status == MT_OK ? mt_passage_n_translations(text->passage) : 0;
    for (size_t i = 0; i < n && status == MT_OK; i++)
        status = add_sentences(request, mt_passage_translation(text->passage, i), err);
    return status;
}

/* Line feeds are the line breaks of html, and stay only between sentences. */
static enum mt_status prepare_options(struct mt_request *request, struct state *state,
                                      struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (state->is_html && state->options.split == MT_SPLIT_OFF)
        state->options.split = MT_SPLIT_NEWLINES;
    state->options.splitter = request->service->splitter;
    if (state->returns_alignment)
        status =
            mt_alignment_trace_begin(&state->alignment, request->service, &state->options, err);
    state->traced_options = state->options;
    if (status == MT_OK)
        status =
            mt_alignment_trace_begin(&state->marks, request->service, &state->traced_options, err);
    return status;
}

static enum mt_status begin(struct mt_request *request, struct mt_error *err)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return mt_fail_memory(err, sizeof *state, "a request");
    request->state = state;
    enum mt_status status = read_request(state, request, err);
    if (status == MT_OK)
        status = prepare_options(request, state, err);
    for (size_t i = 0; i < state->n_texts && status == MT_OK; i++)
        status = add_translation(request, state, &state->texts[i], err);
    return status;
}

/* ---- the reply ---- */

/* The distinct translations of a text, best first. */
struct variants {
    struct mt_text texts[MT_MAX_BEAMS];
    float scores[MT_MAX_BEAMS];
    size_t n;
};

static void finish_variants(struct variants *variants)
{
    for (size_t i = 0; i < variants->n; i++)
        mt_text_finish(&variants->texts[i]);
    variants->n = 0;
}

static bool is_known(const struct variants *variants, const struct mt_text *text)
{
    for (size_t i = 0; i < variants->n; i++) {
        const struct mt_text *known = &variants->texts[i];
        bool is_same_length = known->length == text->length;
        if (is_same_length &&
            (text->length == 0 || memcmp(known->bytes, text->bytes, text->length) == 0))
            return true;
    }
    return false;
}

static enum mt_status add_variant(struct variants *variants, const struct text *text, size_t rank,
                                  struct mt_error *err)
{
    struct mt_text rendering = {0};
    enum mt_status status = mt_passage_render(text->passage, rank, &rendering, err);
    if (status == MT_OK)
        status = mt_text_check(&rendering, "a translation", err);
    if (status != MT_OK || is_known(variants, &rendering)) {
        mt_text_finish(&rendering);
        return status;
    }
    variants->texts[variants->n] = rendering;
    variants->scores[variants->n++] = mt_passage_score(text->passage, rank);
    return MT_OK;
}

static enum mt_status collect(const struct state *state, const struct text *text,
                              size_t n_alternatives, struct variants *out, struct mt_error *err)
{
    *out = (struct variants){0};
    enum mt_status status = MT_OK;
    if (text->passage == NULL || mt_passage_is_blank(text->passage)) {
        /* Blank texts become empty, as everywhere in this trade. */
        if (text->is_identity)
            mt_text_append(&out->texts[0], text->bytes, text->length);
        out->n = 1;
        return mt_text_check(&out->texts[0], "a translation", err);
    }
    size_t n_ranks = mt_passage_n_ranks(text->passage);
    for (size_t i = 0; i < n_ranks && out->n <= n_alternatives && status == MT_OK; i++)
        status = add_variant(out, text, i, err);
    if (status != MT_OK)
        finish_variants(out);
    return status;
}

static void write_text(struct mt_json_writer *writer, const struct mt_text *text)
{
    mt_json_string(writer, text->bytes != NULL ? text->bytes : "", text->length);
}

static void write_best(struct mt_json_writer *writer, const struct variants *variants)
{
    write_text(writer, &variants->texts[0]);
}

static void write_alternatives(struct mt_json_writer *writer, const struct variants *variants)
{
    mt_json_begin_array(writer);
    for (size_t i = 1; i < variants->n; i++)
        write_text(writer, &variants->texts[i]);
    mt_json_end_array(writer);
}

static void write_scores(struct mt_json_writer *writer, const struct variants *variants)
{
    mt_json_begin_array(writer);
    for (size_t i = 0; i < variants->n; i++)
        mt_json_number(writer, (double)variants->scores[i], 6);
    mt_json_end_array(writer);
}

/* One member of the reply: for every text, in an array where q was one. */
static enum mt_status write_member(struct mt_json_writer *writer, const struct state *state,
                                   const char *key, size_t n_alternatives,
                                   void (*write)(struct mt_json_writer *, const struct variants *),
                                   struct mt_error *err)
{
    mt_json_key(writer, key);
    if (state->is_array)
        mt_json_begin_array(writer);
    for (size_t i = 0; i < state->n_texts; i++) {
        struct variants variants;
        enum mt_status status = collect(state, &state->texts[i], n_alternatives, &variants, err);
        if (status != MT_OK)
            return status;
        write(writer, &variants);
        finish_variants(&variants);
    }
    if (state->is_array)
        mt_json_end_array(writer);
    return MT_OK;
}

static void write_usage(struct mt_json_writer *writer, const struct state *state)
{
    size_t n_source = 0, n_target = 0;
    for (size_t i = 0; i < state->n_texts; i++) {
        if (state->texts[i].passage == NULL)
            continue;
        n_source += mt_passage_n_source_tokens(state->texts[i].passage);
        n_target += mt_passage_n_target_tokens(state->texts[i].passage);
    }
    mt_json_key(writer, "usage");
    mt_json_begin_object(writer);
    mt_json_key(writer, "source_tokens");
    mt_json_integer(writer, (int64_t)n_source);
    mt_json_key(writer, "target_tokens");
    mt_json_integer(writer, (int64_t)n_target);
    mt_json_end_object(writer);
}

static void write_detected(struct mt_json_writer *writer, const struct state *state)
{
    mt_json_key(writer, "detectedLanguage");
    if (state->is_array)
        mt_json_begin_array(writer);
    for (size_t i = 0; i < state->n_texts; i++)
        mt_detection_write(writer, &state->texts[i].detected);
    if (state->is_array)
        mt_json_end_array(writer);
}

/* All placeholders of all texts that did not survive. */
struct lost {
    struct mt_json_writer *writer;
    bool has_any;
};

static void write_lost_one(void *context, const char *bytes, size_t length)
{
    struct lost *lost = context;
    if (!lost->has_any) {
        mt_json_key(lost->writer, "placeholders_lost");
        mt_json_begin_array(lost->writer);
    }
    lost->has_any = true;
    mt_json_string(lost->writer, bytes, length);
}

static enum mt_status write_lost(struct mt_json_writer *writer, const struct state *state,
                                 struct mt_error *err)
{
    struct lost lost = {.writer = writer};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < state->n_texts && status == MT_OK; i++)
        if (state->texts[i].passage != NULL)
            status = mt_passage_find_lost(state->texts[i].passage, write_lost_one, &lost, err);
    if (lost.has_any)
        mt_json_end_array(writer);
    return status;
}

static enum mt_status write_terms(struct mt_json_writer *writer, struct state *state,
                                  struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < state->n_texts && status == MT_OK; i++)
        if (state->texts[i].passage != NULL)
            status = mt_glossary_count(&state->glossary, state->texts[i].passage, err);
    mt_json_key(writer, "terms");
    mt_glossary_write(&state->glossary, writer);
    return status;
}

static void write_warnings(struct mt_json_writer *writer, const struct mt_service *service,
                           const struct state *state)
{
    const struct mt_settings *settings = service->settings;
    struct mt_warnings warnings = {
        .writer = writer,
        .metrics = service->metrics,
        .options = {.max_repeats = (size_t)settings->max_repeats,
                    .max_length_ratio = settings->max_length_ratio},
    };
    for (size_t i = 0; i < state->n_texts; i++)
        if (state->texts[i].passage != NULL)
            mt_warnings_add(&warnings, i, state->texts[i].passage);
    mt_warnings_end(&warnings);
}

/* For every text its words' links; none where nothing was translated. */
static enum mt_status write_alignment(struct mt_json_writer *writer, const struct state *state,
                                      struct mt_error *err)
{
    enum mt_status status = MT_OK;
    mt_json_key(writer, "alignment");
    if (state->is_array)
        mt_json_begin_array(writer);
    for (size_t i = 0; i < state->n_texts && status == MT_OK; i++)
        status = mt_alignment_trace_write(
            &state->alignment,
            state->texts[i].passage ? mt_passage_translation(state->texts[i].passage, 0) : NULL,
            writer, err);
    if (state->is_array)
        mt_json_end_array(writer);
    return status;
}

/* Keys in alphabetical order, as LibreTranslate sends them. */
static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    struct state *state = request->state;
    size_t n = state->n_alternatives;
    enum mt_status status = MT_OK;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    if (state->returns_alignment)
        status = write_alignment(&writer, state, err);
    if (status == MT_OK && n > 0)
        status = write_member(&writer, state, "alternatives", n, write_alternatives, err);
    if (status == MT_OK && state->is_auto)
        write_detected(&writer, state);
    if (status == MT_OK)
        status = write_lost(&writer, state, err);
    if (status == MT_OK && state->returns_scores)
        status = write_member(&writer, state, "scores", n, write_scores, err);
    if (status == MT_OK && state->glossary.terms != NULL)
        status = write_terms(&writer, state, err);
    if (status == MT_OK)
        status = write_member(&writer, state, "translatedText", 0, write_best, err);
    if (status != MT_OK)
        return status;
    if (state->returns_usage)
        write_usage(&writer, state);
    write_warnings(&writer, request->service, state);
    mt_json_end_object(&writer);
    return mt_text_check(&request->reply.body, "the reply", err);
}

size_t mt_translate_n_texts(const struct mt_request *request)
{
    const struct state *state = request->state;
    return state->n_texts;
}

enum mt_status mt_translate_take(const struct mt_request *request, size_t index,
                                 struct mt_translated *out, struct mt_text *translation,
                                 struct mt_error *err)
{
    const struct state *state = request->state;
    const struct text *text = &state->texts[index];
    struct variants variants;
    enum mt_status status = collect(state, text, 0, &variants, err);
    if (status != MT_OK)
        return status;
    *out = (struct mt_translated){
        .source_lang = state->is_auto ? text->detected.language : state->languages.source,
        .n_chars = mt_utf8_count(text->bytes, text->length),
    };
    const struct mt_text *best = &variants.texts[0];
    mt_text_append(translation, best->bytes != NULL ? best->bytes : "", best->length);
    finish_variants(&variants);
    return mt_text_check(translation, "a translation", err);
}

/* ---- the reply, while it is being made ---- */

/* What advance appends before it lets others have their turn. */
#define MAX_EVENTS_BYTES ((size_t)8 << 10)

static void write_piece(const struct state *state, const struct text *text, size_t sentence,
                        const struct mt_text *piece, struct mt_text *events)
{
    struct mt_json_writer writer;
    mt_event_begin(events, NULL);
    mt_json_writer_init(&writer, events);
    mt_json_begin_object(&writer);
    mt_json_key(&writer, "index");
    mt_json_integer(&writer, text - state->texts);
    mt_json_key(&writer, "sentence");
    mt_json_integer(&writer, (int64_t)sentence);
    mt_json_key(&writer, "text");
    write_text(&writer, piece);
    mt_json_end_object(&writer);
    mt_event_end(events);
}

/* The next piece of what collect is going to give. */
static enum mt_status advance_text(struct text *text, struct mt_text *out, bool *moved,
                                   struct mt_error *err)
{
    *moved = !text->given.has_all;
    if (text->passage != NULL && !mt_passage_is_blank(text->passage))
        return mt_passage_advance(text->passage, &text->given, out, moved, err);
    if (*moved && text->is_identity)
        mt_text_append(out, text->bytes, text->length);
    text->given.has_all = true;
    return mt_text_check(out, "a translation", err);
}

static enum mt_status advance(struct mt_request *request, struct mt_text *events,
                              struct mt_error *err)
{
    struct state *state = request->state;
    struct mt_text piece = {0};
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < state->n_texts && status == MT_OK; i++) {
        struct text *text = &state->texts[i];
        for (bool moved = true; moved && status == MT_OK && events->length < MAX_EVENTS_BYTES;) {
            size_t sentence = text->given.n_sentences;
            piece.length = 0;
            status = advance_text(text, &piece, &moved, err);
            if (status == MT_OK && piece.length > 0)
                write_piece(state, text, sentence, &piece, events);
        }
    }
    mt_text_finish(&piece);
    return status;
}

static void release(struct mt_request *request)
{
    struct state *state = request->state;
    if (state == NULL)
        return;
    for (size_t i = 0; i < state->n_texts; i++)
        mt_passage_destroy(state->texts[i].passage);
    mt_alignment_trace_finish(&state->alignment);
    mt_alignment_trace_finish(&state->marks);
    mt_glossary_finish(&state->glossary);
    mt_token_list_finish(&state->prefix);
    mt_tag_names_finish(&state->ignored_tags);
    free(state->prefix_ids);
    free(state->texts);
    free(state);
}

const struct mt_handler mt_translate_handler = {
    .begin = begin, .finish = finish, .advance = advance, .release = release};
