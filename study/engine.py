# SPDX-License-Identifier: MIT
"""The functions of an engine that the study needs. test/engine starts a private one on loopback and ends it with this process."""
import importlib
import os
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BATCH = 500  # rows of a transaction while a table is filled


def place():
    """Where data are: in memory if there is room, since pages are counted and no disk is measured."""
    try:
        room = os.statvfs("/dev/shm")
        if os.access("/dev/shm", os.W_OK) and room.f_bavail * room.f_frsize > 6 << 30:
            return "/dev/shm"
    except OSError:
        pass
    return "/tmp"


PLACE = place()
DISK = False  # engines wait for a disk, as they do by default


def on_disk(folder):
    global PLACE, DISK  # pylint: disable=global-statement
    PLACE, DISK = os.path.abspath(folder), True


class Missing(Exception):
    """The engine, or Debian's Python package for it, is not installed."""


class Engine:
    """One engine with its buffer. Rows are (id, created_ms, customer, payload); created_ms is a 64-bit integer
    everywhere, so that engines differ in the key only. Subclasses say how."""

    name = buffer_bytes = None
    rows_per_buffer = 0  # rows whose table and index, with an integer key, are as large as the buffer
    payload_chars = 100
    replicates = True
    clustered = False  # the table is the index of its primary key

    mark = "%s"  # of a parameter

    def batches(self, rows):
        """The input of load, made where nothing is measured: a transaction each."""
        return list(pairs(rows))

    def forget_log(self):
        """Deletes the data that a replica has read already, where they take room."""

    def timed(self, sql, values=()):
        """Runs a query to its last row: seconds, and the rows."""
        start = time.perf_counter()
        found = self.rows(sql, values)
        return time.perf_counter() - start, found

    def took(self, sql, values=()):
        start = time.perf_counter()
        self.execute(sql, values)
        return time.perf_counter() - start

    # A subclass has:
    #   start(folder) stop()             the private engine
    #   storages(key)                    how the key can be stored, the usual way first
    #   value(storage, (bytes, text))    an ID as a parameter of a statement
    #   execute(sql, values) rows(sql, values)
    #   create(storage, serial)          an empty table t; serial: the engine counts the key itself
    #   load(batches(rows))              in transactions of BATCH rows
    #   inserter(serial)                 with its own connection: a function that inserts a row as one transaction, one that closes
    #   checkpoint() counters()          log_bytes, images, written_bytes, misses so far
    #   sizes()                          bytes of table and index, leaf pages, their density, splits
    #   settle()                         what maintenance does before tables are read
    #   probe(values)                    a temporary table of IDs; nested(on): whether `lookup` looks each up in turn
    #   second_index()                   on created_ms: seconds, bytes
    #   child(customers)                 a table item that refers to t, in no order, with an index on that: its bytes
    #   clean()                          VACUUM or OPTIMIZE: seconds


def command(*words):
    script = os.path.join(ROOT, "test", "engine")
    return subprocess.run([script, *words], check=True, capture_output=True)


def start_private(kind, folder, *options):
    """Its port: test/engine starts it and ends it when this process is gone."""
    words = [os.path.join(ROOT, "test", "engine"), "start", kind, folder, *options]
    done = subprocess.run(words, env=dict(os.environ, ENGINE_OWNER=str(os.getpid()), ENGINE_PLACE=PLACE), capture_output=True, text=True)
    if done.returncode == 77:
        raise Missing("%s is not installed" % kind)
    if done.returncode:
        raise RuntimeError("%s did not start: %s" % (kind, done.stderr.strip()))
    with open(os.path.join(folder, "port"), encoding="ascii") as ports:
        return int(ports.readline())


def stop_private(folder):
    command("stop", folder)


class Server(Engine):
    """An engine with its own processes. start sets folder, port, connection and cursor."""

    client = None  # Python's module, and Debian's package of it

    def __init__(self):
        module, package = self.client
        try:
            self.driver = importlib.import_module(module)
        except ImportError as error:
            raise Missing("%s is not installed" % package) from error

    def stop(self):
        self.connection.close()
        stop_private(self.folder)

    def execute(self, sql, values=()):
        self.cursor.execute(sql, values or None)

    def rows(self, sql, values=()):
        self.cursor.execute(sql, values or None)
        return self.cursor.fetchall()


def pairs(values):
    """A sequence in batches of BATCH."""
    for at in range(0, len(values), BATCH):
        yield values[at : at + BATCH]
