#include "server/commands/line_stream.h"

#include "base/json.h"
#include "base/size.h"
#include "model/model.h"
#include "server/api/warnings.h"
#include "server/engine/engine.h"
#include "server/passages/passage.h"
#include "server/commands/warning_printer.h"
#include "config/settings.h"
#include "server/commands/line_reader.h"
#include "server/commands/progress_bar.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Most lines in flight. Most lines are one sentence, but empty ones have none. */
#define MAX_LINES 4096
/* The output is written when it has this size, or when the next line is not finished. */
#define OUTPUT_BYTES ((size_t)1 << 16)
/* All lines belong to one client, whose jobs the queue serves in order. */
#define CLIENT 1

struct line {
    struct line *next;
    struct stream *stream;
    size_t number;
    char *text; /* borrowed by the passage */
    size_t length;
    struct mt_alignment_trace trace;
    struct mt_passage *passage;
    struct mt_translation *translation; /* of the passage's only part; NULL without as_json */
    struct mt_sentence **sentences;
    struct mt_job job;
    bool is_done; /* guarded by the stream's mutex */
    enum mt_status status;
};

/*
 *   in_fd -> reader (the caller's thread) -> lines in flight -> writer (a thread) -> out_fd
 *
 * The reader waits only in epoll: for input, for room in the window, or for the end.
 */
struct stream {
    const struct mt_line_stream_options *options;
    int event_fd; /* readable when the writer made room, failed or ended */
    int quit_fd;  /* readable when the writer has to end, even if nobody reads the output */
    int wake_fd;  /* epoll of event_fd and stop_fd */

    pthread_mutex_t mutex;   /* guards the members below, and is_done and status of the lines */
    pthread_cond_t progress; /* a line is finished, or a flag changed */
    struct line *first, *last;
    size_t n_lines, n_sentences;
    bool has_ended;   /* no more lines will come */
    bool is_stopping; /* everything has to be dropped */
    bool is_written;  /* the writer has ended */
    enum mt_status write_status;
    struct mt_error write_error;
};

/* --- a line --- */

static void destroy_line(struct line *line)
{
    mt_passage_destroy(line->passage);
    mt_alignment_trace_finish(&line->trace);
    free(line->text);
    free(line->sentences);
    free(line);
}

static void line_done(struct mt_job *job, enum mt_status status)
{
    struct line *line = job->user;
    struct stream *stream = line->stream;
    pthread_mutex_lock(&stream->mutex);
    line->is_done = true;
    line->status = status;
    pthread_cond_signal(&stream->progress);
    pthread_mutex_unlock(&stream->mutex);
}

static enum mt_status list_sentences(struct line *line, struct mt_error *err)
{
    const struct mt_translation *translation;
    size_t n = mt_passage_n_sentences(line->passage), n_listed = 0, position = 0;
    line->is_done = n == 0;
    line->sentences = malloc(mt_size_max(n, 1) * sizeof *line->sentences);
    if (!line->sentences)
        return mt_fail_memory(err, n * sizeof *line->sentences, "the sentences of a line");
    while ((translation = mt_passage_next(line->passage, &position)))
        for (size_t i = 0; i < mt_translation_n_sentences(translation); i++)
            line->sentences[n_listed++] = mt_translation_part(translation, i).sentence;
    line->job = (struct mt_job){
        .sentences = line->sentences,
        .n_sentences = n,
        .lane = line->stream->options->lane,
        .client = CLIENT,
        .on_done = line_done,
        .user = line,
    };
    return MT_OK;
}

static enum mt_status create_passage(struct stream *stream, struct line *line, const char *text,
                                     size_t length, struct mt_error *err)
{
    const struct mt_line_stream_options *options = stream->options;
    struct mt_translation_options traced = options->translation;
    line->text = malloc(length + 1);
    if (!line->text)
        return mt_fail_memory(err, length + 1, "a line");
    memcpy(line->text, text, length);
    line->text[length] = '\0';
    line->length = length;
    const struct mt_passage_options passage = {
        .plain = &options->translation,
        .traced = &traced,
        .trace = &line->trace,
        .finds_codes = !options->as_json, /* its ids are those of the unchanged line */
        .post_edits = options->translation.eases_source,
        .reader = options->reader,
        .repairs_numbers = options->service->settings->repair_numbers,
    };
    struct mt_coded coded = {0};
    mt_alignment_trace_begin(&line->trace, options->service, options->loaded, &traced);
    enum mt_status status = mt_read_plain(line->text, length, NULL, &coded, err);
    if (status)
        mt_coded_finish(&coded);
    else
        status = mt_passage_create(options->model, &coded, &passage, &line->passage, err);
    if (!status && options->as_json)
        line->translation = mt_passage_next(line->passage, &(size_t){0});
    return status;
}

static enum mt_status create_line(struct stream *stream, size_t number, const char *text,
                                  size_t length, struct line **out, struct mt_error *err)
{
    size_t n_valid = mt_utf8_valid_prefix(text, length);
    if (n_valid < length)
        return mt_fail(err, MT_FORMAT, "invalid UTF-8: byte 0x%02X at position %zu",
                       (unsigned char)text[n_valid], n_valid + 1);
    struct line *line = calloc(1, sizeof *line);
    if (!line)
        return mt_fail_memory(err, sizeof *line, "a line");
    line->stream = stream;
    line->number = number;
    enum mt_status status = create_passage(stream, line, text, length, err);
    if (!status)
        status = list_sentences(line, err);
    if (status) {
        destroy_line(line);
        return status;
    }
    *out = line;
    return MT_OK;
}

/* --- output --- */

static struct mt_hypothesis hypothesis(const struct mt_translation *translation, size_t sentence,
                                       size_t rank)
{
    const struct mt_sentence *s = mt_translation_part(translation, sentence).sentence;
    return mt_sentence_hypothesis(s, mt_size_min(rank, mt_sentence_n_hypotheses(s) - 1));
}

/* A line that is too long for the model is several sentences, whose ids are written one after the
 * other. */
static void append_ids(struct mt_json_writer *writer, const struct mt_translation *translation,
                       size_t rank)
{
    mt_json_member_array(writer, "output_ids");
    for (size_t i = 0; i < mt_translation_n_sentences(translation); i++) {
        struct mt_hypothesis h = hypothesis(translation, i, rank);
        for (size_t k = 0; k < h.n_ids; k++)
            mt_json_integer(writer, h.ids[k]);
    }
    mt_json_end_array(writer);
}

static void append_logprobs(struct mt_json_writer *writer, const struct mt_translation *translation,
                            size_t rank)
{
    mt_json_member_array(writer, "token_logprobs");
    for (size_t i = 0; i < mt_translation_n_sentences(translation); i++) {
        struct mt_hypothesis h = hypothesis(translation, i, rank);
        for (size_t k = 0; k < h.n_ids && h.token_logprobs; k++)
            mt_json_number(writer, (double)h.token_logprobs[k], 7);
    }
    mt_json_end_array(writer);
}

/* Returns the search's score or, for several sentences, the mean log-probability. */
static float score(const struct mt_translation *translation, size_t rank)
{
    if (mt_translation_n_sentences(translation) == 1)
        return hypothesis(translation, 0, rank).score;
    return mt_translation_score(translation, rank);
}

static enum mt_status append_hypothesis(struct mt_json_writer *writer, const struct line *line,
                                        size_t rank, struct mt_error *err)
{
    struct mt_text text = {0};
    const struct mt_translation *translation = line->translation;
    enum mt_status status = mt_passage_render(line->passage, rank, &text, err);
    if (!status) {
        mt_json_member_bytes(writer, "text", text.bytes, text.length);
        append_ids(writer, translation, rank);
        mt_json_member_number(writer, "score", (double)score(translation, rank), 7);
        append_logprobs(writer, translation, rank);
    }
    mt_text_finish(&text);
    return status;
}

static enum mt_status append_others(struct mt_json_writer *writer, const struct line *line,
                                    struct mt_error *err)
{
    enum mt_status status = MT_OK;
    mt_json_member_array(writer, "alternatives");
    for (size_t rank = 1; rank < mt_translation_n_ranks(line->translation) && !status; rank++) {
        mt_json_begin_object(writer);
        status = append_hypothesis(writer, line, rank, err);
        mt_json_end_object(writer);
    }
    mt_json_end_array(writer);
    return status;
}

static enum mt_status append_warnings(const struct stream *stream, const struct line *line,
                                      struct mt_json_writer *writer, struct mt_error *err)
{
    const struct mt_quality_options checks =
        mt_quality_options_of(stream->options->service->settings);
    struct mt_warnings warnings;
    mt_warnings_init(&warnings, &checks, NULL);
    enum mt_status status = mt_warnings_add(&warnings, MT_NO_TEXT, NULL, line->passage, err);
    if (!status)
        status = mt_text_check(&warnings.list, "warnings", err);
    if (!status)
        mt_warnings_write(&warnings, writer);
    mt_warnings_finish(&warnings);
    return status;
}

static enum mt_status append_object(const struct stream *stream, const struct line *line,
                                    struct mt_text *out, struct mt_error *err)
{
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, out);
    mt_json_begin_object(&writer);
    mt_json_member_bytes(&writer, "source", line->text, line->length);
    enum mt_status status = append_hypothesis(&writer, line, 0, err);
    if (!status && stream->options->translation.decoding.num_hypotheses > 1)
        status = append_others(&writer, line, err);
    if (!status)
        status = append_warnings(stream, line, &writer, err);
    mt_json_end_object(&writer);
    return status ? status : mt_text_check(out, "a line", err);
}

static enum mt_status append_line(const struct stream *stream, const struct line *line,
                                  struct mt_text *out, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    if (line->status)
        status = mt_fail(err, line->status, "not translated: %s", mt_status_name(line->status));
    else if (stream->options->as_json)
        status = append_object(stream, line, out, err);
    else
        status = mt_passage_render(line->passage, 0, out, err);
    if (!status && !stream->options->as_json)
        status = mt_warning_printer_look(stream->options->printer, "line", line->number,
                                         line->passage, err);
    mt_text_append(out, "\n", 1);
    return status;
}

static enum mt_status fail_on_line(struct mt_error *err, enum mt_status status, size_t number)
{
    struct mt_error inner = *err;
    return mt_fail(err, status, "line %zu: %s", number, inner.message);
}

/* Never blocks for ever: a pipe that is ready takes PIPE_BUF bytes, and quit_fd ends the wait for
 * one that is not. */
static enum mt_status write_all(const struct stream *stream, const struct mt_text *out,
                                struct mt_error *err)
{
    struct pollfd fds[] = {{.fd = stream->options->out_fd, .events = POLLOUT},
                           {.fd = stream->quit_fd, .events = POLLIN}};
    for (size_t n_written = 0; n_written < out->length;) {
        if (poll(fds, 2, -1) > 0 && fds[1].revents)
            return mt_fail(err, MT_CANCELLED, "stopped");
        ssize_t n = write(fds[0].fd, out->bytes + n_written,
                          mt_size_min(out->length - n_written, PIPE_BUF));
        if (n > 0)
            n_written += (size_t)n;
        else if (n < 0 && errno != EINTR && errno != EAGAIN)
            return mt_fail(err, errno == EPIPE ? MT_CANCELLED : MT_IO,
                           "cannot write the output: %s", strerror(errno));
    }
    return MT_OK;
}

/* If the counter is full, then whoever waits has already been woken. */
static void post(int event_fd)
{
    uint64_t one = 1;
    ssize_t n = write(event_fd, &one, sizeof one);
    (void)n;
}

/* Removes the first line from the stream once it is finished, and returns it; NULL at the end.
 * has_next: the next one is finished, too. */
static struct line *take_line(struct stream *stream, bool *has_next)
{
    pthread_mutex_lock(&stream->mutex);
    while (!stream->is_stopping && !(stream->first && stream->first->is_done) &&
           !(stream->has_ended && !stream->first))
        pthread_cond_wait(&stream->progress, &stream->mutex);
    struct line *line = stream->is_stopping ? NULL : stream->first;
    if (line) {
        stream->first = line->next;
        stream->n_lines--;
        stream->n_sentences -= line->job.n_sentences;
        *has_next = stream->first && stream->first->is_done;
    }
    pthread_mutex_unlock(&stream->mutex);
    return line;
}

static enum mt_status write_lines(struct stream *stream, struct mt_text *out, struct mt_error *err)
{
    struct line *line;
    bool has_next;
    size_t n_lines = 0, n_bytes = 0;
    while ((line = take_line(stream, &has_next))) {
        post(stream->event_fd);
        n_bytes += line->length + 1;
        enum mt_status status = append_line(stream, line, out, err);
        if (!status)
            status = mt_model_check(stream->options->model, err);
        if (status)
            fail_on_line(err, status, line->number);
        destroy_line(line);
        if (!status && (!has_next || out->length >= OUTPUT_BYTES)) {
            status = write_all(stream, out, err);
            out->length = 0;
        }
        if (status)
            return status;
        mt_progress_bar_update(stream->options->bar, ++n_lines, n_bytes,
                               stream->options->n_input_bytes);
    }
    return MT_OK;
}

static void *run_writer(void *argument)
{
    struct stream *stream = argument;
    struct mt_text out = {0};
    struct mt_error err;
    enum mt_status status = write_lines(stream, &out, &err);
    mt_text_finish(&out);
    pthread_mutex_lock(&stream->mutex);
    stream->is_written = true;
    stream->write_status = status;
    if (status)
        stream->write_error = err;
    pthread_mutex_unlock(&stream->mutex);
    post(stream->event_fd);
    return NULL;
}

/* --- input --- */

/* Appends the line to the others before the engine can finish it. */
static enum mt_status send_line(struct stream *stream, struct line *line, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    pthread_mutex_lock(&stream->mutex);
    if (line->job.n_sentences) {
        /* on_done takes the mutex, so this has to come after releasing it. */
        status = mt_engine_submit(stream->options->engine, &line->job, err);
    }
    if (!status) {
        if (stream->first)
            stream->last->next = line;
        else
            stream->first = line;
        stream->last = line;
        stream->n_lines++;
        stream->n_sentences += line->job.n_sentences;
        pthread_cond_signal(&stream->progress);
    }
    pthread_mutex_unlock(&stream->mutex);
    if (status)
        destroy_line(line);
    return status;
}

static bool has_room(struct stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    bool has_room = stream->n_lines < MAX_LINES && stream->n_sentences < stream->options->window;
    pthread_mutex_unlock(&stream->mutex);
    return has_room;
}

static bool is_written(struct stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    bool is_written = stream->is_written;
    pthread_mutex_unlock(&stream->mutex);
    return is_written;
}

/* Handles what woke the reader. MT_CANCELLED: the stream has to stop. A signal may be visible but
 * not readable, because a thread that does not block it may receive it first and pass it on
 * (signals.h). */
static enum mt_status look_up(const struct stream *stream, struct mt_error *err)
{
    const struct mt_line_stream_options *options = stream->options;
    struct signalfd_siginfo info;
    if (options->stop_fd >= 0 &&
        read(options->stop_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        *options->stopped_by = (int)info.ssi_signo;
        return mt_fail(err, MT_CANCELLED, "stopped");
    }
    uint64_t count;
    ssize_t n = read(stream->event_fd, &count, sizeof count);
    (void)n; /* it does not matter if there was nothing to read */
    return MT_OK;
}

static enum mt_status wait_for_writer(struct stream *stream, struct mt_error *err)
{
    struct pollfd wake = {.fd = stream->wake_fd, .events = POLLIN};
    while (poll(&wake, 1, -1) < 0)
        if (errno != EINTR && errno != EAGAIN)
            return mt_fail(err, MT_IO, "cannot wait for the output: %s", strerror(errno));
    return look_up(stream, err);
}

static enum mt_status read_line(struct stream *stream, struct mt_line_reader *reader,
                                struct mt_error *err)
{
    const char *text;
    size_t length;
    struct line *line = NULL;
    enum mt_status status = mt_line_reader_next(reader, stream->wake_fd, &text, &length, err);
    if (status)
        return status;
    if (!text)
        return reader->has_ended ? MT_OK : look_up(stream, err);
    status = create_line(stream, reader->n_lines, text, length, &line, err);
    if (!status)
        status = send_line(stream, line, err);
    return status ? fail_on_line(err, status, reader->n_lines) : MT_OK;
}

static bool is_at_end(const struct mt_line_reader *reader)
{
    return reader->has_ended && reader->begin == reader->end;
}

static enum mt_status read_lines(struct stream *stream, struct mt_error *err)
{
    struct mt_line_reader reader = {.fd = stream->options->in_fd};
    enum mt_status status = MT_OK;
    while (!status && !is_at_end(&reader) && !is_written(stream))
        status = has_room(stream) ? read_line(stream, &reader, err) : wait_for_writer(stream, err);
    mt_line_reader_finish(&reader);
    return status;
}

/* --- the stream --- */

static void set_flag(struct stream *stream, bool *flag)
{
    pthread_mutex_lock(&stream->mutex);
    *flag = true;
    pthread_cond_broadcast(&stream->progress);
    pthread_mutex_unlock(&stream->mutex);
}

/* Cancels the lines that are in the engine, and frees all. */
static void drop_lines(struct stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    for (struct line *line = stream->first; line; line = line->next)
        if (!line->is_done)
            mt_engine_cancel(stream->options->engine, &line->job);
    for (struct line *line = stream->first, *next; line; line = next) {
        while (!line->is_done)
            pthread_cond_wait(&stream->progress, &stream->mutex);
        next = line->next;
        destroy_line(line);
    }
    stream->first = NULL;
    pthread_mutex_unlock(&stream->mutex);
}

/* Reads everything, then waits until it is written. If reading fails, the input ends; if writing
 * fails, or a stop was requested, everything ends. */
static enum mt_status run(struct stream *stream, struct mt_error *err)
{
    pthread_t writer;
    int code = pthread_create(&writer, NULL, run_writer, stream);
    if (code)
        return mt_fail(err, MT_IO, "cannot start a thread: %s", strerror(code));
    enum mt_status status = read_lines(stream, err);
    set_flag(stream, &stream->has_ended);
    struct mt_error stopped;
    while (status != MT_CANCELLED && !is_written(stream))
        if (wait_for_writer(stream, &stopped)) {
            *err = stopped;
            status = stopped.status;
        }
    set_flag(stream, &stream->is_stopping);
    post(stream->quit_fd);
    pthread_join(writer, NULL);
    drop_lines(stream);
    if (status != MT_CANCELLED && stream->write_status)
        return mt_fail(err, stream->write_status, "%s", stream->write_error.message);
    return status;
}

static bool watch(int epoll_fd, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

enum mt_status mt_line_stream_run(const struct mt_line_stream_options *options,
                                  struct mt_error *err)
{
    struct mt_error own;
    if (!err)
        err = &own; /* messages are composed of several */
    struct stream stream = {
        .options = options,
        .event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
        .quit_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
        .wake_fd = epoll_create1(EPOLL_CLOEXEC),
    };
    pthread_mutex_init(&stream.mutex, NULL);
    pthread_cond_init(&stream.progress, NULL);
    enum mt_status status;
    if (stream.event_fd < 0 || stream.quit_fd < 0 || stream.wake_fd < 0 ||
        !watch(stream.wake_fd, stream.event_fd) ||
        (options->stop_fd >= 0 && !watch(stream.wake_fd, options->stop_fd)))
        status = mt_fail(err, MT_IO, "cannot set up polling: %s", strerror(errno));
    else
        status = run(&stream, err);
    const int fds[] = {stream.event_fd, stream.quit_fd, stream.wake_fd};
    for (size_t i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    pthread_cond_destroy(&stream.progress);
    pthread_mutex_destroy(&stream.mutex);
    return status;
}
