"""POST /translate, GET /languages, /health and /metrics: every row of LibreTranslate's contract that
the daemon takes over, text and status exact, and our own options."""

import gzip
import json
import random
import unittest
import urllib.parse

from serve import Daemon

LONG = "The old house stands on a hill. " * 40


class Translate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(
            "--max-text-chars", "2000", "--max-batch-texts", "20", "--max-alternatives", "5"
        ).start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def post(self, body, content_type="application/json", path="/translate", **options):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        headers = {"Content-Type": content_type} if content_type else {}
        return self.daemon.request("POST", path, body, headers=headers, **options)

    def refused(self, body, status, text, **options):
        reply = self.post(body, **options)
        self.assertEqual((reply.status, reply.json), (status, {"error": text}), body)
        self.assertEqual(reply.headers["content-type"], "application/json")
        self.assertEqual(reply.headers["access-control-allow-origin"], "*")

    # What comes back.

    def test_string_gives_string(self):
        reply = self.daemon.translate("Where is the train station?")
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.body, b'{"translatedText":"Wo ist der Bahnhof?"}\n')

    def test_array_gives_array_in_order(self):
        single = [self.daemon.translate(q).json["translatedText"] for q in ("Hello.", "Thank you.")]
        reply = self.daemon.translate(["Hello.", "Thank you."])
        self.assertEqual(reply.json["translatedText"], single)

    def test_array_of_one_gives_array(self):
        self.assertIsInstance(self.daemon.translate(["Hello."]).json["translatedText"], list)

    def test_blank_text_gives_empty_text(self):
        self.assertEqual(self.daemon.translate(" \n\t ").json, {"translatedText": ""})
        self.assertEqual(self.daemon.translate(["", " "]).json, {"translatedText": ["", ""]})

    def test_a_translation_looks_like_its_source(self):
        def translated(q, **fields):
            return self.daemon.translate(q, **fields).json["translatedText"]
        self.assertEqual(translated("Where is the train station"), "Wo ist der Bahnhof?")
        self.assertEqual(translated("I have a dog"), translated("I have a dog.")[:-1])
        self.assertEqual(translated("I HAVE A DOG."), translated("I have a dog.").upper())
        self.assertTrue(translated("the old house")[0].islower())
        self.assertEqual(translated("I have a dog", post_edit=False)[-1], ".")
        self.assertEqual(translated("<b>I HAVE</b> A DOG", format="html").count("</b>"), 1)
        for q in ("I have a dog.", "Where is the train station?", "Hello! How are you?"):
            self.assertEqual(translated(q), translated(q, post_edit=False))
        self.assertEqual(self.daemon.translate("Hi", post_edit="no").status, 400)

    def test_source_equal_to_target_echoes(self):
        for code in ("en", "de"):
            reply = self.daemon.translate(" As it is. ", source=code, target=code)
            self.assertEqual(reply.json, {"translatedText": " As it is. "})

    def test_codes_in_any_spelling(self):
        for source, target in (("EN", "DE"), ("en-US", "de_AT"), ("eng", "deu")):
            self.assertEqual(
                self.daemon.translate("Hello.", source=source, target=target).status, 200, source
            )

    def test_keys_are_sorted_and_text_is_raw_utf8(self):
        reply = self.daemon.translate(
            "The cat is sleeping on the sofa.",
            alternatives=2, return_scores=True, return_usage=True,
        )
        keys = list(reply.json)
        self.assertEqual(keys, ["alternatives", "scores", "translatedText", "usage"])
        umlaut = self.daemon.translate("I would like five green keys.").body
        self.assertNotIn(b"\\u", umlaut)
        self.assertTrue(any(byte > 127 for byte in umlaut), umlaut)

    def test_alternatives(self):
        reply = self.daemon.translate("Where is the train station?", alternatives=3).json
        texts = [reply["translatedText"], *reply["alternatives"]]
        self.assertLessEqual(len(reply["alternatives"]), 3)
        self.assertGreaterEqual(len(reply["alternatives"]), 1)
        self.assertEqual(len(set(texts)), len(texts))
        batch = self.daemon.translate(["Where is the train station?", " "], alternatives=3).json
        self.assertEqual(batch["alternatives"], [reply["alternatives"], []])
        for value in ("2", "", None):
            self.assertEqual(self.daemon.translate("Hello.", alternatives=value).status, 200)
        self.assertNotIn("alternatives", self.daemon.translate("Hello.", alternatives=0).json)

    def test_num_hypotheses_counts_the_best_too(self):
        by_name = self.daemon.translate("We are here.", num_hypotheses=3).body
        self.assertEqual(by_name, self.daemon.translate("We are here.", alternatives=2).body)

    def test_scores_belong_to_texts_best_first(self):
        reply = self.daemon.translate("We are here.", alternatives=3, return_scores=True).json
        self.assertEqual(len(reply["scores"]), 1 + len(reply["alternatives"]))
        self.assertEqual(reply["scores"], sorted(reply["scores"], reverse=True))
        self.assertTrue(all(score < 0 for score in reply["scores"]))

    def test_usage_only_when_asked_for(self):
        self.assertNotIn("usage", self.daemon.translate("Hello.").json)
        usage = self.daemon.translate(["Hello.", "Hello."], return_usage=True).json["usage"]
        one = self.daemon.translate("Hello.", return_usage=True).json["usage"]
        self.assertEqual(usage, {key: 2 * n for key, n in one.items()})
        self.assertGreater(one["source_tokens"], 1)

    def sentences(self, q, **options):
        """The sentences of a text, each as its source, its translation and its alternatives."""
        reply = self.daemon.translate(q, return_sentences=True, **options).json
        ends = {"source": 0, "target": 0}
        for sentence in reply["sentences"]:
            for side, text in ("source", q), ("target", reply["translatedText"]):
                span = sentence[side]
                self.assertEqual(text[span["begin_char"]:span["end_char"]], span["text"])
                self.assertEqual(text.encode()[span["begin"]:span["end"]].decode(), span["text"])
                wide = text.encode("utf-16-le")[2 * span["begin_utf16"]:2 * span["end_utf16"]]
                self.assertEqual(wide.decode("utf-16-le"), span["text"])
                self.assertLessEqual(ends[side], span["begin"])
                self.assertEqual(text[ends[side]:span["begin_char"]].strip(" \n😀🎉"), "", q)
                ends[side] = span["end_char"]
        return [(s["source"]["text"], s["target"]["text"], s.get("alternatives")) for s in reply["sentences"]]

    def test_sentences_say_where_they_stand(self):
        self.assertNotIn("sentences", self.daemon.translate("Hello.").json)
        station = "Wo ist der Bahnhof?"
        self.assertEqual(
            self.sentences("Thank you.\n\n  Where is the train station? 😀 I am tired."),
            [("Thank you.", self.daemon.translate("Thank you.").json["translatedText"], None),
             ("Where is the train station?", station, None), ("I am tired.", "Ich bin müde.", None)],
        )
        heading = self.daemon.translate("train station").json["translatedText"]
        self.assertEqual(self.sentences("train station\n"), [("train station", heading, None)])
        page = self.sentences("🎉 See page %d. Write to me@example.org, please! I am tired.")
        self.assertEqual([source for source, _, _ in page][1:], ["Write to me@example.org, please!", "I am tired."])
        self.assertIn("%d", page[0][1])
        self.assertIn("me@example.org", page[1][1])
        self.assertEqual(self.sentences(" \n "), [])

    def test_sentences_have_alternatives_of_their_own(self):
        q = "Where is the train station? We are here."
        reply = self.daemon.translate(q, return_sentences=True, alternatives=3).json
        found = self.sentences(q, alternatives=3)
        for i, (source, target, others) in enumerate(found):
            self.assertEqual(len({target, *others}), 1 + len(others), source)
            for text in others:
                self.assertTrue(any(text in whole for whole in reply["alternatives"]), text)
        self.assertGreaterEqual(len(found[0][2]) + len(found[1][2]), 1)
        self.assertEqual(found[0][1] + " " + found[1][1], reply["translatedText"])

    def test_sentences_of_each_text(self):
        reply = self.daemon.translate(["Hello. Thank you.", " ", "I am tired."], return_sentences=True).json
        self.assertEqual([len(one) for one in reply["sentences"]], [2, 0, 1])
        self.assertEqual(self.daemon.translate("Hallo.", source="de", target="de", return_sentences=True).json["sentences"], [])
        self.refused(
            {"q": "<p>Hello.</p>", "source": "en", "target": "de", "format": "html", "return_sentences": True}, 400,
            "return_sentences is for format text, but format is html",
        )

    def test_sentences_of_all_kinds_of_text(self):
        pieces = ["I am tired.", "See %d of {n}.", "😀", "https://example.com/a?b=c", "the old house", "NO WAY!", "\n", "\n\n", "me@example.org",
                  "is x{y}z?", "Äh, %s…", "“Yes,” she said.", "🎉Thank you🎉", "It weighs 1.5 kg."]
        chance = random.Random(1)
        for _ in range(60):
            self.sentences(" ".join(chance.choice(pieces) for _ in range(chance.randint(1, 9))),
                           split_sentences=chance.choice(["on", "on", "off", "newlines"]), alternatives=chance.choice([0, 2]))

    def test_decoding_options_have_effect(self):
        def translation(**options):
            return self.daemon.translate(LONG[:64], split_sentences="off", **options).json

        text = translation()["translatedText"]
        short = translation(max_decoding_length=3)["translatedText"]
        self.assertLess(len(short), len(text))
        usage = translation(min_decoding_length=30, return_usage=True)["usage"]
        self.assertGreaterEqual(usage["target_tokens"], 30)
        greedy = translation(beam_size=1, return_scores=True)["scores"]
        wide = translation(beam_size=6, return_scores=True)["scores"]
        self.assertNotEqual(greedy, wide)

    def test_target_prefix_begins_the_translation(self):
        reply = self.daemon.translate("Where is the train station?", target_prefix="Sagen Sie mir")
        self.assertTrue(reply.json["translatedText"].startswith("Sagen Sie mir"), reply)

    def test_line_breaks_and_blanks_stay(self):
        text = self.daemon.translate("Hello.\n\n  Thank you.  \n").json["translatedText"]
        self.assertRegex(text, r"^[^\n]+\n\n  [^\n]+  \n$")

    def test_unknown_fields_and_null_are_ignored(self):
        reply = self.daemon.translate("Hello.", api_key=None, secret="", something={"a": [1]})
        self.assertEqual(reply.status, 200)

    # The encodings of the request.

    def test_urlencoded_form(self):
        form = {"q": "Where is the train station?\r\n", "source": "en", "target": "de",
                "alternatives": "0", "return_usage": "true", "beam_size": "2"}
        reply = self.post(urllib.parse.urlencode(form), "application/x-www-form-urlencoded")
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.json["translatedText"], "Wo ist der Bahnhof?")
        self.assertIn("usage", reply.json)

    def test_query_string_with_empty_body(self):
        query = urllib.parse.urlencode({"q": "Thank you & goodbye.", "source": "en", "target": "de"})
        expected = self.daemon.translate("Thank you & goodbye.").json
        for content_type in (None, "application/json", "application/x-www-form-urlencoded"):
            reply = self.post("", content_type, path="/translate?" + query)
            self.assertEqual((reply.status, reply.json), (200, expected), content_type)

    def test_json_types(self):
        body = {"q": "Hello.", "source": "en", "target": "de"}
        for content_type in ("application/json; charset=utf-8", "application/vnd.api+json",
                             "APPLICATION/JSON"):
            self.assertEqual(self.post(body, content_type).status, 200, content_type)

    def test_a_byte_order_mark_before_json_is_passed_over(self):
        body = b"\xEF\xBB\xBF" + json.dumps({"q": "Hello.", "source": "en", "target": "de"}).encode()
        self.assertEqual(self.post(body, "application/json").json, self.daemon.translate("Hello.").json)
        reply = self.post(body, "text/plain")
        self.assertRegex(reply.error, "but the body looks like JSON")
        reply = self.post(b"\xEF\xBB\xBF", "application/json")
        self.assertEqual((reply.status, reply.error),
                         (400, "request body: line 1, column 1: expected a value, found the end of the text"))

    def test_other_type_is_no_fields(self):
        reply = self.post("q=Hello.", "text/plain")
        self.assertEqual((reply.status, reply.error), (400, "Invalid request: missing q parameter"))

    def test_json_under_another_type_is_called_so(self):
        for content_type in ("application/x-www-form-urlencoded", "text/plain", ""):
            reply = self.post(' \r\n{"q": "Hello."}', content_type)
            self.assertEqual((reply.status, reply.error), (
                400, f'Content-Type is "{content_type}", but the body looks like JSON: '
                     "expected Content-Type: application/json"))

    def test_multipart_form(self):
        form = {"q": "Where is the train station?\r\n", "source": "en", "target": "de",
                "alternatives": "1", "return_scores": "true", "api_key": ""}
        body = "".join(f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                       for name, value in form.items()) + "--b--\r\n"
        reply = self.post(body, "multipart/form-data; boundary=b").json
        self.assertEqual(reply["translatedText"], "Wo ist der Bahnhof?")
        self.assertEqual([len(reply[name]) for name in ("alternatives", "scores")], [1, 2])
        reply = self.post(body[:-4], "multipart/form-data; boundary=b")
        self.assertEqual((reply.status, reply.error.split(",")[0]),
                         (400, 'malformed multipart body: expected CR LF or "--" behind the boundary'))

    def test_fields_of_the_query_come_before_those_of_a_form(self):
        query = urllib.parse.urlencode({"q": "Thank you.", "source": "en"})
        reply = self.daemon.request("POST", "/translate?" + query, b"q=x&target=de",
                                    headers={"Content-Type": "application/x-www-form-urlencoded"})
        self.assertEqual(reply.body, self.daemon.translate("Thank you.").body)

    def test_malformed_form(self):
        for body in ("q=%zz", "q=%4", "q=%00", "q=%ff", "a&" * 65793):
            reply = self.post(body, "application/x-www-form-urlencoded")
            self.assertIn(reply.status, (400, 413), body)
            self.assertIn("malformed form", reply.error)

    # Refusals, in LibreTranslate's words.

    def test_missing_parameters(self):
        whole = {"q": "Hello.", "source": "en", "target": "de"}
        for name in whole:
            text = f"Invalid request: missing {name} parameter"
            self.refused({k: v for k, v in whole.items() if k != name}, 400, text)
            self.refused({**whole, name: ""}, 400, text)
            self.refused({**whole, name: None}, 400, text)
        self.refused({**whole, "q": []}, 400, "Invalid request: missing q parameter")

    def test_languages_that_are_not_there(self):
        whole = {"q": "Hello.", "source": "en", "target": "de"}
        self.refused({**whole, "target": "zz"}, 400, "zz is not supported")
        self.refused({**whole, "source": "fr"}, 400, "fr is not supported")
        self.refused({**whole, "source": "\"\n"}, 400, "\"\n is not supported")
        self.refused({**whole, "source": "de", "target": "en"}, 400,
                     "English (en) is not available as a target language from German (de)")

    def test_format(self):
        whole = {"q": "Hello.", "source": "en", "target": "de"}
        self.assertEqual(self.post({**whole, "format": "text"}).status, 200)
        self.assertEqual(self.post({**whole, "format": "html"}).status, 200)
        self.refused({**whole, "format": "yaml"}, 400, "yaml format is not supported")

    def test_alternatives_that_are_no_number(self):
        whole = {"q": "Hello.", "source": "en", "target": "de"}
        text = "Invalid request: alternatives parameter is not a number"
        for value in ("many", "1e", [1], {}, True):
            self.refused({**whole, "alternatives": value}, 400, text)
        self.refused({**whole, "alternatives": 6}, 400,
                     "Invalid request: alternatives parameter must be <= 5")
        self.refused({**whole, "alternatives": 10 ** 300}, 400,
                     "Invalid request: alternatives parameter must be <= 5")
        self.refused({**whole, "alternatives": -1}, 400,
                     "Invalid request: alternatives parameter must be >= 0")

    def test_text_and_batch_limits(self):
        text = "ä" * 2001
        self.refused({"q": text, "source": "en", "target": "de"}, 400,
                     "Invalid request: request (2001) exceeds text limit (2000)")
        self.refused({"q": ["a"] * 21, "source": "en", "target": "de"}, 400,
                     "Invalid request: request (21) exceeds text limit (20)")

    def test_wrong_types_and_ranges(self):
        whole = {"q": "Hello.", "source": "en", "target": "de"}
        wrong = [
            {"q": 5}, {"q": ["a", 1]}, {"q": [["a"]]}, {"q": {"a": "b"}}, {"q": [None]},
            {"source": 1}, {"target": ["de"]}, {"format": 1},
            {"beam_size": 0}, {"beam_size": 17}, {"beam_size": "2"}, {"beam_size": 1.5},
            {"beam_size": -(2 ** 63)}, {"beam_size": 2, "alternatives": 3},
            {"num_hypotheses": 0}, {"num_hypotheses": 3, "alternatives": 1},
            {"length_penalty": -1}, {"length_penalty": 11}, {"length_penalty": "x"},
            {"min_decoding_length": -1}, {"max_decoding_length": 0},
            {"max_decoding_length": 100000}, {"min_decoding_length": 9, "max_decoding_length": 5},
            {"split_sentences": "maybe"}, {"split_sentences": True},
            {"return_scores": "yes"}, {"return_usage": 1}, {"return_sentences": "yes"},
            {"target_prefix": 1}, {"q": ["a"], "target_prefix": "b"},
        ]
        for fields in wrong:
            reply = self.post({**whole, **fields})
            self.assertEqual(reply.status, 400, (fields, reply))
            self.assertGreater(len(reply.error), 10)

    def test_invalid_json(self):
        for body in ("", "{", '{"q":}', '{"q":"a",}', "{'q':'a'}", '{"q":"a"} x', '{"q":"\\ud800"}',
                     '{"q":"\\u0000"}', '{"q":"a","q":"b"}', "[" * 100, '{"q":01}', '{"q":NaN}'):
            reply = self.post(body)
            self.assertEqual(reply.status, 400 if body != "[" * 100 else reply.status, (body, reply))
            self.assertIn(reply.status, (400, 413))
            self.assertGreater(len(reply.error), 10)
        for body in ("[]", '"q"', "null", "5"):
            self.refused(body, 400, "Invalid JSON format")

    def test_invalid_utf8(self):
        for bad in (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc3"):
            reply = self.post(b'{"q":"' + bad + b'","source":"en","target":"de"}')
            self.assertEqual(reply.status, 400, bad)
            self.assertIsInstance(reply.error, str)

    # What stands around the body.

    def test_request_id_is_echoed(self):
        reply = self.daemon.translate("Hello.", headers={"X-Request-ID": "a-1.b:2"})
        self.assertEqual(reply.headers["x-request-id"], "a-1.b:2")
        reply = self.daemon.translate("Hello.", headers={"X-Request-ID": "x" * 200})
        self.assertNotIn("x-request-id", reply.headers)

    def test_gzip_where_it_pays(self):
        texts = ["The quick brown fox jumps over the lazy dog. " * 10] * 10
        plain = self.daemon.translate(texts)
        self.assertNotIn("content-encoding", plain.headers)
        self.assertEqual(plain.headers["vary"], "Accept-Encoding")
        packed = self.daemon.translate(texts, headers={"Accept-Encoding": "br, gzip;q=0.8"})
        self.assertEqual(packed.headers["content-encoding"], "gzip")
        self.assertEqual(gzip.decompress(packed.body), plain.body)
        self.assertLess(len(packed.body), len(plain.body) / 3)
        refused = self.daemon.translate(texts, headers={"Accept-Encoding": "gzip;q=0"})
        self.assertNotIn("content-encoding", refused.headers)
        small = self.daemon.translate("Hello.", headers={"Accept-Encoding": "gzip"})
        self.assertNotIn("content-encoding", small.headers)

    def test_cors_headers(self):
        for method, path in (("GET", "/languages"), ("OPTIONS", "/translate"), ("GET", "/nowhere")):
            headers = self.daemon.request(method, path).headers
            self.assertEqual(headers["access-control-allow-origin"], "*")
            self.assertEqual(headers["access-control-allow-headers"],
                             "Authorization, Content-Type, Traceparent, Tracestate, X-Request-ID, X-Request-Timeout")
            self.assertEqual(headers["access-control-expose-headers"],
                             "Authorization, Content-Disposition, Retry-After, Server-Timing, Traceparent, X-Request-ID")
            self.assertEqual(headers["access-control-allow-methods"], "GET, POST")
            self.assertNotIn("access-control-allow-credentials", headers)
            self.assertEqual(headers["access-control-max-age"], "1728000")

    # The other routes.

    def test_languages(self):
        reply = self.daemon.get("/languages")
        self.assertEqual(reply.json, [
            {"code": "en", "name": "English", "targets": ["de", "en"]},
            {"code": "de", "name": "German", "targets": ["de"]},
        ])

    def test_languages_with_a_body(self):
        reply = self.daemon.request("GET", "/languages", b"api_key=",
                                    headers={"Content-Type": "application/x-www-form-urlencoded"})
        self.assertEqual(reply.status, 200)

    def test_health(self):
        self.assertEqual(self.daemon.get("/health").body, b'{"status":"ok"}\n')
        self.assertEqual(self.daemon.get("/health/live").status, 200)
        self.assertEqual(self.daemon.get("/health/ready").status, 200)

    def test_metrics_count_what_happens(self):
        def count(metrics):
            return metrics.get('attentiond_http_requests_total{route="/translate",code="200"}', 0)

        before = self.daemon.metrics()
        self.daemon.translate("A secret text that nobody may read.", alternatives=1)
        self.daemon.translate("")
        after = self.daemon.metrics()
        self.assertEqual(count(after), count(before) + 1)
        self.assertGreater(after['attentiond_target_tokens_total'],
                           before['attentiond_target_tokens_total'])
        self.assertEqual(after["attentiond_requests_in_flight"], 1)
        text = self.daemon.get("/metrics").body.decode()
        self.assertNotIn("secret", text)
        self.assertNotIn("127.0.0.1", text)
        for name in ("http_request_duration_seconds_bucket", "queue_depth", "batch_size_sum",
                     "queue_wait_seconds_count", "encode_seconds_sum", "rejected_total",
                     "decode_step_seconds_count", "model_loaded", "build_info"):
            self.assertIn("attentiond_" + name, text)
        self.assertIn("\nprocess_resident_memory_bytes ", text)


class ManyTexts(unittest.TestCase):
    """As clients send a page or a film, without any setting."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def test_381_short_texts(self):
        reply = self.daemon.translate([f"Thank you {i}." for i in range(381)])
        self.assertEqual((reply.status, len(reply.json["translatedText"])), (200, 381))

    def test_4096_texts_with_languages_of_their_own(self):
        n = 4096
        texts = ["Thank you."] + [""] * (n - 1)
        reply = self.daemon.translate(texts, source=["en"] * n, target=["de"] * n)
        self.assertEqual((reply.status, len(reply.json["translatedText"])), (200, n))
        reply = self.daemon.translate(texts + [""])
        self.assertEqual((reply.status, reply.error), (400, "Invalid request: request (4097) exceeds text limit (4096)"))

    def test_300_fields_of_a_form(self):
        body = "&".join(["text=Hello."] * 300) + "&target_lang=DE&source_lang=EN"
        reply = self.daemon.request("POST", "/v2/translate", body.encode(),
                                    headers={"Content-Type": "application/x-www-form-urlencoded"})
        self.assertEqual((reply.status, len(reply.json["translations"])), (200, 300))

    def test_far_too_many_are_refused_before_they_take_memory(self):
        body = b'{"q":[' + b",".join([b'""'] * 80000) + b'],"source":"en","target":"de"}'
        reply = self.daemon.request("POST", "/translate", body, headers={"Content-Type": "application/json"})
        self.assertEqual((reply.status, reply.error), (400, "Invalid request: request (80000) exceeds text limit (4096)"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
