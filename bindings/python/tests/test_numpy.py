# SPDX-License-Identifier: MIT
"""Arrays without a copy."""
import time
import unittest

try:
    import numpy
except ImportError:
    raise unittest.SkipTest("NumPy is not installed") from None

import firn


class Arrays(unittest.TestCase):
    def test_uint64(self):
        with firn.open("snowflake", store="memory:", nodes=16) as gen:
            ids = numpy.frombuffer(gen.array(30000), numpy.uint64)
            self.assertEqual(len(numpy.unique(ids)), 30000)
            self.assertTrue((ids[1:] > ids[:-1]).all())

    def test_bytes(self):
        with firn.open("uuid7") as gen:
            ids = numpy.frombuffer(gen.array(1000), "V16")
            self.assertEqual(ids.shape, (1000,))

    def test_decoded(self):
        start = numpy.datetime64(time.time_ns() - 10**6, "ns")
        for scheme, names in (("snowflake", ("datacenter", "worker", "sequence")), ("uuid7", ()), ("uuid1", ()),
                              ("ulid", ()), ("ksuid", ())):
            with firn.open(scheme, store="memory:") as gen:
                raw = gen.array(500)
            ids = numpy.frombuffer(raw, numpy.uint64 if len(raw) == 4000 else "V%d" % (len(raw) // 500))
            times = numpy.frombuffer(firn.decode(raw, scheme), "datetime64[ns]")
            shown = [firn.show(int(id) if len(raw) == 4000 else bytes(id), scheme) for id in ids]
            self.assertEqual([int(t) for t in times.astype(numpy.int64)], [s.unix_ns for s in shown])
            self.assertTrue((times > start - numpy.timedelta64(1, "s")).all())
            for name in names:
                field = numpy.frombuffer(firn.decode(ids, scheme, name), numpy.uint64)
                self.assertEqual([int(value) for value in field], [int(s.fields[name], 0) for s in shown])

    def test_decoding_refuses(self):
        for ids, scheme, field, what in ((b"1234567", "snowflake", "time", "no whole number"),
                                         (b"\xff" * 8, "snowflake", "time", "more than|is 0x"),
                                         (bytes(16), "uuid7", "time", "version"), (bytes(16), "uuid7", "node", "no field"),
                                         (bytes(16), "uuid7", "nonsense", "no field"), (bytes(8), "order", "time", "read"),
                                         (bytes(8), "no-scheme", "time", "no-scheme")):
            with self.assertRaisesRegex(firn.Error, what):
                firn.decode(ids, scheme, field)
        ids = numpy.array([1541815603606036480] * 4, numpy.uint64)
        for other in (float, ">u8", numpy.int32, numpy.uint16, bool):
            with self.assertRaisesRegex(TypeError, "not of 64-bit integers"):
                firn.decode(ids.astype(other), "snowflake")
        self.assertEqual(firn.decode(ids.astype(numpy.int64), "snowflake"), firn.decode(ids, "snowflake"))
        self.assertEqual(firn.decode(ids[::2], "snowflake"), firn.decode(ids[:2], "snowflake"))
        self.assertEqual(firn.show(ids[0], "snowflake").id, 1541815603606036480)
        for ids in (3, "text", None, [1, 2]):
            with self.assertRaises(TypeError):
                firn.decode(ids, "snowflake")
        self.assertEqual(firn.decode(b"", "snowflake"), bytearray())
        with self.assertRaisesRegex(firn.RangeError, "1678 to 2261"):
            firn.decode(firn.pack("ulid", time="3000-01-01", random=0) and bytes.fromhex("1d8f3ef4a000") + bytes(10), "ulid")


if __name__ == "__main__":
    unittest.main()
