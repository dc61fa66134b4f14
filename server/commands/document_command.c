#include "server/commands/document_command.h"

#include "base/file.h"
#include "base/vector.h"
#include "config/settings.h"
#include "model/sentence.h"
#include "server/passages/budget.h"
#include "server/engine/decode.h"
#include "server/documents/document_translation.h"
#include "server/requests/handler.h"
#include "server/commands/progress_bar.h"
#include "server/commands/warning_printer.h"
#include "server/models/served_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES ((size_t)1 << 16)
/* Sentences that are decoded together: enough to keep the batch full, in about 70 MB. */
#define WINDOW_SENTENCES 1024

struct sentences {
    struct mt_sentence **items;
    size_t n, capacity;
    size_t n_decoded;
    size_t n_looked; /* texts whose warnings are printed */
};

static enum mt_status add_sentence(void *context, struct mt_sentence *sentence,
                                   struct mt_error *err)
{
    struct sentences *sentences = context;
    if (MT_ROOM(&sentences->items, &sentences->capacity, sentences->n + 1, "sentences", err))
        return MT_MEMORY;
    sentences->items[sentences->n++] = sentence;
    return MT_OK;
}

static enum mt_status read_input(struct mt_text *out, struct mt_error *err)
{
    char buffer[READ_BYTES];
    ssize_t n;
    out->limit_bytes = MT_DOCUMENT_MAX_BYTES;
    mt_text_append(out, "", 0);
    do {
        n = read(STDIN_FILENO, buffer, sizeof buffer);
        if (n > 0)
            mt_text_append(out, buffer, (size_t)n);
        else if (n < 0 && errno != EINTR)
            return mt_fail(err, MT_IO, "cannot read standard input: %s", strerror(errno));
    } while (n != 0 && !out->status);
    return mt_text_check(out, "standard input", err);
}

/* The file appears only when it is complete. */
static enum mt_status write_file(const char *path, const struct mt_text *text, struct mt_error *err)
{
    char *directory = strdup(path);
    if (!directory)
        return mt_fail_memory(err, strlen(path), "a file's name");
    char *slash = strrchr(directory, '/');
    if (slash && slash > directory) {
        *slash = '\0';
        mt_make_directories(directory);
    }
    free(directory);
    return mt_file_write(path, text->bytes ? text->bytes : "", text->length, err);
}

static enum mt_status write_output(const struct mt_document_command *command,
                                   const struct mt_text *text, struct mt_error *err)
{
    if (command->output)
        return write_file(command->output, text, err);
    for (size_t n_written = 0; n_written < text->length;) {
        ssize_t n = write(STDOUT_FILENO, text->bytes + n_written, text->length - n_written);
        if (n > 0)
            n_written += (size_t)n;
        else if (n < 0 && errno != EINTR)
            return mt_fail(err, errno == EPIPE ? MT_CANCELLED : MT_IO,
                           "cannot write the output: %s", strerror(errno));
    }
    return MT_OK;
}

/* total is the number of sentences; 0: unknown. */
static void update_bar(const struct mt_document_command *command, size_t n_done, size_t total)
{
    char text[100];
    if (!command->bar)
        return;
    if (command->n_files < 2) {
        mt_progress_bar_update(command->bar, n_done, total ? n_done : 0, total);
        return;
    }
    (void)snprintf(text, sizeof text, "file %zu of %zu, %zu sentences", command->n_files_before + 1,
                   command->n_files, n_done);
    double share = total ? (double)n_done / (double)total : 0;
    mt_progress_bar_show(command->bar, text, (double)command->n_files_before + share,
                         (double)command->n_files);
}

static void show_progress(void *command, size_t n_done, size_t n)
{
    update_bar(command, n_done, n);
}

/* Translates as many texts as fill a window, or the rest of them. */
static enum mt_status translate_window(const struct mt_document_command *command,
                                       struct mt_document_translation *translation,
                                       struct sentences *sentences, bool *is_made,
                                       struct mt_error *err)
{
    sentences->n = 0;
    enum mt_status status =
        mt_document_translation_make(translation, WINDOW_SENTENCES, is_made, err);
    if (!status)
        status = mt_document_translation_list(translation, add_sentence, sentences, err);
    bool is_only = *is_made && sentences->n_decoded == 0;
    if (!status && sentences->n > 0)
        status = mt_decode(command->model, (size_t)command->settings->threads_per_worker,
                           command->max_rows, sentences->items, sentences->n,
                           is_only ? show_progress : NULL, (void *)(size_t)command, err);
    if (command->bar)
        mt_progress_bar_hide(command->bar);
    for (; !status && sentences->n_looked < mt_document_translation_n_made(translation);
         sentences->n_looked++)
        status = mt_warning_printer_look(
            command->printer, command->unit ? command->unit : "text", sentences->n_looked + 1,
            mt_document_translation_passage(translation, sentences->n_looked), err);
    sentences->n_decoded += sentences->n;
    update_bar(command, sentences->n_decoded, 0);
    if (!status)
        status = mt_document_translation_render(translation, err);
    mt_document_translation_forget(translation);
    return status;
}

static enum mt_status translate(const struct mt_document_command *command,
                                struct mt_document *document, struct mt_text *out,
                                struct mt_document_report *report, struct mt_error *err)
{
    struct mt_budget budget = {.limit = (uint64_t)command->settings->max_attention_values};
    const struct mt_service service = {.settings = command->settings, .attention_budget = &budget};
    const struct mt_model_defaults defaults = MT_NO_MODEL_DEFAULTS;
    const struct mt_loaded_model model = {.model = command->model,
                                          .label = "",
                                          .defaults = &defaults,
                                          .alignment = command->alignment};
    const struct mt_document_step step = {.service = &service,
                                          .model = &model,
                                          .options = &command->translation,
                                          .reader = command->reader,
                                          .repairs_numbers = command->settings->repair_numbers};
    struct mt_document_translation *translation = NULL;
    struct sentences sentences = {0};
    bool is_made = false;
    enum mt_status status = mt_document_translation_create(document, &translation, err);
    if (!status)
        mt_document_translation_begin_step(translation, &step);
    while (!status && !is_made)
        status = translate_window(command, translation, &sentences, &is_made, err);
    if (!status)
        status = mt_document_translation_render(translation, err);
    if (!status)
        status = mt_document_translation_write(translation, out, report, err);
    free(sentences.items);
    mt_document_translation_destroy(translation);
    return status;
}

enum mt_status mt_document_command_run(const struct mt_document_command *command,
                                       struct mt_document_report *report, struct mt_error *err)
{
    bool is_input = !command->path || strcmp(command->path, "-") == 0;
    struct mt_text input = {0}, output = {0};
    struct mt_document *document = NULL;
    enum mt_status status = is_input ? read_input(&input, err)
                                     : mt_file_read(command->path, MT_DOCUMENT_MAX_BYTES,
                                                    &input.bytes, &input.length, err);
    if (status) {
        mt_text_finish(&input);
        return status;
    }
    status = mt_document_create(input.bytes, input.length, &command->document, &document, err);
    if (status)
        mt_fail_in(err, status, is_input ? "standard input" : command->path);
    mt_text_finish(&input);
    if (!status)
        status = translate(command, document, &output, report, err);
    if (!status)
        status = write_output(command, &output, err);
    report->encoding = NULL; /* it belonged to the document */
    report->n_left = 0;      /* their reasons belonged to the document, too */
    mt_document_destroy(document);
    mt_text_finish(&output);
    return status;
}
