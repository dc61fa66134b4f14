"""Three replicas behind HAProxy and nginx as packaging/ configures them: nothing is lost and nothing is answered wrongly
while replicas stop, die, hang, and change their model. Counts are printed.

MT_TEST_FULL=1 has each of these go on for a minute at least, by clients that never pause, and compares 100,000 answers."""

import json
import os
import pathlib
import random
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from cluster import (MISSING, SHUTDOWN_DELAY_MS, SLOWNESS, Cluster, Daemon, Haproxy, Nginx, PostgreSQL, find, find_postgresql, kernels_here, pause,
                     supports, wait_until)
from model_fixtures import make_model
from traffic import KINDS, SENTENCES, Traffic, asks, events, learn, whole_stream

IS_FULL = os.environ.get("MT_TEST_FULL") == "1"
LEAST_SECONDS = 60 if IS_FULL else 1
# Of a client, on average. Without it the replicas take all processors, which other tests need meanwhile.
PAUSE_S = 0 if IS_FULL else 0.4
N_ANSWERS = 100_000 if IS_FULL else 3_000
LONG = " ".join(SENTENCES * 12)


def say(text):
    print(text, file=sys.stderr, flush=True)


class Configurations(unittest.TestCase):
    def test_haproxy_takes_ours_without_a_warning(self):
        balancer = Haproxy(FakeCluster)
        self.addCleanup(balancer.folder.cleanup)
        result = subprocess.run(balancer.command("-c"), capture_output=True, text=True, timeout=60,
                                env=balancer.environment(), check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("WARNING", result.stderr)

    def test_nginx_takes_ours_without_a_warning(self):
        balancer = Nginx(FakeCluster)
        self.addCleanup(balancer.folder.cleanup)
        result = subprocess.run(balancer.command("-t"), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("[warn]", result.stderr)


class FakeCluster:
    """Addresses for a configuration that is only checked."""

    addresses = [(f"127.0.0.{i + 2}", 5000) for i in range(3)]


class Losses(unittest.TestCase):
    """Under the load of 32 clients."""

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.root.name)
        cls.models = root / "models"
        cls.models.mkdir()
        cls.versions = [make_model(root / f"v{i}" / "en-de", "en", "de", seed=i) for i in (1, 2)]
        cls.answers = []
        for version in cls.versions:
            with Daemon(model=str(version)) as alone:
                cls.answers.append(learn(alone))

    @classmethod
    def tearDownClass(cls):
        cls.root.cleanup()

    def setUp(self):
        shutil.rmtree(self.models)
        self.models.mkdir()
        shutil.copytree(self.versions[0], self.models / "en-de")

    def phase(self, name, traffic, act, may_cut=False):
        """act() under load, for LEAST_SECONDS at least."""
        end, n_acts = time.monotonic() + LEAST_SECONDS * SLOWNESS, 0
        while n_acts == 0 or time.monotonic() < end:
            act()
            n_acts += 1
        time.sleep(1)
        counts, slowest = traffic.take()
        say(f"{type(traffic.balancer).__name__.lower():8} {name:22} x{n_acts}: {counts['right']} right, {counts['wrong']} wrong, "
            f"{counts['failed']} failed, {counts['cut']} cut; slowest {slowest:.1f} s")
        self.assertEqual((counts["wrong"], counts["failed"]), (0, 0), traffic.examples)
        self.assertGreater(counts["right"], 0)
        if not may_cut:
            self.assertEqual(counts["cut"], 0, traffic.examples)

    def replace_model(self, traffic, old, new):
        """What docs/operating.md says: aside on the same volume, then two renames. Each request meets one version."""
        traffic.right = [{a, b} for a, b in zip(self.answers[old], self.answers[new])]
        shutil.copytree(self.versions[new], self.models / ".en-de.new")
        os.rename(self.models / "en-de", self.models / ".en-de.old")
        os.rename(self.models / ".en-de.new", self.models / "en-de")
        shutil.rmtree(self.models / ".en-de.old")
        text = self.answers[new][0]
        for replica in self.cluster.replicas:
            wait_until(lambda one=replica: one.request("POST", "/translate", KINDS[0]).body == text, 20 * SLOWNESS, "the new version")
        time.sleep(2 * SLOWNESS)  # what began with the old one has ended
        traffic.right = [{answer} for answer in self.answers[new]]

    def all_up(self, balancer):
        if isinstance(balancer, Haproxy):
            wait_until(lambda: set(balancer.states()) == {"UP"}, 20 * SLOWNESS, "all replicas up")
        else:
            time.sleep(2.5)  # fail_timeout

    def rolling_restart(self, balancer):
        for i in range(3):
            self.cluster.restart(i)
            self.all_up(balancer)

    def kill_one(self, balancer):
        self.cluster.replicas[1].process.kill()
        time.sleep(1)
        self.cluster.replace_killed(1)
        self.all_up(balancer)

    def hang_one(self, balancer, seconds):
        pause(self.cluster.replicas[2], seconds)
        self.all_up(balancer)

    def test_haproxy(self):
        with Cluster(models=self.models, shutdown_delay_ms=SHUTDOWN_DELAY_MS) as self.cluster, Haproxy(self.cluster) as balancer:
            say(f"replicas with {', '.join(self.cluster.kernels[i % len(self.cluster.kernels)] for i in range(3))}")
            traffic = Traffic(balancer, [{answer} for answer in self.answers[0]], PAUSE_S)
            try:
                self.phase("nothing happens", traffic, lambda: time.sleep(2))
                self.phase("rolling restart", traffic, lambda: self.rolling_restart(balancer))
                versions = [0, 1]
                def replace():
                    self.replace_model(traffic, *versions)
                    versions.reverse()
                self.phase("model replaced", traffic, replace)
                self.phase("one hangs for 1 s", traffic, lambda: self.hang_one(balancer, 1))
                self.phase("one hangs for 8 s", traffic, lambda: self.hang_one(balancer, 8), may_cut=True)
                self.phase("kill -9 of one", traffic, lambda: self.kill_one(balancer), may_cut=True)
            finally:
                traffic.stop()
            say(f"repeated by HAProxy: {balancer.figures_of('wretr')} retries, {balancer.figures_of('wredis')} sent to another replica")

    def test_nginx(self):
        with Cluster(models=self.models, shutdown_delay_ms=SHUTDOWN_DELAY_MS) as self.cluster, Nginx(self.cluster) as balancer:
            traffic = Traffic(balancer, [{answer} for answer in self.answers[0]], PAUSE_S)
            try:
                self.phase("rolling restart", traffic, lambda: self.rolling_restart(balancer))
                self.phase("kill -9 of one", traffic, lambda: self.kill_one(balancer), may_cut=True)
            finally:
                traffic.stop()


class Alike(unittest.TestCase):
    def test_replicas_answer_with_the_same_bytes(self):
        chance = random.Random(25)

        def text():
            words = " ".join(chance.sample(SENTENCES, 2)).split()
            chance.shuffle(words)
            return f"{' '.join(words[:chance.randint(2, 9)]).capitalize()}. {chance.choice(SENTENCES)} {chance.randint(1, 99999)}"

        kernels = kernels_here()
        with Cluster(n=len(kernels), kernels=kernels) as cluster:
            left, lock = N_ANSWERS, threading.Lock()
            n_answers, differing = dict.fromkeys(kernels, 0), []

            def run():
                nonlocal left
                clients = [replica.connect() for replica in cluster.replicas]
                while True:
                    with lock:
                        batch = [text() for _ in range(chance.randint(1, 16))]
                        # The plain ones in C are a hundred times slower than others, and get a hundredth of the texts.
                        asked = [i for i, name in enumerate(kernels) if name != "c" or chance.random() < 0.01 or n_answers["c"] == 0]
                        if left <= 0:
                            break
                        for i in asked:
                            n_answers[kernels[i]] += len(batch)
                        left -= len(batch) * len(asked)
                    replies = [cluster.replicas[i].request("POST", "/translate", asks(batch, beam_size=1), client=clients[i]) for i in asked]
                    if {reply.status for reply in replies} != {200} or len({reply.body for reply in replies}) != 1:
                        differing.append((batch, replies))
                for client in clients:
                    client.close()

            threads = [threading.Thread(target=run) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            say(f"answers compared, by kernels: {n_answers}; {len(differing)} requests differ")
            self.assertEqual(differing, [])


class Through(unittest.TestCase):
    """What is not simply a request and a reply."""

    def each(self, check):
        with Cluster() as cluster:
            for kind in (Haproxy, Nginx):
                with self.subTest(kind.__name__), kind(cluster) as balancer:
                    check(cluster, balancer)

    def test_streams_come_piece_by_piece(self):
        def check(_, balancer):
            client, begin = balancer.connect(), time.monotonic()
            client.request("POST", "/translate", json.dumps(asks(LONG, stream=True)), {"Content-Type": "application/json"})
            response, body, times = client.getresponse(), b"", []
            while line := response.readline():
                body += line
                if line.startswith(b"data: {\"index\""):
                    times.append(time.monotonic())
            client.close()
            whole_stream(body)
            self.assertGreater(len(events(body)), 20)
            # What a buffer collects would come at the end, all at once. On a busy machine the first one is late.
            self.assertGreater(times[-1] - times[0], min(0.05, 0.3 * (times[-1] - begin)))

        self.each(check)

    def test_numbers_of_requests(self):
        def check(_, balancer):
            _, headers, _ = balancer.ask("/translate", asks("Hello."), {"X-Request-ID": "mine-1"})
            self.assertEqual(headers["x-request-id"], "mine-1")
            _, headers, _ = balancer.ask("/translate", asks("Hello."))
            self.assertRegex(headers["x-request-id"], r"^[0-9a-f-]{32,36}$")

        self.each(check)

    def test_largest_body(self):
        """It can be repeated, so it fits into the balancer."""
        def check(cluster, balancer):
            # max_body_bytes, with spaces in the document, not in the text.
            body = json.dumps(asks("Hello.")).encode()
            body = b" " * (262144 - len(body)) + body
            client = balancer.connect()
            client.request("POST", "/translate", body, {"Content-Type": "application/json"})
            self.assertEqual(client.getresponse().status, 200)
            client.close()

        self.each(check)

    def test_metrics_are_not_for_clients(self):
        self.each(lambda _, balancer: self.assertEqual(balancer.ask("/metrics", None)[0], 404))

    @unittest.skipUnless(supports("files_directory"), "the program has no files_directory")
    def test_files(self):
        def check(cluster, balancer):
            form = (b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nWhere is the train station?\r\n'
                    b'--x\r\nContent-Disposition: form-data; name="source"\r\n\r\nen\r\n'
                    b'--x\r\nContent-Disposition: form-data; name="target"\r\n\r\nde\r\n--x--\r\n')
            client = balancer.connect()
            client.request("POST", "/translate_file", form, {"Content-Type": "multipart/form-data; boundary=x"})
            response = client.getresponse()
            body = response.read()
            self.assertEqual(response.status, 200, body)
            path = "/" + json.loads(body)["translatedFileUrl"].split("/", 3)[3]
            expected = cluster.replicas[0].translate("Where is the train station?").json["translatedText"]
            for _ in range(6):
                self.assertEqual(balancer.ask(path, None)[2].decode().strip(), expected)
            for replica in cluster.replicas:  # whichever made it
                self.assertEqual(replica.get(path).body.decode().strip(), expected)
            client.close()

        self.each(check)


class Sharing(unittest.TestCase):
    """One database for all replicas. They keep nothing of it that could be old."""

    GLOSSARY = {"name": "shared", "source_lang": "en", "target_lang": "de", "entries": "train station\tHauptbahnhof", "entries_format": "tsv"}

    def check(self, cluster, balancer):
        status, _, body = balancer.ask("/v2/glossaries", self.GLOSSARY)
        self.assertEqual(status, 201, body)
        id = json.loads(body)["glossary_id"]
        fields = {**asks("Where is the train station?"), "glossary_id": id}
        for replica in cluster.replicas:
            self.assertEqual(replica.get(f"/v3/glossaries/{id}").status, 200)
            self.assertEqual(replica.request("POST", "/translate", fields).json["translatedText"], "Wo ist der Hauptbahnhof?")
        changed = {"source_lang": "en", "target_lang": "de", "entries": "train station\tZughalt"}
        self.assertEqual(cluster.replicas[0].request("PUT", f"/v3/glossaries/{id}/dictionaries", changed).status, 200)
        for _ in range(6):
            self.assertEqual(json.loads(balancer.ask("/translate", fields)[2])["translatedText"], "Wo ist der Zughalt?")
        self.assertEqual(cluster.replicas[1].request("DELETE", f"/v3/glossaries/{id}").status, 204)
        for replica in cluster.replicas:
            self.assertEqual(replica.get(f"/v3/glossaries/{id}").status, 404)

    def test_glossaries(self):
        with PostgreSQL() as server, Cluster(environment={"ATTENTIOND_DATABASE": server.create("shared")}) as cluster:
            for kind in (Haproxy, Nginx):
                with self.subTest(kind.__name__), kind(cluster) as balancer:
                    self.check(cluster, balancer)

    def test_what_changes_them_is_not_repeated(self):
        """A replica dies in the middle: its client asks whether the glossary is there."""
        class Silent:
            addresses = []

        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Dying)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        Silent.addresses = [server.server_address] * 3
        for kind in (Haproxy, Nginx):
            with kind(Silent) as balancer:
                for path, expected in (("/v2/glossaries", 1), ("/translate", 3)):
                    Dying.n = 0
                    status = balancer.ask(path, {"q": "Hello."})[0]
                    self.assertIn(status, (502, 503))
                    if expected == 1:
                        self.assertEqual(Dying.n, 1, kind.__name__)
                    else:
                        self.assertGreater(Dying.n, 1, kind.__name__)


class Dying(socketserver.StreamRequestHandler):
    """A replica that is healthy, and ends without an answer when it is asked for something."""

    n = 0

    def handle(self):
        head = b""
        while line := self.rfile.readline():
            head += line
            if line == b"\r\n":
                break
        if head.startswith(b"POST"):
            Dying.n += 1
        elif head:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


class Rates(unittest.TestCase):
    def test_haproxy_counts_for_all_replicas(self):
        with Cluster() as cluster, Haproxy(cluster, requests_per_minute=20) as balancer:
            statuses = [balancer.ask("/translate", asks("Hello.")) for _ in range(30)]
            self.assertEqual([status for status, _, _ in statuses], [200] * 20 + [429] * 10)
            _, headers, body = statuses[-1]
            self.assertEqual((headers["retry-after"], json.loads(body)), ("60", {"error": "Slowdown"}))
            self.assertEqual(balancer.ask("/languages", None)[0], 200)
            for _ in range(100):
                status = balancer.ask("/translate", asks("Hello."))[0]
            self.assertEqual(status, 403, "banned")

    def test_a_drained_replica_gets_nothing(self):
        with Cluster() as cluster, Haproxy(cluster) as balancer:
            balancer.tell("set server replicas/replica1 state drain")
            before = balancer.figures_of("stot")[0]
            for _ in range(12):
                self.assertEqual(balancer.ask("/translate", asks("Hello."))[0], 200)
            self.assertEqual(balancer.figures_of("stot")[0], before)


if __name__ == "__main__":
    for program in ("haproxy", "nginx"):
        find(program)
    if not find_postgresql():
        print(f"skipped: {MISSING}")
        sys.exit(77)
    unittest.main(verbosity=2)
