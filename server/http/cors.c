#include "server/http/cors.h"

#include "base/ascii.h"
#include "server/http/client.h"

#include <string.h>
#include <strings.h>

struct span {
    const char *bytes;
    size_t length;
};

static bool equals(struct span span, const char *text)
{
    return span.length == strlen(text) && strncasecmp(span.bytes, text, span.length) == 0;
}

/* Returns the list's next item without blanks around it, and moves *list on; bytes is NULL at the
 * end. */
static struct span next_item(const char **list)
{
    const char *at = *list + strspn(*list, " ");
    if (*at == '\0')
        return (struct span){0};
    size_t length = strcspn(at, ",");
    *list = at + length + (at[length] == ',');
    while (length > 0 && at[length - 1] == ' ')
        length--;
    return (struct span){at, length};
}

/* RFC 3986, 3.1 */
static bool is_in_scheme(char c)
{
    return mt_ascii_is_letter_or_digit(c) || (c && strchr("+-.", c));
}

/* Returns what follows "scheme://", or nothing where origin does not begin like that. */
static struct span authority_of(struct span origin)
{
    size_t n_scheme = 0;
    while (n_scheme < origin.length && is_in_scheme(origin.bytes[n_scheme]))
        n_scheme++;
    bool has_scheme = n_scheme > 0 && origin.length > n_scheme + 3 &&
                      memcmp(origin.bytes + n_scheme, "://", 3) == 0;
    if (!has_scheme)
        return (struct span){origin.bytes, 0};
    return (struct span){origin.bytes + n_scheme + 3, origin.length - n_scheme - 3};
}

/* Returns the name without port, the brackets of an IPv6 address, and the dot at the end of a full
 * name. */
static struct span name_of(struct span authority)
{
    struct span name = authority;
    bool is_ipv6 = name.length > 0 && name.bytes[0] == '[';
    name.bytes += is_ipv6;
    name.length -= is_ipv6;
    const char *end = memchr(name.bytes, is_ipv6 ? ']' : ':', name.length);
    if (end)
        name.length = (size_t)(end - name.bytes);
    if (name.length > 0 && name.bytes[name.length - 1] == '.')
        name.length--;
    return name;
}

static bool is_origin(struct span item)
{
    struct span authority = authority_of(item);
    for (size_t i = 0; i < authority.length; i++)
        if (authority.bytes[i] <= ' ' || authority.bytes[i] > '~' ||
            strchr("/?#@*\"';,", authority.bytes[i]))
            return false;
    return name_of(authority).length > 0;
}

enum mt_status mt_cors_check(const char *setting, const char *origins, struct mt_error *err)
{
    const char *rest = origins;
    if (mt_cors_is_open(origins))
        return MT_OK;
    for (;;) {
        struct span item = next_item(&rest);
        if (!item.bytes)
            return MT_OK;
        if (!is_origin(item))
            return mt_fail(err, MT_INVALID,
                           "%s has \"%.*s\", expected \"*\" alone, or origins such as "
                           "https://example.org, without a path and separated by commas",
                           setting, item.length < 80 ? (int)item.length : 80, item.bytes);
    }
}

bool mt_cors_is_open(const char *origins)
{
    return strcmp(origins, "*") == 0;
}

const char *mt_cors_allowed(const char *origins, const char *origin)
{
    if (mt_cors_is_open(origins))
        return "*";
    if (!origin)
        return NULL;
    for (;;) {
        struct span item = next_item(&origins);
        if (!item.bytes)
            return NULL;
        if (equals(item, origin))
            return origin;
    }
}

static bool is_localhost(struct span name)
{
    static const char suffix[] = ".localhost"; /* RFC 6761, 6.3 */
    size_t length = sizeof suffix - 1;
    if (name.length < length)
        return equals(name, suffix + 1);
    return equals((struct span){name.bytes + name.length - length, length}, suffix);
}

bool mt_cors_has_host(const char *origins, const char *host, size_t length)
{
    struct mt_address address;
    struct span name = name_of((struct span){host, length});
    if (is_localhost(name) || mt_address_parse(name.bytes, name.length, &address))
        return true;
    for (;;) {
        struct span item = next_item(&origins);
        if (!item.bytes)
            return false;
        struct span known = name_of(authority_of(item));
        if (known.length == name.length && strncasecmp(known.bytes, name.bytes, name.length) == 0)
            return true;
    }
}
