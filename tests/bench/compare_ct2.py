#!/usr/bin/env python3
"""attentiond beside CTranslate2 on this machine: the same sentences, the same int8, the same numbers of sentences at once.

    compare_ct2.py --build DIR --model DIR --ct2-model DIR --input FILE [--clients 1,32,128] [--beam-size 1,4]
                   [--length 25,real] [--source en] [--target de] [--rounds 3] [--batches 20] [--seconds 10]
                   [--threads N] [--serve-flag FLAG ...] [--isa AVX2]

CTranslate2 is told by ct2-translator, which must be on PATH (else exit code 77). --ct2-model is --model converted:
    ct2-transformers-converter --model MODEL --output_dir MODEL.ct2 --quantization int8
    tests/tools/export_ctranslate2.py MODEL MODEL.ct2 --type int8
--input holds one sentence a line. --length is what every target gets, in tokens, or "real": each ends where the model
ends it, which needs a trained one.

With C clients attentiond answers C requests at once over HTTP, as it is by default; CTranslate2, in process, gets
batches that hold C sentences together at most: of all ways to share them and the threads out, of its backends, packed
or not, AVX2 and AVX512, a short trial finds the fastest, or two that are alike, and those are measured. AMX is left to MKL and oneDNN. Then
come the rounds, in which each is measured in turn; the table has medians. CTranslate2 reads the whole file at once and
sorts it by length; it has --batches batches for each of its workers, after a run without them, whose time, with
loading and warming up, is taken off. attentiond is warm, too, and its window is --seconds long.
"""

import argparse
import dataclasses
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

MISSING = 77
WARM_UP_BATCHES, TRIAL_BATCHES = 2, 3
# What is measured has so many sentences at least, and what warms up a quarter of them.
MIN_SENTENCES = 100
ALIKE = 0.85
# What would keep CTranslate2 from the machine's best instructions, or say what this script says.
FOREIGN = re.compile(r"(CT2|DNNL|ONEDNN|MKL|OMP|OPENBLAS|KMP|ATTENTIOND)_")


@dataclasses.dataclass(frozen=True)
class Layout:
    """One way to run CTranslate2."""
    isa: str
    use_mkl: int
    packed: int
    inter: int
    intra: int
    batch: int

    def environment(self):
        clean = {k: v for k, v in os.environ.items() if not FOREIGN.match(k)}
        return clean | {"CT2_FORCE_CPU_ISA": self.isa, "CT2_USE_MKL": str(self.use_mkl),
                        "CT2_PACKED_GEMM": str(self.packed)}

    def flags(self):
        return ["--inter_threads", str(self.inter), "--intra_threads", str(self.intra), "--batch_size", str(self.batch)]

    def __str__(self):
        backend = f"MKL{', packed' if self.packed else ''}" if self.use_mkl else "not MKL"
        return f"{self.inter} x {self.intra} threads, batches of {self.batch}, {self.isa}, {backend}"


@dataclasses.dataclass
class Run:
    sentences: int
    seconds: float  # of translating, without loading
    load_seconds: float
    peak_bytes: int
    tokens: int


def layouts(n_clients, n_threads, isas, has_mkl):
    """All that may be CTranslate2's best with so many sentences at once. One is translated by one worker."""
    found = []
    for isa, use_mkl in itertools.product(isas, (1, 0) if has_mkl else (0,)):
        for packed in (1, 0) if use_mkl else (0,):
            for inter in sorted({1, n_threads} if n_clients > 1 else {1}):
                most = max(1, n_clients // inter)
                for batch in sorted({most, *(size for size in (16, 32, 64) if size < most)}):
                    for intra in sorted({1, n_threads // inter} if batch == 1 else {n_threads // inter}):
                        found.append(Layout(isa, use_mkl, packed, inter, intra, batch))
    return found


def without_end(pieces, ct2_model):
    """Lines of pieces as this model takes them: one that adds the end itself must not be given it."""
    path = pathlib.Path(ct2_model, "config.json")
    if not path.exists():
        sys.exit(f"{path} is missing: a model of CTranslate2 since version 3 is expected")
    if not json.loads(path.read_text()).get("add_source_eos"):
        return pieces
    for number, line in enumerate(pieces, 1):
        if not line.endswith("</s>"):
            sys.exit(f"line {number} of the input: found {line.split()[-1:]}, expected </s> at the end of its tokens")
    return [line[:-len("</s>")].rstrip() for line in pieces]


def cycle(lines, n):
    return list(itertools.islice(itertools.cycle(lines), n))


def difference(long, short):
    """Sentences a second of what the long run did more than the short one."""
    seconds = long.seconds - short.seconds
    return (long.sentences - short.sentences) / seconds if seconds > 0 else None


class CTranslate2:
    def __init__(self, model, pieces, directory):
        self.model, self.pieces, self.directory = model, pieces, pathlib.Path(directory)

    def run(self, layout, n_sentences, beam_size, length):
        source, out = self.directory / "source", self.directory / "out"
        source.write_text("".join(f"{line}\n" for line in cycle(self.pieces, n_sentences)), encoding="utf-8")
        command = ["ct2-translator", "--model", self.model, "--compute_type", "int8", "--device", "cpu", "--src", source,
                   "--out", out, "--read_batch_size", str(n_sentences), "--beam_size", str(beam_size),
                   "--log_throughput", *layout.flags()]
        if length:
            command += ["--min_decoding_length", str(length), "--max_decoding_length", str(length)]
        start = time.monotonic()
        process = subprocess.Popen(list(map(str, command)), env=layout.environment(), stderr=subprocess.PIPE, text=True)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - start
        if process.returncode:
            sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}\n{said}")
        lines = out.read_text(encoding="utf-8").splitlines()
        tokens = sum(len(line.split()) for line in lines)
        if len(lines) != n_sentences or (length and tokens != n_sentences * length):
            sys.exit(f"ct2-translator wrote {len(lines)} lines and {tokens} tokens, expected {n_sentences} lines"
                     + (f" of {length} tokens" if length else ""))
        seconds = tokens / float(said.split()[-1])
        return Run(n_sentences, seconds, wall - seconds, usage.ru_maxrss * 1024, tokens)

    def rate(self, layout, n_batches, beam_size, length):
        """Sentences a second of n_batches for each worker, and the run that had them."""
        at_once = layout.batch * layout.inter
        n_short = max(WARM_UP_BATCHES * at_once, MIN_SENTENCES // 4)
        n = max(n_batches * at_once, MIN_SENTENCES)
        if not length and n_batches > TRIAL_BATCHES:  # whole rounds of the input, whose lines are not of one length
            n = (n + len(self.pieces) - 1) // len(self.pieces) * len(self.pieces)
        short = self.run(layout, n_short, beam_size, length)
        run = self.run(layout, n_short + n, beam_size, length)
        rate = difference(run, short)
        if not rate:
            sys.exit(f"{layout}: {n_batches} batches a worker are too few to be measured; more --batches")
        return rate, run

    def has_mkl(self):
        """A build without it only says so where it tells of itself."""
        return "not compiled with Intel MKL" not in self.says(Layout("AVX2", 1, 0, 1, 1, 1))

    def says(self, layout):
        command = ["ct2-translator", "--model", self.model, "--compute_type", "int8", "--src", os.devnull]
        return subprocess.run(command, env=layout.environment() | {"CT2_VERBOSE": "1"}, capture_output=True, text=True,
                              check=False).stderr

    def settings(self, layout):
        """What it says of itself."""
        lines = [line.split("] ")[-1].strip(" -") for line in self.says(layout).splitlines()]
        return [line for line in lines if re.search(r"CPU:|ISA|MKL|backend|GEMM|compute type", line, re.I)]


class Attentiond:
    def __init__(self, options):
        self.load = str(pathlib.Path(options.build, "tests/bench/load"))
        program = pathlib.Path(options.build, "attentiond")
        self.command = list(map(str, [program, "serve", "--model", options.model, "--precision", "int8", "--host",
                                      "127.0.0.1", "--port", "0", *options.serve_flag]))
        clean = {k: v for k, v in os.environ.items() if not FOREIGN.match(k)}
        start = time.monotonic()
        self.process = subprocess.Popen(self.command, env=clean, stderr=subprocess.PIPE, text=True)
        self.said = []
        for line in self.process.stderr:
            self.said.append(line.rstrip())
            found = re.search(r"listening on \S*?:(\d+)", line)
            if found:
                self.port = found[1]
                break
        else:
            sys.exit("the daemon does not listen:\n" + "\n".join(self.said))
        self.load_seconds = time.monotonic() - start
        # What it logs from now on goes nowhere, so that it never waits for a reader.
        self.drain = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL)

    def rate(self, options, n_clients, beam_size, length):
        """Sentences a second, and tokens of each."""
        command = [self.load, "--port", self.port, "--input", options.input, "--clients", n_clients, "--beam-size",
                   beam_size, "--split-sentences", "off", "--duration", options.seconds, "--warm-up", "2", "--json",
                   "--source", options.source, "--target", options.target]
        if length:
            command += ["--min-decoding-length", length, "--max-decoding-length", length]
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
        run = json.loads(done.stdout)["runs"][0]
        if not run["answered"]:
            sys.exit(f"attentiond answered nothing within {options.seconds} s; --seconds sets a longer time")
        return run["requests_per_second"], run["target_tokens"] / run["answered"]

    def peak_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.search(r"VmHWM:\s*(\d+)", status)[1])

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.drain.wait()


def fastest(ct2, n_clients, beam_size, length, options, isas, has_mkl):
    """The best layout of a short trial, and the next one where a trial hardly tells them apart."""
    rates = {}
    for layout in layouts(n_clients, options.threads, isas, has_mkl):
        rates[layout], _ = ct2.rate(layout, TRIAL_BATCHES, beam_size, length)
        print(f"    trial, {n_clients} at once, beam {beam_size}: {rates[layout]:8.1f} sentences/s by {layout}",
              file=sys.stderr)
    best = sorted(rates, key=rates.get, reverse=True)[:2]
    return [layout for layout in best if rates[layout] > ALIKE * rates[best[0]]]


def compare(ct2, daemon, candidates, n_clients, beam_size, length, options):
    """A row of the table."""
    theirs, ours, tokens, runs = {layout: [] for layout in candidates}, [], 1.0, []
    for _ in range(options.rounds):
        for layout in candidates:
            rate, run = ct2.rate(layout, options.batches, beam_size, length)
            theirs[layout].append(rate)
            runs.append(run)
        rate, tokens = daemon.rate(options, n_clients, beam_size, length)
        ours.append(rate)
    best = max(candidates, key=lambda layout: statistics.median(theirs[layout]))
    their, our = statistics.median(theirs[best]), statistics.median(ours)
    spread = [(max(rates) - min(rates)) / statistics.median(rates) for rates in (theirs[best], ours)]
    their_tokens = sum(run.tokens for run in runs) / sum(run.sentences for run in runs)
    print(f"| {beam_size} | {length or 'real'} | {n_clients} | {their:,.1f} | {our:,.1f} | {our / their:.2f} | "
          f"{100 * spread[0]:.0f} %, {100 * spread[1]:.0f} % | {their_tokens:.1f}, {tokens:.1f} | {best} |", flush=True)
    return runs


def print_settings(ct2, daemon, layout, options):
    model = re.search(r"^model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    version = subprocess.run([daemon.command[0], "version"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"{model[1] if model else 'unknown processor'}, {options.threads} threads\n")
    print(f"attentiond: {version}\n    {' '.join(daemon.command)}")
    print("CTranslate2: its own words")
    for line in ct2.settings(layout) or ["nothing"]:
        print(f"    {line}")
    print(f"    not set: DNNL_MAX_CPU_ISA, ONEDNN_MAX_CPU_ISA, MKL_ENABLE_INSTRUCTIONS; "
          f"{TRIAL_BATCHES} batches a worker in trials, {options.batches} in rounds\n", flush=True)


def numbers(text):
    return [int(number) for number in text.split(",")]


def lengths(text):
    return [0 if word == "real" else int(word) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="a release build with tests/bench")
    parser.add_argument("--model", required=True)
    parser.add_argument("--ct2-model", required=True)
    parser.add_argument("--input", required=True, help="one sentence a line")
    parser.add_argument("--clients", type=numbers, default=[1, 32, 128])
    parser.add_argument("--beam-size", type=numbers, default=[1, 4])
    parser.add_argument("--length", type=lengths, default=[25])
    parser.add_argument("--source", default="en")
    parser.add_argument("--target", default="de")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batches", type=int, default=20, help="for each worker of CTranslate2")
    parser.add_argument("--seconds", type=float, default=10, help="of attentiond's window")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--isa", help="trials with this alone, AVX2 or AVX512")
    parser.add_argument("--serve-flag", action="append", default=[], help="for the daemon, such as --workers=2")
    return parser.parse_args()


def main():
    options = parse()
    if not shutil.which("ct2-translator"):
        print("ct2-translator not found")
        sys.exit(MISSING)
    lines = [line for line in pathlib.Path(options.input).read_text(encoding="utf-8").splitlines() if line.strip()]
    has_avx512 = " avx512f " in pathlib.Path("/proc/cpuinfo").read_text()
    isas = [options.isa] if options.isa else ["AVX2"] + ["AVX512"] * has_avx512
    with tempfile.TemporaryDirectory(prefix="compare-ct2-") as directory:
        print(f"{len(lines)} lines of {options.input}, shuffled")
        random.Random(1).shuffle(lines)
        options.input = pathlib.Path(directory, "text")
        options.input.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        pieces = subprocess.run([pathlib.Path(options.build, "tests/bench/pieces"), options.model, options.input],
                                capture_output=True, text=True, check=True).stdout.splitlines()
        ct2 = CTranslate2(options.ct2_model, without_end(pieces, options.ct2_model), directory)
        daemon = Attentiond(options)
        try:
            run_all(ct2, daemon, options, isas)
        finally:
            daemon.stop()


def run_all(ct2, daemon, options, isas):
    has_mkl = ct2.has_mkl()
    print_settings(ct2, daemon, Layout(isas[-1], int(has_mkl), 1, 1, options.threads, 1), options)
    print("| beam | length | sentences at once | CTranslate2: sentences/s | attentiond | ratio | spread of rounds | "
          "tokens a sentence (ours with the end) | CTranslate2's best |\n" + "|---" * 9 + "|", flush=True)
    runs = []
    for beam_size, length, n_clients in itertools.product(options.beam_size, options.length, options.clients):
        candidates = fastest(ct2, n_clients, beam_size, length, options, isas, has_mkl)
        runs += compare(ct2, daemon, candidates, n_clients, beam_size, length, options)
    print(f"\nloaded after: CTranslate2 {statistics.median(run.load_seconds for run in runs):.2f} s, attentiond "
          f"{daemon.load_seconds:.2f} s\npeak of resident memory: CTranslate2 {max(run.peak_bytes for run in runs) / 1e6:.0f} "
          f"MB, attentiond {daemon.peak_bytes() / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
