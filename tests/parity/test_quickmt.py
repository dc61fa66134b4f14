"""quickmt's models: directories of CTranslate2 with names of their own, whose norms may be RMS norms and whose feed-forward
blocks may be gated, against a naive implementation in numpy; and what the format can say and we do not compute.

Needs numpy.  python3 tests/parity/test_quickmt.py BINARY [unittest arguments]
"""

import array
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # many small products: threads would wait for each other
import numpy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / "tools")]
import export_ctranslate2 as exporter  # noqa: E402

MODEL = ROOT / "tests" / "models" / "en-de"
PATIENCE_S = 600 * int(os.environ.get("ATTENTIOND_TEST_SLOWNESS", "1"))
LINES = [json.loads(line)["source"] for line in (ROOT / "tests/parity/data/dev.beam4.jsonl").read_text().splitlines()][:8]
D, HEADS, FFN, LAYERS, POSITIONS, N_TOKENS = 32, 4, 48, {"encoder": 3, "decoder": 2}, 64, 9
# fp32 against double over some layers.
TOLERANCE = 2e-4
# A search that could as well have gone the other way proves nothing.
SURE = 1e-3

binary = sys.argv.pop(1)


def run(*arguments, text=""):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}
    return subprocess.run([binary, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=PATIENCE_S,
                          env=environment, check=False)


def table_of_positions(n):
    """Sines and cosines by turns, the first position 0."""
    angles = numpy.arange(n)[:, None] * numpy.exp(numpy.arange(0, D, 2) * -(numpy.log(10000.0) / D))
    return numpy.stack([numpy.sin(angles), numpy.cos(angles)], axis=2).reshape(n, D)


class Weights:
    """Random numbers under CTranslate2's names, as numbers of two bytes hold them."""

    def __init__(self, n_source, n_target, is_rms, is_gated, is_joint, has_bias, activation):
        self.dice = numpy.random.default_rng(11)
        self.is_rms, self.is_gated, self.activation = is_rms, is_gated, activation
        self.arrays = {}
        self.put("encoder/embeddings_0/weight", n_source, D, deviation=0.3)
        if is_joint:
            self.arrays["decoder/embeddings/weight"] = self.arrays["encoder/embeddings_0/weight"]
        else:
            self.put("decoder/embeddings/weight", n_target, D, deviation=0.3)
        self.arrays["decoder/projection/weight"] = self.arrays["decoder/embeddings/weight"]
        self.put("decoder/projection/bias", n_target, deviation=0.1)
        for side, n_layers in LAYERS.items():
            self.arrays[f"{side}/position_encodings/encodings"] = table_of_positions(POSITIONS).astype("<f2")
            self.put_norm(f"{side}/layer_norm")
            for i in range(n_layers):
                layer = f"{side}/layer_{i}"
                self.put_linear(f"{layer}/self_attention/linear_0", 3 * D, D, has_bias)
                self.put_linear(f"{layer}/self_attention/linear_1", D, D, has_bias)
                self.put_norm(f"{layer}/self_attention/layer_norm")
                if side == "decoder":
                    for part, n in (0, D), (1, 2 * D), (2, D):
                        self.put_linear(f"{layer}/attention/linear_{part}", n, D, has_bias)
                    self.put_norm(f"{layer}/attention/layer_norm")
                self.put_linear(f"{layer}/ffn/linear_0", FFN, D, has_bias)
                if is_gated:
                    self.put_linear(f"{layer}/ffn/linear_0_noact", FFN, D, has_bias)
                self.put_linear(f"{layer}/ffn/linear_1", D, FFN, has_bias)
                self.put_norm(f"{layer}/ffn/layer_norm")

    def put(self, name, *shape, mean=0.0, deviation):
        self.arrays[name] = self.dice.normal(mean, deviation, shape).astype("<f2")

    def put_linear(self, name, n_out, n_in, has_bias):
        self.put(f"{name}/weight", n_out, n_in, deviation=1.2 / n_in ** 0.5)
        if has_bias:
            self.put(f"{name}/bias", n_out, deviation=0.1)

    def put_norm(self, name):
        self.put(f"{name}/gamma", D, mean=1.0, deviation=0.1)
        if not self.is_rms:
            self.put(f"{name}/beta", D, deviation=0.1)

    def model_bin(self, kind="float16", scalars=None):
        matrices = {}  # the same matrix for the same array: aliases
        variables = {name: matrices.setdefault(id(numbers), exporter.Matrix(numbers.shape, array.array("f", numbers.astype("<f4").tobytes())))
                     for name, numbers in self.arrays.items()}
        numbers = {"encoder/embeddings_merge": ("int8", 0), "decoder/start_from_zero_embedding": ("int8", 0),
                   "decoder/alignment_layer": ("int16", -1), "decoder/alignment_heads": ("int16", 1)}
        for side in LAYERS:
            numbers |= {f"{side}/num_heads": ("int16", HEADS), f"{side}/pre_norm": ("int8", 1),
                        f"{side}/activation": ("int8", exporter.ACTIVATIONS[self.activation]),
                        f"{side}/scale_embeddings": ("int8", 1)}
        return exporter.model_bin(variables, numbers | (scalars or {}), kind, 6)


class Oracle:
    """Whole sequences, in double precision."""

    def __init__(self, weights):
        self.weights = weights
        self.eps = 1e-6 if weights.is_rms else 1e-5

    def get(self, name):
        numbers = self.weights.arrays.get(name)
        return numpy.float64(0) if numbers is None else numbers.astype("<f8")

    def norm(self, x, name):
        if not self.weights.is_rms:
            x = x - x.mean(-1, keepdims=True)
        x = x / numpy.sqrt((x ** 2).mean(-1, keepdims=True) + self.eps)
        return x * self.get(f"{name}/gamma") + self.get(f"{name}/beta")

    def linear(self, x, name):
        return x @ self.get(f"{name}/weight").T + self.get(f"{name}/bias")

    @staticmethod
    def attend(q, k, v, is_causal):
        heads = []
        for h in range(HEADS):
            part = slice(h * D // HEADS, (h + 1) * D // HEADS)
            scores = q[:, part] @ k[:, part].T / numpy.sqrt(D // HEADS)
            if is_causal:
                scores += numpy.triu(numpy.full(scores.shape, -numpy.inf), 1)
            scores = numpy.exp(scores - scores.max(-1, keepdims=True))
            heads.append(scores / scores.sum(-1, keepdims=True) @ v[:, part])
        return numpy.concatenate(heads, -1)

    def self_attention(self, x, name, is_causal):
        q, k, v = numpy.split(self.linear(self.norm(x, f"{name}/layer_norm"), f"{name}/linear_0"), 3, -1)
        return x + self.linear(self.attend(q, k, v, is_causal), f"{name}/linear_1")

    def cross_attention(self, x, memory, name):
        q = self.linear(self.norm(x, f"{name}/layer_norm"), f"{name}/linear_0")
        k, v = numpy.split(self.linear(memory, f"{name}/linear_1"), 2, -1)
        return x + self.linear(self.attend(q, k, v, False), f"{name}/linear_2")

    def feed_forward(self, x, name):
        normed = self.norm(x, f"{name}/layer_norm")
        inner = self.linear(normed, f"{name}/linear_0")
        if self.weights.activation == "relu":
            inner = numpy.maximum(inner, 0)
        else:
            inner = inner / (1 + numpy.exp(-inner))
        if self.weights.is_gated:
            inner = inner * self.linear(normed, f"{name}/linear_0_noact")
        return x + self.linear(inner, f"{name}/linear_1")

    def embed(self, ids, side, table):
        return self.get(table)[ids] * numpy.sqrt(D) + self.get(f"{side}/position_encodings/encodings")[:len(ids)]

    def encode(self, ids):
        x = self.embed(ids, "encoder", "encoder/embeddings_0/weight")
        for i in range(LAYERS["encoder"]):
            x = self.self_attention(x, f"encoder/layer_{i}/self_attention", False)
            x = self.feed_forward(x, f"encoder/layer_{i}/ffn")
        return self.norm(x, "encoder/layer_norm")

    def next_logprobs(self, memory, ids):
        x = self.embed(ids, "decoder", "decoder/embeddings/weight")
        for i in range(LAYERS["decoder"]):
            x = self.self_attention(x, f"decoder/layer_{i}/self_attention", True)
            x = self.cross_attention(x, memory, f"decoder/layer_{i}/attention")
            x = self.feed_forward(x, f"decoder/layer_{i}/ffn")
        logits = self.linear(self.norm(x, "decoder/layer_norm")[-1], "decoder/projection")
        return logits - logits.max() - numpy.log(numpy.exp(logits - logits.max()).sum())

    def greedy(self, source, start, eos):
        """Ids, their log-probabilities, and the smallest margin by which one was chosen."""
        memory, ids, found, margin = self.encode(source), [start], [], numpy.inf
        while len(found) < N_TOKENS and ids[-1] != eos:
            logprobs = self.next_logprobs(memory, ids)
            best = numpy.argsort(logprobs)[::-1][:2]
            margin = min(margin, logprobs[best[0]] - logprobs[best[1]])
            ids.append(int(best[0]))
            found.append(logprobs[best[0]])
        return ids[1:], found, margin


def pieces_of(vocabulary):
    return [piece for _, piece in sorted((i, piece) for piece, i in json.loads(vocabulary.read_text()).items())]


class Quickmt(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="attentiond-quickmt-")) / "quickmt-en-de"
        self.folder.mkdir()
        self.addCleanup(shutil.rmtree, self.folder.parent)
        pieces = [piece for piece in pieces_of(MODEL / "vocab.json") if piece not in ("<pad>", "<s>")]
        # As eole and SentencePiece begin them; the target's others the other way round, so that no id is the source's.
        self.source = ["<unk>", "<s>", "</s>"] + [piece for piece in pieces if piece not in ("<unk>", "</s>")]
        self.target = self.source[:3] + self.source[:2:-1]

    def write(self, weights, is_joint, kind="float16", scalars=None, **config):
        (self.folder / "model.bin").write_bytes(weights.model_bin(kind, scalars))
        (self.folder / "config.json").write_text(json.dumps({
            "add_source_bos": False, "add_source_eos": False, "bos_token": "<s>", "decoder_start_token": "<s>",
            "eos_token": "</s>", "layer_norm_epsilon": None, "multi_query_attention": False, "unk_token": "<unk>"} | config))
        if is_joint:
            (self.folder / "shared_vocabulary.json").write_text(json.dumps(self.source))
            shutil.copy(MODEL / "source.spm", self.folder / "joint.spm.model")
        else:
            (self.folder / "source_vocabulary.json").write_text(json.dumps(self.source))
            (self.folder / "target_vocabulary.json").write_text(json.dumps(self.target))
            shutil.copy(MODEL / "source.spm", self.folder / "src.spm.model")
            shutil.copy(MODEL / "target.spm", self.folder / "tgt.spm.model")

    def trained(self, **changes):
        """As quickmt-train's examples have it."""
        n = len(self.source)
        return Weights(n, n, **{"is_rms": True, "is_gated": True, "is_joint": False, "has_bias": False, "activation": "silu"} | changes)

    def answers(self, *flags, precision="fp32"):
        result = run("translate", "--model", self.folder, "--json", "--precision", precision, "--workers", 1, "--cache-dir", "",
                     "--threads-per-worker", 1, "--max-decoding-length", N_TOKENS, *flags, text="".join(f"{line}\n" for line in LINES))
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def source_ids(self, line):
        result = run("inspect", "--model", self.folder, "--precision", "fp32", "--beam-size", 1, "--format", "json",
                     "--split-sentences", "off", "--threads-per-worker", 1, "--max-decoding-length", 1, line)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [token["id"] for token in json.loads(result.stdout)["sentences"][0]["source_tokens"]]

    def compare(self, weights):
        oracle, n_sure = Oracle(weights), 0
        for line, answer in zip(LINES, self.answers("--beam-size", 1, "--batch-size", 4)):
            ids, logprobs, margin = oracle.greedy(self.source_ids(line), start=1, eos=2)
            if margin < SURE:
                continue
            n_sure += 1
            self.assertEqual(answer["output_ids"], ids, line)
            numpy.testing.assert_allclose(answer["token_logprobs"], logprobs, atol=TOLERANCE)
        self.assertGreaterEqual(n_sure, len(LINES) // 2)

    def test_as_quickmt_trains_them(self):
        """RMS norms, gated SiLU, no biases, a vocabulary for each side."""
        weights = self.trained()
        self.write(weights, is_joint=False)
        self.compare(weights)

    def test_as_eole_has_them(self):
        """Layer norms, plain ReLU, one vocabulary."""
        weights = self.trained(is_rms=False, is_gated=False, is_joint=True, has_bias=True, activation="relu")
        self.write(weights, is_joint=True)
        self.compare(weights)

    def test_gated_with_layer_norms_and_the_reverse(self):
        for is_rms, is_gated, activation in (False, True, "silu"), (True, False, "relu"):
            with self.subTest(is_rms=is_rms):
                weights = self.trained(is_rms=is_rms, is_gated=is_gated, has_bias=True, activation=activation)
                self.write(weights, is_joint=False)
                self.compare(weights)

    def test_other_types_and_imports(self):
        """The same bytes from the original and its copy, in any batch, with every table of kernels."""
        self.write(self.trained(), is_joint=False, kind="int8")
        expected = self.answers("--batch-size", 1, "--kernels", "c", precision="int8")
        self.assertEqual(self.answers("--batch-size", 64, precision="int8"), expected)
        result = run("import", self.folder, self.folder.parent / "copy")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("swish in gated feed-forward blocks, pre-norm, RMS norms with epsilon 1e-06, positions as a table", result.stdout)
        self.folder = self.folder.parent / "copy"
        self.assertEqual(self.answers("--batch-size", 3, precision="int8"), expected)

    def test_searched_as_quickmt_does(self):
        self.write(self.trained(), is_joint=False)
        result = run("check-config", "--model", self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("beam 5, length penalty 1, at most 64 tokens", result.stderr)
        self.assertIn("gated; swish, pre-norm (RMS)", result.stderr)

    def refused(self, pattern):
        result = run("translate", "--model", self.folder, text="Tom\n")
        self.assertIn(result.returncode, (1, 2), result.stderr)
        self.assertRegex(result.stderr, pattern)

    def test_what_is_not_computed_is_refused_by_name(self):
        weights = self.trained()
        attention = "encoder/layer_0/self_attention"
        for name, kind, number, pattern in (
                (f"{attention}/rotary_dim", "int32", 0, "rotary positions"),
                (f"{attention}/relative_position_keys", "int32", 1, "relative positions"),
                (f"{attention}/relative_attention_bias", "int32", 1, "a relative attention bias"),
                (f"{attention}/num_heads_kv", "int32", 2, "keys and values of fewer heads than queries"),
                (f"{attention}/q_norm/gamma", "int32", 1, "norms of queries and keys"),
                ("encoder/multi_query_attention", "int8", 1, "multi-query attention"),
                ("decoder/alibi", "int8", 1, "linear biases"),
                ("decoder/sliding_window", "int32", 4, "attention within a window"),
                ("decoder/layer_norm/layer_norm_use_residual", "int8", 1, "norms whose gamma is less by one")):
            with self.subTest(name):
                self.write(weights, is_joint=False, scalars={name: (kind, number)})
                self.refused(f'model.bin: variable "{name}": the model has .*{pattern}.*, which is not implemented')
        self.write(weights, is_joint=False, multi_query_attention=True)
        self.refused("multi_query_attention: expected false, found true")
        # What is off, or as it is everywhere, is nothing.
        self.write(weights, is_joint=False, scalars={"decoder/alibi": ("int8", 0), f"{attention}/num_heads_kv": ("int32", HEADS)})
        self.answers()

    def test_norms_and_gates_are_alike_everywhere(self):
        for change, pattern in (
                ({"encoder/layer_1/ffn/layer_norm/beta": (D,)}, 'layer_1/ffn/layer_norm": expected gamma of 32 numbers and no beta'),
                ({"decoder/layer_0/self_attention/layer_norm/beta": (D,)}, "beta of the norms is 0 in the encoder and 1 in the decoder"),
                ({"encoder/layer_2/ffn/linear_0_noact/weight": None}, 'expected a matrix "encoder/layer_2/ffn/linear_0_noact/weight"'),
                ({f"encoder/layer_{i}/ffn/linear_0_noact/weight": None for i in range(3)}, "the gate of feed-forward blocks is 0 in the encoder"),
                ({"encoder/layer_1/ffn/linear_0_noact/weight": (FFN + 1, D)}, r'fc1_factor.weight": expected shape \[48, 32\], found \[49, 32\]')):
            with self.subTest(pattern):
                weights = self.trained()
                for name, shape in change.items():
                    if shape is None:
                        del weights.arrays[name]
                    else:
                        weights.put(name, *shape, deviation=0.1)
                self.write(weights, is_joint=False)
                self.refused(pattern)

    def test_files_that_are_missing(self):
        self.write(self.trained(), is_joint=False)
        (self.folder / "tgt.spm.model").unlink()
        self.refused(r"expected sentencepiece.model, .* or quickmt's joint.spm.model, or src.spm.model and tgt.spm.model")
        self.write(self.trained(), is_joint=False)
        whole = (self.folder / "model.bin").read_bytes()
        (self.folder / "model.bin").write_bytes(whole[:-1])
        self.refused("not a model.bin of CTranslate2")
        at = whole.index(b"encoder/layer_norm/gamma") + 25 + 1 + 4 + 1 + 4
        (self.folder / "model.bin").write_bytes(whole[:at] + struct.pack("<e", float("inf")) + whole[at + 2:])
        self.refused("expected numbers, found inf")


if __name__ == "__main__":
    unittest.main()
