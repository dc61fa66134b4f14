"""campaign.py, with programs that only say that they are fuzzers.

python3 tests/fuzz/test_campaign.py
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CAMPAIGN = pathlib.Path(__file__).resolve().parent / "campaign.py"
FUZZER = """#!/bin/sh
for argument; do
    case $argument in
    -runs=*) runs=${argument#*=} ;;
    -artifact_prefix=*) prefix=${argument#*=} ;;
    esac
done
echo "stat::number_of_executed_units: $runs
stat::average_exec_per_sec: 1000
stat::peak_rss_mb: 30" >&2
"""


class Campaign(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="attentiond-campaign-")
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / "tests/fuzz/fuzz_json.p").mkdir(parents=True)  # of the compiler
        self.make("json", FUZZER)
        self.make("zip", FUZZER)

    def make(self, name, script):
        program = self.build / "tests/fuzz" / f"fuzz_{name}"
        program.write_text(script)
        program.chmod(0o755)

    def campaign(self, *arguments):
        return subprocess.run([sys.executable, "-B", CAMPAIGN, self.build, *arguments],
                              capture_output=True, text=True, timeout=60, check=False)

    def runs(self, name):
        return json.loads((self.build / "finds" / f"{name}.json").read_text())["runs"]

    def test_goes_on_where_it_was(self):
        for n in (1000, 1000, 2500):  # the second finds all done
            with self.subTest(n):
                result = self.campaign("--runs", str(n), "json")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn(f"| json | {n:,} | 1,000 | 0 | 30 | none |\n", result.stdout)
                self.assertEqual(self.runs("json"), n)
        self.assertFalse((self.build / "finds" / "zip.json").exists())

    def test_one_reader_of_several(self):
        self.make("office", FUZZER + 'echo "$*" >"${prefix}arguments"\n')
        result = self.campaign("--runs", "10", "office:x", "office:o", "office:?")  # which has no sample
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for first in ("x", "o"):
            longest = max(file.stat().st_size for file in CAMPAIGN.parent.glob("corpus/office/*")
                          if file.read_bytes().startswith(first.encode()))
            arguments = (self.build / f"finds/office:{first}/arguments").read_text()
            self.assertIn(f" --first={first} ", arguments)
            self.assertIn(f" -max_len={longest} ", arguments)
            self.assertEqual(self.runs(f"office:{first}"), 10)
        self.assertFalse((self.build / "finds" / "office.json").exists())

    def test_runs_all_that_are_there(self):
        result = self.campaign("--runs", "10", "--jobs", "2")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([self.runs(name) for name in ("json", "zip")], [10, 10])
        self.assertEqual(result.stdout.splitlines()[-4:], (self.build / "finds/table.md").read_text().splitlines())

    def test_a_finding_is_named_and_told(self):
        self.make("json", FUZZER + 'echo it crashed >&2\n: >"${prefix}crash-1"\nexit 77\n')
        result = self.campaign("--runs", "10")
        self.assertEqual(result.returncode, 1)
        self.assertIn("it crashed", result.stderr)
        self.assertIn("| crash-1 |", result.stdout)
        self.assertEqual(self.runs("zip"), 10)

    def test_what_is_not_built_is_refused(self):
        def refused(pattern, *names):
            result = self.campaign(*names)
            self.assertEqual(result.returncode, 2)
            self.assertIn(pattern, result.stderr)

        refused("not there: tar;", "tar")
        for name in ("json", "zip"):
            (self.build / "tests/fuzz" / f"fuzz_{name}").unlink()
        refused("not there: fuzzers;")


if __name__ == "__main__":
    unittest.main()
