"""TLS by the daemon itself: versions, renewal, and clients that leave."""

import hashlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

from serve import MODEL, SLOWNESS, Daemon, run, wait_until

KINDS = {
    "ec": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "rsa": ["-newkey", "rsa:2048"],
}


def make_certificate(directory, name, kind="ec"):
    """A self-signed certificate of localhost: the paths of certificate and key."""
    certificate, key = directory / f"{name}.crt", directory / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", *KINDS[kind], "-nodes", "-days", "30", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True)
    key.chmod(0o600)
    return certificate, key


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Tls(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.first = make_certificate(self.root, "first")
        self.certificate, self.key = self.root / "tls.crt", self.root / "tls.key"
        self.use(self.first)

    def use(self, pair):
        for source, target in zip(pair, (self.certificate, self.key)):
            fresh = self.root / "fresh"
            shutil.copy(source, fresh)
            fresh.rename(target)

    def daemon(self, *flags, **options):
        return Daemon("--tls-certificate", str(self.certificate), "--tls-key", str(self.key), *flags,
                      **options)

    def context(self, pair=None):
        return ssl.create_default_context(cafile=str((pair or self.first)[0]))

    def connect(self, daemon, pair=None, context=None):
        client = http.client.HTTPSConnection(
            daemon.host, daemon.port, context=context or self.context(pair), timeout=30 * SLOWNESS)
        self.addCleanup(client.close)
        client.connect()
        return client

    def ask(self, client, method="GET", path="/health", body=None):
        headers = {"Content-Type": "application/json"} if body else {}
        client.request(method, path, json.dumps(body) if body else None, headers)
        response = client.getresponse()
        return response.status, response.read()

    def metrics(self, daemon, client):
        lines = self.ask(client, path="/metrics")[1].decode().splitlines()
        return {k: float(v) for k, v in (x.rsplit(" ", 1) for x in lines if x[0] != "#")}

    def test_curl(self):
        with self.daemon() as daemon:
            self.assertIn(f"listening on 127.0.0.1:{daemon.port} with TLS", daemon.log)
            curl = ["curl", "-sS", "--max-time", str(30 * SLOWNESS)]
            url = f"https://localhost:{daemon.port}"
            trust = ["--cacert", str(self.first[0])]
            body = json.dumps({"q": "Where is the train station?", "source": "en", "target": "de"})
            done = subprocess.run(
                [*curl, *trust, url + "/translate", "-H", "Content-Type: application/json", "-d", body],
                capture_output=True, check=True)
            self.assertEqual(json.loads(done.stdout), {"translatedText": "Wo ist der Bahnhof?"})
            # Nobody vouches for it without the certificate.
            done = subprocess.run([*curl, url + "/health"], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (60, b""))
            for version, is_good in (("1.0", False), ("1.1", False), ("1.2", True), ("1.3", True)):
                done = subprocess.run(
                    [*curl, *trust, "--tlsv" + version, "--tls-max", version, url + "/health",
                     "--ciphers", "DEFAULT@SECLEVEL=0"], capture_output=True, check=False)
                self.assertEqual(done.stdout, b'{"status":"ok"}\n' if is_good else b"", version)

    def test_plain_http_gets_nothing(self):
        with self.daemon() as daemon:
            received = daemon.raw(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertNotIn(b"HTTP/1.1 200", received)
            self.assertEqual(self.ask(self.connect(daemon))[0], 200)

    def test_keys_that_cannot_be_recorded_and_opened_later(self):
        """RSA key exchange is off, with an RSA key too."""
        pair = make_certificate(self.root, "rsa", "rsa")
        self.use(pair)
        with self.daemon() as daemon:
            context = self.context(pair)
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            client = self.connect(daemon, context=context)
            self.assertIn("ECDHE", client.sock.cipher()[0])
            client.close()
            context.set_ciphers("AES128-GCM-SHA256")
            with self.assertRaises(ssl.SSLError):
                self.connect(daemon, context=context)

    def test_suites_of_tls_1_2(self):
        """Whatever OpenSSL has: what encrypts and authenticates in one is taken, CBC is not."""
        listed = subprocess.run(["openssl", "ciphers", "-v", "-tls1_2", "-s", "aECDSA+kEECDH:@SECLEVEL=0"],
                                capture_output=True, check=True, text=True).stdout
        suites = {line.split()[0]: "Mac=AEAD" in line for line in listed.splitlines()}
        self.assertTrue({True, False} <= set(suites.values()), listed)
        taken = set()
        with self.daemon() as daemon:
            for suite in suites:
                done = subprocess.run(
                    ["openssl", "s_client", "-connect", f"127.0.0.1:{daemon.port}", "-tls1_2",
                     "-cipher", suite + ":@SECLEVEL=0"], input="", capture_output=True, check=False, text=True)
                if f"Cipher is {suite}\n" in done.stdout:
                    taken.add(suite)
        self.assertEqual([s for s in taken if not suites[s]], [])
        self.assertTrue({"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
                         "ECDHE-ECDSA-CHACHA20-POLY1305"} <= taken, taken)

    def test_heads_that_libmicrohttpd_refuses(self):
        with self.daemon() as daemon:
            client = self.connect(daemon)
            client.sock.sendall(b"POST /detect HTTP/1.1\r\nHost: localhost\r\nContent-Length: +28\r\n\r\n")
            received = client.sock.recv(65536)
            while piece := client.sock.recv(65536):
                received += piece
            self.assertEqual((received.count(b"HTTP/1.1"), received[:13]), (1, b"HTTP/1.1 400 "), received)

    def test_large_bodies_and_keep_alive(self):
        with self.daemon("--max-text-chars", "300000") as daemon:
            client = self.connect(daemon)
            for n in (1, 20000, 250000):
                status, body = self.ask(client, "POST", "/translate",
                                        {"q": " " * n, "source": "en", "target": "de"})
                self.assertEqual((status, json.loads(body)), (200, {"translatedText": ""}))
            client.close()

    def test_renewal(self):
        second = make_certificate(self.root, "second", "rsa")
        with self.daemon() as daemon:
            old = self.connect(daemon)
            self.assertEqual(self.ask(old)[0], 200)
            self.use(second)
            os.kill(daemon.pid, signal.SIGHUP)
            wait_until(lambda: "generation 2" in daemon.log)
            with self.assertRaises(ssl.SSLError):
                self.connect(daemon, self.first)
            client = self.connect(daemon, second)
            shown = hashlib.sha256(client.sock.getpeercert(True)).hexdigest()
            pem = second[0].read_text()
            self.assertEqual(shown, hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest())
            self.assertEqual(self.ask(old)[0], 200) # its connection goes on
            # A key that is not the certificate's: nothing changes.
            self.use((self.first[0], second[1]))
            os.kill(daemon.pid, signal.SIGHUP)
            wait_until(lambda: "reload failed" in daemon.log)
            self.assertEqual(self.ask(self.connect(daemon, second))[0], 200)
            # Half a file.
            self.certificate.write_text(self.first[0].read_text()[:300])
            os.kill(daemon.pid, signal.SIGHUP)
            wait_until(lambda: daemon.log.count("reload failed") == 2)
            self.assertEqual(self.ask(self.connect(daemon, second))[0], 200)

    def test_a_client_that_leaves_frees_its_rows(self):
        text = "The weather is nice today, and we are going for a walk in the park. " * 200
        with self.daemon("--max-batch-rows", "4", "--workers", "1") as daemon:
            watcher = self.connect(daemon)
            for leave in (lambda s: s.close(), lambda s: s.shutdown(socket.SHUT_WR)):
                before = self.metrics(daemon, watcher)
                client = self.connect(daemon)
                client.request("POST", "/translate", json.dumps(
                    {"q": text, "source": "en", "target": "de"}), {"Content-Type": "application/json"})
                wait_until(lambda: self.metrics(daemon, watcher)["attentiond_sentences_running"] > 0)
                leave(client.sock)
                wait_until(lambda: self.metrics(daemon, watcher)["attentiond_sentences_running"] == 0
                           and self.metrics(daemon, watcher)["attentiond_queue_depth"] == 0)
                after = self.metrics(daemon, watcher)
                name = 'attentiond_jobs_total{outcome="cancelled"}'
                self.assertEqual(after[name], before[name] + 1)

    def test_handshakes_that_do_not_come_to_their_end(self):
        with self.daemon("--header-timeout-ms", "300") as daemon:
            client = self.connect(daemon)
            before = self.metrics(daemon, client)["process_open_fds"]
            client.close()
            silent = [daemon.socket() for _ in range(20)]
            for connection in silent[:10]:
                connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00") # the beginning of a greeting
            for connection in silent:
                connection.settimeout(10 * SLOWNESS)
                try:
                    self.assertEqual(connection.recv(100)[:1] in (b"", b"\x15"), True)
                except ConnectionResetError:
                    pass
                connection.close()
            distrusting = ssl.create_default_context()
            for _ in range(200):
                with self.assertRaises((ssl.SSLError, ConnectionError)):
                    self.connect(daemon, context=distrusting)
            client = self.connect(daemon)
            wait_until(lambda: self.metrics(daemon, client)["process_open_fds"] <= before)

    def stall(self, daemon, version, n_flights, n_missing):
        """A client that is silent from the end of a flight on, or that many bytes before it: 0 is
        its greeting, 1 its part in the end of the handshake, 2 its request."""
        context = self.context()
        context.minimum_version = context.maximum_version = version
        received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(received, sent, server_hostname="localhost")
        connection = daemon.socket(30 * SLOWNESS)
        self.addCleanup(connection.close)
        for flight in range(n_flights + 1):
            while sent.pending == 0:
                try:
                    if flight == 2:
                        tls.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    else:
                        tls.do_handshake()
                except ssl.SSLWantReadError:
                    if sent.pending == 0:
                        received.write(connection.recv(65536))
            data = sent.read()
            connection.sendall(data[:-n_missing] if n_missing and flight == n_flights else data)
        return connection

    def test_those_that_stall_cost_nothing(self):
        """libmicrohttpd tries a handshake that waits again and again; see http.c."""
        with self.daemon("--header-timeout-ms", str(int(20000 * SLOWNESS))) as daemon:
            stalled = [daemon.socket() for _ in range(10)]
            for connection in stalled:
                self.addCleanup(connection.close)
                connection.sendall(b"\x16\x03\x01\x02")  # of the record's head
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                for n_flights, n_missing in ((0, 100), (0, 0), (1, 10), (1, 0), (2, 10)):
                    stalled += [self.stall(daemon, version, n_flights, n_missing) for _ in range(4)]
            time.sleep(0.2 * SLOWNESS)
            start, before = time.monotonic(), processor_seconds(daemon.pid)
            time.sleep(2)
            spent = processor_seconds(daemon.pid) - before
            self.assertLess(spent / (time.monotonic() - start), 0.05)
            self.assertEqual(self.ask(self.connect(daemon))[0], 200)
            # Those whose handshake was cut short go on when the rest comes.
            late = daemon.socket()
            self.addCleanup(late.close)
            received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = self.context().wrap_bio(received, sent, server_hostname="localhost")
            is_done = False
            while not is_done:
                try:
                    tls.do_handshake()
                    is_done = True
                    tls.write(b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n")
                except ssl.SSLWantReadError:
                    pass
                for byte in sent.read():
                    late.sendall(bytes([byte]))
                    time.sleep(0.001)
                received.write(late.recv(65536))
            self.assertEqual(tls.read(15), b"HTTP/1.1 200 OK")

    def test_shutdown_leaves_those_that_stall(self):
        with self.daemon("--header-timeout-ms", "60000") as daemon:
            for n_flights, n_missing in ((0, 100), (0, 0), (1, 10), (1, 0), (2, 10)) * 4:
                self.stall(daemon, ssl.TLSVersion.TLSv1_3, n_flights, n_missing)
            time.sleep(0.2 * SLOWNESS)
            start = time.monotonic()
            self.assertEqual(daemon.stop(), 0)
            self.assertLess(time.monotonic() - start, 10 * SLOWNESS)

    def test_shutdown_answers_what_it_has(self):
        with self.daemon() as daemon:
            client = self.connect(daemon)
            client.request("POST", "/translate", json.dumps(
                {"q": "The weather is nice today. " * 100, "source": "en", "target": "de"}),
                {"Content-Type": "application/json"})
            time.sleep(0.05)
            os.kill(daemon.pid, signal.SIGTERM)
            response = client.getresponse()
            self.assertEqual(response.status, 200)
            self.assertIn("Wetter", json.loads(response.read())["translatedText"])
            wait_until(lambda: daemon.process.poll() is not None)

    def test_healthcheck(self):
        with self.daemon() as daemon:
            good = run("healthcheck", "--port", str(daemon.port), "--tls-certificate",
                       str(self.certificate))
            self.assertEqual((good.returncode, good.stderr), (0, ""))
            self.assertEqual(run("healthcheck", "--port", str(daemon.port)).returncode, 1)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = str(silent.getsockname()[1])
            bad = run("healthcheck", "--port", port, "--timeout-ms", "200",
                      environment={"ATTENTIOND_TLS_CERTIFICATE": str(self.certificate)})
            self.assertEqual(bad.returncode, 1)
            self.assertIn("no answer", bad.stderr)

    def test_what_is_wrong_is_said_at_the_start(self):
        other = make_certificate(self.root, "other")
        (self.root / "empty").write_text("")
        certificate, key = map(str, self.first)
        for flags, code, message in (
            (("--tls-certificate", certificate), 2, "tls_key is empty, but tls_certificate is not"),
            (("--tls-key", key), 2, "tls_certificate is empty, but tls_key is not"),
            (("--tls-certificate", certificate, "--tls-key", str(other[1])), 2, "do not match"),
            (("--tls-certificate", key, "--tls-key", key), 2, "expected 1 to 16 certificates in PEM"),
            (("--tls-certificate", str(self.root / "empty"), "--tls-key", key), 2, "in PEM"),
            (("--tls-certificate", certificate, "--tls-key", certificate), 2, "tls_key"),
            (("--tls-certificate", "/nowhere", "--tls-key", key), 1, "/nowhere: cannot open"),
            (("--tls-certificate", certificate, "--tls-key", "/nowhere"), 1, "tls_key: /nowhere: cannot open"),
        ):
            for verb in ("serve", "check-config"):
                result = run(verb, "--model", MODEL, *flags)
                self.assertEqual(result.returncode, code, (flags, result.stderr))
                self.assertIn(message, result.stderr)
        good = run("check-config", "--tls-certificate", certificate, "--tls-key", key)
        self.assertRegex(good.stderr, "good for (29|30) more days")
        old = str(self.root / "old.crt")
        # Good until now: OpenSSL makes none any more that ends before it begins.
        subprocess.run(["openssl", "x509", "-in", certificate, "-signkey", key, "-days", "0", "-out", old],
                       check=True, capture_output=True)
        wait_until(lambda: "old.crt: expired" in run(
            "check-config", "--tls-certificate", old, "--tls-key", key).stderr, what="the certificate's end")
        os.chmod(key, 0o644)
        self.assertIn("everybody on this machine can read the key", run(
            "check-config", "--tls-certificate", certificate, "--tls-key", key).stderr)


if __name__ == "__main__":
    unittest.main()
