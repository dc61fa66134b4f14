/* Writes the table for people: help pages, the example file, the effective settings. */

#include "base/json.h"
#include "config/table.h"

#include <string.h>

#define HELP_COLUMNS 100
#define HELP_INDENT 8

/* Makes "max-body-bytes" of max_body_bytes. */
static void flag_of(const struct mt_setting *setting, char out[MT_SETTING_MAX_KEY_BYTES])
{
    size_t i = 0;
    for (; setting->key[i]; i++)
        out[i] = setting->key[i] == '_' ? '-' : setting->key[i];
    out[i] = '\0';
}

static bool applies(const struct mt_setting *setting, enum mt_verb verb)
{
    return (setting->verbs & (unsigned)verb) != 0;
}

bool mt_settings_is_flag(const char *flag, enum mt_verb verb, bool *takes_value)
{
    char own[MT_SETTING_MAX_KEY_BYTES];
    for (size_t i = 0; i < mt_setting_count(); i++) {
        const struct mt_setting *setting = mt_setting_at(i);
        flag_of(setting, own);
        if (!applies(setting, verb) || strcmp(own, flag))
            continue;
        *takes_value = setting->type != MT_SETTING_BOOLEAN;
        return true;
    }
    return false;
}

const char *mt_settings_if_repeated(const char *flag)
{
    char own[MT_SETTING_MAX_KEY_BYTES];
    for (size_t i = 0; i < mt_setting_count(); i++) {
        flag_of(mt_setting_at(i), own);
        if (strcmp(own, flag) == 0)
            return mt_setting_at(i)->if_repeated;
    }
    return NULL;
}

static void append_default(const struct mt_setting *setting, struct mt_text *out)
{
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, out);
    switch (setting->type) {
    case MT_SETTING_STRING:
    case MT_SETTING_CHOICE:
        mt_json_string_z(&writer, setting->default_string);
        return;
    case MT_SETTING_INTEGER:
    case MT_SETTING_NUMBER:
        mt_json_number(&writer, setting->default_number, MT_SETTING_DIGITS);
        return;
    case MT_SETTING_BOOLEAN:
        mt_json_bool(&writer, setting->default_number != 0);
        return;
    }
}

/* Appends the words of text, wrapped to HELP_COLUMNS and indented. column is the position in the
 * current line. */
static void append_wrapped(const char *text, size_t *column, struct mt_text *out)
{
    while (*text) {
        size_t length = strcspn(text, " ");
        if (*column > HELP_INDENT && *column + 1 + length > HELP_COLUMNS) {
            mt_text_append_string(out, "\n");
            *column = 0;
        }
        if (*column == 0)
            mt_text_appendf(out, "%*s", HELP_INDENT, "");
        else
            mt_text_append_string(out, " ");
        *column = *column == 0 ? HELP_INDENT + length : *column + 1 + length;
        mt_text_append(out, text, length);
        text += length;
        text += strspn(text, " ");
    }
}

/* Appends the limits that exist, as in "(an integer from 0 to 65535; default 5000)". */
static void append_limits(const struct mt_setting *setting, struct mt_text *out)
{
    bool is_string = setting->type == MT_SETTING_STRING;
    if (is_string && !*setting->default_string)
        return;
    mt_text_append_string(out, "(");
    if (!is_string && setting->type != MT_SETTING_BOOLEAN) {
        mt_setting_append_expectation(setting, out);
        mt_text_append_string(out, "; ");
    }
    mt_text_append_string(out, "default ");
    append_default(setting, out);
    mt_text_append_string(out, ")");
}

void mt_settings_print_flag(const char *flag, const char *value_name, const char *doc,
                            const char *limits, struct mt_text *out)
{
    size_t column = 0;
    mt_text_appendf(out, "  --%s%s%s\n", flag, value_name ? " " : "", value_name ? value_name : "");
    append_wrapped(doc, &column, out);
    append_wrapped(limits, &column, out);
    mt_text_append_string(out, "\n");
}

static void append_entry(const struct mt_setting *setting, struct mt_text *out)
{
    char flag[MT_SETTING_MAX_KEY_BYTES];
    struct mt_text limits = {0};
    flag_of(setting, flag);
    append_limits(setting, &limits);
    const char *value = setting->type == MT_SETTING_BOOLEAN ? "[on|off]" : setting->value_name;
    mt_settings_print_flag(flag, value, setting->doc, limits.bytes ? limits.bytes : "", out);
    if (limits.status)
        out->status = limits.status;
    mt_text_finish(&limits);
}

void mt_settings_print_help(enum mt_verb verb, struct mt_text *out)
{
    const char *section = NULL;
    for (size_t i = 0; i < mt_setting_count(); i++) {
        const struct mt_setting *setting = mt_setting_at(i);
        if (!applies(setting, verb))
            continue;
        if (!section || strcmp(section, setting->section))
            mt_text_appendf(out, "%s%s:\n", section ? "\n" : "", setting->section);
        section = setting->section;
        append_entry(setting, out);
    }
}

size_t mt_settings_print_short_help(enum mt_verb verb, struct mt_text *out)
{
    size_t n_common = 0, n_others = 0;
    for (size_t i = 0; i < mt_setting_count(); i++) {
        const struct mt_setting *setting = mt_setting_at(i);
        if (!applies(setting, verb))
            continue;
        n_others += !setting->is_common;
        if (setting->is_common && n_common++ == 0)
            mt_text_append_string(out, "Settings that matter most:\n");
        if (setting->is_common)
            append_entry(setting, out);
    }
    return n_others;
}

/* Only settings with choices have this member. */
static void describe_choices(const struct mt_setting *setting, struct mt_json_writer *writer)
{
    mt_json_member_array(writer, "choices");
    for (size_t i = 0; setting->choices[i]; i++)
        mt_json_string_z(writer, setting->choices[i]);
    mt_json_end_array(writer);
}

static void describe_default(const struct mt_setting *setting, struct mt_json_writer *writer)
{
    mt_json_key(writer, "default");
    if (setting->type == MT_SETTING_BOOLEAN)
        mt_json_bool(writer, setting->default_number != 0);
    else if (setting->default_string)
        mt_json_string_z(writer, setting->default_string);
    else
        mt_json_number(writer, setting->default_number, MT_SETTING_DIGITS);
}

static void describe(const struct mt_setting *setting, struct mt_json_writer *writer)
{
    static const char *const types[] = {
        [MT_SETTING_STRING] = "string",   [MT_SETTING_CHOICE] = "choice",
        [MT_SETTING_INTEGER] = "integer", [MT_SETTING_NUMBER] = "number",
        [MT_SETTING_BOOLEAN] = "boolean",
    };
    struct mt_text expected = {0};
    mt_setting_append_expectation(setting, &expected);
    mt_json_begin_object(writer);
    mt_json_member(writer, "key", setting->key);
    mt_json_member(writer, "section", setting->section);
    if (setting->value_name)
        mt_json_member(writer, "value", setting->value_name);
    mt_json_member(writer, "type", types[setting->type]);
    if (setting->type == MT_SETTING_CHOICE)
        describe_choices(setting, writer);
    mt_json_member(writer, "expected", expected.bytes ? expected.bytes : "");
    describe_default(setting, writer);
    mt_json_member_bool(writer, "is_fixed", setting->is_fixed);
    mt_json_member(writer, "doc", setting->doc);
    mt_json_end_object(writer);
    if (expected.status)
        writer->out->status = expected.status;
    mt_text_finish(&expected);
}

void mt_settings_describe(enum mt_verb verb, struct mt_text *out)
{
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, out);
    mt_json_begin_array(&writer);
    for (size_t i = 0; i < mt_setting_count(); i++)
        if (applies(mt_setting_at(i), verb))
            describe(mt_setting_at(i), &writer);
    mt_json_end_array(&writer);
}

void mt_settings_offer_flags(enum mt_verb verb, struct mt_nearest *nearest)
{
    for (size_t i = 0; i < mt_setting_count(); i++)
        if (applies(mt_setting_at(i), verb))
            mt_nearest_offer(nearest, mt_setting_at(i)->key);
}

static void append_string(const char *string, struct mt_text *out)
{
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, out);
    mt_json_string_z(&writer, string);
}

/* Appends "//port": "... (an integer from 0 to 65535)", */
static void append_comment(const struct mt_setting *setting, struct mt_text *out)
{
    struct mt_text comment = {0};
    mt_text_appendf(&comment, "%s (", setting->doc);
    mt_setting_append_expectation(setting, &comment);
    mt_text_append_string(&comment, ")");
    mt_text_appendf(out, "  \"//%s\": ", setting->key);
    append_string(comment.bytes ? comment.bytes : "", out);
    mt_text_append_string(out, ",\n");
    if (comment.status)
        out->status = comment.status;
    mt_text_finish(&comment);
}

void mt_settings_print_example(struct mt_text *out)
{
    mt_text_append_string(out, "{\n  \"//\": ");
    append_string("The settings of attentiond with their defaults. Members that begin with // are "
                  "comments. A flag (--max-body-bytes) wins over an environment variable "
                  "(ATTENTIOND_MAX_BODY_BYTES), which wins over this file.",
                  out);
    for (size_t i = 0; i < mt_setting_count(); i++) {
        const struct mt_setting *setting = mt_setting_at(i);
        mt_text_append_string(out, ",\n\n");
        append_comment(setting, out);
        mt_text_appendf(out, "  \"%s\": ", setting->key);
        append_default(setting, out);
    }
    mt_text_append_string(out, "\n}\n");
}

static void append_current(const struct mt_settings *settings, const struct mt_setting *setting,
                           struct mt_text *out)
{
    const void *slot = (const char *)settings + setting->offset;
    struct mt_json_writer writer;
    mt_json_writer_init(&writer, out);
    switch (setting->type) {
    case MT_SETTING_STRING:
    case MT_SETTING_CHOICE:
        mt_json_string_z(&writer, setting->is_secret && **(char *const *)slot
                                      ? "(set, not shown)"
                                      : *(char *const *)slot);
        return;
    case MT_SETTING_INTEGER:
        mt_json_integer(&writer, *(const int64_t *)slot);
        return;
    case MT_SETTING_NUMBER:
        mt_json_number(&writer, *(const double *)slot, MT_SETTING_DIGITS);
        return;
    case MT_SETTING_BOOLEAN:
        mt_json_bool(&writer, *(const bool *)slot);
        return;
    }
}

void mt_settings_print_effective(const struct mt_settings *settings, struct mt_text *out)
{
    for (size_t i = 0; i < mt_setting_count(); i++) {
        mt_text_appendf(out, "%s  \"%s\": ", i == 0 ? "{\n" : ",\n", mt_setting_at(i)->key);
        append_current(settings, mt_setting_at(i), out);
    }
    mt_text_append_string(out, "\n}\n");
}
