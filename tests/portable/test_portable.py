#!/usr/bin/env python3
"""The program on processors that this machine is not, under qemu's emulation of one program at a time.

At every change: the suites that depend on a processor or on the order of bytes, one of ONE_IN cases of the kernels' check, and a
few lines, whose translations must be those of this machine, to the last bit. With MT_TEST_FULL=1: all unit tests of base/ and
model/, all cases, and fifty lines by the program itself, which .ci/cross then builds whole for 64-bit ARM. On s390x, whose bytes
stand the other way round, model/ alone translates.

Usage: test_portable.py ARCHITECTURE SOURCE_DIR BUILD_DIR; skipped where an emulator or a compiler is missing."""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SKIPPED = 77
IS_FULL = os.environ.get("MT_TEST_FULL") == "1"
# A folder's suites: those of every change, or all where none is named.
UNIT_TESTS = {
    "base": ["file", "real", "size", "text"],
    "model": [],
    "files": [],
    "kernels": [],
    "tokenizer": ["rewrite", "spm_check", "vocab"],
}
CHECK = "tests/kernels/check_kernels"
ONE_IN = 1 if IS_FULL else 7
# Which processors, the first of which runs the unit tests, and the tables that each must have, as the check prints them.
# Without any the kernels are not checked: OpenBLAS and the C reference compute. The first has all tables, so that the others are
# checked in full only.
PROCESSORS = {
    "arm64": {"max": ["i8mm", "dotprod", "neon"], "neoverse-n1": ["dotprod", "neon"], "cortex-a72": ["neon"]},
    "amd64": {"Nehalem": ["sse41"], "Haswell": ["avx2", "sse41"]},
    "s390x": {"max": []},
}
# qemu 7.2 reads what a masked load of AVX2 leaves out, which the check forbids. Processors do not, and any that builds has AVX2.
UNCHECKED = {"Haswell"}
EMULATORS = {"arm64": "qemu-aarch64", "amd64": "qemu-x86_64", "s390x": "qemu-s390x"}
COMPILERS = {"arm64": "aarch64-linux-gnu-g++", "s390x": "s390x-linux-gnu-g++"}
# What the emulator has not: mincore, and a limit of address space that counts only the program's own
IMPOSSIBLE = {
    "reserves_without_using_memory",
    "gives_back_what_was_written",
    "failure_to_start_a_thread_is_reported_and_undone",
}
# qemu 7.2 turns the two halves of a fault's address round by themselves where the bytes of the emulated processor stand
# the other way round.
WITHOUT_ADDRESS = {
    "what_was_cut_off_reads_as_zeros_and_is_noticed",
    "growing_back_does_not_help",
    "many_threads_may_run_into_it_together",
    "many_files_are_watched_at_once",
}
# Of so many lines the text; and of fewer, on the first processor alone, because they take four times as long, every token,
# score and probability of a beam
TRANSLATE = ["attentiond", "translate", "--kernels"]
BEAMS = ["--model", "weights/en-ja", "--json", "--beam-size", "4", "--num-hypotheses", "4"]
# libcld2 and with it the daemon are not to be had on s390x: model/ translates by itself.
MODEL_ALONE = "tests/portable/translate"


def tables_of(architecture):
    return next(iter(PROCESSORS[architecture].values()))


def ways(kernels, is_first):
    if kernels is None or not IS_FULL:
        return [(10, MODEL_ALONE, "weights/en-de")]
    every = [(50, *TRANSLATE, kernels, "--model", "weights/en-de"), (10, *TRANSLATE, kernels, *BEAMS)]
    return every if is_first else every[:1]


class Machine:
    """An emulated processor, or without one this machine."""

    def __init__(self, build, source, command=(), name="this machine"):
        self.build, self.source, self.command, self.name = build, source, list(command), name

    def run(self, program, arguments=(), **more):
        # libcheck's own time limits are for processors. A packed form that another has cached proves nothing. That files are
        # checked has little to do with a processor, and took more than all the rest.
        env = dict(os.environ, MT_SOURCE_DIR=self.source, MT_BUILD_DIR=self.build, CK_DEFAULT_TIMEOUT="60", CK_TIMEOUT_MULTIPLIER="10", XDG_CACHE_HOME="/dev/null", MT_TEST_ONE_IN="31")
        env.pop("MT_TEST_FULL", None)
        command = [*self.command, os.path.join(self.build, program), *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.source, env=env, check=False, **more)

    def translations(self, theirs):
        with open(os.path.join(self.source, "tests/parity/data/dev.sources.txt"), encoding="utf-8") as file:
            lines = file.readlines()
        translations = []
        for n_lines, *command in theirs:
            result = self.run(command[0], command[1:], input="".join(lines[:n_lines]))
            assert result.returncode == 0 and result.stdout.count("\n") == n_lines, result.stderr
            translations.append(result.stdout)
        return translations


def problem_of_kernels(machine, tables):
    result = machine.run(CHECK, ["--one-in", str(ONE_IN)])
    checked = [line.split(":")[0] for line in result.stdout.splitlines() if "emulated" not in line]
    checked = [name for name in checked if name != "openblas"]  # there where the build has found it
    print(f"{machine.name}: kernels: {checked}", flush=True)
    if result.returncode != 0 or checked != tables:
        return f"{machine.name}: exit {result.returncode}, expected {tables}:\n{result.stdout}{result.stderr}"
    return None


def problem_of_translations(machine, expected, theirs):
    if machine.translations(theirs) != expected[:len(theirs)]:
        return f"{machine.name}: not what this machine translates"
    print(f"{machine.name}: " + ", ".join(f"{way[0]} lines by {' '.join(way[1:])}" for way in theirs), flush=True)
    return None


def problem_of_unit_tests(machine, room):
    program, suites = f"tests/unit/test_{room}", [] if IS_FULL else UNIT_TESTS[room]
    output = machine.run(program, suites).stdout
    summary = re.search(r"(?m)^\d+%: Checks: (\d+),", output)
    failed = set(re.findall(r"(?m):[FES]:[^:]*:(\w+):\d+: ", output)) - IMPOSSIBLE
    if "s390x" in machine.name:
        failed -= WITHOUT_ADDRESS
    print(f"{machine.name}: {' '.join([program, *suites])}: {summary[0] if summary else 'no end'}", flush=True)
    if not summary or int(summary[1]) == 0 or failed:
        return f"{machine.name}: {program}:\n{output}"
    return None


def main(architecture, source, native):
    emulator, compiler = EMULATORS[architecture], COMPILERS.get(architecture)
    missing = [name for name in (emulator, compiler) if name and not shutil.which(name)]
    if missing:
        print(f"skipped: {', '.join(missing)} missing; .ci/install portable installs what this needs")
        return SKIPPED
    build, root = native, "/"
    if compiler:
        targets = [MODEL_ALONE] if architecture == "s390x" else [MODEL_ALONE, CHECK]
        targets += ["attentiond"] if IS_FULL and architecture != "s390x" else []
        targets += [f"tests/unit/test_{room}" for room in UNIT_TESTS]
        made = subprocess.run([os.path.join(source, ".ci/cross"), architecture, "--", *targets], check=False)
        if made.returncode != 0:
            return made.returncode
        build = os.path.join(source, "build/cross", architecture, "build")
        root = os.path.join(source, "build/cross", architecture, "root")
    machines = {
        processor: Machine(build, source, [emulator, "-L", root, "-cpu", processor], f"{emulator} -cpu {processor}")
        for processor in PROCESSORS[architecture]
    }
    expected = Machine(native, source).translations(ways("auto" if tables_of(architecture) else None, True))
    first = next(iter(machines.values()))
    # An older x86 runs the same code but for the kernels, which this machine checks: at every change it has only to translate.
    is_checked = IS_FULL or architecture != "amd64"
    tasks = [(problem_of_unit_tests, first, room) for room in UNIT_TESTS] if is_checked else []
    for name, tables in PROCESSORS[architecture].items():
        if tables and name not in UNCHECKED and is_checked and (IS_FULL or machines[name] is first):
            tasks += [(problem_of_kernels, machines[name], tables)]
        theirs = ways(tables[0] if tables else None, machines[name] is first)
        tasks += [(problem_of_translations, machines[name], expected, theirs)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [problem for problem in pool.map(lambda task: task[0](*task[1:]), tasks) if problem]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
