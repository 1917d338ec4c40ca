# SPDX-License-Identifier: MIT
"""The figures of the study: from the rows of docs/study/data to medians with their intervals."""
import csv
import glob
import math
import os
import re
import statistics

NAMES = {"postgres": "PostgreSQL", "mariadb": "MariaDB", "sqlite": "SQLite"}
LABELS = ("machine", "kind", "engine", "key", "storage", "ratio", "writers", "repetition", "started", "load", "rows", "version")
ENGINES = tuple(NAMES)
# By where new rows go in the index: at its end (64 bits, wider), anywhere, first anywhere and then at the end.
CLASSES = {
    "end, 64 bits": ("serial", "snowflake", "leaf", "instagram", "tsid", "seata"),
    "end, wider": ("uuid7", "uuid6", "uuid1-swapped", "ulid", "ksuid", "objectid"),
    "moved from uuid4 to uuid7": ("uuid4-then-uuid7",),
    "anywhere": ("uuid1", "locality", "lable-spread", "uuid4"),
}
ORDER = [key for keys in CLASSES.values() for key in keys]


OWN = {"postgres": "bigserial", "mariadb": "auto_increment"}


def unit(metric):
    """Of a metric, from its name."""
    if "bytes_row" in metric:
        return "bytes/row"
    if metric.startswith(("images", "misses")) or metric.endswith("misses"):
        return "1/row"
    ends = {"rows_s": "rows/s", "_ms": "ms", "_us": "us", "_us_row": "us", "density": "share", "_share": "share", "_1000_rows": "1/1000 rows"}
    return next(text for end, text in ends.items() if metric.endswith(end))


def called(engine, key):
    """The name of the engine's own numbers there."""
    return OWN.get(engine, "auto_increment") if key in ("serial", *OWN.values()) else key


def interval(values):
    """Median, and the values that hold the median of all possible runs with 95 %: order statistics, so that nothing is
    assumed about how values are distributed. Below 6 values no interval has 95 %; then it is the lowest and the highest."""
    ordered = sorted(values)
    n = len(ordered)
    outside, cut, power = 0.0, 0, 0.5**n
    ways = 1
    for k in range(n // 2):
        outside += ways * power
        if 2 * outside > 0.05:
            break
        cut = k
        ways = ways * (n - k) // (k + 1)
    return statistics.median(ordered), ordered[cut], ordered[n - 1 - cut], n


def number(value, digits=3):
    """For people: 1,234 or 0.0123, with the digits that matter."""
    if value == 0:
        return "0"
    text = "%.*g" % (digits, value)
    if "e" in text or abs(value) >= 1000:
        text = "%.0f" % float("%.*g" % (digits, value))
    return re.sub(r"(?<=\d)(?=(\d{3})+$)", ",", text) if "." not in text else text


DISTURBED = 0.8  # of the median rows/s of the fixed cell of the engine


def disturbed(rows):
    """The indexes of results with a slow run of the fixed cell of their engine before or after them: something else was
    running. The fixed cell alone decides, never the result itself."""
    fixed, found = {}, set()
    for row in rows:
        if row["kind"] == "drift":
            fixed.setdefault(row["engine"], []).append(float(row["load_rows_s"]))
    least = {engine: DISTURBED * statistics.median(speeds) for engine, speeds in fixed.items()}
    slow, block = {}, {}
    for at, row in enumerate(rows):
        engine = row["engine"]
        if row["kind"] != "drift":
            block.setdefault(engine, []).append(at)
            if slow.get(engine):
                found.add(at)
            continue
        slow[engine] = float(row["load_rows_s"]) < least[engine]
        if slow[engine]:
            found.update(block.get(engine, []))
        block[engine] = []
    return found


def chance(chi_square):
    """How often equal shares of 8 shards (7 degrees of freedom) are at least as far off."""
    root = math.sqrt(chi_square / 2)
    return math.erfc(root) + math.sqrt(2 * chi_square / math.pi) * math.exp(-chi_square / 2) * (1 + chi_square / 3 + chi_square**2 / 15)


class Figures:
    """All rows of all machines; text and tables quote the machine with the most rows."""

    def __init__(self, folder):
        self.folder = folder
        self.values, self.drift, self.loads, self.versions, self.rows = {}, {}, {}, {}, {}
        self.left_out = {}  # disturbed results of each machine
        count = {}
        for path in sorted(glob.glob(os.path.join(folder, "*.csv"))):
            if os.path.basename(path) == "shards.csv":
                continue
            with open(path, encoding="utf-8", newline="") as lines:
                rows = list(csv.DictReader(lines))
            left_out = disturbed(rows)
            for at, row in enumerate(rows):
                if at not in left_out:
                    self.add(row)
                count[row["machine"]] = count.get(row["machine"], 0) + 1
            self.left_out[rows[0]["machine"] if rows else path] = len(left_out)
        self.machines = sorted(count, key=lambda one: (-count[one], one))
        self.machine = self.machines[0]
        self.count = count
        with open(os.path.join(folder, "shards.csv"), encoding="utf-8", newline="") as lines:
            self.shards = list(csv.DictReader(lines))

    def add(self, row):
        machine, engine, repetition = row["machine"], row["engine"], int(row["repetition"])
        key = called(engine, row["key"])
        cell = (engine, key, row["storage"], row["ratio"], row["writers"])
        self.versions[machine, engine] = row["version"]
        if row["writers"] == "1":
            self.rows[machine, engine, row["ratio"]] = int(row["rows"])
        self.loads.setdefault(machine, []).append(float(row["load"]))
        for metric, text in row.items():
            if metric in LABELS or text == "":
                continue
            if row["kind"] == "drift":
                self.drift.setdefault((machine, engine, metric), []).append((repetition, float(text)))
            else:
                self.values.setdefault((machine, *cell, metric), {})[repetition] = float(text)

    def version(self, machine, engine):
        return self.versions.get((machine, engine), "")

    def load(self, machine):
        return statistics.median(self.loads[machine])

    @staticmethod
    def keys(engine):
        """Their names at an engine, in the order of the report."""
        return [called(engine, key) for key in ORDER]

    def storages(self, engine, key):
        """Those that were measured, the usual one first: it has the most cells."""
        found = {}
        for machine, one, name, storage, *_ in self.values:
            if machine == self.machine and (one, name) == (engine, key):
                found[storage] = found.get(storage, 0) + 1
        return sorted(found, key=lambda one: -found[one])

    def raw(self, engine, key, metric, ratio="2", writers="1", storage=None, machine=None):
        key = called(engine, key)
        storage = storage or next(iter(self.storages(engine, key)), None)
        return self.values.get((machine or self.machine, engine, key, storage, str(ratio), str(writers), metric))

    def value(self, *words, **more):
        """(median, low, high, n), or None if it was not measured."""
        found = self.raw(*words, **more)
        return interval(found.values()) if found else None

    def ratio(self, engine, key, other, metric, ratio="2", writers="1", storage=None, other_storage=None, machine=None, other_writers=None):
        """How many times the key's value is the value of the other key in the same repetition, since the two ran near each other."""
        own = self.raw(engine, key, metric, ratio, writers, storage, machine)
        base = self.raw(engine, other, metric, ratio, other_writers or writers, other_storage, machine)
        if not own or not base:
            return None
        both = [own[n] / base[n] for n in own if n in base and base[n]]
        return interval(both) if both else None

    def summary(self):
        """The rows of summary.tsv."""
        for (machine, engine, key, storage, ratio, writers, metric), found in sorted(self.values.items()):
            if machine == self.machine:
                yield engine, key, storage, ratio, writers, metric, unit(metric), *("%.4g" % one for one in interval(found.values())[:3]), str(len(found))
        for row in self.shards:
            for metric in ("fullest", "chi_square"):
                yield "-", row["key"], "-", "-", row["writers"], "shard_%s_%s" % (row["by"], metric), "share" if metric == "fullest" else "", *([row[metric]] * 3), "1"
