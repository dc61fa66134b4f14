/*
 * Feeds bytes to what reads registries' documents and names of models; the first byte says which.
 * Whatever comes, no file may lead out of the model's directory, and what is accepted must be what
 * the headers promise.
 */
#include "server/pull/argos.h"
#include "server/pull/choice.h"
#include "server/pull/firefox.h"
#include "server/pull/hugging_face.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define HUB "https://hub.example"

static void check_file(const struct mt_staged_file *file)
{
    static const size_t n_digits[] = {[MT_DIGEST_SHA256] = 64, [MT_DIGEST_GIT_BLOB] = 40};
    assert(mt_remote_is_file_name(file->name));
    assert(!strchr(file->name, '/') && !strchr(file->name, '\\') && file->name[0] != '.');
    assert(file->size >= -1 && file->size <= MT_DOWNLOAD_MAX_FILE_BYTES);
    assert(strncmp(file->url, "https://", 8) == 0);
    if (file->digest_kind != MT_DIGEST_NONE)
        assert(strlen(file->digest) == n_digits[file->digest_kind]);
}

static void check_remote(struct mt_remote *remote)
{
    struct mt_pull_name name;
    assert(strlen(remote->licence) < MT_REMOTE_LICENCE_BYTES);
    (void)mt_licence_is_non_commercial(remote->licence);
    assert(!mt_pull_name_parse(remote->from, HUB, &name, NULL));
    for (size_t i = 0; i < remote->n_files; i++)
        check_file(&remote->files[i]);
    struct mt_choice *choice = malloc(sizeof *choice);
    assert(choice);
    if (!mt_choice_begin(remote, choice, NULL))
        for (size_t i = 0; i < choice->n; i++)
            check_file(&choice->files[i]);
    free(choice);
    mt_remote_destroy(remote);
}

static void read_model(unsigned which, const char *bytes, size_t length)
{
    static const char *const names[] = {"ORG/opus-mt-en-fr", "argos:en-fr", "firefox:en-fr"};
    struct mt_pull_name name;
    struct mt_remote *remote;
    struct mt_error err;
    enum mt_status status = mt_pull_name_parse(names[which], HUB, &name, &err);
    assert(!status);
    if (which == 0)
        status = mt_hub_read_model(bytes, length, HUB, &name, &remote, &err);
    else if (which == 1)
        status = mt_argos_read_package(bytes, length, &name, &remote, &err);
    else
        status = mt_firefox_read_model(bytes, length, "https://cdn.example/", &name, &remote, &err);
    if (status)
        assert(err.message[0] != '\0' && status != MT_INVALID);
    else
        check_remote(remote);
}

static void read_offers(unsigned which, const char *bytes, size_t length)
{
    struct mt_offers offers = {0};
    struct mt_error err;
    enum mt_status status;
    if (which == 0)
        status = mt_hub_read_search(bytes, length, "en", &offers, &err);
    else if (which == 1)
        status = mt_argos_read_index(bytes, length, "en", &offers, &err);
    else
        status = mt_firefox_read_records(bytes, length, "en", &offers, &err);
    assert(!status || err.message[0] != '\0');
    mt_offers_sort(&offers);
    for (size_t i = 0; i < offers.n; i++) {
        struct mt_pull_name name;
        assert(!mt_pull_name_parse(offers.list[i].pull, HUB, &name, NULL));
        assert(name.registry == offers.list[i].registry);
        assert(strcmp(offers.list[i].source, "en") == 0);
    }
    mt_offers_finish(&offers);
}

static void read_root(const char *bytes, size_t length)
{
    struct mt_text base = {0};
    if (!mt_firefox_read_root(bytes, length, &base, NULL))
        assert(strncmp(base.bytes, "https://", 8) == 0 && base.bytes[base.length - 1] == '/');
    mt_text_finish(&base);
}

static void read_name(const char *bytes, size_t length)
{
    struct mt_pull_name name;
    char local[MT_PULL_LOCAL_BYTES], *text = strndup(bytes, length);
    struct mt_error err;
    assert(text);
    enum mt_status status = mt_pull_name_parse(text, HUB, &name, &err);
    assert(!status || status == MT_INVALID);
    if (!status) {
        mt_pull_name_local(&name, local);
        assert(mt_pull_is_local_name(local));
        assert((name.registry == MT_REGISTRY_URL) == (name.url[0] != '\0'));
    }
    free(text);
}

/* A document that decides, in a directory that nobody lists: it may name any file. */
static void read_document(unsigned which, const char *bytes, size_t length)
{
    static const char *const names[] = {"config.json", "model.safetensors.index.json",
                                        "decoder.yml"};
    struct mt_remote *remote;
    struct mt_choice *choice = calloc(1, sizeof *choice);
    assert(choice && !mt_remote_create("fuzz", &remote, NULL));
    remote->base = remote->from = "https://x.example/";
    choice->remote = remote;
    if (!mt_choice_read(choice, names[which], bytes, length, NULL))
        for (size_t i = 0; i < choice->n; i++)
            check_file(&choice->files[i]);
    free(choice);
    mt_remote_destroy(remote);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *bytes = (const char *)data + 1;
    unsigned which = (unsigned)(data[0] - '0');
    if (which < 3)
        read_model(which, bytes, size - 1);
    else if (which < 6)
        read_offers(which - 3, bytes, size - 1);
    else if (which == 6)
        read_root(bytes, size - 1);
    else if (which == 7)
        read_name(bytes, size - 1);
    else if (which < 11)
        read_document(which - 8, bytes, size - 1);
    return 0;
}
