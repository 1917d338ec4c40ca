#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a process costs at least: bench/empty.py FIRN [ROUNDS]. `firn new uuid7`, uuidgen, and two programs that do nothing,
one of them static, start in turns. Prints microseconds from spawn to exit, minimum and median, and the ratio of the
medians to uuidgen. Needs cc and its static C library."""
import os
import statistics
import subprocess
import sys
import tempfile
import time


def once(words, null):
    start = time.perf_counter_ns()
    process = os.posix_spawnp(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    _, status = os.waitpid(process, 0)
    if status != 0:
        sys.exit(f"{words[0]} failed")
    return (time.perf_counter_ns() - start) / 1000


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    null = os.open(os.devnull, os.O_WRONLY)
    with tempfile.TemporaryDirectory() as folder:
        programs = {"uuidgen": ["uuidgen"], "firn": [sys.argv[1], "new", "uuid7"]}
        for name, flags in (("empty", []), ("empty, static", ["-static"])):
            path = os.path.join(folder, "static" if flags else "dynamic")
            subprocess.run(["cc", "-O2", *flags, "-xc", "-", "-o", path], input=b"int main(void) { return 0; }",
                           check=True)
            programs[name] = [path]
        times = {name: [] for name in programs}
        for _ in range(rounds):
            for name, words in programs.items():
                times[name].append(once(words, null))
    base = statistics.median(times["uuidgen"])
    for name, all_of in times.items():
        middle = statistics.median(all_of)
        print(f"{name:14} {min(all_of):7.0f} {middle:7.0f} us {middle / base:.2f} x")


main()
