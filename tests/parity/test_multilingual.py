"""Models of many languages, read as Hugging Face's directories lie: against transformers (data/multilingual), and bit for
bit alike however they are run.

python3 tests/parity/test_multilingual.py BINARY [unittest arguments]
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

DATA = pathlib.Path(__file__).resolve().parent / "data" / "multilingual"
RECORDS = [json.loads(line) for line in (DATA / "transformers.jsonl").read_text().splitlines()]
NAMES = sorted({record["model"] for record in RECORDS})
SLOWNESS = int(os.environ.get("ATTENTIOND_TEST_SLOWNESS", "1"))
PATIENCE_S = 120 * SLOWNESS

binary = sys.argv.pop(1)


def run(*arguments, text=""):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}
    return subprocess.run([binary, *map(str, arguments)], input=text, capture_output=True, text=True,
                          timeout=PATIENCE_S, env=environment)


def translate(model, lines, source, target, *flags, precision="fp32"):
    result = run("translate", "--model", model, "--json", "--precision", precision, "--cache-dir", "", "--source-lang",
                 source, "--target-lang", target, "--max-length-factor", 0, *flags,
                 text="".join(line + "\n" for line in lines))
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def largest_difference(ours, theirs):
    if isinstance(ours, list):
        assert len(ours) == len(theirs), (len(ours), len(theirs))
        return max(largest_difference(a, b) for a, b in zip(ours, theirs))
    return abs(ours - theirs)


class Reference(unittest.TestCase):
    def test_ids_are_those_of_transformers(self):
        for record in RECORDS:
            for key, n_beams in (("greedy", 1), ("beam", 5)):
                with self.subTest(model=record["model"], text=record["text"], search=key):
                    made = translate(DATA / record["model"], [record["text"]], record["source"], record["target"],
                                     "--beam-size", n_beams)
                    self.assertEqual(made[0]["output_ids"], record[key])

    def test_a_beam_is_scored_alike(self):
        for record in RECORDS:
            with self.subTest(model=record["model"], text=record["text"]):
                made = translate(DATA / record["model"], [record["text"]], record["source"], record["target"],
                                 "--beam-size", 5)
                self.assertAlmostEqual(made[0]["score"], record["beam_score"], delta=1e-3)

    def test_attention_and_source_are_alike(self):
        for record in RECORDS:
            if "attention" not in record:
                continue
            with self.subTest(model=record["model"]):
                result = run("inspect", "--model", DATA / record["model"], "--precision", "fp32", "--cache-dir", "",
                             "--source-lang", record["source"], "--target-lang", record["target"], "--beam-size", 1,
                             "--max-length-factor", 0, "--kinds", "encoder,decoder,cross", "--decimals", 6,
                             "--format", "json", record["text"])
                self.assertEqual(result.returncode, 0, result.stderr)
                sentence = json.loads(result.stdout)["sentences"][0]
                self.assertEqual([token["id"] for token in sentence["source_tokens"]], record["source_ids"])
                for kind, theirs in record["attention"].items():
                    self.assertLess(largest_difference(sentence[kind], theirs), 1e-4, kind)


class Int8(unittest.TestCase):
    """What fp32 makes of random weights int8 need not make; but it makes the same of them everywhere."""

    def test_the_same_in_any_batch_and_in_packed_form(self):
        for name in NAMES:
            with self.subTest(model=name), tempfile.TemporaryDirectory() as folder:
                records = [record for record in RECORDS if record["model"] == name]
                source, target = records[0]["source"], records[0]["target"]
                texts = [record["text"] for record in records]
                packed = pathlib.Path(folder) / "packed"
                result = run("import", DATA / name, packed)
                self.assertEqual(result.returncode, 0, result.stderr)
                first = translate(DATA / name, texts, source, target, "--batch-size", 5, precision="int8")
                for model, flags in ((DATA / name, ("--batch-size", 64)),
                                     (DATA / name, ("--workers", 1, "--threads-per-worker", 2)),
                                     (DATA / name, ("--kernels", "c")),
                                     (packed, ())):
                    self.assertEqual(translate(model, texts, source, target, *flags, precision="int8"), first,
                                     (model, flags))


class Errors(unittest.TestCase):
    def changed(self, folder, name, **files):
        """A copy of the model with some of its JSON files changed."""
        model = pathlib.Path(folder) / name
        shutil.copytree(DATA / name, model)
        for stem, changes in files.items():
            path = model / (stem + ".json")
            path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
        return model

    def refuse(self, model, message, *flags):
        result = run("translate", "--model", model, "--cache-dir", "", *flags, text="Hello.\n")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(message, result.stderr)

    def test_both_languages_are_needed(self):
        self.refuse(DATA / "m2m100", "source_lang: expected one of the model's languages (af, am, ar, ")
        self.refuse(DATA / "nllb", "target_lang: expected one of the model's languages", "--source-lang", "en")
        self.refuse(DATA / "mbart50", 'found "zu"', "--source-lang", "en", "--target-lang", "zu")

    def test_what_is_another_model_is_refused_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            self.refuse(self.changed(folder, "mbart50", tokenizer_config={"tokenizer_class": "MBartTokenizer"},
                                     config={"tokenizer_class": "MBartTokenizer"}), "mBART-25")
            self.refuse(self.changed(folder, "m2m100", config={"model_type": "bart"}), 'found "bart"')

    def test_languages_that_training_added_are_known(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "nllb"
            shutil.copytree(DATA / "nllb", model)
            path = model / "tokenizer_config.json"
            config = json.loads(path.read_text())
            listed = config["additional_special_tokens"]
            ids = {token["content"]: int(id) for id, token in config["added_tokens_decoder"].items()}
            for token in config["added_tokens_decoder"].values():
                if token["content"] == "deu_Latn":
                    token["content"] = "gsw_Latn"
            listed[listed.index("deu_Latn")] = "gsw_Latn"
            path.write_text(json.dumps(config))
            made = translate(model, ["Hello."], "en", "gsw", "--beam-size", 1)
            self.assertEqual(made[0]["output_ids"][0], ids["deu_Latn"])


if __name__ == "__main__":
    unittest.main()
