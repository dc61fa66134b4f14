"""Glossary and do_not_translate of POST /translate: what the reader gets, what the reply says."""

import json
import random
import re
import unittest
import urllib.parse

from html_tree import parse
from serve import Daemon

GLOSSARY = {"train station": "Hauptbahnhof", "house": "Zuhause", "sushi": "Sushi & Co."}
NAMES = ["Zorvex", "Acme Cloud Suite", "foo-bar", "C++", "iPhone", "Müller & Söhne"]
FRAMES = ["I like {}.", "Where is {}?", "The old {} is in the garden.", "My brother has seen {} and {}.",
          "{} is not {}, but he knows it.", "Tom said that {} was good."]


class Glossary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--max-glossary-terms", "20").start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def reply(self, q, **fields):
        reply = self.daemon.translate(q, **fields)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def refused(self, status, text, **fields):
        reply = self.daemon.translate("The house.", **fields)
        self.assertEqual((reply.status, reply.json), (status, {"error": text}))

    def test_the_given_translation_stands_in_its_place(self):
        reply = self.reply("Where is the train station?", glossary=GLOSSARY)
        self.assertEqual(reply, {
            "terms": [{"source": "train station", "target": "Hauptbahnhof", "found": 1, "applied": 1}],
            "translatedText": "Wo ist der Hauptbahnhof?"})
        self.assertEqual(list(reply), sorted(reply))

    def test_a_form_that_the_model_wrote_stays(self):
        forms = {"train station": "Zughalt|Zughalts|Bahnhof|Bahnhofs", "house": "Bau|Bauten"}
        for q, wanted, written in (("Where is the train station?", "Wo ist der Bahnhof?", 1),
                                   ("Where is the house?", "Wo ist das Bau?", 0)):
            reply = self.reply(q, glossary=forms)
            self.assertEqual(reply["translatedText"], wanted)
            self.assertEqual([(t["applied"], t["written"]) for t in reply["terms"]], [(1, written)])
        reply = self.reply("Where is the <b>train station</b>?", format="html", glossary=forms)
        self.assertEqual(reply["translatedText"], "Wo ist der <b>Bahnhof</b>?")
        reply = self.reply("Where is the house?", glossary={"house": "Bau | Haus"})
        self.assertEqual(reply["translatedText"], "Wo ist das Bau | Haus?")
        self.assertNotIn("written", reply["terms"][0])

    def test_a_list_says_the_same_as_an_object(self):
        pairs = [{"source": s, "target": t} for s, t in GLOSSARY.items()]
        self.assertEqual(self.reply("Where is the house?", glossary=pairs),
                         self.reply("Where is the house?", glossary=GLOSSARY))

    def test_forms_hold_json(self):
        fields = {"q": "Where is the train station?", "source": "en", "target": "de",
                  "glossary": json.dumps(GLOSSARY), "do_not_translate": "Where"}
        reply = self.daemon.request("POST", "/translate", urllib.parse.urlencode(fields).encode(),
                                    headers={"Content-Type": "application/x-www-form-urlencoded"})
        self.assertEqual(reply.json["translatedText"], "Where ist der Hauptbahnhof?")

    def test_in_html_within_its_tags_and_escaped(self):
        reply = self.reply("<p>Where is the <b>train\n station</b>? I hate <i>sushi</i>.</p>", format="html",
                           glossary=GLOSSARY)
        self.assertEqual(reply["translatedText"],
                         "<p>Wo ist der <b>Hauptbahnhof</b>? Ich hasse <i>Sushi &amp; Co.</i>.</p>")
        self.assertEqual([t["applied"] for t in reply["terms"]], [1, 1])

    def test_not_in_what_is_left_alone(self):
        html = '<pre>house</pre><p>See <code>house</code> at https://house.example/house.</p><p title="house">Yes.</p>'
        reply = self.reply(html, format="html", glossary={"house": "XX"})
        self.assertEqual(reply["terms"], [])
        self.assertNotIn("XX", reply["translatedText"])

    def test_in_alternatives_too(self):
        for fields in ({}, {"format": "html"}):
            q = "<p>My house is very <b>old</b>.</p>" if fields else "My house is very old."
            reply = self.reply(q, glossary=GLOSSARY, alternatives=3, **fields)
            for text in (reply["translatedText"], *reply["alternatives"]):
                self.assertIn("Zuhause", text)
                if fields:
                    self.assertEqual(parse(text).shape(), parse(q).shape())

    def test_terms_that_match_nothing_change_nothing(self):
        texts = ["Where is the cat?", "I have a dog. He is big.\n\nYes.", " {name} is here. "]
        plain = self.reply(texts)["translatedText"]
        self.assertEqual(self.reply(texts, glossary=GLOSSARY), {"terms": [], "translatedText": plain})

    def test_a_text_that_is_nothing_but_the_term(self):
        self.assertEqual(self.reply(["Train station", "train station.", "Zorvex", "C++!"], glossary=GLOSSARY,
                                    do_not_translate=["Zorvex", "C++"])["translatedText"],
                         ["Hauptbahnhof", "Hauptbahnhof.", "Zorvex", "C++!"])

    def test_what_was_not_honoured_is_said(self):
        # The model leaves "about Tom" out, so nothing is there to be replaced.
        reply = self.reply("I'm very sorry about Tom.", glossary={"about": "bezüglich"})
        self.assertEqual(reply["terms"], [{"source": "about", "target": "bezüglich", "found": 1, "applied": 0,
                                           "reason": "no word of the translation came from it"}])
        self.assertNotIn("bezüglich", reply["translatedText"])

    def test_what_stays_survives_in_every_sentence(self):
        chance = random.Random(3)
        for i in range(120):
            frame = FRAMES[i % len(FRAMES)]
            names = chance.sample(NAMES, frame.count("{}"))
            q = frame.format(*names)
            reply = self.reply(q, do_not_translate=NAMES)
            for name in names:
                self.assertEqual(reply["translatedText"].count(name), 1, (q, reply))
            self.assertEqual({t["source"]: t["applied"] for t in reply["terms"]}, {n: 1 for n in names})

    def test_applied_is_true_of_the_text(self):
        words = ["house", "cat", "brother", "book", "garden", "water"]
        for i, word in enumerate(words):
            other = words[i - 1]
            q = f"My {word} is in the {other}. I see a {word} here. He has no {word}, but I like {other}."
            reply = self.reply(q, glossary={word: "Qwertz", other: "Asdfg"})
            for term in reply["terms"]:
                n = len(re.findall(rf"\b{term['target']}\b", reply["translatedText"]))
                self.assertEqual(n, term["applied"], (q, reply))
                self.assertEqual("reason" in term, term["applied"] < term["found"])
                self.assertEqual(term["found"], q.count(term["source"]))

    def test_more_than_a_paragraph_takes(self):
        reply = self.reply("<p>" + "Zorvex is here. " * 400 + "</p>", format="html", do_not_translate=["Zorvex"])
        term = reply["terms"][0]
        self.assertEqual((term["found"], term["applied"]), (400, 400))
        text = self.reply("Zorvex " * 400, do_not_translate=["Zorvex"])
        self.assertEqual(text["translatedText"].count("Zorvex"), 400)

    def test_refused(self):
        shape = ('glossary: expected {"term": "translation"} or [{"source": "term", "target": "translation"}], '
                 'all of them strings')
        for value in (5, "x", [1], [{"source": "a"}], {"a": 1}, [{"target": "a"}], [None]):
            self.refused(400, shape, glossary=value)
        for value in (5, [1], {"a": "b"}):
            self.refused(400, "do_not_translate: expected an array of strings", do_not_translate=value)
        self.refused(413, "glossary: more than 20 terms, which are allowed in one request",
                     glossary={str(i): "x" for i in range(21)})
        self.refused(400, "glossary: found a blank term, expected words", glossary={"a": " "})
        self.refused(400, 'glossary: "a" is to become "b", but before it was to become "a"',
                     do_not_translate=["a"], glossary={"a": "b"})
        self.refused(400, "alignment cannot be had together with glossary or do_not_translate",
                     glossary=GLOSSARY, alignment=True)


if __name__ == "__main__":
    unittest.main()
