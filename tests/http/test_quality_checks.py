"""Noise in, and what the reply says of the rubbish that comes out: no crash, no end of it, flagged."""

import collections
import concurrent.futures
import json
import random
import re
import string
import unittest

from serve import ROOT, Daemon

SCRIPTS = [0x41, 0x410, 0x5D0, 0x627, 0x4E00, 0x3041, 0xE01, 0x391]


def word(chance, first=97, n=26, longest=9):
    return "".join(chr(first + chance.randrange(n)) for _ in range(chance.randrange(1, longest + 1)))


def numbers_of(reply):
    return [w for w in reply.json["warnings"] if w["kind"] == "numbers"]


NOISE = [
    lambda c: word(c, longest=300),
    lambda c: " ".join([c.choice(["no", "the", "dog", "ha"])] * c.randrange(2, 120)),
    lambda c: "".join(c.choice(string.digits) for _ in range(c.randrange(1, 600))),
    lambda c: "".join(chr(c.choice([0x1F600, 0x1F44D, 0x2764, 0x1F468])) for _ in range(c.randrange(1, 60))),
    lambda c: " ".join(word(c, c.choice(SCRIPTS), 26) for _ in range(20)),
    lambda c: "".join(c.choice("?!.,;:-()[]\"'") for _ in range(c.randrange(1, 100))),
    lambda c: " ".join(word(c) for _ in range(c.randrange(1, 50))),
    lambda c: c.choice("aZ0\u00e9\u5b57") * c.randrange(1, 300),
    lambda c: "".join(chr(c.choice([c.randrange(32, 0x2FFF), c.randrange(0x10000, 0x1FFFF)]))
                      for _ in range(c.randrange(1, 80))),
]

# Three or more characters that are not all one, six times in a row: nobody says that.
LOOP = re.compile(r"(.{3,30}?)\1{5}")


def loops(text):
    return any(len(set(m.group(1))) > 1 for m in LOOP.finditer(text))


class QualityChecks(unittest.TestCase):
    """Without what the model is unsure of, which of the small test model's translations many are."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--min-probability", "0").start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def kinds(self, q, **fields):
        reply = self.daemon.translate(q, **fields)
        self.assertEqual(reply.status, 200, reply)
        return {w["kind"] for w in reply.json.get("warnings", [])}

    def test_noise_is_translated_and_flagged_where_it_loops(self):
        chance = random.Random(4)
        n_loops = 0
        for kind, make in enumerate(NOISE):
            texts = [make(chance) for _ in range(8)]
            reply = self.daemon.translate(texts, beam_size=1, post_edit=kind % 2 == 0, max_decoding_length=255)
            self.assertEqual(reply.status, 200, reply)
            flagged = {w["text"] for w in reply.json.get("warnings", [])}
            for i, (source, text) in enumerate(zip(texts, reply.json["translatedText"])):
                with self.subTest(kind=kind, source=source):
                    self.assertLess(len(text), 20 * len(source) + 3000)
                    if loops(text) and not loops(source):
                        n_loops += 1
                        self.assertIn(i, flagged, text)
        self.assertGreater(n_loops, 2)

    def test_ten_thousand_digits(self):
        chance = random.Random(1)
        digits = "".join(chance.choice(string.digits) for _ in range(10000))
        steps = "attentiond_decode_step_seconds_count"
        before = self.daemon.metrics()[steps]
        for fields in ({}, {"format": "html"}, {"split_sentences": "off"}, {"alternatives": 2, "beam_size": 3}):
            reply = self.daemon.translate(digits, **fields).json
            self.assertEqual(reply["translatedText"], digits)
            self.assertNotIn("warnings", reply)
        self.assertEqual(self.daemon.metrics()[steps], before)
        reply = self.daemon.translate(f"I see {digits} here.").json
        self.assertIn(f" {digits} ", reply["translatedText"])
        self.assertEqual({w["kind"] for w in reply["warnings"]}, {"cut"})

    def test_ordinary_sentences_are_not_flagged(self):
        texts = ["Where is the train station?", "No, no, no!", "I have two brothers. They are very, very old.",
                 "Ha ha ha ha ha!", "Hello.\n\nGood bye."]
        for fields in ({}, {"alternatives": 2}, {"format": "html"}):
            self.assertNotIn("warnings", self.daemon.translate(texts, **fields).json)

    def test_what_the_limit_ended_is_truncated(self):
        text = "My brother has never seen the old house on the hill."
        self.assertEqual(self.kinds(text, max_decoding_length=4), {"truncated", "length"})
        self.assertEqual(self.kinds(text, max_decoding_length=60), set())

    def test_what_runs_away_ends_at_a_limit_by_its_source(self):
        text = "9465757510049618079875596442147360101039785582025130688963150711640"
        tokens = "attentiond_target_tokens_total"

        def count(daemon, **fields):
            before = daemon.metrics()[tokens]
            # With an alignment the model is shown what it cannot translate, too.
            reply = daemon.translate(text, alignment=True, **fields).json
            self.assertIn("truncated", {w["kind"] for w in reply["warnings"]})
            return daemon.metrics()[tokens] - before

        limit = count(self.daemon)
        for n_beams in (1, 2, 8):
            self.assertEqual(count(self.daemon, beam_size=n_beams), limit)
        self.assertEqual(count(self.daemon, max_decoding_length=200), 200)
        with Daemon("--max-length-factor", "0") as daemon:
            self.assertEqual(count(daemon), 255)
        with Daemon("--max-length-factor", "2") as daemon:
            self.assertEqual(count(daemon), limit * 2 / 3)

    def test_what_is_too_short_has_a_wrong_length(self):
        text = "My brother has never seen the old house on the hill near the river, and neither have I."
        self.assertEqual(self.kinds(text, max_decoding_length=2), {"truncated", "length"})

    def test_sentences_are_named_and_counted(self):
        chance = random.Random(2)
        texts = ["Hello.", "Hello. How are you? " + " ".join(word(chance) for _ in range(400))]
        before = self.daemon.metrics()
        reply = self.daemon.translate(texts, beam_size=1).json
        self.assertEqual(list(reply), ["translatedText", "warnings"])
        self.assertEqual({w["text"] for w in reply["warnings"]}, {1})
        self.assertGreaterEqual(min(w["sentence"] for w in reply["warnings"]), 2)
        self.assertIn("cut", {w["kind"] for w in reply["warnings"]})
        after = self.daemon.metrics()
        counted = collections.Counter(w["kind"] for w in reply["warnings"])
        for kind in ("repetition", "length", "truncated", "cut"):
            name = f'attentiond_warnings_total{{kind="{kind}"}}'
            self.assertEqual(after[name] - before[name], counted[kind], kind)

    def test_settings_switch_them_off(self):
        text = "9465757510049618079875596442147360101039785582025130688963150711640"
        self.assertIn("repetition", self.kinds(text, alignment=True))
        with Daemon("--max-repeats", "0", "--max-length-ratio", "0", "--min-probability", "0") as daemon:
            reply = daemon.translate([text, "My brother has never seen the old house on the hill."], max_decoding_length=90,
                                     alignment=True)
            self.assertLessEqual({w["kind"] for w in reply.json.get("warnings", [])}, {"truncated", "cut", "numbers", "unsure"})

    def test_numbers_are_put_right_and_named(self):
        """In all forms of a request, the same bytes each time; without an alignment of its own, and not in streams."""
        text = "There are 365 days in a year."
        wrong = self.daemon.translate(text, repair_numbers=False).json["warnings"][0]["added"]
        warning = {"added": wrong, "kind": "numbers", "missing": ["365"], "repaired": ["365"], "sentence": 0, "text": 0}
        metric = 'attentiond_warnings_total{kind="numbers"}'
        before = self.daemon.metrics()[metric]
        reply = self.daemon.translate(text).json
        self.assertEqual(self.daemon.metrics()[metric] - before, 1)
        self.assertNotIn("365", wrong)
        self.assertEqual(reply, {"translatedText": "Es gibt 365 Tage in einem Jahr.", "warnings": [warning]})
        bodies = {self.daemon.translate(text).body for _ in range(4)}
        self.assertEqual(len(bodies), 1)
        reply = self.daemon.translate(["Hello.", "I love it. " + text]).json
        self.assertIn("365 Tage", reply["translatedText"][1])
        self.assertEqual(reply["warnings"], [warning | {"text": 1, "sentence": 1}])
        reply = self.daemon.translate("<p>There are <b>365</b> days in a year.</p>", format="html").json
        self.assertIn("<b>365</b>", reply["translatedText"])
        reply = self.daemon.translate(text, return_sentences=True).json
        self.assertEqual(reply["sentences"][0]["target"]["text"], reply["translatedText"])
        for fields in ({"repair_numbers": False}, {"alignment": True}):
            reply = self.daemon.translate(text, **fields).json
            self.assertIn(f"{wrong[0]} Tage", reply["translatedText"])
            self.assertEqual([w for w in reply["warnings"] if w["kind"] == "numbers"],
                             [{k: v for k, v in warning.items() if k != "repaired"}])
        self.assertEqual(self.daemon.translate(text, repair_numbers="maybe").status, 400)
        with Daemon("--repair-numbers=false") as daemon:
            self.assertIn(f"{wrong[0]} Tage", daemon.translate(text).json["translatedText"])
            self.assertIn("365 Tage", daemon.translate(text, repair_numbers=True).json["translatedText"])

    def test_where_memory_is_short_repairs_are_left_out_and_that_is_said(self):
        """There is room for two of these requests; the others were refused with 503."""
        text, unaligned = "There are 365 days in a year. " * 40, {"kind": "unaligned", "sentence": 0, "text": 0}
        with Daemon("--max-attention-values", "400000") as daemon:
            with concurrent.futures.ThreadPoolExecutor(16) as clients:
                replies = list(clients.map(lambda _: daemon.translate(text), range(32)))
            self.assertEqual({reply.status for reply in replies}, {200}, replies)
            for reply in replies:
                numbers = numbers_of(reply)
                is_whole = all("repaired" in w for w in numbers)
                self.assertEqual(len(numbers), 40)
                self.assertEqual(sum(w["kind"] == "unaligned" for w in reply.json["warnings"]), not is_whole)
                self.assertEqual("30 Tage" in reply.json["translatedText"], not is_whole)
            self.assertFalse(all("repaired" in numbers_of(reply)[0] for reply in replies))
            self.assertTrue(all("repaired" in w for w in numbers_of(daemon.translate(text))))
        with Daemon("--max-attention-values", "100") as daemon:  # none
            reply = daemon.translate(["Hello.", "There are 365 days in a year."]).json
            self.assertEqual([w["kind"] for w in reply["warnings"] if w["kind"] != "unsure"], ["numbers", "unaligned"])
            self.assertIn(unaligned | {"text": 1}, reply["warnings"])
            reply = daemon.translate("<p>The <b>old</b> house.</p><p>I like it.</p>", format="html", glossary={"house": "Haus"}).json
            self.assertEqual((reply["translatedText"], reply["terms"][0]["applied"], reply["warnings"]),
                             ("<p>Das <b>alte</b> Haus.</p><p>Ich mag es.</p>", 1, [unaligned]))
            self.assertNotIn("warnings", daemon.translate("I have 2 dogs.").json)  # nothing was to be put right
            self.assertEqual(daemon.translate("I have 2 dogs.", alignment=True).status, 413)

    def test_glossaries_and_placeholders_bring_their_own_numbers(self):
        reply = self.daemon.translate("Is error 404 there?", glossary={"error 404": "Fehler 404"}).json
        self.assertIn("Fehler 404", reply["translatedText"])
        self.assertNotIn("404", json.dumps([w for w in reply.get("warnings", []) if w["kind"] == "numbers"]))
        reply = self.daemon.translate("Write to https://example.org/365/404 today.").json
        self.assertNotIn("numbers", {w["kind"] for w in reply.get("warnings", [])})

    def test_a_text_in_another_language_is_flagged(self):
        german = "Wo ist denn hier bitte der nächste Bahnhof, und wann fährt der Zug?"
        self.assertIn("source_language", self.kinds(german))
        self.assertNotIn("source_language", self.kinds("Where is the next station, and when does the train leave?"))

    def test_deepl_s_route_and_files_have_them_too(self):
        text = "There are 365 days in a year."
        reply = self.daemon.request("POST", "/v2/translate", {"text": ["Hello.", text], "target_lang": "DE", "source_lang": "EN"})
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual([t["text"] for t in reply.json["translations"]][1], "Es gibt 365 Tage in einem Jahr.")
        self.assertEqual([(w["kind"], w["text"]) for w in reply.json["warnings"]], [("numbers", 1)])


class Unsure(unittest.TestCase):
    """What the model guesses, cannot read or leaves as it is."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--min-probability", "0.38").start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def kinds(self, q, **fields):
        reply = self.daemon.translate(q, **fields)
        self.assertEqual(reply.status, 200, reply)
        return {w["kind"] for w in reply.json.get("warnings", [])}

    def test_a_guess_is_unsure(self):
        before = self.daemon.metrics()
        self.assertIn("unsure", self.kinds("He wears a kilt."))
        metric = 'attentiond_warnings_total{kind="unsure"}'
        self.assertEqual(self.daemon.metrics()[metric] - before[metric], 1)
        for text in ("Where is the train station?", "I am tired.", "I love it."):
            self.assertEqual(self.kinds(text), set())

    def test_a_greedy_search_knows_nothing_of_it(self):
        self.assertEqual(self.kinds("He wears a kilt.", beam_size=1), set())

    def test_a_setting_says_from_which_probability_on(self):
        with Daemon("--min-probability", "0") as daemon:
            self.assertNotIn("warnings", daemon.translate("He wears a kilt.").json)
        with Daemon("--min-probability", "1") as daemon:
            self.assertEqual([w["kind"] for w in daemon.translate("I love it.").json["warnings"]], ["unsure"])
        with self.assertRaises(AssertionError):
            Daemon("--min-probability", "1.5").start()

    def test_what_the_vocabulary_lacks_is_unreadable(self):
        self.assertIn("unreadable", self.kinds("I study \u6771\u4eac history.", alignment=True))


class Bundled(unittest.TestCase):
    """What only better models do."""

    def kinds(self, model, texts):
        with Daemon("--min-probability", "0.38", model=str(ROOT / "weights" / model)) as daemon:
            reply = daemon.translate(texts, target=model[-2:]).json
            found = [set() for _ in texts]
            for warning in reply.get("warnings", []):
                found[warning["text"]].add(warning["kind"])
            return dict(zip(texts, found)), reply["translatedText"]

    def test_words_of_the_source_that_were_left(self):
        found, texts = self.kinds("en-fr", ["They stayed at a luxury hotel.", "The table is long.", "The police have an important question."])
        self.assertIn("luxury", texts[0])
        self.assertIn("table", texts[1])
        self.assertEqual(list(found.values()), [{"source_words"}, set(), set()])

    def test_a_short_run_of_letters_or_points_is_no_repetition(self):
        found, texts = self.kinds("en-de", ["Grrrr!", "Wait....", "Hellooo everybody"])
        self.assertIn("rrr", texts[0])
        self.assertEqual(list(found.values()), [set()] * 3)


if __name__ == "__main__":
    unittest.main()
