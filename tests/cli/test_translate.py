"""`attentiond translate` as a filter: one line out for one line in, whatever comes.

python3 tests/cli/test_translate.py BINARY [unittest arguments]
"""

import fcntl
import json
import os
import re
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "models" / "en-de"
BUNDLED = ROOT / "weights" / "en-de"
OK, FAILED, USAGE = 0, 1, 2
# Under a sanitizer everything takes ten times as long.
PATIENCE_S = 120
EOS = 0

binary = sys.argv.pop(1)


def command(*flags):
    model = [] if "--model" in flags else ["--model", str(MODEL)]
    return [binary, "translate", *model, *flags]


def environment():
    return {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}


def run(text, *flags):
    data = text if isinstance(text, bytes) else text.encode()
    return subprocess.run(command("--beam-size", "1", *flags), input=data, capture_output=True,
                          timeout=PATIENCE_S, env=environment())


# What is said of translations that look wrong, on standard error.
WARNING = re.compile(rb"attentiond translate: (?:(?:line|text) \d+: the translation of sentence \d+ |\d+ warnings more;)")


def complaints(result):
    """Lines on standard error that are no warnings."""
    return [line for line in result.stderr.splitlines() if not WARNING.match(line)]


class Case(unittest.TestCase):
    def translated(self, text, *flags):
        result = run(text, *flags)
        self.assertEqual((result.returncode, complaints(result)), (OK, []))
        return result.stdout.decode()

    def objects(self, text, *flags):
        return [json.loads(line) for line in self.translated(text, "--json", *flags).splitlines()]

    def start(self, *flags, **pipes):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE} | pipes
        process = subprocess.Popen(command("--beam-size", "1", *flags), stderr=subprocess.PIPE,
                                   env=environment(), **pipes)
        self.addCleanup(self.finish, process)
        return process

    def finish(self, process):
        process.kill()
        process.wait(PATIENCE_S)
        for pipe in (process.stdin, process.stdout, process.stderr):
            try:
                if pipe:
                    pipe.close()
            except BrokenPipeError:
                pass

    def read_line(self, process):
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE_S)
        self.assertTrue(ready, "no line came")
        return process.stdout.readline()


class Warnings(Case):
    """What is wrong with a translation is said on standard error, and the number is put right."""

    def run_with(self, text, *flags):
        """The model is unsure of numbers, which is another warning."""
        return subprocess.run(command(*flags), input=text.encode(), capture_output=True, timeout=PATIENCE_S,
                              env=environment() | {"ATTENTIOND_MIN_PROBABILITY": "0"})

    def test_a_number_that_was_put_right_is_named(self):
        result = self.run_with("I love it.\nThere are 365 days in a year.\n")
        self.assertEqual(result.stdout.decode(), "Ich liebe es.\nEs gibt 365 Tage in einem Jahr.\n")
        self.assertRegex(result.stderr.decode(), "^attentiond translate: line 2: the translation of sentence 1 has other numbers "
                         "than its source; missing: 365; added: [0-9]+; put in: 365\n$")

    def test_they_are_a_member_of_json(self):
        line = json.loads(self.run_with("There are 365 days in a year.\n", "--json").stdout)
        self.assertEqual(line["warnings"], [{"added": line["warnings"][0]["added"], "kind": "numbers", "missing": ["365"],
                                             "repaired": ["365"], "sentence": 0}])
        self.assertEqual(line["text"], "Es gibt 365 Tage in einem Jahr.")

    def test_the_setting_leaves_them_as_they_are(self):
        result = subprocess.run(command(), input=b"There are 365 days in a year.\n", capture_output=True, timeout=PATIENCE_S,
                                env=environment() | {"ATTENTIOND_REPAIR_NUMBERS": "false"})
        self.assertNotIn("365", result.stdout.decode())
        self.assertIn(b"missing: 365", result.stderr)
        self.assertNotIn(b"put in", result.stderr)

    def test_the_number_that_stood_for_a_placeholder_is_never_seen(self):
        result = self.run_with("There are %d days in a year.\nFound {count} errors in the document.\n")
        self.assertEqual((result.stdout.count(b"%d"), result.stdout.count(b"{count}"), result.stderr), (1, 1, b""))
        self.assertNotRegex(result.stdout, b"[0-9]")

    def test_after_twenty_they_are_counted(self):
        result = self.run_with("There are 365 days in a year.\n" * 25)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 21)
        self.assertEqual(lines[-1], b"attentiond translate: 5 warnings more; --json lists them all")


class Lines(Case):
    def test_one_line_in_gives_one_line_out(self):
        self.assertEqual(self.translated("Where is the train station?\n"), "Wo ist der Bahnhof?\n")

    def test_no_input_gives_no_output(self):
        self.assertEqual(self.translated(""), "")

    def test_empty_and_blank_lines_stay(self):
        out = self.translated("\n  \nI love it.\n\n\t\n").split("\n")
        self.assertEqual(out, ["", "  ", "Ich liebe es.", "", "\t", ""])

    def test_a_last_line_without_line_feed_counts(self):
        self.assertEqual(self.translated("I love it.\nI love it."), "Ich liebe es.\n" * 2)

    def test_placeholders_addresses_and_emoji_survive(self):
        texts = ["I love {name}.", "{name}", "Where is %s? \U0001F389", "  https://example.org/a?b=c  ",
                 "Where is %(file)s? I love it.", " ".join(f"Where is {{{i}}}?" for i in range(600))]
        out = self.translated("\n".join(texts) + "\n").splitlines()
        for text, line in zip(texts, out, strict=True):
            for kept in re.findall(r"\{\w+\}|%\(file\)s|%s|\U0001F389|https\S+|^ +| +$", text):
                self.assertEqual(line.count(kept), text.count(kept), kept)
        self.assertEqual((out[1], out[3]), (texts[1], texts[3]))

    def test_a_line_is_edited_as_the_server_edits_a_text(self):
        lines = "What?!\nStop it!!!\nsave as...\nIT IS GOOD\n"
        edited = self.translated(lines).splitlines()
        self.assertEqual([re.search(r"\W*$", line).group() for line in edited], ["?!", "!!!", "...", ""])
        self.assertTrue(edited[3].isupper(), edited[3])
        plain = self.translated(lines, "--post-edit=off").splitlines()
        self.assertNotEqual(plain, edited)

    def test_json_shows_a_placeholder_to_the_model(self):
        line, = self.objects("{name}\n")
        self.assertEqual(line["source"], "{name}")
        self.assertGreater(len(line["output_ids"]), 1)  # not the end alone

    def test_the_locale_says_nothing_about_a_language_that_icu_does_not_know(self):
        with unittest.mock.patch.dict(os.environ, LC_ALL="de_DE.UTF-8"):
            out = self.translated("1,234.56\n\"No\"\n", "--target-lang", "tlh").splitlines()
        self.assertEqual((out[0], out[1][0]), ("1,234.56", '"'))

    def test_tags_go_where_the_alignment_of_attentiond_json_says(self):
        out = self.translated("Click <b>here</b> to reset your password.\n", "--model", str(ROOT / "weights/en-de"))
        self.assertIn(" <b>hier</b>", out)

    def test_a_flag_is_stronger_than_attentiond_json_and_that_than_a_setting(self):
        line = "I love it. " * 40 + "\n"
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "short")
            shutil.copytree(MODEL, model)
            (model / "attentiond.json").write_text('{"max_decoding_length": 3}')
            flags = ("--model", str(model), "--split-sentences", "off")
            long, short = self.translated(line, *flags, "--max-decoding-length", "20"), self.translated(line, *flags)
            settings = pathlib.Path(folder, "settings.json")
            settings.write_text('{"max_decoding_length": 9}')
            self.assertEqual(self.translated(line, *flags, "--config", str(settings)), short)
        self.assertLess(len(short), len(long) / 2)

    def test_carriage_returns_stay_at_the_end(self):
        self.assertEqual(self.translated("I love it.\r\n\r\n"), "Ich liebe es.\r\n\r\n")

    def test_a_line_may_hold_several_sentences(self):
        one, two = self.translated("I love it.\nWhere is Tom?\n").splitlines()
        both = "I love it.   Where is Tom?\n"
        self.assertEqual(self.translated(both), f"{one}   {two}\n")
        self.assertNotEqual(self.translated(both, "--split-sentences", "off"), f"{one}   {two}\n")

    def test_the_order_is_that_of_the_input(self):
        short, long = "I love it.", "I love it. " * 40
        lines = [long.strip() if i % 7 == 0 else short for i in range(200)]
        out = self.translated("\n".join(lines) + "\n", "--max-decoding-length", "8").splitlines()
        self.assertEqual(out, [line.replace("I love it.", "Ich liebe es.") for line in lines])

    def test_batches_and_workers_change_nothing(self):
        text = "I love it.\nWhere is the train station?\n\nDo it now. Here I am.\n" * 10
        expected = self.translated(text)
        for flags in (["--batch-size", "1"], ["--workers", "2"], ["--threads-per-worker", "1"]):
            self.assertEqual(self.translated(text, *flags), expected, flags)

    def test_a_batch_is_never_smaller_than_the_beam(self):
        out = self.translated("I love it.\n", "--beam-size", "4", "--batch-size", "1")
        self.assertEqual(out, "Ich liebe es.\n")


class LongLines(Case):
    def test_a_line_too_long_for_the_model_is_cut_and_nothing_is_lost(self):
        (line,) = self.objects("the cat and " * 400 + "\n", "--max-decoding-length", "4")
        self.assertEqual(line["source"], "the cat and " * 400)
        # 1,200 tokens in pieces of at most 511, four tokens out for each.
        self.assertGreaterEqual(len(line["output_ids"]), 12)
        self.assertEqual(len(line["output_ids"]), len(line["token_logprobs"]))

    def test_a_line_of_many_sentences_is_more_than_the_window(self):
        out = self.translated("I love it. " * 600 + "\nI love it.\n", "--batch-size", "4")
        self.assertEqual(out, "Ich liebe es. " * 600 + "\nIch liebe es.\n")

    def test_a_line_of_too_many_sentences_is_refused_by_number(self):
        result = run("I love it.\n" + "No. " * 10001 + "\n")
        self.assertEqual(result.returncode, FAILED)
        self.assertEqual(result.stdout.decode(), "Ich liebe es.\n")
        self.assertIn("line 2: the text has more than 10000 sentences", result.stderr.decode())

    def test_a_line_over_the_byte_limit_is_refused_by_number(self):
        result = run(b"I love it.\n" + b"x" * (17 << 20) + b"\n")
        self.assertEqual(result.returncode, FAILED)
        self.assertEqual(result.stdout.decode(), "Ich liebe es.\n")
        self.assertIn("line 2: longer than 16777216 bytes", result.stderr.decode())


class BadInput(Case):
    def test_malformed_utf8_is_named_and_the_lines_before_it_are_finished(self):
        for bad in (b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf0\x9f\x98"):
            result = run(b"I love it.\n\nab" + bad + b"\nI love it.\n")
            self.assertEqual(result.returncode, FAILED)
            self.assertEqual(result.stdout.decode(), "Ich liebe es.\n\n")
            self.assertIn("line 3: invalid UTF-8: byte 0x", result.stderr.decode())
            self.assertIn("at position 3", result.stderr.decode())

    def test_a_character_cut_off_by_the_end_is_malformed(self):
        result = run(b"I love it.\n\xe2\x82")
        self.assertEqual((result.returncode, result.stdout), (FAILED, b"Ich liebe es.\n"))

    def test_odd_characters_are_no_reason_to_fail(self):
        odd = ["\0", "a\0b.", "\ufeff", "\u2028", "a\u2028b", "\U0010ffff", "\u200b", "\u202e.", "</s>",
               ">>de<<", "\ufffd", "\x1b[31m", "." * 1000, "\U0001f600" * 100]
        out = self.translated("\n".join(odd) + "\n", "--max-decoding-length", "8")
        self.assertEqual(out.count("\n"), len(odd))

    def test_input_that_cannot_be_read_is_a_failure(self):
        directory = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        self.addCleanup(os.close, directory)
        result = subprocess.run(command(), stdin=directory, capture_output=True,
                                timeout=PATIENCE_S, env=environment())
        self.assertEqual(result.returncode, FAILED)
        self.assertIn(b"cannot read: Is a directory", result.stderr)

    def test_weights_that_are_cut_short_meanwhile_are_named(self):
        """Not a crash, and no words made of what is not there any more."""
        with tempfile.TemporaryDirectory() as directory:
            shutil.copytree(MODEL, directory, dirs_exist_ok=True)
            weights = pathlib.Path(directory) / "model.safetensors"
            process = self.start("--model", directory, "--precision", "fp32")
            process.stdin.write(b"Hello.\n")
            process.stdin.flush()
            self.assertTrue(self.read_line(process))
            os.truncate(weights, 4096)
            process.stdin.write(b"Good morning.\n")
            out, message = process.communicate(timeout=PATIENCE_S)
            self.assertEqual((process.returncode, out), (FAILED, b""))
            self.assertRegex(message.decode(), r"line 2: .*model.safetensors: the file was cut short or written to")

    def test_options_that_no_line_could_use_are_refused_at_once(self):
        for flags in (["--num-hypotheses", "2"], ["--json", "--num-hypotheses", "2"],
                      ["--max-decoding-length", "513"], ["--batch-size", "0"]):
            result = run("", *flags)
            self.assertEqual((result.returncode, result.stdout), (USAGE, b""), flags)

    def test_the_score_of_what_the_limit_ended_is_that_of_its_tokens(self):
        for n_beams in "1", "4":
            with self.subTest(n_beams=n_beams):
                (line,) = self.objects("My brother has never seen the old house on the hill.\n", "--beam-size", n_beams,
                                       "--max-decoding-length", "5")
                self.assertEqual((len(line["output_ids"]), line["output_ids"][-1]), (5, EOS))
                self.assertEqual(line["token_logprobs"][-1], 0)
                self.assertAlmostEqual(line["score"], sum(line["token_logprobs"]) / 5, places=5)

    def test_what_leaves_no_room_behind_a_forced_beginning_says_so(self):
        for settings, flags, code, pattern in (
                ({"max_length": 2}, [], FAILED, r"the model's max_length: expected at least 3, .* \(12\), found 2\n"),
                ({"max_length": 2}, ["--max-decoding-length", "2"], OK, "^$"),
                ({"max_length": 3}, [], OK, "^$"),
                ({}, ["--max-decoding-length", "1"], USAGE,
                 r"max_decoding_length: expected at least 2, .* forced_bos_token_id \(12\), found 1\n"),
                # A limit by the length of the source is never less than what is forced.
                ({"model_type": "attentiond", "max_length_factor": 0.001}, [], OK, "^$")):
            with self.subTest(settings=settings, flags=flags), tempfile.TemporaryDirectory() as directory:
                model = pathlib.Path(directory, "model")
                shutil.copytree(MODEL, model)
                (model / "generation_config.json").unlink()
                config = json.loads((MODEL / "config.json").read_text())
                (model / "config.json").write_text(json.dumps(config | {"forced_bos_token_id": 12} | settings))
                result = run("I love it.\n", "--json", "--model", str(model), *flags)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertRegex(result.stderr.decode(), pattern)
                self.assertEqual([json.loads(line)["output_ids"][0] for line in result.stdout.splitlines()],
                                 [12] if code == OK else [])

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run(command(), input=b"I love it.\n", stdout=full,
                                    stderr=subprocess.PIPE, timeout=PATIENCE_S, env=environment())
        self.assertEqual(result.returncode, FAILED)
        self.assertIn(b"cannot write the output: No space left", result.stderr)


class Progress(Case):
    """A bar, where standard error is a terminal, once it has taken a second."""
    PATIENCE_S = 1.2

    def shown(self, stdin, translate):
        """What the terminal got, while translate(process) gives the input and reads the output."""
        try:
            leader, follower = pty.openpty()
        except OSError as error:  # a chroot without /dev/pts
            self.skipTest(f"there are no pseudo-terminals: {error}")
        self.addCleanup(os.close, leader)
        process = subprocess.Popen(command("--beam-size", "1"), stdin=stdin, stdout=subprocess.PIPE, stderr=follower,
                                   env=environment())
        os.close(follower)
        translate(process)
        self.assertEqual(process.wait(timeout=PATIENCE_S), OK)
        shown = b""
        while select.select([leader], [], [], 0)[0]:
            try:
                shown += os.read(leader, 65536)
            except OSError:  # nobody is at the other end
                break
        return shown.decode()

    def write_slowly(self, process):
        for line in (b"Hello.\n", b"How are you?\n"):
            process.stdin.write(line)
            process.stdin.flush()
            self.assertTrue(process.stdout.readline())
            time.sleep(self.PATIENCE_S)
        process.stdin.close()
        self.assertEqual(process.stdout.read(), b"")
        process.stdout.close()

    def test_of_a_pipe_it_counts_lines(self):
        shown = self.shown(subprocess.PIPE, self.write_slowly)
        blank = " " * 79
        self.assertEqual(shown, f"\r{blank}\r2 lines\r{blank}\r")

    def test_of_a_file_it_says_how_much_is_done(self):
        def read_late(process):
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
            time.sleep(self.PATIENCE_S)  # the output does not fit into the pipe
            with process.stdout as output:
                self.assertEqual(len(output.read().splitlines()), 800)

        with tempfile.TemporaryFile() as file:
            file.write(b"It is late.\nWhere is the train station?\n" * 400)
            file.seek(0)
            shown = self.shown(file, read_late)
        self.assertRegex(shown, r"\r\[#*\.*\] +\d+ %, \d+ lines")
        self.assertTrue(shown.endswith("\r" + " " * 79 + "\r"))

    def test_a_pipe_as_standard_error_gets_none(self):
        process = self.start()
        self.write_slowly(process)
        self.assertEqual(process.stderr.read(), b"")


class Json(Case):
    def test_an_object_says_what_was_decoded(self):
        (line,) = self.objects("Where is the train station?\n")
        self.assertEqual(list(line), ["source", "text", "output_ids", "score", "token_logprobs"])
        self.assertEqual(line["source"], "Where is the train station?")
        self.assertEqual(line["text"], "Wo ist der Bahnhof?")
        self.assertEqual(line["output_ids"][-1], EOS)
        self.assertEqual(len(line["token_logprobs"]), len(line["output_ids"]))
        mean = sum(line["token_logprobs"]) / len(line["token_logprobs"])
        self.assertAlmostEqual(line["score"], mean, places=5)

    def test_a_line_is_one_sentence(self):
        (line,) = self.objects("Hello. I love it.\n", "--split-sentences", "on")
        self.assertEqual(line["output_ids"].count(EOS), 1)

    def test_an_empty_line_is_an_empty_object_of_the_same_form(self):
        self.assertEqual(self.objects("\n"), [{"source": "", "text": "", "output_ids": [],
                                               "score": 0, "token_logprobs": []}])

    def test_source_text_is_escaped(self):
        self.assertEqual(self.objects('a "b" \\ \t\x01\r\n')[0]["source"], 'a "b" \\ \t\x01\r')

    def test_more_hypotheses_come_as_alternatives(self):
        (line,) = self.objects("I love it.\n", "--beam-size", "4", "--num-hypotheses", "3")
        self.assertEqual(len(line["alternatives"]), 2)
        scores = [line["score"], *(other["score"] for other in line["alternatives"])]
        self.assertEqual(scores, sorted(scores, reverse=True))
        ids = {tuple(x["output_ids"]) for x in [line, *line["alternatives"]]}
        self.assertEqual(len(ids), 3)


class Streaming(Case):
    def test_a_translation_comes_before_the_next_line_is_typed(self):
        process = self.start()
        for _ in range(3):
            process.stdin.write(b"I love it.\n")
            process.stdin.flush()
            self.assertEqual(self.read_line(process), b"Ich liebe es.\n")
        process.stdin.close()
        self.assertEqual(process.stdout.read(), b"")
        self.assertEqual(process.wait(PATIENCE_S), OK)

    def test_half_a_line_waits_for_the_other_half(self):
        process = self.start()
        process.stdin.write(b"I lo")
        process.stdin.flush()
        time.sleep(0.3)
        process.stdin.write(b"ve it.\n")
        process.stdin.flush()
        self.assertEqual(self.read_line(process), b"Ich liebe es.\n")

    def test_reading_stops_where_nobody_reads_the_output(self):
        """What is taken in is bounded: the window, the pipes and one block."""
        process = self.start("--batch-size", "4")
        fd = process.stdin.fileno()
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK)
        n_written, last_progress = 0, time.monotonic()
        while time.monotonic() < last_progress + 2 and n_written < 8 << 20:
            try:
                n_written += os.write(fd, b"\n" * 4096)
                last_progress = time.monotonic()
            except BlockingIOError:
                time.sleep(0.01)
        self.assertLess(n_written, 1 << 20)

    def test_it_ends_quietly_when_its_reader_goes_away(self):
        reader, writer = os.pipe()
        process = self.start(stdout=writer)
        os.close(writer)
        process.stdin.write(b"I love it.\n")
        process.stdin.flush()
        self.assertTrue(os.read(reader, 100))
        os.close(reader)
        with self.assertRaises(BrokenPipeError):
            while True:
                process.stdin.write(b"I love it.\n")
                process.stdin.flush()
        self.assertEqual(process.wait(PATIENCE_S), FAILED)
        self.assertEqual(process.stderr.read(), b"")

    def interrupted(self, process, number):
        process.send_signal(number)
        self.assertEqual(process.wait(PATIENCE_S), 128 + number)
        self.assertEqual(process.stderr.read(), b"")

    def test_a_signal_ends_the_wait_for_input(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start()
            process.stdin.write(b"I love it.\n")
            process.stdin.flush()
            self.assertEqual(self.read_line(process), b"Ich liebe es.\n")
            self.interrupted(process, number)

    def test_a_signal_ends_the_wait_for_the_reader_of_the_output(self):
        with open("/dev/zero", "rb") as zeros, subprocess.Popen(
                ["tr", "\\000", "\\n"], stdin=zeros, stdout=subprocess.PIPE) as lines:
            process = self.start(stdin=lines.stdout)
            self.assertEqual(self.read_line(process), b"\n")
            time.sleep(1)  # until the pipe is full
            self.interrupted(process, signal.SIGINT)
            lines.kill()

    def test_a_signal_in_full_work_leaves_whole_lines(self):
        process = self.start()
        process.stdin.write(b"I love it.\n" * 5000)
        process.stdin.flush()
        self.assertEqual(self.read_line(process), b"Ich liebe es.\n")
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        self.assertEqual(rest, b"Ich liebe es.\n" * rest.count(b"\n"))
        self.assertEqual(process.wait(PATIENCE_S), 128 + signal.SIGINT)


class Files(Case):
    SRT = ("1\n00:00:01,000 --> 00:00:02,000\n<i>Where is the train station?</i>\n\n"
           "2\n00:00:02,100 --> 00:00:03,000\n- I am tired.\n")

    def file(self, name, content):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, name)
        path.write_text(content, encoding="utf-8")
        return str(path)

    def test_warnings_name_the_text(self):
        path = self.file("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nI love it.\n\n2\n00:00:03,000 --> 00:00:04,000\n"
                         "There are 365 days in a year.\n")
        result = run("", path, "--beam-size", "4")
        self.assertIn("Es gibt 365 Tage", result.stdout.decode())
        self.assertIn(b"translate: text 2: the translation of sentence 1 has other numbers", result.stderr)

    def test_a_file_and_standard_input_are_translated_alike(self):
        lines = self.translated("Where is the train station?\nI am tired.\n").splitlines()
        expected = self.SRT.replace("Where is the train station?", lines[0])
        expected = expected.replace("I am tired.", lines[1])
        self.assertEqual(self.translated(self.SRT, "--format", "srt"), expected)
        self.assertEqual(self.translated(self.SRT, "--format", "srt", "-"), expected)
        self.assertEqual(self.translated("", self.file("film.SRT", self.SRT)), expected)
        self.assertEqual(self.translated("", "--format", "srt", self.file("film", self.SRT)),
                         expected)

    def test_a_file_is_cut_into_sentences_as_lines_are(self):
        line = "I love it.   Where is Tom?\n"
        one, two = self.translated("I love it.\nWhere is Tom?\n").splitlines()
        whole = self.translated(line, "--split-sentences", "newlines")
        self.assertNotEqual(whole, f"{one}   {two}\n")
        for split, expected in (("on", f"{one}   {two}\n"), ("newlines", whole), ("off", whole)):
            path = self.file("lines.txt", line)
            self.assertEqual(self.translated("", path, "--split-sentences", split), expected, split)

    def test_a_file_may_have_any_number_of_sentences(self):
        """As standard input may; and it does not take memory for each."""
        flags = ("--max-decoding-length", "2")  # quick
        line = self.translated("No.\n", *flags)
        path = self.file("lines.txt", "No.\n" * 10001)
        self.assertEqual(self.translated("", path, *flags), line * 10001)

    def test_catalogues_are_filled_in_or_translated_again(self):
        content = 'msgid "I am tired."\nmsgstr "X"\n\nmsgid "She is my sister."\nmsgstr ""\n'
        tired, sister = self.translated("I am tired.\nShe is my sister.\n").splitlines()
        path = self.file("de.po", content)
        filled = content.replace('""', f'"{sister}"')
        self.assertEqual(self.translated("", path), filled)
        self.assertEqual(self.translated("", path, "--retranslate"), filled.replace("X", tired))

    def folder(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content, encoding="utf-8")
        return root

    @staticmethod
    def contents(root):
        return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}

    def test_directories_are_translated_with_all_that_is_in_them(self):
        root = self.folder({"in/one.txt": "I am tired.\n", "in/old/two.txt": "She is my sister.\n", "in/old/three.bin": "x",
                            "in/.git/four.txt": "Hidden.\n", "five.txt": "I love it.\n"})
        os.symlink(root / "five.txt", root / "in" / "link.txt")
        tired, sister, love = (line + "\n" for line in self.translated("I am tired.\nShe is my sister.\nI love it.\n").splitlines())
        expected = {"one.txt": tired, "old/two.txt": sister, "five.txt": love}
        result = run("", str(root / "in"), str(root / "five.txt"), "--output-dir", str(root / "new/out"))
        self.assertEqual((result.returncode, result.stdout, complaints(result)),
                         (OK, b"", [b"attentiond translate: 1 files are of no known format"]))
        self.assertEqual(self.contents(root / "new/out"), expected)
        # Once more, into the directory itself, which is not translated.
        for _ in range(2):
            result = run("", str(root / "in"), "--output-dir", str(root / "in/de"))
            self.assertEqual(result.returncode, OK, result.stderr)
            self.assertEqual(self.contents(root / "in/de"), {"one.txt": tired, "old/two.txt": sister})

    def test_a_file_that_fails_is_named_and_the_rest_go_on(self):
        root = self.folder({"a.srt": "x\n", "b.txt": "I am tired.\n", "c.po": "y\n", "out/a.srt": "what was there\n"})
        result = run("", *(str(root / name) for name in ("a.srt", "b.txt", "c.po", "d.txt")), "--output-dir", str(root / "out"))
        self.assertEqual(result.returncode, FAILED)
        said = result.stderr.decode()
        for message in ("a.srt: line 1: ", "c.po: line 1: ", "d.txt: cannot open", "3 of 4 files were not translated"):
            self.assertIn(message, said)
        self.assertEqual(self.contents(root / "out"),
                         {"a.srt": "what was there\n", "b.txt": self.translated("I am tired.\n")})

    def test_no_file_is_written_over_another(self):
        root = self.folder({"a/x.txt": "One.\n", "b/x.txt": "Two.\n"})
        result = run("", str(root / "a/x.txt"), str(root / "b"), "--output-dir", str(root / "out"))
        self.assertEqual((result.returncode, (root / "out").exists()), (USAGE, False))
        self.assertIn(b"would both become", result.stderr)
        result = run("", str(root / "a/x.txt"), "--output-dir", str(root / "a"))
        self.assertEqual((result.returncode, (root / "a/x.txt").read_text()), (USAGE, "One.\n"))
        self.assertIn(b"would take its place", result.stderr)

    def test_output_that_cannot_be_written_leaves_nothing(self):
        root = self.folder({"a.txt": "One.\n", "file": "here\n"})
        result = run("", str(root / "a.txt"), "--output-dir", str(root / "file"))
        self.assertEqual(result.returncode, FAILED)
        self.assertIn(b"1 of 1 files were not translated", result.stderr)
        self.assertEqual(self.contents(root), {"a.txt": "One.\n", "file": "here\n"})

    def test_wrong_use_is_refused(self):
        for flags, code, message in (
                ([__file__], USAGE, "test_translate.py: expected a name that ends in .txt, .srt"),
                (["Hello world"], USAGE, '"Hello world": there is no such file; text comes by a pipe, as in: echo Hello. | '),
                (["Hello", "world"], USAGE, '"Hello": there is no such file; text comes by a pipe'),
                ([str(ROOT / "docs")], USAGE, "docs is a directory: expected --output-dir DIR"),
                (["--output-dir", "x"], USAGE, "--output-dir is for files, and none is named"),
                (["--output-dir", "x", "-", "--format", "srt"], USAGE, "standard input has no name for a file"),
                (["--output-dir", "x", "--format", "srt", str(ROOT / "docs")], USAGE, "--format is for files, and this is a directory"),
                (["--output-dir", "x", __file__], USAGE, "test_translate.py: expected a name that ends in .txt"),
                (["--output-dir", "x", "/nowhere/films"], FAILED, "/nowhere/films: cannot open"),
                (["--format", "doc"], USAGE, '--format is "doc", expected text, srt'),
                (["--json", "film.srt"], USAGE, "--json is for lines, not for a file"),
                (["--retranslate"], USAGE, "--retranslate is for files, not for lines"),
                (["--encoding", "utf-16"], USAGE, "--encoding is for files, not for lines"),
                (["--format", "text", "--encoding", "x"], USAGE, 'encoding is "x", expected'),
                (["a.srt", "b.srt"], USAGE, "2 files: expected --output-dir DIR"),
                (["/nowhere/film.srt"], FAILED, "/nowhere/film.srt: cannot open"),
                (["--format", "srt"], FAILED, "standard input: line 1: \"x\" begins no subtitle"),
                ([self.file("a.po", "x\n")], FAILED, "a.po: line 1: ")):
            with self.subTest(flags):
                result = run("x\n", *flags)
                self.assertEqual((result.returncode, result.stdout), (code, b""))
                self.assertIn(message, result.stderr.decode())


class Bundled(unittest.TestCase):
    def test_its_length_penalty_does_not_make_it_repeat_itself_without_end(self):
        # News, which it does not know. A length penalty of 1.35 filled all 256 tokens.
        news = ("Senator Whitcombe accused the Environmental Protection Agency of withholding documents about "
                "groundwater contamination.",
                "The orchestra's conductor, Benedetta Marchetti, dedicated the encore to refugees from Kharkiv.")
        result = subprocess.run([binary, "translate", "--model", str(BUNDLED)], input="\n".join(news).encode(),
                                capture_output=True, timeout=PATIENCE_S, env=environment())
        self.assertEqual((result.returncode, complaints(result)), (OK, []))
        for source, translation in zip(news, result.stdout.decode().splitlines(), strict=True):
            self.assertLess(len(translation), 3 * len(source), source)

    def test_the_languages_are_those_that_the_directory_says(self):
        # Its attentiond.json alone says that the target is Japanese, which has no blank between two sentences.
        result = subprocess.run([binary, "translate", "--model", str(ROOT / "weights" / "en-ja")], input=b"Hello. How are you?",
                                capture_output=True, timeout=PATIENCE_S, env=environment())
        self.assertEqual((result.returncode, complaints(result)), (OK, []))
        self.assertRegex(result.stdout.decode(), "^[^ ]+。[^ ]+[。？]\n$")


if __name__ == "__main__":
    unittest.main(verbosity=1)
