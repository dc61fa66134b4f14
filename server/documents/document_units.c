/*
 * Files of translators, in which a translation stands beside its source:
 *
 *   XLIFF 1.2       <trans-unit id="1"><source>Hello</source>          -> a <target> behind it
 *   XLIFF 2.0-2.2   <segment><source>Hello</source></segment>          -> a <target> behind it
 *   TMX             <tu><tuv xml:lang="en"><seg>Hello</seg></tuv></tu> -> a <tuv> of the target language
 *   Qt's .ts        <message><source>Hi</source><translation type="unfinished"/>  -> its content
 *
 * Units that have a translation, are locked (translate="no", approved, final) or belong to others
 * (alt-trans, matches) stay. A new translation is marked as made by a machine, or by a translation
 * memory, where the format allows that. Similar texts of a translation memory are put beside it
 * (XLIFF 1.2, 2.5.1 alt-trans; XLIFF 2.0, 5.1 translation candidates):
 *
 *   XLIFF 1.2       <alt-trans match-quality="84%"><source>...</source><target>...</target></alt-trans>
 *   XLIFF 2.0-2.2   <mtc:matches> of <mtc:match ref="#s1" similarity="84"> at the unit's begin
 */
#include "base/size.h"
#include "base/vector.h"
#include "server/documents/message.h"
#include "server/documents/message_check.h"
#include "server/documents/xml_elements.h"
#include "server/documents/xml_message.h"
#include "server/documents/xml_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Most forms of a message with numbers, which is more than any language has. */
#define MAX_FORMS 16

/* What is written for one translation, and where. */
struct slot {
    struct mt_range unit; /* the tag of the unit, in XLIFF 2 */
    /* from where the unit's matches are inserted to its first segment with a translation; empty: no
     * matches are inserted here */
    struct mt_range head;
    bool has_matches;        /* the unit has matches, to which others are added */
    struct mt_range outer;   /* the tag of the segment, in XLIFF 2; empty: none */
    struct mt_range between; /* from behind that tag to the inserted translation */
    /* indentation of a new element's line; empty: it has no line of its own */
    struct mt_range indent;
    /* tag of the element that gets the translation; empty: it is a new element */
    struct mt_range tag;
    struct mt_range lead, trail; /* blanks around the source's text */
    struct mt_xml_accelerator accelerator;
};

struct units {
    struct slot *slots;
    size_t n, capacity;
    const char *const *dropped, *const *outer_dropped; /* attributes that are replaced */
    const char *added, *outer_added;
    const char *added_recalled; /* like added, for texts from a translation memory */
    struct mt_text open, close; /* tags of a new element; the first one is incomplete */
};

/* An element that was read. */
struct element {
    struct mt_range tag, content;
    size_t end; /* position behind it; 0: there is none */
};

struct unit {
    size_t depth; /* depth of its element; 0: none is open */
    struct element self, source, segmented, target, forms[MAX_FORMS];
    size_t n_forms;
    bool is_locked, wants;
    bool has_language; /* TMX: has the target language */
    bool is_source;    /* TMX: the open tuv is in the source language */
    size_t behind;     /* TMX: position behind the last tuv */
};

/* A unit of XLIFF 2, which holds segments. */
struct whole {
    size_t depth; /* depth of its element; 0: none is open */
    struct mt_range tag;
    size_t matches_at; /* where matches are inserted */
    bool has_matches, has_slots;
};

struct reader {
    struct mt_document *document;
    const struct mt_document_options *options;
    struct units *units;
    struct unit unit;
    struct whole whole;
    /* XLIFF: whether nothing is translated in the open element of each depth */
    bool is_left[MT_XML_MAX_DEPTH + 1];
    char source_lang[40]; /* TMX */
    bool is_second;       /* XLIFF 2 */
    struct mt_error *err;
};

static const char *const no_names[] = {NULL};
static const char *const states[] = {"state", "state-qualifier", NULL};
static const char *const segment_states[] = {"state", "subState", NULL};

/* ---- languages ---- */

static size_t n_primary(const char *language)
{
    return strcspn(language, "-_");
}

static bool is_same_language(const char *a, const char *b)
{
    size_t n = n_primary(a);
    return n == n_primary(b) && strncasecmp(a, b, n) == 0;
}

/* Checks the target language that the file names, or adds it. */
static enum mt_status check_target(struct reader *reader, const struct mt_xml_tag *tag,
                                   const char *name)
{
    const char *declared = mt_xml_attribute(tag, name), *target = reader->options->target_lang;
    struct mt_document *document = reader->document;
    if (!target || !*target)
        return MT_OK;
    if (declared && !*declared)
        return mt_document_add_edit(document,
                                    mt_xml_find_attribute(document->bytes, tag->range, name),
                                    target, reader->err);
    if (!declared) {
        char text[MT_DOCUMENT_EDIT_BYTES];
        size_t at = tag->range.end - 1;
        at -= document->bytes[at - 1] == '/';
        snprintf(text, sizeof text, " %s=\"%s\"", name, target);
        return mt_document_add_edit(document, (struct mt_range){at, at}, text, reader->err);
    }
    if (is_same_language(declared, target))
        return MT_OK;
    return mt_fail(reader->err, MT_FORMAT, "line %zu: %s is \"%.40s\", expected \"%.40s\"",
                   tag->line, name, declared, target);
}

/* ---- adding ---- */

static bool is_blank(const struct reader *reader, const struct element *element)
{
    return element->end == 0 ||
           mt_document_is_blank(reader->document, element->content.begin, element->content.end);
}

/* Whether the element has only blanks and tags, like the segments of an empty target. */
static bool has_no_text(const struct reader *reader, const struct element *element)
{
    const char *bytes = reader->document->bytes;
    char quote = '\0';
    bool is_tag = false;
    for (size_t i = element->content.begin; element->end > 0 && i < element->content.end; i++) {
        bool begins = !is_tag && bytes[i] == '<';
        if (is_tag && quote != '\0')
            quote = (char)(bytes[i] == quote ? '\0' : quote);
        else if (is_tag && (bytes[i] == '"' || bytes[i] == '\''))
            quote = bytes[i];
        else if (begins && (bytes[i + 1] == '!' || bytes[i + 1] == '?'))
            return false; /* it has a comment, or CDATA */
        else if (begins || (is_tag && bytes[i] == '>'))
            is_tag = begins;
        else if (!is_tag && !strchr(" \t\r\n", bytes[i]))
            return false;
    }
    return true;
}

/* Returns the blanks before an element that begins a line. */
static struct mt_range indent_of(const struct mt_document *document, size_t begin)
{
    const char *bytes = document->bytes;
    size_t at = begin;
    while (at > document->begin && (bytes[at - 1] == ' ' || bytes[at - 1] == '\t'))
        at--;
    bool begins_line = at > document->begin && (bytes[at - 1] == '\n' || bytes[at - 1] == '\r');
    return begins_line ? (struct mt_range){at, begin} : (struct mt_range){0, 0};
}

/* Adds a piece whose text is the source's content. */
static enum mt_status add(struct reader *reader, const struct element *source,
                          struct mt_range range, const struct slot *as, bool has_accelerators)
{
    struct units *units = reader->units;
    if (MT_ROOM(&units->slots, &units->capacity, units->n + 1, "parts of a file", reader->err))
        return MT_MEMORY;
    struct slot *slot = &units->slots[units->n];
    struct mt_text text = {0};
    struct mt_document_piece *piece = NULL;
    struct mt_range inner = source->content;
    *slot = *as;
    mt_text_append(&text, "", 0);
    bool is_cdata = mt_xml_message_read(reader->document, &inner, &text) & MT_XML_IS_CDATA;
    if (!is_cdata) {
        slot->lead = (struct mt_range){source->content.begin, inner.begin};
        slot->trail = (struct mt_range){inner.end, source->content.end};
    }
    if (has_accelerators && !text.status)
        mt_xml_take_accelerator(&text, &slot->accelerator);
    enum mt_status status = mt_message_add(reader->document, range, &text, &piece, reader->err);
    mt_text_finish(&text);
    if (!status && piece)
        piece->first = units->n++;
    return status;
}

/* ---- XLIFF ---- */

static bool is_among(const char *value, const char *const *names)
{
    for (; value && *names; names++)
        if (strcmp(value, *names) == 0)
            return true;
    return false;
}

/* Adds a segment, whose tag is replaced together with its translation. The first translated segment
 * of a unit also includes the bytes before it, from where the unit's matches are inserted. */
static enum mt_status add_segment(struct reader *reader, const struct element *source,
                                  struct mt_range range, struct slot *slot)
{
    struct whole *whole = &reader->whole;
    const struct mt_range tag = reader->unit.self.tag;
    size_t n = reader->units->n;
    slot->unit = whole->tag;
    slot->has_matches = whole->has_matches;
    slot->outer = tag;
    slot->between = (struct mt_range){tag.end, range.begin};
    range.begin = tag.begin;
    if (whole->depth && !whole->has_slots) {
        slot->head = (struct mt_range){whole->matches_at, tag.begin};
        range.begin = whole->matches_at;
    }
    enum mt_status status = add(reader, source, range, slot, false);
    whole->has_slots = whole->has_slots || reader->units->n > n;
    return status;
}

static enum mt_status end_xliff_unit(struct reader *reader)
{
    struct unit *unit = &reader->unit;
    const struct mt_document *document = reader->document;
    bool has_target = !has_no_text(reader, &unit->target);
    const struct element *source = unit->segmented.end ? &unit->segmented : &unit->source;
    struct slot slot = {.tag = unit->target.tag,
                        .indent = indent_of(document, unit->source.tag.begin)};
    if (unit->is_locked || is_blank(reader, source) ||
        (has_target && !unit->wants && !reader->options->retranslate))
        return MT_OK;
    size_t begin = unit->target.end ? unit->target.tag.begin : source->end;
    size_t end = unit->target.end ? unit->target.end : begin;
    if (begin < source->end) /* the target stands before its source */
        return MT_OK;
    if (reader->is_second)
        return add_segment(reader, source, (struct mt_range){begin, end}, &slot);
    return add(reader, source, (struct mt_range){begin, end}, &slot, false);
}

static void begin_unit(struct reader *reader, const struct mt_xml_tag *tag)
{
    reader->unit = (struct unit){.depth = tag->depth, .self.tag = tag->range};
}

static struct element *child_of(struct unit *unit, const char *name)
{
    if (strcmp(name, "source") == 0)
        return &unit->source;
    if (strcmp(name, "seg-source") == 0)
        return &unit->segmented;
    return strcmp(name, "target") == 0 ? &unit->target : NULL;
}

static enum mt_status begin_xliff(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    static const char *const wanted[] = {"new", "needs-translation", "initial", NULL};
    static const char *const locked[] = {"final", "signed-off", NULL};
    struct reader *reader = context;
    struct unit *unit = &reader->unit;
    if (tag->depth == 1) {
        const char *version = mt_xml_attribute(tag, "version");
        if (strcmp(tag->name, "xliff") != 0)
            return mt_fail(err, MT_FORMAT,
                           "line %zu: the file begins with <%.40s>, expected <xliff>", tag->line,
                           tag->name);
        if (!version || (strncmp(version, "1.", 2) != 0 && strncmp(version, "2.", 2) != 0))
            return mt_fail(err, MT_FORMAT,
                           "line %zu: the version is \"%.40s\", expected 1.2, or 2.0 to 2.2",
                           tag->line, version ? version : "");
        reader->is_second = version[0] == '2';
        reader->units->dropped = reader->is_second ? no_names : states;
        reader->units->added = reader->is_second ? ""
                                                 : " state=\"needs-review-translation\""
                                                   " state-qualifier=\"mt-suggestion\"";
        reader->units->added_recalled = reader->is_second ? ""
                                                          : " state=\"needs-review-translation\""
                                                            " state-qualifier=\"leveraged-tm\"";
        reader->units->outer_dropped = segment_states;
        reader->units->outer_added = " state=\"translated\"";
        return reader->is_second ? check_target(reader, tag, "trgLang") : MT_OK;
    }
    if (!reader->is_second && tag->depth == 2 && strcmp(tag->name, "file") == 0) {
        enum mt_status status = check_target(reader, tag, "target-language");
        if (status)
            return status;
    }
    bool *is_left = &reader->is_left[mt_size_min(tag->depth, MT_XML_MAX_DEPTH)];
    *is_left = is_left[-1];
    if (!unit->depth && mt_xml_attribute(tag, "translate"))
        *is_left = mt_xml_has(tag, "translate", "no");
    if (*is_left)
        return MT_OK;
    if (reader->is_second && strcmp(tag->name, "unit") == 0)
        reader->whole =
            (struct whole){.depth = tag->depth, .tag = tag->range, .matches_at = tag->range.end};
    if (!unit->depth && strcmp(tag->name, reader->is_second ? "segment" : "trans-unit") == 0) {
        begin_unit(reader, tag);
        unit->is_locked =
            mt_xml_has(tag, "approved", "yes") || is_among(mt_xml_attribute(tag, "state"), locked);
        unit->wants = is_among(mt_xml_attribute(tag, "state"), wanted);
    }
    bool is_child = unit->depth && tag->depth == unit->depth + 1;
    struct element *child = is_child ? child_of(unit, tag->name) : NULL;
    if (child)
        *child = (struct element){.tag = tag->range};
    if (child == &unit->target && child) {
        const char *state = mt_xml_attribute(tag, "state");
        unit->is_locked = unit->is_locked || is_among(state, locked);
        unit->wants = unit->wants || is_among(state, wanted);
    }
    return MT_OK;
}

/* Notes where an element ends. The content of <a/> is empty. */
static void end_child(struct element *element, const struct mt_xml_tag *tag)
{
    element->content =
        (struct mt_range){element->tag.end, mt_size_max(element->tag.end, tag->range.begin)};
    element->end = mt_size_max(element->tag.end, tag->range.end);
}

static void end_whole(struct whole *whole, const struct mt_xml_tag *tag)
{
    bool has_content = tag->range.begin < tag->range.end;
    if (whole->depth && tag->depth == whole->depth)
        whole->depth = 0;
    if (!whole->depth || tag->depth != whole->depth + 1 || strcmp(tag->name, "matches") != 0 ||
        !has_content)
        return;
    whole->matches_at = tag->range.begin;
    whole->has_matches = true;
}

static enum mt_status end_xliff(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    struct unit *unit = &reader->unit;
    enum mt_status status = MT_OK;
    (void)err;
    bool is_child = unit->depth && tag->depth == unit->depth + 1;
    struct element *child = is_child ? child_of(unit, tag->name) : NULL;
    if (child)
        end_child(child, tag);
    if (unit->depth && tag->depth == unit->depth) {
        status = end_xliff_unit(reader);
        unit->depth = 0;
    }
    end_whole(&reader->whole, tag);
    return status;
}

/* ---- TMX ---- */

static enum mt_status begin_tmx(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    struct unit *unit = &reader->unit;
    if (tag->depth == 1 && strcmp(tag->name, "tmx") != 0)
        return mt_fail(err, MT_FORMAT, "line %zu: the file begins with <%.40s>, expected <tmx>",
                       tag->line, tag->name);
    const char *source = mt_xml_attribute(tag, "srclang");
    if (source && strcmp(tag->name, "header") == 0)
        snprintf(reader->source_lang, sizeof reader->source_lang, "%s", source);
    if (tag->depth == 3 && strcmp(tag->name, "tu") == 0)
        begin_unit(reader, tag);
    if (unit->depth && tag->depth == 4 && strcmp(tag->name, "tuv") == 0) {
        const char *language = mt_xml_attribute(tag, "xml:lang");
        if (!language)
            language = mt_xml_attribute(tag, "lang");
        bool is_any = strcmp(reader->source_lang, "*all*") == 0 || !reader->source_lang[0];
        unit->is_source = unit->source.end == 0 && language &&
                          (is_any || is_same_language(language, reader->source_lang));
        unit->has_language = unit->has_language ||
                             (language && is_same_language(language, reader->options->target_lang));
        unit->self.tag = tag->range;
    }
    if (unit->depth && tag->depth == 5 && unit->is_source && strcmp(tag->name, "seg") == 0)
        unit->source = (struct element){.tag = tag->range};
    return MT_OK;
}

static enum mt_status end_tmx(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    struct unit *unit = &reader->unit;
    enum mt_status status = MT_OK;
    (void)err;
    if (!unit->depth)
        return MT_OK;
    if (tag->depth == 5 && unit->is_source && strcmp(tag->name, "seg") == 0)
        end_child(&unit->source, tag);
    if (tag->depth == 4 && strcmp(tag->name, "tuv") == 0)
        unit->behind = mt_size_max(tag->range.end, unit->self.tag.end);
    if (tag->depth == unit->depth) {
        const struct slot slot = {.indent = indent_of(reader->document, unit->self.tag.begin)};
        if (!unit->has_language && unit->behind && !is_blank(reader, &unit->source))
            status = add(reader, &unit->source, (struct mt_range){unit->behind, unit->behind},
                         &slot, false);
        unit->depth = 0;
    }
    return status;
}

/* ---- Qt's .ts ---- */

static enum mt_status begin_ts(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    static const char *const gone[] = {"vanished", "obsolete", NULL};
    struct reader *reader = context;
    struct unit *unit = &reader->unit;
    if (tag->depth == 1 && strcmp(tag->name, "TS") != 0)
        return mt_fail(err, MT_FORMAT, "line %zu: the file begins with <%.40s>, expected <TS>",
                       tag->line, tag->name);
    if (!unit->depth && strcmp(tag->name, "message") == 0)
        begin_unit(reader, tag);
    bool is_child = unit->depth && tag->depth == unit->depth + 1;
    if (is_child && strcmp(tag->name, "source") == 0)
        unit->source = (struct element){.tag = tag->range};
    if (is_child && strcmp(tag->name, "translation") == 0) {
        unit->target = (struct element){.tag = tag->range};
        unit->is_locked = is_among(mt_xml_attribute(tag, "type"), gone);
    }
    if (unit->depth && tag->depth == unit->depth + 2 && strcmp(tag->name, "numerusform") == 0) {
        if (unit->n_forms == MAX_FORMS)
            return mt_fail(err, MT_FORMAT, "line %zu: a message has more than %d forms", tag->line,
                           MAX_FORMS);
        unit->forms[unit->n_forms++] = (struct element){.tag = tag->range};
    }
    return MT_OK;
}

static enum mt_status add_form(struct reader *reader, const struct element *form)
{
    const struct unit *unit = &reader->unit;
    const struct slot slot = {.tag = form->tag};
    if (unit->is_locked || form->end == 0 || is_blank(reader, &unit->source) ||
        (!is_blank(reader, form) && !reader->options->retranslate))
        return MT_OK;
    return add(reader, &unit->source, (struct mt_range){form->tag.begin, form->end}, &slot, true);
}

static enum mt_status end_ts(void *context, const struct mt_xml_tag *tag, struct mt_error *err)
{
    struct reader *reader = context;
    struct unit *unit = &reader->unit;
    enum mt_status status = MT_OK;
    (void)err;
    if (!unit->depth)
        return MT_OK;
    bool is_child = tag->depth == unit->depth + 1;
    if (is_child && strcmp(tag->name, "source") == 0)
        end_child(&unit->source, tag);
    if (is_child && strcmp(tag->name, "translation") == 0)
        end_child(&unit->target, tag);
    if (tag->depth == unit->depth + 2 && unit->n_forms > 0 && strcmp(tag->name, "numerusform") == 0)
        end_child(&unit->forms[unit->n_forms - 1], tag);
    if (tag->depth != unit->depth)
        return MT_OK;
    for (size_t i = 0; i < unit->n_forms && !status; i++)
        status = add_form(reader, &unit->forms[i]);
    if (!status && unit->n_forms == 0)
        status = add_form(reader, &unit->target);
    unit->depth = 0;
    return status;
}

/* ---- reading ---- */

static void finish_units(void *own)
{
    struct units *units = own;
    free(units->slots);
    mt_text_finish(&units->open);
    mt_text_finish(&units->close);
    free(units);
}

static enum mt_status read_units(struct mt_document *document,
                                 const struct mt_document_options *options, mt_xml_take *begin,
                                 mt_xml_take *end, struct mt_error *err)
{
    struct units *units = calloc(1, sizeof *units);
    if (!units)
        return mt_fail_memory(err, sizeof *units, "a file");
    *units = (struct units){.dropped = no_names,
                            .outer_dropped = no_names,
                            .added = "",
                            .added_recalled = "",
                            .outer_added = ""};
    document->own = units;
    struct reader reader = {.document = document, .options = options, .units = units, .err = err};
    return mt_xml_read(document, begin, end, &reader, err);
}

static enum mt_status read_xliff(struct mt_document *document,
                                 const struct mt_document_options *options, struct mt_error *err)
{
    enum mt_status status = read_units(document, options, begin_xliff, end_xliff, err);
    if (status)
        return status;
    struct units *units = document->own;
    mt_text_append_string(&units->open, "<target");
    mt_text_append_string(&units->close, "</target>");
    return MT_OK;
}

static enum mt_status read_tmx(struct mt_document *document,
                               const struct mt_document_options *options, struct mt_error *err)
{
    if (!options->target_lang || !*options->target_lang)
        return mt_fail(err, MT_FORMAT,
                       "a TMX file needs a language to be translated into, and the "
                       "model does not say one");
    enum mt_status status = read_units(document, options, begin_tmx, end_tmx, err);
    if (status)
        return status;
    struct units *units = document->own;
    mt_text_appendf(&units->open, "<tuv xml:lang=\"%s\"><seg", options->target_lang);
    mt_text_append_string(&units->close, "</seg></tuv>");
    return MT_OK;
}

static enum mt_status read_ts(struct mt_document *document,
                              const struct mt_document_options *options, struct mt_error *err)
{
    return read_units(document, options, begin_ts, end_ts, err);
}

/* ---- writing ---- */

/* Appends a tag without some of its attributes, and with others. The tag of an empty element
 * becomes a start tag. */
static void append_tag(const struct mt_document *document, struct mt_range tag,
                       const char *const *dropped, const char *added, struct mt_text *out)
{
    const char *bytes = document->bytes;
    size_t end = tag.end - 1, at = tag.begin;
    end -= bytes[end - 1] == '/';
    at += strcspn(bytes + at, " \t\r\n/>");
    mt_text_append(out, bytes + tag.begin, at - tag.begin);
    while (at < end) {
        size_t name = at + strspn(bytes + at, " \t\r\n"), name_end = name, value;
        if (name >= end)
            break;
        name_end += strcspn(bytes + name, " \t\r\n=");
        value = name_end + strspn(bytes + name_end, " \t\r\n=");
        const char *close = memchr(bytes + value + 1, bytes[value], end - value - 1);
        size_t next = close ? (size_t)(close - bytes) + 1 : end;
        bool is_dropped = false;
        for (const char *const *drop = dropped; *drop; drop++)
            is_dropped = is_dropped || (strlen(*drop) == name_end - name &&
                                        memcmp(*drop, bytes + name, name_end - name) == 0);
        if (!is_dropped)
            mt_text_append(out, bytes + at, next - at);
        at = next;
    }
    mt_text_append_string(out, added);
    mt_text_append(out, ">", 1);
}

static void append_close(const struct mt_document *document, const struct slot *slot,
                         struct mt_text *out)
{
    const char *name = document->bytes + slot->tag.begin + 1;
    mt_text_append_string(out, "</");
    mt_text_append(out, name, strcspn(name, " \t\r\n/>"));
    mt_text_append(out, ">", 1);
}

/* ---- matches ---- */

#define MATCHES_NAMESPACE " xmlns:mtc=\"urn:oasis:names:tc:xliff:matches:2.0\""

/* Whether a piece belongs to the same unit of XLIFF 2. */
static bool is_of_unit(const struct mt_document *document, const struct mt_document_piece *piece,
                       const struct slot *slot)
{
    const struct units *units = document->own;
    return units->slots[piece->first].unit.begin == slot->unit.begin;
}

/* Appends the matches of all segments of a unit, before the first segment. */
static void append_head(const struct mt_document *document, const struct mt_document_piece *piece,
                        struct mt_text *out)
{
    const struct units *units = document->own;
    const struct slot *slot = &units->slots[piece->first];
    const struct mt_document_piece *end = document->pieces + document->n, *last = piece;
    size_t n_bytes = 0;
    if (slot->head.end == 0)
        return;
    for (; last < end && is_of_unit(document, last, slot); last++)
        n_bytes += last->matches.length;
    if (n_bytes > 0 && !slot->has_matches)
        mt_text_append_string(out, "<mtc:matches" MATCHES_NAMESPACE ">");
    for (; piece < last; piece++)
        mt_text_append(out, piece->matches.bytes, piece->matches.length);
    if (n_bytes > 0 && !slot->has_matches)
        mt_text_append_string(out, "</mtc:matches>");
    mt_document_append(document, slot->head, out);
}

/* Appends what a match of XLIFF 2 refers to: the segment or, where that has no name, its unit. */
static void append_reference(const struct mt_document *document, const struct slot *slot,
                             struct mt_text *out)
{
    struct mt_range name = mt_xml_find_attribute(document->bytes, slot->outer, "id");
    mt_text_append_string(out, name.end > 0 ? " ref=\"#" : " ref=\"#u=");
    if (name.end == 0)
        name = mt_xml_find_attribute(document->bytes, slot->unit, "id");
    mt_document_append(document, name, out);
    mt_text_append(out, "\"", 1);
}

static void append_pair(const struct mt_document_match *match, struct mt_text *out)
{
    mt_text_append_string(out, "<source>");
    mt_xml_append_words(out, match->source->bytes, match->source->length);
    mt_text_append_string(out, "</source><target>");
    mt_xml_append_words(out, match->target->bytes, match->target->length);
    mt_text_append_string(out, "</target>");
}

static void write_xliff_match(const struct mt_document *document,
                              const struct mt_document_piece *piece,
                              const struct mt_document_match *match, struct mt_text *out)
{
    const struct units *units = document->own;
    const struct slot *slot = &units->slots[piece->first];
    bool is_second = slot->unit.end > 0;
    if (is_second) {
        mt_text_appendf(out, "<mtc:match%s", slot->has_matches ? MATCHES_NAMESPACE : "");
        append_reference(document, slot, out);
        mt_text_appendf(out, " similarity=\"%d\"", match->percent);
    } else {
        if (slot->indent.end > 0) {
            mt_text_append_string(out, document->line_end);
            mt_document_append(document, slot->indent, out);
        }
        mt_text_appendf(out, "<alt-trans match-quality=\"%d%%\"", match->percent);
    }
    if (match->origin[0] != '\0')
        mt_xml_append_attribute(out, "origin", match->origin);
    mt_text_append(out, ">", 1);
    append_pair(match, out);
    mt_text_append_string(out, is_second ? "</mtc:match>" : "</alt-trans>");
}

/* ---- a piece ---- */

static bool write_unit(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out)
{
    const struct units *units = document->own;
    const struct slot *slot = &units->slots[piece->first];
    bool is_new = slot->tag.end == 0;
    if (!mt_message_can_replace(piece->text.bytes, piece->text.length, translation, length) ||
        !mt_xml_is_content(translation, length, false))
        return false;
    const char *added = piece->is_recalled ? units->added_recalled : units->added;
    append_head(document, piece, out);
    if (slot->outer.end > 0)
        append_tag(document, slot->outer, units->outer_dropped, units->outer_added, out);
    mt_document_append(document, slot->between, out);
    if (is_new && slot->indent.end > 0) {
        mt_text_append_string(out, document->line_end);
        mt_document_append(document, slot->indent, out);
    }
    if (is_new)
        mt_text_appendf(out, "%s%s>", units->open.bytes, added);
    else
        append_tag(document, slot->tag, units->dropped, added, out);
    mt_document_append(document, slot->lead, out);
    if (slot->accelerator.mark)
        mt_xml_place_accelerator(&slot->accelerator, translation, length, out);
    else
        mt_text_append(out, translation, length);
    mt_document_append(document, slot->trail, out);
    if (is_new)
        mt_text_append(out, units->close.bytes, units->close.length);
    else
        append_close(document, slot, out);
    if (slot->unit.end == 0)
        mt_text_append(out, piece->matches.bytes, piece->matches.length);
    if (units->open.status || units->close.status)
        out->status = MT_MEMORY;
    return true;
}

const struct mt_document_reader mt_document_xliff_reader = {
    .read_text = mt_read_xml_words,
    .read = read_xliff,
    .find_charset = mt_xml_find_encoding,
    .write = write_unit,
    .write_match = write_xliff_match,
    .finish = finish_units,
};

const struct mt_document_reader mt_document_tmx_reader = {
    .read_text = mt_read_xml_words,
    .read = read_tmx,
    .find_charset = mt_xml_find_encoding,
    .write = write_unit,
    .finish = finish_units,
};

const struct mt_document_reader mt_document_ts_reader = {
    .read_text = mt_read_xml_words,
    .read = read_ts,
    .find_charset = mt_xml_find_encoding,
    .write = write_unit,
    .finish = finish_units,
};
