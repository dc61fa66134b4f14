"""One model that translates among many languages: which it says it has, texts into several languages in one request, and
what a model of two languages has before it."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from model_fixtures import make_model
from serve import BINARY, ROOT, Daemon

DATA = ROOT / "tests" / "parity" / "data" / "multilingual"
RECORDS = [json.loads(line) for line in (DATA / "transformers.jsonl").read_text().splitlines()]
TEXTS = ["Where is the station?", "I have never been to Boston.", "She said that he was right.", "Tom is here.", "Good night!"]
TARGETS = ["de", "fr", "ja", "zu", "zh-Hant"]


class ManyLanguages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.root)
        for name in "m2m100", "nllb", "mbart50":
            shutil.copytree(DATA / name, cls.root / name)
        make_model(cls.root / "en-de")
        cls.daemon = Daemon("--models-directory", str(cls.root), "--max-length-factor", "0", model=None).start()
        cls.addClassCleanup(cls.daemon.kill)  # where the second one does not start
        cls.exact = Daemon("--max-length-factor", "0", "--precision", "fp32", "--post-edit=off",
                           model=str(cls.root / "nllb")).start()

    @classmethod
    def tearDownClass(cls):
        assert cls.exact.stop() == 0, cls.exact.log
        assert cls.daemon.stop() == 0, cls.daemon.log

    def ask(self, q, source, target, **fields):
        reply = self.daemon.translate(q, source=source, target=target, **fields)
        self.assertEqual(reply.status, 200, reply)
        return reply.json["translatedText"]

    def refused(self, words, **fields):
        reply = self.daemon.request("POST", "/translate", {"q": ["a", "b"], "source": "en", "target": "de", **fields})
        self.assertEqual(reply.status, 400, reply)
        self.assertIn(words, reply.json["error"])

    def test_codes_are_those_that_clients_use(self):
        models = {model["id"]: model for model in self.daemon.get("/models").json["models"]}
        self.assertEqual(len(models["m2m100"]["sources"]), 100)
        self.assertEqual(len(models["nllb"]["targets"]), 202)
        self.assertEqual(len(models["mbart50"]["targets"]), 52)
        for code in "en", "de", "zh-Hans", "zh-Hant", "sr", "pt", "nb", "ar", "fa", "ko", "ja", "ks-Deva":
            self.assertIn(code, models["nllb"]["targets"])
        for code in "en", "zh-Hans", "pt", "sv":
            self.assertIn(code, models["mbart50"]["targets"])

    def test_languages_lists_them_all_once(self):
        reply = self.daemon.get("/languages")
        codes = [language["code"] for language in reply.json]
        self.assertEqual(len(codes), len(set(codes)))
        self.assertGreater(len(codes), 200)
        self.assertLess(len(reply.body), 1 << 19)

    def test_the_ids_are_those_of_transformers(self):
        for record in RECORDS:
            if record["model"] != "nllb" or record["source"] == record["target"]:
                continue
            with self.subTest(text=record["text"]):
                reply = self.exact.request("POST", "/attention", {
                    "q": record["text"], "source": record["source"], "target": record["target"], "beam_size": 1,
                    "split_sentences": "off"})
                self.assertEqual(reply.status, 200, reply)
                sentence = reply.json["sentences"][0]
                self.assertEqual([token["id"] for token in sentence["source_tokens"]], record["source_ids"])
                self.assertEqual([token["id"] for token in sentence["output_tokens"]], record["greedy"])
                self.assertTrue(sentence["source_tokens"][0]["special"])

    def test_texts_into_five_languages_in_one_request(self):
        for model in "m2m100", "nllb":
            targets = [target if model == "nllb" or target != "zh-Hant" else "zh" for target in TARGETS]
            together = self.ask(TEXTS, "en", targets, model=model)
            alone = [self.ask(text, "en", target, model=model) for text, target in zip(TEXTS, targets)]
            self.assertEqual(together, alone)
            self.assertEqual(self.ask(TEXTS[:2], ["en", "fr"], ["de", "de"], model=model),
                             [self.ask(TEXTS[0], "en", "de", model=model), self.ask(TEXTS[1], "fr", "de", model=model)])

    def test_vocabularies_of_target_languages(self):
        """Texts into languages with and without one share a batch; what a prefix brings is written whatever they say."""
        words = {"m2m100": {"de": "ein Haus", "fr": "la vie"}, "nllb": {"deu_Latn": "ein Haus", "fra_Latn": "la vie"}}
        root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, root)
        (root / "models").mkdir()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ATTENTIOND_")}
        for name, texts in words.items():
            for code, text in texts.items():
                (root / f"{name}.{code}").write_text(text)
            value = ",".join(f"{code}={root}/{name}.{code}" for code in texts)
            result = subprocess.run([BINARY, "import", DATA / name, root / "models" / name, "--target-vocabulary", value],
                                    capture_output=True, text=True, check=False, env=environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            for path in (root / "models" / name).glob("attentiond.target-vocabulary.*"):
                title, *ids = path.read_text().splitlines()
                path.write_text("".join(f"{line}\n" for line in [title, *(token for token in ids if int(token) % 3 or int(token) < 4)]))
        with Daemon("--models-directory", str(root / "models"), "--max-length-factor", "0", model=None) as daemon:
            def ask(q, target, **fields):
                reply = daemon.translate(q, source="en", target=target, **fields)
                self.assertEqual(reply.status, 200, reply)
                return reply.json["translatedText"]

            for model in words:
                together = ask(TEXTS, ["de", "fr", "ja", "fr", "de"], model=model)
                self.assertEqual(together, [ask(text, target, model=model) for text, target in zip(TEXTS, ["de", "fr", "ja", "fr", "de"])])
                off = ask(TEXTS, ["de", "fr", "ja", "fr", "de"], model=model, target_vocabulary="off")
                self.assertEqual(off, self.ask(TEXTS, "en", ["de", "fr", "ja", "fr", "de"], model=model))
                self.assertEqual(off[2], together[2])
                self.assertNotEqual(off, together)
                for prefix in "zqj WPJ vxk", "ein":
                    prefixed = [ask(TEXTS[0], "de", model=model, target_prefix=prefix, post_edit=False, beam_size=n) for n in (1, 4)]
                    self.assertTrue(all(text.startswith(prefix) for text in prefixed), prefixed)
            reply = daemon.request("POST", "/translate", {"q": "a", "source": "en", "target": "de", "target_vocabulary": "maybe"})
            self.assertEqual(reply.status, 400)
            self.assertIn('target_vocabulary is "maybe", expected "on" or "off"', reply.json["error"])

    def test_a_model_of_two_languages_goes_first(self):
        self.assertEqual(self.ask("Where is the station?", "en", "de"),
                         self.ask("Where is the station?", "en", "de", model="en-de"))

    def test_a_text_in_its_language_stays(self):
        self.assertEqual(self.ask(["Hello.", "Hallo."], ["en", "de"], ["en", "de"]), ["Hello.", "Hallo."])

    def test_arrays_that_do_not_fit_are_refused(self):
        self.refused("expected one code, or as many as q has texts (2), found an array of 3", target=["de", "fr", "ja"])
        self.refused("source: expected an array of codes", source=["auto", "en"])
        self.refused("target: expected an array of codes", target=["de", 1])
        self.refused("expected one code", q="a", target=["de"])
        self.refused("xx is not supported", target=["de", "xx"])

    def test_what_it_does_not_have_is_named(self):
        reply = self.daemon.request("POST", "/translate", {"q": "a", "source": "en", "model": "mbart50", "target": "zu"})
        self.assertEqual(reply.status, 400)
        self.assertIn("zu is not supported", reply.json["error"])


if __name__ == "__main__":
    unittest.main()
