#!/usr/bin/env python3
"""How fast a document of Word's is read whose document.xml has 10 MB: read_document.py [BUILD], default build/release.
Its paragraphs are of three runs, with what Word writes around words. Exit code 1: at less than 50 MB/s."""
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release"
LENGTH, LEAST = 10_000_000, 50
TYPES = ('<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" '
         'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>')
WORDS = ("The train to the coast stands at the station, ", "and nobody ", "on the platform knows when it will leave.")


def run(number, words, bold):
    return (f'<w:r w:rsidR="{number % 0xffffff:08X}"><w:rPr><w:rFonts w:ascii="Arial" w:hAnsi="Arial"/>{bold}<w:sz w:val="22"/>'
            f'<w:lang w:val="en-US"/></w:rPr><w:t xml:space="preserve">{words}</w:t></w:r>')


def paragraph(number):
    bold = "<w:b/>" if number % 3 == 0 else ""
    return (f'<w:p w:rsidR="{number:08X}" w:rsidRDefault="00AB12CD"><w:pPr><w:pStyle w:val="Normal"/><w:spacing w:after="120"/></w:pPr>'
            f'{run(number, WORDS[0], "")}<w:proofErr w:type="spellStart"/>{run(number * 7, WORDS[1], bold)}'
            f'<w:proofErr w:type="spellEnd"/>{run(number * 11, f"{number} {WORDS[2]}", "")}</w:p>\r\n')


paragraphs = "".join(map(paragraph, range(LENGTH // len(paragraph(1000)) + 1)))
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "a.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", TYPES)
        package.writestr("word/document.xml", '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
                                              f"<w:body>{paragraphs}</w:body></w:document>")
    said = subprocess.run([BUILD / "tests/bench/read_document", path], check=True, stdout=subprocess.PIPE, text=True).stdout
print(said, end="")
sys.exit(float(re.search(r"([\d.]+) MB/s", said)[1]) < LEAST)
