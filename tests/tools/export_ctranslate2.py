#!/usr/bin/env python3
"""A MarianMT directory as CTranslate2's converters would write it: model.bin, config.json, vocabulary.

usage: export_ctranslate2.py MODEL OUT [--type TYPE] [--version 1..6] [--argos FROM TO]
       export_ctranslate2.py --seeds DIRECTORY     (small files of every kind, for tests/fuzz)

TYPE: float32, float16, bfloat16, int16, int8. With --argos OUT becomes an Argos package as LibreTranslate
keeps it: metadata.json, sentencepiece.model, model/. Written from the formats' descriptions, with Python's
standard library alone.
"""

import argparse
import array
import functools
import json
import math
import pathlib
import shutil
import struct

DTYPES = {"float32": 0, "int8": 1, "int16": 2, "int32": 3, "float16": 4, "bfloat16": 5}
SIZES = {"float32": 4, "int8": 1, "int16": 2, "int32": 4, "float16": 2, "bfloat16": 2}
LETTERS = {"int8": "b", "int16": "h", "int32": "i"}
ACTIVATIONS = {"relu": 0, "gelu": 3, "swish": 2, "silu": 2}
SPEC, REVISIONS = "TransformerSpec", {1: 1, 2: 3, 3: 4, 4: 5, 5: 6, 6: 7}


class Matrix:
    """fp32 numbers, row-major."""

    def __init__(self, shape, numbers):
        assert math.prod(shape) == len(numbers), (shape, len(numbers))
        self.shape, self.numbers = list(shape), numbers

    def rows(self):
        n = len(self.numbers) // self.shape[0]
        return (self.numbers[i * n:(i + 1) * n] for i in range(self.shape[0]))


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, tensor in header.items():
        begin, end = (8 + length + at for at in tensor["data_offsets"])
        letter, size = {"F32": ("f", 4), "F16": ("e", 2)}[tensor["dtype"]]
        numbers = array.array("f", struct.unpack(f"<{(end - begin) // size}{letter}", data[begin:end]))
        tensors[name] = Matrix(tensor["shape"], numbers)
    return tensors


def join(*parts):
    """One below the other: what a fused projection is."""
    numbers = array.array("f")
    for part in parts:
        numbers.extend(part.numbers)
    return Matrix([sum(part.shape[0] for part in parts), *parts[0].shape[1:]], numbers)


def positions(n, d):
    rows = array.array("f")
    for t in range(n):
        angles = [t / 10000 ** (2 * i / d) for i in range(d // 2)]
        rows.extend([math.sin(a) for a in angles] + [math.cos(a) for a in angles])
    return Matrix([n, d], rows)


def without_pad(tensor, pad):
    numbers = array.array("f")
    for i, row in enumerate(tensor.rows()):
        if i != pad:
            numbers.extend(row)
    return Matrix([tensor.shape[0] - 1, *tensor.shape[1:]], numbers)


def variables_of(tensors, config):
    """{name: Matrix} of the decoder and the encoder, and {name: (type, number)}."""
    out = {}

    def linear(to, *names):
        for of, part in (("weight", "weight"), ("bias", "bias")):
            out[f"{to}/{of}"] = join(*(tensors[f"{name}.{part}"] for name in names))

    def norm(to, name):
        out[f"{to}/gamma"], out[f"{to}/beta"] = tensors[f"{name}.weight"], tensors[f"{name}.bias"]

    table = without_pad(tensors["model.shared.weight"], config["pad_token_id"])
    bias = tensors["final_logits_bias"]
    out["decoder/embeddings/weight"] = table
    out["decoder/projection/weight"] = table
    out["decoder/projection/bias"] = without_pad(Matrix([len(bias.numbers)], bias.numbers), config["pad_token_id"])
    out["encoder/embeddings_0/weight"] = table
    for side, n in (("encoder", config["encoder_layers"]), ("decoder", config["decoder_layers"])):
        out[f"{side}/position_encodings/encodings"] = positions(config["max_position_embeddings"], config["d_model"])
        for i in range(n):
            of, to = f"model.{side}.layers.{i}", f"{side}/layer_{i}"
            attention = f"{of}.self_attn"
            linear(f"{to}/self_attention/linear_0", *(f"{attention}.{part}_proj" for part in "qkv"))
            linear(f"{to}/self_attention/linear_1", f"{attention}.out_proj")
            norm(f"{to}/self_attention/layer_norm", f"{attention}_layer_norm")
            if side == "decoder":
                attention = f"{of}.encoder_attn"
                linear(f"{to}/attention/linear_0", f"{attention}.q_proj")
                linear(f"{to}/attention/linear_1", f"{attention}.k_proj", f"{attention}.v_proj")
                linear(f"{to}/attention/linear_2", f"{attention}.out_proj")
                norm(f"{to}/attention/layer_norm", f"{attention}_layer_norm")
            linear(f"{to}/ffn/linear_0", f"{of}.fc1")
            linear(f"{to}/ffn/linear_1", f"{of}.fc2")
            norm(f"{to}/ffn/layer_norm", f"{of}.final_layer_norm")
    scalars = {}
    for side in ("encoder", "decoder"):
        scalars |= {f"{side}/num_heads": ("int16", config["encoder_attention_heads"]),
                    f"{side}/pre_norm": ("int8", int(config["normalize_before"])),
                    f"{side}/activation": ("int8", ACTIVATIONS[config["activation_function"]]),
                    f"{side}/scale_embeddings": ("int8", int(config["scale_embedding"]))}
    scalars |= {"encoder/embeddings_merge": ("int8", 0), "decoder/start_from_zero_embedding": ("int8", 1),
                "decoder/alignment_layer": ("int16", -1), "decoder/alignment_heads": ("int16", 1)}
    return out, scalars


def of_version(variables, scalars, version):
    """The names, and the place of the settings, of older versions."""
    if REVISIONS[version] < 5:  # one setting for both sides
        for name in ("num_heads", "pre_norm", "activation"):
            scalars[name] = scalars[f"encoder/{name}"]
            del scalars[f"encoder/{name}"], scalars[f"decoder/{name}"]
        for name in ("alignment_layer", "alignment_heads"):
            scalars[name] = scalars.pop(f"decoder/{name}")
        variables["encoder/embeddings/weight"] = variables.pop("encoder/embeddings_0/weight")
    if version < 6:
        scalars |= {"with_source_bos": ("int8", 0), "with_source_eos": ("int8", 1), "with_target_bos": ("int8", 0)}
    if version == 1:
        del scalars["num_heads"]
        variables = {tensorflow_name(name): matrix for name, matrix in variables.items()}
    return variables, scalars


def tensorflow_name(name):
    encoder = name.startswith("encoder")
    name = name.replace("projection", "dense").replace("layer_norm", "LayerNorm")
    name = name.replace("embeddings/weight", "w_embs").replace("weight", "kernel")
    name = name.replace("linear_0", "conv1d").replace("linear_", "conv1d_")
    name = name.replace("self_attention", "multi_head" if encoder else "masked_multi_head")
    return f"transformer/{name.replace('attention', 'multi_head')}:0"


@functools.cache
def quantise(matrix, kind):
    """(numbers, scales) as CTranslate2 does: int8 by row, int16 by matrix."""
    if kind == "int16":
        scale = 2 ** 10 / max(map(abs, matrix.numbers))
        scale, = struct.unpack("<f", struct.pack("<f", scale))
        return array.array("h", [round(x * scale) for x in matrix.numbers]), ([], [scale])
    numbers, scales = array.array("b"), array.array("f")
    for row in matrix.rows():
        scales.append(127 / (max(map(abs, row)) or 127))
        scale = scales[-1]
        numbers.extend([round(x * scale) for x in row])  # at most 127 and a last bit
    return numbers, ([len(scales)], scales)


def payload(matrix, kind):
    if kind == "float32":
        return matrix.numbers.tobytes()
    if kind == "float16":
        return struct.pack(f"<{len(matrix.numbers)}e", *matrix.numbers)
    return array.array("H", array.array("H", matrix.numbers.tobytes())[1::2]).tobytes()  # towards zero


def text(string):
    data = string.encode()
    return struct.pack("<H", len(data) + 1) + data + b"\0"


def variable(name, shape, kind, data, version):
    out = text(name) + struct.pack(f"<B{len(shape)}I", len(shape), *shape)
    if version >= 4:
        return out + struct.pack("<BI", DTYPES[kind], len(data)) + data
    return out + struct.pack("<BI", SIZES[kind], len(data) // SIZES[kind]) + data


def model_bin(variables, scalars, kind="float32", version=6):
    variables, scalars = of_version(dict(variables), dict(scalars), version)
    assert version >= 4 or "float16" not in kind, "before version 4 two bytes are int16"
    encoded, aliases, first = {}, [], {}
    for name in sorted(variables):
        matrix = variables[name]
        is_weight = name.endswith(("weight", "kernel:0", "w_embs:0"))
        if version >= 3 and id(matrix) in first:
            aliases.append((name, first[id(matrix)]))
            continue
        first[id(matrix)] = name
        if kind in ("int8", "int16") and is_weight:
            numbers, (shape, scales) = quantise(matrix, kind)
            encoded[name] = (matrix.shape, kind, numbers.tobytes())
            encoded[f"{name}_scale"] = (shape, "float32", array.array("f", scales).tobytes())
        else:
            as_kind = "float32" if kind.startswith("int") else kind
            encoded[name] = (matrix.shape, as_kind, payload(matrix, as_kind))
    for name, (as_kind, number) in scalars.items():
        encoded[name] = ([], as_kind, struct.pack(f"<{LETTERS[as_kind]}", number))
    out = [struct.pack("<I", version)]
    if version >= 2:
        out.append(text(SPEC) + struct.pack("<I", REVISIONS[version]))
    out.append(struct.pack("<I", len(encoded)))
    out += [variable(name, *encoded[name], version) for name in sorted(encoded)]
    if version >= 3:
        out.append(struct.pack("<I", len(aliases)))
        out += [text(alias) + text(name) for alias, name in aliases]
    return b"".join(out)


@functools.cache
def read_model(directory):
    """As variables_of gives it: whoever writes a model in many forms reads it once."""
    config = json.loads((directory / "config.json").read_text())
    return variables_of(read_safetensors(directory / "model.safetensors"), config)


def write_model(source, target, kind, version):
    """model.bin and the files that go with it; json for the newest version, text before."""
    source, target = pathlib.Path(source), pathlib.Path(target)
    config = json.loads((source / "config.json").read_text())
    pieces = sorted((i, piece) for piece, i in json.loads((source / "vocab.json").read_text()).items()
                    if i != config["pad_token_id"])
    assert [i for i, _ in pieces] == list(range(len(pieces)))
    target.mkdir(parents=True, exist_ok=True)
    (target / "model.bin").write_bytes(model_bin(*read_model(source), kind, version))
    if version >= 6:
        (target / "shared_vocabulary.json").write_text(json.dumps([piece for _, piece in pieces]))
        (target / "config.json").write_text(json.dumps({
            "add_source_bos": False, "add_source_eos": True, "bos_token": "<s>", "decoder_start_token": "</s>",
            "eos_token": "</s>", "layer_norm_epsilon": None, "unk_token": "<unk>"}))
    else:
        (target / "shared_vocabulary.txt").write_text("".join(f"{piece}\n" for _, piece in pieces))


def write_argos(source, target, kind, version, codes):
    """OPUS-MT-like models have a processor for each side, an Argos package one for both: here it is the source's."""
    source, target = pathlib.Path(source), pathlib.Path(target)
    write_model(source, target / "model", kind, version)
    shutil.copy(source / "source.spm", target / "sentencepiece.model")
    (target / "metadata.json").write_text(json.dumps({
        "package_version": "1.0", "argos_version": "1.5", "from_code": codes[0], "from_name": codes[0],
        "to_code": codes[1], "to_name": codes[1]}))


def tiny():
    """A model of 5 pieces and 4 dimensions; numbers that fp16 and bf16 hold exactly."""
    config = {"d_model": 4, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
              "max_position_embeddings": 3, "normalize_before": False, "activation_function": "relu",
              "scale_embedding": True, "pad_token_id": 4}
    tensors, count = {}, 0

    def add(name, *shape):
        nonlocal count
        numbers = array.array("f", [((count + i) * 37 % 64 - 31) / 32 for i in range(math.prod(shape))])
        count += len(numbers)
        tensors[name] = Matrix(shape, numbers)

    def block(name, n_out, n_in):
        add(f"{name}.weight", n_out, n_in)
        add(f"{name}.bias", n_out)

    add("model.shared.weight", 5, 4)
    add("final_logits_bias", 1, 5)
    for side in ("encoder", "decoder"):
        of = f"model.{side}.layers.0"
        for attention in ("self_attn", "encoder_attn")[:1 + (side == "decoder")]:
            for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                block(f"{of}.{attention}.{part}", 4, 4)
            for part in ("weight", "bias"):
                add(f"{of}.{attention}_layer_norm.{part}", 4)
        block(f"{of}.fc1", 6, 4)
        block(f"{of}.fc2", 4, 6)
        for part in ("weight", "bias"):
            add(f"{of}.final_layer_norm.{part}", 4)
    return tensors, config


def gated(variables, scalars):
    """RMS norms, and feed-forward blocks with a gate."""
    variables = {name: matrix for name, matrix in variables.items() if not name.endswith("/beta")}
    for side in "encoder", "decoder":
        variables[f"{side}/layer_0/ffn/linear_0_noact/weight"] = variables[f"{side}/layer_0/ffn/linear_0/weight"]
    return variables, scalars


def write_seeds(directory):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    model = variables_of(*tiny())
    for version in REVISIONS:
        (directory / f"v{version}.bin").write_bytes(model_bin(*model, "float32", version))
    (directory / "gated.bin").write_bytes(model_bin(*gated(*model), "float16"))
    for kind in ("float16", "bfloat16", "int16", "int8"):
        (directory / f"{kind}.bin").write_bytes(model_bin(*model, kind))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--type", choices=["float32", "float16", "bfloat16", "int16", "int8"], default="float32")
    parser.add_argument("--version", type=int, choices=range(1, 7), default=6)
    parser.add_argument("--argos", nargs=2, metavar=("FROM", "TO"))
    parser.add_argument("--seeds")
    args = parser.parse_args()
    if args.seeds:
        write_seeds(args.seeds)
    elif not args.out:
        parser.error("MODEL and OUT, or --seeds")
    elif args.argos:
        write_argos(args.model, args.out, args.type, args.version, args.argos)
    else:
        write_model(args.model, args.out, args.type, args.version)


if __name__ == "__main__":
    main()
