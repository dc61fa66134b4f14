#include "server/commands/model_choice.h"

#include "base/file.h"
#include "base/text.h"
#include "config/settings.h"
#include "model/model.h"
#include "model/tokenizer/tokenizer.h"
#include "server/api/decoding_params.h"
#include "server/commands/cli.h"
#include "server/models/model_check.h"
#include "server/models/model_profile.h"
#include "server/models/served_model.h"
#include "server/store/hub.h"
#include "server/store/store.h"
#include "server/text/direction.h"

#include <stdlib.h>
#include <string.h>

enum mt_status mt_model_choice_find(const char *models_directory, const char *text, char **out,
                                    struct mt_error *err)
{
    if (mt_path_exists(text) == MT_OK || !mt_store_is_name(text)) {
        *out = strdup(text);
        return *out ? MT_OK : mt_fail_memory(err, strlen(text) + 1, "path");
    }
    struct mt_store store;
    enum mt_status status = mt_store_open(models_directory, &store, err);
    if (status)
        return status;
    status = mt_store_find(&store, text, out, err);
    mt_store_close(&store);
    return status;
}

/* Takes over value. */
static void replace(char **setting, char *value)
{
    free(*setting);
    *setting = value;
}

static enum mt_status find_named(struct mt_settings *settings, struct mt_error *err)
{
    char *path;
    enum mt_status status =
        mt_model_choice_find(settings->models_directory, settings->model, &path, err);
    if (!status)
        replace(&settings->model, path);
    return status;
}

/* ---- if no model is named ---- */

/* Hugging Face's cache belongs to other programs, so its models are served only if they are
 * named. */
static bool is_candidate(const struct mt_stored_model *model)
{
    return model->place != MT_PLACE_HUB;
}

static size_t count_candidates(const struct mt_store *store)
{
    size_t n = 0;
    for (size_t i = 0; i < store->n; i++)
        n += is_candidate(&store->models[i]);
    return n;
}

static enum mt_status fail_without(const struct mt_store *store, struct mt_error *err)
{
    const struct mt_stored_model *last = store->n > 0 ? &store->models[store->n - 1] : NULL;
    if (last) /* all others are in the hub */
        return mt_fail(
            err, MT_INVALID,
            "no model: give --model NAME (Hugging Face's cache has %.150s), or fetch one "
            "first: attentiond pull opus-mt-en-fr",
            last->name);
    return mt_fail(err, MT_INVALID,
                   "no model: give --model DIR, or fetch one first: attentiond pull opus-mt-en-fr; "
                   "looked in %.300s",
                   mt_places_root(&store->places));
}

static enum mt_status choose_directories(const struct mt_model_choice *choice,
                                         const struct mt_store *store, struct mt_settings *settings,
                                         struct mt_error *err)
{
    struct mt_text list = {0};
    char *joined;
    if (choice->creates_root)
        mt_make_directories(mt_places_root(&store->places));
    for (size_t i = 0; i < store->places.n; i++) {
        const struct mt_projected_tag *place = &store->places.list[i];
        if (place->kind != MT_PLACE_HUB && mt_path_exists(place->path) == MT_OK)
            mt_text_appendf(&list, "%s%s", list.length > 0 ? ":" : "", place->path);
    }
    enum mt_status status = mt_text_take(&list, "models_directory", &joined, NULL, err);
    if (!status)
        replace(&settings->models_directory, joined);
    mt_text_finish(&list);
    return status;
}

/* Chooses the model that serve would choose: the first whose files can be read, of which only the
 * weights are not looked at. */
static enum mt_status choose_first(const struct mt_model_choice *choice,
                                   const struct mt_store *store, struct mt_settings *settings,
                                   struct mt_error *err)
{
    const struct mt_stored_model *found = NULL;
    struct mt_error why = {0};
    for (size_t i = 0; i < store->n && !found; i++) {
        const struct mt_stored_model *model = &store->models[i];
        struct mt_model_profile profile;
        if (!is_candidate(model) ||
            mt_model_profile_read(model->path, model->name, &profile, &why) != MT_OK)
            continue;
        mt_model_profile_finish(&profile);
        found = model;
    }
    if (!found)
        return mt_fail(err, why.status, "%s", why.message);
    if (count_candidates(store) > 1)
        mt_cli_say("attentiond %s: with %s; --model NAME takes another one of attentiond list",
                   choice->command, found->name);
    char *path = strdup(found->path);
    if (!path)
        return mt_fail_memory(err, strlen(found->path) + 1, "path");
    replace(&settings->model, path);
    return MT_OK;
}

static enum mt_status choose(const struct mt_model_choice *choice, const struct mt_store *store,
                             struct mt_settings *settings, struct mt_error *err)
{
    if (choice->serves_many)
        return choose_directories(choice, store, settings, err);
    return choose_first(choice, store, settings, err);
}

enum mt_status mt_model_choice_make(const struct mt_model_choice *choice,
                                    struct mt_settings *settings, struct mt_error *err)
{
    struct mt_store store;
    if (*settings->model)
        return find_named(settings, err);
    if (choice->serves_many && *settings->models_directory)
        return MT_OK;
    enum mt_status status = mt_store_open(settings->models_directory, &store, err);
    if (status)
        return status;
    if (count_candidates(&store) > 0 || choice->takes_none)
        status = choose(choice, &store, settings, err);
    else if (choice->needs_one)
        status = fail_without(&store, err);
    mt_store_close(&store);
    return status;
}

/* ---- what the model's files say ---- */

static enum mt_status read_profile(const struct mt_settings *settings, struct mt_model_profile *out,
                                   struct mt_error *err)
{
    char name[MT_HUB_NAME_BYTES];
    mt_model_name_of(settings->model, name);
    return mt_model_profile_read(settings->model, name, out, err);
}

static const char *only(const struct mt_model_language *languages, size_t n)
{
    return n == 1 ? languages[0].code : "";
}

enum mt_status mt_model_choice_direction(const struct mt_settings *settings,
                                         const struct mt_model *model,
                                         struct mt_text_direction *out, struct mt_error *err)
{
    const struct mt_tokenizer *tokenizer = mt_model_tokenizer(model);
    const char *source = settings->source_lang, *target = settings->target_lang;
    if ((*source || mt_tokenizer_source_lang(tokenizer)) &&
        (*target || mt_tokenizer_target_lang(tokenizer)))
        return mt_text_direction_choose(tokenizer, source, target, out, err);
    struct mt_model_profile profile;
    enum mt_status status = read_profile(settings, &profile, err);
    if (status)
        return status;
    if (!*source && !mt_tokenizer_source_lang(tokenizer))
        source = only(profile.sources, profile.n_sources);
    if (!*target && !mt_tokenizer_target_lang(tokenizer))
        target = only(profile.targets, profile.n_targets);
    status = mt_text_direction_choose(tokenizer, source, target, out, err);
    mt_model_profile_finish(&profile);
    return status;
}

enum mt_status mt_model_choice_alignment(const struct mt_settings *settings,
                                         const struct mt_alignment_words *words,
                                         struct mt_alignment_choice *out, struct mt_error *err)
{
    if (words->layers || words->heads)
        return mt_alignment_parse(words, out, err);
    struct mt_model_profile profile;
    enum mt_status status = read_profile(settings, &profile, err);
    if (status)
        return status;
    status = mt_alignment_parse(&profile.defaults.alignment, out, err);
    mt_model_profile_finish(&profile);
    return status ? status : mt_alignment_parse(words, out, err);
}

enum mt_status mt_model_choice_defaults(const struct mt_cli *cli, const struct mt_model *model,
                                        struct mt_sentence_options *decoding,
                                        struct mt_alignment_choice *alignment, struct mt_error *err)
{
    struct mt_model_profile profile;
    struct mt_alignment_choice own;
    enum mt_status status = read_profile(&cli->settings, &profile, err);
    if (status)
        return status;
    const struct mt_model_defaults none = MT_NO_MODEL_DEFAULTS;
    struct mt_model_defaults defaults = profile.defaults;
    status = mt_model_defaults_check(&defaults, model, alignment ? alignment : &own, err);
    if (mt_cli_has_flag(cli, "beam-size"))
        defaults.beam_size = none.beam_size;
    if (mt_cli_has_flag(cli, "length-penalty"))
        defaults.length_penalty = none.length_penalty;
    if (mt_cli_has_flag(cli, "max-length-factor"))
        defaults.max_length_factor = none.max_length_factor;
    *decoding = mt_decoding_defaults(&cli->settings, model, &defaults);
    /* Like a request's field it is refused, and not limited, where it is too long. */
    if (mt_cli_has_flag(cli, "max-decoding-length"))
        decoding->max_decoding_length = (size_t)cli->settings.max_decoding_length;
    mt_model_profile_finish(&profile);
    return status;
}
