#include "server/requests/exchange.h"

#include "base/clock.h"
#include "config/settings.h"
#include "server/service/snapshot.h"
#include "server/http/http_gate.h"
#include "server/http/router.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Whether the reply has DeepL's own code for a used-up quota of characters. */
static bool is_quota(const struct mt_exchange *exchange)
{
    return exchange->request.access.is_over_quota && exchange->request.reply.dialect == MT_DEEPL;
}

void mt_exchange_fail(struct mt_exchange *exchange, const struct mt_error *err)
{
    if (err->status == MT_THROTTLED && is_quota(exchange))
        mt_reply_error(&exchange->request.reply, 456, err->message);
    else
        mt_reply_failure(&exchange->request.reply, err);
}

/* Adds to a refusal of access.h what belongs to it beside its text. */
static void describe_refusal(struct mt_exchange *exchange)
{
    const struct mt_access *access = &exchange->request.access;
    mt_exchange_count_rejection(exchange, access->rejection);
    if (access->retry_seconds <= 0 || is_quota(exchange))
        return;
    char seconds[24];
    snprintf(seconds, sizeof seconds, "%lld", (long long)access->retry_seconds);
    mt_reply_header(&exchange->request.reply, "Retry-After", seconds);
}

enum mt_status mt_request_take_chars(struct mt_request *request, uint64_t n_chars,
                                     struct mt_error *err)
{
    enum mt_status status =
        mt_access_take_chars(&request->access, request->service->meters, n_chars, mt_now_ns(), err);
    if (status)
        describe_refusal((struct mt_exchange *)request);
    return status;
}

uint64_t mt_request_used_chars(const struct mt_request *request)
{
    return mt_access_used_chars(&request->access, request->service->meters, mt_now_ns());
}

/* Length of the media type without its parameters. */
static size_t type_length(const char *type)
{
    size_t length = strcspn(type, ";");
    while (length > 0 && (type[length - 1] == ' ' || type[length - 1] == '\t'))
        length--;
    return length;
}

static bool is_type(const char *type, const char *name)
{
    return type_length(type) == strlen(name) && strncasecmp(type, name, strlen(name)) == 0;
}

static bool is_json_type(const char *type)
{
    size_t length = type_length(type);
    return is_type(type, "application/json") ||
           (length > 5 && strncasecmp(type + length - 5, "+json", 5) == 0);
}

static enum mt_status refuse_type(struct mt_exchange *exchange, const char *type)
{
    struct mt_error err;
    mt_fail(&err, MT_UNSUPPORTED,
            "Content-Type is \"%.60s\", expected application/json, "
            "application/x-www-form-urlencoded or multipart/form-data",
            type);
    mt_reply_error(&exchange->request.reply, 415, err.message);
    return MT_OK;
}

/* Refuses JSON that is declared as another type, as curl's -d declares it. Read as a form it would
 * be one field with a strange name, and the client would be told that what it sent is missing. */
static enum mt_status check_no_json(const struct mt_text *body, const char *type,
                                    struct mt_error *err)
{
    if (body->length == 0)
        return MT_OK;
    size_t begin = mt_utf8_mark_length(body->bytes, body->length);
    begin += strspn(body->bytes + begin, " \t\r\n");
    if (body->bytes[begin] != '{')
        return MT_OK;
    return mt_fail(err, MT_INVALID,
                   "Content-Type is \"%.60s\", but the body looks like JSON: "
                   "expected Content-Type: application/json",
                   type);
}

/* Parses the body, whatever its encoding, into request.params. Beside JSON the query string is not
 * read; beside a form it is, and its fields come first. */
static enum mt_status parse_params(struct mt_exchange *exchange, struct mt_error *err)
{
    struct mt_params *params = &exchange->request.params;
    const struct mt_text *body = &exchange->body;
    const char *type = mt_exchange_header(exchange, "Content-Type");
    bool has_query = exchange->query[0] != '\0';
    bool wants_body = strcmp(exchange->route->method, "POST") == 0;
    if (!type)
        type = "";
    size_t limit = (size_t)exchange->request.service->settings->max_body_bytes;
    bool may_be_long = exchange->route->takes_glossaries || is_type(type, "multipart/form-data");
    if (body->length > limit && !may_be_long) /* longer bodies must be files or glossaries */
        return mt_fail(err, MT_LIMIT, MT_GATE_LONG_BODY);
    if (exchange->route->is_page)
        return MT_OK;
    if (is_json_type(type) && (body->length > 0 || (wants_body && !has_query)))
        return mt_params_parse_json(params, body->length > 0 ? body->bytes : "", body->length, err);
    bool is_form = is_type(type, "application/x-www-form-urlencoded");
    bool is_multipart = is_type(type, "multipart/form-data");
    if (body->length > 0 && !is_form && !is_multipart && exchange->route->is_strict_about_type)
        return refuse_type(exchange, type);
    enum mt_status status =
        mt_params_parse_form(params, exchange->query, strlen(exchange->query), true, err);
    if (status || body->length == 0)
        return status;
    if (is_form || (!is_multipart && !has_query))
        status = check_no_json(body, type, err);
    if (status)
        return status;
    if (is_form)
        return mt_params_parse_form(params, body->bytes, body->length, true, err);
    if (is_multipart)
        return mt_params_parse_multipart(params, type, body->bytes, body->length, err);
    return MT_OK;
}

/* X-Request-Timeout says how many seconds the client is going to wait. */
enum mt_status mt_exchange_read_timeout(struct mt_exchange *exchange, struct mt_error *err)
{
    double limit = (double)exchange->request.service->settings->request_timeout_ms * 1e-3;
    const char *text = mt_exchange_header(exchange, "X-Request-Timeout");
    double seconds = limit;
    if (text && (!mt_parse_number(text, &seconds) || seconds < 0))
        return mt_fail(err, MT_INVALID,
                       "X-Request-Timeout is \"%.40s\", expected a number of seconds", text);
    exchange->timeout_ns = (int64_t)(fmin(seconds, limit) * 1e9);
    exchange->deadline_ns = mt_now_ns() + exchange->timeout_ns;
    return MT_OK;
}

static enum mt_access_kind access_kind(const struct mt_route *route, const char *method)
{
    if (route->is_vital)
        return MT_ACCESS_OPEN;
    if (route->access == MT_ACCESS_CHANGES_METERED)
        return strcmp(method, "GET") == 0 ? MT_ACCESS_KEYED : MT_ACCESS_METERED;
    if (route->access != MT_ACCESS_BY_METHOD)
        return route->access;
    return strcmp(route->method, "POST") == 0 ? MT_ACCESS_METERED : MT_ACCESS_OPEN;
}

static enum mt_status check_access(struct mt_exchange *exchange, struct mt_error *err)
{
    struct mt_request *request = &exchange->request;
    struct mt_access *access = &request->access;
    const struct mt_access_question question = {
        .kind = access_kind(exchange->route, request->method),
        .dialect = request->reply.dialect,
        .settings = request->service->settings,
        .keys = request->service->keys,
        .meters = request->service->meters,
        .params = &request->params,
        .query = exchange->query,
        .authorization = mt_exchange_header(exchange, "Authorization"),
        .address = exchange->address,
        .now_ns = mt_now_ns(),
    };
    enum mt_status status = mt_access_check(&question, access, err);
    if (!status)
        return MT_OK;
    describe_refusal(exchange);
    return status;
}

enum mt_status mt_exchange_read(struct mt_exchange *exchange, struct mt_error *err)
{
    enum mt_status status = parse_params(exchange, err);
    if (!status && exchange->request.reply.code == 0)
        status = check_access(exchange, err);
    if (exchange->record.is_wanted && exchange->request.access.key)
        memcpy(exchange->record.key_name, exchange->request.access.key->name,
               sizeof exchange->record.key_name);
    if (exchange->request.params.n_files == 0) /* files are views into the body */
        mt_text_finish(&exchange->body);
    return status;
}
