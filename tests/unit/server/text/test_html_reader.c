#include "server/text/html/html_reader.h"
#include "server/text/html/html_tree.h"
#include "server/text/tagged_text.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct mt_error err;

static void read_html(const char *html, struct mt_coded *out)
{
    static const char *const ignored[] = {"x-ignored"};
    const struct mt_coded_options options = {
        .max_tags = 100000, .ignored_tags = ignored, .n_ignored_tags = 1};
    *out = (struct mt_coded){0};
    enum mt_status status = mt_read_html(html, strlen(html), &options, out, &err);
    ck_assert_msg(status == MT_OK, "%s: %s", html, err.message);
}

/* ---- what becomes what ---- */

/* Each code in braces: a sign for its kind, its bytes, and behind another '|' what it covers. */
static void show_code(const struct mt_coded *coded, const struct mt_coded_segment *segment,
                      const struct mt_code *code, struct mt_text *out)
{
    static const char signs[] = {
        [MT_CODE_OPEN] = '+',  [MT_CODE_CLOSE] = '-', [MT_CODE_POINT] = '.',  [MT_CODE_GAP] = '_',
        [MT_CODE_BREAK] = '/', [MT_CODE_WORD] = '=',  [MT_CODE_NUMBER] = '#',
    };
    mt_text_appendf(out, "{%c%.*s", signs[code->kind], (int)(code->bytes.end - code->bytes.begin),
                    coded->source + code->bytes.begin);
    if (code->kind == MT_CODE_WORD || code->kind == MT_CODE_NUMBER)
        mt_text_appendf(out, "|%.*s", (int)(code->at.end - code->at.begin),
                        segment->words.bytes + code->at.begin);
    mt_text_append_string(out, "}");
}

static void show_segment(const struct mt_coded *coded, const struct mt_coded_segment *segment,
                         struct mt_text *out)
{
    size_t at = 0;
    mt_text_append_string(out, "[");
    for (size_t i = 0; i < segment->n; i++) {
        const struct mt_code *code = &segment->codes[i];
        mt_text_append(out, segment->words.bytes + at, code->at.begin - at);
        show_code(coded, segment, code, out);
        at = code->at.end;
    }
    mt_text_append(out, segment->words.bytes + at, segment->words.length - at);
    mt_text_append_string(out, "]");
}

static void show(const struct mt_coded *coded, struct mt_text *out)
{
    size_t at = 0;
    out->length = 0;
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < coded->n; i++) {
        mt_text_append(out, coded->source + at, coded->segments[i].range.begin - at);
        show_segment(coded, &coded->segments[i], out);
        at = coded->segments[i].range.end;
    }
    mt_text_append(out, coded->source + at, coded->length - at);
}

static const struct {
    const char *html, *parts;
} cases[] = {
    {"", ""},
    {"Hello.", "[Hello.]"},
    {"<p>Hello.</p>", "<p>[Hello.]</p>"},
    {"<p>\n  Hello   <b>you\n</b> there. </p>", "<p>\n  [Hello {+<b>}you {-</b>}there.] </p>"},
    {"<p>A <b>red</b> house</p><pre> x </pre>", "<p>[A {+<b>}red{-</b>} house]</p><pre> x </pre>"},
    {"a<p>b</p>c", "[a]<p>[b]</p>[c]"},
    {"<td>a</td>", "<td>[a]</td>"},
    {"<a href=1><div>a</div></a>", "<a href=1><div>[a]</div></a>"},
    {"a <a href=1>b<div>c</div></a>", "[a] <a href=1>[b]<div>[c]</div></a>"},
    {"<!DOCTYPE html><html><body>a</body></html>\n",
     "<!DOCTYPE html><html><body>[a]</body></html>\n"},
    /* Tags at the ends of a text are not its own. */
    {"<p><b>Hello</b> <img></p>", "<p><b>[Hello]</b> <img></p>"},
    {"<b><i>x</i></b>", "<b><i>[x]</i></b>"},
    {"<b>x</b> y", "[{+<b>}x{-</b>} y]"},
    {"<b>x</b>, <b>y</b>", "[{+<b>}x{-</b>}, {+<b>}y{-</b>}]"},
    /* Line breaks, with the blanks that they swallow. */
    {"one<br>two", "[one{/<br>}two]"},
    {"one <br/>\n  two", "[one{/ <br/>\n  }two]"},
    {"one<b><br></b>two<br><br>three<br>", "[one{/<b><br></b>}two{/<br>}{/<br>}three]<br>"},
    {"x <b>y </b><br>z", "[x {+<b>}y{-</b>}{/<br>}z]"},
    {"x<span> </span><br>z", "[x{.<span> </span>}{/<br>}z]"},
    /* What is left alone. */
    {"Use <code>f()</code> now", "[Use {=<code>f()</code>|f()} now]"},
    {"Use <code> f <b>(x)</b> </code>now", "[Use {=<code> f <b>(x)</b> </code>|f (x)} now]"},
    {"in <span translate=NO>New York</span>.",
     "[in {=<span translate=NO>New York</span>|New York}.]"},
    {"Hello <ph id=1>&lt;br/&gt;</ph> world", "[Hello {=<ph id=1>&lt;br/&gt;</ph>|<br/>} world]"},
    {"a <bpt id=1>&lt;b&gt;</bpt>b<ept id=1>&lt;/b&gt;</ept> c",
     "[a {.<bpt id=1>&lt;b&gt;</bpt>}b{.<ept id=1>&lt;/b&gt;</ept>} c]"},
    {"see <X-IGNORED>it <b>so</b></X-IGNORED>",
     "[see {=<X-IGNORED>it <b>so</b></X-IGNORED>|it so}]"},
    {"a <svg><text>b</text></svg> c", "[a {.<svg><text>b</text></svg>} c]"},
    {"a <script>b<c</script> c", "[a {.<script>b<c</script>} c]"},
    {"<code>f()</code>, <kbd>x</kbd>", "<code>f()</code>, <kbd>x</kbd>"},
    {"<p class=\"big notranslate\">a<p class=notranslated>b</p>",
     "<p class=\"big notranslate\">a<p class=notranslated>[b]</p>"},
    {"<p translate=no>a<p>b</p>", "<p translate=no>a<p>[b]</p>"},
    {"<p translate=no>a</p><p>b</p>", "<p translate=no>a</p><p>[b]</p>"},
    {"<html translate=no><body><p>a<table>b<tr><td>c",
     "<html translate=no><body><p>a<table>b<tr><td>c"},
    {"<pre>\n\na</pre>", "<pre>\n\na</pre>"},
    {"<p><code>a<p>b</code>c", "<p><code>a<p>[{=b</code>|b}c]"},
    {"<p>A <svg><style>b</style><path/></svg> c", "<p>[A {.<svg><style>b</style><path/></svg>} c]"},
    {"<svg id=x><title>a</title><style>b</style><g><text>c <tspan>d</tspan> e</text></g></svg>F",
     "<svg id=x><title>[a]</title><style>b</style><g><text>[c {+<tspan>}d{-</tspan>} "
     "e]</text></g></svg>[F]"},
    {"<template><li>a</template>", "<template><li>[a]</template>"},
    {"<textarea>a</textarea>", "<textarea>a</textarea>"},
    {"<script>a</script>", "<script>a</script>"},
    {"<p>&nbsp;</p><p> - </p>", "<p>&nbsp;</p><p> - </p>"},
    /* Instructions of PHP, whatever is in them. */
    {"<?php echo \"<p>a</p>\"; ?><p>b</p>", "<?php echo \"<p>a</p>\"; ?><p>[b]</p>"},
    {"<p><?= $x > 5 ?> b</p>", "<p><?= $x > 5 ?> [b]</p>"},
    {"<p title=\"<?= $x > 5 ?>\">b</p>", "<p title=\"<?= $x > 5 ?>\">[b]</p>"},
    {"<p>a <? b > c</p>", "<p>[a {.<? b >} c]</p>"},
    /* Numbers of notes in links. */
    {"See the note<a href=1>[3]</a>.", "[See the note{.<a href=1>[3]</a>}.]"},
    {"He won.<a href=1>2</a> She lost.", "[He won.{.<a href=1>2</a>} She lost.]"},
    {"Go to page <a href=1>2</a> now", "[Go to page {+<a href=1>}2{-</a>} now]"},
    {"It is.<sup>[citation needed]</sup> We see.",
     "[It is.]<sup>[[citation needed]]</sup> [We see.]"},
    {"The cat<sup>[who?]</sup> is", "[The cat{.<sup>[who?]</sup>} is]"},
    /* Points, and what has no words. */
    {"I <img> see", "[I {.<img>} see]"},
    {"a <!-- b --> c<?php d ?>e", "[a {.<!-- b -->} c{.<?php d ?>}e]"},
    {"<p>a</p><?php b ?><![CDATA[c]]><!x>", "<p>[a]</p><?php b ?><![CDATA[c]]><!x>"},
    {"a<b></b><img><i>!</i>b", "[a{.<b></b><img><i>!</i>}b]"},
    {"<x id=\"1\"/>Hello<x id=\"2\"/> there<x-y/>.",
     "<x id=\"1\"/>[Hello{.<x id=\"2\"/>} there{.<x-y/>}.]"},
    {"Hello<span> </span>there", "[Hello{_<span> </span>}there]"},
    {"Hello<b><i>&nbsp;</i></b>there", "[Hello{_<b><i>&nbsp;</i></b>}there]"},
    {"Hello <span> </span> there", "[Hello {.<span> </span>} there]"},
    /* Notes and formulas. */
    {"Film.<sup>: 207 </sup> Day", "[Film.{.<sup>: 207 </sup>} Day]"},
    {"In 1990.<sup>[n 3]</sup> Day", "[In 1990.{.<sup>[n 3]</sup>} Day]"},
    {"Good.<sup>[1]</sup> Day.<sup>*</sup>", "[Good.{.<sup>[1]</sup>} Day.]<sup>*</sup>"},
    {"a<sup><a href=x>1</a></sup> b<a><sup>2</sup></a> c",
     "[a{.<sup><a href=x>1</a></sup>} b{.<a><sup>2</sup></a>} c]"},
    {"News<small>Sent an hour ago</small>", "[News]<small>[Sent an hour ago]</small>"},
    {"Java<b>Script</b>", "[Java{+<b>}Script{-</b>}]"},
    {"the 1<sup>st</sup> day", "[the 1st day]"},
    {"in 1999<sup>a</sup> or 12<sup>3</sup>", "[in 1999{.<sup>a</sup>} or 12]<sup>3</sup>"},
    {"or 10<sup>6</sup> km<sup>2</sup>, 2.5 m<sup>2</sup>.",
     "[or {#10<sup>6</sup>|106} {=km<sup>2</sup>|km2}, {#2.5 m<sup>2</sup>|2.5 m2}.]"},
    {"It is E = mc<sup>2</sup>.", "[It is {=E = mc<sup>2</sup>|E = mc2}.]"},
    {"It is E=mc<sup>2</sup>.", "[It is {=E=mc<sup>2</sup>|E=mc2}.]"},
    {"Do it<sup>2</sup> if x<sup>th</sup> <b>m</b><sup>2</sup>",
     "[Do it{.<sup>2</sup>} if x{.<sup>th</sup>} {+<b>}m{-</b>}]<sup>2</sup>"},
    {"<td>Area: 10 m<sup>2</sup></td>", "<td>[Area: {#10 m<sup>2</sup>|10 m2}]</td>"},
    {"<td>10 m<sup>2</sup></td>", "<td>10 m<sup>2</sup></td>"},
    {"<span>hot</span><span>new</span><span>sale</span>",
     "<span>[hot]</span><span>[new]</span><span>[sale]</span>"},
    {"<span>high</span><span>lighted</span>",
     "[{+<span>}high{-</span>}{+<span>}lighted{-</span>}]"},
    {"<span>Tom Ray</span> <span>5 days ago</span>",
     "<span>[Tom Ray]</span> <span>[5 days ago]</span>"},
    {"<b>Size:</b> Large <b>Color</b>: Red",
     "[{+<b>}Size:{-</b>} Large] [{+<b>}Color{-</b>}: Red]"},
    {"<b>Note:</b> Read it.", "[{+<b>}Note:{-</b>} Read it.]"},
    {"Only $19.<sup>99</sup> or \u20AC5<sup>49</sup>",
     "[Only {=$19.<sup>99</sup>|$19.99} or {=\u20AC5<sup>49</sup>|\u20AC549}]"},
    {"on May 1<sup>st</sup>", "[on May 1st]"},
    {"x<sup>the note</sup> y", "[x{+<sup>}the note{-</sup>} y]"},
    {"Some H<sub>2</sub>O, C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>.",
     "[Some {=H<sub>2</sub>O|H2O}, {=C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>|C6H12O6}.]"},
    {"CO<sub>2</sub> is", "[{=CO<sub>2</sub>|CO2} is]"},
    {"<i>it</i>H<sub>2</sub>O", "[{+<i>}it{-</i>}{=H<sub>2</sub>O|H2O}]"},
    {"<i>H</i><sub>2</sub>O is", "[{+<i>}H{-</i>}{.<sub>2</sub>}O is]"},
    /* A list, and a sentence. */
    {"By <a>a</a><br><a>b</a>, <a>c</a> <a>d</a>, <a>e</a>, <a>f</a>, <a>g</a> and 2.",
     "[By {+<a>}a{-</a>}]<br><a>[b]</a>, <a>[c]</a> <a>[d]</a>, <a>[e]</a>, <a>[f]</a>, "
     "[{+<a>}g{-</a>} and 2.]"},
    {"By <a>a</a>, <a>b</a>, <a>c</a>, <a>d</a>, <a>e</a> and 2.",
     "[By {+<a>}a{-</a>}, {+<a>}b{-</a>}, {+<a>}c{-</a>}, {+<a>}d{-</a>}, {+<a>}e{-</a>} and 2.]"},
    {"By <i><a>a</a>, <b><a>b</a></b>, <a>c</a>, <a>d</a>, <a>e</a>, <a>f</a></i> and 2.",
     "[By] <i><a>[a]</a>, <b><a>[b]</a></b>, <a>[c]</a>, <a>[d]</a>, <a>[e]</a>, <a>[f]</a></i> "
     "[and 2.]"},
    /* An element without words between two texts, and in a word. */
    {"<i><b>on</b> <a>Mar 27</a><span></span>14 min</i>",
     "<i>[{+<b>}on{-</b>} {+<a>}Mar 27{-</a>}]<span></span>[14 min]</i>"},
    {"Menu<span></span>Help me, S<span></span>ave 1<b></b>000",
     "[Menu]<span></span>[Help me, S{.<span></span>}ave 1{.<b></b>}000]"},
    {"<i>146</i><script>x</script><a>Reply</a> 1<wbr>000<!-- -->000",
     "<i>[146]</i><script>x</script>[{+<a>}Reply{-</a>} 1{.<wbr>}000{.<!-- -->}000]"},
    /* Entities, and what only looks like one. */
    {"A &amp; B &lt;", "[A & B <]"},
    {"A &amp;</b>", "[A &]</b>"},
    {"&#65;&#x42;&#0000000000067;", "[ABC]"},
    {"a&#4294967361;b&#x100000041;c", "[a\xEF\xBF\xBD\x62\xEF\xBF\xBD\x63]"},
    {"a&#3066666666666;b&#xFFFFFFFF80000041;c", "[a\xEF\xBF\xBD\x62\xEF\xBF\xBD\x63]"},
    {"&copy 2020, &nbspx, &notit; &foo; & &bar &NotEqualTilde; a",
     "[\xC2\xA9 2020, \xC2\xA0x, \xC2\xACit; &foo; & &bar \xE2\x89\x82\xCC\xB8 a]"},
    {"a < b <3 <- c", "[a < b <3 <- c]"},
    {"<title>a <b> &amp; <c/></title><c/>d", "<title>[a <b> & <c/>]</title><c/>[d]"},
    {"a\r\nb\rc", "[a b c]"},
    /* Broken, and so it stays. */
    {"<b/>a", "<b/>[a]"},
    {"<ul><li>a<li>b</ul>", "<ul><li>[a]<li>[b]</ul>"},
    {"<b>The <i>cat</b> is</i> so.", "[{+<b>}The {.<i>}cat{-</b>} is{.</i>} so.]"},
    {"a</b></p>b</i>c", "[a]</b></p>[b{.</i>}c]"},
    {"<table>a<tr><td>b</table>c", "<table>[a]<tr><td>[b]</table>[c]"},
    {"<p>a<b>b<p>c</b>d", "<p>[a{.<b>}b]<p>[c{.</b>}d]"},
    {"a <a href=\"b", "[a] <a href=\"b"},
    {"a</>b<p", "[a{.</>}b]<p"},
    {"<a href=1>The cat<a href=2>a dog</a>", "<a href=1>[The cat{+<a href=2>}a dog{-</a>}]"},
    {"<h1>The cat</h2> b", "<h1>[The cat]</h2> [b]"},
    {"<x<y>The cat</x<y>", "<x<y>[The cat]</x<y>"},
    {"<!-- a", "<!-- a"},
    {"<html><body>a</body>b</html>c", "<html><body>[a]</body>[b]</html>[c]"},
};

START_TEST(html_falls_into_what_stays_and_what_is_translated)
{
    struct mt_coded coded;
    struct mt_text parts = {0};
    read_html(cases[_i].html, &coded);
    show(&coded, &parts);
    ck_assert_str_eq(parts.bytes, cases[_i].parts);
    mt_text_finish(&parts);
    mt_coded_finish(&coded);
}
END_TEST

/* Neighbours that stand for themselves, and those that do not. */
static const char *const neighbours[] = {
    "<button>[Save]</button><button>[Cancel]</button>",
    "<button>[Save]</button> <button>[Cancel]</button>",
    "<label>[Name] <input></label> <label>[Age]</label>",
    "[Really?] <button>[Yes]</button> [No way back]",
    "[Options] <button>[Save]</button>",
    "[Options] <button>[Save]</button>[\xC4\xAE\xC4\xAE]", /* U+012E is no full stop, 0x2E */
    "<select><option>[One]<option>[Two]</select>",
    "<details><summary>[More]</summary>[Here it is.]</details>",
    "<fieldset><legend>[You]</legend>[Name]</fieldset>",
    "<a>[Home]</a><a>[About]</a><a>[Contact]</a>",
    "<a>[home]</a><a>[about us]</a>",
    "<a href=1>[Terms]</a> <a href=2>[Privacy]</a>",
    "<a>[A]</a><a>[B]</a>",
    "<a>[Home]</a> | <b>[News]</b> | <a>[About]</a>",
    "<a>[One]</a>, <a>[two]</a>",
    "<a>[Sign in]</a><span>|</span><a>[Register]</a>",
    "<span>[Price]</span><span>[$5]</span>",
    "<a>[36]</a> <span>[146]<u></u></span>",
    "<span>[Hello.]</span><span>[Bye.]</span>",
    "<span>[Hello.]</span> <span>[Bye.]</span>",
    "<span>[Hello.]</span><span> [Bye.]</span>",
    "<span>[First name]</span> <span>[Last name]</span>",
    "<div><span><a>[Home]</a><a>[About]</a></span> <span><a>[Help]</a></span></div>",
    "<span><b>[Home]</b></span><!-- x --><span>[About]</span>",
    "<li><x-a>[Price]</x-a><x-b>[Total]</x-b></li>",
    "<b>[Name]</b><span>[Tom]</span>",
    "<th><b>[Name]</b><b>[Age]</b></th>",
    "<a>[Comments]<span>[12]</span></a>",
    "<li>[Home]<span>[Current page]</span></li>",
    "<p>[Total]<span>[$5]</span></p>",
    "<h1><span>[42]</span>[Comments]</h1>",
    "<p><input type=radio> [Yes] <input type=\"CHECKBOX\"> [No]</p>",
    "<p>[Is it true]<span>?</span> [Yes]<b>.</b> [No.]</p>",
    "<span>[Home]</span> / <span>[About]</span>",
};

/* With '^' where a text must not end. */
static const char *const sentences[] = {
    "<span>O</span>^<span>nce</span>",
    "<span>Fire</span>^<span>fox</span>",
    "<span>The</span>^ <span>President</span>^ <span>said</span>",
    "<b>Bold</b>^ <i>Italic</i>",
    "<b>Note:</b>^ <span>it is late</span>",
    "<a>My sister</a>^ loves ^<a>my brother</a>",
    "<a>Tom</a>^<span>'s</span>",
    "<span>12</span>^<span>:</span>^<span>30</span>",
    "<span>\xE6\x88\x91</span>^<span>\xE5\x96\x9C\xE6\xAC\xA2</span>",
    "<span>Hello</span>^, <span>world</span>",
    "<a>one</a>^<br><a>two</a>",
    "<span>km</span>^/<span>h</span>",
    "<span>example</span>^.<span>com</span>",
    "<b>Java</b>^Script",
    "Press ^<button>OK</button>^ to go on.",
    "<p>Press ^<button>OK</button>^.</p>",
    "<b>O</b>^<i>Brien</i>",
    "<b>CO</b>^<i>VID</i>",
    "Mc<b>Donald</b>^",
    "enter ^<input type=text> here",
    "I wait<b>...</b> ^and see",
};

START_TEST(neighbours_are_texts_of_their_own)
{
    struct mt_coded coded;
    struct mt_text html = {0}, parts = {0};
    for (const char *c = neighbours[_i]; *c; c++)
        if (*c != '[' && *c != ']')
            mt_text_append(&html, c, 1);
    read_html(html.bytes, &coded);
    show(&coded, &parts);
    ck_assert_str_eq(parts.bytes, neighbours[_i]);
    mt_text_finish(&parts);
    mt_text_finish(&html);
    mt_coded_finish(&coded);
}
END_TEST

START_TEST(parts_of_a_sentence_stay_together)
{
    struct mt_coded coded;
    struct mt_text html = {0};
    for (const char *c = sentences[_i]; *c; c++)
        if (*c != '^')
            mt_text_append(&html, c, 1);
    read_html(html.bytes, &coded);
    ck_assert_uint_eq(coded.n, 1);
    mt_text_finish(&html);
    mt_coded_finish(&coded);
}
END_TEST

START_TEST(characters_are_written_as_their_source_wrote_them)
{
    struct mt_coded coded;
    struct mt_text out = {0};
    read_html("<p>K&ouml;ln &#38; &quot;x&quot;&nbsp;y</p><p>y</p>", &coded);
    coded.write(&coded.segments[0], "\"\xC3\xB6\xC3\xBC&<\xC2\xA0", 9, &out);
    ck_assert_str_eq(out.bytes, "&quot;&ouml;\xC3\xBC&#38;&lt;&nbsp;");
    out.length = 0;
    coded.write(&coded.segments[1], "\"\xC3\xB6>&\xC2\xA0", 7, &out);
    ck_assert_str_eq(out.bytes, "\"\xC3\xB6&gt;&amp;\xC2\xA0");
    mt_text_finish(&out);
    mt_coded_finish(&coded);
}
END_TEST

/* What a template's language has between <% and %> is no markup. */
START_TEST(instructions_of_templates_are_written_as_they_are)
{
    struct mt_coded coded;
    struct mt_text out = {0};
    read_html("<p><%= a > b && c %> is < 5</p>", &coded);
    ck_assert_uint_eq(coded.n, 1);
    coded.write(&coded.segments[0], "<%= a > b && c %>", 17, &out);
    ck_assert_str_eq(out.bytes, "<%= a > b && c %>");
    mt_text_finish(&out);
    mt_coded_finish(&coded);
}
END_TEST

/* ---- what holds of every html ---- */

static const char *const scraps[] = {
    "the ",
    "cat",
    "Dog ",
    " is",
    "I",
    " ",
    "\n",
    ".",
    "! ",
    "(",
    " - ",
    "42",
    "\xC3\xB6",
    "\xE7\x8C\xAB",
    "&amp;",
    "&nbsp;",
    "&lt;b&gt;",
    "&copy",
    "&#65;",
    "&",
    "<",
    "< ",
    "\r\n",
    "a<b",
    "{x}",
    "<!-- c -->",
    "<!-- ",
    "-->",
    "<?x y?>",
    "<!z>",
    "<![CDATA[c]]>",
    "</>",
    "<x/>",
    "<y a='>'/>",
    "<br>",
    "<br/>",
    "</br>",
    "<img src=a>",
    "<input>",
    "<hr>",
    "<wbr>",
    "<b/>",
    "<p",
    "<a href=\"",
    "<p translate=no>",
    "<span translate=\"no\">",
    "<html>",
    "</html>",
    "<body>",
    "</body>",
    "<head>",
};
static const char *const names[] = {
    "a",   "b",      "i",      "em",     "span",   "x",        "sup",  "sub",      "code",
    "svg", "p",      "div",    "ul",     "li",     "table",    "tr",   "td",       "pre",
    "h1",  "button", "select", "option", "script", "textarea", "form", "template", "noscript",
    "a",   "b",      "span",   "p",      "font",   "nobr",     "ruby", "math",     "frameset",
};

static uint32_t next_number(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % limit;
}

static void generate(uint64_t seed, struct mt_text *out)
{
    uint64_t state = seed;
    size_t n = 1 + next_number(&state, 24);
    out->length = 0;
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < n; i++) {
        uint32_t kind = next_number(&state, 8);
        const char *name = names[next_number(&state, sizeof names / sizeof *names)];
        if (kind < 2)
            mt_text_appendf(out, "<%s%s>", name, next_number(&state, 4) ? "" : " c='d e' f");
        else if (kind < 4)
            mt_text_appendf(out, "</%s>", name);
        else /* words are first in the list */
            mt_text_append_string(
                out, scraps[next_number(&state, kind < 7 ? 15 : sizeof scraps / sizeof *scraps)]);
    }
}

/* Codes are in order and disjoint, pairs nest around words, and all bytes are the segment's. */
static bool are_codes_sound(const struct mt_coded_segment *segment)
{
    size_t open[512], depth = 0;
    for (size_t i = 0; i < segment->n; i++) {
        const struct mt_code *code = &segment->codes[i], *last = i ? code - 1 : NULL;
        bool is_empty = code->at.begin == code->at.end;
        bool covers =
            code->kind == MT_CODE_GAP || code->kind == MT_CODE_BREAK || code->kind == MT_CODE_WORD;
        if (is_empty == covers || code->at.end > segment->words.length ||
            code->bytes.begin >= code->bytes.end || code->bytes.begin < segment->range.begin ||
            code->bytes.end > segment->range.end ||
            (last && (last->at.end > code->at.begin || last->bytes.end > code->bytes.begin)))
            return false;
        if (code->kind == MT_CODE_OPEN && depth < sizeof open / sizeof *open)
            open[depth++] = i;
        else if (code->kind == MT_CODE_CLOSE &&
                 (depth == 0 || open[--depth] != code->mate ||
                  segment->codes[code->mate].mate != i ||
                  segment->codes[code->mate].at.begin == code->at.begin))
            return false;
    }
    return depth == 0;
}

/* As an engine would have it that returns its input. */
static void write_identity(const struct mt_coded *coded, struct mt_text *out)
{
    size_t at = 0;
    out->length = 0;
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < coded->n; i++) {
        const struct mt_coded_segment *segment = &coded->segments[i];
        const struct mt_range all = {0, segment->words.length};
        ck_assert_uint_le(at, segment->range.begin);
        mt_text_append(out, coded->source + at, segment->range.begin - at);
        size_t from = out->length, code = 0;
        mt_coded_write_range(coded, segment, all, &code, out);
        ck_assert_uint_eq(code, segment->n);
        ck_assert_int_eq(mt_coded_restore(coded, segment, from, out, &err), MT_OK);
        at = segment->range.end;
    }
    mt_text_append(out, coded->source + at, coded->length - at);
}

/* As an engine would have it that puts each word in brackets. */
static void mark_words(const struct mt_coded *coded, const struct mt_coded_segment *segment,
                       struct mt_range words, struct mt_text *out)
{
    const char *bytes = segment->words.bytes;
    bool is_in_word = false;
    for (size_t at = words.begin, n; at < words.end; at += n) {
        n = mt_utf8_length((unsigned char)bytes[at]);
        bool is_word_char = mt_is_word_char(mt_utf8_decode(bytes + at));
        if (is_word_char != is_in_word)
            mt_text_append_string(out, is_word_char ? "\xC2\xAB" : "\xC2\xBB");
        is_in_word = is_word_char;
        coded->write(segment, bytes + at, n, out);
    }
    if (is_in_word)
        mt_text_append_string(out, "\xC2\xBB");
}

static void write_marked(const struct mt_coded *coded, struct mt_text *out)
{
    size_t at = 0;
    out->length = 0;
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < coded->n; i++) {
        const struct mt_coded_segment *segment = &coded->segments[i];
        size_t word = 0;
        mt_text_append(out, coded->source + at, segment->range.begin - at);
        for (size_t k = 0; k < segment->n; k++) {
            const struct mt_code *code = &segment->codes[k];
            mark_words(coded, segment, (struct mt_range){word, code->at.begin}, out);
            mt_coded_write_code(coded, segment, k, out);
            word = code->at.end;
        }
        mark_words(coded, segment, (struct mt_range){word, segment->words.length}, out);
        at = segment->range.end;
    }
    mt_text_append(out, coded->source + at, coded->length - at);
}

/* What a reader sees of html, without blanks: its text, and behind each element of the source that
 * holds letters how much of it is in there. */
static bool see(const GumboNode *node, struct mt_text *out)
{
    const GumboVector *children = mt_html_children(node);
    bool has_words = false;
    size_t begin = out->length;
    for (const char *c = children || node->type == GUMBO_NODE_COMMENT ? "" : node->v.text.text; *c;
         c += mt_utf8_length((unsigned char)*c)) {
        uint32_t code_point = mt_utf8_decode(c);
        if (code_point == 0xAB || code_point == 0xBB || mt_is_space(code_point))
            continue;
        has_words = has_words || mt_is_word_char(code_point);
        mt_text_append(out, c, mt_utf8_length((unsigned char)*c));
    }
    for (unsigned i = 0; children && i < children->length; i++)
        has_words = see(children->data[i], out) || has_words;
    if (children && has_words && node->type != GUMBO_NODE_DOCUMENT &&
        node->v.element.original_tag.length > 0)
        mt_text_appendf(out, "<%zu>", out->length - begin);
    return has_words;
}

static void see_html(const struct mt_text *html, struct mt_text *out)
{
    struct mt_html_tree tree = {0};
    ck_assert_int_eq(mt_html_parse(html->bytes, html->length, &tree, &err), MT_OK);
    out->length = 0;
    mt_text_append(out, "", 0);
    see(tree.output->document, out);
    mt_html_finish(&tree);
}

/* What malloc gives next may hold this number. */
static void soil_memory(int number)
{
    enum { N = 256 };
    int *blocks[N];
    for (size_t i = 0; i < N; i++) {
        blocks[i] = malloc((i + 4) * sizeof number);
        ck_assert_ptr_nonnull(blocks[i]);
        for (size_t k = 0; k < i + 4; k++)
            blocks[i][k] = number;
    }
    for (size_t i = 0; i < N; i++)
        free(blocks[i]);
}

/* Gumbo reads memory that it has not written: whether a fragment is in quirks mode (1), where a
 * table does not end a paragraph. */
START_TEST(a_tree_does_not_depend_on_what_memory_held)
{
    struct mt_text html = {0}, first = {0}, second = {0};
    mt_text_append_string(&html, "<p>a<table><tr><td>b</table>");
    soil_memory(0);
    see_html(&html, &first);
    soil_memory(1);
    see_html(&html, &second);
    ck_assert_str_eq(first.bytes, second.bytes);
    mt_text_finish(&second);
    mt_text_finish(&first);
    mt_text_finish(&html);
}
END_TEST

enum { N_FRAGMENTS = 10000, N_PARTS = 10 };

START_TEST(what_is_not_translated_is_equal_to_the_byte)
{
    struct mt_text html = {0}, out = {0};
    for (size_t seed = (size_t)_i; seed < N_FRAGMENTS; seed += N_PARTS) {
        struct mt_coded coded;
        generate(seed, &html);
        read_html(html.bytes, &coded);
        for (size_t i = 0; i < coded.n; i++)
            ck_assert_msg(are_codes_sound(&coded.segments[i]), "%s", html.bytes);
        write_identity(&coded, &out);
        ck_assert_str_eq(out.bytes, html.bytes);
        mt_coded_finish(&coded);
    }
    mt_text_finish(&out);
    mt_text_finish(&html);
}
END_TEST

START_TEST(every_letter_is_there_once_and_in_its_element)
{
    struct mt_text html = {0}, out = {0}, before = {0}, after = {0};
    for (size_t seed = (size_t)_i; seed < N_FRAGMENTS; seed += N_PARTS) {
        struct mt_coded coded;
        generate(seed, &html);
        read_html(html.bytes, &coded);
        write_marked(&coded, &out);
        see_html(&html, &before);
        see_html(&out, &after);
        ck_assert_msg(strcmp(before.bytes, after.bytes) == 0, "%zu: %s\n%s\n%s\n%s", seed,
                      html.bytes, out.bytes, before.bytes, after.bytes);
        mt_coded_finish(&coded);
    }
    mt_text_finish(&after);
    mt_text_finish(&before);
    mt_text_finish(&out);
    mt_text_finish(&html);
}
END_TEST

Suite *suite_html_reader(void)
{
    Suite *suite = suite_create("html_reader");
    TCase *tcase = tcase_create("html_reader");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, html_falls_into_what_stays_and_what_is_translated, 0,
                        sizeof cases / sizeof cases[0]);
    tcase_add_loop_test(tcase, neighbours_are_texts_of_their_own, 0,
                        sizeof neighbours / sizeof neighbours[0]);
    tcase_add_loop_test(tcase, parts_of_a_sentence_stay_together, 0,
                        sizeof sentences / sizeof sentences[0]);
    tcase_add_test(tcase, instructions_of_templates_are_written_as_they_are);
    tcase_add_test(tcase, characters_are_written_as_their_source_wrote_them);
    tcase_add_test(tcase, a_tree_does_not_depend_on_what_memory_held);
    tcase_add_loop_test(tcase, what_is_not_translated_is_equal_to_the_byte, 0, N_PARTS);
    tcase_add_loop_test(tcase, every_letter_is_there_once_and_in_its_element, 0, N_PARTS);
    suite_add_tcase(suite, tcase);
    return suite;
}
