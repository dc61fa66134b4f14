#!/usr/bin/env python3
"""What replicas behind HAProxy do beside one daemon, and what HAProxy costs.

    tests/bench/cluster.py --load build/bench/tests/bench/load --input text --duration 20

One daemon with all cores, directly and through HAProxy; then 1, 2, ... replicas, each pinned to its share of the
cores (taskset), through HAProxy. The cost of a request at HAProxy is the difference of the medians of small requests
that one client sends in turn, directly and through it. HAProxy and the load run on the same cores, as they are all
that there are. The daemon is ATTENTIOND (default build/release/attentiond), the model --model."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/cluster"), str(ROOT / "tests/http")]
from cluster import Cluster, Haproxy  # pylint: disable=wrong-import-position
from serve import Daemon  # pylint: disable=wrong-import-position


class Pinned(Cluster):
    """Each replica on cores of its own; more replicas than cores share them in turn. Until HAProxy has as many
    servers as its file names, those beyond have an address where nobody listens."""

    def __init__(self, n, model):
        super().__init__(n=n, kernels=["auto"])
        cores = sorted(os.sched_getaffinity(0))
        self.shares = [cores[i::n] or [cores[i % len(cores)]] for i in range(n)]
        for i, replica in enumerate(self.replicas):
            replica.model = model
            share = ",".join(map(str, self.shares[i]))
            replica.start = self.pin(replica, share)
        self.n = n
        while len(self.addresses) < 3:
            self.addresses.append((f"127.0.0.{len(self.addresses) + 2}", 9))

    @staticmethod
    def pin(replica, share):
        own, program = replica.start, replica.program

        def start():
            command = pathlib.Path(f"/tmp/pinned-{os.getpid()}-{replica.host}")
            command.write_text(f'#!/bin/sh\nexec taskset -c {share} {program} "$@"\n')
            command.chmod(0o755)
            replica.program = str(command)
            try:
                return own()
            finally:
                command.unlink()
        return start


class Front(Haproxy):
    def is_there(self):
        return super(Haproxy, self).is_there() and self.states().count("UP") == min(self.cluster.n, 3)


def throughput(arguments, port):
    command = [arguments.load, "--port", str(port), "--input", arguments.input, "--clients", str(arguments.clients),
               "--duration", str(arguments.duration), "--json", *arguments.rest]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{result.stdout}{result.stderr}")
    run = json.loads(result.stdout)["runs"][0]
    return run


def one_after_the_other(ways, n):
    """Medians in microseconds of a small request, sent to each way in turn."""
    clients = [way() for way in ways]
    times = [[] for _ in ways]
    for i in range(n):
        for client, taken in zip(clients, times):
            begin = time.perf_counter()
            client.request("POST", "/detect", b'{"q":"Where is the train station?"}', {"Content-Type": "application/json"})
            response = client.getresponse()
            response.read()
            assert response.status == 200
            if i >= n // 10:
                taken.append((time.perf_counter() - begin) * 1e6)
    for client in clients:
        client.close()
    return [statistics.median(taken) for taken in times]


def say(name, run):
    latency = run["latency_ms"]
    print(f"{name:44} {run['requests_per_second']:9.1f} requests/s   p50 {latency['p50']:8.1f} ms   p99 {latency['p99']:8.1f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--load", default=str(ROOT / "build/bench/tests/bench/load"))
    parser.add_argument("--input", required=True, help="one sentence a line")
    parser.add_argument("--model", default=str(ROOT / "weights/en-de"))
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--duration", type=float, default=10)
    parser.add_argument("--replicas", type=int, default=3, help="up to 3, as packaging/haproxy.cfg has them")
    parser.add_argument("rest", nargs="*", help="for load")
    arguments = parser.parse_args()

    with Daemon(model=arguments.model) as daemon:
        say("one daemon, all cores, directly", throughput(arguments, daemon.port))
    for n in range(1, arguments.replicas + 1):
        with Pinned(n, arguments.model) as cluster, Front(cluster) as balancer:
            if n == 1:
                direct, through = one_after_the_other([cluster.replicas[0].connect, balancer.connect], 5000)
            shares = " | ".join(",".join(map(str, share)) for share in cluster.shares)
            say(f"{n} behind HAProxy, on cores {shares}", throughput(arguments, balancer.port))
    print(f"a small request: {direct:.0f} us directly, {through:.0f} us through HAProxy: {through - direct:.0f} us more")


if __name__ == "__main__":
    main()
