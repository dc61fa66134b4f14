"""cache_bytes: what was decoded before is not again, and nobody sees a difference but in time."""

import unittest

from serve import Daemon
from test_files import fetch, upload

# Plain ones, with a number, a placeholder, tags, and several sentences; alternatives and scores.
REQUESTS = [
    {"q": "Where is the train station?"},
    {"q": ["I am tired.", "The house is big. I have 3 cats.", "Hello {name}!", ""]},
    {"q": "<p>The <b>red</b> house is big.</p>", "format": "html"},
    {"q": "I am tired.", "alternatives": 3, "return_scores": True},
    {"q": "I am tired.", "beam_size": 4, "return_scores": True, "return_usage": True},
    {"q": "I am tired.", "max_decoding_length": 2},
    {"q": "I am tired.", "length_penalty": 0.2, "beam_size": 4},
    {"q": "I am tired.", "return_sentences": True},
    {"q": "I am tired.", "alignment": True},
    {"q": "I am tired.", "target_prefix": "Ich"},
    {"q": "The train station is big.", "glossary": {"train station": "Zughalt"}},
]


def counts(daemon):
    metrics = daemon.metrics()
    return [metrics[f"attentiond_cache_{name}"] for name in ("hits_total", "misses_total", "sentences", "bytes")]


class Cache(unittest.TestCase):
    def test_answers_are_the_same_to_the_byte(self):
        with Daemon("--cache-bytes", "10000000") as daemon, Daemon() as other:
            for _ in range(3):
                for fields in REQUESTS:
                    fields = dict(fields)
                    q = fields.pop("q")
                    self.assertEqual(daemon.translate(q, **fields).body, other.translate(q, **fields).body, fields)
            hits, misses, sentences, n_bytes = counts(daemon)
            self.assertEqual(misses, sentences)
            self.assertGreaterEqual(hits, 2 * misses)  # of the second and the third time, and between requests
            self.assertGreater(n_bytes, 0)
            self.assertEqual(counts(other), [0, 0, 0, 0])

    def test_each_option_counts(self):
        with Daemon("--cache-bytes", "10000000") as daemon:
            for n, fields in enumerate(({}, {"beam_size": 3}, {"beam_size": 3, "length_penalty": 0.5}, {"beam_size": 3, "alternatives": 1},
                                        {"max_decoding_length": 5}, {"min_decoding_length": 3}), 1):
                daemon.translate("I am tired.", **fields)
                self.assertEqual(counts(daemon)[:3], [0, n, n], fields)

    def test_files_and_texts_share_it(self):
        text = "\n\n".join(f"The house has {i} rooms." for i in range(20))
        with Daemon("--cache-bytes", "10000000") as daemon:
            first = fetch(daemon, upload(daemon, text, "a.txt"))
            before = counts(daemon)
            self.assertEqual(fetch(daemon, upload(daemon, text, "a.txt")), first)
            after = counts(daemon)
            self.assertEqual((after[0] - before[0], after[1] - before[1]), (before[1], 0))

    def test_streams_are_decoded(self):
        with Daemon("--cache-bytes", "10000000") as daemon:
            replies = [daemon.translate("I am tired.", stream=True).body for _ in range(2)]
            self.assertEqual(replies[0], replies[1])
            self.assertEqual(counts(daemon), [0, 0, 0, 0])

    def test_it_never_grows_beyond_its_limit(self):
        with Daemon("--cache-bytes", "20000") as daemon:
            for i in range(300):
                daemon.translate(f"The house number {i} is big.")
            hits, misses, sentences, n_bytes = counts(daemon)
            self.assertTrue(0 < n_bytes <= 20000 and 0 < sentences < misses, (hits, misses, sentences, n_bytes))
            # The last ones are there, the first ones are not.
            daemon.translate("The house number 299 is big.")
            daemon.translate("The house number 0 is big.")
            self.assertEqual(counts(daemon)[:2], [hits + 1, misses + 1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
