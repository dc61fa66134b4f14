#include "server/documents/document_confined.h"

#include "base/confined.h"
#include "base/flat.h"
#include "server/documents/package.h"

#include <stdlib.h>
#include <string.h>

/* Memory beyond the daemon's own: parts of 32 MiB take at most 250 MiB, and their table comes on
 * top. */
#define MAX_MEMORY_BYTES ((size_t)512 << 20)
/* A document of 1,000 pages takes one second. */
#define MAX_SECONDS 10
#define MAX_ELAPSED_SECONDS 60
#define WHAT "the document"
/* Deepest nesting of texts. */
#define MAX_NESTED 64

/* ---- in the separate process ---- */

static void put_range(struct mt_text *out, struct mt_range range)
{
    mt_flat_put_number(out, range.begin);
    mt_flat_put_number(out, range.end);
}

static void put_string(struct mt_text *out, const char *string)
{
    const struct mt_text text = {.bytes = (char *)(size_t)string, .length = strlen(string)};
    mt_flat_put_text(out, &text);
}

void mt_document_put_table(const struct mt_document *document, struct mt_text *out)
{
    const struct mt_text bytes = {.bytes = document->bytes, .length = document->length};
    mt_flat_put_text(out, &bytes);
    mt_flat_put_number(out, document->n_parts);
    for (size_t i = 0; i < document->n_parts; i++) {
        mt_flat_put_number(out, document->parts[i].entry);
        put_string(out, document->parts[i].name);
        put_range(out, document->parts[i].range);
    }
    mt_flat_put_number(out, document->n);
    for (size_t i = 0; i < document->n; i++) {
        const struct mt_document_piece *piece = &document->pieces[i];
        put_range(out, piece->range);
        mt_flat_put_number(out, piece->first);
        mt_flat_put_number(out, piece->n);
        mt_flat_put_number(out, piece->line);
        put_string(out, piece->left ? piece->left : "");
        mt_flat_put_text(out, &piece->text);
    }
    mt_flat_put_number(out, document->n_edits);
    for (size_t i = 0; i < document->n_edits; i++) {
        put_range(out, document->edits[i].range);
        put_range(out, document->edits[i].scope);
        put_string(out, document->edits[i].text);
    }
    if (document->reader->pack)
        document->reader->pack(document->own, out);
}

struct reading {
    struct mt_document *document;
    const struct mt_document_options *options;
};

static enum mt_status read_package(void *context, struct mt_text *out, struct mt_error *err)
{
    const struct reading *reading = context;
    struct mt_document *document = reading->document;
    enum mt_status status = mt_document_read(document, reading->options, err);
    for (size_t i = 0; i < document->n && !status; i++)
        status = mt_text_check(&document->pieces[i].text, "a text of a file", err);
    if (!status)
        mt_document_put_table(document, out);
    return status;
}

struct work {
    mt_document_work *run;
    void *context;
};

static enum mt_status run_work(void *context, int fd, struct mt_error *err)
{
    const struct work *work = context;
    struct mt_text out = {0};
    enum mt_status status = work->run(work->context, &out, err);
    if (!status)
        status = mt_text_check(&out, WHAT, err);
    if (!status)
        status = mt_confined_write(fd, out.bytes, out.length, err);
    mt_text_finish(&out);
    return status;
}

static enum mt_status run_confined(mt_document_work *work, void *context, struct mt_mapping *out,
                                   struct mt_error *err)
{
    struct work run = {.run = work, .context = context};
    const struct mt_confined confined = {
        .work = run_work,
        .context = &run,
        .what = WHAT,
        .max_memory_bytes = MAX_MEMORY_BYTES,
        .max_seconds = MAX_SECONDS,
        .max_elapsed_seconds = MAX_ELAPSED_SECONDS,
    };
    return mt_confined_run(&confined, out, err);
}

/* ---- in this process ---- */

static struct mt_range take_range(struct mt_flat *flat, size_t least, size_t most)
{
    struct mt_range range = {.begin = mt_flat_number(flat, most)};
    range.end = mt_flat_number(flat, most);
    if (range.begin < least || range.end < range.begin)
        flat->is_broken = true;
    return range;
}

static enum mt_status take_parts(struct mt_document *document, struct mt_flat *flat,
                                 struct mt_error *err)
{
    size_t n = mt_flat_count(flat), at = 0;
    enum mt_status status = MT_OK;
    document->parts = calloc(n + 1, sizeof *document->parts);
    if (!document->parts)
        return mt_fail_memory(err, n * sizeof *document->parts, WHAT);
    for (size_t i = 0; i < n && !flat->is_broken && !status; i++) {
        struct mt_document_part *part = &document->parts[document->n_parts++];
        struct mt_text name = {0};
        part->entry = mt_flat_number(flat, MT_PACKAGE_MAX_ENTRIES - 1);
        mt_flat_text(flat, &name);
        part->range = take_range(flat, at, document->length);
        flat->is_broken = flat->is_broken || name.length >= sizeof part->name;
        status = mt_text_check(&name, WHAT, err);
        if (!status && !flat->is_broken)
            memcpy(part->name, name.bytes, name.length);
        at = part->range.end;
        mt_text_finish(&name);
    }
    return status;
}

/* Copies a reason, so that it lives as long as the document. Only the first of each kind is
 * stored. */
static const char *keep_reason(struct mt_document *document, struct mt_text *reason)
{
    struct mt_text *reasons = document->reasons;
    size_t i = 0;
    while (i < MT_DOCUMENT_REASONS && reasons[i].bytes &&
           strcmp(reasons[i].bytes, reason->bytes) != 0)
        i++;
    if (i == MT_DOCUMENT_REASONS)
        return "it cannot be written again";
    if (!reasons[i].bytes) {
        reasons[i] = *reason;
        *reason = (struct mt_text){0};
    }
    return reasons[i].bytes;
}

/* The ends of the pieces that the next one is within. */
struct nest {
    size_t ends[MAX_NESTED];
    size_t n;
};

/* Whether a piece is behind those before it, or within the last one of them. */
static bool fits(struct nest *nest, struct mt_range range)
{
    while (nest->n > 0 && nest->ends[nest->n - 1] <= range.begin)
        nest->n--;
    if (nest->n == MAX_NESTED || (nest->n > 0 && range.end > nest->ends[nest->n - 1]))
        return false;
    nest->ends[nest->n++] = range.end;
    return true;
}

static bool is_in_part(const struct mt_document *document, size_t *part, struct mt_range range)
{
    const struct mt_document_part *parts = document->parts;
    while (*part < document->n_parts && parts[*part].range.end <= range.begin)
        ++*part;
    return *part < document->n_parts && parts[*part].range.begin <= range.begin &&
           range.end <= parts[*part].range.end;
}

static enum mt_status take_piece(struct mt_document *document, struct mt_flat *flat,
                                 struct mt_error *err)
{
    struct mt_document_piece *piece;
    struct mt_text left = {0};
    size_t at = document->n > 0 ? document->pieces[document->n - 1].range.begin : 0;
    const struct mt_range range = take_range(flat, at, document->length);
    enum mt_status status = mt_document_add(document, range, &piece, err);
    if (status)
        return status;
    piece->first = mt_flat_number(flat, SIZE_MAX);
    piece->n = mt_flat_number(flat, SIZE_MAX);
    piece->line = mt_flat_number(flat, SIZE_MAX);
    mt_flat_text(flat, &left);
    mt_flat_text(flat, &piece->text);
    status = mt_text_check(&left, WHAT, err);
    if (!status)
        status = mt_text_check(&piece->text, WHAT, err);
    if (!status && left.length > 0)
        piece->left = keep_reason(document, &left);
    mt_text_finish(&left);
    return status;
}

static enum mt_status take_pieces(struct mt_document *document, struct mt_flat *flat,
                                  struct mt_error *err)
{
    struct nest nest = {.n = 0};
    size_t n = mt_flat_count(flat), part = 0;
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n && !status && !flat->is_broken; i++) {
        status = take_piece(document, flat, err);
        if (status)
            break;
        const struct mt_range range = document->pieces[i].range;
        if (!is_in_part(document, &part, range) || !fits(&nest, range))
            flat->is_broken = true;
    }
    return status;
}

static enum mt_status take_edits(struct mt_document *document, struct mt_flat *flat,
                                 struct mt_error *err)
{
    size_t n = mt_flat_count(flat), at = 0, part = 0;
    enum mt_status status = MT_OK;
    for (size_t i = 0; i < n && !status && !flat->is_broken; i++) {
        struct mt_text text = {0};
        const struct mt_range range = take_range(flat, at, document->length);
        const struct mt_range scope = take_range(flat, 0, document->length);
        mt_flat_text(flat, &text);
        at = range.end;
        if (text.length >= sizeof document->edits->text || !is_in_part(document, &part, range))
            flat->is_broken = true;
        status = mt_text_check(&text, WHAT, err);
        if (!status && !flat->is_broken)
            status = mt_document_add_edit_within(document, range, scope, text.bytes, err);
        mt_text_finish(&text);
    }
    return status;
}

enum mt_status mt_document_take_table(struct mt_document *document, const char *table,
                                      size_t length, struct mt_error *err)
{
    struct mt_flat flat = {.bytes = table, .length = length};
    struct mt_text bytes = {0};
    mt_flat_text(&flat, &bytes);
    document->package = document->bytes;
    document->package_length = document->length;
    document->bytes = NULL;
    document->length = document->begin = 0;
    enum mt_status status = mt_text_take(&bytes, WHAT, &document->bytes, &document->length, err);
    if (!status)
        status = take_parts(document, &flat, err);
    if (!status)
        status = take_pieces(document, &flat, err);
    if (!status)
        status = take_edits(document, &flat, err);
    if (!status && !flat.is_broken && document->reader->unpack)
        status = document->reader->unpack(document, &flat, err);
    return status ? status : mt_flat_end(&flat, WHAT, err);
}

enum mt_status mt_document_read_confined(struct mt_document *document,
                                         const struct mt_document_options *options,
                                         struct mt_error *err)
{
    struct reading reading = {.document = document, .options = options};
    struct mt_mapping table = {0};
    enum mt_status status = run_confined(read_package, &reading, &table, err);
    if (status)
        return status;
    status = mt_document_take_table(document, (const char *)table.bytes, table.length, err);
    mt_mapping_close(&table);
    return status;
}

enum mt_status mt_document_work_confined(mt_document_work *work, void *context, struct mt_text *out,
                                         struct mt_error *err)
{
    struct mt_mapping written = {0};
    enum mt_status status = run_confined(work, context, &written, err);
    if (status)
        return status;
    mt_text_append(out, (const char *)written.bytes, written.length);
    mt_mapping_close(&written);
    return mt_text_check(out, "a translated file", err);
}
