/*
 * Every architecture that the configuration can ask for, on tiny models with seeded weights,
 * against a naive implementation: activations, pre- and post-norm, both layouts of positions,
 * shared and separate embeddings, an output matrix of its own, extra norms, RMS norms, gated
 * feed-forward blocks, recurrent cells.
 */
#include "base/file.h"
#include "base/team.h"
#include "model/batch.h"
#include "model/kernels/kernels.h"
#include "model/model.h"
#include "model/sentence.h"
#include "model/files/source.h"
#include "tests/parity/naive.h"
#include "weights/image.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* fp32 against double over a few layers of small numbers. */
#define TOLERANCE 2e-5
/* What 8 bits leave of logits whose spread is about 10. */
#define TOLERANCE_INT8 0.35

struct variant {
    const char *name;
    const char *config; /* beside the common part */
    size_t d_ff_decoder;
    bool separate, untied, extra_norms;
};

static const struct variant variants[] = {
    {"as MarianMT", "\"activation_function\":\"swish\",\"scale_embedding\":true", 64, false, false,
     false},
    {"relu, no scaling", "\"activation_function\":\"relu\"", 64, false, false, false},
    {"gelu, interleaved", "\"activation_function\":\"gelu\",\"position_layout\":\"interleaved\"",
     64, false, false, false},
    {"as Marian",
     "\"activation_function\":\"quick_gelu\",\"scale_embedding\":true,\"layer_norm_eps\":1e-6,"
     "\"position_formula\":\"tensor2tensor\",\"start_from_zero_embedding\":true",
     64, false, false, false},
    {"as OpenNMT-tf",
     "\"activation_function\":\"gelu_new\",\"scale_embedding\":true,\"normalize_before\":true,"
     "\"add_final_layer_norm\":true,\"normalize_embedding\":true,\"first_position\":1,"
     "\"position_formula\":\"tensor2tensor\"",
     64, false, false, true},
    {"large epsilon", "\"activation_function\":\"relu\",\"layer_norm_eps\":0.05", 64, false, false,
     false},
    {"pre-norm, final norm",
     "\"activation_function\":\"relu\",\"normalize_before\":true,\"add_final_layer_norm\":true,"
     "\"normalize_embedding\":true",
     64, false, false, true},
    {"separate embeddings, other d_ff",
     "\"activation_function\":\"swish\",\"share_encoder_decoder_embeddings\":false,\"decoder_vocab_"
     "size\":8001",
     128, true, false, false},
    {"a student's: SSRU",
     "\"activation_function\":\"relu\",\"scale_embedding\":true,\"layer_norm_eps\":1e-6,"
     "\"position_formula\":\"tensor2tensor\",\"start_from_zero_embedding\":true,"
     "\"decoder_cell\":\"ssru\"",
     64, false, false, false},
    {"SSRU, pre-norm",
     "\"activation_function\":\"relu\",\"normalize_before\":true,\"add_final_layer_norm\":true,"
     "\"normalize_embedding\":true,\"decoder_cell\":\"ssru\"",
     64, false, false, true},
    {"padding without positions, as M2M100",
     "\"activation_function\":\"relu\",\"scale_embedding\":true,\"normalize_before\":true,"
     "\"add_final_layer_norm\":true,\"normalize_embedding\":true,"
     "\"position_formula\":\"tensor2tensor\",\"first_position\":2,"
     "\"positions_skip_padding\":true",
     64, false, false, true},
    {"as quickmt trains: RMS norms, gated SiLU",
     "\"activation_function\":\"swish\",\"scale_embedding\":true,\"normalize_before\":true,"
     "\"add_final_layer_norm\":true,\"normalize_embedding\":true,"
     "\"position_layout\":\"interleaved\",\"norm\":\"rms\",\"feed_forward\":\"gated\"",
     64, false, false, true},
    {"gated GELU, other d_ff, post-norm",
     "\"activation_function\":\"gelu\",\"feed_forward\":\"gated\"", 128, false, false, false},
    {"RMS norms, post-norm, large epsilon",
     "\"activation_function\":\"relu\",\"norm\":\"rms\",\"layer_norm_eps\":0.05", 64, false, false,
     false},
    {"untied output", "\"activation_function\":\"relu\",\"tie_word_embeddings\":false", 64, false,
     true, false},
};
#define N_VARIANTS (sizeof variants / sizeof variants[0])

#define D 32
#define V 8001
#define F_ENCODER 64
#define LAYERS 2

static char directory[256];

static uint64_t state;
static float gaussian(void)
{
    double sum = 0.0;
    for (int i = 0; i < 12; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(state >> 40) / (double)(1 << 24);
    }
    return (float)(sum - 6.0);
}

static void must(enum mt_status status, const struct mt_error *err)
{
    ck_assert_msg(!status, "%s", err->message);
}

/* A planned tensor and how its numbers are spread. */
struct planned {
    size_t index, n;
    float mean, deviation;
};

struct maker {
    struct mt_image *image;
    struct planned planned[256];
    size_t n;
};

static void add(struct maker *m, const char *name, size_t rows, size_t columns, float mean,
                float deviation)
{
    struct mt_error err;
    const size_t shape[2] = {rows ? rows : columns, columns};
    struct planned *p = &m->planned[m->n++];
    must(mt_image_add(m->image, name, MT_F32, rows ? 2 : 1, shape, &p->index, &err), &err);
    p->n = (rows ? rows : 1) * columns;
    p->mean = mean;
    p->deviation = deviation;
}

static void add_pair(struct maker *m, const char *prefix, const char *name, size_t rows,
                     size_t columns)
{
    char full[256];
    bool is_norm = !columns;
    snprintf(full, sizeof full, "%s%s.weight", prefix, name);
    add(m, full, is_norm ? 0 : rows, is_norm ? rows : columns, is_norm ? 1.0f : 0.0f,
        is_norm ? 0.1f : 1.2f / sqrtf((float)columns));
    snprintf(full, sizeof full, "%s%s.bias", prefix, name);
    add(m, full, 0, rows, 0.0f, 0.1f);
}

static void add_attention(struct maker *m, const char *prefix, const char *name)
{
    const char *const parts[] = {"q_proj", "k_proj", "v_proj", "out_proj"};
    char full[128];
    for (size_t i = 0; i < 4; i++) {
        snprintf(full, sizeof full, "%s.%s", name, parts[i]);
        add_pair(m, prefix, full, D, D);
    }
    snprintf(full, sizeof full, "%s_layer_norm", name);
    add_pair(m, prefix, full, D, 0);
}

static void add_cell(struct maker *m, const char *prefix)
{
    char full[128];
    snprintf(full, sizeof full, "%scell.input.weight", prefix);
    add(m, full, D, D, 0.0f, 1.2f / sqrtf(D));
    add_pair(m, prefix, "cell.forget", D, D);
    add_pair(m, prefix, "cell_layer_norm", D, 0);
}

static void add_side(struct maker *m, const struct variant *v, const char *side, size_t d_ff)
{
    char prefix[64];
    for (size_t l = 0; l < LAYERS; l++) {
        snprintf(prefix, sizeof prefix, "model.%s.layers.%zu.", side, l);
        if (side[0] == 'd' && strstr(v->config, "\"ssru\""))
            add_cell(m, prefix);
        else
            add_attention(m, prefix, "self_attn");
        if (side[0] == 'd')
            add_attention(m, prefix, "encoder_attn");
        add_pair(m, prefix, "fc1", d_ff, D);
        if (strstr(v->config, "\"gated\""))
            add_pair(m, prefix, "fc1_factor", d_ff, D);
        add_pair(m, prefix, "fc2", D, d_ff);
        add_pair(m, prefix, "final_layer_norm", D, 0);
    }
    snprintf(prefix, sizeof prefix, "model.%s.", side);
    if (v->extra_norms) {
        add_pair(m, prefix, "layer_norm", D, 0);
        add_pair(m, prefix, "layernorm_embedding", D, 0);
    }
    if (v->separate) {
        char full[128];
        snprintf(full, sizeof full, "model.%s.embed_tokens.weight", side);
        add(m, full, V, D, 0.0f, 0.3f);
    }
}

static void write_weights(const struct variant *v)
{
    struct mt_error err;
    struct maker m = {0};
    must(mt_image_create(&m.image, &err), &err);
    if (!v->separate)
        add(&m, "model.shared.weight", V, D, 0.0f, 0.3f);
    if (v->untied)
        add(&m, "lm_head.weight", V, D, 0.0f, 0.3f);
    add(&m, "final_logits_bias", 1, V, 0.0f, 0.1f);
    add_side(&m, v, "encoder", F_ENCODER);
    add_side(&m, v, "decoder", v->d_ff_decoder);
    must(mt_image_allocate(m.image, &err), &err);
    for (size_t i = 0; i < m.n; i++) {
        float *numbers = mt_image_data(m.image, m.planned[i].index);
        for (size_t j = 0; j < m.planned[i].n; j++)
            numbers[j] = m.planned[i].mean + m.planned[i].deviation * gaussian();
    }
    char path[512];
    snprintf(path, sizeof path, "%s/model.safetensors", directory);
    must(mt_image_write(m.image, path, &err), &err);
    mt_image_destroy(m.image);
}

static void link_companions(void)
{
    const char *root = getenv("MT_SOURCE_DIR");
    const char *const names[] = {"source.spm", "target.spm", "vocab.json", "tokenizer_config.json"};
    for (size_t i = 0; i < 4; i++) {
        char from[1024], to[512];
        snprintf(from, sizeof from, "%s/tests/models/en-de/%s", root ? root : ".", names[i]);
        snprintf(to, sizeof to, "%s/%s", directory, names[i]);
        (void)!symlink(from, to);
    }
}

static void write_model(const struct variant *v)
{
    char config[2048], path[512];
    struct mt_error err;
    state = 42;
    int n = snprintf(
        config, sizeof config,
        "{\"model_type\":\"attentiond\",\"d_model\":%d,\"encoder_layers\":%d,\"decoder_layers\":%d,"
        "\"encoder_attention_heads\":4,\"decoder_attention_heads\":2,\"encoder_ffn_dim\":%d,"
        "\"decoder_ffn_dim\":%zu,\"vocab_size\":%d,\"max_position_embeddings\":64,\"eos_token_id\":"
        "0,"
        "\"pad_token_id\":8000,\"decoder_start_token_id\":8000,\"forced_eos_token_id\":null,"
        "\"bad_words_ids\":[[8000]],\"max_length\":40,%s}",
        D, LAYERS, LAYERS, F_ENCODER, v->d_ff_decoder, V, v->config);
    snprintf(path, sizeof path, "%s/config.json", directory);
    must(mt_file_write(path, config, (size_t)n, &err), &err);
    write_weights(v);
    link_companions();
}

static void make_directory(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%.200s/attentiond-variants-XXXXXX", tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
    const char *const names[] = {"source.spm",  "target.spm",
                                 "vocab.json",  "tokenizer_config.json",
                                 "config.json", "model.safetensors"};
    char path[512];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    rmdir(directory);
}

static const int32_t source[] = {117, 37, 247, 55, 901, 2, 0};
static const int32_t target[] = {790, 36, 335, 46, 4000, 7999, 2, 0};
#define N_SOURCE (sizeof source / sizeof *source)
#define N_TARGET (sizeof target / sizeof *target)
/* The padding token stands for itself where a text says <pad>. */
static const int32_t padded[] = {117, 37, 8000, 247, 8000, 8000, 55, 901, 2, 0};
static const int32_t padded_target[] = {790, 36, 8000, 46, 4000, 7999, 2, 0};
#define N_PADDED (sizeof padded / sizeof *padded)
_Static_assert(sizeof padded_target == sizeof target, "the same buffers hold both");

/* The target's logits by the engine, read in steps of a few rows. */
static void engine_logits(enum mt_precision precision, size_t max_rows, float *logits)
{
    struct mt_error err;
    struct mt_model *model;
    struct mt_batch *batch;
    struct mt_sentence *s;
    const struct mt_model_options options = {.precision = precision};
    const struct mt_batch_options batch_options = {.max_rows = max_rows};
    const struct mt_sentence_options sentence_options = {
        .forced_target = padded_target, .n_forced_target = N_TARGET, .trace = MT_TRACE_LOGITS};
    must(mt_model_open(directory, &options, &model, &err), &err);
    must(mt_batch_create(model, &batch_options, &batch, &err), &err);
    must(mt_sentence_create(model, padded, N_PADDED, &sentence_options, &s, &err), &err);
    ck_assert(mt_batch_admit(batch, s));
    while (!mt_batch_take_finished(batch))
        mt_batch_step(batch);
    for (size_t t = 0; t < N_TARGET; t++)
        memcpy(logits + t * V, mt_trace_row(mt_sentence_trace(s), MT_TRACE_LOGITS, 0, 0, t),
               V * sizeof *logits);
    mt_sentence_destroy(s);
    mt_batch_destroy(batch);
    mt_model_close(model);
}

static double largest_difference(const float *logits, const double *expected)
{
    double largest = 0.0;
    for (size_t i = 0; i < N_TARGET * V; i++) {
        double d = fabs((double)logits[i] - expected[i]);
        largest = isnan(d) || d > largest ? d : largest;
    }
    return largest;
}

START_TEST(logits_equal_the_naive_implementation)
{
    struct mt_error err;
    struct mt_hparams hparams;
    struct mt_source *files;
    struct mt_safetensors *file;
    char path[512];
    write_model(&variants[_i]);
    must(mt_source_open(directory, &files, &err), &err);
    must(mt_hparams_read(files, &hparams, &err), &err);
    mt_source_close(files);
    snprintf(path, sizeof path, "%s/model.safetensors", directory);
    must(mt_safetensors_open(path, &file, &err), &err);
    double *expected = naive_logits(&hparams, file, padded, N_PADDED, padded_target, N_TARGET);
    float *logits = calloc(N_TARGET * V, sizeof *logits),
          *other = calloc(N_TARGET * V, sizeof *other);
    ck_assert(logits && other);

    engine_logits(MT_FP32, 3, logits);
    double fp32 = largest_difference(logits, expected);
    engine_logits(MT_INT8, 3, logits);
    double int8 = largest_difference(logits, expected);
    engine_logits(MT_INT8, 64, other);
    printf("%s: largest difference fp32 %.2g, int8 %.2g\n", variants[_i].name, fp32, int8);
    ck_assert_msg(fp32 < TOLERANCE, "%s: fp32 differs by %g", variants[_i].name, fp32);
    ck_assert_msg(int8 < TOLERANCE_INT8, "%s: int8 differs by %g", variants[_i].name, int8);
    ck_assert_msg(!memcmp(logits, other, N_TARGET * V * sizeof *logits),
                  "%s: int8 depends on the rows of a step", variants[_i].name);
    free(logits);
    free(other);
    free(expected);
    mt_safetensors_close(file);
}
END_TEST

/* --- Search: what a beam remembers goes with it --- */

#define N_SENTENCES 12
#define MAX_TARGET 24

struct found {
    size_t n_hypotheses;
    struct {
        size_t n_ids;
        int32_t ids[MAX_TARGET];
        float logprobs[MAX_TARGET];
    } hypotheses[4];
};

static size_t source_of(size_t i, int32_t ids[N_SOURCE])
{
    size_t n = N_SOURCE - i % (N_SOURCE - 1);
    for (size_t k = 0; k + 1 < n; k++)
        ids[k] = (int32_t)((size_t)source[k] + 13 * i);
    ids[n - 1] = 0;
    return n;
}

/* Sources of different lengths, greedy and with 2 to 4 beams, some with a prefix. */
static struct mt_sentence *make_sentence(const struct mt_model *model, size_t i)
{
    struct mt_error err;
    struct mt_sentence *s;
    const struct mt_sentence_options options = {.beam_size = 1 + i % 4,
                                                .num_hypotheses = 1 + i % 4,
                                                .return_logprobs = true,
                                                .target_prefix = target,
                                                .n_target_prefix = i % 3 == 2 ? 1 + i % 5 : 0,
                                                .max_decoding_length = MAX_TARGET - i};
    int32_t ids[N_SOURCE];
    must(mt_sentence_create(model, ids, source_of(i, ids), &options, &s, &err), &err);
    return s;
}

static void take_found(const struct mt_sentence *s, struct found *out)
{
    memset(out, 0, sizeof *out);
    out->n_hypotheses = mt_sentence_n_hypotheses(s);
    for (size_t i = 0; i < out->n_hypotheses; i++) {
        struct mt_hypothesis h = mt_sentence_hypothesis(s, i);
        out->hypotheses[i].n_ids = h.n_ids;
        memcpy(out->hypotheses[i].ids, h.ids, h.n_ids * sizeof *h.ids);
        memcpy(out->hypotheses[i].logprobs, h.token_logprobs, h.n_ids * sizeof(float));
    }
}

/* All sentences through one batch, as they find room; [N_SENTENCES]. */
static void search_all(const struct mt_model *model, size_t max_rows, struct mt_team *team,
                       struct found *out)
{
    struct mt_error err;
    struct mt_batch *batch;
    struct mt_sentence *sentences[N_SENTENCES], *s;
    const struct mt_batch_options options = {.max_rows = max_rows, .team = team};
    must(mt_batch_create(model, &options, &batch, &err), &err);
    for (size_t i = 0; i < N_SENTENCES; i++)
        sentences[i] = make_sentence(model, i);
    for (size_t next = 0, n_done = 0; n_done < N_SENTENCES;) {
        while (next < N_SENTENCES && mt_batch_admit(batch, sentences[next]))
            next++;
        mt_batch_step(batch);
        while ((s = mt_batch_take_finished(batch)))
            n_done++;
    }
    for (size_t i = 0; i < N_SENTENCES; i++) {
        take_found(sentences[i], &out[i]);
        mt_sentence_destroy(sentences[i]);
    }
    mt_batch_destroy(batch);
}

/* A hypothesis that is given as a target, read in order, must get the probabilities that the search
 * saw, whichever beams it came by. */
static void expect_as_forced(const struct mt_model *model, size_t i, const struct found *found)
{
    for (size_t k = 0; k < found->n_hypotheses; k++) {
        struct mt_error err;
        struct mt_batch *batch;
        struct mt_sentence *s;
        int32_t ids[N_SOURCE];
        const struct mt_sentence_options options = {.forced_target = found->hypotheses[k].ids,
                                                    .n_forced_target = found->hypotheses[k].n_ids,
                                                    .return_logprobs = true};
        const struct mt_batch_options batch_options = {.max_rows = 5};
        must(mt_batch_create(model, &batch_options, &batch, &err), &err);
        must(mt_sentence_create(model, ids, source_of(i, ids), &options, &s, &err), &err);
        ck_assert(mt_batch_admit(batch, s));
        while (!mt_batch_take_finished(batch))
            mt_batch_step(batch);
        ck_assert_msg(!memcmp(mt_sentence_hypothesis(s, 0).token_logprobs,
                              found->hypotheses[k].logprobs,
                              found->hypotheses[k].n_ids * sizeof(float)),
                      "sentence %zu, hypothesis %zu: other probabilities", i, k);
        mt_sentence_destroy(s);
        mt_batch_destroy(batch);
    }
}

START_TEST(search_finds_the_same_bytes_however_it_is_shared)
{
    struct mt_error err;
    struct mt_model *model;
    struct mt_team *two;
    struct found expected[N_SENTENCES], found[N_SENTENCES];
    size_t n_tables, n_beams = 0;
    const struct mt_kernels *const *tables = mt_kernels_available(&n_tables);
    if (!strstr(variants[_i].config, "\"ssru\"") && !strstr(variants[_i].config, "\"gated\""))
        return; /* test_identity does it, on a real model */
    write_model(&variants[_i]);
    must(mt_team_try_create(2, &two, &err), &err);
    for (size_t t = 0; t < n_tables; t++) {
        const struct mt_model_options options = {.precision = MT_INT8, .kernels = tables[t]->name};
        must(mt_model_open(directory, &options, &model, &err), &err);
        if (t == 0)
            search_all(model, 4, NULL, expected);
        search_all(model, 64, t % 2 ? NULL : two, found);
        ck_assert_msg(!memcmp(found, expected, sizeof found), "%s: others", tables[t]->name);
        search_all(model, 13, two, found);
        ck_assert_msg(!memcmp(found, expected, sizeof found), "%s: two threads", tables[t]->name);
        for (size_t i = 0; i < N_SENTENCES && t == 0; i++) {
            n_beams += found[i].n_hypotheses;
            expect_as_forced(model, i, &found[i]);
        }
        mt_model_close(model);
    }
    mt_team_destroy(two);
    ck_assert_uint_eq(n_beams, N_SENTENCES / 4 * (1 + 2 + 3 + 4));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("variants");
    TCase *logits = tcase_create("logits");
    tcase_add_checked_fixture(logits, make_directory, remove_directory);
    tcase_set_timeout(logits, 120);
    tcase_add_loop_test(logits, logits_equal_the_naive_implementation, 0, (int)N_VARIANTS);
    tcase_add_loop_test(logits, search_finds_the_same_bytes_however_it_is_shared, 0,
                        (int)N_VARIANTS);
    suite_add_tcase(suite, logits);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
