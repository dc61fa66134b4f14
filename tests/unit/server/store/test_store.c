/* Names, places, origins and removals, in a home that is made for each test. Directories count as
 * models by the names of their files, so that these may be empty. */
#include "server/store/hub.h"
#include "server/store/removal.h"
#include "server/store/store.h"

#include "base/file.h"
#include "model/files/cache_files.h"

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define OTHER "fedcba9876543210fedcba9876543210fedcba98"
#define MODELS ".local/share/attentiond/models"
#define HUB ".cache/huggingface/hub"
#define SNAPSHOT(folder, commit) HUB "/models--" folder "/snapshots/" commit
#define PATH_BYTES 1024

static char home[256];
static struct mt_store store;
static struct mt_error err;

static const char *const variables[] = {
    "XDG_DATA_HOME", "XDG_CACHE_HOME",        "ARGOS_PACKAGES_DIR", "ARGOS_TRANSLATE_PACKAGES_DIR",
    "HF_HOME",       "HUGGINGFACE_HUB_CACHE", "HF_HUB_CACHE",
};

static void must(enum mt_status status)
{
    ck_assert_msg(status == MT_OK, "%s", err.message);
}

static const char *in_home(const char *path)
{
    static char full[8][PATH_BYTES];
    static size_t turn;
    char *out = full[turn++ % 8];
    ck_assert_int_lt(snprintf(out, PATH_BYTES, "%s/%s", home, path), PATH_BYTES);
    return out;
}

static const char *join(const char *a, const char *b)
{
    static char joined[8][PATH_BYTES];
    static size_t turn;
    char path[PATH_BYTES]; /* a may be one of the joined ones */
    ck_assert_int_lt(snprintf(path, sizeof path, "%s/%s", a, b), PATH_BYTES);
    return memcpy(joined[turn++ % 8], path, sizeof path);
}

static void write_file(const char *path, const char *content)
{
    char directory[PATH_BYTES];
    strcpy(directory, in_home(path));
    *strrchr(directory, '/') = '\0';
    mt_make_directories(directory);
    must(mt_file_write(in_home(path), content, strlen(content), &err));
}

static void make_model(const char *directory)
{
    write_file(join(directory, "config.json"), "{}");
    write_file(join(directory, "model.safetensors"), "");
}

static void pull(const char *name, const char *from, const char *licence)
{
    char text[1024];
    const char *directory = join(MODELS, name);
    make_model(directory);
    snprintf(text, sizeof text,
             "{\"from\":\"%s\",\"licence\":\"%s\",\"pulled\":\"2026-11-23T10:00:00Z\",\"x\":[{}]}",
             from, licence);
    write_file(join(directory, "attentiond-pull.json"), text);
}

/* As transformers leaves it; where ref is NULL, a commit for which no branch stands. */
static void cache(const char *folder, const char *ref, const char *commit, bool has_weights)
{
    static const char *const names[] = {"config.json", "model.safetensors"};
    char repository[PATH_BYTES], snapshot[PATH_BYTES], blob[PATH_BYTES], target[PATH_BYTES];
    strcpy(repository, join(HUB, folder));
    strcpy(snapshot, join(join(repository, "snapshots"), commit));
    mt_make_directories(in_home(snapshot));
    for (size_t i = 0; i < (has_weights ? 2 : 1); i++) {
        snprintf(blob, sizeof blob, "blobs/%.8s-%zu", commit, i);
        write_file(join(repository, blob), "{}");
        snprintf(target, sizeof target, "../../%.900s", blob);
        ck_assert_int_eq(symlink(target, in_home(join(snapshot, names[i]))), 0);
    }
    if (ref)
        write_file(join(join(repository, "refs"), ref), commit);
}

static void start(void)
{
    const char *tmp = getenv("TMPDIR");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    snprintf(home, sizeof home, "%s/mt-store-XXXXXX", tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(home));
    setenv("HOME", home, 1);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void stop(void)
{
    mt_store_close(&store);
    nftw(home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void look(const char *models_directory)
{
    mt_store_close(&store);
    must(mt_store_open(models_directory, &store, &err));
}

/* Relative to the home; "! message" where it is not found. */
static const char *found(const char *name)
{
    static char out[PATH_BYTES];
    char *path;
    if (mt_store_find(&store, name, &path, &err) != MT_OK) {
        snprintf(out, sizeof out, "! %s", err.message);
        return out;
    }
    size_t length = strlen(home);
    snprintf(out, sizeof out, "%s", path + (strncmp(path, home, length) == 0 ? length + 1 : 0));
    free(path);
    return out;
}

static bool exists(const char *path)
{
    return mt_path_exists(in_home(path)) == MT_OK;
}

/* ---- places ---- */

static const char *place_of(const char *models_directory, enum mt_place_kind kind)
{
    static char out[PATH_BYTES];
    struct mt_places places;
    must(mt_places_find(models_directory, &places, &err));
    strcpy(out, "none");
    for (size_t i = places.n; i-- > 0;)
        if (places.list[i].kind == kind)
            strcpy(out, places.list[i].path);
    mt_places_finish(&places);
    return out;
}

START_TEST(pulled_models_are_below_the_data_home)
{
    ck_assert_str_eq(place_of("", MT_PLACE_MODELS), in_home(MODELS));
    setenv("XDG_DATA_HOME", in_home("data"), 1);
    ck_assert_str_eq(place_of("", MT_PLACE_MODELS), in_home("data/attentiond/models"));
    setenv("XDG_DATA_HOME", "not/absolute", 1);
    ck_assert_str_eq(place_of("", MT_PLACE_MODELS), in_home(MODELS));
    unsetenv("HOME");
    ck_assert_str_eq(place_of("", MT_PLACE_MODELS), "/var/lib/attentiond/models");
    ck_assert_str_eq(place_of("/a:/b", MT_PLACE_MODELS), "/a");
}
END_TEST

START_TEST(argos_packages_are_where_its_variables_say)
{
    const char *const usual = in_home(".local/share/argos-translate/packages");
    ck_assert_str_eq(place_of("", MT_PLACE_ARGOS), "none");
    mt_make_directories(usual);
    ck_assert_str_eq(place_of("", MT_PLACE_ARGOS), usual);
    mt_make_directories(in_home("old"));
    setenv("ARGOS_TRANSLATE_PACKAGES_DIR", in_home("old"), 1);
    ck_assert_str_eq(place_of("", MT_PLACE_ARGOS), in_home("old"));
    mt_make_directories(in_home("packages"));
    setenv("ARGOS_PACKAGES_DIR", "~/packages", 1);
    ck_assert_str_eq(place_of("", MT_PLACE_ARGOS), in_home("packages"));
}
END_TEST

START_TEST(the_hub_is_where_its_variables_say)
{
    static const struct {
        const char *variable, *value, *path;
    } rows[] = {
        {NULL, NULL, HUB},
        {"XDG_CACHE_HOME", "x", "x/huggingface/hub"},
        {"HF_HOME", "home", "home/hub"},
        {"HUGGINGFACE_HUB_CACHE", "old", "old"},
        {"HF_HUB_CACHE", "cache", "cache"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mt_make_directories(in_home(rows[i].path));
        if (rows[i].variable)
            setenv(rows[i].variable, in_home(rows[i].value), 1);
        ck_assert_str_eq(place_of("", MT_PLACE_HUB), in_home(rows[i].path));
    }
}
END_TEST

START_TEST(directories_are_separated_by_colons)
{
    static const struct {
        const char *text;
        size_t n;
    } rows[] = {{"", 0}, {"/a", 1}, {"/a:/b", 2}, {":/a::/b:", 2}, {"::", 0}};
    struct mt_directories directories;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        must(mt_directories_split(rows[i].text, &directories, &err));
        ck_assert_uint_eq(directories.n, rows[i].n);
        if (rows[i].n == 2)
            ck_assert_str_eq(directories.paths[1], "/b");
        mt_directories_finish(&directories);
    }
    mt_make_directories(in_home("odd:name"));
    must(mt_directories_split(in_home("odd:name"), &directories, &err));
    ck_assert_uint_eq(directories.n, 1);
    ck_assert_str_eq(directories.paths[0], in_home("odd:name"));
    mt_directories_finish(&directories);
    char many[2 * MT_MAX_DIRECTORIES + 8] = "/a";
    for (size_t i = 0; i < MT_MAX_DIRECTORIES; i++)
        strcat(many, ":b");
    ck_assert_int_eq(mt_directories_split(many, &directories, &err), MT_LIMIT);
}
END_TEST

/* ---- names ---- */

START_TEST(pulled_models_are_found_by_name_and_origin)
{
    pull("opus-mt-en-fr", "hf:Helsinki-NLP/opus-mt-en-fr@" COMMIT, "apache-2.0");
    pull("mine", "hf:Somebody/else@" OTHER, "mit");
    pull(".pulling/half", "hf:Somebody/half@" OTHER, "mit");
    write_file(MODELS "/argos-en-fr.argosmodel", "");
    write_file(MODELS "/argos-en-fr.argosmodel.pull.json", "{\"from\":\"argos:en-fr@1.9\"}");
    look("");
    ck_assert_uint_eq(store.n, 3);
    static const char *const rows[][2] = {
        {"opus-mt-en-fr", "opus-mt-en-fr"},
        {"Helsinki-NLP/opus-mt-en-fr", "opus-mt-en-fr"},
        {"hf:Helsinki-NLP/opus-mt-en-fr", "opus-mt-en-fr"},
        {"Helsinki-NLP/opus-mt-en-fr@" COMMIT, "opus-mt-en-fr"},
        {"Helsinki-NLP/opus-mt-en-fr@0123456", "opus-mt-en-fr"},
        {"mine", "mine"},
        {"Somebody/else", "mine"},
        {"argos-en-fr.argosmodel", "argos-en-fr.argosmodel"},
        {"argos-en-fr", "argos-en-fr.argosmodel"},
        {"argos:en-fr", "argos-en-fr.argosmodel"},
        {"argos:en-fr@1.9", "argos-en-fr.argosmodel"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_str_eq(found(rows[i][0]), join(MODELS, rows[i][1]));
    static const char *const unknown[] = {
        "half",
        "Somebody/half",
        "Somebody/opus-mt-en-fr",
        "Helsinki-NLP/opus-mt-en-f",
        ("Helsinki-NLP/opus-mt-en-fr@" OTHER),
        "Helsinki-NLP/opus-mt-en-fr@0",
        "argos:en-f",
        "argos:en-fr@1.8",
    };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        ck_assert_msg(found(unknown[i])[0] == '!', "%s: %s", unknown[i], found(unknown[i]));
}
END_TEST

START_TEST(the_hub_is_searched_as_transformers_leaves_it)
{
    cache("models--Helsinki-NLP--opus-mt-en-de", "main", COMMIT, true);
    cache("models--Helsinki-NLP--opus-mt-en-de", "pr/1", OTHER, true);
    cache("models--Somebody--opus-mt-en-de", "main", OTHER, true);
    cache("models--A--twice", "main", COMMIT, true);
    cache("models--B--twice", "main", COMMIT, true);
    cache("models--B--only", NULL, OTHER, true);
    cache("models--B--config", "main", COMMIT, false);
    cache("models--t5-small", "main", COMMIT, true);
    cache("datasets--B--data", "main", COMMIT, true);
    look("");
    static const char *const rows[][2] = {
        {"Helsinki-NLP/opus-mt-en-de", SNAPSHOT("Helsinki-NLP--opus-mt-en-de", COMMIT)},
        {"hf:Helsinki-NLP/opus-mt-en-de@main", SNAPSHOT("Helsinki-NLP--opus-mt-en-de", COMMIT)},
        {"Helsinki-NLP/opus-mt-en-de@pr/1", SNAPSHOT("Helsinki-NLP--opus-mt-en-de", OTHER)},
        {"Helsinki-NLP/opus-mt-en-de@" OTHER, SNAPSHOT("Helsinki-NLP--opus-mt-en-de", OTHER)},
        {"opus-mt-en-de", SNAPSHOT("Helsinki-NLP--opus-mt-en-de", COMMIT)},
        {"Somebody/opus-mt-en-de", SNAPSHOT("Somebody--opus-mt-en-de", OTHER)},
        {"B/only", SNAPSHOT("B--only", OTHER)},
        {"only", SNAPSHOT("B--only", OTHER)},
        {"t5-small", SNAPSHOT("t5-small", COMMIT)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_str_eq(found(rows[i][0]), rows[i][1]);
    static const char *const unknown[][2] = {
        {"twice", "A/twice, B/twice"},           {"B/config", "without its weights"},
        {"B/data", "there is no model"},         {"B/only@main", "there is no model"},
        {"B/only@../../x", "there is no model"},
    };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        ck_assert_msg(strstr(found(unknown[i][0]), unknown[i][1]) && err.message[0], "%s: %s",
                      unknown[i][0], found(unknown[i][0]));
    pull("opus-mt-en-de", "hf:Helsinki-NLP/opus-mt-en-de@" OTHER, "mit");
    look("");
    ck_assert_str_eq(found("Helsinki-NLP/opus-mt-en-de"), MODELS "/opus-mt-en-de");
}
END_TEST

START_TEST(a_branch_that_leads_outside_leads_nowhere)
{
    cache("models--B--evil", NULL, COMMIT, true);
    cache("models--B--evil", NULL, OTHER, true);
    write_file(HUB "/models--B--evil/refs/main", "../../x\n");
    look("");
    ck_assert_ptr_nonnull(strstr(found("B/evil"), "! there is no model"));
    write_file(HUB "/models--B--evil/refs/main", COMMIT "\n");
    look("");
    ck_assert_str_eq(found("B/evil"), SNAPSHOT("B--evil", COMMIT));
}
END_TEST

START_TEST(packages_and_several_directories_are_searched)
{
    make_model("one/a");
    make_model("two/b");
    write_file(".local/share/argos-translate/packages/en_fr/metadata.json", "{}");
    write_file(".local/share/argos-translate/packages/en_fr/model/model.bin", "");
    char both[PATH_BYTES];
    snprintf(both, sizeof both, "%s/one:%s/two", home, home);
    look(both);
    ck_assert_str_eq(found("a"), "one/a");
    ck_assert_str_eq(found("b"), "two/b");
    ck_assert_str_eq(found("en_fr"), ".local/share/argos-translate/packages/en_fr");
}
END_TEST

START_TEST(what_is_not_found_is_answered_with_help)
{
    pull("opus-mt-en-fr", "hf:Helsinki-NLP/opus-mt-en-fr@" COMMIT, "apache-2.0");
    look("");
    const char *message = found("opus-mt-en-frr");
    ck_assert_ptr_nonnull(strstr(message, "did you mean opus-mt-en-fr?"));
    ck_assert_ptr_nonnull(strstr(message, "attentiond pull opus-mt-en-frr"));
    ck_assert_ptr_nonnull(strstr(message, in_home(MODELS)));
    ck_assert_int_eq(err.status, MT_NOT_FOUND);
}
END_TEST

START_TEST(paths_are_no_names)
{
    static const char *const names[] = {"a", "A/b", "hf:A/b@refs/pr/1", "argos:en-fr", "weights/a"};
    static const char *const paths[] = {"",     "/a",    "./a",     "../a", "~/a",        "a/",
                                        "a/b/", "a/b/c", "a/b/c@d", ".",    "https://a/b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(mt_store_is_name(names[i]), "%s", names[i]);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        ck_assert_msg(!mt_store_is_name(paths[i]), "%s", paths[i]);
}
END_TEST

START_TEST(a_snapshot_is_called_after_its_repository)
{
    char name[MT_HUB_NAME_BYTES];
    cache("models--Helsinki-NLP--opus-mt-en-de", "main", COMMIT, true);
    mt_model_name_of(in_home(SNAPSHOT("Helsinki-NLP--opus-mt-en-de", COMMIT)), name);
    ck_assert_str_eq(name, "opus-mt-en-de");
    mt_model_name_of(in_home(SNAPSHOT("Helsinki-NLP--opus-mt-en-de", COMMIT) "/"), name);
    ck_assert_str_eq(name, "opus-mt-en-de");
    mt_model_name_of("/nowhere/my-model", name);
    ck_assert_str_eq(name, "my-model");
    mt_model_name_of("/nowhere/snapshots/" COMMIT, name);
    ck_assert_str_eq(name, COMMIT);
}
END_TEST

/* ---- origins ---- */

START_TEST(origins_are_read)
{
    struct mt_origin origin;
    pull("a", "hf:A/b@" COMMIT, "cc-by-4.0");
    must(mt_origin_read(in_home(MODELS "/a"), &origin, &err));
    ck_assert(origin.is_pulled);
    ck_assert_str_eq(origin.from, "hf:A/b@" COMMIT);
    ck_assert_str_eq(origin.licence, "cc-by-4.0");
    ck_assert_str_eq(origin.pulled, "2026-11-23T10:00:00Z");
    cache("models--A--b", "main", COMMIT, true);
    must(mt_origin_read(in_home(SNAPSHOT("A--b", COMMIT)), &origin, &err));
    ck_assert(!origin.is_pulled);
    ck_assert_str_eq(origin.from, "hf:A/b@" COMMIT);
    make_model("plain");
    must(mt_origin_read(in_home("plain"), &origin, &err));
    ck_assert(!origin.is_pulled);
    ck_assert_str_eq(origin.from, "");
}
END_TEST

START_TEST(damaged_origins_say_nothing)
{
    static const char *const texts[] = {"", "{", "[]", "1", "{\"from\":1,\"licence\":[\"mit\"]}"};
    struct mt_origin origin;
    make_model("m");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_file("m/attentiond-pull.json", texts[i]);
        must(mt_origin_read(in_home("m"), &origin, &err));
        ck_assert(origin.is_pulled);
        ck_assert_str_eq(origin.from, "");
        ck_assert_str_eq(origin.licence, "");
    }
    char text[MT_ORIGIN_FROM_BYTES + 64] = "{\"licence\":\"mit\",\"from\":\"";
    memset(text + strlen(text), 'x', MT_ORIGIN_FROM_BYTES);
    strcat(text, "\"}");
    write_file("m/attentiond-pull.json", text);
    must(mt_origin_read(in_home("m"), &origin, &err));
    ck_assert_str_eq(origin.from, "");
    ck_assert_str_eq(origin.licence, "mit");
}
END_TEST

#define NOTE "attentiond.json"
/* Of "hello". */
#define HELLO "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static bool is_brought(const char *directory)
{
    bool is = false;
    must(mt_origin_brought(in_home(directory), NOTE, 1000, &is, &err));
    return is;
}

START_TEST(what_came_with_a_model_is_told_from_what_somebody_wrote)
{
    static const struct {
        const char *record, *note;
        bool is_brought;
    } cases[] = {
        {"{\"files\": [{\"name\": \"x\"}, {\"name\": \"" NOTE "\", \"sha256\": \"" HELLO "\"}]}",
         "hello", true},
        {"{\"files\": [{\"name\": \"" NOTE "\", \"sha256\": \"" HELLO "\"}]}", "hello!", false},
        {"{\"files\": [{\"name\": \"x\", \"sha256\": \"" HELLO "\"}]}", "hello", false},
        {"{\"files\": []}", "hello", false},
        {"{\"files\": [{\"name\": \"" NOTE "\", \"sha256\": \"" HELLO "\"}]}", NULL, false},
        {"{\"files\": 3}", "hello", true}, /* whose it is cannot be told */
        {"{", "hello", true},
        {NULL, "hello", false},
    };
    char directory[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(directory, sizeof directory, "m/%zu", i);
        make_model(directory);
        if (cases[i].record)
            write_file(join(directory, "attentiond-pull.json"), cases[i].record);
        if (cases[i].note)
            write_file(join(directory, NOTE), cases[i].note);
        ck_assert_msg(is_brought(directory) == cases[i].is_brought, "case %zu", i);
    }
    write_file("packages/en_de/" NOTE, "hello");
    ck_assert(!is_brought("packages/en_de"));
    setenv("ARGOS_PACKAGES_DIR", in_home("packages"), 1);
    ck_assert(is_brought("packages/en_de"));
    ck_assert_int_eq(symlink(in_home("packages/en_de"), in_home("m/link")), 0);
    ck_assert(is_brought("m/link"));
    unsetenv("ARGOS_PACKAGES_DIR");
    cache("models--a--b", "main", COMMIT, true);
    write_file(SNAPSHOT("a--b", COMMIT) "/" NOTE, "hello");
    ck_assert(is_brought(SNAPSHOT("a--b", COMMIT)));
    bool unused;
    ck_assert_int_eq(mt_origin_brought(in_home("m/0"), NOTE, 4, &unused, &err), MT_LIMIT);
}
END_TEST

/* ---- removal ---- */

static const struct mt_stored_model *in_models(const char *name)
{
    const struct mt_stored_model *model = mt_store_find_in_models(&store, name);
    ck_assert_ptr_nonnull(model);
    return model;
}

START_TEST(a_pulled_model_is_removed_with_its_packed_form)
{
    char *packed;
    pull("a", "hf:A/b@" COMMIT, "mit");
    pull(".removing-old", "hf:A/old@" COMMIT, "mit");
    write_file(MODELS "/a/model/deeper", "x");
    mt_make_directories(in_home("cache"));
    must(mt_cache_file_path(in_home("cache"), in_home(MODELS "/a"), &packed, &err));
    must(mt_file_write(packed, "", 0, &err));
    look("");
    must(mt_stored_model_remove(in_models("A/b"), in_home("cache"), &err));
    ck_assert(!exists(MODELS "/a"));
    ck_assert(!exists(MODELS "/.removing-a"));
    ck_assert(!exists(MODELS "/.removing-old"));
    ck_assert_int_eq(mt_path_exists(packed), MT_NOT_FOUND);
    free(packed);
    look("");
    ck_assert_ptr_null(mt_store_find_in_models(&store, "a"));
}
END_TEST

START_TEST(a_model_in_one_file_is_removed_with_what_is_beside_it)
{
    write_file(MODELS "/x.argosmodel", "");
    write_file(MODELS "/x.argosmodel.pull.json", "{}");
    look("");
    ck_assert_uint_eq(mt_stored_model_bytes(in_models("x")), 0);
    must(mt_stored_model_remove(in_models("x"), "", &err));
    ck_assert_int_eq(rmdir(in_home(MODELS)), 0);
}
END_TEST

START_TEST(what_was_not_pulled_stays)
{
    make_model(MODELS "/mine");
    pull("a", "hf:A/b@" COMMIT, "mit");
    ck_assert_int_eq(symlink("a", in_home(MODELS "/link")), 0);
    cache("models--A--b", "main", COMMIT, true);
    look("");
    ck_assert_int_eq(mt_stored_model_remove(in_models("mine"), "", &err), MT_FORBIDDEN);
    ck_assert_int_eq(mt_stored_model_remove(in_models("link"), "", &err), MT_FORBIDDEN);
    ck_assert_int_eq(store.models[store.n - 1].place, MT_PLACE_HUB);
    ck_assert_int_eq(mt_stored_model_remove(&store.models[store.n - 1], "", &err), MT_FORBIDDEN);
    must(mt_stored_model_remove(in_models("a"), "", &err));
    ck_assert_int_eq(mt_stored_model_remove(in_models("a"), "", &err), MT_NOT_FOUND);
    look("");
    ck_assert_str_eq(found("mine"), MODELS "/mine");
    ck_assert_str_eq(found("A/b"), SNAPSHOT("A--b", COMMIT));
}
END_TEST

START_TEST(what_an_unfinished_pull_left_is_removed)
{
    bool was_there;
    char root[PATH_BYTES];
    strcpy(root, in_home(MODELS));
    must(mt_unfinished_pull_remove(root, "a", &was_there, &err));
    ck_assert(!was_there);
    write_file(MODELS "/.pulling/a/model.safetensors.part", "x");
    must(mt_unfinished_pull_remove(root, "a", &was_there, &err));
    ck_assert(was_there);
    ck_assert(!exists(MODELS "/.pulling/a"));
    write_file(MODELS "/.pulling/a/model.safetensors.part", "x");
    write_file(MODELS "/.pulling/a.lock", "");
    int lock = open(in_home(MODELS "/.pulling/a.lock"), O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(flock(lock, LOCK_EX), 0);
    ck_assert_int_eq(mt_unfinished_pull_remove(root, "a", &was_there, &err), MT_BUSY);
    ck_assert(exists(MODELS "/.pulling/a"));
    close(lock);
    must(mt_unfinished_pull_remove(root, "../.pulling/a", &was_there, &err));
    ck_assert(!was_there);
    must(mt_unfinished_pull_remove(root, "a", &was_there, &err));
    ck_assert(was_there);
}
END_TEST

START_TEST(sizes_are_those_of_all_files)
{
    struct stat st;
    pull("a", "hf:A/b@" COMMIT, "mit");
    write_file(MODELS "/a/stanza/en.pt", "12345");
    cache("models--A--c", "main", COMMIT, true);
    look("");
    ck_assert_int_eq(stat(in_home(MODELS "/a/attentiond-pull.json"), &st), 0);
    ck_assert_uint_eq(mt_stored_model_bytes(in_models("a")), 2 + 5 + (size_t)st.st_size);
    ck_assert_uint_eq(mt_stored_model_bytes(&store.models[store.n - 1]), 4);
}
END_TEST

Suite *suite_store(void)
{
    Suite *suite = suite_create("store");
    TCase *cases = tcase_create("store");
    tcase_add_checked_fixture(cases, start, stop);
    tcase_add_test(cases, pulled_models_are_below_the_data_home);
    tcase_add_test(cases, argos_packages_are_where_its_variables_say);
    tcase_add_test(cases, the_hub_is_where_its_variables_say);
    tcase_add_test(cases, directories_are_separated_by_colons);
    tcase_add_test(cases, pulled_models_are_found_by_name_and_origin);
    tcase_add_test(cases, the_hub_is_searched_as_transformers_leaves_it);
    tcase_add_test(cases, a_branch_that_leads_outside_leads_nowhere);
    tcase_add_test(cases, packages_and_several_directories_are_searched);
    tcase_add_test(cases, what_is_not_found_is_answered_with_help);
    tcase_add_test(cases, paths_are_no_names);
    tcase_add_test(cases, a_snapshot_is_called_after_its_repository);
    tcase_add_test(cases, origins_are_read);
    tcase_add_test(cases, damaged_origins_say_nothing);
    tcase_add_test(cases, what_came_with_a_model_is_told_from_what_somebody_wrote);
    tcase_add_test(cases, a_pulled_model_is_removed_with_its_packed_form);
    tcase_add_test(cases, a_model_in_one_file_is_removed_with_what_is_beside_it);
    tcase_add_test(cases, what_was_not_pulled_stays);
    tcase_add_test(cases, what_an_unfinished_pull_left_is_removed);
    tcase_add_test(cases, sizes_are_those_of_all_files);
    suite_add_tcase(suite, cases);
    return suite;
}
