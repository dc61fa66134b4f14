/*
 * Catalogues in XML, whose messages are replaced in their places:
 *
 *   Android's strings.xml   <resources><string name="hi">Hello <b>%1$s</b></string>
 *                           <plurals name="n"><item quantity="one">One</item>...
 *   .NET's .resx            <root><data name="hi"><value>Hello</value><comment/></data>
 *   Apple's .stringsdict    <dict><key>one</key><string>%d file</string><key>other</key>...
 *
 * A set of plural forms gets the forms that the target language has and the set lacks: Polish "few"
 * and "many" are translations of "other", added behind the last form.
 *
 * Messages with translatable="false", references (@string/hi), resources of other types and names
 * of controls (>>label.Name) stay.
 */
#include "server/documents/plural_forms.h"
#include "server/documents/xml_elements.h"
#include "server/documents/xml_message.h"
#include "server/documents/xml_words.h"

#include "base/vector.h"
#include <stdlib.h>
#include <string.h>

/* A form that the file lacks. It is written like an existing one. */
struct form {
    struct mt_range before,
        /* the bytes around that one's words: its element and the blanks before it */
        behind;
    struct mt_range name; /* where "other" is in before */
    enum mt_plural_form form;
};

struct forms {
    struct form *items;
    size_t n, capacity;
};

/* The set of plural forms that is being read. */
struct set {
    bool has[MT_N_PLURAL_FORMS];
    struct mt_range item; /* the current form with its element */
    struct mt_range name; /* the form's name */
    bool is_item;         /* there is a current form */
    enum mt_plural_form form;
    struct form other;     /* the element of "other" */
    struct mt_range words; /* the words of "other"; empty: the set does not have it */
    size_t end;            /* where the last form ends */
};

struct reader {
    struct mt_document *document;
    const char *root;        /* the element that the file has to begin with */
    const char *path[4];     /* names of the open elements; NULL: an unknown one */
    size_t left;             /* depth of the element in which nothing is translated; 0: none */
    size_t message, content; /* depth of the message's element, and position of its content */
    struct mt_range key;     /* content of the last <key> of a property list, and its depth */
    size_t key_depth, key_begin;
    size_t widths; /* depth of the strings for different widths of a screen; 0: none */
    struct set set;
    const char *target_lang; /* NULL: unknown */
    bool (*is_message)(const struct reader *reader, const struct mt_xml_tag *tag);
    bool (*is_left)(const struct mt_xml_tag *tag);
    bool has_accelerators;
};

static const char *const names[] = {"resources", "string", "plurals", "string-array",
                                    "item",      "root",   "data",    "value"};

static const char *known(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return names[i];
    return "";
}

static bool is_at(const struct reader *reader, size_t depth, const char *name)
{
    return strcmp(reader->path[depth - 1], name) == 0;
}

static bool is_android_message(const struct reader *reader, const struct mt_xml_tag *tag)
{
    if (tag->depth == 2)
        return is_at(reader, 2, "string") ||
               (is_at(reader, 2, "item") && mt_xml_has(tag, "type", "string"));
    return tag->depth == 3 && is_at(reader, 3, "item") &&
           (is_at(reader, 2, "plurals") || is_at(reader, 2, "string-array"));
}

static bool is_android_left(const struct mt_xml_tag *tag)
{
    return mt_xml_has(tag, "translatable", "false");
}

static bool is_resx_message(const struct reader *reader, const struct mt_xml_tag *tag)
{
    return tag->depth == 3 && is_at(reader, 2, "data") && is_at(reader, 3, "value");
}

static bool is_resx_left(const struct mt_xml_tag *tag)
{
    const char *name = mt_xml_attribute(tag, "name");
    return tag->depth == 2 && (mt_xml_attribute(tag, "type") || mt_xml_attribute(tag, "mimetype") ||
                               (name && strncmp(name, ">>", 2) == 0));
}

static bool is_key(const struct reader *reader, const char *name)
{
    size_t n = reader->key.end - reader->key.begin;
    return strlen(name) == n && memcmp(name, reader->document->bytes + reader->key.begin, n) == 0;
}

/* Whether the tag is a plural form, the sentence into which forms are inserted, or a string for
 * some width of the screen, whose key is a number. */
static bool is_plist_message(const struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char *const keys[] = {
        "NSStringLocalizedFormatKey", "zero", "one", "two", "few", "many", "other"};
    if (strcmp(tag->name, "string") != 0 || tag->depth != reader->key_depth)
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (is_key(reader, keys[i]))
            return true;
    return tag->depth == reader->widths;
}

static bool is_plist_left(const struct mt_xml_tag *tag)
{
    (void)tag;
    return false;
}

/* ---- plural forms ---- */

/* Returns where the form's name is in an item's tag. */
static struct mt_range find_name(const char *bytes, struct mt_range tag, const char *name)
{
    size_t n = strlen(name);
    for (size_t at = tag.begin + 1; at + n < tag.end; at++)
        if (strchr("\"'", bytes[at - 1]) && memcmp(bytes + at, name, n) == 0 &&
            bytes[at + n] == bytes[at - 1])
            return (struct mt_range){at, at + n};
    return (struct mt_range){0};
}

/* Begins a message, which may be a form. */
static void begin_form(struct reader *reader, const struct mt_xml_tag *tag)
{
    struct set *set = &reader->set;
    const char *bytes = reader->document->bytes;
    const char *quantity = mt_xml_attribute(tag, "quantity");
    bool has_key = !quantity && tag->depth == reader->key_depth;
    set->is_item = false;
    if (quantity && mt_plural_form_of(quantity, strlen(quantity), &set->form)) {
        set->item.begin = tag->range.begin;
        set->name = find_name(bytes, tag->range, quantity);
    } else if (has_key && mt_plural_form_of(bytes + reader->key.begin,
                                            reader->key.end - reader->key.begin, &set->form)) {
        set->item.begin = reader->key_begin;
        set->name = reader->key;
    } else {
        return;
    }
    set->is_item = set->name.begin < set->name.end;
    while (set->item.begin > 0 && strchr(" \t\r\n", bytes[set->item.begin - 1]))
        set->item.begin--;
}

/* Ends a message, which may be a form. */
static void end_form(struct reader *reader, const struct mt_xml_tag *tag)
{
    struct set *set = &reader->set;
    if (!set->is_item)
        return;
    set->is_item = false;
    set->has[set->form] = true;
    set->end = tag->range.end;
    if (set->form != MT_PLURAL_OTHER)
        return;
    set->words = (struct mt_range){reader->content, tag->range.begin};
    set->other = (struct form){.before = {set->item.begin, reader->content},
                               .behind = {tag->range.begin, tag->range.end},
                               .name = set->name};
}

static enum mt_status add_form(struct reader *reader, enum mt_plural_form form,
                               struct mt_error *err)
{
    struct mt_document *document = reader->document;
    struct forms *forms = document->own;
    size_t n = document->n;
    enum mt_status status = mt_xml_message_add(document, reader->set.words, err);
    if (status || document->n == n) /* the message has no words */
        return status;
    if (MT_ROOM(&forms->items, &forms->capacity, forms->n + 1, "parts of a file", err))
        return MT_MEMORY;
    struct mt_document_piece *piece = &document->pieces[n];
    forms->items[forms->n] = reader->set.other;
    forms->items[forms->n].form = form;
    forms->items[forms->n].before.end = piece->range.begin;
    forms->items[forms->n].behind.begin = piece->range.end;
    piece->range = (struct mt_range){reader->set.end, reader->set.end};
    piece->first = forms->n++;
    return MT_OK;
}

/* Adds behind the last form those that the target language has and the set lacks. */
static enum mt_status end_set(struct reader *reader, struct mt_error *err)
{
    struct set *set = &reader->set;
    bool needed[MT_N_PLURAL_FORMS];
    enum mt_status status = MT_OK;
    bool is_set = set->words.begin < set->words.end && reader->target_lang && !reader->left;
    if (is_set)
        mt_plural_forms_of_language(reader->target_lang, needed);
    for (size_t i = 0; i < MT_N_PLURAL_FORMS && is_set && !status; i++)
        if (needed[i] && !set->has[i])
            status = add_form(reader, (enum mt_plural_form)i, err);
    *set = (struct set){0};
    return status;
}

static void finish_forms(void *own)
{
    struct forms *forms = own;
    free(forms->items);
    free(forms);
}

static void write_form_begin(const struct mt_document *document,
                             const struct mt_document_piece *piece, struct mt_text *out)
{
    const struct form *form = &((struct forms *)document->own)->items[piece->first];
    mt_text_append(out, document->bytes + form->before.begin,
                   form->name.begin - form->before.begin);
    mt_text_append_string(out, mt_plural_form_name(form->form));
    mt_text_append(out, document->bytes + form->name.end, form->before.end - form->name.end);
}

/* Writes a plural form. If its piece has an empty range, then the file does not have the form yet,
 * and it is added. */
static bool write_form(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out)
{
    bool is_added = piece->range.begin == piece->range.end;
    size_t before = out->length;
    if (is_added)
        write_form_begin(document, piece, out);
    if (!mt_xml_message_write_piece(document, piece, translation, length, out)) {
        out->length = before;
        return false;
    }
    if (is_added) {
        const struct form *form = &((struct forms *)document->own)->items[piece->first];
        mt_document_append(document, form->behind, out);
    }
    return true;
}

/* ---- reading ---- */

static bool begins_set(const struct mt_xml_tag *tag)
{
    return strcmp(tag->name, "plurals") == 0 || strcmp(tag->name, "dict") == 0;
}

static enum mt_status begin_element(void *context, const struct mt_xml_tag *tag,
                                    struct mt_error *err)
{
    struct reader *reader = context;
    if (tag->depth == 1 && strcmp(tag->name, reader->root) != 0)
        return mt_fail(err, MT_FORMAT, "line %zu: the file begins with <%.40s>, expected <%s>",
                       tag->line, tag->name, reader->root);
    if (tag->depth <= sizeof reader->path / sizeof *reader->path)
        reader->path[tag->depth - 1] = known(tag->name);
    if (strcmp(tag->name, "key") == 0) {
        reader->key = (struct mt_range){tag->range.end, tag->range.end};
        reader->key_begin = tag->range.begin;
        reader->key_depth = tag->depth;
    }
    if (begins_set(tag)) {
        reader->set = (struct set){0};
        if (tag->depth == reader->key_depth && is_key(reader, "NSStringVariableWidthRuleType"))
            reader->widths = tag->depth + 1;
    }
    if (!reader->left && reader->is_left(tag))
        reader->left = tag->depth;
    if (!reader->left && !reader->message && reader->is_message(reader, tag)) {
        reader->message = tag->depth;
        reader->content = tag->range.end;
        begin_form(reader, tag);
    }
    return MT_OK;
}

/* Stores the accelerator of a Windows label, which is a mark and the letter behind it, in the
 * piece. */
static void take_accelerator(struct mt_document_piece *piece)
{
    struct mt_xml_accelerator accelerator = {0};
    bool is_cdata = piece->n & MT_XML_IS_CDATA;
    if (!is_cdata && memmem(piece->text.bytes, piece->text.length, "&amp;", 5))
        mt_xml_take_accelerator(&piece->text, &accelerator);
    piece->first = accelerator.letter;
    piece->n |= (size_t)accelerator.mark << MT_XML_FLAG_BITS;
}

static enum mt_status end_element(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    const char *bytes = reader->document->bytes;
    enum mt_status status = MT_OK;
    if (begins_set(tag))
        status = end_set(reader, err);
    if (tag->depth == reader->left)
        reader->left = 0;
    if (tag->depth + 1 == reader->widths)
        reader->widths = 0;
    if (strcmp(tag->name, "key") == 0 && tag->range.begin > reader->key.begin)
        reader->key.end = tag->range.begin;
    if (tag->depth != reader->message || status)
        return status;
    reader->message = 0;
    end_form(reader, tag);
    bool is_reference = strncmp(bytes + reader->content, "@string/", 8) == 0 ||
                        strncmp(bytes + reader->content, "@android:", 9) == 0;
    size_t n = reader->document->n;
    if (reader->content < tag->range.begin && !is_reference)
        status = mt_xml_message_add(reader->document,
                                    (struct mt_range){reader->content, tag->range.begin}, err);
    if (!status && reader->document->n > n && reader->has_accelerators)
        take_accelerator(&reader->document->pieces[n]);
    return status;
}

static enum mt_status read_with_forms(struct mt_document *document, struct reader *reader,
                                      const struct mt_document_options *options,
                                      struct mt_error *err)
{
    document->own = calloc(1, sizeof(struct forms));
    if (!document->own)
        return mt_fail_memory(err, sizeof(struct forms), "a file");
    reader->target_lang = options->target_lang;
    return mt_xml_read(document, begin_element, end_element, reader, err);
}

static enum mt_status read_android(struct mt_document *document,
                                   const struct mt_document_options *options, struct mt_error *err)
{
    struct reader reader = {.document = document,
                            .root = "resources",
                            .is_message = is_android_message,
                            .is_left = is_android_left};
    return read_with_forms(document, &reader, options, err);
}

static enum mt_status read_resx(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    struct reader reader = {.document = document,
                            .root = "root",
                            .is_message = is_resx_message,
                            .is_left = is_resx_left,
                            .has_accelerators = true};
    return mt_xml_read(document, begin_element, end_element, &reader, err);
}

static enum mt_status read_stringsdict(struct mt_document *document,
                                       const struct mt_document_options *options,
                                       struct mt_error *err)
{
    struct reader reader = {.document = document,
                            .root = "plist",
                            .is_message = is_plist_message,
                            .is_left = is_plist_left};
    return read_with_forms(document, &reader, options, err);
}

static bool write_resx(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out)
{
    const struct mt_xml_accelerator accelerator = {(char)(piece->n >> MT_XML_FLAG_BITS),
                                                   (uint32_t)piece->first};
    struct mt_text label = {0};
    if (!accelerator.mark || !mt_xml_is_content(translation, length, false))
        return mt_xml_message_write_piece(document, piece, translation, length, out);
    mt_xml_place_accelerator(&accelerator, translation, length, &label);
    if (label.status)
        out->status = label.status;
    mt_text_append(out, label.bytes, label.length);
    mt_text_finish(&label);
    return true;
}

/* A translation that begins with @ or ? is escaped, because it would be a reference. */
static bool write_android(const struct mt_document *document, const struct mt_document_piece *piece,
                          const char *translation, size_t length, struct mt_text *out)
{
    bool is_reference = length > 0 && (translation[0] == '@' || translation[0] == '?');
    struct mt_text escaped = {0};
    if (is_reference)
        mt_text_append(&escaped, "\\", 1);
    mt_text_append(&escaped, translation, length);
    bool is_written =
        !escaped.status && write_form(document, piece, escaped.bytes, escaped.length, out);
    mt_text_finish(&escaped);
    return is_written;
}

const struct mt_document_reader mt_document_android_reader = {
    .read_text = mt_read_android_words,
    .read = read_android,
    .find_charset = mt_xml_find_encoding,
    .write = write_android,
    .finish = finish_forms,
    .replaces_messages = true,
};

const struct mt_document_reader mt_document_stringsdict_reader = {
    .read_text = mt_read_xml_words,
    .read = read_stringsdict,
    .find_charset = mt_xml_find_encoding,
    .write = write_form,
    .finish = finish_forms,
    .replaces_messages = true,
};

const struct mt_document_reader mt_document_resx_reader = {
    .read_text = mt_read_xml_words,
    .read = read_resx,
    .find_charset = mt_xml_find_encoding,
    .write = write_resx,
    .replaces_messages = true,
};
