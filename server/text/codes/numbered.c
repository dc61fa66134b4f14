#include "server/text/codes/numbered.h"

#include "base/ascii.h"
#include "base/size.h"

#include <string.h>

/* U+FDD0 to U+FDD2 stand before a number, and U+FDD3 behind it. */
#define SIGN_BYTES 3
static const char first_bytes[] = "\xEF\xB7";
#define FIRST_LAST_BYTE 0x90
#define END_LAST_BYTE 0x93

/* The reader's codes of a stretch, in their order. */
struct codes {
    size_t n;
    struct code {
        size_t index; /* in the segment's codes */
        enum mt_numbered_kind kind;
        size_t number;
    } items[2 * MT_MAX_NUMBERED_CODES];
};

struct mt_numbered_stretch mt_numbered_whole(const struct mt_coded *coded,
                                             const struct mt_coded_segment *segment)
{
    return (struct mt_numbered_stretch){.coded = coded,
                                        .segment = segment,
                                        .range = {0, segment->words.length},
                                        .code_end = segment->n};
}

static bool stands_alone(const struct mt_code *code)
{
    return code->kind == MT_CODE_POINT || code->kind == MT_CODE_GAP ||
           code->kind == MT_CODE_BREAK || code->kind == MT_CODE_EDGE;
}

/* A code within another one is in the stretch only together with that. */
static size_t code_before(const struct mt_numbered_stretch *stretch)
{
    size_t last = stretch->code;
    for (size_t i = last; i < stretch->code_end; i = mt_coded_behind(stretch->segment, i))
        last = i;
    return last;
}

void mt_numbered_trim(struct mt_numbered_stretch *stretch, struct mt_numbered_ends *ends)
{
    const struct mt_code *codes = stretch->segment->codes;
    const char *words = stretch->segment->words.bytes;
    struct mt_range *range = &stretch->range;
    struct mt_numbered_ends most = *ends;
    *ends = (struct mt_numbered_ends){0};
    if (stretch->code_end - stretch->code > 4 * MT_MAX_NUMBERED_CODES)
        return; /* such a stretch has no numbered form anyway */
    for (;; ends->before++) {
        bool has = stretch->code < stretch->code_end;
        size_t limit = has ? codes[stretch->code].at.begin : range->end;
        range->begin = mt_range_trim(words, range->begin, limit).begin;
        if (range->begin < limit || !has || !stands_alone(&codes[stretch->code]) ||
            ends->before == most.before)
            break;
        range->begin = codes[stretch->code].at.end;
        stretch->code = mt_coded_behind(stretch->segment, stretch->code);
    }
    for (;; ends->behind++) {
        bool has = stretch->code < stretch->code_end;
        size_t last = has ? code_before(stretch) : 0;
        size_t limit = has ? codes[last].at.end : range->begin;
        struct mt_range own = mt_range_trim(words, limit, range->end);
        range->end = own.begin < own.end ? own.end : limit;
        if (range->end > limit || !has || !stands_alone(&codes[last]) ||
            ends->behind == most.behind)
            break;
        range->end = codes[last].at.begin;
        stretch->code_end = last;
    }
}

/* ---- marks ---- */

/* Returns the last byte of the noncharacter that text[0, length) begins with, or 0. */
static unsigned char sign_at(const char *text, size_t length)
{
    bool is_sign = length >= SIGN_BYTES && memcmp(text, first_bytes, 2) == 0;
    unsigned char last = is_sign ? (unsigned char)text[2] : 0;
    return last >= FIRST_LAST_BYTE && last <= END_LAST_BYTE ? last : 0;
}

static bool has_signs(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (sign_at(text + i, length - i))
            return true;
    return false;
}

static void append_mark(struct mt_text *out, enum mt_numbered_kind kind, size_t number)
{
    mt_text_appendf(out, "%s%c%zu%s%c", first_bytes, FIRST_LAST_BYTE + (int)kind, number,
                    first_bytes, END_LAST_BYTE);
}

bool mt_numbered_mark_at(const char *text, size_t length, struct mt_numbered_mark *out)
{
    unsigned char sign = sign_at(text, length);
    size_t at = SIGN_BYTES, number = 0;
    if (!sign || sign == END_LAST_BYTE)
        return false;
    for (; at < length && mt_ascii_is_digit(text[at]) && number < MT_MAX_NUMBERED_CODES; at++)
        number = 10 * number + (size_t)(text[at] - '0');
    if (at == SIGN_BYTES || sign_at(text + at, length - at) != END_LAST_BYTE)
        return false;
    *out = (struct mt_numbered_mark){.kind = (enum mt_numbered_kind)(sign - FIRST_LAST_BYTE),
                                     .number = number,
                                     .length = at + SIGN_BYTES};
    return number < MT_MAX_NUMBERED_CODES;
}

/* ---- codes of a stretch ---- */

static bool is_readers(const struct mt_code *code)
{
    return code->bytes.begin < code->bytes.end;
}

static struct code *find(struct codes *codes, size_t index)
{
    for (size_t i = 0; i < codes->n; i++)
        if (codes->items[i].index == index)
            return &codes->items[i];
    return NULL;
}

/* Returns false where the stretch has no numbered form. */
static bool add_code(struct codes *codes, const struct mt_numbered_stretch *stretch, size_t index,
                     size_t *n_numbers)
{
    const struct mt_code *code = &stretch->segment->codes[index];
    struct code *open = NULL;
    enum mt_numbered_kind kind = MT_NUMBERED_POINT;
    if (code->mate != MT_NO_MATE && code->mate < index)
        open = find(codes, code->mate);
    if (code->mate != MT_NO_MATE)
        kind = open ? MT_NUMBERED_CLOSE : MT_NUMBERED_OPEN;
    if (kind == MT_NUMBERED_OPEN && (code->mate < index || code->mate >= stretch->code_end))
        return false;
    if (!open && *n_numbers == MT_MAX_NUMBERED_CODES)
        return false;
    codes->items[codes->n++] = (struct code){index, kind, open ? open->number : (*n_numbers)++};
    return true;
}

static bool list_codes(const struct mt_numbered_stretch *stretch, struct codes *codes)
{
    const struct mt_coded_segment *segment = stretch->segment;
    size_t n_numbers = 0;
    codes->n = 0;
    for (size_t i = stretch->code, next; i < stretch->code_end; i = next) {
        const struct mt_code *code = &segment->codes[i];
        next = mt_coded_behind(segment, i);
        if (code->kind == MT_CODE_TERM)
            return false;
        if (!is_readers(code)) {
            for (size_t k = i + 1; k < next; k++)
                if (is_readers(&segment->codes[k]) || segment->codes[k].kind == MT_CODE_TERM)
                    return false;
        } else if (!add_code(codes, stretch, i, &n_numbers)) {
            return false;
        }
    }
    return true;
}

/* ---- writing ---- */

static bool is_written_alike(const struct mt_numbered_stretch *a, size_t code_a,
                             const struct mt_numbered_stretch *b, size_t code_b)
{
    struct mt_range x = a->segment->codes[code_a].bytes, y = b->segment->codes[code_b].bytes;
    return x.end - x.begin == y.end - y.begin &&
           memcmp(a->coded->source + x.begin, b->coded->source + y.begin, x.end - x.begin) == 0;
}

/* Returns the code in `like` that is of the same kind and written in the same way, or else the
 * first of its kind; NULL: all of them have been taken. */
static const struct code *choose_like(const struct mt_numbered_stretch *stretch,
                                      const struct code *code,
                                      const struct mt_numbered_stretch *like,
                                      const struct codes *others, const bool *is_taken)
{
    const struct code *first = NULL;
    for (size_t i = 0; i < others->n; i++) {
        const struct code *other = &others->items[i];
        if (other->kind != code->kind || is_taken[other->number])
            continue;
        if (is_written_alike(stretch, code->index, like, other->index))
            return other;
        if (!first)
            first = other;
    }
    return first;
}

/* Numbers the codes as in `like`. Those that it does not have get numbers that do not occur there.
 * Returns false where there are too many. */
static bool renumber(const struct mt_numbered_stretch *stretch, struct codes *codes,
                     const struct mt_numbered_stretch *like)
{
    struct codes others;
    bool is_taken[MT_MAX_NUMBERED_CODES] = {false};
    if (!list_codes(like, &others))
        return false;
    size_t next = 0;
    for (size_t i = 0; i < others.n; i++)
        next = mt_size_max(next, others.items[i].number + 1);
    for (size_t i = 0; i < codes->n; i++) {
        struct code *code = &codes->items[i];
        if (code->kind == MT_NUMBERED_CLOSE) {
            code->number = find(codes, stretch->segment->codes[code->index].mate)->number;
            continue;
        }
        const struct code *other = choose_like(stretch, code, like, &others, is_taken);
        code->number = other ? other->number : next++;
        if (code->number >= MT_MAX_NUMBERED_CODES)
            return false;
        is_taken[code->number] = true;
    }
    return true;
}

bool mt_numbered_write(const struct mt_numbered_stretch *stretch,
                       const struct mt_numbered_stretch *like, struct mt_text *out)
{
    const char *words = stretch->segment->words.bytes;
    size_t at = stretch->range.begin;
    struct codes codes;
    if (has_signs(words + at, stretch->range.end - at) || !list_codes(stretch, &codes) ||
        (like && !renumber(stretch, &codes, like)))
        return false;
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < codes.n; i++) {
        struct mt_range covered = stretch->segment->codes[codes.items[i].index].at;
        mt_text_append(out, words + at, covered.begin - at);
        append_mark(out, codes.items[i].kind, codes.items[i].number);
        at = covered.end;
    }
    mt_text_append(out, words + at, stretch->range.end - at);
    return true;
}

/* ---- reading ---- */

static const struct code *find_mark(const struct codes *codes, const struct mt_numbered_mark *mark)
{
    for (size_t i = 0; i < codes->n; i++)
        if (codes->items[i].kind == mark->kind && codes->items[i].number == mark->number)
            return &codes->items[i];
    return NULL;
}

/* Whether each code occurs once, and pairs are nested. */
static bool is_sound(const char *text, size_t length, const struct codes *codes)
{
    size_t n_open = 0, n_seen = 0, open[MT_MAX_NUMBERED_CODES];
    bool is_seen[MT_MAX_NUMBERED_CODES] = {false};
    struct mt_numbered_mark mark;
    for (size_t at = 0; at < length; at++) {
        if (!mt_numbered_mark_at(text + at, length - at, &mark))
            continue;
        bool closes = mark.kind == MT_NUMBERED_CLOSE;
        if (!find_mark(codes, &mark) ||
            (closes ? n_open == 0 || open[--n_open] != mark.number : is_seen[mark.number]))
            return false;
        if (mark.kind == MT_NUMBERED_OPEN)
            open[n_open++] = mark.number;
        is_seen[mark.number] = true;
        n_seen++;
        at += mark.length - 1;
    }
    return n_open == 0 && n_seen == codes->n;
}

bool mt_numbered_read(const char *text, size_t length, const struct mt_numbered_stretch *stretch,
                      mt_numbered_words *words, mt_numbered_code *code, void *context)
{
    struct codes codes;
    struct mt_numbered_mark mark;
    if (!list_codes(stretch, &codes) || !is_sound(text, length, &codes))
        return false;
    size_t from = 0, at = 0;
    while (at < length) {
        if (!mt_numbered_mark_at(text + at, length - at, &mark)) {
            at++;
            continue;
        }
        words(context, text + from, at - from);
        code(context, find_mark(&codes, &mark)->index);
        from = at += mark.length;
    }
    words(context, text + from, length - from);
    return true;
}

void mt_numbered_append_words(const char *text, size_t length, struct mt_text *out)
{
    struct mt_numbered_mark mark;
    size_t from = 0, at = 0;
    while (at < length) {
        if (!mt_numbered_mark_at(text + at, length - at, &mark)) {
            at++;
            continue;
        }
        mt_text_append(out, text + from, at - from);
        from = at += mark.length;
        if (out->length > 0 && out->bytes[out->length - 1] != ' ' && from < length &&
            text[from] != ' ')
            mt_text_append(out, " ", 1);
    }
    mt_text_append(out, text + from, length - from);
}
