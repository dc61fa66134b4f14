/* Two promises about every text, with an engine that only pretends: what the model returns as it was
 * is the input to the byte; and where it marks each word, each letter shows once, in a marked word or
 * in what is copied, no element is emptied, and nothing that is copied is lost or doubled. And the time
 * that it takes to take one apart and put it together grows with its length, and no faster. */
#include "tests/unit/server/passages/awkward_text.h"
#include "tests/unit/server/passages/fake_sentences.h"

#include "base/sanitized.h"
#include "config/settings.h"
#include "model/model.h"
#include "server/models/served_model.h"
#include "server/passages/budget.h"
#include "server/passages/passage.h"
#include "server/service/service.h"
#include "server/text/codes/codes_find.h"
#include "server/text/marked.h"
#include "server/text/codes/reading.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#define N_TEXTS 2500      /* of each of four formats */
#define N_ALL_TEXTS 25000 /* with MT_TEST_FULL=1 */
#define MAX_SHOWN 40      /* texts that fail, of each test */

static struct mt_model *model;
static struct mt_splitter *splitter;
static struct mt_settings settings;

static void open_all(void)
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

static void close_all(void)
{
    mt_settings_finish(&settings);
    mt_splitter_destroy(splitter);
    mt_model_close(model);
}

/* How a text is translated. */
struct way {
    enum awkward_format format;
    enum mt_split split;
    bool post_edits;
};

static const char *const format_names[] = {"plain", "html", "srt", "vtt"};
static const char *const split_names[] = {
    [MT_SPLIT_ON] = "on", [MT_SPLIT_OFF] = "off", [MT_SPLIT_NEWLINES] = "newlines"};

static enum mt_status read_text(enum awkward_format format, const struct mt_text *text,
                                struct mt_coded *out, struct mt_error *err)
{
    static mt_coded_reader *const readers[] = {mt_read_plain, mt_read_html, mt_read_srt,
                                               mt_read_vtt};
    const struct mt_coded_options options = {.max_tags = 10000};
    *out = (struct mt_coded){0};
    return readers[format](text->bytes, text->length, &options, out, err);
}

/* What becomes of a text; or why it could not be translated, which no text may bring about. */
static struct mt_text translate(const struct way *way, const struct mt_text *text)
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
    enum mt_status status = mt_alignment_trace_begin(&trace, &service, &loaded, &traced, &err);
    const struct mt_passage_options options = {.plain = &plain,
                                               .traced = &traced,
                                               .trace = &trace,
                                               .protects = true,
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

/* Why a text fails; NULL: it does not. */
typedef const char *check_fn(const struct way *way, const struct mt_text *text,
                             const struct mt_text *out);

static bool is_same_text(const struct mt_text *a, const struct mt_text *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* Signs that the model cannot read as those that it is shown for them. */
static struct mt_text typewrite(const char *bytes, size_t length)
{
    struct mt_text out = {0};
    mt_text_append(&out, "", 0);
    for (size_t at = 0, n; at < length; at += n) {
        const char *as;
        if (mt_reading_at(mt_model_tokenizer(model), bytes, at, length, &n, &as) == MT_READS_AS)
            mt_text_append_string(&out, as);
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

/* To the byte; but what a model wrote is left so where nobody edits it, and where nothing has to be put
 * back into it: then the same for the model. */
static const char *check_identity(const struct way *way, const struct mt_text *text,
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
    uint32_t items[8192];
    size_t n;
};

/* A word that is said again has the capitals that it had first. */
static void add_letter(struct letters *letters, uint32_t c)
{
    UChar32 parts[MAX_PARTS];
    int32_t n = decompose(c, parts);
    ck_assert_uint_lt(letters->n + MAX_PARTS, sizeof letters->items / sizeof *letters->items);
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
        .tokenizer = mt_model_tokenizer(model), .source_lang = "en", .protects = true};
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
            bool is_kept =
                opening.length == 0 || closing.length == 0 ||
                count_hollow(bare, &opening, &closing) <= count_hollow(text, &opening, &closing);
            mt_text_finish(&opening);
            mt_text_finish(&closing);
            if (!is_kept)
                return false;
        }
    return true;
}

static const char *check_marks(const struct way *way, const struct mt_text *text,
                               const struct mt_text *out)
{
    static struct letters all, in_codes, all_out, in_codes_out, unmarked;
    struct mt_coded before, after;
    struct mt_text bare = strip(out);
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
    mt_text_finish(&bare);
    return reason;
}

/* ---- many texts ---- */

struct property {
    const char *name;
    enum fake_answer answer;
    check_fn *check;
    bool edits; /* with post-editing, too */
};

static const struct property properties[] = {
    {"identity", FAKE_IDENTITY, check_identity, true},
    {"marking", FAKE_MARKING, check_marks, false},
};

/* One text on its way. */
struct trial {
    const struct property *property;
    struct way way;
};

static const char *try_text(const struct trial *trial, const struct awkward_text *awkward,
                            struct mt_text *text, struct mt_text *out)
{
    *text = (struct mt_text){0};
    awkward_write(awkward, text);
    *out = translate(&trial->way, text);
    return trial->property->check(&trial->way, text, out);
}

static bool fails(void *context, const struct awkward_text *awkward)
{
    struct mt_text text, out;
    bool has_failed = try_text(context, awkward, &text, &out) != NULL;
    mt_text_finish(&text);
    mt_text_finish(&out);
    return has_failed;
}

/* What nobody would see as \x.. */
static void append_visible(struct mt_text *out, const struct mt_text *text)
{
    for (size_t at = 0, n; at < text->length; at += n) {
        uint32_t c = mt_utf8_decode(text->bytes + at);
        n = mt_utf8_length((unsigned char)text->bytes[at]);
        if (c == '\\')
            mt_text_append_string(out, "\\\\");
        else if (c < ' ' || (c >= 0x7F && c <= 0xA0))
            mt_text_appendf(out, "\\x%02X", (unsigned)c);
        else if ((c >= 0x300 && c < 0x370) || (c >= 0x2000 && c < 0x2010) || c >= 0xFE00 ||
                 c == 0xAD || c == 0x61C || c == 0x2060 || c == 0x202F || c == 0x3000)
            mt_text_appendf(out, "\\u{%X}", (unsigned)c);
        else
            mt_text_append(out, text->bytes + at, n);
    }
}

/* The smallest part of a text that fails, as a line of the report, unless it has that already. */
static size_t report(const struct trial *trial, struct awkward_text *awkward, struct mt_text *lines)
{
    struct mt_text text, out, line = {0};
    struct trial same = *trial;
    awkward_minimise(awkward, fails, &same);
    const char *reason = try_text(trial, awkward, &text, &out);
    mt_text_appendf(&line, "%s: [", trial->property->name);
    append_visible(&line, &text);
    mt_text_append_string(&line, "] -> [");
    append_visible(&line, &out);
    mt_text_appendf(&line, "] %s (%s", reason, format_names[trial->way.format]);
    bool is_new = !lines->bytes || !strstr(lines->bytes, line.bytes);
    mt_text_appendf(&line, ", split %s%s)\n", split_names[trial->way.split],
                    trial->way.post_edits ? ", post-edited" : "");
    if (is_new)
        mt_text_append(lines, line.bytes, line.length);
    mt_text_finish(&text);
    mt_text_finish(&out);
    mt_text_finish(&line);
    return is_new;
}

/* Of each property a run for each format. */
START_TEST(every_text_comes_back_whole)
{
    const struct property *property = &properties[_i / AWKWARD_FORMATS];
    struct trial trial = {.property = property,
                          .way = {.format = (enum awkward_format)(_i % AWKWARD_FORMATS)}};
    size_t n_texts = getenv("MT_TEST_FULL") ? N_ALL_TEXTS : N_TEXTS, n_failed = 0, n_shown = 0;
    struct mt_text lines = {0};
    fake_answer_with(property->answer);
    for (size_t i = 0; i < n_texts && n_shown < MAX_SHOWN; i++) {
        struct awkward_text awkward;
        trial.way.split = (enum mt_split)(i % (sizeof split_names / sizeof *split_names));
        trial.way.post_edits = property->edits && i % 2;
        awkward_make((uint32_t)i, trial.way.format, &awkward);
        if (!fails(&trial, &awkward))
            continue;
        n_failed++;
        n_shown += report(&trial, &awkward, &lines);
    }
    if (n_failed > 0)
        fputs(lines.bytes, stderr);
    mt_text_finish(&lines);
    ck_assert_uint_eq(n_failed, 0);
}
END_TEST

/* ---- time ---- */

/* A sanitizer takes ten times as long. */
#define LONG_BYTES (MT_IS_SANITIZED ? 20000 : 100000)
#define MAX_RATIO 3 /* of the times for a text and for half of it */
#define MAX_SECONDS 1
#define LEAST_SECONDS .25 /* the clock says nothing about less */

/* What people repeat, besides the pieces of the grammars. */
/* clang-format off */
static const char *const repeated[] = {
    "a ", "5 - ", "Hello. ", "- ", "- A. ", "1) ", "a) ", "(a", "[a] ", "*a* A ", "<", "<b>",
    "<b> ", "</b>", "<a ", "<a href=\"", "<!-- ", "{", "{{", "{x} ", "{n, plural, one {", "[",
    "[a](", "[b]", "(", "|", "| a ", "`", "```\n", "5", "5 ", "5 < ", "1.", "& ", "&lt;", "&lt;b",
    "&lt;b&gt;", "\"", "\"a\" ", "'", "\xC2\xAB ", "\xC2\xBB ", "> ", ">> A ", "# ", "#a ", "@a ",
    ":a:", "$a ", "%a%", "\\n", "a\\na", "\\\\n", "\t", "\n", "\r\n", "... ", "....", "!", "?! ",
    "_", "__a__ ", "~~", "a.b ", "a@b ", "f(1 ", "=== ", "--- ", "a = b ", "no ", "USB ",
    "5 USD ", "a_b ", "\xE2\x98\x85 ", "\xC2\xBD", "\xD0\xB0 ", "\xE6\x97\xA5", "\xE2\x80\x8B",
    "\xEF\xBB\xBF", "\xE3\x80\x90\x61", "\xF0\x9F\x98\x80", "\xCC\x81", "http://a.b ",
    "\xE2\x80\x9C", "A. a\n", "fig. 3 ", "9am ", "Tom,35,", "@:a.", "US$ 1 ", "5,5 ", "[ ] ", "___/",
    ". ", "1 2 ", "x = 1;\n", "   a", "\xE2\x80\xB9"};
/* clang-format on */
#define N_REPEATED (sizeof repeated / sizeof *repeated)

/* CPU seconds that a text takes which is nothing but the piece. */
static double time_text(const struct way *way, const char *piece, size_t length)
{
    struct mt_text text = {0};
    struct timespec begin, end;
    mt_text_append_string(&text, "A ");
    while (text.length + strlen(piece) < length)
        mt_text_append_string(&text, piece);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    struct mt_text out = translate(way, &text);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    mt_text_finish(&text);
    mt_text_finish(&out);
    return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
}

/* Once more where the machine may have been busy. */
static void check_time(const struct way *way, const char *piece)
{
    double whole = 0, half = 0;
    for (size_t n_tries = 0; n_tries < 3; n_tries++) {
        whole = time_text(way, piece, LONG_BYTES);
        if (whole < LEAST_SECONDS)
            return;
        half = time_text(way, piece, LONG_BYTES / 2);
        if (whole < MAX_RATIO * half && (whole < MAX_SECONDS || MT_IS_SANITIZED))
            return;
    }
    ck_abort_msg("%s, %s: %.2f s, and %.2f s for half of it", format_names[way->format], piece,
                 whole, half);
}

START_TEST(time_grows_with_the_length)
{
    const struct way way = {.format = (enum awkward_format)_i};
    const char *piece;
    fake_answer_with(FAKE_IDENTITY);
    for (size_t i = 0; i < N_REPEATED; i++)
        check_time(&way, repeated[i]);
    for (size_t i = 0; (piece = awkward_piece(way.format, i)); i += 3) /* which takes long enough */
        check_time(&way, piece);
}
END_TEST

Suite *suite_passage_properties(void)
{
    Suite *suite = suite_create("passage_properties");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600);
    tcase_add_unchecked_fixture(all, open_all, close_all);
    tcase_add_loop_test(all, every_text_comes_back_whole, 0,
                        (int)(sizeof properties / sizeof *properties) * AWKWARD_FORMATS);
    suite_add_tcase(suite, all);
    TCase *time = tcase_create("time");
    tcase_set_timeout(time, 600);
    tcase_add_unchecked_fixture(time, open_all, close_all);
    tcase_add_loop_test(time, time_grows_with_the_length, AWKWARD_PLAIN, AWKWARD_HTML + 1);
    suite_add_tcase(suite, time);
    return suite;
}
