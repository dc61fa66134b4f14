#!/usr/bin/python3
"""Writes a MarianMT directory's model as Marian keeps its own: .npz, decoder.yml, vocab.yml; and a student's
(weights/recipe/train.py --student) as Firefox does: .npz or .intgemm8.bin, .spm.

Needs Debian's python3-numpy.  tests/tools/export_marian.py MODEL_DIR OUT [--type f2|i1]

Marian computes positions by another formula than MarianMT, and with another epsilon: the copy gives other
answers, unless its reader is told to compute as MarianMT does. A student was trained with Marian's.
"""

import argparse
import json
import pathlib
import shutil
import struct

import numpy

LAYER = {  # of ours: of theirs
    "self_attn.{}_proj.weight": "self_W{}", "self_attn.{}_proj.bias": "self_b{}",
    "encoder_attn.{}_proj.weight": "context_W{}", "encoder_attn.{}_proj.bias": "context_b{}",
}
NAMES = {
    "fc1.weight": "ffn_W1", "fc1.bias": "ffn_b1", "fc2.weight": "ffn_W2", "fc2.bias": "ffn_b2",
    "self_attn_layer_norm.weight": "self_Wo_ln_scale", "self_attn_layer_norm.bias": "self_Wo_ln_bias",
    "encoder_attn_layer_norm.weight": "context_Wo_ln_scale", "encoder_attn_layer_norm.bias": "context_Wo_ln_bias",
    "final_layer_norm.weight": "ffn_ffn_ln_scale", "final_layer_norm.bias": "ffn_ffn_ln_bias",
    "cell.input.weight": "rnn_W", "cell.forget.weight": "rnn_Wf", "cell.forget.bias": "rnn_bf",
    "cell_layer_norm.weight": "rnn_ffn_ln_scale", "cell_layer_norm.bias": "rnn_ffn_ln_bias",
}
for ours, theirs in LAYER.items():
    for part in ("q", "k", "v", "out"):
        NAMES[ours.format(part)] = theirs.format(part[0])
ACTIVATIONS = {"relu": "relu", "swish": "swish", "silu": "swish", "gelu": "gelu", "quick_gelu": "gelu"}


def read_safetensors(path):
    """{name: array}"""
    data = pathlib.Path(path).read_bytes()
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    types = {"F32": "<f4", "F16": "<f2", "I8": "i1", "I32": "<i4"}
    return {name: numpy.frombuffer(data[8 + length:][slice(*tensor["data_offsets"])],
                                   types[tensor["dtype"]]).reshape(tensor["shape"])
            for name, tensor in header.items()}


def to_marian(name, array):
    """(name, array) as Marian has it; matrices are [in, out] there, and vectors rows."""
    if name == "model.shared.weight":
        return "Wemb", array
    if name == "final_logits_bias":
        return "decoder_ff_logit_out_b", array.reshape(1, -1)
    _, side, _, layer, rest = name.split(".", 4)
    return (f"{side}_l{int(layer) + 1}_{NAMES[rest]}",
            array.T if array.ndim == 2 else array.reshape(1, -1))


def is_student(config):
    return config.get("decoder_cell") == "ssru"


def model_yml(config):
    return {
        "type": "transformer", "version": "v1.12.0", "dim-emb": config["d_model"],
        "dim-vocabs": [config["vocab_size"]] * 2,
        "enc-depth": config["encoder_layers"], "dec-depth": config["decoder_layers"],
        "transformer-heads": config["encoder_attention_heads"],
        "transformer-dim-ffn": config["encoder_ffn_dim"],
        "transformer-decoder-dim-ffn": config["decoder_ffn_dim"],
        "transformer-ffn-activation": ACTIVATIONS[config["activation_function"]],
        "transformer-ffn-depth": 2, "transformer-decoder-autoreg": "rnn" if is_student(config) else "self-attention",
        "dec-cell": "ssru", "dec-cell-base-depth": 2, "dec-cell-high-depth": 1,
        "transformer-no-projection": False, "transformer-tied-layers": [],
        "transformer-preprocess": "", "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "d", "transformer-postprocess-top": "",
        "transformer-train-position-embeddings": False,
        "tied-embeddings": False, "tied-embeddings-src": False, "tied-embeddings-all": True,
        "layer-normalization": False, "right-left": False, "input-types": [], "lemma-dim-emb": 0,
    }


def to_yaml(settings):
    """Values are written as JSON, which YAML includes; keys as people write them."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items())


def special(text):
    """special:model.yml: the text, ended and padded with NUL."""
    data = text.encode() + b"\0"
    return numpy.frombuffer(data + b"\0" * (-len(data) % 256), numpy.int8)


def write_decoder(out, changes):
    """decoder.yml; changes: what differs from the usual."""
    (pathlib.Path(out) / "decoder.yml").write_text(to_yaml({
        "models": ["model.npz"], "vocabs": ["vocab.yml", "vocab.yml"], "relative-paths": True,
        "beam-size": 4, "normalize": 1, "word-penalty": 0, "allow-unk": False, "mini-batch": 1,
    } | changes))


def write_arrays(out, arrays, settings):
    """model.npz, of {name: array} and a model.yml of these settings."""
    numpy.savez(pathlib.Path(out) / "model.npz", **arrays, **{"special:model.yml": special(to_yaml(settings))})


BIN_TYPES = {"int8": 0x101, "int32": 0x104, "float16": 0x402, "float32": 0x404}
INTGEMM8 = 0x4101


def is_packed_by_intgemm(name):
    """What marian-conv turns to int8: names that end in _W or _W?, and tables of embeddings."""
    return "Wemb" in name or name[:-1].endswith("_W") or name.endswith("_W")


def quantize(array):
    """(numbers, multiplier): number = round(value * multiplier), the multiplier 127 / the largest."""
    multiplier = numpy.float32(127.0) / numpy.abs(array).max().astype(numpy.float32)
    return numpy.clip(numpy.rint(array.astype(numpy.float32) * multiplier), -127, 127).astype(numpy.int8), multiplier


def bin_items(arrays, settings, int8=False):
    """[(name, type, shape, bytes)] of a binary model: intgemm8 matrices lie transposed, but for the tables."""
    items = []
    for name, array in arrays.items():
        if int8 and is_packed_by_intgemm(name):
            numbers, multiplier = quantize(array)
            numbers = numbers if "Wemb" in name else numbers.T
            items.append((name, INTGEMM8, array.shape, numbers.tobytes() + multiplier.tobytes()))
        else:
            items.append((name, BIN_TYPES[array.dtype.name], array.shape, array.tobytes()))
    text = to_yaml(settings).encode() + b"\0"
    return items + [("special:model.yml", BIN_TYPES["int8"], (len(text),), text)]


def to_bin(items):
    """Marian's binary file, version 1."""
    items = [(name.encode() + b"\0", kind, shape, data + b"\0" * (-len(data) % 256)) for name, kind, shape, data in items]
    out = struct.pack("<QQ", 1, len(items))
    out += b"".join(struct.pack("<QQQQ", len(name), kind, len(shape), len(data)) for name, kind, shape, data in items)
    out += b"".join(name for name, *_ in items)
    out += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in items)
    padding = -(len(out) + 8) % 256
    return out + struct.pack("<Q", padding) + b"\0" * padding + b"".join(data for *_, data in items)


def to_shortlist(lists, n_first, n_best=50):
    """A binary lexical shortlist: lists[source id] are the target ids that it may become."""
    offsets, ids = [0], []
    for of_word in lists:
        ids += sorted(of_word)
        offsets.append(len(ids))
    body = struct.pack("<QQQQ", n_first, n_best, len(offsets), len(ids))
    body += struct.pack(f"<{len(offsets)}Q{len(ids)}I", *offsets, *ids)
    checksum, mask = 0, (1 << 64) - 1
    for word, in struct.iter_unpack("<Q", body[:len(body) // 8 * 8]):
        checksum ^= (word + 0x9E3779B9 + (checksum << 6) + (checksum >> 2)) & mask
    return struct.pack("<QQ", 0xF11A48D5013417F5, checksum) + body


def write_vocabulary(source, out):
    vocab = json.loads((source / "vocab.json").read_text())
    (out / "vocab.yml").write_text("".join(f"{json.dumps(piece)}: {number}\n" for piece, number in
                                           sorted(vocab.items(), key=lambda item: item[1])))
    for name in ("source.spm", "target.spm"):
        shutil.copy(source / name, out / name)


def export(source, out, dtype="<f4"):
    source, out = pathlib.Path(source), pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    arrays = dict(to_marian(name, array) for name, array in
                  read_safetensors(source / "model.safetensors").items())
    # Row by row: numpy would write a transposed view in Fortran's order.
    int8 = dtype == "<i1"
    arrays = {name: numpy.ascontiguousarray(array, "<f4" if int8 else dtype) for name, array in arrays.items()}
    config = json.loads((source / "config.json").read_text())
    if is_student(config):
        write_student(source, out, arrays, config, int8)
        return
    if int8:
        raise SystemExit(f"{source}: no student, whose weights alone are written as i1")
    write_arrays(out, arrays, model_yml(config))
    write_vocabulary(source, out)
    write_decoder(out, {})


def write_student(source, out, arrays, config, int8):
    """Marian has no pad: where its row is the last, it is left out."""
    languages = json.loads((source / "tokenizer_config.json").read_text())
    pair = languages.get("source_lang", "src") + languages.get("target_lang", "trg")
    n = config["vocab_size"] - (config.get("pad_token_id") == config["vocab_size"] - 1)
    arrays["Wemb"], arrays["decoder_ff_logit_out_b"] = arrays["Wemb"][:n], arrays["decoder_ff_logit_out_b"][:, :n]
    settings = model_yml(config | {"vocab_size": n})
    if int8:
        (out / f"model.{pair}.intgemm8.bin").write_bytes(to_bin(bin_items(arrays, settings, int8)))
    else:
        write_arrays(out, arrays, settings)
    shutil.copy(source / "source.spm", out / f"vocab.{pair}.spm")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", metavar="MODEL_DIR")
    parser.add_argument("out", metavar="OUT")
    parser.add_argument("--type", choices=("f4", "f2", "i1"), default="f4", help="of the numbers; i1: of a student's matrices, and f4 of the rest")
    options = parser.parse_args()
    export(options.source, options.out, "<" + options.type)


if __name__ == "__main__":
    main()
