# SPDX-License-Identifier: MIT
"""The keys of the study and their IDs, in order of arrival.

Rows arrive at RATE a second (a million a day), at random times (Poisson) of different milliseconds, so that no key
depends on a burst. `firn pack` builds each ID from its time, its writer and seeded random bits: the same run gives the
same IDs, in no time that is measured. Every writer has its own node, and rows fall to writers by chance."""
import random
import subprocess

SEED = 20261122
RATE = 10  # rows per second
START_MS = 1790812800000  # 2026-10-01

INTEGER, UUID, TEXT, BYTES = "integer", "uuid", "text", "bytes"


class Key:
    """kind: how the key is stored unless a cell says otherwise; text: characters of its text form; ordered: whether the
    IDs of one writer sort by time; node: the fields that tell writers apart."""

    def __init__(self, name, kind, text, ordered, fields):
        self.name, self.kind, self.text, self.ordered, self.fields = name, kind, text, ordered, fields


def mac(writer):
    return 0x4488993657_00 + writer


def bits(count):
    return lambda chance, row, writer: chance.getrandbits(count)


def node(scale=1):
    return lambda chance, row, writer: 7 + writer * scale


# `serial` is what the engine counts itself: bigserial, auto_increment, the rowid.
KEYS = [
    Key("serial", INTEGER, 20, True, None),
    Key("snowflake", INTEGER, 20, True, {"datacenter": lambda *_: 1, "worker": node(), "sequence": lambda *_: 0}),
    Key("seata", INTEGER, 20, True, {"worker": node(37), "sequence": lambda *_: 0}),
    Key("leaf", INTEGER, 20, True, {"worker": node(), "sequence": lambda chance, *_: chance.randrange(100)}),
    # Instagram's own function: the number of the row. The scheme of firn starts each tick at 0, unless start=rolling is set.
    Key("instagram", INTEGER, 20, True, {"shard": node(), "sequence": lambda chance, row, writer: row % 1024}),
    Key("tsid", INTEGER, 20, True, {"node": node(), "sequence": lambda *_: 0}),
    Key("lable-spread", INTEGER, 20, False, {"generator": node(), "cluster": lambda *_: 3, "sequence": lambda *_: 0}),
    Key("uuid1", UUID, 36, False, {"clock_seq": lambda *_: 0x1234, "node": lambda chance, row, writer: mac(writer)}),
    Key("uuid1-swapped", UUID, 36, True, {"clock_seq": lambda *_: 0x1234, "node": lambda chance, row, writer: mac(writer)}),
    Key("uuid4", UUID, 36, False, {"random": bits(122)}),
    Key("uuid6", UUID, 36, True, {"clock_seq": bits(14), "node": bits(48)}),
    Key("uuid7", UUID, 36, True, {"sequence": bits(26), "random": bits(48)}),
    Key("ulid", TEXT, 26, True, {"random": bits(80)}),
    Key("ksuid", BYTES, 27, False, {"random": bits(128)}),
    Key("objectid", BYTES, 24, True, {"random": lambda chance, row, writer: 0x5a17c0ffee + writer, "counter": lambda chance, row, writer: row % (1 << 24)}),
    # The counter of Groupon's library: a prime is added for each ID.
    Key("locality", UUID, 36, False, {"counter": lambda chance, row, writer: (row + 1) * 198491317 % (1 << 32), "pid": lambda *_: 4711, "mac": lambda chance, row, writer: mac(writer) % (1 << 28)}),
    Key("uuid4-then-uuid7", UUID, 36, False, None),
]
BY_NAME = {key.name: key for key in KEYS}


def instants(rows):
    """When the rows arrive, in ms since 1970: no two in one millisecond."""
    chance = random.Random(SEED)
    now, last, times = float(START_MS), 0, []
    for _ in range(rows):
        now += chance.expovariate(RATE) * 1000
        last = max(last + 1, int(now))
        times.append(last)
    return times


def writers_of(rows, writers):
    chance = random.Random(SEED + writers)
    return [chance.randrange(writers) for _ in range(rows)]


def pack(firn, lines, scheme, form):
    """The IDs of records of fields, one per line, as `firn pack` prints them."""
    words = [firn, "pack", scheme, "-"] + (["--as", form] if form else [])
    done = subprocess.run(words, input=lines, capture_output=True, text=True, check=True)
    return done.stdout.split()


def records(key, times, owners):
    """The input of `firn pack`: a line of fields for each ID."""
    chance = random.Random("%s %s" % (SEED, key.name))
    lines = []
    for row, (at, writer) in enumerate(zip(times, owners)):
        fields = ["%s=%d" % (name, value(chance, row, writer)) for name, value in key.fields.items()]
        if key.name != "uuid4":
            fields.append("time=@%d.%03d" % divmod(at, 1000))
        lines.append(" ".join(fields))
    return "\n".join(lines) + "\n"


class Stream:
    """The IDs of one key by some writers: `raw` as bytes, `text` in the scheme's own text form."""

    def __init__(self, firn, key, rows, writers):
        self.key, self.writers = key, writers
        self.owners = writers_of(rows, writers)
        if key.fields is None:
            self.raw = self.text = None
            return
        lines = records(key, instants(rows), self.owners)
        self.raw = [bytes.fromhex(one) for one in pack(firn, lines, key.name, "hex")]
        own = key.kind == TEXT or key.name == "ksuid"
        self.text = pack(firn, lines, key.name, None) if own else None


class Streams:
    """Every stream that was asked for, made once."""

    def __init__(self, firn, most):
        self.firn, self.most, self.made, self.instants = firn, most, {}, instants(most)

    def get(self, name, writers, rows):
        """rows IDs of the key, as (bytes, text or None), and the writer of each."""
        if name == "uuid4-then-uuid7":
            first, owners = self.get("uuid4", writers, rows)
            then, _ = self.get("uuid7", writers, rows)
            return first[: rows // 2] + then[rows // 2 :], owners
        if (name, writers) not in self.made:
            self.made[name, writers] = Stream(self.firn, BY_NAME[name], self.most, writers)
        stream = self.made[name, writers]
        if stream.raw is None:
            return [None] * rows, stream.owners[:rows]
        texts = stream.text[:rows] if stream.text else [None] * rows
        return list(zip(stream.raw[:rows], texts)), stream.owners[:rows]
