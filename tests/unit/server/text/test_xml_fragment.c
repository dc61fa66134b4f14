#include "server/text/xml/xml_fragment.h"
#include "server/text/xml/xml_reader.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static const char *const ignored[] = {"x"}, *const splitting[] = {"p"}, *const staying[] = {"q"};
static struct mt_coded_options options;

static void start(void)
{
    options =
        (struct mt_coded_options){.max_tags = 1000, .ignored_tags = ignored, .n_ignored_tags = 1};
}

/* Words, with codes as they are written: {} around tags, [] around what is one word to the model. */
static void show(const struct mt_coded *coded, struct mt_text *out)
{
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < coded->n; i++) {
        const struct mt_coded_segment *segment = &coded->segments[i];
        size_t at = 0;
        mt_text_append(out, "|", i > 0);
        for (size_t k = 0; k < segment->n; k++) {
            const struct mt_code *code = &segment->codes[k];
            bool is_word = code->kind == MT_CODE_WORD;
            mt_text_append(out, segment->words.bytes + at, code->at.begin - at);
            mt_text_append_string(out, is_word ? "[" : "{");
            mt_text_append(out, coded->source + code->bytes.begin,
                           code->bytes.end - code->bytes.begin);
            mt_text_append_string(out, is_word ? "]" : "}");
            at = code->at.end;
        }
        mt_text_append(out, segment->words.bytes + at, segment->words.length - at);
    }
}

/* What is written where nothing is translated; restore's exactness is needed for ordinals alone. */
static void check_identity(const struct mt_coded *coded)
{
    for (size_t i = 0; i < coded->n; i++) {
        const struct mt_coded_segment *segment = &coded->segments[i];
        struct mt_text out = {0};
        size_t code = 0;
        mt_text_append(&out, "", 0);
        mt_coded_write_range(coded, segment, (struct mt_range){0, segment->words.length}, &code,
                             &out);
        ck_assert_uint_eq(out.length, segment->range.end - segment->range.begin);
        ck_assert_mem_eq(out.bytes, coded->source + segment->range.begin, out.length);
        mt_text_finish(&out);
    }
}

static void expect(const char *xml, const char *shown)
{
    struct mt_coded coded = {0};
    struct mt_text out = {0};
    struct mt_error err = {0};
    ck_assert_msg(!mt_read_xml(xml, strlen(xml), &options, &coded, &err), "%s: %s", xml,
                  err.message);
    show(&coded, &out);
    ck_assert_str_eq(out.bytes, shown);
    if (!strstr(xml, "10<sup>th"))
        check_identity(&coded);
    mt_text_finish(&out);
    mt_coded_finish(&coded);
}

static void expect_error(const char *xml, enum mt_status status, const char *message)
{
    struct mt_coded coded = {0};
    struct mt_error err = {0};
    ck_assert_int_eq(mt_read_xml(xml, strlen(xml), &options, &coded, &err), status);
    ck_assert_msg(strstr(err.message, message), "%s: \"%s\" is not in \"%s\"", xml, message,
                  err.message);
    mt_coded_finish(&coded);
}

START_TEST(tags_among_words_are_codes)
{
    expect("Hello.", "Hello.");
    expect("", "");
    expect(" <b>Hello</b>, you! ", "{<b>}Hello{</b>}, you!");
    expect("<b>Hello you</b>", "Hello you");
    expect("a <b>c <i>d</i></b> e", "a {<b>}c {<i>}d{</i>}{</b>} e");
    expect("One<br/>two <img src='a'></img> three", "One{<br/>}two {<img src='a'></img>} three");
    expect("The 10<sup>th</sup> day", "The 10th day");
    expect("The x<sup>th</sup> day", "The x{<sup>}th{</sup>} day");
    expect("One<b> </b>two", "One{<b> </b>}two");
    expect("One <!-- a --> two <?b c?>three <![CDATA[<d>]]> four",
           "One {<!-- a -->} two {<?b c?>}three {<![CDATA[<d>]]>} four");
    expect("<x id=\"1\"/>, <b></b>...", "");
}
END_TEST

START_TEST(an_ignored_element_is_a_word)
{
    expect("I have <x id=\"7\"></x> books.", "I have [<x id=\"7\"></x>] books.");
    expect("I have <x id=\"7\"/>, and more.", "I have [<x id=\"7\"/>], and more.");
    expect("See <x>the <b>red</b> book</x> here.", "See [<x>the <b>red</b> book</x>] here.");
    expect("book<x/>s and <x/>s", "book{<x/>}s and {<x/>}s");
    expect("<x>Not this</x>", "");
    expect("<x id='1'/> is new", "[<x id='1'/>] is new");
}
END_TEST

START_TEST(elements_part_texts_where_nothing_stands_beside_them)
{
    expect("<doc><p>One.</p> <p>Two <b>red</b>.</p></doc>", "One.|Two {<b>}red{</b>}.");
    expect("<a><b>One</b><c>two</c></a>", "One|two");
    expect("<a>Text <b>one</b></a><a><b>two</b><b>three</b></a>", "Text {<b>}one{</b>}|two|three");
    expect("<?xml version='1.0' encoding='utf-8'?>\n<!DOCTYPE a>\n<a><b>One</b></a>\n", "One");
    options.splitting_tags = splitting;
    options.n_splitting_tags = 1;
    expect("Text <p>one <b>two</b></p> three", "Text|one {<b>}two{</b>}|three");
    expect("Text <b>one<p>two</p>three</b> four", "Text {<b>}one|two|three{</b>} four");
    options.non_splitting_tags = staying;
    options.n_non_splitting_tags = 1;
    expect("<doc><q>One</q> <q>two</q><p>three</p></doc>", "{<q>}One{</q>} {<q>}two{</q>}|three");
    options.ignores_outline = true;
    expect("<doc><a>One</a> <a>two</a><p>three</p></doc>", "{<a>}One{</a>} {<a>}two{</a>}|three");
}
END_TEST

START_TEST(characters_are_written_as_they_were)
{
    expect("Fish &amp; &quot;chips&quot; &#x27;now&#x27; &lt;b&gt;", "Fish & \"chips\" 'now' <b>");
    expect("one\r\ntwo", "one\ntwo");
    expect("&#xE4;rger", "\xC3\xA4rger");
    expect("a  b\tc", "a  b\tc");
}
END_TEST

START_TEST(what_is_not_well_formed_is_refused_with_its_place)
{
    static const char *const bad[] = {"<b>a",       "a</b>",
                                      "</r><r>",    "<b>a</i>",
                                      "a & b",      "&nbsp;",
                                      "<a b>c</a>", "<a b='1' b='2'/>",
                                      "a <b",       "<![CDATA[",
                                      "<r>",        "</r>",
                                      "]]>",        "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(bad[i], MT_FORMAT, "Tag handling parsing failed, please check input. Line 1");
    expect_error("\xC3\xA4\n\xC3\xA4<b></c>", MT_FORMAT, "Line 2, column");
    options.max_tags = 2;
    expect_error("<a/><a/><a/>", MT_LIMIT, "more than 2 elements");
}
END_TEST

START_TEST(depth_has_a_limit)
{
    char xml[3 * MT_XML_MAX_DEPTH + 8] = "";
    for (size_t i = 0; i <= MT_XML_MAX_DEPTH; i++)
        strcat(xml, "<a>");
    expect_error(xml, MT_LIMIT, "nested deeper than 256");
}
END_TEST

Suite *suite_xml_fragment(void)
{
    Suite *suite = suite_create("xml_fragment");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, start, NULL);
    tcase_add_test(all, tags_among_words_are_codes);
    tcase_add_test(all, an_ignored_element_is_a_word);
    tcase_add_test(all, elements_part_texts_where_nothing_stands_beside_them);
    tcase_add_test(all, characters_are_written_as_they_were);
    tcase_add_test(all, what_is_not_well_formed_is_refused_with_its_place);
    tcase_add_test(all, depth_has_a_limit);
    suite_add_tcase(suite, all);
    return suite;
}
