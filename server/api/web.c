#include "server/api/web.h"

#include "config/settings.h"

#include <string.h>

/* Everything comes from this server; nothing else may be loaded, posted to or run. Downloads,
 * including pictures, are created in the page; the form is for browsers without JavaScript. */
static const char content_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors ";

const struct mt_web_file *mt_web_find(const char *path)
{
    for (size_t i = 0; i < mt_n_web_files; i++)
        if (strcmp(mt_web_files[i].path, path) == 0)
            return &mt_web_files[i];
    return NULL;
}

/* Returns the end of a tag, which is its closing quotation mark, because there may be commas in
 * it. */
static const char *end_of_tag(const char *tag)
{
    const char *quote = tag[0] == '"' ? strchr(tag + 1, '"') : NULL;
    return quote ? quote + 1 : tag + strcspn(tag, ",");
}

bool mt_web_has_tag(const char *if_none_match, const char *etag)
{
    size_t length = strlen(etag);
    const char *at = if_none_match;
    while (at && *at) {
        at += strspn(at, " \t,");
        if (*at == '*')
            return true;
        /* If-None-Match compares weakly: a proxy that recompresses may have made the tag weak. */
        if (strncmp(at, "W/", 2) == 0)
            at += 2;
        const char *end = end_of_tag(at);
        if ((size_t)(end - at) == length && memcmp(at, etag, length) == 0)
            return true;
        at = end;
    }
    return false;
}

/* ancestors: the setting frame_ancestors, which is ASCII. */
static enum mt_status add_policy(struct mt_reply *reply, const char *ancestors,
                                 struct mt_error *err)
{
    struct mt_text policy = {0};
    mt_text_append_string(&policy, content_policy);
    for (const char *at = *ancestors ? ancestors : "'none'"; *at; at++)
        mt_text_append_char(&policy, *at == ',' ? ' ' : (unsigned char)*at);
    enum mt_status status = mt_text_check(&policy, "Content-Security-Policy", err);
    if (!status)
        mt_reply_header(reply, "Content-Security-Policy", policy.bytes);
    mt_text_finish(&policy);
    return status;
}

static void add_headers(struct mt_reply *reply, const char *etag, bool is_packed)
{
    mt_reply_header(reply, "ETag", etag);
    /* Browsers revalidate a file each time, usually with 304, so that they never mix modules of two
     * versions. */
    mt_reply_header(reply, "Cache-Control", "no-cache");
    mt_reply_header(reply, "Vary", "Accept-Encoding");
    mt_reply_header(reply, "Referrer-Policy", "no-referrer");
    if (is_packed)
        mt_reply_header(reply, "Content-Encoding", "gzip");
}

static enum mt_status send_file(struct mt_request *request, const char *path, struct mt_error *err)
{
    const struct mt_web_file *file = mt_web_find(path);
    if (!file)
        return mt_fail(err, MT_NOT_FOUND, "The requested URL was not found on the server.");
    struct mt_reply *reply = &request->reply;
    bool is_packed = mt_accepts_gzip(mt_request_header(request, "Accept-Encoding"));
    const char *etag = is_packed ? file->packed_etag : file->etag;
    bool is_known = mt_web_has_tag(mt_request_header(request, "If-None-Match"), etag);
    /* Only the page may be framed, because /docs has a form for an API key. */
    bool may_be_framed = strcmp(path, "/") == 0;
    enum mt_status status =
        add_policy(reply, may_be_framed ? request->service->settings->frame_ancestors : "", err);
    if (status)
        return status;
    add_headers(reply, etag, is_packed && !is_known);
    if (is_known) {
        reply->code = 304;
        return MT_OK;
    }
    reply->content_type = file->content_type;
    reply->no_compression = true;
    reply->static_body = is_packed ? file->packed : file->bytes;
    reply->static_length = is_packed ? file->packed_length : file->length;
    return MT_OK;
}

static enum mt_status finish(struct mt_request *request, struct mt_error *err)
{
    const char *path = request->service->settings->web_page ? request->path : "";
    return send_file(request, path, err);
}

const struct mt_handler mt_web_handler = {.finish = finish};

/* The description of the API is for programs, so it exists even if the pages are disabled. */
static enum mt_status finish_description(struct mt_request *request, struct mt_error *err)
{
    return send_file(request, "/openapi.json", err);
}

const struct mt_handler mt_description_handler = {.finish = finish_description};
