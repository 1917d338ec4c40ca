# SPDX-License-Identifier: MIT
"""SQLite as the study sees it: an integer key is the table's own B-tree; any other key is an index next to it, unless the
table is WITHOUT ROWID. The log is the WAL, which the study checkpoints itself to count its frames."""
import os
import sqlite3
import uuid

import engine
from engine import Engine
from keys import BYTES, INTEGER, TEXT, UUID


TYPES = {"integer": "INTEGER", "blob": "BLOB", "text": "TEXT", "blob-clustered": "BLOB", "text-clustered": "TEXT"}
FRAME = 4096 + 24
WAL_PAGES = 1000  # as wal_autocheckpoint


class SQLite(Engine):
    name = "sqlite"
    buffer_bytes = 2 << 20
    rows_per_buffer = 17000
    replicates = False
    mark = "?"
    version = sqlite3.sqlite_version

    def start(self, folder, *_):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, "study.db")
        self.connection = None

    def connect(self):
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=60)
        for setting in "journal_mode=WAL", "synchronous=%s" % ("FULL" if engine.DISK else "OFF"), "wal_autocheckpoint=0", "cache_size=-2048", "cache_spill=ON":
            connection.execute("PRAGMA " + setting)
        return connection

    def stop(self):
        if self.connection:
            self.connection.close()
        for end in "", "-wal", "-shm":
            if os.path.exists(self.path + end):
                os.remove(self.path + end)

    def storages(self, key):
        return {INTEGER: ["integer", "text"], UUID: ["blob", "blob-clustered", "text"], TEXT: ["text", "blob"], BYTES: ["blob", "text"]}[key.kind]

    def value(self, storage, one):
        raw, text = one
        if storage == "integer":
            return int.from_bytes(raw, "big", signed=True)
        if storage.startswith("blob"):
            return raw
        return text or (str(uuid.UUID(bytes=raw)) if len(raw) == 16 else raw.hex() if len(raw) == 12 else str(int.from_bytes(raw, "big", signed=True)))

    def execute(self, sql, values=()):
        self.connection.execute(sql, values)

    def rows(self, sql, values=()):
        return self.connection.execute(sql, values).fetchall()

    def create(self, storage, serial):
        self.stop()
        self.connection = self.connect()
        self.kind, self.serial = TYPES[storage], serial
        self.clustered = storage == "integer" or storage.endswith("clustered")
        end = " WITHOUT ROWID" if storage.endswith("clustered") else ""
        self.execute("CREATE TABLE t (id %s PRIMARY KEY NOT NULL, created_ms INTEGER NOT NULL, customer INTEGER NOT NULL, payload TEXT NOT NULL)%s" % (self.kind, end))
        self.frames = self.written = 0
        self.checkpoint()

    @staticmethod
    def statement(width):
        return "INSERT INTO t (%s) VALUES (%s)" % ("id, created_ms, customer, payload" if width == 4 else "created_ms, customer, payload", ",".join("?" * width))

    def load(self, batches):
        sql = self.statement(len(batches[0][0]))
        for batch in batches:
            self.execute("BEGIN")
            self.connection.executemany(sql, batch)
            self.execute("COMMIT")
            if os.path.getsize(self.path + "-wal") >= WAL_PAGES * FRAME:
                self.checkpoint()

    def inserter(self, serial):
        connection = self.connect()
        sql = self.statement(3 if serial else 4)
        return (lambda row: connection.execute(sql, row)), connection.close

    def checkpoint(self):
        """Writes the WAL back; TRUNCATE, so that its size says what was logged since."""
        frames = max(0, os.path.getsize(self.path + "-wal") - 32) // FRAME
        before = self.write_bytes()
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        self.frames += frames
        self.written += frames * FRAME + self.write_bytes() - before

    @staticmethod
    def write_bytes():
        with open("/proc/self/io", encoding="ascii") as lines:
            return int(dict(line.split(": ") for line in lines)["wchar"])

    @staticmethod
    def read_bytes():
        with open("/proc/self/io", encoding="ascii") as lines:
            return int(dict(line.split(": ") for line in lines)["rchar"])

    def counters(self):
        frames = self.frames + max(0, os.path.getsize(self.path + "-wal") - 32) // FRAME
        return {"log_bytes": float(frames) * FRAME, "written_bytes": float(self.written), "misses": self.read_bytes() / 4096}

    def sizes(self):
        found = {name: (pages, density) for name, pages, density in self.rows(
            "SELECT name, count(*), sum(payload) * 1.0 / sum(pgsize) FROM dbstat WHERE pagetype = 'leaf' AND name IN ('t', 'sqlite_autoindex_t_1') GROUP BY name")}
        all_pages = dict(self.rows("SELECT name, sum(pgsize) FROM dbstat WHERE name IN ('t', 'sqlite_autoindex_t_1') GROUP BY name"))
        own = "sqlite_autoindex_t_1" if "sqlite_autoindex_t_1" in found else "t"
        return {"table_bytes": all_pages["t"], "index_bytes": all_pages.get("sqlite_autoindex_t_1", 0), "leaf_pages": found[own][0],
                "leaf_density": found[own][1], "splits": found[own][0] - 1}

    def settle(self):
        self.execute("ANALYZE")

    def nested(self, on):
        pass  # CROSS JOIN says it

    def probe(self, values):
        self.execute("DROP TABLE IF EXISTS temp.probe")
        self.execute("CREATE TEMP TABLE probe (id %s)" % self.kind)
        self.execute("BEGIN")
        self.connection.executemany("INSERT INTO probe VALUES (?)", [(value,) for value in values])
        self.execute("COMMIT")

    lookup = "SELECT count(*), sum(length(t.payload)) FROM probe CROSS JOIN t ON t.id = probe.id"

    def bytes_of(self, *names):
        return self.rows("SELECT sum(pgsize) FROM dbstat WHERE name IN (%s)" % ",".join("?" * len(names)), names)[0][0]

    def second_index(self):
        took = self.took("CREATE INDEX t_created ON t (created_ms)")
        self.execute("ANALYZE")
        return took, self.bytes_of("t_created")

    def child(self, customers):
        self.execute("CREATE TABLE item (order_id %s NOT NULL, amount INTEGER NOT NULL)" % self.kind)
        self.execute("INSERT INTO item SELECT id, customer FROM t WHERE customer < ? ORDER BY customer", (customers,))
        self.execute("CREATE INDEX item_order ON item (order_id)")
        self.execute("ANALYZE")
        return self.bytes_of("item", "item_order")

    def clean(self):
        return self.took("VACUUM")
