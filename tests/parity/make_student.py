#!/usr/bin/python3
"""Draws a small student model as Firefox's (Bergamot's) are, and writes it in every form that Marian knows.

make_student.py OUT [--split] [--seed N] [--expected TEXT]   needs Debian's python3-numpy; for --expected, its
python3-sentencepiece, too

OUT gets model.npz, model.bin (fp32), model.intgemm8.bin, model.intgemm.alphas.bin (with activations' scales),
lex.50.50.ende.s2t.bin, and vocab.ende.spm, or with --split srcvocab.ende.spm and trgvocab.ende.spm. Vocabularies are
cut from the bundled model's. With --expected, expected.json has what student_reference.py makes of a text's lines.
The same arguments give the same bytes. The binary files are those that marian-conv makes of the
.npz, byte for byte; model.alphas.npz is the one with scales.
"""

import argparse
import json
import math
import pathlib
import struct
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import student_reference as reference  # noqa: E402

SPM = HERE.parents[1] / "tests" / "models" / "en-de" / "source.spm"
PAIR = "ende"
D, HEADS, FFN, ENCODER, DECODER = 64, 8, 128, 3, 2
N_SOURCE, N_TARGET = 1024, 768
FIRST, BEST = 50, 50
# So that words weigh more than positions, most of whose cosines are near to 1 everywhere.
WORDS = 3.0
FLOAT, INT8 = 0x404, 0x101


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, bytes as they lie) of a protobuf message whose fields all have lengths."""
    at = 0
    while at < len(data):
        key, then = varint(data, at)
        length, then = varint(data, then)
        yield key >> 3, data[at:then + length]
        at = then + length


def cut_vocabulary(path, out, chosen):
    """A SentencePiece model of some pieces of another; chosen says which numbers, and in which order."""
    parts = list(fields(path.read_bytes()))
    pieces, rest = ([part for number, part in parts if (number == 1) == is_piece] for is_piece in (True, False))
    out.write_bytes(b"".join([pieces[i] for i in chosen] + rest))


def settings(split):
    return {
        "type": "transformer", "version": "v1.9.56", "dim-emb": D, "dim-vocabs": [N_SOURCE, N_TARGET if split else N_SOURCE],
        "enc-depth": ENCODER, "dec-depth": DECODER, "enc-type": "bidirectional",
        "enc-cell": "gru", "enc-cell-depth": 1, "dec-cell": "ssru", "dec-cell-base-depth": 2, "dec-cell-high-depth": 1,
        "dim-rnn": 1024, "dim-pooling-factor": 0, "skip": False, "layer-normalization": False, "right-left": False,
        "input-types": [], "lemma-dim-emb": 0, "lemma-dependency": "", "bert-train-type-embeddings": True,
        "bert-type-vocab-size": 2, "tied-embeddings": split, "tied-embeddings-src": False,
        "tied-embeddings-all": not split, "transformer-heads": HEADS, "transformer-dim-ffn": FFN,
        "transformer-ffn-depth": 2, "transformer-ffn-activation": "relu", "transformer-dim-aan": 2048,
        "transformer-aan-depth": 2, "transformer-aan-activation": "swish", "transformer-aan-nogate": False,
        "transformer-decoder-autoreg": "rnn", "transformer-guided-alignment-layer": "last",
        "transformer-no-projection": False, "transformer-pool": False, "transformer-tied-layers": [],
        "transformer-preprocess": "", "transformer-postprocess": "dan", "transformer-postprocess-emb": "d",
        "transformer-postprocess-top": "", "transformer-train-position-embeddings": False, "ulr": False,
        "ulr-dim-emb": 0, "ulr-trainable-transformation": False, "output-omit-bias": False,
    }


def to_yaml(values):
    """As Marian writes it: sorted, lists below their key, which older versions do with empty ones, too."""
    def value(item):
        if isinstance(item, list):
            return "".join(f"\n  - {each}" for each in item) or "\n  []"
        return " " + (item if isinstance(item, str) and item else json.dumps(item))
    return "".join(f"{key}:{value(item)}\n" for key, item in sorted(values.items()))


class Drawing:
    """Weights whose outputs differ from token to token and end now and then."""

    def __init__(self, seed):
        # RandomState's numbers are the same in every version of numpy.
        self.random, self.arrays = numpy.random.RandomState(seed), {}

    def put(self, name, mean, deviation, *shape):
        self.arrays[name] = (mean + deviation * self.random.standard_normal(shape)).astype("<f4")

    def affine(self, prefix, part, n_in, n_out, gain=1.5):
        self.put(f"{prefix}_W{part}", 0, gain / math.sqrt(n_in), n_in, n_out)
        self.put(f"{prefix}_b{part}", 0, 0.1, 1, n_out)

    def norm(self, prefix, scale=1.0):
        self.put(f"{prefix}_ln_scale", scale, 0.1 * scale, 1, D)
        self.put(f"{prefix}_ln_bias", 0, 0.1, 1, D)

    def attention(self, prefix, gain=1.5):
        for part in "qkvo":
            self.affine(prefix, part, D, D, gain)
        self.norm(f"{prefix}_Wo")

    def feed_forward(self, prefix, scale=1.0):
        self.affine(f"{prefix}_ffn", "1", D, FFN, 2.0)
        self.affine(f"{prefix}_ffn", "2", FFN, D, 2.0)
        # What relu lets through is never negative; without this, it would push all rows into one direction.
        self.arrays[f"{prefix}_ffn_W2"] -= self.arrays[f"{prefix}_ffn_W2"].mean(axis=0)
        self.norm(f"{prefix}_ffn_ffn", scale)

    def ssru(self, prefix):
        self.put(f"{prefix}_W", 0, 8.0 / math.sqrt(D), D, D)
        self.affine(prefix, "f", D, D)
        self.norm(f"{prefix}_ffn")

    def layers(self, split):
        for name, n in (("encoder_Wemb", N_SOURCE), ("decoder_Wemb", N_TARGET)) if split else (("Wemb", N_SOURCE),):
            self.put(name, 0, WORDS / math.sqrt(D), n, D)
        for i in range(1, ENCODER + 1):
            self.attention(f"encoder_l{i}_self")
            self.feed_forward(f"encoder_l{i}")
        for i in range(1, DECODER + 1):
            self.ssru(f"decoder_l{i}_rnn")
            self.attention(f"decoder_l{i}_context", 0.7)
            self.feed_forward(f"decoder_l{i}", 4.0 / WORDS if i == DECODER else 1.0)

    def bias(self, n, end):
        self.put("decoder_ff_logit_out_b", 0, 0.5, 1, n)
        self.arrays["decoder_ff_logit_out_b"][0, reference.EOS] = end


def draw(seed, split, end):
    drawing = Drawing(seed)
    drawing.layers(split)
    drawing.bias(N_TARGET if split else N_SOURCE, end)
    return drawing.arrays


def special(text):
    return numpy.frombuffer(text.encode() + b"\0", "<i1")


def padded(data):
    """As Marian keeps them in memory, and writes them."""
    return data + b"\0" * (-len(data) % 256)


def intgemm8(name, array):
    """Whole numbers, and the scale behind them. What is no embedding is turned, though its shape stays."""
    mult = numpy.float32(127) / numpy.abs(array).max()
    whole = numpy.clip(numpy.rint(array * mult), -127, 127).astype("<i1")
    return padded((whole if "Wemb" in name else whole.T).tobytes() + struct.pack("<f", mult))


def is_quantised(name):
    """marian-conv goes by names, so that Wemb_QuantMultA, a single number, is quantised as well."""
    return "Wemb" in name or name.find("_W") in (len(name) - 2, len(name) - 3)


def to_item(name, array, quantise):
    """(name, type, shape, bytes); Marian has no shapes of less than two numbers."""
    array = numpy.atleast_2d(array)
    if quantise and is_quantised(name):
        return name, reference.INTGEMM8, array.shape, intgemm8(name, array)
    return name, FLOAT, array.shape, padded(array.astype("<f4").tobytes())


def write_bin(path, arrays, text, quantise):
    """Marian's binary format, version 1, to the byte as marian-conv writes it."""
    items = [to_item(name, arrays[name], quantise) for name in sorted(arrays)]
    meta = special(text.replace("\n  []", " []").rstrip("\n")).tobytes()
    items.append(("special:model.yml", INT8, (len(meta),), meta))
    head = struct.pack("<QQ", 1, len(items))
    head += b"".join(struct.pack("<QQQQ", len(name) + 1, kind, len(shape), len(data))
                     for name, kind, shape, data in items)
    head += b"".join(name.encode() + b"\0" for name, *_ in items)
    head += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in items)
    gap = ((len(head) + 8) // 256 + 1) * 256 - len(head) - 8
    path.write_bytes(head + struct.pack("<Q", gap) + b"\0" * gap + b"".join(data for *_, data in items))


def write_shortlist(path, seed, n_source, n_target):
    """A few target words for each source word; Marian wants some for the last one."""
    random, ids, offsets = numpy.random.RandomState(seed), [], [0]
    for word in range(n_source):
        n = 1 + random.randint(8) if word == n_source - 1 else random.randint(9)
        ids += sorted(random.choice(n_target, n, replace=False))
        offsets.append(len(ids))
    body = struct.pack("<4Q", FIRST, BEST, len(offsets), len(ids))
    body += numpy.array(offsets, "<u8").tobytes() + numpy.array(ids, "<u4").tobytes()
    total = reference.checksum(numpy.frombuffer(body, "<u8", len(body) // 8))
    path.write_bytes(struct.pack("<QQ", reference.MAGIC, total) + body)


def activation_scales(path, sources, shortlist):
    """{X_QuantMultA: 127 / (mean of the largest activations + 1.1 standard deviations)}, from decoding with 8 bits."""
    model = reference.Student(path)
    for source in sources:
        reference.translate(model, source, shortlist)
    scales = {f"{name}_QuantMultA": 127 / (numpy.mean(seen) + 1.1 * numpy.std(seen))
              for name, seen in model.seen.items()}
    scales = {name: numpy.array([scale], "<f4") for name, scale in scales.items()}
    # Marian looks for the output's under another name where there is a shortlist.
    scales["none_QuantMultA"] = scales[f"{model.target_name}_QuantMultA"]
    return scales


def write_vocabularies(out, split):
    """One or two; the target's of two has other numbers."""
    if not split:
        return cut_vocabulary(SPM, out / f"vocab.{PAIR}.spm", range(N_SOURCE))
    cut_vocabulary(SPM, out / f"srcvocab.{PAIR}.spm", range(N_SOURCE))
    cut_vocabulary(SPM, out / f"trgvocab.{PAIR}.spm", [0, 1, *range(N_TARGET - 1, 1, -1)])


def sentences(seed, n):
    """Source ids, </s> included, for measuring activations."""
    random = numpy.random.RandomState(seed)
    return [[*(int(i) for i in random.randint(2, N_SOURCE, random.randint(1, 16))), reference.EOS] for _ in range(n)]


def write(out, seed=1, split=False, end=9.0):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    write_vocabularies(out, split)
    text = to_yaml(settings(split))
    arrays = draw(seed, split, end)
    numpy.savez(out / "model.npz", **arrays, **{"special:model.yml": special(text)})
    write_bin(out / "model.bin", arrays, text, False)
    write_bin(out / "model.intgemm8.bin", arrays, text, True)
    shortlist = out / f"lex.50.50.{PAIR}.s2t.bin"
    write_shortlist(shortlist, seed, N_SOURCE, N_TARGET if split else N_SOURCE)
    arrays |= activation_scales(out / "model.intgemm8.bin", sentences(seed, 30), reference.Shortlist(shortlist))
    numpy.savez(out / "model.alphas.npz", **arrays, **{"special:model.yml": special(text)})
    write_bin(out / "model.intgemm.alphas.bin", arrays, text, True)


def answers(path, sources, shortlist, width=1):
    model = reference.Student(path)
    found = [reference.translate(model, source, shortlist, width) for source in sources]
    return [{"ids": best.ids, "logprobs": rounded(best.logprobs), "margin": float(best.margin)} for best in found]


def rounded(numbers):
    return numpy.round(numbers, 7).tolist()


def details(path, source, shortlist):
    """Of one sentence what is inside: the encoder's output, and the last layer's cross-attention, [step, head, source]."""
    model = reference.Student(path)
    return {"encoder": rounded(model.encode(source)), "candidates": model.candidates(source, shortlist),
            "cross_attention": rounded(reference.translate(model, source).attention)}


def write_expected(out, lines):
    import sentencepiece
    vocabulary = next(path for pattern in ("srcvocab.*", "vocab.*") for path in sorted(out.glob(pattern)))
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(vocabulary))
    sources = [pieces.encode(line) + [reference.EOS] for line in lines]
    shortlist = reference.Shortlist(out / f"lex.50.50.{PAIR}.s2t.bin")
    expected = {"sources": [{"text": line, "ids": ids} for line, ids in zip(lines, sources)],
                "first_source": details(out / "model.bin", sources[0], shortlist)}
    for name in ("model.bin", "model.intgemm8.bin", "model.intgemm.alphas.bin"):
        path = out / name
        expected[name] = {"greedy": answers(path, sources, None), "greedy_shortlist": answers(path, sources, shortlist),
                          "beam4": answers(path, sources, None, 4), "beam4_shortlist": answers(path, sources, shortlist, 4)}
    (out / "expected.json").write_text(json.dumps(expected) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", metavar="OUT")
    parser.add_argument("--split", action="store_true", help="a vocabulary for each side")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--end", type=float, default=9.0, help="bias of </s>: more for shorter outputs")
    parser.add_argument("--expected", metavar="TEXT", help="a sentence a line, for expected.json")
    options = parser.parse_args()
    write(options.out, options.seed, options.split, options.end)
    if options.expected:
        write_expected(pathlib.Path(options.out), pathlib.Path(options.expected).read_text().splitlines())


if __name__ == "__main__":
    main()
