"""Many models behind one door: which one a request gets, ways that lead through several of them, and
what can be asked of them."""

import contextlib
import json
import pathlib
import shutil
import tempfile
import threading
import unittest

from model_fixtures import exchange, make_model
from serve import MODEL, Daemon, wait_until
from test_admin import Client

TEXTS = [
    "Where is the train station?",
    "I have a dog. It sleeps on the sofa.\n\n  Good night!",
    "I HAVE A DOG",
    "the old house",
    "Call me at 030 12345678, or write to me@example.org. \U0001F600",
    " \n ",
]
PAGES = [
    "<p>I have <b>a dog</b>.</p><p>Where is the <a href='x'>train station</a>?</p>",
    "<ul><li>Good night!</li><li>Thank <i>you</i>.<br>Good bye.</li></ul>",
]


class WithModels(unittest.TestCase):
    """A way from en through de and fr to es, one model for each step."""

    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp())
        cls.models = cls.root / "models"
        make_model(cls.models / "en-de")
        make_model(cls.models / "de-fr", "de", "fr", seed=1, aliases=["german-french"], beam_size=2)
        make_model(cls.models / "opus-mt-fr-es", "fr", "es", seed=2)
        cls.admin = cls.root / "admin"
        cls.daemon = Daemon("--models-directory", str(cls.models), "--admin-socket", str(cls.admin),
                            *cls.FLAGS, model=None).start()

    @classmethod
    def tearDownClass(cls):
        try:
            assert cls.daemon.stop() == 0, cls.daemon.log
        finally:
            shutil.rmtree(cls.root)

    def ask(self, q, source="en", target="fr", **fields):
        reply = self.daemon.translate(q, source=source, target=target, **fields)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def administer(self, method, path):
        client = Client(self.admin)
        client.request(method, path, body=b"" if method == "POST" else None)
        response = client.getresponse()
        body = json.loads(response.read())
        client.close()
        return response.status, body

    def state(self, name):
        return self.daemon.get("/models/" + name).json["state"]


class Pivot(WithModels):
    def by_hand(self, q, languages, last={}, **fields):
        """What a client gets that goes the way itself."""
        hops = list(zip(languages, languages[1:]))
        for source, target in hops[:-1]:
            q = self.ask(q, source, target, **fields)["translatedText"]
        # A blank text becomes an empty one, which nobody may ask for.
        return self.ask(q, *hops[-1], **fields, **last) if q else {"translatedText": ""}

    def test_equals_the_requests_made_by_hand(self):
        for q in TEXTS + [TEXTS]:
            for fields in ({}, {"split_sentences": "off"}, {"split_sentences": "newlines"},
                           {"beam_size": 3, "length_penalty": 0.5}, {"post_edit": False}):
                reply = self.ask(q, **fields)
                self.assertEqual(reply["translatedText"],
                                 self.by_hand(q, ["en", "de", "fr"], **fields)["translatedText"])

    def test_three_models(self):
        reply = self.ask(TEXTS[:2], target="es")
        self.assertEqual(reply["translatedText"],
                         self.by_hand(TEXTS[:2], ["en", "de", "fr", "es"])["translatedText"])
        self.assertEqual(reply["models"], [["en-de", "de-fr", "opus-mt-fr-es"]] * 2)
        self.assertEqual(reply["via"], [["de", "fr"]] * 2)

    def test_pages(self):
        for q in PAGES + [PAGES]:
            self.assertEqual(self.ask(q, format="html")["translatedText"],
                             self.by_hand(q, ["en", "de", "fr"], format="html")["translatedText"])

    def test_alternatives_and_scores_are_the_last_model_s(self):
        last = {"alternatives": 2, "return_scores": True}
        for q in (TEXTS[1], TEXTS[:2]):
            reply, expected = self.ask(q, **last), self.by_hand(q, ["en", "de", "fr"], last)
            for key in ("translatedText", "alternatives", "scores"):
                self.assertEqual(reply[key], expected[key], key)

    def test_the_reply_says_the_way(self):
        reply = self.ask(TEXTS[0])
        self.assertEqual(list(reply), ["models", "translatedText", "via"])
        self.assertEqual((reply["models"], reply["via"]), (["en-de", "de-fr"], ["de"]))
        self.assertEqual(list(self.ask(TEXTS[0], target="de")), ["translatedText"])

    def test_usage_is_that_of_all_models(self):
        fields = {"return_usage": True}
        first = self.ask(TEXTS[1], "en", "de", **fields)
        second = self.ask(first["translatedText"], "de", "fr", **fields)
        for key in ("source_tokens", "target_tokens"):
            self.assertEqual(self.ask(TEXTS[1], **fields)["usage"][key],
                             first["usage"][key] + second["usage"][key], key)

    def test_each_text_goes_its_own_way(self):
        german = "Ich habe einen Hund. Wo ist der Bahnhof?"
        french = "Je suis dans la maison, et il fait beau."
        english = "Where is the train station? I have a dog."
        reply = self.ask([english, french, german], source="auto")
        self.assertEqual([item["language"] for item in reply["detectedLanguage"]], ["en", "fr", "de"])
        self.assertEqual(reply["translatedText"], [
            self.ask(english)["translatedText"], french,
            self.ask(german, source="de")["translatedText"]])
        self.assertEqual(reply["models"], [["en-de", "de-fr"], [], ["de-fr"]])
        self.assertEqual(reply["via"], [["de"], [], []])

    def test_terms_survive_all_models(self):
        q = "Mr. Zyx has a dog. I like the train station."
        reply = self.ask(q, do_not_translate=["Zyx"], glossary={"train station": "Gare Centrale"})
        terms = {term["source"]: term for term in reply["terms"]}
        self.assertEqual(terms["Zyx"]["found"], 1)
        self.assertEqual(terms["train station"]["target"], "Gare Centrale")
        for term in terms.values():
            self.assertEqual(reply["translatedText"].count(term["target"]), term["applied"], reply)

    def test_stream(self):
        for fields in ({}, {"stream_mode": "token"}):
            for q in (TEXTS[1], [TEXTS[1], "", TEXTS[0]]):
                events = self.stream(q, **fields)
                result = json.loads(events[-2][1])
                expected = self.ask(q, post_edit=False)
                self.assertEqual(result, expected)
                pieces = [json.loads(data) for name, data in events[:-2]]
                for index, text in enumerate([expected["translatedText"]] if isinstance(q, str)
                                             else expected["translatedText"]):
                    self.assertEqual("".join(piece["text"] for piece in pieces
                                             if piece["index"] == index), text)

    def stream(self, q, source="en", target="fr", **fields):
        body = self.daemon.translate(q, source=source, target=target, stream=True, **fields).body.decode()
        events = []
        for block in body.strip().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
            if fields:
                events.append((fields.get("event"), fields["data"]))
        self.assertEqual(events[-1], (None, "[DONE]"))
        self.assertEqual(events[-2][0], "result")
        return events

    def test_alignment_takes_one_model(self):
        reply = self.daemon.translate(TEXTS[0], target="fr", alignment=True)
        self.assertEqual((reply.status, reply.error), (
            400, "alignment is for a direct translation, but there is none from en to fr"))
        reply = self.daemon.request("POST", "/attention", {"q": TEXTS[0], "source": "en", "target": "fr"})
        self.assertEqual(reply.status, 400)
        self.assertIn("from en to de with en-de first", reply.error)

    def test_files(self):
        text = b"I have a dog.\n\nWhere is the train station?\n"
        self.assertEqual(self.translate_file("a.txt", text, "fr"),
                         self.translate_file("a.txt", self.translate_file("a.txt", text, "de"), "fr", "de"))
        cues = b"1\n00:00:01,000 --> 00:00:02,500\n<i>I have a dog.</i>\n"
        self.assertEqual(self.translate_file("a.srt", cues, "fr"),
                         self.translate_file("a.srt", self.translate_file("a.srt", cues, "de"), "fr", "de"))

    def translate_file(self, name, content, target, source="en"):
        boundary = "x0x0x"
        body = b"".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"{more}\r\n\r\n'.encode()
            + value + b"\r\n" for key, more, value in (
                ("source", "", source.encode()), ("target", "", target.encode()),
                ("file", f'; filename="{name}"', content))) + f"--{boundary}--\r\n".encode()
        reply = self.daemon.request("POST", "/translate_file", body, headers={
            "Content-Type": f"multipart/form-data; boundary={boundary}"})
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual("via" in reply.json, source == "en" and target == "fr")
        return self.daemon.get(reply.json["translatedFileUrl"].split(str(self.daemon.port), 1)[1]).body

    def test_deepl(self):
        reply = self.daemon.request("POST", "/v2/translate", {
            "text": [TEXTS[0]], "source_lang": "EN", "target_lang": "FR"})
        self.assertEqual(reply.json["translations"][0]["text"], self.ask(TEXTS[0])["translatedText"])


class Choice(WithModels):
    def test_by_name(self):
        expected = self.ask("Ich habe einen Hund.", "de", "fr")
        for name in ("de-fr", "german-french"):
            for fields in ({}, {"source": "", "target": ""}, {"source": "auto"}):
                reply = self.ask("Ich habe einen Hund.", **{
                    "source": "de", "target": "fr", "model": name, **fields})
                self.assertEqual(reply["translatedText"], expected["translatedText"], (name, fields))

    def test_what_does_not_fit(self):
        def refused(status, text, **fields):
            reply = self.daemon.translate("Hello.", **fields)
            self.assertEqual(reply.status, status, reply)
            self.assertIn(text, reply.error)
        refused(404, 'there is no "de-fi", expected one that GET /models lists, such as "de-fr"', model="de-fi")
        refused(400, "en is not supported", model="de-fr")
        refused(400, "the model de-fr translates from de, not fr", model="de-fr", source="fr", target="de")
        refused(400, "tlh is not supported", target="tlh")
        refused(400, "English (en) is not available as a target language from German (de)",
                source="de", target="en")

    def test_own_defaults_come_before_the_settings(self):
        german = "Ich habe einen Hund. Wo ist der Bahnhof, und wie geht es dir?"
        self.assertEqual(self.ask(german, "de", "fr"), self.ask(german, "de", "fr", beam_size=2))

    def test_attention_of_a_model(self):
        for fields in ({"model": "de-fr"}, {"source": "de", "target": "fr"}):
            reply = self.daemon.request("POST", "/attention", {"q": "Ich habe einen Hund.", **fields})
            self.assertEqual(reply.status, 200, reply)
            self.assertEqual(reply.json["model"]["id"], "de-fr")
        reply = self.daemon.get("/positions?model=german-french&n=2")
        self.assertEqual((reply.status, reply.json["model"]), (200, "de-fr"))


class Lists(WithModels):
    def test_languages_are_what_is_reached(self):
        languages = {item["code"]: item["targets"] for item in self.daemon.get("/languages").json}
        self.assertEqual(languages, {"en": ["de", "en", "es", "fr"], "de": ["de", "es", "fr"],
                                     "fr": ["es", "fr"], "es": ["es"]})
        def codes(kind):
            return [item["language"] for item in self.daemon.get("/v2/languages?type=" + kind).json]
        self.assertEqual(sorted(codes("source")), ["DE", "EN", "FR"])
        self.assertEqual(sorted(codes("target")), ["DE", "ES", "FR"])

    def test_models(self):
        models = {model["id"]: model for model in self.daemon.get("/models").json["models"]}
        self.assertEqual(sorted(models), ["de-fr", "en-de", "opus-mt-fr-es"])
        self.assertEqual(models["de-fr"]["aliases"], ["german-french"])
        self.assertEqual((models["de-fr"]["sources"], models["de-fr"]["targets"]), (["de"], ["fr"]))
        self.assertEqual(sum(model["default"] for model in models.values()), 1)
        for model in models.values():
            self.assertNotIn("directory", model)

    def test_a_model(self):
        self.ask("Hallo.", "de", "fr")
        model = self.daemon.get("/models/german-french").json
        self.assertEqual((model["id"], model["state"]), ("de-fr", "ready"))
        self.assertEqual(model["licence"], "cc-by-4.0")
        self.assertEqual(model["defaults"]["beam_size"], 2)
        config = json.loads((pathlib.Path(MODEL) / "config.json").read_text())
        self.assertEqual(model["shape"]["d_model"], config["d_model"])
        self.assertGreater(model["parameters"], 8_000_000)
        self.assertGreater(model["memory"]["loaded_bytes"], 0)
        self.assertGreaterEqual(model["use"]["requests"], 1)
        self.assertEqual(self.daemon.get("/models/nothing").status, 404)
        self.assertEqual(self.daemon.request("POST", "/models/de-fr/unload", b"").status, 405)

    def test_load_and_unload(self):
        self.ask("Hallo.", "fr", "es")
        status, model = self.administer("POST", "/models/opus-mt-fr-es/unload")
        self.assertEqual((status, model["id"]), (202, "opus-mt-fr-es"))
        wait_until(lambda: self.state("opus-mt-fr-es") == "cold")
        status, model = self.administer("POST", "/models/opus-mt-fr-es/load")
        self.assertEqual((status, model["state"]), (200, "ready"))
        self.assertEqual(model["directory"], str(self.models / "opus-mt-fr-es"))
        for path in ("/models/nothing/load", "/models/de-fr", "/models/de-fr/melt", "/models/"):
            self.assertEqual(self.administer("POST", path)[0], 404, path)


class FullQueue(WithModels):
    FLAGS = ("--max-queued-sentences", "4", "--max-batch-rows", "4", "--workers", "1", "--threads-per-worker", "1")

    @contextlib.contextmanager
    def crowd(self):
        """Ten clients at the first model; yields how they were answered so far."""
        is_over, statuses = threading.Event(), set()

        def ask():
            while not is_over.is_set():
                statuses.add(self.daemon.translate("I do not know where the train station is " * 5,
                                                   source="en", target="de").status)

        threads = [threading.Thread(target=ask) for _ in range(10)]
        for thread in threads:
            thread.start()
        try:
            yield statuses
        finally:
            is_over.set()
            for thread in threads:
                thread.join()

    def test_who_has_been_accepted_is_not_refused_between_two_models(self):
        # The head says what became of the first round, the last event what became of the others.
        body = {"q": TEXTS[0], "source": "en", "target": "es", "stream": True}
        expected = self.ask(TEXTS[0], target="es", post_edit=False)["translatedText"]
        n_accepted = 0

        def is_accepted():
            reply = self.daemon.request("POST", "/translate", body)
            self.assertIn(reply.status, (200, 503))
            if reply.status == 200:
                self.assertTrue(reply.body.endswith(b"data: [DONE]\n\n"), reply)
                result = json.loads(reply.body.split(b"event: result\ndata: ")[1].split(b"\n")[0])
                self.assertEqual(result["translatedText"], expected)
            return reply.status == 200

        with self.crowd() as statuses:
            while n_accepted < 10:
                n_accepted += is_accepted()
        self.assertEqual(statuses, {200, 503})

    def test_a_model_is_loaded_while_the_queue_is_full_of_another_s(self):
        with self.crowd() as statuses:
            for _ in range(5):
                status, model = self.administer("POST", "/models/de-fr/load")
                self.assertEqual((status, model["state"]), (200, "ready"), model)
                self.administer("POST", "/models/de-fr/unload")
                wait_until(lambda: self.state("de-fr") == "cold")
        self.assertEqual(statuses, {200, 503})
        metrics = self.daemon.metrics()
        refused = metrics['attentiond_rejected_total{reason="queue_full"}']
        jobs = metrics['attentiond_jobs_total{outcome="refused"}']
        self.assertLess(jobs - refused, 20)  # the warm-ups looked hundreds of times, and were hardly ever refused


class Change(unittest.TestCase):
    def test_a_model_comes_and_goes(self):
        root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, root)
        make_model(root / "models" / "en-de")
        with Daemon("--models-directory", str(root / "models"), "--admin-socket", str(root / "admin"),
                    model=None) as daemon:
            def reload():
                client = Client(root / "admin")
                client.request("POST", "/models/reload", b"")
                self.assertEqual(client.getresponse().status, 202)
                client.close()

            def ids():
                return [model["id"] for model in daemon.get("/models").json["models"]]

            self.assertEqual(daemon.translate("Hello.", target="fr").status, 400)
            make_model(root / "models" / "de-fr", "de", "fr", seed=1)
            (root / "models" / "broken").mkdir()
            (root / "models" / "broken" / "config.json").write_text("{")
            reload()
            wait_until(lambda: "de-fr" in ids(), what="the new model")
            self.assertEqual(daemon.translate("Hello.", target="fr").status, 200)
            self.assertEqual(daemon.get("/models/broken").json["state"], "failed")
            reply = daemon.translate("Hello.", model="broken")
            self.assertEqual(reply.status, 503, reply)
            shutil.rmtree(root / "models" / "de-fr")
            reload()
            wait_until(lambda: "de-fr" not in ids(), what="the end of the model")
            self.assertEqual(daemon.translate("Hello.", target="fr").status, 400)
            self.assertEqual(daemon.translate("Hello.").status, 200)

    def test_what_cannot_be_loaded_displaces_nothing(self):
        """A client asks before, during and after; each answer is that of the model in memory."""
        for flags in ((), ("--models-memory", "50000000")):  # with room for both, and without
            with self.subTest(flags), tempfile.TemporaryDirectory() as root:
                self.replace_by_what_cannot_be_loaded(pathlib.Path(root), flags)

    def replace_by_what_cannot_be_loaded(self, root, flags):
        models, text = root / "models", "The old woman who lives beside the river does not miss the mountains."
        make_model(models / "en-de")
        sound = (models / "en-de" / "model.safetensors").read_bytes()
        answers, is_over = [], threading.Event()

        def ask():
            while not is_over.is_set():
                reply = daemon.translate(text)
                answers.append((reply.status, reply.json.get("translatedText")))

        def replace(number, change, **more):
            fresh = make_model(root / f"fresh-{number}", **more)
            change(fresh)
            exchange(fresh, models / "en-de")

        damages = [
            lambda fresh: (fresh / "model.safetensors").write_bytes(sound[:-4096]),
            lambda fresh: (fresh / "model.safetensors").write_bytes(sound[:-8] + b"\xff" * 8),
            lambda fresh: (fresh / "config.json").write_text("{"),
            lambda fresh: (fresh / "attentiond.json").write_text('{"alignment_layers": "99"}'),
            lambda fresh: (fresh / "attentiond.json").write_text('{"alignment_shift": "sideways"}'),
            lambda fresh: (fresh / "source.spm").write_bytes(b"x" * 100),
        ]
        with Daemon("--models-directory", str(models), "--models-watch-ms", "20", "--admin-socket", str(root / "admin"), *flags, model=None) as daemon:
            expected = daemon.translate(text).json["translatedText"]
            client = threading.Thread(target=ask)
            client.start()
            try:
                for number, damage in enumerate(damages, 1):
                    replace(number, damage)
                    wait_until(lambda: daemon.log.count("and the one in memory stays: ") == number, what="the look at the newcomer")
                    admin = Client(root / "admin")
                    admin.request("GET", "/models/en-de")
                    model = json.loads(admin.getresponse().read())
                    admin.close()
                    self.assertEqual(model["state"], "ready")
                    self.assertIn("what lies in its directory now cannot be served: ", model["reason"])
                n_before = len(answers)
                wait_until(lambda: len(answers) > n_before + 3, what="answers after it")
                self.assertEqual(set(answers), {(200, expected)})
                self.assertNotIn("reason", daemon.get("/models/en-de").json)

                replace("good", lambda fresh: None, seed=1)
                wait_until(lambda: answers[-1][1] != expected, what="the good one")
                n_before = len(answers)
                wait_until(lambda: len(answers) > n_before + 3, what="answers after it")
            finally:
                is_over.set()
                client.join()
            self.assertEqual({status for status, _ in answers}, {200})
            self.assertEqual(len({answer for _, answer in answers}), 2)

    def test_a_directory_without_models_is_served_until_there_are_some(self):
        with tempfile.TemporaryDirectory() as root, Daemon("--models-directory", root, model=None) as daemon:
            self.assertIn(": 0 models of a directory, ", daemon.log)

    def test_a_broken_model_says_so_and_leaves_the_others_alone(self):
        root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, root)
        make_model(root / "en-de")
        weights = make_model(root / "de-fr", "de", "fr") / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-4096])
        make_model(root / "en-fr", "en", "fr")
        (root / "en-fr" / "model.safetensors").unlink()
        with Daemon("--models-directory", str(root), model=None) as daemon:
            # What is wrong with the weights' content is seen when they are loaded.
            self.assertIn(": 2 models of a directory, and 1 that cannot be served, ", daemon.log)
            for _ in range(2):
                for fields in ({"source": "de", "target": "fr"}, {"model": "de-fr", "source": "de", "target": "fr"},
                               {"source": "en", "target": "fr"}):
                    reply = daemon.translate("Hello.", **fields)
                    self.assertEqual(reply.status, 503, (fields, reply))
                    self.assertIn("cannot be served now", reply.error)
                    self.assertIn("retry-after", reply.headers)
                self.assertEqual(daemon.translate("Hello.").status, 200)
            self.assertEqual(daemon.get("/models/de-fr").json["state"], "failed")
            self.assertGreater(daemon.metrics()['attentiond_rejected_total{reason="model"}'], 0)
            self.assertEqual(daemon.get("/health/ready").status, 200)

    def test_a_longest_translation_for_larger_models_leaves_a_smaller_one_its_own(self):
        root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, root)
        make_model(root / "en-de")
        with Daemon("--models-directory", str(root), model=None) as daemon:
            expected = daemon.translate("Hello.").body
        with Daemon("--models-directory", str(root), "--max-decoding-length", "65536", model=None) as daemon:
            reply = daemon.translate("Hello.")
            self.assertEqual((reply.status, reply.body), (200, expected))
            self.assertEqual(daemon.translate("Hello.", max_decoding_length=65536).status, 400)

    def test_the_alignment_is_the_one_that_the_models_file_names(self):
        root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, root)
        make_model(root / "en-de")
        (root / "en-de/attentiond.json").write_text('{"alignment_layers": "-1", "alignment_heads": [3, 6], "alignment_shift": "input"}')
        with Daemon("--models-directory", str(root), model=None) as daemon:
            body = json.dumps({"q": "Hello.", "source": "en", "target": "de"}).encode()
            reply = daemon.request("POST", "/attention", body, {"Content-Type": "application/json"})
            alignment = reply.json["sentences"][0]["alignment"]
            self.assertEqual([alignment[name] for name in ("layers", "heads", "mode", "shift")], [[2], [3, 6], "mean", "input"])

    def test_a_model_that_is_damaged_in_memory_is_loaded_anew(self):
        root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, root)
        make_model(root / "models" / "en-de")
        flags = ("--models-directory", str(root / "models"), "--cache-dir", str(root / "cache"), "--precision", "int8")
        with Daemon(*flags, model=None) as daemon:
            expected = daemon.translate("Hello.").body
            wait_until(lambda: list((root / "cache").glob("*en-de.int8.safetensors")), what="the packed weights")
        packed, = (root / "cache").glob("*en-de.int8.safetensors")
        with Daemon(*flags, model=None) as daemon:  # which finds the weights packed, and maps them
            self.assertEqual(daemon.translate("Hello.").body, expected)
            with open(packed, "r+b") as file:
                file.truncate(packed.stat().st_size // 2)
            wait_until(lambda: "it is loaded anew for the next request" in daemon.log, what="a look at the file")
            reply = daemon.translate("Hello.")
            self.assertEqual((reply.status, reply.body), (200, expected))
            self.assertEqual(daemon.get("/models/en-de").json["use"]["loads"], 2)

    def test_packed_weights_are_kept_after_the_first_answer(self):
        root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, root)
        make_model(root / "models" / "en-de")
        flags = ("--models-directory", str(root / "models"), "--precision", "int8")
        with Daemon(*flags, "--cache-dir", "/proc/none", model=None) as daemon:
            expected = daemon.translate("Hello.").body
            wait_until(lambda: "packed weights are not kept" in daemon.log, what="a warning")
            self.assertEqual(daemon.translate("Hello.").body, expected)
        kept = []
        for _ in range(2):
            with Daemon(*flags, "--cache-dir", str(root / "cache"), model=None) as daemon:
                self.assertEqual(daemon.translate("Hello.").body, expected)
                wait_until(lambda: list((root / "cache").glob("*en-de.int8.safetensors")), what="the packed weights")
                self.assertNotIn("not kept", daemon.log)
            kept.append([(path.name, path.stat().st_ino) for path in (root / "cache").iterdir()])
        self.assertEqual(len(kept[0]), 1)
        self.assertEqual(kept[0], kept[1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
