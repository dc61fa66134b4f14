/*
 * Settings: one table of {key, type, range, default, verbs, doc} (table.h) drives the configuration
 * file, the environment, the command line, --help and the documented example
 * config/attentiond.json.
 *
 * Precedence: flag > environment (ATTENTIOND_ + the key in upper case) > file > default. An unknown
 * key, a value of another type or one out of range is refused with its source (file, variable or
 * flag), key, value and expectation: MT_INVALID.
 *
 * The file is one JSON object {key: value}. A member whose name begins with "//" is a comment; a
 * value of null leaves the setting as it is.
 *
 * Thread-safety: settings belong to one thread at a time; the table is immutable.
 */
#ifndef MT_CONFIG_SETTINGS_H
#define MT_CONFIG_SETTINGS_H

#include "base/nearest.h"
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
    MT_VERB_IMPORT = 32,
    MT_VERB_HEALTHCHECK = 64,
    MT_VERB_LIST = 128,
    MT_VERB_REMOVE = 256,
    MT_VERB_PULL = 512
};

/* Strings are NUL-terminated and owned by the settings. The meaning, range and default of a member
 * are in the table (rows_*.c) and should not be repeated here. */
struct mt_settings {
    /* model */
    char *model;     /* directory */
    char *precision; /* "fp32" or "int8" */
    char *cache_dir; /* empty: the command line chooses it (server/commands/cli.c) */
    char *load_mode; /* "mmap" or "copy" */
    char *kernels;
    char *source_lang, *target_lang;
    char *warm_up_text, *warm_up_answer;
    /* models */
    char *models_directory;  /* "": none */
    int64_t models_memory;   /* 0: what memory_limit leaves, or no limit */
    int64_t models_idle_ms;  /* 0: they stay loaded */
    int64_t models_watch_ms; /* 0: not watched */
    /* network */
    char *host;
    int64_t port;
    int64_t max_connections; /* 0: chosen automatically */
    int64_t request_timeout_ms, idle_timeout_ms;
    int64_t header_timeout_ms, body_timeout_ms;
    int64_t shutdown_delay_ms, drain_timeout_ms;
    int64_t stream_keepalive_ms;
    int64_t max_body_bytes;
    bool web_page;
    /* "": none; "*", or the origins whose pages may show the page in a frame */
    char *frame_ancestors;
    char *cors_origins; /* "*", or the origins whose pages may read replies */
    /* files */
    bool files_translation;
    int64_t max_document_bytes, max_documents, max_document_jobs, document_timeout_ms;
    int64_t files_lifetime_ms, max_files_bytes;
    char *files_directory; /* "": they are kept in memory */
    /* what clients leave with the daemon */
    char *data_directory, *database; /* both "": clients cannot store data */
    int64_t max_data_bytes, max_glossaries, max_glossary_bytes;
    int64_t max_memories, max_memory_units;
    bool suggestions;                /* POST /suggest stores suggestions */
    char *public_url;                /* "": taken from the request's Host */
    char *tls_certificate, *tls_key; /* "": none */
    /* access */
    char *api_keys_file; /* "": none */
    bool key_required;
    int64_t requests_per_minute, requests_per_hour, requests_per_day; /* 0: no limit */
    int64_t chars_per_day, max_limit_violations;                      /* 0: no limit */
    int64_t max_client_connections, max_client_sentences;             /* 0: chosen automatically */
    char *admin_socket;                                               /* "": none */
    char *metrics_token;                                              /* "": none */
    char *trust_forwarded_for; /* addresses and networks of proxies */
    /* threads */
    int64_t workers, threads_per_worker, text_threads; /* 0: chosen for the machine */
    /* batch and queue */
    int64_t max_batch_rows;
    int64_t max_queued_sentences;
    int64_t cache_bytes; /* for translations of sentences; 0: no cache */
    /* request limits */
    int64_t max_text_chars, max_batch_texts, max_html_tags, max_glossary_terms;
    int64_t max_beam_size, max_alternatives;
    int64_t max_attention_values;
    /* decoding defaults */
    int64_t beam_size;           /* 0: the model's value */
    double length_penalty;       /* < 0: the model's value */
    int64_t max_decoding_length; /* 0: the model's value */
    double max_length_factor;
    char *split_sentences;   /* "on", "off", "newlines" */
    char *shortlist;         /* "on", "off" */
    char *target_vocabulary; /* "on", "off" */
    bool post_edit;
    /* guards */
    bool repair_numbers;
    int64_t max_repeats;     /* 0: not checked */
    double max_length_ratio; /* 0: not checked */
    double min_probability;  /* 0: not checked */
    /* attention */
    /* safety */
    int64_t memory_limit; /* 0: no limit */
    bool sandbox;
    /* log */
    char *log_level;
    char *log_format; /* "text" or "json" */
    bool log_requests;
};

/* Sets all defaults. After a failure there is nothing to finish. */
MT_MUST_CHECK enum mt_status mt_settings_init(struct mt_settings *settings, struct mt_error *err);
/* A zeroed struct is allowed. */
void mt_settings_finish(struct mt_settings *settings);

/* Most bytes of a configuration file. */
#define MT_SETTINGS_MAX_FILE_BYTES ((size_t)1 << 20)

/* Both override what is there. After a failure the settings remain valid, with the values before
 * the wrong one applied. The environment is read in place, so this has to be called before threads
 * start. ATTENTIOND_CONFIG is left to the command line; variables that Kubernetes and Docker derive
 * from a service of our name are ignored. */
MT_MUST_CHECK enum mt_status mt_settings_read_file(struct mt_settings *settings, const char *path,
                                                   struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_settings_read_environment(struct mt_settings *settings,
                                                          struct mt_error *err);

/* Sets one setting from text, as on the command line. origin ("--port", "ATTENTIOND_PORT") is for
 * messages. */
MT_MUST_CHECK enum mt_status mt_settings_set(struct mt_settings *settings, const char *key,
                                             const char *value, const char *origin,
                                             struct mt_error *err);

/* For a reload: copies into fresh the running values of all settings that cannot change while the
 * daemon runs, and appends the keys of those that differed, "host, port", to differing.
 * MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_settings_keep_fixed(struct mt_settings *fresh,
                                                    const struct mt_settings *running,
                                                    struct mt_text *differing,
                                                    struct mt_error *err);

/* Reads the words for a switch on the command line and in the environment: on, true, yes, 1 and
 * their opposites. Returns false for others. */
bool mt_settings_read_switch(const char *text, bool *is_on);

/* Whether --flag (without the dashes) is a setting of the verb, and whether it needs a value (a
 * boolean does not, because the flag alone turns it on). */
bool mt_settings_is_flag(const char *flag, enum mt_verb verb, bool *takes_value);

/* Whether clients can store data. */
static inline bool mt_settings_keep_data(const struct mt_settings *settings)
{
    return settings->data_directory[0] != '\0' || settings->database[0] != '\0';
}

/* Message if --flag is given twice, for flags where that is a mistake: "several go into one, ...";
 * NULL: the last one counts. */
const char *mt_settings_if_repeated(const char *flag);
#define MT_SETTINGS_WITH_COMMAS "several go into one, with commas between them"

/* Offers the verb's flags, spelt as keys ('_' for '-'), as corrections of a mistyped one. */
void mt_settings_offer_flags(enum mt_verb verb, struct mt_nearest *nearest);

/* Prints the part of a verb's help page that is about settings: flag, range, default and doc of
 * each that applies, by section. */
void mt_settings_print_help(enum mt_verb verb, struct mt_text *out);

/* Prints the few settings that most users need, and returns how many it leaves out. */
size_t mt_settings_print_short_help(enum mt_verb verb, struct mt_text *out);

/* Prints one entry of that form, for flags that are not settings. limits follows doc. */
void mt_settings_print_flag(const char *flag, const char *value_name, const char *doc,
                            const char *limits, struct mt_text *out);

/* Writes the verb's settings as a JSON array, for programs that generate other pages: "key",
 * "section", "value" (its name in help; not for booleans), "type", "choices", "expected",
 * "default", "is_fixed" and "doc". */
void mt_settings_describe(enum mt_verb verb, struct mt_text *out);

/* Print the commented example (which config/attentiond.json equals), and the effective settings as
 * JSON; of secrets only whether they are set. */
void mt_settings_print_example(struct mt_text *out);
void mt_settings_print_effective(const struct mt_settings *settings, struct mt_text *out);

#endif
