"""Files that are packages, and pages of XHTML: what is no text comes back, in the same entries."""

import io
import re
import unittest
import zipfile
from xml.etree import ElementTree

import test_files as files
from serve import Daemon

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--max-document-bytes", "200000").start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def sentence(self, text, **fields):
        return self.daemon.translate(text, **fields).json["translatedText"]

    def test_a_document_of_word_keeps_its_parts_and_looks(self):
        content = files.sample("letter.docx")
        reply = files.upload(self.daemon, content, "letter.docx")
        path = files.path_of(reply)
        self.assertTrue(path.endswith(".docx"))
        reply = self.daemon.get(path)
        self.assertEqual(reply.headers["content-type"],
                         "application/vnd.openxmlformats-officedocument.wordprocessingml.document")
        before, after = (zipfile.ZipFile(io.BytesIO(file)) for file in (content, reply.body))
        self.assertIsNone(after.testzip())
        self.assertEqual([(e.filename, e.compress_type, e.date_time) for e in before.infolist()],
                         [(e.filename, e.compress_type, e.date_time) for e in after.infolist()])
        changed = {name for name in before.namelist() if before.read(name) != after.read(name)}
        self.assertEqual(changed, {"word/document.xml", "word/header1.xml", "word/footer1.xml"})
        paragraphs = [[(run.find(f"{W}t").text, run.find(f"{W}rPr/{W}b") is not None)
                       for run in p.iter(f"{W}r") if run.find(f"{W}t") is not None]
                      for p in ElementTree.fromstring(after.read("word/document.xml")).iter(f"{W}p")]
        html = self.sentence("Please press the <b>red</b> button and wait.", format="html")
        self.assertIn([(words, i == 1) for i, words in enumerate(re.split("</?b>", html))], paragraphs)
        self.assertIn([(self.sentence("The train station is closed."), False)], paragraphs)
        sentences = {"".join(words for words, _ in p) for p in paragraphs}
        for sentence in ("Please press the red button and wait.", "The first item is big.", "The price is high."):
            self.assertIn(self.sentence(sentence), sentences)

    def package(self, name):
        """A sample before and after, of which the same entries came back in their order."""
        content = files.sample(name)
        reply = files.upload(self.daemon, content, name)
        self.assertEqual((reply.json["left"], reply.json["texts"]), ([], reply.json["translated"]))
        body = self.daemon.get(files.path_of(reply)).body
        before, after = (zipfile.ZipFile(io.BytesIO(file)) for file in (content, body))
        self.assertIsNone(after.testzip())
        self.assertEqual(*([(e.filename, e.compress_type, e.date_time) for e in file.infolist()] for file in (before, after)))
        return before, after

    def test_opendocument_keeps_its_parts_and_its_notes_their_places(self):
        before, after = self.package("letter.odt")
        changed = {name for name in before.namelist() if before.read(name) != after.read(name)}
        self.assertEqual(changed, {"content.xml", "styles.xml"})
        content, styles = (after.read(name).decode() for name in ("content.xml", "styles.xml"))
        self.assertIn(self.sentence("Or walk.") + "</text:p></text:note-body>", content)
        self.assertIn(self.sentence("I do not believe it."), content)
        self.assertIn("This was deleted.", content)
        self.assertIn('fo:language="de" fo:country="DE"', styles)
        self.assertIn(self.sentence("The header says hello."), styles)
        for part in (content, styles):
            ElementTree.fromstring(part)

    def test_cells_slides_and_chapters_are_translated(self):
        for name, part, sentences in (
                ("prices.ods", "content.xml", ("North of the river", "Look at this.")),
                ("slides.odp", "content.xml", ("The first slide", "What the speaker says.")),
                ("letter.epub", "OEBPS/sections/section0001.xhtml", ("Text in a box.", "A cell"))):
            _, after = self.package(name)
            text = "".join(ElementTree.fromstring(after.read(part)).itertext())
            for sentence in sentences:
                self.assertIn(self.sentence(sentence), text, name)
        self.assertIn("<dc:language>de</dc:language>", after.read("OEBPS/content.opf").decode())
        self.assertEqual((after.namelist()[0], after.infolist()[0].compress_type), ("mimetype", zipfile.ZIP_STORED))

    def test_a_page_of_xhtml_stays_well_formed(self):
        page = ('<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><body><p><a id="top"/>The house is <b>red</b>.<br/></p>'
                '<img alt="The house"/></body></html>')
        html = self.sentence("The house is <b>red</b>.", format="html")
        translated = files.fetch(self.daemon, files.upload(self.daemon, page, "page.xhtml"))
        self.assertEqual(translated,
                         page.replace("The house is <b>red</b>.", html).replace('lang="en"', 'lang="de"')
                         .replace('"The house"', f'"{self.sentence("The house")}"'))

    def test_a_file_that_is_no_document_of_word_is_refused(self):
        content = files.sample("fields.docx")
        for file, message in ((b"Hello", "expected a zip"), (content[:-30], "expected a zip"),
                              (b"%PDF-1.7", "the file is a PDF"), (b"{\\rtf1 x}", "the file is RTF"),
                              (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "of an Office before 2007")):
            reply = files.upload(self.daemon, file, "a.docx")
            self.assertEqual(reply.status, 400)
            self.assertIn(message, reply.json["error"])
        self.assertIn("a zip or an office document, expected a text", files.upload(self.daemon, content, "a.txt").json["error"])
        self.assertEqual(files.path_of(files.upload(self.daemon, content, "a.docx"))[-5:], ".docx")

    def test_a_document_that_is_meant_to_do_harm_takes_nothing_with_it(self):
        main = '<Types><Override PartName="/d.xml" ContentType="wordprocessingml.document.main+xml"/></Types>'
        for name, xml, message in (("bomb", b" " * (40 << 20), "have more than 33554432 bytes"),
                                   ("deep", b"<a>" * 200000, "nested deeper than 256"),
                                   ("entity", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "an entity is declared")):
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
                package.writestr("[Content_Types].xml", main)
                package.writestr("d.xml", xml)
            reply = files.upload(self.daemon, file.getvalue(), "a.docx")
            self.assertIn(reply.status, (400, 413), name)
            self.assertIn(message, reply.json["error"])
            self.assertEqual(files.path_of(files.upload(self.daemon, files.sample("fields.docx"), "a.docx"))[-5:], ".docx")



if __name__ == "__main__":
    unittest.main()
