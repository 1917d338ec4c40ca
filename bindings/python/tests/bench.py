# SPDX-License-Identifier: MIT
"""ns per ID, call and loop included, the minimum of 600 bursts, which take turns: next(), a for loop, an array, reading, and
what Python has itself, or the packages python-ulid and uuid6 if they are installed."""
import collections
import datetime
import itertools
import time
import uuid

import firn


def measure(calls):
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(600):
        for name, (call, n, ids) in calls.items():
            start = time.perf_counter_ns()
            for _ in range(n):
                call()
            best[name] = min(best[name], (time.perf_counter_ns() - start) / n / ids)
        time.sleep(0.001)  # the layout has 4096 IDs per ms and node
    for name, ns in best.items():
        print("%-36s %7.1f" % (name, ns))


with firn.open("snowflake", store="memory:", nodes=16) as gen, firn.open("uuid7") as uuids, firn.open("ulid") as ulids:
    def drain(gen):
        collections.deque(itertools.islice(gen, 500), 0)

    text, many, day = str(uuids.next()), bytes(gen.array(5000)), datetime.datetime(2026, 1, 6, tzinfo=datetime.timezone.utc)
    calls = {"snowflake: next": (gen.next, 500, 1), "snowflake: for": (lambda: drain(gen), 1, 500),
             "snowflake: array": (lambda: gen.array(5000), 1, 5000), "uuid7: next": (uuids.next, 500, 1),
             "uuid7: for": (lambda: drain(uuids), 1, 500), "ulid: next": (ulids.next, 500, 1),
             "uuid.uuid4": (uuid.uuid4, 100, 1), "uuid.UUID(text)": (lambda: uuid.UUID(text), 100, 1),
             "parse(text, uuid7)": (lambda: firn.parse(text, "uuid7"), 100, 1),
             "show(int, snowflake)": (lambda: firn.show(1541815603606036480, "snowflake"), 100, 1),
             "show(text, uuid7)": (lambda: firn.show(text, "uuid7"), 100, 1),
             "range(snowflake, day)": (lambda: firn.range("snowflake", day, day + datetime.timedelta(1)), 100, 1),
             "decode(snowflake), an element": (lambda: firn.decode(many, "snowflake"), 1, 5000)}
    try:
        import uuid6
        calls["uuid6: uuid7"] = (uuid6.uuid7, 100, 1)
    except ImportError:
        pass
    try:
        import ulid
        calls["python-ulid: str(ULID())"] = (lambda: str(ulid.ULID()), 100, 1)
    except ImportError:
        pass
    measure(calls)
