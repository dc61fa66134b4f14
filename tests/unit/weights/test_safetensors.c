#include "weights/safetensors.h"

#include "base/text.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct image {
    unsigned char *bytes;
    size_t length;
};

/* The length, the header, and a buffer of which byte i is i. In memory of exactly that size, so
 * that the address sanitizer sees a read behind the end. */
static struct image make_image(const char *header, size_t header_bytes, size_t buffer_bytes)
{
    struct image image = {.length = 8 + header_bytes + buffer_bytes};
    image.bytes = malloc(image.length);
    ck_assert_ptr_nonnull(image.bytes);
    for (int i = 0; i < 8; i++)
        image.bytes[i] = (unsigned char)(header_bytes >> 8 * i);
    memcpy(image.bytes + 8, header, header_bytes);
    for (size_t i = 0; i < buffer_bytes; i++)
        image.bytes[8 + header_bytes + i] = (unsigned char)i;
    return image;
}

static enum mt_status open_image(struct image image, struct mt_safetensors **out,
                                 struct mt_error *err)
{
    return mt_safetensors_open_memory(image.bytes, image.length, "m.safetensors", out, err);
}

static struct mt_safetensors *must_open(struct image image)
{
    struct mt_safetensors *file;
    struct mt_error err;
    ck_assert_msg(open_image(image, &file, &err) == MT_OK, "%s", err.message);
    return file;
}

static enum mt_status try_header(const char *header, size_t header_bytes, size_t buffer_bytes,
                                 struct mt_error *err)
{
    struct mt_safetensors *file = NULL;
    struct image image = make_image(header, header_bytes, buffer_bytes);
    enum mt_status status = open_image(image, &file, err);
    ck_assert((status == MT_OK) == (file != NULL));
    mt_safetensors_close(file);
    free(image.bytes);
    return status;
}

/* Three tensors, in another order than their data, and metadata. */
static const char good_header[] =
    "{\"b\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[16,28]},"
    "\"__metadata__\":{\"format\":\"pt\",\"k\\u00e4y\":\"v\\n\"},"
    "\"a\":{\"data_offsets\":[0,16],\"dtype\":\"F32\",\"x\":[{\"y\":-1.5e3}],\"shape\":[4]},"
    "\"c \\\"\\u00e4\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[28,36]}}";
#define GOOD_BUFFER_BYTES 36

static struct image good_image(void)
{
    return make_image(good_header, strlen(good_header), GOOD_BUFFER_BYTES);
}

START_TEST(tensors_are_views_into_the_bytes)
{
    struct image image = good_image();
    struct mt_safetensors *file = must_open(image);
    const unsigned char *buffer = image.bytes + image.length - GOOD_BUFFER_BYTES;
    ck_assert_uint_eq(mt_safetensors_count(file), 3);
    ck_assert_uint_eq(mt_safetensors_bytes(file), image.length);
    ck_assert_str_eq(mt_safetensors_path(file), "m.safetensors");

    const struct mt_tensor *a = mt_safetensors_find(file, "a");
    const struct mt_tensor *b = mt_safetensors_find(file, "b");
    const struct mt_tensor *c = mt_safetensors_find(file, "c \"\xC3\xA4");
    ck_assert(a && b && c);
    ck_assert_ptr_eq(a, mt_safetensors_at(file, 0));
    ck_assert_ptr_eq(b, mt_safetensors_at(file, 1));
    ck_assert_ptr_eq(c, mt_safetensors_at(file, 2));
    ck_assert_str_eq(c->name, "c \"\xC3\xA4");
    ck_assert(a->dtype == MT_F32 && a->rank == 1 && a->shape[0] == 4 && a->n_elements == 4);
    ck_assert(a->data == buffer && a->n_bytes == 16);
    ck_assert(b->dtype == MT_F16 && b->rank == 2 && b->shape[0] == 2 && b->shape[1] == 3);
    ck_assert(b->data == buffer + 16 && b->n_bytes == 12 && b->n_elements == 6);
    ck_assert(c->dtype == MT_I64 && c->rank == 0 && c->n_elements == 1);
    ck_assert(c->data == buffer + 28 && c->n_bytes == 8);
    mt_safetensors_close(file);
    free(image.bytes);
}
END_TEST

START_TEST(what_is_absent_is_null)
{
    struct image image = good_image();
    struct mt_safetensors *file = must_open(image);
    ck_assert_ptr_null(mt_safetensors_at(file, 3));
    ck_assert_ptr_null(mt_safetensors_find(file, ""));
    ck_assert_ptr_null(mt_safetensors_find(file, "aa"));
    ck_assert_ptr_null(mt_safetensors_find(file, "__metadata__"));
    ck_assert_str_eq(mt_safetensors_metadata(file, "format"), "pt");
    ck_assert_str_eq(mt_safetensors_metadata(file, "k\xC3\xA4y"), "v\n");
    ck_assert_ptr_null(mt_safetensors_metadata(file, "a"));
    mt_safetensors_close(file);
    mt_safetensors_close(NULL);
    free(image.bytes);
}
END_TEST

/* Headers that are unusual and allowed. */
static const struct {
    const char *header;
    size_t buffer_bytes, n_tensors;
} allowed[] = {
    {"{}", 0, 0},
    {"{}      ", 0, 0},
    {" \n\t\r{}\r\n\t ", 0, 0},
    {"{\"__metadata__\":{}}", 0, 0},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, 1},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0, 1},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2,0,3],\"data_offsets\":[0,0]}}", 0, 1},
    {"{\"\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, 1},
    {"{\"a\":{\"dtype\":\"BOOL\",\"shape\":[1,1,1,1,1,1,1,3],\"data_offsets\":[0,3]}}", 3, 1},
    {"{\"a\":{\"\\u0064type\":\"F\\u0033\\u0032\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, 1},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"extra\":{\"dtype\":1}}}", 1,
     1},
    /* empty tensors between, before and behind others */
    {"{\"z\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[2,2]},"
     "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
     "\"y\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
     "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]},"
     "\"x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[3,3]}}",
     3, 5},
};

START_TEST(unusual_but_allowed_headers_open)
{
    struct image image =
        make_image(allowed[_i].header, strlen(allowed[_i].header), allowed[_i].buffer_bytes);
    struct mt_safetensors *file = must_open(image);
    ck_assert_uint_eq(mt_safetensors_count(file), allowed[_i].n_tensors);
    mt_safetensors_close(file);
    free(image.bytes);
}
END_TEST

#define A_IS(rest) "{\"a\":{" rest "}}"
#define A_AND(dtype, shape, offsets) \
    A_IS("\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets)
#define U8(name, n, begin, end) \
    "\"" name "\":{\"dtype\":\"U8\",\"shape\":[" n "],\"data_offsets\":[" begin "," end "]}"

static const struct {
    const char *header;
    size_t buffer_bytes;
    enum mt_status status;
    const char *message; /* behind "m.safetensors: " */
} broken[] = {
    /* not JSON, or not an object */
    {"", 0, MT_FORMAT, "header: line 1, column 1: expected a value, found the end of the text"},
    {"{", 0, MT_FORMAT,
     "header: line 1, column 2: expected a key in double quotes, found the end of the text"},
    {"{}x", 0, MT_FORMAT, "header: line 1, column 3: expected the end of the text, found 'x'"},
    {"{\"\xFF\"", 0, MT_FORMAT, "header: line 1, column 3: expected UTF-8, found byte 0xff"},
    {"[]", 0, MT_FORMAT, "header: expected an object, found '['"},
    {"\"a\"", 0, MT_FORMAT, "header: expected an object, found '\"'"},
    /* names */
    {"{" U8("a", "1", "0", "1") "," U8("a", "1", "1", "2") "}", 2, MT_FORMAT,
     "header: line 1, column 54: key \"a\" appears twice"},
    {"{" U8("a", "1", "0", "1") "," U8("\\u0061", "1", "1", "2") "}", 2, MT_FORMAT,
     "header: line 1, column 54: key \"\\u0061\" appears twice"},
    {"{" U8("a\\nb", "1", "0", "1") "}", 1, MT_FORMAT,
     "tensor name with control character 0x0a: a..."},
    {"{" U8("a\\u0000", "1", "0", "1") "}", 1, MT_FORMAT,
     "header: line 1, column 4: \\u0000 is not allowed in strings"},
    /* fields */
    {"{\"a\":1}", 0, MT_FORMAT, "tensor \"a\": entry: expected an object, found 1"},
    {"{\"a\":null}", 0, MT_FORMAT, "tensor \"a\": entry: expected an object, found null"},
    {A_IS(""), 0, MT_FORMAT, "tensor \"a\": dtype is missing"},
    {A_IS("\"dtype\":\"U8\",\"data_offsets\":[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": shape is missing"},
    {A_IS("\"dtype\":\"U8\",\"shape\":[1]"), 1, MT_FORMAT, "tensor \"a\": data_offsets is missing"},
    {A_IS("\"dtype\":\"U8\",\"dtype\":\"U8\""), 1, MT_FORMAT,
     "header: line 1, column 20: key \"dtype\" appears twice"},
    {A_IS("\"Dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": dtype is missing"},
    /* dtypes */
    {A_AND("8", "[1]", "[0,1]"), 1, MT_FORMAT, "tensor \"a\": dtype: expected a string, found 8"},
    {A_AND("\"F8_E4M3\"", "[1]", "[0,1]"), 1, MT_UNSUPPORTED,
     "tensor \"a\": dtype F8_E4M3 is not implemented"},
    {A_AND("\"F4\"", "[1]", "[0,1]"), 1, MT_UNSUPPORTED,
     "tensor \"a\": dtype F4 is not implemented"},
    {A_AND("\"F6_E2M3\"", "[4]", "[0,3]"), 3, MT_UNSUPPORTED,
     "tensor \"a\": dtype F6_E2M3 is not implemented"},
    {A_AND("\"C64\"", "[1]", "[0,8]"), 8, MT_UNSUPPORTED,
     "tensor \"a\": dtype C64 is not implemented"},
    {A_AND("\"f32\"", "[1]", "[0,4]"), 4, MT_UNSUPPORTED, "tensor \"a\": unknown dtype \"f32\""},
    {A_AND("\"\"", "[1]", "[0,4]"), 4, MT_UNSUPPORTED, "tensor \"a\": unknown dtype \"\""},
    /* shapes */
    {A_AND("\"U8\"", "1", "[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": shape: expected an array of integers, found 1"},
    {A_AND("\"U8\"", "[-1]", "[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": shape: expected an integer from 0 to 2^64 - 1, found -1"},
    {A_AND("\"U8\"", "[1.0]", "[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": shape: expected an integer from 0 to 2^64 - 1, found 1.0"},
    {A_AND("\"U8\"", "[1e0]", "[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": shape: expected an integer from 0 to 2^64 - 1, found 1e0"},
    {A_AND("\"U8\"", "[\"1\"]", "[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": shape: expected an integer from 0 to 2^64 - 1, found \"1\""},
    {A_AND("\"U8\"", "[[1]]", "[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": shape: expected an integer from 0 to 2^64 - 1, found [1]"},
    {A_AND("\"U8\"", "[18446744073709551616]", "[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": shape: expected an integer from 0 to 2^64 - 1, found 18446744073709551616"},
    {A_AND("\"U8\"", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, MT_LIMIT,
     "tensor \"a\": more than 8 dimensions"},
    {A_AND("\"U8\"", "[2,18446744073709551614]", "[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": the number of elements overflows"},
    {A_AND("\"F32\"", "[2,9223372036854775807]", "[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": 18446744073709551614 elements of F32 overflow"},
    {A_AND("\"U8\"", "[9223372036854775808,9223372036854775808,0]", "[0,0]"), 0, MT_FORMAT,
     "tensor \"a\": the number of elements overflows"},
    /* offsets */
    {A_AND("\"U8\"", "[1]", "{}"), 1, MT_FORMAT,
     "tensor \"a\": data_offsets: expected [begin, end], found {}"},
    {A_AND("\"U8\"", "[1]", "[]"), 1, MT_FORMAT,
     "tensor \"a\": data_offsets: expected [begin, end], found []"},
    {A_AND("\"U8\"", "[1]", "[0]"), 1, MT_FORMAT,
     "tensor \"a\": data_offsets: expected [begin, end], found [0]"},
    {A_AND("\"U8\"", "[1]", "[0,1,2]"), 1, MT_FORMAT,
     "tensor \"a\": data_offsets: expected [begin, end], found [0,1,2]"},
    {A_AND("\"U8\"", "[1]", "[0,-1]"), 1, MT_FORMAT,
     "tensor \"a\": data_offsets: expected an integer from 0 to 2^64 - 1, found -1"},
    {A_AND("\"U8\"", "[1]", "[0,1.5]"), 1, MT_FORMAT,
     "tensor \"a\": data_offsets: expected an integer from 0 to 2^64 - 1, found 1.5"},
    {A_AND("\"U8\"", "[0]", "[2,1]"), 2, MT_FORMAT,
     "tensor \"a\": data begin at 2, behind their end at 1"},
    {A_AND("\"U8\"", "[2]", "[0,2]"), 1, MT_FORMAT,
     "tensor \"a\": data end at 2, but the file has 1 bytes behind its header: it is cut short"},
    {A_AND("\"U8\"", "[1]", "[18446744073709551614,18446744073709551615]"), 1, MT_FORMAT,
     "tensor \"a\": data end at 18446744073709551615, but the file has 1 bytes behind its header: "
     "it is cut short"},
    /* 2^53 + 1: a double would see 2^53 */
    {A_AND("\"U8\"", "[1]", "[9007199254740992,9007199254740993]"), 1, MT_FORMAT,
     "tensor \"a\": data end at 9007199254740993, but the file has 1 bytes behind its header: it "
     "is cut short"},
    {A_AND("\"F32\"", "[2]", "[0,4]"), 4, MT_FORMAT,
     "tensor \"a\": 2 elements of F32 take 8 bytes, found 4"},
    {A_AND("\"U8\"", "[1]", "[0,4]"), 4, MT_FORMAT,
     "tensor \"a\": 1 elements of U8 take 1 bytes, found 4"},
    {A_AND("\"U8\"", "[0]", "[0,1]"), 1, MT_FORMAT,
     "tensor \"a\": 0 elements of U8 take 0 bytes, found 1"},
    /* all tensors together */
    {A_AND("\"U8\"", "[1]", "[1,2]"), 2, MT_FORMAT,
     "tensor \"a\" begins at 1, expected 0: there is a hole behind the header"},
    {"{" U8("a", "1", "0", "1") "," U8("b", "1", "2", "3") "}", 3, MT_FORMAT,
     "tensor \"b\" begins at 2, expected 1: there is a hole behind \"a\""},
    {"{" U8("b", "2", "1", "3") "," U8("a", "2", "0", "2") "}", 3, MT_FORMAT,
     "tensor \"b\" begins at 1, expected 2: it overlaps \"a\""},
    {"{" U8("a", "2", "0", "2") "," U8("b", "2", "0", "2") "}", 2, MT_FORMAT,
     "tensor \"b\" begins at 0, expected 2: it overlaps \"a\""},
    {"{" U8("a", "3", "0", "3") "," U8("b", "0", "1", "1") "}", 3, MT_FORMAT,
     "tensor \"b\" begins at 1, expected 3: it overlaps \"a\""},
    {"{" U8("a", "1", "0", "1") "}", 2, MT_FORMAT, "2 bytes behind the header, expected 1"},
    {"{}", 1, MT_FORMAT, "1 bytes behind the header, expected 0"},
    /* metadata */
    {"{\"__metadata__\":1}", 0, MT_FORMAT, "__metadata__: expected an object of strings"},
    {"{\"__metadata__\":null}", 0, MT_FORMAT, "__metadata__: expected an object of strings"},
    {"{\"__metadata__\":{\"k\":1}}", 0, MT_FORMAT,
     "__metadata__: \"k\": expected a string, found 1"},
    {"{\"__metadata__\":{\"k\":{}}}", 0, MT_FORMAT,
     "__metadata__: \"k\": expected a string, found {}"},
    {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, MT_FORMAT,
     "header: line 1, column 26: key \"k\" appears twice"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, MT_FORMAT,
     "header: line 1, column 20: key \"__metadata__\" appears twice"},
    /* nested without end */
    {"{\"a\":[[[[[[[[1]]]]]]]]}", 0, MT_LIMIT, "header: line 1, column 13: nested deeper than 8"},
};

START_TEST(each_broken_rule_has_its_message)
{
    struct mt_error err;
    const char *header = broken[_i].header;
    ck_assert_int_eq(try_header(header, strlen(header), broken[_i].buffer_bytes, &err),
                     broken[_i].status);
    ck_assert_int_eq(strncmp(err.message, "m.safetensors: ", 15), 0);
    ck_assert_str_eq(err.message + 15, broken[_i].message);
}
END_TEST

static const struct {
    uint64_t header_bytes; /* as the file claims */
    size_t length;         /* of the file */
    enum mt_status status;
    const char *message;
} frames[] = {
    {0, 0, MT_FORMAT, "0 bytes, expected at least 8 for the header length"},
    {0, 7, MT_FORMAT, "7 bytes, expected at least 8 for the header length"},
    {1, 8, MT_FORMAT, "a header of 1 bytes does not fit into the 0 bytes behind its length"},
    {3, 10, MT_FORMAT, "a header of 3 bytes does not fit into the 2 bytes behind its length"},
    {100000000, 10, MT_FORMAT,
     "a header of 100000000 bytes does not fit into the 2 bytes behind its length"},
    {100000001, 10, MT_LIMIT, "a header of 100000001 bytes, expected at most 100000000"},
    {UINT64_MAX, 10, MT_LIMIT,
     "a header of 18446744073709551615 bytes, expected at most 100000000"},
    {UINT64_MAX - 7, 10, MT_LIMIT,
     "a header of 18446744073709551608 bytes, expected at most 100000000"},
};

START_TEST(the_header_must_fit_into_the_file)
{
    unsigned char bytes[16] = {0};
    struct mt_safetensors *file = NULL;
    struct mt_error err;
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(frames[_i].header_bytes >> 8 * i);
    memcpy(bytes + 8, "{}", 2);
    struct image image = {malloc(frames[_i].length + 1), frames[_i].length};
    memcpy(image.bytes, bytes, image.length);
    ck_assert_int_eq(open_image(image, &file, &err), frames[_i].status);
    ck_assert_str_eq(err.message + 15, frames[_i].message);
    ck_assert_ptr_null(file);
    free(image.bytes);
}
END_TEST

START_TEST(names_may_have_512_bytes)
{
    for (size_t n = MT_SAFETENSORS_MAX_NAME_BYTES; n <= MT_SAFETENSORS_MAX_NAME_BYTES + 1; n++) {
        struct mt_text header = {0};
        struct mt_error err;
        mt_text_append_string(&header, "{\"");
        for (size_t i = 0; i < n - n % 2; i += 2)
            mt_text_append_string(&header, "\xC3\xA4");
        mt_text_appendf(&header, "%s\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}",
                        n % 2 ? "x" : "");
        enum mt_status status = try_header(header.bytes, header.length, 1, &err);
        ck_assert_int_eq(status, n > MT_SAFETENSORS_MAX_NAME_BYTES ? MT_LIMIT : MT_OK);
        if (status) {
            size_t length = strlen(err.message);
            ck_assert_ptr_nonnull(strstr(err.message, "a tensor name of 513 bytes"));
            ck_assert_uint_eq(mt_utf8_valid_prefix(err.message, length), length);
        }
        mt_text_finish(&header);
    }
}
END_TEST

/* Tensors t0, t1, ... of one byte each, the last one first in the header. */
static struct mt_text many_tensors(size_t n)
{
    struct mt_text header = {0};
    for (size_t i = n; i-- > 0;)
        mt_text_appendf(&header,
                        "%c\"t%zu\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1],"
                        "\"data_offsets\":[%zu,%zu]}",
                        i + 1 == n ? '{' : ',', i, i, i + 1);
    mt_text_append_string(&header, "}");
    ck_assert_int_eq(header.status, MT_OK);
    return header;
}

START_TEST(as_many_tensors_as_the_limit_are_found)
{
    struct mt_text header = many_tensors(MT_SAFETENSORS_MAX_TENSORS);
    struct image image = make_image(header.bytes, header.length, MT_SAFETENSORS_MAX_TENSORS);
    struct mt_safetensors *file = must_open(image);
    ck_assert_uint_eq(mt_safetensors_count(file), MT_SAFETENSORS_MAX_TENSORS);
    for (size_t i = 0; i < MT_SAFETENSORS_MAX_TENSORS; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%zu", i);
        if (mt_safetensors_find(file, name) != mt_safetensors_at(file, i))
            ck_abort_msg("%s", name);
    }
    mt_safetensors_close(file);
    mt_text_finish(&header);
    free(image.bytes);
}
END_TEST

START_TEST(more_tensors_than_the_limit_are_refused)
{
    struct mt_error err;
    struct mt_text header = many_tensors(MT_SAFETENSORS_MAX_TENSORS + 1);
    ck_assert_int_eq(try_header(header.bytes, header.length, MT_SAFETENSORS_MAX_TENSORS + 1, &err),
                     MT_LIMIT);
    ck_assert_str_eq(err.message, "m.safetensors: more than 65536 tensors");
    mt_text_finish(&header);
}
END_TEST

/* A header made to cost: millions of entries are refused by the scanner's limit. */
START_TEST(headers_of_millions_of_entries_are_refused)
{
    struct mt_error err;
    struct mt_text header = {0};
    for (size_t i = 0; i < 2000000; i++)
        mt_text_append_string(&header, i ? ",0" : "{\"a\":[0");
    mt_text_append_string(&header, "]}");
    ck_assert_int_eq(try_header(header.bytes, header.length, 0, &err), MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "more than 1572864 values"));
    mt_text_finish(&header);
}
END_TEST

/* Thousands of tensors that claim the same bytes. */
START_TEST(shared_bytes_are_refused)
{
    struct mt_error err;
    struct mt_text header = {0};
    for (size_t i = 0; i < 10000; i++)
        mt_text_appendf(
            &header, "%c\"t%zu\":{\"dtype\":\"U8\",\"shape\":[16000],\"data_offsets\":[0,16000]}",
            i ? ',' : '{', i);
    mt_text_append_string(&header, "}");
    ck_assert_int_eq(try_header(header.bytes, header.length, 16000, &err), MT_FORMAT);
    ck_assert_str_eq(
        err.message,
        "m.safetensors: tensor \"t1\" begins at 0, expected 16000: it overlaps \"t0\"");
    mt_text_finish(&header);
}
END_TEST

/* Everything that users of an open file rely on. */
static void assert_consistent(const struct mt_safetensors *file, const unsigned char *end)
{
    const unsigned char *next = NULL;
    for (size_t i = 0; i < mt_safetensors_count(file); i++) {
        const struct mt_tensor *tensor = mt_safetensors_at(file, i);
        size_t n_elements = 1;
        for (size_t k = 0; k < tensor->rank; k++)
            n_elements *= tensor->shape[k];
        ck_assert_uint_eq(tensor->n_elements, n_elements);
        ck_assert_uint_eq(tensor->n_bytes, n_elements * mt_dtype_bytes(tensor->dtype));
        ck_assert(!next || tensor->data == next);
        next = (const unsigned char *)tensor->data + tensor->n_bytes;
        ck_assert_ptr_eq(mt_safetensors_find(file, tensor->name), tensor);
    }
    ck_assert(!next || next == end);
}

START_TEST(every_truncation_is_refused)
{
    struct image whole = good_image();
    for (size_t n = 0; n < whole.length; n++) {
        struct mt_error err = {0};
        struct mt_safetensors *file = NULL;
        struct image image = {malloc(n ? n : 1), n};
        memcpy(image.bytes, whole.bytes, n);
        ck_assert_int_eq(open_image(image, &file, &err), MT_FORMAT);
        ck_assert_str_ne(err.message, "");
        ck_assert_ptr_null(file);
        free(image.bytes);
    }
    free(whole.bytes);
}
END_TEST

START_TEST(every_flipped_bit_of_the_header_is_refused_or_consistent)
{
    struct image image = good_image();
    size_t n_refused = 0, n_bits = 8 * (8 + strlen(good_header));
    for (size_t bit = 0; bit < n_bits; bit++) {
        struct mt_error err = {0};
        struct mt_safetensors *file = NULL;
        image.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (open_image(image, &file, &err) == MT_OK) {
            assert_consistent(file, image.bytes + image.length);
        } else {
            ck_assert_str_ne(err.message, "");
            n_refused++;
        }
        mt_safetensors_close(file);
        image.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    /* What stays is flips within names and metadata, and of white space. */
    ck_assert_uint_gt(n_refused, n_bits / 2);
    ck_assert_uint_lt(n_refused, n_bits);
    free(image.bytes);
}
END_TEST

/* malloc aligns to 16 bytes and the length takes 8: the header's length decides. */
START_TEST(alignment_is_that_of_the_data)
{
    char header[100] = A_AND("\"F32\"", "[1]", "[0,4]");
    size_t n_aligned = 0;
    for (int i = 0; i < 4; i++, strcat(header, " ")) {
        struct image image = make_image(header, strlen(header), 4);
        struct mt_safetensors *file = must_open(image);
        bool is_aligned = mt_tensor_is_aligned(mt_safetensors_at(file, 0));
        ck_assert(is_aligned == (strlen(header) % 4 == 0));
        n_aligned += is_aligned;
        mt_safetensors_close(file);
        free(image.bytes);
    }
    ck_assert_uint_eq(n_aligned, 1);
}
END_TEST

START_TEST(the_bundled_model_opens)
{
    struct mt_safetensors *file;
    struct mt_error err;
    char path[1000];
    const char *root = getenv("MT_SOURCE_DIR");
    ck_assert_msg(root, "MT_SOURCE_DIR is not set");
    snprintf(path, sizeof path, "%s/tests/models/en-de/model.safetensors", root);
    ck_assert_msg(mt_safetensors_open(path, &file, &err) == MT_OK, "%s", err.message);
    ck_assert_str_eq(mt_safetensors_path(file), path);
    const struct mt_tensor *last = mt_safetensors_at(file, mt_safetensors_count(file) - 1);
    assert_consistent(file, (const unsigned char *)last->data + last->n_bytes);
    const struct mt_tensor *embedding = mt_safetensors_find(file, "model.shared.weight");
    ck_assert(embedding && embedding->rank == 2 && mt_tensor_is_aligned(embedding));
    mt_safetensors_close(file);
}
END_TEST

START_TEST(what_cannot_be_opened_is_reported)
{
    struct mt_safetensors *file = NULL;
    struct mt_error err;
    char path[] = "/tmp/mt_test_safetensors.XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(mt_safetensors_open(path, &file, &err), MT_FORMAT); /* empty */
    ck_assert_ptr_nonnull(strstr(err.message, path));
    unlink(path);
    ck_assert_int_eq(mt_safetensors_open(path, &file, &err), MT_NOT_FOUND);
    ck_assert_int_eq(mt_safetensors_open("/tmp", &file, &err), MT_IO);
    ck_assert_ptr_null(file);
}
END_TEST

Suite *suite_safetensors(void)
{
    Suite *suite = suite_create("safetensors");
    TCase *tcase = tcase_create("files");
    tcase_add_test(tcase, tensors_are_views_into_the_bytes);
    tcase_add_test(tcase, what_is_absent_is_null);
    tcase_add_loop_test(tcase, unusual_but_allowed_headers_open, 0,
                        sizeof allowed / sizeof *allowed);
    tcase_add_test(tcase, alignment_is_that_of_the_data);
    tcase_add_test(tcase, the_bundled_model_opens);
    suite_add_tcase(suite, tcase);
    TCase *refusals = tcase_create("refusals");
    tcase_add_loop_test(refusals, each_broken_rule_has_its_message, 0,
                        sizeof broken / sizeof *broken);
    tcase_add_loop_test(refusals, the_header_must_fit_into_the_file, 0,
                        sizeof frames / sizeof *frames);
    tcase_add_test(refusals, names_may_have_512_bytes);
    tcase_add_test(refusals, as_many_tensors_as_the_limit_are_found);
    tcase_add_test(refusals, more_tensors_than_the_limit_are_refused);
    tcase_add_test(refusals, headers_of_millions_of_entries_are_refused);
    tcase_add_test(refusals, shared_bytes_are_refused);
    tcase_add_test(refusals, every_truncation_is_refused);
    tcase_add_test(refusals, every_flipped_bit_of_the_header_is_refused_or_consistent);
    tcase_add_test(refusals, what_cannot_be_opened_is_reported);
    tcase_set_timeout(refusals, 60);
    suite_add_tcase(suite, refusals);
    return suite;
}
