#include "server/documents/office/office_text_run.h"

#include "server/documents/office/office_reader.h"
#include "server/documents/office/office_runs.h"

#include <string.h>

static void write_language(const struct mt_office_run *run, struct mt_text *out)
{
    const struct mt_written_language *language = run->language;
    const char *attribute = language->is_rtl          ? "bidi"
                            : language->is_east_asian ? "eastAsia"
                                                      : "val";
    mt_text_appendf(out, "<%slang %s%s=\"%s\"/>", run->prefix, run->prefix, attribute,
                    language->tag);
}

static void write_look(const struct mt_office_run *run, struct mt_text *out)
{
    static const char nothing[] = {MT_OFFICE_LOOK_NO_DIRECTION, MT_OFFICE_LOOK_LANGUAGE};
    const char *look = run->look->length > 0 ? run->look->bytes : nothing;
    size_t n = run->look->length > 0 ? run->look->length : sizeof nothing, begin = out->length;
    mt_text_appendf(out, "<%srPr>", run->prefix);
    size_t inner = out->length;
    for (size_t i = 0; i < n; i++)
        if (look[i] == MT_OFFICE_LOOK_LANGUAGE && run->language)
            write_language(run, out);
        else if (look[i] == MT_OFFICE_LOOK_DIRECTION || look[i] == MT_OFFICE_LOOK_NO_DIRECTION) {
            if (run->language ? run->language->is_rtl : look[i] == MT_OFFICE_LOOK_DIRECTION)
                mt_text_appendf(out, "<%srtl/>", run->prefix);
        } else if (look[i] != MT_OFFICE_LOOK_LANGUAGE)
            mt_text_append(out, look + i, 1);
    if (out->length > inner)
        mt_text_appendf(out, "</%srPr>", run->prefix);
    else
        out->length = begin;
}

void mt_office_write_text_run(const struct mt_office_run *run, struct mt_text *out)
{
    mt_text_appendf(out, "<%sr>", run->prefix);
    write_look(run, out);
    mt_text_appendf(out, "<%st xml:space=\"preserve\">", run->prefix);
    mt_text_append(out, run->words, run->length);
    mt_text_appendf(out, "</%st></%sr>", run->prefix, run->prefix);
}

enum mt_status mt_office_add_attributes(struct mt_document *document, const struct mt_xml_tag *tag,
                                        struct mt_error *err)
{
    static const struct {
        const char *element, *attribute;
    } texts[] = {{"docPr", "title"},        {"docPr", "descr"},     {"tblCaption", "val"},
                 {"tblDescription", "val"}, {"textpath", "string"}, {"listItem", "displayText"},
                 {"hyperlink", "tooltip"}};
    enum mt_status status = MT_OK;
    /* The first letter alone tells nearly all elements apart, of which a file may have millions. */
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !status; i++)
        if (tag->name[0] == texts[i].element[0] && strcmp(tag->name, texts[i].element) == 0)
            status = mt_office_add_attribute(document, tag->range, texts[i].attribute, 0, err);
    return status;
}

enum mt_status mt_office_add_drop(struct mt_document *document, const char *prefix,
                                  struct mt_office_token *drop, struct mt_error *err)
{
    const struct mt_office_paragraph paragraph = {
        .prefix = prefix, .write_run = mt_office_write_text_run, .tokens = drop, .n = 1};
    enum mt_status status = MT_OK;
    if (drop->bytes.length > 0)
        status = mt_office_add_texts(document, &paragraph, err);
    mt_text_finish(&drop->bytes);
    *drop = (struct mt_office_token){0};
    return status;
}
