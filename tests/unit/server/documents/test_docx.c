/*
 * Word's documents: what is a text, what comes back as it was, and files that are meant to do harm.
 */
#include "make_package.h"

#include "base/file.h"
#include "server/documents/document.h"
#include "server/documents/package.h"

#include <check.h>
#include <stdio.h>

static const struct mt_document_options options = {.format = MT_DOCUMENT_DOCX};
/* As the daemon reads them. */
static const struct mt_document_options confined = {.format = MT_DOCUMENT_DOCX, .confines = true};

/* Takes the file. */
static struct mt_document *read_file(char *file, size_t length)
{
    struct mt_document *document = NULL;
    struct mt_error err;
    enum mt_status status = mt_document_create(file, length, &confined, &document, &err);
    ck_assert_msg(!status, "%s", status ? err.message : "");
    free(file);
    return document;
}

/* Body's content to a document. */
static struct mt_document *read_body(const char *body)
{
    struct mt_text xml = {0};
    size_t length;
    mt_text_appendf(&xml, "<w:document xmlns:w=\"%s\" xmlns:m=\"m\" xmlns:v=\"v\"><w:body>",
                    NAMESPACE);
    mt_text_append_string(&xml, body);
    mt_text_append_string(&xml, "</w:body></w:document>");
    char *file = make_docx(xml.bytes, xml.length, &length);
    mt_text_finish(&xml);
    return read_file(file, length);
}

static void write_file(const struct mt_document *document, const struct mt_text *translations,
                       size_t expected_left, struct mt_text *out)
{
    struct mt_error err;
    struct mt_document_report report;
    enum mt_status status = mt_document_write(document, translations, out, &report, &err);
    ck_assert_msg(!status, "%s", status ? err.message : "");
    size_t n_left = report.n_refused;
    for (size_t i = 0; i < mt_document_n_texts(document); i++)
        n_left += !translations[i].bytes;
    ck_assert_uint_eq(n_left, expected_left);
}

/* The main part of a file. */
static char *main_part(const struct mt_text *file)
{
    struct mt_package *package = NULL;
    struct mt_text part = {0};
    struct mt_error err;
    ck_assert_int_eq(mt_package_open(file->bytes, file->length, &package, &err), MT_OK);
    for (size_t i = 0; i < mt_package_n_entries(package); i++)
        if (strcmp(mt_package_name(package, i), "word/document.xml") == 0)
            ck_assert_int_eq(mt_package_read(package, i, SIZE_MAX, &part, &err), MT_OK);
    mt_package_destroy(package);
    ck_assert_ptr_nonnull(part.bytes);
    return part.bytes;
}

/* A document whose only text is translated so: what its body is then. n_left: texts that stay. */
static void expect_written(const char *body, const char *translation, size_t n_left,
                           const char *expected)
{
    struct mt_document *document = read_body(body);
    struct mt_text translations[1] = {{0}}, out = {0};
    ck_assert_uint_eq(mt_document_n_texts(document), 1);
    mt_text_append_string(&translations[0], translation);
    write_file(document, translations, n_left, &out);
    char *part = main_part(&out);
    char *begin = strstr(part, "<w:body>") + 8, *end = strstr(part, "</w:body>");
    *end = '\0';
    ck_assert_str_eq(begin, expected);
    free(part);
    mt_text_finish(&translations[0]);
    mt_text_finish(&out);
    mt_document_destroy(document);
}

/* ---- texts ---- */

#define P(content) "<w:p><w:pPr><w:jc/></w:pPr>" content "</w:p>"
#define T(words) "<w:t xml:space=\"preserve\">" words "</w:t>"
#define R(words) "<w:r>" T(words) "</w:r>"
#define B(words) "<w:r><w:rPr><w:b/></w:rPr>" T(words) "</w:r>"
#define C(words) "<w:r><w:rPr><w:rStyle w:val=\"VerbatimChar\"/></w:rPr>" T(words) "</w:r>"
#define RAISED(words) "<w:r><w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr>" T(words) "</w:r>"
#define FIELD(type) "<w:r><w:fldChar w:fldCharType=\"" type "\"/></w:r>"
#define INSTRUCTION(text) "<w:r><w:instrText>" text "</w:instrText></w:r>"
#define BOX(words) "<w:pict><v:box><w:txbxContent>" P(R(words)) "</w:txbxContent></v:box></w:pict>"

/* A picture in a run of its own, and what is read aloud in its place. */
#define PICTURE(attributes)                                                               \
    "<w:r><w:rPr><w:noProof/></w:rPr><w:drawing><wp:inline><wp:docPr id=\"1\"" attributes \
    "/><a:graphic/></wp:inline></w:drawing></w:r>"
#define DESCRIBED(words) PICTURE(" name=\"Picture 1\" descr=\"" words "\"")

/* A large letter, in a paragraph of its own. */
#define DROP(letter)                             \
    "<w:p><w:pPr><w:framePr w:dropCap=\"drop\" " \
    "w:lines=\"3\"/></w:pPr><w:r><w:rPr><w:sz/></w:rPr>" T(letter) "</w:r></w:p>"

static const struct {
    const char *body, *texts; /* with '|' between them */
} samples[] = {
    {DROP("O") P(R("nce ") B("upon") R(" a time")), "Once <0>upon</0> a time"},
    {DROP("O") "\n" P("<w:r><w:tab/></w:r>" R("nce")), "O|nce"},
    {DROP("Once") P(R("upon")), "Once|upon"},
    {DROP("O") "<w:tbl>" P(R("nce")) "</w:tbl>" DROP("A"), "O|nce|A"},
    {DROP("O") DROP("n") P("") P(R("ce")), "On|ce"},
    {P(R("Hello &amp; &lt;you&gt;.")), "Hello &amp; &lt;you&gt;."},
    {P("<w:r><w:t>  Blanks\n that nobody sees </w:t></w:r>"), "Blanks  that nobody sees"},
    {P(R("Press ") B("red") R(" now.")), "Press <0>red</0> now."},
    /* runs of equal looks are one, whatever a program left between them */
    {P(R("The tr") "<w:proofErr w:type=\"spellStart\"/><w:r w:rsidR=\"1\"><w:rPr><w:lang "
                   "w:val=\"en\"/><w:noProof/></w:rPr><w:lastRenderedPageBreak/><w:t>ain</w:t></"
                   "w:r>"),
     "The train"},
    /* most of the words look so */
    {P(B("Nearly all ") R("of") B(" it is bold.")), "Nearly all <0>of</0> it is bold."},
    {P("<w:hyperlink r=\"1\">" B("A link") "</w:hyperlink>" R(" stands here, you see.")),
     "<0>A link</0> stands here, you see."},
    /* what is above the line goes with its word, but for the ending of a number */
    {P(R("It has 25 m") RAISED("2") R(" at most.")), "It has <0:n/> at most."},
    {P(R("It is true.") RAISED("(a)") R(" So it is.")), "It is true.<0/> So it is."},
    {P(R("On the 10") RAISED("th") R(" floor")), "On the 10th floor"},
    {P(R("H") RAISED("2") R("O is water")), "<0:w/> is water"},
    {P(R("Sugar is C") RAISED("6") R("H") RAISED("12") R("O") RAISED("6") R(".")),
     "Sugar is <0:w/>."},
    {P(R("as it") RAISED("2") R(" is")), "as it<0/> is"},
    {P(R("It is ") RAISED("2") R(" high")), "It is <0>2</0> high"},
    {P(R("One") "<w:r><w:tab/></w:r>" R("two") "<w:r><w:br/><w:t>three</w:t></w:r>"),
     "One<0:e/>two<1:b/>three"},
    {P("<w:r><w:tab/>" T("A note") "<w:footnoteReference w:id=\"1\"/>" T(" stands.") "</w:r>"),
     "A note<0/> stands."},
    {P(R("A well") "<w:r><w:noBreakHyphen/></w:r>" R("known word")), "A well\u2011known word"},
    {P(R("Let ") "<m:oMath><m:t>x</m:t></m:oMath>" R(" be.")), "Let <0:w/> be."},
    /* what a program reads is copied, and blanks around it are ours */
    {P(R("Run ") C("ma") C("ke it") R(" now.")), "Run <0:w/> now."},
    {P(B("Run") C(" make ") B("now.")), "Run <0:w/> now."},
    {P(R("See ") "<w:hyperlink r=\"1\">" C("make") "</w:hyperlink>" R(" here.")),
     "See <0:w/> here."},
    {P(C("make install")), ""},
    {P(R("Kept") "<w:del><w:r><w:delText>no</w:delText></w:r></w:del>"
                 "<w:ins w:id=\"1\">" R(" new") "</w:ins>"
                                                "<w:moveFrom>" R("gone") "</w:moveFrom>"),
     "Kept<0/><1> new</1>"},
    {P(R("Page ") FIELD("begin") INSTRUCTION(" PAGE ") FIELD("separate") R("3") FIELD("end")
           R(" of it")),
     "Page <0:n/> of it"},
    {P(R("Page ") "<w:fldSimple w:instr=\"NUMPAGES\">" R("3") "</w:fldSimple>" R(" of it")),
     "Page <0:n/> of it"},
    {P(R("Dear ") FIELD("begin") INSTRUCTION(" MERGEFIELD Name ") FIELD("separate")
           R("\u00abName\u00bb") FIELD("end") R(", of ") "<w:fldSimple w:instr=\" author \">" R(
               "Jane") "</w:fldSimple>" R(" here.")),
     "Dear <0:w/>, of <1:w/> here."},
    {P(R("See ") FIELD("begin") INSTRUCTION("REF a") FIELD("separate") R("chapter one") FIELD("end")
           R(".")),
     "See <0>chapter one</0>."},
    /* over several paragraphs, as a table of contents */
    {P(FIELD("begin") INSTRUCTION("TOC") FIELD("separate") R("First")) P(R("Second"))
         P(R("Third") FIELD("end")),
     "First|Second|Third"},
    {P(FIELD("end") R("Odd.") FIELD("separate")), "Odd."},
    {P(R("A ") "<w:bookmarkStart w:id=\"2\"/>" R("place") "<w:bookmarkEnd w:id=\"2\"/>"),
     "A <0>place</0>"},
    {P("<w:sdt><w:sdtPr><w:id/></w:sdtPr><w:sdtContent>" R("Filled in") "</w:sdtContent></w:sdt>"),
     "<0>Filled in</0>"},
    {"<w:sdt><w:sdtContent>" P(R("Around paragraphs")) "</w:sdtContent></w:sdt>",
     "Around paragraphs"},
    {"<w:tbl><w:tr><w:tc>" P(R("A cell")) "</w:tc><w:tc>" P(R("7")) "</w:tc></w:tr></w:tbl>",
     "A cell|7"},
    {P(R("Before ") "<w:r>" T("it, ") BOX("in it") T("behind") "</w:r>"),
     "Before it, |in it|behind"},
    {P("<w:hyperlink>" R("a ") "<w:r>" BOX("b") "</w:r>" R("c") "</w:hyperlink>" R("d")),
     "a |b|c|d"},
    {P(R("See ") DESCRIBED("A mill") R(" here.")), "See <0/> here.|A mill"},
    {P(DESCRIBED("A &lt;mill&gt;") R("It stands.") PICTURE(" title='One'")),
     "It stands.|A &lt;mill&gt;|One"},
    {P(DESCRIBED("A mill&#xA;&#10;made by a machine")), "A mill<0:b/><1:b/>made by a machine"},
    {P("<w:hyperlink>" DESCRIBED("A mill") "</w:hyperlink>" R("It ") "<w:bookmarkStart/>" DESCRIBED(
         "A wheel") "<w:bookmarkEnd/>" R("is.")),
     "It <0/>is.|A mill|A wheel"},
    {P(R("It ") "<w:r>" T("is ") "<w:drawing><wp:docPr descr=\"A\"/></w:drawing>" T("so") "</w:r>"),
     "It is <0/>so|A"},
    {P(R("In ") "<w:r>" BOX("it") "<wp:docPr descr=\"A box\"/></w:r>"), "In |it"},
    {P(FIELD("begin") INSTRUCTION("HYPERLINK") DESCRIBED("A") FIELD("separate") R("One")
           DESCRIBED("B") FIELD("end")),
     "<0>One<1/></0>|B"},
    {P("<w:hyperlink w:tooltip=\"Go there\">" R("A link") "</w:hyperlink>" R(" here")),
     "<0>A link</0> here|Go there"},
    {P(R("Is it ") "<w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText=\"So\" "
                   "w:value=\"1\"/>"
                   "</w:dropDownList></w:sdtPr><w:sdtContent>" R("so") "</w:sdtContent></w:sdt>" R(
                       "?")),
     "Is it <0>so</0>?|So"},
    {P(R("Kept") "<w:del>" DESCRIBED("A") "</w:del>" PICTURE(" descr=\"\"")), "Kept"},
    {P("<w:r><w:pict><v:shape><v:textpath style='x' string='Draft &amp; more'/></v:shape></w:pict>"
       "</w:r>" R("A header")),
     "A header|Draft &amp; more"},
    {"<w:tbl><w:tblPr><w:tblCaption w:val=\"Prices\"/><w:tblDescription w:val=\"Of all\"/>"
     "</w:tblPr><w:tr><w:tc>" P(R("A cell")) "</w:tc></w:tr></w:tbl>",
     "Prices|Of all|A cell"},
    {P(""), ""},
    {P("<w:r><w:tab/></w:r>"), ""},
    {"<p><r><t>another namespace</t></r></p>", ""},
};

START_TEST(test_texts)
{
    struct mt_document *document = read_body(samples[_i].body);
    struct mt_text all = {0}, twice[8] = {{0}}, out = {0};
    mt_text_append(&all, "", 0);
    size_t n = mt_document_n_texts(document);
    for (size_t i = 0; i < n; i++) {
        mt_text_append(&all, "|", i > 0);
        mt_text_append_string(&all, mt_document_text(document, i).bytes);
    }
    ck_assert_str_eq(all.bytes, samples[_i].texts);
    /* each text twice as long, which is read again as such */
    for (size_t i = 0; i < n; i++)
        mt_text_appendf(&twice[i], "New %s", mt_document_text(document, i).bytes);
    write_file(document, twice, 0, &out);
    mt_document_destroy(document);
    char *file = malloc(out.length);
    memcpy(file, out.bytes, out.length);
    document = read_file(file, out.length);
    ck_assert_uint_eq(mt_document_n_texts(document), n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_str_eq(mt_document_text(document, i).bytes, twice[i].bytes);
        mt_text_finish(&twice[i]);
    }
    mt_document_destroy(document);
    mt_text_finish(&out);
    mt_text_finish(&all);
}
END_TEST

START_TEST(test_written)
{
    expect_written(P(R("Press ") B("red") R(" now.")), "<0>Rot</0> dr\u00fccken &amp; warten.", 0,
                   P(B("Rot") R(" dr\u00fccken &amp; warten.")));
    /* a look may be lost with its words, or be there twice */
    expect_written(P(R("It has 25 m") RAISED("2") R(" at most.")), "Es hat <0:n/> oder so.", 0,
                   P(R("Es hat ") R("25 m") RAISED("2") R(" oder so.")));
    expect_written(P(R("Press ") B("red") R(" now.")), "Nun", 0, P(R("Nun")));
    expect_written(P(R("Press ") B("red") R(" now.")), "<0>a</0> b <0>c</0>", 0,
                   P(B("a") R(" b ") B("c")));
    /* a large letter stays one */
    expect_written(DROP("O") P(R("nce ") B("so")), "\u00bbEs <0>war</0>", 0,
                   DROP("\u00bbE") P(R("s ") B("war")));
    expect_written(DROP("O") P(R("nce ") B("so")), "A", 0,
                   DROP("A") "<w:p><w:pPr><w:jc/></w:pPr></w:p>");
    expect_written(DROP("O") P(R("nce ") B("so")), "<0>Es</0> war", 0,
                   DROP("E") P(B("s") R(" war")));
    expect_written(DROP("O") P(R("nce ") B("so")), "&amp; so", 1, DROP("O") P(R("nce ") B("so")));
    /* another code may not */
    const char *link = P(R("See ") "<w:hyperlink w:anchor=\"x\">" B("this") "</w:hyperlink>");
    expect_written(link, "<0>Das</0> da", 0,
                   P("<w:hyperlink w:anchor=\"x\">" B("Das") "</w:hyperlink>" R(" da")));
    expect_written(link, "Das da", 1, link);
    expect_written(link, "<0>Das</0> <0>da</0>", 1, link);
    expect_written(link, "<0>Das da", 1, link);
    expect_written(link, "Das</0> da<0>", 1, link);
    expect_written(link, "<0>Das</0> <7/>", 1, link);
    expect_written(link, "<0>Das</0> < 7", 1, link);
    /* ranges that cross: the first ends behind it all */
    expect_written(
        P("<w:bookmarkStart w:id=\"1\"/>" R("A ") "<w:bookmarkStart w:id=\"2\"/>" R(
            "place") "<w:bookmarkEnd w:id=\"1\"/>" R(" to be") "<w:bookmarkEnd w:id=\"2\"/>"),
        "Ein <0>Ort</0> ist", 0,
        P("<w:bookmarkStart w:id=\"1\"/>" R("Ein ") "<w:bookmarkStart w:id=\"2\"/>" R(
            "Ort") "<w:bookmarkEnd w:id=\"2\"/>" R(" ist") "<w:bookmarkEnd w:id=\"1\"/>"));
    /* what is no character of XML */
    expect_written(P(R("A")),
                   "B\x01"
                   "C",
                   0, P(R("B C")));
}
END_TEST

/* ---- real files ---- */

static char *read_sample(const char *name, size_t *length)
{
    char path[512], *file;
    struct mt_error err;
    snprintf(path, sizeof path, "%s/tests/documents/%s", getenv("MT_SOURCE_DIR"), name);
    ck_assert_int_eq(mt_file_read(path, (size_t)1 << 20, &file, length, &err), MT_OK);
    return file;
}

/* Words of a file: what stands in its <w:t>. */
static void append_words(const struct mt_text *file, struct mt_text *out)
{
    struct mt_package *package = NULL;
    struct mt_error err;
    ck_assert_int_eq(mt_package_open(file->bytes, file->length, &package, &err), MT_OK);
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < mt_package_n_entries(package); i++) {
        struct mt_text part = {0};
        ck_assert_int_eq(mt_package_read(package, i, SIZE_MAX, &part, &err), MT_OK);
        bool has_words = strncmp(mt_package_name(package, i), "word/", 5) == 0 && part.bytes;
        for (const char *at = has_words ? part.bytes : ""; (at = strstr(at, "<w:t")); at++) {
            if (at[4] != ' ' && at[4] != '>')
                continue;
            const char *begin = strchr(at, '>') + 1;
            mt_text_append(out, begin, strcspn(begin, "<"));
        }
        mt_text_finish(&part);
    }
    mt_package_destroy(package);
}

/* Puts each word of a text between brackets; tags stay. */
static void mark(const char *text, struct mt_text *out)
{
    while (*text) {
        size_t n = *text == '<' ? strcspn(text, ">") + 1 : strcspn(text, "< ");
        if (*text != '<' && n > 0)
            mt_text_append(out, "[", 1);
        mt_text_append(out, text, n ? n : 1);
        if (*text != '<' && n > 0)
            mt_text_append(out, "]", 1);
        text += n ? n : 1;
    }
}

static const char *const files[] = {"letter.docx", "fields.docx"};

START_TEST(test_files)
{
    size_t length;
    char *file = read_sample(files[_i], &length);
    struct mt_text translations[64] = {{0}}, out = {0}, before = {0}, after = {0}, plain = {0};
    struct mt_text original = {0};
    mt_text_append(&original, file, length);
    struct mt_document *document = read_file(file, length);
    size_t n = mt_document_n_texts(document);
    ck_assert_uint_ge(n, 6);
    ck_assert_uint_le(n, 64);
    /* nothing is translated, or all texts are themselves: the same file */
    write_file(document, translations, n, &out);
    ck_assert(out.length == original.length && !memcmp(out.bytes, original.bytes, out.length));
    for (size_t i = 0; i < n; i++)
        mt_text_append_string(&translations[i], mt_document_text(document, i).bytes);
    mt_text_finish(&out);
    out = (struct mt_text){0};
    write_file(document, translations, 0, &out);
    ck_assert(out.length == original.length && !memcmp(out.bytes, original.bytes, out.length));
    /* every word is marked: without the marks, the same words in the same order */
    mt_text_finish(&out);
    out = (struct mt_text){0};
    for (size_t i = 0; i < n; i++) {
        translations[i].length = 0;
        mark(mt_document_text(document, i).bytes, &translations[i]);
    }
    write_file(document, translations, 0, &out);
    append_words(&original, &before);
    append_words(&out, &after);
    ck_assert_ptr_nonnull(strstr(after.bytes, _i == 0 ? "[train] [station]" : "[yesterday.]"));
    for (size_t i = 0; i < after.length; i++)
        if (!strchr("[]", after.bytes[i]))
            mt_text_append(&plain, after.bytes + i, 1);
    ck_assert_str_eq(plain.bytes, before.bytes);
    for (size_t i = 0; i < n; i++)
        mt_text_finish(&translations[i]);
    mt_text_finish(&out);
    mt_text_finish(&before);
    mt_text_finish(&after);
    mt_text_finish(&plain);
    mt_text_finish(&original);
    mt_document_destroy(document);
}
END_TEST

/* libzip frees bytes that it was only lent, when it writes a zip of which more than the first half
 * stays. */
START_TEST(test_file_stays_ours)
{
    static const char picture[600] = "a picture";
    const struct entry entries[] = {
        {"[Content_Types].xml", CONTENT_TYPES, 0, ZIP_CM_DEFLATE, false},
        {"word/media/picture.png", picture, sizeof picture, ZIP_CM_STORE, false},
        {"word/document.xml",
         "<w:document xmlns:w=\"" NAMESPACE "\">" P(R("Hello.")) "</w:document>", 0, ZIP_CM_DEFLATE,
         false}};
    size_t length;
    char *file = make_package(entries, 3, &length);
    struct mt_document *document = read_file(file, length);
    struct mt_text translations[1] = {{0}};
    mt_text_append_string(&translations[0], "Hallo.");
    for (size_t i = 0; i < 2; i++) {
        struct mt_text out = {0};
        write_file(document, translations, 0, &out);
        char *part = main_part(&out);
        ck_assert_ptr_nonnull(strstr(part, "Hallo."));
        free(part);
        mt_text_finish(&out);
    }
    mt_text_finish(&translations[0]);
    mt_document_destroy(document);
}
END_TEST

/* Bookmarks within bookmarks refuse no document. */
START_TEST(test_many_bookmarks)
{
    struct mt_text body = {0};
    mt_text_append_string(&body, "<w:p>");
    for (int i = 0; i < 400; i++)
        mt_text_appendf(&body, "<w:bookmarkStart w:id=\"%d\"/>", i);
    mt_text_append_string(&body, R("Hello."));
    for (int i = 399; i >= 0; i--)
        mt_text_appendf(&body, "<w:bookmarkEnd w:id=\"%d\"/>", i);
    mt_text_append_string(&body, "</w:p>");
    struct mt_document *document = read_body(body.bytes);
    ck_assert_uint_eq(mt_document_n_texts(document), 1);
    mt_document_destroy(document);
    mt_text_finish(&body);
}
END_TEST

/* As Microsoft's Open XML SDK names the main part: by its extension. */
START_TEST(test_type_of_an_extension)
{
    const struct entry entries[] = {
        {"[Content_Types].xml",
         "<Types><Default Extension=\"xml\" ContentType=\"application/vnd.openxmlformats-"
         "officedocument.wordprocessingml.document.main+xml\"/><Override "
         "PartName=\"/word/styles.xml\" ContentType=\"wordprocessingml.styles+xml\"/></Types>",
         0, ZIP_CM_STORE, false},
        {"word/styles.xml", "no XML", 0, ZIP_CM_STORE, false},
        {"word/document.xml",
         "<w:document xmlns:w=\"" NAMESPACE "\">" P(R("Hello.")) "</w:document>", 0, ZIP_CM_STORE,
         false}};
    size_t length;
    char *file = make_package(entries, 3, &length);
    struct mt_document *document = read_file(file, length);
    ck_assert_uint_eq(mt_document_n_texts(document), 1);
    mt_document_destroy(document);
}
END_TEST

/* The zip's comment may hold what its directory's end begins with. */
START_TEST(test_comment)
{
    static const char comment[] = "PK\5\6 is no directory's end: \xFF\xFF\xFF\xFF";
    size_t length, n = strlen(comment);
    const char xml[] = "<w:document xmlns:w=\"" NAMESPACE "\">" P(R("Hello.")) "</w:document>";
    char *file = make_docx(xml, strlen(xml), &length);
    file = realloc(file, length + n);
    memcpy(file + length, comment, n);
    file[length - 2] = (char)n;
    struct mt_document *document = read_file(file, length + n);
    ck_assert_uint_eq(mt_document_n_texts(document), 1);
    mt_document_destroy(document);
}
END_TEST

/* Mail and version control put a line end behind a file. */
START_TEST(test_line_end_behind)
{
    size_t length;
    const char xml[] = "<w:document xmlns:w=\"" NAMESPACE "\">" P(R("Hello.")) "</w:document>";
    char *file = make_docx(xml, strlen(xml), &length);
    file = realloc(file, length + 1);
    file[length] = '\n';
    struct mt_document *document = read_file(file, length + 1);
    ck_assert_uint_eq(mt_document_n_texts(document), 1);
    struct mt_text translations[1] = {{0}}, out = {0};
    mt_text_append_string(&translations[0], "Hallo.");
    write_file(document, translations, 0, &out);
    char *part = main_part(&out);
    ck_assert_ptr_nonnull(strstr(part, "Hallo."));
    free(part);
    mt_text_finish(&translations[0]);
    mt_text_finish(&out);
    mt_document_destroy(document);
}
END_TEST

/* ---- hostile files ---- */

/* Takes the file. */
static void expect_refused(char *file, size_t length, const char *message)
{
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    enum mt_status status = mt_document_create(file, length, &options, &document, &err);
    ck_assert_msg(status == MT_FORMAT || status == MT_LIMIT, "%s: %d", message, (int)status);
    ck_assert_msg(strstr(err.message, message), "\"%s\" is not in \"%s\"", message, err.message);
    free(file);
}

static char *copy(const char *bytes, size_t length)
{
    char *file = malloc(length + 1);
    memcpy(file, bytes, length);
    return file;
}

#define TYPES_ENTRY                                                  \
    {                                                                \
        "[Content_Types].xml", CONTENT_TYPES, 0, ZIP_CM_STORE, false \
    }
#define EMPTY_DOCUMENT "<w:document xmlns:w=\"" NAMESPACE "\"/>"

START_TEST(test_entries_that_are_refused)
{
    static const struct {
        struct entry entry;
        const char *message;
    } rows[] = {
        {{"../a.xml", "a", 0, ZIP_CM_STORE, false}, "\"../a.xml\": expected a name without"},
        {{"a/../b", "a", 0, ZIP_CM_STORE, false}, "\"a/../b\""},
        {{"/etc", "a", 0, ZIP_CM_STORE, false}, "\"/etc\""},
        {{"a\\b", "a", 0, ZIP_CM_STORE, false}, "\"a\\b\""},
        {{"a", "a", 0, ZIP_CM_STORE, true}, "\"a\" is encrypted"},
        {{"a", "aaaaaaaaaaaaaaaaaaaaaaaaa", 0, ZIP_CM_BZIP2, false}, "compression method 12"},
        {{"WORD/document.XML", "a", 0, ZIP_CM_STORE, false}, "is there twice"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct entry entries[] = {
            TYPES_ENTRY,
            {"word/document.xml", EMPTY_DOCUMENT, 0, ZIP_CM_STORE, false},
            rows[i].entry};
        size_t length;
        char *file = make_package(entries, 3, &length);
        expect_refused(file, length, rows[i].message);
    }
}
END_TEST

START_TEST(test_no_document)
{
    const struct entry other[] = {
        {"[Content_Types].xml",
         "<Types><Override PartName=\"/xl/a.xml\" ContentType=\"spreadsheetml.sheet.main+xml\"/>"
         "</Types>",
         0, ZIP_CM_STORE, false}};
    const struct entry none[] = {{"a", "b", 0, ZIP_CM_STORE, false}};
    size_t length;
    char *file = make_package(none, 1, &length);
    expect_refused(file, length, "a zip without \"[Content_Types].xml\"");
    file = make_package(other, 1, &length);
    expect_refused(file, length, "names spreadsheetml.sheet.main+xml, expected a document of Word");
    const struct entry empty[] = {{"[Content_Types].xml", "", 0, ZIP_CM_STORE, false}};
    file = make_package(empty, 1, &length);
    expect_refused(file, length, "[Content_Types].xml: line 1, column 1: expected XML");
    expect_refused(copy("", 0), 0, "expected a zip");
    expect_refused(copy("Hello", 5), 5, "expected a zip");
    expect_refused(copy("%PDF-1.7", 8), 8, "is a PDF");
    expect_refused(copy("{\\rtf1", 6), 6, "is RTF");
    expect_refused(copy("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 W\0o\0r\0d\0", 17), 17, "before 2007");
    char secret[64] = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
    const char name[] = "EncryptedPackage";
    for (size_t i = 0; i < strlen(name); i++)
        secret[16 + 2 * i] = name[i];
    expect_refused(copy(secret, sizeof secret), sizeof secret, "has a password");
}
END_TEST

/* Cut short anywhere: refused, or what was read is there. */
START_TEST(test_cut_short)
{
    size_t length;
    char *file = read_sample("fields.docx", &length);
    for (size_t n = 0; n < length; n += n < length - 200 ? 97 : 1) {
        struct mt_document *document = NULL;
        struct mt_error err = {0};
        enum mt_status status = mt_document_create(file, n, &options, &document, &err);
        ck_assert_msg(status == MT_FORMAT, "%zu bytes", n);
        ck_assert(err.message[0]);
    }
    free(file);
}
END_TEST

/* Every byte of an entry is checked by its sum. */
START_TEST(test_wrong_sum)
{
    size_t length;
    const char xml[] = "<w:document xmlns:w=\"" NAMESPACE "\"><w:p><w:r><w:t>Hi</w:t></w:r></w:p>"
                       "</w:document>";
    char *file = make_docx(xml, strlen(xml), &length);
    char *words = memmem(file, length, ">Hi<", 4);
    ck_assert_ptr_nonnull(words);
    words[1] = 'h';
    expect_refused(file, length, "word/document.xml");
}
END_TEST

static const struct {
    const char *paragraph, *kept, *reason;
} stays[] = {
    {P("<w:r><w:t><![CDATA[Press]]></w:t></w:r>"), "<![CDATA[Press]]>", "markup"},
    {P("<w:pPr><w:pStyle w:val=\"SourceCode\"/></w:pPr>" R("make install")), ">make install<",
     "it is code"},
};

START_TEST(test_left_is_told)
{
    char body[400];
    snprintf(body, sizeof body, "%s%s", stays[_i].paragraph, P(R("Stop")));
    struct mt_document *document = read_body(body);
    struct mt_text translations[2] = {{0}}, out = {0};
    struct mt_document_report report;
    struct mt_error err;
    ck_assert_uint_eq(mt_document_n_texts(document), 2);
    mt_text_append_string(&translations[1], "Halt");
    ck_assert_int_eq(mt_document_write(document, translations, &out, &report, &err), MT_OK);
    ck_assert_uint_eq(report.n_translated, 1);
    ck_assert_uint_eq(report.n_left, 1);
    ck_assert_ptr_nonnull(strstr(report.left[0].reason, stays[_i].reason));
    char *part = main_part(&out);
    ck_assert_ptr_nonnull(strstr(part, stays[_i].kept));
    ck_assert_ptr_nonnull(strstr(part, "Halt"));
    free(part);
    mt_text_finish(&translations[1]);
    mt_text_finish(&out);
    mt_document_destroy(document);
}
END_TEST

START_TEST(test_bad_xml)
{
    static const struct {
        const char *xml, *message;
    } rows[] = {
        {"<a>", "word/document.xml: line 1"},
        {"<!DOCTYPE a [<!ENTITY b \"c\">]>\n<a/>",
         "word/document.xml: line 1: an entity is declared"},
        {"<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><a/>", "encoding is \"iso-8859-1"},
        {"\xFF\xFE<\0a", "is no UTF-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length;
        char *file = make_docx(rows[i].xml, strlen(rows[i].xml), &length);
        expect_refused(file, length, rows[i].message);
    }
    struct mt_text deep = {0};
    size_t length;
    for (size_t i = 0; i < 200000; i++)
        mt_text_append_string(&deep, "<a>");
    char *file = make_docx(deep.bytes, deep.length, &length);
    expect_refused(file, length, "nested deeper than 256");
    mt_text_finish(&deep);
}
END_TEST

/* The directory says that an entry has more bytes than the file: packed, so that it overlaps others, or
 * unpacked. */
START_TEST(test_sizes_that_lie)
{
    const char xml[] = "<w:document xmlns:w=\"" NAMESPACE "\"/>";
    for (int offset = 20; offset <= 24; offset += 4) {
        size_t length;
        char *file = make_docx(xml, strlen(xml), &length);
        char *entry = memmem(file, length, "PK\1\2", 4);
        ck_assert_ptr_nonnull(entry);
        memcpy(entry + offset, "\xFF\xFF\xFF\x0F", 4);
        expect_refused(file, length, offset == 20 ? "do not overlap" : "[Content_Types].xml");
    }
}
END_TEST

/* 100 MB of blanks in 100 KB. */
START_TEST(test_bomb)
{
    size_t n = (size_t)100 << 20, length;
    char *blanks = malloc(n);
    memset(blanks, ' ', n);
    const struct entry entries[] = {TYPES_ENTRY,
                                    {"word/document.xml", blanks, n, ZIP_CM_DEFLATE, false}};
    char *file = make_package(entries, 2, &length);
    ck_assert_uint_lt(length, 200000);
    expect_refused(file, length, "more than 33554432 bytes together");
    free(blanks);
}
END_TEST

START_TEST(test_many_entries)
{
    size_t n = MT_PACKAGE_MAX_ENTRIES + 1, length;
    struct entry *entries = calloc(n, sizeof *entries);
    char(*names)[8] = calloc(n, sizeof *names);
    for (size_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "%zu", i);
        entries[i] = (struct entry){names[i], "a", 0, ZIP_CM_STORE, false};
    }
    char *file = make_package(entries, n, &length);
    expect_refused(file, length, "has 4097 entries, expected 4096 at most");
    free(entries);
    free(names);
}
END_TEST

/* In time that grows with their number: each run looks otherwise than the one before. */
START_TEST(test_many_runs)
{
    struct mt_text body = {0}, out = {0};
    mt_text_append_string(&body, "<w:p>");
    for (size_t i = 0; i < 50000; i++)
        mt_text_append_string(&body, R("plain words ") B("bold words. "));
    mt_text_append_string(&body, "</w:p>");
    struct mt_document *document = read_body(body.bytes);
    size_t n = mt_document_n_texts(document), n_words = 0;
    ck_assert_uint_lt(n, 1000);
    struct mt_text *translations = calloc(n, sizeof *translations);
    for (size_t i = 0; i < n; i++) {
        const char *text = mt_document_text(document, i).bytes;
        for (const char *at = text; (at = strstr(at, "words")); at++)
            n_words++;
        mt_text_appendf(&translations[i], "New %s", text);
    }
    ck_assert_uint_eq(n_words, 100000);
    write_file(document, translations, 0, &out);
    for (size_t i = 0; i < n; i++)
        mt_text_finish(&translations[i]);
    free(translations);
    mt_text_finish(&out);
    mt_text_finish(&body);
    mt_document_destroy(document);
}
END_TEST

Suite *suite_docx(void)
{
    Suite *suite = suite_create("docx");
    TCase *tcase = tcase_create("docx");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_texts, 0, sizeof samples / sizeof *samples);
    tcase_add_test(tcase, test_written);
    tcase_add_loop_test(tcase, test_files, 0, 2);
    tcase_add_loop_test(tcase, test_left_is_told, 0, sizeof stays / sizeof *stays);
    tcase_add_test(tcase, test_file_stays_ours);
    tcase_add_test(tcase, test_type_of_an_extension);
    tcase_add_test(tcase, test_comment);
    tcase_add_test(tcase, test_line_end_behind);
    tcase_add_test(tcase, test_many_bookmarks);
    tcase_add_test(tcase, test_entries_that_are_refused);
    tcase_add_test(tcase, test_no_document);
    tcase_add_test(tcase, test_cut_short);
    tcase_add_test(tcase, test_wrong_sum);
    tcase_add_test(tcase, test_bad_xml);
    tcase_add_test(tcase, test_sizes_that_lie);
    tcase_add_test(tcase, test_bomb);
    tcase_add_test(tcase, test_many_entries);
    tcase_add_test(tcase, test_many_runs);
    suite_add_tcase(suite, tcase);
    return suite;
}
