#!/usr/bin/env python3
"""Line coverage of folders, from a build with -Db_coverage=true whose tests have run:

  tests/tools/coverage.py build/coverage server weights [--lines]

Least covered files last; --lines also prints the numbers of the lines that no test reached."""

import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile


def ranges(numbers):
    """[1, 2, 3, 7] -> "1-3 7"."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(f"{a}-{b}" if b > a else str(a) for a, b in runs)


def count(build, root):
    """{file: {line: times executed}}, summed over everything that it was compiled into."""
    lines = collections.defaultdict(collections.Counter)
    counted = [str(path.resolve()) for path in build.rglob("*.gcda")]
    with tempfile.TemporaryDirectory() as folder:
        for i in range(0, len(counted), 50):
            subprocess.run(["gcov", "--json-format", "--preserve-paths", *counted[i:i + 50]],
                           cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        for path in pathlib.Path(folder).iterdir():
            report = json.loads(gzip.decompress(path.read_bytes()))
            base = pathlib.Path(report["current_working_directory"])
            for file in report["files"]:
                name = (build / file["file"]).resolve()
                if root in name.parents and base:
                    for line in file["lines"]:
                        lines[str(name.relative_to(root))][line["line_number"]] += line["count"]
    return lines


def main():
    build, *folders = [argument for argument in sys.argv[1:] if argument != "--lines"]
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    lines = count(pathlib.Path(build).resolve(), root)
    for folder in folders:
        files = {name: counts for name, counts in lines.items() if name.startswith(folder + "/")}
        rows = []
        for name, counts in files.items():
            missed = [number for number, times in counts.items() if times == 0]
            rows.append((len(counts) - len(missed), len(counts), name, missed))
        for hit, total, name, missed in sorted(rows, key=lambda row: -row[0] / row[1]):
            print(f"{100 * hit / total:6.1f} %  {hit:5d} of {total:5d}  {name}")
            if "--lines" in sys.argv and missed:
                print(f"          {ranges(missed)}")
        hit, total = sum(row[0] for row in rows), sum(row[1] for row in rows)
        print(f"{100 * hit / max(total, 1):6.1f} %  {hit:5d} of {total:5d}  {folder}/\n")


if __name__ == "__main__":
    main()
