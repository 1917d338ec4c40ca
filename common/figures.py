#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The figures of docs/study that `firn choose` quotes.

    figures.py            writes common/figures.def from docs/study/summary.tsv
    figures.py --check    fails if that would change the file
    figures.py --page P   runs every `firn choose` of the page P and writes what it prints below it

`make choose-figures` does all of this, with a build in between. Run it after each change of summary.tsv."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUMMARY = os.environ.get("SUMMARY", os.path.join(ROOT, "docs/study/summary.tsv"))
TABLE = os.path.join(ROOT, "common/figures.def")
METRICS = ["insert_rows_s", "index_bytes_row", "read_recent_us"]
HEAD = """/* SPDX-License-Identifier: MIT */
/* Written by `make choose-figures` (common/figures.py) from docs/study/summary.tsv: do not edit.
 *
 *     FIGURE(engine, key, storage, ratio, writers, metric, unit, median, low, high, n) */
"""


def rows():
    if not os.path.exists(SUMMARY):
        return []
    with open(SUMMARY, encoding="utf-8") as lines:
        names = next(lines).rstrip("\n").split("\t")
        found = [dict(zip(names, line.rstrip("\n").split("\t"))) for line in lines if line.strip()]
    return [row for row in found if row["metric"] in METRICS and row["median"] and row["low"] and row["high"]]


def table():
    """Of each engine, key, storage and metric, the measurements with the most data."""
    most = {}
    for row in rows():
        cell = (row["engine"], row["key"], row["storage"], row["metric"])
        most[cell] = max(most.get(cell, 0), float(row["ratio"]))
    lines = []
    for row in rows():
        cell = (row["engine"], row["key"], row["storage"], row["metric"])
        if float(row["ratio"]) != most[cell]:
            continue
        texts = ['"%s"' % row[name].replace("\\", "").replace('"', "") for name in ("engine", "key", "storage")]
        numbers = ["%.6g" % float(row[name]) for name in ("median", "low", "high")]
        lines.append("FIGURE(%s, %.6g, %d, \"%s\", \"%s\", %s, %d)\n" % (
            ", ".join(texts), float(row["ratio"]), int(float(row["writers"])), row["metric"], row["unit"], ", ".join(numbers),
            int(float(row["n"]))))
    return HEAD + "".join(sorted(lines))


def run(command, firn):
    folder = os.path.dirname(os.path.abspath(firn))
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=False,
                          env=dict(os.environ, PATH=folder + ":" + os.environ["PATH"]))
    return done.stdout


def page(path, firn):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    block = re.compile(r"```sh\n(firn choose [^\n]*(?:\\\n[^\n]*)*\n)```\n```text\n.*?```\n", re.S)
    text = block.sub(lambda at: "```sh\n%s```\n```text\n%s```\n" % (at.group(1), run(at.group(1), firn)), text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    if sys.argv[1:2] == ["--page"]:
        page(sys.argv[2], os.environ.get("FIRN", os.path.join(ROOT, "build/bin/firn")))
        return 0
    if sys.argv[1:] == ["--check"]:
        with open(TABLE, encoding="utf-8") as file:
            return 0 if file.read() == table() else "common/figures.def is not what docs/study/summary.tsv says: run make choose-figures"
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
