"""The bundled model in every form that models are published in: the same answers, to the last bit.

python3 tests/cli/test_forms.py BINARY [unittest arguments]
"""

import array
import json
import os
import pathlib
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "models" / "en-de"
TEXT = "Where is the train station?\nTom has never been to Boston with his two sisters.\n"
PATIENCE_S = 120
INDEX = "model.safetensors.index.json"

binary = sys.argv.pop(1)


def find_torch():
    """A Python that has torch, or None."""
    for python in ("/usr/bin/python3", sys.executable):
        found = subprocess.run([python, "-c", "import torch"], capture_output=True, check=False)
        if found.returncode == 0:
            return python
    return None


TORCH = find_torch()


def read_safetensors(path):
    """{name: (dtype, shape, bytes)}"""
    data = pathlib.Path(path).read_bytes()
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name: (tensor["dtype"], tensor["shape"],
                   data[8 + length + tensor["data_offsets"][0]:8 + length + tensor["data_offsets"][1]])
            for name, tensor in header.items()}


def write_safetensors(path, tensors):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            file.write(data)


def to_f32(data):
    return array.array("f", struct.unpack(f"<{len(data) // 2}e", data))


def to_bf16(data):
    """The upper halves of fp32 numbers, towards zero: any rounding would do."""
    return array.array("H", array.array("H", data)[1::2]).tobytes()


def from_bf16(data):
    halves = array.array("H", bytes(2 * len(data)))
    halves[1::2] = array.array("H", data)
    return halves.tobytes()


class Forms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.published = read_safetensors(MODEL / "model.safetensors")
        cls.f32 = {name: ("F32", shape, to_f32(data).tobytes())
                   for name, (_, shape, data) in cls.published.items()}
        with tempfile.TemporaryDirectory(prefix="attentiond-forms-") as cache:
            cls.expected = {precision: cls.run_on(MODEL, precision, XDG_CACHE_HOME=cache).stdout
                            for precision in ("fp32", "int8")}

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="attentiond-forms-"))
        self.addCleanup(shutil.rmtree, self.directory)
        for path in MODEL.iterdir():
            if path.is_file() and path.name != "model.safetensors":
                shutil.copy(path, self.directory)

    @staticmethod
    def run_on(directory, precision="fp32", **environment):
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}
        return subprocess.run([binary, "translate", "--model", str(directory), "--json", "--precision", precision],
                              input=TEXT, capture_output=True, text=True, timeout=PATIENCE_S,
                              env=inherited | {"XDG_CACHE_HOME": str(directory)} | environment)

    def answers(self, precision="fp32"):
        result = self.run_on(self.directory, precision)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def refused(self, pattern):
        for precision in ("fp32", "int8"):
            result = self.run_on(self.directory, precision)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertRegex(result.stderr, pattern)

    def shard(self, n=3):
        """The model in n files, each with every n-th tensor."""
        weight_map = {}
        for i in range(n):
            name = f"model-{i + 1:05}-of-{n:05}.safetensors"
            part = dict(list(self.published.items())[i::n])
            write_safetensors(self.directory / name, part)
            weight_map |= dict.fromkeys(part, name)
        self.write_index(weight_map)
        return weight_map

    def write_index(self, weight_map):
        (self.directory / INDEX).write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map}))

    def test_f32(self):
        write_safetensors(self.directory / "model.safetensors", self.f32)
        for precision, expected in self.expected.items():
            self.assertEqual(self.answers(precision), expected)

    def test_bf16(self):
        halves = {name: ("BF16", shape, to_bf16(data)) for name, (_, shape, data) in self.f32.items()}
        write_safetensors(self.directory / "model.safetensors", halves)
        answers = self.answers()
        self.assertNotEqual(answers, self.expected["fp32"])
        widened = {name: ("F32", shape, from_bf16(data)) for name, (_, shape, data) in halves.items()}
        write_safetensors(self.directory / "model.safetensors", widened)
        self.assertEqual(self.answers(), answers)

    def test_sharded(self):
        self.shard()
        for precision, expected in self.expected.items():
            self.assertEqual(self.answers(precision), expected)

    def test_shard_that_changes_is_packed_anew(self):
        weight_map = self.shard()
        self.assertEqual(self.answers("int8"), self.expected["int8"])
        name = "final_logits_bias"
        path = self.directory / weight_map[name]
        tensors = read_safetensors(path)
        dtype, shape, data = tensors[name]
        tensors[name] = dtype, shape, struct.pack("<e", -100) * (len(data) // 4) + data[len(data) // 4 * 2:]
        write_safetensors(path, tensors)
        self.assertNotEqual(self.answers("int8"), self.expected["int8"])

    def configure(self, **settings):
        path = self.directory / "config.json"
        config = json.loads((MODEL / "config.json").read_text())
        path.write_text(json.dumps(config | settings))

    def test_keys_that_are_ours_say_nothing_in_a_directory_of_hugging_face(self):
        """transformers ignores them, whatever they say: some exporters write them."""
        shutil.copy(MODEL / "model.safetensors", self.directory)
        tokenizer = json.loads((MODEL / "tokenizer_config.json").read_text())
        ours = {"normalize_before": True, "normalize_embedding": True, "add_final_layer_norm": True,
                "static_position_embeddings": False, "layer_norm_eps": 0.1, "position_layout": "interleaved",
                "position_formula": "tensor2tensor", "first_position": 1, "start_from_zero_embedding": True,
                "search": "marian", "word_penalty": 5, "max_length_factor": 0.1}
        self.configure(**ours)
        (self.directory / "tokenizer_config.json").write_text(json.dumps(
            tokenizer | {"source_bos_token": "</s>", "target_prefix_token": "</s>", "add_source_eos": False}))
        for precision, expected in self.expected.items():
            self.assertEqual(self.answers(precision), expected)
        # Not even their values are looked at.
        self.configure(**dict.fromkeys(ours, "nonsense"))
        self.assertEqual(self.answers(), self.expected["fp32"])
        # In one of our own, each of them is.
        for key in ours:
            with self.subTest(key):
                self.configure(model_type="attentiond", **{key: []})
                result = self.run_on(self.directory)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(f"config.json: {key}", result.stderr)

    def test_another_config_is_another_model(self):
        """What is packed depends on it, though the weights are the same."""
        shutil.copy(MODEL / "model.safetensors", self.directory)
        self.assertEqual(self.answers("int8"), self.expected["int8"])
        self.configure(model_type="attentiond", position_layout="interleaved")
        changed = self.answers("int8")
        self.assertNotEqual(changed, self.expected["int8"])
        with tempfile.TemporaryDirectory(prefix="attentiond-forms-") as cache:
            self.assertEqual(self.run_on(self.directory, "int8", XDG_CACHE_HOME=cache).stdout, changed)
        n_layers = json.loads((MODEL / "config.json").read_text())["encoder_layers"] - 1
        self.configure(encoder_layers=n_layers)
        self.refused(f"is there, but config.json's encoder_layers is {n_layers}")

    def test_a_packed_model_keeps_to_its_config(self):
        subprocess.run([binary, "import", str(MODEL), str(self.directory)], check=True, capture_output=True,
                       timeout=PATIENCE_S)
        self.assertEqual(self.answers("int8"), self.expected["int8"])
        config = json.loads((MODEL / "config.json").read_text())
        # The last two are within what rows and columns are padded with.
        for settings in ({"encoder_layers": config["encoder_layers"] - 1}, {"model_type": "attentiond", "position_layout": "interleaved"},
                         {"encoder_ffn_dim": config["encoder_ffn_dim"] - 4}, {"vocab_size": config["vocab_size"] + 7}):
            self.configure(**settings)
            result = self.run_on(self.directory, "int8")
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertRegex(result.stderr, 'int8.safetensors.*: metadata settings: expected "layers .*, found "layers ')

    def test_indexes_that_lie(self):
        good = self.shard()
        some, other = list(good)[0], list(good)[-1]
        for weight_map, pattern in (
                (good | {some: "../model.safetensors"}, "expected a file of the same directory"),
                (good | {some: "/etc/passwd"}, "expected a file of the same directory"),
                (good | {some: ""}, "expected a file of the same directory"),
                (good | {some: 3}, f'"{some}" is 3, expected the name of a file'),
                (good | {some: good[other]}, f'expected tensor "{some}" in {good[other]}, found none'),
                (good | {some: "absent.safetensors"}, "absent.safetensors.*No such file"),
                ({}, '"weight_map" is empty'),
                (7, 'expected a "weight_map"')):
            with self.subTest(pattern):
                self.write_index(weight_map)
                self.refused(pattern)

    def test_tensor_in_two_shards(self):
        weight_map = self.shard()
        some, other = list(weight_map)[0], list(weight_map)[-1]
        path = self.directory / weight_map[other]
        tensors = read_safetensors(path)
        write_safetensors(path, tensors | {some: self.published[some]})
        self.refused(f'"{some}" is in more than one file')

    def test_numbers_that_are_too_large_together(self):
        """Each is finite, as all that is read is, and a product is not: beam search went on with what was left."""
        name = "model.shared.weight"
        dtype, (n_rows, width), data = self.f32[name]
        table = array.array("f", data)
        row = 7000 * width
        table[row:row + width] = array.array("f", [3e38] + [0.0] * (width - 1))
        write_safetensors(self.directory / "model.safetensors",
                          self.f32 | {name: (dtype, [n_rows, width], table.tobytes())})
        self.refused(r"line 1: the model's score of the sentence at byte 0 is -?(nan|inf), expected a number")

    def test_no_weights(self):
        self.refused("expected model.safetensors, model.safetensors.index.json or pytorch_model.bin, found none")

    # Checkpoints of PyTorch. What torch itself writes is read in tests/unit/weights/test_torch.c from committed
    # files; here a whole model, where torch is installed.

    def save(self, dtype, is_zip):
        script = """if True:
            import json, struct, sys, torch
            source, target, dtype, is_zip = sys.argv[1:]
            data = open(source, "rb").read()
            length, = struct.unpack_from("<Q", data)
            tensors = {}
            for name, tensor in json.loads(data[8:8 + length]).items():
                if name == "__metadata__":
                    continue
                begin, end = (8 + length + at for at in tensor["data_offsets"])
                flat = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float16)
                tensors[name] = flat.reshape(tensor["shape"]).to(getattr(torch, dtype))
            for name in list(tensors):
                if name.endswith("fc1.weight"):  # strides that must be followed
                    tensors[name] = tensors[name].t().contiguous().t()
            for alias in ("encoder.embed_tokens", "decoder.embed_tokens"):
                tensors[f"model.{alias}.weight"] = tensors["model.shared.weight"]
            torch.save(tensors, target, _use_new_zipfile_serialization=is_zip == "True")"""
        subprocess.run([TORCH, "-c", script, MODEL / "model.safetensors",
                        self.directory / "pytorch_model.bin", dtype, str(is_zip)],
                       check=True, timeout=PATIENCE_S)

    @unittest.skipUnless(TORCH, "needs python3-torch")
    def test_checkpoints(self):
        for dtype in ("float16", "float32"):
            for is_zip in (True, False):
                with self.subTest(dtype=dtype, is_zip=is_zip):
                    self.save(dtype, is_zip)
                    for precision, expected in self.expected.items():
                        self.assertEqual(self.answers(precision), expected)

    def test_checkpoint_that_would_run_a_program(self):
        class Evil:
            def __reduce__(self):
                return os.system, (f"touch {self.mark}",)
        mark = self.directory / "mark"
        evil = Evil()
        evil.mark = mark
        with zipfile.ZipFile(self.directory / "pytorch_model.bin", "w") as archive:
            archive.writestr("m/data.pkl", pickle.dumps({"weight": evil}, 2))
        self.refused('pytorch_model.bin: the pickle wants to use "posix.system"')
        self.assertFalse(mark.exists())

    def test_compressed_checkpoint(self):
        with zipfile.ZipFile(self.directory / "pytorch_model.bin", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("m/data.pkl", bytes(1 << 20))
        self.refused(r'"m/data.pkl" is compressed \(method 8\), expected it to be stored')


if __name__ == "__main__":
    unittest.main()
