"""Models of Marian's of random numbers, for tests: what test_marian.py and test_students.py have in common.

The first argument of the program is that of attentiond.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # many small products: threads would wait for each other
import numpy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("parity", "tools", "pull")]
import export_marian  # noqa: E402

MODEL = ROOT / "tests" / "models" / "en-de"
DATA = ROOT / "tests" / "parity" / "data"
SLOWNESS = int(os.environ.get("ATTENTIOND_TEST_SLOWNESS", "1"))
PATIENCE_S = 900 * SLOWNESS
LINES = [json.loads(line)["source"] for line in (DATA / "dev.beam4.jsonl").read_text().splitlines()]
UNK, PAD = 1, 8000
# fp32 against double over some layers.
TOLERANCE = 2e-4
# A search that could as well have gone the other way proves nothing.
SURE = 1e-3

binary = sys.argv.pop(1)


def run(*arguments, text=""):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}
    return subprocess.run([binary, *map(str, arguments)], input=text, capture_output=True, text=True,
                          timeout=PATIENCE_S, env=environment)


def translate(model, lines, *flags, precision="fp32"):
    """One answer a line."""
    result = run("translate", "--model", model, "--json", "--precision", precision, "--workers", 1, "--cache-dir", "",
                 "--threads-per-worker", 1, "--batch-size", 4, *flags, text="".join(line + "\n" for line in lines))
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def source_ids(lines, model=MODEL):
    """What the model reads of each line, eos included."""
    ids = []
    for line in lines:
        result = run("inspect", "--model", model, "--precision", "fp32", "--beam-size", 1, "--format", "json",
                     "--split-sentences", "off", "--threads-per-worker", 1, line)
        assert result.returncode == 0, result.stderr
        ids.append([token["id"] for token in json.loads(result.stdout)["sentences"][0]["source_tokens"]])
    return ids


def random_arrays(settings):
    """Small random numbers under the names that a model of these settings has."""
    d, f, n_vocab = settings["dim-emb"], settings["transformer-dim-ffn"], settings["dim-vocabs"][0]
    dice, arrays = numpy.random.default_rng(42), {}

    def put(name, *shape, mean=0.0, deviation=0.3):
        arrays[name] = (mean + deviation * dice.standard_normal(shape)).astype("<f4")

    def put_norm(prefix, suffix=""):
        put(f"{prefix}_ln_scale{suffix}", 1, d, mean=1.0, deviation=0.1)
        put(f"{prefix}_ln_bias{suffix}", 1, d, deviation=0.1)

    def put_cell(layer, suffix):
        put(f"{layer}_rnn_W", d, d)
        put(f"{layer}_rnn_Wf", d, d)
        put(f"{layer}_rnn_bf", 1, d, deviation=0.1)
        put_norm(f"{layer}_rnn" if suffix else f"{layer}_rnn_ffn", suffix)

    def put_layer(layer, attentions, suffix):
        for attention in attentions:
            if attention == "rnn":
                put_cell(layer, suffix)
                continue
            for part in "qkvo":
                put(f"{layer}_{attention}_W{part}", d, d)
                put(f"{layer}_{attention}_b{part}", 1, d, deviation=0.1)
            put_norm(f"{layer}_{attention}_Wo", suffix)
        put(f"{layer}_ffn_W1", d, f)
        put(f"{layer}_ffn_b1", 1, f, deviation=0.1)
        put(f"{layer}_ffn_W2", f, d)
        put(f"{layer}_ffn_b2", 1, d, deviation=0.1)
        put_norm(f"{layer}_ffn_ffn", suffix)

    suffix = "_pre" if "n" in settings["transformer-preprocess"] else ""
    own = "rnn" if settings.get("transformer-decoder-autoreg") == "rnn" else "self"
    for side, depth, attentions in (("encoder", settings["enc-depth"], ["self"]),
                                    ("decoder", settings["dec-depth"], [own, "context"])):
        for layer in range(1, depth + 1):
            put_layer(f"{side}_l{layer}", attentions, suffix)
        if "n" in settings["transformer-postprocess-emb"]:
            put_norm(f"{side}_emb", "_pre")
        if "n" in settings["transformer-postprocess-top"]:
            put_norm(f"{side}_top")
    if settings["tied-embeddings-all"]:
        put("Wemb", n_vocab, d)
    else:
        put("encoder_Wemb", n_vocab, d)
        put("decoder_Wemb", n_vocab, d)
        put("decoder_ff_logit_out_W", d, n_vocab)
    put("decoder_ff_logit_out_b", 1, n_vocab, deviation=0.1)
    if settings.get("transformer-train-position-embeddings"):
        put("Wpos", 64, d)
    return arrays


TINY = {"type": "transformer", "dim-emb": 32, "dim-vocabs": [8001, 8001], "enc-depth": 2, "dec-depth": 1,
        "transformer-heads": 4, "transformer-dim-ffn": 48, "transformer-ffn-activation": "swish",
        "transformer-preprocess": "", "transformer-postprocess": "dan", "transformer-postprocess-emb": "d",
        "transformer-postprocess-top": "", "tied-embeddings-all": True}


SSRU = {"transformer-decoder-autoreg": "rnn", "dec-cell": "ssru", "dec-cell-base-depth": 2, "dec-cell-high-depth": 1,
        "transformer-ffn-activation": "relu", "dec-depth": 2}


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="attentiond-marian-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def tiny(self, settings=None, arrays=None):
        """A model of random numbers; arrays: those of other settings."""
        settings = TINY | (settings or {})
        export_marian.write_arrays(self.folder, random_arrays(settings) if arrays is None else arrays, settings)
        export_marian.write_vocabulary(MODEL, self.folder)
        export_marian.write_decoder(self.folder, {})
