"""usage: targets.py BUILD SUITE...: what ninja must build in the folder BUILD for the tests of these suites."""

import json
import os
import pathlib
import sys

build = pathlib.Path(sys.argv[1])
suites = set(sys.argv[2:])
info = build / "meson-info"
files = {target["id"]: target["filename"] for target in json.loads((info / "intro-targets.json").read_text())}
needed = set()
for test in json.loads((info / "intro-tests.json").read_text()):
    if suites & {suite.split(":")[-1] for suite in test["suite"]}:
        needed.update(name for target in test["depends"] for name in files[target])
print(*sorted(os.path.relpath(name, build) for name in needed))
