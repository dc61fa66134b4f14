/* Finds whole lines that are no text, and marks at the beginning of lines. */
#include "server/text/accelerator.h"
#include "server/text/codes/codes_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <unicode/uchar.h>

/* Most marks one behind the other, as in "> - [ ] ". */
#define MAX_MARKS 8
#define MAX_NOTE_BYTES 80
/* Most bytes of a box to be ticked or filled in. */
#define MAX_BOX_BYTES 40
/* Most bytes of a word with an accelerator in it. */
#define MAX_ACCELERATED_BYTES 32
/* Most words of the name in a notice of copyright. */
#define MAX_NOTICE_WORDS 6
/* Fewest blanks that separate two columns, such as "Cancel" and "OK", instead of two sentences. */
#define LEAST_COLUMN_BLANKS 3

static size_t count(const struct mt_codes_finder *finder, size_t begin, size_t end, char c)
{
    size_t n = 0;
    while (begin + n < end && finder->text[begin + n] == c)
        n++;
    return n;
}

/* ---- fences of code ---- */

/* Returns how many backticks or tildes fence a block of code. */
static size_t fence_of(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    char c = mt_codes_char(finder, line->begin);
    size_t n = c == '`' || c == '~' ? count(finder, line->begin, line->end, c) : 0;
    return n >= 3 && !memchr(finder->text + line->begin + n, c, line->end - line->begin - n) ? n
                                                                                             : 0;
}

/* Takes the block from the opening fence to the closing one, if there is one. Returns where it
 * ends. */
static size_t take_fenced(struct mt_codes_finder *finder, const struct mt_range *open,
                          size_t *no_more)
{
    size_t n = fence_of(finder, open);
    if (!n || open->begin >= *no_more)
        return 0;
    for (size_t at = mt_codes_line_end(finder, open->begin); at < finder->length;) {
        size_t next = mt_codes_next(finder, at), end = mt_codes_line_end(finder, next);
        struct mt_range inner = mt_range_trim(finder->text, next, end);
        size_t n_close = count(finder, inner.begin, inner.end, finder->text[open->begin]);
        if (n_close >= n && inner.begin + n_close == inner.end) {
            mt_codes_claim(finder, MT_CODE_EDGE, open->begin, inner.end);
            return end;
        }
        at = end;
    }
    /* no later fence is closed either, because its end would close this one, too */
    *no_more = open->begin;
    return 0;
}

/* ---- lines without words ---- */

static size_t match_time(const char *text, size_t begin, size_t end)
{
    size_t at = begin, n_groups = 0;
    while (at < end && mt_codes_is_digit((unsigned char)text[at])) {
        size_t from = at;
        while (at < end && mt_codes_is_digit((unsigned char)text[at]))
            at++;
        if (at - from > 3)
            return 0;
        n_groups++;
        if (at + 1 < end && mt_codes_is_one_of(text[at], ":,."))
            at++;
    }
    return n_groups >= 3 ? at - begin : 0;
}

/* Whether the line has two times, as in 00:00:01,000 --> 00:00:02,000, perhaps with WebVTT's
 * settings behind them. */
static bool is_timing(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    const char *text = finder->text;
    size_t n = match_time(text, line->begin, line->end);
    size_t at = mt_codes_skip_blanks(finder, line->begin + n, line->end);
    if (!n || line->end - at < 3 || memcmp(text + at, "-->", 3) != 0)
        return false;
    at = mt_codes_skip_blanks(finder, at + 3, line->end);
    return match_time(text, at, line->end) > 0;
}

/* Whether the line is a rule: |---|:-:| below the head of a Markdown table, or ::: around a
 * block. */
static bool is_rule(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    size_t n_dashes = 0, n_bars = 0;
    if (line->end - line->begin >= 3 && memcmp(finder->text + line->begin, ":::", 3) == 0)
        return !memchr(finder->text + line->begin, ' ', line->end - line->begin);
    for (size_t i = line->begin; i < line->end; i++) {
        char c = finder->text[i];
        if (!mt_codes_is_one_of(c, "|-:+= \t"))
            return false;
        n_dashes += c == '-' || c == '=';
        n_bars += c == '|' || c == '+';
    }
    return n_dashes >= 3 && n_bars > 0;
}

/* Returns the length of a chord: C, F#m, Bb7, Gsus4, D/F#. */
static size_t match_chord(const char *text, size_t begin, size_t end)
{
    static const char *const kinds[] = {"maj", "min", "dim", "aug", "sus", "add", "m"};
    size_t at = begin;
    if (at == end || text[at] < 'A' || text[at] > 'G')
        return 0;
    at++;
    at += at < end && mt_codes_is_one_of(text[at], "#b");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t n = strlen(kinds[k]);
        at += end - at >= n && memcmp(text + at, kinds[k], n) == 0 ? n : 0;
    }
    while (at < end && mt_codes_is_digit((unsigned char)text[at]))
        at++;
    if (at + 1 < end && text[at] == '/' && text[at + 1] >= 'A' && text[at + 1] <= 'G')
        at += at + 2 < end && mt_codes_is_one_of(text[at + 2], "#b") ? 3 : 2;
    return at - begin;
}

/* Whether the line is chords, such as Am F C G, which may have bars between them. Am alone is a
 * word. */
static bool is_chords(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    size_t n_chords = 0;
    for (size_t i = line->begin, n; i < line->end; i += n) {
        n = 1;
        if (mt_codes_is_one_of(finder->text[i], " |\t-"))
            continue;
        n = match_chord(finder->text, i, line->end);
        bool is_one =
            n > 0 && (i + n == line->end || mt_codes_is_one_of(finder->text[i + n], " |\t-"));
        if (!is_one)
            return false;
        n_chords++;
    }
    return n_chords >= 3;
}

/* ---- marks at the beginning ---- */

size_t mt_codes_before_blank(const struct mt_codes_finder *finder, const struct mt_range *line,
                             size_t n)
{
    size_t at = line->begin + n;
    if (!n || at >= line->end || !mt_codes_is_blank(mt_codes_at(finder, at)))
        return 0;
    return n;
}

/* Returns the length of a bullet: - * + • – and the like, which may be alone in a line. Before a
 * letter without a blank a dash tells of a speaker. */
static size_t match_bullet(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const uint32_t bullets[] = {'-',    '*',    '+',    0x2022, 0x2013, 0x2014,
                                       0x2015, 0xB7,   0x2023, 0x25AA, 0x25AB, 0x25CF,
                                       0x25CB, 0x25E6, 0x2212, 0x30FB, 0x25A0, 0x25A1,
                                       0x2043, 0x27A2, 0x25B8, 0x25B6, 0x25BA, 0x276F};
    uint32_t c = mt_codes_at(finder, line->begin);
    for (size_t i = 0; i < sizeof bullets / sizeof *bullets; i++) {
        size_t n = mt_codes_next(finder, line->begin) - line->begin;
        if (c != bullets[i])
            continue;
        if (line->begin + n == line->end || mt_codes_before_blank(finder, line, n))
            return n;
        uint32_t behind = mt_codes_at(finder, line->begin + n);
        bool is_dash = c == '-' || (c >= 0x2010 && c <= 0x2015);
        bool is_bullet = c > 0x2015 || c == 0xB7;
        uint32_t second =
            behind == '\n' ? behind : mt_codes_at(finder, mt_codes_next(finder, line->begin + n));
        bool is_said =
            u_isupper((UChar32)behind) && (mt_codes_is_letter(second) || second == '\'' ||
                                           second == 0x2019 || behind == 'I' || second == '.');
        return (is_dash && is_said) || (is_bullet && mt_codes_is_letter(behind)) ? n : 0;
    }
    return 0;
}

/* Whether the language writes ordinal numbers with a full stop. */
static bool has_ordinals(const char *language)
{
    static const char *const languages[] = {"de", "da", "fi", "nb", "nn", "no", "cs", "sk", "sl",
                                            "hr", "sr", "bs", "pl", "hu", "et", "lv", "is", "tr"};
    for (size_t i = 0; language && i < sizeof languages / sizeof *languages; i++)
        if (strncmp(language, languages[i], 2) == 0 && !mt_ascii_is_letter(language[2]))
            return true;
    return false;
}

/* Whether the line below or above begins with the neighbouring letter, as "B. No" below "A. Yes":
 * then it is no initial of a name. */
static bool has_next_letter(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    const char *text = finder->text;
    size_t end = mt_codes_line_end(finder, line->end), before = line->begin;
    size_t next =
        end < finder->length ? mt_codes_skip_blanks(finder, end + 1, finder->length) : end;
    if (mt_codes_char(finder, next) == text[line->begin] + 1 &&
        mt_codes_char(finder, next + 1) == '.')
        return true;
    while (before > 0 && line->begin - before < MAX_NOTE_BYTES && text[before - 1] != '\n')
        before--;
    for (before -= before > 0;
         before > 0 && line->begin - before < 2 * MAX_NOTE_BYTES && text[before - 1] != '\n';)
        before--;
    return text[before] == text[line->begin] - 1 && text[before + 1] == '.';
}

/* Returns where a Roman number of at least two small letters or capitals ends, below 40; `at`: there
 * is none. */
static size_t roman_end(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    static const char *const ones[] = {"iii", "ii", "iv", "ix", "viii", "vii", "vi", "i", "v"};
    char word[8] = {0};
    size_t n = 0, k = 0;
    while (at + n < end && n < sizeof word - 1 && mt_ascii_is_letter(finder->text[at + n])) {
        word[n] = (char)(finder->text[at + n] | 0x20);
        n++;
    }
    const char *rest = word + strspn(word, "x");
    bool is_one = n >= 2 && rest - word <= 3 && *rest == '\0';
    for (; k < sizeof ones / sizeof *ones && n >= 2 && rest - word <= 3; k++)
        is_one = is_one || strcmp(rest, ones[k]) == 0;
    return is_one ? at + n : at;
}

/* Returns the length of a list's number: 1. 2) (3) a) iv), a number in a circle or raised and,
 * before a capital, a. and iv. */
static size_t match_list_number(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    uint32_t first = mt_codes_at(finder, line->begin);
    bool is_raised = first == 0xB9 || first == 0xB2 || first == 0xB3;
    if ((first >= 0x2460 && first <= 0x2473) || (first >= 0x2776 && first <= 0x2793) || is_raised)
        return mt_codes_before_blank(finder, line,
                                     mt_codes_next(finder, line->begin) - line->begin);
    size_t at = line->begin + (mt_codes_char(finder, line->begin) == '('), from = at;
    bool is_bracketed = at > line->begin;
    while (at < line->end && at - from < 3 && mt_codes_digit_at(finder, at))
        at++;
    bool is_number = at > from;
    if (!is_number)
        at = roman_end(finder, from, line->end);
    bool is_roman = !is_number && at > from;
    if (!is_number && !is_roman && mt_ascii_is_letter(mt_codes_char(finder, at)))
        at++;
    char mark = mt_codes_char(finder, at);
    bool is_list = mark == ')' || (mark == '.' && !is_bracketed && is_number &&
                                   !has_ordinals(finder->options->source_lang));
    bool is_small = finder->text[from] >= 'a' || is_roman || has_next_letter(finder, line);
    bool is_letter = mark == '.' && !is_bracketed && !is_number && is_small &&
                     u_isupper((UChar32)mt_codes_at(finder, at + 2));
    if (at == from || !(is_list || is_letter))
        return 0;
    bool is_glued = mark == ')' && u_isupper((UChar32)mt_codes_at(finder, at + 1)) &&
                    u_islower((UChar32)mt_codes_at(finder, at + 2)); /* 1)Hello */
    return is_glued ? at + 1 - line->begin
                    : mt_codes_before_blank(finder, line, at + 1 - line->begin);
}

/* Returns the length of a section's number before a title: "1.1 Introduction"; but "1.5 Liters" is an
 * amount. */
static size_t match_section(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char *const units[] = {
        "Liters",  "Litres", "Miles",   "Stars",  "Meters",  "Metres", "Hours",   "Million",
        "Billion", "Inches", "Points",  "Pounds", "Cups",    "Ounces", "Gallons", "Percent",
        "Years",   "Days",   "Minutes", "Months", "Weeks",   "Feet",   "Seconds", "Trillion",
        "Star",    "Mbit",   "Stunden", "Euro",   "Dollars", "Euros",  NULL};
    size_t at = line->begin, n_parts = 0, n = 0;
    for (;; at++, n_parts++) {
        for (n = 0; n < 3 && mt_codes_digit_at(finder, at); n++)
            at++;
        if (n == 0 || n > 2)
            return 0;
        if (mt_codes_char(finder, at) != '.')
            break;
    }
    size_t word = at + 1, end = word;
    while (mt_ascii_is_letter(mt_codes_char(finder, end)))
        end++;
    bool is_title = n_parts == 1 && mt_codes_char(finder, at) == ' ' && end - word > 2 &&
                    mt_ascii_is_capital(finder->text[word]) &&
                    mt_ascii_is_small(finder->text[word + 1]) && mt_codes_is_english(finder) &&
                    !mt_codes_is_among(units, finder->text + word, end - word) &&
                    !mt_codes_is_one_of(finder->text[line->end - 1], ".!?");
    return is_title ? at - line->begin : 0;
}

/* Returns the length of the time before a line of a song: [00:12.50]. */
static size_t match_song_time(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    size_t at = line->begin + 1, n_colons = 0;
    if (finder->text[line->begin] != '[' || !mt_codes_digit_at(finder, at))
        return 0;
    for (; at < line->end &&
           (mt_codes_digit_at(finder, at) || mt_codes_is_one_of(finder->text[at], ":."));
         at++)
        n_colons += finder->text[at] == ':';
    bool is_one = n_colons > 0 && mt_codes_digit_at(finder, at - 1) && at < line->end &&
                  finder->text[at] == ']';
    return is_one ? at + 1 - line->begin : 0;
}

/* Returns the length of a line that tells of a song, not sings it: [ar:Tom], [offset:+100]. */
static size_t match_song_tag(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char *const names[] = {"ar", "al", "ti",     "au",     "by",
                                        "re", "ve", "offset", "length", NULL};
    const char *text = finder->text;
    const char *colon = memchr(text + line->begin, ':', line->end - line->begin);
    bool is_one =
        colon && text[line->begin] == '[' && text[line->end - 1] == ']' &&
        mt_codes_is_among(names, text + line->begin + 1, (size_t)(colon - text) - line->begin - 1);
    return is_one ? line->end - line->begin : 0;
}

/* Returns where the word at text[at] ends. */
static size_t word_end(const struct mt_codes_finder *finder, size_t at, size_t end)
{
    while (at < end && !mt_codes_is_blank(mt_codes_at(finder, at)))
        at = mt_codes_next(finder, at);
    return at;
}

/* Returns the length of a notice with its owner: © 2024 Example Inc., Copyright (c) 2020-2024 Anna
 * Smith. The owner's name has to be all of the line, or to end as companies' names do. */
static size_t match_notice(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char *const signs[] = {"\xC2\xA9", "(c)", "(C)"};
    static const char *const ends[] = {"Inc.", "Ltd.", "Corp.", "Co.", "Inc",  "Ltd", "Corp",
                                       "LLC",  "LLC.", "GmbH",  "AG",  "S.A.", "plc", NULL};
    static const char word[] = "Copyright ";
    size_t at = line->begin, n = 0;
    at += strncmp(finder->text + at, word, strlen(word)) == 0 ? strlen(word) : 0;
    for (size_t k = 0; k < sizeof signs / sizeof *signs && n == 0; k++)
        n = strncmp(finder->text + at, signs[k], strlen(signs[k])) == 0 ? strlen(signs[k]) : 0;
    size_t end = at + n;
    at = mt_codes_skip_blanks(finder, end, line->end);
    while (at < line->end && mt_codes_digit_at(finder, at) && n > 0) { /* years */
        end = word_end(finder, at, line->end);
        at = mt_codes_skip_blanks(finder, end, line->end);
    }
    for (size_t from = at, k = 0; n > 0 && k < MAX_NOTICE_WORDS && at < line->end; k++) {
        size_t stop = word_end(finder, at, line->end);
        bool is_year = at > from && stop == line->end && mt_codes_digit_at(finder, at);
        if (!u_isupper((UChar32)mt_codes_at(finder, at)) && finder->text[at] != '&' && !is_year)
            break;
        bool is_company = at > from && mt_codes_is_among(ends, finder->text + at, stop - at);
        end = is_company || stop == line->end ? stop : end;
        at = is_company ? line->end : mt_codes_skip_blanks(finder, stop, line->end);
    }
    return n > 0 ? end - line->begin : 0;
}

/* Returns the length of a prefix: P.S. of a letter's last words, Fwd: of a subject. */
static size_t match_prefix(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char *const marks[] = {
        "P.S.", "P.P.S.", "N.B.", "PS:", "PPS:", "NB:", "Re:", "RE:", "Fwd:", "FWD:", "Fw:", "FW:"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strncmp(finder->text + line->begin, marks[i], strlen(marks[i])) == 0)
            return mt_codes_before_blank(finder, line, strlen(marks[i]));
    return 0;
}

/* Finds prefixes behind "Subject: ". */
static void take_subject(struct mt_codes_finder *finder, struct mt_range line)
{
    static const char label[] = "Subject: ";
    if (strncasecmp(finder->text + line.begin, label, strlen(label)) != 0)
        return;
    line.begin += strlen(label);
    for (size_t n; (n = match_prefix(finder, &line)) > 0;) {
        mt_codes_claim(finder, MT_CODE_EDGE, line.begin, line.begin + n);
        line.begin = mt_codes_skip_blanks(finder, line.begin + n, line.end);
    }
}

/* Returns the length of a heading's # to ######, or of a quotation's > and >>, before a blank or a
 * letter. */
static size_t match_heading(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    char c = mt_codes_char(finder, line->begin);
    size_t n = c == '#' || c == '>' ? count(finder, line->begin, line->end, c) : 0;
    if (!n || n > 6)
        return 0;
    if (c == '>' && mt_codes_is_letter(mt_codes_at(finder, line->begin + n)))
        return n;
    return mt_codes_before_blank(finder, line, n);
}

/* Returns the length of a box at text[at]: [ ], [x], [✓], ( ) or (____); 0: there is none. */
static size_t box_length(const struct mt_codes_finder *finder, size_t at)
{
    char open = finder->text[at], close = open == '[' ? ']' : ')';
    size_t end = at + 1;
    if (open != '[' && open != '(')
        return 0;
    uint32_t mark = mt_codes_at(finder, end);
    bool is_tick = open == '[' && mark >= 0x2713 && mark <= 0x2718;
    if (is_tick || mt_codes_is_one_of(mt_codes_char(finder, end), open == '[' ? " xX" : " "))
        end = mt_codes_next(finder, end);
    while (end - at < MAX_BOX_BYTES && mt_codes_char(finder, end) == '_')
        end++;
    return end > at + 1 && mt_codes_char(finder, end) == close ? end + 1 - at : 0;
}

/* Returns the length of a box in a list of tasks: [ ] or [x]. */
static size_t match_box(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    size_t n = line->end - line->begin > 3 ? box_length(finder, line->begin) : 0;
    return finder->text[line->begin] == '[' ? mt_codes_before_blank(finder, line, n) : 0;
}

/* Finds the boxes of a form: at least two in a line, as in Yes [ ] No [ ]. */
static void take_boxes(struct mt_codes_finder *finder, const struct mt_range *line)
{
    struct mt_range first = {0};
    size_t n_boxes = 0;
    for (size_t i = line->begin, n; i < line->end; i++) {
        n = box_length(finder, i);
        if (n == 0)
            continue;
        if (n_boxes == 1)
            mt_codes_claim(finder, MT_CODE_EDGE, first.begin, first.end);
        if (n_boxes++ > 0)
            mt_codes_claim(finder, MT_CODE_EDGE, i, i + n);
        else
            first = (struct mt_range){i, i + n};
    }
}

/* Notes that are texts by themselves: [DOOR OPENS], 【News】, (SIGHS) in capitals, and (laughs) and
 * *laughs* before a new sentence. */
static const struct note {
    const char *open, *close;
    bool needs_sentence; /* has to stand before a sentence, unless it is in capitals */
} notes[] = {
    {"[", "]", false}, {"\xE3\x80\x90", "\xE3\x80\x91", false}, {"(", ")", true}, {"*", "*", true}};

/* Whether text[begin, close) is such a note. */
static bool is_note(const struct mt_codes_finder *finder, const struct note *note,
                    const struct mt_range *line, size_t begin, size_t close)
{
    const char *text = finder->text;
    size_t n_letters = 0, n_small = 0, end = close + strlen(note->close);
    for (size_t i = begin; i < close; i = mt_codes_next(finder, i)) {
        uint32_t c = mt_codes_at(finder, i);
        n_letters += mt_codes_is_letter(c);
        n_small += c >= 'a' && c <= 'z';
        if (text[i] == *note->open || (*note->open == '[' && text[i] == '%'))
            return false;
    }
    bool is_behind_blank = end == line->end || mt_codes_is_blank(mt_codes_at(finder, end));
    if (n_letters < 2 || (!is_behind_blank && (unsigned char)*note->open < 0x80))
        return false;
    if (!note->needs_sentence || (*note->open == '(' && n_small == 0))
        return true;
    uint32_t behind = mt_codes_at(finder, mt_codes_skip_blanks(finder, end, line->end));
    return end < line->end && u_isupper((UChar32)behind) &&
           u_islower((UChar32)mt_codes_at(finder, begin));
}

static void take_note(struct mt_codes_finder *finder, const struct mt_range *line)
{
    size_t limit =
        line->end - line->begin < MAX_NOTE_BYTES ? line->end : line->begin + MAX_NOTE_BYTES;
    for (size_t k = 0; k < sizeof notes / sizeof *notes; k++) {
        const struct note *note = &notes[k];
        size_t n = strlen(note->open), begin = line->begin + n;
        if (begin > limit || memcmp(finder->text + line->begin, note->open, n) != 0 ||
            (n > 1 && !mt_codes_is_unread(finder, mt_codes_at(finder, line->begin))))
            continue;
        const char *found = memmem(finder->text + begin, limit - begin, note->close, n);
        size_t close = found ? (size_t)(found - finder->text) : limit;
        if (!found || !is_note(finder, note, line, begin, close))
            return;
        mt_codes_claim(finder, MT_CODE_EDGE, line->begin, begin);
        mt_codes_claim(finder, MT_CODE_EDGE, close, close + n);
    }
}

/* Finds a second speaker in a line that begins with a dash: "- Hello. - Hi." */
static void take_speakers(struct mt_codes_finder *finder, const struct mt_range *line)
{
    for (size_t at = line->begin, next; at < line->end; at = next) {
        uint32_t c = mt_codes_at(finder, at);
        next = mt_codes_next(finder, at);
        size_t behind = next + (mt_codes_char(finder, next) == ' '); /* -Hello. -Hi. */
        if ((c != '-' && (c < 0x2010 || c > 0x2015)) || at < line->begin + 2 ||
            finder->text[at - 1] != ' ')
            continue;
        size_t last = mt_previous_char(finder->text, at - 1);
        uint32_t quote = mt_codes_at(finder, last);
        if (last > line->begin && (quote == '"' || quote == 0x201D))
            last = mt_previous_char(finder->text, last);
        if (mt_codes_is_one_of(finder->text[last], ".!?") &&
            u_isupper((UChar32)mt_codes_at(finder, behind)))
            mt_codes_claim(finder, MT_CODE_EDGE, at, next);
    }
}

/* Finds the same bullet further on in a line that begins with one: "●Red ●Green". */
static void take_bullets(struct mt_codes_finder *finder, const struct mt_range *line,
                         const struct mt_range *mark)
{
    size_t n = mark->end - mark->begin;
    const char *bullet = finder->text + mark->begin;
    if (n == 1) /* - * + may be something else */
        return;
    for (size_t at = line->begin + 1; at + n < line->end; at = mt_codes_next(finder, at))
        if (finder->text[at - 1] == ' ' && memcmp(finder->text + at, bullet, n) == 0 &&
            mt_codes_is_letter(mt_codes_at(finder, at + n)))
            mt_codes_claim(finder, MT_CODE_EDGE, at, at + n);
}

/* Finds the numbers, or letters, that follow the one at the line's beginning: "1) one 2) two". */
static void take_list(struct mt_codes_finder *finder, const struct mt_range *line,
                      struct mt_range mark)
{
    const char *text = finder->text;
    size_t at = mark.begin + (text[mark.begin] == '(');
    bool is_number = mt_codes_is_digit((unsigned char)text[at]);
    unsigned value = is_number ? (unsigned)strtoul(text + at, NULL, 10) : (unsigned char)text[at];
    const char *bracket = at > mark.begin ? "(" : "";
    for (at = mark.end;;) {
        char next[16];
        int n = snprintf(next, sizeof next, is_number ? " %s%u) " : " %s%c) ", bracket, ++value);
        const char *found = memmem(text + at, line->end - at, next, (size_t)n);
        if (!found)
            break;
        at = (size_t)(found - text) + 1;
        mt_codes_claim(finder, MT_CODE_EDGE, at, at + (size_t)n - 2);
    }
}

/* Claims a notice with tags in it piece by piece. */
static void take_pieces(struct mt_codes_finder *finder, struct mt_range notice)
{
    const struct mt_coded_segment *segment = finder->segment;
    size_t at = notice.begin;
    for (size_t i = mt_codes_first_own(segment, at); at < notice.end; i++) {
        size_t end = i < segment->n && segment->codes[i].at.begin < notice.end
                         ? segment->codes[i].at.begin
                         : notice.end;
        struct mt_range piece = mt_range_trim(finder->text, at, end);
        mt_codes_claim(finder, MT_CODE_EDGE, piece.begin, piece.end);
        at = end;
    }
}

static void take_marks(struct mt_codes_finder *finder, struct mt_range line)
{
    static size_t (*const matchers[])(const struct mt_codes_finder *finder,
                                      const struct mt_range *line) = {
        match_bullet,    match_list_number,     match_section,      mt_codes_match_hour,
        match_song_time, match_song_tag,        match_notice,       mt_codes_match_fields,
        match_prefix,    mt_codes_match_commit, mt_codes_match_log, match_heading,
        match_box,       mt_codes_match_mark,   mt_codes_match_nick};
    for (size_t n_marks = 0; n_marks < MAX_MARKS; n_marks++) {
        size_t n = 0, k = 0;
        while (k < sizeof matchers / sizeof *matchers && !n)
            n = matchers[k++](finder, &line);
        const struct mt_range mark = {line.begin, line.begin + n};
        if (n && !mt_codes_take(finder, MT_CODE_EDGE, mark.begin, mark.end) &&
            matchers[k - 1] == match_notice)
            take_pieces(finder, mark);
        if (!n || finder->taken[mark.begin] != MT_TAKEN_EDGE)
            break;
        line.begin = mt_codes_skip_blanks(finder, mark.end, line.end);
        if (matchers[k - 1] == match_bullet) {
            take_speakers(finder, &line);
            take_bullets(finder, &line, &mark);
        } else if (finder->text[mark.end - 1] == ')')
            take_list(finder, &line, mark);
        else if (finder->text[mark.begin] == '#')
            mt_codes_take_closing(finder, &line);
    }
    mt_codes_take_labels(finder, &line);
    take_note(finder, &line);
}

/* Claims the bars between the cells of a row: |a|b|. */
static void take_row(struct mt_codes_finder *finder, const struct mt_range *line)
{
    for (size_t i = line->begin; i < line->end; i++)
        if (finder->text[i] == '|' && (i == line->begin || finder->text[i - 1] != '\\'))
            mt_codes_claim(finder, MT_CODE_EDGE, i, i + 1);
}

/* Returns how many blanks separate columns. Two are enough where each column begins with a capital
 * or a digit, and so do all their words, as in "Qty Item Price", or behind a program's options: in a
 * sentence two blanks may be a slip. */
static size_t least_blanks(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    if (finder->text[line->begin] == '-' &&
        (mt_codes_char(finder, line->begin + 1) == '-' ||
         mt_ascii_is_letter(mt_codes_char(finder, line->begin + 1))))
        return 2;
    for (size_t i = line->begin; i < line->end; i = mt_codes_next(finder, i)) {
        bool begins = i == line->begin || finder->text[i - 1] == ' ';
        uint32_t c = mt_codes_at(finder, i);
        if (c != ' ' && begins && !u_isupper((UChar32)c) && !mt_codes_is_digit(c))
            return LEAST_COLUMN_BLANKS;
    }
    return 2;
}

/* Returns where the blanks end that begin at text[at], those that do not break a line included, and
 * how many they are. */
static size_t blanks_end(const struct mt_codes_finder *finder, size_t at, size_t end, size_t *n)
{
    *n = 0;
    while (at < end && (finder->text[at] == ' ' || mt_codes_at(finder, at) == 0xA0)) {
        at = mt_codes_next(finder, at);
        ++*n;
    }
    return at;
}

static void take_tabs(struct mt_codes_finder *finder, const struct mt_range *line)
{
    const size_t least = least_blanks(finder, line);
    for (size_t i = line->begin, n, end; i < line->end; i = end) {
        bool is_tab = finder->text[i] == '\t';
        end = is_tab ? i + count(finder, i, line->end, '\t') : blanks_end(finder, i, line->end, &n);
        bool is_mixed =
            end > i && finder->text[i] != finder->text[mt_previous_char(finder->text, end)];
        bool is_column = !is_tab && n >= (is_mixed ? LEAST_COLUMN_BLANKS : least) &&
                         i > line->begin && !mt_codes_is_one_of(finder->text[i - 1], ".,;!?") &&
                         (n >= LEAST_COLUMN_BLANKS || finder->text[i - 1] != ':');
        if (is_tab || is_column)
            mt_codes_claim(finder, MT_CODE_EDGE, i, end);
        end = end > i ? end : mt_codes_next(finder, i);
    }
}

/* Returns where the code ends that tells Firefox's models and others the target language; it
 * belongs to the model, not to the text. */
static size_t language_code_end(const struct mt_codes_finder *finder)
{
    size_t at = 2;
    if (finder->length < 6 || memcmp(finder->text, ">>", 2) != 0)
        return 0;
    while (mt_codes_is_name_char(mt_codes_char(finder, at)) || mt_codes_char(finder, at) == '-')
        at++;
    bool is_code = at > 3 && finder->length - at >= 2 && memcmp(finder->text + at, "<<", 2) == 0;
    return is_code ? at + 2 : 0;
}

/* Whether the word around text[at] is one to the vocabulary without that byte: E&xit, not
 * Rock&roll. */
static bool is_word_without(struct mt_codes_finder *finder, size_t at)
{
    char word[MAX_ACCELERATED_BYTES];
    size_t begin = at, end = at + 1;
    while (begin > 0 && mt_ascii_is_letter(finder->text[begin - 1]))
        begin--;
    while (mt_ascii_is_letter(mt_codes_char(finder, end)))
        end++;
    if (begin == at)
        return true;
    if (end - begin >= sizeof word || end == at + 1)
        return false;
    memcpy(word, finder->text + begin, at - begin);
    memcpy(word + (at - begin), finder->text + at + 1, end - at - 1);
    return mt_codes_count_pieces(finder, word, end - begin - 1) <=
           mt_codes_count_pieces(finder, "a", 1);
}

/* Claims the mark of an accelerator: &File, E&xit, _Open. */
static void take_accelerator(struct mt_codes_finder *finder)
{
    if (finder->segment->n > 0 || finder->length > MT_MAX_LABEL_BYTES)
        return;
    const struct mt_accelerator found = mt_accelerator_find(finder->text, finder->length);
    if (found.mark && (found.mark == '&' || found.at == 0 || finder->text[found.at - 1] == ' ') &&
        is_word_without(finder, found.at))
        mt_codes_claim(finder, MT_CODE_POINT, found.at, found.at + 1);
}

void mt_codes_find_lines(struct mt_codes_finder *finder)
{
    size_t begin = language_code_end(finder), no_fences = finder->length;
    size_t front_end = mt_codes_front_matter_end(finder);
    memset(finder->taken, MT_TAKEN_OWN, begin);
    take_accelerator(finder);
    for (size_t next; begin < finder->length && !finder->status; begin = next) {
        size_t end = mt_codes_line_end(finder, begin);
        next = end < finder->length ? mt_codes_next(finder, end) : end;
        const struct mt_range line = mt_range_trim(finder->text, begin, end);
        if (line.begin == line.end)
            continue;
        size_t fenced = take_fenced(finder, &line, &no_fences), comment;
        if (fenced) {
            next = fenced < finder->length ? mt_codes_next(finder, fenced) : fenced;
        } else if (is_timing(finder, &line) || is_rule(finder, &line) || is_chords(finder, &line) ||
                   mt_codes_is_program(finder, &line) || mt_codes_is_command(finder, line)) {
            mt_codes_claim(finder, MT_CODE_EDGE, line.begin, line.end);
        } else if ((comment = mt_codes_comment_begin(finder, &line)) > 0) {
            mt_codes_claim(finder, MT_CODE_EDGE, line.begin, comment);
        } else if (begin > 0 && begin < front_end) {
            mt_codes_take_property(finder, &line);
        } else if (!mt_codes_take_definition(finder, &line)) {
            take_tabs(finder, &line);
            take_boxes(finder, &line);
            if (finder->text[line.begin] == '|' && finder->text[line.end - 1] == '|' &&
                line.end - line.begin > 2)
                take_row(finder, &line);
            else
                take_marks(finder, line);
            take_subject(finder, line);
        }
    }
}
