/*
 * The messages between the daemon and attentiond-database (server/main_database.c), on a socket.
 * Neither trusts the other: lengths have limits, numbers have ranges, and texts are checked to be
 * UTF-8.
 *
 *   daemon           attentiond-database, a process for each connection
 *            <-      READY, once it is connected, or FAILED, and it ends
 *   RUN      ->
 *            <-      ROW, ROW, ..., and then DONE or FAILED
 *
 * Thread-safety: one thread at a time for each socket and each message.
 */
#ifndef MT_SERVER_DATA_MESSAGES_H
#define MT_SERVER_DATA_MESSAGES_H

#include "base/text.h"
#include "server/data/database.h"

/* Most bytes of a statement with its values, and of a row: three times what a glossary may have. */
#define MT_MESSAGE_MAX_BYTES ((size_t)32 << 20)

enum mt_message_kind {
    MT_MESSAGE_READY,
    MT_MESSAGE_RUN,
    MT_MESSAGE_ROW,
    MT_MESSAGE_DONE,
    MT_MESSAGE_FAILED,
    MT_N_MESSAGE_KINDS
};

/* Rows are short and many, so that they are sent and received in blocks of this size. */
#define MT_MESSAGE_BUFFER_BYTES 16384

/* A received message, and the beginning of the next ones. It is initialised with zeros and belongs
 * to one socket. */
struct mt_message {
    enum mt_message_kind kind;
    char *bytes;
    size_t length, capacity;
    size_t at, end; /* the unread part of buffer */
    char buffer[MT_MESSAGE_BUFFER_BYTES];
};

void mt_message_finish(struct mt_message *message);

/* Receives a message, which replaces the previous one. MT_IO: the other side has gone; MT_TIMEOUT:
 * nothing came before deadline_ms (of mt_now_ms; -1: no limit); MT_FORMAT: it is malformed. */
MT_MUST_CHECK enum mt_status mt_message_receive(int fd, int64_t deadline_ms,
                                                struct mt_message *message, struct mt_error *err);

/* A message is written with begin, put and send. send frees out in any case. MT_LIMIT: it is longer
 * than allowed, and was not sent. */
void mt_message_begin(struct mt_text *out);
MT_MUST_CHECK enum mt_status mt_message_send(int fd, int64_t deadline_ms, enum mt_message_kind kind,
                                             struct mt_text *out, struct mt_error *err);

/* Writes a message that may be delayed: it is appended to *waiting, which is sent once it has at
 * least MT_MESSAGE_BUFFER_BYTES. flush sends the rest and has to be called before any other message
 * is sent. Errors are those of mt_message_send. */
MT_MUST_CHECK enum mt_status mt_message_collect(int fd, int64_t deadline_ms,
                                                enum mt_message_kind kind, struct mt_text *out,
                                                struct mt_text *waiting, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_message_flush(int fd, int64_t deadline_ms, struct mt_text *waiting,
                                              struct mt_error *err);

/* ---- contents; what is read is borrowed from the message ---- */

struct mt_message_values {
    /* An integer also has its decimal digits as text. */
    struct mt_value values[MT_DATABASE_MAX_VALUES];
    size_t n;
};

struct mt_message_failure {
    enum mt_status status; /* not MT_OK */
    bool is_lost;          /* the connection is lost, together with its transaction */
    const char *message;
};

/* For RUN; the second also for ROW, which has no statement. */
void mt_message_put_statement(struct mt_text *out, const char *sql);
void mt_message_put_values(struct mt_text *out, const struct mt_value *values, size_t n);
/* For DONE. */
void mt_message_put_count(struct mt_text *out, size_t n_changed);
/* For FAILED. */
void mt_message_put_failure(struct mt_text *out, const struct mt_message_failure *failure);

/* Read contents. They return false where the message is malformed. */
bool mt_message_read_run(const struct mt_message *message, const char **sql,
                         struct mt_message_values *out);
bool mt_message_read_row(const struct mt_message *message, struct mt_message_values *out);
bool mt_message_read_done(const struct mt_message *message, size_t *n_changed);
bool mt_message_read_failed(const struct mt_message *message, struct mt_message_failure *out);

#endif
