#include "weights/pickle.h"

#include "base/size.h"
#include "base/vector.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The meanings of names. Storage types have their dtype. */
enum name_kind {
    ORDERED_DICT,
    SIZE,
    PARAMETER,
    REBUILD_TENSOR,
    REBUILD_PARAMETER,
    REBUILD_TYPE,
    STORAGE
};

static const struct {
    const char *module, *name;
    enum name_kind kind;
    enum mt_dtype dtype;
} names[] = {
    {"collections", "OrderedDict", ORDERED_DICT, 0},
    {"torch", "Size", SIZE, 0},
    {"torch.nn.parameter", "Parameter", PARAMETER, 0},
    {"torch._utils", "_rebuild_tensor_v2", REBUILD_TENSOR, 0},
    {"torch._utils", "_rebuild_parameter", REBUILD_PARAMETER, 0},
    {"torch._tensor", "_rebuild_from_type_v2", REBUILD_TYPE, 0},
    {"torch", "FloatStorage", STORAGE, MT_F32},
    {"torch", "HalfStorage", STORAGE, MT_F16},
    {"torch", "BFloat16Storage", STORAGE, MT_BF16},
    {"torch", "DoubleStorage", STORAGE, MT_F64},
    {"torch", "LongStorage", STORAGE, MT_I64},
    {"torch", "IntStorage", STORAGE, MT_I32},
    {"torch", "ShortStorage", STORAGE, MT_I16},
    {"torch", "CharStorage", STORAGE, MT_I8},
    {"torch", "ByteStorage", STORAGE, MT_U8},
    {"torch", "BoolStorage", STORAGE, MT_BOOL},
};

enum {
    MARK = '(',
    STOP = '.',
    BINFLOAT = 'G',
    BININT = 'J',
    BININT1 = 'K',
    BININT2 = 'M',
    NONE = 'N',
    BINPERSID = 'Q',
    REDUCE = 'R',
    SHORT_BINSTRING = 'U',
    BINUNICODE = 'X',
    APPEND = 'a',
    BUILD = 'b',
    GLOBAL = 'c',
    APPENDS = 'e',
    BINGET = 'h',
    LONG_BINGET = 'j',
    BINPUT = 'q',
    LONG_BINPUT = 'r',
    SETITEM = 's',
    TUPLE = 't',
    SETITEMS = 'u',
    EMPTY_DICT = '}',
    EMPTY_LIST = ']',
    EMPTY_TUPLE = ')',
    PROTO = 0x80,
    NEWOBJ = 0x81,
    TUPLE1 = 0x85,
    TUPLE2 = 0x86,
    TUPLE3 = 0x87,
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    LONG1 = 0x8a
};

/* Most bytes of "module\nname\n". */
#define MAX_NAME_BYTES 256

struct machine {
    const unsigned char *at, *end, *begin;
    const char *what;
    struct mt_arena *arena;
    struct mt_error *err;
    bool is_cut;                    /* there are more bytes than the limit */
    struct mt_pickle_value **stack; /* NULL for a mark */
    size_t n_stack, stack_capacity, n_values;
    struct mt_pickle_value **memo;
    size_t memo_capacity;
};

static enum mt_status fail(const struct machine *m, const char *why)
{
    return mt_fail(m->err, MT_FORMAT, "%s: pickle, byte %zu: %s", m->what,
                   (size_t)(m->at - m->begin), why);
}

/* --- The stack and its values --- */

static enum mt_status push(struct machine *m, struct mt_pickle_value *value)
{
    if (m->n_stack == MT_PICKLE_MAX_STACK)
        return mt_fail(m->err, MT_LIMIT, "%s: pickle: more than %d values on the stack", m->what,
                       MT_PICKLE_MAX_STACK);
    if (MT_ROOM(&m->stack, &m->stack_capacity, m->n_stack + 1, "pickle's stack", m->err))
        return MT_MEMORY;
    m->stack[m->n_stack++] = value;
    return MT_OK;
}

static enum mt_status make(struct machine *m, enum mt_pickle_kind kind,
                           struct mt_pickle_value **out)
{
    void *memory;
    if (m->n_values++ == MT_PICKLE_MAX_VALUES)
        return mt_fail(m->err, MT_LIMIT, "%s: pickle: more than %zu values", m->what,
                       MT_PICKLE_MAX_VALUES);
    enum mt_status status =
        mt_arena_take(m->arena, 1, sizeof **out, "pickled value", &memory, m->err);
    if (status)
        return status;
    *out = memory;
    (*out)->kind = kind;
    return MT_OK;
}

static enum mt_status push_new(struct machine *m, enum mt_pickle_kind kind,
                               struct mt_pickle_value **out)
{
    enum mt_status status = make(m, kind, out);
    return status ? status : push(m, *out);
}

static enum mt_status push_integer(struct machine *m, enum mt_pickle_kind kind, int64_t integer)
{
    struct mt_pickle_value *value = NULL;
    enum mt_status status = push_new(m, kind, &value);
    if (!status)
        value->integer = integer;
    return status;
}

/* Returns NULL if the stack has no such value, or there is a mark. */
static struct mt_pickle_value *top(const struct machine *m, size_t depth)
{
    return m->n_stack > depth ? m->stack[m->n_stack - 1 - depth] : NULL;
}

/* Removes the last mark and the values above it from the stack. *items borrows the values, which
 * stay where they are until the next push. */
static enum mt_status pop_to_mark(struct machine *m, struct mt_pickle_value ***items, size_t *n)
{
    size_t i = m->n_stack;
    while (i > 0 && m->stack[i - 1])
        i--;
    if (i == 0)
        return fail(m, "there is no mark on the stack");
    *items = m->stack + i;
    *n = m->n_stack - i;
    m->n_stack = i - 1;
    return MT_OK;
}

static enum mt_status extend(struct machine *m, struct mt_pickle_value *sequence,
                             struct mt_pickle_value **items, size_t n)
{
    size_t needed = sequence->sequence.n + n;
    if (needed > sequence->sequence.capacity) {
        size_t capacity = mt_size_max(needed, 2 * sequence->sequence.capacity);
        void *memory;
        enum mt_status status =
            mt_arena_take(m->arena, capacity, sizeof *items, "pickled values", &memory, m->err);
        if (status)
            return status;
        if (sequence->sequence.n)
            memcpy(memory, sequence->sequence.items, sequence->sequence.n * sizeof *items);
        sequence->sequence.items = memory;
        sequence->sequence.capacity = capacity;
    }
    if (n)
        memcpy(sequence->sequence.items + sequence->sequence.n, items, n * sizeof *items);
    sequence->sequence.n = needed;
    return MT_OK;
}

static enum mt_status make_tuple(struct machine *m, struct mt_pickle_value **items, size_t n)
{
    struct mt_pickle_value *tuple = NULL;
    enum mt_status status = make(m, MT_PICKLE_TUPLE, &tuple);
    if (!status)
        status = extend(m, tuple, items, n);
    return status ? status : push(m, tuple);
}

/* --- Arguments after an opcode --- */

static const unsigned char *take(struct machine *m, size_t n)
{
    if ((size_t)(m->end - m->at) < n)
        return NULL;
    m->at += n;
    return m->at - n;
}

/* Reads n bytes, little-endian; false at the end. */
static bool take_number(struct machine *m, size_t n, uint64_t *out)
{
    const unsigned char *bytes = take(m, n);
    *out = 0;
    for (size_t i = 0; bytes && i < n; i++)
        *out |= (uint64_t)bytes[i] << 8 * i;
    return bytes;
}

static enum mt_status fail_end(const struct machine *m)
{
    if (m->is_cut)
        return mt_fail(m->err, MT_LIMIT, "%s: a pickle of more than %zu bytes", m->what,
                       MT_PICKLE_MAX_BYTES);
    return fail(m, "it ends in the middle of a value");
}

static enum mt_status read_integer(struct machine *m, size_t n)
{
    uint64_t bits;
    if (!take_number(m, n, &bits))
        return fail_end(m);
    /* Only BININT has a sign. */
    return push_integer(m, MT_PICKLE_INTEGER, n == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits);
}

static enum mt_status read_long(struct machine *m)
{
    uint64_t n, bits;
    if (!take_number(m, 1, &n))
        return fail_end(m);
    if (n > 8)
        return mt_fail(m->err, MT_LIMIT,
                       "%s: pickle: an integer of %" PRIu64 " bytes, expected at most 8", m->what,
                       n);
    if (!take_number(m, (size_t)n, &bits))
        return fail_end(m);
    if (n > 0 && n < 8 && bits >> (8 * n - 1))
        bits |= UINT64_MAX << 8 * n;
    return push_integer(m, MT_PICKLE_INTEGER, (int64_t)bits);
}

static enum mt_status read_float(struct machine *m)
{
    const unsigned char *bytes = take(m, 8);
    struct mt_pickle_value *value = NULL;
    uint64_t bits = 0;
    if (!bytes)
        return fail_end(m);
    for (size_t i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i]; /* the one number that is big-endian */
    enum mt_status status = push_new(m, MT_PICKLE_FLOAT, &value);
    if (!status)
        memcpy(&value->number, &bits, sizeof bits);
    return status;
}

static enum mt_status read_string(struct machine *m, size_t length_bytes)
{
    uint64_t length;
    if (!take_number(m, length_bytes, &length))
        return fail_end(m);
    const unsigned char *bytes = take(m, (size_t)length);
    struct mt_pickle_value *value = NULL;
    if (!bytes)
        return fail_end(m);
    enum mt_status status = push_new(m, MT_PICKLE_STRING, &value);
    if (status)
        return status;
    value->string.length = (size_t)length;
    return mt_arena_copy_string(m->arena, (const char *)bytes, (size_t)length, &value->string.bytes,
                                m->err);
}

static const unsigned char *take_line(struct machine *m, size_t *length)
{
    size_t left = mt_size_min((size_t)(m->end - m->at), MAX_NAME_BYTES);
    const unsigned char *end = left ? memchr(m->at, '\n', left) : NULL;
    if (!end)
        return NULL;
    *length = (size_t)(end - m->at);
    return take(m, *length + 1);
}

static bool is_text(const unsigned char *bytes, size_t length, const char *text)
{
    return strlen(text) == length && !memcmp(bytes, text, length);
}

static enum mt_status read_name(struct machine *m)
{
    size_t n_module, n_name;
    const unsigned char *module = take_line(m, &n_module);
    const unsigned char *name = module ? take_line(m, &n_name) : NULL;
    if (!name)
        return fail(m, "a name is cut short, or longer than 256 bytes");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_text(module, n_module, names[i].module) && is_text(name, n_name, names[i].name))
            return push_integer(m, MT_PICKLE_NAME, (int64_t)i);
    char seen[2 * MAX_NAME_BYTES];
    size_t at = 0;
    for (size_t i = 0; i < n_module + 1 + n_name; i++) {
        unsigned char c = module[i];
        seen[at++] = c == '\n' ? '.' : c > 0x20 && c < 0x7f ? (char)c : '?';
    }
    return mt_fail(
        m->err, MT_UNSUPPORTED,
        "%s: the pickle wants to use \"%.*s\", which is not one of a checkpoint's names; "
        "nothing was executed",
        m->what, (int)at, seen);
}

/* --- The memo --- */

static enum mt_status remember(struct machine *m, size_t index_bytes)
{
    uint64_t index;
    struct mt_pickle_value *value = top(m, 0);
    if (!take_number(m, index_bytes, &index))
        return fail_end(m);
    if (!value)
        return fail(m, "nothing to remember");
    if (index >= MT_PICKLE_MAX_MEMO)
        return mt_fail(m->err, MT_LIMIT, "%s: pickle: memo %" PRIu64 ", expected less than %zu",
                       m->what, index, MT_PICKLE_MAX_MEMO);
    if (index >= m->memo_capacity) {
        size_t n = m->memo_capacity;
        if (MT_ROOM(&m->memo, &m->memo_capacity, (size_t)index + 1, "pickle's memo", m->err))
            return MT_MEMORY;
        memset(m->memo + n, 0, (m->memo_capacity - n) * sizeof *m->memo);
    }
    m->memo[index] = value;
    return MT_OK;
}

static enum mt_status recall(struct machine *m, size_t index_bytes)
{
    uint64_t index;
    if (!take_number(m, index_bytes, &index))
        return fail_end(m);
    if (index >= m->memo_capacity || !m->memo[index])
        return fail(m, "nothing was remembered under this number");
    return push(m, m->memo[index]);
}

/* --- What calls mean --- */

/* Returns item i of a tuple if it is of that kind, otherwise NULL. */
static const struct mt_pickle_value *item(const struct mt_pickle_value *tuple, size_t i,
                                          enum mt_pickle_kind kind)
{
    if (tuple->kind != MT_PICKLE_TUPLE || i >= tuple->sequence.n ||
        tuple->sequence.items[i]->kind != kind)
        return NULL;
    return tuple->sequence.items[i];
}

static bool is_name(const struct mt_pickle_value *value, enum name_kind kind)
{
    return value && value->kind == MT_PICKLE_NAME && names[value->integer].kind == kind;
}

/* Reads ('storage', type, key, location, number of elements[, None]). */
static enum mt_status read_storage(struct machine *m)
{
    const struct mt_pickle_value *id = top(m, 0);
    if (!id)
        return fail(m, "nothing names the storage");
    const struct mt_pickle_value *tag = item(id, 0, MT_PICKLE_STRING);
    const struct mt_pickle_value *type = item(id, 1, MT_PICKLE_NAME);
    const struct mt_pickle_value *key = item(id, 2, MT_PICKLE_STRING);
    const struct mt_pickle_value *n = item(id, 4, MT_PICKLE_INTEGER);
    bool is_view =
        id->kind == MT_PICKLE_TUPLE && id->sequence.n > 5 && !item(id, 5, MT_PICKLE_NONE);
    if (!tag || strcmp(tag->string.bytes, "storage") != 0 || !is_name(type, STORAGE) || !key ||
        !n || n->integer < 0 || is_view || strlen(key->string.bytes) != key->string.length)
        return fail(m, "expected ('storage', type, key, location, size) to name a storage");
    struct mt_pickle_value *value = NULL;
    enum mt_status status = make(m, MT_PICKLE_STORAGE, &value);
    if (status)
        return status;
    value->storage = (struct mt_pickle_storage){
        .key = key->string.bytes, .dtype = names[type->integer].dtype, .n_elements = n->integer};
    m->stack[m->n_stack - 1] = value;
    return MT_OK;
}

/* Whether the last element is in the storage: offset + sum of (size - 1) * stride. */
static bool fits(const struct mt_pickle_tensor *tensor)
{
    size_t last, n_elements = (size_t)tensor->storage->n_elements;
    if (tensor->offset < 0)
        return false;
    last = (size_t)tensor->offset;
    bool is_empty = false;
    for (size_t i = 0; i < tensor->rank; i++) {
        size_t step;
        if (tensor->shape[i] < 0 || tensor->strides[i] < 0)
            return false;
        is_empty = is_empty || tensor->shape[i] == 0;
        if (tensor->shape[i] > 0 &&
            (!mt_size_mul((size_t)tensor->shape[i] - 1, (size_t)tensor->strides[i], &step) ||
             !mt_size_add(last, step, &last)))
            return false;
    }
    return is_empty ? (size_t)tensor->offset <= n_elements : last < n_elements;
}

static bool copy_sizes(const struct mt_pickle_value *tuple, size_t rank, int64_t *out)
{
    if (!tuple || tuple->sequence.n != rank)
        return false;
    for (size_t i = 0; i < rank; i++) {
        const struct mt_pickle_value *size = item(tuple, i, MT_PICKLE_INTEGER);
        if (!size)
            return false;
        out[i] = size->integer;
    }
    return true;
}

/* Reads (storage, offset, shape, strides, requires_grad, hooks[, metadata]). */
static enum mt_status rebuild_tensor(struct machine *m, const struct mt_pickle_value *arguments,
                                     struct mt_pickle_value **out)
{
    const struct mt_pickle_value *storage = item(arguments, 0, MT_PICKLE_STORAGE);
    const struct mt_pickle_value *offset = item(arguments, 1, MT_PICKLE_INTEGER);
    const struct mt_pickle_value *shape = item(arguments, 2, MT_PICKLE_TUPLE);
    const struct mt_pickle_value *strides = item(arguments, 3, MT_PICKLE_TUPLE);
    if (!storage || !offset || !shape || !strides)
        return fail(m, "expected (storage, offset, shape, strides, ...) to make a tensor");
    struct mt_pickle_tensor tensor = {
        .storage = &storage->storage, .offset = offset->integer, .rank = shape->sequence.n};
    if (tensor.rank > MT_PICKLE_MAX_RANK)
        return mt_fail(m->err, MT_LIMIT, "%s: a tensor of %zu dimensions, expected at most %d",
                       m->what, tensor.rank, MT_PICKLE_MAX_RANK);
    if (!copy_sizes(shape, tensor.rank, tensor.shape) ||
        !copy_sizes(strides, tensor.rank, tensor.strides))
        return fail(m, "a tensor's shape and strides are not numbers, or not as many");
    if (!fits(&tensor))
        return fail(m, "a tensor reaches beyond its storage");
    enum mt_status status = make(m, MT_PICKLE_TENSOR, out);
    if (!status)
        (*out)->tensor = tensor;
    return status;
}

/* Computes name(*arguments). */
static enum mt_status call(struct machine *m, const struct mt_pickle_value *name,
                           struct mt_pickle_value *arguments, struct mt_pickle_value **out)
{
    if (!name || name->kind != MT_PICKLE_NAME || !arguments || arguments->kind != MT_PICKLE_TUPLE)
        return fail(m, "expected a name and a tuple of arguments to call it with");
    switch (names[name->integer].kind) {
    case ORDERED_DICT:
        if (arguments->sequence.n)
            return fail(m, "an OrderedDict is expected to begin empty");
        return make(m, MT_PICKLE_DICT, out);
    case REBUILD_TENSOR:
        return rebuild_tensor(m, arguments, out);
    case SIZE:
        if (!item(arguments, 0, MT_PICKLE_TUPLE))
            return fail(m, "a Size is expected to be made of a tuple");
        *out = arguments->sequence.items[0];
        return MT_OK;
    case PARAMETER:
    case REBUILD_PARAMETER:
        if (!item(arguments, 0, MT_PICKLE_TENSOR))
            return fail(m, "a Parameter is expected to be made of a tensor");
        *out = arguments->sequence.items[0];
        return MT_OK;
    case REBUILD_TYPE: /* (function, type, its arguments, state) */
        if (!is_name(item(arguments, 0, MT_PICKLE_NAME), REBUILD_TENSOR) ||
            !item(arguments, 2, MT_PICKLE_TUPLE))
            return fail(m, "expected a tensor to be made of this type");
        return rebuild_tensor(m, arguments->sequence.items[2], out);
    case STORAGE:
        break;
    }
    return fail(m, "a storage type cannot be called");
}

/* Replaces name and arguments on the stack by the result. */
static enum mt_status reduce(struct machine *m)
{
    struct mt_pickle_value *result = NULL;
    enum mt_status status = call(m, top(m, 1), top(m, 0), &result);
    if (status)
        return status;
    m->n_stack--;
    m->stack[m->n_stack - 1] = result;
    return MT_OK;
}

/* Replaces object and state by the object. A dict's attributes are versions of modules, a tensor's
 * are hooks, and both are ignored. */
static enum mt_status build(struct machine *m)
{
    const struct mt_pickle_value *object = top(m, 1);
    if (!top(m, 0) || !object ||
        (object->kind != MT_PICKLE_DICT && object->kind != MT_PICKLE_TENSOR))
        return fail(m, "only dicts and tensors are expected to have a state");
    m->n_stack--;
    return MT_OK;
}

/* --- Filling dicts and lists --- */

static enum mt_status fill(struct machine *m, enum mt_pickle_kind kind,
                           struct mt_pickle_value **items, size_t n)
{
    struct mt_pickle_value *sequence = top(m, 0);
    if (!sequence || sequence->kind != kind)
        return fail(m, kind == MT_PICKLE_DICT ? "expected a dict to put items into"
                                              : "expected a list to append to");
    if (kind == MT_PICKLE_DICT && n % 2)
        return fail(m, "a key without a value");
    return extend(m, sequence, items, n);
}

/* Puts the topmost n values into the one below them. */
static enum mt_status fill_few(struct machine *m, enum mt_pickle_kind kind, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!top(m, i))
            return fail(m, "the stack has too few values");
    m->n_stack -= n;
    return fill(m, kind, m->stack + m->n_stack, n);
}

static enum mt_status fill_many(struct machine *m, enum mt_pickle_kind kind)
{
    struct mt_pickle_value **items = NULL;
    size_t n = 0;
    enum mt_status status = pop_to_mark(m, &items, &n);
    return status ? status : fill(m, kind, items, n);
}

static enum mt_status tuple_of(struct machine *m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!top(m, i))
            return fail(m, "the stack has too few values");
    m->n_stack -= n;
    return make_tuple(m, m->stack + m->n_stack, n);
}

static enum mt_status tuple_to_mark(struct machine *m)
{
    struct mt_pickle_value **items = NULL;
    size_t n = 0;
    enum mt_status status = pop_to_mark(m, &items, &n);
    return status ? status : make_tuple(m, items, n);
}

static enum mt_status read_protocol(struct machine *m)
{
    uint64_t protocol;
    if (!take_number(m, 1, &protocol))
        return fail_end(m);
    if (protocol > 2)
        return mt_fail(m->err, MT_UNSUPPORTED, "%s: pickle protocol %" PRIu64 ", expected 2",
                       m->what, protocol);
    return MT_OK;
}

static enum mt_status execute(struct machine *m, unsigned char opcode)
{
    struct mt_pickle_value *ignored = NULL;
    switch (opcode) {
    case PROTO:
        return read_protocol(m);
    case MARK:
        return push(m, NULL);
    case NONE:
        return push_new(m, MT_PICKLE_NONE, &ignored);
    case NEWTRUE:
        return push_integer(m, MT_PICKLE_BOOL, 1);
    case NEWFALSE:
        return push_integer(m, MT_PICKLE_BOOL, 0);
    case BININT:
        return read_integer(m, 4);
    case BININT1:
        return read_integer(m, 1);
    case BININT2:
        return read_integer(m, 2);
    case LONG1:
        return read_long(m);
    case BINFLOAT:
        return read_float(m);
    case BINUNICODE:
        return read_string(m, 4);
    case SHORT_BINSTRING:
        return read_string(m, 1);
    case EMPTY_TUPLE:
        return make_tuple(m, NULL, 0);
    case TUPLE1:
        return tuple_of(m, 1);
    case TUPLE2:
        return tuple_of(m, 2);
    case TUPLE3:
        return tuple_of(m, 3);
    case TUPLE:
        return tuple_to_mark(m);
    case EMPTY_LIST:
        return push_new(m, MT_PICKLE_LIST, &ignored);
    case APPEND:
        return fill_few(m, MT_PICKLE_LIST, 1);
    case APPENDS:
        return fill_many(m, MT_PICKLE_LIST);
    case EMPTY_DICT:
        return push_new(m, MT_PICKLE_DICT, &ignored);
    case SETITEM:
        return fill_few(m, MT_PICKLE_DICT, 2);
    case SETITEMS:
        return fill_many(m, MT_PICKLE_DICT);
    case BINPUT:
        return remember(m, 1);
    case LONG_BINPUT:
        return remember(m, 4);
    case BINGET:
        return recall(m, 1);
    case LONG_BINGET:
        return recall(m, 4);
    case GLOBAL:
        return read_name(m);
    case BINPERSID:
        return read_storage(m);
    case NEWOBJ:
    case REDUCE:
        return reduce(m);
    case BUILD:
        return build(m);
    default:
        return mt_fail(m->err, MT_UNSUPPORTED,
                       "%s: pickle, byte %zu: opcode 0x%02x, which no checkpoint needs; nothing "
                       "was executed",
                       m->what, (size_t)(m->at - m->begin) - 1, opcode);
    }
}

static enum mt_status run(struct machine *m, struct mt_pickle_value **out)
{
    while (m->at < m->end) {
        unsigned char opcode = *m->at++;
        if (opcode == STOP) {
            if (m->n_stack != 1 || !m->stack[0])
                return fail(m, "it ends with another number of values than one");
            *out = m->stack[0];
            return MT_OK;
        }
        enum mt_status status = execute(m, opcode);
        if (status)
            return status;
    }
    return fail_end(m);
}

enum mt_status mt_pickle_read(const unsigned char *bytes, size_t length, const char *what,
                              struct mt_arena *arena, struct mt_pickle_value **out, size_t *n_read,
                              struct mt_error *err)
{
    struct machine m = {.at = bytes,
                        .begin = bytes,
                        .end = bytes + mt_size_min(length, MT_PICKLE_MAX_BYTES),
                        .what = what,
                        .arena = arena,
                        .err = err,
                        .is_cut = length > MT_PICKLE_MAX_BYTES};
    enum mt_status status = run(&m, out);
    *n_read = (size_t)(m.at - bytes);
    free(m.stack);
    free(m.memo);
    return status;
}

const char *mt_pickle_kind_name(enum mt_pickle_kind kind)
{
    static const char *const kinds[] = {
        [MT_PICKLE_NONE] = "None",       [MT_PICKLE_BOOL] = "a bool",
        [MT_PICKLE_INTEGER] = "an int",  [MT_PICKLE_FLOAT] = "a float",
        [MT_PICKLE_STRING] = "a string", [MT_PICKLE_TUPLE] = "a tuple",
        [MT_PICKLE_LIST] = "a list",     [MT_PICKLE_DICT] = "a dict",
        [MT_PICKLE_NAME] = "a name",     [MT_PICKLE_STORAGE] = "a storage",
        [MT_PICKLE_TENSOR] = "a tensor",
    };
    return kinds[kind];
}

const struct mt_pickle_value *mt_pickle_get(const struct mt_pickle_value *dict, const char *key)
{
    for (size_t i = 0; i + 1 < dict->sequence.n; i += 2) {
        const struct mt_pickle_value *k = dict->sequence.items[i];
        if (k->kind == MT_PICKLE_STRING && k->string.length == strlen(key) &&
            !memcmp(k->string.bytes, key, k->string.length))
            return dict->sequence.items[i + 1];
    }
    return NULL;
}
