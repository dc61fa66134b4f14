#include "server/document_translation.h"

#include "config/settings.h"
#include "server/handler.h"
#include "server/passage.h"
#include "server/served_model.h"

#include <stdlib.h>

struct mt_document_translation {
    const struct mt_document *document;
    struct mt_translation_options plain, traced;
    struct mt_alignment_trace marks;
    struct mt_passage **passages; /* one for each text */
    struct mt_text *inputs;       /* the texts as the last model left them; NULL: the document's */
    size_t n;
};

size_t mt_document_n_chars(const struct mt_document *document)
{
    size_t n_chars = 0;
    for (size_t i = 0; i < mt_document_n_texts(document); i++) {
        struct mt_document_text text = mt_document_text(document, i);
        n_chars += mt_utf8_count(text.bytes, text.length);
    }
    return n_chars;
}

static enum mt_cue_markup cues_of(enum mt_document_form form)
{
    if (form == MT_FORM_SRT)
        return MT_CUES_SRT;
    return form == MT_FORM_VTT ? MT_CUES_VTT : MT_CUES_NONE;
}

static enum mt_status create_passages(struct mt_document_translation *t,
                                      const struct mt_service *service,
                                      const struct mt_loaded_model *model, struct mt_terms *terms,
                                      struct mt_error *err)
{
    enum mt_status status = MT_OK;
    struct mt_passage_options options = {
        .plain = &t->plain,
        .traced = &t->traced,
        .trace = &t->marks,
        .protects = true,
        .terms = terms,
        .max_html_tags = (size_t)service->settings->max_html_tags,
    };
    for (size_t i = 0; i < t->n && status == MT_OK; i++) {
        struct mt_document_text text = mt_document_text(t->document, i);
        const char *bytes = t->inputs != NULL ? t->inputs[i].bytes : text.bytes;
        size_t length = t->inputs != NULL ? t->inputs[i].length : text.length;
        options.is_html = text.form == MT_FORM_HTML;
        options.cues = cues_of(text.form);
        status = mt_passage_create(model->model, bytes, length, &options, &t->passages[i], err);
    }
    return status;
}

enum mt_status mt_document_translation_begin_step(struct mt_document_translation *t,
                                                  const struct mt_service *service,
                                                  const struct mt_loaded_model *model,
                                                  const struct mt_translation_options *options,
                                                  struct mt_terms *terms, struct mt_error *err)
{
    bool is_html = t->n > 0 && mt_document_text(t->document, 0).form == MT_FORM_HTML;
    t->plain = *options;
    if (is_html && t->plain.split == MT_SPLIT_OFF)
        t->plain.split = MT_SPLIT_NEWLINES; /* line feeds are its line breaks */
    t->traced = t->plain;
    enum mt_status status = mt_alignment_trace_begin(&t->marks, service, model, &t->traced, err);
    return status == MT_OK ? create_passages(t, service, model, terms, err) : status;
}

enum mt_status mt_document_translation_create(
    const struct mt_service *service, const struct mt_loaded_model *model,
    const struct mt_document *document, const struct mt_translation_options *options,
    struct mt_terms *terms, struct mt_document_translation **out, struct mt_error *err)
{
    struct mt_document_translation *t = calloc(1, sizeof *t);
    if (t == NULL)
        return mt_fail_memory(err, sizeof *t, "a file's translation");
    t->document = document;
    t->n = mt_document_n_texts(document);
    t->passages = calloc(t->n + 1, sizeof t->passages[0]);
    enum mt_status status =
        t->passages != NULL
            ? mt_document_translation_begin_step(t, service, model, options, terms, err)
            : mt_fail_memory(err, t->n * sizeof t->passages[0], "texts of a file");
    if (status != MT_OK) {
        mt_document_translation_destroy(t);
        return status;
    }
    *out = t;
    return MT_OK;
}

static void drop_texts(struct mt_text *texts, size_t n)
{
    for (size_t i = 0; i < n && texts != NULL; i++)
        mt_text_finish(&texts[i]);
    free(texts);
}

static void drop_passages(struct mt_document_translation *t)
{
    for (size_t i = 0; i < t->n && t->passages != NULL; i++) {
        mt_passage_destroy(t->passages[i]);
        t->passages[i] = NULL;
    }
    mt_alignment_trace_finish(&t->marks);
}

/* What the passages have become; the caller's, with room for n. */
static enum mt_status render(const struct mt_document_translation *t, struct mt_text **out,
                             struct mt_error *err)
{
    struct mt_text *texts = calloc(t->n + 1, sizeof *texts);
    enum mt_status status = MT_OK;
    if (texts == NULL)
        return mt_fail_memory(err, t->n * sizeof *texts, "a file's translation");
    for (size_t i = 0; i < t->n && status == MT_OK; i++)
        status = mt_passage_render(t->passages[i], 0, NULL, &texts[i], err);
    if (status != MT_OK)
        drop_texts(texts, t->n);
    else
        *out = texts;
    return status;
}

enum mt_status mt_document_translation_end_step(struct mt_document_translation *t,
                                                struct mt_error *err)
{
    struct mt_text *texts;
    enum mt_status status = render(t, &texts, err);
    if (status != MT_OK)
        return status;
    drop_passages(t); /* they borrow the former inputs */
    drop_texts(t->inputs, t->n);
    t->inputs = texts;
    for (size_t i = 0; i < t->n && status == MT_OK; i++)
        status = mt_text_repair(&texts[i], "a text of a file", err);
    return status;
}

void mt_document_translation_destroy(struct mt_document_translation *t)
{
    if (t == NULL)
        return;
    drop_passages(t);
    drop_texts(t->inputs, t->n);
    free(t->passages);
    free(t);
}

struct mt_passage *mt_document_translation_passage(const struct mt_document_translation *t,
                                                   size_t index)
{
    return t->passages[index];
}

static enum mt_status list_passage(const struct mt_passage *passage, mt_document_add_sentence *add,
                                   void *context, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    const struct mt_translation *translation;
    size_t position = 0;
    while (status == MT_OK && (translation = mt_passage_next(passage, &position)) != NULL) {
        size_t n = mt_translation_n_sentences(translation);
        for (size_t k = 0; k < n && status == MT_OK; k++)
            status = add(context, mt_translation_part(translation, k).sentence, err);
    }
    return status;
}

enum mt_status mt_document_translation_list(const struct mt_document_translation *t,
                                            mt_document_add_sentence *add, void *context,
                                            struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < t->n && status == MT_OK; i++)
        status = list_passage(t->passages[i], add, context, err);
    return status;
}

enum mt_status mt_document_translation_write(struct mt_document_translation *t, struct mt_text *out,
                                             size_t *n_left, struct mt_error *err)
{
    struct mt_text *translations;
    enum mt_status status = render(t, &translations, err);
    if (status != MT_OK)
        return status;
    status = mt_document_write(t->document, translations, out, n_left, err);
    drop_texts(translations, t->n);
    return status;
}
