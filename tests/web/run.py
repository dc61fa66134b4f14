"""Runs the browser tests, or says what is missing for them and exits with 77, which meson counts as skipped."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
LEAST_NODE = 18


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def main():
    node = shutil.which("node")
    if not node:
        skip("there is no node (Debian package nodejs)")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    major = re.match(r"v(\d+)", version)
    if not major or int(major[1]) < LEAST_NODE:
        skip(f"node is {version.strip()}, expected {LEAST_NODE} or later")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        skip("there is no chromium (Debian package chromium)")
    if not (HERE / "node_modules/playwright-core").is_dir():
        skip("tests/web/node_modules is missing: run npm ci there, or ./test, which does")
    os.environ["CHROMIUM"] = chromium
    os.execv(node, [node, str(HERE / sys.argv[1]), *sys.argv[2:]])


if __name__ == "__main__":
    main()
