#!/usr/bin/env python3
"""weights/recipe/prepare.py and augment.py on a few lines: what they change on one side they change on the other, in its
notation; what models are measured on is not trained on; the same seed makes the same files. Needs neither data nor torch."""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RECIPE = os.path.join(ROOT, "weights", "recipe")
sys.path[:0] = [RECIPE, os.path.join(ROOT, "tests", "bench")]
import augment  # noqa: E402
import prepare  # noqa: E402
import quality  # noqa: E402
import transfer  # noqa: E402

N_SEEDS = 300
N_SEEDS_OF_A_TEMPLATE = 40


def drawn(function, *arguments):
    """What a function of augment makes with many seeds."""
    for seed in range(N_SEEDS):
        made = function(random.Random(seed), *arguments)
        if made:
            yield made


class Notation(unittest.TestCase):
    def test_amounts_are_written_as_each_language_does(self):
        for arguments, expected in (
                (("en", "1250000", "", True), "1,250,000"), (("de", "1250000", "", True), "1.250.000"), (("de", "7", "50", False), "7,50"),
                (("fr", "1250", "5", True), "1\u202f250,5"), (("ja", "1250", "5", True), "1,250.5"), (("de", "1250", "", False), "1250")):
            self.assertEqual(augment.written(*arguments), expected)

    def test_dates_are_written_as_each_language_does(self):
        for lang, expected in ("de", "Sonntag, 12. Mai 2024"), ("fr", "dimanche 12 mai 2024"), ("ja", "2024年5月12日(日曜日)"):
            self.assertEqual(augment.date_of(lang, 12, 5, 2024, 6), expected)
        self.assertEqual(augment.date_of("fr", 1, 5), "1er mai")

    def test_numbers_are_found_and_their_codes_are_left_alone(self):
        for text, expected in (
                ("In 1999, it cost 1,250.50.", ["1999", "1,250.50"]), ("Room 12-4, v2.1.3, A4, +49 30 123", ["30", "123"]), ("At 9:45.", ["9:45"]),
                ("the 3rd of 7", ["7"])):
            self.assertEqual([token for _, _, token in augment.find_numbers(text, "en")], expected, text)

    def test_a_target_gets_its_own_notation(self):
        for source, target, expected in (
                ("It costs 7.50 euros.", "Es kostet 7.50 Euro.", "Es kostet 7,50 Euro."), ("1,500 cows", "1500 Kühe", "1.500 Kühe"),
                ("14,000 men", "14 000 Männer", "14.000 Männer"), ("It is $37.23.", "Es macht $37.23.", "Es macht 37,23 $."),
                ("In 1999", "Im Jahr 1999", "Im Jahr 1999")):
            self.assertEqual(augment.canonical_numbers(source, target, "de"), expected)


class Everyday(unittest.TestCase):
    def test_times_of_day_are_written_as_each_language_does(self):
        for lang, minutes, afternoon in ("de", r"(\d+)(?::(\d\d))? Uhr", None), ("fr", r"(\d+) h(?: (\d\d))?", None), ("ja", r"(?:午[前後])?(\d+)時(?:(\d+)分)?", "午後"):
            for english, other in drawn(augment.make_clock, lang):
                left, right = re.fullmatch(r"(\d+)(?::(\d\d))? ?([ap]\.?m\.?)?", english, re.IGNORECASE), re.fullmatch(minutes, other)
                self.assertTrue(left and right, (english, other))
                self.assertEqual(int(left[2] or 0), int(right[2] or 0), (english, other))
                hour, said = int(left[1]), int(right[1])
                if left[3] and left[3][0] in "pP" and hour != 12:
                    hour += 12
                if afternoon and other.startswith(afternoon):
                    said += 12
                self.assertEqual(hour, said, (english, other))

    def test_every_line_has_all_languages_and_the_same_slots(self):
        for name in augment.EVERYDAY:
            for fields in augment.lines_beside(f"everyday/{name}.tsv"):
                self.assertEqual([len(fields), all(text and text == text.strip() for text in fields)], [4, True], fields)
                self.assertEqual(len({tuple(sorted(augment.SLOT.findall(text))) for text in fields}), 1, fields)

    def test_sentences_are_pairs_and_what_has_slots_is_not(self):
        for lang in "de", "fr", "ja":
            found = prepare.pairs_of(next(source for source in prepare.SOURCES if source.name == "everyday"), argparse.Namespace(lang=lang, pairs="nowhere"))
            self.assertGreater(len(found), 1000)
            self.assertFalse([pair for pair in found if augment.SLOT.search("".join(pair))])

    def test_quoted_words_get_the_marks_of_the_language(self):
        for lang, expected in ("de", "„Hund“"), ("fr", "« Hund »"), ("ja", "「Hund」"):
            self.assertEqual({other for _, other in drawn(augment.quoted, "dog", "Hund", lang)}, {expected})


class Japanese(unittest.TestCase):
    def test_targets_have_no_blanks_and_the_marks_of_japanese(self):
        for text, expected in (
                ("２０１７ 年 ７ 月 に", "2017年7月に"), ("元気ですか?", "元気ですか？"), ("すごい!!", "すごい！！"), ("１０～２０ 分", "10\uff5e20分"), ("Tom は Google Chrome を使う。", "TomはGoogle Chromeを使う。"),
                ("{count} 件", "{count} 件"), ("%s は 3 回", "%s は3回"), ("OK?", "OK?")):
            self.assertEqual(prepare.clean_target(text, "ja"), expected)

    def test_digits_may_stand_for_months_and_words(self):
        for source, target in (
                ("It was in March 2011.", "2011年3月でした。"), ("Three men came at ten.", "10時に3人の男が来た。"), ("Six cans of beer and one glass", "ビール6缶とグラス1つ"), ("She came twice.", "彼女は2回来た。"),
                ("A thousand dollars", "1000ドル"), ("the third day", "3日目"), ("Philip II", "フィリップ2世"), ("Oct 5, 1999", "1999年10月5日")):
            self.assertIsNone(prepare.problem(source, target, "ja", "tatoeba"), source)
        for source, target in (
                ("It was in March 2011.", "2011年4月でした。"), ("Three men came.", "4人の男が来た。"), ("It was in 2011.", "3月でした。"), ("in 1999 and 2000", "1999年に"), ("There were few rainy days in August.", "2月は雨の日が少なかった。"),
                ("Mary decided to marry.", "メアリーは3月に結婚を決めた。"), ("from 3 to 3", "3から5まで")):
            self.assertEqual(prepare.problem(source, target, "ja", "tatoeba"), "other numbers", source)


class Changes(unittest.TestCase):
    def check_numbers(self, source, target):
        self.assertEqual(quality.numbers(source), quality.numbers(target), (source, target))

    def test_other_numbers_are_the_same_on_both_sides(self):
        for pair in (("I paid 7.50 euros on page 12.", "Ich habe auf Seite 12 7,50 Euro bezahlt."), ("The city has 1,250,000 people.", "Die Stadt hat 1.250.000 Menschen."),
                     ("It is 9:45.", "Es ist 9:45 Uhr."), ("In 1987, 365 ships sank.", "1987 sanken 365 Schiffe."), ("Come at 7.", "Komm um 7 Uhr.")):
            made = list(drawn(augment.replace_numbers, *pair, "de"))
            self.assertEqual(len(made), N_SEEDS)
            self.assertGreater(len(set(made)), 5, pair)
            for source, target in made:
                self.check_numbers(source, target)
                self.assertEqual(re.sub(r"[\d.,:]+", "#", source), re.sub(r"[\d.,:]+", "#", pair[0]))

    def test_one_stays_one(self):
        self.assertIsNone(augment.replace_numbers(random.Random(1), "1 file", "1 Datei", "de"))
        for source, _ in drawn(augment.replace_numbers, "7 files", "7 Dateien", "de"):
            self.assertNotEqual(source, "1 files")

    def test_numbers_that_differ_stay(self):
        self.assertIsNone(augment.replace_numbers(random.Random(1), "It is 2:30.", "Es ist halb 3.", "de"))

    def test_words_become_numbers_where_both_have_them(self):
        for source, target in drawn(augment.numbers_for_words, "Tom has twenty-five cats.", "Tom hat fünfundzwanzig Katzen.", "de"):
            self.check_numbers(source, target)
            self.assertRegex(source, r"^Tom has [\d,]+ cats\.$")
        self.assertIsNone(augment.numbers_for_words(random.Random(1), "It is half past six.", "Es ist halb sieben.", "de"))
        self.assertIsNone(augment.numbers_for_words(random.Random(1), "She has two of them.", "Sie hat beide.", "de"))

    def test_other_dates(self):
        for source, target in drawn(augment.replace_dates, "It was on May 12, 2024.", "Es war am 12. Mai 2024.", "de"):
            day, month, year = re.fullmatch(r"Es war am (\d+)\. (\w+) (\d+)\.", target).groups()
            english = augment.MONTHS["en"][augment.MONTHS["de"].index(month)]
            self.assertIn(source, (f"It was on {english} {day}, {year}.", f"It was on {day} {english} {year}."))

    def test_other_dates_and_numbers_in_japanese(self):
        for source, target in drawn(augment.replace_dates, "It was on May 12, 2024.", "2024年5月12日でした。", "ja"):
            year, month, day = re.fullmatch(r"(\d+)年(\d+)月(\d+)日でした。", target).groups()
            english = augment.MONTHS["en"][int(month) - 1]
            self.assertIn(source, (f"It was on {english} {day}, {year}.", f"It was on {day} {english} {year}."))
        for source, target in drawn(augment.numbers_for_words, "Tom has three cats.", "トムは猫を3匹飼っている。", "ja"):
            self.check_numbers(source, target)
            self.assertRegex(target, r"^トムは猫を[\d,]+匹飼っている。$")
        self.assertIsNone(augment.numbers_for_words(random.Random(1), "It was in March, three years ago.", "3年前の3年生だった。", "ja"))

    def test_other_names_are_the_same_wherever_they_stand(self):
        for source, target in drawn(augment.replace_names, "Mary said Tom's dog bit Tom.", "Maria sagte, Toms Hund habe Tom gebissen."):
            name = re.fullmatch(r".+ said (.+)'s dog bit \1\.", source)[1]
            self.assertIn(f"{name}s Hund habe {name} gebissen", target)
            self.assertTrue(target.startswith(source.partition(" said")[0] + " sagte"), (source, target))

    def test_other_places(self):
        made = set(drawn(augment.replace_places, "I live in Munich.", "Ich wohne in München."))
        self.assertIn(("I live in Vienna.", "Ich wohne in Wien."), made)

    def test_placeholders_become_what_the_server_makes_of_them(self):
        for source, target in drawn(augment.stand_ins, "%1$s sent {count} files", "{count} Dateien von %1$s"):
            match = re.fullmatch(r"(\w+) sent (\w+) files", source)
            self.assertEqual(target, f"{match[2]} Dateien von {match[1]}")
            self.assertIn(match[1], augment.STAND_INS)
            self.assertIn(match[2], augment.STAND_IN_NUMBERS)
        self.assertIsNone(augment.stand_ins(random.Random(1), "%s files", "Dateien"))

    def test_the_server_has_those_words(self):
        with open(os.path.join(ROOT, "server", "text", "substitutes.c"), encoding="utf-8") as file:
            text = file.read()
        for name, words in (("names", augment.STAND_INS), ("numbers", augment.STAND_IN_NUMBERS)):
            listed = re.search(rf"const {name}\[\] = \{{(.*?)\}}", text, re.S)[1]
            self.assertEqual(re.findall(r'"(\w+)"', listed), words)

    def test_templates_have_the_same_slots_and_numbers_on_both_sides(self):
        for lang in "de", "fr", "ja":
            for template in augment.templates(lang):
                self.assertEqual(len(template), 2, template)
                self.assertEqual(sorted(augment.SLOT.findall(template[0])), sorted(augment.SLOT.findall(template[1])), template)
                for seed in range(N_SEEDS_OF_A_TEMPLATE):
                    source, target = augment.fill(random.Random(seed), *template, lang)
                    # 9 p.m. is 21 Uhr: Everyday looks at times of day.
                    self.assertTrue("{clock" in template[0] or quality.keeps_numbers(source, target), (source, target))
                    self.assertNotIn("{", source + target)
                    self.assertFalse(source.endswith(".."), source)

    def test_changes_are_the_seed_s(self):
        pair = "Tom paid 7.50 euros to three men from Boston on May 12.", "Tom zahlte drei Männern aus Boston am 12. Mai 7,50 Euro."
        self.assertEqual([augment.changed(random.Random(i), *pair, "de") for i in range(50)], [augment.changed(random.Random(i), *pair, "de") for i in range(50)])


TATOEBA = """Tom has three cats.	Tom hat drei Katzen.	and more
I live in Boston.	Ich wohne in Boston.
I live in Boston.	Ich lebe in Boston.
The ticket costs 7.50 euros.	Die Karte kostet 7.50 Euro.
It is half past six, isn't it?	Es ist 6:30 Uhr, oder nicht?
How are you today?	Wie geht es dir heute?
Who will pay the bill?	Wer zahlt die Rechnung?
"""
INTERFACE = """Delete file	Datei löschen
Open **settings**	„Einstellungen“ öffnen
%s files	Dateien
{count} new mails from %s	{count} neue Mails von %s
Users	Benutzer:innen
Save changes	Änderungen speichern
"""
OTHER_INTERFACE = "Delete file\tDatei löschen\nSave changes\tSpeichere\n"


class Files(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.pairs = os.path.join(self.directory.name, "pairs")
        os.mkdir(self.pairs)
        for name, text in (("tatoeba", TATOEBA), ("android-aosp", INTERFACE), ("wekan", OTHER_INTERFACE), ("bcontrast-chat", "Where is my tram?\tWo bleibt die Straßenbahn?\n"),
                           ("never", "WHO will pay the bill\tirrelevant\n")):
            with open(os.path.join(self.pairs, name + ".tsv"), "w", encoding="utf-8") as file:
                file.write(text)

    def prepare(self, *flags):
        out = os.path.join(self.directory.name, "out")
        subprocess.run([sys.executable, "-B", os.path.join(RECIPE, "prepare.py"), self.pairs, out, "--never", os.path.join(self.pairs, "never.tsv"),
                        "--per-template", "2", "--bare", "20", *flags], check=True, capture_output=True)
        with open(os.path.join(out, "train.tsv"), encoding="utf-8") as file:
            return file.read()

    def test_what_is_trained_on(self):
        text = self.prepare()
        rows = [line.split("\t") for line in text.splitlines()]
        found = [(english, other) for _, name, english, other in rows if name[0] != "+"]
        self.assertIn(("The ticket costs 7.50 euros.", "Die Karte kostet 7,50 Euro."), found)
        self.assertIn(("I live in Boston.", "Ich lebe in Boston."), found)
        self.assertIn(("Open settings", "„Einstellungen“ öffnen"), found)
        self.assertEqual([other for english, other in found if english in ("Save changes", "Delete file")], ["Datei löschen", "Änderungen speichern"])
        sources = {english for _, _, english, _ in rows}
        for left_out in "Who will pay the bill?", "%s files", "Users", "It is half past six, isn't it?":
            self.assertNotIn(left_out, sources)
        self.assertTrue(any(name == "+templates" for _, name, _, _ in rows))

    def test_the_same_seed_makes_the_same_file(self):
        self.assertEqual(self.prepare(), self.prepare())
        self.assertNotEqual(self.prepare(), self.prepare("--seed", "2"))

    def test_share_alike_sources_can_be_left_out(self):
        self.assertIn("Straßenbahn", self.prepare())
        self.assertNotIn("Straßenbahn", self.prepare("--no-share-alike"))

    def test_weights_are_those_of_the_command_line(self):
        text = self.prepare("--weights", "wekan=5", "interface*3", "prose*0.5", "bcontrast-chat=1.5")
        of_sentence = {english: float(weight) for weight, _, english, _ in (line.split("\t") for line in text.splitlines())}
        for sentence, weight in ("I live in Boston.", 0.5), ("Open settings", 6), ("Save changes", 6), ("Where is my tram?", 1.5):
            self.assertAlmostEqual(of_sentence[sentence], weight, msg=sentence)
        for wrong in "wekan", "wekan=", "wekan=-1", "wekan*2", "nobody=2", "interface=2":
            with self.assertRaises(subprocess.CalledProcessError, msg=wrong):
                self.prepare("--weights", wrong)

    def test_the_split_is_that_of_the_models_before(self):
        # The first lines of their development set and of their training pairs.
        for sentence, expected in ("Do it now.", "dev"), ("do it, NOW", "dev"), ("Here I am.", "dev"), ("Hi.", "train"), ("Run!", "train"):
            self.assertEqual(prepare.split_of(sentence), expected, sentence)


class Transfer(unittest.TestCase):
    OLD = {"</s>": 0, "<unk>": 1, "▁": 2, "▁de": 3, "bug": 4, "b": 5, "u": 6, "g": 7, "s": 8, "x": 9, "<pad>": 10}

    def test_an_equal_vocabulary_keeps_every_row(self):
        self.assertEqual(transfer.rows_of(list(self.OLD)[:-1], self.OLD), [[i] for i in range(11)])

    def test_new_pieces_are_spelled_by_the_fewest_old_ones(self):
        every = list(range(10))
        for piece, expected in ("▁debugs", [3, 4, 8]), ("▁bus", [2, 5, 6, 8]), ("b&g", [5, 7]), ("&", every), ("<0x62>", every), ("<unk>", [1]):
            self.assertEqual(transfer.rows_of([piece], self.OLD), [expected, [10]], piece)


if __name__ == "__main__":
    unittest.main()
