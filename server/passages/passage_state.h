/*
 * The inside of a passage, shared by passage_make.c (which takes the text apart) and passage.c
 * (which puts its translation together).
 */
#ifndef MT_SERVER_PASSAGES_PASSAGE_STATE_H
#define MT_SERVER_PASSAGES_PASSAGE_STATE_H

#include "server/text/markup.h"
#include "server/passages/passage.h"
#include "server/passages/placement.h"

struct mt_passage_part {
    const struct mt_marked *marked;     /* NULL: the text as it is */
    struct mt_marked own;               /* what marked points to, in plain text */
    struct mt_range range;              /* in plain text: its bytes */
    struct mt_translation *translation; /* NULL: nothing to translate, it stays */
    bool is_traced;
    bool has_links;
    struct mt_word_links links; /* of rank 0 */
};

struct mt_passage {
    const char *text; /* the caller's */
    size_t length;
    struct mt_markup *markup; /* NULL: plain text, or a subtitle */
    bool is_escaped;          /* a subtitle with entities */
    struct mt_passage_part *parts;
    size_t n, capacity;
    struct mt_alignment_trace *trace;
    const struct mt_tokenizer *editor; /* NULL: translations stay as the model wrote them */
};

#endif
