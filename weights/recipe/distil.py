#!/usr/bin/env python3
"""What one model, or several together, make of the sources that a smaller one is to be trained on (sequence-level distillation,
Kim and Rush 2016).

    distil.py PREPARED_DIR --teachers A.pt B.pt [--beam 4] [--tokens 60000] [--minutes 5]

Reads PREPARED_DIR/ids/train.npz and english.npz (vocabulary.py) and writes distilled.npz in the same form: each source once, with the
beam's best translation in place of the reference. Translations that did not end, that are far longer or shorter than their
source, or that have other digits are left out. Teachers are checkpoints of train.py (their averaged weights) or MarianMT
directories that it wrote. With --minutes the longest sentences are done last, and what is not done by then is left out.
"""

import argparse
import json
import os
import sys
import time

import numpy as np
import torch

from data import padded
from model import EOS, Transformer, read_directory
from search import search


def load(path, device):
    if os.path.isdir(path):
        sizes, state = read_directory(path)
    else:
        saved = torch.load(path, map_location="cpu", weights_only=False)
        sizes, state = saved["sizes"], saved["average"]
    model = Transformer(sizes)
    model.load_state_dict(state)
    return model.to(device).eval()


def read_sources(directory, weight_of_english):
    """(ids, begins, lengths, weights) of the sources, each once; a source's weight is the largest of its pairs'."""
    with np.load(f"{directory}/train.npz") as part:
        ids, both, weights = part["ids"], part["lengths"].astype(np.int64), part["weights"].astype(np.float64)
    begins, lengths = np.cumsum(both.sum(1)) - both.sum(1), both[:, 0]
    if os.path.exists(f"{directory}/english.npz"):
        with np.load(f"{directory}/english.npz") as part:
            more, more_ids = part["lengths"].astype(np.int64)[:, 0], part["ids"]
        begins = np.concatenate([begins, len(ids) + np.cumsum(more) - more])
        lengths, weights = np.concatenate([lengths, more]), np.concatenate([weights, np.full(len(more), weight_of_english)])
        ids = np.concatenate([ids, more_ids])
    first = {}
    for i, (begin, length) in enumerate(zip(begins, lengths)):
        k = first.setdefault(ids[begin:begin + length].tobytes(), i)
        weights[k] = max(weights[k], weights[i])
    kept = np.array(sorted(first.values()))
    return ids, begins[kept], lengths[kept], weights[kept]


def has_same_digits(source, target, digit_of):
    a, b = digit_of[source], digit_of[target]
    return np.array_equal(np.bincount(a, minlength=11)[:10], np.bincount(b, minlength=11)[:10])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prepared", metavar="PREPARED_DIR")
    parser.add_argument("--teachers", nargs="+", required=True, metavar="FILE")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--penalty", type=float, default=1.0)
    parser.add_argument("--tokens", type=int, default=0, help="of the sources in a batch; 0: 30,000 on a GPU, 1,500 elsewhere")
    parser.add_argument("--limit", type=int, default=0, help="sentences; 0: all")
    parser.add_argument("--english", type=float, default=0.7, help="weight of text without a translation")
    parser.add_argument("--minutes", type=float, default=1e9)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    directory = f"{options.prepared}/ids"
    begin_time = time.time()
    with open(f"{directory}/sets.json", encoding="utf-8") as file:
        pieces = json.load(file)["pieces"]
    digit_of = np.array([int(piece) if piece in "0123456789" and len(piece) == 1 else 10 for piece in pieces])

    models = [load(path, device) for path in options.teachers]
    pad = models[0].pad
    ids, begins, lengths, weights = read_sources(directory, options.english)
    order = np.argsort(lengths, kind="stable")
    if options.limit:
        order = np.sort(np.random.RandomState(1).permutation(len(order))[:options.limit])
        order = order[np.argsort(lengths[order], kind="stable")]
    flat = torch.from_numpy(np.append(ids, 0).astype(np.int32)).to(device)
    tokens = options.tokens or (30000 if device == "cuda" else 1500)
    out_ids, out_lengths, out_weights, n_dropped, at = [], [], [], 0, 0
    while at < len(order) and time.time() - begin_time < 60 * options.minutes:
        n = max(1, tokens // (lengths[order[at]] + 1))
        n = max(1, tokens // (lengths[order[min(at + n, len(order)) - 1]] + 1))
        rows = order[at:at + n]
        at += n
        width = int(lengths[rows].max()) + 1
        source = padded(flat, torch.from_numpy(begins[rows]).to(device), torch.from_numpy(lengths[rows]).to(device), width, pad)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            answers, ended = search(models, source, options.beam, min(200, 2 * width + 10), options.penalty)
        answers, ended = answers.cpu().numpy(), ended.cpu().numpy()
        n_out = (answers == EOS).argmax(1)
        for row, answer, length, is_ended in zip(rows, answers, n_out, ended):
            left, right = ids[begins[row]:begins[row] + lengths[row]], answer[:length]
            if not is_ended or not 0 < length < 250 or length > 2.2 * lengths[row] + 8 or lengths[row] > 2.2 * length + 8 or not has_same_digits(left, right, digit_of):
                n_dropped += 1
                continue
            out_ids += [left.astype(np.uint16), right.astype(np.uint16)]
            out_lengths.append((lengths[row], length))
            out_weights.append(weights[row])
        if (at // n) % 20 == 0:
            print(f"{at} of {len(order)} sentences, {time.time() - begin_time:.0f} s", flush=True)
    if not out_ids:
        sys.exit(f"none of {n_dropped} translations ended and had its source's digits: the teachers have learned too little")
    np.savez_compressed(f"{directory}/distilled.npz", ids=np.concatenate(out_ids), lengths=np.array(out_lengths, np.uint16), weights=np.array(out_weights, np.float16))
    print(f"{len(out_lengths)} translations, {n_dropped} dropped, {len(order) - min(at, len(order))} not reached, {time.time() - begin_time:.0f} s")


if __name__ == "__main__":
    main()
