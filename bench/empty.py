#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The minimum cost of a process: bench/empty.py FIRN [ROUNDS]. `firn new uuid7`, uuidgen, and two programs that do nothing,
one of them static, start in turns; so does `firn version`, which starts as large a program for one line of text. Prints
microseconds from spawn to exit and of processor time, minimum, median and the ratio of the medians to uuidgen. Processor
time hardly depends on other work on the machine. Needs cc and its static C library."""
import os
import statistics
import subprocess
import sys
import tempfile
import time


def once(words, null):
    start = time.perf_counter_ns()
    process = os.posix_spawnp(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    _, status, used = os.wait4(process, 0)
    if status != 0:
        sys.exit(f"{words[0]} failed")
    return (time.perf_counter_ns() - start) / 1000, (used.ru_utime + used.ru_stime) * 1e6


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    null = os.open(os.devnull, os.O_WRONLY)
    with tempfile.TemporaryDirectory() as folder:
        programs = {"uuidgen": ["uuidgen"], "firn": [sys.argv[1], "new", "uuid7"],
                    "firn version": [sys.argv[1], "version"]}
        for name, flags in (("empty", []), ("empty, static", ["-static"])):
            path = os.path.join(folder, "static" if flags else "dynamic")
            subprocess.run(["cc", "-O2", *flags, "-xc", "-", "-o", path], input=b"int main(void) { return 0; }",
                           check=True)
            programs[name] = [path]
        times = {name: [] for name in programs}
        for _ in range(rounds):
            for name, words in programs.items():
                times[name].append(once(words, null))
    for part, unit in enumerate(("us", "us of processor time")):
        base = statistics.median(both[part] for both in times["uuidgen"])
        for name, all_of in times.items():
            one = [both[part] for both in all_of]
            middle = statistics.median(one)
            print(f"{name:14} {min(one):7.0f} {middle:7.0f} {unit} {middle / base:.2f} x")


main()
