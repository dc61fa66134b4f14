/*
 * Feeds request heads to the gate and the router: one line each for method, target, version and
 * the headers ("name:value"). Whatever the gate lets in must have one meaning: one length at most,
 * no second framing, a target that begins with '/', nothing that could end a line.
 */
#include "server/http/http_gate.h"
#include "server/http/router.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_HEADERS (MT_MAX_HEADERS + 20)
#define MAX_BODY_BYTES 65536
/* Behind the last header, for its line's end and the empty line. */
#define N_LAST 2

/* Cuts the next line off *text, in place; "" at the end. */
static char *next_line(char **text)
{
    char *line = *text;
    size_t length = strcspn(line, "\n");
    *text = line + length + (line[length] == '\n');
    line[length] = '\0';
    return line;
}

static size_t read_headers(char *text, struct mt_gate_header *headers)
{
    size_t n = 0;
    while (*text && n < MAX_HEADERS) {
        char *name = next_line(&text);
        size_t length = strcspn(name, ":");
        char *value = name + length + (name[length] == ':');
        headers[n++] = (struct mt_gate_header){name, value, length, strlen(value)};
    }
    return n;
}

static size_t count(const struct mt_gate_head *head, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < head->n_headers; i++)
        n += head->headers[i].name_length == strlen(name) &&
             !strncasecmp(head->headers[i].name, name, strlen(name));
    return n;
}

static void check_admitted(const struct mt_gate_head *head, const struct mt_gate_result *gate)
{
    size_t n_lengths = count(head, "Content-Length");
    size_t n_encodings = count(head, "Transfer-Encoding");
    assert(n_lengths + n_encodings <= 1);
    assert(gate->has_length == (n_lengths == 1) && gate->is_chunked == (n_encodings == 1));
    assert(count(head, "Host") == 1 || (!count(head, "Host") && head->version[7] == '0'));
    assert(gate->content_length <= MAX_BODY_BYTES);
    assert(strlen(head->target) <= MT_MAX_TARGET_BYTES);
    assert(head->target[0] == '/' || !strcmp(head->method, "OPTIONS") ||
           !strncasecmp(head->target, "http://", 7) || !strncasecmp(head->target, "https://", 8));
    assert(head->n_headers <= MT_MAX_HEADERS);
    for (size_t i = 0; i < head->n_headers; i++) {
        assert(head->headers[i].name_length > 0);
        assert(!memchr(head->headers[i].value, '\r', head->headers[i].value_length));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = calloc(size + N_LAST, 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    char *rest = text;
    struct mt_gate_header headers[MAX_HEADERS];
    struct mt_gate_head head = {.headers = headers, .max_body_bytes = MAX_BODY_BYTES};
    head.method = next_line(&rest);
    head.target = next_line(&rest);
    head.version = next_line(&rest);
    head.n_headers = read_headers(rest, headers);

    struct mt_gate_result gate;
    mt_gate_check(&head, &gate);
    assert((gate.code == 0) == (gate.message == NULL));
    assert(gate.path_length <= strlen(head.target));
    if (gate.code == 0) {
        struct mt_routing routing;
        check_admitted(&head, &gate);
        mt_route_find(mt_routes, mt_n_routes, head.method, gate.path, gate.path_length, &routing);
        assert((routing.match == MT_ROUTE_FOUND) == (routing.route != NULL));
    }
    /* The pieces are in place, each behind the NUL of the one before, unless one holds a NUL. */
    struct mt_gate_result placed;
    head.target_place = head.target;
    head.end = text + size + N_LAST;
    mt_gate_check(&head, &placed);
    assert(placed.code != 0 || gate.code == 0);
    /* NUL LF looks like CR LF, at the end of the head, too. */
    for (size_t i = 0; i + N_LAST < size && placed.code == 0; i++)
        assert(data[i] != '\0' || data[i + 1] == '\n');
    free(text);
    return 0;
}
