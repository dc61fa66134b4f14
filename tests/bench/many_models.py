#!/usr/bin/env python3
"""Many models in one daemon, with memory for some of them.

  many_models.py                              twenty variants of the test model, memory for eight
  many_models.py --models DIR --fit 4         a directory of models that is there already

What must hold, and exit code 1 where it does not: every model answers, and with the bytes that it
gives in a daemon of its own; what the models count is never over models_memory, nor is the memory
that the daemon really takes beside what it took with none loaded; an answer of a model that is not
in memory takes less than --cold-ms. Then so many clients as --clients ask for models at random,
the popular ones more often (1/rank), for --seconds: none may fail, whatever is loaded and unloaded
meanwhile.

Starts daemons of its own: ATTENTIOND (default build/release/attentiond), further flags behind --."""

import argparse
import asyncio
import json
import os
import pathlib
import random
import shutil
import statistics
import sys
import tempfile
import time

from soak import SENTENCES, Client

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "http"))
from model_fixtures import make_model  # pylint: disable=wrong-import-position
from serve import Daemon  # pylint: disable=wrong-import-position

MIB = 1 << 20
# Of the program itself, which grows a little with its first requests: heaps, sockets, ICU's rules.
PROGRAM_MIB = 24


def resident(daemon):
    text = pathlib.Path(f"/proc/{daemon.pid}/smaps_rollup").read_text()
    fields = dict(line.split()[:2] for line in text.splitlines()[1:])
    return int(fields["Rss:"]) / 1024


def cpu_seconds(daemon):
    fields = pathlib.Path(f"/proc/{daemon.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def listed(daemon):
    return {model["id"]: model for model in daemon.get("/models").json["models"]}


def fields_of(model):
    """Of a request that takes this model, whatever its languages are."""
    return {"model": model["id"], **{side: (model[side + "s"] or [""])[0] for side in ("source", "target")}}


def ask(daemon, fields, q):
    start = time.monotonic()
    reply = daemon.translate(q, **fields)
    if reply.status != 200:
        raise SystemExit(f"{fields}: {reply}")
    return reply.json["translatedText"], time.monotonic() - start


def details(daemon, names):
    return [daemon.get("/models/" + name).json for name in names]


def counted(daemon, names):
    """Bytes that count, of the models that are in memory."""
    sizes = [model.get("memory", {}).get("loaded_bytes", 0) for model in details(daemon, names)]
    return sum(sizes), sum(size > 0 for size in sizes)


class Findings:
    def __init__(self):
        self.broken = []

    def demand(self, condition, what):
        if not condition:
            self.broken.append(what)
            print("BROKEN:", what)


def one_after_the_other(daemon, models, expected, limit, base, arguments, findings):
    """Each model is asked twice: when it has to be loaded, and when it is there."""
    cold, cold_cpu, warm, peak, n_most = [], [], [], 0, 0
    for name, fields in models.items():
        was_cold = listed(daemon)[name]["state"] == "cold"
        cpu = cpu_seconds(daemon)
        first, seconds = ask(daemon, fields, SENTENCES[0])
        if was_cold:
            cold.append(seconds)
            cold_cpu.append(cpu_seconds(daemon) - cpu)
        again, seconds = ask(daemon, fields, SENTENCES[0])
        warm.append(seconds)
        findings.demand(first == again == expected[name, SENTENCES[0]], f"{name} answers {first!r}, then {again!r}")
        n_bytes, n_loaded = counted(daemon, models)
        n_most = max(n_most, n_loaded)
        peak = max(peak, resident(daemon))
        findings.demand(n_bytes <= limit, f"{n_bytes} bytes count, over the limit of {limit}")
    findings.demand(peak - base <= limit / MIB + PROGRAM_MIB,
                    f"{peak - base:.0f} MiB are resident beside the program, over the limit of {limit / MIB:.0f}")
    if cold:
        findings.demand(max(cold) * 1e3 < arguments.cold_ms, f"a cold answer took {max(cold) * 1e3:.0f} ms")
        print(f"  {len(cold)} cold answers {quantiles(cold)}, {statistics.mean(cold_cpu) * 1e3:.0f} ms of processor time each")
    print(f"  warm {quantiles(warm)}; at most {n_most} in memory, "
          f"{peak - base:.0f} MiB resident beside the program's {base:.0f}, limit {limit / MIB:.0f} MiB")


def quantiles(seconds):
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"p50 {statistics.median(ordered) * 1e3:.0f} ms, p95 {p95 * 1e3:.0f} ms, most {ordered[-1] * 1e3:.0f} ms"


async def client(daemon, models, weights, expected, end, seconds, failures, seed):
    dice = random.Random(seed)
    connection = Client(daemon.port)
    while time.monotonic() < end:
        name, sentence = dice.choices(list(models), weights)[0], dice.choice(SENTENCES)
        start = time.monotonic()
        status, _, body = await connection.ask(("/translate", {"q": sentence, **models[name]}))
        seconds.append(time.monotonic() - start)
        text = json.loads(body).get("translatedText")
        if status != 200 or expected[name, sentence] != text:
            failures.append((name, status, body[:200]))
    connection.close()


async def together(daemon, models, expected, arguments, limit, base, findings):
    seconds, failures, peak = [], [], 0
    before = sum(model["use"]["loads"] for model in details(daemon, models))
    end = time.monotonic() + arguments.seconds
    weights = [1 / rank for rank in range(1, len(models) + 1)]
    tasks = [asyncio.create_task(client(daemon, models, weights, expected, end, seconds, failures, seed))
             for seed in range(arguments.clients)]
    while time.monotonic() < end:
        peak = max(peak, resident(daemon))
        await asyncio.sleep(0.05)
    await asyncio.gather(*tasks)
    findings.demand(not failures, f"{len(failures)} requests failed, such as {failures[:1]}")
    findings.demand(peak - base <= limit / MIB + PROGRAM_MIB,
                    f"{peak - base:.0f} MiB are resident beside the program, over the limit of {limit / MIB:.0f}")
    loads = sum(model["use"]["loads"] for model in details(daemon, models)) - before
    print(f"  {len(seconds)} requests of {arguments.clients} clients, {len(seconds) / arguments.seconds:.1f} a second, "
          f"{quantiles(seconds)}; {loads} loads; {peak - base:.0f} MiB resident beside the program's")


def answers_alone(directory, models, flags):
    """What each model says in a daemon of its own."""
    answers = {}
    for name, fields in models.items():
        with Daemon(*flags, model=str(directory / name)) as daemon:
            answers.update({(name, sentence): ask(daemon, fields, sentence)[0] for sentence in SENTENCES})
    return answers


def models_and_size_of_one(directory, flags):
    """{name: fields of a request}, and what the first counts while it is in memory."""
    with Daemon("--models-directory", str(directory), *flags, model=None) as daemon:
        models = {name: fields_of(model) for name, model in listed(daemon).items()}
        first = next(iter(models))
        ask(daemon, models[first], SENTENCES[0])
        return models, counted(daemon, [first])[0]


def run(directory, cache, arguments):
    findings = Findings()
    flags = arguments.flags
    models, n_bytes = models_and_size_of_one(directory, flags)
    limit = int(n_bytes * (arguments.fit + 0.5))
    expected = answers_alone(directory, models, flags)
    # For loads that have to pack the weights first.
    flags = ["--cache-dir", str(cache), *flags]
    print(f"{len(models)} models, memory for {arguments.fit}: {limit / MIB:.0f} MiB")
    with Daemon("--models-directory", str(directory), "--models-memory", str(limit), *flags, model=None) as daemon:
        base = resident(daemon)
        for what in ("for the first time, weights are packed", "once more"):
            print(what)
            one_after_the_other(daemon, models, expected, limit, base, arguments, findings)
        print("together")
        asyncio.run(together(daemon, models, expected, arguments, limit, base, findings))
    return 1 if findings.broken else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=pathlib.Path, help="a directory of models, instead of variants")
    parser.add_argument("--count", type=int, default=20, help="variants; default 20")
    parser.add_argument("--fit", type=int, default=8, help="models that models_memory has room for; default 8")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--cold-ms", type=float, default=1000)
    parser.add_argument("flags", nargs="*", help="of attentiond serve, behind --")
    arguments = parser.parse_args()
    root = pathlib.Path(tempfile.mkdtemp(prefix="many-models-"))
    try:
        models = arguments.models or root / "models"
        if arguments.models is None:
            for i in range(arguments.count):
                make_model(models / f"model-{i:02}", seed=i)
        return run(models, root / "packed", arguments)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    sys.exit(main())
