#!/usr/bin/env python3
"""More connections than there is room for, which do nothing or stay: a newcomer is answered all the same, and the
server stops when it is told to."""

import os
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import time
import unittest

from serve import SLOWNESS, Daemon, wait_until

CALLS_LIBRARY = os.environ.get("FAILING_CALLS_LIBRARY", "")

LIMIT = 50
# As many beyond the limit as the server has ever kept to tell them so, and one; and far more.
CROWDS = LIMIT + 65, LIMIT + 300
WITHIN_SECONDS = 1 * SLOWNESS

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
LANGUAGES = HEALTH.replace(b"/health", b"/languages")
POST = (b"POST /detect HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\n")
# What each of a crowd sends, and no more.
KINDS = {
    "nothing": b"",
    "a part of a request line": HEALTH[:9],
    "a part of a head": HEALTH[:-2],
    "a part of a body": POST + b"q=",
    "a part of a body that nobody reads": HEALTH[:-2] + b"Content-Length: 100\r\n\r\nq=",
    "a request, and stays": HEALTH,
}
# Those that wait for nothing, and for whom nothing is done.
QUIET = "nothing", "a part of a head", "a request, and stays"


def as_it_is(connection):
    return connection


class Crowd:
    """n connections, of six addresses unless one is given, each of which has sent the data."""

    def __init__(self, daemon, n, data, source=None, wrap=as_it_is):
        self.connections = []
        for i in range(n):
            connection = daemon.socket(source=source or f"127.0.0.{2 + i % 6}")
            self.connections.append(connection)
            try:
                self.connections[-1] = wrap(connection)
                self.connections[-1].sendall(data)
            except OSError:
                pass  # the server may have closed it

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for connection in self.connections:
            connection.close()


def ask(daemon, path="/health", wrap=as_it_is):
    """The status line of the reply to a newcomer, and how long it took from the first packet on."""
    start = time.monotonic()
    with wrap(daemon.socket(timeout=20 * SLOWNESS, source="127.0.0.9")) as connection:
        connection.sendall(HEALTH.replace(b"/health", path.encode()))
        reply = connection.recv(4096)
    return reply[:12].decode(), time.monotonic() - start


class Crowds(unittest.TestCase):
    def check_newcomers(self, daemon, wrap=as_it_is):
        """One that comes with the crowd, and those who find it there."""
        for pause in (0, 0.3):
            time.sleep(pause)
            reply, seconds = ask(daemon, wrap=wrap)
            self.assertEqual(reply, "HTTP/1.1 200")
            self.assertLess(seconds, WITHIN_SECONDS)

    def test_newcomers_are_answered(self):
        for what, data in KINDS.items():
            for n in CROWDS:
                with self.subTest(what, n=n), Daemon("--max-connections", str(LIMIT)) as daemon:
                    with Crowd(daemon, n, data):
                        self.check_newcomers(daemon)

    def test_newcomers_of_the_same_address_are_answered(self):
        flags = "--max-connections", str(4 * LIMIT), "--max-client-connections", "10"
        for what, data in KINDS.items():
            with self.subTest(what), Daemon(*flags) as daemon:
                with Crowd(daemon, LIMIT, data, "127.0.0.9"):
                    self.check_newcomers(daemon)

    def test_those_that_do_not_ask_make_room(self):
        """Not only for questions after the server's health."""
        for what in QUIET:
            with self.subTest(what), Daemon("--max-connections", str(LIMIT)) as daemon:
                with Crowd(daemon, CROWDS[1], KINDS[what]):
                    wait_until(lambda d=daemon: ask(d, "/languages")[0] == "HTTP/1.1 200",
                               4 * SLOWNESS, "room")

    def test_a_crowd_of_one_address_takes_its_own_places(self):
        """Who was there before it keeps the connection, and a newcomer has one at once: nobody waits until the crowd's
        connections have been there for a second."""
        for what in QUIET:
            with self.subTest(what), Daemon("--max-connections", str(LIMIT)) as daemon:
                with daemon.socket(timeout=20 * SLOWNESS, source="127.0.0.9") as early:
                    early.sendall(LANGUAGES)
                    self.assertEqual(early.recv(1 << 16)[:12], b"HTTP/1.1 200")
                    time.sleep(0.2)
                    with Crowd(daemon, CROWDS[1], KINDS[what], "127.0.0.2"):
                        time.sleep(0.7)  # those of the crowd that are still being answered keep their places
                        for _ in range(3):
                            reply, seconds = ask(daemon, "/languages")
                            self.assertEqual(reply, "HTTP/1.1 200")
                            self.assertLess(seconds, WITHIN_SECONDS)
                        early.sendall(LANGUAGES)
                        self.assertEqual(early.recv(1 << 16)[:12], b"HTTP/1.1 200")

    def test_replies_beyond_the_limit_are_the_last_ones(self):
        with Daemon("--max-connections", "2") as daemon:
            busy = [daemon.socket() for _ in range(2)]
            for connection in busy:
                connection.sendall(POST)
            wait_until(lambda: daemon.metrics()["attentiond_requests_in_flight"] == 3)
            for path, code in ((b"/health", b"200"), (b"/languages", b"503")):
                received = daemon.raw(HEALTH.replace(b"/health", path))  # until the server closes
                self.assertIn(b"HTTP/1.1 " + code, received)
                self.assertIn(b"Connection: close\r\n", received)
            for connection in busy:
                connection.sendall(b"q=" + 98 * b"x")
                self.assertIn(b"HTTP/1.1 200", connection.recv(4096))
                connection.close()

    def test_the_server_can_be_stopped(self):
        for what in ("nothing", "a request, and stays"):
            with self.subTest(what), Daemon("--max-connections", str(LIMIT)) as daemon:
                with Crowd(daemon, CROWDS[1], KINDS[what]):
                    start = time.monotonic()
                    self.assertEqual(daemon.stop(), 0)
                    self.assertLess(time.monotonic() - start, 20 * SLOWNESS)

    @unittest.skipIf(SLOWNESS > 1, "sanitizers must be loaded first")
    def test_the_system_cannot_accept_for_a_moment(self):
        environment = {"LD_PRELOAD": CALLS_LIBRARY, "FULL_TABLE": "5"}
        with Daemon(environment=environment) as daemon, Crowd(daemon, 5, HEALTH):
            self.check_newcomers(daemon)

    def test_tls(self):
        root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, root)
        certificate, key = str(root / "tls.crt"), str(root / "tls.key")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-days", "30", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate],
            check=True, capture_output=True)
        context = ssl.create_default_context(cafile=certificate)

        def shake_hands(connection):
            return context.wrap_socket(connection, server_hostname="localhost")

        flags = "--max-connections", str(LIMIT), "--tls-certificate", certificate, "--tls-key", key
        kinds = [("no handshake", b"", as_it_is), ("a part of a handshake", b"\x16\x03\x01\x02", as_it_is)]
        kinds += [(what, KINDS[what], shake_hands) for what in QUIET]
        for what, data, wrap in kinds:
            with self.subTest(what), Daemon(*flags) as daemon:
                with Crowd(daemon, CROWDS[1], data, wrap=wrap):
                    self.check_newcomers(daemon, shake_hands)


if __name__ == "__main__":
    unittest.main(verbosity=2)
