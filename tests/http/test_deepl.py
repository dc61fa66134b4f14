"""DeepL's shapes: what its clients send, what they get, and each refusal with its code."""

import os
import re
import sys
import tempfile
import unittest
import urllib.parse

from serve import Daemon

STATION, BAHNHOF = "Where is the train station?", "Wo ist der Bahnhof?"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Deepl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--max-text-chars", "300", "--max-batch-texts", "5").start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0 and "Sanitizer" not in cls.daemon.log, cls.daemon.log

    def translate(self, fields, headers=None):
        return self.daemon.request("POST", "/v2/translate", fields, headers)

    def texts(self, reply):
        self.assertEqual(reply.status, 200, reply)
        return [translation["text"] for translation in reply.json["translations"]]

    def test_json(self):
        reply = self.translate({"text": [STATION], "target_lang": "DE"})
        self.assertEqual(reply.body.decode(),
                         '{"translations":[{"detected_source_language":"EN","text":"%s"}]}\n' % BAHNHOF)
        self.assertEqual(reply.headers["content-type"], "application/json")
        self.assertEqual(self.texts(self.translate({"text": STATION, "target_lang": "de", "source_lang": "en-GB"})),
                         [BAHNHOF])

    def test_forms_repeat_text(self):
        fields = [("text", STATION), ("target_lang", "DE"), ("text", ""), ("text", "I am tired."), ("source_lang", "EN")]
        expected = self.daemon.translate([STATION, "", "I am tired."]).json["translatedText"]
        self.assertEqual(self.texts(self.translate(urllib.parse.urlencode(fields), FORM)), expected)
        boundary = "x1"
        parts = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                        for name, value in fields) + f"--{boundary}--\r\n"
        reply = self.translate(parts, {"Content-Type": f"multipart/form-data; boundary={boundary}"})
        self.assertEqual(self.texts(reply), expected)

    def test_other_fields_are_not_repeated(self):
        fields = [("text", STATION), ("target_lang", "DE"), ("target_lang", "FR")]
        reply = self.translate(urllib.parse.urlencode(fields), FORM)
        self.assertEqual((reply.status, reply.json), (400, {"message": 'malformed form: field "target_lang" appears twice'}))

    def test_languages_are_detected_each(self):
        reply = self.translate({"text": [STATION, "Guten Morgen, wie geht es Ihnen heute?"], "target_lang": "DE"})
        self.assertEqual([t["detected_source_language"] for t in reply.json["translations"]], ["EN", "DE"])

    def test_html(self):
        html = '<p>The <x-1>red</x-1> house is <em translate="no">old</em> and <B>big</B>.</p>'
        fields = {"text": [html], "target_lang": "DE", "source_lang": "EN", "tag_handling": "html"}
        plain, = self.texts(self.translate(fields))
        self.assertEqual(plain, self.daemon.translate(html, format="html").json["translatedText"])
        for tags in ["x-1", "b"], "x-1,b", " X-1 , B":
            kept, = self.texts(self.translate({**fields, "ignore_tags": tags}))
            self.assertIn("<x-1>red</x-1>", kept)
            self.assertIn("<B>big</B>", kept)
        self.assertNotIn("<x-1>red</x-1>", plain)
        ours = self.daemon.translate(html, format="html", ignore_tags=["x-1", "b"]).json["translatedText"]
        self.assertEqual(ours, kept)

    def test_weblates_requests(self):
        """As its deepl.py sends them: what it protects comes back as it was, each once. It asks for languages and, as a text of its
        own has a glossary perhaps, for the pairs that have one; an answer other than 200 ends the translation."""
        key = {"Authorization": "DeepL-Auth-Key k"}
        for kind, code in ("source", "EN"), ("target", "DE"):
            reply = self.daemon.get(f"/v2/languages?type={kind}", headers=key)
            self.assertIn(code, [item["language"] for item in reply.json])
        reply = self.daemon.get("/v2/glossary-language-pairs", headers=key)
        self.assertEqual((reply.status, reply.json), (200, {"supported_languages": []}))
        texts = ['There are <x id="10"></x> books in the house.', 'I love <x id="7"></x>.',
                 "Fish &amp; chips for everybody", 'My father bought the <x id="21"></x> and the <x id="26"></x>.']
        reply = self.translate({"text": texts, "source_lang": "EN", "target_lang": "DE", "formality": "default",
                                "tag_handling": "xml", "ignore_tags": ["x"], "context": "a shop",
                                "model_type": "prefer_quality_optimized"}, key)
        translated = self.texts(reply)
        for text, translation in zip(texts, translated):
            self.assertEqual(sorted(re.findall("<[^>]*>|&[a-z]+;", translation)),
                             sorted(re.findall("<[^>]*>|&[a-z]+;", text)), translation)
            self.assertEqual(translation.count('"></x>'), text.count('"></x>'))
            self.assertNotEqual(translation, text)
        self.assertRegex(translated[0], '^Es gibt .*<x id="10"></x>')

    def test_omegats_requests(self):
        """Its connector sends plain text with its tags in it."""
        for text in ("<g1>Where</g1> is the <g2>train station</g2>?", "Press <g1>the button</g1><x2/> and wait.",
                     "I am tired.<x1/>"):
            translation, = self.texts(self.translate(urllib.parse.urlencode(
                [("text", text), ("target_lang", "DE-DE"), ("source_lang", "EN"), ("split_sentences", "0")]),
                {**FORM, "Authorization": "DeepL-Auth-Key k"}))
            self.assertEqual(sorted(re.findall("<[^>]*>", translation)), sorted(re.findall("<[^>]*>", text)))
            self.assertNotEqual(translation, text)

    def test_xml(self):
        station = "<doc><p>%s</p><p>The <b>house</b> is red.</p></doc>"
        fields = {"text": [station % STATION], "target_lang": "DE", "source_lang": "EN", "tag_handling": "xml"}
        text, = self.texts(self.translate(fields))
        self.assertTrue(text.startswith(f"<doc><p>{BAHNHOF}</p><p>Das <b>Haus</b> ist"), text)
        self.assertEqual(text, self.daemon.translate(fields["text"][0], format="xml").json["translatedText"])
        # A tag that parts texts, by its name or by default.
        line = "Where is <s>the train station?</s>"
        whole, = self.texts(self.translate({**fields, "text": [line]}))
        self.assertEqual(whole.replace("<s>", "").replace("</s>", ""), BAHNHOF)
        parted, = self.texts(self.translate({**fields, "text": [line], "splitting_tags": "s"}))
        alone = self.daemon.translate("the train station?").json["translatedText"]
        self.assertTrue(parted.endswith(f"<s>{alone}</s>"), parted)
        cells = "<r><c>I am tired.</c><c>She is my sister.</c></r>"
        forms = [[("text", cells), ("target_lang", "DE"), ("source_lang", "EN"), ("tag_handling", "xml"), *more]
                 for more in ([("outline_detection", "0")], [("non_splitting_tags", "b"), ("non_splitting_tags", "c")])]
        for form in forms:
            text, = self.texts(self.translate(urllib.parse.urlencode(form), FORM))
            self.assertEqual(sorted(re.findall("<[^>]*>", text)), sorted(re.findall("<[^>]*>", cells)))
        for field in "alignment", "return_sentences":
            reply = self.daemon.translate("<b>a</b>", format="xml", **{field: True})
            self.assertEqual((reply.status, reply.error), (400, f"{field} is for format text, but format is xml"))

    def test_whole_blocks_can_be_ignored(self):
        html = "<div><p>Good morning.</p></div><note><p>Good morning.</p></note>"
        text, = self.texts(self.translate({"text": [html], "target_lang": "DE", "source_lang": "EN",
                                           "tag_handling": "html", "ignore_tags": ["note"]}))
        self.assertTrue(text.endswith("<note><p>Good morning.</p></note>"), text)
        self.assertNotIn("<div><p>Good morning.", text)

    def test_billed_characters(self):
        reply = self.translate({"text": ["\u00e9t\u00e9 \U0001F600"], "target_lang": "DE", "source_lang": "EN",
                                "show_billed_characters": True})
        self.assertEqual(reply.json["translations"][0]["billed_characters"], 5)

    def test_refusals(self):
        good = {"text": [STATION], "target_lang": "DE"}
        for change, code, message in (
                ({"text": None}, 400, "Parameter 'text' not specified."),
                ({"text": []}, 400, "Parameter 'text' not specified."),
                ({"text": [1]}, 400, "Parameter 'text' must be an array of strings."),
                ({"text": {"a": "b"}}, 400, "Parameter 'text' must be an array of strings."),
                ({"target_lang": None}, 400, "Value for 'target_lang' not supported."),
                ({"target_lang": "FR"}, 400, "Value for 'target_lang' not supported."),
                ({"source_lang": 1}, 400, "source_lang: expected a string, found 1"),
                ({"source_lang": "FR"}, 400, "Value for 'source_lang' not supported."),
                ({"split_sentences": "2"}, 400, "Value for 'split_sentences' not supported."),
                ({"tag_handling": "rtf"}, 400, "Value for 'tag_handling' not supported."),
                ({"tag_handling": "xml", "text": ["a\n<b>c</i>"]}, 400, "Tag handling parsing failed, please check "
                 "input. Line 2, column 7: mismatched tag"),
                ({"tag_handling": "xml", "splitting_tags": ["<"]}, 400, 'splitting_tags: "<" is not the name of an element'),
                ({"tag_handling": "xml", "outline_detection": "maybe"}, 400,
                 'outline_detection: expected true or false, found the string "maybe"'),
                ({"tag_handling": "html", "ignore_tags": ["<x>"]}, 400,
                 'ignore_tags: "<x>" is not the name of an element'),
                ({"tag_handling": "html", "ignore_tags": [1]}, 400, "ignore_tags: expected an array of strings"),
                ({"tag_handling": "html", "ignore_tags": ["x"] * 65}, 413, "ignore_tags: more than 64 names"),
                ({"formality": "more"}, 400, "'formality' is not supported for given 'target_lang'."),
                ({"glossary_ids": ["g"]}, 400, "'glossary_ids' is not supported."),
                ({"style_id": "s"}, 400, "'style_id' is not supported."),
                ({"custom_instructions": ["be brief"]}, 400, "'custom_instructions' is not supported."),
                ({"text": ["a"] * 6}, 413, "Invalid request: request (6) exceeds text limit (5)"),
                ({"text": ["a" * 301]}, 413, "Invalid request: request (301) exceeds text limit (300)")):
            reply = self.translate({**good, **change})
            self.assertEqual((reply.status, reply.json), (code, {"message": message}), change)
        reply = self.translate(b"{", {"Content-Type": "application/json"})
        self.assertEqual((reply.status, list(reply.json)), (400, ["message"]))

    def test_whatever_goes_wrong_below_v2_is_told_as_deepl_tells_it(self):
        long = "x" * 20000
        for method, path, headers, code in (
                ("GET", "/v2/translate", {}, 405), ("PUT", "/v2/usage", {}, 405), ("GET", "/v2/nowhere", {}, 404),
                ("POST", "/v2/glossaries", {}, 400), ("GET", "/v3/glossaries/x", {}, 400), ("PATCH", "/v3/glossaries", {}, 405),
                ("GET", "/v2/usage?" + long, {}, 414), ("GET", "/v2/usage", {"X-Long": long}, 431),
                ("POST", "/v2/translate", {"Content-Encoding": "br"}, 415),
                ("POST", "/v2/translate", {"Content-Length": "99999999999"}, 413),
                ("POST", "/v2/translate", {"X-Request-Timeout": "soon"}, 400),
                ("GET", "/v2/usage%00", {}, 400), ("GET", "http://localhost/v2/nowhere", {}, 404)):
            reply = self.daemon.request(method, path, "{}" if method == "POST" else None, headers)
            self.assertEqual((reply.status, list(reply.json)), (code, ["message"]), (method, path[:30], headers))
        for path in ("/nowhere", "/v2", "/v2x/translate", "/translate"):
            reply = self.daemon.get(path)
            self.assertEqual(list(reply.json), ["error"], path)

    def test_sentences_are_split_as_asked(self):
        text = "I am tired. She is\nmy sister."

        def translate(value):
            (translation,) = self.texts(self.translate({"text": [text], "target_lang": "DE", "source_lang": "EN",
                                                        "split_sentences": value}))
            return translation

        def own(q, mode):
            return self.daemon.translate(q, split_sentences=mode).json["translatedText"]

        self.assertEqual(translate("0"), own(text, "off"))
        self.assertEqual(translate("1"), own(text, "on"))
        self.assertEqual(translate("nonewlines"), own(text.replace("\n", " "), "on"))
        self.assertNotEqual(translate("nonewlines"), translate("1"))

    def test_empty_and_ignored_fields(self):
        reply = self.translate({"text": [STATION], "target_lang": "DE", "glossary_id": "", "custom_instructions": [],
                                "formality": "prefer_more", "context": "x", "model_type": "latency_optimized",
                                "preserve_formatting": "1", "outline_detection": False, "stream": True, "unknown": 1})
        self.assertEqual(self.texts(reply), [BAHNHOF])

    def test_languages(self):
        source = [{"language": "EN", "name": "English"}]
        for query, expected in (("", source), ("?type=source", source),
                                ("?type=target", [{"language": "DE", "name": "German", "supports_formality": False}])):
            self.assertEqual(self.daemon.get("/v2/languages" + query).json, expected)
        reply = self.daemon.get("/v2/languages?type=both")
        self.assertEqual((reply.status, reply.json), (400, {"message": "Value for 'type' not supported."}))

    def test_usage(self):
        for method in "GET", "POST":
            reply = self.daemon.request(method, "/v2/usage", "" if method == "POST" else None)
            self.assertEqual(reply.json, {"character_count": 0, "character_limit": 1000000000000})
        reply = self.daemon.request("DELETE", "/v2/usage")
        self.assertEqual((reply.status, reply.headers["allow"]), (405, "GET, HEAD, POST, OPTIONS"))

    def test_full_queue_and_deadline(self):
        reply = self.translate({"text": [STATION], "target_lang": "DE"}, {"X-Request-Timeout": "0"})
        self.assertEqual((reply.status, reply.json), (504, {"message": "the request took longer than 0.0 s"}))


class Variants(unittest.TestCase):
    def test_targets_that_deepl_knows_by_region(self):
        with Daemon("--source-lang", "de", "--target-lang", "en") as daemon:
            codes = [language["language"] for language in daemon.get("/v2/languages?type=target").json]
            self.assertEqual(codes, ["EN-GB", "EN-US"])
            for code in codes:
                reply = daemon.request("POST", "/v2/translate", {"text": ["x"], "target_lang": code, "source_lang": "DE"})
                self.assertEqual(reply.status, 200, reply)


class Keys(unittest.TestCase):
    def test_keys_quota_and_rate(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "keys")
            with open(path, "w", encoding="utf-8") as file:
                file.write("rich-key-1\npoor-key-1 chars_per_day=40\nslow-key-1 requests_per_minute=2\n")
            os.chmod(path, 0o600)
            with Daemon("--api-keys-file", path, "--key-required") as daemon:
                def post(key, *texts):
                    headers = {"Authorization": f"DeepL-Auth-Key {key}", **FORM}
                    fields = [("text", text) for text in texts] + [("target_lang", "DE"), ("source_lang", "EN")]
                    return daemon.request("POST", "/v2/translate", urllib.parse.urlencode(fields), headers)

                def usage(key):
                    return daemon.get("/v2/usage", headers={"Authorization": f"DeepL-Auth-Key {key}"})

                self.assertEqual(post("rich-key-1", STATION).status, 200)
                reply = post("wrong-key-1", STATION)
                self.assertEqual((reply.status, reply.json), (403, {"message": "Invalid API key"}))
                self.assertEqual(usage("wrong-key-1").status, 403)
                self.assertEqual(daemon.get("/v2/usage").status, 403)
                for body, headers in (({"api_key": "poor-key-1"}, {}), ("api_key=poor-key-1", FORM)):
                    reply = daemon.request("POST", "/v2/usage", body, headers)
                    self.assertEqual((reply.status, reply.json["character_limit"]), (200, 40))
                reply = daemon.request("POST", "/v2/usage?api_key=poor-key-1", "")
                self.assertEqual((reply.status, reply.json["character_limit"]), (200, 40))
                for body in "", {"api_key": "wrong-key-1"}:
                    reply = daemon.request("POST", "/v2/usage", body, {"Content-Type": "application/json"})
                    self.assertEqual(reply.status, 403)
                self.assertEqual(post("poor-key-1", "I am tired.", "Hello.").status, 200)
                self.assertEqual(usage("poor-key-1").json, {"character_count": 17, "character_limit": 40})
                reply = post("poor-key-1", STATION)
                self.assertEqual((reply.status, list(reply.json)), (456, ["message"]))
                # A field of LibreTranslate's is none here: it is the text that is translated and counts.
                for body, headers in (
                        ({"q": "x", "text": [STATION], "target_lang": "DE"}, {}),
                        (urllib.parse.urlencode({"q": "x", "text": STATION, "target_lang": "DE"}), FORM)):
                    reply = daemon.request("POST", "/v2/translate", body,
                                           {"Authorization": "DeepL-Auth-Key poor-key-1", **headers})
                    self.assertEqual((reply.status, list(reply.json)), (456, ["message"]))
                self.assertEqual(usage("poor-key-1").json["character_count"], 17)
                self.assertEqual(post("slow-key-1", "Hello.", "Hello.").status, 200)
                reply = post("slow-key-1", "Hello.")
                self.assertEqual((reply.status, reply.json), (429, {"message": "Slowdown: 2 per 1 minute"}))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
