#!/usr/bin/python3
"""Whether two programs translate the same lines by the same model to the same bytes; which they do not.

    compare_programs.py OLD NEW --model DIR [--old-model DIR] [--source en] [--target de] [--max-decoding-length N] TEXT ...

OLD and NEW are two builds of attentiond, TEXT is a file with a line for each text; of a .tsv the first column counts.
Compared is what is written and how likely it is to the model: with random weights (random_student.py, random_model.py),
whose translations say nothing, the second shows that the model was given something else. Characters that stand for
broken ones do not count. --old-model: where OLD needs other settings beside the same weights. Exit code 1: lines
differ, and are printed.
"""

import argparse
import concurrent.futures
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
from serve import Daemon  # noqa: E402


def read(path):
    lines = path.read_text("utf-8").splitlines()
    return [line.split("\t")[0] for line in lines] if path.suffix == ".tsv" else lines


def answers(program, model, lines, options):
    """Of each line (text, score)."""
    fields = {"source": options.source, "target": options.target, "return_scores": True}
    if options.max_decoding_length:
        fields["max_decoding_length"] = options.max_decoding_length
    daemon = Daemon(program=program, model=str(model))
    daemon.environment.pop("ATTENTIOND_MIN_PROBABILITY")  # which an old program need not know
    with daemon:

        def ask(line):
            reply = daemon.request("POST", "/translate", {**fields, "q": line})
            assert reply.status == 200, reply
            return " ".join(reply.json["translatedText"].replace("\ufffd", " ").split()), reply.json["scores"]

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return list(pool.map(ask, lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2)
    parser.add_argument("texts", nargs="+", type=pathlib.Path)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--old-model", type=pathlib.Path)
    parser.add_argument("--source", default="en")
    parser.add_argument("--target", default="de")
    parser.add_argument("--max-decoding-length", type=int)
    options = parser.parse_args()
    lines = [line for path in options.texts for line in read(path) if line]
    old = answers(options.programs[0], options.old_model or options.model, lines, options)
    new = answers(options.programs[1], options.model, lines, options)
    n_other = 0
    for line, a, b in zip(lines, old, new):
        if a != b:
            n_other += 1
            print(f"    {line}\n  - {a[0]}\n  + {b[0]}" + (f"\n    {a[1]} {b[1]}" if a[0] == b[0] else ""))
    print(f"{n_other} of {len(lines)} lines differ")
    return n_other > 0


if __name__ == "__main__":
    sys.exit(main())
