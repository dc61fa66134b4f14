#include "server/documents/markup/odf_styles.h"

#include "base/vector.h"
#include "server/documents/xml_elements.h"
#include "server/text/scripts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/uloc.h>

/* An automatic style of characters. Programs create one where somebody makes words bold, for
 * example, without choosing a style. */
struct mt_odf_style {
    struct mt_text name, properties;
    size_t first;        /* index of the first style with these properties */
    struct mt_range tag; /* a span's tag with that first style */
};

static const char *value_of(const struct mt_odf *odf, const struct mt_markup_tag *tag,
                            const char *name)
{
    const char *value = mt_markup_attribute(odf->markup, tag, name);
    return value ? value : "";
}

/* ---- styles ---- */

static int compare_names(const void *a, const void *b)
{
    const struct mt_odf_style *first = a, *second = b;
    return strcmp(first->name.bytes, second->name.bytes);
}

static struct mt_odf_style *find_style(const struct mt_odf *odf, const char *name)
{
    const struct mt_odf_style key = {.name = {.bytes = (char *)(size_t)name}};
    return odf->n_styles == 0
               ? NULL
               : bsearch(&key, odf->styles, odf->n_styles, sizeof *odf->styles, compare_names);
}

static enum mt_status add_style(struct mt_odf *odf, const char *name, const char *parent,
                                struct mt_error *err)
{
    if (odf->n_styles == MT_ODF_MAX_NAMES)
        return mt_fail(err, MT_LIMIT, "the document has more than %d styles of characters",
                       MT_ODF_MAX_NAMES);
    if (MT_ROOM(&odf->styles, &odf->capacity, odf->n_styles + 1, "parts of a file", err))
        return MT_MEMORY;
    struct mt_odf_style *style = &odf->styles[odf->n_styles++];
    *style = (struct mt_odf_style){0};
    mt_text_append_string(&style->name, name);
    mt_text_append_string(&style->properties, parent);
    return mt_text_check(&style->name, "a style", err);
}

/* Whether the property is invisible: when the words were typed, and in which language. */
static bool is_unseen(const char *name)
{
    static const char *const unseen[] = {" rsid",
                                         " paragraph-rsid",
                                         " language",
                                         " country",
                                         " script",
                                         " language-asian",
                                         " country-asian",
                                         " script-asian",
                                         " language-complex",
                                         " country-complex",
                                         " script-complex",
                                         " rfc-language-tag"};
    const char *local = strrchr(name, ' ');
    for (size_t i = 0; local && i < sizeof unseen / sizeof *unseen; i++)
        if (strcmp(local, unseen[i]) == 0)
            return true;
    return false;
}

static enum mt_status add_properties(struct mt_odf *odf, const struct mt_markup_tag *tag,
                                     struct mt_error *err)
{
    struct mt_odf_style *style = &odf->styles[odf->n_styles - 1];
    bool is_known = strcmp(tag->name, "style:text-properties") == 0;
    if (!is_known) /* a condition, for instance: the style's own name makes it equal to no other */
        mt_text_append_string(&style->properties, style->name.bytes);
    for (const char *const *at = tag->attributes; is_known && *at; at += 2)
        if (!is_unseen(at[0]))
            mt_text_appendf(&style->properties, "%s=%s\n", at[0], at[1]);
    return mt_text_check(&style->properties, "a style", err);
}

static int compare_properties(const void *a, const void *b)
{
    const struct mt_odf_style *const *first = a, *const *second = b;
    int order = strcmp((*first)->properties.bytes, (*second)->properties.bytes);
    return order ? order : *first < *second ? -1 : *first > *second;
}

static enum mt_status group_styles(struct mt_odf *odf, struct mt_error *err)
{
    size_t n = odf->n_styles;
    if (n == 0)
        return MT_OK;
    qsort(odf->styles, n, sizeof *odf->styles, compare_names);
    struct mt_odf_style **order = calloc(n, sizeof(struct mt_odf_style *));
    if (!order)
        return mt_fail_memory(err, n * sizeof *order, "a document");
    for (size_t i = 0; i < n; i++)
        order[i] = &odf->styles[i];
    qsort(order, n, sizeof *order, compare_properties);
    for (size_t i = 0; i < n; i++) {
        bool is_same =
            i > 0 && strcmp(order[i]->properties.bytes, order[i - 1]->properties.bytes) == 0;
        order[i]->first = is_same ? order[i - 1]->first : (size_t)(order[i] - odf->styles);
    }
    free(order);
    return MT_OK;
}

/* All styles with the same properties get the same tag. */
struct mt_range mt_odf_look(void *context, const struct mt_markup_tag *tag)
{
    struct mt_odf *odf = context;
    const char *name = mt_markup_attribute(odf->markup, tag, "text:style-name");
    bool is_all = name && tag->attributes[2] == NULL;
    bool is_empty = odf->document->bytes[tag->range.end - 2] == '/';
    struct mt_odf_style *style = is_all && !is_empty ? find_style(odf, name) : NULL;
    if (!style)
        return tag->range;
    style = &odf->styles[style->first];
    if (style->properties.length == 0)
        return (struct mt_range){0, 0};
    if (style->tag.end == 0)
        style->tag = tag->range;
    return style->tag;
}

bool mt_odf_is_off_line(const struct mt_odf *odf, const char *style)
{
    /* of values like "super 58%", "-33% 58%", "0% 100%" */
    static const char position[] = " text-position=";
    const struct mt_odf_style *found = style ? find_style(odf, style) : NULL;
    const char *value =
        found && found->properties.length > 0 ? strstr(found->properties.bytes, position) : NULL;
    return value && value[strlen(position)] != '0';
}

/* ---- languages ---- */

/* Finds the attributes for the target language, of which there are three sets: for Latin, Greek and
 * Cyrillic letters, for ideographs, and for all other scripts. */
static enum mt_status find_attributes(const char *target, const char **language,
                                      const char **country, struct mt_error *err)
{
    struct mt_language_scripts scripts;
    enum mt_status status = mt_scripts_of_language(target, &scripts, err);
    if (status)
        return status;
    UScriptCode script = scripts.n > 0 ? scripts.items[0] : USCRIPT_LATIN;
    bool is_western = script == USCRIPT_LATIN || script == USCRIPT_CYRILLIC ||
                      script == USCRIPT_GREEK || script == USCRIPT_ARMENIAN ||
                      script == USCRIPT_GEORGIAN;
    bool is_asian = false;
    for (size_t i = 0; i < scripts.n; i++)
        is_asian =
            is_asian || scripts.items[i] == USCRIPT_HAN || scripts.items[i] == USCRIPT_HANGUL;
    *language = is_asian     ? "style:language-asian"
                : is_western ? "fo:language"
                             : "style:language-complex";
    *country = is_asian     ? "style:country-asian"
               : is_western ? "fo:country"
                            : "style:country-complex";
    return MT_OK;
}

static enum mt_status edit(struct mt_odf *odf, const struct mt_markup_tag *tag,
                           const char *attribute, const char *text, struct mt_error *err)
{
    const char *bytes = odf->document->bytes;
    const struct mt_range range = mt_xml_find_attribute(bytes, tag->range, attribute);
    size_t n = range.end - range.begin;
    if (n == 0 || (n == strlen(text) && memcmp(bytes + range.begin, text, n) == 0))
        return MT_OK;
    return mt_document_add_edit(odf->document, range, text, err);
}

/* Adds the edit that replaces the document's language by the target language. */
static enum mt_status take_language(struct mt_odf *odf, const struct mt_markup_tag *tag,
                                    struct mt_error *err)
{
    char likely[ULOC_FULLNAME_CAPACITY], language[MT_LANGUAGE_BYTES],
        country[ULOC_COUNTRY_CAPACITY];
    const char *of_language, *of_country;
    UErrorCode code = U_ZERO_ERROR;
    enum mt_status status = find_attributes(odf->target, &of_language, &of_country, err);
    if (status)
        return status;
    const char *value = value_of(odf, tag, of_language);
    if (!value[0] || strlen(value) >= sizeof odf->language)
        return MT_OK;
    if (odf->is_in_default && !odf->language[0])
        strcpy(odf->language, value);
    if (!odf->is_in_default && (strcmp(value, odf->language) != 0 || strcmp(value, "none") == 0))
        return MT_OK;
    uloc_addLikelySubtags(odf->target, likely, sizeof likely, &code);
    uloc_getLanguage(likely, language, sizeof language, &code);
    uloc_getCountry(likely, country, sizeof country, &code);
    if (U_FAILURE(code))
        return MT_OK;
    status = edit(odf, tag, of_language, language, err);
    return status ? status : edit(odf, tag, of_country, country[0] ? country : "none", err);
}

/* ---- code ---- */

/* Whether LibreOffice or pandoc uses the style for code. */
static bool is_for_code(const char *style)
{
    static const char *const styles[] = {"Source_20_Text", "Source_Text", "Preformatted_20_Text",
                                         "Teletype", "User_20_Entry"};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (strcmp(style, styles[i]) == 0)
            return true;
    return false;
}

static int compare_kept(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool mt_odf_is_code(const struct mt_odf *odf, const char *style)
{
    return style &&
           (is_for_code(style) || (odf->n_codes > 0 && bsearch(&style, odf->codes, odf->n_codes,
                                                               sizeof *odf->codes, compare_kept)));
}

static enum mt_status add_code(struct mt_odf *odf, const char *style, struct mt_error *err)
{
    if (odf->n_codes == MT_ODF_MAX_NAMES)
        return mt_fail(err, MT_LIMIT, "the document has more than %d styles of code",
                       MT_ODF_MAX_NAMES);
    if (MT_ROOM(&odf->codes, &odf->codes_capacity, odf->n_codes + 1, "parts of a file", err))
        return MT_MEMORY;
    odf->codes[odf->n_codes] = strdup(style);
    if (!odf->codes[odf->n_codes])
        return mt_fail_memory(err, strlen(style), "a document");
    odf->n_codes++;
    return MT_OK;
}

/* ---- facts that are needed before texts are read ---- */

static enum mt_status add_name(struct mt_odf *odf, const char *name, struct mt_error *err)
{
    struct mt_text text = {0};
    if (odf->n_names == MT_ODF_MAX_NAMES)
        return mt_fail(err, MT_LIMIT,
                       "the document has more than %d names in formulas, filters and pivot tables",
                       MT_ODF_MAX_NAMES);
    if (MT_ROOM(&odf->names, &odf->names_capacity, odf->n_names + 1, "parts of a file", err))
        return MT_MEMORY;
    mt_text_append_markup(&text, name, strlen(name));
    size_t length;
    return mt_text_take(&text, "a document", &odf->names[odf->n_names++], &length, err);
}

/* Adds the texts in a formula: "open", "she said ""yes""". */
static enum mt_status take_formula(struct mt_odf *odf, const char *formula, struct mt_error *err)
{
    enum mt_status status = MT_OK;
    for (const char *at = strchr(formula, '"'); at && !status; at = strchr(at, '"')) {
        struct mt_text text = {0};
        mt_text_append(&text, "", 0);
        for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
            at += *at == '"';
            mt_text_append(&text, at, 1);
        }
        at += *at == '"';
        status = mt_text_check(&text, "a formula", err);
        if (!status && text.length > 0)
            status = add_name(odf, text.bytes, err);
        mt_text_finish(&text);
    }
    return status;
}

/* Adds the texts by which this element refers to cells. */
static enum mt_status take_names(struct mt_odf *odf, const struct mt_markup_tag *tag,
                                 struct mt_error *err)
{
    static const char *const names[][2] = {
        {"table:data-pilot-field", "table:source-field-name"},
        {"table:data-pilot-member", "table:name"},
        {"table:filter-condition", "table:value"},
        {"table:filter-set-item", "table:value"},
    };
    enum mt_status status = take_formula(odf, value_of(odf, tag, "table:formula"), err);
    for (size_t i = 0; i < sizeof names / sizeof *names && !status; i++) {
        const char *value =
            strcmp(tag->name, names[i][0]) == 0 ? value_of(odf, tag, names[i][1]) : "";
        if (value[0])
            status = add_name(odf, value, err);
    }
    return status;
}

/* Notes which style the following properties belong to, unless this element is a property
 * itself. */
static enum mt_status take_style(struct mt_odf *odf, const struct mt_markup_tag *tag,
                                 struct mt_error *err)
{
    bool is_style = strcmp(tag->name, "style:style") == 0;
    odf->is_in_default = strcmp(tag->name, "style:default-style") == 0;
    odf->is_in_style = is_style && strcmp(value_of(odf, tag, "style:family"), "text") == 0 &&
                       !mt_markup_attribute(odf->markup, tag, "style:display-name");
    const char *name = value_of(odf, tag, "style:name");
    const char *parent = value_of(odf, tag, "style:parent-style-name");
    enum mt_status status = is_style && is_for_code(parent) ? add_code(odf, name, err) : MT_OK;
    return status || !odf->is_in_style ? status : add_style(odf, name, parent, err);
}

static enum mt_status take(void *context, const struct mt_markup_tag *tag, struct mt_error *err)
{
    struct mt_odf *odf = context;
    const char *raw = odf->document->bytes + tag->range.begin;
    enum mt_status status = MT_OK;
    bool is_property = strstr(tag->name, "-properties") || strcmp(tag->name, "style:map") == 0;
    if (strcmp(tag->name, "text:p") == 0 && strncmp(raw, "<text:", strlen("<text:")) != 0)
        return mt_fail(err, MT_UNSUPPORTED, "<%.*s> has another prefix, expected <text:p>",
                       (int)strcspn(raw + 1, " />"), raw + 1);
    if (strncmp(tag->name, "style:", strlen("style:")) == 0 && !is_property)
        status = take_style(odf, tag, err);
    else if (odf->is_in_style && is_property)
        status = add_properties(odf, tag, err);
    if (!status && odf->target && strcmp(tag->name, "style:text-properties") == 0)
        status = take_language(odf, tag, err);
    return status ? status : take_names(odf, tag, err);
}

enum mt_status mt_odf_scan(struct mt_odf *odf, struct mt_range part, struct mt_error *err)
{
    odf->is_in_style = odf->is_in_default = false;
    enum mt_status status = mt_markup_scan(odf->document, part, odf->markup, take, odf, err);
    if (!status && odf->n_codes > 0)
        qsort(odf->codes, odf->n_codes, sizeof *odf->codes, compare_kept);
    return status ? status : group_styles(odf, err);
}

void mt_odf_leave_names(struct mt_odf *odf)
{
    struct mt_document *document = odf->document;
    if (odf->n_names == 0)
        return;
    qsort(odf->names, odf->n_names, sizeof *odf->names, compare_kept);
    for (size_t i = 0; i < document->n; i++) {
        struct mt_text *text = &document->pieces[i].text;
        if (!bsearch(&text->bytes, odf->names, odf->n_names, sizeof *odf->names, compare_kept))
            continue;
        document->pieces[i].left = "a formula, a filter or a pivot table names it";
        text->length = 0;
        text->bytes[0] = '\0';
    }
}

void mt_odf_finish_part(struct mt_odf *odf)
{
    for (size_t i = 0; i < odf->n_styles; i++) {
        mt_text_finish(&odf->styles[i].name);
        mt_text_finish(&odf->styles[i].properties);
    }
    for (size_t i = 0; i < odf->n_codes; i++)
        free(odf->codes[i]);
    free(odf->codes);
    odf->codes = NULL;
    odf->n_codes = odf->codes_capacity = 0;
    free(odf->styles);
    odf->styles = NULL;
    odf->n_styles = odf->capacity = 0;
}

void mt_odf_finish(struct mt_odf *odf)
{
    mt_odf_finish_part(odf);
    for (size_t i = 0; i < odf->n_names; i++)
        free(odf->names[i]);
    free(odf->names);
}
