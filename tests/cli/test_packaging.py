"""What an installation has beside the program: manual, completions, unit and the rest.

python3 tests/cli/test_packaging.py BINARY [unittest arguments]
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import fields_page

BUILD = pathlib.Path(os.environ["MT_BUILD_DIR"])
MADE = BUILD / "packaging"

binary = sys.argv.pop(1)


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, **options)


def describe(*verb):
    result = run(binary, *verb, "--describe")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


VERBS = {name: describe(name) for name in describe()["verbs"]}


def flags(verb):
    own = [option["flag"] for option in VERBS[verb]["options"]]
    return {f"--{flag}" for flag in own + [setting["key"].replace("_", "-") for setting in VERBS[verb]["settings"]]}


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"there is no {program}")


class Description(unittest.TestCase):
    def test_has_what_help_has(self):
        for verb in VERBS:
            page = run(binary, verb, "--help-all").stdout
            self.assertEqual(flags(verb), set(re.findall(r"^  (--[a-z-]+)", page, re.M)), verb)

    def test_has_every_setting_as_the_example_has_it(self):
        example = json.loads(run(binary, "check-config", "--print-example").stdout)
        defaults = {key: value for key, value in example.items() if not key.startswith("//")}
        self.assertEqual({setting["key"]: setting["default"] for setting in VERBS["check-config"]["settings"]}, defaults)
        for setting in VERBS["check-config"]["settings"]:
            self.assertIn(setting["doc"], example["//" + setting["key"]])
            self.assertEqual(setting["type"] == "choice", "choices" in setting)

    def test_is_a_flag_that_stands_alone(self):
        result = run(binary, "serve", "--describe", "--port", "1")
        self.assertEqual((result.returncode, result.stdout), (2, ""))


class SettingsPage(unittest.TestCase):
    """docs/settings.md."""

    def test_is_what_the_program_says(self):
        made = run(sys.executable, "-B", ROOT / "packaging/settings_page.py", binary, encoding="utf-8")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.maxDiff = None
        self.assertEqual((ROOT / "docs/settings.md").read_text(encoding="utf-8"), made.stdout,
                         "make it with packaging/settings_page.py build/release/attentiond > docs/settings.md")


class FieldsPage(unittest.TestCase):
    """The section on fields of docs/api.md."""

    def test_is_what_the_table_says(self):
        page = fields_page.PAGE.read_text(encoding="utf-8")
        self.maxDiff = None
        self.assertEqual(page, fields_page.page(page), "packaging/fields_page.py mends it")


@needs("mandoc")
class Manual(unittest.TestCase):
    page = MADE / "attentiond.1"

    def rendered(self):
        """The page as text, without the overstrikes that make it bold."""
        text = run("mandoc", "-Tutf8", "-Owidth=160", self.page).stdout
        return re.sub(".\b", "", text)

    def test_has_no_flaw_that_mandoc_knows(self):
        result = run("mandoc", "-Tlint", "-Wwarning", self.page)
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))

    @needs("man")
    def test_is_shown_by_man_without_a_warning(self):
        result = run("man", "--warnings", "-l", self.page, env=os.environ | {"LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertGreater(len(result.stdout.splitlines()), 300)

    def test_has_every_verb_flag_setting_and_default(self):
        text = self.rendered()
        words = " ".join(text.split())
        for verb, description in VERBS.items():
            self.assertIn(f"attentiond {verb} ", text)
            for flag in flags(verb):
                self.assertRegex(text, rf"(?m)^ +{flag}\b")
            for setting in description["settings"]:
                self.assertIn(" ".join(setting["doc"].split()), words)
                if setting["default"] != "":
                    self.assertIn(f"default {json.dumps(setting['default'])}", words)


@unittest.skipIf(sys.platform == "win32", "needs bash")
class Bash(unittest.TestCase):
    def complete(self, line):
        """What bash would offer for the last word of the line."""
        words = re.split(r" |(=)", line)
        words = [word for word in words if word is not None]
        words = [word for i, word in enumerate(words) if word or i == len(words) - 1]
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _attentiond; printf "%s\\n" "${COMPREPLY[@]}"'
        result = run("bash", "-c", script, "bash", MADE / "attentiond", *words, cwd=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""), line)
        return set(result.stdout.split("\n")) - {""}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        (pathlib.Path(folder.name) / "models").mkdir()
        (pathlib.Path(folder.name) / "my settings.json").write_text("{}")

    def test_completes_verbs(self):
        self.assertEqual(self.complete("attentiond "), {*VERBS, "help", "--help", "--version"})
        self.assertEqual(self.complete("attentiond he"), {"healthcheck", "help"})
        self.assertEqual(self.complete("attentiond help "), set(VERBS))

    def test_completes_the_flags_of_a_verb(self):
        for verb in VERBS:
            self.assertEqual(self.complete(f"attentiond {verb} -"), flags(verb))
        self.assertEqual(self.complete("attentiond serve --max-b"), {flag for flag in flags("serve") if flag.startswith("--max-b")})
        self.assertEqual(self.complete("attentiond bring --"), set())

    def test_completes_values(self):
        self.assertEqual(self.complete("attentiond serve --precision "), {"fp32", "int8"})
        self.assertEqual(self.complete("attentiond serve --port 1 --precision=f"), {"fp32"})
        self.assertEqual(self.complete("attentiond serve --precision="), {"fp32", "int8"})
        self.assertEqual(self.complete("attentiond serve --model "), {"models"})
        self.assertEqual(self.complete("attentiond serve --config "), {"models", "my settings.json"})
        self.assertEqual(self.complete("attentiond serve --port "), set())
        self.assertEqual(self.complete("attentiond serve --web-page --precision "), {"fp32", "int8"})

    def test_completes_files_where_no_flag_stands(self):
        self.assertEqual(self.complete("attentiond import "), {"models", "my settings.json"})


class OtherShells(unittest.TestCase):
    @needs("zsh")
    def test_zsh_can_read_its_file(self):
        result = run("zsh", "-f", "-n", MADE / "_attentiond")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    @needs("fish")
    def test_fish_completes(self):
        for line, expected in [("attentiond serve --precision ", {"fp32", "int8"}), ("attentiond ", set(VERBS)), ("attentiond translate --js", {"--json"})]:
            result = run("fish", "--no-config", "-c", f"source {MADE / 'attentiond.fish'}; complete -C '{line}'")
            self.assertEqual(result.stderr, "")
            self.assertLessEqual(expected, {row.split("\t")[0] for row in result.stdout.splitlines()})


class Installation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        result = run("meson", "install", "--no-rebuild", "-C", BUILD, "--destdir", cls.folder.name)
        assert result.returncode == 0, result.stdout + result.stderr
        (cls.program,) = pathlib.Path(cls.folder.name).rglob("bin/attentiond")
        cls.prefix = cls.program.parents[1]

    def test_has_its_files_where_they_are_looked_for(self):
        for path in ("share/man/man1/attentiond.1", "share/bash-completion/completions/attentiond", "share/zsh/site-functions/_attentiond",
                     "share/fish/vendor_completions.d/attentiond.fish", "lib/systemd/system/attentiond.service",
                     "share/attentiond/grafana-dashboard.json", "libexec/attentiond/attentiond-database", "libexec/attentiond/attentiond-pull"):
            self.assertGreater((self.prefix / path).stat().st_size, 100, path)

    def test_translates_with_the_installed_models(self):
        clean = {key: value for key, value in os.environ.items() if not key.startswith("ATTENTIOND_")}
        for model, answer in (("en-de", "Wo ist der Bahnhof?\n"), ("en-fr", "Où est la gare ?\n"), ("en-ja", "駅はどこですか。\n")):
            result = run(self.program, "translate", "--model", self.prefix / "share/attentiond" / model, "--cache-dir", self.folder.name,
                         input="Where is the train station?\n", env=clean)
            self.assertEqual((result.returncode, result.stdout), (0, answer), result.stderr)

    def test_another_installation_keeps_the_settings(self):
        root = pathlib.Path(self.folder.name)
        (settings,) = root.rglob("etc/attentiond/attentiond.json")
        unit = (self.prefix / "lib/systemd/system/attentiond.service").read_text()
        self.assertIn(f"ATTENTIOND_CONFIG=/{settings.relative_to(root)}\n", unit)
        delivered = settings.read_text()
        own, bundled = json.loads(delivered)["models_directory"].split(":")
        self.assertEqual((own, root / bundled[1:] / "en-de/config.json"),
                         ("/var/lib/attentiond/models", self.prefix / "share/attentiond/en-de/config.json"))
        result = run(self.program, "check-config", "--config", settings, "--models-directory", root / bundled[1:])
        self.assertEqual(result.returncode, 0, result.stderr)
        settings.write_text('{"port": 5001}')
        command = ["meson", "install", "--no-rebuild", "-C", BUILD, "--destdir", self.folder.name]
        self.assertEqual(run(*command).returncode, 0)
        self.assertEqual(settings.read_text(), '{"port": 5001}')
        settings.unlink()
        self.assertEqual(run(*command).returncode, 0)
        self.assertEqual(settings.read_text(), delivered)

    @needs("systemd-analyze")
    def test_unit_is_one_that_systemd_understands(self):
        unit = self.prefix / "lib/systemd/system/attentiond.service"
        # Beside the root that it is installed for, the program is elsewhere.
        text = unit.read_text().replace("ExecStart=" + str(self.program)[len(self.folder.name):], f"ExecStart={self.program}")
        self.assertIn(f"ExecStart={self.program} serve", text)
        unit.write_text(text.replace("Documentation=man:attentiond(1)\n", ""))
        result = run("systemd-analyze", "verify", "--man=no", unit)
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))

    @needs("systemd-analyze")
    def test_unit_gives_away_little(self):
        unit = MADE / "attentiond.service"
        result = run("systemd-analyze", "security", "--offline=yes", "--json=short", unit)
        self.assertEqual(result.returncode, 0, result.stderr)
        exposed = {entry["name"] for entry in json.loads(result.stdout) if float(entry["exposure"] or 0) > 0}
        self.assertEqual(exposed & {"ProtectProc=", "ProcSubset=", "ProtectHome=", "PrivateUsers="}, set())
        self.assertRegex(unit.read_text(), r"(?m)^MemoryMax=\d+%$")


class Packages(unittest.TestCase):
    """What .ci/install asks apt for."""

    FAKES = {
        "dpkg-query": "exit 1",
        "sudo": 'exec "$@"',
        # Nothing is known before the first update. Names that are only provided have no candidate.
        "apt-cache": """echo "$2:"
            [ -f "$APT/updated" ] || exit 0
            echo "  Candidate: $(grep -qx "$2" "$APT/known" && echo 1.0-1 || echo "(none)")" """,
        "apt-get": 'case $* in *update*) touch "$APT/updated" ;; *) echo "$@" >>"$APT/asked" ;; esac',
    }

    def asks_for(self, purpose, known):
        with tempfile.TemporaryDirectory() as folder:
            apt = pathlib.Path(folder)
            for name, script in self.FAKES.items():
                (apt / name).write_text(f"#!/bin/sh\n{script}\n")
                (apt / name).chmod(0o755)
            (apt / "known").write_text("\n".join(known) + "\n")
            result = run(ROOT / ".ci/install", purpose, env={"PATH": f"{apt}:/usr/bin:/bin", "APT": folder})
            asked = (apt / "asked").read_text() if (apt / "asked").exists() else ""
            return result, set(re.findall(r"[a-z][\w.-]+", asked.partition("recommends")[2]))

    def test_are_those_of_the_release(self):
        lines = re.findall(r"^runtime +(\S+)", (ROOT / ".ci/packages").read_text(), re.M)
        for release in (0, -1):
            names = {line.split("|")[release] for line in lines}
            result, asked = self.asks_for("runtime", names)
            self.assertEqual((result.returncode, asked), (0, names), result.stderr)

    def test_that_apt_does_not_know_are_said(self):
        result, asked = self.asks_for("runtime", {"libcjson1"})
        self.assertEqual((result.returncode, asked), (1, set()))
        self.assertIn("libmicrohttpd12", result.stderr)


class Summary(unittest.TestCase):
    """What ./test says at its end."""

    def of(self, *tests, **environment):
        """Exit code and lines, of tests as meson's log has them: name, result, what they printed."""
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            log.write_text("".join(json.dumps({"name": f"attentiond:x / {name}", "result": result, "stdout": output, "stderr": output}) + "\n"
                                   for name, result, output in tests))
            result = run(sys.executable, ROOT / ".ci/summary.py", log, env={"PATH": os.environ["PATH"]} | environment)
            self.assertEqual(result.stderr, "")
            return result.returncode, result.stdout.splitlines()

    def test_counts(self):
        self.assertEqual(self.of(("a", "OK", ""), ("b", "EXPECTEDFAIL", "")), (0, ["2 passed, 0 failed"]))
        self.assertEqual(self.of(("a", "OK", ""), ("b", "TIMEOUT", "")), (1, ["1 passed, 1 failed"]))
        self.assertEqual(self.of(), (1, ["0 passed, 0 failed"]))

    def test_names_what_was_skipped_and_what_to_install(self):
        tests = [("a", "OK", ""),
                 ("page", "SKIP", "skipped: there is no chromium (Debian package chromium-headless-shell)\n"),
                 ("docs", "SKIP", "skipped: there is no chromium (Debian package chromium-headless-shell)\n"),
                 ("cluster", "SKIP", "first\nskipped: there is no haproxy, no nginx (Debian packages haproxy nginx-light)\n"),
                 ("odd", "SKIP", "")]
        said = ["skipped: page, docs: there is no chromium (Debian package chromium-headless-shell)",
                "skipped: cluster: there is no haproxy, no nginx (Debian packages haproxy nginx-light)",
                "skipped: odd: it does not say why",
                "To install: apt-get install chromium-headless-shell haproxy nginx-light"]
        self.assertEqual(self.of(*tests), (0, [*said, "1 passed, 0 failed (4 skipped)"]))
        self.assertEqual(self.of(*tests, CI="true"), (1, [*said, "In CI no test may be skipped.", "1 passed, 0 failed (4 skipped)"]))

    def test_names_those_that_left_cases_out(self):
        code, (left_out, counts) = self.of(("a", "OK", "Ran 3 tests in 1.0s\n\nOK (skipped=2)\n"), ("b", "OK", "OK\n"), CI="true")
        self.assertEqual((code, counts), (0, "2 passed, 0 failed"))
        self.assertTrue(left_out.startswith("left out, cases of a (2): "), left_out)

    def test_tests_that_are_skipped_say_what_to_install(self):
        result = run(sys.executable, ROOT / "tests/node.py", "x", env={"PATH": "/none"})
        self.assertEqual((result.returncode, result.stdout), (77, "skipped: there is no node (Debian package nodejs)\n"), result.stderr)


class Run(unittest.TestCase):
    """./run, with programs that only write down how they were called."""

    def calls(self, *arguments, known=(), **environment):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copy(ROOT / "run", root)
            (root / "known").write_text("".join(f"{name}\n" for name in known))
            programs = {
                ".ci/install": "",
                "ninja": "echo ninja: no work to do.",
                "build/release/attentiond": """case $1 in
                    list) grep -qxF -- "$3" "$ROOT/known" ;;
                    pull) echo "$2" >>"$ROOT/known"; echo "$*" >>"$ROOT/calls" ;;
                    *) echo "$*" >>"$ROOT/calls" ;;
                    esac""",
            }
            for name, script in programs.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(f"#!/bin/sh\n{script}\n")
                (root / name).chmod(0o755)
            (root / "build/release/build.ninja").write_text("")
            if environment.pop("has_pulled", False):
                (root / ".local/share/attentiond/models").mkdir(parents=True)
            result = run(root / "run", *arguments, env={"PATH": f"{folder}:/usr/bin:/bin", "HOME": folder, "ROOT": folder} | environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            return (root / "calls").read_text().replace(folder, "ROOT").splitlines(), result.stdout

    def test_serves_the_bundled_models_and_what_was_pulled(self):
        self.assertEqual(self.calls()[0], ["serve --models-directory ROOT/weights"])
        self.assertEqual(self.calls("--port", "1", has_pulled=True)[0],
                         ["serve --models-directory ROOT/.local/share/attentiond/models:ROOT/weights --port 1"])
        self.assertEqual(self.calls(has_pulled=True, ATTENTIOND_MODEL="x")[0], ["serve"])

    def test_fetches_a_model_that_is_missing_and_says_so(self):
        for flag in (["--model", "opus-mt-en-fr"], ["--model=opus-mt-en-fr"]):
            calls, said = self.calls(*flag, has_pulled=True)
            self.assertEqual(calls, ["pull opus-mt-en-fr", "serve " + " ".join(flag)])
            self.assertIn("The model opus-mt-en-fr is not on this machine: attentiond pull opus-mt-en-fr\n", said)
        self.assertEqual(self.calls("--model", "A/b", known=["A/b"])[0], ["serve --model A/b"])
        self.assertEqual(self.calls("--model", "/no/such")[0], ["serve --model /no/such"])


class Compose(unittest.TestCase):
    """docker/compose.yaml. docker/test.sh proves the image."""

    text = (ROOT / "docker/compose.yaml").read_text()

    def listed(self, key):
        entries = re.search(rf"(?m)^    {key}:\n((?:      .*\n)+)", self.text)[1]
        return re.findall(r"(?m)^      - \"?([^\"\n]+)", entries)

    def test_nobody_else_gets_in_before_there_are_keys(self):
        self.assertEqual(self.listed("ports"), ["127.0.0.1:5000:5000"])

    def test_models_are_in_a_volume_where_the_image_looks_for_them(self):
        """Who serves can only read them; who pulls does not serve."""
        serving, pulling = self.text.split("\n  pull:\n")
        (volume,) = self.listed("volumes")
        name, inside, mode = volume.split(":")
        self.assertEqual((mode, serving.count("- models:")), ("ro", 1))
        self.assertIn(f"- {name}:{inside}\n", pulling)
        self.assertIn("profiles:", pulling)
        self.assertRegex(self.text, rf"(?m)^volumes:\n  {name}:$")
        image = (ROOT / "docker/Dockerfile").read_text()
        self.assertIn(f"\nVOLUME {inside}\n", image)
        self.assertIn(f"ATTENTIOND_MODELS_DIRECTORY={inside}:/usr/share/attentiond\n", image)

    def test_its_files_are_enough_for_all_connections(self):
        self.assertGreaterEqual(int(re.search(r"nofile: (\d+)", self.text)[1]), 1576)


if __name__ == "__main__":
    unittest.main()
