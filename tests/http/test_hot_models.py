"""Models that come, change and go while requests run, and more of them than memory holds."""

import contextlib
import os
import pathlib
import shutil
import tempfile
import threading
import time
import unittest

from model_fixtures import make_model
from serve import SLOWNESS, Daemon, wait_until

# Half a minute for ten; MT_TEST_FULL=1 makes it the hundred that are promised.
CHANGES = 100 if os.environ.get("MT_TEST_FULL") else 10
ENGLISH, GERMAN = "Where is the train station?", "Wo ist der Bahnhof?"


class Asking:
    """Clients that translate all the time; every answer must be one that is known."""

    def __init__(self, daemon, known):
        self.daemon, self.known = daemon, known
        self.is_over = threading.Event()
        self.failures, self.seen, self.n = [], set(), 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self._ask, args=(i,)) for i in range(3)]

    def _ask(self, number):
        client = self.daemon.connect(120 * SLOWNESS)
        try:
            self._ask_with(client, number)
        finally:
            client.close()

    def _ask_with(self, client, number):
        pairs = list(self.known)
        while not self.is_over.is_set():
            number += 1
            source, target = pair = pairs[number % len(pairs)]
            text = ENGLISH if source == "en" else GERMAN
            try:
                reply = self.daemon.translate(text, source=source, target=target, client=client)
                answer = reply.json.get("translatedText")
            except Exception as error:  # pylint: disable=broad-except
                self.failures.append(repr(error))
                return
            with self.lock:
                self.n += 1
                self.seen.add((pair, answer))
                if reply.status != 200 or answer not in self.known[pair]:
                    self.failures.append((pair, reply.status, reply.json))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for thread in self.threads:
            thread.join()


class HotModels(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.models, self.store = self.root / "models", self.root / "store"
        self.models.mkdir()

    def start(self, *flags):
        return Daemon("--models-directory", str(self.models), "--cache-dir", str(self.root / "cache"),
                      "--models-watch-ms", "50", *flags, model=None)

    def put(self, name, directory):
        """rename(2) of a link is atomic: there is no moment without a model."""
        fresh = self.root / "fresh"
        os.symlink(directory, fresh)
        os.rename(fresh, self.models / name)

    def answer_of(self, directory, source, target):
        with Daemon("--cache-dir", str(self.root / "cache"), model=str(directory)) as daemon:
            text = ENGLISH if source == "en" else GERMAN
            return daemon.translate(text, source=source, target=target).json["translatedText"]

    def names(self, daemon):
        return {model["id"]: model["state"] for model in daemon.get("/models").json["models"]}

    def test_added_replaced_and_removed_under_load(self):
        steady = make_model(self.store / "en-de", "en", "de")
        german_french = [make_model(self.store / f"de-fr-{seed}", "de", "fr", seed=seed) for seed in (1, 2)]
        spanish = make_model(self.store / "de-es", "de", "es", seed=3)
        broken = self.store / "broken"
        broken.mkdir()
        (broken / "config.json").write_text("{")
        answers = [self.answer_of(directory, "de", "fr") for directory in german_french]
        self.assertNotEqual(*answers)
        known = {("en", "de"): [self.answer_of(steady, "en", "de")], ("de", "fr"): answers}
        self.put("en-de", steady)
        self.put("de-fr", german_french[0])
        with self.start() as daemon, Asking(daemon, known) as asking:
            for i in range(CHANGES):
                self.put("de-fr", german_french[(i + 1) % 2])
                self.put("de-es", spanish)
                self.put(f"broken-{i}", broken)
                wait_until(lambda i=i: self.names(daemon).get(f"broken-{i}") == "failed", 60 * SLOWNESS, "the newcomer")
                self.assertEqual(daemon.translate(GERMAN, source="de", target="es").status, 200)
                reply = daemon.translate(GERMAN, source="de", target="fr").json
                self.assertEqual(reply["translatedText"], answers[(i + 1) % 2])
                (self.models / "de-es").unlink()
                (self.models / f"broken-{i}").unlink()
                wait_until(lambda: sorted(self.names(daemon)) == ["de-fr", "en-de"], 60 * SLOWNESS, "the removal")
                self.assertEqual(daemon.translate(GERMAN, source="de", target="es").status, 400)
            asking.is_over.set()
        self.assertEqual(asking.failures, [])
        self.assertEqual(asking.seen, {(pair, answer) for pair, several in known.items() for answer in several})
        print(f"{asking.n} requests, {4 * CHANGES} changes, {daemon.log.count('reloaded in')} reloads")
        self.assertNotIn("reload failed", daemon.log)

    def test_a_copy_under_way_is_no_model_yet(self):
        origin = make_model(self.store / "en-de", "en", "de")
        with self.start("--models-watch-ms", "600") as daemon:
            self.assertEqual(self.names(daemon), {})
            copy = self.models / "en-de"
            copy.mkdir()
            for name in sorted(os.listdir(origin)):  # config.json long before the weights
                shutil.copyfile(origin / name, copy / name)
                time.sleep(0.2)
                self.assertNotEqual(self.names(daemon).get("en-de"), "failed")
            wait_until(lambda: self.names(daemon) == {"en-de": "cold"}, 60 * SLOWNESS, "the model")
            self.assertEqual(daemon.translate(ENGLISH, source="en", target="de").status, 200)
            self.assertEqual(daemon.log.count("reloaded in"), 1)

    def test_what_changes_during_a_reload_that_fails_is_not_forgotten(self):
        good, bad = make_model(self.store / "good"), make_model(self.store / "bad", seed=1)
        text = "I have never seen such a beautiful old house at the end of a long street."
        with Daemon("--cache-dir", str(self.root / "cache"), model=str(good)) as daemon:
            answer = daemon.translate(text).json["translatedText"]
        for _ in range(3):
            self.put("en-de", good)
            with Daemon("--models-directory", str(self.models), "--cache-dir", str(self.root / "cache"),
                        "--models-watch-ms", "50", "--warm-up-text", text, "--warm-up-answer", answer,
                        model=str(self.models / "en-de")) as daemon:
                self.put("en-de", bad)
                wait_until(lambda daemon=daemon: "has changed: reloading" in daemon.log, 60 * SLOWNESS, "the change")
                self.put("en-de", good)
                wait_until(lambda daemon=daemon: "reloaded in" in daemon.log, 60 * SLOWNESS, "the cure")

    def test_what_is_no_model_changes_nothing(self):
        """A log is in the directory, in one of its own, and in that of a model: each line of it was a
        change that brought a reload, which wrote a line."""
        make_model(self.models / "en-de", "en", "de")
        notes = self.models / "notes"
        notes.mkdir()
        with self.start() as daemon:
            first = daemon.get("/models").json["models"]
            for i in range(20):
                for path in (self.models / "daemon.log", notes / f"{i}.txt", self.models / "en-de" / "train.log"):
                    with path.open("a") as file:
                        file.write("listening\n")
                time.sleep(0.02)
            os.rename(self.models / "daemon.log", self.models / "daemon.log.1")
            (self.models / "daemon.log.1").unlink()
            shutil.rmtree(notes)
            time.sleep(1)
            self.assertNotIn("has changed", daemon.log)
            self.assertEqual(daemon.get("/models").json["models"], first)
            # What is a model's, meanwhile, is still seen, and a log beside it does not put it off.
            with self.writing(self.models / "daemon.log"):
                shutil.copytree(self.models / "en-de", self.models / "de-en")
                wait_until(lambda: sorted(self.names(daemon)) == ["de-en", "en-de"], 60 * SLOWNESS, "the newcomer")
                (self.models / "de-en" / "config.json").unlink()
                wait_until(lambda: sorted(self.names(daemon)) == ["en-de"], 60 * SLOWNESS, "the removal")
                shutil.copyfile(self.models / "en-de" / "config.json", self.models / "de-en" / "config.json")
                wait_until(lambda: sorted(self.names(daemon)) == ["de-en", "en-de"], 60 * SLOWNESS, "the return")

    @contextlib.contextmanager
    def writing(self, path):
        """Somebody writes a line there every ten milliseconds."""
        is_over = threading.Event()

        def write():
            with path.open("a") as file:
                while not is_over.wait(0.01):
                    file.write("reloaded\n")
                    file.flush()

        thread = threading.Thread(target=write)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def test_without_a_watch_changes_wait_for_a_signal(self):
        make_model(self.models / "en-de", "en", "de")
        with self.start("--models-watch-ms", "0") as daemon:
            make_model(self.models / "de-fr", "de", "fr", seed=1)
            time.sleep(1.5)
            self.assertEqual(list(self.names(daemon)), ["en-de"])
            daemon.process.send_signal(1)
            wait_until(lambda: sorted(self.names(daemon)) == ["de-fr", "en-de"], 60 * SLOWNESS, "the reload")

    def test_twenty_models_in_the_memory_of_eight(self):
        origin = make_model(self.store / "en-de", "en", "de")
        names = [f"m{i:02}" for i in range(20)]
        for name in names:  # models of their own, of the same files
            (self.models / name).mkdir()
            for file in os.listdir(origin):
                os.symlink(origin / file, self.models / name / file)
        with self.start("--precision", "int8") as daemon:
            expected = daemon.translate(ENGLISH, model="m00", source="en", target="de").json["translatedText"]
            one = daemon.get("/models/m00").json["memory"]["loaded_bytes"]
        times = []
        with self.start("--precision", "int8", "--models-memory", str(int(8.5 * one))) as daemon:
            for i in range(60):
                name = names[i * 7 % 20]
                is_cold = self.names(daemon)[name] == "cold"
                start = time.monotonic()
                reply = daemon.translate(ENGLISH, model=name, source="en", target="de")
                if is_cold:
                    times.append(time.monotonic() - start)
                self.assertEqual((reply.status, reply.json["translatedText"]), (200, expected))
                metrics = daemon.metrics()
                self.assertLessEqual(metrics["attentiond_models_loaded_bytes"], metrics["attentiond_models_memory_bytes"])
            states = list(self.names(daemon).values())
            self.assertEqual((states.count("ready"), states.count("cold")), (8, 12))
            loaded = [metrics[f'attentiond_model_loaded{{model="{name}",precision="int8"}}'] for name in names]
            self.assertEqual(sum(loaded), 8)
        times.sort()
        print(f"{len(times)} cold starts: median {times[len(times) // 2] * 1e3:.0f} ms, slowest {times[-1] * 1e3:.0f} ms")

    def test_an_idle_model_goes(self):
        make_model(self.models / "en-de", "en", "de")
        with self.start("--models-idle-ms", "300") as daemon:
            for _ in range(2):
                self.assertEqual(daemon.translate(ENGLISH, source="en", target="de").status, 200)
                wait_until(lambda: self.names(daemon) == {"en-de": "cold"}, 60 * SLOWNESS, "its end")
            self.assertEqual(daemon.metrics()["attentiond_model_unloads_total"], 2)


if __name__ == "__main__":
    unittest.main()
