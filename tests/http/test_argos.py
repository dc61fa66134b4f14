"""A package of Argos Translate, as LibreTranslate keeps it, behind the daemon: folder and archive."""

import os
import pathlib
import shutil
import signal
import sys
import tempfile
import unittest
import zipfile

from serve import MODEL, ROOT, SLOWNESS, Daemon, wait_until

sys.path.insert(0, str(ROOT / "tests" / "tools"))

import export_ctranslate2 as exporter  # noqa: E402 pylint: disable=wrong-import-position

QUESTION = "Where is the train station?"


class Argos(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="attentiond-argos-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.package = cls.directory / "translate-en_de-1_0"
        exporter.write_argos(MODEL, cls.package, "int8", 5, ("en", "de"))
        # Whoever opens a named pipe waits for ever.
        (cls.package / "stanza").mkdir()
        os.mkfifo(cls.package / "stanza" / "en.pt")

    def check(self, model):
        cache = self.directory / f"cache-{model.name}"
        with Daemon("--cache-dir", str(cache), "--precision", "int8", model=str(model)) as daemon:
            languages = {each["code"]: each["targets"] for each in daemon.get("/languages").json}
            self.assertIn("de", languages["en"])
            self.assertEqual(daemon.translate(QUESTION).json["translatedText"], "Wo ist der Bahnhof?")
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: daemon.metrics()['attentiond_reloads_total{outcome="done"}'] == 1, 60 * SLOWNESS)
            self.assertEqual(daemon.translate(QUESTION).json["translatedText"], "Wo ist der Bahnhof?")
        self.assertTrue(list(cache.iterdir()), "the packed form is kept")

    def test_folder(self):
        self.check(self.package)

    def test_archive(self):
        archive = self.directory / "en_de.argosmodel"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(self.package.rglob("*")):
                if not path.is_fifo():
                    file.write(path, f"{self.package.name}/{path.relative_to(self.package)}")
        self.check(archive)

    def test_directory_of_packages(self):
        """Loaded when they are asked for, by the daemon that has given up what it does not need."""
        packages = self.directory / "packages"
        packages.mkdir()
        self.package.rename(packages / self.package.name)
        self.addCleanup((packages / self.package.name).rename, self.package)
        with Daemon("--models-directory", str(packages), "--cache-dir", str(self.directory / "cache"), model="") as daemon:
            states = {each["id"]: each["state"] for each in daemon.get("/models").json["models"]}
            self.assertEqual(states, {self.package.name: "cold"})
            self.assertEqual(daemon.translate(QUESTION).json["translatedText"], "Wo ist der Bahnhof?")


if __name__ == "__main__":
    unittest.main()
