# SPDX-License-Identifier: MIT
"""Many writers on the series without gaps of a database: rollbacks, savepoints, every isolation level, retries, a deadlock.

    gapless.py ENGINE PLACE           prints each number that is missing or there twice, and each other fault
    gapless.py ENGINE PLACE SECONDS   prints how many numbers a second it took: the figures of docs/guides/gapless.md

ENGINE: postgres, mariadb or sqlite. PLACE: a port of loopback, or FILE=LIBRARY of the extension. The tables of gapless.sql and
`invoice (series, number)` are there."""
import random
import sys
import threading
import time


class Postgres:
    next = "SELECT firn_next_in(%s, %s)"
    mark = "%s"

    def __init__(self, place):
        import psycopg2
        self.connection = psycopg2.connect(host="127.0.0.1", port=place, user="firn", dbname="postgres")
        self.connection.autocommit = True
        self.dead = psycopg2.errors.DeadlockDetected
        self.again = (psycopg2.errors.SerializationFailure, self.dead)
        self.cursor = self.connection.cursor()

    def begin(self, generator):
        level = generator.choice(["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]) if generator else "READ COMMITTED"
        self.cursor.execute("BEGIN ISOLATION LEVEL " + level)

    def take(self, series, payload):
        self.cursor.execute(self.next, (series, payload))
        return self.cursor.fetchone()[0]


class Mariadb(Postgres):
    next = "SELECT firn_next_in(%s, %s)"

    def __init__(self, place):
        import MySQLdb
        self.connection = MySQLdb.connect(host="127.0.0.1", port=int(place), user="firn", database="firn", autocommit=True)
        self.again = self.dead = MySQLdb.OperationalError
        self.codes = (1205, 1213, 1020)  # a deadlock, or a row that was changed since the snapshot
        self.cursor = self.connection.cursor()

    def begin(self, generator):
        level = generator.choice(["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]) if generator else "REPEATABLE READ"
        self.cursor.execute("SET TRANSACTION ISOLATION LEVEL " + level)
        self.cursor.execute("BEGIN")


class Sqlite(Postgres):
    mark = "?"

    def __init__(self, place):
        import sqlite3
        file, library = place.split("=")
        self.connection = sqlite3.connect(file, timeout=60, isolation_level=None, check_same_thread=False)
        self.connection.enable_load_extension(True)
        self.connection.load_extension(library)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        self.again = self.dead = ()  # one writer, so no deadlock
        self.cursor = self.connection.cursor()

    def begin(self, generator):
        self.cursor.execute("BEGIN IMMEDIATE")

    def take(self, series, payload):
        self.cursor.execute("INSERT INTO firn_next (series, payload) VALUES (?, ?)", (series, payload))
        return self.cursor.execute("SELECT last FROM firn_gapless WHERE name = ?", (series,)).fetchone()[0]


ENGINES = {"postgres": Postgres, "mariadb": Mariadb, "sqlite": Sqlite}
SERIES = ["a", "b", "c"]


def insert(database, series):
    number = database.take(series, series + " text")
    database.cursor.execute("INSERT INTO invoice (series, number) VALUES (%s, %s)".replace("%s", database.mark), (series, number))


def transact(database, generator):
    """Returns how many invoices were committed."""
    first, second = generator.sample(SERIES, 2)
    database.begin(generator)
    insert(database, first)
    if generator.random() < 0.3:
        database.cursor.execute("SAVEPOINT here")
        insert(database, first)
        database.cursor.execute("ROLLBACK TO here")
    two = generator.random() < 0.2  # in either order, so some are deadlocks
    if two:
        insert(database, second)
    end = generator.choice(["COMMIT", "COMMIT", "ROLLBACK"])
    database.cursor.execute(end)
    return 1 + two if end == "COMMIT" else 0


def write(engine, place, seed, rounds, done, faults):
    try:
        database = engine(place)
        generator = random.Random(seed)
        for _ in range(rounds):
            while True:
                try:
                    done[0] += transact(database, generator)
                    break
                except database.again as error:
                    if error.args and error.args[0] not in getattr(database, "codes", error.args):
                        raise
                    done[1] += 1
                    database.cursor.execute("ROLLBACK")
    except Exception as error:  # of any driver
        faults.append(f"a writer ended: {error!r}")


def collide(engine, place, first, second, barrier, done):
    database = engine(place)
    database.begin(None)
    insert(database, first)
    barrier.wait(60)
    try:
        insert(database, second)
        database.cursor.execute("COMMIT")
        done[0] += 2
    except database.dead as error:
        done[1] += error.args[0] == 1213 or not isinstance(error.args[0], int)
        database.cursor.execute("ROLLBACK")


def deadlock(engine, place, done, faults):
    """Two transactions, each waits for the series of the other: one gives its number back."""
    barrier = threading.Barrier(2)
    together([threading.Thread(target=collide, args=(engine, place, *pair, barrier, done)) for pair in (SERIES[:2], SERIES[1::-1])])
    if done != [2, 1]:
        faults.append(f"a deadlock committed {done[0]} of 2 invoices, and was noticed {done[1]} times")


def together(threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def prove(engine, place, writers=8, rounds=40):
    faults = []
    counts = [[0, 0] for _ in range(writers)]
    database = engine(place)  # before the writers: to change SQLite's journal, a connection must be alone
    together([threading.Thread(target=write, args=(engine, place, i, rounds, counts[i], faults)) for i in range(writers)])
    if database.dead:
        counts.append([0, 0])
        deadlock(engine, place, counts[-1], faults)
    found = 0
    for series in SERIES:
        database.cursor.execute("SELECT number FROM invoice WHERE series = " + database.mark + " ORDER BY number", (series,))
        numbers = [row[0] for row in database.cursor.fetchall()]
        found += len(numbers)
        if numbers != list(range(1, len(numbers) + 1)):
            faults.append(f"{series}: gaps or duplicates: {numbers}")
    if found != sum(count[0] for count in counts):
        faults.append(f"{found} invoices of {sum(count[0] for count in counts)} that were committed")
    if found < writers * rounds / 3:
        faults.append(f"only {found} invoices")
    print("\n".join(faults), end="")


def run_for(engine, place, series, rows, end, counts, i):
    database = engine(place)
    while time.monotonic() < end:
        database.begin(None)
        for _ in range(rows):
            insert(database, series)
        database.cursor.execute("COMMIT")
        counts[i] += rows


def measure(engine, place, seconds):
    for writers, names, rows in ((1, ["a"], 1), (8, ["a"], 1), (8, [f"s{i}" for i in range(8)], 1), (1, ["a"], 100)):
        counts = [0] * writers
        begin = time.monotonic()
        together([threading.Thread(target=run_for, args=(engine, place, names[i % len(names)], rows, begin + seconds, counts, i))
                  for i in range(writers)])
        print(f"{writers} writers, {len(names)} series, {rows} a transaction: {sum(counts) / (time.monotonic() - begin):.0f} a second")


if __name__ == "__main__":
    if len(sys.argv) > 3:
        measure(ENGINES[sys.argv[1]], sys.argv[2], float(sys.argv[3]))
    else:
        prove(ENGINES[sys.argv[1]], sys.argv[2])
