#include "server/text/protect.h"

#include "base/size.h"

#include "server/text/placeholders.h"
#include "server/text/terms.h"

#include <string.h>

/* ---- finding ---- */

/* Placeholders and glue that follow. */
static size_t extend(const char *text, size_t length, size_t end)
{
    while (end < length) {
        size_t n = mt_placeholder_at(text, length, end);
        if (n == 0 && !mt_placeholder_may_touch(text[end]))
            break;
        end += n ? n : 1;
    }
    return end;
}

struct mt_protected mt_protect_find(const char *text, size_t length, size_t from)
{
    for (size_t i = from; i < length; i += mt_utf8_length((unsigned char)text[i])) {
        size_t n = mt_placeholder_at(text, length, i);
        if (n) {
            size_t begin = i;
            while (begin > from && mt_placeholder_may_touch(text[begin - 1]))
                begin--;
            return (struct mt_protected){MT_PROTECTED_WORD, begin, extend(text, length, i + n),
                                         MT_NO_TERM};
        }
        n = mt_emoji_at(text, length, i);
        if (n)
            return (struct mt_protected){MT_PROTECTED_EMOJI, i, i + n, MT_NO_TERM};
    }
    return (struct mt_protected){MT_PROTECTED_NOTHING, length, length, MT_NO_TERM};
}

bool mt_protect_is_all(const char *text, size_t length, enum mt_protected_kind *kind)
{
    struct mt_range inner = mt_range_trim(text, 0, length);
    struct mt_protected found = mt_protect_find(text, length, inner.begin);
    *kind = found.kind;
    return found.kind != MT_PROTECTED_NOTHING && found.begin == inner.begin &&
           found.end == inner.end;
}

/* ---- standing in ---- */

/* First those that small models copy too. */
static const char *const names[] = {"Tom",  "Maria",  "Boston", "Mary", "Paul",
                                    "Anna", "Peter",  "Laura",  "John", "Julia",
                                    "Max",  "Berlin", "London", "Ken",  "Bob"};
/* Without 12, 20 and the like, for which a translation may have a word: a dozen. */
static const char *const numbers[] = {"17", "34", "58", "26", "73", "41", "95", "62",
                                      "87", "39", "53", "78", "46", "91", "67"};

static void choose(struct mt_stand_in_words *chosen, const char *const *candidates, size_t n,
                   const char *text, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (chosen->n < MT_MAX_STAND_INS &&
            (length == 0 || !memmem(text, length, candidates[i], strlen(candidates[i]))))
            chosen->words[chosen->n++] = candidates[i];
    if (chosen->n == 0) /* a text with all of them has more than enough for the alignment */
        chosen->words[chosen->n++] = candidates[0];
}

void mt_stand_ins_init(struct mt_stand_ins *stand_ins, const char *text, size_t length)
{
    *stand_ins = (struct mt_stand_ins){0};
    choose(&stand_ins->names, names, sizeof names / sizeof *names, text, length);
    choose(&stand_ins->numbers, numbers, sizeof numbers / sizeof *numbers, text, length);
}

const char *mt_stand_ins_next(struct mt_stand_ins *stand_ins, bool is_number)
{
    struct mt_stand_in_words *words = is_number ? &stand_ins->numbers : &stand_ins->names;
    const char *word = words->words[words->next];
    words->next = (words->next + 1) % words->n;
    return word;
}

/* ---- in order ---- */

void mt_protect_scan_begin(struct mt_protect_scan *scan, const char *text, size_t length,
                           bool protects, struct mt_terms *terms, bool crosses_lines)
{
    *scan = (struct mt_protect_scan){
        .text = text, .length = length, .protects = protects, .terms = terms};
    if (terms)
        mt_terms_search(terms, text, length, crosses_lines);
}

static struct mt_protected nothing(const struct mt_protect_scan *scan)
{
    return (struct mt_protected){MT_PROTECTED_NOTHING, scan->length, scan->length, MT_NO_TERM};
}

static struct mt_protected find_term(const struct mt_protect_scan *scan, size_t from)
{
    struct mt_term_match match = mt_terms_find(scan->terms, from);
    if (match.term == MT_NO_TERM)
        return nothing(scan);
    return (struct mt_protected){MT_PROTECTED_TERM, match.begin, match.end, match.term};
}

/* What was found remains the next of its kind until `from` has passed it, so that a text is
 * searched once for each. */
struct mt_protected mt_protect_scan_next(struct mt_protect_scan *scan, size_t from)
{
    struct mt_protected *placeholder = &scan->placeholder, *term = &scan->term;
    if (!scan->has_found || placeholder->begin < from)
        *placeholder =
            scan->protects ? mt_protect_find(scan->text, scan->length, from) : nothing(scan);
    if (!scan->has_found || term->begin < from)
        *term = scan->terms ? find_term(scan, from) : nothing(scan);
    scan->has_found = true;
    if (term->begin != placeholder->begin)
        return term->begin < placeholder->begin ? *term : *placeholder;
    return term->end > placeholder->end ? *term : *placeholder;
}

static void append_found(struct mt_marked *marked, struct mt_stand_ins *stand_ins,
                         const struct mt_protect_scan *scan, const struct mt_protected *found)
{
    const char *bytes = scan->text + found->begin;
    size_t length = found->end - found->begin;
    if (found->kind == MT_PROTECTED_WORD) {
        mt_marked_stand_in(marked,
                           mt_stand_ins_next(stand_ins, mt_placeholder_is_count(bytes, length)),
                           bytes, length);
    } else if (found->kind == MT_PROTECTED_EMOJI) {
        mt_marked_point(marked, bytes, length);
    } else if (found->kind == MT_PROTECTED_TERM) {
        struct mt_term term = mt_terms_at(scan->terms, found->term);
        const char *target = term.is_kept ? bytes : term.target;
        size_t n_target = term.is_kept ? length : strlen(term.target);
        const struct mt_marked_term mark = {
            .words = bytes,
            .n_words = length,
            .target = target,
            .n_target = n_target,
            .written = target,
            .n_written = n_target,
            .term = found->term,
            .is_kept = term.is_kept,
        };
        mt_marked_term(marked, &mark);
    }
}

size_t mt_protect_append(struct mt_marked *marked, struct mt_stand_ins *stand_ins,
                         struct mt_protect_scan *scan, size_t from, size_t end)
{
    while (from < end && marked->n < MT_MAX_MARKS) {
        struct mt_protected found = mt_protect_scan_next(scan, from);
        size_t begin = mt_size_min(found.begin, end);
        mt_marked_append(marked, scan->text + from, begin - from);
        if (begin == end)
            return end;
        append_found(marked, stand_ins, scan, &found);
        from = found.end;
    }
    return from;
}
