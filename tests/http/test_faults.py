"""What a machine can do to a daemon: no descriptors, no room on the disk, no threads, too little
memory allowed, system calls that are interrupted or do a part of what was asked, a time of day that
jumps, death in the middle of an import."""

import fcntl
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from model_fixtures import make_model
from serve import BINARY, MODEL, SLOWNESS, Daemon, clean_environment, run, wait_until
from test_reload import reload

CALLS_LIBRARY = os.environ.get("FAILING_CALLS_LIBRARY", "")
THREAD_LIBRARY = os.environ.get("FAILING_THREAD_LIBRARY", "")
LANGUAGES = {"source": "en", "target": "de"}
IMPORTS = int(os.environ.get("ATTENTIOND_TEST_IMPORTS", "25"))


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Faults(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def test_no_descriptors_left(self):
        with Daemon() as daemon:
            expected = daemon.translate("Hello.").body
            n_open = len(os.listdir(f"/proc/{daemon.pid}/fd"))
            limits = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (n_open + 3, limits[1]))
            others = [daemon.socket() for _ in range(10)]
            before = processor_seconds(daemon.pid)
            time.sleep(1)
            self.assertLess(processor_seconds(daemon.pid) - before, 0.5, "it spins")
            self.assertEqual(daemon.translate("Hello.").body, expected)  # those make room
            reload(daemon)  # which needs descriptors, and may fail
            self.assertEqual(daemon.translate("Hello.").body, expected)
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, limits)
            for other in others:
                other.close()
            wait_until(lambda: can_translate(daemon, expected), what="the daemon recovers")

    def test_no_room_for_the_cache(self):
        disk = self.root / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("needs the right to mount")
        try:
            with Daemon("--cache-dir", str(disk), "--precision", "int8") as daemon:
                self.assertIn("packed in memory", daemon.log)
                self.assertIn("No space left", daemon.log)
                self.assertEqual(daemon.translate("Hello.").status, 200)
                reload(daemon)
                self.assertEqual(daemon.translate("Hello.").status, 200)
                self.assertEqual(list(disk.iterdir()), [])
            ended = run("import", MODEL, str(disk))
            self.assertEqual(ended.returncode, 1, ended)
            self.assertIn("No space left", ended.stderr)
            self.assertEqual(list(disk.glob("*safetensors*")), [])  # no half, no temporary file
        finally:
            subprocess.run(["umount", str(disk)], check=True)

    def test_a_full_disk_leaves_the_model_that_is_there(self):
        """A file over the limit is what a full disk is: a write that fails in the middle."""
        source, target = self.root / "source", self.root / "target"
        shutil.copytree(MODEL, source)
        self.assertEqual(run("import", str(source), str(target)).returncode, 0)
        expected = {file.name: file.read_bytes() for file in target.iterdir()}
        n_weights = len(expected["attentiond.int8.safetensors"])
        (source / "README.md").write_bytes(b"x" * (n_weights + 2))
        for limit, name in (1 << 20, "attentiond.int8.safetensors"), (n_weights + 1, "README.md"):
            largest = (limit, resource.RLIM_INFINITY)
            ended = subprocess.run([BINARY, "import", str(source), str(target)], capture_output=True, text=True,
                                   check=False, env=clean_environment(None),
                                   preexec_fn=lambda: (resource.setrlimit(resource.RLIMIT_FSIZE, largest),
                                                       signal.signal(signal.SIGXFSZ, signal.SIG_IGN)))
            self.assertEqual(ended.returncode, 1)
            self.assertIn(f"{name}: cannot write: File too large", ended.stderr)
            found = {file.name: file.read_bytes() for file in target.iterdir()}
            self.assertTrue(found == expected, f"without room for {name} the model is another one")

    def test_death_in_the_middle_of_an_import(self):
        whole = self.root / "whole"
        start = time.monotonic()
        self.assertEqual(run("import", MODEL, str(whole)).returncode, 0)
        seconds = time.monotonic() - start
        expected = {file.name: file.read_bytes() for file in whole.iterdir()}
        target, chance, n_killed = self.root / "target", random.Random(1), 0
        for _ in range(IMPORTS):
            process = subprocess.Popen([BINARY, "import", MODEL, str(target)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 1.2 * seconds))
            process.kill()
            n_killed += process.wait() != 0
            for name, content in expected.items():
                if (target / name).exists():
                    self.assertEqual((target / name).read_bytes(), content, name)
            shutil.rmtree(target, ignore_errors=True) if chance.random() < 0.5 else None
        self.assertGreater(n_killed, 0)
        (target / ".importing").mkdir(parents=True, exist_ok=True)
        (target / ".importing/attentiond.int8.safetensors.aBcD12.attentiond-tmp").write_bytes(b"of one more")
        self.assertEqual(run("import", MODEL, str(target)).returncode, 0)
        self.assertEqual({file.name: file.read_bytes() for file in target.iterdir()}, expected)

    def test_death_while_packing(self):
        """What the killed daemon has left goes at the next start, of another model, too; what a living
        one writes stays."""
        cache = self.root / "cache"
        cache.mkdir()
        left, alive, other = (cache / f"%2Fmodels%2Fen-de.int8.safetensors{end}"
                              for end in (".aBcD12.attentiond-tmp", ".gHiJ34.attentiond-tmp", ".backup"))
        for file in left, alive, other:
            file.write_bytes(b"half of it")
        with alive.open("r+b") as writer:
            fcntl.flock(writer, fcntl.LOCK_EX)
            with Daemon("--cache-dir", str(cache)) as daemon:
                self.assertEqual([file.exists() for file in (left, alive, other)], [False, True, True])
                self.assertIn("removed 1 temporary file of a daemon that was killed", daemon.log)

    @unittest.skipIf(SLOWNESS > 1 or not THREAD_LIBRARY, "sanitizers have a pthread_create of their own")
    def test_no_threads(self):
        """Whichever cannot be made: a line that says so, and exit code 1."""
        n_failed = 0
        for n in range(1, 40):
            environment = {"LD_PRELOAD": THREAD_LIBRARY, "FAILING_THREAD": str(n)}
            daemon = Daemon("--workers", "2", "--threads-per-worker", "2", environment=environment,
                            expect_exit=None)
            try:
                daemon.start()
            except AssertionError:
                self.assertEqual(daemon.process.returncode, 1, daemon.log)
                self.assertRegex(daemon.log.splitlines()[-1], "cannot|could not|thread")
                n_failed += 1
                continue
            self.assertEqual(daemon.translate("Hello.").status, 200)
            self.assertEqual(daemon.stop(), 0)
            break
        self.assertGreaterEqual(n_failed, 3)

    def test_a_model_of_sentences_too_long_for_the_limit_stays_out_by_itself(self):
        """What one model's files say of sizes keeps no daemon from starting, and no reload."""
        with tempfile.TemporaryDirectory() as root:
            root = pathlib.Path(root)
            make_model(root / "en-de")
            flags = ("--models-directory", str(root), "--memory-limit", "4000000000", "--models-watch-ms", "20")

            def make_long(name):
                config = make_model(root / f".{name}", "de", "fr") / "config.json"
                config.write_text(json.dumps(json.loads(config.read_text()) | {"max_position_embeddings": 65536}))
                (root / f".{name}").rename(root / name)

            with Daemon(*flags, model=None) as daemon:
                make_long("de-fr")
                wait_until(lambda: daemon.get("/models/de-fr").status == 200, what="the reload")
                self.assertEqual(daemon.get("/models/de-fr").json["state"], "failed")
                self.assertIn("de-fr cannot be served: for sentences of 65536 tokens and 4 beams: memory_limit is 3814 MiB, but", daemon.log)
                self.assertEqual(daemon.translate("Hello.").status, 200)
            with Daemon(*flags, model=None) as daemon:
                self.assertEqual(daemon.translate("Hello.").status, 200)
            shutil.rmtree(root / "en-de")
            ended = run("serve", *flags, "--port", "0")
            self.assertEqual(ended.returncode, 2)
            self.assertIn("memory_limit is 3814 MiB, but these settings may come to need", ended.stderr)

    def test_a_memory_limit_is_kept(self):
        ended = run("serve", "--model", MODEL, "--port", "0", "--memory-limit", "100000000")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("memory_limit is 95 MiB, but these settings may come to need", ended.stderr)
        settings = self.root / "settings.json"
        settings.write_text("{}")
        with Daemon("--config", str(settings)) as daemon:
            settings.write_text('{"memory_limit": 100000000}')
            reload(daemon)
            wait_until(lambda: "memory_limit is 95 MiB" in daemon.log, what="the log says why")
            self.assertEqual(daemon.translate("Hello.").status, 200)

    @unittest.skipIf(SLOWNESS > 1 or not CALLS_LIBRARY, "sanitizers must be loaded first")
    def test_calls_that_are_interrupted_or_do_a_part(self):
        """At the start, in service, at a reload and at the end: the same bytes as ever."""
        requests = [("POST", "/translate", {"q": ["Hello.", "Where is the station?"], **LANGUAGES}),
                    ("POST", "/attention", {"q": "The house is small.", **LANGUAGES}),
                    ("POST", "/attention", {"q": "The house is small.", "format": "png", **LANGUAGES}),
                    ("POST", "/translate", {"q": "The house is small. " * 200, "beam_size": 1, **LANGUAGES}),
                    ("GET", "/", None)]
        with Daemon() as daemon:
            expected = [daemon.request(*request).body for request in requests]
        keys = self.root / "keys"
        keys.write_text("alice-alice-alice name=alice requests_per_minute=1000000\n" * 1 +
                        "".join(f"key-{i}-of-many-keys-0123456789 name=n{i}\n" for i in range(200)))
        environment = {"LD_PRELOAD": CALLS_LIBRARY, "FAILING_CALLS": "1"}
        for mode in "mmap", "copy":
            with Daemon("--load-mode", mode, "--api-keys-file", str(keys), "--cache-dir", str(self.root / mode),
                        environment=environment) as daemon:
                for turn in range(6):
                    client = daemon.connect()
                    for request, body in zip(requests, expected):
                        reply = daemon.request(*request, client=client)
                        self.assertEqual((reply.status, reply.body == body), (200, True), (mode, request[2], reply))
                    client.close()
                    if turn == 2:
                        reload(daemon)

    @unittest.skipIf(SLOWNESS > 1 or not CALLS_LIBRARY, "sanitizers must be loaded first")
    def test_nobody_waits_for_a_slow_disk(self):
        """To which packed weights are written: neither requests, nor a model that others make room for, nor the end."""
        for name, seed in ("one", 1), ("other", 2):
            make_model(self.root / "models" / name, seed=seed)
        with Daemon("--models-directory", str(self.root / "models"), "--models-memory", "50000000",
                    "--cache-dir", str(self.root / "cache"), "--precision", "int8", model=None,
                    environment={"LD_PRELOAD": CALLS_LIBRARY, "SLOW_DISK": "60"}) as daemon:
            start = time.monotonic()
            for name in "one", "other", "one":  # there is room for one of them
                self.assertEqual(daemon.translate("Hello.", model=name).status, 200)
            self.assertEqual(daemon.get("/models/one").json["use"]["loads"], 2)
            self.assertEqual(daemon.stop(), 0)
            self.assertLess(time.monotonic() - start, 30)

    @unittest.skipIf(SLOWNESS > 1 or not CALLS_LIBRARY, "sanitizers must be loaded first")
    def test_verbs_whose_calls_are_interrupted_or_do_a_part(self):
        text = "Hello.\nWhere is the station?\n" * 50
        environment = {"LD_PRELOAD": CALLS_LIBRARY, "FAILING_CALLS": "1"}

        def outputs(extra):
            done = subprocess.run([BINARY, "translate", "--model", MODEL, "--beam-size", "1"], input=text,
                                  capture_output=True, text=True, timeout=120, check=True,
                                  env=clean_environment(extra))
            return done.stdout

        self.assertEqual(outputs(environment), outputs({}))
        for name, extra in ("whole", {}), ("parts", environment):
            ended = run("import", MODEL, str(self.root / name), environment=extra, timeout=120)
            self.assertEqual(ended.returncode, 0, ended)
        for file in (self.root / "whole").iterdir():
            self.assertEqual((self.root / "parts" / file.name).read_bytes(), file.read_bytes(), file.name)

    @unittest.skipIf(SLOWNESS > 1 or not CALLS_LIBRARY, "sanitizers must be loaded first")
    def test_the_time_of_day_jumps(self):
        """By ten years with every look at it: no deadline passes and no limit forgets."""
        environment = {"LD_PRELOAD": CALLS_LIBRARY, "STEPPING_CLOCK": "1"}
        with Daemon("--requests-per-day", "40", "--idle-timeout-ms", "2000", "--log-level", "debug",
                    environment=environment) as daemon:
            years = {line[:4] for line in daemon.log_lines}
            self.assertGreater(len(years), 1, "the time of day does not jump")
            idle = daemon.socket()
            idle.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertIn(b"200 OK", idle.recv(65536))
            start = time.monotonic()
            client = daemon.connect()
            for _ in range(39):
                reply = daemon.translate("Where is the station?", client=client,
                                         headers={"X-Request-Timeout": "20"})
                self.assertEqual(reply.status, 200, reply)
            daemon.process.send_signal(signal.SIGSTOP)
            daemon.process.send_signal(signal.SIGCONT)
            reload(daemon)
            self.assertEqual(daemon.translate("Hello.").status, 200)
            self.assertEqual(daemon.translate("Hello.").status, 429)
            while idle.recv(65536):
                pass
            self.assertTrue(1.9 <= time.monotonic() - start < 30, time.monotonic() - start)
            idle.close()
            client.close()

    def test_stops_in_the_middle_of_calls(self):
        """SIGSTOP and SIGCONT interrupt system calls of every thread."""
        with Daemon() as daemon:
            expected = daemon.translate(["Hello.", "Where is the station?"]).body
            is_over, seen = threading.Event(), []

            def client():
                connection = daemon.connect()
                while not is_over.is_set():
                    seen.append(daemon.translate(["Hello.", "Where is the station?"],
                                                 client=connection).body)
                connection.close()

            threads = [threading.Thread(target=client) for _ in range(3)]
            for thread in threads:
                thread.start()
            for _ in range(100):
                daemon.process.send_signal(signal.SIGSTOP)
                time.sleep(0.003)
                daemon.process.send_signal(signal.SIGCONT)
                time.sleep(0.01)
            is_over.set()
            for thread in threads:
                thread.join()
            self.assertGreater(len(seen), 0)
            self.assertEqual(set(seen), {expected})


def can_translate(daemon, expected):
    try:
        return daemon.translate("Hello.").body == expected
    except (socket.timeout, ConnectionError):
        return False


if __name__ == "__main__":
    unittest.main(verbosity=2)
