# SPDX-License-Identifier: MIT
"""Servers with a replica, on loopback: how long after the last commit does the replica have everything?"""
import os
import shutil
import subprocess
import time

import engine
import measure

PATIENCE_S = 60


class Pair:
    """A primary and its replica."""

    def __init__(self, primary, standby):
        self.primary, self.standby, self.marks = primary, standby, 0

    def make_marker(self):
        self.primary.execute("CREATE TABLE marker (n integer PRIMARY KEY)")

    def lag(self):
        """Commits its own row and asks the replica for it."""
        self.marks += 1
        start = time.perf_counter()
        self.primary.execute("INSERT INTO marker VALUES (%s)", (self.marks,))
        while time.perf_counter() - start < PATIENCE_S:
            try:
                if self.standby.rows("SELECT max(n) FROM marker")[0][0] == self.marks:
                    return time.perf_counter() - start
            except (self.standby.driver.ProgrammingError, self.standby.driver.InternalError):
                pass  # the table has not come yet
            time.sleep(0.0005)
        raise RuntimeError("the replica did not follow within %d s" % PATIENCE_S)

    def stop(self):
        self.standby.stop()
        self.primary.stop()


class PostgresPair(Pair):
    def start(self, folder):
        self.primary.start(os.path.join(folder, "primary"))
        place = os.path.join(folder, "standby")
        self.standby.start(place)
        self.standby.connection.close()
        engine.command("halt", place)
        data = os.path.join(os.path.realpath(os.path.join(place, "data")), "pg")
        owner = os.stat(data)
        shutil.rmtree(data)
        source = "host=127.0.0.1 port=%d user=firn" % self.primary.port
        programs = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True).stdout.strip()
        subprocess.run([os.path.join(programs, "pg_basebackup"), "-d", source, "-D", data, "-R", "-X", "stream", "-c", "fast"], check=True)
        for where, _, names in os.walk(data):
            for path in [where] + [os.path.join(where, name) for name in names]:
                os.chown(path, owner.st_uid, owner.st_gid)
        os.chmod(data, 0o700)
        engine.command("restart", place)
        self.standby.connection = self.standby.connect()
        self.standby.cursor = self.standby.connection.cursor()
        self.primary.execute("SET synchronous_commit = on")
        self.make_marker()


class MariaDBPair(Pair):
    def start(self, folder):
        self.primary.keep_log = True
        self.primary.start(os.path.join(folder, "primary"))
        self.standby.start(os.path.join(folder, "standby"), "--server-id=2")
        name, at = self.primary.rows("SHOW MASTER STATUS")[0][:2]
        self.standby.execute("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_USER='firn', MASTER_LOG_FILE='%s', MASTER_LOG_POS=%d"
                             % (self.primary.port, name, at))
        self.standby.execute("START SLAVE")
        self.make_marker()


def pair_of(kind):
    return {"postgres": PostgresPair, "mariadb": MariaDBPair}[kind.name](kind(), kind())


def measure_lag(pair, cell, streams):
    """The second half of a table as fast as one writer can, in transactions of 500 rows; then the replica's lag."""
    rows, _, _ = measure.table_rows(pair.primary, cell, streams)
    pair.primary.create(cell.storage, cell.key == "serial")
    pair.primary.load(pair.primary.batches(rows[: len(rows) // 2]))
    batches = pair.primary.batches(rows[len(rows) // 2 :])
    pair.primary.checkpoint()
    pair.lag()
    before = pair.primary.counters()
    start = time.perf_counter()
    pair.primary.load(batches)
    took = time.perf_counter() - start
    lag = pair.lag()
    count = len(rows) - len(rows) // 2
    per = measure.moved(before, pair.primary.counters(), count)
    pair.primary.forget_log()
    sent = per.get("binlog_bytes", per["log_bytes"])
    return {"replica_lag_ms": 1000 * lag, "replica_lag_share": lag / (took + lag), "replica_bytes_row": sent}
