"""Many clients at once: right answers, a full queue, deadlines, clients that leave, too many
connections."""

import json
import os
import pathlib
import random
import re
import select
import signal
import socket
import struct
import threading
import time
import unittest

from serve import MODEL, ROOT, SLOWNESS, Daemon, read_all, wait_until

SENTENCES = [
    "Where is the train station?", "I have never seen such a thing.", "She sings very well.",
    "We are going to the mountains tomorrow.", "Can you help me, please?", "It is raining again.",
    "My brother lives in a small town.", "The children are playing in the garden.",
    "He did not know what to say.", "Do you want a cup of coffee?", "The book is on the table.",
    "I would like to learn German.", "They bought a new house last year.", "Time flies.",
    "This is the best day of my life.", "Nobody knows the answer.",
]

# Seconds of work, whatever the machine.
SLOW = {"q": SENTENCES * 4, "beam_size": 8, "min_decoding_length": 300, "max_decoding_length": 400}


def request_bytes(fields):
    body = json.dumps({"source": "en", "target": "de", **fields}).encode()
    head = f"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def in_parallel(n, work):
    """work(i) for i in range(n), each in its thread; the results in order. The first error counts."""
    results, errors = [None] * n, []

    def run(i):
        try:
            results[i] = work(i)
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


class Load(unittest.TestCase):
    def test_64_clients_get_the_answers_that_one_gets(self):
        with Daemon() as daemon:
            alone = {q: daemon.translate(q).body for q in SENTENCES}

            def client(i):
                order = random.Random(i).sample(SENTENCES, 8)
                connection = daemon.connect()
                replies = [(q, daemon.translate(q, client=connection)) for q in order]
                connection.close()
                return replies

            for replies in in_parallel(64, client):
                for q, reply in replies:
                    self.assertEqual((reply.status, reply.body), (200, alone[q]))
            metrics = daemon.metrics()
            rows = metrics["attentiond_batch_size_sum"] / metrics["attentiond_batch_size_count"]
            self.assertGreater(rows, 5, "requests do not share decoder steps")

    def test_batch_is_decoded_as_one(self):
        with Daemon("--workers", "1") as daemon:  # by default each thread takes a share of so many
            daemon.translate(SENTENCES[:14])  # what fills the batch but for the rows of short requests
            metrics = daemon.metrics()
            self.assertLessEqual(metrics["attentiond_encode_seconds_count"], 2)

    def test_a_long_request_does_not_hold_up_short_ones_of_its_client(self):
        words = " ".join("qwrtzpsdfg" * 20 for _ in range(400))  # the model goes on to the limit
        longs = {"a batch": SLOW, "sentences as long as they may be": {"q": words}}
        with Daemon() as daemon:
            for name, fields in longs.items():
                with self.subTest(name):
                    connections = [daemon.socket() for _ in range(2)]
                    for connection in connections:
                        connection.sendall(request_bytes(fields))
                    wait_until(lambda: daemon.metrics()["attentiond_queue_depth"], what="queued")
                    steps = []
                    for q in ("Hello.", "Thank you.", SENTENCES[:3]):
                        before = daemon.metrics()["attentiond_decode_step_seconds_count"]
                        self.assertEqual(daemon.translate(q).status, 200)
                        steps.append(daemon.metrics()["attentiond_decode_step_seconds_count"] - before)
                    self.assertEqual(select.select(connections, [], [], 0)[0], [])
                    self.assertGreater(daemon.metrics()["attentiond_queue_depth"], 0)
                    # Its own, and those of others that both workers make meanwhile.
                    self.assertLess(max(steps), 100)
                    for connection in connections:
                        connection.close()
                    wait_until(lambda: not daemon.metrics()["attentiond_sentences_running"], what="the end")

    def test_health_answers_while_workers_are_busy(self):
        with Daemon() as daemon:
            connection = daemon.socket()
            connection.sendall(request_bytes(SLOW))
            wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
            times = sorted(daemon.get("/health").seconds for _ in range(100))
            self.assertLess(times[90], 0.5 * SLOWNESS)  # far less than the work takes
            connection.close()

    def test_a_long_reply_is_put_together_while_others_are_answered(self):
        with Daemon() as daemon:
            done = 'attentiond_jobs_total{outcome="done"}'
            n_done = daemon.metrics()[done]  # the warm-up
            # A third of a second of putting together: some 30 turns, of which each poll misses a few.
            n_lines = 3000
            q = "\n".join(f"%s is line {i}." for i in range(n_lines))
            replies = []
            client = threading.Thread(target=lambda: replies.append(daemon.translate(
                q, alternatives=7, max_decoding_length=6, glossary={"line": "Zeile"})))
            client.start()
            wait_until(lambda: daemon.metrics()[done] > n_done, 60 * SLOWNESS, "all decoded")
            n_answered = 0
            while client.is_alive() and 'attentiond_http_requests_total{route="/translate",code="200"}' not in daemon.metrics():
                n_answered += 1
            client.join()
            self.assertGreater(n_answered, 2)
            data = replies[0].json
            texts = [data["translatedText"]] + data["alternatives"]
            self.assertEqual([text.count("\n") for text in texts], [n_lines - 1] * 8)
            self.assertEqual((data["terms"][0]["source"], data["terms"][0]["found"]), ("line", n_lines))

    def send_many(self, daemon, n, n_sentences=24000, head=""):
        """n requests of two-word sentences, which are too many: all of them have been sent."""
        body = json.dumps({"q": "Hi you. " * (n_sentences // 2), "source": "en", "target": "de"}).encode()
        request = (f"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{head}"
                   f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        clients = [daemon.socket(timeout=60 * SLOWNESS) for _ in range(n)]
        in_parallel(n, lambda i: clients[i].sendall(request))
        return clients

    def codes(self, clients):
        codes = [int(client.recv(12, socket.MSG_WAITALL)[9:12]) for client in clients]
        for client in clients:
            client.close()
        return codes

    def test_who_asks_for_little_does_not_wait_for_all_who_ask_for_much(self):
        with Daemon() as daemon:
            n = 30
            connection = daemon.connect()
            self.assertEqual(daemon.get("/health", client=connection).status, 200)
            clients = self.send_many(daemon, n)
            self.assertEqual(daemon.get("/health", client=connection).status, 200)
            translated = daemon.translate("Hello.", client=connection).status
            n_ended = len(select.select(clients, [], [], 0)[0])
            self.assertEqual(translated, 200)
            self.assertLess(n_ended, n)
            self.assertEqual(self.codes(clients), [413] * n)
            connection.close()

    def test_who_asks_for_nothing_does_not_wait_for_many_who_ask_for_little(self):
        with Daemon("--max-queued-sentences", "400") as daemon:
            n = 100
            connection = daemon.connect()
            self.assertEqual(daemon.get("/health", client=connection).status, 200)
            clients = self.send_many(daemon, n, n_sentences=1000)
            self.assertEqual(daemon.get("/health", client=connection).status, 200)
            n_ended = len(select.select(clients, [], [], 0)[0])
            self.assertLess(n_ended, n)
            self.assertEqual(self.codes(clients), [413] * n)
            connection.close()

    def test_waiting_for_a_turn_counts_for_the_deadline(self):
        with Daemon() as daemon:
            first = self.send_many(daemon, 30)
            late = self.send_many(daemon, 3, head="X-Request-Timeout: 0\r\n")
            self.assertEqual(self.codes(late), [504] * 3)
            self.assertLess(len(select.select(first, [], [], 0)[0]), 30)
            self.assertEqual(self.codes(first), [413] * 30)
            self.assertEqual(daemon.metrics()['attentiond_rejected_total{reason="timeout"}'], 3)

    def test_clients_leave_the_line(self):
        with Daemon() as daemon:
            clients = self.send_many(daemon, 20)
            for client in clients[5::2]:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.close()
            stay = [client for client in clients if client.fileno() >= 0]
            self.assertEqual(self.codes(stay), [413] * len(stay))
            wait_until(lambda: daemon.metrics()["attentiond_requests_in_flight"] <= 1, what="all gone")
            self.assertEqual(daemon.translate("Hello.").status, 200)

    def test_who_is_in_line_is_served_before_the_end(self):
        daemon = Daemon().start()
        clients = self.send_many(daemon, 20)
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.codes(clients), [413] * 20)
        self.assertEqual(daemon.stop(None), 0, daemon.log)

    @unittest.skipIf(SLOWNESS > 1, "a sanitizer has an allocator of its own")
    def test_memory_is_given_back_when_all_rest(self):
        with Daemon("--request-timeout-ms", "300000") as daemon:
            def resident_mib():
                status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
                return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
            daemon.translate("Hello.")
            before = resident_mib()
            most = 0
            for _ in range(2):  # the second one meets the holes that the first one left
                daemon.translate("\n".join(["%s house."] * 3000), max_decoding_length=4, client=daemon.connect(300))
                most = max(most, resident_mib())
            self.assertGreater(most, before + 100)
            wait_until(lambda: resident_mib() < before + 50, 60, "given back")

    def test_full_queue_is_refused_at_once(self):
        with Daemon("--max-queued-sentences", "64", "--max-batch-rows", "8", "--workers", "1") as daemon:
            slow = daemon.socket()
            slow.sendall(request_bytes(SLOW))
            wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
            reply = daemon.translate(SENTENCES * 4)
            self.assertEqual((reply.status, reply.headers["retry-after"]), (503, "1"))
            self.assertIn("error", reply.json)
            self.assertLess(reply.seconds, 1 * SLOWNESS)
            metrics = daemon.metrics()
            self.assertEqual(metrics['attentiond_rejected_total{reason="queue_full"}'], 1)
            slow.close()
            wait_until(lambda: daemon.translate("Hello.").status == 200, what="room in the queue")

    def test_a_full_queue_is_told_before_the_body_is_looked_at(self):
        def queued(n):
            wait_until(lambda: daemon.metrics()["attentiond_queue_depth"] == n, what=f"{n} in the queue")

        with Daemon("--max-queued-sentences", "16", "--max-batch-rows", "8", "--workers", "1") as daemon, \
                daemon.socket() as first, daemon.socket() as second:
            first.sendall(request_bytes({**SLOW, "q": SENTENCES[:8]}))  # one runs with 8 rows
            queued(7)
            second.sendall(request_bytes({**SLOW, "q": SENTENCES[:9]}))
            queued(16)
            for path in ("/translate", "/attention", "/v2/translate"):
                reply = daemon.request("POST", path, "{", headers={"Content-Type": "application/json"})
                self.assertEqual((reply.status, reply.headers["retry-after"]), (503, "1"), path)
                self.assertIn("the queue is full: 16 sentences wait, which is the limit", str(reply.json))
            metrics = daemon.metrics()
            self.assertEqual(metrics['attentiond_rejected_total{reason="queue_full"}'], 3)
            self.assertEqual(daemon.get("/health").status, 200)
            reply = daemon.request("POST", "/detect", '{"q": "Where is it?"}',
                                   headers={"Content-Type": "application/json"})
            self.assertEqual(reply.status, 200)  # needs no queue

    def test_what_is_left_of_a_queue_is_kept_for_requests_that_found_no_room(self):
        with Daemon("--max-queued-sentences", "32", "--max-batch-rows", "8", "--workers", "1") as daemon, \
                daemon.socket() as slow:
            slow.sendall(request_bytes({**SLOW, "q": (SENTENCES * 3)[:31]}))
            wait_until(lambda: daemon.metrics()["attentiond_queue_depth"] == 30, what="30 in the queue")
            self.assertIn("32", daemon.translate(SENTENCES[:3]).error)
            reply = daemon.translate("Hello.")
            self.assertEqual((reply.status, reply.headers["retry-after"]), (503, "1"))
            self.assertEqual(reply.error, "the queue is full: 30 sentences wait, and what is left to the limit of 32 "
                             "is kept for larger requests")

    def test_http_thread_gives_way_while_the_queue_is_full(self):
        def policy():
            for task in pathlib.Path(f"/proc/{daemon.pid}/task").iterdir():
                if (task / "comm").read_text() == "http\n":
                    return os.sched_getscheduler(int(task.name))
            raise AssertionError("no HTTP thread")

        with Daemon("--max-queued-sentences", "1", "--max-batch-rows", "8", "--workers", "1") as daemon:
            with daemon.socket() as running, daemon.socket() as waiting:
                running.sendall(request_bytes({**SLOW, "q": SENTENCES[0]}))
                wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
                waiting.sendall(request_bytes({**SLOW, "q": SENTENCES[1]}))
                wait_until(lambda: daemon.metrics()["attentiond_queue_depth"], what="waiting")
                self.assertEqual(policy(), os.SCHED_OTHER)
                self.assertEqual(daemon.translate("Hello.").status, 503)
                self.assertEqual(policy(), os.SCHED_BATCH)
            wait_until(lambda: daemon.translate("Hello.").status == 200, what="room in the queue")
            self.assertEqual(policy(), os.SCHED_OTHER)

    def test_request_timeout(self):
        with Daemon("--request-timeout-ms", "300") as daemon:
            reply = daemon.request("POST", "/translate", {"source": "en", "target": "de", **SLOW})
            self.assertEqual(reply.status, 504)
            self.assertEqual(reply.error, "the request took longer than 0.3 s")
            self.assertLess(reply.seconds, 10 * SLOWNESS)
            for value in ("0.05", "0"):
                reply = daemon.request("POST", "/translate", {"source": "en", "target": "de", **SLOW},
                                       headers={"X-Request-Timeout": value})
                self.assertEqual(reply.status, 504)
            for value in ("soon", "-1", "nan", "1s"):
                reply = daemon.translate("Hello.", headers={"X-Request-Timeout": value})
                self.assertEqual(reply.status, 400, value)
            self.assertEqual(
                daemon.translate("Hi.", headers={"X-Request-Timeout": "1e9"}).status, 200)
            metrics = daemon.metrics()
            self.assertEqual(metrics['attentiond_rejected_total{reason="timeout"}'], 3)

    def leave(self, daemon, how):
        before = daemon.metrics()['attentiond_jobs_total{outcome="cancelled"}']
        connection = daemon.socket()
        connection.sendall(request_bytes(SLOW))
        wait_until(lambda: daemon.metrics()["attentiond_sentences_running"], what="running")
        how(connection)
        start = time.monotonic()
        wait_until(lambda: daemon.metrics()["attentiond_sentences_running"] == 0, what="cancelled")
        seconds = time.monotonic() - start
        metrics = daemon.metrics()
        self.assertEqual(metrics['attentiond_jobs_total{outcome="cancelled"}'], before + 1)
        self.assertEqual(metrics["attentiond_sentences_running"], 0)
        self.assertLess(seconds, 5 * SLOWNESS)

    def test_work_ends_when_its_client_leaves(self):
        def reset(connection):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

        def half_then_close(connection):
            connection.shutdown(socket.SHUT_WR)
            time.sleep(0.2)
            connection.close()

        with Daemon() as daemon:
            self.leave(daemon, socket.socket.close)
            self.leave(daemon, reset)
            self.leave(daemon, half_then_close)
            self.assertEqual(daemon.translate("Hello.").status, 200)

    def test_half_closed_client_is_not_one_that_left(self):
        with Daemon() as daemon:
            older = daemon.connect()
            self.assertEqual(daemon.get("/health", client=older).status, 200)
            for q in ["Hello."], SENTENCES * 3, SENTENCES * 12:
                self.half_close(daemon, q, daemon.translate(q).json)
            for path in "/nothing", "/suggest":  # the end comes with the last bytes, and then nothing
                data = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n".encode() + b"x" * 9000
                for _ in range(5):
                    self.assertIn(b"HTTP/1.1 4", daemon.raw(data, half_close=True))
            older.close()

    def half_close(self, daemon, q, expected):
        with daemon.socket() as connection:
            connection.sendall(request_bytes({"q": q}))
            connection.shutdown(socket.SHUT_WR)
            received = read_all(connection)
        interim = b"HTTP/1.1 100 Continue\r\n\r\n"
        while received.startswith(interim):  # at most one for each thing that is waited for
            received = received[len(interim):]
        head, body = received.split(b"\r\n\r\n", 1)
        self.assertTrue(head.startswith(b"HTTP/1.1 200 OK"))
        self.assertEqual(json.loads(body), expected)

    def test_aborts_at_random_moments(self):
        with Daemon() as daemon:
            daemon.translate("Hello.")
            fds = daemon.metrics()["process_open_fds"]
            data = request_bytes({"q": SENTENCES, "beam_size": 4})

            def abort(i):
                choice = random.Random(i)
                for _ in range(15):
                    with daemon.socket() as connection:
                        connection.sendall(data[: choice.choice([5, 100, len(data) - 1, len(data)])])
                        time.sleep(choice.random() * 0.1)
                        if choice.random() < 0.5:
                            linger = struct.pack("ii", 1, 0)
                            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

            in_parallel(16, abort)

            def left_over():
                metrics = daemon.metrics()
                level = {"attentiond_sentences_running": 0, "attentiond_queue_depth": 0,
                         "attentiond_requests_in_flight": 1, "process_open_fds": fds}
                return {name: metrics[name] for name in level if metrics[name] > level[name]}

            try:
                wait_until(lambda: not left_over(), what="everything given back")
            except AssertionError:
                self.fail(f"not given back: {left_over()}")
            self.assertEqual(daemon.translate("Hello.").status, 200)

    def test_too_many_connections_are_told_so(self):
        with Daemon("--max-connections", "8") as daemon:
            busy = [daemon.socket() for _ in range(8)]
            for connection in busy:
                connection.sendall(request_bytes(SLOW)[:-1])
            time.sleep(0.3)
            reply = daemon.translate("Hello.")
            self.assertEqual(reply.status, 503)
            self.assertEqual(reply.headers["retry-after"], "1")
            self.assertEqual(reply.headers["connection"], "close")
            self.assertEqual(daemon.get("/health").status, 200)
            self.assertGreaterEqual(
                daemon.metrics()['attentiond_rejected_total{reason="too_many_connections"}'], 1)
            for connection in busy:
                connection.close()
            wait_until(lambda: daemon.translate("Hello.").status == 200, what="room again")

    def test_idle_connections_make_room(self):
        with Daemon("--max-connections", "8") as daemon:
            clients = [daemon.connect() for _ in range(24)]
            for client in clients:  # what has just had its reply stays for a moment
                wait_until(lambda: daemon.translate("Hello.", client=client).status == 200)
            self.assertGreaterEqual(daemon.metrics()["attentiond_connections_evicted_total"], 16)
            for client in clients:
                client.close()

    def test_many_idle_connections_do_not_disturb(self):
        with Daemon("--max-connections", "700") as daemon:
            idle = [daemon.connect() for _ in range(500)]
            for client in idle:
                self.assertEqual(daemon.get("/health", client=client).status, 200)
            times = sorted(daemon.get("/health").seconds for _ in range(100))
            self.assertLess(times[90], 0.5 * SLOWNESS)  # far less than the work takes
            self.assertEqual(daemon.translate("Hello.", client=idle[0]).status, 200)
            for client in idle:
                client.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
