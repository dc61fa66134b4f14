"""Starting and stopping: what is said when it does not start, and that no accepted request is lost
when it stops."""

import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from serve import BINARY, MODEL, SLOWNESS, Daemon, clean_environment, read_all, run, wait_until
from test_load import SENTENCES, SLOW, in_parallel, request_bytes

CALLS_LIBRARY = os.environ.get("FAILING_CALLS_LIBRARY", "")


class Start(unittest.TestCase):
    def refused(self, code, text, *arguments, **options):
        result = run("serve", *arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(text, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.refused(1, f"cannot listen on 127.0.0.1:{port}: Address already in use; --port N takes another one",
                         "--model", MODEL, "--port", str(port))

    def test_unknown_host(self):
        self.refused(1, "cannot listen on no-such-host.invalid:0", "--model", MODEL,
                     "--host", "no-such-host.invalid", "--port", "0")

    def test_missing_model(self):
        self.refused(1, "/nowhere", "--model", "/nowhere", "--port", "0")

    def test_truncated_model(self):
        with tempfile.TemporaryDirectory() as directory:
            shutil.copytree(MODEL, directory, dirs_exist_ok=True)
            weights = pathlib.Path(directory) / "model.safetensors"
            weights.write_bytes(weights.read_bytes()[:-1000])
            self.refused(1, "model.safetensors", "--model", directory, "--port", "0")

    def test_wrong_settings(self):
        self.refused(2, "--port", "--model", MODEL, "--port", "70000")
        self.refused(2, "--no-such-flag", "--model", MODEL, "--no-such-flag")
        self.refused(2, "ATTENTIOND_MAX_BODY_BYTES", "--model", MODEL, "--port", "0",
                     environment={"ATTENTIOND_MAX_BODY_BYTES": "1"})
        self.refused(2, "source_lang", "--model", MODEL, "--port", "0", "--source-lang", "a b")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
            config.write('{"prot": 5000}')
            config.flush()
            self.refused(2, "prot", "--model", MODEL, "--config", config.name)

    def test_more_connections_than_descriptors(self):
        self.refused(1, "max_connections is 65536", "--model", MODEL, "--port", "0",
                     "--max-connections", "65536") if descriptors() < 65536 else None

    def test_few_descriptors_make_fewer_connections(self):
        """Containers often have a hard limit of 1024 open files."""
        with Daemon(max_descriptors=1024) as daemon:
            self.assertEqual(daemon.translate("Hello.").status, 200)
            warning = re.search(r"max_connections is (\d+), .* 1024 take one of (\d+)", daemon.log)
            self.assertIsNotNone(warning, daemon.log)
            n_connections, enough = int(warning[1]), int(warning[2])
            self.assertGreater(n_connections, 500)
            clients = [daemon.socket() for _ in range(n_connections + 9)]
            for client in clients:
                client.sendall(request_bytes(SLOW)[:-1])
            wait_until(lambda: daemon.metrics()["attentiond_requests_in_flight"] == len(clients) + 1)
            wait_until(lambda: daemon.translate("Hello.").status == 503, what="too many")
            for client in clients:
                client.close()
        with Daemon(max_descriptors=enough) as daemon:
            self.assertNotIn("max_connections", daemon.log)
        for limit, given in ((1024, "1024"), (128, "0")):
            with self.assertRaisesRegex(AssertionError, r"the limit is \d+ \(ulimit -n\); raise it"):
                Daemon("--max-connections", given, max_descriptors=limit).start()

    def test_translates_soon_after_the_start(self):
        start = time.monotonic()
        with Daemon() as daemon:
            self.assertEqual(daemon.translate("Where is the train station?").status, 200)
            self.assertLess(time.monotonic() - start, 6 * SLOWNESS)  # tests/bench measures it
            self.assertRegex(daemon.log, r"listening on 127\.0\.0\.1:\d+: .* started in \d+ ms")

    def test_languages_can_be_named(self):
        with Daemon("--source-lang", "pb", "--target-lang", "zh") as daemon:
            reply = daemon.get("/languages").json
            self.assertEqual([(l["code"], l["name"]) for l in reply], [
                ("pt-BR", "Portuguese (Brazil)"), ("zh-Hans", "Chinese (Simplified)")])
            reply = daemon.translate("Hello.", source="PB", target="zh-CN")
            self.assertEqual(reply.status, 200, reply)


def descriptors():
    import resource
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


class Stop(unittest.TestCase):
    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            daemon = Daemon().start()
            daemon.get("/health")
            self.assertEqual(daemon.stop(number), 0, daemon.log)
            self.assertIn("stopped", daemon.log)

    def test_idle_connections_do_not_hold_it_up(self):
        daemon = Daemon().start()
        clients = [daemon.connect() for _ in range(20)]
        for client in clients:
            daemon.get("/health", client=client)
        silent = daemon.socket()
        start = time.monotonic()
        self.assertEqual(daemon.stop(), 0)
        self.assertLess(time.monotonic() - start, 10 * SLOWNESS)
        silent.close()
        for client in clients:
            client.close()

    def test_work_is_finished(self):
        daemon = Daemon().start()
        expected = daemon.translate(SENTENCES * 8).json
        with daemon.socket() as connection:
            connection.sendall(request_bytes({"q": SENTENCES * 8}))
            wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
            daemon.process.send_signal(signal.SIGTERM)
            received = read_all(connection)
        self.assertTrue(received.startswith(b"HTTP/1.1 200 OK"), received)
        self.assertIn(b"\r\nConnection: close\r\n", received)
        import json
        self.assertEqual(json.loads(received.split(b"\r\n\r\n", 1)[1]), expected)
        self.assertEqual(daemon.stop(None), 0)

    def test_draining_is_not_ready_but_alive(self):
        daemon = Daemon().start()
        with daemon.socket() as slow:
            slow.sendall(request_bytes(SLOW))
            wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
            ready, live = daemon.connect(), daemon.connect()
            daemon.get("/health", client=ready), daemon.get("/health", client=live)
            daemon.process.send_signal(signal.SIGTERM)
            # A connection that is not used while the daemon ends is closed, so both are used all the time.
            codes = {ready: ("/health/ready", 503), live: ("/health", 200)}
            while codes:
                for client, (path, code) in list(codes.items()):
                    reply = daemon.get(path, client=client)
                    if reply.headers.get("connection") == "close":
                        self.assertEqual(reply.status, code)
                        del codes[client]
            with self.assertRaises(OSError):
                daemon.socket().close()
        self.assertEqual(daemon.stop(None), 0)

    def test_other_signals_do_not_end_it(self):
        with Daemon() as daemon:
            for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE):
                daemon.process.send_signal(number)
            time.sleep(0.1)
            self.assertEqual(daemon.translate("Hello.").status, 200)

    def test_a_delay_is_not_ready_but_serves(self):
        """Balancers that ask now and then learn that it ends before it does."""
        daemon = Daemon("--shutdown-delay-ms", str(int(3000 * SLOWNESS))).start()
        self.assertEqual(daemon.get("/health/ready").status, 200)
        daemon.process.send_signal(signal.SIGTERM)
        wait_until(lambda: daemon.get("/health/ready").status == 503, what="not ready")
        self.assertEqual(daemon.metrics()["attentiond_ready"], 0)
        self.assertEqual(daemon.get("/health").status, 200)
        with daemon.socket() as client:  # a newcomer, whose connection is kept
            client.sendall(request_bytes({"q": "Hello."}))
            self.assertNotIn(b"\r\nConnection: close\r\n", client.recv(65536))
        self.assertEqual(daemon.stop(None), 0)
        self.assertRegex(daemon.log, r"not ready any more, and shutting down in \d+ ms")

    def test_a_second_signal_ends_the_delay(self):
        daemon = Daemon("--shutdown-delay-ms", "3600000").start()
        with daemon.socket() as slow:
            slow.sendall(request_bytes({"q": SENTENCES * 8}))
            wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
            daemon.process.send_signal(signal.SIGTERM)
            wait_until(lambda: daemon.get("/health/ready").status == 503, what="not ready")
            daemon.process.send_signal(signal.SIGTERM)
            self.assertTrue(read_all(slow).startswith(b"HTTP/1.1 200 "))
        self.assertEqual(daemon.stop(None), 0)

    def test_deadline_cuts_off(self):
        daemon = Daemon("--drain-timeout-ms", "300").start()
        with daemon.socket() as slow:
            slow.sendall(request_bytes(SLOW))
            wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
            start = time.monotonic()
            daemon.process.send_signal(signal.SIGTERM)
            received = read_all(slow)
        self.assertTrue(received.startswith(b"HTTP/1.1 503 "), received)
        self.assertIn(b'{"error":"the server is shutting down"}', received)
        self.assertEqual(daemon.stop(None), 1)
        self.assertLess(time.monotonic() - start, 10 * SLOWNESS)

    def test_second_signal_acts_at_once(self):
        daemon = Daemon().start()
        with daemon.socket() as slow:
            slow.sendall(request_bytes(SLOW))
            wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
            daemon.process.send_signal(signal.SIGTERM)
            wait_until(lambda: "shutting down" in daemon.log)
            start = time.monotonic()
            daemon.process.send_signal(signal.SIGTERM)
            self.assertEqual(daemon.stop(None), 1)
            self.assertLess(time.monotonic() - start, 10 * SLOWNESS)

    def test_requests_after_the_end_of_draining_are_refused(self):
        """While the daemon waits for something else: here for a client of the admin socket."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "admin"
            daemon = Daemon("--drain-timeout-ms", "0", "--admin-socket", str(path)).start()
            with daemon.socket() as client, socket.socket(socket.AF_UNIX) as admin:
                client.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertTrue(client.recv(65536).startswith(b"HTTP/1.1 200 "))
                admin.connect(str(path))
                admin.sendall(b"POST /reload HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
                time.sleep(0.1)
                daemon.process.send_signal(signal.SIGTERM)
                wait_until(lambda: "shutting down" in daemon.log)
                time.sleep(0.1)
                received = b""
                try:
                    client.sendall(request_bytes(SLOW))
                    received = read_all(client)
                except BrokenPipeError:
                    pass
            # On a slow machine it may have been too late for an answer.
            if received:
                self.assertTrue(received.startswith(b"HTTP/1.1 503 "), received)
                self.assertIn(b'{"error":"the server is shutting down"}', received)
                self.assertIn(b"\r\nConnection: close\r\n", received)
            self.assertEqual(daemon.stop(None), 0, daemon.log)

    @unittest.skipIf(SLOWNESS > 1 or not CALLS_LIBRARY, "sanitizers must be loaded first")
    def test_a_start_can_be_ended(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with tempfile.TemporaryDirectory() as directory:
                environment = clean_environment({"LD_PRELOAD": CALLS_LIBRARY, "SLOW_WATCH": "60"})
                process = subprocess.Popen(
                    [BINARY, "serve", "--model", MODEL, "--port", "0", "--admin-socket",
                     f"{directory}/admin", "--models-directory", directory],
                    env=environment, stderr=subprocess.DEVNULL)
                self.addCleanup(process.wait)
                self.addCleanup(process.kill)
                wait_until(lambda: os.path.exists(f"{directory}/admin"), what="the start")
                process.send_signal(number)
                self.assertEqual(process.wait(20), 0)

    def stop_among(self, clients, **environment):
        """What each client, which may connect before or after the signal, has received: None where
        it was not let in."""
        daemon = Daemon(environment={"LD_PRELOAD": CALLS_LIBRARY, **environment}).start()
        received = [None] * len(clients)

        def ask(i):
            time.sleep(clients[i])
            try:
                connection = daemon.socket()
            except OSError:
                return
            with connection:
                connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                received[i] = read_all(connection)[:12]

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(clients))]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        self.assertEqual(daemon.stop(), 0)
        for thread in threads:
            thread.join()
        return received

    @unittest.skipIf(SLOWNESS > 1 or not CALLS_LIBRARY, "sanitizers must be loaded first")
    def test_connections_just_accepted_are_answered(self):
        """Those that the HTTP thread does not know of yet."""
        for clients in [0], [0, 0.05, 0.1]:
            received = self.stop_among(clients, LATE_ACCEPT="1000")
            self.assertEqual(received, [b"HTTP/1.1 200"] * len(clients))

    @unittest.skipIf(SLOWNESS > 1 or not CALLS_LIBRARY, "sanitizers must be loaded first")
    def test_newcomers_are_answered_or_not_let_in(self):
        """Also between the last look for one and the end of looking."""
        received = self.stop_among([0.3, 0.35, 0.4], LATE_EMPTY="400")
        self.assertEqual(set(received) - {None, b"HTTP/1.1 200"}, set())

    def drain_under_load(self, n_clients, new_connections):
        """Clients that send as fast as they can; how many got an answer, and what was lost."""
        daemon = Daemon().start()
        answered, lost = [], []

        def client(i):
            connection = None
            for n in range(100000):
                if connection is None:
                    connection = daemon.connect()
                    try:
                        connection.connect()
                    except OSError:
                        return  # not accepted
                try:
                    reply = daemon.translate(SENTENCES[(i + n) % 16], client=connection,
                                             beam_size=1)
                except (OSError, http.client.HTTPException) as error:
                    lost.append(f"client {i}, request {n}: {error!r}")
                    return
                answered.append(reply.status)
                if reply.headers.get("connection") == "close":
                    connection.close()
                    return
                if new_connections:
                    connection.close()
                    connection = None

        def stop():  # once everybody is at it, however slow the machine
            try:
                wait_until(lambda: len(answered) > 4 * n_clients, what="answered")
            finally:
                daemon.process.send_signal(signal.SIGTERM)

        stopper = threading.Thread(target=stop)
        stopper.start()
        in_parallel(n_clients, client)
        stopper.join()
        code = daemon.stop(None)
        self.assertEqual((code, lost), (0, []), daemon.log)
        self.assertGreater(len(answered), n_clients)
        self.assertEqual(set(answered), {200})

    def test_drain_under_load_loses_nothing(self):
        for _ in range(3):
            self.drain_under_load(32, new_connections=False)

    def test_drain_under_load_with_new_connections_loses_nothing(self):
        for _ in range(3):
            self.drain_under_load(32, new_connections=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
