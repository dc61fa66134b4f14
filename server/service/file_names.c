#include "server/service/file_names.h"

#include "base/size.h"
#include "server/text/language.h"

#include <string.h>
#include <strings.h>

/* Most bytes of a file's name, without languages and extension. */
#define MAX_STEM_BYTES 120
/* A name of 253 bytes (RFC 1035), a port and brackets. */
#define MAX_HOST_BYTES 262

static const char *base_name(const char *file_name)
{
    const char *at = file_name;
    for (const char *c = file_name; *c != '\0'; c++)
        if (*c == '/' || *c == '\\')
            at = c + 1;
    return at;
}

/* Returns the length of the name without its extension, and without a language at its end (except
 * for catalogues). */
static size_t stem_length(const char *name, const char *source, const char *extension)
{
    const char *dot = strrchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    size_t n_source = strlen(source);
    bool has_source = strcmp(extension, ".po") != 0 && n_source > 0 && length > n_source + 1 &&
                      name[length - n_source - 1] == '.' &&
                      strncasecmp(name + length - n_source, source, n_source) == 0;
    return has_source ? length - n_source - 1 : length;
}

void mt_file_name_translated(const char *file_name, const char *source, const char *target,
                             const char *extension, char out[MT_FILE_NAME_BYTES])
{
    const char *name = base_name(file_name);
    size_t length = stem_length(name, source, extension), n = 0;
    while (length > 0 && (*name == '.' || *name == ' ' || *name == '-')) {
        name++;
        length--;
    }
    for (size_t at = 0; at < length;) {
        size_t n_bytes = mt_utf8_length((unsigned char)name[at]);
        bool is_odd =
            (unsigned char)name[at] < 0x20 || name[at] == 0x7F || strchr("<>:\"|?*", name[at]);
        if (n + n_bytes > MAX_STEM_BYTES)
            break;
        if (is_odd)
            out[n++] = '_';
        else
            memcpy(out + n, name + at, n_bytes), n += n_bytes;
        at += n_bytes;
    }
    out[n] = '\0';
    if (n == 0)
        strcpy(out, "translation");
    if (strcmp(extension, ".po") != 0) {
        strcat(out, ".");
        strncat(out, target, MT_LANGUAGE_BYTES);
    }
    strncat(out, extension, 16);
}

/* Writes the name twice (RFC 6266): in ASCII for old clients, and unchanged (RFC 8187). */
void mt_file_write_disposition(const char *file_name, struct mt_text *out)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    mt_text_append_string(out, "attachment; filename=\"");
    for (const char *c = file_name; *c != '\0'; c += mt_utf8_length((unsigned char)*c)) {
        bool is_safe =
            (unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7F && !strchr("\"\\%", *c);
        mt_text_append(out, is_safe ? c : "_", 1);
    }
    mt_text_append_string(out, "\"; filename*=UTF-8''");
    for (const char *c = file_name; *c != '\0'; c++) {
        if (strchr(plain, *c))
            mt_text_append(out, c, 1);
        else
            mt_text_appendf(out, "%%%02X", (unsigned)(unsigned char)*c);
    }
}

/* Accepts "name", "name:port", "[address]:port". Anything else is refused, because it becomes part
 * of a link that people follow. */
static bool is_host(const char *host)
{
    static const char names[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    size_t n;
    if (host[0] == '[') {
        n = strspn(host + 1, "0123456789abcdefABCDEF:.") + 1;
        if (n == 1 || host[n] != ']')
            return false;
        n++;
    } else {
        n = strspn(host, names);
    }
    if (n == 0 || strlen(host) > MAX_HOST_BYTES)
        return false;
    if (host[n] == '\0')
        return true;
    size_t n_port = strspn(host + n + 1, "0123456789");
    return host[n] == ':' && n_port > 0 && n_port <= 5 && host[n + 1 + n_port] == '\0';
}

enum mt_status mt_files_base_url(const char *public_url, const char *host,
                                 const char *forwarded_proto, struct mt_text *out,
                                 struct mt_error *err)
{
    size_t length = strlen(public_url);
    if (length > 0) {
        mt_text_append(out, public_url, length - (public_url[length - 1] == '/'));
        return mt_text_check(out, "a link", err);
    }
    if (!host || !is_host(host))
        return mt_fail(err, MT_INVALID,
                       "the header Host is \"%.60s\", expected the name of this server, since the "
                       "reply holds a link to it",
                       host ? host : "");
    bool is_https = forwarded_proto && strcasecmp(forwarded_proto, "https") == 0;
    mt_text_appendf(out, "%s://%s", is_https ? "https" : "http", host);
    return mt_text_check(out, "a link", err);
}

enum mt_status mt_files_check_url(const char *public_url, struct mt_error *err)
{
    bool has_scheme =
        strncmp(public_url, "http://", 7) == 0 || strncmp(public_url, "https://", 8) == 0;
    if (public_url[0] == '\0' ||
        (has_scheme && public_url[strcspn(public_url, " \t\r\n\"<>?#")] == '\0'))
        return MT_OK;
    return mt_fail(err, MT_INVALID,
                   "public_url is \"%.80s\", expected a URL such as https://translate.example.org",
                   public_url);
}
