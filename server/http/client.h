/*
 * Who a request comes from, as a number: the same number for the same address, never 0.
 *
 * - IPv4: the address. IPv6: its first 64 bits, since a customer owns at least a whole /64. IPv4
 *   addresses written as IPv6 ones are IPv4 addresses.
 * - This machine's own addresses (127.0.0.0/8, ::1) are clients like others.
 * - Behind a proxy that the settings name, the client is taken from X-Forwarded-For: it is the last
 *   address there that is no such proxy itself. The addresses before that one were sent by the
 *   client, who may write anything.
 *
 * Thread-safety: immutable after parsing.
 */
#ifndef MT_SERVER_HTTP_CLIENT_H
#define MT_SERVER_HTTP_CLIENT_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct mt_gate_head;
struct sockaddr;

#define MT_MAX_PROXIES 64

/* 16 bytes: IPv6, or IPv4 as ::ffff:a.b.c.d. */
struct mt_address {
    unsigned char bytes[16];
};

struct mt_proxies {
    size_t n;
    struct mt_proxy {
        struct mt_address address;
        unsigned n_bits; /* how many leading bits count; 128: a single address */
    } items[MT_MAX_PROXIES];
};

/* Parses a list such as "127.0.0.1, 10.0.0.0/8, fd00::/8"; "" is an empty list. name is the
 * setting's, for messages. MT_INVALID, MT_LIMIT. */
MT_MUST_CHECK enum mt_status mt_proxies_parse(const char *list, const char *name,
                                              struct mt_proxies *out, struct mt_error *err);

/* Parses text that is exactly one decimal IPv4 or hexadecimal IPv6 address. Otherwise it returns
 * false and leaves *out alone. */
bool mt_address_parse(const char *text, size_t length, struct mt_address *out);

/* Returns all zeros for NULL and for what is no internet address, such as a unix socket's. */
struct mt_address mt_address_of(const struct sockaddr *sockaddr);

bool mt_address_is_loopback(const struct mt_address *address);
bool mt_proxies_have(const struct mt_proxies *proxies, const struct mt_address *address);
uint64_t mt_address_client(const struct mt_address *address);

/* Returns the client of a request whose connection comes from peer. */
uint64_t mt_client_of(const struct mt_proxies *proxies, const struct mt_address *peer,
                      const struct mt_gate_head *head);

#endif
