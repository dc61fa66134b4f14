#!/usr/bin/env python3
"""What a daemon must stand, for as long as is asked for; each prints its figures, and exits with 1
where a promise is broken.

  soak.py mixed --seconds 3600      short and long texts, batches, traces, aborts, reloads: 0 wrong,
                                    0 lost, memory and descriptors as after the warm-up
  soak.py idle --connections 2000 --queued 500      /health meanwhile: p99 within 50 ms, 0 lost
  soak.py overload --factor 20 --seconds 600        goodput at least 90 % of the best, every refusal
                                                    503 with Retry-After within 20 ms, memory flat
  soak.py crowd --clients 50 --seconds 60           clients that ask for as much as they may: /health
                                                    meanwhile p99 within 100 ms and none above 1 s,
                                                    0 lost, memory flat
  soak.py aborts --count 10000      clients that leave at any moment: nothing of theirs is left
  soak.py reloads --count 500       under load, one in five with a broken model: 0 failed
  soak.py stops --count 200         SIGTERM under load: every request taken is answered
  soak.py identity --count 100000   answers under load equal, byte for byte, those given alone

Each starts a daemon of its own: ATTENTIOND (default build/release/attentiond) with tests/models/en-de
or ATTENTIOND_TEST_MODEL; overload sends with the tests/bench/load that was built beside it, which ./run
does not build."""

import argparse
import asyncio
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "http"))
from serve import BINARY, MODEL, Daemon  # pylint: disable=wrong-import-position

SENTENCES = [
    "Where is the train station?", "I have never seen such a thing.", "She sings very well.",
    "We are going to the mountains tomorrow.", "Can you help me, please?", "It is raining again.",
    "My brother lives in a small town.", "The children are playing in the garden.",
    "He did not know what to say.", "Do you want a cup of coffee?", "The book is on the table.",
    "I would like to learn German.", "They bought a new house last year.", "Time flies.",
    "This is the best day of my life.", "Nobody knows the answer.",
]
BURST_MS = 5
LOAD = pathlib.Path(BINARY).parent / "tests/bench/load"
# Until idle batches have given their memory back, which they do after a second.
REST_S = 2
# Holes that one load leaves in glibc's heaps; what a reload gives back to the system is not among them.
HEAP_SLACK_MIB = 8


def translate(q, **fields):
    return "/translate", {"q": q, "source": "en", "target": "de", **fields}


def attention(q, **fields):
    return "/attention", {"q": q, "source": "en", "target": "de", **fields}


KINDS = [translate(sentence) for sentence in SENTENCES] + [
    translate(" ".join(SENTENCES)),
    translate(" ".join(SENTENCES * 3), beam_size=1),
    translate(SENTENCES[:8]),
    translate(SENTENCES[:3], alternatives=3),
    translate("<p>A <b>red</b> house</p>", format="html"),
    attention(SENTENCES[0]),
    attention(SENTENCES[1], format="safetensors"),
    attention(SENTENCES[2], format="png"),
]


class Client:
    """A connection that is kept, and opened anew when the daemon has closed it."""

    def __init__(self, port):
        self.port = port
        self.reader = self.writer = None

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 26)

    def close(self):
        if self.writer:
            self.writer.close()
        self.reader = self.writer = None

    def abort(self):
        """A reset, not a farewell."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(1, 13, struct.pack("ii", 1, 0))  # SO_LINGER
        self.writer.transport.abort()
        self.reader = self.writer = None

    async def send(self, kind):
        path, fields = kind
        if self.writer is None:
            await self.open()
        body = json.dumps(fields).encode() if fields is not None else b""
        method = "POST" if fields is not None else "GET"
        self.writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                          f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await self.writer.drain()

    async def receive(self):
        """Status, headers in lower case, body."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(await self.reader.readline(), 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        else:
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.close()
        return int(head[0].split()[1]), headers, body

    async def ask(self, kind):
        await self.send(kind)
        return await self.receive()


class Watch:
    """Memory and descriptors of a daemon."""

    def __init__(self, daemon):
        self.daemon = daemon

    def memory(self):
        text = pathlib.Path(f"/proc/{self.daemon.pid}/smaps_rollup").read_text()
        fields = dict(line.split()[:2] for line in text.splitlines()[1:])
        return int(fields["Private_Dirty:"]) / 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.daemon.pid}/fd"))

    async def settled(self, seconds=30):
        """Waits until nobody is connected or served any more."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            metrics = self.daemon.metrics()
            busy = sum(v for k, v in metrics.items() if k in BUSY)
            if busy <= 1:  # the one that asks
                return True
            await asyncio.sleep(0.1)
        return False


BUSY = tuple("attentiond_" + name for name in
             ("requests_in_flight", "queue_depth", "sentences_running", "rows_running"))


class Report:
    def __init__(self):
        self.broken = []

    def say(self, text):
        print(text, flush=True)

    def demand(self, holds, what):
        self.say(("ok      " if holds else "BROKEN  ") + what)
        if not holds:
            self.broken.append(what)


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


async def alone(port, kinds):
    client = Client(port)
    answers = []
    for kind in kinds:
        status, _, body = await client.ask(kind)
        assert status == 200, (kind, status, body[:300])
        answers.append(body)
    client.close()
    return answers


class Traffic:
    """Clients that ask, one after the other, for things whose answers are known."""

    def __init__(self, port, kinds, answers, n_clients, seed=1):
        self.port, self.kinds, self.answers = port, kinds, answers
        self.is_over = False
        self.n_right = self.n_wrong = self.n_lost = self.n_refused = self.n_aborted = 0
        self.examples = []
        self.abort_share = 0.0
        self.tasks = [asyncio.create_task(self._run(random.Random(seed * 1000 + i)))
                      for i in range(n_clients)]

    async def _one(self, client, chance):
        i = chance.randrange(len(self.kinds))
        if chance.random() < self.abort_share:
            await client.send(self.kinds[i])
            await asyncio.sleep(chance.expovariate(100))
            client.abort()
            self.n_aborted += 1
            return
        status, headers, body = await client.ask(self.kinds[i])
        if status == 200 and body == self.answers[i]:
            self.n_right += 1
        elif status == 503 and "retry-after" in headers:
            self.n_refused += 1
        else:
            self.n_wrong += 1
            self.examples.append((self.kinds[i][0], status, body[:200]))

    async def _run(self, chance):
        client = Client(self.port)
        while not self.is_over:
            try:
                await self._one(client, chance)
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                self.n_lost += 1
                self.examples.append(repr(error))
                client.close()
        client.close()

    async def end(self):
        self.is_over = True
        await asyncio.gather(*self.tasks)

    def demand(self, report):
        report.say(f"        {self.n_right} right, {self.n_aborted} aborted, {self.n_refused} refused; "
                   f"{self.examples[:3]}")
        report.demand(self.n_wrong == 0, f"{self.n_wrong} wrong answers")
        report.demand(self.n_lost == 0, f"{self.n_lost} lost requests")


async def at_rest(watch):
    """Memory and descriptors."""
    await watch.settled()
    await asyncio.sleep(REST_S)
    return watch.memory(), watch.descriptors()


async def demand_as_before(report, watch, memory, descriptors, slack_mib=HEAP_SLACK_MIB):
    report.demand(await watch.settled(), "no request, sentence or row is left behind")
    now, left = await at_rest(watch)
    report.demand(now <= memory + slack_mib,
                  f"memory {now:.1f} MiB, {memory:.1f} after the warm-up")
    report.demand(left <= descriptors, f"{left} descriptors, {descriptors} before")


def broken_copies(root):
    cut = root / "cut"
    shutil.copytree(MODEL, cut)
    with open(cut / "model.safetensors", "r+b") as file:
        file.truncate(100000)
    no_json = root / "no_json"
    shutil.copytree(MODEL, no_json)
    (no_json / "config.json").write_text("{")
    return [cut, no_json, root / "missing"]


class Link:
    """A model directory that is switched between two copies and broken ones."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        # Of one name, which answers tell.
        self.sound = [self.root / "a" / "model", self.root / "b" / "model"]
        for directory in self.sound:
            shutil.copytree(MODEL, directory)
        self.broken = broken_copies(self.root)
        self.path = self.root / "model"
        self.use(self.sound[0])

    def use(self, directory):
        fresh = self.root / "fresh"
        fresh.unlink(missing_ok=True)
        os.symlink(directory, fresh)
        os.rename(fresh, self.path)

    def daemon(self, *flags):
        return Daemon("--cache-dir", str(self.root / "cache"), *flags, model=str(self.path))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        shutil.rmtree(self.root)


async def reload_once(daemon, link, number):
    is_broken = number % 5 == 4
    link.use(link.broken[number // 5 % 3] if is_broken else link.sound[number % 2])
    outcomes = [f'attentiond_reloads_total{{outcome="{name}"}}' for name in ("done", "failed")]
    before = await asyncio.to_thread(daemon.metrics)
    daemon.process.send_signal(signal.SIGHUP)
    while True:
        now = await asyncio.to_thread(daemon.metrics)
        if any(now[name] > before[name] for name in outcomes):
            return now[outcomes[is_broken]] > before[outcomes[is_broken]]
        await asyncio.sleep(0.01)


async def mixed(arguments, report):
    async def give_back():
        """What the heap keeps for later goes back to the system with a generation: what remains is in use."""
        for number in range(2):
            await reload_once(daemon, link, number)

    with Link() as link, link.daemon() as daemon:
        answers = await alone(daemon.port, KINDS)
        watch = Watch(daemon)
        warm = Traffic(daemon.port, KINDS, answers, 16)
        warm.abort_share = 0.05
        await asyncio.sleep(min(20, arguments.seconds / 4))
        for number in range(10):
            await reload_once(daemon, link, number)
        await warm.end()
        await give_back()
        memory, descriptors = await at_rest(watch)
        traffic = Traffic(daemon.port, KINDS, answers, 16, seed=2)
        traffic.abort_share = 0.05
        end, under_load, as_expected = time.monotonic() + arguments.seconds, [], True
        while time.monotonic() < end:
            await asyncio.sleep(min(5, max(0, end - time.monotonic())))
            as_expected = await reload_once(daemon, link, len(under_load)) and as_expected
            under_load.append(watch.memory())
        await traffic.end()
        traffic.demand(report)
        report.demand(as_expected, f"{len(under_load)} reloads ended as they should")
        quarter = len(under_load) // 4 + 1
        first, last = (statistics.median(part) for part in (under_load[:quarter], under_load[-quarter:]))
        print(f"        memory under load: {first:.1f} MiB in the first quarter, {last:.1f} in the last (medians), most {max(under_load):.1f}")
        await give_back()
        await demand_as_before(report, watch, memory, descriptors, slack_mib=1)


async def measure_health(daemon, is_over):
    """Seconds of each answer until is_over()."""
    client, waits = Client(daemon.port), []
    while not is_over():
        start = time.monotonic()
        status, _, _ = await client.ask(("/health", None))
        assert status == 200
        waits.append(time.monotonic() - start)
        await asyncio.sleep(0.005)
    client.close()
    return waits


def demand_prompt_health(report, waits, most_ms):
    p99 = percentile(waits, 0.99) * 1000
    report.say(f"        /health {len(waits)} times: p50 {percentile(waits, 0.5) * 1000:.1f} ms, "
               f"p99 {p99:.1f} ms, most {max(waits) * 1000:.1f} ms")
    report.demand(p99 <= most_ms, f"/health p99 {p99:.1f} ms, {most_ms} allowed")


async def idle(arguments, report):
    n = arguments.connections
    flags = ["--max-connections", str(n + arguments.queued + 100),
             "--max-queued-sentences", str(arguments.queued * 2)]
    with Daemon(*flags) as daemon:
        answers = await alone(daemon.port, KINDS[:16])
        resting = [Client(daemon.port) for _ in range(n)]
        for client in resting:
            await client.ask(("/health", None))
        queued = [Client(daemon.port) for _ in range(arguments.queued)]
        is_over = False
        for i, client in enumerate(queued):
            await client.send(KINDS[i % 16])
        task = asyncio.create_task(measure_health(daemon, lambda: is_over))
        replies = await asyncio.gather(*(client.receive() for client in queued), return_exceptions=True)
        is_over = True
        waits = await task
        right = sum(not isinstance(r, BaseException) and r[0] == 200 and r[2] == answers[i % 16]
                    for i, r in enumerate(replies))
        alive = 0
        for client in resting:
            alive += (await client.ask(("/health", None)))[0] == 200
            client.close()
        report.demand(right == arguments.queued, f"{right} of {arguments.queued} queued answered rightly")
        report.demand(alive == n, f"{alive} of {n} idle connections still answered")
        demand_prompt_health(report, waits, 50)


def load(daemon, texts, *flags):
    """What tests/bench/load reports of one run: a client in C, which neither keeps the daemon waiting
    nor takes much of its processor."""
    if not LOAD.exists():
        raise SystemExit(f"there is no {LOAD}: set ATTENTIOND to a program that was built with its tests")
    command = [str(LOAD), "--port", daemon.port, "--pid", daemon.pid, "--input", texts, "--json", *flags]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=False)
    if not done.stdout:
        raise SystemExit(f"{LOAD} failed with {done.returncode}")
    return json.loads(done.stdout)["runs"][0]


def say_refusals(report, run):
    refusals = run["refusals"]
    report.say(f"        {run['answered']} answered, {refusals['count']} refused after {refusals['p50_ms']:.2f} ms (p50), "
               f"{refusals['p99_ms']:.2f} (p99), {refusals['max_ms']:.2f} (max); this client used "
               f"{run['generator_cpus']:.2f} processors, other guests {max(0, run['stolen_cpus'] or 0):.2f}")


def demand_prompt_refusals(report, run):
    """While the host's other guests have all processors nobody answers: that is not the daemon's."""
    slowest, own = run["refusals"]["max_ms"], run["refusals"]["own_max_ms"]
    what = f"slowest refusal after {slowest:.2f} ms"
    if own is not None:
        what += f", {own:.2f} without what the machine stood still (up to {run['longest_stall_ms']:.2f} ms)"
    report.demand((slowest if own is None else own) < 20, what + ", 20 allowed")


def best_rate(daemon, texts, arguments):
    """Requests a second of 64 clients that wait for their answers."""
    best = load(daemon, texts, "--clients", 64, "--duration", min(30, arguments.seconds))
    assert not best["errors"], best["errors"]
    return best["requests_per_second"]


async def overload(arguments, report):
    """Arrivals by themselves at --factor times what 64 clients get answered, whatever comes back. The
    smaller the requests, the more of this machine goes into refusing them, and into asking: what
    asks runs only every BURST_MS. The machine's own speed drifts, so the best is that of before and
    after."""
    n = arguments.sentences
    with Daemon("--max-queued-sentences", str(64 * n), "--max-connections", "4000") as daemon, \
            tempfile.NamedTemporaryFile("w", encoding="utf-8") as texts:
        around = SENTENCES * (n // len(SENTENCES) + 2)
        texts.writelines(" ".join(around[i:i + n]) + "\n" for i in range(len(SENTENCES)))
        texts.flush()
        watch = Watch(daemon)
        before = best_rate(daemon, texts.name, arguments)
        flags = ["--rate", f"{before * arguments.factor:.0f}", "--connections", 1000, "--burst-ms", BURST_MS,
                 "--watch-stalls"]
        warm = load(daemon, texts.name, *flags, "--duration", min(10, arguments.seconds))
        say_refusals(report, warm)
        memory, descriptors = await at_rest(watch)
        run = load(daemon, texts.name, *flags, "--duration", arguments.seconds)
        say_refusals(report, run)
        refusals, rate = run["refusals"], run["requests_per_second"]
        after = best_rate(daemon, texts.name, arguments)
        capacity = (before + after) / 2
        report.demand(rate >= 0.9 * capacity, f"goodput {rate:.1f}/s of {capacity:.1f}/s ({before:.1f} before, {after:.1f} "
                      f"after), {100 * rate / capacity:.0f} %, with {flags[1]} arrivals a second")
        report.demand(set(run["errors"]) == {"503"}, f"what was not answered: {run['errors']}")
        report.demand(refusals["without_retry_after"] == 0,
                      f"{refusals['without_retry_after']} of {refusals['count']} refusals without Retry-After")
        demand_prompt_refusals(report, run)
        await demand_as_before(report, watch, memory, descriptors)


# As much as one request may bring, in every form. Most of it is refused: the queue is full.
LONG_KINDS = [
    translate("The train to the mountains leaves at noon, and we are late. " * 1600),
    translate(["The train to the mountains leaves at noon, and we are late. " * 15] * 250),
    translate(["The train to the mountains leaves at noon, and we are late. " * 15] * 100, source="auto"),
    translate("\n".join(["%s house."] * 4000), alternatives=3),
    translate("<p>The <b>train</b> leaves at <i>noon</i>.</p>" * 300, format="html"),
    translate("The train to the mountains leaves at noon. " * 800, alignment=True),
    translate("Hi you. " * 12000),
    attention("The train to the mountains leaves at noon. " * 40),
]


def run_crowd(port, n_clients, seconds, out):
    """In a process of its own, which keeps nobody else waiting: how many replies had which code."""
    async def crowd_client(seed, codes):
        chance, client = random.Random(seed), Client(port)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                status, headers, _ = await client.ask(chance.choice(LONG_KINDS))
                if status == 503 and "retry-after" not in headers:
                    status = "503 without Retry-After"
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                client.close()
                status = repr(error)
            codes[status] = codes.get(status, 0) + 1
        client.close()

    async def all_clients():
        codes = {}
        await asyncio.gather(*(crowd_client(i, codes) for i in range(n_clients)))
        out.put(codes)

    asyncio.run(all_clients())


async def crowd(arguments, report):
    with Daemon() as daemon:
        watch = Watch(daemon)
        waits, codes, memory = [], {}, 0
        for seconds in (min(20, arguments.seconds), arguments.seconds):  # the memory of the first is the warm one
            out = multiprocessing.Queue()
            process = multiprocessing.Process(
                target=run_crowd, args=(daemon.port, arguments.clients, seconds, out))
            process.start()
            waits += await measure_health(daemon, lambda process=process: not process.is_alive())
            for code, n in out.get().items():
                codes[code] = codes.get(code, 0) + n
            process.join()
            if not memory:
                memory, descriptors = await at_rest(watch)
        report.say(f"        {codes}")
        report.demand(set(codes) <= {200, 413, 503} and 200 in codes, "all answered, and refused as they should be")
        demand_prompt_health(report, waits, 100)
        report.demand(max(waits) <= 1, f"slowest /health {max(waits) * 1000:.0f} ms, 1000 allowed")
        await demand_as_before(report, watch, memory, descriptors)


async def aborts(arguments, report):
    with Daemon() as daemon:
        answers = await alone(daemon.port, KINDS)
        watch = Watch(daemon)
        for count, seed in ((max(1500, arguments.count // 10), 1), (arguments.count, 2)):
            traffic = Traffic(daemon.port, KINDS, answers, 32, seed=seed)
            traffic.abort_share = 0.9
            while traffic.n_aborted < count:
                await asyncio.sleep(0.1)
            await traffic.end()
            if seed == 1:
                memory, descriptors = await at_rest(watch)
        traffic.demand(report)
        await demand_as_before(report, watch, memory, descriptors)


async def reloads(arguments, report):
    with Link() as link, link.daemon() as daemon:
        answers = await alone(daemon.port, KINDS[:16])
        traffic = Traffic(daemon.port, KINDS[:16], answers, 8)
        for number in range(10):
            await reload_once(daemon, link, number)
        watch = Watch(daemon)
        memory, n_right = watch.memory(), 0
        for number in range(arguments.count):
            n_right += await reload_once(daemon, link, number)
        descriptors = watch.descriptors()
        await traffic.end()
        traffic.demand(report)
        report.demand(n_right == arguments.count, f"{n_right} of {arguments.count} ended as they should")
        await demand_as_before(report, watch, memory, descriptors)


async def stops(arguments, report):
    """A request whose bytes are in before the signal is answered; one that comes later may be refused."""
    n_answered = n_lost = n_refused = 0
    slowest = 0.0
    for number in range(arguments.count):
        with Daemon() as daemon:  # whose end demands exit code 0
            chance = random.Random(number)
            clients = [Client(daemon.port) for _ in range(24)]
            answers = await alone(daemon.port, KINDS[:1])
            for i, client in enumerate(clients):
                await client.send(KINDS[i % 20])
            await asyncio.sleep(chance.uniform(0, 0.05))
            await asyncio.to_thread(wait_until_taken, daemon, len(clients) + 1)
            start = time.monotonic()
            daemon.process.send_signal(signal.SIGTERM)
            replies = await asyncio.gather(*(client.receive() for client in clients), return_exceptions=True)
            for client in clients:
                client.close()
            for i, reply in enumerate(replies):
                lost = isinstance(reply, BaseException) or (i == 0 and reply[2] != answers[0])
                n_lost += lost
                n_answered += not lost and reply[0] == 200
                n_refused += not lost and reply[0] != 200
            await asyncio.to_thread(daemon.stop, 0)
            slowest = max(slowest, time.monotonic() - start)
    report.demand(n_lost == 0 and n_refused == 0,
                  f"{n_answered} answered, {n_refused} refused, {n_lost} lost in {arguments.count} stops")
    report.demand(slowest < 31, f"slowest stop {slowest:.2f} s, 31 allowed")


def wait_until_taken(daemon, n):
    """Until n requests are under way or answered, those for this apart."""
    for _ in range(2000):
        metrics = daemon.metrics()
        answered = sum(v for k, v in metrics.items()
                       if k.startswith("attentiond_http_requests_total") and "/metrics" not in k)
        if answered + metrics["attentiond_requests_in_flight"] - 1 >= n:
            return
        time.sleep(0.005)
    raise AssertionError("the requests do not arrive")


async def identity(arguments, report):
    with Daemon() as daemon:
        answers = await alone(daemon.port, KINDS)
        traffic = Traffic(daemon.port, KINDS[:16] + KINDS[18:20], answers[:16] + answers[18:20], 48)
        while traffic.n_right + traffic.n_wrong + traffic.n_lost < arguments.count:
            await asyncio.sleep(0.1)
        await traffic.end()
        traffic.demand(report)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, flags in {"mixed": {"seconds": 60}, "idle": {"connections": 2000, "queued": 500},
                        "crowd": {"clients": 50, "seconds": 60},
                        "overload": {"factor": 20, "seconds": 60, "sentences": 5}, "aborts": {"count": 1000},
                        "reloads": {"count": 50}, "stops": {"count": 20},
                        "identity": {"count": 10000}}.items():
        command = commands.add_parser(name)
        for flag, default in flags.items():
            command.add_argument(f"--{flag}", type=int, default=default)
    arguments = parser.parse_args()
    report = Report()
    start = time.monotonic()
    asyncio.run(globals()[arguments.command](arguments, report))
    report.say(f"{arguments.command}: {time.monotonic() - start:.0f} s, "
               f"{'broken: ' + '; '.join(report.broken) if report.broken else 'all kept'}")
    return 1 if report.broken else 0


if __name__ == "__main__":
    sys.exit(main())
