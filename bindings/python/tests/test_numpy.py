# SPDX-License-Identifier: MIT
"""Arrays without a copy."""
import time
import unittest

try:
    import numpy
except ImportError:
    raise unittest.SkipTest("NumPy is not installed") from None

import firn


def value_of(text):
    return int(text.replace(":", ""), 16 if ":" in text or text.startswith("0x") else 10)


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
        decoded = fields = 0
        for scheme in firn.schemes():
            try:
                with firn.open(scheme, store="memory:") as gen:
                    raw = gen.array(100)
            except firn.Error:  # it needs a key, or firn only reads it
                continue
            decoded += 1
            size = len(raw) // 100
            ids = numpy.frombuffer(raw, numpy.uint64 if size == 8 else "V%d" % size)
            shown = [firn.show(int(id) if size == 8 else bytes(id), scheme) for id in ids]
            if shown[0].unix_ns is not None:
                times = numpy.frombuffer(firn.decode(raw, scheme), "datetime64[ns]")
                self.assertEqual([int(t) for t in times.astype(numpy.int64)], [s.unix_ns for s in shown], scheme)
                self.assertTrue((times > start - numpy.timedelta64(900, "s")).all(), scheme)
            for name in set(shown[0].fields) - {"time"}:
                try:
                    field = numpy.frombuffer(firn.decode(ids, scheme, name), numpy.uint64)
                except firn.Error as error:  # more than 64 bits
                    self.assertIn("at most 64 bits", str(error))
                    continue
                fields += 1
                self.assertEqual([int(value) for value in field],
                                 [value_of(s.fields[name]) for s in shown], (scheme, name))
        self.assertGreater(decoded, 30)
        self.assertGreater(fields, 60)

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
