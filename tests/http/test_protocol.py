"""HTTP itself, byte by byte: the gate, framing, limits, deadlines, keep-alive and pipelining."""

import gzip
import http.client
import json
import re
import socket
import time
import unittest

from serve import HAS_NEW_PARSER, SLOWNESS, Daemon, read_all, wait_until

BODY = json.dumps({"q": "Hello.", "source": "en", "target": "de"}).encode()
LIMIT = 65536
TIMEOUT_MS = int(600 * min(SLOWNESS, 3))


def post(body=BODY, *headers, path="/translate", version="HTTP/1.1", length=None):
    """A POST as bytes; headers replace the usual Content-Length where they frame the body."""
    lines = [f"POST {path} {version}", "Host: localhost", "Content-Type: application/json"]
    lines += headers
    if not any(h.lower().startswith(("content-length", "transfer-encoding")) for h in headers):
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def get(path="/health", *headers, method="GET", version="HTTP/1.1"):
    lines = [f"{method} {path} {version}", "Host: localhost", *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def statuses(data):
    """Codes of all final replies in a stream of bytes."""
    codes = map(int, re.findall(rb"HTTP/1\.1 (\d{3}) ", data))
    return [code for code in codes if code >= 200]


CLOSE = "Connection: close"


class Protocol(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(
            "--max-body-bytes", str(LIMIT), "--header-timeout-ms", str(TIMEOUT_MS),
            "--body-timeout-ms", str(TIMEOUT_MS), "--idle-timeout-ms", "1000",
        ).start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def answers(self, data, *codes, **options):
        received = self.daemon.raw(data, **options)
        self.assertEqual(statuses(received), list(codes), (data[:300], received[:600]))
        return received

    def closes_with(self, data, code):
        """Exactly one reply, then the end, although another request follows."""
        received = self.answers(data + get("/languages"), code)
        self.assertIn(b"\r\nConnection: close\r\n", received)
        body = received.split(b"\r\n\r\n", 1)[1]
        if not (HAS_NEW_PARSER and body.startswith(b"<html>")):
            self.assertIn("error", json.loads(body))

    # Framing, where requests are smuggled.

    def test_transfer_encoding_with_content_length(self):
        smuggled = b"0\r\n\r\n"
        for order in (("Transfer-Encoding: chunked", "Content-Length: 5"),
                      ("Content-Length: 5", "Transfer-Encoding: chunked")):
            self.closes_with(post(smuggled, *order), 400)

    def test_transfer_encodings_other_than_chunked(self):
        for value in ("xchunked", "gzip, chunked", "chunked, identity", "identity", "", "chunked,"):
            self.closes_with(post(b"0\r\n\r\n", f"Transfer-Encoding: {value}"), 400)
        self.closes_with(
            post(b"0\r\n\r\n", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), 400)

    def test_transfer_encoding_with_a_blank_before_the_colon(self):
        self.closes_with(post(b"0\r\n\r\n", "Transfer-Encoding : chunked"), 400)

    def test_two_lengths(self):
        self.closes_with(post(BODY, f"Content-Length: {len(BODY)}", "Content-Length: 3"), 400)
        self.closes_with(
            post(BODY, f"Content-Length: {len(BODY)}", f"Content-Length: {len(BODY)}"), 400)

    def test_lengths_that_are_no_number(self):
        # libmicrohttpd answers these before anybody is asked, and never serves them.
        for value in ("-1", "+28", "0x1c", "5 5", "28, 28", "abc", "", "99999999999999999999999"):
            for data in (post(BODY, f"Content-Length: {value}"), get("/health", f"Content-Length: {value}")):
                received = self.daemon.raw(get() + data + get("/languages"))
                codes = statuses(received)
                self.assertEqual(len(codes), 2, (value, received))
                self.assertIn(codes[1], (400, 413) if value.startswith("9") else (400,), value)
                self.assertEqual(received.count(b"HTTP/1.1"), 2)
                self.assertIn(b"\r\nConnection: close\r\n", received)

    def test_cookies_that_are_too_long(self):
        for n in (17000, 20000, 24000, 30000):
            self.answers(get("/health", "Cookie: a=" + "x" * n), 431)

    def test_chunked_in_http_1_0(self):
        self.closes_with(
            post(b"0\r\n\r\n", "Transfer-Encoding: chunked", version="HTTP/1.0"), 400)

    def test_two_hosts(self):
        self.closes_with(get("/health", "Host: other"), 400)

    def test_no_host(self):
        self.closes_with(b"GET /health HTTP/1.1\r\n\r\n", 400)
        self.answers(b"GET /health HTTP/1.0\r\n\r\n", 200)

    def test_header_names_and_values(self):
        self.closes_with(get("/health", "Bad Name: x"), 400)
        self.closes_with(get("/health", "Bad(Name): x"), 400)
        self.closes_with(get("/health", "Good: a\x01b"), 400)
        self.closes_with(get("/health", "Good: a\x7fb"), 400)
        self.answers(get("/health", "Good: a\tb \xe4", CLOSE), 200)

    def test_what_stands_behind_too_many_headers_is_not_obeyed(self):
        filler = [f"A{i}: b" for i in range(105)]
        hidden = get("/health/live")
        for length, last in ((5 + len(hidden), "Transfer-Encoding: chunked"),
                             (0, f"Content-Length: {len(hidden)}"), (0, "Host: y"), (0, "A: b")):
            data = post(b"0\r\n\r\n" + hidden, f"Content-Length: {length}", *filler, last)
            self.closes_with(data, 400 if HAS_NEW_PARSER and "chunked" in last else 431)
        self.closes_with(get("/health", "X: " + "x" * 17000), 431)

    def test_folded_lines(self):
        hidden = get("/health/live")
        for lines in ("A: b\r\n c", "A: b\r\n\tc\r\nB: d", "A: b\r\n c\r\n d", "A: b\r\n ", "A:\r\n b",
                      f"Content-Length:\r\n {len(hidden)}", f"Content-Lengt:    {len(hidden)}\r\n h",
                      "Transfer-Encodin:   chunked\r\n g", "Content-Length: 0\r\n\t0",
                      f"A:{' ' * 50}\r\n {'b' * 20}"):
            self.closes_with(get("/detect?q=Hello", lines, method="POST") + hidden, 400)
            self.closes_with(get("/detect?q=Hello", "B: c", lines, "C: d", method="POST") + hidden, 400)
            self.closes_with(get("/health", lines).replace(b"\r\n", b"\n") + hidden, 400)

    def test_folded_lines_at_the_end_of_the_read_buffer(self):
        # There libmicrohttpd appends in place; the buffer is half of what a connection may take.
        for n in range(16384 - 120, 16384 + 20):
            head = get("/health", "A:" + " " * (n - 60) + "b")[:-2]
            self.closes_with(head + b"B:" + b" " * 20 + b"\r\n c\r\n\r\n" + get("/health/live"), 400)
            self.answers(head + b"B:" + b" " * 20 + b"\r\n\r\n" + get("/health", CLOSE), 200, 200)

    def test_nul_bytes(self):
        hidden = get("/health/live")
        for line in ("A: b\0c", "A: b\0", "A:\0", "A: \0b", "Content-Length: 3\0 99", "Content-Length: 0\0",
                     "Transfer-Encoding: chunked\0x", "\0A: b", "\0Content-Length: 5"):
            for lines in ((line,), (line, "C: d"), ("B: c", line)):
                self.closes_with(get("/detect?q=Hello", *lines, method="POST") + hidden, 400)
        targets = ("/health\0x", "/health\0", "\0/health", "/health\0?a=b", "/health?a\0=b")
        requests = [get(target) for target in targets]
        for request in (*requests, get(method="GET\0x"), get(method="GET\0")):
            if HAS_NEW_PARSER:
                self.assertEqual(self.daemon.raw(request + hidden), b"")
            else:
                self.closes_with(request + hidden, 400)
        for data in (get("/health", "A\0: b"), get("/health", version="HTTP/1.1\0"), b"\0" + get()):
            self.assertNotIn(200, statuses(self.daemon.raw(data)))

    def test_heads_of_any_honest_shape(self):
        shapes = [
            get(version="HTTP/1.0").replace(b"Host: localhost\r\n", b"Connection: keep-alive\r\n"),
            get("/health", "A:", "B: ", "C:\t ", "D:d", "E:  e  ", "F: \tf\t", "G: " + "g" * 9000),
            get("/health?a=b&c&d=%20+e&&=", "A: b"),
            get("/health", "Cookie: a=b; c=\"d e\"; f", "Cookie: a=b", "Cookie:"),
            get("/health", *[f"X-{i}: y" for i in range(99)]),
            get("/health", *[f"X-{i}: {'y' * 140}" for i in range(99)]),
            get("/health", "X: " + "y" * 16000), get("/health?" + "x" * 16000),
            get("/health", "A: b\xff", "B:"), get("/health", method="HEAD"),
            b"\r\n" + get(),
        ]
        if not HAS_NEW_PARSER:
            shapes += [b"GET   /health HTTP/1.1\r\nHost: x\r\n\r\n", b"\n\r\n" + get()]
            shapes += [shape.replace(b"\r\n", b"\n") for shape in shapes]
        for shape in shapes:
            self.answers(shape.replace(b"Connection: keep-alive\r\n", b""), 200, half_close=True)
        everything = b"".join(shapes)
        n = len(shapes)
        self.answers(everything + post() + get("/health", CLOSE), *[200] * (n + 2))
        for size in (1, 3, 1000):
            data = everything if size > 100 else b"".join(s for s in shapes if len(s) < 2000)
            n = data.count(b"HTTP/1.")
            with self.daemon.socket(timeout=60 * SLOWNESS) as connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for i in range(0, len(data), size):
                    connection.sendall(data[i:i + size])
                connection.sendall(get("/nowhere", CLOSE))
                self.assertEqual(statuses(read_all(connection)), [200] * n + [404], size)

    @unittest.skipUnless(HAS_NEW_PARSER, "libmicrohttpd before 1.0 accepts them")
    def test_what_a_new_parser_refuses(self):
        for shape in (get().replace(b"\r\n", b"\n"), get("/health", "A: b\nB: c"),
                      b"GET   /health HTTP/1.1\r\nHost: x\r\n\r\n"):
            self.closes_with(shape, 400)
        # 1.0.1 takes the LF behind an extension for data.
        size, end = b"%x" % len(BODY), b"\r\n0\r\n\r\n"
        for chunks in (size + b"\n" + BODY + end, size + b";a=b\r\n" + BODY + end,
                       size + b"\r\n" + BODY + b"\n0\r\n\r\n"):
            self.closes_with(post(chunks, "Transfer-Encoding: chunked"), 400)

    def test_versions(self):
        self.answers(get(version="HTTP/1.0"), 200)
        for version in ("HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTQ/1.1", "http/1.1"):
            received = self.daemon.raw(get(version=version))
            self.assertNotIn(b" 200 ", received[:20], version)

    def test_chunked_body(self):
        chunks = b"".join(b"%x\r\n%c\r\n" % (1, byte) for byte in BODY) + b"0\r\n\r\n"
        self.answers(post(chunks, "Transfer-Encoding: chunked", CLOSE), 200)
        self.answers(post(chunks, "Transfer-Encoding: ChUnKeD", CLOSE), 200)

    def test_malformed_chunks(self):
        for chunks in (b"zz\r\n", b"-5\r\nHello\r\n0\r\n\r\n", b"5\r\nHelloX\r\n0\r\n\r\n"):
            received = self.daemon.raw(post(chunks, "Transfer-Encoding: chunked") + get("/languages"))
            self.assertEqual(statuses(received), [400], chunks)

    # Targets, methods, routes.

    def test_unknown_paths(self):
        for path in ("/nowhere", "/translate/", "/Translate", "//translate", "/translate%20",
                     "/trans%6Cate", "/./translate", "/health/../translate", "/web", "/web/../translate"):
            received = self.answers(get(path, CLOSE), 404)
            self.assertIn(b'{"error":', received)

    def test_replies_in_json_end_their_line(self):
        """On a terminal, the prompt behind curl's output comes on a line of its own."""
        q = {"q": "Hello.", "source": "en", "target": "de"}
        for code, path, body in (
                (200, "/languages", None), (200, "/health", None), (200, "/translate", q),
                (200, "/v2/translate", {"text": ["Hello."], "target_lang": "DE"}),
                (200, "/detect", {"q": "Hello."}), (200, "/attention", {"q": "Hello."}),
                (200, "/attention", {"q": "Hello.", "format": "bertviz"}),
                (200, "/attention", {"q": "Hello.", "format": "inseq"}), (200, "/positions?n=4", None),
                (400, "/translate", {"q": "Hello."}), (404, "/nowhere", None), (405, "/translate", None)):
            for coding in ("identity", "gzip"):
                with self.subTest(path, body=body, coding=coding):
                    reply = self.daemon.request("POST" if body else "GET", path, body, {"Accept-Encoding": coding})
                    self.assertEqual(reply.status, code, reply)
                    is_packed = reply.headers.get("content-encoding") == "gzip"
                    text = gzip.decompress(reply.body) if is_packed else reply.body
                    self.assertTrue(text.endswith(b"}\n") or text.endswith(b"]\n"), text[-40:])
                    json.loads(text)

    def test_targets_that_are_refused(self):
        for path in ("nowhere", "http://", "http://user@localhost/health", "/health?x=%00", "/he%00alth",
                     "/\xe4", "/a\x07b", "/a b", "*"):
            self.answers(get(path, CLOSE), 400)

    def test_targets_that_name_the_server(self):
        for start in ("http://localhost", "HTTPS://example.org:8080", "http://[::1]"):
            self.answers(get(start + "/health?a=b", CLOSE), 200)
            self.answers(post(BODY, CLOSE, path=start + "/translate"), 200)
            self.answers(get(start + "/nowhere", CLOSE), 404)
        self.assertIn(b"<html", self.answers(get("http://localhost", CLOSE), 200))

    def test_query_does_not_change_the_route(self):
        self.answers(get("/health?a=b&c", CLOSE), 200)
        self.answers(get("/health?", CLOSE), 200)

    def test_wrong_methods(self):
        for method, path, allow in (
            ("POST", "/languages", "GET, HEAD, OPTIONS"), ("GET", "/translate", "POST, OPTIONS"),
            ("PUT", "/translate", "POST, OPTIONS"), ("DELETE", "/health", "GET, HEAD, OPTIONS"),
            ("HEAD", "/translate", "POST, OPTIONS"), ("get", "/health", "GET, HEAD, OPTIONS"),
            ("BREW", "/health", "GET, HEAD, OPTIONS"),
        ):
            reply = self.daemon.request(method, path, body=b"" if method in ("POST", "PUT") else None)
            self.assertEqual((reply.status, reply.headers.get("allow")), (405, allow), method)

    def test_options(self):
        reply = self.daemon.request("OPTIONS", "/translate")
        self.assertEqual((reply.status, reply.body), (200, b""))
        self.assertEqual(reply.headers["allow"], "POST, OPTIONS")
        self.assertEqual(self.daemon.request("OPTIONS", "*").status, 200)
        self.assertEqual(self.daemon.request("OPTIONS", "/nowhere").status, 404)

    def test_head_is_get_without_a_body(self):
        received = self.answers(get("/health", CLOSE, method="HEAD"), 200)
        self.assertTrue(received.endswith(b"\r\n\r\n"))
        self.assertIn(b"\r\nContent-Length: 16\r\n", received)

    def test_types_that_are_refused(self):
        text = json.dumps({"q": "Hello."}).encode()
        for path, content_type, code in (
            ("/attention", "text/plain", 415), ("/attention", "", 415),
            ("/attention", "application/jsonx", 415), ("/translate", "text/plain", 400),
            ("/translate", "multipart/form-data; boundary=x", 400), ("/attention", "multipart/mixed", 415),
        ):
            reply = self.daemon.request("POST", path, text, headers={"Content-Type": content_type})
            self.assertEqual(reply.status, code, (path, content_type))
            self.assertIn("error", reply.json)

    def test_compressed_bodies_are_refused(self):
        for headers in (("Content-Encoding: gzip",), ("Content-Encoding: identity", "Content-Encoding: br")):
            received = self.answers(post(BODY, *headers) + get("/health", CLOSE), 415, 200)
            self.assertIn(b"\r\nAccept-Encoding: identity\r\n", received)
        self.answers(post(BODY, "Content-Encoding: identity", CLOSE), 200)

    # Sizes.

    def test_body_without_a_length(self):
        data = b"POST /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        self.answers(data, 411)

    def test_body_over_the_limit(self):
        client = self.daemon.connect()
        self.addCleanup(client.close)
        reply = self.daemon.request("POST", "/translate", b"x" * (LIMIT + 1), client=client)
        self.assertEqual(reply.status, 413)
        self.assertIn("longer", reply.error)
        # It was read and thrown away, so the connection goes on.
        self.assertEqual(self.daemon.translate("Hello.", client=client).status, 200)

    def test_body_of_1_mib(self):
        self.assertEqual(self.daemon.request("POST", "/translate", b"x" * (1 << 20)).status, 413)

    def test_announced_body_over_the_limit_is_refused_at_once(self):
        start = time.monotonic()
        self.answers(post(b"", length=1 << 40), 413)
        self.assertLess(time.monotonic() - start, 4 * SLOWNESS)

    def test_expect_continue(self):
        with self.daemon.socket() as connection:
            connection.sendall(post(b"", "Expect: 100-continue", CLOSE, length=len(BODY)))
            self.assertEqual(connection.recv(4096), b"HTTP/1.1 100 Continue\r\n\r\n")
            connection.sendall(BODY)
            self.assertEqual(statuses(read_all(connection)), [200])
        self.answers(post(BODY, "Expect: 100-continue", CLOSE), 200)
        received = self.answers(post(b"", "Expect: 100-continue", length=LIMIT + 1), 413)
        self.assertNotIn(b"100 Continue", received)
        self.answers(post(BODY, "Expect: something", CLOSE), 417)

    def test_chunked_body_over_the_limit(self):
        chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
        n = LIMIT // 0x1000 + 1
        self.answers(post(chunk * n + b"0\r\n\r\n", "Transfer-Encoding: chunked", CLOSE), 413)
        # Without end: nobody reads on for ever.
        with self.daemon.socket() as connection:
            with self.assertRaises(OSError):
                connection.sendall(post(b"", "Transfer-Encoding: chunked"))
                for _ in range(100000):
                    connection.sendall(chunk)

    def test_long_target_and_headers(self):
        self.answers(get("/health?" + "x" * 17000, CLOSE), 414)
        self.answers(get("/health", "X-Long: " + "x" * 17000, CLOSE), 431)
        self.answers(get("/health", *[f"X-{i}: y" for i in range(120)], CLOSE), 431)
        # Where libmicrohttpd's pool is too small for them, it says so itself.
        self.answers(get("/health?" + "x" * 60000), 414)
        self.answers(get("/health", "X-Long: " + "x" * 60000), 431)

    def test_long_query_with_a_text(self):
        text = "%20".join(["Hello."] * 1500)
        reply = self.daemon.request(
            "POST", f"/translate?q={text}&source=en&target=de&max_decoding_length=5", b"")
        self.assertEqual(reply.status, 200)

    # Connections.

    def test_keep_alive(self):
        client = self.daemon.connect()
        self.addCleanup(client.close)
        client.connect()
        port = client.sock.getsockname()
        for _ in range(20):
            self.assertEqual(self.daemon.translate("Hello.", client=client).status, 200)
            self.assertEqual(self.daemon.get("/nowhere", client=client).status, 404)
            self.assertEqual(self.daemon.translate("", client=client).status, 400)
        self.assertEqual(client.sock.getsockname(), port)

    def test_pipelining(self):
        data = post() + get("/health") + post() + get("/nowhere") + get("/health", CLOSE)
        received = self.answers(data, 200, 200, 200, 404, 200)
        self.assertEqual(received.count(b"translatedText"), 2)

    def test_pipelining_byte_by_byte(self):
        data = get("/health") + post() + get("/health", CLOSE)
        with self.daemon.socket() as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for i in range(len(data)):
                connection.sendall(data[i:i + 1])
            self.assertEqual(statuses(read_all(connection)), [200, 200, 200])

    def test_half_closed_client_gets_its_answer(self):
        received = self.answers(post(), 200, half_close=True)
        self.assertIn(b"translatedText", received)
        self.answers(post() + get(), 200, 200, half_close=True)
        self.answers(post(version="HTTP/1.0"), 200, half_close=True)

    def test_half_closed_in_the_middle_of_a_body(self):
        received = self.daemon.raw(post(BODY, length=len(BODY) + 5), half_close=True)
        self.assertNotIn(200, statuses(received))

    # Deadlines that count from the beginning, not from the last byte.

    def seconds_until_closed(self, connection, dribble, limit=5):
        start = time.monotonic()
        try:
            while time.monotonic() - start < limit * SLOWNESS:
                connection.sendall(dribble)
                time.sleep(0.05)
                connection.setblocking(False)
                try:
                    if connection.recv(4096) == b"":
                        break
                except BlockingIOError:
                    pass
                finally:
                    connection.setblocking(True)
        except OSError:
            pass
        return time.monotonic() - start

    def closes_in_time(self, first, dribble):
        with self.daemon.socket() as connection:
            connection.sendall(first)
            seconds = self.seconds_until_closed(connection, dribble)
            self.assertGreater(seconds, 0.4)
            self.assertLess(seconds, 5 * SLOWNESS)  # the limit of seconds_until_closed

    def test_header_that_trickles_in(self):
        self.closes_in_time(b"GET /health HTTP/1.1\r\n", b"X")

    def test_request_line_that_trickles_in(self):
        self.closes_in_time(b"GET /", b"x")

    def test_body_that_trickles_in(self):
        self.closes_in_time(post(b"", length=10000), b" ")

    def test_connection_without_a_request(self):
        with self.daemon.socket() as connection:
            start = time.monotonic()
            self.assertEqual(connection.recv(1), b"")
            self.assertLess(time.monotonic() - start, 6 * SLOWNESS)

    def test_idle_connection(self):
        with self.daemon.socket() as connection:
            connection.sendall(get())
            self.assertIn(b"200 OK", connection.recv(4096))
            start = time.monotonic()
            self.assertEqual(connection.recv(1), b"")
            seconds = time.monotonic() - start
            self.assertGreater(seconds, 0.8)
            self.assertLess(seconds, 6 * SLOWNESS)

    def test_clients_that_say_nothing_sensible(self):
        self.answers(b"\r\n" * (1 if HAS_NEW_PARSER else 5) + get("/health", CLOSE), 200)
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\x00" * 100, b"GET\r\n\r\n",
                     b"GET /health\r\n\r\n", b" GET / HTTP/1.1\r\n\r\n", b"\xff\xfe\r\n\r\n"):
            self.assertNotIn(200, statuses(self.daemon.raw(data)))
        self.assertEqual(self.daemon.get("/health").status, 200)

    def test_descriptors_come_back(self):
        self.assertEqual(self.daemon.get("/health").status, 200)

        def settled():
            metrics = self.daemon.metrics()
            return metrics["attentiond_connections"] <= 1 and metrics["process_open_fds"]

        before = wait_until(settled)
        for _ in range(200):
            self.daemon.raw(get("/health", CLOSE))
            connection = self.daemon.socket()
            connection.sendall(b"GET /hea")
            connection.close()
        self.assertLessEqual(wait_until(settled), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
