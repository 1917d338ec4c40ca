# SPDX-License-Identifier: MIT
"""Which cells the study has, and in which order they run."""
import random

import keys

RATIOS = (0.5, 2, 8)
USUAL_RATIO = 2  # of the cells with several writers, other storages or a replica
WRITERS = (4, 16)
REPETITIONS = 7
DRIFT_EVERY = 24  # cells
COLUMNS = ("kind", "engine", "key", "storage", "ratio", "writers")


class Cell:
    """One table. kind: table; replica (a table on a server with a replica); drift (the fixed cell of an engine)."""

    def __init__(self, kind, engine, key, storage, ratio=USUAL_RATIO, writers=1):
        self.kind, self.engine, self.key, self.storage, self.ratio, self.writers = kind, engine, key, storage, ratio, writers

    def name(self):
        return tuple(str(getattr(self, column)) for column in COLUMNS)

    def __str__(self):
        return "%s: %s %s as %s, %g times the buffer, %d writer%s" % (self.kind, self.engine, self.key, self.storage, self.ratio, self.writers, "s"[: self.writers > 1])


def of_engine(engine):
    """Every cell of an engine."""
    found = []
    for key in keys.KEYS:
        storages = engine.storages(key)
        found += [Cell("table", engine.name, key.name, storages[0], ratio) for ratio in RATIOS]
        found += [Cell("table", engine.name, key.name, storages[0], writers=writers) for writers in WRITERS]
        if key.name in ("snowflake", "uuid1", "uuid4", "uuid7", "ulid", "ksuid", "objectid"):
            found += [Cell("table", engine.name, key.name, storage) for storage in storages[1:]]
        if engine.replicates:
            found.append(Cell("replica", engine.name, key.name, storages[0]))
    return found


def drift(engine):
    return Cell("drift", engine.name, "snowflake", engine.storages(keys.BY_NAME["snowflake"])[0], 0.5)


def small(cell):
    """Whether `make study-small` has the cell: six keys, one writer, no other storage."""
    return cell.writers == 1 and cell.key in ("serial", "snowflake", "uuid1", "uuid4", "uuid7", "ulid") and cell.kind == "table" and cell.ratio != 0.5


def in_order(cells, repetition):
    """Repetition by repetition, each in its own order."""
    shuffled = list(cells)
    random.Random("%d %d" % (keys.SEED, repetition)).shuffle(shuffled)
    return shuffled
