#include "server/requests/account.h"

#include "base/json.h"
#include "base/log.h"
#include "server/engine/engine.h"

#include <stdio.h>

void mt_account_add(struct mt_account *account, const struct mt_job *job)
{
    const struct mt_job_account *added = &job->account;
    account->n_rounds++;
    account->n_sentences += job->n_sentences;
    account->n_source_tokens += added->n_source_tokens;
    account->n_target_tokens += added->n_target_tokens;
    account->queue_ns += added->queue_ns;
    account->encoder_ns += added->encoder_ns;
    account->decoder_ns += added->decoder_ns;
}

void mt_account_write_timing(const struct mt_account *account, int64_t total_ns,
                             char out[MT_SERVER_TIMING_BYTES])
{
    const int64_t times_ns[] = {account->queue_ns, account->encoder_ns, account->decoder_ns,
                                total_ns};
    char numbers[4][MT_JSON_NUMBER_BYTES];
    for (size_t i = 0; i < 4; i++)
        mt_json_format_ms(times_ns[i], numbers[i]);
    snprintf(out, MT_SERVER_TIMING_BYTES,
             "queue;dur=%s, encoder;dur=%s, decoder;dur=%s, total;dur=%s", numbers[0], numbers[1],
             numbers[2], numbers[3]);
}

static struct mt_log_field text(const char *name, const char *value)
{
    return (struct mt_log_field){
        .name = name, .kind = MT_LOG_TEXT, .text = value && value[0] != '\0' ? value : NULL};
}

static struct mt_log_field number(const char *name, uint64_t value)
{
    return (struct mt_log_field){.name = name, .kind = MT_LOG_NUMBER, .number = (int64_t)value};
}

static struct mt_log_field ms(const char *name, int64_t ns)
{
    return (struct mt_log_field){.name = name, .kind = MT_LOG_MS, .number = ns};
}

void mt_account_log(const struct mt_request_end *end)
{
    const struct mt_account *account = end->account;
    struct mt_log_field fields[MT_LOG_FIELDS];
    size_t n = 0;
    fields[n++] = text("method", end->method);
    fields[n++] = text("route", end->route);
    fields[n++] = number("status", end->status);
    fields[n++] = number("bytes", end->n_bytes);
    fields[n++] = text("key", end->key);
    fields[n++] = text("models", end->models);
    if (account->n_rounds > 0) {
        fields[n++] = number("sentences", account->n_sentences);
        fields[n++] = number("source_tokens", account->n_source_tokens);
        fields[n++] = number("target_tokens", account->n_target_tokens);
        fields[n++] = ms("queue_ms", account->queue_ns);
        fields[n++] = ms("encoder_ms", account->encoder_ns);
        fields[n++] = ms("decoder_ms", account->decoder_ns);
    }
    fields[n++] = ms("total_ms", end->total_ns);
    fields[n++] = text("request_id", end->request_id);
    fields[n++] = text("trace_id", end->trace->trace_id);
    fields[n++] = text("parent_id", end->trace->parent_id);
    mt_log_record(MT_LOG_INFO, "request", fields, n);
}
