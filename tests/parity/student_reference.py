"""Marian's student models (Firefox's, Bergamot's) once more, as plainly as they can be written: a Transformer encoder,
and a decoder with an SSRU in the place of self-attention. Double precision, one sentence at a time, numpy only.

Written from Marian's own source: transformer.h, rnn/cells.h, node_initializers.cpp (positions), shortlist.cpp, binary.cpp,
expression_graph_packable.h and intgemm_interface.h (8 bits), beam_search.cpp.

student_reference.py MODEL [--shortlist LEX] [--beam N]   reads lines of source ids, prints JSON
"""

import argparse
import json
import math
import pathlib
import struct
import sys

import numpy

EOS, UNK = 0, 1
EPSILON = 1e-9
MAGIC = 0xF11A48D5013417F5
TYPES = {0x101: "<i1", 0x104: "<i4", 0x402: "<f2", 0x404: "<f4"}
INTGEMM8 = 0x4101


class Quantised:
    """A matrix of whole numbers, [in, out]; what it stands for is values / mult."""

    def __init__(self, values, mult):
        self.values, self.mult = values.astype(numpy.float64), numpy.float32(mult)

    def floats(self):
        return (self.values.astype(numpy.float32) * (numpy.float32(1) / self.mult)).astype(numpy.float64)


def read_intgemm8(name, shape, data):
    """Every matrix but an embedding lies transposed, in spite of its shape; its scale lies behind the numbers."""
    n = math.prod(shape)
    values, mult = numpy.frombuffer(data[:n], "<i1"), struct.unpack_from("<f", data, n)[0]
    if "Wemb" in name:
        return Quantised(values.reshape(shape), mult)
    return Quantised(values.reshape(shape[::-1]).T, mult)


def read_item(name, kind, shape, data):
    if kind == INTGEMM8:
        item = read_intgemm8(name, shape, data)
        return item.floats() if math.prod(shape) == 1 else item
    array = numpy.frombuffer(data[:math.prod(shape) * numpy.dtype(TYPES[kind]).itemsize], TYPES[kind]).reshape(shape)
    return array if kind == 0x101 else array.astype(numpy.float64)


def read_bin(path):
    """{name: array or Quantised} of Marian's binary format, version 1."""
    data, at = pathlib.Path(path).read_bytes(), 16
    version, n = struct.unpack_from("<QQ", data)
    assert version == 1, version
    headers = [struct.unpack_from("<QQQQ", data, at + 32 * i) for i in range(n)]
    at += 32 * n
    names, shapes, items = [], [], {}
    for length, *_ in headers:
        names.append(data[at:at + length - 1].decode())
        at += length
    for header in headers:
        shapes.append(struct.unpack_from(f"<{header[2]}i", data, at))
        at += 4 * header[2]
    at += 8 + struct.unpack_from("<Q", data, at)[0]
    for name, shape, (_, kind, _, length) in zip(names, shapes, headers):
        items[name] = read_item(name, kind, shape, data[at:at + length])
        at += length
    assert at == len(data), (at, len(data))
    return items


def read_npz(path):
    with numpy.load(path) as arrays:
        return {name: arrays[name] if ":" in name else arrays[name].astype(numpy.float64) for name in arrays.files}


def read_settings(items):
    """special:model.yml: a key and a value a line; lists below their key, an item a line or [] for none."""
    settings, key = {}, None
    for line in items["special:model.yml"].tobytes().rstrip(b"\0").decode().splitlines():
        text = line.strip()
        if text == "[]":
            settings[key] = []
        elif text.startswith("- "):
            settings[key] = (settings[key] or []) + [plain(text[2:])]
        elif text:
            key, _, value = text.partition(":")
            settings[key] = plain(value.strip())
    return settings


def plain(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def checksum(words):
    """boost's hash_combine over 64-bit words, beginning with 0."""
    seed, mask = 0, 2 ** 64 - 1
    for word in words:
        seed ^= (int(word) + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & mask
        seed &= mask
    return seed


class Shortlist:
    """lex.*.s2t.bin: for each source word the target words that it may become."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        magic, self.checksum, self.first, self.best, n_offsets, n_ids = struct.unpack_from("<6Q", data)
        assert magic == MAGIC and len(data) == 48 + 8 * n_offsets + 4 * n_ids, (hex(magic), len(data))
        # Of an odd number of ids the last one is not in the sum.
        actual = checksum(numpy.frombuffer(data, "<u8", (len(data) - 16) // 8, 16))
        assert self.checksum == actual, (hex(self.checksum), hex(actual))
        self.offsets = numpy.frombuffer(data, "<u8", n_offsets, 48)
        self.ids = numpy.frombuffer(data, "<u4", n_ids, 48 + 8 * n_offsets)

    def targets(self, word):
        """None for words behind the file's last: there are real files that lack the vocabulary's last word."""
        first, *last = (int(offset) for offset in self.offsets[word:word + 2])
        return self.ids[first:last[0]] if last else self.ids[:0]

    def candidates(self, source, n_target, is_shared):
        """Sorted ids: the first ones, those of each source word, the source's own, and more up to a multiple of 8."""
        chosen = set(range(min(self.first, n_target)))
        for word in source:
            chosen.update(int(i) for i in self.targets(word))
            chosen.update([int(word)] if is_shared else [])
        more = (i for i in range(self.first, n_target) if i not in chosen)
        while len(chosen) % 8:
            chosen.add(next(more))
        return sorted(chosen)


def positions(first, n, d):
    """All sines, then all cosines, of wave lengths from 2 pi to 10000 * 2 pi."""
    step = math.log(10000.0) / (d / 2 - 1)
    angles = numpy.arange(first, first + n)[:, None] * numpy.exp(-step * numpy.arange(d // 2))[None, :]
    return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], axis=1)


def softmax(x):
    x = numpy.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


class Student:
    def __init__(self, path):
        path = pathlib.Path(path)
        self.items = read_npz(path) if path.suffix == ".npz" else read_bin(path)
        self.settings = read_settings(self.items)
        self.d, self.heads = self.settings["dim-emb"], self.settings["transformer-heads"]
        self.is_shared = "Wemb" in self.items
        self.source = self.floats("Wemb" if self.is_shared else "encoder_Wemb")
        self.target_name = "Wemb" if self.is_shared else "decoder_Wemb"
        self.target = self.floats(self.target_name)
        self.seen = {}  # of each matrix, the largest activations that it was given

    def floats(self, name):
        item = self.items[name]
        return item.floats() if isinstance(item, Quantised) else item

    def scale(self, x, name):
        """Of activations: the model's own number, else 127 for the largest of them."""
        self.seen.setdefault(name, []).append(float(numpy.abs(x).max()))
        fixed = self.items.get(f"{name}_QuantMultA")
        return numpy.float32(127 / numpy.abs(x).max() if fixed is None else fixed.reshape(-1)[0])

    def product(self, x, name, matrix=None):
        w, scale = self.items[name] if matrix is None else matrix, self.scale(x, name)
        if not isinstance(w, Quantised):
            return x @ w
        whole = numpy.clip(numpy.rint(x.astype(numpy.float32) * scale), -127, 127).astype(numpy.float64)
        return whole @ w.values / (float(scale) * float(w.mult))

    def affine(self, x, prefix, part):
        return self.product(x, f"{prefix}_W{part}") + self.items[f"{prefix}_b{part}"]

    def norm(self, x, prefix):
        mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
        return ((x - mean) / numpy.sqrt(variance + EPSILON) * self.items[f"{prefix}_ln_scale"]
                + self.items[f"{prefix}_ln_bias"])

    def attention(self, prefix, x, keys, values):
        """(what was attended to, after its projection; weights of [head, query, key])"""
        q, k, v = (rows.reshape(len(rows), self.heads, -1).transpose(1, 0, 2)
                   for rows in (self.affine(x, prefix, "q"), keys, values))
        weights = softmax(q @ k.transpose(0, 2, 1) / math.sqrt(self.d // self.heads))
        return self.affine((weights @ v).transpose(1, 0, 2).reshape(len(x), self.d), prefix, "o"), weights

    def feed_forward(self, prefix, x):
        hidden = numpy.maximum(self.affine(x, f"{prefix}_ffn", "1"), 0)
        return self.norm(x + self.affine(hidden, f"{prefix}_ffn", "2"), f"{prefix}_ffn_ffn")

    def ssru(self, prefix, x, cell):
        """(the layer's output, the next cell)"""
        forget = 1 / (1 + numpy.exp(-self.affine(x, prefix, "f")))
        cell = forget * cell + (1 - forget) * self.product(x, f"{prefix}_W")
        return self.norm(x + numpy.maximum(cell, 0), f"{prefix}_ffn"), cell

    def encode(self, ids):
        x = self.source[ids] * math.sqrt(self.d) + positions(0, len(ids), self.d)
        for i in range(1, self.settings["enc-depth"] + 1):
            prefix = f"encoder_l{i}_self"
            y, _ = self.attention(prefix, x, self.affine(x, prefix, "k"), self.affine(x, prefix, "v"))
            x = self.feed_forward(f"encoder_l{i}", self.norm(x + y, f"{prefix}_Wo"))
        return x

    def memory(self, encoded):
        """Of each decoder layer, keys and values."""
        return [tuple(self.affine(encoded, f"decoder_l{i}_context", part) for part in "kv")
                for i in range(1, self.settings["dec-depth"] + 1)]

    def start(self):
        return [numpy.zeros((1, self.d))] * self.settings["dec-depth"]

    def step(self, memory, cells, word, position, candidates=None):
        """(logarithms of probabilities, the next cells, the last layer's weights of [head, source]);
        word is None at the beginning, whose embedding is 0."""
        x = numpy.zeros((1, self.d)) if word is None else self.target[[word]] * math.sqrt(self.d)
        x, nexts = x + positions(position, 1, self.d), []
        for i, ((keys, values), cell) in enumerate(zip(memory, cells), 1):
            x, cell = self.ssru(f"decoder_l{i}_rnn", x, cell)
            y, weights = self.attention(f"decoder_l{i}_context", x, keys, values)
            x = self.feed_forward(f"decoder_l{i}", self.norm(x + y, f"decoder_l{i}_context_Wo"))
            nexts.append(cell)
        logits = self.logits(x, candidates)
        logits = logits - logits.max()
        return logits - math.log(numpy.exp(logits).sum()), nexts, weights[:, 0]

    def logits(self, x, candidates):
        chosen = slice(None) if candidates is None else candidates
        w = self.items[self.target_name]
        w = Quantised(w.values[chosen].T, w.mult) if isinstance(w, Quantised) else w[chosen].T
        return (self.product(x, self.target_name, w) + self.items["decoder_ff_logit_out_b"][:, chosen])[0]

    def candidates(self, source, shortlist):
        return shortlist and shortlist.candidates(source, len(self.target), self.is_shared)


class Beam:
    def __init__(self, cells):
        self.ids, self.logprobs, self.attention, self.cells = [], [], [], cells

    def next(self, word, logprob, attention, cells):
        beam = Beam(cells)
        beam.ids, beam.logprobs = self.ids + [word], self.logprobs + [float(logprob)]
        beam.attention = self.attention + [attention]
        return beam

    def total(self):
        return sum(self.logprobs)


def expand(model, memory, beam, candidates, width):
    """The best continuations of one beam; <unk> is never one."""
    word, position = (beam.ids[-1] if beam.ids else None), len(beam.ids)
    logprobs, cells, attention = model.step(memory, beam.cells, word, position, candidates)
    ids = numpy.arange(len(logprobs)) if candidates is None else numpy.array(candidates)
    logprobs = numpy.where(ids == UNK, -math.inf, logprobs)
    return [beam.next(int(ids[i]), logprobs[i], attention, cells)
            for i in numpy.argsort(-logprobs, kind="stable")[:width + 1]]


def translate(model, source, shortlist=None, width=1, factor=2.0, normalize=1.0):
    """The best Beam of a search as Marian's, eos included where it came; its margin says by how little the search
    could have gone another way."""
    memory, candidates = model.memory(model.encode(source)), model.candidates(source, shortlist)
    beams, finished, margin = [Beam(model.start())], [], math.inf
    limit = math.ceil(factor * len(source))
    while beams:
        nexts = [b for beam in beams for b in expand(model, memory, beam, candidates, width)]
        nexts.sort(key=lambda b: -b.total())
        margin = min([margin] + [a.total() - b.total() for a, b in zip(nexts[:width], nexts[1:])])
        chosen = nexts[:width]
        finished += [b for b in chosen if b.ids[-1] == EOS or len(b.ids) == limit]
        beams = [b for b in chosen if b.ids[-1] != EOS and len(b.ids) < limit]
        width = len(beams)
    finished.sort(key=lambda b: -b.total() / len(b.ids) ** normalize)
    finished[0].margin = margin
    return finished[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--shortlist", metavar="LEX")
    parser.add_argument("--beam", type=int, default=1)
    options = parser.parse_args()
    model, shortlist = Student(options.model), options.shortlist and Shortlist(options.shortlist)
    for line in sys.stdin:
        best = translate(model, [int(word) for word in line.split()], shortlist, options.beam)
        print(json.dumps({"ids": best.ids, "logprobs": best.logprobs, "margin": best.margin}))


if __name__ == "__main__":
    main()
