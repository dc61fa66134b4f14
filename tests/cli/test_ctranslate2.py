"""The bundled model as CTranslate2's converters would write it, and as a package of Argos Translate.

python3 tests/cli/test_ctranslate2.py BINARY [unittest arguments]

In fp32 the numbers are the same, so the answers are, to the last bit. With MT_SHARED_DIR every quantisation is
measured on the whole development set; without it, on some lines, against the answers of float32.
"""

import fcntl
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "models" / "en-de"
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "bench")]

import export_ctranslate2 as exporter  # noqa: E402
import quality  # noqa: E402

SHARED = os.environ.get("MT_SHARED_DIR")
LINES = (ROOT / "tests/parity/data/dev.sources.txt").read_text().splitlines()[:40]
MANY_LINES = (pathlib.Path(SHARED) / "data/dev.en").read_text().splitlines() if SHARED else LINES
PATIENCE_S = 600
# What translate says of a translation that looks wrong.
WARNING = re.compile(r"attentiond translate: line \d+: the translation of sentence ")
# What CTranslate2's translate_batch does, asked of the MarianMT directory.
AS_CTRANSLATE2 = {"model_type": "attentiond", "search": "ctranslate2", "num_beams": 2, "length_penalty": 1,
                  "renormalize_logits": True, "forced_eos_token_id": None, "max_length": 257}
# Against the answers of float32, on few lines. int8's are as good (below), but not the same.
LEAST_BLEU = {"float16": 95, "bfloat16": 75, "int16": 90, "int8": 75}
GREEDY = ("--beam-size", "1")

binary = sys.argv.pop(1)


def translate(model, lines=None, *flags, precision="fp32"):
    """The process."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}
    return subprocess.run([binary, "translate", "--model", str(model), "--precision", precision, *flags],
                          input="".join(f"{line}\n" for line in lines or LINES), capture_output=True, text=True,
                          timeout=PATIENCE_S, env=inherited | {"XDG_CACHE_HOME": CACHE.name}, check=False)


def answers(model, lines=None, *flags, **options):
    result = translate(model, lines, *flags, **options)
    said = [line for line in result.stderr.splitlines() if not WARNING.match(line)]
    assert (result.returncode, said) == (0, []), result.stderr
    return result.stdout


def setUpModule():
    global CACHE, FLOAT32
    CACHE = tempfile.TemporaryDirectory(prefix="attentiond-ct2-")
    FLOAT32 = written("float32", 6)


def tearDownModule():
    CACHE.cleanup()


@functools.cache
def written(kind, version):
    """The model's directory, for whoever changes nothing in it."""
    directory = pathlib.Path(CACHE.name) / f"{kind}-{version}"
    exporter.write_model(MODEL, directory, kind, version)
    for name in ("source.spm", "target.spm"):
        shutil.copy(MODEL / name, directory)
    return directory


@functools.cache
def argos_package():
    """Such a package in int8, and packed."""
    folder, archive = (pathlib.Path(CACHE.name) / name for name in ("argos", "argos.argosmodel"))
    exporter.write_argos(MODEL, folder, "int8", 5, ("en", "de"))
    pack(folder, archive, zipfile.ZIP_DEFLATED)
    return folder, archive


def pack(folder, archive, method):
    with zipfile.ZipFile(archive, "w", method) as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, f"translate-en_de/{path.relative_to(folder)}")


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="attentiond-ct2-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def refused(self, model, pattern):
        result = translate(model, ["Hello."])
        self.assertIn(result.returncode, (1, 2))  # 2: a value that is not allowed
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, pattern)


class Exact(Case):
    @classmethod
    def setUpClass(cls):
        cls.reference = pathlib.Path(CACHE.name) / "reference"
        cls.reference.mkdir()
        for path in MODEL.iterdir():
            if path.is_file() and path.name not in ("config.json", "generation_config.json"):
                shutil.copy(path, cls.reference)
        cls.ask_of_reference(AS_CTRANSLATE2)

    @classmethod
    def ask_of_reference(cls, settings):
        config = json.loads((MODEL / "config.json").read_text()) | settings
        (cls.reference / "config.json").write_text(json.dumps(config))

    def test_every_version(self):
        expected = answers(self.reference, LINES[:8], "--json", "--batch-size", "2")
        self.assertEqual(len(expected.splitlines()), 8)
        for version in range(1, 7):
            with self.subTest(version=version):
                self.assertEqual(answers(written("float32", version), LINES[:8], "--json", "--batch-size", "2"), expected)

    def test_more_lines_greedy_and_in_int8(self):
        flags = ("--json", *GREEDY)
        self.assertEqual(answers(FLOAT32, LINES, *flags), answers(self.reference, LINES, *flags))
        self.assertEqual(answers(FLOAT32, LINES, "--json", precision="int8"),
                         answers(self.reference, LINES, "--json", precision="int8"))

    def test_greedy_is_as_in_marianmt(self):
        """Whatever the rules of the search: there is nothing to search. But where an end is forced."""
        self.ask_of_reference({"max_length": 257, "forced_eos_token_id": None})
        self.addCleanup(self.ask_of_reference, AS_CTRANSLATE2)
        found, expected = ([json.loads(line)["text"] for line in answers(model, MANY_LINES, "--json", *GREEDY).splitlines()]
                           for model in (FLOAT32, self.reference))
        self.assertEqual(found, expected)

    def test_argos_defaults(self):
        """Beam 4 and length penalty 0.2."""
        exporter.write_argos(MODEL, self.directory / "package", "float32", 6, ("en", "de"))
        self.ask_of_reference(AS_CTRANSLATE2 | {"num_beams": 4, "length_penalty": 0.2})
        self.addCleanup(self.ask_of_reference, AS_CTRANSLATE2)
        flags = ("--json", "--batch-size", "4")
        self.assertEqual(answers(self.directory / "package", LINES[:10], *flags),
                         answers(self.reference, LINES[:10], *flags))


class Quantised(Case):
    def test_quality(self):
        exact = answers(FLOAT32, MANY_LINES, "--beam-size", "1").splitlines()
        if SHARED:
            references = (pathlib.Path(SHARED) / "data/dev.de").read_text().splitlines()
        for kind, least in LEAST_BLEU.items():
            with self.subTest(kind):
                found = answers(written(kind, 6), MANY_LINES, "--beam-size", "1").splitlines()
                self.assertGreaterEqual(quality.bleu(found, exact), least)
                if SHARED:
                    difference = quality.bleu(found, references) - quality.bleu(exact, references)
                    self.assertLessEqual(abs(difference), quality.LIMITS["bleu"])


class Files(Case):
    """What lies beside model.bin, and what does not fit together."""

    def setUp(self):
        super().setUp()
        for path in FLOAT32.iterdir():
            os.link(path, self.directory / path.name)
        self.line = ["Where is the train station?"]

    def rewrite(self, name, content):
        (self.directory / name).unlink(missing_ok=True)
        if isinstance(content, bytes):
            (self.directory / name).write_bytes(content)
        elif content is not None:
            (self.directory / name).write_text(content if isinstance(content, str) else json.dumps(content))

    def pieces(self):
        return json.loads((FLOAT32 / "shared_vocabulary.json").read_text())

    def config(self, **changes):
        self.rewrite("config.json", json.loads((FLOAT32 / "config.json").read_text()) | changes)

    def test_two_vocabularies_and_lines_of_windows(self):
        expected = answers(FLOAT32, self.line, "--json")
        text = "".join(f"{piece}\r\n" for piece in self.pieces())
        self.rewrite("shared_vocabulary.json", None)
        self.rewrite("source_vocabulary.json", self.pieces())
        self.rewrite("target_vocabulary.txt", text)
        self.assertEqual(answers(self.directory, self.line, "--json"), expected)

    def test_one_processor_for_both_sides(self):
        expected = answers(FLOAT32, self.line, "--json")
        (self.directory / "source.spm").rename(self.directory / "sentencepiece.model")
        (self.directory / "target.spm").unlink()
        self.assertEqual(answers(self.directory, self.line, "--json"), expected)

    def test_tokens_around_a_source(self):
        """A model that sees no eos scores otherwise; blank lines stay blank; long texts are cut."""
        text = ["Where is the train station?", "", "   ", "Tom has a dog " * 300]
        for changes in ({"add_source_eos": False}, {"add_source_bos": True, "bos_token": "\u2581die"}):
            with self.subTest(changes):
                self.config(**changes)
                found = answers(self.directory, text).splitlines()
                self.assertEqual([bool(line.strip()) for line in found], [True, False, False, True])
                json_line = json.loads(answers(self.directory, self.line, "--json"))
                self.assertNotEqual(json_line["score"], json.loads(answers(FLOAT32, self.line, "--json"))["score"])

    def test_side_files_that_lie(self):
        pieces = self.pieces()
        for name, content, pattern in (
                ("config.json", "[]", "config.json: expected an object"),
                ("config.json", {"decoder_start_token": None}, "decoder_start_token is null"),
                ("config.json", {"eos_token": "absent"}, r'expected eos_token "absent", found none'),
                ("config.json", {"layer_norm_epsilon": 7}, "layer_norm_epsilon"),
                ("shared_vocabulary.json", {"a": 1}, "expected a list of pieces"),
                ("shared_vocabulary.json", pieces[:-1] + [7], "piece 7999 is not a string"),
                ("shared_vocabulary.json", pieces[:-1] + [pieces[5]], "is there twice"),
                ("shared_vocabulary.json", pieces + ["one more"], "vocab"),
                ("shared_vocabulary.json", pieces[:-1] + ["a" * 1025], "has 1025 bytes, expected at most 1024"),
                ("shared_vocabulary.json", None, "expected shared_vocabulary.json"),
                ("source.spm", None, "expected sentencepiece.model, or source.spm and target.spm, or quickmt")):
            with self.subTest(pattern):
                before = (self.directory / name).read_bytes()
                self.rewrite(name, content)
                try:
                    self.refused(self.directory, pattern)
                finally:
                    self.rewrite(name, before)

    def test_variables_without_a_meaning_here(self):
        """Appended to a sound file of version 2, which has no aliases behind its variables."""
        shutil.copytree(written("float32", 2), self.directory / "v2")
        path = self.directory / "v2" / "model.bin"
        sound = path.read_bytes()
        at = sound.index(struct.pack("<I", 3), 20) + 4  # behind the revision
        n, = struct.unpack_from("<I", sound, at)
        more = struct.pack("<I", n + 1)
        one = struct.pack("<f", 1)
        for name, data, pattern in (
                ("encoder/layer_0/self_attention/relative_position_keys", one * 4,
                 'relative_position_keys": the model has relative positions, which is not implemented'),
                ("decoder/layer_0/ffn/linear_0_noact/weight", one, "gate of feed-forward blocks is 0 in the encoder and 1 in"),
                ("encoder/embeddings_1/weight", one, "features of the source's words, which is not implemented"),
                ("decoder/layer_9/ffn/weight", one, "belongs to something that is not implemented"),
                ("decoder/scale_outputs", one, "outputs that are multiplied by a number, which is not implemented")):
            with self.subTest(name):
                variable = exporter.variable(name, [len(data) // 4], "float32", data, 2)
                path.write_bytes(sound[:at] + more + sound[at + 4:] + variable)
                self.refused(self.directory / "v2", pattern)

    def test_damaged_weights(self):
        sound = (FLOAT32 / "model.bin").read_bytes()
        first = sound.index(b"decoder/embeddings/weight") + 26 + 1 + 8 + 1 + 4
        for content, pattern in (
                (b"", "model.bin: not a model.bin of CTranslate2"),
                (sound[:-1], "model.bin: not a model.bin of CTranslate2: expected"),
                (sound + b"\0", "model.bin: 1 bytes behind its end"),
                (b"\7" + sound[1:], "binary version 7, expected 1 to 6"),
                (sound.replace(b"TransformerSpec", b"TransformedSpec"), 'of kind "TransformedSpec"'),
                (sound.replace(b"decoder/projection/bias", b"decoder/projection/bins"),
                 '"decoder/projection/bins" belongs to something that is not implemented'),
                (sound.replace(b"encoder/layer_3/", b"encoder/layer_7/"), "belongs to something"),
                (sound.replace(b"encoder/layer_0/self_attention/layer_norm/beta",
                               b"encoder/layer_0/self_attention/layer_norm/zeta"), "beta of the norms is 0 in the"),
                (sound.replace(b"encoder/layer_1/self_attention/layer_norm/beta",
                               b"encoder/layer_1/self_attention/layer_norm/zeta"), "expected gamma and beta of 256 numbers each"),
                (sound[:first] + struct.pack("<f", float("nan")) + sound[first + 4:], "expected numbers, found")):
            with self.subTest(pattern):
                self.rewrite("model.bin", content)
                self.refused(self.directory, pattern)


class Argos(Case):
    def setUp(self):
        super().setUp()
        self.package, self.archive = self.directory / "translate-en_de-1_0", self.directory / "a.argosmodel"
        folder, archive = argos_package()
        shutil.copytree(folder, self.package)
        shutil.copy(archive, self.archive)
        self.line = ["Where is the train station?"]

    def test_folder_as_it_lies(self):
        # Whoever opens a named pipe waits for ever.
        (self.package / "stanza").mkdir()
        os.mkfifo(self.package / "stanza" / "en.pt")
        (self.package / "README.md").write_text("# English to German")
        self.assertEqual(answers(self.package, self.line, precision="int8"), "Wo ist der Bahnhof?\n")

    def test_archive(self):
        expected = answers(self.package, self.line, "--json")
        self.assertEqual(answers(self.archive, self.line, "--json"), expected)
        pack(self.package, self.archive, zipfile.ZIP_STORED)
        self.assertEqual(answers(self.archive, self.line, "--json"), expected)

    def test_archives_that_lie(self):
        archive, sound = self.archive, self.archive.read_bytes()
        for name, content, pattern in (
                ("../outside", b"", 'entry "../outside" leads outside of the archive'),
                ("/etc/outside", b"", 'entry "/etc/outside" leads outside of the archive'),
                ("translate-en_de/a/../../b", b"", "leads outside of the archive")):
            with self.subTest(name):
                archive.write_bytes(sound)
                with zipfile.ZipFile(archive, "a") as file:
                    file.writestr(name, content)
                self.refused(archive, pattern)
        archive.write_bytes(sound[:-1])
        self.refused(archive, "not a sound zip archive")
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("a/b.txt", b"")
        self.refused(archive, "expected a package of Argos Translate")
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("a/metadata.json", b"{}")
        self.refused(archive, "expected model/model.bin, found none")

    def test_bomb(self):
        """Two gigabytes of zeros are not unpacked beyond the limit of the process that reads them."""
        name, million = "a/model/model.bin", bytes(1 << 20)
        deflate = zlib.compressobj(wbits=-15)
        block = deflate.compress(million) + deflate.flush(zlib.Z_FULL_FLUSH)  # depends on nothing before it
        with zipfile.ZipFile(self.archive, "w") as file:
            file.writestr("a/metadata.json", b"{}")
            file.writestr(name, block * 2047 + deflate.flush())
            entry = file.getinfo(name)
            at, entry.file_size, entry.compress_type = entry.header_offset, 2047 << 20, zipfile.ZIP_DEFLATED
        with open(self.archive, "r+b") as file:  # the directory was written now, but the entry's header before
            file.seek(at)
            file.write(entry.FileHeader())
        with zipfile.ZipFile(self.archive) as file, file.open(name) as unpacked:
            self.assertEqual(unpacked.read(3 << 20), bytes(3 << 20))
        self.refused(self.archive, "no memory for the 2146435072 bytes that it unpacks to")

    def test_other_tokenizers(self):
        (self.package / "sentencepiece.model").rename(self.package / "bpe.model")
        pattern = "bpe.model: a package whose words are cut by subword-nmt, which is not read"
        self.refused(self.package, pattern)
        pack(self.package, self.archive, zipfile.ZIP_STORED)
        self.refused(self.archive, pattern)

    def test_languages_and_prefix(self):
        path = self.package / "metadata.json"
        metadata = json.loads(path.read_text())
        path.write_text(json.dumps(metadata | {"target_prefix": "\u2581Der"}))
        found = json.loads(answers(self.package, self.line, "--json"))
        pieces = (self.package / "model/shared_vocabulary.txt").read_text().splitlines()
        self.assertEqual(pieces[found["output_ids"][0]], "\u2581Der")
        self.assertEqual(found["token_logprobs"][0], 0)
        self.assertNotIn("Der", found["text"])
        for changes, pattern in (({"target_prefix": "absent"}, 'expected target_prefix "absent", found none'),
                                 ({"type": "sbd"}, 'type: expected "translate", found "sbd"'),
                                 ({"from_code": 7}, "from_code")):
            with self.subTest(pattern):
                path.write_text(json.dumps(metadata | changes))
                self.refused(self.package, pattern)


class Import(Case):
    """`attentiond import`: copies that need no reader of their own."""

    def imports(self, source, *flags, to="copy"):
        return subprocess.run([binary, "import", str(source), str(self.directory / to), *flags],
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def test_copies_answer_as_their_originals(self):
        package, archive = argos_package()  # of which Argos asks whether they are the same
        lines = LINES[:3]
        for precision, weights in ("int8", "attentiond.int8.safetensors"), ("fp32", "model.safetensors"):
            for original, sources, n_beams in (FLOAT32, [FLOAT32], 2), (package, [package, archive], 4):
                flags = ("--json", "--batch-size", str(n_beams))  # each line alone
                expected = answers(original, lines, *flags, precision=precision)
                for source in sources:
                    with self.subTest(source=source.name, precision=precision):
                        to = f"{source.name}-{precision}"
                        result = self.imports(source, "--precision", precision, to=to)
                        self.assertEqual((result.returncode, result.stderr), (0, ""))
                        self.assertRegex(result.stdout,
                                         r"^CTranslate2, 8\.4 million.*\n.*positions as a table, searches as CTra")
                        self.assertEqual(len(list((self.directory / to).glob("*.safetensors"))), 1)
                        self.assertTrue((self.directory / to / weights).is_file())
                        self.assertEqual(answers(self.directory / to, lines, *flags, precision=precision), expected)

    def test_nothing_of_an_earlier_import_is_read(self):
        self.assertEqual(self.imports(MODEL).returncode, 0)
        self.assertTrue((self.directory / "copy" / "generation_config.json").is_file())
        result = self.imports(FLOAT32)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertFalse((self.directory / "copy" / "generation_config.json").exists())
        self.assertEqual(answers(self.directory / "copy", LINES[:4], "--json", precision="int8"),
                         answers(FLOAT32, LINES[:4], "--json", precision="int8"))
        result = self.imports(FLOAT32, "--precision", "fp32")
        self.assertEqual(result.returncode, 2)
        self.assertIn("attentiond.int8.safetensors is there, expected no weights but model.safetensors", result.stderr)

    def test_an_import_that_ends_in_the_middle(self):
        """Leaves no earlier model's weights beside its own documents."""
        self.assertEqual(self.imports(MODEL).returncode, 0)
        (self.directory / "copy" / "generation_config.json").unlink()
        (self.directory / "copy" / "generation_config.json").mkdir()
        result = self.imports(FLOAT32)
        self.assertEqual(result.returncode, 1)
        self.assertIn("generation_config.json: cannot remove what another model left", result.stderr)
        self.assertEqual(list((self.directory / "copy").glob("*.safetensors")), [])

    @staticmethod
    def state(folder):
        """Which files there are: others have other inodes, or times."""
        return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}

    def test_what_is_not_confirmed_replaces_nothing(self):
        """The copy is looked at before it takes the place of an earlier import."""
        to = self.directory / "copy"
        self.assertEqual(self.imports(MODEL).returncode, 0)
        before = self.state(to)
        broken = self.directory / "texts"
        broken.write_bytes(b"good\n\xff\n")
        for flags, pattern in ((("--target-vocabulary", str(self.directory / "none")), "none: "),
                               (("--target-vocabulary", str(broken)), "texts: line 2"),
                               (("--sentence", "\udcff"), "UTF-8")):
            with self.subTest(flags[0]):
                result = self.imports(FLOAT32, *flags)
                self.assertIn(result.returncode, (1, 2))
                self.assertIn(pattern, result.stderr)
                self.assertNotIn("written", result.stdout)
                self.assertEqual(self.state(to), before)
        self.assertIn("none: ", self.imports(FLOAT32, "--target-vocabulary", str(self.directory / "none"), to="fresh").stderr)
        self.assertFalse((self.directory / "fresh").exists())

    def test_what_came_with_a_model_does_not_become_the_operators(self):
        said = {"//": "of its author", "beam_size": 2, "aliases": ["best"], "quality": 100, "preload": True}
        pulled = self.directory / "pulled"
        shutil.copytree(MODEL, pulled)
        (pulled / "attentiond.json").write_text(json.dumps(said))
        digest = hashlib.sha256((pulled / "attentiond.json").read_bytes()).hexdigest()
        record = {"from": "hf:a/b@c", "files": [{"name": "attentiond.json", "size": 1, "sha256": digest}]}
        (pulled / "attentiond-pull.json").write_text(json.dumps(record))
        self.assertEqual(self.imports(pulled).returncode, 0)
        path = self.directory / "copy/attentiond.json"
        self.assertEqual(json.loads(path.read_text()), {"//": "of its author", "beam_size": 2})
        path.write_text('{"aliases": ["mine"]}')
        self.assertEqual(self.imports(pulled).returncode, 0)
        self.assertEqual(path.read_text(), '{"aliases": ["mine"]}')
        (pulled / "attentiond.json").write_text(json.dumps(said | {"quality": 5}))  # the operator's
        self.assertEqual(self.imports(pulled).returncode, 0)
        self.assertEqual(json.loads(path.read_text()), said | {"quality": 5})

    def test_two_imports_into_one_directory(self):
        """The second one is refused while the first is at work; what a killed one left is no hindrance."""
        to = self.directory / "copy"
        stage = to / ".importing"
        stage.mkdir(parents=True)
        (stage / "config.json").write_text("left")
        (stage / "README.md").write_text("left")
        held = os.open(stage, os.O_RDONLY)
        self.addCleanup(os.close, held)
        fcntl.flock(held, fcntl.LOCK_EX)
        result = self.imports(FLOAT32)
        self.assertEqual(result.returncode, 1)
        self.assertIn("copy: another import is at work there", result.stderr)
        self.assertEqual((stage / "config.json").read_text(), "left")
        fcntl.flock(held, fcntl.LOCK_UN)
        self.assertEqual(self.imports(FLOAT32).returncode, 0)
        self.assertFalse(stage.exists())
        self.assertFalse((to / "README.md").exists())

    def test_what_is_no_model_of_ours_is_left_alone(self):
        """A project's directory, and a model that another program reads."""
        to = self.directory / "copy"
        for files in ({"README.md": b"# Mine"}, {"config.json": b'{"port": 80}', "main.c": b"int x;"},
                      {"tokenizer_config.json": b"{}"}, {"generation_config.json": b"{}"},
                      {"config.json": b'{"model_type": "t5"}', "model.safetensors": b"its weights"},
                      {"config.json": b"not JSON"}):
            for precision in "int8", "fp32":
                if "model.safetensors" in files and precision == "int8":
                    continue  # refused for these weights
                with self.subTest(files=list(files), precision=precision):
                    shutil.rmtree(to, ignore_errors=True)
                    to.mkdir()
                    for name, content in files.items():
                        (to / name).write_bytes(content)
                    result = self.imports(MODEL, "--precision", precision)
                    self.assertEqual((result.returncode, result.stdout), (2, ""))
                    self.assertRegex(result.stderr, f"copy: ({'|'.join(files)}) is there, but no MarianMT model")
                    self.assertEqual({path.name: path.read_bytes() for path in to.iterdir()}, files)
        # What neither is ours nor would be touched, and an import that ended before its weights.
        shutil.rmtree(to)
        to.mkdir()
        (to / "notes.txt").write_text("mine")
        (to / "LICENSE").write_text("mine, too: the model brings none")
        self.assertEqual(self.imports(MODEL).returncode, 0)
        (to / "attentiond.int8.safetensors").unlink()
        self.assertEqual(self.imports(FLOAT32).returncode, 0)
        self.assertEqual((to / "LICENSE").read_text(), "mine, too: the model brings none")

    def test_a_model_into_its_own_directory(self):
        shutil.copytree(MODEL, self.directory / "copy")
        before = {path.name: path.read_bytes() for path in (self.directory / "copy").iterdir()}
        result = self.imports(self.directory / "copy")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        after = {path.name: path.read_bytes() for path in (self.directory / "copy").iterdir()}
        after.pop("attentiond.int8.safetensors")
        self.assertEqual(after, before)
        # CTranslate2's own files are not overwritten with others of the same name.
        shutil.copytree(FLOAT32, self.directory / "foreign")
        result = self.imports(self.directory / "foreign", to="foreign")
        self.assertIn("a model of another family is there", result.stderr)
        shutil.copy(self.directory / "copy" / "attentiond.int8.safetensors", self.directory / "foreign")
        result = translate(self.directory / "foreign", precision="int8")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, "foreign: holds attentiond.int8.safetensors.* beside the files of a CTranslate2 model; expected one")
        # Beside the config.json that belongs to it, it is a model, whatever else was left there.
        expected = answers(self.directory / "copy", LINES[:3], precision="int8")
        (self.directory / "copy" / "model.safetensors").unlink()
        shutil.copy(FLOAT32 / "model.bin", self.directory / "copy")
        self.assertEqual(answers(self.directory / "copy", LINES[:3], precision="int8"), expected)

    def test_nothing_is_written_of_a_broken_model(self):
        for name, change, pattern in (
                ("source.spm", lambda data: b"", "broken/source.spm"),
                ("model.bin", lambda data: data[:-1], "broken/model.bin"),
                ("shared_vocabulary.json", lambda data: data.replace(b"\"</s>\"", b"\"\xff\""), "broken/shared_voc"),
                ("shared_vocabulary.json", lambda data: data.replace(b"]", b", \"one more\"]"), "broken: vocab.json")):
            with self.subTest(pattern):
                broken = self.directory / "broken"
                shutil.copytree(FLOAT32, broken)
                (broken / name).write_bytes(change((broken / name).read_bytes()))
                result = self.imports(broken)
                self.assertIn(result.returncode, (1, 2))
                self.assertIn(pattern, result.stderr)
                self.assertFalse((self.directory / "copy").exists())
                shutil.rmtree(broken)


if __name__ == "__main__":
    unittest.main()
