/*
 * The inside of /translate, shared by translate_api.c (which reads the request and takes its texts from
 * model to model) and translate_reply.c (which says what became of them).
 */
#ifndef MT_SERVER_API_TRANSLATE_STATE_H
#define MT_SERVER_API_TRANSLATE_STATE_H

#include "server/api/detect_api.h"
#include "server/api/languages_api.h"
#include "server/api/memory_use.h"
#include "server/api/outcome.h"
#include "server/api/translate_params.h"
#include "server/api/warnings.h"
#include "server/passages/alignment_trace.h"
#include "server/passages/passage.h"

/*
 * One element of q, on its way through the models of its route:
 *
 *   bytes --[step 0]--> input --[step 1]--> outcome
 */
struct mt_translate_text {
    const char *bytes; /* the request's */
    size_t length;
    struct mt_detection detected; /* where the source is "auto" */
    struct mt_language_pair pair; /* as which it is translated, and its way */
    size_t n_steps;               /* that it has taken */
    bool has_ended;               /* outcome is there */
    struct mt_text input;         /* what the last step gave, for the next one */
    struct mt_passage *passage;   /* of the step that is being taken, */
    struct mt_proofreader reader; /* and what reads it */
    struct mt_passage_cursor given;
    struct mt_text memory; /* what translation memories have (memory_use.h) */
    struct mt_outcome outcome;
};

/* What runs now: one step of all texts whose turn it is with this model. */
struct mt_translate_round {
    struct mt_served_model *served; /* NULL: nothing */
    bool is_last;                   /* the step is the last one of these texts */
    struct mt_translate_decoding decoding;
    struct mt_translation_options traced; /* for what has marks to be put back */
    struct mt_alignment_trace marks, alignment;
};

struct mt_translate_state {
    struct mt_translate_text *texts;
    size_t n_texts;
    const struct cJSON *q; /* the first of n_given strings, which become the texts */
    size_t n_given;
    bool is_array;
    bool is_auto;    /* each text's language is detected; its pair's source is "" until then */
    bool has_served; /* and one of them is in a language that something leads from */
    struct mt_served_model *only; /* the model that the request names; NULL: any */
    /* A language of its own for each text; NULL: one for all. */
    const struct cJSON *sources, *targets;
    struct mt_translate_params params;
    struct mt_memory_use memory;
    struct mt_glossary passed_on; /* the terms as later steps meet them */
    struct mt_translate_round round;
    /* The lost codes of all texts and steps, as JSON. */
    struct mt_text lost;
    struct mt_json_writer lost_writer;
    struct mt_warnings warnings;
};

/* Whether a text goes through several models. */
bool mt_translate_is_pivoted(const struct mt_translate_state *state);

/* The handler's. */
MT_MUST_CHECK enum mt_status mt_translate_finish(struct mt_request *request, struct mt_error *err);

#endif
