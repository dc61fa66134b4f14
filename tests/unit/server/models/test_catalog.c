#include "server/models/catalog.h"

#include "base/file.h"
#include "config/settings.h"
#include "server/models/model_host.h"
#include "server/models/model_profile.h"
#include "tests/unit/server/models/fake_loading.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[256];
static struct mt_settings settings;
static struct mt_model_host *host;
static struct mt_catalog *catalog;
static struct mt_error err;

static void must(enum mt_status status)
{
    ck_assert_msg(!status, "%s", err.message);
}

/* --- directories that look like models; nothing here is ever loaded --- */

static char *path_of(const char *model, const char *file)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s/%s", root, model, file);
    return path;
}

static void write_file(const char *model, const char *file, const char *text)
{
    must(mt_file_write(path_of(model, file), text, strlen(text), &err));
}

static void make_model(const char *name)
{
    char config[600], *text;
    size_t length;
    snprintf(config, sizeof config, "%s/tests/models/en-de/config.json", getenv("MT_SOURCE_DIR"));
    must(mt_file_read(config, 1 << 20, &text, &length, &err));
    ck_assert_int_eq(mkdir(path_of(name, ""), 0700), 0);
    write_file(name, "config.json", text);
    write_file(name, "model.safetensors", "weights");
    free(text);
}

/* With tokenizer_config.json, and attentiond.json where there is one. */
static void make_pair(const char *name, const char *source, const char *target, const char *own)
{
    char text[200];
    snprintf(text, sizeof text, "{\"source_lang\": \"%s\", \"target_lang\": \"%s\"}", source,
             target);
    make_model(name);
    write_file(name, "tokenizer_config.json", text);
    if (own)
        write_file(name, "attentiond.json", own);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void start(void)
{
    const struct mt_model_host_options options = {
        .engine = {.n_workers = 1, .threads_per_worker = 1}};
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/mt-catalog-XXXXXX", tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(root));
    must(mt_settings_init(&settings, &err));
    must(mt_settings_set(&settings, "models_directory", root, "test", &err));
    must(mt_model_host_create(&options, &host, &err));
}

static void stop(void)
{
    mt_catalog_destroy(catalog);
    mt_model_host_let_go(host);
    mt_settings_finish(&settings);
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct mt_catalog *scan(const struct mt_catalog *former)
{
    const struct mt_catalog_options options = {
        .settings = &settings, .host = host, .former = former};
    struct mt_catalog *found;
    must(mt_catalog_create(&options, &found, &err));
    return found;
}

static const struct mt_served_model_info *info_of(const char *id)
{
    const struct mt_served_model *served = mt_catalog_find(catalog, id);
    ck_assert_msg(served, "there is no %s", id);
    return mt_served_model_info(served);
}

/* "en -> de pt-BR[>>pob<<]" */
static const char *languages_of(const char *id)
{
    static struct mt_text text;
    const struct mt_served_model_info *info = info_of(id);
    text.length = 0;
    for (size_t i = 0; i < info->n_sources; i++)
        mt_text_appendf(&text, "%s ", info->sources[i].code);
    mt_text_append_string(&text, "->");
    for (size_t i = 0; i < info->n_targets; i++) {
        mt_text_appendf(&text, " %s", info->targets[i].code);
        if (info->targets[i].token)
            mt_text_appendf(&text, "[%s]", info->targets[i].token);
    }
    return text.bytes;
}

/* "en-fr(en>fr) fr-de(fr>de)", or "!" and the reason why there is no way. */
static const char *way(const char *source, const char *target)
{
    static struct mt_text text;
    struct mt_model_route route;
    text.length = 0;
    if (mt_catalog_route(catalog, source, target, &route, &err) != MT_OK) {
        ck_assert_int_eq(err.status, MT_NOT_FOUND);
        mt_text_appendf(&text, "! %s", err.message);
        return text.bytes;
    }
    for (size_t i = 0; i < route.n; i++)
        mt_text_appendf(&text, "%s%s(%s>%s)", i > 0 ? " " : "",
                        mt_served_model_info(route.steps[i].served)->id,
                        route.steps[i].source->code, route.steps[i].target->code);
    return text.bytes;
}

/* --- what is found --- */

START_TEST(each_subdirectory_is_a_model)
{
    make_pair("b", "en", "de", NULL);
    make_pair("a", "de", "en", NULL);
    make_pair(".hidden", "de", "en", NULL);
    make_pair("odd name", "fr", "en", NULL);
    ck_assert_int_eq(mkdir(path_of("no-model", ""), 0700), 0);
    must(mt_file_write(path_of("", "file"), "x", 1, &err));
    catalog = scan(NULL);
    ck_assert_uint_eq(mt_catalog_n(catalog), 3);
    ck_assert_str_eq(mt_served_model_info(mt_catalog_at(catalog, 0))->id, "a");
    ck_assert_str_eq(mt_served_model_info(mt_catalog_at(catalog, 1))->id, "b");
    ck_assert_str_eq(mt_served_model_info(mt_catalog_at(catalog, 2))->id, "odd_name");
    ck_assert_ptr_eq(mt_catalog_default(catalog), mt_catalog_at(catalog, 0));
    ck_assert_ptr_null(mt_catalog_find(catalog, "hidden"));
    ck_assert_str_eq(mt_catalog_nearest(catalog, "od_name"), "odd_name");
    ck_assert_uint_gt(mt_catalog_longest_sentence(catalog).n_positions, 0);
    ck_assert_uint_gt(mt_catalog_longest_sentence(catalog).n_beams, 0);
    ck_assert_uint_eq(fake_n_loads(), 0);
}
END_TEST

START_TEST(the_model_of_the_settings_comes_first)
{
    make_pair("a", "de", "en", NULL);
    make_pair("z", "en", "de", NULL);
    must(mt_settings_set(&settings, "model", path_of("z", "."), "test", &err));
    must(mt_settings_set(&settings, "target_lang", "nds", "test", &err));
    catalog = scan(NULL);
    ck_assert_uint_eq(mt_catalog_n(catalog), 2); /* not twice */
    ck_assert_str_eq(mt_served_model_info(mt_catalog_default(catalog))->id, "z");
    ck_assert(info_of("z")->is_pinned);
    ck_assert(!info_of("a")->is_pinned);
    ck_assert_str_eq(languages_of("z"), "en -> nds");
}
END_TEST

START_TEST(the_model_of_the_settings_must_be_there)
{
    const struct mt_catalog_options options = {.settings = &settings, .host = host};
    must(mt_settings_set(&settings, "model", path_of("none", ""), "test", &err));
    ck_assert_int_eq(mt_catalog_create(&options, &catalog, &err), MT_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "none"));
    must(mt_settings_set(&settings, "model", "", "test", &err));
    must(mt_settings_set(&settings, "models_directory", path_of("none", ""), "test", &err));
    ck_assert_int_eq(mt_catalog_create(&options, &catalog, &err), MT_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "models_directory"));
}
END_TEST

START_TEST(an_empty_directory_is_a_catalog_of_nothing)
{
    catalog = scan(NULL);
    ck_assert_uint_eq(mt_catalog_n(catalog), 0);
    ck_assert_ptr_null(mt_catalog_default(catalog));
    ck_assert_ptr_null(mt_catalog_find(catalog, "x"));
    ck_assert_str_eq(way("en", "de"), "! no model translates from en");
}
END_TEST

START_TEST(a_broken_one_is_listed_with_its_reason)
{
    struct mt_served_model_status status;
    make_pair("sound", "en", "de", NULL);
    make_pair("config", "en", "de", NULL);
    write_file("config", "config.json", "{");
    make_pair("typo", "en", "de", "{\"beam_sizes\": 4}");
    make_pair("empty", "en", "de", NULL);
    unlink(path_of("empty", "model.safetensors"));
    make_pair("fifo", "en", "de", NULL);
    unlink(path_of("fifo", "model.safetensors"));
    ck_assert_int_eq(mkfifo(path_of("fifo", "model.safetensors"), 0600), 0);
    catalog = scan(NULL);
    ck_assert_uint_eq(mt_catalog_n(catalog), 5);
    const struct {
        const char *id, *reason;
    } cases[] = {{"config", "config.json"},
                 {"typo", "\"beam_sizes\" is no member: did you mean \"beam_size\"?"},
                 {"empty", "empty: expected weights (model.safetensors, "},
                 {"fifo", "model.safetensors: expected a regular file, found a FIFO"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_served_model_describe(mt_catalog_find(catalog, cases[i].id), &status);
        ck_assert_int_eq(status.state, MT_SERVED_FAILED);
        ck_assert_msg(strstr(status.reason, cases[i].reason), "%s", status.reason);
    }
    ck_assert_str_eq(way("en", "de"), "sound(en>de)");
    ck_assert_str_eq(mt_served_model_info(mt_catalog_default(catalog))->id, "sound");
}
END_TEST

/* --- what is shared --- */

START_TEST(what_has_not_changed_is_shared)
{
    make_pair("same", "en", "de", NULL);
    make_pair("changed", "en", "fr", NULL);
    make_pair("removed", "en", "nl", NULL);
    make_pair("broken", "en", "nl", "{");
    struct mt_catalog *former = scan(NULL);
    write_file("changed", "model.safetensors", "weights"); /* another file of the same content */
    write_file("same", "README.md", "read me");            /* for people */
    unlink(path_of("removed", "config.json"));
    make_pair("added", "en", "it", NULL);
    catalog = scan(former);
    ck_assert_ptr_eq(mt_catalog_find(catalog, "same"), mt_catalog_find(former, "same"));
    ck_assert_ptr_ne(mt_catalog_find(catalog, "changed"), mt_catalog_find(former, "changed"));
    ck_assert_ptr_ne(mt_catalog_find(catalog, "broken"), mt_catalog_find(former, "broken"));
    ck_assert_ptr_null(mt_catalog_find(catalog, "removed"));
    ck_assert_ptr_nonnull(mt_catalog_find(catalog, "added"));
    mt_catalog_destroy(former);
    ck_assert_str_eq(languages_of("same"), "en -> de");
}
END_TEST

START_TEST(other_settings_make_other_models)
{
    const char *const keys[][2] = {{"precision", "fp32"},
                                   {"load_mode", "copy"},
                                   {"kernels", "c"},
                                   {"warm_up_text", "Good morning."},
                                   {"beam_size", "1"}};
    make_pair("one", "en", "de", NULL);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct mt_catalog *former = scan(NULL);
        must(mt_settings_set(&settings, keys[i][0], keys[i][1], "test", &err));
        catalog = scan(former);
        ck_assert_ptr_ne(mt_catalog_at(catalog, 0), mt_catalog_at(former, 0));
        mt_catalog_destroy(former);
        former = catalog;
        must(mt_settings_set(&settings, "port", "6000", "test", &err));
        catalog = scan(former);
        ck_assert_ptr_eq(mt_catalog_at(catalog, 0), mt_catalog_at(former, 0));
        mt_catalog_destroy(former);
        mt_catalog_destroy(catalog);
        catalog = NULL;
    }
}
END_TEST

START_TEST(what_replaces_a_loaded_one_is_loaded)
{
    const struct mt_loaded_model *loaded;
    struct mt_served_model_status status;
    make_pair("used", "en", "de", NULL);
    make_pair("unused", "en", "de", NULL);
    make_pair("wanted", "en", "de", "{\"preload\": true}");
    struct mt_catalog *former = scan(NULL);
    mt_catalog_prefetch(former, NULL);
    must(mt_served_model_load(mt_catalog_find(former, "used"), &loaded, &err));
    write_file("used", "model.safetensors", "other weights");
    write_file("unused", "model.safetensors", "other weights");
    catalog = scan(former);
    mt_catalog_prefetch(catalog, former);
    do {
        usleep(1000);
        mt_served_model_describe(mt_catalog_find(catalog, "used"), &status);
    } while (status.state != MT_SERVED_READY);
    mt_served_model_describe(mt_catalog_find(catalog, "wanted"), &status);
    ck_assert_int_eq(status.state, MT_SERVED_READY);
    mt_served_model_describe(mt_catalog_find(catalog, "unused"), &status);
    ck_assert_int_eq(status.state, MT_SERVED_COLD);
    ck_assert_uint_eq(fake_n_loads(), 3);
    mt_catalog_destroy(former);
}
END_TEST

START_TEST(what_cannot_be_loaded_replaces_nothing)
{
    const struct mt_loaded_model *loaded;
    struct mt_served_model_status status;
    make_pair("config", "en", "de", NULL);
    make_pair("weights", "en", "fr", "{\"aliases\": [\"best\"]}");
    make_pair("cold", "en", "nl", NULL);
    struct mt_catalog *former = scan(NULL);
    must(mt_served_model_load(mt_catalog_find(former, "config"), &loaded, &err));
    must(mt_served_model_load(mt_catalog_find(former, "weights"), &loaded, &err));
    write_file("config", "config.json", "{");
    write_file("weights", "model.safetensors", "other weights");
    write_file("weights", "attentiond.json", "{\"target_lang\": \"it\"}");
    write_file("cold", "config.json", "{");
    fake_set_broken(true);
    for (int i = 0; i < 2; i++) { /* and again with the next reload */
        catalog = scan(former);
        ck_assert_ptr_eq(mt_catalog_find(catalog, "config"), mt_catalog_find(former, "config"));
        ck_assert_ptr_eq(mt_catalog_find(catalog, "weights"), mt_catalog_find(former, "weights"));
        ck_assert_ptr_ne(mt_catalog_find(catalog, "cold"), mt_catalog_find(former, "cold"));
        mt_catalog_destroy(former);
        former = catalog;
    }
    ck_assert_str_eq(way("en", "de"), "config(en>de)");
    ck_assert_str_eq(way("en", "fr"), "weights(en>fr)");
    ck_assert_str_eq(way("en", "nl"), "! no model translates into nl");
    ck_assert_ptr_eq(mt_catalog_find(catalog, "best"), mt_catalog_find(catalog, "weights"));
    mt_served_model_describe(mt_catalog_find(catalog, "config"), &status);
    ck_assert_int_eq(status.state, MT_SERVED_READY);
    ck_assert_msg(strstr(status.reason, "config.json"), "%s", status.reason);

    fake_set_broken(false);
    catalog = scan(former);
    ck_assert_ptr_ne(mt_catalog_find(catalog, "weights"), mt_catalog_find(former, "weights"));
    mt_served_model_describe(mt_catalog_find(catalog, "weights"), &status);
    ck_assert_int_eq(status.state, MT_SERVED_READY);
    ck_assert_str_eq(status.reason, "");
    ck_assert_str_eq(way("en", "it"), "weights(en>it)");
    mt_catalog_destroy(former);
    unlink(path_of("config", "config.json")); /* what is taken away is gone */
    former = catalog;
    catalog = scan(former);
    ck_assert_ptr_null(mt_catalog_find(catalog, "config"));
    mt_catalog_destroy(former);
}
END_TEST

/* --- languages --- */

START_TEST(the_name_says_what_the_files_do_not)
{
    const struct {
        const char *name, *expected;
    } cases[] = {
        {"opus-mt-en-de", "en -> de"},
        {"en-fr", "en -> fr"},
        {"my-model.en-nl", "en -> nl"},
        {"opus-mt-tc-big-en-pt", "en -> pt"},
        {"opus-mt-deu-eng", "de -> en"},
        {"opus-mt-en-zh_Hant", "en -> zh-Hant"},
        {"pt_BR-en", "pt-BR -> en"},
        {"translate-en_es-1_9", "en -> es"},
        {"opus-mt-tiny", "->"},
        {"best-model", "->"},
        {"fine-tuned-v2", "->"},
        {"my-big", "->"},
        {"opus-mt-en-fi-2024", "en -> fi"},
        {"x", "->"},
        {"marian-base-12.it-en", "it -> en"},
        {"fr_en", "fr -> en"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        make_model(cases[i].name);
    catalog = scan(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_msg(strcmp(languages_of(cases[i].name), cases[i].expected) == 0,
                      "%s: %s, expected %s", cases[i].name, languages_of(cases[i].name),
                      cases[i].expected);
}
END_TEST

START_TEST(files_say_more_than_names)
{
    make_pair("en-de", "deu", "eng", NULL);
    make_pair("fr-it", "fr", "it", "{\"source_lang\": \"oc\", \"target_lang\": [\"ca\", \"es\"]}");
    make_pair("en-pt", "en", "pt", NULL);
    write_file("en-pt", "vocab.json",
               "{\"</s>\": 0, \">>pob<<\": 1, \">>por<<\": 2, \"a>>b<<\": 3, \">>no_language_at "
               "all<<\": 4}");
    make_model("opus-mt-en-ROMANCE");
    write_file("opus-mt-en-ROMANCE", "attentiond.json", "{\"source_lang\": \"en\"}");
    write_file("opus-mt-en-ROMANCE", "vocab.json",
               "{\">>fra<<\": 0, \">>ron<<\": 1, \">>cat<<\": 2}");
    make_model("some");
    write_file("some", "attentiond.json",
               "{\"source_lang\": \"en\", \"target_lang\": [\"ro\", \"fr\"]}");
    write_file("some", "vocab.json", "{\">>fra<<\": 0, \">>ron<<\": 1, \">>cat<<\": 2}");
    catalog = scan(NULL);
    ck_assert_str_eq(languages_of("en-de"), "de -> en");
    ck_assert_str_eq(languages_of("fr-it"), "oc -> ca es");
    ck_assert_str_eq(languages_of("en-pt"), "en -> pt-BR[>>pob<<] pt[>>por<<]");
    ck_assert_str_eq(languages_of("opus-mt-en-ROMANCE"),
                     "en -> fr[>>fra<<] ro[>>ron<<] ca[>>cat<<]");
    ck_assert_str_eq(languages_of("some"), "en -> ro[>>ron<<] fr[>>fra<<]");
}
END_TEST

/* --- attentiond.json --- */

START_TEST(a_directory_says_how_it_wants_to_be_used)
{
    make_pair("full", "en", "de",
              "{\"//\": \"a note\", \"source_lang\": \"en-US\", \"target_lang\": \"de\","
              "\"aliases\": [\"best\", \"english-german\"], \"beam_size\": 4,"
              "\"length_penalty\": 1.5, \"max_decoding_length\": 99, \"max_length_factor\": 2.5, "
              "\"alignment_layers\": \"2,3\","
              "\"alignment_heads\": [0, -1], \"alignment_mode\": \"max\","
              "\"alignment_shift\": \"input\", \"preload\": true, \"quality\": 2.5}");
    make_pair("silent", "en", "de", "{\"beam_size\": null}");
    catalog = scan(NULL);
    const struct mt_model_defaults *full = info_of("best")->defaults;
    ck_assert_str_eq(info_of("english-german")->id, "full");
    ck_assert_str_eq(languages_of("full"), "en-US -> de");
    ck_assert_uint_eq(full->beam_size, 4);
    ck_assert_double_eq(full->length_penalty, 1.5);
    ck_assert_uint_eq(full->max_decoding_length, 99);
    ck_assert_double_eq(full->max_length_factor, 2.5);
    ck_assert_str_eq(full->alignment.layers, "2,3");
    ck_assert_str_eq(full->alignment.heads, "0,-1");
    ck_assert_str_eq(full->alignment.mode, "max");
    ck_assert_str_eq(full->alignment.shift, "input");
    ck_assert(full->preload);
    ck_assert_double_eq(full->quality, 2.5);
    const struct mt_model_defaults *silent = info_of("silent")->defaults;
    ck_assert_uint_eq(silent->beam_size, 0);
    ck_assert_double_lt(silent->length_penalty, 0);
    ck_assert_double_lt(silent->max_length_factor, 0);
    ck_assert_uint_eq(silent->n_aliases, 0);
    ck_assert_ptr_null(silent->alignment.heads);
}
END_TEST

/* With its SHA-256. */
#define HOSTILE                                                                             \
    "{\"source_lang\": \"en\", \"target_lang\": [\"de\"], \"aliases\": [\"best\"], "        \
    "\"quality\": 100, \"preload\": true, \"beam_size\": 8, \"max_decoding_length\": 400, " \
    "\"max_length_factor\": 0}"
#define HOSTILE_SHA256 "6257e5666ee52d686e17258916cb7147764d0c971aab926ff80378fb9344e394"

START_TEST(what_came_with_a_model_does_not_decide_for_the_operator)
{
    make_pair("trusted", "en", "de", NULL);
    make_pair("pulled", "fr", "it", HOSTILE);
    write_file("pulled", "attentiond-pull.json",
               "{\"files\": [{\"name\": \"attentiond.json\", \"sha256\": \"" HOSTILE_SHA256
               "\"}]}");
    make_pair("written", "fr", "it", HOSTILE);
    catalog = scan(NULL);
    const struct mt_model_defaults *pulled = info_of("pulled")->defaults;
    const struct mt_model_defaults *written = info_of("written")->defaults;
    ck_assert_str_eq(languages_of("pulled"), "en -> de");
    ck_assert_uint_eq(pulled->n_aliases, 0);
    ck_assert_str_eq(info_of("best")->id, "written");
    ck_assert_double_eq(pulled->quality, 0);
    ck_assert_double_eq(written->quality, 100);
    ck_assert(!pulled->preload && written->preload);

    /* It makes no limit of the settings wider. */
    ck_assert_uint_eq(mt_model_defaults_beam_size(pulled, &settings), 8);
    ck_assert_uint_eq(mt_model_defaults_max_length(pulled, &settings), 400);
    ck_assert_double_eq(mt_model_defaults_length_factor(pulled, &settings), 3);
    ck_assert_double_eq(mt_model_defaults_length_factor(written, &settings), 0);
    must(mt_settings_set(&settings, "beam_size", "2", "test", &err));
    must(mt_settings_set(&settings, "max_decoding_length", "200", "test", &err));
    must(mt_settings_set(&settings, "max_length_factor", "0", "test", &err));
    ck_assert_uint_eq(mt_model_defaults_beam_size(pulled, &settings), 2);
    ck_assert_uint_eq(mt_model_defaults_max_length(pulled, &settings), 200);
    ck_assert_double_eq(mt_model_defaults_length_factor(pulled, &settings), 0);
    ck_assert_uint_eq(mt_model_defaults_beam_size(written, &settings), 8);
    ck_assert_uint_eq(mt_model_defaults_max_length(written, &settings), 400);

    /* Whoever changes it makes it theirs. */
    mt_catalog_destroy(catalog);
    write_file("pulled", "attentiond.json", "{\"target_lang\": \"de\", \"quality\": 7}");
    catalog = scan(NULL);
    ck_assert_double_eq(info_of("pulled")->defaults->quality, 7);
}
END_TEST

START_TEST(wrong_members_are_refused_by_name)
{
    const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "expected an object"},
        {"{", "line 1"},
        {"{\"target_langs\": \"de\"}", "did you mean \"target_lang\"?"},
        {"{\"xyzzy\": 1}", "\"xyzzy\" is no member"},
        {"{\"beam_size\": 0}", "beam_size"},
        {"{\"beam_size\": 17}", "beam_size"},
        {"{\"beam_size\": \"4\"}", "beam_size"},
        {"{\"length_penalty\": -1}", "length_penalty"},
        {"{\"max_decoding_length\": 1.5}", "max_decoding_length"},
        {"{\"max_length_factor\": -1}", "max_length_factor"},
        {"{\"source_lang\": \"no language\"}", "source_lang: found \"no language\""},
        {"{\"source_lang\": 5}", "source_lang: expected a language code"},
        {"{\"target_lang\": [\"de\", 5]}", "target_lang: expected a language code"},
        {"{\"aliases\": [\"a/b\"]}", "aliases: found \"a/b\""},
        {"{\"aliases\": \"\"}", "aliases: found \"\""},
        {"{\"alignment_heads\": [0.5]}", "alignment_heads"},
        {"{\"alignment_heads\": true}", "alignment_heads"},
        {"{\"preload\": 1}", "preload"},
        {"{\"quality\": \"high\"}", "quality"},
    };
    make_pair("one", "en", "de", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mt_model_profile profile;
        write_file("one", "attentiond.json", cases[i].text);
        enum mt_status status = mt_model_profile_read(path_of("one", ""), "one", &profile, &err);
        ck_assert_msg(status == MT_INVALID || status == MT_FORMAT, "%s", cases[i].text);
        ck_assert_msg(strstr(err.message, "attentiond.json"), "%s", err.message);
        ck_assert_msg(strstr(err.message, cases[i].message), "%s: %s", cases[i].text, err.message);
    }
}
END_TEST

/* --- ways --- */

START_TEST(the_shortest_way_is_taken)
{
    make_pair("de-fr", "de", "fr", NULL);
    make_pair("en-de", "en", "de", NULL);
    make_pair("fr-it", "fr", "it", NULL);
    make_pair("it-nl", "it", "nl", NULL);
    make_pair("de-it", "de", "it", NULL);
    catalog = scan(NULL);
    ck_assert_str_eq(way("en", "de"), "en-de(en>de)");
    ck_assert_str_eq(way("en", "fr"), "en-de(en>de) de-fr(de>fr)");
    ck_assert_str_eq(way("en", "it"), "en-de(en>de) de-it(de>it)");
    ck_assert_str_eq(way("en", "nl"), "en-de(en>de) de-it(de>it) it-nl(it>nl)");
    ck_assert_str_eq(way("de", "en"), "! no way leads from de to en in at most 3 models");
    ck_assert_str_eq(way("nl", "en"), "! no model translates from nl");
    ck_assert_str_eq(way("en", "ja"), "! no model translates into ja");
    ck_assert_str_eq(way("de", "de"), "! no model translates de into de");
}
END_TEST

START_TEST(no_way_is_longer_than_three_models)
{
    make_pair("1", "en", "de", NULL);
    make_pair("2", "de", "fr", NULL);
    make_pair("3", "fr", "it", NULL);
    make_pair("4", "it", "nl", NULL);
    make_pair("5", "nl", "en", NULL);
    catalog = scan(NULL);
    ck_assert_str_eq(way("en", "it"), "1(en>de) 2(de>fr) 3(fr>it)");
    ck_assert_str_eq(way("en", "nl"), "! no way leads from en to nl in at most 3 models");
    ck_assert_str_eq(way("de", "de"), "! no model translates de into de");
}
END_TEST

START_TEST(quality_decides_among_equals_then_order)
{
    make_pair("a", "en", "de", NULL);
    make_pair("b", "en", "de", "{\"quality\": 1}");
    make_pair("c", "en", "de", "{\"quality\": 1}");
    make_pair("x", "de", "it", NULL);
    make_pair("y", "en", "fr", "{\"quality\": 0.5}");
    make_pair("z", "fr", "it", "{\"quality\": 0.4}");
    catalog = scan(NULL);
    ck_assert_str_eq(way("en", "de"), "b(en>de)");
    ck_assert_str_eq(way("en", "it"), "b(en>de) x(de>it)"); /* 1 + 0, not 0.5 + 0.4 */
}
END_TEST

START_TEST(languages_that_are_nearly_the_same_will_do)
{
    make_pair("a-en-pt", "en", "pt", NULL);
    make_pair("b-en-pt_BR", "en", "pt-BR", NULL);
    make_pair("pt-fr", "pt", "fr", NULL);
    make_pair("zh-en", "zh", "en", NULL);
    catalog = scan(NULL);
    ck_assert_str_eq(way("en-GB", "pt-BR"), "b-en-pt_BR(en>pt-BR)");
    ck_assert_str_eq(way("en", "pt"), "a-en-pt(en>pt)");
    ck_assert_str_eq(way("en", "pt-PT"), "a-en-pt(en>pt)");
    ck_assert_str_eq(way("en", "fr"), "a-en-pt(en>pt) pt-fr(pt>fr)");
    ck_assert_str_eq(way("zh-Hant", "fr"), "! no model translates from zh-Hant");
    ck_assert_str_eq(way("zh-Hans", "fr"), "zh-en(zh-Hans>en) a-en-pt(en>pt) pt-fr(pt>fr)");
    ck_assert_str_eq(way("pt-BR", "pt"), "! no model translates pt-BR into pt");
}
END_TEST

START_TEST(reachable_languages_are_those_with_a_way)
{
    static const char *const codes[] = {"de", "en", "fr", "it", "nl"};
    make_pair("en-de", "en", "de", NULL);
    make_pair("de-en", "de", "en", NULL);
    make_pair("de-fr", "de", "fr", NULL);
    make_pair("fr-it", "fr", "it", NULL);
    make_pair("it-nl", "it", "nl", NULL);
    catalog = scan(NULL);
    ck_assert_uint_eq(mt_catalog_n_languages(catalog), 5);
    for (size_t from = 0; from < 5; from++) {
        ck_assert_str_eq(mt_catalog_language(catalog, from), codes[from]);
        for (size_t to = 0; to < 5; to++) {
            struct mt_model_route route = {0};
            if (mt_catalog_route(catalog, codes[from], codes[to], &route, &err) != MT_OK)
                route.n = 0;
            ck_assert_uint_eq(mt_catalog_hops(catalog, from, to), route.n);
        }
    }
    ck_assert_uint_eq(mt_catalog_hops(catalog, 1, 3), 3);
    ck_assert_uint_eq(mt_catalog_hops(catalog, 1, 4), 0);
}
END_TEST

START_TEST(a_model_that_has_just_failed_is_the_last_way)
{
    const struct mt_loaded_model *loaded;
    make_pair("broken", "en", "de", "{\"quality\": 9}");
    make_pair("sound", "en", "de", NULL);
    make_pair("broken-too", "en", "fr", NULL);
    catalog = scan(NULL);
    ck_assert_str_eq(way("en", "de"), "broken(en>de)"); /* nobody knows yet */
    ck_assert_int_eq(mt_served_model_load(mt_catalog_find(catalog, "broken"), &loaded, &err),
                     MT_FORMAT);
    ck_assert_str_eq(way("en", "de"), "sound(en>de)");
    ck_assert_int_eq(mt_served_model_load(mt_catalog_find(catalog, "broken-too"), &loaded, &err),
                     MT_FORMAT);
    ck_assert_str_eq(way("en", "fr"), "broken-too(en>fr)"); /* who waits for it hears why */
}
END_TEST

START_TEST(one_model_is_asked_what_it_can_do)
{
    struct mt_model_route_step step;
    make_pair("one", "en", "de", NULL);
    make_pair("many", "en", "fr", "{\"target_lang\": [\"fr\", \"it\"]}");
    make_model("silent");
    catalog = scan(NULL);
    struct mt_served_model *one = mt_catalog_find(catalog, "one");
    struct mt_served_model *many = mt_catalog_find(catalog, "many");
    struct mt_served_model *silent = mt_catalog_find(catalog, "silent");

    must(mt_catalog_step(one, "", "", &step, &err));
    ck_assert_str_eq(step.source->code, "en");
    ck_assert_str_eq(step.target->code, "de");
    must(mt_catalog_step(one, "en-US", "de", &step, &err));
    ck_assert_int_eq(mt_catalog_step(one, "en", "fr", &step, &err), MT_INVALID);
    ck_assert_str_eq(err.message, "the model one translates into de, not fr");
    ck_assert_int_eq(mt_catalog_step(one, "fr", "de", &step, &err), MT_INVALID);
    ck_assert_str_eq(err.message, "the model one translates from en, not fr");

    must(mt_catalog_step(many, "", "it", &step, &err));
    ck_assert_str_eq(step.target->code, "it");
    ck_assert_int_eq(mt_catalog_step(many, "en", "", &step, &err), MT_INVALID);
    ck_assert_str_eq(err.message, "the model many translates into fr, it: say which one");

    must(mt_catalog_step(silent, "en", "de", &step, &err));
    ck_assert_ptr_null(step.source);
    ck_assert_ptr_null(step.target);
}
END_TEST

Suite *suite_catalog(void)
{
    Suite *suite = suite_create("catalog");
    TCase *tcase = tcase_create("catalogs");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, each_subdirectory_is_a_model);
    tcase_add_test(tcase, the_model_of_the_settings_comes_first);
    tcase_add_test(tcase, the_model_of_the_settings_must_be_there);
    tcase_add_test(tcase, an_empty_directory_is_a_catalog_of_nothing);
    tcase_add_test(tcase, a_broken_one_is_listed_with_its_reason);
    tcase_add_test(tcase, what_has_not_changed_is_shared);
    tcase_add_test(tcase, other_settings_make_other_models);
    tcase_add_test(tcase, what_replaces_a_loaded_one_is_loaded);
    tcase_add_test(tcase, what_cannot_be_loaded_replaces_nothing);
    tcase_add_test(tcase, the_name_says_what_the_files_do_not);
    tcase_add_test(tcase, files_say_more_than_names);
    tcase_add_test(tcase, a_directory_says_how_it_wants_to_be_used);
    tcase_add_test(tcase, what_came_with_a_model_does_not_decide_for_the_operator);
    tcase_add_test(tcase, wrong_members_are_refused_by_name);
    tcase_add_test(tcase, the_shortest_way_is_taken);
    tcase_add_test(tcase, no_way_is_longer_than_three_models);
    tcase_add_test(tcase, quality_decides_among_equals_then_order);
    tcase_add_test(tcase, languages_that_are_nearly_the_same_will_do);
    tcase_add_test(tcase, reachable_languages_are_those_with_a_way);
    tcase_add_test(tcase, a_model_that_has_just_failed_is_the_last_way);
    tcase_add_test(tcase, one_model_is_asked_what_it_can_do);
    suite_add_tcase(suite, tcase);
    return suite;
}
