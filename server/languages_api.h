/*
 * Which languages there are: GET /languages, and the check of source and target that every
 * translating route makes.
 */
#ifndef MT_SERVER_LANGUAGES_API_H
#define MT_SERVER_LANGUAGES_API_H

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

#endif
