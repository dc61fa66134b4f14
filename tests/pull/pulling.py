"""What the tests of pulls share: the registry, and a way to run plans (tests/pull/fetch.c) against it."""

import atexit
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

from registry import Registry, sha256

FETCH = sys.argv.pop(1)
BLOCK = 1 << 20  # what may be sent and lost in a connection's buffers


def noise(size, seed=0):
    return random.Random(seed).randbytes(size)


class Pull:
    """A running fetch."""

    def __init__(self, plan, environment, **options):
        self.process = subprocess.Popen([FETCH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment, **options)
        self.process.stdin.write(json.dumps(plan).encode())
        self.process.stdin.close()

    def end(self, timeout=60):
        """Its lines: events, and the result as the last."""
        lines = self.process.stdout.read()
        complaint = self.process.stderr.read().decode()
        self.code = self.process.wait(timeout)
        self.process.stdout.close()
        self.process.stderr.close()
        if complaint:
            raise AssertionError(complaint)
        return [json.loads(line) for line in lines.splitlines()]


class Case(unittest.TestCase):
    registry = None  # one for all classes: certificates take their time

    @classmethod
    def setUpClass(cls):
        if not Case.registry:
            Case.registry = Registry()
            Case.registry.__enter__()
            atexit.register(Case.registry.__exit__)

    def setUp(self):
        self.registry.mend()
        self.registry.forget()
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.staging = self.root / ".pulling" / "m"

    def environment(self, **more):
        clean = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy") and not key.startswith("SSL_")}
        return clean | self.registry.environment() | more

    def serve(self, files, name="d"):
        """Puts {name: bytes} on the server, and returns their entries of a plan, without digests."""
        self.url = self.registry.add_directory(name, files)
        return [{"name": file, "url": self.url + file, "size": len(content)} for file, content in files.items()]

    def serve_one(self, content, **entry):
        [file] = self.serve({"f.bin": content})
        return file | {"sha256": sha256(content)} | entry

    def plan(self, files, **more):
        return {"root": str(self.root), "name": "m", "from": "test:m@1", "licence": "apache-2.0", "pause_ms": 1, "stall_s": 1,
                "files": files, "commit": True} | more

    def fetch(self, files, environment=None, **more):
        pull = Pull(self.plan(files, **more), environment or self.environment())
        *self.events, result = pull.end()
        self.assertEqual(pull.code, 0 if result["status"] == "ok" else 1, result)
        return result

    def fetched(self, files, **more):
        result = self.fetch(files, **more)
        self.assertEqual(result["status"], "ok", result)
        return result

    def refused(self, status, trouble, pattern, files, **more):
        result = self.fetch(files, **more)
        self.assertEqual((result["status"], result["trouble"]), (status, trouble), result)
        self.assertRegex(result["message"], pattern)
        self.assertFalse((self.root / "m").exists())
        return result

    def has(self, content, name="f.bin"):
        self.assertEqual(sha256((self.root / "m" / name).read_bytes()), sha256(content))

    def names_of_events(self):
        return [event["event"] for event in self.events]
