#include "server/documents/office/office_names.h"

#include "server/documents/xml_words.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *mt_office_attribute(const struct mt_xml_tag *tag, const char *name)
{
    for (const char *const *at = tag->attributes; at && *at; at += 2) {
        const char *colon = strchr(at[0], ':');
        if (strcmp(colon ? colon + 1 : at[0], name) == 0)
            return at[1];
    }
    return "";
}

enum mt_status mt_office_find_prefix(struct mt_office_prefix *prefix, const char *language,
                                     const struct mt_xml_tag *tag, struct mt_error *err)
{
    char namespaces[2][80]; /* the usual one, and that of ISO 29500's strict form */
    if (prefix->is_known)
        return MT_OK;
    snprintf(namespaces[0], sizeof namespaces[0], "http://schemas.openxmlformats.org/%s/2006/main",
             language);
    snprintf(namespaces[1], sizeof namespaces[1], "http://purl.oclc.org/ooxml/%s/main", language);
    for (const char *const *at = tag->attributes; at && *at; at += 2) {
        bool is_main = strcmp(at[1], namespaces[0]) == 0 || strcmp(at[1], namespaces[1]) == 0;
        if (!is_main || strncmp(at[0], "xmlns", 5) != 0)
            continue;
        const char *name = at[0][5] == ':' ? at[0] + 6 : "";
        size_t n = strlen(name);
        if (n + 1 > MT_OFFICE_MAX_PREFIX)
            return mt_fail(err, MT_LIMIT, "line %zu: a prefix has %zu bytes, expected %d at most",
                           tag->line, n, MT_OFFICE_MAX_PREFIX - 1);
        snprintf(prefix->text, sizeof prefix->text, "%s%s", name, n > 0 ? ":" : "");
        prefix->is_known = true;
    }
    return MT_OK;
}

bool mt_office_has_prefix(const struct mt_office_prefix *prefix, const struct mt_document *document,
                          const struct mt_xml_tag *tag)
{
    const char *raw = document->bytes + tag->range.begin + 1;
    size_t n = strlen(prefix->text);
    return prefix->is_known && strncmp(raw, prefix->text, n) == 0 &&
           strncmp(raw + n, tag->name, strlen(tag->name)) == 0;
}

bool mt_office_is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Whether the style is one that pandoc, Word or LibreOffice has for code, or has a name that people
 * give to such styles. */
bool mt_office_is_code(const char *style)
{
    static const char *const styles[] = {"VerbatimChar", "HTMLCode",         "HTMLSample",
                                         "HTMLKeyboard", "HTMLVariable",     "HTMLTypewriter",
                                         "SourceText",   "Teletype",         "Code",
                                         "CodeChar",     "InlineCode",       "SourceCode",
                                         "CodeBlock",    "HTMLPreformatted", "PreformattedText"};
    return MT_IS_ONE_OF(style, styles);
}

char mt_office_field_form(const char *instruction)
{
    static const struct {
        const char *name;
        char form;
    } fields[] = {
        {"PAGE", 'n'},       {"NUMPAGES", 'n'}, {"SECTIONPAGES", 'n'}, {"SECTION", 'n'},
        {"DATE", 'n'},       {"TIME", 'n'},     {"CREATEDATE", 'n'},   {"SAVEDATE", 'n'},
        {"PRINTDATE", 'n'},  {"EDITTIME", 'n'}, {"SEQ", 'n'},          {"PAGEREF", 'n'},
        {"NUMWORDS", 'n'},   {"NUMCHARS", 'n'}, {"FILENAME", 'n'},     {"FILESIZE", 'n'},
        {"AUTONUM", 'n'},    {"LISTNUM", 'n'},  {"REVNUM", 'n'},       {"EQ", 'n'},
        {"=", 'n'},          {"AUTHOR", 'w'},   {"LASTSAVEDBY", 'w'},  {"USERNAME", 'w'},
        {"MERGEFIELD", 'w'},
    };
    instruction += strspn(instruction, " \t\r\n");
    size_t n = instruction[0] == '=' ? 1 : strcspn(instruction, " \t\r\n\\");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i].name) == n && strncasecmp(fields[i].name, instruction, n) == 0)
            return fields[i].form;
    return '\0';
}

bool mt_office_unescape(const char *xml, size_t length, struct mt_text *out)
{
    size_t begin = out->length;
    mt_text_append(out, "", 0);
    mt_xml_unescape(xml, length, out);
    for (size_t i = begin; i < out->length; i++)
        if (out->bytes[i] == '\t' || out->bytes[i] == '\r' || out->bytes[i] == '\n')
            out->bytes[i] = ' ';
    return !memchr(xml, '<', length); /* there are comments or CDATA */
}
