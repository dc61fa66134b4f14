#include "server/api/attention_api.h"
#include "server/api/deepl_api.h"
#include "server/api/detect_api.h"
#include "server/api/document_api.h"
#include "server/api/files_api.h"
#include "server/api/frontend_api.h"
#include "server/api/glossaries_api.h"
#include "server/api/health_api.h"
#include "server/api/languages_api.h"
#include "server/api/memories_api.h"
#include "server/api/models_api.h"
#include "server/api/positions_api.h"
#include "server/http/router.h"
#include "server/api/translate_api.h"
#include "server/api/web.h"

/* The routes of the list, and of the glossaries in it. */
#define GLOSSARIES(root, changes)                                                              \
    {.method = "GET",                                                                          \
     .also = "POST",                                                                           \
     .path = root,                                                                             \
     .handler = &mt_glossaries_handler,                                                        \
     .access = MT_ACCESS_CHANGES_METERED,                                                      \
     .takes_glossaries = true},                                                                \
    {                                                                                          \
        .method = "GET", .also = changes, .path = root "/", .handler = &mt_glossaries_handler, \
        .is_folder = true, .access = MT_ACCESS_CHANGES_METERED, .takes_glossaries = true       \
    }

const struct mt_route mt_routes[] = {
    {.method = "GET", .path = "/", .handler = &mt_web_handler, .is_page = true},
    {.method = "GET",
     .also = "POST",
     .path = "/attention",
     .handler = &mt_attention_handler,
     .is_strict_about_type = true,
     .access = MT_ACCESS_METERED},
    {.method = "POST", .path = "/detect", .handler = &mt_detect_handler},
    {.method = "GET", .path = "/docs", .handler = &mt_web_handler, .is_page = true},
    {.method = "GET",
     .path = "/download_file/",
     .handler = &mt_download_file_handler,
     .is_folder = true},
    {.method = "GET", .path = "/frontend/settings", .handler = &mt_frontend_settings_handler},
    {.method = "GET", .path = "/health", .handler = &mt_health_handler, .is_vital = true},
    {.method = "GET", .path = "/health/live", .handler = &mt_health_handler, .is_vital = true},
    {.method = "GET", .path = "/health/ready", .handler = &mt_ready_handler, .is_vital = true},
    {.method = "GET", .path = "/languages", .handler = &mt_languages_handler},
    {.method = "GET", .path = "/metrics", .handler = &mt_metrics_handler, .is_vital = true},
    {.method = "GET", .path = "/models", .handler = &mt_models_handler},
    {.method = "GET", .path = "/models/", .handler = &mt_model_handler, .is_folder = true},
    {.method = "GET", .path = "/openapi.json", .handler = &mt_description_handler},
    {.method = "GET", .path = "/positions", .handler = &mt_positions_handler},
    {.method = "GET", .path = "/spec", .handler = &mt_description_handler},
    {.method = "POST", .path = "/suggest", .handler = &mt_suggest_handler},
    {.method = "POST", .path = "/translate", .handler = &mt_translate_handler},
    {.method = "POST",
     .path = "/translate_file",
     .handler = &mt_translate_file_handler,
     .takes_documents = true},
    {.method = "POST",
     .path = "/v2/document",
     .handler = &mt_document_handler,
     .takes_documents = true},
    {.method = "GET",
     .also = "POST, DELETE",
     .path = "/v2/document/",
     .handler = &mt_document_status_handler,
     .is_folder = true,
     .access = MT_ACCESS_KEYED},
    GLOSSARIES("/v2/glossaries", "DELETE"),
    {.method = "GET",
     .path = "/v2/glossary-language-pairs",
     .handler = &mt_glossary_pairs_handler,
     .access = MT_ACCESS_KEYED},
    {.method = "GET",
     .path = "/v2/languages",
     .handler = &mt_deepl_languages_handler,
     .access = MT_ACCESS_KEYED},
    {.method = "POST", .path = "/v2/translate", .handler = &mt_deepl_translate_handler},
    {.method = "GET",
     .also = "POST",
     .path = "/v2/usage",
     .handler = &mt_deepl_usage_handler,
     .access = MT_ACCESS_KEYED},
    GLOSSARIES("/v3/glossaries", "PUT, PATCH, DELETE"),
    {.method = "GET",
     .also = "POST",
     .path = "/v3/translation_memories",
     .handler = &mt_memories_handler,
     .access = MT_ACCESS_CHANGES_METERED,
     .takes_documents = true},
    {.method = "GET",
     .also = "POST, DELETE",
     .path = "/v3/translation_memories/",
     .handler = &mt_memories_handler,
     .is_folder = true,
     .access = MT_ACCESS_CHANGES_METERED,
     .takes_documents = true},
    {.method = "GET", .path = "/web/", .handler = &mt_web_handler, .is_folder = true},
};

const size_t mt_n_routes = sizeof mt_routes / sizeof mt_routes[0];
