#include "server/inspection/head_sample.h"

#include "base/file.h"
#include "base/text.h"
#include "config/settings.h"
#include "model/model.h"
#include "server/engine/decode.h"
#include "server/inspection/inspection_translation.h"
#include "server/text/direction.h"
#include "server/text/scripts.h"
#include "server/text/translation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)8 << 20)
#define WEIGHTS (MT_TRACE_ENCODER | MT_TRACE_DECODER | MT_TRACE_CROSS)

static bool is_written_without_blanks(uint32_t c)
{
    bool is_mark_or_wide = (c >= 0x3000 && c < 0x3100) || (c >= 0xFF00 && c < 0xFF61);
    return is_mark_or_wide || mt_script_is_unspaced(c);
}

/* Removes the blanks that only separate words. */
static enum mt_status join_words(struct mt_head_item *item, struct mt_error *err)
{
    const char *words = item->target_words = item->target;
    if (!words)
        return MT_OK;
    char *out = item->joined = malloc(strlen(words) + 1);
    if (!out)
        return mt_fail_memory(err, strlen(words), "a known translation");
    item->target = out;
    bool is_before = false;
    for (const char *at = words; *at;) {
        size_t n = mt_utf8_length((unsigned char)*at);
        bool is_behind = at[n] && is_written_without_blanks(mt_utf8_decode(at + n));
        if (*at != ' ' || (!is_before && !is_behind)) {
            memcpy(out, at, n);
            out += n;
        }
        is_before = is_written_without_blanks(mt_utf8_decode(at));
        at += n;
    }
    *out = '\0';
    return MT_OK;
}

/* Cuts a line at its TABs; missing and empty fields become NULL. */
static void cut_line(char *line, struct mt_head_item *item)
{
    const char **const fields[] = {&item->source, &item->target, &item->links};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        *fields[i] = line && (*line && *line != '\t') ? line : NULL;
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = '\0';
    }
}

static enum mt_status translate(const struct mt_head_sample *sample, struct mt_head_item *item,
                                unsigned trace, struct mt_error *err)
{
    const struct mt_settings *settings = sample->settings;
    const char *source = item->source ? item->source : "";
    struct mt_translation_options options = {
        .decoding = {.beam_size = (size_t)settings->beam_size, .trace = trace},
        .split = MT_SPLIT_OFF,
        .forced_target_text = item->target,
    };
    struct mt_text_direction direction;
    enum mt_status status =
        mt_text_direction_choose(mt_model_tokenizer(sample->model), settings->source_lang,
                                 settings->target_lang, &direction, err);
    if (status)
        return status;
    mt_text_direction_set(&direction, &options);
    status = mt_translation_create(sample->model, source, strlen(source), &options,
                                   &item->translation, err);
    if (status || mt_translation_n_sentences(item->translation) == 0)
        return status;
    struct mt_translation_part part = mt_translation_part(item->translation, 0);
    item->sentence = part.sentence;
    item->tokens = part.source_tokens;
    return MT_OK;
}

static enum mt_status decode_all(struct mt_head_sample *sample, struct mt_error *err)
{
    struct mt_sentence **sentences = calloc(sample->n + 1, sizeof *sentences);
    size_t n = 0;
    if (!sentences)
        return mt_fail_memory(err, sample->n * sizeof *sentences, "sentences");
    for (size_t i = 0; i < sample->n; i++)
        if (sample->items[i].sentence)
            sentences[n++] = mt_translation_part(sample->items[i].translation, 0).sentence;
    enum mt_status status =
        mt_decode(sample->model, (size_t)sample->settings->threads_per_worker,
                  (size_t)sample->settings->max_batch_rows, sentences, n, NULL, NULL, err);
    free(sentences);
    for (size_t i = 0; i < sample->n && !status; i++) {
        struct mt_head_item *item = &sample->items[i];
        if (!item->sentence)
            continue;
        item->trace = mt_sentence_trace(item->sentence);
        item->n_steps = mt_sentence_hypothesis(item->sentence, 0).n_ids;
    }
    return status;
}

enum mt_status mt_head_sample_fail(const struct mt_head_sample *sample, size_t i,
                                   enum mt_status status, struct mt_error *err)
{
    char context[256];
    snprintf(context, sizeof context, "%.200s, line %zu", sample->path, i + 1);
    return mt_fail_in(err, status, context);
}

/* Checks the limit before memory is allocated. */
static enum mt_status check_size(const struct mt_head_sample *sample, unsigned trace,
                                 struct mt_error *err)
{
    const struct mt_inspection_options options = {.kinds = trace & WEIGHTS};
    uint64_t n = 0, allowed = (uint64_t)sample->settings->max_attention_values;
    for (size_t i = 0; i < sample->n; i++) {
        const struct mt_head_item *item = &sample->items[i];
        if (item->sentence) {
            struct mt_translation_part part = mt_translation_part(item->translation, 0);
            n += mt_inspection_estimate_part(sample->model, &part, &options, item->target);
        }
    }
    if (trace == MT_TRACE_CROSS || n <= allowed)
        return MT_OK;
    return mt_fail(err, MT_LIMIT,
                   "%s: the attention of %zu sentences has about %llu numbers, %llu allowed; fewer "
                   "sentences do, or a larger --max-attention-values",
                   sample->path, sample->n, (unsigned long long)n, (unsigned long long)allowed);
}

static enum mt_status cut_and_translate(struct mt_head_sample *sample, unsigned trace,
                                        struct mt_error *err)
{
    char *rest = NULL;
    for (char *line = strtok_r(sample->bytes, "\n", &rest);
         line && sample->n < MT_HEAD_SAMPLE_LINES; line = strtok_r(NULL, "\n", &rest)) {
        struct mt_head_item *item = &sample->items[sample->n++];
        cut_line(line, item);
        enum mt_status status = join_words(item, err);
        if (!status)
            status = translate(sample, item, trace, err);
        if (status)
            return mt_head_sample_fail(sample, sample->n - 1, status, err);
    }
    if (!sample->n)
        return mt_fail(err, MT_INVALID, "%s has no sentences", sample->path);
    enum mt_status status = check_size(sample, trace, err);
    return status ? status : decode_all(sample, err);
}

enum mt_status mt_head_sample_read(const struct mt_model *model, const struct mt_settings *settings,
                                   const char *path, unsigned trace, struct mt_head_sample *out,
                                   struct mt_error *err)
{
    size_t length;
    *out = (struct mt_head_sample){
        .model = model, .settings = settings, .hparams = mt_model_hparams(model), .path = path};
    enum mt_status status = mt_file_read(path, MAX_FILE_BYTES, &out->bytes, &length, err);
    if (status)
        return status;
    size_t valid = mt_utf8_valid_prefix(out->bytes, length);
    if (valid < length)
        return mt_fail(err, MT_FORMAT, "%s is not UTF-8 at byte %zu", path, valid);
    out->items = calloc(MT_HEAD_SAMPLE_LINES, sizeof *out->items);
    if (!out->items)
        return mt_fail_memory(err, MT_HEAD_SAMPLE_LINES * sizeof *out->items, "a sample");
    return cut_and_translate(out, trace, err);
}

void mt_head_sample_finish(struct mt_head_sample *sample)
{
    for (size_t i = 0; i < sample->n; i++) {
        mt_translation_destroy(sample->items[i].translation);
        free(sample->items[i].joined);
    }
    free(sample->items);
    free(sample->bytes);
}

const char *mt_head_item_piece(const struct mt_head_sample *sample, const struct mt_head_item *item,
                               size_t step)
{
    int32_t id = mt_sentence_hypothesis(item->sentence, 0).ids[step];
    const char *piece = mt_tokenizer_target_piece(mt_model_tokenizer(sample->model), id);
    bool is_special = id == sample->hparams->eos_id || id == sample->hparams->pad_id;
    return piece && !is_special ? piece : NULL;
}

/* Links and words ------------------------------------------------------------------------------ */

enum mt_status mt_known_links_parse(const char *text, struct mt_known_links *out,
                                    struct mt_error *err)
{
    size_t capacity = strlen(text) / 3 + 2;
    *out = (struct mt_known_links){.sources = calloc(capacity, sizeof *out->sources),
                                   .targets = calloc(capacity, sizeof *out->targets)};
    if (!out->sources || !out->targets)
        return mt_fail_memory(err, capacity * sizeof *out->sources, "alignment links");
    while (*text) {
        int length = 0;
        unsigned source, target;
        if (sscanf(text, " %5u-%5u%n", &source, &target, &length) != 2)
            return mt_fail(err, MT_INVALID, "alignment: found \"%.40s\", expected pairs like 0-0",
                           text);
        out->sources[out->n] = source;
        out->targets[out->n++] = target;
        text += length;
        text += strspn(text, " \r");
    }
    return MT_OK;
}

void mt_known_links_finish(struct mt_known_links *links)
{
    free(links->sources);
    free(links->targets);
}

/* Returns the number of the word that begins at or before text[at]. words is text with additional
 * blanks between words. */
static size_t word_at(const char *words, const char *text, size_t at)
{
    size_t n = 0;
    bool in_word = false;
    for (size_t i = 0; *words && i <= at && text[i]; words++) {
        bool is_blank = *words == ' ';
        n += !is_blank && !in_word;
        in_word = !is_blank;
        i += *words == text[i] || !is_blank;
    }
    return n ? n - 1 : 0;
}

enum mt_status mt_head_item_target_words(const struct mt_head_sample *sample,
                                         const struct mt_head_item *item, size_t *out,
                                         struct mt_error *err)
{
    const struct mt_hypothesis best = mt_sentence_hypothesis(item->sentence, 0);
    struct mt_span *spans = calloc(best.n_ids + 1, sizeof *spans);
    struct mt_text text = {0};
    enum mt_status status = MT_OK;
    if (!spans)
        status = mt_fail_memory(err, best.n_ids * sizeof *spans, "places of words");
    if (!status)
        status = mt_detokenize(mt_model_tokenizer(sample->model), best.ids, best.n_ids, spans,
                               &text, err);
    for (size_t t = 0; t < best.n_ids && !status; t++) {
        bool has_letters = mt_head_item_piece(sample, item, t) && spans[t].end > spans[t].begin;
        const char *words = item->target_words ? item->target_words : text.bytes;
        /* a piece may cover parts of two words, and belongs to the larger part */
        size_t middle = (spans[t].begin + spans[t].end - 1) / 2;
        out[t] = has_letters ? word_at(words, text.bytes, middle) : SIZE_MAX;
    }
    mt_text_finish(&text);
    free(spans);
    return status;
}

size_t mt_head_item_source_word(const struct mt_head_item *item, size_t token)
{
    const struct mt_token *source = &item->tokens->tokens[token];
    return source->special ? SIZE_MAX : word_at(item->source, item->source, source->begin);
}
