/*
 * The table of settings: everything that file, environment, flags, --help and the example know
 * about a setting stands in its one row. Inside config/ only.
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

/* Numbers are shown with so many digits, because every decimal number of 15 digits survives as a
 * double: 0.6 stays 0.6. */
#define MT_SETTING_DIGITS 15

struct mt_setting {
    const char *section;    /* heading in --help */
    const char *key;        /* also the flag, with '-' for '_', and ATTENTIOND_ + upper case */
    const char *value_name; /* how --help calls the value */
    enum mt_setting_type type;
    size_t offset;                                   /* of the field in struct mt_settings */
    unsigned verbs;                                  /* enum mt_verb or'ed */
    double low, high;                                /* INTEGER and NUMBER: range; STRING: bytes */
    const char *choices[MT_SETTING_MAX_CHOICES + 1]; /* CHOICE: ends with NULL */
    double default_number;                           /* INTEGER, NUMBER, BOOLEAN */
    const char *default_string;                      /* STRING, CHOICE */
    /* What a flag that is given twice should have been; NULL: the last one counts. */
    const char *if_repeated;
    bool is_common;  /* --help tells of it, not only --help-all */
    bool is_secret;  /* never shown, in no message either */
    bool is_fixed;   /* from the start of the daemon to its end; others change with SIGHUP */
    const char *doc; /* what it does and why the default is what it is; sentences */
};

size_t mt_setting_count(void);
const struct mt_setting *mt_setting_at(size_t index);
/* NULL where there is none. */
const struct mt_setting *mt_setting_find(const char *key);

/* "an integer from 0 to 65535", "\"fp32\" or \"int8\"". */
void mt_setting_append_expectation(const struct mt_setting *setting, struct mt_text *out);

#endif
