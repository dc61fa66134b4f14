"""Glossaries and translation memories in a database that replicas share: PostgreSQL's, which the test starts."""

import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import threading
import unittest

import test_glossaries
import test_memories
from postgresql import MISSING, PASSWORD, SKIPPED, PostgreSQL, find
from serve import MODEL, SLOWNESS, Daemon, run, wait_until
from test_glossaries import ANSWER, PAIR, STATION, made, make, names
from test_sandbox import HAS_SECCOMP

AWAY = {"message": "the database cannot be reached now: try again later"}


def setUpModule():
    global server  # pylint: disable=global-variable-undefined
    server = PostgreSQL()
    unittest.addModuleCleanup(server.__exit__)
    server.__enter__()


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def status_of(pid):
    return dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())


class Case(unittest.TestCase):
    n_databases = 0

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="attentiond-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        Case.n_databases += 1
        self.name = f"of_test_{self.n_databases}"
        self.url = server.create(self.name)

    def start(self, *flags, **options):
        daemon = Daemon(*flags, environment={"ATTENTIOND_DATABASE": self.url}, **options).start()
        self.addCleanup(daemon.stop)
        return daemon


class Shared(Case):
    """What holds of SQLite's."""

    test_one_dictionary_in_the_second_version = test_glossaries.Glossaries.test_one_dictionary_in_the_second_version
    test_several_dictionaries_in_the_third_version = test_glossaries.Glossaries.test_several_dictionaries_in_the_third_version
    test_changes_count_at_once = test_glossaries.Translations.test_changes_count_at_once
    test_a_long_one = test_glossaries.Translations.test_a_long_one
    test_what_was_acknowledged_is_there_after_a_kill = test_glossaries.Keeping.test_what_was_acknowledged_is_there_after_a_kill
    test_limits = test_glossaries.Keeping.test_limits
    test_what_a_memory_has_is_not_translated = test_memories.Memories.test_what_it_has_is_not_translated
    test_what_is_like_a_text_is_shown = test_memories.Memories.test_what_is_like_a_text_is_shown
    test_tmx_in_and_out_is_the_same = test_memories.Tmx.test_in_and_out_is_the_same
    test_nothing_of_a_memory_is_half_done = test_memories.Limits.test_nothing_is_half_done
    test_nobody_finds_anothers_memory = test_memories.Limits.test_nobody_finds_anothers


class Owners(Case):
    def setUp(self):
        super().setUp()
        test_glossaries.write_keys(self)

    test_each_key_has_its_own = test_glossaries.Owners.test_each_key_has_its_own


class Away(Case):
    def expect_refusals(self, daemon, id):
        for reply in (make(daemon), daemon.get("/v3/glossaries"), daemon.request("DELETE", f"/v3/glossaries/{id}")):
            self.assertEqual((reply.status, reply.json), (503, AWAY))
        reply = daemon.translate(STATION, glossary_id=id)
        self.assertEqual((reply.status, reply.error), (503, AWAY["message"]))
        self.assertEqual(daemon.translate(STATION).status, 200)

    def test_translations_go_on_and_glossaries_come_back(self):
        daemon = self.start()
        id = made(make(daemon))
        server.stop()
        self.addCleanup(lambda: server.process.poll() is None or server.start())
        self.expect_refusals(daemon, id)
        late = self.start()  # which finds none at its start
        self.expect_refusals(late, id)
        self.assertRegex(late.log, 'database: connection to server at "127.0.0.1", port [0-9]+ failed: Connection refused')
        server.start()
        for each in (daemon, late):
            wait_until(lambda one=each: one.get("/v3/glossaries").status == 200, what="the database")
            self.assertEqual(each.translate(STATION, glossary_id=id).json["translatedText"], ANSWER)
        made(make(late, name="another"))
        self.assertEqual(names(daemon), ["stations", "another"])
        self.assertIn("database: it can be used again", late.log)

    def test_a_restart_is_not_noticed(self):
        daemon = self.start()
        id = made(make(daemon))
        server.stop()
        server.start()
        self.assertEqual(daemon.translate(STATION, glossary_id=id).json["translatedText"], ANSWER)
        made(make(daemon))

    def test_what_hangs_holds_nobody_else_up(self):
        daemon = self.start()
        id = made(make(daemon))
        server.pause()
        self.addCleanup(server.resume)
        replies = []
        waiting = [threading.Thread(target=lambda: replies.append(daemon.translate(STATION, glossary_id=id))) for _ in range(4)]
        for thread in waiting:
            thread.start()
        self.assertEqual(daemon.translate(STATION).status, 200)
        for thread in waiting:
            thread.join()
        self.assertEqual({reply.status for reply in replies}, {503})
        server.resume()
        wait_until(lambda: daemon.translate(STATION, glossary_id=id).status == 200, what="the database")

    def test_its_processes_are_confined_replaced_and_end_with_it(self):
        daemon = self.start()
        id = made(make(daemon))
        (program,) = children(daemon.pid)
        connections = children(program)
        self.assertGreater(len(connections), 0)
        for pid in (program, *connections):
            fields = status_of(pid)
            self.assertEqual(fields["Name"], "attentiond-data")
            if HAS_SECCOMP and SLOWNESS == 1 and "--sandbox=off" not in daemon.flags:
                self.assertEqual((fields["Seccomp"], fields["NoNewPrivs"]), ("2", "1"))
                self.assertEqual(int(fields["CapEff"], 16), 0)
            self.assertNotIn("secret", pathlib.Path(f"/proc/{pid}/cmdline").read_text())
        for pid in connections:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(daemon.translate(STATION, glossary_id=id).json["translatedText"], ANSWER)
        made(make(daemon))
        everybody = [program, *children(program)]
        self.assertFalse(set(connections) & set(everybody))
        daemon.kill()

        def is_gone(pid):
            try:
                return status_of(pid)["State"].startswith("Z")
            except OSError:
                return True
        wait_until(lambda: all(map(is_gone, everybody)), what="their end")


class Wrong(Case):
    """The server starts, since translations need no database, and says what is wrong; check-config fails."""

    def expect(self, url, message):
        self.url = url
        daemon = self.start()
        self.assertEqual((daemon.get("/v3/glossaries").status, daemon.translate(STATION).status), (503, 200))
        self.assertRegex(daemon.log, message)
        result = run("check-config", "--model", MODEL, environment={"ATTENTIOND_DATABASE": url})
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, message)
        for text in (daemon.log, result.stderr, result.stdout, daemon.get("/metrics").body.decode()):
            self.assertNotRegex(text, "secret|s3cret")

    def test_the_password(self):
        self.expect(server.url(self.name, "s3cret"), 'password authentication failed for user "translator"')

    def test_the_database(self):
        self.expect(server.url("none"), 'database "none" does not exist')

    def test_the_encoding(self):
        server.run("postgres", "CREATE DATABASE latin OWNER translator TEMPLATE template0 ENCODING 'LATIN1'")
        self.expect(server.url("latin"), "its encoding is not UTF8")

    def test_the_rights(self):
        server.run("postgres", f"ALTER DATABASE {self.name} OWNER TO admin")
        daemon = self.start()
        self.assertEqual(daemon.get("/v3/glossaries").status, 503)
        self.assertIn("permission denied for schema public", daemon.log)

    def test_the_url(self):
        for url in ("mysql://x", "postgresql://a:s3cret@b@c/d", "postgresql://a:s3cret%zz@c/d"):
            for verb in ("serve", "check-config"):
                result = run(verb, "--model", MODEL, environment={"ATTENTIOND_DATABASE": url})
                self.assertEqual(result.returncode, 2)
                self.assertRegex(result.stderr, "database: expected")
                self.assertNotIn("s3cret", result.stderr + result.stdout)

    def test_a_newer_program_s(self):
        self.start().stop()
        server.run(self.name, "INSERT INTO attentiond_versions VALUES (99)")
        result = run("serve", "--model", MODEL, environment={"ATTENTIOND_DATABASE": self.url})
        self.assertEqual(result.returncode, 1)
        self.assertIn("the database has version 99", result.stderr)

    def test_nothing_is_wrong(self):
        result = run("check-config", "--model", MODEL, "--database", self.url)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("database: good", result.stderr)
        self.assertNotRegex(result.stdout + result.stderr, re.escape(PASSWORD) + "|secret")


if __name__ == "__main__":
    if not find():
        print(f"skipped: {MISSING}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
