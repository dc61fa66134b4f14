#include "server/documents/document_translation.h"

#include "config/settings.h"
#include "server/service/service.h"
#include "server/passages/passage.h"
#include "server/models/served_model.h"

#include <stdlib.h>

struct mt_document_translation {
    const struct mt_document *document;
    size_t n; /* number of texts */
    /* the texts as the previous model left them; NULL: those of the document */
    struct mt_text *inputs;
    struct mt_passage **passages; /* one for each text */

    /* The rest belongs to the current step. */
    struct mt_alignment_trace tags;
    const struct mt_model *model;
    struct mt_translation_options plain, traced;
    struct mt_passage_options options;
    struct mt_coded_options reading;
    size_t n_made, n_rendered, n_forgotten; /* numbers of passages, from the first on */
    struct mt_text *outputs;                /* the translations; NULL: none is rendered */
};

enum mt_status mt_document_count_chars(const struct mt_document *document,
                                       const struct mt_coded_options *reading, size_t *out,
                                       struct mt_error *err)
{
    size_t n_chars = 0;
    for (size_t i = 0; i < mt_document_n_texts(document); i++) {
        struct mt_document_text text = mt_document_text(document, i);
        struct mt_coded coded = {0};
        enum mt_status status = text.read(text.bytes, text.length, reading, &coded, err);
        for (size_t k = 0; k < coded.n; k++)
            n_chars += mt_utf8_count(coded.segments[k].words.bytes, coded.segments[k].words.length);
        mt_coded_finish(&coded);
        if (status)
            return status;
    }
    *out = n_chars;
    return MT_OK;
}

void mt_document_translation_begin_step(struct mt_document_translation *t,
                                        const struct mt_document_step *step)
{
    bool is_html = t->n > 0 && mt_document_text(t->document, 0).read == mt_read_html;
    t->model = step->model->model;
    t->plain = *step->options;
    if (is_html && t->plain.split == MT_SPLIT_OFF)
        /* a document's text has its line breaks as line feeds */
        t->plain.split = MT_SPLIT_NEWLINES;
    t->traced = t->plain;
    t->options = (struct mt_passage_options){
        .plain = &t->plain,
        .traced = &t->traced,
        .trace = &t->tags,
        .finds_codes = true,
        .post_edits = step->options->eases_source,
        .terms = step->terms,
        .recall = step->recall,
        .reader = step->reader,
        .keeps_target = step->reader != NULL,
        .repairs_numbers = step->repairs_numbers,
    };
    t->reading.max_tags = (size_t)step->service->settings->max_html_tags;
    mt_alignment_trace_begin(&t->tags, step->service, step->model, &t->traced);
}

static enum mt_status make_passage(struct mt_document_translation *t, size_t index,
                                   struct mt_error *err)
{
    struct mt_document_text text = mt_document_text(t->document, index);
    const char *bytes = t->inputs ? t->inputs[index].bytes : text.bytes;
    size_t length = t->inputs ? t->inputs[index].length : text.length;
    struct mt_coded coded = {0};
    enum mt_status status = text.read(bytes, length, &t->reading, &coded, err);
    if (status) {
        mt_coded_finish(&coded);
        return status;
    }
    return mt_passage_create(t->model, &coded, &t->options, &t->passages[index], err);
}

enum mt_status mt_document_translation_make(struct mt_document_translation *t, size_t n_sentences,
                                            bool *is_made, struct mt_error *err)
{
    size_t n = 0;
    while (t->n_made < t->n && n < n_sentences &&
           (n == 0 || mt_alignment_trace_has_room(&t->tags))) {
        enum mt_status status = make_passage(t, t->n_made, err);
        if (status)
            return status;
        n += mt_passage_n_sentences(t->passages[t->n_made++]);
    }
    *is_made = t->n_made == t->n;
    return MT_OK;
}

enum mt_status mt_document_translation_create(const struct mt_document *document,
                                              struct mt_document_translation **out,
                                              struct mt_error *err)
{
    struct mt_document_translation *t = calloc(1, sizeof *t);
    if (!t)
        return mt_fail_memory(err, sizeof *t, "a file's translation");
    t->document = document;
    t->n = mt_document_n_texts(document);
    t->passages = calloc(t->n + 1, sizeof t->passages[0]);
    if (!t->passages) {
        mt_document_translation_destroy(t);
        return mt_fail_memory(err, sizeof t->passages[0], "texts of a file");
    }
    *out = t;
    return MT_OK;
}

static void drop_texts(struct mt_text *texts, size_t n)
{
    for (size_t i = 0; i < n && texts; i++)
        mt_text_finish(&texts[i]);
    free(texts);
}

static void drop_passages(struct mt_document_translation *t)
{
    for (size_t i = 0; i < t->n && t->passages; i++) {
        mt_passage_destroy(t->passages[i]);
        t->passages[i] = NULL;
    }
    mt_alignment_trace_finish(&t->tags);
}

enum mt_status mt_document_translation_render(struct mt_document_translation *t,
                                              struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (!t->outputs)
        t->outputs = calloc(t->n + 1, sizeof *t->outputs);
    if (!t->outputs)
        return mt_fail_memory(err, t->n * sizeof *t->outputs, "a file's translation");
    for (; t->n_rendered < t->n_made && !status; t->n_rendered++)
        status = mt_passage_render(t->passages[t->n_rendered], 0, &t->outputs[t->n_rendered], err);
    return status;
}

enum mt_status mt_document_translation_end_step(struct mt_document_translation *t,
                                                struct mt_error *err)
{
    enum mt_status status = MT_OK;
    drop_passages(t); /* they borrow the previous inputs */
    drop_texts(t->inputs, t->n);
    t->inputs = t->outputs;
    t->outputs = NULL;
    t->n_made = t->n_rendered = t->n_forgotten = 0;
    for (size_t i = 0; i < t->n && !status; i++)
        status = mt_text_repair(&t->inputs[i], "a text of a file", err);
    return status;
}

void mt_document_translation_forget(struct mt_document_translation *t)
{
    for (; t->n_forgotten < t->n_rendered; t->n_forgotten++) {
        mt_passage_destroy(t->passages[t->n_forgotten]);
        t->passages[t->n_forgotten] = NULL;
    }
    if (t->n_forgotten == t->n_made) /* no sentence has a trace any more */
        mt_alignment_trace_finish(&t->tags);
}

void mt_document_translation_destroy(struct mt_document_translation *t)
{
    if (!t)
        return;
    drop_passages(t);
    drop_texts(t->inputs, t->n);
    drop_texts(t->outputs, t->n);
    free(t->passages);
    free(t);
}

size_t mt_document_translation_n_made(const struct mt_document_translation *t)
{
    return t->n_made;
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
    while (!status && (translation = mt_passage_next(passage, &position))) {
        size_t n = mt_translation_n_sentences(translation);
        for (size_t k = 0; k < n && !status; k++)
            status = add(context, mt_translation_part(translation, k).sentence, err);
    }
    return status;
}

enum mt_status mt_document_translation_list(const struct mt_document_translation *t,
                                            mt_document_add_sentence *add, void *context,
                                            struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (size_t i = t->n_rendered; i < t->n_made && !status; i++)
        status = list_passage(t->passages[i], add, context, err);
    return status;
}

enum mt_status mt_document_translation_write(const struct mt_document_translation *t,
                                             struct mt_text *out, struct mt_document_report *report,
                                             struct mt_error *err)
{
    return mt_document_write(t->document, t->outputs, out, report, err);
}
