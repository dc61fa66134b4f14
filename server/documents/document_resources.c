/*
 * Catalogues whose messages are replaced where they stand in XML:
 *
 *   Android's strings.xml   <resources><string name="hi">Hello <b>%1$s</b></string>
 *                           <plurals name="n"><item quantity="one">One</item>...
 *   .NET's .resx            <root><data name="hi"><value>Hello</value><comment/></data>
 *   Apple's .stringsdict    <dict><key>one</key><string>%d file</string><key>other</key>...
 *
 * What is said not to be translated (translatable="false"), references (@string/hi), resources of other
 * types and names of controls (>>label.Name) stay.
 */
#include "server/documents/xml_elements.h"
#include "server/documents/xml_message.h"
#include "server/documents/xml_words.h"

#include <string.h>

struct reader {
    struct mt_document *document;
    const char *root;        /* the element that the file has to begin with */
    const char *path[4];     /* names of the open elements, NULL: another one */
    size_t left;             /* depth of the element with all in which stays; 0: none */
    size_t message, content; /* depth of the message's element, and where its content begins */
    struct mt_range key;     /* of a property list: the content of the last <key>, and its depth */
    size_t key_depth;
    bool (*is_message)(const struct reader *reader, const struct mt_xml_tag *tag);
    bool (*is_left)(const struct mt_xml_tag *tag);
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

/* A plural form, or the sentence into which they are put. */
static bool is_plist_message(const struct reader *reader, const struct mt_xml_tag *tag)
{
    static const char *const keys[] = {
        "NSStringLocalizedFormatKey", "zero", "one", "two", "few", "many", "other"};
    const char *key = reader->document->bytes + reader->key.begin;
    size_t n = reader->key.end - reader->key.begin;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(tag->name, "string") == 0 && tag->depth == reader->key_depth &&
            strlen(keys[i]) == n && memcmp(keys[i], key, n) == 0)
            return true;
    return false;
}

static bool is_plist_left(const struct mt_xml_tag *tag)
{
    (void)tag;
    return false;
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
        reader->key_depth = tag->depth;
    }
    if (!reader->left && reader->is_left(tag))
        reader->left = tag->depth;
    if (!reader->left && !reader->message && reader->is_message(reader, tag)) {
        reader->message = tag->depth;
        reader->content = tag->range.end;
    }
    return MT_OK;
}

static enum mt_status end_element(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    const char *bytes = reader->document->bytes;
    enum mt_status status = MT_OK;
    if (tag->depth == reader->left)
        reader->left = 0;
    if (strcmp(tag->name, "key") == 0 && tag->range.begin > reader->key.begin)
        reader->key.end = tag->range.begin;
    if (tag->depth != reader->message)
        return MT_OK;
    reader->message = 0;
    bool is_reference = strncmp(bytes + reader->content, "@string/", 8) == 0 ||
                        strncmp(bytes + reader->content, "@android:", 9) == 0;
    if (reader->content < tag->range.begin && !is_reference)
        status = mt_xml_message_add(reader->document,
                                    (struct mt_range){reader->content, tag->range.begin}, err);
    return status;
}

static enum mt_status read_android(struct mt_document *document,
                                   const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    struct reader reader = {.document = document,
                            .root = "resources",
                            .is_message = is_android_message,
                            .is_left = is_android_left};
    return mt_xml_read(document, begin_element, end_element, &reader, err);
}

static enum mt_status read_resx(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    struct reader reader = {.document = document,
                            .root = "root",
                            .is_message = is_resx_message,
                            .is_left = is_resx_left};
    return mt_xml_read(document, begin_element, end_element, &reader, err);
}

static enum mt_status read_stringsdict(struct mt_document *document,
                                       const struct mt_document_options *options,
                                       struct mt_error *err)
{
    (void)options;
    struct reader reader = {.document = document,
                            .root = "plist",
                            .is_message = is_plist_message,
                            .is_left = is_plist_left};
    return mt_xml_read(document, begin_element, end_element, &reader, err);
}

/* A translation that begins with @ or ? would be a reference. */
static bool write_android(const struct mt_document *document, const struct mt_document_piece *piece,
                          const char *translation, size_t length, struct mt_text *out)
{
    bool is_reference = length > 0 && (translation[0] == '@' || translation[0] == '?');
    struct mt_text escaped = {0};
    if (is_reference)
        mt_text_append(&escaped, "\\", 1);
    mt_text_append(&escaped, translation, length);
    bool is_written = !escaped.status && mt_xml_message_write_piece(document, piece, escaped.bytes,
                                                                    escaped.length, out);
    mt_text_finish(&escaped);
    return is_written;
}

const struct mt_document_reader mt_document_android_reader = {
    .read_text = mt_read_android_words,
    .read = read_android,
    .find_charset = mt_xml_find_encoding,
    .write = write_android,
    .replaces_messages = true,
};

const struct mt_document_reader mt_document_stringsdict_reader = {
    .read_text = mt_read_xml_words,
    .read = read_stringsdict,
    .find_charset = mt_xml_find_encoding,
    .write = mt_xml_message_write_piece,
    .replaces_messages = true,
};

const struct mt_document_reader mt_document_resx_reader = {
    .read_text = mt_read_xml_words,
    .read = read_resx,
    .find_charset = mt_xml_find_encoding,
    .write = mt_xml_message_write_piece,
    .replaces_messages = true,
};
