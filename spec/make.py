#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the cases of spec/*.json from test/vectors, which hold the answers of the original systems.

Each answer is put to plain.py first, an implementation that shares nothing with libfirn; where the two differ, the
case says what the original answers. Ranges, ends and pairs, which no original answers, are computed by plain.py.
Use: spec/make.py [FOLDER] (default: the folder of this file)."""
import hashlib
import json
import os
import re
import sys

import plain

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "..", "test", "vectors")
SNOWFLAKE = "@@2010-11-04T01:42:54.657Z"
GREGORIAN = "/100ns@@1582-10-15"
LABLE = "sequence:6 generator@8:3 mode=%s:1 generator@0:8 cluster:4"
RFC = "version=%s:4 %s variant=0x2:2 %s"
HOST = "clock_seq:14 node:48"

# name: (layout, text form, how it sorts)
SCHEMES = {
    "snowflake": ("0x0:1 time:41/ms" + SNOWFLAKE + " datacenter:5 worker:5 sequence:12", "dec", "yes"),
    "leaf": ("0x0:1 time:41/ms" + SNOWFLAKE + " worker:10 sequence:12", "dec", "yes"),
    "seata": ("0x0:1 worker:10 time:41/ms@@2020-05-02T16:00:00Z sequence:12", "dec", "per node"),
    "region": ("time:41/ms" + SNOWFLAKE + " region:3 worker:10 sequence:10", "dec", "yes"),
    "instagram": ("time:41/ms@@2011-08-24T21:07:01.721Z shard:13 sequence:10", "dec", "yes"),
    "simpleflake": ("time:41/ms@@2000-01-01T05:00:00Z random:23", "dec", "by tick"),
    "baidu": ("0x0:1 time:28/s@@2016-05-19T16:00:00Z worker:22 sequence:13", "dec", "yes"),
    "lable-spread": ("time~1:42/ms " + LABLE % "0x0", "hex", "no"),
    "lable-sequential": ("time:42/ms " + LABLE % "0x1", "hex", "yes"),
    "sonyflake": ("0x0:1 time:39/10ms@@2014-09-01 sequence:8 machine:16", "dec", "yes"),
    "discord": ("time:42/ms@@2015-01-01 worker:5 process:5 sequence:12", "unsigned", "yes"),
    "tsid": ("time:42/ms@@2020-01-01 node:10 sequence:12", "base32", "yes"),
    "js53": ("0x0:11 time:41/ms@@2025-01-01 node:6 sequence:6", "dec", "yes"),
    "mastodon": ("time:48/ms node:6 sequence:10", "dec", "yes"),
    "tid": ("0x0:1 time:53/us clock_id:10", "base32sort", "yes"),
    "pushid": ("time:48/ms random:72", "base64sort", "yes"),
    "objectid": ("time:32/s random:40 counter:24", "hex", "by tick"),
    "objectid-legacy": ("time:32/s machine:24 pid:16 counter:24", "hex", "by tick"),
    "xid": ("time:32/s machine:24 pid:16 counter:24", "base32hex", "by tick"),
    "flake": ("time:64/ms worker:48 sequence:16", "flake", "yes"),
    "locality": ("counter~4:32 pid:16 version=0xb:4 mac:28 time:48/ms", "uuid", "no"),
    "locality-sequential": ("counter:32 pid:16 version=0xb:4 mac:28 time:48/ms", "uuid", "no"),
    "uuid1": ("time@0:32" + GREGORIAN + " time@32:16 " + RFC % ("0x1", "time@48:12", HOST), "uuid", "no"),
    "uuid1-swapped": ("version=0x1:4 time@48:12" + GREGORIAN + " time@32:16 time@0:32 variant=0x2:2 " + HOST,
                      "hex", "yes"),
    "uuid6": ("time@28:32" + GREGORIAN + " time@12:16 " + RFC % ("0x6", "time@0:12", HOST), "uuid", "yes"),
    "uuid7": ("time:48/ms " + RFC % ("0x7", "sequence@14:12", "sequence@0:14 random:48"), "uuid", "yes"),
    "typeid": ("time:48/ms " + RFC % ("0x7", "sequence@14:12", "sequence@0:14 random:48"), "typeid", "yes"),
    "ulid": ("time:48/ms random:80", "base32", "yes"),
    "scru128": ("time:48/ms counter_hi:24 sequence:24 random:32", "base36lower", "yes"),
    "timeflake": ("time:48/ms random:80", "base62", "by tick"),
    "uuid3": ("digest@74:48 " + RFC % ("0x3", "digest@62:12", "digest@0:62"), "uuid", "no"),
    "uuid5": ("digest@74:48 " + RFC % ("0x5", "digest@62:12", "digest@0:62"), "uuid", "no"),
    "uuid4": ("random@74:48 " + RFC % ("0x4", "random@62:12", "random@0:62"), "uuid", "no"),
    "uuid8": ("custom_a:48 " + RFC % ("0x8", "custom_b:12", "custom_c:62"), "uuid", "no"),
    "ksuid": ("time:32/s@@2014-05-13T16:53:20Z random:128", "base62", "by tick"),
    "scru64": ("time@8:38/ms node_counter:24", "base36lower", "no"),
    "uuid2": ("local_id:32 time@32:16" + GREGORIAN + " " +
              RFC % ("0x2", "time@48:12", "clock_seq:6 domain:8 node:48"), "uuid", "no"),
    "nil": ("0x0:64 0x0:64", "uuid", "no"),
    "max": ("0xffffffffffffffff:64 0xffffffffffffffff:64", "uuid", "no"),
    "time-random": ("time:48/ms random:20", "dated", "by tick"),
    "time-member": ("time:48/ms member:63 sequence:9", "dated", "by tick"),
}


def canonical(layout):
    """The layout with tick and epoch written out, as `firn schemes --json` has it."""
    used = plain.Layout(layout)
    tick = next((name for name, ns in plain.TICKS.items() if ns == used.tick), None)
    words = [re.sub("/.*", "", word) for word in layout.split()]
    at = next((i for i, word in enumerate(words) if re.match("time\\b[^=]*:", word)), None)
    if at is not None:
        words[at] += "/%s@@%s" % (tick, plain.time_write(used.epoch))
    return " ".join(words)


class File:
    """One scheme's file, as it grows."""

    def __init__(self, name):
        self.name = name
        layout, self.form, self.sorts = SCHEMES[name]
        self.layout = canonical(layout)
        self.sources, self.valid, self.invalid = [], [], []
        self.seen = set()

    def put(self, group, case):
        key = json.dumps(case, sort_keys=True)
        if key not in self.seen:
            self.seen.add(key)
            group.append(case)


def rows(name):
    """The rows of a file of answers, as dicts, and who gave them."""
    columns, source, out = [], "", []
    for line in open(os.path.join(VECTORS, name + ".tsv"), encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("# columns: "):
            columns = line[11:].split(" ")
        elif line.startswith("# produced by: "):
            source = line[15:]
        elif not line.startswith("#"):
            cells = line.split("\t")
            assert len(cells) == len(columns), (name, line)
            out.append(dict(zip(columns, cells)))
    assert columns and source and out, name
    return out, source


def seconds(text):
    """Nanoseconds of "1700000000.9"."""
    whole, _, fraction = text.partition(".")
    assert not text.startswith("-") or not fraction
    return int(whole) * 10**9 + int(fraction.ljust(9, "0"))


def unquoted(text):
    return text[1:-1].replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")


def fields_of(layout, values):
    fields = {name: int(value) for name, value in values.items() if name != "time"}
    if "time" in values:
        fields["time"] = layout.tick_of(values["time"])
    return fields


def shown(values):
    """The values as the files have them: numbers as decimal text, the time as a time."""
    return {name: plain.time_write(value) if name == "time" else str(value) for name, value in values.items()}


def add_valid(file, source, values, text, layout=None, form=None, prefix="", **more):
    """A case that the original answers with `text`; plain.py must agree."""
    used = plain.Layout(layout or file.layout)
    form = form or file.form
    packed = used.pack(fields_of(used, values))
    written = plain.write(form, packed, used.bits, prefix)
    assert written.lower() == text.lower(), (file.name, values, text)
    assert plain.read(form, text, used.bits) == packed, (file.name, text)
    assert used.unpack(packed) == fields_of(used, values), (file.name, text)
    case = {"fields": shown(values)}
    if "time" in values:
        case["tick"] = str(fields_of(used, values)["time"])
    case.update({"text": written, "bytes": packed.to_bytes((used.bits + 7) // 8, "big").hex()})
    case.update({"form": form} if form != file.form else {})
    case.update({"also": text} if text != written else {})
    case.update({"layout": canonical(layout)} if layout else {})
    case.update({"prefix": prefix} if prefix else {})
    case.update({name: value for name, value in more.items() if value is not None})
    case["source"] = source
    file.put(file.valid, case)


def add_refused(file, source, values, layout=None, **more):
    used = plain.Layout(layout or file.layout)
    try:
        plain.write(file.form, used.pack(fields_of(used, values)), used.bits)
    except plain.Refused as why:
        case = {"fields": shown(values), "why": str(why)}
        case.update({"layout": canonical(layout)} if layout else {})
        case.update(more)
        file.put(file.invalid, dict(case, source=source))
        return
    raise AssertionError((file.name, values))


def add_refused_text(file, source, text, layout=None, form=None):
    used = plain.Layout(layout or file.layout)
    try:
        used.unpack(plain.read(form or file.form, text, used.bits))
    except plain.Refused as why:
        case = {"text": text, "why": str(why)}
        case.update({"layout": canonical(layout)} if layout else {})
        case.update({"form": form} if form and form != file.form else {})
        file.put(file.invalid, dict(case, source=source))
        return
    raise AssertionError((file.name, text))


def scaled(number, unit):
    return None if number == "-" else int(number) * unit


# ---- one function for each file of answers: how its columns become cases --------------------------------------


def plain_rows(files, vectors, scheme, columns, unit, text, form=None):
    """Files whose columns are the fields, one number each; - is not given."""
    file = files[scheme]
    got, source = rows(vectors)
    for row in got:
        values = {}
        for name, column in columns.items():
            base = 16 if column.endswith("_hex") else 10
            values[name] = None if row[column] == "-" else int(row[column].replace(":", ""), base)
        if values.get("time") is not None:
            values["time"] *= unit
        given = None not in values.values()
        if row["status"] == "ok":
            add_valid(file, source, values, row[text], form=form)
            continue
        if given:
            add_refused(file, source, values, **({} if row[text] == "-" else {"original": row[text]}))
        else:
            add_refused_text(file, source, row[text], form=form)


def numbers(*names, **more):
    return dict({name: name for name in names}, **more)


def make_plain(files):
    ms = 10**6
    plain_rows(files, "twitter_snowflake", "snowflake", numbers("datacenter", "worker", "sequence", time="ms"), ms, "id")
    plain_rows(files, "leaf_snowflake", "leaf", numbers("worker", "sequence", time="ms"), ms, "id")
    plain_rows(files, "customuuid_41_3_10_10", "region", numbers("region", "worker", "sequence", time="ms"), ms, "id_i64")
    plain_rows(files, "beyond_discord", "discord", numbers("worker", "process", sequence="increment", time="ms"), ms, "id")
    plain_rows(files, "beyond_js53", "js53", numbers("node", "sequence", time="ms"), ms, "id")
    plain_rows(files, "beyond_tsid", "tsid", numbers("node", sequence="counter", time="ms"), ms, "text")
    plain_rows(files, "beyond_mastodon", "mastodon", numbers("node", "sequence", time="ms"), ms, "id")
    plain_rows(files, "beyond_tid", "tid", numbers("clock_id", time="us"), 1000, "text")
    plain_rows(files, "beyond_pushid", "pushid", numbers(random="random_hex", time="ms"), ms, "text")
    plain_rows(files, "beyond_scru64", "scru64", numbers("node_counter", time="ms"), ms, "text")
    plain_rows(files, "beyond_scru128", "scru128",
               numbers("counter_hi", sequence="counter_lo", random="entropy", time="ms"), ms, "text")
    for form, text in (("base62", "text"), ("hex", "hex"), ("uuid", "uuid")):
        plain_rows(files, "beyond_timeflake", "timeflake", numbers(random="random_hex", time="ms"), ms, text, form)
    plain_rows(files, "beyond_ulid", "ulid", numbers(random="random_hex", time="ms"), ms, "text")
    plain_rows(files, "beyond_ksuid", "ksuid", numbers(random="random_hex", time="unix_s"), 10**9, "text")
    plain_rows(files, "beyond_xid", "xid", numbers("machine", "pid", "counter", time="unix_s"), 10**9, "text")
    plain_rows(files, "beyond_uuid7", "uuid7", numbers("sequence", random="random_hex", time="ms"), ms, "uuid")
    plain_rows(files, "beyond_uuid6", "uuid6", numbers("clock_seq", node="node_hex", time="unix_100ns"), 100, "uuid6")
    plain_rows(files, "beyond_uuid8", "uuid8", numbers(custom_a="a_hex", custom_b="b_hex", custom_c="c_hex"), 1, "uuid")
    plain_rows(files, "objectid_legacy", "objectid-legacy", numbers("machine", "pid", "counter", time="seconds"), 10**9,
               "id_hex")
    plain_rows(files, "uuid_v1_cpython", "uuid1", numbers("clock_seq", node="node_hex", time="unix_ns"), 1, "uuid")
    plain_rows(files, "time_member", "time-member", numbers("member", "sequence", time="ms"), ms, "text")
    for form, text in (("hex", "id_hex"), ("dec", "id_dec"), ("flake", "id_base62")):
        plain_rows(files, "boundary_flake", "flake", numbers("worker", "sequence", time="ms"), ms, text, form)


def make_others(files):
    for row, source in each("seata_idworker"):  # the row is the counter before the call
        after = int(row["seq_before"]) + 1
        values = {"worker": int(row["worker"]), "time": (int(row["ms_before"]) + after // 4096) * 10**6,
                  "sequence": after % 4096}
        either(files["seata"], row, source, values, row["next_id"])
    for row, source in each("instagram"):
        values = {"time": int(row["ms"]) * 10**6, "shard": int(row["shard"]), "sequence": int(row["nextval"]) % 1024}
        either(files["instagram"], row, source, values, row["id_i64"])
    for row, source in each("baidu_uid"):
        layout = "0x0:1 time:%s/s@@%s worker:%s sequence:%s"
        time, worker, sequence = row["bits_time/worker/seq"].split("/")
        layout %= (time, plain.time_write(int(row["epoch_s"]) * 10**9), worker, sequence)
        values = {"time": (int(row["epoch_s"]) + int(row["delta_s"])) * 10**9, "worker": int(row["worker"]),
                  "sequence": int(row["sequence"])}
        either(files["baidu"], row, source, values, row["uid_i64"],
               layout if canonical(layout) != files["baidu"].layout else None)
    for row, source in each("beyond_sonyflake"):
        layout = None if row["version"] == "v1" else "0x0:1 time:39/10ms@@2025-01-01 sequence:8 machine:16"
        if row["ms"] != "-":
            values = {"time": int(row["ms"]) * 10**6, "sequence": int(row["sequence"]), "machine": int(row["machine"])}
            either(files["sonyflake"], row, source, values, row["id"], layout)
        else:
            add_refused_text(files["sonyflake"], source, row["id"], layout)
    for name in ("lable_build", "lable_parse"):
        for row, source in each(name):
            file = files["lable-spread" if row["mode"] == "SPREAD" else "lable-sequential"]
            other = files["lable-sequential" if row["mode"] == "SPREAD" else "lable-spread"]
            values = {"time": int(row["timestamp_ms"]) * 10**6, "sequence": int(row["sequence"]),
                      "generator": int(row["generator"]), "cluster": int(row["cluster"])}
            add_valid(file, source, values, row["id_hex"])
            add_refused_text(other, source, row["id_hex"])
    for row, source in each("beyond_typeid"):
        make_typeid(files["typeid"], row, source)
    for row, source in each("time_random"):
        digits = int(row["digits"])
        layout = "time:48/ms random:%d" % (10**digits - 1).bit_length() if digits != 6 else None
        if "-" not in (row["ms"], row["random"]):
            values = {"time": int(row["ms"]) * 10**6, "random": int(row["random"])}
            either(files["time-random"], row, source, values, row["text"], layout)
        elif row["text"] != "-":
            add_refused_text(files["time-random"], source, row["text"], layout)
    for row, source in each("uuid_v1_edges"):
        values = {"time": int(row["unix_100ns_signed"]) * 100, "clock_seq": int(row["clock_seq"]),
                  "node": 0x448899365732}
        add_valid(files["uuid1"], source, values, row["uuid"])
    for row, source in each("objectid_current"):
        make_objectid(files["objectid"], row, source)


def make_typeid(file, row, source):
    """The fields are read by plain.py from the UUID next to the text. A UUID of another version than 7 has none of them."""
    if row["status"] != "ok":
        return add_refused_text(file, source, row["text"])
    layout = plain.Layout(file.layout)
    try:
        fields = layout.unpack(plain.read("uuid", row["uuid"], 128))
    except plain.Refused:
        return None
    values = dict(fields, time=layout.time_of(fields["time"]))
    return add_valid(file, source, values, row["text"], prefix="" if row["prefix"] == "-" else row["prefix"])


def make_objectid(file, row, source):
    op = row["op"]
    if op == "generate":
        values = {"time": seconds(row["seconds_or_input"]), "random": int(row["process_random_hex"], 16),
                  "counter": int(row["counter_in_id"])}
        either(file, row, source, values, row["id_hex"])
    elif op == "string" and row["status"] != "ok":
        add_refused_text(file, source, unquoted(row["seconds_or_input"]))
    elif op == "createFromTime":
        add_valid(file, source, {"time": seconds(row["seconds_or_input"]), "random": 0, "counter": 0}, row["id_hex"])
    elif op == "parse":
        layout = plain.Layout(file.layout)
        fields = layout.unpack(plain.read("hex", row["id_hex"], 96))
        add_valid(file, source, dict(fields, time=layout.time_of(fields["time"])), row["id_hex"])


def make_uuids(files):
    """Versions of UUIDs: what RFC 9562 prints, and that a text of one version is not one of another."""
    names = ("uuid1", "uuid3", "uuid4", "uuid5", "uuid6", "uuid7", "uuid8")
    examples = [(case["scheme"], case["text"].lower(), case["source"]) for case in guesses()["guess"]
                if case["source"].startswith("RFC 9562, A.") or case["source"].startswith("RFC 9562, B.")]
    for scheme, text, source in examples:
        for file in (files[name] for name in names):
            layout = plain.Layout(file.layout)
            if file.name != scheme:
                add_refused_text(file, source, text)
                continue
            fields = layout.unpack(plain.read("uuid", text, 128))
            values = dict(fields, time=layout.time_of(fields["time"])) if "time" in fields else fields
            add_valid(file, source, values, text)
    for name in ("nil", "max"):
        for text, scheme, source in ((case["text"], case["scheme"], case["source"]) for case in guesses()["guess"]):
            if scheme == name and re.fullmatch("[0-9a-fA-F-]{36}", text):
                add_valid(files[name], source, {}, text.lower())
            elif re.fullmatch("[0-9a-fA-F-]{36}", text):
                add_refused_text(files[name], source, text)
    for row, _ in each("uuid_v1_cpython"):  # Google's Go package makes version 2 from version 1
        layout = plain.Layout(files["uuid1"].layout)
        tick = int(row["time100ns"]) >> 32 << 32
        values = {"time": layout.time_of(tick), "clock_seq": int(row["clock_seq"]) >> 8, "node": int(row["node_hex"], 16),
                  "local_id": 501 + len(files["uuid2"].valid), "domain": len(files["uuid2"].valid) % 3}
        uuid = bytearray.fromhex(row["hex32"])
        uuid[0:4], uuid[6], uuid[9] = values["local_id"].to_bytes(4, "big"), uuid[6] & 15 | 32, values["domain"]
        add_valid(files["uuid2"], "the rule of dce.go in github.com/google/uuid, applied to UUIDs of CPython's uuid1",
                  values, plain.write("uuid", int(uuid.hex(), 16), 128))
    for case in conversions()["convert"]:
        layout = plain.Layout(files["uuid1"].layout)
        fields = layout.unpack(plain.read("uuid", case["uuid1"], 128))
        values = dict(fields, time=layout.time_of(fields["time"]))
        add_valid(files["uuid1"], case["source"], values, case["uuid1"])
        add_valid(files["uuid1-swapped"], case["source"], values, case["uuid1-swapped"])
    for row, source in each("mysql_uuid_to_bin"):
        if row["status"] == "refuse":
            add_refused_text(files["uuid1-swapped"], source, row["bin_flag1_hex"])


def make_differing(files):
    """Answers of originals that err: the case has the right ID, and theirs as "original"."""
    for row, source in each("simpleflake"):
        values = {"time": seconds(row["timestamp_s"]), "random": int(row["random_bits"])}
        if row["status"] == "refuse":
            add_refused(files["simpleflake"], source, values)
            continue
        used = plain.Layout(files["simpleflake"].layout)
        right = plain.write("unsigned", used.pack(fields_of(used, values)), 64)
        add_valid(files["simpleflake"], source, values, right, form="unsigned",
                  original=None if right == row["id"] else row["id"],
                  why=None if right == row["id"] else "the original computes in doubles and loses a ms")
    for name, mac, time, unit in (("locality_uuid_java", "mac_hex", "ms", 10**6),
                                  ("locality_uuid_ruby", "mac", "unix_us", 1000)):
        for row, source in each(name):
            make_locality(files, row, source, mac, int(row[time]) * unit)
    for row, source in each("locality_uuid_parse"):
        text = unquoted(row["input"])
        if row["status"] == "ok":
            layout = plain.Layout(files["locality"].layout)
            fields = layout.unpack(plain.read("uuid", text, 128))
            assert str(fields["pid"]) == row["java_pid"]
            assert str(fields["time"]) == row["java_ms"] and fields["mac"] == int(row["java_mac_hex"], 16)
            if text == text.lower():
                add_valid(files["locality"], source, dict(fields, time=fields["time"] * 10**6), text)
        else:
            add_refused_text(files["locality"], source, text)
    for row, source in each("uuid_v1_seed_sql"):
        time = plain.time_read(row["ts"].replace(" ", "T").replace("+00", "Z"))
        values = {"time": time, "clock_seq": int(row["clock_seq"]), "node": int(row["mac"].replace(":", ""), 16)}
        if row["status"] == "refuse":
            add_refused(files["uuid1"], source, values)
            continue
        doubles = row["uuid_if_extract_is_double"]
        add_valid(files["uuid1"], source, values, row["uuid_pg15"],
                  original=None if doubles == row["uuid_pg15"] else doubles,
                  why=None if doubles == row["uuid_pg15"] else "PostgreSQL 13 and older extract a double")


def make_locality(files, row, source, mac, time):
    variable = row["mode"] == "variable"
    file = files["locality" if variable else "locality-sequential"]
    counter = int(row["counter_before"]) + (198491317 if variable else 1) & 0xffffffff
    values = {"counter": counter, "pid": int(row["pid"]), "mac": int(row[mac].replace(":", ""), 16) & 0xfffffff,
              "time": time}
    if row["status"] == "refuse":
        return add_refused(file, source, values)
    used = plain.Layout(file.layout)
    right = plain.write("uuid", used.pack(fields_of(used, values)), 128)
    why = "the original errs in one digit, ms or count" if right != row["uuid"] else None
    return add_valid(file, source, values, right, original=row["uuid"] if why else None, why=why)


def each(name):
    got, source = rows(name)
    return ((row, source) for row in got)


def either(file, row, source, values, text, layout=None):
    if row["status"] == "ok":
        add_valid(file, source, values, text, layout)
    else:
        add_refused(file, source, values, layout, **({"original": text} if text not in ("-", "") else {}))


# ---- what no original answers ----------------------------------------------------------------------------------


def hashed(*words):
    return int.from_bytes(hashlib.sha256(" ".join(map(str, words)).encode()).digest(), "big")


def make_ranges(file, out):
    """Least and greatest ID of a time span, for schemes whose IDs of a time span are one range."""
    layout = plain.Layout(file.layout)
    if "time" not in layout.widths or file.sorts in ("no", "per node"):
        return
    for i in range(10):
        width = min(layout.widths["time"], 48)
        start = layout.time_of(hashed(file.name, "from", i) % (1 << width - 1)) + i % 3
        end = start + 1 + hashed(file.name, "span", i) % (86400 * 10**9 * (1 if i < 5 else 31))
        try:
            least, greatest = plain.range_of(layout, start, end)
            texts = [plain.write(file.form, packed, layout.bits) for packed in (least, greatest)]
        except plain.Refused:
            continue
        out.append({"from": plain.time_write(start), "to": plain.time_write(end), "least": texts[0],
                    "greatest": texts[1]})


def ends(file):
    """The first time of a layout, and the first one that does not fit its bits."""
    layout = plain.Layout(file.layout)
    if "time" not in layout.widths or layout.widths["time"] == 64 or file.form == "dated":
        return {}
    end = layout.time_of(1 << layout.widths["time"])
    return {"first": plain.time_write(layout.epoch), "refused": plain.time_write(end)}


def make_pairs(file, out):
    """Two IDs of one node, the second issued after the first: both are in order, as numbers and as text."""
    layout = plain.Layout(file.layout)
    counted = next((name for name in ("sequence", "random") if name in layout.widths), None)
    if file.sorts not in ("yes", "per node") or counted is None:
        return
    top = (1 << layout.widths[counted]) - 1
    for i in range(6):
        tick = hashed(file.name, "tick", i) % (1 << min(layout.widths["time"], 40) - 1)
        fields = {name: hashed(file.name, name, i) % (1 << width) for name, width in layout.widths.items()}
        first = dict(fields, time=tick)
        first[counted] = top if i % 2 else hashed(file.name, "count", i) % top
        second = dict(first)
        second[counted] = 0 if i % 2 else first[counted] + 1
        second["time"] += i % 2
        out.append([plain.write(file.form, layout.pack(one), layout.bits) for one in (first, second)])


# ---- files without a scheme -----------------------------------------------------------------------------


def conversions():
    cases = []
    for row, source in each("beyond_uuid6"):
        if row["status"] == "ok":
            low, mid, high, rest = re.fullmatch(r"(.{8})-(.{4})-(.{4})-(.*)", row["uuid1"]).groups()
            cases.append({"uuid1": row["uuid1"], "uuid6": row["uuid6"],
                          "uuid1-swapped": high + mid + low + rest.replace("-", ""), "source": source})
    for row, source in each("mysql_uuid_to_bin"):
        if row["status"] == "ok":
            cases.append({"uuid1": row["uuid"], "uuid1-swapped": row["bin_flag1_hex"], "source": source})
    return {"convert": cases}


def digests():
    cases = [{"namespace": row["namespace_uuid"], "name_hex": "" if row["name_utf8_hex"] == "-" else
              row["name_utf8_hex"], "uuid3": row["uuid_v3"], "uuid5": row["uuid_v5"], "source": source}
             for row, source in each("uuid_v3_v5_cpython")]
    starts = [{"time": plain.time_write(int(row["ms"]) * 10**6), "counter": row["counter_start_u32"], "source": source}
              for row, source in each("locality_uuid_seqseed")]
    return {"digest": cases, "locality_start": starts}


def guesses():
    cases = []
    for line in open(os.path.join(VECTORS, "..", "real_ids.tsv"), encoding="utf-8"):
        if not line.startswith("#"):
            text, scheme, source = line.rstrip("\n").split("\t")
            cases.append({"text": text, "scheme": None if scheme == "-" else scheme, "source": source})
    return {"guess": cases}


def indexed(content):
    """Puts the sentences of sources into a list, and their indexes into the cases."""
    sources = []
    for group in content.values():
        for case in group if isinstance(group, list) else []:
            if isinstance(case, dict) and "source" in case:
                if case["source"] not in sources:
                    sources.append(case["source"])
                case["source"] = sources.index(case["source"])
    return dict({"sources": sources}, **content)


def save(folder, name, content):
    """JSON with one case in a line."""
    lines = ['  "licence": "SPDX-License-Identifier: MIT"']
    for key, value in content.items():
        if isinstance(value, list):
            value = "[\n    " + ",\n    ".join(json.dumps(case, ensure_ascii=True) for case in value) + "\n  ]" \
                if value else "[]"
        else:
            value = json.dumps(value)
        lines.append("  %s: %s" % (json.dumps(key), value))
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else HERE
    files = {name: File(name) for name in SCHEMES}
    make_plain(files)
    make_others(files)
    make_differing(files)
    make_uuids(files)
    for row, source in each("uuid_v3_v5_cpython"):
        for version in ("3", "5"):
            file, layout = files["uuid" + version], plain.Layout(SCHEMES["uuid" + version][0])
            text = row["uuid_v" + version]
            add_valid(file, source, layout.unpack(plain.read("uuid", text, 128)), text)
    for name, file in files.items():
        ranges, pairs = [], []
        make_ranges(file, ranges)
        make_pairs(file, pairs)
        content = {"scheme": name, "layout": file.layout, "form": file.form, "sorts": file.sorts,
                   "time": ends(file), "valid": file.valid, "invalid": file.invalid, "ranges": ranges,
                   "pairs": pairs}
        save(folder, name, indexed(content))
    for name, content in (("conversions", conversions()), ("digests", digests()), ("guesses", guesses())):
        save(folder, name, indexed(content))


if __name__ == "__main__":
    main()
