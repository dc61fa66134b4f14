"""What the daemon gives up once it has started, and that it does not miss it. The other tests of
this folder run under the sandbox too, since it is on by default."""

import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import tempfile
import unittest

from serve import FLAGS, MODEL, SLOWNESS, Daemon, run, wait_until
from test_reload import reload

HAS_SECCOMP = pathlib.Path("/proc/sys/kernel/seccomp/actions_avail").exists()
FORMATS = ["json", "bertviz", "inseq", "pharaoh", "soft", "safetensors", "npy", "svg", "png"]


SYS_LANDLOCK_CREATE_RULESET, VERSION = 444, 1
HAS_LANDLOCK = ctypes.CDLL(None).syscall(SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), VERSION) >= 1


def threads(daemon):
    """{name: status fields} of every thread."""
    found = {}
    for task in pathlib.Path(f"/proc/{daemon.pid}/task").iterdir():
        fields = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines())
        found[f"{fields['Name']} {task.name}"] = fields
    return found


@unittest.skipIf("--sandbox=off" in FLAGS, "a build for coverage")
class Sandbox(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def test_every_thread_is_in_it(self):
        with Daemon() as daemon:
            daemon.translate("Hello.")
            for name, fields in threads(daemon).items():
                if HAS_SECCOMP and SLOWNESS == 1:  # sanitizers do without
                    self.assertEqual(fields["Seccomp"], "2", name)
                    self.assertEqual(fields["NoNewPrivs"], "1", name)

    def test_threads_have_names(self):
        """For top -H and gdb. The sandbox forbids to write them to /proc, as glibc does for other threads."""
        with Daemon("--admin-socket", str(self.root / "admin"), "--workers", "2", "--threads-per-worker", "2",
                    "--cache-dir", str(self.root / "cache")) as daemon:
            daemon.translate("Hello.")
            with socket.socket(socket.AF_UNIX) as admin:
                admin.connect(str(self.root / "admin"))
                wait_until(lambda: any(name.startswith("admin ") for name in threads(daemon)), what="its name")
            found = {name.split()[0] for name in threads(daemon)}
            expected = {"attentiond", "http", "admin", "generations", "model-loader", "model-keeper",
                        "text", "worker-0", "worker-1", "team"}
            self.assertEqual(expected - found, set())
            self.assertLessEqual(len(found - expected), SLOWNESS > 1, found)  # a sanitizer's own
            # A library that starts threads when it is loaded, as one build of OpenBLAS does, would be another.
            main = [name for name in threads(daemon) if name.startswith("attentiond ")]
            self.assertLessEqual(len(main), 1 + (SLOWNESS > 1), main)

    def test_privileges_of_root_are_gone(self):
        with Daemon() as daemon:
            daemon.translate("Hello.")
            privileged = [name for name, fields in threads(daemon).items() if int(fields["CapEff"], 16) | int(fields["CapPrm"], 16)]
            # ThreadSanitizer has a thread of its own, which comes with the first other one.
            self.assertLessEqual(len(privileged), SLOWNESS > 1, privileged)

    @unittest.skipIf(os.geteuid() != 0 or not HAS_LANDLOCK, "for root, on a kernel with Landlock")
    def test_root_reads_only_what_settings_name(self):
        """What they name may be replaced; what they name later, or a link leads to later, is only read where it is beside that."""
        elsewhere = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, elsewhere)
        shutil.copytree(MODEL, elsewhere / "model")
        config = self.root / "etc" / "attentiond.json"
        config.parent.mkdir()
        versions = self.root / "versions"
        for version in "123":
            shutil.copytree(MODEL, versions / version)

        def write(**settings):  # as editors do
            config.with_suffix(".new").write_text(json.dumps(settings))
            config.with_suffix(".new").rename(config)

        def use(directory):
            (self.root / "new").symlink_to(directory)
            (self.root / "new").rename(self.root / "model")

        write(beam_size=1)
        use(versions / "1")
        with Daemon("--config", str(config), model=str(self.root / "model")) as daemon:
            found = [line for line in daemon.log_lines if "running as root" in line]
            self.assertEqual(len(found), 1, daemon.log)
            self.assertRegex(found[0], rf"{self.root}[ ,\n]")
            self.assertNotRegex(found[0], r" (/|/etc|/root|/tmp)[ ,\n]")
            write(beam_size=2)
            use(versions / "2")
            reload(daemon)
            self.assertIn("generation 2", daemon.log)
            use(elsewhere / "model")
            reload(daemon)
            self.assertRegex(daemon.log, "reload failed, generation 2 stays: .*Permission denied")
            self.assertEqual(daemon.translate("Hello.").status, 200)
            use(versions / "3")
            reload(daemon)
            self.assertIn("generation 3", daemon.log)
            write(api_keys_file="/etc/shadow")
            reload(daemon)
            self.assertRegex(daemon.log, "reload failed, generation 3 stays: .*/etc/shadow: .*Permission denied")

    @unittest.skipIf(os.geteuid() != 0, "for root")
    def test_root_s_rights_over_others_files_are_gone(self):
        keys = self.root / "keys.json"
        keys.write_text('{"keys": []}')
        keys.chmod(0o600)
        os.chown(keys, 1, 1)
        result = run("serve", "--port", "0", "--model", MODEL, "--api-keys-file", str(keys))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("Permission denied", result.stderr)

    def test_it_can_be_turned_off(self):
        with Daemon("--sandbox=off", "--log-level", "debug") as daemon:
            for name, fields in threads(daemon).items():
                self.assertEqual(fields["Seccomp"], "0", name)
                self.assertEqual(fields["NoNewPrivs"], "0", name)
            self.assertNotIn("sandbox", daemon.log)

    def test_every_endpoint_works(self):
        body = {"q": "The house is small.", "source": "en", "target": "de"}
        with Daemon("--log-level", "debug") as daemon:
            for path in ("/", "/health", "/health/live", "/health/ready", "/languages", "/metrics",
                         "/web/app.js", "/positions?length=8"):
                reply = daemon.get(path)
                self.assertIn(reply.status, (200, 304), (path, reply))
            for q in ("Hello.", ["One. Two.", "Three."], "Ein Haus. " * 50):
                self.assertEqual(daemon.translate(q, alternatives=2).status, 200)
            self.assertEqual(daemon.translate("Hello.", source="auto").status, 200)
            self.assertEqual(daemon.request("POST", "/detect", {"q": "Guten Tag"}).status, 200)
            for name in FORMATS:
                reply = daemon.request("POST", "/attention", {**body, "format": name})
                self.assertEqual(reply.status, 200, (name, reply))
                reply = daemon.request("POST", "/attention", {**body, "format": name},
                                       headers={"Accept-Encoding": "gzip"})
                self.assertEqual(reply.status, 200, (name, reply))

    def test_both_precisions_and_both_load_modes_reload(self):
        """Weights of a directory that was not there at the start, and the cache written anew."""
        for flags in (("--precision", "int8"), ("--precision", "fp32"),
                      ("--precision", "int8", "--load-mode", "copy"),
                      ("--precision", "fp32", "--load-mode", "copy", "--workers", "2")):
            link, cache = self.root / "model", self.root / "deep" / "cache"
            if link.is_symlink():
                link.unlink()
            os.symlink(MODEL, link)
            with Daemon("--cache-dir", str(cache), *flags, model=str(link)) as daemon:
                expected = daemon.translate("Good morning.").body
                fresh = pathlib.Path(tempfile.mkdtemp(dir=self.root)) / "fresh"
                shutil.copytree(MODEL, fresh)
                link.unlink()
                os.symlink(fresh, link)
                n_cached = len(list(cache.iterdir()))
                reload(daemon)
                self.assertIn("reloaded in", daemon.log)
                self.assertEqual(daemon.translate("Good morning.").body, expected)
                n_new = len(list(cache.iterdir())) - n_cached
                self.assertEqual(n_new, 1 if "int8" in flags else 0, daemon.log)

    def test_a_cache_that_cannot_be_written_is_none(self):
        with Daemon("--cache-dir", "/proc/none", "--precision", "int8") as daemon:
            self.assertIn("packed in memory", daemon.log)
            reload(daemon)
            self.assertEqual(daemon.translate("Good morning.").status, 200)

    def test_abort_still_ends_it(self):
        daemon = Daemon().start()
        self.assertEqual(daemon.stop(signal.SIGABRT), -signal.SIGABRT)


if __name__ == "__main__":
    unittest.main(verbosity=2)
