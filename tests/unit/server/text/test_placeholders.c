#include "base/text.h"
#include "server/text/placeholders.h"
#include "server/text/substitutes.h"
#include "server/text/terms.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *found; /* NULL: nothing */
    enum mt_placeholder_kind kind;
} cases[] = {
    {"Hello %s!", "%s", MT_PLACEHOLDER_WORD},
    {"Hello %(name)s!", "%(name)s", MT_PLACEHOLDER_WORD},
    {"%1$s of it", "%1$s", MT_PLACEHOLDER_WORD},
    {"%-5.2f m", "%-5.2f", MT_PLACEHOLDER_WORD},
    {"%lld", "%lld", MT_PLACEHOLDER_WORD},
    {"in %1$#@files@ of it", "%1$#@files@", MT_PLACEHOLDER_WORD},
    {"only %arg files", "%arg", MT_PLACEHOLDER_WORD},
    {"%{name}", "%{name}", MT_PLACEHOLDER_WORD},
    {"only %1$d%% of it", "%1$d%%", MT_PLACEHOLDER_WORD},
    {"only 50%% of it", "50%%", MT_PLACEHOLDER_WORD},
    {"only 50%%% of it", NULL, MT_NO_PLACEHOLDER},
    {"a {name}.", "{name}", MT_PLACEHOLDER_WORD},
    {"a {0:N2}.", "{0:N2}", MT_PLACEHOLDER_WORD},
    {"a {{ user.name }}.", "{{ user.name }}", MT_PLACEHOLDER_WORD},
    {"a ${x y}.", "${x y}", MT_PLACEHOLDER_WORD},
    {"a {x}{y}.", "{x}{y}", MT_PLACEHOLDER_WORD},
    {"a file_{x}px.", "file_{x}px", MT_PLACEHOLDER_WORD},
    {"See https://example.com/a?b=(c).", "https://example.com/a?b=(c)", MT_PLACEHOLDER_WORD},
    {"(see HTTP://example.com)", "HTTP://example.com", MT_PLACEHOLDER_WORD},
    {"www.example.com, please", "www.example.com", MT_PLACEHOLDER_WORD},
    {"to a.b+c@example.co.uk.", "a.b+c@example.co.uk", MT_PLACEHOLDER_WORD},
    {"at 192.168.178.1.", "192.168.178.1", MT_PLACEHOLDER_WORD},
    {"on 127.0.0.1:8080, please", "127.0.0.1:8080", MT_PLACEHOLDER_WORD},
    {"at 127.0.0.1: nothing", "127.0.0.1", MT_PLACEHOLDER_WORD},
    {"from 10.1.0.0/16 on", "10.1.0.0/16", MT_PLACEHOLDER_WORD},
    {"10.0.0.1-10.0.0.9", "10.0.0.1", MT_PLACEHOLDER_WORD},
    {"version v1.2.3.4?", "v1.2.3.4", MT_PLACEHOLDER_WORD},
    {"1.3.6.1.4.1 is an OID", "1.3.6.1.4.1", MT_PLACEHOLDER_WORD},
    {"MAC 00:1A:2b:3C:4D:5E.", "00:1A:2b:3C:4D:5E", MT_PLACEHOLDER_WORD},
    {"at 2001:db8::1.", "2001:db8::1", MT_PLACEHOLDER_WORD},
    {"the net fe80:0::/10", "fe80:0::/10", MT_PLACEHOLDER_WORD},
    {"(550e8400-e29b-41d4-a716-446655440000)", "550e8400-e29b-41d4-a716-446655440000",
     MT_PLACEHOLDER_WORD},
    {"ISBN 978-3-16-148410-0", "978-3-16-148410-0", MT_PLACEHOLDER_WORD},
    {"255.255.255.255", "255.255.255.255", MT_PLACEHOLDER_WORD},
    {"192.168.178.111", "192.168.178.111", MT_PLACEHOLDER_WORD},
    {"1.234.567.890 Euro", NULL, MT_NO_PLACEHOLDER},
    {"1.000.000.000", NULL, MT_NO_PLACEHOLDER},
    {"10.100.100.100.100", NULL, MT_NO_PLACEHOLDER},
    {"1.234.567.8901", "1.234.567.8901", MT_PLACEHOLDER_WORD},
    {"is 3f786850e387550fdab836ed7e6dc881de23001b.", "3f786850e387550fdab836ed7e6dc881de23001b",
     MT_PLACEHOLDER_WORD},
    {"(sha256:9f86d081884c7d65)", "sha256:9f86d081884c7d65", MT_PLACEHOLDER_WORD},
    {"to bc1qar0srrr7xfkvy5l6: 1", "bc1qar0srrr7xfkvy5l6", MT_PLACEHOLDER_WORD},
    {"IBAN DE89 3704 0044 0532 0130 00.", "DE89 3704 0044 0532 0130 00", MT_PLACEHOLDER_WORD},
    {"GB29 NWBK 6016 1331 9268 19", "GB29 NWBK 6016 1331 9268 19", MT_PLACEHOLDER_WORD},
    {"DE89 3704 0044 0532 I sent", "DE89 3704 0044 0532", MT_PLACEHOLDER_WORD},
    {"C:\\Users\\M\xC3\xBCller\xE3\x82\x92", "C:\\Users\\M\xC3\xBCller", MT_PLACEHOLDER_WORD},
    {"\xE2\x80\x9C"
     "C:\\Users\\Public\xE2\x80\x9D",
     "C:\\Users\\Public", MT_PLACEHOLDER_WORD},
    {"\xE2\x80\x9E"
     "3f786850e387550f\xE2\x80\x9C",
     "3f786850e387550f", MT_PLACEHOLDER_WORD},
    {"\xC2\xAB"
     "DE89 3704 0044 0532\xC2\xBB",
     "DE89 3704 0044 0532", MT_PLACEHOLDER_WORD},
    {"\xE3\x81\xAF"
     "2024-11-08T12:30:00Z\xE3\x81\xA7",
     "2024-11-08T12:30:00Z", MT_PLACEHOLDER_WORD},
    {"1a2b3c4d5e6f7a8b9c:x", "1a2b3c4d5e6f7a8b9c:x", MT_PLACEHOLDER_WORD},
    {"card 4111 1111 1111 1111 was", "4111 1111 1111 1111", MT_PLACEHOLDER_WORD},
    {"at 2024-11-08T12:30:00Z.", "2024-11-08T12:30:00Z", MT_PLACEHOLDER_WORD},
    {"2024-11-08T12:30:00.250+01:00", "2024-11-08T12:30:00.250+01:00", MT_PLACEHOLDER_WORD},
    {"in C:\\Users\\Public, too", "C:\\Users\\Public", MT_PLACEHOLDER_WORD},
    {"in C:\\Program Files (x86)\\a.exe now", "C:\\Program Files (x86)\\a.exe",
     MT_PLACEHOLDER_WORD},
    {"C:\\a to \\\\b\\c", "C:\\a", MT_PLACEHOLDER_WORD},
    {"C:\\a or D:\\b", "C:\\a", MT_PLACEHOLDER_WORD},
    {"on \\\\server\\share.", "\\\\server\\share", MT_PLACEHOLDER_WORD},
    {"an MP3 and an x86 of 1920x1080", NULL, MT_NO_PLACEHOLDER},
    {"donaudampfschiff1a2b\xC3\xBC", NULL, MT_NO_PLACEHOLDER},
    {"from 1914 1918 to 1939 1945", NULL, MT_NO_PLACEHOLDER},
    {"4111 1111 1111 11111", NULL, MT_NO_PLACEHOLDER},
    {"NASA 1234 said ESA1 5678", NULL, MT_NO_PLACEHOLDER},
    {"2024-11-08 at 12:30", NULL, MT_NO_PLACEHOLDER},
    {"a\\nb C:", NULL, MT_NO_PLACEHOLDER},
    {"12.05.2024", NULL, MT_NO_PLACEHOLDER},
    {"2024-11-08", NULL, MT_NO_PLACEHOLDER},
    {"from 9:00-12:30:15", NULL, MT_NO_PLACEHOLDER},
    {"1.234.567,89", NULL, MT_NO_PLACEHOLDER},
    {"a-be-cab-face", NULL, MT_NO_PLACEHOLDER},
    {"std::add::cafe", NULL, MT_NO_PLACEHOLDER},
    {"1.2.3.4a", NULL, MT_NO_PLACEHOLDER},
    {"x..1.2.3.4", NULL, MT_NO_PLACEHOLDER},
    {"5..6", NULL, MT_NO_PLACEHOLDER},
    {"Add utm_source=mail&utm_medium=x.", "utm_source=mail&utm_medium=x", MT_PLACEHOLDER_WORD},
    {"a=1&b=Tom+Smith, please", "a=1&b=Tom+Smith", MT_PLACEHOLDER_WORD},
    {"of ctx_ver=Z39.88-2004&rft.id=info%3Asid%2Fen", "ctx_ver=Z39.88-2004&rft.id=info%3Asid%2Fen",
     MT_PLACEHOLDER_WORD},
    {"A word: Hello%20World!", "Hello%20World", MT_PLACEHOLDER_WORD},
    {"as application/json.", "application/json", MT_PLACEHOLDER_WORD},
    {"text/html; charset", "text/html", MT_PLACEHOLDER_WORD},
    {"a text/vnd.api+x, please", "text/vnd.api+x", MT_PLACEHOLDER_WORD},
    {"by multipart/form-data", "multipart/form-data", MT_PLACEHOLDER_WORD},
    {"by Mozilla/5.0 (X11)", "Mozilla/5.0", MT_PLACEHOLDER_WORD},
    {"(doi:10.1017/S0025100306002830).", "doi:10.1017/S0025100306002830", MT_PLACEHOLDER_WORD},
    {"at 10.1000/182, please", "10.1000/182", MT_PLACEHOLDER_WORD},
    {"over HTTP/1.1.", "HTTP/1.1", MT_PLACEHOLDER_WORD},
    {"the caf%C3%A9 menu", "caf%C3%A9", MT_PLACEHOLDER_WORD},
    {"a \xF0\x9F\x98\x80\xF0\x9F\x98\x80 b", "\xF0\x9F\x98\x80\xF0\x9F\x98\x80",
     MT_PLACEHOLDER_EMOJI},
    {"\xE2\x9D\xA4\xEF\xB8\x8F", "\xE2\x9D\xA4\xEF\xB8\x8F", MT_PLACEHOLDER_EMOJI},
    {"press 1\xEF\xB8\x8F\xE2\x83\xA3 now", "1\xEF\xB8\x8F\xE2\x83\xA3", MT_PLACEHOLDER_EMOJI},
    {"1\xE2\x83\xA3", "1\xE2\x83\xA3", MT_PLACEHOLDER_EMOJI},
    {"50% discount", NULL, MT_NO_PLACEHOLDER},
    {"100 % sure", NULL, MT_NO_PLACEHOLDER},
    {"100%", NULL, MT_NO_PLACEHOLDER},
    {"%#@ a@", NULL, MT_NO_PLACEHOLDER},
    {"%args", NULL, MT_NO_PLACEHOLDER},
    {"%", NULL, MT_NO_PLACEHOLDER},
    {"{ a set }", NULL, MT_NO_PLACEHOLDER},
    {"{}", NULL, MT_NO_PLACEHOLDER},
    {"{{}}", NULL, MT_NO_PLACEHOLDER},
    {"{open", NULL, MT_NO_PLACEHOLDER},
    {"$5", NULL, MT_NO_PLACEHOLDER},
    {"http:// alone", NULL, MT_NO_PLACEHOLDER},
    {"a=1 & b=2, or a=1&b", NULL, MT_NO_PLACEHOLDER},
    {"AT&T=1, R&D and 50%DE", NULL, MT_NO_PLACEHOLDER},
    {"An audio/video file, text/image. Or a text/", NULL, MT_NO_PLACEHOLDER},
    {"km/2 and 1/2.5", NULL, MT_NO_PLACEHOLDER},
    {"10.5/2 and 10.1000/", NULL, MT_NO_PLACEHOLDER},
    {"Profit%20", NULL, MT_NO_PLACEHOLDER},
    {"Open /search?q=hello&page=2 now", NULL, MT_NO_PLACEHOLDER},
    {"@ home, a@b", NULL, MT_NO_PLACEHOLDER},
    {"#1 * 2", NULL, MT_NO_PLACEHOLDER},
    {"", NULL, MT_NO_PLACEHOLDER},
};

START_TEST(placeholders_are_found_and_nothing_else)
{
    const char *text = cases[_i].text;
    size_t length = strlen(text);
    struct mt_placeholder found = mt_placeholder_find(text, length, 0);
    ck_assert_msg(found.kind == cases[_i].kind, "%s: kind %d", text, (int)found.kind);
    if (!cases[_i].found) {
        ck_assert_uint_eq(found.begin, length);
        return;
    }
    ck_assert_msg(found.end - found.begin == strlen(cases[_i].found) &&
                      memcmp(text + found.begin, cases[_i].found, found.end - found.begin) == 0,
                  "%s: %.*s", text, (int)(found.end - found.begin), text + found.begin);
}
END_TEST

/* Every beginning of a text is a text, too: nothing is read behind its end. */
START_TEST(cut_texts_are_read_to_their_end_alone)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = strlen(cases[i].text);
        for (size_t n = 0; n <= length; n++) {
            if (mt_utf8_valid_prefix(cases[i].text, n) != n)
                continue;
            char *text = malloc(n + 1); /* the sanitizer sees what is read behind it */
            memcpy(text, cases[i].text, n);
            text = realloc(text, n > 0 ? n : 1);
            struct mt_placeholder found = mt_placeholder_find(text, n, 0);
            ck_assert_uint_le(found.end, n);
            free(text);
        }
    }
}
END_TEST

static const char *next_substitute(struct mt_substitutes *substitutes, const char *placeholder)
{
    return mt_substitutes_next(substitutes,
                               mt_placeholder_is_count(placeholder, strlen(placeholder)));
}

static void check_words(struct mt_substitutes *substitutes, const struct mt_substitute_words *words,
                        const char *placeholder, const char *const not_these[2])
{
    ck_assert_uint_eq(words->n, MT_MAX_SUBSTITUTES);
    const char *first = next_substitute(substitutes, placeholder);
    for (size_t i = 1; i < words->n; i++) {
        const char *word = next_substitute(substitutes, placeholder);
        ck_assert_str_ne(word, not_these[0]);
        ck_assert_str_ne(word, not_these[1]);
        ck_assert_str_ne(word, first);
    }
    ck_assert_str_eq(next_substitute(substitutes, placeholder), first);
}

START_TEST(substitutes_are_not_in_the_text)
{
    static const char text[] = "Tom saw Maria 17 times in 2034.";
    struct mt_substitutes substitutes;
    mt_substitutes_init(&substitutes, text, sizeof text - 1);
    check_words(&substitutes, &substitutes.names, "{x}", (const char *const[]){"Tom", "Maria"});
    check_words(&substitutes, &substitutes.numbers, "%d", (const char *const[]){"17", "34"});
}
END_TEST

static const struct {
    const char *placeholder;
    bool is_count;
} counts[] = {
    {"%d", true},         {"%1$d", true},       {"%lu", true},      {"%(files)i", true},
    {"%n", true},         {"%arg", true},       {"{count}", true},  {"{{ n }}", true},
    {"${num}", true},     {"%{count}", true},   {"{Number}", true}, {"%s", false},
    {"%.2f", false},      {"{0}", false},       {"{name}", false},  {"{counts}", false},
    {"{account}", false}, {"file_%d", false},   {"%d/%d", false},   {"{count:N}", false},
    {"%(n)s", false},     {"<b>%d</b>", false}, {"www.n.d", false}, {"{n", false},
    {"", false},
};

START_TEST(a_number_stands_in_for_a_count)
{
    struct mt_substitutes substitutes;
    mt_substitutes_init(&substitutes, "", 0);
    const char *word = next_substitute(&substitutes, counts[_i].placeholder);
    ck_assert_msg((word[0] >= '0' && word[0] <= '9') == counts[_i].is_count, "%s: %s",
                  counts[_i].placeholder, word);
}
END_TEST

/* How often bytes are compared, and among how many others are sought (meson.build: --wrap). clang
 * looks for a character in a short string this way, too. */
enum { SHORT_STRING = 64 };
static size_t n_compared, n_searched;
void *__real_memchr(const void *bytes, int byte, size_t n);
void *__wrap_memchr(const void *bytes, int byte, size_t n);
int __real_memcmp(const void *a, const void *b, size_t n);
int __wrap_memcmp(const void *a, const void *b, size_t n);

int __wrap_memcmp(const void *a, const void *b, size_t n)
{
    n_compared++;
    return __real_memcmp(a, b, n);
}

void *__wrap_memchr(const void *bytes, int byte, size_t n)
{
    n_searched += n > SHORT_STRING ? n : 0;
    return __real_memchr(bytes, byte, n);
}

START_TEST(what_closes_a_placeholder_is_not_sought_byte_by_byte)
{
    enum { N = 20000 };
    static char text[N + 1];
    memset(text, '{', N);
    n_compared = 0;
    ck_assert_int_eq(mt_placeholder_find(text, N, 0).kind, MT_NO_PLACEHOLDER);
    ck_assert_uint_le(n_compared, N);
}
END_TEST

START_TEST(the_brackets_behind_a_url_are_looked_at_once)
{
    enum { N = 20000 };
    static char text[N + 1] = "http://a";
    memset(text + strlen(text), ')', N - strlen(text));
    n_searched = 0;
    ck_assert_uint_eq(mt_placeholder_find(text, N, 0).end, strlen("http://a"));
    ck_assert_uint_le(n_searched, 2 * N);
}
END_TEST

static const char *const repeated[] = {
    "a:",    "a1:", "1:",    "1-",  "1.", "ab-", "::1", "1 ",        "(", "C:\\",    "C:\\a ",
    "\\\\a", "a\\", "2024-", "DE8", "a.", "a@",  "/",   "1234 567 ", "{", "\xC3\xBC"};

/* Something begins at every word and never ends: looked at from each beginning to the end, such a text
 * would take longer than a test may. */
START_TEST(a_long_text_is_looked_at_once)
{
    enum { N = 1 << 20 };
    char *text = malloc(N);
    size_t n_unit = strlen(repeated[_i]), length = N / n_unit * n_unit;
    for (size_t i = 0; i < length; i += n_unit)
        memcpy(text + i, repeated[_i], n_unit);
    for (size_t from = 0; from < length;) {
        struct mt_placeholder found = mt_placeholder_find(text, length, from);
        ck_assert(found.begin >= from && found.end > from && found.end <= length);
        from = found.end;
    }
    free(text);
}
END_TEST

Suite *suite_placeholders(void)
{
    Suite *suite = suite_create("placeholders");
    TCase *tcase = tcase_create("placeholders");
    tcase_add_loop_test(tcase, placeholders_are_found_and_nothing_else, 0,
                        sizeof cases / sizeof cases[0]);
    tcase_add_test(tcase, cut_texts_are_read_to_their_end_alone);
    tcase_add_test(tcase, substitutes_are_not_in_the_text);
    tcase_add_loop_test(tcase, a_number_stands_in_for_a_count, 0, sizeof counts / sizeof *counts);
    tcase_add_test(tcase, what_closes_a_placeholder_is_not_sought_byte_by_byte);
    tcase_add_test(tcase, the_brackets_behind_a_url_are_looked_at_once);
    tcase_add_loop_test(tcase, a_long_text_is_looked_at_once, 0,
                        sizeof repeated / sizeof *repeated);
    suite_add_tcase(suite, tcase);
    return suite;
}
