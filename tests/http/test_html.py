"""Format html, by Python's own parser: the same tree, the text of the plain translation, broken markup
as it was; and placeholders, which survive in both formats."""

import random
import re
import unittest

from html_tree import parse, texts
from serve import Daemon

# Same tree, same text. What a reader sees is the plain translation of what he saw.
WELL_FORMED = r"""
<p>Where is the train station?</p>
<p>Where is the <b>train station</b>?</p>
<p><b>Where is the train station?</b></p>
<p>My <i>brother</i> has never seen the <b>old house</b>.</p>
<p>The <b><i>old</i> house</b> stands on a hill.</p>
<p>The <em>very <strong>big <u>dog</u></strong></em> sleeps in the garden.</p>
<div><p>We are here.</p><p>They are there.</p></div>
<div>We are here.<p>They are there.</p>The cat is sleeping.</div>
<div><div><div><span>I live in a small house.</span></div></div></div>
<p class="a b" id='x' data-n=5 hidden>I have a car.</p>
<p>I read this <a href="https://example.com/a?b=1&amp;c=2" title="A page">book</a> yesterday.</p>
<p><a href="/one">My sister</a> loves <a href="/two">my brother</a>.</p>
<p>He gave me <a href="#"><b>a book</b></a> and <a href="##"><i>a flower</i></a>.</p>
<a href="/x"><div>The weather is nice.</div></a>
<ul><li>I like apples.</li><li>You like <b>milk</b>.</li></ul>
<ol start="3"><li><p>I like apples.</p></li><li>You like milk.<ul><li>We like bread.</li></ul></li></ol>
<dl><dt>The house</dt><dd>We live in the house.</dd></dl>
<ul>\n  <li>I like apples.</li>\n  <li>You like milk.</li>\n</ul>
<table><tr><td>The red car</td><td>The <b>blue</b> car</td></tr></table>
<table class="t"><thead><tr><th scope="col">My name</th></tr></thead><tbody><tr><td colspan="2">I am here.</td></tr></tbody></table>
<table><caption>Our house</caption><tr><td>He sleeps.</td></tr></table>
<td>He sleeps.</td><td>She works.</td>
<tr><td>He sleeps.</td></tr>
<li>I like apples.</li>
<h1>The old house</h1><h2>My <small>little</small> brother</h2>
<p>The cat is sleeping.<br>The dog is eating.</p>
<p>The cat is sleeping.<br><br><b>The dog</b> is eating.</p>
<p><b>The cat is sleeping.<br/>The dog is eating.</b></p>
<p>The cat<wbr> is sleeping.</p>
<p><img src="a.png" alt="A cat"> The cat is sleeping.</p>
<p>The cat is sleeping. <img src="a.png"></p>
<p>The cat is sleeping.</p><hr><p>The dog is eating.</p>
<p>I have <!-- how many? --> two brothers.</p>
<!-- first --><p>I have two brothers.</p><!-- last -->
<p>Tom &amp; Mary are here.</p>
<p>He said &quot;yes&quot; to me.</p>
<p>It&#39;s raining.</p>
<p>I do not know &mdash; ask my father.</p>
<p>  I am   at\n\n home.  </p>
<p>I am at <b> home </b> today.</p>
<b>I am at home.</b>
I am at home.
I am at home. <i>You are at school.</i> We are in the garden.
<p dir="rtl" lang="en">The <b>cat</b> is sleeping.</p>
<div dir="rtl"><p>He is my <span dir="ltr">friend</span>.</p></div>
<p>The <bdo dir="rtl">dog</bdo> is <bdi>eating</bdi>.</p>
<p dir="rtl" lang="he">שלום <b>עולם</b>.</p>
<p dir="rtl" lang="ar">مرحبا <a href="/x">بالعالم</a> 123.</p>
<p>My <bdi dir="rtl">أحمد</bdi> is <i>here</i>.</p>
<ul dir="rtl"><li>The <b>cat</b></li><li><span dir="ltr">The dog</span> is old.</li></ul>
<h2>THE OLD <em>HOUSE</em></h2><h3>a red <em>car</em></h3>
<blockquote cite="/x"><p>I love you.</p></blockquote>
<section><header>My house</header><footer>Your house</footer></section>
<form action="/f"><label for="a">My name</label><input id="a" value="Tom"></form>
<select><option value="1">The house</option><option selected>The car</option></select>
<details><summary>My family</summary>I have two brothers.</details>
<p><span></span>The cat is sleeping.</p>
<p>The cat <a name="here"></a>is sleeping.</p>
<p><x-tag a="1">The dog</x-tag> is eating.</p>
<P>The <B>dog</B> is eating.</P>
<p></p><div></div>
<p>&nbsp;</p>
<p>- - -</p>
<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>My house</title></head><body class="a"><p>I live here.</p></body></html>
""".strip().splitlines()

# The same, but parts are not for the model.
LEFT_ALONE = r"""
<pre>  The cat\n    is <b>sleeping</b>.  </pre>
<p>We are here.</p><pre>\n\nint main(void) { return 0; }\n</pre><p>They are there.</p>
<p>The function <code>printf("%d", x &lt; 5)</code> is good.</p>
<p>I like <code>a</code> and <code>b</code>.</p>
<p>Press <kbd>Ctrl</kbd>+<kbd>C</kbd> now.</p>
<p translate="no">The cat is sleeping.</p><p>The dog is eating.</p>
<p>I live in <span translate="no">New House</span> with my wife.</p>
<div translate="no"><p>The cat <b>is</b> sleeping.</p></div>
<script>if (a < b && c > d) document.write("<p>The cat</p>");</script><p>The dog is eating.</p>
<style>p > b { color: red }</style><p>The dog is eating.</p>
<p>The dog <script>var the = "cat";</script>is eating.</p>
<textarea>The cat is &lt;sleeping&gt;.</textarea>
<p>Water is H<sub>2</sub>O.<sup>[1]</sup> It is good.<sup><a href="#2">2</a></sup></p>
<p>Here is <svg width="1"><path d="M0 0"/></svg> a picture.</p>
""".strip().splitlines()

# Broken, and so it stays.
BROKEN = [
    "<p>The cat is sleeping.",
    "<p>The cat is sleeping.<p>The dog is eating.",
    "<ul><li>The cat<li>The dog</ul>",
    "<b>The <i>cat</b> is</i> sleeping.",
    "The cat is sleeping.</b></p>",
    "<table><tr><td>The cat<td>The dog</table>",
    "<table>The cat<tr><td>The dog</table>",
    "<p>The <b>cat",
    "<b/>The cat is sleeping.",
    "<div><span>The cat</div></span>",
    "The cat is < the dog.",
    "The cat <",
    "The cat <a href=\"x",
    "<a href=x\"y>The cat</a> is here.",
    "<p a=1 a=2>The cat is here.</p>",
    "<h1>The cat</h2>",
    "<a href=1>The cat<a href=2>The dog</a>",
    "<!-- The cat",
    "<!foo><p>The cat is here.</p>",
    "<?php echo 1 ?><p>The cat is here.</p>",
    "<p>The cat is here.</p><![CDATA[the cat]]>",
    "&&amp;&lt;b&gt;The cat is here.",
    "<x<y>The cat</x<y>",
]

# Texts that stand beside each other: no element that held letters is empty afterwards.
NEIGHBOURS = [
    "<button>Save</button><button>Cancel</button>",
    "<button>OK</button> <button>Cancel</button>",
    "<a>Home</a><a>About</a><a>Contact</a>",
    "<a href=1>Terms</a> <a href=2>Privacy</a>",
    "<a>Home</a> | <b>News</b> | <a>About us</a>",
    "<a>Sign in</a><span>|</span><a>Register</a>",
    "<span>Price</span><span>$5</span>",
    "<span>Hello.</span><span>Bye.</span>",
    "<span>Hello.</span> <span>Bye.</span>",
    "<nav><span><a>Home</a><a>About</a></span> <span><a>Help</a></span></nav>",
    "<label>Name <input></label> <label>Age <input></label>",
    "<select><option>One<option>Two</select>",
    "<p>Good morning.<sup>[1]</sup> How are you?<sup>[2]</sup></p>",
    "<p>The word<sup><a href='#ref'>1</a></sup> is good.</p>",
    "<p>Here is the list of the days: <a>Monday</a><a>Tuesday</a></p>",
]

TAG = re.compile(r"<!--.*?(?:-->|$)|<[!?/a-zA-Z][^>]*(?:>|$)", re.S)


def tags(html):
    """All of them, as they are written; inline ones may change places."""
    return sorted(TAG.findall(html))


class WithDaemon(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--max-html-tags", "3000", "--max-body-bytes", "4000000").start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def html(self, q, **fields):
        reply = self.daemon.translate(q, format="html", **fields)
        self.assertEqual(reply.status, 200, (q, reply))
        return reply.json

    def plain(self, q):
        return self.daemon.translate(q).json["translatedText"]


class Html(WithDaemon):
    def test_there_are_enough(self):
        self.assertGreaterEqual(len(WELL_FORMED) + len(LEFT_ALONE) + len(BROKEN), 60)
        self.assertGreaterEqual(len(WELL_FORMED), 60)

    def test_same_tree_and_well_formed(self):
        snippets = [s.replace("\\n", "\n") for s in WELL_FORMED + LEFT_ALONE]
        replies = self.html(snippets)["translatedText"]
        for snippet, reply in zip(snippets, replies):
            with self.subTest(snippet):
                self.assertEqual(parse(reply).shape(), parse(snippet).shape(), reply)

    def test_text_is_that_of_the_plain_translation(self):
        for snippet in (s.replace("\\n", "\n") for s in WELL_FORMED):
            with self.subTest(snippet):
                seen = texts(parse(snippet))
                expected = [" ".join(t.split(" ")) for t in (self.plain(seen) if seen else [])]
                reply = self.html(snippet)["translatedText"]
                self.assertEqual(texts(parse(reply)), expected, reply)

    def test_what_is_left_alone_is_not_touched(self):
        for snippet in (s.replace("\\n", "\n") for s in LEFT_ALONE):
            with self.subTest(snippet):
                reply = self.html(snippet)["translatedText"]
                self.assertEqual(self.kept(parse(reply)), self.kept(parse(snippet)), reply)

    def kept(self, node):
        found = []
        for child in node.children:
            if not isinstance(child, str) and child.is_left_alone:
                found.append((child.tag, self.whole(child)))
            elif not isinstance(child, str):
                found += self.kept(child)
        return found

    def whole(self, node):
        return [c if isinstance(c, str) else (c.tag, c.attributes, self.whole(c)) for c in node.children]

    def test_broken_markup_stays_as_it_is(self):
        for snippet in BROKEN:
            with self.subTest(snippet):
                self.assertEqual(tags(self.html(snippet)["translatedText"]), tags(snippet))

    def test_an_element_with_letters_has_letters_afterwards(self):
        def filled(node):
            return [(tag, any(c.isalnum() for c in text)) for tag, text in re.findall(r"<(\w+)[^>]*>([^<]*)", node)]

        for snippet, reply in zip(NEIGHBOURS, self.html(NEIGHBOURS)["translatedText"]):
            with self.subTest(snippet):
                self.assertEqual(filled(reply), filled(snippet), reply)
                self.assertEqual(TAG.findall(reply), TAG.findall(snippet), reply)

    def test_blanks_in_elements_and_empty_tags_stay_in_their_places(self):
        for snippet in ("<p>We<span> </span>sleep</p>", "We<span>&nbsp;</span>sleep", '<x id="1"/>We<x id="2"/> sleep',
                        "We sleep.<br>\n  We eat.", "<p>We sleep.</p>\r\n<?php f(); ?>\r\n"):
            pattern = re.sub(r"(We|sleep|eat)\b", lambda _: "\\w[\\w ]*", re.escape(snippet))
            with self.subTest(snippet):
                self.assertRegex(self.html(snippet)["translatedText"], f"^{pattern}$")

    def test_tags_are_on_the_words_that_the_alignment_gives(self):
        reply = self.html("<p>Where is the <b>train station</b>?</p>")["translatedText"]
        self.assertEqual(reply, "<p>Wo ist der <b>Bahnhof</b>?</p>")
        reply = self.html("<b>Where</b> is the <a href=x>train <i>station</i></a>?")["translatedText"]
        self.assertTrue(reply.startswith("<b>Wo</b> ist der <a href=x>"), reply)

    def test_entities_stay_entities(self):
        reply = self.html("<p>Tom &amp; Mary have a house &lt;here&gt;.</p>")["translatedText"]
        self.assertNotRegex(reply, "&(?!(amp|lt|gt);)")
        umlauts = self.plain("I would like five green keys.")
        char = next(c for c in umlauts if c in "äöüß")
        name = {"ä": "&auml;", "ö": "&ouml;", "ü": "&uuml;", "ß": "&szlig;"}[char]
        reply = self.html(f"<p>I would like five green keys.</p><p>{name} is here.</p>")["translatedText"]
        self.assertIn(char, reply.split("</p>")[0])

    def test_nothing_to_translate_comes_back_as_it_was(self):
        for snippet in ("<p></p>", "<p>&nbsp;</p>", "<img src=x>", "<!-- c -->", "<br>", "<p> - </p>\n",
                        "<script>a</script>", "&copy;", "<pre>a\r\n b</pre>"):
            self.assertEqual(self.html(snippet)["translatedText"], snippet)
        self.assertEqual(self.html("  \n ")["translatedText"], "")

    def test_a_fragment_stays_a_fragment(self):
        for snippet in ("I am here.", "<td>I am here.</td>", "<p>I am here.</p>"):
            reply = self.html(snippet)["translatedText"]
            for tag in ("<html", "<body", "<head", "<table", "<tbody"):
                self.assertNotIn(tag, reply)

    def test_points_at_the_beginning_of_a_line_keep_their_blank(self):
        for point in ("\U0001F44D", '<img src="a">'):
            plain = [self.daemon.translate(text).json["translatedText"] for text in ("Thank you.", "We are here!")]
            for gap in (" ", ""):
                reply = self.daemon.translate(f"Thank you.<br>{point}{gap}We are here!", format="html").json
                self.assertEqual(reply["translatedText"], f"{plain[0]}<br>{point}{gap}{plain[1]}")

    def test_alternatives_have_the_tags_too(self):
        snippet = "<p>Where is the <b>train <i>station</i></b>, my <a href='x'>friend</a>?</p>"
        reply = self.html(snippet, alternatives=4)
        self.assertGreaterEqual(len(reply["alternatives"]), 1)
        for text in (reply["translatedText"], *reply["alternatives"]):
            self.assertEqual(parse(text).shape(), parse(snippet).shape(), text)

    def test_alternatives_of_every_snippet_have_its_tags(self):
        snippets = [s.replace("\\n", "\n") for s in WELL_FORMED + LEFT_ALONE] + BROKEN
        reply = self.html(snippets, alternatives=2)
        self.assertGreater(sum(map(len, reply["alternatives"])), len(snippets) // 2)
        for snippet, others in zip(snippets, reply["alternatives"]):
            for other in others:
                with self.subTest(snippet):
                    self.assertEqual(tags(other), tags(snippet), other)

    def test_with_source_auto(self):
        reply = self.html(["<p>Where is the <b>train station</b>?</p>", "<p>Wo ist der <b>Bahnhof</b>?</p>"],
                          source="auto")
        self.assertEqual([d["language"] for d in reply["detectedLanguage"]], ["en", "de"])
        self.assertEqual(reply["translatedText"][1], "<p>Wo ist der <b>Bahnhof</b>?</p>")

    def test_refused(self):
        reply = self.daemon.translate("<p>" * 3001, format="html")
        self.assertEqual((reply.status, reply.error),
                         (413, "the html has 3001 tags, at most 3000 are allowed"))
        reply = self.daemon.translate("<div>" * 1000 + "Hello.", format="html")
        self.assertEqual((reply.status, reply.error), (413, "html is nested more than 512 deep"))
        for field in ({"alignment": True}, {"target_prefix": "Wo"}):
            self.assertEqual(self.daemon.translate("<b>Hi</b>", format="html", **field).status, 400)

    def test_hostile_markup_costs_little(self):
        for snippet in ("".join(f"<b id={i}>" for i in range(1400)) + "<p>x" * 1400,
                        "<a>x</a>" * 1400, "<b><i>x</b>" * 900, "<table>" * 1000 + "x"):
            reply = self.daemon.translate(snippet, format="html")
            self.assertIn(reply.status, (200, 413), reply)
            if reply.status == 200:
                self.assertEqual(tags(reply.json["translatedText"]), tags(snippet))

    def test_random_markup_comes_back(self):
        words = "the cat is sleeping in our old house and my brother sees a dog".split()
        names = "b i p div a ul li table tr td span br code pre em h1".split()
        chance = random.Random(5)
        snippets = []
        for _ in range(60):
            pieces = []
            for _ in range(chance.randrange(2, 14)):
                tag = chance.choice(names)
                pieces += chance.choice([[f"<{tag}>"], [f"</{tag}>"], [chance.choice(words) + " "] * 1,
                                         [chance.choice(words), " "], ["&lt;"], [f"<{tag} x='1'>"]])
            snippets.append("".join(pieces))
        for snippet, reply in zip(snippets, self.html(snippets)["translatedText"]):
            with self.subTest(snippet):
                self.assertEqual(tags(reply), tags(snippet))


PLACEHOLDERS = ["%s", "%d", "%(name)s", "%1$s", "%.2f", "{name}", "{0}", "{user.name}", "{{x}}", "{{ count }}",
                "${x}", "${total}", "%{id}", "https://example.com/a?b=1&c=2", "http://example.org/~tom/",
                "www.example.net", "mailto:a@example.com", "tom@example.com", "first.last+tag@mail.example.org",
                "192.168.178.1", "127.0.0.1:8080", "10.1.0.0/16", "2001:db8::1", "00:1A:2B:3C:4D:5E", "550e8400-e29b-41d4-a716-446655440000",
                "sha256:9f86d081884c7d65", "DE89 3704 0044 0532 0130 00", "2024-11-08T12:30:00Z", "C:\\Users\\Public",
                "\U0001F600", "\u2764\uFE0F", "\U0001F1E9\U0001F1EA", "\U0001F468\u200D\U0001F469\u200D\U0001F467",
                "\U0001F44D\U0001F3FD"]
FRAMES = ["Hello {}, where is the train station?", "I have seen {} in the garden.", "Please send {} to my brother.",
          "{} is my friend.", "We are waiting for {}.", "My sister and {} live in the old house near {}.",
          "Tell {} that {} is here.", "{} gave {} to {} yesterday.", "I like {}, {} and {}.",
          "Where is {}? I can not see {}.", "{}, {}, {} and {} are in the city.",
          "The file {} is not in {}, but {} knows {}."]


class Placeholders(WithDaemon):
    def sentences(self):
        chance = random.Random(7)
        for i in range(200):
            frame = FRAMES[i % len(FRAMES)]
            yield frame, chance.sample(PLACEHOLDERS, frame.count("{}"))

    def fill(self, frame, values):
        for value in values:
            frame = frame.replace("{}", value, 1)
        return frame

    def check(self, sentence, values, text, lost):
        for value in values:
            expected = sum(v.count(value) for v in values)
            if value not in lost:
                self.assertEqual(text.count(value), expected, (sentence, text))

    def test_all_survive_once_or_are_reported(self):
        cases = list(self.sentences())
        self.assertEqual({len(values) for _, values in cases}, {1, 2, 3, 4})
        n_lost = 0
        for frame, values in cases:
            sentence = self.fill(frame, values)
            reply = self.daemon.translate(sentence).json
            lost = reply.get("placeholders_lost", [])
            n_lost += len(lost)
            self.check(sentence, values, reply["translatedText"], lost)
        self.assertLessEqual(n_lost, 4)

    def test_in_alternatives_and_html_too(self):
        for frame, values in list(self.sentences())[::8]:
            sentence = self.fill(frame, values)
            reply = self.daemon.translate(sentence, alternatives=2).json
            for text in reply["alternatives"]:
                self.check(sentence, values, text, reply.get("placeholders_lost", []))
            html = self.fill("<p>" + frame + "</p>", [v.replace("&", "&amp;") for v in values])
            reply = self.daemon.translate(html, format="html").json
            self.check(html, [v.replace("&", "&amp;") for v in values], reply["translatedText"],
                       reply.get("placeholders_lost", []))

    def test_any_number_of_them_is_kept(self):
        names = [f"{{p{i}}}" for i in range(300)]
        q = "<p>" + "".join(f"I have seen {name} here. " for name in names) + "</p>"
        for fields in ({}, {"format": "html"}):
            reply = self.daemon.translate(q, **fields).json
            self.assertNotIn("placeholders_lost", reply)
            self.assertEqual([reply["translatedText"].count(name) for name in names], [1] * 300)

    def test_nothing_but_placeholders_is_echoed(self):
        for text in ("\U0001F600", "{name}", "%s %s", "https://example.com/", " {{x}}\n"):
            self.assertEqual(self.daemon.translate(text).json, {"translatedText": text})

    def test_no_field_where_nothing_is_lost(self):
        self.assertEqual(list(self.daemon.translate("Hello {name}, where are you?").json), ["translatedText"])

    def test_lines_and_blanks_stay(self):
        text = self.daemon.translate("Hello {name}.\n\n  Thank you, %s!\n").json["translatedText"]
        self.assertRegex(text, r"(?s)^.*\{name\}.*\n\n  .*%s.*\n$")

    def test_texts_without_them_are_as_ever(self):
        for text in ("It is 50% done.", "I have 100 % of it."):
            # A translation whose alignment is asked for keeps its numbers as the model wrote them.
            with_alignment = self.daemon.translate(text, alignment=True).json["translatedText"]
            without = self.daemon.translate(text, repair_numbers=False).json["translatedText"]
            self.assertEqual(without, with_alignment)

    def test_many_in_one_text(self):
        sentence = "I have seen {a} in the garden with {b}. "
        text = self.daemon.translate(sentence * 300).json["translatedText"]
        self.assertEqual((text.count("{a}"), text.count("{b}")), (300, 300))


if __name__ == "__main__":
    unittest.main()
