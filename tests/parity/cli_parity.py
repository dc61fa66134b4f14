#!/usr/bin/env python3
"""`attentiond translate` against the reference implementation's output, and against itself.

usage: cli_parity.py BINARY MODEL_DIR [VECTORS_DIR]

VECTORS_DIR holds dev.greedy.jsonl and dev.beam4.jsonl; by default, all vectors where MT_SHARED_DIR
is set (MT_SHARED_DIR/vectors/en-de), else the few that are committed beside this script.

1. Greedy and beam 4: the ids of every line are those of the reference, token for token. Where the
   reference itself hardly knew (a margin between its two best tokens under 1e-4, at the first
   different step for greedy, anywhere for beam search) a line is listed instead.
2. In fp32 and in int8 the same lines give the same bytes, scores and all, with batches of 1 and of
   64 rows, 1 worker and 2, 1 thread and 2, and with every instruction set that this CPU has. OpenBLAS
   in fp32 gives bytes of its own, which are compared among themselves in the same way, and its ids
   with the reference's.
"""

import json
import os
import re
import subprocess
import sys

MARGIN = 1e-4
# Scores are means of a handful of fp32 log-probabilities, each within 1e-4.
SCORE_TOLERANCE = 1e-3
SEARCHES = {"greedy": 1, "beam4": 4}
SHAPES = {
    "batch 1": ["--batch-size", "1", "--workers", "1", "--threads-per-worker", "1"],
    "2 workers": ["--batch-size", "64", "--workers", "2", "--threads-per-worker", "1"],
    "2 threads": ["--batch-size", "64", "--workers", "1", "--threads-per-worker", "2"],
}


# Ids of an output, the first one included: there the search of the reference ends.
LIMIT = 256


def read_vectors(path):
    """The end that the limit forces has probability 1, in transformers' scores of a beam and in ours.
    In the vectors a greedy score is the mean of what the model itself gave each token."""
    with open(path, encoding="utf-8") as file:
        vectors = [json.loads(line) for line in file]
    for vector in vectors:
        if "greedy" in path and len(vector["output_ids"]) == LIMIT:
            end = vector.get("forced_end_logprob") or vector["token_logprobs"][-1]
            vector["score"] -= end / (LIMIT - 1)
    return vectors


# Without fused multiplications the kernels take up to a hundred times as long as those that people use: SSE4.1's in fp32, and plain C.
# They get so many lines, or with MT_TEST_FULL=1 all.
N_LINES_IF_SLOW = None if os.environ.get("MT_TEST_FULL") else 8
SLOW = {("sse41", "fp32"), ("c", "fp32"), ("c", "int8")}


def translate(binary, model, sources, beam_size, *flags, precision="fp32"):
    command = [binary, "translate", "--model", model, "--beam-size", str(beam_size), "--json"]
    command += ["--precision", precision, "--max-length-factor", "0"]  # the reference has no such limit
    text = "".join(source + "\n" for source in sources)
    done = subprocess.run([*command, *flags], input=text.encode(), stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"{' '.join([*command, *flags])}: exit code {done.returncode}")
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    if [line["source"] for line in lines] != sources:
        sys.exit("the lines that came out are not those that went in, in order")
    return lines


def first_difference(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def margin_of(vector, ids, beam_size):
    """How sure the reference was where ids leave its way."""
    margins = vector["token_margin"]
    if beam_size > 1:
        return min(margins)
    step = first_difference(vector["output_ids"][1:], ids)
    return margins[min(step, len(margins) - 1)]


class Report:
    def __init__(self):
        self.n_failed = 0

    def compare(self, what, vector, expected, found, beam_size):
        if expected == found:
            return
        margin = margin_of(vector, found, beam_size)
        is_close = margin < MARGIN
        self.n_failed += not is_close
        print(f"{'close call' if is_close else 'DIFFERENT'}: {what}: {vector['source']!r}")
        print(f"    margin {margin:g}, expected {expected}, found {found}")

    def compare_score(self, what, vector, found):
        if abs(vector["score"] - found["score"]) <= SCORE_TOLERANCE:
            return
        self.n_failed += 1
        print(f"DIFFERENT: {what}: {vector['source']!r}")
        print(f"    expected score {vector['score']}, found {found['score']}")


def check_reference(report, name, beam_size, vectors, lines):
    for vector, line in zip(vectors, lines):
        expected = vector["output_ids"][1:]
        report.compare(name, vector, expected, line["output_ids"], beam_size)
        if expected == line["output_ids"]:
            report.compare_score(name + " score", vector, line)
        if len(line["token_logprobs"]) != len(line["output_ids"]):
            sys.exit(f"{vector['source']!r}: one log-probability per token expected")


def all_kernels(binary, model):
    """What the program has, for any CPU: it says so to whoever asks for others."""
    command = [binary, "translate", "--model", model, "--kernels", "?"]
    said = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
    names = re.findall(r'"(\w+)"', said.partition("expected")[2])
    if not {"auto", "avx2", "c"} <= set(names):
        sys.exit(f"--kernels ?: found {said!r}, expected the names of all kernels")
    return [name for name in names if name != "auto"]


def has_kernels(binary, model, name):
    command = [binary, "translate", "--model", model, "--precision", "int8", "--kernels", name]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode and b"CPU" not in done.stderr:
        sys.exit(f"--kernels {name}: {done.stderr.decode()}")
    return done.returncode == 0


def check_openblas(report, binary, model, name, beam_size, vectors, sources):
    flags = ["--kernels", "openblas"]
    lines = translate(binary, model, sources, beam_size, *flags)
    check_reference(report, name, beam_size, vectors, lines)
    check_shapes(report, binary, model, "fp32", name, beam_size, sources, lines,
                 {f"openblas, {shape}": flags + more for shape, more in SHAPES.items()})


def kernel_shapes(binary, model, precision):
    names = [name for name in all_kernels(binary, model) if has_kernels(binary, model, name)]
    return {name: ["--kernels", name] for name in names if (name, precision) != ("openblas", "fp32")}


def check_shapes(report, binary, model, precision, name, beam_size, sources, expected, shapes):
    for shape, flags in shapes.items():
        is_slow = any((flag, precision) in SLOW for flag in flags)
        some = sources[:N_LINES_IF_SLOW] if is_slow else sources
        for line, other in zip(expected, translate(binary, model, some, beam_size, *flags, precision=precision)):
            if line != other:
                report.n_failed += 1
                print(f"DIFFERENT BYTES: {precision} {name}, {shape}: {line} and {other}")
    print(f"{precision} {name}: {len(sources)} lines, {N_LINES_IF_SLOW or 'all'} of them where kernels are slow, the same in {', '.join(shapes)}")


def main():
    binary, model = sys.argv[1:3]
    shared = os.environ.get("MT_SHARED_DIR")
    directory = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
    if shared:
        directory = os.path.join(shared, "vectors", "en-de")
    if len(sys.argv) > 3:
        directory = sys.argv[3]

    report = Report()
    for name, beam_size in SEARCHES.items():
        vectors = read_vectors(os.path.join(directory, f"dev.{name}.jsonl"))
        sources = [vector["source"] for vector in vectors]
        lines = translate(binary, model, sources, beam_size)
        check_reference(report, name, beam_size, vectors, lines)
        check_shapes(report, binary, model, "fp32", name, beam_size, sources, lines,
                     SHAPES | kernel_shapes(binary, model, "fp32"))
        if has_kernels(binary, model, "openblas"):
            check_openblas(report, binary, model, name, beam_size, vectors, sources)
        lines = translate(binary, model, sources, beam_size, precision="int8")
        check_shapes(report, binary, model, "int8", name, beam_size, sources, lines,
                     SHAPES | kernel_shapes(binary, model, "int8"))
    sys.exit(f"{report.n_failed} differences" if report.n_failed else 0)


if __name__ == "__main__":
    main()
