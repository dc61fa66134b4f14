#include "server/documents/html_values.h"

void mt_html_value_read(const struct mt_document *document, struct mt_range value,
                        struct mt_text *out)
{
    for (size_t at = value.begin; at < value.end; at++)
        if (document->bytes[at] == '<')
            mt_text_append_string(out, "&lt;");
        else
            mt_text_append(out, document->bytes + at, 1);
}

void mt_html_value_write(const struct mt_document *document, struct mt_range value,
                         const char *translation, size_t length, struct mt_text *out)
{
    char quote = value.begin > 0 ? document->bytes[value.begin - 1] : '"';
    bool is_quoted = quote == '"' || quote == '\'';
    if (!is_quoted)
        mt_text_append(out, "\"", 1);
    for (size_t i = 0; i < length; i++)
        if (translation[i] == '"' && quote != '\'')
            mt_text_append_string(out, "&quot;");
        else if (translation[i] == '\'' && quote == '\'')
            mt_text_append_string(out, "&#39;");
        else
            mt_text_append(out, translation + i, 1);
    if (!is_quoted)
        mt_text_append(out, "\"", 1);
}
