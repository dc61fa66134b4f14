/*
 * The table of settings. Each setting has one row, with everything that file, environment, flags,
 * --help and the example need to know. Only config/ includes this.
 *
 * Thread-safety: immutable.
 */
#ifndef MT_CONFIG_TABLE_H
#define MT_CONFIG_TABLE_H

#include "config/settings.h"

enum mt_setting_type {
    MT_SETTING_STRING,
    MT_SETTING_CHOICE, /* a string, one of choices */
    MT_SETTING_INTEGER,
    MT_SETTING_NUMBER,
    MT_SETTING_BOOLEAN
};

#define MT_SETTING_MAX_KEY_BYTES 32
#define MT_SETTING_MAX_CHOICES 12

/* Numbers are shown with this many digits, because a double keeps every decimal number of 15
 * digits: 0.6 stays 0.6. */
#define MT_SETTING_DIGITS 15

struct mt_setting {
    const char *section;    /* heading in --help */
    const char *key;        /* also the flag, with '-' for '_', and ATTENTIOND_ + upper case */
    const char *value_name; /* the value's name in --help */
    enum mt_setting_type type;
    /* offset of the member in struct mt_settings */
    size_t offset;
    unsigned verbs;                                  /* combination of enum mt_verb */
    double low, high;                                /* INTEGER and NUMBER: range; STRING: bytes */
    const char *choices[MT_SETTING_MAX_CHOICES + 1]; /* CHOICE: ends with NULL */
    double default_number;                           /* INTEGER, NUMBER, BOOLEAN */
    const char *default_string;                      /* STRING, CHOICE */
    /* Message if the flag is given twice; NULL: the last one counts. */
    const char *if_repeated;
    bool is_common;  /* listed by --help, not only by --help-all */
    bool is_secret;  /* never shown, not even in a message */
    bool is_fixed;   /* unchanged while the daemon runs; others change with SIGHUP */
    const char *doc; /* sentences that tell what it does, and the reason for the default */
};

size_t mt_setting_count(void);
const struct mt_setting *mt_setting_at(size_t index);
/* Returns NULL where there is none. */
const struct mt_setting *mt_setting_find(const char *key);

/* Appends "an integer from 0 to 65535", "\"fp32\" or \"int8\"". */
void mt_setting_append_expectation(const struct mt_setting *setting, struct mt_text *out);

#endif
