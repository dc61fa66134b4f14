#!/usr/bin/env python3
"""Picks the lines of dev.greedy.jsonl and dev.beam4.jsonl that are committed for cli_parity.py.

usage: select_line_vectors.py VECTORS_DIR OUT_DIR [COUNT]

The closest calls (smallest margins) and the longest sentences come first, the rest evenly spread;
only the fields that the test reads are kept.
"""

import json
import os
import sys

FIELDS = ("source", "output_ids", "text", "score", "token_margin")
LIMIT = 256  # ids of an output, of the model that the vectors are of


def pick(lines, count):
    order = range(len(lines))
    closest = sorted(order, key=lambda i: min(lines[i]["token_margin"]))[: count // 4]
    longest = sorted(order, key=lambda i: -len(lines[i]["output_ids"]))[: count // 4]
    chosen = set(closest) | set(longest)
    missing = count - len(chosen)
    rest = [i for i in order if i not in chosen]
    chosen.update(rest[:: max(1, len(rest) // missing)][:missing])
    return [lines[i] for i in sorted(chosen)]


def main():
    vectors, out = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    for name in ("dev.greedy.jsonl", "dev.beam4.jsonl"):
        with open(os.path.join(vectors, name), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            for line in pick(lines, count):
                kept = {field: line[field] for field in FIELDS}
                if len(line["output_ids"]) == LIMIT and name == "dev.greedy.jsonl":
                    kept["forced_end_logprob"] = line["token_logprobs"][-1]
                file.write(json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
