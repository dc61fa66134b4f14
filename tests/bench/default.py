#!/usr/bin/env python3
"""Whether the default is the fastest: the daemon without a setting beside every layout of the machine's threads.

    default.py --attentiond BIN --load BIN --input FILE [--model DIR[:TOKENS] ...] [--clients 1,2,4,8,12,16,24,32,48,64,128]
               [--beam-size 1] [--rounds 9] [--seconds 0.4] [--learn 4] [--at-least 0.97] [--compare BIN]
               [--source en] [--target de]

A layout is a number of --workers and of --threads-per-worker whose product is not more than the processors that this
process may use. TOKENS gives each target of a model that many tokens: for models with random weights.

Each layout has a daemon and a load generator that live all the time, but all pairs are stopped (SIGSTOP) except the one
whose turn it is, for --seconds, round after round, so that a host whose speed changes within seconds slows all alike. The
default learns its layout under a load, and so it, and all others, have --learn seconds before they count. Tokens are counted
by the daemon. Printed are target tokens a second, the default's part of the best layout with the standard error of the
rounds, and in the end the worst cell. The exit code is 1 where a cell is below --at-least by more than twice that error.
--compare BIN adds another binary with its own default, and prints how many times as fast the default is.
"""

import argparse
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import time
import urllib.request

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# From when a pair runs again until it counts.
SETTLE_S = 0.05


def layouts(n_processors):
    return [(workers, threads) for workers in range(1, n_processors + 1)
            for threads in range(1, n_processors // workers + 1)]


class Pair:
    """A daemon, and the load generator that asks it."""

    def __init__(self, program, model, name, flags):
        self.name = name
        self.generator = None
        self.daemon = subprocess.Popen([program, "serve", "--model", model, "--port", "0", *flags],
                                       stderr=subprocess.PIPE, text=True)
        for line in self.daemon.stderr:
            found = re.search(r"listening on \S*?:(\d+)", line)
            if found:
                self.port = found[1]
                break
        else:
            raise SystemExit(f"{name}: the daemon does not listen")
        # What it logs from now on goes nowhere, so that it never waits for a reader.
        self.drain = subprocess.Popen(["cat"], stdin=self.daemon.stderr, stdout=subprocess.DEVNULL)
        self.signal(signal.SIGSTOP)

    def signal(self, number):
        for process in (self.daemon, self.generator):
            if process:
                process.send_signal(number)

    def ask(self, options, n_tokens, n_clients, beam_size):
        flags = ["--clients", str(n_clients), "--beam-size", str(beam_size), "--split-sentences", "off",
                 "--source", options.source, "--target", options.target]
        if n_tokens:
            flags += ["--min-decoding-length", n_tokens, "--max-decoding-length", n_tokens]
        self.signal(signal.SIGCONT)
        self.generator = subprocess.Popen([options.load, "--port", self.port, "--input", options.input, "--warm-up", "0.1",
                                           "--duration", "3600", *flags],
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def leave(self):
        self.signal(signal.SIGCONT)
        self.generator.kill()
        self.generator.wait()
        self.generator = None
        time.sleep(0.2)  # what was under way ends
        self.signal(signal.SIGSTOP)

    def n_tokens(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as reply:
            text = reply.read().decode()
        return int(re.search(r"^attentiond_target_tokens_total (\d+)", text, re.MULTILINE)[1])

    def measure(self, seconds):
        """Target tokens a second, in its turn."""
        self.signal(signal.SIGCONT)
        time.sleep(SETTLE_S)
        begin, first = time.monotonic(), self.n_tokens()
        time.sleep(seconds)
        rate = (self.n_tokens() - first) / (time.monotonic() - begin)
        self.signal(signal.SIGSTOP)
        return rate

    def stop(self):
        self.signal(signal.SIGCONT)
        self.daemon.terminate()
        self.daemon.wait()
        self.drain.wait()


def measure_all(pairs, options, n_tokens, n_clients, beam_size):
    """The rates of each pair, by its name."""
    for pair in pairs:
        pair.ask(options, n_tokens, n_clients, beam_size)
        time.sleep(options.learn)
        pair.signal(signal.SIGSTOP)
    rates = {pair.name: [] for pair in pairs}
    for number in range(options.rounds):
        for pair in pairs[::-1] if number % 2 else pairs:
            rates[pair.name].append(pair.measure(options.seconds))
    for pair in pairs:
        pair.leave()
        if not any(rates[pair.name]):
            raise SystemExit(f"{pair.name}: no token in {options.rounds} rounds of {options.seconds} s: "
                             f"does the model translate from {options.source} into {options.target}?")
    return rates


def part_of(rates, other):
    """The means' ratio, and its standard error: rounds belong together, as neighbours in time."""
    ratio = statistics.mean(rates) / statistics.mean(other)
    differences = [(a - ratio * b) / statistics.mean(other) for a, b in zip(rates, other)]
    return ratio, statistics.pstdev(differences) / len(differences) ** 0.5


def numbers(text):
    return [int(number) for number in text.split(",")]


def measure_model(options, model, programs, cells):
    directory, _, n_tokens = str(model).partition(":")
    names = [name for name, _, _ in programs]
    pairs = []
    try:
        for name, program, flags in programs:
            pairs.append(Pair(program, directory, name, flags))
        print(f"\n{directory}\n\n| beam | clients |", " | ".join(names), "| default / best |")
        print("|---" * (len(names) + 3) + "|", flush=True)
        for beam_size in options.beam_size:
            for n_clients in options.clients:
                rates = measure_all(pairs, options, n_tokens, n_clients, beam_size)
                best = max((name for name in names if "x" in name), key=lambda name: statistics.mean(rates[name]))
                ratio, error = part_of(rates["default"], rates[best])
                cells.append((ratio, error, directory, n_clients, beam_size, best))
                remark = ""
                if options.compare:
                    times, doubt = part_of(rates["default"], rates["compared"])
                    remark = f" {times:.3f} ± {doubt:.3f} of compared |"
                print(f"| {beam_size} | {n_clients} |", " | ".join(f"{statistics.mean(rates[name]):,.0f}" for name in names),
                      f"| {ratio:.3f} ± {error:.3f} |{remark}", flush=True)
    finally:
        for pair in pairs:
            pair.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attentiond", required=True)
    parser.add_argument("--load", required=True)
    parser.add_argument("--input", required=True, help="one text per line")
    parser.add_argument("--model", action="append", metavar="DIR[:TOKENS]")
    parser.add_argument("--clients", type=numbers, default=[1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 128])
    parser.add_argument("--beam-size", type=numbers, default=[1])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--learn", type=float, default=4)
    parser.add_argument("--at-least", type=float, default=0.97)
    parser.add_argument("--compare", help="another binary, for a column of its own")
    parser.add_argument("--source", default="en")
    parser.add_argument("--target", default="de")
    options = parser.parse_args()

    programs = [("default", options.attentiond, [])]
    if options.compare:
        programs.append(("compared", options.compare, []))
    for workers, threads in layouts(len(os.sched_getaffinity(0))):
        flags = ["--workers", str(workers), "--threads-per-worker", str(threads)]
        programs.append((f"{workers} x {threads}", options.attentiond, flags))
    cells = []
    for model in options.model or [REPOSITORY / "weights/en-de"]:
        measure_model(options, model, programs, cells)
    ratio, error, directory, n_clients, beam_size, best = min(cells)
    print(f"\nworst: {ratio:.3f} ± {error:.3f} of {best}, {directory}, {n_clients} clients, beam {beam_size}")
    sys.exit(any(cell[0] + 2 * cell[1] < options.at_least for cell in cells))


main()
