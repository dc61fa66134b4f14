#include "server/text/translation.h"

#include "base/real.h"
#include "base/size.h"
#include "base/vector.h"
#include "model/model.h"
#include "server/text/capitals.h"
#include "server/text/numbers/numbers.h"
#include "server/text/post_edit.h"
#include "server/text/tagged_text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_SENTENCES 10000

/* Most bytes that are tokenized at once. A longer range is cut first; no sentence that fits a model
 * has as many. */
#define MAX_PIECE_BYTES ((size_t)1 << 16)
_Static_assert(MAX_PIECE_BYTES < MT_TOKENIZER_MAX_BYTES / 2, "the tokenizer takes every piece");

#define MAX_CODE_BYTES 32 /* such as ">>cmn_Hans<<" */

/* A piece cut out of a text is tokenized again, and its first word may then need more tokens than
 * it had within the text. */
#define CUT_RESERVE 8

struct part {
    struct mt_range range;
    struct mt_token_list tokens;
    struct mt_sentence *sentence;
    struct mt_text best; /* the text of its best hypothesis, once it was needed */
    bool was_cut;
};

/*
 *   text   >>fra<< Hello.  How are you?\n
 *          |     | |----|  |----------|
 *          0     | part 0     part 1
 *                code_length
 */
struct mt_translation {
    char *text;
    size_t length;
    size_t code_length; /* length of the language code that the text begins with; 0: none */
    struct part *parts;
    size_t n, capacity;
    bool has_left; /* some words are in no part: they are too long, or signs to be copied */
    const struct mt_model *model;
    bool writes_blanks;   /* the target language has blanks between words */
    bool joins_sentences; /* it has nothing between sentences */
    float length_penalty; /* exponent of the length in scores; 1: scores are means */
};

/* The state while a translation is made. */
struct pass {
    struct mt_translation *translation;
    const struct mt_tokenizer *tokenizer;
    struct mt_ranges ranges; /* sentences of the text behind its code */
    uint32_t closing;        /* the bracket that closes the present sentences; 0: none */
    const struct mt_translation_options *options;
    struct mt_sentence_options decoding;
    size_t max_tokens, max_sentences;
    struct mt_direction direction;      /* for a model of many languages */
    const struct mt_direction *towards; /* &direction, or NULL */
    const char *code; /* the code before every part: the text's own, or the options' */
    size_t code_bytes, code_chars;
    struct mt_text scratch; /* code and sentence, which are tokenized together */
};

static bool is_blank_at(const char *text, size_t at)
{
    return mt_is_space(mt_utf8_decode(text + at));
}

/* Thai to Burmese, Khmer, Chinese and Japanese, with their punctuation. */
static bool writes_no_blanks(uint32_t c)
{
    return (c >= 0x0E00 && c <= 0x0EFF) || (c >= 0x1000 && c <= 0x109F) ||
           (c >= 0x1780 && c <= 0x17FF) || (c >= 0x2E80 && c <= 0xA4CF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE4F) ||
           (c >= 0xFF01 && c <= 0xFF9F) || (c >= 0x20000 && c <= 0x3FFFF);
}

static size_t minus_at_most(size_t value, size_t subtrahend)
{
    return value > subtrahend ? value - subtrahend : 0;
}

/* Tokenizes the code and then the range. Offsets are relative to the range; the code's token
 * belongs to no part of it. */
static enum mt_status tokenize(struct pass *pass, struct mt_range range, struct mt_token_list *out,
                               struct mt_error *err)
{
    const struct mt_translation *t = pass->translation;
    const char *text = t->text + range.begin;
    size_t length = range.end - range.begin;
    bool is_lowered = false;
    enum mt_status status = pass->options->eases_source
                                ? mt_is_shown_small(pass->tokenizer, text, length, &is_lowered, err)
                                : MT_OK;
    if (status)
        return status;
    if (!pass->code_bytes && !is_lowered)
        return mt_tokenize_towards(pass->tokenizer, pass->towards, text, length, MT_TOKENIZE_SOURCE,
                                   out, err);

    pass->scratch.length = 0;
    mt_text_append(&pass->scratch, pass->code, pass->code_bytes);
    mt_text_append(&pass->scratch, text, length);
    status = mt_text_check(&pass->scratch, "a sentence", err);
    if (!status && is_lowered)
        mt_write_small(text, length, pass->scratch.bytes + pass->code_bytes);
    if (!status)
        status = mt_tokenize_towards(pass->tokenizer, pass->towards, pass->scratch.bytes,
                                     pass->scratch.length, MT_TOKENIZE_SOURCE, out, err);
    if (status)
        return status;
    for (size_t i = 0; i < out->n; i++) {
        struct mt_token *token = &out->tokens[i];
        token->begin = minus_at_most(token->begin, pass->code_bytes);
        token->end = minus_at_most(token->end, pass->code_bytes);
        token->begin_char = minus_at_most(token->begin_char, pass->code_chars);
        token->end_char = minus_at_most(token->end_char, pass->code_chars);
    }
    return MT_OK;
}

static enum mt_status create_sentence(struct pass *pass, struct mt_range range,
                                      const struct mt_token_list *tokens, struct mt_sentence **out,
                                      struct mt_error *err)
{
    struct mt_sentence_options decoding = pass->decoding;
    enum mt_status status = MT_OK;
    bool is_traced = false;
    if (pass->options->trace_numbers &&
        mt_has_digits(pass->translation->text + range.begin, range.end - range.begin))
        status =
            pass->options->trace_numbers(pass->options->trace_context, tokens->n, &is_traced, err);
    if (status)
        return status;
    if (is_traced)
        decoding.trace |= MT_TRACE_CROSS;
    int32_t *ids = malloc(tokens->n * sizeof *ids);
    if (!ids)
        return mt_fail_memory(err, tokens->n * sizeof *ids, "source ids");
    for (size_t i = 0; i < tokens->n; i++)
        ids[i] = tokens->tokens[i].id;
    status = mt_sentence_create(pass->translation->model, ids, tokens->n, &decoding, out, err);
    free(ids);
    return status;
}

static enum mt_status reserve_part(struct pass *pass, struct mt_error *err)
{
    struct mt_translation *t = pass->translation;
    if (t->n >= pass->max_sentences)
        return mt_fail(err, MT_LIMIT, "the text has more than %zu sentences", pass->max_sentences);
    return MT_ROOM(&t->parts, &t->capacity, t->n + 1, "sentences", err);
}

/* Adds a part, which owns the tokens from then on, even if it fails. */
static enum mt_status add_part(struct pass *pass, struct mt_range range,
                               struct mt_token_list *tokens, bool was_cut, struct mt_error *err)
{
    struct part part = {.range = range, .tokens = *tokens, .was_cut = was_cut};
    enum mt_status status = reserve_part(pass, err);
    if (!status)
        status = create_sentence(pass, range, tokens, &part.sentence, err);
    if (status) {
        mt_token_list_finish(tokens);
        return status;
    }
    struct mt_translation *t = pass->translation;
    t->parts[t->n++] = part;
    if (!pass->options->admit)
        return MT_OK;
    const struct mt_translation_part made = mt_translation_part(t, t->n - 1);
    return pass->options->admit(pass->options->admit_context, &made, err);
}

static enum mt_status add_range(struct pass *pass, struct mt_range range, bool was_cut,
                                struct mt_error *err);

static enum mt_status add_cut(struct pass *pass, size_t begin, size_t end, struct mt_error *err)
{
    struct mt_range range = mt_range_trim(pass->translation->text, begin, end);
    return range.begin == range.end ? MT_OK : add_range(pass, range, true, err);
}

/* Returns where to cut a range of more than MAX_PIECE_BYTES: at the last blank before the limit,
 * else between two characters. */
static size_t byte_cut(const char *text, struct mt_range range)
{
    size_t limit = range.begin + MAX_PIECE_BYTES;
    while (((unsigned char)text[limit] & 0xC0u) == 0x80u)
        limit--;
    for (size_t at = limit; at > range.begin; at = mt_previous_char(text, at))
        if (is_blank_at(text, at))
            return at;
    return limit;
}

/* Returns the end of the word that text[begin, length) begins with, if it extends beyond `limit`,
 * further than any sentence of the model; else returns begin. No language that has blanks between
 * words has such a word: it is a number, a key or a file in letters, and its pieces would be long
 * sentences without meaning. */
static size_t skip_endless(struct pass *pass, const char *text, size_t begin, size_t length,
                           size_t limit)
{
    size_t at = begin;
    while (at < length && is_blank_at(text, at))
        at += mt_char_length(text + at);
    for (; at < length && !is_blank_at(text, at); at += mt_char_length(text + at))
        if (writes_no_blanks(mt_utf8_decode(text + at)))
            return begin;
    if (at <= limit)
        return begin;
    pass->translation->has_left = true;
    return at;
}

static enum mt_status cut_bytes(struct pass *pass, struct mt_range range, struct mt_error *err)
{
    const char *text = pass->translation->text;
    enum mt_status status = MT_OK;
    while (!status && range.end - range.begin > MAX_PIECE_BYTES) {
        size_t limit = range.begin + MAX_PIECE_BYTES;
        size_t at = skip_endless(pass, text, range.begin, range.end, limit);
        if (at == range.begin) {
            at = byte_cut(text, range);
            status = add_cut(pass, range.begin, at, err);
        }
        range.begin = at;
    }
    return status ? status : add_cut(pass, range.begin, range.end, err);
}

/* Returns the last token in (from, to] that begins a word; else the last one that begins after
 * token `from` and before the end of the range; else `from`. */
static size_t cut_token(const struct mt_token *tokens, size_t from, size_t to, const char *text,
                        size_t length)
{
    size_t fallback = from;
    for (size_t i = to; i > from; i--) {
        size_t at = tokens[i].begin;
        if (at <= tokens[from].begin || at >= length)
            continue;
        if (is_blank_at(text, at) || is_blank_at(text, mt_previous_char(text, at)))
            return i;
        if (fallback == from)
            fallback = i;
    }
    return fallback;
}

/* Returns how many tokens are added before a text (bos and the code) and behind it (eos). */
static struct mt_tokens_added tokens_added(const struct pass *pass, bool has_code)
{
    struct mt_tokens_added added = mt_tokenizer_source_adds(pass->tokenizer);
    added.before += (size_t)has_code;
    return added;
}

/* Cuts a range that has too many tokens. The positions come from this one list of tokens, so that
 * the work is proportional to the text; then each piece is tokenized by itself. */
static enum mt_status cut_tokens(struct pass *pass, struct mt_range range,
                                 const struct mt_token_list *tokens, struct mt_error *err)
{
    const char *text = pass->translation->text + range.begin;
    size_t length = range.end - range.begin;
    struct mt_tokens_added added = tokens_added(pass, pass->code_bytes > 0);
    size_t step = minus_at_most(pass->max_tokens, added.before + added.behind + CUT_RESERVE);
    size_t from = added.before, begin = 0;
    while (from + step < tokens->n - added.behind) {
        size_t limit = tokens->tokens[from + step].begin;
        size_t word = skip_endless(pass, text, begin, length, limit);
        if (word > begin) {
            while (from < tokens->n - added.behind && tokens->tokens[from].begin < word)
                from++;
            begin = word;
            continue;
        }
        size_t at = cut_token(tokens->tokens, from, from + step, text, length);
        if (at == from)
            break;
        size_t end = tokens->tokens[at].begin;
        enum mt_status status = add_cut(pass, range.begin + begin, range.begin + end, err);
        if (status)
            return status;
        begin = end;
        from = at;
    }
    if (begin == 0)
        return mt_fail(err, MT_LIMIT,
                       "%zu bytes of text that cannot be cut are %zu tokens: at most %zu", length,
                       tokens->n, pass->max_tokens);
    return add_cut(pass, range.begin + begin, range.end, err);
}

/* Adds a range without blanks at its ends, in pieces if it is too long for the model. */
static enum mt_status add_range(struct pass *pass, struct mt_range range, bool was_cut,
                                struct mt_error *err)
{
    bool is_forced = pass->decoding.forced_target != NULL;
    if (range.end - range.begin > MAX_PIECE_BYTES && !is_forced)
        return cut_bytes(pass, range, err);

    struct mt_token_list tokens;
    enum mt_status status = tokenize(pass, range, &tokens, err);
    if (status)
        return status;
    struct mt_tokens_added added = tokens_added(pass, pass->code_bytes > 0);
    /* the normaliser drops it, so it is blank for the model */
    if (tokens.n <= added.before + added.behind) {
        mt_token_list_finish(&tokens);
        return MT_OK;
    }
    if (tokens.n <= pass->max_tokens)
        return add_part(pass, range, &tokens, was_cut, err);
    if (is_forced)
        status = mt_fail(err, MT_LIMIT,
                         "the source is %zu tokens, and at most %zu can be matched with a given "
                         "translation: give one sentence at a time",
                         tokens.n, pass->max_tokens);
    else
        status = cut_tokens(pass, range, &tokens, err);
    mt_token_list_finish(&tokens);
    return status;
}

static void take_code(struct pass *pass, const char *code, size_t length)
{
    pass->code = code;
    pass->code_bytes = length;
    pass->code_chars = mt_utf8_count(code, length);
}

/* Finds a code such as ">>fra<<" at the very beginning if the vocabulary has it. Others are
 * text. */
static enum mt_status find_code(struct pass *pass, struct mt_error *err)
{
    struct mt_translation *t = pass->translation;
    const char *given = pass->towards ? NULL : pass->options->target_code;
    take_code(pass, given ? given : "", given ? strlen(given) : 0);
    if (pass->towards)
        return MT_OK;
    if (t->length < 5 || memcmp(t->text, ">>", 2) != 0)
        return MT_OK;
    const char *end = memmem(t->text, mt_size_min(t->length, MAX_CODE_BYTES), "<<", 2);
    if (!end)
        return MT_OK;
    size_t length = (size_t)(end - t->text) + 2;
    struct mt_token_list tokens;
    enum mt_status status =
        mt_tokenize(pass->tokenizer, t->text, length, MT_TOKENIZE_SOURCE, &tokens, err);
    if (status)
        return status;
    struct mt_tokens_added added = tokens_added(pass, false);
    const struct mt_token *code = &tokens.tokens[added.before];
    if (tokens.n == added.before + 1 + added.behind && code->special && !code->unknown) {
        t->code_length = length;
        take_code(pass, t->text, length);
    }
    mt_token_list_finish(&tokens);
    return MT_OK;
}

static enum mt_status find_sentences(struct pass *pass, struct mt_error *err)
{
    const struct mt_translation *t = pass->translation;
    struct mt_splitter *splitter = pass->options->splitter, *own = NULL;
    enum mt_split split = pass->decoding.forced_target ? MT_SPLIT_OFF : pass->options->split;
    enum mt_status status = find_code(pass, err);
    if (!status && !splitter)
        status = mt_splitter_create(&own, err);
    if (!status)
        status = mt_splitter_split(splitter ? splitter : own, t->text + t->code_length,
                                   t->length - t->code_length, split, pass->options->source_lang,
                                   pass->max_sentences, &pass->ranges, err);
    mt_splitter_destroy(own);
    return status;
}

static enum mt_status add_sentences(struct pass *pass, struct mt_error *err)
{
    size_t code_length = pass->translation->code_length;
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < pass->ranges.n && !status; i++) {
        struct mt_range range = pass->ranges.items[i];
        range.begin += code_length;
        range.end += code_length;
        if (pass->options->leaves_signs &&
            !mt_has_word(pass->translation->text, range.begin, range.end)) {
            pass->translation->has_left = true;
            continue;
        }
        if (pass->options->eases_source)
            range = mt_bare_sentence(pass->translation->text, range, &pass->closing);
        status = add_range(pass, range, false, err);
    }
    return status;
}

static enum mt_status split_text(struct pass *pass, struct mt_error *err)
{
    enum mt_status status = find_sentences(pass, err);
    return status ? status : add_sentences(pass, err);
}

/* Tokenizes the forced translation, and makes the sentence with it. */
static enum mt_status split_forced(struct pass *pass, struct mt_error *err)
{
    const char *target = pass->options->forced_target_text;
    struct mt_token_list tokens;
    enum mt_status status =
        mt_tokenize(pass->tokenizer, target, strlen(target), MT_TOKENIZE_TARGET, &tokens, err);
    if (status)
        return status;
    size_t n_first = pass->decoding.has_first_target, n = n_first + tokens.n;
    if (n > pass->max_tokens) {
        status = mt_fail(err, MT_LIMIT,
                         "the given translation is %zu tokens, and at most %zu can be matched "
                         "with a source: give one sentence at a time",
                         n, pass->max_tokens);
        mt_token_list_finish(&tokens);
        return status;
    }
    int32_t *ids = malloc(n * sizeof *ids);
    if (!ids) {
        mt_token_list_finish(&tokens);
        return mt_fail_memory(err, n * sizeof *ids, "target ids");
    }
    if (n_first)
        ids[0] = pass->decoding.first_target;
    for (size_t i = 0; i < tokens.n; i++)
        ids[n_first + i] = tokens.tokens[i].id;
    pass->decoding.forced_target = ids;
    pass->decoding.n_forced_target = n;
    status = split_text(pass, err);
    free(ids);
    mt_token_list_finish(&tokens);
    return status;
}

/* Returns the exponent of the length in a hypothesis' score. Scores of greedy and forced decoding
 * are means. */
static float score_exponent(const struct mt_hparams *hparams,
                            const struct mt_translation_options *options)
{
    const struct mt_sentence_options *decoding = &options->decoding;
    size_t n_beams = decoding->beam_size ? decoding->beam_size : hparams->n_beams;
    if (n_beams == 1 || decoding->forced_target || options->forced_target_text)
        return 1;
    return decoding->has_length_penalty ? decoding->length_penalty : hparams->length_penalty;
}

static enum mt_status take_text(struct mt_translation *t, const char *text, size_t length,
                                struct mt_error *err)
{
    t->text = malloc(length + 1);
    if (!t->text)
        return mt_fail_memory(err, length + 1, "a text");
    if (length)
        memcpy(t->text, text, length);
    t->text[length] = '\0';
    t->length = length;
    return MT_OK;
}

/* Whether a language code, such as "zh-Hans" or "jpn_Jpan", begins with one of these and ends there
 * or continues with a script or country. */
static bool is_one_of(const char *language, const char *const *codes, size_t n)
{
    size_t length = language ? strcspn(language, "-_") : 0;
    for (size_t i = 0; i < n; i++)
        if (strlen(codes[i]) == length && memcmp(language, codes[i], length) == 0)
            return true;
    return false;
}

static bool writes_blanks(const char *language)
{
    static const char *const without[] = {"zh",  "ja",  "th",  "lo",  "km",  "my",  "yue",
                                          "cmn", "zho", "jpn", "tha", "lao", "khm", "mya"};
    return !is_one_of(language, without, sizeof without / sizeof *without);
}

/* Whether the language has nothing between sentences. Thai and its neighbours have a blank there,
 * though none between words. */
static bool joins_sentences(const char *language)
{
    static const char *const joining[] = {"zh", "ja", "yue", "cmn", "zho", "jpn"};
    return is_one_of(language, joining, sizeof joining / sizeof *joining);
}

/* Sets source and target language of a model of many languages. */
static enum mt_status take_direction(struct pass *pass, struct mt_error *err)
{
    const struct mt_translation_options *options = pass->options;
    const char *target =
        options->target_lang ? options->target_lang : mt_tokenizer_target_lang(pass->tokenizer);
    pass->translation->writes_blanks = writes_blanks(target);
    pass->translation->joins_sentences = joins_sentences(target);
    if (mt_tokenizer_n_languages(pass->tokenizer) == 0)
        return MT_OK;
    enum mt_status status = mt_tokenizer_direction(pass->tokenizer, options->source_code,
                                                   options->target_code, &pass->direction, err);
    if (status)
        return status;
    pass->towards = &pass->direction;
    int32_t first = mt_tokenizer_first_target(pass->tokenizer, &pass->direction);
    pass->decoding.has_first_target = first != MT_NO_TOKEN;
    pass->decoding.first_target = first;
    pass->decoding.target_language = options->target_code;
    return MT_OK;
}

static enum mt_status make(struct mt_translation *t, const struct mt_translation_options *options,
                           struct mt_error *err)
{
    struct pass pass = {
        .translation = t,
        .tokenizer = mt_model_tokenizer(t->model),
        .options = options,
        .decoding = options->decoding,
        .max_tokens = mt_model_hparams(t->model)->max_positions,
        .max_sentences = options->max_sentences ? options->max_sentences : DEFAULT_MAX_SENTENCES,
    };
    enum mt_status status = take_direction(&pass, err);
    if (!status)
        status = options->forced_target_text ? split_forced(&pass, err) : split_text(&pass, err);
    mt_ranges_finish(&pass.ranges);
    mt_text_finish(&pass.scratch);
    return status;
}

enum mt_status mt_translation_create(const struct mt_model *model, const char *text, size_t length,
                                     const struct mt_translation_options *options,
                                     struct mt_translation **out, struct mt_error *err)
{
    struct mt_translation *t = calloc(1, sizeof *t);
    if (!t)
        return mt_fail_memory(err, sizeof *t, "a translation");
    t->model = model;
    t->length_penalty = score_exponent(mt_model_hparams(model), options);
    enum mt_status status = take_text(t, text, length, err);
    if (!status)
        status = make(t, options, err);
    if (status) {
        mt_translation_destroy(t);
        return status;
    }
    *out = t;
    return MT_OK;
}

void mt_translation_destroy(struct mt_translation *translation)
{
    if (!translation)
        return;
    for (size_t i = 0; i < translation->n; i++) {
        mt_sentence_destroy(translation->parts[i].sentence);
        mt_token_list_finish(&translation->parts[i].tokens);
        mt_text_finish(&translation->parts[i].best);
    }
    free(translation->parts);
    free(translation->text);
    free(translation);
}

size_t mt_translation_n_sentences(const struct mt_translation *translation)
{
    return translation->n;
}

bool mt_translation_is_blank(const struct mt_translation *translation)
{
    return translation->n == 0 && !translation->has_left;
}

struct mt_translation_part mt_translation_part(const struct mt_translation *translation,
                                               size_t index)
{
    const struct part *part = &translation->parts[index];
    return (struct mt_translation_part){
        .sentence = part->sentence,
        .source_tokens = &part->tokens,
        .begin = part->range.begin,
        .end = part->range.end,
        .was_cut = part->was_cut,
    };
}

const char *mt_translation_text(const struct mt_translation *translation, size_t *length)
{
    *length = translation->length;
    return translation->text;
}

const struct mt_tokenizer *mt_translation_tokenizer(const struct mt_translation *translation)
{
    return mt_model_tokenizer(translation->model);
}

static void append_gap(const struct mt_translation *t, size_t begin, size_t end,
                       struct mt_text *out)
{
    bool is_between = begin > 0 && end < t->length;
    bool is_blank = end - begin == 1 && t->text[begin] == ' ';
    if (is_between && begin == end && t->writes_blanks &&
        writes_no_blanks(mt_utf8_decode(t->text + mt_previous_char(t->text, begin))))
        mt_text_append(out, " ", 1);
    else if (!(is_between && is_blank && t->joins_sentences))
        mt_text_append(out, t->text + begin, end - begin);
}

static bool hypothesis(const struct part *part, size_t rank, struct mt_hypothesis *out)
{
    size_t n = mt_sentence_n_hypotheses(part->sentence);
    if (n == 0)
        return false;
    *out = mt_sentence_hypothesis(part->sentence, mt_size_min(rank, n - 1));
    return true;
}

/* Fails where numbers were too large for the model's arithmetic; the result looks like one without
 * a sentence then. */
static enum mt_status check_number(const struct part *part, const struct mt_hypothesis *best,
                                   struct mt_error *err)
{
    /* a forced target may be impossible for the model */
    bool has_no_chance = best->score == -INFINITY && best->n_ids > 1;
    if (best->score > -INFINITY || has_no_chance)
        return MT_OK;
    return mt_fail(err, MT_IO,
                   "the model's score of the sentence at byte %zu is %g, expected a number: its "
                   "weights are damaged or too large",
                   part->range.begin, (double)best->score);
}

/* Appends the text of a hypothesis. The best one's text is kept, because rendering, placing and
 * checking all need it. */
static enum mt_status write_hypothesis(const struct mt_translation *t, struct part *part,
                                       size_t rank, struct mt_text *out, struct mt_error *err)
{
    struct mt_hypothesis chosen;
    if (!hypothesis(part, rank, &chosen))
        return MT_OK;
    struct mt_text *text = rank > 0 ? out : &part->best;
    enum mt_status status = check_number(part, &chosen, err);
    if (!status && !(rank == 0 && text->bytes))
        status =
            mt_detokenize(mt_model_tokenizer(t->model), chosen.ids, chosen.n_ids, NULL, text, err);
    status = status ? status : mt_text_check(text, "a translation", err);
    if (!status && rank == 0 && text->length > 0)
        mt_text_append(out, text->bytes, text->length);
    return status;
}

/* Returns where the gap before a part begins. Blanks behind a language code belong to the code. */
static size_t gap_begin(const struct mt_translation *t, size_t index)
{
    if (index > 0)
        return t->parts[index - 1].range.end;
    return t->code_length && t->n ? mt_range_trim(t->text, t->code_length, t->length).begin
                                  : t->code_length;
}

enum mt_status mt_translation_render_ranges(const struct mt_translation *translation, size_t rank,
                                            struct mt_range *ranges, struct mt_text *out,
                                            struct mt_error *err)
{
    const struct mt_translation *t = translation;
    mt_text_append(out, "", 0); /* an empty translation has to be a string, too */
    size_t start = out->length;
    for (size_t i = 0; i < t->n; i++) {
        struct part *part = &t->parts[i];
        append_gap(t, gap_begin(t, i), part->range.begin, out);
        size_t begin = out->length;
        enum mt_status status = write_hypothesis(t, part, rank, out, err);
        if (status)
            return status;
        if (ranges)
            ranges[i] = (struct mt_range){begin - start, out->length - start};
    }
    append_gap(t, gap_begin(t, t->n), t->length, out);
    return mt_text_check(out, "a translation", err);
}

static enum mt_status render_certain(const struct mt_translation *t, struct part *part,
                                     const struct mt_progress *progress, struct mt_text *out,
                                     struct mt_error *err)
{
    mt_text_append(out, "", 0);
    if (progress->has_ended)
        return write_hypothesis(t, part, 0, out, err);
    return mt_detokenize_begin(mt_model_tokenizer(t->model), progress->ids, progress->n_ids, out,
                               err);
}

static enum mt_status advance_part(const struct mt_translation *t,
                                   struct mt_translation_cursor *cursor, struct mt_text *out,
                                   bool *moved, struct mt_error *err)
{
    struct part *part = &t->parts[cursor->n_sentences];
    struct mt_progress progress = mt_sentence_progress(part->sentence);
    struct mt_text text = {0};
    *moved = false;
    if (!progress.has_ended && progress.n_ids == 0)
        return MT_OK;
    enum mt_status status = render_certain(t, part, &progress, &text, err);
    status = status ? status : mt_text_check(&text, "a piece of a translation", err);
    if (!status && (progress.has_ended || text.length > cursor->n_bytes)) {
        *moved = true;
        if (cursor->n_bytes == 0)
            append_gap(t, gap_begin(t, cursor->n_sentences), part->range.begin, out);
        if (text.length > cursor->n_bytes)
            mt_text_append(out, text.bytes + cursor->n_bytes, text.length - cursor->n_bytes);
        cursor->n_bytes = progress.has_ended ? 0 : text.length;
        cursor->n_sentences += progress.has_ended;
    }
    mt_text_finish(&text);
    return status;
}

enum mt_status mt_translation_advance(const struct mt_translation *t,
                                      struct mt_translation_cursor *cursor, struct mt_text *out,
                                      bool *moved, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    *moved = !cursor->has_all;
    if (cursor->n_sentences < t->n)
        status = advance_part(t, cursor, out, moved, err);
    if (status || !*moved)
        return status;
    if (cursor->n_sentences == t->n) {
        append_gap(t, gap_begin(t, t->n), t->length, out);
        cursor->has_all = true;
    }
    return mt_text_check(out, "a translation", err);
}

bool mt_translation_has_ended(const struct mt_translation *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (!mt_sentence_progress(t->parts[i].sentence).has_ended)
            return false;
    return true;
}

enum mt_status mt_translation_render(const struct mt_translation *translation, size_t rank,
                                     struct mt_text *out, struct mt_error *err)
{
    return mt_translation_render_ranges(translation, rank, NULL, out, err);
}

size_t mt_translation_n_ranks(const struct mt_translation *translation)
{
    size_t n = 1;
    for (size_t i = 0; i < translation->n; i++)
        n = mt_size_max(n, mt_sentence_n_hypotheses(translation->parts[i].sentence));
    return n;
}

float mt_translation_score(const struct mt_translation *translation, size_t rank)
{
    double sum = 0, n_tokens = 0;
    for (size_t i = 0; i < translation->n; i++) {
        struct mt_hypothesis best;
        if (!hypothesis(&translation->parts[i], rank, &best) || !best.n_ids)
            continue;
        sum += (double)best.score * mt_real_pow((double)best.n_ids, translation->length_penalty);
        n_tokens += (double)best.n_ids;
    }
    return n_tokens > 0 ? (float)(sum / n_tokens) : 0;
}

size_t mt_translation_n_source_tokens(const struct mt_translation *translation)
{
    size_t n = 0;
    for (size_t i = 0; i < translation->n; i++)
        n += translation->parts[i].tokens.n;
    return n;
}

size_t mt_translation_n_target_tokens(const struct mt_translation *translation)
{
    size_t n = 0;
    for (size_t i = 0; i < translation->n; i++) {
        struct mt_hypothesis best;
        if (hypothesis(&translation->parts[i], 0, &best))
            n += best.n_ids;
    }
    return n;
}
