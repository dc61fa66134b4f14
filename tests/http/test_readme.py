"""The README's commands do what it shows, and every route is in it."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from model_fixtures import make_model
from serve import BINARY, ROOT, SLOWNESS, Daemon, clean_environment, wait_until

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)


def commands():
    """[(command, what is shown below it)] of the blocks that show a prompt."""
    return [command for block in BLOCK.findall(README) for command in COMMAND.findall(block)]


def visible(text):
    """Its lines, without the blanks at their ends, which a page does not show."""
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


def pattern(shown):
    """Three dots stand for what differs from time to time."""
    return ".*".join(map(re.escape, visible(shown).split("...")))


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(model=str(ROOT / "weights/en-de")).start()
        cls.folder = tempfile.TemporaryDirectory()
        os.symlink(ROOT / "weights", pathlib.Path(cls.folder.name) / "weights")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        assert cls.daemon.stop() == 0, cls.daemon.log

    def test_commands_do_what_is_shown(self):
        self.assertGreater(len(commands()), 10)
        for command, shown in commands():
            here = command.replace("localhost:5000", f"127.0.0.1:{self.daemon.port}").replace("build/release/attentiond", BINARY)
            result = subprocess.run(["bash", "-o", "pipefail", "-c", here], cwd=self.folder.name, capture_output=True, text=True,
                                    timeout=60 * SLOWNESS, env=clean_environment({"LC_ALL": "C.UTF-8"}), check=False)
            printed = result.stdout.replace(f"127.0.0.1:{self.daemon.port}", "localhost:5000")
            self.assertRegex(visible(printed), rf"\A{pattern(shown)}\Z", f"{here}\n{result.stderr}")

    def test_a_file_that_a_command_writes_is_one(self):
        pictures = [re.search(r"> (\S+\.png)$", command)[1] for command, _ in commands() if command.endswith(".png")]
        self.assertTrue(pictures)
        self.test_commands_do_what_is_shown()
        for name in pictures:
            self.assertEqual((pathlib.Path(self.folder.name) / name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_what_a_model_may_say_of_itself(self):
        shown = json.loads(next(block for block in BLOCK.findall(README) if block.startswith('{"source_lang"')))
        models = pathlib.Path(self.folder.name) / "models"
        make_model(models / "mine", **shown)
        with Daemon("--models-directory", str(models), model=None) as daemon:
            wait_until(lambda: daemon.get("/models/mine").json["state"] == "ready", 60 * SLOWNESS, "preload")
            model = daemon.get(f"/models/{shown['aliases'][0]}").json
        self.assertEqual((model["id"], model["sources"], model["targets"], model["aliases"]),
                         ("mine", [shown["source_lang"]], shown["target_lang"], shown["aliases"]))
        of_decoding = shown.keys() - {"source_lang", "target_lang", "aliases", "preload"}
        self.assertEqual(model["defaults"], {key: shown[key] for key in of_decoding})

    def test_every_route_is_in_the_table_and_in_a_command(self):
        described = json.loads(self.daemon.get("/openapi.json").body)["paths"]
        table = "\n".join(line for line in README.splitlines() if line.startswith("|"))
        in_table = set(re.findall(r"`(?:[A-Z, ]+ )?(/[a-z0-9_./]*)`", table))
        in_commands = [re.findall(r"localhost:5000(/[^ '?]*)", f"{command} {shown}") for command, shown in commands()]
        in_commands = {path for paths in in_commands for path in paths}
        for path in described:
            prefix = path.split("{")[0]
            self.assertIn(prefix, in_table)
            self.assertTrue(path in in_commands or (prefix != path and any(found.startswith(prefix) for found in in_commands)), path)


if __name__ == "__main__":
    unittest.main()
