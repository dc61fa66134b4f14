#!/usr/bin/env python3
"""A lexical shortlist for a student: of each piece, which pieces of the other language it may become.

    lexicon.py PREPARED_DIR OUT_DIR [--pairs NAME,...] [--best 50]

Reads PREPARED_DIR/ids (vocabulary.py), writes OUT_DIR/lex.50.50.PAIR.s2t.bin, as Marian and Firefox have it. Probabilities are those of
IBM model 1 (Brown et al. 1993, "The Mathematics of Statistical Machine Translation"): every piece of a target has come from one of its
source's, </s> among them, which gathers what every text has.

Needs numpy, and some gigabytes of memory for pairs by the half million."""

import argparse
import json
import os
import sys

import numpy as np

EOS = 0

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "tools"))
import export_marian  # the file's format


def ranges(begins, lengths):
    """The numbers begin, begin + 1, ... of each row, one row behind the other."""
    ends = np.cumsum(lengths)
    return np.repeat(begins - (ends - lengths), lengths) + np.arange(ends[-1])


def links_of(path, longest, n_pieces):
    """(what a target's piece may have come from, as source * n_pieces + target: one link behind the other; how many links each has)"""
    with np.load(path) as part:
        ids, lengths = part["ids"].astype(np.int64), part["lengths"].astype(np.int64)
    begins = np.cumsum(lengths.sum(1)) - lengths.sum(1)
    kept = lengths.max(1) <= longest
    n_source, n_target, begins = lengths[kept, 0], lengths[kept, 1], begins[kept]
    targets = ids[ranges(begins + n_source, n_target)]
    # Of each target's piece all pieces of its source, and </s>.
    n_links, at = np.repeat(n_source + 1, n_target), ranges(np.repeat(begins, n_target), np.repeat(n_source + 1, n_target))
    sources = ids[np.minimum(at, len(ids) - 1)]
    sources[np.cumsum(n_links) - 1] = EOS
    return sources * n_pieces + np.repeat(targets, n_links), n_links


def model_1(links, n_links, n_pieces, rounds):
    """(source * n_pieces + target of all that were linked, the target's probability)"""
    kinds, which = np.unique(links, return_inverse=True)
    starts, sources = np.cumsum(n_links) - n_links, kinds // n_pieces
    chances = np.ones(len(kinds))
    for _ in range(rounds):
        shares = chances[which]
        shares /= np.repeat(np.add.reduceat(shares, starts), n_links)
        counts = np.bincount(which, shares, len(kinds))
        chances = counts / np.bincount(sources, counts, n_pieces)[sources]
    return kinds, chances


def lists_of(kinds, chances, n_pieces, best, least):
    """Of each piece the targets that are likeliest, at most `best`, and none that is less likely than `least`."""
    order = np.lexsort((-chances, kinds // n_pieces))
    order = order[chances[order] >= least]
    sources, targets = kinds[order] // n_pieces, kinds[order] % n_pieces
    rank = np.arange(len(order)) - np.searchsorted(sources, sources)
    lists = [[] for _ in range(n_pieces)]
    for source, target in zip(sources[rank < best].tolist(), targets[rank < best].tolist()):
        lists[source].append(target)
    return lists


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prepared", metavar="PREPARED_DIR")
    parser.add_argument("out", metavar="OUT_DIR")
    parser.add_argument("--pairs", default="train,translated", metavar="NAME,...")
    parser.add_argument("--longest", type=int, default=24, help="ids of a side; longer pairs are left out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--first", type=int, default=50, help="ids that are in every list")
    parser.add_argument("--best", type=int, default=50)
    parser.add_argument("--least", type=float, default=1e-4, help="probability of what is taken")
    options = parser.parse_args()
    with open(f"{options.prepared}/ids/sets.json", encoding="utf-8") as file:
        document = json.load(file)
    n_pieces = len(document["pieces"])
    parts = [links_of(f"{options.prepared}/ids/{name}.npz", options.longest, n_pieces) for name in options.pairs.split(",")]
    kinds, chances = model_1(*(np.concatenate(part) for part in zip(*parts)), n_pieces, options.rounds)
    lists = lists_of(kinds, chances, n_pieces, options.best, options.least)
    # Marian wants some for the last piece.
    lists[-1] = lists[-1] or [n_pieces - 1]
    path = f"{options.out}/lex.{options.first}.{options.best}.en{document['lang']}.s2t.bin"
    with open(path, "wb") as file:
        file.write(export_marian.to_shortlist(lists, options.first, options.best))
    n = sum(map(len, lists))
    print(f"{path}: {n} words for {sum(map(bool, lists))} of {n_pieces} pieces, {n / n_pieces:.1f} each")


if __name__ == "__main__":
    main()
