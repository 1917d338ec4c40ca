# SPDX-License-Identifier: MIT
"""The package firn: known answers, types, errors, threads, forks, shutdown. Run with -m unittest."""
import asyncio
import datetime
import gc
import hashlib
import itertools
import json
import math
import multiprocessing
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid

import firn

SPEC = pathlib.Path(__file__).resolve().parents[3] / "spec"
UTC = datetime.timezone.utc


def memory(scheme="snowflake", **keys):
    return firn.open(scheme, store="memory:", **keys)


# Out of order, and more than one record a tick.
AT = 1556971200 * 10**9
TIMES = [AT + i * 7919 % 1000 * 10**6 for i in range(3000)]


def job(folder, name="orders", digest=7, **keys):
    return firn.Job("snowflake", name=name, digest=digest, store="sqlite:%s/firn.db?unsafe=1" % folder, **keys)


class Spec(unittest.TestCase):
    """Every case of spec/."""

    def check(self, file, case, good):
        layout = case.get("layout")
        digits = None
        if layout and file["scheme"] == "time-random":
            digits = next(d for d in range(1, 19) if firn.scheme("time-random", digits=d).layout == layout)
        name = file["scheme"] if layout is None or digits else layout
        form = case.get("form", file["form"])
        try:
            if "fields" in case:
                fields = {("tick" if key == "time" and ":" not in value else key): value
                          for key, value in case["fields"].items()}
                id = firn.pack(name, digits=digits, **fields)
                text = firn.format(id, name, form, digits=digits)
                self.assertEqual(text, case["text"].rpartition("_")[2] if form == "typeid" else case["text"])
                back = firn.show(case.get("also", case["text"]), name, form=form, digits=digits)
                self.assertEqual(back.id, id)
                if "tick" in case:
                    self.assertEqual(back.fields["time"], case["tick"])
            else:
                firn.parse(case["text"], name, form=form, digits=digits)
        except firn.Error as error:
            self.assertFalse(good, "%s: %s" % (case, error))
        else:
            self.assertTrue(good, case)

    def test_cases(self):
        count = 0
        for path in sorted(SPEC.glob("*.json")):
            file = json.loads(path.read_text())
            for group in ("valid", "invalid"):
                for case in file.get(group, []):
                    with self.subTest(scheme=file["scheme"], case=case):
                        self.check(file, case, group == "valid")
                        count += 1
            for case in file.get("ranges", []):
                if file["scheme"] == "time-member":  # its texts have several lengths, so they bound nothing
                    self.assertRaises(firn.UnsortedError, firn.range, "time-member", case["from"], case["to"])
                    continue
                ids = firn.range(file["scheme"], case["from"], case["to"])
                self.assertEqual([firn.format(id, file["scheme"]) for id in ids], [case["least"], case["greatest"]])
            for first, second in file.get("pairs", []):
                self.assertLess(firn.show(first, file["scheme"]).unix_ns, firn.show(second, file["scheme"]).unix_ns + 1)
            for case in file.get("convert", []):
                for source in ("uuid1", "uuid6", "uuid1-swapped"):
                    for target in ("uuid1", "uuid6", "uuid1-swapped"):
                        if source in case and target in case:
                            self.assertEqual(str(firn.convert(case[source], source, target)), case[target])
            for case in file.get("digest", []):
                name = bytes.fromhex(case["name_hex"])
                for version in ("uuid3", "uuid5"):
                    self.assertEqual(str(firn.digest(version, case["namespace"], name)), case[version])
            for case in file.get("guess", []):
                readings = firn.guess(case["text"])
                self.assertEqual(readings[0].scheme if readings else None, case["scheme"])
            for case in file.get("order", []):
                keys = {key: case[key] for key in ("digits", "key_id", "check") if key in case}
                order = firn.Order(bytes.fromhex(case["key"]), tweak=case["tweak"] or None, **keys)
                self.assertEqual(order.write(int(case["integer"])), case["text"])
                self.assertEqual(order.read(case["text"]), int(case["integer"]))
        self.assertGreater(count, 2300)


class Formats(unittest.TestCase):
    """Every text of test/vectors/formats."""

    def test_a_typeid_has_a_prefix(self):
        with firn.open("typeid", prefix="user") as gen:
            ids = [gen.next(), *gen.many(2), next(iter(gen))]
        for id in ids:
            self.assertRegex(id, "^user_[0-7][0-9a-z]{25}$")
            self.assertEqual(firn.show(id, "typeid").prefix, "user")
            self.assertEqual(firn.show(id, "typeid").text, id)
            self.assertEqual(firn.format(firn.parse(id, "typeid", prefix="user"), "typeid", prefix="user"), id)
        for call in (lambda: firn.range("typeid", 0, 10**9, prefix="Bad"), lambda: firn.format(ids[0], "typeid", prefix="Bad")):
            with self.assertRaisesRegex(firn.UsageError, "not a valid prefix"):
                call()
            with self.assertRaises(firn.MismatchError):
                firn.parse(id, "typeid", prefix="org")
        self.assertEqual(firn.show("prefix_0123456789abcdefghjkmnpqrs", "typeid").fields["version"], "5")
        self.assertEqual(firn.range("typeid", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z", prefix="user"),
                         ("user_01hqs2ja00e008000000000000", "user_01hqvmz0zzfzzvzzzzzzzzzzzz"))
        for call in (lambda: firn.open("typeid", prefix="User"), lambda: firn.open("uuid7", prefix="user"),
                     lambda: firn.format(uuid.uuid4(), "uuid4", prefix="user"), lambda: firn.format(ids[0], "typeid", prefix="_")):
            with self.assertRaises(firn.UsageError):
                call()

    def test_known_answers(self):
        paths = sorted((SPEC.parent / "test/vectors/formats").glob("*.tsv"))
        self.assertGreater(len(paths), 25)
        for path in paths:
            for line in path.read_text().splitlines():
                if line.startswith("#") or "\t" not in line:
                    continue
                text, time, fields = line.split("\t")
                match = next((one for one in firn.recognize(text) if one.format == path.stem), None)
                self.assertIsNotNone(match, line)
                self.assertEqual(match.time_text or "-", time)
                self.assertEqual(match.time is None, time[0] in "-+")
                for name, value in re.findall(r"(\S+?)=(.*?)(?= \S+=|$)", fields):
                    self.assertIn(match.fields[name].partition(" (")[0], (value, value.partition(" (")[0]), line)

    def test_a_match(self):
        match = firn.recognize("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")[0]
        self.assertEqual((match.format, match.sure, match.leads, match.time), ("traceparent", "certain", True, None))
        self.assertIn("traceparent", match.reason)
        self.assertEqual(firn.recognize("?"), [])


class Issue(unittest.TestCase):
    def test_natural_types(self):
        for scheme, kind in (("snowflake", int), ("uuid7", uuid.UUID), ("uuid4", uuid.UUID), ("ulid", str),
                             ("ksuid", str), ("objectid", str), ("tsid", str)):
            with memory(scheme) as gen:
                self.assertIs(type(gen.next()), kind)
                self.assertIs(type(next(iter(gen))), kind)
                self.assertIs(type(gen.many(2)[1]), kind)

    def test_python_keeps_its_own_functions(self):
        names = {}
        exec("from firn import *", names)
        self.assertEqual({"open", "format", "range"} & set(names), set())
        self.assertIs(names["Generator"], firn.Generator)

    @unittest.skipUnless(sys.version_info >= (3, 13), "this Python has no interpreters with their own GIL")
    def test_an_interpreter_with_its_own_gil(self):
        import _interpreters
        failed = _interpreters.exec(_interpreters.create("isolated"), "import sys; sys.path[:] = %r; import firn" % sys.path)
        self.assertIn("use threads or processes", failed.msg)
        self.assertIsNone(_interpreters.exec(_interpreters.create("legacy"), "import sys; sys.path[:] = %r; import firn" % sys.path))

    def test_functions_that_need_no_store(self):
        for call, scheme, kind in ((firn.uuid7, "uuid7", uuid.UUID), (firn.uuid4, "uuid4", uuid.UUID), (firn.ulid, "ulid", str),
                                   (firn.ksuid, "ksuid", str), (lambda: firn.typeid("user"), "typeid", str)):
            ids = [call() for _ in range(1000)]
            self.assertEqual(len(set(ids)), 1000)
            self.assertIs(type(ids[0]), kind)
            self.assertEqual(firn.show(ids[0], scheme).id, firn.parse(str(ids[0]), scheme))
        self.assertRegex(firn.typeid("user"), "^user_01")
        self.assertRegex(firn.typeid(), "^01")
        self.assertRaises(firn.Error, firn.typeid, "User")
        ids = [firn.uuid7() for _ in range(1000)]
        self.assertEqual(ids, sorted(ids))

    def test_a_day(self):
        day = datetime.date(2026, 1, 6)
        self.assertEqual(firn.range("uuid7", day, datetime.date(2026, 1, 7)), firn.range("uuid7", "2026-01-06", "2026-01-07"))
        with memory() as gen:
            self.assertEqual(firn.show(gen.at(day)[0], "snowflake").time, datetime.datetime(2026, 1, 6, tzinfo=UTC))

    def test_many_old_records_need_no_write_each(self):
        with tempfile.TemporaryDirectory() as folder:
            gen = firn.open("snowflake", store="sqlite:%s/firn.db?unsafe=1" % folder, history="job")
            first = gen.at("2019-01-01")[0]
            os.rename(folder + "/firn.db", folder + "/away")  # the store is gone
            start = 1546300800 * 10**9
            ids = [gen.at(start + i * 1000003)[0] for i in range(100000)]
            os.rename(folder + "/away", folder + "/firn.db")
            gen.close()
            self.assertEqual(len({first, *ids}), 100001)
            self.assertEqual(firn.show(ids[-1], "snowflake").unix_ns, (start + 99999 * 1000003) // 10**6 * 10**6)

    def test_a_job_that_was_killed_continues_with_the_same_ids(self):
        half = """
import os, signal, sys, test_firn
with test_firn.job(sys.argv[1]) as job, open(sys.argv[1] + "/ids", "w") as out:
    for i, time in enumerate(test_firn.TIMES):
        out.write("%d\\n" % job.next(time))
        if i == 1000:
            out.flush()
            os.kill(os.getpid(), signal.SIGKILL)
"""
        with tempfile.TemporaryDirectory() as folder:
            here = {**os.environ, "PYTHONPATH": os.pathsep.join([str(pathlib.Path(__file__).parent), *sys.path])}
            self.assertEqual(subprocess.run([sys.executable, "-c", half, folder], env=here).returncode, -9)
            written = [int(line) for line in pathlib.Path(folder, "ids").read_text().split()]
            self.assertEqual(len(written), 1001)
            with job(folder) as again, job(folder, name="others", digest=8) as others, job(folder) as beside:
                self.assertEqual((again.again, others.again), (True, False))
                ids = [again.next(time) for time in TIMES]
                self.assertEqual(ids[:1001], written)
                self.assertEqual([beside.next(time) for time in TIMES], ids)
                more = [others.next(time) for time in TIMES]
            with firn.open("snowflake", store="sqlite:%s/firn.db?unsafe=1" % folder) as gen:
                self.assertEqual(len({*ids, *more, *gen.many(10)}), 2 * len(TIMES) + 10)
            for id, time in zip(ids, TIMES):
                self.assertLessEqual(firn.show(id, "snowflake").unix_ns - time, 10**9)
            for other in ({"digest": 9}, {"disorder": datetime.timedelta(days=2)}, {"seed": "other"}):
                self.assertRaises(firn.TakenError, job, folder, **other)
            self.assertRaisesRegex(firn.UsageError, "set digest", job, folder, digest=None)

    def test_a_forked_child_opens_its_own_job(self):
        with firn.Job("snowflake", node=3) as job:
            job.next(AT)
            child = os.fork()
            if child == 0:
                try:
                    job.next(AT)
                except firn.ForkedError:
                    os._exit(7)
                finally:
                    os._exit(1)
            self.assertEqual(os.waitpid(child, 0)[1], 7 << 8)
            self.assertNotEqual(job.next(AT), firn.Job("snowflake", node=3).next(AT))

    def test_the_job_of_the_page(self):
        page = pathlib.Path(__file__).resolve().parents[1] / "README.md"
        block = page.read_text().partition("### Back-date many records")[2].split("```")[1].partition("\n")[2]
        with tempfile.TemporaryDirectory() as folder:
            def run(text):
                pathlib.Path(folder, "old.csv").write_text(text)
                names = {"firn": firn, "hashlib": hashlib, "times": TIMES, "Path": lambda name: pathlib.Path(folder, name)}
                exec(block.replace("/var/lib/app/firn.db", folder + "/firn.db?unsafe=1"), names)
                return names["ids"]
            self.assertEqual(run("one"), run("one"))
            self.assertRaises(firn.TakenError, run, "other")

    def test_what_a_job_takes(self):
        with firn.Job("snowflake", node=3, max_shift=datetime.timedelta()) as job:
            first = [job.next(AT) for _ in range(4096)]
            self.assertRaisesRegex(firn.FullError, "4096 records share", job.next, AT)
            self.assertEqual((job.next(AT + 10**6) - first[0], job.shift_ns, job.again), (1 << 22, 0, False))
        self.assertRaisesRegex(firn.UsageError, "the job is closed", job.next, 0)
        with firn.Job("snowflake", node=3) as job:
            self.assertEqual([job.next(AT) for _ in range(4096)], first)
            job.next(AT)
            self.assertEqual(job.shift_ns, 10**6)
        self.assertRaisesRegex(firn.UsageError, "set the name of the job", firn.Job, "snowflake", store="memory:", digest=1)
        self.assertRaisesRegex(firn.UsageError, "uuid7 has random fields", firn.Job, "uuid7")
        for wrong in ({"max_shift": "1s"}, {"disorder": 3}):
            self.assertRaises(TypeError, firn.Job, "snowflake", node=3, **wrong)
        for wrong in ({"max_shift": datetime.timedelta(days=2)}, {"digest": 2**64}, {"node": 1024}, {"window": "3s"}, {"output": "uuid"}):
            self.assertRaises(firn.Error, firn.Job, "snowflake", **{"node": 3, **wrong})
        kinds = {"uuid": uuid.UUID, "text": str, "bytes": bytes, None: uuid.UUID}
        ids = {kind: firn.Job("uuid7", seed="a seed of sixteen", output=kind).next("2019-05-04") for kind in kinds}
        self.assertEqual({kind: type(id) for kind, id in ids.items()}, kinds)
        self.assertEqual({ids["text"], str(uuid.UUID(bytes=ids["bytes"]))}, {str(ids[None])})

    @unittest.skipUnless(os.environ.get("FIRN"), "the command firn is not there")
    def test_a_job_has_the_ids_of_firn_stamp(self):
        with firn.Job("snowflake", datacenter=0, worker=3) as job, tempfile.TemporaryDirectory() as folder:
            ids = [str(job.next(time)) for time in TIMES]
            pathlib.Path(folder, "old.csv").write_text("made\n" + "".join("@%d.%09d\n" % divmod(time, 10**9) for time in TIMES))
            made = subprocess.run([os.environ["FIRN"], "stamp", folder + "/old.csv", "--time", "made", "--scheme", "snowflake",
                                   "datacenter=0", "worker=3"], stdout=subprocess.PIPE, check=True, text=True).stdout
            self.assertEqual([line.split(",")[0] for line in made.split()[1:]], ids)

    def test_coroutines(self):
        async def run(folder):
            store = "sqlite:%s/firn.db?unsafe=1" % folder
            async with await firn.aopen("snowflake", store=store) as gen:
                ids = [await gen.anext(), *await gen.amany(10), *await gen.aat(datetime.date(2026, 1, 6), 2)]
                self.assertEqual(len(set(ids)), 13)
            self.assertRaises(firn.Error, gen.next)
            async with firn.Segment("orders", store=store) as segment:
                self.assertEqual(await segment.ablock(3), range(1, 4))
                self.assertEqual([await segment.apeek(), await segment.aadvance(9), await segment.anext()], [4, 9, 9])
            self.assertRaises(firn.Error, segment.next)
            async with firn.Series("bills", store=store, template="{year}-{counter:3}") as series:
                self.assertEqual(await series.anext("2026-01-06"), "2026-001")
                self.assertEqual(await series.amany(2, at="2026-01-06"), ["2026-002", "2026-003"])
                self.assertEqual(await series.apeek("2026-01-06"), "2026-004")
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(run(folder))

    def test_outputs(self):
        with memory("uuid7", output="text") as gen:
            self.assertEqual(len(gen.next()), 36)
        with memory("uuid7", output="bytes") as gen:
            self.assertEqual(len(gen.next()), 16)
        with memory("ulid", output="uuid") as gen:
            self.assertIs(type(gen.next()), uuid.UUID)
        with memory("uuid7", output="base58") as gen:
            self.assertEqual(len(gen.next()), 22)
        with memory(output="hex") as gen:
            self.assertEqual(len(gen.next()), 16)
        for scheme, output in (("uuid7", "int"), ("snowflake", "uuid"), ("snowflake", "nonsense"), ("ulid", "typo")):
            with self.assertRaisesRegex(firn.UsageError, "does not fit"):
                memory(scheme, output=output)

    def test_a_uuid_is_whole(self):
        with memory("uuid7") as gen:
            id = gen.next()
            same = uuid.UUID(str(id))
            self.assertEqual(id, same)
            self.assertEqual(hash(id), hash(same))
            self.assertEqual(id.version, 7)
            self.assertEqual(pickle.loads(pickle.dumps(id)), id)
            self.assertEqual(id.is_safe, same.is_safe)

    def test_order_across_calls(self):
        with memory(nodes=1) as gen:
            out = [gen.next()] + gen.many(100) + [gen.next()]
            out += list(itertools.islice(gen, 1000))
            self.assertEqual(out, sorted(set(out)))

    def test_a_renewed_identity(self):
        with memory(nodes=1) as gen, firn.open("uuid1") as drawn:
            node, other = gen.next() >> 12 & 1023, drawn.next()
            self.assertEqual(gen.next() >> 12 & 1023, node)
            self.assertEqual(drawn.next().node, other.node)
            self.assertIsNone(firn.renew_identity())
            self.assertNotEqual(gen.next() >> 12 & 1023, node)
            self.assertNotEqual(drawn.next().node, other.node)

    def test_arrays(self):
        with memory() as gen:
            raw = gen.array(1000)
            numbers = memoryview(raw).cast("Q")
            self.assertEqual(len(set(numbers)), 1000)
            self.assertEqual(list(numbers), sorted(numbers))
            self.assertEqual(len(gen.array(0)), 0)
        with memory("uuid7") as gen:
            raw = gen.array(10)
            self.assertEqual(len(raw), 160)
            self.assertEqual({uuid.UUID(bytes=bytes(raw[i:i + 16])).version for i in range(0, 160, 16)}, {7})

    def test_back_dated(self):
        with memory() as gen:
            at = datetime.datetime(2020, 2, 29, 12, tzinfo=UTC)
            ids = gen.at(at, 3)
            self.assertEqual(len(set(ids)), 3)
            self.assertEqual({firn.show(id, "snowflake").time for id in ids}, {at})
            self.assertEqual(firn.show(gen.at("2021-01-01T00:00:00.001Z")[0], "snowflake").time_text,
                             "2021-01-01T00:00:00.001Z")

    def test_segments(self):
        with tempfile.TemporaryDirectory() as folder:
            url = "sqlite:%s/ids.db" % folder
            with firn.Segment("orders", store=url, kind="serial") as segment:
                self.assertEqual([segment.next(), segment.next()], [1, 2])
                self.assertEqual(list(segment.block(3)), [3, 4, 5])
                self.assertEqual(segment.advance(100), 100)
                self.assertEqual(segment.peek(), 100)
                self.assertEqual(segment.next(), 100)
            with self.assertRaisesRegex(firn.UsageError, "closed"):
                segment.next()

    def test_a_segment_with_a_reserve_warns_without_its_store(self):
        with tempfile.TemporaryDirectory() as folder:
            keys = {"store": "redis://127.0.0.1:1", "unsafe": True, "reserve": "1h", "reserve_path": folder + "/reserve.db"}
            with self.assertWarnsRegex(RuntimeWarning, "127.0.0.1"):
                with firn.Segment("orders", **keys) as segment, self.assertRaises(firn.StoreError):
                    segment.next()

    def test_series(self):
        with tempfile.TemporaryDirectory() as folder:
            url = "sqlite:%s/ids.db" % folder
            with firn.Series("invoices", store=url, template="INV{year}/{counter:7}", late=5) as series:
                self.assertEqual(series.next("2021-06-01"), "INV2021/0000001")
                self.assertEqual(series.many(2, datetime.datetime(2021, 1, 1, tzinfo=datetime.timezone.utc)),
                                 ["INV2021/0000002", "INV2021/0000003"])
                self.assertEqual(series.peek("2021-06-01"), "INV2021/0000004")
                self.assertEqual(series.advance(100, "2021-06-01"), "INV2021/0000100")
                self.assertEqual(series.read("INV2021/0000100"), 100)
                self.assertRegex(series.next(), "^INV20[0-9][0-9]/0000001$")
                with self.assertRaisesRegex(firn.TextError, "ends after 3"):
                    series.read("INV")
                with self.assertRaisesRegex(firn.RangeError, "has not begun"):
                    series.next("2999-01-01")
                with self.assertRaisesRegex(firn.RangeError, "1 to 1000000"):
                    series.many(0)
                series.prune("2022-01-01")
                with self.assertRaisesRegex(firn.EndError, "is closed"):
                    series.next("2021-06-01")
                with self.assertRaises(TypeError):
                    pickle.dumps(series)
            series.close()
            with self.assertRaisesRegex(firn.UsageError, "closed"):
                series.next()
            with firn.Series("invoices", store=url) as again:
                self.assertIn("restart=year", again.definition())
                self.assertRegex(again.next(), "/0000002$")
            with self.assertRaisesRegex(firn.UsageError, "century"):
                firn.Series("other", store=url, template="{yy}{counter:5}")

    def test_status_and_scheme(self):
        with memory(node=33) as gen:
            gen.next()
            self.assertEqual(gen.status()["node"], 33)
            self.assertTrue(gen.status()["reserved"])
            self.assertEqual(gen.scheme.name, "snowflake")
            self.assertEqual(gen.scheme.bits, 64)
        self.assertIn("uuid7", firn.schemes())
        self.assertIn("base62", firn.forms())


class Masks(unittest.TestCase):
    def test_masks(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "mask.key")
            file.write_text("1 %064d\n" % 0)
            with self.assertRaisesRegex(firn.Error, "chmod 600"):
                os.chmod(file, 0o644)
                firn.Mask("orders", file)
            os.chmod(file, 0o600)
            orders = firn.Mask("orders", file, width="uuid", fingerprint="78555f0c")
            one, masked = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "ee4010b4-ae5e-47e1-b9da-ad69663a79d9"
            self.assertEqual((orders.mask(one), orders.unmask(masked)), (masked, one))
            self.assertEqual(orders.mask(uuid.UUID(one)), uuid.UUID(masked))
            self.assertEqual(orders.fingerprint(), "78555f0c")
            numbers = firn.Mask("orders", str(file))
            self.assertEqual(numbers.mask(1541815603606036480), 1545844954938404436)
            self.assertEqual(numbers.unmask(1545844954938404436), 1541815603606036480)
            self.assertEqual(len(firn.Mask("orders", file, as_="base58", mac=0).mask("5")), 11)
            coded = firn.Mask("orders", file, as_="base58")
            self.assertEqual(coded.mask("1541815603606036480"), "4b7xxg9Yn5Zy77y")
            with self.assertRaisesRegex(firn.Error, "MAC of the masked ID is wrong"):
                coded.unmask("4b7xxg9Yn5Zy77x")
            with open(file, "a") as more:
                more.write("2 %064d\n" % 7)
            after = firn.Mask("orders", file, prefix="ord", key_number=2)
            self.assertEqual(after.unmask("ord_1_4b7xxg9Yn5Zy77y"), "1541815603606036480")
            self.assertEqual(after.unmask(after.mask("77")), "77")
            with self.assertRaisesRegex(firn.UsageError, r"and the ID has type int: give the ID as text, str\(id\)"):
                after.mask(77)
            self.assertRegex(after.mask("77"), "^ord_2_")
            with self.assertRaisesRegex(firn.Error, "has the keys 1 and 2"):
                firn.Mask("orders", file)
            for wrong in lambda: numbers.mask(-1), lambda: numbers.mask("x"), lambda: firn.Mask("orders", file, fingerprint="78555f0c"):
                self.assertRaises(firn.Error, wrong)
            self.assertRaises(TypeError, pickle.dumps, numbers)

    # Published by the ports of UUIDv47 for Go and Ruby: see test/vectors/uuid47.tsv.
    def test_uuid47(self):
        published = [("efcdab89674523011032547698badcfe", "018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f", "2463c780-7fca-4def-8c3f-7b1a2c4d5e6f"),
                     ("efcdab89674523011032547698badcfe", "00000000-0000-7000-8000-000000000000", "22d97126-9609-4000-8000-000000000000"),
                     ("efcdab89674523011032547698badcfe", "00000010-007b-7aad-9032-547698badcfe", "bc75bd50-97ef-4aad-9032-547698badcfe"),
                     ("1581e97df4102211b10cb7e3b8871089", "01996ba2-996c-7472-aece-b7c149213a7b", "8874573e-e474-4472-aece-b7c149213a7b")]
        with tempfile.TemporaryDirectory() as folder:
            for number, (key, id, masked) in enumerate(published):
                file = pathlib.Path(folder, "%d.key" % number)
                file.touch(0o600)
                file.write_text("1 %s\n" % key)
                old = firn.Mask("old", file, width="uuid47")
                self.assertEqual((old.mask(id), old.unmask(masked)), (masked, id))
                self.assertEqual(old.mask(uuid.UUID(id)), uuid.UUID(masked))


class Pure(unittest.TestCase):
    def test_times(self):
        want = firn.pack("uuid7", time="2024-02-29T12:34:56.789Z", sequence=1, random=2)
        for given in (datetime.datetime(2024, 2, 29, 12, 34, 56, 789000, UTC), 1709210096789000000,
                      datetime.datetime(2024, 2, 29, 13, 34, 56, 789000,
                                        datetime.timezone(datetime.timedelta(hours=1)))):
            self.assertEqual(firn.pack("uuid7", time=given, sequence=1, random=2), want)
        shown = firn.show(want)
        self.assertEqual(shown.time, datetime.datetime(2024, 2, 29, 12, 34, 56, 789000, UTC))
        self.assertEqual(shown.time_text, "2024-02-29T12:34:56.789Z")
        self.assertEqual(shown.scheme, "uuid7")
        with self.assertRaisesRegex(firn.UsageError, "no time zone"):
            firn.pack("uuid7", time=datetime.datetime(2024, 2, 29), sequence=1, random=2)
        far = firn.show(firn.pack("uuid7", time="+10889-08-02T05:31:50.655Z", sequence=0, random=0), "uuid7")
        self.assertIsNone(far.time)
        self.assertEqual(far.time_text, "+10889-08-02T05:31:50.655Z")

    def test_ids_in_every_type(self):
        id = uuid.UUID("01933d3e-7c00-7abc-8def-0123456789ab")
        want = firn.show(id, "uuid7").fields
        for given in (str(id), id.bytes, bytearray(id.bytes), id.int):
            self.assertEqual(firn.show(given, "uuid7").fields, want)
        for wrong in (None, 1.5, [], True, object()):
            with self.assertRaises((TypeError, firn.Error)):
                firn.show(wrong, "uuid7")


class Bad(unittest.TestCase):
    def test_errors_have_code_name_and_cure(self):
        with self.assertRaises(firn.UsageError) as caught:
            firn.open("snowflak")
        self.assertEqual((caught.exception.code, caught.exception.name), (-1, "USAGE"))
        self.assertIn("did you mean", caught.exception.cure)
        self.assertEqual((caught.exception.cure_name, caught.exception.value, caught.exception.limit), ("SPELLING", "snowflak", ""))
        self.assertIsInstance(caught.exception, ValueError)
        self.assertIsInstance(caught.exception, firn.Error)
        with self.assertRaises(firn.TextError):
            firn.parse("nonsense", "uuid7")
        with self.assertRaises(firn.RangeError):
            firn.pack("snowflake", time="2020-01-01", datacenter=32, worker=0, sequence=0)
        with self.assertRaises(firn.UsageError):
            memory(nonsense=1)

    def test_arguments(self):
        with memory() as gen:
            for call in (lambda: gen.many(-1), lambda: gen.many(1 << 40), lambda: gen.array(-5)):
                with self.assertRaises((firn.Error, OverflowError)):
                    call()
            for call in (lambda: gen.many("3"), lambda: gen.many(1.5), lambda: gen.many(None), lambda: gen.at(1.5),
                         lambda: gen.at(None), lambda: gen.next(1)):
                with self.assertRaises(TypeError):
                    call()
            with self.assertRaises(OverflowError):
                gen.many(1 << 70)

    def test_texts(self):
        for text in ("\0", "a\0b", "\ud800", "", "x" * 100000, "é", "😀", " ", "\n"):
            for call in (lambda: firn.parse(text, "uuid7"), lambda: firn.open(text, store="memory:"),
                         lambda: firn.pack(text), lambda: memory(ns=text + "\0"),
                         lambda: firn.pack("uuid7", time=text, sequence=0, random=0)):
                with self.assertRaises((firn.Error, ValueError)):
                    call()
            for call in (firn.guess, firn.recognize):
                try:
                    call(text)
                except ValueError:
                    pass

    def test_numbers(self):
        for value in (-1, 1 << 64, 1 << 200, 1.5, math.nan, None, "x", [], True):
            fields = dict(time="2020-01-01", datacenter=1, worker=1, sequence=value)
            if value is True:
                self.assertTrue(firn.pack("snowflake", **fields))
            else:
                with self.assertRaises((firn.Error, TypeError)):
                    firn.pack("snowflake", **fields)

    def test_closed(self):
        gen = memory()
        it = iter(gen)
        next(it)
        gen.close()
        gen.close()
        for call in (gen.next, lambda: gen.many(1), lambda: gen.array(1), gen.status, lambda: next(it),
                     lambda: gen.at("2020-01-01"), lambda: gen.scheme):
            with self.assertRaisesRegex(firn.UsageError, "is closed"):
                call()

    def test_arguments_that_raise(self):
        class Evil:
            def fail(self, *_):
                raise KeyError("mine")
            __index__ = __int__ = __float__ = __str__ = __mul__ = fail

        with memory() as gen:
            for call in (lambda: gen.many(Evil()), lambda: gen.array(Evil()), lambda: memory(node=Evil()), lambda: firn.Segment("x", store="memory:", kind=Evil()),
                         lambda: firn.pack("snowflake", time=0, datacenter=0, worker=0, sequence=Evil())):
                with self.assertRaisesRegex(KeyError, "mine"):
                    call()
            self.assertLess(gen.next(), gen.next())

    def test_an_argument_that_closes_the_generator(self):
        class Closes:
            def __index__(self):
                gen.close()
                return 3

        for call in (lambda: gen.many(Closes()), lambda: gen.array(Closes()), lambda: gen.at(0, Closes())):
            gen = memory()
            with self.assertRaisesRegex(firn.UsageError, "is closed"):
                call()

    def test_pickling_is_refused(self):
        with memory() as gen:
            for thing in (gen, firn.Order(bytes(16)), firn.Segment("x", store="memory:")):
                with self.assertRaises(TypeError):
                    pickle.dumps(thing)


class Life(unittest.TestCase):
    def test_many_generators(self):
        gens = [memory("uuid7") for _ in range(10000)]
        self.assertEqual(len({gen.next() for gen in gens}), 10000)
        del gens
        gc.collect()

    def test_an_iterator_keeps_its_generator(self):
        it = iter(memory())
        gc.collect()
        self.assertLess(next(it), next(it))

    def test_collections_in_the_middle_of_calls(self):
        before = gc.get_threshold()
        gc.set_threshold(1)
        try:
            for _ in range(100):
                self.me, self.it = self, iter(memory("uuid7"))
                firn.show(str(next(self.it)))
                firn.guess("1541815603606036480")
                with self.assertRaises(firn.TextError):
                    firn.parse("x", "uuid7")
        finally:
            gc.set_threshold(*before)
            del self.me, self.it

    def test_unloaded_and_loaded_again(self):
        done = subprocess.run([sys.executable, "-c", """
import sys, firn
gen, old = firn.open("snowflake", store="memory:"), firn
it = iter(gen)
for _ in range(20):
    for name in [name for name in sys.modules if name.split(".")[0] == "firn"]:
        del sys.modules[name]
    import firn
    assert firn is not old and firn.open("uuid7").next().version == 7 and gen.next() not in (next(it), gen.next())
    try:
        firn.open("snowflak")
    except firn.UsageError:
        print("refused")
"""], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.stdout.split(), done.stderr), (["refused"] * 20, ""))

    def test_interpreters(self):
        """As mod_wsgi: each has its own exceptions and UUIDs, also after another one has ended."""
        done = subprocess.run([sys.executable, "-c", """
import sys
if sys.version_info >= (3, 13):
    import _interpreters as interpreters
    create, run = lambda: interpreters.create("legacy"), interpreters.exec
else:
    import _xxsubinterpreters as interpreters
    create, run = lambda: interpreters.create(isolated=False), interpreters.run_string
work = '''
import firn, uuid
assert type(firn.open("uuid7").next()) is uuid.UUID
try:
    firn.open("snowflak")
except firn.UsageError:
    print("refused", flush=True)
'''
made = [create() for _ in range(4)]
run(made[0], work)
exec(work)
for one in made:
    run(one, work)
    interpreters.destroy(one)
exec(work)
"""], capture_output=True, text=True, timeout=300)
        if "No module named '_xx" in done.stderr:
            self.skipTest("this Python has no interpreters to try")
        self.assertEqual((done.stdout.split(), done.stderr), (["refused"] * 7, ""))

    @unittest.skipIf(os.environ.get("FIRN_SANITIZED"), "the sanitizer keeps freed memory")
    def test_no_leak(self):
        def rss():
            with open("/proc/self/statm") as statm:
                return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")

        def work(n):
            for _ in range(n):
                with memory("uuid7") as gen:
                    next(gen)
                    gen.many(10)
                    gen.array(10)
                    firn.show(gen.next())
                    try:
                        firn.parse("x", "uuid7")
                    except firn.Error:
                        pass
        work(300)
        grown = []
        while len(grown) < 5 and (not grown or grown[-1] >= 2000 * 200):  # a leak grows each time, a heap does not
            before = rss()
            work(2000)
            grown.append(rss() - before)
        self.assertLess(grown[-1], 2000 * 200, grown)  # a leaked object of each round would be more

    def test_shutdown_with_a_generator_open(self):
        for end in ("", "sys.exit(3)", "raise SystemExit", "threading.Thread(target=gen.many, args=(10,)).start()"):
            code = ("import sys, threading, firn\ngen = firn.open('snowflake', store='memory:')\nit = gen\n"
                    "next(it)\nclass A: pass\na = A(); a.a = a; a.it = it\n" + end)
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300)
            self.assertEqual((done.returncode, done.stderr), (3 if "3" in end else 0, b""))

    def test_threads(self):
        out, gen = [], memory()

        def work():
            it = iter(gen)
            out.append([gen.next() for _ in range(500)] + [next(it) for _ in range(500)] + gen.many(500))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ids = [id for part in out for id in part]
        self.assertEqual(len(ids), 8 * 1500)
        self.assertEqual(len(set(ids)), len(ids))
        gen.close()


def _child(gen, it, queue):
    queue.put([gen.next() for _ in range(100)] + [next(it) for _ in range(100)] + gen.many(100))


class Forks(unittest.TestCase):
    """As gunicorn --preload: one generator, opened before the workers are forked."""

    def issued(self, gen, children=4):
        it = iter(gen)
        for _ in range(300):
            next(it)
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        workers = [context.Process(target=_child, args=(gen, it, queue)) for _ in range(children)]
        for worker in workers:
            worker.start()
        out = [gen.next() for _ in range(100)] + [next(it) for _ in range(100)]
        for _ in workers:
            out += queue.get(timeout=300)
        for worker in workers:
            worker.join()
            self.assertEqual(worker.exitcode, 0)
        return out

    def test_nothing_is_issued_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            for scheme, store in (("snowflake", "sqlite:%s/ids.db?busy=60s" % folder), ("uuid7", None), ("objectid", None)):
                with firn.open(scheme, store=store) as gen:
                    out = self.issued(gen)
                    self.assertEqual(len(out), 4 * 300 + 200)
                    self.assertEqual(len(set(out)), len(out), scheme)

    def test_a_planted_duplicate_is_found(self):
        with memory("uuid7") as gen:
            kept = gen.many(1)
            out = self.issued(gen, 1) + kept + kept
            self.assertEqual(len(set(out)), len(out) - 1)


if __name__ == "__main__":
    unittest.main()
