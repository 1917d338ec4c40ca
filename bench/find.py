#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines per second of processor time that `firn show --find` takes for a log, next to grep, which finds UUIDs
only and reads no times: bench/find.py [FIRN] [ROUNDS]. Programs take turns; the best and the median are printed."""
import os
import random
import statistics
import subprocess
import sys
import tempfile
import uuid

firn = sys.argv[1] if len(sys.argv) > 1 else "build/bin/firn"
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
LINES = 1000000
PATTERN = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def write(path, every):
    """Lines of a web server's log; each `every`th has a UUID of version 7 in its path, the others a number."""
    random.seed(1)
    ms = 1732290000000
    with open(path, "w", encoding="ascii") as file:
        for i in range(LINES):
            ms += random.randrange(5)
            one = str(uuid.UUID(int=ms << 80 | 7 << 76 | random.getrandbits(12) << 64 | 2 << 62 | random.getrandbits(62)))
            what = one if i % every == 0 else str(i)
            file.write(f'10.{i % 256}.{i % 7}.{i % 251} - - [22/Nov/2024:15:40:{i % 60:02d} +0000] "GET /api/v1/orders/{what} HTTP/1.1" '
                       f'200 {random.randrange(10000)} "-" "Mozilla/5.0 (X11; Linux x86_64)"\n')


def seconds(command, path, folder):
    """Processor time of one run. The output goes into a file, since grep looks for one match only if it goes to /dev/null."""
    with open(path, "rb") as text, open(os.path.join(folder, "out"), "wb") as out:
        before = os.times()
        subprocess.run(command, stdin=text, stdout=out, check=False, env={**os.environ, "LC_ALL": "C"})
        after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


with tempfile.TemporaryDirectory() as folder:
    print(f"{LINES} lines; millions of lines per second of processor time: the best and the median of {rounds} rounds")
    for name, every in (("each line has an ID", 1), ("each tenth line has an ID", 10), ("no line has an ID", LINES * 2)):
        path = os.path.join(folder, "log")
        write(path, every)
        if every > LINES:  # the first line has one
            with open(path, "r+b") as file:
                file.write(b"x" * 100)
        programs = {"firn show --find": [firn, "show", "--find"], "grep -oE": ["grep", "-oE", PATTERN],
                    "grep --color": ["grep", "--color=always", "-E", PATTERN + "|"]}
        taken = {program: [] for program in programs}
        for _ in range(rounds):
            for program, command in programs.items():
                taken[program].append(seconds(command, path, folder))
        print(name)
        for program, times in taken.items():
            print(f"  {program:17} {LINES / min(times) / 1e6:6.2f} {LINES / statistics.median(times) / 1e6:6.2f}"
                  f"  {min(times) / min(taken['firn show --find']):5.1f} times the time of firn")
