"""README.md and docs/: their commands do what is shown, and every route is in docs/api.md."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from model_fixtures import make_model
from serve import BINARY, ROOT, SLOWNESS, Daemon, clean_environment, run, wait_until

PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
BLOCK = re.compile(r"^```\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)


def blocks(page):
    return BLOCK.findall(PAGES[page])


def commands(page):
    """[(command, what is shown below it)] of the blocks that show a prompt."""
    return [command for block in blocks(page) for command in COMMAND.findall(block)]


def visible(text):
    """Its lines, without the blanks at their ends, which a page does not show."""
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


def pattern(shown):
    """Three dots stand for what differs from time to time."""
    return ".*".join(map(re.escape, visible(shown).split("...")))


class Documents(unittest.TestCase):
    def setUp(self):
        # Each page is for somebody who has done nothing yet.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "weights").symlink_to(ROOT / "weights")
        self.admin_socket = self.folder / "admin"
        self.daemon = Daemon("--admin-socket", str(self.admin_socket), "--models-directory", str(ROOT / "weights"),
                             "--data-directory", str(self.folder / "data"), model=None).start()

    def tearDown(self):
        self.assertEqual(self.daemon.stop(), 0, self.daemon.log)

    def run_commands(self, page):
        """Each command of the page, compared with what the page shows."""
        self.assertTrue(commands(page), f"{page} shows no command")
        here = {"localhost:5000": f"127.0.0.1:{self.daemon.port}", "/run/attentiond/admin": str(self.admin_socket), "build/release/attentiond": BINARY}
        for command, shown in commands(page):
            for there, instead in here.items():
                command = command.replace(there, instead)
            result = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.folder, capture_output=True, text=True,
                                    timeout=60 * SLOWNESS, env=clean_environment({"LC_ALL": "C.UTF-8"}), check=False)
            printed = result.stdout.replace(f"127.0.0.1:{self.daemon.port}", "localhost:5000")
            self.assertRegex(visible(printed), rf"\A{pattern(shown)}\Z", f"{page}: {command}\n{result.stderr}")

    def test_commands_of_readme(self):
        self.run_commands("README.md")

    def test_commands_of_api(self):
        self.run_commands("docs/api.md")

    def test_commands_of_models(self):
        self.run_commands("docs/models.md")

    def test_commands_of_operating(self):
        self.run_commands("docs/operating.md")

    def test_no_other_page_has_commands(self):
        tested = {"README.md", "docs/api.md", "docs/models.md", "docs/operating.md"}
        self.assertEqual([page for page in PAGES if page not in tested and commands(page)], [])

    def test_a_file_that_a_command_writes_is_one(self):
        pictures = [re.search(r"> (\S+\.png)$", command)[1] for command, _ in commands("docs/api.md") if command.endswith(".png")]
        self.assertTrue(pictures)
        self.run_commands("docs/api.md")
        for name in pictures:
            self.assertEqual((self.folder / name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_what_a_model_may_say_of_itself(self):
        shown = json.loads(next(block for block in blocks("docs/models.md") if block.startswith('{"source_lang"')))
        models = self.folder / "models"
        make_model(models / "mine", **shown)
        with Daemon("--models-directory", str(models), model=None) as daemon:
            wait_until(lambda: daemon.get("/models/mine").json["state"] == "ready", 60 * SLOWNESS, "preload")
            model = daemon.get(f"/models/{shown['aliases'][0]}").json
        self.assertEqual((model["id"], model["sources"], model["targets"], model["aliases"]),
                         ("mine", [shown["source_lang"]], shown["target_lang"], shown["aliases"]))
        of_decoding = shown.keys() - {"source_lang", "target_lang", "aliases", "preload"}
        self.assertEqual(model["defaults"], {key: shown[key] for key in of_decoding})

    def test_keys_are_such_as_the_daemon_reads(self):
        keys = self.folder / "keys"
        shown = next(block for block in blocks("docs/operating.md") if block.startswith("# key"))
        keys.write_text(shown, encoding="utf-8")
        keys.chmod(0o600)
        result = run("check-config", "--model", str(ROOT / "weights/en-de"), "--api-keys-file", str(keys), timeout=60 * SLOWNESS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("good, 2 keys", result.stderr)

    def test_verbs_are_those_of_the_program(self):
        table = re.findall(r"^\| `([a-z-]+)` \|", PAGES["docs/operating.md"].partition("## The command line")[2].partition("\n## ")[0], re.M)
        self.assertEqual(table, json.loads(run("--describe").stdout)["verbs"])

    def test_every_route_is_in_the_table_and_in_a_command(self):
        described = json.loads(self.daemon.get("/openapi.json").body)["paths"]
        table = PAGES["docs/api.md"].partition("\n## ")[0]
        in_table = set(re.findall(r"`(?:[A-Z, ]+ )?(/[a-z0-9_./-]*)`", table))
        in_commands = {path for command, shown in commands("docs/api.md") for path in re.findall(r"localhost:5000(/[^ '?]*)", f"{command} {shown}")}
        for path in described:
            prefix = path.split("{")[0]
            self.assertIn(prefix, in_table)
            self.assertTrue(path in in_commands or (prefix != path and any(found.startswith(prefix) for found in in_commands)), path)

    def test_settings_that_are_named_exist(self):
        known = {setting["key"] for setting in json.loads(run("check-config", "--describe").stdout)["settings"]}
        for page, text in PAGES.items():
            for name in re.findall(r"settings\.md#([a-z0-9_]+)", text):
                self.assertIn(name, known, page)

    def test_the_readme_is_short(self):
        self.assertLessEqual(len(PAGES["README.md"].encode()), 8 * 1024, "what is not for a first visit goes to docs/")


if __name__ == "__main__":
    unittest.main()
