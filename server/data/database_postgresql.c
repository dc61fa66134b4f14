#include "base/clock.h"
#include "base/log.h"
#include "server/data/backend.h"
#include "server/data/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a transaction waits for others of this process, and of all processes (in
 * BEGIN_WRITING). */
#define LOCK_MS 1000
/* How long to wait for a connection: at the start, where the log has to tell whether it could be
 * made, and later. */
#define OPEN_MS 6000
#define CONNECT_MS 1000
/* Pause after a failed connection. */
#define PAUSE_MS 1000
/* How long to wait for a reply: longer than attentiond-database waits for PostgreSQL. */
#define ANSWER_MS 8000

/* Lets one writer run after the other, as SQLite's BEGIN IMMEDIATE does. The number identifies our
 * lock in that database, unless somebody else uses the same one; it is the word "attent" in ASCII.
 * A replica whose machine is lost during a transaction blocks the others for this time. */
#define BEGIN_WRITING                                         \
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; "       \
    "SET LOCAL lock_timeout = '1s'; "                         \
    "SET LOCAL idle_in_transaction_session_timeout = '60s'; " \
    "SELECT pg_advisory_xact_lock(107152796905076)"
#define BEGIN_READING "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

/* A connection. Writers share one, and readers share another. */
struct link {
    struct mt_connection common;
    struct postgresql *database;
    const char *begin;
    pthread_mutex_t mutex; /* held during a transaction */
    int fd;                /* socket of the process that connects; -1: there is none */
    bool is_ready;         /* it is connected */
    bool has_begun;        /* a transaction has begun */
    /* a statement of the transaction failed, so that it cannot be committed any more */
    bool has_failed;
    /* it could not be used last, so that others do not wait while one thread tries again */
    atomic_bool is_away;
    int64_t next_try_ms;
    struct mt_message message;
    struct mt_message_values columns;
};

struct postgresql {
    struct mt_database common;
    struct link writer, reader;
    atomic_bool has_tables;

    pthread_mutex_t mutex;       /* guards the members below */
    pid_t pid;                   /* process id of attentiond-database; 0: it does not run */
    int control;                 /* the socket from which connections come */
    char reason[MT_ERROR_BYTES]; /* why it cannot be used, as in the log; "": it can */
};

static const struct mt_backend backend;

/* ---- while it cannot be used ---- */

/* The message for clients does not contain the database's address or user, which only the log
 * has. */
static enum mt_status fail_away(struct mt_error *err)
{
    return mt_fail(err, MT_BUSY, "the database cannot be reached now: try again later");
}

static void note_away(struct postgresql *database, const char *reason)
{
    pthread_mutex_lock(&database->mutex);
    if (strcmp(database->reason, reason) != 0) {
        snprintf(database->reason, sizeof database->reason, "%s", reason);
        mt_log(MT_LOG_ERROR, "database: %s; what needs it is refused until it can be used", reason);
    }
    pthread_mutex_unlock(&database->mutex);
}

static void note_there(struct postgresql *database)
{
    pthread_mutex_lock(&database->mutex);
    if (database->reason[0] != '\0')
        mt_log(MT_LOG_INFO, "database: it can be used again");
    database->reason[0] = '\0';
    pthread_mutex_unlock(&database->mutex);
}

static void drop(struct link *link)
{
    if (link->fd >= 0)
        close(link->fd);
    link->fd = -1;
    link->is_ready = false;
    mt_message_finish(&link->message);
}

/* Closes a connection that was lost during a transaction. The next transaction connects again at
 * once. */
static enum mt_status lose(struct link *link, const char *reason, struct mt_error *err)
{
    mt_log(MT_LOG_WARN, "database: the connection was lost: %s", reason);
    drop(link);
    return mt_fail(err, MT_BUSY, "the connection to the database was lost: try again later");
}

/* ---- statements ---- */

static enum mt_status take_failure(struct link *link, struct mt_error *err)
{
    struct mt_message_failure failure;
    if (!mt_message_read_failed(&link->message, &failure))
        return lose(link, "its process does not make sense", err);
    if (failure.is_lost)
        return lose(link, failure.message, err);
    link->has_failed = true;
    return mt_fail(err, failure.status, "%s", failure.message);
}

/* Takes all rows of the statement, even if row has returned an error. */
static enum mt_status take_rows(struct link *link, mt_database_row *row, void *context,
                                size_t *n_changed, struct mt_error *err)
{
    struct mt_error own;
    enum mt_status result = MT_OK;
    for (;;) {
        enum mt_status status =
            mt_message_receive(link->fd, mt_now_ms() + ANSWER_MS, &link->message, &own);
        if (status)
            return lose(link, own.message, result ? NULL : err);
        if (link->message.kind == MT_MESSAGE_ROW) {
            if (!mt_message_read_row(&link->message, &link->columns))
                return lose(link, "its process does not make sense", result ? NULL : err);
            if (!result && row)
                result = row(context, link->columns.values, err);
        } else if (mt_message_read_done(&link->message, n_changed)) {
            return result;
        } else {
            status = take_failure(link, result ? NULL : err);
            return result ? result : status;
        }
    }
}

static enum mt_status run(struct mt_connection *connection, const char *sql,
                          const struct mt_value *values, size_t n_values, mt_database_row *row,
                          void *context, size_t *n_changed, struct mt_error *err)
{
    struct link *link = (struct link *)connection;
    struct mt_error own;
    struct mt_text out;
    size_t n = 0;
    if (!link->is_ready)
        return fail_away(err); /* the connection was lost in this transaction */
    mt_message_begin(&out);
    mt_message_put_statement(&out, sql);
    mt_message_put_values(&out, values, n_values);
    enum mt_status status =
        mt_message_send(link->fd, mt_now_ms() + ANSWER_MS, MT_MESSAGE_RUN, &out, &own);
    if (status == MT_LIMIT || status == MT_MEMORY)
        status = mt_fail(err, status, "%s", own.message);
    else if (status)
        status = lose(link, own.message, err);
    else
        status = take_rows(link, row, context, &n, err);
    if (n_changed)
        *n_changed = n;
    return status;
}

static enum mt_status run_plain(struct link *link, const char *sql, struct mt_error *err)
{
    return mt_database_run(&link->common, sql, NULL, 0, NULL, NULL, NULL, err);
}

/* ---- connecting ---- */

/* Without the program there are no more connections, because the daemon may not start programs. */
static enum mt_status fail_without_program(struct mt_error *err)
{
    return mt_fail(err, MT_IO,
                   "attentiond-database, which connects, has ended: the server must be "
                   "restarted");
}

static enum mt_status take_descriptor(int control, int *out, struct mt_error *err)
{
    char byte;
    union {
        char bytes[CMSG_SPACE(sizeof *out)];
        struct cmsghdr aligned;
    } room = {{0}};
    struct iovec piece = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = room.bytes,
                             .msg_controllen = sizeof room.bytes};
    struct pollfd polled = {.fd = control, .events = POLLIN};
    if (send(control, "", 1, MSG_NOSIGNAL) != 1 || poll(&polled, 1, ANSWER_MS) != 1 ||
        recvmsg(control, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
        return fail_without_program(err);
    const struct cmsghdr *found = CMSG_FIRSTHDR(&message);
    if (!found || found->cmsg_type != SCM_RIGHTS || found->cmsg_len != CMSG_LEN(sizeof *out))
        return mt_fail(err, MT_IO, "attentiond-database has started no process that connects");
    memcpy(out, CMSG_DATA(found), sizeof *out);
    return MT_OK;
}

static enum mt_status ask_for_process(struct postgresql *database, int *out, struct mt_error *err)
{
    pthread_mutex_lock(&database->mutex);
    enum mt_status status = take_descriptor(database->control, out, err);
    pthread_mutex_unlock(&database->mutex);
    return status;
}

/* *is_heard: the process has reported within wait_ms that it is connected, or why it is not. */
static enum mt_status hear(struct link *link, int64_t wait_ms, bool *is_heard, struct mt_error *err)
{
    struct mt_message_failure failure;
    struct pollfd polled = {.fd = link->fd, .events = POLLIN};
    *is_heard = poll(&polled, 1, (int)wait_ms) > 0;
    if (!*is_heard)
        return mt_fail(err, MT_BUSY, "it has not answered yet");
    enum mt_status status =
        mt_message_receive(link->fd, mt_now_ms() + ANSWER_MS, &link->message, err);
    if (status)
        return status;
    link->is_ready = link->message.kind == MT_MESSAGE_READY;
    if (link->is_ready)
        return MT_OK;
    if (!mt_message_read_failed(&link->message, &failure))
        return mt_fail(err, MT_FORMAT, "its process does not make sense");
    return mt_fail(err, failure.status, "%s", failure.message);
}

static enum mt_status transact(struct link *link, mt_database_work *work, void *context,
                               struct mt_error *err)
{
    link->has_begun = link->has_failed = false;
    enum mt_status status = run_plain(link, link->begin, err);
    link->has_begun = !status;
    if (!status)
        status = work(&link->common, context, err);
    if (!status && link->has_failed)
        status = mt_fail(err, MT_IO, "the database: a statement has failed, and others went on");
    if (!status)
        status = run_plain(link, "COMMIT", err);
    else if (link->is_ready && run_plain(link, "ROLLBACK", NULL))
        drop(link);
    return status;
}

/* Connects and creates the tables. The reason for a failure is in err, and in the log. */
static enum mt_status get_ready(struct link *link, int64_t wait_ms, bool is_trial,
                                struct mt_error *err)
{
    struct postgresql *database = link->database;
    bool is_heard = true;
    if (link->is_ready)
        return MT_OK;
    if (mt_now_ms() < link->next_try_ms)
        return fail_away(err);
    enum mt_status status = link->fd < 0 ? ask_for_process(database, &link->fd, err) : MT_OK;
    if (!status)
        status = hear(link, wait_ms, &is_heard, err);
    if (!status && link == &database->writer && !is_trial) {
        status = transact(link, mt_schema_bring_up, NULL, err);
        database->has_tables = database->has_tables || !status;
    }
    link->is_away = status != MT_OK;
    if (!status) {
        note_there(database);
        return MT_OK;
    }
    if (is_heard)
        drop(link);
    link->next_try_ms = mt_now_ms() + PAUSE_MS;
    if (!is_trial)
        note_away(database, err->message);
    return status;
}

/* ---- the interface ---- */

static enum mt_status lock(struct link *link, struct mt_error *err)
{
    const bool is_away = link->is_away;
    const struct timespec until =
        mt_timespec_of_ns(mt_now_ns() + (is_away ? 0 : LOCK_MS * INT64_C(1000000)));
    if (pthread_mutex_clocklock(&link->mutex, CLOCK_MONOTONIC, &until) == 0)
        return MT_OK;
    if (is_away)
        return fail_away(err);
    return mt_fail(err, MT_BUSY,
                   "the database cannot be used now: others have used it for longer "
                   "than a second");
}

static enum mt_status use(struct link *link, mt_database_work *work, void *context,
                          struct mt_error *err)
{
    struct mt_error reason;
    enum mt_status status = lock(link, err);
    if (status)
        return status;
    bool is_again;
    do {
        bool was_ready = link->is_ready;
        status = get_ready(link, CONNECT_MS, false, &reason) ? fail_away(err)
                                                             : transact(link, work, context, err);
        /* The connection was lost while nobody used it, for example because PostgreSQL was
         * restarted, so the transaction is tried once more. */
        is_again = status && was_ready && !link->is_ready && !link->has_begun;
    } while (is_again);
    pthread_mutex_unlock(&link->mutex);
    return status;
}

static enum mt_status do_nothing(struct mt_connection *connection, void *context,
                                 struct mt_error *err)
{
    return MT_OK;
}

static enum mt_status write_data(struct mt_database *common, mt_database_work *work, void *context,
                                 struct mt_error *err)
{
    return use(&((struct postgresql *)common)->writer, work, context, err);
}

static enum mt_status read_data(struct mt_database *common, mt_database_work *work, void *context,
                                struct mt_error *err)
{
    struct postgresql *database = (struct postgresql *)common;
    enum mt_status status =
        database->has_tables ? MT_OK : use(&database->writer, do_nothing, NULL, err);
    return status ? status : use(&database->reader, work, context, err);
}

/* ---- the program ---- */

/* Runs in the forked process, in which other threads' locks are in any state, so that it may only
 * make system calls. */
static void become_program(const char *path, int control)
{
    char name[] = "attentiond-database";
    char *const arguments[] = {name, NULL};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(control, STDIN_FILENO) < 0 || close_range(STDERR_FILENO + 1, ~0U, 0) != 0)
        _exit(1);
    execv(path, arguments);
    _exit(1);
}

/* Sends the address to the process that connects, and reads its reply: "" where the address is
 * valid. */
static enum mt_status introduce(int control, const struct mt_database_options *options,
                                struct mt_error *err)
{
    char answer[MT_ERROR_BYTES] = "";
    struct mt_text first = {0};
    struct pollfd polled = {.fd = control, .events = POLLIN};
    mt_text_append_string(&first, options->is_confined ? "+" : "-");
    mt_text_append_string(&first, options->url);
    enum mt_status status = mt_text_check(&first, "the address of the database", err);
    ssize_t n = -1;
    if (!status &&
        send(control, first.bytes, first.length, MSG_NOSIGNAL) == (ssize_t)first.length &&
        poll(&polled, 1, ANSWER_MS) == 1)
        n = recv(control, answer, sizeof answer - 1, MSG_DONTWAIT);
    mt_text_finish(&first);
    if (status)
        return status;
    if (n <= 0)
        return mt_fail(err, MT_IO, "%s, which connects to the database, does not run",
                       options->program);
    return answer[0] == '\0' ? MT_OK : mt_fail(err, MT_INVALID, "database: %s", answer);
}

static enum mt_status start_program(struct postgresql *database,
                                    const struct mt_database_options *options, struct mt_error *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return mt_fail(err, MT_IO, "no socket for the database: %s", strerror(errno));
    database->control = ends[0];
    pid_t pid = fork();
    if (pid == 0)
        become_program(options->program, ends[1]);
    int reason = errno;
    close(ends[1]);
    if (pid < 0)
        return mt_fail(err, MT_IO, "no process for the database: %s", strerror(reason));
    database->pid = pid;
    return introduce(database->control, options, err);
}

/* Refuses an address in which a part of the password could be taken for the host, because messages
 * name the host. */
static enum mt_status check_url(const char *url, struct mt_error *err)
{
    static const char *const schemes[] = {"postgresql://", "postgres://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i]);
        if (strncmp(url, schemes[i], length) != 0)
            continue;
        const char *last_at = strrchr(url, '@');
        if (!last_at || last_at == url + length + strcspn(url + length, "@/?#"))
            return MT_OK;
        return mt_fail(
            err, MT_INVALID,
            "database: expected one \"@\" at most, before the host; in a password \"@\", "
            "\"/\", \"?\" and \"#\" are written %%40, %%2F, %%3F and %%23");
    }
    return mt_fail(err, MT_INVALID, "database: expected postgresql://user:password@host:port/name");
}

static void prepare(struct postgresql *database, struct link *link, const char *begin)
{
    link->common.backend = &backend;
    link->database = database;
    link->begin = begin;
    link->fd = -1;
    pthread_mutex_init(&link->mutex, NULL);
}

static void finish(struct link *link)
{
    drop(link);
    mt_message_finish(&link->message);
    pthread_mutex_destroy(&link->mutex);
}

static void close_database(struct mt_database *common)
{
    struct postgresql *database = (struct postgresql *)common;
    finish(&database->reader);
    finish(&database->writer);
    if (database->control >= 0)
        close(database->control);
    while (database->pid > 0 && waitpid(database->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    pthread_mutex_destroy(&database->mutex);
    free(database);
}

enum mt_status mt_postgresql_open(const struct mt_database_options *options,
                                  struct mt_database **out, struct mt_error *err)
{
    enum mt_status status = check_url(options->url, err);
    struct postgresql *database = status ? NULL : calloc(1, sizeof *database);
    if (!database)
        return status ? status : mt_fail_memory(err, sizeof *database, "the database");
    database->common.backend = &backend;
    database->control = -1;
    pthread_mutex_init(&database->mutex, NULL);
    prepare(database, &database->writer, BEGIN_WRITING);
    prepare(database, &database->reader, BEGIN_READING);
    status = start_program(database, options, err);
    bool is_started = !status;
    if (!status)
        status = get_ready(&database->writer, OPEN_MS, options->is_trial, err);
    if (is_started && !options->is_trial && status != MT_UNSUPPORTED && status != MT_MEMORY)
        status = MT_OK; /* it may become reachable later */
    if (status) {
        close_database(&database->common);
        return status;
    }
    *out = &database->common;
    return MT_OK;
}

static const struct mt_backend backend = {
    .close = close_database,
    .write = write_data,
    .read = read_data,
    .run = run,
};
