#include "model/tokenizer/tokenizer.h"

#include "base/arena.h"
#include "base/team.h"
#include "base/vector.h"
#include "model/tokenizer/align.h"
#include "model/tokenizer/alphabet.h"
#include "model/tokenizer/rewrite.h"
#include "model/tokenizer/spm.h"
#include "model/tokenizer/spm_check.h"
#include "model/tokenizer/tokenizer_config.h"
#include "model/tokenizer/vocab.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BLANK "\xE2\x96\x81"       /* U+2581 */
#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* One of the two languages. The target's spm and vocab may be the source's; own_spm and own_vocab
 * are those that this side has to close. */
struct side {
    const struct mt_spm *spm;
    const struct mt_vocab *vocab;
    struct mt_charsmap charsmap;
    int32_t eos, unk, pad;
    int32_t first;     /* the first token of each text of this side, or MT_NO_TOKEN */
    int32_t *specials; /* further special tokens, ascending */
    size_t n_specials;
    bool is_source;
    struct mt_spm *own_spm;
    struct mt_vocab *own_vocab;
};

struct mt_tokenizer {
    struct mt_arena *arena; /* holds the configuration's strings and the charsmaps */
    struct mt_tokenizer_config config;
    int32_t *languages; /* ids of config.languages */
    struct side source, target;
    struct mt_alphabet *alphabet; /* of the source */
};

/* --- Opening --- */

/* libsentencepiece takes about 23 ms to build its tries for 32,000 pieces, so there are two
 * threads: one for the source's, one for everything else. Each has its own error. */
enum task { OPEN_SOURCE_SPM, OPEN_OTHERS, N_TASKS };

struct opening {
    struct mt_tokenizer *t;
    const struct mt_tokenizer_files *files;
    bool one_spm; /* both files are equal, so that one processor serves both sides */
    enum mt_status status[N_TASKS];
    struct mt_error err[N_TASKS];
};

typedef enum mt_status spm_opener(const char *bytes, size_t length, const char *what,
                                  struct mt_spm **out, struct mt_error *err);

static enum mt_status open_spm(struct side *side, const struct mt_tokenizer_file *file,
                               spm_opener *open, struct mt_error *err)
{
    struct mt_spm_info info;
    enum mt_status status = mt_spm_check(file->bytes, file->length, file->path, &info, err);
    if (!status)
        status = open(file->bytes, file->length, file->path, &side->own_spm, err);
    if (status)
        return status;
    side->spm = side->own_spm;
    side->charsmap = info.charsmap;
    return MT_OK;
}

/* Finds the id of a required token. */
static enum mt_status need_token(const struct side *side, const char *token, const char *path,
                                 int32_t *out, struct mt_error *err)
{
    *out = mt_vocab_id(side->vocab, token, strlen(token));
    if (*out < 0)
        return mt_fail(err, MT_FORMAT, "%s: expected the piece \"%s\"", path, token);
    return MT_OK;
}

static enum mt_status find_tokens(struct side *side, const struct mt_tokenizer_config *config,
                                  const char *path, struct mt_error *err)
{
    const char *first = side->is_source ? config->source_bos : config->target_prefix;
    enum mt_status status = MT_OK;
    side->eos = mt_vocab_id(side->vocab, config->eos, strlen(config->eos));
    side->pad = mt_vocab_id(side->vocab, config->pad, strlen(config->pad));
    side->first = MT_NO_TOKEN;
    if (!side->is_source || config->add_source_eos)
        status = need_token(side, config->eos, path, &side->eos, err);
    if (!status)
        status = need_token(side, config->unk, path, &side->unk, err);
    if (!status && first)
        status = need_token(side, first, path, &side->first, err);
    return status;
}

static enum mt_status open_vocab(struct side *side, const struct mt_tokenizer_config *config,
                                 const struct mt_tokenizer_file *file, struct mt_error *err)
{
    enum mt_status status =
        mt_vocab_parse(file->bytes, file->length, file->path, &side->own_vocab, err);
    side->vocab = side->own_vocab;
    return status ? status : find_tokens(side, config, file->path, err);
}

static enum mt_status open_vocabs(struct mt_tokenizer *t, const struct mt_tokenizer_files *files,
                                  struct mt_error *err)
{
    t->source.is_source = true;
    enum mt_status status = open_vocab(&t->source, &t->config, &files->vocab, err);
    if (status)
        return status;
    if (files->target_vocab.bytes)
        return open_vocab(&t->target, &t->config, &files->target_vocab, err);
    t->target.vocab = t->source.vocab;
    return find_tokens(&t->target, &t->config, files->vocab.path, err);
}

static void run_tasks(void *context, size_t member, size_t n_members)
{
    struct opening *o = context;
    for (size_t task = member; task < N_TASKS; task += n_members) {
        struct mt_error *err = &o->err[task];
        if (task == OPEN_SOURCE_SPM) {
            o->status[task] = open_spm(&o->t->source, &o->files->source_spm, mt_spm_open, err);
            continue;
        }
        o->status[task] = open_vocabs(o->t, o->files, err);
        if (!o->status[task] && !o->one_spm)
            o->status[task] =
                open_spm(&o->t->target, &o->files->target_spm, mt_spm_open_for_decoding, err);
    }
}

/* Thread-safety: the tasks use different members of the tokenizer, and none uses the arena. */
static enum mt_status open_together(struct opening *o, struct mt_error *err)
{
    struct mt_team *team;
    enum mt_status status = mt_team_create(N_TASKS, &team, err);
    if (status)
        return status;
    mt_team_run(team, run_tasks, o);
    mt_team_destroy(team);
    for (size_t task = 0; task < N_TASKS; task++)
        if (o->status[task]) {
            if (err)
                *err = o->err[task];
            return o->status[task];
        }
    if (o->one_spm)
        o->t->target.spm = o->t->source.spm;
    return MT_OK;
}

/* The charsmaps point into files of the caller, so they are copied. */
static enum mt_status keep_charsmaps(struct opening *o, struct mt_error *err)
{
    struct mt_tokenizer *t = o->t;
    enum mt_status status = mt_charsmap_keep(&t->source.charsmap, t->arena, err);
    if (!status && o->one_spm)
        t->target.charsmap = t->source.charsmap;
    else if (!status)
        status = mt_charsmap_keep(&t->target.charsmap, t->arena, err);
    return status;
}

static int compare_ids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The languages' tokens must exist; the further special ones need not. */
static enum mt_status find_specials(struct mt_tokenizer *t, struct side *side, const char *path,
                                    struct mt_error *err)
{
    const struct mt_tokenizer_config *config = &t->config;
    size_t n = config->n_languages + config->n_specials;
    enum mt_status status = MT_OK;
    side->specials = malloc((n + 1) * sizeof *side->specials);
    if (!side->specials)
        return mt_fail_memory(err, n * sizeof *side->specials, "special tokens");
    for (size_t i = 0; i < config->n_languages && !status; i++) {
        status = need_token(side, config->languages[i].token, path, &side->specials[i], err);
        if (!status && side->is_source)
            t->languages[i] = side->specials[i];
        side->n_specials++;
    }
    for (size_t i = 0; i < config->n_specials && !status; i++) {
        int32_t id = mt_vocab_id(side->vocab, config->specials[i], strlen(config->specials[i]));
        if (id >= 0)
            side->specials[side->n_specials++] = id;
    }
    if (!status)
        qsort(side->specials, side->n_specials, sizeof *side->specials, compare_ids);
    return status;
}

static enum mt_status find_all_specials(struct mt_tokenizer *t,
                                        const struct mt_tokenizer_files *files,
                                        struct mt_error *err)
{
    size_t n = t->config.n_languages;
    const char *path = files->vocab.path;
    t->languages = malloc((n + 1) * sizeof *t->languages);
    if (!t->languages)
        return mt_fail_memory(err, n * sizeof *t->languages, "languages");
    enum mt_status status = find_specials(t, &t->source, path, err);
    if (!status && files->target_vocab.bytes)
        path = files->target_vocab.path;
    return status ? status : find_specials(t, &t->target, path, err);
}

static enum mt_status open_files(struct mt_tokenizer *t, const struct mt_tokenizer_files *files,
                                 struct mt_error *err)
{
    const struct mt_tokenizer_file *source = &files->source_spm, *target = &files->target_spm;
    struct opening o = {.t = t, .files = files};
    o.one_spm =
        source->length == target->length && !memcmp(source->bytes, target->bytes, source->length);
    enum mt_status status = open_together(&o, err);
    if (!status)
        status = find_all_specials(t, files, err);
    return status ? status : keep_charsmaps(&o, err);
}

enum mt_status mt_tokenizer_open(const struct mt_tokenizer_config *config,
                                 const struct mt_tokenizer_files *files, struct mt_tokenizer **out,
                                 struct mt_error *err)
{
    struct mt_tokenizer *t = calloc(1, sizeof *t);
    if (!t)
        return mt_fail_memory(err, sizeof *t, "tokenizer");
    enum mt_status status = mt_arena_create(0, &t->arena, err);
    if (!status)
        status = mt_tokenizer_config_copy(config, t->arena, &t->config, err);
    if (!status)
        status = open_files(t, files, err);
    if (!status)
        status = mt_alphabet_create(&t->alphabet, err);
    if (status) {
        mt_tokenizer_close(t);
        return status;
    }
    *out = t;
    return MT_OK;
}

void mt_tokenizer_close(struct mt_tokenizer *t)
{
    if (!t)
        return;
    mt_alphabet_destroy(t->alphabet);
    mt_spm_close(t->source.own_spm);
    mt_spm_close(t->target.own_spm);
    mt_vocab_close(t->source.own_vocab);
    mt_vocab_close(t->target.own_vocab);
    free(t->source.specials);
    free(t->target.specials);
    free(t->languages);
    mt_arena_destroy(t->arena);
    free(t);
}

/* --- Text to tokens --- */

/* Tokens while their number is unknown. Their pieces are in a buffer that may still move, so a
 * draft has the offset of its piece. */
struct draft {
    struct mt_token token;
    size_t piece;
};

struct builder {
    const struct side *side;
    const struct mt_direction *direction; /* for a source of a model of many languages; or NULL */
    unsigned flags;
    struct draft *drafts;
    size_t n, capacity;
    struct mt_text pieces;
    size_t segment; /* position of the current part in the whole text */
    struct mt_aligner aligner;
    struct mt_error *err;
};

static void append_piece(struct mt_text *pieces, const char *bytes, size_t length)
{
    const char *nul;
    while ((nul = memchr(bytes, '\0', length))) {
        mt_text_append(pieces, bytes, (size_t)(nul - bytes));
        mt_text_append_string(pieces, REPLACEMENT);
        length -= (size_t)(nul - bytes) + 1;
        bytes = nul + 1;
    }
    mt_text_append(pieces, bytes, length);
    mt_text_append(pieces, "", 1);
}

static enum mt_status add_token(struct builder *builder, const struct mt_token *token,
                                const char *piece, size_t length)
{
    if (MT_ROOM(&builder->drafts, &builder->capacity, builder->n + 1, "tokens", builder->err))
        return MT_MEMORY;
    builder->drafts[builder->n++] =
        (struct draft){.token = *token, .piece = builder->pieces.length};
    append_piece(&builder->pieces, piece, length);
    return mt_text_check(&builder->pieces, "pieces", builder->err);
}

static bool is_special(const struct side *side, int32_t id)
{
    return id == side->eos || id == side->unk || id == side->pad || id == side->first ||
           (side->n_specials > 0 && id >= 0 &&
            bsearch(&id, side->specials, side->n_specials, sizeof id, compare_ids));
}

/* A run of characters that the .spm does not know is one piece, and may spell a special token. It
 * is treated as one only with the reference's behaviour. */
static enum mt_status add_piece(void *context, const struct mt_spm_piece *piece)
{
    struct builder *builder = context;
    const struct side *side = builder->side;
    int32_t id = mt_vocab_id(side->vocab, piece->bytes, piece->length);
    if (!(builder->flags & MT_TOKENIZE_SPECIALS) && is_special(side, id))
        id = MT_NO_TOKEN;
    struct mt_token token = {.id = id < 0 ? side->unk : id,
                             .special = id >= 0 && is_special(side, id),
                             .unknown = id < 0};
    mt_align(&builder->aligner, piece, &token.begin, &token.end);
    token.begin += builder->segment;
    token.end += builder->segment;
    return add_token(builder, &token, piece->bytes, piece->length);
}

/* Returns the length of the language code at the text's beginning: ">>", anything, the first "<<";
 * or 0. */
static size_t language_code_length(const char *text, size_t length)
{
    if (length < 4 || memcmp(text, ">>", 2))
        return 0;
    const char *end = memmem(text + 2, length - 2, "<<", 2);
    return end ? (size_t)(end - text) + 2 : 0;
}

static enum mt_status add_segment(struct builder *builder, const char *text, size_t begin,
                                  size_t end)
{
    size_t code = language_code_length(text + begin, end - begin);
    if (code) {
        int32_t id = mt_vocab_id(builder->side->vocab, text + begin, code);
        struct mt_token token = {.id = id < 0 ? builder->side->unk : id,
                                 .special = true,
                                 .unknown = id < 0,
                                 .begin = begin,
                                 .end = begin + code};
        enum mt_status status = add_token(builder, &token, text + begin, code);
        if (status)
            return status;
        begin += code;
    }
    builder->segment = begin;
    mt_aligner_init(&builder->aligner, &builder->side->charsmap, text + begin, end - begin);
    return mt_spm_encode(builder->side->spm, text + begin, end - begin, add_piece, builder,
                         builder->err);
}

struct literal {
    const char *text;
    int32_t id;
    size_t at, length;
};

/* Finds the first literal of a special token in text[at, length); if there is none, the result is
 * at the end, with length 0. */
static struct literal find_literal(const struct mt_tokenizer *t, const struct side *side,
                                   const char *text, size_t at, size_t length)
{
    const struct literal all[] = {
        {.text = t->config.eos, .id = side->eos, .length = strlen(t->config.eos)},
        {.text = t->config.unk, .id = side->unk, .length = strlen(t->config.unk)},
        {.text = t->config.pad, .id = side->pad, .length = strlen(t->config.pad)},
    };
    for (; at < length; at++)
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (all[i].id >= 0 && all[i].length <= length - at &&
                !memcmp(text + at, all[i].text, all[i].length))
                return (struct literal){all[i].text, all[i].id, at, all[i].length};
    return (struct literal){.at = length};
}

static enum mt_status add_literal(struct builder *builder, const struct literal *literal)
{
    struct mt_token token = {.id = literal->id,
                             .special = true,
                             .begin = literal->at,
                             .end = literal->at + literal->length};
    return add_token(builder, &token, literal->text, literal->length);
}

/* Adds a token that stands for no part of the text. */
static enum mt_status add_bare(struct builder *builder, int32_t id, const char *piece, size_t at)
{
    const struct mt_token token = {.id = id, .special = true, .begin = at, .end = at};
    return add_token(builder, &token, piece, strlen(piece));
}

static enum mt_status add_language(struct builder *builder, int32_t id, size_t at)
{
    const char *piece = mt_vocab_piece(builder->side->vocab, id);
    return add_bare(builder, id, piece ? piece : "", at);
}

static enum mt_status add_text(struct builder *builder, const struct mt_tokenizer *t,
                               const char *text, size_t length)
{
    const struct side *side = builder->side;
    const struct mt_direction *direction = builder->direction;
    enum mt_language_rule rule = direction ? t->config.language_rule : MT_LANGUAGES_UNSAID;
    enum mt_status status = MT_OK;
    if (rule == MT_LANGUAGES_SOURCE)
        status = add_language(builder, direction->source, 0);
    else if (rule == MT_LANGUAGES_TARGET_IN_SOURCE)
        status = add_language(builder, direction->target, 0);
    if (!status && side->is_source && side->first >= 0)
        status = add_bare(builder, side->first, t->config.source_bos, 0);
    for (size_t at = 0; !status && at < length;) {
        struct literal literal = {.at = length};
        if (builder->flags & MT_TOKENIZE_SPECIALS)
            literal = find_literal(t, builder->side, text, at, length);
        if (literal.at > at)
            status = add_segment(builder, text, at, literal.at);
        if (!status && literal.length)
            status = add_literal(builder, &literal);
        at = literal.at + literal.length;
    }
    if (!status && (!side->is_source || t->config.add_source_eos))
        status = add_bare(builder, side->eos, t->config.eos, length);
    if (!status && rule == MT_LANGUAGES_SOURCE_BEHIND)
        status = add_language(builder, direction->source, length);
    return status ? status : mt_text_check(&builder->pieces, "pieces", builder->err);
}

/* Counts code points up to a byte offset that never decreases. */
struct counter {
    const char *text;
    size_t bytes, chars;
};

static size_t count_to(struct counter *counter, size_t bytes)
{
    assert(bytes >= counter->bytes);
    counter->chars += mt_utf8_count(counter->text + counter->bytes, bytes - counter->bytes);
    counter->bytes = bytes;
    return counter->chars;
}

static enum mt_status finish_list(struct builder *builder, const char *text,
                                  struct mt_token_list *out)
{
    size_t bytes = builder->n * sizeof *out->tokens;
    struct mt_token *tokens = malloc(bytes ? bytes : 1);
    if (!tokens)
        return mt_fail_memory(builder->err, bytes, "tokens");
    char *pieces;
    enum mt_status status = mt_text_take(&builder->pieces, "pieces", &pieces, NULL, builder->err);
    if (status) {
        free(tokens);
        return status;
    }
    struct counter begin = {.text = text}, end = {.text = text};
    for (size_t i = 0; i < builder->n; i++) {
        tokens[i] = builder->drafts[i].token;
        tokens[i].piece = pieces + builder->drafts[i].piece;
        tokens[i].begin_char = count_to(&begin, tokens[i].begin);
        tokens[i].end_char = count_to(&end, tokens[i].end);
    }
    *out = (struct mt_token_list){.n = builder->n, .tokens = tokens, .storage = pieces};
    return MT_OK;
}

static enum mt_status tokenize(const struct mt_tokenizer *t, const struct mt_direction *direction,
                               const char *text, size_t length, unsigned flags,
                               struct mt_token_list *out, struct mt_error *err)
{
    if (length > MT_TOKENIZER_MAX_BYTES)
        return mt_fail(err, MT_LIMIT, "text has %zu bytes, expected at most %zu", length,
                       MT_TOKENIZER_MAX_BYTES);
    size_t valid = mt_utf8_valid_prefix(text, length);
    if (valid < length)
        return mt_fail(err, MT_INVALID, "text is not UTF-8 at byte %zu (0x%02X)", valid,
                       (unsigned char)text[valid]);
    struct builder builder = {.side = flags & MT_TOKENIZE_TARGET ? &t->target : &t->source,
                              .direction = direction,
                              .flags = flags,
                              .err = err};
    enum mt_status status = add_text(&builder, t, text, length);
    if (!status)
        status = finish_list(&builder, text, out);
    mt_text_finish(&builder.pieces);
    free(builder.drafts);
    return status;
}

enum mt_status mt_tokenize(const struct mt_tokenizer *t, const char *text, size_t length,
                           unsigned flags, struct mt_token_list *out, struct mt_error *err)
{
    return tokenize(t, NULL, text, length, flags, out, err);
}

enum mt_status mt_tokenize_towards(const struct mt_tokenizer *t,
                                   const struct mt_direction *direction, const char *text,
                                   size_t length, unsigned flags, struct mt_token_list *out,
                                   struct mt_error *err)
{
    return tokenize(t, direction, text, length, flags, out, err);
}

void mt_token_list_finish(struct mt_token_list *list)
{
    free(list->tokens);
    free(list->storage);
    *list = (struct mt_token_list){0};
}

/* --- Ids to text --- */

/* The pieces that become text, and the id of each. */
struct text_pieces {
    const char **pieces;
    size_t *from;
    struct mt_span *spans;
    size_t n;
};

static void text_pieces_finish(struct text_pieces *selected)
{
    free(selected->pieces);
    free(selected->from);
    free(selected->spans);
}

static enum mt_status select_pieces(const struct side *side, const int32_t *ids, size_t n,
                                    struct text_pieces *selected, struct mt_error *err)
{
    *selected = (struct text_pieces){.pieces = calloc(n + 1, sizeof *selected->pieces),
                                     .from = calloc(n + 1, sizeof *selected->from),
                                     .spans = calloc(n + 1, sizeof *selected->spans)};
    if (!selected->pieces || !selected->from || !selected->spans)
        return mt_fail_memory(err, n * sizeof *selected->spans, "pieces");
    for (size_t i = 0; i < n; i++) {
        if (ids[i] < 0)
            return mt_fail(err, MT_INVALID, "id %d at position %zu is not in the vocabulary",
                           (int)ids[i], i);
        const char *piece = mt_vocab_piece(side->vocab, ids[i]);
        if (!piece || is_special(side, ids[i]))
            continue;
        selected->pieces[selected->n] = piece;
        selected->from[selected->n++] = i;
    }
    return MT_OK;
}

/* Returns a piece's part of the text without a blank at its beginning. */
static struct mt_span trimmed(struct mt_span span, const char *text)
{
    while (span.begin < span.end && text[span.begin] == ' ')
        span.begin++;
    while (span.begin < span.end && text[span.end - 1] == ' ')
        span.end--;
    return span;
}

/* Dropped ids get an empty span where the text continues. */
static void write_spans(const struct text_pieces *selected, const struct mt_rewrite *rewrite,
                        size_t n, struct mt_span *spans)
{
    size_t at = 0, k = 0;
    for (size_t i = 0; i < n; i++) {
        spans[i] = (struct mt_span){at, at};
        if (k == selected->n || selected->from[k] != i)
            continue;
        struct mt_span moved = {rewrite->moved[selected->spans[k].begin],
                                rewrite->moved[selected->spans[k].end]};
        spans[i] = trimmed(moved, rewrite->text);
        at = spans[i].end;
        k++;
    }
}

enum mt_status mt_detokenize(const struct mt_tokenizer *t, const int32_t *ids, size_t n,
                             struct mt_span *spans, struct mt_text *out, struct mt_error *err)
{
    struct text_pieces selected;
    struct mt_text joined = {0};
    struct mt_rewrite rewrite = {0};
    enum mt_status status = select_pieces(&t->target, ids, n, &selected, err);
    if (!status)
        status =
            mt_spm_decode(t->target.spm, selected.pieces, selected.n, selected.spans, &joined, err);
    if (!status)
        status = mt_text_check(&joined, "text", err);
    if (!status)
        status = mt_rewrite_init(&rewrite, joined.bytes, joined.length, err);
    if (status)
        goto done;
    mt_rewrite_replace(&rewrite, BLANK, " ");
    mt_rewrite_replace(&rewrite, REPLACEMENT, ""); /* bytes that make no character */
    mt_rewrite_strip(&rewrite);
    if (t->config.clean_up)
        mt_rewrite_clean_up(&rewrite);
    if (spans)
        write_spans(&selected, &rewrite, n, spans);
    mt_text_append(out, rewrite.text, rewrite.length);
    status = mt_text_check(out, "text", err);
done:
    mt_rewrite_finish(&rewrite);
    mt_text_finish(&joined);
    text_pieces_finish(&selected);
    return status;
}

/* Drops the last word and the blanks before it. That is enough, because everything that clean-up
 * joins begins with blanks, and no rule has a blank in the middle. */
static void drop_last_word(struct mt_text *text, size_t start)
{
    while (text->length > start && text->bytes[text->length - 1] != ' ')
        text->length--;
    while (text->length > start && text->bytes[text->length - 1] == ' ')
        text->length--;
}

enum mt_status mt_detokenize_begin(const struct mt_tokenizer *t, const int32_t *ids, size_t n,
                                   struct mt_text *out, struct mt_error *err)
{
    size_t start = out->length;
    enum mt_status status = mt_detokenize(t, ids, n, NULL, out, err);
    if (status)
        return status;
    if (t->config.clean_up)
        drop_last_word(out, start);
    out->bytes[out->length] = '\0';
    return MT_OK;
}

/* --- Questions --- */

const char *mt_tokenizer_source_piece(const struct mt_tokenizer *t, int32_t id)
{
    return mt_vocab_piece(t->source.vocab, id);
}

const char *mt_tokenizer_target_piece(const struct mt_tokenizer *t, int32_t id)
{
    return mt_vocab_piece(t->target.vocab, id);
}

int32_t mt_tokenizer_eos_id(const struct mt_tokenizer *t)
{
    return t->target.eos;
}

struct mt_tokens_added mt_tokenizer_source_adds(const struct mt_tokenizer *t)
{
    enum mt_language_rule rule = t->config.language_rule;
    bool is_before = rule == MT_LANGUAGES_SOURCE || rule == MT_LANGUAGES_TARGET_IN_SOURCE;
    bool is_behind = rule == MT_LANGUAGES_SOURCE_BEHIND;
    return (struct mt_tokens_added){
        .before = (size_t)(t->source.first != MT_NO_TOKEN) + (size_t)is_before,
        .behind = (size_t)t->config.add_source_eos + (size_t)is_behind,
    };
}

size_t mt_tokenizer_n_languages(const struct mt_tokenizer *t)
{
    return t->config.n_languages;
}

const char *mt_tokenizer_language(const struct mt_tokenizer *t, size_t i)
{
    return t->config.languages[i].code;
}

static enum mt_status find_language(const struct mt_tokenizer *t, const char *side,
                                    const char *code, int32_t *out, struct mt_error *err)
{
    for (size_t i = 0; code && i < t->config.n_languages; i++)
        if (strcmp(t->config.languages[i].code, code) == 0) {
            *out = t->languages[i];
            return MT_OK;
        }
    return mt_fail(err, MT_INVALID,
                   "%s: expected one of the model's %zu languages (\"%s\", ...), found %s%.60s%s",
                   side, t->config.n_languages,
                   t->config.n_languages ? t->config.languages[0].code : "", code ? "\"" : "",
                   code ? code : "none", code ? "\"" : "");
}

enum mt_status mt_tokenizer_direction(const struct mt_tokenizer *t, const char *source,
                                      const char *target, struct mt_direction *out,
                                      struct mt_error *err)
{
    enum mt_status status = find_language(t, "source", source, &out->source, err);
    return status ? status : find_language(t, "target", target, &out->target, err);
}

int32_t mt_tokenizer_first_target(const struct mt_tokenizer *t,
                                  const struct mt_direction *direction)
{
    return t->config.language_rule == MT_LANGUAGES_TARGET_IN_SOURCE ? MT_NO_TOKEN
                                                                    : direction->target;
}

/* Checks whether each piece of one character is in the vocabulary. */
struct spelling {
    const struct side *side;
    bool is_read;
};

static enum mt_status look_at_piece(void *context, const struct mt_spm_piece *piece)
{
    struct spelling *spelling = context;
    bool is_blank =
        piece->length == strlen(BLANK) && memcmp(piece->bytes, BLANK, piece->length) == 0;
    if (!is_blank &&
        (piece->is_byte || mt_vocab_id(spelling->side->vocab, piece->bytes, piece->length) < 0))
        spelling->is_read = false;
    return MT_OK;
}

bool mt_tokenizer_reads(const struct mt_tokenizer *t, uint32_t code_point)
{
    bool is_read;
    if (mt_alphabet_knows(t->alphabet, code_point, &is_read))
        return is_read;
    char bytes[4];
    struct mt_error err;
    struct spelling spelling = {.side = &t->source, .is_read = true};
    size_t n = mt_utf8_encode(code_point, bytes);
    if (mt_spm_encode(t->source.spm, bytes, n, look_at_piece, &spelling, &err))
        return true; /* memory is missing, which the next step will report */
    mt_alphabet_learn(t->alphabet, code_point, spelling.is_read);
    return spelling.is_read;
}

int32_t mt_tokenizer_unk_id(const struct mt_tokenizer *t)
{
    return t->source.unk;
}

size_t mt_tokenizer_source_size(const struct mt_tokenizer *t)
{
    return mt_vocab_size(t->source.vocab);
}

size_t mt_tokenizer_target_size(const struct mt_tokenizer *t)
{
    return mt_vocab_size(t->target.vocab);
}

const char *mt_tokenizer_source_lang(const struct mt_tokenizer *t)
{
    return t->config.source_lang;
}

const char *mt_tokenizer_target_lang(const struct mt_tokenizer *t)
{
    return t->config.target_lang;
}
