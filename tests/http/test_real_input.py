"""What people really type, with the bundled models: real_input.jsonl, a line for each check (what is no translation of
one text has a test below it). It holds the kind, the
target ("auto->de": the source is to be detected), the text, and what must hold of its translation:

  "is"       this, or one of these; true: the text itself
  "has"      parts, each at least once      "lacks"   parts that would be from nowhere
  "signs"    all that is no word and no matter of typography, in its order
  "matches"  a regular expression
  "html"     the text is HTML: its tags in their order, and text where there was text
  "file"     the text is a file of this name: the same of the answer that is downloaded
  "refused"  the request is, with 400, and says this
  "model"    why it does not hold yet, and only another model can mend it; to be taken away when it does

Besides, of each: no character that stands for a broken one, no blank that is doubled, no word said three times, and not many more
words than the text has.
"""

import json
import pathlib
import re
import unicodedata
import unittest

from request_encodings import BOUNDARY
from serve import ROOT, Daemon

CHECKS = [json.loads(line) for line in
          (pathlib.Path(__file__).parent / "real_input.jsonl").read_text("utf-8").splitlines()]
TYPOGRAPHY = set(".,'\"!?;:-()[]“”„«»‘’%$€。、！？：；「」（）・… \u00a0\u202f\n\t")


def signs(text):
    return [c for c in text if c not in TYPOGRAPHY and not c.isalpha() and not c.isspace()
            and not unicodedata.category(c).startswith(("C", "M"))]


def n_words(text):
    return len(re.findall(r"[^\W\d_]+", text))


def frame(html):
    """Its tags, and whether there is text between them."""
    return [part if part.startswith("<") else bool(part.strip()) for part in re.split(r"(<[^>]+>)", html)]


def parts(value):
    return [value] if isinstance(value, str) else value


def faults(check, answer):
    text, target, found = check["text"], check["to"], []

    def must(holds, what):
        if not holds:
            found.append(what)

    must("\ufffd" not in answer, "U+FFFD")
    must(answer.count("  ") <= text.count("  "), "a doubled blank")
    again = re.search(r"(\b[^\W\d_]+\b)(?:[ -]\1\b){2}", answer, re.I)
    must(not again or re.search(r"(\b[^\W\d_]+\b)(?:[ -]\1\b){2}", text, re.I), "a word three times")
    if target.endswith("ja"):
        must(sum(map(str.isalpha, answer)) <= 2.5 * sum(map(str.isalpha, text)) + 6, "many letters")
    else:
        must(n_words(answer) <= 2 * n_words(text) + 2, "many words")
    if "is" in check:
        must(answer in (parts(text) if check["is"] is True else parts(check["is"])), f"not {check['is']!r}")
    for part in parts(check.get("has", [])):
        must(part in answer, f"lacks {part!r}")
    for part in parts(check.get("lacks", [])):
        must(part not in answer, f"has {part!r}")
    if "signs" in check:
        must(signs(answer) == signs(text), f"signs {signs(answer)}")
    if "matches" in check:
        must(re.search(check["matches"], answer), f"does not match {check['matches']!r}")
    if "html" in check:
        must(frame(answer) == frame(text), "another frame")
    return found


class RealInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--models-directory", str(ROOT / "weights"), model=None).start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def translate(self, fields):
        return self.daemon.request("POST", "/translate", fields)

    def translate_file(self, name, text, target):
        body = "".join(f'--{BOUNDARY}\r\nContent-Disposition: form-data; name={head}\r\n\r\n{value}\r\n' for head, value in
                       (('"source"', "en"), ('"target"', target), (f'"file"; filename="{name}"', text)))
        reply = self.daemon.request("POST", "/translate_file", f"{body}--{BOUNDARY}--\r\n".encode(),
                                    headers={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"})
        self.assertEqual(reply.status, 200, reply)
        return self.daemon.get("/download_file/" + reply.json["translatedFileUrl"].rsplit("/", 1)[1]).body.decode()

    def answer(self, check):
        """None where a refusal was wanted and came."""
        target = check["to"].removeprefix("auto->")
        if "file" in check:
            return self.translate_file(check["file"], check["text"], target)
        reply = self.daemon.request("POST", "/translate", {
            "q": check["text"], "source": "en" if target == check["to"] else "auto", "target": target,
            "format": "html" if "html" in check else "text"})
        if "refused" in check:
            self.assertEqual(reply.status, 400, reply)
            self.assertIn(check["refused"], reply.error)
            return None
        self.assertEqual(reply.status, 200, reply)
        return reply.json["translatedText"]

    def test_what_people_type(self):
        self.assertGreater(len(CHECKS), 300)
        for check in CHECKS:
            with self.subTest(check["kind"], to=check["to"], text=check["text"]):
                answer = self.answer(check)
                if answer is not None:
                    found = faults(check, answer)
                    self.assertEqual(bool(found), "model" in check, f"{answer!r}: {'; '.join(found) or 'right'}")

    def post(self, **fields):
        reply = self.daemon.request("POST", "/translate", {"source": "en", "target": "de", **fields})
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def test_alternatives_never_differ_in_signs_alone(self):
        for text in ("Hello", "5", "Good night!"):
            reply = self.post(q=text, alternatives=3)
            bare = ["".join(filter(str.isalnum, each.lower())) for each in
                    [reply["translatedText"], *reply["alternatives"]]]
            self.assertEqual(len(set(bare)), len(bare), reply)

    def test_a_number_that_its_word_makes_another_is_named_with_the_word(self):
        warnings = self.post(q="It costs 1.5 million dollars.", target="ja").get("warnings", [])
        self.assertIn((["1.5 million"], ["1.5万"]), [(w.get("missing"), w.get("added")) for w in warnings])

    def test_numbers_are_right_or_named(self):
        for text, wanted in (("½ cup of sugar", "½ Tasse Zucker"), ("1,234.56", "1.234,56"),
                             ("10 × 20 cm", "10 × 20 cm"), ("SW1A 2AA", "SW1A 2AA")):
            reply = self.post(q=text)
            self.assertTrue(reply["translatedText"] == wanted or "warnings" in reply, reply)

    def test_languages_are_detected(self):
        for text, language in (("привет", "ru"), ("Il mio computer è lento", "it"), ("شكرا", "ar"),
                               ("你好", "zh-Hans")):
            self.assertEqual(self.daemon.request("POST", "/detect", {"q": text}).json[0]["language"], language, text)

    def test_transport(self):
        mark = self.daemon.request("POST", "/translate", b'\xef\xbb\xbf{"q": "Hello", "source": "en", "target": "de"}',
                                   headers={"Content-Type": "application/json"})
        self.assertEqual(mark.status, 200, mark)
        self.assertIn("message", self.daemon.get("/v2/translate").json)
        self.assertEqual(len(self.post(q=["Hello"] * 381)["translatedText"]), 381)

    def test_placeholders_that_are_there_are_not_called_lost(self):
        reply = self.post(q="Page %from% to %to% of %total%")
        self.assertNotIn("placeholders_lost", reply)
        for placeholder in ("%from%", "%to%", "%total%"):
            self.assertIn(placeholder, reply["translatedText"])


if __name__ == "__main__":
    unittest.main()
