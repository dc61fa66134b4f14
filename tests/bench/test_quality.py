"""The scores of quality.py against examples worked out by hand."""

import math
import pathlib
import re
import unittest

import quality


class Tokenize13a(unittest.TestCase):
    def test_what_is_one_token(self):
        for text, expected in (
                ("", []),
                ("  \t ", []),
                ("Hallo Welt", ["Hallo", "Welt"]),
                ("Hallo, Welt!", ["Hallo", ",", "Welt", "!"]),
                ("Ende.", ["Ende", "."]),
                ("Ende.\n", ["Ende", "."]),
                ("so ...", ["so", ".", ".", "."]),
                ("3.14 und 1,000", ["3.14", "und", "1,000"]),
                ("1990.", ["1990", "."]),
                ("v2.b", ["v2", ".", "b"]),
                (".5", [".", "5"]),
                ("don't", ["don't"]),                      # the apostrophe stays
                ("rot-grün", ["rot-grün"]),                # the hyphen too,
                ("1980-ies", ["1980", "-", "ies"]),        # but not behind a digit
                ("(a/b)", ["(", "a", "/", "b", ")"]),
                ("a&b {c} [d] #e", ["a", "&", "b", "{", "c", "}", "[", "d", "]", "#", "e"]),
                ("&quot;x&quot; &lt;&amp;&gt;", ['"', "x", '"', "<", "&", ">"]),
                ("ab<skipped>cd", ["abcd"]),
                ("„Äh“ — ja", ["„Äh“", "—", "ja"])):       # not ASCII: not split
            with self.subTest(text=text):
                self.assertEqual(quality.tokenize_13a(text), expected)


class Bleu(unittest.TestCase):
    def check(self, expected, hypotheses, references):
        self.assertAlmostEqual(quality.bleu(hypotheses, references), expected, places=9)

    def test_same_text_is_100(self):
        self.check(100, ["Das ist ein Haus."], ["Das ist ein Haus."])

    def test_one_wrong_word(self):
        # a b c d e against a b x d e: 4 of 5, 2 of 4 (ab, de), 0 of 3, 0 of 2; the orders without a match
        # count 1/2 and 1/4.
        self.check(100 * (4 / 5 * 2 / 4 * (1 / 2) / 3 * (1 / 4) / 2) ** 0.25, ["a b c d e"], ["a b x d e"])

    def test_repeated_words_match_as_often_as_the_reference_has_them(self):
        # the x4 against the cat the: 2 of 4; of the the x3: 0; then 0 of 2, 0 of 1.
        self.check(100 * (2 / 4 * (1 / 2) / 3 * (1 / 4) / 2 * (1 / 8) / 1) ** 0.25, ["the the the the"], ["the cat the x"])

    def test_too_short_is_penalised_and_too_long_is_not(self):
        # 5 of 5, 4 of 4, 3 of 3, 2 of 2; 5 words instead of 8.
        self.check(100 * math.exp(1 - 8 / 5), ["a b c d e"], ["a b c d e f g h"])
        # 5 of 6, 4 of 5, 3 of 4, 2 of 3.
        self.check(100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25, ["a b c d e f"], ["a b c d e"])

    def test_counts_of_all_lines_are_put_together(self):
        # a b c d: 4 3 2 1 of 4 3 2 1; x y z w v against x y z q: 3 2 1 0 of 5 4 3 2. 9 words and 8.
        self.check(100 * (7 / 9 * 5 / 7 * 3 / 5 * 1 / 3) ** 0.25, ["a b c d", "x y z w v"], ["a b c d", "x y z q"])

    def test_nothing_in_common_is_0(self):
        self.check(0, ["a b c d"], ["e f g h"])
        self.check(0, [""], ["a"])
        self.check(0, ["a b c"], ["a b c"])  # no 4-gram: that order cannot be scored

    def test_japanese_is_compared_by_characters(self):
        # 4 of 5 characters, 2 of 4 pairs, none of 3 triples (half a one), none of 2 runs of four (a quarter).
        self.check(100 * (4 / 5 * 2 / 4 * 0.5 / 3 * 0.25 / 2) ** 0.25, ["猫が好 きだ"], ["猫が嫌きだ"])

    def test_case_counts(self):
        self.assertLess(quality.bleu(["das ist ein Haus."], ["Das ist ein Haus."]), 100)

    def test_files_of_different_length_are_an_error(self):
        with self.assertRaises(ValueError):
            quality.bleu(["a"], ["a", "b"])


class Chrf(unittest.TestCase):
    def check(self, expected, hypotheses, references):
        self.assertAlmostEqual(quality.chrf(hypotheses, references), expected, places=9)

    @staticmethod
    def f2(precision, recall):
        return 100 * 5 * precision * recall / (4 * precision + recall)

    def test_same_text_is_100(self):
        self.check(100, ["Das ist ein Haus."], ["Das ist ein Haus."])

    def test_blanks_do_not_count(self):
        self.check(100, [" a b  c "], ["abc"])

    def test_precision_and_recall_are_averaged_over_the_orders(self):
        # abcd against abce: 3 of 4, 2 of 3, 1 of 2, 0 of 1 on both sides.
        mean = (3 / 4 + 2 / 3 + 1 / 2 + 0) / 4
        self.check(self.f2(mean, mean), ["abcd"], ["abce"])

    def test_recall_weighs_more(self):
        # ab against abcd. Orders 1 and 2 alone have n-grams on both sides: 2 of 2, 1 of 1; recalled 2 of 4, 1 of 3.
        self.check(self.f2(1, (2 / 4 + 1 / 3) / 2), ["ab"], ["abcd"])
        # The other way round, orders that the reference has no n-grams of are not held against the longer one.
        self.check(self.f2((2 / 4 + 1 / 3) / 2, 1), ["abcd"], ["ab"])

    def test_counts_of_all_lines_are_put_together(self):
        # aa against ab and b against b. Order 1: 2 matches, 3 and 3; order 2: 0 of 1 and 1.
        self.check(self.f2(2 / 3 / 2, 2 / 3 / 2), ["aa", "b"], ["ab", "b"])

    def test_line_that_is_too_short_to_judge_an_order(self):
        # abc against ab, abc against abc. Order 3 of the first line is left out: 1 of 1.
        # Order 1: 5 of 6, 5 of 5; order 2: 3 of 4, 3 of 3; order 3: 1 of 1, 1 of 1.
        self.check(self.f2((5 / 6 + 3 / 4 + 1) / 3, 1), ["abc", "abc"], ["ab", "abc"])

    def test_nothing_in_common_is_0(self):
        self.check(0, ["abc"], ["xyz"])
        self.check(0, [""], ["xyz"])
        self.check(0, [""], [""])


class Interval(unittest.TestCase):
    @staticmethod
    def mean(counts):
        return counts[0] / counts[1]

    def test_same_lines_differ_by_nothing(self):
        counts = [[value, 1] for value in range(50)]
        self.assertEqual(quality.interval(self.mean, counts, counts), (0, 0))

    def test_what_all_lines_gain_is_certain(self):
        # Lines differ much, but each gains 1: that is paired, so chance takes no part.
        low, high = quality.interval(self.mean, [[v, 1] for v in range(50)], [[v + 1, 1] for v in range(50)])
        self.assertAlmostEqual(low, 1)
        self.assertAlmostEqual(high, 1)

    def test_it_is_as_wide_as_theory_says(self):
        # Half of 400 lines gain 1: the mean is 0.5, its standard error 0.5 / sqrt(400), 1.96 of which are 0.049.
        low, high = quality.interval(self.mean, [[0, 1]] * 400, [[i % 2, 1] for i in range(400)])
        self.assertAlmostEqual(low, 0.5 - 0.049, delta=0.008)
        self.assertAlmostEqual(high, 0.5 + 0.049, delta=0.008)

    def test_it_is_the_same_every_time(self):
        counts, others = [[0, 1]] * 30, [[i % 3, 1] for i in range(30)]
        self.assertEqual(quality.interval(self.mean, counts, others), quality.interval(self.mean, counts, others))

    def test_loss_within_chance_is_no_loss_and_few_lines_prove_nothing(self):
        limit = quality.LIMITS["chrF2"]
        self.assertEqual(quality.check_loss("int8", "chrF2", -0.9 * limit, 0.1), [])
        self.assertEqual(quality.check_loss("int8", "chrF2", 0.5, 3 * limit), [])  # a gain
        self.assertEqual(len(quality.check_loss("int8", "chrF2", -1.1 * limit, 0.3)), 1)


class Numbers(unittest.TestCase):
    def test_every_language_writes_them_in_its_way(self):
        for source, translation in (
                ("1,250.50 euros", "1.250,50 Euro"),
                ("1,250,000 people", "1.250.000 Menschen"),
                ("1,250 people", "1250 Menschen"),
                ("1,250 people", "1\u202f250 Menschen"),
                ("7.50 euros", "7,50 Euro"),
                ("version 2.1.3", "Version 2.1.3"),
                ("05/12/2024", "12.05.2024"),
                ("12 May 2024", "12. Mai 2024"),
                ("at 9:45", "um 9.45 Uhr"),
                ("the 3rd floor", "das 3. Stockwerk"),
                ("gate B27", "Gate B27"),
                ("15 %", "15%"),
                ("3 cats and 12 dogs", "drei Katzen und zwölf Hunde"),
                ("3 cats and 1 dog", "trois chats et un chien"),
                ("1,250,000 euros", "1 250 000 euros"),
                ("1,250.5 euros", "1\u202f250,5 euros"),
                ("1,250,000 people", "125万人"),
                ("150,000,000 people", "1億5000万人"),
                ("150,001,234 people", "1億5000万1234人"),
                ("15,500 people", "1.55万人"),
                ("3.4 million people", "340万人"),
                ("1.7 billion euros", "17億ユーロ"),
                ("3.4 million people", "3,4 Millionen Menschen"),
                ("3 cats and 12 dogs", "三匹の猫と十二匹の犬"),
                ("no number", "keine 5")):  # what is added is not looked at
            with self.subTest(source):
                self.assertTrue(quality.keeps_numbers(source, translation))

    def test_what_is_garbled_is_not_kept(self):
        for source, translation in (
                ("365 days", "35 Tage"),
                ("7.50 euros", "70 Euro"),
                ("7.50 euros", "750 Euro"),
                ("error 404", "Fehler 44"),
                ("version 2.1.3", "Version 2.1"),
                ("version 2.1.3", "version 2,1,3"),
                ("2 of 2", "2 von"),
                ("born in 1985", "1988 geboren"),
                ("13 cats", "dreizehn Katzen"),
                ("3 cats", "vier Katzen"),
                ("3 cats", "dreizehn Katzen"),
                ("4 cats", "quatre-vingts chats"),
                ("1 cat", "des universités"),
                ("1,250 euros", "1 25 euros"),
                ("1,250,000 people", "12万5000人"),
                ("3.4 million people", "34万人"),
                ("1 cat", "一緒に"),
                ("2 cats", "十二匹の猫")):
            with self.subTest(source):
                self.assertFalse(quality.keeps_numbers(source, translation))


class Sets(unittest.TestCase):
    FOLDER = pathlib.Path(__file__).parent / "quality"

    def pairs(self, name):
        """Of all languages, which have the same sources."""
        sources, found = [], []
        for lang in ("de", "fr", "ja"):
            lines = quality.read_lines(self.FOLDER / f"{name}.en-{lang}.tsv")
            pairs = [tuple(line.split("\t")) for line in lines]
            self.assertEqual(len(pairs), 200)
            self.assertEqual(len({source for source, _ in pairs}), 200)
            sources.append([source for source, _ in pairs])
            found += pairs
        for others in sources[1:]:
            self.assertEqual(others, sources[0])
        return found

    def test_each_has_200_pairs(self):
        for name in ("interface", "numbers"):
            for source, reference in self.pairs(name):
                self.assertTrue(source.strip() and reference.strip())

    def test_references_keep_every_number(self):
        for source, reference in self.pairs("numbers"):
            self.assertTrue(quality.numbers(source), source)
            self.assertTrue(quality.keeps_numbers(source, reference), (source, reference))

    def test_references_keep_every_placeholder(self):
        placeholder = re.compile(r"\{\w+\}|%(?:\d\$)?[sd]")
        for source, reference in self.pairs("interface"):
            self.assertEqual(sorted(placeholder.findall(source)), sorted(placeholder.findall(reference)), source)


class Agreement(unittest.TestCase):
    def test_lines_and_positions(self):
        self.assertEqual(quality.agreement([[1, 2, 0], [5, 0]], [[1, 2, 0], [5, 6, 0]]), (1, 4, 6))
        self.assertEqual(quality.agreement([[1, 2, 3, 0]], [[2, 3, 0]]), (0, 0, 4))


if __name__ == "__main__":
    unittest.main()
