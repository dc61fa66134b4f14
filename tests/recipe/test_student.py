#!/usr/bin/env python3
"""What the recipe has for students, weights/recipe/lexicon.py and transfer.reshaped, on a few numbers. Needs numpy."""

import os
import subprocess
import sys
import tempfile
import unittest
from json import dumps

import numpy

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RECIPE = os.path.join(ROOT, "weights", "recipe")
sys.path[:0] = [RECIPE, os.path.join(ROOT, "tests", "parity")]
import lexicon  # noqa: E402
import student_reference  # noqa: E402
import transfer  # noqa: E402

# Source and target of the same language but for 10, and in another order.
PAIRS = [([2, 3], [13, 12]), ([2, 4], [12, 14]), ([3, 4, 5], [15, 14, 13]), ([5], [15])]
N_PIECES = 16


def write_ids(directory, pairs):
    os.mkdir(f"{directory}/ids")
    numpy.savez(f"{directory}/ids/train.npz", ids=numpy.array([i for pair in pairs for side in pair for i in side], numpy.uint16),
                lengths=numpy.array([[len(side) for side in pair] for pair in pairs], numpy.uint16))
    with open(f"{directory}/ids/sets.json", "w", encoding="utf-8") as file:
        file.write(dumps({"lang": "de", "pieces": [str(i) for i in range(N_PIECES)]}))


class Lexicon(unittest.TestCase):
    def written(self, pairs, *flags):
        with tempfile.TemporaryDirectory() as folder:
            write_ids(folder, pairs)
            subprocess.run([sys.executable, "-B", f"{RECIPE}/lexicon.py", folder, folder, "--pairs", "train", *flags], check=True, stdout=subprocess.PIPE)
            name, = (name for name in os.listdir(folder) if name.startswith("lex."))
            return name, student_reference.Shortlist(f"{folder}/{name}")

    def test_words_are_found_though_their_order_is_another(self):
        name, shortlist = self.written(PAIRS, "--rounds", "30", "--first", "1", "--best", "1")
        self.assertEqual(name, "lex.1.1.ende.s2t.bin")
        for piece in 2, 3, 4, 5:
            chosen = set(shortlist.candidates([piece], N_PIECES, False))
            self.assertIn(piece + 10, chosen)

    def test_the_best_are_taken_and_long_pairs_are_not(self):
        links, n_links = self.links(PAIRS, 2)
        self.assertEqual(n_links.tolist(), [3, 3, 3, 3, 2])
        self.assertEqual((links // N_PIECES).tolist(), [2, 3, 0, 2, 3, 0, 2, 4, 0, 2, 4, 0, 5, 0])
        self.assertEqual((links % N_PIECES).tolist(), [13, 13, 13, 12, 12, 12, 12, 12, 12, 14, 14, 14, 15, 15])
        kinds, chances = lexicon.model_1(links, n_links, N_PIECES, 3)
        sums = numpy.bincount(kinds // N_PIECES, chances)
        numpy.testing.assert_allclose(sums[sums > 0], 1)
        lists = lexicon.lists_of(kinds, chances, N_PIECES, 1, 0.0)
        self.assertEqual([len(of_piece) for of_piece in lists[:6]], [1, 0, 1, 1, 1, 1])
        self.assertEqual(lists[2], [12])
        self.assertEqual(lexicon.lists_of(kinds, chances, N_PIECES, 9, 2.0), [[]] * N_PIECES)

    def links(self, pairs, longest):
        with tempfile.TemporaryDirectory() as folder:
            write_ids(folder, pairs)
            return lexicon.links_of(f"{folder}/ids/train.npz", longest, N_PIECES)


class Reshaped(unittest.TestCase):
    def test_what_fits_stays_and_what_is_wider_changes_nothing(self):
        dice = numpy.random.default_rng(1)

        def layers(side, n, ffn, norm):
            return {f"{side}.{i}.{name}": dice.standard_normal(shape) for i in range(n) for name, shape in (
                ("fc1.weight", (ffn, 4)), ("fc1.bias", (ffn,)), ("fc2.weight", (4, ffn)), (f"{norm}.weight", (4,)))}

        old = layers("encoder", 2, 6, "self_attn_layer_norm") | layers("decoder", 3, 6, "self_attn_layer_norm")
        fresh = layers("encoder", 2, 8, "self_attn_layer_norm") | layers("decoder", 2, 8, "cell_layer_norm") | {"decoder.0.cell.input.weight": dice.standard_normal((4, 4))}
        made = transfer.reshaped(old, 3, fresh, 2)
        self.assertEqual(made.keys(), fresh.keys())
        x = dice.standard_normal(4)

        def feed_forward(state, layer):
            hidden = numpy.maximum(state[f"{layer}.fc1.weight"] @ x + state[f"{layer}.fc1.bias"], 0)
            return state[f"{layer}.fc2.weight"] @ hidden

        for ours, theirs in ("encoder.1", "encoder.1"), ("decoder.0", "decoder.0"), ("decoder.1", "decoder.2"):
            numpy.testing.assert_allclose(feed_forward(made, ours), feed_forward(old, theirs))
        numpy.testing.assert_array_equal(made["decoder.1.cell_layer_norm.weight"], old["decoder.2.self_attn_layer_norm.weight"])
        numpy.testing.assert_array_equal(made["decoder.0.cell.input.weight"], fresh["decoder.0.cell.input.weight"])


if __name__ == "__main__":
    unittest.main()
