#include "server/pull/choice.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAMES 32

/* A repository that holds these files, and what is chosen of it; both end with NULL. */
struct directory {
    const char *files[MAX_NAMES];
    const char *first[MAX_NAMES]; /* those that decide, in order */
    const char *rest[MAX_NAMES];  /* the others */
};

static struct mt_remote *list(const char *const *names, bool is_listed)
{
    struct mt_remote *remote;
    struct mt_error err;
    ck_assert(!mt_remote_create("ORG/NAME", &remote, &err));
    remote->base = "https://x.example/";
    remote->is_listed = is_listed;
    for (; *names; names++) {
        const struct mt_staged_file file = {.name = *names, .size = 1};
        ck_assert(!mt_remote_note_unreadable(remote, *names, &err));
        ck_assert(!mt_remote_add(remote, &file, &err));
    }
    return remote;
}

static const struct directory directories[] = {
    /* As Helsinki-NLP publishes them: every form of weights. */
    {{"config.json", "generation_config.json", "pytorch_model.bin", "tf_model.h5",
      "flax_model.msgpack", "rust_model.ot", "model.safetensors", "source.spm", "target.spm",
      "vocab.json", "tokenizer_config.json", "special_tokens_map.json", "README.md", "LICENSE",
      "metadata.json", "benchmark_results.txt", "tokenizer.json"},
     {"config.json"},
     {"generation_config.json", "model.safetensors", "source.spm", "target.spm", "vocab.json",
      "tokenizer_config.json", "special_tokens_map.json", "README.md", "LICENSE"}},
    {{"config.json", "pytorch_model.bin", "tf_model.h5", "source.spm", "target.spm", "vocab.json"},
     {"config.json"},
     {"pytorch_model.bin", "source.spm", "target.spm", "vocab.json"}},
    {{"config.json", "pytorch_model.bin", "model.safetensors.index.json",
      "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "source.spm",
      "target.spm", "vocab.json", "target_vocab.json", "licence.txt", "NOTICE"},
     {"config.json", "model.safetensors.index.json"},
     {"source.spm", "target.spm", "vocab.json", "target_vocab.json", "licence.txt", "NOTICE"}},
    {{"config.json", "attentiond.int8.safetensors", "attentiond.json", "source.spm", "target.spm",
      "vocab.json"},
     {"config.json"},
     {"attentiond.int8.safetensors", "attentiond.json", "source.spm", "target.spm", "vocab.json"}},
    /* CTranslate2 */
    {{"config.json", "model.bin", "shared_vocabulary.json", "source.spm", "target.spm", "README.md",
      "vocab.json"},
     {NULL},
     {"config.json", "model.bin", "shared_vocabulary.json", "source.spm", "target.spm",
      "README.md"}},
    {{"model.bin", "source_vocabulary.txt", "target_vocabulary.txt", "sentencepiece.model"},
     {NULL},
     {"model.bin", "source_vocabulary.txt", "target_vocabulary.txt", "sentencepiece.model"}},
    /* quickmt */
    {{"config.json", "model.bin", "source_vocabulary.json", "target_vocabulary.json",
      "src.spm.model", "tgt.spm.model", "eole-config.yaml", "README.md"},
     {NULL},
     {"config.json", "model.bin", "source_vocabulary.json", "target_vocabulary.json",
      "src.spm.model", "tgt.spm.model", "README.md"}},
    {{"config.json", "model.bin", "shared_vocabulary.json", "joint.spm.model", "joint.spm.vocab"},
     {NULL},
     {"config.json", "model.bin", "shared_vocabulary.json", "joint.spm.model"}},
    /* HPLT */
    {{"model.npz.best-chrf.npz", "model.en-fi.spm", "model.en-fi.vocab", "README.md"},
     {NULL},
     {"model.npz.best-chrf.npz", "model.en-fi.spm", "README.md"}},
    {{"config.json", "pytorch_model.bin", "source.spm", "target.spm", "vocab.json",
      "model.npz.best-chrf.npz", "model.en-fi.spm"},
     {"config.json"},
     {"pytorch_model.bin", "source.spm", "target.spm", "vocab.json"}},
    /* Marian */
    {{"decoder.yml", "model.npz", "other.npz", "vocab.yml", "source.spm", "target.spm",
      "README.md"},
     {"decoder.yml"},
     {"source.spm", "target.spm", "README.md"}},
    {{"model.npz.decoder.yml", "model.npz", "a.spm"}, {"model.npz.decoder.yml"}, {NULL}},
    /* Nothing to read but what config.json says of it. */
    {{"config.json", "tf_model.h5"}, {"config.json"}, {NULL}},
};

static size_t count(const char *const *names)
{
    size_t n = 0;
    while (names[n])
        n++;
    return n;
}

static bool is_chosen(const struct mt_choice *choice, size_t begin, const char *name)
{
    for (size_t i = begin; i < choice->n; i++)
        if (strcmp(choice->files[i].name, name) == 0)
            return true;
    return false;
}

START_TEST(chosen_by_names)
{
    const struct directory *directory = &directories[_i];
    struct mt_remote *remote = list(directory->files, true);
    struct mt_choice *choice = malloc(sizeof *choice);
    struct mt_error err;
    ck_assert_ptr_nonnull(choice);
    ck_assert_msg(!mt_choice_begin(remote, choice, &err), "%s", err.message);
    ck_assert_uint_eq(choice->n_first, count(directory->first));
    for (size_t i = 0; i < choice->n_first; i++)
        ck_assert_str_eq(choice->files[i].name, directory->first[i]);
    ck_assert_uint_eq(choice->n - choice->n_first, count(directory->rest));
    for (size_t i = 0; directory->rest[i]; i++)
        ck_assert_msg(is_chosen(choice, choice->n_first, directory->rest[i]), "%s",
                      directory->rest[i]);
    free(choice);
    mt_remote_destroy(remote);
}
END_TEST

static const struct {
    const char *files[MAX_NAMES];
    enum mt_status status;
    const char *complaint;
} refusals[] = {
    {{NULL}, MT_NOT_FOUND, "no weights"},
    {{"README.md"}, MT_NOT_FOUND, "no weights"},
    {{"model.safetensors"}, MT_NOT_FOUND, "no weights"},
    {{"ggml-model-q4.gguf", "README.md"}, MT_UNSUPPORTED, "llama.cpp (ggml-model-q4.gguf)"},
    {{"model.enfr.intgemm.alphas.bin", "vocab.enfr.spm"}, MT_UNSUPPORTED, "Bergamot"},
    {{"adapter_model.safetensors", "adapter_config.json"}, MT_UNSUPPORTED, "PEFT"},
    /* faster-whisper */
    {{"model.bin", "config.json", "vocabulary.json", "tokenizer.json"},
     MT_UNSUPPORTED,
     "no translation model of CTranslate2"},
    {{"model.bin", "shared_vocabulary.json"}, MT_NOT_FOUND, "sentencepiece.model"},
    {{"model.bin", "shared_vocabulary.json", "src.spm.model"}, MT_NOT_FOUND, "tgt.spm.model"},
    {{"model.npz", "vocab.spm"}, MT_UNSUPPORTED, "no decoder.yml"},
    {{"model.npz", "model.en-fi.spm", "model.fi-en.spm"}, MT_UNSUPPORTED, "nor one model.*.spm"},
    {{"model.npz", "other.npz", "model.en-fi.spm"}, MT_UNSUPPORTED, "no decoder.yml"},
    {{"model.npz", "a.decoder.yml", "b.decoder.yml"}, MT_UNSUPPORTED, "no decoder.yml"},
    {{"config.json", "model.safetensors", "vocab.json", "source.spm"}, MT_NOT_FOUND, "target.spm"},
};

START_TEST(refused_by_names)
{
    struct mt_remote *remote = list(refusals[_i].files, true);
    struct mt_choice *choice = malloc(sizeof *choice);
    struct mt_error err;
    ck_assert_ptr_nonnull(choice);
    ck_assert_int_eq(mt_choice_begin(remote, choice, &err), refusals[_i].status);
    ck_assert_msg(strstr(err.message, refusals[_i].complaint), "%s", err.message);
    free(choice);
    mt_remote_destroy(remote);
}
END_TEST

static const char *const marian[] = {"config.json", "model.safetensors", "vocab.json",
                                     "source.spm",  "target.spm",        NULL};
static const char *const shards[] = {"config.json",     "model.safetensors.index.json",
                                     "one.safetensors", "two.safetensors",
                                     "vocab.json",      "source.spm",
                                     "target.spm",      NULL};
static const char *const tensorflow[] = {"config.json", "tf_model.h5", NULL};
static const char *const npz[] = {"decoder.yml", "model.npz", "vocab.yml", "a.spm", NULL};

static const struct {
    const char *const *files;
    const char *name, *bytes;
    enum mt_status status;
    const char *complaint; /* of MT_OK, a file that is chosen now; NULL: none more */
} documents[] = {
    {marian, "config.json", "{\"model_type\":\"marian\"}", MT_OK, NULL},
    {marian, "config.json", "{\"model_type\":\"attentiond\"}", MT_OK, NULL},
    {marian, "config.json", "{\"model_type\":\"bert\"}", MT_UNSUPPORTED, "of the kind \"bert\""},
    {marian, "config.json", "{\"model_type\":\"a\\nb\"}", MT_UNSUPPORTED, "attentiond serves"},
    {marian, "config.json", "{\"model_type\":7}", MT_UNSUPPORTED, "no model_type"},
    {marian, "config.json", "[]", MT_UNSUPPORTED, "no model_type"},
    {marian, "config.json", "{", MT_FORMAT, "config.json"},
    {tensorflow, "config.json", "{\"model_type\":\"bert\"}", MT_UNSUPPORTED, "of the kind"},
    {tensorflow, "config.json", "{\"model_type\":\"marian\"}", MT_UNSUPPORTED, "TensorFlow"},
    {shards, "model.safetensors.index.json",
     "{\"weight_map\":{\"a\":\"one.safetensors\",\"b\":\"two.safetensors\"}}", MT_OK,
     "two.safetensors"},
    {shards, "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"three.safetensors\"}}",
     MT_NOT_FOUND, "three.safetensors"},
    {shards, "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"../one.safetensors\"}}",
     MT_FORMAT, "one.safetensors"},
    {shards, "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"a\\\\b\"}}", MT_FORMAT,
     "not the name of a file"},
    {shards, "model.safetensors.index.json", "{}", MT_FORMAT, "weight_map"},
    {npz, "decoder.yml", "models:\n  - /trained/model.npz\nvocabs:\n  - vocab.yml\n  - vocab.yml\n",
     MT_OK, "model.npz"},
    {npz, "decoder.yml", "models: [other.npz]\n", MT_NOT_FOUND, "other.npz"},
    {npz, "decoder.yml", "models: [..]\n", MT_FORMAT, "not the name of a file"},
    {npz, "decoder.yml", "models: [model.npz, model.npz]\n", MT_UNSUPPORTED, "2 models"},
    {npz, "decoder.yml", "beam-size: 6\n", MT_UNSUPPORTED, "0 models"},
    {npz, "decoder.yml", "models: [", MT_FORMAT, "decoder.yml"},
};

START_TEST(documents_decide)
{
    struct mt_remote *remote = list(documents[_i].files, true);
    struct mt_choice *choice = malloc(sizeof *choice);
    struct mt_error err;
    ck_assert_ptr_nonnull(choice);
    ck_assert(!mt_choice_begin(remote, choice, &err));
    enum mt_status status = mt_choice_read(choice, documents[_i].name, documents[_i].bytes,
                                           strlen(documents[_i].bytes), &err);
    ck_assert_msg(status == documents[_i].status, "%d: %s", status, status ? err.message : "");
    if (status)
        ck_assert_msg(strstr(err.message, documents[_i].complaint), "%s", err.message);
    else if (documents[_i].complaint)
        ck_assert(is_chosen(choice, choice->n_first, documents[_i].complaint));
    free(choice);
    mt_remote_destroy(remote);
}
END_TEST

/* Of a directory by its address nobody knows what else is in it. */
START_TEST(named_files_are_looked_for)
{
    static const char *const names[] = {"decoder.yml", NULL};
    static const char decoder[] = "models: [m.npz]\nvocabs: [v.spm]\n";
    struct mt_remote *remote = list(names, false);
    struct mt_choice *choice = malloc(sizeof *choice);
    struct mt_error err;
    ck_assert_ptr_nonnull(choice);
    ck_assert(!mt_choice_begin(remote, choice, &err));
    ck_assert(!mt_choice_read(choice, "decoder.yml", decoder, strlen(decoder), &err));
    ck_assert_uint_eq(choice->n, 3);
    ck_assert_str_eq(choice->files[1].url, "https://x.example/m.npz");
    ck_assert_int_eq(choice->files[1].size, -1);
    free(choice);
    mt_remote_destroy(remote);
}
END_TEST

#define N(table) (sizeof(table) / sizeof(table)[0])

Suite *suite_choice(void)
{
    Suite *suite = suite_create("choice");
    TCase *tcase = tcase_create("choice");
    tcase_add_loop_test(tcase, chosen_by_names, 0, N(directories));
    tcase_add_loop_test(tcase, refused_by_names, 0, N(refusals));
    tcase_add_loop_test(tcase, documents_decide, 0, N(documents));
    tcase_add_test(tcase, named_files_are_looked_for);
    suite_add_tcase(suite, tcase);
    return suite;
}
