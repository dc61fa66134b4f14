"""POST /translate_file and GET /download_file: every format comes back with everything but its texts as it was; LibreTranslate's answers; names, limits and the end of files."""

import gettext
import http.client
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import zipfile

from serve import MODEL, SLOWNESS, Daemon, run, wait_until

SRT = """1
00:00:01,000 --> 00:00:02,500 X1:10
<i>Where is the train station?</i>

2
00:00:03,000 --> 00:00:04,000
{\\an8}- I am tired.
- She is my sister.

7
0:00:05,000 --> 00:00:06,000
He said that

8
00:00:06,100 --> 00:00:07,500
he would come tomorrow.

9
00:00:08,000 --> 00:00:09,000
♪
"""

VTT = """WEBVTT - a film
Kind: captions

STYLE
::cue { color: lime }

NOTE Where is it? --> here

intro
00:01.000 --> 00:02.000 align:start position:10%
<v Anna>Where is the train station?

00:02.000 --> 01:00:03.000
<c.loud>I am tired.</c>
"""

PO = r'''# Translators
msgid ""
msgstr ""
"Language: de\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

#. A question
#: main.c:3
msgctxt "travel"
msgid "Where is the train station?"
msgstr ""

#, c-format
msgid "I have %d book."
msgid_plural "I have %d books."
msgstr[0] ""
msgstr[1] ""

#, fuzzy
#| msgid "Open it"
msgid "Open the door"
msgstr "Tür"

#~ msgid "Old"
#~ msgstr "Alt"
'''

HTML = """<!DOCTYPE html>
<html><head><title>Where is the train station?</title></head>
<body><p class="a">I am <b>tired</b>.</p><pre>I am tired.</pre></body></html>
"""

TEXT = "Where is the train station?\n\n\tI am tired.  \n* She is my sister.\n"


def sample(name):
    """One of the files that tests/documents/make_documents.py has made."""
    with open(os.path.join(os.path.dirname(__file__), "..", "documents", name), "rb") as file:
        return file.read()


def upload(daemon, content, name="film.srt", fields=None, headers=None, path="/translate_file", **options):
    """As browsers and curl do it. A field of None is left out."""
    content = content.encode() if isinstance(content, str) else content
    boundary = "xYzZY-1234"
    fields = {"source": "en", "target": "de", **(fields or {})}
    body = b""
    if name is not None:
        body += (f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
                 "Content-Type: application/octet-stream\r\n\r\n").encode() + content + b"\r\n"
    for key, value in fields.items():
        if value is not None:
            body += (f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n'
                     f"{value}\r\n").encode()
    body += f"--{boundary}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}", **(headers or {})}
    return daemon.request("POST", path, body, headers=headers, **options)


def path_of(reply):
    """Of the link in the reply."""
    assert reply.status == 200, reply
    return re.fullmatch(r"https?://[^/]+(/.*)", reply.json["translatedFileUrl"]).group(1)


def fetch(daemon, reply):
    reply = daemon.get(path_of(reply))
    assert reply.status == 200, reply
    return reply.body.decode()


def skeleton(text):
    """What of a subtitle file is no text: numbers, times, settings, notes, blank lines."""
    return [line for line in text.split("\n") if not re.search("[A-Za-zäöüß]{2}", line)]


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--max-text-chars", "5000", "--max-body-bytes", "20000",
                            "--max-document-bytes", "200000").start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def translated(self, content, name="film.srt", **fields):
        return fetch(self.daemon, upload(self.daemon, content, name, fields))

    def sentence(self, text, **fields):
        return self.daemon.translate(text, **fields).json["translatedText"]

    # formats

    def test_what_looks_wrong_is_named_by_its_text(self):
        content = "1\n00:00:01,000 --> 00:00:02,000\nHello.\n\n2\n00:00:03,000 --> 00:00:04,000\nThere are 365 days in a year.\n"
        reply = upload(self.daemon, content)
        self.assertEqual([(w["text"], w["sentence"], w["missing"], w["repaired"]) for w in reply.json["warnings"] if w["kind"] == "numbers"],
                         [(1, 0, ["365"], ["365"])])
        self.assertIn("Es gibt 365 Tage", fetch(self.daemon, reply))
        reply = upload(self.daemon, content, fields={"repair_numbers": "false"})
        self.assertNotIn("repaired", next(w for w in reply.json["warnings"] if w["kind"] == "numbers"))
        self.assertNotIn("365", fetch(self.daemon, reply))
        self.assertNotIn("warnings", upload(self.daemon, "Hello.", "a.txt").json)

    def test_sentences_in_the_targets_language_stay(self):
        cue = "1\n00:00:01,000 --> 00:00:03,500\n%s\nWo ist der Bahnhof, und wann fährt der Zug?\n"
        reply = upload(self.daemon, cue % "Where is the train station?")
        self.assertEqual((reply.json["texts"], reply.json["translated"]), (2, 1))
        self.assertEqual(reply.json["left"], [{"reason": "its translation is the text itself", "text": 1}])
        self.assertEqual(fetch(self.daemon, reply), cue % self.sentence("Where is the train station?"))
        german = "Das Haus ist alt.\r\nEs kostet 1.500,50 Euro, und niemand will es kaufen.\r\n"
        reply = upload(self.daemon, german, "house.txt")
        self.assertEqual((fetch(self.daemon, reply), reply.json["translated"]), (german, 0))

    def test_curl_uploads_and_fetches_every_format(self):
        types = {"srt": "application/x-subrip", "vtt": "text/vtt", "html": "text/html",
                 "po": "text/x-gettext-translation", "txt": "text/plain"}
        contents = {"srt": SRT, "vtt": VTT, "html": HTML, "po": PO, "txt": TEXT}
        for kind, content in contents.items():
            with self.subTest(kind), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, f"Mein Film.{kind}")
                with open(path, "w", encoding="utf-8", newline="") as file:
                    file.write(content)
                answer = subprocess.run(
                    ["curl", "-sS", "--fail", "-F", f"file=@{path}", "-F", "source=en", "-F",
                     "target=de", "-F", "api_key=",
                     f"http://127.0.0.1:{self.daemon.port}/translate_file"],
                    capture_output=True, check=True, timeout=60 * SLOWNESS)
                url = re.search(rb'"translatedFileUrl":"([^"]*)"', answer.stdout).group(1)
                self.assertRegex(url.decode(), r"^http://127\.0\.0\.1:%d/download_file/[0-9a-f]{32}"
                                               r"\.%s$" % (self.daemon.port, kind))
                reply = self.daemon.get(url.decode().split(str(self.daemon.port), 1)[1])
                self.assertEqual(reply.headers["content-type"], f"{types[kind]}; charset=utf-8")
                name = "Mein Film.po" if kind == "po" else f"Mein Film.de.{kind}"
                self.assertEqual(reply.headers["content-disposition"],
                                 f'attachment; filename="{name}"; '
                                 f"filename*=UTF-8''{name.replace(' ', '%20')}")
                self.assertEqual(reply.headers["x-content-type-options"], "nosniff")
                self.assertEqual(reply.headers["cache-control"], "private, no-store")
                self.assertIn("Bahnhof", reply.body.decode())

    def test_subtitles_keep_numbers_times_and_tags(self):
        text = self.translated(SRT)
        self.assertEqual(skeleton(text), skeleton(SRT))
        station, tired, sister = (self.sentence(s) for s in (
            "Where is the train station?", "I am tired.", "She is my sister."))
        self.assertIn(f"\n<i>{station}</i>\n", text)
        self.assertIn(f"\n{{\\an8}}- {tired}\n- {sister}\n", text)

    def test_a_sentence_over_two_cues_is_translated_as_one(self):
        text = self.translated(SRT)
        whole = self.sentence("He said that he would come tomorrow.")
        match = re.search(r"7\n0:00:05,000 --> 00:00:06,000\n(.+)\n\n8\n00:00:06,100 --> "
                          r"00:00:07,500\n(.+)\n\n9\n", text)
        self.assertEqual(" ".join(match.groups()), whole)

    def test_brackets_capitals_and_final_marks_are_those_of_the_source(self):
        def cue(number, text):
            return f"{number}\n00:00:0{number},000 --> 00:00:0{number},900\n{text}\n\n"

        content = "".join(cue(i + 1, text) for i, text in enumerate(
            ("[THE DOOR OPENS]", "<i>[Tom is tired. He\nsleeps...]</i>", "...and I am tired.", "The house")))
        texts = [block.split("\n", 2)[2] for block in self.translated(content).split("\n\n")[:4]]
        self.assertRegex(texts[0], r"^\[[^a-zäöü\[\]]+\]$")
        self.assertRegex(texts[1], r"^<i>\[[^\[\]]+\.\.\.\]</i>$")
        self.assertRegex(texts[2], r"^\.\.\.\w.*\w\.$")
        self.assertRegex(texts[3], r"^[^.!]+$")
        # What is in the brackets is translated as it would be without them.
        self.assertEqual(texts[0], f'[{self.sentence("THE DOOR OPENS")}]')
        as_written = self.translated(content, post_edit="false")
        self.assertNotIn(texts[0], as_written)

    def test_webvtt_keeps_its_blocks(self):
        text = self.translated(VTT, "film.vtt")
        head, tail = VTT.split("<v Anna>", 1)
        self.assertTrue(text.startswith(head + "<v Anna>" + self.sentence(
            "Where is the train station?") + "\n\n00:02.000 --> 01:00:03.000\n<c.loud>"), text)
        self.assertTrue(text.endswith("</c>\n"), text)

    def test_byte_order_mark_and_line_ends_stay(self):
        content = "\ufeff" + SRT.replace("\n", "\r\n")
        text = self.translated(content)
        self.assertTrue(text.startswith("\ufeff1\r\n00:00:01,000"), text)
        self.assertEqual(text.count("\n"), text.count("\r\n"))
        self.assertEqual(text.replace("\r", "").lstrip("\ufeff"), self.translated(SRT))

    def test_catalogues_keep_all_but_their_words(self):
        xliff = '<xliff version="1.2"><file target-language="de"><trans-unit><source>%s</source>%%s' \
                '</trans-unit></file></xliff>'
        state = ' state="needs-review-translation" state-qualifier="mt-suggestion"'
        for name, content in {
                "en.json": '{"$schema": "s", "a": {"b": "%s", "c": "1.0"}, "d": ["%s"]}\r\n',
                "messages.json": '{"a": {"message": "%s", "description": "Hello"}}',
                "app_en.arb": '{"@@locale": "en", "a": "%s", "@a": {"description": "Hello"}}',
                "a.properties": "# H\u00e9llo\na.b = %s\nc: %s\n",
                "a.strings": '/* Hello */ "Hello" = "%s";\nb = c;\n',
                "a.yml": "en:\n  hello: %s # Hello\n  a: ['%s', \"%s\", 1.0, yes]\n  b: |-\n    %s\n",
                "a.yaml": "hello: %s\n",
                "a.md": "---\ntitle: %s\nlayout: Hello\n---\n# %s\n\n* %s\n\n| 1 |\n|--|\n| %s |\n\n```\nHello\n```\n\n<p align=\"right\">%s</p>\n",
                "strings.xml": '<resources><string name="Hello">%s</string><string '
                               'translatable="false">Hello</string></resources>',
                "a.resx": '<root><data name="Hello"><value>%s</value><comment>Hello</comment></data></root>',
                "a.stringsdict": "<plist><dict><key>one</key><string>%s</string></dict></plist>",
        }.items():
            for sentence in ("I am tired.", "Where is the train station?"):
                reply = upload(self.daemon, content.replace("%s", sentence), name)
                self.assertTrue(path_of(reply).endswith(os.path.splitext(name)[1].replace("yaml", "yml")))
                self.assertEqual(fetch(self.daemon, reply), content.replace("%s", self.sentence(sentence)), name)
        for name, content in {
                "a.xlf": xliff,
                "a.xliff": '<xliff version="2.0" trgLang="de"><unit><segment state="translated"><source>%s'
                           "</source>%%s</segment></unit></xliff>",
                "a.tmx": '<tmx><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>%s</seg></tuv>%%s</tu>'
                         "</body></tmx>",
                "a.ts": "<TS><message><source>%s</source>%%s</message></TS>",
        }.items():
            sentence = "Where is the train station?"
            element = {"a.xlf": f"<target{state}>%s</target>", "a.xliff": "<target>%s</target>",
                       "a.tmx": '<tuv xml:lang="de"><seg>%s</seg></tuv>',
                       "a.ts": "<translation>%s</translation>"}[name]
            before = content % sentence % ("<translation/>" if name == "a.ts" else "")
            before = before.replace(' state="translated"', "")
            self.assertEqual(self.translated(before, name),
                             content % sentence % (element % self.sentence(sentence)), name)

    def test_an_xliff_file_for_another_language_is_refused(self):
        self.refused(400, 'line 2: target-language is "fr-CA", expected "de"',
                     '<xliff version="1.2">\n<file target-language="fr-CA"/></xliff>', name="a.xlf")

    def test_a_catalogue_is_filled_in_and_valid(self):
        text = self.translated(PO, "de.po")
        unfilled = re.sub(r'^(msgstr(\[.\])? )"(?!")[^\n]*"$', r'\1""', text, flags=re.M)
        expected = PO.replace('msgstr "Tür"', 'msgstr ""').replace('#~ msgstr ""', '#~ msgstr "Alt"')
        self.assertEqual(unfilled, expected)
        self.assertIn(f'msgstr "{self.sentence("Where is the train station?")}"\n', text)
        self.assertIn('msgid "Open the door"\nmsgstr "Tür"\n', text)
        self.assertEqual(text.count("%d"), 4)
        again = self.translated(PO, "de.po", retranslate="true")
        self.assertNotIn('msgstr "Tür"', again)
        self.assertIn('"Language: de\\n"', again)
        if shutil.which("msgfmt"):
            for catalogue in (text, again):
                check = subprocess.run(["msgfmt", "--check", "-o", "/dev/null", "-"],
                                       input=catalogue.encode(), capture_output=True, check=False)
                self.assertEqual(check.returncode, 0, check.stderr)

    @unittest.skipUnless(shutil.which("msgfmt"), "gettext is not installed")
    def test_gettext_finds_every_translation(self):
        """What gettext itself reads in the catalogue is what /translate says."""
        messages = ("I am tired.", 'She said "Hello" to me.', "I am tired.\nShe is my sister.\n",
                    "Open C:\\temp\\new.", "\tWhere is the train station?", "I have %d books.",
                    "Hello {name}, where are you?", "I am tired. " * 20,
                    "Ask https://example.org/?a=1&b=2 now.")
        plural = ("I have %(n)d book.", "I have %(n)d books.")

        def quoted(text):
            text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
            return '"' + text.replace("\n", "\\n") + '"'

        content = PO.split("\n\n", 1)[0] + "\n\n" + "".join(
            f'msgctxt "menu"\nmsgid {quoted(m)}\nmsgstr ""\n\n' for m in messages)
        content += (f"msgid {quoted(plural[0])}\nmsgid_plural {quoted(plural[1])}\n"
                    'msgstr[0] ""\nmsgstr[1] ""\n')
        text = self.translated(content, "de.po")
        binary = subprocess.run(["msgfmt", "--check", "-o", "-", "-"], input=text.encode(),
                                capture_output=True, check=False)
        self.assertEqual(binary.returncode, 0, binary.stderr)
        catalogue = gettext.GNUTranslations(io.BytesIO(binary.stdout))
        for message in messages:
            self.assertEqual(catalogue.pgettext("menu", message), self.sentence(message))
        for n in (1, 2):
            self.assertEqual(catalogue.ngettext(*plural, n), self.sentence(plural[n - 1]))

    def test_files_come_back_in_their_encoding(self):
        """With a character that it lacks, in UTF-8."""
        sentence = self.sentence("The dog is hungry.") + "\r\n"
        self.assertIn("Hund", sentence)
        for codec, name in (("utf-16", "UTF-16LE"), ("utf-8-sig", "UTF-8"), ("cp1252", "windows-1252")):
            reply = upload(self.daemon, "The dog is hungry.\r\n".encode(codec), "a.txt",
                           {"encoding": codec if codec == "cp1252" else ""})
            self.assertEqual(reply.json["encoding"], name)
            fetched = self.daemon.get(path_of(reply))
            self.assertEqual(fetched.body.decode(codec), sentence)
            self.assertEqual(fetched.headers["content-type"], "application/octet-stream"
                             if codec == "utf-16" else "text/plain; charset=utf-8")
        page = "<meta charset=iso-8859-1><p>Caf\xe9. Where is the door?"
        reply = upload(self.daemon, page.encode("latin-1"), "a.html")
        self.assertEqual(reply.json["encoding"], "ISO-8859-1")
        self.assertIn("T\xfcr", self.daemon.get(path_of(reply)).body.decode("latin-1"))
        reply = upload(self.daemon, "<meta charset=iso-8859-7><p>Where is the door?", "a.html")
        self.assertEqual(reply.json["encoding"], "UTF-8")
        self.assertRegex(fetch(self.daemon, reply), "^<meta charset=UTF-8><p>.*T\xfcr")
        # A file that says nothing, with more than one line of it.
        text = "Die B\xe4ren essen \x84s\xfc\xdfen\x93 Honig. Wir h\xf6ren ihnen gern dabei zu.\n"
        reply = upload(self.daemon, text.encode("latin-1"), "a.txt")
        self.assertEqual((reply.status, reply.json["encoding"]), (200, "windows-1252"))

    def test_the_reply_says_what_became_of_the_texts(self):
        reply = upload(self.daemon, SRT).json
        self.assertEqual((reply["texts"], reply["translated"], reply["left"], reply["encoding"]),
                         (4, 4, [], "UTF-8"))
        self.assertNotIn("message", reply)
        reply = upload(self.daemon, "1\n2\n", "a.txt").json
        self.assertEqual((reply["texts"], reply["translated"], reply["left"], reply["message"]),
                         (0, 0, [], "Nothing was translated: the file has no text."))
        reply = upload(self.daemon, "OK OK OK", "a.txt", {"do_not_translate": "OK OK OK"}).json
        self.assertEqual((reply["texts"], reply["translated"], reply["left"], reply["message"]),
                         (1, 0, [{"reason": "its translation is the text itself", "text": 0}],
                          "Nothing was translated: left says why."))

    @unittest.skipUnless(shutil.which("msgfmt"), "gettext is not installed")
    def test_a_catalogue_of_ascii_becomes_one_of_utf_8(self):
        for charset in ("ASCII", "CHARSET"):
            content = PO.replace("Tür", "Tor").replace("UTF-8", charset)
            text = self.translated(content.replace("train station", "door"), "de.po")
            self.assertFalse(text.isascii())
            check = subprocess.run(["msgfmt", "--check", "-o", "-", "-"], input=text.encode(),
                                   capture_output=True, check=False)
            self.assertEqual(check.returncode, 0, check.stderr)
            self.assertNotIn(b"harset", check.stderr)
            catalogue = gettext.GNUTranslations(io.BytesIO(check.stdout))
            self.assertEqual(catalogue.pgettext("travel", "Where is the door?"),
                             self.sentence("Where is the door?"))

    def test_a_page_keeps_its_markup(self):
        text = self.translated(HTML, "index.htm")
        self.assertRegex(text, r'^<!DOCTYPE html>\n?<html><head>(<meta charset="utf-8">)?<title>Wo ')
        self.assertIn('<p class="a">Ich bin <b>', text)
        self.assertIn("<pre>I am tired.</pre>", text)
        self.assertTrue(text.endswith("</body></html>\n"), text)

    def test_text_keeps_its_lines(self):
        expected = (self.sentence("Where is the train station?") + "\n\n\t" +
                    self.sentence("I am tired.") + "  \n* " +
                    self.sentence("She is my sister.") + "\n")
        self.assertEqual(self.translated(TEXT, "a.txt"), expected)

    def test_wrapped_text_is_wrapped_again(self):
        line = "My father wants to buy a new car because the old one is broken and"
        text = self.translated(f"{line}\nhe needs it for his work. She is my sister.\n", "a.txt")
        whole = self.sentence(f"{line} he needs it for his work. She is my sister.")
        self.assertEqual(text.replace("\n", " ").strip(), whole)
        self.assertLessEqual(max(map(len, text.splitlines())), len(line))

    def test_what_has_no_text_or_is_in_the_language_already_stays(self):
        for content, name, fields in ((SRT, "a.srt", {"source": "de"}),
                                      (SRT.replace("th", "ch"), "a.srt", {"source": "de"}),
                                      ("Wo ist der Bahnhof, mein Freund?\n", "a.txt",
                                       {"source": "auto"}),
                                      ("", "a.srt", {}), ("", "a.txt", {}),
                                      ("1\n00:00:01,000 --> 00:00:02,000\n...\n", "a.srt", {})):
            self.assertEqual(self.translated(content, name, **fields), content)

    def test_the_source_is_detected(self):
        self.assertEqual(self.translated(SRT, source="auto"), self.translated(SRT))

    def test_terms_are_kept_and_told(self):
        reply = upload(self.daemon, SRT, fields={"glossary": '{"train station": "Hauptbahnhof"}'})
        self.assertIn("Hauptbahnhof", fetch(self.daemon, reply))
        self.assertEqual(reply.json["terms"], [{"source": "train station", "target": "Hauptbahnhof",
                                                "found": 1, "applied": 1}])

    # refusals

    def refused(self, code, error, *arguments, **options):
        reply = upload(self.daemon, *arguments, **options)
        self.assertEqual((reply.status, reply.json), (code, {"error": error}))

    def test_wrong_requests(self):
        self.refused(400, "Invalid request: missing file parameter", SRT, name=None)
        self.refused(400, "Invalid request: missing source parameter", SRT,
                     fields={"source": None})
        self.refused(400, "Invalid request: missing target parameter", SRT, fields={"target": ""})
        self.refused(400, "Invalid request: empty file", SRT, name="")
        self.refused(400, "zz is not supported", SRT, fields={"target": "zz"})
        self.refused(400, "English (en) is not available as a target language from German (de)",
                     SRT, fields={"source": "de", "target": "en"})
        self.refused(400, "retranslate is \"maybe\", expected true or false", SRT,
                     fields={"retranslate": "maybe"})
        reply = self.daemon.request("POST", "/translate_file", {"source": "en", "target": "de"})
        self.assertEqual((reply.status, reply.error),
                         (400, "Invalid request: missing file parameter"))
        reply = self.daemon.get("/translate_file")
        self.assertEqual((reply.status, reply.headers["allow"]), (405, "POST, OPTIONS"))

    def test_other_types_are_refused(self):
        known = self.daemon.get("/frontend/settings").json["supportedFilesFormat"]
        expected = ", ".join(known[:-1]) + " or " + known[-1]
        for name, extension in (("letter.xyz", ".xyz"), ("film.srt.zip", ".zip"), ("srt", "")):
            self.refused(400, f'Invalid request: file format not supported: "{extension}", '
                              f"expected {expected}", SRT, name=name)
        self.refused(400, "the file is a PDF, which holds no paragraphs: send the document that it was made of, or save its text as .txt",
                     "%PDF-1.7\n", name="letter.pdf")
        self.refused(400, "the file is RTF: save it as .docx and send that", "{\\rtf1\\ansi Hello.}", name="letter.rtf")

    def test_broken_files_are_refused_with_their_line(self):
        self.refused(400, 'line 1: "Hello." begins no subtitle: expected its number or its time',
                     "Hello.\n")
        self.refused(400, 'line 6: "00:00:0x,000 --> 00:00:04,000" is no time of a subtitle: '
                          "expected 00:00:01,000 --> 00:00:02,000",
                     SRT.replace("00:00:03,000", "00:00:0x,000"))
        self.refused(400, "line 1 holds byte 0xFC, which is no UTF-8, although a byte order mark says "
                          "so: expected its encoding to be named (encoding)",
                     b"\xef\xbb\xbf\xfc", name="a.txt")
        self.refused(400, 'encoding is "utf-7", expected the name of one, such as UTF-8, UTF-16 or '
                          "windows-1252", "Hi", name="a.txt", fields={"encoding": "utf-7"})

    def test_limits(self):
        self.refused(400, "Invalid request: request (5001) exceeds text limit (5000)", "a" * 5001,
                     name="a.txt")
        self.assertEqual(self.translated("", "a.txt"), "")
        reply = upload(self.daemon, "a" * 200001, "a.txt")
        self.assertEqual((reply.status, reply.error),
                         (413, "the file has 200001 bytes, at most 200000 are allowed"))
        reply = upload(self.daemon, "a" * 230000, "a.txt")
        self.assertEqual((reply.status, reply.error),
                         (413, "the request body is longer than this server accepts"))

    def test_words_alone_count(self):
        """A page's markup may be longer than texts and bodies may be."""
        comment = "<!-- " + "no word " * 20000 + " -->"
        page = f"<p>Where is the <b class='{'x' * 6000}'>train station</b>?</p>{comment}"
        self.assertGreater(len(page), 160000)
        text = self.translated(page, "a.html")
        self.assertIn("Bahnhof", text)
        self.assertTrue(text.endswith(comment))
        self.refused(400, "Invalid request: request (5001) exceeds text limit (5000)",
                     f"<p>{'a' * 5001}</p>", name="a.html")

    def test_only_a_file_may_be_as_long(self):
        for kind, body in (("application/json", b'{"source": "' + b"e" * 30000 + b'"}'),
                           ("application/x-www-form-urlencoded", b"source=" + b"e" * 30000)):
            reply = self.daemon.request("POST", "/translate_file", body,
                                        headers={"Content-Type": kind})
            self.assertEqual((reply.status, reply.error),
                             (413, "the request body is longer than this server accepts"))
        reply = self.daemon.request("POST", "/translate", b"q=" + b"e" * 30000, headers={
            "Content-Type": "application/x-www-form-urlencoded"})
        self.assertEqual(reply.status, 413)

    # names and links

    def test_unknown_names_are_not_found(self):
        name = path_of(upload(self.daemon, "", "a.txt"))
        last = "0" if name[15] != "0" else "1"
        for path in ("/download_file/", "/download_file/x", "/download_file/" + "0" * 32 + ".txt",
                     name[:15] + last + name[16:], name[:-1], name + "x", name[:-3] + "srt",
                     "/download_file/../config/attentiond.json", "/download_file/..%2f..%2fx",
                     "/download_file/%2e%2e/%2e%2e/etc/passwd", name + "/", "/download_file//" +
                     name.rsplit("/", 1)[1]):
            reply = self.daemon.get(path)
            self.assertEqual(reply.status, 404, path)
            self.assertIn("error", reply.json)
        self.assertEqual(self.daemon.get("/download_file").status, 404)
        self.assertEqual(self.daemon.get(name).status, 200)
        reply = self.daemon.request("HEAD", name)
        self.assertEqual((reply.status, reply.body), (200, b""))
        self.assertEqual(self.daemon.request("POST", name, b"").status, 405)

    def test_names_are_never_the_same(self):
        names = {path_of(upload(self.daemon, "", "a.txt")) for _ in range(50)}
        self.assertEqual(len(names), 50)

    def test_a_file_is_saved_under_a_harmless_name(self):
        for name, saved in (("../../etc/passwd.txt", "passwd.de.txt"),
                            ("C:\\\\films\\\\My.EN.srt", "My.de.srt"),
                            (".htaccess.txt", "htaccess.de.txt"), ("...txt", "translation.de.txt"),
                            ("-rf *.txt", "rf _.de.txt"), ("a" * 300 + ".txt", "a" * 120 + ".de.txt"),
                            ("Zürich.srt", "Z_rich.de.srt")):
            reply = self.daemon.get(path_of(upload(self.daemon, "", name)))
            self.assertIn(f'filename="{saved}"', reply.headers["content-disposition"], name)
        self.assertIn("filename*=UTF-8''Z%C3%BCrich.de.srt", reply.headers["content-disposition"])

    def test_links_are_made_of_host_and_scheme(self):
        for headers, beginning in (
                ({"Host": "translate.example.org"}, "http://translate.example.org/"),
                ({"Host": "[::1]:8080"}, "http://[::1]:8080/"),
                ({"Host": "example.org:8080", "X-Forwarded-Proto": "https"},
                 "https://example.org:8080/"),
                ({"Host": "example.org", "X-Forwarded-Proto": "javascript"},
                 "http://example.org/")):
            url = upload(self.daemon, "", "a.txt", headers=headers).json["translatedFileUrl"]
            self.assertTrue(url.startswith(beginning + "download_file/"), url)
        for host in ("", "evil.example/path", "a b", "user@example.org", "example.org:",
                     "example.org:123456", "[::1", "x" * 300):
            reply = upload(self.daemon, "", "a.txt", headers={"Host": host})
            self.assertEqual(reply.status, 400, host)


class Settings(unittest.TestCase):
    def test_a_file_counts_against_the_limits_of_a_client(self):
        with Daemon("--chars-per-day", "100", "--requests-per-minute", "3") as daemon:
            self.assertEqual(upload(daemon, "a" * 60, "a.txt").status, 200)
            reply = upload(daemon, "a" * 60, "a.txt")
            self.assertEqual(reply.status, 429, reply)
            self.assertEqual(upload(daemon, "a" * 40, "a.txt").status, 200)
            reply = upload(daemon, "", "a.txt")
            self.assertEqual((reply.status, reply.error), (429, "Slowdown: 3 per 1 minute"))

    def test_keys(self):
        with tempfile.NamedTemporaryFile("w") as keys:
            keys.write("my-secret name=a max_text_chars=10\n")
            keys.flush()
            with Daemon("--api-keys-file", keys.name, "--key-required") as daemon:
                path = path_of(upload(daemon, "1", "a.txt", {"api_key": "my-secret"}))
                self.assertEqual(daemon.get(path).status, 200)
                reply = upload(daemon, "1", "a.txt", {"api_key": "wrong"})
                self.assertEqual((reply.status, reply.error), (403, "Invalid API key"))
                self.assertEqual(upload(daemon, "1", "a.txt").status, 403)
                reply = upload(daemon, "a" * 11, "a.txt", {"api_key": "my-secret"})
                self.assertEqual(reply.error,
                                 "Invalid request: request (11) exceeds text limit (10)")

    def test_switched_off(self):
        with Daemon("--files-translation=false") as daemon:
            for reply in (upload(daemon, SRT), daemon.get("/download_file/" + "0" * 32 + ".srt")):
                self.assertEqual((reply.status, reply.json),
                                 (403, {"error": "Files translation are disabled on this server."}))
            settings = daemon.get("/frontend/settings").json
            self.assertEqual(settings["filesTranslation"], False)
            self.assertEqual(settings["supportedFilesFormat"], [])

    def test_switched_on(self):
        with Daemon("--public-url", "https://example.org/translate/") as daemon:
            settings = daemon.get("/frontend/settings").json
            self.assertEqual(settings["filesTranslation"], True)
            self.assertEqual(settings["supportedFilesFormat"][:5],
                             [".txt", ".srt", ".vtt", ".html", ".po"])
            url = upload(daemon, "", "a.txt").json["translatedFileUrl"]
            self.assertTrue(url.startswith("https://example.org/translate/download_file/"), url)

    def test_a_wrong_public_url_is_refused(self):
        for url in ("example.org", "ftp://example.org", "http://a b"):
            result = run("serve", "--model", Daemon().model, "--port", "0", "--public-url", url)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f'public_url is "{url}", expected a URL', result.stderr)

    def test_files_expire(self):
        with Daemon("--files-lifetime-ms", "1500") as daemon:
            begun = time.monotonic()
            path = path_of(upload(daemon, "123", "a.txt"))
            status, n_bytes = daemon.get(path).status, daemon.metrics()["attentiond_files_stored_bytes"]
            if time.monotonic() - begun < 1.5:  # a busy machine may take longer
                self.assertEqual((status, n_bytes), (200, 3))
            wait_until(lambda: daemon.get(path).status == 404, what="the end of a file")
            wait_until(lambda: daemon.metrics()["attentiond_files_stored"] == 0, what="no file")
            self.assertEqual(daemon.get(path).error, "There is no such file; it may have expired.")

    def test_room_is_limited_and_comes_back(self):
        with Daemon("--max-files-bytes", "2000", "--files-lifetime-ms", "3000") as daemon:
            content = "1\n" * 600
            begun = time.monotonic()
            self.assertEqual(upload(daemon, content, "a.txt").status, 200)
            while True:
                again = time.monotonic()
                reply = upload(daemon, content, "a.txt")
                if reply.status != 200:
                    break
                self.assertGreater(time.monotonic() - begun, 3)  # a busy machine: the file before has expired
                begun = again
            self.assertEqual((reply.status, reply.headers["retry-after"]), (503, "1"))
            self.assertIn("would be over the limit of 2000", reply.error)
            self.assertEqual(upload(daemon, "1\n" * 1001, "a.txt").status, 413)
            wait_until(lambda: upload(daemon, content, "a.txt").status == 200,
                       what="room for a file")

    def test_one_client_does_not_take_all_the_room(self):
        with Daemon("--max-files-bytes", "100000") as daemon:
            other = http.client.HTTPConnection(daemon.host, daemon.port, timeout=30 * SLOWNESS,
                                               source_address=("127.0.0.2", 0))
            self.addCleanup(other.close)
            content, paths = "1\n" * 5000, []
            for _ in range(11):
                reply = upload(daemon, content, "a.txt")
                if reply.status != 200:
                    break
                paths.append(path_of(reply))
            self.assertEqual((len(paths), reply.status), (10, 503))
            # Another client gets room, and the oldest file is gone for it.
            reply = upload(daemon, content, "b.txt", client=other)
            self.assertEqual(fetch(daemon, reply), content)
            self.assertEqual([daemon.get(path).status for path in paths[:3]], [404, 200, 200])
            # Those two were fetched, and make room for whomever.
            self.assertEqual(upload(daemon, content, "a.txt").status, 200)
            self.assertEqual([daemon.get(path).status for path in paths[1:4]], [404, 200, 200])

    def test_room_is_asked_for_before_the_work(self):
        with Daemon("--max-files-bytes", "1024") as daemon:
            self.assertEqual(upload(daemon, "1\n" * 300, "a.txt").status, 200)
            n_before = daemon.metrics()["attentiond_source_tokens_total"]
            self.assertEqual(upload(daemon, "I am tired.\n" * 50, "a.txt").status, 503)
            self.assertEqual(daemon.metrics()["attentiond_source_tokens_total"], n_before)

    def test_a_file_may_have_more_sentences_than_the_queue_holds(self):
        with Daemon("--max-queued-sentences", "20") as daemon:
            hello = daemon.translate("Hello.").json["translatedText"]
            cue = "1\n00:00:01,000 --> 00:00:02,000\nHello.\n\n"
            for n in (21, 150):
                reply = upload(daemon, cue * n)
                self.assertEqual(fetch(daemon, reply), cue.replace("Hello.", hello) * n)
            # What is one text is still decoded together, and takes no memory before it is refused.
            reply = upload(daemon, "<p>Hello.</p>" * 21, "a.html")
            self.assertEqual((reply.status, reply.error),
                             (413, "the request has 21 sentences: at most 20"))
            reply = upload(daemon, "<p>Hello.</p>" * 3000, "a.html")
            self.assertEqual((reply.status, reply.error),
                             (413, "the request has more than 40 sentences: at most 20"))

    def test_a_file_with_more_tags_than_alignments_fit_into_memory_is_translated_in_steps(self):
        texts = {f"k{i}": "The <b>old</b> house." for i in range(60)}
        with Daemon("--max-attention-values", "40000") as daemon:
            reply = upload(daemon, json.dumps(texts), "a.json")
            self.assertEqual([w for w in reply.json.get("warnings", []) if w["kind"] == "unaligned"], [])
            self.assertEqual(set(json.loads(fetch(daemon, reply)).values()), {"Das <b>alte</b> Haus."})

    def test_100000_runs_in_one_paragraph_take_128_mib(self):
        runs = "".join(f"<w:r>{'<w:rPr><w:b/></w:rPr>' * (i % 2)}<w:t xml:space='preserve'>{letter}</w:t></w:r>"
                       for i, letter in enumerate("The old house by the river was sold. " * 2703))
        file = io.BytesIO(sample("letter.docx"))
        with zipfile.ZipFile(file) as old:
            parts = {name: old.read(name) for name in old.namelist()}
        parts["word/document.xml"] = re.sub(b"<w:body>.*</w:body>", f"<w:body><w:p>{runs}</w:p></w:body>".encode(),
                                            parts["word/document.xml"], flags=re.DOTALL)
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
            for name, content in parts.items():
                new.writestr(name, content)
        with Daemon() as daemon:
            upload(daemon, sample("letter.docx"), "a.docx")
            before = daemon.peak_kib()
            reply = upload(daemon, file.getvalue(), "a.docx")
            self.assertEqual((reply.status, reply.json["left"]), (200, []))
            if SLOWNESS == 1:  # sanitizers take more
                self.assertLess(daemon.peak_kib() - before, 128 * 1024)

    def test_large_files_have_places_of_their_own(self):
        def begin(connection, length):
            connection.sendall(b"POST /translate_file HTTP/1.1\r\nHost: a\r\nContent-Type: "
                               b"multipart/form-data; boundary=b\r\n"
                               b"Content-Length: %d\r\n\r\n--b\r\n" % length)

        with Daemon("--max-documents", "2", "--max-body-bytes", "20000") as daemon:
            # Two clients that send nothing more have both places.
            slow = [daemon.socket(), daemon.socket()]
            for connection in slow:
                begin(connection, 100000)
            large = "<!--" + "x" * 50000 + "-->123"
            wait_until(lambda: upload(daemon, large, "a.html").status == 503, what="no place")
            reply = upload(daemon, large, "a.html")
            self.assertEqual((reply.error, reply.headers["retry-after"]),
                             ("2 large files are being translated, as many as may be at a time: "
                              "try again later", "1"))
            # One whose length nobody knows before, too.
            chunked = daemon.socket()
            chunked.sendall(b"POST /translate_file HTTP/1.1\r\nHost: a\r\nContent-Type: "
                            b"multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n"
                            + b"4e20\r\n" + b"x" * 20000 + b"\r\n4e20\r\n" + b"x" * 20000
                            + b"\r\n0\r\n\r\n")
            self.assertIn(b" 503 ", chunked.recv(100))
            # A small one needs none.
            self.assertEqual(fetch(daemon, upload(daemon, "123", "a.txt")), "123")
            for connection in slow:
                connection.close()
            wait_until(lambda: upload(daemon, large, "a.html").status == 200, what="a place")
            self.assertGreater(
                daemon.metrics()['attentiond_rejected_total{reason="too_many_documents"}'], 1)

    def test_a_client_that_leaves_ends_the_work(self):
        with Daemon() as daemon:
            connection = daemon.socket()
            body = (b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' +
                    b"My father wants to buy a new car tomorrow.\n" * 1500 +
                    b'\r\n--b\r\nContent-Disposition: form-data; name="source"\r\n\r\nen\r\n'
                    b'--b\r\nContent-Disposition: form-data; name="target"\r\n\r\nde\r\n--b--\r\n')
            connection.sendall(b"POST /translate_file HTTP/1.1\r\nHost: a\r\nContent-Type: "
                               b"multipart/form-data; boundary=b\r\nContent-Length: %d\r\n\r\n"
                               % len(body) + body)
            wait_until(lambda: daemon.metrics()["attentiond_rows_running"] > 0, what="its work")
            connection.close()
            start = time.monotonic()
            wait_until(lambda: daemon.metrics()["attentiond_rows_running"] == 0, what="its end")
            self.assertLess(time.monotonic() - start, 5 * SLOWNESS)
            self.assertEqual(daemon.translate("I am tired.").status, 200)


class Directory(unittest.TestCase):
    """files_directory, with the sandbox as it is by default."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def daemon(self, *flags, **options):
        return Daemon("--files-directory", self.folder, *flags, **options)

    def test_any_replica_answers_and_a_restart_keeps_files(self):
        with self.daemon() as first:
            with self.daemon() as second:
                reply = upload(first, SRT, "Film.en.srt")
                self.assertEqual(reply.status, 200, reply)
                path = path_of(reply)
                files = [daemon.get(path) for daemon in (first, second)]
                self.assertEqual([file.status for file in files], [200, 200])
                self.assertEqual(files[0].body, files[1].body)
                for name in ("content-type", "content-disposition"):
                    self.assertEqual(files[0].headers[name], files[1].headers[name])
                self.assertIn("Film.de.srt", files[0].headers["content-disposition"])
                self.assertEqual(first.metrics()["attentiond_files_stored"], 1)
                self.assertEqual(second.get(path[:-5] + "x.srt").status, 404)
            self.assertEqual(len(os.listdir(self.folder)), 1)
        with self.daemon() as third:
            self.assertEqual(third.get(path).body, files[0].body)
            self.assertNotIn("127.0.0.1", os.listdir(self.folder)[0])

    def test_time_and_room_are_shared(self):
        with self.daemon("--files-lifetime-ms", "1000") as first, self.daemon() as second:
            path = path_of(upload(first, SRT, "a.srt"))
            self.assertEqual(second.get(path).status, 200)
            wait_until(lambda: second.get(path).status == 404, what="its end")
            wait_until(lambda: os.listdir(self.folder) == [], seconds=15 * SLOWNESS, what="its removal")
        with self.daemon("--max-files-bytes", "2000") as first, self.daemon("--max-files-bytes", "2000") as second:
            replies = [upload(daemon, "I am tired.\n" * 50, "a.txt") for daemon in (first, second, first, second)]
            self.assertEqual([reply.status for reply in replies][0], 200, replies)
            self.assertIn(503, [reply.status for reply in replies])
            self.assertIn("try again later", next(reply.error for reply in replies if reply.status == 503))
            self.assertLessEqual(sum(os.path.getsize(os.path.join(self.folder, name)) for name in os.listdir(self.folder)), 2000)

    def test_a_directory_that_is_of_no_use_is_refused_at_the_start(self):
        for verb in ("serve", "check-config"):
            result = run(verb, "--model", MODEL, "--port", "0", "--files-directory", self.folder + "/none")
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(f"files_directory is {self.folder}/none, which cannot be opened: No such file or directory; make it",
                          result.stderr)
        result = run("check-config", "--model", MODEL, "--files-directory", self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"files_directory {self.folder}: good, 0 files of 0 bytes", result.stderr)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
