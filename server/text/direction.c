#include "server/text/direction.h"

#include "server/text/translation.h"

#include <string.h>

#define MAX_LISTED 12

/* Returns the model's language for the one asked for: preferably the same, else a similar one. */
static const char *find_own(const struct mt_tokenizer *tokenizer, const char *asked)
{
    const char *found = NULL;
    for (size_t i = 0; i < mt_tokenizer_n_languages(tokenizer); i++) {
        const char *own = mt_tokenizer_language(tokenizer, i);
        char code[MT_LANGUAGE_BYTES];
        if (!mt_language_of_model(own, code))
            continue;
        if (strcmp(code, asked) == 0)
            return own;
        if (!found && mt_language_matches(asked, code))
            found = own;
    }
    return found;
}

static enum mt_status refuse(const struct mt_tokenizer *tokenizer, const char *name,
                             const char *asked, struct mt_error *err)
{
    struct mt_text list = {0};
    size_t n = mt_tokenizer_n_languages(tokenizer);
    for (size_t i = 0; i < n && i < MAX_LISTED; i++)
        mt_text_appendf(&list, "%s%s", i ? ", " : "", mt_tokenizer_language(tokenizer, i));
    if (n > MAX_LISTED)
        mt_text_appendf(&list, " and %zu more", n - MAX_LISTED);
    enum mt_status status = mt_text_check(&list, "languages", err);
    if (!status)
        status = mt_fail(
            err, MT_INVALID, "%s: expected one of the model's languages (%s), found %s%.60s%s",
            name, list.bytes, *asked ? "\"" : "", *asked ? asked : "none", *asked ? "\"" : "");
    mt_text_finish(&list);
    return status;
}

/* Chooses the source or the target. own: what the model's files say, or NULL. */
static enum mt_status choose(const struct mt_tokenizer *tokenizer, const char *name,
                             const char *asked, const char *own, const char **code,
                             char lang[MT_LANGUAGE_BYTES], struct mt_error *err)
{
    bool has_many = mt_tokenizer_n_languages(tokenizer) > 0;
    enum mt_status status = MT_OK;
    *code = NULL;
    lang[0] = '\0';
    if (asked[0] != '\0' && mt_language_of_model(asked, lang) && has_many)
        *code = find_own(tokenizer, lang);
    else if (asked[0] != '\0')
        status = mt_language_parse(asked, lang, err);
    else if (own && !mt_language_normalise(own, lang))
        lang[0] = '\0';
    return status || !has_many || *code ? status : refuse(tokenizer, name, asked, err);
}

enum mt_status mt_text_direction_choose(const struct mt_tokenizer *tokenizer, const char *source,
                                        const char *target, struct mt_text_direction *out,
                                        struct mt_error *err)
{
    enum mt_status status =
        choose(tokenizer, "source_lang", source, mt_tokenizer_source_lang(tokenizer),
               &out->source_code, out->source_lang, err);
    return status ? status
                  : choose(tokenizer, "target_lang", target, mt_tokenizer_target_lang(tokenizer),
                           &out->target_code, out->target_lang, err);
}

const char *mt_text_direction_source(const struct mt_text_direction *direction)
{
    return direction->source_lang[0] ? direction->source_lang : NULL;
}

const char *mt_text_direction_target(const struct mt_text_direction *direction)
{
    return direction->target_lang[0] ? direction->target_lang : NULL;
}

void mt_text_direction_set(const struct mt_text_direction *direction,
                           struct mt_translation_options *options)
{
    options->source_lang = mt_text_direction_source(direction);
    options->target_lang = mt_text_direction_target(direction);
    options->source_code = direction->source_code;
    options->target_code = direction->target_code;
}
