"""Same text, same answer: what 64 clients at once get from the daemon is what the command line writes for the same
lines, to the byte, in int8 and in fp32."""

import json
import os
import pathlib
import random
import subprocess
import threading
import time
import unittest

from serve import BINARY, MODEL, ROOT, SLOWNESS, Daemon, clean_environment

N_CLIENTS = 64


def vectors():
    shared = os.environ.get("MT_SHARED_DIR")
    directory = pathlib.Path(shared, "vectors/en-de") if shared else ROOT / "tests/parity/data"
    with open(directory / "dev.beam4.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def by_command_line(sources, precision, beam_size):
    arguments = ["translate", "--model", MODEL, "--precision", precision, "--beam-size", str(beam_size)]
    path = pathlib.Path(os.environ.get("TMPDIR", "/tmp"), f"attentiond-lines-{os.getpid()}")
    path.write_text("".join(source + "\n" for source in sources), encoding="utf-8")
    try:
        with open(path, "rb") as lines:
            done = subprocess.run([BINARY, *arguments], stdin=lines, capture_output=True, check=True,
                                  env=clean_environment(None))
    finally:
        path.unlink()
    return done.stdout.decode().splitlines()


def by_server(daemon, sources, beam_size):
    """Each client takes the next line that nobody has taken, in a shuffled order."""
    order = random.Random(7).sample(range(len(sources)), len(sources))
    answers, lock = [None] * len(sources), threading.Lock()

    def client():
        connection = daemon.connect()
        while True:
            with lock:
                if not order:
                    break
                i = order.pop()
            reply = daemon.translate(sources[i], client=connection, beam_size=beam_size)
            answers[i] = reply.json["translatedText"] if reply.status == 200 else repr(reply)
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(N_CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


class Identity(unittest.TestCase):
    def check(self, precision, beam_size):
        sources = [line["source"] for line in vectors()]
        expected = by_command_line(sources, precision, beam_size)
        self.assertEqual(len(expected), len(sources))
        with Daemon("--precision", precision) as daemon:
            answers = by_server(daemon, sources, beam_size)
        for source, one, other in zip(sources, expected, answers):
            self.assertEqual(one, other, source)

    def test_int8_greedy(self):
        self.check("int8", 1)

    def test_int8_beam(self):
        self.check("int8", 4)

    def test_fp32_beam(self):
        self.check("fp32", 4)


class Overtaking(unittest.TestCase):
    def test_a_short_request_overtakes_a_long_one(self):
        with Daemon() as daemon:
            ended = {}

            def long_one():
                reply = daemon.translate("The book is on the table.", beam_size=1, min_decoding_length=255,
                                         max_decoding_length=255)
                ended["long"] = (time.monotonic(), reply.status)

            slow = threading.Thread(target=long_one)
            slow.start()
            time.sleep(0.002 * SLOWNESS)
            n_overtook = 0
            while slow.is_alive():
                started = time.monotonic()
                reply = daemon.translate("Good morning.", beam_size=1)
                self.assertEqual(reply.status, 200)
                n_overtook += "long" not in ended and time.monotonic() > started
            slow.join()
            self.assertEqual(ended["long"][1], 200)
            self.assertGreaterEqual(n_overtook, 1, "no short request came back before the long one")


if __name__ == "__main__":
    unittest.main()
