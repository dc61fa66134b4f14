"""The rules of HACKING.md that a program can check: who includes whom, sizes, headers that stand alone; and links between documents."""

import collections
import os
import pathlib
import platform
import re
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Whom each room may include.
BELOW = {
    "base": [],
    "config": ["base"],
    "weights": ["base"],
    "model": ["base", "weights"],
    "server": ["base", "config", "weights", "model"],
}
# The rooms inside a room, each a folder below it, lowest first. An include may only point to those before it in the list;
# what lies in the room's own folder stands above them all. A room that is not here has no folders of C files.
ROOMS_INSIDE = {
    "model": ["kernels", "tokenizer", "families", "files"],
    "server": ["http", "engine", "text", "data", "inspection", "store", "models", "service", "passages", "documents", "requests", "api", "commands", "pull"],
}
# What a room shows to others; of base, everything.
FRONT_DOORS = {
    "config/settings.h",
    "weights/compressed.h", "weights/ctranslate2.h", "weights/dtype.h", "weights/safetensors.h", "weights/image.h", "weights/marian_bin.h", "weights/npz.h", "weights/pack.h",
    "weights/shards.h", "weights/shortlist.h", "weights/torch.h", "weights/zip.h",
    "model/model.h", "model/sentence.h", "model/batch.h", "model/scratch.h", "model/trace.h", "model/results.h", "model/lens.h", "model/switches.h", "model/kernels/kernels.h",
    "model/tokenizer/tokenizer.h", "model/tokenizer/tokenizer_config.h", "model/files/cache_files.h", "model/files/hparams.h",
    "model/files/import.h", "model/files/positions.h", "model/files/source.h", "model/files/target_vocabulary.h",
    "model/files/tokenizer_files.h",
}
# Only server/ prints and exits; the log is how it does, and a confined process ends itself.
SPEAKS = {"base/log.c", "base/confined.c"}
SPEECH = re.compile(r"(?<![\w.>])(?:v?f?printf|f?puts|putchar|perror|_?exit|abort|mt_log)\(")

# The time of day is for people, certificates, and files that several machines share: it may be set at any moment.
TELLS_THE_TIME = {"base/clock.h", "base/log.c", "server/data/glossaries.c", "server/data/translation_memory.c", "server/service/file_directory.c", "server/service/metrics.c", "server/http/tls.c", "server/pull/staging_commit.c"}
TIME_OF_DAY = re.compile(r"\bCLOCK_(?:REALTIME|TAI)\b|(?<![\w.>])(?:time|gettimeofday|timespec_get|clock|mt_unix_ms)\(")

MOST_FOLDER_FILES = 50
MOST_FILE_LINES = 800
MOST_FUNCTION_LINES = 120
LONG_FUNCTION_LINES = 60  # of which there is at most one in ten

# The only files beyond MOST_BLOB_BYTES: a clone brings every version of each, for ever.
MOST_BLOB_BYTES = 1 << 20
WEIGHTS = {
    "tests/models/en-de/model.safetensors",
    "weights/en-de/model.safetensors",
    "weights/en-fr/model.safetensors",
    "weights/en-ja/model.bin",
}

# Directories that mean the same on every machine: a checkout may lie in one, files may name them.
COMMON = {"/", "/tmp", "/usr", "/usr/src", "/var", "/opt", "/srv", "/mnt", "/home", "/root", "/src", "/build"}

# What is made here and is no part of the source, as .gitignore has it; a tarball has neither it nor git.
MADE_FOLDERS = {".git", "node_modules", "__pycache__"}
MADE_ENDINGS = {".o", ".tmp"}

# Some headers there are for files that are compiled for an instruction set; this one has them all.
KERNELS = "model/kernels/"
KERNEL_FLAGS = ["-march=sapphirerapids"]


def sources(*suffixes, rooms=tuple(BELOW)):
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix in suffixes and path.is_file() and "node_modules" not in path.parts:
                yield path.relative_to(ROOT).as_posix()


def all_files():
    """Every file of the source, whatever it is, in a checkout or an unpacked tarball."""
    for folder, folders, names in os.walk(ROOT):
        at_root = pathlib.Path(folder) == ROOT
        folders[:] = sorted(name for name in folders if name not in MADE_FOLDERS and not (at_root and name == "build"))
        for name in sorted(names):
            path = pathlib.Path(folder, name)
            if path.suffix not in MADE_ENDINGS and name not in MADE_FOLDERS and path.is_file():
                yield path.relative_to(ROOT).as_posix()


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def without_comments(code):
    """Comments and string contents blanked out, line numbers kept."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
    return pattern.sub(lambda m: '""' if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), code)


def includes(code):
    for number, line in enumerate(code.splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s+"([^"]+)"', line):
            yield number, match[1]


def floor(path):
    """How high a file's inner room stands in its room; -1: it is in none that is known."""
    room, *folders, _ = path.split("/")
    inside = ROOMS_INSIDE.get(room, [])
    if not folders:
        return len(inside)
    return inside.index(folders[0]) if folders[0] in inside else -1


def wrong_includes(path, code):
    """What is wrong with the includes of a file, if code is what it holds."""
    room = path.split("/")[0]
    if floor(path) < 0:
        yield f"{path}: its folder is not in ROOMS_INSIDE"
    for number, target in includes(code):
        other = target.split("/")[0]
        if other not in BELOW:
            yield f"{path}:{number}: \"{target}\" is not written from the repository's root"
        elif other != room and other not in BELOW[room]:
            yield f"{path}:{number}: {room} must not know {other}"
        elif other == room and floor(target) > floor(path):
            yield f"{path}:{number}: {target} stands higher: {os.path.dirname(path)} must not know {os.path.dirname(target)}"
        elif other not in (room, "base") and target not in FRONT_DOORS:
            yield f"{path}:{number}: {target} is no front door of {other}"


def functions(path):
    """(name, lines) of each function: a '{' alone at the left margin to the next '}' there."""
    lines = text(path).splitlines()
    begin = None
    for number, line in enumerate(lines):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            head = " ".join(lines[max(0, begin - 6):begin])
            names = re.findall(r"(\w+)\(", head)
            yield names[-1] if names else "?", number - begin + 1
            begin = None


def without_code(page):
    """A document without its blocks and spans of code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", page, flags=re.M | re.S))


def anchors(page):
    """What the headings of a document are called in links to them, as GitHub has it."""
    headings = re.findall(r"^#+ (.*)", re.sub(r"^```.*?^```", "", page, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Lint(unittest.TestCase):
    def test_there_is_something_to_check(self):
        self.assertGreater(len(list(sources(".c"))), 40)

    def test_includes_follow_the_order_of_the_rooms(self):
        self.assertEqual([wrong for path in sources(".c", ".h", ".cc") for wrong in wrong_includes(path, text(path))], [])

    def test_front_doors_are_there(self):
        self.assertEqual([door for door in sorted(FRONT_DOORS) if not (ROOT / door).is_file()], [])

    def test_an_include_that_points_up_is_found(self):
        for path, target, complaint in [
            ("model/tokenizer/vocab.c", "model/files/source.h", "model/tokenizer must not know model/files"),
            ("model/tokenizer/vocab.c", "model/families/foreign.h", "model/tokenizer must not know model/families"),
            ("model/kernels/kernels.h", "model/tokenizer/vocab.h", "model/kernels must not know model/tokenizer"),
            ("model/files/bind.c", "model/encoder.h", "model/files must not know model"),
            ("server/http/reply.c", "server/requests/handler.h", "server/http must not know server/requests"),
            ("server/text/splitter.c", "server/api/outcome.h", "server/text must not know server/api"),
            ("server/models/catalog.h", "server/commands/cli.h", "server/models must not know server/commands"),
            ("model/encoder.c", "server/http/reply.h", "model must not know server"),
            ("weights/pack.c", "model/kernels/kernels.h", "weights must not know model"),
            ("server/main.c", "model/files/bind.h", "no front door of model"),
            ("model/encoder.c", "layers.h", "not written from the repository's root"),
        ]:
            with self.subTest(path=path, target=target):
                code = text(path)
                self.assertEqual(list(wrong_includes(path, code)), [])
                found = list(wrong_includes(path, f'{code}#include "{target}"\n'))
                self.assertEqual(len(found), 1)
                self.assertIn(f"{path}:{code.count(chr(10)) + 1}: ", found[0])
                self.assertIn(complaint, found[0])

    def test_an_include_that_points_down_is_not(self):
        self.assertEqual(list(wrong_includes("model/files/bind.c", '#include "model/kernels/cpu.h"')), [])
        self.assertEqual(list(wrong_includes("model/encoder.c", '#include "model/files/bind.h"')), [])

    def test_a_room_inside_must_have_its_place(self):
        self.assertEqual(len(list(wrong_includes("model/attic/trunk.c", ""))), 1)
        for room, inside in ROOMS_INSIDE.items():
            for folder in inside:
                self.assertNotEqual(list((ROOT / room / folder).glob("*.h")), [], f"{room}/{folder}")

    def test_folders_are_of_readable_size(self):
        files = collections.Counter(os.path.dirname(path) for path in sources(".c", ".h", ".cc", rooms=(*BELOW, "tests")))
        self.assertEqual([f"{folder}: {n} files of C" for folder, n in sorted(files.items())
                          if n > MOST_FOLDER_FILES], [])

    def test_only_weights_are_large(self):
        large = {path for path in all_files() if (ROOT / path).stat().st_size > MOST_BLOB_BYTES}
        self.assertEqual(large, WEIGHTS, f"files of more than {MOST_BLOB_BYTES} bytes; what is larger is made by a script, or named here")

    def test_no_source_file_is_included(self):
        wrong = [f"{path}:{number}: {target}" for path in sources(".c", ".h", ".cc", rooms=(*BELOW, "tests"))
                 for number, target in includes(text(path)) if not target.endswith(".h")]
        self.assertEqual(wrong, [])

    def test_only_the_server_prints_logs_and_exits(self):
        wrong = []
        for path in sources(".c", ".cc", rooms=("base", "config", "weights", "model")):
            if path in SPEAKS:
                continue
            for number, line in enumerate(without_comments(text(path)).splitlines(), 1):
                if match := SPEECH.search(line):
                    wrong.append(f"{path}:{number}: {match[0]}")
        self.assertEqual(wrong, [])

    def test_deadlines_are_of_a_clock_that_is_never_set(self):
        for path in sources(".c", ".h", ".cc"):
            code = without_comments(text(path))
            if path not in TELLS_THE_TIME:
                self.assertIsNone(TIME_OF_DAY.search(code), f"{path}: see base/clock.h")
            if "_timedwait(" in code:
                self.assertIn("_setclock(", code, f"{path} waits by the time of day")
            self.assertNotRegex(code, r"\b(?:pthread_mutex_timedlock|sem_timedwait|mtx_timedlock|cnd_timedwait)\(", path)

    def test_files_and_functions_are_of_readable_size(self):
        wrong, lengths = [], []
        for path in sources(".c", ".h", ".cc", ".js", ".css", ".py", rooms=(*BELOW, "tests")):
            n_lines = len(text(path).splitlines())
            if n_lines > MOST_FILE_LINES:
                wrong.append(f"{path}: {n_lines} lines")
        for path in sources(".c", ".h", ".cc"):
            for name, length in functions(path):
                lengths.append(length)
                if length > MOST_FUNCTION_LINES:
                    wrong.append(f"{path}: {name} has {length} lines")
        self.assertEqual(wrong, [])
        self.assertGreater(len(lengths), 200)
        self.assertLess(sum(length > LONG_FUNCTION_LINES for length in lengths), len(lengths) / 10)

    def test_no_file_names_a_place_on_the_author_s_machine(self):
        here = [re.escape(f"{place}/") for place in map(str, (ROOT, ROOT.parent)) if place not in COMMON]
        places = re.compile("|".join([r"(?<![\w.])/(?:home|Users)/\w", *here]))
        wrong = []
        for path in all_files():
            content = (ROOT / path).read_bytes()
            if b"\0" in content:
                continue
            for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
                if match := places.search(line):
                    wrong.append(f"{path}:{number}: {match[0]}")
        self.assertEqual(wrong, [])

    def test_links_between_documents_lead_somewhere(self):
        pages = [path for path in all_files() if path.endswith(".md")]
        self.assertIn("docs/settings.md", pages)
        wrong = []
        for page in pages:
            for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text(page))):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, heading = target.partition("#")
                there = (ROOT / page).parent / path if path else ROOT / page
                if not there.exists() or heading and heading not in anchors(there.read_text(encoding="utf-8")):
                    wrong.append(f"{page}: {target}")
        self.assertEqual(wrong, [])

    def test_there_is_one_version(self):
        places = {
            "meson.build": r"(?m)^  version: '(.*)'",
            "packaging/kubernetes/kustomization.yaml": r'newTag: "(.*)"',
            "NEWS.md": r"(?m)^## (\S+)",
        }
        found = {path: re.search(pattern, text(path))[1] for path, pattern in places.items()}
        self.assertEqual(len(set(found.values())), 1, found)

    def test_every_header_compiles_alone(self):
        is_x86 = platform.machine() == "x86_64"

        def compile_alone(path):
            command = ["cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-I.", "-x", "c", "-fsyntax-only"]
            # As a second include, so that no main file is a header and guards are proven too.
            unit = f'#include "{path}"\n#include "{path}"\n'
            flags = KERNEL_FLAGS if is_x86 and path.startswith(KERNELS) else []
            return subprocess.run([*command, *flags, "-"], input=unit, cwd=ROOT, capture_output=True, text=True).stderr

        headers = list(sources(".h"))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            problems = [f"{path}: {problem}" for path, problem in zip(headers, pool.map(compile_alone, headers)) if problem]
        self.assertEqual(problems, [])


if __name__ == "__main__":
    unittest.main()
