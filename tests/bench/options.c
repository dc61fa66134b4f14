#include "tests/bench/options.h"

#include "base/file.h"
#include "base/json.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INPUT_BYTES ((size_t)64 << 20)
#define MAX_LINES 100000
#define MAX_REQUEST_BYTES ((size_t)1 << 20)
#define MAX_SECONDS 3600
#define MAX_REQUESTS 1000000
#define MAX_RATE 100000
#define MAX_BURST_MS 1000
#define MAX_REPEATS 100
#define MAX_TOKENS 100000

static const char help[] =
    "usage: load --port N --input FILE [options]\n"
    "\n"
    "Sends the lines of FILE, in order and over again, to POST /translate of a daemon on this\n"
    "machine, and reports throughput and latency.\n"
    "\n"
    "What to do\n"
    "  --clients N,...          closed loop: N connections that each send the next request when\n"
    "                           the answer is there (default 1,8,32,128 where there is no --rate)\n"
    "  --rate R,...             open loop: Poisson arrivals, R a second on average; latency "
    "counts\n"
    "                           from the arrival, sent or not\n"
    "  --connections N          open loop: requests in flight at most (default 256)\n"
    "  --burst-ms MS            open loop: what has arrived is sent every MS milliseconds "
    "together,\n"
    "                           so that this program seldom takes a processor from the daemon\n"
    "  --duration SECONDS       of each run, after its warm-up (default 10)\n"
    "  --requests N             run until N requests are answered instead\n"
    "  --warm-up SECONDS        before each run (default 2)\n"
    "  --repeat N               all runs, N times over: A B A B (default 1)\n"
    "  --timeout SECONDS        for a request; then it is an error (default 60)\n"
    "  --seed N                 of the arrivals (default 1)\n"
    "\n"
    "What to send\n"
    "  --source CODE, --target CODE            (default en, de)\n"
    "  --beam-size N\n"
    "  --min-decoding-length N, --max-decoding-length N   the same for both forces the length\n"
    "  --split-sentences on|off|newlines\n"
    "\n"
    "Whom to watch\n"
    "  --host 127.0.0.1|::1     (default 127.0.0.1)\n"
    "  --pid N                  the daemon's: reports its processor time and memory\n"
    "  --watch-stalls           the machine: how long it stood still of the slowest refusals\n"
    "                           (takes real-time priority, which is root's)\n"
    "  --json                   one JSON document instead of a table\n"
    "\n"
    "Exit code: 0 all answered, 1 some not, or the daemon cannot be reached, 2 wrong usage.\n";

/* In the order of flags[] below. */
enum flag {
    HELP,
    HOST,
    PORT,
    INPUT,
    CLIENTS,
    RATE,
    CONNECTIONS,
    BURST_MS,
    DURATION,
    REQUESTS,
    WARM_UP,
    REPEAT,
    TIMEOUT,
    SEED,
    SOURCE,
    TARGET,
    BEAM_SIZE,
    MIN_LENGTH,
    MAX_LENGTH,
    SPLIT,
    PID,
    WATCH_STALLS,
    JSON,
};

static const struct option flags[] = {
    {"help", no_argument, NULL, HELP},
    {"host", required_argument, NULL, HOST},
    {"port", required_argument, NULL, PORT},
    {"input", required_argument, NULL, INPUT},
    {"clients", required_argument, NULL, CLIENTS},
    {"rate", required_argument, NULL, RATE},
    {"connections", required_argument, NULL, CONNECTIONS},
    {"burst-ms", required_argument, NULL, BURST_MS},
    {"duration", required_argument, NULL, DURATION},
    {"requests", required_argument, NULL, REQUESTS},
    {"warm-up", required_argument, NULL, WARM_UP},
    {"repeat", required_argument, NULL, REPEAT},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"seed", required_argument, NULL, SEED},
    {"source", required_argument, NULL, SOURCE},
    {"target", required_argument, NULL, TARGET},
    {"beam-size", required_argument, NULL, BEAM_SIZE},
    {"min-decoding-length", required_argument, NULL, MIN_LENGTH},
    {"max-decoding-length", required_argument, NULL, MAX_LENGTH},
    {"split-sentences", required_argument, NULL, SPLIT},
    {"pid", required_argument, NULL, PID},
    {"watch-stalls", no_argument, NULL, WATCH_STALLS},
    {"json", no_argument, NULL, JSON},
    {0},
};

/* ---- numbers ---- */

static enum mt_status parse_number(const char *flag, const char *text, size_t length, double low,
                                   double high, double *out, struct mt_error *err)
{
    char copy[32], *end;
    bool is_plain = length > 0 && length < sizeof copy && strspn(text, "0123456789.") >= length;
    if (is_plain) {
        memcpy(copy, text, length);
        copy[length] = '\0';
        *out = strtod(copy, &end);
        is_plain = *end == '\0' && *out >= low && *out <= high;
    }
    if (!is_plain)
        return mt_fail(err, MT_INVALID, "--%s is \"%.*s\", expected a number from %g to %g", flag,
                       (int)length, text, low, high);
    return MT_OK;
}

static enum mt_status parse_count(const char *flag, const char *text, size_t length, double low,
                                  double high, size_t *out, struct mt_error *err)
{
    double value = 0;
    enum mt_status status = parse_number(flag, text, length, low, high, &value, err);
    if (!status && value != floor(value))
        return mt_fail(err, MT_INVALID, "--%s is \"%.*s\", expected a whole number", flag,
                       (int)length, text);
    if (!status)
        *out = (size_t)value;
    return status;
}

/* A comma-separated list of clients or of rates becomes as many runs. */
static enum mt_status parse_runs(struct load_options *o, const char *flag, bool is_open,
                                 const char *text, struct mt_error *err)
{
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        struct load_run run = {0};
        size_t length = strcspn(at, ",");
        if (o->n_runs == LOAD_MAX_RUNS)
            return mt_fail(err, MT_INVALID, "--%s %s: more than %d runs", flag, text,
                           LOAD_MAX_RUNS);
        enum mt_status status =
            is_open ? parse_number(flag, at, length, 0.001, MAX_RATE, &run.rate, err)
                    : parse_count(flag, at, length, 1, LOAD_MAX_CLIENTS, &run.n_clients, err);
        if (status)
            return status;
        o->runs[o->n_runs++] = run;
    }
    return MT_OK;
}

/* ---- flags ---- */

static enum mt_status parse_host(const char *text, const char **out, struct mt_error *err)
{
    if (strcmp(text, "127.0.0.1") != 0 && strcmp(text, "::1") != 0)
        return mt_fail(err, MT_INVALID,
                       "--host is \"%.80s\", expected 127.0.0.1 or ::1: load is only put on this "
                       "machine",
                       text);
    *out = text;
    return MT_OK;
}

/* The flags whose value is one count. */
static enum mt_status parse_size(struct load_options *o, enum flag flag, size_t *n_connections,
                                 struct mt_error *err)
{
    size_t value = 0;
    const struct {
        size_t *out;
        double low, high;
    } targets[JSON + 1] = {
        [PORT] = {&value, 1, UINT16_MAX},
        [CONNECTIONS] = {n_connections, 1, LOAD_MAX_CLIENTS},
        [BURST_MS] = {&o->burst_ms, 1, MAX_BURST_MS},
        [REQUESTS] = {&o->n_requests, 1, MAX_REQUESTS},
        [REPEAT] = {&o->n_repeats, 1, MAX_REPEATS},
        [SEED] = {&value, 0, UINT32_MAX},
        [BEAM_SIZE] = {&o->beam_size, 1, MAX_TOKENS},
        [MIN_LENGTH] = {&o->min_decoding_length, 1, MAX_TOKENS},
        [MAX_LENGTH] = {&o->max_decoding_length, 1, MAX_TOKENS},
        [PID] = {&value, 1, INT32_MAX},
    };
    enum mt_status status = parse_count(flags[flag].name, optarg, strlen(optarg), targets[flag].low,
                                        targets[flag].high, targets[flag].out, err);
    if (flag == PORT)
        o->port = (uint16_t)value;
    if (flag == SEED)
        o->seed = value;
    if (flag == PID)
        o->pid = (int)value;
    return status;
}

static enum mt_status parse_seconds(struct load_options *o, enum flag flag, struct mt_error *err)
{
    double *out = flag == DURATION ? &o->duration : flag == WARM_UP ? &o->warm_up : &o->timeout;
    double low = flag == WARM_UP ? 0 : 0.01;
    return parse_number(flags[flag].name, optarg, strlen(optarg), low, MAX_SECONDS, out, err);
}

static enum mt_status parse_flag(struct load_options *o, int flag, size_t *n_connections,
                                 struct mt_error *err)
{
    switch (flag) {
    case HELP:
        fputs(help, stdout);
        return MT_CANCELLED;
    case HOST:
        return parse_host(optarg, &o->host, err);
    case INPUT:
        o->input_path = optarg;
        return MT_OK;
    case CLIENTS:
    case RATE:
        return parse_runs(o, flags[flag].name, flag == RATE, optarg, err);
    case DURATION:
    case WARM_UP:
    case TIMEOUT:
        return parse_seconds(o, (enum flag)flag, err);
    case SOURCE:
        o->source = optarg;
        return MT_OK;
    case TARGET:
        o->target = optarg;
        return MT_OK;
    case SPLIT:
        o->split_sentences = optarg;
        return MT_OK;
    case WATCH_STALLS:
        o->watches_stalls = true;
        return MT_OK;
    case JSON:
        o->as_json = true;
        return MT_OK;
    default:
        return parse_size(o, (enum flag)flag, n_connections, err);
    }
}

static enum mt_status check(struct load_options *o, size_t n_connections, struct mt_error *err)
{
    static const char usual[] = "1,8,32,128";
    if (o->port == 0)
        return mt_fail(err, MT_INVALID, "--port is missing: where the daemon listens");
    if (!o->input_path)
        return mt_fail(err, MT_INVALID, "--input is missing: a file with one text per line");
    enum mt_status status = MT_OK;
    if (o->n_runs == 0)
        status = parse_runs(o, "clients", false, usual, err);
    for (size_t i = 0; i < o->n_runs; i++)
        if (o->runs[i].rate > 0)
            o->runs[i].n_clients = n_connections;
    return status;
}

enum mt_status load_options_parse(int argc, char **argv, struct load_options *out,
                                  struct mt_error *err)
{
    *out = (struct load_options){
        .host = "127.0.0.1",
        .n_repeats = 1,
        .warm_up = 2,
        .duration = 10,
        .timeout = 60,
        .seed = 1,
        .source = "en",
        .target = "de",
    };
    size_t n_connections = 256;
    opterr = 0;
    for (int flag; (flag = getopt_long(argc, argv, ":", flags, NULL)) != -1;) {
        if (flag == '?')
            return mt_fail(err, MT_INVALID, "%.80s: no such flag; --help lists them",
                           argv[optind - 1]);
        if (flag == ':')
            return mt_fail(err, MT_INVALID, "%.80s needs a value", argv[optind - 1]);
        enum mt_status status = parse_flag(out, flag, &n_connections, err);
        if (status)
            return status;
    }
    if (optind < argc)
        return mt_fail(err, MT_INVALID, "\"%.80s\": only flags are expected", argv[optind]);
    return check(out, n_connections, err);
}

/* ---- requests ---- */

static void write_count(struct mt_json_writer *writer, const char *key, size_t value)
{
    if (value == 0)
        return;
    mt_json_member_count(writer, key, value);
}

static void write_body(const struct load_options *o, const char *line, size_t length,
                       struct mt_text *out)
{
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, out);
    mt_json_begin_object(&writer);
    mt_json_member_bytes(&writer, "q", line, length);
    mt_json_member(&writer, "source", o->source);
    mt_json_member(&writer, "target", o->target);
    if (o->split_sentences)
        mt_json_member(&writer, "split_sentences", o->split_sentences);
    write_count(&writer, "beam_size", o->beam_size);
    write_count(&writer, "min_decoding_length", o->min_decoding_length);
    write_count(&writer, "max_decoding_length", o->max_decoding_length);
    mt_json_member_bool(&writer, "return_usage", true);
    mt_json_end_object(&writer);
}

static enum mt_status write_message(const struct load_options *o, const char *line, size_t length,
                                    struct mt_text *out, struct mt_error *err)
{
    struct mt_text body = {.limit_bytes = MAX_REQUEST_BYTES};
    write_body(o, line, length, &body);
    enum mt_status status = mt_text_check(&body, "a request", err);
    if (!status) {
        mt_text_appendf(out,
                        "POST /translate HTTP/1.1\r\nHost: localhost:%u\r\n"
                        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                        (unsigned)o->port, body.length);
        mt_text_append(out, body.bytes, body.length);
        status = mt_text_check(out, "a request", err);
    }
    mt_text_finish(&body);
    return status;
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r", line[i]))
            return false;
    return true;
}

static enum mt_status write_messages(const struct load_options *o, const char *text, size_t length,
                                     struct load_requests *out, struct mt_error *err)
{
    out->messages = calloc(MAX_LINES, sizeof *out->messages);
    if (!out->messages)
        return mt_fail_memory(err, MAX_LINES * sizeof *out->messages, "requests");
    for (const char *line = text, *end = text + length; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t n = (size_t)((newline ? newline : end) - line);
        if (!is_blank(line, n)) {
            if (out->n == MAX_LINES)
                return mt_fail(err, MT_LIMIT, "%s has more than %d lines", o->input_path,
                               MAX_LINES);
            enum mt_status status = write_message(o, line, n, &out->messages[out->n++], err);
            if (status)
                return status;
        }
        line += n + 1;
    }
    if (out->n == 0)
        return mt_fail(err, MT_INVALID, "%s: no text in it", o->input_path);
    return MT_OK;
}

enum mt_status load_requests_read(const struct load_options *options, struct load_requests *out,
                                  struct mt_error *err)
{
    char *text;
    size_t length;
    *out = (struct load_requests){0};
    enum mt_status status = mt_file_read(options->input_path, MAX_INPUT_BYTES, &text, &length, err);
    if (status)
        return status;
    size_t n_valid = mt_utf8_valid_prefix(text, length);
    if (n_valid < length)
        status = mt_fail(err, MT_FORMAT, "%s: byte %zu is not UTF-8", options->input_path, n_valid);
    else
        status = write_messages(options, text, length, out, err);
    free(text);
    if (status)
        load_requests_finish(out);
    return status;
}

void load_requests_finish(struct load_requests *requests)
{
    for (size_t i = 0; i < requests->n; i++)
        mt_text_finish(&requests->messages[i]);
    free(requests->messages);
    *requests = (struct load_requests){0};
}
