#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures cells of the study and appends them to docs/study/data/MACHINE.csv; continues where it stopped.

    study/run.py FIRN [--minutes N] [--small] [--machine NAME] [--data FOLDER] [--only PATTERN] [--repetitions N]
        [--place FOLDER] [--times N]

--only has the cells whose description has a match of PATTERN. --place keeps the tables in FOLDER, on a disk for which each engine waits;
--times has N times as many rows, so that B-trees have a level more. ENGINE_POSTGRES=FOLDER has the programs of another PostgreSQL
(with pgstattuple). Results of these go into another --data. `make study` and `make study-small` call it."""
import argparse
import csv
import os
import re
import shutil
import signal
import sys
import tempfile
import time

import cells
import engine as engines
import figures
import keys
import machine
import mariadb
import measure
import postgres
import replica
import shards
import sqlite

AGAIN = 3  # times that disturbed cells are measured again
KINDS = (postgres.Postgres, mariadb.MariaDB, sqlite.SQLite)
HEAD = ("machine", *cells.COLUMNS, "repetition", "started", "load", "rows", "version")


class Results:
    """The file of one machine: a row for each repetition of a cell. Values that a cell does not have are empty."""

    def __init__(self, path, name):
        self.path, self.machine, self.done = path, name, set()
        head = [*HEAD, *measure.METRICS]
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8", newline="") as out:
                csv.writer(out, lineterminator="\n").writerow(head)
        with open(path, encoding="utf-8", newline="") as lines:
            found = csv.DictReader(lines)
            if found.fieldnames != head:
                sys.exit("study: %s has other columns: it is of another version of the study: remove it, or use --machine" % path)
            for row in found:
                self.done.add((tuple(row[column] for column in cells.COLUMNS), int(row["repetition"])))

    def add(self, cell, repetition, about, found):
        unknown = set(found) - set(measure.METRICS)
        assert not unknown, unknown
        values = ["%.5g" % found[name] if name in found else "" for name in measure.METRICS]
        with open(self.path, "a", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerow([self.machine, *cell.name(), repetition, *about, *values])
        self.done.add((cell.name(), repetition))

    def forget_disturbed(self, every):
        """The cells of `every` (repetition, cell) that were disturbed at their last measurement: they are not done."""
        with open(self.path, encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        names = [(tuple(row[column] for column in cells.COLUMNS), int(row["repetition"])) for row in rows]
        slow = figures.disturbed(rows)
        last = {name: at for at, name in enumerate(names)}
        again = [(n, cell) for n, cell in every if cell.kind != "drift" and last.get((cell.name(), n)) in slow]
        self.done -= {(cell.name(), n) for n, cell in again}
        return again


class Study:
    def __init__(self, firn, folder, times=1):
        self.folder, self.engines, self.pairs = folder, {}, {}
        for kind in KINDS:
            try:
                self.engines[kind.name] = kind()
                self.engines[kind.name].rows_per_buffer *= times
            except engines.Missing as error:
                print("study: %s is left out: %s" % (kind.name, error), file=sys.stderr)
        self.firn, self.streams, self.started = firn, None, {}

    def engine(self, name):
        if name not in self.started:
            self.engines[name].start(os.path.join(self.folder, name))
            self.started[name] = self.engines[name]
        return self.started[name]

    def pair(self, name):
        if name not in self.pairs:
            pair = replica.pair_of(type(self.engines[name]))
            pair.start(os.path.join(self.folder, name + "-replica"))
            self.pairs[name] = pair
        return self.pairs[name]

    def measure(self, cell):
        if cell.kind == "replica":
            pair = self.pair(cell.engine)
            return replica.measure_lag(pair, cell, self.streams), pair.primary
        engine = self.engine(cell.engine)
        return measure.measure(engine, cell, self.streams), engine

    def stop(self):
        for one in [*self.pairs.values(), *self.started.values()]:
            one.stop()


def plan(study, options):
    """(repetition, cell) in the order of measuring: the drift cells again and again between the others."""
    every = [cell for one in study.engines.values() for cell in cells.of_engine(one)]
    if options.small:
        every = [cell for cell in every if cells.small(cell)]
    every = [cell for cell in every if re.search(options.only, str(cell))]
    fixed = [cells.drift(one) for one in study.engines.values() if any(cell.engine == one.name for cell in every)]
    turn = 0
    for repetition in range(1, options.repetitions + 1):
        for n, cell in enumerate(cells.in_order(every, repetition)):
            if n % cells.DRIFT_EVERY == 0:
                turn += 1
                yield from ((turn, one) for one in fixed)
            yield repetition, cell


def run(study, options, results):
    """Until all is measured or the minutes are over: how many cells are left."""
    end = time.monotonic() + 60 * options.minutes
    every = list(plan(study, options))
    todo = [(n, cell) for n, cell in every if (cell.name(), n) not in results.done]
    study.streams = keys.Streams(study.firn, max((measure.count_rows(study.engines[cell.engine], cell) for _, cell in every), default=0))
    turn = max((n for n, cell in every if cell.kind == "drift"), default=0)
    for _ in range(1 + AGAIN):
        left = work(study, todo, results, end)
        todo = between_fixed(results.forget_disturbed(every), every, turn)
        if left or not todo:
            return left + len(todo)
        turn = max(n for n, cell in todo if cell.kind == "drift")
    return 0


def between_fixed(again, every, turn):
    """Disturbed cells, with the fixed cells before, between and after them as new turns."""
    fixed = list({cell.name(): cell for _, cell in every if cell.kind == "drift"}.values())
    todo = []
    for at in range(0, len(again), cells.DRIFT_EVERY):
        turn += 1
        todo += [(turn, cell) for cell in fixed] + again[at : at + cells.DRIFT_EVERY]
    return todo + [(turn + 1, cell) for cell in fixed] if todo else []


def work(study, todo, results, end):
    """Measures; returns how many are left when the minutes are over."""
    for at, (repetition, cell) in enumerate(todo):
        if time.monotonic() > end:
            return len(todo) - at
        started, load, begin = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), os.getloadavg()[0], time.monotonic()
        found, engine = study.measure(cell)
        results.add(cell, repetition, (started, "%.2f" % load, measure.count_rows(engine, cell), engine.version), found)
        print("%d/%d  %.2f s  repetition %d of %s" % (at + 1, len(todo), time.monotonic() - begin, repetition, cell), flush=True)
    return 0


def write_shards(firn, path):
    with open(path, "w", encoding="utf-8", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(("key", "writers", "by", "fullest", "chi_square", "empty"))
        found = shards.measured(keys.Streams(firn, shards.COUNT))
        lines.writerows((key, writers, way, "%.4f" % most, "%.1f" % chi, empty) for key, writers, way, most, chi, empty in found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("firn")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--machine", default=machine.name())
    parser.add_argument("--data", default=os.path.join(engines.ROOT, "docs", "study", "data"))
    parser.add_argument("--only", default="")
    parser.add_argument("--repetitions", type=int, default=cells.REPETITIONS)
    parser.add_argument("--place", default="")
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    if (options.place or options.times != 1) and options.data == parser.get_default("data"):
        parser.error("--place and --times change the figures: use another --data too")
    if options.place:
        engines.on_disk(options.place)
    if not re.fullmatch("[a-z0-9-]+", options.machine):
        parser.error("--machine %s: use a to z, 0 to 9 and -" % options.machine)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that engines are stopped
    os.makedirs(options.data, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="firn-study.", dir=engines.PLACE)
    study = Study(options.firn, folder, options.times)
    try:
        machine.write(os.path.join(options.data, options.machine + ".tsv"))
        write_shards(options.firn, os.path.join(options.data, "shards.csv"))
        left = run(study, options, Results(os.path.join(options.data, options.machine + ".csv"), options.machine))
    finally:
        study.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print("study: %d cells are left: run this again" % left if left else "study: every cell has %d repetitions" % options.repetitions)


if __name__ == "__main__":
    main()
