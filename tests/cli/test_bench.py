"""attentiond bench: what it prints, not how fast it is. Then what it says where it cannot.

python3 tests/cli/test_bench.py BINARY [unittest arguments]
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

MODEL = pathlib.Path(__file__).resolve().parents[2] / "tests" / "models" / "en-de"
OK, FAILED, USAGE = 0, 1, 2
WARNING = (r"attentiond bench: other programs took (?P<others>\d+) % of the processors' time meanwhile, and this virtual "
           r"machine's host \d+ %; the figures are too low\n")

binary = sys.argv.pop(1)


def run(*arguments):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}
    return subprocess.run([binary, "bench", *map(str, arguments)], capture_output=True, text=True, timeout=900,
                          env=clean)


def rows(text, heading):
    """Numbers of the table's rows below the line that begins so."""
    lines = text.split(f"\n{heading}", 1)[1].splitlines()[2:]
    end = lines.index("") if "" in lines else len(lines)
    return [[float(n) for n in re.findall(r"[\d.]+", line)] for line in lines[:end]]


class Bench(unittest.TestCase):
    def test_its_figures_belong_together(self):
        done = run("--model", MODEL, "--length", 3, "--threads-per-worker", 1)
        self.assertEqual(done.returncode, OK)
        self.assertRegex(done.stderr, rf"\A({WARNING})?\Z")  # other tests may run beside it
        self.assertRegex(done.stdout, rf"^Model: {re.escape(str(MODEL))}, .*, 8\.\d million parameters\n")
        self.assertRegex(done.stdout, r"\nMachine, 1 threads, kernels \w+\n")
        rates = re.findall(r"\n  reading .* (\d+\.\d) GB/s", done.stdout)
        self.assertEqual(len(rates), 4)
        self.assertTrue(all(float(rate) > 0 for rate in rates), rates)
        encoder, decoder = rows(done.stdout, "Encoder"), rows(done.stdout, "Decoder")
        self.assertEqual([row[0] for row in encoder], [1, 4, 16])
        self.assertEqual([row[0] for row in decoder], [1, 2, 4, 8, 16, 32, 64, 128])
        for n, tokens, pass_ms, share in encoder:  # numbers that belong together
            self.assertAlmostEqual(tokens * pass_ms / 1e3, 3 * n, delta=0.2 * n)
            self.assertGreater(share, 0)
        for m, step_ms, tokens, *_ in decoder:
            self.assertAlmostEqual(tokens * step_ms / 1e3, m, delta=0.1 * m)
        start = re.search(r"\nStart, .* open after (\d+\.\d) ms, first sentence .* after (\d+\.\d) ms\n", done.stdout)
        self.assertLess(float(start[1]), float(start[2]))
        own, mapped = re.search(r"\nMemory, resident: (\d+\.\d) MB our own, (\d+\.\d) MB mapped", done.stdout).groups()
        self.assertGreater(float(own), 1)
        self.assertGreater(float(mapped), 1)
        peaks = [float(n) for n in re.findall(r"multiply-adds on registers +(\d+\.\d) G/s", done.stdout)]
        self.assertEqual(len(peaks), 2)

    def test_others_on_its_processor_are_told_of(self):
        """With two that spin there it gets a third."""
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(before)})
        self.addCleanup(os.sched_setaffinity, 0, before)
        spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
        try:
            done = run("--model", MODEL, "--length", 2, "--threads-per-worker", 1)
        finally:
            for process in spinning:
                process.kill()
                process.wait()
        self.assertEqual(done.returncode, OK)
        warning = re.fullmatch(WARNING, done.stderr)
        self.assertTrue(warning, done.stderr)
        self.assertGreater(int(warning["others"]), 40)
        self.assertLess(int(warning["others"]), 100)

    def test_plain_c_has_no_peak_to_be_a_part_of(self):
        terminal, its_own = os.openpty()  # so that each line comes at once: all of them would take long
        with subprocess.Popen([binary, "bench", "--model", MODEL, "--length", "2", "--kernels", "c"], stdout=its_own,
                              stderr=subprocess.DEVNULL) as process, os.fdopen(terminal, errors="replace") as lines:
            os.close(its_own)
            said = ""
            while "of int8/fp32 peak" not in said:
                said += lines.readline()
            said += lines.readline()
            process.kill()
        self.assertNotIn("on registers", said)
        self.assertRegex(said, r"\n +1 +\d+ +\d+\.\d+ +-\r?\n\Z")

    def test_where_it_cannot(self):
        for code, pattern, *flags in (
                (USAGE, "--model is missing|model", ),
                (USAGE, "length", "--model", MODEL, "--length", 1),
                (USAGE, "length", "--model", MODEL, "--length", 257),
                (FAILED, "/nonexistent", "--model", "/nonexistent")):
            with self.subTest(flags=flags):
                done = run(*flags)
                self.assertEqual((done.returncode, done.stdout), (code, ""))
                self.assertRegex(done.stderr, pattern)


if __name__ == "__main__":
    unittest.main()
