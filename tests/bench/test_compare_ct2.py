"""compare_ct2.py beside a stand-in for CTranslate2 whose speed is known.

python3 tests/bench/test_compare_ct2.py COMPARE_CT2.PY BUILD_DIR MODEL [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

script, build, model = (sys.argv.pop(1) for _ in range(3))

# A sentence takes a millisecond, with AVX512 half of it, and the first ones a second more. It has no MKL, and adds the
# end of a sentence itself.
STAND_IN = """#!/usr/bin/env python3
import os, sys
flags = {name: sys.argv[sys.argv.index(name) + 1] for name in ("--src", "--out", "--max_decoding_length", "--batch_size")
         if name in sys.argv}
if "CT2_VERBOSE" in os.environ:
    if os.environ["CT2_USE_MKL"] == "1":
        sys.exit("what():  This CTranslate2 binary was not compiled with Intel MKL")
    print("[2026-01-01 00:00:00.000] [ctranslate2] [thread 1] [info] CPU: Pretended", file=sys.stderr)
for foreign in "DNNL_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS", "OMP_NUM_THREADS":
    assert foreign not in os.environ, foreign
lines = open(flags["--src"], encoding="utf-8").read().splitlines()
assert not any(line.endswith("</s>") for line in lines)
length = int(flags.get("--max_decoding_length", 3))
if "--out" in flags:
    with open(flags["--out"], "w") as out:
        out.write((" ".join(["a"] * length) + "\\n") * len(lines))
seconds = 1 + len(lines) * (0.0005 if os.environ["CT2_FORCE_CPU_ISA"] == "AVX512" else 0.001)
print(len(lines) * length / seconds, file=sys.stderr)
"""


class CompareCt2(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="attentiond-compare-ct2-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/ct2-translator").write_text(STAND_IN)
        (self.folder / "bin/ct2-translator").chmod(0o755)
        (self.folder / "config.json").write_text(json.dumps({"add_source_eos": True}))
        (self.folder / "text").write_text("Good morning.\n\nThank you.\nIt is late.\n")

    def run_script(self, *flags, path=None):
        environment = os.environ | {"PATH": path or f"{self.folder / 'bin'}:{os.environ['PATH']}", "DNNL_MAX_CPU_ISA": "AVX2",
                                    "MKL_ENABLE_INSTRUCTIONS": "AVX2", "OMP_NUM_THREADS": "1"}
        return subprocess.run([sys.executable, "-B", script, "--build", build, "--model", model, "--ct2-model", self.folder,
                               "--input", self.folder / "text", "--rounds", "1", "--seconds", "1", *flags],
                              capture_output=True, text=True, timeout=280, check=False, env=environment)

    def test_the_rate_is_that_of_warm_batches(self):
        for isa, rate in ("AVX2", 1000), ("AVX512", 2000):
            done = self.run_script("--clients", "1,4", "--beam-size", "1", "--length", "real,5", "--isa", isa)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("| 1 |")]
            self.assertEqual([(row[1].strip(), row[2].strip()) for row in rows],
                             [("real", "1"), ("real", "4"), ("5", "1"), ("5", "4")])
            for row in rows:
                theirs, ours, ratio = (float(cell.replace(",", "")) for cell in row[3:6])
                self.assertAlmostEqual(theirs, rate, delta=0.1)
                self.assertGreater(ours, 0)
                self.assertAlmostEqual(ratio, ours / theirs, delta=0.006)
                tokens = [float(number) for number in row[7].split(",")]
                self.assertEqual(tokens[0], 3 if row[1].strip() == "real" else 5)
                self.assertIn(isa, row[8])
                self.assertNotIn(" MKL", row[8].replace("not MKL", ""))
            self.assertRegex(done.stdout, r"\n    CPU: Pretended\n")
            self.assertRegex(done.stdout, r"\nloaded after: CTranslate2 -?[\d.]+ s, attentiond [\d.]+ s\n"
                             r"peak of resident memory: CTranslate2 \d+ MB, attentiond \d+ MB\n$")

    def test_what_it_cannot_compare(self):
        done = self.run_script(path="/nowhere")
        self.assertEqual((done.returncode, done.stdout), (77, "ct2-translator not found\n"))
        (self.folder / "config.json").unlink()
        done = self.run_script()
        self.assertEqual(done.returncode, 1)
        self.assertIn("config.json is missing", done.stderr)
        self.assertEqual(self.run_script("--length", "long").returncode, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
