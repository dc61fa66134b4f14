#include "server/documents/message_check.h"

#include "tests/unit/server/documents/translated_file.h"

#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Letters in upper case, so that what was translated shows; but for names in braces and tags. */
static void shout(const struct mt_document_text *text, struct mt_text *out)
{
    size_t depth = 0;
    for (size_t i = 0; i < text->length; i++) {
        char c = text->bytes[i];
        depth += c == '{' || c == '<';
        depth -= (c == '}' || c == '>') && depth > 0;
        bool is_escape = i > 0 && text->bytes[i - 1] == '%';
        c = depth || is_escape ? c : (char)toupper((unsigned char)c);
        mt_text_append(out, &c, 1);
    }
}

static const char *swapped;
static void swap(const struct mt_document_text *text, struct mt_text *out)
{
    (void)text;
    mt_text_append_string(out, swapped);
}

static struct mt_document_options options_of(enum mt_document_format format)
{
    return (struct mt_document_options){.format = format, .target_lang = "de"};
}

static struct mt_document *read_file(const char *file, enum mt_document_format format)
{
    const struct mt_document_options options = options_of(format);
    return read_with(file, strlen(file), &options);
}

/* *n_left: of them, those that are not used. */
static char *translate(const char *file, enum mt_document_format format, translate_fn *with,
                       size_t *n_left)
{
    const struct mt_document_options options = options_of(format);
    struct mt_document_report report;
    char *result = translate_with(file, &options, with, &report);
    if (n_left)
        *n_left = report.n_refused;
    return result;
}

static void expect(const char *file, enum mt_document_format format, translate_fn *with,
                   const char *expected)
{
    char *result = translate(file, format, with, NULL);
    ck_assert_str_eq(result, expected);
    free(result);
}

static void expect_texts(const char *file, enum mt_document_format format, const char *expected)
{
    const struct mt_document_options options = options_of(format);
    expect_texts_with(file, &options, expected);
}

/* ---- every format: a file, its texts, and the file with these in upper case ---- */

static const struct {
    enum mt_document_format format;
    const char *file, *texts, *shouted;
} files[] = {
    {MT_DOCUMENT_JSON, " {} ", "", " {} "},
    {MT_DOCUMENT_JSON, "\"a\"", "a", "\"A\""},
    {MT_DOCUMENT_JSON,
     "\xEF\xBB\xBF{\r\n\t\"a\": {\"b\":\"c \\\"d\\\"\", \"n\": 1.50, \"t\":true},\r\n"
     "\"e\" : [ \"f\\ng\", null, \"\", \"12.5\", \"DD/MM/YYYY\" ]}\r\n",
     "c \"d\"|f\ng",
     "\xEF\xBB\xBF{\r\n\t\"a\": {\"b\":\"C \\\"D\\\"\", \"n\": 1.50, \"t\":true},\r\n"
     "\"e\" : [ \"F\\nG\", null, \"\", \"12.5\", \"DD/MM/YYYY\" ]}\r\n"},
    /* what is said about the file and its messages */
    {MT_DOCUMENT_JSON,
     "{\"$schema\":\"s\",\"locale\":\"en\",\"\":{\"x\":\"y\"},\"@m\":{\"d\":\"e\"},"
     "\"a\":{\"locale\":\"language\"}}",
     "language",
     "{\"$schema\":\"s\",\"locale\":\"en\",\"\":{\"x\":\"y\"},\"@m\":{\"d\":\"e\"},"
     "\"a\":{\"locale\":\"LANGUAGE\"}}"},
    {MT_DOCUMENT_JSON,
     "{\"a\":{\"message\":\"m\",\"description\":\"d\",\"placeholders\":{\"u\":{\"content\":"
     "\"$1\",\"example\":\"Tom\"}}},\"b\":{\"id\":\"i\",\"defaultMessage\":\"n\"},"
     "\"c\":{\"message\":\"o\",\"title\":\"p\"},\"d\":{\"message\":\"q\",\"string\":\"r\"},"
     "\"e\":{\"messageformat\":\"s\",\"description\":\"t\"}}",
     "m|n|o|p|q|r|s",
     "{\"a\":{\"message\":\"M\",\"description\":\"d\",\"placeholders\":{\"u\":{\"content\":"
     "\"$1\",\"example\":\"Tom\"}}},\"b\":{\"id\":\"i\",\"defaultMessage\":\"N\"},"
     "\"c\":{\"message\":\"O\",\"title\":\"P\"},\"d\":{\"message\":\"Q\",\"string\":\"R\"},"
     "\"e\":{\"messageformat\":\"S\",\"description\":\"t\"}}"},
    /* escapes as the file has them */
    {MT_DOCUMENT_JSON, "[\"\\u00fc \\ud83d\\ude00a\", \"\\u003cb\\u003e\\/\"]",
     "\xC3\xBC \xF0\x9F\x98\x80"
     "a|<b>/",
     "[\"\\u00fc \\ud83d\\ude00A\", \"\\u003cb\\u003e\\/\"]"},
    {MT_DOCUMENT_ARB,
     "{\"@@locale\":\"en\",\"a\":\"b\",\"@a\":{\"description\":\"c\"},\"locale\":\"d\"}", "b|d",
     "{\"@@locale\":\"en\",\"a\":\"B\",\"@a\":{\"description\":\"c\"},\"locale\":\"D\"}"},
    {MT_DOCUMENT_PROPERTIES, "", "", ""},
    {MT_DOCUMENT_PROPERTIES,
     "# c = d\r\n! e\r\n\r\n  a.b = c d \r\ne\\=\\ f:g\\\r\n   h\\tx\r\ni\r\nj k\r\nl==m\r\n"
     "n\\\n  o=p",
     "c d |gh\tx|k|=m|p",
     "# c = d\r\n! e\r\n\r\n  a.b = C D \r\ne\\=\\ f:GH\\tX\r\ni\r\nj K\r\nl==M\r\n"
     "n\\\n  o=P"},
    {MT_DOCUMENT_PROPERTIES, "a = b\\n\\\n    c\\n\\\n    d\n", "b\nc\nd",
     "a = B\\n\\\n    C\\n\\\n    D\n"},
    {MT_DOCUMENT_PROPERTIES, "a=\\ b\\u00fc\\ud83d\\ude00\\q\\\\\n",
     " b\xC3\xBC\xF0\x9F\x98\x80q\\", "a=\\ B\\u00fc\\ud83d\\ude00Q\\\\\n"},
    {MT_DOCUMENT_PROPERTIES, "a=b\xC3\xBC\\u00fc\n", "b\xC3\xBC\xC3\xBC", "a=B\xC3\xBC\xC3\xBC\n"},
    /* MessageFormat, and others */
    {MT_DOCUMENT_PROPERTIES, "a=it''s {0}\nb=it's\n", "it's {0}|it's", "a=IT''S {0}\nb=IT'S\n"},
    {MT_DOCUMENT_PROPERTIES, "a=it's {0}\nb=''\n", "it's {0}", "a=IT'S {0}\nb=''\n"},
    {MT_DOCUMENT_STRINGS, "", "", ""},
    {MT_DOCUMENT_STRINGS,
     "\xEF\xBB\xBF/* \"a\" = \"b\"; */\n\"c\" = \"d \\\"e\\\" %@\\n\"; // f\n"
     "g=\"h\";i = 'j\"k';\"l\";\"m\" /* n */ = /* o */ \"p\nq\" ;r = s;\n",
     "d \"e\" %@\n|h|j\"k|p\nq",
     "\xEF\xBB\xBF/* \"a\" = \"b\"; */\n\"c\" = \"D \\\"E\\\" %@\\n\"; // f\n"
     "g=\"H\";i = 'J\"K';\"l\";\"m\" /* n */ = /* o */ \"P\nQ\" ;r = s;\n"},
    {MT_DOCUMENT_STRINGS, "\"a\" = \"b\\U00fc\\101\\'\";",
     "b\xC3\xBC"
     "A'",
     "\"a\" = \"B\xC3\xBC"
     "A'\";"},
    {MT_DOCUMENT_YAML, "", "", ""},
    {MT_DOCUMENT_YAML, "--- a\n--- b\n...\n", "a|b", "--- A\n--- B\n...\n"},
    {MT_DOCUMENT_YAML,
     "\xEF\xBB\xBF# \xC3\xBC: b\r\nen:\r\n  a: b c # d\r\n  'e': 'f''s'\r\n"
     "  \"g\": \"h\\n\\\"i\\\"\"\r\n  j: [k l, 'm', {n: \"o\"}]\r\n",
     "b c|f's|h\n\"i\"|k l|m|o",
     "\xEF\xBB\xBF# \xC3\xBC: b\r\nen:\r\n  a: B C # d\r\n  'e': 'F''S'\r\n"
     "  \"g\": \"H\\n\\\"I\\\"\"\r\n  j: [K L, 'M', {n: \"O\"}]\r\n"},
    /* what is no string, or has a name */
    {MT_DOCUMENT_YAML,
     "a: 1.5\nb: yes\nc: 2001-12-14\nd: :year\ne: ~\nf:\ng: \"%Y-%m-%d\"\nh: !x y\ni: &z k\n"
     "l: *z\n? [m]\n: w\no: !!str p\nq: !!int 5\n",
     "k|w|p",
     "a: 1.5\nb: yes\nc: 2001-12-14\nd: :year\ne: ~\nf:\ng: \"%Y-%m-%d\"\nh: !x y\ni: &z K\n"
     "l: *z\n? [m]\n: W\no: !!str P\nq: !!int 5\n"},
    {MT_DOCUMENT_YAML, "a: b\n  c\n\n  d\ne: 'f\n  g'\nh: \"i\\\n  j\\u00fc\"\n",
     "b c\nd|f g|ij\xC3\xBC", "a: \"B C\\nD\"\ne: 'F G'\nh: \"IJ\\u00fc\"\n"},
    /* between quotation marks it would be none any more */
    {MT_DOCUMENT_YAML, "--- a\n\n\t\n--- b\t\n", "b", "--- a\n\n\t\n--- B\t\n"},
    {MT_DOCUMENT_YAML, "a: \"\\U0001f600 b\\u00fc\"\n", "\xF0\x9F\x98\x80 b\xC3\xBC",
     "a: \"\\U0001f600 B\\u00fc\"\n"},
    {MT_DOCUMENT_YAML, "a: |\n  b\n\n   c\n  d\n\n\ne: |2- # f\n    g\n  h\ni: >+\n\n  k\n\n",
     "b\n\n c\nd|  g\nh|\nk", "a: |\n  B\n\n   C\n  D\n\n\ne: |2- # f\n    G\n  H\ni: >+\n  K\n\n"},
    {MT_DOCUMENT_YAML,
     "a: >-\r\n  This is a sentence that somebody has\r\n  wrapped here.\r\n\r\n  End\r\n",
     "This is a sentence that somebody has wrapped here.\nEnd",
     "a: >-\r\n  THIS IS A SENTENCE THAT SOMEBODY HAS\r\n  WRAPPED HERE.\r\n\r\n  END\r\n"},
    {MT_DOCUMENT_YAML, "- id: a\n  b: c\n- {d: e, id: f, g: h}\n- id: {i: j}\n  k: l\n",
     "c|e|h|j|l", "- id: a\n  b: C\n- {d: E, id: f, g: H}\n- id: {i: J}\n  k: L\n"},
    {MT_DOCUMENT_YAML, "id: a\n", "a", "id: A\n"},
    {MT_DOCUMENT_JSON, "[{\"id\": \"a\", \"b\": {\"id\": \"c\"}}]", "c",
     "[{\"id\": \"a\", \"b\": {\"id\": \"C\"}}]"},
    {MT_DOCUMENT_YAML, "a: >\n  b\n    c\n  d\n", "b\n  c\nd", "a: |\n  B\n    C\n  D\n"},
    {MT_DOCUMENT_MD, "", "", ""},
    {MT_DOCUMENT_MD,
     "\xEF\xBB\xBF---\r\ntitle: x\r\n---\r\n# a `b` #\r\n\r\nc **d** <i>e</i>\r\n"
     "f [g](h \"i\").\r\n\r\n> * j  \r\n>   k\\\r\n>   **l**\r\n",
     "x|a `b`|c **d** <i>e</i> f [g](h \"\1"
     "63\2\").|i|j|k|**l**",
     NULL},
    {MT_DOCUMENT_MD, "```\na\n```\n\n    b\n\n***\n[d]: e\n\n<!-- f\n -->\n<?g h?>\n", "",
     "```\na\n```\n\n    b\n\n***\n[d]: e\n\n<!-- f\n -->\n<?g h?>\n"},
    /* HTML, and titles */
    {MT_DOCUMENT_MD,
     "<details><summary>a</summary>\n\n> <p align=\"b\">\n>   c <b>d</b>\n> <img src=e alt='f'>"
     "\n\n</details>\n\n<!-- g\n\nh --> i\n\n<br>\n",
     "<details><summary>a</summary>|c <b>d</b>|f|<!-- g\n\nh --> i",
     "<details><summary>A</summary>\n\n> <p align=\"b\">\n>   C <b>D</b>\n> <img src=e alt='F'>"
     "\n\n</details>\n\n<!-- g\n\nh --> I\n\n<br>\n"},
    {MT_DOCUMENT_MD, "[a](b \"c\") <img alt='d'> [e] ![f](g 'h')\n\n[e]: i (j)\n[k]: l \"m\"\n",
     "[a](b \"\1"
     "7\2\") <img alt='\1"
     "21\2'> [e][e] ![\1"
     "31\2](g '\1"
     "37\2')|c|d|f|h|j",
     "[A](B \"C\") <img alt='D'> [E][E] ![F](G 'H')\n\n[e]: i (J)\n[k]: l \"m\"\n"},
    /* front matter */
    {MT_DOCUMENT_MD, "---\r\ntitle: a: b\r\n---\r\n\r\nc\r\n", "c",
     "---\r\ntitle: a: b\r\n---\r\n\r\nC\r\n"},
    {MT_DOCUMENT_MD,
     "---\ntitle: a\nlayout: b\ntags: [c]\nDescription: >\n  d\n  e\nhero: {text: f, link: g}\n"
     "subtitle: \"h\"\ndate: 2024-01-01\n---\ni\n",
     "a|d e|f|h|i",
     "---\ntitle: A\nlayout: b\ntags: [c]\nDescription: >\n  D E\nhero: {text: F, link: g}\n"
     "subtitle: \"H\"\ndate: 2024-01-01\n---\nI\n"},
    {MT_DOCUMENT_MD, "+++\ntitle = \"a\"\n+++\nb\n", "b", "+++\ntitle = \"a\"\n+++\nB\n"},
    {MT_DOCUMENT_MD, "| a | *b* |\n|---|:-:|\n|`c`| d \\| e|\n", "a|*b*|`c`|d \\| e",
     "| A | *B* |\n|---|:-:|\n|`C`| D \\| E|\n"},
    {MT_DOCUMENT_MD, "a\n===\n\nB\n-\n\n# [![c](d)](e) f {#g}\n\n\\*h <https://i.org>\n",
     "a|B|[![\1"
     "17\2](d)](e) f|c|\\*h <https://i.org>",
     "A\n===\n\nB\n-\n\n# [![C](D)](E) F {#g}\n\n\\*H <https://i.org>\n"},
    /* notes */
    {MT_DOCUMENT_MD, "a\n\n[^1]: c g\n[^2]: d\ne\n: f\n", "a|[^1]: c g|[^2]: d e|: f",
     "A\n\n[^1]: C G\n[^2]: D E\n: F\n"},
    /* lines that are sentences or directives; links over several lines are left */
    {MT_DOCUMENT_MD, "a b.\nc d!\ne f\n\n:::note\ng\n:::\n\n> [!TIP]\n> h\n\n[i](j\n\"k\")\n",
     "a b.|c d!|e f|g|h|k",
     "A B.\nC D!\nE F\n\n:::note\nG\n:::\n\n> [!TIP]\n> H\n\n[i](j\n\"K\")\n"},
    {MT_DOCUMENT_MD,
     "**a**\nb\n**c** d\n\n{% highlight e %}\nf\n\n# g\n{% endhighlight %}\n\n$$\nh\n$$\n",
     "**a**|b **c** d", NULL},
    {MT_DOCUMENT_MD, "=== \"a\"\n    b\n\n??? c \"d\"\n    e\n", "b|e",
     "=== \"a\"\n    B\n\n??? c \"d\"\n    E\n"},
    {MT_DOCUMENT_MD,
     "a[^bc]\n\n[^bc]: d\n\n    e\n    f\n\n    * g\n\n        h\n\ni\n\n!!! note \"j\"\n\n    k\n",
     "a[^bc]|[^bc]: d|e f|g|h|i|k",
     "A[^BC]\n\n[^BC]: D\n\n    E F\n\n    * G\n\n        H\n\nI\n\n!!! note \"j\"\n\n    "
     "K\n"},
    {MT_DOCUMENT_MD, "1. - [x] This is a sentence that is somewhat longer than\n     a line.\n",
     "This is a sentence that is somewhat longer than a line.",
     "1. - [x] THIS IS A SENTENCE THAT IS SOMEWHAT LONGER THAN A\n     LINE.\n"},
    {MT_DOCUMENT_ANDROID, "<resources/>", "", "<resources/>"},
    {MT_DOCUMENT_ANDROID,
     "\xEF\xBB\xBF<?xml version=\"1.0\"?>\r\n<!-- a -->\r\n<resources xmlns:xliff=\"u\">\r\n"
     "<string name=\"b\"> c <i>d</i> %1$s\\n</string><string translatable=\"false\">e</string>\r\n"
     "<plurals name=\"f\"><item quantity=\"one\">g</item></plurals><color name=\"h\">red</color>"
     "<string-array translatable=\"false\"><item>i</item></string-array><string>@string/b</string>"
     "<string><![CDATA[ j & <b>k</b> ]]></string><string/><item type=\"id\">l</item></resources>",
     "c <i>d</i> %1$s\\n|g|j &amp; &lt;b&gt;k&lt;/b&gt;", NULL},
    {MT_DOCUMENT_RESX,
     "<root><resheader name=\"a\"><value>b</value></resheader><data name=\"c\"><value>\n d &lt; e"
     "</value><comment>f</comment></data><data name=\"g\" type=\"h\"><value>i</value></data>"
     "<data name=\"&gt;&gt;j\"><value>k</value></data></root>",
     "d &lt; e", NULL},
    {MT_DOCUMENT_RESX, "<root><data name=\"a\"><value>Open &amp;new</value></data></root>",
     "Open new", "<root><data name=\"a\"><value>OPEN &amp;NEW</value></data></root>"},
    {MT_DOCUMENT_RESX, "<root><data name=\"a\"><value>B &amp; _c</value></data></root>",
     "B &amp; c", NULL},
    {MT_DOCUMENT_STRINGSDICT,
     "<plist><dict><key>a</key><dict><key>NSStringLocalizedFormatKey</key><string>b %#@c@</string>"
     "<key>c</key><dict><key>NSStringFormatSpecTypeKey</key><string>d</string>\n<key>one</key>\n"
     "<string>e %d</string><array><string>f</string></array></dict></dict></dict></plist>",
     "b %#@c@|e %d", NULL},
    {MT_DOCUMENT_STRINGSDICT,
     "<plist><dict><key>a</key><dict><key>NSStringVariableWidthRuleType</key><dict><key>1</key>"
     "<string>b</string><key>20</key><string>c</string></dict><key>d</key><string>e</string></dict>"
     "</dict></plist>",
     "b|c", NULL},
};

START_TEST(a_file_whose_texts_stay_is_the_same_file)
{
    expect(files[_i].file, files[_i].format, same, files[_i].file);
    expect(files[_i].file, files[_i].format, nothing, files[_i].file);
}
END_TEST

START_TEST(messages_are_translated_and_nothing_else)
{
    expect_texts(files[_i].file, files[_i].format, files[_i].texts);
    if (files[_i].shouted)
        expect(files[_i].file, files[_i].format, shout, files[_i].shouted);
}
END_TEST

/* What is written can be read: whatever a translation holds comes back. */
START_TEST(any_translation_is_escaped)
{
    swapped = " \"'\\ \t\n {} # : = ! - <&> / * a\xC3\xBC\xF0\x9F\x98\x80\x7F\n b";
    struct mt_text joined = {0};
    struct mt_document *document = read_file(files[_i].file, files[_i].format);
    mt_text_append(&joined, "", 0);
    for (size_t i = 0; i < mt_document_n_texts(document); i++) {
        bool is_kept =
            mt_message_can_replace(mt_document_text(document, i).bytes,
                                   mt_document_text(document, i).length, swapped, strlen(swapped));
        mt_text_append(&joined, "|", i > 0);
        mt_text_append_string(&joined, is_kept ? swapped : mt_document_text(document, i).bytes);
    }
    mt_document_destroy(document);
    char *result = translate(files[_i].file, files[_i].format, swap, NULL);
    /* of YAML's block scalars blanks at the ends are the file's, and of Markdown all */
    if (files[_i].format < MT_DOCUMENT_MD && !strstr(files[_i].file, ": |") &&
        !strstr(files[_i].file, ": >"))
        expect_texts(result, files[_i].format, joined.bytes);
    mt_text_finish(&joined);
    free(result);
}
END_TEST

/* ---- bad files ---- */

static const struct {
    enum mt_document_format format;
    const char *file, *message;
} broken[] = {
    {MT_DOCUMENT_JSON, "", "the file: line 1, column 1: expected a value, found the end"},
    {MT_DOCUMENT_JSON, "{\"a\": \"b\",\n}", "line 2, column 1: expected a key in double quotes"},
    {MT_DOCUMENT_JSON, "{\"a\": \"b\",\n\"a\": \"c\"}",
     "line 2, column 1: key \"a\" appears twice"},
    {MT_DOCUMENT_ARB, "{\"a\": \"\\ud800\"}", "line 1, column 8: high surrogate"},
    {MT_DOCUMENT_PROPERTIES, "a=b\nc=\\u12g4\n", "line 2: \"c=\\u12g4\" holds a \\u that is no"},
    {MT_DOCUMENT_PROPERTIES, "c=\\ude00", "line 1: \"c=\\ude00\" holds a \\u that is no character"},
    {MT_DOCUMENT_PROPERTIES, "c=\\u", "line 1: \"c=\\u\" holds a \\u that is no character"},
    {MT_DOCUMENT_STRINGS, "\n\"a\" = \"b\n",
     "line 2: \"\"a\" = \"b\" holds a string that does not"},
    {MT_DOCUMENT_STRINGS, "\"a\" = \"b\"\n\"c\" = \"d\";",
     "line 1: \"\"a\" = \"b\"\" does not end"},
    {MT_DOCUMENT_STRINGS, "/* a", "line 1: \"/* a\" begins a comment that does not end"},
    {MT_DOCUMENT_STRINGS, "\"a\" \"b\";", "has no value: expected = behind the key"},
    {MT_DOCUMENT_STRINGS, "{ a = b; }", "has no string: expected \"...\""},
    {MT_DOCUMENT_STRINGS, "a = \"\\777\";", "holds an escape that is none of"},
    {MT_DOCUMENT_STRINGS, "a = \"\\U12\";", "holds an escape that is none of"},
    {MT_DOCUMENT_YAML, "a: b\nc: 'd\n", "line 3: expected YAML: while scanning a quoted scalar"},
    {MT_DOCUMENT_YAML, "a: b\n  c: d\n", "line 2: expected YAML: mapping values are not allowed"},
    {MT_DOCUMENT_YAML, "a: b\nc: \x01\n", "line 2: \"c: \x01\" holds a character that YAML"},
    {MT_DOCUMENT_ANDROID, "", "line 1, column 1: expected XML: no element found"},
    {MT_DOCUMENT_ANDROID, "<resources>\n<string></resources>",
     "line 2, column 11: expected XML: mismatched tag"},
    {MT_DOCUMENT_ANDROID, "<root/>", "line 1: the file begins with <root>, expected <resources>"},
    {MT_DOCUMENT_STRINGSDICT, "<resources/>", "begins with <resources>, expected <plist>"},
    {MT_DOCUMENT_RESX, "<!DOCTYPE a [\n<!ENTITY b \"c\">]><root/>",
     "line 2: an entity is declared (b), which is not read"},
    {MT_DOCUMENT_RESX, "<root>&b;</root>", "line 1, column 7: expected XML: undefined entity"},
    {MT_DOCUMENT_XLIFF, "<a/>", "line 1: the file begins with <a>, expected <xliff>"},
    {MT_DOCUMENT_XLIFF, "<xliff/>", "line 1: the version is \"\", expected 1.2, or 2.0 to 2.2"},
    {MT_DOCUMENT_XLIFF, "<xliff version=\"1.2\">\n<file target-language=\"fr\"/></xliff>",
     "line 2: target-language is \"fr\", expected \"de\""},
    {MT_DOCUMENT_XLIFF, "<xliff version=\"2.0\" trgLang=\"fr-CA\"/>",
     "line 1: trgLang is \"fr-CA\", expected \"de\""},
    {MT_DOCUMENT_XCSTRINGS, "{}", "the file has no \"sourceLanguage\", expected a catalogue"},
    {MT_DOCUMENT_XCSTRINGS, "[", "line 1, column 2: expected a value"},
    {MT_DOCUMENT_TMX, "<a/>", "line 1: the file begins with <a>, expected <tmx>"},
    {MT_DOCUMENT_TS, "export const a = 1;", "line 1, column 1: expected XML: syntax error"},
    {MT_DOCUMENT_YAML, "a: @b\n", "line 1: expected YAML: while scanning for the next token"},
};

START_TEST(broken_files_are_refused_with_their_line)
{
    const struct mt_document_options options = {.format = broken[_i].format, .target_lang = "de"};
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    enum mt_status status =
        mt_document_create(broken[_i].file, strlen(broken[_i].file), &options, &document, &err);
    ck_assert_msg(status == MT_FORMAT, "%s: status %d", broken[_i].message, (int)status);
    ck_assert_msg(strstr(err.message, broken[_i].message), "\"%s\" is not in \"%s\"",
                  broken[_i].message, err.message);
}
END_TEST

static const enum mt_document_format nested[] = {MT_DOCUMENT_JSON, MT_DOCUMENT_YAML};

START_TEST(what_is_nested_deeply_is_refused)
{
    char file[1001];
    memset(file, '[', 1000);
    file[1000] = '\0';
    const struct mt_document_options options = {.format = nested[_i]};
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_document_create(file, 1000, &options, &document, &err), MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "nested deeper than 64"));
}
END_TEST

static void append_times(struct mt_text *out, const char *what, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mt_text_append_string(out, what);
}

static void expect_limit(const struct mt_text *file, enum mt_document_format format,
                         const char *message)
{
    const struct mt_document_options options = {.format = format, .target_lang = "de"};
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    ck_assert_int_eq(mt_document_create(file->bytes, file->length, &options, &document, &err),
                     MT_LIMIT);
    ck_assert_msg(strstr(err.message, message), "%s", err.message);
}

START_TEST(elements_that_are_nested_deeply_are_refused)
{
    struct mt_text file = {0};
    append_times(&file, "<xliff version='1.2'>", 1);
    append_times(&file, "<group>", 200000);
    expect_limit(&file, MT_DOCUMENT_XLIFF, "line 1: elements are nested deeper than 256");
    mt_text_finish(&file);
}
END_TEST

/* A row of one cell has as many as its table's head. */
START_TEST(tables_of_missing_cells_are_refused)
{
    struct mt_text file = {0};
    append_times(&file, "|a", 100);
    append_times(&file, "|\n", 1);
    append_times(&file, "|---", 100);
    append_times(&file, "|\n", 1);
    append_times(&file, "|b\n", 100000);
    expect_limit(&file, MT_DOCUMENT_MD, "cells, most of them missing");
    mt_text_finish(&file);
}
END_TEST

/* Each says its language for itself. */
START_TEST(an_xliff_file_of_many_files_takes_linear_time)
{
    struct mt_text file = {0};
    append_times(&file, "<xliff version='1.2'>", 1);
    append_times(&file, "<file><trans-unit><source>ab</source></trans-unit></file>", 20000);
    append_times(&file, "</xliff>", 1);
    struct mt_document *document = read_file(file.bytes, MT_DOCUMENT_XLIFF);
    ck_assert_uint_eq(mt_document_n_texts(document), 20000);
    mt_document_destroy(document);
    mt_text_finish(&file);
}
END_TEST

/* ---- YAML ---- */

static const struct {
    const char *translation, *written;
} scalars[] = {
    {"b c", "b c"},           {"b: c", "\"b: c\""},
    {"b #c", "\"b #c\""},     {"- b", "\"- b\""},
    {"yes", "\"yes\""},       {"b,c", "b,c"},
    {"b:c", "b:c"},           {"b:", "\"b:\""},
    {" b", "\" b\""},         {"b\xC2\x85", "\"b\\u0085\""},
    {"%{b} c", "\"%{b} c\""}, {"1e5", "\"1e5\""},
    {"b 'c'", "b 'c'"},       {"\xC3\x84 b", "\xC3\x84 b"},
};

START_TEST(a_plain_scalar_is_quoted_where_it_has_to_be)
{
    char expected[64];
    swapped = scalars[_i].translation;
    bool has_placeholder = strchr(swapped, '{');
    snprintf(expected, sizeof expected, "x: %s\n", scalars[_i].written);
    expect(has_placeholder ? "x: z %{b}\n" : "x: z\n", MT_DOCUMENT_YAML, swap, expected);
}
END_TEST

START_TEST(in_brackets_more_is_quoted)
{
    swapped = "b, c";
    expect("[a]\n", MT_DOCUMENT_YAML, swap, "[\"b, c\"]\n");
    expect("- a\n", MT_DOCUMENT_YAML, swap, "- b, c\n");
}
END_TEST

/* ---- Markdown ---- */

static const struct {
    const char *file, *translation, *written;
} marks[] = {
    {"a\n", "1. b", "1\\. b\n"},
    {"a\n", "- b", "\\- b\n"},
    {"a\n", "# b", "\\# b\n"},
    {"a\n", "#b\nc", "a\n"},           /* a line more */
    {"a *b* c\n", "d e", "a *b* c\n"}, /* a sign less */
    {"a b\n", "a `b`", "a b\n"},
    {"- a\n", " b ", "- b\n"},
    {"a \\*b\\*\n", "c \\ *d\\ *", "c \\*d\\*\n"},
    {"==a== b\n", "a ===b", "==a== b\n"},
    /* what would become a mark of a list is not at the beginning of a line */
    {"> This is a sentence that is longer than sixty characters are,\n> and a half.\n",
     "This is a sentence that is longer than sixty characters are 1. and - a half.",
     "> This is a sentence that is longer than sixty characters are 1.\n> and - a half.\n"},
    {"This is a sentence that is longer than sixty characters are `a b`,\nand a half.\n",
     "This is a sentence that is even longer than sixty characters are `a b`, and a half.",
     "This is a sentence that is even longer than sixty characters are\n`a b`, and a half.\n"},
};

START_TEST(a_translation_stays_in_its_block)
{
    swapped = marks[_i].translation;
    expect(marks[_i].file, MT_DOCUMENT_MD, swap, marks[_i].written);
}
END_TEST

/* ---- XML ---- */

#define XLIFF(unit) "<xliff version=\"1.2\"><file target-language=\"de\">" unit "</file></xliff>"
#define XLIFF_2(unit) "<xliff version=\"2.1\" trgLang=\"de-AT\">" unit "</xliff>"
#define STATE " state=\"needs-review-translation\" state-qualifier=\"mt-suggestion\""
#define TMX(tu) "<tmx version=\"1.4\"><header srclang=\"en-US\"/><body>" tu "</body></tmx>"
#define XCSTRINGS(strings) \
    "{\n  \"sourceLanguage\" : \"en\",\n  \"strings\" : {\n    " strings "\n  }\n}\n"
#define OPENING "\n      \"localizations\" : {"
#define CLOSING "\n      }"
#define UNIT(value)                                                                \
    "\n        \"de\" : {\n          \"stringUnit\" : {\n            \"state\" : " \
    "\"needs_review\",\n"                                                          \
    "            \"value\" : \"" value "\"\n          }\n        }"
#define TS(message) "<TS version=\"2.1\"><context>" message "</context></TS>"

/* A file, and it with every text in upper case. */
static const struct {
    enum mt_document_format format;
    const char *file, *filled;
} units[] = {
    {MT_DOCUMENT_ANDROID, "<resources><string> a\\'b </string></resources>",
     "<resources><string> A\\'B </string></resources>"},
    {MT_DOCUMENT_XLIFF,
     XLIFF("\n  <trans-unit>\n    <source>a <g id=\"1\">b</g></source>\n  </trans-unit>"),
     XLIFF("\n  <trans-unit>\n    <source>a <g id=\"1\">b</g></source>\n    <target" STATE
           ">A <g id=\"1\">B</g></target>\n  </trans-unit>")},
    {MT_DOCUMENT_PO, "msgid \"translator-credits\"\nmsgstr \"\"\n\nmsgid \"a\"\nmsgstr \"\"\n",
     "msgid \"translator-credits\"\nmsgstr \"\"\n\nmsgid \"a\"\nmsgstr \"A\"\n"},
    {MT_DOCUMENT_XLIFF,
     XLIFF("<trans-unit><source> a </source><target xml:lang='x' state = 'new'/></trans-unit>"),
     XLIFF("<trans-unit><source> a </source><target xml:lang='x'" STATE
           "> A </target></trans-unit>")},
    {MT_DOCUMENT_XLIFF,
     XLIFF("<trans-unit><source>a b</source><seg-source><mrk mtype=\"seg\">a</mrk> b</seg-source>"
           "<note>c</note></trans-unit>"),
     XLIFF("<trans-unit><source>a b</source><seg-source><mrk mtype=\"seg\">a</mrk> b</seg-source>"
           "<target" STATE "><mrk mtype=\"seg\">A</mrk> B</target><note>c</note></trans-unit>")},
    /* segments that nobody has filled, as Trados and memoQ write them */
    {MT_DOCUMENT_XLIFF,
     XLIFF("<trans-unit><source>a <x n='>'/> b</source><seg-source><mrk mtype=\"seg\">a</mrk>"
           "<x n='>'/> <mrk mtype=\"seg\">b</mrk></seg-source><target><mrk mtype=\"seg\"/>"
           "<x n='>'/> <mrk mtype=\"seg\"/></target></trans-unit>"),
     XLIFF("<trans-unit><source>a <x n='>'/> b</source><seg-source><mrk mtype=\"seg\">a</mrk>"
           "<x n='>'/> <mrk mtype=\"seg\">b</mrk></seg-source><target" STATE
           "><mrk mtype=\"seg\">A</mrk><x n='>'/> <mrk mtype=\"seg\">B</mrk></target>"
           "</trans-unit>")},
    /* what is locked or done, and what is no unit */
    {MT_DOCUMENT_XLIFF,
     XLIFF("<trans-unit><source>a</source><target><mrk n=\"'>\">b</mrk></target></trans-unit>"
           "<trans-unit><source>a</source><target><![CDATA[b]]></target></trans-unit>"),
     NULL},
    {MT_DOCUMENT_XLIFF,
     XLIFF("<group translate=\"no\"><trans-unit><source>a</source></trans-unit></group>"
           "<trans-unit approved=\"yes\"><source>a</source></trans-unit>"
           "<trans-unit><source>a</source><target>b</target></trans-unit>"
           "<trans-unit><source>a</source><target state=\"final\"/></trans-unit>"
           "<trans-unit><alt-trans><source>a</source><target/></alt-trans></trans-unit>"
           "<trans-unit><source/></trans-unit>"),
     NULL},
    {MT_DOCUMENT_XLIFF,
     XLIFF("<group translate=\"no\"><group><trans-unit translate='yes'><source>a</source>"
           "</trans-unit><trans-unit><source>b</source></trans-unit></group></group>"),
     XLIFF("<group translate=\"no\"><group><trans-unit "
           "translate='yes'><source>a</source><target" STATE
           ">A</target></trans-unit><trans-unit><source>b</source></trans-unit></group></group>")},
    {MT_DOCUMENT_XLIFF,
     "<xliff version=\"1.2\"><file/><file a='b'><trans-unit><source>a</source>"
     "</trans-unit></file></xliff>",
     "<xliff version=\"1.2\"><file target-language=\"de\"/><file a='b' target-language=\"de\">"
     "<trans-unit><source>a</source><target" STATE ">A</target></trans-unit></file></xliff>"},
    {MT_DOCUMENT_XLIFF,
     "<xliff version=\"2.0\" trgLang=\"\"><segment><source>a</source></segment></xliff>",
     "<xliff version=\"2.0\" trgLang=\"de\"><segment state=\"translated\"><source>a</source>"
     "<target>A</target></segment></xliff>"},
    {MT_DOCUMENT_XLIFF,
     XLIFF_2("<unit><segment id=\"1\" state=\"initial\">\n <source>a<ph id=\"1\"/></source>\n"
             "</segment><ignorable><source>b</source></ignorable></unit>"),
     XLIFF_2("<unit><segment id=\"1\" state=\"translated\">\n <source>a<ph id=\"1\"/></source>\n"
             " <target>A<ph id=\"1\"/></target>\n"
             "</segment><ignorable><source>b</source></ignorable></unit>")},
    {MT_DOCUMENT_XLIFF,
     XLIFF_2("<unit translate=\"no\"><segment><source>a</source></segment></unit><unit>"
             "<segment state=\"final\"><source>a</source></segment>"
             "<segment><source>a</source><target>b</target></segment></unit>"),
     NULL},
    {MT_DOCUMENT_XCSTRINGS,
     XCSTRINGS("\"a\" : {\n\n    },\n    \"b\" : {\n      \"comment\" : \"c\"\n    },\n"
               "    \"d\" : {\n      \"localizations\" : {\n"
               "        \"en\" : { \"stringUnit\" : { \"state\" : \"new\", \"value\" : \"e\\n\" } "
               "}\n      }\n    }"),
     XCSTRINGS("\"a\" : {" OPENING UNIT("A") CLOSING
               "\n    },\n    \"b\" : {\n      \"comment\" : \"c\"," OPENING UNIT("B") CLOSING
               "\n    },\n"
               "    \"d\" : {\n      \"localizations\" : {\n"
               "        \"en\" : { \"stringUnit\" : { \"state\" : \"new\", \"value\" : \"e\\n\" } "
               "}," UNIT("E\\n") "\n      }\n    }")},
    {MT_DOCUMENT_XCSTRINGS,
     XCSTRINGS("\"\": {}, \"1 %@\": {}, \"a\": {\"shouldTranslate\": false}, \"b\": "
               "{\"extractionState\":\"stale\"},"
               "\"c\": {\"localizations\": {\"de-DE\": {}}}, \"d\": {\"localizations\": {\"en\": "
               "{\"variations\": {}}}}, \"e\": 1"),
     NULL},
    {MT_DOCUMENT_TMX,
     TMX("<tu>\n<note>x</note>\n <tuv xml:lang=\"fr\"><seg>b</seg></tuv>\n <tuv xml:lang=\"EN\">"
         "<seg>a</seg></tuv>\n</tu>"),
     TMX("<tu>\n<note>x</note>\n <tuv xml:lang=\"fr\"><seg>b</seg></tuv>\n <tuv xml:lang=\"EN\">"
         "<seg>a</seg></tuv>\n <tuv xml:lang=\"de\"><seg>A</seg></tuv>\n</tu>")},
    {MT_DOCUMENT_TMX,
     TMX("<tu><tuv lang=\"en\"><seg>a</seg></tuv><tuv lang=\"DE-at\"><seg>b</seg></tuv></tu>"
         "<tu><tuv lang=\"fr\"><seg>a</seg></tuv></tu><tu/>"),
     NULL},
    {MT_DOCUMENT_TS,
     TS("<message><source>&amp;a</source><translation type=\"unfinished\"></translation></message>"
        "<message numerus=\"yes\"><source>b</source><translation><numerusform/><numerusform>x"
        "</numerusform></translation></message>"),
     TS("<message><source>&amp;a</source><translation type=\"unfinished\">&amp;A</translation>"
        "</message><message numerus=\"yes\"><source>b</source><translation><numerusform>B"
        "</numerusform><numerusform>x</numerusform></translation></message>")},
    {MT_DOCUMENT_TS,
     TS("<message><source>a</source><translation type=\"vanished\"/></message><message><source>a"
        "</source><translation>b</translation></message><message><source>a</source></message>"),
     NULL},
};

START_TEST(translations_are_put_beside_their_sources)
{
    expect(units[_i].file, units[_i].format, shout,
           units[_i].filled ? units[_i].filled : units[_i].file);
}
END_TEST

START_TEST(a_file_without_translations_declares_no_language)
{
    static const char *const plain[] = {
        "<xliff version=\"1.2\"><file><trans-unit><source>a</source></trans-unit></file></xliff>",
        "<xliff version=\"2.0\"><segment><source>a</source></segment></xliff>"};
    expect(plain[_i], MT_DOCUMENT_XLIFF, nothing, plain[_i]);
}
END_TEST

START_TEST(a_language_is_written_as_files_have_it)
{
    static const char file[] = TMX("<tu><tuv xml:lang='en'><seg>a</seg></tuv></tu>");
    const struct mt_document_options options = {.format = MT_DOCUMENT_TMX, .target_lang = "pb"};
    struct mt_document *document = NULL;
    struct mt_text translation = {0}, out = {0};
    struct mt_document_report report;
    struct mt_error err;
    ck_assert_int_eq(mt_document_create(file, strlen(file), &options, &document, &err), MT_OK);
    mt_text_append_string(&translation, "b");
    ck_assert_int_eq(mt_document_write(document, &translation, &out, &report, &err), MT_OK);
    ck_assert_ptr_nonnull(strstr(out.bytes, "<tuv xml:lang=\"pt-BR\"><seg>b</seg></tuv>"));
    mt_text_finish(&translation);
    mt_text_finish(&out);
    mt_document_destroy(document);
}
END_TEST

START_TEST(a_language_that_is_none_is_not_written)
{
    const struct mt_document_options options = {.format = MT_DOCUMENT_TMX, .target_lang = "d\"e"};
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    static const char file[] = TMX("");
    ck_assert_int_eq(mt_document_create(file, strlen(file), &options, &document, &err), MT_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.message, "needs a language to be translated into"));
}
END_TEST

START_TEST(what_is_no_content_of_xml_is_left)
{
    size_t n_left;
    static const char *const bad[] = {"<b>a", "</string><string>", "a & b", "a\x01", "&b;"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        swapped = bad[i];
        char *result = translate("<resources><string>x</string></resources>", MT_DOCUMENT_ANDROID,
                                 swap, &n_left);
        ck_assert_str_eq(result, "<resources><string>x</string></resources>");
        ck_assert_uint_eq(n_left, 1);
        free(result);
    }
    swapped = "@b";
    expect("<resources><string>x</string></resources>", MT_DOCUMENT_ANDROID, swap,
           "<resources><string>\\@b</string></resources>");
    swapped = "b ]]&gt; c";
    expect("<resources><string><![CDATA[x]]></string></resources>", MT_DOCUMENT_ANDROID, swap,
           "<resources><string><![CDATA[x]]></string></resources>");
    swapped = "b &amp; &lt;c&gt;";
    expect("<resources><string><![CDATA[x]]></string></resources>", MT_DOCUMENT_ANDROID, swap,
           "<resources><string><![CDATA[b & <c>]]></string></resources>");
}
END_TEST

/* ---- what a program would not bear ---- */

#define FILES "{n, plural, one {# file in {d}} other {# files in {d}}}"

static const struct {
    const char *message, *translation;
    bool is_kept;
} pairs[] = {
    {"a", "b", true},
    {"%d of %s", "%d von %s", true},
    {"%d of %s", "%s von %d", false},
    {"%1$d of %2$s", "%2$s von %1$d", true},
    {"%d%% of it", "%d % davon", false},
    {"%d%% of it", "%d%% davon", true},
    {"{a} of {b}", "{b} von {a}", true},
    {"{a} of {b}", "{b} von {b}", false},
    {"{{a}} b", "c", false},
    {"see <b>this</b>", "<b>das</b> hier", true},
    {"see <b>this</b>", "das hier", false},
    {"see <0>this</0>", "<0>das<0>", false},
    {"see <a href=\"x y\">this</a>", "<a href=\"x z\">das</a>", false},
    {"a < b", "a > b", true},
    {"$USER$ left", "$USER$ ging", true},
    {"$USER$ left", "Er ging", false},
    {"$5 left", "5 $ blieben", true},
    {"You have " FILES ".", "Sie haben {n, plural, one {# Datei in {d}} other {in {d} # Dateien}}.",
     true},
    {FILES, "{n, plural, one {# Datei in {d}} other {# Dateien in d}}", false},
    {FILES, "{n, plural, one {# Datei in {d}} other {Dateien in {d}}}", false},
    {FILES, "{n, plural, eins {# Datei in {d}} other {# Dateien in {d}}}", false},
    {FILES, "{n, plural, one {# Datei in {d}} other {# Dateien in {d}", false},
    {FILES, "# Dateien in {d}", false},
    {"{g, select, male {He} other {They}} left", "{g, select, male {Er} other {Sie}} ging", true},
    {"{g, select, male {He} other {They}} left", "{g, select, male {Er}} ging", false},
    {"{g, select, a {{n, plural, other {{x}}}} other {}}",
     "{g, select, a {{n, plural, other {{x}}}} other {}}", true},
    {"{g, select, a {{n, plural, other {{x}}}} other {}}",
     "{g, select, a {{n, plural, other {{y}}}} other {}}", false},
    {"Open \\\"%s\\\"\\nNow", "„%s“ auf\\nJetzt", true},
    {"a\\n%1$s\\n%2$s", "%2$s b %1$s", true},
    {"a\\n%1$s\\n%2$s", "b %1$s", false},
};

START_TEST(a_message_keeps_what_a_program_needs)
{
    const char *message = pairs[_i].message, *translation = pairs[_i].translation;
    ck_assert_msg(mt_message_can_replace(message, strlen(message), translation,
                                         strlen(translation)) == pairs[_i].is_kept,
                  "%s: %s", message, translation);
}
END_TEST

START_TEST(a_message_that_lost_something_is_left_and_counted)
{
    size_t n_left;
    swapped = "Hallo";
    char *result =
        translate("{\"a\": \"Hi {name}\", \"b\": \"Hi\"}", MT_DOCUMENT_JSON, swap, &n_left);
    ck_assert_str_eq(result, "{\"a\": \"Hi {name}\", \"b\": \"Hallo\"}");
    ck_assert_uint_eq(n_left, 1);
    free(result);
}
END_TEST

START_TEST(braces_without_end_take_linear_time)
{
    enum { N = 100000 };
    char *message = malloc(N + 1);
    ck_assert_ptr_nonnull(message);
    memset(message, '{', N);
    message[N] = '\0';
    ck_assert(mt_message_can_replace(message, N, message, N));
    free(message);
}
END_TEST

Suite *suite_messages(void)
{
    Suite *suite = suite_create("messages");
    TCase *all = tcase_create("all");
    const int n_files = (int)(sizeof files / sizeof *files);
    tcase_add_loop_test(all, a_file_whose_texts_stay_is_the_same_file, 0, n_files);
    tcase_add_loop_test(all, messages_are_translated_and_nothing_else, 0, n_files);
    tcase_add_loop_test(all, any_translation_is_escaped, 0, n_files);
    tcase_add_loop_test(all, broken_files_are_refused_with_their_line, 0,
                        (int)(sizeof broken / sizeof *broken));
    tcase_add_loop_test(all, what_is_nested_deeply_is_refused, 0,
                        (int)(sizeof nested / sizeof *nested));
    tcase_add_test(all, elements_that_are_nested_deeply_are_refused);
    tcase_add_test(all, tables_of_missing_cells_are_refused);
    tcase_add_test(all, an_xliff_file_of_many_files_takes_linear_time);
    tcase_add_loop_test(all, a_plain_scalar_is_quoted_where_it_has_to_be, 0,
                        (int)(sizeof scalars / sizeof *scalars));
    tcase_add_test(all, in_brackets_more_is_quoted);
    tcase_add_loop_test(all, translations_are_put_beside_their_sources, 0,
                        (int)(sizeof units / sizeof *units));
    tcase_add_loop_test(all, a_file_without_translations_declares_no_language, 0, 2);
    tcase_add_test(all, a_language_that_is_none_is_not_written);
    tcase_add_test(all, a_language_is_written_as_files_have_it);
    tcase_add_test(all, what_is_no_content_of_xml_is_left);
    tcase_add_loop_test(all, a_translation_stays_in_its_block, 0,
                        (int)(sizeof marks / sizeof *marks));
    tcase_add_loop_test(all, a_message_keeps_what_a_program_needs, 0,
                        (int)(sizeof pairs / sizeof *pairs));
    tcase_add_test(all, a_message_that_lost_something_is_left_and_counted);
    tcase_add_test(all, braces_without_end_take_linear_time);
    suite_add_tcase(suite, all);
    return suite;
}
