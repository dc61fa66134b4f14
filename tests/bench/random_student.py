#!/usr/bin/python3
"""Makes a student as Firefox's tiny ones are, with random weights and a shortlist, to measure speed with.

    random_student.py OUT  needs Debian's python3-numpy

d_model 256, feed-forward 1,536, six layers of the encoder, two of the decoder with recurrent cells; of each source word the
shortlist has some forty target words, most of them frequent, so that a sentence of 25 tokens has some 850 candidates. Text
is cut by the tests' English and German vocabulary. What comes out is nonsense: give each target a fixed length.
"""

import argparse
import pathlib
import shutil
import sys

import numpy

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path[:0] = [str(TESTS / name) for name in ("parity", "tools")]
sys.argv.insert(1, "")  # marian_folder's, which takes the program to be tested from there
import export_marian  # noqa: E402
from marian_folder import SSRU, TINY, random_arrays  # noqa: E402

FIRST, DRAWN = 50, 50


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    settings = TINY | SSRU | {"dim-emb": 256, "enc-depth": 6, "dec-depth": 2, "transformer-heads": 8,
                              "transformer-dim-ffn": 1536, "transformer-ffn-activation": "relu"}
    arrays = random_arrays(settings)
    for name, values in arrays.items():
        if values.ndim == 2 and values.shape[0] > 1:
            arrays[name] = (0.2 * values).astype("<f4")
    n_vocab, dice = settings["dim-vocabs"][0], numpy.random.default_rng(1)
    lists = [sorted(set((n_vocab * dice.random(DRAWN) ** 4).astype(int).tolist())) for _ in range(n_vocab)]
    options.out.mkdir(parents=True, exist_ok=True)
    shutil.copy(TESTS / "models" / "en-de" / "source.spm", options.out / "vocab.ende.spm")
    (options.out / "model.ende.bin").write_bytes(export_marian.to_bin(export_marian.bin_items(arrays, settings, False)))
    (options.out / "lex.50.50.ende.s2t.bin").write_bytes(export_marian.to_shortlist(lists, FIRST))


main()
