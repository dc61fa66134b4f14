/*
 * Feeds lists of proxies and X-Forwarded-For to their readers: a first line is the setting, what
 * follows are headers. Without a proxy that is trusted, no header changes who the client is.
 */
#include "server/http/client.h"

#include "server/http/http_gate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FORWARDED 8

static size_t split(char *text, struct mt_gate_header headers[MAX_FORWARDED])
{
    size_t n = 0;
    for (char *line = text; line && n < MAX_FORWARDED;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        headers[n++] = (struct mt_gate_header){"X-Forwarded-For", line, 15, strlen(line)};
        line = end;
    }
    return n;
}

static void check(const struct mt_proxies *proxies, const char *peer_text,
                  const struct mt_gate_head *head)
{
    struct mt_address peer;
    assert(mt_address_parse(peer_text, strlen(peer_text), &peer));
    uint64_t client = mt_client_of(proxies, &peer, head);
    assert(client != 0);
    if (!mt_proxies_have(proxies, &peer))
        assert(client == mt_address_client(&peer));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    char *rest = strchr(text, '\n');
    if (rest)
        *rest++ = '\0';
    struct mt_gate_header headers[MAX_FORWARDED];
    const struct mt_gate_head head = {.headers = headers,
                                      .n_headers = rest ? split(rest, headers) : 0};
    struct mt_proxies proxies;
    struct mt_error err;
    if (mt_proxies_parse(text, "list", &proxies, &err) == MT_OK) {
        assert(proxies.n <= MT_MAX_PROXIES);
        check(&proxies, "127.0.0.1", &head);
        check(&proxies, "2001:db8::1", &head);
    }
    const struct mt_proxies all = {.n = 1};
    check(&all, "192.0.2.1", &head);
    free(text);
    return 0;
}
