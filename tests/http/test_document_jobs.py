"""DeepL's POST /v2/document: a file is sent, asked after, fetched and forgotten, while nobody waits for its work."""

import json
import os
import signal
import tempfile
import time
import unittest
import urllib.parse

from serve import MODEL, SLOWNESS, Daemon, wait_until
from test_files import fetch, sample, upload

SHORT = "Where is the train station?\n\nI am tired.\n"
# Long enough to be found at work, and below max_text_chars.
LONG = "".join(f"The train to Hamburg leaves at {i} o'clock, and we are waiting at the station.\n\n" for i in range(200))
UNKNOWN = "there is no such document: its id or key is wrong, or it was fetched or deleted, has expired, or the server was restarted since; send it again"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def send(daemon, content, name="letter.txt", headers=None, client=None, **fields):
    fields = {"source": None, "target": None, "target_lang": "DE", **fields}
    return upload(daemon, content, name, fields, path="/v2/document", headers=headers, client=client)


class Job:
    def __init__(self, daemon, reply):
        assert reply.status == 200, reply
        assert set(reply.json) == {"document_id", "document_key"}, reply
        self.daemon = daemon
        self.id, self.key = reply.json["document_id"], reply.json["document_key"]

    def ask(self, method="POST", what="", key=None, **options):
        key = urllib.parse.urlencode({"document_key": self.key if key is None else key})
        path = f"/v2/document/{self.id}{what}"
        if method == "POST":
            return self.daemon.request(method, path, key, headers=FORM, **options)
        return self.daemon.request(method, f"{path}?{key}", **options)

    @property
    def status(self):
        reply = self.ask()
        assert reply.status == 200, reply
        return reply.json["status"]

    def wait(self, status="done"):
        wait_until(lambda: self.status not in {"queued", "translating"} - {status}, 120 * SLOWNESS, "the document")
        reply = self.ask()
        assert reply.json["status"] == status, reply
        return reply.json

    def is_forgotten(self):
        return all(reply.status == 404 and reply.json == {"message": UNKNOWN} for reply in map(self.ask, ("GET", "POST"), ("", "/result")))


def in_flight(daemon):
    """But for the question itself."""
    return daemon.metrics()["attentiond_requests_in_flight"] - 1


class Jobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def test_the_work_is_that_of_a_client_who_waits(self):
        for content, name in ((SHORT, "letter.txt"), (LONG, "LONG.TXT"), (sample("letter.docx"), "letter.docx")):
            with self.subTest(name):
                waited = upload(self.daemon, content, name)
                expected = {key: value for key, value in waited.json.items() if key != "translatedFileUrl"}
                job = Job(self.daemon, send(self.daemon, content, name))
                status = job.wait()
                self.assertEqual({key: status[key] for key in expected}, expected)
                self.assertEqual(set(status) - set(expected), {"billed_characters", "document_id", "seconds_remaining", "status"})
                self.assertEqual((status["document_id"], status["seconds_remaining"]), (job.id, 0))
                link = urllib.parse.urlparse(waited.json["translatedFileUrl"]).path
                expected = self.daemon.get(link)
                for method in ("GET", "GET", "POST"):
                    result = job.ask(method, "/result")
                    self.assertEqual((result.status, result.body), (200, expected.body))
                    for header in ("content-type", "content-disposition", "content-security-policy"):
                        self.assertEqual(result.headers[header], expected.headers[header])
                self.assertTrue(job.is_forgotten())

    def test_characters_are_those_of_the_words(self):
        job = Job(self.daemon, send(self.daemon, "<p>I am <b>tired</b>.</p>", "page.html"))
        self.assertEqual(job.wait()["billed_characters"], len("I am tired."))

    def test_every_way_to_ask(self):
        job = Job(self.daemon, send(self.daemon, SHORT))
        expected = job.wait()
        self.assertEqual(job.ask("GET").json, expected)
        self.assertEqual(self.daemon.request("POST", f"/v2/document/{job.id}", {"document_key": job.key}).json, expected)
        self.assertEqual(self.daemon.request("HEAD", f"/v2/document/{job.id}/result?document_key={job.key}").status, 200)
        self.assertEqual(job.ask("GET", "/result").status, 200)

    def test_pages_of_other_sites_may_end_the_work(self):
        for path, methods in (("/v2/document/0", "GET, POST, PUT, PATCH, DELETE"), ("/translate", "GET, POST")):
            reply = self.daemon.request("OPTIONS", path, headers={"Origin": "https://example.org", "Access-Control-Request-Method": "DELETE"})
            self.assertEqual((reply.status, reply.headers["access-control-allow-methods"]), (200, methods))

    def test_others_see_nothing(self):
        job, other = (Job(self.daemon, send(self.daemon, SHORT)) for _ in range(2))
        for method in ("GET", "POST", "DELETE"):
            for key in ("0" * 64, other.key, ""):
                reply = job.ask(method, key=key)
                self.assertEqual((reply.status, reply.json), (404, {"message": UNKNOWN}))
            reply = self.daemon.request(method, f"/v2/document/{job.id}")
            self.assertEqual((reply.status, reply.json), (404, {"message": UNKNOWN}))
        for path in ("", "0" * 32, "0" * 5000, f"{job.id}/", f"{job.id}/results", f"{job.id}/result/"):
            reply = self.daemon.get(f"/v2/document/{path}?document_key={job.key}")
            self.assertEqual((reply.status, list(reply.json)), (404, ["message"]), path)
        self.assertEqual(job.ask("DELETE", "/result").status, 404)
        job.wait()
        self.assertEqual(other.wait()["status"], "done")

    def test_what_cannot_be_done_is_said_at_once(self):
        damaged = sample("letter.docx")[:-400]
        for reply, message in (
                (send(self.daemon, damaged, "letter.docx"), r"zip|package|cut"),
                (send(self.daemon, SHORT, "letter.invalid"), r'^Invalid file extension: ".invalid", expected .txt'),
                (send(self.daemon, SHORT, "letter"), r'^Invalid file extension: "", expected'),
                (send(self.daemon, b"%PDF-1.7", "letter.pdf"), "^the file is a PDF"),
                (send(self.daemon, SHORT, filename="letter.exe"), r'^Invalid file extension: ".exe"'),
                (send(self.daemon, SHORT, target_lang="XX"), r"^Value for 'target_lang' not supported\.$"),
                (send(self.daemon, SHORT, target_lang=None), r"^Value for 'target_lang' not supported\.$"),
                (send(self.daemon, SHORT, source_lang="FR"), r"^Value for 'source_lang' not supported\.$"),
                (send(self.daemon, SHORT, source_lang="DE"), r"^Source and target language are equal\.$"),
                (send(self.daemon, "Ich bin sehr müde, und wir warten am Bahnhof.\n"), r"^Source and target language are equal\.$"),
                (send(self.daemon, SHORT, formality="more"), "formality"),
                (send(self.daemon, SHORT, formality="formality"), r"^Value for 'formality' not supported\.$"),
                (send(self.daemon, SHORT, style_id="1"), r"^'style_id' is not supported\.$"),
                (send(self.daemon, SHORT, output_format="pdf"), r"^Value for 'output_format' not supported\.$"),
                (send(self.daemon, SHORT, None), r"missing file"),
                (send(self.daemon, 14 * LONG), r"exceeds text limit")):
            self.assertEqual((reply.status, list(reply.json)), (400, ["message"]), reply)
            self.assertRegex(reply.json["message"], message)

    def test_other_names_and_formats_that_are_its_own(self):
        job = Job(self.daemon, send(self.daemon, "<p>I am tired.</p>", "nothing", filename="page.htm", output_format="html", formality="prefer_more"))
        job.wait()
        result = job.ask(what="/result")
        self.assertIn('filename="page.de.html"', result.headers["content-disposition"])
        self.assertRegex(result.body.decode(), r"^<p>.*müde\.</p>$")

    def test_the_fields_of_translate_file(self):
        fields = {"do_not_translate": "tired", "encoding": "windows-1252"}
        job = Job(self.daemon, send(self.daemon, "Caf\u00e9: I am tired.\n".encode("cp1252"), **fields))
        status = job.wait()
        self.assertEqual((status["encoding"], status["terms"][0]["source"]), ("windows-1252", "tired"))
        self.assertIn(b"tired", job.ask(what="/result").body)

    def test_beside_the_work(self):
        """One connection sends a document and goes on; the result is refused until it is there."""
        client = self.daemon.connect()
        self.addCleanup(client.close)
        job = Job(self.daemon, send(self.daemon, LONG, client=client))
        early = job.ask(what="/result", client=client)
        self.assertEqual((early.status, early.headers["retry-after"]), (503, "1"))
        self.assertEqual(self.daemon.translate("I am tired.", client=client).status, 200)
        seen = []

        def look():
            seen.append(job.ask(client=client).json)
            return seen[-1]["status"] == "done"

        wait_until(look, 120 * SLOWNESS, "the document")
        self.assertTrue(any(one["status"] == "translating" for one in seen), seen[:3])
        self.assertEqual(job.ask(what="/result", client=client).status, 200)
        wait_until(lambda: in_flight(self.daemon) == 0)

    def test_who_leaves_before_the_answer_has_no_job(self):
        for _ in range(5):
            body = b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n" + LONG.encode()
            body += b"\r\n--x\r\nContent-Disposition: form-data; name=\"target_lang\"\r\n\r\nDE\r\n--x--\r\n"
            head = f"POST /v2/document HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: {len(body)}\r\n\r\n"
            with self.daemon.socket() as connection:
                connection.sendall(head.encode() + body)
        wait_until(lambda: in_flight(self.daemon) == 0, 120 * SLOWNESS)
        self.assertEqual(self.daemon.translate("I am tired.").status, 200)

    def test_deleting_ends_the_work(self):
        job = Job(self.daemon, send(self.daemon, LONG))
        self.assertEqual((job.ask("DELETE").status, job.ask("DELETE").status), (200, 404))
        self.assertTrue(job.is_forgotten())
        done = Job(self.daemon, send(self.daemon, SHORT))
        done.wait()
        self.assertEqual(done.ask("DELETE").json, {})
        self.assertTrue(done.is_forgotten())


class Limits(unittest.TestCase):
    def test_so_many_at_a_time(self):
        with Daemon("--max-document-jobs", "1") as daemon:
            job = Job(daemon, send(daemon, LONG))
            refused = send(daemon, SHORT)
            self.assertEqual((refused.status, refused.headers["retry-after"]), (503, "1"))
            self.assertEqual(refused.json["message"], "1 documents are being translated, as many as may be at a time: try again later")
            self.assertEqual(upload(daemon, SHORT, "a.txt").status, 200)
            job.ask("DELETE")
            again = wait_until(lambda: (lambda reply: reply.status == 200 and reply)(send(daemon, SHORT)), 60 * SLOWNESS)
            Job(daemon, again).wait()

    def test_many_wait_for_each_other_and_leave_room_for_those_who_wait(self):
        """Each has more sentences than their part of the queue, and all together many times what it holds."""
        with Daemon("--max-queued-sentences", "512") as daemon:
            jobs = [Job(daemon, send(daemon, LONG)) for _ in range(6)]
            while any(job.status in ("queued", "translating") for job in jobs):
                self.assertEqual(daemon.translate("I am tired.").status, 200)
            self.assertEqual({job.status for job in jobs}, {"done"})

    def test_time(self):
        with Daemon("--document-timeout-ms", "1000") as daemon:
            job = Job(daemon, send(daemon, LONG))
            wait_until(lambda: job.status in ("done", "error"), 120 * SLOWNESS)
            status = job.ask().json
            if status["status"] == "error":  # a quick machine is done in a second
                self.assertEqual(status["error_message"], "the request took longer than 1.0 s")
                self.assertEqual(status["message"], status["error_message"])
                result = job.ask(what="/result")
                self.assertEqual((result.status, result.json), (400, {"message": "the request took longer than 1.0 s"}))

    def test_they_expire(self):
        with Daemon("--files-lifetime-ms", "1000") as daemon:
            job = Job(daemon, send(daemon, SHORT))
            wait_until(job.is_forgotten, 30 * SLOWNESS)

    def test_where_files_are_switched_off(self):
        with Daemon("--files-translation=false") as daemon:
            reply = send(daemon, SHORT)
            self.assertEqual((reply.status, list(reply.json)), (403, ["message"]))

    def test_in_a_directory(self):
        with tempfile.TemporaryDirectory() as directory, Daemon("--files-directory", directory) as daemon:
            job = Job(daemon, send(daemon, SHORT))
            job.wait()
            self.assertEqual(len(os.listdir(directory)), 1)
            self.assertIn("Bahnhof", job.ask(what="/result").body.decode())

    def test_keys_and_their_characters(self):
        with tempfile.NamedTemporaryFile("w") as keys:
            keys.write(f"rich-key-1\npoor-key-1 chars_per_day={len(SHORT) + 20}\n")
            keys.flush()
            os.chmod(keys.name, 0o600)
            with Daemon("--api-keys-file", keys.name, "--key-required") as daemon:
                poor = {"Authorization": "DeepL-Auth-Key poor-key-1"}
                self.assertEqual(send(daemon, SHORT).status, 403)
                job = Job(daemon, send(daemon, SHORT, headers=poor))
                asked = wait_until(lambda: daemon.request("POST", f"/v2/document/{job.id}", {"document_key": job.key}, headers=poor))
                self.assertEqual(asked.status, 200)
                self.assertEqual(job.ask().status, 403)
                wait_until(lambda: daemon.request("GET", f"/v2/document/{job.id}?document_key={job.key}", headers=poor).json["status"] == "done", 60 * SLOWNESS)
                over = send(daemon, SHORT, headers=poor)
                self.assertEqual((over.status, list(over.json)), (456, ["message"]))


class End(unittest.TestCase):
    def test_a_stop_waits_for_the_work(self):
        with Daemon("--drain-timeout-ms", "120000") as daemon:
            Job(daemon, send(daemon, 3 * LONG))
            self.assertEqual(daemon.metrics()["attentiond_document_jobs"], 1)
            self.assertEqual(daemon.stop(), 0)
            self.assertRegex(daemon.log, r"shutting down: [1-3] requests in progress, ")

    def test_a_stop_does_not_wait_for_ever(self):
        daemon = Daemon("--drain-timeout-ms", "0", expect_exit=1).start()
        for _ in range(8):  # some of them wait for room
            Job(daemon, send(daemon, LONG))
        start = time.monotonic()
        self.assertIn(daemon.stop(), (0, 1))  # 0 where all were done
        self.assertLess(time.monotonic() - start, 60 * SLOWNESS)

    def test_settings_change_meanwhile(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
            config.write(json.dumps({"model": str(MODEL), "max_batch_texts": 3}))
            config.flush()
            with Daemon("--config", config.name, model=None) as daemon:
                job = Job(daemon, send(daemon, LONG))
                with open(config.name, "w") as file:
                    json.dump({"model": str(MODEL), "max_batch_texts": 2}, file)
                daemon.process.send_signal(signal.SIGHUP)
                wait_until(lambda: daemon.translate(3 * ["Hello."]).status == 400, 60 * SLOWNESS)
                self.assertEqual(job.wait()["left"], [])
                self.assertEqual(job.ask(what="/result").status, 200)


if __name__ == "__main__":
    unittest.main(verbosity=2)
