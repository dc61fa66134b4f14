#include "server/http/multipart.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE "multipart/form-data; boundary=XYZ"
#define PART(disposition, value) \
    "--XYZ\r\nContent-Disposition: form-data; " disposition "\r\n\r\n" value "\r\n"
#define END "--XYZ--\r\n"

/* Parts written one behind the other: name [file_name] (content_type) = bytes. */
static enum mt_status render(const char *type, const char *body, size_t length, char *out,
                             size_t room, struct mt_error *err)
{
    struct mt_multipart reader;
    struct mt_part part;
    bool found = true;
    size_t n = 0;
    out[0] = '\0';
    enum mt_status status = mt_multipart_open(&reader, type, body, length, err);
    while (!status && found) {
        status = mt_multipart_next(&reader, &part, &found, err);
        if (status || !found)
            break;
        n += (size_t)snprintf(out + n, room - n, "%s", part.name);
        if (part.is_file)
            n += (size_t)snprintf(out + n, room - n, "[%s]", part.file_name);
        if (part.content_type[0] != '\0')
            n += (size_t)snprintf(out + n, room - n, "(%s)", part.content_type);
        n += (size_t)snprintf(out + n, room - n, "=%.*s|", (int)part.length, part.bytes);
    }
    return status;
}

static const struct {
    const char *type, *body, *parts;
} sound[] = {
    {TYPE, PART("name=\"q\"", "Hello.") END, "q=Hello.|"},
    {TYPE, PART("name=\"q\"", "a") PART("name=\"q\"", "b") END, "q=a|q=b|"},
    {TYPE, PART("name=\"q\"", "") END, "q=|"},
    {TYPE, END, ""},
    {TYPE, "--XYZ--", ""},
    {TYPE, "--XYZ--\r\n\r\n", ""},
    {TYPE, "\r\n" PART("name=\"q\"", "a") END, "q=a|"},
    {TYPE, PART("name=\"q\"", "a\r\n\r\nb\r\n") END, "q=a\r\n\r\nb\r\n|"},
    {TYPE, PART("name=\"q\"", "--XYZ in a line") END, NULL}, /* RFC 2046: a part must not */
    {TYPE, PART("name=\"q\"", "a --XYZ\n--XYZ\r--XYZ\r\n-XYZ") END,
     "q=a --XYZ\n--XYZ\r--XYZ\r\n-XYZ|"},
    {TYPE,
     "--XYZ \t\r\nContent-Disposition: form-data; name=q\r\n\r\na\r\n--XYZ  \r\n"
     "Content-Disposition: form-data; name=r\r\n\r\nb\r\n--XYZ--  \r\n",
     "q=a|r=b|"},
    {TYPE, "--XYZ\r\nContent-Disposition: form-data; name=q\r\n\r\n--XYZ--\r\n", "q=|"},
    {TYPE, "--XYZ\r\nContent-Disposition: form-data; name=q\r\n\r\n" PART("name=r", "b") END,
     "q=|r=b|"},

    /* The boundary as clients write it. */
    {"multipart/form-data; boundary=\"XYZ\"", PART("name=\"q\"", "a") END, "q=a|"},
    {"Multipart/Form-Data;Boundary=XYZ", PART("name=\"q\"", "a") END, "q=a|"},
    {"multipart/form-data; boundary=XYZ; charset=utf-8", PART("name=\"q\"", "a") END, "q=a|"},
    {"multipart/form-data; charset=utf-8; boundary=XYZ", PART("name=\"q\"", "a") END, "q=a|"},
    {"multipart/form-data; boundary=\"X Y:Z?\"",
     "--X Y:Z?\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\na\r\n--X Y:Z?--", "q=a|"},
    {"multipart/form-data; boundary=----WebKitFormBoundaryAbC",
     "------WebKitFormBoundaryAbC\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\na\r\n"
     "------WebKitFormBoundaryAbC--\r\n",
     "q=a|"},

    /* Names as clients write them. */
    {TYPE, PART("name=q", "a") END, "q=a|"},
    {TYPE, PART("name=q; filename=x.txt; filename*=utf-8''%C3%A4.txt", "a") END, "q[x.txt]=a|"},
    {TYPE, PART("name=q; filename*=UTF-8'de'%C3%A4%20b.txt", "a") END, "q[\xC3\xA4 b.txt]=a|"},
    {TYPE, PART("name=q; filename*=UTF-8''x; filename=\"y\"", "a") END, "q[y]=a|"},
    {TYPE, PART("name=\"file\"; filename=\"\"", "") END, "file[]=|"},
    {TYPE, PART("name=\"file\"; filename=\"a;b=c.txt\"", "x") END, "file[a;b=c.txt]=x|"},
    {TYPE, PART("name=\"file\"; filename=\"a\\\"b\\\\c.txt\"", "x") END, "file[a\"b\\c.txt]=x|"},
    {TYPE, PART("name=\"file\"; filename=\"C:\\temp\\c.txt\"", "x") END,
     "file[C:\\temp\\c.txt]=x|"},
    {TYPE, PART("name=\"file\"; filename=\"a%22b.txt\"", "x") END, "file[a%22b.txt]=x|"},
    {TYPE, PART("name=\"\xC3\xA4\"; filename=\"\xE2\x82\xAC.txt\"", "x") END,
     "\xC3\xA4[\xE2\x82\xAC.txt]=x|"},
    {TYPE, PART("name=\"\"", "x") END, "=x|"},
    {TYPE, PART("NAME=\"q\" ; size=5;", "x") END, "q=x|"},

    /* Further headers. */
    {TYPE,
     "--XYZ\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 1\r\n"
     "Content-Transfer-Encoding: 8bit\r\nX-Other: a: b\r\n"
     "content-disposition:form-data;name=q\r\n\r\na\r\n" END,
     "q(text/plain; charset=utf-8)=a|"},
};

START_TEST(parts_are_read)
{
    char parts[4096];
    struct mt_error err;
    enum mt_status status =
        render(sound[_i].type, sound[_i].body, strlen(sound[_i].body), parts, sizeof parts, &err);
    if (!sound[_i].parts) {
        ck_assert_int_eq(status, MT_FORMAT);
        return;
    }
    ck_assert_msg(!status, "%s: %s", sound[_i].body, err.message);
    ck_assert_str_eq(parts, sound[_i].parts);
}
END_TEST

static const struct {
    const char *type, *body, *message;
} broken[] = {
    {"multipart/form-data", END, "with a boundary of 1 to 70"},
    {"multipart/form-data; boundary=", END, "with a boundary"},
    {"multipart/form-data; boundary=\"\"", END, "with a boundary"},
    {"multipart/form-data; boundary=\"XYZ", END, "with a boundary"},
    {"multipart/form-data; boundary=X@Z", END, "with a boundary"},
    {"multipart/form-data; boundary=\"XYZ \"", END, "with a boundary"},
    {"multipart/form-data; boundary=XYZ; charset", END, "with a boundary"},
    {"multipart/form-data; boundary="
     "12345678901234567890123456789012345678901234567890123456789012345678901",
     END, "with a boundary"},
    {TYPE, "", "does not begin with the boundary of its Content-Type, byte 0"},
    {TYPE, "--XY", "does not begin"},
    {TYPE, "q=Hello", "does not begin"},
    {TYPE, "--ABC--\r\n", "does not begin"},
    {TYPE, "--XYZ", "expected CR LF or \"--\""},
    {TYPE, "--XYZ-", "expected CR LF or \"--\""},
    {TYPE, "--XYZZ\r\n", "expected CR LF or \"--\" behind the boundary, byte 5"},
    {TYPE, "--XYZ\n", "expected CR LF or \"--\""},
    {TYPE, "--XYZ\r\n", "headers do not end"},
    {TYPE, "--XYZ\r\nContent-Disposition: form-data; name=q\r\n", "headers do not end"},
    {TYPE, "--XYZ\r\nContent-Disposition: form-data; name=q\n\na\r\n--XYZ--\r\n", "expected"},
    {TYPE, "--XYZ\r\nContent-Disposition: form-data; name=q\r\n\r\na", "without the closing"},
    {TYPE, PART("name=q", "a"), "without the closing boundary"},
    {TYPE, PART("name=q", "a") "--XYZ", "expected CR LF"},
    {TYPE, "--XYZ\r\nContent-Disposition: form-data; name=q\r\n\r\na\r\n--XYZ-\r\n", "expected CR"},
    {TYPE, PART("name=q", "a") END "more", "behind the closing boundary"},
    {TYPE, PART("name=q", "a") END "--XYZ\r\n", "behind the closing boundary"},
    {TYPE, "--XYZ\r\n\r\na\r\n" END, "without Content-Disposition"},
    {TYPE, "--XYZ\r\nContent-Type: text/plain\r\n\r\na\r\n" END, "without Content-Disposition"},
    {TYPE, "--XYZ\r\nContent-Disposition: attachment; name=q\r\n\r\na\r\n" END, "not form-data"},
    {TYPE,
     "--XYZ\r\nContent-Disposition: form-data; name=q\r\nContent-Disposition: form-data; "
     "name=r\r\n\r\na\r\n" END,
     "two Content-Disposition"},
    {TYPE, PART("nam=q", "a") END, "name=\"...\""},
    {TYPE, PART("name=\"q", "a") END, "name=\"...\""},
    {TYPE, PART("name=\"q\"x", "a") END, "name=\"...\""},
    {TYPE, PART("name=q r", "a") END, "name=\"...\""},
    {TYPE, PART("name=", "a") END, "name=\"...\""},
    {TYPE, PART("name=\"\xFF\"", "a") END, "name=\"...\""},
    {TYPE, PART("name=\"a\tb\"", "a") END, "name=\"...\""},
    {TYPE, PART("name=\"a\nb\"", "a") END, "name=\"...\""},
    {TYPE, PART("name=q; filename*=ISO-8859-1''x", "a") END, "name=\"...\""},
    {TYPE, PART("name=q; filename*=UTF-8''%4", "a") END, "name=\"...\""},
    {TYPE, PART("name=q; filename*=UTF-8''%00", "a") END, "name=\"...\""},
    {TYPE, PART("name=q; filename*=UTF-8''%FF", "a") END, "name=\"...\""},
    {TYPE, "--XYZ\r\nno colon\r\n\r\na\r\n" END, "without a name and ':'"},
    {TYPE, "--XYZ\r\n: x\r\n\r\na\r\n" END, "without a name and ':'"},
    {TYPE, "--XYZ\r\nContent-Disposition: form-data; name=q\r\nContent-Type: a\rb\r\n\r\na\r\n" END,
     "control characters"},
};

START_TEST(broken_framing_is_refused)
{
    char parts[4096];
    struct mt_error err;
    enum mt_status status = render(broken[_i].type, broken[_i].body, strlen(broken[_i].body), parts,
                                   sizeof parts, &err);
    ck_assert_msg(status == MT_FORMAT, "%s: %s", broken[_i].body, parts);
    ck_assert_msg(strstr(err.message, broken[_i].message), "%s", err.message);
}
END_TEST

START_TEST(encodings_that_need_decoding_are_refused)
{
    char parts[4096];
    struct mt_error err;
    const char *body = "--XYZ\r\nContent-Disposition: form-data; name=q\r\n"
                       "Content-Transfer-Encoding: base64\r\n\r\nYQ==\r\n" END;
    ck_assert_int_eq(render(TYPE, body, strlen(body), parts, sizeof parts, &err), MT_UNSUPPORTED);
    ck_assert_str_eq(err.message, "multipart body: Content-Transfer-Encoding \"base64\", expected "
                                  "binary, 8bit or 7bit");
}
END_TEST

/* A name would end there for us and go on for others. */
START_TEST(headers_hold_no_nul)
{
    static const char name[] = PART("name=f; filename=\"a.txt\0.exe\"", "x") END,
                      value[] = PART("name=f\r\nContent-Type: a\0b", "x") END,
                      other[] = PART("name=f\r\nX: \0", "x") END;
    static const struct {
        const char *body;
        size_t length;
    } cases[] = {{name, sizeof name - 1}, {value, sizeof value - 1}, {other, sizeof other - 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char parts[4096];
        struct mt_error err;
        ck_assert_int_eq(render(TYPE, cases[i].body, cases[i].length, parts, sizeof parts, &err),
                         MT_FORMAT);
        ck_assert_msg(strstr(err.message, "a part's header with a NUL byte"), "%s", err.message);
    }
}
END_TEST

/* Wherever a body is cut it is refused, but behind its closing boundary. */
START_TEST(every_truncation_is_refused)
{
    const char *body =
        PART("name=\"q\"", "Hello.") PART("name=\"f\"; filename=\"x\"", "\r\n--XY") END;
    size_t length = strlen(body);
    for (size_t n = 0; n < length; n++) {
        char *copy = malloc(n > 0 ? n : 1), parts[4096]; /* its end is the sanitizer's */
        struct mt_error err;
        memcpy(copy, body, n);
        enum mt_status status = render(TYPE, copy, n, parts, sizeof parts, &err);
        ck_assert_msg((status == MT_OK) == (n >= length - 2), "%zu of %zu bytes", n, length);
        free(copy);
    }
}
END_TEST

START_TEST(files_may_hold_any_bytes)
{
    char body[1024] = PART("name=f; filename=x", "") "?";
    char all[256];
    size_t head = strlen(body) - strlen("\r\n?"), n = head;
    for (size_t i = 0; i < sizeof all; i++)
        body[n++] = all[i] = (char)i;
    memcpy(body + n, "\r\n" END, strlen("\r\n" END));
    n += strlen("\r\n" END);
    struct mt_multipart reader;
    struct mt_part part;
    bool found;
    ck_assert_int_eq(mt_multipart_open(&reader, TYPE, body, n, NULL), MT_OK);
    ck_assert_int_eq(mt_multipart_next(&reader, &part, &found, NULL), MT_OK);
    ck_assert(found && part.is_file);
    ck_assert_uint_eq(part.length, sizeof all);
    ck_assert_mem_eq(part.bytes, all, sizeof all);
    ck_assert_ptr_eq(part.bytes, body + head);
    ck_assert_int_eq(mt_multipart_next(&reader, &part, &found, NULL), MT_OK);
    ck_assert(!found);
}
END_TEST

/* A header of n bytes in all, and a name of n bytes. */
START_TEST(headers_and_names_are_limited)
{
    static char body[3 * MT_MAX_PART_HEADER_BYTES], parts[4096];
    struct mt_error err;
    for (size_t more = 0; more < 2; more++) {
        size_t n = (size_t)sprintf(body, "--XYZ\r\nContent-Disposition: form-data; name=q\r\nX: ");
        size_t used = n - strlen("--XYZ\r\n") + strlen("\r\n\r\n");
        size_t fill = MT_MAX_PART_HEADER_BYTES - used + more;
        memset(body + n, 'x', fill);
        strcpy(body + n + fill, "\r\n\r\na\r\n" END);
        ck_assert_int_eq(render(TYPE, body, strlen(body), parts, sizeof parts, &err),
                         more ? MT_FORMAT : MT_OK);
        n = (size_t)sprintf(body, "--XYZ\r\nContent-Disposition: form-data; name=\"");
        fill = MT_MAX_PART_NAME_BYTES - 1 + more;
        memset(body + n, 'x', fill);
        strcpy(body + n + fill, "\"\r\n\r\na\r\n" END);
        ck_assert_int_eq(render(TYPE, body, strlen(body), parts, sizeof parts, &err),
                         more ? MT_FORMAT : MT_OK);
    }
}
END_TEST

Suite *suite_multipart(void)
{
    Suite *suite = suite_create("multipart");
    TCase *tcase = tcase_create("multipart");
    tcase_add_loop_test(tcase, parts_are_read, 0, sizeof sound / sizeof sound[0]);
    tcase_add_loop_test(tcase, broken_framing_is_refused, 0, sizeof broken / sizeof broken[0]);
    tcase_add_test(tcase, encodings_that_need_decoding_are_refused);
    tcase_add_test(tcase, every_truncation_is_refused);
    tcase_add_test(tcase, headers_hold_no_nul);
    tcase_add_test(tcase, files_may_hold_any_bytes);
    tcase_add_test(tcase, headers_and_names_are_limited);
    suite_add_tcase(suite, tcase);
    return suite;
}
