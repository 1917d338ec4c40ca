# SPDX-License-Identifier: MIT
"""How evenly IDs fall to 8 shards, the newest 10,000 of a million a day: a pure computation, the same on every machine."""
import zlib

import keys

SHARDS, COUNT = 8, 10000


def buckets(raw):
    number = int.from_bytes(raw, "big")
    return {"hash": zlib.crc32(raw) % SHARDS, "modulo": number % SHARDS, "leading": raw[0] * SHARDS // 256}


def measured(streams):
    """For each key and way: the share of the fullest shard, 0.125 at best, and chi-square (7 degrees of freedom)."""
    rows = []
    for key in keys.KEYS:
        for writers in (1, 16):
            found = [raw for raw, _ in streams.get(key.name, writers, COUNT)[0]] if key.fields or "then" in key.name else [n.to_bytes(8, "big") for n in range(1, COUNT + 1)]
            for way in ("hash", "modulo", "leading"):
                counts = [0] * SHARDS
                for raw in found:
                    counts[buckets(raw)[way]] += 1
                expected = COUNT / SHARDS
                rows.append((key.name, writers, way, max(counts) / COUNT, sum((one - expected) ** 2 for one in counts) / expected, counts.count(0)))
    return rows
