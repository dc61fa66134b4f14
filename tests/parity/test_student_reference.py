"""What student_reference.py and make_student.py must keep, so that others can be compared with them.

Needs numpy.  python3 tests/parity/test_student_reference.py [unittest arguments]
"""

import os
import pathlib
import shutil
import struct
import sys
import tempfile
import unittest

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # many small products: threads would wait for each other
import numpy  # noqa: E402

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import export_marian  # noqa: E402
import make_student  # noqa: E402
import marian_oracle  # noqa: E402
import student_reference as reference  # noqa: E402

SOURCES = make_student.sentences(7, 12)
FORMS = ("model.bin", "model.intgemm8.bin", "model.intgemm.alphas.bin")
LEX = f"lex.50.50.{make_student.PAIR}.s2t.bin"


def setUpModule():
    global folder
    folder = pathlib.Path(tempfile.mkdtemp(prefix="student."))
    make_student.write(folder / "shared")
    make_student.write(folder / "split", 2, split=True)


def tearDownModule():
    shutil.rmtree(folder)


def student(name, form="model.bin"):
    return reference.Student(folder / name / form)


def other_oracle(name):
    """It reads settings whose values are JSON."""
    with numpy.load(folder / name / "model.npz") as arrays:
        arrays = {key: arrays[key] for key in arrays.files if ":" not in key}
    export_marian.write_arrays(folder, arrays, student(name, "model.npz").settings)
    return marian_oracle.Model(folder / "model.npz")


class Everybody:
    """A shortlist in which every word may become every other."""

    def candidates(self, source, n_target, is_shared):
        return list(range(n_target))


def greedy(model, source):
    """Without beams, and with the whole history computed again for each token."""
    memory, ids = model.memory(model.encode(source)), []
    while len(ids) < 2 * len(source) and ids[-1:] != [reference.EOS]:
        cells = model.start()
        for position, word in enumerate([None, *ids]):
            logprobs, cells, _ = model.step(memory, cells, word, position)
        logprobs[reference.UNK] = -numpy.inf
        ids.append(int(logprobs.argmax()))
    return ids


class Reference(unittest.TestCase):
    def test_encoder_is_the_one_of_the_other_oracle(self):
        for name in ("shared", "split"):
            ours, other = student(name, "model.npz"), other_oracle(name)
            for source in SOURCES:
                numpy.testing.assert_allclose(ours.encode(source), other.encode(source), atol=1e-4)

    def test_cell_is_a_weighted_sum_of_all_inputs(self):
        model, prefix = student("shared"), "decoder_l1_rnn"
        rows, cell = numpy.random.RandomState(3).standard_normal((6, model.d)), numpy.zeros((1, model.d))
        for row in rows:
            y, cell = model.ssru(prefix, row[None], cell)
        forget = 1 / (1 + numpy.exp(-(rows @ model.items[f"{prefix}_Wf"] + model.items[f"{prefix}_bf"])))
        inputs = rows @ model.items[f"{prefix}_W"]
        total = sum((1 - forget[i]) * inputs[i] * forget[i + 1:].prod(axis=0) for i in range(len(rows)))
        numpy.testing.assert_allclose(cell[0], total, atol=1e-12)
        x = rows[-1] + numpy.where(total > 0, total, 0)
        x = (x - x.mean()) / x.std() * model.items[f"{prefix}_ffn_ln_scale"] + model.items[f"{prefix}_ffn_ln_bias"]
        numpy.testing.assert_allclose(y, x, atol=1e-6)

    def test_search_with_one_beam_is_greedy(self):
        model = student("shared")
        for source in SOURCES:
            self.assertEqual(reference.translate(model, source).ids, greedy(model, source))

    def test_wider_search_is_seldom_worse(self):
        model = student("split")
        better = [reference.translate(model, source, width=4) for source in SOURCES]
        greedy_ones = [reference.translate(model, source) for source in SOURCES]
        mean = [numpy.mean([best.total() / len(best.ids) for best in found]) for found in (greedy_ones, better)]
        self.assertGreater(mean[1], mean[0])

    def test_eight_bits_are_near_to_floats(self):
        for name in ("shared", "split"):
            floats = student(name).encode(SOURCES[0])
            for form in FORMS[1:]:
                error = numpy.abs(student(name, form).encode(SOURCES[0]) - floats)
                self.assertLess(error.mean(), 0.2, "of numbers around 1")
                self.assertGreater(error.max(), 1e-4, "nothing was rounded")


class Shortlists(unittest.TestCase):
    def test_with_every_candidate_it_is_the_whole_vocabulary(self):
        for name in ("shared", "split"):
            for form in FORMS:
                model = student(name, form)
                for source in SOURCES[:4]:
                    whole, listed = (reference.translate(model, source, which) for which in (None, Everybody()))
                    self.assertEqual((whole.ids, whole.logprobs), (listed.ids, listed.logprobs))

    def test_candidates(self):
        for name, n_target in (("shared", 1024), ("split", 768)):
            shortlist = reference.Shortlist(folder / name / LEX)
            for source in SOURCES:
                found = shortlist.candidates(source, n_target, name == "shared")
                wanted = {int(i) for word in source for i in
                          shortlist.ids[int(shortlist.offsets[word]):int(shortlist.offsets[word + 1])]}
                self.assertEqual(len(shortlist.targets(1024)), 0)
                wanted |= set(range(50)) | (set(source) if name == "shared" else set())
                self.assertEqual(found, sorted(set(found)))
                self.assertLessEqual(wanted, set(found))
                self.assertEqual((len(found) % 8, len(found) - len(wanted) < 8), (0, True))

    def test_only_candidates_are_said(self):
        model, shortlist = student("shared"), reference.Shortlist(folder / "shared" / LEX)
        for source in SOURCES:
            said = reference.translate(model, source, shortlist, width=2).ids
            self.assertLessEqual(set(said), set(model.candidates(source, shortlist)) - {reference.UNK})

    def test_checksum(self):
        golden = 0x9E3779B9
        self.assertEqual(reference.checksum([0]), golden)
        self.assertEqual(reference.checksum([0, 5]), golden ^ (5 + golden + (golden << 6) + (golden >> 2)))
        self.assertEqual(reference.checksum([2 ** 64 - 1]), golden - 1)
        data = bytearray((folder / "shared" / LEX).read_bytes())
        data[60] ^= 4
        (folder / "flipped").write_bytes(data)
        with self.assertRaises(AssertionError):
            reference.Shortlist(folder / "flipped")


class Models(unittest.TestCase):
    def test_same_arguments_same_bytes(self):
        make_student.write(folder / "again")
        for path in sorted((folder / "shared").iterdir()):
            self.assertEqual(path.read_bytes(), (folder / "again" / path.name).read_bytes(), path.name)

    def test_forms_hold_the_same_numbers(self):
        for name in ("shared", "split"):
            arrays = student(name, "model.npz").items
            for form in FORMS:
                items = student(name, form).items
                self.assertLessEqual(set(arrays), set(items))
                self.assertEqual(reference.read_settings(items), reference.read_settings(arrays))
                for key in set(arrays) - {"special:model.yml"}:
                    item, array = items[key], arrays[key]
                    step = 1 / item.mult if isinstance(item, reference.Quantised) else 0
                    item = item.floats() if isinstance(item, reference.Quantised) else item
                    self.assertLessEqual(numpy.abs(item - array).max(), 0.501 * step, (form, key))

    def test_data_begin_at_a_multiple_of_256(self):
        for form in FORMS:
            data = (folder / "shared" / form).read_bytes()
            n, = struct.unpack_from("<Q", data, 8)
            lengths = [struct.unpack_from("<Q", data, 16 + 32 * i + 24)[0] for i in range(n)]
            self.assertEqual([length % 256 for length in lengths[:-1]], [0] * (n - 1))
            self.assertEqual((len(data) - sum(lengths)) % 256, 0)

    def test_outputs_are_worth_comparing(self):
        for name in ("shared", "split"):
            found = [reference.translate(student(name), source) for source in SOURCES]
            ended = sum(best.ids[-1] == reference.EOS for best in found)
            self.assertGreater(ended, len(found) // 3)
            self.assertGreater(len({tuple(best.ids) for best in found}), len(found) // 2)
            self.assertGreater(len({i for best in found for i in best.ids}), 20)


if __name__ == "__main__":
    unittest.main()
