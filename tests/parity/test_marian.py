"""Marian models, read as they lie: against a naive implementation of Marian's own rules, against the bundled
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
import tempfile
import unittest
import zipfile

from marian_folder import DATA, LINES, MODEL, PAD, SSRU, SURE, TINY, TOLERANCE, UNK, Folder, random_arrays, run, source_ids, translate
import export_marian
import marian_oracle


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
