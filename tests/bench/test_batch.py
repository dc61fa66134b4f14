"""batch.py does what it says; how fast anything is does not matter here.

python3 tests/bench/test_batch.py BATCH.PY ATTENTIOND MODEL [unittest arguments]
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

script, attentiond, model = (sys.argv.pop(1) for _ in range(3))


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-B", script, "--attentiond", attentiond, "--model", model, *arguments],
        capture_output=True, text=True, timeout=280, check=False)


class Batch(unittest.TestCase):
    def test_both_are_measured_and_compared(self):
        done = run("--texts", "3", "--repeat", "2", "--", "--beam-size", "1", "--precision", "fp32")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        match = re.fullmatch(
            r"3 texts, 2 rounds: one request ([\d.]+) ms, 3 requests ([\d.]+) ms, "
            r"ratio ([\d.]+) \(([\d.]+) to ([\d.]+)\)\n", done.stdout)
        self.assertIsNotNone(match, done.stdout)
        _, _, ratio, low, high = map(float, match.groups())
        self.assertTrue(0 < low <= ratio <= high)

    def test_texts_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = pathlib.Path(folder) / "lines"
            lines.write_text("Thank you.\n\nWe are here.\n")
            flags = ("--input", str(lines), "--repeat", "1")
            self.assertEqual(run(*flags, "--texts", "2").returncode, 0)
            done = run(*flags, "--texts", "3")
            self.assertEqual((done.returncode, done.stderr.strip()), (1, f"{lines} has 2 lines, --texts is 3"))

    def test_daemon_that_does_not_start(self):
        done = run("--repeat", "1", "--", "--beam-size", "x")
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not listen", done.stderr)
        self.assertIn("beam", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
