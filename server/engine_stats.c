#include "server/engine_stats.h"

void mt_engine_stats_add_counters(const struct mt_engine_stats *from, struct mt_engine_stats *to)
{
    to->n_jobs_accepted += from->n_jobs_accepted;
    to->n_jobs_done += from->n_jobs_done;
    to->n_jobs_cancelled += from->n_jobs_cancelled;
    to->n_jobs_expired += from->n_jobs_expired;
    to->n_jobs_refused += from->n_jobs_refused;
    to->n_sentences_admitted += from->n_sentences_admitted;
    to->n_steps += from->n_steps;
    to->n_step_rows += from->n_step_rows;
    to->n_encoder_passes += from->n_encoder_passes;
    to->n_source_tokens += from->n_source_tokens;
    to->n_target_tokens += from->n_target_tokens;
    to->encode_seconds += from->encode_seconds;
    to->step_seconds += from->step_seconds;
    to->queue_wait_seconds += from->queue_wait_seconds;
}

void mt_engine_stats_add(const struct mt_engine_stats *from, struct mt_engine_stats *to)
{
    mt_engine_stats_add_counters(from, to);
    to->n_queued_sentences += from->n_queued_sentences;
    to->n_running_sentences += from->n_running_sentences;
    to->n_running_rows += from->n_running_rows;
}
