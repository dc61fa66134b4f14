#!/usr/bin/python3
"""Makes the documents beside it with python-docx (python3-docx), and with LibreOffice (libreoffice-writer-nogui, -calc-nogui,
-impress-nogui) those of OpenDocument and a book: make_documents.py [FOLDER]."""
import os
import subprocess
import sys

import docx
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))


def field(paragraph, instruction, result):
    """A field, each part in a run of its own, as Word writes it."""
    for kind in ("begin", None, "separate", result, "end"):
        run = paragraph.add_run()
        if kind is None:
            element = OxmlElement("w:instrText")
            element.text = instruction
            element.set(qn("xml:space"), "preserve")
        elif kind == result:
            run.text = result
            continue
        else:
            element = OxmlElement("w:fldChar")
            element.set(qn("w:fldCharType"), kind)
        run._r.append(element)


def link(paragraph, words):
    element = OxmlElement("w:hyperlink")
    element.set(qn("w:anchor"), "top")
    run = paragraph.add_run(words)
    run.underline = True
    element.append(run._r)
    paragraph._p.append(element)


def split(paragraph, *pieces):
    """A word in several runs, with the marks that Word leaves between them."""
    for number, piece in enumerate(pieces):
        run = paragraph.add_run(piece)
        run._r.set(qn("w:rsidR"), f"00A{number:05}")
        properties = run._r.get_or_add_rPr()
        lang = OxmlElement("w:lang")
        lang.set(qn("w:val"), "en-US" if number % 2 else "en-GB")
        properties.append(lang)
        mark = OxmlElement("w:proofErr")
        mark.set(qn("w:type"), "spellStart" if number % 2 else "spellEnd")
        paragraph._p.append(mark)


def deleted(paragraph, words):
    element = OxmlElement("w:del")
    element.set(qn("w:id"), "7")
    element.set(qn("w:author"), "A")
    run = OxmlElement("w:r")
    text = OxmlElement("w:delText")
    text.text = words
    run.append(text)
    element.append(run)
    paragraph._p.append(element)


def text_box(paragraph, words):
    """A shape as Word writes it, with the older form as its fallback."""
    xml = f"""<w:r xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"
      xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
      xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
      xmlns:v="urn:schemas-microsoft-com:vml"><mc:AlternateContent><mc:Choice Requires="wps">
      <wps:txbx><w:txbxContent><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:txbxContent></wps:txbx>
      </mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>{words}</w:t></w:r>
      </w:p></w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"""
    paragraph._p.append(parse_xml(xml))


def save(document, name):
    """Without what makes the template large: themes, a picture, styles that nobody uses."""
    package = document.part.package
    for part in (package, document.part):
        for key, rel in list(part.rels.items()):
            if rel.reltype.rsplit("/", 1)[-1] in ("thumbnail", "theme", "stylesWithEffects"):
                del part.rels[key]
    used = {"Normal", "Heading1", "ListBullet", "Header", "Footer", "DefaultParagraphFont", "TableNormal"}
    styles = document.styles.element
    for element in list(styles):
        if element.tag == qn("w:latentStyles") or element.tag == qn("w:style") and element.get(qn("w:styleId")) not in used:
            styles.remove(element)
    document.save(os.path.join(FOLDER, name))


def letter():
    document = docx.Document()
    document.add_heading("The house by the river", 1)
    paragraph = document.add_paragraph("Please press the ")
    paragraph.add_run("red").bold = True
    paragraph.add_run(" button and wait.")
    paragraph = document.add_paragraph()
    split(paragraph, "The tr", "ain sta", "tion is closed.")
    paragraph = document.add_paragraph("Name:\tPeter & Paul")
    paragraph.add_run().add_break()
    paragraph.add_run("The second line is here.")
    document.add_paragraph("The first item is big.", style="List Bullet")
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text = "The price is high."
    table.cell(0, 1).text = "42"
    section = document.sections[0]
    section.header.paragraphs[0].text = "This is the header."
    footer = section.footer.paragraphs[0]
    footer.add_run("Page ")
    field(footer, " PAGE ", "3")
    footer.add_run(" of the report")
    save(document, "letter.docx")


def fields():
    document = docx.Document()
    paragraph = document.add_paragraph("We saw ")
    link(paragraph, "the old bridge")
    paragraph.add_run(" yesterday.")
    paragraph = document.add_paragraph("The tower is high")
    deleted(paragraph, " and ugly")
    paragraph.add_run(".")
    paragraph = document.add_paragraph("Please read ")
    field(paragraph, ' REF _Ref1 \\h ', "the next chapter")
    paragraph.add_run(" today.")
    paragraph = document.add_paragraph("The garden is beautiful. ")  # the text box parts two texts
    text_box(paragraph, "The box is empty.")
    paragraph.add_run("The children play outside.")
    save(document, "fields.docx")


letter()
fields()
for source, kind in (("letter.fodt", "odt"), ("letter.fodt", "epub"), ("prices.fods", "ods"), ("slides.fodp", "odp")):
    subprocess.run(["soffice", "--headless", "--convert-to", kind, "--outdir", FOLDER,
                    os.path.join(os.path.dirname(os.path.abspath(__file__)), source)], check=True)
