/*
 * Model files that were cut short, at every length, or have one bit of their header flipped: each
 * is refused with a reason, or it is loaded as if nothing had happened. Of the tiny model every
 * case is tried, or one in MT_TEST_ONE_IN where a processor is emulated; of the bundled one's files
 * a sample, or all with MT_TEST_FULL=1.
 */
#include "base/arena.h"
#include "base/file.h"
#include "model/files/bind.h"
#include "model/files/packed.h"
#include "model/files/source.h"
#include "model/tokenizer/spm.h"
#include "model/tokenizer/spm_check.h"
#include "tests/fuzz/tiny_model.h"
#include "weights/image.h"

#include <check.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct mt_error err;
static size_t n_refused, n_same;

static bool is_full(void)
{
    const char *full = getenv("MT_TEST_FULL");
    return full && strcmp(full, "1") == 0;
}

/* Odd, so that the bits of a byte take turns. */
static size_t one_in(void)
{
    const char *n = getenv("MT_TEST_ONE_IN");
    return n ? strtoul(n, NULL, 10) : 1;
}

static void must(enum mt_status status)
{
    ck_assert_msg(!status, "%s", err.message);
}

static char *bundled(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/tests/models/en-de/%s", getenv("MT_SOURCE_DIR"), name);
    return path;
}

static enum mt_status read_hparams(const char *directory, struct mt_hparams *out)
{
    struct mt_source *source;
    must(mt_source_open(directory, &source, &err));
    enum mt_status status = mt_hparams_read(source, out, &err);
    mt_source_close(source);
    return status;
}

static void count(enum mt_status status)
{
    if (!status) {
        n_same++;
        return;
    }
    n_refused++;
    ck_assert_msg(strlen(err.message) > 10, "no reason: \"%s\"", err.message);
}

static void report(const char *what)
{
    printf("%s: %zu refused, %zu loaded unchanged\n", what, n_refused, n_same);
    ck_assert_uint_gt(n_refused, 0);
}

/* ---- files of tensors ---- */

struct tensors {
    unsigned char *bytes;
    size_t length, header_bytes;
    const struct mt_hparams *hparams;
    bool is_packed;
};

static struct tensors tensors_of(const void *bytes, size_t length, const struct mt_hparams *hparams,
                                 bool is_packed)
{
    uint64_t n;
    struct tensors file = {.length = length, .hparams = hparams, .is_packed = is_packed};
    ck_assert_int_eq(posix_memalign((void **)&file.bytes, 64, length), 0);
    memcpy(file.bytes, bytes, length);
    memcpy(&n, bytes, sizeof n);
    n = le64toh(n);
    file.header_bytes = sizeof n + (size_t)n;
    return file;
}

static enum mt_status bind(const struct tensors *file, size_t length, struct mt_arena *arena,
                           struct mt_safetensors **opened, struct mt_weights *out)
{
    enum mt_status status =
        mt_safetensors_open_memory(file->bytes, length, "damaged", opened, &err);
    if (!status && file->is_packed)
        status = mt_packed_check_identity(*opened, file->hparams, NULL, &err);
    if (status)
        return status;
    return file->is_packed
               ? mt_packed_bind(*opened, file->hparams, arena, out, &err)
               : mt_bind_marian(*opened, file->hparams, MT_BIND_FP32, arena, out, NULL, &err);
}

/* Every tensor where it was, as what it was. */
static bool lists_same(const struct mt_safetensors *a, const struct mt_safetensors *b)
{
    bool same = mt_safetensors_count(a) == mt_safetensors_count(b);
    for (size_t i = 0; same && i < mt_safetensors_count(a); i++) {
        const struct mt_tensor *x = mt_safetensors_at(a, i), *y = mt_safetensors_at(b, i);
        same = strcmp(x->name, y->name) == 0 && x->dtype == y->dtype && x->rank == y->rank &&
               memcmp(x->shape, y->shape, x->rank * sizeof *x->shape) == 0 && x->data == y->data;
    }
    return same;
}

static void try_tensors(const struct tensors *file, size_t length,
                        const struct mt_safetensors *sound, const char *what, size_t at)
{
    struct mt_safetensors *opened = NULL;
    struct mt_arena *arena;
    struct mt_weights weights;
    must(mt_arena_create(0, &arena, &err));
    memset(&err, 0, sizeof err);
    enum mt_status status = bind(file, length, arena, &opened, &weights);
    count(status);
    if (!status)
        ck_assert_msg(lists_same(opened, sound), "%s %zu: loaded as something else", what, at);
    mt_safetensors_close(opened);
    mt_arena_destroy(arena);
}

static void damage_tensors(struct tensors *file, const char *name, size_t step)
{
    struct tensors copy = tensors_of(file->bytes, file->length, file->hparams, file->is_packed);
    struct mt_safetensors *sound = NULL;
    struct mt_weights weights;
    struct mt_arena *arena;
    must(mt_arena_create(0, &arena, &err));
    must(bind(file, file->length, arena, &sound, &weights));
    for (size_t length = 0; length < file->length;) {
        try_tensors(file, length, sound, "cut to", length);
        ck_assert_uint_eq(n_same, 0);
        bool is_in_header = length < file->header_bytes + 64;
        length += is_in_header ? (step + 6) / 7 : is_full() ? 1 : 16 * step * step;
    }
    for (size_t bit = 0; bit < 8 * file->header_bytes; bit += step) {
        file->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        try_tensors(file, file->length, sound, "bit", bit);
        file->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    ck_assert_int_eq(memcmp(file->bytes, copy.bytes, file->length), 0);
    mt_safetensors_close(sound);
    mt_arena_destroy(arena);
    free(copy.bytes);
    free(file->bytes);
    report(name);
}

START_TEST(tensors_of_the_tiny_model)
{
    size_t length;
    const void *bytes = mt_image_bytes(tiny_model(MT_FP32)->image, &length);
    struct tensors file = tensors_of(bytes, length, tiny_hparams(), false);
    damage_tensors(&file, "tiny model.safetensors", one_in());
}
END_TEST

START_TEST(packed_form_of_the_tiny_model)
{
    size_t length;
    const void *bytes = tiny_packed(&length);
    struct tensors file = tensors_of(bytes, length, tiny_hparams(), true);
    damage_tensors(&file, "tiny packed form", one_in());
}
END_TEST

START_TEST(tensors_of_the_bundled_model)
{
    char *bytes, directory[1024];
    size_t length;
    struct mt_hparams hparams;
    snprintf(directory, sizeof directory, "%s", bundled(""));
    must(read_hparams(directory, &hparams));
    must(mt_file_read(bundled("model.safetensors"), (size_t)1 << 30, &bytes, &length, &err));
    struct tensors file = tensors_of(bytes, length, &hparams, false);
    free(bytes);
    damage_tensors(&file, "bundled model.safetensors", is_full() ? 1 : 1009 * one_in());
}
END_TEST

/* ---- configurations ---- */

/* What a valid number in the place of another may change without anybody being able to tell: how
 * long and how widely is searched, and which tokens begin or never come. */
static struct mt_hparams without_choices(struct mt_hparams h)
{
    h.max_length = h.n_beams = h.n_suppressed = h.max_positions = 0;
    memset(h.suppressed, 0, sizeof h.suppressed);
    h.length_penalty = 0.0f;
    h.early_stopping = MT_STOP_HEURISTIC;
    h.pad_id = h.start_id = h.forced_eos_id = 0;
    h.renormalize_logits = false;
    return h;
}

struct config {
    char directory[64], path[128], other[128];
    char *bytes;
    size_t length;
    struct mt_hparams sound;
    struct mt_safetensors *file;
};

static void open_config(struct config *config, const char *name)
{
    const char *const names[] = {"config.json", "generation_config.json"};
    snprintf(config->directory, sizeof config->directory, "/tmp/mt_test_damage.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(config->directory));
    for (size_t i = 0; i < 2; i++) {
        bool is_it = strcmp(names[i], name) == 0;
        char *path = is_it ? config->path : config->other, *bytes;
        size_t length;
        snprintf(path, 128, "%s/%s", config->directory, names[i]);
        must(mt_file_read(bundled(names[i]), 1 << 20, &bytes, &length, &err));
        must(mt_file_write(path, bytes, length, &err));
        if (is_it) {
            config->bytes = bytes;
            config->length = length;
        } else {
            free(bytes);
        }
    }
    must(read_hparams(config->directory, &config->sound));
    must(mt_safetensors_open(bundled("model.safetensors"), &config->file, &err));
}

static void close_config(struct config *config)
{
    unlink(config->path);
    unlink(config->other);
    rmdir(config->directory);
    mt_safetensors_close(config->file);
    free(config->bytes);
}

static void try_config(struct config *config, size_t length, const char *what, size_t at)
{
    struct mt_hparams hparams = {0}, expected = without_choices(config->sound);
    struct mt_arena *arena;
    struct mt_weights weights;
    FILE *file = fopen(config->path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(config->bytes, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
    memset(&err, 0, sizeof err);
    enum mt_status status = read_hparams(config->directory, &hparams);
    struct mt_hparams found = without_choices(hparams);
    if (!status && memcmp(&found, &expected, sizeof found) != 0) {
        must(mt_arena_create(0, &arena, &err)); /* the weights have a say, too */
        status = mt_bind_marian(config->file, &hparams, MT_BIND_FP32, arena, &weights, NULL, &err);
        mt_arena_destroy(arena);
        if (!status)
            ck_assert_msg(memcmp(&found, &expected, sizeof found) == 0, "%s %zu: another model",
                          what, at);
    }
    count(status);
}

static void damage_config(const char *name)
{
    struct config config;
    open_config(&config, name);
    for (size_t length = 0; length < config.length - 1; length += one_in()) {
        try_config(&config, length, "cut to", length);
        ck_assert_msg(n_same == 0 || config.bytes[length - 1] == '}', "cut to %zu", length);
    }
    for (size_t bit = 0; bit < 8 * config.length; bit += one_in()) {
        config.bytes[bit / 8] ^= (char)(1 << bit % 8);
        try_config(&config, config.length, "bit", bit);
        config.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    close_config(&config);
    report(name);
}

START_TEST(configurations)
{
    damage_config(_i == 0 ? "config.json" : "generation_config.json");
}
END_TEST

/* ---- SentencePiece ---- */

static enum mt_status keep_ids(void *context, const struct mt_spm_piece *piece)
{
    struct mt_text *text = context;
    mt_text_append(text, piece->bytes, piece->length);
    return MT_OK;
}

/* Loaded, it must cut a text without harm. */
static enum mt_status try_spm(const char *bytes, size_t length)
{
    static const char text[] = "Where is the train station? \xC2\xBD";
    struct mt_spm_info info;
    struct mt_spm *spm;
    struct mt_text pieces = {0};
    memset(&err, 0, sizeof err);
    enum mt_status status = mt_spm_check(bytes, length, "source.spm", &info, &err);
    if (!status)
        status = mt_spm_open(bytes, length, "source.spm", &spm, &err);
    count(status);
    if (status)
        return status;
    must(mt_spm_encode(spm, text, strlen(text), keep_ids, &pieces, &err));
    ck_assert_uint_gt(pieces.length, 0);
    mt_text_finish(&pieces);
    mt_spm_close(spm);
    return status;
}

#define SPM_HEAD_BYTES 4096
#define SPM_TAIL_BYTES 1024

static void flip_spm(char *bytes, size_t length, size_t begin, size_t end, size_t step)
{
    for (size_t bit = 8 * begin; bit < 8 * end; bit += step) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        enum mt_status status = try_spm(bytes, length);
        ck_assert(status != MT_MEMORY);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
}

START_TEST(sentencepiece_models)
{
    char *bytes;
    size_t length, n_head = is_full() ? SPM_HEAD_BYTES : 256, step = is_full() ? 1 : 13 * one_in();
    must(mt_file_read(bundled("source.spm"), MT_SPM_MAX_FILE_BYTES, &bytes, &length, &err));
    for (size_t cut = 0; cut < length; cut += is_full() ? 1 : 4999 * one_in()) {
        char *copy = malloc(cut + 1); /* the sanitizer sees a byte too many */
        memcpy(copy, bytes, cut);
        ck_assert_msg(try_spm(copy, cut) != MT_OK, "cut to %zu", cut);
        free(copy);
    }
    ck_assert_uint_eq(n_same, 0);
    flip_spm(bytes, length, 0, n_head, step);
    flip_spm(bytes, length, length - (is_full() ? SPM_TAIL_BYTES : 256), length, step);
    free(bytes);
    report("source.spm");
}
END_TEST

Suite *suite_damage(void)
{
    Suite *suite = suite_create("damage");
    TCase *tcase = tcase_create("damage");
    tcase_set_timeout(tcase, is_full() ? 7200 : 300);
    tcase_add_test(tcase, tensors_of_the_tiny_model);
    tcase_add_test(tcase, packed_form_of_the_tiny_model);
    tcase_add_test(tcase, tensors_of_the_bundled_model);
    tcase_add_loop_test(tcase, configurations, 0, 2);
    tcase_add_test(tcase, sentencepiece_models);
    suite_add_tcase(suite, tcase);
    return suite;
}
