"""Documents of Office as other programs see them once each word is marked: LibreOffice makes them and opens them again, openpyxl reads
the cells. What is not installed is skipped."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile
from xml.etree import ElementTree

try:
    import openpyxl
    from openpyxl.chart import BarChart, Reference
    from openpyxl.comments import Comment
    from openpyxl.worksheet.datavalidation import DataValidation
    from openpyxl.worksheet.table import Table
except ImportError:
    openpyxl = None
try:
    from odf import opendocument, teletype
    from odf.text import P
except ImportError:
    opendocument = None

MARK = os.path.join(os.environ["MT_BUILD_DIR"], "tests", "documents", "mark")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)))
TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
PICTURE = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

HEAD = ('<?xml version="1.0" encoding="UTF-8"?>\n<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        f'xmlns:text="{TEXT}" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" '
        'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
        'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" '
        'xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" '
        'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" office:version="1.3" '
        'office:mimetype="application/vnd.oasis.opendocument.%s"><office:automatic-styles><style:style style:name="B" '
        'style:family="text"><style:text-properties fo:font-weight="bold"/></style:style></office:automatic-styles><office:body>')
TAIL = "</office:body></office:document>"
PARAGRAPHS = ('<text:p>Please press the <text:span text:style-name="B">red</text:span> button &amp; wait.</text:p>'
              '<text:p>See <text:a xlink:href="http://example.com/">the other page</text:a>, too.</text:p>'
              '<text:p>The first line<text:line-break/>and the second.</text:p>'
              '<text:p>wo<text:span text:style-name="B">r</text:span>d</text:p>')


def box(content):
    return (f'<draw:frame svg:x="1cm" svg:y="1cm" svg:width="9cm" svg:height="9cm"><draw:text-box>{content}</draw:text-box>'
            "</draw:frame>")


def deck():
    image = (f'<draw:frame svg:x="1cm" svg:y="9cm" svg:width="1cm" svg:height="1cm"><draw:image><office:binary-data>{PICTURE}'
             "</office:binary-data></draw:image></draw:frame>")
    table = ('<draw:frame svg:x="1cm" svg:y="12cm" svg:width="9cm" svg:height="2cm"><table:table><table:table-column/>'
             "<table:table-column/><table:table-row><table:table-cell><text:p>The price</text:p></table:table-cell><table:table-cell>"
             "<text:p>42</text:p></table:table-cell></table:table-row></table:table></draw:frame>")
    notes = f"<presentation:notes>{box('<text:p>Tell them a story.</text:p>')}</presentation:notes>"
    return (HEAD % "presentation" + "<office:presentation><draw:page>" + box(PARAGRAPHS) + image + table + notes
            + "</draw:page><draw:page>" + box("<text:p>The end</text:p>") + "</draw:page></office:presentation>" + TAIL)


def book():
    cells = "".join(f'<table:table-cell office:value-type="string">{p}</table:table-cell>'
                    for p in re.findall("<text:p>.*?</text:p>", PARAGRAPHS))
    return (HEAD % "spreadsheet" + '<office:spreadsheet><table:table table:name="Big sheet"><table:table-row>' + cells
            + '</table:table-row><table:table-row><table:table-cell office:value-type="float" office:value="4.5"><text:p>4.5</text:p>'
              '</table:table-cell><table:table-cell table:formula="of:=[.A2]*2" xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" office:value-type="float" office:value="9"/>'
              "</table:table-row></table:table></office:spreadsheet>" + TAIL)


def letter():
    return HEAD % "text" + f"<office:text><text:h>The house</text:h>{PARAGRAPHS}</office:text>" + TAIL


@unittest.skipUnless(shutil.which("soffice"), "LibreOffice (soffice) is not installed")
class LibreOfficeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def convert(self, kind, *names):
        done = subprocess.run(["soffice", f"-env:UserInstallation=file://{self.folder.name}/profile", "--headless", "--convert-to", kind,
                               "--outdir", self.folder.name, *map(self.path, names)], capture_output=True, text=True, timeout=300,
                              check=False)
        for name in names:
            made = os.path.splitext(name)[0] + "." + kind.split(":")[0]
            self.assertTrue(os.path.exists(self.path(made)), done.stdout + done.stderr)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def paragraphs(self, name):
        """The words of each, as LibreOffice has read them."""
        def words(element):
            yield element.text or ""
            for child in element:
                if child.tag.endswith(("}line-break", "}tab", "}s")):
                    yield " "
                yield from words(child)
                yield child.tail or ""
        root = ElementTree.parse(self.path(name)).getroot()
        return [" ".join("".join(words(p)).split()) for p in root.iter() if p.tag in (f"{{{TEXT}}}p", f"{{{TEXT}}}h")]

    def check(self, content, flat, kind, *target):
        with open(self.path(f"a.{flat}"), "w", encoding="utf-8") as file:
            file.write(content)
        self.convert(kind, f"a.{flat}")
        os.remove(self.path(f"a.{flat}"))
        subprocess.run([MARK, self.path(f"a.{kind}"), self.path(f"b.{kind}"), *target], check=True)
        self.convert(flat, f"a.{kind}", f"b.{kind}")
        before, after = self.paragraphs(f"a.{flat}"), self.paragraphs(f"b.{flat}")
        self.assertEqual([p.replace("[", "").replace("]", "") for p in after], before)
        with zipfile.ZipFile(self.path(f"a.{kind}")) as a, zipfile.ZipFile(self.path(f"b.{kind}")) as b:
            self.assertIsNone(b.testzip())
            self.assertEqual([(e.filename, e.compress_type, e.date_time) for e in a.infolist()],
                             [(e.filename, e.compress_type, e.date_time) for e in b.infolist()])
            pictures = [name for name in a.namelist() if name.endswith(".png")]
            self.assertEqual([a.read(name) for name in pictures], [b.read(name) for name in pictures])
        return after

    def test_a_presentation(self):
        after = self.check(deck(), "fodp", "pptx")
        for marked in ("[Please] [press] [the] [red] [button] [&] [wait.]", "[See] [the] [other] [page][,] [too.]",
                       "[The] [first] [line] [and] [the] [second.]", "[wo][r][d]", "[The] [price]", "[Tell] [them] [a] [story.]",
                       "[The] [end]"):
            self.assertIn(marked, after)

    def test_a_presentation_from_the_right(self):
        self.check(deck(), "fodp", "pptx", "ar")
        before, after = (self.read(name) for name in ("a.fodp", "b.fodp"))
        self.assertLess(before.count('"rl-tb"'), after.count('"rl-tb"'))

    def test_a_workbook(self):
        after = self.check(book(), "fods", "xlsx")
        for marked in ("[Please] [press] [the] [red] [button] [&] [wait.]", "[See] [the] [other] [page][,] [too.]", "[wo][r][d]", "4.5", "9"):
            self.assertIn(marked, after)

    def test_a_document_from_the_right(self):
        self.assertIn("[Please] [press] [the] [red] [button] [&] [wait.]", self.check(letter(), "fodt", "docx", "ar"))
        before, after = (self.read(name) for name in ("a.fodt", "b.fodt"))
        self.assertLess(before.count('"rl-tb"'), after.count('"rl-tb"'))
        self.assertLess(before.count('style:language-complex="ar"'), after.count('style:language-complex="ar"'))

    def test_as_many_paragraphs_as_text(self):
        for name in ("letter.docx", "fields.docx"):
            shutil.copy(os.path.join(SOURCE, name), self.path("c.docx"))
            subprocess.run([MARK, self.path("c.docx"), self.path("d.docx")], check=True)
            self.convert("txt:Text", "c.docx", "d.docx")
            self.assertEqual(re.sub(r"[\[\]]", "", self.read("d.txt")), self.read("c.txt"))


@unittest.skipUnless(openpyxl, "openpyxl (python3-openpyxl) is not installed")
class WorkbookTest(unittest.TestCase):
    def make(self, path):
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "My sheet"
        for row in (["Item", "Sum of it", "State"], ["A green chair", 7, "open"], ["A lamp", 12, "closed"]):
            sheet.append(row)
        sheet.add_table(Table(displayName="Furniture", ref="A1:C3"))
        sheet["A5"] = '=IF(C2="open","It is open",Furniture[[#Headers],[Item]])'
        sheet["B5"] = "The lamp is old."
        sheet["B5"].comment = Comment("Is it?\nYes.", "Somebody")
        sheet["C5"] = "red"
        validation = DataValidation(type="list", formula1='"red,light blue"')
        validation.promptTitle, validation.prompt = "A color", "Choose one of them."
        validation.add("C5")
        sheet.oddHeader.left.text, sheet.oddHeader.right.text = "Old chairs", "Page &P of &N"
        sheet.oddHeader.left.size = 12
        sheet.add_data_validation(validation)
        chart = BarChart()
        chart.title = "Old lamps"
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
        sheet.add_chart(chart, "E2")
        book.save(path)

    def test_cells(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("a.xlsx", "b.xlsx")]
            self.make(paths[0])
            done = subprocess.run([MARK, *paths], check=True, capture_output=True, text=True)
            before, after = (openpyxl.load_workbook(path).active for path in paths)
            self.assertEqual(after.title, "My sheet")
            self.assertEqual(after.tables["Furniture"].column_names, before.tables["Furniture"].column_names)
            self.assertEqual([[cell.value for cell in row] for row in after.iter_rows()],
                             [["Item", "Sum of it", "State"], ["[A] [green] [chair]", 7, "open"], ["[A] [lamp]", 12, "[closed]"],
                              [None] * 3, [before["A5"].value, "[The] [lamp] [is] [old.]", "red"]])
            self.assertEqual(after["B5"].comment.text, "[Is] [it?]\n[Yes.]")
            self.assertEqual(after["B5"].comment.author, "Somebody")
            validation = after.data_validations.dataValidation[0]
            self.assertEqual((validation.promptTitle, validation.prompt), ("[A] [color]", "[Choose] [one] [of] [them.]"))
            self.assertEqual((after.oddHeader.left.text, after.oddHeader.left.size), ("[Old] [chairs]", 12))
            self.assertEqual(after.oddHeader.right.text, "[Page] &P [of] &N")
            self.assertEqual(done.stdout.count("names it as it is"), 5)
            with zipfile.ZipFile(paths[1]) as package:
                chart = next(name for name in package.namelist() if "charts/chart" in name)
                self.assertIn(b"[Old] [lamps]", package.read(chart))


@unittest.skipUnless(opendocument, "odfpy (python3-odf) is not installed")
class OpenDocumentTest(unittest.TestCase):
    def test_paragraphs(self):
        for name in ("letter.odt", "slides.odp", "prices.ods"):
            with tempfile.TemporaryDirectory() as folder:
                paths = os.path.join(SOURCE, name), os.path.join(folder, name)
                subprocess.run([MARK, *paths], check=True, capture_output=True)
                before, after = ([teletype.extractText(p) for p in opendocument.load(path).body.getElementsByType(P)] for path in paths)
            self.assertEqual([re.sub(r"[\[\]]", "", text) for text in after], before)
            self.assertTrue(any(text.startswith("[") for text in after), after)


if __name__ == "__main__":
    unittest.main(verbosity=2)
