/*
 * Hands over from one process to another what writing needs of a document's paragraphs.
 */
#include "server/documents/office/office_reader.h"
#include "server/documents/office/office_runs.h"
#include "server/documents/office/office_state.h"

#include <stdlib.h>
#include <string.h>

/* The functions that write a text's words, by number; 0: the format's own. */
static mt_office_write_run *const writers[] = {
    NULL,
    mt_office_write_text_run,
    mt_office_write_shape_run,
    mt_office_write_cell_run,
    mt_office_write_plain,
    mt_office_write_header,
};
#define N_WRITERS (sizeof writers / sizeof *writers)

static size_t number_of(mt_office_write_run *writer)
{
    size_t number = 0;
    while (number < N_WRITERS && writers[number] != writer)
        number++;
    return number;
}

static void put_range(struct mt_text *out, struct mt_range range)
{
    mt_flat_put_number(out, range.begin);
    mt_flat_put_number(out, range.end);
}

void mt_office_pack(const void *own, struct mt_text *out)
{
    const struct mt_office *office = own;
    mt_flat_put_number(out, office->n_looks);
    for (size_t i = 0; i < office->n_looks; i++)
        mt_flat_put_text(out, &office->looks[i].properties);
    mt_flat_put_number(out, office->n_codes);
    for (size_t i = 0; i < office->n_codes; i++) {
        const struct code *code = &office->codes[i];
        mt_flat_put_text(out, &code->open);
        mt_flat_put_text(out, &code->close);
        put_range(out, code->verbatim);
        put_range(out, code->verbatim_close);
        mt_flat_put_number(out, code->look);
        mt_flat_put_number(out, code->has_outer);
        mt_flat_put_number(out, code->outer);
        mt_flat_put_number(out, code->is_look);
        mt_flat_put_number(out, code->is_link);
    }
    mt_flat_put_number(out, office->n_texts);
    for (size_t i = 0; i < office->n_texts; i++) {
        const struct text *text = &office->texts[i];
        const struct mt_text prefix = {.bytes = (char *)(size_t)text->element_prefix,
                                       .length = strlen(text->element_prefix)};
        mt_flat_put_number(out, text->first);
        mt_flat_put_number(out, text->n);
        mt_flat_put_number(out, text->n_before);
        mt_flat_put_number(out, text->n_after);
        mt_flat_put_text(out, &text->prefix);
        mt_flat_put_text(out, &text->suffix);
        mt_flat_put_number(out, text->look);
        mt_flat_put_text(out, &prefix);
        mt_flat_put_number(out, number_of(text->write_run));
        mt_flat_put_number(out, text->ends_run);
        put_range(out, text->run);
        mt_flat_put_number(out, text->is_attribute);
        mt_flat_put_number(out, text->max_chars);
        put_range(out, text->drop);
        mt_flat_put_number(out, text->drop_look);
    }
    const struct mt_text tag = {.bytes = (char *)(size_t)office->target.tag,
                                .length = strlen(office->target.tag)};
    mt_flat_put_number(out, office->has_target && office->names_language);
    mt_flat_put_text(out, &tag);
    mt_flat_put_number(out, office->target.is_rtl);
    mt_flat_put_number(out, office->target.is_east_asian);
}

static struct mt_range take_range(const struct mt_document *document, struct mt_flat *flat)
{
    struct mt_range range = {.begin = mt_flat_number(flat, document->length)};
    range.end = mt_flat_number(flat, document->length);
    if (range.begin <= range.end)
        return range;
    flat->is_broken = true;
    return (struct mt_range){0};
}

/* Allocates as many items as the table has next, at least one, and sets *n. */
static void *make_items(struct mt_flat *flat, size_t size, size_t *n, struct mt_error *err)
{
    *n = mt_flat_count(flat);
    void *items = calloc(*n + 1, size);
    if (!items)
        (void)mt_fail_memory(err, *n * size, "a document");
    return items;
}

static enum mt_status unpack_looks(struct mt_office *office, struct mt_flat *flat,
                                   struct mt_error *err)
{
    enum mt_status status = MT_OK;
    office->looks = make_items(flat, sizeof *office->looks, &office->n_looks, err);
    if (!office->looks) {
        office->n_looks = 0;
        return MT_MEMORY;
    }
    for (size_t i = 0; i < office->n_looks && !status; i++) {
        mt_flat_text(flat, &office->looks[i].properties);
        status = mt_text_check(&office->looks[i].properties, "a document", err);
    }
    flat->is_broken = flat->is_broken || office->n_looks == 0;
    return status;
}

static enum mt_status unpack_codes(const struct mt_document *document, struct mt_flat *flat,
                                   struct mt_error *err)
{
    struct mt_office *office = document->own;
    enum mt_status status = MT_OK;
    office->codes = make_items(flat, sizeof *office->codes, &office->n_codes, err);
    if (!office->codes) {
        office->n_codes = 0;
        return MT_MEMORY;
    }
    for (size_t i = 0; i < office->n_codes && !status; i++) {
        struct code *code = &office->codes[i];
        mt_flat_text(flat, &code->open);
        mt_flat_text(flat, &code->close);
        code->verbatim = take_range(document, flat);
        code->verbatim_close = take_range(document, flat);
        code->look = mt_flat_number(flat, office->n_looks - 1);
        code->has_outer = mt_flat_number(flat, 1) == 1;
        code->outer = mt_flat_number(flat, office->n_looks - 1);
        code->is_look = mt_flat_number(flat, 1) == 1;
        code->is_link = mt_flat_number(flat, 1) == 1;
        status = mt_text_check(&code->open, "a document", err);
        if (!status)
            status = mt_text_check(&code->close, "a document", err);
    }
    return status;
}

static enum mt_status unpack_text(const struct mt_document *document, struct text *text,
                                  struct mt_flat *flat, struct mt_error *err)
{
    const struct mt_office *office = document->own;
    struct mt_text prefix = {0};
    text->first = mt_flat_number(flat, office->n_codes);
    size_t most = office->n_codes - text->first;
    text->n = mt_flat_number(flat, most);
    text->n_before = mt_flat_number(flat, most - text->n);
    text->n_after = mt_flat_number(flat, most - text->n - text->n_before);
    mt_flat_text(flat, &text->prefix);
    mt_flat_text(flat, &text->suffix);
    text->look = mt_flat_number(flat, office->n_looks - 1);
    mt_flat_text(flat, &prefix);
    text->write_run = writers[mt_flat_number(flat, N_WRITERS - 1)];
    text->ends_run = mt_flat_number(flat, 1) == 1;
    text->run = take_range(document, flat);
    text->is_attribute = mt_flat_number(flat, 1) == 1;
    text->max_chars = mt_flat_number(flat, UINT16_MAX);
    text->drop = take_range(document, flat);
    text->drop_look = mt_flat_number(flat, office->n_looks - 1);
    if (prefix.length > MT_OFFICE_MAX_PREFIX ||
        (!text->write_run && !text->is_attribute && !office->format))
        flat->is_broken = true;
    else if (prefix.bytes)
        memcpy(text->element_prefix, prefix.bytes, prefix.length);
    enum mt_status status = mt_text_check(&prefix, "a document", err);
    if (!status)
        status = mt_text_check(&text->prefix, "a document", err);
    if (!status)
        status = mt_text_check(&text->suffix, "a document", err);
    mt_text_finish(&prefix);
    return status;
}

static enum mt_status unpack_language(struct mt_office *office, struct mt_flat *flat,
                                      struct mt_error *err)
{
    struct mt_text tag = {0};
    office->has_target = office->names_language = mt_flat_number(flat, 1) == 1;
    mt_flat_text(flat, &tag);
    office->target.is_rtl = mt_flat_number(flat, 1) == 1;
    office->target.is_east_asian = mt_flat_number(flat, 1) == 1;
    if (tag.length >= sizeof office->target.tag)
        flat->is_broken = true;
    else if (tag.bytes)
        memcpy(office->target.tag, tag.bytes, tag.length);
    enum mt_status status = mt_text_check(&tag, "a document", err);
    mt_text_finish(&tag);
    return status;
}

/* Whether the bytes that the piece's codes copy belong to its text, each only once, so that this is
 * true for texts within it, too. */
static bool is_piece_sound(const struct mt_office *office, const struct mt_document_piece *piece)
{
    size_t n_bytes = 0;
    if (piece->left)
        return true;
    if (piece->first >= office->n_texts)
        return false;
    const struct text *text = &office->texts[piece->first];
    size_t end = text->first + text->n + text->n_before + text->n_after;
    if (text->drop.begin < text->drop.end &&
        (text->drop.begin < piece->range.begin || text->drop.end > piece->range.end))
        return false;
    n_bytes += text->drop.end - text->drop.begin;
    for (size_t i = text->first; i < end; i++) {
        const struct mt_range ranges[] = {office->codes[i].verbatim,
                                          office->codes[i].verbatim_close};
        for (size_t k = 0; k < 2; k++) {
            bool is_empty = ranges[k].begin == ranges[k].end;
            if (!is_empty &&
                (ranges[k].begin < piece->range.begin || ranges[k].end > piece->range.end))
                return false;
            n_bytes += ranges[k].end - ranges[k].begin;
        }
    }
    return n_bytes <= piece->range.end - piece->range.begin;
}

enum mt_status mt_office_unpack(struct mt_document *document, struct mt_flat *flat,
                                struct mt_error *err)
{
    return mt_office_unpack_as(NULL, document, flat, err);
}

enum mt_status mt_office_unpack_as(const struct mt_office_format *format,
                                   struct mt_document *document, struct mt_flat *flat,
                                   struct mt_error *err)
{
    struct mt_office *office = calloc(1, sizeof *office);
    if (!office)
        return mt_fail_memory(err, sizeof *office, "a document");
    office->format = format;
    document->own = office;
    enum mt_status status = unpack_looks(office, flat, err);
    if (!status && !flat->is_broken)
        status = unpack_codes(document, flat, err);
    if (status || flat->is_broken)
        return status;
    office->texts = make_items(flat, sizeof *office->texts, &office->n_texts, err);
    if (!office->texts) {
        office->n_texts = 0;
        return MT_MEMORY;
    }
    for (size_t i = 0; i < office->n_texts && !status; i++)
        status = unpack_text(document, &office->texts[i], flat, err);
    if (!status)
        status = unpack_language(office, flat, err);
    for (size_t i = 0; i < document->n; i++)
        if (!is_piece_sound(office, &document->pieces[i]))
            flat->is_broken = true;
    return status;
}
