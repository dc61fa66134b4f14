"""Clients that never stop asking for things whose answers are known, and count what came of it."""

import collections
import http.client
import json
import random
import threading
import time

SENTENCES = [
    "Where is the train station?", "I have never seen such a thing.", "She sings very well.",
    "We are going to the mountains tomorrow.", "Can you help me, please?", "It is raining again.",
    "My brother lives in a small town.", "The children are playing in the garden.",
    "He did not know what to say.", "Do you want a cup of coffee?", "The book is on the table.",
    "I would like to learn German.", "They bought a new house last year.", "Time flies.",
]


def asks(q, **fields):
    return {"q": q, "source": "en", "target": "de", **fields}


KINDS = [asks(sentence) for sentence in SENTENCES] + [
    asks(SENTENCES[:5]),
    asks(" ".join(SENTENCES)),
    asks("<p>A <b>red</b> house</p>", format="html"),
    asks(SENTENCES[1], alternatives=2),
    asks(" ".join(SENTENCES[:6]), stream=True),
    asks(" ".join(SENTENCES[6:10]), stream=True, stream_mode="token"),
]


def events(body):
    """(name, data) of each server-sent event; comments are left out."""
    found = []
    for block in body.decode().split("\n\n"):
        name, data = "message", None
        for line in block.split("\n"):
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data = line[6:]
        if data is not None:
            found.append((name, data))
    return found


def whole_stream(body):
    """The result of a stream, once its pieces were seen to make up that very result."""
    *pieces, last, end = events(body)
    assert end == ("message", "[DONE]") and last[0] == "result", body[-300:]
    result = json.loads(last[1])["translatedText"]
    told = "".join(json.loads(data)["text"] for name, data in pieces if name == "message")
    assert told == result, f"pieces {told!r}, result {result!r}"
    return result


def answer_of(kind, body):
    """What is compared: of a stream its result, else the bytes. A stream is cut into pieces differently by chance."""
    return whole_stream(body) if kind.get("stream") else body


def learn(daemon):
    """The answers of one daemon, asked alone."""
    answers = []
    for kind in KINDS:
        reply = daemon.request("POST", "/translate", kind)
        assert reply.status == 200, reply
        answers.append(answer_of(kind, reply.body))
    return answers


class Traffic:
    """n clients on connections that are kept, until stop(), each with a pause of pause_s on average before a request.
    right: for each kind the answers that are right; it may
    be replaced while they run, and what was right when a request began is so when it ends.

    counts: "right"; "wrong"; "failed", any other status and connections that ended without a reply; "cut", replies
    that had begun and ended early, which no balancer may repeat."""

    def __init__(self, balancer, right, pause_s, n=32):
        self.balancer, self.right, self.pause_s = balancer, right, pause_s
        self.counts, self.examples = collections.Counter(), []
        self.seconds = []
        self._lock, self._is_over = threading.Lock(), threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(i,), daemon=True) for i in range(n)]
        for thread in self._threads:
            thread.start()

    def _one(self, client, i):
        """What came of it, and an example where that is nothing good."""
        kind, status, right = KINDS[i], None, self.right[i]
        try:
            client.request("POST", "/translate", json.dumps(kind).encode(), {"Content-Type": "application/json"})
            response = client.getresponse()
            status = response.status
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            client.close()
            return "cut" if status == 200 else "failed", f"{type(error).__name__}: {error}; status {status}"
        if status != 200:
            return "failed", f"{status} {body[:200]!r}"
        if kind.get("stream") and b"data: [DONE]" not in body:
            return "cut", repr(body[-200:])
        try:
            answer = answer_of(kind, body)
        except AssertionError as error:
            return "wrong", str(error)
        return ("right", None) if answer in right | self.right[i] else ("wrong", f"{kind}: {answer[:200]!r}")

    def _run(self, seed):
        chance, client = random.Random(seed), self.balancer.connect()
        while not self._is_over.wait(chance.uniform(0, 2 * self.pause_s)):
            begin = time.monotonic()
            result, example = self._one(client, chance.randrange(len(KINDS)))
            with self._lock:
                self.counts[result] += 1
                self.seconds.append(time.monotonic() - begin)
                if example and len(self.examples) < 10:
                    self.examples.append(f"{result}: {example}")
        client.close()

    def take(self):
        """The counts since the last call."""
        with self._lock:
            counts, self.counts = self.counts, collections.Counter()
            slowest, self.seconds = max(self.seconds, default=0), []
        return counts, slowest

    def stop(self):
        self._is_over.set()
        for thread in self._threads:
            thread.join(120)
            assert not thread.is_alive(), "a request without an end"
