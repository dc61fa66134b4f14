"""A model appears whole or not at all, whatever ends a pull, and when: see test_faults.py."""

import contextlib
import ctypes
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

from pulling import BLOCK, FETCH, Case, Pull, noise
from registry import git_blob_id, sha256, zstd_stored

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000


class Whole(Case):
    def test_a_model_appears_with_its_record(self):
        content = {"config.json": b"{}", "empty": b"", "w.bin": noise(300_000)}
        files = self.serve(content)
        files[0]["git"] = git_blob_id(content["config.json"])
        files[1]["git"] = git_blob_id(b"")
        files[2]["sha256"] = sha256(content["w.bin"])
        self.fetched(files)
        self.assertEqual({path.name: path.read_bytes() for path in (self.root / "m").iterdir()
                          if path.name != "attentiond-pull.json"}, content)
        record = json.loads((self.root / "m" / "attentiond-pull.json").read_text())
        self.assertRegex(record.pop("pulled"), r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(record, {"from": "test:m@1", "licence": "apache-2.0", "files": [
            {"name": name, "size": len(data), "sha256": sha256(data)} for name, data in content.items()]})
        self.assertEqual(list((self.root / ".pulling").iterdir()), [])
        self.assertEqual(self.names_of_events(), ["finished"] * 3)
        self.assertEqual(self.events[-1]["done"], 300_002)

    def test_what_decides_is_fetched_first_and_the_rest_behind_it(self):
        files = self.serve({"config.json": b"{}", "w.bin": b"w" * 1000})
        self.fetched(files[:1], rest=[files[1] | {"after": "config.json"}, files[0]], new_licence="mit")
        record = json.loads((self.root / "m" / "attentiond-pull.json").read_text())
        self.assertEqual(record["licence"], "mit")
        self.assertEqual([file["name"] for file in record["files"]], ["config.json", "w.bin"])
        self.assertEqual(self.registry.sent("config.json"), [(0, 2)])

    def test_a_model_that_is_one_file(self):
        for content, origin in [(b"first" * 100, "test:1"), (b"second" * 100, "test:2")]:
            file = self.serve_one(content) | {"name": "p.argosmodel"}
            self.fetched([file], single=True, **{"from": origin})
            self.assertEqual((self.root / "p.argosmodel").read_bytes(), content)
            record = json.loads((self.root / "p.argosmodel.pull.json").read_text())
            self.assertEqual((record["from"], record["files"][0]["name"]), (origin, "p.argosmodel"))
            self.assertEqual(list((self.root / ".pulling").iterdir()), [])

    def test_packed_files_are_unpacked(self):
        content = noise(700_000) + bytes(700_000)
        packed = {"gzip": gzip.compress(content[:500_000]) + gzip.compress(content[500_000:]), "zstd": zstd_stored(content)}
        for packing, data in packed.items():
            for told in [{}, {"unpacked_size": len(content)}, {"unpacked_size": len(content), "unpacked_sha256": sha256(content)}]:
                with self.subTest(packing=packing, told=list(told)):
                    self.registry.forget()
                    self.fetched([self.serve_one(data, packing=packing, **told)], **{"from": f"{packing}{len(told)}"})
                    self.has(content)
                    self.assertEqual({path.name for path in (self.root / "m").iterdir()}, {"f.bin", "attentiond-pull.json"})
        # Killed behind the unpacking: nothing is fetched again.
        self.registry.forget()
        self.staging.mkdir(parents=True)
        (self.staging / "f.bin").write_bytes(content)
        self.fetched([self.serve_one(packed["zstd"], packing="zstd", unpacked_sha256=sha256(content))], **{"from": "again"})
        self.assertEqual(self.registry.sent(), [])

    def test_packed_files_that_are_not_what_they_should_be(self):
        content = noise(300_000)
        for packing, data, told, status, pattern in [
            ("gzip", b"no gzip at all", {}, "format", "no gzip data"),
            ("zstd", b"no zstd at all", {}, "format", "no Zstandard data"),
            ("gzip", gzip.compress(content)[:-9], {}, "format", "in the middle of its gzip data"),
            ("zstd", zstd_stored(content)[:-9], {}, "format", "in the middle of its Zstandard data"),
            ("gzip", gzip.compress(content), {"unpacked_size": 299_999}, "limit", "more than the 299999 bytes"),
            ("zstd", zstd_stored(content), {"unpacked_size": 299_999}, "limit", "more than the 299999 bytes"),
            ("zstd", zstd_stored(content), {"unpacked_size": 300_001}, "format", "unpacks to 300000 bytes, where the registry says 300001"),
            ("gzip", gzip.compress(content), {"unpacked_sha256": "0" * 64}, "format", f"{sha256(content)}, where the registry says 000"),
        ]:
            with self.subTest(packing=packing, told=told, pattern=pattern):
                self.refused(status, "none", pattern, [self.serve_one(data, packing=packing, **told)])

    def test_a_newer_one_replaces_what_was_pulled_and_nothing_else(self):
        self.fetched([self.serve_one(b"old")], **{"from": "test:m@1"})
        (self.root / "m" / "cache").write_text("made by the daemon")
        (self.root / "m" / "attentiond.json").write_text("written by the user")
        self.fetched([self.serve_one(b"newer")], **{"from": "test:m@2"})
        self.has(b"newer")
        self.assertEqual({path.name for path in (self.root / "m").iterdir()}, {"f.bin", "attentiond.json", "attentiond-pull.json"})
        self.assertEqual((self.root / "m" / "attentiond.json").read_text(), "written by the user")
        self.assertEqual(list((self.root / ".pulling").iterdir()), [])
        (self.root / "m" / "attentiond-pull.json").unlink()
        result = self.fetch([self.serve_one(b"newest")])
        self.assertEqual(result["status"], "invalid")
        self.assertIn("was not pulled", result["message"])
        self.has(b"newer")
        (self.root / "p.argosmodel").write_text("mine")
        result = self.fetch([self.serve_one(b"theirs") | {"name": "p.argosmodel"}], single=True)
        self.assertIn("was not pulled", result["message"])
        self.assertEqual((self.root / "p.argosmodel").read_text(), "mine")

    def test_settings_that_were_pulled_are_replaced_as_all_else(self):
        first = self.serve({"attentiond.json": b"of the first", "f.bin": b"x"})
        self.fetched(first, **{"from": "test:m@1"})
        self.fetched(self.serve({"attentiond.json": b"of the second", "f.bin": b"x"}), **{"from": "test:m@2"})
        self.assertEqual((self.root / "m" / "attentiond.json").read_text(), "of the second")
        self.fetched(first[1:], **{"from": "test:m@3"})
        self.assertFalse((self.root / "m" / "attentiond.json").exists())

    def test_settings_that_the_operator_has_changed_stay(self):
        brought = self.serve({"attentiond.json": b'{"quality": 1}', "f.bin": b"x"}, "first")
        path = self.root / "m" / "attentiond.json"
        self.fetched(brought, **{"from": "test:m@1"})
        path.write_text('{"aliases": ["mine"]}')
        self.fetched(self.serve({"attentiond.json": b'{"quality": 2}', "f.bin": b"y"}), **{"from": "test:m@2"})
        self.has(b"y")
        self.assertEqual(path.read_text(), '{"aliases": ["mine"]}')
        names = [file["name"] for file in json.loads((self.root / "m" / "attentiond-pull.json").read_text())["files"]]
        self.assertEqual(names, ["f.bin"])  # the other one did not come
        self.fetched(self.serve({"f.bin": b"z"}), **{"from": "test:m@3"})
        self.assertEqual(path.read_text(), '{"aliases": ["mine"]}')
        path.unlink()
        self.fetched(brought, **{"from": "test:m@4"})
        self.assertEqual(path.read_text(), '{"quality": 1}')

    def test_a_store_that_cannot_be_made(self):
        (self.root / "file").write_text("")
        result = self.fetch([self.serve_one(b"x")], root=str(self.root / "file" / "store"))
        self.assertRegex(result["message"], "file/store: cannot make: Not a directory")
        (self.root / ".pulling").write_text("")
        self.assertRegex(self.fetch([self.serve_one(b"x")])["message"], "Not a directory")

    def test_bad_names_digests_and_addresses(self):
        good = self.serve_one(b"good")
        for entry, pattern in [
            ({"name": "../f"}, "cannot be the name of a file"), ({"name": ".f"}, "cannot be the name"), ({"name": ""}, "cannot be the name"),
            ({"name": "f.part"}, "we use it ourselves"), ({"name": "attentiond-pull.json"}, "we use it ourselves"),
            ({"name": "a\nb"}, "cannot be the name"), ({"sha256": "abc"}, "has not 64 lowercase hexadecimal digits"),
            ({"sha256": "A" * 64}, "has not 64"), ({"sha256": None, "git": "0" * 40, "size": -1}, "needs its size"),
            ({"url": "file:///etc/passwd"}, "neither with https:// nor with http://"), ({"url": "https://[bad"}, "not a URL"),
            ({"url": "https://h/" + "x" * 5000}, "a URL of 5010 bytes, at most 4095"),
            ({"size": 1 << 41}, "more than the 1099511627776"),
        ]:
            with self.subTest(entry=str(entry)[:60]):
                result = self.fetch([good | entry])
                self.assertIn(result["status"], ("invalid", "limit"), result)
                self.assertRegex(result["message"], pattern)
        self.assertIn("cannot be the name of a model", self.fetch([good], name="a/b")["message"])
        self.assertIn("at most 256", self.fetch([good] * 257)["message"])
        self.assertIn("without the origin", self.fetch([good], token="t")["message"])
        self.assertIn("line break", self.fetch([good], token="t\r\nX: y", token_origin="https://h")["message"])
        self.assertIn("not a URL", self.fetch([good], token="t", token_origin="no")["message"])
        self.assertEqual(self.registry.sent(), [])

    def test_several_at_once_and_no_more(self):
        files = self.serve({f"f{i}": noise(100_000, i) for i in range(10)})
        running, most, lock = set(), [0], threading.Lock()
        self.registry.fault("f[0-9]", rate=400_000)
        pull = Pull(self.plan(files), self.environment())
        while pull.process.poll() is None:
            spans = {path: spans[-1] for path, spans in list(self.registry.ranges.items()) if spans}
            most[0] = max(most[0], sum(span[1] - span[0] < 100_000 for span in spans.values()))
            time.sleep(0.01)
        self.assertEqual(pull.end()[-1]["status"], "ok")
        self.assertIn(most[0], (3, 4))


class Ends(Case):
    """What ends a pull, and that the next one goes on."""

    def test_killed_at_random_moments(self):
        content = {"config.json": b'{"a": 1}' * 20, "vocab.json": noise(700_000, 1), "w.safetensors": noise(6_000_000, 2),
                   "source.spm": noise(400_000, 3)}
        files = self.serve(content)
        for file in files:
            data = content[file["name"]]
            file |= {"git": git_blob_id(data)} if len(data) < 1000 else {"sha256": sha256(data)}
            files[[f["name"] for f in files].index(file["name"])] = file
        self.registry.fault("/files/", rate=1_500_000)
        for _ in range(10):
            begun = dict.fromkeys(content, 0) | {path.name.removesuffix(".part"): path.stat().st_size for path in self.staging.glob("*")
                                                 if not path.name.endswith(".json") or path.name in content}
            n_asked = {name: len(self.registry.sent(name)) for name in content}
            pull = Pull(self.plan(files), self.environment())
            time.sleep(random.uniform(0.02, 0.4))
            pull.process.kill()
            pull.process.wait()
            pull.end()
            for name in content:
                # It went on exactly where the part ended.
                for begin, _ in self.registry.sent(name)[n_asked[name]:]:
                    self.assertEqual(begin, begun[name], name)
            self.assertFalse((self.root / "m").exists() and not (self.root / "m" / "attentiond-pull.json").exists())
            if (self.root / "m").exists():
                break
        self.registry.mend()
        if not (self.root / "m").exists():
            self.fetched(files)
        for name, data in content.items():
            self.has(data, name)
            repeated = self.registry.n_sent(name) - len(data)
            self.assertTrue(0 <= repeated < 10 * BLOCK, f"{name}: {repeated} bytes were sent more than once")
        self.assertEqual(list((self.root / ".pulling").glob("m*")), [])

    def test_ctrl_c_stops_at_once_and_keeps_what_came(self):
        content = noise(2_000_000)
        file = self.serve_one(content)
        self.registry.fault("f.bin", rate=500_000)
        pull = Pull(self.plan([file]), self.environment())
        while not (self.staging / "f.bin.part").exists() or (self.staging / "f.bin.part").stat().st_size < 100_000:
            time.sleep(0.01)
        began = time.monotonic()
        pull.process.send_signal(signal.SIGINT)
        result = pull.end()[-1]
        self.assertLess(time.monotonic() - began, 2)
        self.assertEqual((result["status"], result["trouble"]), ("cancelled", "cancelled"))
        self.assertFalse((self.root / "m").exists())
        self.registry.mend()
        begun = (self.staging / "f.bin.part").stat().st_size
        self.registry.forget()
        self.fetched([file])
        self.assertEqual(self.registry.sent("f.bin"), [(begun, 2_000_000)])

    def test_two_at_once(self):
        content = noise(500_000)
        file = self.serve_one(content)
        self.registry.fault("f.bin", rate=1_000_000)
        first = Pull(self.plan([file]), self.environment())
        while not (self.root / ".pulling" / "m.lock").exists():
            time.sleep(0.01)
        time.sleep(0.1)
        result = self.fetch([file], never_wait=True)
        self.assertEqual(result["status"], "busy")
        self.assertIn("another process is pulling m into", result["message"])
        # Another name is not disturbed.
        other = self.serve({"g.bin": b"other"}, "other")
        self.fetched(other, name="n")
        # The one that waits finds it done by the first, and gets the same.
        second = Pull(self.plan([file]), self.environment())
        waiting = Pull(self.plan([file]), self.environment())
        time.sleep(0.15)
        waiting.process.send_signal(signal.SIGINT)
        self.assertEqual(waiting.end()[-1]["status"], "cancelled")
        self.assertEqual(first.end()[-1]["status"], "ok")
        events = second.end()
        self.assertEqual((events[0]["event"], events[-1]["status"]), ("wait", "ok"))
        self.assertIn("waiting for its end", events[0]["why"])
        self.has(content)
        self.assertEqual(list((self.root / ".pulling").iterdir()), [])

    def test_killed_between_the_exchange_and_the_end(self):
        self.fetched([self.serve_one(b"new" * 1000)], **{"from": "test:m@2"})
        # As an exchange leaves it: the old one lies where the new one was.
        self.staging.mkdir(parents=True)
        (self.staging / "f.bin").write_bytes(b"old")
        (self.staging / "attentiond-pull.json").write_text('{"from": "test:m@1"}')
        self.fetched([self.serve_one(b"new" * 1000)], **{"from": "test:m@2"}, commit=False, discard=True)
        self.has(b"new" * 1000)
        self.assertEqual(list((self.root / ".pulling").iterdir()), [])
        # As two renames leave it, between them: there is no model, but there are both.
        (self.root / "m").rename(self.root / ".pulling" / "m.old")
        self.fetched([self.serve_one(b"newer" * 1000)], **{"from": "test:m@3"})
        self.has(b"newer" * 1000)
        # And behind the second.
        (self.root / ".pulling" / "m.old").mkdir()
        self.fetched([self.serve_one(b"newest" * 1000)], **{"from": "test:m@4"})
        self.has(b"newest" * 1000)
        self.assertEqual(list((self.root / ".pulling").iterdir()), [])

    def test_killed_anywhere_in_a_commit(self):
        """Before each system call that changes a folder, and repeated."""
        if not self.can_trace():
            self.skipTest("strace is missing, or may not trace here")
        for exchange in [True, False]:
            with self.subTest(exchange=exchange):
                self.assertGreater(self.kill_commits(exchange), 8)

    def kill_commits(self, exchange):
        """How often a pull of f1 to f3 was killed, and then repeated. exchange: whether the file system can."""
        calls = "rename,renameat2,unlink,unlinkat,rmdir,fsync"
        refuse = [] if exchange else ["-e", "inject=renameat2:error=EINVAL"]
        content = {f"f{i}": noise(1000 * i, i) for i in range(1, 4)}
        files = self.serve(content)
        for file in files:
            file["sha256"] = sha256(content[file["name"]])
        self.fetched(self.serve({"f1": b"old", "f9": b"older"}, "old"), **{"from": "test:m@0"})
        for number in range(1, 100):
            traced = calls if exchange else calls.replace("renameat2,", "")
            plan = self.plan(files, **{"from": f"test:m@{exchange}{number}"})
            killed = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", *refuse,
                                     "-e", f"inject={traced}:signal=SIGKILL:when={number}", FETCH],
                                    input=json.dumps(plan).encode(), capture_output=True, timeout=60,
                                    # A leak checker traces, too, which only one may.
                                    env=self.environment(ASAN_OPTIONS="detect_leaks=0"))
            if exchange or (self.root / "m").exists():
                self.is_whole(number)
            self.fetched(files, **{"from": plan["from"]})
            self.is_whole(number)
            self.assertEqual(list((self.root / ".pulling").iterdir()), [], number)
            if killed.returncode == 0:
                return number - 1
        return 0

    def is_whole(self, message):
        """The model is what its record says."""
        names = {path.name: path.read_bytes() for path in (self.root / "m").iterdir()}
        record = json.loads(names.pop("attentiond-pull.json"))
        self.assertEqual({file["name"]: file["sha256"] for file in record["files"]},
                         {name: sha256(data) for name, data in names.items()}, message)

    @staticmethod
    def can_trace():
        with contextlib.suppress(OSError):
            return subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
        return False


class FullDisk(Case):
    """On a disk of a few megabytes, in a mount namespace of its own."""

    def on_small_disk(self, megabytes):
        def enter():
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.unshare(CLONE_NEWNS) or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) or libc.mount(
                    b"tmpfs", bytes(self.root), b"tmpfs", 0, b"size=%dm" % megabytes):
                os._exit(77)
        if subprocess.run(["true"], preexec_fn=lambda: None).returncode or self.exit_code_of(enter) == 77:
            self.skipTest("no mount namespace may be made here")
        return enter

    @staticmethod
    def exit_code_of(enter):
        pid = os.fork()
        if pid == 0:
            enter()
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def fetch_there(self, enter, script):
        """Plans one after the other on the same small disk; their results, and the names that are left."""
        code = ("import json, os, subprocess, sys\n"
                "for plan in json.load(sys.stdin):\n"
                "    for path in plan.pop('remove', []): os.unlink(path)\n"
                "    if fill := plan.pop('fill', 0): open(plan['root'] + '/filler', 'wb').write(bytes(fill))\n"
                "    done = subprocess.run([sys.argv[1]], input=json.dumps(plan), capture_output=True, text=True)\n"
                "    print(done.stdout.splitlines()[-1], flush=True)\n"
                "print(json.dumps(sorted(os.path.relpath(os.path.join(at, name), plan['root'])\n"
                "                        for at, _, names in os.walk(plan['root']) for name in names)))\n")
        done = subprocess.run([sys.executable, "-c", code, FETCH], input=json.dumps(script), capture_output=True, text=True,
                              env=self.environment(), preexec_fn=enter, timeout=60)
        self.assertEqual(done.stderr, "")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_what_does_not_fit_is_not_begun(self):
        enter = self.on_small_disk(4)
        file = self.serve_one(noise(6_000_000))
        result, names = self.fetch_there(enter, [self.plan([file])])
        self.assertEqual((result["status"], result["trouble"]), ("io", "disk_full"))
        self.assertRegex(result["message"], r"7\.0 MB are needed for m, and the disk has 4\.\d MB left")
        self.assertEqual(self.registry.asked("f.bin"), [])
        self.assertEqual(names, [])

    def test_a_disk_that_gets_full_keeps_the_part(self):
        enter = self.on_small_disk(4)
        content = noise(3_500_000)
        # Of unknown size: nobody could know.
        file = self.serve_one(content, size=-1)
        filler = str(self.root / "filler")
        full, again, names = self.fetch_there(enter, [
            self.plan([file], fill=1_500_000), self.plan([file], remove=[filler])])
        self.assertEqual((full["status"], full["trouble"]), ("io", "disk_full"))
        self.assertRegex(full["message"], "cannot write: No space left on device")
        self.assertEqual(again["status"], "ok")
        self.assertEqual(names, ["m/attentiond-pull.json", "m/f.bin"])
        first, second = self.registry.sent("f.bin")
        self.assertGreater(second[0], 2_000_000)
        self.assertEqual(second[1], 3_500_000)

    def test_a_disk_that_is_full_before_the_first_byte(self):
        enter = self.on_small_disk(1)
        file = self.serve_one(noise(100_000), size=-1)
        result, names = self.fetch_there(enter, [self.plan([file], fill=1_000_000)])
        self.assertEqual(result["status"], "io")
        self.assertRegex(result["message"], "No space left on device")
        self.assertNotIn("m/f.bin", names)
