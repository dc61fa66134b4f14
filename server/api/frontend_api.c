#include "server/api/frontend_api.h"

#include "base/json.h"
#include "config/settings.h"
#include "server/api/files_api.h"
#include "server/api/languages_api.h"

/* How long a page waits after a keystroke before it requests a translation; LibreTranslate's
 * value. */
#define FRONTEND_TIMEOUT_MS 500

static void write_language(struct mt_json_writer *writer, const char *key, const char *code,
                           const char *name)
{
    mt_json_member_object(writer, key);
    mt_json_member(writer, "code", code);
    mt_json_member(writer, "name", name);
    mt_json_end_object(writer);
}

/* The languages that a page selects at first: any source, and the default model's target. */
static void write_languages(struct mt_json_writer *writer, const struct mt_service *service)
{
    char name[MT_LANGUAGE_NAME_BYTES] = "";
    struct mt_languages targets;
    mt_languages_list(service, MT_LANGUAGES_TARGETS, &targets);
    const char *target = mt_languages_target_of(mt_catalog_default(service->catalog));
    if (target[0] == '\0' && targets.n > 0)
        target = targets.codes[0];
    if (target[0] != '\0')
        mt_language_name(target, name);
    mt_json_member_object(writer, "language");
    write_language(writer, "source", "auto", "Auto Detect");
    write_language(writer, "target", target, name);
    mt_json_end_object(writer);
}

static enum mt_status finish_settings(struct mt_request *request, struct mt_error *err)
{
    const struct mt_service *service = request->service;
    const struct mt_settings *settings = service->settings;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &request->reply.body);
    mt_json_begin_object(&writer);
    mt_json_member_bool(&writer, "apiKeys", service->keys != NULL);
    /* With an API key this is the key's limit. */
    mt_json_member_integer(&writer, "charLimit", request->access.limits.max_text_chars);
    mt_json_member_bool(&writer, "filesTranslation", settings->files_translation);
    mt_json_member_integer(&writer, "frontendTimeout", FRONTEND_TIMEOUT_MS);
    mt_json_member_bool(&writer, "keyRequired", settings->key_required);
    write_languages(&writer, service);
    mt_json_member_bool(&writer, "suggestions", settings->suggestions && service->memories);
    mt_json_key(&writer, "supportedFilesFormat");
    mt_files_write_extensions(&writer, service->settings);
    mt_json_end_object(&writer);
    return mt_text_check(&request->reply.body, "the settings", err);
}

const struct mt_handler mt_frontend_settings_handler = {.finish = finish_settings};
