#include "server/commands/cli.h"
#include "server/commands/commands.h"
#include "server/store/removal.h"
#include "server/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Says why the model cannot be removed by this command. */
static enum mt_status refuse(const struct mt_store *store, const char *name, struct mt_error *err)
{
    static const char *const owners[] = {
        [MT_PLACE_MODELS] = "nobody pulled it",
        [MT_PLACE_ARGOS] = "it is LibreTranslate's",
        [MT_PLACE_BUNDLED] = "it was installed with the program",
        [MT_PLACE_HUB] = "it is Hugging Face's cache, which hf cache delete removes from",
    };
    char *path;
    enum mt_status status = mt_store_find(store, name, &path, err);
    if (status)
        return status;
    for (size_t i = 0; i < store->n; i++)
        if (strcmp(store->models[i].path, path) == 0)
            status = mt_fail(err, MT_FORBIDDEN,
                             "\"%.100s\" lies in %.300s, and is not ours to remove: %s", name, path,
                             owners[store->models[i].place]);
    if (!status)
        status = mt_fail(err, MT_FORBIDDEN, "\"%.100s\" lies in %.300s, and is not ours to remove",
                         name, path);
    free(path);
    return status;
}

/* Asks for confirmation. *is_wanted is false where the answer is no, or where nobody can be asked,
 * which is printed. */
static enum mt_status ask(const struct mt_stored_model *model, bool *is_wanted,
                          struct mt_error *err)
{
    char answer[8] = "";
    if (!isatty(STDIN_FILENO))
        return mt_fail(err, MT_INVALID,
                       "nobody can be asked whether to remove %.300s; --yes removes it",
                       model->path);
    fprintf(stderr, "Remove %s (%.0f MB)? [y/N] ", model->path,
            (double)mt_stored_model_bytes(model) / 1e6);
    *is_wanted = fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
    return MT_OK;
}

static enum mt_status remove_model(const struct mt_settings *settings,
                                   const struct mt_stored_model *model, bool is_wanted,
                                   struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (!is_wanted)
        status = ask(model, &is_wanted, err);
    if (!status && is_wanted)
        status = mt_stored_model_remove(model, settings->cache_dir, err);
    if (!status)
        mt_cli_say(is_wanted ? "removed %s" : "%s stays", model->path);
    return status;
}

/* Removes the files of an unfinished pull, for which there is no model. */
static enum mt_status remove_unfinished(const struct mt_store *store, const char *name,
                                        struct mt_error *err)
{
    const char *slash = strrchr(name, '/'), *root = mt_places_root(&store->places);
    bool was_there;
    name = slash ? slash + 1 : name;
    enum mt_status status = mt_unfinished_pull_remove(root, name, &was_there, err);
    if (!status && !was_there)
        return MT_NOT_FOUND;
    if (!status)
        mt_cli_say("removed what an unfinished pull of %s had left", name);
    return status;
}

static enum mt_status run(const struct mt_settings *settings, const char *name, bool is_wanted,
                          struct mt_error *err)
{
    struct mt_store store;
    enum mt_status status = mt_store_open(settings->models_directory, &store, err);
    if (status)
        return status;
    const struct mt_stored_model *model = mt_store_find_in_models(&store, name);
    if (model && model->origin.is_pulled)
        status = remove_model(settings, model, is_wanted, err);
    else
        status = model ? MT_NOT_FOUND : remove_unfinished(&store, name, err);
    if (status == MT_NOT_FOUND)
        status = refuse(&store, name, err);
    mt_store_close(&store);
    return status;
}

int mt_cmd_remove(int argc, char **argv)
{
    bool is_wanted = false;
    const struct mt_cli_option options[] = {
        {.name = "yes", .doc = "without asking", .is_set = &is_wanted},
        {0},
    };
    const struct mt_cli_command command = {
        .name = "remove",
        .verb = MT_VERB_REMOVE,
        .synopsis = "NAME [--yes]",
        .summary = "remove a model that was pulled",
        .detail =
            "Removes what attentiond pull has fetched, and its packed weights in cache_dir, and "
            "nothing else.\n"
            "Of a pull that was not finished it removes what there is so far.\n"
            "A daemon that serves it lets it go by itself, once its requests are answered.\n",
        .options = options,
        .min_arguments = 1,
        .max_arguments = 1,
    };
    struct mt_cli cli;
    struct mt_error err;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    exit_code = run(&cli.settings, cli.arguments[0], is_wanted, &err) ? mt_cli_fail(&command, &err)
                                                                      : MT_EXIT_OK;
    mt_cli_finish(&cli);
    return exit_code;
}
