#!/usr/bin/env python3
"""The program on processors that this machine is not, under qemu's emulation of one program at a time.

Kernels are held against the C reference, the unit tests of base/ and model/ run, and fifty lines are translated: the
numbers must be those of this machine, to the last bit. What another instruction set needs is built by .ci/cross.

Usage: test_portable.py ARCHITECTURE SOURCE_DIR BUILD_DIR; skipped where an emulator or a compiler is missing."""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SKIPPED = 77
UNIT_TESTS = [f"tests/unit/test_{room}" for room in ("base", "model", "files", "kernels", "tokenizer")]
CHECK = "tests/kernels/check_kernels"
# Which processors, the first of which runs the unit tests, and the tables that each must have, as the check prints them.
PROCESSORS = {
    "arm64": {"max": ["i8mm", "dotprod", "neon"], "neoverse-n1": ["dotprod", "neon"], "cortex-a72": ["neon"]},
    "amd64": {"Nehalem": ["sse41"], "Haswell": ["avx2", "sse41"]},
}
# qemu 7.2 reads what a masked load of AVX2 leaves out, which the check forbids. Processors do not, and any that builds has AVX2.
UNCHECKED = {"Haswell"}
EMULATORS = {"arm64": "qemu-aarch64", "amd64": "qemu-x86_64"}
COMPILERS = {"arm64": "aarch64-linux-gnu-g++"}
# What the emulator has not: mincore, and a limit of address space that counts only the program's own
IMPOSSIBLE = {
    "reserves_without_using_memory",
    "gives_back_what_was_written",
    "failure_to_start_a_thread_is_reported_and_undone",
}
# Of so many lines the text; and of fewer, on the first processor alone, because they take four times as long, every token,
# score and probability of a beam
WAYS = [
    (50, ["--model", "weights/en-de"]),
    (10, ["--model", "weights/en-ja", "--json", "--beam-size", "4", "--num-hypotheses", "4"]),
]


class Machine:
    """An emulated processor, or without one this machine."""

    def __init__(self, build, source, command=(), name="this machine"):
        self.build, self.source, self.command, self.name = build, source, list(command), name

    def run(self, program, arguments=(), **more):
        # libcheck's own time limits are for processors. A packed form that another has cached proves nothing.
        env = dict(os.environ, MT_SOURCE_DIR=self.source, MT_BUILD_DIR=self.build, CK_DEFAULT_TIMEOUT="600", XDG_CACHE_HOME="/dev/null")
        command = [*self.command, os.path.join(self.build, program), *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.source, env=env, check=False, **more)

    def translations(self, kernels, ways):
        with open(os.path.join(self.source, "tests/parity/data/dev.sources.txt"), encoding="utf-8") as file:
            lines = file.readlines()
        translations = []
        for n_lines, way in ways:
            result = self.run("attentiond", ["translate", "--kernels", kernels, *way], input="".join(lines[:n_lines]))
            assert result.returncode == 0 and result.stdout.count("\n") == n_lines, result.stderr
            translations.append(result.stdout)
        return translations


def problem_of_kernels(machine, tables):
    result = machine.run(CHECK)
    checked = [line.split(":")[0] for line in result.stdout.splitlines() if "emulated" not in line]
    checked = [name for name in checked if name != "openblas"]  # there where the build has found it
    print(f"{machine.name}: kernels: {checked}", flush=True)
    if result.returncode != 0 or checked != tables:
        return f"{machine.name}: exit {result.returncode}, expected {tables}:\n{result.stdout}{result.stderr}"
    return None


def problem_of_translations(machine, kernels, expected, ways):
    if machine.translations(kernels, ways) != expected[:len(ways)]:
        return f"{machine.name}: not what this machine translates"
    print(f"{machine.name}: {' and '.join(str(n) for n, _ in ways)} lines, with {kernels}", flush=True)
    return None


def problem_of_unit_tests(machine, program):
    output = machine.run(program).stdout
    summary = re.search(r"(?m)^\d+%: Checks: (\d+),", output)
    failed = set(re.findall(r"(?m):[FES]:[^:]*:(\w+):\d+: ", output)) - IMPOSSIBLE
    print(f"{machine.name}: {program}: {summary[0] if summary else 'no end'}", flush=True)
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
        targets = ["attentiond", CHECK, *UNIT_TESTS]
        made = subprocess.run([os.path.join(source, ".ci/cross"), architecture, "--", *targets], check=False)
        if made.returncode != 0:
            return made.returncode
        build = os.path.join(source, "build/cross", architecture, "build")
        root = os.path.join(source, "build/cross", architecture, "root")
    machines = {
        processor: Machine(build, source, [emulator, "-L", root, "-cpu", processor], f"{emulator} -cpu {processor}")
        for processor in PROCESSORS[architecture]
    }
    expected = Machine(native, source).translations("auto", WAYS)
    first = next(iter(machines.values()))
    tasks = [(problem_of_unit_tests, first, program) for program in UNIT_TESTS]
    for name, tables in PROCESSORS[architecture].items():
        tasks += [(problem_of_kernels, machines[name], tables)] if name not in UNCHECKED else []
        tasks += [(problem_of_translations, machines[name], tables[0], expected, WAYS if machines[name] is first else WAYS[:1])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [problem for problem in pool.map(lambda task: task[0](*task[1:]), tasks) if problem]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
