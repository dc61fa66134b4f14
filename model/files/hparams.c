#include "model/files/hparams.h"

#include "base/json.h"
#include "base/nearest.h"
#include "model/families/foreign.h"
#include "model/files/source.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* config.json of a real model has about 60 keys, most of them for training. */
#define CONFIG_BYTES ((size_t)1 << 20)

/* Limits against nonsense, several times larger than any published model of this family. */
#define MAX_D_MODEL 16384
#define MAX_D_FF 65536
#define MAX_LAYERS 128
#define MAX_HEADS 256
#define MAX_VOCAB 4000000
#define MAX_POSITIONS 65536

/* One configuration file: the parsed object and its path, for messages. */
struct config {
    const char *path;
    cJSON *json;
    bool is_ours; /* its model_type says that our own keys apply */
};

static enum mt_status in_file(const struct config *config, enum mt_status status,
                              struct mt_error *err)
{
    return status ? mt_fail_in(err, status, config->path) : MT_OK;
}

static enum mt_status get_size(const struct config *config, const char *key, size_t low,
                               size_t high, size_t *out, struct mt_error *err)
{
    int64_t value = (int64_t)*out;
    enum mt_status status =
        mt_json_get_integer(config->json, key, (int64_t)low, (int64_t)high, &value, NULL, err);
    *out = (size_t)value;
    return in_file(config, status, err);
}

static enum mt_status get_bool(const struct config *config, const char *key, bool *out,
                               struct mt_error *err)
{
    return in_file(config, mt_json_get_bool(config->json, key, out, NULL, err), err);
}

/* Reads a token id: an integer, or a list of one, which some exporters write for eos_token_id. null
 * is MT_NO_TOKEN. */
static enum mt_status get_id(const struct config *config, const char *key, int32_t *out,
                             struct mt_error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(config->json, key);
    if (cJSON_IsNull(item))
        *out = MT_NO_TOKEN;
    if (cJSON_IsArray(item)) {
        if (cJSON_GetArraySize(item) != 1 || !cJSON_IsNumber(item->child))
            return mt_fail(err, MT_UNSUPPORTED, "%s: %s: expected one token id, found a list of %d",
                           config->path, key, cJSON_GetArraySize(item));
        double id = item->child->valuedouble;
        if (!(id >= 0 && id <= MAX_VOCAB) || id != (double)(int32_t)id)
            return mt_fail(err, MT_INVALID, "%s: %s: expected a token id, found %g", config->path,
                           key, id);
        *out = (int32_t)id;
        return MT_OK;
    }
    int64_t id = *out;
    enum mt_status status = mt_json_get_integer(config->json, key, 0, MAX_VOCAB, &id, NULL, err);
    *out = (int32_t)id;
    return in_file(config, status, err);
}

/* Reads one of several words as its number in the list. */
static enum mt_status get_choice(const struct config *config, const char *key,
                                 const char *const *words, size_t n_words, size_t *out,
                                 struct mt_error *err)
{
    const char *word = NULL;
    enum mt_status status = mt_json_get_string(config->json, key, &word, NULL, err);
    if (status || !word)
        return in_file(config, status, err);
    char list[128] = "";
    for (size_t i = 0, at = 0; i < n_words; i++) {
        if (strcmp(word, words[i]) == 0) {
            *out = i;
            return MT_OK;
        }
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s",
                               i == 0             ? ""
                               : i + 1 == n_words ? " or "
                                                  : ", ",
                               words[i]);
    }
    return mt_fail(err, MT_UNSUPPORTED, "%s: %s: expected %s, found \"%s\"", config->path, key,
                   list, word);
}

static enum mt_status get_activation(const struct config *config, enum mt_activation *out,
                                     struct mt_error *err)
{
    const char *word = NULL, *key = "activation_function";
    enum mt_status status = mt_json_get_string(config->json, key, &word, NULL, err);
    if (!status && word)
        status = mt_activation_find(MT_NAMED_BY_CONFIG, key, word, out, err);
    return in_file(config, status, err);
}

/* Keys that are in every saved configuration, or whose absence changes what the model computes; and
 * our own keys from hparams.h. */
static const char *const deciding_keys[] = {"model_type",
                                            "activation_function",
                                            "bad_words_ids",
                                            "d_model",
                                            "decoder_attention_heads",
                                            "decoder_ffn_dim",
                                            "decoder_layers",
                                            "decoder_start_token_id",
                                            "decoder_vocab_size",
                                            "early_stopping",
                                            "encoder_attention_heads",
                                            "encoder_ffn_dim",
                                            "encoder_layers",
                                            "forced_eos_token_id",
                                            "is_encoder_decoder",
                                            "length_penalty",
                                            "max_length",
                                            "max_position_embeddings",
                                            "num_beams",
                                            "renormalize_logits",
                                            "scale_embedding",
                                            "share_encoder_decoder_embeddings",
                                            "tie_word_embeddings",
                                            "vocab_size"};
static const char *const own_keys[] = {"add_final_layer_norm",
                                       "decoder_cell",
                                       "feed_forward",
                                       "first_position",
                                       "layer_norm_eps",
                                       "max_length_factor",
                                       "norm",
                                       "normalize_before",
                                       "normalize_embedding",
                                       "position_formula",
                                       "position_layout",
                                       "positions_skip_padding",
                                       "search",
                                       "start_from_zero_embedding",
                                       "static_position_embeddings",
                                       "word_penalty"};

/* Unknown keys are ignored, because there are dozens. But if one differs by a letter from a missing
 * key of these, it is refused: the default of that key would make another model. */
static enum mt_status check_spelling(const struct config *config, const char *const *keys,
                                     size_t n_keys, struct mt_error *err)
{
    for (const cJSON *item = config->json->child; item; item = item->next)
        for (size_t i = 0; i < n_keys; i++)
            if (mt_differs_in_one_byte(item->string, keys[i]) &&
                !cJSON_GetObjectItemCaseSensitive(config->json, keys[i]))
                return mt_fail(err, MT_FORMAT, "%s: expected \"%s\", found \"%s\"", config->path,
                               keys[i], item->string);
    return MT_OK;
}

/* Reads our own keys, for what other families do differently from MarianMT. */
static enum mt_status read_contract(const struct config *config, struct mt_hparams *h,
                                    struct mt_error *err)
{
    static const char *const layouts[] = {"concatenated", "interleaved"};
    static const char *const formulas[] = {"paper", "tensor2tensor"};
    static const char *const rules[] = {"generate", "marian", "ctranslate2"};
    static const char *const cells[] = {"attention", "ssru"};
    static const char *const norms[] = {"layer", "rms"};
    static const char *const blocks[] = {"plain", "gated"};
    bool static_positions = true;
    const struct {
        const char *key;
        bool *out;
    } flags[] = {
        {"normalize_before", &h->normalize_before},
        {"normalize_embedding", &h->normalize_embedding},
        {"add_final_layer_norm", &h->final_norm},
        {"static_position_embeddings", &static_positions},
        {"start_from_zero_embedding", &h->zero_start},
        {"positions_skip_padding", &h->positions_skip_padding},
    };
    size_t layout = h->position_layout, formula = h->position_formula, rule = h->search_rules,
           cell = h->decoder_cell, norm = h->norm_kind, block = h->feed_forward_kind;
    enum mt_status status =
        check_spelling(config, own_keys, sizeof own_keys / sizeof *own_keys, err);
    if (!status)
        status = get_choice(config, "position_layout", layouts, 2, &layout, err);
    if (!status)
        status = get_choice(config, "position_formula", formulas, 2, &formula, err);
    if (!status)
        status = get_choice(config, "search", rules, 3, &rule, err);
    if (!status)
        status = get_choice(config, "decoder_cell", cells, 2, &cell, err);
    if (!status)
        status = get_choice(config, "norm", norms, 2, &norm, err);
    if (!status)
        status = get_choice(config, "feed_forward", blocks, 2, &block, err);
    h->position_layout = (enum mt_position_layout)layout;
    h->position_formula = (enum mt_position_formula)formula;
    h->search_rules = (enum mt_search_rules)rule;
    h->decoder_cell = (enum mt_decoder_cell)cell;
    h->norm_kind = (enum mt_norm_kind)norm;
    h->feed_forward_kind = (enum mt_feed_forward_kind)block;
    if (!status)
        status = get_size(config, "first_position", 0, 2, &h->first_position, err);
    for (size_t i = 0; i < sizeof flags / sizeof *flags && !status; i++)
        status = get_bool(config, flags[i].key, flags[i].out, err);
    h->learned_positions = !static_positions;
    const struct {
        const char *key;
        double low, high;
        float *out;
    } numbers[] = {
        {"layer_norm_eps", 1e-12, 1e-1, &h->norm_eps},
        {"word_penalty", -100, 100, &h->word_penalty},
        {"max_length_factor", 0, 1000, &h->max_length_factor},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !status; i++) {
        double number = (double)*numbers[i].out;
        status = in_file(config,
                         mt_json_get_number(config->json, numbers[i].key, numbers[i].low,
                                            numbers[i].high, &number, NULL, err),
                         err);
        *numbers[i].out = (float)number;
    }
    return status;
}

static enum mt_status check_family(struct config *config, struct mt_error *err)
{
    const char *type = "marian";
    enum mt_status status = mt_json_get_string(config->json, "model_type", &type, NULL, err);
    if (status)
        return in_file(config, status, err);
    config->is_ours = strcmp(type, MT_OWN_MODEL_TYPE) == 0;
    if (!config->is_ours && strcmp(type, "marian") != 0)
        return mt_fail(err, MT_UNSUPPORTED, "%s: model_type: expected \"marian\", found \"%s\"",
                       config->path, type);
    bool encoder_decoder = true;
    status = get_bool(config, "is_encoder_decoder", &encoder_decoder, err);
    if (!status && !encoder_decoder)
        return mt_fail(err, MT_UNSUPPORTED, "%s: is_encoder_decoder: expected true, found false",
                       config->path);
    return status;
}

static enum mt_status read_architecture(const struct config *config, struct mt_hparams *h,
                                        struct mt_error *err)
{
    const struct {
        const char *key;
        size_t high;
        size_t *out;
    } sizes[] = {
        {"d_model", MAX_D_MODEL, &h->d_model},
        {"encoder_layers", MAX_LAYERS, &h->n_encoder_layers},
        {"decoder_layers", MAX_LAYERS, &h->n_decoder_layers},
        {"encoder_attention_heads", MAX_HEADS, &h->n_encoder_heads},
        {"decoder_attention_heads", MAX_HEADS, &h->n_decoder_heads},
        {"encoder_ffn_dim", MAX_D_FF, &h->d_ff_encoder},
        {"decoder_ffn_dim", MAX_D_FF, &h->d_ff_decoder},
        {"vocab_size", MAX_VOCAB, &h->n_source_vocab},
        {"max_position_embeddings", MAX_POSITIONS, &h->max_positions},
    };
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !status; i++)
        status = get_size(config, sizes[i].key, 1, sizes[i].high, sizes[i].out, err);
    if (status)
        return status;
    h->n_target_vocab = h->n_source_vocab;
    const struct {
        const char *key;
        bool *out;
    } flags[] = {
        {"scale_embedding", &h->scale_embedding},
        {"share_encoder_decoder_embeddings", &h->shared_embeddings},
        {"tie_word_embeddings", &h->tied_output},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags && !status; i++)
        status = get_bool(config, flags[i].key, flags[i].out, err);
    if (!status)
        status = get_size(config, "decoder_vocab_size", 1, MAX_VOCAB, &h->n_target_vocab, err);
    if (!status)
        status = get_activation(config, &h->activation, err);
    if (!status && config->is_ours)
        status = read_contract(config, h, err);
    return status;
}

static enum mt_status check_architecture(const struct config *config, const struct mt_hparams *h,
                                         struct mt_error *err)
{
    if (h->d_model % h->n_encoder_heads || h->d_model % h->n_decoder_heads)
        return mt_fail(err, MT_INVALID,
                       "%s: d_model: expected a multiple of encoder_attention_heads (%zu) and "
                       "decoder_attention_heads (%zu), found %zu",
                       config->path, h->n_encoder_heads, h->n_decoder_heads, h->d_model);
    if (h->d_model % 2)
        return mt_fail(err, MT_INVALID, "%s: d_model: expected an even number, found %zu",
                       config->path, h->d_model);
    if (h->shared_embeddings && h->n_target_vocab != h->n_source_vocab)
        return mt_fail(err, MT_INVALID,
                       "%s: decoder_vocab_size: expected vocab_size (%zu), because "
                       "share_encoder_decoder_embeddings is true, found %zu",
                       config->path, h->n_source_vocab, h->n_target_vocab);
    return MT_OK;
}

/* Generation settings that would change the output and that are not supported: any value except
 * these is refused. */
static enum mt_status refuse_unknown_generation(const struct config *config, struct mt_error *err)
{
    static const struct {
        const char *key;
        double harmless;
    } numbers[] = {
        {"min_length", 0},
        {"no_repeat_ngram_size", 0},
        {"encoder_no_repeat_ngram_size", 0},
        {"repetition_penalty", 1},
        {"diversity_penalty", 0},
        {"num_beam_groups", 1},
        {"encoder_repetition_penalty", 1},
        {"penalty_alpha", 0},
        {"min_new_tokens", 0},
    };
    static const char *const absent[] = {"suppress_tokens",
                                         "begin_suppress_tokens",
                                         "forced_decoder_ids",
                                         "sequence_bias",
                                         "exponential_decay_length_penalty",
                                         "force_words_ids",
                                         "guidance_scale",
                                         "prefix_allowed_tokens_fn"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(config->json, numbers[i].key);
        if (item && !cJSON_IsNull(item) &&
            !(cJSON_IsNumber(item) && item->valuedouble == numbers[i].harmless))
            return mt_fail(err, MT_UNSUPPORTED,
                           "%s: %s: expected %g (anything else is not implemented), found %s%g",
                           config->path, numbers[i].key, numbers[i].harmless,
                           cJSON_IsNumber(item) ? "" : "another type, ", item->valuedouble);
    }
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(config->json, absent[i]);
        if (item && !cJSON_IsNull(item) && !(cJSON_IsArray(item) && !item->child))
            return mt_fail(err, MT_UNSUPPORTED, "%s: %s is set, and is not implemented",
                           config->path, absent[i]);
    }
    bool sample = false;
    enum mt_status status = get_bool(config, "do_sample", &sample, err);
    if (!status && sample)
        return mt_fail(err, MT_UNSUPPORTED,
                       "%s: do_sample: expected false (sampling is not implemented), found true",
                       config->path);
    return status;
}

static int compare_ids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static enum mt_status read_bad_words(const struct config *config, struct mt_hparams *h,
                                     struct mt_error *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(config->json, "bad_words_ids"), *word;
    if (!list || cJSON_IsNull(list))
        return MT_OK;
    h->n_suppressed = 0;
    cJSON_ArrayForEach(word, list)
    {
        if (!cJSON_IsArray(word) || cJSON_GetArraySize(word) != 1 || !cJSON_IsNumber(word->child))
            return mt_fail(err, MT_UNSUPPORTED,
                           "%s: bad_words_ids: expected lists of one token id each", config->path);
        double id = word->child->valuedouble;
        if (!(id >= 0 && id < (double)h->n_target_vocab) || id != (double)(int32_t)id)
            return mt_fail(err, MT_INVALID, "%s: bad_words_ids: expected an id below %zu, found %g",
                           config->path, h->n_target_vocab, id);
        if (h->n_suppressed == MT_MAX_SUPPRESSED)
            return mt_fail(err, MT_LIMIT, "%s: bad_words_ids: expected at most %d", config->path,
                           MT_MAX_SUPPRESSED);
        h->suppressed[h->n_suppressed++] = (int32_t)id;
    }
    qsort(h->suppressed, h->n_suppressed, sizeof *h->suppressed, compare_ids);
    return MT_OK;
}

static enum mt_status read_early_stopping(const struct config *config, enum mt_early_stopping *out,
                                          struct mt_error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(config->json, "early_stopping");
    if (cJSON_IsString(item) && strcmp(item->valuestring, "never") == 0) {
        *out = MT_STOP_NEVER_EARLY;
        return MT_OK;
    }
    bool at_once = *out == MT_STOP_AT_ONCE;
    enum mt_status status = get_bool(config, "early_stopping", &at_once, err);
    *out = at_once ? MT_STOP_AT_ONCE : MT_STOP_HEURISTIC;
    return status;
}

static enum mt_status read_generation(const struct config *config, struct mt_hparams *h,
                                      struct mt_error *err)
{
    enum mt_status status = refuse_unknown_generation(config, err);
    const struct {
        const char *key;
        int32_t *out;
    } ids[] = {
        {"eos_token_id", &h->eos_id},
        {"pad_token_id", &h->pad_id},
        {"decoder_start_token_id", &h->start_id},
        {"forced_bos_token_id", &h->forced_bos_id},
        {"forced_eos_token_id", &h->forced_eos_id},
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids && !status; i++)
        status = get_id(config, ids[i].key, ids[i].out, err);
    if (!status)
        status = get_size(config, "max_length", 2, MAX_POSITIONS, &h->max_length, err);
    if (!status)
        status = get_size(config, "num_beams", 1, MT_MAX_BEAMS, &h->n_beams, err);
    double penalty = (double)h->length_penalty;
    if (!status)
        status = in_file(
            config,
            mt_json_get_number(config->json, "length_penalty", -10, 10, &penalty, NULL, err), err);
    h->length_penalty = (float)penalty;
    if (!status)
        status = get_bool(config, "renormalize_logits", &h->renormalize_logits, err);
    if (!status)
        status = read_early_stopping(config, &h->early_stopping, err);
    if (!status)
        status = read_bad_words(config, h, err);
    return status;
}

static enum mt_status check_ids(const char *path, const struct mt_hparams *h, struct mt_error *err)
{
    const struct {
        const char *key;
        int32_t id;
        bool required;
    } ids[] = {
        {"eos_token_id", h->eos_id, true},
        {"decoder_start_token_id", h->start_id, true},
        {"pad_token_id", h->pad_id, false},
        {"forced_bos_token_id", h->forced_bos_id, false},
        {"forced_eos_token_id", h->forced_eos_id, false},
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        if (ids[i].id == MT_NO_TOKEN && !ids[i].required)
            continue;
        if (ids[i].id < 0 || (size_t)ids[i].id >= h->n_target_vocab)
            return mt_fail(err, MT_INVALID,
                           "%s: %s: expected an id below decoder_vocab_size (%zu), found %d", path,
                           ids[i].key, h->n_target_vocab, ids[i].id);
    }
    if (h->forced_eos_id != MT_NO_TOKEN && h->forced_eos_id != h->eos_id)
        return mt_fail(err, MT_UNSUPPORTED,
                       "%s: forced_eos_token_id: expected eos_token_id (%d) or null, found %d",
                       path, h->eos_id, h->forced_eos_id);
    for (size_t i = 0; i < h->n_suppressed; i++)
        if (h->suppressed[i] == h->eos_id)
            return mt_fail(err, MT_INVALID,
                           "%s: bad_words_ids holds eos_token_id (%d): no sentence would end", path,
                           h->eos_id);
    return MT_OK;
}

/* The defaults of configuration_marian.py for absent keys. */
static const struct mt_hparams marian_defaults = {
    .d_model = 1024,
    .n_encoder_layers = 12,
    .n_decoder_layers = 12,
    .n_encoder_heads = 16,
    .n_decoder_heads = 16,
    .d_ff_encoder = 4096,
    .d_ff_decoder = 4096,
    .n_source_vocab = 58101,
    .max_positions = 1024,
    .activation = MT_GELU,
    .position_layout = MT_POSITIONS_CONCATENATED,
    .position_formula = MT_POSITIONS_PAPER,
    .norm_eps = 1e-5f,
    .search_rules = MT_SEARCH_GENERATE,
    .shared_embeddings = true,
    .tied_output = true,
    .eos_id = 0,
    .pad_id = 58100,
    .start_id = 58100,
    .forced_bos_id = MT_NO_TOKEN,
    .forced_eos_id = 0,
    .max_length = 20,
    .n_beams = 1,
    .length_penalty = 1.0f,
    .early_stopping = MT_STOP_HEURISTIC,
};

static enum mt_status open_config(const struct mt_source *source, const char *name,
                                  struct mt_document *file, struct config *out,
                                  struct mt_error *err)
{
    enum mt_status status = mt_source_read(source, name, CONFIG_BYTES, file, err);
    if (status)
        return status;
    out->path = file->path;
    status = mt_json_parse(file->bytes, file->length, NULL, file->path, &out->json, err);
    if (!status && !cJSON_IsObject(out->json))
        status = mt_fail(err, MT_FORMAT, "%s: expected an object", file->path);
    if (!status)
        status =
            check_spelling(out, deciding_keys, sizeof deciding_keys / sizeof *deciding_keys, err);
    return status;
}

static enum mt_status read_model(struct config *config, struct mt_hparams *h, struct mt_error *err)
{
    enum mt_status status = check_family(config, err);
    if (!status)
        status = read_architecture(config, h, err);
    if (!status)
        status = check_architecture(config, h, err);
    if (!status)
        status = read_generation(config, h, err);
    return status;
}

enum mt_status mt_hparams_read(const struct mt_source *source, struct mt_hparams *out,
                               struct mt_error *err)
{
    struct mt_hparams h = marian_defaults;
    struct config model = {0}, generation = {0};
    struct mt_document model_file = {0}, generation_file = {0};
    enum mt_status status = open_config(source, "config.json", &model_file, &model, err);
    if (!status)
        status = read_model(&model, &h, err);
    if (status)
        goto done;
    status = open_config(source, "generation_config.json", &generation_file, &generation, err);
    if (status == MT_NOT_FOUND) {
        status = MT_OK;
    } else if (!status) {
        /* This file determines generation: keys that it lacks have the library's defaults instead
         * of config.json's values. */
        h.max_length = marian_defaults.max_length;
        h.n_beams = marian_defaults.n_beams;
        h.length_penalty = marian_defaults.length_penalty;
        h.early_stopping = marian_defaults.early_stopping;
        h.renormalize_logits = false;
        status = read_generation(&generation, &h, err);
    }
    if (!status)
        status = check_ids(generation.json ? generation.path : model.path, &h, err);
    if (!status)
        *out = h;
done:
    cJSON_Delete(model.json);
    cJSON_Delete(generation.json);
    mt_document_finish(&model_file);
    mt_document_finish(&generation_file);
    return status;
}
