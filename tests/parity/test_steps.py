"""Every number that /attention shows on request, against paper.py: in fp32 to 1e-4, on six sentences of two bundled models and
on models of two foreign shapes with random weights. In int8, where the numbers are the engine's own, they agree with each
other: softmax(scores) is the weights, and weights times values the heads' outputs.

test_steps.py ATTENTIOND"""

import json
import os
import pathlib
import struct
import sys
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ["ATTENTIOND"] = sys.argv.pop(1) if len(sys.argv) > 1 else str(ROOT / "build/release/attentiond")
sys.path.insert(0, str(ROOT / "tests/http"))
sys.path.insert(0, str(ROOT / "tests"))
from paper import Transformer, softmax  # noqa: E402
from readers import read_npy, read_safetensors  # noqa: E402
from serve import Daemon, run  # noqa: E402

TOLERANCE, TOLERANCE_INT8 = 1e-4, 1e-5
KINDS = ["encoder", "decoder", "cross"]
OF_HEADS = ["queries", "keys", "scores", "values", "head_outputs", "value_weighted"]
OF_SIDES = ["states", "sublayers", "residuals", "hidden"]
SENTENCES = ["We sing.", "Where is the train station?", "I would have called you yesterday, but I lost my phone.",
             "The children are playing in the garden.", "She has never seen such a big dog.", "Please close the door."]


def post(daemon, **fields):
    reply = daemon.request("POST", "/attention", json.dumps(fields).encode(), headers={"Content-Type": "application/json"})
    assert reply.status == 200, reply
    return reply


def ids(sentence, field):
    return [token["id"] for token in sentence[field]]


def numbers(tensor):
    return numpy.array(tensor.numbers, float).reshape(tensor.shape)


def distance(a, b):
    """The largest difference of two arrays of numbers; what is masked must be so in both."""
    a, b = numpy.asarray(a, float), numpy.asarray(b, float)
    assert a.shape == b.shape, (a.shape, b.shape)
    masked = numpy.isneginf(b)
    assert (numpy.isneginf(a) == masked).all()
    return abs(numpy.where(masked, 0, a) - numpy.where(masked, 0, b)).max()


def write_model(directory, **config):
    """A small model of random numbers, whose tokenizer is the fixture's."""
    d, f, n_vocab, random = 32, 64, 8001, numpy.random.default_rng(42)
    config = {"model_type": "attentiond", "d_model": d, "encoder_layers": 2, "decoder_layers": 3,
              "encoder_attention_heads": 4, "decoder_attention_heads": 2, "encoder_ffn_dim": f, "decoder_ffn_dim": f,
              "vocab_size": n_vocab, "max_position_embeddings": 64, "eos_token_id": 0, "pad_token_id": 8000,
              "decoder_start_token_id": 8000, "bad_words_ids": [[8000]], "max_length": 20} | config
    tensors = {"model.shared.weight": random.normal(0, .3, (n_vocab, d)),
               "final_logits_bias": random.normal(0, .1, (1, n_vocab))}

    def pair(name, rows, columns):
        tensors[name + ".weight"] = random.normal(0, 1.2 / columns ** .5, (rows, columns))
        tensors[name + ".bias"] = random.normal(0, .1, rows)

    def norm(name):
        tensors[name + ".weight"] = random.normal(1, .1, d)
        if config.get("norm") != "rms":
            tensors[name + ".bias"] = random.normal(0, .1, d)

    def attention(name):
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            pair(f"{name}.{part}", d, d)
        norm(name + "_layer_norm")

    for side in ("encoder", "decoder"):
        for layer in range(config[f"{side}_layers"]):
            name = f"model.{side}.layers.{layer}."
            if side == "decoder" and config.get("decoder_cell") == "ssru":
                pair(name + "cell.input", d, d)
                del tensors[name + "cell.input.bias"]
                pair(name + "cell.forget", d, d)
                norm(name + "cell_layer_norm")
            else:
                attention(name + "self_attn")
            if side == "decoder":
                attention(name + "encoder_attn")
            pair(name + "fc1", f, d)
            if config.get("feed_forward") == "gated":
                pair(name + "fc1_factor", f, d)
            pair(name + "fc2", d, f)
            norm(name + "final_layer_norm")
        if config.get("add_final_layer_norm"):
            norm(f"model.{side}.layer_norm")
        if config.get("normalize_embedding"):
            norm(f"model.{side}.layernorm_embedding")
    header, blob = {}, b""
    for name, tensor in tensors.items():
        data = tensor.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    head = json.dumps(header).encode()
    directory.mkdir()
    (directory / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + blob)
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for name in ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json"):
        (directory / name).write_bytes((ROOT / "tests/models/en-de" / name).read_bytes())
    return directory


class Case(unittest.TestCase):
    def compare(self, found, expected, what, tolerance=TOLERANCE):
        self.assertLess(distance(found, expected), tolerance, what)

    def check_tensors(self, tensors, model, run, kinds):
        """All layers and heads of a sentence as safetensors."""
        for kind in kinds:
            for quantity in OF_HEADS + ["weights"]:
                name = kind if quantity == "weights" else f"{quantity}.{kind}"
                expected = numpy.array([layer[quantity] for layer in run.attention[kind]])
                self.compare(numbers(tensors[f"sentences.0.{name}"]), expected, name)
        for side in ("encoder", "decoder"):
            for quantity in OF_SIDES:
                expected = numpy.array(getattr(run, quantity)[side])
                self.compare(numbers(tensors[f"sentences.0.{quantity}.{side}"]), expected, f"{quantity}.{side}",
                             TOLERANCE * (10 if model.pre_norm else 1))  # a stream that no norm holds down

    def check_lens(self, model, sentence, run):
        written = ids(sentence, "output_tokens")
        never = [id for id, in model.config.get("bad_words_ids", [])]
        if model.config.get("search") == "ctranslate2":
            never.append(model.unknown)
        counted = run.logits.copy()
        if model.config.get("renormalize_logits"):
            counted[..., never] = -numpy.inf
        log_probabilities = run.logits - numpy.log(numpy.exp(counted).sum(-1, keepdims=True))
        for step, opinions in enumerate(sentence["logit_lens"]):
            for layer, opinion in enumerate(opinions):
                logits, row = run.logits[layer, step].copy(), log_probabilities[layer, step]
                logits[never] = -numpy.inf
                self.assertLess(abs(opinion["logprob"] - row[written[step]]), TOLERANCE)
                # Numbers that are nearly equal may stand in either order.
                above = lambda by: 1 + (logits > run.logits[layer, step, written[step]] + by).sum()
                self.assertTrue(above(TOLERANCE) <= opinion["rank"] <= above(-TOLERANCE), opinion)
                for place, candidate in enumerate(opinion["top"]):
                    self.assertLess(abs(candidate["logprob"] - row[candidate["id"]]), TOLERANCE)
                    self.assertLess(abs(candidate["logprob"] - numpy.sort(row[logits > -numpy.inf])[-1 - place]), TOLERANCE)

    def check(self, daemon, model, text, kinds=KINDS, off=(), **fields):
        include = OF_HEADS + OF_SIDES + (["rollout"] if "decoder" in kinds else [])
        asked = dict(q=text, split_sentences="off", kinds=list(kinds), include=include, **fields)
        if off:
            asked["switch_off"] = list(off)
        sentence, = post(daemon, **asked | {"include": [], "logit_lens": 3}).json["sentences"]
        run = model.run(ids(sentence, "source_tokens"), ids(sentence, "decoder_input_tokens"), off)
        tensors, _ = read_safetensors(post(daemon, **asked, format="safetensors").body)
        self.check_tensors(tensors, model, run, kinds)
        if "rollout" in include:
            self.compare(numbers(tensors["sentences.0.rollout"]), model.rollout(run), "rollout")
        self.check_lens(model, sentence, run)
        logprobs = [token["logprob"] for token in sentence["output_tokens"]]
        last = [opinions[-1]["logprob"] for opinions in sentence["logit_lens"]]
        n = len(logprobs) - (logprobs[-1] == 0)  # an end that the limit forced costs nothing
        self.compare(logprobs[:n], last[:n], "logprobs")
        return sentence


class Bundled(Case):
    directory = ROOT / "weights/en-de"

    @classmethod
    def setUpClass(cls):
        cls.model = Transformer(cls.directory)
        cls.daemon = Daemon("--precision", "fp32", model=str(cls.directory)).start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def test_every_number_is_the_papers(self):
        for text in SENTENCES:
            with self.subTest(text):
                self.check(self.daemon, self.model, text)

    def test_heads_and_layers_are_switched_off(self):
        plain = self.check(self.daemon, self.model, SENTENCES[2], beam_size=1)
        target = ids(plain, "output_tokens")
        for off in (["cross.1.6"], ["encoder.0", "decoder.2.3", "cross.2.7"],
                    [f"{kind}.{layer}" for kind in KINDS for layer in range(6 if kind == "encoder" else 3)]):
            with self.subTest(off=off):
                self.check(self.daemon, self.model, SENTENCES[2], off=off, max_decoding_length=30)
                given = self.check(self.daemon, self.model, SENTENCES[2], off=off, target_ids=target)
                self.assertNotEqual(given["score"], plain["score"])

    def test_a_beginning_is_gone_on_with(self):
        first = post(self.daemon, q=SENTENCES[1], next_tokens=3).json["sentences"][0]
        other = first["next_tokens"][0]["top"][2]["id"]
        again = self.check(self.daemon, self.model, SENTENCES[1], target_prefix_ids=[other], off=["cross.2.1"])
        self.assertEqual(ids(again, "output_tokens")[0], other)

    def test_json_npy_and_csv_hold_the_same_numbers(self):
        asked = {"q": SENTENCES[1], "layers": [-1], "heads": [2, 5], "precision": 6, "steps": [3, -1, 0, 3]}
        whole, _ = read_safetensors(post(self.daemon, **asked | {"steps": []}, kinds=KINDS,
                                         include=OF_HEADS + OF_SIDES + ["rollout"], format="safetensors").body)
        reply = post(self.daemon, **asked, kinds=KINDS, include=OF_HEADS + OF_SIDES + ["rollout"]).json["sentences"][0]
        steps = reply["steps"]
        self.assertEqual(steps, [3, len(reply["output_tokens"]) - 1, 0])
        for quantity in ["weights"] + OF_HEADS + OF_SIDES:
            for kind in ("encoder", "decoder") if quantity in OF_SIDES else KINDS:
                with self.subTest(quantity=quantity, kind=kind):
                    name = kind if quantity == "weights" else f"{quantity}.{kind}"
                    expected = numbers(whole[f"sentences.0.{name}"])
                    rows = [3, expected.shape[-2] - 1, 0]
                    if quantity not in ("keys", "values"):
                        expected = expected[..., rows, :]
                    tree = reply[kind] if quantity == "weights" else reply[quantity][kind]
                    found = numpy.array([[list(row.values()) for row in place] for place in tree[0]])[None] \
                        if quantity == "residuals" else numpy.array(tree, float)
                    expected_json = numpy.where(numpy.isneginf(expected), numpy.nan, expected)
                    self.assertLess(numpy.nanmax(abs(found - expected_json)), 1e-6)
                    self.assertTrue((numpy.isnan(found) == numpy.isnan(expected_json)).all())
                    one = asked | {"kinds": [kind], "include": [] if quantity == "weights" else [quantity]}
                    self.compare(numbers(read_npy(post(self.daemon, **one, format="npy").body)), expected, name, 1e-12)
                    lines = post(self.daemon, **one, format="csv").body.decode().splitlines()
                    self.assertEqual(len(lines) - 1, expected.size)
                    self.assertEqual(lines[0].split(",")[-1], "weight" if quantity == "weights" else quantity)
                    values = [line.rsplit(",", 1)[1] for line in lines[1:]]
                    last = numpy.array([float(value) if value else -numpy.inf for value in values])
                    self.compare(last, expected.reshape(-1), name, 1e-6)
        self.assertLess(abs(numpy.array(reply["rollout"]) - numbers(whole["sentences.0.rollout"])[steps]).max(), 1e-6)


class Japanese(Bundled):
    """Of another family: its numbers are read from what `import` makes of it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.directory = pathlib.Path(cls.folder.name, "en-ja")
        done = run("import", str(ROOT / "weights/en-ja"), str(cls.directory), "--precision", "fp32")
        assert done.returncode == 0, done
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.folder.cleanup()


class Foreign(Case):
    def test_pre_norm_gated_rms(self):
        with tempfile.TemporaryDirectory() as folder:
            directory = write_model(pathlib.Path(folder, "m"), activation_function="swish", scale_embedding=True,
                                    normalize_before=True, add_final_layer_norm=True, normalize_embedding=True,
                                    norm="rms", feed_forward="gated")
            with Daemon("--precision", "fp32", model=str(directory)) as daemon:
                for text in SENTENCES:
                    self.check(daemon, Transformer(directory), text, off=["encoder.1.3", "cross.0"])

    def test_recurrent_cells_have_no_attention_to_show(self):
        with tempfile.TemporaryDirectory() as folder:
            directory = write_model(pathlib.Path(folder, "m"), activation_function="relu", decoder_cell="ssru")
            with Daemon("--precision", "fp32", model=str(directory)) as daemon:
                for text in SENTENCES:
                    self.check(daemon, Transformer(directory), text, kinds=["encoder", "cross"], off=["cross.1.1"])
                for field, value in (("kinds", ["decoder"]), ("include", ["rollout"]), ("switch_off", ["decoder.0"])):
                    body = json.dumps({"q": "Hello.", field: value}).encode()
                    reply = daemon.request("POST", "/attention", body, headers={"Content-Type": "application/json"})
                    self.assertEqual(reply.status, 400, reply)
                    self.assertRegex(reply.error, f"^{field}: .*recurrent cell")


class Int8(unittest.TestCase):
    def test_the_engines_own_numbers_agree_with_each_other(self):
        with Daemon("--precision", "int8", model=str(ROOT / "weights/en-de")) as daemon:
            for text in SENTENCES:
                tensors, _ = read_safetensors(post(daemon, q=text, kinds=KINDS, format="safetensors",
                                                   include=["scores", "values", "head_outputs"]).body)
                for kind in KINDS:
                    weights, scores, values, outputs = (numbers(tensors[f"sentences.0.{name}{kind}"])
                                                        for name in ("", "scores.", "values.", "head_outputs."))
                    self.assertLess(abs(softmax(scores) - weights).max(), TOLERANCE_INT8)
                    self.assertLess(abs(weights @ values - outputs).max(), TOLERANCE_INT8)


if __name__ == "__main__":
    unittest.main()
