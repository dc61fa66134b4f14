"""attentiond inspect: every format read back by an independent reader, against each other and
against the reference's attention.

python3 tests/cli/test_inspect.py BINARY [unittest arguments]
"""

import base64
import fcntl
import json
import math
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "models" / "en-de"
DATA = ROOT / "tests" / "parity" / "data"
OK, FAILED, USAGE = 0, 1, 2
TEXT = "Where is the train station?"
TWO = "Tom said hello.  How are you?"
KINDS = ["--kinds", "cross,encoder,decoder"]

sys.path.insert(0, str(ROOT / "tests"))
from readers import Array, read_npy, read_png, read_safetensors  # noqa: E402

binary = sys.argv.pop(1)


def clean(environment):
    return {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")} | environment


def run(*arguments, stdin=b"", verb="inspect", **environment):
    return subprocess.run([binary, verb, "--model", str(MODEL), *map(str, arguments)], input=stdin,
                          capture_output=True, timeout=120, env=clean(environment))


def inspect(*arguments, **options):
    result = run(*arguments, **options)
    assert result.returncode == OK, result.stderr.decode()
    assert result.stderr == b"", result.stderr
    return result.stdout


def inspect_json(*arguments, **options):
    return json.loads(inspect("--format", "json", *arguments, **options))


class Json(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.full = inspect_json(*KINDS, "--decimals", 7, "--next-tokens", 3, TWO)

    def test_tokens_tell_their_place_in_bytes_code_points_and_utf16(self):
        text = "Tom 😀 möchte — é."
        reply = inspect_json(text)
        for side, tokens in (("source", "source_tokens"), ("target", "output_tokens")):
            whole = reply[side + "_text"]
            in_bytes, in_utf16 = whole.encode(), whole.encode("utf-16-le")
            for sentence in reply["sentences"]:
                for token in sentence[tokens]:
                    part = whole[token["begin_char"]:token["end_char"]]
                    self.assertEqual(in_bytes[token["begin"]:token["end"]].decode(), part)
                    units = in_utf16[2 * token["begin_utf16"]:2 * token["end_utf16"]]
                    self.assertEqual(units.decode("utf-16-le"), part)
                    if token["special"]:
                        self.assertEqual(part, "")

    def test_sentences_lie_where_they_say(self):
        reply = self.full
        self.assertEqual([s["source"]["text"] for s in reply["sentences"]],
                         ["Tom said hello.", "How are you?"])
        for sentence in reply["sentences"]:
            for side in ("source", "target"):
                part = sentence[side]
                self.assertEqual(reply[side + "_text"][part["begin_char"]:part["end_char"]],
                                 part["text"])

    def test_rows_are_steps(self):
        for sentence in self.full["sentences"]:
            read = [token["id"] for token in sentence["decoder_input_tokens"]]
            wrote = [token["id"] for token in sentence["output_tokens"]]
            self.assertEqual(read[1:], wrote[:-1])
            self.assertEqual(sentence["decoder_input_tokens"][0]["piece"], "<pad>")
            self.assertEqual(sentence["output_tokens"][-1]["piece"], "</s>")
            self.assertEqual(len(sentence["alignment"]["matrix"]), len(wrote))

    def test_shapes_are_layer_head_row_column(self):
        model = self.full["model"]
        for sentence in self.full["sentences"]:
            s, t = len(sentence["source_tokens"]), len(sentence["output_tokens"])
            expected = {"cross": (model["layers_dec"], model["heads"], t, s),
                        "decoder": (model["layers_dec"], model["heads"], t, t),
                        "encoder": (model["layers_enc"], model["heads_enc"], s, s)}
            for kind, shape in expected.items():
                self.assertEqual(Array.of_lists(sentence[kind]).shape, shape)

    def test_rows_sum_to_1_and_the_future_is_0(self):
        for sentence in self.full["sentences"]:
            matrices = [sentence["alignment"]["matrix"]]
            for kind in ("cross", "encoder", "decoder"):
                matrices += [head for layer in sentence[kind] for head in layer]
            for matrix in matrices:
                for row in matrix:
                    self.assertAlmostEqual(sum(row), 1, delta=1e-5)
            for layer in sentence["decoder"]:
                for head in layer:
                    for t, row in enumerate(head):
                        self.assertEqual(row[t + 1:], [0] * (len(row) - t - 1))

    def test_the_alignment_is_the_mean_of_the_heads_that_it_names(self):
        for sentence in self.full["sentences"]:
            alignment, cross = sentence["alignment"], sentence["cross"]
            pairs = [(l, h) for l in alignment["layers"] for h in alignment["heads"]]
            for t, row in enumerate(alignment["matrix"]):
                for s, weight in enumerate(row):
                    mean = sum(cross[l][h][t][s] for l, h in pairs) / len(pairs)
                    self.assertAlmostEqual(weight, mean, delta=2e-6)

    def test_links_take_the_largest_weight_of_ordinary_tokens(self):
        for sentence in self.full["sentences"]:
            links = []
            for t, row in enumerate(sentence["alignment"]["matrix"]):
                if sentence["output_tokens"][t]["special"]:
                    continue
                ordinary = [s for s, token in enumerate(sentence["source_tokens"])
                            if not token["special"]]
                links.append((max(ordinary, key=lambda s: row[s]), t))
            self.assertEqual(sentence["alignment"]["hard"],
                             " ".join(f"{s}-{t}" for s, t in sorted(links)))

    def test_the_model_links_what_belongs_together(self):
        sentence = inspect_json(TEXT)["sentences"][0]
        links = {tuple(map(int, pair.split("-"))) for pair in sentence["alignment"]["hard"].split()}
        words = {(sentence["source_tokens"][s]["piece"], sentence["output_tokens"][t]["piece"])
                 for s, t in links}
        self.assertLessEqual({("▁Where", "▁Wo"), ("▁is", "▁ist"), ("▁train", "▁Bahnhof")}, words)

    def test_next_tokens_are_probabilities_with_the_token_that_was_written(self):
        for sentence in inspect_json("--beam-size", 1, "--next-tokens", 5, TEXT)["sentences"]:
            for token, step in zip(sentence["output_tokens"], sentence["next_tokens"]):
                logprobs = [candidate["logprob"] for candidate in step["top"]]
                self.assertEqual(len(logprobs), 5)
                self.assertEqual(logprobs, sorted(logprobs, reverse=True))
                self.assertEqual(step["top"][0]["id"], token["id"])
                self.assertAlmostEqual(logprobs[0], token["logprob"], delta=1e-4)
                known = -sum(math.exp(p) * p for p in logprobs)
                self.assertGreater(step["entropy"], known - 1e-4)
                self.assertLess(step["entropy"], math.log(8001))

    def test_the_search_tree_leads_to_the_translation(self):
        for beam_size in (1, 3):
            reply = inspect_json("--search", "--beam-size", beam_size, "--length-penalty", 0, TEXT)
            sentence = reply["sentences"][0]
            steps, finished = sentence["search"], []
            for number, step in enumerate(steps):
                self.assertLessEqual(len(step), 2 * beam_size)
                kept = [c["next"] for c in step if c["fate"] == "kept"]
                self.assertEqual(kept, list(range(len(kept))))
                self.assertLessEqual(len(kept), beam_size)
                sums = [c["sum"] for c in step]
                self.assertEqual(sums, sorted(sums, reverse=True))
                for c in step:
                    path, before = [c], number
                    while before > 0:
                        before -= 1
                        (parent,) = [p for p in steps[before] if p.get("next") == path[0]["beam"]]
                        path.insert(0, parent)
                    self.assertAlmostEqual(c["sum"], sum(p["logprob"] for p in path), delta=1e-4)
                    if c["fate"] == "finished":
                        finished.append((c["sum"], [p["id"] for p in path]))
            found = [token["id"] for token in sentence["output_tokens"]]
            self.assertEqual(max(finished)[1], found)

    def test_reducing_is_averaging(self):
        full = self.full["sentences"][0]["cross"]
        n_layers, n_heads = len(full), len(full[0])
        by_layer = inspect_json("--kinds", "cross", "--reduce", "heads", "--decimals", 7, TWO)
        by_head = inspect_json("--kinds", "cross", "--reduce", "layers", "--decimals", 7, TWO)
        one = inspect_json("--kinds", "cross", "--reduce", "all", "--decimals", 7, TWO)
        for t in range(len(full[0][0])):
            for s in range(len(full[0][0][0])):
                rows = [[full[l][h][t][s] for h in range(n_heads)] for l in range(n_layers)]
                for l in range(n_layers):
                    self.assertAlmostEqual(by_layer["sentences"][0]["cross"][l][t][s],
                                           sum(rows[l]) / n_heads, delta=2e-6)
                for h in range(n_heads):
                    self.assertAlmostEqual(by_head["sentences"][0]["cross"][h][t][s],
                                           sum(row[h] for row in rows) / n_layers, delta=2e-6)
                self.assertAlmostEqual(one["sentences"][0]["cross"][t][s],
                                       sum(map(sum, rows)) / n_heads / n_layers, delta=2e-6)

    def test_chosen_layers_and_heads_are_those(self):
        full = self.full["sentences"][1]["cross"]
        some = inspect_json("--kinds", "cross", "--layers", "-1,0", "--heads", "5", "--decimals", 7,
                            TWO)
        self.assertEqual(some["sentences"][1]["cross"], [[full[-1][5]], [full[0][5]]])
        self.assertEqual(some["tensors"]["cross"], {"layers": [2, 0], "heads": [5], "reduce": "none"})


class Traces(unittest.TestCase):
    def test_inspecting_changes_no_translation(self):
        with open(DATA / "dev.greedy.jsonl", encoding="utf-8") as file:
            lines = [json.loads(line)["source"] for line in file][:40]
        plain = run("--json", "--beam-size", 4, verb="translate", stdin="\n".join(lines).encode())
        expected = [json.loads(line)["output_ids"] for line in plain.stdout.splitlines()]
        for line, ids in zip(lines, expected):
            reply = inspect_json("--beam-size", 4, "--split-sentences", "off", "--next-tokens", 2,
                                 *KINDS, line)
            self.assertEqual([t["id"] for t in reply["sentences"][0]["output_tokens"]], ids, line)

    def test_attention_is_the_references(self):
        for path in sorted((DATA / "attention").glob("*.safetensors")):
            reference, metadata = read_safetensors(path.read_bytes())
            if path.stem == "2":  # its text is cut into other tokens: see tests/http/test_attention.py
                continue
            for precision, tolerance in (("fp32", 1e-4),):
                found, _ = read_safetensors(inspect(
                    "--precision", precision, "--split-sentences", "off", "--format", "safetensors",
                    "--target-text", metadata["target_text"], *KINDS, metadata["text"]))
                self.assertEqual(found["sentences.0.source_ids"].numbers,
                                 reference["input_ids"].numbers)
                self.assertEqual(found["sentences.0.output_ids"].numbers,
                                 reference["labels"].numbers)
                for kind in ("cross", "encoder", "decoder"):
                    distance = found[f"sentences.0.{kind}"].distance(reference[kind + "_attentions"])
                    self.assertLessEqual(distance, tolerance, (path.name, kind, precision))


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.json = inspect_json(*KINDS, "--decimals", 9, TEXT)
        cls.sentence = cls.json["sentences"][0]

    def test_safetensors(self):
        tensors, metadata = read_safetensors(inspect("--format", "safetensors", *KINDS, TEXT))
        for kind in ("cross", "encoder", "decoder"):
            self.assertLess(tensors[f"sentences.0.{kind}"].distance(Array.of_lists(self.sentence[kind])),
                            1e-8)
        self.assertLess(tensors["sentences.0.alignment"].distance(
            Array.of_lists(self.sentence["alignment"]["matrix"])), 1e-8)
        self.assertEqual(tensors["sentences.0.output_ids"].numbers,
                         [token["id"] for token in self.sentence["output_tokens"]])
        self.assertEqual(json.loads(metadata["sentences.0.source_tokens"]),
                         [token["piece"] for token in self.sentence["source_tokens"]])
        self.assertEqual(metadata["target_text"], self.json["target_text"])

    def test_npy(self):
        alignment = read_npy(inspect("--format", "npy", TEXT))
        self.assertLess(alignment.distance(Array.of_lists(self.sentence["alignment"]["matrix"])), 1e-8)
        encoder = read_npy(inspect("--format", "npy", "--kinds", "encoder", TEXT))
        self.assertLess(encoder.distance(Array.of_lists(self.sentence["encoder"])), 1e-8)

    def test_pharaoh(self):
        expected = [s["alignment"]["hard"] for s in inspect_json(TWO)["sentences"]]
        self.assertEqual(inspect("--format", "pharaoh", TWO).decode().splitlines(), expected)

    def test_soft(self):
        (line,) = inspect("--format", "soft", TEXT).decode().splitlines()
        rows = [[float(p) for p in group.split(",")] for group in line.split(" ")]
        self.assertLess(Array.of_lists(rows).distance(
            Array.of_lists(self.sentence["alignment"]["matrix"])), 1e-6)

    def test_bertviz_passes_the_checks_of_its_viewer(self):
        params = json.loads(inspect("--format", "bertviz", TEXT))
        self.assertEqual([a["name"] for a in params["attention"]], ["Encoder", "Decoder", "Cross"])
        self.assertLess(int(params["default_filter"]), len(params["attention"]))
        for attention in params["attention"]:
            layers = Array.of_lists(attention["attn"])
            self.assertEqual(layers.shape[0], len(params["include_layers"]))
            self.assertEqual(layers.shape[1], params["total_heads"])
            self.assertEqual(layers.shape[2], len(attention["left_text"]))
            self.assertEqual(layers.shape[3], len(attention["right_text"]))
        self.assertEqual(params["attention"][2]["left_text"][0], "▁Wo")
        self.assertEqual(params["attention"][2]["right_text"][0], "▁Where")

    def test_inseq_holds_the_transposed_arrays(self):
        def array(node):
            self.assertEqual(node["dtype"], "float32")
            numbers = base64.b64decode(node["__ndarray__"].removeprefix("b64:"), validate=True)
            return Array(node["shape"], list(struct.unpack(f"<{len(numbers) // 4}f", numbers)))

        saved = json.loads(inspect("--format", "inseq", TEXT))
        self.assertEqual(saved["__instance_type__"],
                         ["inseq.data.attribution", "FeatureAttributionOutput"])
        sequence = saved["attributes"]["sequence_attributions"][0]["attributes"]
        tokens = [t["attributes"]["token"] for t in sequence["source"]]
        self.assertEqual(tokens, [t["piece"] for t in self.sentence["source_tokens"]])
        source = array(sequence["source_attributions"])
        target = array(sequence["target_attributions"])
        encoder = array(sequence["sequence_scores"]["encoder_self_attentions"])
        cross = Array.of_lists(self.sentence["cross"])
        decoder = Array.of_lists(self.sentence["decoder"])
        n_layers, n_heads, n_steps, n_source = cross.shape
        self.assertEqual(source.shape, (n_source, n_steps, n_layers, n_heads))
        self.assertEqual(encoder.shape[:2], (n_source, n_source))
        for l in range(n_layers):
            for h in range(n_heads):
                for t in range(n_steps):
                    for s in range(n_source):
                        self.assertAlmostEqual(source[s, t, l, h], cross[l, h, t, s], delta=1e-8)
                    for j in range(n_steps):
                        if j + 1 <= t:
                            self.assertAlmostEqual(target[j, t, l, h], decoder[l, h, t, j + 1],
                                                   delta=1e-8)
                        else:
                            self.assertTrue(math.isnan(target[j, t, l, h]))
        probabilities = array(sequence["step_scores"]["probability"])
        for probability, token in zip(probabilities.numbers, self.sentence["output_tokens"]):
            self.assertAlmostEqual(probability, math.exp(token["logprob"]), delta=1e-5)

    def test_svg_is_well_formed_and_names_the_tokens(self):
        for arguments in ([TEXT], [*KINDS, TEXT], [TWO], ["--kinds", "cross", "--reduce", "heads", TEXT]):
            root = xml.etree.ElementTree.fromstring(inspect("--format", "svg", *arguments))
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        root = xml.etree.ElementTree.fromstring(inspect("--format", "svg", TEXT))
        texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        for token in self.sentence["source_tokens"] + self.sentence["output_tokens"]:
            self.assertIn(token["piece"].replace("▁", ""), texts)

    def test_png_is_darkest_where_the_weight_is_largest(self):
        width, height, rows = read_png(inspect("--format", "png", TEXT))
        svg = xml.etree.ElementTree.fromstring(inspect("--format", "svg", TEXT))
        self.assertEqual((int(svg.get("width")), int(svg.get("height"))), (width, height))
        matrix = self.sentence["alignment"]["matrix"]
        weight, t, s = max((w, t, s) for t, row in enumerate(matrix) for s, w in enumerate(row))
        cells = [tuple(map(int, re.match(r"M(\d+) (\d+)h(\d+)v(\d+)", node.get("d")).groups()))
                 for node in svg.iter("{http://www.w3.org/2000/svg}path")]
        frame_top = cells[1]  # behind the background: one pixel around the matrix
        cell = (frame_top[2] - 2) // len(matrix[0])
        x, y = frame_top[0] + 1 + s * cell, frame_top[1] + 1 + t * cell
        self.assertEqual(rows[y + cell // 2][x + cell // 2], (8, 34, 82))
        inside = [rows[frame_top[1] + 1 + i * cell + 1][frame_top[0] + 1 + j * cell + 1]
                  for i in range(len(matrix)) for j in range(len(matrix[0]))]
        self.assertEqual(inside.count((8, 34, 82)), 1)

    def test_files_get_the_format_of_their_name(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, begin in (("a.json", b'{"model"'), ("a.bertviz.json", b'{"attention"'),
                                ("a.svg", b"<svg"), ("a.png", b"\x89PNG"), ("a.npy", b"\x93NUMPY"),
                                ("a.pharaoh", b"0-")):
                path = pathlib.Path(folder, name)
                self.assertEqual(inspect("--out", path, TEXT), b"")
                self.assertTrue(path.read_bytes().startswith(begin), name)


def pseudo_terminal():
    try:
        return pty.openpty()
    except OSError as error:  # a chroot without /dev/pts
        raise unittest.SkipTest(f"there are no pseudo-terminals: {error}") from None


class Terminal(unittest.TestCase):
    def on_a_terminal(self, *arguments, columns=0, **environment):
        """What comes out at the other end of a pseudo-terminal; 0 columns: it does not say."""
        leader, follower = pseudo_terminal()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
        process = subprocess.Popen([binary, "inspect", "--model", str(MODEL), *arguments],
                                   stdout=follower, stdin=subprocess.DEVNULL,
                                   env=clean({"TERM": "xterm-256color", "NO_COLOR": ""} | environment))
        os.close(follower)
        out = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:
                break
            if not piece:
                break
            out += piece
        os.close(leader)
        self.assertEqual(process.wait(timeout=60), OK)
        return out.decode().replace("\r\n", "\n")

    def test_a_pipe_gets_percent(self):
        lines = inspect(TEXT).decode().splitlines()
        self.assertEqual(lines[:2], [TEXT, "Wo ist der Bahnhof?"])
        sentence = inspect_json(TEXT)["sentences"][0]
        (line,) = [line for line in lines if "▁Bahnhof" in line]
        row = sentence["alignment"]["matrix"][3]
        self.assertEqual([int(p) for p in line.split()[1:]], [round(100 * w) for w in row])

    def test_a_terminal_gets_24_bit_colour(self):
        out = self.on_a_terminal(TEXT)
        self.assertRegex(out, r"▁Bahnhof (\x1b\[48;2;\d+;\d+;\d+m  ){7}\x1b\[0m\n")

    def test_wide_matrices_are_cut_where_the_terminal_ends(self):
        """7 columns of 2, behind a label of 9 and a blank: 14 columns hold two of them."""
        out = self.on_a_terminal(TEXT, columns=14)
        rows = re.findall(r"▁Bahnhof ((?:\x1b\[48;2;\d+;\d+;\d+m  )+)\x1b\[0m\n", out)
        self.assertEqual([row.count("\x1b") for row in rows], [2, 2, 2, 1])
        whole = re.search(r"▁Bahnhof ((?:\x1b\[48;2;\d+;\d+;\d+m  )+)", self.on_a_terminal(TEXT, columns=200))[1]
        self.assertEqual("".join(rows), whole)

    def test_next_tokens_and_the_search_stand_below(self):
        flags = ["--next-tokens", 2, "--search", "--decimals", 7, TEXT]
        sentence = inspect_json(*flags)["sentences"][0]
        steps = [step["top"] for step in sentence["next_tokens"]]
        lines = inspect(*flags).decode().splitlines()
        at = lines.index("most probable next tokens, and the entropy in nats")
        for line, step in zip(lines[at + 1:], steps):
            entropy, *rest = re.search(r" (\d+\.\d\d)  (\S+) (\d+)% (\S+) (\d+)%$", line).groups()
            self.assertEqual([rest[0], rest[2]], [candidate["piece"] for candidate in step])
            self.assertEqual([int(rest[1]), int(rest[3])],
                             [round(100 * math.exp(candidate["logprob"])) for candidate in step])
        self.assertEqual(len(steps), lines.index("", at) - at - 1)
        at = lines.index("search: step, beam > beam, token, its log-probability, their sum")
        wanted = sum(len(step) for step in sentence["search"])
        self.assertEqual(len(lines[at + 1:lines.index("", at)]), wanted)
        self.assertTrue(any(re.match(r" *\d+  \d end  </s> ", line) for line in lines[at:]), lines[at:])

    def test_no_color_and_dumb_terminals_are_respected(self):
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            out = self.on_a_terminal(TEXT, **environment)
            self.assertNotIn("\x1b", out)
            self.assertIn("percent", out)

    def test_binary_formats_are_kept_from_a_terminal(self):
        leader, follower = pseudo_terminal()
        result = subprocess.run([binary, "inspect", "--model", str(MODEL), "--format", "png", TEXT],
                                stdout=follower, stderr=subprocess.PIPE, env=clean({}))
        os.close(follower)
        os.close(leader)
        self.assertEqual(result.returncode, USAGE)
        self.assertIn(b"not to a terminal", result.stderr)


class Positions(unittest.TestCase):
    def test_both_layouts_are_the_papers_formula(self):
        for layout in ("concatenated", "interleaved"):
            reply = inspect_json("--positions", 40, "--layout", layout)
            self.assertEqual((reply["n"], reply["d_model"], reply["layout"]), (40, 256, layout))
            for t, row in enumerate(reply["matrix"]):
                for i in range(128):
                    angle = t / 10000 ** (2 * i / 256)
                    sine, cosine = (i, 128 + i) if layout == "concatenated" else (2 * i, 2 * i + 1)
                    self.assertAlmostEqual(row[sine], math.sin(angle), delta=1e-6)
                    self.assertAlmostEqual(row[cosine], math.cos(angle), delta=1e-6)

    def test_the_models_layout_is_the_default(self):
        self.assertEqual(inspect_json("--positions", 1)["layout"], "concatenated")

    def test_pictures_and_npy(self):
        self.assertEqual(read_npy(inspect("--positions", 10, "--format", "npy")).shape, (10, 256))
        read_png(inspect("--positions", 10, "--format", "png"))
        xml.etree.ElementTree.fromstring(inspect("--positions", 10, "--format", "svg"))


class Heads(unittest.TestCase):
    def find(self, content):
        with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            return run("--find-alignment-heads", file.name)

    def test_gold_links_of_another_form_are_named_with_their_line(self):
        good = "We sing .\tWir singen .\t0-0 1-1 2-2\n"
        for bad, expected in (
            ("a\tb\t0-7\n", "line 2: alignment: found 0-7, but there are 1 words in the source and 1 in the translation"),
            ("a\tb\t0:0\n", 'line 2: alignment: found "0:0", expected pairs like 0-0'),
            ("a\tb\n", "line 2: expected a source, a TAB, its translation, a TAB and links"),
            ("\tb\t0-0\n", "line 2: expected a source"),
        ):
            with self.subTest(bad=bad), tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as file:
                file.write(good + bad)
                file.flush()
                result = run("--gold", file.name)
                self.assertNotEqual(result.returncode, OK)
                self.assertIn(expected, result.stderr.decode())
                self.assertEqual(result.stdout, b"")
                self.assertIn(b"numbers, 1000 allowed", run("--gold", file.name, "--max-attention-values", "1000").stderr)

    def test_the_best_heads_come_as_flags_that_work(self):
        with open(DATA / "dev.greedy.jsonl", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file][:60]
        result = self.find("".join(f"{l['source']}\t{l['text']}\n" for l in lines))
        self.assertEqual(result.returncode, OK, result.stderr)
        report = result.stdout.decode()
        flags = re.search(r"^--alignment-layers .*$", report, re.M)[0].split()
        score = float(re.search(r"right for ([\d.]+)%", report)[1])
        self.assertGreater(score, 40)
        sentence = inspect_json(*flags, TEXT)["sentences"][0]
        found = json.loads("{" + re.search(r'^"alignment": .*$', report, re.M)[0] + "}")["alignment"]
        for key, value in found.items():
            self.assertEqual(sentence["alignment"][key], value)

    def test_known_links_count(self):
        result = self.find("The dog sleeps.\tDer Hund schläft.\t0-0 1-1 2-2\n")
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertRegex(result.stdout.decode(), r"of [1-9]\d* known links, 0 anchors")

    def test_broken_samples_are_refused_with_their_line(self):
        result = self.find("A.\tB.\nThe dog.\tDer Hund.\t0:0\n")
        self.assertEqual(result.returncode, USAGE)
        self.assertRegex(result.stderr.decode(), r"line 2: alignment: found \"0:0\"")
        self.assertEqual(self.find("").returncode, USAGE)


class Refusals(unittest.TestCase):
    def refused(self, code, pattern, *arguments, **options):
        result = run(*arguments, **options)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, code, message)
        self.assertRegex(message, pattern)
        self.assertNotRegex(message, "(?i)sanitizer|runtime error|assertion")

    def test_wrong_words_are_answered_with_the_right_ones(self):
        for pattern, *arguments in (
                (r"format: found \"xml\", expected json", "--format", "xml"),
                (r"--kinds: found \"croos\", expected one of cross, encoder, decoder", "--kinds", "croos"),
                (r"--layers: found \"a\", expected numbers", "--layers", "a"),
                (r"--reduce: found \"some\"", "--reduce", "some"),
                (r"layer 3: cross attention has 3 layers", "--kinds", "cross", "--layers", "3"),
                (r"head -9", "--kinds", "cross", "--heads", "-9"),
                (r"alignment: layer 8", "--alignment-layers", "8"),
                (r"alignment_mode: found \"median\"", "--alignment-mode", "median"),
                (r"alignment_shift: found \"left\"", "--alignment-shift", "left"),
                (r"--out x.gif: the name ends in no format", "--out", "x.gif"),
                (r"reduce: format bertviz", "--format", "bertviz", "--reduce", "all"),
                (r"sentence: found 4, but the text has 1 sentences", "--format", "json", "--sentence", "4")):
            with self.subTest(pattern):
                self.refused(USAGE, pattern, *arguments, TEXT)

    def test_texts_are_checked(self):
        self.refused(USAGE, "not UTF-8 at byte 3", stdin=b"Tom\xff")
        self.refused(USAGE, "holds one sentence, and the text has 2", "--format", "npy", TWO)

    def test_blank_texts_have_no_sentences(self):
        self.assertEqual(inspect_json(" ")["sentences"], [])
        self.assertEqual(inspect(" "), b"")

    def test_the_limit_is_named(self):
        self.refused(FAILED, r"about \d+ numbers needed, 100 allowed", "--max-attention-values", "100", TEXT)

    def test_what_cannot_be_written_is_said(self):
        self.refused(FAILED, "cannot write /nowhere/a.svg", "--out", "/nowhere/a.svg", TEXT)
        if pathlib.Path("/dev/full").exists():
            self.refused(FAILED, "cannot write /dev/full: No space", "--out", "/dev/full", "--format", "json",
                         TEXT)
            self.assertTrue(pathlib.Path("/dev/full").exists())


if __name__ == "__main__":
    unittest.main()
