"""Marian models and students, read as they lie: against a naive implementation of Marian's own rules, against the bundled
model when they are told to compute as MarianMT does, and files that lie.

Needs numpy.  python3 tests/parity/test_marian.py BINARY [unittest arguments]
With MT_SHARED_DIR the bundled model is compared on the whole development set.
"""

import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # many small products: threads would wait for each other
import numpy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / "parity"), str(ROOT / "tests" / "tools")]
import export_marian  # noqa: E402
import marian_oracle  # noqa: E402

MODEL = ROOT / "tests" / "models" / "en-de"
DATA = ROOT / "tests" / "parity" / "data"
SLOWNESS = int(os.environ.get("ATTENTIOND_TEST_SLOWNESS", "1"))
PATIENCE_S = 900 * SLOWNESS
LINES = [json.loads(line)["source"] for line in (DATA / "dev.beam4.jsonl").read_text().splitlines()]
UNK, PAD = 1, 8000
# fp32 against double over some layers.
TOLERANCE = 2e-4
# A search that could as well have gone the other way proves nothing.
SURE = 1e-3

binary = sys.argv.pop(1)


def run(*arguments, text=""):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}
    return subprocess.run([binary, *map(str, arguments)], input=text, capture_output=True, text=True,
                          timeout=PATIENCE_S, env=environment)


def translate(model, lines, *flags, precision="fp32"):
    """One answer a line. fp32 goes through OpenBLAS, whose last bits depend on what else is in the batch."""
    result = run("translate", "--model", model, "--json", "--precision", precision, "--workers", 1, "--cache-dir", "",
                 "--threads-per-worker", 1, "--batch-size", 4, *flags, text="".join(line + "\n" for line in lines))
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def source_ids(lines, model=MODEL):
    """What the model reads of each line, eos included."""
    ids = []
    for line in lines:
        result = run("inspect", "--model", model, "--precision", "fp32", "--beam-size", 1, "--format", "json",
                     "--split-sentences", "off", "--threads-per-worker", 1, line)
        assert result.returncode == 0, result.stderr
        ids.append([token["id"] for token in json.loads(result.stdout)["sentences"][0]["source_tokens"]])
    return ids


def random_arrays(settings):
    """Small random numbers under the names that a model of these settings has."""
    d, f, n_vocab = settings["dim-emb"], settings["transformer-dim-ffn"], settings["dim-vocabs"][0]
    dice, arrays = numpy.random.default_rng(42), {}

    def put(name, *shape, mean=0.0, deviation=0.3):
        arrays[name] = (mean + deviation * dice.standard_normal(shape)).astype("<f4")

    def put_norm(prefix, suffix=""):
        put(f"{prefix}_ln_scale{suffix}", 1, d, mean=1.0, deviation=0.1)
        put(f"{prefix}_ln_bias{suffix}", 1, d, deviation=0.1)

    def put_cell(layer, suffix):
        put(f"{layer}_rnn_W", d, d)
        put(f"{layer}_rnn_Wf", d, d)
        put(f"{layer}_rnn_bf", 1, d, deviation=0.1)
        put_norm(f"{layer}_rnn" if suffix else f"{layer}_rnn_ffn", suffix)

    def put_layer(layer, attentions, suffix):
        for attention in attentions:
            if attention == "rnn":
                put_cell(layer, suffix)
                continue
            for part in "qkvo":
                put(f"{layer}_{attention}_W{part}", d, d)
                put(f"{layer}_{attention}_b{part}", 1, d, deviation=0.1)
            put_norm(f"{layer}_{attention}_Wo", suffix)
        put(f"{layer}_ffn_W1", d, f)
        put(f"{layer}_ffn_b1", 1, f, deviation=0.1)
        put(f"{layer}_ffn_W2", f, d)
        put(f"{layer}_ffn_b2", 1, d, deviation=0.1)
        put_norm(f"{layer}_ffn_ffn", suffix)

    suffix = "_pre" if "n" in settings["transformer-preprocess"] else ""
    own = "rnn" if settings.get("transformer-decoder-autoreg") == "rnn" else "self"
    for side, depth, attentions in (("encoder", settings["enc-depth"], ["self"]),
                                    ("decoder", settings["dec-depth"], [own, "context"])):
        for layer in range(1, depth + 1):
            put_layer(f"{side}_l{layer}", attentions, suffix)
        if "n" in settings["transformer-postprocess-emb"]:
            put_norm(f"{side}_emb", "_pre")
        if "n" in settings["transformer-postprocess-top"]:
            put_norm(f"{side}_top")
    if settings["tied-embeddings-all"]:
        put("Wemb", n_vocab, d)
    else:
        put("encoder_Wemb", n_vocab, d)
        put("decoder_Wemb", n_vocab, d)
        put("decoder_ff_logit_out_W", d, n_vocab)
    put("decoder_ff_logit_out_b", 1, n_vocab, deviation=0.1)
    if settings.get("transformer-train-position-embeddings"):
        put("Wpos", 64, d)
    return arrays


TINY = {"type": "transformer", "dim-emb": 32, "dim-vocabs": [8001, 8001], "enc-depth": 2, "dec-depth": 1,
        "transformer-heads": 4, "transformer-dim-ffn": 48, "transformer-ffn-activation": "swish",
        "transformer-preprocess": "", "transformer-postprocess": "dan", "transformer-postprocess-emb": "d",
        "transformer-postprocess-top": "", "tied-embeddings-all": True}


SSRU = {"transformer-decoder-autoreg": "rnn", "dec-cell": "ssru", "dec-cell-base-depth": 2, "dec-cell-high-depth": 1,
        "transformer-ffn-activation": "relu", "dec-depth": 2}


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="attentiond-marian-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def tiny(self, settings=None, arrays=None):
        """A model of random numbers; arrays: those of other settings."""
        settings = TINY | (settings or {})
        export_marian.write_arrays(self.folder, random_arrays(settings) if arrays is None else arrays, settings)
        export_marian.write_vocabulary(MODEL, self.folder)
        export_marian.write_decoder(self.folder, {})


class Oracle(Folder):
    """What is computed, against the naive implementation."""

    N_LINES = 6

    @classmethod
    def setUpClass(cls):
        cls.exported = pathlib.Path(tempfile.mkdtemp(prefix="attentiond-marian-"))
        cls.addClassCleanup(shutil.rmtree, cls.exported)
        export_marian.export(MODEL, cls.exported)
        cls.ids = source_ids(LINES[:cls.N_LINES])

    def compare(self, folder, flags=(), n=N_LINES, **search):
        model = marian_oracle.Model(folder / "model.npz")
        n_sure = 0
        for line, ids, answer in zip(LINES[:n], self.ids, translate(folder, LINES[:n], *flags)):
            expected, score, margin = marian_oracle.translate(model, ids, never=(UNK, PAD), **search)
            if margin < SURE:
                continue
            n_sure += 1
            self.assertEqual(answer["output_ids"], expected, line)
            self.assertAlmostEqual(answer["score"], score, delta=TOLERANCE)
        self.assertGreaterEqual(n_sure, n // 2)

    def test_the_bundled_model_under_marians_rules(self):
        export_marian.write_decoder(self.exported, {})
        self.compare(self.exported, n_beams=4)

    def test_greedy(self):
        self.compare(self.exported, ["--beam-size", "1"], n_beams=1)

    def test_scores_without_normalisation_and_with_word_penalty(self):
        export_marian.write_decoder(self.exported, {"normalize": 0, "word-penalty": -0.4, "beam-size": 3})
        self.compare(self.exported, n_beams=3, normalize=0.0, word_penalty=-0.4)

    def test_the_length_limit_follows_the_source(self):
        export_marian.write_decoder(self.exported, {"max-length-factor": 0.5, "beam-size": 2})
        self.compare(self.exported, n_beams=2, factor=0.5)

    def test_every_architecture(self):
        for name, settings in {
            "as OPUS-MT": {},
            "gelu, pre-norm, norms everywhere": {
                "transformer-ffn-activation": "gelu", "transformer-preprocess": "n", "transformer-postprocess": "da",
                "transformer-postprocess-emb": "nd", "transformer-postprocess-top": "n"},
            "learned positions, relu": {
                "transformer-train-position-embeddings": True, "transformer-ffn-activation": "relu"},
            "a student's": SSRU,
            "SSRU, pre-norm": SSRU | {"transformer-preprocess": "n", "transformer-postprocess": "da",
                                      "transformer-postprocess-top": "n"},
            "separate tables": {"tied-embeddings-all": False, "tied-embeddings": False},
        }.items():
            with self.subTest(name):
                self.tiny(settings)
                self.compare(self.folder, ["--max-decoding-length", "6", "--beam-size", "1"], n_beams=1, limit=6)

    def test_half_precision(self):
        export_marian.export(MODEL, self.folder, dtype="<f2")
        self.compare(self.folder, n_beams=4, n=4)


class Contract(Folder):
    def test_told_to_compute_as_marianmt_it_does_to_the_last_bit(self):
        export_marian.export(MODEL, self.folder / "npz")
        result = run("import", self.folder / "npz", self.folder / "again", "--precision", "fp32")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^Marian, 8\.4 million parameters(.*\n)*.*144 tensors, F32; unused: none")
        path = self.folder / "again" / "config.json"
        original = json.loads((MODEL / "config.json").read_text())
        config = json.loads(path.read_text()) | {
            "layer_norm_eps": 1e-5, "position_formula": "paper", "search": "generate", "max_length_factor": 0,
            "start_from_zero_embedding": False,
        } | {key: original[key] for key in ("forced_eos_token_id", "bad_words_ids", "max_length")}
        path.write_text(json.dumps(config))
        lines = exact_lines = (DATA / "dev.sources.txt").read_text().splitlines()
        if "MT_SHARED_DIR" in os.environ:
            lines = (pathlib.Path(os.environ["MT_SHARED_DIR"]) / "data" / "dev.en").read_text().splitlines()
        else:
            exact_lines = lines[:40]  # fp32 takes ten times as long
        for precision, some in ("fp32", exact_lines), ("int8", lines):
            with self.subTest(precision):
                # Which warnings there are depends on the languages, which the name of MODEL's folder tells.
                expected = translate(MODEL, some, precision=precision)
                found = translate(self.folder / "again", some, precision=precision)
                for line in expected + found:
                    line.pop("warnings", None)
                self.assertEqual(found, expected)

    def test_int8_of_the_original_and_of_its_import_are_the_same(self):
        export_marian.export(MODEL, self.folder / "npz")
        result = run("import", self.folder / "npz", self.folder / "packed", "--sentence", "It is late.")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\nfp32: .*\nint8: .*\n")
        lines = LINES[:20]
        answers = [run("translate", "--model", self.folder / name, "--json", "--cache-dir", self.folder / "cache",
                       text="\n".join(lines)).stdout for name in ("npz", "packed", "npz")]
        self.assertEqual(len(answers[0].splitlines()), 20)
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0], answers[2])  # from the cache
        self.assertEqual(len(list((self.folder / "cache").iterdir())), 1)

    def test_spm_files_as_vocabularies(self):
        self.tiny()
        export_marian.write_decoder(self.folder, {"vocabs": ["/train/a.spm", "b.spm"]})
        (self.folder / "source.spm").rename(self.folder / "a.spm")
        (self.folder / "target.spm").rename(self.folder / "b.spm")
        (self.folder / "vocab.yml").unlink()
        # Neither is a file of the model.
        (self.folder / "notes.yml").mkdir()
        os.mkfifo(self.folder / "c.spm")
        answers = translate(self.folder, ["Tom"], "--max-decoding-length", "3")
        self.assertEqual(len(answers), 1)


def numbers_of(tensor, n_out, n_in):
    """A packed matrix as [n_out, n_in]."""
    blocks, groups, columns, width = tensor.shape
    return tensor.transpose(0, 2, 1, 3).reshape(blocks * columns, groups * width)[:n_out, :n_in]


class Students(Folder):
    """As Bergamot and Firefox have them: binary files, SSRU, and names that say everything."""

    SHARED = TINY | SSRU | {"tied-embeddings-all": True}
    N_LINES = 8

    def setUp(self):
        super().setUp()
        self.arrays = random_arrays(self.SHARED)

    def student(self, name="model.deen.bin", int8=False, arrays=None, folder=None):
        folder = self.folder / (folder or "model")
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        shutil.copy(MODEL / "source.spm", folder / "vocab.deen.spm")
        if name.endswith(".npz"):
            export_marian.write_arrays(folder, arrays or self.arrays, self.SHARED)
        else:
            items = export_marian.bin_items(arrays or self.arrays, self.SHARED, int8)
            (folder / name).write_bytes(export_marian.to_bin(items))
        return folder

    def answers(self, folder, *flags, precision="fp32"):
        found = translate(folder, LINES[:self.N_LINES], "--max-decoding-length", "9", *flags, precision=precision)
        for line in found:
            line.pop("warnings", None)  # of languages, which the names of some files tell
        return found

    def same(self, found, expected):
        """The same but for fp32's last bits, which depend on where numbers lie in memory."""
        self.assertEqual([line["output_ids"] for line in found], [line["output_ids"] for line in expected])
        for a, b in zip(found, expected):
            numpy.testing.assert_allclose(a["token_logprobs"], b["token_logprobs"], atol=1e-5)

    def test_npz_and_bin_are_the_same_and_as_the_oracle_has_it(self):
        npz = self.student("model.npz", folder="npz")
        expected = self.answers(npz)
        self.same(self.answers(self.student()), expected)
        model = marian_oracle.Model(npz / "model.npz")
        n_sure = 0
        for ids, answer in zip(source_ids(LINES[:self.N_LINES], npz), expected):
            found, score, margin = marian_oracle.translate(model, ids, 1, limit=9, factor=2, never=(UNK,))
            n_sure += margin >= SURE
            if margin >= SURE:
                self.assertEqual(answer["output_ids"], found)
                self.assertAlmostEqual(answer["score"], score, delta=TOLERANCE)
        self.assertGreaterEqual(n_sure, self.N_LINES // 2)

    def test_the_length_limit_and_the_beams_are_firefoxs(self):
        for ids, answer in zip(source_ids(["Tom"], self.student()), translate(self.student(), ["Tom"])):
            self.assertLessEqual(len(answer["output_ids"]), 2 * len(ids))
        result = run("inspect", "--model", self.student(), "--format", "json", "Tom")
        self.assertIn("recurrent cell (SSRU)", json.loads(result.stdout)["model"]["no_decoder_attention"])

    def test_int8_in_fp32_is_what_its_numbers_say(self):
        """Values are numbers / multiplier, wherever they lie."""
        known = {}
        for name, array in self.arrays.items():
            numbers, multiplier = export_marian.quantize(array)
            known[name] = (numbers.astype("<f4") * (numpy.float32(1) / multiplier)
                           if export_marian.is_packed_by_intgemm(name) else array)
        expected = self.answers(self.student("model.npz", arrays=known, folder="npz"))
        for name in "model.deen.intgemm8.bin", "model.deen.intgemm.alphas.bin":
            alphas = {"none_QuantMultA": numpy.full((1, 1), 40, "<f4"),
                      "decoder_l1_rnn_Wf_QuantMultA": numpy.full((1, 1), 40, "<f4")}
            arrays = self.arrays | (alphas if "alphas" in name else {})
            self.same(self.answers(self.student(name, int8=True, arrays=arrays)), expected)

    def test_int8_is_packed_without_a_second_rounding(self):
        student = self.student("model.deen.intgemm8.bin", int8=True)
        result = run("import", student, self.folder / "packed")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, "F32 and I8|I8 and F32")
        packed = export_marian.read_safetensors(self.folder / "packed" / "attentiond.int8.safetensors")
        d = self.SHARED["dim-emb"]
        for name, sources in {
            "target.output": ["Wemb"], "decoder.1.cell.gates": ["decoder_l2_rnn_W", "decoder_l2_rnn_Wf"],
            "encoder.0.self.qkv": [f"encoder_l1_self_W{part}" for part in "qkv"], "decoder.0.ffn.fc1": ["decoder_l1_ffn_W1"],
        }.items():
            numbers, scales = [], []
            for source in sources:
                quantized, multiplier = export_marian.quantize(self.arrays[source])
                numbers.append(quantized if source == "Wemb" else quantized.T)
                scales += [numpy.float32(1) / multiplier] * len(numbers[-1])
            numbers = numpy.concatenate(numbers)
            numpy.testing.assert_array_equal(numbers_of(packed[f"{name}.weight"], len(numbers), d), numbers, name)
            numpy.testing.assert_array_equal(packed[f"{name}.scale"][:len(numbers)], scales, name)
        self.assertEqual(self.answers(student, precision="int8"), self.answers(self.folder / "packed", precision="int8"))

    def test_separate_vocabularies(self):
        self.SHARED = TINY | SSRU | {"tied-embeddings-all": False, "tied-embeddings": True}
        self.arrays = random_arrays(self.SHARED)
        del self.arrays["decoder_ff_logit_out_W"]
        student = self.student("model.deen.intgemm.alphas.bin", int8=True)
        (student / "vocab.deen.spm").rename(student / "srcvocab.deen.spm")
        shutil.copy(MODEL / "target.spm", student / "trgvocab.deen.spm")
        self.assertEqual(len(self.answers(student)), self.N_LINES)
        (student / "trgvocab.deen.spm").unlink()
        self.refused(student, "expected decoder.yml, or one vocab.*, found none of the first and the last, and 0, 1 and 0")

    def test_the_names_tell_the_languages(self):
        for name, vocab, languages in (("model.deen.bin", "vocab.deen.spm", ["de", "en"]),
                                       ("model.deueng.bin", "vocab.deueng.spm", ["deu", "eng"]),
                                       ("model.best.bin", "vocab.spm", [None, None])):
            student = self.student(name)
            (student / "vocab.deen.spm").rename(student / vocab)
            result = run("import", student, self.folder / vocab)
            self.assertEqual(result.returncode, 0, result.stderr)
            config = json.loads((self.folder / vocab / "tokenizer_config.json").read_text())
            self.assertEqual([config.get("source_lang"), config.get("target_lang")], languages, name)

    def test_as_hplt_publishes_them(self):
        """Marian's usual decoder; the names of the vocabulary's two languages, and no decoder.yml."""
        settings = TINY | {"tied-embeddings-all": True}
        folder = self.folder / "translate-x-v2.0-hplt_opus"
        folder.mkdir()
        export_marian.write_arrays(folder, random_arrays(settings), settings)
        (folder / "model.npz").rename(folder / "model.npz.best-chrf.npz")
        shutil.copy(MODEL / "source.spm", folder / "model.en-de.spm")
        (folder / "model.en-de.vocab").write_text("<unk>\t0\n")
        model, n_sure = marian_oracle.Model(folder / "model.npz.best-chrf.npz"), 0
        for ids, answer in zip(source_ids(LINES[:self.N_LINES], folder), self.answers(folder)):
            found, score, margin = marian_oracle.translate(model, ids, 4, limit=9, never=(UNK,))
            if margin >= SURE:
                n_sure += 1
                self.assertEqual(answer["output_ids"], found)
                self.assertAlmostEqual(answer["score"], score, delta=TOLERANCE)
        self.assertGreaterEqual(n_sure, self.N_LINES // 2)
        for vocab, languages in (("model.zh_hant-en.spm", ["zh_hant", "en"]), ("model.x.spm", [None, None]), ("model.en-.spm", [None, None])):
            next(folder.glob("*.spm")).rename(folder / vocab)
            result = run("import", folder, self.folder / vocab)
            self.assertEqual(result.returncode, 0, result.stderr)
            config = json.loads((self.folder / vocab / "tokenizer_config.json").read_text())
            self.assertEqual([config.get("source_lang"), config.get("target_lang")], languages, vocab)
        shutil.copy(MODEL / "source.spm", folder / "model.fi-en.spm")
        self.refused(folder, "or one model.*.spm, found none of the first and the last, and 0, 0 and 0 of the others")

    def lexicon(self, n_vocab, n_first=20):
        dice = numpy.random.default_rng(7)
        return [sorted(dice.choice(n_vocab, size=int(dice.integers(0, 30)), replace=False).tolist()) for _ in range(n_vocab)], n_first

    def test_a_shortlist(self):
        """Ids and scores as the oracle has them, among the sentence's own candidates."""
        n_vocab = self.SHARED["dim-vocabs"][0]
        lists, n_first = self.lexicon(n_vocab)
        student = self.student("model.npz")
        (student / "lex.50.50.deen.s2t.bin").write_bytes(export_marian.to_shortlist(lists, n_first))
        model = marian_oracle.Model(student / "model.npz")
        sources, n_sure = source_ids(LINES[:self.N_LINES], student), 0
        for n_beams in 1, 4:
            answers = self.answers(student, "--beam-size", n_beams)
            for ids, answer in zip(sources, answers):
                among = marian_oracle.candidates(ids, lists, n_first, n_vocab, is_shared=True)
                found, score, margin = marian_oracle.translate(model, ids, n_beams, limit=9, never=(UNK,), among=among)
                if margin >= SURE:
                    n_sure += 1
                    self.assertEqual(answer["output_ids"], found)
                    self.assertAlmostEqual(answer["score"], score, delta=TOLERANCE)
        self.assertGreaterEqual(n_sure, self.N_LINES)
        without = self.answers(student, "--shortlist", "off")
        self.assertNotEqual([line["output_ids"] for line in without], [line["output_ids"] for line in self.answers(student)])
        (student / "lex.50.50.deen.s2t.bin").unlink()
        self.same(without, self.answers(student))

    def test_a_shortlist_gives_the_same_bytes_in_any_batch(self):
        lists, n_first = self.lexicon(self.SHARED["dim-vocabs"][0], n_first=900)  # some sentences have more than a batch keeps columns for
        student = self.student("model.deen.intgemm8.bin", int8=True)
        (student / "lex.50.50.deen.s2t.bin").write_bytes(export_marian.to_shortlist(lists, n_first))
        result = run("import", student, self.folder / "packed")
        self.assertEqual(result.returncode, 0, result.stderr)
        expected, lines = None, LINES[:30]
        for folder in student, self.folder / "packed":
            for flags in ((1, 1, "c"), (4, 1, "auto"), (64, 1, "auto"), (64, 2, "auto"), (13, 2, "avx2")):
                result = run("translate", "--model", folder, "--json", "--workers", 1, "--cache-dir", "", "--beam-size", 1,
                             "--max-decoding-length", 12, "--batch-size", flags[0], "--threads-per-worker", flags[1],
                             "--kernels", flags[2], text="".join(line + "\n" for line in lines))
                if "avx2" in flags and "CPU" in result.stderr:
                    continue
                self.assertEqual(result.returncode, 0, result.stderr)
                expected = expected or result.stdout
                self.assertEqual(result.stdout, expected, (folder, flags))

    def test_shortlists_that_are_wrong(self):
        lists, n_first = self.lexicon(self.SHARED["dim-vocabs"][0])
        student = self.student()
        path = student / "lex.50.50.deen.s2t.bin"
        sound = export_marian.to_shortlist(lists, n_first)
        path.write_bytes(sound[:100] + bytes([sound[100] ^ 4]) + sound[101:])
        self.refused(student, "shortlist.bin: checksum: expected [0-9a-f]{16}, found")
        path.write_bytes(sound[:-8])
        self.refused(student, "expected another number of bytes")
        path.write_bytes(export_marian.to_shortlist(lists + [[]], n_first))
        self.refused(student, "expected at most 8001 source words, found 8002: it is another model's shortlist")
        path.write_bytes(sound)
        shutil.copy(path, student / "lex.s2t.bin")
        self.refused(student, "expected one shortlist, found lex.50.50.deen.s2t.bin and lex.s2t.bin")

    def refused(self, folder, pattern):
        result = run("translate", "--model", folder, "--precision", "fp32", text="Tom\n")
        self.assertIn(result.returncode, (1, 2), result.stderr)
        self.assertRegex(result.stderr, pattern)
        self.assertNotRegex(result.stderr, "(?i)signal|sanitizer|runtime error")

    def test_what_is_wrong_is_said(self):
        student = self.student()
        shutil.copy(student / "model.deen.bin", student / "model.other.bin")
        self.refused(student, "expected one model where there is no decoder.yml .* model.deen.bin and model.other.bin")
        self.refused(self.student("model.deen.intgemm8.bin", arrays=self.arrays | {"Wextra": numpy.ones((2, 2), "<f4")}),
                     'array "Wextra" has no place')
        self.refused(self.student(arrays=self.arrays | {"encoder_l9_self_Wq_QuantMultA": numpy.ones((1, 1), "<f4")}),
                     'array "encoder_l9_self_Wq_QuantMultA" has no place')
        self.refused(self.student(arrays={name: array for name, array in self.arrays.items() if name != "decoder_l2_rnn_bf"}),
                     'expected an array "decoder_l2_rnn_bf", found none')
        path = self.student("model.deen.intgemm8.bin", int8=True) / "model.deen.intgemm8.bin"
        sound = path.read_bytes()
        path.write_bytes(sound[:-1])
        self.refused(path.parent, r"model.deen.intgemm8.bin: data of \S+: expected \d+ bytes, found")
        path.write_bytes(b"\2" + sound[1:])
        self.refused(path.parent, "expected version 1, found 2")
        at = sound.index(export_marian.quantize(self.arrays["Wemb"])[0].tobytes()[:64])
        path.write_bytes(sound[:at + 5] + b"\x80" + sound[at + 6:])
        self.refused(path.parent, 'tensor "model.shared.weight": expected numbers from -127 to 127, found -128 at index 5')


class TargetVocabulary(Folder):
    """What `attentiond import` makes of a text: exact for the tokens that it allows, and alike wherever it is used."""

    NAME = "attentiond.target-vocabulary.txt"
    N_LINES = 8

    def setUp(self):
        super().setUp()
        self.tiny()
        (self.folder / "text.txt").write_text("Das ist ein Bahnhof.\nWo wohnt Tom?\r\n\n" + "Ein Haus " * 20 + "\n")

    def make(self, *flags, texts=None, precision="fp32", expected=0):
        result = run("import", self.folder, self.folder / precision, "--precision", precision, "--target-vocabulary",
                     texts or self.folder / "text.txt", *flags)
        self.assertEqual(result.returncode, expected, result.stderr)
        return result.stderr if expected else result.stdout

    def allowed(self, precision="fp32"):
        title, *ids = (self.folder / precision / self.NAME).read_text().splitlines()
        self.assertEqual(title, "attentiond target vocabulary 1: 8001")
        return [int(token) for token in ids]

    def write(self, ids, precision="fp32", title="attentiond target vocabulary 1: 8001"):
        (self.folder / precision / self.NAME).write_text("".join(f"{line}\n" for line in [title, *ids]))

    def test_ids_are_those_of_the_text_and_common_ones(self):
        said = self.make()
        ids = self.allowed()
        self.assertIn(f"{len(ids)} of 8001 tokens, from 1 text\n", said)
        vocabulary = json.loads((MODEL / "vocab.json").read_text())
        pieces = {piece for piece, i in vocabulary.items() if i in ids}
        self.assertLessEqual({"</s>", ".", "?", ",", "3", "s", "\u2581", "\u2581Das", "\u2581ist", "\u2581Tom", "\u2581Haus"}, pieces)
        self.assertEqual({"<unk>", "<pad>", "\u2581Ich", "\u2581nicht", "en"} & pieces, set())
        self.assertLess(len(ids), 400)
        more = self.folder / "more.txt"
        more.write_text("Ich nicht")
        self.assertIn("from 2 texts", self.make(texts=f"{self.folder / 'text.txt'},{more}"))
        self.assertEqual(set(self.allowed()) - set(ids), {vocabulary["\u2581Ich"], vocabulary["\u2581nicht"]})
        result = run("check-config", "--model", self.folder / "fp32", "--precision", "fp32")
        self.assertIn(f"tokens that are written: {len(self.allowed())} of 8001\n", result.stderr)

    def test_as_the_oracle_has_it_with_the_others_masked(self):
        """The whole vocabulary's logits, those of other tokens -infinity: ids and scores, of one beam and of four."""
        self.make()
        model, n_sure = marian_oracle.Model(self.folder / "model.npz"), 0
        dice = numpy.random.default_rng(3)
        for among in self.allowed(), sorted({0, *dice.choice(range(2, 8000), 3000, replace=False).tolist()}):
            self.write(among)
            for n_beams in 1, 4:
                answers = translate(self.folder / "fp32", LINES[:self.N_LINES], "--beam-size", n_beams, "--max-decoding-length", 9)
                for ids, answer in zip(source_ids(LINES[:self.N_LINES]), answers):
                    self.assertLessEqual(set(answer["output_ids"]), set(among))
                    found, score, margin = marian_oracle.translate(model, ids, n_beams, limit=9, never=(UNK, PAD), among=among)
                    if margin >= SURE:
                        n_sure += 1
                        self.assertEqual(answer["output_ids"], found)
                        self.assertAlmostEqual(answer["score"], score, delta=TOLERANCE)
        self.assertGreaterEqual(n_sure, self.N_LINES)

    def test_off_is_the_whole_vocabulary(self):
        self.make(precision="int8")
        masked, whole = (translate(self.folder / "int8", LINES[:self.N_LINES], *flags, precision="int8")
                         for flags in ([], ["--target-vocabulary", "off"]))
        self.assertNotEqual([line["output_ids"] for line in masked], [line["output_ids"] for line in whole])
        (self.folder / "int8" / self.NAME).unlink()
        self.assertEqual(translate(self.folder / "int8", LINES[:self.N_LINES], precision="int8"), whole)
        self.write(range(8001), "int8")  # all of them
        everything = translate(self.folder / "int8", LINES[:self.N_LINES], precision="int8")
        self.assertEqual(everything, whole)

    def test_the_same_bytes_in_any_batch(self):
        self.make(precision="int8")
        for among in self.allowed("int8"), range(0, 8000, 3):
            self.write(among, "int8")
            for n_beams in 1, 2:
                expected = None
                for rows, threads, kernels in ((n_beams, 1, "c"), (4, 1, "auto"), (64, 1, "auto"), (64, 2, "auto"), (13, 2, "avx2")):
                    result = run("translate", "--model", self.folder / "int8", "--json", "--workers", 1, "--beam-size", n_beams,
                                 "--max-decoding-length", 12, "--batch-size", rows, "--threads-per-worker", threads, "--kernels", kernels,
                                 text="".join(line + "\n" for line in LINES[:30]))
                    if kernels == "avx2" and "CPU" in result.stderr:
                        continue
                    self.assertEqual(result.returncode, 0, result.stderr)
                    expected = expected or result.stdout
                    self.assertEqual(result.stdout, expected, (n_beams, rows, threads, kernels))

    def test_an_import_takes_those_of_an_earlier_model_away(self):
        self.make(precision="int8")
        result = run("import", self.folder, self.folder / "int8")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse((self.folder / "int8" / self.NAME).exists())

    def test_files_that_lie(self):
        self.make()
        for ids, title, pattern in (
                ([0, 5], "attentiond target vocabulary 2: 8001", 'line 1: expected "attentiond target vocabulary 1: "'),
                ([0, 5], "attentiond target vocabulary 1: x", "line 1: expected"),
                ([0, 5], "attentiond target vocabulary 1: 8000", "expected a vocabulary of 8001 tokens, found one of 8000: it is another model"),
                ([0, 5, 5], None, "line 4: expected an id from 6 to 8000"), ([0, 8001], None, "line 3: expected an id from 1 to 8000"),
                ([0, "-1"], None, "line 3"), ([0, "5 "], None, "line 3"), ([0, ""], None, "line 3"), ([0, "1" * 30], None, "line 3"),
                ([5], None, r"expected eos_token_id \(0\) among its 1 ids"), ([], None, "among its 0 ids")):
            with self.subTest(pattern):
                self.write(ids, **({"title": title} if title else {}))
                self.refused(pattern)
        path = self.folder / "fp32" / self.NAME
        self.write([0, 5])
        path.write_bytes(path.read_bytes()[:-1])
        self.refused("line 3: expected an id")

    def refused(self, pattern):
        result = run("translate", "--model", self.folder / "fp32", "--precision", "fp32", text="Tom\n")
        self.assertIn(result.returncode, (1, 2), result.stderr)
        self.assertRegex(result.stderr, pattern)

    def test_texts_that_are_wrong(self):
        (self.folder / "bad.txt").write_bytes(b"gut\nb\xff\n")
        self.assertIn("bad.txt: line 2: ", self.make(texts=self.folder / "bad.txt", expected=2))
        self.assertIn("none.txt", self.make(texts=self.folder / "none.txt", expected=1))
        self.assertIn("expected a file, found none", self.make(texts=f"{self.folder / 'text.txt'},", expected=2))


class Marian(unittest.TestCase):
    """A student of random numbers, whose answers are Marian's own: data/student/README.md."""

    def test_ids_and_log_probabilities_are_marians(self):
        expected = [json.loads(line) for line in (DATA / "student" / "marian.jsonl").read_text().splitlines()]
        lines = [line["source"] for line in expected]
        for search, flags in {"greedy": ["--shortlist", "off"], "greedy_shortlist": [],
                              "beam4": ["--shortlist", "off", "--beam-size", "4"],
                              "beam4_shortlist": ["--beam-size", "4"]}.items():
            for line, answer in zip(expected, translate(DATA / "student", lines, "--split-sentences", "off", *flags)):
                ids = [token for token in answer["output_ids"] if token]
                self.assertEqual(ids, line[search]["ids"], (search, line["source"]))
                self.assertAlmostEqual(sum(answer["token_logprobs"]), line[search]["logprob"], delta=TOLERANCE)

    def test_sources_are_cut_as_there(self):
        expected = [json.loads(line) for line in (DATA / "student" / "marian.jsonl").read_text().splitlines()][:10]
        self.assertEqual(source_ids([line["source"] for line in expected], DATA / "student"), [line["ids"] for line in expected])


class Lies(Folder):
    """Files that are broken, or want to break something: refused by name."""

    def setUp(self):
        super().setUp()
        self.tiny()
        with zipfile.ZipFile(self.folder / "model.npz") as archive:
            self.sound = {info.filename: archive.read(info) for info in archive.infolist()}

    def refused(self, pattern):
        result = run("translate", "--model", self.folder, "--precision", "fp32", text="Tom\n")
        self.assertIn(result.returncode, (1, 2), result.stderr)  # a file, or a setting in one
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, pattern)
        self.assertNotRegex(result.stderr, "(?i)signal|sanitizer|runtime error")

    def write(self, entries, compression=zipfile.ZIP_STORED):
        with zipfile.ZipFile(self.folder / "model.npz", "w", compression) as archive:
            for name, data in entries.items() if isinstance(entries, dict) else entries:
                archive.writestr(name, data)

    def rewrite(self, name, change, pattern):
        with self.subTest(pattern):
            self.write(self.sound | {name: change(self.sound[name])})
            self.refused(pattern)

    def with_header(self, **changes):
        def change(data):
            length, = struct.unpack_from("<H", data, 8)
            header = data[10:10 + length].decode()
            for old, new in changes.values():
                assert old in header
                header = header.replace(old, new)
            header = header.rstrip() + "\n"
            return data[:8] + struct.pack("<H", len(header)) + header.encode() + data[10 + length:]
        return change

    def test_arrays(self):
        name = "encoder_l1_ffn_W1.npy"
        shape = "(32, 48)"
        for old, new, pattern in (
            ("False", "True", 'array "encoder_l1_ffn_W1" is in Fortran\'s order'),
            ("<f4", ">f4", 'expected type <f4, <f2 or .i1, found ">f4"'),
            ("<f4", "<f8", 'found "<f8"'),
            ("<f4", "|O", r'found "\|O"'),
            (shape, "(32, 49)", "its shape needs another number of bytes"),
            (shape, "(18446744073709551615, 2)", "is too large|another number"),
            (shape, "(99999999999999999999,)", "whole numbers"),
            (shape, "(-1, 48)", "whole numbers"),
            (shape, "(48, 32)", "expected shape"),
            (shape, "(" + "1, " * 9 + ")", "at most 8 dimensions"),
            ("'fortran_order': False", "'descr': '<f4'", "'descr', 'fortran_order' and 'shape', each once"),
        ):
            self.rewrite(name, self.with_header(header=(old, new)), pattern)
        self.rewrite(name, lambda data: b"\x93NUMPX" + data[6:], "NUMPY")
        self.rewrite(name, lambda data: data[:6] + b"\x04" + data[7:], "version")
        self.rewrite(name, lambda data: data[:8] + b"\xff\xff" + data[10:], "as many bytes|in its header|at most")
        self.rewrite(name, lambda data: data[:-1], "another number of bytes")

    def test_archives(self):
        entries = self.sound
        self.write(entries, zipfile.ZIP_DEFLATED)
        self.refused("(?i)compress|deflate|stored")
        self.write(list(entries.items()) + [("Wemb.npy", entries["Wemb.npy"])])
        self.refused("twice|duplicate|two entries")
        self.write(entries | {"../../escaped.npy": entries["Wemb.npy"]})
        self.refused("escaped")
        self.assertFalse((self.folder.parent / "escaped.npy").exists())
        self.write(entries | {"readme.txt": b"hello"})
        self.refused("end in .npy")
        self.write({name: data for name, data in entries.items() if name != "decoder_l1_self_Wq.npy"})
        self.refused('expected an array "decoder_l1_self_Wq", found none')
        self.write(entries | {"encoder_l9_self_Wq.npy": entries["encoder_l1_self_Wq.npy"]})
        self.refused('"encoder_l9_self_Wq" has no place')

    def test_bytes_that_changed(self):
        data = bytearray((self.folder / "model.npz").read_bytes())
        data[len(data) // 2] ^= 1
        (self.folder / "model.npz").write_bytes(data)
        self.refused("(?i)checksum|crc|damaged")
        (self.folder / "model.npz").write_bytes(data[:-1000])
        self.refused("zip")
        (self.folder / "model.npz").write_bytes(b"")
        self.refused("zip")

    def test_overlapping_entries(self):
        """Two names for the same bytes: how small archives become large ones."""
        data = bytearray((self.folder / "model.npz").read_bytes())
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            first, second = archive.infolist()[:2]
        at = data.index(b"PK\x01\x02", second.header_offset)
        at = data.index(b"PK\x01\x02", at + 4)
        struct.pack_into("<I", data, at + 42, first.header_offset)
        (self.folder / "model.npz").write_bytes(data)
        self.refused("(?i)overlap|name|size")

    def test_settings(self):
        self.arrays = random_arrays(TINY)
        for settings, pattern in (
            ({"transformer-decoder-autoreg": "average-attention"},
             'transformer-decoder-autoreg: expected "self-attention", found "average-attention"'),
            ({"transformer-decoder-autoreg": "rnn"}, 'dec-cell: expected "ssru", because .* is "rnn", found none'),
            ({"transformer-decoder-autoreg": "rnn", "dec-cell": "gru"}, 'dec-cell: expected "ssru", .* found gru'),
            ({"transformer-rnn-projection": True}, 'transformer-rnn-projection: expected "false"'),
            ({"type": "s2s"}, 'type: expected "transformer", found "s2s"'),
            ({"transformer-future": 1}, "transformer-future is set, and is not known"),
            ({"transformer-tied-layers": [1, 1]}, "transformer-tied-layers"),
            ({"transformer-postprocess": "dhn"}, "transformer-postprocess"),
            ({"transformer-ffn-activation": "mish"}, "expected relu, swish or gelu"),
            ({"dim-emb": -32}, "dim-emb: expected a whole number"),
            ({"dim-emb": 16}, "expected shape"),
            ({"enc-depth": 999999}, "encoder_layers|layers"),
            ({"transformer-heads": 7}, "multiple of"),
            ({"transformer-train-position-embeddings": True}, "Wpos"),
        ):
            with self.subTest(pattern):
                self.tiny(settings, arrays=self.arrays)
                self.refused(pattern)

    def test_yaml(self):
        (self.folder / "vocab.yml").write_text("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n")
        self.refused("vocab.yml: line 1: an anchor, which is not read")
        (self.folder / "vocab.yml").write_text("[" * 100000)
        self.refused("vocab.yml")
        (self.folder / "vocab.yml").write_text('"</s>": 0\n"<unk>": 1\n"x": 1\n')
        self.refused("both have id 1")
        (self.folder / "vocab.yml").write_text('"</s>": 0\n"x": 1\n')
        self.refused('expected the piece "<unk>"')
        (self.folder / "vocab.yml").write_text('"</s>": !!python/object:os.system 0\n')
        self.refused("a tag, which is not read")
        (self.folder / "vocab.yml").write_text("")
        self.refused("vocab.yml: line 1: empty")
        (self.folder / "vocab.yml").unlink()
        self.refused('decoder.yml: vocabs: expected a file "vocab.yml" beside it')

    def test_decoder_yml(self):
        for decoder, pattern in (
            ({"models": ["model.npz", "other.npz"]}, "an ensemble"),
            ({"models": ["../../../etc/passwd"]}, 'models: expected a file "passwd" beside it'),
            ({"vocabs": ["/etc/hostname", "vocab.yml"]}, 'vocabs: expected a file "hostname" beside it'),
            ({"beam-size": "many"}, "beam-size: expected a whole number"),
            ({"normalize": "1,5"}, "normalize: expected a number"),
            ({"beam-size": 10000}, "num_beams"),
            ({"shortlist": ["lex.s2t.gz", 100, 100, 0]}, 'shortlist is set \\("lex.s2t.gz"\\), which is not implemented'),
            ({"output-sampling": ["topk", 10]}, "output-sampling is set"),
        ):
            with self.subTest(pattern):
                export_marian.write_decoder(self.folder, decoder)
                self.refused(pattern)

    def test_what_marian_leaves_empty(self):
        export_marian.write_decoder(self.folder, {"shortlist": [], "output-sampling": False})
        self.assertEqual(len(translate(self.folder, ["Tom"], "--max-decoding-length", "3")), 1)


if __name__ == "__main__":
    unittest.main()
