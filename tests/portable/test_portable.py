#!/usr/bin/env python3
"""The kernels of processors that this machine is not, under qemu's emulation of a program: each table against the
C reference, bit by bit (check_kernels). 64-bit ARM is compiled here, because the check needs no library but libc.

Usage: test_portable.py SOURCE_DIR CHECK_KERNELS; skipped where the compiler or an emulator is missing."""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SKIPPED = 77
COMPILER, ARM, X86 = "aarch64-linux-gnu-gcc", "qemu-aarch64", "qemu-x86_64"
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O3", "-ffp-contract=off", "-fno-math-errno", "-I."]
KERNELS = "model/kernels/"
SOURCES = {  # by the flags of their instruction set, as model/meson.build has them
    (): [KERNELS + name for name in ("activation.c", "cpu.c", "neon.c", "reference.c", "select.c", "v4.c", "v4_linear.c")]
    + ["base/real.c", "base/status.c", "base/text.c", "weights/dtype.c", "tests/kernels/bench_kernels.c"]
    + ["tests/kernels/check_kernels.c", "tests/kernels/guarded.c"],
    ("-march=armv8.2-a+dotprod",): [KERNELS + "dotprod.c"],
    ("-march=armv8.2-a+dotprod+i8mm",): [KERNELS + "i8mm.c"],
}
# An emulator, a processor, and the tables that it must have, as the check prints them.
PROCESSORS = [
    (ARM, "max", ["i8mm", "dotprod", "neon"]),
    (ARM, "neoverse-n1", ["dotprod", "neon"]),
    (ARM, "cortex-a72", ["neon"]),
    (X86, "Nehalem", ["sse41"]),
]


def compile_for_arm(source_dir, folder):
    objects = []
    for flags, sources in SOURCES.items():
        for source in sources:
            objects.append(os.path.join(folder, source.replace("/", "_") + ".o"))
            subprocess.run([COMPILER, *FLAGS, *flags, "-c", source, "-o", objects[-1]], cwd=source_dir, check=True)
    program = os.path.join(folder, "check_kernels")
    subprocess.run([COMPILER, "-static", *objects, "-lm", "-lpthread", "-o", program], check=True)
    return program


def problem_of(emulator, processor, tables, program):
    result = subprocess.run([emulator, "-cpu", processor, program], capture_output=True, text=True)
    output = result.stdout + result.stderr
    checked = [line.split(":")[0] for line in result.stdout.splitlines() if "emulated" not in line]
    checked = [name for name in checked if name != "openblas"]  # there where the build has found it
    print(f"{emulator} -cpu {processor}: {checked}", flush=True)
    if result.returncode != 0 or checked != tables:
        return f"{emulator} -cpu {processor}: exit {result.returncode}, expected {tables}:\n{output}"
    return None


def main(source_dir, native):
    missing = [name for name in (COMPILER, ARM, X86) if not shutil.which(name)]
    if missing:
        print(f"skipped: {', '.join(missing)} missing; .ci/install portable installs what this needs")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        programs = {ARM: compile_for_arm(source_dir, folder), X86: native}
        problems = list(pool.map(lambda p: problem_of(*p, programs[p[0]]), PROCESSORS))
    problems = [problem for problem in problems if problem]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
