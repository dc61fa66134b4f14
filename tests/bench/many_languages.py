#!/usr/bin/env python3
"""A model of SMaLL-100's shape in one daemon: 100 languages, one request with texts into five of them, memory.

  many_languages.py                                 d_model 1,024, 12 + 3 layers, 128,112 tokens, random weights
  many_languages.py --keep DIR                      the model stays there, and is used again
  many_languages.py --target-vocabulary 20000       with lists of so many tokens for the five languages, besides

What must hold, and exit code 1 where it does not: the five texts of the request become what each becomes alone, by
the command line, with the plain C kernels; so do their ids; the daemon has 100 languages; its resident memory is no
more than the packed weights and --megabytes.

Starts a daemon of its own: ATTENTIOND (default build/release/attentiond)."""

import argparse
import contextlib
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "http"), str(ROOT / "tools")]
import make_spm_corpus as spm  # pylint: disable=wrong-import-position
from random_model import shapes, small_numbers  # pylint: disable=wrong-import-position
from serve import BINARY, Daemon  # pylint: disable=wrong-import-position

TEXTS = ["Where is the train station?", "I have never been to Boston in my life.", "She said that he was right about it.",
         "Tom is here, and nobody knows why.", "Good night, and sleep well!"]
TARGETS = ["de", "fr", "ja", "zu", "zh"]
N_PIECES, FILLER, N_LANGUAGES = 128_004, 8, 100
MOST_TOKENS = 16
F16_8 = b"\x00\x48"
TABLE = "model.shared.weight"
PACKED = "attentiond.int8.safetensors"


def run(*arguments, text=""):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}
    result = subprocess.run([BINARY, *map(str, arguments)], input=text, capture_output=True, text=True, check=False, env=environment)
    if result.returncode != 0:
        raise SystemExit(f"{arguments[0]}: {result.stderr}")
    return result.stdout


class Shape:
    """SMaLL-100's, as random_model.py takes it."""

    d_model, heads, d_ff, encoder_layers, decoder_layers = 1024, 16, 4096, 12, 3
    vocabulary = N_PIECES + N_LANGUAGES + FILLER


def numbers(generator, name, n):
    """Words weigh less than what the layers make of them, or each would be followed by itself."""
    if name.endswith("layer_norm.weight"):
        return F16_8 * n
    return small_numbers(generator, n, -10 if name == TABLE else -8)


def write_weights(path):
    tensors = [(name, shape) for name, shape in shapes(Shape) if name != "final_logits_bias"]
    for side in "encoder", "decoder":
        tensors += [(f"model.{side}.layer_norm.{part}", [Shape.d_model]) for part in ("weight", "bias")]
    header, offset, counts = {}, 0, []
    for name, shape in tensors:
        n = shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [offset, offset + 2 * n]}
        offset += 2 * n
        counts.append(n)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    generator = random.Random(1)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for (name, _), n in zip(tensors, counts):
            while n > 0:  # some at a time: a table has 131 million numbers
                part = min(n, 1 << 22)
                file.write(numbers(generator, name, part))
                n -= part
        # The end is no word, or every translation would be one.
        file.seek(8 + len(text) + header[TABLE]["data_offsets"][0] + 2 * 2 * Shape.d_model)
        file.write(bytes(2 * Shape.d_model))


def write_documents(folder):
    """Letters and signs cut text; words that no text has fill the vocabulary, as many as SMaLL-100's has."""
    letters = [chr(c) for c in range(33, 127)] + ["\u2581"]
    pairs = ["\u2581" + letter for letter in letters[:-1]] + ["th", "he", "in", "er", "an", "on", "\u2581th", "\u2581the"]
    n_words = N_PIECES - 4 - len(letters) - len(pairs)
    words = [f"\u2581w{i:06d}x" for i in range(n_words)]
    merged = [(text, spm.NORMAL, -float(i)) for i, text in enumerate(pairs + words)]
    pieces = [("<unk>", spm.UNK, 0), ("<s>", spm.CONTROL, 0), ("</s>", spm.CONTROL, 0)] + merged
    pieces += [(letter, spm.NORMAL, -float(N_PIECES)) for letter in letters]
    (folder / "sentencepiece.bpe.model").write_bytes(spm.model(spm.BPE, pieces))
    vocabulary = ["<s>", "<pad>", "</s>", "<unk>"] + pairs + words + letters
    assert len(vocabulary) == N_PIECES
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(vocabulary)}, ensure_ascii=False))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "M2M100Tokenizer", "language_codes": "m2m100"}))
    (folder / "config.json").write_text(json.dumps({
        "model_type": "m2m_100", "is_encoder_decoder": True, "activation_function": "relu", "d_model": Shape.d_model,
        "encoder_layers": Shape.encoder_layers, "decoder_layers": Shape.decoder_layers, "encoder_ffn_dim": Shape.d_ff,
        "decoder_ffn_dim": Shape.d_ff, "encoder_attention_heads": Shape.heads, "decoder_attention_heads": Shape.heads,
        "vocab_size": Shape.vocabulary, "max_position_embeddings": 1024, "scale_embedding": True, "bos_token_id": 0,
        "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2, "max_length": 200, "num_beams": 5}))


def write_lists(packed, n):
    """A list of n tokens for each of the five languages: other ones for each, those of the text's letters among them."""
    for i, language in enumerate(TARGETS):
        dice = random.Random(i)
        ids = {2, *range(4, 110), *range(N_PIECES - 95, N_PIECES)}
        ids |= set(dice.sample(range(110, N_PIECES - 95), n - len(ids)))
        (packed / f"attentiond.target-vocabulary.{language}.txt").write_text(
            f"attentiond target vocabulary 1: {Shape.vocabulary}\n" + "".join(f"{token}\n" for token in sorted(ids)))


def resident_mb(pid):
    fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return {name: int(fields[name].split()[0]) / 1000 * 1.024 for name in ("VmRSS", "RssAnon", "RssFile", "RssShmem")}


def alone(packed, text, target):
    made = run("translate", "--model", packed, "--source-lang", "en", "--target-lang", target, "--json", "--kernels", "c", "--beam-size", 1,
               "--max-decoding-length", MOST_TOKENS, "--max-length-factor", 0, "--split-sentences", "off", text=text + "\n")
    return json.loads(made)


def check(packed, megabytes):
    """Whether all of it holds."""
    expected = [alone(packed, text, target) for text, target in zip(TEXTS, TARGETS)]
    flags = ("--max-length-factor", "0", "--post-edit=off", "--split-sentences", "off", "--max-decoding-length", str(MOST_TOKENS),
             "--beam-size", "1", "--repair-numbers=off")
    holds = True

    def say(what, is_so):
        nonlocal holds
        holds = holds and is_so
        print(f"{'yes' if is_so else 'NO '}  {what}")

    with Daemon(*flags, model=str(packed)) as daemon:
        at_rest = resident_mb(daemon.pid)
        model = daemon.get("/models").json["models"][0]
        say(f"{len(model['targets'])} languages", len(model["targets"]) == N_LANGUAGES)
        reply = daemon.translate(TEXTS, source="en", target=TARGETS)
        if reply.status != 200:
            raise SystemExit(f"{reply}")
        say("five texts into five languages in one request are what each is alone, with the C kernels",
            reply.json["translatedText"] == [line["text"] for line in expected])
        ids = []
        for text, target in zip(TEXTS, TARGETS):
            asked = daemon.request("POST", "/attention", {"q": text, "source": "en", "target": target, "kinds": ["cross"]})
            ids.append([token["id"] for token in asked.json["sentences"][0]["output_tokens"]])
        say(f"their ids are the same, {sum(map(len, ids))} of them, {len(set(sum(ids, [])))} different ones",
            ids == [line["output_ids"] for line in expected])
        again = daemon.translate(TEXTS * 8, source="en", target=TARGETS * 8).json["translatedText"]
        say("so are forty texts at a time", again == [line["text"] for line in expected] * 8)
        after = resident_mb(daemon.pid)
    weights = (packed / PACKED).stat().st_size / 1e6
    for name, sizes in ("at rest", at_rest), ("after forty texts", after):
        print(f"     {name}: " + ", ".join(f"{field} {size:.1f} MB" for field, size in sizes.items()))
    limit = weights + megabytes
    say(f"{after['VmRSS']:.1f} MB are resident; packed weights {weights:.1f} MB and {megabytes} MB are {limit:.1f} MB", after["VmRSS"] <= limit)
    return holds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--megabytes", type=float, default=150, help="beside the packed weights (150)")
    parser.add_argument("--target-vocabulary", type=int, default=0)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        root = options.keep or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attentiond-many-")))
        original, packed = root / "small100", root / "packed"
        if not (packed / PACKED).exists():
            original.mkdir(parents=True, exist_ok=True)
            write_documents(original)
            write_weights(original / "model.safetensors")
            print(run("import", original, packed), end="")
        for path in packed.glob("attentiond.target-vocabulary.*"):
            path.unlink()
        holds = check(packed, options.megabytes)
        if options.target_vocabulary:
            print(f"\nWith lists of {options.target_vocabulary} tokens:")
            write_lists(packed, options.target_vocabulary)
            copies = len(TARGETS) * options.target_vocabulary * Shape.d_model / 1e6
            print(f"     of which the five copies of the output layer's columns are {copies:.1f} MB")
            holds = check(packed, options.megabytes + copies) and holds
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
