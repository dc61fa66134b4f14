"""Models of a few kilobytes that can be loaded, of every family that is pulled: what the tests put into their registry.

  marian_mt(), shards(), ctranslate2(), quickmt(), argos(), firefox(), marian(), hplt()      {name: bytes}, of argos the bytes alone

Numbers are drawn by a rule, or those of tests/parity/data: nothing that they translate makes sense.
"""

import array
import functools
import io
import json
import math
import pathlib
import struct
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/tools")]
import export_ctranslate2 as exporter  # noqa: E402

D, FFN = 16, 512  # the weights are large enough to be in LFS
PIECES = ROOT / "tests/parity/data/multilingual/m2m100"
STUDENT = ROOT / "tests/parity/data/student"


def vocabulary():
    pieces = [piece for piece in json.loads((PIECES / "vocab.json").read_text()) if piece not in ("<s>", "<pad>", "</s>", "<unk>")]
    return {piece: i for i, piece in enumerate(["</s>", "<unk>", *pieces, "<pad>"])}


@functools.cache
def tensors(d=D):
    """{name: (shape, numbers)}"""
    out, n_vocab = {}, len(vocabulary())

    def add(name, *shape):
        first = 7 * len(out)
        out[name] = (shape, array.array("f", [((first + i) * 37 % 64 - 31) / 256 for i in range(math.prod(shape))]))

    def linear(name, n_out, n_in):
        add(f"{name}.weight", n_out, n_in)
        add(f"{name}.bias", n_out)

    def norm(name):
        add(f"{name}.weight", d)
        add(f"{name}.bias", d)

    add("model.shared.weight", n_vocab, d)
    add("final_logits_bias", 1, n_vocab)
    for side in "encoder", "decoder":
        layer = f"model.{side}.layers.0"
        for attention in ("self_attn", "encoder_attn")[:1 + (side == "decoder")]:
            for part in "q_proj", "k_proj", "v_proj", "out_proj":
                linear(f"{layer}.{attention}.{part}", d, d)
            norm(f"{layer}.{attention}_layer_norm")
        linear(f"{layer}.fc1", FFN, d)
        linear(f"{layer}.fc2", d, FFN)
        norm(f"{layer}.final_layer_norm")
    return out


def safetensors(chosen):
    header, data = {}, b""
    for name, (shape, numbers) in chosen.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(numbers)]}
        data += numbers.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


@functools.cache
def marian_mt_files():
    n_vocab = len(vocabulary())
    config = {
        "model_type": "marian", "activation_function": "relu", "d_model": D, "encoder_layers": 1, "decoder_layers": 1,
        "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": FFN, "decoder_ffn_dim": FFN,
        "vocab_size": n_vocab, "max_position_embeddings": 32, "scale_embedding": True, "normalize_before": False,
        "share_encoder_decoder_embeddings": True, "tie_word_embeddings": True, "eos_token_id": 0, "pad_token_id": n_vocab - 1,
        "decoder_start_token_id": n_vocab - 1, "forced_eos_token_id": 0, "bad_words_ids": [[n_vocab - 1]], "max_length": 32,
        "num_beams": 2, "is_encoder_decoder": True}
    spm = (PIECES / "sentencepiece.bpe.model").read_bytes()
    return {"config.json": json.dumps(config).encode(), "vocab.json": json.dumps(vocabulary()).encode(), "source.spm": spm,
            "target.spm": spm, "model.safetensors": safetensors(tensors()), "README.md": b"---\nlicense: mit\n---\n"}


def marian_mt(**more):
    """more: {name: bytes} besides or in the place of others; None: without it."""
    return {name: content for name, content in (marian_mt_files() | more).items() if content is not None}


def shards(index="model.safetensors.index.json", names=("model-1.safetensors", "model-2.safetensors")):
    """The same weights in two files."""
    parts, place = [{}, {}], {}
    for i, (name, tensor) in enumerate(tensors().items()):
        parts[i % 2][name], place[name] = tensor, names[i % 2]
    return marian_mt(**{"model.safetensors": None, index: json.dumps({"weight_map": place}).encode()},
                     **{name: safetensors(part) for name, part in zip(names, parts)})


@functools.cache
def converted():
    """(files of CTranslate2's converter, files of an Argos package)"""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, content in marian_mt_files().items():
            (folder / name).write_bytes(content)
        exporter.write_argos(folder, folder / "package", "float32", 6, ("en", "xx"))
        package = {str(path.relative_to(folder / "package")): path.read_bytes()
                   for path in (folder / "package").rglob("*") if path.is_file()}
    model = {name.removeprefix("model/"): content for name, content in package.items() if name.startswith("model/")}
    return model, package


def ctranslate2():
    files = marian_mt_files()
    return converted()[0] | {"source.spm": files["source.spm"], "target.spm": files["target.spm"]}


def quickmt():
    return converted()[0] | {"joint.spm.model": marian_mt_files()["source.spm"]}


def argos(note=b"", name="translate-en_xx-1_0"):
    """The bytes of an .argosmodel file; another note makes another one."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, content in sorted(converted()[1].items()):
            archive.writestr(zipfile.ZipInfo(f"{name}/{path}"), content)
        archive.writestr(zipfile.ZipInfo(f"{name}/README.md"), b"# A package\n" + note)
    return data.getvalue()


def firefox(pair):
    """As Mozilla names them, of the two languages: "enfr"."""
    return {f"model.{pair}.intgemm.alphas.bin": (STUDENT / "model.ende.bin").read_bytes(),
            f"vocab.{pair}.spm": (STUDENT / "vocab.ende.spm").read_bytes(),
            f"lex.50.50.{pair}.s2t.bin": (STUDENT / "lex.50.50.ende.s2t.bin").read_bytes()}


@functools.cache
def npz():
    """The student as an archive of numpy's."""
    data, arrays = (STUDENT / "model.ende.bin").read_bytes(), io.BytesIO()
    version, n = struct.unpack_from("<QQ", data)
    assert version == 1
    heads = [struct.unpack_from("<QQQQ", data, 16 + 32 * i) for i in range(n)]  # bytes of the name, type, rank, bytes of the data
    at, items = 16 + 32 * n, []
    for length, *_ in heads:
        items.append(data[at:at + length - 1].decode())
        at += length
    shapes = []
    for _, _, rank, _ in heads:
        shapes.append(struct.unpack_from(f"<{rank}i", data, at))
        at += 4 * rank
    at += 8 + struct.unpack_from("<Q", data, at)[0]
    with zipfile.ZipFile(arrays, "w") as archive:
        for name, shape, (_, kind, _, length) in zip(items, shapes, heads):
            letter = {0x404: "<f4", 0x101: "|i1"}[kind]
            shape = shape if kind == 0x404 else (length,)
            head = repr({"descr": letter, "fortran_order": False, "shape": tuple(shape)})
            head += " " * (63 - (len(head) + 10) % 64) + "\n"
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
                             data[at:at + math.prod(shape) * (4 if kind == 0x404 else 1)])
            at += length
    return arrays.getvalue()


def marian():
    spm = (STUDENT / "vocab.ende.spm").read_bytes()
    return {"decoder.yml": b"models:\n  - model.npz\nvocabs:\n  - vocab.spm\n  - vocab.spm\n", "model.npz": npz(), "vocab.spm": spm,
            "README.md": b"x"}


def hplt(pair="en-fi"):
    return {"model.npz.best-chrf.npz": npz(), f"model.{pair}.spm": (STUDENT / "vocab.ende.spm").read_bytes(), "README.md": b"x"}
