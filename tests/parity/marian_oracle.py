"""Marian's Transformer and its beam search once more, as plainly as they can be written: double precision, whole
sequences, no cache. Reads an .npz by itself, in Marian's own names and orientation."""

import json
import math

import numpy

EPSILON = 1e-6
EOS = 0


def positions(n, d):
    """All sines, then all cosines, of wave lengths from 2 pi to 10000 * 2 pi."""
    step = math.log(10000.0) / (d / 2 - 1)
    angles = numpy.arange(n)[:, None] * numpy.exp(-step * numpy.arange(d // 2))[None, :]
    return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], axis=1)


def softmax(x):
    x = numpy.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


ACTIVATIONS = {
    "relu": lambda x: numpy.maximum(x, 0),
    "swish": lambda x: x / (1 + numpy.exp(-x)),
    "gelu": lambda x: x / (1 + numpy.exp(-1.702 * x)),
}


class Model:
    def __init__(self, path):
        with numpy.load(path) as arrays:
            self.arrays = {name: arrays[name].astype(numpy.float64) for name in arrays.files if ":" not in name}
            text = arrays["special:model.yml"].tobytes().rstrip(b"\0").decode()
        self.settings = {key: json.loads(value) for key, value in
                         (line.split(": ", 1) for line in text.splitlines())}
        self.d = self.settings["dim-emb"]
        self.is_pre = "n" in self.settings["transformer-preprocess"]
        shared = "Wemb" in self.arrays
        self.source = self.arrays["Wemb" if shared else "encoder_Wemb"]
        self.target = self.arrays["Wemb" if shared else "decoder_Wemb"]
        if "decoder_ff_logit_out_Wt" in self.arrays:
            self.output = self.arrays["decoder_ff_logit_out_Wt"]
        elif "decoder_ff_logit_out_W" in self.arrays:
            self.output = self.arrays["decoder_ff_logit_out_W"].T
        else:
            self.output = self.target

    def norm(self, x, prefix, suffix=""):
        mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
        return ((x - mean) / numpy.sqrt(variance + EPSILON) * self.arrays[f"{prefix}_ln_scale{suffix}"]
                + self.arrays[f"{prefix}_ln_bias{suffix}"])

    def sublayer(self, x, prefix, function):
        if self.is_pre:
            return x + function(self.norm(x, prefix, "_pre"))
        return self.norm(x + function(x), prefix)

    def attention(self, prefix, x, memory, is_causal=False):
        def project(rows, part):
            return rows @ self.arrays[f"{prefix}_W{part}"] + self.arrays[f"{prefix}_b{part}"]

        heads = self.settings["transformer-heads"]
        q, k, v = (project(rows, part).reshape(len(rows), heads, -1).transpose(1, 0, 2)
                   for rows, part in ((x, "q"), (memory, "k"), (memory, "v")))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(self.d // heads)
        if is_causal:
            scores = scores + numpy.triu(numpy.full(scores.shape[1:], -1e9), 1)
        return project((softmax(scores) @ v).transpose(1, 0, 2).reshape(len(x), self.d), "o")

    def recurrence(self, prefix, x):
        """SSRU: what is remembered goes from each position to the next."""
        state, out = numpy.zeros(self.d), []
        for row in x:
            keep = 1 / (1 + numpy.exp(-(row @ self.arrays[f"{prefix}_Wf"] + self.arrays[f"{prefix}_bf"].reshape(-1))))
            state = keep * state + (1 - keep) * (row @ self.arrays[f"{prefix}_W"])
            out.append(numpy.maximum(state, 0))
        return numpy.array(out)

    def feed_forward(self, prefix, x):
        act = ACTIVATIONS[self.settings["transformer-ffn-activation"]]
        hidden = act(x @ self.arrays[f"{prefix}_W1"] + self.arrays[f"{prefix}_b1"])
        return hidden @ self.arrays[f"{prefix}_W2"] + self.arrays[f"{prefix}_b2"]

    def place(self, words, side):
        """Learned positions are added to words as they are, computed ones to words that are scaled."""
        if "Wpos" in self.arrays:
            x = words + self.arrays["Wpos"][:len(words)]
        else:
            x = words * math.sqrt(self.d) + positions(len(words), self.d)
        if "n" in self.settings["transformer-postprocess-emb"]:
            x = self.norm(x, f"{side}_emb", "_pre")
        return x

    def top(self, x, side):
        return self.norm(x, f"{side}_top") if "n" in self.settings["transformer-postprocess-top"] else x

    def encode(self, ids):
        x = self.place(self.source[ids], "encoder")
        for i in range(1, self.settings["enc-depth"] + 1):
            layer = f"encoder_l{i}"
            x = self.sublayer(x, f"{layer}_self_Wo", lambda h: self.attention(f"{layer}_self", h, h))
            x = self.sublayer(x, f"{layer}_ffn_ffn", lambda h: self.feed_forward(f"{layer}_ffn", h))
        return self.top(x, "encoder")

    def logprobs(self, memory, ids):
        """Of the token behind ids; the decoder begins with an embedding of zeros."""
        words = numpy.concatenate([numpy.zeros((1, self.d)), self.target[ids]]) if ids else numpy.zeros((1, self.d))
        x = self.place(words, "decoder")
        for i in range(1, self.settings["dec-depth"] + 1):
            layer = f"decoder_l{i}"
            if self.settings.get("transformer-decoder-autoreg") == "rnn":
                norm = f"{layer}_rnn" if self.is_pre else f"{layer}_rnn_ffn"
                x = self.sublayer(x, norm, lambda h: self.recurrence(f"{layer}_rnn", h))
            else:
                x = self.sublayer(x, f"{layer}_self_Wo", lambda h: self.attention(f"{layer}_self", h, h, True))
            x = self.sublayer(x, f"{layer}_context_Wo", lambda h: self.attention(f"{layer}_context", h, memory))
            x = self.sublayer(x, f"{layer}_ffn_ffn", lambda h: self.feed_forward(f"{layer}_ffn", h))
        logits = self.output @ self.top(x, "decoder")[-1]
        if "decoder_ff_logit_out_b" in self.arrays:
            logits = logits + self.arrays["decoder_ff_logit_out_b"].reshape(-1)
        return numpy.log(softmax(logits))


def candidates(source, lists, n_first, n_vocab, is_shared):
    """What a shortlist lets a sentence become: a multiple of 8 ids, rising."""
    chosen = set(range(min(n_first, n_vocab))).union(*(lists[token] for token in source), source if is_shared else ())
    others = (token for token in range(n_first, n_vocab) if token not in chosen)
    return sorted(chosen.union(token for token, _ in zip(others, range(-len(chosen) % 8))))


def translate(model, source, n_beams, normalize=1.0, word_penalty=0.0, factor=3, limit=None,
              never=(), among=None):
    """(ids, score, margin): margin is by how little the search could have gone another way. among: the only
    tokens that there are."""
    memory = model.encode(source)
    beams, finished, margin = [([], 0.0)], [], math.inf
    width, limit = n_beams, limit or math.ceil(factor * len(source))
    while beams:
        n = len(beams[0][0]) + 1
        candidates = []
        for beam, (ids, total) in enumerate(beams):
            logprobs = model.logprobs(memory, ids)
            if among is not None:
                shortened = numpy.full_like(logprobs, -math.inf)
                shortened[among] = logprobs[among] - numpy.log(numpy.exp(logprobs[among]).sum())
                logprobs = shortened
            logprobs[list(never)] = -math.inf
            best = numpy.argsort(-logprobs, kind="stable")[:width + 1]
            candidates += [(total + logprobs[token], beam, int(token)) for token in best]
        candidates.sort(key=lambda c: (-c[0], c[1], c[2]))
        margin = min([margin] + [a[0] - b[0] for a, b in zip(candidates[:width], candidates[1:])])
        survivors = []
        for total, beam, token in candidates[:width]:
            ids = beams[beam][0] + [token]
            if token == EOS or n == limit:
                finished.append(((total - word_penalty * n) / n ** normalize, ids))
            else:
                survivors.append((ids, total))
        beams, width = survivors, len(survivors)
    finished.sort(key=lambda f: -f[0])
    if len(finished) > 1:
        margin = min(margin, finished[0][0] - finished[1][0])
    return finished[0][1], finished[0][0], margin
