"""POST /detect and source "auto": the shapes of LibreTranslate's replies, each text for itself."""

import json
import unittest

from serve import Daemon

ENGLISH = "Where is the train station?"
GERMAN = "Wo ist der Bahnhof?"
DUTCH = "Kunt u mij zeggen waar het station is?"
FRENCH = "Où est la gare, s'il vous plaît ? Je voudrais rentrer."


class Detect(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--max-text-chars", "1000").start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def detect(self, q):
        return self.daemon.request("POST", "/detect", {"q": q})

    # POST /detect

    def test_one_entry_with_confidence_and_language(self):
        for text, language in ((ENGLISH, "en"), (GERMAN, "de")):
            entries = self.detect(text).json
            self.assertEqual(len(entries), 1)
            self.assertEqual(list(entries[0]), ["confidence", "language"])
            self.assertEqual(entries[0]["language"], language)
            self.assertIsInstance(entries[0]["confidence"], float)
            self.assertGreater(entries[0]["confidence"], 50)
            self.assertLessEqual(entries[0]["confidence"], 100)

    def test_undetectable_is_the_first_language_with_no_confidence(self):
        for text in (" ", "12345", "\U0001F600"):
            self.assertEqual(self.detect(text).body, b'[{"confidence":0.0,"language":"en"}]\n', text)

    def test_languages_that_no_model_has_are_named_too(self):
        for text, language in ((FRENCH, "fr"), (DUTCH, "nl"), ("Где вокзал? Я хотел бы поехать домой.", "ru")):
            [found] = self.detect(text).json
            self.assertEqual(found["language"], language)
            self.assertGreater(found["confidence"], 90)

    def test_a_script_is_never_taken_for_one_of_another_language(self):
        for text, language in (("привет", "ru"), ("شكرا", "ar"), ("你好", "zh-Hans"), ("שלום", "he"), ("नमस्ते", "hi"),
                               ("ありがとう", "ja"), ("안녕하세요", "ko"), ("Il mio computer è lento", "it")):
            self.assertEqual(self.detect(text).json[0]["language"], language)

    def test_confidence_of_short_texts_is_modest(self):
        # CLD2 says "en" to each, and calls it reliable.
        for text, most in (("Waar is het station?", 80), ("Servus", 10)):
            [found] = self.detect(text).json
            self.assertLess(found["confidence"], most)

    def test_in_every_encoding(self):
        expected = self.detect(GERMAN).body
        form = "q=Wo+ist+der+Bahnhof%3F"
        reply = self.daemon.request("POST", "/detect", form.encode(),
                                    headers={"Content-Type": "application/x-www-form-urlencoded"})
        self.assertEqual(reply.body, expected)
        self.assertEqual(self.daemon.request("POST", "/detect?" + form).body, expected)

    def test_refused(self):
        for body in ({}, {"q": ""}, {"q": None}):
            reply = self.daemon.request("POST", "/detect", body)
            self.assertEqual((reply.status, reply.json),
                             (400, {"error": "Invalid request: missing q parameter"}))
        self.assertEqual(self.detect(["a"]).status, 400)
        self.assertEqual(self.detect("a" * 1001).error,
                         "Invalid request: request (1001) exceeds text limit (1000)")
        reply = self.daemon.get("/detect")
        self.assertEqual((reply.status, reply.headers["allow"]), (405, "POST, OPTIONS"))

    # source "auto"

    def auto(self, q, **fields):
        return self.daemon.translate(q, source="auto", **fields)

    def test_detected_language_is_told_and_used(self):
        reply = self.auto(ENGLISH)
        self.assertEqual(list(reply.json), ["detectedLanguage", "translatedText"])
        self.assertEqual(reply.json["detectedLanguage"], self.detect(ENGLISH).json[0])
        self.assertEqual(reply.json["translatedText"],
                         self.daemon.translate(ENGLISH).json["translatedText"])

    def test_only_where_the_source_is_auto(self):
        self.assertNotIn("detectedLanguage", self.daemon.translate(ENGLISH).json)
        self.assertIn("detectedLanguage", self.daemon.translate(ENGLISH, source="AUTO").json)

    def test_what_is_in_the_target_language_stays(self):
        self.assertEqual(self.auto(GERMAN).json["translatedText"], GERMAN)
        self.assertEqual(self.auto(GERMAN, target="de-AT").json["translatedText"], GERMAN)

    def test_every_text_of_an_array_for_itself(self):
        reply = self.auto([ENGLISH, GERMAN, "", "Thank you very much."]).json
        self.assertEqual([d["language"] for d in reply["detectedLanguage"]], ["en", "de", "en", "en"])
        self.assertEqual(reply["translatedText"][0],
                         self.daemon.translate(ENGLISH).json["translatedText"])
        self.assertEqual(reply["translatedText"][1], GERMAN)
        self.assertEqual(reply["translatedText"][2], "")
        self.assertEqual(reply["detectedLanguage"][2]["confidence"], 0.0)

    def test_undetectable_is_translated_from_the_first_language(self):
        reply = self.auto("12345").json
        self.assertEqual(reply["detectedLanguage"], {"confidence": 0.0, "language": "en"})

    def test_short_texts_are_translated_whatever_they_may_be(self):
        for text in ("Hello.", "OK", "Timer", "Presentation"):
            reply = self.auto(text)
            self.assertEqual((reply.status, reply.json["detectedLanguage"]["language"]), (200, "en"), text)

    def test_a_language_that_no_model_takes_is_refused_by_its_name(self):
        for text, language in ((DUTCH, "Dutch (nl)"), (FRENCH, "French (fr)")):
            for q in (text, [text], [text, text]):
                reply = self.auto(q)
                self.assertEqual((reply.status, reply.error), (
                    400, f"the text seems to be in {language}, and German (de) is not available as a target language "
                         "from it; if it is in another language, name that as its source"))
            self.assertEqual(self.daemon.translate(text).status, 200)

    def test_a_script_that_no_source_is_written_in_is_refused_however_short_the_text_is(self):
        for text, language in (("ありがとう", "Japanese (ja)"), ("привет", "Russian (ru)"), ("안녕하세요", "Korean (ko)"),
                               ("你好", "Chinese (Simplified) (zh-Hans)"), ("<b>שלום</b>", "Hebrew (he)"), ("Où est la gare ?", "French (fr)")):
            message = (f"the text seems to be in {language}, and German (de) is not available as a target language "
                       "from it; if it is in another language, name that as its source")
            reply = self.auto(text, format="html" if text[0] == "<" else "text")
            self.assertEqual((reply.status, reply.json), (400, {"error": message}), text)
            reply = self.daemon.request("POST", "/v2/translate", {"text": [text], "target_lang": "DE"})
            self.assertEqual((reply.status, reply.json), (400, {"message": message}), text)

    def test_signs_and_names_are_no_script(self):
        for text in ("π", "α, β, γ", "Δx = 5", "Tolstoy (Лев Толстой)", "12:30", "★★★★☆"):
            reply = self.auto(text)
            self.assertEqual((reply.status, reply.json["detectedLanguage"]["language"]), (200, "en"), text)

    def test_a_word_is_in_the_language_of_the_texts_beside_it(self):
        for word in ("Delete", "Help", "Hi", "OK", "Cancel", "Home"):
            alone = self.auto(word).json
            self.assertEqual(alone["detectedLanguage"]["language"], "en")
            self.assertEqual(alone["translatedText"], self.daemon.translate(word).json["translatedText"])
        # "Test" may be either; among German texts it is German, and stays.
        page = self.auto(["Test", GERMAN, "Das Wetter ist heute sehr schön."]).json
        self.assertEqual([d["language"] for d in page["detectedLanguage"]], ["de", "de", "de"])
        page = self.auto(["Test", ENGLISH, GERMAN]).json
        self.assertEqual([d["language"] for d in page["detectedLanguage"]], ["en", "en", "de"])

    def test_beside_others_it_is_no_reason_to_refuse_them(self):
        reply = self.auto([ENGLISH, DUTCH]).json
        self.assertEqual([d["language"] for d in reply["detectedLanguage"]], ["en", "nl"])
        self.assertEqual(reply["translatedText"], self.daemon.translate([ENGLISH, DUTCH]).json["translatedText"])

    def test_languages_without_a_way_to_the_target_are_refused(self):
        reply = self.auto(GERMAN, target="en")
        self.assertEqual(reply.status, 400)
        self.assertRegex(reply.error, "^the text seems to be in German")

    def test_with_everything_else_in_the_reply(self):
        reply = self.auto(ENGLISH, alternatives=1, return_scores=True, return_usage=True, alignment=True)
        self.assertEqual(list(reply.json), ["alignment", "alternatives", "detectedLanguage", "scores",
                                            "translatedText", "usage"])
        self.assertTrue(reply.json["alignment"])
        identity = self.auto(GERMAN, alignment=True, return_scores=True).json
        self.assertEqual((identity["alignment"], identity["translatedText"]), ([], GERMAN))

    def test_unknown_target_is_refused(self):
        self.assertEqual(self.auto(ENGLISH, target="zz").error, "zz is not supported")

    def test_bytes_are_those_of_the_contract(self):
        body = self.auto(["12345"]).body.decode()
        self.assertIn('"detectedLanguage":[{"confidence":0.0,"language":"en"}]', body)
        self.assertEqual(json.loads(body)["detectedLanguage"][0]["confidence"], 0)


if __name__ == "__main__":
    unittest.main()
