/*
 * OpenDocument, books and pages of XHTML: what is a text, what comes back as it was, and files that are
 * meant to do harm. Packages in general are test_docx.c's.
 */
#include "make_package.h"

#include "base/file.h"
#include "server/documents/document.h"
#include "server/documents/package.h"

#include <check.h>
#include <stdio.h>

#define MAX_TEXTS 64

static const struct mt_document_options odt = {.format = MT_DOCUMENT_ODT, .target_lang = "de"};
static const struct mt_document_options epub = {.format = MT_DOCUMENT_EPUB, .target_lang = "de"};
static const struct mt_document_options page = {.format = MT_DOCUMENT_HTML, .target_lang = "de"};

/* ---- files ---- */

#define OASIS "urn:oasis:names:tc:opendocument:xmlns:"
#define ODF_ROOT                                                                        \
    "<office:document-content xmlns:office=\"" OASIS "office:1.0\" xmlns:text=\"" OASIS \
    "text:1.0\" xmlns:style=\"" OASIS "style:1.0\" xmlns:fo=\"" OASIS                   \
    "xsl-fo-compatible:1.0\" xmlns:table=\"" OASIS "table:1.0\" xmlns:draw=\"" OASIS    \
    "drawing:1.0\" xmlns:presentation=\"" OASIS "presentation:1.0\" xmlns:svg=\"" OASIS \
    "svg-compatible:1.0\" xmlns:form=\"" OASIS                                          \
    "form:1.0\" xmlns:officeooo=\"http://openoffice.org/2009/office\"><office:body>"
#define ODF_END "</office:body></office:document-content>"
#define ODF_TYPE "application/vnd.oasis.opendocument.text"
#define BOLD                                                                       \
    "<style:style style:name=\"T1\" style:family=\"text\"><style:text-properties " \
    "fo:font-weight=\"bold\" officeooo:rsid=\"1\"/></style:style>"                 \
    "<style:style style:name=\"T2\" style:family=\"text\"><style:text-properties " \
    "fo:font-weight=\"bold\" officeooo:rsid=\"2\"/></style:style>"                 \
    "<style:style style:name=\"T3\" style:family=\"text\"><style:text-properties " \
    "fo:language=\"en\" officeooo:rsid=\"3\"/></style:style>"                      \
    "<style:style style:name=\"T4\" style:family=\"text\"><style:text-properties " \
    "style:text-position=\"super 58%\"/></style:style>"

/* content.xml's body, and styles.xml where it is one. */
static char *make_odt(const char *body, const char *styles, size_t *length)
{
    struct mt_text content = {0};
    mt_text_appendf(&content, "%s%s%s", ODF_ROOT, body, ODF_END);
    const struct entry entries[] = {
        {"mimetype", ODF_TYPE, 0, ZIP_CM_STORE, false},
        {"META-INF/manifest.xml", "<manifest:manifest/>", 0, ZIP_CM_STORE, false},
        {"content.xml", content.bytes, content.length, ZIP_CM_STORE, false},
        {"styles.xml", styles ? styles : "", 0, ZIP_CM_STORE, false}};
    char *file = make_package(entries, styles ? 4 : 3, length);
    mt_text_finish(&content);
    return file;
}

#define CONTAINER                                                                                \
    "<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfiles><rootfile " \
    "full-path=\"OEBPS/content.opf\" media-type=\"application/oebps-package+xml\"/></rootfiles>" \
    "</container>"
#define OPF                                                                               \
    "<package xmlns=\"http://www.idpf.org/2007/opf\" "                                    \
    "xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><metadata><dc:title>A book</dc:title>" \
    "<dc:creator>Ann</dc:creator><dc:language>en</dc:language></metadata><manifest>"      \
    "<item id=\"a\" href=\"Text/a%20b.xhtml\" media-type=\"application/xhtml+xml\"/>"     \
    "<item id=\"n\" href=\"../toc.ncx\" media-type=\"application/x-dtbncx+xml\"/>"        \
    "</manifest></package>"
#define NCX                                                                                        \
    "<ncx xmlns=\"http://www.daisy.org/z3986/2005/ncx/\"><docTitle><text>A book</text></docTitle>" \
    "<docAuthor><text>Ann</text></docAuthor></ncx>"
#define HTML \
    "<html xmlns=\"http://www.w3.org/1999/xhtml\" xmlns:epub=\"http://www.idpf.org/2007/ops\" "

static char *make_epub(const char *chapter, const char *encryption, size_t *length)
{
    const struct entry entries[] = {
        {"mimetype", "application/epub+zip", 0, ZIP_CM_STORE, false},
        {"META-INF/container.xml", CONTAINER, 0, ZIP_CM_DEFLATE, false},
        {"OEBPS/content.opf", OPF, 0, ZIP_CM_DEFLATE, false},
        {"OEBPS/Text/a b.xhtml", chapter, 0, ZIP_CM_DEFLATE, false},
        {"toc.ncx", NCX, 0, ZIP_CM_DEFLATE, false},
        {"META-INF/encryption.xml", encryption ? encryption : "", 0, ZIP_CM_DEFLATE, false}};
    return make_package(entries, encryption ? 6 : 5, length);
}

/* ---- reading and writing ---- */

/* Takes the file. */
static struct mt_document *read_file(char *file, size_t length,
                                     const struct mt_document_options *options)
{
    struct mt_document *document = NULL;
    struct mt_error err;
    enum mt_status status = mt_document_create(file, length, options, &document, &err);
    ck_assert_msg(!status, "%s", status ? err.message : "");
    free(file);
    return document;
}

static struct mt_document *read_odt(const char *body, const char *styles)
{
    size_t length;
    char *file = make_odt(body, styles, &length);
    return read_file(file, length, &odt);
}

static struct mt_document *read_epub(const char *chapter)
{
    size_t length;
    char *file = make_epub(chapter, NULL, &length);
    return read_file(file, length, &epub);
}

static void expect_texts(const struct mt_document *document, const char *expected)
{
    struct mt_text all = {0};
    mt_text_append(&all, "", 0);
    for (size_t i = 0; i < mt_document_n_texts(document); i++) {
        mt_text_append(&all, "|", i > 0);
        mt_text_append_string(&all, mt_document_text(document, i).bytes);
    }
    ck_assert_str_eq(all.bytes, expected);
    mt_text_finish(&all);
}

/* The translations with '|' between them, "=" for one that is the text, "-" for none. */
static void write_file(const struct mt_document *document, const char *translations,
                       struct mt_document_report *report, struct mt_text *out)
{
    struct mt_text texts[MAX_TEXTS] = {{0}};
    struct mt_error err;
    size_t n = mt_document_n_texts(document);
    ck_assert_uint_le(n, MAX_TEXTS);
    for (size_t i = 0; i < n; i++) {
        size_t length = strcspn(translations, "|");
        if (length == 1 && *translations == '=')
            mt_text_append_string(&texts[i], mt_document_text(document, i).bytes);
        else if (length != 1 || *translations != '-')
            mt_text_append(&texts[i], translations, length);
        translations += length + (translations[length] == '|');
    }
    enum mt_status status = mt_document_write(document, texts, out, report, &err);
    ck_assert_msg(!status, "%s", status ? err.message : "");
    for (size_t i = 0; i < n; i++)
        mt_text_finish(&texts[i]);
}

static char *entry_of(const char *bytes, size_t length, const char *name)
{
    struct mt_package *package = NULL;
    struct mt_text part = {0};
    struct mt_error err;
    ck_assert_int_eq(mt_package_open(bytes, length, &package, &err), MT_OK);
    for (size_t i = 0; i < mt_package_n_entries(package); i++)
        if (strcmp(mt_package_name(package, i), name) == 0)
            ck_assert_int_eq(mt_package_read(package, i, SIZE_MAX, &part, &err), MT_OK);
    mt_package_destroy(package);
    ck_assert_ptr_nonnull(part.bytes);
    return part.bytes;
}

/* ---- OpenDocument ---- */

#define P(content) "<text:p text:style-name=\"P1\">" content "</text:p>"
#define S(style, words) "<text:span text:style-name=\"" style "\">" words "</text:span>"
#define NOTE(words)                                                            \
    "<text:note><text:note-citation>1</text:note-citation><text:note-body>" P( \
        words) "</text:note-body></text:note>"

#define CODE_STYLES                                             \
    "<style:style style:name=\"T9\" style:family=\"text\" "     \
    "style:parent-style-name=\"Source_20_Text\"/><style:style " \
    "style:name=\"P9\" style:family=\"paragraph\" "             \
    "style:parent-style-name=\"Preformatted_20_Text\"/>"

static const struct {
    const char *body, *texts, *translations, *written;
} odf_rows[] = {
    {P("Hello &amp; &lt;you&gt;."), "Hello &amp; &lt;you&gt;.", "Hallo &lt;a&gt;",
     P("Hallo &lt;a&gt;")},
    {P("  Blanks\n that  nobody sees "), "Blanks that nobody sees", "Neu", P("  Neu ")},
    /* spans of equal looks are one, whenever they were typed, and those of no looks are none */
    {P("The tr" S("T3", "ain sta") "tion is " S("T1", "cl") S("T2", "osed") "."),
     "The train station is <0>closed</0>.", "Der Bahnhof ist <0>zu</0>.",
     P("Der Bahnhof ist " S("T1", "zu") ".")},
    {P(S("T1", "All of it is ") S("T2", "bold") S("Strong", "!")), "All of it is bold<0>!</0>",
     "Alles ist fett", P(S("T1", "Alles ist fett"))},
    /* what programs read stays, also in a style that was made of one for it */
    {P("Run " S("Source_20_Text", "ma" S("T1", "ke")) " now."), "Run <0:w/> now.", "Jetzt <0:w/>.",
     P("Jetzt " S("Source_20_Text", "ma" S("T1", "ke")) ".")},
    {CODE_STYLES
     "<text:p text:style-name=\"P9\">make it</text:p><text:p text:style-name=\"P9\"/>" P(
         "See " S("T9", "it") " here."),
     "|See <0:w/> here.", "|Hier ist <0:w/>.",
     CODE_STYLES
     "<text:p text:style-name=\"P9\">make it</text:p><text:p text:style-name=\"P9\"/>" P(
         "Hier ist " S("T9", "it") ".")},
    /* a note is a text of its own, and stands where its place is */
    {P("Closed" NOTE("Until noon.") " today."), "Closed<0/> today.|Until noon.",
     "Heute<0/> zu.|Bis Mittag.", P("Heute" NOTE("Bis Mittag.") " zu.")},
    {P("Closed" NOTE("Until noon.") " today."), "Closed<0/> today.|Until noon.", "=|Bis Mittag.",
     P("Closed" NOTE("Bis Mittag.") " today.")},
    {P("Closed" NOTE("Until noon.") " today."), "Closed<0/> today.|Until noon.",
     "Heute zu.|=", P("Closed" NOTE("Until noon.") " today.")},
    {P(S("T1", NOTE("A note.") "Words" NOTE("Last."))), "Words|A note.|Last.", "Worte|Eine.|Zwei.",
     P(S("T1", NOTE("Eine.")) S("T1", "Worte") S("T1", NOTE("Zwei.")))},
    {P("One<text:tab/>two<text:line-break/>three"), "One<0:e/>two<1:b/>three",
     "Eins<0:e/>zwei<1:b/>drei", P("Eins<text:tab/>zwei<text:line-break/>drei")},
    {P("A. <text:s/>B<text:s text:c=\"5\"/>C"), "A.  B<0:e/>C", "X.  Y<0:e/>Z",
     P("X. <text:s/>Y<text:s text:c=\"5\"/>Z")},
    {P("See <text:a href=\"x\">" S("T1", "this") "</text:a>."), "See <0>this</0>.",
     "<0>Das</0> da.", P("<text:a href=\"x\">" S("T1", "Das") "</text:a> da.")},
    {P("See <text:a href=\"x\">this</text:a>."), "See <0>this</0>.", "Das da.",
     P("See <text:a href=\"x\">this</text:a>.")}, /* a link may not be lost */
    {P("A <text:bookmark-start text:name=\"b\"/>place<text:bookmark-end text:name=\"b\"/>"),
     "A <0>place</0>", "Ein <0>Ort</0>",
     P("Ein <text:bookmark-start text:name=\"b\"/>Ort<text:bookmark-end text:name=\"b\"/>")},
    {P("Page <text:page-number>3</text:page-number> by <text:author-name>Ann</text:author-name>"
       " now"),
     "Page <0:n/> by <1:w/> now", "<1:w/>: Seite <0:n/>",
     P("<text:author-name>Ann</text:author-name>: Seite "
       "<text:page-number>3</text:page-number>")},
    {P("A soft<text:soft-page-break/> break"), "A soft break", "Neu", P("Neu")},
    {P("Seen<office:annotation><dc>Ann</dc>" P("Really?") "</office:annotation> by all"),
     "Seen<0/> by all|Really?", "Von allen<0/> da|Echt?",
     P("Von allen<office:annotation><dc>Ann</dc>" P("Echt?") "</office:annotation> da")},
    {"<draw:frame><draw:text-box>" P("In a box") "</draw:text-box></draw:frame>", "In a box",
     "Drin", "<draw:frame><draw:text-box>" P("Drin") "</draw:text-box></draw:frame>"},
    /* what is read aloud in the place of a picture */
    {P("See<draw:frame draw:name=\"Image1\"><draw:image/><svg:title>The mill</svg:title>"
       "<svg:desc>A mill by a river</svg:desc></draw:frame> here"),
     "See<0/> here|The mill|A mill by a river", "Hier<0/> da|Die Mühle|=",
     P("Hier<draw:frame draw:name=\"Image1\"><draw:image/><svg:title>Die Mühle</svg:title>"
       "<svg:desc>A mill by a river</svg:desc></draw:frame> da")},
    {"<form:button form:name=\"b\" form:label=\"Send it\" form:title=\"Now\"/>", "Send it|Now",
     "Ab|=", "<form:button form:name=\"b\" form:label=\"Ab\" form:title=\"Now\"/>"},
    {"<text:index-title-template text:style-name=\"C\">Contents</text:index-title-template>",
     "Contents", "Inhalt",
     "<text:index-title-template text:style-name=\"C\">Inhalt</text:index-title-template>"},
    {P("See <text:a office:title=\"A page\" xlink=\"x\">this</text:a> page"),
     "See <0>this</0> page|A page", "Siehe <0>da</0>|Seite",
     P("Siehe <text:a office:title=\"Seite\" xlink=\"x\">da</text:a>")},
    {"<text:tracked-changes>" P("Deleted") "</text:tracked-changes>" P("Kept"), "Kept", "Da",
     "<text:tracked-changes>" P("Deleted") "</text:tracked-changes>" P("Da")},
    {P("<![CDATA[A < B]]>"), "A &lt; B", "C &lt; D", P("C &lt; D")},
    {"<presentation:footer-decl>Made here</presentation:footer-decl>", "Made here", "Von hier",
     "<presentation:footer-decl>Von hier</presentation:footer-decl>"},
    /* what is raised */
    {P("On the 10" S("T4", "th") " floor"), "On the 10th floor", "Im 10. Stock", P("Im 10. Stock")},
    {P("The 10" S("T4", "th")), "The 10th", "Der 10.", P("Der 10.")},
    {P("25 m" S("T4", "2") " are" S("T4", "(a)")), "<0:n/> are", "Da sind <0:n/>",
     P("Da sind 25 m" S("T4", "2") S("T4", "(a)"))},
    {P("It is " S("T4", "raised high") " up"), "It is <0>raised high</0> up", "<0>Hoch</0>",
     P(S("T4", "Hoch"))},
    /* cells: no number, date or formula */
    {"<table:table-cell office:value-type=\"string\">" P(
         "A cell") "</table:table-cell>"
                   "<table:table-cell office:value-type=\"float\" office:value=\"1\">" P(
                       "one") ""
                              "</table:table-cell><table:table-cell table:formula=\"of:=A1\" "
                              "office:value-type=\"string\">" P("A cell") "</table:table-cell>",
     "A cell", "Neu",
     "<table:table-cell office:value-type=\"string\">" P(
         "Neu") "</table:table-cell>"
                "<table:table-cell office:value-type=\"float\" office:value=\"1\">" P(
                    "one") ""
                           "</table:table-cell><table:table-cell table:formula=\"of:=A1\" "
                           "office:value-type=\"string\">" P("A cell") "</table:table-cell>"},
    {"<table:table-cell office:value-type=\"string\" office:string-value=\"A &quot;cell\">" P(
         "A \"cell") "</table:table-cell>",
     "A \"cell|A \"cell", "Neu \"b\"|Neu \"b\"",
     "<table:table-cell office:value-type=\"string\" office:string-value=\"Neu &quot;b&quot;\">" P(
         "Neu \"b\"") "</table:table-cell>"},
    {P("") P(" ") P("<text:s/>"), " ", "-", P("") P(" ") P("<text:s/>")},
};

START_TEST(test_odf)
{
    struct mt_text body = {0}, out = {0};
    struct mt_document_report report;
    mt_text_append_string(&body, BOLD);
    mt_text_append_string(&body, odf_rows[_i].body);
    struct mt_document *document = read_odt(body.bytes, NULL);
    if (strcmp(odf_rows[_i].texts, " ") == 0)
        expect_texts(document, "");
    else
        expect_texts(document, odf_rows[_i].texts);
    write_file(document, odf_rows[_i].translations, &report, &out);
    char *part = entry_of(out.bytes, out.length, "content.xml");
    char *begin = strstr(part, BOLD) + strlen(BOLD), *end = strstr(part, ODF_END);
    *end = '\0';
    ck_assert_str_eq(begin, odf_rows[_i].written);
    free(part);
    mt_text_finish(&body);
    mt_text_finish(&out);
    mt_document_destroy(document);
}
END_TEST

#define STYLES(language, country, header)                                                     \
    "<office:document-styles xmlns:office=\"" OASIS "office:1.0\" xmlns:text=\"" OASIS        \
    "text:1.0\" xmlns:style=\"" OASIS "style:1.0\" xmlns:fo=\"" OASIS                         \
    "xsl-fo-compatible:1.0\" xmlns:draw=\"" OASIS "drawing:1.0\" xmlns:presentation=\"" OASIS \
    "presentation:1.0\"><style:default-style><style:text-properties fo:language=\"" language  \
    "\" fo:country=\"" country                                                                \
    "\"/></style:default-style><draw:frame presentation:class=\"title\">" P(                  \
        "Click here") "</draw:frame><style:header>" P(header) "</style:header>"               \
                                                              "</office:document-styles>"

/* What the document says of its language changes where something is translated, and only there. */
START_TEST(test_odf_styles)
{
    size_t length;
    struct mt_text out = {0};
    struct mt_document_report report;
    char *file = make_odt(BOLD P("Hello") P("You"), STYLES("en", "US", "A header"), &length);
    struct mt_text original = {0};
    mt_text_append(&original, file, length);
    struct mt_document *document = read_file(file, length, &odt);
    expect_texts(document, "Hello|You|A header");
    write_file(document, "=|-|=", &report, &out);
    ck_assert_uint_eq(report.n_translated, 0);
    ck_assert(out.length == original.length && !memcmp(out.bytes, original.bytes, out.length));
    mt_text_finish(&out);
    out = (struct mt_text){0};
    write_file(document, "Hallo|Du|Oben", &report, &out);
    char *styles = entry_of(out.bytes, out.length, "styles.xml");
    ck_assert_str_eq(styles, STYLES("de", "DE", "Oben"));
    char *content = entry_of(out.bytes, out.length, "content.xml");
    ck_assert_ptr_nonnull(strstr(content, "fo:language=\"de\" officeooo:rsid=\"3\""));
    free(styles);
    free(content);
    mt_text_finish(&out);
    mt_text_finish(&original);
    mt_document_destroy(document);
}
END_TEST

START_TEST(test_odf_names)
{
    struct mt_text out = {0};
    struct mt_document_report report;
    struct mt_document *document = read_odt(
        P("North &amp; South") P("Hello") P("say \"yes\"")
            P("open") "<table:data-pilot-field table:source-field-name=\"North &amp; South\"/>"
                      "<table:table-cell table:formula=\"of:=IF([.A1]=&quot;open&quot;;1;"
                      "&quot;say &quot;&quot;yes&quot;&quot;&quot;)\"/>",
        NULL);
    write_file(document, "-|Hallo|-|-", &report, &out);
    ck_assert_uint_eq(report.n_translated, 1);
    ck_assert_uint_eq(report.n_left, 3);
    ck_assert_str_eq(report.left[0].reason, "a formula, a filter or a pivot table names it");
    mt_text_finish(&out);
    mt_document_destroy(document);
}
END_TEST

/* ---- books and pages ---- */

static const struct {
    const char *body, *texts, *translations, *written;
} page_rows[] = {
    {"<p>\n  Hello &amp; <b>you</b>.\n</p>", "Hello &amp; <0>you</0>.", "<0>Du</0> &lt; ich",
     "<p>\n  <b>Du</b> &lt; ich\n</p>"},
    {"Loose<div>One<p>two</p>three</div><br/>four", "Loose|One|two|three|four", "a|b|c|d|e",
     "a<div>b<p>c</p>d</div><br/>e"},
    {"<p>See <a id=\"x\"/><a href=\"y\">this</a> and <img alt=\"A cat\" src=\"z\"/> there</p>",
     "See <0/><1>this</1> and <2/> there|A cat", "<0/>Da <1>dies</1><2/> und|Katze \"K\"",
     "<p><a id=\"x\"/>Da <a href=\"y\">dies</a><img alt=\"Katze &quot;K&quot;\" src=\"z\"/> "
     "und</p>"},
    {"<p>Line<br/>\n two</p>", "Line<0:b/>two", "Zeile<0:b/>zwei", "<p>Zeile<br/>zwei</p>"},
    {"<p>A&nbsp;b &eacute;&unknown; c</p>", "A\u00a0b \u00e9<0/> c", "C<0/> d",
     "<p>C&unknown; d</p>"},
    /* a blank that does not break is written as the text wrote it */
    {"<p>10&nbsp;km</p><p>5&#160;km</p><p>2\u00a0km</p>", "10\u00a0km|5\u00a0km|2\u00a0km",
     "\u00a010\u00a0mi|5\u00a0mi|2\u00a0mi",
     "<p>&nbsp;10&nbsp;mi</p><p>5&#160;mi</p><p>2\u00a0mi</p>"},
    {"<p>A&#160;b<!-- no --></p>", "A\u00a0b", "c", "<p>c<!-- no --></p>"},
    {"<p>Use <code>x &lt; y</code> here<sup>12</sup>.</p><pre>Not me</pre>", "Use <0:w/> here<1/>.",
     "Da<1/> <0:w/>", "<p>Da<sup>12</sup> <code>x &lt; y</code></p><pre>Not me</pre>"},
    {"<p>The 3<sup>rd</sup> of <b>May</b></p>", "The 3rd of <0>May</0>", "Der 3. <0>Mai</0>",
     "<p>Der 3. <b>Mai</b></p>"},
    {"<p>25 m<sup>2</sup> of H<sub>2</sub>O</p>", "<0:n/> of <1:w/>", "<1:w/>: <0:n/>",
     "<p>H<sub>2</sub>O: 25 m<sup>2</sup></p>"},
    {"<p>The <span translate=\"no\">Acme</span> thing</p><p translate=\"no\">Not <b>me</b></p>",
     "The <0:w/> thing", "Das <0:w/>",
     "<p>Das <span translate=\"no\">Acme</span></p><p translate=\"no\">Not <b>me</b></p>"},
    {"<p class=\"a notranslate\">Not me</p><p><link title=\"A\"/><input type=\"text\" "
     "value=\"B\"/><input "
     "type=\"submit\" value=\"Send\"/></p><meta name=\"description\" content=\"All of it\"/><meta "
     "name=\"author\" content=\"C\"/>",
     "Send|All of it", "Ab|Alles",
     "<p class=\"a notranslate\">Not me</p><p><link title=\"A\"/><input type=\"text\" "
     "value=\"B\"/><input "
     "type=\"submit\" value=\"Ab\"/></p><meta name=\"description\" content=\"Alles\"/><meta "
     "name=\"author\" content=\"C\"/>"},
    {"<script>var a = 'b';</script><style>p {}</style><p>1<script/></p><p> </p>", "1", "2",
     "<script>var a = 'b';</script><style>p {}</style><p>2<script/></p><p> </p>"},
    {"<p><span>One</span><span> and</span> <em>the other</em></p>", "<0>One and</0> the other",
     "Das andere", "<p><em>Das andere</em></p>"},
    {"<p><span>Green</span> + <span>yellow</span></p>", "<0>Green</0> + <1>yellow</1>",
     "<0>Gr\u00fcn</0> + <1>gelb</1>", "<p><span>Gr\u00fcn</span> + <span>gelb</span></p>"},
    {"<p>Page <span epub:type=\"pagebreak\" id=\"p\">7</span>here</p>", "Page <0/>here", "Hier<0/>",
     "<p>Hier<span epub:type=\"pagebreak\" id=\"p\">7</span></p>"},
    {"<p><span>One</span><span> great<div>block</div>two</span></p>", "One| great|block|two",
     "a|b|c|d", "<p><span>a</span><span>b<div>c</div>d</span></p>"},
    {"<p><a href=\"x\"><span>One</span> <x/></a></p>", "One", "a",
     "<p><a href=\"x\"><span>a</span> <x/></a></p>"},
    {"<p><a href=\"x\"><b>One</b> two<x/></a></p>", "<0>One</0> two", "<0>a</0> b",
     "<p><a href=\"x\"><b>a</b> b<x/></a></p>"},
    {"<p>One <i></i> two</p>", "One <0/> two", "a <0/> b", "<p>a <i></i> b</p>"},
    {"<a href=\"x\"><p>Block</p> in a link</a><p>Out</p>", "Block|in a link|Out", "a|b|c",
     "<a href=\"x\"><p>a</p> b</a><p>c</p>"},
    {"<p>See <svg xmlns=\"http://www.w3.org/2000/svg\"><title>S</title><style>x</style>"
     "<text>T <tspan>U</tspan></text></svg> here</p>",
     "See <0/> here|S|T <0>U</0>", "a <0/> b|c|<0>e</0> d",
     "<p>a <svg xmlns=\"http://www.w3.org/2000/svg\"><title>c</title><style>x</style>"
     "<text><tspan>e</tspan> d</text></svg> b</p>"},
    /* many links are a list, in a look, too, unless links look otherwise */
    {"<p>By <a>A</a>, <a>B</a>,<a>C</a><a>D</a> <a/>\n<a>E</a> - <a><b>F</b> f</a>.</p>",
     "By <0>A</0>|<0>B</0>|<0>C</0>|<0>D</0>|<0>E</0>|<0><1>F</1> f</0>.",
     "Von <0>a</0>|<0>b</0>|<0>c</0>|<0>d</0>|<0>e</0>|<0><1>f</1> g</0>!",
     "<p>Von <a>a</a>, <a>b</a>,<a>c</a><a>d</a> <a/>\n<a>e</a> - <a><b>f</b> g</a>!</p>"},
    {"<p>By <u><a>A</a>, <a>B</a>, <a>C</a>, <a>D</a>, <a>E</a>, <a>F</a></u> and <i>us</i></p>",
     "By |<0>A</0>|<0>B</0>|<0>C</0>|<0>D</0>|<0>E</0>|<0>F</0>|and <0>us</0>",
     "Von |<0>a</0>|<0>b</0>|<0>c</0>|<0>d</0>|<0>e</0>|<0>f</0>|<0>wir</0> und",
     "<p>Von <u><a>a</a>, <a>b</a>, <a>c</a>, <a>d</a>, <a>e</a>, <a>f</a></u> <i>wir</i> und</p>"},
    {"<p><b><a>A</a></b>, <b><a>B</a></b> <b><a>C</a>, <a>D</a></b>, <ins><a>E</a>, <a>F</a></ins> "
     "x</p>",
     "<0>A</0>|<0>B</0>|<0>C</0>, <1>D</1>|<0>E</0>|<0>F</0>| x",
     "<0>a</0>|<0>b</0>|<1>d</1>, <0>c</0>|<0>e</0>|<0>f</0>| y",
     "<p><b><a>a</a></b>, <b><a>b</a></b> <b><a>d</a>, <a>c</a></b>, <ins><a>e</a>, "
     "<a>f</a></ins> y</p>"},
    /* tags of looks and other elements nest as they did */
    {"<p><b><a>The house</a></b> is <i>very <a><u>big</u> and</a> old</i></p>",
     "<0>The house</0> is <1>very </1><2><3>big</3> and</2><4> old</4>",
     "Ist <4>alt </4><1>sehr </1><2>und <3>gro\xC3\x9F</3></2> <0>das Haus</0>",
     "<p>Ist <i>alt sehr <a>und <u>gro\xC3\x9F</u></a></i> <b><a>das Haus</a></b></p>"},
    {"<p>Evolve<a href='#x' title='Here'>\xC2\xB6</a>\n </p>", "Evolve|Here", "Los|Da",
     "<p>Los<a href='#x' title='Da'>\xC2\xB6</a>\n </p>"},
    {"<p>It is old.<sup id='a'><a href='#b'>[n&#160;3]</a></sup> Go.</p>", "It is old.<0/> Go.",
     "Es.<0/> Los.", "<p>Es.<sup id='a'><a href='#b'>[n&#160;3]</a></sup> Los.</p>"},
    /* what has no letter stays */
    {"<p><span><b><a href='#x'>^</a></b></span> <span>I agree.</span></p>", "I agree.", "Ja!",
     "<p><span><b><a href='#x'>^</a></b></span> <span>Ja!</span></p>"},
    /* most words are in i, but not all; what stands between two texts stays */
    {"<p><span><cite><a><i>The long title</i></a> <u>(PDF)</u>.</cite></span>\n  <link/></p>",
     "<0><1>The long title</1> <2>(PDF)</2>.</0>", "<0><1>Der Titel</1> <2>(PDF)</2>.</0>",
     "<p><span><cite><a><i>Der Titel</i></a> <u>(PDF)</u>.</cite></span>\n  <link/></p>"},
    {"<p><span><cite>Go: <i>The long title</i></cite></span></p>",
     "<0>Go: <1>The long title</1></0>", "<0>Los: Der Titel</0>",
     "<p><span><cite>Los: Der Titel</cite></span></p>"},
    {"<p><u><a>A</a>, <a>B</a>, <a>C</a>, <a>D</a>, <a>E</a>, <a><b>F</b> f</a></u></p>",
     "<0>A</0>, <1>B</1>, <2>C</2>, <3>D</3>, <4>E</4>, <5><6>F</6> f</5>", "=",
     "<p><u><a>A</a>, <a>B</a>, <a>C</a>, <a>D</a>, <a>E</a>, <a><b>F</b> f</a></u></p>"},
    {"<p><a>A</a>, <a>B</a>, <a>C</a>, <a>D</a> and <a>E</a>, <a>F</a></p>",
     "<0>A</0>, <1>B</1>, <2>C</2>, <3>D</3> and <4>E</4>, <5>F</5>", "=",
     "<p><a>A</a>, <a>B</a>, <a>C</a>, <a>D</a> and <a>E</a>, <a>F</a></p>"},
};

/* As a page, and as a chapter. */
START_TEST(test_pages)
{
    static const char begin[] = HTML ">\n<head><title>T</title></head><body>",
                      end[] = "</body></html>";
    for (int is_book = 0; is_book <= 1; is_book++) {
        struct mt_text xml = {0}, out = {0}, texts = {0}, translations = {0}, expected = {0};
        struct mt_document_report report;
        size_t length = 0;
        mt_text_appendf(&xml, "%s%s%s", begin, page_rows[_i].body, end);
        mt_text_appendf(&texts, "%sT|%s%s", is_book ? "A book|" : "", page_rows[_i].texts,
                        is_book ? "|A book" : "");
        mt_text_appendf(&translations, "%sU|%s%s", is_book ? "=|" : "", page_rows[_i].translations,
                        is_book ? "|=" : "");
        mt_text_appendf(&expected, "%s%s%s", begin, page_rows[_i].written, end);
        *strstr(expected.bytes, "<title>T") = '\0';
        mt_text_appendf(&expected, "%s", "");
        expected.length = strlen(expected.bytes);
        mt_text_appendf(&expected, "<title>U</title></head><body>%s%s", page_rows[_i].written, end);
        char *file = is_book ? make_epub(xml.bytes, NULL, &length) : strdup(xml.bytes);
        struct mt_document *document =
            read_file(file, is_book ? length : xml.length, is_book ? &epub : &page);
        expect_texts(document, texts.bytes);
        write_file(document, translations.bytes, &report, &out);
        char *written =
            is_book ? entry_of(out.bytes, out.length, "OEBPS/Text/a b.xhtml") : strdup(out.bytes);
        ck_assert_str_eq(written, expected.bytes);
        free(written);
        mt_text_finish(&xml);
        mt_text_finish(&out);
        mt_text_finish(&texts);
        mt_text_finish(&translations);
        mt_text_finish(&expected);
        mt_document_destroy(document);
    }
}
END_TEST

START_TEST(test_language_of_a_book)
{
    size_t length;
    struct mt_text out = {0};
    struct mt_document_report report;
    char *file = make_epub(HTML "xml:lang=\"en-GB\" lang=\"en-GB\"><body><p>Hi</p></body></html>",
                           NULL, &length);
    struct mt_document *document = read_file(file, length, &epub);
    expect_texts(document, "A book|Hi|A book");
    write_file(document, "=|Hallo|=", &report, &out);
    char *chapter = entry_of(out.bytes, out.length, "OEBPS/Text/a b.xhtml");
    ck_assert_str_eq(chapter, HTML "xml:lang=\"de\" lang=\"de\"><body><p>Hallo</p></body></html>");
    char *package = entry_of(out.bytes, out.length, "OEBPS/content.opf");
    ck_assert_ptr_nonnull(strstr(package, "<dc:language>de</dc:language>"));
    ck_assert_ptr_nonnull(strstr(package, "<dc:title>A book</dc:title>"));
    free(chapter);
    free(package);
    mt_text_finish(&out);
    mt_document_destroy(document);
}
END_TEST

START_TEST(test_chapter_that_is_no_xml)
{
    struct mt_text out = {0};
    struct mt_document_report report;
    struct mt_document *document = read_epub("<html>\n<p>Fish & chips");
    write_file(document, "Ein Buch|-|Ein Buch", &report, &out);
    ck_assert_uint_eq(report.n_translated, 2);
    ck_assert_uint_eq(report.n_left, 1);
    ck_assert_msg(strstr(report.left[0].reason, "line 2"), "%s", report.left[0].reason);
    ck_assert_ptr_nonnull(strstr(report.left[0].reason, "OEBPS/Text/a b.xhtml: line 2, column 10"));
    char *chapter = entry_of(out.bytes, out.length, "OEBPS/Text/a b.xhtml");
    ck_assert_str_eq(chapter, "<html>\n<p>Fish & chips");
    free(chapter);
    mt_text_finish(&out);
    mt_document_destroy(document);
}
END_TEST

/* What says that it is XML, and is not, is read as browsers read it. */
START_TEST(test_page_that_is_no_xml)
{
    static const char *const pages[] = {HTML "><body><p>Hello<br></body></html>",
                                        "<!DOCTYPE html><html><p>Hello<br/></html>"};
    for (size_t i = 0; i < 2; i++) {
        struct mt_document *document = read_file(strdup(pages[i]), strlen(pages[i]), &page);
        ck_assert_uint_eq(mt_document_n_texts(document), 1);
        ck_assert_ptr_eq(mt_document_text(document, 0).read, mt_read_html);
        mt_document_destroy(document);
    }
}
END_TEST

/* In another encoding, which its declaration names. */
START_TEST(test_page_in_latin_1)
{
    static const char xml[] = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n"
                              "<html><body><p>Caf\xE9</p></body></html>";
    struct mt_text out = {0};
    struct mt_document_report report;
    struct mt_document *document = read_file(strdup(xml), strlen(xml), &page);
    expect_texts(document, "Caf\u00e9");
    write_file(document, "T\u00fcr", &report, &out);
    ck_assert_ptr_nonnull(strstr(out.bytes, "<p>T\xFCr</p>"));
    mt_text_finish(&out);
    out = (struct mt_text){0};
    write_file(document, "\u30c9\u30a2", &report, &out);
    ck_assert_ptr_nonnull(strstr(out.bytes, "encoding=\"UTF-8\"?>"));
    ck_assert_ptr_nonnull(strstr(out.bytes, "<p>\u30c9\u30a2</p>"));
    mt_text_finish(&out);
    mt_document_destroy(document);
}
END_TEST

/* ---- files of LibreOffice's ---- */

static const struct {
    const char *name;
    enum mt_document_format format;
    size_t n;
    const char *part, *marked;
} files[] = {
    {"letter.odt", MT_DOCUMENT_ODT, 14, "content.xml", "The station is "},
    {"prices.ods", MT_DOCUMENT_ODS, 5, "content.xml", "<text:p>New Region</text:p>"},
    {"slides.odp", MT_DOCUMENT_ODP, 5, "content.xml", "New What the speaker says."},
    {"letter.epub", MT_DOCUMENT_EPUB, 14, "OEBPS/sections/section0001.xhtml", "New The train"},
};

/* Each text is itself: the same file. Each is another one: the same number of texts, in which that is.
 * In this process, and in another one. */
START_TEST(test_files)
{
    char path[512], *file;
    size_t length;
    struct mt_error err;
    struct mt_document_report report;
    const struct mt_document_options options = {.format = files[_i / 2].format,
                                                .confines = _i % 2 == 1};
    snprintf(path, sizeof path, "%s/tests/documents/%s", getenv("MT_SOURCE_DIR"),
             files[_i / 2].name);
    ck_assert_int_eq(mt_file_read(path, 1 << 20, &file, &length, &err), MT_OK);
    char *copy = malloc(length);
    memcpy(copy, file, length);
    struct mt_document *document = read_file(copy, length, &options);
    struct mt_text translations[MAX_TEXTS] = {{0}}, out = {0};
    size_t n = mt_document_n_texts(document);
    ck_assert_uint_eq(n, files[_i / 2].n);
    for (size_t i = 0; i < n; i++)
        mt_text_append_string(&translations[i], mt_document_text(document, i).bytes);
    ck_assert_int_eq(mt_document_write(document, translations, &out, &report, &err), MT_OK);
    ck_assert(out.length == length && !memcmp(out.bytes, file, length));
    mt_text_finish(&out);
    out = (struct mt_text){0};
    for (size_t i = 0; i < n; i++) {
        translations[i].length = 0;
        mt_text_appendf(&translations[i], "New %s", mt_document_text(document, i).bytes);
    }
    ck_assert_int_eq(mt_document_write(document, translations, &out, &report, &err), MT_OK);
    ck_assert_uint_eq(report.n_translated, n);
    mt_document_destroy(document);
    char *part = entry_of(out.bytes, out.length, files[_i / 2].part);
    ck_assert_ptr_nonnull(
        strstr(part, _i < 2 ? "New The train station is " : files[_i / 2].marked));
    free(part);
    document = read_file(out.bytes, out.length, &options);
    ck_assert_uint_eq(mt_document_n_texts(document), n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_str_eq(mt_document_text(document, i).bytes, translations[i].bytes);
        mt_text_finish(&translations[i]);
    }
    mt_document_destroy(document);
    free(file);
}
END_TEST

/* ---- hostile files ---- */

/* Takes the file. */
static void expect_refused(char *file, size_t length, const struct mt_document_options *options,
                           const char *message)
{
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    enum mt_status status = mt_document_create(file, length, options, &document, &err);
    ck_assert_msg(status == MT_FORMAT || status == MT_LIMIT || status == MT_UNSUPPORTED, "%s: %d",
                  message, (int)status);
    ck_assert_msg(strstr(err.message, message), "\"%s\" is not in \"%s\"", message, err.message);
    free(file);
}

START_TEST(test_refused)
{
    static const struct mt_document_options ods = {.format = MT_DOCUMENT_ODS};
    static const char secret[] = "<manifest:manifest xmlns:manifest=\"m\">"
                                 "<manifest:encryption-data/></manifest:manifest>";
    const struct entry encrypted[] = {{"mimetype", ODF_TYPE, 0, ZIP_CM_STORE, false},
                                      {"META-INF/manifest.xml", secret, 0, ZIP_CM_STORE, false}};
    size_t length;
    char *file = make_package(encrypted, 2, &length);
    expect_refused(file, length, &odt, "has a password");
    file = make_odt(P("a"), NULL, &length);
    expect_refused(file, length, &ods, "mimetype says \"application/vnd.oasis.opendocument.text\"");
    file = make_odt(P("a"), NULL, &length);
    expect_refused(file, length, &epub, "a zip without \"META-INF/container.xml\"");
    file = make_docx("<a/>", 4, &length);
    expect_refused(file, length, &odt, "a zip without \"mimetype\"");
    file = make_odt("<text:p>", NULL, &length);
    expect_refused(file, length, &odt, "content.xml: line 1, column");
    file = make_odt("<x:p xmlns:x=\"" OASIS "text:1.0\">a</x:p>", NULL, &length);
    expect_refused(file, length, &odt, "<x:p> has another prefix, expected <text:p>");
    file = make_odt(P("a"), "<!DOCTYPE a [<!ENTITY b \"c\">]><a/>", &length);
    expect_refused(file, length, &odt, "styles.xml: line 1: an entity is declared");
    file = make_odt(P("A") "\n" P("B&nbsp;C"), NULL, &length);
    expect_refused(file, length, &odt,
                   "content.xml: line 2, column 31: expected XML: undefined entity");
    file = make_epub("<html/>", "<e><CipherReference URI=\"OEBPS/Text/a b.xhtml\"/></e>", &length);
    expect_refused(file, length, &epub, "is encrypted: expected a book without copy protection");
    file = make_epub("<html/>", "<e><CipherReference URI=\"OEBPS/a.ttf\"/></e>", &length);
    mt_document_destroy(read_file(file, length, &epub));
    expect_refused(strdup("Hello"), 5, &epub, "expected a zip");
}
END_TEST

START_TEST(test_deep)
{
    struct mt_text deep = {0};
    size_t length;
    for (size_t i = 0; i < 100000; i++)
        mt_text_append_string(&deep, "<text:p>");
    char *file = make_odt(deep.bytes, NULL, &length);
    expect_refused(file, length, &odt, "content.xml: line 1: ");
    deep.length = 0;
    for (size_t i = 0; i < 17; i++)
        mt_text_append_string(&deep, "<text:p>a<text:note>");
    for (size_t i = 0; i < 17; i++)
        mt_text_append_string(&deep, "</text:note></text:p>");
    file = make_odt(deep.bytes, NULL, &length);
    expect_refused(file, length, &odt, "nested deeper than 16");
    mt_text_finish(&deep);
}
END_TEST

/* In time that grows with their number: spans, styles, notes. */
START_TEST(test_many)
{
    struct mt_text body = {0}, out = {0};
    struct mt_error err;
    struct mt_document_report report;
    for (size_t i = 0; i < 20000; i++)
        mt_text_appendf(
            &body,
            "<style:style style:name=\"T%zu\" style:family=\"text\"><style:text-properties "
            "fo:font-size=\"%zupt\"/></style:style>",
            i, i % 100);
    mt_text_append_string(&body, "<text:p>");
    for (size_t i = 0; i < 50000; i++)
        mt_text_appendf(&body, "plain <text:span text:style-name=\"T%zu\">words</text:span> ",
                        i % 20000);
    for (size_t i = 0; i < 5000; i++)
        mt_text_append_string(&body, "and" NOTE("a note"));
    mt_text_append_string(&body, "</text:p>");
    struct mt_document *document = read_odt(body.bytes, NULL);
    size_t n = mt_document_n_texts(document);
    ck_assert_uint_gt(n, 5000);
    struct mt_text *translations = calloc(n, sizeof *translations);
    for (size_t i = 0; i < n; i++)
        mt_text_appendf(&translations[i], "New %s", mt_document_text(document, i).bytes);
    ck_assert_int_eq(mt_document_write(document, translations, &out, &report, &err), MT_OK);
    ck_assert_uint_eq(report.n_translated, n);
    for (size_t i = 0; i < n; i++)
        mt_text_finish(&translations[i]);
    free(translations);
    mt_text_finish(&out);
    mt_text_finish(&body);
    mt_document_destroy(document);
}
END_TEST

Suite *suite_markup(void)
{
    Suite *suite = suite_create("markup");
    TCase *tcase = tcase_create("markup");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_odf, 0, sizeof odf_rows / sizeof *odf_rows);
    tcase_add_test(tcase, test_odf_styles);
    tcase_add_test(tcase, test_odf_names);
    tcase_add_loop_test(tcase, test_pages, 0, sizeof page_rows / sizeof *page_rows);
    tcase_add_test(tcase, test_language_of_a_book);
    tcase_add_test(tcase, test_chapter_that_is_no_xml);
    tcase_add_test(tcase, test_page_that_is_no_xml);
    tcase_add_test(tcase, test_page_in_latin_1);
    tcase_add_loop_test(tcase, test_files, 0, 2 * sizeof files / sizeof *files);
    tcase_add_test(tcase, test_refused);
    tcase_add_test(tcase, test_deep);
    tcase_add_test(tcase, test_many);
    suite_add_tcase(suite, tcase);
    return suite;
}
