#!/usr/bin/env python3
"""Makes a MarianMT directory with random weights, to measure speed at a size of which there is no model at hand.

    random_model.py OUT [--tokenizer weights/en-de] [--d-model 512] [--heads 8] [--d-ff 2048]
                    [--encoder-layers 6] [--decoder-layers 6] [--vocabulary 54688] [--seed 1]

The sizes that stand here are those of OPUS-MT's base models (72 million parameters). Text is cut by the tokenizer of
another model, whose vocabulary is filled up; what comes out is nonsense, so give each target a fixed length
(load --min-decoding-length 25 --max-decoding-length 25).
"""

import argparse
import json
import pathlib
import random
import shutil
import struct

F16_ONE = b"\x00\x3c"


def small_numbers(generator, n, exponent=-8):
    """From 2^exponent to eight times as much. What is drawn is the high byte of a number in F16: a sign, one of three
    exponents, and two bits of the mantissa."""
    table = bytes((b & 0x80) | (15 + exponent + (b >> 2) % 3) << 2 | (b & 3) for b in range(256))
    numbers = bytearray(generator.randbytes(2 * n))
    numbers[1::2] = numbers[1::2].translate(table)
    return bytes(numbers)


def shapes(o):
    """The names of the tensors and their shapes."""
    d, ff = o.d_model, o.d_ff
    yield "model.shared.weight", [o.vocabulary, d]
    yield "final_logits_bias", [1, o.vocabulary]
    for side, n_layers in (("encoder", o.encoder_layers), ("decoder", o.decoder_layers)):
        attentions = ["self_attn"] + ["encoder_attn"] * (side == "decoder")
        for layer in range(n_layers):
            prefix = f"model.{side}.layers.{layer}."
            for attention in attentions:
                for projection in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    yield f"{prefix}{attention}.{projection}.weight", [d, d]
                    yield f"{prefix}{attention}.{projection}.bias", [d]
            for norm in [f"{a}_layer_norm" for a in attentions] + ["final_layer_norm"]:
                yield f"{prefix}{norm}.weight", [d]
                yield f"{prefix}{norm}.bias", [d]
            yield f"{prefix}fc1.weight", [ff, d]
            yield f"{prefix}fc1.bias", [ff]
            yield f"{prefix}fc2.weight", [d, ff]
            yield f"{prefix}fc2.bias", [d]


def write_weights(o, path):
    header, tensors, offset = {}, [], 0
    for name, shape in shapes(o):
        n = 1
        for size in shape:
            n *= size
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [offset, offset + 2 * n]}
        tensors.append((name, n))
        offset += 2 * n
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    generator = random.Random(o.seed)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, n in tensors:
            is_scale = name.endswith("layer_norm.weight")
            file.write(F16_ONE * n if is_scale else small_numbers(generator, n))


def write_documents(o):
    source = pathlib.Path(o.tokenizer)
    for name in ("source.spm", "target.spm", "tokenizer_config.json"):
        if (source / name).exists():
            shutil.copy(source / name, o.out)
    vocabulary = json.loads((source / "vocab.json").read_text())
    if len(vocabulary) > o.vocabulary:
        raise SystemExit(f"--vocabulary: expected at least the tokenizer's {len(vocabulary)}, found {o.vocabulary}")
    # The pad token of a MarianMT model is its last.
    pad = vocabulary.pop("<pad>")
    vocabulary = {token: i - (i > pad) for token, i in vocabulary.items()}
    for i in range(len(vocabulary), o.vocabulary - 1):
        vocabulary[f"\u2581filler{i}"] = i
    vocabulary["<pad>"] = o.vocabulary - 1
    (o.out / "vocab.json").write_text(json.dumps(vocabulary))
    config = json.loads((source / "config.json").read_text())
    config.update(d_model=o.d_model, encoder_layers=o.encoder_layers, decoder_layers=o.decoder_layers,
                  encoder_attention_heads=o.heads, decoder_attention_heads=o.heads, encoder_ffn_dim=o.d_ff,
                  decoder_ffn_dim=o.d_ff, vocab_size=o.vocabulary, eos_token_id=vocabulary["</s>"],
                  forced_eos_token_id=vocabulary["</s>"], pad_token_id=o.vocabulary - 1,
                  decoder_start_token_id=o.vocabulary - 1, bad_words_ids=[[o.vocabulary - 1]])
    (o.out / "config.json").write_text(json.dumps(config, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--tokenizer", default=pathlib.Path(__file__).parents[2] / "weights/en-de")
    for name, default in (("d-model", 512), ("heads", 8), ("d-ff", 2048), ("encoder-layers", 6), ("decoder-layers", 6),
                          ("vocabulary", 54688), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    write_documents(options)
    write_weights(options, options.out / "model.safetensors")


if __name__ == "__main__":
    main()
