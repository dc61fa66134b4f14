"""Requests that wait for their model: memory is for one of them alone, and others hold it."""

import json
import pathlib
import shutil
import signal
import socket
import tempfile
import threading
import time
import unittest

from model_fixtures import make_model
from serve import SLOWNESS, Daemon, wait_until
from test_admin import Client

GERMAN = "Ich habe einen Hund."
# Of many seconds.
LONG = "Where is the train station? I have a dog, and it sleeps on the sofa. " * 400


class Waiting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp())
        cls.models = cls.root / "models"
        make_model(cls.models / "en-de")
        make_model(cls.models / "de-fr", "de", "fr", seed=1)
        with cls.daemon_of() as daemon:
            cls.french = daemon.translate(GERMAN, source="de", target="fr").json["translatedText"]
            cls.pivot = daemon.translate("I have a dog.", target="fr").body
            cls.one = daemon.get("/models/en-de").json["memory"]["loaded_bytes"]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    @classmethod
    def daemon_of(cls, *flags, **options):
        return Daemon("--models-directory", str(cls.models), *flags, model=None, **options)

    def with_room_for_one(self, *flags, **options):
        return self.daemon_of("--models-memory", str(int(self.one * 1.5)), *flags, **options)

    def hold(self, daemon):
        """Keeps en-de busy until it is closed, as another client: others have their turn there, too."""
        connection = daemon.socket(120 * SLOWNESS, "127.0.0.2")
        self.addCleanup(connection.close)
        body = json.dumps({"q": LONG, "source": "en", "target": "de", "beam_size": 8,
                           "min_decoding_length": 300, "max_decoding_length": 400}).encode()
        connection.sendall(b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                           b"Content-Length: %d\r\n\r\n" % len(body) + body)
        wait_until(lambda: daemon.get("/models/en-de").json["state"] == "ready", what="the other model")
        return connection

    def test_slow_reader_keeps_no_model(self):
        fields = {"q": " ".join(["I have a dog, " * 20 + "and it sleeps."] * 4), "model": "en-de",
                  "kinds": ["cross", "encoder", "decoder"], "reduce": "none", "precision": 9}
        with self.with_room_for_one() as daemon:
            expected = daemon.request("POST", "/attention", fields).body
            self.assertGreater(len(expected), 10 << 20)  # more than the kernel keeps of it
            slow = daemon.connect(60 * SLOWNESS)
            slow.sock = socket.socket()
            slow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
            slow.sock.settimeout(60 * SLOWNESS)
            slow.sock.connect((daemon.host, daemon.port))
            slow.request("POST", "/attention", json.dumps(fields), {"Content-Type": "application/json"})
            response = slow.getresponse()
            reply = daemon.translate(GERMAN, source="de", target="fr")
            self.assertEqual((reply.status, reply.json["translatedText"]), (200, self.french))
            self.assertEqual(daemon.get("/models/en-de").json["state"], "cold")
            # What it has not read yet needs nothing of the model that is gone, nor of its generation.
            daemon.process.send_signal(signal.SIGHUP)
            wait_until(lambda: daemon.metrics()["attentiond_generation"] == 2, what="another generation")
            wait_until(lambda: daemon.metrics()["attentiond_generations_alive"] == 1, what="the former one's end")
            self.assertTrue(response.read() == expected)
            slow.close()

    def test_too_late(self):
        with self.with_room_for_one() as daemon:
            holder = self.hold(daemon)
            for more in ({}, {"stream": True}):
                reply = daemon.translate(GERMAN, source="de", target="fr", headers={"X-Request-Timeout": "0.3"}, **more)
                self.assertEqual((reply.status, reply.error), (504, "the request took longer than 0.3 s"))
            self.assertEqual(daemon.metrics()['attentiond_rejected_total{reason="timeout"}'], 2)
            holder.close()
            reply = daemon.translate(GERMAN, source="de", target="fr")
            self.assertEqual(reply.json, {"translatedText": self.french})

    def test_client_that_leaves(self):
        with self.with_room_for_one() as daemon:
            holder = self.hold(daemon)
            for n, fields in enumerate(({"source": "de"}, {"source": "en", "stream": True}), start=1):
                body = json.dumps({"q": GERMAN, "target": "fr", **fields}).encode()
                with daemon.socket() as client:
                    client.sendall(b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                                   b"Content-Length: %d\r\n\r\n" % len(body) + body)
                    wait_until(lambda: daemon.get("/models/de-fr").json["use"]["waiting"] == 1, what="the wait")
                wait_until(lambda: daemon.get("/models/de-fr").json["use"]["waiting"] == 0, what="its end")
                wait_until(lambda n=n: daemon.metrics()['attentiond_rejected_total{reason="client_gone"}'] == n)
            # It may be being loaded just then, to find out how large it is.
            wait_until(lambda: daemon.get("/models/de-fr").json["state"] == "cold", what="nobody's wish")
            holder.close()

    def test_the_end_of_the_server(self):
        daemon = self.with_room_for_one("--drain-timeout-ms", "1000").start()
        self.hold(daemon)
        replies = []
        client = threading.Thread(target=lambda: replies.append(daemon.translate(GERMAN, source="de", target="fr")))
        client.start()
        wait_until(lambda: daemon.get("/models/de-fr").json["use"]["waiting"] == 1, what="the wait")
        self.assertIn(daemon.stop(signal.SIGTERM), (0, 1), daemon.log)
        client.join()
        self.assertEqual((replies[0].status, replies[0].error), (503, "the server is shutting down"))

    def test_the_end_of_the_server_in_the_middle_of_a_stream(self):
        daemon = self.with_room_for_one("--drain-timeout-ms", "1000").start()
        self.hold(daemon)
        replies = []
        client = threading.Thread(target=lambda: replies.append(daemon.translate("I have a dog.", target="fr", stream=True)))
        client.start()
        wait_until(lambda: daemon.get("/models/de-fr").json["use"]["waiting"] == 1, 30 * SLOWNESS, "the wait")
        self.assertIn(daemon.stop(signal.SIGTERM), (0, 1), daemon.log)
        client.join()
        said = replies[0].body.decode().replace(":\n\n", "")  # but for the comments
        self.assertEqual(said, 'event: error\ndata: {"error":"the server is shutting down"}\n\n')

    def test_the_end_of_the_server_for_who_loads_a_model(self):
        """On the admin socket, whose requests are not waited for."""
        path = self.root / "admin"
        daemon = self.with_room_for_one("--admin-socket", str(path), "--drain-timeout-ms", "1000").start()
        self.hold(daemon)
        replies = []

        def load():
            client = Client(path)
            client.request("POST", "/models/de-fr/load", b"")
            replies.append(client.getresponse().status)
            client.close()

        clients = [threading.Thread(target=load) for _ in range(3)]
        for client in clients:
            client.start()
        wait_until(lambda: daemon.get("/models/de-fr").json["use"]["waiting"] == 3, what="the waits")
        self.assertIn(daemon.stop(signal.SIGTERM), (0, 1), daemon.log)
        for client in clients:
            client.join()
        self.assertEqual(len(replies), 3)
        self.assertLessEqual(set(replies), {200, 503})

    def test_ways_through_two_models_take_turns(self):
        """Each request needs both, and there is room for one."""
        with self.with_room_for_one() as daemon:
            replies = []
            clients = [threading.Thread(target=lambda: replies.append(daemon.translate("I have a dog.", target="fr")))
                       for _ in range(12)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            self.assertEqual([(reply.status, reply.body) for reply in replies], [(200, self.pivot)] * 12)
            self.assertGreater(daemon.get("/models/en-de").json["use"]["unloads"], 0)

    def test_stream_that_waits_in_the_middle(self):
        with self.with_room_for_one("--stream-keepalive-ms", "100") as daemon:
            expected = daemon.translate("I have a dog.", target="fr", post_edit=False).json
            body = daemon.translate("I have a dog.", target="fr", stream=True).body.decode()
            self.assertIn("event: result\ndata: " + json.dumps(expected, ensure_ascii=False, separators=(",", ":")), body)

    def test_stream_whose_client_leaves_in_the_middle(self):
        with self.with_room_for_one("--stream-keepalive-ms", "100") as daemon:
            daemon.translate("I have a dog.", target="de")
            body = json.dumps({"q": LONG, "source": "en", "target": "fr", "stream": True}).encode()
            for seconds in (0, 0.05, 0.2, 0.5):
                with daemon.socket() as client:
                    client.sendall(b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                                   b"Content-Length: %d\r\n\r\n" % len(body) + body)
                    time.sleep(seconds)
            wait_until(lambda: daemon.metrics()["attentiond_queue_depth"] == 0, what="an empty queue")
            self.assertEqual(daemon.translate("I have a dog.", target="fr").body, self.pivot)


if __name__ == "__main__":
    unittest.main(verbosity=2)
