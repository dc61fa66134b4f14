#!/usr/bin/env python3
"""The vocabulary of prepared pairs, and the pairs as its ids, in a few small files of flat arrays.

    vocabulary.py PREPARED_DIR [--size 11999] [--sets NAME=FILE.tsv ...] [--more NAME=FILE.tsv ...]

Reads PREPARED_DIR/train.tsv and dev.tsv (prepare.py), and english.txt where it is there. Writes PREPARED_DIR/ids:

  joint.model  SentencePiece: unigram, byte fallback, single digits: no text is unknown, and any number can be spelled
  train.npz    ids uint16, of each pair the source's, then the target's, without </s>; lengths uint16 [pairs, 2]; weights
               float16 [pairs]: how often a pair is seen in one pass
  NAME.npz     the same of each file of --more, whose lines are as those of train.tsv
  english.npz  the same of English text without a translation, which distil.py gives it: lengths [lines, 1]
  splits.npy   uint16 [pieces, 4, 2]: two pieces that a piece may be cut into, 0 0 where there are no more
  sets.json    dev and what --sets names: ids and texts

Needs numpy and sentencepiece. What trains on the ids needs neither sentencepiece nor the text."""

import argparse
import json
import os
import unicodedata

import numpy as np
import sentencepiece

EOS, UNK = 0, 1
N_SPLITS = 4
REMOVED = [*range(0x1, 0x9), 0xB, 0xC, *range(0xE, 0x20), *range(0x7F, 0xA0), 0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F),
           *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0xFEFF]
BLANKS = [0x9, 0xA, 0xD, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]


JAPANESE_MARKS = (0xFF01, 0xFF1F, 0xFF5E)  # ！？～


def rules(lang):
    """NFC, blanks of one kind, no invisible characters, ASCII for its wide forms but for the marks of Japanese. NFKC would lose
    what a translation has to keep: it makes 2 of a square, three full stops of an ellipsis."""
    found = {(code,): () for code in REMOVED} | {(code,): (0x20,) for code in BLANKS}
    found |= {(code,): (code - 0xFEE0,) for code in range(0xFF01, 0xFF5F) if lang != "ja" or code not in JAPANESE_MARKS}
    found |= {(code,): (0x27,) for code in (0x2018, 0x2019, 0x2BC)}
    for code in [*range(0xC0, 0x250), *range(0x370, 0x530), *range(0x1E00, 0x2000), *range(0xFB00, 0xFB07)]:
        composed = unicodedata.normalize("NFC", chr(code))
        kinds = [unicodedata.normalize("NFD", chr(code))] + ([chr(code)] if code >= 0xFB00 else [])
        if code >= 0xFB00:
            composed = unicodedata.normalize("NFKC", chr(code))
        for text in kinds:
            if text != composed:
                found[tuple(map(ord, text))] = tuple(map(ord, composed))
    return found


def write_rules(path, lang):
    with open(path, "w", encoding="ascii") as file:
        for source, target in sorted(rules(lang).items()):
            file.write(" ".join(f"{code:X}" for code in source) + "\t" + " ".join(f"{code:X}" for code in target) + "\n")


def train_model(directory, pairs, options):
    """On the pairs as they were found: made-up names and codes deserve no pieces of their own."""
    text = f"{directory}/vocabulary.txt"
    with open(text, "w", encoding="utf-8") as file:
        for _, name, source, target in pairs:
            if name[0] != "+" or name in ("+templates",) and len(source) % 7 == 0:
                file.write(f"{source}\n{target}\n")
    write_rules(f"{directory}/rules.tsv", options.lang)
    sentencepiece.SentencePieceTrainer.train(
        input=text, model_prefix=f"{directory}/joint", vocab_size=options.size, model_type="unigram", character_coverage=0.9997,
        byte_fallback=True, split_digits=True, required_chars="0123456789.,:;!?%€$£°+-=/()[]\"'„“”…–&@#*_~",
        max_sentence_length=4000, bos_id=-1, pad_id=-1, eos_id=EOS, unk_id=UNK, num_threads=options.threads, minloglevel=1, normalization_rule_tsv=f"{directory}/rules.tsv")
    for name in ("vocabulary.txt", "joint.vocab", "rules.tsv"):
        if os.path.exists(f"{directory}/{name}"):
            os.remove(f"{directory}/{name}")


def find_splits(model):
    """Of every piece of letters its likeliest cuts into two pieces."""
    splits = np.zeros((model.get_piece_size(), N_SPLITS, 2), np.uint16)
    for i in range(model.get_piece_size()):
        piece = model.id_to_piece(i)
        if model.is_byte(i) or model.is_control(i) or model.is_unknown(i) or len(piece) < 2:
            continue
        cuts = []
        for at in range(1, len(piece)):
            left, right = model.piece_to_id(piece[:at]), model.piece_to_id(piece[at:])
            if UNK not in (left, right) and piece[:at] != "▁":
                cuts.append((model.get_score(left) + model.get_score(right), left, right))
        for k, (_, left, right) in enumerate(sorted(cuts, reverse=True)[:N_SPLITS]):
            splits[i, k] = left, right
    return splits


def write_ids(path, sides, weights, longest):
    """sides: lists of ids, one or two for each line. Lines with none or with too many are left out."""
    kept = [i for i in range(len(sides[0])) if all(0 < len(side[i]) <= longest for side in sides)]
    np.savez_compressed(f"{path}.npz", ids=np.concatenate([np.array(side[i], np.uint16) for i in kept for side in sides]),
                        lengths=np.array([[len(side[i]) for side in sides] for i in kept], np.uint16), weights=np.array([weights[i] for i in kept], np.float16))
    n = [sum(len(side[i]) for i in kept) for side in sides]
    print(f"{os.path.basename(path)}: {len(kept)} of {len(sides[0])} lines, {' + '.join(map(str, n))} ids")


def read_table(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prepared", metavar="PREPARED_DIR")
    parser.add_argument("--lang", default="de")
    parser.add_argument("--size", type=int, default=11999, help="with the pad, which is one more, a multiple of 8 is quickest on GPUs")
    parser.add_argument("--longest", type=int, default=160, help="ids of a side")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sets", nargs="*", default=[], metavar="NAME=FILE", help="pairs that a training is measured on")
    parser.add_argument("--more", nargs="*", default=[], metavar="NAME=FILE", help="further pairs to train on, with weights of their own")
    options = parser.parse_args()
    directory = f"{options.prepared}/ids"
    os.makedirs(directory, exist_ok=True)

    pairs = read_table(f"{options.prepared}/train.tsv")
    if not os.path.exists(f"{directory}/joint.model"):
        train_model(directory, pairs, options)
    model = sentencepiece.SentencePieceProcessor(model_file=f"{directory}/joint.model")
    np.save(f"{directory}/splits.npy", find_splits(model))
    for name, table in [("train", pairs)] + [(name, read_table(path)) for name, path in (item.split("=", 1) for item in options.more)]:
        sides = [model.encode([pair[column] for pair in table], num_threads=options.threads) for column in (2, 3)]
        write_ids(f"{directory}/{name}", sides, [float(pair[0]) for pair in table], options.longest)
    if os.path.exists(f"{options.prepared}/english.txt"):
        with open(f"{options.prepared}/english.txt", encoding="utf-8") as file:
            lines = file.read().splitlines()
        write_ids(f"{directory}/english", [model.encode(lines, num_threads=options.threads)], [1.0] * len(lines), options.longest)

    sets = {}
    for name, path in [("dev", f"{options.prepared}/dev.tsv")] + [item.split("=", 1) for item in options.sets]:
        lines = read_table(path)
        sets[name] = dict(ids=model.encode([line[0] for line in lines]), target_ids=model.encode([line[1] for line in lines]), sources=[line[0] for line in lines], references=[line[1] for line in lines])
    with open(f"{directory}/sets.json", "w", encoding="utf-8") as file:
        json.dump(dict(lang=options.lang, pieces=[model.id_to_piece(i) for i in range(model.get_piece_size())], sets=sets), file, ensure_ascii=False)
    n_bytes = sum(os.path.getsize(f"{directory}/{name}") for name in os.listdir(directory))
    print(f"{model.get_piece_size()} pieces; {directory}: {n_bytes / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
