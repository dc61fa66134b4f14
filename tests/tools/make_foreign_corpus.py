"""Writes the seeds of fuzz_foreign: folders as zip archives.  Needs numpy.  /usr/bin/python3 tests/tools/make_foreign_corpus.py"""

import io
import json
import pathlib
import zipfile

import numpy

import export_marian

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "corpus"
D_MODEL, D_FF, PIECES = 2, 1, ["</s>", "<unk>", "a"]
CONFIG = {"d_model": D_MODEL, "vocab_size": len(PIECES), "encoder_layers": 1, "decoder_layers": 1,
          "encoder_attention_heads": 1, "encoder_ffn_dim": D_FF, "decoder_ffn_dim": D_FF,
          "activation_function": "swish"}
DECODER = {"models": ["model.npz"], "beam-size": 6, "normalize": 0.6}


def archive(files, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as zipped:
        for name, data in files.items():
            zipped.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def npy(array):
    """Without numpy's padding, which is most of a small array's file."""
    header = str({"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}).encode() + b"\n"
    return b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header + array.tobytes()


def marian(dtype, own_tables=False, vocab="vocab.yml"):
    changes = {"tied-embeddings-all": not own_tables}
    tables = ("encoder_Wemb", "decoder_Wemb") if own_tables else ("Wemb",)
    arrays = {name: numpy.ones((len(PIECES), D_MODEL), dtype) for name in tables}
    arrays["decoder_ff_logit_out_b"] = numpy.zeros((1, len(PIECES)), dtype)
    if own_tables:
        arrays["decoder_ff_logit_out_W"] = numpy.ones((D_MODEL, len(PIECES)), dtype)
    for side, attentions in {"encoder": ["self"], "decoder": ["self", "context"]}.items():
        for layer in [f"{side}_l1_"]:
            for attention in attentions:
                for part in "qkvo":
                    arrays[f"{layer}{attention}_W{part}"] = numpy.ones((D_MODEL, D_MODEL), dtype)
                    arrays[f"{layer}{attention}_b{part}"] = numpy.zeros((1, D_MODEL), dtype)
            for number, shape in {1: (D_MODEL, D_FF), 2: (D_FF, D_MODEL)}.items():
                arrays[f"{layer}ffn_W{number}"] = numpy.ones(shape, dtype)
                arrays[f"{layer}ffn_b{number}"] = numpy.zeros((1, shape[1]), dtype)
            for norm in [f"{name}_Wo" for name in attentions] + ["ffn_ffn"]:
                arrays[f"{layer}{norm}_ln_scale"] = numpy.ones((1, D_MODEL), dtype)
                arrays[f"{layer}{norm}_ln_bias"] = numpy.zeros((1, D_MODEL), dtype)
    settings = export_marian.to_yaml(export_marian.model_yml(CONFIG) | changes).encode() + b"\0"
    files = {f"{name}.npy": npy(array) for name, array in arrays.items()}
    return {"model.npz": archive(files | {"special:model.yml.npy": npy(numpy.frombuffer(settings, numpy.int8))}),
            "decoder.yml": export_marian.to_yaml(DECODER | {"vocabs": [vocab] * 2}),
            "vocab.yml": "".join(f"{json.dumps(piece)}: {i}\n" for i, piece in enumerate(PIECES)),
            "vocab.spm": (CORPUS / "spm_check" / "word").read_bytes(),
            "source.spm": "x", "target.spm": "x"}


def ctranslate2(version, n_pieces):
    pieces = ["<unk>", "<s>", "</s>"] + [chr(0x61 + i) for i in range(n_pieces - 3)]
    files = {"model.bin": (CORPUS / "ctranslate2" / f"{version}.bin").read_bytes(),
             "tokenizer_config.json": json.dumps({"source_lang": "en", "target_lang": "de"}),
             "source.spm": "x", "target.spm": "x"}
    if version == "v6":
        files["config.json"] = json.dumps({"add_source_bos": False, "add_source_eos": True, "bos_token": "<s>",
                                           "eos_token": "</s>", "unk_token": "<unk>", "decoder_start_token": "</s>",
                                           "layer_norm_epsilon": None})
        return files | {"shared_vocabulary.json": json.dumps(pieces)}
    return files | {"shared_vocabulary.txt": "\n".join(pieces) + "\n"}


def argos(folder):
    inner = {f"translate-en_de/model/{name}": data for name, data in folder.items() if not name.endswith(".spm")}
    metadata = {"type": "translate", "from_code": "en", "to_code": "de", "package_version": "1.9", "target_prefix": ""}
    return {"translate-en_de/metadata.json": json.dumps(metadata),
            "translate-en_de/sentencepiece.model": "x"} | inner


def main():
    directory = CORPUS / "foreign"
    directory.mkdir(parents=True, exist_ok=True)
    newest = ctranslate2("v6", 6)
    for name, data in {"marian": archive(marian("<f4")), "marian_half": archive(marian("<f2", own_tables=True, vocab="vocab.spm")),
                       "ctranslate2": archive(newest), "ctranslate2_old": archive(ctranslate2("v4", 6)),
                       "argos": archive(argos(newest)),
                       "argos_deflated": archive(argos(newest), zipfile.ZIP_DEFLATED)}.items():
        (directory / name).write_bytes(data)


if __name__ == "__main__":
    main()
