"""The alignment of the bundled models: their attentiond.json says what `inspect --find-alignment-heads` finds on links that are
known, and on sentences that the choice did not see it is better than the mean of the upper half, which stands for a model that
says nothing: in the weight on the right source words, in the error rate of the links (AER, Och and Ney 2003), and in where tags go.

A line of the links: source, TAB, translation, TAB, pairs of words. Those of a Japanese translation have blanks between them,
which are no part of it; a particle belongs to the word before it. test_alignment.py ATTENTIOND [-v]"""

import json
import os
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = pathlib.Path(__file__).resolve().parent
os.environ["ATTENTIOND"] = sys.argv.pop(1) if len(sys.argv) > 1 else str(ROOT / "build/release/attentiond")
sys.path.insert(0, str(ROOT / "tests/http"))
from serve import Daemon, run  # noqa: E402

BLANKS = {"ja": ""}  # between words, where that is not one
UPPER_HALF = {"layers": [1, 2], "heads": list(range(8)), "shift": "output"}


def read(name):
    """[(words of the source, of the translation, {(source, target)})]"""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    for source, target, links in (line.split("\t") for line in lines):
        yield source.split(), target.split(), {tuple(map(int, pair.split("-"))) for pair in links.split()}


def as_text(words):
    return re.sub(r" ([.,?!])", r"\1", " ".join(words))


def words_of(tokens, words, blank=" "):
    """The word that each token is part of, of words with blanks between them; None for special ones."""
    ends, at = [], 0
    for word in words:
        ends.append((at, at + len(word)))
        at += len(word) + len(blank)
    for token in tokens:
        shared = [min(token["end_char"], end) - max(token["begin_char"], begin) for begin, end in ends]
        yield None if token["special"] or max(shared) <= 0 else shared.index(max(shared))


class Links:
    """How good the links of some sentences are: weight is the share that lies on the right source words."""

    def __init__(self, daemon, languages, sentences, alignment=None):
        self.right = self.found = self.known = self.n_words = 0
        self.weight = 0.0
        self.blank = BLANKS.get(languages[1], " ")
        for source, target, links in sentences:
            fields = {"q": " ".join(source), "target_text": self.blank.join(target), "source": languages[0], "target": languages[1]}
            body = json.dumps(fields | ({"alignment": alignment} if alignment else {})).encode()
            reply = daemon.request("POST", "/attention", body, headers={"Content-Type": "application/json"})
            assert reply.status == 200, reply
            self.add(reply.json["sentences"][0], source, target, links)

    def add(self, sentence, source, target, links):
        columns = list(words_of(sentence["source_tokens"], source))
        rows = list(words_of(sentence["output_tokens"], target, self.blank))
        found = set()
        for word in range(len(target)):
            weights = [0.0] * len(source)
            steps = [step for step, row in enumerate(rows) if row == word]
            for step in steps:
                for column, weight in zip(columns, sentence["alignment"]["matrix"][step]):
                    if column is not None:
                        weights[column] += weight / len(steps)
            if steps:
                found.add((weights.index(max(weights)), word))
                self.weight += sum(weights[a] for a, b in links if b == word)
                self.n_words += 1
        self.right += len(found & links)
        self.found += len(found)
        self.known += len(links)

    @property
    def share(self):
        return self.weight / self.n_words

    @property
    def error_rate(self):
        return 1 - 2 * self.right / (self.found + self.known)

    def __str__(self):
        return f"weight {self.share:.2f}, AER {self.error_rate:.3f} of {self.n_words} words"


class Case:
    pair = None
    least_share = 0.0

    @classmethod
    def setUpClass(cls):
        cls.model = ROOT / "weights" / "-".join(cls.pair)
        cls.daemon = Daemon(model=str(cls.model)).start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def sentences(self, which):
        return list(read(f"{'-'.join(self.pair)}.{which}.tsv"))

    def test_the_model_says_what_is_found(self):
        said = json.loads((self.model / "attentiond.json").read_text(encoding="utf-8"))
        found = run("inspect", "--model", str(self.model), "--find-alignment-heads", str(FOLDER / f"{'-'.join(self.pair)}.chosen.tsv"))
        self.assertEqual(found.returncode, 0, found.stderr)
        flags = f"--alignment-layers {said['alignment_layers']} --alignment-heads {said['alignment_heads']} --alignment-shift {said['alignment_shift']}"
        self.assertIn(flags, found.stdout)

    def test_it_is_better_where_the_choice_did_not_look(self):
        sentences = self.sentences("unseen")
        own, silent = Links(self.daemon, self.pair, sentences), Links(self.daemon, self.pair, sentences, UPPER_HALF)
        print(f"{'-'.join(self.pair)}: {own}; the upper half's mean: {silent}", file=sys.stderr)
        self.assertGreater(own.share, max(silent.share, self.least_share))
        self.assertLessEqual(own.error_rate, silent.error_rate)
        self.assertFalse({(tuple(a), tuple(b)) for a, b, _ in sentences} & {(tuple(a), tuple(b)) for a, b, _ in self.sentences("chosen")})


    def test_inspect_measures_the_same(self):
        found = run("inspect", "--model", str(self.model), "--gold", str(FOLDER / f"{'-'.join(self.pair)}.unseen.tsv"))
        self.assertEqual(found.returncode, 0, found.stderr)
        sentences = self.sentences("unseen")

        def check(error_rate, links, share=None):
            self.assertLess(abs(float(error_rate) - links.error_rate), 6e-4)
            if share is not None:
                self.assertLess(abs(float(share) / 100 - links.share), 6e-3)

        methods = {name: (rate, share) for name, rate, share in re.findall(r"^(\S.*?)  +([\d.]+) +(\d+) %$", found.stdout, re.M) if "." not in name}
        for name, alignment in (("the model's alignment as it is set", None), ("mean of the upper half", UPPER_HALF), ("mean of the last layer", UPPER_HALF | {"layers": [2]})):
            rate, share = methods[name]
            check(rate, Links(self.daemon, self.pair, sentences, alignment), share)
        heads = {(int(layer), shift): rates.split() for layer, shift, rates in re.findall(r"^layer (\d), shift (\w+) +([\d. ]+)$", found.stdout, re.M)}
        self.assertEqual([len(rates) for rates in heads.values()], 6 * [8])
        for layer, head, shift in ((0, 7, "input"), (1, 2, "output"), (2, 4, "output")):
            check(heads[layer, shift][head], Links(self.daemon, self.pair, sentences, {"layers": [layer], "heads": [head], "shift": shift}))
        own = json.loads("{" + found.stdout.partition("for attentiond.json:")[2] + "}")
        chosen = {"layers": [int(own["alignment_layers"])], "heads": [int(head) for head in own["alignment_heads"].split(",")], "shift": own["alignment_shift"]}
        best = Links(self.daemon, self.pair, sentences, chosen)
        check(re.search(r"^fewest errors, AER ([\d.]+)", found.stdout, re.M)[1], best)
        self.assertLessEqual(best.error_rate, min(float(rate) for rates in heads.values() for rate in rates) + 6e-4)

    def test_inspect_names_the_roles_of_heads(self):
        sentences = self.sentences("unseen")
        found = run("inspect", "--model", str(self.model), "--gold", str(FOLDER / f"{'-'.join(self.pair)}.unseen.tsv")).stdout
        roles = {(kind, int(layer), int(head)): (role, int(share)) for kind, layer, head, role, share in re.findall(r"^(encoder|decoder|cross)\.(\d)\.(\d)  (\S.*?) +(\d+) %$", found, re.M)}
        offsets = {"previous token": -1, "diagonal": 0, "next token": 1}
        shares = {kind: {offset: [[0.0] * 8 for _ in range(n_layers)] for offset in offsets.values()} for kind, n_layers in (("encoder", 6), ("decoder", 3))}
        for source, target, _ in sentences:
            fields = {"q": " ".join(source), "target_text": BLANKS.get(self.pair[1], " ").join(target), "source": self.pair[0], "target": self.pair[1], "kinds": ["encoder", "decoder"], "precision": 6}
            [sentence] = self.daemon.request("POST", "/attention", json.dumps(fields).encode(), headers={"Content-Type": "application/json"}).json["sentences"]
            for kind, by_offset in shares.items():
                for layer, heads in enumerate(sentence[kind]):
                    for head, rows in enumerate(heads):
                        for offset, sums in by_offset.items():
                            there = [row[i + offset] for i, row in enumerate(rows) if 0 <= i + offset < len(row)]
                            sums[layer][head] += sum(there) / len(rows) / len(sentences)
        n = 0
        for kind, by_offset in shares.items():
            for (named, layer, head), (role, share) in roles.items():
                if named == kind and role in offsets:
                    self.assertLess(abs(by_offset[offsets[role]][layer][head] - share / 100), 6e-3, (kind, layer, head, role))
                    n += 1
        self.assertGreater(n, 10)
        self.assertIn("alignment", {role for (kind, _, _), (role, _) in roles.items() if kind == "cross"})
        self.assertIn("separator", {role for role, _ in roles.values()})


class German(Case, unittest.TestCase):
    pair = ("en", "de")
    least_share = 0.65

    def test_tags_go_where_the_links_say(self):
        n = n_right = 0
        for source, target, links in self.sentences("unseen"):
            if self.daemon.translate(as_text(source)).json["translatedText"] != as_text(target):
                continue  # the links are of another translation
            for i, word in enumerate(source):
                right = {b for a, b in links if a == i}
                if not right or not word[0].isalpha():
                    continue
                tagged = as_text(source[:i] + [f"<b>{word}</b>"] + source[i + 1:])
                reply = re.sub(r"([.,?!])", r" \1", self.daemon.translate(tagged, format="html").json["translatedText"])
                before, inside = re.match(r"(.*?)<b>(.*?)</b>", reply).groups()
                begin = len(before.split())
                place = set(range(begin, begin + len(inside.split())))
                n += 1
                n_right += bool(place & right) and place <= set(range(min(right), max(right) + 1))
        print(f"en-de: {n_right} of {n} tags", file=sys.stderr)
        self.assertGreater(n, 100)
        self.assertGreater(n_right / n, 0.95)


class French(Case, unittest.TestCase):
    pair = ("en", "fr")


class Japanese(Case, unittest.TestCase):
    pair = ("en", "ja")


if __name__ == "__main__":
    unittest.main()
