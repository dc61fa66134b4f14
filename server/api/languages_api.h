/*
 * Which languages there are, and which models lead from one to another: GET /languages, and the
 * check of source, target and model for every route that translates.
 *
 * `only` is the model that a request names, or NULL. With NULL all models are considered, and ways
 * that lead through several of them.
 */
#ifndef MT_SERVER_API_LANGUAGES_API_H
#define MT_SERVER_API_LANGUAGES_API_H

#include "server/models/catalog.h"
#include "server/text/detect.h"
#include "server/requests/handler.h"

/* GET /languages: [{"code","name","targets"}], LibreTranslate's format. */
extern const struct mt_handler mt_languages_handler;

/* Reads the field "model", an id or an alias; *out is NULL where there is none. MT_NOT_FOUND names
 * the most similar one. */
MT_MUST_CHECK enum mt_status mt_languages_read_model(const struct mt_request *request,
                                                     struct mt_served_model **out,
                                                     struct mt_error *err);

/* Returns MT_BUSY: there are no models at all. */
enum mt_status mt_languages_fail_empty(struct mt_error *err);

struct mt_language_pair {
    char source[MT_LANGUAGE_BYTES], target[MT_LANGUAGE_BYTES]; /* normalised */
    /* source and target are the same language, and the text is its own translation */
    bool is_identity;
    struct mt_model_route
        route; /* n is 0 where is_identity, or where the source is not known yet */
};

/* Checks both languages. They may be "" where only is not NULL and has one language on that side.
 * MT_INVALID, with the text that LibreTranslate's clients know, where there is no way from source
 * to target. */
MT_MUST_CHECK enum mt_status mt_languages_check(const struct mt_service *service,
                                                struct mt_served_model *only, const char *source,
                                                const char *target, struct mt_language_pair *out,
                                                struct mt_error *err);

/* Checks the target where the source is "auto". out->source is "", out->is_identity false and the
 * route empty, because each text has its own language. */
MT_MUST_CHECK enum mt_status
mt_languages_check_target(const struct mt_service *service, struct mt_served_model *only,
                          const char *target, struct mt_language_pair *out, struct mt_error *err);

/* Sets pair->source to the language that was detected, and with it is_identity and route.
 * MT_INVALID where there is no way from it, or it is none of those that mt_languages_to_detect
 * returned. */
MT_MUST_CHECK enum mt_status mt_languages_set_source(const struct mt_service *service,
                                                     struct mt_served_model *only,
                                                     const struct mt_detection *detection,
                                                     struct mt_language_pair *pair,
                                                     struct mt_error *err);

/* Lists the languages that a text to be translated to target (normalised, checked) may be written
 * in: all from which a way leads there, and target itself. target NULL: all languages. The first is
 * the source of the default model, or of the named one, or English where that has several sources;
 * a text without letters is taken to be in it. The codes are borrowed. */
void mt_languages_to_detect(const struct mt_service *service, struct mt_served_model *only,
                            const char *target, struct mt_detect_languages *out);

/* The models' languages, sorted, except that the default model's source comes first. Borrowed. */
enum mt_languages_side { MT_LANGUAGES_ANY, MT_LANGUAGES_SOURCES, MT_LANGUAGES_TARGETS };
struct mt_languages {
    const char *codes[MT_MAX_CATALOG_LANGUAGES];
    size_t n;
};
void mt_languages_list(const struct mt_service *service, enum mt_languages_side side,
                       struct mt_languages *out);

/* Return the language on that side of a model; "" where it has several, or served is NULL. */
const char *mt_languages_source_of(const struct mt_served_model *served);
const char *mt_languages_target_of(const struct mt_served_model *served);

/* Write arrays of strings: the ids of a route's models, and the languages between them. */
void mt_model_route_write_models(struct mt_json_writer *writer, const struct mt_model_route *route);
void mt_model_route_write_via(struct mt_json_writer *writer, const struct mt_model_route *route);

#endif
