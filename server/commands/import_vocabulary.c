#include "server/commands/import_vocabulary.h"

#include "base/file.h"
#include "model/files/target_vocabulary.h"
#include "model/model.h"
#include "model/tokenizer/tokenizer.h"
#include "server/text/direction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXTS 256

struct text {
    const char *language; /* the model's own code, or NULL */
    const char *path;
};

struct making {
    const struct mt_model *model;
    const char *directory;
    struct text texts[MAX_TEXTS];
    size_t n;
    bool *marks; /* [n_target_vocab]: the token occurs in the texts */
    struct mt_error *err;
};

/* item is cut at its equals sign. */
static enum mt_status take_text(struct making *m, char *item)
{
    const struct mt_tokenizer *tokenizer = mt_model_tokenizer(m->model);
    struct text text = {.path = item};
    char *equals = strchr(item, '=');
    struct mt_text_direction direction;
    if (m->n == MAX_TEXTS)
        return mt_fail(m->err, MT_LIMIT, "--target-vocabulary: more than %d texts", MAX_TEXTS);
    if (mt_tokenizer_n_languages(tokenizer) > 0) {
        if (!equals)
            return mt_fail(m->err, MT_INVALID,
                           "--target-vocabulary is \"%.200s\", expected LANGUAGE=FILE, because the "
                           "model has many languages",
                           item);
        *equals = '\0';
        enum mt_status status = mt_text_direction_choose(tokenizer, item, item, &direction, m->err);
        if (status)
            return mt_fail_in(m->err, status, "--target-vocabulary");
        text = (struct text){.language = direction.target_code, .path = equals + 1};
    }
    if (!*text.path)
        return mt_fail(m->err, MT_INVALID, "--target-vocabulary: expected a file, found none");
    m->texts[m->n++] = text;
    return MT_OK;
}

static enum mt_status add_lines(struct making *m, const char *path)
{
    struct mt_mapping file = {0};
    enum mt_status status = mt_mapping_open(path, MT_LOAD_MMAP, &file, m->err);
    const char *bytes = (const char *)file.bytes;
    size_t line = 1;
    for (size_t at = 0; at < file.length && !status; line++) {
        const char *end = memchr(bytes + at, '\n', file.length - at);
        size_t n = end ? (size_t)(end - bytes) - at : file.length - at;
        status = mt_target_vocabulary_add_text(mt_model_tokenizer(m->model), bytes + at, n,
                                               mt_model_hparams(m->model), m->marks, m->err);
        at += n + 1;
    }
    if (status && file.bytes) {
        char where[512];
        snprintf(where, sizeof where, "%.480s: line %zu", path, line - 1);
        status = mt_fail_in(m->err, status, where);
    }
    if (!status)
        status = mt_mapping_check(&file, m->err);
    mt_mapping_close(&file);
    return status;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Collects the tokens of all texts of one language. */
static enum mt_status collect(struct making *m, const char *language, size_t *n_texts)
{
    const struct mt_tokenizer *tokenizer = mt_model_tokenizer(m->model);
    const struct mt_hparams *h = mt_model_hparams(m->model);
    struct mt_direction direction;
    enum mt_status status = MT_OK;
    memset(m->marks, 0, h->n_target_vocab * sizeof *m->marks);
    mt_target_vocabulary_add_common(tokenizer, h, m->marks);
    if (language) {
        status = mt_tokenizer_direction(tokenizer, language, language, &direction, m->err);
        if (!status && direction.target >= 0 && (size_t)direction.target < h->n_target_vocab)
            m->marks[direction.target] = true;
    }
    *n_texts = 0;
    for (size_t i = 0; i < m->n && !status; i++)
        if (is_same(m->texts[i].language, language)) {
            status = add_lines(m, m->texts[i].path);
            (*n_texts)++;
        }
    return status;
}

static enum mt_status write_file(struct making *m, const char *language, size_t n_texts)
{
    const struct mt_hparams *h = mt_model_hparams(m->model);
    char name[MT_TARGET_VOCABULARY_NAME_BYTES], *path = NULL;
    struct mt_text text = {0};
    size_t n = 0;
    mt_target_vocabulary_name(language, name);
    enum mt_status status = mt_target_vocabulary_write(h, m->marks, &text, m->err);
    if (!status)
        status = mt_path_join(m->directory, name, &path, m->err);
    if (!status)
        status = mt_file_write(path, text.bytes, text.length, m->err);
    for (size_t id = 0; id < h->n_target_vocab; id++)
        n += m->marks[id];
    if (!status)
        printf("target vocabulary: %s, %zu of %zu tokens, from %zu text%s\n", name, n,
               h->n_target_vocab, n_texts, n_texts == 1 ? "" : "s");
    free(path);
    mt_text_finish(&text);
    return status;
}

static enum mt_status make_all(struct making *m)
{
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < m->n && !status; i++) {
        size_t first = 0, n_texts;
        while (!is_same(m->texts[first].language, m->texts[i].language))
            first++;
        if (first < i)
            continue; /* its vocabulary has been made together with that one */
        status = collect(m, m->texts[i].language, &n_texts);
        if (!status)
            status = write_file(m, m->texts[i].language, n_texts);
    }
    return status;
}

enum mt_status mt_import_vocabularies(const struct mt_model *model, const char *directory,
                                      const char *texts, struct mt_error *err)
{
    struct making m = {.model = model, .directory = directory, .err = err};
    size_t n_vocab = mt_model_hparams(model)->n_target_vocab;
    if (mt_model_has_shortlist(model))
        return mt_fail(err, MT_INVALID,
                       "--target-vocabulary: the model has a lexical shortlist, which names fewer "
                       "tokens still; expected a model without one");
    char *items = strdup(texts), *rest = items;
    m.marks = calloc(n_vocab, sizeof *m.marks);
    enum mt_status status =
        items && m.marks ? MT_OK : mt_fail_memory(err, n_vocab + strlen(texts) + 1, "vocabulary");
    for (char *item; !status && (item = strsep(&rest, ","));)
        status = take_text(&m, item);
    if (!status)
        status = make_all(&m);
    free(items);
    free(m.marks);
    return status;
}
