#!/usr/bin/env python3
"""Runs every fuzzer up to a number of executions, and says what came of it.

  tests/fuzz/campaign.py build/fuzz                        10 million each, one after the other
  tests/fuzz/campaign.py build/fuzz --runs 100000 json keys
  tests/fuzz/campaign.py build/fuzz --jobs 4 --seconds 600 at most 10 minutes each, four at a time
  tests/fuzz/campaign.py build/fuzz document:k office:x    of fuzzers of several readers (first.h) one reader each

What was found, and how many executions there have been, is kept in --finds (default: BUILD/finds),
so that a campaign that was stopped goes on where it was. A fuzzer's row is printed when it is done, the
table at the end; meanwhile it is in FINDS/table.md. The exit code is 1 where something was found: a file
named crash-, leak-, timeout-, oom- or slow-unit- in FINDS/NAME, which the fuzzer reads again when it is
given as its only argument."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import threading

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
# Bytes of an input at most; else as many as the longest sample has. All that a parser tells apart
# fits, and longer ones only take longer.
MAX_LENGTH = {"batch": 128, "client": 256, "html": 192, "packed": 66}
USUAL_MAX_LENGTH = 512
# A quarantine that fits into the cache, no stack for each allocation, and no memory given back: a report
# still has the stack of the access, and the fuzzer can be run again without these for the others.
ASAN = ("quarantine_size_mb=1:malloc_context_size=0:detect_stack_use_after_return=0:"
        "allocator_release_to_os_interval_ms=-1")
# Chunks between which the table is written.
CHUNK_RUNS = 500_000


class Fuzzer:
    def __init__(self, name, program, finds):
        self.name = name
        self.program = program
        self.finds = finds / self.name
        self.finds.mkdir(parents=True, exist_ok=True)
        corpus, _, self.first = name.partition(":")
        self.corpus = CORPUS / corpus
        self.state_file = finds / f"{self.name}.json"
        self.state = collections.Counter(runs=0, seconds=0, peak_mb=0)
        if self.state_file.exists():
            self.state.update(json.loads(self.state_file.read_text()))

    def findings(self):
        return sorted(file.name for file in self.finds.iterdir()
                      if re.match(r"(crash|leak|timeout|oom|slow-unit)-", file.name))

    def run(self, n_runs, seconds, timeout):
        """One chunk; False where it ended before it should."""
        longest = max((file.stat().st_size for file in self.corpus.iterdir()
                       if file.read_bytes()[:1] == self.first.encode() or not self.first), default=0)
        length = MAX_LENGTH.get(self.name) or max(USUAL_MAX_LENGTH, longest)
        command = [str(self.program), f"-runs={n_runs}", f"-max_len={length}",
                   f"-timeout={timeout}", "-rss_limit_mb=2048", "-print_final_stats=1", "-reload=0", "-print_pcs=0",
                   # Weighing inputs by rare features takes a fifth of the time.
                   "-print_funcs=0", "-entropic=0",
                   f"-seed={self.state['runs'] % 2**31 + 1}", f"-artifact_prefix={self.finds}/"]
        if seconds:
            command.append(f"-max_total_time={seconds}")
        if self.first:
            command.append(f"--first={self.first}")
        command += [str(self.finds), str(self.corpus)]
        options = f"{ASAN}:{os.environ.get('ASAN_OPTIONS', '')}"
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                              env={**os.environ, "ASAN_OPTIONS": options,
                                   "UBSAN_OPTIONS": "print_stacktrace=1:" + os.environ.get("UBSAN_OPTIONS", "")})
        report = done.stderr.decode(errors="replace")
        stats = {key: int(value) for key, value in re.findall(r"^stat::(\w+):\s+(\d+)", report, re.M)}
        n_done = stats.get("number_of_executed_units", 0)
        rate = stats.get("average_exec_per_sec", 0)
        self.state["runs"] += n_done
        self.state["seconds"] += n_done / rate if rate else 1
        self.state["peak_mb"] = max(self.state["peak_mb"], stats.get("peak_rss_mb", 0))
        self.state_file.write_text(json.dumps(self.state))
        if done.returncode != 0:
            sys.stderr.write(report[-6000:])
        return done.returncode == 0


def table(fuzzers):
    rows = [["fuzzer", "executions", "a second", "inputs kept", "MiB at most", "findings"]]
    for fuzzer in fuzzers:
        state = fuzzer.state
        rate = state["runs"] / state["seconds"] if state["seconds"] else 0
        n_kept = sum(1 for _ in fuzzer.finds.iterdir()) - len(fuzzer.findings())
        rows.append([fuzzer.name, f"{state['runs']:,}", f"{rate:,.0f}", str(n_kept), str(state["peak_mb"]),
                     ", ".join(fuzzer.findings()) or "none"])
    rows.insert(1, ["---", "---:", "---:", "---:", "---:", "---"])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="which; all by default")
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=int, default=0, help="for each fuzzer, this time; 0: as long as it takes")
    parser.add_argument("--timeout", type=int, default=10, help="seconds of one run that are a finding; by the clock")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--finds", type=pathlib.Path)
    arguments = parser.parse_intermixed_args()
    finds = arguments.finds or arguments.build / "finds"
    programs = {path.name.removeprefix("fuzz_"): path for path in sorted((arguments.build / "tests/fuzz").glob("fuzz_*"))
                if path.is_file()}
    missing = sorted(name for name in arguments.names if name.partition(":")[0] not in programs)
    if missing or not programs:
        parser.error(f"not there: {', '.join(missing or ['fuzzers'])}; build them with ninja -C {arguments.build}")
    fuzzers = [Fuzzer(name, programs[name.partition(":")[0]], finds) for name in arguments.names or programs]
    lock = threading.Lock()

    def work(fuzzer):
        is_sound, began = True, fuzzer.state["seconds"]
        while is_sound and (left := arguments.runs - fuzzer.state["runs"]) > 0:
            seconds = int(arguments.seconds - (fuzzer.state["seconds"] - began)) if arguments.seconds else 0
            if arguments.seconds and seconds <= 0:
                break
            is_sound = fuzzer.run(min(left, CHUNK_RUNS), seconds, arguments.timeout)
            with lock:
                (finds / "table.md").write_text(table(fuzzers))
        print(table([fuzzer]).splitlines()[-1], flush=True)
        return is_sound

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        all_sound = all(list(pool.map(work, fuzzers)))
    print("\n" + table(fuzzers), end="")
    return 0 if all_sound and not any(fuzzer.findings() for fuzzer in fuzzers) else 1


if __name__ == "__main__":
    sys.exit(main())
