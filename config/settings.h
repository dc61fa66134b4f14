/*
 * Settings: one table of {key, type, range, default, doc} drives the configuration file, the
 * environment, the command line, --help and the documented example config/attentiond.json.
 *
 * Precedence: flag > environment (ATTENTIOND_ + the key in upper case) > file > default. An unknown
 * key, a value of another type or one out of range is refused with its source (file, variable or
 * flag), key, value and expectation.
 */
#ifndef MT_CONFIG_SETTINGS_H
#define MT_CONFIG_SETTINGS_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* The verbs that a setting applies to. */
enum mt_verb {
    MT_VERB_SERVE = 1,
    MT_VERB_TRANSLATE = 2,
    MT_VERB_INSPECT = 4,
    MT_VERB_CHECK_CONFIG = 8,
    MT_VERB_BENCH = 16,
    MT_VERB_IMPORT = 32
};

/* Strings are NUL-terminated, owned by the settings. A field's meaning, range and default are in
 * the table (settings.c); do not repeat them. */
struct mt_settings {
    /* model */
    char *model;     /* directory */
    char *precision; /* "fp32" or "int8" */
    /* network */
    char *host;
    int64_t port;
    int64_t max_connections;
    int64_t request_timeout_ms, idle_timeout_ms;
    int64_t drain_timeout_ms;
    int64_t max_body_bytes;
    /* threads */
    int64_t workers, threads_per_worker; /* 0: chosen for the machine */
    /* batch and queue */
    int64_t max_batch_rows;
    int64_t max_queued_sentences;
    int64_t encode_tokens;
    /* request limits */
    int64_t max_text_chars, max_batch_texts;
    int64_t max_beam_size, max_alternatives;
    int64_t max_attention_values;
    /* decoding defaults */
    int64_t beam_size;           /* 0: the model's */
    double length_penalty;       /* < 0: the model's */
    int64_t max_decoding_length; /* 0: the model's */
    char *split_sentences;       /* "on", "off" */
    /* log */
    char *log_level;
    bool log_json;
};

/* All defaults. */
MT_MUST_CHECK enum mt_status mt_settings_init(struct mt_settings *settings, struct mt_error *err);
void mt_settings_finish(struct mt_settings *settings);

/* Each overrides what is there. The environment is read with getenv: call before threads start. */
MT_MUST_CHECK enum mt_status mt_settings_read_file(struct mt_settings *settings, const char *path,
                                                   struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_settings_read_environment(struct mt_settings *settings,
                                                          struct mt_error *err);

/* One setting from text, as on the command line. origin ("--port", "ATTENTIOND_PORT") goes into
 * messages. */
MT_MUST_CHECK enum mt_status mt_settings_set(struct mt_settings *settings, const char *key,
                                             const char *value, const char *origin,
                                             struct mt_error *err);

/* Whether --flag (without the dashes, '-' for '_') is a setting of the verb, and whether it takes
 * no value (a boolean). */
bool mt_settings_is_flag(const char *flag, enum mt_verb verb, bool *takes_value);

/* The options part of a verb's help page: flag, range, default and doc of each setting that
 * applies. */
void mt_settings_print_help(enum mt_verb verb, struct mt_text *out);

/* The commented example (config/attentiond.json is exactly this), and the effective settings as
 * JSON. */
void mt_settings_print_example(struct mt_text *out);
void mt_settings_print_effective(const struct mt_settings *settings, struct mt_text *out);

#endif
