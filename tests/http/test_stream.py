"""Replies that are sent while they are made: `"stream": true` and server-sent events."""

import json
import random
import signal
import socket
import struct
import sys
import threading
import time
import unittest

from serve import SLOWNESS, Daemon, read_all, wait_until

TEXT = ("Hello there.  How are you?\n\nThe house at the end of the street is red. "
        "I would like a cup of coffee, please!\n\tTom said that he would come tomorrow.\n")
HTML = ('<h1>Good morning</h1><p>The <b>old house</b> is <a href="/x?a=1&amp;b=2">for sale</a>. I like it.</p>'
        '<!-- note --><ul><li>Bread<li>A cup of <i>tea</i></ul><pre>as it is</pre>')
PLACEHOLDERS = "Dear {name}, your order %s is on its way. Write to me@example.org.  Thank you! \U0001F600"
# Runs for as long as it may: eos is not allowed before the 512th token.
ENDLESS = {"q": ["A long story about nothing. " * 8] * 12, "source": "en", "target": "de", "beam_size": 4,
           "min_decoding_length": 510, "max_decoding_length": 512, "split_sentences": "off"}


def body_of(q, **fields):
    return {"q": q, "source": "en", "target": "de", "stream": True, **fields}


class Event:
    def __init__(self, name, data):
        self.name, self.data = name, data

    @property
    def json(self):
        return json.loads(self.data)

    def __repr__(self):
        return f"<{self.name}: {self.data[:200]}>"


def parse(stream):
    """Events and comments of a stream, by the rules of the HTML standard for the fields we use."""
    text = stream.decode()
    assert text == "" or text.endswith("\n\n"), text[-200:]
    events, comments = [], 0
    for block in text.split("\n\n")[:-1]:
        name, data = "message", []
        for line in block.split("\n"):
            field, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            comments += field == ""
            if field == "event":
                name = value
            elif field == "data":
                data.append(value)
        if data:
            events.append(Event(name, "\n".join(data)))
    return events, comments


def request_bytes(body, version="HTTP/1.1", *headers):
    data = json.dumps(body).encode()
    lines = [f"POST /translate {version}", "Host: x", "Content-Type: application/json",
             f"Content-Length: {len(data)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def joined(events, n_texts):
    """The pieces of each text put together; their order is checked."""
    texts, sentences = [""] * n_texts, [0] * n_texts
    for event in events:
        piece = event.json
        i = piece["index"]
        assert event.name == "message" and piece["sentence"] >= sentences[i], event
        sentences[i] = piece["sentence"]
        texts[i] += piece["text"]
    return texts


class Stream(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("--stream-keepalive-ms", "100").start()

    @classmethod
    def tearDownClass(cls):
        code = cls.daemon.stop()
        assert code == 0 and "Sanitizer" not in cls.daemon.log, cls.daemon.log

    def stream(self, q, **fields):
        reply = self.daemon.request("POST", "/translate", body_of(q, **fields))
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual(reply.headers["content-type"], "text/event-stream")
        return parse(reply.body)[0]

    def same_as_unstreamed(self, q, **fields):
        """Streams in both modes and compares with the plain reply; the events in between."""
        # A stream is as the model wrote it: what was sent stays sent.
        body = {**body_of(q, **fields), "stream": False, "post_edit": False, "repair_numbers": False}
        plain = self.daemon.request("POST", "/translate", body)
        self.assertEqual(plain.status, 200, plain)
        translated = plain.json["translatedText"]
        n_events = {}
        for mode in "sentence", "token":
            events = self.stream(q, stream_mode=mode, **fields)
            self.assertEqual([event.name for event in events[-2:]], ["result", "message"], events)
            self.assertEqual(events[-1].data, "[DONE]")
            result = events[-2].data.encode() + b"\n"
            self.assertEqual(result, plain.body)
            texts = joined(events[:-2], len(q) if isinstance(q, list) else 1)
            self.assertEqual(texts, translated if isinstance(q, list) else [translated])
            n_events[mode] = len(events) - 2
        return n_events

    def settled(self):
        metrics = self.daemon.metrics()
        return metrics["attentiond_rows_running"] == 0 and metrics["attentiond_sentences_running"] == 0

    # What is sent.

    def test_a_text(self):
        n_events = self.same_as_unstreamed(TEXT, beam_size=1)
        self.assertEqual(n_events["sentence"], 5)
        self.assertGreaterEqual(n_events["token"], 5)

    def test_tokens_come_one_by_one(self):
        text = "The old man who lives next door to us told me that his daughter moved to Berlin last summer."
        # A busy machine makes fewer pieces of them.
        for _ in range(10):
            pieces = self.stream(text, beam_size=1, stream_mode="token", max_decoding_length=60)[:-2]
            if len(pieces) > 3:
                break
        self.assertGreater(len(pieces), 3, pieces)

    def test_beams_are_sent_as_far_as_they_agree(self):
        for beam_size in 2, 4, 8:
            n_events = self.same_as_unstreamed(TEXT * 3, beam_size=beam_size)
            self.assertEqual(n_events["sentence"], 15)

    def test_arrays(self):
        self.same_as_unstreamed([TEXT, "Hello.", "", "  \n", "One.\nTwo.\nThree.", "12:30"], beam_size=1)
        self.same_as_unstreamed(["Hello."])

    def test_html(self):
        n_events = self.same_as_unstreamed(HTML, format="html")
        self.assertGreaterEqual(n_events["sentence"], 4)
        self.same_as_unstreamed([HTML, "plain <b>&amp; simple", ""], format="html", beam_size=4)

    def test_placeholders(self):
        text = f"I am tired. I am hungry.\n{PLACEHOLDERS}\n\nThe house is red. Thank you!\n"
        self.assertEqual(self.same_as_unstreamed(text)["sentence"], 5)
        for split in "off", "newlines":
            self.same_as_unstreamed([text, PLACEHOLDERS * 3], split_sentences=split)
        self.same_as_unstreamed(text, glossary={"house": "Haus"}, do_not_translate=["tired"])

    def test_what_is_taken_over_from_the_source(self):
        texts = ["I AM VERY TIRED. WHERE IS THE TRAIN STATION", "train station", "the red house", "no no no no no!",
                 "Very very very very very good. Very very very very very good", "is he here", "Hello", "YES YES YES YES"]
        for beam_size in 1, 4:
            self.same_as_unstreamed(texts, beam_size=beam_size)
            self.same_as_unstreamed(texts, beam_size=beam_size, post_edit=False)

    def test_options_of_the_reply(self):
        self.same_as_unstreamed(TEXT, alternatives=2, return_scores=True, return_usage=True)
        self.same_as_unstreamed([TEXT, PLACEHOLDERS])
        self.same_as_unstreamed([TEXT, PLACEHOLDERS], alternatives=2, return_sentences=True)
        self.same_as_unstreamed("Where is the train station?", alignment=True)
        self.same_as_unstreamed("Where is the train station?", target_prefix="Wo befindet")
        self.same_as_unstreamed([TEXT, "Guten Morgen, wie geht es Ihnen heute?"], source="auto")
        self.same_as_unstreamed(TEXT, split_sentences="off")

    def test_random_texts(self):
        rng = random.Random(7)
        words = "I you he house red the a in of went 3.5 don't can't 'tis \u00e9t\u00e9 \u4f60\u597d Tom's - ( ) % \U0001F600".split()
        for _ in range(12):
            texts = ["".join(rng.choice(words) + rng.choice([" ", " ", " ", ". ", "! ", "\n", ", "])
                             for _ in range(rng.randrange(1, 40))) for _ in range(rng.randrange(1, 5))]
            self.same_as_unstreamed(texts, beam_size=rng.choice([1, 1, 2, 4]), max_decoding_length=40)

    def test_nothing_to_translate(self):
        self.assertEqual([e.data for e in self.stream("Hallo.", source="de")],
                         ['{"index":0,"sentence":0,"text":"Hallo."}', '{"translatedText":"Hallo."}', "[DONE]"])
        self.assertEqual([e.data for e in self.stream(" \n ")], ['{"translatedText":""}', "[DONE]"])

    def test_forms_can_ask_too(self):
        reply = self.daemon.request("POST", "/translate", "q=Hello.&source=en&target=de&stream=true",
                                    {"Content-Type": "application/x-www-form-urlencoded"})
        self.assertEqual(parse(reply.body)[0][-1].data, "[DONE]")

    # How it is sent.

    def test_headers(self):
        reply = self.daemon.request("POST", "/translate", body_of(TEXT),
                                    {"Accept-Encoding": "gzip", "X-Request-ID": "r1"})
        for name, value in {"content-type": "text/event-stream", "cache-control": "no-cache",
                            "x-accel-buffering": "no", "access-control-allow-origin": "*",
                            "transfer-encoding": "chunked", "x-request-id": "r1"}.items():
            self.assertEqual(reply.headers.get(name), value, name)
        self.assertNotIn("content-encoding", reply.headers)

    def test_the_connection_lives_on(self):
        client = self.daemon.connect()
        for _ in range(3):
            events = parse(self.daemon.request("POST", "/translate", body_of(TEXT), client=client).body)[0]
            self.assertEqual(events[-1].data, "[DONE]")
            self.assertEqual(self.daemon.translate("Hello.", client=client).status, 200)
        client.close()

    def test_pipelined(self):
        data = request_bytes(body_of("Hello.")) * 2 + request_bytes(body_of("Hello."), "HTTP/1.1",
                                                                   "Connection: close")
        received = self.daemon.raw(data)
        self.assertEqual(received.count(b"HTTP/1.1 200 OK"), 3)
        self.assertEqual(received.count(b"data: [DONE]\n\n"), 3)

    def test_http_1_0(self):
        head, _, body = self.daemon.raw(request_bytes(body_of(TEXT), "HTTP/1.0")).partition(b"\r\n\r\n")
        self.assertIn(b" 200 OK\r\n", head)
        self.assertNotIn(b"chunked", head)
        self.assertEqual(parse(body)[0][-1].data, "[DONE]")

    def test_half_closed_client_gets_everything(self):
        received = self.daemon.raw(request_bytes(body_of([TEXT] * 8, beam_size=4), "HTTP/1.1", "Connection: close"),
                                   half_close=True)
        self.assertIn(b"data: [DONE]\n\n", received)
        self.assertNotIn(b"100 Continue", received)

    def test_the_first_piece_comes_before_the_last_is_known(self):
        """A short text is there while its neighbours in the request are still being decoded."""
        body = {**ENDLESS, "q": ["Hello."] * 2, "stream": True, "beam_size": 1}
        short = body_of(["Good morning."] + [TEXT.replace("\n", " ") * 4] * 30, beam_size=1, split_sentences="off")
        with self.daemon.socket() as endless, self.daemon.socket() as connection:
            endless.sendall(request_bytes(body))
            connection.sendall(request_bytes(short))
            received = b""
            while b"data: " not in received:
                received += connection.recv(65536)
            self.assertNotIn(b"event: result", received)

    # Errors.

    def test_errors_before_the_head_are_plain(self):
        for fields, text in (({"stream_mode": "word"}, 'stream_mode is "word", expected "sentence" or "token"'),
                             ({"stream": "yes please"}, "stream"), ({"target": "zz"}, "zz is not supported")):
            reply = self.daemon.request("POST", "/translate", {**body_of("Hello."), **fields})
            self.assertEqual((reply.status, reply.headers["content-type"]), (400, "application/json"))
            self.assertIn(text, reply.error)

    def test_deadline_is_an_event(self):
        before = self.daemon.metrics()['attentiond_rejected_total{reason="timeout"}']
        reply = self.daemon.request("POST", "/translate", {**ENDLESS, "stream": True, "q": ENDLESS["q"] * 20},
                                    {"X-Request-Timeout": "0.3"})
        self.assertEqual(reply.status, 200)
        events = parse(reply.body)[0]
        self.assertEqual(events[-1].name, "error")
        self.assertEqual(events[-1].json, {"error": "the request took longer than 0.3 s"})
        self.assertEqual(self.daemon.metrics()['attentiond_rejected_total{reason="timeout"}'], before + 1)
        wait_until(self.settled, what="rows free")

    # Clients that wait, leave, or do not read.

    def test_comments_while_queued(self):
        flags = ["--workers", "1", "--max-batch-rows", "8", "--stream-keepalive-ms", "100"]
        costly = body_of("A long story about nothing. " * 60, split_sentences="off")  # several of the hog's go first
        with Daemon(*flags) as daemon, daemon.socket() as hog:
            hog.sendall(request_bytes({**ENDLESS, "beam_size": 8}))  # a sentence takes all rows
            wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
            with daemon.socket() as connection:
                connection.sendall(request_bytes(costly))
                received = b""
                while received.count(b":\n\n") < 3:
                    piece = connection.recv(65536)
                    self.assertTrue(piece)
                    received += piece
                self.assertNotIn(b"data:", received)
            hog.close()

    def leave(self, how, mode, begun):
        with self.daemon.socket() as connection:
            connection.sendall(request_bytes({**ENDLESS, "stream": True, "stream_mode": mode}))
            wait_until(lambda: not self.settled(), what="running")
            if begun:
                connection.settimeout(30 * SLOWNESS)
                connection.recv(100)
            how(connection)
        start = time.monotonic()
        wait_until(self.settled, seconds=5 * SLOWNESS, what="rows free")
        return time.monotonic() - start

    def test_clients_that_leave_free_their_rows(self):
        def close(connection):
            connection.close()

        def reset(connection):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

        def half(connection):
            connection.shutdown(socket.SHUT_WR)
            time.sleep(0.05)
            connection.close()

        name = 'attentiond_rejected_total{reason="client_gone"}'
        for how in close, reset, half:
            for mode in "sentence", "token":
                for begun in False, True:
                    before = self.daemon.metrics()[name]
                    self.leave(how, mode, begun)
                    wait_until(lambda: self.daemon.metrics()[name] > before, what="counted")

    def test_many_aborts_at_random_moments(self):
        rng = random.Random(11)

        def client(seed):
            rng = random.Random(seed)
            for _ in range(12):
                with self.daemon.socket() as connection:
                    fields = {"stream_mode": rng.choice(["token", "sentence"]), "beam_size": rng.choice([1, 4])}
                    connection.sendall(request_bytes(body_of([TEXT] * rng.randrange(1, 6), **fields)))
                    if rng.random() < 0.5:
                        connection.recv(rng.choice([1, 400, 4000]))
                    time.sleep(rng.random() * 0.05)
                    if rng.random() < 0.5:
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        threads = [threading.Thread(target=client, args=(rng.random(),)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wait_until(self.settled, seconds=20 * SLOWNESS, what="rows free")
        wait_until(lambda: self.daemon.metrics()["attentiond_requests_in_flight"] == 1,
                   seconds=20 * SLOWNESS, what="requests over")
        self.same_as_unstreamed(TEXT)

    def test_32_streams_at_once(self):
        texts = [TEXT[i % 7:] + f" Number {i}. Where is the train station?" for i in range(32)]
        expected = [self.daemon.translate(text, beam_size=1 + i % 4, repair_numbers=False).body for i, text in enumerate(texts)]
        results = [None] * 32

        def client(i):
            results[i] = self.stream(texts[i], beam_size=1 + i % 4, stream_mode=["token", "sentence"][i % 2])

        threads = [threading.Thread(target=client, args=(i,)) for i in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for events, plain in zip(results, expected):
            self.assertEqual(events[-2].data.encode() + b"\n", plain)
            self.assertEqual(joined(events[:-2], 1), [json.loads(plain)["translatedText"]])


class Charges(unittest.TestCase):
    def test_only_what_was_begun_counts(self):
        # The level falls while time passes, by less than one in two seconds: thousands tell.
        text = "Good morning. " * 250
        with Daemon("--chars-per-day", "40000", "--max-batch-rows", "8", "--workers", "1", "--kernels", "c") as daemon:
            def used():
                return round(daemon.get("/v2/usage").json["character_count"] / 1000, 1)

            self.assertEqual(used(), 0)
            with daemon.socket() as hog:
                # Each sentence takes all rows, for longer than the next request may take.
                hog.sendall(request_bytes({**ENDLESS, "q": ENDLESS["q"] * 10, "beam_size": 8}))
                wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
                before = used()
                self.assertGreater(before, 25)
                reply = daemon.request("POST", "/translate", body_of(text), {"X-Request-Timeout": "0.2"})
                self.assertEqual([event.name for event in parse(reply.body)[0]], ["error"], reply)
                wait_until(lambda: used() < before + 1, what="given back")
                with daemon.socket() as connection:
                    connection.sendall(request_bytes(body_of(text)))
                    wait_until(lambda: used() > before + 3, what="counted")
                wait_until(lambda: used() < before + 1, what="given back by who left")
            wait_until(lambda: used() < 1, what="given back by the hog")
            with daemon.socket() as connection:
                connection.sendall(request_bytes({**ENDLESS, "stream": True, "stream_mode": "token"}))
                received = b""
                while b"data:" not in received:
                    received += connection.recv(65536)
            gone = 'attentiond_rejected_total{reason="client_gone"}'
            wait_until(lambda: daemon.metrics()[gone] == 3, what="left")
            self.assertGreater(used(), 2)
            self.assertEqual(daemon.request("POST", "/translate", body_of(text[:700])).status, 200)
            self.assertGreater(used(), 3)


class SlowReaders(unittest.TestCase):
    """Clients that do not read what is more than the system buffers for them."""

    FLAGS = ("--max-body-bytes", str(16 << 20), "--max-text-chars", "1000000")
    # German already, so that there is much to send and little to do.
    BODY = {"q": [TEXT * 4] * 4 + ["Guten Morgen, wie geht es Ihnen heute? " * 10000] * 8, "target": "de",
            "source": "auto", "stream": True, "stream_mode": "token", "beam_size": 1}

    def connect(self, daemon):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.settimeout(60 * SLOWNESS)
        connection.connect((daemon.host, daemon.port))
        connection.sendall(request_bytes(self.BODY, "HTTP/1.0"))
        return connection

    def wait_for_work_done(self, daemon, n):
        wait_until(lambda: daemon.metrics()['attentiond_jobs_total{outcome="done"}'] >= n,
                   seconds=60 * SLOWNESS, what="work done though nobody reads")

    def test_they_hold_nobody_up(self):
        with Daemon(*self.FLAGS) as daemon:
            n_before = daemon.metrics()['attentiond_jobs_total{outcome="done"}']
            sockets = [self.connect(daemon) for _ in range(3)]
            self.wait_for_work_done(daemon, n_before + 3)
            self.assertEqual(daemon.translate("Hello.").status, 200)
            self.assertEqual(daemon.metrics()["attentiond_requests_in_flight"], 4)
            plain = daemon.request("POST", "/translate", {**self.BODY, "stream": False}).json["translatedText"]
            for connection in sockets:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
                with connection:
                    events = parse(read_all(connection).partition(b"\r\n\r\n")[2])[0]
                self.assertEqual(events[-2].json["translatedText"], plain)
                self.assertEqual(joined(events[:-2], len(plain)), plain)

    def test_they_do_not_keep_the_server(self):
        daemon = Daemon("--drain-timeout-ms", "500", *self.FLAGS).start()
        n_before = daemon.metrics()['attentiond_jobs_total{outcome="done"}']
        with self.connect(daemon):
            self.wait_for_work_done(daemon, n_before + 1)
            daemon.process.send_signal(signal.SIGTERM)
            self.assertEqual(daemon.stop(None), 1)
        self.assertNotIn("does not answer", daemon.log)


class End(unittest.TestCase):
    def begin(self, daemon, body):
        connection = daemon.socket(timeout=60 * SLOWNESS)
        connection.sendall(request_bytes(body, "HTTP/1.0"))
        wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
        return connection

    def test_draining_finishes_streams(self):
        daemon = Daemon().start()
        with self.begin(daemon, body_of([TEXT] * 40, stream_mode="token", beam_size=4)) as connection:
            daemon.process.send_signal(signal.SIGTERM)
            self.assertIn(b"data: [DONE]\n\n", read_all(connection))
        self.assertEqual(daemon.stop(None), 0, daemon.log)

    def test_who_leaves_a_draining_server_is_waited_for(self):
        """The work ends a step later than the connection, and needs what the end of the server takes down."""
        for _ in range(5):
            daemon = Daemon().start()
            with self.begin(daemon, {**ENDLESS, "stream": True}) as connection:
                daemon.process.send_signal(signal.SIGTERM)
                time.sleep(0.05)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.assertEqual(daemon.stop(None), 0, daemon.log)

    def test_what_is_cut_off_is_told(self):
        daemon = Daemon("--drain-timeout-ms", "300").start()
        with self.begin(daemon, {**ENDLESS, "q": ENDLESS["q"] * 20, "stream": True}) as connection:
            daemon.process.send_signal(signal.SIGTERM)
            received = read_all(connection)
        self.assertTrue(received.endswith(b'event: error\ndata: {"error":"the server is shutting down"}\n\n'), received)
        self.assertEqual(daemon.stop(None), 1)

    def test_a_full_queue_is_a_plain_503(self):
        with Daemon("--max-queued-sentences", "16", "--max-batch-rows", "4", "--workers", "1") as daemon, daemon.socket() as busy:
            busy.sendall(request_bytes(body_of(ENDLESS["q"], **{k: v for k, v in ENDLESS.items() if k != "q"})))
            wait_until(lambda: daemon.metrics()["attentiond_queue_depth"] == 11, what="all but one waiting")
            reply = daemon.request("POST", "/translate", body_of(["Hello."] * 6))
            self.assertEqual((reply.status, reply.headers["retry-after"]), (503, "1"))
            self.assertIn("queue is full", reply.error)

    def test_more_than_the_queue_ever_holds_is_a_plain_413(self):
        with Daemon("--max-queued-sentences", "8") as daemon:
            for fields in ({}, {"stream": False}):
                reply = daemon.request("POST", "/translate", {**body_of(["Hello."] * 9), **fields})
                self.assertEqual((reply.status, reply.error),
                                 (413, "the request has 9 sentences: at most 8"))
                for q in (["Hello."] * 17, "Hello. " * 5000):
                    reply = daemon.request("POST", "/translate", {**body_of(q), **fields})
                    self.assertEqual((reply.status, reply.error),
                                     (413, "the request has more than 16 sentences: at most 8"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
