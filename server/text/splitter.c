#include "server/text/splitter.h"

#include "base/text.h"
#include "base/vector.h"
#include "server/text/boundary.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

/* How many languages' rules are kept; those of further languages are made anew for each text. */
#define MAX_LANGUAGES 64
#define MAX_IDLE 8
#define MAX_LANGUAGE_BYTES 32

/* Iterators of a language that no text uses at the moment; threads must not share one. They are not
 * made by ubrk_clone, although that is fast: where memory runs out during it, ICU 72 returns an
 * iterator that crashes when it is used. */
struct rules {
    char language[MAX_LANGUAGE_BYTES + 1];
    size_t n_idle;
    UBreakIterator *idle[MAX_IDLE];
};

struct mt_splitter {
    pthread_mutex_t mutex; /* guards what follows */
    size_t n_languages;
    struct rules languages[MAX_LANGUAGES];
};

/* The state while one text is split. */
struct pass {
    struct mt_splitter *splitter;
    const char *text;
    const char *language;
    size_t max_sentences;
    struct mt_ranges *out;
    UBreakIterator *iterator; /* NULL until a line needs it */
    UText *view;              /* reused by every line */
};

bool mt_split_parse(const char *name, enum mt_split *out)
{
    static const char *const names[] = {
        [MT_SPLIT_ON] = "on", [MT_SPLIT_OFF] = "off", [MT_SPLIT_NEWLINES] = "newlines"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (enum mt_split)i;
            return true;
        }
    return false;
}

enum mt_status mt_ranges_append(struct mt_ranges *ranges, size_t begin, size_t end,
                                struct mt_error *err)
{
    if (MT_ROOM(&ranges->items, &ranges->capacity, ranges->n + 1, "sentence boundaries", err))
        return MT_MEMORY;
    ranges->items[ranges->n++] = (struct mt_range){begin, end};
    return MT_OK;
}

void mt_ranges_finish(struct mt_ranges *ranges)
{
    free(ranges->items);
    *ranges = (struct mt_ranges){0};
}

static bool is_blank(uint32_t c)
{
    return mt_is_space(c) || c < 0x20 || (c >= 0x7F && c < 0xA0);
}

bool mt_is_line_break(uint32_t c)
{
    return (c >= 0x0A && c <= 0x0D) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

size_t mt_previous_char(const char *text, size_t at)
{
    do
        at--;
    while (at > 0 && ((unsigned char)text[at] & 0xC0u) == 0x80u);
    return at;
}

struct mt_range mt_range_trim(const char *text, size_t begin, size_t end)
{
    while (begin < end && is_blank(mt_utf8_decode(text + begin)))
        begin += mt_char_length(text + begin);
    while (end > begin && is_blank(mt_utf8_decode(text + mt_previous_char(text, end))))
        end = mt_previous_char(text, end);
    return (struct mt_range){begin, end};
}

enum mt_status mt_splitter_create(struct mt_splitter **out, struct mt_error *err)
{
    struct mt_splitter *splitter = calloc(1, sizeof *splitter);
    if (!splitter)
        return mt_fail_memory(err, sizeof *splitter, "a sentence splitter");
    pthread_mutex_init(&splitter->mutex, NULL);
    *out = splitter;
    return MT_OK;
}

void mt_splitter_destroy(struct mt_splitter *splitter)
{
    if (!splitter)
        return;
    for (size_t i = 0; i < splitter->n_languages; i++)
        while (splitter->languages[i].n_idle > 0)
            ubrk_close(splitter->languages[i].idle[--splitter->languages[i].n_idle]);
    pthread_mutex_destroy(&splitter->mutex);
    free(splitter);
}

/* ICU accepts any string as a locale and finds keywords in it, but our strings come from
 * requests. */
static const char *checked_language(const char *language)
{
    if (!language)
        return "";
    size_t length = strspn(language, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789-_");
    return language[length] || length > MAX_LANGUAGE_BYTES ? "" : language;
}

static enum mt_status fail_icu(struct mt_error *err, UErrorCode code, const char *what)
{
    if (code == U_MEMORY_ALLOCATION_ERROR)
        return mt_fail(err, MT_MEMORY, "out of memory: ICU: %s", what);
    return mt_fail(err, MT_IO, "ICU: %s: %s", what, u_errorName(code));
}

static enum mt_status open_rules(const char *language, UBreakIterator **out, struct mt_error *err)
{
    char locale[MAX_LANGUAGE_BYTES + sizeof "@ss=standard"];
    snprintf(locale, sizeof locale, "%s@ss=standard", language);
    UErrorCode code = U_ZERO_ERROR;
    UBreakIterator *iterator = ubrk_open(UBRK_SENTENCE, locale, NULL, 0, &code);
    if (U_FAILURE(code))
        return fail_icu(err, code, "sentence rules");
    *out = iterator;
    return MT_OK;
}

/* Called with the splitter's mutex held. Returns NULL where there is no room for another
 * language. */
static struct rules *find_rules(struct mt_splitter *splitter, const char *language)
{
    for (size_t i = 0; i < splitter->n_languages; i++)
        if (strcmp(splitter->languages[i].language, language) == 0)
            return &splitter->languages[i];
    if (splitter->n_languages == MAX_LANGUAGES)
        return NULL;
    struct rules *rules = &splitter->languages[splitter->n_languages++];
    snprintf(rules->language, sizeof rules->language, "%s", language);
    return rules;
}

static enum mt_status need_iterator(struct pass *pass, struct mt_error *err)
{
    if (pass->iterator)
        return MT_OK;
    pthread_mutex_lock(&pass->splitter->mutex);
    struct rules *rules = find_rules(pass->splitter, pass->language);
    if (rules && rules->n_idle > 0)
        pass->iterator = rules->idle[--rules->n_idle];
    pthread_mutex_unlock(&pass->splitter->mutex);
    return pass->iterator ? MT_OK : open_rules(pass->language, &pass->iterator, err);
}

static void give_back(struct pass *pass)
{
    if (!pass->iterator)
        return;
    pthread_mutex_lock(&pass->splitter->mutex);
    struct rules *rules = find_rules(pass->splitter, pass->language);
    if (rules && rules->n_idle < MAX_IDLE) {
        rules->idle[rules->n_idle++] = pass->iterator;
        pass->iterator = NULL;
    }
    pthread_mutex_unlock(&pass->splitter->mutex);
    ubrk_close(pass->iterator);
}

static enum mt_status add_sentence(struct pass *pass, size_t begin, size_t end,
                                   struct mt_error *err)
{
    struct mt_range range = mt_range_trim(pass->text, begin, end);
    if (range.begin == range.end)
        return MT_OK;
    if (pass->max_sentences && pass->out->n >= pass->max_sentences)
        return mt_fail(err, MT_LIMIT, "the text has more than %zu sentences", pass->max_sentences);
    return mt_ranges_append(pass->out, range.begin, range.end, err);
}

static bool ends_sentence(uint32_t c)
{
    if (c < 0x80)
        return c == '.' || c == '!' || c == '?';
    int32_t property = u_getIntPropertyValue((UChar32)c, UCHAR_SENTENCE_BREAK);
    return property == U_SB_STERM || property == U_SB_ATERM;
}

/* Whether a letter or digit follows the first full stop (question mark, ...) of a line. Most lines
 * are one sentence, for which ICU is not needed, whose data takes 10 ms to load. */
static bool may_have_more_sentences(const char *text, size_t begin, size_t end)
{
    bool ended = false;
    for (size_t at = begin; at < end; at += mt_char_length(text + at)) {
        uint32_t c = mt_utf8_decode(text + at);
        if (!ended)
            ended = ends_sentence(c);
        else if (u_isalnum((UChar32)c))
            return true;
    }
    return false;
}

/* Sets the iterator to text[line.begin, line.end). */
static enum mt_status start_line(struct pass *pass, struct mt_range line, struct mt_error *err)
{
    if (line.end - line.begin > INT32_MAX)
        return mt_fail(err, MT_LIMIT, "a line of %zu bytes: at most %d can be split into sentences",
                       line.end - line.begin, INT32_MAX);
    enum mt_status status = need_iterator(pass, err);
    if (status)
        return status;
    UErrorCode code = U_ZERO_ERROR;
    pass->view = utext_openUTF8(pass->view, pass->text + line.begin,
                                (int64_t)(line.end - line.begin), &code);
    ubrk_setUText(pass->iterator, pass->view, &code);
    return U_FAILURE(code) ? fail_icu(err, code, "reading a text") : MT_OK;
}

static enum mt_status split_line(struct pass *pass, size_t begin, size_t end, struct mt_error *err)
{
    struct mt_range line = mt_range_trim(pass->text, begin, end);
    if (!may_have_more_sentences(pass->text, line.begin, line.end))
        return add_sentence(pass, line.begin, line.end, err);
    enum mt_status status = start_line(pass, line, err);

    const char *text = pass->text + line.begin;
    size_t length = line.end - line.begin, from = 0;
    while (!status && from < length) {
        int32_t boundary = ubrk_next(pass->iterator);
        size_t at = boundary == UBRK_DONE ? length : (size_t)boundary;
        if (at < length && mt_boundary_is_false(text, length, at, pass->language))
            continue;
        status = add_sentence(pass, line.begin + from, line.begin + at, err);
        from = at;
    }
    return status;
}

static enum mt_status split_lines(struct pass *pass, size_t length, enum mt_split mode,
                                  struct mt_error *err)
{
    enum mt_status (*add)(struct pass *, size_t, size_t, struct mt_error *) =
        mode == MT_SPLIT_ON ? split_line : add_sentence;
    size_t begin = 0;
    for (size_t at = 0; at < length;) {
        size_t next = at + mt_char_length(pass->text + at);
        if (mt_is_line_break(mt_utf8_decode(pass->text + at))) {
            enum mt_status status = add(pass, begin, at, err);
            if (status)
                return status;
            begin = next;
        }
        at = next;
    }
    return add(pass, begin, length, err);
}

enum mt_status mt_splitter_split(struct mt_splitter *splitter, const char *text, size_t length,
                                 enum mt_split mode, const char *language, size_t max_sentences,
                                 struct mt_ranges *out, struct mt_error *err)
{
    struct pass pass = {
        .splitter = splitter,
        .text = text,
        .language = checked_language(language),
        .max_sentences = max_sentences,
        .out = out,
    };
    enum mt_status status = mode == MT_SPLIT_OFF ? add_sentence(&pass, 0, length, err)
                                                 : split_lines(&pass, length, mode, err);
    give_back(&pass);
    utext_close(pass.view);
    return status;
}
