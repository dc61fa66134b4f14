/*
 * PowerPoint's presentations and Excel's workbooks: what is a text, and how its translation is written.
 * test_docx.c has what all packages promise.
 */
#include "make_package.h"

#include "server/documents/document.h"
#include "server/documents/package.h"

#include <check.h>
#include <stdio.h>

#define TYPE(name, type) \
    "<Override PartName=\"/" name "\" ContentType=\"application/vnd." type "+xml\"/>"
#define OFFICE "openxmlformats-officedocument."
#define DRAWING "http://schemas.openxmlformats.org/drawingml/2006/main"
#define SHEET "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

static const char presentation_types[] =
    "<Types>" TYPE("p.xml", OFFICE "presentationml.presentation.main")
        TYPE("slide.xml", OFFICE "presentationml.slide")
            TYPE("layout.xml", OFFICE "presentationml.slideLayout")
                TYPE("comments.xml", OFFICE "presentationml.comments")
                    TYPE("chart.xml", OFFICE "drawingml.chart") "</Types>";
static const char document_types[] =
    "<Types>" TYPE("d.xml", OFFICE "wordprocessingml.document.main")
        TYPE("styles.xml", OFFICE "wordprocessingml.styles") "</Types>";
static const char workbook_types[] = "<Types>" TYPE("w.xml", OFFICE "spreadsheetml.sheet.main")
    TYPE("strings.xml", OFFICE "spreadsheetml.sharedStrings")
        TYPE("sheet.xml", OFFICE "spreadsheetml.worksheet")
            TYPE("table.xml", OFFICE "spreadsheetml.table")
                TYPE("comments.xml", OFFICE "spreadsheetml.comments")
                    TYPE("threads.xml", "ms-excel.threadedcomments")
                        TYPE("chart.xml", OFFICE "drawingml.chart") "</Types>";

/* Parts: name, bytes, ..., NULL. */
static struct mt_document *read_parts_for(const char *target_lang, const char *types,
                                          const char *const *parts)
{
    struct entry entries[8] = {{"[Content_Types].xml", types, 0, ZIP_CM_DEFLATE, false}};
    const struct mt_document_options options = {.format = types == workbook_types ? MT_DOCUMENT_XLSX
                                                          : types == document_types
                                                              ? MT_DOCUMENT_DOCX
                                                              : MT_DOCUMENT_PPTX,
                                                .target_lang = target_lang,
                                                .confines = true};
    struct mt_document *document = NULL;
    struct mt_error err;
    size_t n = 1, length;
    for (; *parts; parts += 2)
        entries[n++] = (struct entry){parts[0], parts[1], 0, ZIP_CM_DEFLATE, false};
    char *file = make_package(entries, n, &length);
    enum mt_status status = mt_document_create(file, length, &options, &document, &err);
    ck_assert_msg(!status, "%s", status ? err.message : "");
    free(file);
    return document;
}

static struct mt_document *read_parts(const char *types, const char *const *parts)
{
    return read_parts_for(NULL, types, parts);
}

/* A part around which its namespaces are declared. */
static struct mt_document *read_part(const char *name, const char *content, bool is_workbook)
{
    struct mt_text xml = {0};
    mt_text_appendf(&xml, "<x:part xmlns=\"%s\" xmlns:a=\"%s\" xmlns:x=\"x\">%s</x:part>", SHEET,
                    DRAWING, content);
    const char *const parts[] = {name, xml.bytes, NULL};
    struct mt_document *document =
        read_parts(is_workbook ? workbook_types : presentation_types, parts);
    mt_text_finish(&xml);
    return document;
}

static char *join_texts(const struct mt_document *document)
{
    struct mt_text all = {0};
    mt_text_append(&all, "", 0);
    for (size_t i = 0; i < mt_document_n_texts(document); i++) {
        mt_text_append(&all, "|", i > 0);
        mt_text_append_string(&all, mt_document_text(document, i).bytes);
    }
    return all.bytes;
}

/* The content of the part of read_part, once the texts are translated. */
static char *write_part(const struct mt_document *document, const char *name,
                        const struct mt_text *translations, struct mt_document_report *report)
{
    struct mt_text file = {0}, part = {0};
    struct mt_package *package = NULL;
    struct mt_error err;
    ck_assert_int_eq(mt_document_write(document, translations, &file, report, &err), MT_OK);
    ck_assert_int_eq(mt_package_open(file.bytes, file.length, &package, &err), MT_OK);
    for (size_t i = 0; i < mt_package_n_entries(package); i++)
        if (strcmp(mt_package_name(package, i), name) == 0)
            ck_assert_int_eq(mt_package_read(package, i, SIZE_MAX, &part, &err), MT_OK);
    mt_package_destroy(package);
    mt_text_finish(&file);
    ck_assert_ptr_nonnull(part.bytes);
    return part.bytes;
}

/* ---- texts ---- */

#define T(words) "<a:t>" words "</a:t>"
#define R(words) "<a:r><a:rPr lang=\"en-US\" dirty=\"0\"/>" T(words) "</a:r>"
#define B(words) "<a:r><a:rPr lang='en-GB' b=\"1\" err=\"1\"></a:rPr>" T(words) "</a:r>"
#define LINK(words) "<a:r><a:rPr><a:hlinkClick r:id=\"rId2\"/></a:rPr>" T(words) "</a:r>"
#define P(content) "<a:p><a:pPr lvl=\"1\"/>" content "<a:endParaRPr lang=\"en-US\"/></a:p>"
#define SHAPE(properties, words) \
    "<p:sp><p:nvSpPr><p:nvPr>" properties "</p:nvPr></p:nvSpPr>" P(R(words)) "</p:sp>"
#define CELL(content) "<si>" content "</si>"
#define CELL_T(words) "<t xml:space=\"preserve\">" words "</t>"
#define CELL_R(words) "<r>" CELL_T(words) "</r>"
#define CELL_B(words) "<r><rPr><b/></rPr>" CELL_T(words) "</r>"

static const struct {
    const char *part, *content, *texts; /* with '|' between them */
} samples[] = {
    {"slide.xml", P(R("Fish &amp; chips")), "Fish &amp; chips"},
    {"slide.xml", P(R("The tr") R("ain sta") B("tion") B(" is") R(" closed.")),
     "The train sta<0>tion is</0> closed."},
    {"slide.xml", P(R("One") "<a:br><a:rPr lang=\"en-US\"/></a:br>" R("two")), "One<0:b/>two"},
    {"slide.xml", P(R("Name:\tPeter")), "Name:<0:e/>Peter"},
    {"slide.xml", P(R("Page ") "<a:fld type=\"slidenum\">" T("7") "</a:fld>" R(" of it")),
     "Page <0:n/> of it"},
    {"slide.xml", P(R("See ") LINK("this") R(" page.")), "See <0>this</0> page."},
    {"slide.xml", P(R("So ") "<mc:AlternateContent>" R("x") "</mc:AlternateContent>" R(" is.")),
     "So <0:w/> is."},
    {"slide.xml", "<a:tbl><a:tc>" P(R("A cell")) "</a:tc><a:tc>" P(R("7")) "</a:tc></a:tbl>",
     "A cell|7"},
    {"slide.xml", P("") "<a:p/>" P("<a:r><a:t/></a:r>"), ""},
    {"slide.xml", "<p xmlns=\"other\"><r><t>no</t></r></p><a:t>no</a:t>", ""},
    {"slide.xml",
     "<p:pic><p:nvPicPr><p:cNvPr id=\"2\" name=\"Picture\" descr=\"A mill&#xA;by a river\" "
     "title='It'/></p:nvPicPr></p:pic>" SHAPE("", "So"),
     "A mill<0:b/>by a river|It|So"},
    {"slide.xml", "<p:cNvPr id=\"2\"><a:hlinkClick tooltip=\"Go there\"/></p:cNvPr>", "Go there"},
    {"layout.xml", SHAPE("<p:ph type=\"title\"/>", "Click here") SHAPE("", "Secret!"), "Secret!"},
    {"comments.xml", "<p:cm><p:text>Is it &lt;so&gt;?\nYes.</p:text></p:cm>",
     "Is it &lt;so&gt;?<0:b/>Yes."},
    {"chart.xml",
     "<c:title><c:tx><c:rich>" P(R("Sales")) "</c:rich></c:tx></c:title><c:ser><c:tx><c:v>This "
                                             "year</c:v></c:tx><c:cat><c:strRef><c:f>Sheet1!A1</"
                                             "c:f><c:strCache><c:ptCount val=\"1\"/>"
                                             "<c:pt><c:v>Spring</c:v></c:pt></c:strCache></"
                                             "c:strRef></c:cat><c:val><c:numCache><c:pt>"
                                             "<c:v>4</c:v></c:pt></c:numCache></c:val></c:ser>",
     "Sales|This year|Spring"},
    {"strings.xml", CELL("<t>  Fish\n&amp; chips </t>"), "Fish<0:b/>&amp; chips"},
    {"strings.xml", CELL(CELL_R("Press ") CELL_B("red") CELL_R(" now.")), "Press <0>red</0> now."},
    {"strings.xml", CELL("<t>Two_x000D_\nlines_x0007_ so</t>"), "Two<0:b/>lines<1/> so"},
    {"strings.xml", CELL("<t>\u6771\u4eac</t><rPh sb=\"0\" eb=\"2\"><t>\u30c8</t></rPh>"),
     "\u6771\u4eac"},
    {"strings.xml", CELL("<t/>") CELL(""), ""},
    {"sheet.xml",
     "<c r=\"A1\" t=\"inlineStr\"><is><t>Inline</t></is></c><c t=\"str\"><f>A1</f><v>Made</v></c>"
     "<c><v>7</v></c><c t=\"str\"><v>Fish &amp;\nchips</v></c><c t=\"n\"><v>1</v></c>",
     "Inline|Fish &amp;<0:b/>chips"},
    {"sheet.xml",
     "<headerFooter><oddHeader>&amp;L&amp;\"Arial,Bold\"&amp;12Sales&amp;CPage &amp;P-1 of &amp;N "
     "so"
     "&amp;RFish &amp;&amp; chips &amp;A&amp;K04-021red</oddHeader><evenHeader>&amp;C&amp;P"
     "</evenHeader><firstFooter>&#38;&quot;-,Italic&#34;The &amp;Dth</firstFooter></headerFooter>",
     "Sales<0:e/>Page <1:n/> of <2:n/> so<3:e/>Fish &amp; chips <4:w/><5:e/>red|The <0:n/>th"},
    {"sheet.xml",
     "<dataValidation promptTitle=\"A color\" prompt='Write&#10;red' errorTitle=\"\" error=\"No "
     "&quot;color&quot;\"/><x14:dataValidation error=\"No\"/>",
     "A color|Write<0:b/>red|No \"color\"|No"},
    {"sheet.xml", "<hyperlink ref=\"A1\" tooltip=\"Go there\" display=\"x\"/>", "Go there"},
    {"comments.xml@", "<comment><text><r><t>Note</t></r></text></comment>", "Note"},
    {"threads.xml@", "<threadedComment><text>Really?</text></threadedComment>", "Really?"},
    /* a workbook's charts show what its cells say */
    {"chart.xml@",
     "<c:tx><c:rich>" P(R("Sales")) "</c:rich></c:tx><c:strCache><c:v>Spring</c:v></c:strCache>",
     "Sales"},
};

static bool is_workbook(const char *part)
{
    return strchr(part, '@') || strcmp(part, "strings.xml") == 0 || strcmp(part, "sheet.xml") == 0;
}

START_TEST(test_texts)
{
    char part[32];
    struct mt_text twice[8] = {{0}};
    struct mt_document_report report;
    bool is_cells = is_workbook(samples[_i].part);
    snprintf(part, sizeof part, "%.*s", (int)strcspn(samples[_i].part, "@"), samples[_i].part);
    struct mt_document *document = read_part(part, samples[_i].content, is_cells);
    char *texts = join_texts(document);
    ck_assert_str_eq(texts, samples[_i].texts);
    /* each text twice as long, which is read again as such */
    size_t n = mt_document_n_texts(document);
    for (size_t i = 0; i < n; i++)
        mt_text_appendf(&twice[i], "New %s", mt_document_text(document, i).bytes);
    char *written = write_part(document, part, twice, &report);
    ck_assert_uint_eq(report.n_translated, n);
    mt_document_destroy(document);
    const char *const parts[] = {part, written, NULL};
    document = read_parts(is_cells ? workbook_types : presentation_types, parts);
    ck_assert_uint_eq(mt_document_n_texts(document), n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_str_eq(mt_document_text(document, i).bytes, twice[i].bytes);
        mt_text_finish(&twice[i]);
    }
    mt_document_destroy(document);
    free(written);
    free(texts);
}
END_TEST

static const struct {
    const char *part, *content, *translation;
    const char *expected; /* NULL: it stays */
} writings[] = {
    {"slide.xml", P(R("Press ") B("red") R(" now.")), "<0>Rot</0> dr\u00fccken &amp; warten.",
     P("<a:r><a:rPr b=\"1\"/>" T("Rot") "</a:r><a:r>" T(" dr\u00fccken &amp; warten.") "</a:r>")},
    /* a look may be lost with its words, a link may not */
    {"slide.xml", P(R("Press ") B("red") R(" now.")), "Nun", P("<a:r>" T("Nun") "</a:r>")},
    {"slide.xml", P(R("See ") LINK("this") R(" page.")), "Siehe da", NULL},
    {"slide.xml", P(R("See ") LINK("this") R(" page.")), "<0>Das</0> da",
     P(LINK("Das") "<a:r>" T(" da") "</a:r>")},
    {"slide.xml", P(R("A") "<a:br/>" R("B")), "a<0:b/>b",
     P("<a:r>" T("a") "</a:r><a:br/><a:r>" T("b") "</a:r>")},
    {"slide.xml", P(R("A") "<a:br/>" R("B")), "ab", NULL},
    {"strings.xml", CELL("<t>Hello</t>"), " Hallo &amp; so", CELL(CELL_T(" Hallo &amp; so"))},
    {"strings.xml", CELL("<t>One\ntwo</t>"), "Eins<0:b/>zwei", CELL(CELL_T("Eins\nzwei"))},
    {"strings.xml", CELL(CELL_R("It is ") CELL_B("so\n") CELL_R("now")), "<0>So</0><1:b/>nun",
     CELL(CELL_B("So") CELL_B("\n") CELL_R("nun"))},
    {"sheet.xml", "<oddFooter>&amp;R&amp;8Fish &amp;&amp; chips</oddFooter>", "12 &amp; 3",
     "<oddFooter>&amp;R&amp;8 12 &amp;&amp; 3</oddFooter>"},
    {"sheet.xml", "<oddFooter>&amp;LA &lt; B&amp;R\xC3\xA9&lt;</oddFooter>",
     "B &lt; A<0:e/>\xC3\xA9&lt;", "<oddFooter>&amp;LB &lt; A&amp;R\xC3\xA9&lt;</oddFooter>"},
    {"sheet.xml", "<oddFooter>Page &amp;P of it</oddFooter>", "von <0:n/> Seite",
     "<oddFooter>von &amp;P Seite</oddFooter>"},
    {"sheet.xml", "<oddFooter>Page &amp;P of it</oddFooter>", "Seite", NULL},
    /* a title of 32 characters in UTF-16, and of 33 */
    {"sheet.xml", "<dataValidation promptTitle=\"So\"/>",
     "\U0001F600 \"b\" of thirty-two characters.",
     "<dataValidation promptTitle=\"\U0001F600 &quot;b&quot; of thirty-two characters.\"/>"},
    {"sheet.xml", "<dataValidation promptTitle=\"So\"/>",
     "\U0001F600 \"b\" of thirty-two characters..", NULL},
    /* how words are read aloud is no more true */
    {"strings.xml", CELL("<t>\u6771</t><rPh sb=\"0\" eb=\"1\"><t>\u30c8</t></rPh><phoneticPr/>"),
     "Ost", CELL(CELL_T("Ost"))},
};

START_TEST(test_written)
{
    struct mt_document *document =
        read_part(writings[_i].part, writings[_i].content, is_workbook(writings[_i].part));
    struct mt_text translations[1] = {{0}};
    struct mt_document_report report;
    const char *expected = writings[_i].expected;
    ck_assert_uint_eq(mt_document_n_texts(document), 1);
    mt_text_append_string(&translations[0], writings[_i].translation);
    char *part = write_part(document, writings[_i].part, translations, &report);
    ck_assert_uint_eq(report.n_refused, expected ? 0 : 1);
    char *begin = strchr(part, '>') + 1;
    *strstr(part, "</x:part>") = '\0';
    ck_assert_str_eq(begin, expected ? expected : writings[_i].content);
    free(part);
    mt_text_finish(&translations[0]);
    mt_document_destroy(document);
}
END_TEST

/* ---- languages ---- */

#define WORD_P(properties, run, words) \
    "<w:p>" properties "<w:r>" run "<w:t xml:space=\"preserve\">" words "</w:t></w:r></w:p>"
#define LANGUAGE_STYLES "<s><w:lang w:val=\"en-US\"/></s>"

/* A document of two paragraphs, "A" and "B", of which the first is translated. */
static const struct {
    const char *target, *language; /* what the document's styles say; of slides: their runs */
    const char *paragraph, *expected;
} languages[] = {
    {"de", LANGUAGE_STYLES, WORD_P("", "", "A"),
     WORD_P("", "<w:rPr><w:lang w:val=\"de-DE\"/></w:rPr>", "C")},
    /* a document that names no language, and a target that is not known */
    {"de", "<s/>", WORD_P("", "", "A"), WORD_P("", "", "C")},
    {NULL, LANGUAGE_STYLES, WORD_P("", "", "A"), WORD_P("", "", "C")},
    {"zh", LANGUAGE_STYLES, WORD_P("", "<w:rPr><w:b/><w:lang w:val=\"en\"/><w14:x/></w:rPr>", "A"),
     WORD_P("", "<w:rPr><w:b/><w:lang w:eastAsia=\"zh-CN\"/><w14:x/></w:rPr>", "C")},
    {"ar", LANGUAGE_STYLES,
     WORD_P("<w:pPr><w:keepNext/><w:jc/></w:pPr>", "<w:rPr><w:u/><w:cs/><w:w14/></w:rPr>", "A"),
     WORD_P("<w:pPr><w:keepNext/><w:bidi/><w:jc/></w:pPr>",
            "<w:rPr><w:u/><w:rtl/><w:cs/><w:w14/><w:lang w:bidi=\"ar-EG\"/></w:rPr>", "C")},
    {"he", LANGUAGE_STYLES, WORD_P("<w:pPr/>", "", "A"),
     WORD_P("<w:pPr><w:bidi/></w:pPr>", "<w:rPr><w:rtl/><w:lang w:bidi=\"he-IL\"/></w:rPr>", "C")},
    {"fa", LANGUAGE_STYLES, WORD_P("<w:pPr><w:bidi/></w:pPr>", "<w:rPr><w:rtl/></w:rPr>", "A"),
     WORD_P("<w:pPr><w:bidi/></w:pPr>", "<w:rPr><w:rtl/><w:lang w:bidi=\"fa-IR\"/></w:rPr>", "C")},
    /* as LibreOffice says what is not so */
    {"fa", LANGUAGE_STYLES,
     WORD_P("<w:pPr><w:bidi w:val=\"0\"/><w:jc/></w:pPr>", "<w:rPr><w:rtl w:val=\"0\"/></w:rPr>",
            "A"),
     WORD_P("<w:pPr><w:bidi/><w:jc/></w:pPr>", "<w:rPr><w:rtl/><w:lang w:bidi=\"fa-IR\"/></w:rPr>",
            "C")},
    {"de", "<s/>", WORD_P("", "<w:rPr><w:rtl w:val=\"false\"/></w:rPr>", "A"), WORD_P("", "", "C")},
    {"en", LANGUAGE_STYLES, WORD_P("<w:pPr/>", "<w:rPr><w:rtl/></w:rPr>", "A"),
     WORD_P("<w:pPr/>", "<w:rPr><w:lang w:val=\"en-US\"/></w:rPr>", "C")},
    {"ar", "<s/>", WORD_P("", "<w:rPr><w:rtl/></w:rPr>", "A"),
     WORD_P("", "<w:rPr><w:rtl/></w:rPr>", "C")},
    {"de", NULL, "<a:p>" R("A") "</a:p>",
     "<a:p><a:r><a:rPr lang=\"de-DE\"/>" T("C") "</a:r></a:p>"},
    {"pt-BR", NULL, "<a:p>" B("A") "</a:p>",
     "<a:p><a:r><a:rPr lang=\"pt-BR\" b=\"1\"/>" T("C") "</a:r></a:p>"},
    {"de", NULL, "<a:p>" LINK("A") "</a:p>", "<a:p>" LINK("C") "</a:p>"},
    {"ar", NULL, "<a:p>" R("A") "</a:p>",
     "<a:p><a:pPr rtl=\"1\"/><a:r><a:rPr lang=\"ar-EG\"/>" T("C") "</a:r></a:p>"},
    {"ar", NULL, "<a:p><a:pPr lvl='1'  rtl='0' algn=\"l\"><a:x/></a:pPr>" R("A") "</a:p>",
     "<a:p><a:pPr lvl='1'  rtl='1' algn=\"r\"><a:x/></a:pPr><a:r><a:rPr lang=\"ar-EG\"/>" T(
         "C") "</a:r></a:p>"},
    {"ar", NULL, "<a:p><a:pPr algn=\"ctr\"/>" R("A") "</a:p>",
     "<a:p><a:pPr rtl=\"1\" algn=\"ctr\"/><a:r><a:rPr lang=\"ar-EG\"/>" T("C") "</a:r></a:p>"},
};

START_TEST(test_languages)
{
    static const char word[] = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    struct mt_text xml = {0}, expected = {0}, translations[2] = {{0}};
    struct mt_document_report report;
    const char *language = languages[_i].language;
    for (int i = 0; i < 2; i++)
        mt_text_appendf(i ? &expected : &xml,
                        "<x:part xmlns:w=\"%s\" xmlns:a=\"%s\">%s<w:p><w:r><w:t>B</w:t></w:r></w:p>"
                        "<a:p><a:r><a:t>B</a:t></a:r></a:p></x:part>",
                        word, DRAWING, i ? languages[_i].expected : languages[_i].paragraph);
    const char *name = language ? "d.xml" : "slide.xml";
    const char *const parts[] = {name, xml.bytes, language ? "styles.xml" : NULL, language, NULL};
    struct mt_document *document =
        read_parts_for(languages[_i].target, language ? document_types : presentation_types, parts);
    ck_assert_uint_eq(mt_document_n_texts(document), 2);
    mt_text_append_string(&translations[0], "C");
    char *part = write_part(document, name, translations, &report);
    ck_assert_uint_eq(report.n_translated, 1);
    ck_assert_str_eq(part, expected.bytes);
    free(part);
    /* nothing is translated: nothing says so */
    mt_text_finish(&translations[0]);
    translations[0] = (struct mt_text){0};
    part = write_part(document, name, translations, &report);
    ck_assert_str_eq(part, xml.bytes);
    free(part);
    part = write_part(document, name, NULL, &report);
    ck_assert_str_eq(part, xml.bytes);
    free(part);
    mt_text_finish(&xml);
    mt_text_finish(&expected);
    mt_document_destroy(document);
}
END_TEST

/* A number, which stays, stands before what is translated. */
START_TEST(test_direction_of_a_later_text)
{
    const char *const parts[] = {"slide.xml",
                                 "<s xmlns:a=\"" DRAWING
                                 "\"><a:p><a:r><a:rPr lang=\"en\"/><a:t>1.</a:t></a:r><a:br/><a:r>"
                                 "<a:t>A</a:t></a:r></a:p><a:p><a:r><a:t>2</a:t></a:r></a:p></s>",
                                 NULL};
    struct mt_document *document = read_parts_for("ar", presentation_types, parts);
    struct mt_text translations[2] = {{0}};
    struct mt_document_report report;
    ck_assert_uint_eq(mt_document_n_texts(document), 2);
    mt_text_append_string(&translations[0], "1.<0:b/>B");
    mt_text_append_string(&translations[1], "2");
    char *part = write_part(document, "slide.xml", translations, &report);
    ck_assert_ptr_nonnull(strstr(part, "<a:p><a:pPr rtl=\"1\"/><a:r>"));
    ck_assert_ptr_nonnull(strstr(part, "</a:p><a:p><a:r><a:t>2</a:t></a:r></a:p></s>"));
    free(part);
    mt_text_finish(&translations[0]);
    mt_text_finish(&translations[1]);
    mt_document_destroy(document);
}
END_TEST

/* What a table, a formula, a filter or a list of values names stays, and is told of. */
START_TEST(test_kept)
{
    static const char strings[] = "<sst xmlns=\"" SHEET "\">" CELL("<t>Big price</t>")
        CELL(CELL_R("First") CELL_B(" name")) CELL("<t>Two\nlines</t>") CELL("<t>OPEN</t>")
            CELL("<t>In \"quotes\"</t>") CELL("<t>Yes</t>") CELL("<t>Maybe so</t>")
                CELL("<t>Red</t>") CELL("<t>My sheet</t>") CELL("<t>Everything</t>") "</sst>";
    static const char sheet[] =
        "<worksheet xmlns=\"" SHEET "\"><c><f>IF('My sheet'!A1=\"open\",1,\"In \"\"quotes\"\"\")"
        "</f><v>1</v></c><c t=\"inlineStr\"><is><t>yes</t></is></c><autoFilter><filter "
        "val=\"Red\"/></autoFilter><dataValidation type=\"list\"><formula1>\"Yes, Maybe so\""
        "</formula1></dataValidation></worksheet>";
    static const char table[] = "<table xmlns=\"" SHEET "\"><tableColumn name=\"First name\"/>"
                                "<tableColumn name=\"Two_x000a_lines\"/></table>";
    static const char workbook[] = "<workbook xmlns=\"" SHEET "\"><sheet name=\"Everything\"/>"
                                   "<definedName>\"Big price\"</definedName></workbook>";
    const char *const parts[] = {"strings.xml", strings, "sheet.xml", sheet, "table.xml",
                                 table,         "w.xml", workbook,    NULL};
    struct mt_document *document = read_parts(workbook_types, parts);
    struct mt_document_report report;
    struct mt_text out = {0};
    struct mt_error err;
    char *texts = join_texts(document);
    ck_assert_str_eq(texts, "||||||||My sheet|Everything|");
    ck_assert_int_eq(mt_document_write(document, NULL, &out, &report, &err), MT_OK);
    ck_assert_uint_eq(report.n_left, 11);
    ck_assert_ptr_nonnull(strstr(report.left[0].reason, "formula"));
    free(texts);
    mt_text_finish(&out);
    mt_document_destroy(document);
}
END_TEST

START_TEST(test_odd_markup_is_left)
{
    static const char *const rows[] = {P("<a:r><a:t><![CDATA[Press]]></a:t></a:r>"),
                                       P(R("A") "<!-- b -->" R("c<!-- d -->")),
                                       P(R("A") "<a:pPr/>" R("b"))};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mt_document *document = read_part("slide.xml", rows[i], false);
        struct mt_document_report report;
        struct mt_text out = {0};
        struct mt_error err;
        ck_assert_int_eq(mt_document_write(document, NULL, &out, &report, &err), MT_OK);
        ck_assert_uint_eq(report.n_left, 1);
        ck_assert_ptr_nonnull(strstr(report.left[0].reason, "markup"));
        mt_text_finish(&out);
        mt_document_destroy(document);
    }
}
END_TEST

/* ---- files that are refused ---- */

static void expect_refused(enum mt_document_format format, char *file, size_t length,
                           const char *message)
{
    const struct mt_document_options options = {.format = format};
    struct mt_document *document = NULL;
    struct mt_error err = {0};
    enum mt_status status = mt_document_create(file, length, &options, &document, &err);
    ck_assert_msg(status == MT_FORMAT || status == MT_LIMIT, "%s: %d", message, (int)status);
    ck_assert_msg(strstr(err.message, message), "\"%s\" is not in \"%s\"", message, err.message);
    free(file);
}

static void expect_part_refused(enum mt_document_format format, const char *types, const char *name,
                                const char *part, size_t n, const char *message)
{
    const struct entry entries[] = {{"[Content_Types].xml", types, 0, ZIP_CM_STORE, false},
                                    {name, part, n, ZIP_CM_DEFLATE, false}};
    size_t length;
    char *file = make_package(entries, 2, &length);
    expect_refused(format, file, length, message);
}

START_TEST(test_refused)
{
    const enum mt_document_format pptx = MT_DOCUMENT_PPTX, xlsx = MT_DOCUMENT_XLSX;
    expect_part_refused(pptx, workbook_types, "strings.xml", "<a/>", 0,
                        "expected a presentation of PowerPoint");
    expect_part_refused(xlsx, presentation_types, "slide.xml", "<a/>", 0,
                        "expected a workbook of Excel");
    expect_part_refused(MT_DOCUMENT_DOCX, workbook_types, "a", "b", 0,
                        "spreadsheetml.sheet.main+xml, expected a document of Word");
    expect_part_refused(pptx, presentation_types, "slide.xml", "<a>", 0, "slide.xml: line 1");
    expect_part_refused(xlsx, workbook_types, "sheet.xml", "<!DOCTYPE a [<!ENTITY b \"c\">]>\n<a/>",
                        0, "sheet.xml: line 1: an entity is declared");
    expect_part_refused(xlsx, workbook_types, "strings.xml", "\xFF\xFE<\0a", 5, "is no UTF-8");
    size_t n = (size_t)100 << 20;
    char *blanks = malloc(n);
    memset(blanks, ' ', n);
    expect_part_refused(xlsx, workbook_types, "sheet.xml", blanks, n, "more than 33554432 bytes");
    free(blanks);
    struct mt_text deep = {0};
    for (size_t i = 0; i < 200000; i++)
        mt_text_append_string(&deep, "<a>");
    expect_part_refused(pptx, presentation_types, "slide.xml", deep.bytes, deep.length,
                        "nested deeper than 256");
    mt_text_finish(&deep);
}
END_TEST

/* Files of an Office before 2007 say whose they are. */
START_TEST(test_older_files)
{
    static const struct {
        const char *name, *message;
    } rows[] = {{"WordDocument", "save it as .docx"},
                {"Workbook", "save it as .xlsx"},
                {"PowerPoint Document", "save it as .pptx"},
                {"Other", ".docx, .xlsx or .pptx"},
                {"EncryptedPackage", "has a password"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *file = calloc(1, 128);
        memcpy(file, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 8);
        for (size_t k = 0; k < strlen(rows[i].name); k++)
            file[32 + 2 * k] = rows[i].name[k];
        expect_refused(i % 2 ? MT_DOCUMENT_XLSX : MT_DOCUMENT_TEXT, file, 128, rows[i].message);
    }
}
END_TEST

/* In time that grows with their number: each run looks otherwise than the one before. */
START_TEST(test_many_runs)
{
    struct mt_text slide = {0}, cells = {0};
    struct mt_document_report report;
    for (size_t i = 0; i < 50000; i++) {
        mt_text_append_string(&slide, R("plain ") B("bold "));
        mt_text_append_string(&cells, CELL_R("plain\n") CELL_B("bold "));
    }
    for (int k = 0; k < 2; k++) {
        struct mt_text content = {0};
        mt_text_appendf(&content, k ? "<si>%s</si>" : "<a:p>%s</a:p>",
                        k ? cells.bytes : slide.bytes);
        const char *part = k ? "strings.xml" : "slide.xml";
        struct mt_document *document = read_part(part, content.bytes, k);
        size_t n = mt_document_n_texts(document);
        ck_assert_uint_gt(n, 100);
        ck_assert_uint_lt(n, 1000);
        struct mt_text *translations = calloc(n, sizeof *translations);
        for (size_t i = 0; i < n; i++)
            mt_text_appendf(&translations[i], "New %s", mt_document_text(document, i).bytes);
        free(write_part(document, part, translations, &report));
        ck_assert_uint_eq(report.n_translated, n);
        for (size_t i = 0; i < n; i++)
            mt_text_finish(&translations[i]);
        free(translations);
        mt_text_finish(&content);
        mt_document_destroy(document);
    }
    mt_text_finish(&slide);
    mt_text_finish(&cells);
}
END_TEST

Suite *suite_office(void)
{
    Suite *suite = suite_create("office");
    TCase *tcase = tcase_create("office");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_texts, 0, sizeof samples / sizeof *samples);
    tcase_add_loop_test(tcase, test_written, 0, sizeof writings / sizeof *writings);
    tcase_add_loop_test(tcase, test_languages, 0, sizeof languages / sizeof *languages);
    tcase_add_test(tcase, test_direction_of_a_later_text);
    tcase_add_test(tcase, test_kept);
    tcase_add_test(tcase, test_odd_markup_is_left);
    tcase_add_test(tcase, test_refused);
    tcase_add_test(tcase, test_older_files);
    tcase_add_test(tcase, test_many_runs);
    suite_add_tcase(suite, tcase);
    return suite;
}
