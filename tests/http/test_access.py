"""Keys, rates, bans: who may ask, and how much. Texts and codes are LibreTranslate's."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import tempfile
import threading
import unittest
from urllib.parse import urlencode

from serve import MODEL, SLOWNESS, Daemon, run, wait_until

ALICE, BOB, CAROL = "alice-3f0c9a34", "bob-77aa4f0ea3c1", "carol-8f6f5b7f8a10"
KEYS = f"""# who may
{ALICE} name=alice requests_per_minute=5
{BOB}
{CAROL} max_text_chars=11 max_batch_texts=2 chars_per_day=22   # a small one
"""
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Files(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.keys = self.root / "keys"
        self.write(KEYS)

    def write(self, text, mode=0o600):
        fresh = self.root / "fresh"
        fresh.write_text(text)
        fresh.chmod(mode)
        fresh.rename(self.keys)

    def daemon(self, *flags, **options):
        return Daemon("--api-keys-file", str(self.keys), *flags, **options)

    def refused(self, reply, status, error):
        self.assertEqual((reply.status, reply.headers["content-type"]), (status, "application/json"))
        self.assertEqual(reply.json, {"error": error})


class Origins(unittest.TestCase):
    """Pages of other sites: cors_origins. Without the setting: test_contract.py."""

    GOOD, BAD = "https://example.org", "https://evil.example"

    def ask(self, daemon, origin=None, method="GET", path="/languages", **headers):
        if origin:
            headers["Origin"] = origin
        reply = daemon.request(method, path, headers=headers)
        names = ("allow-origin", "allow-credentials", "allow-headers", "allow-methods", "max-age")
        return reply, [reply.headers.get("access-control-" + name) for name in names]

    def test_some_sites(self):
        with Daemon("--cors-origins", f"http://localhost:3000, {self.GOOD}") as daemon:
            all_of_it = [self.GOOD, "true", "Authorization, Content-Type, Traceparent, Tracestate, X-Request-ID, X-Request-Timeout", "GET, POST", "1728000"]
            for method, path in (("GET", "/languages"), ("OPTIONS", "/translate"), ("GET", "/nowhere")):
                reply, cors = self.ask(daemon, self.GOOD, method, path)
                self.assertEqual((cors, reply.headers["vary"]), (all_of_it, "Origin"))
                for origin in (self.BAD, None, "null", self.GOOD + ".evil.example"):
                    reply, cors = self.ask(daemon, origin, method, path)
                    self.assertEqual((cors, reply.headers["vary"]), ([None] * 5, "Origin"), origin)
            self.assertEqual(self.ask(daemon, self.GOOD, path="/health")[1], [None] * 5)

    def test_preflight(self):
        asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
        with Daemon() as daemon:
            reply, cors = self.ask(daemon, self.GOOD, "OPTIONS", "/translate", **asks)
            self.assertEqual((reply.status, reply.body, cors), (
                200, b"", ["*", None, "Authorization, Content-Type, Traceparent, Tracestate, X-Request-ID, X-Request-Timeout", "GET, POST", "1728000"]))
        with Daemon("--cors-origins", "") as daemon:
            reply, cors = self.ask(daemon, self.GOOD, "OPTIONS", "/translate", **asks)
            self.assertEqual((reply.status, cors), (200, [None] * 5))

    def test_other_names_for_this_machine(self):
        """A site can make its own name mean 127.0.0.1 (DNS rebinding)."""
        with Daemon("--cors-origins", self.GOOD) as daemon:
            for host in ("localhost", f"localhost:{daemon.port}", f"127.0.0.1:{daemon.port}", "[::1]",
                         "example.org", "EXAMPLE.org:80", ""):
                self.assertEqual(self.ask(daemon, Host=host)[0].status, 200, host)
            for host in ("evil.example", f"evil.example:{daemon.port}", "localhost.evil.example"):
                for path in ("/languages", "/metrics", "/health"):
                    reply = self.ask(daemon, Host=host, path=path)[0]
                    self.assertEqual(reply.status, 403, host)
                    self.assertIn(f'the request is for "{host}", expected localhost', reply.error)
            # The target's host counts, where it names one.
            for host, target, status in (("evil.example", "localhost", 200), ("localhost", "evil.example", 403)):
                received = daemon.raw(f"GET http://{target}/languages HTTP/1.1\r\nHost: {host}\r\n"
                                      "Connection: close\r\n\r\n".encode())
                self.assertTrue(received.startswith(f"HTTP/1.1 {status} ".encode()), received)
        with Daemon() as daemon:
            self.assertEqual(self.ask(daemon, Host="evil.example")[0].status, 200)

    def test_all_interfaces_have_any_name(self):
        daemon = Daemon("--host", "0.0.0.0", "--cors-origins", "")
        with daemon:
            self.assertEqual(self.ask(daemon, Host="translate.example.org")[0].status, 200)

    def test_what_is_no_origin(self):
        for verb in ("check-config", "serve"):
            result = run(verb, "--cors-origins", "https://example.org/", "--model", "tests/models/en-de")
            self.assertEqual(result.returncode, 2)
            self.assertIn('cors_origins has "https://example.org/", expected "*" alone, or origins', result.stderr)


class Keys(Files):
    def test_ways_to_send_one(self):
        with self.daemon() as daemon:
            body = {"q": "Hello.", "source": "en", "target": "de"}
            fields = urlencode({**body, "api_key": BOB})
            good = [
                daemon.translate("Hello."),
                daemon.translate("Hello.", api_key=None),
                daemon.translate("Hello.", api_key=""),
                daemon.translate("Hello.", api_key=BOB),
                daemon.translate("Hello.", headers={"Authorization": f"Bearer {BOB}"}),
                daemon.translate("Hello.", headers={"Authorization": f"DeepL-Auth-Key {BOB}"}),
                daemon.translate("Hello.", headers={"Authorization": "Basic eDp5"}),
                daemon.request("POST", "/translate", fields, FORM),
                daemon.request("POST", "/translate?" + fields, b""),
                daemon.request("POST", f"/translate?api_key={BOB}", body),
            ]
            for reply in good:
                self.assertEqual((reply.status, reply.body), (200, good[0].body), reply)
            wrong = [
                daemon.translate("Hello.", api_key=BOB + "x"),
                daemon.translate("Hello.", api_key=17),
                daemon.translate("Hello.", headers={"Authorization": f"Bearer {BOB[:-1]}"}),
                daemon.request("POST", "/translate", fields[:-1], FORM),
                daemon.request("POST", "/translate?" + fields + "1", b""),
                daemon.request("POST", f"/translate?api_key=no", body),
                daemon.request("POST", f"/translate?api_key={BOB}&api_key=no", body),
                daemon.request("POST", "/detect", {"q": "Hello.", "api_key": "wrong"}),
                daemon.request("POST", "/attention", {"q": "Hello.", "api_key": "wrong"}),
            ]
            for reply in wrong:
                self.refused(reply, 403, "Invalid API key")
            self.assertEqual(daemon.metrics()['attentiond_rejected_total{reason="key"}'], len(wrong))
            for path in ("/languages", "/health", "/health/ready", "/metrics", "/"):
                reply = daemon.get(path, headers={"Authorization": "Bearer wrong"})
                self.assertEqual(reply.status, 200, path)

    def test_without_a_file_nobody_looks_at_them(self):
        with Daemon() as daemon:
            self.assertEqual(daemon.translate("Hello.", api_key="anything").status, 200)
            self.assertEqual(daemon.translate("Hello.", api_key=5).status, 200)

    def test_required(self):
        with self.daemon("--key-required") as daemon:
            self.refused(daemon.translate("Hello."), 403,
                         "Please contact the server operator to get an API key")
            self.refused(daemon.translate("Hello.", api_key="no"), 403, "Invalid API key")
            self.assertEqual(daemon.translate("Hello.", api_key=BOB).status, 200)
            self.assertEqual(daemon.get("/languages").status, 200)
        result = run("serve", "--model", MODEL, "--port", "0", "--key-required")
        self.assertEqual(result.returncode, 2)
        self.assertIn("api_keys_file is empty", result.stderr)

    def test_limits_of_their_own(self):
        with self.daemon("--max-text-chars", "30") as daemon:
            text = "x" * 20
            self.assertEqual(daemon.translate(text, api_key=BOB).status, 200)
            self.refused(daemon.translate(text, api_key=CAROL), 400,
                         "Invalid request: request (20) exceeds text limit (11)")
            self.refused(daemon.translate(["a", "b", "c"], api_key=CAROL), 400,
                         "Invalid request: request (3) exceeds text limit (2)")
            self.refused(daemon.translate("x" * 31), 400,
                         "Invalid request: request (31) exceeds text limit (30)")
            # What failed was given back, so all 22 of the day are left.
            self.assertEqual(daemon.translate(["Hello. Yes.", "Hello. No."], api_key=CAROL).status, 200)
            reply = daemon.translate("Hello.", api_key=CAROL)
            self.refused(reply, 429, "Slowdown: 22 characters per 1 day")
            self.assertGreater(int(reply.headers["retry-after"]), 3600)

    def test_what_pages_are_told(self):
        def told(daemon, **options):
            settings = daemon.get("/frontend/settings", **options).json
            return settings["apiKeys"], settings["keyRequired"], settings["charLimit"]

        with self.daemon("--key-required", "--max-text-chars", "30") as daemon:
            self.assertEqual(told(daemon), (True, True, 30))
            self.assertEqual(told(daemon, headers={"Authorization": f"Bearer {CAROL}"}), (True, True, 11))
            self.assertEqual(told(daemon, headers={"Authorization": "Bearer wrong"}), (True, True, 30))
        with self.daemon() as daemon:
            self.assertEqual(told(daemon)[:2], (True, False))
        with Daemon() as daemon:
            self.assertEqual(told(daemon)[:2], (False, False))

    def test_reload(self):
        with self.daemon() as daemon:
            self.assertIn("3 API keys", daemon.log)
            new = "dora-5b7f8a10c4d2"
            self.write(f"{new}\n{ALICE}\n")
            os.kill(daemon.pid, signal.SIGHUP)
            wait_until(lambda: daemon.translate("Hello.", api_key=new).status == 200)
            self.refused(daemon.translate("Hello.", api_key=BOB), 403, "Invalid API key")
            self.write(f"{BOB}\n{new} requests_per_minute=many\n")
            os.kill(daemon.pid, signal.SIGHUP)
            wait_until(lambda: "reload failed" in daemon.log)
            self.assertIn('line 2: requests_per_minute is "many"', daemon.log)
            self.assertEqual(daemon.translate("Hello.", api_key=new).status, 200)
            self.refused(daemon.translate("Hello.", api_key=BOB), 403, "Invalid API key")
            self.keys.unlink()
            os.kill(daemon.pid, signal.SIGHUP)
            wait_until(lambda: daemon.log.count("reload failed") == 2)
            self.assertEqual(daemon.translate("Hello.", api_key=new).status, 200)

    def test_a_file_that_everybody_can_read(self):
        self.write(KEYS, 0o644)
        with self.daemon() as daemon:
            self.assertRegex(daemon.log, r"warn .*can be read by everybody")
        checked = run("check-config", "--api-keys-file", str(self.keys))
        self.assertIn("good, 3 keys; everybody on this machine can read it", checked.stderr)

    def test_a_broken_file_at_the_start(self):
        self.write("short\n")
        for verb in ("serve", "check-config"):
            result = run(verb, "--model", MODEL, "--api-keys-file", str(self.keys))
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("line 1: a key of 5 characters, expected 8 to 128", result.stderr)


class Rates(Files):
    def test_of_addresses_and_keys(self):
        with self.daemon("--requests-per-minute", "20") as daemon:
            self.assertEqual(daemon.translate(["a"] * 15).status, 200)
            self.assertEqual(daemon.request("POST", "/detect", {"q": "Hello."}).status, 200)
            self.assertEqual(daemon.translate(["a"] * 4).status, 200)
            reply = daemon.translate("Hello.")
            self.refused(reply, 429, "Slowdown: 20 per 1 minute")
            self.assertIn(int(reply.headers["retry-after"]), (1, 2, 3))
            # A key is counted by itself, here with limits of its own, and with everybody's.
            self.assertEqual(daemon.translate(["a"] * 5, api_key=ALICE).status, 200)
            self.refused(daemon.translate("a", api_key=ALICE), 429, "Slowdown: 5 per 1 minute")
            self.assertEqual(daemon.translate(["a"] * 20, api_key=BOB).status, 200)
            self.refused(daemon.translate("a", api_key=BOB), 429, "Slowdown: 20 per 1 minute")
            # What looks after the server, or costs nothing, is free.
            for _ in range(30):
                for path in ("/health", "/health/live", "/health/ready", "/metrics", "/languages"):
                    self.assertEqual(daemon.get(path).status, 200)
            self.assertEqual(daemon.metrics()['attentiond_rejected_total{reason="rate"}'], 3)
            # Levels outlive a reload.
            os.kill(daemon.pid, signal.SIGHUP)
            wait_until(lambda: "generation 2" in daemon.log)
            self.refused(daemon.translate(["a"] * 10), 429, "Slowdown: 20 per 1 minute")

    def test_other_periods(self):
        for flag, name in (("--requests-per-hour", "hour"), ("--requests-per-day", "day")):
            with Daemon(flag, "2") as daemon:
                self.assertEqual(daemon.translate(["a", "b"]).status, 200)
                self.refused(daemon.translate("a"), 429, f"Slowdown: 2 per 1 {name}")

    def test_a_target_that_is_given_counts_too(self):
        with Daemon("--chars-per-day", "30") as daemon:
            def ask(**fields):
                return daemon.request("POST", "/attention", {"q": "Hello.", "source": "en", "target": "de", **fields})

            self.assertEqual(ask(target_text="Hallo, Leute.").status, 200)  # 6 and 13
            reply = ask(target_text="Hallo.")
            self.refused(reply, 429, "Slowdown: 30 characters per 1 day")
            self.assertGreater(int(reply.headers["retry-after"]), 1)
            self.assertEqual(daemon.metrics()['attentiond_rejected_total{reason="rate"}'], 1)
            self.assertEqual(ask().status, 200)  # what was refused has not been counted

    def test_a_reply_counts_though_its_end_is_not_read(self):
        """It is larger than what the kernel keeps for a client that does not read."""
        n_chars = 6_000_000
        page = f'<p>Hello.</p><pre translate="no">{"x" * n_chars}</pre>'
        with Daemon("--chars-per-day", str(n_chars + 1000), "--max-text-chars", str(2 * n_chars),
                    "--max-body-bytes", str(2 * n_chars), "--log-level", "debug") as daemon:
            body = json.dumps({"q": page, "source": "en", "target": "de", "format": "html"}).encode()
            with daemon.socket() as client:
                client.sendall(b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                               b"Content-Length: %d\r\n\r\n" % len(body) + body)
                self.assertEqual(client.recv(12, socket.MSG_WAITALL), b"HTTP/1.1 200")
            wait_until(lambda: "POST /translate" in daemon.log, what="the end of the request")
            self.assertEqual(daemon.translate(" " * (n_chars // 2)).status, 429)

    def test_attention_for_an_address_costs_what_a_post_costs(self):
        with Daemon("--requests-per-minute", "1") as daemon:
            address = "/attention?q=Hello.&format=svg"
            self.assertEqual([daemon.request("GET", address).status for _ in range(2)], [200, 429])
            self.assertNotIn("Hello", daemon.log)
        with self.daemon() as daemon:
            self.refused(daemon.request("GET", address + "&api_key=wrong"), 403, "Invalid API key")

    def test_ban(self):
        with Daemon("--requests-per-minute", "1", "--max-limit-violations", "2") as daemon:
            self.assertEqual(daemon.translate("a").status, 200)
            for _ in range(3):
                self.assertEqual(daemon.translate("a").status, 429)
            self.refused(daemon.translate("a"), 403, "Too many request limits violations")
            self.assertEqual(daemon.get("/languages").status, 200)
            self.assertEqual(daemon.metrics()['attentiond_rejected_total{reason="banned"}'], 1)

    def test_forwarded_for(self):
        def ask(daemon, *addresses):
            client = daemon.connect()
            client.putrequest("POST", "/detect")
            body = json.dumps({"q": "Hello."}).encode()
            client.putheader("Content-Type", "application/json")
            client.putheader("Content-Length", str(len(body)))
            for address in addresses:
                client.putheader("X-Forwarded-For", address)
            client.endheaders(body)
            status = client.getresponse().status
            client.close()
            return status

        with Daemon("--requests-per-minute", "1", "--trust-forwarded-for", "127.0.0.0/8") as daemon:
            self.assertEqual(ask(daemon, "203.0.113.1"), 200)
            self.assertEqual(ask(daemon, "203.0.113.1"), 429)
            self.assertEqual(ask(daemon, "203.0.113.2"), 200)
            self.assertEqual(ask(daemon, "198.51.100.7, 203.0.113.2"), 429)
            self.assertEqual(ask(daemon, "198.51.100.8", "203.0.113.2"), 429)
            self.assertEqual(ask(daemon, "2001:db8:1:2::3"), 200)
            self.assertEqual(ask(daemon, "2001:db8:1:2:ffff::4"), 429)
            self.assertEqual(ask(daemon, "2001:db8:1:3::3"), 200)
            self.assertEqual(ask(daemon), 200)
            self.assertEqual(ask(daemon, "nonsense"), 429)
        with Daemon("--requests-per-minute", "1") as daemon:
            self.assertEqual(ask(daemon, "203.0.113.1"), 200)
            self.assertEqual(ask(daemon, "203.0.113.2"), 429)
        result = run("serve", "--model", MODEL, "--port", "0", "--trust-forwarded-for", "proxy")
        self.assertEqual(result.returncode, 2)
        self.assertIn('trust_forwarded_for has "proxy"', result.stderr)


class Shares(unittest.TestCase):
    def test_of_connections(self):
        with Daemon("--max-client-connections", "3") as daemon:
            # Requests that are not complete: these three cannot make room.
            busy = [daemon.socket() for _ in range(3)]
            for connection in busy:
                connection.sendall(b"POST /detect HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
            wait_until(lambda: daemon.metrics()["attentiond_requests_in_flight"] == 4)
            reply = daemon.get("/languages")
            self.assertEqual((reply.status, reply.headers["retry-after"], reply.headers["connection"]),
                             (429, "1", "close"))
            self.assertEqual(reply.error, "too many connections from this address: try again later")
            self.assertEqual(daemon.get("/health").status, 200)
            self.assertGreaterEqual(
                daemon.metrics()['attentiond_rejected_total{reason="client_share"}'], 1)
            for connection in busy:
                connection.close()
            wait_until(lambda: daemon.get("/languages").status == 200)
            # Idle ones make room.
            kept = [daemon.connect() for _ in range(3)]
            for client in kept:
                self.assertEqual(daemon.get("/health", client=client).status, 200)
            wait_until(lambda: daemon.get("/languages").status == 200)
            for client in kept:
                client.close()

    def test_of_connections_by_default(self):
        with Daemon("--max-connections", "8") as daemon:
            connections = [daemon.socket() for _ in range(7)]
            for connection in connections:
                connection.sendall(b"POST /detect HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
            wait_until(lambda: daemon.metrics()["attentiond_requests_in_flight"] == 8)
            self.assertEqual(daemon.get("/languages").status, 200)
            for connection in connections:
                connection.close()

    def test_of_the_queue(self):
        """One client fills its share of the queue, and another one is served all the same."""
        text = "The weather is nice today, and we are going for a walk in the park. " * 40
        flags = ("--max-client-sentences", "50", "--max-batch-rows", "4", "--workers", "1",
                 "--trust-forwarded-for", "127.0.0.1")
        greedy, modest = {"X-Forwarded-For": "203.0.113.1"}, {"X-Forwarded-For": "203.0.113.2"}
        replies = []
        with Daemon(*flags) as daemon:
            threads = [
                threading.Thread(target=lambda: replies.append(daemon.translate(text, headers=greedy)))
                for _ in range(8)
            ]
            for thread in threads:
                thread.start()
            reply = daemon.translate("Yes.", headers=modest)
            self.assertEqual(reply.status, 200)
            for thread in threads:
                thread.join()
            codes = sorted(reply.status for reply in replies)
            self.assertEqual(set(codes), {200, 429}, codes)
            refused = next(reply for reply in replies if reply.status == 429)
            self.assertRegex(refused.error, r"^this client has \d+ sentences waiting, and 40 more "
                                            r"would be over its share of 50$")
            self.assertEqual(refused.headers["retry-after"], "1")
            self.assertEqual(daemon.metrics()['attentiond_rejected_total{reason="client_share"}'],
                             codes.count(429))


    def test_of_the_queue_may_be_exceeded_by_a_request_that_is_the_only_one(self):
        flags = ("--max-client-sentences", "5", "--max-queued-sentences", "20", "--trust-forwarded-for", "127.0.0.1")
        headers = {"X-Forwarded-For": "203.0.113.1"}
        with Daemon(*flags) as daemon:
            self.assertEqual(daemon.translate(["Yes."] * 20, headers=headers).status, 200)
            self.assertEqual(daemon.translate(["Yes."] * 21, headers=headers).status, 413)


class Metrics(unittest.TestCase):
    def test_token(self):
        token = "s3cr3t-of-the-scraper"
        with Daemon(environment={"ATTENTIOND_METRICS_TOKEN": token}) as daemon:
            for value in (None, f"Bearer {token}x", f"Bearer {token[:-1]}", "Bearer ", token,
                          f"Basic {token}"):
                reply = daemon.get("/metrics", headers={"Authorization": value} if value else {})
                self.assertEqual((reply.status, reply.headers["www-authenticate"]), (401, "Bearer"))
                self.assertNotIn(b"attentiond_", reply.body)
            reply = daemon.get("/metrics", headers={"Authorization": f"Bearer {token}"})
            self.assertEqual(reply.status, 200)
            self.assertIn('route="/metrics",code="401"} 6', reply.body.decode())
            self.assertEqual(daemon.get("/health").status, 200)
        self.assertNotIn(token, daemon.log)
        shown = run("check-config", "--metrics-token", token)
        self.assertIn('"metrics_token": "(set, not shown)"', shown.stdout)
        refused = run("check-config", "--metrics-token", token * 100)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--metrics-token is not shown; expected a string of 0 to 256 bytes", refused.stderr)
        for result in (shown, refused):
            self.assertNotIn(token, result.stdout + result.stderr)


class Silence(Files):
    def test_nothing_personal_is_logged_or_counted(self):
        text, wrong, address = "Zanzibar", "wr0ng-key-4711", "203.0.113.77"
        with self.daemon("--log-level", "debug", "--requests-per-minute", "3", "--log-format", "json",
                         "--trust-forwarded-for", "127.0.0.1") as daemon:
            headers = {"X-Forwarded-For": address, "X-Request-ID": "id-0815"}
            for key in (BOB, wrong, None):
                for _ in range(4):
                    daemon.translate(text, api_key=key, headers=headers)
                daemon.request("POST", f"/translate?q={text}&api_key={key}", b"", headers)
                daemon.translate(text, headers={"Authorization": f"Bearer {key}", **headers})
                daemon.get(f"/nowhere/{text}?api_key={key}", headers=headers)
            daemon.translate([text, 5], headers=headers, api_key=BOB)
            daemon.raw(f"GET /{text} HTTP/1.1\r\nBad Name: {wrong}\r\n\r\n".encode())
            metrics = daemon.get("/metrics").body.decode()
            os.kill(daemon.pid, signal.SIGHUP)
            wait_until(lambda: "generation 2" in daemon.log)
        for line in daemon.log_lines:
            if not line.startswith("==") or SLOWNESS == 1: # what a sanitizer has to say
                json.loads(line)
        for secret in (text, wrong, ALICE, BOB, CAROL, "alice", address):
            self.assertNotIn(secret, metrics)
            self.assertNotIn(secret, daemon.log)
        clients = re.sub(r"listening on \S+", "", daemon.log)
        self.assertNotIn("127.0.0.1", clients)


if __name__ == "__main__":
    unittest.main()
