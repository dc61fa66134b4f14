#!/usr/bin/env python3
"""What becomes of real pages, of which a directory is full:

  tests/tools/real_pages.py PAGES [--model weights/en-de] [--only untranslated|elements|properties]

untranslated  with translate="no" on <html>: each page comes back equal to the byte
elements      translated: as many elements that hold letters as before, of each tag
properties    under an engine that returns its input: equal to the byte; under one that marks each word:
              no letter or code lost or doubled, no element emptied (tests/unit/.../passages)

Needs `./run` (build/release; ATTENTIOND names another program) and for the properties `./test passages`
(build/test). Ends with 1 where a page is not so, and says which. Pages that are good for it: mozilla/readability's test/test-pages/*/source.html, each under a
name of its own."""

import argparse
import collections
import html.parser
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("ATTENTIOND", str(ROOT / "build/release/attentiond"))
# Numbers whose letters other languages do without: 22nd is 22., and 6:17pm is 18:17.
LOCAL = re.compile(r"\b\d+(st|nd|rd|th)\b|\b\d{1,2}(:\d\d)? ?[ap]\.?m\b\.?", re.I)
VOID = set("area base br col embed hr img input link meta source track wbr param".split())


class Elements(html.parser.HTMLParser):
    """Each element that is closed: its tag, its words, where it begins."""

    def __init__(self, page):
        super().__init__()
        self.open, self.closed = [], []
        self.feed(page.read_text(encoding="utf-8", errors="replace"))

    def handle_starttag(self, tag, attrs):
        # What a translation brings itself: <span dir="auto">, <span lang="ja">.
        is_ours = tag == "span" and all(name in ("lang", "dir") for name, _ in attrs)
        if tag not in VOID and not is_ours:
            self.open.append([tag, "", self.getpos()])

    def handle_endtag(self, tag):
        for i in range(len(self.open) - 1, -1, -1):
            if self.open[i][0] == tag:
                self.closed += self.open[i:]
                del self.open[i:]
                break

    def handle_data(self, data):
        if not (self.open and self.open[-1][0] in ("script", "style")):
            for element in self.open:
                element[1] += data.strip()[:60] + " "

    def of_letters(self):
        return [element for element in self.closed if any(map(str.isalpha, LOCAL.sub("", element[1])))]


def translate(page, model):
    """The page's translation; greedy, because it is about what is kept and not how good it is."""
    return subprocess.run([PROGRAM, "translate", "--model", model, "--beam-size", "1", str(page)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def check_untranslated(page, args, folder):
    source = page.read_bytes()
    # All of them: some stand in comments for old programs.
    marked = re.sub(rb"<html(?=[\s>])", rb'<html translate="no"', source, flags=re.I)
    if marked == source:
        marked = b'<html translate="no">' + source
    other = folder / page.name
    other.write_bytes(marked)
    return [] if translate(other, args.model) == marked else ["not equal to the byte"]


def check_elements(page, args, folder):
    translated = folder / page.name
    translated.write_bytes(translate(page, args.model))
    before, after = Elements(page).of_letters(), Elements(translated).of_letters()
    lost = collections.Counter(tag for tag, _, _ in before)
    lost -= collections.Counter(tag for tag, _, _ in after)
    check_elements.total += len(before)
    return [f"{n} of <{tag}>" for tag, n in lost.items()]


def check_properties(args):
    """One program for all pages."""
    test = ROOT / "build/test/tests/unit/test_passage_properties"
    env = dict(os.environ, MT_TEST_PAGES=str(args.pages.resolve()), MT_SOURCE_DIR=str(ROOT),
               CK_RUN_CASE="pages")
    return subprocess.run([test, "passage_properties"], env=env).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", type=pathlib.Path)
    parser.add_argument("--model", default=str(ROOT / "weights/en-de"))
    parser.add_argument("--only", choices=["untranslated", "elements", "properties"])
    args = parser.parse_args()
    pages = sorted(path for path in args.pages.iterdir() if path.suffix in (".html", ".htm"))
    is_right = bool(pages)
    check_elements.total = 0
    for name, check in ("untranslated", check_untranslated), ("elements", check_elements):
        if args.only not in (None, name):
            continue
        n_right = 0
        for page in pages:
            with tempfile.TemporaryDirectory() as folder:
                wrong = check(page, args, pathlib.Path(folder))
            n_right += not wrong
            if wrong:
                print(f"{name}: {page.name}: {', '.join(wrong)}")
        print(f"{name}: {n_right} of {len(pages)} pages")
        is_right = is_right and n_right == len(pages)
    if check_elements.total:
        print(f"elements: {check_elements.total} with letters")
    if args.only in (None, "properties"):
        is_right = check_properties(args) and is_right
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
