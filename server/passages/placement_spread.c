/* Spans that an alignment left without a word. */
#include "server/passages/placement.h"

#include "base/size.h"

static bool has_word(const char *text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end; at += mt_utf8_length((unsigned char)text[at]))
        if (mt_is_word_char(mt_utf8_decode(text + at)))
            return true;
    return false;
}

static bool held_words(const struct mt_marked *marked, const struct mt_mark *mark)
{
    return mark->kind == MT_MARK_SPAN && has_word(marked->text.bytes, mark->begin, mark->end);
}

static bool is_empty(const struct mt_placement_input *input, const struct mt_placement *placement,
                     size_t index)
{
    const struct mt_mark *mark = &input->marked->marks[index];
    struct mt_place place = placement->places[index];
    if (mark->parent != MT_NO_MARK) {
        place.begin = mt_size_max(place.begin, placement->places[mark->parent].begin);
        place.end = mt_size_min(place.end, placement->places[mark->parent].end);
    }
    return held_words(input->marked, mark) && !has_word(input->target, place.begin, place.end);
}

bool mt_placement_keeps_words(const struct mt_placement_input *input,
                              const struct mt_placement *placement)
{
    for (size_t i = 0; i < input->marked->n; i++)
        if (is_empty(input, placement, i))
            return false;
    return true;
}

/* Behind n letters from text[begin] on, and what follows them up to the next one. */
static size_t behind_letters(const char *text, size_t begin, size_t end, size_t n)
{
    size_t at = begin;
    for (; at < end; at += mt_utf8_length((unsigned char)text[at]))
        if (mt_is_word_char(mt_utf8_decode(text + at)) && n-- == 0)
            break;
    return at;
}

static size_t count_letters(const char *text, size_t begin, size_t end)
{
    size_t n = 0;
    for (size_t at = begin; at < end; at += mt_utf8_length((unsigned char)text[at]))
        n += mt_is_word_char(mt_utf8_decode(text + at));
    return n;
}

/* The children of one parent, or of none. */
static void spread(const struct mt_placement_input *input, struct mt_placement *placement,
                   size_t parent)
{
    const struct mt_marked *marked = input->marked;
    struct mt_range within = {0, input->target_length}, source = {0, marked->text.length};
    size_t n_children = 0, n_done = 0, n_given = 0;
    if (parent != MT_NO_MARK) {
        within = (struct mt_range){placement->places[parent].begin, placement->places[parent].end};
        source = (struct mt_range){marked->marks[parent].begin, marked->marks[parent].end};
    }
    for (size_t i = 0; i < marked->n; i++)
        n_children += marked->marks[i].parent == parent && held_words(marked, &marked->marks[i]);
    size_t n_source = mt_size_max(1, count_letters(marked->text.bytes, source.begin, source.end));
    size_t n_target = count_letters(input->target, within.begin, within.end), at = within.begin;
    size_t n_before = 0, counted = source.begin; /* letters of the source before `counted` */
    for (size_t i = 0; i < marked->n; i++) {
        const struct mt_mark *mark = &marked->marks[i];
        if (mark->parent != parent || !held_words(marked, mark))
            continue;
        n_before += count_letters(marked->text.bytes, counted, mark->end);
        counted = mark->end;
        n_done++;
        size_t n_left = n_children - n_done; /* each needs a letter, too */
        size_t n_until = mt_size_max(n_before * n_target / n_source, n_given + 1);
        n_until = mt_size_min(n_until, n_target > n_left ? n_target - n_left : n_given);
        size_t end = behind_letters(input->target, at, within.end, n_until - n_given);
        placement->places[i] = (struct mt_place){.begin = at, .end = end};
        n_given = n_until;
        at = end;
    }
}

static bool lacks_words(const struct mt_placement_input *input,
                        const struct mt_placement *placement, size_t parent)
{
    for (size_t i = 0; i < input->marked->n; i++)
        if (input->marked->marks[i].parent == parent && is_empty(input, placement, i))
            return true;
    return false;
}

void mt_placement_spread(const struct mt_placement_input *input, struct mt_placement *placement)
{
    if (lacks_words(input, placement, MT_NO_MARK))
        spread(input, placement, MT_NO_MARK);
    for (size_t i = 0; i < input->marked->n; i++)
        if (input->marked->marks[i].kind == MT_MARK_SPAN && lacks_words(input, placement, i))
            spread(input, placement, i);
}
