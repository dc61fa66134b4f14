"""The Transformer by the papers' formulas in numpy and double precision, from a directory as MarianMT has them, and keeping
everything on the way: what /attention's include, logit_lens and switch_off must show. Vaswani et al. 2017, section 3;
Kobayashi et al. 2020 (lengths of values), Abnar and Zuidema 2020 (rollout). Shares nothing with the engine, nor with naive.c."""

import json
import math
import pathlib
import struct

import numpy

TYPES = {"F16": "<f2", "F32": "<f4"}
KINDS = {"encoder": ("encoder", "self_attn"), "decoder": ("decoder", "self_attn"), "cross": ("decoder", "encoder_attn")}


def read_weights(path):
    data = pathlib.Path(path).read_bytes()
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    weights = {}
    for name, about in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in about["data_offsets"])
            weights[name] = numpy.frombuffer(data[begin:end], TYPES[about["dtype"]]).reshape(about["shape"]).astype(float)
    return weights


def softmax(x):
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


class Run:
    """What one pass leaves: attention[kind][layer] = {queries, keys, ...}; states, sublayers, residuals and hidden of each side
    and layer; logits [Ld + 1, T, V] after the embedding and each decoder layer."""

    def __init__(self):
        self.attention = {kind: [] for kind in KINDS}
        self.states, self.sublayers, self.residuals, self.hidden = ({"encoder": [], "decoder": []} for _ in range(4))


class Transformer:
    def __init__(self, directory):
        self.config = json.loads(pathlib.Path(directory, "config.json").read_text(encoding="utf-8"))
        self.w = read_weights(pathlib.Path(directory, "model.safetensors"))
        self.unknown = json.loads(pathlib.Path(directory, "vocab.json").read_text(encoding="utf-8"))["<unk>"]
        self.d = self.config["d_model"]
        self.pre_norm = self.config.get("normalize_before", False)

    def linear(self, name, x):
        y = x @ self.w[name + ".weight"].T
        return y + self.w[name + ".bias"] if name + ".bias" in self.w else y

    def norm(self, name, x):
        eps = self.config.get("layer_norm_eps", 1e-5)
        if self.config.get("norm") == "rms":
            return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + eps) * self.w[name + ".weight"]
        centred = x - x.mean(-1, keepdims=True)
        return (centred / numpy.sqrt((centred ** 2).mean(-1, keepdims=True) + eps) * self.w[name + ".weight"]
                + self.w[name + ".bias"])

    def positions(self, n):
        """Section 3.5; Marian's order is all sines, then all cosines."""
        angles = numpy.arange(n)[:, None] / 10000 ** (2 * numpy.arange(self.d // 2) / self.d)
        return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1)

    def embed(self, side, ids):
        scale = math.sqrt(self.d) if self.config.get("scale_embedding") else 1
        x = self.w["model.shared.weight"][ids] * scale
        if side == "decoder" and self.config.get("start_from_zero_embedding"):
            x[0] = 0
        x += self.positions(len(ids))
        return self.norm(f"model.{side}.layernorm_embedding", x) if self.config.get("normalize_embedding") else x

    def attend(self, run, kind, layer, x, memory, off):
        """Section 3.2. memory: what keys and values are made of."""
        side, block = KINDS[kind]
        name, n_heads = f"model.{side}.layers.{layer}.{block}", self.config[f"{side}_attention_heads"]
        split = lambda y: y.reshape(len(y), n_heads, -1).transpose(1, 0, 2)
        q, k, v = (split(self.linear(f"{name}.{part}_proj", y)) for part, y in (("q", x), ("k", memory), ("v", memory)))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        if kind == "decoder":
            scores = numpy.where(numpy.tril(numpy.ones(scores.shape[1:])) > 0, scores, -numpy.inf)
        weights = softmax(scores)
        z = weights @ v
        for head in range(n_heads):
            if f"{kind}.{layer}" in off or f"{kind}.{layer}.{head}" in off:
                z[head] = 0
        w_o = self.w[name + ".out_proj.weight"].reshape(self.d, n_heads, -1).transpose(1, 2, 0)  # [H, K, D]
        run.attention[kind].append({
            "queries": q, "keys": k, "values": v, "scores": scores, "weights": weights, "head_outputs": z,
            "value_weighted": weights * numpy.linalg.norm(v @ w_o, axis=-1)[:, None, :]})
        return self.linear(name + ".out_proj", z.transpose(1, 0, 2).reshape(len(x), -1))

    def recur(self, layer, x):
        """An SSRU (Kim et al. 2019)."""
        name = f"model.decoder.layers.{layer}.cell"
        inputs, forget = x @ self.w[name + ".input.weight"].T, sigmoid(self.linear(name + ".forget", x))
        state, out = numpy.zeros(self.d), []
        for i in range(len(x)):
            state = forget[i] * state + (1 - forget[i]) * inputs[i]
            out.append(numpy.maximum(state, 0))
        return numpy.array(out)

    def feed_forward(self, run, side, layer, x):
        name = f"model.{side}.layers.{layer}."
        hidden = self.linear(name + "fc1", x)
        hidden = numpy.maximum(hidden, 0) if self.config["activation_function"] == "relu" else hidden * sigmoid(hidden)
        if self.config.get("feed_forward") == "gated":
            hidden = hidden * self.linear(name + "fc1_factor", x)
        run.hidden[side].append(hidden)
        return self.linear(name + "fc2", hidden)

    def layer(self, run, side, x, sublayers):
        """x = LN(x + f(x)), or x = x + f(LN(x)) before; sublayers: (name of the norm, f)."""
        states, added, residuals = [x], [], []
        for norm, f in sublayers:
            y = f(self.norm(norm, x) if self.pre_norm else x)
            read = x if self.pre_norm else x + y
            residuals.append(numpy.stack([read.mean(-1), read.std(-1), numpy.linalg.norm(read, axis=-1)], -1))
            x = x + y if self.pre_norm else self.norm(norm, x + y)
            states.append(x)
            added.append(y)
        run.states[side].append(numpy.array(states))
        run.sublayers[side].append(numpy.array(added))
        run.residuals[side].append(numpy.array(residuals))
        return x

    def final(self, side, x):
        return self.norm(f"model.{side}.layer_norm", x) if self.config.get("add_final_layer_norm") else x

    def run(self, source, inputs, off=()):
        run, has_cell = Run(), self.config.get("decoder_cell") == "ssru"
        x = self.embed("encoder", source)
        for l in range(self.config["encoder_layers"]):
            name = f"model.encoder.layers.{l}."
            x = self.layer(run, "encoder", x, [
                (name + "self_attn_layer_norm", lambda y, l=l: self.attend(run, "encoder", l, y, y, off)),
                (name + "final_layer_norm", lambda y, l=l: self.feed_forward(run, "encoder", l, y))])
        memory, x = self.final("encoder", x), self.embed("decoder", inputs)
        opinions = [x]
        for l in range(self.config["decoder_layers"]):
            name = f"model.decoder.layers.{l}."
            first = ((name + "cell_layer_norm", lambda y, l=l: self.recur(l, y)) if has_cell else
                     (name + "self_attn_layer_norm", lambda y, l=l: self.attend(run, "decoder", l, y, y, off)))
            x = self.layer(run, "decoder", x, [
                first, (name + "encoder_attn_layer_norm", lambda y, l=l: self.attend(run, "cross", l, y, memory, off)),
                (name + "final_layer_norm", lambda y, l=l: self.feed_forward(run, "decoder", l, y))])
            opinions.append(x)
        run.logits = numpy.array([self.final("decoder", y) @ self.w["model.shared.weight"].T + self.w["final_logits_bias"].reshape(-1)
                                  for y in opinions])
        return run

    def rollout(self, run):
        """How much of each source token arrives at each step: half of every layer's input goes by."""
        mean = lambda kind, l: run.attention[kind][l]["weights"].mean(0)
        size = len(mean("encoder", 0))
        encoded = numpy.eye(size)
        for l in range(self.config["encoder_layers"]):
            encoded = (0.5 * mean("encoder", l) + 0.5 * numpy.eye(size)) @ encoded
        n_steps = len(mean("decoder", 0))
        read = numpy.zeros((n_steps, size))
        for l in range(self.config["decoder_layers"]):
            through = 0.5 * mean("decoder", l) + 0.5 * numpy.eye(n_steps)
            read = 0.5 * through @ read + 0.5 * mean("cross", l) @ encoded
        return read / read.sum(-1, keepdims=True)
