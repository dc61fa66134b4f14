"""Glossaries that stay: DeepL's /v2/glossaries and /v3/glossaries, and translations with one of them."""

import glob
import os
import random
import shutil
import tempfile
import threading
import time
import unittest
import urllib.parse

from serve import MODEL, SLOWNESS, Daemon, run, wait_until
from test_document_jobs import Job
from test_files import fetch, upload

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
STATION = "Where is the train station?"
ANSWER = "Wo ist der Hauptbahnhof?"
ENTRIES = "train station\tHauptbahnhof\nHello\tServus"
PAIR = {"source_lang": "en", "target_lang": "de"}
# Rounds of being killed while writing; HACKING.md has the command for more.
KILLS = int(os.environ.get("ATTENTIOND_TEST_KILLS", "8"))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="attentiond-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, *flags, **options):
        daemon = Daemon("--data-directory", self.folder, *flags, **options).start()
        self.addCleanup(daemon.stop)
        return daemon


def make(daemon, entries=ENTRIES, name="stations", headers=None, version="v2", **fields):
    fields = {**PAIR, "entries": entries, "entries_format": "tsv", **fields}
    if version == "v3":
        fields = {"dictionaries": [fields]}
    return daemon.request("POST", f"/{version}/glossaries", {"name": name, **fields}, headers)


def made(reply):
    assert reply.status == 201, reply
    return reply.json["glossary_id"]


def names(daemon, headers=None):
    reply = daemon.get("/v3/glossaries", headers=headers)
    assert reply.status == 200, reply
    return [glossary["name"] for glossary in reply.json["glossaries"]]


def form(fields):
    return urllib.parse.urlencode(fields)


class Glossaries(Case):
    def test_one_dictionary_in_the_second_version(self):
        daemon = self.start()
        reply = make(daemon)
        glossary = {**PAIR, "glossary_id": made(reply), "ready": True, "name": "stations", "entry_count": 2}
        self.assertRegex(reply.json["creation_time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertRegex(glossary["glossary_id"], r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        glossary["creation_time"] = reply.json["creation_time"]
        self.assertEqual(reply.json, glossary)
        path = "/v2/glossaries/" + glossary["glossary_id"]
        self.assertEqual(daemon.get(path).json, glossary)
        self.assertEqual(daemon.get("/v2/glossaries").json, {"glossaries": [glossary]})
        entries = daemon.get(path + "/entries", headers={"Accept": "text/tab-separated-values"})
        self.assertEqual((entries.body.decode(), entries.headers["content-type"]), (ENTRIES, "text/tab-separated-values; charset=utf-8"))
        self.assertEqual(daemon.get("/v2/glossary-language-pairs").json, {"supported_languages": [PAIR]})
        gone = daemon.request("DELETE", path)
        self.assertEqual((gone.status, gone.body), (204, b""))
        for reply in (daemon.get(path), daemon.get(path + "/entries"), daemon.request("DELETE", path)):
            self.assertEqual((reply.status, reply.json), (404, {"message": "there is no such glossary"}))
        self.assertEqual(daemon.get("/v2/glossaries").json, {"glossaries": []})

    def test_several_dictionaries_in_the_third_version(self):
        daemon = self.start()
        dictionaries = [{**PAIR, "entries": ENTRIES, "entries_format": "tsv"},
                        {"source_lang": "DE", "target_lang": "en-US", "entries": 'Hallo,"Hi, ""you"""\n\nZug,train,de,EN-GB', "entries_format": "csv"},
                        {**PAIR, "entries": "Hello\tMoin"}]
        reply = daemon.request("POST", "/v3/glossaries", {"name": "both", "dictionaries": dictionaries})
        id = made(reply)
        self.assertEqual(reply.json["dictionaries"], [{"source_lang": "de", "target_lang": "en", "entry_count": 2}, {**PAIR, "entry_count": 2}])
        self.assertEqual(reply.json["name"], "both")
        self.assertEqual(daemon.get("/v2/glossaries").json, {"glossaries": []})  # which have no word for it
        self.assertEqual(daemon.get(f"/v2/glossaries/{id}").status, 404)
        self.assertEqual(daemon.get("/v3/glossaries").json, {"glossaries": [reply.json]})

        def entries(**pair):
            return daemon.get(f"/v3/glossaries/{id}/entries?{form(pair)}")
        self.assertEqual(entries(source_lang="DE", target_lang="EN").json,
                         {"dictionaries": [{"source_lang": "de", "target_lang": "en", "entries": 'Hallo\tHi, "you"\nZug\ttrain', "entries_format": "tsv"}]})
        self.assertEqual(entries(**PAIR).json["dictionaries"][0]["entries"], "Hello\tMoin\ntrain station\tHauptbahnhof")
        self.assertEqual((entries(source_lang="en", target_lang="fr").status, entries().status), (404, 400))
        # A form, as deepl-node sends it: entries are added, or take others' place.
        fields = [(f"dictionaries[0].{key}", value) for key, value in {**PAIR, "entries": "Hello\tTach\nBye\tTschüs", "entries_format": "tsv"}.items()]
        changed = daemon.request("PATCH", f"/v3/glossaries/{id}", form([("name", "renamed")] + fields), FORM)
        self.assertEqual((changed.status, changed.json["name"], changed.json["dictionaries"][1]["entry_count"]), (200, "renamed", 3))
        self.assertEqual(entries(**PAIR).json["dictionaries"][0]["entries"], "Hello\tTach\nBye\tTschüs\ntrain station\tHauptbahnhof")
        # The dictionary becomes this.
        replaced = daemon.request("PUT", f"/v3/glossaries/{id}/dictionaries", form({**PAIR, "entries": "a\tb"}), FORM)
        self.assertEqual((replaced.status, replaced.json), (200, {**PAIR, "entry_count": 1}))
        pair = form({"source_lang": "de", "target_lang": "en"})
        self.assertEqual([daemon.request("DELETE", f"/v3/glossaries/{id}/dictionaries?{pair}").status for _ in range(2)], [204, 404])
        self.assertEqual(daemon.get(f"/v3/glossaries/{id}").json["dictionaries"], [{**PAIR, "entry_count": 1}])
        self.assertEqual(daemon.request("DELETE", f"/v3/glossaries/{id}").status, 204)
        self.assertEqual(daemon.get("/v3/glossaries").json, {"glossaries": []})

    def test_methods(self):
        daemon = self.start()
        for method, path, allow in (("PUT", "/v2/glossaries", "GET, HEAD, POST, OPTIONS"), ("PATCH", "/v2/glossaries/x", "GET, HEAD, DELETE, OPTIONS"),
                                    ("POST", "/v3/glossaries/x", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS")):
            reply = daemon.request(method, path, {})
            self.assertEqual((reply.status, reply.headers["allow"]), (405, allow), reply)
        made(make(daemon))
        for path in ("/v2/glossaries/", "/v3/glossaries/", "/v3/glossaries/" + 300 * "a", "/v3/glossaries/%22%27"):
            self.assertEqual([daemon.request(method, path).status for method in ("GET", "DELETE")], [404, 404], path)
        for method, path in (("PUT", "/v3/glossaries/x"), ("GET", "/v3/glossaries/x/y"), ("DELETE", "/v2/glossaries/x/entries"), ("GET", "/v2/glossaries/")):
            self.assertEqual(daemon.request(method, path, {} if method == "PUT" else None).status, 404, path)

    def test_what_is_wrong_is_named(self):
        daemon = self.start()
        wrong = {
            "a\tb\na\tc": 'entries, line 2: "a" is to become "c", but before it was to become "b"',
            "a\tb\n\na\tb": 'entries, line 3: "a" was there before',
            "a\tb\r\nc": "entries, line 2: found 1 column, expected a term and its translation with a tab between",
            "a\tb\tc": "entries, line 1: found 3 columns, expected a term and its translation with a tab between",
            "a\t \n": "entries, line 1: found a blank term, expected words",
            "a\tb\n" + 1025 * "x" + "\ty": f'entries, line 2: "{40 * "x"}..." is 1025 bytes, at most 1024 are allowed',
            "a\tb\x07": "entries, line 1: found a control character or a line break in a term",
            "": "entries: found none, expected one at least",
        }
        for entries, message in wrong.items():
            reply = make(daemon, entries)
            self.assertEqual((reply.status, reply.json), (400, {"message": message}))
        csv = {
            'a,"b': "entries, line 1: a quotation mark is not closed",
            'a,b\n"c" d,e': "entries, line 2: expected a comma or the line's end behind a quotation mark",
            "a,b,en,de,x": "entries, line 1: found more than four columns",
            "a,b,en,fr": 'entries, line 1: is in language "fr", expected "de"',
            '"a\nb",c': "entries, line 1: found a control character or a line break in a term",
        }
        for entries, message in csv.items():
            reply = make(daemon, entries, entries_format="csv")
            self.assertEqual((reply.status, reply.json), (400, {"message": message}))
        fields = {
            "Parameter 'name' not specified.": {"name": " "},
            "name is 1025 bytes, at most 1024 are allowed": {"name": 1025 * "x"},
            "Value for 'target_lang' not supported.": {"target_lang": "xx"},
            "Value for 'source_lang' not supported.": {"source_lang": ""},
            "Value for 'entries_format' not supported.": {"entries_format": "xml"},
        }
        for message, field in fields.items():
            reply = make(daemon, **field)
            self.assertEqual((reply.status, reply.json), (400, {"message": message}))
        for dictionaries, message in (("x", "dictionaries: expected an array of objects"), (["x"], "dictionaries: expected an array of objects"),
                                      ([{**PAIR, "entries": ["a"]}], "dictionaries: entries: expected a string"),
                                      ([{**PAIR, "target_lang": "en-GB"}], "Value for 'target_lang' not supported.")):
            reply = daemon.request("POST", "/v3/glossaries", {"name": "x", "dictionaries": dictionaries})
            self.assertEqual((reply.status, reply.json), (400, {"message": message}))
        self.assertEqual(names(daemon), [])
        # What is wrong in a change leaves the glossary as it was.
        id = made(make(daemon, version="v3"))
        reply = daemon.request("PATCH", f"/v3/glossaries/{id}", {"name": "other", "dictionaries": [{**PAIR, "entries": "a\tb"}, {**PAIR, "entries": "a"}]})
        self.assertEqual(reply.status, 400)
        self.assertEqual((names(daemon), daemon.get(f"/v3/glossaries/{id}").json["dictionaries"][0]["entry_count"]), (["stations"], 2))

    def test_without_a_directory(self):
        with Daemon() as daemon:
            expected = (400, {"message": "this server keeps no glossaries: neither its data_directory nor its database is set"})
            for reply in (make(daemon), daemon.get("/v2/glossaries"), daemon.request("DELETE", "/v3/glossaries/x")):
                self.assertEqual((reply.status, reply.json), expected)
            self.assertEqual(daemon.get("/v2/glossary-language-pairs").json, {"supported_languages": []})
            self.assertEqual(daemon.translate(STATION, glossary_id="x").status, 400)


class Translations(Case):
    def test_each_route_takes_one(self):
        daemon = self.start()
        id = made(make(daemon))
        self.assertEqual(daemon.translate(STATION, glossary_id=id).json,
                         {"terms": [{"source": "train station", "target": "Hauptbahnhof", "found": 1, "applied": 1}], "translatedText": ANSWER})
        reply = daemon.request("POST", "/v2/translate", {"text": [STATION, "Hello"], "source_lang": "EN", "target_lang": "DE", "glossary_id": id})
        self.assertEqual([text["text"] for text in reply.json["translations"]], [ANSWER, "Servus"])
        reply = upload(daemon, STATION, "a.txt", {"source": "en", "target": "de", "glossary_id": id})
        self.assertEqual(fetch(daemon, reply), ANSWER)
        self.assertEqual(reply.json["terms"][0]["applied"], 1)
        fields = {"source": None, "target": None, "source_lang": "EN", "target_lang": "DE", "glossary_id": id}
        job = Job(daemon, upload(daemon, STATION, "a.txt", fields, path="/v2/document"))
        job.wait()
        self.assertEqual(job.ask("POST", "/result").body.decode(), ANSWER)

    def test_what_weblate_sends(self):
        """Its machinery for DeepL: is there a glossary for the pair, which is there already, a new one, a translation, and the old one goes."""
        daemon = self.start()
        pairs = {(pair["source_lang"].upper(), pair["target_lang"].upper()) for pair in daemon.get("/v2/glossary-language-pairs").json["supported_languages"]}
        self.assertIn(("EN", "DE"), pairs)
        self.assertEqual({glossary["name"]: glossary["glossary_id"] for glossary in daemon.get("/v2/glossaries").json["glossaries"]}, {})
        name = "weblate:1:EN:DE:5f16f2a0"
        made(daemon.request("POST", "/v2/glossaries", {"name": name, "source_lang": "EN", "target_lang": "DE", "entries": ENTRIES, "entries_format": "tsv"}))
        id = {glossary["name"]: glossary["glossary_id"] for glossary in daemon.get("/v2/glossaries").json["glossaries"]}[name]
        reply = daemon.request("POST", "/v2/translate", {
            "text": ['Where is the <x id="7"></x> train station?'], "source_lang": "EN", "target_lang": "DE", "formality": "default", "tag_handling": "xml",
            "ignore_tags": ["x"], "glossary_id": id})
        self.assertEqual(reply.status, 200, reply)
        self.assertRegex(reply.json["translations"][0]["text"], '<x id="7"></x>.*Hauptbahnhof|Hauptbahnhof.*<x id="7"></x>')
        self.assertEqual(daemon.request("DELETE", f"/v2/glossaries/{id}").status, 204)

    def test_the_requests_own_terms_go_first(self):
        daemon = self.start()
        id = made(make(daemon))
        both = daemon.translate("Hello, where is the train station?", glossary_id=id, glossary={"train station": "Bahnhof"}, do_not_translate=["Hello"]).json
        self.assertEqual({term["source"]: term["target"] for term in both["terms"]}, {"Hello": "Hello", "train station": "Bahnhof"})

    def test_changes_count_at_once(self):
        daemon, other = self.start(), self.start()  # of one data_directory, as replicas on a machine may be
        id = made(make(daemon))
        for entries, expected in (("train station\tZughalt", "Wo ist der Zughalt?"), ("x\ty", "Wo ist der Bahnhof?"), (ENTRIES, ANSWER)):
            self.assertEqual(daemon.request("PUT", f"/v3/glossaries/{id}/dictionaries", {**PAIR, "entries": entries}).status, 200)
            for each in (daemon, other):
                self.assertEqual(each.translate(STATION, glossary_id=id).json["translatedText"], expected)
        self.assertEqual(other.request("DELETE", f"/v3/glossaries/{id}").status, 204)
        self.assertEqual(daemon.translate(STATION, glossary_id=id).status, 404)

    def test_what_does_not_fit(self):
        daemon = self.start()
        id = made(make(daemon, source_lang="de", target_lang="en"))
        one = "glossary_id is for texts of one language that is named, into one other"
        refusals = {
            (404, 'No dictionary found for language pair: the glossary has none from "en" to "de"'): {},
            (404, "there is no such glossary"): {"glossary_id": "1"},
            (400, one): {"source": "auto"},
            (400, "alignment cannot be had together with glossary or do_not_translate"): {"alignment": True},
        }
        for expected, fields in refusals.items():
            reply = daemon.translate(STATION, **{"glossary_id": id, **fields})
            self.assertEqual((reply.status, reply.error), expected)
        reply = daemon.request("POST", "/translate", {"q": ["a", "b"], "source": ["en", "en"], "target": "de", "glossary_id": id})
        self.assertEqual((reply.status, reply.error), (400, one))
        reply = daemon.request("POST", "/v2/translate", {"text": ["a"], "target_lang": "DE", "glossary_id": id})
        self.assertEqual((reply.status, reply.json), (400, {"message": one}))
        self.assertEqual(daemon.translate(STATION, glossary_id=None).status, 200)
        self.assertEqual(daemon.translate(STATION, glossary_id="").status, 200)

    def test_a_long_one(self):
        daemon = self.start()
        entries = "\n".join(f"part number {i}\tTeil {i}" for i in range(300000)) + "\ntrain station\tHauptbahnhof"
        id = made(make(daemon, entries))
        self.assertEqual(daemon.translate(STATION, glossary_id=id).json["translatedText"], ANSWER)
        self.assertEqual(daemon.get(f"/v2/glossaries/{id}/entries").body.decode(), entries)
        reply = make(daemon, entries + "\n" + "\n".join(f"another number {i}\tTeil {i}" for i in range(200000)))
        self.assertEqual(reply.status, 413)
        self.assertRegex(reply.json["message"], "^the entries of the glossary are 1[0-9]{7} bytes, at most 10485760 are allowed$")


def write_keys(case):
    case.keys = os.path.join(case.folder, "keys")
    with open(case.keys, "w", encoding="ascii") as file:
        file.write("aaaaaaaa-1 name=alice\naaaaaaaa-2 name=alice\nbbbbbbbb-1\nbbbbbbbb-2\n")


class Owners(Case):
    def setUp(self):
        super().setUp()
        write_keys(self)

    def test_each_key_has_its_own(self):
        daemon = self.start("--api-keys-file", self.keys)
        keys = {name: {"Authorization": f"DeepL-Auth-Key {name}"} for name in ("aaaaaaaa-1", "aaaaaaaa-2", "bbbbbbbb-1", "bbbbbbbb-2")}
        ids = {name: made(make(daemon, name=name, headers=keys[name])) for name in keys}
        nobodys = made(make(daemon, name="nobody"))
        self.assertEqual(names(daemon), ["nobody"])
        for name, header in keys.items():
            own = [other for other in keys if other == name or name[0] == other[0] == "a"]
            self.assertEqual(names(daemon, header), own)
            for other, id in [*ids.items(), ("nobody", nobodys)]:
                expected = 200 if other in own else 404
                self.assertEqual(daemon.get(f"/v3/glossaries/{id}", headers=header).status, expected)
                self.assertEqual(daemon.translate(STATION, headers=header, glossary_id=id).status, expected)
                if expected == 404:
                    for method, what, body in (("DELETE", "", None), ("PATCH", "", {"name": "x"}), ("PUT", "/dictionaries", {**PAIR, "entries": "a\tb"}),
                                               ("DELETE", f"/dictionaries?{form(PAIR)}", None), ("GET", f"/entries?{form(PAIR)}", None)):
                        reply = daemon.request(method, f"/v3/glossaries/{id}{what}", body, header)
                        self.assertEqual((reply.status, reply.json), (404, {"message": "there is no such glossary"}), (method, what))
        self.assertEqual(daemon.get("/v2/glossaries", headers={"Authorization": "DeepL-Auth-Key wrong-key"}).status, 403)


class Keeping(Case):
    def test_they_outlive_the_daemon(self):
        daemon = self.start()
        id = made(make(daemon))
        daemon.stop()
        daemon = self.start()
        self.assertEqual((names(daemon), daemon.translate(STATION, glossary_id=id).json["translatedText"]), (["stations"], ANSWER))
        self.assertEqual(os.stat(os.path.join(self.folder, "attentiond.db")).st_mode & 0o777, 0o600)

    def test_what_was_acknowledged_is_there_after_a_kill(self):
        chance = random.Random(49)
        known, gone = set(), set()
        for _ in range(KILLS):
            daemon = self.start("--max-glossaries", "1000000")
            self.assertEqual(set(names(daemon)) - gone, known)
            is_over = threading.Event()

            def write():
                while not is_over.is_set():
                    name = f"{len(known)}-{chance.random()}"
                    try:
                        if make(daemon, name=name).status == 201:
                            known.add(name)
                        else:
                            gone.add(name)
                    except OSError:
                        gone.add(name)  # nobody was told what became of it
            thread = threading.Thread(target=write, daemon=True)
            thread.start()
            n = len(known)
            wait_until(lambda: len(known) > n, what="a glossary")
            time.sleep(chance.random() * 0.05 * SLOWNESS)
            daemon.kill()
            is_over.set()
            thread.join()
        daemon = self.start("--max-glossaries", "1000000")
        self.assertEqual(set(names(daemon)) - gone, known)

    def test_a_damaged_database_is_set_aside(self):
        path = os.path.join(self.folder, "attentiond.db")
        for place in (0, 100, 4096, 5000, 8000, 12000, 16000):
            daemon = self.start()
            made(make(daemon, name=f"before {place}"))
            daemon.stop()
            with open(path, "r+b") as file:
                file.seek(place)
                file.write(4096 * b"\xAA")
            daemon = self.start()
            # What the daemon does not read at its start is found when it is asked for.
            reply = daemon.get("/v3/glossaries")
            self.assertIn(reply.status, (200, 503), reply)
            self.assertIn("it was set aside as", daemon.log)
            self.assertEqual(names(daemon), [])
            self.assertEqual(daemon.translate(STATION).status, 200)
            made(make(daemon))
            daemon.stop()
            for file in glob.glob(path + "*"):
                os.remove(file)

    def test_what_cannot_be_opened_is_said_at_the_start(self):
        os.mkdir(os.path.join(self.folder, "attentiond.db"))
        result = run("serve", "--model", MODEL, "--data-directory", self.folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("attentiond.db: Is a directory", result.stderr)
        with open(self.folder + "/file", "w"):
            pass
        result = run("check-config", "--model", MODEL, "--data-directory", self.folder + "/file/none")
        self.assertEqual(result.returncode, 1)
        self.assertIn("none, which cannot be written: Not a directory; make it, for the user that the daemon runs as", result.stderr)
        for directory in (self.folder, self.folder + "/made/at/the/start"):
            result = run("check-config", "--model", MODEL, "--data-directory", directory)
            self.assertIn(f"data_directory {directory}: good", result.stderr)

    def test_limits(self):
        daemon = self.start("--max-glossaries", "2", "--max-glossary-bytes", "1024")
        for _ in range(2):
            made(make(daemon))
        reply = make(daemon)
        self.assertEqual((reply.status, reply.json), (413, {"message": "there are 2 glossaries, as many as are allowed"}))
        id = daemon.get("/v2/glossaries").json["glossaries"][0]["glossary_id"]
        lines = "\n".join(f"word {i}\tWort {i}" for i in range(100))
        reply = daemon.request("PATCH", f"/v3/glossaries/{id}", {"dictionaries": [{**PAIR, "entries": lines}]})
        self.assertEqual((reply.status, reply.json), (413, {"message": "the entries of the glossary are 1619 bytes, at most 1024 are allowed"}))
        self.assertEqual(daemon.request("DELETE", f"/v2/glossaries/{id}").status, 204)
        made(make(daemon))

    def test_a_full_disk(self):
        daemon = self.start("--max-data-bytes", str(1 << 20))
        entries = "\n".join(f"word {i}\tWort {i}" for i in range(10000))
        ids = []
        while (reply := make(daemon, entries)).status == 201:
            ids.append(made(reply))
        self.assertEqual((reply.status, reply.json),
                         (503, {"message": "the database cannot be written: database or disk is full (the disk, or max_data_bytes)"}))
        self.assertGreater(len(ids), 1)
        self.assertEqual(daemon.translate("word 5", glossary_id=ids[0]).json["translatedText"], "Wort 5")
        self.assertEqual(daemon.request("DELETE", f"/v2/glossaries/{ids[0]}").status, 204)
        made(make(daemon, entries))


if __name__ == "__main__":
    unittest.main(verbosity=2)
