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


class Padding(unittest.TestCase):
    def test_has_no_position_where_the_family_has_it_so(self):
        """What that does is held against a naive implementation by test_variants.c."""
        for name in NAMES:
            with self.subTest(model=name), tempfile.TemporaryDirectory() as folder:
                result = run("import", DATA / name, folder + "/made")
                self.assertEqual(result.returncode, 0, result.stderr)
                config = json.loads(pathlib.Path(folder, "made", "config.json").read_text())
                self.assertIs(config["positions_skip_padding"], name != "mbart50")


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


class TargetVocabularies(unittest.TestCase):
    """A list of tokens for each language, beside the weights: sentences into several languages share a batch."""

    TEXTS = {"de": "Wo ist der Bahnhof?\nDas ist gut.\n", "fr": "C'est la vie.\nBonne nuit!\n"}

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="attentiond-multilingual-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for language, text in self.TEXTS.items():
            (self.folder / f"{language}.txt").write_text(text)

    def make(self, name, texts=None):
        texts = texts or ",".join(f"{language}={self.folder}/{language}.txt" for language in self.TEXTS)
        return run("import", DATA / name, self.folder / name, "--target-vocabulary", texts)

    def test_each_language_has_its_own(self):
        for name, codes in (("m2m100", ["de", "fr"]), ("small100", ["de", "fr"]), ("nllb", ["deu_Latn", "fra_Latn"]), ("mbart50", ["de_DE", "fr_XX"])):
            with self.subTest(model=name):
                result = self.make(name)
                self.assertEqual(result.returncode, 0, result.stderr)
                lists = {}
                for language, code in zip(self.TEXTS, codes):
                    path = self.folder / name / f"attentiond.target-vocabulary.{code}.txt"
                    title, *ids = path.read_text().splitlines()
                    lists[language] = ids = {int(token) for token in ids}
                    # Every other token but what the language needs: random weights then choose others.
                    kept = sorted(token for token in ids if token % 2 or token < 4 or token > 200)
                    path.write_text("".join(f"{line}\n" for line in [title, *kept]))
                    lists[language] = set(kept)
                self.assertNotEqual(lists["de"], lists["fr"])
                for language in "de", "fr", "en":
                    texts = [record["text"] for record in RECORDS[:6]]
                    masked = translate(self.folder / name, texts, "en", language, precision="int8")
                    whole = translate(self.folder / name, texts, "en", language, "--target-vocabulary", "off", precision="int8")
                    if language == "en":
                        self.assertEqual(masked, whole)
                        continue
                    self.assertNotEqual([line["output_ids"] for line in masked], [line["output_ids"] for line in whole])
                    for line in masked:
                        self.assertLessEqual(set(line["output_ids"]), lists[language])
                    for flags in ("--batch-size", 5), ("--workers", 1, "--threads-per-worker", 2), ("--kernels", "c"):
                        self.assertEqual(translate(self.folder / name, texts, "en", language, *flags, precision="int8"), masked, flags)

    def test_languages_must_be_the_models(self):
        for texts, message in ((f"{self.folder}/de.txt", "expected LANGUAGE=FILE, because the model has many languages"),
                               (f"xx={self.folder}/de.txt", "--target-vocabulary: "),
                               ("de=", "expected a file, found none")):
            with self.subTest(texts):
                result = self.make("m2m100", texts)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(message, result.stderr)


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
