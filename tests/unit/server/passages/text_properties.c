#include "tests/unit/server/passages/text_properties.h"
#include "tests/unit/server/passages/fake_sentences.h"

#include "base/ascii.h"
#include "base/vector.h"
#include "config/settings.h"
#include "model/model.h"
#include "server/models/served_model.h"
#include "server/passages/budget.h"
#include "server/passages/passage.h"
#include "server/service/service.h"
#include "server/text/codes/codes_find.h"
#include "server/text/codes/reading.h"
#include "server/text/tagged_text.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

static struct mt_model *model;
static struct mt_splitter *splitter;
static struct mt_settings settings;

void text_properties_open(void)
{
    static char path[512];
    const char *root = getenv("MT_SOURCE_DIR");
    const struct mt_model_options options = {.precision = MT_INT8};
    struct mt_error err = {0};
    snprintf(path, sizeof path, "%s/weights/en-de", root ? root : ".");
    ck_assert_msg(!mt_model_open(path, &options, &model, &err), "%s", err.message);
    ck_assert_int_eq(mt_splitter_create(&splitter, NULL), MT_OK);
    ck_assert_int_eq(mt_settings_init(&settings, NULL), MT_OK);
    settings.max_attention_values = 0; /* the words' order is the alignment */
}

void text_properties_close(void)
{
    mt_settings_finish(&settings);
    mt_splitter_destroy(splitter);
    mt_model_close(model);
}

/* No more than a page may have. */
#define MAX_TAGS 1000000

enum mt_status read_text(enum awkward_format format, const struct mt_text *text,
                         struct mt_coded *out, struct mt_error *err)
{
    static mt_coded_reader *const readers[] = {mt_read_plain, mt_read_html, mt_read_srt,
                                               mt_read_vtt};
    const struct mt_coded_options options = {.max_tags = MAX_TAGS};
    *out = (struct mt_coded){0};
    return readers[format](text->bytes, text->length, &options, out, err);
}

struct mt_text translate(const struct way *way, const struct mt_text *text)
{
    struct mt_budget budget = {0};
    struct mt_model_defaults defaults = MT_NO_MODEL_DEFAULTS;
    const struct mt_service service = {.settings = &settings, .attention_budget = &budget};
    const struct mt_loaded_model loaded = {.model = model, .label = "", .defaults = &defaults};
    struct mt_translation_options plain = {
        .splitter = splitter,
        .split = way->split,
        .source_lang = "en",
        .target_lang = "", /* not known: nothing is written in its notation */
        .eases_source = way->post_edits,
    };
    struct mt_translation_options traced = plain;
    struct mt_alignment_trace trace;
    struct mt_passage *passage = NULL;
    struct mt_coded coded;
    struct mt_text out = {0};
    struct mt_error err = {0};
    enum mt_status status = MT_OK;
    mt_alignment_trace_begin(&trace, &service, &loaded, &traced);
    const struct mt_passage_options options = {.plain = &plain,
                                               .traced = &traced,
                                               .trace = &trace,
                                               .finds_codes = true,
                                               .post_edits = way->post_edits};
    if (!status && (status = read_text(way->format, text, &coded, &err)))
        mt_coded_finish(&coded);
    else if (!status)
        status = mt_passage_create(model, &coded, &options, &passage, &err);
    if (!status)
        status = mt_passage_render(passage, 0, &out, &err);
    if (status) {
        mt_text_finish(&out);
        mt_text_appendf(&out, "status %d: %s", (int)status, err.message);
    }
    mt_passage_destroy(passage);
    mt_alignment_trace_finish(&trace);
    return out;
}

/* ---- identity ---- */

static bool is_same_text(const struct mt_text *a, const struct mt_text *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* Signs that the model cannot read as those that it is shown for them, and round quotation marks, which
 * it is shown as they are and takes for straight ones. */
static struct mt_text typewrite(const char *bytes, size_t length)
{
    struct mt_text out = {0};
    mt_text_append(&out, "", 0);
    for (size_t at = 0, n; at < length; at += n) {
        const char *as;
        uint32_t c = mt_utf8_decode(bytes + at);
        if (mt_reading_at(mt_model_tokenizer(model), bytes, at, length, &n, &as) == MT_READS_AS)
            mt_text_append_string(&out, as);
        else if (c == 0x2018 || c == 0x2019)
            mt_text_append_string(&out, "'");
        else
            mt_text_append(&out, bytes + at, n);
    }
    return out;
}

/* A letter that is written as one character or as several is the same letter. */
#define MAX_PARTS 32 /* the longest has 18 */
static int32_t decompose(uint32_t c, UChar32 parts[MAX_PARTS])
{
    UErrorCode code = U_ZERO_ERROR;
    const UNormalizer2 *forms = unorm2_getNFKDInstance(&code);
    UChar units[MAX_PARTS];
    int32_t n = 1, n_units = unorm2_getDecomposition(forms, (UChar32)c, units, MAX_PARTS, &code);
    parts[0] = (UChar32)c;
    if (n_units >= 0)
        u_strToUTF32(parts, MAX_PARTS, &n, units, n_units, &code);
    ck_assert(U_SUCCESS(code));
    return n;
}

/* Blanks and accents apart. */
static void append_bare(struct mt_text *out, const char *piece)
{
    for (const char *at = piece; *at; at += mt_utf8_length((unsigned char)*at)) {
        UChar32 parts[MAX_PARTS];
        int32_t n = decompose(mt_utf8_decode(at), parts);
        for (int32_t i = 0; i < n; i++)
            if (parts[i] != 0x2581 && u_getCombiningClass(parts[i]) == 0)
                mt_text_append_char(out, (uint32_t)parts[i]);
    }
}

/* What the model reads of it. */
static struct mt_text spell(const struct mt_text *text)
{
    struct mt_text shown = typewrite(text->bytes, text->length), out = {0};
    struct mt_token_list list;
    ck_assert_int_eq(mt_tokenize(mt_model_tokenizer(model), shown.bytes, shown.length,
                                 MT_TOKENIZE_SOURCE, &list, NULL),
                     MT_OK);
    mt_text_append(&out, "", 0);
    for (size_t i = 0; i < list.n; i++)
        append_bare(&out, list.tokens[i].piece);
    mt_token_list_finish(&list);
    mt_text_finish(&shown);
    return out;
}

const char *check_identity(const struct way *way, const struct mt_text *text,
                           const struct mt_text *out)
{
    bool is_plain = way->format == AWKWARD_PLAIN || way->format == AWKWARD_SRT;
    if (is_same_text(text, out) || way->post_edits || !is_plain)
        return is_same_text(text, out) ? NULL : "not the same";
    struct mt_text before = spell(text), after = spell(out);
    bool is_same = is_same_text(&before, &after);
    mt_text_finish(&before);
    mt_text_finish(&after);
    return is_same ? NULL : "not the same for the model";
}

/* ---- marking ---- */

/* Letters and digits of a text, in any order. */
struct letters {
    uint32_t *items;
    size_t n, capacity;
};

/* A word that is said again has the capitals that it had first. */
static void add_letter(struct letters *letters, uint32_t c)
{
    UChar32 parts[MAX_PARTS];
    int32_t n = decompose(c, parts);
    ck_assert_int_eq(
        MT_ROOM(&letters->items, &letters->capacity, letters->n + MAX_PARTS, "letters", NULL),
        MT_OK);
    for (int32_t i = 0; i < n && mt_is_word_char(c); i++)
        if (mt_is_word_char((uint32_t)parts[i]))
            letters->items[letters->n++] = (uint32_t)u_foldCase(parts[i], U_FOLD_CASE_DEFAULT);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Whether each letter of a is in b, as often at least. */
static bool are_within(struct letters *a, struct letters *b)
{
    size_t k = 0;
    if (a->n == 0 || b->n == 0)
        return a->n == 0;
    qsort(a->items, a->n, sizeof *a->items, by_value);
    qsort(b->items, b->n, sizeof *b->items, by_value);
    for (size_t i = 0; i < a->n; i++, k++) {
        while (k < b->n && b->items[k] < a->items[i])
            k++;
        if (k == b->n || b->items[k] != a->items[i])
            return false;
    }
    return true;
}

/* Without the engine's marks. */
static struct mt_text strip(const struct mt_text *out)
{
    struct mt_text bare = {0};
    mt_text_append(&bare, "", 0);
    for (size_t at = 0, n; at < out->length; at += n) {
        n = mt_utf8_length((unsigned char)out->bytes[at]);
        bool is_mark = (n == strlen(FAKE_OPENING) && !memcmp(out->bytes + at, FAKE_OPENING, n)) ||
                       (n == strlen(FAKE_CLOSING) && !memcmp(out->bytes + at, FAKE_CLOSING, n));
        if (!is_mark)
            mt_text_append(&bare, out->bytes + at, n);
    }
    return bare;
}

/* A text as words and codes, those in the words among them. */
static void read_all(enum awkward_format format, const struct mt_text *text, struct mt_coded *out)
{
    const struct mt_codes_options options = {
        .tokenizer = mt_model_tokenizer(model), .source_lang = "en", .finds_codes = true};
    ck_assert_int_eq(read_text(format, text, out, NULL), MT_OK);
    for (size_t i = 0; i < out->n; i++)
        ck_assert_int_eq(mt_codes_find(&out->segments[i], &options, NULL), MT_OK);
}

/* Letters, and those of them that the model need not see. */
static void list_letters(const struct mt_coded *coded, struct letters *all,
                         struct letters *in_codes)
{
    for (size_t i = 0; i < coded->n; i++) {
        const struct mt_coded_segment *segment = &coded->segments[i];
        size_t covered = 0, code = 0;
        for (size_t at = 0; at < segment->words.length;) {
            for (; code < segment->n && segment->codes[code].at.begin <= at; code++)
                if (segment->codes[code].at.end > covered)
                    covered = segment->codes[code].at.end;
            uint32_t c = mt_utf8_decode(segment->words.bytes + at);
            add_letter(all, c);
            if (at < covered || !mt_is_readable_word_char(mt_model_tokenizer(model), c))
                add_letter(in_codes, c);
            at += mt_utf8_length((unsigned char)segment->words.bytes[at]);
        }
    }
}

static void see_marks(const char *bytes, size_t length, bool *is_marked)
{
    for (size_t at = 0; at < length; at += mt_utf8_length((unsigned char)bytes[at])) {
        uint32_t c = mt_utf8_decode(bytes + at);
        if (c == mt_utf8_decode(FAKE_OPENING) || c == mt_utf8_decode(FAKE_CLOSING))
            *is_marked = c == mt_utf8_decode(FAKE_OPENING);
    }
}

/* Letters outside of marked words. A mark may stand outside of an element whose word it marks, where a
 * reader sees no words but a sign. The finder is not asked: it would see the marks. */
static void list_unmarked(enum awkward_format format, const struct mt_text *out,
                          struct letters *unmarked)
{
    struct mt_coded coded;
    size_t behind = 0;
    bool is_marked = false;
    ck_assert_int_eq(read_text(format, out, &coded, NULL), MT_OK);
    for (size_t i = 0; i < coded.n; i++) {
        const struct mt_coded_segment *segment = &coded.segments[i];
        see_marks(out->bytes + behind, segment->range.begin - behind, &is_marked);
        for (size_t at = 0, code = 0, n; at < segment->words.length; at += n) {
            for (; code < segment->n && segment->codes[code].at.begin <= at; code++) {
                struct mt_range bytes = segment->codes[code].bytes;
                see_marks(out->bytes + bytes.begin, bytes.end - bytes.begin, &is_marked);
            }
            const char *c = segment->words.bytes + at;
            see_marks(c, n = mt_utf8_length((unsigned char)*c), &is_marked);
            if (!is_marked)
                add_letter(unmarked, mt_utf8_decode(c));
        }
        behind = segment->range.end;
    }
    mt_coded_finish(&coded);
}

/* How a code stands in the text, or in its words where it covers some. */
static struct mt_text write_code(const struct mt_coded *coded, size_t segment, size_t index)
{
    const struct mt_code *code = &coded->segments[segment].codes[index];
    const char *words = coded->segments[segment].words.bytes;
    struct mt_range at = code->at;
    bool has_bytes = code->bytes.begin < code->bytes.end;
    const char *bytes = has_bytes ? coded->source + code->bytes.begin : words + at.begin;
    size_t length = has_bytes ? code->bytes.end - code->bytes.begin : at.end - at.begin;
    struct mt_range inner = mt_range_trim(bytes, 0, length);
    struct mt_text out = {0};
    mt_text_append(&out, "", 0);
    if (code->kind != MT_CODE_REPEAT) /* written as the word that it repeats */
        mt_text_append(&out, bytes + inner.begin, inner.end - inner.begin);
    return out;
}

static size_t count_copies(const char *at, size_t length, const struct mt_text *code)
{
    size_t n = 0;
    const char *end = at + length;
    while (code->length > 0 && (at = memmem(at, (size_t)(end - at), code->bytes, code->length))) {
        at += code->length;
        n++;
    }
    return n;
}

static size_t count_in_words(const struct mt_coded *coded, const struct mt_text *code)
{
    size_t n = 0;
    struct mt_text needle = typewrite(code->bytes, code->length);
    for (size_t i = 0; i < coded->n; i++) {
        const struct mt_text *words = &coded->segments[i].words;
        struct mt_text all = typewrite(words->bytes, words->length);
        n += count_copies(all.bytes, all.length, &needle);
        mt_text_finish(&all);
    }
    mt_text_finish(&needle);
    return n;
}

/* A word of letters may be another one's, too. */
static bool is_word(const struct mt_text *code)
{
    for (size_t at = 0; at < code->length; at += mt_utf8_length((unsigned char)code->bytes[at]))
        if (!mt_is_word_char(mt_utf8_decode(code->bytes + at)))
            return false;
    return true;
}

/* At least as often as there are such codes, and no more often than in the text: bytes that are a code
 * in one place may be words in another. */
static bool is_code_kept(const struct mt_coded *before, const struct mt_coded *after,
                         const struct mt_text *code, bool is_in_words)
{
    size_t n_least = 0, n_most, n;
    for (size_t i = 0; i < before->n; i++)
        for (size_t k = 0; k < before->segments[i].n; k++) {
            struct mt_text other = write_code(before, i, k);
            n_least += is_same_text(&other, code);
            mt_text_finish(&other);
        }
    if (is_in_words) { /* afterwards perhaps between segments */
        n_most = count_in_words(before, code);
        n = count_in_words(after, code);
        if (n < n_least)
            n = count_copies(after->source, after->length, code);
    } else {
        n_most = count_copies(before->source, before->length, code);
        n = count_copies(after->source, after->length, code);
    }
    return code->length == 0 || (n >= n_least && (n <= n_most || is_word(code)));
}

static bool are_codes_kept(const struct mt_coded *before, const struct mt_coded *after)
{
    bool are_kept = true;
    for (size_t i = 0; i < before->n && are_kept; i++)
        for (size_t k = 0; k < before->segments[i].n && are_kept; k++) {
            const struct mt_code *code = &before->segments[i].codes[k];
            struct mt_text own = write_code(before, i, k);
            are_kept = is_code_kept(before, after, &own, code->bytes.begin == code->bytes.end);
            mt_text_finish(&own);
        }
    return are_kept;
}

/* Whether there is a letter outside of tags and entities. */
static bool holds_letter(const char *at, const char *end)
{
    char closing = '\0';
    for (; at < end; at += mt_utf8_length((unsigned char)*at)) {
        if (*at == '<' || *at == '&')
            closing = *at == '<' ? '>' : ';';
        else if (*at == closing)
            closing = '\0';
        else if (!closing && mt_is_word_char(mt_utf8_decode(at)))
            return true;
    }
    return false;
}

/* "<p<b>" is one tag, "2 < 3<b>" is not. */
static bool is_within_tag(const struct mt_text *text, const char *at)
{
    while (at > text->bytes && at[-1] != '<' && at[-1] != '>')
        at--;
    return at > text->bytes && at[-1] == '<' && mt_is_word_char(mt_utf8_decode(at));
}

/* How often the two stand there with no letter between them. */
static size_t count_hollow(const struct mt_text *text, const struct mt_text *opening,
                           const struct mt_text *closing)
{
    size_t n = 0;
    const char *at = text->bytes, *end = text->bytes + text->length;
    while ((at = memmem(at, (size_t)(end - at), opening->bytes, opening->length))) {
        at += opening->length;
        const char *close = memmem(at, (size_t)(end - at), closing->bytes, closing->length);
        n += close && !is_within_tag(text, at - opening->length) && !holds_letter(at, close);
    }
    return n;
}

static bool are_elements_kept(const struct mt_coded *coded, const struct mt_text *text,
                              const struct mt_text *bare)
{
    for (size_t i = 0; i < coded->n; i++)
        for (size_t k = 0; k < coded->segments[i].n; k++) {
            const struct mt_code *code = &coded->segments[i].codes[k];
            struct mt_text opening = {0}, closing = {0};
            if (code->kind != MT_CODE_OPEN || code->mate == MT_NO_MATE)
                continue;
            mt_coded_write_code(coded, &coded->segments[i], k, &opening);
            mt_coded_write_code(coded, &coded->segments[i], code->mate, &closing);
            bool is_verbatim =
                opening.length == 0 || closing.length == 0 ||
                count_hollow(bare, &opening, &closing) <= count_hollow(text, &opening, &closing);
            mt_text_finish(&opening);
            mt_text_finish(&closing);
            if (!is_verbatim)
                return false;
        }
    return true;
}

/* Copies a text, with three letters for each day and month and the short form of a word that has
 * one, because "Dec 6" and "w/" may be shown in full. */
static struct mt_text shorten_words(const struct mt_text *text)
{
    static const char *const names[] = {
        "Monday",   "Tuesday",   "Tues",    "Wednesday", "Thursday", "Thurs",   "Thur", "Friday",
        "Saturday", "Sunday",    "January", "February",  "March",    "April",   "June", "July",
        "August",   "September", "Sept",    "October",   "November", "December"};
    static const char *const forms[][2] = {{"with", "w"},     {"without", "wo"}, {"Without", "Wo"},
                                           {"because", "bc"}, {"about", "ca"},   {"hours", "hrs"},
                                           {"Number", "No"},  {"number", "no"}};
    struct mt_text out = {0};
    mt_text_append(&out, "", 0);
    for (size_t at = 0, n; at < text->length; at += n) {
        const char *kept = text->bytes + at;
        n = 0;
        while (at + n < text->length &&
               (mt_ascii_is_letter_or_digit(text->bytes[at + n]) || text->bytes[at + n] == '_'))
            n++;
        size_t n_kept = n = n > 0 ? n : 1;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (n == strlen(names[i]) && memcmp(text->bytes + at, names[i], n) == 0)
                n_kept = 3;
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
            if (n == strlen(forms[i][0]) && memcmp(text->bytes + at, forms[i][0], n) == 0) {
                kept = forms[i][1];
                n_kept = strlen(kept);
            }
        mt_text_append(&out, kept, n_kept);
    }
    return out;
}

const char *check_marks(const struct way *way, const struct mt_text *whole_text,
                        const struct mt_text *out)
{
    struct mt_text short_text = shorten_words(whole_text);
    const struct mt_text *text = &short_text;
    static struct letters all, in_codes, all_out, in_codes_out, unmarked;
    struct mt_coded before, after;
    struct mt_text whole = strip(out), bare = shorten_words(&whole);
    const char *reason = NULL;
    all.n = in_codes.n = all_out.n = in_codes_out.n = unmarked.n = 0;
    read_all(way->format, text, &before);
    read_all(way->format, &bare, &after);
    list_letters(&before, &all, &in_codes);
    list_letters(&after, &all_out, &in_codes_out);
    list_unmarked(way->format, out, &unmarked);
    if (strncmp(out->bytes, "status ", strlen("status ")) == 0)
        reason = "an error";
    else if (!are_within(&all, &all_out))
        reason = "a letter is lost";
    else if (!are_within(&all_out, &all))
        reason = "a letter is doubled";
    else if (!are_within(&unmarked, &in_codes))
        reason = "a word was not translated";
    else if (!are_codes_kept(&before, &after))
        reason = "a code is lost or doubled";
    else if (!are_elements_kept(&before, text, &bare))
        reason = "an element is emptied";
    mt_coded_finish(&before);
    mt_coded_finish(&after);
    mt_text_finish(&whole);
    mt_text_finish(&bare);
    mt_text_finish(&short_text);
    return reason;
}
