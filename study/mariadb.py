# SPDX-License-Identifier: MIT
"""MariaDB with InnoDB as the study sees it: the table is the B-tree of its primary key, and every other index holds the
key again."""
import mmap
import os
import struct
import uuid

import engine
from engine import Server, start_private
from keys import BYTES, INTEGER, TEXT, UUID


ASCII = " CHARACTER SET ascii COLLATE ascii_bin"
TYPES = {
    "bigint": "BIGINT", "decimal": "DECIMAL(20)", "binary": "BINARY(16)", "binary12": "BINARY(12)", "binary20": "BINARY(20)", "uuid": "UUID",
    "char": "CHAR(36)" + ASCII, "char20": "CHAR(20)" + ASCII, "char24": "CHAR(24)" + ASCII, "char26": "CHAR(26)" + ASCII, "char27": "CHAR(27)" + ASCII,
}
OPTIONS = """--innodb-buffer-pool-size=6M --innodb-log-file-size=512M --innodb-flush-log-at-trx-commit=0 --sync-binlog=0
    --innodb-flush-method=nosync --log-bin=binlog --binlog-format=ROW --server-id=1 --innodb-monitor-enable=index_page_splits
    --innodb-buffer-pool-dump-at-shutdown=OFF --innodb-buffer-pool-load-at-startup=OFF --innodb-stats-auto-recalc=OFF
    --max-allowed-packet=64M""".split()
ON_DISK = "--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1", "--innodb-flush-method=fsync"
PAGE = 16384
MOST_LOG = 1 << 29  # bytes of binlog, which is in memory
FIL_TYPE, INDEX_PAGE, HEADER = 24, 17855, 38  # of a page of InnoDB: where its type is, the type, the index header


def leaves(path):
    """For each index of a tablespace, in the order in which they were made: its leaf pages, and how full they are. Every
    page of the file is read; the fill is the share of the page that rows and their directory take."""
    found = {}
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        for at in range(0, len(pages) - PAGE + 1, PAGE):
            if struct.unpack_from(">H", pages, at + FIL_TYPE)[0] != INDEX_PAGE:
                continue
            slots, top, _, _, garbage = struct.unpack_from(">5H", pages, at + HEADER)
            rows, _, level, index = struct.unpack_from(">HQHQ", pages, at + HEADER + 16)
            if level == 0 and rows:
                count, used = found.get(index, (0, 0))
                found[index] = count + 1, used + top - garbage + 2 * slots + 8
    return [(count, used / count / PAGE) for _, (count, used) in sorted(found.items())]


class MariaDB(Server):
    name = "mariadb"
    client = "MySQLdb", "python3-mysqldb"
    buffer_bytes = 6 << 20
    rows_per_buffer = 13000
    payload_chars = 400  # more than elsewhere: the smallest buffer of InnoDB is 6 MiB, and fewer rows fill it
    clustered = True
    keep_log = False  # a replica reads it

    def start(self, folder, *more):
        self.folder, self.port = folder, start_private("mysql", folder, *OPTIONS, *(ON_DISK if engine.DISK else ()), *more)
        self.connection = self.connect()
        self.cursor = self.connection.cursor()
        self.version = self.rows("SELECT version()")[0][0].split("-")[0]

    def connect(self):
        return self.driver.connect(host="127.0.0.1", port=self.port, user="firn", db="firn", autocommit=True, charset="utf8mb4")

    def storages(self, key):
        if key.kind == BYTES:
            return ["binary12", "char24"] if key.name == "objectid" else ["binary20", "char27"]
        return {INTEGER: ["bigint", "decimal", "char20"], UUID: ["binary", "uuid", "char"], TEXT: ["char26", "binary"]}[key.kind]

    def value(self, storage, one):
        raw, text = one
        if storage.startswith("binary"):
            return raw
        if storage in ("bigint", "decimal"):
            return int.from_bytes(raw, "big", signed=True)
        if storage in ("char", "uuid"):
            return str(uuid.UUID(bytes=raw))
        return text or (raw.hex() if len(raw) == 12 else str(int.from_bytes(raw, "big", signed=True)))

    def create(self, storage, serial):
        self.kind = TYPES[storage]
        self.execute("DROP TABLE IF EXISTS t, item")
        if not self.keep_log and self.counters()["binlog_bytes"] > MOST_LOG:
            self.execute("RESET MASTER")
        self.execute("CREATE TABLE t (id %s PRIMARY KEY, created_ms BIGINT NOT NULL, customer INT NOT NULL, payload VARCHAR(500)%s NOT NULL) ENGINE=InnoDB"
                     % (self.kind + " NOT NULL" + (" AUTO_INCREMENT" if serial else ""), ASCII))

    @staticmethod
    def statement(width):
        return "INSERT INTO t (%s) VALUES (%s)" % ("id, created_ms, customer, payload" if width == 4 else "created_ms, customer, payload", ",".join(["%s"] * width))

    def load(self, batches):
        for batch in batches:
            self.cursor.executemany(self.statement(len(batches[0][0])), batch)

    def inserter(self, serial):
        connection = self.connect()
        cursor = connection.cursor()
        sql = self.statement(3 if serial else 4)
        return (lambda row: cursor.execute(sql, row)), connection.close

    def checkpoint(self):
        """Every page of t on the disk. Before that the purge, which visits each new row again to clear its transaction."""
        self.execute("SET GLOBAL innodb_max_purge_lag_wait = 0")
        self.flush()

    def flush(self, table="t"):
        self.execute("FLUSH TABLES %s FOR EXPORT" % table)
        self.execute("UNLOCK TABLES")

    def leaves(self, table):
        self.flush(table)
        return leaves(os.path.join(self.folder, "data", "my1", "firn", table + ".ibd"))

    def counters(self):
        names = "Innodb_lsn_current", "Innodb_data_written", "Innodb_buffer_pool_reads"
        found = dict(self.rows("SHOW GLOBAL STATUS WHERE Variable_name IN ('%s')" % "','".join(names)))
        binlog = sum(int(row[1]) for row in self.rows("SHOW BINARY LOGS"))
        splits = self.rows("SELECT count FROM information_schema.INNODB_METRICS WHERE name = 'index_page_splits'")[0][0]
        return {"log_bytes": float(found["Innodb_lsn_current"]), "binlog_bytes": float(binlog), "written_bytes": float(found["Innodb_data_written"]) + binlog,
                "misses": float(found["Innodb_buffer_pool_reads"]), "splits": float(splits)}

    def forget_log(self):
        """The binlog that the replica has read; the present file stays."""
        self.execute("FLUSH BINARY LOGS")
        self.execute("PURGE BINARY LOGS BEFORE now()")

    def sizes(self):
        count, density = self.leaves("t")[0]
        return {"table_bytes": count * PAGE, "index_bytes": 0, "leaf_pages": count, "leaf_density": density}

    def settle(self):
        self.execute("ANALYZE TABLE t")
        self.cursor.fetchall()

    def nested(self, on):
        pass  # STRAIGHT_JOIN says it

    def probe(self, values):
        self.execute("DROP TEMPORARY TABLE IF EXISTS probe")
        self.execute("CREATE TEMPORARY TABLE probe (id %s) ENGINE=MEMORY" % self.kind)
        self.cursor.executemany("INSERT INTO probe VALUES (%s)", [(value,) for value in values])

    lookup = "SELECT count(*), sum(length(t.payload)) FROM probe STRAIGHT_JOIN t ON t.id = probe.id"

    def second_index(self):
        took = self.took("CREATE INDEX t_created ON t (created_ms)")
        return took, self.leaves("t")[1][0] * PAGE

    def child(self, customers):
        self.execute("CREATE TABLE item (n INT AUTO_INCREMENT PRIMARY KEY, order_id %s NOT NULL, amount INT NOT NULL) ENGINE=InnoDB" % self.kind)
        self.execute("INSERT INTO item (order_id, amount) SELECT id, customer FROM t WHERE customer < %s ORDER BY customer", (customers,))
        self.execute("CREATE INDEX item_order ON item (order_id)")
        return sum(count for count, _ in self.leaves("item")) * PAGE

    def clean(self):
        took = self.took("OPTIMIZE TABLE t")
        self.cursor.fetchall()
        return took
