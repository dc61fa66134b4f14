#include "server/api/models_api.h"

#include "base/json.h"
#include "base/log.h"
#include "server/models/catalog.h"
#include "server/service/snapshots.h"

#include <string.h>

#define FOLDER "/models/"

/* The action that the last part of a path names. */
enum action { SHOW, LOAD, UNLOAD, RELOAD, N_ACTIONS };

static void write_languages(struct mt_json_writer *writer, const char *key,
                            const struct mt_model_language *languages, size_t n)
{
    mt_json_member_array(writer, key);
    for (size_t i = 0; i < n; i++)
        mt_json_string_z(writer, languages[i].code);
    mt_json_end_array(writer);
}

static void write_aliases(struct mt_json_writer *writer, const struct mt_model_defaults *defaults)
{
    mt_json_member_array(writer, "aliases");
    for (size_t i = 0; i < defaults->n_aliases; i++)
        mt_json_string_z(writer, defaults->aliases[i]);
    mt_json_end_array(writer);
}

/* Writes the defaults of decoding from its attentiond.json. */
static void write_defaults(struct mt_json_writer *writer, const struct mt_model_defaults *defaults)
{
    mt_json_member_object(writer, "defaults");
    if (defaults->alignment.heads)
        mt_json_member(writer, "alignment_heads", defaults->alignment.heads);
    if (defaults->alignment.layers)
        mt_json_member(writer, "alignment_layers", defaults->alignment.layers);
    if (defaults->alignment.mode)
        mt_json_member(writer, "alignment_mode", defaults->alignment.mode);
    if (defaults->alignment.shift)
        mt_json_member(writer, "alignment_shift", defaults->alignment.shift);
    if (defaults->beam_size > 0)
        mt_json_member_count(writer, "beam_size", defaults->beam_size);
    if (defaults->length_penalty >= 0)
        mt_json_member_number(writer, "length_penalty", defaults->length_penalty, 6);
    if (defaults->max_decoding_length > 0)
        mt_json_member_count(writer, "max_decoding_length", defaults->max_decoding_length);
    if (defaults->max_length_factor >= 0)
        mt_json_member_number(writer, "max_length_factor", defaults->max_length_factor, 6);
    mt_json_member_number(writer, "quality", defaults->quality, 6);
    mt_json_end_object(writer);
}

static void write_memory(struct mt_json_writer *writer, const struct mt_served_model_status *status)
{
    mt_json_member_object(writer, "memory");
    mt_json_member_count(writer, "cache_bytes", status->cache_bytes);
    mt_json_member_count(writer, "loaded_bytes", status->loaded_bytes);
    mt_json_member_count(writer, "mapped_bytes", status->mapped_bytes);
    mt_json_member_count(writer, "private_bytes", status->private_bytes);
    mt_json_end_object(writer);
}

static void write_shape(struct mt_json_writer *writer, const struct mt_served_model_info *info)
{
    const struct mt_model_shape *shape = &info->shape;
    mt_json_member_object(writer, "shape");
    mt_json_member_count(writer, "d_ff", shape->d_ff);
    mt_json_member_count(writer, "d_model", shape->d_model);
    mt_json_member(writer, "decoder_cell", shape->has_ssru ? "ssru" : "attention");
    mt_json_member_count(writer, "decoder_layers", shape->n_decoder_layers);
    mt_json_member_count(writer, "encoder_layers", shape->n_encoder_layers);
    mt_json_member_count(writer, "heads", shape->n_heads);
    mt_json_member_count(writer, "max_positions", info->max_positions);
    mt_json_member_count(writer, "source_vocab", shape->n_source_vocab);
    mt_json_member_count(writer, "target_vocab", shape->n_target_vocab);
    mt_json_end_object(writer);
}

static void write_use(struct mt_json_writer *writer, const struct mt_served_model_status *status)
{
    mt_json_member_object(writer, "use");
    mt_json_member_count(writer, "failures", status->n_failures);
    mt_json_member_number(writer, "load_seconds", status->load_seconds, 6);
    mt_json_member_count(writer, "loads", status->n_loads);
    mt_json_member_count(writer, "requests", status->n_holds);
    mt_json_member_count(writer, "unloads", status->n_unloads);
    mt_json_member_count(writer, "waiting", status->n_waiting);
    mt_json_end_object(writer);
}

/* Members are in alphabetical order, as in all replies. */
static void write_model(struct mt_json_writer *writer, const struct mt_service *service,
                        struct mt_served_model *served, bool is_whole, bool is_admin)
{
    const struct mt_served_model_info *info = mt_served_model_info(served);
    struct mt_served_model_status status;
    mt_served_model_describe(served, &status);
    mt_json_begin_object(writer);
    write_aliases(writer, info->defaults);
    mt_json_member_bool(writer, "default", served == mt_catalog_default(service->catalog));
    if (is_whole)
        write_defaults(writer, info->defaults);
    if (is_admin)
        mt_json_member(writer, "directory", info->directory);
    if (is_whole && info->from[0] != '\0')
        mt_json_member(writer, "from", info->from);
    mt_json_member(writer, "id", info->id);
    if (is_whole && info->licence[0] != '\0')
        mt_json_member(writer, "licence", info->licence);
    if (is_whole && status.n_loads > 0) {
        write_memory(writer, &status);
        mt_json_member_count(writer, "parameters", status.n_parameters);
    }
    if (is_admin && status.reason[0] != '\0')
        mt_json_member(writer, "reason", status.reason);
    if (is_whole && info->shape.d_model > 0)
        write_shape(writer, info);
    write_languages(writer, "sources", info->sources, info->n_sources);
    mt_json_member(writer, "state", mt_served_state_name(status.state));
    write_languages(writer, "targets", info->targets, info->n_targets);
    if (is_whole)
        write_use(writer, &status);
    mt_json_end_object(writer);
}

/* ---- GET /models ---- */

static enum mt_status list_models(struct mt_request *request, bool is_admin, struct mt_error *err)
{
    const struct mt_catalog *catalog = request->service->catalog;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    mt_json_member_array(&writer, "models");
    for (size_t i = 0; i < mt_catalog_n(catalog); i++)
        write_model(&writer, request->service, mt_catalog_at(catalog, i), false, is_admin);
    mt_json_end_array(&writer);
    mt_json_end_object(&writer);
    return mt_text_check(&request->reply.body, "the list of models", err);
}

static enum mt_status finish_list(struct mt_request *request, struct mt_error *err)
{
    return list_models(request, false, err);
}

static enum mt_status finish_admin_list(struct mt_request *request, struct mt_error *err)
{
    return list_models(request, true, err);
}

const struct mt_handler mt_models_handler = {.finish = finish_list};
const struct mt_handler mt_admin_models_handler = {.finish = finish_admin_list};

/* ---- GET /models/ID ---- */

#define MAX_NAME_BYTES 256

/* Finds the model by the name in the path. */
static enum mt_status find_model(const struct mt_request *request, const char *name, size_t length,
                                 struct mt_served_model **out, struct mt_error *err)
{
    char id[MAX_NAME_BYTES];
    *out = NULL;
    if (length < sizeof id) {
        memcpy(id, name, length);
        id[length] = '\0';
        *out = mt_catalog_find(request->service->catalog, id);
    }
    if (!*out)
        return mt_fail(err, MT_NOT_FOUND, "there is no model \"%.*s\"",
                       (int)(length < 60 ? length : 60), name);
    return MT_OK;
}

static enum mt_status show_model(struct mt_request *request, bool is_admin, struct mt_error *err)
{
    const char *name = request->path + strlen(FOLDER);
    struct mt_served_model *served;
    struct mt_json_writer writer;
    enum mt_status status = find_model(request, name, strlen(name), &served, err);
    if (status)
        return status;
    mt_json_writer_init(&writer, &request->reply.body);
    write_model(&writer, request->service, served, true, is_admin);
    return mt_text_check(&request->reply.body, "a model", err);
}

static enum mt_status finish_model(struct mt_request *request, struct mt_error *err)
{
    return show_model(request, false, err);
}

static enum mt_status finish_admin_model(struct mt_request *request, struct mt_error *err)
{
    return show_model(request, true, err);
}

const struct mt_handler mt_model_handler = {.finish = finish_model};
const struct mt_handler mt_admin_model_handler = {.finish = finish_admin_model};

/* ---- POST /reload, /models/reload, /models/ID/load, /models/ID/unload ---- */

static enum mt_status reload(struct mt_request *request, struct mt_error *err)
{
    mt_log(MT_LOG_INFO, "reloading, as asked over the admin socket");
    mt_snapshots_reload(request->service->snapshots);
    request->reply.code = 202;
    mt_text_append_string(&request->reply.body, "{\"status\":\"reloading\"}");
    return mt_text_check(&request->reply.body, "the answer", err);
}

const struct mt_handler mt_admin_reload_handler = {.finish = reload};

static enum mt_status read_action(const struct mt_request *request, enum action *action,
                                  struct mt_served_model **served, struct mt_error *err)
{
    static const char *const names[N_ACTIONS] = {[LOAD] = "load", [UNLOAD] = "unload"};
    const char *name = request->path + strlen(FOLDER);
    const char *slash = strchr(name, '/');
    *served = NULL;
    *action = strcmp(name, "reload") == 0 ? RELOAD : SHOW;
    for (int i = LOAD; i <= UNLOAD && slash; i++)
        if (strcmp(slash + 1, names[i]) == 0)
            *action = (enum action)i;
    if (*action == RELOAD)
        return MT_OK;
    if (*action == SHOW)
        return mt_fail(err, MT_NOT_FOUND,
                       "expected /models/reload, /models/ID/load or /models/ID/unload");
    return find_model(request, name, (size_t)(slash - name), served, err);
}

/* Chooses the model that is to be loaded: the exchange loads any model that a handler chooses, and
 * waits for it. */
static enum mt_status choose_loaded(struct mt_request *request, struct mt_served_model **out,
                                    struct mt_error *err)
{
    enum action action;
    struct mt_served_model *served;
    enum mt_status status = read_action(request, &action, &served, err);
    if (!status && action == LOAD && !request->model)
        *out = served;
    return status;
}

static enum mt_status finish_action(struct mt_request *request, struct mt_error *err)
{
    enum action action;
    struct mt_served_model *served;
    struct mt_json_writer writer;
    enum mt_status status = read_action(request, &action, &served, err);
    if (!status && action == RELOAD)
        return reload(request, err);
    if (!status && action == UNLOAD)
        status = mt_served_model_unload(served, err);
    if (status)
        return status;
    request->reply.code = action == UNLOAD ? 202 : 200;
    mt_json_writer_init(&writer, &request->reply.body);
    write_model(&writer, request->service, served, action == LOAD, true);
    return mt_text_check(&request->reply.body, "a model", err);
}

const struct mt_handler mt_admin_model_action_handler = {.choose = choose_loaded,
                                                         .finish = finish_action};
