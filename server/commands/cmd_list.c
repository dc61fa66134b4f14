#include "base/file.h"
#include "base/json.h"
#include "model/files/cache_files.h"
#include "model/files/source.h"
#include "server/commands/cli.h"
#include "server/commands/commands.h"
#include "server/commands/model_choice.h"
#include "server/commands/other_programs.h"
#include "server/models/model_profile.h"
#include "server/store/hub.h"
#include "server/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Width of the table in columns, as on a usual terminal. */
#define MAX_COLUMNS 80
#define BETWEEN "  "
/* Longer lists of languages and longer licences are cut; --json has them completely. */
#define LANGUAGES_COLUMNS 14
#define LICENCE_COLUMNS 16
/* Least width of an origin that is cut. */
#define MIN_FROM_COLUMNS 8
#define CELL_BYTES 600

enum column { NAME, LANGUAGES, SIZE, LICENCE, PACKED, FROM, N_COLUMNS };

/* One model of the list. */
struct entry {
    const struct mt_stored_model *model;
    struct mt_model_profile profile;
    struct mt_error failure; /* MT_OK: it can be served */
    uint64_t n_bytes;
    bool is_packed;
};

struct list {
    struct entry *entries;
    size_t n;
};

/* ---- what there is ---- */

/* Whether its weights are already packed for int8. */
static bool is_packed(const struct mt_stored_model *model, const char *cache_directory)
{
    char *path;
    if (mt_path_holds(model->path, MT_PACKED_FILE_NAME))
        return true;
    if (cache_directory[0] == '\0' ||
        mt_cache_file_path(cache_directory, model->path, &path, NULL) != MT_OK)
        return false;
    bool is_there = mt_path_exists(path) == MT_OK;
    free(path);
    return is_there;
}

/* A model in the hub that is not ours is left out without a message, because the hub has models of
 * all kinds. */
static enum mt_status add(struct list *list, const struct mt_stored_model *model,
                          const struct mt_settings *settings, struct mt_error *err)
{
    struct entry *entry = &list->entries[list->n];
    char name[MT_HUB_NAME_BYTES];
    *entry = (struct entry){.model = model};
    mt_model_name_of(model->path, name);
    enum mt_status status =
        mt_model_profile_read(model->path, name, &entry->profile, &entry->failure);
    if (status == MT_MEMORY)
        return mt_fail(err, MT_MEMORY, "%s", entry->failure.message);
    if (status && model->place == MT_PLACE_HUB)
        return MT_OK;
    /* err may hold failures of steps that were tried before one succeeded */
    entry->failure.status = status;
    entry->n_bytes = mt_stored_model_bytes(model);
    entry->is_packed = is_packed(model, settings->cache_dir);
    list->n++;
    return MT_OK;
}

static void finish_list(struct list *list)
{
    for (size_t i = 0; i < list->n; i++)
        mt_model_profile_finish(&list->entries[i].profile);
    free(list->entries);
}

static enum mt_status make_list(const struct mt_store *store, const struct mt_settings *settings,
                                struct list *out, struct mt_error *err)
{
    struct list list = {.entries = calloc(store->n + 1, sizeof *list.entries)};
    if (!list.entries)
        return mt_fail_memory(err, (store->n + 1) * sizeof *list.entries, "a list of models");
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < store->n && !status; i++)
        status = add(&list, &store->models[i], settings, err);
    if (status)
        finish_list(&list);
    else
        *out = list;
    return status;
}

/* ---- as a table ---- */

static void append_codes(const struct mt_model_language *languages, size_t n, struct mt_text *out)
{
    for (size_t i = 0; i < n; i++)
        mt_text_appendf(out, "%s%s", i > 0 ? "," : "", languages[i].code);
    if (n == 0)
        mt_text_append_string(out, "any");
}

static void append_size(uint64_t n_bytes, struct mt_text *out)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double size = (double)n_bytes / 1000;
    size_t unit = 0;
    while (size >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        size /= 1000;
        unit++;
    }
    mt_text_appendf(out, size < 9.95 ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

static void append_from(const struct entry *entry, struct mt_text *out)
{
    static const char *const owners[] = {
        [MT_PLACE_MODELS] = "-",
        [MT_PLACE_ARGOS] = "LibreTranslate",
        [MT_PLACE_BUNDLED] = "bundled",
        [MT_PLACE_HUB] = "hf cache",
    };
    const struct mt_stored_model *model = entry->model;
    const char *from = model->origin.from, *at = strrchr(from, '@');
    if (entry->failure.status)
        mt_text_append_string(out, "unusable");
    else if (model->place == MT_PLACE_MODELS && from[0])
        mt_text_append(out, from, at ? (size_t)(at - from) : strlen(from));
    else
        mt_text_append_string(out, owners[model->place]);
}

static void append_cell(const struct entry *entry, enum column column, struct mt_text *out)
{
    const struct mt_model_profile *profile = &entry->profile;
    bool is_sound = !entry->failure.status;
    switch (column) {
    case NAME:
        mt_text_append_string(out, entry->model->name);
        break;
    case LANGUAGES:
        if (!is_sound) {
            mt_text_append_string(out, "-");
            break;
        }
        append_codes(profile->sources, profile->n_sources, out);
        mt_text_append_string(out, "-");
        append_codes(profile->targets, profile->n_targets, out);
        break;
    case SIZE:
        append_size(entry->n_bytes, out);
        break;
    case LICENCE:
        mt_text_append_string(out, is_sound && profile->licence[0] ? profile->licence : "-");
        break;
    case PACKED:
        mt_text_append_string(out, entry->is_packed ? "yes" : "no");
        break;
    case FROM:
        append_from(entry, out);
        break;
    case N_COLUMNS:
        break;
    }
}

struct cell {
    char text[CELL_BYTES];
    size_t width;
};

/* Cuts the text to max_width columns; it then ends in "..". */
static void cut(struct cell *cell, size_t max_width)
{
    if (cell->width <= max_width)
        return;
    size_t at = 0;
    for (size_t n = 2; n < max_width; n++)
        at += mt_utf8_length((unsigned char)cell->text[at]);
    strcpy(cell->text + at, "..");
    cell->width = max_width;
}

static enum mt_status fill_cell(const struct entry *entry, enum column column, struct cell *out,
                                struct mt_error *err)
{
    struct mt_text raw = {0}, shown = {0};
    append_cell(entry, column, &raw);
    enum mt_status status = mt_text_check(&raw, "a table", err);
    if (!status)
        mt_text_append_printable(&shown, raw.bytes ? raw.bytes : "", raw.length);
    if (!status)
        status = mt_text_check(&shown, "a table", err);
    if (!status) {
        size_t length = mt_utf8_valid_prefix(
            shown.bytes, shown.length < CELL_BYTES ? shown.length : CELL_BYTES - 1);
        memcpy(out->text, shown.bytes, length);
        out->text[length] = '\0';
        out->width = mt_utf8_count(out->text, length);
    }
    mt_text_finish(&raw);
    mt_text_finish(&shown);
    return status;
}

static void append_row(struct cell *row, const size_t *widths, struct mt_text *out)
{
    for (size_t c = 0; c < N_COLUMNS; c++) {
        mt_text_append_string(out, row[c].text);
        if (c + 1 < N_COLUMNS)
            mt_text_appendf(out, "%*s" BETWEEN, (int)(widths[c] - row[c].width), "");
    }
    mt_text_append_string(out, "\n");
}

static void set_title(struct cell *cell, const char *title)
{
    strcpy(cell->text, title);
    cell->width = strlen(title);
}

/* The last column gets the width that the others leave. */
static void measure(struct cell (*rows)[N_COLUMNS], size_t n, size_t widths[N_COLUMNS])
{
    size_t sum = 0;
    for (size_t c = 0; c + 1 < N_COLUMNS; c++) {
        widths[c] = 0;
        for (size_t r = 0; r < n; r++) {
            cut(&rows[r][c], c == LANGUAGES ? LANGUAGES_COLUMNS
                             : c == LICENCE ? LICENCE_COLUMNS
                                            : CELL_BYTES);
            if (rows[r][c].width > widths[c])
                widths[c] = rows[r][c].width;
        }
        sum += widths[c] + strlen(BETWEEN);
    }
    for (size_t r = 0; r < n; r++)
        cut(&rows[r][FROM],
            sum + MIN_FROM_COLUMNS < MAX_COLUMNS ? MAX_COLUMNS - sum : MIN_FROM_COLUMNS);
}

static enum mt_status append_table(const struct list *list, struct mt_text *out,
                                   struct mt_error *err)
{
    static const char *const titles[N_COLUMNS] = {"NAME",    "LANGUAGES", "SIZE",
                                                  "LICENCE", "PACKED",    "FROM"};
    struct cell(*rows)[N_COLUMNS] = calloc(list->n + 1, sizeof *rows);
    size_t widths[N_COLUMNS];
    enum mt_status status = MT_OK;
    if (!rows)
        return mt_fail_memory(err, (list->n + 1) * sizeof *rows, "a table");
    for (size_t c = 0; c < N_COLUMNS; c++)
        set_title(&rows[0][c], titles[c]);
    for (size_t r = 0; r < list->n && !status; r++)
        for (size_t c = 0; c < N_COLUMNS && !status; c++)
            status = fill_cell(&list->entries[r], (enum column)c, &rows[r + 1][c], err);
    if (!status) {
        measure(rows, list->n + 1, widths);
        for (size_t r = 0; r <= list->n; r++)
            append_row(rows[r], widths, out);
    }
    free(rows);
    return status;
}

/* ---- as JSON ---- */

static void write_languages(struct mt_json_writer *writer, const char *key,
                            const struct mt_model_language *languages, size_t n)
{
    mt_json_member_array(writer, key);
    for (size_t i = 0; i < n; i++)
        mt_json_string_z(writer, languages[i].code);
    mt_json_end_array(writer);
}

static void write_entry(struct mt_json_writer *writer, const struct entry *entry)
{
    const struct mt_stored_model *model = entry->model;
    const struct mt_model_profile *profile = &entry->profile;
    mt_json_begin_object(writer);
    if (model->origin.from[0])
        mt_json_member(writer, "from", model->origin.from);
    if (profile->licence[0])
        mt_json_member(writer, "licence", profile->licence);
    mt_json_member(writer, "name", model->name);
    mt_json_member_bool(writer, "packed", entry->is_packed);
    mt_json_member(writer, "path", model->path);
    mt_json_member(writer, "place", mt_place_name(model->place));
    if (model->origin.pulled[0])
        mt_json_member(writer, "pulled", model->origin.pulled);
    if (entry->failure.status)
        mt_json_member(writer, "reason", entry->failure.message);
    mt_json_member_count(writer, "size_bytes", entry->n_bytes);
    write_languages(writer, "sources", profile->sources, profile->n_sources);
    write_languages(writer, "targets", profile->targets, profile->n_targets);
    mt_json_end_object(writer);
}

static void append_json(const struct list *list, struct mt_text *out)
{
    struct mt_text json = {0};
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, &json);
    mt_json_begin_object(&writer);
    mt_json_member_array(&writer, "models");
    for (size_t i = 0; i < list->n; i++)
        write_entry(&writer, &list->entries[i]);
    mt_json_end_array(&writer);
    mt_json_end_object(&writer);
    mt_text_append_printable_json(out, json.bytes ? json.bytes : "", json.length);
    mt_text_append_string(out, "\n");
    if (json.status)
        out->status = json.status;
    mt_text_finish(&json);
}

/* ---- the command ---- */

static enum mt_status print(struct mt_text *text, struct mt_error *err)
{
    enum mt_status status = mt_text_check(text, "a list of models", err);
    if (!status) {
        (void)fputs(text->bytes, stdout);
        status = mt_cli_flush(err);
    }
    mt_text_finish(text);
    return status;
}

static enum mt_status print_list(const struct mt_settings *settings, bool as_json,
                                 struct mt_error *err)
{
    struct mt_store store;
    struct list list = {0};
    struct mt_text text = {0};
    enum mt_status status = mt_store_open(settings->models_directory, &store, err);
    if (status)
        return status;
    status = make_list(&store, settings, &list, err);
    if (!status && as_json)
        append_json(&list, &text);
    else if (!status && list.n > 0)
        status = append_table(&list, &text, err);
    else if (!status)
        mt_cli_say("attentiond list: no models here yet: attentiond pull opus-mt-en-fr fetches one "
                   "into %s",
                   mt_places_root(&store.places));
    if (!status && text.bytes)
        status = print(&text, err);
    for (size_t i = 0; i < list.n && !status && !as_json; i++)
        if (list.entries[i].failure.status)
            mt_cli_say("%s is unusable: %s", list.entries[i].model->name,
                       list.entries[i].failure.message);
    mt_text_finish(&text);
    finish_list(&list);
    mt_store_close(&store);
    return status;
}

static enum mt_status print_path(const struct mt_settings *settings, const char *name,
                                 struct mt_error *err)
{
    char *path;
    enum mt_status status = mt_model_choice_find(settings->models_directory, name, &path, err);
    if (status)
        return status;
    if (mt_path_exists(path) != MT_OK)
        status = mt_fail(err, MT_NOT_FOUND, "%s: there is no such path", path);
    else if (puts(path) >= 0)
        status = mt_cli_flush(err);
    free(path);
    return status;
}

int mt_cmd_list(int argc, char **argv)
{
    bool as_json = false;
    const char *name = NULL, *remote = NULL, *registry = NULL;
    const struct mt_cli_option options[] = {
        {.name = "json", .doc = "everything that is known of them, as JSON", .is_set = &as_json},
        {
            .name = "path",
            .value_name = "NAME",
            .doc = "print where the model lies that --model NAME means, and nothing else",
            .string = &name,
        },
        {
            .name = "remote",
            .value_name = "LANGUAGE",
            .doc = "show what there is to pull that translates from this language (en)",
            .string = &remote,
        },
        {
            .name = "registry",
            .value_name = "huggingface|argos|firefox",
            .doc = "with --remote: ask this one alone",
            .string = &registry,
        },
        {0},
    };
    const struct mt_cli_command command = {
        .name = "list",
        .verb = MT_VERB_LIST,
        .synopsis = "[--json] [--path NAME | --remote LANGUAGE]",
        .summary = "show the models on this machine, or what there is to pull",
        .detail =
            "What attentiond pull has fetched, the packages of LibreTranslate, the bundled models "
            "where they are\n"
            "installed, and of Hugging Face's cache what can be served. PACKED says whether the "
            "int8 weights\n"
            "are made already; otherwise the first start or request makes them. The names are "
            "those that\n"
            "--model takes.\n",
        .options = options,
    };
    struct mt_cli cli;
    struct mt_error err;
    int exit_code;
    if (!mt_cli_begin(&command, argc, argv, &cli, &exit_code))
        return exit_code;
    if (remote) { /* argv is unchanged, because no argument is positional */
        mt_cli_finish(&cli);
        return mt_pull_program_run("list", argc, argv);
    }
    enum mt_status status =
        name ? print_path(&cli.settings, name, &err) : print_list(&cli.settings, as_json, &err);
    exit_code = status ? mt_cli_fail(&command, &err) : MT_EXIT_OK;
    mt_cli_finish(&cli);
    return exit_code;
}
