#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks well-known packages the cases of spec/ and prints what each answers: a table, then every wrong answer.

Use: check.py COMMAND... Each command, such as "node packages.mjs", prints its packages (name|version|schemes, separated
by tabs), then answers a line with a line: "PACKAGE OP SCHEME ARGUMENT..." (tabs; arguments in hex) with a value,
"!reason" (refused) or "-" (the package has no such function). OP is

    read TEXT -> bytes in hex      write BYTES PREFIX -> text          time TEXT -> milliseconds since 1970
    pack MS FIELD... -> text       convert TEXT SCHEME -> text         digest NAME NAMESPACE -> text"""
import collections
import glob
import json
import os
import shlex
import subprocess
import sys

SPEC = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, SPEC)
import plain  # noqa: E402


class Packages:
    def __init__(self, command):
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        first = self.process.stdout.readline().strip()
        self.all = [one.split("|") for one in first.split("\t")] if first else []

    def ask(self, *words):
        head, arguments = words[:3], [word.encode().hex() for word in words[3:]]
        self.process.stdin.write("\t".join((*head, *arguments)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")


def questions(file):
    """(op, arguments, answer): the answer None means that the package must refuse. Not asked: TypeIDs of UUIDs of
    another version than 7, which only firn refuses, and whether another UUID than nil and max is one of these."""
    scheme, form = file.get("scheme"), file.get("form")
    forms = ("dec", "unsigned") if form == "dec" else (form,)
    for case in file.get("valid", []):
        if "layout" in case or case.get("form", form) not in forms or "text" not in case:
            continue
        yield "read", [case.get("also", case["text"])], case["bytes"]
        yield "write", [case["bytes"], case.get("prefix", "")], case["text"]
        if "tick" in case:
            ms = plain.Layout(file["layout"]).time_of(int(case["tick"])) // 10**6
            yield "time", [case["text"]], str(ms)
            yield "pack", [str(ms), *(value for name, value in case["fields"].items() if name != "time")], case["text"]
    for case in file.get("invalid", []):
        if "text" in case and not (scheme == "typeid" and case["why"].startswith("version")) and \
                scheme not in ("nil", "max"):
            yield "read", [case["text"]], None


def wrong(packages, file, name, schemes, counts):
    def judge(op, scheme, arguments, expected):
        got = packages.ask(name, op, scheme, *arguments)
        if got == "-":
            return
        good = got.startswith("!") if expected is None else got == expected
        counts[scheme, op, good] += 1
        if not good:
            yield name, scheme, op, arguments, expected, got

    if file.get("scheme") in schemes and "layout" in file:
        for op, arguments, expected in questions(file):
            yield from judge(op, file["scheme"], arguments, expected)
    for case in file.get("convert", []):
        for pair in (("uuid1", "uuid6"), ("uuid6", "uuid1")):
            if pair[0] in schemes and pair[0] in case and pair[1] in case:
                yield from judge("convert", pair[0], [case[pair[0]], pair[1]], case[pair[1]])
    for case in file.get("digest", []):
        for scheme in ("uuid3", "uuid5"):
            if scheme in schemes:
                yield from judge("digest", scheme, [case["name_hex"], case["namespace"]], case[scheme])


def main():
    files, failures = [], []
    for path in sorted(glob.glob(os.path.join(SPEC, "*.json"))):
        with open(path) as opened:
            files.append(json.load(opened))
    print("| package | version | schemes | passed | failed |\n|---|---|---|--:|---|")
    for command in sys.argv[1:]:
        packages = Packages(command)
        for name, version, schemes in packages.all:
            counts = collections.Counter()
            for file in files:
                failures += wrong(packages, file, name, schemes.split(","), counts)
            failed = ", ".join("%d %s of %s" % (counts[key], key[1], key[0]) for key in sorted(counts) if not key[2])
            passed = sum(count for key, count in counts.items() if key[2])
            print("| %s | %s | %s | %d | %s |" % (name, version, schemes.replace(",", " "), passed, failed or "0"))
    for name, scheme, op, arguments, expected, got in failures:
        print("%s %s: %s(%s) is %s, expected %s" % (name, op, scheme, ", ".join(map(repr, arguments)), got,
                                                      expected or "a refusal"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
