#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The figures of docs/study that `firn choose` quotes.

    figures.py            writes common/figures.def from docs/study/summary.tsv
    figures.py --check    fails if that would change the file
    figures.py --page P   writes the page P again: what each `firn choose` in it prints, and its table of figures
    figures.py --page P --check

`make choose-figures` does all of this, with a build in between. Run it after each change of summary.tsv."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUMMARY = os.environ.get("SUMMARY", os.path.join(ROOT, "docs/study/summary.tsv"))
TABLE = os.path.join(ROOT, "common/figures.def")
METRICS = ["written_bytes_row", "total_bytes_row", "read_old_misses"]  # counts: a repetition gives the same
ENOUGH = 0.75  # of the keys of an engine, so that schemes are compared in the same cells
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
    return [row for row in found if row["metric"] in METRICS and row["ratio"] not in ("", "-") and row["median"] and row["low"] and row["high"]]


def cells(found):
    """Of each engine and metric: the most data, by the buffer, and the writers, with which enough keys were measured."""
    keys = {}
    for row in found:
        cell = (row["engine"], row["metric"])
        keys.setdefault(cell, {}).setdefault((float(row["ratio"]), int(float(row["writers"]))), set()).add(row["key"])
    kept = set()
    for cell, all_keys in keys.items():
        enough = ENOUGH * len(set().union(*all_keys.values()))
        full = [at for at, some in all_keys.items() if len(some) >= enough] or [max(all_keys, key=lambda at: len(all_keys[at]))]
        most = max(ratio for ratio, _ in full)
        kept |= {cell + at for at in full if at[0] == most}
    return kept


def table():
    found = rows()
    kept = cells(found)
    lines = []
    for row in found:
        ratio, writers = float(row["ratio"]), int(float(row["writers"]))
        if (row["engine"], row["metric"], ratio, writers) not in kept:
            continue
        texts = ['"%s"' % row[name].replace("\\", "").replace('"', "") for name in ("engine", "key", "storage")]
        numbers = ["%.6g" % float(row[name]) for name in ("median", "low", "high")]
        lines.append('FIGURE(%s, %.6g, %d, "%s", "%s", %s, %d)\n' % (
            ", ".join(texts), ratio, writers, row["metric"], row["unit"], ", ".join(numbers), int(float(row["n"]))))
    return HEAD + "".join(sorted(lines))


def run(command, firn):
    folder = os.path.dirname(os.path.abspath(firn))
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=False,
                          env=dict(os.environ, PATH=folder + ":" + os.environ["PATH"]))
    return done.stdout


# The keys of the page's table, and how each engine stores them.
SHOWN = {
    "postgres": ["bigserial bigint", "snowflake bigint", "uuid7 uuid", "ulid text", "uuid4 uuid", "uuid4-then-uuid7 uuid"],
    "mariadb": ["auto_increment bigint", "snowflake bigint", "uuid7 binary", "ulid char26", "uuid4 binary", "uuid4-then-uuid7 binary"],
    "sqlite": ["auto_increment integer", "snowflake integer", "uuid7 blob", "ulid text", "uuid4 blob", "uuid4-then-uuid7 blob"],
}


def shown():
    """The table of the page: the figures with which `firn choose` ranks."""
    found = rows()
    kept = cells(found)
    cell = {}
    for row in sorted(found, key=lambda row: -int(float(row["writers"]))):  # the fewest writers stay
        if (row["engine"], row["metric"], float(row["ratio"]), int(float(row["writers"]))) in kept:
            cell[row["engine"], row["key"] + " " + row["storage"], row["metric"]] = row
    lines = ["| engine | key, stored as | written, bytes/row | size of table and index, bytes/row | pages read for an old row |\n", "|---|---|--:|--:|--:|\n"]
    for engine, names in SHOWN.items():
        for name in names:
            first = [cell.get((engine, names[0], metric)) for metric in METRICS]
            figures = [figure(cell.get((engine, name, metric)), base) for metric, base in zip(METRICS, first)]
            lines.append("| %s | `%s`, %s | %s |\n" % (engine, *name.split(), " | ".join(figures)))
    return "".join(lines)


def figure(row, first):
    """A count, and how many times the count of the first key of the engine that is."""
    if row is None:
        return "not measured"
    return "%s (%.3g times)" % (number(float(row["median"])), float(row["median"]) / float(first["median"]))


def number(value):
    """As number_text of common/numbers.c."""
    return "{:,.0f}".format(value) if value >= 100 else "%.3g" % value


def page(path, firn):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"(<!-- figures -->\n).*?(<!-- /figures -->)", lambda at: at.group(1) + shown() + at.group(2), text, flags=re.S)
    block = re.compile(r"```sh\n(firn choose [^\n]*(?:\\\n[^\n]*)*\n)```\n```text\n.*?```\n", re.S)
    return block.sub(lambda at: "```sh\n%s```\n```text\n%s```\n" % (at.group(1), run(at.group(1), firn)), text)


def main():
    if sys.argv[1:2] == ["--page"]:
        path = sys.argv[2]
        text = page(path, os.environ.get("FIRN", os.path.join(ROOT, "build/bin/firn")))
        if sys.argv[3:] == ["--check"]:
            with open(path, encoding="utf-8") as file:
                return 0 if file.read() == text else path + " does not quote docs/study/summary.tsv: run make choose-figures"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return 0
    if sys.argv[1:] == ["--check"]:
        with open(TABLE, encoding="utf-8") as file:
            return 0 if file.read() == table() else "common/figures.def is not what docs/study/summary.tsv says: run make choose-figures"
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
