/*
 * A page of HTML becomes one text (html_reader.h), and one for each attribute that has words
 * (html_attributes.h). In the translated page an attribute may be anywhere, because its tag may
 * move. So the page is translated with slots instead of the attributes, which move with their tags
 * and are filled afterwards:
 *
 *   <html lang="en"><img alt="A red house">   ->   <html lang="{0}"><img alt="{1}">
 *
 * The braces stand for two control characters. A page that contains these gets no slots.
 *
 * This file also handles the declaration of the encoding, since a translation may need characters
 * that its source did not need, and the language. A page that declares that it is XML, and is
 * well-formed, is read as XML (xhtml.h).
 */
#include "server/documents/document_state.h"
#include "server/documents/html_values.h"
#include "server/documents/markup/xhtml.h"
#include "server/documents/xml_elements.h"
#include "server/text/html/html_attributes.h"
#include "server/text/language.h"

#include "base/size.h"

#include <stdio.h>
#include <stdlib.h>

#include <string.h>
#include <strings.h>

#include <unicode/uloc.h>

/* Browsers search the declaration only in these bytes (HTML, "prescan a byte stream"). */
#define PRESCAN_BYTES 1024

static const char declaration[] = "<meta charset=\"utf-8\">";

/* Returns the value of charset= in a <meta> in the text's first bytes; empty where there is
 * none. */
static struct mt_range find_charset(const char *text, size_t length)
{
    size_t limit = length < PRESCAN_BYTES ? length : PRESCAN_BYTES;
    size_t tag_end = 0; /* of the <meta> that `at` is in */
    for (size_t at = 0; at + 8 < limit; at++) {
        if (strncasecmp(text + at, "<!--", 4) == 0) {
            const char *end = memmem(text + at, length - at, "-->", 3);
            at = end ? (size_t)(end - text) : limit;
        } else if (strncasecmp(text + at, "<meta", 5) == 0) {
            const char *end = memchr(text + at, '>', length - at);
            tag_end = end ? (size_t)(end - text) : length;
        } else if (at < tag_end && strncasecmp(text + at, "charset=", 8) == 0) {
            size_t begin = at + 8;
            begin += strspn(text + begin, " \"'");
            return (struct mt_range){begin, begin + strcspn(text + begin, " \"'/>;")};
        }
    }
    return (struct mt_range){0};
}

/* Returns where XML's declaration, or HTML's, names the encoding. */
static struct mt_range find_encoding(const char *text, size_t length)
{
    const struct mt_range declared = mt_xml_find_encoding(text, length);
    return declared.end > declared.begin ? declared : find_charset(text, length);
}

static bool is_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

static bool says_other(const char *text, struct mt_range charset)
{
    return charset.end > charset.begin &&
           !mt_encoding_is_utf8(text + charset.begin, charset.end - charset.begin);
}

/* ---- slots ---- */

#define SLOT_BEGIN '\x01'
#define SLOT_END '\x02'
#define NO_PIECE ((size_t)-1)

struct slot {
    struct mt_range range; /* in the file; its bytes are used where it is not translated */
    size_t piece;          /* the piece whose translation fills it; NO_PIECE: `as` does */
    const char *as;        /* text that fills it if anything is translated */
};

struct page {
    struct slot *slots; /* ascending */
    size_t n;
    char lang[MT_LANGUAGE_BYTES], dir[16];
};

static void finish_html(void *own)
{
    struct page *page = own;
    free(page->slots);
    free(page);
}

static bool is_right_to_left(const char *lang)
{
    return uloc_isRightToLeft(lang);
}

/* Changes the language in <html> where it is the source language. */
static void add_language(struct page *page, const char *bytes,
                         const struct mt_html_attributes *attributes, size_t begin,
                         const struct mt_document_options *options)
{
    const struct mt_range lang = attributes->lang, dir = attributes->dir;
    char said[MT_LANGUAGE_BYTES] = "", own[MT_LANGUAGE_BYTES], source[MT_LANGUAGE_BYTES];
    size_t n = lang.end - lang.begin;
    if (!options->target_lang || n == 0 || n >= sizeof said)
        return;
    memcpy(said, bytes + begin + lang.begin, n);
    if (!mt_language_normalise(said, own) ||
        (options->source_lang && mt_language_normalise(options->source_lang, source) &&
         !mt_language_matches(own, source) && !mt_language_matches(source, own)))
        return;
    bool is_rtl = is_right_to_left(options->target_lang), was_rtl = is_right_to_left(own);
    memcpy(page->lang, options->target_lang, strlen(options->target_lang) + 1);
    page->slots[page->n++] =
        (struct slot){{begin + lang.begin, begin + lang.end}, NO_PIECE, page->lang};
    if (is_rtl == was_rtl)
        return;
    bool has_dir = dir.begin < dir.end;
    (void)snprintf(page->dir, sizeof page->dir, has_dir ? "%s" : " dir=\"%s\"",
                   is_rtl ? "rtl" : "ltr");
    const struct mt_range at =
        has_dir ? dir : (struct mt_range){attributes->lang_end, attributes->lang_end};
    page->slots[page->n++] = (struct slot){{begin + at.begin, begin + at.end}, NO_PIECE, page->dir};
}

static int compare_slots(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    return x->range.begin < y->range.begin ? -1 : x->range.begin > y->range.begin;
}

static enum mt_status add_value(struct mt_document *document, struct mt_range value,
                                struct mt_error *err)
{
    struct mt_document_piece *piece;
    const struct mt_range nowhere = {document->length, document->length};
    enum mt_status status = mt_document_add(document, nowhere, &piece, err);
    if (!status)
        mt_html_value_read(document, value, &piece->text);
    return status;
}

static enum mt_status find_slots(struct mt_document *document,
                                 const struct mt_document_options *options, struct page *page,
                                 struct mt_error *err)
{
    const char *text = document->bytes + document->begin;
    size_t length = document->length - document->begin;
    size_t most = document->max_n ? document->max_n : SIZE_MAX;
    struct mt_html_attributes found = {0};
    enum mt_status status = mt_html_find_attributes(text, length, most, &found, err);
    page->slots = status ? NULL : calloc(found.n + 2, sizeof *page->slots);
    if (!status && !page->slots)
        status = mt_fail_memory(err, found.n * sizeof *page->slots, "a page");
    for (size_t i = 0; i < found.n && !status; i++) {
        const struct mt_range value = {document->begin + found.values[i].begin,
                                       document->begin + found.values[i].end};
        page->slots[page->n++] = (struct slot){value, document->n, NULL};
        status = add_value(document, value, err);
    }
    if (!status) {
        add_language(page, document->bytes, &found, document->begin, options);
        qsort(page->slots, page->n, sizeof *page->slots, compare_slots);
    }
    mt_html_attributes_finish(&found);
    return status;
}

static enum mt_status read_html(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    const char *text = document->bytes + document->begin;
    size_t length = document->length - document->begin, at = document->begin;
    struct mt_document_piece *piece;
    struct mt_range range = {document->begin, document->length};
    if (length == 0)
        return MT_OK;
    enum mt_status status = MT_FORMAT;
    if (mt_xhtml_is_said(document->bytes, document->length))
        status = mt_xhtml_reader.read(document, options, err);
    if (status != MT_FORMAT) {
        document->reader = &mt_xhtml_reader;
        return status;
    }
    mt_xhtml_reader.finish(document->own);
    struct page *page = calloc(1, sizeof *page);
    document->own = page;
    if (!page)
        return mt_fail_memory(err, sizeof *page, "a page");
    status = mt_document_add(document, range, &piece, err);
    if (!status && !memchr(text, SLOT_BEGIN, length) && !memchr(text, SLOT_END, length))
        status = find_slots(document, options, page, err);
    if (status)
        return status;
    struct mt_text *shown = &document->pieces[0].text;
    for (size_t i = 0; i < page->n; i++) {
        mt_text_append(shown, document->bytes + at, page->slots[i].range.begin - at);
        mt_text_appendf(shown, "%c%zu%c", SLOT_BEGIN, i, SLOT_END);
        at = page->slots[i].range.end;
    }
    mt_text_append(shown, document->bytes + at, document->length - at);
    return MT_OK;
}

static void fill_slot(const struct mt_document *document, const struct slot *slot,
                      const struct mt_text *translations, bool is_translated, struct mt_text *out)
{
    const struct mt_text *translation = NULL;
    if (translations && slot->piece != NO_PIECE)
        translation = &translations[slot->piece];
    const struct mt_text *own =
        slot->piece != NO_PIECE ? &document->pieces[slot->piece].text : NULL;
    bool is_other = translation && translation->bytes &&
                    (translation->length != own->length ||
                     memcmp(translation->bytes, own->bytes, own->length) != 0);
    if (is_other)
        mt_html_value_write(document, slot->range, translation->bytes, translation->length, out);
    else if (slot->as && is_translated)
        mt_text_append_string(out, slot->as);
    else
        mt_document_append(document, slot->range, out);
}

/* Replaces each slot of the page in out (SLOT_BEGIN, its number, SLOT_END) by what belongs there.
 * */
static void join_html(const struct mt_document *document, const struct mt_text *translations,
                      bool is_translated, struct mt_text *out)
{
    const struct page *page = document->own;
    struct mt_text filled = {.limit_bytes = out->limit_bytes};
    if (!page || page->n == 0 || out->status)
        return;
    for (size_t at = 0; at < out->length;) {
        const char *slot = memchr(out->bytes + at, SLOT_BEGIN, out->length - at);
        size_t end = slot ? (size_t)(slot - out->bytes) : out->length;
        mt_text_append(&filled, out->bytes + at, end - at);
        at = end;
        if (!slot)
            continue;
        char *behind = NULL;
        size_t number = strtoul(slot + 1, &behind, 10);
        if (*behind == SLOT_END && number < page->n) {
            fill_slot(document, &page->slots[number], translations, is_translated, &filled);
            behind++;
        }
        at = mt_size_max((size_t)(behind - out->bytes), at + 1);
    }
    mt_text_finish(out);
    *out = filled;
}

/* ---- the declaration of the encoding ---- */

/* Returns where the head's content begins, or 0 for a fragment. */
static size_t find_head(const char *text, size_t length)
{
    for (size_t at = 0; at + 6 <= length; at++) {
        bool is_head = strncasecmp(text + at, "<head", 5) == 0 && strchr(" >\t\r\n", text[at + 5]);
        const char *end = is_head ? memchr(text + at, '>', length - at) : NULL;
        if (end)
            return (size_t)(end - text) + 1;
    }
    return 0;
}

/* A page of ASCII that names no encoding, or an unknown one, is UTF-8. It gets a declaration if its
 * translation is no longer ASCII; other pages stay as they are. */
static bool write_html(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out)
{
    if (piece->range.begin == piece->range.end)
        return true; /* attributes are filled into their slots */
    struct mt_range charset = find_charset(translation, length);
    struct mt_range replaced = {0, 0};
    const char *label = "";
    bool matters = document->encoding.is_utf8 && !is_ascii(translation, length) &&
                   is_ascii(document->bytes + document->begin, document->length - document->begin);
    if (matters && says_other(translation, charset)) {
        replaced = charset;
        label = "utf-8";
    } else if (matters && charset.begin == charset.end && document->begin == 0) {
        replaced.begin = replaced.end = find_head(translation, length);
        label = replaced.end > 0 ? declaration : "";
    }
    mt_text_append(out, translation, replaced.begin);
    mt_text_append_string(out, label);
    mt_text_append(out, translation + replaced.end, length - replaced.end);
    return true;
}

const struct mt_document_reader mt_document_html_reader = {
    .read_text = mt_read_html,
    .read = read_html,
    .write = write_html,
    .join = join_html,
    .finish = finish_html,
    .find_charset = find_encoding,
};
