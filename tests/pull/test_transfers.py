"""Transfers, and all that goes wrong on the way: see test_faults.py."""

import json
import pathlib
import re
import subprocess
import tempfile
import time

from pulling import Case, Pull, noise
from registry import git_blob_id, sha256


class Digests(Case):
    def test_wrong_bytes_are_fetched_once_more(self):
        content = noise(200_000)
        self.registry.fault("f.bin", wrong=1000, times=1)
        self.fetched([self.serve_one(content)])
        self.has(content)
        self.assertEqual(self.registry.n_sent("f.bin"), 400_000)
        self.assertIn("retry", self.names_of_events())

    def test_wrong_bytes_twice_are_an_error_that_names_both_digests(self):
        content = noise(200_000)
        wrong = bytearray(content)
        wrong[1000] ^= 0x20
        self.registry.fault("f.bin", wrong=1000)
        file = self.serve_one(content)
        self.refused("format", "mismatch", f"digest {sha256(wrong)}, where the registry says {sha256(content)}", [file])
        self.assertEqual(self.registry.n_sent("f.bin"), 400_000)
        self.assertEqual(list(self.root.glob(".pulling/m/*")), [])
        file = file | {"sha256": None, "git": git_blob_id(content)}
        self.refused("format", "mismatch", f"digest {git_blob_id(bytes(wrong))}, where the registry says {git_blob_id(content)}", [file])

    def test_wrong_sizes(self):
        file = self.serve_one(noise(1000))
        self.refused("format", "mismatch", "has 1000 bytes, where the registry says 999", [file | {"size": 999}])
        self.registry.fault("f.bin", chunked=True, more=1)
        self.refused("format", "mismatch", "sends more than the 1000 bytes", [file])
        self.registry.mend()
        self.registry.fault("f.bin", lie=5)
        self.refused("format", "mismatch", "has 1005 bytes, where the registry says 1000", [file])
        self.refused("format", "mismatch", "no bytes from 1000 on", [file | {"size": -1, "sha256": None}])

    def test_a_size_alone_and_nothing_at_all(self):
        content = noise(100_000)
        file = self.serve_one(content, sha256=None)
        self.fetched([file])
        self.fetched([file | {"size": -1}], **{"from": "2"})
        self.registry.fault("f.bin", chunked=True)
        self.fetched([file | {"size": -1}], **{"from": "3"})
        self.has(content)
        self.assertEqual(self.registry.n_sent("f.bin"), 300_000)

    def test_an_encoding_that_nobody_asked_for(self):
        self.registry.fault("f.bin", encoding="gzip")
        self.refused("format", "mismatch", 'Content-Encoding "gzip", which was not asked for', [self.serve_one(b"x" * 99, sha256=None)])
        self.assertEqual({request[3].get("Accept-Encoding") for request in self.registry.asked("f.bin")}, {"identity"})


class Resuming(Case):
    def cut(self, content, at, **entry):
        """A part of `at` bytes, as a pull leaves it that was interrupted there."""
        file = self.serve_one(content, **entry)
        self.registry.fault("f.bin", cut=at)
        self.registry.fault("f.bin", status=404, after=1)
        self.assertEqual(self.fetch([file])["status"], "not_found")
        part = self.staging / "f.bin.part"
        self.registry.mend()
        self.registry.forget()
        return file, part.stat().st_size if part.exists() else 0

    def test_it_goes_on_where_it_was_cut(self):
        content = noise(500_000)
        for at in [1, 16384, 99_999, 499_999]:
            with self.subTest(at=at):
                self.registry.fault("f.bin", cut=at, times=1)
                self.fetched([self.serve_one(content)], **{"from": f"cut {at}"})
                self.has(content)
                self.assertEqual(self.registry.sent("f.bin"), [(0, at), (at, 500_000)])
                self.assertEqual(self.names_of_events(), ["retry", "resumed", "finished"])
                self.assertEqual(self.events[1]["file_done"] >= at, True)
                self.registry.forget()

    def test_it_goes_on_in_the_next_run(self):
        content = noise(400_000)
        file, length = self.cut(content, 100_000)
        self.assertGreaterEqual(length, 100_000)
        self.fetched([file])
        self.has(content)
        self.assertEqual(self.registry.sent("f.bin"), [(length, 400_000)])
        asked = self.registry.asked("f.bin")[0][3]
        self.assertEqual(asked["Range"], f"bytes={length}-")
        self.assertRegex(asked["If-Range"], '^"')

    def test_a_server_that_cuts_again_and_again_gets_all_attempts_as_long_as_it_sends(self):
        content = noise(1_000_000)
        self.registry.fault("f.bin", cut=80_000)
        self.fetched([self.serve_one(content)])
        self.has(content)
        self.assertEqual(self.registry.n_sent("f.bin"), 1_000_000)

    def test_connections_that_are_reset_or_stall(self):
        content = noise(300_000)
        for fault in [{"reset": 100_000}, {"stall": 100_000}, {"stall": 0}]:
            with self.subTest(fault=fault):
                self.registry.fault("f.bin", times=1, **fault)
                self.fetched([self.serve_one(content)], **{"from": str(fault)})
                self.has(content)
        self.assertIn("retry", self.names_of_events())
        # The last of six attempts; what is first told of a fault counts.
        self.registry.fault("f.bin", times=5, status=500)
        self.registry.fault("f.bin", stall=0)
        result = self.fetch([self.serve_one(content)], **{"from": "x"})
        self.assertEqual((result["status"], result["trouble"]), ("timeout", "lost"))

    def test_a_server_that_drips_is_given_up(self):
        """20 bytes a second, where a thousand are expected over a second: six attempts, and no more."""
        content = noise(60_000)
        self.registry.fault("f.bin", drip=20, drip_from=500)
        began = time.monotonic()
        result = self.fetch([self.serve_one(content)], stall_s=9, speed_s=1, min_speed=1000)
        self.assertLess(time.monotonic() - began, 60)
        self.assertEqual((result["status"], result["trouble"]), ("timeout", "lost"))
        self.assertRegex(result["message"], r"f\.bin: \d+ bytes came in 1 s, expected at least 1000 a second")
        self.assertEqual(self.names_of_events().count("retry"), 5)
        # What came is kept, and one that is only slow is not lost.
        self.registry.mend()
        self.registry.fault("f.bin", rate=40_000)
        self.registry.forget()
        self.fetched([self.serve_one(content)], stall_s=9, speed_s=1, min_speed=1000)
        self.has(content)
        self.assertGreater(self.registry.sent("f.bin")[0][0], 2000)
        # Nor one that drips where nobody minds.
        self.registry.fault("f.bin", drip=20, drip_from=60_000 - 20)
        self.fetched([self.serve_one(content)], stall_s=9, speed_s=1, min_speed=-1, **{"from": "any"})

    def test_a_document_that_drips(self):
        url = self.registry.add_directory("d", {"index.json": b"x" * 1000}) + "index.json"
        self.registry.fault("index.json", drip=20)
        pull = Pull({"pause_ms": 1, "stall_s": 9, "speed_s": 1, "min_speed": 1000, "document": url}, self.environment())
        result = pull.end()[-1]
        self.assertEqual((result["status"], result["trouble"]), ("timeout", "lost"))

    def test_without_ranges_it_begins_again(self):
        content = noise(300_000)
        file, _ = self.cut(content, 100_000)
        self.registry.fault("f.bin", no_ranges=True)
        self.fetched([file])
        self.has(content)
        self.assertEqual(self.registry.sent("f.bin"), [(0, 300_000)])

    def test_a_file_that_changed_in_the_middle(self):
        content, other = noise(300_000), noise(300_000, 1)
        # With no digest it is what the server has now; If-Range makes it send all of it.
        file, _ = self.cut(content, 100_000, sha256=None)
        self.registry.fault("f.bin", replaced=other)
        self.fetched([file])
        self.has(other)
        self.assertEqual(self.registry.sent("f.bin"), [(0, 300_000)])

    def test_a_server_that_does_not_know_if_range_and_sends_the_rest_of_another_file(self):
        content, other = noise(300_000), noise(300_000, 1)
        file, length = self.cut(content, 100_000, sha256=None)
        etag = self.registry.files["/files/d/f.bin"].etag
        self.registry.fault("f.bin", replaced=other, ignores_if_range=True)
        self.fetched([file])
        self.has(other)
        self.assertEqual([begin for begin, end in self.registry.sent("f.bin")], [length, 0])
        self.assertIn("the file changed on the server", self.events[0]["why"])
        self.assertIn(etag[:20], self.events[0]["why"])

    def test_weak_etags_and_none_resume_only_what_has_a_digest(self):
        content = noise(300_000)
        for etag in ['W/"weak"', ""]:
            for has_digest in [True, False]:
                with self.subTest(etag=etag, has_digest=has_digest):
                    self.registry.fault("f.bin", etag=etag)
                    self.registry.fault("f.bin", cut=100_000, times=6)
                    file = self.serve_one(content, **({} if has_digest else {"sha256": None}))
                    self.fetch([file], **{"from": f"{etag}{has_digest}"})
                    self.registry.forget()
                    self.fetched([file], **{"from": f"{etag}{has_digest}"})
                    self.has(content)
                    begins = {begin for begin, end in self.registry.sent("f.bin")}
                    self.assertEqual(begins == {0}, not has_digest)
                    self.assertEqual({request[3].get("If-Range") for request in self.registry.asked("f.bin")}, {None})
                    self.registry.mend()
                    self.registry.forget()

    def test_ranges_that_are_not_what_was_asked_for(self):
        content = noise(300_000)
        file, _ = self.cut(content, 100_000)
        self.registry.fault("f.bin", wrong_range=7, times=1)
        self.fetched([file])
        self.has(content)
        self.assertIn("where bytes from 1", self.events[0]["why"])

    def test_a_part_that_is_whole_already_is_not_asked_for(self):
        content = noise(100_000)
        file, _ = self.cut(content, 50_000)
        (self.staging / "f.bin.part").write_bytes(content)
        self.fetched([file])
        self.assertEqual(self.registry.asked("f.bin"), [])
        file, _ = self.cut(content + b"x", 50_000)
        (self.staging / "f.bin.part").write_bytes(content + b"y")
        self.fetched([file], **{"from": "2"})
        self.assertEqual(self.registry.sent("f.bin"), [(0, 100_001)])

    def test_416(self):
        content = noise(100_000)
        # Of unknown size, and whole, but for the end of the connection: the server says so.
        file = self.serve_one(content, sha256=None, size=-1)
        self.registry.fault("f.bin", chunked=True, stall=100_000, times=1)
        self.fetched([file])
        self.has(content)
        self.assertEqual(self.registry.sent("f.bin")[0], (0, 100_000))
        self.assertEqual(self.registry.n_sent("f.bin"), 100_000)
        # Behind the end of what the server has now: from the beginning.
        content = noise(200_000)
        file, length = self.cut(content, 100_000)
        self.registry.fault("f.bin", status=416, times=1)
        self.fetched([file], **{"from": "3"})
        self.has(content)
        self.assertEqual(self.registry.sent("f.bin")[-1], (0, 200_000))

    def test_notes_that_are_damaged_are_worth_nothing(self):
        content = noise(200_000)
        for damage in [b"", b"{", b'{"url":5}', b'{"url":"u","etag":"e","digest":"d","size":-7}', None]:
            file, length = self.cut(content, 100_000)
            note = self.staging / "f.bin.part.json"
            note.unlink() if damage is None else note.write_bytes(damage)
            self.fetched([file], **{"from": str(damage)})
            self.assertEqual(self.registry.sent("f.bin"), [(0, 200_000)])

    def test_files_that_are_there_are_verified(self):
        content = {"a": noise(50_000, 1), "b": noise(50_000, 2), "c": noise(50_000, 3)}
        files = self.serve(content)
        files[0]["sha256"] = sha256(content["a"])
        files[1]["git"] = git_blob_id(content["b"])
        self.fetched(files, commit=False)
        self.registry.forget()
        self.fetched(files, commit=False)
        self.assertEqual(self.registry.asked("/files/"), [])
        self.assertEqual(self.names_of_events(), ["present"] * 3)
        for name in "abc":
            path = self.staging / name
            path.write_bytes(path.read_bytes()[:-1] + b"!")
        self.fetched(files)
        self.assertEqual(self.registry.n_sent(), 150_000)
        for name, data in content.items():
            self.has(data, name)

    def test_what_is_left_of_another_model_is_deleted(self):
        self.staging.mkdir(parents=True)
        (self.staging / "other.bin").write_bytes(b"other")
        (self.staging / "folder").mkdir()
        (self.staging / "folder" / "file").write_bytes(b"deep")
        (self.staging / "f.bin").write_bytes(b"of another model")
        self.fetched([self.serve_one(b"mine")])
        self.has(b"mine")
        self.assertEqual({path.name for path in (self.root / "m").iterdir()}, {"f.bin", "attentiond-pull.json"})

    def test_a_pull_that_nobody_wants_to_go_on_with_is_discarded(self):
        self.fetched([self.serve_one(b"none of ours")], commit=False, discard=True)
        self.assertEqual(list((self.root / ".pulling").iterdir()), [])


class Refusals(Case):
    def test_what_is_not_worth_a_second_attempt(self):
        for code, status in [(401, "forbidden"), (403, "forbidden"), (404, "not found"), (410, "not found"), (400, "io"), (501, "io"), (304, "io")]:
            with self.subTest(code=code):
                self.registry.forget()
                self.registry.fault("f.bin", status=code, headers={"X-Error-Code": "GatedRepo", "X-Error-Message": "ask\x1b first"})
                result = self.refused(status.replace(" ", "_"), "status", f"f.bin: the server answers {code}: ask.*first$", [self.serve_one(b"x")])
                self.assertEqual((result["http_status"], result["error_code"]), (code, "GatedRepo"))
                self.assertNotIn("\x1b", result["message"])
                self.assertEqual(len(self.registry.asked("f.bin")), 1)
                self.registry.mend()

    def test_what_passes(self):
        for code in [408, 425, 429, 500, 502, 503, 504]:
            with self.subTest(code=code):
                self.registry.forget()
                self.registry.fault("f.bin", status=code, times=3)
                self.fetched([self.serve_one(b"content %d" % code)], **{"from": str(code)})
                self.assertEqual(len(self.registry.asked("f.bin")), 4)

    def test_what_does_not_pass(self):
        self.registry.fault("f.bin", status=503)
        self.refused("io", "status", "answers 503", [self.serve_one(b"x")])
        self.assertEqual(len(self.registry.asked("f.bin")), 6)
        self.registry.mend()
        self.registry.fault("f.bin", status=429)
        self.refused("throttled", "status", "answers 429", [self.serve_one(b"x")])

    def test_retry_after_is_kept_up_to_a_limit(self):
        self.registry.fault("f.bin", status=429, headers={"Retry-After": "1"}, times=1)
        began = time.monotonic()
        self.fetched([self.serve_one(b"x")])
        self.assertGreater(time.monotonic() - began, 0.9)
        self.registry.fault("f.bin", status=429, headers={"Retry-After": "3600"})
        result = self.fetch([self.serve_one(b"y")])
        self.assertRegex(result["message"], "a pause of 3[56].. s is asked for, at most 120 are waited: .* answers 429")
        self.assertEqual(result["status"], "throttled")

    def test_pauses_double(self):
        self.registry.fault("f.bin", status=500, times=5)
        began = time.monotonic()
        self.fetched([self.serve_one(b"x")], pause_ms=40)
        pauses = [float(re.search(r"once more in ([\d.]+) s", event["why"])[1]) for event in self.events if event["event"] == "retry"]
        self.assertEqual(len(pauses), 5)
        for i, pause in enumerate(pauses):
            self.assertTrue(0.02 * 2**i - 0.06 <= pause <= 0.04 * 2**i + 0.06, pauses)
        self.assertGreater(time.monotonic() - began, sum(pauses) - 0.3)

    def test_one_failure_ends_the_others_whose_parts_stay(self):
        files = self.serve({"slow.bin": noise(500_000), "missing.bin": b"x"})
        self.registry.fault("slow.bin", rate=200_000)
        self.registry.fault("missing.bin", status=503, times=4)
        self.registry.fault("missing.bin", status=404)
        result = self.refused("not_found", "status", "missing.bin", files, pause_ms=30)
        self.assertEqual(result["file"], 1)
        self.assertGreater((self.staging / "slow.bin.part").stat().st_size, 0)

    def test_hosts_that_cannot_be_reached(self):
        file = self.serve_one(b"x")
        for url, trouble in [("https://no-such-host.invalid/f", "resolve"), ("https://127.0.0.1:1/f", "connect")]:
            with self.subTest(url=url):
                self.refused("io", trouble, re.escape(url), [file | {"url": url}])
                self.assertEqual(self.names_of_events().count("retry"), 2)

    def test_certificates(self):
        file = self.serve_one(b"x")
        environment = self.environment()
        del environment["CURL_CA_BUNDLE"]
        self.refused("io", "tls", "certificate", [file], environment=environment)
        self.refused("io", "tls", "certificate|CAfile", [file], environment=environment | {"CURL_CA_BUNDLE": "/no/such/file"})
        self.refused("io", "tls", "SSL", [file | {"url": self.registry.plain.replace("http:", "https:") + "/f"}])
        self.fetched([file], environment=environment | {"SSL_CERT_FILE": str(self.registry.ca)})
        with tempfile.TemporaryDirectory() as folder:
            name = subprocess.run(["openssl", "x509", "-hash", "-noout", "-in", self.registry.ca], capture_output=True, text=True, check=True)
            pathlib.Path(folder, name.stdout.strip() + ".0").write_bytes(self.registry.ca.read_bytes())
            self.fetched([file], environment=environment | {"SSL_CERT_DIR": folder}, **{"from": "2"})

    def test_proxies_are_those_of_the_usual_variables(self):
        file = self.serve_one(b"x")
        environment = self.environment(https_proxy="http://127.0.0.1:1")
        del environment["no_proxy"]
        self.refused("io", "connect", "127.0.0.1", [file], environment=environment)
        self.assertEqual(self.registry.asked("f.bin"), [])
        self.fetched([file], environment=environment | {"no_proxy": "127.0.0.1"})


class Redirects(Case):
    def test_the_token_goes_to_its_origin_alone(self):
        content = noise(1000)
        file = self.serve_one(content)
        path = "/files/d/f.bin"
        self.registry.fault("first", redirect=self.registry.content + path)
        file["url"] = self.registry.api + "/first"
        self.fetched([file], token="secret", token_origin=self.registry.api + "/any/path")
        self.assertEqual([request[3].get("Authorization") for request in self.registry.asked("first")], ["Bearer secret"])
        self.assertEqual([request[3].get("Authorization") for request in self.registry.asked("f.bin")], [None])
        # Back at home it does not go along either; but it does where nobody left.
        self.registry.mend()
        self.registry.forget()
        self.registry.fault("/first", redirect=self.registry.api + "/second")
        self.registry.fault("/second", redirect=self.registry.content + "/third")
        self.registry.fault("/third", redirect=self.registry.api + path)
        self.fetched([file], token="secret", token_origin=self.registry.api.upper().replace("HTTPS", "https"), **{"from": "2"})
        self.assertEqual([request[3].get("Authorization") for request in self.registry.asked("/first|/second|/third|f.bin")],
                         ["Bearer secret", "Bearer secret", None, None])
        # The same name at another port is another one.
        self.registry.forget()
        self.fetched([file | {"url": self.registry.content + path}], token="secret", token_origin=self.registry.api, **{"from": "3"})
        self.assertEqual([request[3].get("Authorization") for request in self.registry.asked("f.bin")], [None])

    def test_ranges_go_along(self):
        content = noise(300_000)
        file = self.serve_one(content)
        self.registry.fault("first", redirect=self.registry.content + "/files/d/f.bin?signature=1")
        self.registry.fault("f.bin", cut=100_000, times=1)
        self.fetched([file | {"url": self.registry.api + "/first"}])
        self.assertEqual(self.registry.sent("f.bin"), [(0, 100_000), (100_000, 300_000)])
        self.assertEqual(len(self.registry.asked("first")), 2)

    def test_where_they_may_not_lead(self):
        file = self.serve_one(b"x") | {"url": self.registry.api + "/first"}
        for target, pattern in [
            (self.registry.plain + "/files/d/f.bin", "leads to http://.*, which is not https"), ("file:///etc/passwd", "which is not https"),
            (self.registry.api + "/first", "more than 8 redirects"), ("https://h/" + "x" * 5000, "a URL that is too long"),
        ]:
            with self.subTest(target=target[:40]):
                self.registry.fault("first", redirect=target)
                self.refused("io", "redirect", pattern, [file])
                self.registry.mend()
        self.registry.fault("first", status=302)
        self.refused("io", "redirect", "does not say where to", [file])
        self.registry.mend()
        # From http to https, and not back.
        self.registry.fault("/up", redirect=self.registry.content + "/files/d/f.bin")
        self.fetched([file | {"url": self.registry.plain + "/up"}])
        self.registry.mend()
        self.registry.fault("/up", redirect=self.registry.content + "/down")
        self.registry.fault("/down", redirect=self.registry.plain + "/files/d/f.bin")
        result = self.fetch([file | {"url": self.registry.plain + "/up"}], **{"from": "2"})
        self.assertEqual(result["trouble"], "redirect")

    def test_plain_http_is_fetched_where_it_is_asked_for(self):
        self.fetched([self.serve_one(b"x") | {"url": self.registry.plain + "/files/d/f.bin"}])


class Documents(Case):
    def ask(self, **plan):
        pull = Pull({"pause_ms": 1, "stall_s": 1} | plan, self.environment())
        return pull.end()[-1]

    def test_a_document(self):
        commit = self.registry.add_hugging_face("o/n", {"config.json": b"{}"})
        url = f"{self.registry.api}/api/models/o/n/revision/main?blobs=true"
        result = self.ask(document=url, accept="application/json")
        self.assertEqual(json.loads(result["document"])["sha"], commit)
        asked = self.registry.asked("/api/")[-1][3]
        self.assertEqual(asked["Accept"], "application/json")
        self.assertIn("gzip", asked["Accept-Encoding"])
        self.registry.fault("/api/", status=500, times=2)
        self.registry.fault("/api/", cut=20, times=1)
        self.registry.faults.reverse()
        self.assertEqual(json.loads(self.ask(document=url)["document"])["sha"], commit)
        self.registry.mend()
        result = self.ask(document=url, limit=100)
        self.assertEqual((result["status"], result["trouble"]), ("limit", "too_large"))
        self.assertIn("more than the 100 bytes", result["message"])
        result = self.ask(document=f"{self.registry.api}/api/models/o/missing")
        self.assertEqual((result["http_status"], result["error_code"]), (401, "RepoNotFound"))
        self.assertEqual(self.ask(document="ftp://h/")["status"], "invalid")

    def test_a_probe(self):
        self.serve({"f.bin": b"x" * 1234})
        self.assertEqual(self.ask(probe=self.url + "f.bin")["size"], 1234)
        self.assertEqual(self.ask(probe=self.url + "g.bin")["status"], "not_found")
        self.registry.fault("first", redirect=self.url + "f.bin")
        self.assertEqual(self.ask(probe=self.registry.api + "/first")["size"], 1234)
        self.registry.fault("f.bin", chunked=True)
        self.assertEqual(self.ask(probe=self.url + "f.bin")["size"], -1)
        self.assertEqual(self.registry.n_sent(), 0)

    def test_an_endless_refusal_is_not_read_to_its_end(self):
        self.serve({"f.bin": b"x"})
        self.registry.fault("f.bin", status=404, body=bytes(8 << 20))
        self.assertEqual(self.ask(document=self.url + "f.bin")["status"], "not_found")
        self.assertLess(self.registry.n_sent("f.bin"), 8 << 20)
