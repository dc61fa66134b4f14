"""LibreTranslate's contract, row by row: encodings, errors with their exact texts, headers, language
codes, and what a reply says about special texts. Everything over HTTP, as a client sees it."""

import json
import pathlib
import tempfile
import unittest
import urllib.parse

import request_encodings as encodings
from serve import Daemon

EN_DE = {"source": "en", "target": "de"}
CORS = {
    "access-control-allow-origin": "*",
    "access-control-allow-headers": "Authorization, Content-Type, Traceparent, Tracestate, X-Request-ID, X-Request-Timeout",
    "access-control-expose-headers": "Authorization, Content-Disposition, Retry-After, Server-Timing, Traceparent, X-Request-ID",
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-credentials": None,
    "access-control-max-age": "1728000",
}

LONG = "x" * 101
TEXT_LIMIT = "Invalid request: request (101) exceeds text limit (100)"
BATCH_LIMIT = "Invalid request: request (4) exceeds text limit (3)"
NOT_A_NUMBER = "Invalid request: alternatives parameter is not a number"


def missing(name):
    return f"Invalid request: missing {name} parameter"


# What every encoding can say: path, fields, status, error.
ERRORS = (
    ("/translate", {}, 400, missing("q")),
    ("/translate", EN_DE, 400, missing("q")),
    ("/translate", {"q": "", **EN_DE}, 400, missing("q")),
    ("/translate", {"q": "Hello.", "target": "de"}, 400, missing("source")),
    ("/translate", {"q": "Hello.", "source": "", "target": "de"}, 400, missing("source")),
    ("/translate", {"q": "Hello.", "source": "en"}, 400, missing("target")),
    ("/translate", {"q": "Hello.", "source": "en", "target": ""}, 400, missing("target")),
    ("/translate", {"q": "Hello.", "source": "zz", "target": "de"}, 400, "zz is not supported"),
    ("/translate", {"q": "Hello.", "source": "en", "target": "zz"}, 400, "zz is not supported"),
    ("/translate", {"q": "Hello.", "source": "auto", "target": "zz"}, 400, "zz is not supported"),
    ("/translate", {"q": "Hello.", "source": "en", "target": "auto"}, 400, "auto is not supported"),
    ("/translate", {"q": "Hello.", "source": "de", "target": "en"}, 400,
     "English (en) is not available as a target language from German (de)"),
    ("/translate", {"q": "Hello.", "format": "yaml", **EN_DE}, 400, "yaml format is not supported"),
    ("/translate", {"q": "Hello.", "alternatives": "many", **EN_DE}, 400, NOT_A_NUMBER),
    ("/translate", {"q": "Hello.", "alternatives": "nan", **EN_DE}, 400, NOT_A_NUMBER),
    ("/translate", {"q": "Hello.", "alternatives": 6, **EN_DE}, 400,
     "Invalid request: alternatives parameter must be <= 5"),
    ("/translate", {"q": "Hello.", "alternatives": -1, **EN_DE}, 400,
     "Invalid request: alternatives parameter must be >= 0"),
    ("/translate", {"q": LONG, **EN_DE}, 400, TEXT_LIMIT),
    ("/translate", {"q": "ä" * 101, **EN_DE}, 400, TEXT_LIMIT),
    ("/detect", {}, 400, missing("q")),
    ("/detect", {"q": ""}, 400, missing("q")),
    ("/detect", {"q": LONG}, 400, TEXT_LIMIT),
    ("/suggest", {"q": "Hello.", "s": "Hallo.", **EN_DE}, 403,
     "Suggestions are disabled on this server."),
    ("/suggest", {}, 403, "Suggestions are disabled on this server."),
)

# What only JSON can say.
JSON_ERRORS = (
    ("/translate", {"q": None, **EN_DE}, 400, missing("q")),
    ("/translate", {"q": [], **EN_DE}, 400, missing("q")),
    ("/translate", {"q": "Hello.", "source": None, "target": "de"}, 400, missing("source")),
    ("/translate", {"q": ["a", "b", "c", "d"], **EN_DE}, 400, BATCH_LIMIT),
    ("/translate", {"q": ["a", LONG], **EN_DE}, 400, TEXT_LIMIT),
    ("/translate", {"q": "Hello.", "alternatives": [1], **EN_DE}, 400, NOT_A_NUMBER),
    ("/translate", {"q": "Hello.", "alternatives": {}, **EN_DE}, 400, NOT_A_NUMBER),
    ("/translate", [], 400, "Invalid JSON format"),
    ("/translate", "text", 400, "Invalid JSON format"),
    ("/detect", {"q": None}, 400, missing("q")),
    ("/detect", [], 400, "Invalid JSON format"),
)

# Method, path, status, Allow.
METHODS = (
    ("GET", "/translate", 405, "POST, OPTIONS"), ("GET", "/detect", 405, "POST, OPTIONS"),
    ("GET", "/suggest", 405, "POST, OPTIONS"), ("POST", "/languages", 405, "GET, HEAD, OPTIONS"),
    ("POST", "/health", 405, "GET, HEAD, OPTIONS"), ("POST", "/", 405, "GET, HEAD, OPTIONS"),
    ("POST", "/frontend/settings", 405, "GET, HEAD, OPTIONS"),
    ("POST", "/metrics", 405, "GET, HEAD, OPTIONS"), ("PUT", "/translate", 405, "POST, OPTIONS"),
    ("DELETE", "/detect", 405, "POST, OPTIONS"), ("GET", "/nowhere", 404, None),
    ("POST", "/nowhere", 404, None), ("GET", "/languages/", 404, None),
    ("POST", "/translate/", 404, None), ("POST", "/detect/", 404, None),
    ("GET", "/frontend/settings/", 404, None), ("GET", "/Languages", 404, None),
)

GETS = ("/", "/languages", "/frontend/settings")
FOR_NO_PAGE = ("/health", "/health/live", "/health/ready", "/metrics")
POSTS = ("/translate", "/detect", "/suggest")


class WithDaemon(unittest.TestCase):
    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(*cls.FLAGS).start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def post(self, fields, encode=encodings.as_json, path="/translate", **options):
        return encodings.post(self.daemon, path, fields, encode, **options)

    def translated(self, q, **fields):
        reply = self.daemon.translate(q, **fields)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def check_cors(self, reply):
        self.assertEqual({name: reply.headers.get(name) for name in CORS}, CORS, reply)

    def check_error(self, reply, status, text, what):
        self.assertEqual((reply.status, reply.json), (status, {"error": text}), what)
        self.assertEqual(reply.headers["content-type"], "application/json", what)
        self.check_cors(reply)


class Errors(WithDaemon):
    FLAGS = ("--max-text-chars", "100", "--max-batch-texts", "3", "--max-alternatives", "5")

    def test_in_every_encoding(self):
        for path, fields, status, text in ERRORS:
            for encode in encodings.ALL:
                reply = self.post(fields, encode, path)
                self.check_error(reply, status, text, (path, fields, encode.__name__))

    def test_in_json_alone(self):
        for path, fields, status, text in JSON_ERRORS:
            self.check_error(self.post(fields, path=path), status, text, (path, fields))

    def test_at_the_limits(self):
        for encode in encodings.ALL:
            self.assertEqual(self.post({"q": "ä" * 100, **EN_DE}, encode).status, 200)
            self.assertEqual(self.post({"q": "a", "alternatives": 5, **EN_DE}, encode).status, 200)
        self.assertEqual(self.post({"q": ["a", "b", "c"], **EN_DE}).status, 200)

    def test_malformed_json(self):
        for body in (b"", b"{", b"{'q': 'x'}", b"nothing", b'{"q": "\xff"}', b'{"q": "x"} {}'):
            for path in ("/translate", "/detect"):
                reply = self.daemon.request("POST", path, body, headers={"Content-Type": "application/json"})
                self.assertEqual((reply.status, list(reply.json)), (400, ["error"]), body)
                self.assertIsInstance(reply.error, str)
                self.check_cors(reply)

    def test_bodies_of_other_types_have_no_fields(self):
        fields = {"q": "Hello.", **EN_DE}
        for content_type in ("text/plain", "text/json", "application/xml", "multipart/mixed", ""):
            reply = self.daemon.request("POST", "/translate", urllib.parse.urlencode(fields).encode(),
                                        headers={"Content-Type": content_type})
            self.check_error(reply, 400, missing("q"), content_type)
            reply = self.daemon.request("POST", "/translate", json.dumps(fields).encode(),
                                        headers={"Content-Type": content_type})
            self.assertEqual((reply.status, list(reply.json)), (400, ["error"]), content_type)
            self.assertIn("expected Content-Type: application/json", reply.error)

    def test_methods_and_unknown_paths(self):
        for method, path, status, allow in METHODS:
            reply = self.daemon.request(method, path, body=b"" if method in ("POST", "PUT") else None)
            self.assertEqual((reply.status, reply.headers.get("allow"), list(reply.json)),
                             (status, allow, ["error"]), (method, path))
            if path not in FOR_NO_PAGE:
                self.check_cors(reply)

    def test_no_page(self):
        with Daemon("--web-page=false") as daemon:
            self.assertEqual(daemon.get("/?source=en&target=de&q=x").status, 404)


class Transport(WithDaemon):
    def test_every_encoding_says_the_same(self):
        fields = {"q": "Where is the train station? Grüße & 100 %+1=2", "alternatives": 2, "format": "text",
                  "api_key": "", **EN_DE}
        expected = self.post(fields).body
        self.assertIn(b'"alternatives":[', expected)
        for encode in encodings.TEXTUAL:
            self.assertEqual(self.post(fields, encode).body, expected, encode.__name__)
        detected = self.post(fields, path="/detect").body
        for encode in encodings.TEXTUAL:
            self.assertEqual(self.post(fields, encode, "/detect").body, detected, encode.__name__)

    def test_types_with_parameters_and_in_any_case(self):
        fields = {"q": "Thank you.", **EN_DE}
        expected = self.post(fields).body
        for encode, types in (
            (encodings.as_json, ("application/json; charset=utf-8", "Application/JSON;charset=UTF-8",
                                 "application/vnd.api+json", "text/x+json")),
            (encodings.as_form, ("application/x-www-form-urlencoded; charset=UTF-8",
                                 "APPLICATION/X-WWW-FORM-URLENCODED")),
        ):
            for content_type in types:
                reply = self.daemon.request("POST", "/translate", encode(fields)[1],
                                            headers={"Content-Type": content_type})
                self.assertEqual(reply.body, expected, content_type)

    def test_query_without_a_length(self):
        query, _, _ = encodings.as_query({"q": "Thank you.", **EN_DE})
        received = self.daemon.raw(
            f"POST /translate{query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        self.assertTrue(received.startswith(b"HTTP/1.1 200 "), received)
        self.assertTrue(received.endswith(self.daemon.translate("Thank you.").body), received)

    def test_repeated_keys_are_refused(self):
        """As in JSON, whichever value would have counted."""
        repeated = {"q": "Good bye.", "api_key": "K", "unknown": "x"}
        for encode in encodings.TEXTUAL:
            for name, value in repeated.items():
                query, body, content_type = encode({"q": "Thank you.", "api_key": "K", "unknown": "x", **EN_DE})
                again = urllib.parse.urlencode({name: value})
                query, body = query + (query and "&" + again), body
                if content_type == encodings.FORM:
                    body += b"&" + again.encode()
                elif content_type:
                    body = body[:body.rindex(b"--" + encodings.BOUNDARY.encode())]
                    body += encodings.as_multipart({name: value})[1]
                reply = self.daemon.request("POST", "/translate" + query, body,
                                            headers={"Content-Type": content_type} if content_type else {})
                self.assertEqual((reply.status, reply.error), (400, f'malformed form: field "{name}" appears twice'))

    def test_line_ends_of_forms_become_line_feeds_and_those_of_json_stay(self):
        q = " One.\r\nTwo.\r\n\r\nThree.\r\n"
        expected = self.translated(" One.\nTwo.\n\nThree.")
        for encode in encodings.TEXTUAL:
            self.assertEqual(self.post({"q": q, **EN_DE}, encode).json, expected, encode.__name__)
        self.assertEqual(self.translated(q)["translatedText"],
                         expected["translatedText"].replace("\n", "\r\n") + "\r\n")

    def test_get_with_a_body(self):
        client = self.daemon.connect()
        self.addCleanup(client.close)
        for path in ("/languages", "/health", "/frontend/settings"):
            expected = self.daemon.get(path).body
            for encode in encodings.ALL:
                query, body, content_type = encode({"api_key": "", "q": "x"})
                for chunked in (False, True):
                    headers = {"Content-Type": content_type} if content_type else {}
                    reply = self.daemon.request("GET", path + query, iter([body]) if chunked else body,
                                                headers=headers, client=client)
                    self.assertEqual((reply.status, reply.body), (200, expected), (path, encode.__name__))

    def test_head_is_get_without_a_body(self):
        for path in GETS:
            plain = self.daemon.get(path)
            reply = self.daemon.request("HEAD", path)
            self.assertEqual((reply.status, reply.body), (200, b""), path)
            self.assertEqual(reply.headers["content-type"], plain.headers["content-type"], path)
            self.check_cors(reply)
        for path in POSTS:
            self.assertEqual(self.daemon.request("HEAD", path).status, 405, path)

    def test_options(self):
        for path in GETS + POSTS:
            reply = self.daemon.request("OPTIONS", path, headers={
                "Origin": "https://example.org", "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "content-type"})
            self.assertEqual((reply.status, reply.body), (200, b""), path)
            self.assertIn("OPTIONS", reply.headers["allow"])
            self.check_cors(reply)

    def test_what_is_for_no_page(self):
        for path in FOR_NO_PAGE:
            for method in ("GET", "HEAD", "OPTIONS", "POST"):
                reply = self.daemon.request(method, path, headers={"Origin": "https://example.org"})
                self.assertEqual(reply.status, 405 if method == "POST" else 200)
                self.assertEqual([name for name in reply.headers if name.startswith("access-control")], [])

    def test_headers_of_replies(self):
        for reply in (self.daemon.translate("Thank you."), self.daemon.get("/languages"),
                      self.daemon.get("/frontend/settings"),
                      self.post({"q": "Hello"}, path="/detect")):
            self.assertEqual((reply.status, reply.headers["content-type"]), (200, "application/json"))
            self.check_cors(reply)


class Answers(WithDaemon):
    def test_languages(self):
        self.assertEqual(
            self.daemon.get("/languages").body,
            b'[{"code":"en","name":"English","targets":["de","en"]},'
            b'{"code":"de","name":"German","targets":["de"]}]\n')

    def test_health(self):
        self.assertEqual(self.daemon.get("/health").body, b'{"status":"ok"}\n')

    def test_frontend_settings(self):
        settings = self.daemon.get("/frontend/settings").json
        self.assertEqual(list(settings), sorted(settings))
        formats = settings.pop("supportedFilesFormat")
        self.assertEqual(formats[:5], [".txt", ".srt", ".vtt", ".html", ".po"])
        self.assertEqual(len(formats), len(set(formats)))
        self.assertEqual(settings, {
            "apiKeys": False, "charLimit": 200000, "filesTranslation": True, "frontendTimeout": 500,
            "keyRequired": False, "suggestions": False,
            "language": {"source": {"code": "auto", "name": "Auto Detect"},
                         "target": {"code": "de", "name": "German"}}})

    def test_detect(self):
        body = self.post({"q": "Where is the train station?", "api_key": None}, path="/detect").body
        self.assertRegex(body, rb'^\[\{"confidence":[0-9]+\.[0-9]+,"language":"en"\}\]\n$')
        for q in ("12345", "\U0001F600", " \n "):
            self.assertEqual(self.post({"q": q}, path="/detect").body,
                             b'[{"confidence":0.0,"language":"en"}]\n')

    def test_detected_language_only_for_auto(self):
        for q in ("Thank you.", ["Thank you.", "Good morning."]):
            for n in (0, 2):
                plain = self.translated(q, alternatives=n)
                auto = self.translated(q, alternatives=n, source="auto")
                self.assertEqual({k: v for k, v in auto.items() if k != "detectedLanguage"}, plain)
                self.assertEqual(list(plain), ["alternatives"] * (n > 0) + ["translatedText"])
                self.assertEqual(list(auto),
                                 ["alternatives"] * (n > 0) + ["detectedLanguage", "translatedText"])

    def test_shapes_of_batches(self):
        one = self.translated("Thank you.", source="auto", alternatives=3)
        batch = self.translated(["Thank you.", "Danke schön.", ""], source="auto", alternatives=3)
        self.assertEqual(one["detectedLanguage"], batch["detectedLanguage"][0])
        self.assertEqual(one["alternatives"], batch["alternatives"][0])
        self.assertEqual(one["translatedText"], batch["translatedText"][0])
        self.assertEqual(batch["translatedText"][1:], ["Danke schön.", ""])
        self.assertEqual(batch["alternatives"][1:], [[], []])
        self.assertEqual([sorted(item) for item in batch["detectedLanguage"]],
                         [["confidence", "language"]] * 3)
        self.assertEqual(batch["detectedLanguage"][1]["language"], "de")

    def test_an_array_is_one_batch(self):
        """It takes hardly more decoder steps than its longest text alone."""
        with Daemon("--workers", "1") as daemon:  # by default each thread takes a share of so many
            def n_steps(q):
                before = daemon.metrics()["attentiond_decode_step_seconds_count"]
                self.assertEqual(daemon.translate(q, beam_size=1).status, 200)
                return daemon.metrics()["attentiond_decode_step_seconds_count"] - before

            texts = [f"There are {n} cats in the garden of the old house." for n in range(50)]
            alone = [n_steps(text) for text in texts[::5]]
            self.assertGreater(min(alone), 5)
            self.assertLess(n_steps(texts), 2 * max(alone))

    def test_alternatives_are_distinct(self):
        for q in ("Thank you.", "We are here.", "The cat is sleeping on the sofa.", "Hello", "5", "Good night!"):
            for text_format in ("text", "html"):
                reply = self.translated(q, alternatives=5, format=text_format)
                texts = [reply["translatedText"], *reply["alternatives"]]
                self.assertLessEqual(len(reply["alternatives"]), 5)
                letters = {"".join(c for c in text if c.isalnum()) for text in texts}
                self.assertEqual(len(texts), len(letters), texts)

    def test_blank_texts_are_empty(self):
        for q in (" ", "\n", "\t \r\n", "\u00a0", "\u3000"):
            for source in ("en", "auto"):
                self.assertEqual(self.translated(q, source=source)["translatedText"], "", repr(q))
        self.assertEqual(self.translated([" ", "\n"])["translatedText"], ["", ""])

    def test_emoji_come_back_as_they_are(self):
        for q in ("\U0001F600", " \U0001F600\U0001F44D\U0001F3FD \n", "\u2764\ufe0f", "1\ufe0f\u20e3",
                  "\U0001F469\u200d\U0001F469\u200d\U0001F467", "\U0001F1E9\U0001F1EA"):
            for text_format in ("text", "html"):
                self.assertEqual(self.translated(q, format=text_format), {"translatedText": q})
                self.assertEqual(self.translated(q, format=text_format, source="auto"), {
                    "detectedLanguage": {"confidence": 0.0, "language": "en"}, "translatedText": q})

    def test_source_equal_to_target_echoes(self):
        for q in ("As it is.", "<b>As</b> it &amp; is", ["a", "b"]):
            for text_format in ("text", "html"):
                for source, target in (("en", "en"), ("de", "DE"), ("EN", "en")):
                    reply = self.translated(q, source=source, target=target, format=text_format)
                    self.assertEqual(reply, {"translatedText": q})
        reply = self.translated("As it is.", target="en", alternatives=2)
        self.assertEqual(reply, {"alternatives": [], "translatedText": "As it is."})

    def test_replies_are_raw_utf8(self):
        body = self.daemon.translate("Grüße \u2014 \U0001F600 \u65e5\u672c", target="en").body
        self.assertEqual(body, '{"translatedText":"Grüße \u2014 \U0001F600 \u65e5\u672c"}\n'.encode())

    def test_keys_that_are_nothing(self):
        for key in (None, ""):
            self.assertEqual(self.daemon.translate("Thank you.", api_key=key).status, 200)
            self.assertEqual(self.post({"q": "Hello", "api_key": key}, path="/detect").status, 200)

    def test_unknown_fields_are_ignored(self):
        for encode in encodings.ALL:
            reply = self.post({"q": "Thank you.", "modell": "x", "secret": "y", **EN_DE}, encode)
            self.assertEqual(reply.body, self.daemon.translate("Thank you.").body)


class Keys(unittest.TestCase):
    """The rows that need keys and rates; test_access.py has the rest of them."""

    KEY = "c6fbd1f0-9a53-4f3e-b1a9-3f4ed2c0a7d1"
    FIELDS = {"q": "Thank you.", **EN_DE}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "keys"
        self.file.write_text(f"{self.KEY} max_text_chars=50\n")
        self.file.chmod(0o600)

    def check(self, reply, status, text, what):
        self.assertEqual((reply.status, reply.json), (status, {"error": text}), what)
        self.assertEqual({name: reply.headers.get(name) for name in CORS}, CORS, what)

    def test_wrong_key_in_every_encoding(self):
        with Daemon("--api-keys-file", str(self.file)) as daemon:
            for path in ("/translate", "/detect"):
                for encode in encodings.ALL:
                    fields = {**self.FIELDS, "api_key": self.KEY}
                    self.assertEqual(encodings.post(daemon, path, fields, encode).status, 200, encode)
                    reply = encodings.post(daemon, path, {**fields, "api_key": "wrong"}, encode)
                    self.check(reply, 403, "Invalid API key", (path, encode.__name__))

    def test_too_often_in_every_encoding(self):
        for encode in encodings.ALL:
            with Daemon("--requests-per-minute", "3") as daemon:
                codes = [encodings.post(daemon, "/translate", self.FIELDS, encode).status for _ in range(3)]
                self.assertEqual(codes, [200] * 3)
                reply = encodings.post(daemon, "/translate", self.FIELDS, encode)
                self.check(reply, 429, "Slowdown: 3 per 1 minute", encode.__name__)
                self.assertGreaterEqual(int(reply.headers["retry-after"]), 1)

    def test_frontend_settings(self):
        def settings(daemon, query=""):
            reply = daemon.get("/frontend/settings" + query).json
            return reply["apiKeys"], reply["keyRequired"], reply["charLimit"]

        with Daemon("--api-keys-file", str(self.file), "--max-text-chars", "70") as daemon:
            self.assertEqual(settings(daemon), (True, False, 70))
            self.assertEqual(settings(daemon, "?api_key=" + self.KEY), (True, False, 50))
        with Daemon("--api-keys-file", str(self.file), "--key-required") as daemon:
            self.assertEqual(settings(daemon)[:2], (True, True))


class Codes(WithDaemon):
    """The same model under other names: what counts here is what a code is taken for."""

    FLAGS = ("--source-lang", "pb", "--target-lang", "zt")

    def status(self, source, target):
        return self.post({"q": "Thank you.", "source": source, "target": target}).status

    def test_languages_have_the_long_form(self):
        self.assertEqual(self.daemon.get("/languages").json, [
            {"code": "pt-BR", "name": "Portuguese (Brazil)", "targets": ["pt-BR", "zh-Hant"]},
            {"code": "zh-Hant", "name": "Chinese (Traditional)", "targets": ["zh-Hant"]}])
        self.assertEqual(self.daemon.get("/frontend/settings").json["language"]["target"],
                         {"code": "zh-Hant", "name": "Chinese (Traditional)"})

    def test_detection_has_the_long_form(self):
        q = "Bom dia! Onde fica a estação de trem? Obrigado pela ajuda."
        self.assertEqual(self.post({"q": q}, path="/detect").json[0]["language"], "pt-BR")
        reply = self.post({"q": q, "source": "auto", "target": "zt"}).json
        self.assertEqual(reply["detectedLanguage"]["language"], "pt-BR")
        q = "早安！火車站在哪裡？謝謝您的幫助。"
        self.assertEqual(self.post({"q": q}, path="/detect").json[0]["language"], "zh-Hant")

    def test_every_spelling_is_accepted(self):
        for source in ("pb", "PB", "Pb", "pt-BR", "pt-br", "PT-BR", "pt_BR", "pt_br", "pt", "PT", "por"):
            self.assertEqual(self.status(source, "zt"), 200, source)
        for target in ("zt", "ZT", "zh-Hant", "zh-hant", "ZH-HANT", "zh_Hant", "zh_hant", "zh-TW", "zh_tw",
                       "zh-Hant-TW"):
            self.assertEqual(self.status("pb", target), 200, target)

    def test_others_are_not(self):
        for source in ("pt-PT", "en", "p", "", "ptbr", "pt--BR", "zh", "zh-Hans"):
            self.assertEqual(self.status(source, "zt"), 400, source)
        for target in ("zh", "zh-Hans", "zh_CN", "ZH"):
            reply = self.post({"q": "Thank you.", "source": "pb", "target": target})
            self.assertEqual((reply.status, reply.error), (400, f"{target} is not supported"))

    def test_simplified_chinese(self):
        with Daemon("--source-lang", "zh", "--target-lang", "pt-br") as daemon:
            self.assertEqual([item["code"] for item in daemon.get("/languages").json], ["zh-Hans", "pt-BR"])
            for source in ("zh", "ZH", "zh-Hans", "zh_hans", "zh-CN", "zho"):
                reply = daemon.translate("x", source=source, target="pb")
                self.assertEqual(reply.status, 200, source)
            self.assertEqual(daemon.translate("x", source="zt", target="pb").error, "zt is not supported")


if __name__ == "__main__":
    unittest.main(verbosity=2)
