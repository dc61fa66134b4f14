"""The admin socket: a door of its own, for the daemon's own user."""

import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import tempfile
import unittest

from serve import MODEL, SLOWNESS, Daemon, run, wait_until


class Client(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30 * SLOWNESS)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Admin(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.path = self.root / "admin"

    def ask(self, method, target, body=None, headers={}):
        client = Client(self.path)
        try:
            client.request(method, target, body, headers)
            response = client.getresponse()
            return response.status, response.read().decode()
        finally:
            client.close()

    def stats(self):
        status, body = self.ask("GET", "/stats")
        self.assertEqual(status, 200)
        return json.loads(body)

    def test_requests(self):
        with Daemon("--admin-socket", str(self.path)) as daemon:
            mode = self.path.stat().st_mode
            self.assertTrue(stat.S_ISSOCK(mode))
            self.assertEqual(stat.S_IMODE(mode), 0o600)
            self.assertEqual(self.ask("GET", "/health"), (200, '{"status":"ok"}\n'))
            daemon.translate(["Hello.", "Yes."])
            stats = self.stats()
            self.assertEqual(stats["engine"]["jobs_done"], 2) # the warm-up is one
            self.assertEqual(stats["generation"], {"number": 1, "alive": 1, "reloads": 0, "failed_reloads": 0})
            self.assertEqual(stats["model"], pathlib.Path(MODEL).name)
            self.assertEqual(self.ask("POST", "/reload", b""), (202, '{"status":"reloading"}\n'))
            wait_until(lambda: self.stats()["generation"]["number"] == 2)
            # Nothing else is there, and nothing of it anywhere else.
            for method, target, code in (("POST", "/translate", 404), ("GET", "/metrics", 404),
                                         ("GET", "/reload", 405), ("DELETE", "/stats", 405)):
                self.assertEqual(self.ask(method, target, b"" if method == "POST" else None)[0], code)
            for method, target in (("POST", "/reload"), ("GET", "/stats")):
                self.assertEqual(daemon.request(method, target, b"").status, 404)
            self.assertEqual(self.stats()["generation"]["number"], 2)
            self.assertNotIn("/reload", daemon.get("/metrics").body.decode())
        self.assertIn(f"admin requests at {self.path}", daemon.log)

    def test_limits_of_clients_are_not_its(self):
        keys = self.root / "keys"
        keys.write_text("some-key-0815\n")
        keys.chmod(0o600)
        with Daemon("--admin-socket", str(self.path), "--api-keys-file", str(keys), "--key-required",
                    "--requests-per-minute", "1", "--max-client-connections", "1",
                    "--trust-forwarded-for", "0.0.0.0/0,::/0"):
            for _ in range(10):
                self.assertEqual(self.ask("POST", "/reload", b"")[0], 202)
                self.assertEqual(self.ask("GET", "/stats", headers={"X-Forwarded-For": "1.2.3.4"})[0], 200)
            self.assertEqual(self.stats()["api_keys"], 1)

    def test_idle_clients_do_not_keep_the_daemon(self):
        with Daemon("--admin-socket", str(self.path)):
            for _ in range(3):
                client = Client(self.path)
                client.connect()
                self.addCleanup(client.close)

    def test_its_file_goes_with_the_daemon(self):
        with Daemon("--admin-socket", str(self.path)):
            self.assertTrue(self.path.exists())
        self.assertFalse(self.path.exists())
        with Daemon("--admin-socket", str(self.path), expect_exit=-signal.SIGKILL) as daemon:
            os.kill(daemon.pid, signal.SIGKILL)
        wait_until(lambda: not self.path.exists(), what="the end of the file")

    def test_the_file_of_another_one_stays(self):
        with Daemon("--admin-socket", str(self.path)):
            self.path.unlink()
            self.path.write_text("another")
        self.assertEqual(self.path.read_text(), "another")

    def test_signals_to_the_group_end_the_daemon_alone(self):
        """The process that removes the file waits until the daemon has ended."""
        with Daemon("--admin-socket", str(self.path)) as daemon:
            children = pathlib.Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text().split()
            self.assertEqual(len(children), 1)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
                os.kill(int(children[0]), number)
            self.assertEqual(len(os.listdir(f"/proc/{children[0]}/fd")), 2)
            self.assertEqual(self.ask("GET", "/health")[0], 200)
        self.assertFalse(self.path.exists())

    def test_what_a_former_daemon_left_is_replaced(self):
        with socket.socket(socket.AF_UNIX) as former:
            former.bind(str(self.path))
        self.assertTrue(self.path.exists())
        with Daemon("--admin-socket", str(self.path)) as daemon:
            self.assertEqual(self.ask("GET", "/health")[0], 200)
            second = run("serve", "--model", MODEL, "--port", "0", "--admin-socket", str(self.path))
            self.assertEqual(second.returncode, 1)
            self.assertIn("another process listens there", second.stderr)
            self.assertEqual(self.ask("GET", "/health")[0], 200)

    def test_paths_that_cannot_be(self):
        (self.root / "file").write_text("precious")
        for path, code, message in (
            (self.root / "file", 1, "expected a socket or nothing, found a regular file"),
            (self.root / "missing" / "admin", 1, "cannot make a socket in"),
            ("x" * 108, 2, "expected a string of 0 to 107 bytes"),
        ):
            result = run("serve", "--model", MODEL, "--port", "0", "--admin-socket", str(path))
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(message, result.stderr)
        self.assertEqual((self.root / "file").read_text(), "precious")


if __name__ == "__main__":
    unittest.main()
