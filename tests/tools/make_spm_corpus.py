#!/usr/bin/env python3
"""Write the seeds of tests/fuzz/fuzz_spm_check.c: small SentencePiece files of every kind.

usage: make_spm_corpus.py DIRECTORY

The format is described in model/tokenizer/charsmap.h and model/tokenizer/spm_check.h.
"""
import os
import struct
import sys

NORMAL, UNK, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
UNIGRAM, BPE, WORD, CHAR = range(1, 5)
BASIC = [("<unk>", UNK, 0), ("</s>", CONTROL, 0), ("\u2581", NORMAL, -2), ("a", NORMAL, -3),
         ("b", NORMAL, -3), ("1", NORMAL, -3), ("\u2581ab", NORMAL, -1)]
RULES = [("\u00bd", "1/2"), ("\t", " "), ("\x01", ""), ("e\u0301", "\u00e9"), ("e", "e")]


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def message(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def number(field, value):
    return varint(field << 3) + varint(value)


def piece(text, kind, score):
    return message(1, message(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score)
                   + number(3, kind))


def charsmap(rules):
    """A double array with a block of 256 units for the children of each node."""
    empty = 0x80000000
    units = [empty] * 512
    units[0] = 256 << 10
    base = {0: 256}
    replacements = b""
    for source, target in rules:
        at = 0
        for byte in source.encode():
            child = base[at] ^ byte
            if child not in base:
                base[child] = len(units)
                units += [empty] * 256
                units[child] = (child ^ base[child]) << 10 | byte
            at = child
        units[at] |= 0x100
        units[base[at]] = empty | len(replacements)
        replacements += target.encode() + b"\0"
    trie = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(trie)) + trie + replacements


def model(kind, pieces, rules=None, byte_fallback=False, extra=b""):
    out = b"".join(piece(*p) for p in pieces)
    if byte_fallback:
        out += b"".join(piece(f"<0x{b:02X}>", BYTE, 0) for b in range(256))
    out += message(2, number(3, kind) + number(35, byte_fallback))
    out += message(3, message(1, b"test") + (message(2, charsmap(rules)) if rules else b""))
    return out + extra


def main():
    seeds = {
        "unigram": model(UNIGRAM, BASIC, RULES),
        "unigram_identity": model(UNIGRAM, BASIC),
        "bpe": model(BPE, BASIC, RULES[:2]),
        "word": model(WORD, BASIC),
        "char": model(CHAR, BASIC),
        "bytes": model(UNIGRAM, BASIC, byte_fallback=True),
        "user_defined": model(UNIGRAM, BASIC + [("<x>", USER_DEFINED, 0),
                                                ("\u2163", USER_DEFINED, 0)], RULES[:1]),
        "self_test": model(UNIGRAM, BASIC,
                           extra=message(4, message(1, message(1, b"ab") + message(2, b"ab")))),
        "denormalizer": model(UNIGRAM, BASIC, extra=message(5, message(2, charsmap(RULES[:1])))),
    }
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, content in seeds.items():
        with open(os.path.join(sys.argv[1], name), "wb") as f:
            f.write(content)


if __name__ == "__main__":
    main()
