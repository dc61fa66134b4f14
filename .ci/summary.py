"""Prints "N passed, N failed" from meson's test log; fails where a test did, or where none ran."""

import json
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
NEITHER = {"SKIP"}

try:
    with open(sys.argv[1], encoding="utf-8") as log:
        results = [json.loads(line)["result"] for line in log if line.strip()]
except FileNotFoundError:
    results = []

skipped = sum(result in NEITHER for result in results)
passed = sum(result in PASSED for result in results)
failed = len(results) - passed - skipped
if skipped:
    print(f"({skipped} skipped)")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
