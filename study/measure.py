# SPDX-License-Identifier: MIT
"""The operations on a table in one cell of the study, and what they measure."""
import gc
import os
import random
import struct
import time

import keys

SINGLE = 1000  # rows inserted one by one by one writer
SINGLE_MANY = 2000  # by several writers together
LOOKUPS = 1000
PAGES, PAGE_ROWS = 20, 50
CUSTOMERS = 10000
PAYLOAD = [random.Random(n).randbytes(200).hex() for n in range(997)]


# The columns of the results, in the order of the report.
METRICS = """load_rows_s insert_rows_s insert_p50_ms insert_p99_ms table_bytes_row index_bytes_row total_bytes_row leaf_density
    leaf_pages_1000_rows splits_1000_rows log_bytes_row log_bytes_row_single images_row images_row_single binlog_bytes_row
    written_bytes_row misses_row misses_row_single read_recent_us read_recent_misses read_old_us read_old_misses page_us count_ms
    range_id_us_row range_time_us_row second_index_ms second_index_bytes_row foreign_bytes_row join_us_row clean_ms
    replica_lag_ms replica_lag_share replica_bytes_row""".split()


def single_rows(cell):
    return SINGLE if cell.writers == 1 else SINGLE_MANY


def count_rows(engine, cell):
    return int(engine.rows_per_buffer * cell.ratio) + single_rows(cell)


def table_rows(engine, cell, streams):
    """The rows of a cell in order of arrival, with the writer of each."""
    single, count = single_rows(cell), count_rows(engine, cell)
    ids, owners = streams.get(cell.key, cell.writers, count)
    times = streams.instants[:count]
    chance = random.Random(keys.SEED)
    rest = [(at, chance.randrange(CUSTOMERS), PAYLOAD[n % len(PAYLOAD)][: engine.payload_chars]) for n, at in enumerate(times)]
    if cell.key == "serial":
        return rest, owners, single
    return [(engine.value(cell.storage, one),) + row for one, row in zip(ids, rest)], owners, single


def moved(before, after, rows):
    return {name: (after[name] - before[name]) / rows for name in before}


def fill(engine, rows, single):
    """The table without its last rows, in transactions of 500 rows. Counted is the second half, which begins with a
    checkpoint, as each time that a table doubles."""
    loaded = len(rows) - single
    engine.load(engine.batches(rows[: loaded // 2]))
    batches = engine.batches(rows[loaded // 2 : loaded])
    engine.checkpoint()
    before = engine.counters()
    start = time.perf_counter()
    engine.load(batches)
    took = time.perf_counter() - start
    after = engine.counters()
    engine.checkpoint()
    written = engine.counters()["written_bytes"] - before["written_bytes"]
    counted = loaded - loaded // 2
    per = moved(before, after, counted)
    found = {"load_rows_s": counted / took, "log_bytes_row": per["log_bytes"], "misses_row": per["misses"], "written_bytes_row": written / counted}
    if "images" in per:
        found["images_row"] = per["images"]
    if "binlog_bytes" in per:
        found["binlog_bytes_row"] = per["binlog_bytes"]
    if "splits" in per:
        found["splits_1000_rows"] = 1000 * per["splits"]
    return found


def write_one_by_one(insert, rows, gate):
    """Each row a transaction: seconds of each. gate() returns when all writers may begin."""
    seconds = []
    clock = time.perf_counter
    gate()
    for row in rows:
        start = clock()
        insert(row)
        seconds.append(clock() - start)
    return seconds


def writer_process(engine, serial, rows, gate_read, report):
    """A writer in its own process; never returns. It says that it is ready, waits for the gate to close, and reports
    when it began, when it ended, and how long each row took."""
    status = 1
    try:
        insert, close = engine.inserter(serial)

        def gate():
            os.write(report, b"r")
            os.read(gate_read, 1)

        gc.disable()
        began = []
        seconds = write_one_by_one(insert, rows, lambda: (gate(), began.append(time.perf_counter())))
        answer = struct.pack("<dd%dd" % len(seconds), began[0], time.perf_counter(), *seconds)
        close()
        while answer:
            answer = answer[os.write(report, answer) :]
        status = 0
    finally:
        os._exit(status)


def read_all(pipe):
    parts = []
    while part := os.read(pipe, 1 << 16):
        parts.append(part)
    os.close(pipe)
    return b"".join(parts)


def write_together(engine, serial, shares):
    """Writers in processes: the seconds from the first begin to the last end, and the seconds of every row."""
    gate_read, gate_write = os.pipe()
    workers = []
    for rows in shares:
        report_read, report_write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(gate_write)
            writer_process(engine, serial, rows, gate_read, report_write)
        os.close(report_write)
        workers.append((pid, report_read))
    ready = [os.read(report, 1) for _, report in workers]
    os.close(gate_read)
    os.close(gate_write)  # the end of the pipe lets every writer go at once
    answers = [read_all(report) for _, report in workers]
    failed = [pid for pid, _ in workers if os.waitpid(pid, 0)[1]]
    if failed or b"" in ready:
        raise RuntimeError("%d of %d writers failed" % (len(failed), len(workers)))
    told = [struct.unpack("<%dd" % (len(answer) // 8), answer) for answer in answers]
    return max(one[1] for one in told) - min(one[0] for one in told), [each for one in told for each in one[2:]]


def singles(engine, cell, rows, owners, single):
    """The last rows one by one, just after a checkpoint: the rows between two checkpoints are few here."""
    serial = cell.key == "serial"
    rows, owners = rows[-single:], owners[-single:]
    before = engine.counters()
    if cell.writers == 1:
        insert, close = engine.inserter(serial)
        gc.disable()
        start = time.perf_counter()
        seconds = write_one_by_one(insert, rows, lambda: None)
        took = time.perf_counter() - start
        gc.enable()
        close()
    else:
        shares = [[row for row, owner in zip(rows, owners) if owner == one] for one in range(cell.writers)]
        took, seconds = write_together(engine, serial, shares)
    per = moved(before, engine.counters(), single)
    seconds.sort()
    found = {"insert_rows_s": single / took, "insert_p50_ms": 1000 * seconds[single // 2], "insert_p99_ms": 1000 * seconds[int(single * 0.99)],
             "log_bytes_row_single": per["log_bytes"], "misses_row_single": per["misses"]}
    if "images" in per:
        found["images_row_single"] = per["images"]
    return found


def sizes(engine, count):
    size = engine.sizes()
    return {"table_bytes_row": size["table_bytes"] / count, "index_bytes_row": size["index_bytes"] / count,
            "total_bytes_row": (size["table_bytes"] + size["index_bytes"]) / count, "leaf_density": size["leaf_density"],
            "leaf_pages_1000_rows": 1000 * size["leaf_pages"] / count} | ({"splits_1000_rows": 1000 * size["splits"] / count} if "splits" in size else {})


def lookups(engine, ids, name):
    """LOOKUPS rows by their IDs, in one statement, so that no network is in the figure."""
    engine.probe(ids)
    engine.nested(True)
    before = engine.counters()
    took, found = engine.timed(engine.lookup)
    missed = engine.counters()["misses"] - before["misses"]
    engine.nested(False)
    if found[0][0] != len(ids):
        raise RuntimeError("%d of %d rows found" % (found[0][0], len(ids)))
    return {"read_%s_us" % name: 1e6 * took / len(ids), "read_%s_misses" % name: missed / len(ids)}


def paging(engine, ids):
    """Pages of rows in order of their IDs, each from the last ID of the page before."""
    sql = "SELECT id, payload FROM t WHERE id > %s ORDER BY id LIMIT %d" % (engine.mark, PAGE_ROWS)
    last = sorted(ids)[len(ids) // 2] if not isinstance(ids, range) else len(ids) // 2
    start = time.perf_counter()
    for _ in range(PAGES):
        found = engine.rows(sql, (last,))
        if not found:
            break
        last = found[-1][0]
    return {"page_us": 1e6 * (time.perf_counter() - start) / PAGES}


def ranges(engine, cell, ids, rows):
    """The rows of a twentieth of the time, from the middle: by ID where IDs sort by time, and by the time's own index."""
    found = {}
    mark = engine.mark
    first, end = len(rows) // 2, len(rows) // 2 + len(rows) // 20
    columns = "SELECT count(*), sum(length(payload)) FROM t WHERE "
    took, bytes_ = engine.second_index()
    found["second_index_ms"], found["second_index_bytes_row"] = 1000 * took, bytes_ / len(rows)
    if keys.BY_NAME[cell.key].ordered:
        took, got = engine.timed(columns + "id >= %s AND id < %s" % (mark, mark), (ids[first], ids[end]))
        found["range_id_us_row"] = 1e6 * took / max(1, got[0][0])
        if got[0][0] != end - first:
            raise RuntimeError("%s: %d of %d rows in the range" % (cell, got[0][0], end - first))
    at = [row[-3] for row in rows]
    took, got = engine.timed(columns + "created_ms >= %s AND created_ms < %s" % (mark, mark), (at[first], at[end]))
    found["range_time_us_row"] = 1e6 * took / got[0][0]
    return found


def reads(engine, cell, rows):
    """Everything that only reads. The newest hundredth of the rows is recent; any of the oldest nine tenths is old."""
    count = len(rows)
    ids = range(1, count + 1) if cell.key == "serial" else [row[0] for row in rows]
    chance = random.Random(keys.SEED + 1)
    engine.settle()
    found = lookups(engine, [ids[chance.randrange(count * 99 // 100, count)] for _ in range(LOOKUPS)], "recent")
    found |= lookups(engine, [ids[chance.randrange(count * 9 // 10)] for _ in range(LOOKUPS)], "old")
    found |= paging(engine, ids)
    found["count_ms"] = 1000 * engine.timed("SELECT count(*) FROM t")[0]
    found |= ranges(engine, cell, ids, rows)
    child_rows = count // 5
    found["foreign_bytes_row"] = engine.child(CUSTOMERS // 5) / child_rows
    took, got = engine.timed("SELECT count(*), sum(length(t.payload)) FROM item JOIN t ON t.id = item.order_id")
    found["join_us_row"] = 1e6 * took / got[0][0]
    engine.execute("DELETE FROM t WHERE created_ms < " + engine.mark, (rows[count // 10][-3],))
    found["clean_ms"] = 1000 * engine.clean()
    return found


def measure(engine, cell, streams):
    """Everything of one cell: names and values. With one writer a table is read too."""
    rows, owners, single = table_rows(engine, cell, streams)
    engine.create(cell.storage, cell.key == "serial")
    found = fill(engine, rows, single)
    found |= singles(engine, cell, rows, owners, single)
    found = sizes(engine, len(rows)) | found
    if cell.writers == 1:
        found |= reads(engine, cell, rows)
    return found
