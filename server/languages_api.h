/*
 * Which languages there are: GET /languages, and the check of source and target that every
 * translating route makes.
 */
#ifndef MT_SERVER_LANGUAGES_API_H
#define MT_SERVER_LANGUAGES_API_H

#include "server/detect.h"
#include "server/handler.h"

/* GET /languages: [{"code","name","targets"}], as LibreTranslate gives them. */
extern const struct mt_handler mt_languages_handler;

struct mt_language_pair {
    char source[MT_LANGUAGE_BYTES], target[MT_LANGUAGE_BYTES]; /* normalised */
    bool is_identity; /* source and target are one: the text is its own translation */
};

/* MT_INVALID, with the text that LibreTranslate's clients know, where the model does not translate
 * from source to target. */
MT_MUST_CHECK enum mt_status mt_languages_check(const struct mt_service *service,
                                                const char *source, const char *target,
                                                struct mt_language_pair *out, struct mt_error *err);

/* The same where the source is "auto": out->source is "" and out->is_identity false: both are a
 * matter of each text. */
MT_MUST_CHECK enum mt_status mt_languages_check_target(const struct mt_service *service,
                                                       const char *target,
                                                       struct mt_language_pair *out,
                                                       struct mt_error *err);

/* What a text to be translated to target (normalised, checked) may be written in: what the model
 * translates to it, and target itself. target NULL: all that there are. The codes are borrowed. */
void mt_languages_to_detect(const struct mt_service *service, const char *target,
                            struct mt_detect_languages *out);

#endif
