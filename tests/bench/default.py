#!/usr/bin/env python3
"""Whether the default is the fastest: the daemon without a setting beside every layout of the machine's threads.

    default.py --attentiond BIN --load BIN --input FILE [--model DIR] [--clients 1,2,4,8,16,32,64,128] [--beam-size 1,4]
               [--rounds 15] [--seconds 1] [--at-least 0.97] [-- FLAG of load ...]

A layout is a number of --workers and of --threads-per-worker whose product is not more than the processors that this
process may use. One daemon for each is there all the time, and each round asks all of them in turn, in another order
each time, so that what else the machine does meets all alike; many short rounds do that better than few long ones.
Printed are medians over the rounds, in target tokens a second. The exit code is 1 where the default is less than
--at-least of the best layout. --compare BIN adds another binary with its own default, for the same table.
"""

import argparse
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def layouts(n_processors):
    return [(workers, threads) for workers in range(1, n_processors + 1)
            for threads in range(1, n_processors // workers + 1)]


class Daemon:
    def __init__(self, program, model, name, flags):
        self.name = name
        self.process = subprocess.Popen([program, "serve", "--model", model, "--port", "0", *flags],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r"listening on \S*?:(\d+)", line)
            if found:
                self.port = found[1]
                break
        else:
            raise SystemExit(f"{name}: the daemon does not listen")
        # What it logs from now on goes nowhere, so that it never waits for a reader.
        self.drain = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL)

    def measure(self, options, n_clients, beam_size):
        done = subprocess.run([options.load, "--port", self.port, "--input", options.input, "--clients", str(n_clients),
                               "--beam-size", str(beam_size), "--duration", str(options.seconds), "--warm-up", "0.5",
                               "--json", *options.flags], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(f"{self.name}, {n_clients} clients: load failed")
        return json.loads(done.stdout)["runs"][0]["target_tokens_per_second"]

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.drain.wait()


def measure_all(daemons, options, n_clients, beam_size, order):
    figures = {daemon.name: [] for daemon in daemons}
    for _ in range(options.rounds):
        order.shuffle(daemons)
        for daemon in daemons:
            figures[daemon.name].append(daemon.measure(options, n_clients, beam_size))
    return {name: statistics.median(values) for name, values in figures.items()}


def numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attentiond", required=True)
    parser.add_argument("--load", required=True)
    parser.add_argument("--input", required=True, help="one text per line")
    parser.add_argument("--model", default=REPOSITORY / "weights/en-de")
    parser.add_argument("--clients", type=numbers, default=[1, 2, 4, 8, 16, 32, 64, 128])
    parser.add_argument("--beam-size", type=numbers, default=[1, 4])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--at-least", type=float, default=0.97)
    parser.add_argument("--compare", help="another binary, for a column of its own")
    parser.add_argument("flags", nargs="*", help="for load, behind --")
    options = parser.parse_args()

    programs = [("default", options.attentiond, [])]
    if options.compare:
        programs.append(("compared", options.compare, []))
    for workers, threads in layouts(len(os.sched_getaffinity(0))):
        flags = ["--workers", str(workers), "--threads-per-worker", str(threads)]
        programs.append((f"{workers} x {threads}", options.attentiond, flags))
    names = [name for name, _, _ in programs]
    daemons = []
    order = random.Random(1)
    is_fastest = True
    try:
        for name, program, flags in programs:
            daemons.append(Daemon(program, options.model, name, flags))
        print("| beam | clients |", " | ".join(names), "| default / best |")
        print("|---" * (len(names) + 3) + "|", flush=True)
        for beam_size in options.beam_size:
            for n_clients in options.clients:
                medians = measure_all(daemons, options, n_clients, beam_size, order)
                best = max(value for name, value in medians.items() if name not in ("default", "compared"))
                ratio = medians["default"] / best
                is_fastest = is_fastest and ratio >= options.at_least
                print(f"| {beam_size} | {n_clients} |", " | ".join(f"{medians[name]:,.0f}" for name in names),
                      f"| {ratio:.3f} |", flush=True)
    finally:
        for daemon in daemons:
            daemon.stop()
    sys.exit(not is_fastest)


main()
