"""Runs a test in JavaScript, or says what is missing for it and exits with 77, which meson counts as
skipped.

    node.py [--browser] FOLDER/FILE [ARGUMENT...]
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
LEAST_NODE = (18, 15)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def find_node():
    node = shutil.which("node")
    if not node:
        skip("there is no node (Debian package nodejs)")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    numbers = re.match(r"v(\d+)\.(\d+)", version)
    if not numbers or tuple(map(int, numbers.groups())) < LEAST_NODE:
        skip(f"node is {version.strip()}, expected {'.'.join(map(str, LEAST_NODE))} or later")
    return node


def find_chromium():
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if not chromium:
        skip("there is no chromium (Debian package chromium-headless-shell)")
    return chromium


def why_npm_failed():
    """Debian's node trusts the system's authorities, where there are any."""
    missing = [package for package, path in (("npm", shutil.which("npm")), ("ca-certificates", os.path.exists("/etc/ssl/certs/ca-certificates.crt")))
               if not path]
    return f"something is missing (Debian packages {' '.join(missing)})" if missing else "its registry was out of reach, or see what npm said"


def main():
    arguments = sys.argv[1:]
    node = find_node()
    if arguments[0] == "--browser":
        os.environ["CHROMIUM"] = find_chromium()
        del arguments[0]
    folder = pathlib.Path(arguments[0]).resolve().parent
    if not (folder / "node_modules").is_dir():
        skip(f"npm has not installed the packages of tests/{folder.name}, which ./test tries: {why_npm_failed()}")
    # This form of report ends with the tests that failed, so that they are in the part of a long log that is kept.
    os.execv(node, [node, "--test-reporter=spec", *arguments])


if __name__ == "__main__":
    main()
