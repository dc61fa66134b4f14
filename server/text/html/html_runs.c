#include "server/text/html/html_runs.h"

#include "server/text/html/html_text.h"
#include "server/text/html/link_list.h"
#include "server/text/numbers/number_signs.h"
#include "server/text/scripts.h"
#include "server/text/tagged_text.h"

#include <string.h>
#include <strings.h>

#include <unicode/uchar.h>

/* Most tags that wait for their end tag, the innermost ones: how deep pairs may nest. */
#define MAX_OPEN 64

/* Codes after which a text ends at the next possible place: half of what a passage can place. */
#define MANY_CODES 128

/* Fewest letters of an element that is a word by itself, and fewest such elements in a row; two may
 * be the halves of a word. */
#define LEAST_WORD_LETTERS 3
#define LEAST_WORDS 3

#define MOST_NOTE_DIGITS 3
#define MOST_REMARK_LETTERS 30

/* Most blanks in a title, which has one word more. */
#define MAX_TITLE_BLANKS 4

/* Returns the index behind a piece, or behind the pair that it begins. */
static size_t index_behind(const struct mt_html_pieces *pieces, size_t index)
{
    const struct mt_html_piece *piece = &pieces->items[index];
    return piece->kind == MT_HTML_START && piece->mate != MT_NO_MATE ? piece->mate + 1 : index + 1;
}

/* ---- pairs ---- */

static bool ends_sentence(uint32_t c)
{
    return u_hasBinaryProperty((UChar32)c, UCHAR_S_TERM) || c == '.' || c == 0x2026;
}

static bool is_same_name(const struct mt_html_pieces *pieces, size_t a, size_t b)
{
    struct mt_range x = pieces->items[a].name, y = pieces->items[b].name;
    return x.end - x.begin == y.end - y.begin &&
           strncasecmp(pieces->source + x.begin, pieces->source + y.begin, x.end - x.begin) == 0;
}

/* Whether the link is a note's number: [3], or a number behind a sentence without a blank. */
static bool is_note_link(const struct mt_html_pieces *pieces, size_t first,
                         const struct mt_html_counts *held)
{
    const struct mt_html_ends *before = first > 0 ? &pieces->items[first - 1].ends : NULL;
    size_t text = first + 1;
    while (pieces->items[text].kind == MT_HTML_START)
        text++;
    bool is_number = held->digits > 0 && held->digits <= MOST_NOTE_DIGITS && held->blanks == 0 &&
                     held->letters + held->words + held->points + held->breaks == 0;
    bool is_bracketed = held->signs == 2 && pieces->items[text].ends.first == '[' &&
                        pieces->items[text].ends.last == ']';
    bool is_behind =
        held->signs == 0 && before && !before->has_blank_behind && ends_sentence(before->last);
    return is_number && (is_bracketed || is_behind);
}

/* Whether the raised words are a remark within a sentence: The cat<sup>[who?]</sup> is here. It would
 * be taken for words of the sentence. Behind a sentence it is a text (cut_remarks). */
static bool is_remark(const struct mt_html_pieces *pieces, size_t first,
                      const struct mt_html_counts *held)
{
    const struct mt_html_ends *before = first > 0 ? &pieces->items[first - 1].ends : NULL;
    size_t text = first + 1, mate = pieces->items[first].mate, last = mate - 1;
    while (text < mate && pieces->items[text].kind == MT_HTML_START)
        text++;
    while (last > text && pieces->items[last].kind == MT_HTML_END)
        last--;
    return held->letters > 0 && held->letters <= MOST_REMARK_LETTERS && before && before->last &&
           !before->has_blank_behind && !ends_sentence(before->last) &&
           pieces->items[text].ends.first == '[' && pieces->items[last].ends.last == ']';
}

bool mt_html_is_note(const struct mt_html_pieces *pieces, size_t first)
{
    const struct mt_html_piece *piece = &pieces->items[first];
    if (piece->kind != MT_HTML_START || piece->mate == MT_NO_MATE)
        return false;
    struct mt_html_counts held = mt_html_count(pieces, first, piece->mate);
    if (piece->tag == GUMBO_TAG_A)
        return is_note_link(pieces, first, &held);
    if (piece->tag != GUMBO_TAG_SUP && piece->tag != GUMBO_TAG_SUB)
        return false;
    const struct mt_raised words = {held.letters, held.digits, held.signs, held.blanks};
    return held.words + held.points + held.breaks == 0 &&
           (mt_is_note_mark(&words) || is_remark(pieces, first, &held));
}

/* Finds pairs that hold no words. */
static void find_whole_pairs(struct mt_html_pieces *pieces, size_t first, size_t end)
{
    size_t noted = 0, note_end = first;
    for (size_t i = first; i < end; i++) {
        struct mt_html_piece *piece = &pieces->items[i];
        struct mt_html_counts held = mt_html_count(pieces, i, i + 1);
        if (i >= note_end && mt_html_is_note(pieces, i))
            note_end = piece->mate;
        piece->noted = noted;
        noted += i < note_end ? held.letters + held.digits : 0;
    }
    for (size_t i = first; i < end; i++) {
        struct mt_html_piece *piece = &pieces->items[i];
        if (piece->kind != MT_HTML_START || piece->mate == MT_NO_MATE)
            continue;
        struct mt_html_counts held = mt_html_count(pieces, i, piece->mate);
        size_t n_noted = pieces->items[piece->mate].noted - piece->noted;
        piece->is_whole = held.letters + held.digits + held.words == n_noted;
    }
}

void mt_html_pair(struct mt_html_pieces *pieces, size_t first, size_t end)
{
    size_t open[MAX_OPEN], n_open = 0;
    for (size_t i = first; i < end; i++) {
        if (pieces->items[i].kind == MT_HTML_START) {
            n_open -= n_open == MAX_OPEN;
            memmove(open + 1, open, n_open * sizeof *open);
            open[0] = i;
            n_open++;
        } else if (pieces->items[i].kind == MT_HTML_END) {
            size_t k = 0;
            while (k < n_open && !is_same_name(pieces, open[k], i))
                k++;
            if (k == n_open)
                continue;
            pieces->items[open[k]].mate = i;
            pieces->items[i].mate = open[k];
            n_open -= k + 1;
            memmove(open, open + k + 1, n_open * sizeof *open);
        }
    }
    find_whole_pairs(pieces, first, end);
}

/* ---- neighbours ---- */

/* One element among its neighbours, as they see it. */
struct neighbour {
    size_t first, end; /* pieces; the tags are the first and the last */
    bool is_link;      /* it is a link, or begins with one */
    bool is_phrase;    /* an element for parts of sentences: <b>, <em>, ... */
    struct mt_html_counts holds;
    struct mt_html_ends ends;
};

/* What stands between two neighbours. */
struct between {
    bool has_blank, has_break, has_mark, has_slash, has_end;
    size_t n_signs;
};

static bool is_phrase_tag(GumboTag tag)
{
    static const GumboTag tags[] = {
        GUMBO_TAG_B,    GUMBO_TAG_I,       GUMBO_TAG_EM,   GUMBO_TAG_STRONG, GUMBO_TAG_U,
        GUMBO_TAG_MARK, GUMBO_TAG_SMALL,   GUMBO_TAG_FONT, GUMBO_TAG_SUB,    GUMBO_TAG_SUP,
        GUMBO_TAG_ABBR, GUMBO_TAG_ACRONYM, GUMBO_TAG_CITE, GUMBO_TAG_DFN,    GUMBO_TAG_Q,
        GUMBO_TAG_S,    GUMBO_TAG_STRIKE,  GUMBO_TAG_DEL,  GUMBO_TAG_INS,    GUMBO_TAG_BIG,
        GUMBO_TAG_TT,   GUMBO_TAG_NOBR,    GUMBO_TAG_BDO,  GUMBO_TAG_BDI,
    };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (tags[i] == tag)
            return true;
    return false;
}

/* Whether the character separates texts, and does not stand within one. */
static bool is_separator(uint32_t c)
{
    static const uint32_t marks[] = {'|',    '>',    0xA6,   0xB7,   0xBB,   0x2022,
                                     0x203A, 0x2192, 0x2502, 0x25B8, 0x25BA, 0x30FB};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i] == c)
            return true;
    return false;
}

/* Whether a text may begin with the character, and a word does not have it inside. */
static bool may_begin(uint32_t c)
{
    int8_t type = u_charType((UChar32)c);
    return mt_is_word_char(c) || c == '"' || c == '#' || c == '@' || c == '+' ||
           type == U_START_PUNCTUATION || type == U_INITIAL_PUNCTUATION ||
           type == U_CURRENCY_SYMBOL || type == U_OTHER_SYMBOL;
}

static bool may_end(uint32_t c)
{
    int8_t type = u_charType((UChar32)c);
    return mt_is_word_char(c) || ends_sentence(c) || c == ':' || c == '%' || c == '"' ||
           type == U_END_PUNCTUATION || type == U_FINAL_PUNCTUATION;
}

static struct neighbour look_at(const struct mt_html_pieces *pieces, size_t first)
{
    const struct mt_html_piece *piece = &pieces->items[first];
    struct neighbour neighbour = {
        .first = first,
        .end = piece->mate + 1,
        .is_phrase = is_phrase_tag(piece->tag),
        .holds = mt_html_count(pieces, first, piece->mate),
    };
    for (size_t i = first; i < neighbour.end; i++) {
        const struct mt_html_ends word = {.first = 'x', .last = 'x', .conclusion = 'x'};
        bool is_word = pieces->items[i].kind == MT_HTML_WORD;
        const struct mt_html_ends *text = is_word ? &word : &pieces->items[i].ends;
        struct mt_html_ends *ends = &neighbour.ends;
        neighbour.is_link =
            neighbour.is_link || (pieces->items[i].tag == GUMBO_TAG_A && neighbour.ends.first == 0);
        if (!is_word && pieces->items[i].kind != MT_HTML_TEXT)
            continue;
        ends->has_blank_before =
            ends->has_blank_before || (ends->first == 0 && text->has_blank_before);
        ends->has_blank_behind = text->has_blank_behind;
        ends->first = ends->first ? ends->first : text->first;
        ends->last = text->last ? text->last : ends->last;
        ends->conclusion = text->conclusion ? text->conclusion : ends->conclusion;
    }
    return neighbour;
}

/* Whether the point is a comment or an instruction. */
static bool is_unseen(const struct mt_html_pieces *pieces, size_t point)
{
    char second = pieces->source[pieces->items[point].range.begin + 1];
    return second == '!' || second == '?';
}

static struct between look_between(const struct mt_html_pieces *pieces, size_t first, size_t end)
{
    struct between between = {0};
    for (size_t i = first; i < end; i++) {
        const struct mt_html_piece *piece = &pieces->items[i];
        between.has_break = between.has_break || piece->kind == MT_HTML_BREAK;
        between.has_blank =
            between.has_blank || (piece->kind == MT_HTML_POINT && !is_unseen(pieces, i));
        if (piece->kind != MT_HTML_TEXT)
            continue;
        struct mt_html_walk walk = mt_html_walk(pieces, i);
        for (struct mt_html_char next; mt_html_next_char(&walk, &next);) {
            uint32_t c = mt_utf8_decode(next.bytes);
            bool is_blank = mt_is_space(c);
            between.has_blank = between.has_blank || is_blank;
            between.n_signs += !is_blank;
            between.has_mark = between.has_mark || is_separator(c);
            between.has_slash = between.has_slash || c == '/';
            between.has_end = between.has_end || ends_sentence(c);
        }
    }
    return between;
}

/* Whether two neighbours without a blank between them are two texts, not parts of one word. */
static bool are_two_words(const struct neighbour *a, const struct neighbour *b)
{
    uint32_t last = a->ends.last, first = b->ends.first;
    if (!may_end(last) || !may_begin(first) || a->holds.letters + b->holds.letters == 0)
        return false;
    if (a->is_link && b->is_link)
        return true;
    return a->holds.letters + a->holds.digits > 1 && !u_islower((UChar32)first) &&
           !mt_script_is_unspaced(last) && !mt_script_is_unspaced(first);
}

/* Whether both are prices: "<del>$10</del> <ins>$8</ins>". Models lose one of two adjacent ones. */
static bool are_two_numbers(const struct mt_html_pieces *pieces, const struct neighbour *a,
                            const struct neighbour *b)
{
    struct between between = look_between(pieces, a->end, b->first);
    bool are_numbers = a->holds.letters + b->holds.letters + a->holds.words + b->holds.words == 0;
    return are_numbers && between.n_signs == 0 && !between.has_break;
}

/* Whether a second text must begin between these characters, as in "nameAge" and "Price5". */
static bool is_seam(uint32_t last, uint32_t first)
{
    if (u_islower((UChar32)last))
        return u_isupper((UChar32)first) || u_isdigit((UChar32)first) ||
               u_charType((UChar32)first) == U_CURRENCY_SYMBOL;
    return u_isdigit((UChar32)last) && u_isupper((UChar32)first);
}

static bool is_title(const struct neighbour *a)
{
    bool begins = u_isupper((UChar32)a->ends.first) || u_isdigit((UChar32)a->ends.first);
    return a->holds.blanks <= MAX_TITLE_BLANKS && begins && !a->is_phrase;
}

/* Whether it is a word by itself: not an element for a part of a sentence or word. */
static bool is_whole_word(const struct neighbour *a)
{
    return !a->is_phrase && a->holds.letters >= LEAST_WORD_LETTERS &&
           !mt_script_is_unspaced(a->ends.first) && !mt_script_is_unspaced(a->ends.last);
}

/* The elements beside each other, and the words that are in none of them. */
struct row {
    size_t n_elements, n_loose;
    size_t element, loose; /* index of the last one of each */
    bool are_titles;       /* all elements are titles */
    bool are_words;        /* there are several, each of which may be a word by itself */
};

/* Whether two neighbours of the row are independent texts. */
static bool stand_apart(const struct mt_html_pieces *pieces, const struct neighbour *a,
                        const struct neighbour *b, const struct row *row)
{
    struct between between = look_between(pieces, a->end, b->first);
    bool are_links = a->is_link && b->is_link;
    bool has_letters = a->holds.letters + b->holds.letters > 0;
    bool has_blank = between.has_blank || a->ends.has_blank_behind || b->ends.has_blank_before;
    if (between.has_break)
        return false;
    if (a->is_phrase && b->is_phrase)
        return between.n_signs == 0 && !has_blank && a->holds.letters > 1 &&
               is_seam(a->ends.last, b->ends.first);
    if (between.n_signs > 0)
        return are_links || between.has_mark ||
               (has_blank && has_letters && (between.has_slash || between.has_end));
    if (ends_sentence(a->ends.conclusion) && has_letters)
        return has_blank || !u_islower((UChar32)b->ends.first);
    if (!has_blank)
        return row->are_words || are_two_words(a, b);
    return are_links || row->are_titles || !has_letters;
}

static bool is_neighbour(const struct mt_html_pieces *pieces, size_t index)
{
    const struct mt_html_piece *piece = &pieces->items[index];
    return piece->kind == MT_HTML_START && piece->mate != MT_NO_MATE && !piece->is_whole;
}

/* Cuts before and behind what stands between two texts, which belongs to neither. */
static void cut_between(struct mt_html_pieces *pieces, size_t end, size_t next)
{
    pieces->items[end].cuts = true;
    pieces->items[next].cuts = true;
}

static struct row look_at_row(const struct mt_html_pieces *pieces, size_t first, size_t end)
{
    struct row row = {.are_titles = true, .are_words = true};
    for (size_t i = first; i < end; i = index_behind(pieces, i)) {
        struct mt_html_counts held = mt_html_count(pieces, i, i + 1);
        if (is_neighbour(pieces, i)) {
            struct neighbour neighbour = look_at(pieces, i);
            row.are_titles = row.are_titles && is_title(&neighbour);
            row.are_words = row.are_words && is_whole_word(&neighbour);
            row.n_elements++;
            row.element = i;
        } else if (held.letters + held.digits + held.words > 0) {
            row.n_loose++;
            row.loose = i;
        }
    }
    row.are_words = row.are_words && row.n_elements >= LEAST_WORDS;
    return row;
}

/* Cuts a text from the only element beside it: "Comments<span>12</span>", or "News<small>Sent an
 * hour ago</small>", but not "Java<b>Script</b>". Returns whether it did. */
static bool cut_pair(struct mt_html_pieces *pieces, const struct row *row)
{
    struct neighbour element = look_at(pieces, row->element);
    const struct mt_html_ends *text = &pieces->items[row->loose].ends;
    bool is_before = row->loose + 1 == element.first;
    uint32_t last = is_before ? text->last : element.ends.last;
    uint32_t first = is_before ? element.ends.first : text->first;
    bool is_glued = is_before ? !text->has_blank_behind && !element.ends.has_blank_before
                              : element.end == row->loose && !element.ends.has_blank_behind &&
                                    !text->has_blank_before;
    if ((element.is_phrase && element.holds.blanks == 0) || !is_glued || !is_seam(last, first))
        return false;
    pieces->items[is_before ? element.first : element.end].cuts = true;
    return true;
}

/* Returns whether it made a cut. */
static bool cut_row(struct mt_html_pieces *pieces, size_t first, size_t end, bool is_outermost)
{
    struct row row = look_at_row(pieces, first, end);
    struct neighbour last = {0};
    bool has_cuts = false, had_cuts = false;
    if (row.n_elements == 1 && row.n_loose == 1)
        return cut_pair(pieces, &row);
    if (row.n_loose > 0 && !is_outermost)
        return false;
    for (size_t i = first; i < end; i = index_behind(pieces, i)) {
        if (!is_neighbour(pieces, i))
            continue;
        struct neighbour next = look_at(pieces, i);
        bool is_cut = row.n_loose == 0 && cut_row(pieces, i + 1, next.end - 1, false);
        bool is_apart = is_cut || had_cuts;
        if (last.end > 0 && !is_apart && row.n_loose > 0)
            is_apart = (last.end == i && are_two_words(&last, &next)) ||
                       are_two_numbers(pieces, &last, &next);
        else if (last.end > 0 && !is_apart)
            is_apart = stand_apart(pieces, &last, &next, &row);
        if (last.end > 0 && is_apart)
            cut_between(pieces, last.end, i);
        has_cuts = has_cuts || is_cut || (last.end > 0 && is_apart);
        had_cuts = is_cut;
        last = next;
    }
    return has_cuts;
}

/* Cuts lists of links, however deep they stand, even with words before or behind them. */
static void cut_lists(struct mt_html_pieces *pieces, size_t first, size_t end)
{
    struct mt_link_list list = {0};
    for (size_t i = first; i < end; i++) {
        if (!is_neighbour(pieces, i) || pieces->items[i].tag != GUMBO_TAG_A)
            continue;
        const struct mt_range link = {i, index_behind(pieces, i)};
        size_t behind = list.n > 0 ? list.links[list.n - 1].end : first;
        struct mt_html_counts between = mt_html_count(pieces, behind, i);
        bool is_list =
            mt_link_list_add(&list, link, between.letters + between.digits + between.words > 0);
        for (size_t k = 1; is_list && k < list.n; k++)
            cut_between(pieces, list.links[k - 1].end, list.links[k].begin);
        i = pieces->items[i].mate;
    }
}

/* Whether an element is completely empty and visible, so that it separates words. */
static bool is_separating(const struct mt_html_pieces *pieces, size_t index)
{
    const struct mt_html_piece *piece = &pieces->items[index];
    if (piece->kind == MT_HTML_POINT)
        return !is_unseen(pieces, index) &&
               strncasecmp(pieces->source + piece->range.begin, "<wbr", 4) != 0;
    if (piece->kind != MT_HTML_START || !piece->is_whole || is_phrase_tag(piece->tag))
        return false;
    struct mt_html_counts held = mt_html_count(pieces, index, piece->mate);
    return held.signs + held.blanks + held.words + held.points + held.breaks + held.letters +
               held.digits ==
           0;
}

/* Separates texts with only a separating element between them: "27<span></span>14 min". */
static void cut_at_separators(struct mt_html_pieces *pieces, size_t first, size_t end)
{
    const struct mt_html_ends *last = NULL; /* ends of the text before */
    size_t cut = end;                       /* index behind the last separator */
    for (size_t i = first; i < end; i++) {
        const struct mt_html_piece *piece = &pieces->items[i];
        if (piece->kind == MT_HTML_TEXT) {
            uint32_t before = last ? last->last : 0, behind = piece->ends.first;
            bool are_digits = u_isdigit((UChar32)before) && u_isdigit((UChar32)behind);
            if (cut < end && !last->has_blank_behind && !piece->ends.has_blank_before &&
                (are_digits || is_seam(before, behind)))
                pieces->items[cut].cuts = true;
            last = &piece->ends;
            cut = end;
        } else if (is_separating(pieces, i)) {
            i = index_behind(pieces, i) - 1;
            cut = last ? i + 1 : end;
        } else if (piece->kind == MT_HTML_BREAK || piece->kind == MT_HTML_WORD) {
            last = NULL;
            cut = end;
        }
    }
}

/* Cuts before each label of several: "<b>Size:</b> Large <b>Color:</b> Red". */
static void cut_labels(struct mt_html_pieces *pieces, size_t first, size_t end)
{
    size_t n = 0;
    uint32_t before = 0;
    for (size_t i = first; i < end; i++) {
        const struct mt_html_piece *piece = &pieces->items[i];
        before = piece->kind == MT_HTML_TEXT && piece->ends.last ? piece->ends.last : before;
        if (!is_neighbour(pieces, i) || piece->tag == GUMBO_TAG_A)
            continue;
        size_t behind = piece->mate + 1;
        bool is_colon = pieces->items[behind - 2].ends.last == ':' ||
                        (behind < end && pieces->items[behind].ends.first == ':');
        struct neighbour label = is_colon ? look_at(pieces, i) : (struct neighbour){0};
        if (label.holds.letters == 0 || label.holds.blanks > MAX_TITLE_BLANKS ||
            !u_isupper((UChar32)label.ends.first))
            continue;
        if (n++ > 0 && before != ',')
            pieces->items[i].cuts = true;
        before = ':';
        i = piece->mate;
    }
}

/* Cuts behind an element that has only the end of a sentence, since the model would not see it. */
static void cut_behind_marks(struct mt_html_pieces *pieces, size_t first, size_t end)
{
    for (size_t i = first, behind; i < end; i = behind) {
        bool is_whole = pieces->items[i].is_whole, is_end = false;
        behind = index_behind(pieces, i);
        for (size_t k = i; is_whole && k < behind; k++)
            is_end = is_end || ends_sentence(pieces->items[k].ends.last);
        const struct mt_html_ends *next = behind < end ? &pieces->items[behind].ends : NULL;
        if (is_end && next && next->has_blank_before && !u_islower((UChar32)next->first))
            pieces->items[behind].cuts = true;
    }
}

/* Cuts before a remark behind a sentence, and behind it: "It is.<sup>[citation needed]</sup>". */
static void cut_remarks(struct mt_html_pieces *pieces, size_t first, size_t end)
{
    for (size_t i = first + 1; i < end; i++) {
        const struct mt_html_piece *piece = &pieces->items[i];
        if (piece->tag != GUMBO_TAG_SUP || !is_neighbour(pieces, i) ||
            !ends_sentence(pieces->items[i - 1].ends.last))
            continue;
        struct neighbour remark = look_at(pieces, i);
        if (remark.holds.letters == 0 || remark.ends.first != '[' || remark.ends.last != ']')
            continue;
        pieces->items[i].cuts = true;
        if (remark.end < end)
            pieces->items[remark.end].cuts = true;
    }
}

static size_t count_codes(const struct mt_html_pieces *pieces, size_t first, size_t end)
{
    size_t n = 0;
    for (size_t i = first; i < end; i++) {
        const struct mt_html_piece *piece = &pieces->items[i];
        n += piece->kind != MT_HTML_TEXT &&
             !(piece->kind == MT_HTML_END && piece->mate != MT_NO_MATE);
    }
    return n;
}

static void cut_long_texts(struct mt_html_pieces *pieces, size_t first, size_t end)
{
    size_t n_codes = 0;
    for (size_t i = first, behind; i < end; i = behind) {
        behind = index_behind(pieces, i);
        n_codes = pieces->items[i].cuts ? 0 : n_codes;
        size_t n_own = count_codes(pieces, i, behind);
        if (n_own > MANY_CODES && behind > i + 1)
            cut_long_texts(pieces, i + 1, behind - 1);
        n_codes += n_own;
        if (n_codes > MANY_CODES && behind < end) {
            pieces->items[behind].cuts = true;
            n_codes = 0;
        }
    }
}

/* If a text ends within a pair of tags, then the pair is around several texts, so that texts end at
 * its tags as well. */
static void cut_around_split_pairs(struct mt_html_pieces *pieces, size_t first, size_t end)
{
    size_t last = first; /* where the last text begins, among those that are cut so far */
    for (size_t i = first; i < end; i++) {
        struct mt_html_piece *piece = &pieces->items[i];
        last = piece->cuts ? i : last;
        if (piece->kind != MT_HTML_END || piece->mate == MT_NO_MATE || last <= piece->mate)
            continue;
        pieces->items[piece->mate].cuts = true;
        if (i + 1 < end)
            pieces->items[i + 1].cuts = true;
    }
}

void mt_html_cut(struct mt_html_pieces *pieces, size_t first, size_t end)
{
    cut_row(pieces, first, end, true);
    cut_lists(pieces, first, end);
    cut_labels(pieces, first, end);
    cut_behind_marks(pieces, first, end);
    cut_remarks(pieces, first, end);
    cut_at_separators(pieces, first, end);
    cut_long_texts(pieces, first, end);
    cut_around_split_pairs(pieces, first, end);
}
