#include "config/table.h"

#include "base/json.h"
#include "config/rows.h"

#include <string.h>

size_t mt_setting_count(void)
{
    return mt_n_rows_engine + mt_n_rows_daemon;
}

const struct mt_setting *mt_setting_at(size_t index)
{
    return index < mt_n_rows_engine ? &mt_rows_engine[index]
                                    : &mt_rows_daemon[index - mt_n_rows_engine];
}

const struct mt_setting *mt_setting_find(const char *key)
{
    for (size_t i = 0; i < mt_setting_count(); i++)
        if (!strcmp(mt_setting_at(i)->key, key))
            return mt_setting_at(i);
    return NULL;
}

static void append_range(const struct mt_setting *setting, const char *kind, struct mt_text *out)
{
    struct mt_json_writer writer;
    mt_text_appendf(out, "%s from ", kind);
    mt_json_writer_init(&writer, out);
    mt_json_number(&writer, setting->low, MT_SETTING_DIGITS);
    mt_text_append_string(out, " to ");
    mt_json_writer_init(&writer, out);
    mt_json_number(&writer, setting->high, MT_SETTING_DIGITS);
}

static void append_choices(const struct mt_setting *setting, struct mt_text *out)
{
    for (size_t i = 0; setting->choices[i]; i++) {
        bool is_last = !setting->choices[i + 1];
        mt_text_append_string(out, i == 0 ? "" : is_last ? " or " : ", ");
        mt_text_appendf(out, "\"%s\"", setting->choices[i]);
    }
}

void mt_setting_append_expectation(const struct mt_setting *setting, struct mt_text *out)
{
    switch (setting->type) {
    case MT_SETTING_STRING:
        mt_text_appendf(out, "a string of %.0f to %.0f bytes", setting->low, setting->high);
        return;
    case MT_SETTING_CHOICE:
        append_choices(setting, out);
        return;
    case MT_SETTING_INTEGER:
        append_range(setting, "an integer", out);
        return;
    case MT_SETTING_NUMBER:
        append_range(setting, "a number", out);
        return;
    case MT_SETTING_BOOLEAN:
        mt_text_append_string(out, "true or false");
        return;
    }
}
