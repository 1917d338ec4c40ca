# SPDX-License-Identifier: MIT
"""The tables of the report, in Markdown."""
import csv
import os

import figures
from figures import ENGINES, NAMES, number

HERE = os.path.dirname(os.path.abspath(__file__))
WIDE = {"load_rows_s": "rows/s", "insert_p99_ms": "p99, ms", "total_bytes_row": "bytes", "leaf_density": "density", "splits_1000_rows": "splits",
        "log_bytes_row": "log", "log_bytes_row_single": "log, few rows", "written_bytes_row": "written", "misses_row": "misses",
        "read_recent_us": "recent, us", "read_old_us": "old, us", "read_old_misses": "misses, old", "page_us": "page, us", "count_ms": "count, ms",
        "range_id_us_row": "range by ID, us", "range_time_us_row": "by time, us", "join_us_row": "join, us", "clean_ms": "clean, ms",
        "second_index_bytes_row": "time index", "foreign_bytes_row": "foreign key", "insert_rows_s": "rows/s"}


def rows_of(head, rows):
    align = "|---|" + "--:|" * (len(head) - 1)
    return "\n".join(["| " + " | ".join(head) + " |", align] + ["| " + " | ".join(row) + " |" for row in rows])


def plus_minus(found, digits=3):
    """A median and half the width of its interval, as a share, where that is above 1 %."""
    if not found:
        return ""
    median, low, high, _ = found
    spread = max(high - median, median - low) / median if median else 0
    return number(median, digits) + (" ±%.0f%%" % (100 * spread) if spread > 0.01 else "")


def wide(data, engine, ratio, *metrics):
    """A row for each key, a column for each metric."""
    rows = []
    for key in data.keys(engine):
        found = [data.value(engine, key, metric, ratio=ratio) for metric in metrics]
        if any(found):
            rows.append(["`%s`" % figures.called(engine, key)] + [plus_minus(one) for one in found])
    return rows_of(["key"] + [WIDE[metric] for metric in metrics], rows)


def short(data):
    """Seven keys, compared with the engine's own numbers."""
    metrics = ("load_rows_s", "total_bytes_row", "written_bytes_row")
    rows = []
    for key in ("snowflake", "uuid7", "ulid", "ksuid", "uuid4-then-uuid7", "uuid1", "uuid4"):
        row = ["`%s`" % key]
        for engine in ENGINES:
            for metric in metrics:
                found = data.ratio(engine, key, "serial", metric, ratio="8")
                row.append(interval(found))
        rows.append(row)
    return rows_of(["key"] + ["%s %s" % (NAMES[engine], name) for engine in ENGINES for name in ("rows/s", "size", "written")], rows)


def storages(data, engine):
    rows = []
    for key in data.keys(engine):
        found = data.storages(engine, figures.called(engine, key))
        if len(found) > 1:
            for storage in found:
                cells = [data.value(engine, key, metric, storage=storage) for metric in ("load_rows_s", "total_bytes_row", "foreign_bytes_row", "log_bytes_row", "join_us_row")]
                rows.append(["`%s`" % key, storage] + [plus_minus(one) for one in cells])
    return rows_of(["key", "stored as", "rows/s", "bytes", "foreign key", "log", "join, us"], rows).replace("|---|--:|", "|---|---|", 1)


def writers(data):
    rows = []
    for key in figures.ORDER:
        row = ["`%s`" % key if key != "serial" else "own numbers"]
        for engine in ENGINES:
            for count in (1, 4, 16):
                found = data.value(engine, key, "insert_rows_s", writers=count)
                row.append(plus_minus(found, 2))
        rows.append(row)
    return rows_of(["key"] + ["%s %d" % (NAMES[engine], count) for engine in ENGINES for count in (1, 4, 16)], rows)


def replica(data):
    rows = []
    for key in figures.ORDER:
        row = ["`%s`" % key if key != "serial" else "own numbers"]
        for engine in ("postgres", "mariadb"):
            for metric in ("replica_lag_ms", "replica_bytes_row"):
                row.append(interval(data.value(engine, key, metric)))
        rows.append(row)
    return rows_of(["key", "PostgreSQL lag, ms", "WAL, bytes/row", "MariaDB lag, ms", "binlog, bytes/row"], rows)


def interval(found):
    if not found:
        return ""
    median, low, high, _ = found
    if max(high - median, median - low) <= 0.01 * abs(median):
        return number(median)
    return "%s (%s to %s)" % (number(median), number(low), number(high))


def shards(data):
    found = {(row["key"], row["writers"], row["by"]): row for row in data.shards}
    by_chance = 0.05 / len(found)  # of one of all comparisons: Bonferroni's correction
    rows = []
    for key in figures.ORDER:
        row = ["`%s`" % key if key != "serial" else "`bigserial`, `auto_increment`"]
        for count in ("1", "16"):
            for way in ("hash", "modulo", "leading"):
                one = found[key, count, way]
                row.append("%.1f%%%s" % (100 * float(one["fullest"]), "" if figures.chance(float(one["chi_square"])) > by_chance else " *"))
        rows.append(row)
    return rows_of(["key", "hash", "modulo", "leading bits", "hash, 16 writers", "modulo, 16", "leading bits, 16"], rows)


def machines(data):
    """A column for each machine."""
    facts = {}
    for machine in data.machines:
        with open(os.path.join(data.folder, machine + ".tsv"), encoding="utf-8") as lines:
            facts[machine] = dict(csv.reader(lines, delimiter="\t"))
    names = list(dict.fromkeys(name for one in facts.values() for name in one))
    rows = [[name] + [facts[machine].get(name, "") for machine in data.machines] for name in names]
    rows.append(["rows of results"] + ["%d" % data.count[machine] for machine in data.machines])
    rows.append(["of these disturbed, and left out"] + ["%d" % data.left_out[machine] for machine in data.machines])
    rows.append(["load when a cell began"] + ["%.2f (median)" % data.load(machine) for machine in data.machines])
    return rows_of(["machine"] + ["`%s`" % one for one in data.machines], rows).replace("--:", "---")


def others(data):
    """uuid4 and uuid7 in PostgreSQL, with the machines of the folder `counts` next to the data: their times are not shown."""
    found = [(data, data.machine, "8")]
    folder = os.path.join(os.path.dirname(os.path.abspath(data.folder)), "counts")
    if os.path.exists(folder):
        counts = figures.Figures(folder)
        found += [(counts, one, "8" if counts.raw("postgres", "uuid7", "misses_row", "8", machine=one) else "2") for one in counts.machines]
    names = {"written_bytes_row": "bytes written", "log_bytes_row": "bytes of log", "log_bytes_row_single": "bytes of log, few rows",
             "misses_row": "pages read", "leaf_density": "how full leaves are", "total_bytes_row": "bytes"}
    rows = [["version"] + [of.version(machine, "postgres") for of, machine, _ in found],
            ["rows of the table"] + [number(of.rows.get((machine, "postgres", ratio), 0)) for of, machine, ratio in found]]
    for metric, name in names.items():
        rows.append([name] + [" and ".join(interval(of.value("postgres", key, metric, ratio, machine=machine)) for key in ("uuid4", "uuid7"))
                              for of, machine, ratio in found])
    return rows_of(["`uuid4` and `uuid7`"] + ["`%s`" % machine for _, machine, _ in found], rows)


def engines(data):
    rows = []
    for engine in ENGINES:
        counts = ["%s" % number(data.rows[data.machine, engine, ratio]) for ratio in ("0.5", "2", "8") if (data.machine, engine, ratio) in data.rows]
        rows.append([NAMES[engine], data.version(data.machine, engine), {"postgres": "2 MiB", "mariadb": "6 MiB", "sqlite": "2 MiB"}[engine], ", ".join(counts)])
    return rows_of(["engine", "version", "buffer", "rows of a table at 0.5, 2 and 8 times the buffer"], rows)


def drift(data):
    rows = []
    for engine in ENGINES:
        row = [NAMES[engine]]
        for metric in ("load_rows_s", "insert_rows_s", "insert_p99_ms", "read_old_us"):
            found = [one for _, one in data.drift.get((data.machine, engine, metric), [])]
            if found:
                median, low, high, n = figures.interval(found)
                ordered = sorted(found)
                row.append("%s (%s to %s)" % (number(median), number(ordered[n // 10]), number(ordered[n - 1 - n // 10])))
            else:
                row.append("")
        rows.append(row)
    return rows_of(["fixed cell", "rows/s", "rows/s one by one", "p99, ms", "old row, us"], rows)


def of(data, words):
    return globals()[words[0]](data, *words[1:])
