/*
 * What the daemon and attentiond-database (server/main_database.c) say to each other over a socket.
 * Neither believes what the other says: lengths have limits, numbers ranges, and texts are UTF-8.
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

/* Rows are short, and many: they come and go by so many bytes at once. */
#define MT_MESSAGE_BUFFER_BYTES 16384

/* A message as it came, and the beginning of the next ones. Zeroed: none. One socket's alone. */
struct mt_message {
    enum mt_message_kind kind;
    char *bytes;
    size_t length, capacity;
    size_t at, end; /* what of buffer has not been read */
    char buffer[MT_MESSAGE_BUFFER_BYTES];
};

void mt_message_finish(struct mt_message *message);

/* MT_IO: the other side has gone; MT_TIMEOUT: it has not come before deadline_ms (of mt_now_ms; -1:
 * waits for ever); MT_FORMAT: it is none. What message held before is gone. */
MT_MUST_CHECK enum mt_status mt_message_receive(int fd, int64_t deadline_ms,
                                                struct mt_message *message, struct mt_error *err);

/* A message that is written: begin, put, send. out ends, whatever happens. MT_LIMIT: it is longer
 * than allowed, and has not been sent. */
void mt_message_begin(struct mt_text *out);
MT_MUST_CHECK enum mt_status mt_message_send(int fd, int64_t deadline_ms, enum mt_message_kind kind,
                                             struct mt_text *out, struct mt_error *err);

/* The same for a message that may wait for others: it is appended to *waiting, which is sent once it is
 * MT_MESSAGE_BUFFER_BYTES long or longer. flush sends the rest: call it before another message is sent. */
MT_MUST_CHECK enum mt_status mt_message_collect(int fd, int64_t deadline_ms,
                                                enum mt_message_kind kind, struct mt_text *out,
                                                struct mt_text *waiting, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_message_flush(int fd, int64_t deadline_ms, struct mt_text *waiting,
                                              struct mt_error *err);

/* ---- what they hold; what is read is borrowed from the message ---- */

struct mt_message_values {
    /* Integers have their decimal digits as text, too. */
    struct mt_value values[MT_DATABASE_MAX_VALUES];
    size_t n;
};

struct mt_message_failure {
    enum mt_status status; /* not MT_OK */
    bool is_lost;          /* the connection is, and what it had begun */
    const char *message;
};

/* RUN, and ROW, which has no statement. */
void mt_message_put_statement(struct mt_text *out, const char *sql);
void mt_message_put_values(struct mt_text *out, const struct mt_value *values, size_t n);
/* DONE */
void mt_message_put_count(struct mt_text *out, size_t n_changed);
/* FAILED */
void mt_message_put_failure(struct mt_text *out, const struct mt_message_failure *failure);

/* False: the message does not hold that. */
bool mt_message_read_run(const struct mt_message *message, const char **sql,
                         struct mt_message_values *out);
bool mt_message_read_row(const struct mt_message *message, struct mt_message_values *out);
bool mt_message_read_done(const struct mt_message *message, size_t *n_changed);
bool mt_message_read_failed(const struct mt_message *message, struct mt_message_failure *out);

#endif
