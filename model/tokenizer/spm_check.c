#include "model/tokenizer/spm_check.h"

#include "base/text.h"
#include "base/vector.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Protocol buffers' wire format: a message is a sequence of (number, wire type, value). --- */

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct message {
    const char *bytes;
    size_t length, at;
    const char *what;
    struct mt_error *err;
};

struct field {
    uint64_t number;
    uint64_t wire;
    uint64_t value;    /* of a varint or a fixed one */
    const char *bytes; /* of WIRE_BYTES */
    size_t length;
    size_t at; /* position in the enclosing message */
};

static enum mt_status fail_at(const struct message *message, size_t at, const char *problem)
{
    return mt_fail(message->err, MT_FORMAT, "%s: %s at byte %zu of %zu", message->what, problem, at,
                   message->length);
}

static enum mt_status read_varint(struct message *message, uint64_t *out)
{
    uint64_t value = 0;
    size_t start = message->at;
    for (unsigned shift = 0; shift < 64 && message->at < message->length; shift += 7) {
        unsigned char byte = (unsigned char)message->bytes[message->at++];
        if (shift == 63 && byte > 1)
            break; /* more than 64 bits */
        value |= (uint64_t)(byte & 0x7Fu) << shift;
        if (byte < 0x80) {
            *out = value;
            return MT_OK;
        }
    }
    return fail_at(message, start, "expected a whole number of at most 10 bytes");
}

static enum mt_status read_fixed(struct message *message, size_t n, uint64_t *out)
{
    if (message->length - message->at < n)
        return fail_at(message, message->at, "the file ends inside a number");
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out |= (uint64_t)(unsigned char)message->bytes[message->at + i] << (8 * i);
    message->at += n;
    return MT_OK;
}

static enum mt_status read_bytes(struct message *message, struct field *field)
{
    enum mt_status status = read_varint(message, &field->value);
    if (status)
        return status;
    if (field->value > message->length - message->at)
        return fail_at(message, field->at, "a field is longer than what follows");
    field->bytes = message->bytes + message->at;
    field->length = (size_t)field->value;
    message->at += field->length;
    return MT_OK;
}

/* Reads the next field; the caller has checked that there is one. */
static enum mt_status next_field(struct message *message, struct field *field)
{
    *field = (struct field){.at = message->at};
    uint64_t key = 0;
    enum mt_status status = read_varint(message, &key);
    if (status)
        return status;
    field->wire = key & 7;
    field->number = key >> 3;
    if (field->number == 0 || field->number > 0x1FFFFFFF)
        return fail_at(message, field->at, "expected a field number from 1 to 536870911");
    switch (field->wire) {
    case WIRE_VARINT:
        return read_varint(message, &field->value);
    case WIRE_FIXED64:
        return read_fixed(message, 8, &field->value);
    case WIRE_FIXED32:
        return read_fixed(message, 4, &field->value);
    case WIRE_BYTES:
        return read_bytes(message, field);
    default:
        return fail_at(message, field->at, "expected wire type 0, 1, 2 or 5");
    }
}

/* Protobuf would skip a known field of the wrong wire type, but no program writes one, so it is
 * refused. */
static enum mt_status expect_wire(const struct message *message, const struct field *field,
                                  enum wire wire, const char *name)
{
    if (field->wire == wire)
        return MT_OK;
    return mt_fail(message->err, MT_FORMAT,
                   "%s: %s has wire type %" PRIu64 ", expected %d, at byte %zu", message->what,
                   name, field->wire, (int)wire, field->at);
}

/* --- ModelProto --- */

enum piece_type { TYPE_NORMAL = 1, TYPE_USER_DEFINED = 4, TYPE_LAST = 6 };

struct user_defined {
    const char *bytes;
    size_t length;
};

struct check {
    struct mt_spm_info info;
    const char *what;
    struct mt_error *err;
    struct user_defined *user_defined;
    size_t n_user_defined, capacity;
    bool seen[6]; /* by field number: whether a message that may occur once has occurred */
};

static struct message enter(const struct check *check, const struct field *field)
{
    return (struct message){
        .bytes = field->bytes, .length = field->length, .what = check->what, .err = check->err};
}

static enum mt_status check_string(const struct check *check, const struct field *field,
                                   const char *name)
{
    if (memchr(field->bytes, '\0', field->length) ||
        mt_utf8_valid_prefix(field->bytes, field->length) < field->length)
        return mt_fail(check->err, MT_FORMAT, "%s: %s is not UTF-8 without NUL", check->what, name);
    if (field->length > MT_SPM_MAX_PIECE_BYTES)
        return mt_fail(check->err, MT_LIMIT, "%s: %s has %zu bytes, expected at most %d",
                       check->what, name, field->length, MT_SPM_MAX_PIECE_BYTES);
    return MT_OK;
}

static enum mt_status check_score(const struct check *check, const struct field *field)
{
    uint32_t bits = (uint32_t)field->value;
    float score;
    memcpy(&score, &bits, sizeof score);
    if (isfinite(score))
        return MT_OK;
    return mt_fail(check->err, MT_FORMAT, "%s: piece %zu has score %g, expected a finite number",
                   check->what, check->info.n_pieces, (double)score);
}

static enum mt_status keep_user_defined(struct check *check, const struct user_defined *piece)
{
    if (check->n_user_defined == MT_SPM_MAX_USER_DEFINED)
        return mt_fail(check->err, MT_LIMIT, "%s: more than %d user-defined pieces", check->what,
                       MT_SPM_MAX_USER_DEFINED);
    if (MT_ROOM(&check->user_defined, &check->capacity, check->n_user_defined + 1, check->what,
                check->err))
        return MT_MEMORY;
    check->user_defined[check->n_user_defined++] = *piece;
    return MT_OK;
}

static enum mt_status check_piece_field(struct check *check, const struct message *message,
                                        const struct field *field, struct user_defined *text,
                                        uint64_t *type)
{
    enum mt_status status = MT_OK;
    switch (field->number) {
    case 1:
        if ((status = expect_wire(message, field, WIRE_BYTES, "a piece's text")))
            return status;
        *text = (struct user_defined){field->bytes, field->length};
        return check_string(check, field, "a piece");
    case 2:
        if ((status = expect_wire(message, field, WIRE_FIXED32, "a piece's score")))
            return status;
        return check_score(check, field);
    case 3:
        *type = field->value;
        return expect_wire(message, field, WIRE_VARINT, "a piece's type");
    default:
        return MT_OK;
    }
}

static enum mt_status check_piece(struct check *check, const struct field *field)
{
    struct message message = enter(check, field);
    struct user_defined text = {0};
    uint64_t type = TYPE_NORMAL;
    enum mt_status status = MT_OK;
    while (!status && message.at < message.length) {
        struct field inner;
        status = next_field(&message, &inner);
        if (!status)
            status = check_piece_field(check, &message, &inner, &text, &type);
    }
    if (status)
        return status;
    if (text.length == 0)
        return mt_fail(check->err, MT_FORMAT, "%s: piece %zu has no text", check->what,
                       check->info.n_pieces);
    if (type < TYPE_NORMAL || type > TYPE_LAST)
        return mt_fail(check->err, MT_FORMAT,
                       "%s: piece %zu has type %" PRIu64 ", expected 1 to %d", check->what,
                       check->info.n_pieces, type, TYPE_LAST);
    if (++check->info.n_pieces > MT_SPM_MAX_PIECES)
        return mt_fail(check->err, MT_LIMIT, "%s: more than %zu pieces", check->what,
                       MT_SPM_MAX_PIECES);
    return type == TYPE_USER_DEFINED ? keep_user_defined(check, &text) : MT_OK;
}

static enum mt_status check_trainer(struct check *check, const struct field *field)
{
    struct message message = enter(check, field);
    enum mt_status status = MT_OK;
    while (!status && message.at < message.length) {
        struct field inner;
        status = next_field(&message, &inner);
        if (status)
            break;
        if (inner.number == 3) {
            check->info.model_type = inner.value;
            status = expect_wire(&message, &inner, WIRE_VARINT, "model_type");
        } else if (inner.number == 44) { /* the text that decoding writes for <unk> */
            status = expect_wire(&message, &inner, WIRE_BYTES, "unk_surface");
            if (!status)
                status = check_string(check, &inner, "unk_surface");
        }
    }
    if (!status && (check->info.model_type < 1 || check->info.model_type > 4))
        return mt_fail(check->err, MT_UNSUPPORTED,
                       "%s: model_type %" PRIu64 ", expected 1 (unigram), 2 (bpe), 3 (word) or 4 "
                       "(char)",
                       check->what, check->info.model_type);
    return status;
}

static enum mt_status check_normalizer(struct check *check, const struct field *field,
                                       bool is_denormalizer)
{
    struct message message = enter(check, field);
    bool seen = false;
    enum mt_status status = MT_OK;
    while (!status && message.at < message.length) {
        struct field inner;
        status = next_field(&message, &inner);
        if (status || inner.number != 2)
            continue;
        status = expect_wire(&message, &inner, WIRE_BYTES, "precompiled_charsmap");
        if (status)
            break;
        if (is_denormalizer && inner.length)
            return mt_fail(check->err, MT_UNSUPPORTED,
                           "%s: denormalizer_spec has a charsmap of %zu bytes, expected none",
                           check->what, inner.length);
        if (seen)
            return mt_fail(check->err, MT_FORMAT, "%s: precompiled_charsmap occurs twice",
                           check->what);
        seen = true;
        if (is_denormalizer || inner.length == 0)
            continue;
        status = mt_charsmap_init(&check->info.charsmap, inner.bytes, inner.length, check->what,
                                  check->err);
    }
    return status;
}

static enum mt_status check_self_test(const struct check *check, const struct field *field)
{
    if (field->length <= MT_SPM_MAX_SELF_TEST_BYTES)
        return MT_OK;
    return mt_fail(check->err, MT_LIMIT, "%s: self_test_data has %zu bytes, expected at most %d",
                   check->what, field->length, MT_SPM_MAX_SELF_TEST_BYTES);
}

/* A message that occurs twice is refused, because protobuf would merge both, and the merged message
 * would not have been checked. No program writes that. */
static enum mt_status check_field(struct check *check, const struct message *message,
                                  const struct field *field)
{
    static const char *const names[] = {
        NULL, "pieces", "trainer_spec", "normalizer_spec", "self_test_data", "denormalizer_spec"};
    if (field->number >= sizeof names / sizeof *names)
        return MT_OK;
    enum mt_status status = expect_wire(message, field, WIRE_BYTES, names[field->number]);
    if (status)
        return status;
    if (field->number == 1)
        return check_piece(check, field);
    if (check->seen[field->number])
        return mt_fail(check->err, MT_FORMAT, "%s: %s occurs twice", check->what,
                       names[field->number]);
    check->seen[field->number] = true;
    if (field->number == 2)
        return check_trainer(check, field);
    if (field->number == 4)
        return check_self_test(check, field);
    return check_normalizer(check, field, field->number == 5);
}

static int compare_user_defined(const void *a, const void *b)
{
    const struct user_defined *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->bytes, y->bytes, shorter);
    if (order)
        return order;
    return (x->length > y->length) - (x->length < y->length);
}

static bool is_prefix(const struct user_defined *prefix, const struct user_defined *of)
{
    return prefix->length <= of->length && memcmp(prefix->bytes, of->bytes, prefix->length) == 0;
}

/* Checks how many user-defined pieces are prefixes of one another. In sorted order the prefixes of
 * a piece come before it, so a stack holds those of the current one. */
static enum mt_status check_nested_user_defined(const struct check *check)
{
    const struct user_defined *open[MT_SPM_MAX_NESTED_USER_DEFINED];
    size_t n_open = 0;
    if (check->n_user_defined)
        qsort(check->user_defined, check->n_user_defined, sizeof *check->user_defined,
              compare_user_defined);
    for (size_t i = 0; i < check->n_user_defined; i++) {
        const struct user_defined *piece = &check->user_defined[i];
        while (n_open && !is_prefix(open[n_open - 1], piece))
            n_open--;
        if (n_open == MT_SPM_MAX_NESTED_USER_DEFINED)
            return mt_fail(check->err, MT_FORMAT,
                           "%s: more than %d user-defined pieces are prefixes of one another",
                           check->what, MT_SPM_MAX_NESTED_USER_DEFINED);
        open[n_open++] = piece;
    }
    return MT_OK;
}

enum mt_status mt_spm_check(const char *bytes, size_t length, const char *what,
                            struct mt_spm_info *out, struct mt_error *err)
{
    if (length > MT_SPM_MAX_FILE_BYTES)
        return mt_fail(err, MT_LIMIT, "%s: %zu bytes, expected at most %zu", what, length,
                       MT_SPM_MAX_FILE_BYTES);
    struct check check = {.what = what, .err = err, .info.model_type = 1};
    struct message message = {.bytes = bytes, .length = length, .what = what, .err = err};
    enum mt_status status = MT_OK;
    while (!status && message.at < message.length) {
        struct field field;
        status = next_field(&message, &field);
        if (!status)
            status = check_field(&check, &message, &field);
    }
    if (!status && check.info.n_pieces == 0)
        status = mt_fail(err, MT_FORMAT, "%s: no pieces in %zu bytes", what, length);
    if (!status)
        status = check_nested_user_defined(&check);
    /* Without this libsentencepiece would accept a truncated file. */
    if (!status && !check.seen[3])
        status = mt_fail(err, MT_FORMAT, "%s: no normalizer_spec behind %zu pieces: cut short?",
                         what, check.info.n_pieces);
    free(check.user_defined);
    if (!status)
        *out = check.info;
    return status;
}

/* If the field occurs several times, then the last one counts. */
static enum mt_status find_piece(struct message *piece, struct field *found)
{
    enum mt_status status = MT_OK;
    while (!status && piece->at < piece->length) {
        struct field field;
        status = next_field(piece, &field);
        if (!status && field.number == 1)
            *found = field;
    }
    return status;
}

enum mt_status mt_spm_list_pieces(const char *bytes, size_t length, const char *what,
                                  mt_spm_emit_piece *emit, void *context, struct mt_error *err)
{
    struct message message = {.bytes = bytes, .length = length, .what = what, .err = err};
    enum mt_status status = MT_OK;
    while (!status && message.at < message.length) {
        struct field field, found = {0};
        status = next_field(&message, &field);
        if (status || field.number != 1)
            continue;
        struct message piece = {
            .bytes = field.bytes, .length = field.length, .what = what, .err = err};
        status = find_piece(&piece, &found);
        if (!status)
            status = emit(context, found.bytes, found.length, err);
    }
    return status;
}
