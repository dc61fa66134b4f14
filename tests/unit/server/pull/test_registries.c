#include "server/pull/argos.h"
#include "server/pull/firefox.h"
#include "server/pull/hugging_face.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define HUB "https://hub.example/"
#define SHA "0123456789abcdef0123456789abcdef01234567"
#define SHA256 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* --- Hugging Face --- */

static enum mt_status read_model(const char *document, struct mt_remote **out, struct mt_error *err)
{
    struct mt_pull_name name;
    ck_assert(!mt_pull_name_parse("ORG/opus-mt-en-fr", HUB, &name, err));
    return mt_hub_read_model(document, strlen(document), HUB, &name, out, err);
}

START_TEST(model_of_hugging_face)
{
    struct mt_remote *remote;
    struct mt_error err;
    ck_assert(!read_model("{\"sha\":\"" SHA
                          "\",\"gated\":false,\"cardData\":{\"license\":\"apache-2.0\"},"
                          "\"siblings\":["
                          "{\"rfilename\":\"config.json\",\"size\":12,\"blobId\":\"" SHA "\"},"
                          "{\"rfilename\":\"model.safetensors\",\"size\":9,\"blobId\":\"" SHA "\","
                          "\"lfs\":{\"sha256\":\"" SHA256 "\",\"size\":1234,\"pointerSize\":134}},"
                          "{\"rfilename\":\"a b#?.txt\"},"
                          "{\"rfilename\":\"onnx/model.onnx\",\"size\":5}]}",
                          &remote, &err));
    ck_assert_str_eq(remote->from, "hf:ORG/opus-mt-en-fr@" SHA);
    ck_assert_str_eq(remote->page, "https://hub.example/ORG/opus-mt-en-fr");
    ck_assert_str_eq(remote->licence, "apache-2.0");
    ck_assert_str_eq(remote->languages, "en to fr");
    ck_assert(!remote->is_gated && remote->is_listed);
    ck_assert_uint_eq(remote->n_files, 3);
    const struct mt_staged_file *file = mt_remote_find(remote, "config.json");
    ck_assert_int_eq(file->size, 12);
    ck_assert_int_eq(file->digest_kind, MT_DIGEST_GIT_BLOB);
    ck_assert_str_eq(file->url,
                     "https://hub.example/ORG/opus-mt-en-fr/resolve/" SHA "/config.json");
    file = mt_remote_find(remote, "model.safetensors");
    ck_assert_int_eq(file->size, 1234);
    ck_assert_int_eq(file->digest_kind, MT_DIGEST_SHA256);
    ck_assert_str_eq(file->digest, SHA256);
    file = mt_remote_find(remote, "a b#?.txt");
    ck_assert_int_eq(file->size, -1);
    ck_assert_int_eq(file->digest_kind, MT_DIGEST_NONE);
    ck_assert_str_eq(file->url,
                     "https://hub.example/ORG/opus-mt-en-fr/resolve/" SHA "/a%20b%23%3F.txt");
    ck_assert_str_eq(remote->unreadable, "onnx/model.onnx");
    mt_remote_destroy(remote);
}
END_TEST

/* Names that could lead anywhere else, or take the place of what is ours. */
static const char *const hostile[] = {
    "../evil",
    "..",
    ".",
    "",
    "/etc/passwd",
    "a/b",
    "..\\\\evil",
    "a\\\\b",
    ".hidden",
    "a\\nb",
    "a\\u001b[2J",
    "a\\u007f",
    "a\\u0085b",
    "config.json.part",
    "config.json.part.json",
    "attentiond-pull.json",
    "x.argosmodel.pull.json",
};

START_TEST(hostile_name_is_passed_over)
{
    char document[1024];
    struct mt_remote *remote;
    struct mt_error err;
    snprintf(document, sizeof document,
             "{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"%s\",\"size\":1,"
             "\"blobId\":\"" SHA "\"}]}",
             hostile[_i]);
    ck_assert_msg(!read_model(document, &remote, &err), "%s", err.message);
    ck_assert_uint_eq(remote->n_files, 0);
    mt_remote_destroy(remote);
}
END_TEST

START_TEST(long_name_is_passed_over)
{
    char name[MT_STAGING_MAX_NAME_BYTES + 2];
    memset(name, 'a', sizeof name);
    name[MT_STAGING_MAX_NAME_BYTES + 1] = '\0';
    ck_assert(!mt_remote_is_file_name(name));
    name[MT_STAGING_MAX_NAME_BYTES] = '\0';
    ck_assert(mt_remote_is_file_name(name));
    ck_assert(!mt_remote_is_file_name("a\xff"));
    ck_assert(mt_remote_is_file_name("a\xc3\xa9.spm"));
}
END_TEST

static const struct {
    const char *document, *complaint;
} malformed[] = {
    {"", "expected"},
    {"[]", "the commit"},
    {"{}", "the commit"},
    {"{\"sha\":\"main\",\"siblings\":[]}", "the commit"},
    {"{\"sha\":\"0123456789ABCDEF0123456789abcdef01234567\",\"siblings\":[]}", "the commit"},
    {"{\"sha\":12,\"siblings\":[]}", "the commit"},
    {"{\"sha\":\"" SHA "\"}", "siblings"},
    {"{\"sha\":\"" SHA "\",\"siblings\":{}}", "siblings"},
    {"{\"sha\":\"" SHA "\",\"siblings\":[],\"disabled\":true}", "disabled"},
    {"{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"a\",\"size\":-1}]}", "size"},
    {"{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"a\",\"size\":1.5}]}", "size"},
    {"{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"a\",\"size\":9223372036854775808}]}",
     "size"},
    {"{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"a\",\"size\":1e300}]}", "size"},
    {"{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"a\",\"size\":\"12\"}]}", "size"},
    {"{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"a\",\"size\":1,\"blobId\":\"xyz\"}]}",
     "digest"},
    {"{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"a\",\"lfs\":{\"size\":1}}]}", "digest"},
    {"{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"a\",\"lfs\":{\"sha256\":\"" SHA
     "\",\"size\":1}}]}",
     "digest"},
    {"{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"a\"},{\"rfilename\":\"a\"}]}", "twice"},
    {"{\"sha\":\"" SHA "\",\"siblings\":[]", "expected"},
};

START_TEST(malformed_model)
{
    struct mt_remote *remote;
    struct mt_error err;
    enum mt_status status = read_model(malformed[_i].document, &remote, &err);
    ck_assert_msg(status == MT_FORMAT || status == MT_FORBIDDEN, "%s", malformed[_i].document);
    ck_assert_msg(strstr(err.message, malformed[_i].complaint), "%s", err.message);
}
END_TEST

START_TEST(members_of_another_type_are_as_good_as_none)
{
    struct mt_remote *remote;
    struct mt_error err;
    ck_assert(!read_model("{\"sha\":\"" SHA "\",\"gated\":0,\"cardData\":[1],\"tags\":{\"a\":1},"
                          "\"siblings\":[1,null,\"x\",[],{\"rfilename\":7},{\"rfilename\":\"b\","
                          "\"lfs\":null,\"blobId\":3}]}",
                          &remote, &err));
    ck_assert_uint_eq(remote->n_files, 1);
    ck_assert_str_eq(remote->licence, "");
    mt_remote_destroy(remote);
}
END_TEST

/* More than there can be, and more than a document may hold. */
static void check_many(size_t n, enum mt_status expected)
{
    struct mt_text document = {0};
    struct mt_remote *remote;
    struct mt_error err;
    mt_text_append_string(&document, "{\"sha\":\"" SHA "\",\"siblings\":[");
    for (size_t i = 0; i < n; i++)
        mt_text_appendf(&document, "%s{\"rfilename\":\"f%zu\"}", i > 0 ? "," : "", i);
    mt_text_append_string(&document, "]}");
    ck_assert(!document.status);
    ck_assert_int_eq(read_model(document.bytes, &remote, &err), expected);
    if (!expected) {
        ck_assert_uint_eq(remote->n_files, n);
        mt_remote_destroy(remote);
    }
    mt_text_finish(&document);
}

START_TEST(a_million_files)
{
    check_many(MT_REMOTE_MAX_FILES, MT_OK);
    check_many(MT_REMOTE_MAX_FILES + 1, MT_LIMIT);
    check_many(1000000, MT_LIMIT);
}
END_TEST

static const struct {
    const char *members, *licence;
    bool is_non_commercial;
} licences[] = {
    {"", "", false},
    {"\"cardData\":{\"license\":\"cc-by-4.0\"},", "cc-by-4.0", false},
    {"\"cardData\":{\"license\":\"cc-by-nc-4.0\"},", "cc-by-nc-4.0", true},
    {"\"cardData\":{\"license\":\"cc-by-nc-sa-4.0\"},", "cc-by-nc-sa-4.0", true},
    {"\"cardData\":{\"license\":\"CC-BY-NC-ND-3.0\"},", "CC-BY-NC-ND-3.0", true},
    {"\"cardData\":{\"license\":[\"mit\",\"cc-by-nc-4.0\"]},", "mit, cc-by-nc-4.0", true},
    {"\"cardData\":{\"license\":\"other\",\"license_name\":\"my-research-licence\"},",
     "my-research-licence", true},
    {"\"cardData\":{\"license\":\"fair-noncommercial-research-license\"},",
     "fair-noncommercial-research-license", true},
    {"\"cardData\":{\"license\":\"other\"},", "other", false},
    {"\"cardData\":{\"license\":\"ncsa\"},", "ncsa", false},
    {"\"tags\":[\"en\",\"license:mit\"],", "mit", false},
    {"\"cardData\":{},\"tags\":[\"license:cc-by-nc-4.0\"],", "cc-by-nc-4.0", true},
    {"\"cardData\":{\"license\":[]},", "", false},
    {"\"cardData\":{\"license\":\"longer than any identifier of a licence is, by far and away, so "
     "it is none\"},",
     "", false},
};

START_TEST(licence_of_a_model)
{
    char document[1024];
    struct mt_remote *remote;
    struct mt_error err;
    snprintf(document, sizeof document, "{%s\"sha\":\"" SHA "\",\"siblings\":[]}",
             licences[_i].members);
    ck_assert(!read_model(document, &remote, &err));
    ck_assert_str_eq(remote->licence, licences[_i].licence);
    ck_assert_int_eq(mt_licence_is_non_commercial(remote->licence), licences[_i].is_non_commercial);
    mt_remote_destroy(remote);
}
END_TEST

START_TEST(addresses_of_hugging_face)
{
    struct mt_pull_name name;
    struct mt_error err;
    struct mt_text url = {0};
    ck_assert(!mt_pull_name_parse("ORG/NAME@refs/pr/1", HUB, &name, &err));
    mt_hub_append_document_url(HUB, &name, &url);
    ck_assert_str_eq(url.bytes,
                     "https://hub.example/api/models/ORG/NAME/revision/refs%2Fpr%2F1?blobs=true");
    mt_text_finish(&url);
}
END_TEST

START_TEST(search_of_hugging_face)
{
    static const char found[] =
        "[{\"id\":\"Helsinki-NLP/opus-mt-en-fr\",\"tags\":[\"license:apache-2.0\"]},"
        "{\"id\":\"Helsinki-NLP/opus-mt-tc-big-en-ar\"},{\"id\":\"Helsinki-NLP/opus-mt-fr-en\"},"
        "{\"id\":\"opus-mt-en-de\"},{\"id\":\"../../x-en-y\"},{\"id\":\"a/b\\n-en-z\"},"
        "{\"id\":\"Helsinki-NLP/opus-mt-en-fr\"},{\"id\":7},[],3]";
    struct mt_offers offers = {0};
    struct mt_error err;
    ck_assert(!mt_hub_read_search(found, strlen(found), "en", &offers, &err));
    mt_offers_sort(&offers);
    ck_assert_uint_eq(offers.n, 2);
    ck_assert_str_eq(offers.list[0].pull, "Helsinki-NLP/opus-mt-en-fr");
    ck_assert_str_eq(offers.list[0].target, "fr");
    ck_assert_str_eq(offers.list[0].licence, "apache-2.0");
    ck_assert_str_eq(offers.list[1].target, "ar");
    ck_assert_int_eq(mt_hub_read_search("{}", 2, "en", &offers, &err), MT_FORMAT);
    mt_offers_finish(&offers);
}
END_TEST

/* --- Argos Translate --- */

static const char argos_index[] =
    "[{\"from_code\":\"en\",\"to_code\":\"fr\",\"package_version\":\"1.9\","
    "\"links\":[\"ipfs://Qm\",\"https://x.example/translate-en_fr-1_9.argosmodel\"]},"
    "{\"from_code\":\"en\",\"to_code\":\"fr\",\"package_version\":\"1.10\","
    "\"links\":[\"https://x.example/translate-en_fr-1_10.argosmodel\"]},"
    "{\"from_code\":\"en\",\"to_code\":\"fr\",\"package_version\":\"9.9\",\"links\":[\"magnet:x\"]}"
    ","
    "{\"from_code\":\"en\",\"to_code\":\"fr\",\"package_version\":\"8.9\",\"type\":\"sbd\","
    "\"links\":[\"https://x.example/sbd.argosmodel\"]},"
    "{\"type\":\"sbd\",\"from_codes\":[\"en\"],\"links\":[\"https://x.example/s.argosmodel\"]},"
    "{\"from_code\":\"en\",\"to_code\":\"../..\",\"package_version\":\"1\","
    "\"links\":[\"https://x.example/%2e%2e%2f%2e%2e%2fetc.argosmodel\"]},"
    "{\"from_code\":\"en\",\"to_code\":\"zz\",\"package_version\":\"1\\n2\","
    "\"links\":[\"https://x.example/%2e%2e%2f%2e%2e%2fetc.argosmodel\"]},"
    "{\"from_code\":\"en\",\"to_code\":\"yy\",\"package_version\":\"1\","
    "\"links\":[\"https://x.example/%2e%2e%2f%2e%2e%2fetc.argosmodel\"]},7,[],null]";

static enum mt_status read_package(const char *text, struct mt_remote **out, struct mt_error *err)
{
    struct mt_pull_name name;
    ck_assert(!mt_pull_name_parse(text, HUB, &name, err));
    return mt_argos_read_package(argos_index, strlen(argos_index), &name, out, err);
}

START_TEST(package_of_argos)
{
    struct mt_remote *remote;
    struct mt_error err;
    ck_assert(!read_package("argos:en_fr", &remote, &err));
    ck_assert_str_eq(remote->from, "argos:en-fr@1.10");
    ck_assert_uint_eq(remote->n_files, 1);
    ck_assert_str_eq(remote->files[0].name, "translate-en_fr-1_10.argosmodel");
    ck_assert_str_eq(remote->files[0].url, "https://x.example/translate-en_fr-1_10.argosmodel");
    mt_remote_destroy(remote);
    ck_assert(!read_package("argos:en-fr@1.9", &remote, &err));
    ck_assert_str_eq(remote->files[0].name, "translate-en_fr-1_9.argosmodel");
    mt_remote_destroy(remote);
    ck_assert(!read_package("argos:en-yy", &remote, &err));
    ck_assert_str_eq(remote->files[0].name, "_._.._etc.argosmodel");
    mt_remote_destroy(remote);
    ck_assert_int_eq(read_package("argos:en-zz", &remote, &err), MT_FORMAT);
    ck_assert_int_eq(read_package("argos:fr-en", &remote, &err), MT_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "list --remote fr"));
    ck_assert_int_eq(read_package("argos:en-fr@7", &remote, &err), MT_NOT_FOUND);
}
END_TEST

START_TEST(offers_of_argos)
{
    struct mt_offers offers = {0};
    struct mt_error err;
    ck_assert(!mt_argos_read_index(argos_index, strlen(argos_index), "en", &offers, &err));
    mt_offers_sort(&offers);
    ck_assert_uint_eq(offers.n, 3);
    ck_assert_str_eq(offers.list[0].pull, "argos:en-fr");
    ck_assert_str_eq(offers.list[0].version, "1.10");
    ck_assert_str_eq(offers.list[2].version, "");
    ck_assert_int_eq(mt_argos_read_index("{}", 2, "en", &offers, &err), MT_FORMAT);
    mt_offers_finish(&offers);
}
END_TEST

START_TEST(index_of_argos)
{
    static const char *const settings[][2] = {
        {"https://x.example/main", "https://x.example/main/index.json"},
        {"https://x.example/main/", "https://x.example/main/index.json"},
        {"https://x.example/other.json", "https://x.example/other.json"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct mt_text url = {0};
        mt_argos_append_index_url(settings[i][0], &url);
        ck_assert_str_eq(url.bytes, settings[i][1]);
        mt_text_finish(&url);
    }
}
END_TEST

/* --- Mozilla --- */

#define RECORD(version, type, name, more)                                                     \
    "{\"fromLang\":\"en\",\"toLang\":\"fr\",\"version\":\"" version "\",\"fileType\":\"" type \
    "\",\"attachment\":{\"hash\":\"" SHA256 "\",\"size\":5,\"filename\":\"" name              \
    "\",\"location\":\"main-workspace/" name "\"" more "}}"

static const char records[] = "{\"data\":[" RECORD("1.0", "model", "old.bin", "") "," RECORD(
    "2.1", "model", "model.bin",
    "") "," RECORD("2.1", "vocab", "vocab.spm",
                   "") "," RECORD("2.1", "lex", "lex.bin",
                                  "") "," RECORD("2.1", "qualityModel", "quality.bin",
                                                 "") "," RECORD("2.2a1", "model", "new.bin",
                                                                "") ",7,{}]}";

static enum mt_status read_firefox(const char *document, const char *text, struct mt_remote **out,
                                   struct mt_error *err)
{
    struct mt_pull_name name;
    ck_assert(!mt_pull_name_parse(text, HUB, &name, err));
    return mt_firefox_read_model(document, strlen(document), "https://cdn.example/", &name, out,
                                 err);
}

START_TEST(model_of_firefox)
{
    struct mt_remote *remote;
    struct mt_error err;
    ck_assert(!read_firefox(records, "firefox:en-fr", &remote, &err));
    ck_assert_str_eq(remote->from, "firefox:en-fr@2.1");
    ck_assert_str_eq(remote->licence, "mpl-2.0");
    ck_assert_str_eq(remote->languages, "en to fr");
    ck_assert_uint_eq(remote->n_files, 3);
    ck_assert_str_eq(remote->files[0].url, "https://cdn.example/main-workspace/model.bin");
    ck_assert_str_eq(remote->files[0].digest, SHA256);
    mt_remote_destroy(remote);
    ck_assert(!read_firefox(records, "firefox:en-fr@2.2a1", &remote, &err));
    ck_assert_str_eq(remote->files[0].name, "new.bin");
    mt_remote_destroy(remote);
    ck_assert_int_eq(read_firefox(records, "firefox:fr-en", &remote, &err), MT_NOT_FOUND);
}
END_TEST

static const struct {
    const char *document, *complaint;
} bad_records[] = {
    {"[]", "data"},
    {"{\"data\":{}}", "data"},
    {"{\"data\":[" RECORD("1.0", "model", "../../evil", "") "]}", "location"},
    {"{\"data\":[" RECORD("1.0", "model", "a\\\\b", "") "]}", "location"},
    {"{\"data\":[{\"fromLang\":\"en\",\"toLang\":\"fr\",\"version\":\"1.0\",\"fileType\":\"model\"}"
     "]}",
     "location"},
    {"{\"data\":[{\"fromLang\":\"en\",\"toLang\":\"fr\",\"version\":\"1.0\",\"fileType\":\"model\","
     "\"attachment\":{\"hash\":\"x\",\"size\":1,\"filename\":\"a\",\"location\":\"b\"}}]}",
     "digest"},
    {"{\"data\":[{\"fromLang\":\"en\",\"toLang\":\"fr\",\"version\":\"1.0\",\"fileType\":\"model\","
     "\"attachment\":{\"hash\":\"" SHA256
     "\",\"size\":-2,\"filename\":\"a\",\"location\":\"b\"}}]}",
     "size"},
    {"{\"data\":[" RECORD("1.0", "model", "a", "") "," RECORD("1.0", "lex", "a", "") "]}", "twice"},
};

START_TEST(malformed_records)
{
    struct mt_remote *remote;
    struct mt_error err;
    ck_assert_int_eq(read_firefox(bad_records[_i].document, "firefox:en-fr", &remote, &err),
                     MT_FORMAT);
    ck_assert_msg(strstr(err.message, bad_records[_i].complaint), "%s", err.message);
}
END_TEST

START_TEST(offers_of_firefox)
{
    struct mt_offers offers = {0};
    struct mt_error err;
    ck_assert(!mt_firefox_read_records(records, strlen(records), "en", &offers, &err));
    ck_assert_uint_eq(offers.n, 1);
    ck_assert_str_eq(offers.list[0].pull, "firefox:en-fr");
    ck_assert_str_eq(offers.list[0].version, "2.1");
    mt_offers_finish(&offers);
}
END_TEST

START_TEST(where_attachments_are)
{
    static const struct {
        const char *document, *base;
    } roots[] = {
        {"{\"capabilities\":{\"attachments\":{\"base_url\":\"https://cdn.example\"}}}",
         "https://cdn.example/"},
        {"{\"capabilities\":{\"attachments\":{\"base_url\":\"https://cdn.example/x/\"}}}",
         "https://cdn.example/x/"},
        {"{\"capabilities\":{\"attachments\":{\"base_url\":\"http://cdn.example/\"}}}", NULL},
        {"{\"capabilities\":{\"attachments\":{\"base_url\":\"file:///etc/\"}}}", NULL},
        {"{\"capabilities\":[]}", NULL},
        {"[]", NULL},
        {"x", NULL},
    };
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        struct mt_text base = {0};
        struct mt_error err;
        enum mt_status status =
            mt_firefox_read_root(roots[i].document, strlen(roots[i].document), &base, &err);
        ck_assert_int_eq(status, roots[i].base ? MT_OK : MT_FORMAT);
        if (roots[i].base)
            ck_assert_str_eq(base.bytes, roots[i].base);
        mt_text_finish(&base);
    }
}
END_TEST

#define N(table) (sizeof(table) / sizeof(table)[0])

Suite *suite_registries(void)
{
    Suite *suite = suite_create("registries");
    TCase *tcase = tcase_create("registries");
    tcase_add_test(tcase, model_of_hugging_face);
    tcase_add_loop_test(tcase, hostile_name_is_passed_over, 0, N(hostile));
    tcase_add_test(tcase, long_name_is_passed_over);
    tcase_add_loop_test(tcase, malformed_model, 0, N(malformed));
    tcase_add_test(tcase, members_of_another_type_are_as_good_as_none);
    tcase_add_test(tcase, a_million_files);
    tcase_add_loop_test(tcase, licence_of_a_model, 0, N(licences));
    tcase_add_test(tcase, addresses_of_hugging_face);
    tcase_add_test(tcase, search_of_hugging_face);
    tcase_add_test(tcase, package_of_argos);
    tcase_add_test(tcase, offers_of_argos);
    tcase_add_test(tcase, index_of_argos);
    tcase_add_test(tcase, model_of_firefox);
    tcase_add_loop_test(tcase, malformed_records, 0, N(bad_records));
    tcase_add_test(tcase, offers_of_firefox);
    tcase_add_test(tcase, where_attachments_are);
    suite_add_tcase(suite, tcase);
    return suite;
}
