"""Memory that runs out: the n-th allocation fails while a request is served, a model loaded, or the
models read again, for every n. That request, load or reload fails, or ends as ever; the daemon
lives, and answers the next one.

Those of libraries fail, too, but for C++ that does not survive it: libsentencepiece's protobuf
(model/tokenizer/spm.h), and Debian 13's ICU. ATTENTIOND_TEST_ALLOCATIONS=all spares nothing; =ours fails the program's alone.
MT_TEST_FULL=1 leaves no n out."""

import collections
import http.client
import json
import mmap
import os
import pathlib
import re
import signal
import struct
import tempfile
import unittest

from model_fixtures import make_model
from serve import MODEL, SLOWNESS, Daemon, wait_until
from test_admin import Client
from test_reload import reloads

LIBRARY = os.environ.get("FAILING_MALLOC_LIBRARY", "")
IS_FULL = os.environ.get("MT_TEST_FULL") == "1"
WHOSE = {"": 2, "ours": 1, "all": 0}[os.environ.get("ATTENTIOND_TEST_ALLOCATIONS", "")]

OUT_OF_MEMORY = b'{"error":"out of memory"}\n'
NO_LINE = "log: out of memory\n"
REASON = re.compile("en-de cannot be served: .*(out of memory|Cannot allocate memory)")
TEXT = "Dr. Smith lives in a small house. Where is the station?"
LANGUAGES = {"source": "en", "target": "de"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ATTENTION = {"q": "The house is small.", **LANGUAGES}
REQUESTS = {
    "health": ("GET", "/health", None),
    "languages": ("GET", "/languages", None),
    "page": ("GET", "/", None),
    "not found": ("GET", "/nowhere", None),
    "translate": ("POST", "/translate", {"q": TEXT, **LANGUAGES}),
    "batch": ("POST", "/translate", {"q": [TEXT, "Hello."], "alternatives": 2, **LANGUAGES}),
    "sentences": ("POST", "/translate", {"q": f"{TEXT} See %d. 😀 Bye.", "alternatives": 2, "return_sentences": True, **LANGUAGES}),
    "html": ("POST", "/translate", {"q": "<p>A <b>red</b> {house}</p>", "format": "html", **LANGUAGES}),
    "auto": ("POST", "/translate", {"q": TEXT, "source": "auto", "target": "de"}),
    "wrong": ("POST", "/translate", {"q": TEXT, "source": "en", "target": "xx"}),
    "malformed": ("POST", "/translate", b"{"),
    "detect": ("POST", "/detect", {"q": TEXT}),
    "form": ("POST", "/translate", b"q=A+house.&ignore_tags=a&ignore_tags=b&source=en&target=de", FORM),
    "capitals": ("POST", "/translate", {"q": "THE STATION", **LANGUAGES}),
    "terms": ("POST", "/translate", {"q": TEXT, "glossary": {"station": "HALT", "house": "XX"},
                                     "do_not_translate": ["Smith"], **LANGUAGES}),
    "deepl": ("POST", "/v2/translate", {"text": [TEXT], "target_lang": "DE", "source_lang": "EN"}),
    "positions": ("GET", "/positions?length=8", None),
    **{f"attention {name}": ("POST", "/attention", {**ATTENTION, "format": name})
       for name in ("json", "bertviz", "inseq", "pharaoh", "soft", "safetensors", "npy", "svg", "png")},
}


class Control:
    def __init__(self, path):
        path.write_bytes(bytes(32))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 32)

    def fail(self, n):
        self.map[:] = struct.pack("4q", n, WHOSE, 0, 0)

    def state(self):
        """Allocations left, and the failed one's size and place."""
        left, _, size, place = struct.unpack("4q", self.map[:])
        return left, size, place


def counts():
    """1, 2, 3 ... and, unless nothing may be left out, wider steps later on."""
    n = 1
    while True:
        yield n
        n += 1 if IS_FULL or n < 40 else 1 + n // 12


@unittest.skipIf(SLOWNESS > 1 or not LIBRARY, "sanitizers have an allocator of their own")
class Failing(unittest.TestCase):
    """A daemon whose allocations fail when self.control says so."""

    MODEL = MODEL

    def setUp(self):
        root = tempfile.TemporaryDirectory()
        self.addCleanup(root.cleanup)
        self.root = pathlib.Path(root.name)
        path = self.root / "control"
        self.control = Control(path)
        self.daemon = Daemon(*self.flags(), model=self.MODEL,
                             environment={"LD_PRELOAD": LIBRARY, "FAILING_MALLOC": str(path)})

    def flags(self):
        return []

    def ask(self, request):
        """Status and body, or a word for a connection that ended without an answer."""
        try:
            reply = self.daemon.request(*request)
            return reply.status, reply.body
        except (ConnectionError, http.client.HTTPException):
            return "closed", b""

    def check(self, name, request):
        expected = self.ask(request)
        self.assertEqual(self.ask(request), expected, name)
        seen = collections.Counter()
        for n in counts():
            self.control.fail(n)
            status, body = self.ask(request)
            left, size, place = self.control.state()
            self.control.fail(0)
            what = f"{name}: allocation {n}, of {size} bytes at {place:#x}: {status} {body[:200]}"
            self.assertIsNone(self.daemon.process.poll(), what)
            if left > 0:
                break
            seen[status] += 1
            self.assertIn(status, (expected[0], 500, 503, "closed"), what)
            if status == expected[0]:
                is_same = body == expected[1] or (status >= 400 and body == OUT_OF_MEMORY)
                is_same = is_same or re.search(b"(?i)event: error\ndata: .*memory", body)
                self.assertTrue(is_same, what)
            elif status != "closed":
                self.assertTrue({"error", "message"} & json.loads(body).keys(), what)
                self.assertRegex(body, b"(?i)memory", what)
            if n % 10 == 0:
                self.assertEqual(self.ask(request), expected, what)
        self.assertEqual(self.ask(request), expected, name)
        print(f"{name}: {dict(seen)}")


class Memory(Failing):
    def test_one_request_fails(self):
        with self.daemon:
            for name, request in REQUESTS.items():
                self.check(name, request)
            metrics = self.daemon.metrics()
            self.assertTrue(metrics)


class ManyModels(Failing):
    MODEL = None

    def flags(self):
        self.models, self.admin = self.root / "models", self.root / "admin"
        make_model(self.models / "en-de")
        make_model(self.models / "de-fr", "de", "fr", seed=1, aliases=["german-french"])
        return ["--models-directory", str(self.models), "--models-watch-ms", "0",
                "--cache-dir", str(self.root / "cache"), "--admin-socket", str(self.admin)]

    def states(self):
        return {model["id"]: model["state"] for model in self.daemon.get("/models").json["models"]}

    def reload(self, n=0):
        """Its line in the log, or the one that there is for want of memory for it. The n-th
        allocation fails."""
        done, before = reloads(self.daemon), len(self.daemon.log_lines)
        self.control.fail(n)
        self.daemon.process.send_signal(signal.SIGHUP)

        def outcome():
            lines = self.daemon.log_lines[before:]
            for line in lines:
                if "reloaded in" in line or "reload failed" in line:
                    return line
            return NO_LINE if NO_LINE in lines and reloads(self.daemon) > done else None

        return wait_until(outcome, what="the reload")

    def test_requests(self):
        pivot = {"q": [TEXT, " "], "source": "en", "target": "fr"}
        with self.daemon:
            for name, request in {
                    "pivot": ("POST", "/translate", {"glossary": {"station": "HALT"}, **pivot}),
                    "stream": ("POST", "/translate", {"stream": True, **pivot}),
                    "no way": ("POST", "/translate", {**pivot, "source": "fr", "target": "en"}),
                    "models": ("GET", "/models"),
                    "model": ("GET", "/models/german-french")}.items():
                self.check(name, request)

    def unload(self, name):
        client = Client(self.admin)
        client.request("POST", f"/models/{name}/unload", b"")
        client.getresponse().read()
        client.close()
        wait_until(lambda: self.states()[name] == "cold", what="the end of the model")

    def test_loading(self):
        request = ("POST", "/translate", {"q": TEXT, **LANGUAGES})
        seen = collections.Counter()
        with self.daemon:
            expected = self.ask(request)
            for n in counts():
                self.unload("en-de")
                self.control.fail(n)
                status, body = self.ask(request)
                left, size, place = self.control.state()
                self.control.fail(0)
                what = f"allocation {n}, of {size} bytes at {place:#x}: {status} {body[:200]}"
                self.assertIsNone(self.daemon.process.poll(), what)
                if left > 0:
                    break
                seen[status] += 1
                self.assertIn(status, (200, 500, 503, "closed"), what)
                if status in (500, 503):
                    self.assertRegex(body, b"memory|the model en-de cannot be served now", what)
                if self.states()["en-de"] == "failed":
                    wait_until(lambda: REASON.search(self.daemon.log_lines[-1]), what="the reason")
                    self.assertIn("reloaded in", self.reload())
                self.assertEqual(self.ask(request), expected, what)
        self.assertGreater(seen[503], 40)
        print(f"loading: {dict(seen)}")

    def test_change(self):
        seen = collections.Counter()
        with self.daemon:
            known = self.states()
            for n in counts():
                os.utime(self.models / "de-fr" / "config.json")
                outcome = self.reload(n)
                left, size, place = self.control.state()
                self.control.fail(0)
                what = f"allocation {n}, of {size} bytes at {place:#x}: {outcome}"
                self.assertEqual(self.states(), known, what)
                if left > 0:
                    break
                seen["failed" in outcome] += 1
                if "failed" in outcome:
                    self.assertRegex(outcome, "out of memory|Cannot allocate memory", what)
            self.assertIn("reloaded in", self.reload())
        self.assertGreater(seen[True], 40)
        print(f"change: {dict(seen)}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
