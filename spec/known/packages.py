# SPDX-License-Identifier: MIT
# Python packages, asked by check.py: the standard library and those that are installed.
import contextlib
import subprocess
import sys
import uuid
from importlib.metadata import PackageNotFoundError, version

VERSIONS = {"uuid1": 1, "uuid3": 3, "uuid4": 4, "uuid5": 5, "uuid6": 6, "uuid7": 7, "uuid8": 8, "nil": 0, "max": 15}
GREGORIAN = 0x01B21DD213814000


def must(truth, why):
    if not truth:
        raise ValueError(why)
    return True


def uuids(kind):
    def read(scheme, text):
        id = kind(text) if scheme not in ("nil", "max") else uuid.UUID(text)
        must({0: scheme == "nil", (1 << 128) - 1: scheme == "max"}.get(id.int, id.int >> 76 & 15 == VERSIONS[scheme]),
             "version")
        must(scheme in ("nil", "max") or id.variant == uuid.RFC_4122, "variant")
        return id.hex
    return read


MISSING = contextlib.suppress(ImportError, PackageNotFoundError)
ADAPTERS = {}
ADAPTERS["uuid"] = (sys.version.split()[0], ",".join(VERSIONS), {
    "read": uuids(uuid.UUID), "write": lambda _, raw, prefix: str(uuid.UUID(hex=raw)),
    "digest": lambda scheme, name, space: str(getattr(uuid, scheme)(uuid.UUID(space), bytes.fromhex(name).decode()))})
with MISSING:
    from bson import ObjectId
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "python3-bson"], capture_output=True, text=True)
    ADAPTERS["bson"] = (found.stdout or "?", "objectid", {
        "read": lambda _, text: ObjectId(text).binary.hex(), "write": lambda _, raw, prefix: str(ObjectId(bytes.fromhex(raw))),
        "time": lambda _, text: "%d" % (ObjectId(text).generation_time.timestamp() * 1000)})
with MISSING:
    from ulid import ULID
    ADAPTERS["python-ulid"] = (version("python-ulid"), "ulid", {
        "read": lambda _, text: ULID.from_str(text).hex, "write": lambda _, raw, prefix: str(ULID.from_hex(raw)),
        "time": lambda _, text: str(ULID.from_str(text).milliseconds)})
with MISSING:
    import uuid6
    ADAPTERS["uuid6"] = (version("uuid6"), "uuid1,uuid6,uuid7,uuid8", {
        "read": uuids(uuid6.UUID), "write": lambda _, raw, prefix: str(uuid6.UUID(hex=raw)),
        "time": lambda scheme, text: "-" if scheme not in ("uuid6", "uuid7") else
        str((uuid6.UUID(text).time - GREGORIAN) // 10000 if scheme == "uuid6" else uuid6.UUID(text).time),
        "convert": lambda scheme, text, to: str(uuid6.uuid1_to_uuid6(uuid.UUID(text))) if scheme == "uuid1" else "-"})
with MISSING:
    import timeflake
    ADAPTERS["timeflake"] = (timeflake.__version__, "timeflake", {
        "read": lambda _, text: timeflake.parse(from_base62=text).hex,
        "write": lambda _, raw, prefix: timeflake.parse(from_hex=raw).base62,
        "time": lambda _, text: str(timeflake.parse(from_base62=text).timestamp),
        "pack": lambda _, ms, bits: timeflake.from_values(int(ms), int(bits)).base62})
with MISSING:
    from scru64 import Scru64Id
    ADAPTERS["scru64"] = (version("scru64"), "scru64", {
        "read": lambda _, text: "%016x" % int(Scru64Id.from_str(text)),
        "write": lambda _, raw, prefix: str(Scru64Id(int(raw, 16))),
        "time": lambda _, text: str(Scru64Id.from_str(text).timestamp << 8),
        "pack": lambda _, ms, counter: str(Scru64Id.from_parts(int(ms) >> 8, int(counter)))})
with MISSING:
    from simpleflake import parse_simpleflake, simpleflake
    ADAPTERS["simpleflake"] = (version("simpleflake"), "simpleflake", {
        "time": lambda _, text: "%d" % (parse_simpleflake(int(text)).timestamp * 1000),
        "pack": lambda _, ms, bits: str(simpleflake(int(ms) / 1000, int(bits)))})

print("\t".join("%s|%s|%s" % (name, *one[:2]) for name, one in ADAPTERS.items()), flush=True)
for line in sys.stdin:
    name, op, scheme, *arguments = line.rstrip("\n").split("\t")
    call = ADAPTERS[name][2].get(op)
    try:
        print(call(scheme, *(bytes.fromhex(one).decode() for one in arguments)) if call else "-", flush=True)
    except Exception as error:  # every exception of a package is a refusal
        print("!" + str(error).replace("\n", " "), flush=True)
