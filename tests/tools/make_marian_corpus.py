"""Writes the seeds of fuzz_npz, fuzz_marian_bin, fuzz_shortlist and fuzz_marian.  Needs numpy.  /usr/bin/python3 tests/tools/make_marian_corpus.py"""

import pathlib

import numpy

import export_marian

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "corpus"
CONFIG = {"d_model": 8, "vocab_size": 3, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
          "encoder_ffn_dim": 4, "decoder_ffn_dim": 4, "activation_function": "swish"}
VOCABS = {
    "plain": '"</s>": 0\n"<unk>": 1\n"\\u2581a": 2\n',
    "flow": '{"</s>": 0, "<unk>": 1, "<pad>": 2}\n',
    "folded": '</s>: 0\n"<unk>": 1\n? >\n  long\n  key\n: 2\n',
    "anchors": '"</s>": &a 0\n"<unk>": *a\n',
}
DECODER = {"models": ["model.npz"], "vocabs": ["vocab.yml", "vocab.yml"], "beam-size": 6, "normalize": 0.6,
           "word-penalty": -1.5e-1, "allow-unk": False, "max-length-factor": 3}


def main():
    (CORPUS / "npz").mkdir(parents=True, exist_ok=True)
    (CORPUS / "marian").mkdir(parents=True, exist_ok=True)
    arrays = {"Wemb": numpy.arange(12, dtype="<f4").reshape(3, 4), "half": numpy.ones((1, 3), "<f2"),
              "scalar": numpy.float32(1), "empty": numpy.zeros((0, 2), "<f4"),
              "special:model.yml": export_marian.special("type: transformer\n")}
    numpy.savez(CORPUS / "npz" / "stored.npz", **arrays)
    numpy.savez_compressed(CORPUS / "npz" / "compressed.npz", **arrays)
    numpy.savez(CORPUS / "npz" / "fortran.npz", a=numpy.ones((2, 3), "<f4", order="F"), b=numpy.ones(2, ">f4"))
    (CORPUS / "marian_bin").mkdir(parents=True, exist_ok=True)
    arrays = {"Wemb": numpy.arange(12, dtype="<f4").reshape(3, 4), "half": numpy.ones((1, 3), "<f2"),
              "encoder_l1_ffn_W1": numpy.array([[1, -2, 3], [-4, 5, 127]], "<f4"), "ids": numpy.arange(3, dtype="<i4"),
              "none_QuantMultA": numpy.full((1, 1), 12.5, "<f4"), "empty": numpy.zeros((0, 2), "<f4")}
    for name, int8 in ("float", False), ("intgemm8", True):
        items = export_marian.bin_items(arrays, {"type": "transformer"}, int8)
        (CORPUS / "marian_bin" / name).write_bytes(export_marian.to_bin(items))
    (CORPUS / "shortlist").mkdir(parents=True, exist_ok=True)
    (CORPUS / "shortlist" / "even").write_bytes(export_marian.to_shortlist([[5, 60], [], [61, 62]], 4))
    (CORPUS / "shortlist" / "odd").write_bytes(export_marian.to_shortlist([[63], [8, 9], []], 70))
    settings = export_marian.to_yaml(export_marian.model_yml(CONFIG))
    for name, vocab in VOCABS.items():
        (CORPUS / "marian" / name).write_bytes(
            b"\0".join(text.encode() for text in (export_marian.to_yaml(DECODER), settings, vocab)))
    student = export_marian.model_yml(CONFIG) | {"transformer-decoder-autoreg": "rnn", "dec-cell": "ssru"}
    (CORPUS / "marian" / "student").write_bytes(
        b"\0" + export_marian.to_yaml(student).encode() + b"\0" + (CORPUS / "spm_check" / "char").read_bytes())


if __name__ == "__main__":
    main()
