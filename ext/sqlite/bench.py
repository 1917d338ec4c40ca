#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The cost of firn's functions in SQLite, compared with SQLite's own.

    bench.py [--rows] LIBRARY     libfirn_sqlite.so of a build

Without --rows: ns a row over the same recursive query without the function, the median of rounds in which all take
turns, in time of the processor. With --rows: a million rows with each kind of key into a file, in one transaction: time
of the processor, MB of the file and of its write-ahead log.
Marks go into their own file, removed at the end. Needs a python3 that loads extensions, as Debian's does.
"""
import os
import sqlite3
import statistics
import sys
import tempfile
import time

ROWS = 200_000  # of a query; few enough that no generator runs ahead of its clock
ROUNDS = 31
MILLION = 1_000_000
FUNCTIONS = [
    "uuid7()",
    "uuid7_blob()",
    "uuid4()",
    "uuid4_blob()",
    "ulid()",
    "snowflake()",
    "firn_new('uuid7')",
    "firn_time(1541815603606036480 + i, 'snowflake')",
    "firn_min('snowflake', 1700000000 + i)",
    "firn_shard(i, 16)",
    "randomblob(16)",
    "random()",
    "lower(hex(randomblob(16)))",
]
# The name of a row's key, its table's columns and the text after them, and the inserted expression: "" leaves it to the column.
KEYS = [
    ("INTEGER, AUTOINCREMENT", "id INTEGER PRIMARY KEY AUTOINCREMENT", "", ""),
    ("INTEGER, the rowid, snowflake()", "id INTEGER PRIMARY KEY", "", "snowflake()"),
    ("INTEGER, DEFAULT (snowflake())", "id INTEGER PRIMARY KEY NOT NULL DEFAULT (snowflake())", "WITHOUT ROWID", ""),
    ("BLOB, uuid7_blob()", "id BLOB PRIMARY KEY NOT NULL DEFAULT (uuid7_blob())", "WITHOUT ROWID", ""),
    ("TEXT, uuid7()", "id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid7())", "WITHOUT ROWID", ""),
    ("TEXT, ulid()", "id TEXT PRIMARY KEY NOT NULL DEFAULT (ulid())", "WITHOUT ROWID", ""),
    ("BLOB, randomblob(16)", "id BLOB PRIMARY KEY NOT NULL DEFAULT (randomblob(16))", "WITHOUT ROWID", ""),
    ("TEXT, uuid4()", "id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid4())", "WITHOUT ROWID", ""),
]


def connect(library, folder, name):
    db = sqlite3.connect(name, isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(library)
    db.execute("SELECT firn_config('unsafe', '1'), firn_config('store', ?)", [f"sqlite:{folder}/firn.db"])
    return db


def ns_a_row(db, expression):
    query = f"WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < {ROWS}) SELECT count({expression}) FROM g"
    start = time.process_time_ns()
    db.execute(query).fetchall()
    return (time.process_time_ns() - start) / ROWS


def bench_functions(db):
    found = {expression: [] for expression in FUNCTIONS}
    bare = []
    for round_ in range(ROUNDS + 1):
        base = ns_a_row(db, "i")
        for expression in FUNCTIONS:
            took = ns_a_row(db, expression)
            if round_ > 0:  # the first one opens generators
                found[expression].append(took - base)
        bare.append(base)
    print(f"SQLite {sqlite3.sqlite_version}, a row without a function: {statistics.median(bare):.0f} ns")
    for expression, times in found.items():
        print(f"{expression:<50} {statistics.median(times):7.1f} ns")


def insert_million(db, columns, behind, key):
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"CREATE TABLE t({columns}, note TEXT) {behind}")
    rows = f"WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < {MILLION})"
    start = time.process_time()
    if key:
        db.execute(f"INSERT INTO t {rows} SELECT {key}, 'a row of some length' FROM g")
    else:
        db.execute(f"INSERT INTO t(note) {rows} SELECT 'a row of some length' FROM g")
    log = os.path.getsize(db.execute("PRAGMA database_list").fetchone()[2] + "-wal")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return time.process_time() - start, log


def bench_rows(library, folder):
    print(f"{'a million rows by key':<34} {'CPU s':>7} {'file MB':>9} {'log MB':>9}")
    path = f"{folder}/rows.db"
    for name, columns, behind, key in KEYS:
        db = connect(library, folder, path)
        took, log = insert_million(db, columns, behind, key)
        db.close()
        print(f"{name:<34} {took:7.2f} {os.path.getsize(path) / 1e6:9.1f} {log / 1e6:9.1f}", flush=True)
        os.remove(path)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--rows"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    library = os.path.abspath(arguments[0])
    with tempfile.TemporaryDirectory() as folder:
        if "--rows" in sys.argv:
            bench_rows(library, folder)
        else:
            bench_functions(connect(library, folder, ":memory:"))


main()
