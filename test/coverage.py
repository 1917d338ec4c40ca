#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Lines and branches that the tests of a build with --coverage have run, by area: make coverage prints it.

    coverage.py [--missing NAME]... BUILD      --missing: the lines and branches of this file or area that were not run

gcov counts. Not counted are the failing branch of an assert, which only a bug in firn takes, and what test/uncovered
excuses, a line each with its reason. What a process had run when it was killed is not counted either.
"""
import argparse
import concurrent.futures
import fnmatch
import glob
import json
import os
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
READERS = ["src/text.c", "src/parse.c", "src/forms.c", "src/number.c", "src/date_form.c", "src/layout.c", "src/instant.c", "server/resp/resp.c", "server/config/config.c", "server/config/config_file.c"]
AREAS = [  # name, files, goals of lines and branches in percent; a file is of the first area that it fits
    ("readers", READERS, 100, 98),
    ("src", ["src/*"], 100, 97.6),
    ("server", ["server/*"], 97.4, 90),
    ("modules", ["modules/*"], 98, 90),
    ("command", ["cmd/*", "lab/*", "common/*"], None, None),
]
# Objects of other folders are the same sources with injected bugs, or tests that include none of them. The core of the simulation and
# the tests with a scripted engine are the same sources as the library's and the modules': they come last, and count where a line has
# the same branches.
OBJECTS = ["firn_objects.dir", "firn_common.dir", "firn_command.dir", "firn_command_objects.dir", "firn_lab.dir", "firn_lab_objects.dir",
           "firn_server.dir", "firn_server_objects.dir", "firn_module.dir", "module_*.dir", "firn_sim_core.dir"]
INCLUDING = ["scripted_*_test.dir", "closing_test.dir", "shared_look_test.dir", "vmgenid_test.dir"]


def gcov(notes):
    """The counts of gcov for one object file: {source: {line: (count, [branch counts])}}"""
    done = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", notes], capture_output=True)
    if done.returncode != 0:  # counts that a killed process left half written
        print(f"coverage.py: {notes}: not counted: {done.stderr.decode().strip()}", file=sys.stderr)
        return {}
    counts = {}
    for document in done.stdout.splitlines():
        for file in json.loads(document)["files"]:
            source = os.path.normpath(os.path.join(TREE, file["file"]))
            lines = counts.setdefault(os.path.relpath(source, TREE), {})
            for line in file["lines"]:
                count, branches = lines.get(line["line_number"], (0, []))
                lines[line["line_number"]] = (count + max(line["count"], 0), branches + [b["count"] for b in line["branches"]])
    return counts


def merge(all_counts):
    """The same line may be compiled into several objects: its counts are added."""
    merged = {}
    for counts in all_counts:
        for source, lines in counts.items():
            known = merged.setdefault(source, {})
            for number, (count, branches) in lines.items():
                if number not in known:
                    known[number] = (count, branches)
                    continue
                old_count, old = known[number]
                known[number] = (old_count + count, [a + b for a, b in zip(old, branches)] if len(old) == len(branches) else old or branches)
    return merged


def read_excuses():
    excuses = {}
    with open(f"{TREE}/test/uncovered") as file:
        for line in file:
            if not line.startswith("#"):
                source, text, reason = line.rstrip("\n").split("\t")
                excuses[source, text] = reason
    return excuses


def area_of(source):
    return next((name for name, files, _, _ in AREAS if any(fnmatch.fnmatch(source, f) for f in files)), None)


def percent(part, whole):
    return 100.0 if whole == 0 else 100 * part / whole


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--missing", action="append", default=[])
    parser.add_argument("build")
    args = parser.parse_args()
    notes = []
    for name in sorted(os.listdir(f"{args.build}/CMakeFiles"), key=lambda folder: (folder.startswith("firn_sim"), folder)):
        if any(fnmatch.fnmatch(name, o) for o in OBJECTS + INCLUDING):
            for folder, _, files in os.walk(f"{args.build}/CMakeFiles/{name}"):
                notes += [f"{folder}/{f}" for f in files if f.endswith(".gcno")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        merged = merge(pool.map(gcov, notes))
    excuses, used = read_excuses(), set()
    sums = {name: [0, 0, 0, 0, 0, 0] for name, _, _, _ in AREAS}
    missing = []
    for source in sorted(merged):
        area = area_of(source)
        if area is None or not source.endswith((".c", ".h")) or not os.path.exists(f"{TREE}/{source}"):
            continue  # or was renamed since an earlier build
        text = open(f"{TREE}/{source}").read().splitlines()
        if max(merged[source], default=0) > len(text):
            sys.exit(f"coverage.py: {source} was changed after the build: make coverage builds again")
        total = sums[area]
        for number, (count, branches) in sorted(merged[source].items()):
            said = text[number - 1].strip()
            taken = sum(b > 0 for b in branches)
            gaps = (count == 0) + len(branches) - taken
            if gaps > 0 and (source, said) in excuses:
                used.add((source, said))
                total[4] += count == 0
                total[5] += len(branches) - taken
                branches, count = [b for b in branches if b > 0], 1
            elif "assert(" in said:
                total[5] += len(branches) - taken
                branches = [b for b in branches if b > 0]
            total[0] += count > 0
            total[1] += 1
            total[2] += taken
            total[3] += len(branches)
            if count == 0 or taken < len(branches):
                missing.append((area, source, number, count, taken, len(branches), said))
    print(f"{'area':<10} {'lines':>16} {'goal':>6} {'branches':>18} {'goal':>6}   excused")
    for name, _, lines_goal, branches_goal in AREAS:
        lines, all_lines, taken, all_branches, lines_excused, branches_excused = sums[name]
        print(f"{name:<10} {lines:>5}/{all_lines:<5}{percent(lines, all_lines):5.1f} {lines_goal or '-':>6}"
              f" {taken:>6}/{all_branches:<6}{percent(taken, all_branches):5.1f} {branches_goal or '-':>6}"
              f"   {lines_excused} lines, {branches_excused} branches")
    for area, source, number, count, taken, branches, said in missing:
        if area in args.missing or source in args.missing:
            print(f"{source}:{number}: {'not run' if count == 0 else f'{taken} of {branches} branches'}: {said}")
    compiled = {note.split(".dir/", 1)[1].removesuffix(".gcno") for note in notes}
    for source in sorted(glob.glob("*/**/*.c", root_dir=TREE, recursive=True)):
        if area_of(source) is not None and source not in compiled:
            print(f"coverage.py: {source}: no object that is counted comes from this file", file=sys.stderr)
    for source, said in excuses:
        if (source, said) not in used:
            print(f"test/uncovered: {source}: no such line, or all of it is run: {said}", file=sys.stderr)


main()
