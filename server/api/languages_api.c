#include "server/api/languages_api.h"

#include <stdlib.h>
#include <string.h>

/* ---- models and their languages ---- */

enum mt_status mt_languages_read_model(const struct mt_request *request,
                                       struct mt_served_model **out, struct mt_error *err)
{
    const struct mt_catalog *catalog = request->service->catalog;
    const char *name = "";
    *out = NULL;
    enum mt_status status = mt_params_string(&request->params, "model", &name, NULL, err);
    if (status || name[0] == '\0')
        return status;
    *out = mt_catalog_find(catalog, name);
    if (*out)
        return MT_OK;
    const char *nearest = mt_catalog_nearest(catalog, name);
    if (!nearest && mt_catalog_n(catalog) > 0)
        nearest = mt_served_model_info(mt_catalog_at(catalog, 0))->id;
    if (!nearest)
        return mt_languages_fail_empty(err);
    return mt_fail(err, MT_NOT_FOUND,
                   "model: there is no \"%.60s\", expected one that GET /models lists, such as "
                   "\"%s\"",
                   name, nearest);
}

enum mt_status mt_languages_fail_empty(struct mt_error *err)
{
    return mt_fail(err, MT_BUSY, "the server has no model yet");
}

const char *mt_languages_source_of(const struct mt_served_model *served)
{
    if (!served)
        return "";
    const struct mt_served_model_info *info = mt_served_model_info(served);
    return info->n_sources == 1 ? info->sources[0].code : "";
}

const char *mt_languages_target_of(const struct mt_served_model *served)
{
    if (!served)
        return "";
    const struct mt_served_model_info *info = mt_served_model_info(served);
    return info->n_targets == 1 ? info->targets[0].code : "";
}

/* Returns the model that takes any language on a side, because its files do not name one; NULL:
 * there is none. */
static struct mt_served_model *find_tolerant(const struct mt_service *service,
                                             struct mt_served_model *only)
{
    struct mt_served_model *served = only ? only : mt_catalog_default(service->catalog);
    if (!served)
        return NULL;
    const struct mt_served_model_info *info = mt_served_model_info(served);
    return info->n_sources == 0 || info->n_targets == 0 ? served : NULL;
}

static bool has_language(const struct mt_model_language *languages, size_t n, const char *asked)
{
    for (size_t i = 0; i < n; i++)
        if (mt_language_matches(asked, languages[i].code))
            return true;
    return false;
}

static bool is_known(const struct mt_service *service, struct mt_served_model *only,
                     const char *asked)
{
    const struct mt_catalog *catalog = service->catalog;
    if (find_tolerant(service, only))
        return true;
    if (only) {
        const struct mt_served_model_info *info = mt_served_model_info(only);
        return has_language(info->sources, info->n_sources, asked) ||
               has_language(info->targets, info->n_targets, asked);
    }
    for (size_t i = 0; i < mt_catalog_n_languages(catalog); i++)
        if (mt_language_matches(asked, mt_catalog_language(catalog, i)))
            return true;
    return false;
}

/* ---- source and target of a request ---- */

static enum mt_status read_code(const struct mt_service *service, struct mt_served_model *only,
                                const char *code, char out[MT_LANGUAGE_BYTES], struct mt_error *err)
{
    enum mt_status status = mt_language_parse(code, out, err);
    if (status == MT_MEMORY)
        return status;
    if (!status && is_known(service, only, out))
        return MT_OK;
    /* The code has NLLB's form: "arb_Arab". */
    bool names_script = strlen(code) == 8 && strcspn(code, "_-") == 3;
    if (names_script && mt_language_of_model(code, out) && is_known(service, only, out))
        return MT_OK;
    return mt_fail(err, MT_INVALID, "%.60s is not supported", code);
}

/* Reads the language of one side. "" stands for that of the named model, if it has only one. */
static enum mt_status read_side(const struct mt_service *service, struct mt_served_model *only,
                                const char *code, const char *own, char out[MT_LANGUAGE_BYTES],
                                struct mt_error *err)
{
    if (code[0] != '\0' || !only)
        return read_code(service, only, code, out, err);
    memcpy(out, own, strlen(own) + 1);
    return MT_OK;
}

static enum mt_status refuse_pair(const struct mt_language_pair *pair, struct mt_error *err)
{
    char source[MT_LANGUAGE_NAME_BYTES], target[MT_LANGUAGE_NAME_BYTES];
    mt_language_name(pair->source, source);
    mt_language_name(pair->target, target);
    return mt_fail(err, MT_INVALID, "%s (%s) is not available as a target language from %s (%s)",
                   target, pair->target, source, pair->source);
}

static enum mt_status find_route(const struct mt_service *service, struct mt_served_model *only,
                                 struct mt_language_pair *pair, struct mt_error *err)
{
    struct mt_served_model *tolerant = find_tolerant(service, only);
    struct mt_error reason;
    enum mt_status status = MT_NOT_FOUND;
    pair->route.n = 1;
    if (only)
        return mt_catalog_step(only, pair->source, pair->target, &pair->route.steps[0], err);
    status = mt_catalog_route(service->catalog, pair->source, pair->target, &pair->route, &reason);
    if (status == MT_NOT_FOUND && tolerant) {
        pair->route.n = 1;
        status =
            mt_catalog_step(tolerant, pair->source, pair->target, &pair->route.steps[0], &reason);
    }
    if (status == MT_NOT_FOUND || status == MT_INVALID)
        return refuse_pair(pair, err);
    return status ? mt_fail(err, status, "%s", reason.message) : MT_OK;
}

enum mt_status mt_languages_check(const struct mt_service *service, struct mt_served_model *only,
                                  const char *source, const char *target,
                                  struct mt_language_pair *out, struct mt_error *err)
{
    *out = (struct mt_language_pair){0};
    enum mt_status status =
        read_side(service, only, source, mt_languages_source_of(only), out->source, err);
    if (!status)
        status = read_side(service, only, target, mt_languages_target_of(only), out->target, err);
    if (status)
        return status;
    out->is_identity = out->source[0] != '\0' && strcmp(out->source, out->target) == 0;
    return out->is_identity ? MT_OK : find_route(service, only, out, err);
}

enum mt_status mt_languages_check_target(const struct mt_service *service,
                                         struct mt_served_model *only, const char *target,
                                         struct mt_language_pair *out, struct mt_error *err)
{
    *out = (struct mt_language_pair){0};
    return read_side(service, only, target, mt_languages_target_of(only), out->target, err);
}

static enum mt_status refuse_detected(const char *source, const char *target, struct mt_error *err)
{
    char source_name[MT_LANGUAGE_NAME_BYTES], target_name[MT_LANGUAGE_NAME_BYTES];
    mt_language_name(source, source_name);
    mt_language_name(target, target_name);
    return mt_fail(err, MT_INVALID,
                   "the text seems to be in %s (%s), and %s (%s) is not available as a target "
                   "language from it; if it is in another language, name that as its source",
                   source_name, source, target_name, target);
}

enum mt_status mt_languages_set_source(const struct mt_service *service,
                                       struct mt_served_model *only,
                                       const struct mt_detection *detection,
                                       struct mt_language_pair *pair, struct mt_error *err)
{
    const char *source = detection->language;
    if (!detection->is_served)
        return refuse_detected(source, pair->target, err);
    memmove(pair->source, source, strlen(source) + 1);
    pair->is_identity = mt_language_matches(pair->target, pair->source);
    return pair->is_identity ? MT_OK : find_route(service, only, pair, err);
}

/* ---- languages to detect, and to list ---- */

/* Texts for models of many languages are assumed to be in this language when they have no letters,
 * because most interfaces are in it. */
static const char usual_language[] = "en";

static void add_code(const char **codes, size_t *n, const char *code)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(codes[i], code) == 0)
            return;
    codes[(*n)++] = code;
}

/* Whether a model leads from language i to the target or, where that is NULL, to any language. */
static bool leads(const struct mt_catalog *catalog, size_t i, const char *target)
{
    for (size_t k = 0; k < mt_catalog_n_languages(catalog); k++)
        if (mt_catalog_hops(catalog, i, k) > 0 &&
            (!target || mt_language_matches(target, mt_catalog_language(catalog, k))))
            return true;
    return false;
}

/* Whether a model leads to language i. */
static bool is_reached(const struct mt_catalog *catalog, size_t i)
{
    for (size_t k = 0; k < mt_catalog_n_languages(catalog); k++)
        if (mt_catalog_hops(catalog, k, i) > 0)
            return true;
    return false;
}

/* Lists the languages that can be translated from, and returns their number. */
static size_t detect_any(const struct mt_service *service, const char *target,
                         struct mt_detect_languages *out)
{
    const struct mt_catalog *catalog = service->catalog;
    size_t n = mt_catalog_n_languages(catalog);
    for (size_t i = 0; i < n; i++)
        if (leads(catalog, i, target))
            add_code(out->codes, &out->n, mt_catalog_language(catalog, i));
    size_t n_sources = out->n;
    for (size_t i = 0; i < n; i++) {
        const char *code = mt_catalog_language(catalog, i);
        if (!target || mt_language_matches(target, code))
            add_code(out->codes, &out->n, code);
    }
    return n_sources;
}

static size_t detect_only(struct mt_served_model *only, const char *target,
                          struct mt_detect_languages *out)
{
    const struct mt_served_model_info *info = mt_served_model_info(only);
    for (size_t i = 0; i < info->n_sources && out->n < MT_DETECT_MAX_LANGUAGES; i++)
        add_code(out->codes, &out->n, info->sources[i].code);
    size_t n_sources = out->n;
    for (size_t i = 0; i < info->n_targets && out->n < MT_DETECT_MAX_LANGUAGES; i++)
        if (!target || mt_language_matches(target, info->targets[i].code))
            add_code(out->codes, &out->n, info->targets[i].code);
    return n_sources;
}

void mt_languages_to_detect(const struct mt_service *service, struct mt_served_model *only,
                            const char *target, struct mt_detect_languages *out)
{
    out->n = 0;
    out->has_usual = false;
    if (find_tolerant(service, only)) /* every language is accepted */
        return;
    size_t n_sources = only ? detect_only(only, target, out) : detect_any(service, target, out);
    const char *own = mt_languages_source_of(only ? only : mt_catalog_default(service->catalog));
    mt_detect_prefer(out, n_sources, own[0] ? own : usual_language);
    out->has_usual = out->has_usual || n_sources == 1;
}

void mt_languages_list(const struct mt_service *service, enum mt_languages_side side,
                       struct mt_languages *out)
{
    const struct mt_catalog *catalog = service->catalog;
    const struct mt_served_model *model = mt_catalog_default(catalog);
    const char *first = mt_languages_source_of(model);
    size_t n = mt_catalog_n_languages(catalog);
    out->n = 0;
    /* A model that names only one side leads nowhere, but that side is listed. */
    if (side != MT_LANGUAGES_TARGETS && first[0] != '\0')
        add_code(out->codes, &out->n, first);
    for (size_t i = 0; i < n; i++) {
        const char *code = mt_catalog_language(catalog, i);
        bool is_own = strcmp(code, mt_languages_target_of(model)) == 0;
        if (side == MT_LANGUAGES_ANY ||
            (side == MT_LANGUAGES_SOURCES ? leads(catalog, i, NULL)
                                          : is_own || is_reached(catalog, i)))
            add_code(out->codes, &out->n, code);
    }
}

/* ---- GET /languages ---- */

/* Targets are in order, and every language is its own target, too. */
static void write_language(struct mt_json_writer *writer, const struct mt_catalog *catalog,
                           const char *code)
{
    char name[MT_LANGUAGE_NAME_BYTES];
    size_t n = mt_catalog_n_languages(catalog), index = n;
    for (size_t i = 0; i < n; i++)
        if (strcmp(mt_catalog_language(catalog, i), code) == 0)
            index = i;
    mt_language_name(code, name);
    mt_json_begin_object(writer);
    mt_json_member(writer, "code", code);
    mt_json_member(writer, "name", name);
    mt_json_member_array(writer, "targets");
    for (size_t i = 0; i < n; i++)
        if (i == index || (index < n && mt_catalog_hops(catalog, index, i) > 0))
            mt_json_string_z(writer, mt_catalog_language(catalog, i));
    mt_json_end_array(writer);
    mt_json_end_object(writer);
}

static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    struct mt_json_writer writer;
    struct mt_languages languages;
    mt_languages_list(request->service, MT_LANGUAGES_ANY, &languages);
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_array(&writer);
    for (size_t i = 0; i < languages.n; i++)
        write_language(&writer, request->service->catalog, languages.codes[i]);
    mt_json_end_array(&writer);
    return mt_text_check(&request->reply.body, "the list of languages", err);
}

const struct mt_handler mt_languages_handler = {.finish = finish};

/* ---- routes ---- */

void mt_model_route_write_models(struct mt_json_writer *writer, const struct mt_model_route *route)
{
    mt_json_begin_array(writer);
    for (size_t i = 0; i < route->n; i++)
        mt_json_string_z(writer, mt_served_model_info(route->steps[i].served)->id);
    mt_json_end_array(writer);
}

void mt_model_route_write_via(struct mt_json_writer *writer, const struct mt_model_route *route)
{
    mt_json_begin_array(writer);
    for (size_t i = 0; i + 1 < route->n; i++)
        mt_json_string_z(writer, route->steps[i].target->code);
    mt_json_end_array(writer);
}
