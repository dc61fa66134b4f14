"""What is told of a request: a line in the log, the times in its reply, and whose trace it is part of."""

import json
import pathlib
import re
import shlex
import tempfile
import threading
import time
import unittest

from serve import MODEL, Daemon, wait_until

TRACE_ID, PARENT_ID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACE = f"00-{TRACE_ID}-{PARENT_ID}-01"
KEY = "5e0f7f0c3e1a4c52b7d1c8a9e2f4d610"
TIMES = ("queue", "encoder", "decoder", "total")
SERVER_TIMING = re.compile(r"queue;dur=([\d.]+), encoder;dur=([\d.]+), decoder;dur=([\d.]+), total;dur=([\d.]+)")


def timing(reply):
    return dict(zip(TIMES, map(float, SERVER_TIMING.fullmatch(reply.headers["server-timing"]).groups())))


def records(daemon):
    """Of the log in JSON, what is told of requests."""
    lines = [json.loads(line) for line in daemon.log_lines]
    return [line for line in lines if line["message"] == "request"]


class Lines(unittest.TestCase):
    def logged(self, daemon, n):
        """The n lines that there must be by now; they are written when the last byte has been sent."""
        wait_until(lambda: len(records(daemon)) >= n, what=f"{n} lines")
        self.assertEqual(len(records(daemon)), n)
        return records(daemon)

    def test_a_line_says_what_a_request_was(self):
        with Daemon("--log-format", "json", "--log-requests") as daemon:
            reply = daemon.translate(["Hello.", "How are you? I am well."],
                                     headers={"X-Request-ID": "id-1", "traceparent": TRACE})
            line = self.logged(daemon, 1)[0]
            self.assertEqual(list(line), [
                "time", "level", "message", "method", "route", "status", "bytes", "models", "sentences", "source_tokens",
                "target_tokens", "queue_ms", "encoder_ms", "decoder_ms", "total_ms", "request_id", "trace_id", "parent_id"])
            expected = {"level": "info", "method": "POST", "route": "/translate", "status": 200, "bytes": len(reply.body),
                        "models": pathlib.Path(MODEL).name, "sentences": 3, "request_id": "id-1", "trace_id": TRACE_ID,
                        "parent_id": PARENT_ID}
            self.assertEqual({name: line[name] for name in expected}, expected)
            self.assertGreater(line["source_tokens"], 10)
            self.assertGreater(line["target_tokens"], 10)
            self.assertLess(line["target_tokens"], 60)
            metrics = daemon.metrics()  # those of the warm-up are not among the request's
            self.assertLess(line["source_tokens"], metrics["attentiond_source_tokens_total"])
            self.assertLess(line["target_tokens"], metrics["attentiond_target_tokens_total"])
            before = metrics["attentiond_source_tokens_total"], metrics["attentiond_target_tokens_total"]
            daemon.translate(["Hello.", "How are you? I am well."])
            metrics = daemon.metrics()
            self.assertEqual((metrics["attentiond_source_tokens_total"] - before[0], metrics["attentiond_target_tokens_total"] - before[1]),
                             (line["source_tokens"], line["target_tokens"]))
            self.check_times(line, reply)

    def check_times(self, line, reply):
        """Those of the reply are those of the line, whose total is until the last byte has been sent."""
        told = timing(reply)
        for name in ("queue", "encoder", "decoder"):
            self.assertAlmostEqual(line[f"{name}_ms"], told[name], 6)
        self.assertGreater(told["encoder"], 0)
        self.assertGreater(told["decoder"], 0)
        self.assertLessEqual(told["queue"] + told["encoder"] + told["decoder"], told["total"])
        self.assertLessEqual(told["total"], line["total_ms"])
        self.assertLess(line["total_ms"], reply.seconds * 1000 + 1000)

    def test_every_request_has_one_and_only_where_it_is_wanted(self):
        with Daemon("--log-format", "json") as daemon:
            daemon.translate("Hello.")
        self.assertEqual(records(daemon), [])
        with Daemon("--log-format", "json", "--log-requests") as daemon:
            daemon.get("/health")
            daemon.request("HEAD", "/languages")
            daemon.request("OPTIONS", "/translate")
            daemon.get("/models/nothing?secret=1")
            daemon.get("/no/such/path")
            daemon.request("DELETE", "/translate")
            daemon.request("BREW", "/translate")
            daemon.translate(["Hello."] * 3, source="xx")
            daemon.translate("  ")
            daemon.request("POST", "/translate", b"q=Hello.&source=en&target=de",
                           {"Accept-Encoding": "gzip", "Content-Type": "application/x-www-form-urlencoded"})
            got = [(line.get("method"), line.get("route"), line["status"]) for line in self.logged(daemon, 10)]
            self.assertEqual(got, [
                ("GET", "/health", 200), ("HEAD", "/languages", 200), ("OPTIONS", None, 200), ("GET", "/models/", 404),
                ("GET", None, 404), ("DELETE", None, 405), (None, None, 405), ("POST", "/translate", 400),
                ("POST", "/translate", 200), ("POST", "/translate", 200)])
            self.assertNotIn("queue_ms", records(daemon)[-2])  # nothing was decoded
            self.assertEqual(records(daemon)[-1]["sentences"], 1)

    def test_bytes_are_those_of_the_body(self):
        with Daemon("--log-format", "json", "--log-requests") as daemon:
            replies = [daemon.translate(["A sentence of some length, again and again."] * 40, headers={"Accept-Encoding": "gzip"}),
                       daemon.get("/openapi.json"), daemon.get("/nowhere"),
                       daemon.request("POST", "/attention", {"q": "Hello there, friend.", "kinds": ["cross"]}),
                       daemon.translate("One. Two.", stream=True)]
            self.assertEqual(replies[0].headers["content-encoding"], "gzip")
            self.assertIn("text/event-stream", replies[-1].headers["content-type"])
            lines = self.logged(daemon, len(replies))
            self.assertEqual([line["bytes"] for line in lines], [len(reply.body) for reply in replies])
            self.assertEqual(lines[-1]["sentences"], 2)
            self.assertGreater(lines[-1]["decoder_ms"], 0)

    def test_nothing_of_a_text_and_nothing_unchecked(self):
        text, evil = "Zanzibar", '\\"},\t{"level":"error"} key=x'
        with tempfile.TemporaryDirectory() as folder:
            keys = pathlib.Path(folder) / "keys"
            keys.write_text(f'{KEY} name=a"\\\u00e4\u009b=b\n', encoding="utf-8")
            for form in ("json", "text"):
                with Daemon("--log-format", form, "--log-requests", "--api-keys-file", str(keys), "--log-level", "debug") as daemon:
                    headers = {name: evil.encode() for name in ("X-Request-ID", "traceparent", "User-Agent", "Referer")}
                    reply = daemon.translate(text, api_key=KEY, headers=headers)
                    self.assertEqual(reply.status, 200)
                    self.assertNotIn("x-request-id", reply.headers)
                    daemon.get(f"/{text}?q={text}%0A{{}}", headers=headers)
                    daemon.request("POST", f"/translate?q={text}&source=en&target=de&api_key={KEY}")
                    daemon.raw(f"GET /{text} HTTP/1.1\r\nBad Name: {text}\r\n\r\n".encode())
                    daemon.raw(f"{text} /\x1b[2J{text} HTTP/1.1\r\n\r\n".encode())
                    wait_until(lambda: daemon.log.count(" request " if form == "text" else '"request"') >= 3)
                lines = daemon.log_lines
                for secret in (text, KEY, "error", "Hallo", "127.0.0.1:"):
                    self.assertNotIn(secret, re.sub(r"listening on \S+", "", daemon.log))
                if form == "json":
                    self.assertEqual(len(lines), len([json.loads(line) for line in lines]))
                    self.assertEqual(records(daemon)[0]["key"], 'a"\\\u00e4\u009b=b')
                else:
                    line = next(line for line in lines if " request " in line)
                    self.assertIn(' key="a\\"\\\\\u00e4\\x9b=b" ', line)

    def test_lines_for_people(self):
        with Daemon("--log-requests") as daemon:
            daemon.translate("Hello.", headers={"X-Request-ID": "a=b", "traceparent": TRACE})
            line = wait_until(lambda: next((line for line in daemon.log_lines if " request " in line), None))
        when, level, what, *fields = shlex.split(line)
        self.assertEqual((level, what), ("info", "request"))
        self.assertRegex(when, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        found = dict(field.split("=", 1) for field in fields)
        self.assertEqual((found["method"], found["route"], found["status"], found["sentences"]), ("POST", "/translate", "200", "1"))
        self.assertEqual((found["request_id"], found["trace_id"]), ("a=b", TRACE_ID))
        float(found["total_ms"])

    def test_a_client_that_leaves_and_one_that_is_too_late(self):
        with Daemon("--log-format", "json", "--log-requests", "--workers", "1", "--max-batch-rows", "8") as daemon:
            text = " ".join(f"This is the sentence with number {i}, which is long enough to take some time." for i in range(100))
            def leave():
                connection = daemon.socket()
                body = json.dumps({"q": text, "source": "en", "target": "de", "beam_size": 8}).encode()
                connection.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                   b"Content-Length: %d\r\n\r\n" % len(body) + body)
                wait_until(lambda: daemon.metrics()["attentiond_queue_depth"] > 0)
                connection.close()
            leave()
            wait_until(lambda: any(line.get("route") == "/translate" for line in records(daemon)))
            self.assertEqual([line["status"] for line in records(daemon) if line.get("route") == "/translate"], [499])
            late = daemon.translate(text, beam_size=8, headers={"X-Request-Timeout": "0.2"})
            self.assertEqual(late.status, 504)
            self.assertIn("server-timing", late.headers)

    def test_it_can_be_changed_while_the_daemon_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "attentiond.json"
            config.write_text('{"log_format": "json"}', encoding="utf-8")
            with Daemon("--config", str(config)) as daemon:
                daemon.translate("Hello.")
                self.assertEqual(records(daemon), [])
                config.write_text('{"log_format": "json", "log_requests": true}', encoding="utf-8")
                daemon.process.send_signal(1)
                wait_until(lambda: daemon.metrics()["attentiond_generation"] == 2)
                daemon.translate("Hello.")
                wait_until(lambda: any(line.get("route") == "/translate" for line in records(daemon)))


class Traces(unittest.TestCase):
    def test_a_good_one_comes_back_and_a_bad_one_does_not(self):
        with Daemon() as daemon:
            for path in ("/languages", "/health", "/nowhere"):
                self.assertEqual(daemon.get(path, headers={"traceparent": TRACE}).headers["traceparent"], TRACE)
            reply = daemon.translate("Hello.", headers={"Traceparent": TRACE.replace("00-", "42-", 1) + "-more"})
            self.assertEqual(reply.headers["traceparent"], TRACE)
            reply = daemon.translate("Hello.", headers={"traceparent": TRACE, "tracestate": "a=b"}, stream=True)
            self.assertEqual(reply.headers["traceparent"], TRACE)
            self.assertNotIn("tracestate", reply.headers)
            self.assertNotIn("server-timing", reply.headers)
            for bad in (TRACE.upper(), TRACE + "-", "00-" + "0" * 32 + f"-{PARENT_ID}-01", "x", ""):
                self.assertNotIn("traceparent", daemon.translate("Hello.", headers={"traceparent": bad}).headers, bad)
            self.assertNotIn("traceparent", daemon.translate("Hello.").headers)
            twice = daemon.raw(f"GET /languages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                               f"traceparent: {TRACE}\r\ntraceparent: {TRACE}\r\n\r\n".encode())
            self.assertTrue(twice.startswith(b"HTTP/1.1 200"))
            self.assertNotIn(TRACE_ID.encode(), twice)


class Timing(unittest.TestCase):
    def test_replies_of_models_say_where_the_time_went(self):
        with Daemon() as daemon:
            for path, body in (("/translate", {"q": "Hello.", "source": "en", "target": "de"}),
                               ("/v2/translate", {"text": ["Hello."], "target_lang": "DE"}),
                               ("/attention", {"q": "Hello."})):
                reply = daemon.request("POST", path, body)
                self.assertEqual(reply.status, 200, reply)
                told = timing(reply)
                self.assertGreater(told["decoder"], 0, path)
                self.assertLessEqual(told["queue"] + told["encoder"] + told["decoder"], told["total"], path)
                self.assertLessEqual(told["total"], reply.seconds * 1000, path)
                exposed = reply.headers["access-control-expose-headers"].split(", ")
                self.assertLessEqual({"Server-Timing", "Traceparent", "X-Request-ID"}, set(exposed))
            blank = daemon.translate(" ")
            self.assertEqual([timing(blank)[name] for name in TIMES[:3]], [0, 0, 0])
            for path in ("/languages", "/health", "/nowhere"):
                self.assertNotIn("server-timing", daemon.get(path).headers)

    def test_the_time_in_the_queue_is_told(self):
        """A request behind a long one, in a batch of one sentence at a time."""
        with Daemon("--workers", "1", "--max-batch-rows", "4", "--beam-size", "4") as daemon:
            long = threading.Thread(target=daemon.translate, args=(["It is a long way to the railway station of the old town."] * 12,))
            long.start()
            wait_until(lambda: daemon.metrics()["attentiond_queue_depth"] > 0)
            start = time.monotonic()
            reply = daemon.translate(["Hello."] * 6)
            seconds = time.monotonic() - start
            long.join()
            told = timing(reply)
            self.assertGreater(told["queue"], told["encoder"] + told["decoder"])
            self.assertLessEqual(told["total"], seconds * 1000)


if __name__ == "__main__":
    unittest.main()
