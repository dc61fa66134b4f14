#include "server/http/router.h"

#include "base/ascii.h"

#include <assert.h>
#include <string.h>

enum mt_dialect mt_route_dialect(const char *target)
{
    const char *scheme = target[0] == '/' ? NULL : strstr(target, "://");
    const char *path = scheme ? scheme + 3 + strcspn(scheme + 3, "/?#") : target;
    bool has_version = strncmp(path, "/v", 2) == 0 && mt_ascii_is_digit(path[2]) && path[3] == '/';
    return has_version ? MT_DEEPL : MT_LIBRETRANSLATE;
}

static bool is_path(const struct mt_route *route, const char *path, size_t path_length)
{
    size_t length = strlen(route->path);
    bool fits = route->is_folder ? path_length >= length : path_length == length;
    return fits && memcmp(route->path, path, length) == 0;
}

static bool has_method(const char *list, const char *method)
{
    size_t length = strlen(method);
    for (const char *at = list; *at; at += strcspn(at, ", "), at += strspn(at, ", "))
        if (strcspn(at, ", ") == length && strncmp(at, method, length) == 0)
            return true;
    return false;
}

static bool is_method(const struct mt_route *route, const char *method)
{
    if (strcmp(method, "HEAD") == 0)
        return strcmp(route->method, "GET") == 0;
    return strcmp(route->method, method) == 0 || (route->also && has_method(route->also, method));
}

static void append(char *list, const char *method)
{
    size_t length = strlen(list);
    size_t n = strlen(method) + (length > 0 ? 2 : 0);
    assert(length + n < MT_MAX_ALLOW_BYTES);
    if (length > 0)
        strcat(list, ", ");
    strcat(list, method);
}

void mt_route_find(const struct mt_route *routes, size_t n_routes, const char *method,
                   const char *path, size_t path_length, struct mt_routing *out)
{
    *out = (struct mt_routing){.match = MT_ROUTE_UNKNOWN};
    bool is_options = strcmp(method, "OPTIONS") == 0;
    if (is_options && path_length == 1 && path[0] == '*') {
        out->match = MT_ROUTE_OPTIONS;
        append(out->allow, "GET, HEAD, POST, OPTIONS");
        return;
    }
    for (size_t i = 0; i < n_routes; i++) {
        if (!is_path(&routes[i], path, path_length))
            continue;
        out->match = is_options ? MT_ROUTE_OPTIONS : MT_ROUTE_WRONG_METHOD;
        out->is_vital |= routes[i].is_vital;
        append(out->allow, routes[i].method);
        if (strcmp(routes[i].method, "GET") == 0)
            append(out->allow, "HEAD");
        if (routes[i].also)
            append(out->allow, routes[i].also);
        if (is_method(&routes[i], method))
            out->route = &routes[i];
    }
    if (out->match != MT_ROUTE_UNKNOWN)
        append(out->allow, "OPTIONS");
    if (out->route)
        out->match = MT_ROUTE_FOUND;
}
