#!/usr/bin/env python3
"""Whether attentiond writes the ids that the trainer's own greedy search writes, in float32.

    check_parity.py MODEL_DIR --attentiond BIN --lines FILE [--count 50]

FILE has a sentence in each line; of a file with tabs the first column counts. Ends with 1 where they differ."""

import argparse
import json
import subprocess
import sys

import sentencepiece

from data import batch_of
from model import EOS, Transformer, read_directory
from search import search


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL_DIR")
    parser.add_argument("--attentiond", metavar="BIN", required=True)
    parser.add_argument("--lines", metavar="FILE", required=True)
    parser.add_argument("--count", type=int, default=50)
    options = parser.parse_args()
    with open(options.lines, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t")[0] for line in file]
    lines = lines[::max(1, len(lines) // options.count)][:options.count]

    sizes, state = read_directory(options.model)
    model = Transformer(sizes)
    model.load_state_dict(state)
    model.eval()
    with open(f"{options.model}/vocab.json", encoding="utf-8") as file:
        vocab = json.load(file)
    pieces = sentencepiece.SentencePieceProcessor(model_file=f"{options.model}/source.spm")
    if any(vocab[pieces.id_to_piece(i)] != i for i in range(pieces.get_piece_size())):
        sys.exit(f"{options.model}: vocab.json has other ids than source.spm")

    done = subprocess.run([options.attentiond, "translate", "--json", "--model", options.model, "--precision", "fp32", "--beam-size", "1"],
                          input="".join(line + "\n" for line in lines).encode(), stdout=subprocess.PIPE, check=True)
    n_same = 0
    for line, output in zip(lines, done.stdout.splitlines(), strict=True):
        source = batch_of([pieces.encode(line)], model.pad, "cpu")
        theirs = json.loads(output)["output_ids"]
        # What has lost its way ends where the program's limit ends it.
        answer = search([model], source, 1, len(theirs) - 1 if len(theirs) >= 30 else 30)[0][0].tolist()
        ours = answer[:answer.index(EOS) + 1]
        n_same += ours == theirs
        if ours != theirs:
            print(f"{line}\n  trainer    {pieces.decode(ours[:-1])}\n  attentiond {json.loads(output)['text']}")
    print(f"{n_same} of {len(lines)} the same")
    return 0 if n_same == len(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
