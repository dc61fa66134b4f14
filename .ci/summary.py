"""Prints which tests of meson's log were skipped and what to install for them, and "N passed, N failed". Fails where a
test did, or where none ran, and in CI (the variable CI) also where one was skipped."""

import collections
import json
import os
import re
import sys

PASSED = {"OK", "EXPECTEDFAIL"}

try:
    with open(sys.argv[1], encoding="utf-8") as log:
        tests = [json.loads(line) for line in log if line.strip()]
except FileNotFoundError:
    tests = []

# A test that is skipped says why: "skipped: there is no node (Debian package nodejs)".
skipped = collections.defaultdict(list)
for test in tests:
    if test["result"] == "SKIP":
        reason = re.search(r"(?m)^skipped: (.*)$", test.get("stdout", ""))
        skipped[reason[1] if reason else "it does not say why"].append(test["name"].split(" / ")[-1])

n_skipped = sum(map(len, skipped.values()))
n_passed = sum(test["result"] in PASSED for test in tests)
n_failed = len(tests) - n_passed - n_skipped
for reason, names in skipped.items():
    print(f"skipped: {', '.join(names)}: {reason}")
left_out = {test["name"].split(" / ")[-1]: re.search(r"(?m)^OK \(skipped=(\d+)\)$", test.get("stderr", "")) for test in tests}
if any(left_out.values()):
    print("left out, cases of", ", ".join(f"{name} ({found[1]})" for name, found in left_out.items() if found) + ": run by themselves with -v, they say why")
packages = {package for reason in skipped for found in re.findall(r"Debian packages? ([\w.+ -]+)", reason) for package in found.split()}
if packages:
    print(f"To install: apt-get install {' '.join(sorted(packages))}")
if n_skipped and os.environ.get("CI"):
    print("In CI no test may be skipped.")
print(f"{n_passed} passed, {n_failed} failed" + (f" ({n_skipped} skipped)" if n_skipped else ""))
sys.exit(1 if n_failed or not n_passed or (n_skipped and os.environ.get("CI")) else 0)
