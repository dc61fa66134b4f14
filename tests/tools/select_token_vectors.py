#!/usr/bin/env python3
"""Choose a small part of a file of tokenizer vectors that still shows everything the whole shows.

usage: select_token_vectors.py tokens.jsonl > tests/unit/data/tokens_en_de.jsonl

A line is {"text", "pieces", "input_ids", ...}: what the reference tokenizer makes of a text. It is
kept if it shows something that no line kept before it does: a Unicode category, a block of 128 code
points, blanks at the start, at the end, doubled, a special token's literal, a language code, an
unknown piece, a lone U+2581, another power of two of pieces; or if it is one of every 24.
"""
import json
import sys
import unicodedata

MAX_BYTES = 3000  # longer lines show nothing more


def features(line):
    text, pieces, ids = line["text"], line["pieces"], line["input_ids"]
    for c in text:
        yield "category", unicodedata.category(c)
        yield "block", ord(c) >> 7
    yield "stripped", text[:1].isspace(), text[-1:].isspace(), not text.strip()
    yield "doubled", "  " in text
    for literal in ("</s>", "<unk>", "<pad>", ">>", "<<"):
        yield literal, min(text.count(literal), 2), text.startswith(literal), text.endswith(literal)
    yield "unknown", 1 in ids
    yield "lone", "\u2581" in pieces, pieces[:1] == ["\u2581"]
    yield "pieces", len(pieces).bit_length()
    yield "other", bool(line["decode_roundtrip_raw"]) and line["decode_roundtrip_raw"] != text


def main():
    seen = set()
    for n, raw in enumerate(open(sys.argv[1], encoding="utf-8")):
        if len(raw) > MAX_BYTES:
            continue
        line = json.loads(raw)
        shown = set(features(line))
        if shown - seen or n % 24 == 0:
            seen |= shown
            keep = {k: line[k] for k in ("text", "pieces", "input_ids", "decode_roundtrip_raw")}
            print(json.dumps(keep, ensure_ascii=False))


main()
