# SPDX-License-Identifier: MIT
"""PostgreSQL as the study sees it: the table is a heap, the primary key a B-tree next to it."""
import uuid

import engine
from engine import Server, pairs, start_private
from keys import BYTES, INTEGER, TEXT, UUID


TYPES = {"bigint": "bigint", "numeric": "numeric(20)", "uuid": "uuid", "bytea": "bytea", "text": "text"}
OPTIONS = """shared_buffers=2MB fsync=off synchronous_commit=off autovacuum=off max_wal_size=4GB checkpoint_timeout=1h
    full_page_writes=on wal_level=replica jit=off max_parallel_workers_per_gather=0 max_parallel_maintenance_workers=0
    work_mem=16MB maintenance_work_mem=16MB bgwriter_lru_maxpages=0 max_wal_senders=4 track_io_timing=off
    track_wal_io_timing=off wal_compression=off""".split()
ON_DISK = "fsync=on", "synchronous_commit=on"
PAGE = 8192
# Pages of tables and indexes that were written. Version 17 moved the counts of the checkpointer and of the backends.
WRITTEN = "SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter"
WRITTEN_17 = """SELECT (SELECT buffers_written FROM pg_stat_checkpointer) + (SELECT buffers_clean FROM pg_stat_bgwriter)
    + (SELECT coalesce(sum(writes), 0) FROM pg_stat_io WHERE object = 'relation' AND backend_type NOT IN ('checkpointer', 'background writer'))"""


class Postgres(Server):
    name = "postgres"
    client = "psycopg2", "python3-psycopg2"
    buffer_bytes = 2 << 20
    rows_per_buffer = 11500

    def start(self, folder, *more):
        options = [word for option in (*OPTIONS, *(ON_DISK if engine.DISK else ()), *more) for word in ("-c", option)]
        self.folder, self.port = folder, start_private("postgres", folder, *options)
        self.connection = self.connect()
        self.cursor = self.connection.cursor()
        self.execute("CREATE EXTENSION IF NOT EXISTS pgstattuple")
        self.version = self.rows("SHOW server_version")[0][0].split()[0]

    def connect(self):
        connection = self.driver.connect(host="127.0.0.1", port=self.port, user="firn", dbname="postgres")
        connection.autocommit = True
        return connection

    def storages(self, key):
        return {INTEGER: ["bigint", "numeric", "text"], UUID: ["uuid", "bytea", "text"], TEXT: ["text", "uuid"], BYTES: ["bytea", "text"]}[key.kind]

    def value(self, storage, one):
        raw, text = one
        if storage == "uuid":
            return str(uuid.UUID(bytes=raw))  # objects of Python's own would cost more than the row
        if storage == "bytea":
            return raw
        if storage in ("bigint", "numeric"):
            return int.from_bytes(raw, "big", signed=True)
        if text:
            return text
        return str(uuid.UUID(bytes=raw)) if len(raw) == 16 else raw.hex() if len(raw) == 12 else str(int.from_bytes(raw, "big", signed=True))

    def create(self, storage, serial):
        kind = "bigserial" if serial else TYPES[storage]
        self.kind = TYPES[storage]
        self.execute("DROP TABLE IF EXISTS t, item")
        self.execute("CREATE TABLE t (id %s PRIMARY KEY, created_ms bigint NOT NULL, customer integer NOT NULL, payload text NOT NULL)" % kind)

    def batches(self, rows):
        names = b"created_ms, customer, payload" if len(rows[0]) == 3 else b"id, created_ms, customer, payload"
        mark = "(" + ",".join(["%s"] * len(rows[0])) + ")"
        return [b"INSERT INTO t (" + names + b") VALUES " + b",".join(self.cursor.mogrify(mark, row) for row in batch) for batch in pairs(rows)]

    def load(self, batches):
        for statement in batches:
            self.cursor.execute(statement)

    def inserter(self, serial):
        """A function that inserts one row as one transaction, with its own connection and a prepared statement."""
        connection = self.connect()
        cursor = connection.cursor()
        names = "created_ms, customer, payload" if serial else "id, created_ms, customer, payload"
        types = "bigint, integer, text" if serial else self.kind + ", bigint, integer, text"
        marks = ",".join("$%d" % (n + 1) for n in range(3 if serial else 4))
        cursor.execute("PREPARE one (%s) AS INSERT INTO t (%s) VALUES (%s)" % (types, names, marks))
        call = "EXECUTE one (" + ",".join(["%s"] * (3 if serial else 4)) + ")"

        def close():
            cursor.execute("SELECT pg_stat_force_next_flush()")
            connection.close()

        return (lambda row: cursor.execute(call, row)), close

    def checkpoint(self):
        self.execute("CHECKPOINT")

    def counters(self):
        self.execute("SELECT pg_stat_force_next_flush()")
        log = self.rows("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")[0][0]
        images = self.rows("SELECT wal_fpi FROM pg_stat_wal")[0][0]
        written = self.rows(WRITTEN_17 if self.connection.server_version >= 170000 else WRITTEN)[0][0]
        missed = self.rows("SELECT coalesce(sum(blks_read), 0) FROM pg_stat_database WHERE datname = 'postgres'")[0][0]
        return {"log_bytes": float(log), "images": float(images), "written_bytes": float(log) + float(written) * PAGE, "misses": float(missed)}

    def sizes(self):
        leaf = self.rows("SELECT leaf_pages, internal_pages, avg_leaf_density, leaf_fragmentation FROM pgstatindex('t_pkey')")[0]
        table, index = self.rows("SELECT pg_relation_size('t'), pg_relation_size('t_pkey')")[0]
        return {"table_bytes": table, "index_bytes": index, "leaf_pages": leaf[0], "leaf_density": leaf[2] / 100, "splits": leaf[0] - 1}

    def settle(self):
        self.execute("VACUUM (ANALYZE) t")

    def nested(self, on):
        for way in ("hashjoin", "mergejoin", "memoize"):
            self.execute("SET enable_%s = %s" % (way, "off" if on else "on"))

    def probe(self, values):
        self.execute("DROP TABLE IF EXISTS probe")
        self.execute("CREATE TEMP TABLE probe (id %s)" % self.kind)
        marks = b",".join(self.cursor.mogrify("(%s)", (value,)) for value in values)
        self.cursor.execute(b"INSERT INTO probe VALUES " + marks)

    lookup = "SELECT count(*), sum(length(t.payload)) FROM probe JOIN t ON t.id = probe.id"

    def second_index(self):
        took = self.took("CREATE INDEX t_created ON t (created_ms)")
        return took, self.rows("SELECT pg_relation_size('t_created')")[0][0]

    def child(self, customers):
        self.execute("CREATE TABLE item (order_id %s NOT NULL, amount integer NOT NULL)" % self.kind)
        self.execute("INSERT INTO item SELECT id, customer FROM t WHERE customer < %s ORDER BY customer", (customers,))
        self.execute("CREATE INDEX item_order ON item (order_id)")
        self.execute("VACUUM (ANALYZE) item")
        return self.rows("SELECT pg_relation_size('item') + pg_relation_size('item_order')")[0][0]

    def clean(self):
        return self.took("VACUUM t")
