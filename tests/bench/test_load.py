"""The load generator against stand-ins for the daemon whose behaviour is known.

python3 tests/bench/test_load.py LOAD [unittest arguments]
"""

import contextlib
import json
import os
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import unittest

load = sys.argv.pop(1) if len(sys.argv) > 1 else "load"

DONE, FAILED, USAGE = 0, 1, 2
LINES = ["Hello.", "", "Grüße, \"Welt\"", "  ", "Three."]
TEXTS = [line for line in LINES if line.strip()]
N_TOKENS = 7
GOOD = json.dumps({"translatedText": "\"target_tokens\":99", "usage": {"source_tokens": 3, "target_tokens": N_TOKENS}}).encode()


def http(body, status="200 OK", more=""):
    return f"HTTP/1.1 {status}\r\n{more}content-length: {len(body)}\r\n\r\n".encode() + body


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        try:
            while line := self.rfile.readline():
                length = 0
                while header := self.rfile.readline().strip():
                    name, value = header.split(b": ")
                    length = int(value) if name == b"Content-Length" else length
                self.server.answer(self, line, json.loads(self.rfile.read(length)))
        except (ConnectionError, StopIteration):
            pass

    def send(self, *pieces):
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()
            if len(pieces) > 1:
                time.sleep(0.01)


class Standin(socketserver.ThreadingTCPServer):
    """answer(handler, request_line, body) is called for every request, in the connection's thread."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", delete=False) as file:
            file.write("\n".join(LINES) + "\n")
        cls.input = file.name
        cls.addClassCleanup(os.unlink, file.name)

    def run_load(self, *flags, code=DONE):
        done = subprocess.run([load, *map(str, flags)], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def drive(self, answer, *flags, code=DONE, warm_up=0):
        """The one run against the stand-in, as load reports it."""
        with Standin(answer) as standin:
            done = self.run_load("--port", standin.server_address[1], "--input", self.input, "--json",
                                 "--warm-up", warm_up, *flags, code=code)
        runs = json.loads(done.stdout)["runs"]
        self.assertEqual(len(runs), 1)
        return runs[0]

    def refused(self, pattern, *flags, code=USAGE):
        done = self.run_load(*flags, code=code)
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(done.stdout, "")


class Requests(Case):
    def test_lines_are_sent_in_order_with_the_options(self):
        seen = []

        def answer(handler, line, body):
            seen.append((line, body))
            handler.send(http(GOOD))

        run = self.drive(answer, "--clients", 1, "--requests", 7, "--beam-size", 3, "--min-decoding-length", 4,
                         "--max-decoding-length", 5, "--split-sentences", "off", "--target", "fr")
        self.assertEqual([body["q"] for _, body in seen], TEXTS[:1] + (TEXTS * 3)[:7])  # one to probe
        expected = {"source": "en", "target": "fr", "return_usage": True, "beam_size": 3, "min_decoding_length": 4,
                    "max_decoding_length": 5, "split_sentences": "off"}
        for line, body in seen:
            self.assertEqual(line, b"POST /translate HTTP/1.1\r\n")
            body.pop("q")
            self.assertEqual(body, expected)
        self.assertEqual((run["answered"], run["latencies"], run["target_tokens"]), (7, 7, 7 * N_TOKENS))

    def test_options_that_are_not_given_are_not_sent(self):
        def answer(handler, _, body):
            self.assertEqual(sorted(body), ["q", "return_usage", "source", "target"])
            handler.send(http(GOOD))

        self.drive(answer, "--clients", 1, "--requests", 1)


class Closed(Case):
    def test_each_client_waits_for_its_answer(self):
        lock, now, most = threading.Lock(), [0], [0]

        def answer(handler, *_):
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            time.sleep(0.05)
            with lock:
                now[0] -= 1
            handler.send(http(GOOD))

        run = self.drive(answer, "--clients", 4, "--duration", 1)
        self.assertEqual(most[0], 4)
        self.assertGreaterEqual(run["latency_ms"]["p50"], 50)
        self.assertLessEqual(run["requests_per_second"], 4 / 0.05)
        self.assertEqual(run["answered"] * N_TOKENS, run["target_tokens"])
        self.assertAlmostEqual(run["seconds"], 1, delta=0.5)

    def test_warm_up_is_not_measured(self):
        begin = []

        def answer(handler, *_):
            begin.append(time.monotonic())
            time.sleep(0.8 if begin[-1] - begin[0] < 0.5 else 0.01)
            handler.send(http(GOOD))

        run = self.drive(answer, "--clients", 1, "--duration", 0.5, warm_up=1.5)
        self.assertLess(run["latency_ms"]["max"], 700)

    def test_percentiles_are_those_of_the_samples(self):
        delays = iter([0] + [0.01] * 18 + [0.5, 0.8])
        run = self.drive(lambda handler, *_: (time.sleep(next(delays)), handler.send(http(GOOD))), "--clients", 1,
                         "--requests", 20)
        latency = run["latency_ms"]
        self.assertTrue(10 <= latency["p50"] <= latency["p90"] < 500 <= latency["p99"] == latency["max"], latency)
        self.assertGreaterEqual(latency["max"], 800)


class Open(Case):
    def test_latency_counts_from_the_intended_time(self):
        """A daemon that does 50 a second, asked for 250 a second through 4 connections: a client that
        looked only at what it sent would see at most 4 * 20 ms."""
        lock = threading.Lock()

        def answer(handler, *_):
            with lock:
                time.sleep(0.02)
            handler.send(http(GOOD))

        run = self.drive(answer, "--rate", 250, "--connections", 4, "--duration", 0.4)
        self.assertGreater(run["latency_ms"]["max"], 800)
        self.assertGreater(run["latency_ms"]["p50"], 300)

    def test_arrivals_come_at_the_rate_whatever_the_daemon_does(self):
        def answer(handler, *_):
            time.sleep(0.1)
            handler.send(http(GOOD))

        run = self.drive(answer, "--rate", 400, "--duration", 1, "--connections", 100)
        self.assertTrue(300 <= run["latencies"] <= 500, run)  # 400 +- 5 standard deviations

    def test_arrivals_of_a_burst_are_sent_together(self):
        times = []

        def answer(handler, *_):
            times.append(time.monotonic())
            handler.send(http(GOOD))

        run = self.drive(answer, "--rate", 400, "--duration", 1, "--connections", 100, "--burst-ms", 100)
        self.assertTrue(300 <= run["latencies"] <= 500, run)
        times.sort()
        pauses = sum(after - before > 0.05 for before, after in zip(times, times[1:]))
        self.assertTrue(5 <= pauses <= 10, pauses)
        self.assertGreater(run["latency_ms"]["p50"], 25)  # from when it arrived

    def test_the_seed_decides_the_arrivals(self):
        counts = {seed: [self.drive(lambda handler, *_: handler.send(http(GOOD)), "--rate", 300, "--duration", 0.3,
                                    "--seed", seed)["latencies"] for _ in range(2)] for seed in (1, 2, 3)}
        for seed, (first, second) in counts.items():
            self.assertEqual(first, second, f"seed {seed}")
        self.assertGreater(len({first for first, _ in counts.values()}), 1)


class Errors(Case):
    def test_answers_other_than_200_are_counted_by_status(self):
        n = [-1]

        def answer(handler, *_):
            n[0] += 1
            if n[0] % 3 == 1:
                handler.send(http(b'{"error":"later"}', "503 Service Unavailable"))
            elif n[0] % 3 == 2:
                handler.send(http(b'{"error":"soon"}', "429 Slow Down"))
            else:
                handler.send(http(GOOD))

        run = self.drive(answer, "--clients", 1, "--requests", 9, code=FAILED)
        self.assertEqual(run["errors"], {"503": 3, "429": 3})
        self.assertEqual((run["answered"], run["latencies"]), (3, 3))
        self.assertEqual(run["first_error"], '503: {"error":"later"}')

    def test_refusals_are_timed_and_those_that_do_not_say_when_to_come_again_are_counted(self):
        n = [-1]

        def answer(handler, *_):
            n[0] += 1
            if n[0] % 4 == 0:
                handler.send(http(GOOD))
                return
            time.sleep(0.2 if n[0] == 3 else 0)
            more = "" if n[0] == 6 else "retry-after: 1\r\n"
            handler.send(http(b'{"error":"later"}', "503 Service Unavailable", more))

        run = self.drive(answer, "--clients", 1, "--requests", 12, code=FAILED)
        refusals = run["refusals"]
        self.assertEqual((refusals["count"], refusals["without_retry_after"]), (9, 1))
        self.assertTrue(0 < refusals["p50_ms"] < 200 <= refusals["max_ms"] == refusals["p99_ms"], refusals)
        self.assertEqual((refusals["own_max_ms"], run["longest_stall_ms"]), (None, None))

    def test_what_the_machine_stood_still_is_told_apart(self):
        def take_processor(seconds):
            pid = os.fork()
            if pid == 0:
                os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
                with contextlib.suppress(PermissionError):
                    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_max(os.SCHED_FIFO)))
                end = time.monotonic() + seconds
                while time.monotonic() < end:
                    pass
                os._exit(0)
            os.waitpid(pid, 0)

        n = [-1]

        def answer(handler, *_):
            n[0] += 1
            if n[0] == 0:
                handler.send(http(GOOD))
                return
            if n[0] == 2:
                take_processor(0.3)
            handler.send(http(b'{"error":"later"}', "503 Service Unavailable"))

        run = self.drive(answer, "--clients", 1, "--requests", 4, "--watch-stalls", code=FAILED)
        self.assertGreaterEqual(run["refusals"]["max_ms"], 300)
        if run["longest_stall_ms"] is None:
            self.skipTest("no real-time priority")
        self.assertLess(run["refusals"]["own_max_ms"], run["refusals"]["max_ms"] - 150)
        self.assertGreaterEqual(run["longest_stall_ms"], 150)

    def test_refusal_is_timed_by_its_arrival_not_by_its_reading(self):
        """The generator stands still for a second with the reply in its socket. Linux begins to stamp
        what arrives a moment after it was asked to."""
        process = []

        def answer(handler, *_):
            if not process:
                process.append(int(subprocess.check_output(["pgrep", "-n", "-P", str(os.getpid())])))
                handler.send(http(GOOD))
                return
            time.sleep(0.2)
            os.kill(process[0], signal.SIGSTOP)
            handler.send(http(b'{"error":"later"}', "503 Service Unavailable"))
            time.sleep(1)
            os.kill(process[0], signal.SIGCONT)

        run = self.drive(answer, "--clients", 1, "--requests", 1, code=FAILED)
        self.assertEqual(run["refusals"]["count"], 1)
        self.assertLess(run["refusals"]["max_ms"], 800)

    def drive_second(self, second, *flags):
        """The request after the probe gets second(handler); the others are answered well."""
        n = [0]

        def answer(handler, *_):
            n[0] += 1
            if n[0] != 2:
                handler.send(http(GOOD))
            else:
                second(handler)

        return self.drive(answer, "--clients", 1, "--requests", 3, *flags, code=FAILED)["errors"]

    def test_connection_that_closes(self):
        def hang_up(handler):
            handler.send(http(GOOD)[:-5])
            raise StopIteration

        self.assertEqual(self.drive_second(hang_up), {"connection_closed": 1})

    def test_timeout(self):
        self.assertEqual(self.drive_second(lambda _: time.sleep(1), "--timeout", 0.2), {"timeout": 1})

    def test_replies_that_are_none(self):
        for reply in (b"SSH-2.0-OpenSSH\r\n\r\n", http(b'{"translatedText":"x"}'), http(GOOD) + b"x",
                      b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                      b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", b"HTTP/1.1 2\r\n\r\n"):
            with self.subTest(reply=reply):
                self.assertEqual(self.drive_second(lambda handler, r=reply: handler.send(r)), {"malformed_reply": 1})

    def test_first_request_tells_what_is_wrong_with_the_options(self):
        body = b'{"error":"zz is not supported"}'
        with Standin(lambda handler, *_: handler.send(http(body, "400 Bad Request"))) as standin:
            self.refused("400: .*zz is not supported", "--port", standin.server_address[1], "--input", self.input,
                         code=FAILED)

    def test_nobody_listens(self):
        with Standin(None) as standin:
            port = standin.server_address[1]
        self.refused(f"127.0.0.1, port {port}: Connection refused", "--port", port, "--input", self.input, code=FAILED)


class Replies(Case):
    def test_pieces_interim_replies_and_closing(self):
        whole = http(GOOD)
        for pieces in ([whole[i:i + 20] for i in range(0, len(whole), 20)],
                       [b"HTTP/1.1 100 Continue\r\n\r\n", whole],
                       [b"HTTP/1.1 100 Continue\r\n\r\n" + whole]):
            with self.subTest(pieces=pieces):
                run = self.drive(lambda handler, *_, p=pieces: handler.send(*p), "--clients", 2, "--requests", 6)
                self.assertEqual((run["answered"], run["errors"]), (6, {}))

    def test_server_may_close_behind_an_answer(self):
        def answer(handler, *_):
            handler.send(http(GOOD, more="Connection: close\r\n"))
            raise StopIteration

        run = self.drive(answer, "--clients", 2, "--requests", 6)
        self.assertEqual((run["answered"], run["errors"]), (6, {}))

    def test_what_waits_at_the_end_gets_new_connections(self):
        def answer(handler, *_):
            time.sleep(0.02)
            handler.send(http(GOOD, more="Connection: close\r\n"))
            raise StopIteration

        run = self.drive(answer, "--rate", 200, "--connections", 1, "--duration", 0.2, "--timeout", 20)
        self.assertEqual(run["errors"], {})
        self.assertGreater(run["latencies"], run["answered"])

    def test_server_may_close_an_idle_connection(self):
        def answer(handler, *_):
            handler.send(http(GOOD))
            raise StopIteration

        # With this seed arrivals are far enough apart for the end of the connection to come in between.
        run = self.drive(answer, "--rate", 5, "--connections", 1, "--duration", 1, "--seed", 153)
        self.assertEqual((run["answered"], run["errors"]), (4, {}))


class Usage(Case):
    def test_wrong_flags(self):
        for flags, pattern in (
                ([], "--port is missing"),
                (["--port", 1], "--input is missing"),
                (["--port", 0], "--port is \"0\", expected a number from 1 to 65535"),
                (["--port", "1e3"], "--port"),
                (["--host", "example.org"], "example.org.*only put on this machine"),
                (["--host", "127.0.0.2"], "127.0.0.2"),
                (["--clients", "1,2,"], "--clients"),
                (["--clients", "1001"], "--clients"),
                (["--clients", "1.5"], "a whole number"),
                (["--rate", "-1"], "--rate"),
                (["--rate", "nan"], "--rate"),
                (["--duration", "3601"], "--duration"),
                (["--what"], "--what: no such flag"),
                (["--rate"], "--rate needs a value"),
                (["text"], "\"text\"")):
            with self.subTest(flags=flags):
                self.refused(pattern, *flags)

    def test_help(self):
        self.assertIn("--rate R", self.run_load("--help").stdout)

    def test_input_without_text(self):
        with tempfile.NamedTemporaryFile() as blank:
            blank.write(b" \n\t\r\n")
            blank.flush()
            self.refused("no text", "--port", 1, "--input", blank.name, code=FAILED)
        self.refused("cannot open", "--port", 1, "--input", "/nonexistent", code=FAILED)

    def test_process_that_does_not_exist(self):
        self.refused("--pid 2147483647", "--port", 1, "--input", self.input, "--pid", 2**31 - 1, code=FAILED)

    def test_table(self):
        with Standin(lambda handler, *_: handler.send(http(GOOD))) as standin:
            done = self.run_load("--port", standin.server_address[1], "--input", self.input, "--clients", "1,2", "--rate",
                                 "50", "--requests", 10, "--warm-up", 0, "--repeat", 2, "--pid", os.getpid())
        names = [line[:18].strip() for line in done.stdout.splitlines()[2:]]
        self.assertEqual(names, ["closed 1", "closed 2", "open 50/s"] * 2)
        self.assertNotIn(" - ", done.stdout)


if __name__ == "__main__":
    unittest.main()
