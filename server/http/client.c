#include "server/http/client.h"

#include "server/http/http_gate.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define FORWARDED "X-Forwarded-For"
#define BLANKS " \t"

static const unsigned char mapped_prefix[12] = {[10] = 0xFF, [11] = 0xFF};

static struct mt_address map(const struct in_addr *ipv4)
{
    struct mt_address address;
    memcpy(address.bytes, mapped_prefix, sizeof mapped_prefix);
    memcpy(address.bytes + sizeof mapped_prefix, ipv4, 4);
    return address;
}

static bool is_ipv4(const struct mt_address *address)
{
    return memcmp(address->bytes, mapped_prefix, sizeof mapped_prefix) == 0;
}

bool mt_address_parse(const char *text, size_t length, struct mt_address *out)
{
    char copy[INET6_ADDRSTRLEN];
    struct in_addr ipv4;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (inet_pton(AF_INET, copy, &ipv4) == 1) {
        *out = map(&ipv4);
        return true;
    }
    return inet_pton(AF_INET6, copy, out->bytes) == 1;
}

struct mt_address mt_address_of(const struct sockaddr *sockaddr)
{
    struct mt_address address = {{0}};
    if (sockaddr && sockaddr->sa_family == AF_INET) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, sockaddr, sizeof ipv4);
        return map(&ipv4.sin_addr);
    }
    if (sockaddr && sockaddr->sa_family == AF_INET6) {
        struct sockaddr_in6 ipv6;
        memcpy(&ipv6, sockaddr, sizeof ipv6);
        memcpy(address.bytes, &ipv6.sin6_addr, sizeof address.bytes);
    }
    return address;
}

bool mt_address_is_loopback(const struct mt_address *address)
{
    static const struct mt_address ipv6_loopback = {{[15] = 1}};
    if (is_ipv4(address))
        return address->bytes[12] == 127;
    return memcmp(address, &ipv6_loopback, sizeof ipv6_loopback) == 0;
}

uint64_t mt_address_client(const struct mt_address *address)
{
    uint64_t client = 0;
    /* All IPv4 addresses share one /64 (::ffff:0:0/96), so all of their bits count. */
    const unsigned char *bytes = is_ipv4(address) ? address->bytes + 8 : address->bytes;
    for (size_t i = 0; i < 8; i++)
        client = client << 8 | bytes[i];
    return client != 0 ? client : 1;
}

/* ---- proxies ---- */

static bool has_prefix(const struct mt_address *address, const struct mt_proxy *proxy)
{
    unsigned n_bytes = proxy->n_bits / 8, n_rest = proxy->n_bits % 8;
    if (memcmp(address->bytes, proxy->address.bytes, n_bytes) != 0)
        return false;
    if (n_rest == 0)
        return true;
    unsigned different = (unsigned)(address->bytes[n_bytes] ^ proxy->address.bytes[n_bytes]);
    return different >> (8 - n_rest) == 0;
}

bool mt_proxies_have(const struct mt_proxies *proxies, const struct mt_address *address)
{
    for (size_t i = 0; i < proxies->n; i++)
        if (has_prefix(address, &proxies->items[i]))
            return true;
    return false;
}

/* Reads the length of a network's prefix, which is digits alone and at most max_bits. */
static bool parse_bits(const char *text, size_t length, unsigned max_bits, unsigned *out)
{
    unsigned n = 0;
    if (length == 0 || length > 3)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        n = n * 10 + (unsigned)(text[i] - '0');
    }
    *out = n;
    return n <= max_bits;
}

static bool parse_proxy(const char *text, size_t length, struct mt_proxy *out)
{
    const char *slash = memchr(text, '/', length);
    size_t address_length = slash ? (size_t)(slash - text) : length;
    if (!mt_address_parse(text, address_length, &out->address))
        return false;
    out->n_bits = 128;
    if (!slash)
        return true;
    unsigned n_before = is_ipv4(&out->address) ? 96 : 0;
    if (!parse_bits(slash + 1, length - address_length - 1, 128 - n_before, &out->n_bits))
        return false;
    out->n_bits += n_before;
    return true;
}

enum mt_status mt_proxies_parse(const char *list, const char *name, struct mt_proxies *out,
                                struct mt_error *err)
{
    *out = (struct mt_proxies){0};
    for (const char *at = list + strspn(list, BLANKS); *at != '\0';) {
        size_t length = strcspn(at, "," BLANKS);
        if (out->n == MT_MAX_PROXIES)
            return mt_fail(err, MT_LIMIT, "%s: more than %d addresses", name, MT_MAX_PROXIES);
        if (!parse_proxy(at, length, &out->items[out->n]))
            return mt_fail(err, MT_INVALID,
                           "%s has \"%.*s\", expected an address (127.0.0.1, ::1) or a network "
                           "(10.0.0.0/8, fd00::/8)",
                           name, length < 60 ? (int)length : 60, at);
        out->n++;
        at += length;
        at += strspn(at, "," BLANKS);
    }
    return MT_OK;
}

/* ---- X-Forwarded-For ---- */

/* Parses one element as proxies write them: "1.2.3.4", "1.2.3.4:5678", "2001:db8::1",
 * "[2001:db8::1]:80". */
static bool parse_hop(const char *text, size_t length, struct mt_address *out)
{
    if (length > 0 && text[0] == '[') {
        const char *end = memchr(text, ']', length);
        return end && mt_address_parse(text + 1, (size_t)(end - text) - 1, out);
    }
    const char *colon = memchr(text, ':', length);
    bool has_port = colon && !memchr(colon + 1, ':', length - (size_t)(colon - text) - 1);
    return mt_address_parse(text, has_port ? (size_t)(colon - text) : length, out);
}

/* Walks through one header from its end. Returns false where the walk ends, because *client is the
 * client. */
static bool walk_back(const struct mt_proxies *proxies, const char *value, size_t length,
                      struct mt_address *client)
{
    while (length > 0) {
        size_t start = length;
        while (start > 0 && value[start - 1] != ',')
            start--;
        size_t from = start, to = length;
        while (from < to && strchr(BLANKS, value[from]))
            from++;
        while (to > from && strchr(BLANKS, value[to - 1]))
            to--;
        if (!parse_hop(value + from, to - from, client) || !mt_proxies_have(proxies, client))
            return false;
        length = start > 0 ? start - 1 : 0;
    }
    return true;
}

uint64_t mt_client_of(const struct mt_proxies *proxies, const struct mt_address *peer,
                      const struct mt_gate_head *head)
{
    struct mt_address client = *peer;
    bool is_trusted = mt_proxies_have(proxies, peer);
    for (size_t i = head->n_headers; i > 0 && is_trusted; i--) {
        const struct mt_gate_header *header = &head->headers[i - 1];
        if (header->name_length == strlen(FORWARDED) &&
            strncasecmp(header->name, FORWARDED, header->name_length) == 0)
            is_trusted = walk_back(proxies, header->value, header->value_length, &client);
    }
    return mt_address_client(&client);
}
