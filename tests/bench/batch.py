#!/usr/bin/env python3
"""How much a batch gains: n texts in one request, against n requests of one text each, one after the
other on one connection, as a client without arrays sends them.

usage: batch.py [--attentiond BINARY] [--model DIR] [--input FILE] [--texts N] [--repeat N] [--check] [-- FLAGS]

FLAGS go to the daemon, which is started for this and stopped again. The texts are the first N lines of
FILE. Each round measures both, the batch first; the medians count. The translations must be the same.
--check exits with 1 where the batch takes a quarter of the time or more.
"""

import argparse
import http.client
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = 0.25

# Sentences of 4 to 14 words, for want of a file.
TEXTS = [f"{opening} {rest}" for rest in (
    "is waiting for the train.", "has bought a new house in Berlin.", "would like to drink a cup of coffee.",
    "does not know what to say.", "was reading a book when the telephone rang.", "can swim very well.",
    "works in the garden every Sunday because the weather is so good.", "told me the truth.",
    "wants to learn German.", "will come back tomorrow morning at eight.",
) for opening in ("My brother", "The old woman", "Our teacher", "Tom", "The man with the red hat")]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attentiond", default=str(ROOT / "build/release/attentiond"))
    parser.add_argument("--model", default=str(ROOT / "weights/en-de"))
    parser.add_argument("--input", type=pathlib.Path)
    parser.add_argument("--texts", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("flags", nargs="*", help="of attentiond serve")
    return parser.parse_args()


def read_texts(options):
    lines = options.input.read_text().split("\n") if options.input else TEXTS
    texts = [line for line in lines if line.strip()][:options.texts]
    if len(texts) < options.texts:
        sys.exit(f"{options.input or 'the built-in list'} has {len(texts)} lines, --texts is {options.texts}")
    return texts


def start(options):
    """The daemon and its port; everything it logs before is in the message if it does not listen."""
    command = [options.attentiond, "serve", "--model", options.model, "--port", "0", *options.flags]
    daemon = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    lines = []
    for line in daemon.stderr:
        lines.append(line)
        match = re.search(r"listening on \S+:(\d+)\b", line)
        if match:
            return daemon, int(match.group(1))
    sys.exit("".join(lines) + f"{options.attentiond} does not listen")


def translate(client, q):
    body = json.dumps({"q": q, "source": "en", "target": "de"})
    client.request("POST", "/translate", body, {"Content-Type": "application/json"})
    reply = client.getresponse()
    data = json.loads(reply.read())
    if reply.status != 200:
        sys.exit(f"{reply.status}: {data['error']}")
    return data["translatedText"]


def measure(client, texts):
    """Seconds of the batch and of the single requests."""
    begin = time.perf_counter()
    batch = translate(client, texts)
    middle = time.perf_counter()
    singles = [translate(client, text) for text in texts]
    end = time.perf_counter()
    if batch != singles:
        sys.exit("the batch has other translations than the single requests")
    return middle - begin, end - middle


def main():
    options = arguments()
    texts = read_texts(options)
    daemon, port = start(options)
    try:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        measure(client, texts)  # warm-up
        rounds = [measure(client, texts) for _ in range(options.repeat)]
    finally:
        daemon.terminate()
        daemon.communicate()
    batch, singles = (statistics.median(seconds) for seconds in zip(*rounds))
    ratio = statistics.median(b / s for b, s in rounds)
    print(f"{len(texts)} texts, {options.repeat} rounds: one request {batch * 1e3:.1f} ms, "
          f"{len(texts)} requests {singles * 1e3:.1f} ms, ratio {ratio:.3f} "
          f"({min(b / s for b, s in rounds):.3f} to {max(b / s for b, s in rounds):.3f})")
    if options.check and ratio >= TARGET:
        sys.exit(f"the batch takes {ratio:.3f} of the time, expected less than {TARGET}")


if __name__ == "__main__":
    main()
