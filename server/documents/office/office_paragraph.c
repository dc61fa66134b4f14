#include "server/documents/office/office_state.h"

#include "base/hash.h"
#include "base/size.h"
#include "base/vector.h"
#include "server/documents/office/office_notes.h"
#include "server/documents/office/office_words.h"

#include <stdlib.h>
#include <string.h>

/* Codes after which a text ends at the next possible place. */
#define MAX_CODES 400
/* Most codes of a document: more than a book of 5,000 pages has. */
#define MAX_DOCUMENT_CODES 400000
/* Most nested bookmarks that keep their positions in a text. Further ones inside of them are moved
 * to the beginning and the end of the text. */
#define MAX_RANGES 32

enum mt_status mt_office_create(const struct mt_office_format *format, struct mt_office **out,
                                struct mt_error *err)
{
    struct mt_office *office = calloc(1, sizeof *office);
    size_t none;
    if (!office)
        return mt_fail_memory(err, sizeof *office, "a document");
    office->format = format;
    enum mt_status status = mt_office_look(office, "", 0, &none, err);
    if (status)
        mt_office_destroy(office);
    else
        *out = office;
    return status;
}

void mt_office_destroy(void *own)
{
    struct mt_office *office = own;
    if (!office)
        return;
    for (size_t i = 0; i < office->n_looks; i++)
        mt_text_finish(&office->looks[i].properties);
    for (size_t i = 0; i < office->n_codes; i++) {
        mt_text_finish(&office->codes[i].open);
        mt_text_finish(&office->codes[i].close);
    }
    for (size_t i = 0; i < office->n_texts; i++) {
        mt_text_finish(&office->texts[i].prefix);
        mt_text_finish(&office->texts[i].suffix);
    }
    free(office->looks);
    free(office->table);
    free(office->codes);
    free(office->texts);
    free(office);
}

void mt_office_set_target(struct mt_office *office, const char *target_lang)
{
    office->has_target = target_lang && mt_language_written(target_lang, &office->target);
}

void mt_office_name_language(struct mt_office *office)
{
    office->names_language = true;
}

bool mt_office_is_rtl(const struct mt_office *office)
{
    return office->has_target && office->target.is_rtl;
}

bool mt_office_names_language(const struct mt_office *office)
{
    return office->names_language;
}

/* ---- looks ---- */

static size_t *find_slot(const struct mt_office *office, const char *bytes, size_t length)
{
    size_t hash = (size_t)mt_hash(MT_HASH_BEGIN, bytes, length);
    for (size_t at = hash & (office->n_table - 1);; at = (at + 1) & (office->n_table - 1)) {
        size_t *slot = &office->table[at];
        const struct mt_text *known = *slot ? &office->looks[*slot - 1].properties : NULL;
        if (!known || (known->length == length && memcmp(known->bytes, bytes, length) == 0))
            return slot;
    }
}

static enum mt_status grow_table(struct mt_office *office, struct mt_error *err)
{
    size_t n = mt_size_max(64, office->n_table * 2);
    size_t *table = calloc(n, sizeof *table);
    if (!table)
        return mt_fail_memory(err, n * sizeof *table, "a document");
    free(office->table);
    office->table = table;
    office->n_table = n;
    for (size_t i = 0; i < office->n_looks; i++) {
        const struct mt_text *properties = &office->looks[i].properties;
        *find_slot(office, properties->bytes, properties->length) = i + 1;
    }
    return MT_OK;
}

size_t mt_office_common_tags(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t n = 0, n_common = 0;
    for (;; n++) {
        bool ends_a = n == n_a || a[n] == '<', ends_b = n == n_b || b[n] == '<';
        if (ends_a && ends_b)
            n_common = n;
        if (n == n_a || n == n_b || a[n] != b[n])
            return n_common;
    }
}

enum mt_status mt_office_look(struct mt_office *office, const char *bytes, size_t length,
                              size_t *out, struct mt_error *err)
{
    if (office->n_looks * 2 >= office->n_table) {
        enum mt_status status = grow_table(office, err);
        if (status)
            return status;
    }
    size_t *slot = find_slot(office, bytes, length);
    if (*slot == 0) {
        if (MT_ROOM(&office->looks, &office->looks_capacity, office->n_looks + 1, "parts of a file",
                    err))
            return MT_MEMORY;
        office->looks[office->n_looks] = (struct look){0};
        mt_text_append(&office->looks[office->n_looks].properties, bytes, length);
        *slot = ++office->n_looks;
    }
    *out = *slot - 1;
    return mt_text_check(&office->looks[*slot - 1].properties, "a document", err);
}

/* ---- tokens ---- */

enum mt_status mt_office_add_token(struct mt_office_token **tokens, size_t *n, size_t *capacity,
                                   struct mt_office_token **out, struct mt_error *err)
{
    if (*n == MT_OFFICE_MAX_TOKENS)
        return mt_fail(err, MT_LIMIT, "a paragraph has more than %d runs, tabs and the like",
                       MT_OFFICE_MAX_TOKENS);
    if (MT_ROOM(tokens, capacity, *n + 1, "parts of a file", err))
        return MT_MEMORY;
    *out = &(*tokens)[(*n)++];
    return MT_OK;
}

enum mt_status mt_office_leave(struct mt_document *document, const struct mt_office_token *tokens,
                               size_t n, const char *reason, struct mt_error *err)
{
    struct mt_document_piece *piece;
    size_t first = 0;
    while (first < n && tokens[first].kind != MT_OFFICE_WORDS)
        first++;
    if (first == n)
        return MT_OK;
    size_t begin = tokens[first].range.begin;
    enum mt_status status = mt_document_add(document, (struct mt_range){begin, begin}, &piece, err);
    if (!status)
        piece->left = reason;
    return status;
}

/* ---- pairs ---- */

/* Makes a token a point, or something similar, that is half of no pair. */
static void leave_alone(struct mt_office_token *token)
{
    token->mate = MT_NO_MATE;
    if (token->family == MT_OFFICE_RANGE)
        token->kind = token->kind == MT_OFFICE_OPEN ? MT_OFFICE_BEGIN : MT_OFFICE_END;
    else
        token->kind = MT_OFFICE_CUT;
}

static bool is_mate(const struct mt_office_token *open, const struct mt_office_token *close)
{
    return open->family == close->family &&
           (open->family != MT_OFFICE_RANGE || open->id == close->id);
}

/* Closes a pair. Tokens above its mate on the stack were never closed. A field does not close one
 * that began outside of its element. */
static void close_token(struct mt_office_token *tokens, size_t index, size_t *open, size_t *n_open)
{
    struct mt_office_token *token = &tokens[index];
    size_t n = *n_open;
    if (token->family != MT_OFFICE_RANGE)
        while (
            n > 0 && tokens[open[n - 1]].family != token->family &&
            (token->family == MT_OFFICE_ELEMENT || tokens[open[n - 1]].family == MT_OFFICE_RANGE))
            n--;
    if (n == 0 || !is_mate(&tokens[open[n - 1]], token)) {
        leave_alone(token);
        return;
    }
    for (size_t i = n; i < *n_open; i++)
        leave_alone(&tokens[open[i]]);
    token->mate = open[n - 1];
    tokens[open[n - 1]].mate = index;
    *n_open = n - 1;
}

/* Decides whether two tokens are a pair, which must not have a cut in it. The arrays count the
 * tokens before each that are words, and that are cuts. */
static void resolve_pair(struct mt_office_token *tokens, size_t index, const size_t *n_words,
                         const size_t *n_cuts)
{
    struct mt_office_token *token = &tokens[index];
    if (token->kind != MT_OFFICE_OPEN)
        return;
    size_t mate = token->mate;
    if (n_cuts[mate] > n_cuts[index]) {
        leave_alone(&tokens[mate]);
        leave_alone(token);
    } else if (n_words[mate] == n_words[index]) {
        /* there are no words within, so that all of it becomes one token */
        bool is_in_run = token->run.end > 0 || tokens[mate].run.end > 0;
        for (size_t i = index + 1; i < mate && !is_in_run; i++)
            token->is_verbatim = token->is_verbatim || tokens[i].is_verbatim;
        token->kind = MT_OFFICE_POINT;
        token->range.end = tokens[mate].range.end;
        token->outer.end = tokens[mate].outer.end;
        for (size_t i = index + 1; i <= mate; i++) {
            mt_text_append(&token->bytes, tokens[i].bytes.bytes, tokens[i].bytes.length);
            if (tokens[i].form == 'w')
                token->form = 'w';
            tokens[i].kind = MT_OFFICE_NOTHING;
        }
    }
}

static enum mt_status resolve_pairs(struct mt_office_token *tokens, size_t n, struct mt_error *err)
{
    size_t *counts = calloc(3 * n + 2, sizeof *counts), n_open = 0;
    if (!counts)
        return mt_fail_memory(err, (3 * n + 2) * sizeof *counts, "a paragraph");
    size_t *open = counts, *n_words = counts + n, *n_cuts = n_words + n + 1;
    for (size_t i = 0; i < n; i++) {
        if (tokens[i].kind == MT_OFFICE_OPEN && tokens[i].family == MT_OFFICE_RANGE &&
            n_open >= MAX_RANGES)
            leave_alone(&tokens[i]);
        else if (tokens[i].kind == MT_OFFICE_OPEN)
            open[n_open++] = i;
        else if (tokens[i].kind == MT_OFFICE_CLOSE)
            close_token(tokens, i, open, &n_open);
    }
    while (n_open > 0)
        leave_alone(&tokens[open[--n_open]]);
    for (size_t i = 0; i < n; i++) {
        n_words[i + 1] = n_words[i] + (tokens[i].kind == MT_OFFICE_WORDS);
        n_cuts[i + 1] = n_cuts[i] + (tokens[i].kind == MT_OFFICE_CUT);
    }
    for (size_t i = 0; i < n; i++)
        resolve_pair(tokens, i, n_words, n_cuts);
    free(counts);
    return MT_OK;
}

/* ---- texts ---- */

struct maker {
    struct mt_document *document;
    struct mt_office *office;
    struct mt_office_token *tokens;
    struct text *text;
    struct mt_text *out;
    struct {
        size_t code, look;
    } open[MT_OFFICE_MAX_OPEN];
    size_t n_open;
    bool has_group; /* a pair of another look is open */
    size_t group, group_look;
    struct mt_error *err;
};

static enum mt_status add_code(struct maker *maker, struct code **out)
{
    struct mt_office *office = maker->office;
    if (office->n_codes == MAX_DOCUMENT_CODES)
        return mt_fail(maker->err, MT_LIMIT,
                       "the document has more than %d changes of looks, tabs, notes and the like",
                       MAX_DOCUMENT_CODES);
    if (MT_ROOM(&office->codes, &office->codes_capacity, office->n_codes + 1, "parts of a file",
                maker->err))
        return MT_MEMORY;
    *out = &office->codes[office->n_codes++];
    **out = (struct code){0};
    maker->text->n++;
    return MT_OK;
}

/* Takes what is written for a token: bytes, or a range of the file. */
static void take_bytes(const struct mt_office_token *token, struct mt_text *bytes,
                       struct mt_range *verbatim)
{
    if (token->is_verbatim)
        *verbatim = token->range;
    else
        mt_text_append(bytes, token->bytes.bytes, token->bytes.length);
}

/* Appends a token that is outside of the words and holds no texts. */
static void append_token(const struct maker *maker, const struct mt_office_token *token,
                         struct mt_text *out)
{
    const char *bytes = maker->document->bytes + token->range.begin;
    if (token->is_verbatim)
        mt_text_append(out, bytes, token->range.end - token->range.begin);
    else
        mt_text_append(out, token->bytes.bytes, token->bytes.length);
}

static void write_tag(struct maker *maker, size_t code, bool is_closing)
{
    const struct mt_office_tag tag = {.code = code, .is_pair = true, .is_closing = is_closing};
    mt_office_write_tag(&tag, maker->out);
}

static void end_group(struct maker *maker)
{
    if (maker->has_group)
        write_tag(maker, maker->group, true);
    maker->has_group = false;
}

static size_t current_look(const struct maker *maker)
{
    return maker->n_open > 0 ? maker->open[maker->n_open - 1].look : maker->text->look;
}

static bool is_blanks(const struct mt_office_token *token)
{
    size_t n = token->bytes.length;
    return n > 0 && strspn(token->bytes.bytes, " ") == n;
}

static enum mt_status make_words(struct maker *maker, const struct mt_office_token *token)
{
    struct code *code;
    bool is_gap = (maker->office->format || token->form == ' ') && is_blanks(token);
    if (maker->has_group && maker->group_look != token->look)
        end_group(maker);
    if (!maker->has_group && token->look != current_look(maker) && !is_gap) {
        enum mt_status status = add_code(maker, &code);
        if (status)
            return status;
        code->is_look = true;
        code->is_link = token->is_link;
        code->look = maker->group_look = token->look;
        maker->group = maker->text->n - 1;
        maker->has_group = true;
        write_tag(maker, maker->group, false);
    }
    mt_text_append_markup(maker->out, token->bytes.bytes, token->bytes.length);
    return MT_OK;
}

/* Whether a look has the first tags of another one, but not all. */
static bool is_less(const struct mt_office *office, size_t look, size_t other)
{
    const struct mt_text *a = &office->looks[look].properties;
    const struct mt_text *b = &office->looks[other].properties;
    return a->length < b->length &&
           mt_office_common_tags(a->bytes, a->length, b->bytes, b->length) == a->length;
}

/* Returns the look of the first words in a pair or, in formats where tags make a look, the one with
 * the first of these tags if some of its words have only those. around: the look if it has no
 * words. */
static size_t look_within(const struct maker *maker, const struct mt_office_token *open,
                          size_t around)
{
    const struct mt_office_token *at = open, *close = maker->tokens + open->mate;
    while (at < close && at->kind != MT_OFFICE_WORDS)
        at++;
    size_t look = at < close ? at->look : around;
    for (; at < close && maker->office->format && look != around; at++)
        if (at->kind == MT_OFFICE_WORDS && !is_blanks(at) && is_less(maker->office, at->look, look))
            look = at->look;
    return look;
}

static enum mt_status make_open(struct maker *maker, const struct mt_office_token *token)
{
    struct code *code;
    size_t look = current_look(maker);
    enum mt_status status = MT_OK;
    end_group(maker);
    if (maker->n_open == MT_OFFICE_MAX_OPEN)
        return mt_fail(maker->err, MT_LIMIT,
                       "a paragraph has more than %d elements within elements", MT_OFFICE_MAX_OPEN);
    if (token->family != MT_OFFICE_RANGE)
        look = look_within(maker, token, look);
    status = add_code(maker, &code);
    if (status)
        return status;
    code->look = look;
    code->has_outer = maker->office->format && token->family == MT_OFFICE_ELEMENT;
    code->outer = code->has_outer ? token->look : 0;
    take_bytes(token, &code->open, &code->verbatim);
    take_bytes(&maker->tokens[token->mate], &code->close, &code->verbatim_close);
    maker->open[maker->n_open].code = maker->text->n - 1;
    maker->open[maker->n_open++].look = look;
    write_tag(maker, maker->text->n - 1, false);
    return code->open.status ? code->open.status : code->close.status;
}

/* Takes the bytes of a point. If it is in a run, then the run is written around its range. */
static void take_point(const struct maker *maker, const struct mt_office_token *token,
                       struct code *code)
{
    const struct mt_range run = token->run, range = token->range;
    size_t n_run = run.end - run.begin, n_inner = n_run + range.end - range.begin;
    take_bytes(token, &code->open, &code->verbatim);
    code->look = maker->office->format ? token->look : 0;
    if (token->is_verbatim && n_run > 0 && n_inner <= token->bytes.length) {
        mt_text_append(&code->open, token->bytes.bytes, n_run);
        mt_text_append_string(&code->close, token->bytes.bytes + n_inner);
    }
}

static enum mt_status make_point(struct maker *maker, const struct mt_office_token *token)
{
    struct code *code = NULL;
    if (token->form == 'b' || token->form == 'e')
        end_group(maker);
    enum mt_status status = add_code(maker, &code);
    if (status)
        return status;
    take_point(maker, token, code);
    const struct mt_office_tag tag = {.code = maker->text->n - 1, .form = token->form};
    mt_office_write_tag(&tag, maker->out);
    return code->open.status;
}

static enum mt_status make_token(struct maker *maker, const struct mt_office_token *token)
{
    switch (token->kind) {
    case MT_OFFICE_WORDS:
        return make_words(maker, token);
    case MT_OFFICE_OPEN:
        return make_open(maker, token);
    case MT_OFFICE_CLOSE:
        end_group(maker);
        write_tag(maker, maker->open[--maker->n_open].code, true);
        return MT_OK;
    case MT_OFFICE_POINT:
        return make_point(maker, token);
    case MT_OFFICE_BEGIN:
        append_token(maker, token, &maker->text->prefix);
        return MT_OK;
    case MT_OFFICE_END:
        append_token(maker, token, &maker->text->suffix);
        return MT_OK;
    case MT_OFFICE_CUT:
    case MT_OFFICE_NOTHING:
        break;
    }
    return MT_OK;
}

/* Returns the look of most words of tokens [begin, end). In formats where tags make a look, it
 * returns the one with the first of these tags if some words have only those, because words with
 * further tags become a pair. */
static size_t find_look(struct maker *maker, size_t begin, size_t end)
{
    struct look *looks = maker->office->looks;
    size_t best = 0, n_best = 0, text = maker->office->n_texts;
    for (size_t i = begin; i < end; i++) {
        const struct mt_office_token *token = &maker->tokens[i];
        if (token->kind != MT_OFFICE_WORDS)
            continue;
        struct look *look = &looks[token->look];
        look->n_bytes = look->text == text ? look->n_bytes : 0;
        look->text = text;
        look->n_bytes += token->bytes.length;
        if (look->n_bytes > n_best) {
            n_best = look->n_bytes;
            best = token->look;
        }
    }
    for (size_t i = begin; i < end && maker->office->format; i++) {
        const struct mt_office_token *token = &maker->tokens[i];
        if (token->kind == MT_OFFICE_WORDS && !is_blanks(token) &&
            is_less(maker->office, token->look, best))
            best = token->look;
    }
    return best;
}

/* Whether a token stays outside of the text where it is at its ends: points, objects that float
 * and, in formats where tags make a look, blanks. */
static bool stays_outside(const struct maker *maker, const struct mt_office_token *token)
{
    bool is_layout = maker->office->format && token->kind == MT_OFFICE_WORDS && is_blanks(token);
    return is_layout || (token->kind != MT_OFFICE_WORDS && token->kind != MT_OFFICE_OPEN &&
                         token->kind != MT_OFFICE_CLOSE);
}

/* Moves *first and *last so that a symbol with its note at either end is part of the text. */
static void take_symbols(const struct mt_office_token *tokens, size_t begin, size_t end,
                         size_t *first, size_t *last)
{
    for (size_t i = *first;
         i > begin && (tokens[i - 1].kind == MT_OFFICE_NOTHING || tokens[i - 1].note.is_word); i--)
        *first = tokens[i - 1].note.is_word ? i - 1 : *first;
    for (size_t i = *last;
         i < end && (tokens[i].kind == MT_OFFICE_NOTHING || tokens[i].note.is_word); i++)
        *last = tokens[i].note.is_word ? i + 1 : *last;
}

static void append_outside(const struct maker *maker, size_t begin, size_t end, struct mt_text *out)
{
    for (size_t i = begin; i < end; i++)
        if (maker->tokens[i].kind != MT_OFFICE_NOTHING)
            append_token(maker, &maker->tokens[i], out);
}

/* Adds the tokens as codes, because they may hold texts. */
static enum mt_status add_outside(struct maker *maker, size_t begin, size_t end, size_t *n)
{
    enum mt_status status = MT_OK;
    for (size_t i = begin; i < end && !status; i++) {
        const struct mt_office_token *token = &maker->tokens[i];
        struct code *code = NULL;
        if (token->kind == MT_OFFICE_NOTHING)
            continue;
        status = add_code(maker, &code);
        if (status)
            return status;
        maker->text->n--;
        ++*n;
        take_point(maker, token, code);
    }
    return status;
}

/* Whether tokens outside of the text may hold texts. */
static bool holds_texts(const struct maker *maker, size_t begin, size_t end)
{
    bool holds = false;
    for (size_t i = begin; i < end; i++)
        holds = holds || maker->tokens[i].is_verbatim;
    return holds || maker->office->format;
}

/* Returns the bytes of tokens [begin, end). A run may be cut at either end. */
static struct mt_range find_range(struct maker *maker, size_t begin, size_t end, size_t n)
{
    const struct mt_office_token *tokens = maker->tokens;
    struct mt_range range = {tokens[begin].outer.begin, 0};
    for (size_t i = begin; i < end; i++)
        range.end = mt_size_max(range.end, tokens[i].outer.end);
    if (begin > 0 && tokens[begin - 1].range.end > range.begin) {
        range.begin = tokens[begin - 1].range.end;
        maker->text->ends_run = true;
    }
    if (end < n && tokens[end].range.begin < range.end) {
        range.end = tokens[end].range.begin;
        maker->text->run = tokens[end].run;
    }
    return range;
}

static enum mt_status make_text(struct maker *maker, size_t begin, size_t end, size_t n)
{
    struct mt_office *office = maker->office;
    const struct mt_office_format *format = office->format;
    const struct mt_office_token *tokens = maker->tokens;
    struct mt_document_piece *piece;
    size_t first = begin, last = end;
    enum mt_status status = MT_OK;
    while (first < last && stays_outside(maker, &maker->tokens[first]))
        first++;
    while (last > first && stays_outside(maker, &maker->tokens[last - 1]))
        last--;
    if (first == last)
        return MT_OK;
    take_symbols(tokens, begin, end, &first, &last);
    if (MT_ROOM(&office->texts, &office->texts_capacity, office->n_texts + 1, "parts of a file",
                maker->err))
        return MT_MEMORY;
    while (begin < first && tokens[begin].outer.end <= tokens[begin + 1].outer.begin && format)
        begin++;
    while (end > last && tokens[end - 2].outer.end <= tokens[end - 1].outer.begin && format)
        end--;
    maker->text = &office->texts[office->n_texts++];
    *maker->text = (struct text){.first = office->n_codes};
    maker->text->look = find_look(maker, first, last);
    maker->text->is_attribute = maker->tokens[first].form == '"';
    maker->text->drop = maker->tokens[first].drop;
    maker->text->drop_look = maker->tokens[first].drop_look;
    const struct mt_range range = find_range(maker, begin, end, n);
    status = mt_document_add(maker->document, range, &piece, maker->err);
    if (status)
        return status;
    piece->first = office->n_texts - 1;
    maker->out = &piece->text;
    if (!holds_texts(maker, begin, first))
        append_outside(maker, begin, first, &maker->text->prefix);
    for (size_t i = first; i < last && !status; i++)
        status = make_token(maker, &tokens[i]);
    end_group(maker);
    if (!holds_texts(maker, last, end))
        append_outside(maker, last, end, &maker->text->suffix);
    if (holds_texts(maker, begin, first) && !status)
        status = add_outside(maker, begin, first, &maker->text->n_before);
    if (holds_texts(maker, last, end) && !status)
        status = add_outside(maker, last, end, &maker->text->n_after);
    return status;
}

/* Whether a text may end before the token, because no earlier token is still open. */
static bool is_border(const struct mt_office_token *tokens, size_t index)
{
    return tokens[index].outer.begin >= tokens[index - 1].outer.end;
}

enum mt_status mt_office_add_texts(struct mt_document *document,
                                   const struct mt_office_paragraph *paragraph,
                                   struct mt_error *err)
{
    struct mt_office *office = document->own;
    struct mt_office_token *tokens = paragraph->tokens;
    const size_t n = paragraph->n, n_prefix = strlen(paragraph->prefix);
    struct maker maker = {.document = document, .office = office, .tokens = tokens, .err = err};
    size_t begin = 0, depth = 0, n_codes = 0, first = office->n_texts;
    enum mt_status status = mt_office_attach_notes(document, paragraph, err);
    if (!status)
        status = resolve_pairs(tokens, n, err);
    for (size_t i = 0; i <= n && !status; i++) {
        bool is_cut = i == n || tokens[i].kind == MT_OFFICE_CUT;
        bool is_full = !is_cut && n_codes >= MAX_CODES && depth == 0 && i > begin &&
                       tokens[i].kind != MT_OFFICE_NOTHING && is_border(tokens, i);
        if (is_cut || is_full) {
            if (i > begin)
                status = make_text(&maker, begin, i, n);
            begin = is_cut ? i + 1 : i;
            n_codes = 0;
        }
        if (is_cut)
            continue;
        depth += tokens[i].kind == MT_OFFICE_OPEN;
        depth -= tokens[i].kind == MT_OFFICE_CLOSE;
        bool looks_same = i > 0 && tokens[i].kind == MT_OFFICE_WORDS &&
                          tokens[i - 1].kind == MT_OFFICE_WORDS &&
                          tokens[i].look == tokens[i - 1].look;
        n_codes += !looks_same;
    }
    for (size_t i = first; i < office->n_texts; i++) {
        memcpy(office->texts[i].element_prefix, paragraph->prefix,
               mt_size_min(n_prefix, MT_OFFICE_MAX_PREFIX));
        office->texts[i].write_run = paragraph->write_run;
        office->texts[i].max_chars = paragraph->max_chars;
    }
    return status;
}
