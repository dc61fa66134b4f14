"""The command line from outside: help pages, wrong flags and settings, exit codes.

python3 tests/cli/test_cli.py BINARY [unittest arguments]
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST_MODEL = ROOT / "tests" / "models" / "en-de"
VERBS = ["serve", "translate", "inspect", "import", "bench", "check-config", "healthcheck"]
OK, FAILED, USAGE = 0, 1, 2
IS_SANITIZED = bool(os.environ.get("MT_IS_SANITIZED"))

binary = sys.argv.pop(1)


def run(*arguments, stdin=b"", **environment):
    """The finished process; no ATTENTIOND_ variable of ours reaches it but those given, and no model of ours."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ATTENTIOND_", "ARGOS_", "HF_"))}
    clean |= {"XDG_DATA_HOME": "/dev/null", "HF_HUB_CACHE": "/dev/null"}
    return subprocess.run([binary, *map(str, arguments)], input=stdin, capture_output=True, timeout=60,
                          env=clean | environment)


class Case(unittest.TestCase):
    def refused(self, code, pattern, *arguments, **environment):
        """The command must fail with code, say the pattern on standard error, and print nothing else."""
        result = run(*arguments, **environment)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, code, message)
        self.assertRegex(message, pattern)
        self.assertNotRegex(message, "(?i)sanitizer|runtime error|assertion")
        self.assertEqual(result.stdout, b"")

    def config_file(self, content):
        file = tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8")
        self.addCleanup(file.close)
        file.write(content)
        file.flush()
        return file.name


class Help(Case):
    def test_the_main_page_names_every_verb(self):
        result = run("--help")
        self.assertEqual(result.returncode, OK)
        for verb in VERBS:
            self.assertRegex(result.stdout.decode(), rf"(?m)^  {verb} ")

    def test_without_a_verb_the_page_goes_to_standard_error(self):
        self.refused(USAGE, "^Usage: attentiond VERB")

    def test_version_is_that_of_the_build_file(self):
        version = re.search(r"^  version: '(.*)'", (ROOT / "meson.build").read_text(), re.M)[1]
        result = run("--version")
        self.assertEqual((result.returncode, result.stdout.decode()), (OK, f"attentiond {version}\n"))

    def test_every_verb_has_a_page_that_names_its_flags_and_the_exit_codes(self):
        for verb in VERBS:
            with self.subTest(verb):
                page = run(verb, "--help").stdout.decode()
                self.assertEqual(run(verb, "--help").returncode, OK)
                self.assertTrue(page.startswith(f"Usage: attentiond {verb} "))
                self.assertIn("\n  --config FILE\n", page)
                self.assertRegex(page, "\nExit status: 0 .* 1 .* 2 ")
                self.assertLessEqual(max(map(len, page.splitlines())), 100)
                self.assertLessEqual(len(page.splitlines()), 105)  # inspect has many flags of its own
                self.assertEqual(page, run("help", verb).stdout.decode())
                self.assertEqual(page, run(verb, "-h").stdout.decode())

    def test_the_short_page_has_what_matters_and_leads_to_the_rest(self):
        page, everything = (run("serve", flag).stdout.decode() for flag in ("--help", "--help-all"))
        flags, all_flags = (re.findall(r"(?m)^  --([a-z-]+)", text) for text in (page, everything))
        self.assertEqual([flag for flag in flags if flag not in ("config", "help", "help-all")],
                         ["model", "precision", "models-directory", "workers", "threads-per-worker", "beam-size",
                          "host", "port", "tls-certificate", "api-keys-file"])
        self.assertLess(len(page.splitlines()), 100)
        self.assertIn(f"\n{len(all_flags) - len(flags)} more settings: attentiond serve --help-all\n", page)
        self.assertNotIn("--help-all\n\n", run("import", "--help").stdout.decode())  # nothing is left out there

    def test_the_flags_that_other_programs_rely_on_are_there(self):
        promised = {
            "serve": "model host port precision workers threads-per-worker config",
            "translate": "model precision beam-size batch-size max-decoding-length split-sentences json",
        }
        for verb, flags in promised.items():
            page = run(verb, "--help-all").stdout.decode()
            for flag in flags.split():
                self.assertRegex(page, rf"(?m)^  --{flag}( |$)", verb)

    def test_a_page_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "wb") as full, tempfile.TemporaryDirectory() as directory:
            for arguments in (["--help"], ["serve", "--help"], ["--version"], ["check-config"],
                              ["import", str(TEST_MODEL), directory]):
                result = subprocess.run([binary, *arguments], stdout=full, stderr=subprocess.DEVNULL)
                self.assertEqual(result.returncode, FAILED, arguments)


class ClosedDescriptors(Case):
    """A parent may leave standard input, output or error closed."""

    @staticmethod
    def start(closed, *arguments, **streams):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}
        return subprocess.Popen([binary, *map(str, arguments)], env=clean, **streams,
                                preexec_fn=lambda: [os.close(fd) for fd in closed])

    def test_no_file_of_ours_becomes_the_text(self):
        process = self.start([0], "translate", "--model", TEST_MODEL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        output, message = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output), (OK, b""), message)

    def test_nothing_of_ours_takes_their_place(self):
        process = self.start([0, 1, 2], "serve", "--model", TEST_MODEL, "--port", 0)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        folder = pathlib.Path(f"/proc/{process.pid}/fd")
        end = time.monotonic() + 60
        names = []
        while names != ["/dev/null"] * 3 and time.monotonic() < end:
            try:  # the loader of programs opens libraries there, and closes them
                names = [os.readlink(folder / str(fd)) for fd in range(3)]
            except OSError:
                names = []
        self.assertEqual(names, ["/dev/null"] * 3)


class WrongFlags(Case):
    def test_unknown_verbs_and_flags_are_refused_with_the_likely_one(self):
        for pattern, arguments in [
            ('there is no verb "srve"; did you mean serve\\?', ["srve"]),
            ('there is no verb "--port"', ["--port", "1"]),
            ('there is no verb "zebra"\n', ["help", "zebra"]),
            ("unknown flag --hots for serve; did you mean --host\\?", ["serve", "--hots", "x"]),
            ("unknown flag --prot for serve; did you mean --port\\?", ["serve", "--prot=1"]),
            ("unknown flag --max-body for serve; did you mean --max-body-bytes\\?", ["serve", "--max-body", "1"]),
            ("unknown flag --confg for serve; did you mean --config\\?", ["serve", "--confg", "1"]),
            ("unknown flag --foobar for serve\n", ["serve", "--foobar"]),
            ("unknown flag --port for translate\n", ["translate", "--port", "1"]),
            ("unknown flag -p for serve", ["serve", "-p", "1"]),
            ("unknown flag --" + "x" * 58, ["serve", "--" + "x" * 5000]),
            ("--port needs a value", ["serve", "--port"]),
            ("--help takes no value", ["serve", "--help=1"]),
            ('unexpected argument "file"', ["serve", "--model", "x", "file"]),
            ('unexpected argument "--port"', ["serve", "--model", "x", "--", "--port"]),
            ('unexpected argument "x"', ["check-config", "--", "x"]),
            ("an argument is missing; expected: ", ["import", "x"]),
            ("no model: give --model DIR, or fetch one first: attentiond pull", ["serve"]),
            ("no model: give --model DIR, or fetch one first: attentiond pull", ["translate"]),
        ]:
            with self.subTest(arguments[:3]):
                self.refused(USAGE, pattern, *arguments)

    def test_a_value_out_of_range_is_refused_with_flag_and_range(self):
        for verb in ("serve", "check-config"):
            self.refused(USAGE, "--port is 70000; expected an integer from 0 to 65535", verb, "--port", 70000)
            self.refused(USAGE, '--port is "x"; expected an integer', verb, "--port=x")
            self.refused(USAGE, '--precision is "fp16"; expected "fp32" or "int8"', verb, "--precision", "fp16")
            self.refused(USAGE, '--host is ""', verb, "--host=")
        self.refused(USAGE, '--timeout-ms is "0"; expected an integer from 1 ', "healthcheck", "--timeout-ms", 0)
        self.refused(USAGE, '--timeout-ms is "1.5"', "healthcheck", "--timeout-ms", 1.5)


class Settings(Case):
    def effective(self, *arguments, **environment):
        result = run("check-config", *arguments, **environment)
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        return json.loads(result.stdout)

    def test_a_flag_wins_over_the_environment_over_the_file_over_the_default(self):
        path = self.config_file('{"port": 81, "workers": 2, "host": "h", "//": "mine"}')
        settings = self.effective("--port", 83, "--config", path, ATTENTIOND_PORT="82", ATTENTIOND_WORKERS="3")
        self.assertEqual([settings[k] for k in ("port", "workers", "host", "max_batch_rows")], [83, 3, "h", 64])

    def test_the_last_of_equal_flags_wins(self):
        self.assertEqual(self.effective("--port", 1, "--port=2", "--length-penalty", -1)["port"], 2)

    def test_lists_that_are_given_in_several_flags_are_refused_with_what_was_meant(self):
        """Of them the last one would win, and say nothing."""
        several = "several go into one, with commas between them"
        for pattern, arguments in [
            ("--model is given twice; it names one model; .*attentiond serve --models-directory DIR", ["serve", "--model", "a", "--model", "b"]),
            ("--model is given twice; ", ["check-config", "--model=a", "--port", "1", "--model=a"]),
            ("--model is given twice; ", ["translate", "--model", "a", "--model", "b"]),
            ("--models-directory is given twice; several directories go into one, with colons between them",
             ["serve", "--models-directory", "a", "--models-directory=b"]),
            (f"--cors-origins is given twice; {several}", ["serve", "--cors-origins", "http://a", "--cors-origins", "http://b"]),
            (f"--trust-forwarded-for is given twice; {several}", ["serve", "--trust-forwarded-for=10.0.0.1", "--trust-forwarded-for=10.0.0.2"]),
            (f"--alignment-heads is given twice; {several}", ["inspect", "--alignment-heads", 0, "--alignment-heads", 1]),
            (f"--kinds is given twice; {several}", ["inspect", "--kinds", "cross", "--kinds", "encoder", "Hello."]),
            (f"--target-vocabulary is given twice; {several}", ["import", "a", "b", "--target-vocabulary", "x", "--target-vocabulary", "y"]),
        ]:
            with self.subTest(arguments=arguments):
                self.refused(USAGE, pattern, *arguments)
        self.refused(USAGE, "unexpected argument", "serve", "--model", "a", "--", "--model")  # that is none

    def test_switches_have_one_syntax(self):
        """Whether a setting is true and false in the file, or "on" and "off" and perhaps more."""
        words = {True: ("on", "true", "yes", "1"), False: ("off", "false", "no", "0")}
        for flag, key, values in [("--repair-numbers", "repair_numbers", {True: True, False: False}),
                                  ("--shortlist", "shortlist", {True: "on", False: "off"}),
                                  ("--split-sentences", "split_sentences", {True: "on", False: "off"})]:
            for is_on, spellings in words.items():
                for word in spellings:
                    with self.subTest(flag=flag, word=word):
                        for arguments in ([flag, word], [f"{flag}={word}"], [flag, "off" if is_on else "on", flag, word]):
                            self.assertEqual(self.effective(*arguments, "--port", 7)[key], values[is_on])
                        self.assertEqual(self.effective(**{"ATTENTIOND_" + key.upper(): word})[key], values[is_on])
        self.assertEqual(self.effective("--split-sentences", "newlines")["split_sentences"], "newlines")
        self.assertIs(self.effective("--repair-numbers", "off", "--repair-numbers", "--port", 7)["repair_numbers"], True)
        self.refused(USAGE, '--repair-numbers is "maybe"; expected true or false', "check-config", "--repair-numbers=maybe")
        self.refused(USAGE, '--shortlist is "maybe"; expected "on" or "off"', "check-config", "--shortlist", "maybe")
        # Switches of one verb alone, and what only looks like a value.
        self.refused(USAGE, '--json is "maybe"; expected on or off', "list", "--json=maybe")
        self.assertEqual(run("list", "--json", "off", HOME="/nonexistent").stdout, b"")
        self.assertEqual(json.loads(run("list", "--json", "on", HOME="/nonexistent").stdout), {"models": []})
        self.refused(USAGE, 'unexpected argument "on"; expected: ', "list", "--json", "--", "on")
        self.refused(USAGE, '"off": there is no such file', "translate", "--model", TEST_MODEL, "--repair-numbers", "--", "off")

    def test_the_file_can_be_named_by_the_environment(self):
        named = {"ATTENTIOND_CONFIG": self.config_file('{"port": 81}')}
        self.assertEqual(self.effective(**named)["port"], 81)
        self.assertEqual(self.effective("--config", self.config_file('{"port": 82}'), **named)["port"], 82)

    def test_the_documented_example_changes_nothing(self):
        example = ROOT / "config" / "attentiond.json"
        self.assertEqual(self.effective("--config", example), self.effective())
        self.assertEqual(run("check-config", "--print-example").stdout, example.read_bytes())

    def test_a_wrong_file_is_refused_with_file_and_key(self):
        for content, pattern in [
            ('{"prot": 1}', 'there is no setting "prot"; did you mean "port"\\?'),
            ('{"port": 70000}', '"port" is 70000; expected an integer from 0 to 65535'),
            ('{"port": "80"}', '"port" is "80"; expected an integer'),
            ('{"precision": "int4"}', '"precision" is "int4"; expected "fp32" or "int8"'),
            ('{"port": 1,}', "line 1, column 12"),
            ('{"port": 1, "port": 2}', "port"),
            ("[]", "expected an object"),
            ("", ""),
        ]:
            path = self.config_file(content)
            for verb in ("check-config", "serve"):
                with self.subTest(content, verb=verb):
                    self.refused(USAGE, re.escape(path) + ".*" + pattern, verb, "--config", path)
        self.refused(USAGE, "/nowhere.json: .*No such file", "check-config", "--config", "/nowhere.json")

    def test_a_wrong_variable_is_refused_with_its_name(self):
        self.refused(USAGE, 'ATTENTIOND_PORT is "x"; expected an integer', "check-config", ATTENTIOND_PORT="x")
        self.refused(USAGE, "ATTENTIOND_PROT: .*did you mean", "check-config", ATTENTIOND_PROT="1")

    def test_the_model_is_loaded_and_described(self):
        result = run("check-config", "--model", TEST_MODEL)
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        self.assertRegex(result.stderr.decode(), "good, 8.4 million parameters.*\n.*d_model 256; encoder 4 layers")

    def test_each_model_of_a_directory_is_loaded(self):
        with tempfile.TemporaryDirectory() as directory:
            models = pathlib.Path(directory)
            for name in ("opus-mt-en-de", "opus-mt-de-fr"):
                (models / name).mkdir()
                for file in TEST_MODEL.iterdir():
                    if file.name != "tokenizer_config.json":
                        (models / name / file.name).symlink_to(file)
            arguments = ["check-config", "--models-directory", models]
            result = run(*arguments)
            self.assertEqual(result.returncode, OK, result.stderr.decode())
            for name, languages in (("opus-mt-en-de", "en into de"), ("opus-mt-de-fr", "de into fr")):
                self.assertRegex(result.stderr.decode(), f"{name}: good(.*\n)+  is called {name}, translates {languages}\n")

            (models / "cut").mkdir()
            for file in TEST_MODEL.iterdir():
                (models / "cut" / file.name).write_bytes(file.read_bytes()[:100_000])
            (models / "opus-mt-en-de" / "attentiond.json").write_text('{"alignment_layers": "3"}')
            (models / "no-model").mkdir()
            result = run(*arguments)
            self.assertEqual(result.returncode, FAILED)
            self.assertRegex(result.stderr.decode(), "cut cannot be served: .*cut/model.safetensors")
            self.assertRegex(result.stderr.decode(), "opus-mt-en-de cannot be served: attentiond.json: alignment")
            self.assertIn("opus-mt-de-fr: good", result.stderr.decode())
            self.assertIn("2 of 3 models cannot be served", result.stderr.decode())

    def test_what_serve_would_refuse_is_refused(self):
        for code, pattern, flags in (
            (USAGE, "memory_limit is 0 MiB, but these settings may come to need", ["--memory-limit", 1000]),
            (FAILED, "beam_size: expected at most max_batch_rows \\(2\\), found 8",
             ["--beam-size", 8, "--max-batch-rows", 2]),
            (USAGE, 'public_url is "here"', ["--public-url", "here"]),
            (USAGE, 'trust_forwarded_for has "proxy"', ["--trust-forwarded-for", "proxy"]),
            (USAGE, f"models_directory: {TEST_MODEL} is a model itself, .*--model {TEST_MODEL} serves this one",
             ["--models-directory", TEST_MODEL]),
            (FAILED, "admin_socket: /nowhere/admin: cannot make a socket in /nowhere/: No such file",
             ["--admin-socket", "/nowhere/admin"]),
            (FAILED, "admin_socket: /tmp: expected a socket or nothing, found a directory", ["--admin-socket", "/tmp"]),
        ):
            for verb in ("check-config", "serve"):
                with self.subTest(flags, verb=verb):
                    result = run(verb, "--model", TEST_MODEL, "--port", 0, *flags)
                    self.assertEqual(result.returncode, code, result.stderr.decode())
                    self.assertRegex(result.stderr.decode(), f"(?m)^attentiond {verb}: {pattern}")
        self.assertEqual(run("check-config", "--public-url", "here").returncode, USAGE)

    def test_a_model_that_models_memory_has_no_room_for_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            (pathlib.Path(directory) / "en-de").symlink_to(TEST_MODEL)
            result = run("check-config", "--models-directory", directory, "--models-memory", 1_000_000)
            self.assertEqual(result.returncode, FAILED)
            self.assertRegex(result.stderr.decode(), "en-de cannot be served: .*models_memory is 0 MiB")

    def test_without_a_model_there_is_nothing_to_serve(self):
        self.assertIn("serve would need --model DIR, or attentiond pull NAME", run("check-config").stderr.decode())

    def test_the_activation_is_named(self):
        for activation, name in (("swish", "swish"), ("gelu", "gelu"), ("relu", "relu")):
            with tempfile.TemporaryDirectory() as directory:
                model = pathlib.Path(directory)
                for file in TEST_MODEL.iterdir():
                    if file.name != "config.json":
                        (model / file.name).symlink_to(file)
                config = json.loads((TEST_MODEL / "config.json").read_text())
                (model / "config.json").write_text(json.dumps(config | {"activation_function": activation}))
                result = run("check-config", "--model", model)
                self.assertEqual(result.returncode, OK, result.stderr.decode())
                self.assertIn(name, result.stderr.decode())

    def test_too_few_descriptors_are_a_failure_that_says_how_many(self):
        done = subprocess.run(["sh", "-c", 'ulimit -n 300; exec "$@"', "sh", binary, "serve", "--model",
                               str(TEST_MODEL), "--port", "0", "--max-connections", "4000"],
                              capture_output=True, timeout=60, text=True, check=False)
        self.assertEqual(done.returncode, FAILED)
        self.assertRegex(done.stderr, r"max_connections is 4000, which needs \d+ open files, but the limit is 300 \(ulimit -n\); "
                                      r"raise it .*LimitNOFILE of systemd.*, or lower max_connections to \d+$")

    def test_names_drive_no_terminal_and_break_no_line(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in ("sound\x1b[31m\nmodel b: good", "broken\x1b]0;title\x07"):
                (pathlib.Path(directory) / name).symlink_to(TEST_MODEL)
            result = run("check-config", "--models-directory", directory)
            self.assertEqual(result.returncode, OK)
            lines = result.stderr.decode().splitlines()
            self.assertNotRegex("".join(lines), r"[\x00-\x1f]")
            self.assertIn(f"model {directory}/broken\\x1b]0;title\\x07: good", "\n".join(lines))
            self.assertIn(f"model {directory}/sound\\x1b[31m\\nmodel b: good: good", "\n".join(lines))
            # Messages of other verbs, too.
            missing = directory + "/\x1b[2J\n"
            for verb in ("check-config", "translate"):
                result = run(verb, "--model", missing)
                self.assertEqual(result.returncode, FAILED)
                self.assertIn(f"{directory}/\\x1b[2J\\n", result.stderr.decode())

    def test_a_model_that_cannot_be_opened_is_a_failure(self):
        result = run("check-config", "--model", "/nowhere")
        self.assertEqual(result.returncode, FAILED)
        self.assertIn("/nowhere", result.stderr.decode())


class LittleMemory(Case):
    @unittest.skipIf(IS_SANITIZED, "a sanitizer reserves terabytes")
    def test_with_little_address_space_the_program_ends(self):
        # Where Debian's OpenBLAS is the one with threads, it tries for ever to start them. With less than this,
        # protobuf may have no memory while it reads a tokenizer, and does not survive it.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        for arguments, code in (["version"], OK), (["translate", "--model", str(TEST_MODEL)], FAILED), \
                (["serve", "--model", str(TEST_MODEL), "--port", "0"], FAILED):
            done = subprocess.run(["sh", "-c", 'ulimit -v 170000; exec "$@"', "sh", binary, *arguments],
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=20, text=True, check=False,
                                  env=environment)
            self.assertEqual(done.returncode, code, done.stderr)


class Healthcheck(Case):
    """Against a socket that answers whatever the test says."""

    def answering(self, reply):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def answer():
            connection, _ = listener.accept()
            with connection:
                self.request = connection.recv(4096)
                for part in reply:
                    connection.sendall(part)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 10)
        return listener.getsockname()[1]

    def test_200_is_well(self):
        port = self.answering([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"])
        self.assertEqual(run("healthcheck", "--port", port).returncode, OK)
        self.assertTrue(self.request.startswith(b"GET /health HTTP/1.1\r\n"))

    def test_the_status_line_may_come_in_pieces_and_every_interface_means_this_machine(self):
        port = self.answering([b"HTT", b"P/1.1 20", b"0 OK\r", b"\n\r\n"])
        result = run("healthcheck", ATTENTIOND_PORT=str(port), ATTENTIOND_HOST="0.0.0.0")
        self.assertEqual(result.returncode, OK, result.stderr.decode())

    def test_anything_else_is_a_failure_that_says_what_came(self):
        for reply, pattern in [
            ([b"HTTP/1.1 503 Service Unavailable\r\n\r\n"], "found \"HTTP/1.1 503 Service Unavailable\""),
            ([b"SSH-2.0-x\r\n"], "found \"SSH-2.0-x\""),
            ([b"x" * 100000], "found \"xxx"),
            ([], "no answer"),
        ]:
            with self.subTest(pattern):
                self.refused(FAILED, pattern, "healthcheck", "--port", self.answering(reply))

    def test_nobody_there_is_a_failure(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        self.refused(FAILED, "Connection refused", "healthcheck", "--port", port)

    def test_silence_is_a_failure_after_the_timeout(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:  # accepts by its backlog, never answers
            port = listener.getsockname()[1]
            self.refused(FAILED, "no answer", "healthcheck", "--port", port, "--timeout-ms", 200)


if __name__ == "__main__":
    unittest.main()
