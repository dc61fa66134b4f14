"""Models that lie on this machine: pulled ones, Hugging Face's cache, LibreTranslate's packages, the bundled one; and the daemon that serves
them without being told, notices those that come and go, and connects to nobody."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

from model_fixtures import exchange, make_model
from serve import BINARY, FLAGS, MODEL, ROOT, SLOWNESS, Daemon, run, wait_until
from test_reload import reload

sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "pull")]

import export_ctranslate2 as exporter  # noqa: E402 pylint: disable=wrong-import-position
from registry import Registry, files_of  # noqa: E402 pylint: disable=wrong-import-position

ENGLISH, GERMAN = "Where is the train station?", "Wo ist der Bahnhof?"
# Long enough for models of different seeds to differ.
LONG = "The old woman who lives beside the river has never seen the mountains, and does not miss them."
COMMITS = [digit * 40 for digit in "0123456789abcdef"]


def answer(daemon, text=ENGLISH, **fields):
    return daemon.translate(text, **fields).json.get("translatedText")


def names(daemon):
    return [model["id"] for model in daemon.get("/models").json["models"]]


class Store(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="attentiond-store-"))
        self.addCleanup(shutil.rmtree, self.home)
        self.models = self.home / ".local/share/attentiond/models"
        self.environment = {name: "" for name in os.environ if name.startswith(("XDG_", "HF_", "HUGGINGFACE_", "ARGOS_"))}
        self.environment["HOME"] = str(self.home)

    def start(self, *flags, model=None, **options):
        return Daemon("--models-watch-ms", "50", *flags, model=model, environment=self.environment, **options)

    def run_program(self, *arguments, text="", program=BINARY):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}
        return subprocess.run([program, *arguments], input=text, capture_output=True, text=True, timeout=60 * SLOWNESS,
                              env=environment | self.environment, check=False)

    def translation(self, *flags):
        """Of attentiond translate, with what it said."""
        result = self.run_program("translate", *flags, text=ENGLISH + "\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout, result.stderr

    def record(self, directory, origin, licence="apache-2.0"):
        files = [{"name": path.name, "size": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
                 for path in sorted(directory.iterdir())]
        record = {"from": origin, "licence": licence, "pulled": "2026-11-23T10:00:00Z", "files": files}
        (directory / "attentiond-pull.json").write_text(json.dumps(record))

    def stage(self, name, *arguments, origin="hf:Helsinki-NLP/opus-mt-en-de@" + COMMITS[0], **settings):
        """A model that is pulled, but for the last step."""
        directory = make_model(self.models / ".pulling" / name, *arguments, **settings)
        self.record(directory, origin)
        return directory

    def pull(self, name, *arguments, **settings):
        os.rename(self.stage(name, *arguments, **settings), self.models / name)

    def pull_again(self, name, *arguments, **settings):
        """Replaces one, as attentiond pull does it."""
        fresh = self.stage(name, *arguments, **settings)
        exchange(fresh, self.models / name)
        shutil.rmtree(fresh)

    def cache(self, repository, *arguments, commit=COMMITS[0], **settings):
        """A model in Hugging Face's cache, as transformers leaves it."""
        folder = self.home / ".cache/huggingface/hub" / ("models--" + repository.replace("/", "--"))
        snapshot = folder / "snapshots" / commit
        plain = make_model(self.home / "plain", *arguments, **settings)
        (folder / "blobs").mkdir(parents=True, exist_ok=True)
        snapshot.mkdir(parents=True)
        for path in plain.iterdir():
            blob = folder / "blobs" / hashlib.sha256(path.read_bytes()).hexdigest()
            path.replace(blob)
            (snapshot / path.name).symlink_to(pathlib.Path("../../blobs") / blob.name)
        plain.rmdir()
        (folder / "refs").mkdir(exist_ok=True)
        (folder / "refs/main").write_text(commit)
        return snapshot

    def install(self):
        """The program and the bundled model, as meson install puts them."""
        program = self.home / "prefix/bin/attentiond"
        program.parent.mkdir(parents=True)
        shutil.copy(BINARY, program)
        shutil.copytree(MODEL, self.home / "prefix/share/attentiond/en-de")
        return program


class Serving(Store):
    def test_what_was_pulled_is_served(self):
        self.pull("opus-mt-en-de")
        self.stage("half")
        with self.start() as daemon:
            self.assertEqual(names(daemon), ["opus-mt-en-de"])
            self.assertEqual(answer(daemon), GERMAN)
            model = daemon.get("/models/opus-mt-en-de").json
            self.assertEqual((model["licence"], model["from"], model["default"]),
                             ("apache-2.0", "hf:Helsinki-NLP/opus-mt-en-de@" + COMMITS[0], True))

    def test_nothing_there_is_an_error_that_helps(self):
        for verb in ("serve", "translate", "inspect", "bench"):
            result = run(verb, environment=self.environment)
            self.assertEqual(result.returncode, 2, verb)
            self.assertIn("no model: give --model DIR, or fetch one first: attentiond pull opus-mt-en-fr", result.stderr)
            self.assertIn(str(self.models), result.stderr)
        self.assertFalse(self.models.exists(), "nothing is made in vain")
        self.cache("Helsinki-NLP/opus-mt-en-de")
        self.assertIn("give --model NAME (Hugging Face's cache has Helsinki-NLP/opus-mt-en-de)",
                      run("serve", environment=self.environment).stderr)

    def test_a_running_daemon_notices_what_is_pulled_replaced_and_removed(self):
        packages = self.home / "packages"
        exporter.write_argos(MODEL, packages / "translate-en_de-1_0", "int8", 5, ("en", "de"))
        self.environment["ARGOS_PACKAGES_DIR"] = str(packages)
        self.assertFalse(self.models.exists())
        with self.start() as daemon:
            self.assertEqual(names(daemon), ["translate-en_de-1_0"])
            self.assertEqual(answer(daemon), GERMAN)
            self.pull("opus-mt-de-fr", "de", "fr", seed=1)
            wait_until(lambda: names(daemon) == ["opus-mt-de-fr", "translate-en_de-1_0"], 20 * SLOWNESS, "the new model")
            first = answer(daemon, GERMAN, source="de", target="fr")
            self.assertTrue(first)
            self.pull_again("opus-mt-de-fr", "de", "fr", seed=2, origin="hf:Helsinki-NLP/opus-mt-de-fr@" + COMMITS[1])
            wait_until(lambda: answer(daemon, GERMAN, source="de", target="fr") != first, 20 * SLOWNESS, "the other one")
            self.assertEqual(daemon.get("/models/opus-mt-de-fr").json["from"], "hf:Helsinki-NLP/opus-mt-de-fr@" + COMMITS[1])
            result = self.run_program("remove", "opus-mt-de-fr", "--yes")
            self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
            wait_until(lambda: names(daemon) == ["translate-en_de-1_0"], 20 * SLOWNESS, "the removal")
            self.assertEqual(daemon.translate(ENGLISH, source="de", target="fr").status, 400)
            self.assertEqual(answer(daemon), GERMAN)
        self.assertEqual(os.listdir(self.models), [".pulling"])
        self.assertNotIn("reload failed", daemon.log)

    def test_the_last_model_can_go_and_another_come(self):
        self.pull("a")
        with self.start() as daemon:
            self.assertEqual(answer(daemon), GERMAN)
            self.assertEqual(self.run_program("remove", "a", "--yes").returncode, 0)
            wait_until(lambda: names(daemon) == [], 20 * SLOWNESS, "nothing")
            self.pull("b")
            wait_until(lambda: names(daemon) == ["b"], 20 * SLOWNESS, "the other one")
            self.assertEqual(answer(daemon), GERMAN)

    def test_pulled_models_come_before_the_bundled_one(self):
        program = self.install()
        self.assertEqual(self.run_program("translate", text=ENGLISH, program=program).stdout.strip(), GERMAN)
        listed = json.loads(self.run_program("list", "--json", program=program).stdout)["models"]
        self.assertEqual([(model["name"], model["place"]) for model in listed], [("en-de", "bundled")])
        self.pull("opus-mt-en-de", seed=1)
        self.pull("opus-mt-de-fr", "de", "fr", seed=2)
        said, chosen = self.translation()
        self.assertIn("attentiond translate: with opus-mt-de-fr; --model NAME takes another", chosen)
        result = self.run_program("check-config", program=program)
        settings = json.loads(result.stdout)
        self.assertEqual(settings["models_directory"], f"{self.models}:{self.home}/prefix/share/attentiond")
        self.assertEqual(re.findall(r"is called (\S+),", result.stderr), ["opus-mt-de-fr", "opus-mt-en-de", "en-de"])
        self.assertEqual(self.run_program("translate", text=ENGLISH + "\n", program=program).stdout, said)

    def test_several_directories_are_one_catalog(self):
        make_model(self.home / "one/b", "en", "de")
        make_model(self.home / "two/a", "de", "fr", seed=1)
        with self.start("--models-directory", f"{self.home}/one:{self.home}/two") as daemon:
            self.assertEqual(names(daemon), ["b", "a"])
            self.assertEqual([model["default"] for model in daemon.get("/models").json["models"]], [True, False])
            make_model(self.home / "two/c", "de", "es", seed=2)
            make_model(self.home / "one/d", "de", "it", seed=3)
            wait_until(lambda: names(daemon) == ["b", "d", "a", "c"], 20 * SLOWNESS, "those of both")
            shutil.rmtree(self.home / "two/a")
            wait_until(lambda: names(daemon) == ["b", "d", "c"], 20 * SLOWNESS, "the removal")

    def test_a_model_of_one_file_is_known_by_what_lies_beside_it(self):
        package = self.home / "translate-en_de-1_0"
        exporter.write_argos(MODEL, package, "int8", 5, ("en", "de"))
        self.models.mkdir(parents=True)
        archive = self.models / "argos-en-de.argosmodel"
        shutil.make_archive(str(self.home / "package"), "zip", self.home, package.name)
        (self.home / "package.zip").rename(archive)
        (self.models / "argos-en-de.argosmodel.pull.json").write_text(json.dumps({"from": "argos:en-de@1.0", "licence": "mit"}))
        with self.start() as daemon:
            self.assertEqual(names(daemon), ["argos-en-de.argosmodel"])
            model = daemon.get("/models/argos-en-de.argosmodel").json
            self.assertEqual((model["from"], model["licence"]), ("argos:en-de@1.0", "mit"))
            self.assertEqual(answer(daemon), GERMAN)
        self.assertEqual(self.translation("--model", "argos:en-de"), (GERMAN + "\n", ""))
        self.assertEqual(self.run_program("remove", "argos-en-de", "--yes").returncode, 0)
        self.assertEqual(os.listdir(self.models), [])


class Pulling(Store):
    """The whole way, with the registry of tests/pull."""

    def test_a_model_is_pulled_served_and_removed(self):
        registry = self.enterContext(Registry())
        registry.add_hugging_face("Helsinki-NLP/opus-mt-en-de", files_of(pathlib.Path(MODEL)))
        registry.add_hugging_face("Helsinki-NLP/opus-mt-de-fr", files_of(make_model(self.home / "de-fr", "de", "fr", seed=1)))
        self.environment |= registry.environment()
        pulled = self.run_program("pull", "opus-mt-en-de")
        self.assertEqual(pulled.returncode, 0, pulled.stderr)
        with self.start() as daemon:
            self.assertEqual(names(daemon), ["opus-mt-en-de"])
            self.assertEqual(answer(daemon), GERMAN)
            self.assertRegex(daemon.get("/models/opus-mt-en-de").json["from"], "^hf:Helsinki-NLP/opus-mt-en-de@[0-9a-f]{40}$")
            self.assertEqual(self.run_program("pull", "Helsinki-NLP/opus-mt-de-fr").returncode, 0)
            wait_until(lambda: names(daemon) == ["opus-mt-de-fr", "opus-mt-en-de"], 20 * SLOWNESS, "the new model")
            self.assertEqual(daemon.translate(ENGLISH, target="fr").json["models"], ["opus-mt-en-de", "opus-mt-de-fr"])
            self.assertEqual(self.run_program("remove", "opus-mt-de-fr", "--yes").returncode, 0)
            wait_until(lambda: names(daemon) == ["opus-mt-en-de"], 20 * SLOWNESS, "the removal")


    def test_what_a_repository_says_of_itself_takes_nothing_over(self):
        """A French model that wants to be the one for German: aliases, quality and preloading are the operator's."""
        registry = self.enterContext(Registry())
        hostile = {"source_lang": "en", "target_lang": ["de"], "quality": 100, "preload": True, "aliases": ["english-german"], "max_decoding_length": 8}
        registry.add_hugging_face("Evil/opus-mt-fr", files_of(make_model(self.home / "fr", "en", "fr", seed=1, **hostile)))
        self.environment |= registry.environment()
        self.pull("good-en-de")
        (self.models / "good-en-de/attentiond.json").write_text('{"aliases": ["mine"]}')
        self.assertEqual(self.run_program("pull", "Evil/opus-mt-fr").returncode, 0)
        with self.start() as daemon:
            self.assertEqual(answer(daemon), GERMAN)
            self.assertEqual({model["id"]: (model["state"], model["aliases"]) for model in daemon.get("/models").json["models"]},
                             {"good-en-de": ("ready", ["mine"]), "opus-mt-fr": ("cold", [])})
            self.assertEqual(daemon.translate(ENGLISH, model="english-german").status, 404)
            self.assertIn("opus-mt-fr/attentiond.json came with the model, whose author does not decide about aliases, preload, quality", daemon.log)
            evil = daemon.get("/models/opus-mt-fr").json
            self.assertEqual((evil["targets"], evil["defaults"]), (["de"], {"max_decoding_length": 8, "quality": 0}))
            good = answer(daemon, LONG)
            self.assertNotEqual(answer(daemon, LONG, model="opus-mt-fr"), good)
            # The operator may want just that.
            (self.models / "opus-mt-fr/attentiond.json").write_text(json.dumps(hostile | {"//": "tried on Monday"}))
            wait_until(lambda: answer(daemon, LONG) != good, 20 * SLOWNESS, "the other one")
            self.assertEqual(daemon.get("/models/english-german").json["id"], "opus-mt-fr")

    def test_a_newer_commit_that_is_damaged_leaves_the_served_one(self):
        registry = self.enterContext(Registry())
        files = files_of(pathlib.Path(MODEL))
        registry.add_hugging_face("Helsinki-NLP/opus-mt-en-de", files)
        self.environment |= registry.environment()
        self.assertEqual(self.run_program("pull", "opus-mt-en-de").returncode, 0)
        with self.start() as daemon:
            self.assertEqual(answer(daemon), GERMAN)
            origin = daemon.get("/models/opus-mt-en-de").json["from"]
            weights = files["model.safetensors"]
            registry.add_hugging_face("Helsinki-NLP/opus-mt-en-de", files | {"model.safetensors": weights[:-8] + b"\xff" * 8})
            pulling = threading.Thread(target=lambda: results.append(self.run_program("pull", "opus-mt-en-de")))
            results, during = [], []
            pulling.start()
            while pulling.is_alive():
                during.append(answer(daemon))
            pulling.join()
            self.assertEqual((results[0].returncode, results[0].stdout), (1, ""), results[0].stderr)
            self.assertIn("opus-mt-en-de cannot be served, and the one that is there stays: ", results[0].stderr)
            self.assertIn("expected numbers, found -nan", results[0].stderr)
            self.assertEqual({answer(daemon), *during}, {GERMAN})
            self.assertEqual(daemon.get("/models/opus-mt-en-de").json["from"], origin)
            self.assertNotIn("has changed: reloading", daemon.log)


class HuggingFace(Store):
    def test_a_repository_is_served_from_the_cache(self):
        snapshot = self.cache("Helsinki-NLP/opus-mt-en-de")
        cache = self.home / "packed"
        for name in ("Helsinki-NLP/opus-mt-en-de", "opus-mt-en-de", "hf:Helsinki-NLP/opus-mt-en-de@main"):
            with self.start("--cache-dir", str(cache), model=name) as daemon:
                self.assertEqual(names(daemon), ["opus-mt-en-de"])
                model = daemon.get("/models/opus-mt-en-de").json
                self.assertEqual((model["from"], model["licence"], model["sources"], model["targets"]),
                                 ("hf:Helsinki-NLP/opus-mt-en-de@" + COMMITS[0], "cc-by-4.0", ["en"], ["de"]))
                self.assertEqual(answer(daemon), GERMAN)
        if "fp32" not in FLAGS:
            (packed,) = cache.iterdir()
            self.assertIn(snapshot.name, packed.name)

    def test_another_commit_is_served_after_a_reload(self):
        self.cache("Helsinki-NLP/opus-mt-en-de")
        with self.start(model="Helsinki-NLP/opus-mt-en-de") as daemon:
            before = answer(daemon, LONG)
            self.cache("Helsinki-NLP/opus-mt-en-de", commit=COMMITS[1], seed=1)
            reload(daemon)
            self.assertTrue(daemon.get("/models/opus-mt-en-de").json["from"].endswith(COMMITS[1]))
            self.assertNotEqual(answer(daemon, LONG), before)

    def test_a_blob_that_is_cut_is_noticed_through_its_link(self):
        snapshot = self.cache("Helsinki-NLP/opus-mt-en-de")
        with self.start("--precision", "fp32", model="Helsinki-NLP/opus-mt-en-de") as daemon:
            self.assertEqual(daemon.translate(ENGLISH).status, 200)
            os.truncate((snapshot / "model.safetensors").resolve(), 4096)
            wait_until(lambda: daemon.translate(ENGLISH).status == 503, 20 * SLOWNESS, "the damage")

    def test_every_verb_takes_its_name(self):
        self.cache("Helsinki-NLP/opus-mt-en-de")
        self.assertEqual(self.translation("--model", "opus-mt-en-de"), (GERMAN + "\n", ""))
        inspected = self.run_program("inspect", "--model", "opus-mt-en-de", "--format", "json", ENGLISH)
        self.assertEqual((inspected.returncode, json.loads(inspected.stdout)["model"]["id"]), (0, "opus-mt-en-de"))
        imported = self.run_program("import", "opus-mt-en-de", str(self.home / "imported"))
        self.assertEqual(imported.returncode, 0, imported.stderr)
        self.assertEqual(self.translation("--model", str(self.home / "imported")), (GERMAN + "\n", ""))
        checked = self.run_program("check-config", "--model", "Helsinki-NLP/opus-mt-en-de")
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn("good, ", checked.stderr)

    def test_a_link_in_a_models_directory_leads_to_the_cache(self):
        snapshot = self.cache("Helsinki-NLP/opus-mt-en-de")
        self.models.mkdir(parents=True)
        (self.models / "mine").symlink_to(snapshot)
        with self.start() as daemon:
            self.assertEqual(answer(daemon), GERMAN)

    def test_a_cache_elsewhere_is_found(self):
        self.cache("Helsinki-NLP/opus-mt-en-de")
        (self.home / ".cache/huggingface/hub").rename(self.home / "hub")
        self.assertEqual(self.run_program("list", "--path", "opus-mt-en-de").returncode, 1)
        for variable, value in (("HF_HUB_CACHE", "hub"), ("HF_HOME", ".")):
            self.environment[variable] = str(self.home / value)
            self.assertEqual(self.translation("--model", "opus-mt-en-de"), (GERMAN + "\n", ""), variable)
            del self.environment[variable]


class Listing(Store):
    def listed(self):
        result = self.run_program("list", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return {model["name"]: model for model in json.loads(result.stdout)["models"]}

    def test_has_what_there_is(self):
        self.pull("opus-mt-en-de")
        self.cache("Helsinki-NLP/opus-mt-de-fr", "de", "fr")
        other = self.home / ".cache/huggingface/hub/models--google--bert/snapshots" / COMMITS[0]
        other.mkdir(parents=True)
        (other / "config.json").write_text('{"model_type": "bert"}')
        (other / "model.safetensors").write_bytes(b"")
        packages = self.home / ".local/share/argos-translate/packages"
        exporter.write_argos(MODEL, packages / "translate-en_de-1_0", "int8", 5, ("en", "de"))
        (self.models / "broken").mkdir()
        (self.models / "broken/config.json").write_text("{")
        listed = self.listed()
        self.assertEqual({name: model["place"] for name, model in listed.items()},
                         {"broken": "models", "opus-mt-en-de": "models", "translate-en_de-1_0": "argos",
                          "Helsinki-NLP/opus-mt-de-fr": "huggingface"})
        pulled = listed["opus-mt-en-de"]
        self.assertEqual((pulled["sources"], pulled["targets"], pulled["licence"], pulled["from"], pulled["packed"]),
                         (["en"], ["de"], "apache-2.0", "hf:Helsinki-NLP/opus-mt-en-de@" + COMMITS[0], False))
        self.assertEqual(pulled["size_bytes"], sum(path.stat().st_size for path in (self.models / "opus-mt-en-de").iterdir()))
        self.assertIn("expected weights", listed["broken"]["reason"])
        for model in listed.values():
            self.assertEqual(self.run_program("list", "--path", model["name"]).stdout.strip(), model["path"])
        table = self.run_program("list")
        lines = table.stdout.splitlines()
        self.assertEqual(lines[0].split(), ["NAME", "LANGUAGES", "SIZE", "LICENCE", "PACKED", "FROM"])
        self.assertEqual(len(lines), 5)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertRegex(table.stderr, "^broken is unusable: ")

    def test_says_what_is_packed(self):
        self.pull("opus-mt-en-de")
        self.translation("--precision", "int8")
        self.assertTrue(self.listed()["opus-mt-en-de"]["packed"])
        cache = self.home / ".cache/attentiond"
        self.assertEqual(len(list(cache.iterdir())), 1)
        self.assertEqual(self.run_program("remove", "opus-mt-en-de", "--yes").returncode, 0)
        self.assertEqual(list(cache.iterdir()), [], "its packed form goes with it")

    def test_remote_ones_are_the_business_of_the_program_that_pulls(self):
        self.environment["HF_ENDPOINT"] = "http://127.0.0.1:9"  # where nobody is
        result = self.run_program("list", "--remote", "en", "--registry", "huggingface")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("http://127.0.0.1:9/", result.stderr)

    def test_of_nothing_is_help(self):
        result = self.run_program("list")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn("attentiond pull opus-mt-en-fr", result.stderr)
        self.assertEqual(self.listed(), {})

    def test_a_name_that_is_not_there_is_answered_with_the_nearest(self):
        self.pull("opus-mt-en-de")
        for arguments in (("serve", "--model", "opus-mt-en-dee"), ("translate", "--model", "opus-mt-en-dee"), ("list", "--path", "opus-mt-en-dee")):
            result = self.run_program(*arguments)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("did you mean opus-mt-en-de?", result.stderr)
            self.assertIn("attentiond pull opus-mt-en-dee", result.stderr)
            self.assertIn(str(self.models), result.stderr)


class Removing(Store):
    def test_is_for_what_was_pulled(self):
        make_model(self.models / "mine")
        self.cache("Helsinki-NLP/opus-mt-en-fr")
        self.pull("opus-mt-en-de")
        for name, reason in (("mine", "nobody pulled it"), ("opus-mt-en-fr", "Hugging Face's cache"), ("opus-mt-en-es", "there is no model")):
            result = self.run_program("remove", name, "--yes")
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn(reason, result.stderr)
        result = self.run_program("remove", "opus-mt-en-de")
        self.assertEqual(result.returncode, 2, "nobody can be asked")
        self.assertIn("--yes", result.stderr)
        self.assertTrue((self.models / "opus-mt-en-de").exists())

    def test_an_unfinished_pull_can_be_given_up(self):
        self.stage("opus-mt-en-de")
        result = self.run_program("remove", "Helsinki-NLP/opus-mt-en-de")
        self.assertEqual((result.returncode, result.stderr), (0, "removed what an unfinished pull of opus-mt-en-de had left\n"))
        self.assertEqual(os.listdir(self.models / ".pulling"), [])
        self.assertEqual(self.run_program("remove", "opus-mt-en-de").returncode, 1)

    def test_asks_on_a_terminal(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")} | self.environment
        for reply, is_there in ((b"n\n", True), (b"\n", True), (b"y\n", False)):
            if not (self.models / "opus-mt-en-de").exists():
                self.pull("opus-mt-en-de")
            near, far = os.openpty()
            os.write(near, reply)
            result = subprocess.run([BINARY, "remove", "opus-mt-en-de"], stdin=far, capture_output=True, timeout=60,
                                    env=environment, check=False)
            os.close(near)
            os.close(far)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"[y/N]", result.stderr)
            self.assertEqual((self.models / "opus-mt-en-de").exists(), is_there)


class Network(Store):
    def can_trace(self):
        result = subprocess.run(["strace", "-f", "-e", "trace=network", "true"], capture_output=True, check=False)
        return result.returncode == 0

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    @unittest.skipIf(SLOWNESS > 1, "a sanitizer does not like to be traced")
    def test_serve_connects_to_nobody(self):
        if not self.can_trace():
            self.skipTest("strace may not trace here")
        self.pull("opus-mt-en-de")
        trace = self.home / "trace"
        tracer = self.home / "traced"
        tracer.write_text(f'#!/bin/sh\nexec strace -D -f -qq -e trace=network -o {trace} {BINARY} "$@"\n')
        tracer.chmod(0o755)
        with self.start(program=str(tracer)) as daemon:
            self.assertEqual(answer(daemon), GERMAN)
            self.assertEqual(self.run_program("remove", "opus-mt-en-de", "--yes").returncode, 0)
            wait_until(lambda: names(daemon) == [], 20, "the removal")
        calls = trace.read_text()
        self.assertIn("accept4(", calls)
        self.assertNotRegex(calls, r"\bconnect\(")
        sockets = set(re.findall(r"\bsocket\((\w+)", calls))
        self.assertLessEqual(sockets, {"AF_INET", "AF_INET6"})
        self.assertEqual(len(re.findall(r"\bsocket\(", calls)), len(re.findall(r"\blisten\(", calls)), "none but those that it listens on")


if __name__ == "__main__":
    unittest.main()
