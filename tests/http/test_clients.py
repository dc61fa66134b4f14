"""What the clients of LibreTranslate send, byte shapes and headers as theirs, replayed with curl; and
what they do with the reply, field by field. Each test is one client."""

import concurrent.futures
import json
import subprocess
import time
import unittest
import urllib.parse

from serve import SLOWNESS, Daemon, Reply

STATION, BAHNHOF = "Where is the train station?", "Wo ist der Bahnhof?"
FORM = "Content-Type: application/x-www-form-urlencoded"
JSON = "Content-Type: application/json"


def parse_reply(output, seconds):
    """curl -i: heads and body; a 100 Continue may come first."""
    head, _, body = output.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        return parse_reply(body, seconds)
    lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    return Reply(int(lines[0].split()[1]), headers, body, seconds)


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def curl(self, path, *arguments, timeout=10, daemon=None):
        daemon = daemon or self.daemon
        start = time.monotonic()
        done = subprocess.run(
            ["curl", "-sS", "-i", "--http1.1", "--max-time", str(timeout * SLOWNESS), *arguments,
             f"http://{daemon.host}:{daemon.port}{path}"],
            capture_output=True, check=True)
        return parse_reply(done.stdout, time.monotonic() - start)

    def post_json(self, fields, *arguments, path="/translate", **options):
        return self.curl(path, "-H", JSON, "--data-binary", json.dumps(fields), *arguments, **options)

    def post_form(self, fields, *arguments, path="/translate", **options):
        return self.curl(path, "-H", FORM, "--data-binary", urllib.parse.urlencode(fields), *arguments,
                         **options)

    def post_multipart(self, fields, *arguments, path="/translate", **options):
        parts = [word for name, value in fields.items() for word in ("--form-string", f"{name}={value}")]
        return self.curl(path, *parts, *arguments, **options)

    def check_json(self, reply, status=200):
        self.assertEqual((reply.status, reply.headers["content-type"]), (status, "application/json"), reply)
        return json.loads(reply.body)

    # Servers

    def test_mastodon(self):
        """q is always an array, format html; without a known language source is auto. Reads
        translatedText[i] and detectedLanguage[i].language; gives up after 10 s."""
        status = ('<p><span class="h-card" translate="no"><a href="https://example.org/@tom" '
                  'class="u-url mention">@<span>tom</span></a></span> Where is the train station?</p>')
        poll = ["Thank you.", "Good morning."]
        fields = {"q": [status, "", *poll], "source": "en", "target": "de", "format": "html", "api_key": ""}
        head = ("-H", "User-Agent: Mastodon/4.3.0 (http.rb/5.2.0; +https://example.org/)",
                "-H", "Accept-Encoding: gzip", "--compressed")
        reply = self.check_json(self.post_json(fields, *head))
        self.assertEqual(list(reply), ["translatedText"])
        texts = reply["translatedText"]
        self.assertEqual([type(text) for text in texts], [str] * 4)
        self.assertIn('<a href="https://example.org/@tom" class="u-url mention">@<span>tom</span></a>', texts[0])
        self.assertTrue(texts[0].startswith("<p>") and texts[0].endswith("</p>"), texts[0])
        self.assertEqual(texts[1], "")
        self.assertEqual(texts[2:], self.daemon.translate(poll, format="html").json["translatedText"])
        auto = self.check_json(self.post_json({**fields, "source": "auto"}, *head))
        self.assertEqual(auto["translatedText"], texts)
        self.assertEqual([item["language"] for item in auto["detectedLanguage"]], ["en"] * 4)
        languages = {item["code"]: [code for code in item["targets"] if code != item["code"]]
                     for item in self.check_json(self.curl("/languages", *head))}
        self.assertEqual(languages, {"en": ["de"], "de": []})

    def test_weblate(self):
        """JSON, up to 20 strings, no format; /languages[].code; 20 s."""
        strings = [f"The house has {n} rooms." for n in range(20)]
        fields = {"api_key": "", "q": strings, "source": "en", "target": "de"}
        reply = self.check_json(self.post_json(fields, "-H", "User-Agent: Weblate/5.10", timeout=20))
        self.assertEqual(len(reply["translatedText"]), 20)
        for text, translation in zip(strings[::7], reply["translatedText"][::7]):
            self.assertEqual(translation, self.daemon.translate(text).json["translatedText"])
        codes = [item["code"] for item in self.check_json(self.curl("/languages"))]
        self.assertEqual(codes, ["en", "de"])

    def test_discourse(self):
        """Urlencoded; detects first and looks both codes up; format html; raises on any other code."""
        head = ("-H", "User-Agent: excon/1.2.3", "-H", "TE: trailers, deflate, gzip, identity")
        detected = self.check_json(self.post_form({"q": STATION, "api_key": ""}, *head, path="/detect"))
        source = detected[0]["language"]
        codes = [item["code"] for item in self.check_json(self.curl("/languages", *head))]
        self.assertIn(source, codes)
        self.assertIn("de", codes)
        fields = {"q": f"<p>{STATION}</p>\n<pre>a &lt; b &amp;&amp; c</pre>", "source": source, "target": "de",
                  "format": "html", "api_key": ""}
        text = self.check_json(self.post_form(fields, *head))["translatedText"]
        self.assertEqual(text, f"<p>{BAHNHOF}</p>\n<pre>a &lt; b &amp;&amp; c</pre>")

    def test_nextcloud(self):
        """jefs42's PHP library: POST / first, everything a multipart form (an empty one for no fields),
        also with GET; detects by query."""
        def request(method, path, fields=None):
            if fields:
                return self.post_multipart(fields, "-X", method, path=path)
            return self.curl(path, "-X", method, "-H",
                             "Content-Type: multipart/form-data; boundary=------------------------cf1d0ddd4acda62c",
                             "--data-binary", "--------------------------cf1d0ddd4acda62c--\r\n")

        self.assertIn(request("POST", "/").status, (200, 404, 405))
        settings = self.check_json(request("GET", "/frontend/settings"))
        self.assertIs(settings["apiKeys"], False)
        self.assertEqual(settings["language"]["target"], {"code": "de", "name": "German"})
        languages = {item["code"]: item["name"] for item in self.check_json(request("GET", "/languages"))}
        self.assertEqual(languages, {"en": "English", "de": "German"})
        query = urllib.parse.urlencode({"q": STATION, "api_key": ""})
        self.assertEqual(self.check_json(request("POST", "/detect?" + query))[0]["language"], "en")
        fields = {"q": STATION, "format": "html", "source": "en", "target": "de", "api_key": ""}
        self.assertEqual(self.check_json(request("POST", "/translate", fields)), {"translatedText": BAHNHOF})
        error = self.check_json(request("POST", "/translate", {**fields, "target": "fr"}), 400)
        self.assertEqual(error, {"error": "fr is not supported"})
        suggestion = {"q": STATION, "s": BAHNHOF, "source": "en", "target": "de", "api_key": ""}
        self.assertEqual(self.check_json(self.post_form(suggestion, path="/suggest"), 403),
                         {"error": "Suggestions are disabled on this server."})

    def test_wagtail_localize(self):
        """JSON array with format html, zipped with what was asked; 10 s."""
        strings = ["<b>Thank you.</b>", f'<a id="a1">{STATION}</a>', "<code>&amp;x</code>"]
        fields = {"q": strings, "source": "en", "target": "de", "api_key": "", "format": "html"}
        reply = self.check_json(self.post_json(fields, "-H", "User-Agent: python-requests/2.32.3",
                                               "-H", "Accept-Encoding: gzip, deflate", "--compressed"))
        self.assertEqual(len(reply["translatedText"]), len(strings))
        self.assertEqual(reply["translatedText"][1], f'<a id="a1">{BAHNHOF}</a>')
        self.assertRegex(reply["translatedText"][0], r"^<b>[^<]+</b>$")
        self.assertEqual(reply["translatedText"][2], strings[2])

    def test_lingarr(self):
        """JSON, one subtitle line per request, many at once; retries 429 and 503 and nothing else."""
        lines = [f"There are {n} people in the room." for n in range(24)]
        expected = self.daemon.translate(lines).json["translatedText"]

        def translate(line):
            fields = {"q": line, "source": "en", "target": "de", "format": "text", "api_key": ""}
            while True:
                reply = self.post_json(fields, "-H", "Accept: application/json", timeout=30, daemon=daemon)
                if reply.status not in (429, 503):
                    return self.check_json(reply)["translatedText"]
                self.assertGreaterEqual(int(reply.headers["retry-after"]), 1)

        for flags in ((), ("--max-queued-sentences", "2", "--max-batch-rows", "4")):
            with Daemon(*flags) as daemon, concurrent.futures.ThreadPoolExecutor(8) as pool:
                self.assertEqual(list(pool.map(translate, lines)), expected)

    # Libraries

    def test_libretranslatepy(self):
        """urllib: urlencoded; GET /languages with a body, empty without a key."""
        head = ("-H", "User-Agent: Python-urllib/3.11", "-H", "Accept-Encoding: identity",
                "-H", "Connection: close")
        reply = self.post_form({"q": STATION, "source": "en", "target": "de"}, *head)
        self.assertEqual(self.check_json(reply)["translatedText"], BAHNHOF)
        detected = self.check_json(self.post_form({"q": STATION}, *head, path="/detect"))
        self.assertIsInstance(detected[0]["confidence"], float)
        for body in ("", "api_key=" + "k" * 36):
            reply = self.curl("/languages", "-X", "GET", "-H", FORM, "--data-binary", body, *head)
            self.assertEqual([item["name"] for item in self.check_json(reply)], ["English", "German"])

    def test_deep_translator(self):
        """requests.post(params=...): all in the query string, Content-Length 0, no type."""
        head = ("-X", "POST", "-H", "Content-Length: 0", "-H", "User-Agent: python-requests/2.32.3")
        query = {"q": f"{STATION}\nThank you & good bye; 100 % + 1.", "source": "auto", "target": "de",
                 "format": "text"}
        reply = self.check_json(self.curl("/translate?" + urllib.parse.urlencode(query), *head))
        self.assertEqual(reply["translatedText"], self.daemon.translate(query["q"]).json["translatedText"])
        self.assertEqual(reply["translatedText"].split("\n")[0], BAHNHOF)
        query["target"] = "fr"
        reply = self.curl("/translate?" + urllib.parse.urlencode(query), *head)
        self.assertEqual(reply.status, 400)  # ServerException

    def test_go(self):
        """SnakeSel: urlencoded, sorted; JSON in every reply; /detect with exactly one entry."""
        head = ("-H", "User-Agent: Go-http-client/1.1", "-H", "Accept-Encoding: gzip", "--compressed")
        fields = {"q": STATION, "source": "auto", "target": "de"}
        self.assertEqual(self.check_json(self.post_form(fields, *head))["translatedText"], BAHNHOF)
        error = self.check_json(self.post_form({"q": STATION, "source": "xx", "target": "de"}, *head), 400)
        self.assertEqual(error["error"], "xx is not supported")
        for text in (STATION, "Mixed: Wo ist der Bahnhof? Where is it?", "???", "Où est la gare ?"):
            self.assertEqual(len(self.check_json(self.post_form({"q": text}, *head, path="/detect"))), 1)
        self.assertEqual(self.check_json(self.post_form({}, *head, path="/detect"), 400),
                         {"error": "Invalid request: missing q parameter"})

    def test_ruby(self):
        """noesya: JSON with a null key; error on every other code than 200."""
        head = ("-H", "Accept: */*", "-H", "User-Agent: Ruby", "-H",
                "Accept-Encoding: gzip;q=1.0,deflate;q=0.6,identity;q=0.3", "--compressed")
        fields = {"q": STATION, "source": "en", "target": "de", "format": "text", "api_key": None}
        self.assertEqual(self.check_json(self.post_json(fields, *head))["translatedText"], BAHNHOF)
        detected = self.check_json(self.post_json({"q": STATION, "api_key": None}, *head, path="/detect"))
        self.assertEqual(detected[0]["language"], "en")
        for wrong in ({"q": None}, {"source": "xx"}, {"format": "md"}, {"alternatives": "x"}):
            error = self.check_json(self.post_json({**fields, **wrong}, *head), 400)
            self.assertIsInstance(error["error"], str)
        self.assertEqual(len(self.check_json(self.curl("/languages", *head))), 2)

    def test_dotnet(self):
        """LibreTranslate.Net: FormUrlEncodedContent, null as ""; Subtitle Edit: JSON, several lines; and
        MultipartFormDataContent, which writes names without quotes."""
        fields = {"q": STATION, "source": "en", "target": "de", "format": "text", "api_key": ""}
        self.assertEqual(self.check_json(self.post_form(fields))["translatedText"], BAHNHOF)
        lines = {**fields, "q": f"{STATION}\nThank you.\n\n- Good morning."}
        reply = self.check_json(self.curl("/translate", "-H", "Content-Type: application/json; charset=utf-8",
                                          "--data-binary", json.dumps(lines)))
        self.assertEqual([not line for line in reply["translatedText"].split("\n")], [False, False, True, False])
        boundary = "9d2b3a1e-1b3a-4a1c-9f7e-5f3d1c2b4a60"
        body = "".join(f"--{boundary}\r\nContent-Type: text/plain; charset=utf-8\r\n"
                       f"Content-Disposition: form-data; name={name}\r\n\r\n{value}\r\n"
                       for name, value in fields.items()) + f"--{boundary}--\r\n"
        reply = self.curl("/translate", "-H", f'Content-Type: multipart/form-data; boundary="{boundary}"',
                          "--data-binary", body)
        self.assertEqual(self.check_json(reply), {"translatedText": BAHNHOF})

    def test_rust(self):
        """libretranslate-rs: JSON without a format, a single string; reads error or translatedText."""
        fields = {"q": STATION, "source": "auto", "target": "de"}
        reply = self.check_json(self.post_json(fields, "-H", "accept: */*"))
        self.assertEqual(reply["translatedText"], BAHNHOF)
        self.assertEqual(sorted(reply["detectedLanguage"]), ["confidence", "language"])

    # A browser

    def test_web_page_of_libretranslate(self):
        """multipart from another origin, three alternatives, the request before cut off at each key."""
        head = ("-H", "Origin: https://example.org", "-H", "Referer: https://example.org/")
        fields = {"q": STATION, "source": "auto", "target": "de", "format": "text", "alternatives": "3",
                  "api_key": ""}
        for n in range(1, 8):
            subprocess.run(
                ["curl", "-s", "--max-time", "0.02", "--form-string", f"q={STATION * 20 * n}",
                 "--form-string", "source=auto", "--form-string", "target=de",
                 f"http://{self.daemon.host}:{self.daemon.port}/translate"],
                stdout=subprocess.DEVNULL, check=False)
        reply = self.post_multipart(fields, *head)
        self.assertEqual(reply.headers["access-control-allow-origin"], "*")
        data = self.check_json(reply)
        self.assertEqual(data["translatedText"], BAHNHOF)
        self.assertEqual(data["detectedLanguage"]["language"], "en")
        self.assertGreater(data["detectedLanguage"]["confidence"], 50)
        self.assertTrue(0 < len(data["alternatives"]) <= 3 and BAHNHOF not in data["alternatives"], data)
        settings = self.check_json(self.curl("/frontend/settings", *head))
        self.assertLess(len(STATION), settings["charLimit"])
        self.assertEqual((settings["suggestions"], settings["language"]["source"]["code"]), (False, "auto"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
