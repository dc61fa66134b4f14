/*
 * The inside of /translate, shared by translate_api.c (which reads the request and takes its texts
 * from model to model) and translate_reply.c (which writes the results).
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
    const char *bytes; /* belongs to the request */
    size_t length;
    struct mt_detection detected; /* where the source is "auto" */
    struct mt_language_pair pair; /* its languages, and its way */
    size_t n_steps;               /* steps that are complete */
    bool has_ended;               /* outcome is filled in */
    struct mt_text input;         /* output of the last step, and input of the next one */
    struct mt_passage *passage;   /* of the current step */
    struct mt_proofreader reader; /* of the current step */
    struct mt_passage_cursor given;
    struct mt_text memory; /* matches of translation memories (memory_use.h) */
    struct mt_outcome outcome;
};

/* The current round: one step of all texts that are to be translated by this model. */
struct mt_translate_round {
    struct mt_served_model *served; /* NULL: no round is running */
    bool is_last;                   /* the step is the last one of these texts */
    struct mt_translate_decoding decoding;
    struct mt_translation_options traced; /* for texts with tags that have to be put back */
    struct mt_alignment_trace tags, alignment;
};

struct mt_translate_state {
    struct mt_translate_text *texts;
    size_t n_texts;
    const struct cJSON *q; /* the first of n_given strings, which become the texts */
    size_t n_given;
    bool is_array;
    bool is_auto;    /* each text's language is detected; until then its pair's source is "" */
    bool has_served; /* at least one text is in a language that some model takes */
    struct mt_served_model *only; /* the model that the request names; NULL: any */
    /* The language of each text; NULL: all have the same one. */
    const struct cJSON *sources, *targets;
    struct mt_translate_params params;
    struct mt_memory_use memory;
    struct mt_glossary passed_on; /* the terms for later steps */
    struct mt_translate_round round;
    /* The lost codes of all texts and steps, as JSON. */
    struct mt_text lost;
    struct mt_json_writer lost_writer;
    struct mt_warnings warnings;
};

/* Whether a text goes through several models. */
bool mt_translate_is_pivoted(const struct mt_translate_state *state);

/* The handler's finish. */
MT_MUST_CHECK enum mt_status mt_translate_finish(struct mt_request *request, struct mt_error *err);

#endif
