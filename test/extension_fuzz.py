# SPDX-License-Identifier: MIT
"""Calls of SQL functions with hostile arguments, one statement a line, the same for the same seed.

usage: extension_fuzz.py postgres|mariadb|sqlite SEED COUNT <LIST
LIST: a line a function, NAME and a letter an argument: t text, i whole number, n how many, d ID, m time, b bytes, u UUID,
k address, o yes or no. extension_fuzz.sh runs what this prints.
"""
import random
import sys

TEXTS = """snowflake leaf seata region instagram baidu lable-spread sonyflake discord tsid js53 mastodon tid pushid scru128 objectid xid flake locality uuid1
uuid1-swapped uuid3 uuid4 uuid5 uuid6 uuid7 typeid ulid timeflake ksuid time-random time-member order snowflke
dec hex base32 base36 base58 base62 uuid urn braced base64url integer text blob
1541815603606036480 507f1f77bcf86cd799439011 0190163d-8694-739b-aea5-966c26f8ad91 c232ab00-9414-11ec-b3c8-9f6bdeced846
{0190163d-8694-739b-aea5-966c26f8ad91} urn:uuid:0190163d-8694-739b-aea5-966c26f8ad91 01ARZ3NDEKTSV4RRFFQ69G5FAV
0ujsswThIGTUYm2K8FjOOfXtY1K user_01m7ymjtfyesysvwvv33kv39sn 20260101000000000123456 00000000000000000000
2024-01-01T10:00:00Z 2024-02-30T25:61:61Z 9999-12-31T23:59:59.999999999Z -292277022657-01-27T08:29:52Z @1704067200.5 infinity
9f:6b:de:ce:d8:46 00-00-00-00-00-00 0x7fffffffffffffff 1e999 NaN -0 18446744073709551616 340282366920938463463374607431768211456
worker=3 datacenter=1 time=2024-01-01T10:00:00Z tick=18446744073709551615 sequence=4096 epoch=2020-01-01 bits=41/11/11
bits=0/0/0 digits=99 ns=x unsigned=1 shard=8191 member=-1 prefix=a nodes=64 ordering=thread max_shift=1ms full=fail clock=coarse""".split()
TEXTS += ["time:41/ms@@2024-01-01 node:10 sequence:12", "time:63/s@@2024-01-01 0x1:1", "0x0:1 time~1:42 node@8:3 node@0:8 random:9",
          "snowflake epoch=2024-01-01", "time=2024-01-01 datacenter=1 worker=2 sequence=3", "time:64/s a:4", "max_wait=1ms node=5", "", " ", "%s%n%x", "';--"]
NUMBERS = [0, 1, -1, 2, 7, 63, 64, 255, 4095, 8191, 65536, 2**31 - 1, -2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, -2**63,
           1541815603606036480, 1704067200]
LONG = 1000000


def mutate(dice, text):
    data = bytearray(text.encode())
    for _ in range(dice.choice([0, 0, 1, 1, 2, 5])):
        at = dice.randrange(len(data) + 1)
        kind = dice.randrange(8)
        if kind == 0:
            data[at:at + 1] = b""
        elif kind == 1:
            data[at:at] = bytes([dice.choice([0, 1, 9, 10, 32, 39, 48, 61, 64, 92, 127, 128, 195, 237, 255])])
        elif kind == 2:
            data[at:at] = b" " + dice.choice(TEXTS).encode()
        elif kind == 3:
            data[at:at] = str(dice.choice(NUMBERS)).encode()
        elif kind == 4:
            data = data[:at]
        elif kind == 5:
            data = data.swapcase()
        elif kind == 6:
            data[at:at] = data[:at] * dice.choice([1, 3, 60])
        else:
            data[at:at] = "\ufeff\u00e9\U0001f600".encode()
    return bytes(data)


class Postgres:
    def text(self, data):
        return "E'" + "".join("\\x%02x" % b for b in data if b) + "'::text"

    def long(self):
        return "repeat('x', %d)" % LONG

    def bytes(self, data):
        return "'\\x%s'::bytea" % data.hex()

    def number(self, value):
        return "'%d'::bigint" % value if -2**63 <= value < 2**63 else str(value)


class MariaDB:
    def text(self, data):
        return "x'%s'" % data.hex()

    def long(self):
        return "repeat('x', %d)" % LONG

    bytes = text

    def number(self, value):
        return str(value)


class SQLite(MariaDB):
    def text(self, data):
        return "CAST(x'%s' AS TEXT)" % data.hex()

    def bytes(self, data):
        return "x'%s'" % data.hex()

    def long(self):
        return "printf('%%.%dc', 'x')" % LONG


ENGINES = {"postgres": Postgres(), "mariadb": MariaDB(), "sqlite": SQLite()}


def number(dice):
    return dice.choice(NUMBERS) if dice.random() < 0.7 else dice.randrange(-2**63, 2**63)


def argument(dice, engine, sql, kind):
    if dice.random() < 0.04:
        return "NULL" if engine != "postgres" else "NULL::" + {
            "i": "integer", "n": "bigint", "m": "timestamptz", "u": "uuid", "b": "bytea", "k": "macaddr", "o": "boolean",
            "d": "bigint"}.get(kind, "text")
    if engine == "postgres":
        if kind == "m":
            return "'%s'::timestamptz" % dice.choice(
                ["-infinity", "infinity", "4714-11-24 00:00:00+00 BC", "294276-12-31 23:59:59.999999+00", "1970-01-01", "2024-01-01",
                 "1582-10-15", "2080-07-10 17:30:30.209+00", "2010-11-04 01:42:54.657+00"])
        if kind == "u":
            return "'%032x'::uuid" % dice.choice([0, 2**128 - 1, dice.getrandbits(128), 0x0190163d8694739baea5966c26f8ad91,
                                                  0xc232ab00941411ecb3c89f6bdeced846])
        if kind == "k":
            return "'%012x'::macaddr" % dice.getrandbits(48)
        if kind == "o":
            return dice.choice(["true", "false"])
        if kind == "i":
            return "'%d'::integer" % ((number(dice) + 2**31) % 2**32 - 2**31)
    if kind == "n":
        return sql.number(dice.choice([-2**63, -1, 0, 1, 3, 300]))
    if kind == "b":
        return sql.bytes(bytes(dice.getrandbits(8) for _ in range(dice.choice([0, 1, 8, 11, 12, 15, 16, 17, 20, 21, 200]))))
    if kind == "i" or (kind in "dm" and dice.random() < 0.5):
        return sql.number(number(dice))
    if engine != "postgres" and dice.random() < 0.1:
        return dice.choice(["1.5", "-1e308", "1e-300", sql.number(number(dice)), sql.bytes(b"\xff" * 16), sql.bytes(b"\0" * 20)])
    if dice.random() < 0.02:
        return sql.long()
    return sql.text(mutate(dice, dice.choice(TEXTS)))


def main():
    engine, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    functions = [line.split() + [""] for line in sys.stdin if line.strip()]
    dice, sql = random.Random(seed), ENGINES[engine]
    for i in range(count):
        name, kinds = functions[i % len(functions)][:2]
        arguments = [argument(dice, engine, sql, kind) for kind in kinds]
        print("SELECT length(CAST(f AS %s)) FROM (SELECT %s(%s) AS f%s) t;" % (
            {"postgres": "text", "mariadb": "char", "sqlite": "text"}[engine], name, ", ".join(arguments),
            " LIMIT 5" if engine == "postgres" else ""))


main()
