"""split_sentences on, off and newlines: every blank, line break and indentation between the pieces that
are translated comes back exactly, in layouts made at random from a seed that a failure names."""

import random
import re
import unittest

from serve import Daemon

SENTENCES = ("Where is the train station?", "Thank you very much.", "The cat is sleeping on the sofa.",
             "We are here!", "I would like to buy a ticket.", "It is raining today.", "Tom is reading a book.",
             "Can you help me?")

# Blanks that may stand within a line, and what ends one.
BLANKS = (" ", "  ", "\t", " \t ", "    ", "\u00a0", "\u3000 ", " \u2009")
BREAKS = ("\n", "\r\n", "\n\n", "\r\n\r\n", " \n", "\n    ", "\n\t\t", "\n \n  \n", "\r", "\u2028", "\u2029 ",
          "\v", "\f\n", "\u0085")

MARKED = ("Thank you, {name}.", "See https://example.org/a now.", "I am happy \U0001F600", "\U0001F600 Good morning.",
          "%s is here.", "Write to a@b.de today!", "\U0001F44D", "{{x}}", "We are here!")
SPACE = r"[\s\x85]*[\n\r\v\f\x85\u2028\u2029][\s\x85]*|^[\s\x85]+|[\s\x85]+$"


class Splitting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--beam-size", "1").start()
        cls.known = {}

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def alone(self, text):
        """The translation of a text that is one piece."""
        if text not in self.known:
            reply = self.daemon.translate(text, split_sentences="off")
            self.known[text] = reply.json["translatedText"]
        return self.known[text]

    def edge(self, rng):
        return rng.choice(("", "", *BLANKS, *BREAKS))

    def lines(self, rng):
        """Lines as (pieces with their gaps), and breaks between them."""
        lines = []
        for _ in range(rng.randint(1, 6)):
            line = [rng.choice(SENTENCES)]
            for _ in range(rng.randint(0, 2)):
                line += [rng.choice(BLANKS), rng.choice(SENTENCES)]
            lines.append(line)
        breaks = [rng.choice(BREAKS) for _ in lines[1:]]
        return lines, [self.edge(rng), *breaks, self.edge(rng)]

    def expected(self, lines, gaps, split):
        """What the pieces give, each translated alone, with the gaps between them."""
        if split == "newlines":
            pieces = [self.alone("".join(line)) for line in lines]
        else:
            pieces = ["".join(self.alone(part) if part in SENTENCES else part for part in line)
                      for line in lines]
        return gaps[0] + "".join(piece + gap for piece, gap in zip(pieces, gaps[1:]))

    def check_layouts(self, split, n, **fields):
        for seed in range(n):
            lines, gaps = self.lines(random.Random(seed))
            text = gaps[0] + "".join("".join(line) + gap for line, gap in zip(lines, gaps[1:]))
            self.assertEqual(self.daemon.translate(text, **fields).json["translatedText"],
                             self.expected(lines, gaps, split), (seed, text))

    def test_on(self):
        self.check_layouts("on", 60, split_sentences="on")

    def test_on_is_the_default(self):
        self.check_layouts("on", 10)

    def test_newlines(self):
        self.check_layouts("newlines", 60, split_sentences="newlines")

    def test_newlines_as_the_servers_default(self):
        with Daemon("--split-sentences", "newlines", "--beam-size", "1") as daemon:
            text = " Thank you. We are here!\n\n\tIt is raining today. "
            for split in (None, "newlines", "on", "off"):
                ours = daemon.translate(text, **({"split_sentences": split} if split else {}))
                self.assertEqual(
                    ours.json, self.daemon.translate(text, split_sentences=split or "newlines").json, split)

    def test_batches_and_alternatives_keep_their_layout(self):
        rng = random.Random(7)
        layouts = [self.lines(rng) for _ in range(10)]
        texts = [gaps[0] + "".join("".join(line) + gap for line, gap in zip(lines, gaps[1:]))
                 for lines, gaps in layouts]
        reply = self.daemon.translate(texts, alternatives=2).json
        for text, (lines, gaps), others in zip(texts, layouts, reply["alternatives"]):
            for other in others:
                self.assertTrue(other.startswith(gaps[0]) and other.endswith(gaps[-1]), (text, other))
        plain = self.daemon.translate(texts).json["translatedText"]
        self.assertEqual(plain, [self.expected(*layout, "on") for layout in layouts])

    def test_placeholders_and_emoji_stay_on_their_lines(self):
        for seed in range(60):
            rng = random.Random(seed)
            lines = [rng.choice(MARKED) for _ in range(rng.randint(1, 6))]
            gaps = [self.edge(rng), *(rng.choice(BREAKS) for _ in lines[1:]), self.edge(rng)]
            text = gaps[0] + "".join(line + gap for line, gap in zip(lines, gaps[1:]))
            for split in ("on", "newlines"):
                reply = self.daemon.translate(text, split_sentences=split).json["translatedText"]
                self.assertEqual(re.findall(SPACE, reply), re.findall(SPACE, text), (seed, text, reply))
                ours = [line.strip() for line in re.split(SPACE, reply) if line]
                for line, translation in zip(lines, ours):
                    for mark in re.findall(r"\{+\w+\}+|%s|https\S+|\S+@\S+|[^\x00-\uffff]", line):
                        self.assertIn(mark, translation, (seed, text, reply))

    def test_off_keeps_what_stands_around_the_text(self):
        text = "Thank you. We are here!"
        for seed in range(20):
            rng = random.Random(seed)
            before, after = self.edge(rng), self.edge(rng)
            reply = self.daemon.translate(before + text + after, split_sentences="off").json
            self.assertEqual(reply["translatedText"], before + self.alone(text) + after, seed)

    def test_wrong_values(self):
        for value in ("", "yes", "ON", "1"):
            reply = self.daemon.translate("Thank you.", split_sentences=value)
            self.assertEqual((reply.status, reply.error), (
                400, f'split_sentences is "{value}", expected "on", "off" or "newlines"'))


if __name__ == "__main__":
    unittest.main(verbosity=2)
