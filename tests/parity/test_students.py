"""Students of Firefox's and Bergamot's kind, compressed files, HPLT's directories, lexical shortlists and vocabularies of
target languages: against a naive implementation of Marian's own rules, and files that lie.

Needs numpy.  python3 tests/parity/test_students.py BINARY [unittest arguments]
"""

import gzip
import json
import shutil
import unittest
import zlib

import numpy

from marian_folder import LINES, MODEL, PAD, SSRU, SURE, TINY, TOLERANCE, UNK, Folder, random_arrays, run, source_ids, translate
import export_marian
import marian_oracle
import registry


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

    def test_npz_and_bin_are_the_same_and_as_the_oracle_has_it(self):
        npz = self.student("model.npz", folder="npz")
        expected = self.answers(npz)
        self.assertEqual(self.answers(self.student()), expected)
        model = marian_oracle.Model(npz / "model.npz")
        n_sure = 0
        for ids, answer in zip(source_ids(LINES[:self.N_LINES], npz), expected):
            found, score, margin = marian_oracle.translate(model, ids, 1, limit=9, factor=2, never=(UNK,))
            n_sure += margin >= SURE
            if margin >= SURE:
                self.assertEqual(answer["output_ids"], found)
                self.assertAlmostEqual(answer["score"], score, delta=TOLERANCE)
        self.assertGreaterEqual(n_sure, self.N_LINES // 2)

    def test_an_import_is_exported_again(self):
        """The recipe writes its students in attentiond's own words, as an import does, and export_marian.py makes Marian's of them."""
        result = run("import", "--precision", "fp32", self.student(), self.folder / "imported")
        self.assertEqual(result.returncode, 0, result.stderr)
        for int8, precision in (False, "fp32"), (True, "int8"):
            expected = self.answers(self.student("model.deen.intgemm8.bin" if int8 else "model.npz", int8), precision=precision)
            exported = self.folder / precision
            export_marian.export(self.folder / "imported", exported, "<i1" if int8 else "<f4")
            self.assertEqual(self.answers(exported, precision=precision), expected)

    def compressed(self, folder, kind, *names):
        """The directory as Mozilla serves it."""
        for path in sorted(folder.iterdir()):
            if not names or path.name in names:
                content = path.read_bytes()
                packed = gzip.compress(content) if kind == "gz" else registry.zstd_stored(content)
                path.with_name(f"{path.name}.{kind}").write_bytes(packed)
                path.unlink()
        return folder

    def test_compressed_files_are_the_same(self):
        lists, n_first = self.lexicon(self.SHARED["dim-vocabs"][0])
        for name, int8 in ("model.deen.intgemm.alphas.bin", True), ("model.npz", False):
            student = self.student(name, int8=int8)
            (student / "lex.50.50.deen.s2t.bin").write_bytes(export_marian.to_shortlist(lists, n_first))
            expected = self.answers(student, precision="int8")
            for kind in "gz", "zst":
                self.student(name, int8=int8)
                (student / "lex.50.50.deen.s2t.bin").write_bytes(export_marian.to_shortlist(lists, n_first))
                self.assertEqual(self.answers(self.compressed(student, kind), precision="int8"), expected, kind)
                result = run("check-config", "--models-directory", student.parent)
                self.assertEqual(result.returncode, 0, result.stderr)
        # Where both forms lie there, the plain one counts; some may be compressed and others not.
        (student / "vocab.deen.spm").write_bytes((MODEL / "source.spm").read_bytes())
        (student / "vocab.deen.spm.zst").write_bytes(b"not looked at")
        self.assertEqual(self.answers(student, precision="int8"), expected)
        (student / "vocab.deen.spm").unlink()
        self.refused(student, "vocab.deen.spm.zst: no Zstandard data, or damaged: ")

    def test_compressed_files_that_are_cut_or_damaged(self):
        name = "model.deen.intgemm.alphas.bin"
        for kind, words in ("gz", "gzip"), ("zst", "Zstandard"):
            student = self.compressed(self.student(name, int8=True), kind)
            path = student / f"{name}.{kind}"
            sound = path.read_bytes()
            for n in 1, 20, len(sound) // 2, len(sound) - 1:
                path.write_bytes(sound[:n])
                self.refused(student, rf"{name}.{kind}: (it ends in the middle of its {words} data|no {words} data, or damaged)")
            dice = numpy.random.default_rng(5)
            for at in [0, 1, 2, 3, *dice.integers(4, len(sound), 6).tolist()]:
                path.write_bytes(sound[:at] + bytes([sound[at] ^ 0xff]) + sound[at + 1:])
                result = run("translate", "--model", student, "--precision", "fp32", text="Tom\n")
                self.assertNotRegex(result.stderr, "(?i)signal|sanitizer|runtime error")
                if kind == "gz":  # which has a checksum
                    self.assertIn(result.returncode, (1, 2), at)
            path.write_bytes(sound + b"more")
            self.refused(student, f"{name}.{kind}: no {words} data, or damaged")

    def test_a_bomb(self):
        """A gigabyte of zeros that is a megabyte packed is not unpacked beyond the limit."""
        student = self.compressed(self.student("model.npz"), "gz", "model.npz")
        packer = zlib.compressobj(9, wbits=31)
        with open(student / "model.npz.gz", "wb") as file:
            for _ in range(1024):
                file.write(packer.compress(bytes(1 << 20)))
            file.write(packer.flush())
        self.refused(student, "model.npz.gz: (it unpacks to more than the 536870912 bytes that are read|no memory for the)")

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
            self.assertEqual(self.answers(self.student(name, int8=True, arrays=arrays)), expected)

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
        self.assertEqual(without, self.answers(student))

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


if __name__ == "__main__":
    unittest.main()
