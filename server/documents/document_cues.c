/*
 * Subtitles: SubRip (.srt) and WebVTT (.vtt). What one speaker says in one cue is a turn. If a
 * sentence goes on in the next cue, then the turns make one text:
 *
 *   cue 1   - Are you coming?      turn -> text 1
 *           - I think that         turn -> text 2
 *   cue 2   we should wait.        turn -> text 2
 *
 * A line of a cue that is a whole sentence, or a sound in brackets, is a turn by itself. Dashes,
 * notes, blanks and tags around a turn stay where they are. Cues whose sentences end in them are
 * translated separately, so that nobody's words appear before they are spoken.
 */
#include "base/ascii.h"
#include "base/size.h"
#include "base/vector.h"
#include "server/documents/cue_layout.h"
#include "server/documents/cue_times.h"
#include "server/documents/document_state.h"
#include "server/text/boundary.h"

#include <stdlib.h>
#include <string.h>

#include <unicode/uchar.h>

/* Most cues and bytes of a sentence that goes on, and the longest pause between two of its cues. */
#define MAX_CUES 4
#define MAX_TEXT_BYTES 600
#define MAX_PAUSE_MS 3000
/* Most tags of a text that may go on. Karaoke has one for each word. */
#define MAX_JOINED_TAGS 64

struct turn {
    size_t first_line, n_lines; /* its lines in cues.lines */
    bool shares_cue;            /* there are other turns in the cue */
};

/* A line of rolling captions that repeats the words of the one before it. */
struct repeat {
    struct mt_range range; /* bytes of the file */
    size_t line;           /* index in cues.lines of the first line with these words */
};

struct cues {
    struct turn *turns;
    size_t n_turns, turn_capacity;
    struct mt_range *lines; /* bytes of the file */
    size_t n_lines, line_capacity;
    struct repeat *repeats; /* in the file's order */
    size_t n_repeats, repeat_capacity;
    bool rolls_up;
    size_t max_chars; /* length of the longest line, but at least MT_CUE_LINE_CHARS */
    enum mt_cue_markup markup;
};

/* The cue that is being read. */
struct cue {
    int64_t begin_ms, end_ms;
    size_t first_line, n_lines; /* its lines in cues.lines */
    size_t number;              /* number of its time's line in the file */
};

struct reader {
    struct mt_document *document;
    struct cues *cues;
    struct cue cue, last;
    bool is_open; /* the last piece's sentence may go on in this cue */
    size_t n_piece_tags;
    struct mt_error *err;
};

/* ---- times ---- */

/* Reads "begin --> end", which settings may follow. */
static bool read_times(const struct mt_document *document, const struct mt_document_line *line,
                       struct cue *out)
{
    const char *at = document->bytes + line->begin, *end = document->bytes + line->end;
    bool needs_hours = document->reader->read_text == mt_read_srt;
    return mt_cue_read_times(&at, end, needs_hours, &out->begin_ms, &out->end_ms) &&
           (at == end || *at == ' ' || *at == '\t');
}

/* Whether the bytes have an arrow, which outside of a line with times could be taken for one. */
static bool has_arrow_in(const char *bytes, size_t length)
{
    return memmem(bytes, length, "-->", 3) != NULL;
}

static bool has_arrow(const struct mt_document *document, const struct mt_document_line *line)
{
    return has_arrow_in(document->bytes + line->begin, line->end - line->begin);
}

/* Whether a line was probably meant to have times: it begins with digits. */
static bool looks_like_times(const struct mt_document *document,
                             const struct mt_document_line *line)
{
    const char *at = document->bytes + line->begin, *end = document->bytes + line->end;
    at += strspn(at, " \t");
    return at < end && mt_ascii_is_digit(*at) && has_arrow(document, line);
}

static bool is_number(const struct mt_document *document, const struct mt_document_line *line)
{
    struct mt_range inner = mt_range_trim(document->bytes, line->begin, line->end);
    for (size_t i = inner.begin; i < inner.end; i++)
        if (document->bytes[i] < '0' || document->bytes[i] > '9')
            return false;
    return inner.end > inner.begin;
}

static enum mt_status fail_times(const struct mt_document *document,
                                 const struct mt_document_line *line, struct mt_error *err)
{
    return mt_document_fail(document, line, err,
                            document->reader->read_text == mt_read_srt
                                ? "is no time of a subtitle: expected 00:00:01,000 --> 00:00:02,000"
                                : "is no time of a cue: expected 00:01.000 --> 00:02.000");
}

/* ---- turns ---- */

/* Returns where the words begin. with_pairs: tags that are half of a pair are skipped, too. */
static size_t skip_before(const char *text, struct mt_range range, enum mt_cue_markup markup,
                          bool with_pairs)
{
    size_t at = range.begin;
    while (at < range.end) {
        size_t n = mt_cue_tag_length(text, range.end, at, markup);
        if (n && !with_pairs && text[at] == '<')
            break;
        if (!n)
            n = mt_cue_ornament_length(text + at, range.end - at);
        if (!n)
            n = mt_cue_dash_length(text + at, range.end - at);
        if (!n)
            break;
        at += n;
    }
    return at;
}

/* Returns where the words end. */
static size_t skip_behind(const char *text, struct mt_range range, enum mt_cue_markup markup,
                          bool with_pairs)
{
    size_t end = range.begin; /* behind the last word */
    for (size_t at = range.begin; at < range.end;) {
        size_t n = mt_cue_tag_length(text, range.end, at, markup);
        bool is_passed = n > 0 && (with_pairs || text[at] != '<');
        if (!n) {
            n = mt_cue_ornament_length(text + at, range.end - at);
            is_passed = n > 0;
        }
        if (!n)
            n = mt_char_length(text + at);
        at += n;
        if (!is_passed)
            end = at;
    }
    return end;
}

/* Returns the range of a turn's words. Tags around all of them are left out, unless only one of a
 * pair would be. */
static struct mt_range find_words(const struct cues *cues, const char *text, struct mt_range range)
{
    struct mt_cue_tags tags;
    for (int with_pairs = 1; with_pairs >= 0; with_pairs--) {
        struct mt_range inner = {skip_before(text, range, cues->markup, with_pairs), range.end};
        inner.end = mt_size_max(inner.begin, skip_behind(text, inner, cues->markup, with_pairs));
        mt_cue_tags_find(text + inner.begin, inner.end - inner.begin, cues->markup, &tags);
        if (tags.n_halves == 0 || !with_pairs)
            return inner;
    }
    return range;
}

/* Whether there is something to be translated. */
static bool has_words(const struct cues *cues, const char *text, struct mt_range range)
{
    for (size_t at = range.begin; at < range.end;) {
        size_t n = mt_cue_tag_length(text, range.end, at, cues->markup);
        if (!n && u_isalpha((UChar32)mt_utf8_decode(text + at)))
            return true;
        at += n ? n : mt_char_length(text + at);
    }
    return false;
}

/* ---- sentences that go on ---- */

/* Returns the last character of a range, except quotation marks and tags. */
static uint32_t last_char(const struct cues *cues, const char *text, struct mt_range range)
{
    uint32_t last = 0;
    for (size_t at = range.begin; at < range.end;) {
        size_t n = mt_cue_tag_length(text, range.end, at, cues->markup);
        uint32_t c = mt_utf8_decode(text + at);
        if (!n && !mt_is_space(c) && c != '"' && c != '\'' && c != 0x201D && c != 0x2019 &&
            c != 0x201C && c != 0xBB && c != 0xAB)
            last = c;
        at += n ? n : mt_char_length(text + at);
    }
    return last;
}

/* Whether the character ends a sentence, or shows that it is broken off: full stops of all kinds,
 * brackets, ellipses, dashes. */
static bool ends_sentence(uint32_t c)
{
    static const uint32_t ends[] = {'.',    '!',    '?',    ':',    ')',    ']',    '-',
                                    0x2026, 0x2014, 0x2013, 0x3002, 0xFF01, 0xFF1F, 0x61F,
                                    0x964,  0x266A, 0x266B, '>',    '*',    0};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (c == ends[i])
            return true;
    return false;
}

/* Returns the first character of the words, except quotation marks and tags. */
static uint32_t first_char(const struct cues *cues, const char *text, struct mt_range range)
{
    for (size_t at = range.begin; at < range.end;) {
        size_t n = mt_cue_tag_length(text, range.end, at, cues->markup);
        uint32_t c = mt_utf8_decode(text + at);
        if (!n && c != '"' && c != '\'' && c != 0x201C && c != 0x2018 && c != 0xAB && c != 0xBB)
            return c;
        at += n ? n : mt_char_length(text + at);
    }
    return 0;
}

/* Whether the words begin with the English "I", which is always a capital. */
static bool is_lonely_i(const char *text, struct mt_range range)
{
    return text[range.begin] == 'I' &&
           (range.end == range.begin + 1 || strchr(" '", text[range.begin + 1]) ||
            text[range.begin + 1] == '\n' || text[range.begin + 1] == '\r');
}

/* Whether the words continue the sentence of the last piece, which only punctuation can show. */
static bool sentence_continues(const struct reader *reader, struct mt_range words, size_t n_tags,
                               const struct mt_document_piece *piece)
{
    const char *text = reader->document->bytes;
    int64_t pause_ms = reader->cue.begin_ms - reader->last.end_ms;
    bool has_room = piece->n < MAX_CUES &&
                    piece->text.length + words.end - words.begin <= MAX_TEXT_BYTES &&
                    reader->n_piece_tags + n_tags <= MAX_JOINED_TAGS;
    if (!has_room || pause_ms > MAX_PAUSE_MS)
        return false;
    uint32_t last =
        last_char(reader->cues, piece->text.bytes, (struct mt_range){0, piece->text.length});
    if (ends_sentence(last))
        return false;
    uint32_t first = first_char(reader->cues, text, words);
    return last == ',' || u_islower((UChar32)first) || is_lonely_i(text, words);
}

/* ---- building ---- */

static enum mt_status add_turn(struct reader *reader, size_t first_line, size_t n_lines)
{
    struct cues *cues = reader->cues;
    if (MT_ROOM(&cues->turns, &cues->turn_capacity, cues->n_turns + 1, "parts of a file",
                reader->err))
        return MT_MEMORY;
    cues->turns[cues->n_turns++] = (struct turn){.first_line = first_line, .n_lines = n_lines};
    return MT_OK;
}

static enum mt_status add_line(struct reader *reader, struct mt_range line)
{
    struct cues *cues = reader->cues;
    if (MT_ROOM(&cues->lines, &cues->line_capacity, cues->n_lines + 1, "parts of a file",
                reader->err))
        return MT_MEMORY;
    cues->lines[cues->n_lines++] = line;
    return MT_OK;
}

/* Shortens the lines [first, end) to the words and leaves out those that have none. Returns how
 * many are left, from first on. */
static size_t trim_lines(struct cues *cues, const char *text, size_t first, size_t end,
                         struct mt_range words)
{
    size_t n = 0;
    for (size_t i = first; i < end; i++) {
        struct mt_range line = {mt_size_max(cues->lines[i].begin, words.begin),
                                mt_size_min(cues->lines[i].end, words.end)};
        if (line.begin >= line.end)
            continue;
        line = mt_range_trim(text, line.begin, line.end);
        if (line.begin == line.end)
            continue;
        cues->lines[first + n++] = line;
        size_t n_chars = mt_cue_chars(text + line.begin, line.end - line.begin, cues->markup);
        cues->max_chars = mt_size_max(cues->max_chars, n_chars);
    }
    return n;
}

static enum mt_status fail_tags(const struct reader *reader)
{
    return mt_fail(reader->err, MT_LIMIT, "line %zu: the cue has more than %d tags",
                   reader->cue.number, MT_MAX_CUE_TAGS);
}

/* Adds the lines [first, end), which one speaker says in this cue. */
static enum mt_status end_turn(struct reader *reader, size_t first, size_t end, bool is_answer)
{
    struct mt_document *document = reader->document;
    struct cues *cues = reader->cues;
    struct mt_cue_tags tags;
    struct mt_range range = {cues->lines[first].begin, cues->lines[end - 1].end};
    struct mt_range words = find_words(cues, document->bytes, range);
    size_t n_lines = trim_lines(cues, document->bytes, first, end, words);
    struct mt_document_piece *piece = NULL;
    enum mt_status status = MT_OK;
    /* An arrow may begin outside of the words and end among them. */
    bool has_arrow = has_arrow_in(document->bytes + range.begin, range.end - range.begin);
    if (n_lines == 0 || has_arrow || !has_words(cues, document->bytes, words)) {
        reader->is_open = false;
        return MT_OK;
    }
    range = (struct mt_range){cues->lines[first].begin, cues->lines[first + n_lines - 1].end};
    if (!mt_cue_tags_find(document->bytes + range.begin, range.end - range.begin, cues->markup,
                          &tags))
        return fail_tags(reader);
    if (reader->is_open && !is_answer &&
        sentence_continues(reader, words, tags.n, &document->pieces[document->n - 1])) {
        piece = &document->pieces[document->n - 1];
        piece->range.end = range.end;
        reader->n_piece_tags += tags.n;
    } else {
        status = mt_document_add(document, range, &piece, reader->err);
        if (status)
            return status;
        piece->first = cues->n_turns;
        piece->line = reader->cue.number;
        reader->n_piece_tags = tags.n;
    }
    piece->n++;
    reader->is_open = true;
    for (size_t i = first; i < first + n_lines; i++) {
        mt_text_append(&piece->text, " ", piece->text.length > 0);
        if (cues->rolls_up)
            mt_cue_append_words(document->bytes, cues->lines[i], &piece->text);
        else
            mt_document_append(document, cues->lines[i], &piece->text);
    }
    return add_turn(reader, first, n_lines);
}

static bool begins_with_dash(const struct cues *cues, const char *text, struct mt_range line)
{
    size_t at = line.begin;
    while (at < line.end) {
        size_t n = mt_cue_tag_length(text, line.end, at, cues->markup);
        if (!n)
            n = mt_cue_ornament_length(text + at, line.end - at);
        if (!n)
            break;
        at += n;
    }
    return mt_cue_dash_length(text + at, line.end - at) > 0;
}

/* Whether the line begins with ">>", with which live captions mark another speaker. */
static bool begins_with_arrows(const char *text, struct mt_range line)
{
    static const char arrows[] = ">>", entities[] = "&gt;&gt;";
    struct mt_range inner = mt_range_trim(text, line.begin, line.end);
    size_t n = inner.end - inner.begin;
    return (n >= strlen(arrows) && memcmp(text + inner.begin, arrows, strlen(arrows)) == 0) ||
           (n >= strlen(entities) && memcmp(text + inner.begin, entities, strlen(entities)) == 0);
}

/* Whether one tag is around the whole line. */
static bool is_in_tag(const struct cues *cues, const char *text, struct mt_range line)
{
    struct mt_cue_tags tags;
    struct mt_range inner = mt_range_trim(text, line.begin, line.end);
    size_t length = inner.end - inner.begin;
    if (!mt_cue_tags_find(text + inner.begin, length, cues->markup, &tags) || tags.n < 2)
        return false;
    const struct mt_cue_tag *first = &tags.items[0];
    return first->begin == 0 && first->mate == tags.n - 1 && tags.items[first->mate].end == length;
}

static bool ends_line(uint32_t c)
{
    return c == '.' || c == '!' || c == '?' || c == ']' || c == ')' || c == 0x2026 || c == 0x3002 ||
           c == 0xFF01 || c == 0xFF1F || c == 0x61F || c == 0x964 || c == 0x266A || c == 0x266B;
}

/* Whether a line begins another text than the line before it: another speaker, or a new
 * sentence. */
static bool begins_turn(const struct cues *cues, const char *text, struct mt_range before,
                        struct mt_range line)
{
    if (begins_with_dash(cues, text, line) || begins_with_arrows(text, line) ||
        (is_in_tag(cues, text, before) && is_in_tag(cues, text, line)))
        return true;
    struct mt_range inner = mt_range_trim(text, line.begin, line.end);
    return ends_line(last_char(cues, text, before)) && inner.begin < inner.end &&
           !u_islower((UChar32)first_char(cues, text, inner)) &&
           !mt_boundary_is_false(text, inner.end, inner.begin, NULL);
}

/* Takes the lines [*first, end) in which rolling captions repeat the last piece, and moves *first
 * behind them. */
static enum mt_status take_repeats(struct reader *reader, size_t *first, size_t end)
{
    const char *text = reader->document->bytes;
    struct cues *cues = reader->cues;
    const struct turn *last = cues->n_turns > 0 ? &cues->turns[cues->n_turns - 1] : NULL;
    for (; last && *first < end; ++*first) {
        size_t line = last->first_line + last->n_lines - 1;
        struct mt_range range = cues->lines[*first];
        range = mt_range_trim(text, range.begin, range.end);
        if (range.begin == range.end)
            continue;
        if (!mt_cue_repeats(text, cues->lines[line], range))
            return MT_OK;
        if (MT_ROOM(&cues->repeats, &cues->repeat_capacity, cues->n_repeats + 1, "parts of a file",
                    reader->err))
            return MT_MEMORY;
        cues->repeats[cues->n_repeats++] = (struct repeat){range, line};
        reader->document->pieces[reader->document->n - 1].range.end = range.end;
    }
    return MT_OK;
}

static enum mt_status end_cue(struct reader *reader)
{
    const char *text = reader->document->bytes;
    struct cues *cues = reader->cues;
    size_t first = reader->cue.first_line, end = first + reader->cue.n_lines;
    enum mt_status status = MT_OK;
    size_t first_turn = cues->n_turns;
    if (first == end)
        reader->is_open = false;
    if (cues->rolls_up)
        status = take_repeats(reader, &first, end);
    for (size_t i = first; i < end && !status;) {
        bool is_answer = begins_with_dash(cues, text, cues->lines[i]);
        size_t next = i + 1;
        while (next < end && !begins_turn(cues, text, cues->lines[next - 1], cues->lines[next]))
            next++;
        status = end_turn(reader, i, next, is_answer || i > first);
        i = next;
    }
    for (size_t i = first_turn; i < cues->n_turns; i++)
        cues->turns[i].shares_cue = cues->n_turns - first_turn > 1;
    reader->last = reader->cue;
    return status;
}

static void begin_cue(struct reader *reader, const struct mt_document_line *line)
{
    reader->cue.first_line = reader->cues->n_lines;
    reader->cue.n_lines = 0;
    reader->cue.number = line->number;
}

static enum mt_status add_cue_line(struct reader *reader, const struct mt_document_line *line)
{
    reader->cue.n_lines++;
    return add_line(reader, (struct mt_range){line->begin, line->end});
}

/* ---- SubRip ---- */

static bool is_at_times(const struct mt_document *document, const struct mt_document_line *line)
{
    struct cue unused;
    return read_times(document, line, &unused);
}

/* Whether a subtitle begins with this line: its number, or its time where that is missing. */
static bool is_beginning(const struct mt_document *document, const struct mt_document_line *line)
{
    struct mt_document_line next = *line;
    if (is_at_times(document, line))
        return true;
    return is_number(document, line) && mt_document_next_line(document, &next) &&
           is_at_times(document, &next);
}

/* Reads from the number to the last line of text. Blank lines belong to the text where it goes on
 * behind them, which is frequent. line is the first one, and becomes the one behind the
 * subtitle. */
static enum mt_status read_subtitle(struct reader *reader, struct mt_document_line *line,
                                    bool *has_line)
{
    struct mt_document *document = reader->document;
    struct mt_document_line times = *line;
    enum mt_status status = MT_OK;
    if (is_number(document, line) && !mt_document_next_line(document, &times))
        return mt_document_fail(document, line, reader->err,
                                "is the last line: expected the time of a subtitle");
    if (!read_times(document, &times, &reader->cue)) {
        if (times.number > line->number || looks_like_times(document, &times))
            return fail_times(document, &times, reader->err);
        return mt_document_fail(document, line, reader->err,
                                "begins no subtitle: expected its number or its time");
    }
    *line = times;
    begin_cue(reader, &times);
    while ((*has_line = mt_document_next_line(document, line)) && !status) {
        if (mt_document_is_blank(document, line->begin, line->end))
            continue;
        if (is_beginning(document, line))
            break;
        if (looks_like_times(document, line))
            return fail_times(document, line, reader->err);
        status = add_cue_line(reader, line);
    }
    return status ? status : end_cue(reader);
}

static enum mt_status read_srt(struct reader *reader)
{
    struct mt_document_line line = {.next = reader->document->begin};
    enum mt_status status = MT_OK;
    bool has_line = mt_document_next_line(reader->document, &line);
    while (has_line && !status) {
        if (mt_document_is_blank(reader->document, line.begin, line.end))
            has_line = mt_document_next_line(reader->document, &line);
        else
            status = read_subtitle(reader, &line, &has_line);
    }
    return status;
}

/* ---- WebVTT ---- */

static bool begins_with(const struct mt_document *document, const struct mt_document_line *line,
                        const char *word)
{
    size_t n = strlen(word);
    return line->end - line->begin >= n && memcmp(document->bytes + line->begin, word, n) == 0 &&
           (line->end - line->begin == n || strchr(" \t", document->bytes[line->begin + n]));
}

static bool is_blank_line(const struct mt_document *document, const struct mt_document_line *line)
{
    return line->begin == line->end;
}

/* Reads a cue, or a comment, style or region, which are not translated, up to the next blank line.
 * line is its first one. */
static enum mt_status read_block(struct reader *reader, struct mt_document_line *line)
{
    struct mt_document *document = reader->document;
    enum mt_status status = MT_OK;
    bool is_note = begins_with(document, line, "NOTE") || begins_with(document, line, "STYLE") ||
                   begins_with(document, line, "REGION");
    bool is_cue = false;
    size_t first = line->number;
    do {
        if (is_blank_line(document, line))
            break;
        bool is_head = !is_note && !is_cue && line->number <= first + 1;
        if (is_head && has_arrow(document, line)) {
            if (!read_times(document, line, &reader->cue))
                return fail_times(document, line, reader->err);
            begin_cue(reader, line);
            is_cue = true;
        } else if (is_cue && is_at_times(document, line)) { /* the blank line is missing */
            status = end_cue(reader);
            read_times(document, line, &reader->cue);
            begin_cue(reader, line);
        } else if (is_cue) {
            status = add_cue_line(reader, line);
        }
    } while (!status && mt_document_next_line(document, line));
    return status || !is_cue ? status : end_cue(reader);
}

static enum mt_status read_vtt(struct reader *reader)
{
    struct mt_document *document = reader->document;
    struct mt_document_line line = {.next = document->begin};
    enum mt_status status = MT_OK;
    if (!mt_document_next_line(document, &line) || !begins_with(document, &line, "WEBVTT"))
        return mt_document_fail(document, &line, reader->err,
                                "begins no WebVTT file: expected WEBVTT");
    while (mt_document_next_line(document, &line) && !is_blank_line(document, &line))
        if (is_at_times(document, &line)) { /* the blank line is missing */
            status = read_block(reader, &line);
            break;
        }
    while (!status && mt_document_next_line(document, &line))
        if (!is_blank_line(document, &line))
            status = read_block(reader, &line);
    return status;
}

/* ---- both ---- */

static void finish_cues(void *own)
{
    struct cues *cues = own;
    free(cues->turns);
    free(cues->lines);
    free(cues->repeats);
    free(cues);
}

static enum mt_status read_cues(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    struct cues *cues = calloc(1, sizeof *cues);
    if (!cues)
        return mt_fail_memory(err, sizeof *cues, "a file");
    document->own = cues;
    cues->max_chars = MT_CUE_LINE_CHARS;
    cues->markup = options->format == MT_DOCUMENT_SRT ? MT_CUES_SRT : MT_CUES_VTT;
    cues->rolls_up = cues->markup == MT_CUES_VTT &&
                     mt_cue_rolls_up(document->bytes, document->begin, document->length);
    struct reader reader = {.document = document, .cues = cues, .err = err};
    return options->format == MT_DOCUMENT_SRT ? read_srt(&reader) : read_vtt(&reader);
}

/* ---- writing ---- */

struct writing {
    const struct mt_document *document;
    const struct turn *turns; /* of the piece */
    const struct mt_range *lines;
    const struct repeat *repeats; /* the next ones; NULL: there are none */
    struct mt_range *written;     /* ranges of out, for each of the piece's lines */
    size_t first_line, n_repeats;
    struct mt_text *out;
    size_t at;   /* position in the file up to which bytes are handled */
    size_t slot; /* the turn that was written last */
    bool has_any;
};

/* Whether the text and these bytes together make "-->", which programs would take for a line with
 * times. */
static bool makes_arrow(const struct mt_text *text, const char *bytes, size_t length)
{
    const char *end = text->bytes + text->length;
    return (length >= 1 && text->length >= 2 && memcmp(end - 2, "--", 2) == 0 && bytes[0] == '>') ||
           (length >= 2 && text->length >= 1 && end[-1] == '-' && memcmp(bytes, "->", 2) == 0);
}

/* Appends the bytes, after a blank where they would make an arrow together with those before
 * them. */
static void append(struct writing *writing, const char *bytes, size_t length)
{
    if (makes_arrow(writing->out, bytes, length))
        mt_text_append(writing->out, " ", 1);
    mt_text_append(writing->out, bytes, length);
}

/* Copies the file up to `end`. Lines that repeat others repeat their translation. */
static void copy_until(struct writing *writing, size_t end)
{
    const char *bytes = writing->document->bytes;
    for (; writing->n_repeats > 0 && writing->repeats->range.end <= end;
         writing->repeats++, writing->n_repeats--) {
        const struct mt_range range = writing->repeats->range;
        const struct mt_range line = writing->written[writing->repeats->line - writing->first_line];
        append(writing, bytes + writing->at, range.begin - writing->at);
        mt_text_append_own(writing->out, line.begin, line.end - line.begin);
        writing->at = range.end;
    }
    append(writing, bytes + writing->at, end - writing->at);
    writing->at = end;
}

/* Skips the words of turns up to this one, and copies what stands between them. */
static void go_to(struct writing *writing, size_t slot)
{
    for (; writing->slot < slot; writing->slot++) {
        const struct turn *done = &writing->turns[writing->slot];
        writing->at = writing->lines[done->first_line + done->n_lines - 1].end;
        copy_until(writing, writing->lines[writing->turns[writing->slot + 1].first_line].begin);
    }
}

static void write_line(void *context, size_t slot, size_t line, const char *bytes, size_t length)
{
    struct writing *writing = context;
    const struct turn *turn = &writing->turns[slot];
    size_t last = mt_size_min(line, turn->n_lines - 1);
    struct mt_range *written = &writing->written[turn->first_line + last - writing->first_line];
    go_to(writing, slot);
    if (line > 0 && line < turn->n_lines) {
        writing->at = writing->lines[turn->first_line + line - 1].end;
        copy_until(writing, writing->lines[turn->first_line + line].begin);
    } else if (line > 0) {
        mt_text_append_string(writing->out, writing->document->line_end);
    }
    if (line == last)
        written->begin = writing->out->length;
    append(writing, bytes, length);
    written->end = writing->out->length;
}

static void free_slots(struct mt_cue_slot *slots, size_t *n_chars, struct mt_range *written)
{
    free(slots);
    free(n_chars);
    free(written);
}

/* Returns the first repeat of this line or a later one. */
static size_t find_repeat(const struct cues *cues, size_t line)
{
    size_t begin = 0, end = cues->n_repeats;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (cues->repeats[middle].line < line)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static bool write_cues(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out)
{
    const struct cues *cues = document->own;
    if (has_arrow_in(translation, length))
        return false;
    bool is_same = length == piece->text.length && !memchr(translation, '<', length) &&
                   memcmp(translation, piece->text.bytes, length) == 0;
    if (is_same) { /* its lines may end anywhere */
        mt_document_append(document, piece->range, out);
        return true;
    }
    const struct turn *turns = cues->turns + piece->first, *last = &turns[piece->n - 1];
    size_t first_line = turns->first_line, end_line = last->first_line + last->n_lines;
    struct mt_cue_slot *slots = calloc(piece->n, sizeof *slots);
    size_t *n_chars = calloc(end_line - first_line, sizeof *n_chars);
    struct mt_range *written = calloc(end_line - first_line, sizeof *written);
    size_t repeat = find_repeat(cues, first_line);
    struct writing writing = {.document = document,
                              .turns = turns,
                              .lines = cues->lines,
                              .repeats = cues->n_repeats > 0 ? cues->repeats + repeat : NULL,
                              .n_repeats = cues->n_repeats - repeat,
                              .written = written,
                              .first_line = first_line,
                              .out = out,
                              .at = piece->range.begin};
    if (!slots || !n_chars || !written) {
        out->status = MT_MEMORY;
        free_slots(slots, n_chars, written);
        return true;
    }
    for (size_t i = first_line; i < end_line; i++)
        n_chars[i - first_line] =
            mt_cue_chars(document->bytes + cues->lines[i].begin,
                         cues->lines[i].end - cues->lines[i].begin, cues->markup);
    for (size_t i = 0; i < piece->n; i++)
        slots[i] = (struct mt_cue_slot){.line_chars = n_chars + (turns[i].first_line - first_line),
                                        .n_lines = turns[i].n_lines,
                                        .shares_cue = turns[i].shares_cue};
    const struct mt_cue_layout layout = {.text = translation,
                                         .length = length,
                                         .markup = cues->markup,
                                         .slots = slots,
                                         .n_slots = piece->n,
                                         .max_chars = cues->max_chars};
    if (mt_cue_layout(&layout, write_line, &writing, NULL) != MT_OK)
        out->status = MT_MEMORY;
    go_to(&writing, piece->n - 1);
    size_t end = piece->range.end;
    writing.at = cues->lines[end_line - 1].end;
    copy_until(&writing, end);
    if (makes_arrow(out, document->bytes + end, document->length - end))
        mt_text_append(out, " ", 1);
    free_slots(slots, n_chars, written);
    return true;
}

const struct mt_document_reader mt_document_srt_reader = {
    .read_text = mt_read_srt, .read = read_cues, .write = write_cues, .finish = finish_cues};
const struct mt_document_reader mt_document_vtt_reader = {
    .read_text = mt_read_vtt, .read = read_cues, .write = write_cues, .finish = finish_cues};
