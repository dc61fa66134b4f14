/* attentiond-database: connects to PostgreSQL, so that the daemon never has to. The daemon starts
 * it (server/data/database_postgresql.c) with a socket as its standard input. The first message
 * there is the database's address, and each further one asks for a connection. Each connection has
 * a process of its own, which executes statements (server/data/messages.h) and ends with it. */

#include "base/clock.h"
#include "base/log.h"
#include "server/data/messages.h"
#include "server/service/sandbox.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libpq-fe.h>

/* Defaults that the address may override. */
#define CONNECT_SECONDS "5"
#define SILENCE_MS "10000" /* for a machine that accepts data and does not react */
/* How long PostgreSQL may take for a statement. */
#define ANSWER_MS 5000
#define MAX_PROCESSES 8
#define MAX_PORTS 16
/* Most bytes of the setting, and the first character of the message. */
#define ADDRESS_BYTES 4100

/* ---- a connection, in its process ---- */

struct session {
    int fd; /* connected to the daemon */
    PGconn *connection;
    struct mt_text waiting; /* rows to be sent */
};

/* Copies a message as one line, without libpq's prefix. */
static void copy_message(const char *message, char out[MT_ERROR_BYTES])
{
    size_t n = 0;
    for (; *message && n < MT_ERROR_BYTES - 1; message++) {
        bool is_blank = (unsigned char)*message <= ' ';
        if (!is_blank)
            out[n++] = *message;
        else if (n > 0 && out[n - 1] != ' ')
            out[n++] = ' ';
    }
    n = mt_utf8_valid_prefix(out, n);
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}

static bool send_failure(struct session *session, enum mt_status status, bool is_lost,
                         const char *text)
{
    char message[MT_ERROR_BYTES];
    struct mt_text out;
    copy_message(text, message);
    const struct mt_message_failure failure = {
        .status = status, .is_lost = is_lost, .message = message};
    mt_text_finish(&session->waiting); /* rows before the error are not needed */
    mt_message_begin(&out);
    mt_message_put_failure(&out, &failure);
    return mt_message_send(session->fd, -1, MT_MESSAGE_FAILED, &out, NULL) == MT_OK && !is_lost;
}

static bool begins_with_one_of(const char *state, const char *const *beginnings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(state, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* The error codes are listed in appendix A of PostgreSQL's documentation. */
static bool send_error(struct session *session, const PGresult *result)
{
    static const char *const busy[] = {"08", "25006", "40", "53", "55", "57", "58"};
    static const char *const damaged[] = {"XX001", "XX002"};
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *reason = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    struct mt_error err;
    bool is_lost = PQstatus(session->connection) == CONNECTION_BAD;
    if (!reason)
        reason = PQerrorMessage(session->connection);
    if (is_lost || !state)
        (void)mt_fail(&err, is_lost ? MT_BUSY : MT_IO, "%s", reason);
    else if (begins_with_one_of(state, damaged, sizeof damaged / sizeof *damaged))
        (void)mt_fail(&err, MT_FORMAT, "the database is damaged: %s", reason);
    else if (begins_with_one_of(state, busy, sizeof busy / sizeof *busy))
        (void)mt_fail(&err, MT_BUSY, "the database cannot be used now: %s", reason);
    else
        (void)mt_fail(&err, MT_IO, "the database: %s", reason);
    return send_failure(session, err.status, is_lost, err.message);
}

/* The Oids of types are the same in every database: pg_type.dat. */
static bool is_integer(Oid type, const char *text)
{
    enum { BIGINT = 20, SMALLINT = 21, INTEGER = 23, NUMERIC = 1700 };
    return type == BIGINT || type == SMALLINT || type == INTEGER ||
           /* A sum of integers has this type. */
           (type == NUMERIC && text[strspn(text, "-0123456789")] == '\0');
}

static bool send_rows(struct session *session, const PGresult *result)
{
    struct mt_value values[MT_DATABASE_MAX_VALUES];
    int n = PQnfields(result);
    if (n > MT_DATABASE_MAX_VALUES)
        return send_failure(session, MT_IO, true, "a row has too many columns");
    for (int row = 0; row < PQntuples(result); row++) {
        struct mt_text out;
        for (int i = 0; i < n; i++) {
            const char *text = PQgetvalue(result, row, i);
            values[i] = (struct mt_value){
                .type = MT_VALUE_TEXT, .text = text, .length = (size_t)PQgetlength(result, row, i)};
            if (PQgetisnull(result, row, i))
                values[i].type = MT_VALUE_NULL;
            else if (is_integer(PQftype(result, i), text))
                values[i] = mt_value_integer(strtoll(text, NULL, 10));
        }
        mt_message_begin(&out);
        mt_message_put_values(&out, values, (size_t)n);
        struct mt_error err;
        enum mt_status status =
            mt_message_collect(session->fd, -1, MT_MESSAGE_ROW, &out, &session->waiting, &err);
        if (status)
            return send_failure(session, status, true, err.message);
    }
    return true;
}

/* Returns false where PostgreSQL does not answer, or the daemon has gone. */
static bool wait_for_result(struct session *session)
{
    int64_t end_ms = mt_now_ms() + ANSWER_MS;
    /* Sends rows to the daemon before waiting, because the daemon has a time limit, too. */
    if (PQisBusy(session->connection) &&
        mt_message_flush(session->fd, -1, &session->waiting, NULL) != MT_OK)
        return false;
    while (PQisBusy(session->connection)) {
        struct pollfd polled[] = {{.fd = PQsocket(session->connection), .events = POLLIN},
                                  {.fd = session->fd}};
        int64_t left_ms = end_ms - mt_now_ms();
        if (left_ms <= 0)
            return send_failure(session, MT_BUSY, true, "it has not answered for five seconds");
        if (poll(polled, 2, (int)left_ms) < 0 && errno != EINTR)
            return false;
        if (polled[1].revents != 0)
            return false;
        if (polled[0].revents != 0 && !PQconsumeInput(session->connection))
            return true; /* the result has the error */
    }
    return true;
}

/* Sends the results one after the other, each with one row. Returns false where the connection has
 * ended. */
static bool send_results(struct session *session)
{
    bool has_failed = false;
    size_t n_changed = 0;
    for (;;) {
        if (!wait_for_result(session))
            return false;
        PGresult *result = PQgetResult(session->connection);
        if (!result)
            break;
        ExecStatusType kind = PQresultStatus(result);
        bool goes_on = true;
        if (kind == PGRES_SINGLE_TUPLE || kind == PGRES_TUPLES_OK)
            goes_on = has_failed || send_rows(session, result);
        else if (kind != PGRES_COMMAND_OK && !has_failed)
            goes_on = has_failed = true, send_error(session, result);
        n_changed = (size_t)strtoul(PQcmdTuples(result), NULL, 10);
        PQclear(result);
        if (!goes_on)
            return false;
    }
    if (has_failed)
        return true;
    struct mt_text out;
    mt_message_begin(&out);
    mt_message_put_count(&out, n_changed);
    return mt_message_flush(session->fd, -1, &session->waiting, NULL) == MT_OK &&
           mt_message_send(session->fd, -1, MT_MESSAGE_DONE, &out, NULL) == MT_OK;
}

/* Without values the text may have several statements. */
static bool carry_out(struct session *session, const char *sql,
                      const struct mt_message_values *values)
{
    enum { BIGINT = 20, TEXT = 25 };
    const char *texts[MT_DATABASE_MAX_VALUES];
    Oid types[MT_DATABASE_MAX_VALUES];
    for (size_t i = 0; i < values->n; i++) {
        enum mt_value_type type = values->values[i].type;
        texts[i] = type == MT_VALUE_NULL ? NULL : values->values[i].text;
        types[i] = type == MT_VALUE_NULL ? 0 : type == MT_VALUE_INTEGER ? BIGINT : TEXT;
    }
    int is_sent = values->n == 0 ? PQsendQuery(session->connection, sql)
                                 : PQsendQueryParams(session->connection, sql, (int)values->n,
                                                     types, texts, NULL, NULL, 0);
    if (!is_sent)
        return send_error(session, NULL);
    PQsetSingleRowMode(session->connection);
    return send_results(session);
}

static void ignore_notice(void *context, const char *message)
{
}

static bool connect_to(const char *address, struct session *session)
{
    /* Later entries override earlier ones, so the address may change the first ones. */
    const char *const names[] = {"connect_timeout", "tcp_user_timeout", "fallback_application_name",
                                 "dbname",          "client_encoding",  NULL};
    const char *const values[] = {CONNECT_SECONDS, SILENCE_MS, "attentiond", address, "UTF8", NULL};
    session->connection = PQconnectdbParams(names, values, 1);
    if (!session->connection)
        return send_failure(session, MT_MEMORY, true, "out of memory");
    if (PQstatus(session->connection) != CONNECTION_OK)
        return send_failure(session, MT_BUSY, true, PQerrorMessage(session->connection));
    PQsetNoticeProcessor(session->connection, ignore_notice, NULL);
    const char *encoding = PQparameterStatus(session->connection, "server_encoding");
    if (!encoding || strcmp(encoding, "UTF8") != 0)
        return send_failure(session, MT_BUSY, true,
                            "its encoding is not UTF8: CREATE DATABASE ... ENCODING 'UTF8'");
    struct mt_text out;
    mt_message_begin(&out);
    return mt_message_send(session->fd, -1, MT_MESSAGE_READY, &out, NULL) == MT_OK;
}

static void serve(const char *address, int fd)
{
    struct session session = {.fd = fd};
    struct mt_message message = {0};
    struct mt_message_values values;
    const char *sql;
    bool goes_on = connect_to(address, &session);
    while (goes_on && mt_message_receive(fd, -1, &message, NULL) == MT_OK)
        goes_on = mt_message_read_run(&message, &sql, &values) && carry_out(&session, sql, &values);
    PQfinish(session.connection);
    mt_text_finish(&session.waiting);
    mt_message_finish(&message);
}

/* ---- the process that starts them ---- */

static void answer(const char *text)
{
    (void)!send(STDIN_FILENO, text, strlen(text) + 1, MSG_NOSIGNAL);
}

static size_t parse_ports(const char *text, uint16_t out[MAX_PORTS])
{
    size_t n = 0;
    for (char *end; text && *text != '\0' && n < MAX_PORTS; text = *end == ',' ? end + 1 : NULL) {
        long port = strtol(text, &end, 10);
        if (port > 0 && port <= UINT16_MAX)
            out[n++] = (uint16_t)port;
    }
    return n;
}

static const char *find_port(const PQconninfoOption *options)
{
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, "port") == 0)
            return options->val;
    return NULL;
}

/* Finds the ports in the address, or libpq's default. Returns false where it is not an address. */
static bool find_ports(const char *address, uint16_t out[MAX_PORTS], size_t *n)
{
    /* its message would contain the password */
    PQconninfoOption *options = PQconninfoParse(address, NULL);
    PQconninfoOption *defaults = PQconndefaults();
    const char *ports = find_port(options);
    if (!ports)
        ports = find_port(defaults);
    *n = parse_ports(ports, out);
    PQconninfoFree(defaults);
    PQconninfoFree(options);
    return options != NULL;
}

static void confine(const uint16_t *ports, size_t n)
{
    const struct mt_sandbox_files files = {.ports = ports, .n_ports = n};
    mt_sandbox_drop_privileges();
    mt_sandbox_restrict_files(&files);
    mt_sandbox_restrict_calls(true);
}

/* Sends the daemon its end of the socket, or nothing. */
static void give(int fd)
{
    char byte = 0;
    union {
        char bytes[CMSG_SPACE(sizeof fd)];
        struct cmsghdr aligned;
    } room = {{0}};
    struct iovec piece = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = room.bytes;
        message.msg_controllen = sizeof room.bytes;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    (void)!sendmsg(STDIN_FILENO, &message, MSG_NOSIGNAL);
}

static size_t reap(size_t n_processes)
{
    while (n_processes > 0 && waitpid(-1, NULL, WNOHANG) > 0)
        n_processes--;
    return n_processes;
}

/* Returns how many processes there are then. */
static size_t start_process(const char *address, size_t n_processes)
{
    int ends[2] = {-1, -1};
    pid_t pid = -1;
    if (n_processes < MAX_PROCESSES &&
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
        pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(STDIN_FILENO);
        close(ends[0]);
        serve(address, ends[1]);
        _exit(0);
    }
    give(pid > 0 ? ends[0] : -1);
    if (ends[0] >= 0) {
        close(ends[0]);
        close(ends[1]);
    }
    return n_processes + (pid > 0);
}

/* Only the daemon ends this process. Signals of a terminal or of systemd are meant for the daemon,
 * which has to finish requests first. */
static void ignore_signals(void)
{
    static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM};
    sigset_t none;
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

int main(void)
{
    char address[ADDRESS_BYTES + 1], byte;
    uint16_t ports[MAX_PORTS];
    size_t n_ports, n_processes = 0;
    ssize_t length = recv(STDIN_FILENO, address, sizeof address - 1, 0);
    if (length <= 0) {
        fputs("attentiond-database is a part of attentiond: see the setting \"database\"\n",
              stderr);
        return 2;
    }
    address[length] = '\0';
    ignore_signals();
    mt_log_set_level(MT_LOG_NONE);
    if (!find_ports(address + 1, ports, &n_ports)) {
        answer("expected postgresql://user:password@host:port/name, with other characters than "
               "letters and digits written %XX in user and password");
        return 1;
    }
    if (address[0] == '+')
        confine(ports, n_ports);
    answer("");
    while (recv(STDIN_FILENO, &byte, 1, 0) == 1)
        n_processes = start_process(address + 1, reap(n_processes));
    return 0;
}
