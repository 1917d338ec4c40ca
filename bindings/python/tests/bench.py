# SPDX-License-Identifier: MIT
"""ns per ID, call and loop included, the least of 60 rounds: next(), a block, an array, and what Python has itself."""
import time
import uuid

import firn


def least(call, n):
    best = None
    for _ in range(60):
        start = time.perf_counter_ns()
        for _ in range(n):
            call()
        spent = (time.perf_counter_ns() - start) / n
        best = spent if best is None or spent < best else best
        time.sleep(0.05)  # the layout has 4096 IDs per ms and node
    return best


with firn.open("snowflake", store="memory:", nodes=16) as gen, firn.open("uuid7") as uuids:
    print("snowflake: next %.0f, block %.0f, array %.1f" % (least(gen.next, 2000), least(gen.ids().__next__, 2000),
                                                            least(lambda: gen.array(20000), 1) / 20000))
    print("uuid7: next %.0f; uuid.uuid4 %.0f" % (least(uuids.next, 2000), least(uuid.uuid4, 2000)))
