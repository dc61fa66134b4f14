"""`attentiond pull` and `attentiond list --remote`: the real program against registries on this machine.

python3 tests/pull/test_verbs.py ATTENTIOND [unittest arguments]     attentiond-pull lies beside it
"""

import contextlib
import hashlib
import json
import os
import pathlib
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import small_models  # noqa: E402
from registry import Registry, files_of  # noqa: E402
from small_models import marian_mt as small  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = files_of(ROOT / "tests/models/en-de")
BINARY = os.path.abspath(sys.argv.pop(1))
OK, FAILED, USAGE = 0, 1, 2
PATIENCE_S = 120
BLOCK = 1 << 20  # what may be sent and lost in a connection's buffers
NAME = "Helsinki-NLP/opus-mt-en-de"


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.registry = cls.enterClassContext(Registry())
        cls.full = cls.registry.add_hugging_face(NAME, MODEL | {"tf_model.h5": b"x" * 50_000, "rust_model.ot": b"y" * 50_000, "a/b.bin": b"z"})

    def setUp(self):
        self.registry.mend()
        self.registry.forget()
        self.registry.token = None
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def environment(self, **more):
        clean = {key: value for key, value in os.environ.items()
                 if not key.lower().endswith("_proxy") and not key.startswith(("SSL_", "ATTENTIOND_", "HF_", "ARGOS_", "XDG_"))}
        return clean | self.registry.environment() | {"HOME": str(self.root / "home"), "LC_ALL": "C.UTF-8"} | more

    def run_verb(self, *arguments, environment=None, **options):
        return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL,
                              env=environment or self.environment(), **options)

    def pull(self, *arguments, **options):
        return self.run_verb("pull", "--models-directory", str(self.root), *arguments, **options)

    def pulled(self, *arguments, name, **options):
        """Pulls, and returns the files that are there now, but for the record."""
        result = self.pull(*arguments, **options)
        self.assertEqual(result.returncode, OK, result.stderr)
        self.output, self.said = result.stdout, result.stderr
        files = files_of(self.root / name)
        self.record = json.loads(files.pop("attentiond-pull.json"))
        for file in self.record["files"]:
            self.assertEqual(file["sha256"], hashlib.sha256(files[file["name"]]).hexdigest())
        self.assertEqual({file["name"] for file in self.record["files"]}, set(files))
        return files

    def refused(self, *arguments, code=FAILED, **options):
        """Pulls what cannot be: says so in a line, and leaves nothing. Returns the line."""
        result = self.pull(*arguments, **options)
        self.assertEqual((result.returncode, result.stdout), (code, ""), result.stderr)
        self.assertEqual(self.models(), [])
        return result.stderr

    def models(self):
        return sorted(path.name for path in self.root.iterdir() if not path.name.startswith(".") and path.name != "home")

    def sent_bytes(self):
        with self.registry.lock:
            return sum(end - begin for path, spans in self.registry.ranges.items() for begin, end in spans if not path.startswith("/api"))

    def paths(self):
        with self.registry.lock:
            return [path for _, _, path, _, _ in self.registry.requests]


class HuggingFace(Case):
    def test_fetches_what_serving_needs(self):
        files = self.pulled("opus-mt-en-de", name="opus-mt-en-de")
        self.assertEqual(files, MODEL)
        self.assertEqual(self.record["from"], f"hf:{NAME}@{self.full}")
        self.assertEqual(self.record["licence"], "apache-2.0")
        self.assertIn(f"{NAME} is meant", self.said)
        self.assertIn(f"{self.root}/opus-mt-en-de", self.output)
        self.assertIn("en to de", self.output)
        self.assertIn("apache-2.0", self.output)
        self.assertIn(f"attentiond serve --models-directory {self.root}", self.output)
        self.assertFalse(any("tf_model" in path or "rust_model" in path for path in self.paths()))
        self.assertFalse(any("/resolve/main/" in path for path in self.paths()), "everything is of one commit")
        # A line for each file, because this is no terminal.
        for name in MODEL:
            self.assertRegex(self.said, rf"(?m)^{re.escape(name)}: [\d.]+ (?:bytes|kB|MB)$")
        self.assertNotIn("\r", self.said)

    def test_what_was_pulled_translates(self):
        self.pulled(NAME, name="opus-mt-en-de")
        result = subprocess.run([BINARY, "translate", "--model", str(self.root / "opus-mt-en-de"), "--beam-size", "1"],
                                input="Hello.\n", capture_output=True, text=True, timeout=PATIENCE_S, env=self.environment())
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertTrue(result.stdout.strip())

    def test_every_spelling_of_a_name(self):
        commit = self.registry.add_hugging_face("Org/My_Model.v2", small(), revisions=("main", "v2", "refs/pr/1"))
        for text in ["Org/My_Model.v2", "hf:Org/My_Model.v2", "Org/My_Model.v2@v2", f"Org/My_Model.v2@{commit}", "Org/My_Model.v2@refs/pr/1",
                     "https://huggingface.co/Org/My_Model.v2", f"{self.registry.api}/Org/My_Model.v2/tree/v2"]:
            with self.subTest(text):
                shutil.rmtree(self.root / "My_Model.v2", ignore_errors=True)
                self.assertEqual(self.pulled(text, name="My_Model.v2"), small())
                self.assertEqual(self.record["from"], f"hf:Org/My_Model.v2@{commit}")
                self.assertNotIn("is meant", self.said)

    def test_what_it_was_pulled_from_pulls_it_again(self):
        self.pulled(NAME, name="opus-mt-en-de")
        self.registry.forget()
        self.pulled(self.record["from"], name="opus-mt-en-de")
        self.assertIn("is there already", self.output)
        self.assertEqual(self.sent_bytes(), 0)

    def test_another_name(self):
        self.pulled(NAME, "--name", "best", name="best")
        self.assertEqual(self.models(), ["best"])

    def test_names_that_are_none(self):
        for name in [".hidden", "../up", "a/b", "-x", "a b", "x" * 64]:
            with self.subTest(name):
                self.assertIn("--name is", self.refused(NAME, f"--name={name}", code=USAGE))
        for text in ["", "no-organisation", "ORG/NAME/x", "http://x.example/", "argos:en", "https://huggingface.co/datasets/a/b"]:
            with self.subTest(text):
                self.assertIn("argos:en-fr", self.refused(text, code=USAGE))
        self.assertEqual(self.paths(), [])

    def test_shards(self):
        files = small_models.shards()
        self.registry.add_hugging_face("Org/shards", files | {"model-3.safetensors": b"3", "pytorch_model.bin": b"x"})
        self.assertEqual(self.pulled("Org/shards", name="shards"), files)

    def test_ctranslate2_and_marian(self):
        ct2 = small_models.ctranslate2() | {"LICENSE": b"MIT"}
        self.registry.add_hugging_face("Org/ct2", ct2 | {"extra.txt": b"x"})
        self.assertEqual(self.pulled("Org/ct2", name="ct2"), ct2)
        marian = small_models.marian()
        self.registry.add_hugging_face("Org/marian", marian | {"model.npz.optimizer.npz": b"x" * 5000})
        self.assertEqual(self.pulled("Org/marian", name="marian"), marian)

    def test_quickmt_and_hplt(self):
        quickmt = small_models.quickmt()
        self.registry.add_hugging_face("quickmt/quickmt-fr-en", quickmt | {"eole-config.yaml": b"x", "eole-model/model.00.safetensors": b"x"})
        self.assertEqual(self.pulled("quickmt/quickmt-fr-en", name="quickmt-fr-en"), quickmt)
        hplt = small_models.hplt()
        self.registry.add_hugging_face("HPLT/translate-en-fi-v2.0-hplt_opus", hplt | {"model.en-fi.vocab": b"x"})
        self.assertEqual(self.pulled("HPLT/translate-en-fi-v2.0-hplt_opus", name="translate-en-fi-v2.0-hplt_opus"), hplt)

    def test_a_model_of_many_languages(self):
        for name in "m2m100", "nllb":
            files = files_of(ROOT / "tests/parity/data/multilingual" / name)
            self.registry.add_hugging_face(f"facebook/{name}", files | {"tokenizer.json": b"x" * 999, "rust_model.ot": b"x" * 9999})
            self.assertEqual(self.pulled(f"facebook/{name}", name=name), files)
            result = subprocess.run([BINARY, "translate", "--model", str(self.root / name), "--source-lang", "en", "--target-lang", "fr"],
                                    input="Hello.\n", capture_output=True, text=True, timeout=PATIENCE_S, env=self.environment())
            self.assertEqual(result.returncode, OK, result.stderr)
            self.assertTrue(result.stdout.strip())

    def test_where_no_directory_is_named(self):
        environment = self.environment()
        result = self.run_verb("pull", NAME, environment=environment)
        self.assertEqual(result.returncode, OK, result.stderr)
        path = self.root / "home/.local/share/attentiond/models/opus-mt-en-de"
        self.assertTrue((path / "model.safetensors").is_file())
        self.assertIn(str(path), result.stdout)
        self.assertIn("To serve it: attentiond serve\n", result.stdout)

    def test_a_floor_of_speed(self):
        self.assertIn("--min-speed BYTES", self.run_verb("pull", "--help").stdout)
        self.assertIn("expected an integer from 0 to 1000000000", self.refused(NAME, "--min-speed", "-1", code=USAGE))
        self.pulled(NAME, "--min-speed", "0", name="opus-mt-en-de")

    def test_what_a_registry_says_is_shown_as_it_is(self):
        """Neither another line, nor another order, nor what a terminal obeys."""
        licence = "mit\u2028To serve it: rm\u202e fr-\u2066\u200f\x9b2J"
        self.registry.add_hugging_face("Org/odd-words", small(), licence=licence)
        self.registry.add_hugging_face("Helsinki-NLP/opus-mt-xx-de", small(), licence=licence + "\x1b[2J", languages=("xx", "de"))
        self.registry.add_hugging_face("Org/odd-nc", small(), licence="cc-by-nc\u202e\u2028")
        self.pulled("Org/odd-words", name="odd-words")
        texts = [self.output, self.pull("Org/odd-nc").stderr]
        for arguments in ["--remote", "xx"], ["--remote", "xx", "--json"], ["--models-directory", str(self.root)], ["--models-directory", str(self.root), "--json"]:
            result = self.run_verb("list", *arguments)
            self.assertIn("\\u2028", result.stdout, arguments)
            texts.append(result.stdout + result.stderr)
        self.assertEqual({character for text in texts for character in text if not (character.isprintable() or character == "\n")}, set())
        [offer] = json.loads(self.run_verb("list", "--remote", "xx", "--registry", "huggingface", "--json").stdout)
        self.assertEqual(offer["licence"], licence + "\x1b[2J")

    def test_quiet(self):
        self.pulled(NAME, "--quiet", name="opus-mt-en-de")
        self.assertEqual((self.output, self.said), ("", ""))
        self.pulled(NAME, "--quiet", name="opus-mt-en-de")
        self.assertEqual((self.output, self.said), ("", ""))

    def test_hostile_names_of_files_lead_nowhere(self):
        hostile = {name: b"evil" for name in ["../evil", "/etc/evil", "..\\evil", "LICENSE/../../evil", "LICENSE\n", "LICENSE.part", ".LICENSE"]}
        self.registry.add_hugging_face("Org/hostile", small() | hostile)
        self.assertEqual(self.pulled("Org/hostile", name="hostile"), small())
        self.assertEqual([path for path in self.root.rglob("*evil*")], [])


class Refusals(Case):
    def nothing_large(self):
        self.assertLess(self.sent_bytes(), 10_000)

    def test_what_is_missing(self):
        message = self.refused("Helsinki-NLP/opus-mt-en-dr")
        self.assertIn("did you mean Helsinki-NLP/opus-mt-en-de?", message)
        self.assertIn("(then set HF_TOKEN)", message)
        self.registry.token = "secret"
        self.assertIn("HF_TOKEN is not right", self.refused("Helsinki-NLP/opus-mt-en-dr", environment=self.environment(HF_TOKEN="wrong")))
        message = self.refused("Helsinki-NLP/opus-mt-en-dr", environment=self.environment(HF_TOKEN="secret"))
        self.assertIn("no such model; did you mean", message)
        self.assertIn('no revision "v9"', self.refused(f"{NAME}@v9"))

    def test_gated(self):
        self.registry.add_hugging_face("Org/gated", small(), gated="manual")
        message = self.refused("Org/gated")
        self.assertIn(f"{self.registry.api}/Org/gated", message)
        self.assertIn("HF_TOKEN", message)
        self.registry.token = "secret"
        message = self.refused("Org/gated", environment=self.environment(HF_TOKEN="wrong"))
        self.assertIn("is gated", message)
        self.assertNotIn("wrong", message)
        self.nothing_large()
        self.assertEqual(self.pulled("Org/gated", name="gated", environment=self.environment(HF_TOKEN="secret")), small())
        with self.registry.lock:
            elsewhere = [headers for role, _, _, headers, _ in self.registry.requests if role != "api"]
        self.assertTrue(elsewhere)
        self.assertFalse(any("Authorization" in headers for headers in elsewhere), "the token stays at its host")

    def test_another_kind_of_model(self):
        self.registry.add_hugging_face("Org/bert", small(**{"config.json": b'{"model_type": "bert"}'}))
        message = self.refused("Org/bert")
        self.assertIn('of the kind "bert"', message)
        self.assertIn("attentiond serves MarianMT", message)
        self.nothing_large()
        self.assertFalse((self.root / ".pulling/bert").exists())

    def test_weights_that_nobody_reads(self):
        self.registry.add_hugging_face("Org/tf", small(**{"model.safetensors": None, "tf_model.h5": b"x" * 99_999}))
        self.assertIn("TensorFlow (tf_model.h5)", self.refused("Org/tf"))
        self.registry.add_hugging_face("Org/gguf", {"q4.gguf": b"x" * 99_999})
        self.assertIn("llama.cpp (q4.gguf)", self.refused("Org/gguf"))
        self.nothing_large()

    def test_documents_that_make_no_sense(self):
        for more in [{"sha": "main"}, {"siblings": {}}, {"siblings": [{"rfilename": "config.json", "size": -1}]},
                     {"siblings": [{"rfilename": "config.json", "size": 2**63}]}, {"disabled": True}]:
            with self.subTest(more):
                self.registry.add_hugging_face("Org/odd", small(), **more)
                self.assertIn("Org/odd", self.refused("Org/odd"))
        self.registry.fault("/api/models/", body=b"<html>", status=200)
        self.refused(NAME)

    def test_a_licence_must_be_accepted(self):
        self.registry.add_hugging_face("Org/nc", small(), licence="cc-by-nc-4.0")
        message = self.refused("Org/nc")
        self.assertIn("cc-by-nc-4.0, which forbids commercial use", message)
        self.assertIn("--accept-licence", message)
        self.assertIn(f"{self.registry.api}/Org/nc", message)
        self.nothing_large()
        self.pulled("Org/nc", "--accept-licence", name="nc")
        self.assertEqual(self.record["licence"], "cc-by-nc-4.0")

    def test_what_lies_there_and_was_not_pulled(self):
        (self.root / "opus-mt-en-de").mkdir()
        (self.root / "opus-mt-en-de/mine").write_text("mine")
        result = self.pull(NAME)
        self.assertNotEqual(result.returncode, OK)
        self.assertEqual((self.root / "opus-mt-en-de/mine").read_text(), "mine")

    def test_nobody_answers(self):
        message = self.refused(NAME, environment=self.environment(HF_ENDPOINT="https://127.0.0.1:1"))
        self.assertIn("127.0.0.1", message)


class Others(Case):
    def test_argos(self):
        older, newer = small_models.argos(b"older"), small_models.argos(b"newer")
        self.registry.add_argos("en", "xx", older, version="1.8")
        self.registry.add_argos("en", "xx", newer, version="1.10")
        result = self.pull("argos:en-xx")
        self.assertEqual(result.returncode, OK, result.stderr)
        path = self.root / "translate-en_xx-1_10.argosmodel"
        self.assertEqual(path.read_bytes(), newer)
        record = json.loads(path.with_name(path.name + ".pull.json").read_text())
        self.assertEqual((record["from"], record["files"][0]["name"]), ("argos:en-xx@1.10", path.name))
        self.assertIn("en to xx", result.stdout)
        self.assertIn("is there already", self.pull("argos:en_xx@1.10").stdout)
        self.assertIn("is there already", self.pull("argos:en-xx").stdout)
        self.assertEqual(self.pull("argos:en-xx@1.8", "--name", "older").returncode, OK)
        self.assertEqual((self.root / "older.argosmodel").read_bytes(), older)
        self.assertIn("attentiond list --remote xx", self.pull("argos:xx-en").stderr)

    def test_firefox(self):
        files = small_models.firefox("enyy")
        self.registry.add_firefox("en", "yy", {name: b"old" + content for name, content in files.items()}, version="1.0")
        self.registry.add_firefox("en", "yy", files, version="2.1")
        self.assertEqual(self.pulled("firefox:en-yy", name="firefox-en-yy"), files)
        self.assertEqual((self.record["from"], self.record["licence"]), ("firefox:en-yy@2.1", "mpl-2.0"))
        self.assertIn("To serve it: attentiond serve", self.output)
        self.assertIn("Mozilla has no model yy-en", self.pull("firefox:yy-en").stderr)

    def test_address_of_a_package(self):
        package = small_models.argos()
        url = self.registry.add_directory("packages", {"translate-en_zz-1_0.argosmodel": package})
        result = self.pull(url + "translate-en_zz-1_0.argosmodel")
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertEqual((self.root / "translate-en_zz-1_0.argosmodel").read_bytes(), package)

    def test_address_of_a_directory(self):
        url = self.registry.add_directory("a%20model.en-de", small() | {"unknown.bin": b"x"})
        url = self.registry.add_directory("model.en-de", small() | {"unknown.bin": b"x"})
        self.assertEqual(self.pulled(url.rstrip("/"), name="model.en-de"), small())
        self.assertEqual((self.record["from"], self.record["licence"]), (url, "mit"))
        shards = small_models.shards(names=("one.safetensors", "two.safetensors"))
        self.assertEqual(self.pulled(self.registry.add_directory("shards", shards), name="shards"), shards)
        self.assertIn("there is no model there", self.pull(f"{self.registry.content}/files/nothing/").stderr)

    def test_licence_of_a_card(self):
        """Where no registry names it."""
        url = self.registry.add_directory("card", small(**{"README.md": b"---\nlicense: cc-by-nc-4.0\n---\n"}))
        self.assertIn("cc-by-nc-4.0, which forbids commercial use", self.refused(url))
        self.assertLess(self.sent_bytes(), 10_000)
        self.pulled(url, "--accept-licence", name="card")
        self.assertEqual(self.record["licence"], "cc-by-nc-4.0")
        self.assertIn("licence cc-by-nc-4.0", self.output)
        self.assertEqual(self.said.count("README.md"), 1)

    def test_server_that_hides_what_is_missing(self):
        url = self.registry.add_directory("hidden", small())
        self.registry.fault(r"/files/hidden/(?!config.json|vocab.json|source.spm|target.spm|model.safetensors$|README.md)", status=403)
        self.assertEqual(self.pulled(url, name="hidden"), small())
        self.registry.fault(r"/files/shut/", status=403)
        self.assertIn("shows nothing there", self.pull(f"{self.registry.content}/files/shut/").stderr)


class Again(Case):
    def test_what_is_there_is_not_fetched(self):
        self.pulled(NAME, name="opus-mt-en-de")
        before = (self.root / "opus-mt-en-de").stat()
        self.registry.forget()
        self.pulled(NAME, name="opus-mt-en-de")
        self.assertIn("is there already", self.output)
        self.assertEqual(self.sent_bytes(), 0)
        self.assertEqual((self.root / "opus-mt-en-de").stat().st_ino, before.st_ino)

    def test_what_the_operator_writes_is_no_damage(self):
        self.registry.add_hugging_face("Org/told", small(**{"attentiond.json": b'{"beam_size": 2}'}))
        self.pulled("Org/told", name="told")
        path = self.root / "told/attentiond.json"
        for change in lambda: path.write_text('{"aliases": ["mine"], "quality": 3}'), path.unlink:
            change()
            there = path.exists() and path.read_text()
            result = self.pull("Org/told")
            self.assertEqual(result.returncode, OK, result.stderr)
            self.assertIn("is there already", result.stdout)
            self.assertEqual(path.exists() and path.read_text(), there)

    def test_what_was_damaged_is_fetched_again(self):
        self.pulled(NAME, name="opus-mt-en-de")
        (self.root / "opus-mt-en-de/vocab.json").write_bytes(b"short")
        (self.root / "opus-mt-en-de/source.spm").unlink()
        self.registry.forget()
        self.assertEqual(self.pulled(NAME, name="opus-mt-en-de"), MODEL)
        self.assertLess(self.sent_bytes(), 2_000_000)

    def test_newer_commit_fetches_what_has_changed(self):
        self.registry.add_hugging_face("Org/moves", MODEL | {"LICENSE": b"MIT"})
        self.pulled("Org/moves", name="moves")
        old = self.record["from"]
        files = MODEL | {"README.md": b"another card\n", "attentiond.json": b"{}"}
        self.registry.add_hugging_face("Org/moves", files)
        self.registry.forget()
        self.assertEqual(self.pulled("Org/moves", name="moves"), files)
        self.assertNotEqual(self.record["from"], old)
        self.assertLess(self.sent_bytes(), 100_000)
        self.assertEqual(self.models(), ["moves"])

    def test_same_size_and_another_content(self):
        self.registry.add_hugging_face("Org/same", small())
        self.pulled("Org/same", name="same")
        files = small(**{"vocab.json": small()["vocab.json"].replace(b'"R"', b'"#"', 1)})
        self.registry.add_hugging_face("Org/same", files)
        self.assertEqual(self.pulled("Org/same", name="same"), files)

    def test_failure_leaves_the_old_one(self):
        self.registry.add_hugging_face("Org/broken", small())
        self.pulled("Org/broken", name="broken")
        self.registry.add_hugging_face("Org/broken", small(**{"model.safetensors": b"n" * 100_000}))
        self.registry.fault("/repos/", wrong=77)
        self.assertEqual(self.pull("Org/broken").returncode, FAILED)
        self.assertEqual((self.root / "broken/model.safetensors").read_bytes(), small()["model.safetensors"])

    def test_killed_anywhere_it_goes_on(self):
        """Ten times at a random moment, at any signal; no byte comes twice, but for what was on its way."""
        self.registry.fault("/repos/", rate=12_000_000)
        chance = random.Random(21)
        signals = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM]
        for i in range(10):
            process = subprocess.Popen([BINARY, "pull", "--models-directory", str(self.root), NAME], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, env=self.environment())
            time.sleep(chance.uniform(0.02, 0.35))
            number = signals[i % 3]
            process.send_signal(number)
            output, said = process.communicate(timeout=PATIENCE_S)
            if process.returncode == 128 + number:
                self.assertIn("goes on where it was", said)
                self.assertEqual(output, "")
            else:
                self.assertIn(process.returncode, (OK, -number), said)
        self.registry.mend()
        self.assertEqual(self.pulled(NAME, name="opus-mt-en-de"), MODEL)
        self.assertEqual(list((self.root / ".pulling").glob("*/*")), [])
        self.assertLess(self.sent_bytes(), sum(map(len, MODEL.values())) + 11 * BLOCK)

    def test_two_at_once(self):
        self.registry.fault("/repos/", rate=8_000_000)
        arguments = [BINARY, "pull", "--models-directory", str(self.root), NAME]
        both = [subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment()) for _ in range(2)]
        ends = [process.communicate(timeout=PATIENCE_S) for process in both]
        self.assertEqual([process.returncode for process in both], [OK, OK], ends)
        self.assertEqual(sum("is there already" in output for output, _ in ends), 1)
        self.assertEqual(sum("waiting" in said for _, said in ends), 1)
        self.assertLess(self.sent_bytes(), sum(map(len, MODEL.values())) + BLOCK)


class Checked(Case):
    """What cannot be loaded takes nobody's place, and the pull says why, as loading it does."""

    def reason(self, files):
        """Of check-config, with DIR for the path."""
        folder = self.root / "elsewhere"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        result = self.run_verb("check-config", "--model", str(folder))
        self.assertIn(result.returncode, (FAILED, USAGE), result.stderr)
        shutil.rmtree(folder)
        return result.stderr.splitlines()[-1].removeprefix("attentiond check-config: ").replace(str(folder), "DIR")

    def damages(self):
        weights = small()["model.safetensors"]
        config = json.loads(small()["config.json"])
        yield "cut", {"model.safetensors": weights[:-100]}
        yield "no number", {"model.safetensors": weights[:-8] + b"\xff" * 8}
        yield "no header", {"model.safetensors": b"\0" * 100_000}
        yield "another shape", {"config.json": json.dumps(config | {"encoder_ffn_dim": 96}).encode()}
        yield "no Transformer of ours", {"config.json": json.dumps(config | {"activation_function": "snake"}).encode()}
        yield "another vocabulary", {"vocab.json": b'{"</s>": 0, "<unk>": 1, "<pad>": 2, "x": 400}'}
        yield "no pieces", {"source.spm": b"\0" * 100}
        yield "settings that are none", {"attentiond.json": b'{"beam_sise": 3}'}
        yield "settings of another model", {"attentiond.json": b'{"alignment_layers": "7"}'}
        yield "a search that is none", {"generation_config.json": b'{"do_sample": true}'}

    def test_a_newer_commit_that_cannot_be_loaded(self):
        good = small()
        self.registry.add_hugging_face("Org/moves", good)
        self.pulled("Org/moves", name="moves")
        folder = (self.root / "moves").stat().st_ino
        for what, damage in self.damages():
            with self.subTest(what):
                self.registry.add_hugging_face("Org/moves", good | damage)
                result = self.pull("Org/moves")
                self.assertEqual((result.returncode, result.stdout), (FAILED, ""), result.stderr)
                said = result.stderr.splitlines()[-1].replace(f"{self.root}/.pulling/moves", "DIR")
                self.assertEqual(said, f"attentiond pull: moves cannot be served, and the one that is there stays: {self.reason(good | damage)}")
                self.assertEqual((self.root / "moves").stat().st_ino, folder)
                self.assertEqual({name: content for name, content in files_of(self.root / "moves").items() if name != "attentiond-pull.json"}, good)
                self.assertEqual(list((self.root / ".pulling").iterdir()), [])

    def test_a_first_pull(self):
        for what, damage in self.damages():
            with self.subTest(what):
                self.registry.add_hugging_face("Org/new", small(**damage))
                self.assertIn("new cannot be served: ", self.refused("Org/new"))
                self.assertEqual(list((self.root / ".pulling").iterdir()), [])

    def test_what_may_be_for_want_of_memory_is_kept(self):
        self.registry.add_hugging_face("Org/large", small(**{"model.safetensors": b"n" * 100_000}))
        self.assertIn("expected at most 100000000", self.refused("Org/large"))
        self.assertTrue((self.root / ".pulling/large/model.safetensors").is_file())
        self.assertEqual(self.run_verb("remove", "--models-directory", str(self.root), "large").returncode, OK)
        self.assertEqual(list((self.root / ".pulling").iterdir()), [])

    def test_of_every_family(self):
        spm = b"\0" * 100
        for name, files, damage in [
            ("shards", small_models.shards(), {"model-2.safetensors": small()["model.safetensors"]}),
            ("ct2", small_models.ctranslate2(), {"model.bin": b"w" * 999}),
            ("quickmt", small_models.quickmt(), {"joint.spm.model": spm}),
            ("marian", small_models.marian(), {"model.npz": b"w" * 999}),
            ("hplt", small_models.hplt(), {"model.en-fi.spm": spm}),
            ("m2m100", files_of(ROOT / "tests/parity/data/multilingual/m2m100"), {"vocab.json": b"{}"}),
        ]:
            with self.subTest(name):
                self.registry.add_hugging_face(f"Org/{name}", files | damage)
                self.assertIn(f"{name} cannot be served: {self.root}/.pulling/{name}", self.refused(f"Org/{name}"))
        files = small_models.firefox("enzz")
        self.registry.add_firefox("en", "zz", files | {"vocab.enzz.spm": spm})
        self.assertIn("firefox-en-zz cannot be served: ", self.refused("firefox:en-zz"))

    def test_a_package(self):
        sound, url = small_models.argos(), self.registry.add_directory("p", {"x-en_de.argosmodel": small_models.argos()})
        self.assertEqual(self.pull(url + "x-en_de.argosmodel").returncode, OK)
        for what, package in ("no archive", b"x" * 999), ("cut", sound[:-500]), ("other bytes", sound.replace(b"\xbc", b"\xff")):
            with self.subTest(what):
                self.registry.add_directory("p", {"x-en_de.argosmodel": package})
                result = self.pull(url + "x-en_de.argosmodel")
                self.assertEqual((result.returncode, result.stdout), (FAILED, ""), result.stderr)
                self.assertIn("x-en_de.argosmodel cannot be served, and the one that is there stays: ", result.stderr)
                self.assertEqual((self.root / "x-en_de.argosmodel").read_bytes(), sound)
                self.assertEqual(self.models(), ["x-en_de.argosmodel", "x-en_de.argosmodel.pull.json"])

    def test_what_needs_another_precision_says_so(self):
        config = json.loads(small()["config.json"])
        odd = small_models.marian_mt(**{"config.json": json.dumps(config | {"d_model": 24, "encoder_attention_heads": 3, "decoder_attention_heads": 3}).encode(),
                                        "model.safetensors": small_models.safetensors(small_models.tensors(24))})
        self.registry.add_hugging_face("Org/odd", odd)
        self.assertIn("(use fp32)", self.refused("Org/odd"))
        self.assertEqual(self.pulled("Org/odd", name="odd", environment=self.environment(ATTENTIOND_PRECISION="fp32")), odd)


class Terminal(Case):
    def on_terminal(self, *arguments, answer=b""):
        """(exit code, what the terminal showed)."""
        process_id, terminal = pty.fork()
        if process_id == 0:
            os.execve(BINARY, [BINARY, "pull", "--models-directory", str(self.root), *arguments], self.environment(TERM="dumb"))
        shown, asked = b"", False
        with contextlib.suppress(OSError):
            while select.select([terminal], [], [], PATIENCE_S)[0]:
                shown += os.read(terminal, 4096)
                if b"[y/N]" in shown and not asked:
                    asked = True
                    os.write(terminal, answer)
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(process_id, 0)[1]), shown.decode()

    def test_bar(self):
        self.registry.fault("/repos/.*model.safetensors", rate=6_000_000)
        code, shown = self.on_terminal(NAME)
        self.assertEqual(code, OK, shown)
        self.assertRegex(shown, r"\[#+\.+\] +\d+ %, [\d.]+(?: MB)? of 17\.\d MB, [\d.]+ MB/s, \d+ s")
        self.assertNotRegex(shown, r"model\.safetensors: 16")
        for line in re.split(r"[\r\n]+", shown):
            if line.startswith("["):
                self.assertLessEqual(len(line), 79)

    def test_licence_is_asked_for(self):
        self.registry.add_hugging_face("Org/nc", small(), licence="cc-by-nc-sa-4.0")
        for answer, is_pulled in [(b"n\n", False), (b"\n", False), (b"\x04", False), (b"yes\n", True)]:
            with self.subTest(answer):
                code, shown = self.on_terminal("Org/nc", answer=answer)
                self.assertIn("cc-by-nc-sa-4.0, which forbids commercial use", shown)
                self.assertEqual(code, OK if is_pulled else FAILED, shown)
                self.assertEqual(self.models(), ["nc"] if is_pulled else [])

    def test_quiet_shows_nothing(self):
        self.registry.fault("/repos/.*model.safetensors", rate=9_000_000)
        self.assertEqual(self.on_terminal(NAME, "--quiet"), (OK, ""))


class Remote(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for pair in ["en-fr", "tc-big-en-ar", "fr-en"]:
            cls.registry.add_hugging_face(f"Helsinki-NLP/opus-mt-{pair}", small(), licence="cc-by-4.0")
        cls.registry.add_argos("en", "fr", b"x", version="1.9")
        cls.registry.add_argos("fr", "en", b"x")
        cls.registry.add_firefox("en", "fr", {"model.enfr.intgemm.alphas.bin": b"x"}, version="2.0")
        cls.registry.add_firefox("en", "is", {"model.enis.intgemm.alphas.bin": b"x"}, version="2.0a1")

    def list(self, *arguments):
        return self.run_verb("list", *arguments)

    def test_all_registries(self):
        result = self.list("--remote", "en", "--json")
        self.assertEqual(result.returncode, OK, result.stderr)
        offers = json.loads(result.stdout)
        self.assertEqual([offer["pull"] for offer in offers],
                         ["Helsinki-NLP/opus-mt-en-de", "Helsinki-NLP/opus-mt-en-fr", "Helsinki-NLP/opus-mt-tc-big-en-ar", "argos:en-fr", "firefox:en-fr"])
        self.assertEqual(offers[1], {"pull": "Helsinki-NLP/opus-mt-en-fr", "registry": "huggingface", "source": "en", "target": "fr", "version": None,
                                     "licence": "cc-by-4.0"})
        self.assertEqual([offer["version"] for offer in offers[3:]], ["1.9", "2.0"])
        table = self.list("--remote", "en").stdout
        self.assertEqual([line for line in table.splitlines() if line and not line.startswith(" ")], ["Hugging Face", "Argos Translate", "Firefox"])
        for offer in offers:
            self.assertIn(f"  {offer['pull']} ", table)

    def test_one_registry(self):
        self.assertEqual([offer["pull"] for offer in json.loads(self.list("--remote=en", "--registry=argos", "--json").stdout)], ["argos:en-fr"])
        self.assertTrue(all("argospm" in path for path in self.paths()))
        self.assertIn("did you mean argos?", self.list("--remote=en", "--registry=argo").stderr)

    def test_every_page(self):
        """The registry gives two models a page, and where the next is in Link."""
        self.registry.fault("/api/models", redirect=f"{self.registry.api}/api/models?author=Helsinki-NLP&search=opus-mt&limit=2", times=1)
        offers = json.loads(self.list("--remote=en", "--registry=huggingface", "--json").stdout)
        self.assertEqual(len(offers), 3)
        self.assertGreaterEqual(sum("cursor=" in path for path in self.paths()), 1)

    def test_a_registry_that_fails_hides_no_other(self):
        self.registry.fault("index.json", status=404)
        result = self.list("--remote", "en", "--json")
        self.assertEqual(result.returncode, FAILED)
        self.assertIn("index.json", result.stderr)
        self.assertEqual({offer["registry"] for offer in json.loads(result.stdout)}, {"huggingface", "firefox"})

    def test_nothing(self):
        result = self.list("--remote", "tlh")
        self.assertEqual((result.returncode, result.stdout), (OK, ""))
        self.assertIn('nothing to pull that translates from "tlh"', result.stderr)
        self.assertEqual(self.list("--remote", "tlh", "--json").stdout, "[]\n")
        self.assertEqual([self.list("--remote").returncode, self.list("--remote=").returncode], [USAGE, USAGE])


class Program(Case):
    def test_the_daemon_is_not_linked_with_it(self):
        for program, expected in [(BINARY, False), (pathlib.Path(BINARY).parent / "attentiond-pull", True)]:
            linked = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
            self.assertEqual("libcurl" in linked, expected, linked)

    def test_help(self):
        result = self.run_verb("pull", "--help")
        self.assertEqual(result.returncode, OK)
        self.assertIn("Usage: attentiond pull MODEL", result.stdout)
        self.assertEqual(self.run_verb("pull").returncode, USAGE)
        self.assertIn("did you mean --quiet?", self.run_verb("pull", "--quite", NAME).stderr)

    def test_program_that_is_missing(self):
        folder = self.root / "bin"
        folder.mkdir()
        shutil.copy(BINARY, folder / "attentiond")
        result = subprocess.run([folder / "attentiond", "pull", NAME], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(result.returncode, FAILED)
        self.assertIn(str(folder / "attentiond-pull"), result.stderr)
        self.assertIn("libexec/attentiond/attentiond-pull", result.stderr)

    def test_stands_alone_for_nobody(self):
        result = subprocess.run([pathlib.Path(BINARY).parent / "attentiond-pull"], capture_output=True, text=True)
        self.assertEqual(result.returncode, USAGE)
        self.assertIn("attentiond pull --help", result.stderr)


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # of the registry's connections
