/*
 * Catalogues in JSON: strings are messages, keys are not, at any depth.
 *
 *   {"menu": {"open": "Open file"}, "days": ["Monday", "Tuesday"]}      i18next, vue-i18n, Angular
 *   {"greeting": {"message": "Hello", "description": "In the menu"}}    Chrome, formatjs, Transifex
 *   {"@@locale": "en", "hello": "Hello", "@hello": {"description": ""}} Flutter's .arb
 *   {"sourceLanguage": "en", "strings": {"Hello": {"localizations":
 *     {"de": {"stringUnit": {"state": "translated", "value": "Hallo"}}}}}}  Xcode's .xcstrings, in which
 *                                                                         what has no "de" gets one
 *
 * Descriptions of messages stay, and so do values that describe the file itself. A translation is
 * escaped in the way that the file escapes.
 */
#include "base/json.h"
#include "base/json_reader.h"
#include "base/size.h"
#include "base/vector.h"
#include "server/documents/message.h"
#include "server/documents/message_check.h"
#include "server/documents/plural_forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Deepest nesting, which no catalogue reaches. */
#define MAX_DEPTH 64

/* Most texts of one string of Xcode's, for all its numbers and devices. A string with more is not
 * translated. */
#define MAX_VARIATIONS 256
#define NO_PIECE SIZE_MAX

/* A localization with variations is a copy of the source's: bytes that are copied, followed by text
 * that replaces the next bytes. */
struct fragment {
    struct mt_range copied;
    size_t piece;     /* the translation that follows; NO_PIECE: `word` does */
    const char *word; /* a state, a comma or the name of a form */
};

struct localization {
    size_t first_piece, n_pieces, first_fragment, n_fragments;
};

/* How the file writes characters that need no escape. */
struct style {
    bool escapes[0x80];  /* characters of ASCII: as \u003c, or \/ */
    bool escapes_others; /* all characters outside of ASCII */
    /* of .xcstrings */
    char language[40]; /* the target language */
    struct fragment *fragments;
    size_t n_fragments, fragments_capacity;
    struct localization *localizations;
    size_t n_localizations, localizations_capacity;
};

struct walk {
    struct mt_document *document;
    struct mt_json_reader reader;
    struct mt_text text;
    bool is_arb;
    struct mt_error *err;
    /* of .xcstrings */
    char source_lang[40];
    bool needed[MT_N_PLURAL_FORMS]; /* forms of the target language */
    /* position up to which the source's localization is in the fragments */
    size_t copied;
    enum mt_status status;
};

static enum mt_status read_value(struct walk *walk, size_t depth);

static bool is_among(struct mt_json_span key, const char *const *names)
{
    for (; *names; names++)
        if (mt_json_span_equals(key, *names))
            return true;
    return false;
}

/* Whether the key's value is not translated: "@hello", "@@locale", "$schema", and "" of WordPress'
 * catalogues; at the top also keys that name the language; and the "id" of a list's items, as
 * go-i18n has them. */
static bool is_left(const struct walk *walk, struct mt_json_span key, size_t depth, bool is_item)
{
    static const char *const languages[] = {"locale", "language", "lang", NULL};
    bool is_marked = key.length == 0 || key.bytes[0] == '@' || key.bytes[0] == '$';
    return is_marked || (!walk->is_arb && depth == 1 && is_among(key, languages)) ||
           (is_item && mt_json_span_equals(key, "id"));
}

/* Returns the key of the message in an object that otherwise only describes the message; empty: it
 * is an ordinary object. */
static struct mt_json_span find_message(const struct walk *walk)
{
    static const char *const messages[] = {"message", "defaultMessage", "messageformat", "string",
                                           NULL};
    static const char *const notes[] = {
        "description", "placeholders", "context", "comment",         "developer_comment",
        "example",     "hash",         "id",      "character_limit", NULL};
    struct mt_json_reader reader = walk->reader;
    struct mt_json_span found = {0};
    mt_json_reader_enter(&reader);
    while (mt_json_reader_next(&reader)) {
        struct mt_json_span key = mt_json_reader_string(&reader);
        bool is_message = is_among(key, messages) && mt_json_reader_peek(&reader) == '"';
        if ((is_message && found.bytes) || (!is_message && !is_among(key, notes)))
            return (struct mt_json_span){0};
        if (is_message)
            found = key;
        mt_json_reader_skip(&reader);
    }
    return found;
}

/* is_item: the object is an item of an array. */
static enum mt_status read_object(struct walk *walk, size_t depth, bool is_item)
{
    struct mt_json_span message = find_message(walk);
    enum mt_status status = MT_OK;
    mt_json_reader_enter(&walk->reader);
    while (!status && mt_json_reader_next(&walk->reader)) {
        struct mt_json_span key = mt_json_reader_string(&walk->reader);
        if (message.bytes ? key.bytes == message.bytes : !is_left(walk, key, depth, is_item))
            status = read_value(walk, depth);
        else
            mt_json_reader_skip(&walk->reader);
    }
    return status;
}

static enum mt_status read_array(struct walk *walk, size_t depth)
{
    enum mt_status status = MT_OK;
    mt_json_reader_enter(&walk->reader);
    while (!status && mt_json_reader_next(&walk->reader))
        status = mt_json_reader_peek(&walk->reader) == '{' ? read_object(walk, depth + 1, true)
                                                           : read_value(walk, depth);
    return status;
}

/* Adds the string, and notes how it is escaped. */
static enum mt_status read_string(struct walk *walk)
{
    struct style *style = walk->document->own;
    struct mt_document_piece *piece;
    struct mt_json_span span = mt_json_reader_string(&walk->reader);
    const char *end = span.bytes + span.length;
    for (const char *at = span.bytes; at < end;) {
        bool is_escaped = at[0] == '\\' && (at[1] == 'u' || at[1] == '/');
        uint32_t c = mt_json_next_code_point(&at);
        if (is_escaped && c >= 0x20 && c < 0x80)
            style->escapes[c] = true;
        mt_text_append_char(&walk->text, c);
    }
    size_t begin = (size_t)(span.bytes - walk->document->bytes);
    mt_text_append(&walk->text, "", 0);
    return mt_message_add(walk->document, (struct mt_range){begin, begin + span.length},
                          &walk->text, &piece, walk->err);
}

/* Recursion is as deep as mt_json_check allows. */
static enum mt_status read_value(struct walk *walk, size_t depth)
{
    switch (mt_json_reader_peek(&walk->reader)) {
    case '{':
        return read_object(walk, depth + 1, false);
    case '[':
        return read_array(walk, depth + 1);
    case '"':
        return read_string(walk);
    default:
        mt_json_reader_skip(&walk->reader);
        return MT_OK;
    }
}

static enum mt_status read_catalogue(struct mt_document *document, bool is_arb,
                                     struct mt_error *err)
{
    const struct mt_json_limits limits = {.max_depth = MAX_DEPTH,
                                          .max_values = document->length + 1};
    struct walk walk = {.document = document, .is_arb = is_arb, .err = err};
    enum mt_status status =
        mt_json_check(document->bytes, document->length, &limits, "the file", err);
    if (status)
        return status;
    struct style *style = calloc(1, sizeof *style);
    if (!style)
        return mt_fail_memory(err, sizeof *style, "a file");
    document->own = style;
    style->escapes_others =
        mt_message_file_is_ascii(document) && strstr(document->bytes, "\\u") != NULL;
    mt_json_reader_init(&walk.reader, document->bytes, document->length);
    status = read_value(&walk, 0);
    mt_text_finish(&walk.text);
    return status;
}

static enum mt_status read_json(struct mt_document *document,
                                const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    return read_catalogue(document, false, err);
}

static enum mt_status read_arb(struct mt_document *document,
                               const struct mt_document_options *options, struct mt_error *err)
{
    (void)options;
    return read_catalogue(document, true, err);
}

/* ---- Xcode's ---- */

/* Where a translation is inserted: the n of a piece. */
enum {
    INTO_LANGUAGES, /* behind the last localization */
    INTO_EMPTY,     /* between the braces of "localizations" */
    INTO_STRING,    /* behind the last member of the string's object */
    INTO_NOTHING,   /* between the braces of the string's object */
};

/* What the object of one string contains. */
struct string_entry {
    struct mt_json_span source; /* its text, unless the key is the text; then bytes are NULL */
    struct mt_range range;      /* where the translation is inserted */
    size_t where;
    bool is_left, has_variations;
};

static bool is_language(struct mt_json_span key, const char *language)
{
    size_t n = strcspn(language, "-_");
    return key.length >= n && strncasecmp(key.bytes, language, n) == 0 &&
           (key.length == n || key.bytes[n] == '-' || key.bytes[n] == '_');
}

/* Reads {"stringUnit": {"value": "Hello"}}. Returns false for anything else. */
static bool read_unit(struct mt_json_reader *reader, struct mt_json_span *value)
{
    bool has_value = false;
    if (mt_json_reader_peek(reader) != '{') {
        mt_json_reader_skip(reader);
        return false;
    }
    mt_json_reader_enter(reader);
    while (mt_json_reader_next(reader)) {
        struct mt_json_span key = mt_json_reader_string(reader);
        char next = mt_json_reader_peek(reader);
        if (mt_json_span_equals(key, "stringUnit") && next == '{') {
            has_value = read_unit(reader, value);
        } else if (mt_json_span_equals(key, "value") && next == '"') {
            *value = mt_json_reader_string(reader);
            has_value = true;
        } else {
            mt_json_reader_skip(reader);
        }
    }
    return has_value;
}

/* Whether the next object has variations or substitutions. The reader is a copy, so that nothing is
 * consumed. */
static bool has_variations(struct mt_json_reader reader)
{
    bool has = false;
    if (mt_json_reader_peek(&reader) != '{')
        return false;
    mt_json_reader_enter(&reader);
    while (mt_json_reader_next(&reader)) {
        struct mt_json_span key = mt_json_reader_string(&reader);
        has = has || mt_json_span_equals(key, "variations") ||
              mt_json_span_equals(key, "substitutions");
        mt_json_reader_skip(&reader);
    }
    return has;
}

/* Reads the next object and calls take with each key. *range gets the position behind its last
 * member or, where it has none, between its braces. Returns whether it has members. */
typedef void take_member(struct walk *walk, struct mt_json_span key, void *context);

static bool read_members(struct walk *walk, take_member *take, void *context,
                         struct mt_range *range)
{
    struct mt_json_reader *reader = &walk->reader;
    const char *bytes = walk->document->bytes;
    bool has_any = false;
    mt_json_reader_enter(reader);
    range->begin = (size_t)(reader->at - bytes);
    while (mt_json_reader_next(reader)) {
        has_any = true;
        take(walk, mt_json_reader_string(reader), context);
        range->begin = range->end = (size_t)(reader->at - bytes);
    }
    if (!has_any)
        range->end = (size_t)(reader->at - bytes) - 1;
    return has_any;
}

/* ---- variations ---- */

static size_t place_of(const struct walk *walk, const char *at)
{
    return (size_t)(at - walk->document->bytes);
}

static void add_fragment(struct walk *walk, struct fragment fragment)
{
    struct style *style = walk->document->own;
    if (!walk->status)
        walk->status = MT_ROOM(&style->fragments, &style->fragments_capacity,
                               style->n_fragments + 1, "parts of a file", walk->err);
    if (!walk->status)
        style->fragments[style->n_fragments++] = fragment;
}

/* Adds what was not copied yet, up to begin, and then what replaces the bytes up to `end`. */
static void add_fragment_until(struct walk *walk, size_t begin, size_t end, size_t piece,
                               const char *word)
{
    add_fragment(walk, (struct fragment){{walk->copied, begin}, piece, word});
    walk->copied = end;
}

static void read_text(struct walk *walk, struct mt_json_span span)
{
    for (const char *at = span.bytes; at < span.bytes + span.length;)
        mt_text_append_char(&walk->text, mt_json_next_code_point(&at));
    mt_text_append(&walk->text, "", 0);
}

/* Takes a member of a stringUnit. */
static void take_unit_member(struct walk *walk, struct mt_json_span key, void *context)
{
    struct mt_document_piece *piece = NULL;
    bool is_state = mt_json_span_equals(key, "state");
    (void)context;
    if (mt_json_reader_peek(&walk->reader) != '"' ||
        !(is_state || mt_json_span_equals(key, "value"))) {
        mt_json_reader_skip(&walk->reader);
        return;
    }
    struct mt_json_span span = mt_json_reader_string(&walk->reader);
    size_t begin = place_of(walk, span.bytes);
    if (is_state) {
        add_fragment_until(walk, begin, begin + span.length, NO_PIECE, "needs_review");
        return;
    }
    read_text(walk, span);
    if (!walk->status)
        walk->status = mt_message_add(walk->document, (struct mt_range){begin, begin}, &walk->text,
                                      &piece, walk->err);
    if (piece)
        add_fragment_until(walk, begin, begin + span.length, walk->document->n - 1, "");
}

/* The forms of a plural. */
struct plural {
    bool has[MT_N_PLURAL_FORMS];
    /* of the form "other": the name without its quotation marks, and the whole member */
    struct mt_range name, member;
    size_t first, n, copied; /* its fragments, and up to where they copy it */
    size_t end;              /* where the last form ends */
};

static void take_localization_member(struct walk *walk, struct mt_json_span key, void *context);
static void take_substitution(struct walk *walk, struct mt_json_span key, void *context);

static void take_variation(struct walk *walk, struct mt_json_span key, void *context)
{
    struct plural *plural = context;
    const struct style *style = walk->document->own;
    enum mt_plural_form form;
    struct mt_range range;
    size_t first = style->n_fragments;
    if (mt_json_reader_peek(&walk->reader) == '{')
        read_members(walk, take_localization_member, NULL, &range);
    else
        mt_json_reader_skip(&walk->reader);
    plural->end = place_of(walk, walk->reader.at);
    if (!mt_plural_form_of(key.bytes, key.length, &form))
        return;
    plural->has[form] = true;
    if (form != MT_PLURAL_OTHER)
        return;
    size_t begin = place_of(walk, key.bytes);
    plural->name = (struct mt_range){begin, begin + key.length};
    plural->first = first;
    plural->n = style->n_fragments - first;
    plural->copied = walk->copied;
    for (begin--; begin > 0 && strchr(" \t\r\n", walk->document->bytes[begin - 1]);)
        begin--;
    plural->member = (struct mt_range){begin, plural->end};
}

/* Adds a form that the source does not have as a copy of "other", with a text of its own and its
 * state. */
static void add_form(struct walk *walk, const struct plural *plural, enum mt_plural_form form)
{
    const struct style *style = walk->document->own;
    size_t copied = plural->name.end;
    add_fragment_until(walk, plural->end, plural->end, NO_PIECE, ",");
    add_fragment(walk, (struct fragment){{plural->member.begin, plural->name.begin},
                                         NO_PIECE,
                                         mt_plural_form_name(form)});
    for (size_t i = 0; i < plural->n; i++) {
        struct fragment fragment = style->fragments[plural->first + i];
        if (i == 0)
            fragment.copied.begin = copied;
        add_fragment(walk, fragment);
    }
    add_fragment(walk, (struct fragment){{plural->copied, plural->member.end}, NO_PIECE, ""});
}

/* Reads all variations by "plural" or "device". */
static void take_variations(struct walk *walk, struct mt_json_span key, void *context)
{
    struct plural plural = {0};
    struct mt_range range;
    (void)context;
    if (mt_json_reader_peek(&walk->reader) != '{') {
        mt_json_reader_skip(&walk->reader);
        return;
    }
    read_members(walk, take_variation, &plural, &range);
    bool is_plural = mt_json_span_equals(key, "plural") && plural.n > 0 && plural.n <= 2;
    for (size_t i = 0; i < MT_N_PLURAL_FORMS && is_plural; i++)
        if (walk->needed[i] && !plural.has[i])
            add_form(walk, &plural, (enum mt_plural_form)i);
}

/* Recursion is as deep as mt_json_check allows. */
static void take_localization_member(struct walk *walk, struct mt_json_span key, void *context)
{
    take_member *take = NULL;
    struct mt_range range;
    (void)context;
    if (mt_json_span_equals(key, "stringUnit"))
        take = take_unit_member;
    else if (mt_json_span_equals(key, "variations"))
        take = take_variations;
    else if (mt_json_span_equals(key, "substitutions"))
        take = take_substitution;
    if (take && mt_json_reader_peek(&walk->reader) == '{')
        read_members(walk, take, NULL, &range);
    else
        mt_json_reader_skip(&walk->reader);
}

static void take_substitution(struct walk *walk, struct mt_json_span key, void *context)
{
    struct mt_range range;
    (void)key;
    (void)context;
    if (mt_json_reader_peek(&walk->reader) == '{')
        read_members(walk, take_localization_member, NULL, &range);
    else
        mt_json_reader_skip(&walk->reader);
}

/* Reads the variations of the source's localization, for a string that has no pieces yet. */
static void read_variations(struct walk *walk)
{
    struct style *style = walk->document->own;
    struct mt_range range;
    struct localization made = {.first_piece = walk->document->n,
                                .first_fragment = style->n_fragments};
    mt_json_reader_peek(&walk->reader);
    walk->copied = place_of(walk, walk->reader.at);
    read_members(walk, take_localization_member, NULL, &range);
    size_t end = place_of(walk, walk->reader.at);
    add_fragment_until(walk, end, end, NO_PIECE, "");
    made.n_pieces = walk->document->n - made.first_piece;
    made.n_fragments = style->n_fragments - made.first_fragment;
    if (!walk->status)
        walk->status = MT_ROOM(&style->localizations, &style->localizations_capacity,
                               style->n_localizations + 1, "parts of a file", walk->err);
    if (!walk->status)
        style->localizations[style->n_localizations++] = made;
}

/* ---- strings ---- */

static void take_localization(struct walk *walk, struct mt_json_span key, void *context)
{
    struct string_entry *entry = context;
    const struct style *style = walk->document->own;
    bool is_source = mt_json_span_equals(key, walk->source_lang);
    if (is_language(key, style->language))
        entry->is_left = true;
    if (is_source && !entry->has_variations && has_variations(walk->reader)) {
        entry->has_variations = true;
        read_variations(walk);
    } else if (!is_source) {
        mt_json_reader_skip(&walk->reader);
    } else if (!read_unit(&walk->reader, &entry->source)) {
        entry->is_left = true;
    }
}

static void take_string_member(struct walk *walk, struct mt_json_span key, void *context)
{
    struct string_entry *entry = context;
    struct mt_json_reader *reader = &walk->reader;
    char next = mt_json_reader_peek(reader);
    if (mt_json_span_equals(key, "localizations") && next == '{') {
        bool has_any = read_members(walk, take_localization, entry, &entry->range);
        entry->where = has_any ? INTO_LANGUAGES : INTO_EMPTY;
        return;
    }
    bool is_stale = mt_json_span_equals(key, "extractionState") && next == '"' &&
                    strncmp(reader->at, "\"stale\"", 7) == 0;
    if (is_stale || (mt_json_span_equals(key, "shouldTranslate") && next == 'f'))
        entry->is_left = true;
    mt_json_reader_skip(reader);
}

/* Sets where the pieces of the variations are inserted, or removes these pieces. */
static void end_variations(struct walk *walk, const struct string_entry *entry, size_t first)
{
    struct mt_document *document = walk->document;
    const struct style *style = document->own;
    bool is_left = entry->is_left || document->n - first > MAX_VARIATIONS;
    for (size_t i = first; i < document->n; i++) {
        document->pieces[i].range = entry->range;
        document->pieces[i].n = entry->where;
        document->pieces[i].first = style->n_localizations;
        if (is_left)
            mt_text_finish(&document->pieces[i].text);
    }
    if (is_left)
        document->n = first;
}

static void take_string(struct walk *walk, struct mt_json_span key, void *context)
{
    struct string_entry entry = {.where = INTO_NOTHING};
    struct mt_document_piece *piece = NULL;
    struct mt_range range;
    size_t first = walk->document->n;
    (void)context;
    if (mt_json_reader_peek(&walk->reader) != '{') {
        mt_json_reader_skip(&walk->reader);
        return;
    }
    bool has_any = read_members(walk, take_string_member, &entry, &range);
    if (entry.where == INTO_NOTHING) {
        entry.range = range;
        entry.where = has_any ? INTO_STRING : INTO_NOTHING;
    }
    if (entry.has_variations) {
        end_variations(walk, &entry, first);
        return;
    }
    if (entry.is_left)
        return;
    read_text(walk, entry.source.bytes ? entry.source : key);
    if (!walk->status)
        walk->status = mt_message_add(walk->document, entry.range, &walk->text, &piece, walk->err);
    if (piece)
        piece->n = entry.where;
}

static void find_source_language(struct walk *walk, struct mt_json_span key, void *context)
{
    (void)context;
    bool is_one =
        mt_json_span_equals(key, "sourceLanguage") && mt_json_reader_peek(&walk->reader) == '"';
    if (!is_one) {
        mt_json_reader_skip(&walk->reader);
        return;
    }
    struct mt_json_span language = mt_json_reader_string(&walk->reader);
    snprintf(walk->source_lang, sizeof walk->source_lang, "%.*s",
             (int)mt_size_min(language.length, sizeof walk->source_lang - 1), language.bytes);
}

static void take_strings(struct walk *walk, struct mt_json_span key, void *context)
{
    struct mt_range range;
    if (mt_json_span_equals(key, "strings") && mt_json_reader_peek(&walk->reader) == '{')
        read_members(walk, take_string, context, &range);
    else
        mt_json_reader_skip(&walk->reader);
}

static enum mt_status read_xcstrings(struct mt_document *document,
                                     const struct mt_document_options *options,
                                     struct mt_error *err)
{
    const struct mt_json_limits limits = {.max_depth = MAX_DEPTH,
                                          .max_values = document->length + 1};
    struct walk walk = {.document = document, .err = err};
    struct mt_range range;
    const char *target = options->target_lang ? options->target_lang : "";
    enum mt_status status =
        mt_json_check(document->bytes, document->length, &limits, "the file", err);
    struct style *style = status ? NULL : calloc(1, sizeof *style);
    if (!style)
        return status ? status : mt_fail_memory(err, sizeof *style, "a file");
    document->own = style;
    snprintf(style->language, sizeof style->language, "%s", target);
    mt_plural_forms_of_language(target, walk.needed);
    mt_json_reader_init(&walk.reader, document->bytes, document->length);
    bool is_object = mt_json_reader_peek(&walk.reader) == '{';
    if (is_object)
        read_members(&walk, find_source_language, NULL, &range);
    if (!*walk.source_lang)
        return mt_fail(err, MT_FORMAT,
                       "the file has no \"sourceLanguage\", expected a catalogue of "
                       "Xcode's");
    if (!*target)
        return mt_fail(err, MT_FORMAT,
                       "a catalogue of Xcode's needs a language to be translated into, "
                       "and the model does not say one");
    mt_json_reader_init(&walk.reader, document->bytes, document->length);
    read_members(&walk, take_strings, NULL, &range);
    mt_text_finish(&walk.text);
    return walk.status;
}

static bool write_json(const struct mt_document *document, const struct mt_document_piece *piece,
                       const char *translation, size_t length, struct mt_text *out)
{
    static const char letters[] = "\"\\bfnrt", meanings[] = "\"\\\b\f\n\r\t";
    const struct style *style = document->own;
    (void)piece;
    for (size_t at = 0; at < length; at += mt_char_length(translation + at)) {
        uint32_t c = mt_utf8_decode(translation + at);
        const char *meaning = c < 0x80 ? strchr(meanings, (int)c) : NULL;
        if (meaning)
            mt_text_appendf(out, "\\%c", letters[meaning - meanings]);
        else if (c == '/' && style->escapes[c])
            mt_text_append_string(out, "\\/");
        else if (c < 0x20 || (c < 0x80 && style->escapes[c]) ||
                 (c >= 0x80 && style->escapes_others))
            mt_message_write_unicode(c, out);
        else
            mt_text_append_char(out, c);
    }
    return true;
}

/* Writes the object in Xcode's layout. */
static void write_string_unit(const struct mt_document *document, const char *translation,
                              size_t length, struct mt_text *out)
{
    const char *end = document->line_end;
    mt_text_appendf(out, "{%s          \"stringUnit\" : {%s", end, end);
    mt_text_appendf(out, "            \"state\" : \"needs_review\",%s            \"value\" : \"",
                    end);
    write_json(document, NULL, translation, length, out);
    mt_text_appendf(out, "\"%s          }%s        }", end, end);
}

/* Whether all texts of a localization are translated: it is written completely or not at all. */
static bool is_complete(const struct mt_document_writing *writing,
                        const struct localization *localization)
{
    for (size_t i = 0; i < localization->n_pieces; i++) {
        size_t k = localization->first_piece + i;
        const struct mt_text *text = &writing->document->pieces[k].text;
        const struct mt_text *translation = &writing->translations[k];
        if (!translation->bytes || !mt_message_can_replace(text->bytes, text->length,
                                                           translation->bytes, translation->length))
            return false;
    }
    return true;
}

static void write_variations(const struct mt_document_writing *writing,
                             const struct localization *localization, struct mt_text *out)
{
    const struct mt_document *document = writing->document;
    const struct style *style = document->own;
    for (size_t i = 0; i < localization->n_fragments; i++) {
        const struct fragment *fragment = &style->fragments[localization->first_fragment + i];
        mt_document_append(document, fragment->copied, out);
        if (fragment->piece == NO_PIECE)
            mt_text_append_string(out, fragment->word);
        else
            write_json(document, NULL, writing->translations[fragment->piece].bytes,
                       writing->translations[fragment->piece].length, out);
    }
}

static bool write_xcstrings(struct mt_document_writing *writing,
                            const struct mt_document_piece *piece, const char *translation,
                            size_t length, struct mt_text *out)
{
    const struct mt_document *document = writing->document;
    const struct style *style = document->own;
    const struct localization *localization =
        piece->first > 0 ? &style->localizations[piece->first - 1] : NULL;
    const char *end = document->line_end;
    bool is_first = piece->n == INTO_EMPTY || piece->n == INTO_NOTHING;
    bool opens = piece->n == INTO_STRING || piece->n == INTO_NOTHING;
    if (localization
            ? !is_complete(writing, localization)
            : !mt_message_can_replace(piece->text.bytes, piece->text.length, translation, length))
        return false;
    if (localization && piece != &document->pieces[localization->first_piece])
        return true; /* the first one of them wrote everything */
    mt_text_append_string(out, is_first ? "" : ",");
    if (opens)
        mt_text_appendf(out, "%s      \"localizations\" : {", end);
    mt_text_appendf(out, "%s        \"%s\" : ", end, style->language);
    if (localization)
        write_variations(writing, localization, out);
    else
        write_string_unit(document, translation, length, out);
    if (opens || is_first)
        mt_text_appendf(out, "%s      ", end);
    if (opens)
        mt_text_append_string(out, "}");
    if (piece->n == INTO_NOTHING)
        mt_text_appendf(out, "%s    ", end);
    return true;
}

static void finish_xcstrings(void *own)
{
    struct style *style = own;
    free(style->fragments);
    free(style->localizations);
    free(style);
}

const struct mt_document_reader mt_document_xcstrings_reader = {
    .read_text = mt_read_plain,
    .read = read_xcstrings,
    .write_around = write_xcstrings,
    .stands_beside = true,
    .finish = finish_xcstrings,
};

const struct mt_document_reader mt_document_json_reader = {
    .read_text = mt_read_plain,
    .read = read_json,
    .write = write_json,
    .finish = free,
    .replaces_messages = true,
};

const struct mt_document_reader mt_document_arb_reader = {
    .read_text = mt_read_plain,
    .read = read_arb,
    .write = write_json,
    .finish = free,
    .replaces_messages = true,
};
