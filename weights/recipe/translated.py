#!/usr/bin/env python3
"""What a model that is served today makes of sentences that it is good at, for a new one to learn from beside the pairs.

    translated.py PREPARED_DIR PROGRAM MODEL_DIR OUT.tsv

PROGRAM is attentiond. The sentences are those of Tatoeba in PREPARED_DIR/train.tsv and english.txt (prepare.py), without those that
have digits. OUT.tsv is of the form of train.tsv, for vocabulary.py --more; what prepare.py would not take for a pair is left out, and so
are lines that the program warns of."""

import argparse
import re
import subprocess
import tempfile

from prepare import problem


def sentences(directory):
    with open(f"{directory}/train.tsv", encoding="utf-8", newline="\n") as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        found = {row[2] for row in rows if row[1] == "tatoeba"}
    with open(f"{directory}/english.txt", encoding="utf-8", newline="\n") as file:
        found.update(line.rstrip("\n") for line in file)
    return sorted(text for text in found if not any(map(str.isdigit, text)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prepared", metavar="PREPARED_DIR")
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("model", metavar="MODEL_DIR")
    parser.add_argument("out", metavar="OUT.tsv")
    parser.add_argument("--beam-size", default="4")
    parser.add_argument("--lang", default="de")
    options = parser.parse_args()
    texts = sentences(options.prepared)
    n_kept = 0
    with tempfile.TemporaryFile("w+", encoding="utf-8") as source, open(options.out, "w", encoding="utf-8", newline="\n") as out:
        source.write("".join(text + "\n" for text in texts))
        source.seek(0)
        command = [options.program, "translate", "--model", options.model, "--beam-size", options.beam_size]
        program = subprocess.run(command, stdin=source, capture_output=True, text=True, encoding="utf-8")
        translations = program.stdout.split("\n")[:-1]
        if program.returncode or len(translations) != len(texts):
            raise SystemExit(f"{' '.join(command)}: exit status {program.returncode}, {len(translations)} lines for {len(texts)}:\n{program.stderr[-2000:]}")
        warned_of = {int(number) for number in re.findall(r"^attentiond translate: line (\d+):", program.stderr, re.MULTILINE)}
        for number, (text, translation) in enumerate(zip(texts, translations), 1):
            if number in warned_of or problem(text, translation, options.lang, "tatoeba"):
                continue
            out.write(f"1.00\t+translated\t{text}\t{translation}\n")
            n_kept += 1
    print(f"{n_kept} of {len(texts)} sentences")


if __name__ == "__main__":
    main()
